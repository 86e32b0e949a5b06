"""Ranks and groups: which process of a job this is, and how many there are.

Without a launcher, there is one process, with rank 0, and no communication is started.
"""

from __future__ import annotations

from typing import Any

from mindgrad.communication.groups import WORLD_GROUPS, create, destroy, members, own_position, world
from mindgrad.communication.session import begin, end
from mindgrad.communication.session import store as store  # re-exported for exchanges of values
from mindgrad.distributed.job import job_of

__all__ = [
    "HCCL_WORLD_COMM_GROUP", "MCCL_WORLD_COMM_GROUP", "NCCL_WORLD_COMM_GROUP", "GlobalComm", "create_group",
    "destroy_group", "get_group_rank_from_world_rank", "get_group_size", "get_local_rank",
    "get_local_rank_size", "get_process_group_ranks", "get_rank", "get_world_rank_from_group_rank", "init",
    "release",
]  # fmt: skip

NCCL_WORLD_COMM_GROUP, HCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP = WORLD_GROUPS

_BACKENDS = ("nccl", "hccl", "mccl")


class GlobalComm:
    """Names and state of communication, as in MindSpore.

    Attributes:
        BACKEND: name that was passed to ``init``. JAX chooses the actual transport by the device.
        WORLD_COMM_GROUP: name of the group of all processes. MindSpore's other names for this group are
            accepted, too.
        INITED: ``True`` after ``init``.

    >>> from mindgrad.communication import GlobalComm
    >>> GlobalComm.WORLD_COMM_GROUP
    'nccl_world_group'
    """

    BACKEND = "nccl"
    WORLD_COMM_GROUP = NCCL_WORLD_COMM_GROUP
    INITED = False


def init(backend_name: str | None = None) -> None:
    """Start communication with the other processes of the job.

    ``mindgrad launch``, ``msrun``, SLURM, or Open MPI starts the processes, or environment variables describe
    them (``docs/scale.md``). Call ``init`` before the first computation. With one process, or in a second
    call, ``init`` does nothing.

    Args:
        backend_name (str, optional): ``"nccl"``, ``"hccl"``, ``"mccl"``, or ``None``. The name has no effect,
            because the device determines the backend. Default: ``None``.

    Raises:
        TypeError: If ``backend_name`` is not a string.
        RuntimeError: If ``backend_name`` is not a known backend, a computation has already run, other
            processes did not start in time, or the environment variables describe other processes but no
            address.

    >>> from mindgrad import communication
    >>> communication.init()
    >>> communication.get_rank(), communication.get_group_size()
    (0, 1)
    """
    if backend_name is not None and not isinstance(backend_name, str):
        raise TypeError(
            f"For 'init', the 'backend_name' must be a string, but got {type(backend_name).__name__}."
        )
    if backend_name not in (None, *_BACKENDS):
        raise RuntimeError(
            f"For 'init', the 'backend_name' must be nccl, hccl or mccl, but got {backend_name!r}."
        )
    job = job_of()
    if GlobalComm.INITED:
        return
    if job.size > 1:
        begin(job)
    GlobalComm.BACKEND = backend_name or "nccl"
    GlobalComm.INITED = True


def release() -> None:
    """End communication, after the other processes have called ``release`` or ended.

    Raises:
        RuntimeError: If another process has failed.

    >>> from mindgrad import communication
    >>> communication.release()
    """
    GlobalComm.INITED = False
    end()


def get_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Return the rank of this process in a group, which is 0 in a job of one process.

    Args:
        group (str, optional): name of the group. Default: the group of all processes.

    Returns:
        int: rank of this process in ``group``.

    Raises:
        TypeError: If ``group`` is not a string.
        ValueError: If the group does not exist.
        RuntimeError: If this process is not in the group, or ``init`` was not called in a job of several
            processes.

    >>> from mindgrad import communication
    >>> communication.get_rank()
    0
    """
    _check_begun("get_rank")
    return own_position(group, "get_rank")


def get_local_rank(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Return the rank of this process among the group's processes on its machine.

    :func:`get_rank` documents the errors.

    >>> from mindgrad import communication
    >>> communication.get_local_rank()
    0
    """
    _check_begun("get_local_rank")
    own_position(group, "get_local_rank")
    return _local_ranks(group, "get_local_rank").index(world().rank)


def get_group_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Return the number of processes in a group.

    :func:`get_rank` documents the errors. In contrast to :func:`get_rank`, this process does not have to be
    in the group.

    >>> from mindgrad import communication
    >>> communication.get_group_size()
    1
    """
    _check_begun("get_group_size")
    return len(members(group, "get_group_size"))


def get_local_rank_size(group: str = GlobalComm.WORLD_COMM_GROUP) -> int:
    """Return the number of the group's processes that run on this machine.

    :func:`get_rank` documents the errors.

    >>> from mindgrad import communication
    >>> communication.get_local_rank_size()
    1
    """
    _check_begun("get_local_rank_size")
    own_position(group, "get_local_rank_size")
    return len(_local_ranks(group, "get_local_rank_size"))


def get_process_group_ranks(group: str = GlobalComm.WORLD_COMM_GROUP) -> list[int]:
    """Return the global ranks of the processes of a group.

    :func:`get_group_size` documents the errors.

    >>> from mindgrad import communication
    >>> communication.get_process_group_ranks()
    [0]
    """
    _check_begun("get_process_group_ranks")
    return list(members(group, "get_process_group_ranks"))


def create_group(group: str, rank_ids: Any) -> None:
    """Create a named group of processes. All members must call this function.

    Args:
        group (str): name of the group.
        rank_ids (list of int): global ranks of the members of the group. With one process, it must be
            ``[0]``.

    Raises:
        TypeError: If ``group`` is not a string, or ``rank_ids`` is not a list of ints.
        ValueError: If a rank in ``rank_ids`` does not exist, or the group already exists with other members.
        RuntimeError: If ``init`` was not called in a job of several processes.

    >>> from mindgrad import communication
    >>> communication.create_group("mine", [0])
    """
    _check_begun("create_group")
    create(group, rank_ids)


def destroy_group(group: str) -> None:
    """Delete a named group of processes.

    Args:
        group (str): name of the group.

    Raises:
        TypeError: If ``group`` is not a string.
        ValueError: If the group does not exist, or is the predefined group of all processes.

    >>> from mindgrad import communication
    >>> communication.destroy_group("mine")
    """
    _check_begun("destroy_group")
    destroy(group)


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """Convert the rank of a process in a group to its global rank.

    :func:`get_group_size` documents further errors.

    Args:
        group (str): name of the group.
        group_rank_id (int): rank of the process in the group.

    Raises:
        TypeError: If ``group_rank_id`` is not an int.
        ValueError: If no member of the group has the rank ``group_rank_id``.

    >>> from mindgrad import communication
    >>> communication.get_world_rank_from_group_rank("mine", 0)
    0
    """
    caller = "get_world_rank_from_group_rank"
    _check_begun(caller)
    ranks = members(group, caller)
    if type(group_rank_id) is not int:
        raise TypeError(f"For '{caller}', the 'group_rank_id' must be an integer, but got {group_rank_id!r}.")
    if not 0 <= group_rank_id < len(ranks):
        raise ValueError(
            f"For '{caller}', the 'group_rank_id' must be in range [0, {len(ranks)}), but got "
            f"{group_rank_id}."
        )
    return ranks[group_rank_id]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """Convert the global rank of a process to its rank in a group.

    :func:`get_group_size` documents further errors.

    Args:
        world_rank_id (int): global rank of the process.
        group (str): name of the group.

    Raises:
        TypeError: If ``world_rank_id`` is not an int.
        ValueError: If the process ``world_rank_id`` is not in the group.

    >>> from mindgrad import communication
    >>> communication.get_group_rank_from_world_rank(0, "mine")
    0
    """
    caller = "get_group_rank_from_world_rank"
    _check_begun(caller)
    ranks = members(group, caller)
    if type(world_rank_id) is not int:
        raise TypeError(f"For '{caller}', the 'world_rank_id' must be an integer, but got {world_rank_id!r}.")
    if world_rank_id not in ranks:
        raise ValueError(
            f"For '{caller}', rank {world_rank_id} is not in the group {group!r}, which has the ranks "
            f"{list(ranks)}."
        )
    return ranks.index(world_rank_id)


def _local_ranks(group: str, caller: str) -> list[int]:
    machines = world().machines
    return [rank for rank in members(group, caller) if machines[rank] == machines[world().rank]]


def _check_begun(caller: str) -> None:
    if not GlobalComm.INITED and job_of().size > 1:
        raise RuntimeError(
            f"For '{caller}', communication is not initialized. Call communication.init() first, which "
            f"waits for "
            "the other processes."
        )
