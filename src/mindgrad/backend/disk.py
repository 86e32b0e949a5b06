"""The persistent compile cache stores executables on disk, where other processes find them.

    file name = SHA-256 of (program, kinds of device and CPU, versions, flags, compile options)

A program is known by the digest of its graph (``backend.graph_digest``), so that a second process neither
traces nor lowers with jax what it finds. A graph without a digest, one for several devices, and one that is
compiled inside of a context of jax is lowered, and known by its text. That jax lowers equal graphs equally is
taken for granted, for one version of jax with its settings.

What is stored are the executables that jax serialises through its public
``jax.experimental.serialize_executable``, one file each. jax's own compilation cache is not used: it is one
setting of the whole process, which would write the user's own jax programs too; its entries are not written
in one step, and a damaged one stays.

A stored program is loaded only where jax has prepared the libraries that it calls (``backend.custom_calls``).

A file is written under another name and renamed, so that readers see all of it or nothing, whoever
writes at the same time or is killed meanwhile. It begins with a signature (``backend.trust``): a damaged
file, or one that this user has not written, is deleted unread, and the program compiled and stored anew. A
folder that cannot be used, or that others can write to, costs no program. Above a limit, the entries that
were not used for longest are removed.

Its folder is the user's cache folder, unless a setting names another one or none:

    set_context(compile_cache_path=…) > MINDGRAD_CACHE_DIR > $XDG_CACHE_HOME/mindgrad > ~/.cache/mindgrad

A folder that somebody named and that cannot be used costs a warning, once. The folder that nobody named is
left alone without a word: its user has not asked for it. It is not made where it would belong to another user
than the folder around it, as after ``sudo``.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import importlib
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from mindgrad._base.location import warn_user
from mindgrad._base.replacing import remove_abandoned, temporary
from mindgrad.backend.custom_calls import described, is_prepared
from mindgrad.backend.device_mesh import Placement
from mindgrad.backend.executable import GraphProgram
from mindgrad.backend.graph_digest import digest
from mindgrad.backend.jax_import import jax_module
from mindgrad.backend.options import compiled_with
from mindgrad.backend.trust import SIGNATURE_BYTES, Distrusted, check_folder, home, read_own, signature
from mindgrad.ir import settings
from mindgrad.ir.graph import Graph

__all__ = [
    "DEFAULT_LIMIT", "DIRECTORY_VARIABLE", "MOST", "SIZE_VARIABLE", "Entries", "clear", "compiled",
    "directory", "entries", "limit", "readable_size", "reason_off",
]  # fmt: skip

DIRECTORY_VARIABLE = "MINDGRAD_CACHE_DIR"
SIZE_VARIABLE = "MINDGRAD_CACHE_SIZE"
#: above this many bytes in all, the entries that were not used for longest are removed
DEFAULT_LIMIT = 1 << 30

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}

#: folders that could not be used in this process, and why
_refused: dict[str, str] = {}
_warned: set[str] = set()
#: modules of jax that open such contexts, which it does not load itself
_CONTEXTS = ("jax.experimental.compute_on", "jax.experimental.xla_metadata")
_MAGIC = b"mindgrad executable 3\n"
_SUFFIX = ".executable"
#: entries of a folder, which is read as a whole to find the oldest
MOST = 4096
#: the part of the limit that a process writes before it looks for entries to remove again
_UNSEEN = 1 / 64
#: bytes that this process has written since it last looked, by folder
_written: dict[Path, int] = {}


# --- the folder ---


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
        f"{SIZE_VARIABLE}={text!r} is not a valid size. Write bytes, or a number with K, M or G, such as "
        f"500M; 0 disables the compile cache. It stays below {readable_size(DEFAULT_LIMIT)}.",
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


def _refuse(folder: Path, error: Exception) -> None:
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
        return None, f"{DIRECTORY_VARIABLE} is empty"
    try:
        return (Path(str(named)).expanduser() if named else _default()), ""
    except (OSError, RuntimeError) as error:  # there is no home
        _refuse(Path(str(named or "~/.cache/mindgrad")), error)
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


# --- the programs ---


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
        statuses = [status for _, status in _files(folder)]
    except FileNotFoundError:
        statuses = []
    times = [status.st_mtime for status in statuses]
    return Entries(len(statuses), sum(status.st_size for status in statuses), min(times, default=0.0))


def clear(folder: Path) -> Entries:
    """Remove all programs in ``folder``, and what killed writers left there; nothing else.

    Returns:
        What was removed.

    Raises:
        OSError: one cannot be removed.
    """
    content = entries(folder)
    if content.number:
        for file, _ in list(_files(folder)):
            file.unlink(missing_ok=True)
    remove_abandoned(folder)
    return content


def compiled(
    lower: Callable[[], Any],
    program: GraphProgram,
    options: Mapping[str, str],
    device: Any,
    placement: Placement | None = None,
) -> Callable[..., Any]:
    """Compile a program, or load it from the disk, without lowering it if its graph has a digest.

    Args:
        lower: gives jax's lowered program.
        program: the same as a graph.
        options: what XLA's compiler is told.
        device: the jax device that it is for; ``None``: jax's default.
        placement: the devices that it is divided among.
    """
    folder = directory()
    file = executable = lowered = None
    if folder is not None:
        devices = [x or _default_device() for x in ((device,) if placement is None else placement.devices)]
        name: Any = None if placement is not None or _is_in_context() else digest(program)
        graph: Graph | None = program.graph
        if name is None:
            lowered, graph = lower(), None
            name = lowered.as_text()
        file = folder / (_key(name, devices, options) + _SUFFIX)
        trees = _trees(program) if lowered is None else (lowered.in_tree, lowered.out_tree)
        description, payload = _read(file)
        if payload and is_prepared(description, graph, devices[0].platform):
            executable = _load(file, payload, trees, devices)
    if executable is None:
        lowered = lowered or lower()
        executable = compiled_with(lowered, options)
        if file is not None:
            custom_calls = described(lowered, graph)
            if custom_calls is not None:
                _store(file, custom_calls, executable)
    return executable


def _is_in_context() -> bool:
    """Whether a context of jax that is no setting may change how graphs are lowered."""
    return not jax_module().sharding.get_abstract_mesh().empty or any(map(sys.modules.get, _CONTEXTS))


def _trees(program: GraphProgram) -> tuple[Any, Any]:
    """jax's trees of the operands and results of ``run(arrays, given, extra)``."""
    tree_structure, graph = jax_module().tree_util.tree_structure, program.graph
    given, extra = len(program.donated), len(program.hoisted)
    groups = tuple([[0] * count for count in (len(graph.inputs) - given, given, extra)])
    return tree_structure((groups, {})), tree_structure([0] * len(graph.outputs))


def _default_device() -> Any:
    jax = jax_module()
    return jax.config.jax_default_device or jax.local_devices()[0]


def _key(program: str | bytes, devices: Sequence[Any], options: Mapping[str, str]) -> str:
    """The name of a program, which is known by its text or the digest of its graph."""
    jax, device = jax_module(), devices[0]
    described = [_MAGIC.decode(), _machine(), _settings_of(jax), device.platform, device.device_kind]
    described += [
        ",".join(str(each.id) for each in devices),
        str(device.client.platform_version),
        repr(sorted(options.items())),
    ]
    described.append(f"text {program}" if isinstance(program, str) else f"graph {program.hex()}")
    return hashlib.sha256("\0".join(described).encode()).hexdigest()


@functools.lru_cache(maxsize=1)
def _machine() -> str:
    """The dependencies of machine code besides the program: versions, and the instructions of the CPU."""
    versions = [importlib.import_module(name).__version__ for name in ("jax", "jaxlib")]
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        flags = "".join(sorted({x for x in lines if x.startswith(("flags", "Features", "model name"))}))
    except OSError:
        flags = platform.processor()  # on Linux another process
    environment = [f"{name}={os.environ.get(name, '')}" for name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")]
    return "\n".join([*versions, platform.machine(), platform.system(), flags, *environment])


def _settings_of(jax: Any) -> str:
    """jax's settings, without those that change no code."""
    idle = ("cache", "log", "dump", "traceback", "transfer_guard", "garbage")
    held = jax.config.values.items()
    return repr(sorted((n, str(v)) for n, v in held if not any(word in n for word in idle)))


def _read(file: Path) -> tuple[bytes, bytes]:
    """The description of custom calls and the executable in ``file``, both empty if there is none.

    A file that this user has not written, or that is damaged, is deleted.
    """
    try:
        check_folder(file.parent)
        data = read_own(file)
        start = len(_MAGIC) + SIGNATURE_BYTES
        content = data[start:]
        signed = _MAGIC + signature(file.name, content)
    except FileNotFoundError:
        return b"", b""
    except OSError as error:
        _refuse(file.parent, error)
        return b"", b""
    if not hmac.compare_digest(data[:start], signed):
        _delete(file)
        return b"", b""
    description, _, payload = content.partition(b"\n")
    return description, payload


def _load(
    file: Path, payload: bytes, trees: tuple[Any, Any], devices: Sequence[Any]
) -> Callable[..., Any] | None:
    serialize = jax_module("jax.experimental.serialize_executable")
    try:
        executable = serialize.deserialize_and_load(payload, *trees, devices[0].client, list(devices))
    except Exception:  # jax raises what it likes on what it cannot load
        _delete(file)
        return None
    _touch(file)
    return executable


def _store(file: Path, description: bytes, executable: Any) -> None:
    serialize = jax_module("jax.experimental.serialize_executable")
    try:
        _make(file.parent)
        check_folder(file.parent)
        try:
            content = description + b"\n" + serialize.serialize(executable)[0]
        except Exception:  # a program that calls back into Python cannot be stored
            return
        with temporary(file.parent, 0o600) as new:
            new.write_bytes(_MAGIC + signature(file.name, content) + content)
            new.replace(file)
        _trim(file.parent, len(content))
    except OSError as error:
        _refuse(file.parent, error)


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
    by_age = sorted((status.st_mtime, status.st_size, path) for path, status in _files(folder))
    total = sum(size for _, size, _ in by_age)
    for number, (_, size, path) in enumerate(by_age):
        if total <= largest and len(by_age) - number <= MOST:
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
        _refuse(file.parent, error)
