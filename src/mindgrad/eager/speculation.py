"""Speculative execution starts the program of a deferred call on operands that are predicted.

    its results are taken  ⟺  the call ends as predicted, and its operands are the very arrays that ran

The Python of a call, compared operator by operator with what is predicted, and the program that computes its
values need nothing of each other: XLA runs in threads of its own while Python goes on. An operand is
expected from where it came last time: a Parameter, an argument of the call, or the same array as before.

Cost: a microsecond for each operand; the work of the program where the operands are others, two times in
a row, after which the structure is not speculated on any more. Limits: calls that are one program, for nobody
asks for a value before the end, which takes over no memory, has no loop that may run long, and reads no array
that NumPy may write into.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mindgrad.eager.structure import Leaf, Segment, Structure
from mindgrad.execution.donation import settled
from mindgrad.execution.placement import program_operand
from mindgrad.ir.cost_model import HOST
from mindgrad.ir.tensor import Tensor

__all__ = ["Speculation", "is_shared", "remember_origins", "speculate"]


class Speculation:
    """A program that runs before it is known whether its results are needed.

    Args:
        structure: what the call will probably do.
        segment: its program.
        arrays: the program's operands as the call would hold them.
        results: what it gives, computed or not yet.
    """

    __slots__ = ("_arrays", "_results", "_segment", "_structure")

    def __init__(
        self, structure: Structure, segment: Segment, arrays: Sequence[Any], results: Sequence[Any]
    ) -> None:
        self._structure = structure
        self._segment = segment
        self._arrays = arrays
        self._results = results

    def results_for(self, segment: Segment, leaves: Sequence[Any]) -> Sequence[Any] | None:
        """The results of the program, if it is that of ``segment`` and ran on these ``leaves``."""
        if segment is self._segment and all(
            leaves[~number] is array for number, array in zip(segment.inputs, self._arrays, strict=True)
        ):
            self._structure.misses = 0
            return self._results
        self.was_in_vain()
        return None

    def was_in_vain(self) -> None:
        """Note that nobody takes the results."""
        self._structure.misses += 1


def speculate(structure: Structure, arguments: Sequence[Any]) -> Speculation | None:
    """Start the program of ``structure`` for a call with these arguments, if they tell its operands."""
    program = structure.current()
    if program is None or len(program) != 1 or structure.misses >= HOST.misses:
        return None
    (segment,) = program
    if segment.donated or segment.executable.may_take_long:
        return None
    leaves = [structure.leaves[~number] for number in segment.inputs]
    arrays = [_expected(leaf, arguments) for leaf in leaves]
    if any(array is None or is_shared(array) for array in arrays):
        return None
    try:
        operands = [program_operand(array, leaf.type) for array, leaf in zip(arrays, leaves, strict=True)]
        results = segment.executable.run(operands, [], segment.executable.extra)
    except Exception:  # which the call itself will meet, where it is reported and mended
        structure.misses = HOST.misses
        return None
    return Speculation(structure, segment, arrays, results)


def _expected(leaf: Leaf, arguments: Sequence[Any]) -> Any:
    """The array that a leaf of a call with these arguments will probably have; ``None``: nobody knows."""
    origin = leaf.origin
    if isinstance(origin, int):
        tensor: Any = arguments[origin] if origin < len(arguments) else None
        if not isinstance(tensor, Tensor):
            return None
    else:
        tensor = None if origin is None else origin()
        if not isinstance(tensor, Tensor):
            return tensor
    return settled(tensor._array) if tensor.type is leaf.type else None


def remember_origins(
    structure: Structure, leaves: Sequence[Any], parameters: Mapping[int, Any], arguments: Mapping[int, int]
) -> None:
    """Note where the operands of a call that went as predicted came from.

    Args:
        structure: the call's.
        leaves: the arrays from outside.
        parameters: the Parameters that held some of them, by number.
        arguments: the positions of the call's arguments, by the identity of their arrays.
    """
    for number, (leaf, array) in enumerate(zip(structure.leaves, leaves, strict=True)):
        if number in parameters:
            leaf.origin = weakref.ref(parameters[number])
        elif id(array) in arguments:
            leaf.origin = arguments[id(array)]
        elif not isinstance(array, np.generic):
            leaf.origin = weakref.ref(array)


def is_shared(array: Any) -> bool:
    """Whether somebody may write into an array of the host, other than this package."""
    return type(array) is np.ndarray and array.base is not None and array.flags.writeable
