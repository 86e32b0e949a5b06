"""Collectives: combine or exchange tensors of the processes of a group.

Each function is a composition of the primitives in ``distributed.collectives``, which have the derivatives.
With one process, each function returns its input and records nothing.

Every process of the group must call the function, with a tensor of the same shape and dtype, in eager or
compiled code. The derivative of a collective is a collective. Therefore, either all or none of the processes
must differentiate a collective.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad._base.checks import of_type, one_of
from mindgrad._base.shared_docs import with_sections
from mindgrad.communication.management import GlobalComm, get_process_group_ranks, get_rank
from mindgrad.core.ir.dtype import as_dtype, bool_, int32, uint8
from mindgrad.core.ir.scope import apply, open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.arithmetic import neg
from mindgrad.core.primitives.reduction import reduce_min, reduce_prod
from mindgrad.core.primitives.structural import reshape
from mindgrad.distributed import collectives as primitives
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.operands import applied, broadcast_to, cast, full_tensor, operand
from mindgrad.ops.registry import public

__all__ = [
    "ReduceOp", "barrier", "broadcast", "exchanged", "gathered",
    "gathered_by", "partner", "passed_on", "received", "reduced", "reduced_by", "reduced_parts",
    "scattered", "sent",
]  # fmt: skip

_WORLD = GlobalComm.WORLD_COMM_GROUP


@with_sections
class ReduceOp:
    """Reductions that combine the tensors of several processes.

    >>> from mindgrad import ops
    >>> ops.ReduceOp.SUM
    'sum'
    """

    SUM = "sum"
    MAX = "max"
    MIN = "min"
    PROD = "prod"
    AVG = "avg"


_KINDS = (ReduceOp.SUM, ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PROD, ReduceOp.AVG)


def _ranks(group: str) -> tuple[int, ...]:
    return tuple(get_process_group_ranks(group))


def _checked(op: Any, operator: str) -> str:
    of_type(op, str, operator, "op", "a string")
    one_of(op, _KINDS, operator, "op")
    return op


def _member(rank: Any, name: str, ranks: Sequence[int], operator: str) -> int:
    number = whole_number(rank, operator, name, least=0)
    if number not in ranks:
        raise ValueError(
            f"For '{operator}', the '{name}' must be a rank of the process group, one of {list(ranks)}, "
            f"but got {number}."
        )
    return number


def _with_axis(x: Tensor, operator: str) -> Tensor:
    if not x.ndim:
        raise ValueError(
            f"For '{operator}', the tensor must have an axis to join along, but its shape is ()."
        )
    return x


@public("AllReduce(op='sum', group='nccl_world_group')(tensor)")
def reduced(tensor: Any, op: str = ReduceOp.SUM, group: str = _WORLD, operator: str = "AllReduce") -> Tensor:
    """Reduce the tensors of all processes, and return the result on every process.

    Args:
        tensor (Tensor): tensor of any shape, of the same shape and dtype on all processes.
        op (str): name of the reduction, such as ``ReduceOp.SUM``.
        group (str): name of the process group.
        operator (str): name of the operator in error messages.

    Returns:
        Tensor of the same shape as ``tensor``.

    Raises:
        TypeError: If ``tensor`` is not a tensor of numbers, or ``op`` is not a str.
        ValueError: If the reduction ``op`` or the process group ``group`` does not exist.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import reduced
    >>> print(reduced(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    op = _checked(op, operator)
    x, ranks = operand(tensor, operator), _ranks(group)
    if len(ranks) == 1:
        return x
    if op == ReduceOp.MAX:
        return applied(primitives.all_max, operator, x, ranks=ranks)
    if op == ReduceOp.MIN and x.dtype.kind in ("int", "float"):
        return apply(neg, applied(primitives.all_max, operator, apply(neg, x), ranks=ranks))
    if op in (ReduceOp.MIN, ReduceOp.PROD):
        stacked = applied(
            primitives.all_gather, operator, apply(reshape, x, shape=(1, *x.shape)), axis=0, ranks=ranks
        )
        return applied(reduce_min if op == ReduceOp.MIN else reduce_prod, operator, stacked, axes=(0,))
    total = applied(primitives.all_reduce, operator, x, ranks=ranks)
    return total if op == ReduceOp.SUM else total / len(ranks)


@public("Reduce(dest_rank: integer, op='sum', group='nccl_world_group')(tensor)(process=self.dest_rank)")
def reduced_by(tensor: Any, process: int, op: str = ReduceOp.SUM, group: str = _WORLD) -> Tensor:
    """Reduce the tensors of all processes on one of them.

    Args:
        tensor (Tensor): tensor of any shape, of the same shape and dtype on all processes.
        process (int): rank of the process that gets the result, among all processes.
        op (str): name of the reduction, such as ``ReduceOp.SUM``.
        group (str): name of the process group.

    Returns:
        Tensor of the same shape as ``tensor``; zeros on the other processes.

    Raises:
        TypeError: If ``tensor`` is not a tensor of numbers, or ``op`` is not a str.
        ValueError: If the reduction ``op`` or the process group ``group`` does not exist, or ``process`` is
            not a rank of the group.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import reduced_by
    >>> print(reduced_by(Tensor([1.0, 2.0]), 0))
    [1. 2.]
    """
    ranks = _ranks(group)
    root = _member(process, "dest_rank", ranks, "Reduce")
    return _only_on(root, reduced(tensor, op, group, "Reduce"), ranks)


def _only_on(root: int, x: Tensor, ranks: tuple[int, ...]) -> Tensor:
    return x if len(ranks) == 1 else apply(primitives.rank_mask, x, root=root, ranks=ranks)


@public("AllGather(group='nccl_world_group')(tensor)")
def gathered(tensor: Any, group: str = _WORLD, operator: str = "AllGather") -> Tensor:
    """Join the tensors of all processes along the first axis, on every process.

    Args:
        tensor (Tensor): tensor with at least one axis, of the same shape and dtype on all
            processes.
        group (str): name of the process group.
        operator (str): name of the operator in error messages.

    Returns:
        Tensor with the tensors of all processes in the order of their ranks.

    Raises:
        TypeError: If ``tensor`` is not a tensor.
        ValueError: If ``tensor`` is 0-D, or the process group does not exist.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import gathered
    >>> print(gathered(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    x, ranks = _with_axis(operand(tensor, operator), operator), _ranks(group)
    return x if len(ranks) == 1 else applied(primitives.all_gather, operator, x, axis=0, ranks=ranks)


@public("CollectiveGather(dest_rank: integer, group='nccl_world_group')(tensor)(process=self.dest_rank)")
def gathered_by(tensor: Any, process: int, group: str = _WORLD) -> Tensor:
    """Join the tensors of all processes along the first axis on one process.

    Args:
        tensor (Tensor): tensor with at least one axis, of the same shape and dtype on all
            processes.
        process (int): rank of the process that gets the result, among all processes.
        group (str): name of the process group.

    Returns:
        Tensor with the tensors of all processes; zeros on the other processes.

    Raises:
        TypeError: If ``tensor`` is not a tensor.
        ValueError: If ``tensor`` is 0-D, the process group does not exist, or ``process`` is not a rank of
            the group.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import gathered_by
    >>> print(gathered_by(Tensor([1.0, 2.0]), 0))
    [1. 2.]
    """
    ranks = _ranks(group)
    root = _member(process, "dest_rank", ranks, "CollectiveGather")
    return _only_on(root, gathered(tensor, group, "CollectiveGather"), ranks)


@public("ReduceScatter(op='sum', group='nccl_world_group')(tensor)")
def reduced_parts(tensor: Any, op: str = ReduceOp.SUM, group: str = _WORLD) -> Tensor:
    """Reduce the tensors of all processes and divide the result among them.

    Args:
        tensor (Tensor): tensor whose first axis is divisible by the number of processes.
        op (str): name of the reduction, such as ``ReduceOp.SUM``.
        group (str): name of the process group.

    Returns:
        This process's part of the reduction, along the first axis.

    Raises:
        TypeError: If ``tensor`` is not a tensor of numbers, or ``op`` is not a str.
        ValueError: If the reduction ``op`` or the process group ``group`` does not exist, or the first axis
            is not divisible by the number of processes.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import reduced_parts
    >>> print(reduced_parts(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    operator = "ReduceScatter"
    op = _checked(op, operator)
    x, ranks = _with_axis(operand(tensor, operator), operator), _ranks(group)
    if len(ranks) == 1:
        return x
    if op in (ReduceOp.SUM, ReduceOp.AVG):
        part = applied(primitives.reduce_scatter, operator, x, axis=0, ranks=ranks)
        return part if op == ReduceOp.SUM else part / len(ranks)
    total, length = reduced(x, op, group, operator), x.shape[0] // len(ranks)
    if length * len(ranks) != x.shape[0]:
        raise ValueError(
            f"For '{operator}', the first axis of the input of shape {x.shape} must be divisible into "
            f"{len(ranks)} equal parts, one for each rank."
        )
    start = ranks.index(get_rank()) * length
    return total[start : start + length]


def broadcast(tensor: Any, process: int, group: str = _WORLD, operator: str = "Broadcast") -> Tensor:
    """Send the tensor of one process to all processes.

    Args:
        tensor (Tensor): tensor of any shape, of the same shape and dtype on all processes.
        process (int): rank of the process whose tensor is sent, among all processes.
        group (str): name of the process group.
        operator (str): name of the operator in error messages.

    Returns:
        The tensor of the process ``process``.

    Raises:
        TypeError: If ``tensor`` is not a tensor, or ``process`` is not an int.
        ValueError: If the process group does not exist, or does not contain the rank ``process``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import broadcast
    >>> print(broadcast(Tensor([1.0, 2.0]), 0))
    [1. 2.]
    """
    ranks = _ranks(group)
    root = _member(process, "root_rank", ranks, operator)
    x = operand(tensor, operator)
    if len(ranks) == 1:
        return x
    number = cast(x, uint8) if x.dtype is bool_ else x
    total = applied(primitives.all_reduce, operator, _only_on(root, number, ranks), ranks=ranks)
    return cast(total, x.dtype)


@public("CollectiveScatter(src_rank=0, group='nccl_world_group')(tensor)(process=self.src_rank)")
def scattered(tensor: Any, process: int, group: str = _WORLD) -> Tensor:
    """Divide the tensor of one process among all processes.

    Args:
        tensor (Tensor): tensor whose first axis is divisible by the number of processes, of the
            same shape and dtype on all of them.
        process (int): rank of the process whose tensor is divided, among all processes.
        group (str): name of the process group.

    Returns:
        This process's part of the tensor, along the first axis.

    Raises:
        TypeError: If ``tensor`` is not a tensor.
        ValueError: If the process group does not exist, ``process`` is not one of its ranks, or the first
            axis is not divisible by the number of processes.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import scattered
    >>> print(scattered(Tensor([1.0, 2.0]), 0))
    [1. 2.]
    """
    operator, ranks = "CollectiveScatter", _ranks(group)
    root = _member(process, "src_rank", ranks, operator)
    x = _with_axis(operand(tensor, operator), operator)
    return x if len(ranks) == 1 else reduced_parts(_only_on(root, x, ranks), ReduceOp.SUM, group)


@public(
    "AlltoAll(split_count: integer, split_dim: integer, concat_dim: integer, group='nccl_world_group')"
    "(tensor)"
)
def exchanged(tensor: Any, split_count: int, split_dim: int, concat_dim: int, group: str = _WORLD) -> Tensor:
    """Send one part of a tensor to every process and join the parts received.

    Args:
        tensor (Tensor): tensor of the same shape and dtype on all processes.
        split_count (int): number of parts, one for each process.
        split_dim (int): axis along which the tensor is divided.
        concat_dim (int): axis along which the received parts are joined.
        group (str): name of the process group.

    Returns:
        Tensor with the parts received from all processes.

    Raises:
        TypeError: If ``tensor`` is not a tensor.
        ValueError: If ``split_count`` is not the number of processes, ``split_dim`` or ``concat_dim`` is out
            of range, or the size of ``split_dim`` is not divisible by ``split_count``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import exchanged
    >>> print(exchanged(Tensor([1.0, 2.0]), 1, 0, 0))
    [1. 2.]
    """
    x, ranks = operand(tensor, "AlltoAll"), _ranks(group)
    if split_count != len(ranks):
        raise ValueError(
            f"For 'AlltoAll', the 'split_count' must be {len(ranks)}, the number of processes, but got "
            f"{split_count}."
        )
    for name, axis in (("split_dim", split_dim), ("concat_dim", concat_dim)):
        if not -x.ndim <= axis < x.ndim:
            raise ValueError(f"For 'AlltoAll', the '{name}' {axis} is not an axis of the shape {x.shape}.")
    if len(ranks) == 1:
        return x
    axes = {"split_axis": split_dim % x.ndim, "concat_axis": concat_dim % x.ndim}
    return applied(primitives.all_to_all, "AlltoAll", x, **axes, ranks=ranks)


def passed_on(tensor: Any, pairs: Sequence[tuple[int, int]], group: str = _WORLD) -> Tensor:
    """Send tensors between pairs of ranks.

    Args:
        tensor (Tensor): tensor of any shape, with the same shape and dtype on all processes.
        pairs (list of tuple of int): source rank and target rank of each message. A rank is at most once a
            source and at most once a target.
        group (str, optional): name of the process group. By default, the group of all processes.

    Returns:
        Tensor: the tensor of the source of this rank; zeros if this rank is not a target.

    Raises:
        TypeError: If ``tensor`` is not a tensor.
        ValueError: If a rank is not in the group, or is repeated.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import passed_on
    >>> print(passed_on(Tensor([1.0, 2.0]), [(0, 0)]))
    [1. 2.]
    """
    x, ranks = operand(tensor, "CollectivePermute"), _ranks(group)
    listed = tuple([(int(source), int(target)) for source, target in pairs])
    for side in zip(*listed, strict=True):
        if len(set(side)) != len(side) or not set(side) <= set(ranks):
            raise ValueError(
                f"For 'CollectivePermute', each of 'pairs' must join two of the ranks {list(ranks)}, with "
                f"each rank at most once a source and once a target, but got {list(listed)}."
            )
    return applied(primitives.permute, "CollectivePermute", x, pairs=listed, ranks=ranks)


def partner(rank: Any, name: str, group: str, operator: str) -> int:
    """Check that ``rank`` is in the group and differs from this rank; return it.

    Raises:
        TypeError: If ``rank`` is not an int.
        ValueError: If ``rank`` is not in the group, or is the rank of this process.
    """
    ranks, other = _ranks(group), whole_number(rank, operator, name, least=0)
    if other == get_rank() or other not in ranks:
        raise ValueError(
            f"For '{operator}', the '{name}' must be another rank of the group {list(ranks)}, but got "
            f"{other}."
        )
    return other


def _both(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)


def sent(tensor: Any, process: int, group: str = _WORLD) -> Tensor:
    """Send a tensor to a process that calls :func:`received`, and return the tensor.

    Reverse mode needs both processes to differentiate the message. If only one of them does, the program
    fails after the time limit of communication.

    Args:
        tensor (Tensor): tensor of any shape.
        process (int): rank of the receiver, among all processes.
        group (str, optional): name of the process group. By default, the group of all processes.

    Raises:
        TypeError: If ``tensor`` is not a tensor.
        ValueError: If ``process`` is not the rank of another process of the group.
    """
    own, other = get_rank(), partner(process, "dest_rank", group, "Send")
    x = operand(tensor, "Send")
    # This process receives zeros. Add them to x, so that the result depends on the message and reverse mode
    # differentiates the message.
    return x + apply(primitives.permute, x, pairs=((own, other),), ranks=_both(own, other))


def received(
    shape: Sequence[int], dtype: Any, process: int, group: str = _WORLD, before: Tensor | None = None
) -> Tensor:
    """Receive the tensor that another process sends with :func:`sent`.

    Args:
        shape (tuple of int): shape of the tensor.
        dtype (mindgrad.dtype): dtype of the tensor.
        process (int): rank of the sender, among all processes.
        group (str, optional): name of the process group. By default, the group of all processes.
        before (Tensor, optional): tensor that exists before the message arrives. If its inputs are
            differentiated, the sender receives the cotangent of the message. The cotangent of ``before``
            itself is zero. Default: ``None``.

    Raises:
        ValueError: If ``process`` is not the rank of another process of the group.
    """
    own, other = get_rank(), partner(process, "src_rank", group, "Receive")
    element, sizes = as_dtype(dtype), tuple(shape)
    if before is not None and before.size and before.dtype.kind == element.kind != "bool":
        # This operand is empty, and no process receives it. It makes the message depend on ``before``, so
        # that reverse mode with respect to the inputs of ``before`` also differentiates the message.
        empty = broadcast_to(cast(before.reshape(-1)[0], element), sizes)
    else:
        empty = full_tensor(0, element, sizes)
    return apply(primitives.permute, empty, pairs=((other, own),), ranks=_both(own, other))


def barrier(group: str = _WORLD) -> None:
    """Wait until all processes of a group have called this function.

    It does nothing inside a compiled function, in which only collectives wait for other processes.

    Raises:
        ValueError: If the process group does not exist.

    >>> from mindgrad.ops.collectives import barrier
    >>> barrier()
    """
    if len(_ranks(group)) > 1 and not open_scopes():
        reduced(full_tensor(0, int32, ()), group=group).asnumpy()
