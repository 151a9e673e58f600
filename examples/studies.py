"""Two labelled data sets that come with scikit-learn, as tables in a folder: `mine`."""

from pathlib import Path

from sklearn.datasets import load_breast_cancer, load_digits

folder = Path("mine")
folder.mkdir(exist_ok=True)

cells = load_breast_cancer(as_frame=True)
malignant = (cells.target == 0).astype(int)
table = cells.data.assign(y=malignant)
table.drop(table[malignant == 1].index[40:]).to_csv(folder / "cells.csv", index=False)

digits = load_digits(as_frame=True)
eight = (digits.target == 8).astype(int)
table = digits.data.assign(y=eight)
table.drop(table[eight == 1].index[40:]).to_csv(folder / "digits.csv", index=False)

print(*sorted(folder.iterdir()))
