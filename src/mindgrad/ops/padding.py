"""Padding: add constant, mirrored, repeated, or wrapped elements around a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.arrays.index_checks import read_along
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.primitives import arithmetic, static_slices, structural
from mindgrad.ops.arguments import sizes, whole_number
from mindgrad.ops.movement import slice_axis
from mindgrad.ops.operands import operand
from mindgrad.ops.registry import public

__all__ = ["pad"]

_MODES = {
    "constant": "constant",
    "reflect": "reflect",
    "symmetric": "symmetric",
    "replicate": "edge",
    "edge": "edge",
    "circular": "wrap",
    "wrap": "wrap",
}


@public("mint.nn.functional.pad(input, pad, mode='constant', value=None)")
def pad(input_x: Any, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Add elements before and after the trailing dimensions of a tensor.

    Args:
        input_x (Tensor): tensor of any shape.
        padding (tuple of int, list of int, or Tensor): flat sequence of pairs (before, after) of numbers of
            elements to add: first the pair of the last axis, then of the second-to-last axis, and so on. A
            negative number removes elements.
        mode (str): ``"constant"`` fills with ``value``. ``"reflect"`` mirrors at the edge element, which is
            not repeated. ``"symmetric"`` mirrors and repeats the edge element. ``"replicate"``
            (``"edge"``) repeats the edge element. ``"circular"`` (``"wrap"``) continues with the other
            end.
        value (int, float, or None): fill value for the mode ``"constant"``. ``None`` means 0.

    Returns:
        Tensor of the padded shape.

    Raises:
        TypeError: If an entry of ``padding`` is not an int.
        ValueError: If ``padding`` has an odd number of entries or more pairs than ``input_x`` has axes,
            ``mode`` is unknown, or more elements are removed or mirrored than the axis has.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.pad(Tensor([1.0, 2.0, 3.0]), (2, 1)))
    [0. 0. 1. 2. 3. 0.]
    >>> print(ops.pad(Tensor([1.0, 2.0, 3.0]), (2, 1), mode="reflect"))
    [3. 2. 1. 2. 3. 2.]
    """
    x = operand(input_x, "Pad")
    if isinstance(padding, (tuple, list)) and any(isinstance(pair, (tuple, list)) for pair in padding):
        _refuse_pairs(padding)
    margins = sizes(padding, "Pad", "padding")
    if len(margins) % 2 or len(margins) > 2 * x.ndim:
        raise ValueError(
            "For 'Pad', the 'padding' must contain pairs of numbers, at most one pair for each of the "
            f"{x.ndim} axes of the input, but got {padding}."
        )
    count = len(margins) // 2
    pairs = [(0, 0)] * (x.ndim - count)
    pairs += [(margins[2 * k], margins[2 * k + 1]) for k in reversed(range(count))]
    return padded(x, pairs, mode, value)


def _refuse_pairs(padding: Sequence[Any]) -> None:
    """Raise an error for pairs as in NumPy, and show the equivalent flat tuple."""
    fix = "(before_last, after_last, before_second_to_last, ...)"
    if all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in padding):
        fix = repr(tuple(size for pair in reversed(padding) for size in pair))
    raise TypeError(
        f"For 'Pad', the 'padding' is {padding!r}, one pair for each axis as in NumPy and JAX. It must be "
        f"one flat tuple that starts with the last axis. Write {fix}."
    )


@public("Padding(pad_dim_size=8)(x)")
def widened_to(x: Any, pad_dim_size: int = 8) -> Tensor:
    """Pad a last axis of size 1 with zeros, as MindSpore's ``padding``.

    Args:
        x (Tensor): tensor of shape (…, 1) with at least two axes.
        pad_dim_size (int): size of the last axis of the result.

    Returns:
        Tensor of shape (…, pad_dim_size).

    Raises:
        ValueError: If the last axis has more than one element, ``x`` has only one axis, or ``pad_dim_size``
            is below 1.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops import functional as F
    >>> print(F.padding(Tensor([[1.0], [2.0]]), 3))
    [[1. 0. 0.]
     [2. 0. 0.]]
    """
    x = operand(x, "Padding")
    count = whole_number(pad_dim_size, "Padding", "pad_dim_size", 1)
    if x.ndim < 2 or x.shape[-1] != 1:
        raise ValueError(
            f"For 'Padding', the input must have at least two axes, the last of size 1, but its shape "
            f"is {x.shape}."
        )
    return padded(x, [(0, 0)] * (x.ndim - 1) + [(0, count - 1)], "constant")


def padded(x: Tensor, pairs: Sequence[tuple[int, int]], mode: str, value: Any = None) -> Tensor:
    """Add ``pairs[i]`` elements before and after axis i; see :func:`pad` for modes."""
    kind = _MODES.get(mode)
    if kind is None:
        raise ValueError(f"For 'Pad', the 'mode' must be one of {', '.join(_MODES)}, but got {mode!r}.")
    if value is not None and kind != "constant":
        raise ValueError(f"For 'Pad', the 'value' must be None in mode {mode!r}, but got {value!r}.")
    for axis, (before, behind) in enumerate(pairs):
        if x.shape[axis] + min(before, 0) + min(behind, 0) < 0:
            raise ValueError(
                f"For 'Pad', the padding {before, behind} removes more elements than axis {axis} of the "
                f"input of shape {x.shape} has."
            )
    if kind == "constant":
        return _with_constant(x, pairs, 0 if value is None else value)
    for axis, pair in enumerate(pairs):
        if pair != (0, 0):
            x = _along_axis(x, axis, *pair, kind, mode)
    return x


def _with_constant(x: Tensor, pairs: Sequence[tuple[int, int]], value: Any) -> Tensor:
    if all(pair == (0, 0) for pair in pairs):
        return x
    widths = dict(
        low=tuple(before for before, _ in pairs),
        high=tuple(behind for _, behind in pairs),
        interior=(0,) * x.ndim,
    )
    wide = apply(static_slices.pad, x, **widths)
    if isinstance(value, (int, float)) and value == 0:
        return wide
    filling = operand(value, "Pad", x)
    if filling.size != 1:
        raise ValueError(f"For 'Pad', the 'value' must be a number, but its shape is {filling.shape}.")
    filling = apply(structural.convert, filling, dtype=x.dtype)
    filling = apply(structural.reshape, filling, shape=())
    filling = apply(structural.broadcast_in_dim, filling, shape=wide.shape, dims=())
    inside = np.ones(wide.shape, bool)
    for axis, (before, behind) in enumerate(pairs):
        place = np.arange(wide.shape[axis]).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
        inside &= (place >= before) & (place < wide.shape[axis] - behind)
    return apply(arithmetic.select, make_tensor(inside), wide, filling)


def _along_axis(x: Tensor, axis: int, before: int, behind: int, kind: str, mode: str) -> Tensor:
    count = x.shape[axis]
    most = {"reflect": count - 1, "symmetric": count, "edge": None, "wrap": count}[kind]
    widest = max(before, behind, 0)
    if (most is not None and widest > most) or (widest and not count):
        raise ValueError(
            f"For 'Pad', the mode {mode!r} can add at most {most or 0} elements to axis {axis} of the "
            f"input of shape {x.shape}, but got {before, behind}."
        )
    if widest == 0:
        return slice_axis(x, axis, -before, count + behind)
    places, added = np.arange(count), (max(before, 0), max(behind, 0))
    window = slice(max(-before, 0), max(before, 0) + count + max(behind, 0) - max(-behind, 0))
    if kind == "wrap":  # negative widths remove elements; repeat the remaining elements periodically
        places = np.pad(places[max(-before, 0) : count - max(-behind, 0)], added, mode="wrap")
    else:
        places = np.pad(places, added, mode=kind)[window]  # type: ignore[call-overload]
    return read_along(x, places.astype(np.int32), axis)
