"""Second derivatives: the Hessian, its products with a vector, and those of the Gauss–Newton matrix.

    hessian(f)(x) = ∇²f(x)        hvp(f)(x, v) = ∇²f(x) v        vhp(f)(x, v) = vᵀ ∇²f(x)
    ggnvp(f, ℓ)(x, v) = Jᵀ ∇²ℓ(f(x)) J v

A Hessian is the forward-mode Jacobian of the reverse-mode one, as jax composes it; the products need no
matrix: hvp is forward over reverse mode and costs a small multiple of the function, vhp reverse over
reverse. The Gauss–Newton product is the part of the Hessian of ℓ ∘ f without second derivatives of f, and
positive semidefinite for a convex ℓ (N. N. Schraudolph, *Fast curvature matrix-vector products for
second-order gradient descent*, 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any

from mindgrad._base.tree import flatten, unflatten
from mindgrad.api.argnums import Request
from mindgrad.api.arguments import Weights, check_callable, check_flag, explains_keywords
from mindgrad.api.callables import arity, differentiates, remembered
from mindgrad.api.jacobian import by_columns, by_rows
from mindgrad.api.matching import match
from mindgrad.api.sparse import sparse_function
from mindgrad.api.vjp_call import Run
from mindgrad.control.lazy_hessian import lazy_hessian
from mindgrad.execution.pullback import forward_rule, reverse_rule
from mindgrad.execution.record import transformed
from mindgrad.ir.build import Builder, building
from mindgrad.ir.graph import Graph, Variable
from mindgrad.ir.memo import memoized
from mindgrad.ir.scope import apply
from mindgrad.ir.tensor import Tensor
from mindgrad.optimize.mode_choice import of_vector
from mindgrad.rows.kinds import zeros
from mindgrad.rows.structural import stop_gradient
from mindgrad.trace import state, user_calls
from mindgrad.trace.numbers import block
from mindgrad.transforms.apply_rule import between, step

__all__ = ["ggnvp", "hessian", "hvp", "vhp"]


@explains_keywords
def hessian(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    has_aux: bool = False,
    weights: Any = None,
    sparse: bool = False,
) -> Callable[..., Any]:
    """The Hessian of ``fn``: all its second derivatives.

    Args:
        fn: a Cell or a function of Tensors, floats, and containers of these.
        grad_position: the input to differentiate with respect to, or a tuple of several; ``None`` for
            none (then ``weights`` are needed).
        has_aux: whether only the first of several outputs is differentiated, and the others are given
            back.
        weights: a ParameterTuple, tuple or list of Parameters, or one Parameter; here or in the third
            place, as for :func:`grad`.
        sparse: whether to find out which second derivatives can be other than zero, compute only these, and
            give SciPy's ``csr_array`` of shape ``(i.size, j.size)`` in place of each Tensor. ``fn`` then has
            one output of one element. See ``docs/sparse.md`` and :func:`jacobian`.

    Returns:
        A function of the arguments of ``fn``. For one output and one position it gives a Tensor of shape
        ``output.shape + input.shape + input.shape``; for a tuple of positions a tuple over them of tuples
        over them, ``H[i][j]`` with ``i.shape + j.shape``; for several weights the same over these, and
        ``(by inputs, by weights)`` on both levels where both are asked for. Several outputs give a tuple
        over them around it. Where an input is a container its structure stands there on both levels:
        ``H["w"]["k"]``; a float counts as shape ``()``. With ``has_aux`` ``(Hessian, tuple of the other
        outputs)``.

    Raises:
        TypeError: an argument has another type; an input or output is complex.
        ValueError: a position is negative or stands twice; nothing is asked for.
        IndexError: a position is beyond the inputs.
        RuntimeError: a sparse Hessian is asked for inside a compiled function or another derivative.

    The memory of a dense Hessian is the square of the number of elements: for a product with vectors take
    :func:`hvp`.

    >>> import mindgrad as ms
    >>> x, y = ms.Tensor([1.0, 2.0]), ms.Tensor([3.0])
    >>> print(ms.hessian(lambda x: (x * x * x).sum())(x))  # 6 x on the diagonal
    [[ 6.  0.]
     [ 0. 12.]]
    >>> (xx, xy), (yx, yy) = ms.hessian(lambda x, y: (x * x * y).sum(), (0, 1))(x, y)
    >>> print(xx.shape, xy.shape, yx.shape, yy)
    (2, 2) (2, 1) (1, 2) [[0.]]
    >>> H = ms.hessian(lambda p: (p["x"] ** 2 * p["k"]).sum())({"x": x, "k": 3.0})
    >>> print(H["x"]["x"], H["x"]["k"], H["k"]["k"])
    [[6. 0.]
     [0. 6.]] [2. 4.] 0.0
    >>> H = ms.hessian(lambda x: ((x[1:] - x[:-1]) ** 2).sum(), sparse=True)(ms.ops.ones(1000, ms.float32))
    >>> H.shape, H.nnz
    ((1000, 1000), 2998)
    """
    request = Request("hessian", fn, grad_position, weights, has_aux)
    check_flag("hessian", "sparse", sparse)
    if sparse:
        return remembered(fn, (*request.key, "sparse"), lambda: sparse_function(request, second=True))

    def make() -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            run = request.run(args, kwargs)
            outputs, derivatives = transformed(run.recorded, _hessian_rule, (), run.outputs, _deferred)
            operands = request.operands(run)
            n = len(operands)
            triples = product(run.outputs, operands, operands)
            derivatives = [block(t, *triple) for t, triple in zip(derivatives, triples, strict=True)]
            rows = [
                request.arranged(run.inputs, derivatives[i : i + n])
                for i in range(0, len(derivatives), n or 1)
            ]
            blocks = [
                request.arranged(run.inputs, rows[k * n : (k + 1) * n]) for k in range(len(run.outputs))
            ]
            out = run.result(outputs)
            leaves, structure = flatten(out[0] if request.has_aux else out)
            following = iter(blocks)
            hessians = unflatten(
                structure, [next(following) if isinstance(x, Tensor) else () for x in leaves]
            )
            return (hessians, tuple(out[1:])) if request.has_aux else hessians

        return request.named(run, order=2)

    return remembered(fn, request.key, make)


@explains_keywords
def hvp(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    has_aux: bool = False,
    weights: Any = None,
) -> Callable[..., Any]:
    """The Hessian–vector product ``∇²f(x) v``: the derivative of ``grad(fn)`` along ``v``.

    Args:
        fn: a Cell or a function of Tensors. As for ``grad``, several elements of outputs are summed.
        grad_position: the input to differentiate with respect to, or a tuple of several; ``None`` for
            none (then ``weights`` are needed).
        has_aux: whether only the first of several outputs is differentiated, and the others are given
            back.
        weights: a ParameterTuple, tuple or list of Parameters, or one Parameter; each once.

    Returns:
        A function of the arguments of ``fn`` and of ``v``, the last one or by keyword: like what is
        differentiated, a Tensor for an int, a tuple for a tuple or for several weights,
        ``(inputs, weights)`` for both. It gives the product in the same structure; with ``has_aux``
        ``(product, tuple of the other outputs)``.

    Raises:
        TypeError: an argument has another type; ``v`` is missing, has another structure or dtype; an input
            or output is complex.
        ValueError: a shape or length of ``v`` differs; a position is negative or stands twice; nothing is
            asked for.
        IndexError: a position is beyond the inputs.

    >>> import mindgrad as ms
    >>> x, v = ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 10.0])
    >>> print(ms.hvp(lambda x: (x * x * x).sum())(x, v))  # 6 x v
    [  6. 120.]
    """
    return _product("hvp", fn, grad_position, has_aux, weights, lambda _: _forward_over_reverse)


@explains_keywords
def vhp(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    has_aux: bool = False,
    weights: Any = None,
) -> Callable[..., Any]:
    """The vector–Hessian product ``vᵀ ∇²f(x)``: the gradient of ``⟨grad(fn)(x), v⟩``, in reverse mode.

    A Hessian is symmetric, so that it is :func:`hvp`, which is usually cheaper; the two differ where a
    derivative of its own (``bprop``) is not that of the function. Arguments, result and errors are those of
    :func:`hvp`.

    >>> import mindgrad as ms
    >>> x, v = ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 10.0])
    >>> print(ms.vhp(lambda x: (x * x * x).sum())(x, v))
    [  6. 120.]
    """
    return _product("vhp", fn, grad_position, has_aux, weights, lambda _: _reverse_over_reverse)


@explains_keywords
def ggnvp(
    fn: Callable[..., Any],
    loss: Callable[..., Any] | None = None,
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
) -> Callable[..., Any]:
    """The product with the generalised Gauss–Newton matrix ``Jᵀ ∇²ℓ(f(x)) J v``.

    J is the Jacobian of ``fn`` and ℓ the ``loss`` of its result. For the negative log-likelihood of an
    exponential family (squares, softmax with cross entropy) the matrix is the Fisher information. The name
    is that of the field (*generalised Gauss–Newton–vector product*).

    Args:
        fn: a Cell or a function: the model.
        loss: a function of the result of ``fn``, of which several elements are summed; by default half the
            sum of squares, for which the product is ``Jᵀ J v``.
        grad_position: the input to differentiate with respect to, or a tuple of several; ``None`` for
            none (then ``weights`` are needed).
        weights: a ParameterTuple, tuple or list of Parameters, or one Parameter; each once.

    Returns:
        A function of the arguments of ``fn`` and of ``v``, as that of :func:`hvp`.

    Raises:
        As :func:`hvp`; TypeError: ``loss`` cannot be called.

    >>> import mindgrad as ms
    >>> x, v = ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 1.0])
    >>> print(ms.ggnvp(lambda x: x * x)(x, v))  # J = diag(2 x)
    [ 4. 16.]
    >>> print(ms.ggnvp(lambda x: x * x, lambda z: (z * z * z).sum())(x, v))  # 2 x · 6 x² · 2 x
    [ 24. 384.]
    """
    if loss is None:
        return _product("ggnvp", fn, grad_position, False, weights, lambda _: _gauss_newton)
    check_callable("ggnvp", fn)
    check_callable("ggnvp", loss)

    def with_loss(*args: Any, **kwargs: Any) -> Any:
        out = user_calls.run(fn, *args, **kwargs)
        leaves, structure = flatten(out)
        # what the loss sees is cut off from the function, so that it is differentiated by itself
        detached = [apply(stop_gradient, state.read(x)) if isinstance(x, Tensor) else x for x in leaves]
        return (
            out,
            [x for x in detached if isinstance(x, Tensor)],
            user_calls.run(loss, unflatten(structure, detached)),
        )

    def make() -> Callable[..., Any]:
        own = differentiates(with_loss, fn, order=0)
        return _product("ggnvp", own, grad_position, False, weights, lambda run: _generalised(_models(run)))

    key = ("ggnvp", loss, grad_position, None if weights is None else Weights("ggnvp", weights).key)
    return remembered(fn, key, make)


def _product(
    owner: str,
    fn: Callable[..., Any],
    grad_position: Any,
    has_aux: bool,
    weights: Any,
    rule_of: Callable[[Run], Callable[..., list[Any]]],
) -> Callable[..., Any]:
    """The function of the arguments of ``fn`` and of ``v`` that applies the rule for a run to ``v``."""
    request = Request(owner, fn, grad_position, weights, has_aux)
    request.check_unique()

    def make() -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            if "v" in kwargs and "v" not in arity(fn).names:
                v = kwargs.pop("v")
            elif args:
                *args, v = args  # type: ignore[assignment]
            else:
                raise TypeError(f"For '{owner}', the 'v' is missing: it is the last argument.")
            run = request.run(args, kwargs)
            tangents = match(owner, "v", v, request.like(run.inputs), "part that is differentiated")
            outputs, products = transformed(run.recorded, rule_of(run), tangents, run.outputs)
            result = request.arranged(run.inputs, run.inputs.like(products))
            return (result, tuple(run.result(outputs)[1:])) if request.has_aux else result

        return request.named(run, 1, order=2)

    return remembered(fn, request.key, make)


# -- rules, as ``record.transformed`` takes them ----------------------------------------------------------
#
# Each step is a transform of a closed graph: an inner derivative is finished before the outer one begins.

Rule = Callable[..., list[Any]]


def _gradient(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any] = ()) -> list[Any]:
    return reverse_rule(builder, xs, ys, [None] * len(ys))


def _hessian_rule(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any]) -> list[Any]:
    graph, needed = between(builder, xs, ys)
    jacobian = step(graph, len(needed), by_rows)
    return builder.inline(step(jacobian, len(needed), by_columns), [*needed, *xs])


@memoized
def _whole(program: Graph, argnum: int) -> Graph:
    """The Hessian of a program in one of its inputs, as ``control.lazy_hessian`` takes it."""
    builder = Builder()
    with building(builder):
        inputs = builder.inputs_like(program.inputs)
        outputs = builder.inline(program, inputs)
        return builder.close(_hessian_rule(builder, [inputs[argnum]], outputs, ()))


def _deferred(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any]) -> list[Any] | None:
    """The results of ``_hessian_rule`` as one lazy equation; ``None`` where the program has no such form."""
    decomposition = of_vector(builder, xs, ys)
    if decomposition is None:
        return None
    program, operands, argnum = decomposition
    return [lazy_hessian(*operands, program=program, argnum=argnum, whole=_whole)]


@cache
def _along(rule: Rule) -> Rule:
    """``rule`` of the gradient, along what is given."""

    def along(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], vs: Sequence[Any]) -> list[Any]:
        graph, needed = between(builder, xs, ys)
        gradient = step(graph, len(needed), _gradient)
        return builder.inline(step(gradient, len(needed), rule, vs), [*needed, *xs, *vs])

    return along


_forward_over_reverse = _along(forward_rule)
_reverse_over_reverse = _along(reverse_rule)


def _gauss_newton(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], vs: Sequence[Any]) -> list[Any]:
    graph, needed = between(builder, xs, ys)
    pushed = builder.inline(step(graph, len(needed), forward_rule, vs), [*needed, *xs, *vs])
    return _pulled(builder, graph, [*needed, *xs], len(needed), pushed)


def _pulled(
    builder: Builder, graph: Graph, inputs: Sequence[Any], constants: int, cts: Sequence[Any]
) -> list[Any]:
    return builder.inline(step(graph, constants, reverse_rule, cts), [*inputs, *cts])


def _models(run: Run) -> int:
    """The number of tensors that the model gives, of a run of the model with its loss."""
    return len(run.result(run.recorded.outputs)[1])


@cache
def _generalised(count: int) -> Rule:
    """The rule for ``count`` results of the model, as many that the loss has seen, and the loss."""

    def rule(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], vs: Sequence[Any]) -> list[Any]:
        outputs, loss_inputs, losses = ys[:count], ys[count : 2 * count], ys[2 * count :]
        graph, needed = between(builder, xs, outputs)
        pushed = builder.inline(step(graph, len(needed), forward_rule, vs), [*needed, *xs, *vs])
        # one that is given twice is one variable, and a constant does not move
        moving = {
            s: (y, t) for s, y, t in zip(loss_inputs, outputs, pushed, strict=True) if type(s) is Variable
        }
        loss, others = between(builder, list(moving), losses)
        curvature = step(step(loss, len(others), _gradient), len(others), forward_rule, list(moving))
        # on the outputs themselves: what differentiates the product must not be stopped
        at, along = ([pair[k] for pair in moving.values()] for k in (0, 1))
        curved = builder.inline(curvature, [*others, *at, *along])
        cotangent_of = dict(zip(moving, curved, strict=True))
        cotangents = [cotangent_of.pop(s, None) for s in loss_inputs]
        cts = [zeros(y.type) if ct is None else ct for y, ct in zip(outputs, cotangents, strict=True)]
        return _pulled(builder, graph, [*needed, *xs], len(needed), cts)

    return rule
