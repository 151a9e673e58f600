"""The tables and the picture of docs/fidelity.md, from results/fidelity.csv."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from fidelity import (
    ALWAYS_THE_SAME,
    DETECTORS,
    SEEDS,
    SETTINGS,
    SMALLER,
    VARIANTS,
    Result,
    Run,
    as_performed,
    finished,
    published,
)
from pages import DOCS, replace_made

from ctad.datasets import KNOWN_DATASETS
from ctad.paper._printed import comparison

PAGE = "fidelity.md"
PICTURE = DOCS / "fidelity.png"
METRICS = {"auc_pr": "AUC-PR", "auc_roc": "AUC-ROC"}
HALF_A_DIGIT = 5e-5  # the paper prints four


class Ours(NamedTuple):
    """What the seeds gave on one data set."""

    mean: float
    low: float
    high: float
    seeds: int
    failed: int  # of them, without a finite loss: not in the other numbers
    complete: bool  # whether all seeds were run

    def side_of(self, printed: float) -> str:
        """Where the printed number is, seen from our range; a range needs all seeds."""
        if not self.complete:
            return ""
        if printed < self.low - HALF_A_DIGIT:
            return "below"
        return "above" if printed > self.high + HALF_A_DIGIT else "inside"

    def __str__(self) -> str:
        failed = f", {self.failed} failed" if self.failed else ""
        if self.low == self.high:
            return f"{self.mean:.4f}{failed}"
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f}){failed}"


@cache
def all_runs() -> dict[Run, Result]:
    """Those with the published settings and those with others."""
    return {**published(), **finished()}


def printed(metric: str) -> dict[tuple[str, str], float]:
    """The paper's numbers by detector and data set."""
    table = comparison(metric)
    return {(d, dataset): table.at[dataset, d] for d in DETECTORS for dataset in table.index}


def measured(metric: str) -> dict[tuple[str, str, str], Ours]:
    """Ours by detector, setting and data set."""
    results = all_runs()
    datasets = sorted({run.dataset for run in results})
    ours = {}
    for detector in DETECTORS:
        for setting in SETTINGS:
            for dataset in datasets:
                runs = {as_performed(Run(detector, setting, dataset, seed)) for seed in SEEDS}
                done = np.array([getattr(results[run], metric) for run in runs & results.keys()])
                values = done[np.isfinite(done)]
                if len(values):
                    ours[detector, setting, dataset] = Ours(
                        *(values.mean(), values.min(), values.max(), len(done)),
                        failed=len(done) - len(values),
                        complete=len(done) == len(runs),
                    )
    return ours


def smallest(n: int) -> set[str]:
    """The n data sets with the fewest rows, of those that were measured."""
    measured_sets = {run.dataset for run in all_runs()}
    return set(sorted(measured_sets, key=lambda name: KNOWN_DATASETS[name].samples)[:n])


def summary() -> Iterator[str]:
    """One row per detector and setting: means over the data sets that were measured."""
    heads = ["detector", "setting", "data sets", "seeds", "AUC-PR: paper", "ours"]
    heads += [f"{SMALLER} smallest: paper", "ours", "printed below / inside / above our range"]
    heads += ["AUC-ROC: paper", "ours"]
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    paper = {metric: printed(metric) for metric in METRICS}
    ours = {metric: measured(metric) for metric in METRICS}
    small = smallest(SMALLER)
    for detector in DETECTORS:
        for setting in settings_of(detector):
            datasets = [d for (a, b, d) in ours["auc_pr"] if (a, b) == (detector, setting)]
            if not datasets:
                continue
            of = {m: {d: ours[m][detector, setting, d] for d in datasets} for m in METRICS}

            def means(metric: str, chosen: Iterable[str], of=of, detector=detector) -> list[str]:
                return [
                    f"{np.mean([paper[metric][detector, d] for d in chosen]):.4f}",
                    f"{np.mean([of[metric][d].mean for d in chosen]):.4f}",
                ]

            sides = [of["auc_pr"][d].side_of(paper["auc_pr"][detector, d]) for d in datasets]
            seeds = [of["auc_pr"][d].seeds for d in datasets]
            cells = [detector, "both" if detector in ALWAYS_THE_SAME else setting]
            cells += [str(len(datasets)), "-".join(map(str, sorted({min(seeds), max(seeds)})))]
            cells += means("auc_pr", datasets) + means("auc_pr", small & set(datasets))
            cells += [" / ".join(str(sides.count(s)) for s in ("below", "inside", "above"))]
            yield "| " + " | ".join(cells + means("auc_roc", datasets)) + " |"


def settings_of(detector: str) -> tuple[str, ...]:
    """The settings between which there is a difference."""
    return SETTINGS[:1] if detector in ALWAYS_THE_SAME else SETTINGS


def variants() -> Iterator[str]:
    """What changing one option does, over the data sets and seeds that both have."""
    heads = ["detector", "setting", "changed", "data sets", "seeds", "AUC-PR before", "after"]
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    results = all_runs()
    for detector, settings in VARIANTS.items():
        for setting in settings:
            base, _, change = setting.partition("+")
            pairs = [
                (run, as_performed(run._replace(setting=base)))
                for run in results
                if (run.detector, run.setting) == (detector, setting)
            ]
            pairs = [(run, before) for run, before in pairs if before in results]
            if pairs:
                cells = [detector, base, f"`{change}`", str(len({run.dataset for run, _ in pairs}))]
                cells += [str(len({run.seed for run, _ in pairs}))]
                for side in (1, 0):
                    cells += [f"{np.mean([results[pair[side]].auc_pr for pair in pairs]):.4f}"]
                yield "| " + " | ".join(cells) + " |"


def details(detector: str) -> Iterator[str]:
    """Every data set of one detector."""
    yield f"### {detector}"
    yield ""
    settings = settings_of(detector)
    heads = [f"{m}: {h}" for m in METRICS.values() for h in ("paper", *settings, "paper is")]
    yield "| data set | " + " | ".join(heads) + " |"
    yield "|---" * (1 + len(heads)) + "|"
    tables = {metric: (printed(metric), measured(metric)) for metric in METRICS}
    for dataset in sorted({d for (a, _, d) in tables["auc_pr"][1] if a == detector}):
        cells = [dataset]
        for paper, ours in tables.values():
            says = paper[detector, dataset]
            of = [ours.get((detector, setting, dataset)) for setting in settings]
            cells += [f"{says:.4f}", *(str(o or "not yet") for o in of)]
            cells.append(of[0].side_of(says) if of[0] else "")
        yield "| " + " | ".join(cells) + " |"
    yield ""


def picture() -> None:
    """Our range over the seeds and the printed number, per detector and data set."""
    paper, ours = printed("auc_pr"), measured("auc_pr")
    datasets = sorted({d for (_, _, d) in ours})
    shown = [d for d in DETECTORS if any(key[0] == d for key in ours)]
    columns = 4
    rows = -(-len(shown) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(15, 6 * rows), sharey=True, layout="constrained", squeeze=False
    )
    for axis in axes.flat[len(shown) :]:
        axis.remove()
    for axis, detector in zip(axes.flat, shown, strict=False):
        for place, dataset in enumerate(datasets):
            range_ = ours.get((detector, "published", dataset))
            if range_ is not None:
                axis.plot([range_.low, range_.high], [place] * 2, color="tab:blue", linewidth=4)
                axis.plot(range_.mean, place, "o", color="tab:blue", markersize=5)
            axis.plot(paper[detector, dataset], place, "x", color="black", markersize=6)
        axis.set_title(detector)
        axis.set_xlim(0, 1.02)
        axis.set_yticks(range(len(datasets)), datasets, fontsize=8)
        axis.grid(axis="x", alpha=0.3)
    axes[0, 0].invert_yaxis()
    figure.suptitle("AUC-PR: ours over the seeds (blue) and as printed in the paper (x)")
    figure.savefig(PICTURE, dpi=80)


def main() -> None:
    """Write both."""
    lines = [
        *summary(),
        "",
        "One option changed, over the data sets and seeds that both sides have:",
        "",
        *variants(),
        "",
    ]
    lines += [f"![Our ranges and the printed numbers]({PICTURE.name})", ""]
    for detector in DETECTORS:
        lines += details(detector)
    replace_made(PAGE, "make fidelity", lines)
    picture()


if __name__ == "__main__":
    main()
