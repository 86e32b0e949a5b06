"""Ranks and groups describe the one process that there is: rank 0 of 1."""

from __future__ import annotations

import os
from typing import Any

__all__ = [
    "HCCL_WORLD_COMM_GROUP",
    "MCCL_WORLD_COMM_GROUP",
    "NCCL_WORLD_COMM_GROUP",
    "GlobalComm",
    "create_group",
    "destroy_group",
    "get_group_rank_from_world_rank",
    "get_group_size",
    "get_local_rank",
    "get_local_rank_size",
    "get_process_group_ranks",
    "get_rank",
    "get_world_rank_from_group_rank",
    "init",
    "release",
]  # fmt: skip

#: how launchers say how many processes they have started
_SIZES = ("RANK_SIZE", "OMPI_COMM_WORLD_SIZE", "MS_WORKER_NUM")

HCCL_WORLD_COMM_GROUP = "hccl_world_group"
NCCL_WORLD_COMM_GROUP = "nccl_world_group"
MCCL_WORLD_COMM_GROUP = "mccl_world_group"


class GlobalComm:
    """Names of MindSpore's communication.

    >>> from mindgrad.communication import GlobalComm
    >>> GlobalComm.WORLD_COMM_GROUP
    'nccl_world_group'
    """

    BACKEND = "nccl"
    WORLD_COMM_GROUP = NCCL_WORLD_COMM_GROUP
    INITED = False


def init(backend_name: str | None = None) -> None:
    """Start communication: with one process there is none to start.

    Args:
        backend_name: ``"nccl"``, ``"hccl"``, ``"mccl"`` or ``None``.

    Raises:
        TypeError: ``backend_name`` is no string.
        RuntimeError: there is no such backend, or a launcher has started several processes, each of
            which would train on its own.

    >>> from mindgrad import communication
    >>> communication.init()
    >>> communication.get_rank(), communication.get_group_size()
    (0, 1)
    """
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(
            f"For 'init', the 'backend_name' must be a string, but got {type(backend_name).__name__}."
        )
    if backend_name not in (None, "nccl", "hccl", "mccl"):
        raise RuntimeError(
            f"For 'init', the 'backend_name' must be nccl, hccl or mccl, but got {backend_name!r}."
        )
    for name in _SIZES:
        if os.environ.get(name, "1") not in ("", "1"):
            raise RuntimeError(
                f"For 'init', {name}={os.environ[name]} says that there are several processes. mindgrad "
                f"trains in one: start the program without mpirun or a launcher."
            )
    GlobalComm.INITED = True


def release() -> None:
    """End communication.

    >>> from mindgrad import communication
    >>> communication.release()
    """
    GlobalComm.INITED = False


def get_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """The number of this process: 0.

    >>> from mindgrad import communication
    >>> communication.get_rank()
    0
    """
    return 0


def get_local_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """The number of this process on its machine: 0.

    >>> from mindgrad import communication
    >>> communication.get_local_rank()
    0
    """
    return 0


def get_group_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """The number of processes: 1.

    >>> from mindgrad import communication
    >>> communication.get_group_size()
    1
    """
    return 1


def get_local_rank_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """The number of processes on this machine: 1.

    >>> from mindgrad import communication
    >>> communication.get_local_rank_size()
    1
    """
    return 1


def get_process_group_ranks(group: str = GlobalComm.WORLD_COMM_GROUP) -> list[int]:
    """The numbers of the processes in a group: 0.

    >>> from mindgrad import communication
    >>> communication.get_process_group_ranks()
    [0]
    """
    return [0]


def create_group(group: str, rank_ids: Any) -> None:
    """Make a group of processes: with one process only ``[0]``.

    Raises:
        ValueError: there are other processes in it.

    >>> from mindgrad import communication
    >>> communication.create_group("mine", [0])
    """
    if list(rank_ids) != [0]:
        raise ValueError(f"For 'create_group', there is process 0 only, but got {list(rank_ids)}.")


def destroy_group(group: str) -> None:
    """Forget a group.

    >>> from mindgrad import communication
    >>> communication.destroy_group("mine")
    """


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The number among all processes of one of a group: 0.

    >>> from mindgrad import communication
    >>> communication.get_world_rank_from_group_rank("mine", 0)
    0
    """
    return 0


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The number in a group of one of all processes: 0.

    >>> from mindgrad import communication
    >>> communication.get_group_rank_from_world_rank(0, "mine")
    0
    """
    return 0
