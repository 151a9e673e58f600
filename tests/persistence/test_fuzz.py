"""A model file that was altered at random loads, or is refused with ModelFileError."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .mutations import load_or_refuse, resigned, valid_files

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return valid_files(tmp_path_factory.mktemp("fuzz"))


flips = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(1, 255)), max_size=4)
spans = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 200), st.binary(max_size=50)), max_size=3
)


@settings(max_examples=150)
@given(st.integers(0, 8), flips, spans, st.none() | st.tuples(st.integers(0, 8), st.floats(0, 1)))
def test_altered_bytes(files, number, flipped, replaced, spliced):
    content = bytearray(files[number].read_bytes())
    for place, value in flipped:
        content[int(place * len(content))] ^= value
    for place, length, new in replaced:
        start = int(place * len(content))
        content[start : start + length] = new
    if spliced is not None:
        other, share = spliced
        tail = files[other].read_bytes()
        content = content[: int(share * len(content))] + tail[int(share * len(tail)) :]
    altered = files[0].with_name("altered.ctad")
    altered.write_bytes(content)
    load_or_refuse(altered)


@settings(max_examples=40)
@given(st.integers(0, 8), st.integers(0, 2**32))
def test_altered_contents_with_right_checksums(files, number, seed):
    altered = files[0].with_name("altered.ctad")
    resigned(files[number], altered, random.Random(seed))
    load_or_refuse(altered)


@pytest.mark.slow
def test_models_from_altered_files_do_not_crash_the_process(files):
    """In a process of its own; its last line on stderr names the seed of the file."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.persistence.mutations", files[0].parent, "150"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 0
