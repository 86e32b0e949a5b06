"""The rank of this process in a distributed job.

``communication`` sets the rank when a job begins, and resets it when the job ends. Only process 0 shows
progress bars, losses, and times. Every process shows its warnings and errors, and its log lines begin with
its rank.
"""

from __future__ import annotations

__all__ = ["join_job", "leave_job", "prefix", "rank", "shows_progress"]

#: rank of the current process in its job, or 0 without a job
rank = 0
_prefix = ""


def join_job(number: int, restart: int = 0, *, is_prefixed: bool = False) -> None:
    """Set the rank of this process in a job.

    Args:
        number: the rank.
        restart: number of times that the job has been restarted.
        is_prefixed: whether a launcher adds the rank to each line. If so, the log does not add the rank.
    """
    global rank, _prefix
    rank = number
    _prefix = (
        "" if is_prefixed else f"[rank {number}, restart {restart}] " if restart else f"[rank {number}] "
    )


def leave_job() -> None:
    """Reset the rank, because this process is no longer part of a job."""
    global rank, _prefix
    rank, _prefix = 0, ""


def shows_progress() -> bool:
    """Return whether this process shows progress bars, losses, and times."""
    return rank == 0


def prefix() -> str:
    """Return the prefix that the log adds to each line.

    >>> from mindgrad._base.job_rank import join_job, leave_job, prefix
    >>> join_job(1, restart=2)
    >>> prefix()
    '[rank 1, restart 2] '
    >>> leave_job()
    >>> prefix()
    ''
    """
    return _prefix
