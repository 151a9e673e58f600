"""The paper's tables, made of our results, with its numbers beside them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import stats

from ..evaluation import NONE
from . import _printed as printed
from ._measured import BLIND, Measured
from ._printed import WITH_CTAD
from ._study import ALTERNATIVES, SWEEPS, VARIANTS, Study, in_order
from ._table import Format, Table, digits, p_value

METRICS = {"auc_pr": "AUC-PR", "auc_roc": "AUC-ROC", "precision_at_n": "Precision at n"}
SYMBOLS = {"n_centroids": "K", "n_references": "M", "weight": "weight"}
RESAMPLES = 10_000
# The paper prints four digits, and rounds on the way: this far apart, numbers are the same.
SAME = 0.0006
ROUNDING = 1e-9  # differences of numbers with a few digits are not exact
FEWEST_TO_TEST = 3  # data sets
# Those that the paper shows with calibration among all methods.
SHOWN_CALIBRATED = ("KNN", "MCM", "DRL")


def all_tables(measured: Measured, study: Study, metrics: tuple[str, ...]) -> Iterator[Table]:
    """Every table there are results for."""
    return (table for table in _tables(measured, study, metrics) if len(table.data))


def _tables(measured: Measured, study: Study, metrics: tuple[str, ...]) -> Iterator[Table]:
    first = study.protocols[0]
    for protocol in study.protocols:
        yield from (summary(measured, study, protocol, metric) for metric in metrics)
        yield from (by_dataset(measured, study, protocol, metric) for metric in metrics)
    if first == "published" and measured.of_the_paper:
        yield agreement(measured, study)
    for metric in metrics:
        yield comparison(measured, study, first, metric)
    for protocol in study.protocols:
        yield from (alternatives(measured, study, protocol, metric) for metric in metrics)
    if was_swept(measured, study):
        yield from (sensitivity(measured, study, first, metric) for metric in metrics)
    for protocol in protocols_with_gaps(measured, study):
        yield gaps(measured, protocol)
    if len(measured.runtimes):
        yield runtimes(measured)
    if len(measured.failed):
        yield failures(measured)


def summary(measured: Measured, study: Study, protocol: str, metric: str) -> Table:
    """How much calibration adds to each detector, over the data sets (the paper's table 1)."""
    rows = {}
    cells = measured.of(protocol, study.calibration)
    needed = {metric, f"base_{metric}", *BLIND}
    means = cells.groupby(["detector", "dataset"])[sorted(needed)].mean()
    paper = _printed_improvement(measured, protocol, metric)
    for detector in in_order(set(cells.detector), study.detectors):
        own = means.loc[detector]
        before, after = own[f"base_{metric}"], own[metric]
        rows[detector] = _improvement(before, after)
        blind = measured.is_blind(own)
        rows[detector] |= {
            "blind on": int(blind.sum()),
            "gain elsewhere": (after - before)[~blind].mean(),
        }
        if detector in paper and own.index.isin(paper.index).all():
            told = paper.loc[own.index]
            printed_gain = _improvement(told[detector], told[detector + WITH_CTAD])
            names = ("baseline", "gain", "gain %", "wins", "t-test p")
            rows[detector] |= {f"paper: {name}": printed_gain[name] for name in names}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("detector")
    beside = (column for name in table for column in (name, f"paper: {name}") if column in table)
    return Table(
        f"summary_{protocol}_{metric}",
        f"{METRICS[metric]}: what calibration adds, {protocol} protocol",
        f"Calibration: {study.calibration.name}. Means over data sets of means over seeds; wins "
        "are data sets with a gain; p-values are one-tailed, of paired tests over data sets; the "
        "interval is a bootstrap's over data sets, 95 %. A detector is blind on a data set if it "
        "gives all rows the same score."
        + (
            " The paper's columns are computed from its own numbers for the same data sets."
            if len(paper)
            else ""
        )
        + (
            f" Tests and intervals need {FEWEST_TO_TEST} data sets."
            if (table["data sets"] < FEWEST_TO_TEST).any()
            else ""
        )
        + _missing_seeds(cells, study),
        table[list(dict.fromkeys(beside))],
        _formats_of_improvement(),
    )


def _improvement(before: pd.Series, after: pd.Series) -> dict[str, float]:
    gain = (after - before).to_numpy()
    low = high = t_test = wilcoxon = np.nan
    if len(gain) >= FEWEST_TO_TEST and np.ptp(gain) > 0:  # else there is nothing to test
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
        "gain %": 100 * (gain / before.where(before > 0)).mean(),  # of nothing, no percentage
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
        "gain elsewhere": digits(4, signed=True),
    }
    return formats | {f"paper: {name}": formats[name] for name in formats}


def _printed_improvement(measured: Measured, protocol: str, metric: str) -> pd.DataFrame:
    """The paper's numbers for our data sets, where they can be compared with ours."""
    if protocol != "published" or metric not in printed.METRICS:
        return pd.DataFrame()
    table = printed.improvement(metric)
    return table[table.index.isin(measured.of_the_paper)]


def _missing_seeds(cells: pd.DataFrame, study: Study) -> str:
    """A sentence about detectors that were not run with all seeds on all data sets."""
    counts = cells.groupby(["detector", "dataset"]).seed.nunique().groupby("detector")
    some = [
        f"{name} ({low} to {high})"
        for name, low, high in zip(counts.min().index, counts.min(), counts.max(), strict=True)
        if low < len(study.seeds)
    ]
    return f" Not all {len(study.seeds)} seeds yet: {', '.join(some)}." if some else ""


def by_dataset(measured: Measured, study: Study, protocol: str, metric: str) -> Table:
    """Each detector on each data set, without and with calibration."""
    after = measured.means(protocol, study.calibration, metric)
    before = measured.means(protocol, study.calibration, f"base_{metric}")
    paper = _printed_improvement(measured, protocol, metric)
    data: dict[str, pd.Series] = {}
    shown: dict[str, pd.Series] = {}
    for detector in in_order(set(after), study.detectors):
        calibrated = detector + WITH_CTAD
        columns = {detector: before[detector], calibrated: after[detector]}
        lines = _arrow(columns[detector], columns[calibrated])
        if len(paper) and detector in paper:
            told = paper.reindex(after.index)
            columns |= {f"paper: {name}": told[name] for name in (detector, calibrated)}
            from_paper = _arrow(told[detector], told[calibrated])
            lines = lines + from_paper.map(lambda pair: f"\n({pair})" if pair else "")
        data |= columns
        shown[detector] = lines
    return Table(
        f"datasets_{protocol}_{metric}",
        f"{METRICS[metric]} on each data set, {protocol} protocol",
        "Detector alone → calibrated, means over the seeds"
        + ("; in brackets what the paper prints." if len(paper) else "."),
        pd.DataFrame(data).rename_axis("data set"),
        shown=pd.DataFrame(shown),
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
    for metric in printed.METRICS:
        paper = _printed_improvement(measured, "published", metric)
        for detector in in_order(set(paper), study.detectors):
            own = cells[(cells.detector == detector) & cells.dataset.isin(paper.index)]
            if not len(own):
                continue
            plain, calibrated = (
                own.dataset.map(paper[name]) for name in (detector, detector + WITH_CTAD)
            )
            before, after = own[f"base_{metric}"], own[metric]
            rows[f"{detector}, {METRICS[metric]}"] = {
                "data sets": own.dataset.nunique(),
                "plain: equal": _equal(before, plain, own.dataset),
                "inside": _inside(before, plain, own.dataset),
                "calibrated: equal": _equal(after, calibrated, own.dataset),
                "inside ": _inside(after, calibrated, own.dataset),
                "plain = printed as calibrated": _equal(before, calibrated, own.dataset),
            }
    return Table(
        "agreement",
        "On how many data sets our numbers are the paper's",
        f"Equal: the number of one of our {len(study.seeds)} seeds is the printed one, give or "
        f"take {SAME}. Inside: the printed one is between our smallest and our largest; where "
        "seeds make a difference, a wide range holds much, so this says little. The last column "
        "asks whether what is printed as calibrated is the plain detector.",
        pd.DataFrame.from_dict(rows, orient="index").rename_axis("detector"),
    )


def _equal(ours: pd.Series, told: pd.Series, dataset: pd.Series) -> int:
    return int(((ours - told).abs() <= SAME + ROUNDING).groupby(dataset).any().sum())


def _inside(ours: pd.Series, told: pd.Series, dataset: pd.Series) -> int:
    above = (ours + SAME + ROUNDING >= told).groupby(dataset).any()
    below = (ours - SAME - ROUNDING <= told).groupby(dataset).any()
    return int((above & below).sum())


def comparison(measured: Measured, study: Study, protocol: str, metric: str) -> Table:
    """All methods on each data set, their averages and mean ranks."""
    plain = measured.means(protocol, NONE, metric)
    after = measured.means(protocol, study.calibration, metric)
    names = in_order(set(plain), (*study.detectors, *study.compared))
    data = plain[list(names)]
    shown = SHOWN_CALIBRATED if measured.of_the_paper else study.detectors
    for name in in_order(set(after).intersection(shown), study.detectors):
        data = data.assign(**{name + WITH_CTAD: after[name]})
    complete = data.dropna()
    totals = _averages(complete)
    if protocol == "published" and metric in printed.METRICS:
        paper = printed.comparison(metric)
        paper = paper[paper.index.isin(measured.of_the_paper)].reindex(columns=data.columns)
        if len(complete) and complete.index.isin(paper.index).all():
            told = _averages(paper.loc[complete.index])
            totals = pd.concat([totals, told.rename(index=lambda name: f"paper: {name}")])
    return Table(
        f"comparison_{protocol}_{metric}",
        f"{METRICS[metric]} of all methods, {protocol} protocol",
        f"Means over the seeds. Averages and ranks are over the {len(complete)} data sets that all "
        "methods have results for." + _missing_seeds(measured.of(protocol, NONE), study),
        data.rename_axis("data set"),
        {column: digits(4) for column in data},
        totals=totals,
    )


def _averages(table: pd.DataFrame) -> pd.DataFrame:
    ranks = table.rank(axis=1, ascending=False)
    return pd.DataFrame({"average": table.mean(), "mean rank": ranks.mean()}).T


def alternatives(measured: Measured, study: Study, protocol: str, metric: str) -> Table:
    """Other ways to calibrate."""
    wanted = dict.fromkeys((NONE, study.calibration, *ALTERNATIVES))
    tables = {c: measured.means(protocol, c, metric) for c in wanted}
    tables = {calibration: table for calibration, table in tables.items() if len(table)}
    data = pd.DataFrame(index=pd.Index([c.name for c in tables], name="calibration"))
    for detector in study.detectors:
        # Over the data sets that it has with all calibrations.
        by_calibration = pd.DataFrame(
            {c.name: table[detector] for c, table in tables.items() if detector in table}
        )
        data[detector] = by_calibration.dropna().mean()
    data["mean"] = data.mean(axis=1)
    return Table(
        f"alternatives_{protocol}_{metric}",
        f"{METRICS[metric]} with other calibrations, {protocol} protocol",
        "Means over data sets and seeds; a column's numbers are over the same data sets."
        + _missing_seeds(measured.of(protocol, study.calibration), study),
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
    """The mean over data sets, by value of the setting, detector and seed."""
    cells = _swept_cells(measured, study, protocol, setting)
    return cells.groupby(["value", "detector", "seed"], as_index=False)[metric].mean()


def _swept_cells(measured: Measured, study: Study, protocol: str, setting: str) -> pd.DataFrame:
    """Of the data sets that a detector has results for with all values and seeds."""
    parts = []
    for value, calibration in study.sweep(setting).items():
        cells = measured.of(protocol, calibration)
        parts.append(cells.assign(value=value))
    cells = pd.concat(parts)
    counts = cells.groupby(["detector", "dataset"]).seed.transform("size")
    return cells[counts == counts.groupby(cells["detector"]).transform("max")]


def sensitivity(measured: Measured, study: Study, protocol: str, metric: str) -> Table:
    """The settings K, M and weight, one changed at a time."""
    parts = []
    counts: dict[str, int] = {}
    for setting in SWEEPS:
        cells = _swept_cells(measured, study, protocol, setting)
        counts |= cells.groupby("detector").dataset.nunique()
        means = swept(measured, study, protocol, metric, setting)
        wide = means.pivot_table(index="value", columns="detector", values=metric)
        wide = wide[list(in_order(set(wide), study.detectors))]
        wide.index = [f"{SYMBOLS[setting]} = {value:g}" for value in wide.index]
        parts.append(wide)
    data = pd.concat(parts).rename_axis("setting")
    return Table(
        f"sensitivity_{protocol}_{metric}",
        f"{METRICS[metric]} with other settings, {protocol} protocol",
        f"Means over seeds and the data sets that all values have results for "
        f"({', '.join(f'{name} {n}' for name, n in counts.items())}); one setting changed in: "
        f"{study.calibration.name}. Of fewer training rows than K or M all are taken.",
        data,
        {column: digits(4) for column in data},
    )


def gaps(measured: Measured, protocol: str) -> Table:
    """Terms of normal and of anomalous rows, for each target and signal."""
    found = measured.gaps[measured.gaps.protocol == protocol]
    means = found.groupby(["calibration", "dataset"])[["normal", "anomalous"]].mean()
    names = sorted(found["dataset"].unique())
    parts = {}
    for calibration in VARIANTS:
        if calibration.name in means.index:
            # The paper divides the row's own cost by K.
            divisor = calibration.n_centroids if calibration.signal == "own" else 1
            of = means.loc[calibration.name].reindex(names) / divisor
            parts[f"{calibration.target} {calibration.signal}"] = of
    paper = printed.gaps().reindex([name for name in names if name in measured.of_the_paper])
    if protocol == "published" and len(paper):
        parts["paper"] = paper[["normal", "anomalous"]].reindex(names)
    data, shown = pd.DataFrame(index=names), pd.DataFrame(index=[*names, LARGER, MEDIAN])
    totals = pd.DataFrame(index=[LARGER, MEDIAN])
    for name, of in parts.items():
        increase = 100 * (of["anomalous"] / of["normal"] - 1)
        data[f"{name}: normal"], data[f"{name}: anomalous"] = of["normal"], of["anomalous"]
        data[f"{name}: %"] = increase
        totals[f"{name}: %"] = [(increase > 0).sum(), increase.median()]
        lines = [
            "" if np.isnan(percent) else f"{normal:.4f} → {anomalous:.4f}\n{percent:+.1f} %"
            for normal, anomalous, percent in zip(
                of["normal"], of["anomalous"], increase, strict=True
            )
        ]
        shown[name] = [*lines, str((increase > 0).sum()), f"{increase.median():+.1f} %"]
    return Table(
        f"gaps_{protocol}",
        f"The transport term of normal and of anomalous rows, {protocol} protocol",
        "Means over test rows and seeds: normal → anomalous. Own costs are divided by K, as in the "
        "paper's table.",
        data.rename_axis("data set"),
        shown=shown,
        totals=totals,
    )


LARGER, MEDIAN = "larger for anomalies on", "median increase"


def runtimes(measured: Measured) -> Table:
    """Milliseconds per row."""
    ours = measured.runtimes.drop(columns="error").set_index(["dataset", "detector"])
    paper = printed.runtimes().set_index("model", append=True)
    paper.index.names = ours.index.names
    data = ours.join(paper)
    data.insert(3, "ratio", data["pot_ms"] / data["transport_ms"])
    data.columns = [
        *("detector", "transport, ours", "transport, POT's loop", "POT / ours"),
        *("paper: detector", "paper: transport"),
    ]
    data.index = pd.Index([" ".join(pair) for pair in data.index], name="data set and detector")
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
    failed = measured.failed.fillna({"detector": "", "protocol": ""})
    counts = failed.groupby(["dataset", "detector", "protocol", "error"]).size()
    data = counts.rename("results").reset_index().set_index("dataset").rename_axis("data set")
    return Table(
        "failures",
        "What failed",
        "Left out of all tables, on both sides. `--retry-failed` tries again.",
        data,
    )
