"""A small table with a column of every kind, in each library."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa

EVERY_KIND = pa.table(
    {
        "whole": [3, None, 1, 2],
        "float": [1.5, None, 2.0, 4.0],
        "decimal": [Decimal("1.5"), None, Decimal("2.5"), Decimal("0.5")],
        "duration": [timedelta(hours=1), None, timedelta(1), timedelta(0)],
        "yes": [True, None, False, True],
        "text": ["a", None, "b", "a"],
        "category": pa.array(["x", None, "y", "y"]).dictionary_encode(),
        "day": [date(2020, 1, 1), None, date(2021, 1, 1), date(1969, 12, 31)],
        "moment": [datetime(2020, 1, 1, 12), None, datetime(2021, 1, 1), datetime(1960, 1, 1)],
        "instant": pa.array(
            [datetime(2020, 1, 1, 12, tzinfo=UTC), None, datetime(2021, 1, 1, tzinfo=UTC)] * 2
        )[:4].cast(pa.timestamp("us", tz="Europe/Berlin")),
        "clock": [time(12, 30), None, time(1), time(0, 0, 1)],
    }
)
KINDS = {
    "whole": "number",
    "float": "number",
    "decimal": "number",
    "duration": "number",
    "yes": "boolean",
    "text": "category",
    "category": "category",
    "day": "date",
    "moment": "date",
    "instant": "date with time zone",
    "clock": "time of day",
}
LIBRARIES = {
    "Arrow": lambda table: table,
    "polars": pl.from_arrow,
    "pandas": pa.Table.to_pandas,
    "pandas, nullable": lambda table: table.to_pandas().convert_dtypes(),
    "pandas of Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas of objects": lambda table: pd.DataFrame(
        {name: pd.Series(table[name].to_pylist(), dtype=object) for name in table.column_names}
    ),
}
