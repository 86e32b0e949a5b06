"""A single writer of the processes that save the same content to the same file, for replicated Parameters.

    rank 0, 1, 2, 3: save(path, c)        the first that comes writes; the others wait until it is complete
    rank 1: save("rank_1/net.ckpt", c)    it writes

The board of the job has a log for each file: who has written what, by a digest of it. A process writes unless
the log, beyond the last entry that it has seen, says that another one has written the same. So nobody waits
for a process that does not come, writers of one file take turns, and what differs is never left out. Where
trained Parameters are the same and others are not (moving statistics of batches), rank 0's are kept.

A file of the same name on another machine may be another file: a process that does not find there what was
written comes to an agreement with those of its machine.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindgrad.communication.groups import world
from mindgrad.communication.session import store

__all__ = ["Digests", "SingleWriter", "agreed", "digests_of", "write_once"]

#: so long a process waits for another one that writes
_SECONDS = 3600.0


class Digests(NamedTuple):
    """Digests of the content of a file.

    Attributes:
        replica: of the trained Parameters; of all where there are none.
        content: of all.
    """

    replica: str
    content: str


def digests_of(content: Mapping[str, np.ndarray | str], trained: Iterable[str]) -> Digests:
    """The digests of arrays and texts, of which ``trained`` names the trained Parameters."""
    names = content.keys() & set(trained)
    digest = hashlib.sha256(usedforsecurity=False)
    _add(digest, {name: value for name, value in content.items() if name in names})
    replica = digest.hexdigest()
    _add(digest, {name: value for name, value in content.items() if name not in names})
    return Digests(replica if names else digest.hexdigest(), digest.hexdigest())


def _add(digest: Any, content: Mapping[str, np.ndarray | str]) -> None:
    for name, value in sorted(content.items()):
        if isinstance(value, str):
            digest.update(json.dumps([name, value]).encode())
        else:
            digest.update(json.dumps([name, str(value.dtype), value.shape]).encode())
            digest.update(np.ascontiguousarray(value).view(np.uint8).data if value.size else b"")


class SingleWriter:
    """A process's part in agreements about files.

    Args:
        board: the board of the job, or the way to it.
        rank: the number of this process.
        machines: for each process its machine.
    """

    def __init__(self, board: Any, rank: int, machines: Sequence[str]) -> None:
        self.board, self._rank, self._machines = board, rank, machines
        #: of each log the number of the next entry that this process has not seen
        self._positions: dict[str, int] = {}

    def write_once(self, path: str, own: Digests, write: Callable[[], None]) -> None:
        """Write a file, unless another process writes the same; as the function of this name."""
        file = os.path.realpath(path)
        end = self._written(f"the file {file}", own, write, file)
        if end is not None and end != _status(file):
            machine = self._machines[self._rank]
            self._written(f"the file {file} of the machine {machine}", own, write, file)

    def agreed(self, subject: str, choose: Callable[[], str]) -> str:
        """The choice of the first process that asks about a subject; as the function of this name."""
        value: bytes = self.board.claim(self._next(subject), choose().encode())
        return value.decode()

    def _next(self, log: str) -> str:
        number = self._positions[log] = self._positions.get(log, -1) + 1
        return f"{log}, {number}"

    def _written(self, log: str, own: Digests, write: Callable[[], None], file: str) -> Any:
        """The status of the file that a process of another machine has written, else ``None``."""
        mine = json.dumps([self._rank, *own]).encode()
        while True:
            key = self._next(log)
            entry = self.board.claim(key, mine)
            if entry == mine:
                return self._write_and_tell(key, write, file)
            writer, *others = json.loads(entry)
            end = json.loads(self.board.get(f"{key} is complete", _SECONDS))
            theirs = Digests(*others)
            # rank 0's statistics are kept, whoever came first
            if theirs.replica == own.replica and (self._rank != 0 or theirs.content == own.content):
                if isinstance(end, str):
                    raise OSError(f"rank {writer}, which wrote '{file}' for all, could not: {end}")
                return None if self._machines[writer] == self._machines[self._rank] else end

    def _write_and_tell(self, key: str, write: Callable[[], None], file: str) -> None:
        end: Any = "it was interrupted"
        try:
            write()
            end = _status(file)
        except Exception as error:
            end = f"{type(error).__name__}: {error}"
            raise
        finally:
            self.board.set(f"{key} is complete", json.dumps(end).encode())


def _status(file: str) -> list[int] | None:
    """Numbers that tell a file from others of its name."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return [status.st_ino, status.st_size, status.st_mtime_ns]


_current: SingleWriter | None = None


def _writer() -> SingleWriter | None:
    """This process's part in the agreements of its job; ``None`` with one process."""
    global _current
    board = store()
    if board is None:
        return None
    if _current is None or _current.board is not board:
        _current = SingleWriter(board, world().rank, world().machines)
    return _current


def write_once(path: str, digests: Callable[[], Digests], write: Callable[[], None]) -> None:
    """Write a file, unless another process of the job writes the same to it: then wait until it is complete.

    Args:
        path: the file.
        digests: gives the digests of the content; not called with one process.
        write: writes it.

    Raises:
        OSError: it cannot be written, by this process or by the other.
        RuntimeError: the other process has ended.
    """
    writer = _writer()
    if writer is None:
        write()
    else:
        writer.write_once(path, digests(), write)


def agreed(subject: str, choose: Callable[[], str]) -> str:
    """The choice of the first process of the job that asks about a subject; each may ask again, for another.

    >>> agreed("the name of the file", lambda: "net")
    'net'
    """
    writer = _writer()
    return choose() if writer is None else writer.agreed(subject, choose)
