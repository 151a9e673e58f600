"""After a kill at any moment, the old file or the complete new file exists."""

import json
import random

import pytest

from ctad.io import find_tables

from . import killed
from .files import one, write
from .models import mixed

pytestmark = pytest.mark.slow

KILLS = 12


def test_a_file_is_the_old_or_the_new_one(tmp_path):
    source, target = tmp_path / "a.parquet", tmp_path / "b.csv.gz"
    write(source, mixed(600))
    sources = [one(source)]
    killed.run(sources, target)
    new = target.read_bytes()
    seconds = killed.run(sources, target)

    moments = random.Random(0)
    found = []
    for _ in range(KILLS):
        target.write_bytes(b"old")
        killed.run(sources, target, seconds=moments.uniform(0, 1.1 * seconds))
        found.append(target.read_bytes())
    assert set(found) <= {b"old", new}
    assert b"old" in found

    killed.run(sources, target)
    assert target.read_bytes() == new
    assert sorted(tmp_path.iterdir()) == [source, target]


def test_a_folder_goes_on_where_it_was_killed(tmp_path):
    folder, target = tmp_path / "in", tmp_path / "out"
    for i, suffix in enumerate(["parquet", "csv", "csv.gz", "arrow", "csv", "parquet"]):
        (folder / str(i % 2)).mkdir(parents=True, exist_ok=True)
        write(folder / str(i % 2) / f"{i}.{suffix}", mixed(100, seed=i))
    sources = find_tables(folder)
    whole = tmp_path / "whole"
    seconds = killed.run(sources, whole, folder=True)
    new = {file.name: file.path.read_bytes() for file in find_tables(whole)}
    assert len(new) == 6

    moments = random.Random(0)
    finished_runs = 0
    recorded = {}
    for _ in range(KILLS):
        out = target / str(finished_runs)
        killed.run(sources, out, folder=True, seconds=moments.uniform(0, seconds / 2))
        files = {name: out / name for name in new if (out / name).exists()}
        assert all(path.read_bytes() == new[name] for name, path in files.items())
        times = {name: path.stat().st_mtime_ns for name, path in files.items()}
        assert recorded.items() <= times.items()  # none lost, none scored twice
        journal = out / ".ctad-scored.json"
        names = json.loads(journal.read_text()) if journal.exists() else {}
        recorded = {name: times[name] for name in names}
        if len(recorded) == len(new):
            finished_runs, recorded = finished_runs + 1, {}
    assert finished_runs or recorded

    out = target / "last"
    killed.run(sources, out, folder=True, seconds=seconds / 2)
    killed.run(sources, out, folder=True)
    left = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert left == {".ctad-scored.json", *new}
