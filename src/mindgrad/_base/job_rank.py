"""The rank of this process in its job says who shows progress, and what lines of the log begin with.

``communication`` writes it when it begins and ends. Process 0 alone draws bars and prints losses and times;
warnings and errors are those of each process.
"""

from __future__ import annotations

__all__ = ["join_job", "leave_job", "prefix", "rank", "shows_progress"]

#: the number of this process
rank = 0
_prefix = ""


def join_job(number: int, restart: int = 0, *, is_prefixed: bool = False) -> None:
    """Be one of several processes.

    Args:
        number: that of this one.
        restart: how often the job was started again before.
        is_prefixed: whether a launcher puts the rank before each line.
    """
    global rank, _prefix
    rank = number
    _prefix = (
        "" if is_prefixed else f"[rank {number}, restart {restart}] " if restart else f"[rank {number}] "
    )


def leave_job() -> None:
    """Be alone again."""
    global rank, _prefix
    rank, _prefix = 0, ""


def shows_progress() -> bool:
    """Whether this process shows bars, losses and times: the first of several, or the only one."""
    return rank == 0


def prefix() -> str:
    """The beginning of a line of the log.

    >>> from mindgrad._base.job_rank import join_job, leave_job, prefix
    >>> join_job(1, restart=2)
    >>> prefix()
    '[rank 1, restart 2] '
    >>> leave_job()
    >>> prefix()
    ''
    """
    return _prefix
