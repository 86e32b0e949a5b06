"""TFRecord files hold records with lengths and checksums; each is an Example of Protocol Buffers.

A record is its length in eight bytes, four bytes of checksum, the data, four bytes of checksum. An Example is
a map from names to a list of bytes, of Float32 or of Int64. The checksum of each length is verified, which
tells a file of another kind at once; those of the data are not.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindgrad._base.protobuf import BYTES, Malformed, read_fields, signed, varints
from mindgrad.dataset.file_samplers import Shuffle, file_list, sampler_of_files
from mindgrad.dataset.rows import Row
from mindgrad.dataset.schema import Schema
from mindgrad.dataset.sources import GeneratorDataset, documented_source

__all__ = ["TFRecordDataset"]

#: CRC-32C (Castagnoli), reflected, byte by byte
_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8


def _crc_table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (_POLYNOMIAL if number & 1 else 0)
        table.append(number)
    return table


_TABLE = _crc_table()


def masked_checksum(data: bytes) -> int:
    """The checksum of a record: CRC-32C, rotated by 15 bits, plus a constant."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


class _Records:
    """The records of one file."""

    def __init__(self, file: str, compression: str) -> None:
        self.file = file
        #: the whole file where it is compressed; otherwise records are read when they are asked for
        self.data = None
        if compression == "GZIP":
            self.data = gzip.decompress(Path(file).read_bytes())
        elif compression == "ZLIB":
            self.data = zlib.decompress(Path(file).read_bytes())
        self.places = list(self._scan())

    def _read(self, stream: Any, start: int, length: int) -> bytes:
        if self.data is not None:
            return self.data[start : start + length]
        stream.seek(start)
        return stream.read(length)

    def _scan(self) -> Any:
        size = Path(self.file).stat().st_size if self.data is None else len(self.data)
        at = 0
        with open(self.file, "rb") as stream:
            while at < size:
                head = self._read(stream, at, 12)
                if len(head) < 12 or struct.unpack("<I", head[8:])[0] != masked_checksum(head[:8]):
                    raise RuntimeError(
                        f"For 'TFRecordDataset', the file '{self.file}' has no record at byte {at}: it is "
                        "damaged, not a TFRecord file, or compressed; for a compressed file give "
                        "compression_type='GZIP' or 'ZLIB'."
                    )
                (length,) = struct.unpack("<Q", head[:8])
                if at + 16 + length > size:
                    raise RuntimeError(f"For 'TFRecordDataset', the file '{self.file}' is cut off.")
                yield at + 12, length
                at += 16 + length

    def example(self, number: int) -> dict[str, list[Any] | np.ndarray]:
        """The features of one record by name."""
        start, length = self.places[number]
        with open(self.file, "rb") as stream:
            data = self._read(stream, start, length)
        try:
            return _example(memoryview(data))
        except (Malformed, UnicodeDecodeError) as error:
            raise RuntimeError(
                f"For 'TFRecordDataset', record {number} of the file '{self.file}' is not a valid Example: "
                f"{error}"
            ) from None


def _messages(message: memoryview, number: int) -> list[memoryview]:
    return [value for field, wire, value, _ in read_fields(message) if field == number and wire == BYTES]  # type: ignore[misc]


def _example(message: memoryview) -> dict[str, list[Any] | np.ndarray]:
    features: dict[str, list[Any] | np.ndarray] = {}
    for feature_map in _messages(message, 1):
        for entry in _messages(feature_map, 1):
            names, values = _messages(entry, 1), _messages(entry, 2)
            name = bytes(names[0]).decode() if names else ""
            features[name] = _feature(values[0]) if values else []
    return features


def _feature(message: memoryview) -> list[Any] | np.ndarray:
    """A list of bytes, or an array of Float32 or Int64."""
    for field, _, content, _ in read_fields(message):
        if isinstance(content, int):
            continue
        if field == 1:
            return [bytes(item) for item in _messages(content, 1)]
        if field == 2:  # packed, or one field for each
            parts = [bytes(part) for _, _, part, _ in read_fields(content) if not isinstance(part, int)]
            return np.frombuffer(b"".join(parts), "<f4").astype(np.float32)
        if field == 3:
            numbers: list[int] = []
            for _, _, part, _ in read_fields(content):
                numbers += [part] if isinstance(part, int) else varints(part)
            return np.array([signed(number) for number in numbers], np.int64)
    return []


class _Examples:
    """The Examples of several files as rows."""

    def __init__(self, files: Sequence[_Records], columns: Sequence[dict[str, Any]]) -> None:
        self.places = [(file, i) for file in files for i in range(len(file.places))]
        self.columns = columns

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, index: int) -> Row:
        file, number = self.places[index]
        features = file.example(number)
        missing = [column["name"] for column in self.columns if column["name"] not in features]
        if missing:
            raise RuntimeError(f"record {number} of the file '{file.file}' has no feature '{missing[0]}'")
        return tuple(_array(features[column["name"]], column) for column in self.columns)


def _array(values: Any, column: dict[str, Any]) -> np.ndarray:
    kind, shape = column.get("type"), column.get("shape")
    if isinstance(values, list):
        if kind not in (None, "string"):
            array = np.frombuffer(b"".join(values), np.dtype(kind))
        elif any(value.endswith(b"\0") for value in values):
            raise RuntimeError(
                f"the feature '{column['name']}' has bytes that end in zeros, which text of NumPy drops: "
                f"give a schema "
                f"in which its type is uint8"
            )
        else:
            array = np.array(values, np.bytes_)
    else:
        array = values if kind is None else values.astype(kind)
    return array if shape is None else array.reshape(shape)


@documented_source
class TFRecordDataset(GeneratorDataset):
    """A dataset of the Examples in TFRecord files.

    Columns: the features, by default those of the first record in the order of names. Lists of numbers are
    Int64 and Float32 of one axis, lists of bytes are text of NumPy (``bytes_``); a schema gives other element
    types and shapes, and ``uint8`` for the bytes themselves.

    Args:
        schema (Schema or str, optional): a :class:`Schema`, or a file with one. Default: ``None``.
        columns_list (list or tuple of str, optional): the features that are read. Default: ``None``.
        shuffle (bool or Shuffle, optional): a truth value or a :class:`Shuffle`. Default: ``Shuffle.GLOBAL``.
        shard_equal_rows (bool, optional): accepted for compatibility; all parts have as many rows.
            Default: ``False``.
        compression_type (str, optional): ``""``, ``"GZIP"`` or ``"ZLIB"``. Default: ``None``.

    Raises:
        RuntimeError: If a file is no TFRecord file; when iterating: a record lacks a feature.
        ValueError: If there is no such compression, or no record.
    """

    def __init__(
        self,
        dataset_files: Any,
        schema: Schema | str | None = None,
        columns_list: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shard_equal_rows: bool = False,
        cache: Any = None,
        compression_type: str | None = None,
    ) -> None:
        name = "TFRecordDataset"
        if compression_type not in (None, "", "GZIP", "ZLIB"):
            raise ValueError(
                f"For '{name}', 'compression_type' must be '', GZIP or ZLIB, but got {compression_type!r}."
            )
        files = [_Records(file, compression_type or "") for file in file_list(dataset_files, name)]
        if schema is not None:
            columns = (schema if isinstance(schema, Schema) else Schema(schema)).columns
        else:
            first = next((file for file in files if file.places), None)
            if first is None:
                raise ValueError(f"For '{name}', there is no record in the files.")
            columns = [{"name": feature} for feature in sorted(first.example(0))]
        if columns_list is not None:
            by_name = {column["name"]: column for column in columns}
            unknown = [column for column in columns_list if column not in by_name]
            if unknown:
                raise RuntimeError(
                    f"For '{name}', there is no column '{unknown[0]}', but {', '.join(by_name)}."
                )
            columns = [by_name[column] for column in columns_list]
        lengths = [len(file.places) for file in files]
        sampler = sampler_of_files(name, shuffle, num_samples, num_shards, shard_id, lengths)
        super().__init__(_Examples(files, columns), [column["name"] for column in columns], sampler=sampler)
