"""Weighted rows of an output, whose squared Jacobian is a curvature matrix.

    exact         z[n] = R[n]ᵀ y[n]          R[n] R[n]ᵀ = H[n], the Hessian of the loss of row n
    monte_carlo   z[n] = ξ[n]ᵀ R[n]ᵀ y[n]    ξ[n]: k columns of random signs / √k, so that E[ξ ξᵀ] = I
    empirical     z[n] = ∇loss[n]ᵀ y[n]

With constant weights R, the Gauss–Newton matrix Σ_n J[n]ᵀ H[n] J[n] of y is the matrix Σ_n Jz[n]ᵀ Jz[n] of z.
For a loss that is a negative log-likelihood of an exponential family in its natural parameters, the matrix is
also the Fisher information.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from mindgrad.api.gradient import grad
from mindgrad.api.jvp import jvp
from mindgrad.api.vjp_call import Run
from mindgrad.core.ir.dtype import uint32
from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.comparisons import greater, less
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.eigh_svd import eigh
from mindgrad.core.primitives.elementwise import sqrt
from mindgrad.core.primitives.kinds import full, ones, zeros
from mindgrad.core.primitives.random import STATE_WORDS, random_bits
from mindgrad.core.primitives.static_slices import concatenate
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape
from mindgrad.curvature.meetings import rows_as_vector
from mindgrad.curvature.objective import derivatives
from mindgrad.frontend import user_calls

__all__ = ["KINDS", "loss_derivative", "random_state", "weighted_rows"]

KINDS = ("exact", "monte_carlo", "empirical")


def loss_derivative(
    owner: str, run: Run, loss: Callable[..., Any] | None, targets: Sequence[Any], kind: str
) -> list[Tensor]:
    """Return the derivatives of the loss with respect to all rows.

    Without a loss, the result is empty. Otherwise, it contains one Tensor: Hessians of shape ``(N, C, C)``,
    or gradients of shape ``(N, C)`` if the kind is empirical. C is the number of elements of a row.
    """
    if loss is None:
        return []
    if len(run.outputs) != 1:
        raise ValueError(
            f"For '{owner}', the outputs must be one Tensor if a loss is given, but 'outputs' returns "
            f"{len(run.outputs)} Tensors. Concatenate them, or return residuals and omit the loss."
        )
    y = derivatives(run, _nothing)[0][0]
    count = y.shape[0] if y.shape else 1
    size = prod(y.shape) // max(count, 1)

    def total(y: Tensor) -> Any:
        value = user_calls.run(loss, y, *targets)
        return value.sum() if isinstance(value, Tensor) and value.shape else value

    if kind == "empirical":
        return [grad(total)(y).reshape(count, size)]
    columns = []
    for unit in np.eye(size, dtype=y.dtype.numpy):
        direction = Tensor(np.broadcast_to(unit, (count, size)).reshape(y.shape).copy())
        columns.append(jvp(grad(total), (y,), (direction,))[1].reshape(count, size, 1))
    return [apply(concatenate, *columns, axis=2) if size > 1 else columns[0]]


def _nothing(*_: Any) -> list:
    return []


def random_state(seed: int) -> Tensor:
    """Return the state of a random generator."""
    return Tensor(np.random.default_rng(seed).integers(0, 2**32, STATE_WORDS, np.uint32))


def weighted_rows(y: Atom, derivative: Atom | None, kind: str, state: Atom | None, samples: int) -> Atom:
    """Emit the weighted rows of ``y``, of shape ``(rows, components)``.

    Args:
        y: the output.
        derivative: the result of :func:`loss_derivative`, or ``None`` if there is no loss.
        kind: one of :data:`KINDS`.
        state: state of the random generator if the kind is ``"monte_carlo"``.
        samples: number of random vectors for each row.
    """
    y = rows_as_vector(y)
    count, size = y.shape[0], prod(y.shape[1:])
    y = reshape(y, shape=(count, size))
    if kind == "empirical":
        assert derivative is not None
        return dot(y, reshape(derivative, shape=(count, size, 1)), contract=((1,), (1,)), batch=((0,), (0,)))
    root = None if derivative is None else _root(derivative)
    if kind == "monte_carlo":
        assert state is not None
        signs = _signs(state, tensor_type(y.dtype, (count, size, samples)))
        root = signs if root is None else dot(root, signs, contract=((2,), (1,)), batch=((0,), (0,)))
    return y if root is None else dot(y, root, contract=((1,), (1,)), batch=((0,), (0,)))


def _root(matrices: Atom) -> Atom:
    """Emit R with R Rᵀ = H. Negative eigenvalues of H count as zero."""
    if matrices.shape[2] == 1:
        return _safe_sqrt(matrices)
    values, vectors = eigh(matrices)
    return vectors * broadcast_in_dim(_safe_sqrt(values), shape=vectors.shape, dims=(0, 2))


def _safe_sqrt(x: Atom) -> Atom:
    is_positive = greater(x, zeros(x.type))
    return select(is_positive, sqrt(select(is_positive, x, ones(x.type))), zeros(x.type))


def _signs(state: Atom, type: Any) -> Atom:
    bits, _ = random_bits(state, shape=type.shape, seeds=(0, 0))
    is_low = less(bits, full(tensor_type(uint32, type.shape), 2**31))
    size = 1 / np.sqrt(type.shape[2])
    return select(is_low, full(type, size), full(type, -size))
