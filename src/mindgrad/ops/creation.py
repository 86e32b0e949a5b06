"""Creation of tensors: ``zeros``, ``full``, ``arange``, ``eye``, and others."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import DType, as_dtype, float32, int32, int64, promote
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives import arithmetic
from mindgrad.ops.arguments import refuse_unknown, sizes, whole_number
from mindgrad.ops.operands import broadcast_to, cast, operand
from mindgrad.ops.registry import public

__all__ = [
    "arange", "eye", "fill", "full", "full_like", "linspace", "logspace", "ones", "ones_like", "range",
    "scalar_to_tensor", "tril_indices", "triu_indices", "tuple_to_array", "zeros", "zeros_like",
]  # fmt: skip


# --- constant tensors --------------------------------------------------------------------------------


def _constant(number: Any, dtype: DType, shape: tuple[int, ...], operator: str) -> Tensor:
    # a view of one element with strides 0 needs no memory, and is a scalar constant in compiled code
    try:
        with np.errstate(all="ignore"):
            element = (
                np.asarray(number).astype(dtype.numpy)
                if isinstance(number, float)
                else (np.asarray(number, dtype.numpy))
            )
    except (OverflowError, TypeError, ValueError):
        raise TypeError(f"For '{operator}', the number {number!r} does not fit the dtype {dtype}.") from None
    # call this before ``broadcast_to``, because it raises an error if the shape is too large
    made = tensor_type(dtype, shape)
    return make_tensor(np.broadcast_to(element, shape), made)


@public("mint")
def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """Create a tensor filled with one value.

    Args:
        size (int or tuple of int): the shape.
        fill_value (Tensor or number): the value, a number or a tensor of one element, through
            which derivatives pass.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of
            ``Tensor(fill_value)``.

    Returns:
        Tensor of shape ``size``.

    Raises:
        TypeError: If an entry of ``size`` is not an int, or ``fill_value`` is not a number.
        ValueError: If a size is negative, or ``fill_value`` has several elements.

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
                f"For '{operator}', the fill value must be a number or a 0-D tensor, but its "
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
    """Create a tensor of zeros.

    Args:
        size (int or tuple of int): the shape.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means float32.

    Returns:
        Tensor of shape ``size``.

    Raises:
        TypeError: If an entry of ``size`` is not an int, or ``dtype`` is not a dtype.
        ValueError: If a size is negative.

    >>> from mindgrad import int32, ops
    >>> print(ops.zeros((2, 2)), ops.zeros(2, int32))
    [[0. 0.]
     [0. 0.]] [0 0]
    """
    wanted = float32 if dtype is None else as_dtype(dtype)
    return _constant(0, wanted, sizes(size, "Zeros", "size", least=0), "Zeros")


@public("Ones", "numpy.ones(shape: plain, dtype: element_type=float32)")
def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Create a tensor of ones.

    Args:
        shape (int or tuple of int): shape of the result.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means float32.

    Returns:
        Tensor of shape ``shape``.

    Raises:
        TypeError: If an entry of ``shape`` is not an int, or ``dtype`` is not a dtype.
        ValueError: If a size is negative.

    >>> from mindgrad import ops
    >>> print(ops.ones(3))
    [1. 1. 1.]
    """
    wanted = float32 if dtype is None else as_dtype(dtype)
    return _constant(1, wanted, sizes(shape, "Ones", "shape", least=0), "Ones")


@public("Fill")
def fill(type: Any, shape: Any, value: Any) -> Tensor:
    """Create a tensor filled with one value, given dtype, shape, and value.

    Args:
        type (mindgrad.dtype): dtype of the result.
        shape (int or tuple of int): shape of the result.
        value (Tensor or number): value of all elements, a number or a tensor of one element.

    Returns:
        Tensor of shape ``shape``.

    >>> from mindgrad import float32, ops
    >>> print(ops.fill(float32, (2,), 3))
    [3. 3.]
    """
    return _full("Fill", sizes(shape, "Fill", "shape", least=0), value, type)


@public("mint", "Fills()(x, value)")
def full_like(input: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """Create a tensor filled with one value, in the shape of another tensor.

    Args:
        input (Tensor): tensor that determines the shape of the result.
        fill_value (Tensor or number): value of all elements, a number or a tensor of one element.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of ``input``.

    Returns:
        Tensor of the same shape as ``input``.

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
    """Create a tensor of zeros in the shape of another tensor.

    Args:
        input (Tensor): tensor that determines the shape of the result.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of ``input``.

    Returns:
        Tensor of the same shape as ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.zeros_like(Tensor([[1, 2]])))
    [[0 0]]
    """
    like = operand(input, "ZerosLike")
    return _constant(0, like.dtype if dtype is None else as_dtype(dtype), like.shape, "ZerosLike")


@public("OnesLike mint")
def ones_like(input: Any, *, dtype: Any = None) -> Tensor:
    """Create a tensor of ones in the shape of another tensor.

    Args:
        input (Tensor): tensor that determines the shape of the result.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of ``input``.

    Returns:
        Tensor of the same shape as ``input``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.ones_like(Tensor([[1.5, 2.5]])))
    [[1. 1.]]
    """
    like = operand(input, "OnesLike")
    return _constant(1, like.dtype if dtype is None else as_dtype(dtype), like.shape, "OnesLike")


# --- sequences of numbers: arange, linspace, logspace ------------------------------------------------


def _number(value: Any, operator: str, name: str) -> int | float:
    """Convert a real number, or a known tensor of one element, to a Python number."""
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
    """Return ``start``, ``start + step``, … up to ``end``, which is excluded.

    Args:
        start (int or float): first number. If ``end`` is not given, ``start`` is the exclusive upper bound
            and the first number is 0.
        end (int, float, or None): exclusive upper bound.
        step (int or float): difference between neighboring numbers.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means int64 if ``start``, ``end``, and ``step``
            are ints, and float32 otherwise.

    Returns:
        1-D tensor of the numbers ``start + i · step`` before ``end``.

    Raises:
        TypeError: If an argument is not a number.
        ValueError: If ``step`` is 0, or its sign leads away from ``end``.

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
            f"For 'Arange', the 'step' {delta} leads from the 'start' {first} away from the 'end' {stop}. "
            "Change the sign of 'step'."
        )
    whole = all(isinstance(v, int) for v in (first, stop, delta))
    element_type = as_dtype(dtype) if dtype is not None else int64 if whole else float32
    if whole:
        return make_tensor(np.arange(first, stop, delta).astype(element_type.numpy))
    count = math.ceil((stop - first) / delta)
    return make_tensor((first + delta * np.arange(count)).astype(element_type.numpy))


@public("Range(maxlen=1000000)(start, limit, delta)")
def range(start: Any, end: Any, step: Any, maxlen: int = 1000000) -> Tensor:
    """Return ``start``, ``start + step``, … up to ``end``, with a length limit.

    Args:
        start, end, step (int or float): first number, exclusive upper bound, and difference between
            neighboring numbers.
        maxlen (int): largest number of elements that the result may have.

    Returns:
        1-D tensor.

    Raises:
        ValueError: If there are more than ``maxlen`` numbers, ``step`` is 0, or its sign leads away from
            ``end``.

    >>> from mindgrad import ops
    >>> print(ops.range(1, 6, 2))
    [1 3 5]
    """
    numbers = arange(start, end, step)
    if numbers.size > maxlen:
        raise ValueError(
            f"For 'Range', the range has {numbers.size} numbers, but 'maxlen' is {maxlen}. Pass a larger "
            "'maxlen'."
        )
    return numbers


@public("LinSpace")
def linspace(start: Any, end: Any, steps: int) -> Tensor:
    """Return ``steps`` equally spaced numbers, including both ends.

    Args:
        start, end (Tensor or number): first and last number, as numbers or 0-D tensors. The result is
            differentiable with respect to them.
        steps (int): number of elements.

    Returns:
        Tensor of shape (steps,) with the promoted dtype of ``start`` and ``end``, or float32 if both are
        numbers.

    Raises:
        TypeError: If ``steps`` is not an int, or ``start`` or ``end`` is not a number.
        ValueError: If ``steps`` is not positive, or ``start`` or ``end`` is not 0-D.

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
                f"For 'LinSpace', the '{name}' must be a number or a 0-D tensor, but its shape "
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
    """Return powers of ``base`` with equally spaced exponents.

    Args:
        start, end (Tensor or number): first and last exponent of ``base``.
        steps (int): number of elements.
        base (int or float): base of the powers.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of shape (steps,).

    Raises:
        TypeError: If an argument is not a number.
        ValueError: If ``steps`` is not positive.

    >>> from mindgrad import ops
    >>> print(ops.logspace(0, 2, 3))
    [  1.  10. 100.]
    """
    count = whole_number(steps, "LogSpace", "steps", least=1)
    low, high, root = (
        float(_number(v, "LogSpace", name)) for v, name in ((start, "start"), (end, "end"), (base, "base"))
    )
    return make_tensor((root ** np.linspace(low, high, count)).astype(as_dtype(dtype).numpy))


# --- identity matrix and indices of triangles --------------------------------------------------------


@public("Eye mint")
def eye(n: int, m: int | None = None, dtype: Any = None) -> Tensor:
    """Create a matrix with ones on the diagonal and zeros elsewhere.

    Args:
        n (int): number of rows.
        m (int or None): number of columns. ``None`` means ``n``.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means float32.

    Returns:
        Tensor of shape (n, m).

    Raises:
        TypeError: If ``n`` or ``m`` is not an int.
        ValueError: If ``n`` or ``m`` is negative.

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
    """Return the indices of the elements on and below a diagonal of a matrix.

    Args:
        row, col (int): number of rows and number of columns of the matrix.
        offset (int): index of the diagonal: 0 for the main diagonal, positive above it, negative below it.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of shape (2, number of elements): the row indices, and the column indices.

    >>> from mindgrad import ops
    >>> print(ops.tril_indices(2, 2))
    [[0 1 1]
     [0 0 1]]
    """
    return _triangle(np.tril_indices, "TrilIndices", row, col, offset, dtype)


@public("TriuIndices(row: integer, col: integer, offset=0, dtype=int32)()")
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Tensor:
    """Return the indices of the elements on and above a diagonal of a matrix.

    Args:
        row, col (int): number of rows and number of columns of the matrix.
        offset (int): index of the diagonal: 0 for the main diagonal, positive above it, negative below it.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        Tensor of shape (2, number of elements): the row indices, and the column indices.

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


# --- tensors from Python numbers and tuples ----------------------------------------------------------


@public("ScalarToTensor", "ScalarToArray()(x)")
def scalar_to_tensor(input_x: Any, dtype: Any = float32) -> Tensor:
    """Convert a Python number to a 0-D tensor.

    Args:
        input_x (int or float): number to convert.
        dtype (mindgrad.dtype): dtype of the result.

    Returns:
        0-D tensor.

    Raises:
        TypeError: If ``input_x`` is not a number.

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
    """Convert a tuple or range of numbers to a tensor.

    Args:
        input_x (tuple or range): numbers to convert.

    Returns:
        1-D tensor: int32 for ints, float32 for floats.

    Raises:
        TypeError: If ``input_x`` is neither a tuple of numbers nor a range.

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
