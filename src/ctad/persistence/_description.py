"""Descriptions of types: which parameters and attributes an object has in a model file.

A file can hold objects of described types only. Their parameters and attributes are those of the
description, each of the kind stated there, and nothing else. An object is rebuilt by calling its
class with checked parameters and setting checked attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._kinds import Kind, MayBeMissing

if TYPE_CHECKING:
    from ._reader import Scope

Values = Mapping[str, Any]


def set_attributes(item: Any, values: Values) -> None:
    """Set attributes of an object."""
    item.__dict__.update(values)


@dataclass(frozen=True, kw_only=True)
class Description:
    """How objects of one type are stored.

    Attributes
    ----------
    type : str
        Module and class, as users import it: "sklearn.preprocessing.StandardScaler".
    role : {"model", "calibrator", "detector", "network", "transformer", "part"}
        Where the object may stand in a model.
    enabled_by : str
        A module to import first, for classes that scikit-learn calls experimental.
    other_role : str
        A second place where it may stand: a projection may score rows, too, and a pipeline stands
        where its last step may stand.
    parameters : mapping of str to Kind
        Parameters of the class. A file may leave out those that have their default, as other
        versions of the library may not have all of them.
    fitted : mapping of str to Kind
        Attributes that `fit` sets.
    rebuilt : tuple of str
        Attributes that are not stored, because the class or `put_together` sets them.
    given : callable
        The parameters of an object.
    construct : callable
        Makes an unfitted object from its class and parameters.
    take_apart : callable
        Fitted values that stand for the attributes in `rebuilt`, such as the rows of a search tree.
    put_together : callable
        Sets the attributes of an object from the fitted values.
    check : callable
        Raises if values do not fit together. Gets all parameters and fitted values, and the scope,
        which knows the lengths.
    n_in : str or callable
        The number of columns of the rows it gets: a length, or a function like `check`.
    n_out : str or callable
        The number of columns that a transformer gives: a length, or a function like `check`.
    work : callable
        Operations to score one row, if they may be more than the numbers in the file; a function
        like `check`, which also gets the attributes of the object.
    """

    type: str
    role: str
    enabled_by: str | None = None
    other_role: str | None = None
    parameters: Mapping[str, Kind]
    fitted: Mapping[str, Kind] = field(default_factory=dict)
    rebuilt: tuple[str, ...] = ()
    given: Callable[[Any], Values] = lambda item: item.get_params(deep=False)
    construct: Callable[[Any, Values], Any] = lambda cls, parameters: cls(**parameters)
    take_apart: Callable[[Any], Values] = lambda item: {}
    put_together: Callable[[Any, dict[str, Any]], None] = lambda item, values: item.__dict__.update(
        values
    )
    check: Callable[[Values, Scope], None] = lambda values, scope: None
    n_in: str | Callable[[Values, Scope], int | None] | None = None
    n_out: str | Callable[[Values, Scope], int | None] | None = None
    work: Callable[[Values, Scope], int] = lambda values, scope: 0

    @property
    def class_name(self) -> str:
        """The name of the class."""
        return self.type.rpartition(".")[2]

    @property
    def optional_parameters(self) -> dict[str, Kind]:
        """The parameters; other versions of the library may not have all of them."""
        return {name: MayBeMissing(kind) for name, kind in self.parameters.items()}

    def import_class(self) -> Any:
        """Import the class."""
        module, _, name = self.type.rpartition(".")
        if self.enabled_by is not None:
            import_module(self.enabled_by)
        return getattr(import_module(module), name)

    def fitted_values(self, item: Any) -> Values | None:
        """The fitted values of an object; None if it is not fitted."""
        attributes = vars(item)
        present = {name for name, value in attributes.items() if value is not None}
        needed = {n for n, kind in self.fitted.items() if not isinstance(kind, MayBeMissing)}
        if needed and not needed & present:
            return None
        # Other versions of a library may have other parameters; `Writer` checks these.
        unsaved = {*self.parameters, *self.given(item), *self.rebuilt}
        values = {name: value for name, value in attributes.items() if name not in unsaved}
        return {**values, **self.take_apart(item)}
