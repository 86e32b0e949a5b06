"""Padding of operands: which axes of operators may have additional elements.

A function that is compiled for many sizes of an axis pads its operands to a larger size. Along a parallel
axis, elements are independent, so padding does not affect other elements. Along a reduced axis, the padding
must contain the neutral element, such as 0 for a sum. ``frontend.programs.open_axes`` calls this module to
determine whether an axis of an operator may have padding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.graph import Equation
from mindgrad.core.ir.index_map import (
    OPAQUE,
    ORDERED,
    PARALLEL,
    REDUCED,
    WINDOWED,
    IndexMap,
    index_map,
    relabeled,
)
from mindgrad.core.ir.primitive import PURE
from mindgrad.core.ir.types import Shape
from mindgrad.core.primitives.indexing import outside

if TYPE_CHECKING:
    from mindgrad.core.ir.rules import Array, Statics

__all__ = ["is_common", "keeps_apart", "neutral_element", "padded_map", "resized_parameters"]


def _lowest(dtype: DType) -> complex:
    return -np.inf if dtype.kind == "float" else np.iinfo(dtype.numpy).min


def _highest(dtype: DType) -> complex:
    return np.inf if dtype.kind == "float" else np.iinfo(dtype.numpy).max


#: maps the name of a reduction or cumulative operator to a function that returns the neutral element of a
#: dtype, such as 0 for a sum. Padding with the neutral element does not change the result
_NEUTRAL: Mapping[str, Callable[[DType], complex]] = {
    "argmax": _lowest,
    "argmin": _highest,
    "conv": lambda dtype: 0,
    "cumprod": lambda dtype: 1,
    "cumsum": lambda dtype: 0,
    "dot": lambda dtype: 0,
    "logcumsumexp": _lowest,
    "logsumexp": _lowest,
    "norm": lambda dtype: 0,
    "reduce_all": lambda dtype: True,
    "reduce_any": lambda dtype: False,
    "reduce_max": _lowest,
    "reduce_min": _highest,
    "reduce_prod": lambda dtype: 1,
    "reduce_sum": lambda dtype: 0,
    "scatter_add": lambda dtype: 0,
}


def padded_map(equation: Equation) -> IndexMap | None:
    """Return the index map of ``equation`` for padded operands, or ``None``.

    The result is ``None`` if the operands must not have padding.
    """
    primitive = equation.primitive
    if primitive.kind == "control" or primitive.effects is not PURE or primitive.communicates:
        return None
    axes = None if primitive.name == "assignment" else index_map(equation)
    if axes is None or primitive.name not in ("gather", "scatter_add", "scatter_set"):
        return axes
    x, indices = axes.operands[:2]
    kinds = dict(axes.kinds)
    for label in [label for label in x if axes.kind(label) == OPAQUE]:
        # padding has no effect here: a lookup beyond the actual size returns a fixed value, and a write
        # beyond the actual size is dropped or changes only padding
        kinds[label] = REDUCED if primitive.name == "gather" else PARALLEL
    if primitive.name == "scatter_add":  # updates are added, so their axes are reduced
        kinds.update((label, REDUCED) for label in axes.operands[2] if label in indices and label not in x)
    return axes._replace(kinds=kinds)


def keeps_apart(equation: Equation, kind: str) -> bool:
    """Return whether padding an axis of ``kind`` leaves all other elements unchanged.

    If the operator has a neutral element, the padding must contain it.
    """
    has_neutral = equation.primitive.name in (*_NEUTRAL, "gather")
    if kind == ORDERED:
        return has_neutral or equation.parameters.get("reverse") is False
    return kind == PARALLEL or (kind == REDUCED and has_neutral)


def is_common(equation: Equation, kind: str) -> bool:
    """Return whether a result axis of ``kind`` has a fixed size, as for ``x[:3]``."""
    return equation.primitive.name == "slice" and kind == WINDOWED


def neutral_element(equation: Equation, operand: int, kind: str) -> complex | Array | None:
    """Return the value that the padding of an operand must have; ``None`` means any."""
    name, dtype = equation.primitive.name, equation.inputs[operand].dtype
    if kind not in (REDUCED, ORDERED):
        return None
    if name == "scatter_add" and operand < 2:
        return None  # the padding of the updates is 0, so the padding of x and of the indices has no effect
    if name == "gather":
        return outside(dtype.numpy, equation.parameters.get("fill", "nan"))
    return _NEUTRAL[name](dtype) if name in _NEUTRAL else None


def resized_parameters(equation: Equation, sizes: Mapping[int, int], shape: Shape) -> Statics | None:
    """Return the parameters of ``equation`` for different sizes of axes, or ``None``.

    Args:
        equation: an equation that has an index map, or whose operator is ``iota`` or ``reshape``.
        sizes: dict that maps each label with a changed size to the new size.
        shape: the new shape of the first result.
    """
    parameters = equation.parameters
    if equation.primitive.name in ("iota", "reshape"):
        return {**parameters, "shape": shape}
    axes = index_map(equation)
    relabeling = None if axes is None else relabeled(equation, axes, axes.operands, axes.results, sizes)
    if axes is None or relabeling is None or relabeling.swaps or relabeling.results != axes.results:
        return None
    if any(relabeling.parameters[name] for name in relabeling.parameters.keys() - parameters.keys()):
        return None  # the equation has no parameter for the new sizes
    return {name: relabeling.parameters.get(name, value) for name, value in parameters.items()}
