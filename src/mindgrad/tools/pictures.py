"""Pictures are files of a format that their ending says."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["check_picture"]

_SUFFIXES = (".svg", ".png", ".pdf")


def check_picture(owner: str, path: str | os.PathLike[str]) -> None:
    """Raises: ValueError: the name does not end in ``.svg``, ``.png`` or ``.pdf``."""
    if Path(path).suffix.lower() not in _SUFFIXES:
        raise ValueError(
            f"For '{owner}', the file should end in {', '.join(_SUFFIXES)}, but got {os.fspath(path)!r}."
        )
