"""Detectors before and after calibration, on a real table: what `make demo` runs.

Breast cancer cells (bundled with scikit-learn): 30 measurements per sample. The detectors
learn from half of the benign samples and must find the malignant ones among the rest.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from pyod.models.ecod import ECOD
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pyod.models.ocsvm import OCSVM
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
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
    seconds_detector: float
    seconds_calibration: float


def load():
    """Training rows (benign only), test rows, and which of these are malignant."""
    X, benign = load_breast_cancer(return_X_y=True)
    X_train, X_rest = train_test_split(X[benign == 1], test_size=0.5, random_state=0)
    X_test = np.vstack([X_rest, X[benign == 0]])
    return X_train, X_test, np.arange(len(X_test)) >= len(X_rest)


def compare(name, detector, X_train, X_test):
    start = time.perf_counter()
    detector.fit(X_train)
    fitted = CalibratedDetector(FrozenEstimator(detector), random_state=0)
    seconds_fit = time.perf_counter() - start
    start = time.perf_counter()
    fitted.fit(X_train)
    seconds_calibrator_fit = time.perf_counter() - start
    start = time.perf_counter()
    before = fitted.base_score(X_test)
    seconds_base = time.perf_counter() - start
    start = time.perf_counter()
    after = fitted.calibrator_.calibrate(before, X_test)
    seconds_calibrate = time.perf_counter() - start
    return Result(
        name, before, after, seconds_fit + seconds_base, seconds_calibrator_fit + seconds_calibrate
    )


def table(results, malignant):
    table = Table(title="Before → after calibration", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("detector", no_wrap=True)
    for column in ("AUC-PR", "AUC-ROC", "takes", "ctad adds"):
        table.add_column(column, justify="right", no_wrap=True)
    for result in results:
        cells = []
        for metric in (average_precision_score, roc_auc_score):
            before, after = metric(malignant, result.before), metric(malignant, result.after)
            colour = "green" if after > before else "red"
            cells.append(f"{before:.3f} → [{colour}]{after:.3f}[/]")
        cells += [
            f"{seconds * 1000:.0f} ms"
            for seconds in (result.seconds_detector, result.seconds_calibration)
        ]
        table.add_row(result.name, *cells)
    return table


def picture(results, malignant, path):
    figure, axes = plt.subplots(2, len(results), figsize=(15, 5), layout="constrained")
    for (top, bottom), result in zip(axes.T, results, strict=True):
        for axis, scores in ((top, result.before), (bottom, result.after)):
            # Malignant scores spread over orders of magnitude: squeeze the far ones.
            low, middle, high = np.percentile(scores[~malignant], [25, 50, 75])
            squeezed = np.arcsinh((scores - middle) / (high - low))
            bins = np.linspace(squeezed.min(), squeezed.max(), 40)
            axis.hist(squeezed[~malignant], bins, alpha=0.7, color="#4477aa", label="benign")
            axis.hist(squeezed[malignant], bins, alpha=0.7, color="#cc6677", label="malignant")
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("demo.png"), help="picture")
    output = parser.parse_args().output
    console = Console()
    X_train, X_test, malignant = load()
    console.print(
        f"Breast cancer: {len(X_train)} benign samples to learn from, "
        f"{malignant.sum()} malignant ones to find among {len(X_test)}."
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        with console.status("Compiling the transport engine (once per machine)..."):
            CalibratedDetector(KNN()).fit(X_train)
        results = [
            compare(name, detector, X_train, X_test)
            for name, detector in track(DETECTORS.items(), "Comparing", console=console)
        ]
    console.print(table(results, malignant))
    for warning in caught:
        console.print(f"Note: {warning.message}")
    picture(results, malignant, output)
    console.print(f"Score distributions: {output.resolve()}", soft_wrap=True)


if __name__ == "__main__":
    main()
