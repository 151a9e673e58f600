"""What a Parquet file says about its compression.

pyarrow ends the process if it is asked for an unknown compression, so this reads the footer itself:
a structure of Thrift's compact protocol, described in parquet.thrift of apache/parquet-format.
"""

from __future__ import annotations

import struct
from typing import Any

MAGIC = b"PAR1"
MAX_BYTES = 2**20  # of a footer; ours have a few thousand
MAX_DEPTH = 10  # of a footer of ours: 6
# Fields: FileMetaData.row_groups, RowGroup.columns, ColumnChunk.meta_data, ColumnMetaData.codec
ROW_GROUPS, COLUMNS, META_DATA, CODEC = 4, 1, 3, 4
UNCOMPRESSED = 0


def is_compressed(content: bytes) -> bool:
    """Whether a part of a Parquet file is compressed; ValueError if the footer is damaged."""
    (size,) = struct.unpack("<I", content[-8:-4])
    if content[-4:] != MAGIC or size + 12 > len(content) or size > MAX_BYTES:
        raise ValueError("not a Parquet file")
    try:
        footer = _Reader(content[-8 - size : -8]).structure(0)
        chunks = [chunk for group in footer[ROW_GROUPS] for chunk in group[COLUMNS]]
        return any(chunk[META_DATA][CODEC] != UNCOMPRESSED for chunk in chunks)
    except (IndexError, KeyError, TypeError) as error:
        raise ValueError("damaged footer") from error


class _Reader:
    """Reads values one after another."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def structure(self, depth: int) -> dict[int, Any]:
        """The fields by number."""
        if depth > MAX_DEPTH:
            raise ValueError("too deep")
        fields: dict[int, Any] = {}
        number = 0
        while (start := self._byte()) != 0:
            number = number + (start >> 4) if start >> 4 else self._integer()
            if number in fields:  # which of them counts?
                raise ValueError("a field occurs twice")
            fields[number] = self._value(start & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2:  # true, false
                return kind == 1
            case 3 | 7:  # a byte, a double
                return self._skip(1 if kind == 3 else 8)
            case 4 | 5 | 6:
                return self._integer()
            case 8:  # bytes
                return self._skip(self._varint())
            case 9:
                return self._list(depth)
            case 12:
                return self.structure(depth + 1)
        raise ValueError("an unknown kind of value")

    def _list(self, depth: int) -> list[Any]:
        start = self._byte()
        size = start >> 4 if start >> 4 < 15 else self._varint()
        if size > len(self._content):
            raise ValueError("a list that is longer than the file")
        kind = start & 15
        if kind in (1, 2):  # in a list, a boolean is a byte
            kind = 3
        return [self._value(kind, depth + 1) for _ in range(size)]

    def _integer(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("an integer of more than 64 bits")

    def _byte(self) -> int:
        self._at += 1
        return self._content[self._at - 1]

    def _skip(self, size: int) -> None:
        self._at += size
        if self._at > len(self._content):
            raise ValueError("it ends too early")
