"""Encode and decode the rows of MindRecord files.

A row is one sample, a dict of fields. It is stored in two parts:

- the raw part: numbers and strings (plain fields) in MessagePack;
- the blob part: bytes and arrays, one after the other. If there are several, each follows its length.

An array of integers is compressed. First comes the number of elements, then a two-bit code for the size of
each element (1, 2, 4, or 8 bytes), and then the elements.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from mindgrad.mindrecord.errors import MRMInvalidSchemaError, MRMOpenError, MRMValidateDataError
from mindgrad.mindrecord.messagepack import pack, unpack

__all__ = ["TYPES", "blob_names", "blob_part", "check_schema", "plain_part", "row_of_parts"]

#: MindRecord field type -> NumPy dtype; ``None`` for strings and bytes
TYPES: dict[str, np.dtype | None] = {
    "int32": np.dtype(np.int32), "int64": np.dtype(np.int64), "float32": np.dtype(np.float32),
    "float64": np.dtype(np.float64), "string": None, "bytes": None,
}  # fmt: skip
_WIDTHS: list[np.dtype] = [np.dtype(np.int8), np.dtype("<i2"), np.dtype("<i4"), np.dtype("<i8")]

Schema = dict[str, dict[str, Any]]


def check_schema(schema: Any) -> Schema:
    """Check a schema and return it.

    Raises:
        MRMInvalidSchemaError: If the schema is not a dict from names to ``{"type": ..., "shape": ...}`` with
            known types.
    """
    if not isinstance(schema, dict) or not schema:
        raise MRMInvalidSchemaError(
            f"a schema must be a dict from names of fields to their types, but got {schema!r}."
        )
    for name, field in schema.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise MRMInvalidSchemaError(
                f"the name of a field must be letters, digits and _, but got {name!r}."
            )
        kind = field.get("type") if isinstance(field, dict) else None
        if kind not in TYPES or not set(field) <= {"type", "shape"}:
            raise MRMInvalidSchemaError(
                f"the field '{name}' must be a dict with a 'type' of {', '.join(TYPES)} and, for an array, a "
                f"'shape', but got {field!r}."
            )
        if "shape" in field and (TYPES[kind] is None or not isinstance(field["shape"], (list, tuple))):
            raise MRMInvalidSchemaError(
                f"the field '{name}' must be of numbers to have a shape, a list of ints, but got {field!r}."
            )
    return schema


def blob_names(schema: Schema) -> list[str]:
    """Return the names of the fields in the blob part, sorted."""
    return sorted(name for name, field in schema.items() if field["type"] == "bytes" or "shape" in field)


def plain_part(row: dict[str, Any], schema: Schema) -> bytes:
    """Encode the raw part of a row."""
    blobs = blob_names(schema)
    names = [name for name in sorted(schema) if name not in blobs]
    return pack({name: _plain(row, name, schema[name]["type"]) for name in names} if names else {"id": 0})


def _field(row: dict[str, Any], name: str) -> Any:
    if name not in row:
        raise MRMValidateDataError(
            f"the row has no field '{name}', which the schema has; it has {sorted(row)}."
        )
    return row[name]


def _plain(row: dict[str, Any], name: str, kind: str) -> Any:
    value = _field(row, name)
    dtype = TYPES[kind]
    if dtype is None:
        fits = isinstance(value, str)
    else:
        value = value.item() if isinstance(value, (np.generic, np.ndarray)) and np.size(value) == 1 else value
        fits = isinstance(value, int if dtype.kind == "i" else (int, float)) and not isinstance(value, bool)
    if not fits:
        raise MRMValidateDataError(f"the field '{name}' must be of {kind}, but got {value!r}.")
    if dtype is not None and dtype.kind == "i" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        raise MRMValidateDataError(f"the field '{name}' is {value}, which is not a valid {kind}.")
    return float(value) if dtype is not None and dtype.kind == "f" else value


def blob_part(row: dict[str, Any], schema: Schema) -> bytes:
    """Encode the blob part of a row."""
    names = blob_names(schema)
    blobs = [_blob(_field(row, name), name, schema[name]) for name in names]
    if len(blobs) == 1:
        return blobs[0]
    return b"".join(struct.pack(">Q", len(blob)) + blob for blob in blobs) or bytes(4)


def _blob(value: Any, name: str, field: dict[str, Any]) -> bytes:
    dtype = TYPES[field["type"]]
    if dtype is None:
        if isinstance(value, np.ndarray):
            value = value.tobytes()
        if not isinstance(value, (bytes, bytearray)):
            raise MRMValidateDataError(f"the field '{name}' must be bytes, but got {type(value).__name__}.")
        return bytes(value)
    array = np.asarray(value)
    if array.dtype != dtype:
        raise MRMValidateDataError(f"the field '{name}' must be of {field['type']}, but got {array.dtype}.")
    shape = field["shape"]
    known = int(np.prod([size for size in shape if size != -1], dtype=np.int64))
    if array.size % max(known, 1) or (-1 not in shape and array.size != known):
        raise MRMValidateDataError(f"the field '{name}' must have the shape {shape}, but got {array.shape}.")
    if dtype.kind == "f":
        return array.astype(dtype.newbyteorder("<")).tobytes()
    return _compressed(array.ravel())


def _compressed(array: np.ndarray) -> bytes:
    widths = np.zeros(array.size, np.int64)
    for code, width in enumerate(_WIDTHS[:3]):
        limits = np.iinfo(width)
        widths[(array < limits.min) | (array > limits.max)] = code + 1
    codes = np.zeros(-(-array.size // 4) * 4, np.int64)
    codes[: array.size] = widths
    packed = (codes.reshape(-1, 4) << np.array([6, 4, 2, 0])).sum(1).astype(np.uint8)
    elements = [
        element.astype(_WIDTHS[code]).tobytes() for element, code in zip(array, widths.tolist(), strict=True)
    ]
    return struct.pack(">I", array.size) + packed.tobytes() + b"".join(elements)


def _decompressed(data: bytes, dtype: np.dtype) -> np.ndarray:
    (size,) = struct.unpack_from(">I", data)
    start = 4 + -(-size // 4)
    packed = np.frombuffer(data, np.uint8, start - 4, 4).astype(np.int64)
    codes = (packed[:, None] >> np.array([6, 4, 2, 0]) & 3).ravel()[:size]
    lengths = 1 << codes
    starts = start + np.cumsum(lengths) - lengths
    result = np.zeros(size, dtype)
    content = np.frombuffer(data, np.uint8)
    for code, width in enumerate(_WIDTHS):
        members = np.flatnonzero(codes == code)
        if len(members):
            elements = content[starts[members, None] + np.arange(width.itemsize)]
            result[members] = np.ascontiguousarray(elements).view(width)[:, 0]
    return result


def row_of_parts(plain: bytes, blobs: bytes, schema: Schema) -> dict[str, Any]:
    """Decode a row from its raw part and its blob part.

    Returns:
        dict: dict that maps field names to numbers, strings, bytes, or arrays.

    Raises:
        MRMOpenError: If the parts do not match the schema.
    """
    names = blob_names(schema)
    try:
        values = unpack(plain)
        row = {name: values[name] for name in sorted(schema) if name not in names}
        parts = [blobs] if len(names) == 1 else list(_split(blobs, len(names)))
        for name, data in zip(names, parts, strict=True):
            dtype = TYPES[schema[name]["type"]]
            if dtype is None:
                row[name] = data
                continue
            array = np.frombuffer(data, dtype) if dtype.kind == "f" else _decompressed(data, dtype)
            row[name] = array.reshape(schema[name]["shape"])
    except (ValueError, KeyError, IndexError, struct.error) as error:
        raise MRMOpenError(f"a row of a MindRecord file cannot be read: {error}") from error
    return row


def _split(blobs: bytes, number: int) -> list[bytes]:
    parts, at = [], 0
    for _ in range(number):
        (length,) = struct.unpack_from(">Q", blobs, at)
        parts.append(blobs[at + 8 : at + 8 + length])
        if len(parts[-1]) < length:
            raise ValueError("the data end inside a field")
        at += 8 + length
    return parts
