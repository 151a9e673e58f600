"""The tables of a benchmark."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from scipy import stats

from ..._number_text import format_p_value
from .._calibrations import NO_CALIBRATION
from ._measurements import CONSTANT, Measurements, Reference
from ._table import Format, Table

METRICS = {"auc_pr": "AUC-PR", "auc_roc": "AUC-ROC", "precision_at_n": "Precision at n"}
CALIBRATED = "+CTAD"  # after the name of a detector
RESAMPLES = 10_000
FEWEST_TO_TEST = 3  # data sets

_IMPROVEMENT: dict[str, Format] = {
    "baseline": ".4f",
    "gain": "+.4f",
    "95 % from": "+.3f",
    "to": "+.3f",
    "gain %": "+.1f",
    "wins": ".0f",
    "t-test p": partial(format_p_value, decimals=4),
    "Wilcoxon p": partial(format_p_value, decimals=4),
}


def summary_table(
    measured: Measurements,
    protocol: str,
    calibration: str,
    metric: str,
    reference: Reference | None = None,
) -> Table:
    """How much calibration adds to each detector, over the data sets.

    Parameters
    ----------
    measured : Measurements
    protocol, calibration : str
        Their names.
    metric : {"auc_pr", "auc_roc", "precision_at_n"}
    reference : Reference, optional

    Returns
    -------
    Table

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ctad.evaluation import Cell, Outcome, Results
    >>> from ctad.evaluation.report import Measurements, summary_table
    >>> cell = Cell("payments", "KNN", "paper", "random split", seed=0)
    >>> with TemporaryDirectory() as folder:
    ...     results = Results(Path(folder))
    ...     with results.cells.writing() as add:
    ...         add([(cell, Outcome("", auc_pr=0.6, base_auc_pr=0.5))])
    ...     measured = Measurements(results)
    >>> table = summary_table(measured, "random split", "paper", "auc_pr")
    >>> table.as_text().loc["KNN", ["data sets", "baseline", "gain"]].tolist()
    ['1', '0.5000', '+0.1000']
    """
    cells = measured.of(protocol, calibration)
    needed = {metric, f"base_{metric}", *CONSTANT}
    means = cells.groupby(["detector", "dataset"])[sorted(needed)].mean()
    rows = {}
    for detector in measured.detectors:
        if detector not in means.index:
            continue
        own = means.loc[detector]
        before, after = own[f"base_{metric}"], own[metric]
        rows[detector] = improvement(before, after)
        constant = measured.has_constant_score(own)
        rows[detector] |= {
            "constant score": int(constant.sum()),
            "gain elsewhere": (after - before)[~constant].mean(),
        }
        if reference is not None:
            rows[detector] |= _of_reference(reference, detector, own.index)
    data = pd.DataFrame.from_dict(rows, orient="index").rename_axis("detector")
    formats = {**_IMPROVEMENT, "gain elsewhere": "+.4f"}
    prefix = "" if reference is None else f"{reference.name}: "
    beside = (name for column in data for name in (column, prefix + column) if name in data)
    return Table(
        f"summary {protocol} {metric}",
        f"{METRICS[metric]}: what calibration adds ({protocol})",
        f"Calibration: {calibration}. Means over data sets of means over seeds. Wins: data sets "
        "with a gain. P-values: one-tailed paired tests over data sets. Interval: 95 %, bootstrap "
        "over data sets. Constant score: data sets on which the detector gives all rows the same "
        "score."
        + (
            f" The {reference.name}'s columns are computed from its own numbers for the same data "
            "sets."
            if reference is not None and any(column.startswith(prefix) for column in data)
            else ""
        )
        + (
            f" Tests and intervals need {FEWEST_TO_TEST} data sets."
            if len(data) and (data["data sets"] < FEWEST_TO_TEST).any()
            else ""
        )
        + _missing_seeds(cells, measured),
        data[list(dict.fromkeys(beside))],
        formats | {f"{prefix}{name}": how for name, how in formats.items()},
    )


def improvement(before: pd.Series, after: pd.Series) -> dict[str, float]:
    """Gain, interval and tests of a metric over data sets."""
    gain = (after - before).to_numpy()
    low = high = t_test = wilcoxon = np.nan
    if len(gain) >= FEWEST_TO_TEST and np.ptp(gain) > 0:  # equal gains cannot be tested
        t_test = float(stats.ttest_rel(after, before, alternative="greater").pvalue)
        wilcoxon = float(stats.wilcoxon(gain, alternative="greater").pvalue)
        drawn = np.random.default_rng(0).choice(gain, (RESAMPLES, len(gain)))
        low, high = np.percentile(drawn.mean(axis=1), [2.5, 97.5])
    return {
        "data sets": len(gain),
        "baseline": before.mean(),
        "gain": gain.mean(),
        "95 % from": low,
        "to": high,
        "gain %": 100 * (gain / before.where(before > 0)).mean(),  # none of a baseline of 0
        "wins": int((gain > 0).sum()),
        "t-test p": t_test,
        "Wilcoxon p": wilcoxon,
    }


def _of_reference(reference: Reference, detector: str, datasets: pd.Index) -> dict[str, float]:
    """The reference's gain, if it has numbers for all these data sets."""
    if detector not in reference.calibrated or not datasets.isin(reference.plain.index).all():
        return {}
    tables = (reference.plain, reference.calibrated)
    theirs = improvement(*(table.loc[datasets, detector] for table in tables))
    columns = ("baseline", "gain", "gain %", "wins", "t-test p")
    return {f"{reference.name}: {column}": theirs[column] for column in columns}


def _missing_seeds(cells: pd.DataFrame, measured: Measurements) -> str:
    """A sentence about detectors that were not run with all seeds on all data sets."""
    counts = cells.groupby(["detector", "dataset"])["seed"].nunique().groupby("detector")
    wanted = len(measured.seeds)
    some = [
        f"{name} ({low} to {high})"
        for name, low, high in zip(counts.min().index, counts.min(), counts.max(), strict=True)
        if low < wanted
    ]
    return f" Not all {wanted} seeds yet: {', '.join(some)}." if some else ""


def dataset_table(
    measured: Measurements,
    protocol: str,
    calibration: str,
    metric: str,
    reference: Reference | None = None,
) -> Table:
    """Each detector on each data set, without and with calibration.

    Parameters
    ----------
    measured, protocol, calibration, metric, reference
        As for `summary_table`.

    Returns
    -------
    Table

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ctad.evaluation import Cell, Outcome, Results
    >>> from ctad.evaluation.report import Measurements, dataset_table
    >>> cell = Cell("payments", "KNN", "paper", "random split", seed=0)
    >>> with TemporaryDirectory() as folder:
    ...     results = Results(Path(folder))
    ...     with results.cells.writing() as add:
    ...         add([(cell, Outcome("", auc_pr=0.6, base_auc_pr=0.5))])
    ...     measured = Measurements(results)
    >>> table = dataset_table(measured, "random split", "paper", "auc_pr")
    >>> table.as_text().loc["payments", "KNN"]
    '0.5000 → 0.6000'
    """
    after = measured.means(protocol, calibration, metric)
    before = measured.means(protocol, calibration, f"base_{metric}")
    data: dict[str, pd.Series] = {}
    shown: dict[str, pd.Series] = {}
    in_brackets = "."
    for detector in after:
        columns = {detector: before[detector], detector + CALIBRATED: after[detector]}
        lines = _arrows(*columns.values())
        if reference is not None and detector in reference.calibrated:
            theirs = [
                table[detector].reindex(after.index)
                for table in (reference.plain, reference.calibrated)
            ]
            columns |= {
                f"{reference.name}: {name}": of for name, of in zip([*columns], theirs, strict=True)
            }
            lines = lines + _arrows(*theirs).map(lambda pair: f"\n({pair})" if pair else "")
            in_brackets = f"; in brackets the numbers of the {reference.name}."
        data |= columns
        shown[detector] = lines
    return Table(
        f"datasets {protocol} {metric}",
        f"{METRICS[metric]} on each data set ({protocol})",
        "Detector alone → calibrated, means over the seeds" + in_brackets,
        pd.DataFrame(data).rename_axis("data set"),
        shown=pd.DataFrame(shown),
    )


def _arrows(before: pd.Series, after: pd.Series) -> pd.Series:
    pairs = zip(before, after, strict=True)
    return pd.Series(
        ["" if np.isnan([b, a]).any() else f"{b:.4f} → {a:.4f}" for b, a in pairs],
        index=before.index,
        dtype=object,
    )


def comparison_table(
    measured: Measurements,
    protocol: str,
    calibration: str,
    metric: str,
    reference: Reference | None = None,
    *,
    calibrated: tuple[str, ...] | None = None,
) -> Table:
    """All detectors on each data set, their averages and mean ranks.

    Parameters
    ----------
    measured, protocol, calibration, metric, reference
        As for `summary_table`.
    calibrated : tuple of str, optional
        Detectors to show with calibration, too; by default all.

    Returns
    -------
    Table

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ctad.evaluation import Cell, Outcome, Results
    >>> from ctad.evaluation.report import Measurements, comparison_table
    >>> cell = Cell("payments", "KNN", "none", "random split", seed=0)
    >>> with TemporaryDirectory() as folder:
    ...     results = Results(Path(folder))
    ...     with results.cells.writing() as add:
    ...         add([(cell, Outcome("", auc_pr=0.6, base_auc_pr=0.5))])
    ...     measured = Measurements(results)
    >>> table = comparison_table(measured, "random split", "paper", "auc_pr")
    >>> table.as_text()["KNN"].to_dict()
    {'payments': '0.6000', 'average': '0.6000', 'mean rank': '1.0000'}
    """
    data = _side_by_side(
        measured.means(protocol, NO_CALIBRATION.name, metric),
        measured.means(protocol, calibration, metric),
        calibrated,
    )
    complete = data.dropna()
    totals = _averages(complete)
    if reference is not None:
        theirs = _side_by_side(reference.plain, reference.calibrated).reindex(columns=data.columns)
        if len(complete) and complete.index.isin(theirs.index).all():
            averages = _averages(theirs.loc[complete.index])
            totals = pd.concat(
                [totals, averages.rename(index=lambda of: f"{reference.name}: {of}")]
            )
    return Table(
        f"comparison {protocol} {metric}",
        f"{METRICS[metric]} of all detectors ({protocol})",
        f"Means over the seeds. Averages and ranks are over the {len(complete)} data sets with "
        "results of all detectors."
        + _missing_seeds(measured.of(protocol, NO_CALIBRATION.name), measured),
        data.rename_axis("data set"),
        dict.fromkeys(data, ".4f"),
        totals=totals,
    )


def _side_by_side(
    plain: pd.DataFrame, after: pd.DataFrame, calibrated: tuple[str, ...] | None = None
) -> pd.DataFrame:
    shown = [name for name in after if calibrated is None or name in calibrated]
    return plain.join(after[shown].add_suffix(CALIBRATED))


def _averages(table: pd.DataFrame) -> pd.DataFrame:
    ranks = table.rank(axis=1, ascending=False)
    return pd.DataFrame({"average": table.mean(), "mean rank": ranks.mean()}).T


def failure_table(measured: Measurements) -> Table:
    """The cells without a result, by error.

    Parameters
    ----------
    measured : Measurements

    Returns
    -------
    Table

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ctad.evaluation import Cell, Outcome, Results
    >>> from ctad.evaluation.report import Measurements, failure_table
    >>> cell = Cell("payments", "KNN", "none", "random split", seed=0)
    >>> with TemporaryDirectory() as folder:
    ...     results = Results(Path(folder))
    ...     with results.cells.writing() as add:
    ...         add([(cell, Outcome("", error="ValueError: too few rows"))])
    ...     measured = Measurements(results)
    >>> failure_table(measured).as_text().loc["payments", "error"]
    'ValueError: too few rows'
    """
    counts = measured.failures.groupby(["dataset", "detector", "protocol", "error"]).size()
    data = counts.rename("results").reset_index().set_index("dataset").rename_axis("data set")
    return Table(
        "failures",
        "Failures",
        "They are left out of all tables, with and without calibration. `--retry-failed` tries "
        "them again.",
        data,
    )
