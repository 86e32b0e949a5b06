"""Fisher information matrices of models and likelihoods, as operators.

    F = c Σₙ E[gₙ gₙᵀ]        gₙ: gradient of −log p(y | zₙ) with respect to the weights

The expectation over targets y is exact, an average of drawn targets, or replaced by the given targets. The
last two matrices are Gauss–Newton matrices of *scores*: row n is the product of the outputs zₙ and the
derivative of the loss with respect to zₙ, so its gradient is gₙ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.api.gradient import grad
from mindgrad.api.jvp import jvp
from mindgrad.api.vjp_call import Run
from mindgrad.core.base.tree import flatten, map_leaves, unflatten
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.curvature.gauss_newton_matrix import gauss_newton_operator
from mindgrad.curvature.likelihoods import Likelihood, likelihood_of
from mindgrad.curvature.objective import Objective, derivatives
from mindgrad.curvature.operator import DEFAULT_MEMORY, CurvatureOperator
from mindgrad.frontend import user_calls

__all__ = ["Scores", "fisher", "outputs_of"]

_KINDS = ("exact", "monte_carlo", "empirical")


class Scores:
    """Products of outputs and factors, r[n, s] = ⟨outputs[n], factors[n, s]⟩.

    The arguments are the arguments of the model, followed by the factors.

    Row (n, s) of the Jacobian is the gradient of the loss of sample n with targets s, if ``factors`` contain
    the derivatives of the losses with respect to the outputs.
    """

    #: two of these functions are equal if this attribute is equal
    compared_by = ("model",)

    def __init__(self, model: Callable[..., Any]) -> None:
        self.model = model

    def __call__(self, *args: Any) -> Tensor:
        leaves = flatten(user_calls.run(self.model, *args[:-1]))[0]
        pairs = zip(leaves, args[-1], strict=True)
        terms = [(z[:, None] * d).reshape((*d.shape[:2], -1)) for z, d in pairs]
        sums = [x.sum(-1) for x in terms]
        return sum(sums[1:], sums[0])


def outputs_of(objective: Objective) -> Any:
    """Return the outputs of a function, computed in one compiled program."""
    return objective.call(_outputs)


def _outputs(run: Run) -> Any:
    return run.result(derivatives(run, _nothing)[0])


def _nothing(*_: Any) -> list:
    return []


def fisher(
    outputs: Callable[..., Any],
    weights: Any,
    *args: Any,
    loss: Any,
    kind: str = "exact",
    targets: Any = None,
    reduction: str | None = None,
    samples: int = 1,
    seed: int = 0,
    memory: int = DEFAULT_MEMORY,
) -> CurvatureOperator:
    """Return the Fisher information matrix of a model, as an operator.

    The loss is ``c Σₙ ℓ(zₙ, yₙ)`` with the outputs ``zₙ`` of the model, and ``ℓ`` is the negative logarithm
    of a likelihood. If the reduction of the loss is "mean", the factor c is one divided by the number of
    terms. Otherwise, c is 1. The matrix is ``c Σₙ E[gₙ gₙᵀ]``, where ``gₙ`` is the gradient of sample n, and
    samples are counted by the first axis of the outputs.

    ===============  ==================================================================================
    ``kind``         targets y of the expectation
    ===============  ==================================================================================
    "exact"          all targets, by a formula. The matrix equals the Gauss–Newton matrix of the loss if
                     the outputs are natural parameters, such as logits.
    "monte_carlo"    ``samples`` targets for each sample, drawn from the likelihood
    "empirical"      the given ``targets``
    ===============  ==================================================================================

    Args:
        outputs (Callable or Cell): the model. If the weights are Parameters, it is called as
            ``outputs(*args)``, and otherwise as ``outputs(weights, *args)``.
        weights (Parameter, Tensor, or container): weights to differentiate with respect to, as for
            :func:`hessian`.
        *args (Any): further arguments of ``outputs``, which are not differentiated.
        loss (str, Cell, or Callable): ``"squared_error"`` for ``½ (z − y)²``, ``"mse"`` for ``(z − y)²``,
            ``"cross_entropy"``, ``"binary_cross_entropy"`` with logits, ``"poisson"`` with logarithms of
            rates, or ``"gaussian"`` with outputs ``(mean, variance)``. Also the corresponding Cells of ``nn``
            and functions of ``ops``. ``kind="empirical"`` accepts every function of outputs and targets that
            returns one loss for each sample.
        kind (str, optional): see the table. Default: ``"exact"``.
        targets (Tensor, optional): targets, required for the kind "empirical" only. Default: ``None``.
        reduction (str, optional): ``"sum"``, ``"mean"``, or ``"none"``, which is the same as ``"sum"``.
            Default: ``None``, the reduction of the Cell, "mean" for a function of ``ops``, and "sum" for
            other losses.
        samples (int, optional): number of targets that are drawn for each sample. Default: ``1``.
        seed (int, optional): seed of the drawn targets. Default: ``0``.
        memory (int, optional): number of bytes that the Jacobian, dense matrices, and blocks of vectors may
            use. Default: 256 MiB.

    Returns:
        CurvatureOperator: positive semidefinite operator with one row for each element of the weights.

    Raises:
        TypeError: If the weights are not Parameters or Tensors of a real floating dtype, or ``loss`` is not
            the logarithm of a known likelihood.
        ValueError: If ``kind``, ``reduction``, or ``samples`` is invalid, targets are missing, the loss is
            not a sum over samples, or the outputs do not depend on a weight.

    S. Amari, *Natural gradient works efficiently in learning*, 1998; J. Martens, *New insights and
    perspectives on the natural gradient method*, 2020.

    >>> import mindgrad as ms
    >>> x, y = ms.Tensor([[1.0, 0.0], [1.0, 2.0]]), ms.Tensor([1.0, 0.0])
    >>> w = ms.Tensor([0.0, 0.0])
    >>> model = lambda w, x: x @ w
    >>> F = ms.curvature.fisher(model, w, x, loss="binary_cross_entropy")
    >>> print(F.to_dense())  # Σ p (1 − p) x xᵀ with p = 1/2
    [[0.5 0.5]
     [0.5 1. ]]
    >>> F = ms.curvature.fisher(model, w, x, loss="squared_error", kind="empirical", targets=y)
    >>> print(F.to_dense())
    [[1. 0.]
     [0. 0.]]

    See Also:
        :func:`mindgrad.curvature.gauss_newton`, :func:`mindgrad.curvature.laplace`
    """
    if kind not in _KINDS:
        raise ValueError(f"For 'fisher', 'kind' must be one of {', '.join(_KINDS)}, but is {kind!r}.")
    likelihood = likelihood_of("fisher", loss, reduction)
    if kind == "exact":
        likelihood = _required(likelihood, loss)
        return gauss_newton_operator("fisher", outputs, weights, args, likelihood.expected, (), True, memory)
    z = outputs_of(Objective("fisher", outputs, weights, args))
    if any(x.ndim < (2 if likelihood and likelihood.has_classes else 1) for x in flatten(z)[0]):
        raise ValueError(
            f"For 'fisher', the first axis of the outputs must contain samples for kind={kind!r}."
        )
    if kind == "monte_carlo":
        likelihood = _required(likelihood, loss)
        if samples < 1:
            raise ValueError(f"For 'fisher', 'samples' must be positive, but is {samples}.")
        repeated = map_leaves(lambda x: make_tensor(np.repeat(x.asnumpy(), samples, axis=0)), z)
        drawn = likelihood.draw(np.random.default_rng(seed), repeated)
        factors = _factors(likelihood, repeated, drawn, samples)
    elif targets is None:
        raise ValueError("For 'fisher', kind='empirical' requires 'targets'.")
    elif likelihood is not None:
        factors = _factors(likelihood, z, targets, 1)
    else:
        factors = _of_losses(loss, z, targets, reduction)
    return gauss_newton_operator("fisher", Scores(outputs), weights, (*args, factors), None, (), True, memory)


def _required(likelihood: Likelihood | None, loss: Any) -> Likelihood:
    if likelihood is None:
        name = getattr(loss, "__name__", type(loss).__name__)
        raise TypeError(
            f"For 'fisher', '{name}' is not the logarithm of a known likelihood. Use a loss such as "
            "'cross_entropy' or nn.MSELoss(), kind='empirical', or gauss_newton with this loss."
        )
    return likelihood


def _factors(likelihood: Likelihood, outputs: Any, targets: Any, samples: int) -> list[Tensor]:
    """Return the scaled derivatives of the losses; axis 1 is the index of the target.

    ``outputs`` repeat each sample ``samples`` times, and ``targets`` belong to them.
    """
    scale = likelihood.divisor(outputs) ** -0.5 if likelihood.reduction == "mean" else samples**-0.5
    return _scaled(grad(likelihood.terms)(outputs, targets), scale, samples)


def _scaled(slopes: Any, scale: float, samples: int) -> list[Tensor]:
    arrays = [x.asnumpy() for x in flatten(slopes)[0]]
    arrays = [x.reshape(-1, samples, *x.shape[1:]) for x in arrays]
    return [make_tensor(x * x.dtype.type(scale)) for x in arrays]


def _of_losses(loss: Any, outputs: Any, targets: Any, reduction: str | None) -> list[Tensor]:
    """Return the factors for a function that returns one loss for each sample."""
    leaves, structure = flatten(outputs)
    count = leaves[0].shape[0]
    losses = loss(outputs, targets)
    shape = tuple(losses.shape)
    if shape != (count,):
        raise ValueError(
            f"For 'fisher', the loss must return one value for each sample, of shape ({count},), but "
            f"its shape is {shape}. Remove the reduction, and pass reduction='mean' for a mean."
        )
    random = np.random.default_rng(0)
    halves = random.permutation(count) % 2 == 0
    tangents = []
    for z in leaves:
        direction = random.standard_normal(z.shape)
        direction[~halves] = 0
        tangents.append(make_tensor(direction.astype(z.dtype.numpy)))
    change = jvp(lambda z: loss(z, targets), outputs, unflatten(structure, tangents))[1].asnumpy()
    if np.any(change[~halves] != 0):
        raise ValueError(
            "For 'fisher', the loss is not a sum over samples: the loss of a sample depends on the outputs "
            "of other samples."
        )
    slopes = grad(lambda z: loss(z, targets).sum())(outputs)
    return _scaled(slopes, count**-0.5 if reduction == "mean" else 1.0, 1)
