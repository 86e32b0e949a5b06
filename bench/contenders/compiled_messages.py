"""All-reduces of a program that XLA has compiled, read from its text."""

from __future__ import annotations

import re

_SIZES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "s32": 4, "u32": 4, "f32": 4, "s64": 8, "f64": 8}
_ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")
_MESSAGE = re.compile(r"= (.*?) all-reduce(?:-start)?\(")


def message_bytes(text: str) -> list[int]:
    """The bytes that each all-reduce of a compiled program sums, in order."""
    return [sum(map(_bytes, _ARRAY.findall(types))) for types in _MESSAGE.findall(text)]


def _bytes(array: tuple[str, str]) -> int:
    kind, shape = array
    count = 1
    for extent in filter(None, shape.split(",")):
        count *= int(extent)
    return _SIZES[kind] * count
