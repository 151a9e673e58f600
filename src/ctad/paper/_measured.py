"""Our results as data frames."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..benchmark import Calibration, Results


class Measured:
    """What a folder of results has.

    Attributes
    ----------
    cells, gaps, runtimes : pandas.DataFrame
        One row per result; those that failed are left out.
    failed : pandas.DataFrame
        Cells without a result, and why.
    """

    def __init__(self, results: Results) -> None:
        cells = _frame(results.cells)
        self.failed = cells[cells["error"].notna()]
        self.cells = cells[cells["error"].isna()]
        self.gaps = _without_errors(_frame(results.gaps))
        self.runtimes = _without_errors(_frame(results.runtimes))
        self.datasets = _frame(results.datasets)
        self.environments = _frame(results.environments)

    def of(self, protocol: str, calibration: Calibration) -> pd.DataFrame:
        """The cells of one calibration: a row per data set, detector and seed."""
        cells = self.cells
        return cells[(cells.protocol == protocol) & (cells.calibration == calibration.name)]

    def means(self, protocol: str, calibration: Calibration, metric: str) -> pd.DataFrame:
        """A metric over the seeds: a row per data set, a column per detector."""
        return self.of(protocol, calibration).pivot_table(
            index="dataset", columns="detector", values=metric
        )


def _frame(store: Any) -> pd.DataFrame:
    columns = [*store.columns]
    return pd.DataFrame([(*key, *value) for key, value in store.rows().items()], columns=columns)


def _without_errors(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["error"].isna()].drop(columns="error")
