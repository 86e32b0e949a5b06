"""Creation of tensors: ``zeros``, ``ones``, ``full``, ``arange``, ``linspace``, ``eye`` and others."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from mindgrad.ir.dtype import DType, as_dtype, float32, int32, int64, promote
from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor, make_tensor
from mindgrad.ir.types import tensor_type
from mindgrad.ops.arguments import refuse_unknown, sizes, whole_number
from mindgrad.ops.operands import broadcast_to, cast, operand
from mindgrad.ops.registry import public
from mindgrad.rows import arithmetic

__all__ = [
    "arange", "eye", "fill", "full", "full_like", "linspace", "logspace", "ones", "ones_like", "range",
    "scalar_to_tensor", "tril_indices", "triu_indices", "tuple_to_array", "zeros", "zeros_like",
]  # fmt: skip


# --- one number everywhere ---------------------------------------------------------------------------


def _constant(number: Any, dtype: DType, shape: tuple[int, ...], operator: str) -> Tensor:
    # one element, seen with strides of 0: neither memory nor time, and a splat in a compiled program
    try:
        with np.errstate(all="ignore"):
            element = (
                np.asarray(number).astype(dtype.numpy)
                if isinstance(number, float)
                else (np.asarray(number, dtype.numpy))
            )
    except (OverflowError, TypeError, ValueError):
        raise TypeError(
            f"For '{operator}', the number {number!r} does not fit the element type {dtype}."
        ) from None
    made = tensor_type(dtype, shape)  # first: it says which shapes are too large
    return make_tensor(np.broadcast_to(element, shape), made)


@public("mint")
def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of shape ``size`` whose elements all equal ``fill_value``.

    Args:
        size: the shape, an int or a tuple or list of ints.
        fill_value: a number, or a tensor of one element (then it may be differentiated).
        dtype: the element type, by default that of ``Tensor(fill_value)``.

    Raises:
        TypeError: ``size`` holds something that is no int, or ``fill_value`` is no number.
        ValueError: a size is negative, or ``fill_value`` has several elements.

    >>> from mindgrad import ops
    >>> print(ops.full((2, 2), 0.5))
    [[0.5 0.5]
     [0.5 0.5]]
    """
    return _full("Full", sizes(size, "Full", "size", least=0), fill_value, dtype)


def _full(operator: str, shape: tuple[int, ...], number: Any, dtype: Any) -> Tensor:
    if isinstance(number, Tensor):
        tensor = operand(number, operator)
        if tensor.ndim:
            raise ValueError(
                f"For '{operator}', the fill value must be a number or a tensor without axes, but its "
                f"shape is {tensor.shape}."
            )
        return broadcast_to(tensor if dtype is None else cast(tensor, as_dtype(dtype)), shape)
    if isinstance(number, np.generic):
        number = number.item()
    if not isinstance(number, (bool, int, float, complex)):
        raise TypeError(
            f"For '{operator}', the fill value must be a number, but got {number!r} of type "
            f"{type(number).__name__}."
        )
    wanted = Tensor(number).dtype if dtype is None else as_dtype(dtype)
    return _constant(number, wanted, shape, operator)


@public(
    "Zeros",
    "numpy.zeros(shape: plain, dtype: element_type=float32)",
    "numpy.empty(shape: plain, dtype: element_type=float32)",
)
def zeros(size: Any, dtype: Any = None) -> Tensor:
    """Zeros of shape ``size``, by default Float32.

    Raises:
        TypeError: ``size`` holds something that is no int, or ``dtype`` is no element type.
        ValueError: a size is negative.

    >>> from mindgrad import int32, ops
    >>> print(ops.zeros((2, 2)), ops.zeros(2, int32))
    [[0. 0.]
     [0. 0.]] [0 0]
    """
    wanted = float32 if dtype is None else as_dtype(dtype)
    return _constant(0, wanted, sizes(size, "Zeros", "size", least=0), "Zeros")


@public("Ones", "numpy.ones(shape: plain, dtype: element_type=float32)")
def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Ones of shape ``shape``, by default Float32; errors as for :func:`zeros`.

    >>> from mindgrad import ops
    >>> print(ops.ones(3))
    [1. 1. 1.]
    """
    wanted = float32 if dtype is None else as_dtype(dtype)
    return _constant(1, wanted, sizes(shape, "Ones", "shape", least=0), "Ones")


@public("Fill")
def fill(type: Any, shape: Any, value: Any) -> Tensor:
    """:func:`full` with its arguments in another order: the element type, the shape, the number.

    >>> from mindgrad import float32, ops
    >>> print(ops.fill(float32, (2,), 3))
    [3. 3.]
    """
    return _full("Fill", sizes(shape, "Fill", "shape", least=0), value, type)


@public("mint", "Fills()(x, value)")
def full_like(input: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """``fill_value`` in the shape of ``input`` and, unless ``dtype`` is given, of its element type.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.full_like(Tensor([1.0, 2.0]), 3))
    [3. 3.]
    """
    like = operand(input, "FullLike")
    return _full("FullLike", like.shape, fill_value, like.dtype if dtype is None else dtype)


@public(
    "ZerosLike mint", "mint.empty_like(input, *, dtype=None, device: unused=None, pin_memory: unused=False)"
)
def zeros_like(input: Any, *, dtype: Any = None) -> Tensor:
    """Zeros of the shape and element type of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.zeros_like(Tensor([[1, 2]])))
    [[0 0]]
    """
    like = operand(input, "ZerosLike")
    return _constant(0, like.dtype if dtype is None else as_dtype(dtype), like.shape, "ZerosLike")


@public("OnesLike mint")
def ones_like(input: Any, *, dtype: Any = None) -> Tensor:
    """Ones of the shape and element type of ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.ones_like(Tensor([[1.5, 2.5]])))
    [[1. 1.]]
    """
    like = operand(input, "OnesLike")
    return _constant(1, like.dtype if dtype is None else as_dtype(dtype), like.shape, "OnesLike")


# --- numbers in a row --------------------------------------------------------------------------------


def _number(value: Any, operator: str, name: str) -> int | float:
    """A real number, or that in a tensor of one element whose value is known."""
    refuse_unknown(value, operator, name)
    if isinstance(value, Tensor):
        value = value.item()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(
            f"For '{operator}', the '{name}' must be an int or a float, but got {value!r} of type "
            f"{type(value).__name__}."
        )
    return value


@public("mint")
def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """``start``, ``start + step``, … as long as that is before ``end``.

    Args:
        start: the first number; with one argument it is ``end``, and 0 the first.
        end: where to stop; it does not belong to the result.
        step: the difference of neighbours.
        dtype: by default Int64 if all three are ints, else Float32.

    Raises:
        TypeError: an argument is no number.
        ValueError: ``step`` is 0, or leads away from ``end``.

    >>> from mindgrad import ops
    >>> print(ops.arange(4), ops.arange(1.0, 2.0, 0.25))
    [0 1 2 3] [1.   1.25 1.5  1.75]
    """
    if end is None:
        start, end = 0, start
    first, stop, delta = (
        _number(v, "Arange", name) for v, name in ((start, "start"), (end, "end"), (step, "step"))
    )
    if delta == 0:
        raise ValueError("For 'Arange', the 'step' must not be 0.")
    if (stop - first) / delta < 0:
        raise ValueError(
            f"For 'Arange', the 'step' {delta} leads from the 'start' {first} away from the 'end' {stop}."
        )
    whole = all(isinstance(v, int) for v in (first, stop, delta))
    element_type = as_dtype(dtype) if dtype is not None else int64 if whole else float32
    if whole:
        return make_tensor(np.arange(first, stop, delta).astype(element_type.numpy))
    count = math.ceil((stop - first) / delta)
    return make_tensor((first + delta * np.arange(count)).astype(element_type.numpy))


@public("Range(maxlen=1000000)(start, limit, delta)")
def range(start: Any, end: Any, step: Any, maxlen: int = 1000000) -> Tensor:
    """:func:`arange` with all three arguments, at most ``maxlen`` numbers.

    Raises:
        ValueError: there would be more than ``maxlen`` numbers, or ``step`` is 0 or leads away.

    >>> from mindgrad import ops
    >>> print(ops.range(1, 6, 2))
    [1 3 5]
    """
    numbers = arange(start, end, step)
    if numbers.size > maxlen:
        raise ValueError(
            f"For 'Range', there are {numbers.size} numbers, more than 'maxlen' {maxlen} allows."
        )
    return numbers


@public("LinSpace")
def linspace(start: Any, end: Any, steps: int) -> Tensor:
    """``steps`` numbers at equal distances from ``start`` to ``end``, both included.

    Args:
        start, end: numbers, or tensors without axes (then the result may be differentiated).
        steps: how many.

    Returns:
        Tensor of the promoted element type of ``start`` and ``end``, Float32 for numbers.

    Raises:
        TypeError: ``steps`` is no int, or an end is no number.
        ValueError: ``steps`` is not positive, or an end has axes.

    >>> from mindgrad import ops
    >>> print(ops.linspace(0, 1, 5))
    [0.   0.25 0.5  0.75 1.  ]
    """
    count = whole_number(steps, "LinSpace", "steps", least=1)
    ends = []
    for value, name in ((start, "start"), (end, "end")):
        tensor = operand(value if isinstance(value, Tensor) else _number(value, "LinSpace", name), "LinSpace")
        if tensor.ndim:
            raise ValueError(
                f"For 'LinSpace', the '{name}' must be a number or a tensor without axes, but its shape "
                f"is {tensor.shape}."
            )
        ends.append(tensor if tensor.dtype.is_inexact else cast(tensor, float32))
    dtype = promote(ends[0].dtype, ends[1].dtype)
    if not any(isinstance(bound, Tensor) for bound in (start, end)):
        return make_tensor(np.linspace(float(start), float(end), count).astype(dtype.numpy))
    low, high = (broadcast_to(cast(bound, dtype), (count,)) for bound in ends)
    share = np.linspace(0.0, 1.0, count)
    upper, lower = (make_tensor(bound.astype(dtype.numpy)) for bound in (share, 1.0 - share))
    return apply(arithmetic.add, apply(arithmetic.mul, low, lower), apply(arithmetic.mul, high, upper))


@public("LogSpace(steps=10, base=10, dtype=float32)(start, end)")
def logspace(start: Any, end: Any, steps: int, base: Any = 10, *, dtype: Any = float32) -> Tensor:
    """``base`` to the powers from ``start`` to ``end``, ``steps`` of them at equal distances.

    Raises:
        TypeError: an argument is no number.
        ValueError: ``steps`` is not positive.

    >>> from mindgrad import ops
    >>> print(ops.logspace(0, 2, 3))
    [  1.  10. 100.]
    """
    count = whole_number(steps, "LogSpace", "steps", least=1)
    low, high, root = (
        float(_number(v, "LogSpace", name)) for v, name in ((start, "start"), (end, "end"), (base, "base"))
    )
    return make_tensor((root ** np.linspace(low, high, count)).astype(as_dtype(dtype).numpy))


# --- matrices and indices ----------------------------------------------------------------------------


@public("Eye mint")
def eye(n: int, m: int | None = None, dtype: Any = None) -> Tensor:
    """A matrix with ones on the diagonal and zeros elsewhere, by default Float32.

    Args:
        n: the number of rows.
        m: the number of columns, by default ``n``.
        dtype: the element type.

    Raises:
        TypeError: a number is no int.
        ValueError: a number is negative.

    >>> from mindgrad import ops
    >>> print(ops.eye(2, 3))
    [[1. 0. 0.]
     [0. 1. 0.]]
    """
    rows = whole_number(n, "Eye", "n", least=0)
    columns = rows if m is None else whole_number(m, "Eye", "m", least=0)
    wanted = float32 if dtype is None else as_dtype(dtype)
    return make_tensor(np.eye(rows, columns).astype(wanted.numpy))


@public("TrilIndices(row: integer, col: integer, offset=0, dtype=int32)()")
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Tensor:
    """The places of the elements on and below a diagonal of a matrix: row numbers, column numbers.

    >>> from mindgrad import ops
    >>> print(ops.tril_indices(2, 2))
    [[0 1 1]
     [0 0 1]]
    """
    return _triangle(np.tril_indices, "TrilIndices", row, col, offset, dtype)


@public("TriuIndices(row: integer, col: integer, offset=0, dtype=int32)()")
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Tensor:
    """The places of the elements on and above a diagonal of a matrix: row numbers, column numbers.

    >>> from mindgrad import ops
    >>> print(ops.triu_indices(2, 2))
    [[0 0 1]
     [0 1 1]]
    """
    return _triangle(np.triu_indices, "TriuIndices", row, col, offset, dtype)


def _triangle(which: Any, operator: str, row: int, col: int, offset: int, dtype: Any) -> Tensor:
    rows = whole_number(row, operator, "row", least=0)
    columns = whole_number(col, operator, "col", least=0)
    found = which(rows, whole_number(offset, operator, "offset"), columns)
    return make_tensor(np.stack(found).astype(as_dtype(dtype).numpy))


# --- Python values -----------------------------------------------------------------------------------


@public("ScalarToTensor", "ScalarToArray()(x)")
def scalar_to_tensor(input_x: Any, dtype: Any = float32) -> Tensor:
    """A Python number as a tensor without axes.

    Raises:
        TypeError: it is no number.

    >>> from mindgrad import ops
    >>> ops.scalar_to_tensor(3)
    Tensor(shape=[], dtype=Float32, value= 3)
    """
    if not isinstance(input_x, (bool, int, float)):
        raise TypeError(
            f"For 'ScalarToTensor', the input must be a bool, int or float, but got {type(input_x).__name__}."
        )
    return Tensor(input_x, as_dtype(dtype))


@public("TupleToArray")
def tuple_to_array(input_x: Any) -> Tensor:
    """A tuple or range of numbers as a tensor: of ints Int32, of floats Float32.

    Raises:
        TypeError: it is neither a tuple of numbers nor a range.

    >>> from mindgrad import ops
    >>> ops.tuple_to_array((1, 2))
    Tensor(shape=[2], dtype=Int32, value= [1, 2])
    """
    if not isinstance(input_x, (tuple, builtins.range)):
        raise TypeError(
            f"For 'TupleToArray', the input must be a tuple of numbers or a range, but got "
            f"{type(input_x).__name__}."
        )
    whole = builtins.all(isinstance(each, int) for each in input_x)
    return Tensor(list(input_x), int32 if whole else float32)
