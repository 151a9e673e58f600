"""Data sets: stored values, hashes, and input that is refused."""

import hashlib
from dataclasses import FrozenInstanceError

import numpy as np
import pyarrow as pa
import pytest

from ctad.datasets import Dataset

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
Y = np.array([0, 1])
TABLE = pa.table({"n": [1.5, None], "t": ["a", "b"]})


def test_numbers_become_floats_and_labels_booleans():
    dataset = Dataset("a", X.astype(np.int8)[:, ::-1], [[0.0], [1.0]])
    assert (dataset.X.dtype, dataset.y.dtype) == (np.float64, bool)
    np.testing.assert_array_equal(dataset.X, X[:, ::-1])
    assert dataset.y.tolist() == [False, True]
    assert dataset.n_anomalies == 1
    with pytest.raises(FrozenInstanceError):
        dataset.name = "b"


def test_the_hash_covers_shape_values_and_labels():
    bytes_ = np.array([2, 3], "<i8").tobytes() + X.astype("<f8").tobytes() + b"\x00\x01"
    assert Dataset("a", X, Y).sha256 == hashlib.sha256(bytes_).hexdigest()


@pytest.mark.parametrize(
    "same",
    [X.astype(np.float32), X.astype(">f8"), np.asfortranarray(X), X.astype(np.uint8), X.tolist()],
)
def test_the_hash_does_not_depend_on_the_type_of_the_numbers(same):
    assert Dataset("b", same, Y == 1).sha256 == Dataset("a", X, Y).sha256


def test_the_hash_of_minus_zero_is_that_of_zero():
    assert Dataset("a", [[0.0], [1.0]], Y).sha256 == Dataset("a", [[-0.0], [1.0]], Y).sha256


@pytest.mark.parametrize("other", [(X + 1e-12, Y), (X, 1 - Y), (X[:, :2], Y)])
def test_different_values_have_different_hashes(other):
    assert Dataset("a", *other).sha256 != Dataset("a", X, Y).sha256


def test_the_hash_of_a_table_covers_its_values_only():
    pieces = pa.concat_tables([TABLE[:1], TABLE[1:]]).replace_schema_metadata({"by": "us"})
    assert Dataset("a", TABLE, Y).sha256 == Dataset("a", pieces, Y).sha256
    assert Dataset("a", TABLE, Y).sha256 != Dataset("a", TABLE, 1 - Y).sha256
    assert Dataset("a", TABLE, Y).sha256 != Dataset("a", TABLE[::-1], Y).sha256


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (X, [0, 0], "0 of 2 rows are labelled anomalous"),
        (X, [1, 1], "2 of 2 rows are labelled anomalous"),
        (X, [0, 2], "y must be 0 and 1 or False and True"),
        (X, [0, np.nan], "y must be 0 and 1 or False and True"),
        (X, ["0", "1"], "y must be 0 and 1 or False and True"),
        (X, [0, 1, 1], r"a label for each of the 2 rows, got shape \(3,\)"),
        (X, [[0, 1], [1, 0]], r"got shape \(2, 2\)"),
        (X[0], [0, 1], r"X must have rows and columns, got shape \(3,\)"),
        (X[:, :0], Y, "X must have rows and columns"),
        (TABLE[:0], [], "X must have rows and columns"),
        ([["a"], ["b"]], Y, "X must be numbers"),
        (X.astype(complex), Y, "X must be numbers, not of type complex"),
        (np.where(X == 2, np.nan, X), Y, r"1 in column 1 \(the first column is 0\)"),
        (np.where(X % 3 == 0, np.inf, X), Y, "NaN or infinite: 2 in column 2 "),
        (np.where(X > 1, -np.inf, X), Y, "1 in column 0, 2 in column 1, 2 in column 2 "),
        (pa.table({"n": [1.0, np.inf]}), Y, "column 'n' has 1 infinite values"),
    ],
)
def test_wrong_rows_and_labels_are_refused(rows, labels, message):
    with pytest.raises(ValueError, match=message):
        Dataset("a", rows, labels)
