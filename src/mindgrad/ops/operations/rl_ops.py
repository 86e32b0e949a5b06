"""Ring buffers for reinforcement learning, as operator classes of MindSpore r1.x.

A buffer is a list of tensors with ``capacity`` rows each. ``count`` consecutive rows are in use, starting at
the row ``head`` and wrapping around. Appending changes the tensors, ``count``, and ``head`` in place.
"""

from __future__ import annotations

from typing import Any

from mindgrad.ir.dtype import float32, int32
from mindgrad.ops import clipping, comparison, creation, flow, indexing, layout, ordering
from mindgrad.ops.arithmetic import add
from mindgrad.ops.getitem import setitem
from mindgrad.ops.index_checks import known
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.operations.base import Attribute, anything, boolean, integer, operation
from mindgrad.ops.random import rand, randint

__all__ = ["BufferAppend", "BufferGetItem", "BufferSample"]

_ROWS: dict[str, Attribute] = {
    "buffer_shape": anything("the shapes of a row of each tensor"),
    "buffer_dtype": anything("the element types of the tensors"),
}


def _checked(self: Any, buffer: Any) -> Any:
    name, shapes = type(self).__name__, [(self.capacity, *shape) for shape in self.buffer_shape]
    found = [operand(part, name).shape for part in buffer]
    if found != shapes:
        raise ValueError(f"For '{name}', the buffer must have the shapes {shapes}, but got {found}.")
    return buffer


def _number(x: Any) -> Any:
    return layout.reshape(cast(operand(x, "Buffer"), int32), ())


def buffer_append(self: Any, buffer: Any, exps: Any, count: Any, head: Any) -> Any:
    """Append rows to a ring buffer; the oldest rows are overwritten when it is full.

    Args:
        buffer (list of Tensor): tensors of the ring buffer, each of shape (capacity, …).
        exps (list of Tensor): rows to append, one tensor for each tensor of the buffer: a single row, or
            several rows along a leading axis.
        count (Parameter): number of rows in use, one integer.
        head (Parameter): index of the oldest row, one integer.

    Returns:
        The new value of ``count``. The tensors of the buffer, ``count``, and ``head`` are changed in place.

    Raises:
        ValueError: If the shapes of ``exps`` and ``buffer`` do not match, or more rows are appended than the
            buffer can hold.
        RuntimeError: If a function is being compiled and a tensor of the buffer is not a Parameter.
    """
    for part in _checked(self, buffer):
        if not part.is_parameter and known(part) is None:
            raise RuntimeError(
                "For 'BufferAppend', a tensor of the buffer is an argument of a compiled function, and a "
                "compiled function cannot change tensors of its caller. Make the tensor a Parameter, or "
                "run in PYNATIVE_MODE."
            )
    first = operand(exps[0], "BufferAppend")
    number = 1 if first.ndim == len(self.buffer_shape[0]) else first.shape[0]
    if number > self.capacity:
        raise ValueError(
            f"For 'BufferAppend', {number} rows do not fit into a buffer of {self.capacity} rows."
        )
    used, oldest = _number(count), _number(head)
    rows = (oldest + used + creation.arange(number, dtype=int32)) % self.capacity
    for part, exp, shape in zip(buffer, exps, self.buffer_shape, strict=True):
        setitem(part, rows, layout.reshape(operand(exp, "BufferAppend"), (number, *shape)))
    overflow: Any = clipping.maximum(used + number - self.capacity, 0)
    oldest = (oldest + overflow) % self.capacity
    flow.assign(head, layout.reshape(oldest, operand(head, "BufferAppend").shape))
    total = clipping.minimum(used + number, self.capacity)
    return flow.assign(count, layout.reshape(total, operand(count, "BufferAppend").shape))


def buffer_get_item(self: Any, buffer: Any, count: Any, head: Any, index: Any) -> tuple[Any, ...]:
    """Return the row of a ring buffer at an index counted from the oldest row.

    Args:
        buffer (list of Tensor): tensors of the ring buffer, each of shape (capacity, …).
        count (Tensor or int): number of rows in use.
        head (Tensor or int): index of the oldest row.
        index (Tensor or int): index of the row, counted from the oldest row. A negative index counts from the
            newest row.

    Returns:
        Tuple of rows, one from each tensor of the buffer.

    Raises:
        ValueError: If the tensors of ``buffer`` do not have ``capacity`` rows of the shapes ``buffer_shape``.
    """
    _checked(self, buffer)
    used, index = _number(count), _number(index)
    row = (_number(head) + indexing.where(comparison.less(index, 0), index + used, index)) % self.capacity
    return tuple(part[row] for part in buffer)


def buffer_sample(self: Any, buffer: Any, count: Any, head: Any) -> tuple[Any, ...]:
    """Draw random rows of a ring buffer from the rows in use.

    Args:
        buffer (list of Tensor): tensors of the ring buffer, each of shape (capacity, …).
        count (Tensor or int): number of rows in use. If ``unique`` is true, it must be at least
            ``batch_size``.
        head (Tensor or int): index of the oldest row.

    Returns:
        Tuple of tensors with ``batch_size`` rows, one for each tensor of the buffer.

    Raises:
        ValueError: If the tensors of ``buffer`` do not have ``capacity`` rows of the shapes ``buffer_shape``.
    """
    _checked(self, buffer)
    seed = self.seed or None
    if self.unique:
        spare = comparison.greater_equal(creation.arange(self.capacity, dtype=int32), _number(count))
        order: Any = ordering.argsort(add(rand(self.capacity, seed=seed), cast(spare, float32)))
        places = order[: self.batch_size]
    else:
        places = randint(0, _number(count), (self.batch_size,), seed)
    rows = (_number(head) + cast(places, int32)) % self.capacity
    return tuple(part[rows] for part in buffer)


_EXAMPLE = 'Parameter(Tensor(2), name="count"), Parameter(Tensor(0), name="head")'
_BUFFER = "[Tensor([[1.0], [2.0], [0.0]])]"

BufferAppend = operation(
    __name__, "BufferAppend", buffer_append, run=buffer_append, attributes={"capacity": integer(), **_ROWS},
    example=f"ops.BufferAppend(3, [(1,)], [None])({_BUFFER}, [Tensor([3.0])], {_EXAMPLE})", prints="3",
)  # fmt: skip
BufferGetItem = operation(
    __name__, "BufferGetItem", buffer_get_item, run=buffer_get_item,
    attributes={"capacity": integer(), **_ROWS},
    example=f"ops.BufferGetItem(3, [(1,)], [None])({_BUFFER}, {_EXAMPLE}, -1)[0]", prints="[2.]",
)  # fmt: skip
BufferSample = operation(
    __name__, "BufferSample", buffer_sample, run=buffer_sample,
    attributes={
        "capacity": integer(), "batch_size": integer(), **_ROWS, "seed": integer(0), "unique": boolean(False),
    },
    example=f"ops.BufferSample(3, 4, [(1,)], [None])({_BUFFER}, {_EXAMPLE})[0].shape", prints="(4, 1)",
)  # fmt: skip
