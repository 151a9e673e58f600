"""What pipelines, unions and column transformers share: named parts, and rows between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .._kinds import Choice, Kind, Number, Object, Text, require, shown

if TYPE_CHECKING:
    from .._reader import Scope
    from .._writer import Writer

TRANSFORMERS = Object(roles=("transformer",))

# They give sparse rows if they get sparse rows.
KEEP_SPARSE = (
    *("Binarizer", "FunctionTransformer", "MaxAbsScaler", "MissingIndicator", "Normalizer"),
    *("PolynomialFeatures", "QuantileTransformer", "RobustScaler", "SimpleImputer"),
    *("StandardScaler", "VarianceThreshold"),
)
# Functions of numpy that work on sparse rows.
SPARSE_FUNCTIONS = (
    *("absolute", "arcsinh", "arctan", "ceil", "deg2rad", "expm1", "floor", "log1p", "rad2deg"),
    *("rint", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc"),
)


@dataclass(frozen=True)
class PartOrWord(Kind):
    """One of a few words, or an object."""

    words: tuple[str | None, ...]
    part: Kind

    def __str__(self) -> str:
        return f"{Choice(self.words)}, or {self.part}"

    def write(self, value: Any, writer: Writer) -> Any:
        return self._kind(value).write(value, writer)

    def read(self, stored: Any, scope: Scope) -> Any:
        return self._kind(stored).read(stored, scope)

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        return [((), self._kind(stored))]

    def _kind(self, value: Any) -> Kind:
        return Choice(self.words) if isinstance(value, str | None) else self.part


@dataclass(frozen=True)
class Same(Kind):
    """An object that may stand where the object it belongs to stands."""

    def write(self, value: Any, writer: Writer) -> Any:
        return writer.object(value, writer.place)

    def read(self, stored: Any, scope: Scope) -> Any:
        return scope.object(stored, scope.place)

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        return [((), Object(roles=("detector", "transformer")))]


@dataclass(frozen=True)
class AsFitted(Kind):
    """A transformer, fitted if the object it belongs to is."""

    def write(self, value: Any, writer: Writer) -> Any:
        return writer.object(value, replace(TRANSFORMERS, fitted=writer.place.fitted))

    def read(self, stored: Any, scope: Scope) -> Any:
        return scope.object(stored, replace(TRANSFORMERS, fitted=scope.place.fitted))

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        return [((), TRANSFORMERS)]


@dataclass(frozen=True)
class Weights(Kind):
    """A dictionary of names and numbers."""

    def write(self, value: Any, writer: Writer) -> dict[str, Any]:
        require(isinstance(value, dict), f"{shown(value)} is not a dictionary")
        return {Text().write(name, writer): Number().write(value[name], writer) for name in value}

    def read(self, stored: Any, scope: Scope) -> dict[str, float]:
        require(isinstance(stored, dict), f"{shown(stored)} is not a dictionary")
        return {Text().read(name, scope): Number().read(stored[name], scope) for name in stored}


def check_names(names: Sequence[str], parameters: Iterable[str]) -> None:
    """Raise unless names of parts are what scikit-learn accepts."""
    require(len(set(names)) == len(names), "the same name twice")
    for name in names:
        allowed = "__" not in name and name not in ("self", *parameters)
        require(allowed, f"{shown(name)} cannot be a name")


def note_prefixes(names: Sequence[str], scope: Scope) -> None:
    """Note that columns are called NAME__COLUMN after the part that gives them."""
    scope.reader.longest_name += max(len(f"{name}__") for name in names)


def is_described(item: Any) -> bool:
    """Whether the type of an object has a description; the user trusts other types."""
    from . import description_of

    return description_of(item) is not None


def check_columns(name: str, part: Any, n_columns: int | None, scope: Scope) -> None:
    """Raise unless a fitted part gets as many columns as it expects, and gives some."""
    if is_described(part):
        n_in, n_out = scope.n_in(part), scope.n_out(part)
        fits = n_columns is None or n_in in (None, n_columns)
        require(fits, f"{shown(name)} gets {n_columns} columns and expects {n_in}")
        require(n_out is None or n_out > 0, f"{shown(name)} gives no columns")


def takes_sparse(part: Any) -> bool:
    """Whether a described object works on sparse rows."""
    from sklearn.utils import get_tags

    match _described_name(part):
        case "FunctionTransformer" if part.func is not None:
            return part.func.__name__ in SPARSE_FUNCTIONS and not (
                part.validate and not part.accept_sparse
            )
        case "PolynomialFeatures":
            return bool(part._max_degree <= 3)  # else it loops over all products
        case "Nystroem" if "chi2" in part.kernel:
            return False
    return hasattr(part, "__sklearn_tags__") and bool(get_tags(part).input_tags.sparse)


def gives_sparse(part: Any, gets_sparse: bool) -> bool:
    """Whether a described transformer gives sparse rows."""
    match _described_name(part):
        case "OneHotEncoder" | "SplineTransformer":
            return bool(part.sparse_output)
        case "KBinsDiscretizer":
            return bool(part.encode == "onehot")
        case "MissingIndicator" if part.sparse != "auto":
            return bool(part.sparse)
        case "ColumnTransformer":
            return bool(part.sparse_output_)
        case "FrozenEstimator":
            return gives_sparse(part.estimator, gets_sparse)
        case "Pipeline":
            for step in _parts(part):
                gets_sparse = gives_sparse(step, gets_sparse)
            return gets_sparse
        case "FeatureUnion":
            passed = any(each == "passthrough" for _, each in part.transformer_list)
            parts = [gives_sparse(each, gets_sparse) for each in _parts(part)]
            return any(parts) or (passed and gets_sparse)
        case name:
            return gets_sparse and name in KEEP_SPARSE


def needs_text(part: Any) -> bool:
    """Whether a described object was fitted on text and fails on arrays of numbers."""
    match _described_name(part):
        case "OneHotEncoder" | "OrdinalEncoder":
            return any(categories.dtype == object for categories in part.categories_)
    return any(map(needs_text, _parts(part)))


def gives_numbers(part: Any) -> bool:
    """Whether a described transformer gives numbers whatever it gets."""
    match _described_name(part):
        case "FunctionTransformer":
            return part.func is not None
        case "SimpleImputer":
            return bool(part._fit_dtype.kind != "O")
        case "Pipeline":
            return any(map(gives_numbers, _parts(part)))
    parts = _parts(part)
    return all(map(gives_numbers, parts)) if parts else True


def _described_name(part: Any) -> str:
    return type(part).__name__ if is_described(part) else ""


def _parts(part: Any) -> list[Any]:
    """The objects inside that get rows."""
    match _described_name(part):
        case "Pipeline":
            parts = [step for _, step in part.steps]
        case "FeatureUnion":
            parts = [each for _, each in part.transformer_list]
        case "ColumnTransformer":
            used = part.output_indices_
            parts = [each for name, each, _ in part.transformers_ if used[name] != slice(0, 0)]
        case "FrozenEstimator":
            parts = [part.estimator]
        case _:
            parts = []
    return [each for each in parts if not isinstance(each, str | None)]
