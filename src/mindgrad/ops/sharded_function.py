"""Functions whose arguments, results, and Parameters are divided among devices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from mindgrad._base.shared_docs import with_sections
from mindgrad.api.jit import JitFunction
from mindgrad.core.ir.scope import open_scopes
from mindgrad.distributed.partition import current
from mindgrad.ops.strategies import check_strategies, constrain_results, constrain_tensors, strategy_axes
from mindgrad.ops.tensor_layout import Layout

__all__ = ["Sharded", "shard"]


class _WhileDivided:
    """Descriptor of ``compiles``: true while functions are divided among devices."""

    def __get__(self, instance: object, owner: type) -> bool:
        return current() is not None


class Sharded(JitFunction):
    """A function or Cell whose arguments and results have layouts.

    On one device, a ``Sharded`` object only calls the function.

    Args:
        function: the function.
        in_strategy: for each tensor among the arguments, a tuple with the number of slices of each axis, a
            Layout, or ``None``.
        out_strategy: strategies of the results, in the form of ``in_strategy``. ``None`` lets the partitioner
            choose.
        parameter_plan: layouts of Parameters by name.
    """

    compiles = _WhileDivided()  # type: ignore[assignment]
    compared_by = ("_plain", "_in_strategy", "_out_strategy")  # type: ignore[assignment]

    def __init__(
        self, function: Callable[..., Any], in_strategy: Any, out_strategy: Any, parameter_plan: Any
    ) -> None:
        self._plain = function
        self._in_strategy, self._out_strategy = in_strategy, out_strategy
        self._parameters = _planned(function, parameter_plan)
        super().__init__(function)
        self._compiled = type(self._compiled)(self._constrained)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current() is None:
            return self._plain(*args, **kwargs)
        self._place_parameters()
        if open_scopes():
            return self._constrained(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else functools.partial(self, owner)

    def _constrained(self, *args: Any, **kwargs: Any) -> Any:
        partition = current()
        if partition is None:
            return self._plain(*args, **kwargs)
        if self._in_strategy is not None:
            args, kwargs = constrain_tensors(
                "shard", "in_strategy", "argument", (args, kwargs), self._in_strategy, partition
            )
        results = self._plain(*args, **kwargs)
        if self._out_strategy is None:
            return results
        return constrain_results("shard", results, self._out_strategy, partition)

    def _place_parameters(self) -> None:
        partition = current()
        if partition is None:
            return
        for name, parameter, strategy in self._parameters:
            axes = strategy_axes("shard", f"Parameter '{name}'", strategy, parameter.shape, partition.devices)
            parameter.layout = (partition.devices, axes)


@with_sections
def shard(
    fn: Callable[..., Any], in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None
) -> Sharded:
    """Shard the tensors of a function over the devices.

    XLA's partitioner divides the computation and inserts the communication. Values and derivatives of
    every order are the same as on one device. Functions are divided after ``set_auto_parallel_context`` or
    inside :class:`mindgrad.parallel.AutoParallel`; otherwise they run on one device, and strategies have no
    effect. A divided function is compiled in both modes.

    Args:
        fn (callable or Cell): function whose tensors are sharded.
        in_strategy (tuple): for each tensor among the arguments, a tuple with the number of
            slices of each axis, a :class:`Layout`, or ``None`` to let the partitioner choose.
        out_strategy (tuple or None): strategies of the tensors of the result, in the form of ``in_strategy``.
            ``None`` lets the partitioner choose.
        parameter_plan (dict or None): dict that maps names of the Cell's Parameters (``"self.dense.weight"``
            or ``"dense.weight"``) to strategies, which are tuples of numbers of slices, or Layouts. The
            Parameters stay sharded between calls.

    Returns:
        Callable with the same arguments as ``fn``.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If a number of slices is not positive, or a name in ``parameter_plan`` is not the name of
            a Parameter. In a call: if the size of an axis is not divisible by its number of slices, or the
            number of devices by the number of all slices.

    >>> from mindgrad import Tensor, ops
    >>> from mindgrad.parallel import shard
    >>> print(shard(ops.relu, in_strategy=((1,),))(Tensor([-1.0, 2.0])))
    [0. 2.]
    """
    if not callable(fn):
        raise TypeError(f"For 'shard', the 'fn' must be a function or Cell, but got {type(fn).__name__}.")
    check_strategies("shard", "in_strategy", in_strategy)
    check_strategies("shard", "out_strategy", out_strategy)
    return Sharded(fn, in_strategy, out_strategy, parameter_plan)


def _planned(function: Any, plan: Any) -> list[tuple[str, Any, Any]]:
    if plan is None:
        return []
    if not isinstance(plan, Mapping) or not all(isinstance(name, str) for name in plan):
        raise TypeError(
            f"For 'shard', the 'parameter_plan' must be a dict whose keys are Parameter names, but got "
            f"{plan!r}."
        )
    cell = getattr(function, "__self__", function)
    if not hasattr(cell, "parameters_and_names"):
        raise TypeError(
            f"For 'shard', the 'parameter_plan' is for a Cell, but 'fn' is a {type(function).__name__}."
        )
    by_path = dict(cell.parameters_and_names())
    by_name = {parameter.name: parameter for parameter in by_path.values()}
    planned = []
    for name, strategy in plan.items():
        path = name.removeprefix("self.")
        parameter = by_path[path] if path in by_path else by_name.get(path)
        if parameter is None:
            raise ValueError(
                f"For 'shard', the 'parameter_plan' names {name!r}, but the Parameters are "
                f"{', '.join(by_path)}."
            )
        check_strategies("shard", "parameter_plan", (strategy,))
        if not isinstance(strategy, (tuple, Layout)):
            raise TypeError(f"For 'shard', the plan of {name!r} must be a tuple of ints or a Layout.")
        planned.append((path, parameter, strategy))
    return planned
