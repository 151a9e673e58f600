"""The tables and the picture of docs/fidelity.md, from the results of both benchmarks."""

from collections.abc import Iterator
from functools import cache

import matplotlib.pyplot as plt
import pandas as pd
from fidelity import FIXED, PUBLISHED, RESULTS, SEEDS, SLOWER_MCM, SMALLER, VARIANTS, named
from pages import DOCS, replace_made, row
from scipy.stats import wilcoxon

from ctad.datasets import KNOWN_DATASETS
from ctad.detectors import known_detector
from ctad.evaluation import NONE, Results
from ctad.evaluation._scores import published_settings
from ctad.paper._printed import comparison
from ctad.paper._tables import ROUNDING, SAME

PAGE = "fidelity.md"
PICTURE = DOCS / "fidelity.png"
METRICS = {"auc_pr": "AUC-PR", "auc_roc": "AUC-ROC"}
DETECTORS = (
    *("OCSVM", "KNN", "PCA", "IForest", "ECOD", "DeepSVDD", "AutoEncoder"),
    *("DTE", "DRL", "GOAD", "NeuTraLAD", "MCM", "ICL"),
)


@cache
def runs() -> pd.DataFrame:
    """All of them: dataset, detector (as the results call it), seed, metrics, error."""
    rows = [
        {**cell._asdict(), **outcome._asdict()}
        for folder in (PUBLISHED, RESULTS)
        for cell, outcome in Results(folder).cells.rows().items()
        if (cell.protocol, cell.calibration) == ("published", NONE.name)
    ]
    return pd.DataFrame(rows)


def ranges(name: str, metric: str) -> pd.DataFrame:
    """What the seeds gave on each data set."""
    own = runs()[runs().detector == name]
    found = own.groupby("dataset")[metric].agg(["mean", "min", "max", "count", "size"])
    wanted = seeds_wanted(name) if is_random(name) else 1
    return found.assign(complete=found["size"] >= wanted).dropna(subset="mean")


def seeds_wanted(name: str) -> int:
    """How many runs make a range."""
    detector, *changed = name.split(maxsplit=1)
    return FIXED[detector] if changed == ["fixed"] else len(SEEDS)


def is_random(name: str) -> bool:
    """Whether seeds make a difference."""
    return "random_state" in known_detector(name.split()[0]).parameters


def settings_of(detector: str) -> dict[str, str]:
    """The settings between which there is a difference, and what the results call them."""
    if detector in FIXED:
        return {"published": detector, "fixed": named(detector)}
    return {"both": detector}


def sides(found: pd.DataFrame, told: pd.Series) -> pd.Series:
    """Where a printed number is, seen from our range; a range needs all seeds."""
    side = pd.Series("inside", index=found.index)
    side[told < found["min"] - SAME - ROUNDING] = "below"
    side[told > found["max"] + SAME + ROUNDING] = "above"
    return side.where(found["complete"], "")


def summary() -> Iterator[str]:
    """One row per detector and setting: means over the data sets that were measured."""
    heads = ["detector", "setting", "seeds", "AUC-PR: paper", "ours", "best seeds"]
    heads += [f"{SMALLER} small: paper", "ours", "printed below, inside, above"]
    heads += ["AUC-ROC: paper", "ours"]
    yield row(*heads)
    yield row(*["---"] * len(heads))
    by_size = sorted(set(runs().dataset), key=lambda name: KNOWN_DATASETS[name].samples)
    for detector in DETECTORS:
        for setting, name in settings_of(detector).items():
            found = {metric: ranges(name, metric) for metric in METRICS}
            if not len(found["auc_pr"]):
                continue
            told = {metric: comparison(metric)[detector] for metric in METRICS}
            datasets = found["auc_pr"].index

            def means(metric: str, chosen: list[str], found=found, told=told) -> list[str]:
                return [
                    f"{told[metric][chosen].mean():.3f}",
                    f"{found[metric].loc[chosen, 'mean'].mean():.3f}",
                ]

            seeds = found["auc_pr"]["size"] if is_random(name) else pd.Series([1])
            counted = sides(found["auc_pr"], told["auc_pr"][datasets]).value_counts()
            yield row(
                *(detector, setting if len(datasets) == len(by_size) else f"{setting}, unfinished"),
                "-".join(map(str, sorted({seeds.min(), seeds.max()}))),
                *means("auc_pr", list(datasets)),
                f"{found['auc_pr']['max'].mean():.3f}" if found["auc_pr"].complete.all() else "",
                *means("auc_pr", [d for d in by_size[:SMALLER] if d in datasets]),
                ", ".join(str(counted.get(side, 0)) for side in ("below", "inside", "above"))
                if found["auc_pr"].complete.all()
                else "",
                *means("auc_roc", list(datasets)),
            )


def variants() -> Iterator[str]:
    """What changing one option does, over the data sets and seeds that both have."""
    heads = ("detector", "changed", "data sets", "seeds", "AUC-PR before", "after")
    heads += ("better / worse on", "p")
    yield row(*heads)
    yield row(*["---"] * len(heads))
    for detector, changes in VARIANTS.items():
        base = settings_of(detector).get("fixed", detector)
        for change in changes:
            option = ", ".join(f"`{key}={value!r}`" for key, value in change.items())
            yield from compared(detector, option, quality(base), quality(named(detector, change)))
        if detector == "DRL":
            settings = [quality(base), *(quality(named(detector, change)) for change in changes)]
            option = "on each data set the best of these **by test labels**"
            for whose, chosen in best_by_labels(settings).items():
                yield from compared(
                    detector, f"{option} {whose}", quality(base), chosen, tested=False
                )
    slower = {scaling: quality(named("MCM", change)) for scaling, change in SLOWER_MCM.items()}
    as_published = pd.concat(
        found[found.index.get_level_values("dataset").map(published_scaling) == scaling]
        for scaling, found in slower.items()
    )
    option = "published, but `learning_rate=0.005` and shuffled"
    yield from compared("MCM", option, quality("MCM"), as_published)


def best_by_labels(settings: list[pd.Series]) -> dict[str, pd.Series]:
    """Runs of the setting that does best on their data set, over all seeds or the others."""
    runs_of = pd.concat(settings, axis=1, keys=range(len(settings))).dropna()
    total = runs_of.groupby("dataset").transform("sum")
    return {
        whose: pd.Series(
            runs_of.to_numpy()[range(len(runs_of)), judged.to_numpy().argmax(axis=1)],
            runs_of.index,
        )
        for whose, judged in (("of the same seeds", total), ("of the other seeds", total - runs_of))
    }


def quality(name: str) -> pd.Series:
    """AUC-PR by data set and seed."""
    return runs()[runs().detector == name].set_index(["dataset", "seed"])["auc_pr"]


def published_scaling(dataset: str) -> str:
    """How MCM's columns were scaled there."""
    return published_settings("MCM", dataset).get("scaling", "standard")


def compared(
    detector: str, option: str, before: pd.Series, after: pd.Series, *, tested: bool = True
) -> Iterator[str]:
    """A row, if there are runs of both. What was chosen for being better needs no test."""
    both = pd.DataFrame({"before": before, "after": after}).dropna()
    if len(both):
        counts = [both.index.get_level_values(i).nunique() for i in range(2)]
        gain = (both["after"] - both["before"]).groupby("dataset").mean()
        yield row(
            *(detector, option, *counts, *(f"{m:.4f}" for m in both.mean())),
            f"{(gain > 0).sum()} / {(gain < 0).sum()}",
            f"{wilcoxon(gain).pvalue:.2g}" if tested and gain.any() else "",
        )


def details(detector: str) -> Iterator[str]:
    """Every data set of one detector."""
    yield f"### {detector}"
    yield ""
    settings = settings_of(detector)
    heads = [f"{m}: {h}" for m in METRICS.values() for h in ("paper", *settings, "paper is")]
    yield row("data set", *heads)
    yield row(*["---"] * (1 + len(heads)))
    found = {m: [ranges(name, m) for name in settings.values()] for m in METRICS}
    for dataset in found["auc_pr"][0].index:
        cells = [dataset]
        for metric, tables in found.items():
            told = comparison(metric)[detector]
            side = sides(tables[0], told[tables[0].index])
            cells += [
                f"{told[dataset]:.4f}",
                *(in_words(t, dataset) for t in tables),
                side[dataset],
            ]
        yield row(*cells)
    yield ""


def in_words(found: pd.DataFrame, dataset: str) -> str:
    """The mean and the range of the seeds."""
    if dataset not in found.index:
        return "not yet"
    ours = found.loc[dataset]
    n_failed = int(ours["size"] - ours["count"])
    failed = f", {n_failed} failed" if n_failed else ""
    if ours["min"] == ours["max"]:
        return f"{ours['mean']:.4f}{failed}"
    return f"{ours['mean']:.3f} ({ours['min']:.3f} to {ours['max']:.3f}){failed}"


def picture() -> None:
    """Our range over the seeds and the printed number, per detector and data set."""
    datasets = sorted(set(runs().dataset))
    shown = [detector for detector in DETECTORS if len(ranges(detector, "auc_pr"))]
    columns = 4
    lines = -(-len(shown) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(15, 6 * lines), sharey=True, layout="constrained", squeeze=False
    )
    for axis in axes.flat[len(shown) :]:
        axis.remove()
    for axis, detector in zip(axes.flat, shown, strict=False):
        found = ranges(detector, "auc_pr").reindex(datasets)
        places = range(len(datasets))
        axis.hlines(places, found["min"], found["max"], color="tab:blue", linewidth=4)
        axis.plot(found["mean"], places, "o", color="tab:blue", markersize=5)
        axis.plot(comparison("auc_pr").loc[datasets, detector], places, "kx", markersize=6)
        axis.set_title(detector)
        axis.set_xlim(0, 1.02)
        axis.set_yticks(places, datasets, fontsize=8)
        axis.grid(axis="x", alpha=0.3)
    axes[0, 0].invert_yaxis()
    figure.suptitle("AUC-PR, published settings: our seeds (blue), printed in the paper (x)")
    figure.savefig(PICTURE, dpi=80)


def main() -> None:
    """Write both."""
    lines = [*summary(), ""]
    changed = list(variants())
    if len(changed) > 2:  # than the header
        lines += ["Options changed, over the data sets and seeds that both sides have; p by"]
        lines += ["Wilcoxon's test of the data sets' means, two-sided:", ""]
        lines += [*changed, ""]
    lines += [f"![Our ranges and the printed numbers]({PICTURE.name})", ""]
    for detector in DETECTORS:
        if len(ranges(detector, "auc_pr")):
            lines += details(detector)
    replace_made(PAGE, "make fidelity", lines)
    picture()


if __name__ == "__main__":
    main()
