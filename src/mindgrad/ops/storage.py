"""Methods of Tensor that create similar tensors, describe memory, or select."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad._base.shared_docs import with_sections
from mindgrad.core.ir import constant_arguments, settings
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import (
    arithmetic,
    clipping,
    creation,
    indexing,
    joining,
    layout,
    linalg,
    ordering,
    reduction,
    tensor_members,
)
from mindgrad.ops.arguments import sizes, varargs
from mindgrad.ops.getitem import getitem, updated
from mindgrad.ops.operands import broadcast_to, operand, promoted
from mindgrad.ops.registry import public

__all__: list[str] = []

# --- new tensors from data --------------------------------------------------------------------------------


@public("Tensor")
def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """Create a tensor filled with one number, by default with the same dtype.

    Args:
        size (int or tuple of int): shape of the result.
        fill_value (int or float): value of every element.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of this tensor.

    Returns:
        Tensor of shape ``size``.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1, 2]).new_full((3,), 7))
    [7 7 7]
    """
    return creation.full(size, fill_value, dtype=self.dtype if dtype is None else dtype)


@public("Tensor")
def new_tensor(self: Tensor, data: Any, *, dtype: Any = None) -> Tensor:
    """Create a tensor from data, by default with the dtype of this tensor.

    Args:
        data (Tensor or array_like): data to convert.
        dtype (mindgrad.dtype): dtype of the result. ``None`` means the dtype of this tensor.

    Returns:
        Tensor with the values of ``data``.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]).new_tensor([3, 4]))
    [3. 4.]
    """
    return Tensor(data, self.dtype if dtype is None else dtype)


@with_sections
def from_numpy(array: np.ndarray) -> Tensor:
    """Copy a NumPy array into a tensor.

    Args:
        array (numpy.ndarray): NumPy array to copy.

    Returns:
        Tensor with the shape and dtype of the array.

    Raises:
        TypeError: If ``array`` is not a NumPy array.

    >>> import numpy as np
    >>> from mindgrad import Tensor
    >>> print(Tensor.from_numpy(np.ones(2)))
    [1. 1.]
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"For 'from_numpy', the input must be a NumPy array, but got {type(array).__name__}.")
    return Tensor(array)


@with_sections
def frombuffer(buffer: Any, dtype: Any, count: int = -1, offset: int = 0) -> Tensor:
    """Copy the bytes of a buffer into a 1-D tensor.

    Args:
        buffer (bytes, bytearray, or buffer): an object with the buffer protocol.
        dtype (mindgrad.dtype): dtype of the elements.
        count (int): number of elements to copy; −1 means all.
        offset (int): number of bytes of ``buffer`` to skip before the first element.

    Returns:
        1-D tensor of ``count`` elements of dtype ``dtype``.

    Raises:
        ValueError: If ``buffer`` is too short, or does not contain a whole number of elements.

    >>> import mindgrad
    >>> print(mindgrad.frombuffer(b"abcd", mindgrad.uint8, count=2, offset=1))
    [98 99]
    """
    return Tensor(np.frombuffer(buffer, as_dtype(dtype).numpy, count, offset))


# --- memory layout ----------------------------------------------------------------------------------------


@public("Tensor.flush_from_cache")
def nothing(self: Tensor, *args: Any) -> None:
    """Do nothing; accepted for compatibility.

    Args:
        *args (object): ignored.

    Returns:
        ``None``.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0]).flush_from_cache()
    """


@public("Tensor")
def set_const_arg(self: Tensor, const_arg: bool = True) -> Tensor:
    """Choose whether compiled functions treat the tensor as a constant.

    The value of a constant is known at compile time, and the function is compiled for each value. A
    constant has no gradient in GRAPH_MODE.

    Args:
        const_arg (bool): whether the tensor is a constant.

    Returns:
        The tensor itself.

    >>> import mindgrad as ms
    >>> one = ms.Tensor(1).set_const_arg()
    >>> ms.jit(lambda x, n: [x] * int(n))(ms.Tensor(2.0), one), one.const_arg
    ([Tensor(shape=[], dtype=Float32, value= 2)], True)
    """
    constant_arguments.mark(self, const_arg)
    return self


def has_const_arg(self: Tensor) -> bool:
    """Return whether the tensor is a compile-time constant; see :meth:`set_const_arg`."""
    return constant_arguments.is_constant(self)


@public("Tensor")
def is_contiguous(self: Tensor) -> bool:
    """Check whether the elements are in row-major order; they always are.

    Returns:
        Always ``True``.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0]).is_contiguous()
    True
    """
    return True


@public("Tensor")
def element_size(self: Tensor) -> int:
    """Return the number of bytes of one element.

    Returns:
        int: the size of one element in bytes.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0]).element_size()
    4
    """
    return self.itemsize


@public("Tensor")
def stride(self: Tensor, dim: int | None = None) -> list[int] | int:
    """Return the strides in elements: the distance between neighbors along each axis.

    Args:
        dim (int or None): axis whose stride is returned. ``None`` means all axes.

    Returns:
        List of int with one stride for each axis, or one int if ``dim`` is given.

    >>> from mindgrad import Tensor
    >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).stride()
    [2, 1]
    """
    found = [step // self.itemsize for step in tensor_members.strides(self)]
    return found if dim is None else found[dim]


@public("Tensor")
def storage_offset(self: Tensor) -> int:
    """Return the offset of the first element in memory; it is always 0.

    Returns:
        Always 0.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0, 2.0])[1:].storage_offset()
    0
    """
    return 0


@public("Tensor")
def searchsorted(self: Tensor, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Return insertion indices of values in this sorted tensor, as int32.

    See :func:`mindgrad.ops.searchsorted`.

    Args:
        v (Tensor or array_like): values to look up.
        side (str): ``"left"`` for the index before equal elements, ``"right"`` for the index
            after them.
        sorter (Tensor or None): integer indices that sort this tensor in ascending order. Required if this
            tensor is not sorted.

    Returns:
        int32 tensor of insertion indices, with the shape of ``v``.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 3.0, 5.0]).searchsorted(Tensor([2.0, 5.0])))
    [1 2]
    """
    return ordering.searchsorted(self, v, out_int32=True, side=side, sorter=sorter)


def hermitian(self: Tensor) -> Tensor:
    """Return the conjugate transpose of a matrix.

    Raises:
        ValueError: If the tensor is not 2-D.

    >>> from mindgrad import Tensor
    >>> print(Tensor([[1.0, 2.0]]).H.shape)
    (2, 1)
    """
    if self.ndim != 2:
        raise ValueError(f"For 'H', the tensor must have two axes, but its shape is {self.shape}; use mH.")
    return linalg.adjoint_of(self)


# --- access to elements -----------------------------------------------------------------------------------


@public("Tensor")
def choose(self: Tensor, choices: Any, mode: str = "clip") -> Tensor:
    """Choose elements from tensors by the indices in this tensor.

    Args:
        choices (tuple or list of Tensor, or Tensor): tensors to choose from, whose shapes broadcast with this
            tensor; or one tensor whose slices along the first axis are the choices.
        mode (str): how to treat an index out of range: ``"clip"`` uses the nearest choice,
            ``"wrap"`` the index modulo the number of choices.

    Returns:
        Tensor with the broadcast shape.

    Raises:
        ValueError: If ``mode`` is neither ``"clip"`` nor ``"wrap"``.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1, 0]).choose([Tensor([1.0, 2.0]), Tensor([3.0, 4.0])]))
    [3. 2.]
    """
    one_of(mode, ("clip", "wrap"), "choose", "mode")
    if isinstance(choices, Tensor):
        choices = [getitem(choices, k) for k in range(choices.shape[0])]
    tensors = promoted("Choose", *choices)
    last = len(tensors) - 1
    choice = clipping.clamp(self, 0, last) if mode == "clip" else arithmetic.floor_mod(self, last + 1)
    stacked = joining.stack(tensors, 0)
    shape = tuple(np.broadcast_shapes(self.shape, stacked.shape[1:]))
    parts = broadcast_to(stacked, (len(tensors), *shape))
    return layout.squeeze(
        indexing.gather_elements(parts, 0, layout.expand_dims(broadcast_to(choice, shape), 0)), 0
    )


@public("Tensor")
def index(self: Tensor, indices: Any) -> Tensor:
    """Select elements with one index tensor per axis: ``x[tuple(indices)]``.

    Args:
        indices (tuple or list of Tensor): integer index tensors whose shapes broadcast, one for each of the
            leading axes; or Boolean masks.

    Returns:
        Tensor of the selected elements, whose shape is the broadcast shape of ``indices`` followed by the
        axes that are not indexed.

    >>> from mindgrad import Tensor
    >>> print(Tensor([[1.0, 2.0], [3.0, 4.0]]).index((Tensor([0, 1]), Tensor([1, 0]))))
    [2. 3.]
    """
    return getitem(self, tuple(indices))


def device(self: Tensor) -> str:
    """The device of the context, where operators on this tensor run: ``"CPU:0"``.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0]).device
    'CPU:0'
    """
    return f"{settings.get('device_target')}:{settings.get('device_id')}"


@public("Tensor")
def index_put(self: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """Return a copy of the tensor with values written or added at indices.

    Args:
        indices (tuple or list of Tensor): one index tensor for each of the leading axes.
        values (Tensor or number): values to write, which broadcast to the selected elements.
        accumulate (bool): whether to add the values to the elements instead of replacing them.

    Returns:
        Tensor with the shape of this tensor.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]).index_put((Tensor([1]),), Tensor([5.0]), accumulate=True))
    [1. 7.]
    """
    index = tuple(indices)
    if not accumulate:
        return updated(self, index, values)
    columns = np.broadcast_arrays(*[operand(each, "IndexPut").host_array() for each in index])
    place = Tensor(np.stack(columns, -1))
    wanted = getitem(self, index).shape
    return self.scatter_add(place, broadcast_to(operand(values, "IndexPut", self), wanted))  # type: ignore[attr-defined]


@public("Tensor")
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Sum over the axes along which a tensor of another shape would be broadcast.

    Args:
        *size (int or tuple of int): the shape of the result.

    Returns:
        Tensor of shape ``size``.

    Raises:
        ValueError: If a tensor of this shape does not broadcast to the shape of this tensor.

    >>> from mindgrad import Tensor
    >>> print(Tensor([[1.0, 2.0], [3.0, 4.0]]).sum_to_size(1, 2))
    [[4. 6.]]
    """
    target = sizes(varargs(size), "SumToSize", "size", least=0)
    offset = self.ndim - len(target)
    if offset < 0 or any(n not in (1, m) for n, m in zip(target, self.shape[offset:], strict=True)):
        raise ValueError(
            f"For 'SumToSize', a tensor of shape {self.shape} cannot be summed to the shape {target}: "
            "counted from the right, each size of this shape must be 1 or the size of the tensor."
        )
    axes = [k for k in range(self.ndim) if k < offset or target[k - offset] != self.shape[k]]
    found = reduction.sum(self, tuple(axes), True) if axes else self
    return layout.reshape(found, target)
