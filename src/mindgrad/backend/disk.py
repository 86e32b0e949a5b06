"""The persistent compile cache stores executables on disk, where other processes find them.

    file name = SHA-256 of (program text, kinds of device and CPU, versions, flags, compile options)

It is off unless a directory is named: by ``set_context(enable_compile_cache=True,
compile_cache_path=...)``, or by the environment variable ``MINDGRAD_CACHE_DIR``. What is stored are the
executables that jax serialises through its public ``jax.experimental.serialize_executable``, one file
each. jax's own compilation cache is not used: it is one setting of the whole process, which would write the
user's own jax programs too; its entries are not written in one step, and a damaged one stays.

A file is written under another name and renamed, so that readers see all of it or nothing, whoever
writes at the same time or is killed meanwhile. It begins with a signature (``backend.trust``): a damaged
file, or one that this user has not written, is deleted unread, and the program compiled and stored anew. A
directory that cannot be used, or that others can write to, costs a warning, no program.
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
from typing import Any

from mindgrad._base.location import warn_user
from mindgrad._base.replacing import remove_abandoned, temporary
from mindgrad.backend.jax_import import jax_module
from mindgrad.backend.options import compiled_with
from mindgrad.backend.trust import SIGNATURE_BYTES, check_folder, read_own, signature
from mindgrad.ir import settings

__all__ = ["DIRECTORY_VARIABLE", "LARGEST", "compiled", "directory"]

DIRECTORY_VARIABLE = "MINDGRAD_CACHE_DIR"
#: above this many bytes in all, the files that were not used for longest are deleted
LARGEST = 1 << 30

_MAGIC = b"mindgrad executable 2\n"
_SUFFIX = ".executable"

_warned: set[str] = set()


def directory() -> Path | None:
    """The folder of the compile cache; ``None``: there is none."""
    is_enabled = settings.get("enable_compile_cache")
    if is_enabled is not None and not is_enabled:
        return None
    named = (settings.get("compile_cache_path") if is_enabled else None) or os.environ.get(DIRECTORY_VARIABLE)
    if named or is_enabled:
        path = str(named or "~/.cache/mindgrad")
        try:
            return Path(path).expanduser()
        except RuntimeError as error:  # there is no home
            _report(Path(path), error)
    return None


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
        _report(file.parent, error)
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
        payload = serialize.serialize(executable)[0]
    except Exception:  # a program that calls back into Python cannot be stored
        return
    try:
        _make(file.parent)
        check_folder(file.parent)
        remove_abandoned(file.parent)
        with temporary(file.parent, 0o600) as new:
            new.write_bytes(_MAGIC + signature(file.name, payload) + payload)
            new.replace(file)
        _trim(file.parent)
    except OSError as error:
        _report(file.parent, error)


def _make(folder: Path) -> None:
    """Make the folder, if it is not there, so that only this user can write to it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def _trim(place: Path) -> None:
    """Delete the oldest files of too many."""
    held = [(status.st_mtime, status.st_size, path) for path, status in _files(place)]
    total = sum(size for _, size, _ in held)
    for _, size, path in sorted(held):
        if total <= LARGEST:
            return
        _delete(path)
        total -= size


def _files(place: Path) -> Iterator[tuple[Path, os.stat_result]]:
    with os.scandir(place) as entries:
        for entry in entries:
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
        _report(file.parent, error)


def _report(folder: Path, error: Exception) -> None:
    """Warn once per directory that cannot be used."""
    if str(folder) not in _warned:
        _warned.add(str(folder))
        warn_user(f"the compile cache in {folder} cannot be used: {error}. Programs are compiled without it.")
