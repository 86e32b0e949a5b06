"""Files that are replaced as a whole: a reader finds the old one or the new one, never a part."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

__all__ = ["replaced"]


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
    place = Path(os.path.realpath(target))
    if place.is_dir():
        raise IsADirectoryError(f"'{target}' is a folder; give the name of a file.")
    if not place.parent.is_dir():
        raise FileNotFoundError(
            f"the folder '{place.parent}' of '{place.name}' does not exist; make it first."
        )
    if place.exists() and not place.is_file():
        raise OSError(f"'{target}' is a device or pipe, which cannot be replaced by a file.")
    # a name of fixed length: the target's may already be as long as a file system allows
    new = place.parent / f".mindgrad-{os.urandom(8).hex()}.tmp"
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    mode = stat.S_IMODE((place if place.exists() else new).stat().st_mode)
    os.close(descriptor)
    try:
        yield new
        _to_disk(new)
        os.chmod(new, mode)
        os.replace(new, place)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    _to_disk(place.parent)


def _to_disk(path: Path) -> None:
    """Wait until what was written is on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # folders cannot be opened there
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
