"""Find the latest checkpoint in a folder, to resume training from it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mindgrad.train.sharded_checkpoint import completed_at

__all__ = ["latest_checkpoint", "natural_order"]

_ENDINGS = (".ckpt", ".safetensors")


def natural_order(name: str) -> list[Any]:
    """Return a sort key that compares numbers in names as numbers.

    >>> sorted(["net-10", "net-9"], key=natural_order)
    ['net-9', 'net-10']
    """
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]


def latest_checkpoint(directory: str | os.PathLike[str], prefix: str = "") -> str | None:
    """Return the path of the latest complete checkpoint in a folder.

    Files that :func:`save_checkpoint` and :class:`ModelCheckpoint` write appear only when they are complete,
    even if their writer is interrupted. A sharded checkpoint is complete when it has an index.

    Args:
        directory (str or PathLike): folder to search. It need not exist.
        prefix (str, optional): start of the names of checkpoints to consider. Default: ``""``.

    Returns:
        str or None: path of a ``.ckpt`` or ``.safetensors`` file, or of the folder of a sharded checkpoint,
        for :func:`load_checkpoint`. ``None`` if there is no checkpoint. If several checkpoints have the
        same time, the result is the last one by name; numbers in names are compared as numbers.

    >>> import mindgrad as ms, os, tempfile
    >>> from mindgrad.train import latest_checkpoint
    >>> folder = tempfile.TemporaryDirectory()
    >>> for step in (9, 10):
    ...     ms.save_checkpoint({"step": ms.Tensor(step)}, os.path.join(folder.name, f"net-1_{step}.ckpt"))
    >>> os.path.basename(latest_checkpoint(folder.name))
    'net-1_10.ckpt'
    >>> print(latest_checkpoint(folder.name, prefix="other"))
    None
    >>> folder.cleanup()

    See Also:
        :func:`mindgrad.load_checkpoint`, :class:`mindgrad.train.ModelCheckpoint`
    """
    path = Path(directory)
    times: dict[tuple[Any, ...], str] = {}
    for entry in path.iterdir() if path.is_dir() else ():
        if entry.name.startswith(prefix):
            if entry.suffix in _ENDINGS and entry.is_file():
                time: int | None = entry.stat().st_mtime_ns
            else:
                time = completed_at(entry)
            if time is not None:
                times[time, *natural_order(entry.name)] = str(entry)
    return times[max(times)] if times else None
