"""Blocks of docstrings that many functions share, each written once: results and errors.

A docstring names a block in a line of its own, ``{errors of one x}``, with the argument that it is about;
:func:`mindgrad.ops.registry.public` puts the block in its place.
"""

from __future__ import annotations

import re

__all__ = ["BLOCKS", "with_blocks"]

_LINE = re.compile(r"^    \{([\w ]+)\}$", re.MULTILINE)

_SHAPE = "    Returns:\n        Tensor of the shape of ``{0}``.\n\n"
_PAIR = "    Returns:\n        Tensor of the broadcast shape and of the promoted element type.\n\n"
_ONE = "    Raises:\n        TypeError: ``{0}`` is neither a tensor nor a number."
_REAL = "    Raises:\n        TypeError: ``{0}`` is complex, or neither a tensor nor a number."
_TWO = (
    "    Raises:\n        TypeError: an operand is neither a tensor nor a number{more}.\n"
    "        ValueError: the shapes do not broadcast."
)

#: the blocks by name; those with {0} are about an argument, which is named behind
BLOCKS = {
    "errors of one": _ONE,
    "errors of a real one": _REAL,
    "errors of two": _TWO.replace("{more}", ""),
    "errors of real two": _TWO.replace("{more}", ", or complex"),
    "one": _SHAPE + _ONE,
    "a real one": _SHAPE + _REAL,
    "two": _PAIR + _TWO.replace("{more}", ""),
    "real two": _PAIR + _TWO.replace("{more}", ", or complex"),
    "errors of a reduction of": (
        "    Raises:\n"
        "        TypeError: ``keep_dims`` is no bool, ``axis`` no int, or ``{0}`` no tensor or number.\n"
        "        ValueError: ``axis`` is out of range or names an axis twice."
    ),
    "errors of square matrices": (
        "    Raises:\n"
        "        TypeError: ``{0}`` is no tensor, or has half precision.\n"
        "        ValueError: the matrices are not square."
    ),
    "errors of arguments": (
        "    Raises:\n"
        "        TypeError: an argument is of another type.\n"
        "        ValueError: the shapes do not fit."
    ),
    "errors of scattering": (
        "    Raises:\n"
        "        TypeError: the indices are not integers, or the element types differ.\n"
        "        ValueError: the shape of ``updates`` does not fit.\n"
        "        IndexError: a known index is out of range."
    ),
    "a spread": (
        "    Args:\n"
        "        input: a real tensor of any shape, or a number. Integers are taken as Float32.\n"
        "        axis: the axis or axes; ``None`` or ``()``: all.\n"
        "        ddof: what is subtracted from the number of elements; ``True`` is 1.\n"
        "        keepdims: whether these axes stay with size 1.\n\n"
        "    Returns:\n"
        "        Tensor without the reduced axes; NaN where ``ddof`` leaves nothing to divide by.\n\n"
        "    Raises:\n"
        "        TypeError: ``keepdims`` is no bool, ``axis`` or ``ddof`` no int, or ``input`` complex or no "
        "tensor.\n"
        "        ValueError: ``axis`` is out of range or names an axis twice."
    ),
    "errors of a loss": (
        "    Raises:\n"
        "        TypeError: an operand is complex, or neither a tensor nor a number.\n"
        "        ValueError: the shapes do not fit, or ``reduction`` is another word."
    ),
}


def with_blocks(text: str) -> str:
    """A docstring with its blocks.

    >>> from mindgrad.ops.blocks import with_blocks
    >>> print(with_blocks("    {errors of one x}"))
        Raises:
            TypeError: ``x`` is neither a tensor nor a number.
    """
    return _LINE.sub(_block, text)


def _block(line: re.Match[str]) -> str:
    if line[1] in BLOCKS:
        return BLOCKS[line[1]]
    name, _, argument = line[1].rpartition(" ")
    return BLOCKS[name].format(argument)
