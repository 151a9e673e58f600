"""Names, values and messages that are quoted."""

from ctad._quoting import MAX_CHARACTERS, listed, quoted, shortened


def test_messages_are_short_and_printable():
    assert shortened("a b\n c") == "a b c"
    assert shortened(ValueError("x\x00\ny")) == r"x\x00 y"
    assert shortened("ä" * MAX_CHARACTERS) == "ä" * MAX_CHARACTERS
    assert shortened("ä" * 10**6) == "ä" * MAX_CHARACTERS + "..."
    assert len(shortened("\0" * 10**6)) == MAX_CHARACTERS + 3


def test_quotes_are_short_and_printable():
    assert quoted("it's") == repr("it's")
    assert quoted("\x1b[31m") == r"'\x1b[31m'"
    assert quoted("x" * 10**6) == "'" + "x" * MAX_CHARACTERS + "...'"


def test_lists_are_short():
    assert listed([]) == ""
    assert listed(["a", "b"]) == "a, b"
    assert listed(map(str, range(21))).endswith("18, 19 and 1 more")
