"""Named groups of processes. The world group contains all processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mindgrad._base.checks import of_type

__all__ = ["WORLD_GROUPS", "World", "create", "destroy", "enter_world", "members", "own_position", "world"]

#: MindSpore's names for the group of all processes
WORLD_GROUPS = ("nccl_world_group", "hccl_world_group", "mccl_world_group")


class World(NamedTuple):
    """All processes of the job.

    Attributes:
        rank: rank of this process.
        machines: name of the machine of each process, by rank.
    """

    rank: int
    machines: tuple[str, ...]

    @property
    def size(self) -> int:
        return len(self.machines)


_ALONE = World(0, ("",))

_world = _ALONE
_groups: dict[str, tuple[int, ...]] = {}


def world() -> World:
    """Return the processes of the job.

    Before ``init``, this process is the only one.
    """
    return _world


def enter_world(state: World | None) -> None:
    """Set the processes of the job, and delete all groups.

    If ``state`` is ``None``, this process is the only one.
    """
    global _world
    _world = _ALONE if state is None else state
    _groups.clear()


def members(group: str, caller: str) -> tuple[int, ...]:
    """Return the global ranks of the members of a group, in the order of the group.

    Args:
        group (str): name of the group. In a job of one process, every name refers to a group of this process.
        caller (str): name of the function for error messages.

    Raises:
        TypeError: If ``group`` is not a string.
        ValueError: If there is no group with this name.
    """
    of_type(group, str, caller, "group", "a string")
    if group in WORLD_GROUPS:
        return tuple(range(_world.size))
    if group in _groups:
        return _groups[group]
    if _world.size == 1:
        return (0,)
    raise ValueError(
        f"For '{caller}', there is no group {group!r}. Fix: call create_group({group!r}, ranks). "
        f"Existing groups: {', '.join(map(repr, [WORLD_GROUPS[0], *_groups]))}."
    )


def own_position(group: str, caller: str) -> int:
    """Return the rank of this process in a group.

    Raises:
        TypeError: If ``group`` is not a string.
        ValueError: If there is no group with this name.
        RuntimeError: If this process is not in the group.
    """
    ranks = members(group, caller)
    if _world.rank not in ranks:
        raise RuntimeError(
            f"For '{caller}', rank {_world.rank} is not in the group {group!r}, which has the ranks "
            f"{list(ranks)}."
        )
    return ranks.index(_world.rank)


def create(group: str, rank_ids: Any) -> None:
    """Create a group called ``group`` of the processes ``rank_ids``.

    Raises:
        TypeError: If ``group`` is not a string, or ``rank_ids`` is not a list of integers.
        ValueError: If a rank does not exist or is repeated, or the group exists with other members.
    """
    of_type(group, str, "create_group", "group", "a string")
    if not isinstance(rank_ids, Sequence | range) or not all(type(rank) is int for rank in rank_ids):
        raise TypeError(
            f"For 'create_group', the 'rank_ids' must be a list of integers, but got {rank_ids!r}."
        )
    ranks = tuple(rank_ids)
    if not ranks or len(set(ranks)) < len(ranks):
        raise ValueError(
            f"For 'create_group', the 'rank_ids' must be one or more distinct ranks, but got {list(ranks)}."
        )
    if not all(0 <= rank < _world.size for rank in ranks):
        there = "only process 0" if _world.size == 1 else f"processes 0 to {_world.size - 1}"
        raise ValueError(f"For 'create_group', this job has {there}, but got {list(ranks)}.")
    if group in WORLD_GROUPS or _groups.get(group, ranks) != ranks:
        raise ValueError(
            f"For 'create_group', the group {group!r} already exists, with the ranks "
            f"{list(members(group, 'create_group'))}. To replace it, call destroy_group({group!r}) first."
        )
    _groups[group] = ranks


def destroy(group: str) -> None:
    """Delete the group called ``group``.

    Raises:
        TypeError: If ``group`` is not a string.
        ValueError: If the group does not exist, or is the group of all processes.
    """
    members(group, "destroy_group")
    if group in WORLD_GROUPS:
        raise ValueError(f"For 'destroy_group', the group of all processes, {group!r}, cannot be deleted.")
    _groups.pop(group, None)
