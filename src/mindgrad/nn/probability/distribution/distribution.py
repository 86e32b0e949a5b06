"""Base class of probability distributions: densities, moments, and samples.

A derived class names its parameters and defines ``_log_prob(value, *parameters)`` and, if available, other
methods such as ``_cdf`` or ``_mean``. The base class derives ``prob``, ``sd`` or ``var``,
``survival_function``, the logarithms, and ``cross_entropy`` from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from mindgrad import ops
from mindgrad._base.checks import of_type
from mindgrad.core.ir.dtype import DType, as_dtype, float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.nn.cell import Cell

__all__ = ["Distribution", "above_zero", "in_unit_interval"]


class Distribution(Cell):
    """A distribution with parameters from the constructor or from each call.

    A parameter that is ``None`` in the constructor must be an argument of each call.

    Args:
        seed (int or None): seed of the random samples of this distribution. ``None`` or 0: no separate seed.
        dtype (mindgrad.dtype): dtype of the samples.
        name (str): name of the distribution.
        param (dict, optional): dict that maps names to parameters: numbers, arrays, Tensors, Parameters, or
            ``None``. Default: ``None``.

    Inputs:
        ``name``: name of a method, followed by its arguments: ``normal("log_prob", value)``.

    Raises:
        TypeError: If an argument has an unsupported type, or a parameter is missing in both the constructor
            and the call.
        ValueError: If a parameter is out of range.
        NotImplementedError: If the distribution does not have the method.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability.distribution import Normal
    >>> normal = Normal(0.0, 1.0)
    >>> print(f"{normal('prob', Tensor([0.0])).item():.4f}")
    0.3989
    """

    #: names of the distribution's parameters, in the order of the arguments
    parameter_names: tuple[str, ...] = ()
    #: parameter -> (check of its values, condition in words for the error message)
    conditions: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {}
    is_discrete = False

    def __init__(self, seed: Any, dtype: Any, name: str, param: dict[str, Any] | None = None) -> None:
        super().__init__()
        owner = type(self).__name__
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
            raise TypeError(
                f"For '{owner}', the 'seed' must be an int of at least 0 or None, but got {seed!r}."
            )
        self._dtype = as_dtype(dtype)
        if not (self._dtype.is_float or (self.is_discrete and self._dtype.kind in ("int", "uint"))):
            raise TypeError(
                f"For '{owner}', the 'dtype' must be a floating-point type, but got {self._dtype}."
            )
        self._name, self._seed = name, seed or 0
        self._real = self._dtype if self._dtype.is_float else float32
        for key in self.parameter_names:
            value = (param or {}).get(key)
            setattr(self, f"_{key}_value", None if value is None else self._checked(key, value))

    def _checked(self, key: str, value: Any) -> Any:
        owner = type(self).__name__
        if isinstance(value, bool) or not isinstance(
            value, (int, float, list, tuple, np.ndarray, np.generic, Tensor)
        ):
            raise TypeError(
                f"For '{owner}', the '{key}' must be a number or Tensor, but got {type(value).__name__}."
            )
        tensor = value if isinstance(value, Tensor) else Tensor(value, self._real)
        if key in self.conditions and not references.is_compiling():
            holds, words = self.conditions[key]
            if not np.all(holds(tensor.asnumpy())):
                raise ValueError(f"For '{owner}', the '{key}' must be {words}, but got {tensor.asnumpy()}.")
        return tensor

    # -- attributes and parameters ----------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the distribution."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The dtype of the samples."""
        return self._dtype

    @property
    def seed(self) -> int:
        """The seed of this distribution, or 0 if it has no separate seed."""
        return self._seed

    @property
    def batch_shape(self) -> tuple[int, ...] | None:
        """The broadcast shape of the parameters; ``None`` if calls pass some of them."""
        values = [getattr(self, f"_{key}_value") for key in self.parameter_names]
        if any(value is None for value in values):
            return None
        return tuple(np.broadcast_shapes(*[value.shape for value in values]))

    @property
    def is_scalar_batch(self) -> bool:
        """Whether it is a single distribution, not a batch of them."""
        return self.batch_shape == ()

    @property
    def broadcast_shape(self) -> tuple[int, ...] | None:
        """The same as :attr:`batch_shape`."""
        return self.batch_shape

    def get_dist_type(self) -> str:
        """Return the kind of distribution, as :meth:`kl_loss` expects it."""
        return type(self).__name__

    def get_dist_args(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the parameters; arguments replace the values of the distribution."""
        return tuple(self._arguments("get_dist_args", args, kwargs))

    def _arguments(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Return all parameters: the arguments of a call, else the distribution's values."""
        owner = type(self).__name__
        if len(args) > len(self.parameter_names) or any(key not in self.parameter_names for key in kwargs):
            raise TypeError(
                f"For '{owner}', '{method}' takes the parameters {', '.join(self.parameter_names)}, but "
                f"got {len(args)} by position and {', '.join(kwargs) or 'none by name'}."
            )
        values = []
        for number, key in enumerate(self.parameter_names):
            value = args[number] if number < len(args) else kwargs.get(key)
            value = getattr(self, f"_{key}_value") if value is None else value
            if value is None:
                raise TypeError(
                    f"For '{owner}', the '{key}' was not passed when the distribution was created. Pass it "
                    f"to '{method}'."
                )
            values.append(
                ops.cast(value, self._real) if isinstance(value, Tensor) else Tensor(value, self._real)
            )
        return values

    def _number(self, value: Any) -> Any:
        of_type(value, Tensor, type(self).__name__, "value")
        return ops.cast(value, self._real)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call the method with the name ``name``."""
        return getattr(self, name)(*args, **kwargs)

    # -- densities and cumulative probabilities -------------------------------------------------

    def prob(self, value: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Return the density, or the probability, of ``value``."""
        return self._prob(self._number(value), *self._arguments("prob", args, kwargs))

    def log_prob(self, value: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Return the logarithm of the density, or of the probability, of ``value``."""
        return self._log_prob(self._number(value), *self._arguments("log_prob", args, kwargs))

    def cdf(self, value: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Return the probability of a sample less than or equal to ``value``."""
        return self._cdf(self._number(value), *self._arguments("cdf", args, kwargs))

    def log_cdf(self, value: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Return the logarithm of :meth:`cdf`."""
        return self._log_cdf(self._number(value), *self._arguments("log_cdf", args, kwargs))

    def survival_function(self, value: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Return the probability of a sample greater than ``value``."""
        return self._survival(self._number(value), *self._arguments("survival_function", args, kwargs))

    def log_survival(self, value: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Return the logarithm of :meth:`survival_function`."""
        return self._log_survival(self._number(value), *self._arguments("log_survival", args, kwargs))

    def _prob(self, value: Any, *parameters: Any) -> Any:
        return ops.exp(self._log_prob(value, *parameters))

    def _log_prob(self, value: Any, *parameters: Any) -> Any:
        self._refuse("log_prob")

    def _cdf(self, value: Any, *parameters: Any) -> Any:
        self._refuse("cdf")

    def _log_cdf(self, value: Any, *parameters: Any) -> Any:
        return ops.log(self._cdf(value, *parameters))

    def _survival(self, value: Any, *parameters: Any) -> Any:
        return 1.0 - self._cdf(value, *parameters)

    def _log_survival(self, value: Any, *parameters: Any) -> Any:
        survival = self._survival(value, *parameters)
        is_near_one = survival > 0.5  # near 1, log1p(−cdf) is more accurate than the logarithm
        below = ops.where(is_near_one, self._cdf(value, *parameters), 0.0)
        return ops.where(is_near_one, ops.log1p(-below), ops.log(survival))

    # -- mean, variance, mode, and entropy ------------------------------------------------------

    def mean(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the mean of the distribution."""
        return self._mean(*self._arguments("mean", args, kwargs))

    def sd(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the standard deviation of the distribution."""
        return self._sd(*self._arguments("sd", args, kwargs))

    def var(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the variance of the distribution."""
        return self._var(*self._arguments("var", args, kwargs))

    def mode(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the value with the greatest density or probability."""
        return self._mode(*self._arguments("mode", args, kwargs))

    def entropy(self, *args: Any, **kwargs: Any) -> Tensor:
        """Return the entropy: the mean of −``log_prob``."""
        return self._entropy(*self._arguments("entropy", args, kwargs))

    def _mean(self, *parameters: Any) -> Any:
        self._refuse("mean")

    def _var(self, *parameters: Any) -> Any:
        self._refuse("var")

    def _sd(self, *parameters: Any) -> Any:
        return ops.sqrt(self._var(*parameters))

    def _mode(self, *parameters: Any) -> Any:
        self._refuse("mode")

    def _entropy(self, *parameters: Any) -> Any:
        self._refuse("entropy")

    # -- divergences of two distributions ---------------------------------------------------------

    def kl_loss(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the Kullback–Leibler divergence from b to a.

        The divergence is the mean of log a(x) − log b(x) for samples x of a.

        This distribution is a, and ``dist`` and its parameters describe b.

        Args:
            dist (str): kind of the distribution b, such as ``"Normal"``, which must be the kind of this
                distribution.
            *args (number, array, or Tensor): parameters of b, then optionally parameters of a, which replace
                the parameters of this distribution.
            **kwargs (number, array, or Tensor): the same parameters by name; the names for b end with
                ``_b``, as in ``mean_b``.

        Returns:
            Tensor: the divergence.

        Raises:
            ValueError: If ``dist`` is not the kind of this distribution.
        """
        first, second = self._two("kl_loss", dist, args, kwargs)
        return self._kl(second, first)

    def cross_entropy(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the cross entropy: the mean of −log b(x). See :meth:`kl_loss`."""
        first, second = self._two("cross_entropy", dist, args, kwargs)
        return self._entropy(*first) + self._kl(second, first)

    def _two(self, method: str, dist: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """Return the parameters of this distribution and of the second one, ``*_b``."""
        owner, count = type(self).__name__, len(self.parameter_names)
        if dist != self.get_dist_type():
            raise ValueError(
                f"For '{owner}', the second distribution of '{method}' must be a '{owner}' too, but got "
                f"{dist!r}."
            )
        second = list(args[:count])
        for key in self.parameter_names[len(second) :]:
            if f"{key}_b" not in kwargs:
                raise TypeError(f"For '{owner}', the '{key}_b' must be given to '{method}'.")
            second.append(kwargs.pop(f"{key}_b"))
        return self._arguments(method, args[count:], kwargs), self._arguments(method, tuple(second), {})

    def _kl(self, second: Any, first: Any) -> Any:
        self._refuse("kl_loss")

    # -- drawing samples ------------------------------------------------------------------------

    def sample(self, shape: Any = (), *args: Any, **kwargs: Any) -> Tensor:
        r"""Draw samples of shape (\*shape, \*shape of the parameters)."""
        values = self._arguments("sample", args, kwargs)
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        whole = (*sizes, *self._batch(values))
        return ops.cast(self._sample(whole, *values), self._dtype)

    def _batch(self, values: Any) -> tuple[int, ...]:
        return tuple(np.broadcast_shapes(*[value.shape for value in values]))

    def _sample(self, shape: tuple[int, ...], *parameters: Any) -> Any:
        self._refuse("sample")

    def _fractions(self, shape: tuple[int, ...]) -> Any:
        """Draw uniform random numbers in (0, 1]."""
        return 1.0 - ops.uniform(shape, Tensor(0.0, float32), Tensor(1.0, float32), self._seed or None)  # type: ignore[operator]

    def _refuse(self, method: str) -> NoReturn:
        raise NotImplementedError(f"For '{type(self).__name__}', the method '{method}' is not implemented.")

    def extend_repr(self) -> str:
        return ", ".join(f"{key}={getattr(self, f'_{key}_value')}" for key in self.parameter_names)


above_zero: tuple[Callable[[np.ndarray], Any], str] = (lambda value: value > 0, "above 0")
in_unit_interval: tuple[Callable[[np.ndarray], Any], str] = (
    lambda value: (value >= 0) & (value <= 1),
    "in [0, 1]",
)
