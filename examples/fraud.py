"""Fraud in a table of text and numbers: cheap wine sold as Barolo.

178 bottles (a data set in scikit-learn): 13 measurements each, and the label as text. The detector
is trained on genuine bottles. 12 of the other bottles contain a cheaper wine than the label says:
each value is usual on its own, but the combination is not.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split

from ctad import CalibratedDetector


def bottles():
    """Genuine bottles for training, new bottles with true labels, and which of these are forged."""
    wine = load_wine(as_frame=True)
    names = np.array(["Barolo", "Grignolino", "Barbera"])  # the three wines of the data set
    table = wine.data.assign(label=names[wine.target])
    genuine, new = train_test_split(table, test_size=0.4, random_state=0)
    cheap = np.flatnonzero(new["label"] != "Barolo")
    fraud = np.isin(np.arange(len(new)), np.random.default_rng(0).choice(cheap, 12, replace=False))
    return genuine, new, fraud


def picture(new, fraud, alerts, scores, path):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained")
    x, y = new["flavanoids"], new["proline"]
    for label, style, colour in (
        ("Grignolino", "s", "#66ccbb"),
        ("Barbera", "^", "#ddaa33"),
        ("Barolo", "o", "#332288"),
    ):
        says = new["label"] == label
        left.plot(x[says], y[says], style, color=colour, label=f"label says {label}")
    left.plot(x[fraud], y[fraud], "wx", markersize=5)
    left.plot(x[alerts], y[alerts], "ko", markersize=12, fillstyle="none", label="alert")
    left.set(xlabel="flavanoids", ylabel="proline", title="Bottles to check (white cross: fraud)")
    left.legend()

    for (name, score), style in zip(scores.items(), ("--", "-"), strict=True):
        found = np.cumsum(fraud[np.argsort(-score)])
        right.plot(range(len(new) + 1), [0, *found], style, color="#332288", label=name)
    right.set(xlabel="bottles opened, most unusual first", ylabel="frauds found")
    right.set(title="Frauds found by opening bottles")
    right.grid(alpha=0.3)
    right.legend()
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="fraud.png", help="picture")
    output = parser.parse_args().output

    genuine, true, fraud = bottles()
    new = true.assign(label=true["label"].mask(fraud, "Barolo"))
    detector = CalibratedDetector(IsolationForest(), holdout=0.3, random_state=0).fit(genuine)
    scores = {"before": detector.base_score(new), "after": detector.anomaly_score(new)}
    print(f"{len(genuine)} genuine bottles for training, {fraud.sum()} frauds in {len(new)} new.")
    for name, score in scores.items():
        precision, area = average_precision_score(fraud, score), roc_auc_score(fraud, score)
        print(f"{name:6}  AUC-PR {precision:.3f}  AUC-ROC {area:.3f}")

    # On average at most one in ten genuine bottles is an alert.
    alerts = detector.predict(new, alarm_rate=0.1) == 1
    print(f"{alerts.sum()} alerts, {fraud[alerts].sum()} of them are fraud.")
    with_true_label = detector.predict(true[fraud], alarm_rate=0.1).sum()
    print(f"With the true label, {with_true_label} of the {fraud.sum()} would be an alert.")
    print("\nWhy the first Barolo among the alerts was flagged:")
    print(detector.explain(new[alerts & (new["label"] == "Barolo")]).text(0))
    picture(new, fraud, alerts, scores, output)
    print(f"\nPicture: {output}")


if __name__ == "__main__":
    main()
