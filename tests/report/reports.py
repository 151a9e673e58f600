"""Reports on a real model and table."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest

from ctad import RelaxedCTAD
from ctad._result_types import ScoreParts
from ctad.wrapper import CalibratedDetector, report_content

MALICIOUS_NAMES = {
    "worst area": "<script>alert(1)</script>",
    "worst radius": '"><img src=x onerror=alert(2)>',
    "worst perimeter": "</script><!-- \u2028 & <b>bold</b>",
    "area error": '<a href="javascript:alert(3)">amount</a>',
    "mean concavity": "&lt;i&gt; %{x} " + "a very long name " * 8,
    "worst concave points": "$x^2$",
}


MALICIOUS_TEXT = "</title></script><script>alert(1)</script><img src=x onerror=alert(2)>"


@cache
def cancer():
    """Benign samples are normal: some for training, half of these held out; the others are new."""
    X, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    normal = X[benign == 1].sample(frac=1, random_state=0)
    new = pd.concat([normal[290:], X[benign == 0][:40]])
    labels = np.arange(len(new)) >= len(new) - 40
    shuffled = np.random.default_rng(1).permutation(len(new))
    return normal[:290], new.iloc[shuffled], labels[shuffled]


def report_on(train, new, labels):
    detector = CalibratedDetector(
        IsolationForest(n_estimators=20),
        RelaxedCTAD(training="normal"),
        holdout=0.5,
        random_state=0,
    )
    report = report_content(detector.fit(train), new.reset_index(drop=True), labels)
    return replace(report, notices=["This is an example."])


@cache
def cancer_report():
    """A report with all sections."""
    return report_on(*cancer())


def malicious_report():
    """A report whose texts try to be code."""
    train, new, labels = cancer()
    names, text = MALICIOUS_NAMES, MALICIOUS_TEXT
    report = report_on(train.rename(columns=names), new.rename(columns=names), labels)
    return replace(
        report,
        title=text,
        facts={text: text},
        reproduce=text,
        notices=[text],
        drift=replace(report.drift, text=text),
        projection=replace(report.projection, axis_names=(text, "\ud800 half a character")),
    )


def bare_report(report):
    """The report without labels and without normal rows held out."""
    alerts = [
        replace(alert, p_value=None, is_selected=None, is_anomaly=None) for alert in report.alerts
    ]
    return replace(
        report,
        scores=replace(report.scores, p_value=None),
        normal_scores=None,
        selected=None,
        labels=None,
        alerts=alerts,
        moved_up=[],
        moved_down=[],
        drift=None,
        notices=(),
    )


def first_rows(report, n):
    """The report on the first rows only, without alerts and centroids."""
    scores = report.scores
    return replace(
        report,
        scores=ScoreParts(*(part[:n] for part in vars(scores).values())),
        selected=report.selected[:n],
        labels=report.labels[:n],
        alerts=[],
        moved_up=[],
        moved_down=[],
        projection=replace(
            report.projection,
            new=report.projection.new[:n],
            new_rows=np.arange(n),
            centroids=np.empty((0, 2)),
        ),
    )


@cache
def large_report(rows=20_000):
    """A report on many rows, some of them with infinite scores."""
    train, new, labels = cancer()
    random = np.random.default_rng(0)
    chosen = random.integers(len(new), size=rows)
    noise = 1 + random.normal(scale=0.1, size=(rows, new.shape[1]))
    report = report_on(train, new.iloc[chosen] * noise, labels[chosen])
    score = report.scores.score.copy()
    score[:3] = np.inf
    return replace(report, scores=replace(report.scores, score=score))
