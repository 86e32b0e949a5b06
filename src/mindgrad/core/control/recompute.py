"""Gradient checkpointing: store the inputs of a graph and recompute its residuals.

    recomputed(x) = body(x)      ẏ = J_body(x) ẋ      x̄ = J_body(x)ᵀ ȳ, from x and ȳ alone

Operands are ``xs``. The parameter ``body`` is a graph from ``xs`` to the results. Outside reverse mode, the
primitive only runs its body.

Reverse mode emits the pullback, which contains a second copy of the body. If both copies were ordinary
equations, XLA's common subexpression elimination would merge them, and the residuals would be stored after
all. An optimization barrier does not prevent this on a CPU, because XLA removes barriers before its last
elimination pass. This is why ``jax.checkpoint`` saves no memory on a CPU (measured in
``docs/decisions/0009-rewrites-of-algebra.md``). The pullback is therefore a branch of a ``cond`` whose
predicate is always true. The predicate depends on a value that is unknown at compile time, so XLA cannot
replace the ``cond`` by that branch. The cotangents are operands of the ``cond``, so the recomputation does
not start before they are computed.

Reverse mode costs one additional run of the body. Limits:

- A second derivative stores the residuals of the pullback.
- If all operands and cotangents are constants or empty, the pullback is inlined without a branch.
- A compiled function with such branches is not divided into tiles (``passes.tiling``). Tiles would save
  more memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mindgrad.core.control.batches import batched_graph, batched_outputs, fronted
from mindgrad.core.control.cond import cond, zero_graph
from mindgrad.core.control.subgraphs import (
    active,
    forward_body,
    marked,
    reach,
    series_operands,
    series_results,
    starts_of,
    starts_taint,
    taylor_body,
    varying,
)
from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Atom, Constant, Equation, Graph, silent, without_effects
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.primitive import InnerGraphs, Primitive
from mindgrad.core.ir.types import TensorType
from mindgrad.core.primitives.comparisons import greater_equal, less
from mindgrad.core.primitives.logic import isnan, logical_or
from mindgrad.core.primitives.static_slices import slice
from mindgrad.core.primitives.structural import convert, reshape
from mindgrad.core.transforms.reverse import pull_back
from mindgrad.core.transforms.zero_gradients import paths_of_block

if TYPE_CHECKING:
    from mindgrad.core.ir.rules import Atoms, BatchAxes, Tangent, Tangents

__all__ = ["recomputed"]


def _types(*types: TensorType, body: Graph) -> tuple[TensorType, ...]:
    expected = tuple([v.type for v in body.inputs])
    if expected != types:
        raise TypeError(
            f"For 'recomputed', the body takes inputs of types {expected}, but the operands have types "
            f"{types}."
        )
    return tuple([y.type for y in body.outputs])


def _simplify(*xs: Atom, body: Graph) -> Atoms | None:
    now = marked(body, xs)
    return recomputed(*xs, body=now) if now is not body else None


def _jvp_with_values(xs: Atoms, ts: Tangents, body: Graph) -> tuple[Atoms, Tangents]:
    active_inputs = active(ts)
    active_outputs = reach(body, active_inputs)
    count = len(body.outputs)
    result: list[Tangent] = [None] * count
    directions: list[Atom] = [ts[k] for k in active_inputs]  # type: ignore[misc]  # no tangent is None
    if active_outputs and not any(t.linear for t in directions):
        results = recomputed(*xs, *directions, body=forward_body(body, active_inputs, active_outputs))
        ys, tangents = results[:count], results[count:]
    else:
        ys, tangents = recomputed(*xs, body=body), ()
        if active_outputs:
            tangents = recomputed_tangent(
                *xs, *directions, body=body, active_inputs=active_inputs, active_outputs=active_outputs
            )
    for k, t in zip(active_outputs, tangents, strict=True):
        result[k] = t
    return ys, result


def _batch(size: int, operands: Atoms, at: BatchAxes, body: Graph) -> tuple:
    flags = tuple([axis is not None for axis in at])
    out_flags = batched_outputs(body, flags, size)
    made = recomputed(*fronted(size, operands, at, flags), body=batched_graph(body, flags, out_flags, size))
    return made, [0 if want else None for want in out_flags]


def _series(equation: Equation, coefficients: Sequence[Tangents], order: int) -> list[list[Tangent]]:
    body = equation.parameters["body"]
    xs, is_same = starts_of(equation.inputs, coefficients)
    active_inputs = varying(coefficients)
    active_outputs = reach(body, active_inputs)
    operands = (*xs, *series_operands(xs, coefficients, active_inputs))
    parameters = {"body": taylor_body(body, active_inputs, active_outputs, order)}
    count = len(equation.outputs)
    results = recomputed(*operands, **(parameters if is_same else silent(parameters)))
    return series_results(results, count, results[count:], active_outputs, order)


recomputed: Primitive[tuple[Atom, ...]] = Primitive(
    "recomputed",
    "control",
    type_rule=_types,
    numpy=lambda *xs, body: tuple(evaluate(body, xs)),
    xla=lambda jax, *xs, body: tuple(body(*xs)),
    jvp_with_values=_jvp_with_values,
    batch=_batch,
    simplify=_simplify,
    series=_series,
    multiple=True,
    inner=InnerGraphs(paths=paths_of_block),
    taint=lambda *_, body: starts_taint(body),
)


# --- reverse mode ------------------------------------------------------------------------------------


@memoized
def _pullback(body: Graph, active_inputs: tuple[int, ...], active_outputs: tuple[int, ...]) -> Graph:
    """Return the pullback of ``body`` as a graph.

    It maps ``(*inputs, *cotangents of active_outputs)`` to the cotangents of the inputs ``active_inputs``.
    """
    again = without_effects(body)
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(again.inputs)
        cotangents = builder.inputs_like(body.outputs[k] for k in active_outputs)
        outputs = builder.inline(again, inputs)
        pulled = pull_back(
            builder, [inputs[k] for k in active_inputs], [outputs[k] for k in active_outputs], cotangents
        )
        return builder.close(pulled)


def _always(atoms: Atoms) -> Atom | None:
    """Emit a predicate that is always true but unknown at compile time.

    The predicate is ``a < 1 or a >= 1 or isnan(a)`` for the first element ``a`` of one of ``atoms``. Return
    ``None`` if all atoms are constants or empty.
    """
    for atom in atoms:
        if type(atom) is Constant or not atom.type.size:
            continue
        rank = len(atom.shape)
        first = slice(atom, start=(0,) * rank, limit=(1,) * rank, strides=(1,) * rank)
        number = convert(reshape(first, shape=()), dtype=float32)
        known = logical_or(less(number, 1.0), greater_equal(number, 1.0))
        return logical_or(known, isnan(number))
    return None


def _transpose(
    cts: Atoms, *operands: Atom, body: Graph, active_inputs: tuple[int, ...], active_outputs: tuple[int, ...]
) -> list[Tangent]:
    count = len(operands) - len(active_inputs)
    pullback = _pullback(body, active_inputs, active_outputs)
    inputs = [*operands[:count], *cts]
    predicate = _always([*cts, *operands[:count]])
    if predicate is None:
        pulled: Atoms = current().inline(pullback, inputs)
    else:
        pulled = cond(predicate, *inputs, true=pullback, false=zero_graph(pullback))
    return [None] * count + list(pulled)


def _never(*_: object, **__: object) -> tuple:
    raise RuntimeError(
        "'recomputed_tangent' cannot be evaluated: it exists only while a derivative is built."
    )


#: The linear map ``t ↦ J t`` of a ``recomputed`` equation. It exists only while reverse mode builds a graph:
#: transposition replaces it by the pullback. Therefore ``transpose`` is its only rule
recomputed_tangent: Primitive[tuple[Atom, ...]] = Primitive(
    "recomputed_tangent",
    "control",
    type_rule=lambda *types, body, active_inputs, active_outputs: tuple(
        [body.outputs[k].type for k in active_outputs]
    ),
    numpy=_never,
    xla=_never,
    jvp=_never,
    transpose=_transpose,
    multiple=True,
    taint="passes",
)
