"""A uniform random sample of many rows: the same seed gives the same sample."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from ctad.io import RowSample, TableError

from .files import of_all_types


def sample(table, size, seed, cuts=()):
    rows = RowSample(size, seed)
    borders = [0, *sorted(cuts), len(table)]
    for start, end in pairwise(borders):
        rows.add(table.slice(start, end - start))
    assert rows.n_seen == len(table)
    return rows.rows()


@given(
    size=st.integers(0, 60),
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(0, 500), max_size=20),
    n=st.integers(0, 500),
)
def test_the_sample_does_not_depend_on_the_batches(size, seed, cuts, n):
    table = pa.table({"row": range(n), "text": [str(i) for i in range(n)]})
    cuts = [min(cut, n) for cut in cuts]
    result = sample(table, size, seed, cuts)
    assert result.equals(sample(table, size, seed))
    rows = result["row"].to_pylist()
    assert rows == sorted(set(rows))  # in their order, none twice
    assert len(rows) == min(size, n)
    assert result["text"].to_pylist() == list(map(str, rows))


def test_all_rows_are_equally_likely():
    table = pa.table({"row": range(60)})
    counts = Counter()
    for seed in range(1500):
        counts.update(sample(table, 10, seed, [7, 30, 41])["row"].to_pylist())
    assert chisquare([counts[row] for row in range(60)]).pvalue > 1e-3


def test_all_pairs_of_rows_are_equally_likely():
    table = pa.table({"row": range(6)})
    counts = Counter()
    for seed in range(1500):
        counts[tuple(sample(table, 2, seed, [1, 2])["row"].to_pylist())] += 1
    assert len(counts) == 15
    assert chisquare(list(counts.values())).pvalue > 1e-3


def test_another_seed_gives_another_sample():
    table = pa.table({"row": range(1000)})
    assert not sample(table, 10, 0).equals(sample(table, 10, 1))


def test_few_rows_are_held_in_memory():
    reservoir = RowSample(100, 0)
    for start in range(0, 100_000, 50):
        reservoir.add(pa.table({"row": np.arange(start, start + 50)}))
        assert sum(map(len, reservoir._tables)) <= 2 * 100 + 50
    assert len(reservoir.rows()) == 100


def test_rows_can_be_added_after_the_sample_was_read():
    reservoir, table = RowSample(5, 0), pa.table({"row": range(100)})
    reservoir.add(table.slice(0, 50))
    reservoir.rows()
    reservoir.add(table.slice(50))
    assert reservoir.rows().equals(sample(table, 5, 0))


def test_all_types_and_metadata_are_kept():
    table = of_all_types()
    assert sample(table, 10, 0, [1, 2]).equals(table, check_metadata=True)


def test_types_with_a_common_type():
    reservoir = RowSample(10, 0)
    reservoir.add(
        pa.table({"n": [1], "empty": pa.nulls(1), "c": pa.array(["a"]).dictionary_encode()})
    )
    reservoir.add(pa.table({"empty": ["x"], "n": [2.5], "c": pa.array(["b"]).dictionary_encode()}))
    assert reservoir.rows().to_pylist() == [
        {"n": 1.0, "empty": None, "c": "a"},
        {"n": 2.5, "empty": "x", "c": "b"},
    ]


def test_the_common_type_does_not_depend_on_the_rows_in_the_sample():
    tables = [pa.table({"n": [1] * 50}), pa.table({"n": [2.5]})]
    for seed in range(5):
        reservoir = RowSample(1, seed)
        for table in tables:
            reservoir.add(table)
        assert reservoir.rows().schema.field("n").type == pa.float64()


def test_types_without_a_common_type():
    reservoir = RowSample(10, 0)
    reservoir.add(pa.table({"n": [1]}))
    with pytest.raises(TableError, match="column 'n' is int64 in one table and string in another"):
        reservoir.add(pa.table({"n": ["x"]}))
    with pytest.raises(TableError, match="column 'm' is in some of the tables only"):
        reservoir.add(pa.table({"n": [1], "m": [1]}))


def test_no_tables():
    with pytest.raises(TableError, match="no tables"):
        RowSample(10, 0).rows()
