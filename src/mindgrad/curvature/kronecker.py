"""Kronecker-factored curvature of any program (K-FAC and EKFAC).

    block of W ≈ L ⊗ R        L = Σ left leftᵀ        R = Σ right rightᵀ

The Jacobian of a row with respect to W is a sum of outer products of two small vectors
(``curvature.outer_products``): the operand and the cotangent of a contraction or convolution. The equations
of a derivative, such as the Laplacian in a PDE residual, have the same structure as the equations of the
network. Therefore, the factors do not depend on layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from mindgrad.api.vjp_call import Run
from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.graph import Atom, Equation, Variable
from mindgrad.core.ir.rules import Atoms, Tangents
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.kinds import accumulate
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.structural import reshape, transpose
from mindgrad.curvature.block_diagonal import BlockDiagonalOperator, WeightPlan
from mindgrad.curvature.kronecker_blocks import (
    Block,
    DenseBlock,
    DiagonalBlock,
    KroneckerBlock,
    nearest_product,
)
from mindgrad.curvature.loss_rows import KINDS, loss_derivative, random_state, weighted_rows
from mindgrad.curvature.objective import Objective, derivatives
from mindgrad.curvature.operator import DEFAULT_MEMORY
from mindgrad.curvature.outer_products import OuterProducts
from mindgrad.curvature.row_derivatives import RowDerivatives, contraction_of, moments_of_products
from mindgrad.frontend.programs.object_cache import remembered

__all__ = ["ekfac", "kfac"]

#: a factor with more rows is not computed; the weight gets a diagonal instead
_LARGEST_FACTOR = 8192

#: rows of the smaller factor up to which a sum of several Kronecker products is replaced by the exact block,
#: such as for the first weight in a PDE residual. Otherwise, the error of nn.KFAC is several times larger
_NARROW = 8


class _Options(NamedTuple):
    """Options of the compiled program; part of its cache key."""

    owner: str
    kind: str
    sharing: str
    samples: int
    dense_size: int


def kfac(
    outputs: Callable[..., Any],
    weights: Any,
    *args: Any,
    loss: Callable[..., Any] | None = None,
    targets: Any = None,
    kind: str = "exact",
    sharing: str = "expand",
    samples: int = 1,
    seed: int = 0,
    dense_size: int = 512,
    memory: int = DEFAULT_MEMORY,
) -> BlockDiagonalOperator:
    """Return the Kronecker-factored approximation of a Gauss–Newton or Fisher matrix.

    The matrix has one diagonal block for each weight. If all uses of a weight are contractions, convolutions,
    or table lookups, its block is a Kronecker product L ⊗ R of two small matrices. The uses may be in the
    model or in its derivatives, such as a Laplacian. All other weights get their exact block if they have at
    most ``dense_size`` elements, and else their exact diagonal. A weight with at most ``dense_size`` elements
    also gets its exact block if one factor has one row, or if one factor has at most 8 rows and several
    equations use the weight, as in a PDE residual. ``explain`` reports the block of each weight.

    Args:
        outputs (Callable or Cell): the model, or a function that returns residuals. Axis 0 of each output
            contains rows, such as samples or collocation points. If the weights are Parameters, it is called
            as ``outputs(*args)``, and otherwise as ``outputs(weights, *args)``.
        weights (Parameter, Tensor, or container): the Parameters that ``outputs`` reads, or a container of
            Tensors.
        *args (Any): further arguments of ``outputs``.
        loss (Callable or Cell, optional): function of the outputs, and of the targets if they are given. It
            must be a sum or mean over rows. If it returns several elements, their sum is used. Default:
            ``None``, half the sum of squares.
        targets (Tensor, optional): second argument of ``loss``. Default: ``None``, the loss has one argument.
        kind (str, optional): ``"exact"`` uses the Hessian of the loss, and one reverse pass for each element
            of a row. ``"monte_carlo"`` replaces it by an unbiased estimate from ``samples`` passes.
            ``"empirical"`` uses the gradients of the loss. Default: ``"exact"``.
        sharing (str, optional): how to combine positions that share the weight, such as tokens or pixels.
            ``"expand"`` treats each position as a separate row. ``"reduce"`` averages the operand and sums
            the cotangent over the positions of a row. ``"nearest"`` computes the Kronecker product that is
            nearest to the exact block, from the Jacobian of each row. Default: ``"expand"``.
        samples (int, optional): number of random vectors for each row. Default: ``1``.
        seed (int, optional): seed of the random vectors. Default: ``0``.
        dense_size (int, optional): maximum number of elements of a weight with an exact block. Default:
            ``512``.
        memory (int, optional): number of bytes for dense matrices of the operator. Default: 256 MiB.

    Returns:
        BlockDiagonalOperator: symmetric positive semidefinite operator over flat vectors. Its ``solve`` uses
        eigendecompositions of the factors.

    Raises:
        TypeError: If a weight is not a Parameter or Tensor of a real floating dtype.
        ValueError: If the outputs do not depend on a weight, an option is unknown, the kind is
            ``"empirical"`` without a loss, or there are several outputs and a loss.

    Examples:
        >>> import mindgrad as ms
        >>> w = ms.Tensor([[1.0, 0.5], [0.0, 1.0]])
        >>> x = ms.Tensor([[1.0, 0.0], [0.0, 2.0]])
        >>> A = ms.curvature.kfac(lambda w, x: x @ w, w, x)
        >>> print(A.to_dense())
        [[1. 0. 0. 0.]
         [0. 1. 0. 0.]
         [0. 0. 4. 0.]
         [0. 0. 0. 4.]]
        >>> print(A.solve(ms.Tensor([[2.0, 4.0], [5.0, 10.0]]), damping=1.0))
        [[1. 2.]
         [1. 2.]]

    See Also:
        :func:`ekfac`: exact second moments in the eigenbasis of the factors.
        :func:`gauss_newton`: the exact matrix.

    Notes:
        The block of one equation is L ⊗ R divided by the number of outer products, as in J. Martens and R.
        Grosse, *Optimizing Neural Networks with Kronecker-factored Approximate Curvature*, arXiv:1503.05671,
        for convolutions R. Grosse and J. Martens, arXiv:1602.01407, and for weight sharing R. Eschenhagen et
        al., arXiv:2311.00636. For derivatives with respect to inputs, F. Dangel et al., arXiv:2405.15603, sum
        the factors over the equations of value and derivatives. mindgrad computes the Kronecker product that
        is nearest to the sum of the blocks of all equations. It does not change if the operand of an equation
        is scaled up and the cotangent is scaled down, so it is also defined if equations exchange the two
        factors. It is exact if the factors of all equations are proportional.
    """
    options = _Options("kfac", kind, sharing, samples, dense_size)
    return _operator(options, outputs, weights, args, loss, targets, seed, memory)


def ekfac(
    outputs: Callable[..., Any],
    weights: Any,
    *args: Any,
    loss: Callable[..., Any] | None = None,
    targets: Any = None,
    kind: str = "exact",
    sharing: str = "expand",
    samples: int = 1,
    seed: int = 0,
    dense_size: int = 512,
    memory: int = DEFAULT_MEMORY,
) -> BlockDiagonalOperator:
    """Return the eigenvalue-corrected Kronecker-factored curvature.

    A block of :func:`kfac` has the eigenvectors Q = Q₁ ⊗ Q₂. EKFAC keeps Q, and replaces the eigenvalues by
    the exact diagonal of Qᵀ G Q, where G is the block of the Gauss–Newton or Fisher matrix. Among all
    matrices with these eigenvectors, the result is nearest to G in the Frobenius norm.

    Args:
        outputs (Callable or Cell): the model, or a function that returns residuals, with rows along axis 0.
        weights (Parameter, Tensor, or container): the weights, as for :func:`kfac`.
        *args (Any): further arguments of ``outputs``.
        loss (Callable or Cell, optional): function of the outputs and the targets. Default: ``None``, half
            the sum of squares.
        targets (Tensor, optional): second argument of ``loss``. Default: ``None``.
        kind (str, optional): ``"exact"``, ``"monte_carlo"``, or ``"empirical"``. Default: ``"exact"``.
        sharing (str, optional): ``"expand"``, ``"reduce"``, or ``"nearest"``. It selects the factors that
            determine the eigenvectors. Default: ``"expand"``.
        samples (int, optional): number of random vectors for each row. Default: ``1``.
        seed (int, optional): seed of the random vectors. Default: ``0``.
        dense_size (int, optional): maximum number of elements of a weight with an exact block. Default:
            ``512``.
        memory (int, optional): number of bytes for dense matrices of the operator. Default: 256 MiB.

    Returns:
        BlockDiagonalOperator: symmetric positive semidefinite operator over flat vectors.

    Raises:
        TypeError: If a weight is not a Parameter or Tensor of a real floating dtype.
        ValueError: If the outputs do not depend on a weight, or an option is unknown, as for :func:`kfac`.

    Examples:
        >>> import mindgrad as ms
        >>> w = ms.Tensor([[1.0, 0.5], [0.0, 1.0]])
        >>> x = ms.Tensor([[1.0, 0.0], [0.0, 2.0]])
        >>> A = ms.curvature.ekfac(lambda w, x: (x @ w) ** 2, w, x)
        >>> print(A.trace())
        69.0

    See Also:
        :func:`kfac`: the approximation without the correction.

    Notes:
        T. George et al., *Fast Approximate Natural Gradient Descent in a Kronecker-factored Eigenbasis*,
        arXiv:1806.03884.
    """
    options = _Options("ekfac", kind, sharing, samples, dense_size)
    return _operator(options, outputs, weights, args, loss, targets, seed, memory)


# --- options ---------------------------------------------------------------------------------------


def _operator(
    options: _Options,
    outputs: Callable[..., Any],
    weights: Any,
    args: Sequence[Any],
    loss: Callable[..., Any] | None,
    targets: Any,
    seed: int,
    memory: int,
) -> BlockDiagonalOperator:
    owner = options.owner
    for name, value, choices in (("kind", options.kind, KINDS), ("sharing", options.sharing, _SHARING)):
        if value not in choices:
            raise ValueError(
                f"For '{owner}', '{name}' must be one of {', '.join(map(repr, choices))}, but is {value!r}."
            )
    if loss is None and options.kind == "empirical":
        raise ValueError(f"For '{owner}', kind='empirical' needs the gradients of a loss. Pass 'loss'.")
    if loss is None and targets is not None:
        raise ValueError(f"For '{owner}', 'targets' are arguments of a loss, but 'loss' is None.")
    if isinstance(options.samples, bool) or not isinstance(options.samples, int) or options.samples < 1:
        raise ValueError(f"For '{owner}', 'samples' must be a positive integer, but is {options.samples!r}.")
    objective = Objective(owner, outputs, weights, args)
    operands = [] if targets is None else [targets]
    state = random_state(seed)
    first = _program(objective, options, loss, len(operands), False)
    values, plans = objective.call(first, state, *operands)
    blocks = _blocks(objective.space, plans, [x.asnumpy() for x in values], options)
    products = [block for block in blocks if isinstance(block, KroneckerBlock)]
    if owner == "ekfac" and products:
        basis = [Tensor(x) for block in products for x in block.eigenvectors]
        moments, _ = objective.call(
            _program(objective, options, loss, len(operands), True), state, *operands, *basis
        )
        for block, x in zip(products, moments, strict=True):
            block.moments = x.asnumpy()
    return BlockDiagonalOperator(objective.space, blocks, plans, memory)


#: ways to combine positions that share a weight
_SHARING = ("expand", "reduce", "nearest")


def _blocks(
    space: Any, plans: Sequence[WeightPlan], values: Sequence[np.ndarray], options: _Options
) -> list[Block]:
    blocks: list[Block] = []
    arrays = list(values)
    for plan, size in zip(plans, space.sizes, strict=True):
        if plan.block == "dense":
            blocks.append(DenseBlock(arrays.pop(0).reshape(size, size)))
        elif plan.block == "diagonal":
            blocks.append(DiagonalBlock(arrays.pop(0)))
        elif options.sharing == "nearest":
            blocks.append(KroneckerBlock(*_nearest_to_rows(arrays.pop(0)), plan.sides))
        else:
            pairs = [(arrays.pop(0) / max(count, 1), arrays.pop(0)) for count in plan.terms]
            lefts, rights = [list(x) for x in zip(*pairs, strict=True)]
            blocks.append(KroneckerBlock(*nearest_product(lefts, rights), plan.sides))
    return blocks


def _nearest_to_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the Kronecker product nearest to the sum of squares of Jacobians.

    ``rows`` has the shape ``(rows, blocks, P, Q)``. The power method alternates between the two factors.
    """
    right = np.broadcast_to(
        np.eye(rows.shape[3], dtype=rows.dtype), (rows.shape[1], *rows.shape[3:] * 2)
    ).copy()
    left = right
    for _ in range(_ALTERNATIONS):
        left = np.einsum("nkiq,nkjq->kij", rows @ right, rows, optimize=True)
        left /= np.maximum(np.square(right).sum(axis=(1, 2), keepdims=True), np.finfo(rows.dtype).tiny)
        right = np.einsum("nkpi,nkpj->kij", left @ rows, rows, optimize=True)
        right /= np.maximum(np.square(left).sum(axis=(1, 2), keepdims=True), np.finfo(rows.dtype).tiny)
    return left, right


#: steps of the power method for the nearest Kronecker product. Its first step is already within a few percent
_ALTERNATIONS = 10


# --- programs --------------------------------------------------------------------------------------


def _program(
    objective: Objective, options: _Options, loss: Callable[..., Any] | None, count: int, corrects: bool
) -> Callable[..., Any]:
    """Return the function that computes factors, or moments in given bases.

    The first ``count`` operands are targets. If ``corrects`` is true, the others are bases.
    """

    def make() -> Callable[..., Any]:
        def compute(run: Run, state: Tensor, *operands: Any) -> tuple[list[Tensor], list[WeightPlan]]:
            plans: list[WeightPlan] = []
            targets, basis = operands[:count], operands[count:]
            derivative = loss_derivative(options.owner, run, loss, targets, options.kind)

            def rule(
                builder: Builder, xs: Sequence[Variable], ys: Atoms, extras: Tangents = ()
            ) -> list[Atom]:
                arguments = list(extras)
                random = arguments.pop(0)
                curvature = arguments.pop(0) if derivative else None
                rows = [
                    RowDerivatives(
                        builder, xs, weighted_rows(y, curvature, options.kind, random, options.samples)
                    )
                    for y in ys
                ]
                plans[:] = [_plan(rows, k, options) for k in range(len(xs))]
                if corrects:
                    return _moments(rows, plans, [x for x in arguments if x is not None])
                return [x for k, plan in enumerate(plans) for x in _values(rows, k, plan, options)]

            results = derivatives(run, rule, [state, *derivative, *basis])[1]
            return results, plans

        return compute

    key = ("kronecker", options, loss, count, corrects)
    return remembered(objective.function, key, make)


def _described(equation: Equation | None, note: str = "") -> str:
    if equation is None:
        return "the weight is an output"
    source = equation.source
    line = f" at {source[0]}:{source[1]}" if source else ""
    return f"{equation.primitive.name}{line}{note}"


def _plan(rows: Sequence[RowDerivatives], index: int, options: _Options) -> WeightPlan:
    products: list[OuterProducts] = []
    reason, sources = "", []
    size = rows[0].weights[index].type.size
    for output in rows:
        of_output = output.products[index]
        sources += [_described(meeting.equation) for meeting in output.meetings[index]]
        if of_output is None:
            reason = f"{_described(output.reasons.get(index))} has no Kronecker structure"
        else:
            products += of_output
    if not reason and len({x.sides for x in products}) > 1:
        reason = "equations contract different axes"
    small = size <= options.dense_size
    if not reason and products:
        sides = products[0].sides
        left, right = [prod([n for side, n in sides if side == own]) for own in ("left", "right")]
        if min(left, right) == 1 and small:
            reason = "the exact block has the size of a factor"
        elif len(products) > 1 and min(left, right) <= _NARROW and small:
            reason = "the sum of several Kronecker products is not one, and the exact block is small"
        elif max(left, right) > _LARGEST_FACTOR:
            reason = f"a factor would have {max(left, right)} rows"
        else:
            terms = tuple([_terms(x, options) for x in products])
            return WeightPlan("Kronecker", sides, terms, tuple(sources), "")
    return WeightPlan("dense" if small else "diagonal", (), (), tuple(sources), reason)


def _terms(product: OuterProducts, options: _Options) -> int:
    rows, positions = product.cotangents[0].shape[:2]
    return rows if options.sharing == "reduce" else rows * positions


def _values(rows: Sequence[RowDerivatives], index: int, plan: WeightPlan, options: _Options) -> list[Atom]:
    if plan.block == "Kronecker":
        if options.sharing == "nearest":
            return [_row_matrices(rows, index)]
        return [
            x
            for output in rows
            for product in output.products[index] or ()
            for x in _factors(output, product, options)
        ]
    matrices = []
    for output in rows:
        jacobian = output.jacobian(index)
        flat = reshape(jacobian, shape=(jacobian.shape[0], prod(jacobian.shape[1:])))
        is_dense = plan.block == "dense"
        matrices.append(
            dot(flat, flat, contract=((0,), (0,)), batch=((), ()))
            if is_dense
            else reduce_sum(flat * flat, axes=(0,))
        )
    total = accumulate(matrices)
    assert total is not None
    return [total]


def _factors(rows: RowDerivatives, product: OuterProducts, options: _Options) -> list[Atom]:
    """Emit the left and right factors of one equation."""
    factors = []
    for side in (0, 1):
        vectors = rows.vectors(product, side)
        if options.sharing == "reduce":
            is_cotangent = (side == 0) == product.is_left_cotangent
            scale = 1.0 if is_cotangent else 1.0 / vectors[0].shape[1]
            vectors = [reduce_sum(x, axes=(1,)) * scale for x in vectors]
            vectors = [reshape(x, shape=(x.shape[0], 1, *x.shape[1:])) for x in vectors]
        terms = [dot(x, x, contract=((0, 1), (0, 1)), batch=((2,), (2,))) for x in vectors]
        total = accumulate(terms)
        assert total is not None
        factors.append(total)
    return factors


def _row_matrices(rows: Sequence[RowDerivatives], index: int) -> Atom:
    """Emit all Jacobians, of shape ``(rows, blocks, left, right)``."""
    matrices = [
        contraction_of(a, b) for output in rows if output.products[index] for a, b in output.pairs(index)
    ]
    return _stacked(matrices)


def _stacked(parts: Sequence[Atom]) -> Atom:
    return concatenate(*parts, axis=0) if len(parts) > 1 else parts[0]


def _moments(rows: Sequence[RowDerivatives], plans: Sequence[WeightPlan], basis: Atoms) -> list[Atom]:
    """Emit the diagonals of Qᵀ G Q for all Kronecker products with eigenvectors Q."""
    results = []
    bases = list(basis)
    for index, plan in enumerate(plans):
        if plan.block != "Kronecker":
            continue
        left, right = bases.pop(0), bases.pop(0)
        terms = []
        for output in rows:
            for a, b in output.pairs(index) if output.products[index] else ():
                terms.append(moments_of_products(_rotated(a, left), _rotated(b, right)))
        total = accumulate(terms)
        assert total is not None
        results.append(total)
    return results


def _rotated(x: Atom, basis: Atom) -> Atom:
    """Emit the coordinates of factors in a basis of each block."""
    product = dot(x, basis, contract=((3,), (1,)), batch=((2,), (0,)))
    return transpose(product, permutation=(1, 2, 0, 3))
