"""The Protocol Buffers wire format encodes a message as a sequence of fields, each a key and a value.

A key is ``number << 3 | wire type``; the wire types are 0 (varint: seven bits a byte, lowest first, the
eighth says that more follow), 1 (eight bytes), 2 (a length, then so many bytes) and 5 (four bytes). The
encoding is the public one of https://protobuf.dev/programming-guides/encoding; this file knows no message.

Nothing is copied or allocated while reading: fields of bytes are views of what was given, and a length
that reaches beyond the end is refused before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = [
    "BYTES", "VARINT", "Malformed", "bytes_head", "read_fields", "signed", "varint", "varints", "wire_name",
]  # fmt: skip

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIRE_NAMES = {VARINT: "a number", FIXED64: "eight bytes", BYTES: "bytes", FIXED32: "four bytes"}
_LONGEST_VARINT = 10  # bytes: 64 bits, seven in each


class Malformed(ValueError):
    """Bytes that are no message, or not the message that was expected."""


def varint(number: int) -> bytes:
    """``number`` as a varint; negative ones in two's complement of 64 bits.

    >>> varint(300).hex()
    'ac02'
    """
    if number < 0:
        number += 1 << 64
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def bytes_head(number: int, length: int) -> bytes:
    """The key and length of field ``number`` with ``length`` bytes."""
    return varint(number << 3 | BYTES) + varint(length)


def signed(number: int) -> int:
    """A varint as a signed integer of 64 bits."""
    return number - (1 << 64) if number >> 63 else number


def read_fields(message: memoryview, start: int = 0) -> Iterator[tuple[int, int, int | memoryview, int]]:
    """Number, wire type, value and place of each field: an int for a varint, a view for everything else.

    Args:
        message: the bytes of the whole message.
        start: where the message stands in its file, for the errors.

    Raises:
        Malformed: the message ends inside of a field, or a key is none.
    """
    position = 0
    while position < len(message):
        at = position
        key, position = _read_varint(message, position, start)
        number, wire = key >> 3, key & 7
        if not 0 < number < 1 << 29:
            raise Malformed(f"at byte {start + at} there is no field: number {number} is not possible")
        if wire == VARINT:
            value, position = _read_varint(message, position, start)
            yield number, wire, value, start + at
            continue
        if wire == BYTES:
            length, position = _read_varint(message, position, start)
        elif wire in (FIXED64, FIXED32):
            length = 8 if wire == FIXED64 else 4
        else:
            raise Malformed(f"at byte {start + at} there is no field: wire type {wire} is not possible")
        if length > len(message) - position:
            raise Malformed(
                f"at byte {start + at} a field says that {length} bytes follow, but only "
                f"{len(message) - position} do: the file is truncated or is something else"
            )
        yield number, wire, message[position : position + length], start + position
        position += length


def varints(packed: memoryview) -> Iterator[int]:
    """The numbers of a packed field: varints without keys."""
    position = 0
    while position < len(packed):
        number, position = _read_varint(packed, position, 0)
        yield number


def _read_varint(message: memoryview, position: int, start: int) -> tuple[int, int]:
    number = shift = 0
    at = position
    while True:
        if position >= len(message):
            raise Malformed(f"it ends inside a number, at byte {start + position}: the file is truncated")
        byte = message[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if position - at >= _LONGEST_VARINT:
            raise Malformed(f"at byte {start + at} there is a number of more than 64 bits")
    if number >> 64:
        raise Malformed(f"at byte {start + at} there is a number of more than 64 bits")
    return number, position


def wire_name(wire: int) -> str:
    """A wire type in words."""
    return _WIRE_NAMES[wire]
