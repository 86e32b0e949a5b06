"""Padding of operands: how operators treat additional, arbitrary elements.

A function that is compiled for many sizes of an axis pads its operands to a larger size. Along a parallel
axis, elements are independent, so padding does not affect other elements. Along a reduced axis, the padding
must contain the neutral element, such as 0 for a sum. ``execution.open_axes`` calls this module to determine
whether an axis of an operator may have padding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mindgrad.ir.graph import Equation
from mindgrad.ir.index_map import (
    OPAQUE,
    ORDERED,
    PARALLEL,
    REDUCED,
    WINDOWED,
    IndexMap,
    index_map,
    relabeled,
)
from mindgrad.ir.types import Shape
from mindgrad.primitives.indexing import outside

__all__ = ["is_common", "keeps_apart", "neutral_element", "padded_map", "resized_parameters"]


def _lowest(dtype: Any) -> Any:
    return -np.inf if dtype.kind == "float" else np.iinfo(dtype.numpy).min


def _highest(dtype: Any) -> Any:
    return np.inf if dtype.kind == "float" else np.iinfo(dtype.numpy).max


#: maps the name of a reduction or cumulative operator to a function of the dtype that returns its neutral
#: element: the value of padding that does not change the result, such as 0 for a sum
_NEUTRAL: dict[str, Callable[[Any], Any]] = {
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
    """Return the index map for padded operands; ``None`` if padding may be read."""
    primitive = equation.primitive
    if primitive.kind == "control" or primitive.effect or primitive.calls_back or primitive.communicates:
        return None
    axes = None if primitive.name == "assignment" else index_map(equation)
    if axes is None or primitive.name not in ("gather", "scatter_add", "scatter_set"):
        return axes
    x, indices = axes.operands[:2]
    kinds = dict(axes.kinds)
    for label in [label for label in x if axes.kind(label) == OPAQUE]:
        # a lookup beyond the actual size returns a known value; a write there is dropped, or changes padding
        kinds[label] = REDUCED if primitive.name == "gather" else PARALLEL
    if primitive.name == "scatter_add":  # the axes of updates are reduced, because updates are added
        kinds.update((label, REDUCED) for label in axes.operands[2] if label in indices and label not in x)
    return axes._replace(kinds=kinds)


def keeps_apart(equation: Equation, kind: str) -> bool:
    """Whether padding along an axis of this kind does not affect the other results.

    If the operator has a neutral element, the padding must contain it.
    """
    has_neutral = equation.primitive.name in (*_NEUTRAL, "gather")
    if kind == ORDERED:
        return has_neutral or equation.parameters.get("reverse") is False
    return kind == PARALLEL or (kind == REDUCED and has_neutral)


def is_common(equation: Equation, kind: str) -> bool:
    """Whether the size of the result along an axis is fixed, as for ``x[:3]``."""
    return equation.primitive.name == "slice" and kind == WINDOWED


def neutral_element(equation: Equation, operand: int, kind: str) -> Any:
    """Return the value that the padding of an operand must have; ``None``: any value."""
    name, dtype = equation.primitive.name, equation.inputs[operand].dtype
    if kind not in (REDUCED, ORDERED):
        return None
    if name == "scatter_add" and operand < 2:
        return None  # the padding of the updates is 0, so the padding of x and of the indices is not used
    if name == "gather":
        return outside(dtype.numpy, equation.parameters.get("fill", "nan"))
    return _NEUTRAL[name](dtype) if name in _NEUTRAL else None


def resized_parameters(
    equation: Equation, sizes: Mapping[int, int], shape: Shape
) -> Mapping[str, Any] | None:
    """Return the parameters of an equation for other sizes, if possible.

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
        return None  # the new sizes would need a parameter that the equation does not have
    return {name: relabeling.parameters.get(name, value) for name, value in parameters.items()}
