"""Our results as data frames."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..datasets import KNOWN_DATASETS
from ..evaluation import Calibration, Results
from ._study import Study

BLIND = ("base_auc_pr", "base_auc_roc")  # by which one tells


class Measured:
    """What a folder of results has.

    Parameters
    ----------
    results : Results
    study : Study, optional
        Leave out what is not of its data sets, detectors, protocols and seeds.

    Attributes
    ----------
    cells, gaps, runtimes : pandas.DataFrame
        One row per result; those that failed are left out.
    failed : pandas.DataFrame
        What has no result, and why.
    of_the_paper : set of str
        The data sets that are the paper's, and not others of the same name.
    anomalies : pandas.Series
        The share of the test rows of each data set that are anomalies.
    """

    def __init__(self, results: Results, study: Study | None = None) -> None:
        cells, gaps, runtimes = (
            _only(_frame(store), study) for store in (results.cells, results.gaps, results.runtimes)
        )
        self.cells = cells[cells["error"].isna()]
        self.gaps = gaps[gaps["error"].isna()]
        self.runtimes = runtimes[runtimes["error"].isna()]
        self.failed = pd.concat([part[part["error"].notna()] for part in (cells, gaps, runtimes)])
        self.environments = _frame(results.environments)
        datasets = _frame(results.datasets)
        self.of_the_paper = {facts.name for facts in datasets.itertuples() if _is_the_papers(facts)}
        learnt = (datasets["rows"] - datasets["anomalies"]) // 2
        tested = datasets["rows"] - learnt
        self.anomalies = (datasets["anomalies"] / tested).set_axis(datasets["name"])

    def of(self, protocol: str, calibration: Calibration) -> pd.DataFrame:
        """The cells of one calibration: a row per data set, detector and seed."""
        cells = self.cells
        return cells[(cells.protocol == protocol) & (cells.calibration == calibration.name)]

    def is_blind(self, metrics: pd.DataFrame) -> pd.Series:
        """Whether a detector gives all test rows of a data set the same score.

        Then AUC-ROC is a half and AUC-PR the share of the anomalies. Metrics are kept to five
        digits.
        """
        pr, roc = (metrics[name] for name in BLIND)
        return (roc == 0.5) & ((pr - self.anomalies.reindex(pr.index)).abs() < 1e-5)

    def means(self, protocol: str, calibration: Calibration, metric: str) -> pd.DataFrame:
        """A metric over the seeds: a row per data set, a column per detector."""
        return self.of(protocol, calibration).pivot_table(
            index="dataset", columns="detector", values=metric
        )


def _frame(store: Any) -> pd.DataFrame:
    return pd.DataFrame(
        [(*key, *value) for key, value in store.rows().items()], columns=list(store.columns)
    )


def _only(frame: pd.DataFrame, study: Study | None) -> pd.DataFrame:
    if study is None:
        return frame
    wanted = {
        "dataset": study.datasets,
        "detector": (*study.detectors, *study.compared),
        "protocol": study.protocols,
        "seed": study.seeds,
    }
    for column, values in wanted.items():
        if column in frame:
            frame = frame[frame[column].isin(values)]
    return frame


def _is_the_papers(facts: Any) -> bool:
    known = KNOWN_DATASETS.get(facts.name.lower())
    if known is None:
        return False
    shape = (facts.rows, facts.columns, facts.anomalies)
    same_shape = shape == (known.samples, known.dims, known.anomalies)
    return same_shape and known.values_sha256 in (None, facts.sha256)
