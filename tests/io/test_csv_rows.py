"""CSV text cut into blocks of whole rows."""

import csv
import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctad.io import CsvDialect
from ctad.io._csv_rows import LongRowError, OpenQuoteError, blocks_of_rows


def rows_of(text):
    return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=";") if row]


@given(
    rows=st.lists(st.lists(st.text('ab";\n\r,', max_size=5), min_size=1, max_size=4), max_size=6),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    cuts=st.lists(st.integers(0, 100), max_size=6),
)
def test_no_row_is_in_two_blocks(rows, line_end, cuts):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=";", lineterminator=line_end).writerows(rows)
    text = out.getvalue()
    borders = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[start:end].encode() for start, end in pairwise(borders)]
    blocks = [block.decode() for block in blocks_of_rows(pieces, CsvDialect(delimiter=";"), 1000)]
    assert "".join(blocks) == text
    assert not any(a.endswith("\r") and b.startswith("\n") for a, b in pairwise(blocks))
    assert [row for block in blocks for row in rows_of(block)] == rows_of(text)


def test_a_quote_within_a_field_is_not_special():
    text = b"5\" pipe;x\ny;'tis\n"
    for quote in "\"'":
        dialect = CsvDialect(delimiter=";", quote=quote)
        if quote == '"':
            assert list(blocks_of_rows([text], dialect, 100)) == [text]
        else:
            with pytest.raises(OpenQuoteError, match="tis"):
                list(blocks_of_rows([text], dialect, 100))


def test_a_long_row():
    with pytest.raises(LongRowError):
        list(blocks_of_rows([b"a;b\n", b"12;", b"34567"], CsvDialect(), 6))
