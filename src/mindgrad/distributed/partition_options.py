"""Choose the partition of compiled functions from MindSpore's parallel mode.

The partition defines the number of devices on which a compiled function runs, and how its arguments are
divided among them. ``set_auto_parallel_context`` calls this module. The second column shows the default of
``device_num`` in parentheses:

    parallel_mode                   number of devices       arguments are divided
    stand_alone, hybrid_parallel    1                       not at all
    data_parallel                   ``device_num`` (1)      along their first axis
    semi_auto_parallel              ``device_num`` (all)    by the strategies in the program
    auto_parallel                   ``device_num`` (all)    along their first axis

In ``data_parallel`` mode with several processes, each process uses one device, so arguments are not divided
(``mindgrad.communication``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from mindgrad._base.environment import SIZES
from mindgrad.core.backend.xla import mesh_devices
from mindgrad.distributed.partition import ALL, Partition
from mindgrad.distributed.processes import is_started

__all__ = ["check_device_number", "data_rule", "partition_from"]

_DATA = {"data_parallel": "rows", "full_batch": "whole"}


def data_rule(strategy: Any) -> Any:
    """Convert a ``dataset_strategy`` to the value of ``Partition.data``.

    Args:
        strategy: ``"data_parallel"``, ``"full_batch"``, or a tuple with one entry for each argument. An entry
            is a Layout, or a tuple with the number of slices of each axis.

    Raises:
        TypeError: If ``strategy`` is neither a string nor such a tuple.
        ValueError: If ``strategy`` is a string with a different value.
    """
    if isinstance(strategy, str):
        if strategy not in _DATA:
            raise ValueError(
                f"For 'dataset_strategy', the value must be 'data_parallel', 'full_batch' or a tuple, but "
                f"got {strategy!r}."
            )
        return _DATA[strategy]
    if not isinstance(strategy, tuple) or not all(
        isinstance(x, tuple) or hasattr(x, "axes") for x in strategy
    ):
        raise TypeError(
            f"For 'dataset_strategy', the value must be 'data_parallel', 'full_batch' or a tuple with a "
            f"strategy for each "
            f"argument, but got {strategy!r}."
        )
    return strategy


def check_device_number(devices: Any) -> None:
    """Check that programs can be divided among ``devices`` devices.

    Raises:
        ValueError: If ``devices`` is not a positive int, or fewer devices are available.
    """
    if type(devices) is not int or devices < 1:
        raise ValueError(
            f"For 'set_auto_parallel_context', the 'device_num' must be a positive int, but got {devices!r}."
        )
    if devices > 1 and not _are_several():
        try:
            mesh_devices(devices)
        except ValueError as error:
            raise ValueError(
                f"For 'set_auto_parallel_context', the 'device_num' is {devices}: {error}"
            ) from None


def _are_several() -> bool:
    """Return whether this process is one of several, each of which uses one device.

    If JAX's distributed runtime has not been started yet, environment variables of the launcher determine the
    answer.
    """
    return is_started() or any(os.environ.get(name, "1") not in ("", "1") for name in SIZES)


def partition_from(options: Mapping[str, Any], chosen: Mapping[str, Any]) -> Partition | None:
    """Choose the partition according to the options of ``set_auto_parallel_context``.

    Args:
        options: the values of all options, including defaults.
        chosen: the values of only those options that the user has set.

    Returns:
        The partition, or ``None`` if programs run on one device.
    """
    mode = options["parallel_mode"]
    is_automatic = mode in ("semi_auto_parallel", "auto_parallel")
    devices = chosen.get("device_num", ALL if is_automatic else 1)
    if devices == 1 or not (is_automatic or (mode == "data_parallel" and not _are_several())):
        return None
    if options["full_batch"]:
        data: Any = "whole"
    elif "dataset_strategy" in chosen:
        data = data_rule(chosen["dataset_strategy"])
    else:
        # ``"rows"``: with several processes, each process passes different samples, as in MindSpore.
        # ``"free"``: the strategies in the program divide the arguments. If there are none, XLA's partitioner
        # divides them
        data = "free" if mode == "semi_auto_parallel" and not _are_several() else "rows"
    return Partition(devices, data, bool(options["enable_parallel_optimizer"]))
