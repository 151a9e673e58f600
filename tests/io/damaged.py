"""Damaged files are read and scored: `python -m tests.io.damaged FIRST LAST FOLDER`.

Prints how often each result occurred, as JSON. A crash of pyarrow ends the process.
"""

import json
import random
import sys
import warnings
from collections import Counter
from datetime import time
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq

from ctad.errors import InputError
from ctad.io import ReadOptions, TableError, find_tables, score_file
from ctad.tables import TableEncoder

from .files import read
from .models import mixed, model

N_ROWS = 50
TARGETS = ("csv", "parquet", "arrow", "arrows")


def of_many_types():
    """The columns of the model, and one of every type that files have."""
    random_ = np.random.default_rng(0)
    sizes = random_.integers(0, 4, N_ROWS).tolist()
    table = mixed(N_ROWS)
    for name, values, type_ in (
        ("category", ["ab"[size % 2] * size for size in sizes], pa.string()),
        ("list", [[1] * size for size in sizes], pa.list_(pa.int64())),
        ("texts", [["a"] * size for size in sizes], pa.large_list(pa.string())),
        ("struct", [{"p": size, "q": "z" * size} for size in sizes], None),
        ("map", [[("k", size)] for size in sizes], pa.map_(pa.string(), pa.int64())),
        ("pair", [[1, 2]] * N_ROWS, pa.list_(pa.int32(), 2)),
        ("decimal", [Decimal(size) / 10 for size in sizes], pa.decimal128(9, 2)),
        ("time", [time(size) for size in sizes], pa.time32("s")),
        ("zoned", sizes, pa.timestamp("us", "Europe/Berlin")),
        ("duration", sizes, pa.duration("ms")),
        ("bytes", [b"\xff" * size for size in sizes], pa.binary()),
        ("fixed", [b"four"] * N_ROWS, pa.binary(4)),
        ("large", ["s" * size for size in sizes], pa.large_string()),
        ("half", random_.normal(size=N_ROWS).astype(np.float16), None),
        ("flag", [None if size == 0 else size > 1 for size in sizes], pa.bool_()),
        ("nothing", [None] * N_ROWS, pa.null()),
    ):
        table = table.append_column(name, pa.array(values, type_))
    categories = table["category"].combine_chunks().dictionary_encode()
    return table.set_column(table.schema.get_field_index("category"), "category", categories)


def small_files():
    """Undamaged files of all formats and encodings."""
    table, plain = of_many_types(), mixed(N_ROWS)
    views = pa.array(["w" * (i % 30) for i in range(N_ROWS)], pa.string_view())
    tables = {"plain": plain, "typed": table, "views": plain.append_column("view", views)}
    files = {}
    for name, rows in tables.items():
        for compression in (None, "lz4", "zstd"):
            options = pa.ipc.IpcWriteOptions(compression=compression)
            for suffix, new in (("arrow", pa.ipc.new_file), ("arrows", pa.ipc.new_stream)):
                out = pa.BufferOutputStream()
                with new(out, rows.schema, options=options) as writer:
                    writer.write_table(rows, max_chunksize=20)
                files[f"{name}-{compression}.{suffix}"] = out.getvalue().to_pybytes()
    out = pa.BufferOutputStream()
    pa.feather.write_feather(plain.to_pandas(), out)
    files["pandas.feather"] = out.getvalue().to_pybytes()
    for number, options in enumerate(
        (
            {"use_dictionary": False, "compression": "none"},
            {"compression": "none", "row_group_size": 20},
            {"compression": "snappy", "data_page_size": 64, "write_batch_size": 10},
            {"compression": "zstd", "data_page_version": "2.0"},
            {"compression": "gzip", "write_page_checksum": True, "write_page_index": True},
            {
                **{"compression": "none", "use_dictionary": False, "data_page_version": "2.0"},
                "column_encoding": {
                    **{"id": "DELTA_BYTE_ARRAY", "length": "BYTE_STREAM_SPLIT"},
                    **{"color": "DELTA_LENGTH_BYTE_ARRAY", "day": "DELTA_BINARY_PACKED"},
                },
            },
        )
    ):
        out = pa.BufferOutputStream()
        rows = plain if "column_encoding" in options else table.drop_columns(["half"])
        pq.write_table(rows, out, **options)
        files[f"{number}.parquet"] = out.getvalue().to_pybytes()
    return files


def damaged(content, rng):
    """Bits flipped, bytes and numbers replaced, parts copied, removed or added, or the end lost."""
    data = bytearray(content)
    places = [rng.randrange(len(data)) for _ in range(rng.choice([1, 1, 1, 2, 3, 8]))]
    size = rng.randrange(1, 64)
    match rng.randrange(10):
        case 0 | 1 | 2 | 3:
            for place in places:
                data[place] ^= 1 << rng.randrange(8)
        case 4 | 5:
            for place in places:
                data[place] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        case 6 | 7:
            for place in places:
                width = rng.choice([2, 4, 8])
                number = rng.choice([0, 1, -1, 2 ** (8 * width - 1) - 1, rng.getrandbits(15)])
                data[place : place + width] = number.to_bytes(width, "little", signed=True)
        case 8:
            data[places[0] : places[0] + size] = data[places[-1] : places[-1] + size]
        case 9:
            del data[places[0] : rng.choice([len(data), places[0] + size])]
    return bytes(data)


def result(path, rng):
    """Read and score a file: "scores", "encoded", or the error."""
    try:
        if rng.random() < 0.7:
            target = path.with_name(f"scored.{rng.choice(TARGETS)}")
            options = ReadOptions(rng.choice([None, 7, 20, 33]))
            score_file(model(), find_tables(path)[0], target, options)
            return "scores"
        table = read(path)
    except TableError as error:
        message = str(error)
        is_clear = str(path.parent) in message and len(message) < 1000 and message.isprintable()
        return "error" if is_clear else f"unclear error: {message[:1000]!r}"
    try:
        TableEncoder().fit(table)
    except InputError:
        return "not encoded"
    return "encoded"


def main(first, last, folder):
    """Damage, read and score files, each in the same way for the same number."""
    warnings.simplefilter("ignore")
    files = small_files()
    results = Counter()
    for number in range(first, last):
        rng = random.Random(number)
        name = rng.choice(sorted(files))
        path = Path(folder, "damaged").with_suffix(Path(name).suffix)
        path.write_bytes(damaged(files[name], rng))
        print(number, name, file=sys.stderr)  # the last line says which file was a crash
        results[result(path, rng)] += 1
    print(json.dumps(results))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
