"""Scores from a model in another language: a rule in SQL, calibrated.

The rule counts how many of the 30 measurements of a cell sample (the breast cancer data in
scikit-learn) are more than three standard deviations from the mean of benign samples. SQLite
computes it. Calibration needs only the scores and the table, in Python or on the command line.
"""

import argparse
import sqlite3
from contextlib import closing
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score
from sklearn.model_selection import train_test_split

from ctad import RelaxedCTAD

RULE = """
WITH usual AS (
    SELECT measure, avg(value) AS mean, avg(value * value) - avg(value) * avg(value) AS variance
    FROM train GROUP BY measure
)
SELECT sample, sum((value - mean) * (value - mean) > 9 * variance) AS score
FROM {table} JOIN usual USING (measure) GROUP BY sample
"""


def score_by_rule(database, name, table):
    """Write the rows to the database and read their scores back."""
    long = table.melt(var_name="measure", ignore_index=False)
    long.to_sql(name, database, index_label="sample")
    scores = pd.read_sql(RULE.format(table=name), database, index_col="sample")
    return scores["score"].loc[table.index].to_numpy()  # SQL does not keep the order


def picture(malignant, before, after, path):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.6), layout="constrained")
    left.set(title="Calibration separates rows with equal scores")
    left.set(xlabel="score before: unusual measurements", ylabel="score after")
    left.set(xticks=range(0, 21, 5), yscale="asinh")
    # Many scores are equal: spread their points.
    beside = before + np.random.default_rng(0).uniform(-0.3, 0.3, len(before))
    left.plot(beside[~malignant], after[~malignant], "o", color="#77aadd", ms=4, label="benign")
    left.plot(beside[malignant], after[malignant], "^", color="#882255", ms=4, label="malignant")
    left.legend()
    for score, style, name in ((before, "--", "before"), (after, "-", "after")):
        precision, recall, _ = precision_recall_curve(malignant, score)
        right.step(recall, precision, style, color="#332288", where="post", label=name)
    right.set(xlabel="recall", ylabel="precision", ylim=(0.5, 1.01), title="Precision and recall")
    right.legend(loc="lower left")
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default="other_models.png", help="picture")
    output = parser.parse_args().output

    X, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_rest = train_test_split(X[benign == 1], test_size=0.5, random_state=0)
    X_new = pd.concat([X_rest, X[benign == 0]])
    malignant = np.arange(len(X_new)) >= len(X_rest)
    with closing(sqlite3.connect(":memory:")) as database:
        train_scores = score_by_rule(database, "train", X_train)
        scores = score_by_rule(database, "new", X_new)

    calibrator = RelaxedCTAD(random_state=0).fit(X_train, scores=train_scores)
    calibrated = calibrator.calibrate(scores, X_new)
    zeros = (scores[malignant] == 0).sum()
    print(f"The rule gives a score of 0 to {zeros} of {malignant.sum()} malignant samples.")
    for name, score in (("before", scores), ("after", calibrated)):
        precision, area = average_precision_score(malignant, score), roc_auc_score(malignant, score)
        print(f"{name:6}  AUC-PR {precision:.3f}  AUC-ROC {area:.3f}")
    picture(malignant, scores, calibrated, output)
    print(f"Picture: {output}")

    train, new = output.with_name("cells_train.csv"), output.with_name("cells_new.csv")
    X_train.assign(score=train_scores).to_csv(train, index=False)
    X_new.assign(score=scores, malignant=malignant).to_csv(new, index=False)
    print(f"The same without Python:\nctad calibrate {train} {new} -o calibrated.csv")


if __name__ == "__main__":
    main()
