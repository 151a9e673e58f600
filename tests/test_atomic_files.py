"""Files are replaced in one step: complete or not at all."""

import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from ctad._atomic_files import check_replaceable, replacing

WRITER = """
import sys, time
from pathlib import Path
from ctad._atomic_files import replacing

target = Path(sys.argv[1])
number = 0
while True:
    number += 1
    with replacing(target) as part, part.open("w") as file:
        for _ in range(50):
            file.write(f"{number:06d}\\n")
            file.flush()
    print(number, flush=True)
"""


def parts(folder):
    return sorted(path.name for path in folder.glob(".*.part"))


def write(path, text):
    with replacing(path) as part:
        part.write_text(text)


def write_half(path, error):
    with replacing(path) as part:
        part.write_text("half")
        raise error


def test_a_new_file_exists_when_the_block_ends(tmp_path):
    target = tmp_path / "model.ctad"
    with replacing(target) as part:
        part.write_text("new")
        assert part.parent == tmp_path
        assert not target.exists()
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_file(tmp_path, error):
    target = tmp_path / "model.ctad"
    write(target, "old")
    with pytest.raises(error):
        write_half(target, error)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_new_file_has_the_permissions_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "new", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444])
def test_an_existing_file_keeps_its_permissions(tmp_path, mode):
    target = tmp_path / "old"
    target.write_text("old")
    target.chmod(mode)
    with replacing(target) as part:
        assert stat.S_IMODE(part.stat().st_mode) & ~stat.S_IWUSR & ~mode == 0
        part.write_text("new")
    assert target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_path_that_cannot_be_replaced_is_refused_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folder .*nowhere does not exist"):
        write(tmp_path / "nowhere" / "file", "x")
    for what in (tmp_path, "/dev/null"):
        for attempt in (check_replaceable, lambda path: write(path, "x")):
            with pytest.raises(OSError, match="not a file that can be replaced"):
                attempt(what)


def test_parts_of_dead_writers_are_removed_and_other_files_stay(tmp_path):
    others = [".a.notes.part", ".a.b.01234567.part", ".[a].01234567.part"]
    for name in [*others, ".a.01234567.part"]:
        (tmp_path / name).write_text("left behind")
    with replacing(tmp_path / "a") as first:
        first.write_text("first")
        write(tmp_path / "a", "second")  # while the first is still being written
        assert parts(tmp_path) == sorted([*others, first.name])
    assert (tmp_path / "a").read_text() == "first"
    assert parts(tmp_path) == sorted(others)


def test_a_part_removed_before_it_was_locked_is_created_again(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    lock, removed = fcntl.flock, []

    def removed_as_stale_once(descriptor, how):
        if not removed:
            removed.extend(tmp_path.glob(".*.part"))
            removed[0].unlink()
        lock(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", removed_as_stale_once)
    write(tmp_path / "a", "x")
    assert len(removed) == 1
    assert (tmp_path / "a").read_text() == "x"


def test_without_locks_no_part_is_removed_as_stale(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    (tmp_path / ".a.01234567.part").write_text("perhaps in use")
    write(tmp_path / "a", "x")
    assert (tmp_path / "a").read_text() == "x"
    assert parts(tmp_path) == [".a.01234567.part"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_writer_leaves_a_complete_file(tmp_path):
    target = tmp_path / "table"
    for attempt in range(5):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE
        )
        writer.stdout.readline()
        time.sleep(0.002 * attempt)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        lines = target.read_text().split()
        assert len(lines) == 50
        assert len(set(lines)) == 1
        assert len(parts(tmp_path)) <= 1
    write(target, "new")
    assert parts(tmp_path) == []


def test_a_name_may_have_the_maximal_length(tmp_path):
    target = tmp_path / ("x" * 250 + ".ctad")
    write(target, "new")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]
