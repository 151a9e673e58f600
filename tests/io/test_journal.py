"""The journal of a folder, which may be damaged, or come from somebody else."""

import json
import os
import random

import pytest

from ctad.errors import InputError
from ctad.io import TableFile
from ctad.io._journal import JOURNAL, MAX_BYTES, MAX_VALUES, Journal

from ..mutations import mutated

MADE_BY = {"model_sha256": "ab" * 32, "encoding": None, "delimiter": ";"}
SIZES = {"input_bytes": 1, "input_mtime_ns": 2, "output_bytes": 3}
ENTRY = {**MADE_BY, **SIZES}


@pytest.fixture
def source(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    for folder in ("in", "out"):
        (tmp_path / folder / "a.csv").write_text("x\n1\n")
    return TableFile(tmp_path / "in" / "a.csv", "a.csv", "csv")


@pytest.fixture
def out(tmp_path, source):
    return tmp_path / "out"


def test_what_is_recorded_is_finished_for_the_next_run(out, source):
    journal = Journal(out, MADE_BY)
    assert not journal.is_finished(source)
    journal.add(source, journal.entry(source))
    assert Journal(out, MADE_BY).is_finished(source)
    assert not Journal(out, {**MADE_BY, "delimiter": None}).is_finished(source)


BAD = {
    "nothing": "",
    "half": "{",
    "a list": "[1]",
    "a number": "3",
    "no JSON number": '{"a.csv": NaN}',
    "nested too deep": "[" * 100_000,
    "a number of 5000 digits": "9" * 5000,
    "not UTF-8": b"\xff\xfe\xff",
    "no entry": {"a.csv": 1},
    "a value too few": {"a.csv": SIZES},
    "a value too many": {"a.csv": {**ENTRY, "more": 1}},
    "a size that is text": {"a.csv": {**ENTRY, "output_bytes": "3"}},
    "a size that is a float": {"a.csv": {**ENTRY, "output_bytes": 3.0}},
    "a size that is true": {"a.csv": {**ENTRY, "output_bytes": True}},
    "a huge size": {"a.csv": {**ENTRY, "input_bytes": 2**63}},
    "options that are a list": {"a.csv": {**ENTRY, "encoding": []}},
    "a file outside": {"../../x.csv": ENTRY},
    "a file outside, in the middle": {"a/../../x.csv": ENTRY},
    "an absolute path": {"/etc/x.csv": ENTRY},
    "no name": {"": ENTRY},
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_journal_is_refused_and_kept(out, source, what):
    content = BAD[what]
    if isinstance(content, dict):
        content = json.dumps(content)
    content = content if isinstance(content, bytes) else content.encode()
    (out / JOURNAL).write_bytes(content)
    with pytest.raises(InputError, match=r"\.ctad-scored\.json is damaged .*: delete it, and all"):
        Journal(out, MADE_BY)
    assert (out / JOURNAL).read_bytes() == content


def test_a_huge_journal_is_refused_unread(out, source):
    with (out / JOURNAL).open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError, match=r"scored\.json has more than 67,108,864 bytes"):
        Journal(out, MADE_BY)


@pytest.mark.parametrize("value", ["{}", "[]", "1"])
def test_a_journal_of_very_many_values_is_refused_before_they_are_made(out, source, value):
    (out / JOURNAL).write_text(f'{{"a.csv": [{",".join([value] * MAX_VALUES)}]}}')
    with pytest.raises(InputError, match=r"is damaged \(it has too many values\): delete it"):
        Journal(out, MADE_BY)


def test_links_out_of_the_folder_are_refused(tmp_path, out, source):
    elsewhere = tmp_path / "elsewhere.json"
    (out / JOURNAL).symlink_to(elsewhere)
    for content in (None, json.dumps({"a.csv": ENTRY})):
        if content is not None:
            elsewhere.write_text(content)
        with pytest.raises(InputError, match="leads out of its folder: delete the link"):
            Journal(out, MADE_BY)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(out, source):
    os.mkfifo(out / JOURNAL)
    with pytest.raises(InputError, match=r"scored\.json is not a file: delete it"):
        Journal(out, MADE_BY)


def test_random_damage_is_refused_or_harmless(out, source):
    whole = json.dumps({f"part-{i}.csv": ENTRY for i in range(3)}, indent=1).encode()
    chance = random.Random(0)
    messages = []
    for _ in range(500):
        (out / JOURNAL).write_bytes(mutated(whole, chance))
        try:
            journal = Journal(out, MADE_BY)
        except InputError as error:
            messages.append(str(error))
        else:
            assert not journal.is_finished(source)
    assert 300 < len(messages) < 500
    assert all(str(out / JOURNAL) in message and message.isprintable() for message in messages)
