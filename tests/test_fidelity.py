"""The networks with one setting for all data sets: resumable, and as the paper's protocol says."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ctad.datasets import read_dataset
from ctad.detectors import make
from ctad.evaluation import PROTOCOLS, Results, measure

ROOT = Path(__file__).parents[1]


def fidelity(folder, *arguments):
    places = ("--data", folder / "data", "--results", folder / "results")
    script = ROOT / "benchmarks" / "fidelity.py"
    subprocess.run(
        [sys.executable, script, *places, *arguments], check=True, capture_output=True, text=True
    )
    return Results(folder / "results").cells


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small table under the name of one that DRL has a published setting for."""
    folder = tmp_path_factory.mktemp("fidelity")
    (folder / "data").mkdir()
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(101, 3)), random.normal(3, 1, size=(20, 3))])
    order = random.permutation(len(X))
    np.savez(folder / "data" / "breastw.npz", X=X[order], y=(np.arange(121) > 100)[order])
    return folder


def test_runs_are_the_papers_protocol_and_are_not_repeated(folder):
    cells = fidelity(folder, "--detector", "DRL", "--seeds", "1", "--jobs", "1")
    rows = cells.rows()
    assert {cell.seed for cell in rows} == {1}
    assert {cell.detector for cell in rows} > {
        "DRL fixed",
        "DRL fixed, shuffle=False",
        "DRL fixed, learning_rate=0.01",
        "DRL fixed, epochs=5, scaling='none'",
    }
    split = PROTOCOLS["published"].split(read_dataset(folder / "data" / "breastw.npz"), seed=0)
    [changed] = [o for cell, o in rows.items() if "learning_rate" in cell.detector]
    detector = make("DRL", learning_rate=0.01, random_state=1).fit(split.train)
    expected = measure(detector.decision_function(split.test), split.anomalous)
    # Up to the order in which threads add.
    assert changed.auc_pr == pytest.approx(expected.auc_pr, abs=0.02)

    before = cells.path.read_bytes()
    assert fidelity(folder, "--detector", "DRL", "--seeds", "1").path.read_bytes() == before


def test_a_folder_without_data_sets_is_an_error(tmp_path):
    (tmp_path / "data").mkdir()
    with pytest.raises(subprocess.CalledProcessError) as refused:
        fidelity(tmp_path)
    assert "no data set" in refused.value.stderr.lower()
