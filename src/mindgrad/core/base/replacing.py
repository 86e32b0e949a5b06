"""Atomic replacement of files: readers find either the old or the new file.

    .mindgrad-<machine>-<process>-<random>.tmp  →  the file

New content is written to a temporary file, which is then renamed. The temporary name contains the machine and
the process ID. If the process is killed, the temporary file remains. The next process that writes to the same
folder removes the file if the killed process no longer exists. If it is not known whether the process exists,
for example because it ran on another machine, the file is removed a day after its last change.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["remove_abandoned", "replaced", "temporary"]

#: a temporary file of an unknown process is removed if it has not changed for this many seconds
_ABANDONED_SECONDS = 24 * 3600.0
#: pattern for the name of a temporary file. The machine and the process are optional, because earlier
#: versions did not include them
_TEMPORARY = re.compile(r"\.mindgrad-(?:(?P<machine>[0-9a-f]{8})-(?P<process>\d{1,9})-)?[0-9a-f]{16}\.tmp")


@contextlib.contextmanager
def replaced(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a new file, which replaces ``target`` at the end of the block.

    The new file is flushed to disk before it is renamed. Therefore the old file does not change if the disk
    is full, the block raises an exception, or the machine crashes. If the block raises an exception, the new
    file is removed. If ``target`` is a link, the file to which it refers is replaced. The new file has the
    permissions of the old file.

    Raises:
        FileNotFoundError: If the folder does not exist.
        IsADirectoryError: If ``target`` is a folder.
        OSError: If ``target`` is a device or pipe, or if writing fails.
    """
    destination = Path(os.path.realpath(target))
    if destination.is_dir():
        raise IsADirectoryError(f"'{target}' is a folder; pass the name of a file.")
    if not destination.parent.is_dir():
        raise FileNotFoundError(
            f"the folder '{destination.parent}' of '{destination.name}' does not exist; create it first."
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
    """Yield a new empty file in ``folder``, and remove it unless it was renamed.

    Raises:
        OSError: If the file cannot be created.
    """
    # the temporary name does not contain the name of the target, whose length may already be the maximum
    new = folder / f".mindgrad-{_machine()}-{os.getpid()}-{os.urandom(8).hex()}.tmp"
    os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    try:
        yield new
    finally:
        new.unlink(missing_ok=True)


def remove_abandoned(folder: str | os.PathLike[str]) -> None:
    """Remove the temporary files of killed processes from ``folder``."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            name = _TEMPORARY.fullmatch(entry.name)
            if name:
                with contextlib.suppress(OSError):  # the file was already removed, or belongs to another user
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
    except OSError:  # the process exists, but belongs to another user
        return True
    return True


def _machine() -> str:
    """Return eight hexadecimal digits that identify a namespace of process IDs.

    Two processes return the same digits if a process ID refers to the same process for both. A container has
    separate process IDs.
    """
    identity = [platform.node()]
    with contextlib.suppress(OSError):
        identity.append(Path("/proc/sys/kernel/random/boot_id").read_text())
        identity.append(os.readlink("/proc/self/ns/pid"))  # containers number their processes independently
    return hashlib.sha256("\0".join(identity).encode()).hexdigest()[:8]


@contextlib.contextmanager
def _named(target: str | os.PathLike[str]) -> Iterator[None]:
    """Add the name of the target file to errors that the operating system raises."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise OSError(f"'{os.fspath(target)}' cannot be written: {error}") from error
        raise OSError(error.errno, error.strerror, os.fspath(target)) from error


def _to_disk(path: Path) -> None:
    """Flush the file or folder to disk, and wait until this is done."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open folders
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
