"""Compile ``print`` to a callback that prints in each compiled run.

If traced code converts a tensor without a known value to a string (``str``, ``repr``, an f-string), the
string contains a *mark* in place of the value: a short text that identifies the tensor (``ir.tensor``). The
callback replaces each mark by the value and prints the string.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from mindgrad.core.base.text import tensor_format, tensor_repr, tensor_str
from mindgrad.core.control.debug_print import show
from mindgrad.core.ir.scope import GraphScope, innermost, lifted
from mindgrad.core.ir.tensor import MARK, Number, Tensor, marked

__all__ = ["printed"]


def printed(
    *values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
) -> None:
    """Print ``values`` at this point of the code in each run of a compiled function.

    The arguments are the arguments of ``print``.
    """
    scope = innermost()
    text = (" " if sep is None else sep).join(map(str, values)) + ("\n" if end is None else end)
    if not isinstance(scope, GraphScope):
        print(text, end="", file=file, flush=flush)
        return
    pieces: list[Any] = []
    tensors: list[Tensor] = []
    position = 0
    for match_ in MARK.finditer(text):
        tensor, how, _ = marked(int(match_[1]))
        pieces += [text[position : match_.start()], (len(tensors), how, type(tensor) is Number)]
        tensors.append(lifted(tensor))
        position = match_.end()
    pieces.append(text[position:])

    def write(*arrays: np.ndarray) -> None:
        shown = [each if isinstance(each, str) else _shown(arrays[each[0]], *each[1:]) for each in pieces]
        print("".join(shown), end="", file=sys.stdout if file is None else file, flush=flush)

    scope.record(show, tensors, {"function": write})


def _shown(array: np.ndarray, how: str, is_number: bool) -> str:
    """Format an array as a string.

    Args:
        array: the value of a tensor or number.
        how: ``"str"``, ``"repr"``, or a format specification.
        is_number: whether ``array`` is the value of a Python number.
    """
    if how not in ("str", "repr"):
        return tensor_format(array, how)
    if is_number:
        return str(array.item())
    if how == "repr":
        return tensor_repr(array, Tensor(array).dtype.name)
    return tensor_str(array)
