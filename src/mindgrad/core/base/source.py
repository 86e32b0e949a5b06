"""Find source files of mindgrad that have not changed since mindgrad was loaded."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from mindgrad.core.base.location import PACKAGE

__all__ = ["LOWERING", "unchanged_source"]

#: packages whose source code determines how graphs are lowered. The keys of stored executables contain a hash
#: of this code. Packages above ``core`` that define primitives add themselves
LOWERING = [
    "core", "core/base", "core/ir", "core/primitives", "core/transforms", "core/control", "core/passes",
    "core/backend",
]  # fmt: skip

_loaded = time.time()


def unchanged_source(packages: Sequence[str]) -> list[str] | None:
    """List the source files of ``packages``, which are subpackages of mindgrad.

    Returns:
        The paths, or ``None`` if a subpackage has no source files, or if a file has changed since mindgrad
        was loaded. In the second case, the running code may differ from the files.
    """
    files: list[str] = []
    for package in packages:
        folder = os.path.join(PACKAGE, package)
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
