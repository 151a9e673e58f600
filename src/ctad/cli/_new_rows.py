"""New rows from files, with the columns that a model needs, and their labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .._frames import check_has_columns
from ..errors import InputError
from ..io import LabelColumn, ReadOptions, RowSample, TableError, find_tables, read_tables
from ..wrapper import CalibratedDetector

# Sampled together with the rows, beside their own columns.
ROW_NUMBER, LABEL = "ctad: row number", "ctad: label"


@dataclass(frozen=True, eq=False)
class NewRows:
    """Rows to report on.

    Attributes
    ----------
    table : pyarrow.Table
    row_numbers : ndarray of int
        The position of each row in the files, from 0.
    is_anomaly : ndarray of bool or None
        None without labels.
    n_seen : int
        Rows in the files.
    """

    table: pa.Table
    row_numbers: npt.NDArray[np.int64]
    is_anomaly: npt.NDArray[np.bool_] | None
    n_seen: int


def read_new_rows(
    detector: CalibratedDetector,
    where: str,
    reading: ReadOptions,
    *,
    sample_rows: int,
    seed: int,
    label: LabelColumn | None,
) -> NewRows:
    """Read a random sample of rows, in their order, as the detector needs them."""
    types, used = detector.column_types(), set(detector.feature_names_in_)
    sample = RowSample(sample_rows, seed)
    for batch in read_tables(find_tables(where), reading):
        try:
            check_has_columns(batch.rows.column_names, types.names)
        except InputError as error:
            raise TableError(f"{batch.file}: {error}") from error
        rows = batch.with_types(types)
        rows = rows.select([name for name in rows.column_names if name in used])
        numbers = np.arange(sample.n_seen, sample.n_seen + rows.num_rows)
        rows = rows.append_column(ROW_NUMBER, pa.array(numbers))
        if label is not None:
            is_anomaly = label.is_anomaly(batch.rows, batch.file)
            rows = rows.append_column(LABEL, pa.array(is_anomaly))
        sample.add(rows)
    if not sample.n_seen:
        raise TableError(f"{where}: there are no rows to report on.")
    table = sample.rows()
    columns = [name for name in table.column_names if name not in (ROW_NUMBER, LABEL)]
    return NewRows(
        table.select(columns),
        table[ROW_NUMBER].to_numpy(),
        None if label is None else table[LABEL].to_numpy(),
        sample.n_seen,
    )
