"""``TFRecordDataset``: read TFRecord files, whose records are protobuf Examples.

A record consists of its length in eight bytes, a checksum of the length in four bytes, the data, and a
checksum of the data in four bytes. An Example is a map from names to lists of bytes, float32, or int64. The
checksums of lengths are verified, which detects files in other formats. The checksums of the data are not.
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

#: polynomial of the checksum CRC-32C (Castagnoli), with its bits in reversed order
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
    """Compute the checksum of a record: CRC-32C, rotated by 15 bits, plus a constant."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


class _Records:
    """The records of one file."""

    def __init__(self, file: str, compression: str) -> None:
        self.file = file
        #: contents of a compressed file. ``None`` for an uncompressed file, whose records are read when they
        #: are needed
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
                        "damaged, not a TFRecord file, or compressed. For a compressed file, pass "
                        "compression_type='GZIP' or 'ZLIB'."
                    )
                (length,) = struct.unpack("<Q", head[:8])
                if at + 16 + length > size:
                    raise RuntimeError(
                        f"For 'TFRecordDataset', the file '{self.file}' is truncated: it ends within a "
                        "record."
                    )
                yield at + 12, length
                at += 16 + length

    def example(self, number: int) -> dict[str, list[Any] | np.ndarray]:
        """Return the features of one record by name."""
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
    """Decode a feature to a list of bytes, or to an array of float32 or int64."""
    for field, _, content, _ in read_fields(message):
        if isinstance(content, int):
            continue
        if field == 1:
            return [bytes(item) for item in _messages(content, 1)]
        if field == 2:  # one field with all elements (packed), or one field per element
            parts = [bytes(part) for _, _, part, _ in read_fields(content) if not isinstance(part, int)]
            return np.frombuffer(b"".join(parts), "<f4").astype(np.float32)
        if field == 3:
            numbers: list[int] = []
            for _, _, part, _ in read_fields(content):
                numbers += [part] if isinstance(part, int) else varints(part)
            return np.array([signed(number) for number in numbers], np.int64)
    return []


class _Examples:
    """The Examples of several files, as samples with random access."""

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
            raise RuntimeError(
                f"record {number} of the file '{file.file}' has no feature '{missing[0]}', which is a "
                "column of the dataset. Omit it from 'schema' or 'columns_list'"
            )
        return tuple(_array(features[column["name"]], column) for column in self.columns)


def _array(values: Any, column: dict[str, Any]) -> np.ndarray:
    kind, shape = column.get("type"), column.get("shape")
    if isinstance(values, list):
        if kind not in (None, "string"):
            array = np.frombuffer(b"".join(values), np.dtype(kind))
        elif any(value.endswith(b"\0") for value in values):
            raise RuntimeError(
                f"the feature '{column['name']}' contains bytes that end with zeros, which NumPy strings "
                "would drop. Pass a schema in which the type of the feature is uint8"
            )
        else:
            array = np.array(values, np.bytes_)
    else:
        array = values if kind is None else values.astype(kind)
    return array if shape is None else array.reshape(shape)


@documented_source
class TFRecordDataset(GeneratorDataset):
    """A dataset of the Examples in TFRecord files.

    The columns are the features. By default, they are the features of the first record, sorted by name. Lists
    of numbers are 1-D arrays of int64 or float32, and lists of bytes are arrays of ``numpy.bytes_``. A schema
    can select other dtypes and shapes. The dtype ``uint8`` selects the raw bytes.

    Args:
        schema (Schema or str, optional): dtypes and shapes of the columns: a :class:`Schema`, or the path of
            a schema file. Default: ``None``.
        columns_list (list or tuple of str, optional): names of the features to read. ``None``: all features
            of the schema or the first record. Default: ``None``.
        shuffle (bool or Shuffle, optional): whether, or how, to shuffle, see :class:`Shuffle`.
            Default: ``Shuffle.GLOBAL``.
        shard_equal_rows (bool, optional): accepted for compatibility; all parts have the same number of
            samples. Default: ``False``.
        compression_type (str, optional): compression of the files: ``"GZIP"``, ``"ZLIB"``, or ``""`` for
            none. ``None``: no compression. Default: ``None``.

    Raises:
        RuntimeError: If a file is not a TFRecord file. During iteration, if a record lacks a feature.
        ValueError: If ``compression_type`` is unknown, or the files contain no records.
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
                raise ValueError(f"For '{name}', the files contain no records.")
            columns = [{"name": feature} for feature in sorted(first.example(0))]
        if columns_list is not None:
            by_name = {column["name"]: column for column in columns}
            unknown = [column for column in columns_list if column not in by_name]
            if unknown:
                raise RuntimeError(
                    f"For '{name}', there is no column '{unknown[0]}', only {', '.join(by_name)}."
                )
            columns = [by_name[column] for column in columns_list]
        lengths = [len(file.places) for file in files]
        sampler = sampler_of_files(name, shuffle, num_samples, num_shards, shard_id, lengths)
        super().__init__(_Examples(files, columns), [column["name"] for column in columns], sampler=sampler)
