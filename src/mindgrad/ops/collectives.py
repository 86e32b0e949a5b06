"""Collectives combine tensors of all processes; with one process each gets its own tensor back.

MindSpore's collectives on a group of one process are the identity, and so is their derivative. What names
another process is refused (``mindgrad.communication``).
"""

from __future__ import annotations

from typing import Any

from mindgrad.communication.management import GlobalComm
from mindgrad.ir.tensor import Tensor
from mindgrad.ops.arguments import whole_number
from mindgrad.ops.operands import operand

__all__ = ["ReduceOp", "exchanged", "gathered", "reduced", "sent_by"]

_WORLD = GlobalComm.WORLD_COMM_GROUP


class ReduceOp:
    """The reduction that combines the tensors of several processes.

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


def reduced(tensor: Any, op: str = ReduceOp.SUM, group: str = _WORLD) -> Tensor:
    """The sum, largest, smallest, product or mean of each process's ``tensor``: with one process itself.

    Args:
        tensor: a tensor of any shape.
        op: one of :class:`ReduceOp`.
        group: the group of processes; each holds this one only.

    Raises:
        TypeError: ``tensor`` is no tensor, or ``op`` no string.
        ValueError: there is no such ``op``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import reduced
    >>> print(reduced(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    if not isinstance(op, str):
        raise TypeError(f"For 'AllReduce', the 'op' must be a string, but got {type(op).__name__}.")
    if op not in _KINDS:
        raise ValueError(f"For 'AllReduce', the 'op' must be one of {', '.join(_KINDS)}, but got {op!r}.")
    return operand(tensor, "AllReduce")


def gathered(tensor: Any, group: str = _WORLD) -> Tensor:
    """The tensors of all processes, one behind the other along the first axis: with one process itself.

    Args:
        tensor: a tensor with at least one axis.
        group: the group of processes; each holds this one only.

    Raises:
        TypeError: ``tensor`` is no tensor.
        ValueError: it has no axis.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import gathered
    >>> print(gathered(Tensor([1.0, 2.0])))
    [1. 2.]
    """
    x = operand(tensor, "AllGather")
    if not x.ndim:
        raise ValueError("For 'AllGather', the tensor must have an axis to join along, but its shape is ().")
    return x


def sent_by(tensor: Any, process: int, operator: str = "Broadcast", group: str = _WORLD) -> Tensor:
    """The ``tensor`` of that process, which is number 0.

    Args:
        tensor: a tensor of any shape.
        process: the number of the process.
        operator: who asks, for errors.
        group: the group of processes; each holds this one only.

    Raises:
        TypeError: ``tensor`` is no tensor, or ``process`` no int.
        ValueError: there is no such process.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import sent_by
    >>> print(sent_by(Tensor([1.0, 2.0]), 0))
    [1. 2.]
    """
    if whole_number(process, operator, "process", least=0) != 0:
        raise ValueError(f"For '{operator}', there is process 0 only, but got {process}.")
    return operand(tensor, operator)


def exchanged(tensor: Any, split_count: int, split_dim: int, concat_dim: int, group: str = _WORLD) -> Tensor:
    """Parts of ``tensor`` to every process and from every process: of one part itself.

    Args:
        tensor: a tensor.
        split_count: the number of parts, one for each process.
        split_dim: the axis to divide.
        concat_dim: the axis along which what comes is joined.
        group: the group of processes; each holds this one only.

    Raises:
        TypeError: ``tensor`` is no tensor.
        ValueError: ``split_count``, the number of processes, is not 1, or there is no such axis.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.collectives import exchanged
    >>> print(exchanged(Tensor([1.0, 2.0]), 1, 0, 0))
    [1. 2.]
    """
    x = operand(tensor, "AlltoAll")
    if split_count != 1:
        raise ValueError(
            f"For 'AlltoAll', the 'split_count' must be 1, the number of processes, but got {split_count}."
        )
    for name, axis in (("split_dim", split_dim), ("concat_dim", concat_dim)):
        if not -x.ndim <= axis < x.ndim:
            raise ValueError(f"For 'AlltoAll', the '{name}' {axis} is no axis of the shape {x.shape}.")
    return x
