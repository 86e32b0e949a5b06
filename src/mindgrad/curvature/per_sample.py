"""Per-sample gradients: their norms, second moments, and clipped sums.

    g[n] = ∂ loss[n] / ∂w        ‖g[n]‖        Σ_n g[n]²        Σ_n g[n] min(1, c / ‖g[n]‖)

If the samples are independent, one reverse pass computes the cotangents of all samples. For a contraction,
the gradient of a sample is a sum of outer products, whose norm follows from small inner products:

    ‖a ⊗ g‖² = ‖a‖² ‖g‖²        ‖Σ_t a_t ⊗ g_t‖² = Σ_{t, t'} (a_t · a_t') (g_t · g_t')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.api.vjp_call import Run
from mindgrad.core.base.tree import unflatten
from mindgrad.core.ir.build import Builder, building, current
from mindgrad.core.ir.graph import Atom, Variable
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.comparisons import equal, greater
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.elementwise import sqrt
from mindgrad.core.primitives.indexing import gather
from mindgrad.core.primitives.kinds import accumulate, ones, zeros
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.structural import broadcast_in_dim, convert, reshape
from mindgrad.core.transforms.reverse import pull_back
from mindgrad.curvature.objective import Objective, derivatives
from mindgrad.curvature.outer_products import OuterProducts, arrange
from mindgrad.curvature.row_derivatives import RowDerivatives, contraction_of, moments_of_products
from mindgrad.curvature.row_jacobian import sum_of

__all__ = ["clipped_gradient", "per_sample_gradients", "per_sample_norms", "second_moments"]


def per_sample_gradients(loss: Callable[..., Any], weights: Any, *args: Any) -> Any:
    """Return the gradient of the loss of each sample.

    The loss of sample n must depend on sample n only. One reverse pass then computes all gradients.

    Args:
        loss (Callable): function that returns one loss for each sample, a Tensor of shape ``(N,)``. It is
            called as ``loss(*args)`` if the weights are Parameters, and else as ``loss(weights, *args)``.
        weights (Parameter, Tensor, or container): the Parameters that ``loss`` reads, such as
            ``net.trainable_params()``, or a container of Tensors.
        *args (Any): further arguments of ``loss``.

    Returns:
        A container with the structure of ``weights``. For a weight of shape ``s``, it contains a Tensor of
        shape ``(N, *s)`` with the dtype of the weight.

    Raises:
        TypeError: If a weight is not a Parameter or Tensor of a real floating dtype.
        ValueError: If ``loss`` does not return one Tensor of shape ``(N,)``, or if an operator mixes samples,
            such as batch normalization during training.

    Examples:
        >>> import mindgrad as ms
        >>> from mindgrad import ops
        >>> w = ms.Tensor([1.0, -1.0])
        >>> x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> def loss(w, x):
        ...     return 0.5 * ops.square(x @ w)
        >>> print(ms.curvature.per_sample_gradients(loss, w, x))
        [[-1. -2.]
         [-3. -4.]]

    See Also:
        :func:`per_sample_norms`: norms, without the gradients.
        :func:`clipped_gradient`: the sum of clipped gradients.
    """
    objective = Objective("per_sample_gradients", loss, weights, args, needs_all=False)
    return unflatten(objective.space.structure, objective.call(_gradients))


def per_sample_norms(loss: Callable[..., Any], weights: Any, *args: Any) -> Tensor:
    """Return the Euclidean norm of the gradient of each sample.

    The norm of sample n is taken over all weights. For contractions, convolutions, and lookups, the norms
    follow from inner products of layer inputs and cotangents, and no per-sample gradient is stored.

    Args:
        loss (Callable): see :func:`per_sample_gradients`.
        weights (Parameter, Tensor, or container): see :func:`per_sample_gradients`.
        *args (Any): further arguments of ``loss``.

    Returns:
        Tensor of shape ``(N,)``.

    Raises:
        TypeError: If a weight is not a Parameter or Tensor of a real floating dtype.
        ValueError: If ``loss`` does not return one Tensor of shape ``(N,)``, or if an operator mixes samples,
            such as batch normalization during training.

    Examples:
        >>> import mindgrad as ms
        >>> from mindgrad import ops
        >>> w = ms.Tensor([1.0, -1.0])
        >>> x = ms.Tensor([[3.0, 4.0], [6.0, 8.0]])
        >>> print(ms.curvature.per_sample_norms(lambda w, x: x @ w, w, x))
        [ 5. 10.]

    See Also:
        :func:`second_moments`: sums of squared gradients.

    Notes:
        I. Goodfellow, *Efficient Per-Example Gradient Computations*, arXiv:1510.01799, states the formula for
        matrix products. Z. Bu et al., *Differentially Private Optimization on Large Model at Small Cost*,
        arXiv:2210.00038, compare the two formulas for sequences. mindgrad uses the formula with fewer
        multiplications.
    """
    return Objective("per_sample_norms", loss, weights, args, needs_all=False).call(_norms)[0]


def second_moments(loss: Callable[..., Any], weights: Any, *args: Any) -> Any:
    """Return the sum of the squared gradients of all samples.

    The squares are computed for each element of the weights.

    The variance of the gradients, the gradient noise, is the mean of the squares minus the square of the
    mean.

    Args:
        loss (Callable): see :func:`per_sample_gradients`.
        weights (Parameter, Tensor, or container): see :func:`per_sample_gradients`.
        *args (Any): further arguments of ``loss``.

    Returns:
        A container with the structure, shapes, and dtypes of ``weights``.

    Raises:
        TypeError: If a weight is not a Parameter or Tensor of a real floating dtype.
        ValueError: If ``loss`` does not return one Tensor of shape ``(N,)``, or if an operator mixes samples,
            such as batch normalization during training.

    Examples:
        >>> import mindgrad as ms
        >>> w = ms.Tensor([1.0, -1.0])
        >>> x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ms.curvature.second_moments(lambda w, x: x @ w, w, x))
        [10. 20.]

    See Also:
        :func:`per_sample_norms`: norms of the gradients.
    """
    objective = Objective("second_moments", loss, weights, args, needs_all=False)
    return unflatten(objective.space.structure, objective.call(_moments))


def clipped_gradient(loss: Callable[..., Any], weights: Any, *args: Any, max_norm: float) -> Any:
    """Return the sum of per-sample gradients, each with a bounded norm.

    A gradient whose norm exceeds ``max_norm`` is scaled to this norm.

    Differentially private training adds noise to this sum. One reverse pass computes the operands and
    cotangents from which both the norms and the weighted sum follow.

    Args:
        loss (Callable): see :func:`per_sample_gradients`.
        weights (Parameter, Tensor, or container): see :func:`per_sample_gradients`.
        *args (Any): further arguments of ``loss``.
        max_norm (float): positive bound of the norm of each gradient.

    Returns:
        A container with the structure, shapes, and dtypes of ``weights``.

    Raises:
        TypeError: If a weight is not a Parameter or Tensor of a real floating dtype.
        ValueError: If ``max_norm`` is not positive, if ``loss`` does not return one Tensor of shape ``(N,)``,
            or if an operator mixes samples, such as batch normalization during training.

    Examples:
        >>> import mindgrad as ms
        >>> w = ms.Tensor([1.0, -1.0])
        >>> x = ms.Tensor([[3.0, 4.0], [0.5, 0.5]])
        >>> print(ms.curvature.clipped_gradient(lambda w, x: x @ w, w, x, max_norm=1.0))
        [1.1 1.3]

    See Also:
        :func:`per_sample_norms`: the norms.

    Notes:
        M. Abadi et al., *Deep Learning with Differential Privacy*, arXiv:1607.00133, define the clipped sum.
        Z. Bu et al., *Differentially Private Optimization on Large Model at Small Cost*, arXiv:2210.00038,
        compute it from stored operands and cotangents, without a second reverse pass.
    """
    if isinstance(max_norm, bool) or not isinstance(max_norm, (int, float)) or not max_norm > 0:
        raise ValueError(
            f"For 'clipped_gradient', 'max_norm' must be a positive number, but is {max_norm!r}."
        )
    objective = Objective("clipped_gradient", loss, weights, args, needs_all=False)
    bound = Tensor(np.asarray(max_norm, objective.space.dtype))
    return unflatten(objective.space.structure, objective.call(_clipped, bound))


# --- programs --------------------------------------------------------------------------------------


def _program(owner: str, rule: Callable) -> Callable[..., list]:
    """Return a function of a run that checks the losses and applies ``rule``."""

    def checked(builder: Builder, xs: Sequence[Variable], ys: Atoms, vectors: Tangents = ()) -> list[Atom]:
        rows = RowDerivatives(builder, xs, ys[0])
        culprit = rows.mixing_equation()
        if culprit is not None:
            raise ValueError(_mixed(owner, culprit))
        return rule(rows, *vectors)

    def compute(run: Run, *vectors: Tensor) -> list:
        outputs = run.outputs
        if len(outputs) != 1 or len(outputs[0].shape) != 1:
            shapes = ", ".join([str(tuple(x.shape)) for x in outputs])
            raise ValueError(
                f"For '{owner}', 'loss' must return one Tensor of shape (N,) with the loss of each sample, "
                f"but returns shape {shapes}. Use reduction='none' in the loss function."
            )
        return derivatives(run, checked, vectors)[1]

    return compute


def _mixed(owner: str, equation: Any) -> str:
    source = equation.source
    line = f" ({source[0]}:{source[1]})" if source else ""
    return (
        f"For '{owner}', the samples must be independent, but the operator '{equation.primitive.name}'{line} "
        "combines several samples, as batch normalization does during training. Use group or layer "
        "normalization, or net.set_train(False)."
    )


def _gradient_rule(rows: RowDerivatives) -> list[Atom]:
    return [rows.jacobian(k) for k in range(len(rows.weights))]


def _square_sums(x: Atom, keep: int = 1) -> Atom:
    return reduce_sum(x * x, axes=tuple(range(keep, len(x.shape))))


def _squared_norms(rows: RowDerivatives) -> Atom:
    terms = []
    for k, products in enumerate(rows.products):
        if products:
            terms.append(_squared_norm_of_products(rows, k, products))
    plain = [k for k, products in enumerate(rows.products) if products is None]
    terms += [_square_sums(x) for x in rows.jacobians(plain)]
    total = accumulate([convert(x, dtype=rows.y.dtype) for x in terms])
    return zeros(rows.y.type) if total is None else total


def _squared_norm_of_products(rows: RowDerivatives, index: int, products: list[OuterProducts]) -> Atom:
    if len(products) == 1 and products[0].lookup is not None:
        squares = _gram(products[0].cotangents[0], products[0].lookup)
        return rows.placed(squares, products[0])
    (left,), (right,) = rows.factors(index)
    positions, height, width = left.shape[1], left.shape[3], right.shape[3]
    if positions == 1:
        pairs = [reduce_sum(x * x, axes=(1, 3)) for x in (left, right)]
        return reduce_sum(pairs[0] * pairs[1], axes=(1,))
    if positions * (height + width) > height * width:
        return _square_sums(contraction_of(left, right))
    grams = [dot(x, x, contract=((3,), (3,)), batch=((0, 2), (0, 2))) for x in (left, right)]
    return reduce_sum(grams[0] * grams[1], axes=(1, 2, 3))


def _gram(cotangents: Atom, lookup: Atom) -> Atom:
    """Return Σ g_t · g_t' over all pairs of positions that look up the same row."""
    count, positions = lookup.shape
    flat = reshape(cotangents, shape=(count, positions, cotangents.shape[3]))
    shape = (count, positions, positions)
    same = equal(
        broadcast_in_dim(lookup, shape=shape, dims=(0, 1)), broadcast_in_dim(lookup, shape=shape, dims=(0, 2))
    )
    products = dot(flat, flat, contract=((2,), (2,)), batch=((0,), (0,)))
    return reduce_sum(select(same, products, zeros(products.type)), axes=(1, 2))


def _norm_rule(rows: RowDerivatives) -> list[Atom]:
    return [sqrt(_squared_norms(rows))]


def _moment_rule(rows: RowDerivatives) -> list[Atom]:
    results = []
    for k, (w, products) in enumerate(zip(rows.weights, rows.products, strict=True)):
        if not products:
            (matrix,) = rows.jacobians([k])
            results.append(reduce_sum(matrix * matrix, axes=(0,)))
            continue
        (left,), (right,) = rows.factors(k)
        results.append(arrange(moments_of_products(left, right), products[0].sides, w.shape))
    return results


def _clipped_rule(rows: RowDerivatives, bound: Atom) -> list[Atom]:
    squares = _squared_norms(rows)
    bound = broadcast_in_dim(convert(bound, dtype=squares.dtype), shape=squares.shape, dims=())
    exceeds = greater(squares, bound * bound)
    scale = select(exceeds, bound / sqrt(select(exceeds, squares, ones(squares.type))), ones(squares.type))
    return [_weighted_sum(rows, k, scale) for k in range(len(rows.weights))]


def _weighted_sum(rows: RowDerivatives, index: int, scale: Atom) -> Atom:
    """Emit Σ_n scale[n] g[n] for one weight."""
    w, products = rows.weights[index], rows.products[index]
    if not products:
        (jacobian,) = rows.jacobians([index])
        scale = convert(scale, dtype=w.dtype)
        return dot(scale, jacobian, contract=((0,), (0,)), batch=((), ()))
    if all(product.lookup is not None for product in products):
        return sum_of([_lookup_gradient(rows, product, scale) for product in products])
    (left,), (right,) = rows.factors(index)
    weighted = left * broadcast_in_dim(convert(scale, dtype=w.dtype), shape=left.shape, dims=(0,))
    total = dot(weighted, right, contract=((0, 1), (0, 1)), batch=((2,), (2,)))
    return arrange(total, products[0].sides, w.shape)


def _lookup_gradient(rows: RowDerivatives, product: OuterProducts, scale: Atom) -> Atom:
    """Emit the weighted sum of the gradients of a table."""
    assert product.lookup is not None
    cotangents, lookup = [rows.placed(x, product) for x in (product.cotangents[0], product.lookup)]
    weighted = cotangents * broadcast_in_dim(scale, shape=cotangents.shape, dims=(0,))
    (_, height), (_, width) = product.sides
    builder = Builder()
    with building(builder):
        table = builder.input(tensor_type(cotangents.dtype, (height, width)))
        index = builder.input(tensor_type(lookup.dtype, (*lookup.shape, 1)))
        ct = builder.input(tensor_type(cotangents.dtype, (*lookup.shape, width)))
        graph = builder.close(pull_back(builder, [table], [gather(table, index, axes=(0,))], [ct]))
    operands = [reshape(lookup, shape=(*lookup.shape, 1)), reshape(weighted, shape=(*lookup.shape, width))]
    return current().inline(graph, [zeros(table.type), *operands])[0]


_gradients = _program("per_sample_gradients", _gradient_rule)
_moments = _program("second_moments", _moment_rule)
_clipped = _program("clipped_gradient", _clipped_rule)
_norms = _program("per_sample_norms", _norm_rule)
