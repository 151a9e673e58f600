"""Kinds of values in a model file: how each is written, and what is accepted when it is read.

A description of a type (see `_description`) is a table of names and kinds. Lengths of arrays have
names: the first array that has a length sets it, and all others must agree. So `Floats("n", "d")`
and `Floats("d")` in one table state that both have as many columns.
"""

from ._arrays import Array, Booleans, Floats, Integers, Names
from ._kind import ANY_LENGTH, Kind, Length, NotDescribedError, require, shown
from ._nested import (
    NOWHERE,
    ListOf,
    MayBeMissing,
    Object,
    OneOf,
    Optional,
    Record,
    TupleOf,
    read_fields,
    write_fields,
)
from ._scalars import Choice, Flag, Integer, Number, Seed, Text, Unsaved

__all__ = [
    "ANY_LENGTH",
    "NOWHERE",
    "Array",
    "Booleans",
    "Choice",
    "Flag",
    "Floats",
    "Integer",
    "Integers",
    "Kind",
    "Length",
    "ListOf",
    "MayBeMissing",
    "Names",
    "NotDescribedError",
    "Number",
    "Object",
    "OneOf",
    "Optional",
    "Record",
    "Seed",
    "Text",
    "TupleOf",
    "Unsaved",
    "read_fields",
    "require",
    "shown",
    "write_fields",
]
