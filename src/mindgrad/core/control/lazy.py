"""Lazy primitives: derivatives that stay one equation until their graph is needed.

    lazy[G, …](x) = expand(G, …)(x)

A lazy equation represents the graph that its rule ``expand`` builds. As long as a derivative is one equation,
rewrites can recognize it. For example, differentiating ``taylor_coefficients`` again only adds one
coefficient. If only the trace of a ``lazy_hessian`` is used, a rewrite computes the trace without the matrix.
All other transformations (forward mode, batching, Taylor series) transform the expanded graph. Before
compilation, :func:`expand_lazy` replaces each lazy equation by its graph, and value numbering merges common
subexpressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Atom, Equation, Graph, Variable
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.primitive import Lazy, Primitive
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.transforms.batch import push_batch
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.taylor import taylor

if TYPE_CHECKING:
    from mindgrad.core.ir.rules import Atoms, BatchAxes, Rule, Tangent, Tangents, TypeRule

__all__ = ["lazy_primitive", "never", "pushed", "series", "expand_lazy"]


@memoized
def _is_settled(graph: Graph) -> bool:
    for equation in graph.equations:
        if equation.primitive.lazy is not None:
            return False
        if equation.graphs and not all(map(_is_settled, equation.graphs.values())):
            return False
    return True


@memoized
def expand_lazy(graph: Graph) -> Graph:
    """Return ``graph`` with all lazy equations expanded, even in its inner graphs."""
    if _is_settled(graph):
        return graph
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(graph.inputs)
        values: dict[Atom, Atom] = dict(zip(graph.inputs, inputs, strict=True))
        for equation in graph.equations:
            operands = tuple([values[x] if type(x) is Variable else x for x in equation.inputs])
            made = _settled_equation(builder, equation, operands)
            values.update(zip(equation.outputs, made, strict=True))
        return builder.close([values[y] if type(y) is Variable else y for y in graph.outputs])


def _settled_equation(builder: Builder, equation: Equation, operands: tuple[Atom, ...]) -> Atoms:
    if (lazy := equation.primitive.lazy) is not None:
        return builder.inline(expand_lazy(lazy.expand(**equation.parameters)), operands)
    programs = {name: expand_lazy(inner) for name, inner in equation.graphs.items()}
    return builder.emit_again(equation, operands, **programs)


# -- rules of lazy primitives, applied to their expansion ------------------------------------------


@memoized
def _pushed(graph: Graph, active: tuple[int, ...]) -> Graph:
    return forward(graph, active)


def pushed(graph: Graph, ys: Atoms, xs: Atoms, ts: Tangents) -> Tangents:
    """Emit the tangents of a lazy equation from its expansion ``graph``.

    ``xs`` are the operands of the equation, ``ts`` their tangents, and ``ys`` the results of the equation.
    """
    active = tuple([k for k, t in enumerate(ts) if t is not None])
    return current().inline(_pushed(graph, active), [*xs, *[ts[k] for k in active]])[len(ys) :]  # type: ignore[list-item]  # no tangent is None


def series(
    graph: Graph, equation: Equation, coefficients: Sequence[Tangents], order: int
) -> list[list[Tangent]]:
    """Emit the Taylor coefficients of a lazy equation from its expansion ``graph``."""
    moving = [k for k, each in enumerate(coefficients) if any(c is not None for c in each[1:])]
    starts = [
        x if each[0] is None else each[0] for x, each in zip(equation.inputs, coefficients, strict=True)
    ]
    tangents = [
        zeros(equation.inputs[k].type) if c is None else c for k in moving for c in coefficients[k][1:]
    ]
    found = current().inline(taylor(graph, moving, order), [*starts, *tangents])
    count = len(equation.outputs)
    values, rest = found[:count], found[count:]
    return [[values[k], *rest[k * order : (k + 1) * order]] for k in range(count)]


def lazy_primitive(name: str, expand: Rule, type_rule: TypeRule, taint: Rule) -> Primitive:
    """Create a lazy primitive with one result.

    Args:
        name: name of the primitive.
        expand: function of the parameters that returns the graph from the operands to the result.
        type_rule, taint: the fields of ``Primitive`` with these names.
    """

    def jvp(y: Atom, xs: Atoms, ts: Tangents, **parameters: object) -> Tangent:
        return pushed(expand(**parameters), [y], xs, ts)[0]

    def batch(size: int, xs: Atoms, at: BatchAxes, **parameters: object) -> tuple:
        found, places = push_batch(expand(**parameters), xs, at, size)
        return found[0], places[0]

    return Primitive(
        name,
        "control",
        type_rule=type_rule,
        numpy=lambda *xs, **parameters: evaluate(expand(**parameters), xs)[0],
        xla=never,
        jvp=jvp,
        batch=batch,
        series=lambda equation, coefficients, order: series(
            expand(**equation.parameters), equation, coefficients, order
        ),
        taint=taint,
        lazy=Lazy(expand),
    )


def never(*_: object, **__: object) -> tuple:
    """Raise ``RuntimeError``, because a lazy equation must be expanded before it runs."""
    raise RuntimeError(
        "a lazy derivative was not expanded before compilation. This is a bug in mindgrad; please report it."
    )
