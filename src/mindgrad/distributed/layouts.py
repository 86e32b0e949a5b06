"""Layouts: how the arrays of a program are divided among the devices of a mesh.

Layouts are chosen when a program is compiled. If the program has a sharding constraint on an argument, the
first such constraint is the layout of the argument. Otherwise, ``Partition.data`` determines the layout. The
layout of a Parameter is the first of these that exists:

1. the layout that ``parameter_plan`` or an earlier program has set;
2. the first sharding constraint on the Parameter;
3. the layout of the Parameter from which it was cloned (an optimizer clones its moments from a weight);
4. a complete copy on every device.

The new value of a Parameter has the same layout as the old value, so that it can reuse the memory of the old
value. XLA's partitioner chooses the layouts of all other results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mindgrad.core.backend.xla import mesh_devices
from mindgrad.core.ir.graph import Equation, Graph, Variable, all_equations, communicates
from mindgrad.core.ir.index_map import UNIFORM
from mindgrad.distributed.device_mesh import (
    Placement,
    is_joint,
)
from mindgrad.distributed.partition import Allocation, Axes, Partition, current, leading, replicated, slices
from mindgrad.distributed.process_mesh import agree
from mindgrad.distributed.sharding_constraint import with_sharding

__all__ = [
    "LayoutFile", "partition_of", "placement_of",
    "set_layout_file", "set_layout_recorder", "stay",
]  # fmt: skip


class LayoutFile:
    """A file to which the layouts of Parameters are written.

    Attributes:
        path: name of the file.
        content: the ``Strategy`` that was last written to the file, or ``None`` before the first write.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.content: Any = None


_file: LayoutFile | None = None
#: function that writes layouts to a ``LayoutFile``. It imports ``strategy_file`` in its first call
_recorder: Callable[[LayoutFile, int, Iterable[tuple[Any, Axes]]], None] | None = None


def set_layout_recorder(recorder: Callable[[LayoutFile, int, Iterable[tuple[Any, Axes]]], None]) -> None:
    """Set the function that writes layouts.

    The function is called as ``recorder(file, devices, layouts)``.
    """
    global _recorder
    _recorder = recorder


def set_layout_file(path: str) -> None:
    """Write the layouts of Parameters to the file ``path`` at each compilation.

    If ``path`` is the empty string, no file is written any more.
    """
    global _file
    _file = LayoutFile(path) if path else None


def partition_of(graph: Graph) -> Partition | None:
    """Return the partition for compiling ``graph``, or ``None`` for one device.

    If no partition is set, the sharding constraints in ``graph`` determine the number of devices.
    """
    partition = current()
    if partition is None:
        devices = _constrained_devices(graph)
        return None if devices is None else Partition(devices)
    return partition


def _constrained_devices(graph: Graph) -> int | None:
    constraints = (
        equation for equation in all_equations(graph.equations) if equation.primitive is with_sharding
    )
    return next((int(constraint.parameters["devices"]) for constraint in constraints), None)


def placement_of(
    graph: Graph, partition: Partition, parameters: Sequence[Any], written: Sequence[Any]
) -> Placement:
    """Choose the devices of a program, and the layouts of its inputs and results.

    Args:
        graph: the program. Its last inputs are Parameters, and its first outputs are new values of
            Parameters.
        partition: number of devices, and the rule that divides arguments among them.
        parameters: the Parameters that the program reads.
        written: the Parameters that the program writes.

    Raises:
        ValueError: If there are too few devices, or the partition does not divide an argument evenly.
        RuntimeError: If the program contains collectives of processes, if the partition does not define
            whether the processes pass different arguments, or if the processes trace different programs.
    """
    if communicates(graph):
        raise RuntimeError(
            "a compiled function is divided among devices and also contains collectives of processes. "
            "Remove the collectives, because XLA inserts the communication for the division, or do not "
            "divide the function among devices."
        )
    devices = mesh_devices(partition.devices)
    is_local = not is_joint(devices)
    if not is_local:
        if partition.data == "free":
            raise RuntimeError(
                "a compiled function is divided among the devices of several processes, but it is not known "
                "whether the processes pass different samples or the same arguments. Choose a parallel_mode "
                "with set_auto_parallel_context. If all processes pass the same arguments, also pass "
                "full_batch=True."
            )
        agree(graph)
    constraints = _constraints(graph)
    count = len(graph.inputs) - len(parameters)
    # each process passes different samples. If a constraint requires a different layout, the compiled
    # function moves the samples
    of_arguments = {} if partition.data == "rows" and not is_local else constraints
    inputs = _of_arguments(graph.inputs[:count], of_arguments, partition)
    symbols = dict(zip(map(id, parameters), graph.inputs[count:], strict=True))
    inputs += [_of_parameter(parameter, symbols, constraints, partition) for parameter in parameters]
    # with several processes, each process gets the complete results, so that it can read them
    outputs = [None if is_local else replicated(len(y.shape)) for y in graph.outputs]
    for k, parameter in enumerate(written):
        axes = _of_parameter(parameter, symbols, constraints, partition)
        if parameter.shape == graph.outputs[k].shape:
            outputs[k] = axes
    return Placement(devices, inputs, outputs)


def _constraints(graph: Graph) -> dict[Any, Axes]:
    """Return the layout of the first sharding constraint on each input.

    A constraint on a conversion or a similar copy of an input counts as a constraint on the input.
    """
    origin: dict[Any, Any] = {v: v for v in graph.inputs}
    constraints: dict[Any, Axes] = {}
    for equation in graph.equations:
        operand = equation.inputs[0] if equation.inputs else None
        if type(operand) is not Variable or operand not in origin:
            continue
        if equation.primitive is with_sharding:
            axes = tuple(entry or () for entry in equation.parameters["axes"])
            constraints.setdefault(origin[operand], axes)
        elif _leaves_in_place(equation):
            origin[equation.outputs[0]] = origin[operand]
    return constraints


def _leaves_in_place(equation: Equation) -> bool:
    """Return whether an equation is linear, elementwise, and has one operand.

    An example is a cast.
    """
    primitive = equation.primitive
    return primitive.is_linear and primitive.axes is UNIFORM and len(equation.inputs) == 1


def _of_arguments(
    symbols: Sequence[Variable], constraints: dict[Any, Axes], partition: Partition
) -> list[Axes | None]:
    data = partition.data
    if not isinstance(data, str) and len(data) == len(symbols):
        return [
            _by_strategy(k, symbol.shape, strategy, partition.devices, constraints.get(symbol))
            for k, (symbol, strategy) in enumerate(zip(symbols, data, strict=True))
        ]
    layouts: list[Axes | None] = []
    for symbol in symbols:
        undivided = replicated(len(symbol.shape))
        if symbol in constraints:
            layouts.append(constraints[symbol])
        elif data == "rows":
            rows = leading(partition.devices, symbol.shape[:1], undivided[:1])
            layouts.append((*rows, *undivided[1:]))
        else:
            layouts.append(undivided if data == "whole" else None)
    return layouts


def _by_strategy(
    number: int, shape: Sequence[int], strategy: Any, devices: int, constraint: Axes | None
) -> Axes:
    """Return the layout of an argument from its entry of ``dataset_strategy``.

    The entry ``strategy`` is a tuple with the number of slices of each axis, or an object with a method
    ``axes()``.
    """
    if isinstance(strategy, tuple):
        if constraint is not None and strategy == tuple(slices(devices, entry) for entry in constraint):
            return constraint  # the constraint has the same numbers of slices, and also names the mesh axes
        allocation = Allocation(devices)
        axes = tuple(allocation.take(count) for count in strategy)
    else:
        axes = strategy.axes()
    parts = [slices(devices, entry) for entry in axes]
    if None in axes or len(axes) != len(shape) or any(n % k for n, k in zip(shape, parts, strict=True)):
        raise ValueError(
            f"For 'dataset_strategy', the strategy {strategy} does not divide argument {number} of shape "
            f"{tuple(shape)} into equal slices on {devices} devices."
        )
    return axes


def _of_parameter(
    parameter: Any, symbols: dict[int, Variable], constraints: dict[Any, Axes], partition: Partition
) -> Axes:
    rank = len(parameter.shape)
    own = parameter.layout
    if own is not None and own[0] == partition.devices and len(own[1]) == rank:
        return own[1]
    symbol = symbols.get(id(parameter))
    axes = None if symbol is None else constraints.get(symbol)
    if axes is None:
        origin = parameter.origin
        axes = replicated(rank)
        if origin is not None and origin.shape == parameter.shape:
            axes = _of_parameter(origin, symbols, constraints, partition)
            if partition.splits_state and origin.parallel_optimizer:
                axes = leading(partition.devices, parameter.shape, axes)
    return axes


def stay(placement: Placement, parameters: Sequence[Any], written: Sequence[Any]) -> None:
    """Store the layouts of a program's Parameters in the Parameters.

    Later programs use these layouts, so that the arrays of Parameters stay on their devices between calls.
    """
    inputs = placement.inputs[len(placement.inputs) - len(parameters) :]
    layouts = [
        (parameter, axes)
        for parameter, axes in [
            *zip(parameters, inputs, strict=True),
            *zip(written, placement.outputs, strict=False),
        ]
        if axes is not None
    ]
    for parameter, axes in layouts:
        if any(axes):
            parameter.layout = (len(placement.devices), axes)
    if _file is not None and _recorder is not None:
        _recorder(_file, len(placement.devices), layouts)
