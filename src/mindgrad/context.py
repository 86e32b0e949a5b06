"""The context sets the execution mode and the device of programs.

- GRAPH_MODE compiles whole functions, Cells and gradients to one program each.
- PYNATIVE_MODE, the default, runs operator by operator, and calls that repeat as programs: ``docs/eager.md``.

>>> from mindgrad import context
>>> context.set_context(mode=context.PYNATIVE_MODE)
>>> context.get_context("mode") == context.PYNATIVE_MODE
True
"""

from __future__ import annotations

import difflib
import sys
from typing import Any

from mindgrad._base.nearest import nearest
from mindgrad.backend.device import select_device
from mindgrad.execution.layouts import set_layout_file
from mindgrad.execution.partition_options import check_device_number, data_rule, partition_from
from mindgrad.ir import settings
from mindgrad.ir.finite import check_kernel
from mindgrad.ir.kernels import set_kernel_check
from mindgrad.ir.settings import GRAPH_MODE, PYNATIVE_MODE

__all__ = [
    "COMPATIBLE", "GRAPH_MODE", "LAX", "PYNATIVE_MODE", "STRICT", "ParallelMode",
    "get_auto_parallel_context", "get_context", "get_ps_context", "reset_auto_parallel_context",
    "reset_ps_context", "set_auto_parallel_context", "set_context", "set_device", "set_ps_context",
]  # fmt: skip

#: options of MindSpore that steer its own machinery; they are kept, and change nothing here
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
    """Set options of the context, for the whole process.

    Args:
        mode: ``GRAPH_MODE`` (0) or ``PYNATIVE_MODE`` (1).
        device_target: ``"CPU"``, ``"GPU"`` or ``"Ascend"``. Where the device is not there the program
            runs on the CPU and says so once on standard error; with the environment variable
            ``MINDGRAD_STRICT_DEVICE=1`` it is an error.
        device_id: which GPU.
        checkpoint_slots: in reverse mode through a ``while`` on a tensor, how many states of the loop
            are saved at most (1024 by default, rounded down to a power of two, and fewer if they would take
            more than 256 KiB). Up to the square of so many trips each is replayed once, beyond log₂ of the
            rest more; where a state is larger than 1 KiB, up to so many trips none is. Programs compiled from
            here on use it.
        pynative_synchronize: whether PYNATIVE_MODE runs every operator where it is called. ``False``, the
            default, lets calls that repeat run as programs; ``True`` turns that off from the next call on.
        debug_nans: whether it is an error that an operator makes a NaN or an infinity from finite operands;
            the error names the line, in derivatives too (``docs/howto/find_nans.md``). The environment
            variable ``MINDGRAD_DEBUG_NANS=1`` turns it on.
        **options: MindSpore's other options. Compiled programs are kept on disk for later processes, in the
            user's cache folder or in ``compile_cache_path``; ``enable_compile_cache=False`` turns that off
            (``docs/cache.md``). ``save_graphs=True`` writes each program that is compiled into
            ``save_graphs_path``, as text and as a picture. The others steer MindSpore's own machinery;
            they are accepted so that programs run unmodified, and ``get_context`` gives them back.

    Raises:
        ValueError: an option has a value that is not allowed, or is none of MindSpore's.
        TypeError: ``device_id`` is no int, ``pynative_synchronize`` or ``debug_nans`` no bool.
        RuntimeError: the device is not there and ``MINDGRAD_STRICT_DEVICE=1`` is set.

    >>> from mindgrad import context
    >>> context.set_context(pynative_synchronize=True)
    >>> context.get_context("pynative_synchronize")
    True
    >>> context.set_context(pynative_synchronize=False)
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
    """Accept MindSpore's switch: of the same program and numbers, results are the same in every run.

    Raises:
        TypeError: ``deterministic`` is no bool.

    >>> import mindgrad as ms
    >>> ms.set_deterministic(True)
    >>> ms.get_context("deterministic")
    'ON'
    """
    if not isinstance(deterministic, bool):
        raise TypeError(
            f"For 'set_deterministic', the 'deterministic' must be a bool, but got {deterministic!r}."
        )
    set_context(deterministic="ON" if deterministic else "OFF")


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """Set the depth of calls in a compiled function: Python's own limit, raised if need be.

    Raises:
        TypeError: it is no int.
        ValueError: it is not positive.

    >>> import mindgrad as ms
    >>> ms.set_recursion_limit(2000)
    """
    if isinstance(recursion_limit, bool) or not isinstance(recursion_limit, int):
        raise TypeError(f"For 'set_recursion_limit', the limit must be an int, but got {recursion_limit!r}.")
    if recursion_limit < 1:
        raise ValueError(f"For 'set_recursion_limit', the limit must be positive, but got {recursion_limit}.")
    sys.setrecursionlimit(max(recursion_limit, sys.getrecursionlimit()))


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Choose the device, as ``set_context(device_target=…, device_id=…)`` does.

    Args:
        device_target: ``"CPU"``, ``"GPU"`` or ``"Ascend"``, see :func:`set_context`.
        device_id: which GPU.

    Raises:
        ValueError, TypeError, RuntimeError: see :func:`set_context`.

    >>> import mindgrad as ms
    >>> ms.set_device("CPU")
    >>> ms.get_context("device_target")
    'CPU'
    """
    set_context(device_target=device_target, device_id=device_id)


def get_context(attr_key: str) -> Any:
    """The value of one option of the context, ``None`` if it was never set.

    Raises:
        ValueError: there is no such option.
    """
    if attr_key not in _ACCEPTED and attr_key not in _OWN:
        near = nearest(str(attr_key), [*_ACCEPTED, *_OWN])
        raise ValueError(f"For 'get_context', unknown option {attr_key!r}{near}.")
    return settings.get(attr_key)


# --- several devices -------------------------------------------------------------------------------


class ParallelMode:
    """Modes in which work is divided among devices: see :func:`set_auto_parallel_context`.

    >>> from mindgrad.context import ParallelMode
    >>> ParallelMode.DATA_PARALLEL
    'data_parallel'
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
#: the options that were set
_chosen: dict[str, Any] = {}


def set_auto_parallel_context(**options: Any) -> None:
    """Divide programs among devices, with MindSpore's options.

    Values and derivatives are those of one device, up to rounding. What is compiled is divided: functions
    and Cells in GRAPH_MODE, those of ``jit`` and ``shard`` in both modes; operators that run one by one run
    on one device.

    Args:
        **options: ``parallel_mode``: one of :class:`ParallelMode`. ``"semi_auto_parallel"`` divides programs
            by the strategies in them (``ops.MatMul().shard``, ``Cell.shard``), ``"auto_parallel"`` and
            ``"data_parallel"`` arguments along their first axis, the others run on one device.
            ``device_num``: how many devices; by default all for the first two, one for ``"data_parallel"``.
            ``dataset_strategy``: ``"data_parallel"``, arguments along their first axis where that is
            divisible, ``"full_batch"``, not, or a tuple with a strategy for each argument.
            ``full_batch=True`` is the second. With devices of several processes the first, the default,
            means that each process has rows of its own, of one batch. ``enable_parallel_optimizer``:
            whether the moments of optimisers are divided, each along its first divisible axis.
            ``global_rank`` must be 0, ``pipeline_stages`` and ``grad_accumulation_step`` 1.
            ``strategy_ckpt_save_file``: a file that says how Parameters are divided, for
            :func:`mindgrad.transform_checkpoints`; also ``strategy_ckpt_config={"save_file": …}``.
            The others of MindSpore steer its communication, search and files:
            ``get_auto_parallel_context`` gives them back, and they change nothing.

    Raises:
        TypeError: ``dataset_strategy`` is of another type.
        ValueError: there is no such option or mode, there are fewer devices, or the option asks for several
            processes or stages.

    >>> from mindgrad import context
    >>> context.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    >>> context.get_auto_parallel_context("parallel_mode")
    'data_parallel'
    >>> context.reset_auto_parallel_context()
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
                f"For '{owner}', the '{name}' must be {needed[name]}, because mindgrad runs in one process, "
                f"but got {value!r}."
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
        f"For 'set_auto_parallel_context', '{name}' is not supported: write strategies in the program, with "
        f"'shard'."
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
    """The value of one option of :func:`set_auto_parallel_context`.

    Raises:
        ValueError: there is no such option.

    >>> from mindgrad import context
    >>> context.get_auto_parallel_context("device_num")
    1
    """
    if attr_key not in _PARALLEL_DEFAULTS:
        raise ValueError(f"For 'get_auto_parallel_context', unknown option {attr_key!r}.")
    return _parallel[attr_key]


def reset_auto_parallel_context() -> None:
    """Set the options of :func:`set_auto_parallel_context` back.

    >>> from mindgrad import context
    >>> context.reset_auto_parallel_context()
    """
    _parallel.update(_PARALLEL_DEFAULTS)
    _chosen.clear()
    set_layout_file("")
    settings.store("partition", None)


# --- parameter servers --------------------------------------------------------------------------------

STRICT, COMPATIBLE, LAX = 0, 1, 2  #: how much Python MindSpore compiles; all is compiled here

_PS_DEFAULTS: dict[str, Any] = {
    "enable_ps": False, "config_file_path": "", "scheduler_manage_port": 11202, "enable_ssl": False,
    "client_password": "", "server_password": "", "scheduler_ip": "", "scheduler_port": 6667,
}  # fmt: skip
_servers = dict(_PS_DEFAULTS)


def set_ps_context(**kwargs: Any) -> None:
    """Accept MindSpore's options for servers of Parameters, of which there are none.

    Args:
        **kwargs: ``enable_ps`` (``False``) and others, which :func:`get_ps_context` gives back.

    Raises:
        ValueError: there is no such option, or ``enable_ps`` asks for servers.

    >>> from mindgrad import context
    >>> context.set_ps_context(enable_ps=False)
    >>> context.get_ps_context("enable_ps")
    False
    """
    for name in kwargs:
        _check_server_option("set_ps_context", name)
    if kwargs.get("enable_ps"):
        raise ValueError(
            "For 'set_ps_context', the 'enable_ps' must be False: mindgrad runs in one process, which keeps "
            "its Parameters itself."
        )
    _servers.update(kwargs)


def get_ps_context(attr_key: str) -> Any:
    """The value of one option of :func:`set_ps_context`.

    Raises:
        ValueError: there is no such option.

    >>> from mindgrad import context
    >>> context.get_ps_context("scheduler_port")
    6667
    """
    _check_server_option("get_ps_context", attr_key)
    return _servers[attr_key]


def reset_ps_context() -> None:
    """Set the options of :func:`set_ps_context` back.

    >>> from mindgrad import context
    >>> context.reset_ps_context()
    """
    _servers.update(_PS_DEFAULTS)


def _check_server_option(function: str, name: str) -> None:
    if name not in _PS_DEFAULTS:
        raise ValueError(f"For '{function}', unknown option {name!r}.")
