"""The source of the package on disk, as long as it is that of the code that runs."""

from __future__ import annotations

import os
import time

from mindgrad._base.location import PACKAGE

__all__ = ["unchanged_source"]

_loaded = time.time()


def unchanged_source(rooms: tuple[str, ...]) -> list[str] | None:
    """The source files of some rooms, in order.

    Returns:
        ``None`` if a room has none, or one was written after the package was loaded: what runs may be older.
    """
    files: list[str] = []
    for room in rooms:
        folder = os.path.join(PACKAGE, room)
        try:
            with os.scandir(folder) as listed:
                statuses = sorted(
                    [(entry.name, entry.stat()) for entry in listed if entry.name.endswith(".py")]
                )
        except OSError:
            return None
        if not statuses or any(max(status.st_mtime, status.st_ctime) > _loaded for _, status in statuses):
            return None
        files += [os.path.join(folder, name) for name, _ in statuses]
    return files
