"""The folder of the compile cache is the user's cache folder, unless a setting names another one or none.

    set_context(compile_cache_path=…) > MINDGRAD_CACHE_DIR > $XDG_CACHE_HOME/mindgrad > ~/.cache/mindgrad

A folder that somebody named and that cannot be used costs a warning, once. The folder that nobody named is
left alone without a word: its user has not asked for it. It is not made where it would belong to another user
than the folder around it, as after ``sudo``.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from mindgrad._base.location import warn_user
from mindgrad.backend.trust import Distrusted, home
from mindgrad.ir import settings

__all__ = [
    "DEFAULT_LIMIT",
    "DIRECTORY_VARIABLE",
    "SIZE_VARIABLE",
    "directory",
    "limit",
    "readable_size",
    "reason_off",
    "refuse",
]

DIRECTORY_VARIABLE = "MINDGRAD_CACHE_DIR"
SIZE_VARIABLE = "MINDGRAD_CACHE_SIZE"
#: above this many bytes in all, the entries that were not used for longest are removed
DEFAULT_LIMIT = 1 << 30

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}

#: folders that could not be used in this process, and why
_refused: dict[str, str] = {}
_warned: set[str] = set()


def directory() -> Path | None:
    """The folder of the compile cache; ``None``: there is none, :func:`reason_off` says why."""
    folder = _chosen()[0]
    return None if folder is None or (str(folder) in _refused and not _is_named()) else folder


def reason_off() -> str:
    """The reason why nothing is kept on disk, ``""`` where something is."""
    folder, reason = _chosen()
    return reason or _refused.get(str(folder), "")


def limit() -> int:
    """The number of bytes that the entries may have in all; 0 turns the cache off."""
    text = os.environ.get(SIZE_VARIABLE, "").strip()
    if not text:
        return DEFAULT_LIMIT
    size = _SIZE.fullmatch(text)
    if size is not None:
        return int(float(size[1]) * (1 << _UNITS[size[2].upper()]))
    _warn_once(
        SIZE_VARIABLE,
        f"{SIZE_VARIABLE}={text!r} is no size: write bytes or a number with K, M or G, such as 500M; 0 turns "
        f"the compile cache off. It stays below {readable_size(DEFAULT_LIMIT)}.",
    )
    return DEFAULT_LIMIT


def readable_size(size: float) -> str:
    """A number of bytes with a unit, as :data:`SIZE_VARIABLE` takes it.

    >>> readable_size(3 << 20)
    '3.0 MiB'
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def refuse(folder: Path, error: Exception) -> None:
    """Note that ``folder`` cannot be used; a warning, once, if somebody named it."""
    _refused[str(folder)] = str(error)
    if _is_named():
        _warn_once(
            str(folder),
            f"the compile cache in {folder} cannot be used: {error}. Programs are compiled without it.",
        )


def _warn_once(subject: str, text: str) -> None:
    if subject not in _warned:
        _warned.add(subject)
        warn_user(text)


def _is_named() -> bool:
    return bool(settings.get("enable_compile_cache") or os.environ.get(DIRECTORY_VARIABLE))


def _chosen() -> tuple[Path | None, str]:
    """The folder that the settings choose; otherwise the reason why there is none."""
    is_enabled = settings.get("enable_compile_cache")
    if is_enabled is not None and not is_enabled:
        return None, "set_context(enable_compile_cache=False)"
    if not limit():
        return None, f"{SIZE_VARIABLE}={os.environ[SIZE_VARIABLE]}"
    variable = os.environ.get(DIRECTORY_VARIABLE)
    named = (settings.get("compile_cache_path") if is_enabled else None) or variable
    if not named and variable is not None and not is_enabled:
        return None, f"{DIRECTORY_VARIABLE} is set to nothing"
    try:
        return (Path(str(named)).expanduser() if named else _default()), ""
    except (OSError, RuntimeError) as error:  # there is no home
        refuse(Path(str(named or "~/.cache/mindgrad")), error)
        return None, str(error)


def _default() -> Path:
    """The user's cache folder for this package.

    Raises:
        OSError: the user has none, or it is another user's.
    """
    around = os.environ.get("XDG_CACHE_HOME", "")
    if os.name == "nt":
        around = os.environ.get("LOCALAPPDATA", "")
    if os.path.isabs(around):
        folder = Path(around) / "mindgrad"
    elif sys.platform == "darwin":
        folder = home() / "Library" / "Caches" / "mindgrad"
    else:
        folder = home() / ".cache" / "mindgrad"
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # who may write everywhere leaves no folders with others
        above = next(path for path in (folder, *folder.parents) if path.exists())
        if above.stat().st_uid != 0:
            raise Distrusted(f"'{above}' belongs to another user (number {above.stat().st_uid})")
    return folder / "executables" if os.name == "nt" else folder
