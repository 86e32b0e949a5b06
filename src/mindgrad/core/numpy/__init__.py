"""NumPy's functions on tensors: ``from mindgrad.core import numpy as np``.

All functions are differentiable to any order where they are smooth, and work inside ``jit`` and ``vmap``.
Tensors are immutable: use ``updated(x, index, value)`` instead of ``x[index] = value``. Python floats become
float32, as in :class:`mindgrad.core.ir.tensor.Tensor`, unless a ``dtype`` is given.
"""

import sys as _sys
from functools import partial as _partial
from math import e, inf, nan, pi

from mindgrad.core.base.missing_name import missing_name as _missing_name
from mindgrad.core.ir.dtype import (
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from mindgrad.core.numpy import (
    creation,
    elementwise,
    fft,
    linalg,
    movement,
    operators,  # noqa: F401 - attaches operators such as + to Tensor
    products,
    reductions,
    shapes,
    sorting,
)
from mindgrad.core.numpy.creation import *  # noqa: F403
from mindgrad.core.numpy.elementwise import *  # noqa: F403
from mindgrad.core.numpy.movement import *  # noqa: F403
from mindgrad.core.numpy.products import *  # noqa: F403
from mindgrad.core.numpy.reductions import *  # noqa: F403
from mindgrad.core.numpy.shapes import *  # noqa: F403
from mindgrad.core.numpy.sorting import *  # noqa: F403

newaxis = None

__all__ = [
    "bool_", "complex64", "complex128", "e", "fft", "float16", "float32", "float64", "inf", "int8", "int16",
    "int32", "int64", "linalg", "nan", "newaxis", "pi", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip
for _module in (creation, elementwise, movement, products, reductions, shapes, sorting):
    __all__ += _module.__all__

# ``__getattr__`` is not a ``def``, because type checkers would then accept all names
for _module in (_sys.modules[__name__], linalg, fft):
    vars(_module)["__getattr__"] = _partial(_missing_name, _module.__name__, _module.__all__)
