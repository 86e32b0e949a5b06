"""Collectives on parts whose sizes differ between processes.

Each operator pads the parts with zeros to the length of the longest, runs an even collective, and slices the
result. To agree on the length, the processes exchange their sizes through the key-value store of the job: in
every eager call, and once when a function is compiled. Sizes are therefore Python ints, not values of a
compiled function. If sizes do not match, every process raises an error.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mindgrad.communication.agreement import AGREEMENT_SECONDS
from mindgrad.communication.management import GlobalComm, get_process_group_ranks, get_rank, store
from mindgrad.core.ir.scope import open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.distributed import collectives as primitives
from mindgrad.ops.arguments import one_or_more, whole_number
from mindgrad.ops.collectives import ReduceOp, gathered, reduced
from mindgrad.ops.joining import concat
from mindgrad.ops.operands import applied, full_tensor, operand
from mindgrad.ops.padding import padded
from mindgrad.ops.registry import public

__all__ = [
    "exchanged_by_counts", "exchanged_parts", "facts_of_all", "gathered_parts", "lengthened", "part_sizes",
    "reduced_uneven_parts",
]  # fmt: skip

_WORLD = GlobalComm.WORLD_COMM_GROUP


def facts_of_all(facts: Any, ranks: Sequence[int], operator: str) -> list[Any]:
    """Exchange ``facts`` between all ``ranks``; return one value for each rank.

    Args:
        facts: a value that JSON can represent.
        ranks: ranks of the processes that call this function, including this process.
        operator: name of the operator in errors.

    Raises:
        RuntimeError: If a process ended or did not make the call in time, or there is only this process.
    """
    link = store()
    if link is None:
        raise RuntimeError(
            f"For '{operator}', call communication.init() before an operator on several processes: the "
            f"ranks are {ranks}."
        )
    name = f"{operator} of ranks {', '.join(map(str, ranks))}"
    parts = link.exchange(name, json.dumps(facts).encode(), list(ranks), AGREEMENT_SECONDS)
    return [json.loads(part) for part in parts]


def part_sizes(value: Any, count: int, operator: str, name: str) -> list[int]:
    """Check the sizes of ``count`` parts.

    Raises:
        TypeError: If ``value`` is not a list, tuple or tensor of integers, or depends on a tensor of a
            compiled function.
        ValueError: If there are not ``count`` sizes, or one is negative.
    """
    if isinstance(value, Tensor):
        if value._scope is not None:
            raise TypeError(
                f"For '{operator}', the '{name}' must be known at compile time, but it depends on a tensor "
                "of the compiled function. Pass a tuple or list of ints, or call the operator outside the "
                "compiled function."
            )
        value = value.reshape(-1)
    listed = [whole_number(size, operator, name, least=0) for size in one_or_more(value)]
    if len(listed) != count:
        raise ValueError(
            f"For '{operator}', the '{name}' must have {count} elements, but got {len(listed)}: {listed}."
        )
    return listed


def lengthened(x: Tensor, length: int) -> Tensor:
    """Append zeros to the first axis of ``x``, up to ``length``."""
    if x.shape[0] == length:
        return x
    return padded(x, [(0, length - x.shape[0]), *[(0, 0)] * (x.ndim - 1)], "constant")


def _common_length(longest: int) -> int:
    """Return the common length of all parts.

    In eager mode, the length is rounded up to a power of two, because fewer different lengths require fewer
    compiled programs.
    """
    return longest if open_scopes() else 1 << (longest - 1).bit_length()


def _with_first_axis(tensor: Any, operator: str) -> Tensor:
    x = operand(tensor, operator)
    if not x.ndim:
        raise ValueError(f"For '{operator}', the tensor must have an axis to divide, but its shape is ().")
    return x


def _stacked_parts(x: Tensor, counts: Sequence[int], length: int) -> Tensor:
    """Divide ``x`` along its first axis, pad the parts to ``length``, and stack them."""
    parts, start = [], 0
    for count in counts:
        parts.append(lengthened(x[start : start + count], length).reshape(1, length, *x.shape[1:]))
        start += count
    return concat(parts)


def _check_sum(counts: Sequence[int], x: Tensor, operator: str, name: str) -> None:
    if sum(counts) != x.shape[0]:
        raise ValueError(
            f"For '{operator}', the '{name}' {list(counts)} must sum to the {x.shape[0]} elements of the "
            f"first axis of the input of shape {x.shape}."
        )


def exchanged_parts(
    tensor: Any,
    send_counts: Any,
    receive_counts: Any,
    group: str = _WORLD,
    operator: str = "AlltoAllV",
    names: tuple[str, str] = ("send_numel_list", "recv_numel_list"),
) -> Tensor:
    """Send a part of a tensor to every process and join the parts received.

    Every process of the group must call this function, and either all or none of the processes must
    differentiate the call.

    Args:
        tensor (Tensor): the parts to send, concatenated along the first axis. The sizes of all other axes
            must be equal on all processes.
        send_counts (list of int): size of the part for each process of the group.
        receive_counts (list of int): size of the part from each process of the group.
        group (str): name of the group of processes that communicate.
        operator (str): name of the operator, for error messages.
        names (tuple of str): names of the two arguments with counts, for error messages.

    Returns:
        The received parts, in the order of the processes in the group. If nothing is received, a scalar zero.

    Raises:
        TypeError: If ``tensor`` is not a tensor, or a count is not an int.
        ValueError: If the counts do not match the tensor, or do not match the counts of another process.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.uneven_collectives import exchanged_parts
    >>> print(exchanged_parts(Tensor([1.0, 2.0]), [2], [2]))
    [1. 2.]
    """
    x, ranks = _with_first_axis(tensor, operator), get_process_group_ranks(group)
    sent = part_sizes(send_counts, len(ranks), operator, names[0])
    received = part_sizes(receive_counts, len(ranks), operator, names[1])
    _check_sum(sent, x, operator, names[0])
    if len(ranks) > 1:
        facts = facts_of_all([sent, received, _kind(x)], ranks, operator)
        _check_pairs(facts, ranks, operator, names)
        longest = max(max(counts) for counts, *_ in facts)
    else:
        if sent != received:
            raise ValueError(f"For '{operator}', rank 0 sends {sent} to itself, but receives {received}.")
        longest = sent[0]
    return _exchanged(x, sent, received, longest, ranks, operator)


def _kind(x: Tensor) -> str:
    """Return the dtype and the sizes after axis 0, which all ranks must share."""
    return f"{x.dtype}{['…', *x.shape[1:]]}".replace("'", "")


def _check_pairs(facts: Sequence[Any], ranks: Sequence[int], operator: str, names: Sequence[str]) -> None:
    for i, (sent, _, kind) in enumerate(facts):
        if kind != facts[0][2]:
            raise ValueError(
                f"For '{operator}', the tensors must have the same dtype, and the same shape after the "
                f"first axis, but they are {facts[0][2]} on rank {ranks[0]} and {kind} on rank {ranks[i]}."
            )
        for j, (_, received, _) in enumerate(facts):
            if sent[j] != received[i]:
                raise ValueError(
                    f"For '{operator}', rank {ranks[i]} sends {sent[j]} to rank {ranks[j]} by its "
                    f"'{names[0]}', but rank {ranks[j]} expects {received[i]} by its '{names[1]}'."
                )


def _exchanged(
    x: Tensor, sent: Sequence[int], received: Sequence[int], longest: int, ranks: Sequence[int], operator: str
) -> Tensor:
    row_shape = x.shape[1:]
    if len(ranks) == 1:
        return x if x.shape[0] else full_tensor(0, x.dtype, ())
    if not longest or 0 in row_shape:
        return full_tensor(0, x.dtype, (sum(received), *row_shape) if sum(received) else ())
    length = _common_length(longest)
    stacked = _stacked_parts(x, sent, length)
    # shape (ranks, length, …); parts[i] comes from process i of the group
    parts = applied(
        primitives.all_to_all, operator, stacked, split_axis=0, concat_axis=0, ranks=tuple(ranks)
    )  # fmt: skip
    if not sum(received):
        return parts[(0,) * parts.ndim]  # a zero of the padding, so that the result depends on the exchange
    return concat([parts[i, :count] for i, count in enumerate(received) if count])


def exchanged_by_counts(
    tensor: Any, counts: Any, group: str = _WORLD, *, is_turned: bool = False, operator: str = "AlltoAllVC"
) -> Tensor:
    """Exchange parts whose sizes are in a matrix of counts.

    Args:
        tensor (Tensor): the parts to send, concatenated along the first axis; the other axes are
            the same on all processes.
        counts (Tensor or list): element (i, j) is the size of the part that process i of the group sends to
            process j; a tensor, a flat list, or a list of lists.
        group (str): name of the group of processes that communicate.
        is_turned (bool): whether rows and columns are swapped.
        operator (str): name of the operator in errors.

    Returns:
        The received parts, in the order of the processes in the group.

    Raises:
        TypeError: If ``tensor`` is not a tensor, or a count is not an int.
        ValueError: If the counts do not match the tensor, or differ between processes.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.uneven_collectives import exchanged_by_counts
    >>> print(exchanged_by_counts(Tensor([1.0, 2.0]), [[2]]))
    [1. 2.]
    """
    ranks = get_process_group_ranks(group)
    size, own = len(ranks), ranks.index(get_rank())
    if isinstance(counts, (tuple, list)) and any(isinstance(row, (tuple, list)) for row in counts):
        counts = [count for row in counts for count in row]
    flat = part_sizes(counts, size * size, operator, "send_count_matrix")
    rows_, columns = flat[own * size : (own + 1) * size], flat[own::size]
    sent, received = (columns, rows_) if is_turned else (rows_, columns)
    return exchanged_parts(tensor, sent, received, group, operator, ("send_count_matrix",) * 2)


@public("AllGatherV(group='nccl_world_group')(input_x, output_split_sizes)")
def gathered_parts(
    tensor: Any,
    sizes: Any,
    group: str = _WORLD,
    operator: str = "AllGatherV",
    name: str = "output_split_sizes",
) -> Tensor:
    """Join tensors of different lengths of all processes, on every process.

    Args:
        tensor (Tensor): tensor whose axes except the first are the same on all processes.
        sizes (list of int): size of the first axis on each process of the group.
        group (str): name of the group of processes that communicate.
        operator, name (str): names of the operator and of ``sizes`` in errors.

    Returns:
        Tensor with the tensors of all processes along the first axis.

    Raises:
        TypeError: If ``tensor`` is not a tensor, or a size is not an int.
        ValueError: If the sizes do not match the tensors, or differ between processes.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.uneven_collectives import gathered_parts
    >>> print(gathered_parts(Tensor([1.0, 2.0]), [2]))
    [1. 2.]
    """
    x, ranks = _with_first_axis(tensor, operator), get_process_group_ranks(group)
    listed = _agreed_sizes(sizes, x, ranks, operator, name)
    own = listed[ranks.index(get_rank())]
    if own != x.shape[0]:
        raise ValueError(
            f"For '{operator}', the '{name}' {listed} say that rank {get_rank()} has {own} elements along "
            f"the first axis, but its input has the shape {x.shape}."
        )
    if len(ranks) == 1 or (not x.size and not max(listed)):
        return x
    length = _common_length(max(listed))
    joined = gathered(lengthened(x, length), group, operator)
    return concat([joined[i * length : i * length + size] for i, size in enumerate(listed)])


@public("ReduceScatterV(op='sum', group='nccl_world_group')(input_x, input_split_sizes)")
def reduced_uneven_parts(
    tensor: Any,
    sizes: Any,
    op: str = ReduceOp.SUM,
    group: str = _WORLD,
    operator: str = "ReduceScatterV",
    name: str = "input_split_sizes",
) -> Tensor:
    """Reduce the tensors of all processes and divide the result unevenly.

    Args:
        tensor (Tensor): tensor of the same shape and dtype on all processes.
        sizes (list of int): size of the part along the first axis for each process of the group.
        op (str): one of the names in :class:`~mindgrad.ops.ReduceOp`.
        group (str): name of the group of processes that communicate.
        operator, name (str): names of the operator and of ``sizes`` in errors.

    Returns:
        This process's part of the reduction.

    Raises:
        TypeError: If ``tensor`` is not a tensor, or a size is not an int.
        ValueError: If the sizes do not match ``tensor``, or differ between processes.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.uneven_collectives import reduced_uneven_parts
    >>> print(reduced_uneven_parts(Tensor([1.0, 2.0]), [2]))
    [1. 2.]
    """
    x, ranks = _with_first_axis(tensor, operator), get_process_group_ranks(group)
    listed = _agreed_sizes(sizes, x, ranks, operator, name)
    _check_sum(listed, x, operator, name)
    own = ranks.index(get_rank())
    if len(ranks) == 1 or not x.size:
        return x
    if op in (ReduceOp.SUM, ReduceOp.AVG):
        stacked = _stacked_parts(x, listed, _common_length(max(listed)))
        part = applied(primitives.reduce_scatter, operator, stacked, axis=0, ranks=tuple(ranks))[
            0, : listed[own]
        ]
        return part if op == ReduceOp.SUM else part / len(ranks)
    start = sum(listed[:own])
    return reduced(x, op, group, operator)[start : start + listed[own]]


def _agreed_sizes(sizes: Any, x: Tensor, ranks: Sequence[int], operator: str, name: str) -> list[int]:
    """Check that all processes pass the same sizes, and return them."""
    listed = part_sizes(sizes, len(ranks), operator, name)
    if len(ranks) > 1:
        facts = facts_of_all([listed, _kind(x)], ranks, operator)
        for rank, other in zip(ranks, facts, strict=True):
            if other != facts[0]:
                raise ValueError(
                    f"For '{operator}', the '{name}' and types must be the same on all processes, but are "
                    f"{facts[0][0]} with {facts[0][1]} on rank {ranks[0]} and {other[0]} with {other[1]} on "
                    f"rank {rank}."
                )
    return listed
