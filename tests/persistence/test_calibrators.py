"""Calibrators in model files: everything they compute, and files with large transport problems."""

import json
import os
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from ctad import CTAD, RelaxedCTAD, load
from ctad.calibration import Draw
from ctad.errors import InputError
from ctad.persistence import ModelFileError
from ctad.persistence._arrays import array_to_bytes
from ctad.persistence._reader import OBJECT_WORK, PER_LEVEL

from .examples import X_NEW, X_TRAIN
from .examples.calibrators import EXAMPLES
from .files import contents, sign
from .stored import restore, store

ROOT = Path(__file__).parents[2]


def assert_same_parts(first, second):
    """Assert that nested results are equal to the last bit."""
    for field in fields(first):
        ours, theirs = getattr(first, field.name), getattr(second, field.name)
        if isinstance(ours, np.ndarray):
            np.testing.assert_array_equal(ours, theirs, err_msg=field.name)
        else:
            assert_same_parts(ours, theirs)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_everything_is_the_same_to_the_last_bit(example):
    calibrator = example.made()
    again = restore(*store(calibrator))
    rows = X_NEW if example.rows is None else example.rows
    assert_same_parts(again.delta_parts(rows), calibrator.delta_parts(rows))
    for ours, theirs in zip(again.reference_points(), calibrator.reference_points(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert again.score_scaling_ == calibrator.score_scaling_
    if calibrator.score_scaling_ is not None:
        scores = np.arange(len(rows), dtype=float)
        np.testing.assert_array_equal(
            again.calibrate(scores, rows), calibrator.calibrate(scores, rows)
        )
    new = np.asarray(rows, dtype=float)
    for ours, theirs in zip(
        getattr(again, "draws_", ()), getattr(calibrator, "draws_", ()), strict=True
    ):
        first, second = (draw.with_references(new[:5]).solve(new) for draw in (ours, theirs))
        np.testing.assert_array_equal(first.total, second.total)


def large_model(n_centroids, n_references, target="uniform", solved=None):
    """A calibrator in one dimension, as data: JSON and entries.

    Without a state its transport is solved here.
    """
    small = CTAD(2, 3, target="free", random_state=0).fit(X_TRAIN[:, :1])
    random = np.random.default_rng(0)
    references, centroids = random.normal(size=(n_references, 1)), np.zeros((n_centroids, 1))
    if solved is None:
        of_small = small.draws_[0]
        small.set_params(target=target if isinstance(target, str) else "sizes")
        drawn = Draw.solved(references, centroids, np.ones(n_centroids), of_small.scaling, target)
        small.set_draws([drawn], "total")
        return store(small)
    stored, entries = store(small)
    [draw] = stored["fitted"]["draws"]
    arrays = {"references": references, "centroids": centroids, "radius": np.ones(n_centroids)}
    for name, values in arrays.items():
        entries[draw[name]["array"]] = array_to_bytes(values)
    stored["parameters"]["target"] = draw["target"] = target
    draw["transport"] = dict(solved)
    for number, (name, value) in enumerate(solved.items()):
        if isinstance(value, np.ndarray):
            entries[f"arrays/{1000 + number}.npy"] = array_to_bytes(value)
            draw["transport"][name] = {"array": f"arrays/{1000 + number}.npy"}
    return stored, entries


def large_wide_view(n_centroids):
    """A calibrator in one dimension whose wide view has many centroids, as data."""
    small = RelaxedCTAD(2, 3, random_state=0).fit(X_TRAIN[:, :1], scores=X_TRAIN[:, 0])
    stored, entries = store(small)
    [draw] = stored["fitted"]["wide_draws"]
    entries[draw["centroids"]["array"]] = array_to_bytes(np.zeros((n_centroids, 1)))
    for values in (draw["radius"], draw["transport"]["capacity"]):
        entries[values["array"]] = array_to_bytes(np.ones(n_centroids))
    return stored, entries


def one_mass(k):
    masses = np.zeros(k, dtype=np.int64)
    masses[[3, -1]] = 1
    return masses


# What becomes of files with many centroids and references.
LARGE = {
    "a table of 16000": (
        lambda: large_model(16_000, 16_001, solved={"values": np.zeros(16_001)}),
        "too many states for a table",
    ),
    "a table of 16000 with one unit": (
        lambda: large_model(16_000, 15_999, solved={"values": np.zeros(16_001)}),
        "too many states for a table",
    ),
    "no table": (lambda: large_model(16_000, 16_001, solved={}), "missing"),
    "a cost of 16000": (
        lambda: large_model(16_000, 16_001, solved={"reference_cost": 1.0}),
        "keys of a state",
    ),
    "costs of one reference": (
        lambda: large_model(
            16_000,
            16_001,
            solved={
                "costs": np.zeros((1, 16_000)),
                "placed": np.zeros((16_000, 1), dtype=np.int64),
                "potential": np.zeros(16_000),
            },
        ),
        "a length",
    ),
    # 750 units, and up to 2.5e9 operations for a row
    "a long search": (lambda: large_model(1500, 1), "scoring a row may take"),
    "a large table": (lambda: large_model(4095, 4094, solved={"values": np.zeros(4096)}), None),
    "all free": (
        lambda: large_model(16_000, 16_001, "free", solved={"reference_cost": 1.0}),
        None,
    ),
    # All pairs of centroids are compared, and a row takes as long as 64.
    "a wide view of 4000": (lambda: large_wide_view(4000), "scoring a row may take"),
    "a wide view of 3900": (lambda: large_wide_view(3900), None),
    "little mass": (lambda: large_model(16_000, 1, one_mass(16_000)), None),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """All files, opened in one child process in limited memory and time."""
    folder = tmp_path_factory.mktemp("large")
    CTAD(2, 3, random_state=0).fit(X_TRAIN[:, :1]).save(folder / "0.ctad")
    manifest, _ = contents(folder / "0.ctad")
    for name, (make, _) in LARGE.items():
        stored, entries = make()
        sign(folder / f"{name}.ctad", {**manifest, "model": stored}, entries)
        assert (folder / f"{name}.ctad").stat().st_size < 10**6
    done = subprocess.run(
        [sys.executable, "-m", "tests.persistence.opening", str(folder)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return dict(zip(lines[::2], lines[1::2], strict=True))


@pytest.mark.parametrize("name", LARGE)
def test_large_problems_take_neither_time_nor_memory(outcomes, name):
    message = LARGE[name][1]
    assert outcomes["0"]["name"] == "scored"
    if message is None:
        assert outcomes[name]["name"] == "scored"
    else:
        assert outcomes[name]["name"] == "refused"
        assert message in outcomes[name]["message"]


@pytest.mark.parametrize(
    ("calibrator", "changed"),
    [
        (CTAD(2, 3), {"target": "free"}),
        (CTAD(2, 3), {"signal": "own"}),
        (CTAD(2, 3), {"n_draws": 2}),
        (RelaxedCTAD(2, 3), {"n_draws": 2}),
        (RelaxedCTAD(2, 3), {"training": "normal"}),
        (RelaxedCTAD(2, 3, training="normal"), {"training": "mixed"}),
    ],
    ids=str,
)
def test_parameters_are_those_of_the_fit(calibrator, changed, tmp_path):
    calibrator = clone(calibrator).fit(X_TRAIN).set_params(**changed)
    with pytest.raises(InputError, match=f"{next(iter(changed))}: not"):
        calibrator.save(tmp_path / "model.ctad")


@pytest.mark.parametrize(
    "parameters",
    [
        {"mass_share": 5e-324},
        {"mass_share": 1e-9, "n_references": 1},
        {"mass_share": np.nextafter(1, 0)},
        {"trimmed": 0},
        {"trimmed": np.nextafter(1, 0)},
    ],
    ids=str,
)
def test_extreme_parameters_can_be_saved(parameters, tmp_path):
    calibrator = RelaxedCTAD(random_state=0, **parameters).fit(X_TRAIN, scores=X_TRAIN[:, 0])
    calibrator.save(tmp_path / "model.ctad")
    again = load(tmp_path / "model.ctad")
    np.testing.assert_array_equal(again.delta(X_NEW), calibrator.delta(X_NEW))
    assert again.get_params() == calibrator.get_params()


def test_the_work_of_a_search_is_limited(tmp_path):
    calibrator = CTAD(12, 21, n_draws=2, random_state=0).fit(X_TRAIN)
    work = sum(draw.transport.work for draw in calibrator.draws_) + OBJECT_WORK * PER_LEVEL
    calibrator.save(tmp_path / "model.ctad")
    size = (tmp_path / "model.ctad").stat().st_size
    assert load(tmp_path / "model.ctad", max_work=work + size)
    with pytest.raises(ModelFileError, match="max_work"):
        load(tmp_path / "model.ctad", max_work=work - 1)


def test_nothing_is_solved_or_clustered_when_loading(tmp_path, monkeypatch):
    paths = []
    for calibrator in (
        CTAD(random_state=0),
        CTAD(12, 21, random_state=0),
        RelaxedCTAD(random_state=0),
        RelaxedCTAD(training="normal", random_state=0),
    ):
        paths.append(tmp_path / f"{len(paths)}.ctad")
        calibrator.fit(X_TRAIN).save(paths[-1])

    def refuse(*arguments):
        raise AssertionError("called when loading")

    for name in (
        *("place_references", "values_of_states", "find_moves", "table_of_values"),
        "place_rows_by_search",
    ):
        monkeypatch.setattr(f"ctad.transport._row_transport.{name}", refuse)
    for name in ("_draw.find_centroids", "_views.find_centroids"):
        monkeypatch.setattr(f"ctad.calibration.{name}", refuse)
    for name in ("_draw.euclidean_costs", "_views.euclidean_costs"):
        monkeypatch.setattr(f"ctad.calibration.{name}", refuse)
    assert [load(path) for path in paths]
