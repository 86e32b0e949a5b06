"""The names that MindSpore programs use are there, and those made of other operators agree with NumPy."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from tests.tolerances import assert_close

#: operators that gradient-heavy MindSpore programs use, by how many do: functions, classes, methods of Tensor
FUNCTIONS = [
    "concat",
    "zeros",
    "mean",
    "sum",
    "cast",
    "square",
    "zeros_like",
    "sqrt",
    "reshape",
    "sin",
    "stack",
    "mul",
    "exp",
    "expand_dims",
    "ones",
    "ones_like",
    "split",
    "matmul",
    "pow",
    "abs",
    "log",
    "tanh",
    "cos",
    "shape",
    "where",
    "select",
    "add",
    "squeeze",
    "arange",
    "gather",
    "transpose",
    "broadcast_to",
    "eye",
    "div",
    "sigmoid",
    "tile",
    "pad",
    "clip",
    "linspace",
    "softmax",
    "max",
    "conv2d",
    "norm",
    "maximum",
    "minimum",
    "bmm",
    "stop_gradient",
    "depend",
    "grad",
    "jvp",
    "vjp",
    "jacrev",
    "value_and_grad",
    "cross",
    "cdist",
    "dist",
    "pdist",
    "diff",
    "trapz",
    "cov",
    "corrcoef",
    "renorm",
    "copysign",
    "signbit",
    "sgn",
    "isneginf",
    "isposinf",
    "isreal",
    "ldexp",
    "polar",
    "gcd",
    "lcm",
    "aminmax",
    "nansum",
    "nanmean",
    "nanmedian",
    "quantile",
    "nanquantile",
    "logcumsumexp",
    "unsorted_segment_sum",
    "unsorted_segment_max",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
    "matrix_band_part",
    "block_diag",
    "diagonal_scatter",
    "fill_diagonal",
    "adjoint",
    "multi_dot",
    "cond",
    "view_as_real",
    "t",
    "vander",
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "kaiser_window",
    "pixel_shuffle",
    "pixel_unshuffle",
    "channel_shuffle",
    "space_to_batch_nd",
    "batch_to_space_nd",
    "reverse",
    "reverse_sequence",
    "sequence_mask",
    "bucketize",
    "isin",
    "intopk",
    "unravel_index",
    "unique_consecutive",
    "unique_with_pad",
    "scatter_update",
    "scatter_add",
    "scatter_sub",
    "scatter_mul",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_nd_add",
    "scatter_nd_sub",
    "scatter_nd_mul",
    "scatter_nd_div",
    "scatter_nd_max",
    "scatter_nd_min",
    "scatter_nd_update",
    "inplace_add",
    "inplace_sub",
    "inplace_update",
    "inplace_index_add",
    "is_tensor",
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "numel",
    "same_type_shape",
    "scalar_cast",
    "partial",
    "print_",
    "addn",
    "bias_add",
    "clip_by_value",
    "einsum",
    "gather_nd",
    "gather_d",
    "hypot",
    "identity",
    "inv",
    "isfinite",
    "layer_norm",
    "log_softmax",
    "masked_fill",
    "meshgrid",
    "one_hot",
    "prod",
    "range",
    "rank",
    "reduce_sum",
    "relu",
    "round",
    "rsqrt",
    "scatter_nd",
    "tensor_scatter_add",
    "tensor_scatter_update",
    "topk",
    "triu",
    "tril",
    "unstack",
]
CLASSES = [
    "Abs",
    "Add",
    "AddN",
    "Argmax",
    "Assign",
    "AssignAdd",
    "BatchMatMul",
    "BiasAdd",
    "BroadcastTo",
    "Cast",
    "Concat",
    "Conv2D",
    "Cos",
    "CumSum",
    "Div",
    "DivNoNan",
    "Equal",
    "Erf",
    "Exp",
    "ExpandDims",
    "Eye",
    "Fill",
    "Flatten",
    "Floor",
    "Gather",
    "GatherD",
    "GatherNd",
    "GeLU",
    "Greater",
    "L2Normalize",
    "LayerNorm",
    "Less",
    "Log",
    "LogSoftmax",
    "MatMul",
    "Maximum",
    "Mul",
    "Neg",
    "OneHot",
    "Ones",
    "OnesLike",
    "Pad",
    "Pow",
    "Range",
    "ReLU",
    "RealDiv",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "Reshape",
    "Rsqrt",
    "ScalarCast",
    "ScatterNd",
    "Select",
    "Shape",
    "Sigmoid",
    "Sign",
    "Sin",
    "Slice",
    "Softmax",
    "Split",
    "Sqrt",
    "Square",
    "Squeeze",
    "Stack",
    "StridedSlice",
    "Sub",
    "Tanh",
    "TensorScatterUpdate",
    "Tile",
    "TopK",
    "Transpose",
    "UnsortedSegmentSum",
    "Zeros",
    "ZerosLike",
    "Cross",
    "Cdist",
    "Renorm",
    "EuclideanNorm",
    "Polar",
    "CumulativeLogsumexp",
    "UnsortedSegmentMax",
    "UnsortedSegmentMin",
    "UnsortedSegmentProd",
    "TensorScatterMax",
    "TensorScatterMin",
    "TensorScatterMul",
    "TensorScatterDiv",
    "ScatterSub",
    "ScatterMul",
    "ScatterDiv",
    "ScatterMax",
    "ScatterMin",
    "ScatterNdUpdate",
    "ScatterNdAdd",
    "ScatterNdSub",
    "ScatterNonAliasingAdd",
    "InplaceAdd",
    "InplaceSub",
    "InplaceUpdate",
    "IndexFill",
    "SpaceToDepth",
    "DepthToSpace",
    "SpaceToBatch",
    "BatchToSpace",
    "SpaceToBatchND",
    "BatchToSpaceND",
    "MirrorPad",
    "ReverseSequence",
    "InvertPermutation",
    "InTopK",
    "Bucketize",
    "UnravelIndex",
    "UniqueWithPad",
    "SplitV",
    "ParallelConcat",
    "IdentityN",
    "TensorShape",
    "DynamicShape",
    "ScalarToArray",
    "LogSpace",
    "MatrixBandPart",
    "MatrixDiagV3",
    "MatrixDiagPartV3",
    "MatrixSetDiagV3",
    "FillDiagonal",
    "TrilIndices",
    "TriuIndices",
    "Partial",
    "Print",
    "SameTypeShape",
    "Primitive",
    "PrimitiveWithInfer",
    "HyperMap",
    "Map",
    "MultitypeFuncGraph",
    "GradOperation",
    "HookBackward",
    "InsertGradientOf",
]
METHODS = [
    "asnumpy",
    "shape",
    "reshape",
    "astype",
    "mean",
    "sum",
    "dtype",
    "max",
    "T",
    "flatten",
    "abs",
    "transpose",
    "min",
    "expand_dims",
    "squeeze",
    "item",
    "view",
    "itemset",
    "copy",
    "choose",
    "ptp",
    "std",
    "var",
    "cumsum",
    "diagonal",
    "trace",
    "take",
    "searchsorted",
    "repeat",
    "swapaxes",
    "resize",
    "fill",
    "nonzero",
    "float",
    "int",
    "bool",
    "half",
    "long",
    "init_data",
    "has_init",
    "is_floating_point",
    "dim",
    "ndim",
    "size",
    "itemsize",
    "nbytes",
    "strides",
    "index_select",
    "gather",
    "scatter",
    "masked_fill",
    "where",
    "split",
    "chunk",
    "unbind",
    "permute",
    "mm",
    "bmm",
    "matmul",
    "dot",
    "norm",
    "argmax",
    "argmin",
    "sort",
    "topk",
    "unique",
    "allclose",
    "isclose",
    "new_zeros",
    "new_ones",
    "new_full",
    "new_tensor",
    "expand_as",
    "broadcast_to",
    "tile",
    "to",
    "type",
    "numel",
    "nelement",
    "H",
    "mH",
    "mT",
    "adjoint",
    "cross",
    "copysign",
    "cov",
    "diff",
    "dist",
    "element_size",
    "fill_",
    "zero_",
    "add_",
    "sub_",
    "mul_",
    "div_",
    "copy_",
    "clamp_",
    "exp_",
    "masked_fill_",
    "scatter_",
    "index_put",
    "inplace_update",
    "is_contiguous",
    "isneginf",
    "isposinf",
    "isreal",
    "ldexp",
    "logcumsumexp",
    "nanmean",
    "nansum",
    "quantile",
    "renorm",
    "reverse_sequence",
    "sgn",
    "signbit",
    "soft_shrink",
    "stride",
    "sum_to_size",
    "to_tensor",
    "unsorted_segment_max",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "flush_from_cache",
    "set_const_arg",
    "from_numpy",
    "value",
    "assign_value",
    "pinv",
    "mv",
    "aminmax",
]
CELL = [
    "construct",
    "trainable_params",
    "set_train",
    "to_float",
    "get_parameters",
    "cells_and_names",
    "set_grad",
    "parameters_and_names",
    "parameters_dict",
    "untrainable_params",
    "init_parameters_data",
    "name_cells",
    "cells",
    "apply",
    "insert_child_to_cell",
    "insert_param_to_cell",
    "update_parameters_name",
    "cast_inputs",
    "extend_repr",
    "flatten_weights",
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_backward_hook",
    "compile",
    "set_inputs",
    "recompute",
    "shard",
    "param_prefix",
    "bprop_debug",
    "add_flags",
    "add_flags_recursive",
    "get_flags",
    "check_names",
    "set_jit_config",
]
PARAMETER = [
    "name",
    "requires_grad",
    "set_data",
    "clone",
    "layerwise_parallel",
    "parallel_optimizer",
    "init_data",
    "copy",
    "asnumpy",
    "value",
    "set_dtype",
    "data",
    "assign_value",
]


@pytest.mark.parametrize(
    ("owner", "names"),
    [(ops, FUNCTIONS), (ops, CLASSES), (Tensor, METHODS), (nn.Cell, CELL)],
    ids=["functions", "classes", "methods", "Cell"],
)
def test_names_are_there(owner, names):
    missing = [name for name in names if not hasattr(owner, name)]
    assert missing == []
    assert len(set(names)) == len(names)


def test_names_of_parameters_are_there():
    parameter = Parameter(Tensor([1.0]), name="w")
    assert [name for name in PARAMETER if not hasattr(parameter, name)] == []


# --- values -----------------------------------------------------------------------------------------

A = np.array([[0.5, -1.25, 2.0], [3.0, 0.75, -0.5]])
B = np.array([[1.5, 0.25, -2.0], [0.5, 1.75, 4.5]])
N = np.array([[1.0, np.nan, 2.0, 5.0], [np.nan, np.nan, np.nan, 4.0]])
V = np.array([1.0, 3.0, 2.0, -1.0])
IDS = np.array([2, 0, -1, 2])
PARTS = np.arange(8.0).reshape(4, 2) - 3
IMAGE = np.arange(32.0).reshape(1, 8, 2, 2)
EYE = np.eye(2)


def distances(x, y, p):
    return (np.abs(x[:, None] - y) ** p).sum(-1) ** (1 / p)


def segments(x, ids, start, function):
    found = np.full((3, *x.shape[1:]), start)
    for row, place in zip(x, ids, strict=True):
        if place >= 0:
            found[place] = function(found[place], row)
    return found


def set_diagonal(x, d, k):
    found = x.copy()
    rows = np.arange(len(d)) + max(-k, 0)
    found[rows, rows + k] = d
    return found


def pixels(x, r):
    n, c, h, w = x.shape
    return x.reshape(n, c // r**2, r, r, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // r**2, h * r, w * r)


LOW = np.finfo(np.float64).min
#: (name, arguments, keywords, what NumPy makes of them)
CASES = [
    ("cross", (A, B), {}, np.cross(A, B)),
    ("cross", (A.T, B.T), {"dim": 0}, np.cross(A.T, B.T, axis=0)),
    ("cdist", (A, B), {}, distances(A, B, 2)),
    ("cdist", (A, B, 3.0), {}, distances(A, B, 3)),
    ("pdist", (A,), {}, distances(A[:1], A[1:], 2)[0]),
    ("dist", (A, B, 1), {}, np.abs(A - B).sum()),
    ("renorm", (A, 1, 0, 2.0), {}, A * np.minimum(1, 2 / np.abs(A).sum(1))[:, None]),
    ("diff", (A,), {"n": 2}, np.diff(A, 2)),
    ("diff", (A,), {"axis": 0, "prepend": Tensor(B), "append": 1.0}, np.diff(A, axis=0, prepend=B, append=1.0)),
    ("trapz", (A, B), {}, np.trapezoid(A, B)),
    ("trapz", (A,), {"dx": 0.5, "dim": 0}, np.trapezoid(A, dx=0.5, axis=0)),
    ("cumulative_trapezoid", (V,), {}, np.cumsum((V[1:] + V[:-1]) / 2)),
    ("cov", (A,), {"correction": 0}, np.cov(A, ddof=0)),
    ("cov", (A,), {"fweights": Tensor([1, 2, 3])}, np.cov(A, fweights=[1, 2, 3])),
    ("cov", (V,), {"aweights": Tensor(V**2)}, np.cov(V, aweights=V**2)),
    ("corrcoef", (A,), {}, np.corrcoef(A)),
    ("copysign", (A, B), {}, np.copysign(A, B)),
    ("copysign", (A, -0.0), {}, np.copysign(A, -0.0)),
    ("signbit", (np.array([-1.0, -0.0, 0.0, np.nan, -np.inf]),), {}, np.array([True, True, False, False, True])),
    ("sgn", (np.array([3 - 4j, 0j]),), {}, np.array([0.6 - 0.8j, 0])),
    ("isreal", (A,), {}, np.isreal(A)),
    ("ldexp", (A, Tensor([1, 2, -3])), {}, np.ldexp(A, [1, 2, -3])),
    ("polar", (np.abs(A), B), {}, np.abs(A) * np.exp(1j * B)),
    ("gcd", (Tensor([12, -7, 0]), Tensor([18, 14, 0])), {}, np.gcd([12, -7, 0], [18, 14, 0])),
    ("lcm", (Tensor([12, -7, 0]), Tensor([18, 14, 5])), {}, np.lcm([12, -7, 0], [18, 14, 5])),
    ("nansum", (N, 1), {}, np.nansum(N, 1)),
    ("nanmean", (N, 0, True), {}, [[1.0, np.nan, 2.0, 4.5]]),
    ("quantile", (A, Tensor([0.1, 0.5, 1.0], ms.float64)), {}, np.quantile(A, [0.1, 0.5, 1.0])),
    ("quantile", (A, 0.3, 1, True), {}, np.quantile(A, 0.3, axis=1, keepdims=True)),
    ("quantile", (N, 0.5, 1), {}, [np.nan, np.nan]),
    ("nanquantile", (N, 0.25, 1), {}, np.nanquantile(N, 0.25, axis=1)),
    ("nanquantile", (np.full((2, 2), np.nan), 0.5, 0), {}, [np.nan, np.nan]),
    ("nanmedian", (N,), {}, ([2.0, 4.0], [2, 3])),
    ("logcumsumexp", (A * 300, 1), {}, np.logaddexp.accumulate(A * 300, 1)),
    ("aminmax", (A,), {"axis": 0}, (A.min(0), A.max(0))),
    ("unsorted_segment_sum", (PARTS, Tensor(IDS), 3), {}, segments(PARTS, IDS, 0.0, np.add)),
    ("unsorted_segment_max", (PARTS, Tensor(IDS), 3), {}, segments(PARTS, IDS, LOW, np.maximum)),
    ("unsorted_segment_min", (PARTS, Tensor(IDS), 3), {}, segments(PARTS, IDS, -LOW, np.minimum)),
    ("unsorted_segment_prod", (PARTS, Tensor(IDS), 3), {}, segments(PARTS, IDS, 1.0, np.multiply)),
    ("unsorted_segment_sum", (A, Tensor([[0, 1, 1], [0, 0, 2]]), 3), {}, [0.5 + 3 + 0.75, 0.75, -0.5]),
    ("matrix_diag", (V, 1), {}, np.diag(V, 1)),
    ("matrix_diag_part", (A, 1), {}, np.diag(A, 1)),
    ("matrix_set_diag", (A, V[:2]), {}, set_diagonal(A, V[:2], 0)),
    ("diagonal_scatter", (A, V[:2], 1), {}, set_diagonal(A, V[:2], 1)),
    ("matrix_band_part", (np.ones((4, 4)), 1, 0), {}, np.tril(np.triu(np.ones((4, 4)), -1))),
    ("matrix_band_part", (np.ones((4, 4)), -1, 1), {}, np.tril(np.ones((4, 4)), 1)),
    ("block_diag", (A, Tensor(V), Tensor(2.0)), {}, None),
    ("fill_diagonal", (np.ones((4, 2)), 3.0, True), {}, [[3, 1], [1, 3], [1, 1], [3, 1]]),
    ("adjoint", (A + 1j * B,), {}, (A - 1j * B).T),
    ("multi_dot", ([Tensor(A), Tensor(B.T), Tensor(EYE), Tensor(V[:2])],), {}, A @ B.T @ V[:2]),
    ("cond", (np.array([[2.0, 1.0], [0.5, 3.0]]),), {}, np.linalg.cond([[2.0, 1.0], [0.5, 3.0]])),
    ("cond", (np.array([[2.0, 1.0], [0.5, 3.0]]), 1), {}, np.linalg.cond([[2.0, 1.0], [0.5, 3.0]], 1)),
    ("view_as_real", (A + 1j * B,), {}, np.stack((A, B), -1)),
    ("vander", (V, 3), {"increasing": True}, np.vander(V, 3, True)),
    ("kaiser_window", (6, False, 5.0), {}, np.kaiser(6, 5.0)),
    ("hamming_window", (6,), {}, np.hamming(7)[:6]),
    ("blackman_window", (6, False), {}, np.blackman(6)),
    ("hann_window", (1,), {}, [1.0]),
    ("pixel_shuffle", (IMAGE, 2), {}, pixels(IMAGE, 2)),
    ("pixel_unshuffle", (pixels(IMAGE, 2), 2), {}, IMAGE),
    ("channel_shuffle", (IMAGE, 2), {}, IMAGE.reshape(1, 2, 4, 2, 2).swapaxes(1, 2).reshape(IMAGE.shape)),
    ("depth_to_space", (IMAGE, 2), {}, None),
    ("space_to_batch_nd", (IMAGE, [2, 2], [[0, 0], [1, 1]]), {}, None),
    ("reverse_sequence", (A, Tensor([2, 3]), 1), {}, [[-1.25, 0.5, 2.0], [-0.5, 0.75, 3.0]]),
    ("sequence_mask", (Tensor([1, 3]),), {}, [[True, False, False], [True, True, True]]),
    ("bucketize", (A, [0.0, 2.0]), {}, np.digitize(A, [0.0, 2.0], right=True)),
    ("bucketize", (A, [0.0, 2.0]), {"right": True}, np.digitize(A, [0.0, 2.0])),
    ("isin", (Tensor([1, 2, 3]), Tensor([[3], [1]])), {"invert": True}, [False, True, False]),
    ("intopk", (A, Tensor([0, 1]), 1), {}, [False, False]),
    ("unravel_index", (Tensor([5, 3]), (2, 3)), {}, np.unravel_index([5, 3], (2, 3))),
    ("unique_consecutive", (Tensor([1, 1, 2, 1]), True, True), {}, ([1, 2, 1], [0, 0, 1, 2], [2, 1, 1])),
    ("unique_consecutive", (Tensor([[1, 2], [1, 2], [3, 4]]),), {"dim": 0}, [[1, 2], [3, 4]]),
    ("inplace_update", (A, B[:1], 1), {}, np.stack((A[0], B[0]))),
    ("inplace_add", (A, B, (1, 0)), {}, A + B[::-1]),
    ("inplace_sub", (A, B, Tensor([1, 1])), {}, np.stack((A[0], A[1] - B.sum(0)))),
    ("inplace_index_add", (A, Tensor([1]), V[:2].reshape(2, 1), 1), {}, A + V[:2, None] * [0, 1, 0]),
    ("dense", (A, B, V[:2]), {}, A @ B.T + V[:2]),
    ("dense", (A, B[0], Tensor(2.0)), {}, A @ B[0] + 2),
    ("expand", (V, (2, -1)), {}, np.tile(V, (2, 1))),
    ("expand_as", (V[:3], Tensor(A)), {}, np.tile(V[:3], (2, 1))),
    ("lstsq", (A.T, B.T), {}, np.linalg.lstsq(A.T, B.T, rcond=None)[0]),
    ("lstsq", (A, V[:2]), {}, np.linalg.lstsq(A, V[:2], rcond=None)[0]),
    ("combinations", (V, 3), {}, [V[[0, 1, 2]], V[[0, 1, 3]], V[[0, 2, 3]], V[[1, 2, 3]]]),
    ("combinations", (V[:2], 2, True), {}, [V[[0, 0]], V[[0, 1]], V[[1, 1]]]),
    ("invert_permutation", (Tensor([2, 0, 1]),), {}, [1, 2, 0]),
    ("scalar_add", (2, 3), {}, 5), ("scalar_floordiv", (7, 2), {}, 3), ("scalar_usub", (2,), {}, -2),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("case", CASES, ids=[f"{k}-{case[0]}" for k, case in enumerate(CASES)])
def test_functions_agree_with_numpy(case):
    name, args, kwargs, expected = case
    given = [Tensor(x) if isinstance(x, np.ndarray) else x for x in args]
    found = getattr(ops, name, None) or getattr(ops.functional, name)
    found = found(*given, **kwargs)
    if name == "block_diag":
        expected = np.zeros((4, 8))
        expected[:2, :3], expected[2, 3:7], expected[3, 7] = A, V, 2.0
    if name == "depth_to_space":
        back = ops.space_to_depth(found, 2)
        np.testing.assert_array_equal(back.asnumpy(), IMAGE)
        expected = IMAGE.reshape(1, 2, 2, 2, 2, 2).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 4)
    if name == "space_to_batch_nd":
        wide = np.pad(IMAGE, ((0, 0), (0, 0), (0, 0), (1, 1)))
        blocks = [wide[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)]
        expected = np.concatenate(blocks)
        back = ops.batch_to_space_nd(found, [2, 2], [[0, 0], [1, 1]])
        np.testing.assert_array_equal(back.asnumpy(), IMAGE)
    several = isinstance(found, tuple)
    for mine, theirs in zip(found if several else [found], expected if several else [expected], strict=True):
        values = mine.asnumpy() if isinstance(mine, Tensor) else mine
        assert np.shape(values) == np.shape(theirs)
        np.testing.assert_allclose(values, theirs, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: ops.cross(Tensor(V), Tensor(V)), ValueError, "no axis has three elements"),
        (lambda: ops.cross(Tensor(A), Tensor(B), 0), ValueError, "axis 0 must have three"),
        (lambda: ops.cdist(Tensor(V), Tensor(A)), ValueError, "must have the shapes"),
        (lambda: ops.quantile(Tensor(A), 1.5), ValueError, "'q' must be from 0 to 1"),
        (
            lambda: ops.unsorted_segment_sum(Tensor(A), Tensor([0, 5]), 3),
            IndexError,
            "below 'num_segments', 3",
        ),
        (lambda: ops.unsorted_segment_sum(Tensor(A), Tensor([0.0, 1.0]), 3), TypeError, "must be integers"),
        (lambda: ops.unsorted_segment_max(Tensor(A), Tensor([0]), 3), ValueError, "must begin with"),
        (lambda: ops.pixel_shuffle(Tensor(IMAGE), 3), ValueError, "channels must be divisible by 9"),
        (lambda: ops.space_to_batch_nd(Tensor(IMAGE), [2], [[0, 0], [0, 0]]), ValueError, "one block size"),
        (lambda: ops.multi_dot([Tensor(A), Tensor(A)]), ValueError, "cannot be multiplied"),
        (lambda: ops.diagonal_scatter(Tensor(A), Tensor(V)), ValueError, "the diagonal has the shape"),
        (lambda: ops.reverse_sequence(Tensor(A), Tensor([1]), 1), ValueError, "one length for each"),
        (lambda: ops.jit_nothing, AttributeError, "jit_nothing"),
        (lambda: ops.view_as_real(Tensor(A)), TypeError, "must be complex"),
    ],
)
def test_mistakes_are_named(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


# --- derivatives, and one compiled program ------------------------------------------------------------


def program(x, y, ids):
    """Many of these operators in one program, of tensors whose values are unknown while it is compiled."""
    parts = ops.unsorted_segment_sum(x, ids, 3).sum() + (ops.unsorted_segment_prod(x, ids, 2) ** 2).sum()
    parts = parts + ops.unsorted_segment_max(x * y, ids, 2).sum() + (ops.lstsq(x.T, y[0]) ** 2).sum()
    near = ops.cdist(x, y) * ops.matrix_band_part(ops.ones((2, 2), ms.float64), 0, 1)
    total = ops.cross(x, y).sum() + (near * near * near).sum() + ops.dist(x, y)
    total = total + ops.quantile(x, 0.3) * ops.nansum(y) + (ops.logcumsumexp(x, 1) * y).sum()
    total = total + ops.trapz(x, y).sum() + (ops.cov(x) * ops.cov(y)).sum() + ops.renorm(x, 2, 0, 1.5).sum()
    total = total + (ops.block_diag(x, y) ** 2).sum() + ops.vander(x[0], 4).sum() + ops.copysign(x, y).sum()
    total = total + (ops.matrix_set_diag(x, y[:, 0]) ** 2).sum() + ops.multi_dot([x, y.T, x]).sum()
    total = total + (ops.reverse_sequence(x, ids + 2, 1) * y).sum() + ops.polar(x * x, y).real().sum()
    total = (
        total
        + ops.gcd(ids + 12, ids * 0 + 8).sum()
        + (ops.sequence_mask(ids, 3).astype(ms.float64) * x).sum()
    )
    return total + (ops.isin(ids, Tensor([0])).astype(ms.float64) * x[:, 0]).sum() + parts


def test_derivatives_and_one_program():
    x, y, ids = Tensor(A), Tensor(B), Tensor([1, 0])
    value = program(x, y, ids)
    gradients = ops.grad(program, (0, 1))(x, y, ids)
    for place, gradient in enumerate(gradients):
        for k in np.ndindex(A.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [A.copy(), B.copy()]
                moved[place][k] += step
                ends.append(program(*map(Tensor, moved), ids).item())
            difference = (ends[0] - ends[1]) / 2e-6
            assert_close(gradient[k], difference, kind="difference", order=1, scale=0.1)

    def slope(x, y, ids):
        return (ops.grad(program)(x, y, ids) * y).sum()

    compiled = ms.jit(
        lambda x, y, ids: (program(x, y, ids), ops.grad(program, (0, 1))(x, y, ids), slope(x, y, ids))
    )
    results = compiled(x, y, ids)
    assert_close(results[0], value, kind="program")
    for found, expected in zip(results[1], gradients, strict=True):
        assert_close(found, expected, kind="program")
    assert_close(results[2], slope(x, y, ids), kind="program")


# --- parts of Parameters -----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def test_parts_of_parameters_are_assigned(mode):
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor([1.0, 2.0, 3.0, 4.0]), name="w")

        def construct(self, x):
            ops.scatter_mul(self.w, Tensor([1, 1]), x)
            ops.scatter_nd_sub(self.w, Tensor([[0], [3]]), x)
            ops.ScatterNdUpdate()(self.w, Tensor([[2]]), x[:1])
            return (self.w * self.w).sum()

    ms.set_context(mode=mode)
    try:
        net, x = Net(), Tensor([5.0, 7.0])
        assert net(x).asnumpy() == (1 - 5) ** 2 + (2 * 35) ** 2 + 5**2 + (4 - 7) ** 2
        np.testing.assert_array_equal(net.w.asnumpy(), [-4.0, 70.0, 5.0, -3.0])
        # the derivative passes through what is assigned: w₁ = 70·x₀x₁ now, and the others change again
        dx = ops.grad(net)(x)
        expected = [
            2 * (-4 - 5) * -1 + 2 * 70 * 35 * 70 * 7 + 2 * 5,
            2 * (-3 - 7) * -1 + 2 * 70 * 35 * 70 * 5,
        ]
        assert_close(dx, expected)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
