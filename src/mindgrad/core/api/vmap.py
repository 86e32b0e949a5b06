"""``vmap``: map a function over an axis of its arguments.

    vmap(f)(x)[i] = f(x[i])

The function is traced once, on symbols for one batch element. Its graph is then converted to a graph of the
whole batch (``transforms.batch``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Never

import numpy as np

from mindgrad.core.api.arguments import check_call
from mindgrad.core.api.axes import check_axes, leaf_axes, position, size_of
from mindgrad.core.api.axes import mapped as has_axes
from mindgrad.core.base.tree import flatten, map_leaves, unflatten
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.evaluate import inline_here
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.rewriting import is_rewriting
from mindgrad.core.ir.scope import innermost, lifted, outermost_program
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.passes.derivative_fusion import fuse_derivatives
from mindgrad.core.primitives.batching import placed
from mindgrad.core.trace import frontend, references
from mindgrad.core.trace.closed_program import trace
from mindgrad.core.trace.numbers import as_python
from mindgrad.core.transforms.batch import push_batch

__all__ = ["batched", "vmap"]


def vmap(
    function: Callable[..., object], in_axes: object = 0, out_axes: object = 0, **unknown: Never
) -> Callable[..., Any]:
    """Return a function that applies ``function`` to each element of a batch.

    Args:
        function: function of containers of tensors and numbers.
        in_axes: the batch axis of each positional argument: an int, or ``None`` for an argument that all
            batch elements share. It may also be a tuple with one entry for each argument, or containers of
            axes that are nested like the arguments. Keyword arguments are always shared. Default: ``0``.
        out_axes: the batch axis of the output, or a container of axes that is nested like the output.
            Default: ``0``.

    Returns:
        Callable: function of the batched arguments.

    Raises:
        RuntimeError: If no argument has a batch axis, batch sizes differ, an axis is out of bounds, or
            ``function`` assigns a reference (a tensor whose stored value may change).

    >>> from mindgrad.core import vmap, numpy as np
    >>> x, y = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([10.0, 1.0])
    >>> print(vmap(np.dot, (0, None))(x, y))
    [12. 34.]
    """
    check_call(vmap, function, unknown)
    check_axes("in_axes", in_axes)
    check_axes("out_axes", out_axes)

    @functools.wraps(function, assigned=("__module__", "__name__", "__doc__"), updated=())
    def mapped(*args: object, **kwargs: object) -> Any:
        leaves, structure = flatten(args)
        leaves = [Tensor(x) if isinstance(x, np.ndarray) else x for x in leaves]
        leaves = [references.read(x) if isinstance(x, Tensor) else x for x in leaves]
        args = unflatten(structure, leaves)
        size, places = size_of(leaves, _axes_of(in_axes, args))
        along = [(lifted(x), k) for x, k in zip(leaves, places, strict=True) if k is not None]

        def element(*symbols: Tensor) -> Any:
            following = iter(symbols)
            filled = [x if k is None else next(following) for x, k in zip(leaves, places, strict=True)]
            result = frontend.active.call(function, *unflatten(structure, filled), **kwargs)
            scope: Any = innermost()
            if scope.written:
                raise RuntimeError(
                    "For 'vmap', the function assigns a reference, which would receive a different value for "
                    "each batch element. Return the value instead."
                )
            return map_leaves(_as_tensor, result) if has_axes(out_axes) else result

        types = [x.type.with_shape(x.shape[:k] + x.shape[k + 1 :]) for x, k in along]
        program = trace(element, types, values_are_inputs=outermost_program() is None)
        inputs = program.graph.inputs
        captured = [lifted(references.read(program.captured[v])) for v in inputs[len(along) :]]
        axes = [*[k for _, k in along], *[None] * len(captured)]
        labeled = leaf_axes("out_axes", out_axes, unflatten(program.structure, program.leaves), "the result")
        chosen = [axis for y, axis in zip(program.leaves, labeled, strict=True) if isinstance(y, Tensor)]
        operands = [*[x for x, _ in along], *captured]
        graph = fuse_derivatives(program.graph) if is_rewriting() else program.graph
        following = iter(inline_here(batched(graph, operands, axes, size, chosen), operands))
        results = [next(following) if isinstance(y, Tensor) else y for y in program.leaves]
        return as_python(unflatten(program.structure, results))

    return mapped


def _as_tensor(leaf: object) -> object:
    """Convert a number or array to a tensor, to which ``vmap`` can add a batch axis."""
    return Tensor(leaf) if isinstance(leaf, (bool, int, float, complex, np.ndarray, np.generic)) else leaf


def _axes_of(in_axes: object, args: Sequence[object]) -> list[tuple[str, int | None]]:
    """Return the path, such as ``argument 0['x']``, and the batch axis of each leaf."""
    axes = list(in_axes) if isinstance(in_axes, (tuple, list)) else [in_axes] * len(args)
    if len(axes) != len(args):
        raise RuntimeError(
            f"For 'vmap', the length of 'in_axes' must be the number of arguments. 'in_axes' has {len(axes)} "
            f"entries, {in_axes!r}, but the number of arguments is {len(args)}."
        )
    return [
        each
        for k, (axis, x) in enumerate(zip(axes, args, strict=True))
        for each in leaf_axes("in_axes", axis, x, f"argument {k}")
    ]


def batched(
    graph: Graph,
    operands: Sequence[Tensor],
    axes: Sequence[int | None],
    size: int,
    out_axes: Sequence[tuple[str, int | None]],
) -> Graph:
    """Return ``graph``, a function of one batch element, as a graph of a whole batch.

    Args:
        graph: the graph of one element.
        operands: the inputs of the returned graph.
        axes: the batch axis of each operand; ``None`` if all elements share it.
        size: the number of elements.
        out_axes: pairs (path, batch axis) of the outputs.
    """
    builder = Builder()
    with building(builder):
        inputs = [
            builder.input(x.type, tainted=v.tainted) for x, v in zip(operands, graph.inputs, strict=True)
        ]
        outputs, dimensions = push_batch(graph, inputs, axes, size)
        batched = []
        for y, dimension, (label, axis) in zip(outputs, dimensions, out_axes, strict=True):
            if axis is not None:
                rank = len(y.shape) + (dimension is None)
                shape = y.shape if dimension is None else y.shape[:dimension] + y.shape[dimension + 1 :]
                batched.append(placed(size, y, dimension, position("out_axes", label, axis, rank, shape)))
                continue
            if dimension is not None:
                raise RuntimeError(
                    f"For 'vmap', the 'out_axes' of {label} is None, but {label} depends on a mapped "
                    f"argument: there is one value for each of {size} elements. Give the axis of the output "
                    "that holds these values."
                )
            batched.append(y)
        return builder.close(batched)
