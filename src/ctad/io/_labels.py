"""Labels: which rows are known to be anomalies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ._errors import TableError
from ._table_files import TableFile

ANOMALOUS = {"1", "1.0", "true"}
NORMAL = {"0", "0.0", "false"}


def anomalies(
    table: pa.Table, label: str, anomalous: str | None, file: TableFile | Path
) -> npt.NDArray[np.bool_]:
    """Find the rows that are labelled as anomalies.

    Parameters
    ----------
    table : pyarrow.Table
    label : str
        The column of labels: 1 or true = anomaly, 0 or false = normal.
    anomalous : str or None
        The value that means anomaly, if labels are others.
    file : TableFile or path
        What to name if a label is missing or unclear.

    Returns
    -------
    ndarray of bool

    Examples
    --------
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> table = pa.table({"state": ["ok", "ok", "broken"]})
    >>> anomalies(table, "state", "broken", Path("machines.csv"))
    array([False, False,  True])
    """
    if label not in table.column_names:
        raise TableError(
            f"{file}: the table lacks column {label!r}, which should have the labels; it has "
            f"{', '.join(map(repr, table.column_names))}"
        )
    texts = pc.cast(table[label], pa.string()).to_pylist()
    missing = texts.count(None) + texts.count("")
    if missing:
        raise TableError(f"{file}: {missing} rows have no label in column {label!r}.")
    if anomalous is not None:
        return np.array([text == anomalous for text in texts], dtype=bool)
    lower = [text.strip().lower() for text in texts]
    unknown = set(lower) - ANOMALOUS - NORMAL
    if unknown:
        raise TableError(
            f"{file}: labels must be 0 and 1 or true and false, but column {label!r} has "
            f"{texts[lower.index(min(unknown))]!r}. Say which value means anomaly: "
            "--anomalous VALUE, in Python anomalous=VALUE."
        )
    return np.array([text in ANOMALOUS for text in lower], dtype=bool)


def require_both_kinds(found: npt.NDArray[np.bool_], label: str, where: str) -> None:
    """Raise unless there are normal and anomalous rows.

    Parameters
    ----------
    found : ndarray of bool
        As `anomalies` gives it.
    label, where : str
        The column of labels and the table, to be named.
    """
    if found.all() or not found.any():
        raise TableError(
            f"{where}: {int(found.sum())} of {len(found)} rows are labelled anomalous in column "
            f"{label!r}; normal and anomalous ones are needed."
        )
