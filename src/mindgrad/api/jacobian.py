"""``jacobian``, ``jacfwd``, and ``jacrev``: whole Jacobians in one pass.

    jacrev(f)[i] = J_fᵀ eᵢ, stacked over outputs        jacfwd(f)[…, j] = J_f eⱼ, stacked over inputs

The linear part of the derivative runs once, on a batch of all basis vectors (``transforms.batch``). Values
that do not depend on the basis vectors are computed once. The cost of ``jacrev`` grows with the number of
output elements, the cost of ``jacfwd`` with the number of input elements. ``jacobian`` chooses the cheaper.
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
from mindgrad.primitives.arithmetic import equal
from mindgrad.primitives.batching import placed
from mindgrad.primitives.kinds import ones, zeros
from mindgrad.primitives.structural import convert, iota, reshape
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
    """Return a function that computes the Jacobian of ``fn`` in reverse mode.

    Reverse mode is efficient if ``fn`` has few outputs.

    Args:
        fn (Callable or Cell): function whose arguments are Tensors, floats, or containers of Tensors and
            floats.
        grad_position (int, tuple of int, or None, optional): positional argument(s) to differentiate with
            respect to. ``None``: differentiate with respect to ``weights`` only. Default: ``0``.
        has_aux (bool, optional): whether to differentiate only the first output of ``fn`` and return its
            other outputs unchanged. Default: ``False``.
        weights (ParameterTuple, list, tuple, or Parameter, optional): parameters to differentiate with
            respect to. They may also be the third positional argument, as for :func:`grad`. Default:
            ``None``.

    Returns:
        Callable: function of the same arguments as ``fn`` that returns the Jacobian.

        ====================  ===============================================================
        requested             returned
        ====================  ===============================================================
        one position          Tensor of shape ``(*output.shape, *input.shape)``
        several positions     tuple of Jacobians, one for each position
        positions, weights    ``(by_position, by_weights)``
        several outputs       tuple with one entry of the above for each output
        with ``has_aux``      ``(jacobian, aux)``; several further outputs are a tuple
        ====================  ===============================================================

        For containers, the Jacobian is nested by output and then by input: ``J["out"]["in"]``. A float counts
        as shape ``()``, and the derivative of a float with respect to a float is a float.

    Raises:
        TypeError: If an argument has an unsupported type, an input or output is complex, or a container among
            the inputs has a leaf without derivative, such as an int.
        ValueError: If a position in ``grad_position`` is negative or repeated, if neither ``grad_position``
            nor ``weights`` is given, or if ``has_aux`` is set and ``fn`` has only one output.
        IndexError: If ``grad_position`` contains an index beyond the last argument in a call.

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

    See Also:
        :func:`mindgrad.jacfwd`, :func:`mindgrad.jacobian`, :func:`mindgrad.vjp`, :func:`mindgrad.hessian`
    """
    return _jacobian(by_rows, Request("jacrev", fn, grad_position, weights, has_aux))


@explains_keywords
def jacfwd(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    has_aux: bool = False,
    weights: Any = None,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of ``fn`` in forward mode.

    Forward mode is efficient if ``fn`` has few inputs. Outputs of real inputs may be complex:
    ``J = ∂Re y/∂x + i ∂Im y/∂x``.

    Args:
        fn (Callable or Cell): function whose arguments are Tensors, floats, or containers of Tensors and
            floats.
        grad_position (int, tuple of int, or None, optional): positional argument(s) to differentiate with
            respect to. ``None``: differentiate with respect to ``weights`` only. Default: ``0``.
        has_aux (bool, optional): whether to differentiate only the first output of ``fn`` and return its
            other outputs unchanged. Default: ``False``.
        weights (ParameterTuple, list, tuple, or Parameter, optional): parameters to differentiate with
            respect to. Default: ``None``.

    Returns:
        Callable: function of the same arguments as ``fn`` that returns the Jacobian, in the structure that
        :func:`jacrev` returns.

    Raises:
        TypeError: If an argument has an unsupported type, an input is complex, or a container among the
            inputs has a leaf without derivative, such as an int.
        ValueError: If a position in ``grad_position`` is negative or repeated, if neither ``grad_position``
            nor ``weights`` is given, or if ``has_aux`` is set and ``fn`` has only one output.
        IndexError: If ``grad_position`` contains an index beyond the last argument in a call.

    >>> import mindgrad as ms
    >>> print(ms.jacfwd(lambda t: ms.ops.sin(t * ms.Tensor([0.0, 1.0])))(ms.Tensor(0.0)))
    [0. 1.]

    See Also:
        :func:`mindgrad.jacrev`, :func:`mindgrad.jacobian`, :func:`mindgrad.jvp`, :func:`mindgrad.hessian`
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
    """Return a function that computes the dense or sparse Jacobian of ``fn``.

    It uses forward mode if ``fn`` has fewer input than output elements, and reverse mode otherwise.

    Args:
        fn (Callable or Cell): function whose arguments are Tensors, floats, or containers of Tensors and
            floats.
        grad_position (int, tuple of int, or None, optional): positional argument(s) to differentiate with
            respect to. ``None``: differentiate with respect to ``weights`` only. Default: ``0``.
        has_aux (bool, optional): whether to differentiate only the first output of ``fn`` and return its
            other outputs unchanged. Default: ``False``.
        sparse (bool, optional): whether to compute only the entries that can be nonzero. Each Jacobian is
            then a SciPy ``csr_array`` of shape ``(output.size, input.size)``. mindgrad derives the sparsity
            pattern from the traced function, once for each set of argument types. The pattern is valid for
            all values of the inputs, so some of its entries may be zero. If the Jacobian has few structural
            zeros, a warning recommends ``sparse=False``. Default: ``False``.
        weights (ParameterTuple, list, tuple, or Parameter, optional): parameters to differentiate with
            respect to. Default: ``None``.

    Returns:
        Callable: function of the same arguments as ``fn`` that returns the Jacobian, in the structure that
        :func:`jacrev` returns. The index arrays of sparse matrices are shared between calls and are
        read-only; ``.copy()`` returns a writable matrix. Sparse float16 and bfloat16 results are converted to
        float32, because SciPy does not have these dtypes.

    Raises:
        TypeError: If an argument has an unsupported type, an input or output is complex (:func:`jacfwd`
            accepts complex outputs), or ``sparse`` is set and an input has an integer dtype.
        ValueError: If a position in ``grad_position`` is negative or repeated, if neither ``grad_position``
            nor ``weights`` is given, or if ``has_aux`` is set and ``fn`` has only one output.
        IndexError: If ``grad_position`` contains an index beyond the last argument in a call.
        RuntimeError: If a sparse Jacobian is requested inside a compiled function or another derivative.

    >>> import mindgrad as ms
    >>> x = ms.Tensor([1.0, 2.0, 4.0])
    >>> print(ms.jacobian(lambda x: x[1:] * x[:-1])(x))
    [[2. 1. 0.]
     [0. 4. 2.]]
    >>> J = ms.jacobian(lambda x: x[1:] * x[:-1], sparse=True)(x)
    >>> print(type(J).__name__, J.nnz, J.toarray()[1])
    csr_array 4 [0. 4. 2.]

    See Also:
        :func:`mindgrad.jacfwd`, :func:`mindgrad.jacrev`, :func:`mindgrad.hessian`, :func:`mindgrad.jvp`,
        :func:`mindgrad.vjp`
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
    """Arrange ``rows``, one Jacobian per output tensor, in the structure of ``out``.

    Outputs that are numbers have no Jacobian.
    """
    leaves, structure = flatten(out)
    following = iter(rows)
    return unflatten(structure, [next(following) if isinstance(x, Tensor) else () for x in leaves])


# -- rules: functions of (builder, xs, ys, extras) that emit a derivative of ys with respect to xs, for
# ``record.transformed`` ---------------------------------------------------------------------------------


def identity(type: TensorType) -> Any:
    """Return all unit vectors of ``type``, stacked along a new first axis.

    For shape (2, 3), the result has shape (6, 2, 3).
    """
    n = type.size
    rows, columns = (iota(shape=(n, n), axis=axis, dtype=int32) for axis in (0, 1))
    return reshape(convert(equal(rows, columns), dtype=type.dtype), shape=(n, *type.shape))


def _swept(
    graph: Graph, needed: Sequence[Any], types: Sequence[TensorType]
) -> list[list[tuple[Any, int | None]]]:
    """Apply a linear graph to all basis vectors of its inputs.

    Args:
        graph: graph of ``(*needed, *vectors)``, which is linear in the vectors.
        needed: the residuals.
        types: types of the vectors.

    Returns:
        For each vector, the outputs for all its basis vectors, as pairs (output, batch axis). The other
        vectors are zero.
    """
    swept = []
    for k, type in enumerate(types):
        # an input of one element has one basis vector, so the derivative runs without a batch axis
        single = type.size == 1
        vectors = ones(type) if single else identity(type)
        basis = [vectors if j == k else zeros(other) for j, other in enumerate(types)]
        axes = [*[None] * len(needed), *[0 if j == k and not single else None for j in range(len(types))]]
        results, places = push_batch(graph, [*needed, *basis], axes, type.size)
        swept.append(list(zip(results, places, strict=True)))
    return swept


def by_rows(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any] = ()) -> list[Any]:
    """Compute the Jacobians of ``ys`` with respect to ``xs`` in reverse mode."""
    types = [y.type for y in ys]
    rows = []
    swept = _swept(*directional(builder, reverse_rule, xs, ys, types, is_forward=False), types)
    for y, found in zip(ys, swept, strict=True):
        for x, (ct, at) in zip(xs, found, strict=True):
            front = placed(y.type.size, ct, at, 0)
            rows.append(reshape(front, shape=(*y.shape, *x.shape)))
    return rows


def by_columns(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any] = ()) -> list[Any]:
    """Compute the Jacobians of ``ys`` with respect to ``xs`` in forward mode."""
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
    """Compute Jacobians in the cheaper mode, or in forward mode for complex outputs."""
    is_forward = sum(x.type.size for x in xs) <= sum(y.type.size for y in ys)
    rule = by_columns if is_forward or any(y.type.dtype.kind == "complex" for y in ys) else by_rows
    return rule(builder, xs, ys)
