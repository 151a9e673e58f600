"""Many short columns, handled together: a call of Arrow takes longer than its work on few rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pyarrow as pa

GROUP_CELLS = 1 << 16  # a longer column is handled alone


def column_groups(columns: Sequence[int], n_rows: int) -> Iterator[Sequence[int]]:
    """Cut a list of columns into groups to be handled together.

    >>> list(column_groups([1, 2, 3], n_rows=30_000))
    [[1, 2], [3]]
    """
    size = max(1, GROUP_CELLS // max(1, n_rows))
    return (columns[start : start + size] for start in range(0, len(columns), size))


def apply_together(
    work: Callable[[pa.Array], pa.Array], columns: Sequence[pa.Array]
) -> list[pa.Array | None]:
    """Apply a function to each column of a group.

    Parameters
    ----------
    work : function of an array
        What it returns for a value must not depend on the other values. It raises `ArrowInvalid`
        if it cannot handle a value.
    columns : sequence of pyarrow.Array
        Of one type and one length.

    Returns
    -------
    list of pyarrow.Array or None
        None for each column with a value that the function cannot handle.

    Examples
    --------
    >>> import pyarrow as pa
    >>> numbers, others = apply_together(
    ...     lambda text: text.cast(pa.int64()), [pa.array(["1", "2"]), pa.array(["x", "3"])]
    ... )
    >>> numbers.to_pylist(), others
    ([1, 2], None)
    """
    if not columns:
        return []
    try:
        values = work(columns[0] if len(columns) == 1 else pa.concat_arrays(columns))
    except pa.ArrowInvalid:
        if len(columns) == 1:
            return [None]
        middle = len(columns) // 2
        return apply_together(work, columns[:middle]) + apply_together(work, columns[middle:])
    n_rows = len(columns[0])
    return [values.slice(place * n_rows, n_rows) for place in range(len(columns))]
