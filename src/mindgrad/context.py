"""The context: execution mode, device, and other options of the process.

- GRAPH_MODE compiles each function, Cell or gradient as a whole.
- PYNATIVE_MODE, the default, runs operator by operator, and compiles repeated calls (``docs/eager.md``).

>>> from mindgrad import context
>>> context.set_context(mode=context.PYNATIVE_MODE)
>>> context.get_context("mode") == context.PYNATIVE_MODE
True
"""

from __future__ import annotations

import difflib
import sys
from typing import Any

from mindgrad.core.backend.device import select_device
from mindgrad.core.base.nearest import nearest
from mindgrad.core.ir import settings
from mindgrad.core.ir.finite import check_kernel
from mindgrad.core.ir.kernels import set_kernel_check
from mindgrad.distributed.layouts import set_layout_file
from mindgrad.distributed.partition_options import check_device_number, data_rule, partition_from
from mindgrad.frontend.mode import GRAPH_MODE, PYNATIVE_MODE

__all__ = [
    "COMPATIBLE", "GRAPH_MODE", "LAX", "PYNATIVE_MODE", "STRICT", "ParallelMode",
    "get_auto_parallel_context", "get_context", "get_ps_context", "reset_auto_parallel_context",
    "reset_ps_context", "set_auto_parallel_context", "set_context", "set_device", "set_ps_context",
]  # fmt: skip

#: options of MindSpore that mindgrad accepts and returns from ``get_context``. Most have no effect
_ACCEPTED = frozenset([
    "aoe_config", "aoe_tune_mode", "ascend_config", "auto_tune_mode", "compile_cache_path",
    "conv_allow_tf32", "debug_level", "deterministic", "enable_auto_mixed_precision",
    "enable_compile_cache", "enable_dump", "enable_graph_kernel", "enable_mem_reuse",
    "enable_profiling", "enable_reduce_precision", "enable_sparse", "env_config_path", "exec_order",
    "gpu_config", "grad_for_scalar", "graph_kernel_flags", "graph_memory_max_size",
    "host_scheduling_max_threshold", "inter_op_parallel_num", "jit_config", "jit_level",
    "jit_syntax_level", "load_compile_cache", "matmul_allow_tf32", "max_call_depth",
    "max_device_memory", "max_recompute", "memory_optimize_level", "mempool_block_size",
    "op_timeout", "precompile_only", "print_file_path", "profiling_options",
    "reserve_class_name_in_scope", "runtime_num_threads", "save_compile_cache", "save_dump_path",
    "save_graphs", "save_graphs_path", "support_binary", "variable_memory_max_size",
])  # fmt: skip
if settings.options["debug_nans"]:
    set_kernel_check(check_kernel)
_OWN = (
    "mode", "device_target", "device_id", "check_bprop", "checkpoint_slots", "debug_nans",
    "pynative_synchronize",
)  # fmt: skip


def set_context(
    mode: int | None = None,
    device_target: str | None = None,
    device_id: int | None = None,
    checkpoint_slots: int | None = None,
    pynative_synchronize: bool | None = None,
    debug_nans: bool | None = None,
    **options: Any,
) -> None:
    """Set the execution mode, the device, and other options of the process.

    Args:
        mode (int, optional): ``GRAPH_MODE`` (0) or ``PYNATIVE_MODE`` (1). Default: unchanged.
        device_target (str, optional): ``"CPU"``, ``"GPU"``, or ``"Ascend"``. If the device is missing,
            programs run on the CPU, and a message is printed once to standard error. With the environment
            variable ``MINDGRAD_STRICT_DEVICE=1``, a missing device is an error. Default: unchanged.
        device_id (int, optional): index of the GPU, starting at 0. Default: unchanged.
        checkpoint_slots (int, optional): maximum number of stored states in reverse mode through a ``while``
            loop on tensors. Initially 1024. The number is rounded down to a power of two, and reduced if the
            states would take more than 256 KiB. If the number of iterations is at most the square of this
            number, each iteration is replayed once. Each further doubling of the number of iterations adds
            one replay. If a state is larger than 1 KiB, a loop with at most this number of iterations is not
            replayed. The option affects programs that are compiled later. Default: unchanged.
        pynative_synchronize (bool, optional): whether PYNATIVE_MODE runs each operator immediately. The
            initial value ``False`` allows PYNATIVE_MODE to compile repeated calls. Default: unchanged.
        debug_nans (bool, optional): whether to raise an error if an operator computes a NaN or an infinity
            from finite inputs. The error contains the source line, also in derivatives
            (``docs/checking.md``). The environment variable ``MINDGRAD_DEBUG_NANS=1`` also enables it.
            Default: unchanged.
        **options (Any): MindSpore's other options. Compiled programs are cached on disk, in the user's cache
            folder or in ``compile_cache_path``. ``enable_compile_cache=False`` disables the cache
            (``docs/cache.md``). ``save_graphs=True`` writes each compiled program to ``save_graphs_path``, as
            text and as a figure. All other options are accepted for compatibility, and ``get_context``
            returns them.

    Returns:
        Nothing.

    Raises:
        ValueError: If an option has an invalid value, or MindSpore does not have an option of this name.
        TypeError: If ``device_id`` is not an int, or if ``pynative_synchronize`` or ``debug_nans`` is not a
            bool.
        RuntimeError: If the machine does not have the device and ``MINDGRAD_STRICT_DEVICE=1`` is set.

    >>> from mindgrad import context
    >>> context.set_context(pynative_synchronize=True)
    >>> context.get_context("pynative_synchronize")
    True
    >>> context.set_context(pynative_synchronize=False)

    See Also:
        :func:`mindgrad.get_context`, :func:`mindgrad.set_device`, :func:`mindgrad.jit`
    """
    if mode is not None and (isinstance(mode, bool) or mode not in (GRAPH_MODE, PYNATIVE_MODE)):
        raise ValueError(
            f"For 'set_context', the 'mode' must be GRAPH_MODE (0) or PYNATIVE_MODE (1), but got {mode!r}."
        )
    if device_id is not None and (isinstance(device_id, bool) or not isinstance(device_id, int)):
        raise TypeError(
            f"For 'set_context', the 'device_id' must be an int, but got {type(device_id).__name__}."
        )
    if checkpoint_slots is not None:
        if type(checkpoint_slots) is not int or checkpoint_slots < 2:
            raise ValueError(
                f"For 'set_context', the 'checkpoint_slots' must be an int of at least 2, but got "
                f"{checkpoint_slots!r}."
            )
        settings.store("checkpoint_slots", checkpoint_slots)
    if pynative_synchronize is not None:
        if not isinstance(pynative_synchronize, bool):
            raise TypeError(
                f"For 'set_context', the 'pynative_synchronize' must be a bool, but got "
                f"{pynative_synchronize!r}."
            )
        settings.store("pynative_synchronize", pynative_synchronize)
    if debug_nans is not None:
        if not isinstance(debug_nans, bool):
            raise TypeError(f"For 'set_context', the 'debug_nans' must be a bool, but got {debug_nans!r}.")
        settings.store("debug_nans", debug_nans)
        set_kernel_check(check_kernel if debug_nans else None)
    for name in options:
        if name not in _ACCEPTED and name not in _OWN:
            near = difflib.get_close_matches(name, [*_ACCEPTED, *_OWN], 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"For 'set_context', unknown option {name!r}.{hint}")
    if device_target is not None or device_id is not None:
        target = settings.get("device_target") if device_target is None else device_target
        number = settings.get("device_id") if device_id is None else device_id
        select_device(target, number)
        settings.store("device_target", target)
        settings.store("device_id", number)
    if mode is not None:
        settings.store("mode", mode)
    for name, value in options.items():
        settings.store(name, value)


def set_deterministic(deterministic: bool) -> None:
    """Accept MindSpore's switch for deterministic results, which has no effect.

    Results are always deterministic: the same program and inputs give the same results in each run.

    Args:
        deterministic (bool): accepted for compatibility.

    Returns:
        Nothing.

    Raises:
        TypeError: If ``deterministic`` is not a bool.

    >>> import mindgrad as ms
    >>> ms.set_deterministic(True)
    >>> ms.get_context("deterministic")
    'ON'

    See Also:
        :func:`mindgrad.set_context`, :func:`mindgrad.set_seed`
    """
    if not isinstance(deterministic, bool):
        raise TypeError(
            f"For 'set_deterministic', the 'deterministic' must be a bool, but got {deterministic!r}."
        )
    set_context(deterministic="ON" if deterministic else "OFF")


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """Set the maximum depth of calls in a compiled function.

    The limit is Python's recursion limit, which this function increases if necessary.

    Args:
        recursion_limit (int, optional): maximum depth of nested Python calls. Default: ``1000``.

    Returns:
        Nothing.

    Raises:
        TypeError: If ``recursion_limit`` is not an int.
        ValueError: If ``recursion_limit`` is not positive.

    >>> import mindgrad as ms
    >>> ms.set_recursion_limit(2000)

    See Also:
        :func:`mindgrad.set_context`
    """
    if isinstance(recursion_limit, bool) or not isinstance(recursion_limit, int):
        raise TypeError(f"For 'set_recursion_limit', the limit must be an int, but got {recursion_limit!r}.")
    if recursion_limit < 1:
        raise ValueError(f"For 'set_recursion_limit', the limit must be positive, but got {recursion_limit}.")
    sys.setrecursionlimit(max(recursion_limit, sys.getrecursionlimit()))


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Choose the device, like ``set_context(device_target=..., device_id=...)``.

    Args:
        device_target (str): ``"CPU"``, ``"GPU"``, or ``"Ascend"``, see :func:`set_context`.
        device_id (int, optional): index of the GPU, starting at 0. Default: ``None``.

    Returns:
        Nothing.

    Raises:
        ValueError: If ``device_target`` is neither ``"CPU"``, ``"GPU"``, nor ``"Ascend"``.
        TypeError: If ``device_id`` is not an int.
        RuntimeError: If the machine does not have the device and ``MINDGRAD_STRICT_DEVICE=1`` is set.

    >>> import mindgrad as ms
    >>> ms.set_device("CPU")
    >>> ms.get_context("device_target")
    'CPU'

    See Also:
        :func:`mindgrad.set_context`
    """
    set_context(device_target=device_target, device_id=device_id)


def get_context(attr_key: str) -> Any:
    """Return the value of an option of the context, or ``None`` if it was never set.

    Args:
        attr_key (str): name of the option, see :func:`set_context`.

    Returns:
        Any: current value of the option, or ``None`` if it was never set.

    Raises:
        ValueError: If there is no option with the name ``attr_key``.

    >>> import mindgrad as ms
    >>> ms.get_context("checkpoint_slots")
    1024

    See Also:
        :func:`mindgrad.set_context`
    """
    if attr_key not in _ACCEPTED and attr_key not in _OWN:
        near = nearest(str(attr_key), [*_ACCEPTED, *_OWN])
        raise ValueError(f"For 'get_context', unknown option {attr_key!r}{near}.")
    return settings.get(attr_key)


# --- division among devices ------------------------------------------------------------------------


class ParallelMode:
    """Names of the modes of parallel execution.

    The attributes are values of the option ``parallel_mode`` of :func:`set_auto_parallel_context`.

    >>> from mindgrad.context import ParallelMode
    >>> ParallelMode.DATA_PARALLEL
    'data_parallel'

    See Also:
        :func:`mindgrad.set_auto_parallel_context`
    """

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = (STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL)


_PARALLEL_DEFAULTS: dict[str, Any] = {
    "all_reduce_fusion_config": (), "auto_parallel_search_mode": "recursive_programming",
    "comm_fusion": None, "communi_parallel_mode": "all_group_parallel",
    "dataset_strategy": "data_parallel", "device_num": 1, "enable_alltoall": False,
    "enable_parallel_optimizer": False, "force_fp32_communication": False, "full_batch": False,
    "global_rank": 0, "grad_accumulation_step": 1, "gradient_fp32_sync": True, "gradients_mean": False,
    "group_ckpt_save_file": "", "loss_repeated_mean": True, "optimizer_weight_shard_size": -1,
    "parallel_mode": ParallelMode.STAND_ALONE, "parallel_optimizer_config": None,
    "parameter_broadcast": False, "pipeline_stages": 1, "search_mode": "recursive_programming",
    "strategy_ckpt_config": None, "strategy_ckpt_load_file": "", "strategy_ckpt_save_file": "",
}  # fmt: skip
_parallel = dict(_PARALLEL_DEFAULTS)
#: option -> value, for all options that the program has set
_chosen: dict[str, Any] = {}


def set_auto_parallel_context(**options: Any) -> None:
    """Divide compiled functions among devices, with MindSpore's options.

    Values and derivatives equal the results of one device, up to rounding. Compiled computations are divided:
    functions and Cells in GRAPH_MODE, and functions of ``jit`` and ``shard`` in both modes. Operators that
    run one by one use one device.

    Args:
        **options (Any): options of parallel execution, by name:

            - ``parallel_mode``: one of :class:`ParallelMode`. ``"semi_auto_parallel"`` divides programs by
              the strategies in them (``ops.MatMul().shard``, ``Cell.shard``). ``"auto_parallel"`` and
              ``"data_parallel"`` divide arguments along their first axis. The other modes use one device.
            - ``device_num``: number of devices. Default: all devices, or one device for ``"data_parallel"``.
            - ``dataset_strategy``: ``"data_parallel"`` divides arguments along their first axis if it is
              divisible. ``"full_batch"`` does not divide arguments. A tuple contains one strategy for each
              argument. If the devices belong to several processes, ``"data_parallel"``, the default, means
              that each process passes its own part of the batch.
            - ``full_batch``: ``True`` has the same effect as ``dataset_strategy="full_batch"``.
            - ``enable_parallel_optimizer``: whether to divide the moments of optimizers among devices. Each
              moment is divided along its first divisible axis.
            - ``global_rank`` must be 0; ``pipeline_stages`` and ``grad_accumulation_step`` must be 1.
            - ``strategy_ckpt_save_file``: name of a file in which mindgrad stores the partition of
              Parameters, for :func:`mindgrad.transform_checkpoints`. Another spelling is
              ``strategy_ckpt_config={"save_file": ...}``.
            - All other options of MindSpore have no effect; ``get_auto_parallel_context`` returns them.

    Returns:
        Nothing.

    Raises:
        TypeError: If ``dataset_strategy`` has an unsupported type.
        ValueError: If an option or a value of ``parallel_mode`` does not exist, there are fewer than
            ``device_num`` devices, or an option requests several processes or pipeline stages.

    >>> from mindgrad import context
    >>> context.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    >>> context.get_auto_parallel_context("parallel_mode")
    'data_parallel'
    >>> context.reset_auto_parallel_context()

    See Also:
        :func:`mindgrad.get_auto_parallel_context`, :func:`mindgrad.reset_auto_parallel_context`,
        :func:`mindgrad.shard`
    """
    owner = "set_auto_parallel_context"
    for name, value in options.items():
        if name not in _PARALLEL_DEFAULTS:
            near = difflib.get_close_matches(name, _PARALLEL_DEFAULTS, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"For '{owner}', unknown option {name!r}.{hint}")
        if name == "parallel_mode" and value not in ParallelMode.MODE_LIST:
            raise ValueError(
                f"For '{owner}', the 'parallel_mode' must be one of {', '.join(ParallelMode.MODE_LIST)}, but "
                f"got {value!r}."
            )
        if name == "device_num":
            check_device_number(value)
        if name == "dataset_strategy":
            data_rule(value)
        needed = {"global_rank": 0, "pipeline_stages": 1, "grad_accumulation_step": 1}
        if name in needed and value != needed[name]:
            raise ValueError(
                f"For '{owner}', the '{name}' must be {needed[name]}, because mindgrad does not support "
                f"other values, but got {value!r}."
            )
        if name == "strategy_ckpt_load_file" and value:
            raise _no_strategies_from_files(name)
        if name == "strategy_ckpt_config":
            _check_strategy_config(value)
    _parallel.update(options)
    _chosen.update(options)
    if not options.keys().isdisjoint(("strategy_ckpt_save_file", "strategy_ckpt_config")):
        config = _parallel["strategy_ckpt_config"] or {}
        set_layout_file(_parallel["strategy_ckpt_save_file"] or config.get("save_file", ""))
    settings.store("partition", partition_from(_parallel, _chosen))


def _no_strategies_from_files(name: str) -> ValueError:
    return ValueError(
        f"For 'set_auto_parallel_context', '{name}' is not supported. Specify strategies in the program "
        "with 'shard'."
    )


def _check_strategy_config(value: Any) -> None:
    keys = {"load_file", "save_file", "only_trainable_params"}
    if value is not None and not (isinstance(value, dict) and value.keys() <= keys):
        raise ValueError(
            f"For 'set_auto_parallel_context', the 'strategy_ckpt_config' must be a dict with "
            f"{', '.join(sorted(keys))}, but got {value!r}."
        )
    if value and value.get("load_file"):
        raise _no_strategies_from_files("strategy_ckpt_config['load_file']")


def get_auto_parallel_context(attr_key: str) -> Any:
    """Return the value of an option of :func:`set_auto_parallel_context`.

    Args:
        attr_key (str): name of the option.

    Returns:
        Any: value that the program has set for the option, or its default.

    Raises:
        ValueError: If there is no option with the name ``attr_key``.

    >>> from mindgrad import context
    >>> context.get_auto_parallel_context("device_num")
    1

    See Also:
        :func:`mindgrad.set_auto_parallel_context`
    """
    if attr_key not in _PARALLEL_DEFAULTS:
        raise ValueError(f"For 'get_auto_parallel_context', unknown option {attr_key!r}.")
    return _parallel[attr_key]


def reset_auto_parallel_context() -> None:
    """Reset the options of :func:`set_auto_parallel_context` to their defaults.

    Returns:
        Nothing.

    >>> from mindgrad import context
    >>> context.reset_auto_parallel_context()

    See Also:
        :func:`mindgrad.set_auto_parallel_context`
    """
    _parallel.update(_PARALLEL_DEFAULTS)
    _chosen.clear()
    set_layout_file("")
    settings.store("partition", None)


# --- parameter servers --------------------------------------------------------------------------------

STRICT, COMPATIBLE, LAX = 0, 1, 2  #: MindSpore's levels of Python support, without effect in mindgrad

_PS_DEFAULTS: dict[str, Any] = {
    "enable_ps": False, "config_file_path": "", "scheduler_manage_port": 11202, "enable_ssl": False,
    "client_password": "", "server_password": "", "scheduler_ip": "", "scheduler_port": 6667,
}  # fmt: skip
_servers = dict(_PS_DEFAULTS)


def set_ps_context(**kwargs: Any) -> None:
    """Accept MindSpore's options of parameter servers, which have no effect.

    Args:
        **kwargs (Any): ``enable_ps``, which must be ``False``, and MindSpore's other options, which
            :func:`get_ps_context` returns.

    Returns:
        Nothing.

    Raises:
        ValueError: If an option does not exist in MindSpore, or ``enable_ps`` is true.

    >>> from mindgrad import context
    >>> context.set_ps_context(enable_ps=False)
    >>> context.get_ps_context("enable_ps")
    False

    See Also:
        :func:`mindgrad.get_ps_context`
    """
    for name in kwargs:
        _check_server_option("set_ps_context", name)
    if kwargs.get("enable_ps"):
        raise ValueError(
            "For 'set_ps_context', the 'enable_ps' must be False, because mindgrad does not support "
            "parameter servers."
        )
    _servers.update(kwargs)


def get_ps_context(attr_key: str) -> Any:
    """Return the value of an option of :func:`set_ps_context`.

    Args:
        attr_key (str): name of the option.

    Returns:
        Any: value that the program has set for the option, or its default.

    Raises:
        ValueError: If there is no option with the name ``attr_key``.

    >>> from mindgrad import context
    >>> context.get_ps_context("scheduler_port")
    6667

    See Also:
        :func:`mindgrad.set_ps_context`
    """
    _check_server_option("get_ps_context", attr_key)
    return _servers[attr_key]


def reset_ps_context() -> None:
    """Reset the options of :func:`set_ps_context` to their defaults.

    Returns:
        Nothing.

    >>> from mindgrad import context
    >>> context.reset_ps_context()

    See Also:
        :func:`mindgrad.set_ps_context`
    """
    _servers.update(_PS_DEFAULTS)


def _check_server_option(function: str, name: str) -> None:
    if name not in _PS_DEFAULTS:
        raise ValueError(f"For '{function}', unknown option {name!r}.")
