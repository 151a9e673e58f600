"""The paper's tables, made from our results, with its numbers beside them."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from ctad.datasets import KNOWN_DATASETS
from ctad.evaluation import NO_CALIBRATION, Results
from ctad.evaluation.report import Measurements, Reference, Table

from . import printed_numbers as printed
from .calibrations import ALTERNATIVES, AS_PUBLISHED, SWEEPS, VARIANTS
from .gaps import gap_store
from .printed_numbers import METRICS, ROUNDING, SAME, WITH_CTAD
from .protocol import FIRST_HALF
from .runtimes import runtime_store
from .study import Study

SYMBOLS = {"n_centroids": "K", "n_references": "M", "weight": "weight"}
# The detectors that the paper shows with calibration among all methods.
SHOWN_CALIBRATED = ("KNN", "MCM", "DRL")
LARGER, MEDIAN = "larger for anomalies on", "median increase"


def registered_datasets(results: Results) -> list[str]:
    """The measured data sets that are the paper's, not others of the same name."""
    names = []
    for facts in results.datasets.frame().itertuples():
        known = KNOWN_DATASETS.get(facts.name.lower())
        if known is None:
            continue
        shape = (facts.rows, facts.columns, facts.anomalies)
        if shape != (known.samples, known.dims, known.anomalies):
            continue
        if known.values_sha256 in (None, facts.sha256):
            names.append(facts.name)
    return names


def reference(metric: str, datasets: Iterable[str]) -> Reference:
    """The paper's numbers for these data sets."""
    improvement, plain = printed.improvement(metric), printed.comparison(metric)
    plain = plain[[name for name in plain if not name.endswith(WITH_CTAD)]]
    calibrated = improvement[[name for name in improvement if name.endswith(WITH_CTAD)]]
    calibrated = calibrated.rename(columns=lambda name: name.removesuffix(WITH_CTAD))
    kept = plain.index.isin(list(datasets))
    return Reference("paper", plain[kept], calibrated.reindex(plain.index)[kept])


def agreement_table(measured: Measurements, datasets: Iterable[str]) -> Table:
    """On how many data sets our numbers are the printed ones."""
    rows = {}
    cells = measured.of(FIRST_HALF.name, AS_PUBLISHED.name)
    for metric, title in METRICS.items():
        paper = reference(metric, datasets)
        for detector in measured.detectors:
            own = cells[(cells["detector"] == detector) & cells["dataset"].isin(paper.plain.index)]
            if detector not in paper.calibrated or not len(own):
                continue
            plain, calibrated = (
                own["dataset"].map(table[detector]) for table in (paper.plain, paper.calibrated)
            )
            before, after = own[f"base_{metric}"], own[metric]
            rows[f"{detector}, {title}"] = {
                "data sets": own["dataset"].nunique(),
                "plain: equal": _equal(before, plain, own["dataset"]),
                "inside": _inside(before, plain, own["dataset"]),
                "calibrated: equal": _equal(after, calibrated, own["dataset"]),
                "inside ": _inside(after, calibrated, own["dataset"]),
                "plain = printed as calibrated": _equal(before, calibrated, own["dataset"]),
            }
    return Table(
        "agreement",
        "On how many data sets our numbers are the paper's",
        f"Equal: the number of one of our {len(measured.seeds)} seeds is the printed one, give or "
        f"take {SAME}. Inside: the printed number is between our smallest and our largest. That "
        "says little where seeds make a large difference. The last column counts data sets where "
        "the number printed as calibrated is that of the plain detector.",
        pd.DataFrame.from_dict(rows, orient="index").rename_axis("detector"),
    )


def _equal(ours: pd.Series, theirs: pd.Series, dataset: pd.Series) -> int:
    return int(((ours - theirs).abs() <= SAME + ROUNDING).groupby(dataset).any().sum())


def _inside(ours: pd.Series, theirs: pd.Series, dataset: pd.Series) -> int:
    above = (ours + SAME + ROUNDING >= theirs).groupby(dataset).any()
    below = (ours - SAME - ROUNDING <= theirs).groupby(dataset).any()
    return int((above & below).sum())


def alternatives_table(measured: Measurements, protocol: str, metric: str) -> Table:
    """Other ways to calibrate."""
    names = [calibration.name for calibration in (NO_CALIBRATION, *ALTERNATIVES)]
    tables = {name: measured.means(protocol, name, metric) for name in names}
    tables = {name: table for name, table in tables.items() if len(table)}
    data = pd.DataFrame(index=pd.Index([*tables], name="calibration"))
    for detector in tables.get(AS_PUBLISHED.name, pd.DataFrame()):
        # Over the data sets with results of all calibrations.
        by_calibration = pd.DataFrame(
            {name: table[detector] for name, table in tables.items() if detector in table}
        )
        data[detector] = by_calibration.dropna().mean()
    data["mean"] = data.mean(axis=1)
    return Table(
        f"alternatives {protocol} {metric}",
        f"{METRICS[metric]} with other calibrations ({protocol})",
        "Means over data sets and seeds. The numbers of a column are over the same data sets.",
        data,
        dict.fromkeys(data, ".4f"),
    )


def swept_cells(measured: Measurements, protocol: str, setting: str) -> pd.DataFrame:
    """The cells with other values of a setting, on data sets with all values and seeds."""
    cells = pd.concat(
        measured.of(protocol, calibration.name).assign(value=value)
        for value, calibration in SWEEPS[setting].items()
    )
    counts = cells.groupby(["detector", "dataset"])["seed"].transform("size")
    return cells[counts == counts.groupby(cells["detector"]).transform("max")]


def sensitivity_table(measured: Measurements, protocol: str, metric: str) -> Table:
    """The settings K, M and weight, one changed at a time."""
    parts = []
    counts: dict[str, int] = {}
    for setting, symbol in SYMBOLS.items():
        cells = swept_cells(measured, protocol, setting)
        counts |= cells.groupby("detector")["dataset"].nunique()
        seeds = cells.groupby(["value", "detector", "seed"], as_index=False)[metric].mean()
        wide = seeds.pivot_table(index="value", columns="detector", values=metric)
        wide = wide[[name for name in measured.detectors if name in wide]]
        wide.index = [f"{symbol} = {value:g}" for value in wide.index]
        parts.append(wide)
    data = pd.concat(parts).rename_axis("setting")
    return Table(
        f"sensitivity {protocol} {metric}",
        f"{METRICS[metric]} with other settings ({protocol})",
        "Means over seeds and the data sets with results of all values "
        f"({', '.join(f'{name} {n}' for name, n in counts.items())}). One setting is changed in: "
        f"{AS_PUBLISHED.name}. If there are fewer training rows than K or M, all are used.",
        data,
        dict.fromkeys(data, ".4f"),
    )


def gap_table(folder: Path, protocol: str, study: Study, printed_for: Iterable[str]) -> Table:
    """Terms of normal and of anomalous rows, for each target and signal."""
    gaps = gap_store(folder).frame()
    gaps = gaps[gaps["dataset"].isin(study.datasets) & gaps["seed"].isin(study.seeds)]
    gaps = gaps[gaps["protocol"] == protocol]
    means = gaps.groupby(["calibration", "dataset"])[["normal", "anomalous"]].mean()
    names = sorted(gaps["dataset"].unique())
    parts = {}
    for (target, signal), calibration in VARIANTS.items():
        if calibration.name in means.index:
            # The paper divides the row's own cost by K.
            divisor = calibration.calibrator.n_centroids if signal == "own" else 1
            parts[f"{target} {signal}"] = means.loc[calibration.name].reindex(names) / divisor
    paper = printed.gaps().reindex([name for name in names if name in set(printed_for)])
    if protocol == FIRST_HALF.name and len(paper):
        parts["paper"] = paper[["normal", "anomalous"]].reindex(names)
    data, shown = pd.DataFrame(index=names), pd.DataFrame(index=[*names, LARGER, MEDIAN])
    totals = pd.DataFrame(index=[LARGER, MEDIAN])
    for name, of in parts.items():
        increase = 100 * (of["anomalous"] / of["normal"] - 1)
        data[f"{name}: normal"], data[f"{name}: anomalous"] = of["normal"], of["anomalous"]
        data[f"{name}: %"] = increase
        totals[f"{name}: %"] = [(increase > 0).sum(), increase.median()]
        lines = [
            "" if pd.isna(percent) else f"{normal:.4f} → {anomalous:.4f}\n{percent:+.1f} %"
            for normal, anomalous, percent in zip(
                of["normal"], of["anomalous"], increase, strict=True
            )
        ]
        shown[name] = [*lines, str((increase > 0).sum()), f"{increase.median():+.1f} %"]
    return Table(
        f"gaps {protocol}",
        f"The transport term of normal and of anomalous rows ({protocol})",
        "Means over test rows and seeds: normal → anomalous. Own costs are divided by K, as in the "
        "paper's table.",
        data.rename_axis("data set"),
        shown=shown,
        totals=totals,
    )


def runtime_table(folder: Path) -> Table:
    """Milliseconds per row."""
    ours = runtime_store(folder).frame().set_index(["dataset", "detector"])
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
        "Scoring the test rows, the best of three, one thread; K = 5, M = 20. The paper used a "
        "different machine: compare ratios, not times.",
        data,
        {column: ".0f" if "/" in column else ".5f" for column in data},
    )
