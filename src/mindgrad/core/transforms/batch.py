"""Batching: transform a graph for one sample into a graph for a batch of samples.

    batch(G)(x)[b] = G(x[b])    for each index b of the batch; samples share inputs without a batch axis

If an equation depends on a batched value, the new graph applies the operator to operands with a batch axis.
For most operators, the batch axis becomes an additional parallel axis of the index map (``ir.index_map``).
Other operators have a ``batch`` rule. An operator that has neither an index map nor a ``batch`` rule raises
``TypeError``. An equation that does not depend on a batched value is unchanged and computed once for all
samples.

The new graph contains no loop over samples. It costs as much as G for each sample, except for the shared
equations. An out-of-range integer index into a batched value behaves as in ``primitives.indexing``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mindgrad.core.ir.build import Builder, building, current, pass_taint
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable
from mindgrad.core.ir.index_map import Labels, Relabeling, Uniform, index_map, relabeled
from mindgrad.core.ir.rules import Atoms, BatchAxes
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.batching import aligned, at_front, inserted, placed
from mindgrad.core.primitives.structural import transpose

__all__ = ["batch", "push_batch"]


def batch(graph: Graph, axes: BatchAxes, size: int) -> Graph:
    """Return a graph that applies ``graph`` to each sample of a batch.

    Args:
        graph: the graph for one sample.
        axes: position of the batch axis of each input; ``None`` for a shared input.
        size: number of samples.

    Returns:
        A graph whose inputs have the given batch axes. All outputs have a leading batch axis; an output that
        does not depend on a batched input is repeated along the axis.

    Raises:
        ValueError: If ``axes`` does not match the inputs.
        TypeError: If an operator that depends on a batched value has no batching rule.
    """
    if len(axes) != len(graph.inputs):
        raise ValueError(f"the graph has {len(graph.inputs)} inputs, but {len(axes)} batch axes were given.")
    builder = Builder()
    with building(builder):
        inputs = []
        for variable, axis in zip(graph.inputs, axes, strict=True):
            shape = variable.shape
            if axis is not None:
                if not 0 <= axis <= len(shape):
                    raise ValueError(
                        f"the batch axis of an input of type {variable.type} must be between 0 "
                        f"and {len(shape)}, but got {axis}."
                    )
                shape = inserted(shape, axis, size)
            inputs.append(builder.input(tensor_type(variable.dtype, shape), tainted=variable.tainted))
        outputs, places = push_batch(graph, inputs, axes, size)
        fronted = [at_front(size, y, place) for y, place in zip(outputs, places, strict=True)]
        return builder.close(fronted)


def push_batch(
    graph: Graph, inputs: Atoms, axes: BatchAxes, size: int
) -> tuple[list[Atom], list[int | None]]:
    """Emit the batched equations of ``graph`` into the current builder.

    Args:
        graph: the graph for one sample.
        inputs: variables or constants for the inputs, with their batch axes.
        axes: position of the batch axis of each input; ``None`` for a shared input.
        size: number of samples.

    Returns:
        The outputs, and for each output the position of its batch axis, or ``None`` if it has none.
    """
    values: dict[Atom, tuple[Atom, int | None]] = {
        variable: (atom, axis) for variable, atom, axis in zip(graph.inputs, inputs, axes, strict=True)
    }

    def read(atom: Atom) -> tuple[Atom, int | None]:
        return values[atom] if type(atom) is Variable else (atom, None)

    builder = current()
    outer = builder.source
    for equation in graph.equations:
        builder.source = outer if equation.source is None else equation.source
        operands = [read(atom) for atom in equation.inputs]
        batched = list(_batched(equation, [x for x, _ in operands], [axis for _, axis in operands], size))
        for old, (new, _) in zip(equation.outputs, batched, strict=True):
            pass_taint(old, new)
        values.update(zip(equation.outputs, batched, strict=True))
    builder.source = outer
    outputs = [read(atom) for atom in graph.outputs]
    return [y for y, _ in outputs], [axis for _, axis in outputs]


def _batched(
    equation: Equation, xs: list[Atom], at: list[int | None], size: int
) -> Iterable[tuple[Atom, int | None]]:
    """Emit ``equation`` for a batch of ``size`` samples.

    ``at`` contains the batch axis of each operand in ``xs``, or ``None`` if all samples share the operand.
    Return pairs ``(output, its batch axis)``.
    """
    primitive, parameters = equation.primitive, equation.parameters
    if all(axis is None for axis in at):
        y = primitive(*xs, **parameters)
        return [(each, None) for each in y] if primitive.multiple else [(y, None)]
    if primitive.batch is not None:
        y, places = primitive.batch(size, xs, at, **parameters)
        if not primitive.multiple:
            return [(y, places)]
        if places is None or isinstance(places, int):
            places = [places] * len(y)
        return list(zip(y, places, strict=True))
    if primitive.axes is not None:
        return _with_label(equation, xs, at, size)
    raise TypeError(
        f"the operator '{primitive.name}' cannot be batched: it has neither an index map ('axes') nor a "
        f"'batch' rule. Define one of them, or loop over the batch."
    )


def _with_label(
    equation: Equation, xs: list[Atom], at: list[int | None], size: int
) -> list[tuple[Atom, int | None]]:
    """Emit an operator on batched operands, with the batch axis as an additional axis.

    If the operator does not accept the batch axis in its current position, move the batch axis to the front
    of each operand. If it does not accept the axis there either, move the axis to the end.
    """
    primitive = equation.primitive
    axes = index_map(equation)
    assert axes is not None
    if isinstance(primitive.axes, Uniform):
        xs, axis = aligned(size, xs, at)
        at = [axis] * len(xs)
    label = 1 + max([each for labels in (*axes.operands, *axes.results) for each in labels], default=-1)

    def with_label() -> Relabeling | None:
        operands = [
            labels if axis is None else inserted(labels, axis, label)
            for labels, axis in zip(axes.operands, at, strict=True)
        ]
        results = [_behind(operands, label, labels) for labels in axes.results]
        return relabeled(equation, axes, operands, results, {label: size})

    form = with_label()
    for is_last in (False, True):
        if form is None:
            targets = [len(labels) if is_last else 0 for labels in axes.operands]
            xs, at = list(map(placed, [size] * len(xs), xs, at, targets)), list(targets)
            form = with_label()
    assert form is not None, (
        f"{primitive.name} accepts a batch axis neither as the first nor as the last axis"
    )
    results = primitive(*(xs[::-1] if form.swaps else xs), **form.parameters)
    results = results if primitive.multiple else [results]
    outputs: list[tuple[Atom, int | None]] = []
    for y, labels, old in zip(results, form.results, axes.results, strict=True):
        axis = labels.index(label)
        order = inserted(old, axis, label)
        outputs.append((transpose(y, permutation=tuple(map(labels.index, order))), axis))
    return outputs


def _behind(operands: Sequence[Labels], label: int, labels: Labels) -> Labels:
    """Return ``labels``, the axis labels of a result, with the batch label ``label``.

    Let a be the axis before the batch axis in the first operand that has a batch axis. The batch axis of the
    result comes directly after a. If a does not exist or is not an axis of the result, the batch axis becomes
    the first axis.
    """
    operand = next(each for each in operands if label in each)
    axis = operand.index(label)
    position = 1 + labels.index(operand[axis - 1]) if axis and operand[axis - 1] in labels else 0
    return inserted(labels, position, label)
