"""``hessian`` and ``hvp``: Hessians, and products of a Hessian with a vector.

    hessian(f)(x) = ∇²f(x)        hvp(f)(x, v) = ∇²f(x) v

``hessian`` computes the forward-mode Jacobian of the reverse-mode Jacobian. ``hvp`` applies forward mode to
the gradient, so it does not form the matrix, and costs a small multiple of one evaluation of ``f``. The
Gauss–Newton matrix of a loss ℓ and a model f with Jacobian J is Jᵀ ∇²ℓ J: the Hessian of ℓ ∘ f without the
second derivatives of f.

The other functions are *rules* for ``trace.record.transformed``. ``rule(builder, xs, ys, vectors)`` emits
derivatives of ``ys`` with respect to ``xs``. A rule differentiates a complete graph. Therefore, a rule that
differentiates a gradient first builds the graph of the gradient.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Never

from mindgrad.core.api.arguments import check_call, check_real, check_sequences, like_tree, recorded_run
from mindgrad.core.api.jacobian import arranged, blocks_of
from mindgrad.core.control.lazy_hessian import lazy_hessian
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Atom, Graph, Variable
from mindgrad.core.ir.memo import memoized
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.passes.mode_choice import extract_function_of_vector
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.trace.graph_recording import SHORTCUTS
from mindgrad.core.trace.numbers import block
from mindgrad.core.trace.record import transformed
from mindgrad.core.transforms.apply_rule import between, step
from mindgrad.core.transforms.forward import forward_rule
from mindgrad.core.transforms.jacobians import by_columns, by_rows
from mindgrad.core.transforms.reverse import reverse_rule

__all__ = [
    "Generalized", "forward_over_reverse", "gauss_newton", "hessian", "hessian_rule", "hvp",
    "reverse_over_reverse",
]  # fmt: skip

Rule = Callable[..., list[Atom]]


def hessian(
    function: Callable[..., object], argnums: int | Sequence[int] = 0, has_aux: bool = False, **unknown: Never
) -> Callable[..., Any]:
    """Return a function that computes the Hessian of ``function``.

    Args:
        function: function of floating-point Tensors, floats, NumPy arrays, or containers of them.
        argnums: index, or tuple of indices, of the differentiated positional arguments. Default: ``0``.
        has_aux: whether ``function`` returns a pair ``(output, aux)``. Default: ``False``.

    Returns:
        Callable: function of the same arguments. It returns a tensor of shape ``(*output.shape,
        *input.shape, *input.shape)``. If the output or the inputs are containers, the Hessian is a container
        that is indexed as ``hessian[output][input][input]``. With ``has_aux``, it returns ``(hessian, aux)``.

    Raises:
        TypeError: If a differentiated argument has no derivative, or an input or output is complex.
        ValueError: If ``argnums`` is not an index, or tuple of indices, of positional arguments.

    >>> from mindgrad.core import hessian, numpy as np
    >>> print(hessian(lambda x: np.sum(x * x * x))(np.array([1.0, 2.0])))
    [[ 6.  0.]
     [ 0. 12.]]
    """
    check_call(hessian, function, unknown)

    @functools.wraps(function, assigned=("__module__", "__name__", "__doc__"), updated=())
    def compute(*args: object, **kwargs: object) -> Any:
        run = recorded_run("hessian", function, args, kwargs, argnums, has_aux)
        operands = run.inputs.tensors
        advice = "Differentiate functions of the real and imaginary parts."
        check_real("hessian", "input", operands, advice)
        check_real("hessian", "output", run.outputs, advice)
        outputs, derivatives = transformed(run.recorded, hessian_rule, (), run.outputs)
        triples = product(run.outputs, operands, operands)
        parts = [block(t, *triple) for t, triple in zip(derivatives, triples, strict=True)]
        size = len(operands)
        for count in (len(run.outputs) * size, len(run.outputs)):
            parts = [arranged(run, parts[k * size : (k + 1) * size], argnums) for k in range(count)]
        output, aux = run.result(outputs)
        nested = blocks_of(run, output, parts)
        return (nested, aux) if has_aux else nested

    return compute


def hvp(
    function: Callable[..., object],
    primals: Sequence[object],
    tangents: Sequence[object],
    has_aux: bool = False,
) -> Any:
    """Compute the product of the Hessian of ``function`` and a vector.

    The product is the derivative of the gradient along ``tangents`` (forward over reverse mode).

    Args:
        function: function with a scalar output.
        primals: tuple or list of the arguments of ``function``.
        tangents: tuple or list of directions, with the structures and types of the arguments.
        has_aux: whether ``function`` returns a pair ``(output, aux)``. Default: ``False``.

    Returns:
        tuple: one product for each argument, or ``(products, aux)`` with ``has_aux``.

    Raises:
        TypeError: If an argument has no derivative, or the structure or dtype of a tangent differs from its
            argument.
        ValueError: If the shape of a tangent differs from its argument.

    >>> from mindgrad.core import hvp
    >>> hvp(lambda x, y: x * x * y, (2.0, 3.0), (1.0, 0.0))
    (6.0, 4.0)
    """
    check_call(hvp, function)
    check_sequences("hvp", primals=primals, tangents=tangents)
    run = recorded_run("hvp", function, tuple(primals), {}, range(len(primals)), has_aux)
    vectors = like_tree("hvp", "tangents", tuple(tangents), run.inputs.values())
    outputs, products = transformed(run.recorded, forward_over_reverse, vectors, run.outputs)
    found = run.inputs.trees(products)
    return (found, run.result(outputs)[1]) if has_aux else found


def _gradient(builder: Builder, xs: Sequence[Variable], ys: Atoms, _: Tangents = ()) -> list[Atom]:
    return reverse_rule(builder, xs, ys, [None] * len(ys))


def hessian_rule(builder: Builder, xs: Sequence[Variable], ys: Atoms, _: Tangents) -> list[Atom]:
    graph, needed = between(builder, xs, ys)
    jacobian = step(graph, len(needed), by_rows)
    return builder.inline(step(jacobian, len(needed), by_columns), [*needed, *xs])


@memoized
def _whole(program: Graph, argnum: int) -> Graph:
    """Return a graph of the Hessian of ``program`` with respect to input ``argnum``.

    The primitive ``control.lazy_hessian`` calls this function if the whole matrix is needed.
    """
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(program.inputs)
        outputs = builder.inline(program, inputs)
        return builder.close(hessian_rule(builder, [inputs[argnum]], outputs, ()))


def _deferred(builder: Builder, xs: Sequence[Variable], ys: Atoms, _: Tangents) -> list[Atom] | None:
    """Emit the Hessian as a single ``lazy_hessian`` equation, which is expanded later.

    If only the trace or the diagonal of the Hessian is used, a rewrite replaces the equation by cheaper
    derivatives. Returns ``None`` if the graph is not a function of one vector.
    """
    decomposition = extract_function_of_vector(builder, xs, ys)
    if decomposition is None:
        return None
    program, operands, argnum = decomposition
    return [lazy_hessian(*operands, program=program, argnum=argnum, whole=_whole)]


SHORTCUTS[hessian_rule] = _deferred


@dataclass(frozen=True)
class _Along:
    """Rule that differentiates the gradient of ``ys`` with ``rule``.

    The vectors of this rule are passed to ``rule``.
    """

    rule: Rule

    def __call__(self, builder: Builder, xs: Sequence[Variable], ys: Atoms, vs: Atoms) -> list[Atom]:
        graph, needed = between(builder, xs, ys)
        gradient = step(graph, len(needed), _gradient)
        return builder.inline(step(gradient, len(needed), self.rule, vs), [*needed, *xs, *vs])


forward_over_reverse: Rule = _Along(forward_rule)
reverse_over_reverse: Rule = _Along(reverse_rule)


def gauss_newton(builder: Builder, xs: Sequence[Variable], ys: Atoms, vs: Atoms) -> list[Atom]:
    graph, needed = between(builder, xs, ys)
    pushed = builder.inline(step(graph, len(needed), forward_rule, vs), [*needed, *xs, *vs])
    return _pulled(builder, graph, [*needed, *xs], len(needed), pushed)


def _pulled(builder: Builder, graph: Graph, inputs: Atoms, constants: int, cts: Atoms) -> list[Atom]:
    return builder.inline(step(graph, constants, reverse_rule, cts), [*inputs, *cts])


@dataclass(frozen=True)
class Generalized:
    """Rule for Gauss–Newton products Jᵀ ∇²ℓ J v of a model and a loss ℓ.

    The outputs ``ys`` of the run must be, in this order, ``count`` results of the model, ``count`` inputs of
    the loss, and the loss. The inputs of the loss are copies of the model results, but without a derivative.
    """

    count: int

    def __call__(self, builder: Builder, xs: Sequence[Variable], ys: Atoms, vs: Atoms) -> list[Atom]:
        count = self.count
        outputs, loss_inputs, losses = ys[:count], ys[count : 2 * count], ys[2 * count :]
        graph, needed = between(builder, xs, outputs)
        pushed = builder.inline(step(graph, len(needed), forward_rule, vs), [*needed, *xs, *vs])
        # Map each input of the loss to the model output and its tangent. Two equal model outputs are a single
        # input of the loss. An input that is a constant is left out, because its tangent is zero
        moving = {
            s: (y, t) for s, y, t in zip(loss_inputs, outputs, pushed, strict=True) if type(s) is Variable
        }
        loss, others = between(builder, list(moving), losses)
        curvature = step(step(loss, len(others), _gradient), len(others), forward_rule, list(moving))
        # evaluate ∇²ℓ at the model outputs instead of the copies without a derivative, so that the product
        # can be differentiated again
        at, along = ([pair[k] for pair in moving.values()] for k in (0, 1))
        curved = builder.inline(curvature, [*others, *at, *along])
        cotangent_of: dict[Atom, Atom] = dict(zip(moving, curved, strict=True))
        cotangents = [cotangent_of.pop(s, None) for s in loss_inputs]
        cts = [zeros(y.type) if ct is None else ct for y, ct in zip(outputs, cotangents, strict=True)]
        return _pulled(builder, graph, [*needed, *xs], len(needed), cts)
