"""SOAP: Adam in the eigenbases of Shampoo's preconditioner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad import ops
from mindgrad.common import dtype
from mindgrad.common.parameter import Parameter, ParameterTuple
from mindgrad.core import cond
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend.control.variables import is_symbolic
from mindgrad.nn.hyperparameters import boolean, fraction, positive, positive_int, real
from mindgrad.nn.optim.optimizer import Optimizer, documented, wide_dtype

__all__ = ["SOAP"]


@documented
class SOAP(Optimizer):
    """The SOAP optimizer: Adam in the eigenbases of Shampoo's preconditioner.

    For a matrix W with the gradient G, in step t (N. Vyas et al., *SOAP: Improving and Stabilizing Shampoo
    using Adam*, 2024, algorithm 3)::

        G' = Q_Lᵀ G Q_R
        M ← β₁ M + (1 − β₁) G
        V ← β₂ V + (1 − β₂) G'²
        N' = Q_Lᵀ M Q_R / (√V + ε)
        W ← W − η √(1 − β₂ᵗ) / (1 − β₁ᵗ) · Q_L N' Q_Rᵀ − η λ W
        L ← β L + (1 − β) G Gᵀ
        R ← β R + (1 − β) Gᵀ G

    with the Shampoo decay rate β. In every ``precondition_frequency``-th step, one power iteration with a QR
    factorization updates the eigenbases: Q_L ← QR(L Q_L) and Q_R ← QR(R Q_R) (algorithm 4). Before, the
    columns of Q_L and Q_R and the elements of V are sorted by the estimated eigenvalues, as in the program of
    the authors.
    The first step only computes L, R, and their eigenvectors, and does not change the Parameters. Therefore,
    t is the number of previous steps.

    A Parameter with more axes has a basis for each axis, and an axis with more than ``max_precond_dim``
    elements has none. If a Parameter has no basis, such as a bias, the method is Adam. The weight decay is
    decoupled. For Parameters in float16 and bfloat16, the state is in float32. The state of an m × n matrix
    has 2 m n + 2 m² + 2 n² elements.

    Args:
        learning_rate (float, Tensor, iterable, or LearningRateSchedule): learning rate η, see
            :class:`Optimizer`.
        beta1 (float): decay rate β₁ of the running average M, between 0 and 1.
        beta2 (float): decay rate β₂ of the running average V, between 0 and 1.
        shampoo_beta (float): decay rate β of the averages L and R, at least 0 and below 1. −1: β₂.
        weight_decay (float or Cell): weight decay λ. Without parameter groups, it applies only to Parameters
            whose names contain neither ``beta`` nor ``gamma``.
        precondition_frequency (int): number of steps from one update of the eigenbases to the next.
        max_precond_dim (int): largest size of an axis with an eigenbasis.
        merge_dims (bool): whether to treat adjacent axes as one axis while its size is at most
            ``max_precond_dim``. The axes of a convolution kernel are then fewer and longer.
        precondition_1d (bool): whether vectors have an eigenbasis.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), name="w")
    >>> optimizer = ms.nn.SOAP([w], learning_rate=0.5, weight_decay=0.0)
    >>> gradient = ms.Tensor([[2.0, 0.0], [0.0, -1.0]])
    >>> for _ in range(2):
    ...     _ = optimizer((gradient,))
    >>> print(w.asnumpy().round(4))
    [[0.5 2. ]
     [3.  4.5]]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 3e-3,
        beta1: float = 0.95,
        beta2: float = 0.95,
        shampoo_beta: float = -1,
        eps: float = 1e-8,
        weight_decay: Any = 0.01,
        precondition_frequency: int = 10,
        max_precond_dim: int = 10000,
        merge_dims: bool = False,
        precondition_1d: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        owner = self.cls_name
        self.beta1, self.beta2 = fraction(owner, "beta1", beta1), fraction(owner, "beta2", beta2)
        self.shampoo_beta = real(owner, "shampoo_beta", shampoo_beta)
        if self.shampoo_beta != -1 and not 0 <= self.shampoo_beta < 1:
            raise ValueError(
                f"For '{owner}', the 'shampoo_beta' must be at least 0 and below 1, or -1 for 'beta2', but "
                f"got {shampoo_beta}."
            )
        self.eps = positive(owner, "eps", eps)
        self.precondition_frequency = positive_int(owner, "precondition_frequency", precondition_frequency)
        self.max_precond_dim = positive_int(owner, "max_precond_dim", max_precond_dim)
        self.merge_dims = boolean(owner, "merge_dims", merge_dims)
        self.precondition_1d = boolean(owner, "precondition_1d", precondition_1d)
        self.moment1 = self._wide_state("soap_m", self.parameters)
        self.moment2 = self._wide_state("soap_v", self.parameters)
        self._shapes = tuple([self._merged(parameter.shape) for parameter in self.parameters])
        self._axes = tuple(map(self._axes_of, self.parameters, self._shapes))
        self.covariances = self._matrices("soap_covariance", np.zeros)
        self.bases = self._matrices("soap_basis", np.eye)

    def _merged(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape after adjacent axes are merged."""
        if not self.merge_dims:
            return shape
        sizes: list[int] = []
        for size in shape:
            if sizes and sizes[-1] * size <= self.max_precond_dim:
                sizes[-1] *= size
            else:
                sizes.append(size)
        return tuple(sizes)

    def _axes_of(self, parameter: Parameter, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the axes that have an eigenbasis."""
        if parameter.ndim < 2 and not self.precondition_1d:
            return ()
        return tuple([axis for axis, size in enumerate(shape) if 1 < size <= self.max_precond_dim])

    def _matrices(self, prefix: str, initial: Callable[..., np.ndarray]) -> ParameterTuple:
        """Create a square matrix for each axis with an eigenbasis."""
        matrices = []
        for parameter, shape, axes in zip(self.parameters, self._shapes, self._axes, strict=True):
            for axis in axes:
                size = shape[axis]
                values = initial((size, size)) if initial is np.zeros else initial(size)
                value = Tensor(values.astype(wide_dtype(parameter).numpy))
                matrices.append(Parameter(value, f"{prefix}_{axis}.{parameter.name}", requires_grad=False))
        return ParameterTuple(matrices)

    def construct(self, gradients: Any) -> bool:
        count = ops.reshape(self.global_step, ())
        is_first = ops.equal(count, 0)
        t = ops.maximum(ops.cast(count, dtype.float32), 1.0)
        correction = ops.sqrt(1.0 - ops.pow(self.beta2, t)) / (1.0 - ops.pow(self.beta1, t))
        beta = self.beta2 if self.shampoo_beta == -1 else self.shampoo_beta
        rows = self._rows(
            gradients, self._decays(), self.decay_flags, self.moment1, self.moment2, decayed=False
        )
        position = 0
        for number, (parameter, gradient, rate, decay, applies, *moments) in enumerate(rows):
            axes, shape = self._axes[number], self._shapes[number]
            bases = self.bases[position : position + len(axes)]
            slope = ops.reshape(ops.cast(gradient, moments[0].dtype), shape)
            update = self._update(slope, moments, list(zip(axes, bases, strict=True)), is_first)
            update = ops.reshape(correction * update, parameter.shape)
            if applies and self.exec_weight_decay:
                update = update + parameter * decay
            change = ops.select(is_first, ops.zeros_like(update), rate * update)
            ops.assign_sub(parameter, ops.cast(change, parameter.dtype))
            for axis in axes:
                covariance = self.covariances[position]
                ops.assign(covariance, beta * covariance + (1.0 - beta) * _covariance(slope, axis))
                position += 1
        self._update_bases(count, is_first)
        return True

    def _update(self, slope: Any, moments: Sequence[Any], bases: Sequence[Any], is_first: Any) -> Any:
        """Update the moments, and return the step of Adam in the eigenbases."""
        mean, square = [ops.reshape(moment.value(), slope.shape) for moment in moments]
        inside = _rotated(slope, bases)
        mean = self.beta1 * mean + (1.0 - self.beta1) * slope
        square = self.beta2 * square + (1.0 - self.beta2) * ops.square(inside)
        for moment, value in zip(moments, (mean, square), strict=True):
            value = ops.reshape(value, moment.shape)
            ops.assign(moment, ops.select(is_first, ops.zeros_like(value), value))
        step = _rotated(mean, bases) / (ops.sqrt(square) + self.eps)
        return _rotated(step, [(axis, ops.transpose(basis, (1, 0))) for axis, basis in bases])

    def _update_bases(self, count: Any, is_first: Any) -> None:
        """Compute eigenvectors in the first step, and refine them when they are due."""
        if not self.bases:
            return
        squares = [moment for moment, axes in zip(self.moment2, self._axes, strict=True) if axes]

        def refined(covariances: Any, bases: Any, squares: Any) -> Any:
            return _branch(
                ops.equal(count % self.precondition_frequency, 0),
                self._refined, lambda _, bases, squares: (bases, squares), covariances, bases, squares,
            )  # fmt: skip

        states = [[each.value() for each in state] for state in (self.covariances, self.bases, squares)]
        bases, sorted_squares = _branch(is_first, _eigenbases, refined, *states)
        for parameter, value in zip((*self.bases, *squares), (*bases, *sorted_squares), strict=True):
            ops.assign(parameter, value)

    def _refined(self, covariances: Any, bases: Any, squares: Any) -> tuple[list[Any], list[Any]]:
        """Sort the eigenvectors and V by the eigenvalues, and iterate once."""
        new_bases, new_squares, position = [], [], 0
        merged = [(shape, axes) for shape, axes in zip(self._shapes, self._axes, strict=True) if axes]
        for square, (shape, axes) in zip(squares, merged, strict=True):
            value = ops.reshape(square, shape)
            for axis in axes:
                image = ops.matmul(covariances[position], bases[position])
                order = ops.argsort(-ops.sum(bases[position] * image, 0))
                new_bases.append(ops.qr(ops.gather(image, order, 1))[0])
                value = ops.gather(value, order, axis)
                position += 1
            new_squares.append(ops.reshape(value, square.shape))
        return new_bases, new_squares


def _rotated(x: Any, bases: Sequence[Any]) -> Any:
    """Multiply each listed axis by the transpose of its matrix."""
    for axis, basis in bases:
        x = ops.moveaxis(ops.matmul(ops.moveaxis(x, axis, -1), basis), -1, axis)
    return x


def _covariance(x: Any, axis: int) -> Any:
    """Return the sum of x xᵀ over all axes except one."""
    rows = ops.reshape(ops.moveaxis(x, axis, 0), (x.shape[axis], -1))
    return ops.matmul(rows, ops.transpose(rows, (1, 0)))


def _eigenbases(covariances: Any, _: Any, squares: Any) -> tuple[list[Any], Any]:
    """Return the eigenvectors of all matrices, by descending eigenvalues."""
    return [ops.flip(ops.eigh(each)[1], (1,)) for each in covariances], squares


def _branch(test: Any, true: Callable[..., Any], false: Callable[..., Any], *operands: Any) -> Any:
    """Call one of two functions; in a compiled function, a branch chooses."""
    if is_symbolic(test):
        return cond(test, true, false, *operands)
    return (true if test else false)(*operands)
