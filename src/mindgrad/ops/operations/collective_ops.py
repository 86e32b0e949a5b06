"""Collectives as operator classes, such as ``ops.AllReduce()(x)``."""

from __future__ import annotations

from typing import Any

from mindgrad.communication.management import GlobalComm
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import collectives
from mindgrad.ops.collectives import ReduceOp  # noqa: F401 - is exported
from mindgrad.ops.operations.base import classes, integer, operation, text
from mindgrad.ops.operations.primitive import Primitive

_GROUP = text(GlobalComm.WORLD_COMM_GROUP)
_X = "(Tensor([1.0, 2.0]))"


def _broadcast(self: Any, inputs: Any) -> Any:
    if isinstance(inputs, tuple):  # MindSpore's Broadcast accepts and returns tuples
        return tuple(collectives.broadcast(x, self.root_rank, self.group) for x in inputs)
    return collectives.broadcast(inputs, self.root_rank, self.group)


Broadcast = operation(
    __name__, "Broadcast", collectives.broadcast, attributes={"root_rank": integer(), "group": _GROUP},
    run=_broadcast, example=f"ops.Broadcast(0){_X}", prints="[1. 2.]",
)  # fmt: skip


class Barrier(Primitive):
    """Wait until all processes of a group reach this point.

    Inside a compiled function, the processes wait at this position among the collectives.

    Args:
        group (str): name of the group of processes that communicate.

    >>> from mindgrad import ops
    >>> ops.Barrier()()
    """

    def __init__(self, group: str = GlobalComm.WORLD_COMM_GROUP) -> None:
        self.group = group

    def __call__(self) -> None:
        """Wait for the other processes."""
        collectives.barrier(self.group)


class Send(Primitive):
    """Send a tensor to another process, which calls :class:`Receive`.

    Args:
        sr_tag (int): tag of the message; :class:`Receive` must get the same number.
        dest_rank (int): rank of the receiving process.
        group (str): name of the group of processes that communicate.
        group_back (str): accepted for compatibility and ignored; the derivative uses ``group``.

    Inputs:
        input_x (Tensor): tensor to send.

    Returns:
        The tensor ``input_x``. Operators that use this result run after the tensor is sent.

    Raises:
        ValueError: If the group has no process of the given rank.

    >>> from mindgrad import ops
    >>> ops.Send(0, 0)
    Traceback (most recent call last):
    ...
    ValueError: For 'Send', the 'dest_rank' must be another rank of the group [0], but got 0.
    """

    def __init__(
        self,
        sr_tag: int,
        dest_rank: int,
        group: str = GlobalComm.WORLD_COMM_GROUP,
        group_back: str | None = None,
    ) -> None:
        self.sr_tag, self.group = sr_tag, group
        self.dest_rank = collectives.partner(dest_rank, "dest_rank", group, "Send")

    def __call__(self, input_x: Any) -> Any:
        """Send ``input_x``."""
        return collectives.sent(input_x, self.dest_rank, self.group)


class Receive(Primitive):
    """Receive a tensor that another process sends with :class:`Send`.

    Args:
        sr_tag (int): tag of the message, the number that the sender passes to :class:`Send`.
        src_rank (int): rank of the sending process.
        shape (tuple of int): shape of the received tensor.
        dtype (mindgrad.dtype): dtype of the received tensor.
        group (str): name of the group of processes that communicate.
        group_back (str): accepted for compatibility and ignored; the derivative uses ``group``.

    Inputs:
        input_x (Tensor, optional): tensor that orders the communication: the operators that compute it run
            before the tensor is received. If reverse mode differentiates this input, it sends the cotangent
            of the received tensor to the sender.

    Returns:
        The received tensor, of shape ``shape`` and dtype ``dtype``.

    Raises:
        ValueError: If the group has no process of the given rank.

    >>> import mindgrad as ms
    >>> from mindgrad import ops
    >>> ops.Receive(0, 0, [1], ms.float32)
    Traceback (most recent call last):
    ...
    ValueError: For 'Receive', the 'src_rank' must be another rank of the group [0], but got 0.
    """

    def __init__(
        self,
        sr_tag: int,
        src_rank: int,
        shape: Any,
        dtype: Any,
        group: str = GlobalComm.WORLD_COMM_GROUP,
        group_back: str | None = None,
    ) -> None:
        self.sr_tag, self.group = sr_tag, group
        self.src_rank = collectives.partner(src_rank, "src_rank", group, "Receive")
        self.shape, self.dtype = tuple(shape), dtype

    def __call__(self, *before: Any) -> Any:
        """Receive the tensor."""
        first = before[0] if before and isinstance(before[0], Tensor) else None
        return collectives.received(self.shape, self.dtype, self.src_rank, self.group, first)


__all__ = list(classes(globals()) + ["Barrier", "Receive", "ReduceOp", "Send"])
