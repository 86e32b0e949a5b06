"""Automatic parallelism: partition a network over the devices of a process."""

from __future__ import annotations

from typing import Any, NoReturn

from mindgrad._base.checks import of_type, one_of
from mindgrad.core.ir.scope import open_scopes
from mindgrad.distributed.partition import Partition, current, in_force
from mindgrad.distributed.partition_options import data_rule
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.nn.cell import Cell
from mindgrad.ops.strategies import constrain_tensors

__all__ = ["AutoParallel"]

_MODES = ("semi_auto", "sharding_propagation", "recursive_programming")


class AutoParallel(Cell):
    """A network that XLA partitions over all devices that JAX finds.

    XLA's partitioner respects strategies of operators (``ops.MatMul().shard``), Cells, and Parameters. It
    partitions all other operators to match and inserts the communication. The call is compiled in both modes.
    With one device, the network is called directly.

    Args:
        network (Cell): network to partition. For training, pass a Cell that computes loss, gradient, and
            update.
        parallel_mode (str, optional): ``"semi_auto"``, ``"sharding_propagation"``, or
            ``"recursive_programming"``. XLA propagates layouts in all modes, and does not search for
            strategies. In the last two modes, arguments without a :meth:`dataset_strategy` are divided along
            their first axis. Default: ``"semi_auto"``.

    Inputs:
        The arguments of ``network``.

    Outputs:
        The result of ``network``.

    Raises:
        TypeError: If ``network`` is not a Cell.
        ValueError: If ``parallel_mode`` is not a supported mode.

    >>> from mindgrad import Tensor, nn
    >>> from mindgrad.parallel.auto_parallel import AutoParallel
    >>> net = AutoParallel(nn.ReLU(), "semi_auto")
    >>> net.full_batch = True
    >>> print(net(Tensor([-1.0, 2.0])))
    [0. 2.]
    """

    def __init__(self, network: Cell, parallel_mode: str = "semi_auto") -> None:
        super().__init__(auto_prefix=False)
        of_type(network, Cell, "AutoParallel", "network")
        one_of(parallel_mode, _MODES, "AutoParallel", "parallel_mode")
        self.network = network
        self.full_batch = self.gradients_mean = self.gradient_fp32_sync = False
        self._data: Any = "free" if parallel_mode == "semi_auto" else "data_parallel"
        self._splits_state = False
        object.__setattr__(self, "_divided", Compiled(self._call))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with in_force(self._partition()):
            if open_scopes() or current() is None:
                return super().__call__(*args, **kwargs)
            return self._divided(*args, **kwargs)

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        return super().__call__(*args, **kwargs)

    def _partition(self) -> Partition:
        data = "full_batch" if self.full_batch else self._data
        return Partition(data=data if data == "free" else data_rule(data), splits_state=self._splits_state)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        partition = current()
        if partition is not None and isinstance(self._data, tuple):
            args = constrain_tensors("dataset_strategy", "config", "argument", args, self._data, partition)
        return self.network(*args, **kwargs)

    def dataset_strategy(self, config: Any) -> None:
        """Set how arguments are divided among devices.

        Args:
            config (str or tuple): ``"data_parallel"`` divides arguments along the first axis if it is
                divisible. ``"full_batch"`` does not divide arguments. A tuple contains a strategy for each
                argument: the number of slices along each axis, or a Layout.

        Raises:
            TypeError, ValueError: If ``config`` is neither a supported string nor a tuple of strategies.
        """
        data_rule(config)
        self._data = config

    def hsdp(self, shard_size: int = -1, threshold: int = 64, optimizer_level: str = "level1") -> None:
        """Divide the state of optimizers among devices.

        Each moment is divided along its first divisible axis.

        Args:
            shard_size (int, optional): must be -1, which means all devices. Default: ``-1``.
            threshold (int, optional): accepted for compatibility; small states are divided, too. Default:
                ``64``.
            optimizer_level (str, optional): must be ``"level1"``, which does not divide Parameters. Default:
                ``"level1"``.

        Raises:
            ValueError: If ``shard_size`` or ``optimizer_level`` is not supported.
        """
        if shard_size != -1:
            raise ValueError(f"For 'hsdp', the 'shard_size' must be -1, all devices, but got {shard_size!r}.")
        if optimizer_level != "level1":
            raise ValueError(
                f"For 'hsdp', the 'optimizer_level' must be 'level1', but got {optimizer_level!r}. To "
                f"divide Parameters, pass a 'parameter_plan' to Cell.shard."
            )
        self._splits_state = True

    def pipeline(self, stages: int = 1, *_: Any, **__: Any) -> None:
        """Accept a single stage.

        Raises:
            ValueError: If ``stages`` is not 1. The network cannot be divided into stages.
        """
        if stages != 1:
            raise ValueError(
                f"For 'pipeline', the 'stages' must be 1, but got {stages!r}. Divide tensors with "
                f"'shard' instead."
            )


def _accept(self: AutoParallel, *args: Any, **kwargs: Any) -> None:
    """Do nothing; accepted for compatibility."""


def _refusal(name: str, instead: str) -> Any:
    def refuse(self: AutoParallel, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise an error, because this method of MindSpore is not supported.

        Raises:
            NotImplementedError: Always.
        """
        raise NotImplementedError(f"For 'AutoParallel', '{name}' is not supported. {instead}")

    return refuse


for _name in [
    "comm_fusion",
    "disable_strategy_file_only_for_trainable_params",
    "dump_local_norm",
    "enable_fp32_communication",
    "enable_gradients_mean",
    "no_init_parameters_in_compile",
    "print_local_norm",
    "save_operator_strategy_file",
    "save_param_strategy_file",
    "set_group_ckpt_save_file",
    "transformer_opt",
]:
    setattr(AutoParallel, _name, _accept)

for _name in ["load_operator_strategy_file", "load_param_strategy_file"]:
    setattr(AutoParallel, _name, _refusal(_name, "Write strategies in the source code, with 'shard'."))
