"""Pipelines, unions and frozen estimators of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._description import Description, Values
from .._kinds import Flag, Kind, ListOf, Optional, Text, TupleOf, Unsaved, require, shown
from ._column_transformer import DESCRIPTIONS as COLUMN_TRANSFORMER
from ._composition import (
    AsFitted,
    PartOrWord,
    Same,
    Weights,
    check_columns,
    check_names,
    gives_numbers,
    gives_sparse,
    is_described,
    needs_text,
    note_prefixes,
    takes_sparse,
)
from ._transformers_common import TRANSFORMER

if TYPE_CHECKING:
    from .._reader import Scope
    from .._writer import Writer

SKIPPED = (None, "passthrough")
STEP = TupleOf((Text(), PartOrWord(SKIPPED, AsFitted())))
LAST_STEP = TupleOf((Text(), PartOrWord(SKIPPED, Same())))


@dataclass(frozen=True)
class Steps(Kind):
    """Names and steps: transformers, and last an object that may stand where the pipeline stands.

    So a pipeline is a detector if its last step is one.
    """

    def __str__(self) -> str:
        return "names and transformers, and last an object that may be where the pipeline is"

    def write(self, value: Any, writer: Writer) -> list[Any]:
        steps = ListOf(STEP).write(value[:-1], writer)
        steps += ListOf(LAST_STEP).write(value[-1:], writer)
        _check_steps(value)
        return steps

    def read(self, stored: Any, scope: Scope) -> list[Any]:
        require(isinstance(stored, list), f"{shown(stored)} is not a list")
        steps: list[Any] = ListOf(STEP).read(stored[:-1], scope)
        steps += ListOf(LAST_STEP).read(stored[-1:], scope)
        _check_steps(steps)
        return steps

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        last = len(stored) - 1
        return [((number,), LAST_STEP if number == last else STEP) for number in range(last + 1)]


def _check_steps(steps: Any) -> None:
    require(_used(steps), "a pipeline without a step that does something")
    check_names([name for name, _ in steps], ("steps", "transform_input", "memory", "verbose"))


def _used(steps: Any) -> list[Any]:
    return [(name, step) for name, step in steps if not isinstance(step, str | None)]


def _check_pipeline(values: Values, scope: Scope) -> None:
    if scope.place.fitted is not True:
        return
    n_columns: int | None = None
    is_sparse = has_numbers = False
    for name, step in _used(values["steps"]):
        check_columns(name, step, n_columns, scope)
        if not is_described(step):
            n_columns, is_sparse, has_numbers = None, False, False
            continue
        if is_sparse:
            scores = "detector" in scope.place.roles and type(step).__name__ == "PCA"
            require(takes_sparse(step) and not scores, f"{shown(name)} gets sparse rows")
        require(not (has_numbers and needs_text(step)), f"{shown(name)} gets numbers, not text")
        n_columns, is_sparse = scope.n_out(step), gives_sparse(step, is_sparse)
        has_numbers = has_numbers or gives_numbers(step)


def _n_in_pipeline(values: Values, scope: Scope) -> int | None:
    return scope.n_in(_used(values["steps"])[0][1])


def _n_out_pipeline(values: Values, scope: Scope) -> int | None:
    return scope.n_out(_used(values["steps"])[-1][1])


def _check_union(values: Values, scope: Scope) -> None:
    parts = values["transformer_list"]
    names = [name for name, _ in parts]
    check_names(names, ("transformer_list", "transformer_weights", "n_jobs"))
    require(_transformers(values), "a union without a transformer")
    note_prefixes(names, scope)
    if scope.place.fitted is True:
        n_columns = _n_in_union(values, scope)
        for name, part in _transformers(values):
            check_columns(name, part, n_columns, scope)


def _transformers(values: Values) -> list[Any]:
    return _used(values["transformer_list"])


def _n_in_union(values: Values, scope: Scope) -> int | None:
    known = [scope.n_in(part) for _, part in _transformers(values)]
    return next((n_in for n_in in known if n_in is not None), None)


def _n_out_union(values: Values, scope: Scope) -> int | None:
    n_passed = sum(part == "passthrough" for _, part in values["transformer_list"])
    n_columns = [scope.n_out(part) for _, part in _transformers(values)]
    n_columns += [_n_in_union(values, scope)] * n_passed
    return None if None in n_columns else sum(n or 0 for n in n_columns)


DESCRIPTIONS: tuple[Description, ...] = (
    Description(
        type="sklearn.pipeline.Pipeline",
        role="transformer",
        other_role="detector",
        parameters={
            "steps": Steps(),
            "transform_input": Optional(ListOf(Text())),
            "memory": Unsaved(),  # a folder with pickles, which would be read at the next fit
            "verbose": Flag(),
        },
        check=_check_pipeline,
        n_in=_n_in_pipeline,
        n_out=_n_out_pipeline,
    ),
    Description(
        type="sklearn.pipeline.FeatureUnion",
        role="transformer",
        parameters={
            "transformer_list": ListOf(
                TupleOf((Text(), PartOrWord(("drop", "passthrough"), AsFitted())))
            ),
            "n_jobs": Unsaved(),  # processes
            "transformer_weights": Optional(Weights()),
            "verbose": Flag(),
            "verbose_feature_names_out": Flag(),
        },
        fitted={"_sklearn_output_config": TRANSFORMER["_sklearn_output_config"]},
        rebuilt=("_transformers_feature_names_out",),
        check=_check_union,
        n_in=_n_in_union,
        n_out=_n_out_union,
    ),
    Description(
        type="sklearn.frozen.FrozenEstimator",
        role="transformer",
        other_role="detector",
        parameters={"estimator": Same()},
        n_in=lambda values, scope: scope.n_in(values["estimator"]),
        n_out=lambda values, scope: scope.n_out(values["estimator"]),
    ),
    *COLUMN_TRANSFORMER,
)
