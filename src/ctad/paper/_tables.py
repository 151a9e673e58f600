"""The paper's tables, made of our results, with its numbers beside them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import stats

from ..benchmark import NONE
from . import _printed as printed
from ._measured import Measured
from ._printed import WITH_CTAD
from ._study import ALTERNATIVES, SWEEPS, VARIANTS, Study
from ._table import Format, Table, digits, p_value

METRICS = {"auc_pr": "AUC-PR", "auc_roc": "AUC-ROC", "precision_at_n": "Precision at n"}
SYMBOLS = {"n_centroids": "K", "n_references": "M", "weight": "weight"}
PRINTED_METRICS = ("auc_pr", "auc_roc")
RESAMPLES = 10_000
# The paper prints four digits, and rounds on the way: this far apart, numbers are the same.
SAME = 0.0006


def all_tables(measured: Measured, study: Study, metrics: tuple[str, ...]) -> Iterator[Table]:
    """Every table there are results for."""
    for protocol in study.protocols:
        for metric in metrics:
            yield summary(measured, study, protocol, metric)
        for metric in metrics:
            yield by_dataset(measured, study, protocol, metric)
    first = study.protocols[0]
    if first == "published":
        yield agreement(measured, study)
    for metric in metrics:
        yield comparison(measured, study, first, metric)
    for protocol in study.protocols:
        for metric in metrics:
            yield alternatives(measured, study, protocol, metric)
    if was_swept(measured, study):
        for metric in metrics:
            yield sensitivity(measured, study, first, metric)
    for protocol in protocols_with_gaps(measured, study):
        yield gaps(measured, protocol)
    if len(measured.runtimes):
        yield runtimes(measured)
    if len(measured.failed):
        yield failures(measured)


def summary(measured: Measured, study: Study, protocol: str, metric: str) -> Table:
    """How much calibration adds to each detector, over the data sets (the paper's table 1)."""
    rows = {}
    after = measured.means(protocol, study.calibration, metric)
    before = measured.means(protocol, study.calibration, f"base_{metric}")
    for detector in _in_order(after, study.detectors):
        pair = pd.DataFrame({"before": before[detector], "after": after[detector]}).dropna()
        rows[detector] = _improvement(pair["before"], pair["after"])
        if metric in PRINTED_METRICS:
            paper = _printed_pair(metric, detector, pair.index)
            if paper is not None:
                told = _improvement(*paper)
                names = ("baseline", "gain", "gain %", "wins", "t-test p")
                rows[detector] |= {f"paper: {name}": told[name] for name in names}
    return Table(
        f"summary_{protocol}_{metric}",
        f"{METRICS[metric]}: what calibration adds, {protocol} protocol",
        f"Calibration: {study.calibration.name}. Means over data sets of means over "
        f"{len(study.seeds)} seeds; wins are data sets with a gain; p-values are one-tailed, of "
        f"paired tests over data sets; the interval is a bootstrap's over data sets, 95 %. The "
        "paper's columns are computed from its own numbers for the same data sets.",
        pd.DataFrame.from_dict(rows, orient="index").rename_axis("detector"),
        _formats_of_improvement(),
    )


def _improvement(before: pd.Series, after: pd.Series) -> dict[str, float]:
    gain = after - before
    few = len(gain) < 3 or np.ptp(gain) == 0  # nothing to test
    low = high = t_test = wilcoxon = np.nan
    if not few:
        t_test = float(stats.ttest_rel(after, before, alternative="greater").pvalue)
        wilcoxon = float(stats.wilcoxon(gain, alternative="greater").pvalue)
        interval = stats.bootstrap(
            (gain,), np.mean, n_resamples=RESAMPLES, method="percentile", rng=0
        ).confidence_interval
        low, high = float(interval.low), float(interval.high)
    return {
        "data sets": len(gain),
        "baseline": before.mean(),
        "gain": gain.mean(),
        "95 % from": low,
        "to": high,
        "gain %": 100 * (gain / before).mean(),
        "wins": int((gain > 0).sum()),
        "t-test p": t_test,
        "Wilcoxon p": wilcoxon,
    }


def _formats_of_improvement() -> dict[str, Format]:
    formats: dict[str, Format] = {
        "baseline": digits(4),
        "gain": digits(4, signed=True),
        "95 % from": digits(3, signed=True),
        "to": digits(3, signed=True),
        "gain %": digits(1, signed=True),
        "wins": digits(0),
        "t-test p": p_value,
        "Wilcoxon p": p_value,
    }
    return formats | {f"paper: {name}": formats[name] for name in formats}


def _printed_pair(
    metric: str, detector: str, datasets: pd.Index
) -> tuple[pd.Series, pd.Series] | None:
    """The paper's numbers without and with CTAD, if it has them for all these data sets."""
    table = printed.improvement(metric)
    if detector not in table or not datasets.isin(table.index).all():
        return None
    return table.loc[datasets, detector], table.loc[datasets, detector + WITH_CTAD]


def _in_order(found: pd.DataFrame, wanted: tuple[str, ...]) -> list[str]:
    return [name for name in wanted if name in found]


def by_dataset(measured: Measured, study: Study, protocol: str, metric: str) -> Table:
    """Each detector on each data set, without and with calibration."""
    after = measured.means(protocol, study.calibration, metric)
    before = measured.means(protocol, study.calibration, f"base_{metric}")
    paper = printed.improvement(metric) if metric in PRINTED_METRICS else pd.DataFrame()
    data: dict[str, pd.Series] = {}
    shown: dict[str, pd.Series] = {}
    for detector in _in_order(after, study.detectors):
        calibrated = detector + WITH_CTAD
        columns = {detector: before[detector], calibrated: after[detector]}
        lines = _arrow(columns[detector], columns[calibrated])
        if detector in paper:
            told = paper.reindex(after.index)
            columns |= {f"paper: {name}": told[name] for name in (detector, calibrated)}
            from_paper = _arrow(told[detector], told[calibrated])
            lines = lines + from_paper.map(lambda pair: f"\n({pair})" if pair else "")
        data |= columns
        shown[detector] = lines
    return Table(
        f"datasets_{protocol}_{metric}",
        f"{METRICS[metric]} on each data set, {protocol} protocol",
        "Detector alone → calibrated, means over the seeds; in brackets what the paper prints.",
        pd.DataFrame(data).rename_axis("data set"),
        shown=pd.DataFrame(shown).rename_axis("data set"),
    )


def _arrow(before: pd.Series, after: pd.Series) -> pd.Series:
    pairs = zip(before, after, strict=True)
    return pd.Series(
        ["" if np.isnan([b, a]).any() else f"{b:.4f} → {a:.4f}" for b, a in pairs],
        index=before.index,
    )


def agreement(measured: Measured, study: Study) -> Table:
    """On how many data sets our numbers are the printed ones."""
    rows = {}
    cells = measured.of("published", study.calibration)
    for metric in PRINTED_METRICS:
        paper = printed.improvement(metric)
        before, after = f"base_{metric}", metric
        for detector in _in_order(paper, study.detectors):
            own = cells[(cells.detector == detector) & cells.dataset.isin(paper.index)]
            ranges = own.groupby("dataset")[[before, after]].agg(["min", "max"])
            plain, calibrated = (
                paper.loc[ranges.index, name] for name in (detector, detector + WITH_CTAD)
            )
            rows[f"{detector}, {METRICS[metric]}"] = {
                "data sets": len(ranges),
                "plain = printed plain": _met(plain, ranges[before]),
                "calibrated = printed +CTAD": _met(calibrated, ranges[after]),
                "plain = printed +CTAD": _met(calibrated, ranges[before]),
            }
    return Table(
        "agreement",
        "On how many data sets our numbers are the paper's",
        f"A printed number counts if it lies, give or take {SAME}, between the smallest and the "
        "largest of our seeds. The last column asks whether what is printed as calibrated is in "
        "fact the plain detector.",
        pd.DataFrame.from_dict(rows, orient="index").rename_axis("detector"),
    )


def _met(told: pd.Series, ranges: pd.DataFrame) -> int:
    """How many printed numbers are between our smallest and our largest."""
    return int(told.between(ranges["min"] - SAME, ranges["max"] + SAME).sum())


def comparison(measured: Measured, study: Study, protocol: str, metric: str) -> Table:
    """All methods on each data set, their averages and mean ranks."""
    plain = measured.means(protocol, NONE, metric)
    after = measured.means(protocol, study.calibration, metric)
    names = _in_order(plain, (*study.detectors, *study.compared))
    columns = {name: plain[name] for name in names}
    for name in ("KNN", "MCM", "DRL"):
        if name in after:
            columns[name + WITH_CTAD] = after[name]
    ours = pd.DataFrame(columns)
    complete = ours.dropna()
    data = ours.copy()
    data.loc["average"] = complete.mean()
    data.loc["mean rank"] = complete.rank(axis=1, ascending=False).mean()
    if metric in PRINTED_METRICS and complete.index.isin(printed.comparison(metric).index).all():
        paper = printed.comparison(metric).reindex(columns=ours.columns).loc[complete.index]
        data.loc["paper: average"] = paper.mean()
        data.loc["paper: mean rank"] = paper.rank(axis=1, ascending=False).mean()
    return Table(
        f"comparison_{protocol}_{metric}",
        f"{METRICS[metric]} of all methods, {protocol} protocol",
        f"Means over the seeds. Averages and ranks are over the {len(complete)} data sets that all "
        "methods have results for, the paper's too.",
        data.rename_axis("data set"),
        {column: digits(4) for column in data},
        n_summaries=len(data) - len(ours),
    )


def alternatives(measured: Measured, study: Study, protocol: str, metric: str) -> Table:
    """Other ways to calibrate."""
    wanted = dict.fromkeys((NONE, study.calibration, *ALTERNATIVES))
    tables = {c: measured.means(protocol, c, metric) for c in wanted}
    rows = {}
    for calibration, table in tables.items():
        if not len(table):
            continue
        means = {}
        for detector in _in_order(table, study.detectors):
            # Over data sets that all calibrations of this detector have.
            shared = pd.concat(
                [other[detector] for other in tables.values() if detector in other],
                axis=1,
                join="inner",
            ).dropna()
            means[detector] = table[detector].reindex(shared.index).mean()
        rows[calibration.name] = means
    data = pd.DataFrame.from_dict(rows, orient="index").rename_axis("calibration")
    data["mean"] = data.mean(axis=1)
    return Table(
        f"alternatives_{protocol}_{metric}",
        f"{METRICS[metric]} with other calibrations, {protocol} protocol",
        "Means over data sets and seeds; a column's numbers are over the same data sets.",
        data,
        {column: digits(4) for column in data},
    )


def was_swept(measured: Measured, study: Study) -> bool:
    """Whether there are results with other settings."""
    others = (set(study.sweep(setting).values()) - {study.calibration} for setting in SWEEPS)
    return all(
        any(len(measured.of(study.protocols[0], calibration)) for calibration in calibrations)
        for calibrations in others
    )


def protocols_with_gaps(measured: Measured, study: Study) -> list[str]:
    """The protocols under which terms were compared."""
    return [name for name in study.protocols if name in set(measured.gaps["protocol"])]


def swept(
    measured: Measured, study: Study, protocol: str, metric: str, setting: str
) -> pd.DataFrame:
    """The mean over data sets, by value of the setting, detector and seed.

    Over the data sets that a detector has results for with all values and seeds.
    """
    parts = []
    for value, calibration in study.sweep(setting).items():
        cells = measured.of(protocol, calibration)
        parts.append(cells[["detector", "dataset", "seed", metric]].assign(value=value))
    cells = pd.concat(parts)
    counts = cells.groupby(["detector", "dataset"])[metric].transform("size")
    cells = cells[counts == counts.groupby(cells["detector"]).transform("max")]
    return cells.groupby(["value", "detector", "seed"], as_index=False)[metric].mean()


def sensitivity(measured: Measured, study: Study, protocol: str, metric: str) -> Table:
    """The settings K, M and weight, one changed at a time."""
    parts = []
    for setting in SWEEPS:
        means = swept(measured, study, protocol, metric, setting)
        wide = means.pivot_table(index="value", columns="detector", values=metric)
        wide = wide[_in_order(wide, study.detectors)]
        wide.index = [f"{SYMBOLS[setting]} = {value:g}" for value in wide.index]
        parts.append(wide)
    data = pd.concat(parts).rename_axis("setting")
    return Table(
        f"sensitivity_{protocol}_{metric}",
        f"{METRICS[metric]} with other settings, {protocol} protocol",
        f"Means over data sets and seeds; one setting changed in: {study.calibration.name}.",
        data,
        {column: digits(4) for column in data},
    )


def gaps(measured: Measured, protocol: str) -> Table:
    """Terms of normal and of anomalous rows, for each target and signal."""
    found = measured.gaps[measured.gaps.protocol == protocol]
    means = found.groupby(["calibration", "dataset"])[["normal", "anomalous"]].mean()
    data = pd.DataFrame(index=sorted(found["dataset"].unique()))
    for calibration in VARIANTS:
        if calibration.name not in means.index:
            continue
        of = means.loc[calibration.name]
        # The paper divides the row's own cost by K.
        divisor = calibration.n_centroids if calibration.signal == "own" else 1
        name = f"{calibration.target} {calibration.signal}"
        data[f"{name}: normal"] = of["normal"] / divisor
        data[f"{name}: anomalous"] = of["anomalous"] / divisor
        data[f"{name}: %"] = 100 * (of["anomalous"] / of["normal"] - 1)
    if protocol == "published":
        paper = printed.gaps().reindex(data.index)
        data["paper: normal"] = paper["normal_mean"]
        data["paper: anomalous"] = paper["anomaly_mean"]
        data["paper: %"] = paper["increase_pct"]
    increases = [column for column in data if column.endswith("%")]
    data.loc["sets with a larger mean of anomalies"] = (data[increases] > 0).sum()
    data.loc["median increase"] = data[increases].iloc[:-1].median()
    return Table(
        f"gaps_{protocol}",
        f"The transport term of normal and of anomalous rows, {protocol} protocol",
        "Means over test rows and seeds. Own costs are divided by K, as in the paper's table.",
        data.rename_axis("data set"),
        {column: digits(1 if column.endswith("%") else 4) for column in data},
        n_summaries=2,
    )


def runtimes(measured: Measured) -> Table:
    """Milliseconds per row."""
    ours = measured.runtimes.set_index(["dataset", "detector"])
    paper = printed.runtimes().set_index("model", append=True)
    paper.index.names = ours.index.names
    data = ours.join(paper)
    data["POT / ours"] = data["pot_ms"] / data["transport_ms"]
    data.columns = [
        *("detector", "transport, ours", "transport, POT's loop"),
        *("paper: detector", "paper: transport", "POT / ours"),
    ]
    data.index = pd.Index([" ".join(pair) for pair in data.index], name="")
    return Table(
        "runtimes",
        "Milliseconds per row",
        "Scoring the test rows, the best of three, one thread; K = 5, M = 20. The paper's machine "
        "was another: compare ratios, not times.",
        data,
        {column: digits(0 if "/" in column else 5) for column in data},
    )


def failures(measured: Measured) -> Table:
    """Results that could not be had."""
    failed = measured.failed.groupby(["dataset", "detector", "protocol", "error"]).size()
    data = failed.rename("cells").reset_index().set_index("dataset").rename_axis("data set")
    return Table("failures", "What failed", "Left out of all tables, on both sides.", data)
