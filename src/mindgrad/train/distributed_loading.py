"""``load_distributed_checkpoint``: load a sharded checkpoint or rank files.

The number of devices that load may differ from the number that saved. If a Parameter has a layout, each
device reads only the slices that it needs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from mindgrad._base.checks import of_type
from mindgrad.core.backend.xla import mesh_devices
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.distributed.device_mesh import sharding, spread_slices
from mindgrad.distributed.partition import current
from mindgrad.distributed.strategy_file import read_strategy
from mindgrad.nn.cell import Cell
from mindgrad.train.rank_files import arrays_of_ranks
from mindgrad.train.sharded_checkpoint import set_at
from mindgrad.train.sliced_arrays import SlicedArrays

__all__ = ["load_distributed_checkpoint"]

_CALLER = "load_distributed_checkpoint"
#: arguments that only MindSpore's ``load_distributed_checkpoint`` supports -> their default values
_DEFAULTS = {
    "dec_key": None, "dec_mode": "AES-GCM", "format": "ckpt", "unified_safetensors_dir": None,
    "dst_safetensors_dir": None, "rank_id": None, "output_format": "safetensors", "name_map": None,
    "max_process_num": 64, "return_param_dict": False,
}  # fmt: skip
#: arguments that are ignored, because the file names determine the format and one process reads all files
_WITHOUT_EFFECT = ("dec_mode", "format", "output_format", "max_process_num")
_ADVICE = {
    "dec_key": "encrypted files are not supported; save the file without a key",
    "unified_safetensors_dir": "pass the folder that save_checkpoint(..., integrated_save=False) wrote",
    "dst_safetensors_dir": "transform_checkpoints writes files for another number of devices",
    "rank_id": "each device reads its slices by the layout of the Parameters",
    "name_map": "rename the Parameters of the net",
    "return_param_dict": "load_checkpoint(folder) returns the arrays of a sharded checkpoint by name",
}


def load_distributed_checkpoint(
    network: Cell,
    checkpoint_filenames: Any = None,
    predict_strategy: Any = None,
    train_strategy_filename: Any = None,
    strict_load: bool = False,
    **options: Any,
) -> None:
    """Load a checkpoint that several devices wrote.

    The number of devices that load the checkpoint may be different. Each process reads the slices that it
    needs.

    Args:
        network (Cell): network that receives the values. Parameters with a layout are read in slices, other
            Parameters as a whole.
        checkpoint_filenames (str or list of str, optional): the folder that
            ``save_checkpoint(..., integrated_save=False)`` wrote, or a list with the file of each rank, in
            the order of the ranks. Required. Default: ``None``.
        predict_strategy (None, optional): must be ``None``; the layouts of the Parameters are used.
            Default: ``None``.
        train_strategy_filename (str, optional): file that
            ``set_auto_parallel_context(strategy_ckpt_save_file=...)`` wrote. It describes how the arrays are
            divided among the rank files. Default: ``None``.
        strict_load (bool, optional): whether to raise an error if the checkpoint lacks a Parameter of
            ``network``. ``False``: such Parameters do not change. Default: ``False``.
        **options (Any): MindSpore's other options, which must have their defaults; ``dec_mode``, ``format``,
            ``output_format``, and ``max_process_num`` have no effect.

    Returns:
        Nothing.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If a file is missing or damaged, there are several files and no strategy file, or an
            unsupported option is set.
        RuntimeError: If a Parameter differs from the checkpoint in shape or dtype or, with ``strict_load``,
            is missing in the checkpoint. In this case, no Parameter changes.

    >>> import mindgrad as ms, tempfile
    >>> from mindgrad.train.sharded_checkpoint import write_set
    >>> net = ms.nn.Dense(1, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_set(folder, [("weight", ms.Tensor([[3.0]]))])
    ...     ms.load_distributed_checkpoint(net, folder)
    >>> net.weight.asnumpy().tolist()
    [[3.0]]

    See Also:
        :func:`mindgrad.load_checkpoint`, :func:`mindgrad.transform_checkpoints`
    """
    of_type(network, Cell, _CALLER, "network")
    _check_options({**options, "predict_strategy": predict_strategy})
    content = _source(checkpoint_filenames, train_strategy_filename)
    parameters = {parameter.name: parameter for parameter in network.get_parameters()}
    _check_fits(content.entries, parameters, strict_load)
    values = {name: _value(content, p, name) for name, p in parameters.items() if name in content.entries}
    for name, value in values.items():
        parameters[name].store(value)


def _check_options(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if name not in _DEFAULTS and name != "predict_strategy":
            raise TypeError(f"{_CALLER}() got an unexpected keyword argument '{name}'")
        if name not in _WITHOUT_EFFECT and value is not None and value != _DEFAULTS.get(name):
            advice = _ADVICE.get(name, "omit it: the Parameter layouts determine what each device reads")
            raise ValueError(f"For '{_CALLER}', '{name}' is not supported: {advice}.")


def _source(filenames: Any, strategy_file: Any) -> SlicedArrays:
    """Return the arrays in the files of a call."""
    if isinstance(filenames, (str, os.PathLike)):
        return set_at(filenames, _CALLER)
    if not isinstance(filenames, (list, tuple)) or not all(
        isinstance(x, (str, os.PathLike)) for x in filenames
    ):
        raise TypeError(
            f"For '{_CALLER}', the 'checkpoint_filenames' must be the folder of a sharded checkpoint, or a "
            f"list of the files of all ranks, but got {type(filenames).__name__}."
        )
    strategy = None if strategy_file is None else read_strategy(strategy_file, _CALLER)
    if strategy is not None and len(filenames) != strategy.devices:
        raise ValueError(
            f"For '{_CALLER}', there are {len(filenames)} files, but '{strategy_file}' is for "
            f"{strategy.devices} devices."
        )
    return arrays_of_ranks(dict(enumerate(filenames)), strategy, _CALLER)


def _check_fits(entries: Mapping[str, Any], parameters: Mapping[str, Any], is_strict: bool) -> None:
    for name, parameter in parameters.items():
        if name in entries:
            dtype, shape, _ = entries[name]
            if (dtype, shape) != (parameter.dtype, parameter.shape):
                raise RuntimeError(
                    f"For 'load_distributed_checkpoint', '{name}' is {dtype} of shape {shape} in the "
                    f"checkpoint, but {parameter.dtype} of shape {parameter.shape} in the network."
                )
        elif is_strict:
            raise RuntimeError(f"For 'load_distributed_checkpoint', '{name}' is not in the checkpoint.")


def _value(content: SlicedArrays, parameter: Any, name: str) -> Tensor:
    partition = current()
    if partition is None or parameter.layout is None or parameter.layout[0] != partition.devices:
        return make_tensor(content.array(name))
    target = sharding(mesh_devices(partition.devices), parameter.layout[1])
    return make_tensor(spread_slices(parameter.shape, target, lambda index: content.region(name, index)))
