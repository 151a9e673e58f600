"""A uniform random sample of the rows of large tables."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ._errors import TableError


class RowSample:
    """A uniform random sample, without replacement, of rows that are added in batches.

    Every row gets a random key; the rows with the smallest keys are the sample. So it depends on
    the seed and the rows, not on the batches.

    Parameters
    ----------
    size : int
        Rows to keep; if there are fewer, all are kept.
    seed : int

    Attributes
    ----------
    n_seen : int
        Rows added so far.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ctad.io import RowSample
    >>> sample = RowSample(size=3, seed=0)
    >>> for start in range(0, 1000, 100):
    ...     sample.add(pa.table({"n": range(start, start + 100)}))
    >>> sample.n_seen, sample.rows().num_rows
    (1000, 3)
    """

    def __init__(self, size: int, seed: int) -> None:
        self.n_seen = 0
        self._size = size
        self._random = np.random.default_rng(seed)
        self._schema: pa.Schema | None = None
        self._tables: list[pa.Table] = []
        self._keys: npt.NDArray[np.float64] = np.empty(0)
        self._limit = np.inf  # rows with a larger key cannot be in the sample any more

    def add(self, table: pa.Table) -> None:
        """Add rows.

        Parameters
        ----------
        table : pyarrow.Table
            With the same columns as the tables before. Integers and floats may be mixed, and a
            column without values is compatible with any type.
        """
        self._schema = (
            table.schema if self._schema is None else _common_schema(self._schema, table.schema)
        )
        keys = self._random.random(table.num_rows)
        self.n_seen += table.num_rows
        chosen = keys < self._limit
        self._tables.append(table.filter(pa.array(chosen)))
        self._keys = np.concatenate([self._keys, keys[chosen]])
        if len(self._keys) > 2 * self._size:
            self._shrink()

    def rows(self) -> pa.Table:
        """The sample, in the order in which the rows were added."""
        if self._schema is None:
            raise TableError("there are no tables to take rows from.")
        self._shrink()
        return self._tables[0]

    def _shrink(self) -> None:
        assert self._schema is not None
        names = self._schema.names
        table = pa.concat_tables(
            t.select(names).cast(self._schema, safe=False) for t in self._tables
        )
        if len(self._keys) > self._size:
            kept = np.zeros(len(self._keys), dtype=bool)
            kept[np.argsort(self._keys, kind="stable")[: self._size]] = True
            self._keys = self._keys[kept]
            self._limit = self._keys.max(initial=0.0)
            table = table.filter(pa.array(kept))
        self._tables = [table.combine_chunks()]


def _common_schema(first: pa.Schema, second: pa.Schema) -> pa.Schema:
    """The schema that can hold the values of both."""
    if first.equals(second):
        return first
    unshared = set(first.names) ^ set(second.names)
    if unshared:
        raise TableError(
            f"column {min(unshared)!r} is in some of the tables only. All need the same columns."
        )
    fields = []
    for field in first:
        other = second.field(field.name)
        if field.type == other.type:
            fields.append(field.with_nullable(True))
            continue
        try:
            both = pa.unify_schemas(
                [pa.schema([(field.name, _general(type_))]) for type_ in (field.type, other.type)],
                promote_options="permissive",
            )
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise TableError(
                f"column {field.name!r} is {field.type} in one table and {other.type} in another."
            ) from None
        fields.append(field.with_type(both.field(0).type).with_nullable(True))
    return pa.schema(fields, first.metadata)


def _general(type_: pa.DataType) -> pa.DataType:
    """A type that is compatible with more others: the values of categories, times for dates."""
    if pa.types.is_dictionary(type_):
        return type_.value_type
    return pa.timestamp("us") if pa.types.is_date(type_) else type_
