"""Faults of a sensor: a line camera that passes over the same scene again and again.

The scene is a photo in scikit-learn. Each pass reads 80 lines of 8 zones in red, green and blue.
The detector is trained on four passes. In three of the next four passes something breaks: `predict`
finds faulty lines, `monitor` detects drift.
"""

import argparse
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_sample_image
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score

from ctad import CalibratedDetector

PASSES = {"fine": 0, "stuck": 80, "jumps": 160, "blue fades": 240}  # name and first line
COLUMNS = [f"{colour} {zone}" for colour in ("red", "green", "blue") for zone in range(1, 9)]


def readings():
    """Four passes for training, four new ones, and which lines of these are faulty."""
    random = np.random.default_rng(0)
    # Brightness of 640 lines, in 8 zones of 53 pixels each.
    photo = load_sample_image("china.jpg")[:424] / 255
    lines = photo.reshape(8, 53, 640, 3).mean(axis=1).transpose(1, 2, 0).reshape(640, 24)
    # The camera never stops at the same places: each pass reads one of 8 neighbouring lines.
    stops = random.permuted(np.arange(640).reshape(80, 8), axis=1).T.ravel()
    known, new = (pd.DataFrame(half, columns=COLUMNS) for half in np.split(lines[stops], 2))

    new.loc[100:129, "green 3"] = new.loc[100, "green 3"]
    jumps = 160 + random.choice(80, 10, replace=False)
    for line in jumps:
        new.loc[line, random.choice(COLUMNS)] = random.choice([0.0, 1.0])
    new.loc[240:, "blue 1":"blue 8"] *= np.linspace(1, 0.7, 80)[:, np.newaxis]
    fault = np.isin(np.arange(320), [*range(100, 130), *jumps, *range(240, 320)])
    return known, new, fault


def picture(new, fault, alarms, scores, path):
    figure, axes = plt.subplots(3, figsize=(9.6, 5.2), sharex=True, layout="constrained")
    seen = new.to_numpy().reshape(320, 3, 8).transpose(2, 0, 1)
    axes[0].imshow(seen, aspect="auto", interpolation="nearest", extent=(-0.5, 319.5, 8.5, 0.5))
    axes[0].set_ylabel("zone seen")
    for name, start in PASSES.items():
        axes[0].text(start + 40, 0, name, ha="center", fontsize=12)
    for axis, (name, score) in zip(axes[1:], scores.items(), strict=True):
        for line in np.flatnonzero(fault):
            axis.axvspan(line - 0.5, line + 0.5, color="#ffcc99", linewidth=0)
        axis.plot(score, color="black", linewidth=1)
        axis.set_ylabel(f"score {name}")
    axes[2].plot(np.flatnonzero(alarms), scores["after"][alarms], ".", color="#0066aa", ms=9)
    axes[2].set(xlabel="line (shaded: faulty; dots: alarms)", xlim=(-0.5, 319.5))
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="sensors.png", help="picture")
    output = parser.parse_args().output

    known, new, fault = readings()
    detector = CalibratedDetector(IsolationForest(), holdout=0.3, random_state=0).fit(known)
    scores = {"before": detector.base_score(new), "after": detector.anomaly_score(new)}
    for name, score in scores.items():
        precision, area = average_precision_score(fault, score), roc_auc_score(fault, score)
        print(f"{name:6}  AUC-PR {precision:.3f}  AUC-ROC {area:.3f}")

    alarms = detector.predict(new, alarm_rate=0.02) == 1  # one normal line in fifty, on average
    for name, start in PASSES.items():
        now = slice(start, start + 80)
        true = (alarms & fault)[now].sum()
        print(f"\n{name}: {fault[now].sum()} of 80 lines are faulty.")
        print(f"Alarms: {true} true, {alarms[now].sum() - true} false.")
        with warnings.catch_warnings(action="ignore"):  # drift is also a warning
            print(detector.monitor(new[now]).text)
    picture(new, fault, alarms, scores, output)
    print(f"\nPicture: {output}")


if __name__ == "__main__":
    main()
