"""Save and load Parameters in checkpoint files.

The ending of the file name selects the format: ``.ckpt`` is MindSpore's format (:mod:`mindgrad.train.ckpt`),
and ``.safetensors`` is the format of the library safetensors (:mod:`mindgrad.train.safetensors`). Loading a
file never runs code from it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from mindgrad import context  # noqa: F401 - programs import it from here
from mindgrad._base.absent import absent
from mindgrad._base.checks import of_type
from mindgrad._base.protobuf import Malformed
from mindgrad.common.parameter import Parameter
from mindgrad.core.base.location import warn_user
from mindgrad.core.base.replacing import replaced
from mindgrad.core.ir.dtype import DTYPES, as_dtype
from mindgrad.core.ir.tensor import Tensor
from mindgrad.distributed.partition import current
from mindgrad.nn.cell import Cell
from mindgrad.train import ckpt, safetensors
from mindgrad.train.checkpoint_entries import appended, entries_of, named
from mindgrad.train.distributed_loading import load_distributed_checkpoint
from mindgrad.train.loading import load_param_into_net
from mindgrad.train.rank_files import (
    merge_pipeline_strategys,
    rank_list_for_transform,
    transform_checkpoint_by_rank,
    transform_checkpoints,
)
from mindgrad.train.sharded_checkpoint import have_one_folder, is_set, own_slices, set_at, write_set
from mindgrad.train.single_writer import digests_of, write_once

__all__ = [
    "build_searched_strategy", "ckpt_to_safetensors", "export", "load", "load_checkpoint",
    "load_distributed_checkpoint", "load_param_into_net", "merge_pipeline_strategys",
    "merge_sliced_parameter", "rank_list_for_transform", "safetensors_to_ckpt", "save_checkpoint",
    "transform_checkpoint_by_rank", "transform_checkpoints",
]  # fmt: skip

_FORMATS = ("ckpt", "safetensors")
#: name of a dtype in checkpoint files -> dtype
tensor_to_ms_type = {str(dtype): dtype for dtype in DTYPES}
_DIVIDED = "Use load_distributed_checkpoint, which reads checkpoints that were saved on several devices."
build_searched_strategy = absent(
    __name__, "build_searched_strategy", "reads how Parameters were divided among devices", _DIVIDED
)
merge_sliced_parameter = absent(
    __name__, "merge_sliced_parameter", "joins the slices of a Parameter of several devices", _DIVIDED
)
_LONGEST = 500  # maximum number of characters of a reason in an error message
_Choice = Callable[[str], bool]


def tensor_to_np_type(tensor_type_str: str) -> type:
    """Return the NumPy type that stores a dtype of a checkpoint.

    >>> from mindgrad.train.serialization import tensor_to_np_type
    >>> tensor_to_np_type("Float32")
    <class 'numpy.float32'>
    """
    return as_dtype(tensor_type_str).numpy.type


def _update_param(param: Parameter, new_param: Any, strict_load: bool = False) -> None:
    """Set a Parameter to a new value."""
    param.set_data(new_param if strict_load else Tensor(new_param, param.dtype))


# -- saving checkpoints ----------------------------------------------------------------------------


def save_checkpoint(
    save_obj: Any,
    ckpt_file_name: str | os.PathLike[str],
    integrated_save: bool = True,
    async_save: bool | str = False,
    append_dict: dict[str, Any] | None = None,
    enc_key: bytes | None = None,
    enc_mode: str = "AES-GCM",
    choice_func: _Choice | None = None,
    crc_check: bool = False,
    format: str | None = None,
    **kwargs: Any,
) -> None:
    """Write Parameters to a checkpoint file.

    A file is replaced atomically. If several processes of a job save the same Parameters to one file, one
    process writes the file, and the others wait until the file is complete (``docs/scale.md``).

    The ending of the name selects the format: ``.ckpt`` for MindSpore 1.x and 2.x, ``.safetensors`` for
    MindSpore 2.4 and later and all other readers of this format. A name with another ending gets ``.ckpt``,
    as in MindSpore. If ``format`` is given, it selects the format, and a name with a different ending gets
    the ending of this format.

    Args:
        save_obj (Cell, Optimizer, list, or dict): Parameters to save. A list contains Parameters or dicts
            ``{"name": ..., "data": ...}``. A dict maps names to Parameters, Tensors, arrays, or strings.
        ckpt_file_name (str or PathLike): name of the file to write. Its folder must exist.
        integrated_save (bool, optional): if ``False`` and programs are divided among devices, the name is a
            folder with an index and a file for each device, which ``load_distributed_checkpoint`` and
            ``load_checkpoint`` can read. Default: ``True``.
        async_save (bool or str, optional): accepted for compatibility; the file is complete when the call
            returns. Default: ``False``.
        append_dict (dict, optional): dict of additional entries: numbers, Booleans, strings, or Tensors.
            Numbers become scalar tensors (int64, float32, bool), as in MindSpore. Default: ``None``.
        enc_key (None, optional): must be ``None``, because files are not encrypted. Default: ``None``.
        enc_mode (str, optional): unused. Default: ``"AES-GCM"``.
        choice_func (Callable, optional): function that receives the name of an entry and returns whether to
            save it. Default: ``None``.
        crc_check (bool, optional): whether to write a checksum to the file. Default: ``False``.
        format (str, optional): file format, ``"ckpt"`` or ``"safetensors"``. ``None``: the ending of the name
            selects it. Default: ``None``.
        **kwargs (Any): ``incremental``, ``global_step_num``, and ``remove_redundancy``, accepted for
            compatibility. If one is true, a warning says that it has no effect.

    Returns:
        Nothing.

    Raises:
        TypeError: If an entry of ``save_obj`` or ``append_dict`` has an unsupported type, or a keyword
            argument is unknown.
        ValueError: If two entries have the same name, or encryption or an unknown format is requested.
        OSError: If the file cannot be written. An existing file does not change.

    >>> import mindgrad as ms, os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> place = os.path.join(folder.name, "line.ckpt")
    >>> ms.save_checkpoint({"slope": ms.Parameter(ms.Tensor([2.0]))}, place, append_dict={"epoch": 7})
    >>> ms.load_checkpoint(place)["epoch"]
    Parameter (name=epoch, shape=(), dtype=Int64, requires_grad=True)
    >>> folder.cleanup()

    See Also:
        :func:`mindgrad.load_checkpoint`, :func:`mindgrad.load_param_into_net`,
        :class:`mindgrad.train.ModelCheckpoint`
    """
    _only_known("save_checkpoint", kwargs, ("incremental", "global_step_num", "remove_redundancy"))
    if enc_key is not None:
        raise ValueError(
            "For 'save_checkpoint', 'enc_key' is not supported: mindgrad does not write encrypted files. "
            "Leave it out, and encrypt the file with a separate tool."
        )
    if not isinstance(async_save, bool) and async_save not in ("process", "thread"):
        raise ValueError(
            f"For 'save_checkpoint', 'async_save' must be a bool, 'process' or 'thread', but got "
            f"{async_save!r}."
        )
    if not integrated_save and current() is not None:
        chosen = [
            (name, value) for name, value in named(save_obj) if choice_func is None or choice_func(name)
        ]
        if have_one_folder(_file_name("save_checkpoint", ckpt_file_name)):
            return write_set(ckpt_file_name, [*chosen, *appended(append_dict)])
        save_obj = [{"name": name, "data": value} for name, value in own_slices(chosen)]
        choice_func = None
    path, format = _target(ckpt_file_name, format)
    content: dict[str, np.ndarray | str] = {}
    for name, value in [*entries_of(save_obj, choice_func), *appended(append_dict)]:
        if name in content:
            raise ValueError(
                f"For 'save_checkpoint', two entries have the name '{name}', but names in a file must be "
                f"unique. Rename one of the Parameters."
            )
        content[name] = value
    trained = [name for name, value in named(save_obj) if getattr(value, "requires_grad", False)]
    write_once(path, lambda: digests_of(content, trained), lambda: _write(path, format, content, crc_check))


def _write(path: str, format: str, content: dict[str, np.ndarray | str], crc_check: bool) -> None:
    with replaced(path) as new:
        if format == "ckpt":
            with open(new, "wb") as file:
                ckpt.write(file, content, crc_check)
        else:
            safetensors.write(new, content, crc_check)


def _target(name: Any, format: str | None) -> tuple[str, str]:
    """Return the file to write, and its format."""
    path = _file_name("save_checkpoint", name)
    _check_format("save_checkpoint", format)
    if format is None:
        format = _ending(path)
        return (path, format) if format else (path + ".ckpt", "ckpt")
    return (path if _ending(path) == format else f"{path}.{format}"), format


# -- loading checkpoints ---------------------------------------------------------------------------


def load_checkpoint(
    ckpt_file_name: str | os.PathLike[str],
    net: Cell | None = None,
    strict_load: bool = False,
    filter_prefix: str | list[str] | tuple[str, ...] | None = None,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: str | list[str] | tuple[str, ...] | None = None,
    choice_func: _Choice | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str | None = None,
) -> dict[str, Any]:
    """Read the Parameters and strings of a checkpoint file.

    The whole file is read and checked before any object is created. For a damaged or foreign file, a
    ``ValueError`` names the file. Pickles are rejected without being opened, and no code in a file is ever
    run.

    Args:
        ckpt_file_name (str or PathLike): name of the file to read. Its ending selects the format if
            ``format`` is ``None``.
        net (Cell, optional): network that receives the values, as with :func:`load_param_into_net`. ``None``:
            no network. Default: ``None``.
        strict_load (bool, optional): whether names and dtypes must match ``net`` exactly. Default: ``False``.
        filter_prefix (str, list, or tuple of str, optional): prefix or prefixes. Entries whose names start
            with one of the prefixes are omitted. Default: ``None``.
        dec_key (None, optional): must be ``None``, because encrypted files are not supported. Default:
            ``None``.
        dec_mode (str, optional): unused. Default: ``"AES-GCM"``.
        specify_prefix (str, list, or tuple of str, optional): prefix or prefixes. Only entries whose names
            start with one of the prefixes are loaded. Default: ``None``.
        choice_func (Callable, optional): function that receives the name of an entry and returns whether to
            load it. Ignored if ``filter_prefix`` or ``specify_prefix`` is given. Default: ``None``.
        crc_check (bool, optional): whether to raise an error if the file has no checksum. An existing
            checksum is always compared. Default: ``False``.
        remove_redundancy (bool, optional): must be ``False``. Default: ``False``.
        format (str, optional): file format, ``"ckpt"`` or ``"safetensors"``. ``None``: the ending of the name
            selects it. Default: ``None``.

    Returns:
        dict: dict that maps names to Parameters or strings.

    Raises:
        ValueError: If the file does not exist, is not a checkpoint, or has no entry left after filtering.
        TypeError: If an argument has an unsupported type.
        RuntimeError: If the Parameters do not match ``net``, which does not change.

    >>> import mindgrad as ms, os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> place = os.path.join(folder.name, "line.safetensors")
    >>> ms.save_checkpoint({"slope": ms.Parameter(ms.Tensor([2.0]))}, place)
    >>> ms.load_checkpoint(place)
    {'slope': Parameter (name=slope, shape=(1,), dtype=Float32, requires_grad=True)}
    >>> folder.cleanup()

    See Also:
        :func:`mindgrad.save_checkpoint`, :func:`mindgrad.load_param_into_net`
    """
    if dec_key is not None:
        raise ValueError(
            "For 'load_checkpoint', 'dec_key' is not supported: mindgrad does not read encrypted files. "
            "Load the file with MindSpore and save it without a key."
        )
    filtered = _prefixes("filter_prefix", filter_prefix)
    specified = _prefixes("specify_prefix", specify_prefix)
    content = _read(_file_name("load_checkpoint", ckpt_file_name), format, crc_check)
    chosen: dict[str, Any] = {}
    for name, value in content.items():
        if specified is not None and not name.startswith(specified):
            continue
        if filtered is not None and name.startswith(filtered):
            continue
        if specified is filtered is None and choice_func is not None and not choice_func(name):
            continue
        chosen[name] = value if isinstance(value, str) else Parameter(Tensor(value), name=name or None)
    if not chosen:
        raise ValueError(
            f"For 'load_checkpoint', no entry of '{ckpt_file_name}' is selected. It has {len(content)} "
            f"entries ({', '.join([*content][:10])}), but filter_prefix, specify_prefix, or choice_func "
            f"excludes all."
            if content
            else f"For 'load_checkpoint', '{ckpt_file_name}' is a checkpoint without entries."
        )
    if net is not None:
        load_param_into_net(net, chosen, strict_load, remove_redundancy)
    return chosen


def _read(name: str, format: str | None, crc_check: bool) -> dict[str, np.ndarray | str]:
    _check_format("load_checkpoint", format)
    path = Path(name)
    if is_set(name):
        return set_at(name).content()
    if path.is_dir():
        raise ValueError(f"For 'load_checkpoint', '{name}' is a folder; pass the name of a file in it.")
    if not path.exists():
        near = [f"{name}.{each}" for each in _FORMATS if Path(f"{name}.{each}").is_file()]
        raise ValueError(
            f"For 'load_checkpoint', the checkpoint file '{name}' does not exist"
            + (
                f"; there is '{near[0]}'."
                if near
                else " (looked for in " + os.path.realpath(path.parent) + ")."
            )
        )
    if not path.is_file():
        raise ValueError(f"For 'load_checkpoint', '{name}' is a device or pipe and not a file.")
    ending = _ending(name)
    if format is None and ending is None:
        raise ValueError(
            f"For 'load_checkpoint', '{name}' ends neither with .ckpt nor with .safetensors; specify the "
            "format: format='ckpt' or format='safetensors'."
        )
    try:
        if (format or ending) == "ckpt":
            return ckpt.read(path.read_bytes(), crc_check)
        return safetensors.read(path, crc_check)
    except Malformed as error:
        reason = str(error)  # may contain long names from the file
        reason = reason if len(reason) <= _LONGEST else reason[:_LONGEST] + " ..."
        raise ValueError(f"For 'load_checkpoint', the file '{name}' cannot be loaded: {reason}.") from None


def _prefixes(argument: str, value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    prefixes = (value,) if isinstance(value, str) else value
    if not isinstance(prefixes, (tuple, list)) or not all(isinstance(each, str) for each in prefixes):
        raise TypeError(
            f"For 'load_checkpoint', '{argument}' must be a string, or a list or tuple of strings, but got "
            f"{value!r}."
        )
    if not prefixes or "" in prefixes:
        raise ValueError(f"For 'load_checkpoint', '{argument}' must not be empty, but got {value!r}.")
    return tuple(prefixes)


# -- checks of names and formats -------------------------------------------------------------------


def _file_name(function: str, name: Any) -> str:
    of_type(name, (str, os.PathLike), function, "ckpt_file_name", "a string or a path")
    return os.fsdecode(name)


def _ending(name: str) -> str | None:
    return next((each for each in _FORMATS if name.endswith(f".{each}")), None)


def _check_format(function: str, format: Any) -> None:
    if format is not None and format not in _FORMATS:
        raise ValueError(f"For '{function}', 'format' must be 'ckpt' or 'safetensors', but got {format!r}.")


def _only_known(function: str, given: dict[str, Any], accepted: tuple[str, ...]) -> None:
    for name, value in given.items():
        if name not in accepted:
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
        if value:
            warn_user(
                f"For '{function}', '{name}' is for training in several processes and has no effect here."
            )


# -- conversion between formats, and other files ---------------------------------------------------


def ckpt_to_safetensors(
    file_path: str, save_path: str | None = None, name_map: dict[str, str] | None = None
) -> None:
    """Convert a ``.ckpt`` file to a ``.safetensors`` file.

    Args:
        file_path (str): path of the file to convert.
        save_path (str, optional): folder in which the new file is written. ``None``: the folder of
            ``file_path``. Default: ``None``.
        name_map (dict, optional): dict that maps old names of entries to new names. Default: ``None``.

    Returns:
        Nothing.

    Raises:
        ValueError: If the file is missing or not a checkpoint, or ``name_map`` maps two entries to one name.
        TypeError: If an entry is complex128, which the format does not support.

    >>> import mindgrad as ms, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ms.save_checkpoint({"w": ms.Tensor([2.0])}, os.path.join(folder, "net.ckpt"))
    ...     ms.ckpt_to_safetensors(os.path.join(folder, "net.ckpt"), name_map={"w": "weight"})
    ...     print(ms.load_checkpoint(os.path.join(folder, "net.safetensors"))["weight"].value())
    [2.]

    See Also:
        :func:`mindgrad.safetensors_to_ckpt`, :func:`mindgrad.save_checkpoint`,
        :func:`mindgrad.load_checkpoint`
    """
    _convert(file_path, save_path, name_map, "safetensors")


def safetensors_to_ckpt(
    file_path: str, save_path: str | None = None, name_map: dict[str, str] | None = None
) -> None:
    """Convert a ``.safetensors`` file to a ``.ckpt`` file.

    Args:
        file_path (str): path of the file to convert.
        save_path (str, optional): folder in which the new file is written. ``None``: the folder of
            ``file_path``. Default: ``None``.
        name_map (dict, optional): dict that maps old names of entries to new names. Default: ``None``.

    Returns:
        Nothing.

    Raises:
        ValueError: If the file is missing or not a checkpoint, or ``name_map`` maps two entries to one name.

    >>> import mindgrad as ms, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ms.save_checkpoint({"w": ms.Tensor([2.0])}, os.path.join(folder, "net.safetensors"))
    ...     ms.safetensors_to_ckpt(os.path.join(folder, "net.safetensors"))
    ...     print(ms.load_checkpoint(os.path.join(folder, "net.ckpt"))["w"].value())
    [2.]

    See Also:
        :func:`mindgrad.ckpt_to_safetensors`, :func:`mindgrad.save_checkpoint`,
        :func:`mindgrad.load_checkpoint`
    """
    _convert(file_path, save_path, name_map, "ckpt")


def _convert(file_path: str, save_path: str | None, name_map: dict[str, str] | None, format: str) -> None:
    content = _read(_file_name("load_checkpoint", file_path), None, False)
    name = Path(file_path).stem + f".{format}"
    names = name_map or {}
    renamed = {names.get(each, each): value for each, value in content.items()}
    if len(renamed) != len(content):
        raise ValueError("'name_map' maps two entries to one name; every entry needs a unique name.")
    save_checkpoint(renamed, Path(file_path).parent / name if save_path is None else Path(save_path) / name)


def load(*_: Any, **__: Any) -> NoReturn:
    """Not supported: read a program that MindSpore compiled (MindIR).

    Args:
        *_, **__ (Any): not used.

    Returns:
        Nothing, because it always raises an error.

    Raises:
        NotImplementedError: If the function is called. The message names the alternative.

    >>> import mindgrad as ms
    >>> ms.load("net.mindir")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    NotImplementedError: 'load' reads MindIR, a program compiled by MindSpore, ...

    See Also:
        :func:`mindgrad.load_checkpoint`, :func:`mindgrad.load_param_into_net`
    """
    raise NotImplementedError(
        "'load' reads MindIR, a program compiled by MindSpore, which mindgrad cannot run. Write the network "
        "as a Cell and load its Parameters: load_param_into_net(net, load_checkpoint('net.ckpt'))."
    )


def export(*_: Any, **__: Any) -> NoReturn:
    """Not supported: write MindIR, AIR, or ONNX.

    Args:
        *_, **__ (Any): not used.

    Returns:
        Nothing, because it always raises an error.

    Raises:
        NotImplementedError: If the function is called. The message names the alternative.

    >>> import mindgrad as ms
    >>> ms.export(ms.nn.Dense(1, 1), file_name="net")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    NotImplementedError: 'export' writes programs for MindSpore's runtimes ...

    See Also:
        :func:`mindgrad.save_checkpoint`
    """
    raise NotImplementedError(
        "'export' writes programs for MindSpore's runtimes (MINDIR, AIR, ONNX), which mindgrad does not "
        "support. To keep the Parameters: save_checkpoint(net, 'net.ckpt'), which MindSpore reads too."
    )
