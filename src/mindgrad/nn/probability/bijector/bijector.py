"""Base class of bijectors: invertible functions with the logarithm of their slope."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from mindgrad import ops
from mindgrad._base.checks import of_type
from mindgrad.ir.dtype import as_dtype, float32
from mindgrad.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.probability.distribution.distribution import Distribution
from mindgrad.nn.probability.distribution.transformed import TransformedDistribution

__all__ = ["Bijector", "Invert"]


class Bijector(Cell):
    """An invertible function f, with its inverse and the logarithm of its slope.

    A derived class defines ``_forward``, ``_inverse`` and ``_forward_log_jacobian``.

    Args:
        is_constant_jacobian (bool, optional): whether the derivative of f is constant. Default: ``False``.
        is_injective (bool, optional): whether f is injective. Default: ``True``.
        name (str or None, optional): name of the bijector. Default: ``None``, the name of the class.
        dtype (mindgrad.dtype or None, optional): element type of the parameters. Default: ``None``, float32.
        param (dict or None, optional): dict that maps names to parameters. MindSpore programs may pass
            ``dict(locals())`` of the constructor instead, which contains the parameters as ``"param"``.
            Default: ``None``.

    Inputs:
        A call has one of two forms. With a Distribution of x, the call returns the
        :class:`~mindgrad.nn.probability.distribution.TransformedDistribution` of f(x). With the name of a
        method and its argument, the call returns the result of the method.

    Raises:
        TypeError: If a value is not a Tensor, or a parameter is neither a number nor a Tensor.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability import bijector
    >>> print(bijector.ScalarAffine(2.0, 1.0)("forward", Tensor([3.0])))
    [7.]
    """

    def __init__(
        self, is_constant_jacobian: bool = False, is_injective: bool = True, name: str | None = None,
        dtype: Any = None, param: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._name = name or type(self).__name__
        self._is_constant_jacobian, self._is_injective = is_constant_jacobian, is_injective
        self._dtype = None if dtype is None else as_dtype(dtype)
        param = param or {}
        self._parameters = {key: value for key, value in param.items() if key != "self" and key[:1] != "_"}
        named = param.get("param") or {} if "self" in param or "param" in param else param
        for key, value in named.items():
            if isinstance(value, bool) or not isinstance(
                value, (int, float, list, tuple, np.ndarray, np.generic, Tensor)
            ):
                raise TypeError(
                    f"For '{type(self).__name__}', the '{key}' must be a number or Tensor, but got {value!r}."
                )
            is_tensor = isinstance(value, Tensor)
            setattr(self, f"_{key}", value if is_tensor else Tensor(value, self._dtype or float32))

    @property
    def name(self) -> str:
        """The name of the bijector."""
        return self._name

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor, by name."""
        return self._parameters

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the derivative of f is constant."""
        return self._is_constant_jacobian

    @property
    def is_injective(self) -> bool:
        """Whether f is injective."""
        return self._is_injective

    def _checked(self, value: Any) -> Any:
        of_type(value, Tensor, type(self).__name__, "value")
        return value if value.dtype.is_float else ops.cast(value, float32)

    def forward(self, value: Any) -> Tensor:
        """Compute f(x)."""
        return self._forward(self._checked(value))

    def inverse(self, value: Any) -> Tensor:
        """Compute the inverse f⁻¹(y)."""
        return self._inverse(self._checked(value))

    def forward_log_jacobian(self, value: Any) -> Tensor:
        """Compute log |f'(x)|."""
        return self._forward_log_jacobian(self._checked(value))

    def inverse_log_jacobian(self, value: Any) -> Tensor:
        """Compute log |(f⁻¹)'(y)|."""
        return self._inverse_log_jacobian(self._checked(value))

    def _forward(self, value: Any) -> Any:
        self._refuse("forward")

    def _inverse(self, value: Any) -> Any:
        self._refuse("inverse")

    def _forward_log_jacobian(self, value: Any) -> Any:
        self._refuse("forward_log_jacobian")

    def _inverse_log_jacobian(self, value: Any) -> Any:
        return -self._forward_log_jacobian(self._inverse(value))

    def _refuse(self, method: str) -> NoReturn:
        raise NotImplementedError(f"For '{type(self).__name__}', the method '{method}' is not implemented.")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if isinstance(args[0], Distribution):
            return TransformedDistribution(self, *args, **kwargs)
        return super().__call__(*args, **kwargs)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call the method with the name ``name``."""
        return getattr(self, name)(*args, **kwargs)


class Invert(Bijector):
    """The inverse of a bijector.

    Args:
        bijector (Bijector): the bijector to invert.
        name (str, optional): name of the bijector. Default: ``""``, which means ``Invert`` followed by the
            name of ``bijector``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.nn.probability import bijector
    >>> print(bijector.Invert(bijector.Exp()).forward(Tensor([1.0])))
    [0.]
    """

    def __init__(self, bijector: Bijector, name: str = "") -> None:
        of_type(bijector, Bijector, "Invert", "bijector")
        super().__init__(
            bijector.is_constant_jacobian, bijector.is_injective, name or f"Invert{bijector.name}"
        )
        self._bijector = bijector

    @property
    def bijector(self) -> Bijector:
        """The original bijector."""
        return self._bijector

    def _forward(self, value: Any) -> Any:
        return self._bijector.inverse(value)

    def _inverse(self, value: Any) -> Any:
        return self._bijector.forward(value)

    def _forward_log_jacobian(self, value: Any) -> Any:
        return self._bijector.inverse_log_jacobian(value)

    def _inverse_log_jacobian(self, value: Any) -> Any:
        return self._bijector.forward_log_jacobian(value)
