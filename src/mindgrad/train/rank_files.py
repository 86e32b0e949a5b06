"""Convert rank files, MindSpore's checkpoints with a file for each rank.

    folder/rank_0/net-1_2.ckpt, folder/rank_1/net-1_2.ckpt, …        a file for each rank, with its slices

A rank file contains the slices of one rank, and a strategy file describes the partition of the arrays. The
functions convert the files for one number of devices to the files for another number, or to one file. Sharded
checkpoints (``train.sharded_checkpoint``) need no conversion, because any number of devices can read them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindgrad._base.checks import one_of
from mindgrad._base.protobuf import Malformed
from mindgrad.core.base.replacing import replaced
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.distributed.strategy_file import Strategy, read_strategy, write_strategy
from mindgrad.nn.hyperparameters import positive_int
from mindgrad.train import ckpt, safetensors
from mindgrad.train.latest import natural_order
from mindgrad.train.sharded_checkpoint import is_set, set_at
from mindgrad.train.sliced_arrays import Entry, Slice, SlicedArrays

__all__ = [
    "arrays_of_ranks", "merge_pipeline_strategys", "rank_list_for_transform", "transform_checkpoint_by_rank",
    "transform_checkpoints",
]  # fmt: skip

_RANK_FOLDER = re.compile(r"rank_(\d+)")
_ENDINGS = (".ckpt", ".safetensors")
_File = str | os.PathLike[str]


def transform_checkpoints(
    src_checkpoints_dir: _File,
    dst_checkpoints_dir: _File,
    ckpt_prefix: str,
    src_strategy_file: _File | None = None,
    dst_strategy_file: _File | None = None,
    process_num: int = 1,
    output_format: str = "ckpt",
) -> None:
    """Convert the checkpoint files of all ranks to another partition among devices.

    Args:
        src_checkpoints_dir (str or PathLike): a folder with a folder ``rank_0``, ``rank_1``, ... for each
            rank, in which the last file by name is used. Without ``src_strategy_file``: only ``rank_0``, or a
            file or sharded checkpoint of :func:`save_checkpoint`.
        dst_checkpoints_dir (str or PathLike): folder for ``rank_0/<prefix>0.ckpt``,
            ``rank_1/<prefix>1.ckpt``, ...
        ckpt_prefix (str): start of the names of the checkpoint files to write.
        src_strategy_file (str or PathLike, optional): strategy file that describes the partition of the
            existing files. ``None``: the files are not divided, or are a sharded checkpoint. Default:
            ``None``.
        dst_strategy_file (str or PathLike, optional): strategy file that describes the partition of the new
            files. ``None``: one file with undivided arrays. Default: ``None``.
        process_num (int, optional): accepted for compatibility. Default: ``1``.
        output_format (str, optional): format of the new files, ``"ckpt"`` or ``"safetensors"``. Default:
            ``"ckpt"``.

    Returns:
        Nothing.

    Raises:
        ValueError: If a file is missing, damaged, or not from mindgrad, the files of the ranks differ in
            name, or an array does not have the shape in the strategy file.
        OSError: If a new file cannot be written.

    >>> import mindgrad as ms, os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> source, target = os.path.join(folder.name, "net.ckpt"), os.path.join(folder.name, "target")
    >>> ms.save_checkpoint({"slope": ms.Tensor([2.0])}, source)
    >>> ms.transform_checkpoints(folder.name, target, "net", output_format="safetensors")
    >>> ms.load_checkpoint(os.path.join(target, "rank_0", "net0.safetensors"))["slope"].asnumpy().tolist()
    [2.0]
    >>> folder.cleanup()

    See Also:
        :func:`mindgrad.transform_checkpoint_by_rank`, :func:`mindgrad.rank_list_for_transform`,
        :func:`mindgrad.load_distributed_checkpoint`
    """
    caller = "transform_checkpoints"
    positive_int(caller, "process_num", process_num)
    _check_prefix(caller, ckpt_prefix)
    one_of(output_format, ("ckpt", "safetensors"), caller, "output_format")
    target = _strategy(dst_strategy_file, caller)
    source = _source(Path(src_checkpoints_dir), _strategy(src_strategy_file, caller), caller)
    for rank in range(1 if target is None else target.devices):
        path = Path(dst_checkpoints_dir) / f"rank_{rank}" / f"{ckpt_prefix}{rank}.{output_format}"
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, _content_of(rank, source, target, caller))


def transform_checkpoint_by_rank(
    rank_id: int,
    checkpoint_files_map: Mapping[int, _File],
    save_checkpoint_file_name: _File,
    src_strategy_file: _File | None = None,
    dst_strategy_file: _File | None = None,
) -> None:
    """Write the checkpoint file of one rank for another partition among devices.

    Args:
        rank_id (int): rank whose file is written.
        checkpoint_files_map (dict): dict that maps each rank that :func:`rank_list_for_transform` returns to
            its checkpoint file.
        save_checkpoint_file_name (str or PathLike): name of the file to write. If it has no ending, ``.ckpt``
            is appended.
        src_strategy_file (str or PathLike, optional): strategy file of the existing files, as for
            :func:`transform_checkpoints`. Default: ``None``.
        dst_strategy_file (str or PathLike, optional): strategy file of the new files, as for
            :func:`transform_checkpoints`. Default: ``None``.

    Returns:
        Nothing.

    Raises:
        TypeError: If ``checkpoint_files_map`` is not a dict with int keys.
        ValueError: If a file is missing, damaged, or not from mindgrad, there are several files and no
            strategy file, an array does not have the shape in the strategy file, or the rank does not exist.
        OSError: If the new file cannot be written.

    >>> import mindgrad as ms, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, target = os.path.join(folder, "source.ckpt"), os.path.join(folder, "target.ckpt")
    ...     ms.save_checkpoint({"slope": ms.Tensor([2.0])}, source)
    ...     ms.transform_checkpoint_by_rank(0, {0: source}, target)
    ...     print(ms.load_checkpoint(target)["slope"].value())
    [2.]

    See Also:
        :func:`mindgrad.transform_checkpoints`, :func:`mindgrad.rank_list_for_transform`
    """
    caller = "transform_checkpoint_by_rank"
    if not isinstance(checkpoint_files_map, dict) or not all(type(x) is int for x in checkpoint_files_map):
        raise TypeError(
            f"For '{caller}', the 'checkpoint_files_map' must be a dict from ranks to files, but got "
            f"{checkpoint_files_map!r}."
        )
    target = _strategy(dst_strategy_file, caller)
    _check_rank(caller, rank_id, target)
    source = arrays_of_ranks(checkpoint_files_map, _strategy(src_strategy_file, caller), caller)
    path = Path(save_checkpoint_file_name)
    path = path if path.suffix in _ENDINGS else path.with_name(f"{path.name}.ckpt")
    _write(path, _content_of(rank_id, source, target, caller))


def rank_list_for_transform(
    rank_id: int, src_strategy_file: _File | None = None, dst_strategy_file: _File | None = None
) -> list[int]:
    """Return the ranks whose files are needed for one rank of a new partition.

    Args:
        rank_id (int): rank in the new partition.
        src_strategy_file (str or PathLike, optional): strategy file of the existing files, as for
            :func:`transform_checkpoints`. Default: ``None``.
        dst_strategy_file (str or PathLike, optional): strategy file of the new files, as for
            :func:`transform_checkpoints`. Default: ``None``.

    Returns:
        list of int: ranks whose files are needed.

    Raises:
        ValueError: If a strategy file is damaged or not from mindgrad, the strategy files describe different
            arrays, or the rank does not exist.

    >>> from mindgrad import rank_list_for_transform
    >>> rank_list_for_transform(0)
    [0]

    See Also:
        :func:`mindgrad.transform_checkpoint_by_rank`
    """
    caller = "rank_list_for_transform"
    source, target = _strategy(src_strategy_file, caller), _strategy(dst_strategy_file, caller)
    _check_rank(caller, rank_id, target)
    ranks = {0}  # read the arrays that are not divided from the file of rank 0
    for name, (shape, _) in (source.parameters if source else {}).items():
        assert source is not None
        region = _region(name, shape, rank_id, target, caller)
        first: dict[Any, int] = {}
        for rank in range(source.devices):
            bounds = source.bounds(name, rank)
            first.setdefault(tuple(x.start for x in bounds), rank)
            if all(a.start < b.stop and b.start < a.stop for a, b in zip(bounds, region, strict=True)):
                ranks.add(first[tuple(x.start for x in bounds)])
    return sorted(ranks)


def merge_pipeline_strategys(src_strategy_dirs: _File, dst_strategy_file: _File) -> None:
    """Merge the strategy files of a folder into one file.

    Args:
        src_strategy_dirs (str or PathLike): folder of the strategy files.
        dst_strategy_file (str or PathLike): name of the merged strategy file to write.

    Returns:
        Nothing.

    Raises:
        ValueError: If the folder has no strategy files, a file is not from mindgrad, or two files contradict
            each other.
        OSError: If the new file cannot be written.

    >>> import mindgrad as ms, os, tempfile
    >>> from mindgrad.distributed.strategy_file import Strategy, read_strategy, write_strategy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     stages, merged = os.path.join(folder, "stages"), os.path.join(folder, "merged.ckpt")
    ...     os.mkdir(stages)
    ...     write_strategy(os.path.join(stages, "0.ckpt"), Strategy(2, {"w": ((4,), ((0,),))}))
    ...     ms.merge_pipeline_strategys(stages, merged)
    ...     print(read_strategy(merged, "example").devices)
    2

    See Also:
        :func:`mindgrad.transform_checkpoints`, :func:`mindgrad.set_auto_parallel_context`
    """
    caller = "merge_pipeline_strategys"
    folder = Path(src_strategy_dirs)
    files = sorted(x for x in folder.iterdir() if x.is_file()) if folder.is_dir() else []
    if not files:
        raise ValueError(f"For '{caller}', there are no strategy files in '{folder}'.")
    merged = read_strategy(files[0], caller)
    for file in files[1:]:
        other = read_strategy(file, caller)
        both = merged.parameters.keys() & other.parameters.keys()
        differing = sorted(name for name in both if merged.parameters[name] != other.parameters[name])
        if differing or other.devices != merged.devices:
            raise ValueError(
                f"For '{caller}', '{file}' has "
                + (f"another layout of '{differing[0]}'" if differing else f"{other.devices} devices")
                + " than the files before it. All strategy files must come from the same program."
            )
        merged = Strategy(merged.devices, {**merged.parameters, **other.parameters})
    write_strategy(dst_strategy_file, merged)


# --- reading the files of ranks -------------------------------------------------------------------------


def arrays_of_ranks(files: Mapping[int, _File], strategy: Strategy | None, caller: str) -> SlicedArrays:
    """Return the arrays in rank files.

    Args:
        files: the files by rank. Some ranks may be missing.
        strategy: the partition of the arrays. ``None``: the arrays are not divided, and there is one file.
        caller: the name of the function, for errors.

    Raises:
        ValueError: If there are several files and no strategy, a rank is not in the strategy, or a file is
            missing or damaged.
    """
    if not files or (strategy is None and len(files) > 1):
        raise ValueError(
            f"For '{caller}', there are {len(files)} files of ranks"
            + (", but no strategy file with the partition of the arrays." if files else ".")
        )
    unknown = sorted(rank for rank in files if strategy is not None and not 0 <= rank < strategy.devices)
    if strategy is not None and unknown:
        raise ValueError(
            f"For '{caller}', there is a file for rank {unknown[0]}, but the strategy file is for "
            f"{strategy.devices} devices."
        )
    first = min(files)
    paths = {rank: os.path.abspath(file) for rank, file in files.items()}
    title = f"the checkpoint of {len(files)} ranks, the first in '{files[first]}',"
    arrays = SlicedArrays(title, Path(os.sep), {})
    for name, value in _content(paths[first], caller).items():
        if isinstance(value, str):
            arrays.texts[name] = value
            continue
        dtype = as_dtype(value.dtype)
        if strategy is None or name not in strategy.parameters:
            slices = [Slice(paths[first], (0,) * value.ndim, value.shape)]
            arrays.entries[name] = Entry(dtype, value.shape, slices)
            continue
        slices = []
        for rank in sorted(paths):
            bounds = strategy.bounds(name, rank)
            starts, sizes = [x.start for x in bounds], [x.stop - x.start for x in bounds]
            slices.append(Slice(paths[rank], starts, sizes))
        arrays.entries[name] = Entry(dtype, strategy.parameters[name][0], slices)
    return arrays


def _content(path: str, caller: str) -> Mapping[str, np.ndarray | str]:
    try:
        if path.endswith(".safetensors"):
            return safetensors.read(Path(path))
        return ckpt.read(Path(path).read_bytes())
    except (OSError, Malformed) as error:
        raise ValueError(f"For '{caller}', '{path}' cannot be read: {error}") from None


def _source(folder: Path, strategy: Strategy | None, caller: str) -> SlicedArrays:
    """Return the arrays in a folder.

    The folder is a sharded checkpoint, contains a folder for each rank, or contains files. In a folder of
    files, the last file in the order of names is read.
    """
    if is_set(folder):
        return set_at(folder, caller)
    folders = {}
    if folder.is_dir():
        named = [(_RANK_FOLDER.fullmatch(x.name), x) for x in folder.iterdir() if x.is_dir()]
        folders = {int(match[1]): path for match, path in named if match}
    if not folders and strategy is None:
        file = _last_file(folder)
        if file is not None:
            return arrays_of_ranks({0: file}, None, caller)
    ranks = range(strategy.devices) if strategy else sorted(folders) or [0]
    files: dict[int, Path] = {}
    for rank in ranks:
        file = _last_file(folders[rank]) if rank in folders else None
        if file is None:
            raise ValueError(
                f"For '{caller}', there is no file for rank {rank}: expected a folder "
                f"'{folder / f'rank_{rank}'}' with files that end with {' or '.join(_ENDINGS)}."
            )
        files[rank] = file
    names = {file.name for file in files.values()}
    if len(names) > 1 and len({file.stem.removesuffix(str(rank)) for rank, file in files.items()}) > 1:
        raise ValueError(
            f"For '{caller}', in the order of names, the last files of the ranks belong to different "
            f"checkpoints: {', '.join(sorted(names))}. Move files away, so that the last files of all "
            "folders belong to one checkpoint."
        )
    return arrays_of_ranks(files, strategy, caller)


def _last_file(folder: Path) -> Path | None:
    """Return the last file of a folder by name. Numbers in names are compared as numbers."""
    if not folder.is_dir():
        return None
    files = [x for x in folder.iterdir() if x.suffix in _ENDINGS and x.is_file()]
    return max(files, key=lambda x: natural_order(x.name), default=None)


# --- writing the files of ranks -------------------------------------------------------------------------


def _content_of(
    rank: int, source: SlicedArrays, target: Strategy | None, caller: str
) -> dict[str, np.ndarray | str]:
    """Return the content of the file for a rank."""
    content: dict[str, np.ndarray | str] = {}
    for name, entry in source.entries.items():
        content[name] = source.region(name, _region(name, entry.shape, rank, target, caller))
    return {**content, **source.texts}


def _region(
    name: str, shape: Sequence[int], rank: int, target: Strategy | None, caller: str
) -> Sequence[slice]:
    if target is None or name not in target.parameters:
        return [slice(0, size) for size in shape]
    if target.parameters[name][0] != tuple(shape):
        raise ValueError(
            f"For '{caller}', '{name}' has the shape {tuple(shape)}, but the target strategy has "
            f"{target.parameters[name][0]}."
        )
    return target.bounds(name, rank)


def _write(path: Path, content: Mapping[str, np.ndarray | str]) -> None:
    with replaced(path) as new:
        if path.suffix == ".safetensors":
            safetensors.write(new, content)
        else:
            with open(new, "wb") as file:
                ckpt.write(file, content)


# --- checks of arguments --------------------------------------------------------------------------------


def _strategy(file: Any, caller: str) -> Strategy | None:
    return None if file is None else read_strategy(file, caller)


def _check_rank(caller: str, rank: Any, target: Strategy | None) -> None:
    count = 1 if target is None else target.devices
    if type(rank) is not int or not 0 <= rank < count:
        raise ValueError(
            f"For '{caller}', the 'rank_id' must be an int in range [0, {count}), but got {rank!r}."
        )


def _check_prefix(caller: str, prefix: Any) -> None:
    if not isinstance(prefix, str) or "/" in prefix:
        raise ValueError(f"For '{caller}', the 'ckpt_prefix' must be a name without '/', but got {prefix!r}.")
