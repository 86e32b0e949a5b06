"""Check of the file names of images, whose suffix selects the format."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["check_picture"]

_SUFFIXES = (".svg", ".png", ".pdf")


def check_picture(owner: str, path: str | os.PathLike[str]) -> None:
    """Check the suffix of an image file.

    Args:
        owner (str): name of the public function, for the message.
        path (str or PathLike): name of the file.

    Raises:
        ValueError: If ``path`` does not end in ``.svg``, ``.png``, or ``.pdf``.
    """
    if Path(path).suffix.lower() not in _SUFFIXES:
        raise ValueError(
            f"For '{owner}', the file should end in {', '.join(_SUFFIXES)}, but got {os.fspath(path)!r}."
        )
