"""Read and write ``.ckpt`` checkpoints in the format of MindSpore 1.x and 2.x.

A file is one protobuf message without a header::

    Checkpoint      1: value, repeated     one Value per Parameter, or per part of a large Parameter
    Value           1: tag (text)          the name
                    2: tensor              a Tensor
                    3: maptensor           hash tables of recommender systems; not supported
    Tensor          1: dims, repeated      the shape; no dims: a scalar
                    2: tensor_type (text)  'Float32', 'Int64', 'BFloat16', …, or 'str'
                    3: tensor_content      the elements in C order, little-endian

- Content of more than 512 MiB is split into consecutive Values with the same tag, each with the whole shape.
- A string has type ``'str'``, dims ``[0]``, and UTF-32 content. In old files, scalars also have dims ``[0]``.
- A file with a checksum ends with ``crc_num`` and the CRC-32 of all preceding bytes, as ten bytes.

This module has two features that MindSpore 2.10 does not have. It writes tensors without elements, which
MindSpore drops, and it reads complex tensors, which MindSpore can only write.
"""

from __future__ import annotations

import binascii
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import BinaryIO, NamedTuple

import numpy as np

from mindgrad._base.protobuf import (
    BYTES,
    VARINT,
    Malformed,
    bytes_head,
    read_fields,
    signed,
    varint,
    varints,
    wire_name,
)
from mindgrad.core.ir.dtype import DTYPES, as_dtype

__all__ = ["Content", "read", "write"]

Content = Mapping[str, "np.ndarray | str"]

_TYPES = {dtype.name: dtype.numpy for dtype in DTYPES}
_TEXT = "str"
_TEXT_SHAPE: tuple[int, ...] = (0,)
_SLICE = 512 * 1024 * 1024
_MOST_AXES = 64  # maximum number of axes of a NumPy array
_CHECKSUM = b"crc_num"
_CHECKSUM_LENGTH = 10
#: maps the first bytes of a file in another format to a description for the error message
_FOREIGN = {
    b"\x80": "a pickle, which was not opened, because loading it could run any program",
    b"PK": "a zip archive, perhaps a PyTorch or NumPy file; save its arrays with save_checkpoint",
    b"\x89HDF": "an HDF5 file; save its arrays with save_checkpoint",
    b"\x93NUMPY": "a NumPy file; load it with numpy.load",
    b"\x1f\x8b": "compressed; unpack it first",
}


# -- writing checkpoint files ----------------------------------------------------------------------


def write(file: BinaryIO, content: Content, checksum: bool = False) -> None:
    """Write ``content`` to an open binary file, with a CRC-32 checksum if requested."""
    crc = 0
    for name, value in content.items():
        for part in _parts(name, value):
            file.write(part)
            if checksum:
                crc = binascii.crc32(part, crc)
    if checksum:
        file.write(_CHECKSUM + crc.to_bytes(_CHECKSUM_LENGTH, "big"))


def _parts(name: str, value: np.ndarray | str) -> Iterator[bytes | memoryview]:
    """Yield the bytes of one entry: the headers, and views of the elements."""
    if isinstance(value, str):
        if value.endswith("\0"):
            raise ValueError(
                f"For 'save_checkpoint', the text '{name}' ends with NUL, which .ckpt files "
                f"cannot represent; remove it."
            )
        type_name, shape = _TEXT, _TEXT_SHAPE
        elements = memoryview(value.encode("utf-32-le") or bytes(4))
    else:
        type_name, shape = as_dtype(value.dtype).name, value.shape
        elements = np.ascontiguousarray(value).reshape(-1).view(np.uint8).data
    tag = name.encode()
    tag = bytes_head(1, len(tag)) + tag
    dims = b"".join(varint(1 << 3 | VARINT) + varint(size) for size in shape)
    type_field = bytes_head(2, len(type_name)) + type_name.encode()
    for begin in range(0, max(len(elements), 1), _SLICE):
        piece = elements[begin : begin + _SLICE]
        tensor = dims + type_field + bytes_head(3, len(piece))
        value_head = tag + bytes_head(2, len(tensor) + len(piece)) + tensor
        yield bytes_head(1, len(value_head) + len(piece)) + value_head
        yield piece


# -- reading checkpoint files ----------------------------------------------------------------------


def read(content: bytes, need_checksum: bool = False) -> dict[str, np.ndarray | str]:
    """Return the arrays and strings of a file, by name.

    Arrays are views of ``content`` if possible. A checksum in the file is always compared.

    Raises:
        Malformed: If ``content`` is not a checkpoint, or is damaged.
    """
    for beginning, what in _FOREIGN.items():
        if content.startswith(beginning):
            raise Malformed(f"it is {what}")
    message = memoryview(content)
    end = len(content) - _CHECKSUM_LENGTH
    if content[max(end - len(_CHECKSUM), 0) : max(end, 0)] == _CHECKSUM:
        message = message[: end - len(_CHECKSUM)]
        if binascii.crc32(message) != int.from_bytes(content[end:], "big"):
            raise Malformed("its checksum does not agree with its content: the file is damaged")
    elif need_checksum:
        raise Malformed("'crc_check' is set, but the file has no checksum; save it with crc_check=True")
    arrays: dict[str, np.ndarray | str] = {}
    for name, entries in itertools.groupby(_values(message), lambda entry: entry.name):
        first, *others = entries
        for part in others:  # a large tensor is stored in several consecutive parts
            if (part.shape, part.type_name) != (first.shape, first.type_name) or not part.elements:
                raise Malformed(f"'{name}' appears twice")
        if name in arrays:
            raise Malformed(f"'{name}' appears twice")
        elements = memoryview(b"".join(part.elements for part in (first, *others))) if others else None
        arrays[name] = _value(first, first.elements if elements is None else elements)
    return arrays


class _Entry(NamedTuple):
    name: str
    shape: tuple[int, ...]
    type_name: str
    elements: memoryview


def _values(message: memoryview) -> Iterator[_Entry]:
    for number, wire, value, start in read_fields(message):
        body = _bytes("Checkpoint", number, wire, value, {1: "value"})
        name: str | None = None
        tensor: tuple[memoryview, int] | None = None
        for inner, inner_wire, payload, at in read_fields(body, start):
            if inner == 3:
                raise Malformed(
                    f"'{name or '?'}' is a MapParameter, a hash table of recommender systems, which mindgrad "
                    f"does not have; leave it out when saving"
                )
            part = _bytes("Value", inner, inner_wire, payload, {1: "tag", 2: "tensor"})
            if inner == 1:
                if name is not None:
                    raise Malformed(f"an entry has two names, '{name}' and another one")
                name = _text(part, "a name")
            elif tensor is not None:
                raise Malformed(f"'{name or '?'}' has two tensors in one entry")
            else:
                tensor = part, at
        if name is None or tensor is None:
            raise Malformed("an entry has no name" if name is None else f"'{name}' has no tensor")
        yield _entry(name, *tensor)


def _entry(name: str, message: memoryview, start: int) -> _Entry:
    dims: list[int] = []
    type_name: str | None = None
    elements: memoryview | None = None
    for number, wire, value, _ in read_fields(message, start):
        if number == 1 and wire == VARINT and isinstance(value, int):
            dims.append(signed(value))
        elif number == 1:
            packed = varints(_bytes("Tensor", number, wire, value, {1: "dims"}))
            dims += map(signed, itertools.islice(packed, _MOST_AXES + 1))
        else:
            part = _bytes("Tensor", number, wire, value, {2: "tensor_type", 3: "tensor_content"})
            if (type_name if number == 2 else elements) is not None:
                raise Malformed(f"'{name}' has two {'dtypes' if number == 2 else 'contents'}")
            if number == 2:
                type_name = _text(part, "a dtype")
            else:
                elements = part
        if len(dims) > _MOST_AXES:
            raise Malformed(f"'{name}' has more than {_MOST_AXES} axes")
    if type_name is None or elements is None:
        raise Malformed(f"'{name}' has no {'dtype' if type_name is None else 'content'}")
    if any(size < 0 for size in dims):
        raise Malformed(f"'{name}' has the shape {tuple(dims)}, with a negative size")
    return _Entry(name, tuple(dims), type_name, elements)


def _value(entry: _Entry, elements: memoryview) -> np.ndarray | str:
    """Return the value of an entry. ``elements`` are the joined elements of all its parts."""
    name, shape = entry.name, entry.shape
    if entry.type_name == _TEXT:
        try:
            return bytes(elements).decode("utf-32-le").rstrip("\0")
        except UnicodeDecodeError:
            raise Malformed(f"'{name}' is a string that is not valid UTF-32") from None
    element_type = _TYPES.get(entry.type_name)
    if element_type is None:
        raise Malformed(
            f"'{name}' has elements of type {entry.type_name[:40]!r}, which mindgrad does not have; it has "
            f"{', '.join(_TYPES)}"
        )
    if shape == (0,) and len(elements) == element_type.itemsize:
        shape = ()  # old files store a scalar with the shape (0,)
    size = math.prod(shape) * element_type.itemsize
    if size != len(elements):
        raise Malformed(
            f"'{name}' of type {entry.type_name} and shape {shape} needs {size} bytes, but has "
            f"{len(elements)}"
        )
    if entry.type_name == "Bool" and np.frombuffer(elements, np.uint8).max(initial=0) > 1:
        raise Malformed(f"'{name}' has Booleans that are neither 0 nor 1")
    try:
        return np.frombuffer(elements, element_type).reshape(shape)
    except ValueError as error:  # the size exceeds NumPy's limit
        raise Malformed(f"'{name}' has the shape {shape}, which no array can have: {error}") from None


def _bytes(
    message: str, number: int, wire: int, value: int | memoryview, fields: dict[int, str]
) -> memoryview:
    """Return the bytes ``value`` of a field; raise ``Malformed`` for an unknown field."""
    if number not in fields:
        raise Malformed(f"a {message} has no field {number}: this is not a MindSpore checkpoint")
    if wire != BYTES or not isinstance(value, memoryview):
        raise Malformed(
            f"the {fields[number]} of a {message} is encoded as {wire_name(wire)}, not as a byte string: "
            "this is not a MindSpore checkpoint"
        )
    return value


def _text(part: memoryview, subject: str) -> str:
    try:
        return bytes(part).decode()
    except UnicodeDecodeError:
        raise Malformed(f"{subject} is not UTF-8: {bytes(part[:40])!r}") from None
