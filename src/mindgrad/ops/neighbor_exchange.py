"""Exchange tensors with neighboring processes (``NeighborExchange`` operators).

All processes first exchange the list of their messages. The messages are then divided into rounds, such that
each process sends at most one and receives at most one message per round. A round is one ``permute`` of
arrays of equal length, and every process of the group takes part. Reverse mode runs the same rounds
backwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindgrad.communication.management import GlobalComm, get_process_group_ranks, get_rank
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.scope import open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.distributed import collectives as primitives
from mindgrad.ops.arguments import check_axes, sizes, whole_number
from mindgrad.ops.joining import concat
from mindgrad.ops.operands import applied, full_tensor, operand
from mindgrad.ops.uneven_collectives import facts_of_all, lengthened

__all__ = [
    "Message", "checked_neighbors", "exchanged_halos", "exchanged_with_neighbors", "four_lengths",
    "rounds_of",
]  # fmt: skip

_WORLD = GlobalComm.WORLD_COMM_GROUP

#: the eight neighbors, clockwise from the top. Each entry is (side of the row axis, side of the column axis):
#: −1 for the beginning, 1 for the end, and 0 for the whole axis
_DIRECTIONS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


class Message(NamedTuple):
    """A message of one process to another.

    Attributes:
        source, target: ranks of the sender and the receiver.
        tag: integer that distinguishes messages between the same two processes.
        size: number of elements of the message.
    """

    source: int
    target: int
    tag: int
    size: int


def rounds_of(messages: Sequence[Message]) -> list[list[Message]]:
    """Divide messages into rounds in which each rank sends and receives at most once.

    Long messages go first, because a round takes as long as its longest message.

    >>> from mindgrad.ops.neighbor_exchange import Message, rounds_of
    >>> [len(r) for r in rounds_of([Message(0, 1, 0, 4), Message(1, 0, 0, 4), Message(0, 2, 0, 4)])]
    [2, 1]
    """
    rounds: list[list[Message]] = []
    for message in sorted(messages, key=lambda m: (-m.size, m)):
        for listed in rounds:
            if all(m.source != message.source and m.target != message.target for m in listed):
                listed.append(message)
                break
        else:
            rounds.append([message])
    return rounds


def checked_neighbors(value: Any, ranks: Sequence[int], operator: str, name: str) -> list[int]:
    """Check a list of distinct ranks of a group.

    Raises:
        TypeError: If ``value`` is not a list of integers.
        ValueError: If a rank does not belong to the group or occurs twice.
    """
    listed = list(sizes(value, operator, name, least=0))
    if len(set(listed)) < len(listed) or not set(listed) <= set(ranks):
        raise ValueError(
            f"For '{operator}', the '{name}' must be different ranks of the group {list(ranks)}, but got "
            f"{listed}."
        )
    return listed


def exchanged_with_neighbors(
    tensors: Any,
    send_ranks: Sequence[int],
    receive_ranks: Sequence[int],
    receive_shapes: Sequence[Sequence[int]],
    dtype: Any,
    group: str = _WORLD,
) -> tuple[Tensor, ...]:
    """Send ``tensors`` to other processes and return the tensors received from others.

    Every process of the group must call this function, even if it neither sends nor receives. The derivative
    communicates in the opposite direction, so either all or none of the processes must differentiate the
    call.

    Args:
        tensors: one tensor of any shape for each of ``send_ranks``.
        send_ranks: distinct ranks of the processes to send to.
        receive_ranks: distinct ranks of the processes to receive from.
        receive_shapes: shape of the tensor from each of ``receive_ranks``.
        dtype: dtype of all tensors that are sent or received.
        group: group of processes.

    Raises:
        TypeError: If an element of ``tensors`` does not have the dtype ``dtype``.
        ValueError: If, on any process of the group, the tensors sent do not match the tensors expected.

    >>> from mindgrad import Tensor, float32
    >>> from mindgrad.ops.neighbor_exchange import exchanged_with_neighbors
    >>> print(exchanged_with_neighbors([Tensor([1.0, 2.0])], [0], [0], [[2]], float32)[0])
    [1. 2.]
    """
    operator, ranks = "NeighborExchange", get_process_group_ranks(group)
    element = as_dtype(dtype)
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"For '{operator}', the input must be a tuple of tensors, one for each of 'send_rank_ids', but "
            f"got {type(tensors).__name__}."
        )
    if len(tensors) != len(send_ranks):
        raise ValueError(
            f"For '{operator}', there must be {len(send_ranks)} tensors, one for each of 'send_rank_ids', "
            f"but got {len(tensors)}."
        )
    xs = [operand(x, operator) for x in tensors]
    for x in xs:
        if x.dtype is not element:
            raise TypeError(
                f"For '{operator}', each tensor must have the dtype 'recv_type', which is {element}, but got "
                f"a tensor of dtype {x.dtype}."
            )
    sent = {(rank, 0): x for rank, x in zip(send_ranks, xs, strict=True)}
    expected = {(rank, 0): tuple(shape) for rank, shape in zip(receive_ranks, receive_shapes, strict=True)}
    results, _ = _delivered(sent, expected, element, ranks, operator)
    return tuple([results[rank, 0] for rank in receive_ranks])


def exchanged_halos(
    tensor: Any,
    send_ranks: Sequence[int],
    send_lengths: Sequence[int],
    receive_ranks: Sequence[int],
    receive_lengths: Sequence[int],
    group: str = _WORLD,
) -> Tensor:
    """Pad an image with borders of neighboring images, and send borders of this image.

    The eight directions are top, top right, right, bottom right, bottom, bottom left, left, top left. A
    border sent to the bottom arrives from the top. Every process of the group must call this function.

    Args:
        tensor: tensor of shape ``(N, C, H, W)``.
        send_ranks: for each of the eight directions, the rank to send a border to; -1 to send nothing.
        send_lengths: numbers of rows to send (top, bottom), followed by numbers of columns (left, right).
        receive_ranks: for each of the eight directions, the rank to receive a border from; -1 to receive
            nothing.
        receive_lengths: numbers of rows to receive (top, bottom), followed by numbers of columns (left,
            right).
        group: group of processes.

    Returns:
        Tensor: ``tensor`` with the received borders around it, of shape ``(N, C, top + H + bottom, left + W +
        right)``, where the four numbers are ``receive_lengths``. Borders that this process does not receive
        are zero.

    Raises:
        TypeError: If ``tensor`` is not a tensor.
        ValueError: If ``tensor`` is not 4-D or is smaller than a border, or if the borders sent do not match
            the borders expected.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.neighbor_exchange import exchanged_halos
    >>> around = [0, -1, -1, -1, 0, -1, -1, -1]
    >>> x = Tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> print(exchanged_halos(x, around, [1, 1, 0, 0], around, [1, 1, 0, 0])[0, 0])
    [[3. 4.]
     [1. 2.]
     [3. 4.]
     [1. 2.]]
    """
    operator, ranks = "NeighborExchangeV2", get_process_group_ranks(group)
    x = operand(tensor, operator)
    check_axes(x, "(N, C, H, W)", operator)
    if max(send_lengths[:2]) > x.shape[2] or max(send_lengths[2:]) > x.shape[3]:
        raise ValueError(
            f"For '{operator}', the input of shape {x.shape} is smaller than the borders "
            f"{list(send_lengths)} of 'send_lens'."
        )
    sent: dict[tuple[int, int], Tensor] = {}
    shapes: dict[int, tuple[int, ...]] = {}
    for direction, (vertical, horizontal) in enumerate(_DIRECTIONS):
        opposite = (direction + 4) % len(_DIRECTIONS)  # direction in which the receiver sees this process
        rank = send_ranks[direction]
        part = _border(_border(x, 2, vertical, send_lengths[:2]), 3, horizontal, send_lengths[2:])
        if rank >= 0 and part.size:
            sent[rank, opposite] = part
        height = x.shape[2] if not vertical else receive_lengths[vertical > 0]
        width = x.shape[3] if not horizontal else receive_lengths[2 + (horizontal > 0)]
        shapes[direction] = (*x.shape[:2], height, width)
    expected: dict[tuple[int, int], tuple[int, ...]] = {
        (rank, direction): shapes[direction]
        for direction, rank in enumerate(receive_ranks)
        if rank >= 0 and 0 not in shapes[direction]
    }
    results, last = _delivered(sent, expected, x.dtype, ranks, operator, image=x)

    def block(direction: int) -> Tensor:
        key = (receive_ranks[direction], direction)
        return results[key] if key in results else full_tensor(0, x.dtype, shapes[direction])

    middle = concat([block(6), _after(x, last), block(2)], 3)
    above, below = concat([block(7), block(0), block(1)], 3), concat([block(5), block(4), block(3)], 3)
    return concat([above, middle, below], 2)


def _border(x: Tensor, axis: int, side: int, lengths: Sequence[int]) -> Tensor:
    """Select the beginning (side -1), the end (side 1) or all (side 0) of an axis."""
    if not side:
        return x
    size = x.shape[axis]
    start, end = (0, lengths[0]) if side < 0 else (size - lengths[1], size)
    return x[(slice(None),) * axis + (slice(start, end),)]


def _delivered(
    sent: dict[tuple[int, int], Tensor],
    expected: dict[tuple[int, int], tuple[int, ...]],
    dtype: Any,
    ranks: Sequence[int],
    operator: str,
    image: Tensor | None = None,
) -> tuple[dict[tuple[int, int], Tensor], Tensor]:
    """Exchange tensors between the processes of a group, in rounds.

    In each round, a process sends at most one tensor and receives at most one. Returns the received tensors
    by rank and tag, and the tensor of the last round.

    Args:
        sent: tensors that this process sends, by target and tag.
        expected: shapes of the tensors that this process receives, by source and tag.
        dtype: dtype of all tensors.
        ranks: ranks of the group.
        operator: name of the operator in errors.
        image: a tensor that is always part of the result, so that every process differentiates the exchange.
    """
    own = get_rank()
    facts = [
        [[*key, list(x.shape)] for key, x in sent.items()],
        [[*key, list(shape)] for key, shape in expected.items()],
        str(dtype),
    ]
    everyone = [facts] if len(ranks) == 1 else facts_of_all(facts, ranks, operator)
    messages = _checked_messages(everyone, ranks, operator)
    results = {(rank, tag): x for (rank, tag), x in sent.items() if rank == own}
    results = {key: x.reshape(expected[key]) for key, x in results.items()}
    rounds = rounds_of([m for m in messages if m.source != m.target and m.size])
    silent = [
        rank
        for rank, (_, receives, _) in zip(ranks, everyone, strict=True)
        if not any(math.prod(shape) for *_, shape in receives)
    ]
    if rounds and image is None and open_scopes() and silent:
        raise ValueError(
            f"For '{operator}', rank {silent[0]} receives no tensor, so a compiled function would omit the "
            f"messages that it sends. Let this rank receive a tensor, or call the operator in eager mode."
        )
    came = nothing = concat(
        [x.reshape(-1)[:0] for x in (*sent.values(), *([] if image is None else [image]))]
        or [full_tensor(0, dtype, (0,))]
    )
    for listed in rounds:
        outgoing = next((m for m in listed if m.source == own), None)
        incoming = next((m for m in listed if m.target == own), None)
        x = nothing if outgoing is None else sent[outgoing.target, outgoing.tag].reshape(-1)
        padded_ = lengthened(_after(_after(x, nothing), came), max(m.size for m in listed))
        pairs = tuple(sorted([(m.source, m.target) for m in listed]))
        came = applied(primitives.permute, operator, padded_, pairs=pairs, ranks=tuple(ranks))
        if incoming is not None:
            key = incoming.source, incoming.tag
            results[key] = came[: incoming.size].reshape(expected[key])
    for key, shape in expected.items():
        if not math.prod(shape):
            results[key] = full_tensor(0, dtype, shape)
    return {key: _after(x, came) for key, x in results.items()}, came


def _after(x: Tensor, before: Tensor) -> Tensor:
    """Let ``x`` depend on ``before``, by appending an empty part of ``before``.

    By these dependences, each round follows the round before it, and all results follow the last round.
    Derivatives therefore run all rounds on all processes in the same order.
    """
    return concat([x.reshape(-1), before.reshape(-1)[:0]]).reshape(x.shape)


def _checked_messages(everyone: Sequence[Any], ranks: Sequence[int], operator: str) -> list[Message]:
    sends: dict[tuple[int, int, int], list[int]] = {}
    expects: dict[tuple[int, int, int], list[int]] = {}
    for rank, (sent, received, dtype) in zip(ranks, everyone, strict=True):
        sends.update({(rank, target, tag): shape for target, tag, shape in sent})
        expects.update({(source, rank, tag): shape for source, tag, shape in received})
        if dtype != everyone[0][2]:
            raise ValueError(
                f"For '{operator}', the tensors must have the same dtype, but it is {everyone[0][2]} on "
                f"rank {ranks[0]} and {dtype} on rank {rank}."
            )
    for key in sorted({*sends, *expects}):
        shapes = [
            f"one of shape {tuple(side[key])}" if key in side else "no tensor" for side in (sends, expects)
        ]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"For '{operator}', rank {key[0]} sends {shapes[0]} to rank {key[1]}, which expects "
                f"{shapes[1]} from it."
            )
    return [Message(*key, math.prod(shape)) for key, shape in sends.items()]


def four_lengths(value: Any, operator: str, name: str) -> list[int]:
    """Check the lengths of four borders.

    Raises:
        TypeError: If a length is not an integer.
        ValueError: If there are not exactly four lengths or one is negative.
    """
    listed = [whole_number(n, operator, name, least=0) for n in value]
    if len(listed) != 4:
        raise ValueError(
            f"For '{operator}', the '{name}' must be four lengths, at the top, bottom, left and right, but "
            f"got {listed}."
        )
    return listed
