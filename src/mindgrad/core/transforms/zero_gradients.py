"""Warn about gradients that are zero because of a piecewise constant operator.

A comparison, a rounding, an index such as argmax, and a random draw are piecewise constant: their derivative
is zero wherever it exists. If the output depends on a differentiated input only through such operators, the
gradient is exactly zero, which is usually a mistake. ``trace.record`` and ``trace.plans`` call
:func:`steps_of` once per derivative graph, and only if a result of this graph is the constant zero.

A second derivative can be zero without a mistake: the first derivative of relu is piecewise constant. Each
scope (the graph of one traced function) therefore stores the functions that were differentiated inside it. If
one of these functions depends smoothly on an input, there is no warning about this input.

Limits: operators with user-defined derivatives count as smooth. Operators with inner graphs also count as
smooth, except for branches, ``while``, ``scan``, and recomputed blocks. There is no warning if a derivative
is taken inside a loop, a branch, ``vmap``, or a recomputed block.

In the code, a *path* states how an output depends on a value. A *step* is a piecewise constant operator that
makes a gradient zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

from mindgrad.core.base.location import ZeroGradientWarning, warn_at
from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.graph import Atom, DerivativeOf, Equation, Graph, Variable
from mindgrad.core.ir.rules import Atoms, Source, Tangents, Transform
from mindgrad.core.ir.scope import GraphScope, identity
from mindgrad.core.ir.tensor import Tensor

__all__ = [
    "Unchecked", "paths_of_block", "paths_of_branch", "paths_of_scan", "paths_of_while", "smooth_atoms",
    "smooth_variables", "steps_of", "warn_of_zeros",
]  # fmt: skip

#: how an output depends on a value: ``"smooth"``, or the equation of a piecewise constant operator through
#: which every path from the value to the output leads
_Path = Literal["smooth"] | Equation


@dataclass(frozen=True)
class Unchecked:
    """A wrapper of a derivative transform that disables warnings about zero gradients."""

    transform: Transform

    def __call__(self, builder: Builder, xs: Sequence[Variable], ys: Atoms, extras: Tangents) -> Atoms:
        return self.transform(builder, xs, ys, extras)


def steps_of(
    equations: Sequence[Equation], xs: Iterable[Atom], ys: Atoms, excusing: Atoms
) -> list[tuple[Source, str]]:
    """Find operators that make the gradient with respect to an input zero.

    Args:
        equations: equations of the function.
        xs: differentiated inputs.
        ys: outputs.
        excusing: values on which an inner differentiated function depends smoothly (:func:`smooth_atoms`). If
            one of them depends smoothly on an input, the input is ignored.

    Returns:
        The source line and the name of each piecewise constant operator through which alone ``ys`` depend on
        an input.
    """
    paths = _paths(equations, ys)
    broken = {x: path for x in xs if x.dtype.is_inexact and isinstance(path := paths.get(x), Equation)}
    excused = smooth_variables(equations, excusing) if broken else ()
    steps = [(path.source, path.primitive.name) for x, path in broken.items() if x not in excused]
    return list(dict.fromkeys(steps))


def warn_of_zeros(steps: Iterable[tuple[Source, str]]) -> None:
    """Issue a warning for each result of :func:`steps_of`, at its source line."""
    for source, name in steps:
        warn_at(
            source,
            f"The gradient is zero, because the output depends on a differentiated input only through "
            f"'{name}', which is piecewise constant. If the zero is intended, apply stop_gradient to "
            "the operand of this operator. Otherwise, replace the operator by a smooth function such as "
            "sigmoid or tanh, or by a reparameterized random draw.",
            ZeroGradientWarning,
        )


def smooth_variables(equations: Sequence[Equation], ys: Atoms) -> set[Atom]:
    """Return the variables on which ``ys`` depend smoothly, not only through steps."""
    return {x for x, path in _paths(equations, ys).items() if path == "smooth"}


def smooth_atoms(scope: GraphScope) -> list[Atom]:
    """Return the values in ``scope`` on which inner functions depend smoothly.

    The inner functions are the functions that were differentiated inside ``scope``.
    """
    atoms: list[Atom | None] = []
    for equations, outputs, captures in scope.differentiated:
        smooth = smooth_variables(equations, outputs)
        atoms += [_atom(scope, tensor) for variable, tensor in captures if variable in smooth]
    return [atom for atom in atoms if atom is not None]


def _atom(scope: GraphScope, tensor: Tensor) -> Atom | None:
    """Return the variable or constant that ``scope`` has for ``tensor``, or ``None``."""
    return tensor._atom if tensor._scope is scope else scope._captured.get(identity(tensor), (None,))[0]


def _paths(equations: Sequence[Equation], ys: Atoms) -> dict[Atom, _Path]:
    """Return a dict from each variable on which ``ys`` depend to its path to ``ys``."""
    paths: dict[Atom, _Path] = dict.fromkeys((y for y in ys if type(y) is Variable), "smooth")
    _extend(equations, paths)
    return paths


def _extend(equations: Sequence[Equation], paths: dict[Atom, _Path]) -> None:
    """Add to ``paths`` the path of each operand of ``equations``.

    ``paths`` initially contains the paths of the results.
    """
    for equation in reversed(equations):
        after = [paths.get(y) for y in equation.outputs]
        if all(path is None for path in after) or equation.primitive.algebra.stops:
            continue
        before = _of_graphs(equation, after) if equation.graphs else _of_operator(equation, after)
        for x, path in zip(equation.inputs, before, strict=True):
            if type(x) is Variable and path is not None:
                paths[x] = _joined(paths.get(x), path)  # type: ignore[assignment]


def _joined(one: _Path | None, other: _Path | None) -> _Path | None:
    """Combine two paths of the same value. The result is smooth if one path is smooth."""
    return "smooth" if "smooth" in (one, other) else one or other


def _of_graphs(equation: Equation, after: Sequence[_Path | None]) -> Sequence[_Path | None]:
    """Return the path of each operand of an equation with inner graphs.

    ``after`` contains the path of each result, or ``None`` if the output does not depend on the result.
    """
    if (paths := equation.primitive.inner.paths) is not None:
        return paths(equation, after)  # type: ignore[no-any-return]
    return [reduce(_joined, after)] * len(equation.inputs)


def _of_operator(equation: Equation, after: Sequence[_Path | None]) -> list[_Path | None]:
    """Return the path of each operand, given the paths ``after`` of the results."""
    primitive, count = equation.primitive, len(equation.inputs)
    if primitive.jvp is None:
        # ignore comparisons that derivative rules emitted, such as x > 0 for relu
        return ["smooth" if isinstance(equation.source, DerivativeOf) else equation] * count
    # The derivative can pass through integers, because they may be converted back to float. It cannot pass
    # through indices that an operator returns in addition to its values, as ``sort`` does
    reached = [
        path if y.dtype.is_inexact or (y.dtype.kind != "bool" and not primitive.multiple) else None
        for y, path in zip(equation.outputs, after, strict=True)
    ]
    path = reduce(_joined, reached) or equation
    linear, is_real = primitive.linear_operands(count), equation.outputs[0].dtype.is_inexact
    return [
        path if x.dtype.is_inexact or (x.dtype.kind != "bool" and (k in linear or not is_real)) else equation
        for k, x in enumerate(equation.inputs)
    ]


# -- equations with graphs ------------------------------------------------------------------------


def paths_of_branch(equation: Equation, after: Sequence[_Path | None]) -> list[_Path | None]:
    """Return the paths of the operands of a ``cond`` equation (rule ``paths``)."""
    branches = [_through(graph, after) for graph in equation.graphs.values()]
    return [equation, *map(_joined, *branches)]


def paths_of_block(equation: Equation, after: Sequence[_Path | None]) -> list[_Path | None]:
    """Return the paths of the operands of a recomputed block, whose body runs once."""
    return _through(equation.parameters["body"], after)


def paths_of_while(equation: Equation, after: Sequence[_Path | None]) -> list[_Path | None]:
    """Return the paths of the operands of a ``while`` loop (rule ``paths``)."""
    count = len(equation.parameters["body"].outputs)
    # the results are the carry, the iteration count, the period, and the saved carries
    saved = after[count + 2 :] or [None] * count
    after = list(map(_joined, after[:count], saved))
    untouched = [*[None] * equation.parameters["consts"], *after]  # if the loop ends without an iteration
    condition = _through(equation.parameters["condition"], [equation])
    return _of_loop(equation, count, after, list(map(_joined, untouched, condition)))


def paths_of_scan(equation: Equation, after: Sequence[_Path | None]) -> list[_Path | None]:
    """Return the paths of the operands of a scan (rule ``paths``)."""
    return _of_loop(equation, equation.parameters["carries"], after, [None] * len(equation.inputs))


def _of_loop(
    loop: Equation, carries: int, after: Sequence[_Path | None], before: list[_Path | None]
) -> list[_Path | None]:
    """Return the paths of the operands of a loop.

    ``before`` contains the paths that do not pass through the body. Paths through the body are added until
    nothing changes, because the body can run any number of times.
    """
    body, consts = loop.parameters["body"], loop.parameters["consts"]
    carried, stacked = after[:carries], after[carries:]
    while True:
        longer = list(map(_joined, before, _through(body, [*carried, *stacked])))
        if longer == before:
            return before
        before = longer
        carried = list(map(_joined, carried, before[consts:]))


def _through(graph: Graph, after: Sequence[_Path | None]) -> list[_Path | None]:
    """Return the path of each input of ``graph``, given the paths of its outputs."""
    paths: dict[Atom, _Path] = {}
    for y, path in zip(graph.outputs, after, strict=True):
        if type(y) is Variable and path is not None:
            paths[y] = _joined(paths.get(y), path)  # type: ignore[assignment]
    _extend(graph.equations, paths)
    return [paths.get(x) for x in graph.inputs]
