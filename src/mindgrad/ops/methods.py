"""Methods and operators of Tensor stand in one table, each entry a function of ``mindgrad.ops``.

A method that takes what the function takes, the tensor first, is the function itself: it is named under
its module in ``_FUNCTIONS``. All others are in ``ops.tensor_members``, ``ops.reshaping``, ``ops.storage`` and
``ops.summaries`` and named one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from mindgrad._base.foreign_names import TENSORS, refuse_attributes
from mindgrad.ir import dtype as types
from mindgrad.ir.tensor import Tensor
from mindgrad.ops import (
    activation,
    affine,
    arithmetic,
    assigning,
    clipping,
    comparison,
    complexes,
    contraction,
    conversion,
    cumulative,
    dlpack,
    extremes,
    factorisation,
    getitem,
    histograms,
    im2col,
    incomplete,
    indexing,
    interoperation,
    introspection,
    joining,
    layout,
    linalg,
    math,
    matrices,
    matrix_bands,
    movement,
    ordering,
    quantiles,
    random,
    rectifiers,
    reduction,
    repeating,
    reshaping,
    rounding,
    sampling,
    scattering,
    segments,
    sequences,
    signs,
    special,
    statistics,
    storage,
    summaries,
    tensor_members,
    vectors,
)
from mindgrad.ops.in_place import IN_PLACE
from mindgrad.ops.overloads import OVERLOADS, with_second_names
from mindgrad.trace.tensor_hooks import register_hook

__all__ = ["METHODS", "OPERATORS", "PROPERTIES"]

OPERATORS: dict[str, Callable[..., Any]] = {
    "__add__": arithmetic.add,
    "__radd__": tensor_members.reflected(arithmetic.add),
    "__sub__": arithmetic.sub,
    "__rsub__": tensor_members.reflected(arithmetic.sub),
    "__mul__": arithmetic.mul,
    "__rmul__": tensor_members.reflected(arithmetic.mul),
    "__truediv__": arithmetic.div,
    "__rtruediv__": tensor_members.reflected(arithmetic.div),
    "__floordiv__": arithmetic.floor_divide,
    "__rfloordiv__": tensor_members.reflected(arithmetic.floor_divide),
    "__mod__": arithmetic.floor_mod,
    "__rmod__": tensor_members.reflected(arithmetic.floor_mod),
    "__divmod__": tensor_members.division,
    "__pow__": arithmetic.pow,
    "__rpow__": tensor_members.reflected(arithmetic.pow),
    "__matmul__": tensor_members.matrix_product,
    "__rmatmul__": tensor_members.reflected(tensor_members.matrix_product),
    "__and__": comparison.bitwise_and,
    "__rand__": tensor_members.reflected(comparison.bitwise_and),
    "__or__": comparison.bitwise_or,
    "__ror__": tensor_members.reflected(comparison.bitwise_or),
    "__xor__": comparison.bitwise_xor,
    "__rxor__": tensor_members.reflected(comparison.bitwise_xor),
    "__lshift__": comparison.bitwise_left_shift,
    "__rlshift__": tensor_members.reflected(comparison.bitwise_left_shift),
    "__rshift__": comparison.bitwise_right_shift,
    "__rrshift__": tensor_members.reflected(comparison.bitwise_right_shift),
    "__neg__": arithmetic.neg,
    "__pos__": arithmetic.positive,
    "__abs__": rounding.abs,
    "__invert__": comparison.logical_not,
    "__round__": tensor_members.rounded,
    "__eq__": tensor_members.equals,
    "__ne__": tensor_members.differs,
    "__lt__": comparison.less,
    "__le__": comparison.less_equal,
    "__gt__": comparison.greater,
    "__ge__": comparison.greater_equal,
    "__getitem__": getitem.getitem,
    "__setitem__": getitem.setitem,
    "__iter__": getitem.iterate,
    "__contains__": tensor_members.contains,
    "__array_ufunc__": interoperation.array_ufunc,
    "__array_function__": interoperation.array_function,
    "__dlpack__": dlpack.dlpack,
    "__dlpack_device__": dlpack.dlpack_device,
}

# functions that are methods as they are
_FUNCTIONS: tuple[tuple[ModuleType, str], ...] = (
    (activation, "log_softmax sigmoid softmax"),
    (affine, "addbmm addmm addmv addr baddbmm"),
    (
        arithmetic,
        "addcdiv addcmul div divide float_power floor_divide fmod lerp mul multiply neg negative "
        "positive pow remainder true_divide",
    ),
    (
        comparison,
        "allclose approximate_equal bitwise_and bitwise_left_shift bitwise_not bitwise_or "
        "bitwise_right_shift bitwise_xor eq equal ge greater greater_equal gt invert isclose le less "
        "less_equal logical_and logical_not logical_or logical_xor lt ne not_equal",
    ),
    (assigning, "inplace_update"),
    (matrix_bands, "cond diagonal_scatter fill_diagonal view_as_real"),
    (im2col, "fold unfold"),
    (complexes, "angle conj imag real"),
    (contraction, "bmm dot ger inner matmul mm mv outer vecdot"),
    (cumulative, "cummax cummin cumprod"),
    (extremes, "amax amin"),
    (factorisation, "cholesky cholesky_inverse cholesky_solve eigvals pinv qr svd"),
    (histograms, "histc"),
    (incomplete, "igamma igammac"),
    (
        indexing,
        "gather_elements gather_nd index_select masked_fill masked_select",
    ),
    (joining, "chunk dsplit hsplit split tensor_split unbind vsplit"),
    (repeating, "repeat_interleave"),
    (
        layout,
        "expand_dims moveaxis movedim ravel squeeze swapaxes swapdims unsqueeze",
    ),
    (
        linalg,
        "det inverse log_matrix_determinant logdet matrix_determinant matrix_power slogdet",
    ),
    (clipping, "clamp clip fmax fmin maximum minimum"),
    (
        math,
        "acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh "
        "cos cosh deg2rad exp expm1 hypot inv log log10 log1p log2 logaddexp logaddexp2 rad2deg "
        "reciprocal rsqrt sin sinc sinh sqrt square tan tanh xdivy xlogy",
    ),
    (matrices, "diag_embed diagflat tril triu"),
    (movement, "broadcast_to fliplr flipud narrow roll rot90"),
    (ordering, "argwhere bincount msort nonzero topk"),
    (introspection, "is_nonzero is_tensor"),
    (quantiles, "aminmax logcumsumexp nanmean nanmedian nanquantile nansum quantile"),
    (random, "bernoulli"),
    (rectifiers, "hardshrink relu"),
    (reduction, "count_nonzero logsumexp"),
    (
        rounding,
        "abs absolute ceil floor frac heaviside isfinite isinf isnan nan_to_num round sign trunc",
    ),
    (sampling, "multinomial random_categorical"),
    (
        scattering,
        "index_fill masked_scatter select_scatter slice_scatter",
    ),
    (
        segments,
        "unsorted_segment_max unsorted_segment_min unsorted_segment_prod unsorted_segment_sum",
    ),
    (sequences, "bucketize isin reverse_sequence unique_consecutive unique_with_pad"),
    (signs, "copysign isneginf isposinf isreal ldexp sgn signbit"),
    (special, "digamma erf erfc erfinv lgamma logit mvlgamma"),
    (statistics, "median norm"),
    (vectors, "cov dist renorm"),
)

METHODS: dict[str, Callable[..., Any]] = with_second_names(
    {
        **{name: getattr(module, name) for module, names in _FUNCTIONS for name in names.split()},
        **IN_PLACE,
        "adjoint": storage.adjoint,
        "all": summaries.all,
        "any": summaries.any,
        "argmax": summaries.argmax,
        "argmax_with_value": summaries.argmax_with_value,
        "argmin": summaries.argmin,
        "argmin_with_value": summaries.argmin_with_value,
        "assign_value": tensor_members.assign_value,
        "astype": tensor_members.astype,
        "cast": conversion.cast,
        "choose": storage.choose,
        "clone": tensor_members.copy,
        "contiguous": tensor_members.itself,
        "copy": tensor_members.copy,
        "cross": storage.cross,
        "cumsum": summaries.cumsum,
        "diagonal": reshaping.diagonal,
        "dim": tensor_members.rank,
        "element_size": storage.element_size,
        "expand": reshaping.expand,
        "expand_as": reshaping.expand_as,
        "fill": tensor_members.fill,
        "fills": tensor_members.fill,
        "flip": reshaping.flip,
        "flush_from_cache": storage.nothing,
        "index_add": tensor_members.index_add,
        "index_put": storage.index_put,
        "init_data": tensor_members.itself,
        "is_complex": tensor_members.is_complex,
        "is_contiguous": storage.is_contiguous,
        "is_floating_point": tensor_members.is_floating_point,
        "is_signed": tensor_members.is_signed,
        "itemset": tensor_members.itemset,
        "max": summaries.max,
        "mean": summaries.mean,
        "min": summaries.min,
        "ndimension": tensor_members.rank,
        "nelement": tensor_members.count,
        "new_empty": tensor_members.new_zeros,
        "new_full": storage.new_full,
        "new_ones": tensor_members.new_ones,
        "new_tensor": storage.new_tensor,
        "new_zeros": tensor_members.new_zeros,
        "numel": tensor_members.count,
        "permute": reshaping.permute,
        "prod": summaries.prod,
        "ptp": summaries.ptp,
        "register_hook": register_hook,
        "repeat": tensor_members.repeat,
        "reshape": reshaping.reshape,
        "reshape_as": reshaping.reshape_as,
        "resize": reshaping.resize,
        "reverse": reshaping.flip,
        "scatter_div": scattering.tensor_scatter_div,
        "scatter_max": scattering.tensor_scatter_max,
        "scatter_min": scattering.tensor_scatter_min,
        "scatter_mul": scattering.tensor_scatter_mul,
        "scatter_sub": scattering.tensor_scatter_sub,
        "searchsorted": storage.searchsorted,
        "select": tensor_members.select,
        "set_const_arg": storage.set_const_arg,
        "soft_shrink": rectifiers.softshrink,
        "std": summaries.std,
        "storage_offset": storage.storage_offset,
        "stride": storage.stride,
        "sum": summaries.sum,
        "sum_to_size": storage.sum_to_size,
        "t": reshaping.t,
        "take": tensor_members.take,
        "tile": reshaping.tile,
        "to": tensor_members.to,
        "to_tensor": tensor_members.itself,
        "top_k": ordering.topk,
        "trace": reshaping.trace,
        "transpose": reshaping.transpose,
        "type_as": tensor_members.type_as,
        "value": tensor_members.itself,
        "var": summaries.var,
        "view_as": reshaping.reshape_as,
        "where": tensor_members.where,
        # element types by name
        "bfloat16": tensor_members.converter(types.bfloat16),
        "bool": tensor_members.converter(types.bool_),
        "byte": tensor_members.converter(types.uint8),
        "double": tensor_members.converter(types.float64),
        "float": tensor_members.converter(types.float32),
        "half": tensor_members.converter(types.float16),
        "int": tensor_members.converter(types.int32),
        "long": tensor_members.converter(types.int64),
        "short": tensor_members.converter(types.int16),
        **OVERLOADS,
    }
)

PROPERTIES: dict[str, Callable[..., Any]] = {
    "H": storage.hermitian,
    "T": reshaping.transposed,
    "const_arg": storage.has_const_arg,
    "data": tensor_members.itself,
    "has_init": tensor_members.is_lazy,
    "mH": storage.adjoint,
    "mT": reshaping.matrix_transposed,
    "strides": tensor_members.strides,
}


def _install() -> None:
    for name, function in {**OPERATORS, **METHODS}.items():
        setattr(Tensor, name, function)
    for name, function in PROPERTIES.items():
        setattr(Tensor, name, property(function))
    refuse_attributes(Tensor, TENSORS)
    setattr(Tensor, "from_numpy", staticmethod(storage.from_numpy))  # noqa: B010 - mypy knows no attribute


_install()
