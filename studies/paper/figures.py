"""The paper's figures, made of our results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from scipy.optimize import linprog
from sklearn.datasets import make_blobs

from .._types import Floats
from ..calibration import CTAD
from ..transport import euclidean_costs
from ._measured import Measured
from ._study import SWEEPS, Study
from ._tables import (
    METRICS,
    SYMBOLS,
    alternatives,
    comparison,
    gaps,
    protocols_with_gaps,
    swept,
    was_swept,
)

# Okabe and Ito's colours: told apart by the colour-blind, and, with the markers, in grey print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
ANOMALY, NORMAL = COLOURS[1], COLOURS[0]
STYLE: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "svg.fonttype": "none",  # text stays text: to be searched, and small
    "text.parse_math": False,  # names of data sets may have dollar signs
    "svg.hashsalt": "ctad",  # the same figure is the same file
}


class Picture(NamedTuple):
    """A figure of the study."""

    name: str
    title: str
    note: str
    figure: Figure


def all_pictures(measured: Measured, study: Study, metrics: tuple[str, ...]) -> Iterator[Picture]:
    """Every figure there are results for."""
    first = study.protocols[0]
    with mpl.rc_context(STYLE):
        yield method()
        for metric in metrics:
            values = comparison(measured, study, first, metric).data.dropna()
            if len(values):
                yield box_plot(values, first, metric)
        for protocol in study.protocols:
            yield ways_to_calibrate(measured, study, protocol, metrics)
        if was_swept(measured, study):
            yield settings(measured, study, first, metrics)
        for protocol in protocols_with_gaps(measured, study):
            yield increase(measured, protocol)


def method() -> Picture:
    """References, centroids, a row and the transport, for a normal row and for an anomaly."""
    centres = [(-5, -2), (-3, 2), (0, -1), (3, 2), (5, -2)]
    X, _ = make_blobs(300, centers=centres, cluster_std=0.7, random_state=4)
    calibrator = CTAD(random_state=0).fit(X)
    rows = {"a normal row": (2.7, 1.4), "an anomaly": (1.5, 5.5)}
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    for axis, (name, row) in zip(axes, rows.items(), strict=True):
        _draw_transport(axis, X, calibrator, np.array(row))
        total = calibrator.delta([row])[0]
        axis.set_title(f"{name}: OT = {total:.3f}")
    _legend_below(figure, axes[0])
    return Picture(
        "method",
        "The method",
        "Normal data is described twice: by random training rows (P) and by k-means centroids (Q). "
        "With the row put into P, the optimal transport from P to Q, drawn as lines, costs more if "
        "the row fits badly. Width: mass.",
        figure,
    )


def _legend_below(figure: Figure, axis: Axes) -> None:
    """One legend for all panels, of what is drawn in one of them."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=7, frameon=False)


def _draw_transport(axis: Axes, X: Floats, calibrator: CTAD, row: Floats) -> None:
    references, centroids = calibrator.references_, calibrator.centroids_
    points = np.vstack([references, row])
    plan = _plan(euclidean_costs(points, centroids))
    axis.plot(*X.T, ".", color="0.85", markersize=3, zorder=0, label="training rows")
    for i, j in zip(*np.nonzero(plan > 1e-9), strict=True):
        is_row = i == len(references)
        axis.plot(
            *np.stack([points[i], centroids[j]]).T,
            color=ANOMALY if is_row else NORMAL,
            alpha=1.0 if is_row else 0.45,
            linewidth=60 * plan[i, j],
            solid_capstyle="butt",
            zorder=2 if is_row else 1,
        )
    axis.plot(*references.T, "o", color=NORMAL, markersize=5, zorder=3, label="references (P)")
    axis.plot(*centroids.T, "*", color="black", markersize=13, zorder=4, label="centroids (Q)")
    axis.plot(*row, "D", color=ANOMALY, markersize=8, zorder=5, label="the row")
    axis.set_aspect("equal")
    axis.set_axis_off()


def _plan(costs: Floats) -> Floats:
    """All of an optimal transport with uniform masses; the calibrators need only its value."""
    n, k = costs.shape
    masses = np.vstack([np.kron(np.eye(n), np.ones(k)), np.kron(np.ones(n), np.eye(k))])
    wanted = np.concatenate([np.full(n, 1 / n), np.full(k, 1 / k)])
    plan = linprog(costs.ravel(), A_eq=masses, b_eq=wanted).x
    assert plan is not None  # there always is one
    return plan.reshape(n, k)


def box_plot(values: pd.DataFrame, protocol: str, metric: str) -> Picture:
    """All methods over the data sets."""
    values = values[values.mean().sort_values().index]
    figure = Figure(figsize=(9, 4.8), layout="constrained")
    axis = figure.subplots()
    boxes = axis.boxplot(
        values.to_numpy(),
        showmeans=True,
        patch_artist=True,
        medianprops={"color": "black"},
        meanprops={"marker": "^", "markerfacecolor": ANOMALY, "markeredgecolor": "black"},
        flierprops={"markersize": 3},
    )
    for name, box in zip(values, boxes["boxes"], strict=True):
        box.set_facecolor("#9ecae1" if name.endswith("+CTAD") else "0.92")
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
        f"comparison_{protocol}_{metric}",
        f"{METRICS[metric]} of all methods over {len(values)} data sets, {protocol} protocol",
        "Boxes: quartiles and median; triangles: means, by which methods are sorted; blue: with "
        "calibration.",
        figure,
    )


def ways_to_calibrate(
    measured: Measured, study: Study, protocol: str, metrics: tuple[str, ...]
) -> Picture:
    """Means with other calibrations."""
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(metrics), sharey=True))
    for axis, metric in zip(axes, metrics, strict=True):
        means = alternatives(measured, study, protocol, metric).data.drop(columns="mean")
        for number, detector in enumerate(means):
            axis.plot(
                means[detector],
                range(len(means)),
                linestyle="none",
                marker=MARKERS[number % 7],
                color=COLOURS[number % 7],
                label=detector,
            )
        axis.set_yticks(range(len(means)), means.index)
        axis.set_xlabel(f"{METRICS[metric]}, mean over data sets")
    axes[0].invert_yaxis()
    _legend_below(figure, axes[0])
    return Picture(
        f"alternatives_{protocol}",
        f"Ways to calibrate, {protocol} protocol",
        "Each point is a detector's mean over data sets and seeds.",
        figure,
    )


def settings(measured: Measured, study: Study, protocol: str, metrics: tuple[str, ...]) -> Picture:
    """The metrics with other K, M and weights."""
    figure = Figure(figsize=(9, 3 * len(SWEEPS)), layout="constrained")
    axes = figure.subplots(len(SWEEPS), len(metrics), squeeze=False, sharey="col")
    for line, setting in zip(axes, SWEEPS, strict=True):
        for axis, metric in zip(line, metrics, strict=True):
            means = swept(measured, study, protocol, metric, setting)
            for number, detector in enumerate(study.detectors):
                of = means[means["detector"] == detector].groupby("value")[metric]
                if not len(of):
                    continue
                middle, low, high = of.mean(), of.min(), of.max()
                colour = COLOURS[number % 7]
                axis.fill_between(middle.index, low, high, color=colour, alpha=0.15, linewidth=0)
                axis.plot(
                    middle, marker=MARKERS[number % 7], markersize=4, color=colour, label=detector
                )
            axis.set_xlabel(SYMBOLS[setting])
            axis.set_ylabel(METRICS[metric])
    _legend_below(figure, axes[0, 0])
    return Picture(
        f"sensitivity_{protocol}",
        f"Other settings, {protocol} protocol",
        "Means over data sets; bands reach from the lowest to the highest seed.",
        figure,
    )


def increase(measured: Measured, protocol: str) -> Picture:
    """How much larger the term is for anomalies, on each data set."""
    table = gaps(measured, protocol).data
    table = table[[column for column in table if column.endswith("%")]]
    table = table.loc[table["uniform own: %"].sort_values().index]
    figure = Figure(figsize=(9, 0.22 * len(table) + 1.6), layout="constrained")
    axis = figure.subplots()
    shown = ("uniform total", "uniform own", "free own", "paper")
    for number, name in enumerate(name for name in shown if f"{name}: %" in table):
        axis.plot(
            table[f"{name}: %"],
            range(len(table)),
            linestyle="none",
            marker="x" if name == "paper" else MARKERS[number],
            color="black" if name == "paper" else COLOURS[number],
            label="printed in the paper" if name == "paper" else name,
        )
    axis.set_xscale("symlog", linthresh=10)
    axis.axvline(0, color="black", linewidth=0.8)
    axis.set_yticks(range(len(table)), table.index)
    axis.set_ylim(-1, len(table))
    axis.xaxis.set_major_formatter(PercentFormatter(decimals=0))
    axis.set_xlabel("mean term of anomalies above that of normal rows")
    _legend_below(figure, axis)
    return Picture(
        f"gaps_{protocol}",
        f"The term of anomalies against that of normal rows, {protocol} protocol",
        "On a logarithmic scale beyond 10 %.",
        figure,
    )
