"""Speed and memory of the transport engine, as ratios measured in one run: `make bench`.

The yardsticks are `ot.emd2` of POT in a loop over the rows (the paper's way) and
`scipy.spatial.distance.cdist` from the rows to the centroids, which any method pays.
Compiled code is warm, everything runs on one thread unless said.
"""

import argparse
import subprocess
import sys
import time

import numpy as np
import ot
from measured import Line, peak_megabytes, print_lines
from pyod.models.knn import KNN
from pyod.models.pca import PCA
from rich.console import Console
from rich.progress import track
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from ctad import CTAD, CalibratedDetector, RelaxedCTAD
from ctad.transport import RowTransport

MEMORY_ROWS, MEMORY_COLUMNS = 10_000_000, 21


class Problem:
    """Rows, references and k-means centroids; one row in four is three times as far out."""

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
        """POT, given the finished cost matrix of each row."""
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


def seconds(*functions, repeats=5):
    """The best time of each function; they take turns, so that noise hits all alike."""
    best = [np.inf] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def against_loop(ratio, wanted, what):
    return Line(f"{what}: times faster than emd2", f"≥ {wanted}", f"{ratio:.0f}", ratio >= wanted)


def against_cdist(ratio, wanted, what):
    return Line(
        f"{what}: time over that of cdist", f"≤ {wanted:.1f}", f"{ratio:.2f}", ratio <= wanted
    )


def many_rows(n_rows):
    problem = Problem(n_rows, 21, 5, 20)
    transport, rows, centroids = problem.prepare(), problem.rows, problem.centroids
    one, two, distances = seconds(
        lambda: transport.solve_points(rows, centroids),
        lambda: transport.solve_points(rows, centroids, n_threads=2),
        lambda: cdist(rows, centroids),
    )
    what = "K=5, M=20, D=21"
    yield against_loop(problem.loop_seconds_per_row() / (one / n_rows), 500, what)
    yield against_cdist(one / distances, 1.5, what)
    yield against_cdist(two / distances, 1.0, f"{what}, 2 threads")


def many_columns(n_rows):
    problem = Problem(n_rows, 100, 5, 20)
    transport, rows, centroids = problem.prepare(), problem.rows, problem.centroids
    one, distances = seconds(
        lambda: transport.solve_points(rows, centroids), lambda: cdist(rows, centroids)
    )
    yield against_cdist(one / distances, 1.0, "K=5, M=20, D=100")


def many_centroids(k, m, wanted):
    problem = Problem(10_000, 21, k, m)
    [ours] = seconds(lambda: problem.prepare().solve_points(problem.rows, problem.centroids))
    ratio = problem.loop_seconds_per_row() * len(problem.rows) / ours
    yield against_loop(ratio, wanted, f"K={k}, M={m}, with preparation")


def growth(largest):
    problem = Problem(largest, 21, 5, 20)
    rows = problem.rows.astype(np.float32)
    transport = problem.prepare()
    sizes = [n for n in (10**4, 10**5, 10**6, 10**7) if n <= largest]
    times = [
        seconds(lambda n=n: transport.solve_points(rows[:n], problem.centroids), repeats=3)[0]
        for n in sizes
    ]
    slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    yield Line(
        f"growth of time, {sizes[0]:,} to {sizes[-1]:,} rows",
        "≈ 1",
        f"{slope:.2f}",
        0.9 <= slope <= 1.1,
    )


def recommended(n_rows):
    """RelaxedCTAD against the cheapest pass, and against a detector that it is added to."""
    random = np.random.default_rng(0)
    train, rows = random.standard_normal((2, n_rows, 20))
    relaxed, knn = RelaxedCTAD(random_state=0), KNN()
    [fit], [fit_knn] = (seconds(lambda m=m: m.fit(train), repeats=1) for m in (relaxed, knn))
    plain = CTAD(random_state=0).fit(train)
    one_pass, relaxed_pass = seconds(lambda: plain.delta(rows), lambda: relaxed.delta(rows))
    [score_knn] = seconds(lambda: knn.decision_function(rows), repeats=1)
    for what, ratio, wanted in (
        ("scoring, over one pass of K=5, M=20", relaxed_pass / one_pass, 10),
        ("scoring, over that of PyOD's KNN", relaxed_pass / score_knn, 1),
        ("fitting, over that of PyOD's KNN", fit / fit_knn, 1),
    ):
        yield Line(f"recommended: {what}", f"≤ {wanted}", f"{ratio:.2g}", ratio <= wanted)


def explaining(n_rows):
    """Explanations as a data frame, against scoring, with a detector that costs little itself."""
    random = np.random.default_rng(0)
    train, rows = random.standard_normal((2, n_rows, 20))
    detector = CalibratedDetector(PCA(), random_state=0).fit(train)
    scoring, explaining = seconds(
        lambda: detector.anomaly_score(rows), lambda: detector.explain(rows).to_frame()
    )
    ratio = explaining / scoring
    yield Line("explaining rows, over scoring them", "≤ 5", f"{ratio:.2g}", ratio <= 5)


def memory(n_rows):
    megabytes = float(
        subprocess.run(
            [sys.executable, __file__, "--memory-of", str(n_rows)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    )
    yield Line(
        f"{n_rows:,} x {MEMORY_COLUMNS} float32: MB beyond in- and output",
        "< 300",
        f"{megabytes:.0f}",
        megabytes < 300,
    )


def measure_memory(n_rows):
    """CTAD: `calibrate` needs what `delta` needs, and more."""
    random = np.random.default_rng(0)
    train = random.standard_normal((5000, MEMORY_COLUMNS), np.float32)
    calibrator = CTAD(score_scaling="standard", random_state=0)
    calibrator.fit(train, scores=train[:, 0])
    rows = np.empty((n_rows, MEMORY_COLUMNS), np.float32)
    random.standard_normal(out=rows, dtype=np.float32)
    scores = random.standard_normal(n_rows)
    before = peak_megabytes()
    calibrated = calibrator.calibrate(scores, rows)
    print(peak_megabytes() - before - calibrated.nbytes / 2**20)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rows, to try it out")
    parser.add_argument("--memory-of", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory_of:
        measure_memory(arguments.memory_of)
        return
    scale = 100 if arguments.quick else 1
    small = 10**5 // (20 if arguments.quick else 1)
    parts = [
        lambda: many_rows(10**6 // scale),
        lambda: many_columns(10**6 // scale),
        lambda: many_centroids(20, 40, 10),
        lambda: many_centroids(50, 100, 5),
        lambda: many_centroids(50, 99, 100),
        lambda: recommended(small),
        lambda: explaining(small),
        lambda: growth(10**7 // scale),
        lambda: memory(MEMORY_ROWS // scale),
    ]
    console = Console()
    Problem(10, 2, 5, 20).loop_seconds_per_row(5)  # compile
    Problem(10, 2, 20, 40).loop_seconds_per_row(5)
    Problem(10, 2, 5, 20).prepare().solve_points(np.ones((2, 2)), np.ones((5, 2)))
    lines = [line for part in track(parts, "Measuring", console=console) for line in part()]
    all_hold = print_lines("Transport engine, RelaxedCTAD, explanations", lines, console)
    console.print(f"Rows: {10**6 // scale:,}; with preparation of the engine: 10,000.")
    # With fewer rows, what is done once weighs more: then the ratios are only a trial.
    sys.exit(0 if all_hold or arguments.quick else 1)


if __name__ == "__main__":
    main()
