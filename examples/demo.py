"""Detectors before and after calibration, on a real table: what `make demo` runs.

Breast cancer samples (a data set in scikit-learn) with 30 measurements each. The detectors are
trained on half of the benign samples and must find the malignant ones among the rest.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from pyod.models.ecod import ECOD
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pyod.models.ocsvm import OCSVM
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split

from ctad import CalibratedDetector

matplotlib.use("Agg")

DETECTORS = {
    "IForest (PyOD)": IForest(random_state=0),
    "IsolationForest (sklearn)": IsolationForest(random_state=0),
    "KNN (PyOD)": KNN(),
    "OCSVM (PyOD)": OCSVM(),
    "ECOD (PyOD)": ECOD(),
}


class Result(NamedTuple):
    name: str
    before: np.ndarray
    after: np.ndarray
    seconds_before: float
    seconds_after: float


def load():
    """Training rows (benign only), test rows, and which of these are malignant."""
    X, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_rest = train_test_split(X[benign == 1], test_size=0.5, random_state=0)
    X_test = pd.concat([X_rest, X[benign == 0]])
    return X_train, X_test, np.arange(len(X_test)) >= len(X_rest)


def timed(function):
    """The result and the better of two times: the first may load and compile things."""
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return result, min(seconds)


def compare(name, detector, X_train, X_test):
    """Fit and score the detector alone and calibrated."""
    calibrated = CalibratedDetector(detector, random_state=0)
    after, seconds_after = timed(lambda: calibrated.fit(X_train).anomaly_score(X_test))
    score = "score_samples" if hasattr(detector, "score_samples") else "decision_function"
    _, seconds_before = timed(lambda: getattr(clone(detector).fit(X_train), score)(X_test))
    return Result(name, calibrated.base_score(X_test), after, seconds_before, seconds_after)


def table(results, malignant):
    table = Table(title="Before → after calibration", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("detector", no_wrap=True)
    for column in ("AUC-PR", "AUC-ROC", "time"):
        table.add_column(column, justify="right", no_wrap=True)
    for result in results:
        cells = []
        for metric in (average_precision_score, roc_auc_score):
            before, after = metric(malignant, result.before), metric(malignant, result.after)
            colour = "green" if after > before else "red"
            cells.append(f"{before:.3f} → [{colour}]{after:.3f}[/]")
        milliseconds = (1000 * s for s in (result.seconds_before, result.seconds_after))
        table.add_row(result.name, *cells, "{:.0f} → {:.0f} ms".format(*milliseconds))
    return table


def picture(results, malignant, path):
    figure, axes = plt.subplots(2, len(results), figsize=(15, 5), layout="constrained")
    for (top, bottom), result in zip(axes.T, results, strict=True):
        for axis, scores in ((top, result.before), (bottom, result.after)):
            # Malignant scores span orders of magnitude, so show them on a logarithmic scale.
            low, middle, high = np.percentile(scores[~malignant], [25, 50, 75])
            shown = np.arcsinh((scores - middle) / (high - low))
            bins = np.linspace(shown.min(), shown.max(), 40)
            axis.hist(shown[~malignant], bins, alpha=0.7, color="#4477aa", label="benign")
            axis.hist(shown[malignant], bins, alpha=0.7, color="#cc6677", label="malignant")
            precision = average_precision_score(malignant, scores)
            axis.set_xlabel(f"score → (AUC-PR {precision:.3f})")
            axis.set_xticks([])
            axis.set_yticks([])
        top.set_title(result.name)
    axes[0, 0].set_ylabel("before")
    axes[1, 0].set_ylabel("after")
    axes[0, 0].legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def report(X_train, X_test, malignant):
    """Which samples to check, and why."""
    detector = CalibratedDetector(IsolationForest(), holdout=0.3, random_state=0).fit(X_train)
    return detector.report(X_test, malignant)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("demo.png"), help="picture")
    parser.add_argument("--report", type=Path, default=Path("report.html"), help="page")
    arguments = parser.parse_args()
    console = Console()
    X_train, X_test, malignant = load()
    console.print(
        f"Breast cancer: {len(X_train)} benign samples for training, "
        f"{malignant.sum()} malignant ones to find among {len(X_test)}."
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        with console.status("Compiling the transport engine (once per machine)..."):
            CalibratedDetector(KNN()).fit(X_train)
        rows = X_train.to_numpy(), X_test.to_numpy()
        results = [
            compare(name, detector, *rows)
            for name, detector in track(DETECTORS.items(), "Comparing", console=console)
        ]
    console.print(table(results, malignant))
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        console.print(f"Note: {message}")
    picture(results, malignant, arguments.output)
    console.print(f"Score distributions: {arguments.output.resolve()}", soft_wrap=True)
    with console.status("Explaining the alerts..."):
        where = report(X_train, X_test, malignant).save(arguments.report)
    console.print(
        f"Report with alerts and reasons: {where}\nOpen it in a browser: {where.as_uri()}",
        soft_wrap=True,
    )


if __name__ == "__main__":
    main()
