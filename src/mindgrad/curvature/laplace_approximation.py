"""Laplace approximation: a Gaussian posterior of the weights of a trained network.

    p(w | data) ≈ N(w*, P⁻¹)        P = G / σ² + τ I

G is the Gauss–Newton matrix of the loss, summed over the data. w* are the trained weights, and τ is the
precision of the prior N(0, τ⁻¹ I). σ is the noise of a regression. A classification has σ = 1. The
eigenvalues of G are computed once. Determinants and marginal likelihoods are formulas of these eigenvalues,
so they are differentiable with respect to τ and σ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import log, pi
from typing import Any

import numpy as np

from mindgrad import ops
from mindgrad.core.base.tree import unflatten
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.curvature.fisher_matrix import outputs_of
from mindgrad.curvature.gauss_newton_matrix import gauss_newton_operator
from mindgrad.curvature.kronecker import kfac
from mindgrad.curvature.kronecker_blocks import Block, DenseBlock, DiagonalBlock
from mindgrad.curvature.likelihoods import Likelihood, likelihood_of
from mindgrad.curvature.linear_map import jacobian_matrix
from mindgrad.curvature.objective import Objective
from mindgrad.curvature.operator import DEFAULT_MEMORY

__all__ = ["Laplace", "laplace"]

_STRUCTURES = ("gauss_newton", "diagonal", "last_layer", "kfac")
_REGRESSION = ("squared_error", "mse")


class Laplace:
    """A Gaussian posterior of weights, the result of ``laplace``.

    Args:
        model (Objective): the network as a function of the weights.
        likelihood (Likelihood): likelihood of the loss.
        blocks (list): the diagonal blocks of the matrix G.
        fit (tuple): the loss at the trained weights, and the number of output elements.
        prior_precision (float or Tensor): precision τ of the prior.
        noise (float or Tensor): standard deviation σ of the targets of a regression.

    Attributes:
        prior_precision, noise: the hyperparameters. They may be assigned.
        eigenvalues (numpy.ndarray): eigenvalues of the matrix G. Shape ``(size,)``.
        mean (numpy.ndarray): the trained weights w*, as a flat vector.

    >>> import mindgrad as ms
    >>> data = ms.Tensor([[1.0], [2.0]]), ms.Tensor([[1.0], [2.0]])
    >>> posterior = ms.curvature.laplace(lambda w, x: x @ w, "mse", data, ms.Tensor([[1.0]]))
    >>> print(posterior.eigenvalues, posterior.mean, f"{posterior.log_marginal_likelihood():.4f}")
    [5.] [1.] -3.2338
    >>> posterior.prior_precision = 10.0
    >>> print(f"{posterior.log_determinant():.4f}", len(posterior.sample(3)))
    2.7081 3

    See Also:
        :func:`mindgrad.curvature.laplace`
    """

    def __init__(
        self,
        model: Objective,
        likelihood: Likelihood,
        blocks: Sequence[Block],
        fit: tuple[float, int],
        prior_precision: Any,
        noise: Any,
    ) -> None:
        self.eigenvalues = np.concatenate([block.spectrum for block in blocks]).astype(np.float64)
        self.mean = model.space.current().astype(np.float64)
        self.prior_precision = prior_precision
        self.noise = noise
        self._model = model.fixed()
        self._likelihood = likelihood
        self._blocks = list(blocks)
        self._error, self._count = fit

    @property
    def is_regression(self) -> bool:
        """Whether the targets are real numbers with Gaussian noise."""
        return self._likelihood.name in _REGRESSION

    # --- marginal likelihood -------------------------------------------------------------------------

    def log_determinant(self, prior_precision: Any = None, noise: Any = None) -> Tensor:
        """Return log det(G / σ² + τ I), for the precision of the posterior.

        Args:
            prior_precision (float or Tensor, optional): precision τ. Default: ``None``, the attribute.
            noise (float or Tensor, optional): standard deviation σ. Default: ``None``, the attribute.

        Returns:
            Tensor: 0-D tensor, differentiable with respect to both arguments.

        Raises:
            ValueError: If ``noise`` is given for a classification.
        """
        precision, deviation = self._hyperparameters(prior_precision, noise)
        return ops.log(make_tensor(self.eigenvalues) / deviation**2 + precision).sum()

    def log_likelihood(self, noise: Any = None) -> Tensor:
        """Return the logarithm of the likelihood of the data at the trained weights."""
        _, deviation = self._hyperparameters(None, noise)
        if not self.is_regression:
            return make_tensor(np.float64(-self._error))
        scale = self._count * (0.5 * log(2 * pi) + ops.log(deviation))
        return -self._error / deviation**2 - scale

    def log_marginal_likelihood(self, prior_precision: Any = None, noise: Any = None) -> Tensor:
        """Return the logarithm of the marginal likelihood, also called the evidence.

            log p(data | w*) − ½ τ ‖w*‖² + ½ n log τ − ½ log det(G / σ² + τ I)

        Args:
            prior_precision (float or Tensor, optional): precision τ. Default: ``None``, the attribute.
            noise (float or Tensor, optional): standard deviation σ. Default: ``None``, the attribute.

        Returns:
            Tensor: 0-D tensor. Maximize it with respect to both arguments to choose them. The weights w* do
            not change.

        Raises:
            ValueError: If ``noise`` is given for a classification.
        """
        precision, _ = self._hyperparameters(prior_precision, noise)
        norm = float(self.mean @ self.mean)
        prior = 0.5 * (self.mean.size * ops.log(precision) - precision * norm)
        return self.log_likelihood(noise) + prior - 0.5 * self.log_determinant(prior_precision, noise)

    def _hyperparameters(self, prior_precision: Any, noise: Any) -> tuple[Tensor, Tensor]:
        if noise is not None and not self.is_regression:
            raise ValueError(
                "For 'laplace', only a regression has 'noise', but the loss is a classification."
            )
        precision = self.prior_precision if prior_precision is None else prior_precision
        deviation = self.noise if noise is None else noise
        return _scalar("prior_precision", precision), _scalar(
            "noise", deviation if self.is_regression else 1.0
        )

    # --- posterior -----------------------------------------------------------------------------------

    def _variances(self) -> np.ndarray:
        """Return the eigenvalues of the posterior covariance."""
        precision, deviation = self._hyperparameters(None, None)
        return 1 / (self.eigenvalues / float(deviation) ** 2 + float(precision))

    def _changed(self, rows: np.ndarray, change: Callable[[Block, np.ndarray], np.ndarray]) -> np.ndarray:
        """Apply a change of basis to the part of each row that belongs to a block."""
        ends = np.cumsum([block.size for block in self._blocks])[:-1]
        parts = np.split(rows, ends, axis=1)
        changed = [change(block, part.T).T for block, part in zip(self._blocks, parts, strict=True)]
        return np.concatenate(changed, axis=1)

    def sample(self, n: int = 1, seed: int = 0) -> list[Any]:
        """Return ``n`` samples of the weights.

        Args:
            n (int, optional): number of samples. Default: ``1``.
            seed (int, optional): seed of the samples. Default: ``0``.

        Returns:
            list: containers of Tensors with the structure of the weights.
        """
        noise = np.random.default_rng(seed).standard_normal((n, self.mean.size)) * np.sqrt(self._variances())
        changes = self._changed(noise, lambda block, x: block.from_basis(x))
        return [self._model.space.tree(self.mean + change) for change in changes]

    def predictive(self, *x: Any, method: str = "probit", samples: int = 1000, seed: int = 0) -> Any:
        """Return the predictive distribution of the network linearized at w*.

        Args:
            x (Tensor): inputs of the network.
            method (str, optional): for a classification, ``"probit"``, the approximation of MacKay, which
                scales logits by their variances, or ``"monte_carlo"``, the mean of sampled probabilities.
                Default: ``"probit"``.
            samples (int, optional): number of samples for ``"monte_carlo"``. Default: ``1000``.
            seed (int, optional): seed of the samples. Default: ``0``.

        Returns:
            tuple or Tensor: for a regression, the mean and the variance of the targets, in the shape of the
            outputs. The variance includes the noise. For a classification, the probabilities, in the shape
            of the outputs.

        Raises:
            ValueError: If ``method`` is unknown.
        """
        if method not in ("probit", "monte_carlo"):
            raise ValueError(f"For 'laplace', 'method' must be 'probit' or 'monte_carlo', but is {method!r}.")
        space = self._model.space
        model = self._model.at((*x,))
        outputs = outputs_of(model).asnumpy()
        jacobian = model.call(jacobian_matrix).asnumpy().astype(np.float64)
        factor = self._changed(jacobian, lambda block, x: block.to_basis(x)) * np.sqrt(self._variances())
        factor = factor.reshape(len(outputs), -1, space.size)
        logits = outputs.astype(np.float64)
        variance = np.einsum("nci,nci->nc", factor, factor).reshape(outputs.shape)
        if self.is_regression:
            deviation = float(self._hyperparameters(None, None)[1])
            return make_tensor(outputs), make_tensor((variance + deviation**2).astype(outputs.dtype))
        if method == "probit":
            probabilities = self._probabilities(logits / np.sqrt(1 + pi / 8 * variance))
        else:
            random = np.random.default_rng(seed)
            probabilities = np.zeros(logits.shape)
            for _ in range(samples):
                change = np.einsum("nci,ni->nc", factor, random.standard_normal((len(outputs), space.size)))
                probabilities += self._probabilities(logits + change.reshape(logits.shape)) / samples
        return make_tensor(probabilities.astype(outputs.dtype))

    def _probabilities(self, logits: np.ndarray) -> np.ndarray:
        if not self._likelihood.has_classes:
            return np.exp(-np.logaddexp(0, -logits))
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        return shifted / shifted.sum(axis=1, keepdims=True)


def _scalar(name: str, value: Any) -> Tensor:
    """Return a hyperparameter as a 0-D Tensor, after checking that it is positive."""
    if not isinstance(value, Tensor):
        if not value > 0:
            raise ValueError(f"For 'laplace', {name!r} must be positive, but is {value!r}.")
        value = make_tensor(np.float64(value))
    if value.shape not in ((), (1,)):
        raise ValueError(f"For 'laplace', {name!r} must be a scalar, but has shape {value.shape}.")
    return value if value.shape == () else value.reshape(())


def laplace(
    net: Callable[..., Any],
    loss: Any,
    data: Any,
    weights: Any = None,
    curvature: str = "gauss_newton",
    prior_precision: Any = 1.0,
    noise: Any = 1.0,
    memory: int = DEFAULT_MEMORY,
) -> Laplace:
    """Approximate the posterior of the weights of a trained network by a Gaussian.

    The posterior is the Gaussian ``N(w*, (G / σ² + τ I)⁻¹)`` at the trained weights w*. G is the Gauss–Newton
    matrix of the loss, summed over all samples whatever the reduction of the loss is. The trained weights
    should minimize the loss plus ``½ τ ‖w‖²``.

    ===============  ==================================================================================
    ``curvature``    matrix G
    ===============  ==================================================================================
    "gauss_newton"   the whole matrix, for small networks
    "kfac"           Kronecker-factored blocks, one for each weight, see :func:`kfac`
    "diagonal"       the diagonal
    "last_layer"     the whole matrix of the Parameters of the last layer; the other layers are fixed
    ===============  ==================================================================================

    Args:
        net (Cell or Callable): the network. If the weights are Parameters, it is called as ``net(x)``, and
            otherwise as ``net(weights, x)``. It returns one Tensor whose first axis contains the samples.
        loss (str, Cell, or Callable): for a regression ``"squared_error"``, ``nn.MSELoss()`` or
            ``ops.mse_loss``; for a classification ``"cross_entropy"`` or ``"binary_cross_entropy"``, or the
            corresponding Cells and functions, which read logits.
        data (tuple or iterable): a pair ``(x, y)`` of inputs and targets, or an iterable of such pairs, such
            as a data set. x may be a tuple of several inputs.
        weights (Parameter, Tensor, or container, optional): the weights that have a posterior. Default:
            ``None``, ``net.trainable_params()``.
        curvature (str, optional): see the table. Default: ``"gauss_newton"``.
        prior_precision (float or Tensor, optional): precision τ of the prior ``N(0, τ⁻¹ I)``. Default:
            ``1.0``.
        noise (float or Tensor, optional): standard deviation σ of the targets of a regression. Default:
            ``1.0``.
        memory (int, optional): number of bytes that the matrix may use. Default: 256 MiB.

    Returns:
        Laplace: the posterior, with the methods ``log_determinant``, ``log_marginal_likelihood``,
        ``predictive``, and ``sample``.

    Raises:
        TypeError: If the loss is neither a regression nor a classification, or the weights are not Parameters
            or Tensors of a real floating dtype.
        ValueError: If ``curvature`` is unknown, the matrix does not fit into ``memory``, ``data`` is empty,
            a hyperparameter is not positive, or the network does not depend on a weight.

    D. J. C. MacKay, *Bayesian Interpolation*, 1992; E. Daxberger et al., *Laplace Redux – Effortless Bayesian
    Deep Learning*, 2021.

    >>> import mindgrad as ms
    >>> x, y = ms.Tensor([[1.0], [2.0], [3.0]]), ms.Tensor([[1.0], [2.0], [3.0]])
    >>> w = ms.Tensor([[0.9]])
    >>> posterior = ms.curvature.laplace(lambda w, x: x @ w, "squared_error", (x, y), w)
    >>> print(f"{posterior.log_determinant():.4f}")  # log(1² + 2² + 3² + 1)
    2.7081
    >>> mean, variance = posterior.predictive(ms.Tensor([[2.0]]))
    >>> print(mean, variance)  # 1 + 2² / 15
    [[1.8]] [[1.2666667]]
    >>> slope = ms.grad(posterior.log_marginal_likelihood)(ms.Tensor(1.0, ms.float64))
    >>> print(f"{slope:.4f}")
    0.0617

    See Also:
        :func:`mindgrad.curvature.gauss_newton`, :func:`mindgrad.curvature.fisher`
    """
    likelihood = _supported(loss)
    if curvature not in _STRUCTURES:
        raise ValueError(
            f"For 'laplace', 'curvature' must be one of {', '.join(_STRUCTURES)}, but is {curvature!r}."
        )
    for name, value in (("prior_precision", prior_precision), ("noise", noise)):
        _scalar(name, value)
    if weights is None:
        if not hasattr(net, "trainable_params"):
            raise TypeError(
                f"For 'laplace', pass 'weights', because 'net' is a {type(net).__name__}, not a Cell."
            )
        weights = net.trainable_params()
    if curvature == "last_layer":
        weights = _last_layer(weights)
    model = Objective("laplace", net, weights)
    size = model.space.size
    if (
        curvature in ("gauss_newton", "last_layer") and 24 * size**2 > memory
    ):  # matrix, eigenvectors, workspace
        raise ValueError(
            f"For 'laplace', the matrix of {size} weights needs {24 * size**2 / 2**20:.1f} MiB, but 'memory' "
            f"is {memory / 2**20:.1f} MiB. Use curvature='kfac', 'diagonal', or 'last_layer'."
        )
    error, count = 0.0, 0
    matrices = []
    for x, y in _batches(data):
        z = outputs_of(model.at(x))
        error += float(_checked_loss(likelihood, z, y))
        count += int(np.prod(z.shape))
        matrices.append(_matrix(model, x, likelihood, curvature, memory))
    if not count:
        raise ValueError("For 'laplace', 'data' contains no samples.")
    return Laplace(model, likelihood, _blocks(curvature, matrices), (error, count), prior_precision, noise)


def _matrix(model: Objective, x: tuple, likelihood: Likelihood, curvature: str, memory: int) -> Any:
    """Return the matrix G of one batch, in the form that ``curvature`` requires."""
    net, weights = model.function, unflatten(model.space.structure, model.space.leaves)
    if curvature == "kfac":
        return kfac(net, weights, *x, loss=likelihood.expected, memory=memory).blocks
    matrix = gauss_newton_operator("laplace", net, weights, x, likelihood.expected, (), True, memory)
    return matrix.diagonal() if curvature == "diagonal" else matrix.to_dense()


def _blocks(curvature: str, matrices: Sequence[Any]) -> Sequence[Block]:
    """Return the diagonal blocks of the sum of the matrices of all batches."""
    if curvature == "kfac":
        if len(matrices) > 1:
            raise ValueError(
                "For 'laplace', curvature='kfac' requires all data in one pair (x, y), because a sum of "
                f"Kronecker products is not a Kronecker product, but 'data' has {len(matrices)} batches."
            )
        return matrices[0]
    total = np.asarray(np.sum(matrices, axis=0, dtype=np.float64))
    return [DiagonalBlock(total) if curvature == "diagonal" else DenseBlock(total)]


def _supported(loss: Any) -> Likelihood:
    """Return the likelihood of a loss, with the sum as reduction."""
    likelihood = likelihood_of("laplace", loss, "sum")
    if likelihood is not None and likelihood.name in _REGRESSION:
        return likelihood_of("laplace", "squared_error")  # type: ignore[return-value]
    if likelihood is None or likelihood.name not in ("cross_entropy", "binary_cross_entropy"):
        name = loss if isinstance(loss, str) else getattr(loss, "__name__", type(loss).__name__)
        raise TypeError(
            f"For 'laplace', '{name}' is neither a regression nor a classification. Use 'squared_error', "
            "'cross_entropy', or 'binary_cross_entropy', or the corresponding losses of nn and ops."
        )
    return likelihood


def _checked_loss(likelihood: Likelihood, outputs: Any, targets: Any) -> Tensor:
    if not isinstance(outputs, Tensor) or outputs.ndim == 0:
        raise ValueError("For 'laplace', 'net' must return one Tensor whose first axis contains the samples.")
    if not likelihood.has_classes and tuple(outputs.shape) != tuple(targets.shape):
        raise ValueError(
            f"For 'laplace', the targets must have the shape {tuple(outputs.shape)} of the outputs, but have "
            f"shape {tuple(targets.shape)}."
        )
    return likelihood.loss(outputs, targets)


def _last_layer(weights: Any) -> list[Any]:
    """Return the Parameters whose names have the same prefix as the last Parameter."""
    listed = list(weights) if isinstance(weights, (list, tuple)) else []
    if not listed or not all(getattr(p, "is_parameter", False) for p in listed):
        raise TypeError("For 'laplace', curvature='last_layer' requires a list of Parameters as weights.")
    prefix = listed[-1].name.rpartition(".")[0]
    return [p for p in listed if p.name.rpartition(".")[0] == prefix]


def _batches(data: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield pairs (tuple of inputs, targets)."""
    if isinstance(data, (tuple, list)) and len(data) == 2 and isinstance(data[1], Tensor):
        data = [data]
    elif hasattr(data, "create_tuple_iterator"):
        data = data.create_tuple_iterator()
    for batch in data:
        if not isinstance(batch, (tuple, list)) or len(batch) != 2:
            raise ValueError("For 'laplace', 'data' must be a pair (x, y), or contain such pairs.")
        x, y = batch
        yield (tuple(x) if isinstance(x, (tuple, list)) else (x,)), y
