"""Read MindRecord files.

The schema is in the header of a file, and the positions of the rows are in its index, an SQLite database.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mindgrad.mindrecord.errors import MRMOpenError, ParamTypeError, ParamValueError, PathNotExistsError
from mindgrad.mindrecord.fields import check_schema, row_of_parts

__all__ = ["FileReader", "Shards"]

_LARGEST_HEAD = 1 << 27
_COLUMNS = (
    "PAGE_ID_RAW, PAGE_OFFSET_RAW, PAGE_OFFSET_RAW_END, PAGE_ID_BLOB, PAGE_OFFSET_BLOB, PAGE_OFFSET_BLOB_END"
)


class _Shard:
    """One MindRecord file and its index."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise PathNotExistsError(f"the MindRecord file '{path}' does not exist.")
        index = path.with_name(path.name + ".db")
        if not index.is_file():
            raise PathNotExistsError(
                f"the index '{index}' of a MindRecord file does not exist; keep it in the same folder as "
                "the file."
            )
        self.path = path
        with path.open("rb") as file:
            length = file.read(8)
            size = struct.unpack("<Q", length)[0] if len(length) == 8 else 0
            head = file.read(size) if 0 < size <= _LARGEST_HEAD else b""
        try:
            self.head: dict[str, Any] = json.loads(head)
            self.start, self.page = int(self.head["header_size"]), int(self.head["page_size"])
            schema = self.head["schema"][0]["schema"]
        except (ValueError, KeyError, IndexError, TypeError):
            raise MRMOpenError(f"the file '{path}' is not a MindRecord file.") from None
        self.schema = check_schema(schema)
        try:
            with contextlib.closing(
                sqlite3.connect(f"{index.absolute().as_uri()}?mode=ro", uri=True)
            ) as base:
                self.places = base.execute(f"SELECT {_COLUMNS} FROM INDEXES ORDER BY ROW_ID").fetchall()
        except sqlite3.Error as error:
            raise MRMOpenError(f"the index '{index}' of a MindRecord file cannot be read: {error}") from None

    def row(self, number: int) -> dict[str, Any]:
        """Read the row with this number in the file."""
        raw_page, raw_start, raw_end, blob_page, blob_start, blob_end = self.places[number]
        with self.path.open("rb") as file:
            plain = self._part(file, raw_page, raw_start, raw_end)
            blobs = self._part(file, blob_page, blob_start, blob_end)
        return row_of_parts(plain, blobs, self.schema)

    def _part(self, file: Any, page: int, start: int, end: int) -> bytes:
        file.seek(self.start + page * self.page + start)
        data = file.read(end - start)
        if len(data) < max(end - start, 8) or struct.unpack("<Q", data[:8])[0] != len(data) - 8:
            raise MRMOpenError(f"the file '{self.path}' has no row at a position that its index lists.")
        return data[8:]


class Shards:
    """Random access to the rows of one or several files.

    Args:
        files (str, PathLike, or list or tuple of str or PathLike): a list of files, or one file. One file
            represents all files that were written together with it.

    Raises:
        PathNotExistsError: If a MindRecord file or its index does not exist.
        MRMOpenError: If a file is not a MindRecord file, or the schemas of the files differ.
    """

    def __init__(self, files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> None:
        if isinstance(files, (str, os.PathLike)):
            first = _Shard(Path(files))
            names = first.head.get("shard_addresses") or [first.path.name]
            paths = [first.path.with_name(Path(name).name) for name in names]
            paths = paths if first.path in paths else [first.path]
        elif isinstance(files, (list, tuple)) and files:
            paths = [Path(file) for file in files]
        else:
            raise ParamTypeError(f"a MindRecord file, or a list of them, is expected, but got {files!r}.")
        self.shards = [_Shard(path) for path in paths]
        self.schema = self.shards[0].schema
        for shard in self.shards:
            if shard.schema != self.schema:
                raise MRMOpenError(f"the files '{paths[0]}' and '{shard.path}' differ in their schema.")
        self._places = [(shard, i) for shard in self.shards for i in range(len(shard.places))]

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, index: int) -> dict[str, Any]:
        shard, number = self._places[index]
        return shard.row(number)


class FileReader:
    """Reader of MindRecord files, which returns rows as dicts.

    Args:
        file_name (str or list of str): a list of files, or one file. One file represents all files that were
            written together with it.
        num_consumer (int, optional): accepted for compatibility. Default: ``4``.
        columns (list or tuple of str, optional): names of the fields to read. ``None``: all fields. Default:
            ``None``.
        operator (Any, optional): accepted for compatibility. Default: ``None``.

    Raises:
        PathNotExistsError: If a MindRecord file or its index does not exist.
        MRMOpenError: If a file is not a MindRecord file.
        ParamValueError: If ``columns`` contains a field that the files do not have.
    """

    def __init__(
        self,
        file_name: Any,
        num_consumer: int = 4,
        columns: Sequence[str] | None = None,
        operator: Any = None,
    ) -> None:
        self._shards = Shards(file_name)
        unknown = [name for name in columns or () if name not in self._shards.schema]
        if unknown:
            raise ParamValueError(f"there is no field '{unknown[0]}', only {sorted(self._shards.schema)}.")
        self._columns = columns

    def get_next(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows in order, as dicts that map field names to values."""
        for i in range(len(self._shards)):
            row = self._shards[i]
            yield row if self._columns is None else {name: row[name] for name in self._columns}

    def schema(self) -> dict[str, dict[str, Any]]:
        """Return a dict that maps field names to types, and to shapes of arrays."""
        return self._shards.schema

    def len(self) -> int:
        """Return the number of rows in all files."""
        return len(self._shards)

    def close(self) -> None:
        """Do nothing, because no file stays open."""

    def finish(self) -> None:
        """Do nothing. This is the name of :meth:`close` in MindSpore 1.x."""
