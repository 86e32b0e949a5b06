"""The persistent compile cache stores executables on disk, where other processes find them.

    file name = SHA-256 of (program text, kinds of device and CPU, versions, flags, compile options)

Its folder is the user's cache folder or another one (``backend.cache_folder``). What is stored are the
executables that jax serialises through its public ``jax.experimental.serialize_executable``, one file
each. jax's own compilation cache is not used: it is one setting of the whole process, which would write the
user's own jax programs too; its entries are not written in one step, and a damaged one stays.

A file is written under another name and renamed, so that readers see all of it or nothing, whoever
writes at the same time or is killed meanwhile. It begins with a signature (``backend.trust``): a damaged
file, or one that this user has not written, is deleted unread, and the program compiled and stored anew. A
folder that cannot be used, or that others can write to, costs no program. Above a limit, the entries that
were not used for longest are removed.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import importlib
import os
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from mindgrad._base.replacing import remove_abandoned, temporary
from mindgrad.backend.cache_folder import directory, limit, refuse
from mindgrad.backend.jax_import import jax_module
from mindgrad.backend.options import compiled_with
from mindgrad.backend.trust import SIGNATURE_BYTES, check_folder, read_own, signature

__all__ = ["MOST", "Entries", "clear", "compiled", "entries"]

_MAGIC = b"mindgrad executable 2\n"
_SUFFIX = ".executable"
#: entries of a folder, which is read as a whole to find the oldest
MOST = 4096
#: the part of the limit that a process writes before it looks for entries to remove again
_UNSEEN = 1 / 64
#: bytes that this process has written since it last looked, by folder
_written: dict[Path, int] = {}


class Entries(NamedTuple):
    """The size of a compile cache.

    Attributes:
        number: how many programs it holds.
        size: bytes in all.
        oldest: seconds since 1970 when the one was used that was not used for longest; 0 of none.
    """

    number: int
    size: int
    oldest: float


def entries(folder: Path) -> Entries:
    """The number, size and age of the programs in ``folder``.

    Raises:
        OSError: it cannot be read.
    """
    try:
        held = [status for _, status in _files(folder)]
    except FileNotFoundError:
        held = []
    times = [status.st_mtime for status in held]
    return Entries(len(held), sum(status.st_size for status in held), min(times, default=0.0))


def clear(folder: Path) -> Entries:
    """Remove all programs in ``folder``, and what killed writers left there; nothing else.

    Returns:
        What was removed.

    Raises:
        OSError: one cannot be removed.
    """
    held = entries(folder)
    if held.number:
        for file, _ in list(_files(folder)):
            file.unlink(missing_ok=True)
    remove_abandoned(folder)
    return held


def compiled(lowered: Any, device: Any, options: Mapping[str, str]) -> Callable[..., Any]:
    """Compile what jax lowered, or load it from the disk.

    Args:
        lowered: jax's lowered program.
        device: the jax device that it is for; ``None``: jax's default.
        options: what XLA's compiler is told.
    """
    folder = directory()
    if folder is None:
        return compiled_with(lowered, options)
    device = device or _default_device()
    file = folder / (_key(lowered, device, options) + _SUFFIX)
    executable = _load(file, lowered, device)
    if executable is None:
        executable = compiled_with(lowered, options)
        _store(file, executable)
    return executable


def _default_device() -> Any:
    jax = jax_module()
    return jax.config.jax_default_device or jax.devices()[0]


def _key(lowered: Any, device: Any, options: Mapping[str, str]) -> str:
    jax = jax_module()
    described = [_MAGIC.decode(), _machine(), _settings_of(jax), device.platform, device.device_kind]
    described += [str(device.id), str(device.client.platform_version), repr(sorted(options.items()))]
    described.append(lowered.as_text())
    return hashlib.sha256("\0".join(described).encode()).hexdigest()


@functools.lru_cache(maxsize=1)
def _machine() -> str:
    """The dependencies of machine code besides the program: versions, and the instructions of the CPU."""
    versions = [importlib.import_module(name).__version__ for name in ("jax", "jaxlib")]
    flags = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        flags += "".join(sorted({x for x in lines if x.startswith(("flags", "Features", "model name"))}))
    except OSError:
        pass
    environment = [f"{name}={os.environ.get(name, '')}" for name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")]
    return "\n".join([*versions, platform.machine(), platform.system(), flags, *environment])


def _settings_of(jax: Any) -> str:
    """jax's settings, without those that change no code."""
    idle = ("cache", "log", "dump", "traceback", "transfer_guard", "garbage")
    held = jax.config.values.items()
    return repr(sorted((n, str(v)) for n, v in held if not any(word in n for word in idle)))


def _load(file: Path, lowered: Any, device: Any) -> Callable[..., Any] | None:
    try:
        check_folder(file.parent)
        data = read_own(file)
        start = len(_MAGIC) + SIGNATURE_BYTES
        payload = data[start:]
        signed = _MAGIC + signature(file.name, payload)
    except FileNotFoundError:
        return None
    except OSError as error:
        refuse(file.parent, error)
        return None
    if hmac.compare_digest(data[:start], signed):
        serialize = jax_module("jax.experimental.serialize_executable")
        try:
            executable = serialize.deserialize_and_load(
                payload, lowered.in_tree, lowered.out_tree, device.client, [device]
            )
        except Exception:  # jax raises what it likes on what it cannot load
            executable = None
        if executable is not None:
            _touch(file)
            return executable
    _delete(file)
    return None


def _store(file: Path, executable: Any) -> None:
    serialize = jax_module("jax.experimental.serialize_executable")
    try:
        _make(file.parent)
        check_folder(file.parent)
        try:
            payload = serialize.serialize(executable)[0]
        except Exception:  # a program that calls back into Python cannot be stored
            return
        with temporary(file.parent, 0o600) as new:
            new.write_bytes(_MAGIC + signature(file.name, payload) + payload)
            new.replace(file)
        _trim(file.parent, len(payload))
    except OSError as error:
        refuse(file.parent, error)


def _make(folder: Path) -> None:
    """Make the folder, if it is not there, so that only this user can write to it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def _trim(folder: Path, size: int) -> None:
    """Delete what was not used for longest of too much, and what killed writers left behind.

    Reading a folder of thousands of files costs as much as a small program: it is done for the first entry
    that a process writes, and after a part of the limit again.
    """
    largest = limit()
    if folder in _written and _written[folder] + size <= _UNSEEN * largest:
        _written[folder] += size
        return
    _written[folder] = 0
    remove_abandoned(folder)
    held = sorted((status.st_mtime, status.st_size, path) for path, status in _files(folder))
    total = sum(size for _, size, _ in held)
    for number, (_, size, path) in enumerate(held):
        if total <= largest and len(held) - number <= MOST:
            return
        _delete(path)
        total -= size


def _files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    with os.scandir(folder) as listed:
        for entry in listed:
            if entry.name.endswith(_SUFFIX):
                with suppress(OSError):  # another process deleted it
                    yield Path(entry.path), entry.stat(follow_symlinks=False)


def _touch(file: Path) -> None:
    with suppress(OSError):  # read-only, or deleted by another process
        os.utime(file)


def _delete(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        refuse(file.parent, error)
