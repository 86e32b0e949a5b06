"""Collectives as functions, in MindSpore 2.x: ``from mindspore.communication.comm_func import all_reduce``.

With one process each gives its tensor back. Those that MindSpore lets run in the background give a pair of
the result and a handle to wait for it, which is ``None`` without ``async_op``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad._base.waiting import computed
from mindgrad.communication.management import GlobalComm, get_rank
from mindgrad.ir.dtype import float32
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import collectives
from mindgrad.ops.collectives import ReduceOp

__all__ = [
    "CommHandle", "P2POp", "all_gather_into_tensor", "all_reduce", "all_to_all_single_with_output_shape",
    "barrier", "batch_isend_irecv", "broadcast", "gather_into_tensor", "irecv", "isend", "recv", "reduce",
    "reduce_scatter_tensor", "scatter_tensor", "send",
]  # fmt: skip

_WORLD = GlobalComm.WORLD_COMM_GROUP


class CommHandle:
    """A collective that was started, and may be waited for.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import all_reduce
    >>> total, handle = all_reduce(Tensor([1.0, 2.0]), async_op=True)
    >>> handle.wait()
    >>> print(total)
    [1. 2.]
    """

    def __init__(self, result: Any) -> None:
        self._result = result

    def wait(self) -> None:
        """Wait until the result is there; inside a compiled function that is the compiler's affair."""
        if isinstance(self._result, Tensor) and self._result._scope is None:
            computed(self._result._array)


def _handle(result: Tensor, async_op: bool) -> tuple[Tensor, CommHandle | None]:
    return result, CommHandle(result) if async_op else None


def all_reduce(
    tensor: Any, op: str = ReduceOp.SUM, group: str = _WORLD, async_op: bool = False
) -> tuple[Tensor, CommHandle | None]:
    """The tensors of all processes summed, or whatever ``op`` says, on each of them.

    Args:
        tensor: a tensor of any shape, of the same type on all processes.
        op: one of ``"sum"``, ``"max"``, ``"min"``, ``"prod"``, ``"avg"``.
        group: the group of processes.
        async_op: whether to give a handle to wait for.

    Raises:
        TypeError: ``tensor`` is no tensor.
        ValueError: there is no such ``op`` or ``group``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import all_reduce
    >>> print(all_reduce(Tensor([1.0, 2.0]))[0])
    [1. 2.]
    """
    return _handle(collectives.reduced(tensor, op, group), async_op)


def all_gather_into_tensor(
    tensor: Any, group: str = _WORLD, async_op: bool = False
) -> tuple[Tensor, CommHandle | None]:
    """The tensors of all processes, one behind the other along the first axis; as :func:`all_reduce`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import all_gather_into_tensor
    >>> print(all_gather_into_tensor(Tensor([1.0, 2.0]))[0])
    [1. 2.]
    """
    return _handle(collectives.gathered(tensor, group), async_op)


def reduce_scatter_tensor(
    tensor: Any, op: str = ReduceOp.SUM, group: str = _WORLD, async_op: bool = False
) -> tuple[Tensor, CommHandle | None]:
    """This process's part, along the first axis, of the sum; as :func:`all_reduce`.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import reduce_scatter_tensor
    >>> print(reduce_scatter_tensor(Tensor([1.0, 2.0]))[0])
    [1. 2.]
    """
    return _handle(collectives.reduced_parts(tensor, op, group), async_op)


def all_to_all_single_with_output_shape(
    output_shape: Any,
    tensor: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: str = _WORLD,
    async_op: bool = False,
) -> tuple[Tensor, CommHandle | None]:
    """Part r of every process's tensor, along the first axis, on process r, joined along it.

    Args:
        output_shape: the shape of the result, or a tensor of it.
        tensor: a tensor whose first axis the number of processes divides.
        output_split_sizes, input_split_sizes: the lengths of the parts, which must be equal.
        group, async_op: as for :func:`all_reduce`.

    Raises:
        ValueError: the parts are not equal, or the result has another shape.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import all_to_all_single_with_output_shape
    >>> print(all_to_all_single_with_output_shape((2,), Tensor([1.0, 2.0]))[0])
    [1. 2.]
    """
    name = "all_to_all_single_with_output_shape"
    for sizes in (output_split_sizes, input_split_sizes):
        if sizes is not None and len(set(sizes)) > 1:
            raise ValueError(f"For '{name}', the parts must have one length, but got {list(sizes)}.")
    count = len(collectives.get_process_group_ranks(group))
    result = collectives.exchanged(tensor, count, 0, 0, group)
    shape = tuple(output_shape.shape if isinstance(output_shape, Tensor) else output_shape)
    if result.shape != shape:
        raise ValueError(f"For '{name}', the result has the shape {result.shape}, not {shape}.")
    return _handle(result, async_op)


def reduce(tensor: Any, dst: int, op: str = ReduceOp.SUM, group: str = _WORLD) -> Tensor:
    """The sum, in process ``dst``; zeros in the others.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import reduce
    >>> print(reduce(Tensor([1.0, 2.0]), 0))
    [1. 2.]
    """
    return collectives.reduced_by(tensor, dst, op, group)


def broadcast(tensor: Any, src: int = 0, group: str = _WORLD) -> Tensor:
    """The tensor of process ``src``, on all of them.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import broadcast
    >>> print(broadcast(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    return collectives.broadcast(tensor, src, group)


def scatter_tensor(tensor: Any, src: int = 0, group: str = _WORLD) -> Tensor:
    """This process's part, along the first axis, of the tensor of process ``src``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import scatter_tensor
    >>> print(scatter_tensor(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    return collectives.scattered(tensor, src, group)


def gather_into_tensor(tensor: Any, dst: int = 0, group: str = _WORLD) -> Tensor:
    """The tensors of all processes, one behind the other, in process ``dst``; zeros in the others.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import gather_into_tensor
    >>> print(gather_into_tensor(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    return collectives.gathered_by(tensor, dst, group)


def send(tensor: Any, dst: int = 0, group: str = _WORLD, tag: int = 0) -> None:
    """Send a tensor to process ``dst``, which calls :func:`recv`.

    Raises:
        ValueError: ``dst`` is no other process.
    """
    collectives.sent(tensor, dst, group)


def recv(tensor: Any, src: int = 0, group: str = _WORLD, tag: int = 0) -> Tensor:
    """The tensor that process ``src`` sends, of the shape and element type of ``tensor``.

    Raises:
        ValueError: ``src`` is no other process.
    """
    return collectives.received(tensor.shape, tensor.dtype, src, group)


def isend(tensor: Any, dst: int = 0, group: str = _WORLD, tag: int = 0) -> CommHandle:
    """:func:`send`, with a handle to wait for."""
    return CommHandle(collectives.sent(tensor, dst, group))


def irecv(tensor: Any, src: int = 0, group: str = _WORLD, tag: int = 0) -> tuple[Tensor, CommHandle]:
    """:func:`recv`, with a handle to wait for."""
    result = recv(tensor, src, group, tag)
    return result, CommHandle(result)


class P2POp:
    """One message of :func:`batch_isend_irecv`.

    Args:
        op: ``"isend"`` or ``"irecv"``, or the function.
        tensor: what to send, or a tensor of the type to receive.
        peer: the other process.
        group: the group of processes.
        tag: accepted for compatibility.
        recv_dtype: the element type to receive, where ``tensor`` is a shape.

    Raises:
        ValueError: there is no such ``op``.
    """

    def __init__(
        self,
        op: Any,
        tensor: Any,
        peer: int,
        group: str | None = None,
        tag: int = 0,
        *,
        recv_dtype: Any = None,
    ) -> None:
        name = getattr(op, "__name__", op)
        if name not in ("isend", "irecv"):
            raise ValueError(f"For 'P2POp', the 'op' must be 'isend' or 'irecv', but got {op!r}.")
        self.op, self.tensor, self.peer, self.group = name, tensor, peer, group or _WORLD
        self.recv_dtype = recv_dtype


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Any]:
    """Send and receive several tensors; the results in order, for those to send the tensors themselves.

    Each pair of processes meets in the order of its lower rank's sends, so that no order of the list makes
    them wait for each other.

    Raises:
        TypeError: an element is no :class:`P2POp`.
    """
    for message in p2p_op_list:
        if not isinstance(message, P2POp):
            raise TypeError(
                f"For 'batch_isend_irecv', the elements must be of type P2POp, but got "
                f"{type(message).__name__}."
            )
    own = get_rank()

    def order(position: int) -> tuple[int, int, bool, int]:
        message = p2p_op_list[position]
        from_lower = (message.op == "isend") == (own < message.peer)
        return min(own, message.peer), max(own, message.peer), not from_lower, position

    results: list[Any] = [None] * len(p2p_op_list)
    for position in sorted(range(len(p2p_op_list)), key=order):
        message = p2p_op_list[position]
        if message.op == "isend":
            results[position] = collectives.sent(message.tensor, message.peer, message.group)
        elif isinstance(message.tensor, Tensor):
            results[position] = recv(message.tensor, message.peer, message.group)
        else:
            dtype = message.recv_dtype or float32
            results[position] = collectives.received(message.tensor, dtype, message.peer, message.group)
    return results


def barrier(group: str = _WORLD) -> None:
    """Wait for all processes.

    >>> from mindgrad.communication.comm_func import barrier
    >>> barrier()
    """
    collectives.barrier(group)
