"""Convert sharding strategies of operators to layouts on the device mesh.

A strategy is the number of slices of each axis of a tensor::

    strategy (2, 1, 4)        axis 0 in 2 slices, axis 1 whole, axis 2 in 4; each of 8 devices has one of 8

Some axes of different tensors must be divided in the same way: the rows of the left matrix and of the
product, or axes that broadcast together. In this module, such axes have the same name, and the same axes of
the mesh divide them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.scope import GraphScope, apply, innermost
from mindgrad.core.ir.tensor import Tensor
from mindgrad.distributed.partition import Allocation, Axes, Partition, current, slices
from mindgrad.distributed.sharding_constraint import with_sharding
from mindgrad.ops.operands import operand
from mindgrad.ops.tensor_layout import Layout

__all__ = ["check_strategies", "constrained", "layouts_of", "run_with_strategies", "strategy_axes"]


def check_strategies(owner: str, argument: str, strategies: Any) -> None:
    """Check the form of strategies before the shapes of the tensors are known.

    Raises:
        TypeError: If ``strategies`` is not a tuple of tuples of ints, Layouts and ``None``.
        ValueError: If a number of slices is not positive.
    """
    if strategies is None:
        return
    if not isinstance(strategies, tuple):
        raise TypeError(
            f"For '{owner}', the '{argument}' must be a tuple with a tuple of ints or a Layout for each "
            f"tensor, but got {strategies!r}."
        )
    for strategy in strategies:
        if strategy is None or isinstance(strategy, Layout):
            continue
        if not isinstance(strategy, tuple) or not all(type(count) is int for count in strategy):
            raise TypeError(
                f"For '{owner}', the '{argument}' must contain tuples of ints or Layouts, one for each "
                f"tensor, but got {strategy!r} in {strategies!r}."
            )
        if min(strategy, default=1) < 1:
            raise ValueError(f"For '{owner}', each number of slices must be positive, but got {strategy}.")


def strategy_axes(owner: str, name: str, strategy: Any, shape: Sequence[int], devices: int) -> Axes:
    """Return the layout of a single tensor.

    Args:
        owner: name of the sharded function in errors.
        name: name of the tensor in errors.
        strategy: tuple with the number of slices of each axis, or a Layout.
        shape: shape of the tensor.
        devices: number of devices.

    Raises:
        ValueError: If the strategy does not match the shape or the number of devices.
    """
    letters = [(name, axis) for axis in range(len(shape))]
    return layouts_of(owner, [name], [strategy], [shape], [letters], devices)[0] or ()


def layouts_of(
    owner: str,
    names: Sequence[str],
    strategies: Sequence[Any],
    shapes: Sequence[Sequence[int]],
    letters: Sequence[Sequence[Any]],
    devices: int,
) -> list[Axes | None]:
    """Return the layouts of tensors that share axes; ``None`` without a strategy.

    ``letters`` names the axes of each tensor. Axes with the same letter are divided in the same way.

    Raises:
        ValueError: If a strategy does not match the shape, the other strategies, or the number of devices.
    """
    by_letter: dict[Any, tuple[int, ...]] = {}
    for name, strategy, shape in zip(names, strategies, shapes, strict=True):
        if strategy is not None:
            _check_shape(owner, name, strategy, shape, devices)
    for strategy, own in zip(strategies, letters, strict=True):
        if isinstance(strategy, Layout):
            for letter, axes in zip(own, strategy.axes(), strict=True):
                by_letter.setdefault(letter, axes or ())
    allocation = Allocation(devices, [axis for axes in by_letter.values() for axis in axes])
    for name, strategy, shape, own in zip(names, strategies, shapes, letters, strict=True):
        if strategy is None or isinstance(strategy, Layout):
            continue
        for letter, count, size in zip(own, strategy, shape, strict=True):
            if letter in by_letter:
                if size > 1 and slices(devices, by_letter[letter]) != count:
                    raise ValueError(
                        f"For '{owner}', the strategy {strategy} of {name} of shape {tuple(shape)} divides "
                        f"an axis into {count} slices, but another tensor of the operator divides the same "
                        f"axis into {slices(devices, by_letter[letter])} slices."
                    )
            elif size > 1 or count > 1:
                axes = allocation.take(count)
                if axes is None:
                    raise ValueError(
                        f"For '{owner}', the strategies {tuple(strategies)} need more devices than are "
                        "available: the product of the numbers of slices must divide the number of "
                        f"devices, {devices}."
                    )
                by_letter[letter] = axes
    return [
        None
        if strategy is None
        else strategy.axes()
        if isinstance(strategy, Layout)
        else tuple(
            by_letter.get(letter, ()) if size > 1 else () for letter, size in zip(own, shape, strict=True)
        )
        for strategy, own, shape in zip(strategies, letters, shapes, strict=True)
    ]


def _check_shape(owner: str, name: str, strategy: Any, shape: Sequence[int], devices: int) -> None:
    parts = strategy.slices() if isinstance(strategy, Layout) else strategy
    if isinstance(strategy, Layout) and strategy.devices != devices:
        raise ValueError(
            f"For '{owner}', {strategy} of {name} is for {strategy.devices} devices, but compiled "
            f"functions are divided among {devices}. Make the numbers equal: "
            "set_auto_parallel_context(device_num=...)."
        )
    if len(parts) != len(shape):
        raise ValueError(
            f"For '{owner}', the strategy {strategy} of {name} must have an entry for each axis of its shape "
            f"{tuple(shape)}."
        )
    for axis, (count, size) in enumerate(zip(parts, shape, strict=True)):
        if size % count:
            raise ValueError(
                f"For '{owner}', the strategy {strategy} divides axis {axis} of {name} of shape "
                f"{tuple(shape)} into {count} slices, but {size} is not divisible by {count}."
            )


def constrained(x: Any, axes: Axes | None, devices: int) -> Any:
    """Give ``x`` a layout in a compiled function; in eager mode, return ``x``."""
    if axes is None or not isinstance(innermost(), GraphScope):
        return x
    tensor = operand(x, "shard")
    return apply(with_sharding, tensor, devices=devices, axes=axes) if tensor.is_traced else x


# --- strategies of operators and of single tensors ------------------------------------------------------


def run_with_strategies(operation: Any, run: Any, inputs: tuple[Any, ...]) -> Any:
    """Run an operator on inputs with the layouts of its strategies.

    Args:
        operation: the operator.
        run: ``run(*inputs)`` computes the result.
        inputs: inputs of the operator.

    Raises:
        ValueError: If the strategies do not match the inputs or the number of devices.
    """
    partition = current()
    in_strategy, out_strategy = operation.strategies
    if partition is None:
        return run(*inputs)
    owner = f"{operation.name}.shard"
    leaves, structure = flatten(inputs)
    positions = [k for k, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    numbers = [k for k, leaf in enumerate(leaves) if isinstance(leaf, (int, float, complex))]
    # MindSpore programs may list an empty strategy () for each Python number. Drop these strategies
    if in_strategy is not None and len(in_strategy) == len(positions) + len(numbers):
        in_strategy = [
            s for s, k in zip(in_strategy, sorted(positions + numbers), strict=True) if k in positions
        ]
    shapes = [leaves[k].shape for k in positions]
    letters, of_result = _letters(operation, shapes)
    result_axes: Axes | None = None
    if in_strategy is not None:
        strategies = _for_each(owner, "in_strategy", in_strategy, len(positions))
        names = [f"input {k}" for k in range(len(positions))]
        layouts = layouts_of(owner, names, strategies, shapes, letters, partition.devices)
        for k, axes in zip(positions, layouts, strict=True):
            leaves[k] = constrained(leaves[k], axes, partition.devices)
        if of_result is not None and None not in layouts:
            by_letter = {
                letter: axes
                for own, of in zip(letters, layouts, strict=True)
                for letter, axes in zip(own, of or (), strict=True)
            }
            result_axes = tuple(by_letter[letter] for letter in of_result)
    result = run(*unflatten(structure, leaves))
    if out_strategy is not None:
        return constrain_results(owner, result, out_strategy, partition)
    if result_axes is not None and isinstance(result, Tensor):
        return constrained(result, result_axes, partition.devices)
    return result


def _for_each(owner: str, argument: str, strategies: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    if len(strategies) != count:
        raise ValueError(
            f"For '{owner}', the '{argument}' must have an entry for each of {count} tensors, but got "
            f"{strategies}."
        )
    return strategies


def constrain_results(owner: str, results: Any, strategies: tuple[Any, ...], partition: Partition) -> Any:
    """Give each tensor in ``results`` the layout of its strategy."""
    return constrain_tensors(owner, "out_strategy", "result", results, strategies, partition)


def constrain_tensors(
    owner: str, argument: str, word: str, values: Any, strategies: tuple[Any, ...], partition: Partition
) -> Any:
    """Give each tensor in ``values`` the layout of its strategy.

    Raises:
        ValueError: If the number of strategies and of tensors differ, or a strategy does not match.
    """
    leaves, structure = flatten(values)
    positions = [k for k, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    _for_each(owner, argument, strategies, len(positions))
    for number, (k, strategy) in enumerate(zip(positions, strategies, strict=True)):
        if strategy is not None:
            axes = strategy_axes(owner, f"{word} {number}", strategy, leaves[k].shape, partition.devices)
            leaves[k] = constrained(leaves[k], axes, partition.devices)
    return unflatten(structure, leaves)


def _letters(operation: Any, shapes: Sequence[Sequence[int]]) -> tuple[list[list[Any]], list[Any] | None]:
    """Name the axes of the operands and, for a matrix product, of the result.

    Axes that must be divided in the same way have the same name. The second value is ``None`` for other
    operators.
    """
    name = operation.name
    if name in ("MatMul", "BatchMatMul") and len(shapes) == 2 and min(map(len, shapes)) >= 2:
        # number the axes from the right, because batch axes are broadcast
        a, b = [[len(shape) - k for k in range(len(shape))] for shape in shapes]
        a[-2:], b[-2:] = ["m", "k"], ["k", "n"]  # type: ignore[list-item]
        if operation.transpose_a:
            a[-2:] = a[:-3:-1]
        if operation.transpose_b:
            b[-2:] = b[:-3:-1]
        batch = max(a[:-2], b[:-2], key=len)
        return [a, b], [*batch, "m", "n"]
    if name == "BiasAdd" and len(shapes) == 2:
        return [[*range(len(shapes[0]))], [1]], None
    if _broadcasts(shapes):
        return [[len(shape) - k for k in range(len(shape))] for shape in shapes], None
    return [[(number, k) for k in range(len(shape))] for number, shape in enumerate(shapes)], None


def _broadcasts(shapes: Sequence[Sequence[int]]) -> bool:
    for number in range(1, 1 + max(map(len, shapes), default=0)):
        sizes = {shape[-number] for shape in shapes if len(shape) >= number}
        if len(sizes - {1}) > 1:
            return False
    return True
