"""Embeddings: pictures of classes that a network was not trained on.

A small network is trained to classify the digits 0 to 4 (pictures in scikit-learn). The activations
of its hidden layer are the embedding, 32 features. Detectors are trained on embeddings of 0 to 4
and must find 5 to 9.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from pyod.models.knn import KNN
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from ctad import CalibratedDetector


def picture(digits, unknown, scores, path):
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 2.8), layout="constrained")
    figure.supxlabel("red frames: digits 0 to 4, which are normal", fontsize="medium")
    for axis, (name, score) in zip(axes, scores.items(), strict=True):
        top = np.argsort(-score)[:40]
        tiles = np.pad(digits[top].reshape(4, 10, 8, 8), ((0, 0), (0, 0), (1, 1), (1, 1)))
        axis.imshow(tiles.swapaxes(1, 2).reshape(40, 100), cmap="gray_r")
        for row, column in np.argwhere(~unknown[top].reshape(4, 10)) * 10:
            axis.add_patch(plt.Rectangle((column, row), 9, 9, fill=False, ec="#cc3311", lw=2))
        axis.set_title(f"{name}: {unknown[top].sum()} of the 40 highest scores are 5 to 9")
        axis.set_axis_off()
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="embeddings.png", help="picture")
    output = parser.parse_args().output

    digits, kind = load_digits(return_X_y=True)
    X, new, kind, new_kind = train_test_split(digits / 16, kind, test_size=0.5, random_state=0)
    known, known_kind, unknown = X[kind < 5], kind[kind < 5], new_kind >= 5
    network = MLPClassifier(32, max_iter=500, random_state=0).fit(known, known_kind)

    def embed(pictures):
        return np.maximum(0, pictures @ network.coefs_[0] + network.intercepts_[0])

    print(f"{len(known)} pictures of 0 to 4 for training, {unknown.sum()} of 5 to 9 to find")
    print(f"among {len(new)}. AUC-ROC:")
    print("                 before   after")
    for detector in (KNN(), IsolationForest()):
        calibrated = CalibratedDetector(detector, random_state=0).fit(embed(known))
        scores = {
            "before": calibrated.base_score(embed(new)),
            "after": calibrated.anomaly_score(embed(new)),
        }
        areas = [roc_auc_score(unknown, score) for score in scores.values()]
        print(f"{type(detector).__name__:15}  {areas[0]:6.3f}  {areas[1]:6.3f}")
    uncertainty = 1 - network.predict_proba(new).max(axis=1)
    print(f"The network's own uncertainty: {roc_auc_score(unknown, uncertainty):.3f}")
    picture(new, unknown, scores, output)
    print(f"Picture (IsolationForest): {output}")


if __name__ == "__main__":
    main()
