"""The Cell with which MindSpore divides a net among processes: of one process the net itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.nn.cell import Cell

__all__ = ["AutoParallel", "shard"]

_MODES = ("semi_auto", "sharding_propagation", "recursive_programming")


class AutoParallel(Cell):
    """A net that MindSpore would divide among processes; with one process it is called as it is.

    Args:
        network: a Cell.
        parallel_mode: one of ``"semi_auto"``, ``"sharding_propagation"``, ``"recursive_programming"``.

    Inputs:
        Those of ``network``.

    Outputs:
        Those of ``network``.

    Raises:
        TypeError: ``network`` is no Cell.
        ValueError: ``parallel_mode`` is another.

    >>> from mindgrad import Tensor, nn
    >>> from mindgrad.parallel.auto_parallel import AutoParallel
    >>> net = AutoParallel(nn.ReLU(), "semi_auto")
    >>> net.full_batch = True
    >>> print(net(Tensor([-1.0, 2.0])))
    [0. 2.]
    """

    def __init__(self, network: Cell, parallel_mode: str = "semi_auto") -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(network, Cell):
            raise TypeError(
                f"For 'AutoParallel', the 'network' must be a Cell, but got {type(network).__name__}."
            )
        if parallel_mode not in _MODES:
            raise ValueError(
                f"For 'AutoParallel', the 'parallel_mode' must be one of {', '.join(_MODES)}, but got "
                f"{parallel_mode!r}."
            )
        self.network = network
        self.full_batch = self.gradients_mean = self.gradient_fp32_sync = False

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """See the class."""
        return self.network(*args, **kwargs)


def _accept(self: AutoParallel, *args: Any, **kwargs: Any) -> None:
    """Accepted for compatibility: with one process it changes nothing."""


for _name in [
    "comm_fusion",
    "dataset_strategy",
    "disable_strategy_file_only_for_trainable_params",
    "dump_local_norm",
    "enable_fp32_communication",
    "enable_gradients_mean",
    "hsdp",
    "load_operator_strategy_file",
    "load_param_strategy_file",
    "no_init_parameters_in_compile",
    "pipeline",
    "print_local_norm",
    "save_operator_strategy_file",
    "save_param_strategy_file",
    "set_group_ckpt_save_file",
    "transformer_opt",
]:
    setattr(AutoParallel, _name, _accept)


def shard(
    fn: Callable[..., Any], in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None
) -> Callable[..., Any]:
    """``fn`` itself: with one process there is nothing to divide its tensors among.

    Args:
        fn: a function or Cell.
        in_strategy, out_strategy, parameter_plan: accepted for compatibility.

    >>> from mindgrad import Tensor, ops
    >>> from mindgrad.parallel import shard
    >>> print(shard(ops.relu, in_strategy=((1,),))(Tensor([-1.0, 2.0])))
    [0. 2.]
    """
    return fn
