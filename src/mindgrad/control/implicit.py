"""Implicit differentiation solves linear systems and roots without differentiating the solver's iterations.

    linear_solve(c, b) = x   with  A(c) x = b        ẋ = A⁻¹ (ḃ − Ȧ x)        b̄ = A⁻ᵀ x̄
    root(y, c) = y           with  f(c, y) = 0       ẏ = −(∂f/∂y)⁻¹ (∂f/∂c) ċ

The second line is the implicit function theorem. Both tangents are linear systems again, whose matrices are
the derivatives of ``A`` and ``f``: reverse mode transposes the system, a further derivative differentiates
what stands in it, and no order ever differentiates the iteration that found the value.

Operands of ``linear_solve`` are ``(*consts, *right-hand sides)``, those of ``root`` ``(*ys, *consts)``: the
values that a solver found, which pass, and what the function depends on. Cost: each tangent or cotangent
one linear system. Limits: the value must solve the equation, and the matrix must be regular there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from mindgrad.control.batches import Flags, batched_graph, fronted
from mindgrad.control.subgraphs import active, forward_body, marked, reach, split
from mindgrad.ir.build import Builder, building, current
from mindgrad.ir.evaluate import evaluate
from mindgrad.ir.graph import Graph, Variable, without_effects
from mindgrad.ir.memo import memoized
from mindgrad.ir.primitive import Primitive
from mindgrad.ir.types import TensorType
from mindgrad.ir.work import FREE
from mindgrad.rows.kinds import zeros
from mindgrad.transforms.reverse import pull_back

__all__ = ["System", "jacobian_system", "linear_solve", "linear_system", "root"]

#: makes of the graph ``(*consts, *xs) ↦ A x`` and the number of consts the graph ``(*consts, *bs) ↦ A⁻¹ b``
Solver = Callable[[Graph, int], Graph]


class System:
    """A linear system ``A(c) x = b``, known by products with the matrix and its transpose.

    Args:
        product: ``(*consts, *xs) ↦ A x``, of one element of a batch.
        pulled: ``(*consts, *bs) ↦ Aᵀ b``.
        consts: how many operands the matrix depends on.
        solver, transposed_solver: make the graphs that solve the system and the transposed one.
        batches: for each batch, from the inside, which consts have its axis, and its size.
    """

    def __init__(
        self,
        product: Graph,
        pulled: Graph,
        consts: int,
        solver: Solver,
        transposed_solver: Solver,
        batches: tuple[tuple[Flags, int], ...] = (),
    ) -> None:
        self._given = (product, pulled, consts, solver, transposed_solver)
        self._batches = batches
        self.consts = consts

    def _of_batch(self, graph: Graph) -> Graph:
        count = len(graph.outputs)
        for flags, size in self._batches:
            graph = batched_graph(graph, (*flags, *[True] * count), (True,) * count, size)
        return graph

    @cached_property
    def product(self) -> Graph:
        """``(*consts, *xs) ↦ A x``."""
        return self._of_batch(self._given[0])

    @cached_property
    def solution(self) -> Graph:
        """``(*consts, *bs) ↦ A⁻¹ b``; each element of a batch is a system of its own."""
        product, _, consts, solver, _ = self._given
        return self._of_batch(solver(product, consts))

    @cached_property
    def transposed(self) -> System:
        """The system of the transposed matrix."""
        product, pulled, consts, solver, transposed_solver = self._given
        made = System(pulled, product, consts, transposed_solver, solver, self._batches)
        made.__dict__["transposed"] = self
        return made

    def batched(self, flags: Flags, size: int) -> System:
        """One system for each of ``size`` elements; the consts in ``flags`` have their axis in front."""
        return _batched(self, flags, size)


@lru_cache(maxsize=256)
def _batched(system: System, flags: Flags, size: int) -> System:
    return System(*system._given, batches=(*system._batches, (flags, size)))


@lru_cache(maxsize=256)
def linear_system(
    product: Graph, consts: int, solver: Solver, transposed_solver: Solver, symmetric: bool = False
) -> System:
    """The system of a graph ``(*consts, *xs) ↦ A x`` that is linear in ``xs``."""
    _refuse_affine(product, consts)
    pulled = product if symmetric else _pulled(product, consts, with_xs=False)
    return System(product, pulled, consts, solver, transposed_solver)


@memoized
def jacobian_system(function: Graph, consts: int, solver: Solver, transposed_solver: Solver) -> System:
    """The system of ``∂f/∂x`` for a graph ``(*consts, *xs) ↦ f``; its consts are all of these."""
    function = without_effects(function)  # the solver has printed already
    count = len(function.inputs)
    pushed = forward_body(function, tuple(range(consts, count)), tuple(range(count - consts)))
    outputs = pushed.outputs[len(function.outputs) :]
    builder = Builder()
    with building(builder):
        operands = builder.inputs_like(pushed.inputs)
        product = builder.close(builder.inline(Graph(pushed.inputs, pushed.equations, outputs), operands))
    return System(product, _pulled(function, consts, with_xs=True), count, solver, transposed_solver)


def _refuse_affine(product: Graph, consts: int) -> None:
    """Raise where a value that does not depend on the vector is added to one that does."""
    dependent: set[Any] = set(product.inputs[consts:])
    for equation in product.equations:
        if dependent.isdisjoint(equation.inputs):
            continue
        dependent.update(equation.outputs)
        together = equation.primitive.linear_operands(len(equation.inputs))
        others = [x for x in (equation.inputs[k] for k in together) if x not in dependent]
        if any(type(x) is Variable or np.any(x.value) for x in others):
            raise ValueError(
                "For 'custom_linear_solve', the 'matvec' is not linear: it adds a value that does not depend "
                "on the vector. Leave it out of 'matvec' and subtract it from 'b'."
            )


def _pulled(function: Graph, consts: int, with_xs: bool) -> Graph:
    """``(*consts, *cts) ↦ (∂f/∂x)ᵀ ct``; with ``with_xs`` the ``xs`` stand behind the consts."""
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(function.inputs)
        cotangents = builder.inputs_like(function.outputs)
        outputs = builder.inline(function, inputs)
        pullback = builder.close(pull_back(builder, inputs[consts:], outputs, cotangents))
    if with_xs:
        return pullback
    xs = set(pullback.inputs[consts : len(function.inputs)])
    if any(x in xs for equation in pullback.equations for x in equation.inputs):
        raise ValueError(
            "For 'custom_linear_solve', the 'matvec' is not linear: its derivative depends on the vector "
            "that it is given. For a nonlinear equation, use custom_root."
        )
    return Graph([v for v in pullback.inputs if v not in xs], pullback.equations, pullback.outputs)


def _change(graph: Graph, consts: Sequence[Any], xs: Sequence[Any], ts: Sequence[Any]) -> list[Any]:
    """The tangents of ``graph`` at ``(*consts, *xs)`` for those of ``consts``, ``xs`` held fixed.

    The derivative is taken in a program of its own and then inlined: an operand of the inlined ``graph`` can
    be simplified to a value that it was computed from, which has no tangent here.
    """
    moving = active(ts)
    operands = [*consts, *xs]
    graph = marked(without_effects(graph), operands)
    reached = reach(graph, moving) if moving else ()
    directions = [ts[k] for k in moving]
    count, builder = len(graph.outputs), current()
    tangents: list[Any] = [None] * count
    if not reached:
        return tangents
    if any(t.linear for t in directions):
        part = split(graph, moving, reached)
        residuals = builder.inline(part.primal(part.residuals), operands)[count:]
        linear = part.linear_graph([*part.inputs, *part.residuals])
        changes = builder.inline(linear, [*operands, *residuals, *directions])
    else:
        changes = builder.inline(forward_body(graph, moving, reached), [*operands, *directions])[count:]
    for k, t in zip(reached, changes, strict=True):
        tangents[k] = t
    return tangents


def _solved(system: System, consts: Sequence[Any], bs: Sequence[Any], types: Sequence[TensorType]) -> list:
    if all(b is None for b in bs):
        return [None] * len(types)
    operands = [zeros(type) if b is None else b for b, type in zip(bs, types, strict=True)]
    return linear_solve(*consts, *operands, system=system, solution=system.solution)


def _difference(a: Any, b: Any) -> Any:
    return a if b is None else -b if a is None else a - b


# -- linear systems --------------------------------------------------------------------------------


def _solve_types(*types: TensorType, system: System, solution: Graph) -> Any:
    expected = tuple([v.type for v in solution.inputs])
    if types != expected:
        raise TypeError(f"For 'linear_solve', the system takes {expected}, but the operands are {types}.")
    return tuple([y.type for y in solution.outputs])


def _solve_numpy(*operands: Any, system: System, solution: Graph) -> Any:
    return tuple(evaluate(solution, operands))


def _solve_jvp(y: Sequence[Any], operands: Sequence[Any], ts: Sequence[Any], **parameters: Any) -> list[Any]:
    system, count = parameters["system"], parameters["system"].consts
    consts = operands[:count]
    changed = _change(system.product, consts, y, ts[:count])
    bs = [_difference(t, each) for t, each in zip(ts[count:], changed, strict=True)]
    return _solved(system, consts, bs, [b.type for b in operands[count:]])


def _solve_transpose(cts: Sequence[Any], *operands: Any, system: System, solution: Graph) -> list[Any]:
    consts = operands[: system.consts]
    pulled = _solved(system.transposed, consts, cts, [ct.type for ct in cts])
    return [None] * system.consts + list(pulled)


def _solve_batch(size: int, operands: Any, at: Sequence[int | None], system: System, solution: Graph) -> Any:
    flags = tuple([axis is not None for axis in at[: system.consts]])
    bs = (True,) * (len(operands) - system.consts)
    made = system.batched(flags, size)
    found = linear_solve(*fronted(size, operands, at, (*flags, *bs)), system=made, solution=made.solution)
    return found, [0] * len(found)


linear_solve = Primitive(
    "linear_solve",
    "control",
    type_rule=_solve_types,
    numpy=_solve_numpy,
    xla=lambda jax, *operands, system, solution: tuple(solution(*operands)),
    jvp=_solve_jvp,
    transpose=_solve_transpose,
    batch=_solve_batch,
    multiple=True,
    taint="starts",
)


# -- roots -----------------------------------------------------------------------------------------


def _root_jvp(
    y: Sequence[Any], operands: Sequence[Any], ts: Sequence[Any], function: Graph, system: System, count: int
) -> list[Any]:
    consts = operands[count:]
    changed = _change(function, consts, y, ts[count:])
    bs = [None if each is None else -each for each in changed]
    return _solved(system, [*consts, *y], bs, [r.type for r in function.outputs])


def _root_batch(
    size: int, operands: Any, at: Sequence[int | None], function: Graph, system: System, count: int
) -> Any:
    flags = tuple([axis is not None for axis in at[count:]])
    ys = (True,) * count
    solution = root(
        *fronted(size, operands, at, (*ys, *flags)),
        function=batched_graph(function, (*flags, *ys), ys, size),
        system=system.batched((*flags, *ys), size),
        count=count,
    )
    return solution, [0] * count


root = Primitive(
    "root",
    "control",
    work=FREE,
    type_rule=lambda *types, function, system, count: types[:count],
    numpy=lambda *operands, function, system, count: operands[:count],
    xla=lambda jax, *operands, function, system, count: operands[:count],
    jvp=_root_jvp,
    batch=_root_batch,
    multiple=True,
    taint="passes",
    runs_graphs=False,
)
