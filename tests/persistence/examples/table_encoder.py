"""Encoders of tables with columns of all kinds."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa

from ctad.tables import TableEncoder

from ...tables.frames import EVERY_KIND
from . import Example

ROW = np.arange(60)
TABLE = pd.DataFrame(
    {
        "length": np.sin(ROW) + ROW % 3,
        "width": np.where(ROW % 7 == 3, np.nan, np.cos(2 * ROW)),
        "count": (ROW * 7) % 11,
        "colour": np.where(ROW == 5, "odd", np.array(["red", "green", "blue"])[ROW % 3]),
        "shape": np.where(ROW % 5 == 0, None, "round"),
        "open": ROW % 4 == 1,
        "known": np.where(ROW % 3 == 0, None, ROW % 2 == 0),
        "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(ROW * 7, unit="h"),
        "at": [dt.time(int(i) % 24, 30) for i in ROW],
        "number": ROW,
        "constant": 1.0,
    }
)
NEW = TABLE[::7].assign(colour="new")
ALL_KINDS = pa.concat_tables([EVERY_KIND] * 3)
RARE = pd.DataFrame({"a": ["x", "y"] * 20 + ["z", None], "b": [True, False, None] * 14})


def encoder(name, table, new, **parameters):
    return Example(
        "ctad.tables.TableEncoder", lambda: TableEncoder(**parameters).fit(table), new, name
    )


EXAMPLES = [
    encoder("", TABLE, NEW),
    encoder("of scaled numbers", TABLE[["length", "day"]], NEW, scaling="standard", ignore=["day"]),
    encoder("of numbers", TABLE[["length", "count"]], NEW),
    encoder(
        "with rare text", TABLE[["colour", "number"]], NEW, keep=("number",), min_frequency=0.2
    ),
    encoder("of Arrow", ALL_KINDS, EVERY_KIND),
    encoder("not scaled", ALL_KINDS, EVERY_KIND, scaling=None),
    encoder("of times alone", ALL_KINDS.select(["clock", "moment"]), EVERY_KIND),
    encoder("of rare text and flags", RARE, pd.DataFrame({"a": ["new", "x"], "b": [True, None]})),
    encoder("of text alone", RARE[["a"]], RARE, min_frequency=0.2),
]
