"""The study of how close detectors come to the paper's numbers."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("pandas")

import pandas as pd
from studies.fidelity.__main__ import PAPER_RESULTS, RESULTS, main
from studies.fidelity.docs_page import generated_lines
from studies.fidelity.settings import DETECTORS, plans
from studies.fidelity.tables import Runs, best_by_labels, position
from studies.paper.protocol import FIRST_HALF

from ctad.datasets import read_dataset
from ctad.detectors import make
from ctad.evaluation import Plan, Results, Source, measure, run

ROOT = Path(__file__).parents[2]


def test_the_page_is_generated_from_the_stored_results():
    generated = "\n".join(generated_lines(Runs.of(PAPER_RESULTS, RESULTS)))
    assert generated in (ROOT / "docs" / "fidelity.md").read_text()


def test_the_runs_are_defaults_and_changed_options():
    defaults, *changed = plans([f"table {n}" for n in range(30)])
    names = {entry.contestant.name for entry in defaults.entries}
    assert names == {f"{name} defaults" for name in DETECTORS if name != "DTE"}
    assert {len(plan.datasets) for plan in changed} == {30, 22, 10}
    names = {entry.contestant.name for plan in changed for entry in plan.entries}
    assert names > {
        "DRL defaults, shuffle=False",
        "DRL defaults, learning_rate=0.01",
        "DRL defaults, epochs=5, scaling='none'",
        "ICL defaults, batch_size=3000, max_steps=None",
    }
    assert all(entry.protocol is FIRST_HALF for entry in defaults.entries)


def test_runs_are_on_the_first_half_and_are_not_repeated(tmp_path, in_this_process):
    random = np.random.default_rng(0)
    X = np.vstack([random.normal(size=(101, 3)), random.normal(3, 1, size=(20, 3))])
    order = random.permutation(len(X))
    np.savez(tmp_path / "mine.npz", X=X[order], y=(np.arange(121) > 100)[order])
    _, changed = plans(["mine"], detectors=["DRL"], seeds=[1])
    entries = [e for e in changed.entries if e.contestant.name == "DRL defaults, epochs=5"]
    plan = Plan(changed.datasets, tuple(entries))

    results = run(plan, tmp_path / "results", Source(tmp_path))
    [(cell, outcome)] = results.cells.rows().items()
    assert (cell.protocol, cell.seed) == ("first half", 1)
    split = FIRST_HALF.split(read_dataset(tmp_path / "mine.npz"), seed=0)
    detector = make("DRL", epochs=5, random_state=1).fit(split.train)
    expected = measure(detector.decision_function(split.test), split.anomalous)
    # Up to the order in which threads add.
    assert outcome.auc_pr == pytest.approx(expected.auc_pr, abs=0.02)

    before = results.cells.csv_path.read_bytes()
    run(plan, tmp_path / "results", Source(tmp_path))
    assert results.cells.csv_path.read_bytes() == before


def test_a_folder_without_data_sets_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="no data sets"):
        main(["--data-dir", str(tmp_path)])


def test_a_folder_of_data_sets_is_required(monkeypatch, capsys):
    monkeypatch.delenv("CTAD_DATA_DIR", raising=False)
    with pytest.raises(SystemExit):
        main([])
    assert "--data-dir" in capsys.readouterr().err


def test_nothing_is_missing_in_the_stored_results():
    planned = {
        (dataset, entry.contestant.name, seed)
        for plan in plans(Runs.of(RESULTS).datasets)
        for entry in plan.entries
        for dataset in plan.datasets
        for seed in entry.seeds
    }
    stored = {(cell.dataset, cell.detector, cell.seed) for cell in Results(RESULTS).cells.rows()}
    assert stored == planned


def test_a_printed_number_is_inside_our_range_with_a_tolerance():
    ranges = pd.DataFrame({"min": 0.5, "max": 0.6, "complete": [True] * 4 + [False]})
    printed = pd.Series([0.4990, 0.4994, 0.6006, 0.6010, 0.9])
    assert list(position(ranges, printed)) == ["below", "inside", "inside", "above", ""]


def test_the_best_setting_is_chosen_by_the_same_or_by_the_other_seeds():
    index = pd.MultiIndex.from_product([["wine"], [0, 1, 2]], names=["dataset", "seed"])
    lucky_once, steady = pd.Series([0.9, 0.1, 0.1], index), pd.Series([0.3, 0.3, 0.3], index)
    found = best_by_labels([lucky_once, steady])
    assert list(found["of the same seeds"]) == [0.9, 0.1, 0.1]
    assert list(found["of the other seeds"]) == [0.3, 0.1, 0.1]
