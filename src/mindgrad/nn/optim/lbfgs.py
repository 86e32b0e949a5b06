"""L-BFGS with a line search for the strong Wolfe conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.hyperparameters import non_negative, positive_int
from mindgrad.nn.optim.closure import ClosureOptimizer, FlatFunction
from mindgrad.nn.optim.line_search import Trial, strong_wolfe

__all__ = ["LBFGS"]

#: maximum number of evaluations in one line search
_SEARCH = 25
#: a pair is stored if sᵀy is larger than this fraction of ‖s‖ ‖y‖, so that the approximation is positive
_CURVATURE = 1e-10


class LBFGS(ClosureOptimizer):
    """The L-BFGS optimizer, a quasi-Newton method for functions without noise.

    An iteration multiplies the gradient by an approximate inverse Hessian H. The last ``history_size`` pairs
    of a step s = xₖ₊₁ − xₖ and a change of the gradient y = ∇f(xₖ₊₁) − ∇f(xₖ) determine H (two-loop
    recursion, J. Nocedal and S. J. Wright, *Numerical Optimization*, 2006, algorithm 7.4). With
    ``line_search_fn="strong_wolfe"``, a line search with cubic interpolation finds a step length that
    satisfies the strong Wolfe conditions with c₁ = 10⁻⁴ and c₂ = 0.9 (algorithms 3.5 and 3.6)::

        d = −H ∇f(x)
        f(x + t d) ≤ f(x) + c₁ t ∇f(x)ᵀd
        |∇f(x + t d)ᵀd| ≤ c₂ |∇f(x)ᵀd|
        x ← x + t d

    A call of ``step`` consists of up to ``max_iter`` iterations. An evaluation is one compiled call, which
    computes the value and the gradient. The vectors of the recursion are NumPy arrays in float64. The pairs
    are part of the optimizer state, so a checkpoint resumes exactly. They take 2 · ``history_size`` times the
    memory of the Parameters.

    The signature is the signature of ``torch.optim.LBFGS``. In contrast to PyTorch, the line search is the
    default, both gradients of a pair come from the same call of ``step``, and an error leaves the Parameters
    at the last accepted point. If a pair has no positive curvature, it is not stored.

    Args:
        params (list of Parameter): Parameters to train, in float32 or float64. Parameter groups are not
            supported, because one step length applies to all Parameters.
        learning_rate (float, Tensor, iterable, or LearningRateSchedule): first step length t that the line
            search tries, or the step length of each iteration without a line search. In the first iteration
            it is multiplied by min(1, 1 / ‖∇f‖₁).
        max_iter (int): maximum number of iterations in one call of ``step``.
        max_eval (int): maximum number of evaluations in one call of ``step``. ``None``: 5/4 of ``max_iter``,
            and at least 25.
        tolerance_grad (float): ``step`` returns if no element of the gradient is larger.
        tolerance_change (float): ``step`` returns if an iteration changes the loss by less, or no element of
            the Parameters by more.
        history_size (int): maximum number of pairs.
        line_search_fn (str): ``"strong_wolfe"``, or ``None`` for a fixed step length.

    Inputs:
        gradients (tuple of Tensor): not accepted; call ``step``.

    Raises:
        TypeError: If an argument or Parameter has an unsupported type.
        ValueError: If an argument is out of range, or there are parameter groups.
        RuntimeError: If the same Parameter is listed twice.

    >>> import mindgrad as ms
    >>> w = ms.Parameter(ms.Tensor([-1.0, 2.0], ms.float64), name="w")
    >>> rosenbrock = lambda: (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2
    >>> optimizer = ms.nn.LBFGS([w])
    >>> for _ in range(3):
    ...     loss = optimizer.step(rosenbrock)
    >>> print(w.asnumpy().round(6))
    [1. 1.]
    """

    def __init__(
        self,
        params: Any,
        learning_rate: Any = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = "strong_wolfe",
    ) -> None:
        super().__init__(learning_rate, params)
        self._check_single_group()
        owner = self.cls_name
        self.max_iter = positive_int(owner, "max_iter", max_iter)
        most = max(_SEARCH, self.max_iter * 5 // 4) if max_eval is None else max_eval
        self.max_eval = positive_int(owner, "max_eval", most, least=2)
        self.tolerance_grad = non_negative(owner, "tolerance_grad", tolerance_grad)
        self.tolerance_change = non_negative(owner, "tolerance_change", tolerance_change)
        self.history_size = positive_int(owner, "history_size", history_size)
        if line_search_fn not in (None, "strong_wolfe"):
            raise ValueError(
                f"For '{owner}', the 'line_search_fn' must be 'strong_wolfe' or None, but got "
                f"{line_search_fn!r}."
            )
        self.line_search_fn = line_search_fn
        kind = max((p.dtype.numpy for p in self.parameters), key=lambda each: each.itemsize)
        shape = (self.history_size, sum(parameter.size for parameter in self.parameters))
        self.steps = Parameter(Tensor(np.zeros(shape, kind)), name="lbfgs_steps", requires_grad=False)
        self.gradient_changes = Parameter(
            Tensor(np.zeros(shape, kind)), name="lbfgs_gradient_changes", requires_grad=False
        )
        self.pair_count = Parameter(
            Tensor(np.zeros(1, np.int32)), name="lbfgs_pair_count", requires_grad=False
        )

    def advance(self, function: Callable[..., Any], args: Sequence[Any]) -> Any:
        flat = FlatFunction(self.cls_name, function, args, self.parameters)
        x = flat.point()
        value, gradient = flat.evaluate(x)
        if not np.isfinite(value) or np.abs(gradient).max() <= self.tolerance_grad:
            return flat.loss
        pairs = self._read_pairs()
        rate = float(self.get_lr())
        try:
            for _ in range(self.max_iter):
                direction = -_times_inverse_hessian(pairs, gradient)
                start = Trial(0.0, value, float(gradient @ direction), gradient)
                if not start.slope < 0:
                    pairs.clear()
                    direction = -gradient
                    start = start._replace(slope=-float(gradient @ gradient))
                first = rate if pairs else rate * min(1.0, 1.0 / np.abs(gradient).sum())
                moved, trial = self._search(flat, x, direction, start, first)
                if trial.length == 0:
                    break
                step, change = moved - x, trial.gradient - gradient
                self._remember(pairs, step, change)
                decrease = value - trial.value
                x, value, gradient = moved, trial.value, trial.gradient
                if self._is_finished(flat, value, gradient, step, decrease):
                    break
        finally:
            flat.move_to(x)
        self._write_pairs(pairs)
        return flat.loss

    def _search(
        self, flat: FlatFunction, x: np.ndarray, direction: np.ndarray, start: Trial, first: float
    ) -> tuple[np.ndarray, Trial]:
        """Return the next point, and the trial of its step length."""

        def evaluate(length: float) -> Trial:
            value, gradient = flat.evaluate(flat.rounded(x + length * direction))
            return Trial(length, value, float(gradient @ direction), gradient)

        if self.line_search_fn is None:
            trial = evaluate(first)
        else:
            most = min(_SEARCH, self.max_eval - flat.calls)
            shortest = self.tolerance_change / np.abs(direction).max()
            trial = strong_wolfe(evaluate, start, first, most, flat.precision(), shortest)
        return flat.rounded(x + trial.length * direction), trial

    def _is_finished(
        self, flat: FlatFunction, value: float, gradient: np.ndarray, step: np.ndarray, decrease: float
    ) -> bool:
        return bool(
            flat.calls >= self.max_eval
            or not np.isfinite(value)
            or np.abs(gradient).max() <= self.tolerance_grad
            or np.abs(step).max() <= self.tolerance_change
            or abs(decrease) < self.tolerance_change
        )

    def _remember(
        self, pairs: list[tuple[np.ndarray, np.ndarray]], step: np.ndarray, change: np.ndarray
    ) -> None:
        """Append a pair with positive curvature, and remove the oldest pair if necessary."""
        if step @ change > _CURVATURE * np.linalg.norm(step) * np.linalg.norm(change):
            pairs.append((step, change))
            del pairs[: -self.history_size]

    def _read_pairs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        count = int(self.pair_count.asnumpy()[0])
        steps, changes = [
            state.asnumpy()[:count].astype(np.float64) for state in (self.steps, self.gradient_changes)
        ]
        return list(zip(steps, changes, strict=True))

    def _write_pairs(self, pairs: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Store the pairs, from the oldest to the newest."""
        for column, state in enumerate((self.steps, self.gradient_changes)):
            rows = np.zeros(state.shape, state.dtype.numpy)
            for row, pair in zip(rows, pairs, strict=False):
                row[:] = pair[column]
            state.set_data(Tensor(rows))
        self.pair_count.set_data(Tensor(np.array([len(pairs)], np.int32)))


def _times_inverse_hessian(
    pairs: Sequence[tuple[np.ndarray, np.ndarray]], gradient: np.ndarray
) -> np.ndarray:
    """Multiply the gradient by the approximate inverse Hessian, in two loops."""
    vector = gradient.copy()
    products = []
    for step, change in reversed(pairs):
        curvature = step @ change
        factor = (step @ vector) / curvature
        vector -= factor * change
        products.append((factor, curvature))
    if pairs:
        step, change = pairs[-1]
        vector *= (step @ change) / (change @ change)
    for (step, change), (factor, curvature) in zip(pairs, reversed(products), strict=True):
        vector += (factor - (change @ vector) / curvature) * step
    return vector
