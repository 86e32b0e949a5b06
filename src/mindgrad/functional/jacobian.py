"""``jacobian``, ``jacfwd`` and ``jacrev``: whole Jacobians in one sweep.

    jacrev(f)[i] = J_fᵀ eᵢ, stacked over outputs        jacfwd(f)[…, j] = J_f eⱼ, stacked over inputs

The linear part of the derivative runs once on all basis vectors at a time (``transforms.batch``); what
does not depend on them is computed once and not per basis vector. Cost: ``jacrev`` grows with the
number of output elements, ``jacfwd`` with that of input elements: ``jacobian`` takes the smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad._base.tree import flatten, unflatten
from mindgrad.core.build import Builder
from mindgrad.core.dtype import int32
from mindgrad.core.graph import Graph, Variable
from mindgrad.core.tensor import Tensor
from mindgrad.core.types import TensorType
from mindgrad.functional.arguments import check_callable, check_flag, check_positions
from mindgrad.functional.autodiff import forward_rule, reverse_rule
from mindgrad.functional.callables import arity, differentiates, in_either_mode, remembered
from mindgrad.functional.derive import Call, Run
from mindgrad.functional.record import transformed
from mindgrad.functional.sparse import sparse_function
from mindgrad.functional.wanted import Wanted, check_real
from mindgrad.primitives.arithmetic import equal
from mindgrad.primitives.batching import placed
from mindgrad.primitives.kinds import ones, zeros
from mindgrad.primitives.structural import convert, iota, reshape
from mindgrad.transforms.batch import push_batch
from mindgrad.transforms.linearize import dependent

__all__ = ["by_columns", "by_rows", "identity", "jacfwd", "jacobian", "jacrev"]


def jacrev(
    fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The Jacobian of ``fn`` in reverse mode: cheap for few outputs.

    Args:
        fn: a Cell or a function of Tensors.
        grad_position: the input to differentiate with respect to, or a tuple of several.
        has_aux: whether only the first of several outputs is differentiated, and the others are
            given back.

    Returns:
        A function of the arguments of ``fn``. For one output and one position it gives a Tensor of
        shape ``output.shape + input.shape``; for several outputs a tuple over them, for a tuple of
        positions a tuple over the inputs (within that of the outputs). With ``has_aux``
        ``(Jacobian, tuple of the other outputs)``.

    Raises:
        TypeError: an argument has another type; an input or output is complex.
        ValueError: a position is negative or stands twice; there is one output though ``has_aux``.
        IndexError: a position is beyond the inputs.

    >>> import mindgrad as ms
    >>> print(ms.jacrev(lambda x: x * x)(ms.Tensor([1.0, 2.0])))
    [[2. 0.]
     [0. 4.]]
    >>> print(ms.jacfwd(ms.jacrev(lambda x: x * x * x))(ms.Tensor(2.0)))  # the second derivative
    12.0
    """
    return _jacobian("jacrev", by_rows, fn, grad_position, has_aux)


def jacfwd(
    fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """The Jacobian of ``fn`` in forward mode: cheap for few inputs.

    Arguments, result and errors are those of :func:`jacrev`.

    >>> import mindgrad as ms
    >>> print(ms.jacfwd(lambda t: ms.ops.sin(t * ms.Tensor([0.0, 1.0])))(ms.Tensor(0.0)))
    [0. 1.]
    """
    return _jacobian("jacfwd", by_columns, fn, grad_position, has_aux)


def jacobian(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] = 0,
    has_aux: bool = False,
    sparse: bool = False,
) -> Callable[..., Any]:
    """The Jacobian of ``fn``, in forward or reverse mode, whichever has fewer directions; or a sparse one.

    Args:
        fn, grad_position, has_aux: as for :func:`jacrev`.
        sparse: whether to find out which entries can be other than zero, compute only these, and give
            SciPy's ``csr_array`` of shape ``(output.size, input.size)`` in place of each Tensor. Which they
            are is found from the program, once for each type of arguments, and holds for all their values;
            an entry of the pattern may still be zero. Where there is nothing to gain, a warning says so.

    Returns:
        A function of the arguments of ``fn``, as that of :func:`jacrev`. The arrays of a sparse matrix are
        shared with the next ones and cannot be written: ``.copy()`` gives a matrix of your own. Half
        precision, which SciPy does not have, becomes float32.

    Raises:
        As :func:`jacrev`; with ``sparse``
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
    check_positions("jacobian", grad_position)
    if not sparse:
        return _jacobian("jacobian", _by_fewer, fn, grad_position, has_aux)
    wanted = Wanted("jacobian", fn, grad_position, None, has_aux)
    return remembered(fn, (*wanted.key, "sparse"), lambda: sparse_function(wanted, second=False))


def _jacobian(
    owner: str, rule: Callable[..., list[Any]], fn: Callable[..., Any], grad_position: Any, has_aux: bool
) -> Callable[..., Any]:
    check_callable(owner, fn)
    check_positions(owner, grad_position)
    check_flag(owner, "has_aux", has_aux)
    return remembered(
        fn, (owner, grad_position, has_aux), lambda: _made(owner, rule, fn, grad_position, has_aux)
    )


def _made(
    owner: str, rule: Callable[..., list[Any]], fn: Callable[..., Any], grad_position: Any, has_aux: bool
) -> Callable[..., Any]:
    several = isinstance(grad_position, tuple)
    positions = grad_position if several else (grad_position,)

    def run(*args: Any, **kwargs: Any) -> Any:
        call = Call(owner, fn, arity(fn), args, kwargs, positions)
        run = Run(owner, fn, call.args, call.kwargs, call.positions, (), has_aux)
        check_real(owner, (*run.inputs.tensors, *run.outputs))
        outputs, found = transformed(run.recorded, rule, (), run.outputs)
        count = len(run.inputs.tensors)
        rows = []
        for start in range(0, len(found), count) if count else ():
            by_position = run.inputs.gradients(found[start : start + count])
            rows.append(tuple(by_position) if several else by_position[0])
        out = run.result(outputs)
        jacobian = _over_outputs(out[0] if has_aux else out, rows if count else [()] * len(run.outputs))
        return (jacobian, tuple(out[1:])) if has_aux else jacobian

    run.__name__ = run.__qualname__ = f"{owner}_of_{getattr(fn, '__name__', type(fn).__name__)}"
    return differentiates(in_either_mode(fn, run), fn)


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
    builder: Builder,
    rule: Callable[..., list[Any]],
    xs: Sequence[Any],
    ys: Sequence[Any],
    types: Sequence[TensorType],
) -> list[list[tuple[Any, int | None]]]:
    """``rule`` on every basis vector: for each of ``types``, all results with their batch axes."""
    given = [Variable(type) for type in types]
    produced = rule(builder, xs, ys, given)
    equations, needed = dependent(builder, given, produced)
    swept = []
    for k, type in enumerate(types):
        graph = Graph([*needed, *given], equations, produced)
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
    for y, found in zip(ys, _swept(builder, reverse_rule, xs, ys, types), strict=True):
        for x, (ct, at) in zip(xs, found, strict=True):
            front = placed(y.type.size, ct, at, 0)
            rows.append(reshape(front, shape=(*y.shape, *x.shape)))
    return rows


def by_columns(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any] = ()) -> list[Any]:
    """The Jacobians of each of ``ys`` by each of ``xs``, in forward mode."""
    types = [x.type for x in xs]
    swept = _swept(builder, forward_rule, xs, ys, types)
    rows = []
    for j, y in enumerate(ys):
        for x, found in zip(xs, swept, strict=True):
            t, at = found[j]
            last = placed(x.type.size, t, at, len(y.shape))
            rows.append(reshape(last, shape=(*y.shape, *x.shape)))
    return rows


def _by_fewer(builder: Builder, xs: Sequence[Any], ys: Sequence[Any], _: Sequence[Any] = ()) -> list[Any]:
    """The same, in the mode that has fewer directions."""
    rule = by_columns if sum(x.type.size for x in xs) <= sum(y.type.size for y in ys) else by_rows
    return rule(builder, xs, ys)
