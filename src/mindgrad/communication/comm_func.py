"""Collectives as functions, as in ``mindspore.communication.comm_func``.

With one process, each function returns its input. Functions that MindSpore can run in the background return
the result and a handle, with which the caller waits for the result. If ``async_op`` is not set, the handle is
``None``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindgrad._base.checks import of_type
from mindgrad.communication.management import GlobalComm, get_process_group_ranks
from mindgrad.core.base.waiting import computed
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import collectives
from mindgrad.ops.arguments import sizes
from mindgrad.ops.collectives import ReduceOp
from mindgrad.ops.joining import concat
from mindgrad.ops.messages import Message, exchanged_messages
from mindgrad.ops.operands import operand
from mindgrad.ops.uneven_collectives import exchanged_by_counts, exchanged_parts, part_sizes

__all__ = [
    "CommHandle", "P2POp", "all_gather_into_tensor", "all_reduce", "all_to_all_single_with_output_shape",
    "all_to_all_v_c", "all_to_all_with_output_shape", "barrier", "batch_isend_irecv", "broadcast",
    "gather_into_tensor", "irecv", "isend", "recv", "reduce", "reduce_scatter_tensor", "scatter_tensor",
    "send",
]  # fmt: skip

_WORLD = GlobalComm.WORLD_COMM_GROUP


class CommHandle:
    """Handle of an asynchronous collective, with a method to wait for its result.

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
        """Wait until the result is computed; do nothing inside a compiled function."""
        if isinstance(self._result, Tensor) and self._result._scope is None:
            computed(self._result._array)


def _handle(result: Tensor, async_op: bool) -> tuple[Tensor, CommHandle | None]:
    return result, CommHandle(result) if async_op else None


def all_reduce(
    tensor: Any, op: str = ReduceOp.SUM, group: str = _WORLD, async_op: bool = False
) -> tuple[Tensor, CommHandle | None]:
    """Reduce the tensors of all processes, and return the result on each process.

    Args:
        tensor (Tensor): tensor of any shape, with the same shape and dtype on all processes.
        op (str, optional): reduction over the processes: ``"sum"``, ``"max"``, ``"min"``, ``"prod"``, or
            ``"avg"``. Default: ``"sum"``.
        group (str, optional): name of the group of processes that take part. Default: all processes.
        async_op (bool, optional): whether to return a :class:`CommHandle`, whose method ``wait()`` waits for
            the result. Default: ``False``.

    Returns:
        tuple: ``(result, handle)``. ``result`` is a Tensor with the shape of ``tensor``; ``handle`` is
        ``None`` unless ``async_op`` is set.

    Raises:
        TypeError: If ``tensor`` is not a tensor.
        ValueError: If there is no reduction ``op`` or no group ``group``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import all_reduce
    >>> print(all_reduce(Tensor([1.0, 2.0]))[0])
    [1. 2.]
    """
    return _handle(collectives.reduced(tensor, op, group), async_op)


def all_gather_into_tensor(
    tensor: Any, group: str = _WORLD, async_op: bool = False
) -> tuple[Tensor, CommHandle | None]:
    """Concatenate the tensors of all processes along the first axis.

    Each process receives the whole result. :func:`all_reduce` documents the arguments and errors.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import all_gather_into_tensor
    >>> print(all_gather_into_tensor(Tensor([1.0, 2.0]))[0])
    [1. 2.]
    """
    return _handle(collectives.gathered(tensor, group), async_op)


def reduce_scatter_tensor(
    tensor: Any, op: str = ReduceOp.SUM, group: str = _WORLD, async_op: bool = False
) -> tuple[Tensor, CommHandle | None]:
    """Reduce the tensors of all processes, and return one part on each process.

    The reduced tensor is divided along its first axis into one part for each process. :func:`all_reduce`
    documents the arguments and errors.

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
    group: str | None = None,
    async_op: bool = False,
) -> tuple[Tensor, CommHandle | None]:
    """Send a part of ``tensor`` to each process, and receive a part from each process.

    The received parts are concatenated along the first axis.

    Args:
        output_shape (tuple of int or Tensor): shape of the result, or a tensor with this shape.
        tensor (Tensor): tensor to send. It is divided along its first axis into one part for each process.
        output_split_sizes (list of int, optional): length along the first axis of the part that each process
            sends to this one. Default: equal lengths.
        input_split_sizes (list of int, optional): length along the first axis of the part that this process
            sends to each process. Default: equal lengths.
        group, async_op: as for :func:`all_reduce`.

    Returns:
        tuple: ``(result, handle)``. ``result`` has shape ``()`` if no elements are received.

    Raises:
        TypeError: If ``tensor`` is not a tensor.
        ValueError: If the lengths of the parts do not match ``tensor``, ``output_shape``, or the parts of
            another process.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import all_to_all_single_with_output_shape
    >>> print(all_to_all_single_with_output_shape((2,), Tensor([1.0, 2.0]))[0])
    [1. 2.]
    """
    name = "all_to_all_single_with_output_shape"
    x, count = operand(tensor, name), len(get_process_group_ranks(group or _WORLD))
    shape = _shape(output_shape, name)
    if not x.ndim or not shape:
        raise ValueError(
            f"For '{name}', all shapes must have at least one axis, but they are {x.shape} and {shape}."
        )
    sent = _equal_parts(input_split_sizes, x.shape[0], count, name)
    expected = _equal_parts(output_split_sizes, shape[0], count, name)
    expected = part_sizes(expected, count, name, "output_split_sizes")
    if sum(expected) != shape[0]:
        raise ValueError(f"For '{name}', {expected} do not sum to the size of the first axis of {shape}.")
    names = ("input_split_sizes", "output_split_sizes")
    result = exchanged_parts(x, sent, expected, group or _WORLD, name, names)
    if result.ndim and result.shape != shape:
        raise ValueError(f"For '{name}', the result has the shape {result.shape}, not {shape}.")
    return _handle(result, async_op)


def _shape(value: Any, operator: str) -> tuple[int, ...]:
    return value.shape if isinstance(value, Tensor) else sizes(value, operator, "output_shape", least=0)


def _equal_parts(parts: Any, length: int, count: int, operator: str) -> Any:
    """Return ``parts``, or, if it is missing, the lengths of equal parts.

    The lengths divide ``length`` into ``count`` parts.
    """
    if parts is not None and len(parts):
        return parts
    if length % count:
        raise ValueError(
            f"For '{operator}', a first axis of length {length} cannot be divided into {count} equal parts. "
            "Pass the lengths of the parts."
        )
    return [length // count] * count


def all_to_all_with_output_shape(
    output_shape_list: Any, input_tensor_list: Any, group: str | None = None, async_op: bool = False
) -> tuple[tuple[Tensor, ...], CommHandle | None]:
    """Send one tensor to each process, and receive one tensor from each process.

    The tensors may have different shapes, but must have the same dtype.

    Args:
        output_shape_list (list): for each process, the shape of the tensor to receive, or a tensor with this
            shape.
        input_tensor_list (list of Tensor): for each process, the tensor that is sent to it.
        group, async_op: as for :func:`all_reduce`.

    Raises:
        TypeError: If ``output_shape_list`` or ``input_tensor_list`` is not a list of tensors or shapes.
        ValueError: If a list does not have one element for each process, or another process sends a different
            number of elements.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import all_to_all_with_output_shape
    >>> (x,), _ = all_to_all_with_output_shape([(2, 1)], [Tensor([1.0, 2.0])])
    >>> x.shape
    (2, 1)
    """
    name, ranks = "all_to_all_with_output_shape", get_process_group_ranks(group or _WORLD)
    for argument, value in (
        ("output_shape_list", output_shape_list),
        ("input_tensor_list", input_tensor_list),
    ):
        of_type(value, (tuple, list), name, argument, "a list")
        if len(value) != len(ranks):
            raise ValueError(
                f"For '{name}', the '{argument}' must have an element for each of {len(ranks)} processes, "
                f"but got {len(value)}."
            )
    xs = [operand(x, name) for x in input_tensor_list]
    kinds = {str(x.dtype) for x in xs}
    if len(kinds) > 1:
        raise TypeError(f"For '{name}', all tensors must have the same dtype, but got {sorted(kinds)}.")
    shapes = [_shape(shape, name) for shape in output_shape_list]
    expected = [math.prod(shape) for shape in shapes]
    flat = concat([x.reshape(-1) for x in xs])
    names = ("input_tensor_list", "output_shape_list")
    joined = exchanged_parts(flat, [x.size for x in xs], expected, group or _WORLD, name, names)
    joined = joined.reshape(-1)[: sum(expected)]
    results, start = [], 0
    for shape, size in zip(shapes, expected, strict=True):
        results.append(joined[start : start + size].reshape(shape))
        start += size
    return tuple(results), CommHandle(joined) if async_op else None


def all_to_all_v_c(
    output: Tensor, input: Any, send_count_matrix: Any, group: str | None = None, async_op: bool = False
) -> CommHandle | None:
    """Exchange parts of ``input`` between processes.

    Each process sends one part of ``input`` to each process, and writes the parts that it receives to
    ``output``.

    Args:
        output (Tensor): tensor with the shape of the result, which is overwritten with the received parts.
        input (Tensor): tensor to send. It is divided along its first axis into one part for each process.
        send_count_matrix (list of int): entry ``i * size + j`` is the length of the part that process i of
            the group sends to process j. All processes must pass the same list.
        group, async_op: as for :func:`all_reduce`.

    Raises:
        TypeError: If ``output`` or ``input`` is not a tensor.
        ValueError: If ``send_count_matrix`` does not match the shapes of ``input`` and ``output``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import all_to_all_v_c
    >>> output = Tensor([0.0, 0.0])
    >>> all_to_all_v_c(output, Tensor([1.0, 2.0]), [2])
    >>> print(output)
    [1. 2.]
    """
    name = "all_to_all_v_c"
    of_type(output, Tensor, name, "output")
    result = exchanged_by_counts(input, send_count_matrix, group or _WORLD, operator=name)
    if result.size != output.size and (result.ndim or output.size):
        raise ValueError(
            f"For '{name}', the 'output' must have {result.size} elements, but has the shape {output.shape}."
        )
    if output.size:
        output.assign_value(result.reshape(output.shape))
    return CommHandle(result) if async_op else None


def reduce(tensor: Any, dst: int, op: str = ReduceOp.SUM, group: str = _WORLD) -> Tensor:
    """Reduce the tensors of all processes, and return the result on process ``dst``.

    All other processes return zeros. :func:`all_reduce` documents the other arguments.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import reduce
    >>> print(reduce(Tensor([1.0, 2.0]), 0))
    [1. 2.]
    """
    return collectives.reduced_by(tensor, dst, op, group)


def broadcast(tensor: Any, src: int = 0, group: str = _WORLD) -> Tensor:
    """Return the tensor of process ``src`` on all processes.

    :func:`all_reduce` documents the other arguments.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import broadcast
    >>> print(broadcast(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    return collectives.broadcast(tensor, src, group)


def scatter_tensor(tensor: Any, src: int = 0, group: str = _WORLD) -> Tensor:
    """Divide the tensor of process ``src`` among all processes.

    The tensor is divided along its first axis. Each process returns its part. :func:`all_reduce` documents
    the other arguments.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import scatter_tensor
    >>> print(scatter_tensor(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    return collectives.scattered(tensor, src, group)


def gather_into_tensor(tensor: Any, dst: int = 0, group: str = _WORLD) -> Tensor:
    """Concatenate the tensors of all processes on process ``dst``.

    All other processes return zeros. :func:`all_reduce` documents the other arguments.

    >>> from mindgrad import Tensor
    >>> from mindgrad.communication.comm_func import gather_into_tensor
    >>> print(gather_into_tensor(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    return collectives.gathered_by(tensor, dst, group)


def send(tensor: Any, dst: int = 0, group: str = _WORLD, tag: int = 0) -> None:
    """Send a tensor to process ``dst``, which calls :func:`recv`.

    Args:
        tensor (Tensor): tensor to send.
        dst (int, optional): rank of the receiving process. Default: ``0``.
        group (str, optional): name of the group of processes that take part. Default: all processes.
        tag (int, optional): accepted for compatibility. Default: ``0``.

    Raises:
        ValueError: If ``dst`` is the rank of this process, or no process has this rank.
    """
    collectives.sent(tensor, dst, group)


def recv(tensor: Any, src: int = 0, group: str = _WORLD, tag: int = 0) -> Tensor:
    """Receive a tensor from process ``src``, with the shape and dtype of ``tensor``.

    Args:
        tensor (Tensor): tensor with the shape and dtype to receive.
        src (int, optional): rank of the sending process. Default: ``0``.
        group (str, optional): name of the group of processes that take part. Default: all processes.
        tag (int, optional): accepted for compatibility. Default: ``0``.

    Raises:
        ValueError: If ``src`` is the rank of this process, or no process has this rank.
    """
    return collectives.received(tensor.shape, tensor.dtype, src, group, tensor)


def isend(tensor: Any, dst: int = 0, group: str = _WORLD, tag: int = 0) -> CommHandle:
    """Send a tensor like :func:`send`, and return a handle with which to wait."""
    return CommHandle(collectives.sent(tensor, dst, group))


def irecv(tensor: Any, src: int = 0, group: str = _WORLD, tag: int = 0) -> tuple[Tensor, CommHandle]:
    """Receive a tensor like :func:`recv`; return it, and a handle with which to wait."""
    result = recv(tensor, src, group, tag)
    return result, CommHandle(result)


class P2POp:
    """One message of :func:`batch_isend_irecv`.

    Args:
        op (str or Callable): ``"isend"``, ``"irecv"``, or the function :func:`isend` or :func:`irecv`.
        tensor (Tensor or tuple of int): for ``"isend"``, the tensor to send. For ``"irecv"``, a tensor with
            the shape and dtype to receive, or only the shape.
        peer (int): rank of the other process.
        group (str, optional): name of the group that contains both processes. Default: all processes.
        tag (int, optional): accepted for compatibility. Default: ``0``.
        recv_dtype (mindgrad.dtype, optional): dtype to receive, if ``tensor`` is a shape. Default:
            ``float32``.

    Raises:
        ValueError: If ``op`` is neither ``"isend"`` nor ``"irecv"``.
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

    def described(self) -> Message:
        """Convert this object to a ``Message``, with the shape and dtype to receive."""
        x = self.tensor
        if self.op == "isend":
            return Message(self.peer, x)
        if isinstance(x, Tensor):
            return Message(self.peer, None, x.shape, x.dtype, x)
        return Message(self.peer, None, x, self.recv_dtype or float32)


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Any]:
    """Send and receive several tensors in one call.

    The function returns a list with one entry for each message: the received tensor, or the tensor that was
    sent. Each pair of processes exchanges its messages in the order in which the lower rank sends them.
    Therefore, no order of the list causes a deadlock.

    Raises:
        TypeError: If an element is not a :class:`P2POp`.
        ValueError: If the messages belong to different groups.
    """
    for message in p2p_op_list:
        if not isinstance(message, P2POp):
            raise TypeError(
                f"For 'batch_isend_irecv', the elements must be of type P2POp, but got "
                f"{type(message).__name__}."
            )
    groups = {message.group for message in p2p_op_list}
    if len(groups) > 1:
        raise ValueError(
            f"For 'batch_isend_irecv', all messages must belong to the same group, but they belong to "
            f"{sorted(groups)}."
        )
    return list(exchanged_messages([message.described() for message in p2p_op_list], *groups))


def barrier(group: str = _WORLD) -> None:
    """Wait until all processes of the group have called this function.

    >>> from mindgrad.communication.comm_func import barrier
    >>> barrier()
    """
    collectives.barrier(group)
