"""Labels: which rows are known to be anomalies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..streams import TableError, TableFile
from ..tables import require_columns

ANOMALOUS = {"1", "1.0", "true"}
NORMAL = {"0", "0.0", "false"}


def anomalies(
    table: pa.Table, label: str, anomalous: str | None, file: TableFile
) -> npt.NDArray[np.bool_]:
    """Whether each row is labelled as an anomaly: 1 or true, or the value said to mean it."""
    try:
        require_columns(table.column_names, [label])
    except ValueError as error:
        raise TableError(f"{file}: {error}") from error
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
            "--anomalous VALUE."
        )
    return np.array([text in ANOMALOUS for text in lower], dtype=bool)
