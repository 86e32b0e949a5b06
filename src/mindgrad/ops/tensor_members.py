"""Methods of Tensor that differ from the function of the same name or have none."""

from __future__ import annotations

import math
import operator as python_operator
from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad._base.foreign_names import REMEDIES, advice
from mindgrad.core.arrays.index_checks import known
from mindgrad.core.ir import dtype as types
from mindgrad.core.ir.array_conversion import is_other_array
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.frontend.aliases import rebind
from mindgrad.ops import (
    arithmetic,
    comparison,
    contraction,
    creation,
    getitem,
    indexing,
    layout,
    movement,
    reduction,
    rounding,
    scattering,
)
from mindgrad.ops.conversion import cast
from mindgrad.ops.operands import is_selection, operand
from mindgrad.ops.registry import public

__all__: list[str] = []

# --- Python's operators --------------------------------------------------------------------------------


def reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    """Exchange the operands of a binary operator."""

    def method(self: Tensor, other: Any) -> Any:
        return function(other, self)

    method.__doc__ = function.__doc__
    return method


def matrix_product(self: Any, other: Any) -> Tensor:
    """Compute ``x @ y`` of tensors, arrays, or lists (:func:`mindgrad.ops.matmul`).

    >>> from mindgrad import Tensor
    >>> print(Tensor([[1.0, 2.0]]) @ Tensor([3.0, 4.0]), [1.0, 2.0] @ Tensor([3.0, 4.0]))
    [11.] 11.0
    """
    if isinstance(self, (np.ndarray, list, tuple)):
        self = operand(self, "MatMul")
    if isinstance(other, (np.ndarray, list, tuple)):
        other = operand(other, "MatMul")
    return contraction.matmul(self, other)


_COMPARABLE = (Tensor, bool, int, float, complex, np.ndarray, np.generic)


def _is_comparable(other: Any) -> bool:
    return isinstance(other, _COMPARABLE) or is_selection(other) or is_other_array(other)


def equals(self: Tensor, other: Any) -> Any:
    """Compute ``x == other`` elementwise; ``False`` for other types.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]) == 2, Tensor([1.0, 2.0]) == None)
    [False  True] False
    """
    return comparison.equal(self, other) if _is_comparable(other) else False


def differs(self: Tensor, other: Any) -> Any:
    """Compute ``x != other`` elementwise; ``True`` for other types.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]) != 2, Tensor([1.0, 2.0]) != "a")
    [ True False] True
    """
    return comparison.not_equal(self, other) if _is_comparable(other) else True


def contains(self: Tensor, element: Any) -> bool:
    """Return whether an element of ``x`` equals ``element``.

    >>> from mindgrad import Tensor
    >>> 2 in Tensor([1.0, 2.0]), None in Tensor([1.0, 2.0])
    (True, False)
    """
    return isinstance(element, _COMPARABLE) and bool(reduction.any(comparison.equal(self, element)))


def division(self: Tensor, other: Any) -> tuple[Any, Any]:
    """Compute ``divmod(x, other)``: quotient and remainder.

    >>> from mindgrad import Tensor
    >>> quotient, remainder = divmod(Tensor([7.0]), 2)
    >>> print(quotient, remainder)
    [3.] [1.]
    """
    return arithmetic.floor_divide(self, other), arithmetic.floor_mod(self, other)


def rounded(self: Tensor, digits: int | None = None) -> Tensor:
    """Compute ``round(x, digits)``.

    >>> from mindgrad import Tensor
    >>> print(round(Tensor([1.26]), 1))
    [1.3]
    """
    return rounding.round(self, decimals=0 if digits is None else digits)


# --- dtype conversion and queries ------------------------------------------------------------------------


@public("Tensor")
def astype(self: Tensor, dtype: Any, copy: bool = True) -> Tensor:
    """Convert to another dtype; see :func:`mindgrad.ops.cast`.

    Args:
        dtype (mindgrad.dtype, type, or str): the new dtype: a mindgrad dtype, or a Python or NumPy type or
            its name.
        copy (bool): accepted for compatibility and ignored, because tensors are immutable values.

    Returns:
        Tensor of dtype ``dtype``.

    Raises:
        TypeError: If ``dtype`` is not a dtype.

    >>> from mindgrad import Tensor
    >>> Tensor([1.5, 2.5]).astype("int32")
    Tensor(shape=[2], dtype=Int32, value= [1, 2])
    """
    return cast(self, dtype)


@public("Tensor")
def to(self: Tensor, dtype: Any) -> Tensor:
    """Convert to another dtype.

    Args:
        dtype (mindgrad.dtype): the new dtype.

    Returns:
        Tensor of dtype ``dtype``.

    >>> from mindgrad import Tensor, float16
    >>> Tensor([1.5]).to(float16)
    Tensor(shape=[1], dtype=Float16, value= [ 1.5000e+00])
    """
    if isinstance(dtype, str) and dtype.partition(":")[0].lower() in _DEVICES:
        hint = advice(REMEDIES, "device")
        raise TypeError(f"For 'to', expected a dtype, but got the device {dtype!r}{hint}.")
    return cast(self, dtype)


#: device names that PyTorch programs pass to ``x.to``
_DEVICES = ("cpu", "cuda", "gpu", "mps", "npu", "tpu")


@public("Tensor")
def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Convert to the dtype of another tensor.

    Args:
        other (Tensor): tensor whose dtype is used.

    Returns:
        Tensor with the dtype of ``other``.

    >>> from mindgrad import Tensor
    >>> Tensor([1.5]).type_as(Tensor([1]))
    Tensor(shape=[1], dtype=Int64, value= [1])
    """
    return cast(self, other.dtype)


def converter(name: str, dtype: types.DType) -> Callable[[Tensor], Tensor]:
    """Create the method ``name``, which converts to ``dtype``."""

    def method(self: Tensor) -> Tensor:
        return cast(self, dtype)

    method.__doc__ = f"""Convert to dtype {str(dtype).lower()}.

    Returns:
        Tensor.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0]).{name}().dtype
    {dtype}
    """
    return method


for _name, _type in {
    "bfloat16": types.bfloat16, "bool": types.bool_, "byte": types.uint8, "double": types.float64,
    "float": types.float32, "half": types.float16, "int": types.int32, "long": types.int64,
    "short": types.int16,
}.items():  # fmt: skip
    public(f"Tensor.{_name}")(converter(_name, _type))


@public("Tensor")
def is_floating_point(self: Tensor) -> bool:
    """Check whether the dtype is a floating-point type.

    Returns:
        bool: whether the dtype is a floating-point type.

    >>> from mindgrad import Tensor
    >>> Tensor([1.5]).is_floating_point()
    True
    """
    return self.dtype.is_float


@public("Tensor")
def is_complex(self: Tensor) -> bool:
    """Check whether the dtype is complex.

    Returns:
        bool: whether the dtype is complex.

    >>> from mindgrad import Tensor
    >>> Tensor([1.5]).is_complex()
    False
    """
    return self.dtype.kind == "complex"


@public("Tensor")
def is_signed(self: Tensor) -> bool:
    """Check whether the elements can be negative.

    Returns:
        bool: whether the dtype has negative numbers.

    >>> from mindgrad import Tensor
    >>> Tensor([1.5]).is_signed()
    True
    """
    return self.dtype.kind not in ("bool", "uint")


# --- access to elements ----------------------------------------------------------------------------------


@public("Tensor")
def itemset(self: Tensor, *args: Any) -> Tensor:
    """Return a tensor with one element replaced: ``x.itemset(index, value)``.

    Args:
        *args (int, tuple of int, and number): the index and the new number. The index is an int in row-major
            order or a tuple. For a tensor of one element, the index may be omitted.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        IndexError: If the index is out of range, or missing although there are several elements.

    >>> from mindgrad import Tensor
    >>> print(Tensor([[1.0, 2.0], [3.0, 4.0]]).itemset(2, 7.0))
    [[1. 2.]
     [7. 4.]]
    """
    if len(args) == 1 and self.size == 1:
        return layout.reshape(getitem.updated(layout.ravel(self), 0, args[0]), self.shape)
    if len(args) != 2:
        raise IndexError(
            f"For 'itemset', the index and the number must be given for a tensor of shape {self.shape}, "
            f"but got {len(args)} arguments."
        )
    index, value = args
    if isinstance(index, (tuple, list)):
        return getitem.updated(self, tuple(index), value)
    flat = getitem.updated(layout.ravel(self), python_operator.index(index), value)
    return layout.reshape(flat, self.shape)


@public("Tensor Tensor.fills")
def fill(self: Tensor, value: Any) -> Tensor:
    """Return a tensor of the same shape and dtype, filled with one value.

    Args:
        value (number or None): value of every element. ``None`` means NaN.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: If ``value`` is ``None`` and the dtype is not a floating-point type.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]).fill(3))
    [3. 3.]
    """
    if value is None and not self.dtype.is_float:
        raise TypeError(
            f"For 'fill', value=None means NaN, which dtype {self.dtype} cannot represent. Pass an integer."
        )
    return creation.full_like(self, float("nan") if value is None else value)


@public("Tensor.new_empty Tensor")
def new_zeros(self: Tensor, size: Any, dtype: Any = None) -> Tensor:
    """Create a tensor of zeros, by default with the same dtype.

    Args:
        size (int or tuple of int): shape of the result.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of this tensor.

    Returns:
        Tensor of shape ``size``.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1, 2]).new_zeros(3))
    [0 0 0]
    """
    return creation.zeros(size, self.dtype if dtype is None else dtype)


@public("Tensor")
def new_ones(self: Tensor, size: Any, dtype: Any = None) -> Tensor:
    """Create a tensor of ones, by default with the same dtype.

    Args:
        size (int or tuple of int): shape of the result.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of this tensor.

    Returns:
        Tensor of shape ``size``.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1, 2]).new_ones(3))
    [1 1 1]
    """
    return creation.ones(size, self.dtype if dtype is None else dtype)


@public("Tensor.clone Tensor")
def copy(self: Tensor) -> Tensor:
    """Copy the tensor; derivatives pass through the copy.

    Returns:
        Tensor of the same shape, dtype, and elements.

    >>> from mindgrad import Tensor
    >>> x = Tensor([1.0])
    >>> y = x.copy()
    >>> y[0] = 2.0
    >>> print(x, y)
    [1.] [2.]
    """
    return operand(self, "Copy").__copy__()


@public("Tensor")
def assign_value(self: Tensor, value: Any) -> Tensor:
    """Replace the value of this tensor.

    Args:
        value (Tensor): the new value. It is converted to the dtype of this tensor.

    Returns:
        The tensor itself.

    >>> from mindgrad import Tensor
    >>> x = Tensor([1.0])
    >>> print(x.assign_value(Tensor([2.0])))
    [2.]
    """
    new = cast(value, self.dtype)
    if self.is_parameter:
        references.write(self, new)
    else:
        rebind(self, new)
    return self


@public("Tensor", "numpy.take(a, indices: tensor, axis=None, mode='clip')")
def take(self: Tensor, indices: Any, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Select elements by index along an axis or from the flattened tensor.

    Args:
        indices (Tensor, int, or tuple of int): integer indices of any shape.
        axis (int or None): axis to which ``indices`` refer. ``None`` means the flattened tensor.
        mode (str): how to treat an index outside [−n, n), for an axis of size n. ``"clip"`` uses the
            nearest valid index, ``"wrap"`` the index modulo n, and ``"raise"`` raises an error. Negative
            indices count from the end.

    Returns:
        Tensor of the selected elements.

    Raises:
        ValueError: If ``mode`` is unknown, or ``axis`` is out of range.
        IndexError: If ``mode`` is ``"raise"`` and an index is out of range whose value is known at compile
            time.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]).take(Tensor([1, 5, -1, -5])))
    [2. 2. 2. 1.]
    """
    one_of(mode, ("clip", "wrap", "raise"), "take", "mode")
    count = self.size if axis is None else self.shape[axis]
    index = operand(indices, "Take")
    if mode == "clip":
        index = _within(index, count)
    elif mode == "wrap":
        index = arithmetic.floor_mod(index, count)
    return indexing.take(self, index, axis)


def _within(index: Tensor, count: int) -> Tensor:
    """Clip ``index`` to [−count, count)."""
    values = known(index)
    if values is not None:
        return Tensor(np.clip(values, -count, count - 1))
    low = indexing.select(comparison.greater_equal(index, -count), index, -count)
    return indexing.select(comparison.less(index, count), low, count - 1)


@public("Tensor")
def select(self: Tensor, condition: Any, other: Any) -> Tensor:
    """Choose elements by a condition: ``x.select(condition, other)``.

    With two ints, ``x.select(axis, index)`` returns the slice at ``index`` along ``axis``.

    Args:
        condition (Tensor or int): Boolean tensor that is true where elements of this tensor are chosen; or an
            axis.
        other (Tensor, number, or int): values to choose where the condition is false; or an index along the
            axis.

    Returns:
        Tensor of the chosen elements.

    >>> from mindgrad import Tensor
    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> print(x.select(x > 2, 0.0), x.select(0, 1))
    [[0. 0.]
     [3. 4.]] [3. 4.]
    """
    if isinstance(condition, int) and not isinstance(condition, bool):
        part = movement.narrow(self, condition, other, 1)
        return layout.squeeze(part, condition)
    return indexing.select(condition, self, other)


@public("Tensor")
def index_add(self: Tensor, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Tensor:
    """Add slices, multiplied by ``alpha``, at indices along an axis.

    Args:
        dim (int): axis to which ``index`` refers.
        index (Tensor): 1-D integer tensor of indices along ``dim``.
        source (Tensor): slices to add, one along ``dim`` for each index.
        alpha (int or float): factor of ``source``.

    Returns:
        Tensor of the same shape and dtype.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]).index_add(0, Tensor([0, 0]), Tensor([3.0, 4.0])))
    [8. 2.]
    """
    return scattering.index_add(self, index, source if alpha == 1 else arithmetic.mul(source, alpha), dim)


# --- members that do not read elements ---------------------------------------------------------------------


@public("Tensor.contiguous Tensor.init_data Tensor.to_tensor Tensor.value")
def itself(self: Tensor) -> Tensor:
    """Return the tensor itself.

    Returns:
        The tensor.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0]).contiguous())
    [1.]
    """
    return self


def is_lazy(self: Tensor) -> bool:
    """Return ``False``: initial values are computed immediately.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0]).has_init
    False
    """
    return False


@public("Tensor.dim Tensor.ndimension")
def rank(self: Tensor) -> int:
    """Return the number of axes.

    Returns:
        int: the number of axes.

    >>> from mindgrad import Tensor
    >>> Tensor([[1.0]]).dim()
    2
    """
    return self.ndim


@public("Tensor.nelement Tensor.numel")
def count(self: Tensor) -> int:
    """Return the number of elements.

    Returns:
        int: the number of elements.

    >>> from mindgrad import Tensor
    >>> Tensor([[1.0, 2.0]]).numel()
    2
    """
    return self.size


def strides(self: Tensor) -> tuple[int, ...]:
    """The distance in bytes of neighboring elements along each axis, row-major.

    >>> from mindgrad import Tensor
    >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).strides
    (8, 4)
    """
    return tuple(self.itemsize * math.prod(self.shape[i + 1 :]) for i in range(self.ndim))
