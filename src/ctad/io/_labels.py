"""Labels: which rows are known anomalies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .._quoting import listed, quoted, shortened
from ._errors import TableError
from ._table_files import TableFile

ANOMALOUS = {"1", "1.0", "true"}
NORMAL = {"0", "0.0", "false"}


@dataclass(frozen=True)
class LabelColumn:
    """The column that says which rows are anomalies.

    Attributes
    ----------
    name : str
    anomalous : str or None
        The value that means anomaly. None: 1 or true is an anomaly, 0 or false is normal.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ctad.io import LabelColumn
    >>> table = pa.table({"state": ["ok", "ok", "broken"]})
    >>> LabelColumn("state", "broken").is_anomaly(table, "machines.csv")
    array([False, False,  True])
    """

    name: str
    anomalous: str | None = None

    def is_anomaly(self, table: pa.Table, source: TableFile | Path | str) -> npt.NDArray[np.bool_]:
        """Read the labels of a table.

        Parameters
        ----------
        table : pyarrow.Table
        source : TableFile, path or str
            Named in the error about a label that is missing or unclear.

        Returns
        -------
        ndarray of bool
            True for anomalies.
        """
        if self.name not in table.column_names:
            raise TableError(
                f"{source}: the table lacks column {self.name!r}, which should have the labels; it "
                f"has {listed(map(quoted, table.column_names))}"
            )
        try:
            labels = pc.cast(table[self.name], pa.string()).to_pylist()
        except pa.ArrowException as error:
            raise TableError(
                f"{source}: column {self.name!r} cannot be a label column: {shortened(error)}"
            ) from error
        missing = labels.count(None) + labels.count("")
        if missing:
            raise TableError(f"{source}: {missing} rows have no label in column {self.name!r}.")
        if self.anomalous is not None:
            return np.array([label == self.anomalous for label in labels], dtype=bool)
        lower = [label.strip().lower() for label in labels]
        unknown = set(lower) - ANOMALOUS - NORMAL
        if unknown:
            raise TableError(
                f"{source}: labels must be 0 and 1 or true and false, but column {self.name!r} has "
                f"{quoted(labels[lower.index(min(unknown))])}. Say which value means anomaly: "
                "--anomalous VALUE, in Python anomalous=VALUE."
            )
        return np.array([label in ANOMALOUS for label in lower], dtype=bool)

    def require_both_classes(self, is_anomaly: npt.NDArray[np.bool_], source: str) -> None:
        """Raise unless there are normal and anomalous rows.

        Parameters
        ----------
        is_anomaly : ndarray of bool
            From `is_anomaly`.
        source : str
            The table, to name it in the error.
        """
        if is_anomaly.all() or not is_anomaly.any():
            raise TableError(
                f"{source}: {int(is_anomaly.sum())} of {len(is_anomaly)} rows are labelled "
                f"anomalous in column {self.name!r}. Both normal and anomalous rows are needed."
            )
