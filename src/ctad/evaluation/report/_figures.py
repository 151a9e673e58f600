"""The figures of a benchmark."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from ..._atomic_files import replacing
from ._benchmark_tables import CALIBRATED, METRICS
from ._table import Table, file_stem

FIGURE_STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "svg.fonttype": "none",  # text stays text, which can be searched and is small
    "text.parse_math": False,  # names of data sets may have dollar signs
    "svg.hashsalt": "ctad",  # equal figures give equal files
}
MEAN, BOX, CALIBRATED_BOX = "#D55E00", "0.92", "#9ecae1"


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure of a report.

    Attributes
    ----------
    name : str
        File name; blanks become underscores.
    title : str
    note : str
        How to read it.
    figure : matplotlib.figure.Figure
        Drawn in `FIGURE_STYLE`.
    """

    name: str
    title: str
    note: str
    figure: Figure

    def svg(self) -> str:
        """The figure as an SVG element, to stand in a page among others."""
        written = io.StringIO()
        with mpl.rc_context(FIGURE_STYLE):
            self.figure.savefig(written, format="svg", metadata={"Date": None}, bbox_inches="tight")
        drawing = written.getvalue()
        drawing = drawing[drawing.index("<svg") :]
        # All figures of a page share one space of identifiers.
        prefix = file_stem(self.name)
        drawing = re.sub(r'\bid="', f'id="{prefix}-', drawing)
        drawing = re.sub(r'href="#', f'href="#{prefix}-', drawing)
        return re.sub(r"url\(#", f"url(#{prefix}-", drawing)

    def save_png(self, folder: Path) -> Path:
        """Write the figure into a folder; return the path of the file."""
        path = folder / f"{file_stem(self.name)}.png"
        with mpl.rc_context(FIGURE_STYLE), replacing(path) as part:
            self.figure.savefig(part, format="png", dpi=90, bbox_inches="tight")
        return path


def comparison_picture(table: Table, metric: str) -> Picture:
    """A box plot of all detectors over the data sets.

    Parameters
    ----------
    table : Table
        What `comparison_table` returned.
    metric : {"auc_pr", "auc_roc", "precision_at_n"}

    Returns
    -------
    Picture

    Examples
    --------
    >>> import pandas as pd
    >>> from ctad.evaluation.report import Table, comparison_picture
    >>> data = pd.DataFrame({"KNN": [0.5, 0.8, 0.6], "KNN+CTAD": [0.6, 0.9, 0.6]})
    >>> comparison_picture(Table("all", "All detectors", "", data), "auc_pr").title
    'All detectors: 3 data sets'
    """
    values = table.data.dropna()
    values = values[values.mean().sort_values().index]
    with mpl.rc_context(FIGURE_STYLE):
        figure = Figure(figsize=(9, 4.8), layout="constrained")
        axis = figure.subplots()
        boxes = axis.boxplot(
            values.to_numpy(),
            showmeans=True,
            patch_artist=True,
            medianprops={"color": "black"},
            meanprops={"marker": "^", "markerfacecolor": MEAN, "markeredgecolor": "black"},
            flierprops={"markersize": 3},
        )
        for name, box in zip(values, boxes["boxes"], strict=True):
            box.set_facecolor(CALIBRATED_BOX if name.endswith(CALIBRATED) else BOX)
        axis.set_ylabel(METRICS[metric])
        axis.set_xticks(
            range(1, 1 + values.shape[1]),
            list(values),
            rotation=45,
            horizontalalignment="right",
            rotation_mode="anchor",
        )
        axis.grid(axis="x", visible=False)
    return Picture(
        table.name,
        f"{table.title}: {len(values)} data sets",
        "Boxes: quartiles and median. Triangles: means, by which detectors are sorted. Blue: with "
        "calibration.",
        figure,
    )
