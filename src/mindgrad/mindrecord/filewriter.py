"""Write MindRecord files, with an index in an SQLite database.

A file consists of a header and pages of fixed size. Rows are collected in a group until a page is full. The
blob parts of a group are stored in one page, and the raw parts in the next page. Unused bytes at the end of a
page are holes in a sparse file. The last page ends with its last row.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import struct
from pathlib import Path
from typing import Any

from mindgrad.mindrecord.errors import (
    MRMInvalidSchemaError,
    MRMOpenError,
    MRMValidateDataError,
    ParamTypeError,
    ParamValueError,
)
from mindgrad.mindrecord.fields import TYPES, blob_names, blob_part, check_schema, plain_part
from mindgrad.mindrecord.messagepack import unpack
from mindgrad.ops.arguments import whole_number

__all__ = ["FileWriter"]

_HEAD, _PAGE = 1 << 24, 1 << 25
_PLACES = ("ID_RAW", "OFFSET_RAW", "OFFSET_RAW_END", "ID_BLOB", "OFFSET_BLOB", "OFFSET_BLOB_END")


class _ShardWriter:
    """Writer of one file."""

    def __init__(self, path: Path, number: int, head: int, page: int) -> None:
        self.path, self.number, self.head, self.page = path, number, head, page
        self.file = path.open("wb")
        self.pages: list[dict[str, Any]] = []
        #: for each row: the numbers of the row and of its pages, the offsets in these pages, and the encoded
        #: fields that are not blobs
        self.index: list[tuple[list[int], bytes]] = []
        self.plain: list[bytes] = []
        self.blob_size = self.plain_size = 0

    def add(self, plain: bytes, blobs: bytes) -> None:
        """Write a row."""
        plain, blobs = (struct.pack("<Q", len(part)) + part for part in (plain, blobs))
        if max(len(plain), len(blobs)) > self.page:
            raise MRMValidateDataError(
                f"a row of {len(plain) + len(blobs)} bytes does not fit into a page of {self.page} bytes. "
                "Call set_page_size with a larger size before add_schema."
            )
        if self.blob_size + len(blobs) > self.page or self.plain_size + len(plain) > self.page:
            self.end_group()
        page = len(self.pages)
        entry = [
            len(self.index), page + 1, self.plain_size, self.plain_size + len(plain), page // 2, page,
            self.blob_size, self.blob_size + len(blobs),
        ]  # fmt: skip
        self.file.seek(self.head + page * self.page + self.blob_size)
        self.file.write(blobs)
        self.index.append((entry, plain[8:]))
        self.plain.append(plain)
        self.blob_size += len(blobs)
        self.plain_size += len(plain)

    def end_group(self) -> None:
        """Write the raw parts of the current group to the page after its blob parts."""
        if not self.plain:
            return
        page, group = len(self.pages), len(self.pages) // 2
        self.file.seek(self.head + (page + 1) * self.page)
        self.file.write(b"".join(self.plain))
        rows = len(self.index)
        sizes = (
            ("BLOB_DATA", self.blob_size, rows - len(self.plain), rows),
            ("RAW_DATA", self.plain_size, 0, 0),
        )
        for i, (kind, size, start, end) in enumerate(sizes):
            self.pages.append({
                "end_row_id": end, "page_id": page + i, "page_size": size, "page_type": kind,
                "page_type_id": group, "row_group_ids": [{"id": group, "offset": 0}], "shard_id": self.number,
                "start_row_id": start,
            })  # fmt: skip
        self.plain, self.blob_size, self.plain_size = [], 0, 0

    def finish(self, head: dict[str, Any], indexed: list[str], schema: dict[str, Any]) -> None:
        """Write the header and the index."""
        self.end_group()
        data = json.dumps(head | {"page": self.pages}, separators=(",", ":")).encode()
        if len(data) + 8 > self.head:
            raise MRMValidateDataError(
                "the index of the pages does not fit into the header of the file. Call set_header_size "
                "with a larger size before add_schema."
            )
        self.file.seek(0)
        self.file.write(struct.pack("<Q", len(data)) + data)
        self.file.close()
        path = self.path.with_name(self.path.name + ".db")
        path.unlink(missing_ok=True)
        fixed = [f"PAGE_{part}" for part in _PLACES]
        fixed = ["ROW_ID", *fixed[:3], "ROW_GROUP_ID", *fixed[3:]]
        columns = [f"{name} INT NOT NULL" for name in fixed]
        keys = ["ROW_ID"]
        for i, name in enumerate(indexed):
            dtype = TYPES[schema[name]["type"]]
            kind = "TEXT" if dtype is None else "INTEGER" if dtype.kind == "i" else "NUMERIC"
            columns += [f"INC_{i} INT", f"{name}_0 {kind}"]
            keys.append(f"INC_{i}")
        with contextlib.closing(sqlite3.connect(path)) as base, base:
            base.execute(f"CREATE TABLE INDEXES({', '.join(columns)}, PRIMARY KEY({', '.join(keys)}))")
            base.execute("CREATE TABLE SHARD_NAME(NAME TEXT NOT NULL)")
            base.execute("INSERT INTO SHARD_NAME VALUES (?)", (self.path.name,))
            marks = ", ".join("?" * (len(fixed) + 2 * len(indexed)))
            for place, plain in self.index:
                values = unpack(plain) if indexed else {}
                row = [*place, *(value for name in indexed for value in (0, values[name]))]
                base.execute(f"INSERT INTO INDEXES VALUES ({marks})", row)


class FileWriter:
    """Writer of MindRecord files.

    Args:
        file_name (str or PathLike): name of the file to write. If ``shard_num`` is above 1, a number is
            appended to it.
        shard_num (int, optional): number of files among which the rows are divided. Default: ``1``.
        overwrite (bool, optional): whether to replace existing files. Default: ``False``.

    Raises:
        MRMOpenError: If a file exists and ``overwrite`` is ``False``.
        ParamTypeError: If ``file_name`` is not a path.
        ValueError: If ``shard_num`` is less than 1.

    >>> import tempfile
    >>> from mindgrad.mindrecord import FileReader, FileWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     writer = FileWriter(f"{folder}/points.mindrecord")
    ...     _ = writer.add_schema({"label": {"type": "int32"}, "data": {"type": "bytes"}})
    ...     _ = writer.write_raw_data([{"label": 7, "data": b"abc"}])
    ...     _ = writer.commit()
    ...     print(*FileReader(f"{folder}/points.mindrecord").get_next())
    {'label': 7, 'data': b'abc'}
    """

    def __init__(
        self, file_name: str | os.PathLike[str], shard_num: int = 1, overwrite: bool = False
    ) -> None:
        if not isinstance(file_name, (str, os.PathLike)):
            raise ParamTypeError(f"For 'FileWriter', 'file_name' must be a path, but got {file_name!r}.")
        number = whole_number(shard_num, "FileWriter", "shard_num", 1)
        digits = len(str(number - 1))
        path = Path(file_name)
        names = [path.name] if number == 1 else [f"{path.name}{i:0{digits}}" for i in range(number)]
        self._paths = [path.with_name(name) for name in names]
        existing = [each for each in self._paths if each.exists()]
        if existing and not overwrite:
            raise MRMOpenError(f"the file '{existing[0]}' exists already; delete it, or pass overwrite=True.")
        self._head, self._page = _HEAD, _PAGE
        self._schema: dict[str, Any] = {}
        self._description = ""
        self._indexed: list[str] | None = None
        self._shards: list[_ShardWriter] = []

    def set_header_size(self, header_size: int) -> str:
        """Set the size of the header in bytes, a power of two from 16 KiB to 128 MiB."""
        self._head = _power(header_size, "header_size", 1 << 14, 1 << 27)
        return "SUCCESS"

    def set_page_size(self, page_size: int) -> str:
        """Set the size of a page in bytes, a power of two from 32 KiB to 256 MiB.

        Each row must fit into a page.
        """
        self._page = _power(page_size, "page_size", 1 << 15, 1 << 28)
        return "SUCCESS"

    def add_schema(self, content: dict[str, Any], desc: str | None = None) -> int:
        """Set the schema: the types of the fields of each row.

        Args:
            content (dict): maps the name of a field to ``{"type": t}``, where t is int32, int64, float32,
                float64, string, or bytes, or to ``{"type": t, "shape": [...]}`` for an array of numbers. A
                size of −1 means any length.
            desc (str, optional): description of the schema. Default: ``None``.

        Returns:
            int: identifier of the schema, always 0.

        Raises:
            MRMInvalidSchemaError: If ``content`` is not a dict of this form.
        """
        self._schema, self._description = check_schema(content), desc or ""
        return 0

    def add_index(self, index_fields: list[str]) -> str:
        """Select the plain fields that the index contains. By default it contains all of them.

        Raises:
            ParamValueError: If ``index_fields`` contains an unknown field, or a field of bytes or arrays.
        """
        for name in index_fields:
            if name not in self._schema or name in blob_names(self._schema):
                raise ParamValueError(f"For 'add_index', '{name}' is not a scalar field of the schema.")
        self._indexed = list(index_fields)
        return "SUCCESS"

    def write_raw_data(self, raw_data: list[dict[str, Any]], parallel_writer: bool = False) -> str:
        """Write rows, which are divided among the files in order.

        Args:
            raw_data (list of dict): rows: dicts that map field names to numbers, strings, bytes, or arrays.
            parallel_writer (bool, optional): accepted for compatibility. Default: ``False``.

        Raises:
            ParamTypeError: If ``raw_data`` is not a list of dicts.
            MRMInvalidSchemaError: If :meth:`add_schema` was not called.
            MRMValidateDataError: If a row in ``raw_data`` does not match the schema.
        """
        if not isinstance(raw_data, list) or not all(isinstance(row, dict) for row in raw_data):
            raise ParamTypeError("For 'write_raw_data', 'raw_data' must be a list of dicts.")
        if not self._schema:
            raise MRMInvalidSchemaError("For 'write_raw_data', there is no schema; call add_schema first.")
        parts = [(plain_part(row, self._schema), blob_part(row, self._schema)) for row in raw_data]
        if not self._shards:
            self._shards = [
                _ShardWriter(path, i, self._head, self._page) for i, path in enumerate(self._paths)
            ]
        number = len(self._shards)
        for i, shard in enumerate(self._shards):
            for plain, blobs in parts[len(parts) * i // number : len(parts) * (i + 1) // number]:
                shard.add(plain, blobs)
        return "SUCCESS"

    def commit(self) -> str:
        """Finish writing: write the headers and indices.

        Raises:
            MRMValidateDataError: If no row was written.
        """
        if not self._shards:
            raise MRMValidateDataError("For 'commit', no row was written; call write_raw_data first.")
        blobs = blob_names(self._schema)
        plain = [name for name in sorted(self._schema) if name not in blobs]
        indexed = plain if self._indexed is None else self._indexed
        for shard in self._shards:
            head = {
                "header_size": self._head,
                "index_fields": [{"index_field": name, "schema_id": 0} for name in indexed] or None,
                "page_size": self._page, "compression_size": 0,
                "schema": [{"blob_fields": blobs, "desc": self._description, "schema": self._schema}],
                "shard_addresses": [path.name for path in self._paths], "shard_id": shard.number,
                "statistics": None,
                "version": "3.0",
            }  # fmt: skip
            shard.finish(head, indexed, self._schema)
        self._shards = []
        return "SUCCESS"


def _power(value: Any, name: str, least: int, most: int) -> int:
    number = whole_number(value, "FileWriter", name, least)
    if number > most or number & (number - 1):
        raise ParamValueError(f"For 'FileWriter', '{name}' must be a power of two from {least} to {most}.")
    return number
