"""What calibration costs beside the detector that it wraps, as ratios measured in one run.

One thread, unless the table says otherwise. Compilation is not counted.
"""

import argparse
import sys
import warnings

import numpy as np
from measurements import Measurement, best_seconds, print_table
from pyod.models.ecod import ECOD
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pyod.models.lof import LOF
from pyod.models.ocsvm import OCSVM
from pyod.models.pca import PCA
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import IsolationForest
from threadpoolctl import threadpool_limits

from ctad import CalibratedDetector

N_TRAINING, SECONDS = 2000, 1e-4  # the time that one row may take beyond 1.5 times the detector's


def fitted(detector, n_columns):
    """A calibrated detector, and the scores of the detector alone."""
    rows = np.random.default_rng(0).normal(size=(N_TRAINING, n_columns))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # ECOD's scores depend on the batch
        calibrated = CalibratedDetector(detector, random_state=0).fit(rows)
    alone = calibrated.adapter_.detector
    method = "score_samples" if isinstance(alone, IsolationForest) else "decision_function"
    return calibrated, getattr(alone, method)


def at_most(name, goal, ratio):
    return Measurement(name, f"≤ {goal}", f"{ratio:.2f}", ratio <= goal)


def forests(n_rows):
    """A forest with calibration, over the same forest without."""
    rows = np.random.default_rng(1).normal(size=(n_rows, 20))
    for detector in (IsolationForest(random_state=0), IForest(random_state=0)):
        calibrated, alone = fitted(detector, 20)
        name = type(detector).__name__
        calibrated.anomaly_score(rows[:1])
        bare, ours = best_seconds(
            lambda a=alone: a(rows), lambda c=calibrated: c.anomaly_score(rows), repeats=3
        )
        yield at_most(f"{name}, {n_rows:,} rows, over the forest alone", 0.5, ours / bare)
        bare, ours = best_seconds(
            lambda a=alone: a(rows[:1]), lambda c=calibrated: c.anomaly_score(rows[:1]), repeats=50
        )
        yield at_most(f"{name}, one row, over the forest alone", 0.1, ours / bare)


def one_row():
    """One row with calibration, over 1.5 times the detector alone plus a tenth of a millisecond."""
    for n_columns in (10, 20):
        row = np.random.default_rng(1).normal(size=(1, n_columns))
        for detector in (KNN(), LOF(), PCA(), OCSVM(), ECOD()):
            calibrated, alone = fitted(detector, n_columns)
            calibrated.anomaly_score(row)
            bare, ours = best_seconds(
                lambda a=alone, x=row: a(x),
                lambda c=calibrated, x=row: c.anomaly_score(x),
                repeats=100,
            )
            name = f"{type(detector).__name__}, one row, D={n_columns}, over 1.5 x alone + 0.1 ms"
            yield at_most(name, 1, ours / (1.5 * bare + SECONDS))


def batches(n_rows):
    """Many rows with calibration, over the detector alone plus the term alone."""
    for n_columns in (10, 20):
        rows = np.random.default_rng(1).normal(size=(n_rows, n_columns))
        for detector in (PCA(), KNN(), OCSVM()):
            calibrated, alone = fitted(detector, n_columns)
            calibrated.anomaly_score(rows[:1])
            bare, term, ours = best_seconds(
                lambda a=alone, x=rows: a(x),
                lambda c=calibrated, x=rows: c.calibrator_.delta(x),
                lambda c=calibrated, x=rows: c.anomaly_score(x),
                repeats=2,
            )
            name = f"{type(detector).__name__}, {n_rows:,} rows, D={n_columns}, over alone + term"
            yield at_most(name, 1.15, ours / (bare + term))


def threads(n_rows):
    """Throughput with two threads, over one."""
    rows = np.random.default_rng(1).normal(size=(n_rows, 20))
    one, _ = fitted(IsolationForest(random_state=0), 20)
    two, _ = fitted(IsolationForest(n_jobs=2, random_state=0), 20)
    two.calibrator_.set_params(n_jobs=2)
    for name, of in (
        ("forest", lambda model: model.base_score(rows)),
        ("term", lambda model: model.calibrator_.delta(rows)),
    ):
        np.testing.assert_array_equal(of(one), of(two))
        alone, together = best_seconds(lambda of=of: of(one), lambda of=of: of(two), repeats=5)
        ratio = alone / together
        yield Measurement(f"{name}: n_jobs=2 over 1", "≥ 1.7", f"{ratio:.2f}", ratio >= 1.7)


def main(arguments=None):
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rows, to try it out")
    quick = parser.parse_args(arguments).quick
    n_forest, n_batch = (20_000, 1_000) if quick else (1_000_000, 100_000)
    console = Console()
    with threadpool_limits(1):
        parts = (forests(n_forest), one_row(), batches(n_batch), threads(n_forest))
        lines = [line for part in track(parts, "Measuring", console=console) for line in part]
    all_reached = print_table("Wrapped detectors", lines, console)
    return 0 if all_reached or quick else 1


if __name__ == "__main__":
    sys.exit(main())
