"""Messages between pairs of processes, in an order that cannot cause a deadlock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mindgrad.communication.management import GlobalComm, get_rank
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops.collectives import received, sent

__all__ = ["Message", "exchanged_messages"]


class Message(NamedTuple):
    """A message between this process and another one.

    Attributes:
        peer: rank of the other process.
        tensor: tensor to send; ``None`` if this process receives.
        shape, dtype: shape and dtype of the tensor to receive.
        before: tensor that exists before the message arrives, as for
            :func:`mindgrad.ops.collectives.received`.
    """

    peer: int
    tensor: Tensor | None
    shape: Sequence[int] = ()
    dtype: Any = None
    before: Tensor | None = None


def exchanged_messages(messages: Sequence[Message], group: str = GlobalComm.WORLD_COMM_GROUP) -> list[Tensor]:
    """Send and receive several tensors, and return them in the order of ``messages``.

    The result contains the received tensors, and the sent tensors unchanged. Each pair of processes exchanges
    its messages in the order in which the lower rank sends them. All processes process the pairs in the same
    order.

    Args:
        messages: messages of this process.
        group: name of the process group.

    Raises:
        TypeError: If a tensor to send is not a tensor.
        ValueError: If a peer is not the rank of another process of the group.

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
