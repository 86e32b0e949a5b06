"""Base class of optimizers that evaluate a function themselves, such as L-BFGS.

``FlatFunction`` computes the value, the gradient, and Hessian-vector products of such a function at a vector
of all weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from mindgrad import ops
from mindgrad.api.gradient import value_and_grad
from mindgrad.api.hessian import hvp
from mindgrad.api.jit import jit
from mindgrad.core.ir.scope import open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.curvature.weight_space import WeightSpace, flat_arrays
from mindgrad.frontend.programs.object_cache import remembered
from mindgrad.nn.optim.optimizer import Optimizer

__all__ = ["ClosureOptimizer", "FlatFunction"]


class ClosureOptimizer(Optimizer):
    """Base class of optimizers that evaluate a function several times in each step.

    ``loss = optimizer.step(function, *args)`` is one step. The optimizer computes the value and the
    derivatives of ``function(*args)`` itself, so the caller does not call :func:`mindgrad.grad`. The
    optimizer compiles these computations in both modes. A step consists of several compiled calls, so it
    cannot be part of a compiled function. :class:`TrainOneStepCell` and :class:`mindgrad.train.Model` call
    ``step`` with the network and its inputs.

    Args:
        learning_rate (float, Tensor, iterable, or LearningRateSchedule): learning rate, see
            :class:`Optimizer`.
        parameters (list of Parameter or list of dict): Parameters to train, see :class:`Optimizer`.
        weight_decay (float or Cell): factor of weight decay, see :class:`Optimizer`.
        loss_scale (float): loss scale, see :class:`Optimizer`.

    Inputs:
        gradients (tuple of Tensor): not accepted; a call with gradients raises ``TypeError``.

    Raises:
        TypeError: If an argument has an unsupported type, or the optimizer is called with gradients.
        ValueError: If an argument is out of range.
        KeyError: If a parameter group has an unknown key, or does not have ``params``.
        RuntimeError: If the same Parameter is listed twice.

    A subclass defines ``advance(self, function, args)``. The method changes ``self.parameters`` and returns
    the loss before the step:

    >>> import mindgrad as ms
    >>> class HalvedDescent(ms.nn.ClosureOptimizer):
    ...     def advance(self, function, args):
    ...         loss, gradients = ms.value_and_grad(function, None, self.parameters)(*args)
    ...         rate = float(self.get_lr())
    ...         before = [parameter.value() for parameter in self.parameters]
    ...         while True:
    ...             for parameter, start, gradient in zip(self.parameters, before, gradients):
    ...                 ms.ops.assign(parameter, start - rate * gradient)
    ...             if function(*args) <= loss:
    ...                 return loss
    ...             rate = rate / 2
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> optimizer = HalvedDescent(2.0, [w])
    >>> print(optimizer.step(lambda: (w * w).sum()), w.value())
    5.0 [-1. -2.]
    """

    evaluates_function = True

    def step(self, function: Callable[..., Any], *args: Any) -> Any:
        """Take one step, and return the loss before the step.

        Args:
            function (Callable or Cell): function that computes the loss, a Tensor of one element, from the
                Parameters and ``args``. Some optimizers expect a function that returns residuals instead.
                The optimizer calls it several times, so it must not depend on random numbers.
            *args (Any): arguments of ``function``. If they change between steps, the compiled functions are
                used again.

        Returns:
            Tensor: the loss at the Parameters before the step.

        Raises:
            TypeError: If ``function`` is not callable, or does not return a Tensor.
            ValueError: If the loss has more than one element, or an argument is one of the Parameters.
            RuntimeError: If ``step`` is called in a function that is being compiled or differentiated.
        """
        if not callable(function):
            raise TypeError(
                f"For '{self.cls_name}.step', the 'function' must be a function or Cell that returns the "
                f"loss, but got {type(function).__name__}. Pass the function, not its result."
            )
        if open_scopes():
            raise RuntimeError(
                f"For '{self.cls_name}.step', a step cannot be part of a compiled or differentiated "
                "function, because it decides from values how often it evaluates the loss. Call it from "
                "plain Python, or use nn.TrainOneStepCell."
            )
        for parameter in self.parameters:
            if any(arg is parameter for arg in args):
                raise ValueError(
                    f"For '{self.cls_name}.step', the Parameter '{parameter.name}' is an argument of the "
                    "function, and derivatives do not see that it is trained. Remove the argument, and read "
                    "the Parameter in the function."
                )
        loss = self.advance(function, args)
        ops.assign_add(self.global_step, 1)
        return loss

    def advance(self, function: Callable[..., Any], args: Sequence[Any]) -> Any:
        """Change the Parameters, and return the loss before the step.

        Each optimizer defines this method. :meth:`step` checks its arguments and counts the steps.

        Args:
            function (Callable): function of ``args`` that computes the loss or the residuals.
            args (tuple): arguments of ``function``.

        Raises:
            NotImplementedError: If the subclass does not define ``advance``.
        """
        raise NotImplementedError(
            f"For '{self.cls_name}', define advance(self, function, args), which changes self.parameters and "
            "returns the loss."
        )

    def __call__(self, *gradients: Any, **options: Any) -> Any:
        """Raise an error, because the optimizer evaluates the function itself.

        Raises:
            TypeError: In each call.
        """
        raise TypeError(
            f"'{self.cls_name}' evaluates the loss itself, so it cannot be called with gradients. Call "
            "optimizer.step(function), where function() returns the loss, or use nn.TrainOneStepCell."
        )

    def _check_single_group(self) -> None:
        """Raise an error if there are parameter groups, or a dtype has too few digits."""
        if self.is_group:
            raise ValueError(
                f"For '{self.cls_name}', the 'params' must be a list of Parameters, because one step length "
                "applies to all of them, but got parameter groups."
            )
        for parameter in self.parameters:
            if not parameter.dtype.is_float or parameter.dtype.numpy.itemsize < 4:
                raise TypeError(
                    f"For '{self.cls_name}', Parameter '{parameter.name}' must have the dtype float32 or "
                    f"float64, but got {parameter.dtype}."
                )


class FlatFunction:
    """A function of Parameters as a function of one vector of all their elements.

    The vectors are NumPy arrays in float64. The Parameters have the values of the last vector that was passed
    to ``evaluate`` or ``move_to``.

    Args:
        owner: name of the optimizer in errors.
        function: function of ``args`` and the Parameters. It returns a Tensor of one element.
        args: arguments of the function.
        weights: Parameters.

    Attributes:
        calls: number of evaluations of the value and gradient.
        loss: Tensor that the first call of ``evaluate`` computed, or ``None``.
    """

    def __init__(
        self, owner: str, function: Callable[..., Any], args: Sequence[Any], weights: Sequence[Any]
    ) -> None:
        self.function, self.args, self.weights = function, tuple(args), weights
        self.space = WeightSpace(owner, list(weights))
        self._key = tuple(map(id, weights))
        self._value_and_gradient = remembered(
            function,
            ("flat gradient", owner, self._key),
            lambda: _compiled_gradient(owner, function, weights, self.space),
        )
        self.calls = 0
        self.loss: Any = None

    def point(self) -> np.ndarray:
        """Return the elements of all Parameters."""
        return self.space.current().astype(np.float64)

    def rounded(self, vector: np.ndarray) -> np.ndarray:
        """Round the elements of a vector to the dtypes of the Parameters."""
        return flat_arrays(self.space.tree(vector)).astype(np.float64)

    def precision(self) -> float:
        """Return the relative rounding error of a value, after the first evaluation."""
        kinds = [tensor.dtype.numpy for tensor in (self.loss, *self.weights)]
        return max(float(ml_dtypes.finfo(kind).eps) for kind in kinds)

    def evaluate(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Move the Parameters to ``vector``, and return the value and gradient there."""
        loss, gradient = self._value_and_gradient(Tensor(vector), *self.args)
        self.calls += 1
        if self.loss is None:
            self.loss = loss
        return float(loss.asnumpy()), gradient.asnumpy().astype(np.float64)

    def product(self, direction: np.ndarray) -> np.ndarray:
        """Return the product of ``direction`` and the Hessian at the Parameters."""
        function, weights, space = self.function, self.weights, self.space
        product = remembered(
            function, ("flat product", self._key), lambda: _compiled_product(function, weights, space)
        )
        return product(Tensor(direction), *self.args).asnumpy().astype(np.float64)

    def move_to(self, vector: np.ndarray) -> None:
        """Set the Parameters to the elements of ``vector``."""
        self.space.assign(vector)


def _joined(tensors: Sequence[Any]) -> Any:
    """Join Tensors to one vector of their widest dtype."""
    kind = max((tensor.dtype for tensor in tensors), key=lambda each: each.numpy.itemsize)
    return ops.concat([ops.cast(ops.reshape(tensor, (-1,)), kind) for tensor in tensors])


def _compiled_gradient(
    owner: str, function: Callable[..., Any], weights: Sequence[Any], space: WeightSpace
) -> Any:
    def scalar(*args: Any) -> Any:
        loss = function(*args)
        if not isinstance(loss, Tensor):
            raise TypeError(
                f"For '{owner}.step', the function must return the loss, one Tensor, but it returned an "
                f"object of type {type(loss).__name__}."
            )
        if loss.size != 1:
            raise ValueError(
                f"For '{owner}.step', the function must return a loss with one element, but its shape is "
                f"{loss.shape}. Return its sum or mean."
            )
        return ops.reshape(loss, ())

    def value_and_gradient(vector: Any, *args: Any) -> tuple[Any, Any]:
        for weight, part in zip(weights, space.split(vector), strict=True):
            ops.assign(weight, part)
        loss, gradients = value_and_grad(scalar, None, weights)(*args)
        return loss, _joined(gradients)

    return jit(value_and_gradient)


def _compiled_product(function: Callable[..., Any], weights: Sequence[Any], space: WeightSpace) -> Any:
    def product(direction: Any, *args: Any) -> Any:
        products = hvp(function, None, weights=weights)(*args, tuple(space.split(direction)))
        return _joined(products if isinstance(products, (tuple, list)) else (products,))

    return jit(product)
