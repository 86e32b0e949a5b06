"""Second derivatives: Hessians, and products with them or Gauss–Newton matrices.

    hessian(f)(x) = ∇²f(x)        hvp(f)(x, v) = ∇²f(x) v        vhp(f)(x, v) = vᵀ ∇²f(x)
    ggnvp(f, ℓ)(x, v) = Jᵀ ∇²ℓ(f(x)) J v

As in JAX, ``hessian`` is the forward-mode Jacobian of the reverse-mode Jacobian. The products do not form a
matrix: ``hvp`` is forward over reverse mode and costs a small multiple of the function, ``vhp`` is reverse
over reverse mode. The Gauss–Newton matrix is the Hessian of ℓ ∘ f without the second derivatives of f. It is
positive semidefinite if ℓ is convex (N. N. Schraudolph, *Fast curvature matrix-vector products for
second-order gradient descent*, 2002).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from mindgrad.api.argnums import Request
from mindgrad.api.arguments import Weights, check_callable, check_flag, explains_keywords
from mindgrad.api.callables import arity, differentiates, remembered
from mindgrad.api.matching import match
from mindgrad.api.sparse import sparse_function
from mindgrad.api.vjp_call import Run
from mindgrad.core.api.hessian import (
    Generalized,
    forward_over_reverse,
    gauss_newton,
    hessian_rule,
    reverse_over_reverse,
)
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.structural import stop_gradient
from mindgrad.core.trace import references
from mindgrad.core.trace.numbers import block
from mindgrad.core.trace.record import transformed
from mindgrad.frontend import user_calls

__all__ = ["ggnvp", "hessian", "hvp", "vhp"]


@explains_keywords
def hessian(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    has_aux: bool = False,
    weights: Any = None,
    sparse: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Hessian of ``fn``.

    The Hessian contains all second derivatives. A dense Hessian needs memory proportional to the square of
    the number of input elements. For products with vectors use :func:`hvp`.

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
        sparse (bool, optional): whether to compute only the second derivatives that can be nonzero, and
            return each matrix ``H[i][j]`` as a SciPy ``csr_array`` of shape ``(i.size, j.size)``. ``fn`` must
            have one output of one element. See ``docs/sparse.md`` and :func:`jacobian`. Default: ``False``.

    Returns:
        Callable: function of the same arguments as ``fn`` that returns the Hessian.

        ====================  ===============================================================
        requested             returned
        ====================  ===============================================================
        one position          Tensor of shape ``(*output.shape, *input.shape, *input.shape)``
        several positions     tuple of tuples ``H[i][j]``, each of shape ``(*i.shape, *j.shape)``
        several weights       tuple of tuples
        positions, weights    ``(by_position, by_weights)`` on both levels
        several outputs       tuple with one entry of the above for each output
        with ``has_aux``      ``(hessian, tuple of the other outputs)``
        ====================  ===============================================================

        For containers, the Hessian is nested by input on both levels: ``H["w"]["k"]``. A float counts as
        shape ``()``.

    Raises:
        TypeError: If an argument of ``fn`` has an unsupported type, or if an input or output of ``fn`` is
            complex.
        ValueError: If a position in ``grad_position`` is negative or repeated, or if neither
            ``grad_position`` nor ``weights`` is given.
        IndexError: If ``grad_position`` contains an index beyond the last argument in a call.
        RuntimeError: If a sparse Hessian is requested inside a compiled function or another derivative.

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

    See Also:
        :func:`mindgrad.hvp`, :func:`mindgrad.laplacian`, :func:`mindgrad.jacobian`, :func:`mindgrad.grad`
    """
    request = Request("hessian", fn, grad_position, weights, has_aux)
    check_flag("hessian", "sparse", sparse)
    if sparse:
        return remembered(fn, (*request.key, "sparse"), lambda: sparse_function(request, second=True))

    def make() -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            run = request.run(args, kwargs)
            outputs, derivatives = transformed(run.recorded, hessian_rule, (), run.outputs)
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
    """Return a function that computes the Hessian–vector product ``∇²f(x) v``.

    The product is the derivative of ``grad(fn)`` along ``v``. The Hessian is never formed.

    Args:
        fn (Callable or Cell): function of Tensors. If ``fn`` returns several elements, their sum is
            differentiated, as for :func:`grad`.
        grad_position (int, tuple of int, or None, optional): positional argument(s) to differentiate with
            respect to. ``None``: differentiate with respect to ``weights`` only. Default: ``0``.
        has_aux (bool, optional): whether to differentiate only the first output of ``fn`` and return its
            other outputs unchanged. Default: ``False``.
        weights (ParameterTuple, list, tuple, or Parameter, optional): parameters to differentiate with
            respect to, without repetitions. Default: ``None``.

    Returns:
        Callable: function of the arguments of ``fn`` and a vector ``v``, which is the last positional
        argument or a keyword. It returns the product, in the structure of ``v``. With ``has_aux``,
        ``(product, tuple of the other outputs)``.

        ====================  ===========================
        requested             ``v`` and the product
        ====================  ===========================
        one position          Tensor
        several positions     tuple of Tensors
        several weights       tuple of Tensors
        positions, weights    ``(by_position, by_weights)``
        ====================  ===========================

    Raises:
        TypeError: If an argument of ``fn`` has an unsupported type, ``v`` is missing, the structure or dtype
            of ``v`` differs from the differentiated inputs, or an input or output of ``fn`` is complex.
        ValueError: If a shape or the length of ``v`` differs from the differentiated inputs, a position in
            ``grad_position`` is negative or repeated, or neither ``grad_position`` nor ``weights`` is given.
        IndexError: If ``grad_position`` contains an index beyond the last argument in a call.

    >>> import mindgrad as ms
    >>> x, v = ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 10.0])
    >>> print(ms.hvp(lambda x: (x * x * x).sum())(x, v))  # 6 x v
    [  6. 120.]

    See Also:
        :func:`mindgrad.vhp`, :func:`mindgrad.ggnvp`, :func:`mindgrad.hessian`, :func:`mindgrad.jvp`
    """
    return _product("hvp", fn, grad_position, has_aux, weights, lambda _: forward_over_reverse)


@explains_keywords
def vhp(
    fn: Callable[..., Any],
    grad_position: int | tuple[int, ...] | None = 0,
    has_aux: bool = False,
    weights: Any = None,
) -> Callable[..., Any]:
    """Return a function that computes the vector–Hessian product ``vᵀ ∇²f(x)``.

    The product is the gradient of ``⟨grad(fn)(x), v⟩`` in reverse mode. Because a Hessian is symmetric, it
    equals :func:`hvp`, which is usually cheaper. The two differ only if a custom derivative (``bprop``) does
    not match its function.

    Args:
        fn (Callable or Cell): function of Tensors. If ``fn`` returns several elements, their sum is
            differentiated.
        grad_position (int, tuple of int, or None, optional): positional argument(s) to differentiate with
            respect to. ``None``: differentiate with respect to ``weights`` only. Default: ``0``.
        has_aux (bool, optional): whether to differentiate only the first output of ``fn`` and return its
            other outputs unchanged. Default: ``False``.
        weights (ParameterTuple, list, tuple, or Parameter, optional): parameters to differentiate with
            respect to, without repetitions. Default: ``None``.

    Returns:
        Callable: function of the arguments of ``fn`` and a vector ``v``. It returns the product with ``v``,
        in the structure of ``v``, as for :func:`hvp`.

    Raises:
        TypeError: If an argument of ``fn`` has an unsupported type, ``v`` is missing, the structure or dtype
            of ``v`` differs from the differentiated inputs, or an input or output of ``fn`` is complex.
        ValueError: If a shape or the length of ``v`` differs from the differentiated inputs, a position in
            ``grad_position`` is negative or repeated, or neither ``grad_position`` nor ``weights`` is given.
        IndexError: If ``grad_position`` contains an index beyond the last argument in a call.

    >>> import mindgrad as ms
    >>> x, v = ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 10.0])
    >>> print(ms.vhp(lambda x: (x * x * x).sum())(x, v))
    [  6. 120.]

    See Also:
        :func:`mindgrad.hvp`, :func:`mindgrad.hessian`, :func:`mindgrad.vjp`
    """
    return _product("vhp", fn, grad_position, has_aux, weights, lambda _: reverse_over_reverse)


@explains_keywords
def ggnvp(
    fn: Callable[..., Any],
    loss: Callable[..., Any] | None = None,
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
) -> Callable[..., Any]:
    """Return a function for products with the generalized Gauss–Newton matrix.

    The product is ``Jᵀ ∇²ℓ(f(x)) J v``, where J is the Jacobian of ``fn`` and ℓ is ``loss``. If ``loss`` is
    the negative log-likelihood of an exponential family (squared error, softmax with cross-entropy), the
    matrix is the Fisher information.

    Args:
        fn (Callable or Cell): the model, a function of Tensors.
        loss (Callable, optional): function of the output of ``fn``. If ``loss`` returns several elements,
            their sum is used. ``None``: half the sum of squares, so the product is ``Jᵀ J v``. Default:
            ``None``.
        grad_position (int, tuple of int, or None, optional): positional argument(s) to differentiate with
            respect to. ``None``: differentiate with respect to ``weights`` only. Default: ``0``.
        weights (ParameterTuple, list, tuple, or Parameter, optional): parameters to differentiate with
            respect to, without repetitions. Default: ``None``.

    Returns:
        Callable: function of the arguments of ``fn`` and a vector ``v``. It returns the product with ``v``,
        in the structure of ``v``, as for :func:`hvp`.

    Raises:
        TypeError: If ``fn`` or ``loss`` is not callable, an argument has an unsupported type, or ``v`` is
            missing. Also if the structure or dtype of ``v`` differs from the differentiated inputs, or an
            input or output of ``fn`` is complex.
        ValueError: If a shape or the length of ``v`` differs from the differentiated inputs, a position in
            ``grad_position`` is negative or repeated, or neither ``grad_position`` nor ``weights`` is given.
        IndexError: If ``grad_position`` contains an index beyond the last argument in a call.

    >>> import mindgrad as ms
    >>> x, v = ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 1.0])
    >>> print(ms.ggnvp(lambda x: x * x)(x, v))  # J = diag(2 x)
    [ 4. 16.]
    >>> print(ms.ggnvp(lambda x: x * x, lambda z: (z * z * z).sum())(x, v))  # 2 x · 6 x² · 2 x
    [ 24. 384.]

    See Also:
        :func:`mindgrad.hvp`, :func:`mindgrad.jvp`, :func:`mindgrad.vjp`
    """
    if loss is None:
        return _product("ggnvp", fn, grad_position, False, weights, lambda _: gauss_newton)
    check_callable("ggnvp", fn)
    check_callable("ggnvp", loss)

    def with_loss(*args: Any, **kwargs: Any) -> Any:
        out = user_calls.run(fn, *args, **kwargs)
        leaves, structure = flatten(out)
        # stop the gradient between model and loss, so that the loss is differentiated separately
        detached = [apply(stop_gradient, references.read(x)) if isinstance(x, Tensor) else x for x in leaves]
        return (
            out,
            [x for x in detached if isinstance(x, Tensor)],
            user_calls.run(loss, unflatten(structure, detached)),
        )

    def make() -> Callable[..., Any]:
        own = differentiates(with_loss, fn, order=0)
        return _product("ggnvp", own, grad_position, False, weights, lambda run: Generalized(_models(run)))

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
    """Return a function of the arguments of ``fn`` and ``v`` for one product.

    ``rule_of`` returns the rule that computes the product for a run of ``fn``.
    """
    request = Request(owner, fn, grad_position, weights, has_aux)
    request.check_unique()

    def make() -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            if "v" in kwargs and "v" not in arity(fn).names:
                v = kwargs.pop("v")
            elif args:
                *args, v = args  # type: ignore[assignment]
            else:
                raise TypeError(f"For '{owner}', the last argument, 'v', is missing.")
            run = request.run(args, kwargs)
            tangents = match(owner, "v", v, request.like(run.inputs), "part that is differentiated")
            outputs, products = transformed(run.recorded, rule_of(run), tangents, run.outputs)
            result = request.arranged(run.inputs, run.inputs.like(products))
            return (result, tuple(run.result(outputs)[1:])) if request.has_aux else result

        return request.named(run, 1, order=2)

    return remembered(fn, request.key, make)


def _models(run: Run) -> int:
    """Return the number of output tensors of the model in a run of model and loss."""
    return len(run.result(run.recorded.outputs)[1])
