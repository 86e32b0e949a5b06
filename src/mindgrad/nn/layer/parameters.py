"""Create the Parameters of layers, with the default initializers of MindSpore 2.x."""

from __future__ import annotations

import math
from typing import Any

from mindgrad.common.initializer import HeUniform, Uniform, initializer
from mindgrad.common.parameter import Parameter
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.tensor import Tensor

__all__ = ["bias_of_fan", "check_data_format", "parameter", "weight_of_fan"]


def parameter(
    owner: str, init: Any, shape: tuple[int, ...], name: str, dtype: Any = float32, trained: bool = True
) -> Parameter:
    """Create a Parameter from an initializer, its name, a number, or a Tensor.

    Raises:
        ValueError: If the shape of a Tensor differs from ``shape``.
    """
    if isinstance(init, Tensor) and init.shape != shape:
        raise ValueError(
            f"For '{owner}', the initial value of '{name}' must have the shape {shape}, but its shape is "
            f"{init.shape}."
        )
    return Parameter(initializer(init, shape, dtype), name=name, requires_grad=trained)


def weight_of_fan(init: Any) -> Any:
    """Return ``init``, or if it is ``None``, MindSpore 2.x's default HeUniform(√5)."""
    return HeUniform(math.sqrt(5)) if init is None else init


def bias_of_fan(init: Any, fan_in: int) -> Any:
    """Return ``init``, or if it is ``None``, MindSpore 2.x's default for biases.

    The default is uniform in ±1/√(inputs of a unit).
    """
    if init is not None:
        return init
    return Uniform(1 / math.sqrt(fan_in)) if fan_in else "zeros"


def check_data_format(owner: str, data_format: Any, supported: str) -> None:
    """Raise ``ValueError`` unless ``data_format`` is supported."""
    if data_format != supported:
        raise ValueError(
            f"For '{owner}', the 'data_format' must be '{supported}', but got {data_format!r}; move the "
            "channels first: ops.moveaxis(x, -1, 1)."
        )
