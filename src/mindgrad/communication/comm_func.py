"""Collectives as functions, in MindSpore 2.x: ``from mindspore.communication.comm_func import all_reduce``.

With one process each gives its tensor back. Those that MindSpore lets run in the background give a pair of
the result and a handle to wait for, which is ``None`` here: the result is there.
"""

from __future__ import annotations

from typing import Any

from mindgrad.communication.management import GlobalComm
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import collectives
from mindgrad.ops.collectives import ReduceOp

__all__ = [
    "all_gather_into_tensor", "all_reduce", "barrier", "broadcast", "gather_into_tensor", "reduce",
    "reduce_scatter_tensor", "scatter_tensor",
]  # fmt: skip

_WORLD = GlobalComm.WORLD_COMM_GROUP


def all_reduce(
    tensor: Any, op: str = ReduceOp.SUM, group: str = _WORLD, async_op: bool = False
) -> tuple[Tensor, None]:
    """The tensors of all processes summed, or whatever ``op`` says.

    Raises:
        TypeError: ``tensor`` is no tensor.
        ValueError: there is no such ``op``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import all_reduce
    >>> print(all_reduce(Tensor([1.0, 2.0]))[0])
    [1. 2.]
    """
    return collectives.reduced(tensor, op), None


def all_gather_into_tensor(tensor: Any, group: str = _WORLD, async_op: bool = False) -> tuple[Tensor, None]:
    """The tensors of all processes, one behind the other; as :func:`all_reduce`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import all_gather_into_tensor
    >>> print(all_gather_into_tensor(Tensor([1.0, 2.0]))[0])
    [1. 2.]
    """
    return collectives.gathered(tensor), None


def reduce_scatter_tensor(
    tensor: Any, op: str = ReduceOp.SUM, group: str = _WORLD, async_op: bool = False
) -> tuple[Tensor, None]:
    """This process's part of the sum; as :func:`all_reduce`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import reduce_scatter_tensor
    >>> print(reduce_scatter_tensor(Tensor([1.0, 2.0]))[0])
    [1. 2.]
    """
    return collectives.gathered(collectives.reduced(tensor, op)), None


def reduce(tensor: Any, dst: int, op: str = ReduceOp.SUM, group: str = _WORLD) -> Tensor:
    """The sum, in process ``dst``, which must be 0.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import reduce
    >>> print(reduce(Tensor([1.0, 2.0]), 0))
    [1. 2.]
    """
    return collectives.sent_by(collectives.reduced(tensor, op), dst, "reduce")


def broadcast(tensor: Any, src: int = 0, group: str = _WORLD) -> Tensor:
    """The tensor of process ``src``, which must be 0.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import broadcast
    >>> print(broadcast(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    return collectives.sent_by(tensor, src, "broadcast")


def scatter_tensor(tensor: Any, src: int = 0, group: str = _WORLD) -> Tensor:
    """This process's part of the tensor of process ``src``, which must be 0.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import scatter_tensor
    >>> print(scatter_tensor(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    return collectives.sent_by(collectives.gathered(tensor), src, "scatter_tensor")


def gather_into_tensor(tensor: Any, dst: int = 0, group: str = _WORLD) -> Tensor:
    """The tensors of all processes, one behind the other, in process ``dst``, which must be 0.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import gather_into_tensor
    >>> print(gather_into_tensor(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    return collectives.sent_by(collectives.gathered(tensor), dst, "gather_into_tensor")


def barrier(group: str = _WORLD) -> None:
    """Wait for all processes: there is no other.

    >>> from mindgrad.communication.comm_func import barrier
    >>> barrier()
    """
