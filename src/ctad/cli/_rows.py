"""New rows from files, as a model knows them, with their labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ..io import (
    Place,
    Reservoir,
    TableError,
    anomalies,
    convert,
    find_tables,
    open_table,
)
from ..tables import require_columns
from ..wrapper import CalibratedDetector
from ._console import Talk

# Beside the columns of a table: where in the files each row is, and its label.
PLACE, LABEL = "ctad: place of the row", "ctad: label of the row"


class NewRows(NamedTuple):
    """Rows to report on."""

    table: pa.Table
    places: npt.NDArray[np.int64]  # in the files, from 0
    labels: npt.NDArray[np.bool_] | None
    seen: int  # rows in the files


def read_rows(
    detector: CalibratedDetector,
    where: str,
    talk: Talk,
    *,
    sample_rows: int,
    seed: int,
    label: str | None,
    anomalous: str | None,
    batch_rows: int | None,
    encoding: str | None,
    delimiter: str | None,
) -> NewRows:
    """The columns that the model needs, with its types; at most so many rows, in their order."""
    types, needed = detector.column_types(), set(detector.feature_names_in_)
    sample = Reservoir(sample_rows, seed)
    for file in find_tables(where):
        with (
            open_table(file, batch_rows, encoding=encoding, delimiter=delimiter) as reader,
            talk.progress(f"Reading {file}") as watch,
        ):
            rows = 0
            for batch in reader:
                places = np.arange(sample.seen, sample.seen + batch.num_rows)
                found = None if label is None else anomalies(batch, label, anomalous, file)
                try:
                    require_columns(batch.column_names, types.names)
                except ValueError as error:
                    raise TableError(f"{file}: {error}") from error
                batch = batch.select([name for name in batch.column_names if name in needed])
                if reader.dialect is not None:
                    place = Place(file, reader.dialect, rows)
                    batch = convert(batch, types, reader.dialect, place)
                batch = batch.append_column(PLACE, pa.array(places))
                if found is not None:
                    batch = batch.append_column(LABEL, pa.array(found))
                sample.add(batch)
                rows += batch.num_rows
                watch(rows, reader.done, reader.total)
    if not sample.seen:
        raise TableError(f"{where}: there are no rows to report on.")
    table = sample.rows()
    places = table[PLACE].to_numpy()
    if label is None:
        return NewRows(table.drop_columns([PLACE]), places, None, sample.seen)
    labels = table[LABEL].to_numpy()
    return NewRows(table.drop_columns([PLACE, LABEL]), places, labels, sample.seen)
