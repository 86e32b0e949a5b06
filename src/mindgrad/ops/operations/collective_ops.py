"""Collectives as classes: ``ops.AllReduce()(x)``, which with one process is ``x``."""

from __future__ import annotations

from typing import Any, NoReturn

from mindgrad.communication.management import GlobalComm
from mindgrad.ops import collectives
from mindgrad.ops.collectives import ReduceOp
from mindgrad.ops.operations.base import classes, integer, operation, text
from mindgrad.ops.operations.primitive import Primitive

_GROUP = text(GlobalComm.WORLD_COMM_GROUP)
_X = "(Tensor([1.0, 2.0]))"

AllReduce = operation(
    __name__, "AllReduce", collectives.reduced, attributes={"op": text(ReduceOp.SUM), "group": _GROUP},
    run=lambda self, tensor: collectives.reduced(tensor, self.op),
    example=f"ops.AllReduce(){_X}", prints="[1. 2.]",
)  # fmt: skip
Reduce = operation(
    __name__, "Reduce", collectives.reduced,
    attributes={"dest_rank": integer(), "op": text(ReduceOp.SUM), "group": _GROUP},
    run=lambda self, tensor: collectives.sent_by(
        collectives.reduced(tensor, self.op), self.dest_rank, "Reduce"
    ),
    example=f"ops.Reduce(0){_X}", prints="[1. 2.]",
)  # fmt: skip
ReduceScatter = operation(
    __name__, "ReduceScatter", collectives.reduced,
    attributes={"op": text(ReduceOp.SUM), "group": _GROUP},
    run=lambda self, tensor: collectives.gathered(collectives.reduced(tensor, self.op)),
    example=f"ops.ReduceScatter(){_X}", prints="[1. 2.]",
)  # fmt: skip
AllGather = operation(
    __name__, "AllGather", collectives.gathered, attributes={"group": _GROUP},
    run=lambda self, tensor: collectives.gathered(tensor),
    example=f"ops.AllGather(){_X}", prints="[1. 2.]",
)  # fmt: skip
CollectiveGather = operation(
    __name__, "CollectiveGather", collectives.gathered,
    attributes={"dest_rank": integer(), "group": _GROUP},
    run=lambda self, tensor: collectives.sent_by(
        collectives.gathered(tensor), self.dest_rank, "CollectiveGather"
    ),
    example=f"ops.CollectiveGather(0){_X}", prints="[1. 2.]",
)  # fmt: skip
CollectiveScatter = operation(
    __name__, "CollectiveScatter", collectives.sent_by,
    attributes={"src_rank": integer(0), "group": _GROUP},
    run=lambda self, tensor: collectives.sent_by(
        collectives.gathered(tensor), self.src_rank, "CollectiveScatter"
    ),
    example=f"ops.CollectiveScatter(){_X}", prints="[1. 2.]",
)  # fmt: skip


def _broadcast(self: Any, inputs: Any) -> Any:
    if isinstance(inputs, tuple):  # as MindSpore takes and gives them
        return tuple(collectives.sent_by(x, self.root_rank) for x in inputs)
    return collectives.sent_by(inputs, self.root_rank)


Broadcast = operation(
    __name__, "Broadcast", collectives.sent_by, attributes={"root_rank": integer(), "group": _GROUP},
    run=_broadcast, example=f"ops.Broadcast(0){_X}", prints="[1. 2.]",
)  # fmt: skip
AlltoAll = operation(
    __name__, "AlltoAll", collectives.exchanged,
    attributes={
        "split_count": integer(), "split_dim": integer(), "concat_dim": integer(), "group": _GROUP,
    },
    run=lambda self, tensor: collectives.exchanged(
        tensor, self.split_count, self.split_dim, self.concat_dim
    ),
    example=f"ops.AlltoAll(1, 0, 0){_X}", prints="[1. 2.]",
)  # fmt: skip


class Barrier(Primitive):
    """Waits for all processes: with one there is none to wait for.

    >>> from mindgrad import ops
    >>> ops.Barrier()()
    """

    def __init__(self, group: str = GlobalComm.WORLD_COMM_GROUP) -> None:
        self.group = group

    def __call__(self) -> None:
        """Nothing."""


def _alone(name: str) -> NoReturn:
    raise RuntimeError(f"For '{name}', there is no other process to send to or receive from.")


class Send(Primitive):
    """Sends to another process, of which there is none.

    Raises:
        RuntimeError: always.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        _alone("Send")


class Receive(Primitive):
    """Receives from another process, of which there is none.

    Raises:
        RuntimeError: always.
    """

    def __init__(self, *_: Any, **__: Any) -> None:
        _alone("Receive")


__all__ = list(classes(globals()) + ["Barrier", "Receive", "ReduceOp", "Send"])
