"""Messages between pairs of processes go in one order, in which nobody waits for another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mindgrad.communication.management import GlobalComm, get_rank
from mindgrad.ir.tensor import Tensor
from mindgrad.ops.collectives import received, sent

__all__ = ["Message", "exchanged_messages"]


class Message(NamedTuple):
    """A message between this process and another.

    Attributes:
        peer: the rank of the other.
        tensor: what to send; ``None``: this process receives.
        shape, dtype: those of what it receives.
        before: a tensor that is there before it receives, and whose derivative takes part in that.
    """

    peer: int
    tensor: Tensor | None
    shape: Sequence[int] = ()
    dtype: Any = None
    before: Tensor | None = None


def exchanged_messages(messages: Sequence[Message], group: str = GlobalComm.WORLD_COMM_GROUP) -> list[Tensor]:
    """Tensors that are received, and those that are sent themselves, in the order of ``messages``.

    Each pair of processes meets in the order of its lower rank's sends, and the pairs in one order on all
    processes.

    Args:
        messages: those of this process.
        group: the group of processes.

    Raises:
        TypeError: what to send is no tensor.
        ValueError: a peer is no other rank of the group.

    >>> from mindgrad.ops.messages import exchanged_messages
    >>> exchanged_messages([])
    []
    """
    own = get_rank()

    def order(position: int) -> tuple[int, int, bool, int]:
        message = messages[position]
        is_from_lower = (message.tensor is not None) == (own < message.peer)
        return min(own, message.peer), max(own, message.peer), not is_from_lower, position

    results: dict[int, Tensor] = {}
    for position in sorted(range(len(messages)), key=order):
        peer, tensor, shape, dtype, before = messages[position]
        if tensor is not None:
            results[position] = sent(tensor, peer, group)
        else:
            results[position] = received(shape, dtype, peer, group, before)
    return [results[position] for position in range(len(messages))]
