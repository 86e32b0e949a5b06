"""Implicit differentiation of linear systems and roots.

    linear_solve(c, b) = x   with  A(c) x = b        ẋ = A⁻¹ (ḃ − Ȧ x)        b̄ = A⁻ᵀ x̄
    root(y, c) = y           with  f(c, y) = 0       ẏ = −(∂f/∂y)⁻¹ (∂f/∂c) ċ

The second line is the implicit function theorem. Both tangents are solutions of linear systems. Reverse mode
solves the transposed system. Higher derivatives differentiate ``A`` and ``f``. The iterations of a solver are
never differentiated.

The operands of ``linear_solve`` are ``(*consts, *right-hand sides)``. The operands of ``root`` are ``(*ys,
*consts)``, where ``ys`` are the values that a solver found and ``consts`` are the values ``c`` on which ``f``
depends. ``root`` returns ``ys`` unchanged. Each tangent or cotangent costs one linear solve. The derivatives
are correct only if ``y`` solves the equation and the matrix (``A`` or ``∂f/∂y``) is invertible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mindgrad.core.control.batches import Flags, batched_graph, fronted
from mindgrad.core.control.subgraphs import active, forward_body, marked, reach, split
from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Atom, Graph, Variable, without_effects
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.primitive import InnerGraphs, Primitive
from mindgrad.core.ir.types import TensorType
from mindgrad.core.ir.work import FREE
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.transforms.reverse import pull_back

if TYPE_CHECKING:
    from mindgrad.core.ir.rules import Atoms, BatchAxes, Static, Tangent, Tangents

__all__ = ["System", "jacobian_system", "linear_solve", "linear_system", "root"]

#: solver: function that receives the graph ``(*consts, *xs) ↦ A x`` and the number of ``consts``. It returns
#: the graph ``(*consts, *bs) ↦ A⁻¹ b``
Solver = Callable[[Graph, int], Graph]


class System:
    """A linear system ``A(c) x = b``, defined by products with ``A`` and ``Aᵀ``.

    Args:
        product: graph ``(*consts, *xs) ↦ A x`` for one sample of a batch.
        pulled: graph ``(*consts, *bs) ↦ Aᵀ b`` for one sample of a batch.
        consts: number of operands on which the matrix depends.
        solver, transposed_solver: functions that build the graphs of the solvers for ``A`` and ``Aᵀ``.
        batches: a pair ``(flags, size)`` for each batch axis, innermost first. The flags state which of the
            constants have the batch axis.
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
        """Graph ``(*consts, *xs) ↦ A x`` of the products with ``A``, for all samples."""
        return self._of_batch(self._given[0])

    @cached_property
    def solution(self) -> Graph:
        """Graph ``(*consts, *bs) ↦ A⁻¹ b`` of the solutions, for all samples."""
        product, _, consts, solver, _ = self._given
        return self._of_batch(solver(product, consts))

    @cached_property
    def transposed(self) -> System:
        """The linear system with the matrix ``Aᵀ`` instead of ``A``."""
        product, pulled, consts, solver, transposed_solver = self._given
        made = System(pulled, product, consts, transposed_solver, solver, self._batches)
        made.__dict__["transposed"] = self
        return made

    def batched(self, flags: Flags, size: int) -> System:
        """Return the linear system for a batch of ``size`` samples."""
        return _system(*self._given, (*self._batches, (flags, size)))


@memoized
def _system(product: Graph, *given: Any) -> System:  # type: ignore[explicit-any]  # see System
    return System(product, *given)


@memoized
def linear_system(
    product: Graph, consts: int, solver: Solver, transposed_solver: Solver, symmetric: bool = False
) -> System:
    """Build the linear system whose matrix A has the product ``(*consts, *xs) ↦ A x``.

    Raise ``ValueError`` if the graph ``product`` is not linear in ``xs``.
    """
    _refuse_affine(product, consts)
    pulled = product if symmetric else _pulled(product, consts, with_xs=False)
    return System(product, pulled, consts, solver, transposed_solver)


@memoized
def jacobian_system(function: Graph, consts: int, solver: Solver, transposed_solver: Solver) -> System:
    """Build the linear system with matrix ``∂f/∂x`` of a graph ``(*consts, *xs) ↦ f``.

    The matrix depends on ``consts`` and ``xs``, so both are constants of the system.
    """
    function = without_effects(function)  # the solver has already run the effects, such as printing
    count = len(function.inputs)
    pushed = forward_body(function, tuple(range(consts, count)), tuple(range(count - consts)))
    outputs = pushed.outputs[len(function.outputs) :]
    builder = Builder()
    with building(builder):
        operands = builder.inputs_like(pushed.inputs)
        product = builder.close(builder.inline(Graph(pushed.inputs, pushed.equations, outputs), operands))
    return System(product, _pulled(function, consts, with_xs=True), count, solver, transposed_solver)


def _refuse_affine(product: Graph, consts: int) -> None:
    """Raise ``ValueError`` if ``product`` is affine, ``A x + k`` with nonzero ``k``."""
    dependent: set[Atom] = set(product.inputs[consts:])
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
    """Return the graph ``(*consts, *xs, *cts) ↦ (∂f/∂x)ᵀ ct``.

    If ``with_xs`` is false, the graph has no inputs ``xs``, because ``f`` must be linear in them.
    """
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
            "For 'custom_linear_solve', the 'matvec' is not linear: its derivative depends on its argument. "
            "For a nonlinear equation, use custom_root."
        )
    return Graph([v for v in pullback.inputs if v not in xs], pullback.equations, pullback.outputs)


def _change(graph: Graph, consts: Atoms, xs: Atoms, ts: Tangents) -> list[Tangent]:
    """Emit the tangents of ``graph`` for tangents of ``consts`` at fixed ``xs``.

    The derivative is built as a separate graph, which is then inlined. The alternative, to inline ``graph``
    and differentiate its equations here, can be wrong: a simplification could replace an operand by a value
    from which the operand was computed, and that value would have no tangent.
    """
    moving = active(ts)
    operands = [*consts, *xs]
    graph = marked(without_effects(graph), operands)
    reached = reach(graph, moving) if moving else ()
    directions: list[Atom] = [ts[k] for k in moving]  # type: ignore[misc]  # no tangent is None
    count, builder = len(graph.outputs), current()
    tangents: list[Tangent] = [None] * count
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


def _solved(system: System, consts: Atoms, bs: Tangents, types: Sequence[TensorType]) -> Tangents:
    if all(b is None for b in bs):
        return [None] * len(types)
    operands = [zeros(type) if b is None else b for b, type in zip(bs, types, strict=True)]
    return linear_solve(*consts, *operands, system=system, solution=system.solution)


def _difference(a: Tangent, b: Tangent) -> Tangent:
    return a if b is None else -b if a is None else a - b


# -- linear systems --------------------------------------------------------------------------------


def _solve_types(*types: TensorType, system: System, solution: Graph) -> tuple[TensorType, ...]:
    expected = tuple([v.type for v in solution.inputs])
    if types != expected:
        raise TypeError(
            f"For 'linear_solve', the system takes inputs of types {expected}, but the operands have "
            f"types {types}."
        )
    return tuple([y.type for y in solution.outputs])


def _solve_jvp(y: Atoms, operands: Atoms, ts: Tangents, **parameters: Static) -> Tangents:
    system, count = parameters["system"], parameters["system"].consts
    consts = operands[:count]
    changed = _change(system.product, consts, y, ts[:count])
    bs = [_difference(t, each) for t, each in zip(ts[count:], changed, strict=True)]
    return _solved(system, consts, bs, [b.type for b in operands[count:]])


def _solve_transpose(cts: Atoms, *operands: Atom, system: System, solution: Graph) -> list[Tangent]:
    consts = operands[: system.consts]
    pulled = _solved(system.transposed, consts, cts, [ct.type for ct in cts])
    return [None] * system.consts + list(pulled)


def _solve_batch(size: int, operands: Atoms, at: BatchAxes, system: System, solution: Graph) -> tuple:
    flags = tuple([axis is not None for axis in at[: system.consts]])
    bs = (True,) * (len(operands) - system.consts)
    made = system.batched(flags, size)
    found = linear_solve(*fronted(size, operands, at, (*flags, *bs)), system=made, solution=made.solution)
    return found, [0] * len(found)


linear_solve: Primitive[tuple[Atom, ...]] = Primitive(
    "linear_solve",
    "control",
    type_rule=_solve_types,
    numpy=lambda *operands, system, solution: tuple(evaluate(solution, operands)),
    xla=lambda jax, *operands, system, solution: tuple(solution(*operands)),
    jvp=_solve_jvp,
    transpose=_solve_transpose,
    batch=_solve_batch,
    multiple=True,
    taint="starts",
)


# -- roots -----------------------------------------------------------------------------------------


def _root_jvp(
    y: Atoms, operands: Atoms, ts: Tangents, function: Graph, system: System, count: int
) -> Tangents:
    consts = operands[count:]
    changed = _change(function, consts, y, ts[count:])
    bs = [None if each is None else -each for each in changed]
    return _solved(system, [*consts, *y], bs, [r.type for r in function.outputs])


def _root_batch(
    size: int, operands: Atoms, at: BatchAxes, function: Graph, system: System, count: int
) -> tuple:
    flags = tuple([axis is not None for axis in at[count:]])
    ys = (True,) * count
    solution = root(
        *fronted(size, operands, at, (*ys, *flags)),
        function=batched_graph(function, (*flags, *ys), ys, size),
        system=system.batched((*flags, *ys), size),
        count=count,
    )
    return solution, [0] * count


root: Primitive[tuple[Atom, ...]] = Primitive(
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
    inner=InnerGraphs(run=False),
)
