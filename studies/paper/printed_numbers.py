"""The numbers that the paper prints."""

from pathlib import Path

import pandas as pd

FOLDER = Path(__file__).parent / "printed"
METRICS = {"auc_pr": "AUC-PR", "auc_roc": "AUC-ROC"}
WITH_CTAD = "+CTAD"  # after the name of a detector

# The paper prints four digits and rounds on the way: numbers are equal if they differ by less.
SAME = 0.0006
ROUNDING = 1e-9  # of differences


def improvement(metric: str) -> pd.DataFrame:
    """Each data set's metric of seven detectors, and of these with CTAD ("KNN+CTAD")."""
    return _table(f"improvement_{metric}.csv", "dataset").iloc[:-1]  # the last row has averages


def comparison(metric: str) -> pd.DataFrame:
    """Each data set's metric of 13 detectors, and of three of them with CTAD ("KNN+CTAD")."""
    table = _table(f"comparison_{metric}.csv", "dataset").drop(["average", "rank"])
    return table.rename(columns=_calibrated_name)


def summary() -> pd.DataFrame:
    """The paper's first table, by detector."""
    return _table("summary.csv", "detector")


def gaps() -> pd.DataFrame:
    """The mean term of normal and of anomalous rows, by data set."""
    columns = {"normal_mean": "normal", "anomaly_mean": "anomalous", "increase_pct": "%"}
    return _table("ot_gap.csv", "dataset").rename(columns=columns)


def runtimes() -> pd.DataFrame:
    """Milliseconds per row, by data set and detector."""
    return _table("runtime.csv", "dataset")


def _table(name: str, index: str) -> pd.DataFrame:
    table = pd.read_csv(FOLDER / name, index_col=index)
    return table.rename(index=str.lower) if index == "dataset" else table


def _calibrated_name(column: str) -> str:
    """ "CTAD(KNN)" as "KNN+CTAD"."""
    if column.startswith("CTAD("):
        return column.removeprefix("CTAD(").removesuffix(")") + WITH_CTAD
    return column
