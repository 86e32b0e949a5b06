"""Storage methods of Tensor create tensors like it, describe its memory, and select parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.ir import constant_arguments, settings
from mindgrad.ir.dtype import as_dtype
from mindgrad.ir.tensor import Tensor
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

# --- new tensors ------------------------------------------------------------------------------------------


@public("Tensor")
def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """One number in another shape and, unless ``dtype`` is given, the same element type.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1, 2]).new_full((3,), 7))
    [7 7 7]
    """
    return creation.full(size, fill_value, dtype=self.dtype if dtype is None else dtype)


@public("Tensor")
def new_tensor(self: Tensor, data: Any, *, dtype: Any = None) -> Tensor:
    """Data as a tensor of, unless ``dtype`` is given, the same element type.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 2.0]).new_tensor([3, 4]))
    [3. 4.]
    """
    return Tensor(data, self.dtype if dtype is None else dtype)


def from_numpy(array: np.ndarray) -> Tensor:
    """A NumPy array as a tensor; the data is copied.

    Raises:
        TypeError: it is no NumPy array.

    >>> import numpy as np
    >>> from mindgrad import Tensor
    >>> print(Tensor.from_numpy(np.ones(2)))
    [1. 1.]
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"For 'from_numpy', the input must be a NumPy array, but got {type(array).__name__}.")
    return Tensor(array)


def frombuffer(buffer: Any, dtype: Any, count: int = -1, offset: int = 0) -> Tensor:
    """The bytes of a buffer as a tensor of one axis; the data is copied.

    Args:
        buffer: bytes, a bytearray or another object with the buffer protocol.
        dtype: the element type.
        count: the number of elements, −1 for all.
        offset: the number of bytes before the first one.

    Raises:
        ValueError: the buffer is too short, or is no whole number of elements.

    >>> import mindgrad
    >>> print(mindgrad.frombuffer(b"abcd", mindgrad.uint8, count=2, offset=1))
    [98 99]
    """
    return Tensor(np.frombuffer(buffer, as_dtype(dtype).numpy, count, offset))


# --- storage ----------------------------------------------------------------------------------------------


@public("Tensor.flush_from_cache")
def nothing(self: Tensor, *args: Any) -> None:
    """Accepted for compatibility: does nothing.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0]).flush_from_cache()
    """


@public("Tensor")
def set_const_arg(self: Tensor, const_arg: bool = True) -> Tensor:
    """Let compiled functions take the tensor as a constant, or as data; gives the tensor itself.

    Of a constant the value is known while a function is compiled, which is done for each value. It has no
    gradient in GRAPH_MODE.

    >>> import mindgrad as ms
    >>> one = ms.Tensor(1).set_const_arg()
    >>> ms.jit(lambda x, n: [x] * int(n))(ms.Tensor(2.0), one), one.const_arg
    ([Tensor(shape=[], dtype=Float32, value= 2)], True)
    """
    constant_arguments.mark(self, const_arg)
    return self


def has_const_arg(self: Tensor) -> bool:
    """Whether compiled functions take the tensor as a constant; see :meth:`set_const_arg`."""
    return constant_arguments.is_constant(self)


@public("Tensor")
def is_contiguous(self: Tensor) -> bool:
    """Whether the elements lie in row-major order: always.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0]).is_contiguous()
    True
    """
    return True


@public("Tensor")
def element_size(self: Tensor) -> int:
    """Bytes of one element.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0]).element_size()
    4
    """
    return self.itemsize


@public("Tensor")
def stride(self: Tensor, dim: int | None = None) -> list[int] | int:
    """The distance of neighbours along each axis in row-major order, in elements; along one with ``dim``.

    >>> from mindgrad import Tensor
    >>> Tensor([[1.0, 2.0], [3.0, 4.0]]).stride()
    [2, 1]
    """
    found = [step // self.itemsize for step in tensor_members.strides(self)]
    return found if dim is None else found[dim]


@public("Tensor")
def storage_offset(self: Tensor) -> int:
    """The place of the first element in the memory of the tensor: 0, no tensor is a part of another's memory.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0, 2.0])[1:].storage_offset()
    0
    """
    return 0


@public("Tensor")
def searchsorted(self: Tensor, v: Any, side: str = "left", sorter: Any = None) -> Tensor:
    """Insertion points of values in this sorted tensor, as Int32; see :func:`mindgrad.ops.searchsorted`.

    Args:
        v: a tensor, number, or nested list of numbers.
        side: whether a value stands before (``"left"``) or behind (``"right"``) elements that equal it.
        sorter: the indices that sort this tensor, if it is not in order.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1.0, 3.0, 5.0]).searchsorted(Tensor([2.0, 5.0])))
    [1 2]
    """
    return ordering.searchsorted(self, v, out_int32=True, side=side, sorter=sorter)


def hermitian(self: Tensor) -> Tensor:
    """The conjugate transpose of a matrix.

    Raises:
        ValueError: there are not two axes.

    >>> from mindgrad import Tensor
    >>> print(Tensor([[1.0, 2.0]]).H.shape)
    (2, 1)
    """
    if self.ndim != 2:
        raise ValueError(f"For 'H', the tensor must have two axes, but its shape is {self.shape}; use mH.")
    return linalg.adjoint_of(self)


# --- parts ------------------------------------------------------------------------------------------------


@public("Tensor")
def choose(self: Tensor, choices: Any, mode: str = "clip") -> Tensor:
    """At each place the element of that one of ``choices`` whose number stands there in the tensor.

    Args:
        choices: tensors of shapes that broadcast with this one's: a tuple, a list, or the parts of a tensor
            along its first axis.
        mode: what a number outside means: ``"clip"``: the nearest choice, ``"wrap"``: counted around.

    Raises:
        ValueError: ``mode`` is another.

    >>> from mindgrad import Tensor
    >>> print(Tensor([1, 0]).choose([Tensor([1.0, 2.0]), Tensor([3.0, 4.0])]))
    [3. 2.]
    """
    if mode not in ("clip", "wrap"):
        raise ValueError(f"For 'choose', the 'mode' must be 'clip' or 'wrap', but got {mode!r}.")
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
    """Select elements with one index tensor for each of the first axes: ``x[tuple(indices)]``.

    Args:
        indices: tuple or list of tensors of integers, whose shapes broadcast, or of Booleans.

    Returns:
        Tensor of the broadcast shape of ``indices`` and the axes that are not indexed.

    >>> from mindgrad import Tensor
    >>> print(Tensor([[1.0, 2.0], [3.0, 4.0]]).index((Tensor([0, 1]), Tensor([1, 0]))))
    [2. 3.]
    """
    return getitem(self, tuple(indices))


def device(self: Tensor) -> str:
    """The device of the context, on which operators of this tensor run: ``"CPU:0"``.

    >>> from mindgrad import Tensor
    >>> Tensor([1.0]).device
    'CPU:0'
    """
    return f"{settings.get('device_target')}:{settings.get('device_id')}"


@public("Tensor")
def index_put(self: Tensor, indices: Any, values: Any, accumulate: bool = False) -> Tensor:
    """A tensor like this one with ``values`` written, or added, at ``indices``: one tensor for each axis.

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
    """The sum over the axes along which a tensor of shape ``size`` would be broadcast to this one's shape.

    Raises:
        ValueError: it would not.

    >>> from mindgrad import Tensor
    >>> print(Tensor([[1.0, 2.0], [3.0, 4.0]]).sum_to_size(1, 2))
    [[4. 6.]]
    """
    target = sizes(varargs(size), "SumToSize", "size", least=0)
    offset = self.ndim - len(target)
    if offset < 0 or any(n not in (1, m) for n, m in zip(target, self.shape[offset:], strict=True)):
        raise ValueError(f"For 'SumToSize', a tensor of shape {self.shape} has no sum of shape {target}.")
    axes = [k for k in range(self.ndim) if k < offset or target[k - offset] != self.shape[k]]
    found = reduction.sum(self, tuple(axes), True) if axes else self
    return layout.reshape(found, target)
