"""Results as data frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ...errors import InputError
from .._results import Results

CONSTANT = ("base_auc_pr", "base_auc_roc")  # the metrics that show a constant score


class Measurements:
    """The results of a benchmark, or a part of them.

    Parameters
    ----------
    results : Results
    datasets, detectors, protocols : sequence of str, optional
        Names of those to keep; by default all. Tables have detectors in this order.
    seeds : sequence of int, optional

    Attributes
    ----------
    cells : pandas.DataFrame
        A row per result, with the fields of `Cell` and `Outcome`; failures are left out.
    failures : pandas.DataFrame
        The cells without a result, and why.
    environments : pandas.DataFrame
        Library versions.
    detectors : tuple of str
    seeds : tuple of int

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ctad.evaluation import Cell, Outcome, Results
    >>> from ctad.evaluation.report import Measurements
    >>> cell = Cell("payments", "KNN", "paper", "random split", seed=0)
    >>> with TemporaryDirectory() as folder:
    ...     results = Results(Path(folder))
    ...     with results.cells.writing() as add:
    ...         add([(cell, Outcome("", auc_pr=0.6, base_auc_pr=0.5))])
    ...     measured = Measurements(results)
    >>> measured.means("random split", "paper", "auc_pr").loc["payments", "KNN"]
    np.float64(0.6)
    """

    def __init__(
        self,
        results: Results,
        *,
        datasets: Sequence[str] | None = None,
        detectors: Sequence[str] | None = None,
        protocols: Sequence[str] | None = None,
        seeds: Sequence[int] | None = None,
    ) -> None:
        cells = results.cells.frame()
        kept = {"dataset": datasets, "detector": detectors, "protocol": protocols, "seed": seeds}
        for column, values in kept.items():
            if values is not None:
                cells = cells[cells[column].isin(values)]
        self.cells = cells[cells["error"].isna()]
        self.failures = cells[cells["error"].notna()]
        if not len(cells):
            raise InputError(f"{results.folder} has no such results")
        self.environments = results.environments.frame()
        self.detectors = tuple(sorted(set(cells["detector"])) if detectors is None else detectors)
        self.seeds = tuple(sorted(set(cells["seed"])) if seeds is None else seeds)
        facts = results.datasets.frame().set_index("name")
        # Half of the normal rows are for training.
        tested = facts["rows"] - (facts["rows"] - facts["anomalies"]) // 2
        self._share_of_anomalies = facts["anomalies"] / tested

    def of(self, protocol: str, calibration: str) -> pd.DataFrame:
        """The cells of one calibration: a row per data set, detector and seed."""
        cells = self.cells
        return cells[(cells["protocol"] == protocol) & (cells["calibration"] == calibration)]

    def means(self, protocol: str, calibration: str, metric: str) -> pd.DataFrame:
        """Means over the seeds: a row per data set, a column per detector."""
        means = self.of(protocol, calibration).pivot_table(
            index="dataset", columns="detector", values=metric
        )
        return means[[name for name in self.detectors if name in means]]

    def has_constant_score(self, metrics: pd.DataFrame) -> pd.Series:
        """Whether a detector gives all test rows of a data set the same score.

        Parameters
        ----------
        metrics : pandas.DataFrame
            With columns base_auc_pr and base_auc_roc; the index is the data set.
        """
        # Then AUC-ROC is 0.5 and AUC-PR is the share of anomalies. Metrics have five digits.
        pr, roc = (metrics[name] for name in CONSTANT)
        return (roc == 0.5) & ((pr - self._share_of_anomalies.reindex(pr.index)).abs() < 1e-5)


@dataclass(frozen=True, eq=False)
class Reference:
    """Numbers from elsewhere, to be shown beside the measured ones.

    Attributes
    ----------
    name : str
    plain, calibrated : pandas.DataFrame
        One metric of the detectors without and with calibration: a row per data set, a column per
        detector.
    """

    name: str
    plain: pd.DataFrame
    calibrated: pd.DataFrame
