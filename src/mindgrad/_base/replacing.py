"""Atomic replacement of files lets a reader find the old file or the new one, never a part of either.

    .mindgrad-<machine>-<process>-<random>.tmp  →  the file

What is new is written under a name that tells who writes it. A writer that is killed leaves such a file
behind; the next one in the same folder removes it, if its process is gone or, where that cannot be known, if
nobody has written to it for a day.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["remove_abandoned", "replaced", "temporary"]

_ABANDONED_SECONDS = 24 * 3600.0
#: also names without machine and process, as they were before
_TEMPORARY = re.compile(r"\.mindgrad-(?:(?P<machine>[0-9a-f]{8})-(?P<process>\d{1,9})-)?[0-9a-f]{16}\.tmp")


@contextlib.contextmanager
def replaced(target: str | os.PathLike[str]) -> Iterator[Path]:
    """A new file beside ``target`` to be written; at the end it takes the place of ``target``.

    The new file is on the disk before it takes the old one's name, so that a full disk, an exception or
    a machine that stops leaves the old file as it was. If the block ends with an exception the new file
    is removed. A link stays a link; permissions of an old file are kept.

    Raises:
        FileNotFoundError: the folder does not exist.
        IsADirectoryError: ``target`` is a folder.
        OSError: ``target`` is a device or pipe, or writing fails.
    """
    destination = Path(os.path.realpath(target))
    if destination.is_dir():
        raise IsADirectoryError(f"'{target}' is a folder; give the name of a file.")
    if not destination.parent.is_dir():
        raise FileNotFoundError(
            f"the folder '{destination.parent}' of '{destination.name}' does not exist; make it first."
        )
    if destination.exists() and not destination.is_file():
        raise OSError(f"'{target}' is a device or pipe, which cannot be replaced by a file.")
    remove_abandoned(destination.parent)
    with _named(target), temporary(destination.parent, 0o666) as new:
        mode = stat.S_IMODE((destination if destination.exists() else new).stat().st_mode)
        yield new
        _to_disk(new)
        os.chmod(new, mode)
        os.replace(new, destination)
        _to_disk(destination.parent)


@contextlib.contextmanager
def temporary(folder: Path, mode: int) -> Iterator[Path]:
    """A new empty file in ``folder``, which is removed at the end if it was not renamed.

    Raises:
        OSError: there can be no such file.
    """
    # a name of fixed length: the target's may already be as long as a file system allows
    new = folder / f".mindgrad-{_machine()}-{os.getpid()}-{os.urandom(8).hex()}.tmp"
    os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    try:
        yield new
    finally:
        new.unlink(missing_ok=True)


def remove_abandoned(folder: str | os.PathLike[str]) -> None:
    """Remove the temporary files that writers which were killed have left in ``folder``."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            name = _TEMPORARY.fullmatch(entry.name)
            if name:
                with contextlib.suppress(OSError):  # another process removed it, or only its owner may
                    _remove_if_abandoned(entry, name["machine"], name["process"])


def _remove_if_abandoned(entry: os.DirEntry[str], machine: str | None, process: str | None) -> None:
    status = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        return
    if process is not None and machine == _machine() and os.name != "nt":
        abandoned = not _is_running(int(process))
    else:
        abandoned = time.time() - status.st_mtime > _ABANDONED_SECONDS
    if abandoned:
        os.unlink(entry.path)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # that of another user
        return True
    return True


@functools.cache
def _machine() -> str:
    """Eight digits that two processes share if the number of a process means the same to both."""
    identity = [platform.node()]
    with contextlib.suppress(OSError):
        identity.append(Path("/proc/sys/kernel/random/boot_id").read_text())
        identity.append(os.readlink("/proc/self/ns/pid"))  # in a container the numbers are its own
    return hashlib.sha256("\0".join(identity).encode()).hexdigest()[:8]


@contextlib.contextmanager
def _named(target: str | os.PathLike[str]) -> Iterator[None]:
    """Let an error of the operating system name the file that was to be written."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise OSError(f"'{os.fspath(target)}' cannot be written: {error}") from error
        raise OSError(error.errno, error.strerror, os.fspath(target)) from error


def _to_disk(path: Path) -> None:
    """Wait until what was written is on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
