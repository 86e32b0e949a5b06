"""Write a file only once if several processes save the same content to it.

    rank 0, 1, 2, 3: save(path, c)        the first process writes; the others wait until the file is complete
    rank 1: save("rank_1/net.ckpt", c)    rank 1 writes

This avoids redundant writes of replicated Parameters. The shared board of the job has a log for each file. An
entry contains the rank of a writer and digests of the content. A process skips the write only if a new entry
of the log has equal digests. Therefore no process waits for a process that does not save, writers of one file
take turns, and different content is always written. If the trained Parameters are equal but other Parameters
differ, such as moving statistics of batch normalization, the file contains the values of rank 0.

A path can refer to different files on different machines. If the written file does not exist on the machine
of a process, that process uses a separate log for its machine.
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

#: maximum seconds to wait for the process that writes the file
_SECONDS = 3600.0


class Digests(NamedTuple):
    """Digests of the content of a file.

    Attributes:
        replica: digest of the trained Parameters, or of all entries if there are none.
        content: digest of all entries.
    """

    replica: str
    content: str


def digests_of(content: Mapping[str, np.ndarray | str], trained: Iterable[str]) -> Digests:
    """Compute the digests of arrays and strings.

    ``trained`` are the names of the trained Parameters.
    """
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
    """The state of one process in the protocol of a single writer.

    Args:
        board: the board of the job (``communication.board``), or a connection to it.
        rank: the rank of this process.
        machines: the machine of each process.
    """

    def __init__(self, board: Any, rank: int, machines: Sequence[str]) -> None:
        self.board, self._rank, self._machines = board, rank, machines
        #: name of a log -> number of the last entry that this process has read
        self._positions: dict[str, int] = {}

    def write_once(self, path: str, own: Digests, write: Callable[[], None]) -> None:
        """Write a file, unless another process writes equal content to it."""
        file = os.path.realpath(path)
        end = self._written(f"the file {file}", own, write, file)
        if end is not None and end != _status(file):
            machine = self._machines[self._rank]
            self._written(f"the file {file} of the machine {machine}", own, write, file)

    def agreed(self, subject: str, choose: Callable[[], str]) -> str:
        """Return the choice of the first process that calls this method with ``subject``."""
        value: bytes = self.board.claim(self._next(subject), choose().encode())
        return value.decode()

    def _next(self, log: str) -> str:
        number = self._positions[log] = self._positions.get(log, -1) + 1
        return f"{log}, {number}"

    def _written(self, log: str, own: Digests, write: Callable[[], None], file: str) -> Any:
        """Write the file or wait for its writer.

        Returns:
            The status of the file if a process on another machine wrote it, else ``None``.
        """
        mine = json.dumps([self._rank, *own]).encode()
        while True:
            key = self._next(log)
            entry = self.board.claim(key, mine)
            if entry == mine:
                return self._write_and_tell(key, write, file)
            writer, *others = json.loads(entry)
            end = json.loads(self.board.get(f"{key} is complete", _SECONDS))
            theirs = Digests(*others)
            # Ranks with equal trained Parameters share one file, which must contain the batch statistics of
            # rank 0. Therefore, rank 0 writes the file again if its entries differ from the written ones.
            if theirs.replica == own.replica and (self._rank != 0 or theirs.content == own.content):
                if isinstance(end, str):
                    raise OSError(f"rank {writer} could not write '{file}' for all processes: {end}")
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
    """Return numbers that identify a file's version, or ``None`` without a file."""
    try:
        status = os.stat(file)
    except OSError:
        return None
    return [status.st_ino, status.st_size, status.st_mtime_ns]


_current: SingleWriter | None = None


def _writer() -> SingleWriter | None:
    """Return the state of this process, or ``None`` in a job of one process."""
    global _current
    board = store()
    if board is None:
        return None
    if _current is None or _current.board is not board:
        _current = SingleWriter(board, world().rank, world().machines)
    return _current


def write_once(path: str, digests: Callable[[], Digests], write: Callable[[], None]) -> None:
    """Write a file, or wait until another process has written equal content to it.

    Args:
        path: the file.
        digests: function that returns the digests of the content. It is not called in a job of one process.
        write: function that writes the file.

    Raises:
        OSError: If this process or the other process cannot write the file.
        RuntimeError: If the other process has ended.
    """
    writer = _writer()
    if writer is None:
        write()
    else:
        writer.write_once(path, digests(), write)


def agreed(subject: str, choose: Callable[[], str]) -> str:
    """Return the choice of the first process of the job that calls this function.

    Calls with the same ``subject`` are counted: the n-th calls of all processes return the same choice.

    >>> agreed("the name of the file", lambda: "net")
    'net'
    """
    writer = _writer()
    return choose() if writer is None else writer.agreed(subject, choose)
