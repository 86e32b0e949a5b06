"""Scatter updates of Parameters, and MindSpore's ``inplace_…`` functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.ir.tensor import Tensor
from mindgrad.ops import layout, scattering
from mindgrad.ops.define import operator_name
from mindgrad.ops.getitem import updated
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.registry import public
from mindgrad.trace import state

__all__ = [
    "inplace_add", "inplace_index_add", "inplace_sub", "inplace_update", "scatter_div", "scatter_max",
    "scatter_min", "scatter_mul", "scatter_nd_add", "scatter_nd_div", "scatter_nd_max", "scatter_nd_min",
    "scatter_nd_mul", "scatter_nd_sub", "scatter_nd_update", "scatter_sub",
]  # fmt: skip

_PARTS = """{what} at indices along the first axis.

    If ``input_x`` is a Parameter, the result is assigned to it.

    Args:
        input_x (Parameter or Tensor): Parameter to update. A tensor that is not a Parameter does not change.
        indices (Tensor): nonnegative integers of any shape, which are indices along the first axis.
        updates (Tensor): values of shape ``indices.shape + input_x.shape[1:]``.
        use_locking (bool): accepted for compatibility and ignored.

    Returns:
        Tensor: the updated value of ``input_x``.

    Raises:
        TypeError: If ``indices`` is not an integer tensor, or ``updates`` differs in dtype from ``input_x``.
        ValueError: If the shape of ``updates`` is not ``indices.shape + input_x.shape[1:]``.
        IndexError: If the value of an index is known and out of range.

    >>> from mindgrad import Parameter, Tensor, ops
    >>> w = Parameter(Tensor([1.0, 2.0, 3.0]), name="w")
    >>> print(ops.{name}(w, Tensor([1]), Tensor([4.0])), w.value())
    {prints} {prints}
    """

_PLACES = (
    _PARTS.replace("at indices along the first axis.", "at multi-dimensional indices.")
    .replace(
        "nonnegative integers of any shape, which are indices along the first axis.",
        "nonnegative integers of shape (…, k): an index for each of the first k axes.",
    )
    .replace("indices.shape + input_x.shape[1:]", "indices.shape[:-1] + input_x.shape[k:]")
    .replace("Tensor([1])", "Tensor([[1]])")
    .replace("is known and out of range.", "is known and out of range for its axis.")
)


def _assigning(
    name: str, function: Callable[[Any, Any, Any], Tensor], meaning: str, prints: str, by_place: bool
) -> Callable[[Any, Any, Any], Tensor]:
    def assigned(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Tensor:
        index = operand(indices, name)
        if not by_place:
            index = layout.expand_dims(index, -1)
        is_parameter = isinstance(input_x, Tensor) and input_x.is_parameter
        # ``input_x`` may have been cast to the compute dtype of a Cell; update the stored value instead
        start = input_x.value() if is_parameter else operand(input_x, name)  # type: ignore[attr-defined]
        result = function(
            start, index, cast(operand(updates, name, start), start.dtype) if is_parameter else updates
        )
        if is_parameter:
            state.write(input_x, result)
        return result

    assigned.__name__ = assigned.__qualname__ = name
    assigned.__doc__ = (_PLACES if by_place else _PARTS).format(name=name, what=meaning, prints=prints)
    form = (
        f"{operator_name(name)}(use_locking: unused={name == 'scatter_nd_update'})(input_x, indices, updates)"
    )
    return public(form)(assigned)


_SUB = (scattering.tensor_scatter_sub, "Subtract updates", "[ 1. -2.  3.]")
_MUL = (scattering.tensor_scatter_mul, "Multiply by updates", "[1. 8. 3.]")
_DIV = (scattering.tensor_scatter_div, "Divide by updates", "[1.  0.5 3. ]")
_MAX = (scattering.tensor_scatter_max, "Take the maximum with updates", "[1. 4. 3.]")
_MIN = (scattering.tensor_scatter_min, "Take the minimum with updates", "[1. 2. 3.]")
_ADD = (scattering.tensor_scatter_add, "Add updates", "[1. 6. 3.]")
_SET = (scattering.tensor_scatter_update, "Write updates", "[1. 4. 3.]")

scatter_sub = _assigning("scatter_sub", *_SUB, False)
scatter_mul = _assigning("scatter_mul", *_MUL, False)
scatter_div = _assigning("scatter_div", *_DIV, False)
scatter_max = _assigning("scatter_max", *_MAX, False)
scatter_min = _assigning("scatter_min", *_MIN, False)
scatter_nd_add = public("ScatterNonAliasingAdd()(input_x, indices, updates)")(
    _assigning("scatter_nd_add", *_ADD, True)
)
scatter_nd_sub = _assigning("scatter_nd_sub", *_SUB, True)
scatter_nd_mul = _assigning("scatter_nd_mul", *_MUL, True)
scatter_nd_div = _assigning("scatter_nd_div", *_DIV, True)
scatter_nd_max = _assigning("scatter_nd_max", *_MAX, True)
scatter_nd_min = _assigning("scatter_nd_min", *_MIN, True)
scatter_nd_update = _assigning("scatter_nd_update", *_SET, True)


# --- functions that return an updated copy ----------------------------------------------------------------


@public(
    "Tensor",
    "InplaceUpdate(indices: integers)(x, input_v)",
    "InplaceUpdateV2()(x, indices, v) >>> ops.InplaceUpdateV2()(Tensor([1.0, 2.0]), (1,), "
    "Tensor([5.0])) => [1. 5.]",
)
def inplace_update(x: Any, v: Any, indices: Any) -> Tensor:
    """Replace rows of a tensor at given indices, and return the new tensor.

    ``x`` itself does not change.

    Args:
        x (Tensor): input tensor.
        v (Tensor or number): new rows, one for each index in ``indices``.
        indices (int, tuple of int, or Tensor): indices of the rows along the first axis of ``x``.

    Returns:
        Tensor of the same shape and dtype as ``x``.

    Raises:
        IndexError: If the value of an index is known and out of range.
        ValueError: If the shape of ``v`` does not match ``x`` and ``indices``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.inplace_update(Tensor([1.0, 2.0]), Tensor([5.0]), 1))
    [1. 5.]
    """
    return updated(x, _rows(indices), v)


@public("InplaceAdd(indices: integers)(x, input_v)")
def inplace_add(x: Any, v: Any, indices: Any) -> Tensor:
    """Add values to rows of a tensor, and return the new tensor.

    ``x`` itself does not change.

    Args:
        x (Tensor): input tensor.
        v (Tensor or number): values to add, one row for each index in ``indices``.
        indices (int, tuple of int, or Tensor): indices of the rows along the first axis of ``x``.

    Returns:
        Tensor of the same shape and dtype as ``x``.

    {Raises as inplace_update}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.inplace_add(Tensor([1.0, 2.0]), Tensor([5.0]), 1))
    [1. 7.]
    """
    return scattering.tensor_scatter_add(x, _column(indices), v)


@public("InplaceSub(indices: integers)(x, input_v)")
def inplace_sub(x: Any, v: Any, indices: Any) -> Tensor:
    """Subtract values from rows of a tensor, and return the new tensor.

    ``x`` itself does not change.

    Args:
        x (Tensor): input tensor.
        v (Tensor or number): values to subtract, one row for each index in ``indices``.
        indices (int, tuple of int, or Tensor): indices of the rows along the first axis of ``x``.

    Returns:
        Tensor of the same shape and dtype as ``x``.

    {Raises as inplace_update}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.inplace_sub(Tensor([1.0, 2.0]), Tensor([5.0]), 1))
    [ 1. -3.]
    """
    return scattering.tensor_scatter_sub(x, _column(indices), v)


def inplace_index_add(var: Any, indices: Any, updates: Any, axis: int) -> Tensor:
    """Add slices to a tensor or Parameter at given indices along an axis.

    If ``var`` is a Parameter, the result is assigned to it.

    Args:
        var (Parameter or Tensor): tensor to which the slices are added.
        indices (Tensor): 1-D integer tensor of indices along ``axis``.
        updates (Tensor): slices to add, one for each index along ``axis``.
        axis (int): axis of ``var`` to which ``indices`` refer.

    Returns:
        Tensor of the same shape and dtype as ``var``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.inplace_index_add(Tensor([1.0, 2.0]), Tensor([1]), Tensor([5.0]), 0))
    [1. 7.]
    """
    return scattering.index_add(var, indices, updates, axis)


def _rows(indices: Any) -> Any:
    return [indices] if isinstance(indices, int) else list(indices) if isinstance(indices, tuple) else indices


def _column(indices: Any) -> Tensor:
    return layout.expand_dims(operand(_rows(indices), "Inplace"), -1)
