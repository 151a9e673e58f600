"""Speed and memory of the transport engine, as ratios measured in one run: `make bench`.

Times are compared with `ot.emd2` of POT in a loop over the rows (as in the paper) and with
`scipy.spatial.distance.cdist` from the rows to the centroids, which every method needs.
Compilation is not counted. Everything runs on one thread, unless the table says otherwise.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import ot
from measurements import Measurement, best_seconds, print_table
from pyod.models.knn import KNN
from pyod.models.pca import PCA
from rich.console import Console
from rich.progress import track
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from ctad import CTAD, CalibratedDetector, RelaxedCTAD
from ctad.transport import RowTransport

MEMORY_SCRIPT = Path(__file__).with_name("calibration_memory.py")


class Problem:
    """Rows, reference rows and k-means centroids; one row in four is three times as far out."""

    def __init__(self, n_rows, n_columns, k, m, seed=0):
        random = np.random.default_rng(seed)
        train = random.standard_normal((5000, n_columns))
        self.centroids = KMeans(k, n_init=1, random_state=seed).fit(train).cluster_centers_
        self.reference_costs = cdist(train[:m], self.centroids)
        self.rows = random.standard_normal((n_rows, n_columns))
        self.rows[::4] *= 3

    def prepare(self):
        return RowTransport(self.reference_costs)

    def loop_seconds_per_row(self, n=1000):
        """POT, given the complete cost matrix of each row."""
        m, k = self.reference_costs.shape
        source, target = np.full(m + 1, 1 / (m + 1)), np.full(k, 1 / k)
        costs = np.vstack([self.reference_costs, np.empty(k)])
        row_costs = cdist(self.rows[:n], self.centroids)
        values = np.empty(n)
        start = time.perf_counter()
        for row in range(n):
            costs[-1] = row_costs[row]
            values[row] = ot.emd2(source, target, costs)
        seconds = (time.perf_counter() - start) / n
        ours = self.prepare().solve(row_costs).total
        np.testing.assert_allclose(ours, values, rtol=1e-9)
        return seconds


def against_loop(ratio, goal, name):
    return Measurement(
        f"{name}: times faster than emd2", f"≥ {goal}", f"{ratio:.0f}", ratio >= goal
    )


def against_cdist(ratio, goal, name):
    return Measurement(
        f"{name}: time over that of cdist", f"≤ {goal:.1f}", f"{ratio:.2f}", ratio <= goal
    )


def many_rows(n_rows, n_loop):
    problem = Problem(n_rows, 21, 5, 20)
    transport, rows, centroids = problem.prepare(), problem.rows, problem.centroids
    one, two, distances = best_seconds(
        lambda: transport.solve_points(rows, centroids),
        lambda: transport.solve_points(rows, centroids, n_threads=2),
        lambda: cdist(rows, centroids),
    )
    name = "K=5, M=20, D=21"
    yield against_loop(problem.loop_seconds_per_row(n_loop) / (one / n_rows), 500, name)
    yield against_cdist(one / distances, 1.5, name)
    yield against_cdist(two / distances, 1.0, f"{name}, 2 threads")


def many_columns(n_rows):
    problem = Problem(n_rows, 100, 5, 20)
    transport, rows, centroids = problem.prepare(), problem.rows, problem.centroids
    one, distances = best_seconds(
        lambda: transport.solve_points(rows, centroids), lambda: cdist(rows, centroids)
    )
    yield against_cdist(one / distances, 1.0, "K=5, M=20, D=100")


def many_centroids(n_rows, n_loop, k, m, goal):
    problem = Problem(n_rows, 21, k, m)
    [ours] = best_seconds(lambda: problem.prepare().solve_points(problem.rows, problem.centroids))
    ratio = problem.loop_seconds_per_row(n_loop) * n_rows / ours
    yield against_loop(ratio, goal, f"K={k}, M={m}, with preparation")


def growth(largest):
    problem = Problem(largest, 21, 5, 20)
    rows = problem.rows.astype(np.float32)
    transport = problem.prepare()
    sizes = [n for n in (10**4, 10**5, 10**6, 10**7) if n <= largest]
    times = [
        best_seconds(lambda n=n: transport.solve_points(rows[:n], problem.centroids), repeats=3)[0]
        for n in sizes
    ]
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    yield Measurement(
        f"growth of time, {sizes[0]:,} to {sizes[-1]:,} rows",
        "≈ 1",
        f"{slope:.2f}",
        0.9 <= slope <= 1.1,
    )


def recommended(n_rows):
    """RelaxedCTAD against one pass of CTAD, and against a detector that it is added to."""
    random = np.random.default_rng(0)
    train, rows = random.standard_normal((2, n_rows, 20))
    relaxed, knn = RelaxedCTAD(random_state=0), KNN()
    [fit], [fit_knn] = (best_seconds(lambda m=m: m.fit(train), repeats=1) for m in (relaxed, knn))
    plain = CTAD(random_state=0).fit(train)
    one_pass, relaxed_pass = best_seconds(lambda: plain.delta(rows), lambda: relaxed.delta(rows))
    [score_knn] = best_seconds(lambda: knn.decision_function(rows), repeats=1)
    for name, ratio, goal in (
        ("scoring, over one pass of K=5, M=20", relaxed_pass / one_pass, 10),
        ("scoring, over that of PyOD's KNN", relaxed_pass / score_knn, 1),
        ("fitting, over that of PyOD's KNN", fit / fit_knn, 1),
    ):
        yield Measurement(f"recommended: {name}", f"≤ {goal}", f"{ratio:.2g}", ratio <= goal)


def explaining(n_rows):
    """Explanations as a data frame, against scoring, with a quick detector."""
    random = np.random.default_rng(0)
    train, rows = random.standard_normal((2, n_rows, 20))
    detector = CalibratedDetector(PCA(), random_state=0).fit(train)
    scoring, explaining = best_seconds(
        lambda: detector.anomaly_score(rows), lambda: detector.explain(rows).to_frame()
    )
    ratio = explaining / scoring
    yield Measurement("explaining rows, over scoring them", "≤ 5", f"{ratio:.2g}", ratio <= 5)


def memory(n_rows):
    command = [sys.executable, MEMORY_SCRIPT, str(n_rows)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    name, megabytes = done.stdout.strip().rsplit(": ", 1)
    yield Measurement(name, "< 300", megabytes, float(megabytes) < 300)


def main(arguments=None):
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rows, to try it out")
    quick = parser.parse_args(arguments).quick
    n_rows, n_loop = (10**4, 50) if quick else (10**6, 1000)
    n_prepared, n_fitted, most = (500, 1000, 10**5) if quick else (10**4, 10**5, 10**7)
    parts = [
        lambda: many_rows(n_rows, n_loop),
        lambda: many_columns(n_rows),
        lambda: many_centroids(n_prepared, n_loop, 20, 40, 10),
        lambda: many_centroids(n_prepared, n_loop, 50, 100, 5),
        lambda: many_centroids(n_prepared, n_loop, 50, 99, 100),
        lambda: recommended(n_fitted),
        lambda: explaining(n_fitted),
        lambda: growth(most),
        lambda: memory(most),
    ]
    console = Console()
    # Compile first.
    Problem(10, 2, 5, 20).loop_seconds_per_row(5)
    Problem(10, 2, 20, 40).loop_seconds_per_row(5)
    Problem(10, 2, 5, 20).prepare().solve_points(np.ones((2, 2)), np.ones((5, 2)))
    lines = [line for part in track(parts, "Measuring", console=console) for line in part()]
    all_reached = print_table("Transport engine, RelaxedCTAD, explanations", lines, console)
    console.print(f"Rows: {n_rows:,}; with preparation of the engine: {n_prepared:,}.")
    # With few rows, one-off work counts too much: the ratios mean nothing.
    return 0 if all_reached or quick else 1


if __name__ == "__main__":
    sys.exit(main())
