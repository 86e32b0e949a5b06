"""Blocks of docstrings that many functions share, each written once: results and errors.

A docstring names a block in a line of its own, ``{errors of one x}``, with the argument that it is about, or
the sections of another function of its module, ``{as amax}``, or one of them, ``{Raises as amax}``;
:func:`mindgrad.ops.registry.public` puts them in the place of the line.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["BLOCKS", "with_blocks"]

_HEADS = ("Args:", "Returns:", "Raises:")
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
    "errors of a loss": (
        "    Raises:\n"
        "        TypeError: an operand is complex, or neither a tensor nor a number.\n"
        "        ValueError: the shapes do not fit, or ``reduction`` is another word."
    ),
}


def with_blocks(function: Callable[..., Any]) -> str:
    """The docstring of a function with its blocks and the sections of others.

    >>> from mindgrad import ops
    >>> "elements that tie" in ops.amin.__doc__, "a number that takes part too" in ops.amin.__doc__
    (True, True)
    """

    lines = (function.__doc__ or "").split("\n")
    return "\n".join(_block(line[5:-1], function) if line[:5] == "    {" else line for line in lines)


def _block(text: str, function: Callable[..., Any]) -> str:
    if text in BLOCKS:
        return BLOCKS[text]
    name, _, last = text.rpartition(" ")
    if name in BLOCKS:
        return BLOCKS[name].format(last)
    return _sections(inspect.unwrap(function).__globals__[last], function, name.removesuffix("as").strip())


def _sections(source: Callable[..., Any], function: Callable[..., Any], name: str) -> str:
    """The section ``name`` of a docstring, "" for all, in terms of the arguments of ``function``."""
    text = (source.__doc__ or "").partition("\n    >>> ")[0]
    sections = [part.rstrip() for part in text.split("\n\n") if part.startswith(f"    {name or ''}")]
    joined = "\n\n".join(part for part in sections if part.lstrip().startswith(_HEADS))
    for old, new in zip(_names(source), _names(function), strict=False):
        if old != new:
            joined = joined.replace(f"``{old}``", f"``{new}``").replace(
                f"        {old}: ", f"        {new}: "
            )
    return joined


def _names(function: Callable[..., Any]) -> tuple[str, ...]:
    code = inspect.unwrap(function).__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
