"""NumPy's functions on tensors: ``import mindspore.numpy as mnp``.

The functions accept tensors, numbers, NumPy arrays, and nested lists. They convert floats to float32 and
integers to int32; tensors keep their dtype. All functions are differentiable and compilable, because they
call ``mindgrad.ops``.
"""

import math as _math

from mindgrad._base.missing import explain_package as _explain_package
from mindgrad._base.shared_docs import document_all as _document_all
from mindgrad.common.dtype import (
    bfloat16,
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
from mindgrad.numpy import analyzing as _analyzing
from mindgrad.numpy import arranging as _arranging
from mindgrad.numpy import choosing as _choosing
from mindgrad.numpy import coercion as _coercion
from mindgrad.numpy import concatenation as _joined
from mindgrad.numpy import counting as _counting
from mindgrad.numpy import creating as _creating
from mindgrad.numpy import grids as _grids
from mindgrad.numpy import margins as _margins
from mindgrad.numpy import pointwise as _pointwise
from mindgrad.numpy import products as _products
from mindgrad.numpy import reducing as _reducing
from mindgrad.numpy.analyzing import *  # noqa: F403
from mindgrad.numpy.arranging import *  # noqa: F403
from mindgrad.numpy.choosing import *  # noqa: F403
from mindgrad.numpy.concatenation import *  # noqa: F403
from mindgrad.numpy.counting import *  # noqa: F403
from mindgrad.numpy.creating import *  # noqa: F403
from mindgrad.numpy.grids import *  # noqa: F403
from mindgrad.numpy.margins import *  # noqa: F403
from mindgrad.numpy.products import *  # noqa: F403
from mindgrad.numpy.reducing import *  # noqa: F403
from mindgrad.ops.forms import expose as _expose

e = _math.e
euler_gamma = 0.5772156649015329
inf = Inf = PINF = Infinity = infty = _math.inf
NINF = -_math.inf
nan = NAN = NaN = _math.nan
newaxis = None
NZERO, PZERO = -0.0, 0.0
pi = _math.pi

__all__ = [
    "NAN",
    "NINF",
    "NZERO",
    "PINF",
    "PZERO",
    "Inf",
    "Infinity",
    "NaN",
    "bfloat16",
    "bool_",
    "complex64",
    "complex128",
    "e",
    "euler_gamma",
    "float16",
    "float32",
    "float64",
    "inf",
    "infty",
    "int8",
    "int16",
    "int32",
    "int64",
    "nan",
    "pi",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]  # fmt: skip
for _part in (
    _analyzing, _arranging, _choosing, _counting, _creating, _grids, _joined, _margins, _products,
    _reducing,
):  # fmt: skip
    __all__ += _part.__all__
    _document_all(vars(_part), "mindgrad.ops")

_expose("numpy", globals(), vars(_coercion), coercion="tensor", plain=_pointwise.elementwise)
_explain_package(__name__)
