"""The generated part of docs/fidelity.md, and its picture."""

from pathlib import Path

import matplotlib.pyplot as plt

from ..markdown import DOCS, replace_generated
from .tables import DETECTORS, Runs, all_datasets, changed_options, printed_numbers, summary

PAGE = "fidelity.md"
PICTURE = "figures/fidelity.png"

CHANGES_LEGEND = (
    "Changed options, over the data sets and seeds that both sides have. p: Wilcoxon's test of the "
    "data sets' means, two-sided."
)


def write_page(*folders: Path) -> None:
    """Write both, from folders of results."""
    runs = Runs.of(*folders)
    draw_picture(runs, DOCS / PICTURE)
    replace_generated(PAGE, "make fidelity", generated_lines(runs))


def generated_lines(runs: Runs) -> list[str]:
    """The generated part of the page."""
    lines = [*summary(runs), "", CHANGES_LEGEND, "", *changed_options(runs), ""]
    lines += [f"![Our ranges and the printed numbers]({PICTURE})", ""]
    for detector in DETECTORS:
        if runs.is_measured(detector):
            lines += [f"### {detector}", "", *all_datasets(runs, detector), ""]
    return lines


def draw_picture(runs: Runs, path: Path) -> None:
    """Our range over the seeds and the printed number, per detector and data set."""
    datasets = sorted(runs.datasets)
    shown = [detector for detector in DETECTORS if runs.is_measured(detector)]
    columns = 4
    lines = -(-len(shown) // columns)
    figure, axes = plt.subplots(
        lines, columns, figsize=(15, 6 * lines), sharey=True, layout="constrained", squeeze=False
    )
    for axis in axes.flat[len(shown) :]:
        axis.remove()
    for axis, detector in zip(axes.flat, shown, strict=False):
        found = runs.ranges(detector, "auc_pr").reindex(datasets)
        places = range(len(datasets))
        axis.hlines(places, found["min"], found["max"], color="tab:blue", linewidth=4)
        axis.plot(found["mean"], places, "o", color="tab:blue", markersize=5)
        axis.plot(printed_numbers("auc_pr").loc[datasets, detector], places, "kx", markersize=6)
        axis.set_title(detector)
        axis.set_xlim(0, 1.02)
        axis.set_yticks(places, datasets, fontsize=8)
        axis.grid(axis="x", alpha=0.3)
    axes[0, 0].invert_yaxis()
    figure.suptitle("AUC-PR, published settings: our seeds (blue), printed in the paper (x)")
    figure.savefig(path, dpi=80)
    plt.close(figure)
