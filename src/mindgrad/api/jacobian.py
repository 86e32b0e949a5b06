"""``jacobian``, ``jacfwd`` and ``jacrev``: whole Jacobians in one sweep.

    jacrev(f)[i] = J_fᵀ eᵢ, stacked over outputs        jacfwd(f)[…, j] = J_f eⱼ, stacked over inputs

The linear part of the derivative runs once on all basis vectors at a time (``transforms.batch``); what
does not depend on them is computed once and not per basis vector. Cost: ``jacrev`` grows with the
number of output elements, ``jacfwd`` with that of input elements: ``jacobian`` takes the smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from mindgrad._base.tree import flatten, unflatten
from mindgrad.api.argnums import Request
from mindgrad.api.arguments import check_flag, explains_keywords
from mindgrad.api.callables import remembered
from mindgrad.api.sparse import sparse_function
from mindgrad.api.vjp_call import further
from mindgrad.execution.pullback import forward_rule, reverse_rule
from mindgrad.execution.record import transformed
from mindgrad.ir.build import Builder
from mindgrad.ir.dtype import int32
from mindgrad.ir.graph import Graph
from mindgrad.ir.tensor import Tensor
from mindgrad.ir.types import TensorType
from mindgrad.rows.arithmetic import equal
from mindgrad.rows.batching import placed
from mindgrad.rows.kinds import ones, zeros
from mindgrad.rows.structural import convert, iota, reshape
from mindgrad.trace.numbers import block
from mindgrad.transforms.apply_rule import directional
from mindgrad.transforms.batch import push_batch

__all__ = ["by_columns", "by_rows", "identity", "jacfwd", "jacobian", "jacrev"]


@explains_keywords
def jacrev(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    has_aux: bool = False,
    weights: Any = None,
) -> Callable[..., Any]:
    """The Jacobian of ``fn`` in reverse mode: cheap for few outputs.

    Args:
        fn: a Cell or a function of Tensors, floats, and containers of these.
        grad_position: the input to differentiate with respect to, or a tuple of several; ``None`` for
            none (then ``weights`` are needed).
        has_aux: whether only the first of several outputs is differentiated, and the others are
            given back.
        weights: a ParameterTuple, tuple or list of Parameters, or one Parameter; here or in the third
            place, as for :func:`grad`.

    Returns:
        A function of the arguments of ``fn``. For one output and one position it gives a Tensor of
        shape ``output.shape + input.shape``; for several outputs a tuple over them, for a tuple of
        positions a tuple over the inputs (within that of the outputs), for both inputs and weights
        ``(by inputs, by weights)``. Where an output or an input is a container, its structure stands there:
        ``J["out"]["in"]``; a float counts as shape ``()``, and the derivative of a float by a float is
        one. With ``has_aux`` ``(Jacobian, aux)``, where a single further output is bare, several are a tuple.

    Raises:
        TypeError: an argument has another type; an input or output is complex; something in an input has
            no derivative.
        ValueError: a position is negative or stands twice; nothing is asked for; there is one output
            though ``has_aux``.
        IndexError: a position is beyond the inputs.

    >>> import mindgrad as ms
    >>> print(ms.jacrev(lambda x: x * x)(ms.Tensor([1.0, 2.0])))
    [[2. 0.]
     [0. 4.]]
    >>> print(ms.jacfwd(ms.jacrev(lambda x: x * x * x))(ms.Tensor(2.0)))  # the second derivative
    12.0
    >>> J = ms.jacrev(lambda p: {"y": p["w"] * p["k"]})({"w": ms.Tensor([1.0, 2.0]), "k": 3.0})
    >>> print(J["y"]["w"], J["y"]["k"])
    [[3. 0.]
     [0. 3.]] [1. 2.]
    """
    return _jacobian(by_rows, Request("jacrev", fn, grad_position, weights, has_aux))


@explains_keywords
def jacfwd(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    has_aux: bool = False,
    weights: Any = None,
) -> Callable[..., Any]:
    """The Jacobian of ``fn`` in forward mode: cheap for few inputs.

    Arguments, result and errors are those of :func:`jacrev`, but that outputs of real inputs may be complex:
    ``J = ∂Re y/∂x + i ∂Im y/∂x``.

    >>> import mindgrad as ms
    >>> print(ms.jacfwd(lambda t: ms.ops.sin(t * ms.Tensor([0.0, 1.0])))(ms.Tensor(0.0)))
    [0. 1.]
    """
    return _jacobian(by_columns, Request("jacfwd", fn, grad_position, weights, has_aux))


@explains_keywords
def jacobian(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    has_aux: bool = False,
    sparse: bool = False,
    weights: Any = None,
) -> Callable[..., Any]:
    """The Jacobian of ``fn``, in forward or reverse mode, whichever has fewer directions; or a sparse one.

    Args:
        fn, grad_position, has_aux, weights: as for :func:`jacrev`.
        sparse: whether to find out which entries can be other than zero, compute only these, and give
            SciPy's ``csr_array`` of shape ``(output.size, input.size)`` in place of each Tensor. Which they
            are is found from the program, once for each type of arguments, and holds for all their values;
            an entry of the pattern may still be zero. Where there is nothing to gain, a warning says so.

    Returns:
        A function of the arguments of ``fn``, as that of :func:`jacrev`. The arrays of a sparse matrix are
        shared with the next ones and cannot be written: ``.copy()`` gives a matrix of your own. Half
        precision, which SciPy does not have, becomes float32.

    Raises:
        As :func:`jacrev`, but for complex outputs, which :func:`jacfwd` takes too; with ``sparse``
        TypeError: what is differentiated is of integers.
        RuntimeError: it is called inside a compiled function or another derivative.

    >>> import mindgrad as ms
    >>> x = ms.Tensor([1.0, 2.0, 4.0])
    >>> print(ms.jacobian(lambda x: x[1:] * x[:-1])(x))
    [[2. 1. 0.]
     [0. 4. 2.]]
    >>> J = ms.jacobian(lambda x: x[1:] * x[:-1], sparse=True)(x)
    >>> print(type(J).__name__, J.nnz, J.toarray()[1])
    csr_array 4 [0. 4. 2.]
    """
    check_flag("jacobian", "sparse", sparse)
    request = Request("jacobian", fn, grad_position, weights, has_aux)
    if not sparse:
        return _jacobian(_by_fewer, request)
    return remembered(fn, (*request.key, "sparse"), lambda: sparse_function(request, second=False))


def _jacobian(rule: Callable[..., list[Any]], request: Request) -> Callable[..., Any]:
    def make() -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            run = request.run(args, kwargs, complex_outputs=rule is not by_rows)
            outputs, derivatives = transformed(run.recorded, rule, (), run.outputs)
            operands = request.operands(run)
            pairs = product(run.outputs, operands)
            blocks = [block(t, *pair) for t, pair in zip(derivatives, pairs, strict=True)]
            n = len(operands)
            rows = [
                request.arranged(run.inputs, blocks[k * n : (k + 1) * n]) for k in range(len(run.outputs))
            ]
            out = run.result(outputs)
            if not request.has_aux:
                return _over_outputs(out, rows)
            return _over_outputs(out[0], rows), further(out)

        return request.named(run)

    return remembered(request.fn, request.key, make)


def _over_outputs(out: Any, rows: Sequence[Any]) -> Any:
    """One row per tensor of ``out``, in its structure; numbers have no row."""
    leaves, structure = flatten(out)
    following = iter(rows)
    return unflatten(structure, [next(following) if isinstance(x, Tensor) else () for x in leaves])


# -- rules, as ``record.transformed`` takes them ---------------------------------------------------


def identity(type: TensorType) -> Any:
    """The basis vectors of ``type``, stacked along a new first axis."""
    n = type.size
    rows, columns = (iota(shape=(n, n), axis=axis, dtype=int32) for axis in (0, 1))
    return reshape(convert(equal(rows, columns), dtype=type.dtype), shape=(n, *type.shape))


def _swept(
    graph: Graph, needed: Sequence[Any], types: Sequence[TensorType]
) -> list[list[tuple[Any, int | None]]]:
    """A derivative on every basis vector: for each of ``types``, all results with their batch axes."""
    swept = []
    for k, type in enumerate(types):
        # the one basis vector of a single element needs no axis to stand along
        single = type.size == 1
        vectors = ones(type) if single else identity(type)
        basis = [vectors if j == k else zeros(other) for j, other in enumerate(types)]
        axes = [*[None] * len(needed), *[0 if j == k and not single else None for j in range(len(types))]]
        results, places = push_batch(graph, [*needed, *basis], axes, type.size)
        swept.append(list(zip(results, places, strict=True)))
    return swept


def by_rows(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any] = ()) -> list[Any]:
    """The Jacobians of each of ``ys`` by each of ``xs``, in reverse mode."""
    types = [y.type for y in ys]
    rows = []
    swept = _swept(*directional(builder, reverse_rule, xs, ys, types, is_forward=False), types)
    for y, found in zip(ys, swept, strict=True):
        for x, (ct, at) in zip(xs, found, strict=True):
            front = placed(y.type.size, ct, at, 0)
            rows.append(reshape(front, shape=(*y.shape, *x.shape)))
    return rows


def by_columns(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any] = ()) -> list[Any]:
    """The Jacobians of each of ``ys`` by each of ``xs``, in forward mode."""
    types = [x.type for x in xs]
    swept = _swept(*directional(builder, forward_rule, xs, ys, types, is_forward=True), types)
    rows = []
    for j, y in enumerate(ys):
        for x, found in zip(xs, swept, strict=True):
            t, at = found[j]
            last = placed(x.type.size, t, at, len(y.shape))
            rows.append(reshape(last, shape=(*y.shape, *x.shape)))
    return rows


def _by_fewer(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any] = ()) -> list[Any]:
    """The same, in the mode that has fewer directions; of complex outputs forwards."""
    is_forward = sum(x.type.size for x in xs) <= sum(y.type.size for y in ys)
    rule = by_columns if is_forward or any(y.type.dtype.kind == "complex" for y in ys) else by_rows
    return rule(builder, xs, ys)
