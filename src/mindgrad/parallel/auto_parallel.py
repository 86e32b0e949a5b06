"""Automatic parallelism divides the program of a net among the devices of this process."""

from __future__ import annotations

from typing import Any, NoReturn

from mindgrad._base.checks import of_type
from mindgrad.execution.compiled import Compiled
from mindgrad.execution.partition_options import data_rule
from mindgrad.ir.partition import Partition, current, in_force
from mindgrad.ir.scope import open_scopes
from mindgrad.nn.cell import Cell
from mindgrad.ops.strategies import constrain_tensors

__all__ = ["AutoParallel"]

_MODES = ("semi_auto", "sharding_propagation", "recursive_programming")


class AutoParallel(Cell):
    """A net whose program is divided among all devices that jax sees; with one device it is called as it is.

    Strategies of operators (``ops.MatMul().shard``), Cells and Parameters are respected, XLA's partitioner
    divides the others to fit, and inserts the communication. The call is compiled in both modes.

    Args:
        network (Cell): a Cell; for training one that computes loss, gradient and update.
        parallel_mode (str, optional): one of ``"semi_auto"``, ``"sharding_propagation"``,
            ``"recursive_programming"``. XLA propagates layouts in each of them; in the last two, arguments
            are divided along their first axis where :meth:`dataset_strategy` does not say otherwise. There is
            no search for strategies. Default: ``"semi_auto"``.

    Inputs:
        Those of ``network``.

    Outputs:
        Those of ``network``.

    Raises:
        TypeError: If ``network`` is not a Cell.
        ValueError: If ``parallel_mode`` is another.

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
        if parallel_mode not in _MODES:
            raise ValueError(
                f"For 'AutoParallel', the 'parallel_mode' must be one of {', '.join(_MODES)}, but got "
                f"{parallel_mode!r}."
            )
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
        """Say how arguments are divided.

        Args:
            config: ``"data_parallel"``: along the first axis where that is divisible; ``"full_batch"``: not;
                or a tuple with a strategy, numbers of slices or a Layout, for each argument.

        Raises:
            TypeError, ValueError: If ``config`` is none of these.
        """
        data_rule(config)
        self._data = config

    def hsdp(self, shard_size: int = -1, threshold: int = 64, optimizer_level: str = "level1") -> None:
        """Divide the state of optimizers among devices as well: each moment along its first divisible axis.

        Args:
            shard_size (int, optional): −1: among all devices. Default: ``-1``.
            threshold (int, optional): changes nothing here: small states are divided too. Default: ``64``.
            optimizer_level (str, optional): ``"level1"``: Parameters stay as they are. Default: ``"level1"``.

        Raises:
            ValueError: If ``shard_size`` or ``optimizer_level`` is not supported.
        """
        if shard_size != -1:
            raise ValueError(f"For 'hsdp', the 'shard_size' must be -1, all devices, but got {shard_size!r}.")
        if optimizer_level != "level1":
            raise ValueError(
                f"For 'hsdp', the 'optimizer_level' must be 'level1', but got {optimizer_level!r}. To "
                f"divide Parameters, "
                f"give a 'parameter_plan' to Cell.shard."
            )
        self._splits_state = True

    def pipeline(self, stages: int = 1, *_: Any, **__: Any) -> None:
        """Accept one stage.

        Raises:
            ValueError: If there are more: the net is not divided into stages.
        """
        if stages != 1:
            raise ValueError(
                f"For 'pipeline', the 'stages' must be 1, but got {stages!r}: divide tensors instead, "
                f"with 'shard'."
            )


def _accept(self: AutoParallel, *args: Any, **kwargs: Any) -> None:
    """Accepted for compatibility; it has no effect."""


def _refusal(name: str, instead: str) -> Any:
    def refuse(self: AutoParallel, *args: Any, **kwargs: Any) -> NoReturn:
        """Not supported.

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
    setattr(AutoParallel, _name, _refusal(_name, "Write strategies in the program, with 'shard'."))
