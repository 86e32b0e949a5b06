"""Ownership checks of the compile cache let only files be loaded that this user wrote.

    signature = HMAC-SHA-256(the user's secret, the entry's name and content)

An entry is a pickle, and loading one runs what it says. So a file is loaded only if nobody else can write to
it or its folder, and if its signature is right, which is verified first. The secret is a file that only the
user can read, outside of the cache: in ``$XDG_STATE_HOME`` or ``~/.local/state``, on Windows in
``%LOCALAPPDATA%``. Since the signature covers the name, an entry cannot stand in for another one.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import stat
from pathlib import Path

from mindgrad._base.replacing import remove_abandoned, temporary

with contextlib.suppress(ImportError):  # which Windows does not have
    import pwd

__all__ = ["SIGNATURE_BYTES", "Distrusted", "check_folder", "home", "read_own", "signature"]

SIGNATURE_BYTES = hashlib.sha256().digest_size
_SECRET_BYTES = 32
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Distrusted(OSError):
    """Somebody else could have written a file."""


def check_folder(folder: Path) -> None:
    """Raises: Distrusted: ``folder`` belongs to another user, or others can write to it."""
    _check(folder, folder.stat(), _OTHERS_WRITE)


def read_own(file: Path, others: int = _OTHERS_WRITE) -> bytes:
    """The content of a file that belongs to this user, and for which others lack the rights ``others``.

    Raises:
        Distrusted: it belongs to another user, others have one of the rights, or it is no ordinary file.
        OSError: it cannot be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(file, flags | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Distrusted(f"'{file}' is not a regular file")
        _check(file, status, others)
        return opened.read()


def signature(name: str, content: bytes) -> bytes:
    """The signature of an entry of the cache.

    Raises:
        OSError: there is no secret, and none can be made.
    """
    return hmac.digest(
        _secret(_state_folder() / "compile-cache.key"), name.encode() + b"\0" + content, "sha256"
    )


def home() -> Path:
    """The home folder of this user, also after ``sudo``, which may leave ``$HOME`` as it was.

    Raises:
        OSError: there is none.
    """
    try:
        folder = Path.home()
        if hasattr(os, "geteuid") and folder.stat().st_uid != os.geteuid():
            folder = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    except (RuntimeError, KeyError):
        raise Distrusted("the user has no home folder") from None
    return folder


def _check(path: Path, status: os.stat_result, others: int) -> None:
    if not hasattr(os, "geteuid"):
        return  # Windows: a user's folders are closed to others by access lists
    if status.st_uid != os.geteuid():
        raise Distrusted(f"'{path}' belongs to another user (number {status.st_uid})")
    if status.st_mode & others:
        rights = "rwx" if others & ~_OTHERS_WRITE else "w"
        raise Distrusted(
            f"other users have access to '{path}' (mode {stat.S_IMODE(status.st_mode):o}); if that was a "
            f"mistake, run: chmod go-{rights} '{path}'"
        )


def _state_folder() -> Path:
    named = os.environ.get("XDG_STATE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    if named and os.path.isabs(named):
        return Path(named) / "mindgrad"
    try:
        return home() / ".local" / "state" / "mindgrad"
    except Distrusted:
        raise Distrusted("the user has no home folder for a secret; set XDG_STATE_HOME") from None


@functools.lru_cache(maxsize=4)
def _secret(file: Path) -> bytes:
    """The user's secret, made when it is first needed; of several processes that make one, one wins."""
    try:
        secret = read_own(file, _OTHERS)
    except FileNotFoundError:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        remove_abandoned(file.parent)
        with temporary(file.parent, 0o600) as new:
            new.write_bytes(os.urandom(_SECRET_BYTES))
            try:
                os.link(new, file)
            except FileExistsError:
                pass
            except OSError:  # a file system without links
                os.replace(new, file)
        secret = read_own(file, _OTHERS)
    if len(secret) != _SECRET_BYTES:
        with contextlib.suppress(OSError):
            file.unlink()
        raise Distrusted(f"the secret in '{file}' is damaged; a new one is made by the next process")
    return secret
