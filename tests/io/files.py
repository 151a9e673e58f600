"""Tables to write, and short ways to read and write them."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa

from ctad.io import ReadOptions, find_tables, open_table
from ctad.io._writer import create_table


def one(path):
    [file] = find_tables(path)
    return file


def read(path, **options):
    """All rows of a file."""
    with open_table(one(path), ReadOptions(**options)) as reader:
        return pa.Table.from_batches(
            [batch for table in reader for batch in table.to_batches()], reader.schema
        )


def dialect_of(path, **options):
    with open_table(one(path), ReadOptions(**options)) as reader:
        return reader.dialect


def write(path, *tables, **options):
    with create_table(path, **options) as writer:
        for table in tables:
            writer.write(table)


def of_all_types():
    """A table of the types that files other than CSV have, with missing values."""
    return pa.table(
        {
            "category": pa.array(["a", None, "b"]).dictionary_encode(),
            "list": [[1, 2], None, []],
            "struct": [{"x": 1.5, "y": "z"}, None, {"x": None, "y": ""}],
            "decimal": [Decimal("1.10"), None, Decimal("-0.01")],
            "zoned": pa.array([datetime(2024, 3, 31, tzinfo=UTC), None, None]).cast(
                pa.timestamp("ns", "Europe/Berlin")
            ),
            "day": [date(2024, 2, 29), None, date(1, 1, 1)],
            "small": pa.array([1, None, 3], pa.int8()),
            "single": pa.array([0.1, None, float("inf")], pa.float32()),
            "bytes": [b"\x00\xff", None, b""],
            "text": pa.array(["ä", None, "x\ny"], pa.large_string()),
            "nothing": pa.nulls(3),
        }
    ).replace_schema_metadata({"written by": "us"})
