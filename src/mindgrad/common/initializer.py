"""Initial values of Parameters: the function ``initializer`` and its classes.

Examples of a name and of an object::

    Parameter(initializer("normal", (2, 3)), name="weight")
    Parameter(initializer(HeUniform(), (8, 4)), name="weight")
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindgrad.common.initial_values import (
    _NAMED,
    Constant,
    Dirac,
    Identity,
    Initializer,
    One,
    Orthogonal,
    Sparse,
    Zero,
    _assignment,
    _register,
    named,
    names,
)
from mindgrad.common.initial_variance import (
    HeNormal,
    HeUniform,
    Normal,
    TruncatedNormal,
    Uniform,
    VarianceScaling,
    XavierNormal,
    XavierUniform,
    _calculate_correct_fan,
    _calculate_fan_in_and_fan_out,
    _calculate_gain,
    _init_random_normal,
    _init_random_uniform,
)
from mindgrad.ir.dtype import as_dtype, float32
from mindgrad.ir.tensor import Tensor, make_tensor

__all__ = [
    "Constant", "Dirac", "HeNormal", "HeUniform", "Identity", "Initializer", "Normal", "One", "Orthogonal",
    "Sparse", "TruncatedNormal", "Uniform", "VarianceScaling", "XavierNormal", "XavierUniform", "Zero",
    "_assignment", "_calculate_correct_fan", "_calculate_fan_in_and_fan_out", "_calculate_gain",
    "_init_random_normal", "_init_random_uniform", "_register", "initializer",
]  # fmt: skip


#: name that :func:`initializer` accepts -> initializer class
_INITIALIZER_ALIAS = _NAMED


def initializer(init: Any, shape: Any = None, dtype: Any = float32) -> Tensor:
    """Create a tensor of initial values.

    Args:
        init (Initializer, str, number, or Tensor): an initializer or its name, such as ``"normal"``,
            ``"xavier_uniform"``, or ``"zeros"``. Case and underscores in the name are ignored. A number is
            the value of all elements, and a Tensor is returned unchanged.
        shape (int, tuple, or list of int, optional): shape of the tensor. ``shape`` is not required if
            ``init`` is a Tensor. Default: ``None``.
        dtype (DType, optional): dtype of the tensor; floating-point for random values. Default: ``float32``.

    Returns:
        Tensor: tensor of the initial values, which are computed immediately. For compatibility, it has a
        method ``init_data()``, which returns the tensor itself.

    Raises:
        TypeError: If ``init`` or ``shape`` has an unsupported type.
        ValueError: If ``init`` is an unknown name, ``shape`` contains a negative size, or the initializer
            does not support ``shape``.

    >>> import mindgrad as ms
    >>> from mindgrad.common.initializer import initializer
    >>> print(initializer("ones", (2, 2)), initializer(0.5, 2))
    [[1. 1.]
     [1. 1.]] [0.5 0.5]
    >>> ms.set_seed(1)
    >>> first = initializer("normal", (3,))
    >>> ms.set_seed(1)
    >>> print((initializer("normal", (3,)) == first).all())
    True
    """
    if isinstance(init, Tensor):
        if shape is not None and _sizes(shape) != init.shape:
            raise ValueError(
                f"For 'initializer', the shape {_sizes(shape)} differs from the shape of the Tensor, "
                f"{init.shape}."
            )
        return init
    if isinstance(init, str):
        kind = named(init)
        if kind is None:
            raise ValueError(
                f"For 'initializer', there is no initializer named {init!r}; known names are "
                f"{', '.join(names())}."
            )
        try:
            init = kind()
        except TypeError:
            raise ValueError(
                f"For 'initializer', '{kind.__name__}' needs arguments: pass an object, "
                f"{kind.__name__}(...), instead of its name."
            ) from None
    elif isinstance(init, (int, float, np.integer, np.floating)) and not isinstance(init, bool):
        init = Constant(init)
    if not isinstance(init, Initializer):
        raise TypeError(
            f"For 'initializer', the type of the 'init' argument should be 'Tensor', 'number', 'string' or "
            f"'initializer', but got {type(init).__name__}."
        )
    wanted = as_dtype(dtype)
    found = np.zeros(_sizes(shape), wanted.numpy)
    init(found)
    return make_tensor(found)


def _sizes(shape: Any) -> tuple[int, ...]:
    listed = shape if isinstance(shape, (tuple, list)) else (shape,)
    for size in listed:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
            raise TypeError(
                f"For 'initializer', the 'shape' must be an int or a tuple or list of ints, but got "
                f"{shape!r}."
            )
        if size < 0:
            raise ValueError(f"For 'initializer', the 'shape' must not be negative, but got {shape}.")
    return tuple(int(size) for size in listed)
