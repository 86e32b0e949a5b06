"""Ownership checks of the compile cache: load only files that this user wrote.

    signature = HMAC-SHA-256(secret of the user, name and content of the entry)

An entry is a pickle, and loading a pickle can run arbitrary code. A file is therefore loaded only if other
users can write neither to the file nor to its folder, and only after its signature has been verified. The
secret is a file outside the cache that only the user can read: in ``$XDG_STATE_HOME`` or ``~/.local/state``,
on Windows in ``%LOCALAPPDATA%``. The signature also covers the name of the file, so that renaming an entry
invalidates it.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import stat
from pathlib import Path

from mindgrad.core.base.replacing import remove_abandoned, temporary

with contextlib.suppress(ImportError):  # Windows does not have this module
    import pwd

__all__ = ["SIGNATURE_BYTES", "Distrusted", "check_folder", "home", "read_own", "signature"]

SIGNATURE_BYTES = hashlib.sha256().digest_size
_SECRET_BYTES = 32
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Distrusted(OSError):
    """Raised if another user could have written a file."""


def check_folder(folder: Path) -> None:
    """Raise ``Distrusted`` if another user owns ``folder`` or can write to it."""
    _check(folder, folder.stat(), _OTHERS_WRITE)


def read_own(file: Path, others: int = _OTHERS_WRITE) -> bytes:
    """Read a file, after checks of its owner and its access rights.

    Args:
        file: the file.
        others: access rights, as bits of ``st_mode``, that other users must not have.

    Raises:
        Distrusted: If the file belongs to another user, other users have one of the rights ``others``, or the
            file is not a regular file.
        OSError: If the file cannot be read.
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
    """Return the signature of an entry of the cache.

    Raises:
        OSError: If there is no valid secret and none can be created.
    """
    return hmac.digest(
        _secret(_state_folder() / "compile-cache.key"), name.encode() + b"\0" + content, "sha256"
    )


def home() -> Path:
    """Return the home folder of this user, even if ``$HOME`` names another one.

    ``sudo`` can leave ``$HOME`` unchanged, so that it names the folder of the user who called ``sudo``.

    Raises:
        OSError: If the user has no home folder.
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
        return  # on Windows, access control lists protect the folders
    if status.st_uid != os.geteuid():
        raise Distrusted(f"'{path}' belongs to another user (user ID {status.st_uid})")
    if status.st_mode & others:
        rights = "rwx" if others & ~_OTHERS_WRITE else "w"
        raise Distrusted(
            f"other users have access to '{path}' (mode {stat.S_IMODE(status.st_mode):o}). If this is "
            f"not intended, run: chmod go-{rights} '{path}'"
        )


def _state_folder() -> Path:
    named = os.environ.get("XDG_STATE_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    if named and os.path.isabs(named):
        return Path(named) / "mindgrad"
    try:
        return home() / ".local" / "state" / "mindgrad"
    except Distrusted:
        raise Distrusted("the user has no home folder for a secret; set XDG_STATE_HOME") from None


def _secret(file: Path) -> bytes:
    """Return the secret of the user from ``file``. Create it if it does not exist."""
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
            except OSError:  # the file system does not support hard links
                os.replace(new, file)
        secret = read_own(file, _OTHERS)
    if len(secret) != _SECRET_BYTES:
        with contextlib.suppress(OSError):
            file.unlink()
        raise Distrusted(f"the secret in '{file}' is damaged; the next process will create a new one")
    return secret
