"""Persistent compile cache: executables on disk, shared by processes.

    file name = SHA-256 of (graph, kinds of device and CPU, versions, flags, compile options)

To *lower* a graph means to convert it to the input language of XLA. The key contains the digest of the graph
(``backend.graph_digest``). A process that finds an entry therefore neither traces nor lowers the graph with
JAX. This assumes that one version of JAX with the same settings lowers equal graphs to equal code.

The key of some graphs contains the lowered text instead of the digest. Such graphs are always lowered first.
They are graphs without a digest, graphs for several devices, and graphs compiled inside a context manager of
JAX that affects lowering.

Each file contains one executable, serialized by the public ``jax.experimental.serialize_executable``. The
compilation cache of JAX is not used for three reasons. JAX's cache is one setting of the whole process, so it
would also store JAX programs of the user. It does not write entries atomically. It does not delete damaged
entries.

An executable is loaded only after JAX has prepared the libraries that it calls (``backend.custom_calls``).

Each file is written under a temporary name and then renamed, so that other processes never read an
incomplete file. It starts with a signature (``backend.trust``). If the signature is wrong, the file is
damaged or another user wrote it. It is then deleted without being loaded, and the graph is compiled and
stored again. If the folder cannot be used, or if other users can write to it, graphs are compiled without the
cache. Above a size limit, the least recently used entries are removed.

The folder is the first of these that is set:

1. ``set_context(compile_cache_path=…)``, if ``enable_compile_cache=True``
2. the environment variable ``MINDGRAD_CACHE_DIR``
3. ``$XDG_CACHE_HOME/mindgrad``
4. ``~/.cache/mindgrad``

If a folder from setting 1 or 2 cannot be used, mindgrad warns once. If a default folder (3 or 4) cannot be
used, mindgrad does not warn, because the user did not request a cache. A default folder is not created if its
owner would differ from the owner of the parent folder, as after ``sudo``.
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
from types import ModuleType
from typing import Any, NamedTuple

from mindgrad.core.backend.custom_calls import described, is_prepared
from mindgrad.core.backend.executable import GraphProgram
from mindgrad.core.backend.graph_digest import digest
from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.backend.options import compiled_with
from mindgrad.core.backend.trust import SIGNATURE_BYTES, Distrusted, check_folder, home, read_own, signature
from mindgrad.core.base.location import warn_user
from mindgrad.core.base.replacing import remove_abandoned, temporary
from mindgrad.core.ir import settings
from mindgrad.core.ir.graph import Graph
from mindgrad.core.placement import Layout

__all__ = [
    "DEFAULT_LIMIT", "DIRECTORY_VARIABLE", "MOST", "SIZE_VARIABLE", "Entries", "clear", "compiled",
    "directory", "entries", "limit", "readable_size", "reason_off",
]  # fmt: skip

DIRECTORY_VARIABLE = "MINDGRAD_CACHE_DIR"
SIZE_VARIABLE = "MINDGRAD_CACHE_SIZE"
#: default size limit of the cache folder in bytes. If all files together are larger, the least recently used
#: files are removed
DEFAULT_LIMIT = 1 << 30

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}

#: maps each cache folder that this process could not use to the reason, which messages show
_refused: dict[str, str] = {}
_warned: set[str] = set()
#: JAX modules with context managers that affect lowering. If one of them is loaded, the key of an executable
#: contains the lowered text, not the digest of the graph. ``import jax`` does not load these modules
_CONTEXTS = ("jax.experimental.compute_on", "jax.experimental.xla_metadata")
_MAGIC = b"mindgrad executable 3\n"
_SUFFIX = ".executable"
#: largest number of files in a cache folder. It is limited because the search for the oldest file reads the
#: whole folder
MOST = 4096
#: fraction of the size limit. Whenever a process has written this fraction, it checks the limit and removes
#: old files
_UNSEEN = 1 / 64
#: maps each cache folder to the number of bytes that this process has written since its last check of the
#: size limit
_written: dict[Path, int] = {}


# --- the folder ---


def directory() -> Path | None:
    """Return the folder of the compile cache; ``None`` if the cache is off."""
    folder = _chosen()[0]
    return None if folder is None or (str(folder) in _refused and not _is_named()) else folder


def reason_off() -> str:
    """Return the reason why the compile cache is off; ``""`` if it is on."""
    folder, reason = _chosen()
    return reason or _refused.get(str(folder), "")


def limit() -> int:
    """Return the size limit of the compile cache in bytes; 0 disables the cache."""
    text = os.environ.get(SIZE_VARIABLE, "").strip()
    if not text:
        return DEFAULT_LIMIT
    size = _SIZE.fullmatch(text)
    if size is not None:
        return int(float(size[1]) * (1 << _UNITS[size[2].upper()]))
    _warn_once(
        SIZE_VARIABLE,
        f"{SIZE_VARIABLE}={text!r} is not a valid size. Write bytes, or a number with K, M or G, such as "
        f"500M; 0 disables the compile cache. The default limit of {readable_size(DEFAULT_LIMIT)} is used.",
    )
    return DEFAULT_LIMIT


def readable_size(size: float) -> str:
    """Format a number of bytes with a unit, in the syntax of :data:`SIZE_VARIABLE`.

    >>> readable_size(3 << 20)
    '3.0 MiB'
    """
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def _refuse(folder: Path, error: Exception) -> None:
    """Record that ``folder`` cannot be used; if the user has set it, warn once."""
    _refused[str(folder)] = str(error)
    if _is_named():
        _warn_once(
            str(folder),
            f"the compile cache in {folder} cannot be used: {error}. Functions are compiled without it.",
        )


def _warn_once(subject: str, text: str) -> None:
    if subject not in _warned:
        _warned.add(subject)
        warn_user(text)


def _is_named() -> bool:
    return bool(settings.get("enable_compile_cache") or os.environ.get(DIRECTORY_VARIABLE))


def _chosen() -> tuple[Path | None, str]:
    """Return the cache folder and ``""``, or ``None`` and why the cache is off."""
    is_enabled = settings.get("enable_compile_cache")
    if is_enabled is not None and not is_enabled:
        return None, "enable_compile_cache=False"
    if not limit():
        return None, f"{SIZE_VARIABLE}={os.environ[SIZE_VARIABLE]}"
    variable = os.environ.get(DIRECTORY_VARIABLE)
    named = (settings.get("compile_cache_path") if is_enabled else None) or variable
    if not named and variable is not None and not is_enabled:
        return None, f"{DIRECTORY_VARIABLE} is empty"
    try:
        return (Path(str(named)).expanduser() if named else _default()), ""
    except (OSError, RuntimeError) as error:  # the user has no home folder
        _refuse(Path(str(named or "~/.cache/mindgrad")), error)
        return None, str(error)


def _default() -> Path:
    """Return the default cache folder of this user.

    Raises:
        OSError: If the user has no home folder, or if the folder would belong to another user.
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
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # root must not create folders in another user's home
        above = next(path for path in (folder, *folder.parents) if path.exists())
        if above.stat().st_uid != 0:
            raise Distrusted(f"'{above}' belongs to another user (user ID {above.stat().st_uid})")
    return folder / "executables" if os.name == "nt" else folder


# --- the executables ---


class Entries(NamedTuple):
    """The size of a compile cache.

    Attributes:
        number: number of entries.
        size: total number of bytes.
        oldest: time of the last use of the least recently used entry, in seconds since 1970; 0 if there are
            no entries.
    """

    number: int
    size: int
    oldest: float


def entries(folder: Path) -> Entries:
    """Return the number, total size, and oldest time of the entries in ``folder``.

    Raises:
        OSError: If the folder cannot be read.
    """
    try:
        statuses = [status for _, status in _files(folder)]
    except FileNotFoundError:
        statuses = []
    times = [status.st_mtime for status in statuses]
    return Entries(len(statuses), sum(status.st_size for status in statuses), min(times, default=0.0))


def clear(folder: Path) -> Entries:
    """Remove all entries in ``folder`` and the temporary files of killed processes.

    All other files stay.

    Returns:
        Number, total size, and oldest time of the removed entries.

    Raises:
        OSError: If an entry cannot be removed.
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
    device: object,
    placement: Layout | None = None,
) -> Callable[..., Any]:
    """Compile a graph, or load its executable from the cache.

    If the graph has a digest (``backend.graph_digest``), it is not lowered before its executable is loaded.

    Args:
        lower: function that returns the lowered object of JAX.
        program: the graph, with its hoisted constants and donated inputs.
        options: options for the compiler of XLA.
        device: the JAX device; ``None`` for the default device of JAX.
        placement: devices of a sharded computation; ``None`` for one device.
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
    """Return whether a context manager of JAX may change how graphs are lowered.

    Context managers that change a setting of JAX are not considered, because settings are part of the key.
    """
    return not jax_module().sharding.get_abstract_mesh().empty or any(map(sys.modules.get, _CONTEXTS))


def _trees(program: GraphProgram) -> tuple[Any, Any]:
    """Return the JAX tree structures of the operands and the results of ``program``.

    JAX needs them to load a serialized executable.
    """
    tree_structure, graph = jax_module().tree_util.tree_structure, program.graph
    given, extra = len(program.donated), len(program.hoisted)
    groups = tuple([[0] * count for count in (len(graph.inputs) - given, given, extra)])
    return tree_structure((groups, {})), tree_structure([0] * len(graph.outputs))


def _default_device() -> Any:
    jax = jax_module()
    return jax.config.jax_default_device or jax.local_devices()[0]


def _key(program: str | bytes, devices: Sequence[Any], options: Mapping[str, str]) -> str:
    """Return the file name of an executable.

    ``program`` is the lowered text or the digest of the graph.
    """
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
    """Describe everything on which machine code depends, except the graph.

    The description includes versions, the instruction set of the CPU, and compiler flags from the
    environment.
    """
    versions = [importlib.import_module(name).__version__ for name in ("jax", "jaxlib")]
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        flags = "".join(sorted({x for x in lines if x.startswith(("flags", "Features", "model name"))}))
    except OSError:
        flags = platform.processor()  # not on Linux, where this call would start a process
    environment = [f"{name}={os.environ.get(name, '')}" for name in ("XLA_FLAGS", "LIBTPU_INIT_ARGS")]
    return "\n".join([*versions, platform.machine(), platform.system(), flags, *environment])


def _settings_of(jax: ModuleType) -> str:
    """Return the values of the JAX settings that can affect compiled code."""
    idle = ("cache", "log", "dump", "traceback", "transfer_guard", "garbage")
    held = jax.config.values.items()
    return repr(sorted((n, str(v)) for n, v in held if not any(word in n for word in idle)))


def _read(file: Path) -> tuple[bytes, bytes]:
    """Read the description of custom calls and the executable from ``file``.

    Both results are empty if the file does not exist or is not valid. A file with a wrong signature is
    deleted, because it is damaged or another user wrote it.
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
    file: Path, payload: bytes, trees: tuple[object, object], devices: Sequence[Any]
) -> Callable[..., Any] | None:
    serialize = jax_module("jax.experimental.serialize_executable")
    try:
        executable = serialize.deserialize_and_load(payload, *trees, devices[0].client, list(devices))
    except Exception:  # JAX does not document which errors loading can raise
        _delete(file)
        return None
    _touch(file)
    return executable


def _store(file: Path, description: bytes, executable: object) -> None:
    serialize = jax_module("jax.experimental.serialize_executable")
    try:
        _make(file.parent)
        check_folder(file.parent)
        try:
            content = description + b"\n" + serialize.serialize(executable)[0]
        except Exception:  # a function that calls Python code cannot be serialized
            return
        with temporary(file.parent, 0o600) as new:
            new.write_bytes(_MAGIC + signature(file.name, content) + content)
            new.replace(file)
        _trim(file.parent, len(content))
    except OSError as error:
        _refuse(file.parent, error)


def _make(folder: Path) -> None:
    """Create the cache folder if it does not exist, writable only for this user."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def _trim(folder: Path, size: int) -> None:
    """Delete the oldest entries above the limits, and abandoned temporary files.

    Reading a folder of thousands of files takes as long as compiling a small function. The folder is
    therefore read only when a process writes its first entry, and whenever the process has written the
    fraction ``_UNSEEN`` of the size limit.
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
                with suppress(OSError):  # another process may have deleted the file
                    yield Path(entry.path), entry.stat(follow_symlinks=False)


def _touch(file: Path) -> None:
    with suppress(OSError):  # the file may be read-only, or deleted by another process
        os.utime(file)


def _delete(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        _refuse(file.parent, error)
