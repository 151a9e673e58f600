"""Reports of real models, with the parts that explain them computed in simple ways."""

from dataclasses import replace
from functools import cache

import numpy as np
from scipy.stats import false_discovery_control, ks_2samp, rankdata
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest

from ctad import CalibratedDetector
from ctad.report import Alert, Drift, Fit, Plane, Reason, Report, Scores

EVIL = {
    "worst area": "<script>alert(1)</script>",
    "worst radius": '"><img src=x onerror=alert(2)>',
    "worst perimeter": "</script><!-- \u2028 & <b>bold</b>",
    "area error": '<a href="javascript:alert(3)">amount</a>',
    "mean concavity": "&lt;i&gt; %{x} $x^2$ " + "a very long name " * 8,
}


@cache
def cancer():
    """Benign samples are normal; half of them train, a quarter is held out, the rest is new."""
    bunch = load_breast_cancer()
    benign = bunch.data[bunch.target == 1]
    benign = benign[np.random.default_rng(0).permutation(len(benign))]
    train, held, rest = np.split(benign, [140, 290])
    new = np.vstack([rest, bunch.data[bunch.target == 0][:40]])
    detector = CalibratedDetector(IsolationForest(n_estimators=50), random_state=0).fit(train)
    labels = np.arange(len(new)) >= len(rest)
    shuffled = np.random.default_rng(1).permutation(len(new))
    names = [str(name) for name in bunch.feature_names]
    return detector, train, held, new[shuffled], labels[shuffled], names


def p_values_of(new, held):
    at_least = len(held) - np.searchsorted(np.sort(held), new)
    return (1 + at_least) / (1 + len(held))


def alerts_of(rows, scores, p_values, selected, labels, explain):
    ranks = rankdata(-scores.score, method="ordinal")
    base_ranks = rankdata(-scores.base_score, method="ordinal")
    return [
        Alert(
            row=int(row),
            base_score=scores.base_score[row],
            delta=scores.delta[row],
            base_part=scores.score[row] - scores.delta[row],
            delta_part=scores.delta[row],
            score=scores.score[row],
            rank=int(ranks[row]),
            base_rank=int(base_ranks[row]),
            p_value=None if p_values is None else p_values[row],
            is_selected=None if selected is None else bool(selected[row]),
            is_anomaly=None if labels is None else bool(labels[row]),
            reasons=explain(row),
            text=f"Row {row} is far from usual.\nIts nearest training rows are 3, 14, 15.",
        )
        for row in rows
    ]


def cancer_report(names=None):
    """A report with all there is; `names` gives columns other names."""
    detector, train, held, new, labels, columns = cancer()
    columns = [(names or {}).get(name, name) for name in columns]
    scores, normal = Scores(*detector.scored(new)), Scores(*detector.scored(held))
    p_values = p_values_of(scores.score, normal.score)
    selected = false_discovery_control(p_values) <= 0.05
    low, high = np.percentile(train, [10, 90], axis=0)

    def explain(row):
        far = np.abs(new[row] - train.mean(axis=0)) / train.std(axis=0)
        return [
            Reason(
                columns[c],
                f"{new[row, c]:.4g}",
                f"{low[c]:.4g} to {high[c]:.4g}",
                far[c] / far.sum(),
            )
            for c in np.argsort(-far)[:5]
        ]

    ranks, base_ranks = rankdata(-scores.score), rankdata(-scores.base_score)
    by_move = np.argsort(ranks - base_ranks)
    parts = (scores, p_values, selected, labels, explain)
    tests = [ks_2samp(train[:, c], new[:, c]) for c in range(len(columns))]
    adjusted = false_discovery_control([test.pvalue for test in tests])
    drifts = [
        Drift(name, test.statistic, p, bool(p < 0.05))
        for name, test, p in zip(columns, tests, adjusted, strict=True)
    ]
    drifts.sort(key=lambda drift: -drift.statistic)
    spread = train.std(axis=0)
    plane = PCA(2).fit(train / spread)
    return Report(
        title="IsolationForest, calibrated",
        facts={
            "detector": "IsolationForest(n_estimators=50)",
            "calibration": "CTAD, preset recommended",
            "training rows": f"{len(train):,}",
            "normal rows held out": f"{len(held):,}",
            "columns": f"{len(columns):,}",
        },
        reproduce="import ctad\n\ndet = ctad.load('model.ctad')\ndet.report(X, y)",
        scores=scores,
        normal=normal,
        p_values=p_values,
        selected=selected,
        fdr=0.05,
        labels=labels,
        alerts=alerts_of(np.argsort(-scores.score)[:60], *parts),
        moved_up=alerts_of(by_move[:8], *parts),
        moved_down=alerts_of(by_move[::-1][:8], *parts),
        fit=Fit(
            still_fits=False,
            p_value=0.0004,
            error=0.01,
            drifts=drifts,
            text=f"The model does not fit any more, because of {drifts[0].column} and others.",
        ),
        plane=Plane(
            plane.transform(train / spread),
            plane.transform(new / spread),
            np.arange(len(new)),
            plane.transform(train[:20] / spread),
            tuple(plane.explained_variance_ratio_),
            tuple(
                ", ".join(columns[c] for c in np.argsort(-np.abs(v))[:2]) for v in plane.components_
            ),
        ),
        notices=["These numbers are of an example."],
    )


def bare(report):
    """The report without labels, normal rows, and what follows from them."""
    alerts = [
        alert._replace(p_value=None, is_selected=None, is_anomaly=None) for alert in report.alerts
    ]
    return replace(
        report,
        normal=None,
        p_values=None,
        selected=None,
        labels=None,
        alerts=alerts,
        moved_up=[],
        moved_down=[],
        fit=None,
        notices=(),
    )


def large_report(rows=100_000):
    """The report again, as if of many rows, some of them with endless scores."""
    small = cancer_report()
    random = np.random.default_rng(0)
    chosen = random.integers(len(small.scores.score), size=rows)
    base, delta = (part[chosen] + random.normal(scale=0.02, size=rows) for part in small.scores[:2])
    score = base + delta + np.where(random.random(rows) < 0.01, random.pareto(0.5, rows), 0)
    score[:3] = np.inf
    scores = Scores(base, delta, score)
    normal = Scores(*(np.resize(part, 20_000) for part in small.normal))
    p_values = p_values_of(score, normal.score)
    selected = false_discovery_control(p_values) <= 0.05
    labels = small.labels[chosen]

    def explain(row):
        return [Reason(f"column {c}", f"{c}.25", "0 to 1", 1 / (c + 1)) for c in range(1, 9)]

    points = small.plane.new[chosen] + random.normal(scale=0.3, size=(rows, 2))
    return replace(
        small,
        scores=scores,
        normal=normal,
        p_values=p_values,
        selected=selected,
        labels=labels,
        alerts=alerts_of(np.argsort(-score)[:300], scores, p_values, selected, labels, explain),
        fit=small.fit._replace(
            drifts=[Drift(f"column {c}", 1 / (c + 1), c / 400, c < 20) for c in range(400)]
        ),
        plane=small.plane._replace(
            new=points,
            new_rows=np.arange(rows),
            normal=random.normal(size=(50_000, 2)),
            centroids=random.normal(size=(500, 2)),
        ),
    )
