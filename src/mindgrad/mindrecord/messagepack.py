"""Encode and decode MessagePack, a binary form of JSON, for MindRecord rows.

The first byte of a value contains its type and, for a short value, its length or the value itself. See
https://msgpack.org.
"""

from __future__ import annotations

import struct
from typing import Any

__all__ = ["pack", "unpack"]

_NUMBERS = {
    0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}  # fmt: skip
_LENGTHS = {
    0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I", 0xDC: ">H", 0xDD: ">I",
    0xDE: ">H",
    0xDF: ">I",
}  # fmt: skip
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


def pack(value: Any) -> bytes:
    """Encode ``None``, a bool, a number, a string, or a dict of these in MessagePack.

    >>> from mindgrad.mindrecord.messagepack import pack, unpack
    >>> unpack(pack({"x": -300, "name": "a"}))
    {'x': -300, 'name': 'a'}
    """
    if isinstance(value, dict):
        head = bytes([0x80 | len(value)]) if len(value) < 16 else struct.pack(">BH", 0xDE, len(value))
        return head + b"".join(pack(key) + pack(item) for key, item in value.items())
    if isinstance(value, str):
        data = value.encode()
        if len(data) < 32:
            return bytes([0xA0 | len(data)]) + data
        kind = 0xD9 if len(data) < 1 << 8 else 0xDA if len(data) < 1 << 16 else 0xDB
        return bytes([kind]) + struct.pack(_LENGTHS[kind], len(data)) + data
    if value is None or isinstance(value, bool):
        return bytes([0xC0 if value is None else 0xC3 if value else 0xC2])
    if isinstance(value, float):
        return struct.pack(">Bd", 0xCB, value)
    if isinstance(value, int):
        if -32 <= value < 128:
            return struct.pack(">b", value) if value < 0 else bytes([value])
        if value >= 0:
            kind = next(k for k in (0xCC, 0xCD, 0xCE, 0xCF) if value < 1 << 8 * struct.calcsize(_NUMBERS[k]))
        else:
            kind = next(
                k for k in (0xD0, 0xD1, 0xD2, 0xD3) if value >= -1 << 8 * struct.calcsize(_NUMBERS[k]) - 1
            )
        return bytes([kind]) + struct.pack(_NUMBERS[kind], value)
    raise TypeError(f"{type(value).__name__} cannot be represented in MessagePack")


def unpack(data: bytes) -> Any:
    """Decode a value from MessagePack.

    Raises:
        ValueError: If ``data`` is not valid MessagePack, or contains more than one value.
    """
    try:
        value, end = _value(data, 0)
    except (IndexError, struct.error):
        raise ValueError("the data end inside a value") from None
    if end != len(data):
        raise ValueError(f"{len(data) - end} bytes follow the end of the value")
    return value


def _value(data: bytes, at: int) -> tuple[Any, int]:
    kind, at = data[at], at + 1
    if kind < 0x80:
        return kind, at
    if kind >= 0xE0:
        return kind - 256, at
    if kind in _CONSTANTS:
        return _CONSTANTS[kind], at
    if kind in _NUMBERS:
        (number,) = struct.unpack_from(_NUMBERS[kind], data, at)
        return number, at + struct.calcsize(_NUMBERS[kind])
    if kind in _LENGTHS:
        (length,) = struct.unpack_from(_LENGTHS[kind], data, at)
        at += struct.calcsize(_LENGTHS[kind])
    elif kind < 0xC0:
        length = kind & (0x1F if kind >= 0xA0 else 0x0F)
    else:
        raise ValueError(f"no value begins with the byte {kind}")
    if kind <= 0x8F or kind >= 0xDE:
        return _map(data, at, length)
    if kind <= 0x9F or kind in (0xDC, 0xDD):
        return _list(data, at, length)
    content = data[at : at + length]
    if len(content) < length:
        raise ValueError("the data end inside a value")
    return content if kind in (0xC4, 0xC5, 0xC6) else content.decode(), at + length


def _list(data: bytes, at: int, length: int) -> tuple[list[Any], int]:
    items = []
    for _ in range(length):
        item, at = _value(data, at)
        items.append(item)
    return items, at


def _map(data: bytes, at: int, length: int) -> tuple[dict[Any, Any], int]:
    items = {}
    for _ in range(length):
        key, at = _value(data, at)
        items[key], at = _value(data, at)
    return items, at
