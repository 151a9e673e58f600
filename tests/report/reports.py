"""Reports of a real model and table."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest

from ctad.wrapper import CalibratedDetector, report_content

EVIL = {
    "worst area": "<script>alert(1)</script>",
    "worst radius": '"><img src=x onerror=alert(2)>',
    "worst perimeter": "</script><!-- \u2028 & <b>bold</b>",
    "area error": '<a href="javascript:alert(3)">amount</a>',
    "mean concavity": "&lt;i&gt; %{x} " + "a very long name " * 8,
    "worst concave points": "$x^2$",
}


@cache
def cancer():
    """Benign samples are normal; some of them train, some are held out, the rest is new."""
    X, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    normal = X[benign == 1].sample(frac=1, random_state=0)
    new = pd.concat([normal[290:], X[benign == 0][:40]])
    labels = np.arange(len(new)) >= len(new) - 40
    shuffled = np.random.default_rng(1).permutation(len(new))
    return normal[:290], new.iloc[shuffled], labels[shuffled]


def report_of(train, new, labels):
    detector = CalibratedDetector(IsolationForest(n_estimators=50), holdout=0.5, random_state=0)
    report = report_content(detector.fit(train), new.reset_index(drop=True), labels)
    return replace(report, notices=["These numbers are of an example."])


@cache
def cancer_report(evil=False):
    """A report with all there is; or with columns whose names want to be code."""
    train, new, labels = cancer()
    names = EVIL if evil else {}
    return report_of(train.rename(columns=names), new.rename(columns=names), labels)


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
    """A report of many rows, some of them with endless scores."""
    train, new, labels = cancer()
    random = np.random.default_rng(0)
    chosen = random.integers(len(new), size=rows)
    noise = 1 + random.normal(scale=0.1, size=(rows, new.shape[1]))
    report = report_of(train, new.iloc[chosen] * noise, labels[chosen])
    score = report.scores.score.copy()
    score[:3] = np.inf
    return replace(report, scores=report.scores._replace(score=score))
