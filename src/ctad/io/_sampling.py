"""A uniform sample of all rows that pass by."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ._errors import TableError


class Reservoir:
    """A uniform sample, without replacement, of the rows of a stream.

    Every row gets a random key; those with the smallest keys stay. So the sample depends on
    the seed and the rows alone, not on how they are cut into batches.

    Parameters
    ----------
    size : int
        Rows to keep; if there are fewer, all of them.
    seed : int

    Attributes
    ----------
    seen : int
        Rows that passed by.

    Examples
    --------
    >>> import pyarrow as pa
    >>> reservoir = Reservoir(size=3, seed=0)
    >>> for start in range(0, 1000, 100):
    ...     reservoir.add(pa.table({"n": range(start, start + 100)}))
    >>> reservoir.seen, reservoir.rows().num_rows
    (1000, 3)
    """

    def __init__(self, size: int, seed: int) -> None:
        self.seen = 0
        self._size = size
        self._random = np.random.default_rng(seed)
        self._schema: pa.Schema | None = None
        self._tables: list[pa.Table] = []
        self._keys: npt.NDArray[np.float64] = np.empty(0)
        self._limit = np.inf  # rows with a larger key cannot be among the smallest any more

    def add(self, table: pa.Table) -> None:
        """Let rows pass by.

        Parameters
        ----------
        table : pyarrow.Table
            With the columns of the tables before; whole numbers and decimal ones may be mixed,
            and a column of gaps goes with any.
        """
        self._schema = table.schema if self._schema is None else _united(self._schema, table.schema)
        keys = self._random.random(table.num_rows)
        self.seen += table.num_rows
        chosen = keys < self._limit
        self._tables.append(table.filter(pa.array(chosen)))
        self._keys = np.concatenate([self._keys, keys[chosen]])
        if len(self._keys) > 2 * self._size:
            self._shrink()

    def rows(self) -> pa.Table:
        """The sample, in the order in which the rows came."""
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


def _united(first: pa.Schema, second: pa.Schema) -> pa.Schema:
    """The schema that holds the values of both."""
    if first.equals(second):
        return first
    odd = set(first.names) ^ set(second.names)
    if odd:
        raise TableError(f"column {min(odd)!r} is in some of the tables only. Columns must agree.")
    fields = []
    for field in first:
        other = second.field(field.name)
        if field.type == other.type:
            fields.append(field.with_nullable(True))
            continue
        try:
            both = pa.unify_schemas(
                [pa.schema([(field.name, _simple(kind))]) for kind in (field.type, other.type)],
                promote_options="permissive",
            )
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise TableError(
                f"column {field.name!r} is {field.type} in one table and {other.type} in another."
            ) from None
        fields.append(field.with_type(both.field(0).type).with_nullable(True))
    return pa.schema(fields, first.metadata)


def _simple(kind: pa.DataType) -> pa.DataType:
    """A type that goes with more others: categories as their values, days as moments."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    return pa.timestamp("us") if pa.types.is_date(kind) else kind
