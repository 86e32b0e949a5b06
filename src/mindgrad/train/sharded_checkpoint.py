"""Sharded checkpoints: one file with the slices of each device, and an index.

    folder/index.json                    names, shapes, and the file and position of each slice
    folder/<set>-00003.safetensors       the slices of device 3

All processes of a job write a set of files together, and each process writes the slices of its devices. At
the end, rank 0 replaces the index atomically. If the processes are interrupted, a reader finds either the
complete old set or the complete new set. A checkpoint can be loaded on any number of devices. Each device
reads only the slices that it needs.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from mindgrad.communication.management import get_group_size, get_rank
from mindgrad.communication.session import store
from mindgrad.core.backend.xla import mesh_devices
from mindgrad.core.base.replacing import replaced
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.pending import resolved
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.distributed.device_mesh import is_divided
from mindgrad.train import safetensors
from mindgrad.train.sliced_arrays import Entry, Slice, SlicedArrays

__all__ = [
    "completed_at", "have_one_folder", "is_set", "own_slices", "remove_set", "set_at",
    "write_set",
]  # fmt: skip

_INDEX = "index.json"
_PART = re.compile(r"[0-9a-f]{32}-\d{5,}\.safetensors")
#: maximum seconds to wait for other processes, which may write large files
_SECONDS = 3600.0
_saves = count()


def is_set(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a sharded checkpoint at ``path``."""
    return (Path(path) / _INDEX).is_file()


def completed_at(path: str | os.PathLike[str]) -> int | None:
    """Return the time in nanoseconds when the sharded checkpoint was completed.

    The result is ``None`` if there is no complete sharded checkpoint at ``path``.
    """
    try:
        entries = set_at(path).entries.values()
        if all((Path(path) / piece.file).is_file() for entry in entries for piece in entry.slices):
            return (Path(path) / _INDEX).stat().st_mtime_ns
    except (ValueError, OSError):
        pass
    return None


def remove_set(folder: str | os.PathLike[str]) -> None:
    """Remove a sharded checkpoint, and its folder if no other file is in it.

    The index is removed first.

    Raises:
        OSError: If a file cannot be removed.
    """
    target = Path(folder)
    (target / _INDEX).unlink(missing_ok=True)
    for path in target.iterdir():
        if _PART.fullmatch(path.name):
            path.unlink(missing_ok=True)
    if not any(target.iterdir()):
        target.rmdir()


# --- writing a set of files -----------------------------------------------------------------------------


def write_set(folder: str | os.PathLike[str], entries: Iterable[tuple[str, Any]]) -> None:
    """Write a sharded checkpoint.

    All processes of a job must call this function. Each writes the slices of its devices.

    Args:
        folder: the folder, which is created if necessary.
        entries: pairs of a name and a Tensor, array, or string.

    Raises:
        ValueError: If two entries have the same name.
        OSError: If a file cannot be written, or ``folder`` is a file. An existing set does not change.
        RuntimeError: If another process could not write its slices, or has ended.
    """
    target = Path(folder)
    token = _together(lambda: _begun(target))[0]
    listings = _together(lambda: _parts_written(target, token, entries))

    def complete() -> None:
        if get_rank() != 0:
            return
        index = listings[0]
        for other in listings[1:]:
            for name, entry in other["entries"].items():
                index["entries"][name]["slices"] += entry["slices"]
        with replaced(target / _INDEX) as new:
            new.write_text(json.dumps({"version": 1, **index}))
        for path in target.iterdir():
            if _PART.fullmatch(path.name) and not path.name.startswith(token):
                path.unlink(missing_ok=True)

    _together(complete)  # no process continues before the set of files is complete


def _begun(target: Path) -> str:
    """Create the folder if necessary, and return the name of a new set."""
    if target.exists() and not target.is_dir():
        raise FileExistsError(
            f"'{target}' is a file, but a sharded checkpoint needs a folder. Remove the file first."
        )
    target.mkdir(exist_ok=True)
    return uuid.uuid4().hex


def _parts_written(target: Path, token: str, entries: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Write the slices of the devices of this process, and return their index entries."""
    listed: dict[str, Any] = {}
    texts: dict[str, str] = {}
    parts: dict[int, dict[str, np.ndarray | str]] = {}
    for name, value in entries:
        if name in listed or name in texts:
            raise ValueError(
                f"For 'save_checkpoint', two entries have the name '{name}'; give each a unique name."
            )
        if isinstance(value, str):
            texts[name] = value
            continue
        tensor = value if isinstance(value, Tensor) else Tensor(value)
        slices = []
        for device, start, array in _slices_to_write(tensor):
            parts.setdefault(device, {})[name] = array
            slices.append(Slice(f"{token}-{device:05}.safetensors", start, array.shape))
        listed[name] = {"dtype": str(tensor.dtype), "shape": tensor.shape, "slices": slices}
    for device, content in parts.items():
        with replaced(target / f"{token}-{device:05}.safetensors") as new:
            safetensors.write(new, content)
    return {"entries": listed, "texts": texts}


def _slices_to_write(tensor: Tensor) -> Iterable[tuple[int, tuple[int, ...], np.ndarray]]:
    """Yield the slices that this process writes: device number, start, and values."""
    array: Any = resolved(tensor._array)
    if is_divided(array):
        numbers = {
            device: number for number, device in enumerate(mesh_devices(len(array.sharding.device_set)))
        }
        for shard in array.addressable_shards:
            if shard.replica_id == 0:
                start = tuple(part.start or 0 for part in shard.index)
                yield numbers[shard.device], start, _on_host(shard.data)
    elif get_rank() == 0:
        yield 0, (0,) * len(tensor.shape), tensor.host_array()


def _on_host(array: Any) -> np.ndarray:
    return np.ascontiguousarray(np.asarray(array)).reshape(array.shape)


def have_one_folder(path: str | os.PathLike[str]) -> bool:
    """Return whether all processes of the job pass the same folder.

    All processes of the job must call this function.

    Raises:
        ValueError: If some processes, but not all of them, pass the same folder.
    """
    paths = _together(lambda: os.path.abspath(path))
    if len(set(paths)) not in (1, len(paths)):
        raise ValueError(
            "For 'save_checkpoint', all processes of a job must pass the same folder, or each process "
            f"must pass a unique name, but got {', '.join(sorted(set(paths)))}."
        )
    return len(set(paths)) == 1


def own_slices(entries: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Replace sharded tensors by the slice of this process, for rank files.

    Raises:
        ValueError: If this process has several devices, which would need several files.
    """
    slices = []
    for name, value in entries:
        array: Any = getattr(value, "_array", None)
        if is_divided(array):
            shards = array.addressable_shards
            if len(shards) != 1:
                raise ValueError(
                    f"For 'save_checkpoint', this process has {len(shards)} slices of '{name}', but a "
                    "separate file holds only one. Pass the same folder in all processes to write a sharded "
                    "checkpoint."
                )
            value = make_tensor(_on_host(shards[0].data))
        slices.append((name, value))
    return slices


def _together(task: Callable[[], Any]) -> list[Any]:
    """Run a task in all processes, and return all results by rank.

    Raises:
        RuntimeError: If the task failed in another process, or another process has ended.
        Exception: If the task failed in this process: its error.
    """
    board = store()
    if board is None:
        return [task()]
    failure: Exception | None = None
    answer: dict[str, Any] = {}
    try:
        answer["result"] = task()
    except Exception as error:
        failure, answer["error"] = error, f"{type(error).__name__}: {error}"
    key = f"sharded checkpoint {next(_saves)}"
    contents = board.exchange(key, json.dumps(answer).encode(), range(get_group_size()), _SECONDS)
    if failure is not None:
        raise failure
    answers = [json.loads(content) for content in contents]
    for rank, other in enumerate(answers):
        if "error" in other:
            raise RuntimeError(
                f"For 'save_checkpoint', rank {rank} could not write its part of a sharded checkpoint. An "
                f"older checkpoint in the folder is unchanged. Reason: {other['error']}"
            )
    return [other["result"] for other in answers]


# --- reading a set of files -----------------------------------------------------------------------------


def set_at(folder: str | os.PathLike[str], caller: str = "load_checkpoint") -> SlicedArrays:
    """Read the index of the sharded checkpoint in ``folder``.

    Raises:
        ValueError: If there is no complete sharded checkpoint, or the index is damaged.
    """
    path = Path(folder)
    content = SlicedArrays(f"the sharded checkpoint '{folder}'", path, {})
    try:
        index = json.loads((path / _INDEX).read_text())
        content.texts = dict(index["texts"])
        for name, entry in index["entries"].items():
            slices = [Slice(*x) for x in entry["slices"]]
            for piece in slices:
                if not _PART.fullmatch(piece.file):
                    raise ValueError(
                        f"the file of '{name}' must have a name of 32 hexadecimal digits, '-', a number, "
                        f"and '.safetensors', but the index contains {piece.file!r}"
                    )
            content.entries[name] = Entry(as_dtype(entry["dtype"]), tuple(entry["shape"]), slices)
    except FileNotFoundError:
        raise ValueError(
            f"For '{caller}', '{folder}' is not a complete sharded checkpoint: the folder contains no file "
            f"{_INDEX}."
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        content.damaged(f"{error}")
    return content
