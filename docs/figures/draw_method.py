"""Draw the pictures of docs/method.md: two half moons, and anomalies in their hollows."""

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from pyod.models.pca import PCA
from sklearn.datasets import make_moons
from sklearn.metrics import average_precision_score

from ctad import CTAD, CalibratedDetector, RelaxedCTAD

# The colours of the figures of studies/paper.
NORMAL, ANOMALY, TRAINING = "#0072B2", "#D55E00", "#BBBBBB"
STYLE = {"font.size": 10, "figure.dpi": 110, "axes.titlesize": 11}


def moons():
    """Training rows, new normal rows, and anomalies in the hollows of the moons."""
    training, _ = make_moons(600, noise=0.06, random_state=0)
    normal, _ = make_moons(100, noise=0.06, random_state=1)
    hollows = np.array([[-0.45, 0.1], [0.5, 0.25], [1.45, 0.4]])
    random = np.random.default_rng(2)
    anomalies = np.repeat(hollows, 4, axis=0) + random.normal(scale=0.06, size=(12, 2))
    return training, normal, anomalies


def panels(n):
    figure = Figure(figsize=(4.2 * n, 3.4), layout="constrained")
    axes = figure.subplots(1, n, squeeze=False)[0]
    for ax in axes:
        ax.set(xlim=(-1.6, 2.6), ylim=(-1.1, 1.6), aspect="equal", xticks=[], yticks=[])
    return figure, axes


def draw_rows(ax, normal, anomalies):
    ax.scatter(*normal.T, s=14, c=NORMAL, edgecolors="white", linewidths=0.4, label="normal rows")
    ax.scatter(*anomalies.T, s=26, c=ANOMALY, marker="D", edgecolors="white", linewidths=0.6,
               label="anomalies")  # fmt: skip


def draw_map(ax, values_of):
    """The score of each place in the plane; darker is more unusual."""
    across, up = np.meshgrid(np.linspace(-1.6, 2.6, 169), np.linspace(-1.1, 1.6, 109))
    values = values_of(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    levels = MaxNLocator(12).tick_values(*np.quantile(values, [0, 0.98]))
    ax.contourf(across, up, values, levels, cmap="Greys", alpha=0.75, extend="max")


def average_precision(score_of, normal, anomalies):
    scores = score_of(np.vstack([normal, anomalies]))
    return average_precision_score(np.arange(len(scores)) >= len(normal), scores)


def problem(detector, training, normal, anomalies):
    figure, (rows, scores) = panels(2)
    rows.scatter(*training.T, s=5, c=TRAINING, label="training rows")
    draw_rows(rows, normal, anomalies)
    rows.set_title("new rows, some of them anomalies")
    draw_map(scores, detector.base_score)
    draw_rows(scores, normal, anomalies)
    scores.set_title("a detector's scores: darker is more unusual")
    figure.legend(*rows.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def descriptions(paper, recommended, training):
    figure, axes = panels(2)
    for ax, draw, title in (
        (axes[0], paper, "the paper: 5 centroids"),
        (axes[1], recommended, f"recommended: {len(recommended.centroids_)} centroids"),
    ):
        ax.scatter(*training.T, s=5, c=TRAINING, label="training rows")
        references, centroids = draw.reference_points()
        ax.scatter(*references.T, s=26, c=NORMAL, label="P: reference rows")
        ax.scatter(*centroids.T, s=70 if draw is paper else 22, c="black", marker="*",
                   label="Q: k-means centroids")  # fmt: skip
        ax.set_title(title)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def views(training, normal):
    """The term, and its two views, if a twentieth of the training rows are anomalies."""
    random = np.random.default_rng(3)
    place = np.array([-0.9, -0.7])
    dirty = np.vstack([training, place + random.normal(scale=0.06, size=(30, 2))])
    anomalies = place + random.normal(scale=0.06, size=(12, 2))
    calibrator = RelaxedCTAD(random_state=0).fit(dirty)
    figure, axes = panels(3)
    for ax, name, term_of in (
        (axes[0], "near view", lambda X: calibrator.draws_[0].solve(X).own),
        (axes[1], "wide view", lambda X: calibrator.wide_draws_[0].solve(X).own),
        (axes[2], "term: the larger one", calibrator.delta),
    ):
        draw_map(ax, term_of)
        ax.scatter(*dirty.T, s=3, c=TRAINING, label="training rows")
        draw_rows(ax, normal, anomalies)
        ax.set_title(f"{name}: AUC-PR {average_precision(term_of, normal, anomalies):.2f}")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def addition(detector, normal, anomalies):
    figure, axes = panels(3)
    for ax, name, score_of in (
        (axes[0], "detector", detector.base_score),
        (axes[1], "term", detector.calibrator_.delta),
        (axes[2], "both", detector.anomaly_score),
    ):
        draw_map(ax, score_of)
        draw_rows(ax, normal, anomalies)
        ax.set_title(f"{name}: AUC-PR {average_precision(score_of, normal, anomalies):.2f}")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).parent)
    folder = parser.parse_args().output
    training, normal, anomalies = moons()
    detector = CalibratedDetector(PCA(), random_state=0).fit(training)
    paper = CTAD(random_state=0).fit(training)
    recommended = RelaxedCTAD(random_state=0).fit(training)
    with mpl.rc_context(STYLE):
        for name, figure in {
            "method_problem": problem(detector, training, normal, anomalies),
            "method_descriptions": descriptions(paper, recommended, training),
            "method_addition": addition(detector, normal, anomalies),
            "method_views": views(training, normal),
        }.items():
            figure.savefig(folder / f"{name}.png")
    print(f"Pictures of the method are in {folder}.")


if __name__ == "__main__":
    main()
