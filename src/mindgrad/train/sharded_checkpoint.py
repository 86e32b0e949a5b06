"""Sharded checkpoints are sets of files: each device's slices in one, and an index that makes the set
complete.

    folder/index.json                    names, shapes, and where the slices of each array lie
    folder/<set>-00003.safetensors       the slices of device 3

The index is written last and takes the old one's place in one step: whoever reads finds the old set or the
new one, whole, wherever the writers were stopped. Slices are put together for any number of devices; what one
device needs is read, no more.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors as library

from mindgrad._base.replacing import replaced
from mindgrad.backend.device_mesh import is_divided, sharding, spread_slices
from mindgrad.backend.xla import mesh_devices
from mindgrad.communication.management import get_group_size, get_rank
from mindgrad.communication.session import store
from mindgrad.ir.dtype import as_dtype
from mindgrad.ir.partition import current
from mindgrad.ir.pending import resolved
from mindgrad.ir.tensor import Tensor, make_tensor
from mindgrad.nn.cell import Cell
from mindgrad.train import safetensors

__all__ = ["is_set", "load_distributed_checkpoint", "read_set", "write_set"]

_INDEX = "index.json"
_PART = re.compile(r"[0-9a-f]{32}-\d{5,}\.safetensors")
_SECONDS = 600.0
_saves = count()


class _Slice(NamedTuple):
    """A slice of an array: the file that has it, where it begins, and its shape."""

    file: str
    start: Sequence[int]
    shape: Sequence[int]


def is_set(path: str | os.PathLike[str]) -> bool:
    """Whether there is a sharded checkpoint at ``path``."""
    return (Path(path) / _INDEX).is_file()


# --- writing --------------------------------------------------------------------------------------------


def write_set(folder: str | os.PathLike[str], entries: Iterable[tuple[str, Any]]) -> None:
    """Write a sharded checkpoint; with several processes all of them call it, and each writes its slices.

    Args:
        folder: where; it is made if it is not there.
        entries: names with Tensors, arrays or texts.

    Raises:
        ValueError: two entries have one name.
        OSError: a file cannot be written, or there is a file of that name. An old set stays as it was.
        RuntimeError: another process did not write its slices.
    """
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise FileExistsError(
            f"'{target}' is a file, where a sharded checkpoint needs a folder; remove it first."
        )
    target.mkdir(exist_ok=True)
    token = json.loads(_from_all(json.dumps(uuid.uuid4().hex))[0])
    listed: dict[str, Any] = {}
    texts: dict[str, str] = {}
    parts: dict[int, dict[str, np.ndarray | str]] = {}
    for name, value in entries:
        if name in listed or name in texts:
            raise ValueError(f"For 'save_checkpoint', two entries have the name '{name}'; give each its own.")
        if isinstance(value, str):
            texts[name] = value
            continue
        tensor = value if isinstance(value, Tensor) else Tensor(value)
        slices = []
        for device, start, array in _own_slices(tensor):
            parts.setdefault(device, {})[name] = array
            slices.append(_Slice(f"{token}-{device:05}.safetensors", start, array.shape))
        listed[name] = {"dtype": str(tensor.dtype), "shape": tensor.shape, "slices": slices}
    for device, content in parts.items():
        with replaced(target / f"{token}-{device:05}.safetensors") as new:
            safetensors.write(new, content)
    indices = [json.loads(text) for text in _from_all(json.dumps(listed))]
    for other in indices[1:]:
        for name, entry in other.items():
            indices[0][name]["slices"] += entry["slices"]
    if get_rank() == 0:
        with replaced(target / _INDEX) as new:
            new.write_text(json.dumps({"version": 1, "entries": indices[0], "texts": texts}))
        for path in target.iterdir():
            if _PART.fullmatch(path.name) and not path.name.startswith(token):
                path.unlink(missing_ok=True)
    _from_all("")  # nobody goes on before the set is complete


def _own_slices(tensor: Tensor) -> Iterable[tuple[int, tuple[int, ...], np.ndarray]]:
    """The slices of a tensor that this process writes: device, start and values."""
    array: Any = resolved(tensor._array)
    if is_divided(array):
        for shard in array.addressable_shards:
            if shard.replica_id == 0:
                start = tuple(part.start or 0 for part in shard.index)
                yield (
                    shard.device.id,
                    start,
                    np.ascontiguousarray(np.asarray(shard.data)).reshape(shard.data.shape),
                )
    elif get_rank() == 0:
        yield 0, (0,) * len(tensor.shape), tensor.host_array()


def _from_all(text: str) -> list[str]:
    """The texts of all processes, by rank."""
    board = store()
    if board is None:
        return [text]
    key = f"sharded checkpoint {next(_saves)}"
    ranks = range(get_group_size())
    return [content.decode() for content in board.exchange(key, text.encode(), ranks, _SECONDS)]


# --- reading --------------------------------------------------------------------------------------------


class _Set:
    """A sharded checkpoint that is read.

    Attributes:
        entries: for each array its element type, shape and slices.
        texts: the texts.

    Raises:
        ValueError: there is none, or it is damaged.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        try:
            index = json.loads((self._folder / _INDEX).read_text())
            self.texts: dict[str, str] = index["texts"]
            self.entries: dict[str, Any] = {}
            for name, entry in index["entries"].items():
                slices = [_Slice(*x) for x in entry["slices"]]
                if not all(_PART.fullmatch(x.file) for x in slices):
                    raise ValueError(f"the slices of '{name}' lie outside of it")
                self.entries[name] = (as_dtype(entry["dtype"]), tuple(entry["shape"]), slices)
        except FileNotFoundError:
            raise ValueError(
                f"For 'load_distributed_checkpoint', '{folder}' is no sharded checkpoint, or was not "
                f"completed: "
                f"there is no {_INDEX} in it."
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            raise self._damaged(f"{error}") from None

    def _damaged(self, reason: str) -> ValueError:
        return ValueError(
            f"For 'load_checkpoint', the sharded checkpoint '{self._folder}' is damaged: {reason}."
        )

    def region(self, name: str, index: Sequence[slice]) -> np.ndarray:
        """A region of an array.

        Args:
            name: the array.
            index: a slice for each axis, as jax gives them.

        Raises:
            ValueError: the set is damaged.
        """
        dtype, shape, slices = self.entries[name]
        bounds = [part.indices(size)[:2] for part, size in zip(index, shape, strict=True)]
        region = np.empty([stop - start for start, stop in bounds], dtype.numpy)
        filled = 0
        for piece in slices:
            common = [
                (max(low, start), min(high, start + size))
                for (low, high), start, size in zip(bounds, piece.start, piece.shape, strict=True)
            ]
            if any(low >= high for low, high in common):
                continue
            inside = tuple(slice(a - s, b - s) for (a, b), s in zip(common, piece.start, strict=True))
            outside = tuple(slice(a - low, b - low) for (a, b), (low, _) in zip(common, bounds, strict=True))
            region[outside] = self._slice(name, piece)[inside]
            filled += region[outside].size
        if filled != region.size:
            raise self._damaged(f"slices of '{name}' are missing")
        return region

    def _slice(self, name: str, piece: _Slice) -> np.ndarray:
        try:
            with library.safe_open(self._folder / piece.file, framework="numpy") as file:
                array: np.ndarray = file.get_tensor(name)
        except (OSError, library.SafetensorError) as error:
            raise self._damaged(f"{piece.file}: {error}") from None
        if array.shape != tuple(piece.shape):
            raise self._damaged(f"the slice of '{name}' in {piece.file} has the shape {array.shape}")
        return array


def read_set(folder: str | os.PathLike[str]) -> dict[str, np.ndarray | str]:
    """All arrays of a sharded checkpoint, whole, and its texts.

    Raises:
        ValueError: it is damaged.
    """
    content = _Set(folder)
    arrays = {
        name: content.region(name, [slice(None)] * len(shape))
        for name, (_, shape, _) in content.entries.items()
    }
    return {**arrays, **content.texts}


def load_distributed_checkpoint(
    network: Cell, checkpoint_filenames: Any, strict_load: bool = False, **others: Any
) -> None:
    """Load a sharded checkpoint, on any number of devices: each reads the slices that it needs.

    Args:
        network: the Cell; Parameters that have a layout are read in slices, the others whole.
        checkpoint_filenames: the folder that ``save_checkpoint(…, integrated_save=False)`` has written.
        strict_load: whether each Parameter of ``network`` must be there; otherwise it stays as it is.
        **others: options of MindSpore for its strategies and files, which must be None.

    Raises:
        TypeError: an argument is of another type.
        ValueError: it is no sharded checkpoint or damaged, or asks for another option.
        RuntimeError: a Parameter has another shape or element type, or is missing: nothing is loaded.

    >>> import mindgrad as ms, tempfile
    >>> from mindgrad.train.sharded_checkpoint import write_set
    >>> net = ms.nn.Dense(1, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_set(folder, [("weight", ms.Tensor([[3.0]]))])
    ...     ms.load_distributed_checkpoint(net, folder)
    >>> net.weight.asnumpy().tolist()
    [[3.0]]
    """
    if not isinstance(network, Cell):
        raise TypeError(
            f"For 'load_distributed_checkpoint', the 'network' must be a Cell, but got "
            f"{type(network).__name__}."
        )
    for name, value in others.items():
        if value is not None:
            raise ValueError(
                f"For 'load_distributed_checkpoint', '{name}' is not supported: the index of the set says "
                f"how "
                f"arrays are divided. Leave it out."
            )
    if not isinstance(checkpoint_filenames, (str, os.PathLike)):
        raise TypeError(
            "For 'load_distributed_checkpoint', the 'checkpoint_filenames' must be the folder of a sharded "
            f"checkpoint, but got {type(checkpoint_filenames).__name__}."
        )
    content = _Set(checkpoint_filenames)
    parameters = {parameter.name: parameter for parameter in network.get_parameters()}
    _check_fits(content.entries, parameters, strict_load)
    values = {name: _value(content, p, name) for name, p in parameters.items() if name in content.entries}
    for name, value in values.items():
        parameters[name].store(value)


def _check_fits(entries: Mapping[str, Any], parameters: Mapping[str, Any], is_strict: bool) -> None:
    for name, parameter in parameters.items():
        if name in entries:
            dtype, shape, _ = entries[name]
            if (dtype, shape) != (parameter.dtype, parameter.shape):
                raise RuntimeError(
                    f"For 'load_distributed_checkpoint', '{name}' is {dtype} of shape {shape} in the "
                    f"checkpoint, but "
                    f"{parameter.dtype} of shape {parameter.shape} in the network."
                )
        elif is_strict:
            raise RuntimeError(f"For 'load_distributed_checkpoint', '{name}' is not in the checkpoint.")


def _value(content: _Set, parameter: Any, name: str) -> Tensor:
    partition = current()
    if partition is None or parameter.layout is None or parameter.layout[0] != partition.devices:
        return make_tensor(content.region(name, [slice(None)] * len(parameter.shape)))
    target = sharding(mesh_devices(partition.devices), parameter.layout[1])
    return make_tensor(spread_slices(parameter.shape, target, lambda index: content.region(name, index)))
