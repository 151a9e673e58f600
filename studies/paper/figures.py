"""The paper's figures, made from our results."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from scipy.optimize import linprog
from sklearn.datasets import make_blobs

from ctad import CTAD
from ctad.evaluation.report import Measurements, Picture, Table
from ctad.transport import euclidean_costs

from .printed_numbers import METRICS
from .tables import SYMBOLS, swept_cells

# Okabe and Ito's colours: the colour-blind can distinguish them; with the markers also in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
ANOMALY, NORMAL = COLOURS[1], COLOURS[0]


def method_picture() -> Picture:
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
    """Draw one legend for all panels, from the artists of one panel."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=7, frameon=False)


def _draw_transport(axis: Axes, X: np.ndarray, calibrator: CTAD, row: np.ndarray) -> None:
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


def _plan(costs: np.ndarray) -> np.ndarray:
    """The plan of an optimal transport with uniform masses; calibrators need only its cost."""
    n, k = costs.shape
    masses = np.vstack([np.kron(np.eye(n), np.ones(k)), np.kron(np.ones(n), np.eye(k))])
    wanted = np.concatenate([np.full(n, 1 / n), np.full(k, 1 / k)])
    plan = linprog(costs.ravel(), A_eq=masses, b_eq=wanted).x
    assert plan is not None  # there always is one
    return plan.reshape(n, k)


def alternatives_picture(protocol: str, tables: dict[str, Table]) -> Picture:
    """The means of `alternatives_table`, by metric."""
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(tables), sharey=True))
    for axis, (metric, table) in zip(axes, tables.items(), strict=True):
        means = table.data.drop(columns="mean")
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
        f"alternatives {protocol}",
        f"Ways to calibrate ({protocol})",
        "Each point is a detector's mean over data sets and seeds.",
        figure,
    )


def sensitivity_picture(measured: Measurements, protocol: str) -> Picture:
    """The metrics with other K, M and weights."""
    figure = Figure(figsize=(9, 3 * len(SYMBOLS)), layout="constrained")
    axes = figure.subplots(len(SYMBOLS), len(METRICS), squeeze=False, sharey="col")
    for line, (setting, symbol) in zip(axes, SYMBOLS.items(), strict=True):
        cells = swept_cells(measured, protocol, setting)
        for axis, (metric, title) in zip(line, METRICS.items(), strict=True):
            seeds = cells.groupby(["value", "detector", "seed"], as_index=False)[metric].mean()
            for number, detector in enumerate(measured.detectors):
                of = seeds[seeds["detector"] == detector].groupby("value")[metric]
                if not len(of):
                    continue
                middle, low, high = of.mean(), of.min(), of.max()
                colour = COLOURS[number % 7]
                axis.fill_between(middle.index, low, high, color=colour, alpha=0.15, linewidth=0)
                axis.plot(
                    middle, marker=MARKERS[number % 7], markersize=4, color=colour, label=detector
                )
            axis.set_xlabel(symbol)
            axis.set_ylabel(title)
    _legend_below(figure, axes[0, 0])
    return Picture(
        f"sensitivity {protocol}",
        f"Other settings ({protocol})",
        "Means over data sets. Bands reach from the lowest to the highest seed.",
        figure,
    )


def gap_picture(protocol: str, gaps: Table) -> Picture:
    """How much larger the term of anomalies is, on each data set."""
    table = gaps.data[[column for column in gaps.data if column.endswith("%")]]
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
        gaps.name,
        f"The term of anomalies compared with that of normal rows ({protocol})",
        "The scale is logarithmic beyond 10 %.",
        figure,
    )
