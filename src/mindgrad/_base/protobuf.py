"""Reading and writing of the Protocol Buffers wire format.

A message is a sequence of fields, each with a key and a value. A key is ``number << 3 | wire type``. The wire
types are:

- 0: a varint, with seven bits per byte, lowest bits first. The eighth bit is set if more bytes follow.
- 1: eight bytes.
- 2: a length, followed by this number of bytes.
- 5: four bytes.

See https://protobuf.dev/programming-guides/encoding. This module can read and write any message. Reading
copies no data, because the values are views of the message. Each length is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = [
    "BYTES", "VARINT", "Malformed", "bytes_head", "read_fields", "signed", "varint", "varints", "wire_name",
]  # fmt: skip

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIRE_NAMES = {VARINT: "a number", FIXED64: "eight bytes", BYTES: "bytes", FIXED32: "four bytes"}
_LONGEST_VARINT = 10  # maximum length in bytes of a 64-bit integer, with seven bits per byte


class Malformed(ValueError):
    """Raised if bytes are not a message, or not a message of the expected kind."""


def varint(number: int) -> bytes:
    """Encode an integer as a varint. Negative integers use 64-bit two's complement.

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
    """Encode the key of field ``number`` and the length that precede its content.

    ``length`` is the number of bytes of the content.
    """
    return varint(number << 3 | BYTES) + varint(length)


def signed(number: int) -> int:
    """Convert the value of a varint to a signed 64-bit integer."""
    return number - (1 << 64) if number >> 63 else number


def read_fields(message: memoryview, start: int = 0) -> Iterator[tuple[int, int, int | memoryview, int]]:
    """Yield the number, wire type, value, and byte offset of each field in a message.

    The value is an int for a varint, and otherwise a view of the message.

    Args:
        message: bytes of the message.
        start: offset of the message in its file, for error messages.

    Raises:
        Malformed: If the message ends inside a field, or a key is invalid.
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
                f"at byte {start + at} a field declares {length} bytes, but only "
                f"{len(message) - position} follow: the file is truncated or has another format"
            )
        yield number, wire, message[position : position + length], start + position
        position += length


def varints(packed: memoryview) -> Iterator[int]:
    """Yield the integers of a packed field, a sequence of varints without keys."""
    position = 0
    while position < len(packed):
        number, position = _read_varint(packed, position, 0)
        yield number


def _read_varint(message: memoryview, position: int, start: int) -> tuple[int, int]:
    number = shift = 0
    at = position
    while True:
        if position >= len(message):
            raise Malformed(
                f"the data end inside a number, at byte {start + position}: the file is truncated"
            )
        byte = message[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if position - at >= _LONGEST_VARINT:
            raise Malformed(f"at byte {start + at} a number has more than 64 bits")
    if number >> 64:
        raise Malformed(f"at byte {start + at} a number has more than 64 bits")
    return number, position


def wire_name(wire: int) -> str:
    """Describe the wire type of a field in words, for error messages."""
    return _WIRE_NAMES[wire]
