"""Sums of many tensors over the processes of a group, with few messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.communication.management import GlobalComm, get_process_group_ranks, get_rank
from mindgrad.core.ir.scope import open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops.collectives import reduced
from mindgrad.ops.creation import zeros_like
from mindgrad.ops.joining import concat

__all__ = ["broadcast_parameters", "reduced_together"]


def reduced_together(tensors: Sequence[Any], group: str = GlobalComm.WORLD_COMM_GROUP) -> list[Any]:
    """Sum corresponding ``tensors`` of all processes, with few messages.

    In a compiled function each sum is separate, and the compiler combines them (``collective_fusion``). Eager
    mode concatenates tensors of the same dtype.

    Args:
        tensors: tensors to sum; their shapes and dtypes are the same on all processes. Objects that are not
            tensors are returned unchanged.
        group: name of the process group.

    Raises:
        TypeError: If a tensor is not numeric.
        ValueError: If the process group ``group`` does not exist.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.joined_collectives import reduced_together
    >>> print(*reduced_together([Tensor([1.0, 2.0]), Tensor(3.0)]))
    [1. 2.] 3.0
    """
    results = list(tensors)
    positions: dict[Any, list[int]] = {}
    for position, x in enumerate(results):
        if isinstance(x, Tensor):
            positions.setdefault(x.dtype, []).append(position)
    is_apart = len(get_process_group_ranks(group)) == 1 or bool(open_scopes())
    for listed in positions.values():
        if is_apart or len(listed) == 1:
            for position in listed:
                results[position] = reduced(results[position], group=group)
            continue
        parts = [results[position] for position in listed]
        total = reduced(concat([x.reshape(-1) for x in parts]), group=group)
        start = 0
        for position, x in zip(listed, parts, strict=True):
            results[position] = total[start : start + x.size].reshape(x.shape)
            start += x.size
    return results


def broadcast_parameters(parameters: Sequence[Any], group: str = GlobalComm.WORLD_COMM_GROUP) -> None:
    """Set Parameters to their values on the first process of a group.

    Args:
        parameters: Parameters with the same shapes and dtypes on all processes.
        group: name of the process group.

    Raises:
        ValueError: If the process group ``group`` does not exist.
    """
    ranks = get_process_group_ranks(group)
    if len(ranks) == 1:
        return
    is_first = get_rank() == ranks[0]
    values = [p.value() for p in parameters]
    for parameter, value in zip(
        parameters, reduced_together([v if is_first else zeros_like(v) for v in values], group), strict=True
    ):
        parameter.set_data(value)
