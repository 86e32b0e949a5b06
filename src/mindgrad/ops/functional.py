"""The functions of ``mindgrad.ops``, and some names of MindSpore 1.x.

Users import this module with ``from mindspore.ops import functional as F``.
"""

from types import FunctionType as _FunctionType
from typing import Any as _Any

from mindgrad._base.shared_docs import document as _document
from mindgrad.api.gradient import GradOperation, get_grad, grad, value_and_grad  # noqa: F401
from mindgrad.api.hessian import ggnvp, hessian, hvp, vhp  # noqa: F401
from mindgrad.api.jacobian import jacfwd, jacrev  # noqa: F401
from mindgrad.api.jvp import jvp, linearize  # noqa: F401
from mindgrad.api.laplacian import biharmonic, directional_derivative, divergence, laplacian, second_order  # noqa: F401
from mindgrad.api.taylor import derivative, jet, taylor  # noqa: F401
from mindgrad.api.vjp import vjp  # noqa: F401
from mindgrad.api.vmap import vmap  # noqa: F401
from mindgrad.core.ir.dtype import DType as _DType
from mindgrad.core.ir.tensor import Tensor as _Tensor
from mindgrad.core.trace.custom import custom_vjp  # noqa: F401
from mindgrad.ops import arithmetic as _arithmetic
from mindgrad.ops import comparison as _comparison
from mindgrad.ops import creation as _creation
from mindgrad.ops import in_place as _in_place
from mindgrad.ops import joining as _joining
from mindgrad.ops import ordering as _ordering
from mindgrad.ops import padding as _padding
from mindgrad.ops import rectifiers as _rectifiers
from mindgrad.ops import tensor_members as _members
from mindgrad.ops.activation import *  # noqa: F403
from mindgrad.ops.affine import *  # noqa: F403
from mindgrad.ops.alignments import *  # noqa: F403
from mindgrad.ops.arithmetic import *  # noqa: F403
from mindgrad.ops.assigning import *  # noqa: F403
from mindgrad.ops.attention import *  # noqa: F403
from mindgrad.ops.boxes import *  # noqa: F403
from mindgrad.ops.candidates import *  # noqa: F403
from mindgrad.ops.classification import *  # noqa: F403
from mindgrad.ops.clipping import *  # noqa: F403
from mindgrad.ops.comparison import *  # noqa: F403
from mindgrad.ops.complexes import *  # noqa: F403
from mindgrad.ops.contraction import *  # noqa: F403
from mindgrad.ops.conversion import *  # noqa: F403
from mindgrad.ops.convolution import *  # noqa: F403
from mindgrad.ops.creation import *  # noqa: F403
from mindgrad.ops.cumulative import *  # noqa: F403
from mindgrad.ops.define import also_named as _also_named
from mindgrad.ops.diagonals import *  # noqa: F403
from mindgrad.ops.divisors import *  # noqa: F403
from mindgrad.ops.dropping import *  # noqa: F403
from mindgrad.ops.estimators import *  # noqa: F403
from mindgrad.ops.exponential import *  # noqa: F403
from mindgrad.ops.extremes import *  # noqa: F403
from mindgrad.ops.factorization import *  # noqa: F403
from mindgrad.ops.flow import *  # noqa: F403
from mindgrad.ops.fourier import *  # noqa: F403
from mindgrad.ops.grid_sampling import *  # noqa: F403
from mindgrad.ops.histograms import *  # noqa: F403
from mindgrad.ops.im2col import fold, unfold  # noqa: F401
from mindgrad.ops.incomplete import *  # noqa: F403
from mindgrad.ops.indexing import *  # noqa: F403
from mindgrad.ops.introspection import *  # noqa: F403
from mindgrad.ops.introspection import is_sequence_value_unknown  # noqa: F401
from mindgrad.ops.joining import *  # noqa: F403
from mindgrad.ops.layout import *  # noqa: F403
from mindgrad.ops.likelihoods import *  # noqa: F403
from mindgrad.ops.linalg import *  # noqa: F403
from mindgrad.ops.losses import *  # noqa: F403
from mindgrad.ops.lu_factors import lu_solve, lu_unpack  # noqa: F401
from mindgrad.ops.math import *  # noqa: F403
from mindgrad.ops.matrices import *  # noqa: F403
from mindgrad.ops.matrix_bands import *  # noqa: F403
from mindgrad.ops.movement import *  # noqa: F403
from mindgrad.ops.nearest_numbers import *  # noqa: F403
from mindgrad.ops.normalization import *  # noqa: F403
from mindgrad.ops.ordering import *  # noqa: F403
from mindgrad.ops.padding import *  # noqa: F403
from mindgrad.ops.pooling import *  # noqa: F403
from mindgrad.ops.quantiles import *  # noqa: F403
from mindgrad.ops.random import *  # noqa: F403
from mindgrad.ops.rectifiers import *  # noqa: F403
from mindgrad.ops.reduction import *  # noqa: F403
from mindgrad.ops.rejection_samplers import *  # noqa: F403
from mindgrad.ops.repeating import *  # noqa: F403
from mindgrad.ops.resizing import *  # noqa: F403
from mindgrad.ops.rounding import *  # noqa: F403
from mindgrad.ops.sampling import *  # noqa: F403
from mindgrad.ops.scattering import *  # noqa: F403
from mindgrad.ops.segments import *  # noqa: F403
from mindgrad.ops.sequences import *  # noqa: F403
from mindgrad.ops.shuffling import *  # noqa: F403
from mindgrad.ops.signs import *  # noqa: F403
from mindgrad.ops.slices import *  # noqa: F403
from mindgrad.ops.sparse import *  # noqa: F403
from mindgrad.ops.sparse_values import sparse_segment_mean  # noqa: F401
from mindgrad.ops.special import *  # noqa: F403
from mindgrad.ops.spectrograms import *  # noqa: F403
from mindgrad.ops.statistics import *  # noqa: F403
from mindgrad.ops.tuples import *  # noqa: F403
from mindgrad.ops.unpooling import *  # noqa: F403
from mindgrad.ops.vectors import *  # noqa: F403
from mindgrad.ops.window_functions import *  # noqa: F403


def dtype(x: _Tensor) -> _DType:
    """Return the dtype of a tensor.

    Args:
        x (Tensor): input tensor.

    Returns:
        Data type of the elements, such as ``mindgrad.float32``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops import functional as F
    >>> print(F.dtype(Tensor([1.0])))
    Float32
    """
    return x.dtype


# --- alternative names, as in MindSpore 1.x -----------------------------------------------------------

neg_tensor = _arithmetic.neg
pack = _joining.stack
scalar_to_array = _creation.scalar_to_tensor
tensor_add = _arithmetic.add
tensor_div = _arithmetic.true_divide
tensor_floordiv = _arithmetic.floor_div
tensor_ge = _comparison.greater_equal
tensor_gt = _comparison.greater
tensor_le = _comparison.less_equal
tensor_lt = _comparison.less
tensor_mod = _arithmetic.floor_mod
tensor_mul = _arithmetic.mul
pows = tensor_pow = _arithmetic.pow
tensor_range = _creation.range
tensor_sub = _arithmetic.sub

# --- alternative names, as in MindSpore 2.x ------------------------------------------------------------

fills = _also_named(x="input", value="fill_value")(_creation.full_like)
top_k = _also_named(input_x="input")(_ordering.topk)
Tensor = _Tensor
row_stack = _joining.vstack
soft_shrink = _rectifiers.softshrink
new_ones, new_zeros = _members.new_ones, _members.new_zeros
stop_gradient_ = _in_place.stop_gradient_


def dyn_shape(input_x: _Any) -> _Tensor:
    """Return the shape of a tensor as a tensor of integers.

    Args:
        input_x (Tensor): input tensor.

    Returns:
        1-D integer tensor with the size of each axis.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.dyn_shape(Tensor([[1.0, 2.0]])))
    [1 2]
    """
    return _creation.tuple_to_array(input_x.shape)


__all__ = [name for name, value in globals().items() if callable(value) and name[0] != "_"]

#: assigned after ``__all__`` is complete, so that ``from … import *`` does not replace the module
#: ``ops.padding``
padding = _padding.widened_to


# complete the docstrings of functions without the decorator ``public``, which completes docstrings itself
for _item in list(globals().values()):
    _is_own = isinstance(_item, _FunctionType) and _item.__module__.startswith("mindgrad.ops.")
    if _is_own and "    See Also:" not in (_item.__doc__ or "    See Also:"):
        _document(_item)
