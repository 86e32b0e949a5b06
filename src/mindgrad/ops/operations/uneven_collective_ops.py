"""Operator classes for parts of different sizes, neighbors, and several messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad._base.checks import of_type
from mindgrad.communication.management import GlobalComm, get_process_group_ranks
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import neighbor_exchange, uneven_collectives
from mindgrad.ops.arguments import sizes, whole_number
from mindgrad.ops.collectives import partner
from mindgrad.ops.messages import Message, exchanged_messages
from mindgrad.ops.operations.base import boolean, classes, integer, operation, text
from mindgrad.ops.operations.primitive import Primitive

_WORLD = GlobalComm.WORLD_COMM_GROUP
_GROUP = text(_WORLD)
_X = "(Tensor([1.0, 2.0]), [2]"


def _in_blocks(tensor: Any, block_size: int) -> Any:
    """Reshape a flat tensor to one row per block."""
    return tensor if block_size == 1 else tensor.reshape(-1, block_size)


def _flat(result: Tensor, block_size: int) -> Tensor:
    return result if block_size == 1 or not result.ndim else result.reshape(-1)


AlltoAllV = operation(
    __name__, "AlltoAllV", uneven_collectives.exchanged_parts,
    attributes={"group": _GROUP, "block_size": integer(1)},
    run=lambda self, input_x, send_numel_list, recv_numel_list: _flat(
        uneven_collectives.exchanged_parts(
            _in_blocks(input_x, self.block_size), send_numel_list, recv_numel_list, self.group
        ), self.block_size
    ),
    example=f"ops.AlltoAllV(){_X}, [2])", prints="[1. 2.]",
)  # fmt: skip
AlltoAllVC = operation(
    __name__, "AlltoAllVC", uneven_collectives.exchanged_by_counts,
    attributes={"group": _GROUP, "block_size": integer(1), "transpose": boolean(False)},
    run=lambda self, input_x, send_count_matrix: _flat(
        uneven_collectives.exchanged_by_counts(
            _in_blocks(input_x, self.block_size), send_count_matrix, self.group, is_turned=self.transpose
        ), self.block_size
    ),
    example=f"ops.AlltoAllVC(){_X})", prints="[1. 2.]",
)  # fmt: skip


class NeighborExchange(Primitive):
    """Exchange tensors with other processes.

    Every process of the group must call the operator. The derivative sends in the opposite direction.

    Args:
        send_rank_ids (list of int): distinct ranks of the processes to send to.
        recv_rank_ids (list of int): distinct ranks of the processes to receive from.
        recv_shapes (tuple of tuple of int): shape of the tensor from each rank of ``recv_rank_ids``.
        send_shapes (tuple of tuple of int): shape of the tensor for each rank of ``send_rank_ids``.
        recv_type (mindgrad.dtype): dtype of all tensors that are sent or received.
        group (str): name of the group of processes that communicate.

    Inputs:
        input_x (tuple of Tensor): tensors to send, with the shapes ``send_shapes``.

    Returns:
        Tuple of the received tensors, with the shapes ``recv_shapes``.

    Raises:
        TypeError: If an input is not a tuple of tensors of ``recv_type``.
        ValueError: If a rank does not exist, or shapes differ from the declared shapes or from the shapes
            that another process expects.

    >>> import mindgrad as ms
    >>> from mindgrad import Tensor, ops
    >>> exchange = ops.NeighborExchange([0], [0], ([2],), ([2],), ms.float32)
    >>> print(exchange((Tensor([1.0, 2.0]),))[0])
    [1. 2.]
    """

    def __init__(
        self,
        send_rank_ids: Any,
        recv_rank_ids: Any,
        recv_shapes: Any,
        send_shapes: Any,
        recv_type: Any,
        group: str = _WORLD,
    ) -> None:
        name, ranks = "NeighborExchange", get_process_group_ranks(group)
        self.send_rank_ids = neighbor_exchange.checked_neighbors(send_rank_ids, ranks, name, "send_rank_ids")
        self.recv_rank_ids = neighbor_exchange.checked_neighbors(recv_rank_ids, ranks, name, "recv_rank_ids")
        self.send_shapes = [sizes(shape, name, "send_shapes", least=0) for shape in send_shapes]
        self.recv_shapes = [sizes(shape, name, "recv_shapes", least=0) for shape in recv_shapes]
        for side in ("send", "recv"):
            shapes, listed = getattr(self, f"{side}_shapes"), getattr(self, f"{side}_rank_ids")
            if len(shapes) != len(listed):
                raise ValueError(
                    f"For '{name}', the '{side}_shapes' must have an element for each of {len(listed)} "
                    f"'{side}_rank_ids', but got {len(shapes)}."
                )
        self.recv_type, self.group = as_dtype(recv_type), group

    def __call__(self, input_x: Any) -> Any:
        """Exchange ``input_x``."""
        shapes = [tuple(x.shape) for x in input_x] if isinstance(input_x, (tuple, list)) else self.send_shapes
        if shapes != self.send_shapes:
            raise ValueError(
                "For 'NeighborExchange', the shapes of the inputs must be the 'send_shapes' "
                f"{self.send_shapes}, but they are {shapes}."
            )
        return neighbor_exchange.exchanged_with_neighbors(
            input_x, self.send_rank_ids, self.recv_rank_ids, self.recv_shapes, self.recv_type, self.group
        )


class NeighborExchangeV2(Primitive):
    """Exchange the borders of images with neighbors in eight directions (halos).

    The directions are top, top right, right, bottom right, bottom, bottom left, left, and top left. Every
    process of the group must call the operator. The derivative sends in the opposite direction.

    Args:
        send_rank_ids (list of int): for each of the eight directions, the rank to send a border to; −1 for
            none.
        send_lens (list of int): numbers of rows to send (top, bottom), followed by numbers of columns (left,
            right).
        recv_rank_ids (list of int): for each of the eight directions, the rank to receive a border from; −1
            for none.
        recv_lens (list of int): numbers of rows to receive (top, bottom), followed by numbers of columns
            (left, right).
        data_format (str): layout of the images; must be ``"NCHW"``.
        group (str): name of the group of processes that communicate.

    Inputs:
        input_x (Tensor): images of shape (N, C, H, W).

    Returns:
        Tensor of the padded images, of shape (N, C, H + top + bottom, W + left + right) with the numbers
        ``recv_lens``. A border that no process sends is 0.

    Raises:
        TypeError: If an argument is not a list of int.
        ValueError: If a rank does not exist, a length is negative, or ``data_format`` is not ``"NCHW"``.

    >>> from mindgrad import Tensor, ops
    >>> around = [-1, -1, 0, -1, -1, -1, 0, -1]
    >>> periodic = ops.NeighborExchangeV2(around, [0, 0, 1, 1], around, [0, 0, 1, 1], "NCHW")
    >>> print(periodic(Tensor([[[[1.0, 2.0, 3.0]]]]))[0, 0])
    [[3. 1. 2. 3. 1.]]
    """

    def __init__(
        self,
        send_rank_ids: Any,
        send_lens: Any,
        recv_rank_ids: Any,
        recv_lens: Any,
        data_format: str,
        group: str = _WORLD,
    ) -> None:
        name, ranks = "NeighborExchangeV2", get_process_group_ranks(group)
        if data_format != "NCHW":
            raise ValueError(f"For '{name}', the 'data_format' must be 'NCHW', but got {data_format!r}.")
        self.send_rank_ids = _in_directions(send_rank_ids, ranks, name, "send_rank_ids")
        self.recv_rank_ids = _in_directions(recv_rank_ids, ranks, name, "recv_rank_ids")
        self.send_lens = neighbor_exchange.four_lengths(send_lens, name, "send_lens")
        self.recv_lens = neighbor_exchange.four_lengths(recv_lens, name, "recv_lens")
        self.data_format, self.group = data_format, group

    def __call__(self, input_x: Any) -> Any:
        """Exchange the borders of ``input_x``."""
        return neighbor_exchange.exchanged_halos(
            input_x, self.send_rank_ids, self.send_lens, self.recv_rank_ids, self.recv_lens, self.group
        )


def _in_directions(value: Any, ranks: Sequence[int], operator: str, name: str) -> list[int]:
    listed = [whole_number(rank, operator, name, least=-1) for rank in value]
    if len(listed) != 8 or not set(listed) <= {-1, *ranks}:
        raise ValueError(
            f"For '{operator}', the '{name}' must contain eight entries, each a rank of the group "
            f"{list(ranks)} or -1, but got {listed}."
        )
    return listed


class BatchISendIRecv(Primitive):
    """Send and receive several tensors without a deadlock.

    Args:
        op_types (tuple or list of str): direction of each message, ``"isend"`` or ``"irecv"``.
        remote_ranks (tuple or list of int): rank of the other process of each message.
        receive_shapes (tuple or list of tuple of int): shape of the tensor that each ``"irecv"`` receives.
        receive_dtypes (tuple or list of mindgrad.dtype): dtype of the tensor that each ``"irecv"`` receives.
        group (str): name of the group of processes that communicate.

    Inputs:
        input_x (tuple of Tensor): tensors to send, one for each ``"isend"``.

    Returns:
        Tuple with one tensor for each message: the received tensor for ``"irecv"``, the sent tensor for
        ``"isend"``.

    Raises:
        TypeError: If an argument is not a tuple or list.
        ValueError: If the lists do not have one entry for each message, or an operation or rank does not
            exist.
        RuntimeError: If ``input_x`` does not have one tensor for each ``"isend"``.

    >>> from mindgrad import ops
    >>> ops.BatchISendIRecv(("isend",), [0])
    Traceback (most recent call last):
    ...
    ValueError: For 'BatchISendIRecv', the 'remote_ranks' must be another rank of the group [0], but got 0.
    """

    def __init__(
        self,
        op_types: Any,
        remote_ranks: Any,
        receive_shapes: Any = None,
        receive_dtypes: Any = None,
        group: str = _WORLD,
    ) -> None:
        arguments = {
            "op_types": op_types, "remote_ranks": remote_ranks,
            "receive_shapes": receive_shapes or (), "receive_dtypes": receive_dtypes or (),
        }  # fmt: skip
        for name, value in arguments.items():
            of_type(value, (tuple, list), "BatchISendIRecv", name, "a tuple or list")
        self.op_types, self.remote_ranks, self.receive_shapes, self.receive_dtypes = map(
            list, arguments.values()
        )
        self.group = group
        counts = {name: len(value) for name, value in arguments.items()}
        receives = self.op_types.count("irecv")
        if (
            counts["op_types"] != counts["remote_ranks"]
            or not counts["receive_shapes"] == counts["receive_dtypes"] == receives
            or set(self.op_types) - {"isend", "irecv"}
        ):
            raise ValueError(
                "For 'BatchISendIRecv', each of 'op_types' must be 'isend' or 'irecv' and have a rank, "
                f"and each 'irecv' must have a shape and a dtype. The types are {self.op_types}, and the "
                f"numbers of entries are {counts}."
            )
        for rank in self.remote_ranks:
            partner(rank, "remote_ranks", group, "BatchISendIRecv")

    def __call__(self, input_x: Any) -> Any:
        """Send ``input_x``."""
        tensors = [x for x in ((input_x,) if isinstance(input_x, Tensor) else input_x) if x is not None]
        if len(tensors) != self.op_types.count("isend"):
            raise RuntimeError(
                f"For 'BatchISendIRecv', there must be {self.op_types.count('isend')} tensors, one for each "
                f"'isend', but got {len(tensors)}."
            )
        sends, receives = iter(tensors), zip(self.receive_shapes, self.receive_dtypes, strict=True)
        messages = [
            Message(peer, next(sends)) if kind == "isend" else Message(peer, None, *next(receives))
            for kind, peer in zip(self.op_types, self.remote_ranks, strict=True)
        ]
        return tuple(exchanged_messages(messages, self.group))


__all__ = list(classes(globals()) + ["BatchISendIRecv", "NeighborExchange", "NeighborExchangeV2"])
