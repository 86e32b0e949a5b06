"""``mindgrad.numpy``: every name of MindSpore's is there, and computes what NumPy's function computes."""

import operator

import numpy as np
import pytest

import mindgrad as ms
import mindgrad.numpy as mnp
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

MINDSPORE = [
    "arange",
    "array",
    "asarray",
    "asfarray",
    "bartlett",
    "blackman",
    "copy",
    "diag",
    "diag_indices",
    "diagflat",
    "diagonal",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "geomspace",
    "hamming",
    "hanning",
    "histogram_bin_edges",
    "identity",
    "indices",
    "ix_",
    "linspace",
    "logspace",
    "meshgrid",
    "mgrid",
    "ogrid",
    "ones",
    "ones_like",
    "pad",
    "rand",
    "randint",
    "randn",
    "trace",
    "tri",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "triu",
    "triu_indices",
    "triu_indices_from",
    "vander",
    "zeros",
    "zeros_like",
    "append",
    "apply_along_axis",
    "apply_over_axes",
    "array_split",
    "array_str",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_to",
    "choose",
    "column_stack",
    "concatenate",
    "dsplit",
    "dstack",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "moveaxis",
    "piecewise",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "rollaxis",
    "rot90",
    "select",
    "size",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "take",
    "take_along_axis",
    "tile",
    "transpose",
    "unique",
    "unravel_index",
    "vsplit",
    "vstack",
    "where",
    "array_equal",
    "array_equiv",
    "equal",
    "greater",
    "greater_equal",
    "in1d",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isscalar",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "signbit",
    "sometrue",
    "absolute",
    "add",
    "amax",
    "amin",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "around",
    "average",
    "bincount",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clip",
    "convolve",
    "copysign",
    "corrcoef",
    "correlate",
    "cos",
    "cosh",
    "count_nonzero",
    "cov",
    "cross",
    "cumprod",
    "cumsum",
    "deg2rad",
    "diff",
    "digitize",
    "divide",
    "divmod",
    "dot",
    "ediff1d",
    "exp",
    "exp2",
    "expm1",
    "fix",
    "float_power",
    "floor",
    "floor_divide",
    "fmod",
    "gcd",
    "gradient",
    "heaviside",
    "histogram",
    "histogram2d",
    "histogramdd",
    "hypot",
    "inner",
    "interp",
    "invert",
    "kron",
    "lcm",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "matmul",
    "matrix_power",
    "maximum",
    "mean",
    "minimum",
    "multi_dot",
    "multiply",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanstd",
    "nansum",
    "nanvar",
    "negative",
    "norm",
    "outer",
    "polyadd",
    "polyder",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "positive",
    "power",
    "promote_types",
    "ptp",
    "rad2deg",
    "radians",
    "ravel_multi_index",
    "reciprocal",
    "remainder",
    "result_type",
    "rint",
    "searchsorted",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "std",
    "subtract",
    "sum",
    "tan",
    "tanh",
    "tensordot",
    "trapz",
    "true_divide",
    "trunc",
    "unwrap",
    "var",
    "pi",
    "e",
    "inf",
    "nan",
    "newaxis",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool_",
]

A = np.array([[0.5, -1.25, 2.0], [3.0, 0.75, -0.5]])
B = np.array([[1.5, 0.25, -2.0], [0.5, 1.75, 4.5]])
U = np.array([[0.1, 0.4, 0.9], [0.3, 0.6, 0.2]])
V = np.array([1.0, 3.0, 2.0, -1.0])
S = np.array([[2.0, 1.0], [0.5, 3.0]])
I = np.array([[3, 4, 6], [8, 2, 5]])
J = np.array([[2, 6, 4], [12, 3, 10]])
N = np.array([[1.0, np.nan, 2.0], [np.nan, np.nan, 4.0]])
T = np.array([True, False, True])

ONE = [
    "absolute",
    "arctan",
    "arcsinh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "deg2rad",
    "exp",
    "exp2",
    "expm1",
    "fix",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "logical_not",
    "negative",
    "positive",
    "rad2deg",
    "radians",
    "reciprocal",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "square",
    "tan",
    "tanh",
    "trunc",
    "ravel",
    "transpose",
    "flip",
    "fliplr",
    "flipud",
    "squeeze",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "mean",
    "std",
    "var",
    "sum",
    "ptp",
    "cumsum",
    "cumprod",
    "count_nonzero",
    "nansum",
    "nanmean",
    "nanmax",
    "nanmin",
    "nanstd",
    "nanvar",
    "nancumsum",
    "diff",
    "ediff1d",
    "cov",
    "corrcoef",
    "diagonal",
    "trace",
    "tril",
    "triu",
    "zeros_like",
    "ones_like",
    "copy",
    "size",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "average",
    "sometrue",
    "gradient",
    "rot90",
    "around",
    "histogram_bin_edges",
]
TWO = [
    "add",
    "arctan2",
    "copysign",
    "divide",
    "equal",
    "floor_divide",
    "fmod",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "isclose",
    "less",
    "less_equal",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "not_equal",
    "remainder",
    "subtract",
    "true_divide",
    "divmod",
    "append",
    "outer",
    "kron",
    "inner",
    "array_equal",
    "array_equiv",
    "isin",
    "in1d",
]

#: (name, arguments, keywords)
CASES = [
    *[(name, (A,), {}) for name in ONE],
    *[(name, (A, B), {}) for name in TWO],
    *[(name, (U,), {}) for name in ("arccos", "arcsin", "arctanh", "log", "log10", "log1p", "log2", "sqrt")],
    *[(name, (N,), {"axis": 1}) for name in ("nansum", "nanmean", "nanmax", "nanmin", "nanstd", "nanvar")],
    *[(name, (A,), {"axis": 1}) for name in ("sum", "mean", "std", "var", "amax", "amin", "argmax", "ptp")],
    *[(name, (I, J), {}) for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "floor_divide")],
    *[(name, (4,), {}) for name in ("bartlett", "blackman", "hamming", "hanning", "diag_indices", "identity", "tri")],
    *[(name, (A, [1], 1), {}) for name in ("split", "array_split")],
    ("arccosh", (U + 1,), {}), ("power", (U, B), {}), ("float_power", (U, 2), {}), ("invert", (I,), {}),
    ("array", ([[1.5, 2], [3, 4]],), {"ndmin": 3}), ("asarray", (A,), {}), ("full", ((2, 3), [1, 2, 3]), {}),
    ("full_like", (A, 7), {}), ("eye", (2, 3, 1), {}), ("arange", (1, 7, 2), {}), ("arange", (0, 1, 0.25), {}),
    ("linspace", (0, 1, 5), {}), ("linspace", (0, 1, 5, False), {}), ("linspace", (V[:2], V[2:], 4), {"axis": 1}),
    ("logspace", (0, 2, 3), {}), ("geomspace", (1, 256, 9), {}), ("diag", (V, 1), {}), ("diag", (A, 1), {}),
    ("diagflat", (S,), {}), ("tril_indices", (3, 1), {}), ("triu_indices", (3, -1, 4), {}),
    ("tril_indices_from", (S,), {}), ("triu_indices_from", (S,), {}), ("vander", (V, 3), {}),
    ("vander", (V,), {"increasing": True}), ("indices", ((2, 3),), {}), ("ix_", ([0, 2], [1, 2, 3]), {}),
    ("meshgrid", (V[:2], V), {}), ("meshgrid", (V[:2], V), {"sparse": True}),
    ("meshgrid", (V[:2], V), {"indexing": "ij"}), ("pad", (A, ((1, 0), (2, 1))), {}),
    ("pad", (V, 2, "reflect"), {}), ("pad", (V, (1, 2), "edge"), {}), ("pad", (V, 2, "wrap"), {}),
    ("zeros", ((2, 3),), {}), ("ones", (3,), {}), ("reshape", (A, (3, -1)), {}),
    ("expand_dims", (A, (0, -1)), {}), ("swapaxes", (A, 0, 1), {}), ("moveaxis", (A, 0, 1), {}),
    ("rollaxis", (np.ones((2, 3, 4)), 2, 1), {}), ("rollaxis", (np.ones((2, 3, 4)), 0, 3), {}),
    ("broadcast_to", (V, (2, 4)), {}), ("broadcast_arrays", (V, S[:, :1]), {}), ("roll", (A, 1), {}),
    ("roll", (A, (1, 2), (0, 1)), {}), ("rot90", (A, 2), {}), ("transpose", (np.ones((2, 3, 4)), (1, 2, 0)), {}),
    ("concatenate", ((A, B), 1), {}), ("concatenate", ((A, B), None), {}), ("append", (A, B, 0), {}),
    ("stack", ((A, B), 1), {}), ("hstack", ((A, B),), {}), ("vstack", ((V, V),), {}), ("dstack", ((A, B),), {}),
    ("column_stack", ((V, V),), {}), ("array_split", (V, 3), {}), ("split", (V, 2), {}), ("hsplit", (A, 3), {}),
    ("vsplit", (A, 2), {}), ("dsplit", (np.ones((1, 2, 4)), 2), {}), ("repeat", (A, 2, 1), {}),
    ("repeat", (A, 2), {}), ("tile", (A, 2), {}), ("tile", (A, (2, 1, 2)), {}), ("where", (A > 0, A, B), {}),
    ("where", (A > 0, 1.0, 0.0), {}), ("where", (A > 0,), {}), ("take", (A, [0, 2], 1), {}),
    ("take", (A, [0, 4]), {}), ("take_along_axis", (A, np.argsort(A, 1), 1), {}),
    ("take_along_axis", (A, np.array([[2], [0]]), 1), {}), ("choose", ([1, 0, 1, 0], [V, -V]), {}),
    ("select", ([A > 1, A > 0], [A, B], 5.0), {}), ("unique", ([3, 1, 3, 2],), {}),
    ("unravel_index", ([5, 3], (2, 3)), {}), ("unravel_index", ([5, 3], (2, 3), "F"), {}),
    ("ravel_multi_index", (np.array([[1, 0], [2, 1]]), (2, 3)), {}),
    ("ravel_multi_index", (np.array([[1, 0], [2, 4]]), (2, 3)), {"mode": "clip", "order": "F"}),
    ("sum", (A,), {"axis": 0, "keepdims": True, "initial": 2.0}), ("sum", (T,), {}), ("sum", (I, 0), {}),
    ("mean", (I,), {}), ("std", (A,), {"ddof": 1}), ("var", (A, 0), {"ddof": 1, "keepdims": True}),
    ("average", (A, 1), {"weights": np.array([1.0, 2.0, 3.0])}), ("amax", (A, 1), {"keepdims": True}),
    ("amin", (A, 1), {"initial": 9.0, "where": A > 0}), ("cumsum", (A, 1), {}), ("cumprod", (A, 0), {}),
    ("nancumsum", (N, 1), {}), ("bincount", ([0, 2, 2, 4],), {}), ("bincount", ([0, 2, 2], V[:3]), {}),
    ("clip", (A, -1, 1), {}), ("clip", (A, None, B), {}), ("convolve", (V, A[0]), {}),
    *[("convolve", (A[0], V, mode), {}) for mode in ("full", "same", "valid")],
    *[("correlate", (V, A[0], mode), {}) for mode in ("full", "same", "valid")],
    *[("correlate", (A[0], V, mode), {}) for mode in ("full", "same", "valid")],
    ("cov", (A, B), {"rowvar": False}), ("cov", (V,), {"bias": True}), ("cov", (A,), {"aweights": np.abs(V[:3])}),
    ("corrcoef", (A, B), {}), ("cross", (A, B), {}), ("cross", (A[:, :2], B), {}),
    ("cross", (A.T, B.T), {"axis": 0}), ("diff", (A, 2), {}), ("diff", (A, 1, 0), {}),
    ("diff", (V,), {"prepend": 0.0, "append": [1.0, 2.0]}), ("ediff1d", (A, [1.0], 2.0), {}),
    ("digitize", (A, [-1.0, 0.5, 2.0]), {}), ("digitize", (A, [-1.0, 0.5, 2.0], True), {}),
    ("digitize", (A, [2.0, 0.5, -1.0]), {}), ("digitize", (A, [2.0, 0.5, -1.0], True), {}),
    ("dot", (A, B.T), {}), ("dot", (V, V), {}), ("dot", (np.ones((2, 3, 4)), np.ones((5, 4, 2))), {}),
    ("dot", (2.0, V), {}), ("gradient", (V, 0.5), {}), ("gradient", (A,), {"axis": 1}),
    ("histogram", (A, 4), {}), ("histogram", (A, [-1.0, 0.0, 2.0]), {"density": True}),
    ("histogram", (A, 3, (0.0, 2.0)), {"weights": np.abs(B)}), ("histogram2d", (V, V[::-1].copy(), 3), {}),
    ("histogram2d", (V, V[::-1].copy(), [2, 3]), {"density": True}), ("histogramdd", (A, 2), {}),
    ("interp", (A, [-1.0, 0.0, 1.0], [3.0, 5.0, 2.0]), {}),
    ("interp", (A, [-1.0, 0.0, 1.0], [3.0, 5.0, 2.0]), {"left": 0.0, "right": 9.0}),
    ("matmul", (A, B.T), {}), ("matrix_power", (S, -2), {}), ("tensordot", (A, B), {}),
    ("tensordot", (A, B, ([1], [1])), {}), ("polyadd", ([1, 2], [3, 4, 5]), {}), ("polyder", (V, 2), {}),
    ("polyint", (V,), {}), ("polyint", (V, 2, [1.0, 2.0]), {}), ("polymul", (V, A[0]), {}),
    ("polysub", ([1, 2], [3, 4, 5]), {}), ("polyval", (V, A), {}), ("searchsorted", ([1.0, 2.0, 3.0], A), {}),
    ("searchsorted", ([1.0, 2.0, 3.0], A, "right"), {}), ("unwrap", (np.array([0.0, 4.0, 8.0, -2.0]),), {}),
    ("logaddexp", (A, 1.0), {}), ("add", (I, 2.5), {}), ("subtract", (1, A), {}), ("array_equal", (A, A), {}),
    ("apply_along_axis", (lambda v: v * 2, 0, A), {}), ("apply_along_axis", (lambda v: v.sum(), 1, A), {}),
    ("isscalar", (3,), {}), ("in1d", ([1, 2, 3], [2]), {"invert": True}), ("around", (A, 1), {}),
    ("maximum", (A, 0.0), {}), ("size", (A, 1), {}), ("isclose", (N, N), {"equal_nan": True}),
]  # fmt: skip

#: NumPy's own names of what it calls otherwise
THEIRS = {
    "fix": np.trunc,  # NumPy 2.5 deprecates its own
    "cross": lambda a, b, axis=-1: np.cross(*[padded(x, axis) for x in (a, b)], axis=axis),
    "matrix_power": np.linalg.matrix_power,
    "in1d": lambda a, b, invert=False: np.isin(np.ravel(a), b, invert=invert),
    "sometrue": np.any,
}


def padded(vectors, axis):
    """Vectors of three elements: NumPy will take no others."""
    widths = [(0, 0)] * vectors.ndim
    widths[axis] = (0, 3 - vectors.shape[axis])
    return np.pad(vectors, widths)


def flat(result):
    """The arrays of a result, whatever tuples and lists they are in."""
    if isinstance(result, (tuple, list)):
        return [each for part in result for each in flat(part)]
    return [result]


def agree(found, expected, name):
    found, expected = flat(found), flat(expected)
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        if isinstance(mine, (bool, int)):
            assert mine == theirs
            continue
        assert isinstance(mine, Tensor), name
        theirs = np.asarray(theirs)
        assert mine.shape == theirs.shape
        kinds = {"i": "iuf", "f": "f", "b": "b", "u": "iu"}[theirs.dtype.kind]
        assert mine.asnumpy().dtype.kind in kinds
        assert_close(mine, theirs, kind="program", each=True, scale=0.1)


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("case", CASES, ids=[f"{k}-{case[0]}" for k, case in enumerate(CASES)])
def test_functions_are_numpys(case):
    name, args, kwargs = case
    theirs = THEIRS.get(name) or getattr(np, name)
    expected_arguments = dict(kwargs)
    found = getattr(mnp, name)(*args, **kwargs)
    if name == "float_power" and isinstance(args[1], int):
        args = (args[0], float(args[1]))
    if name == "take" and len(args) == 2:
        expected_arguments["mode"] = "clip"
    agree(found, theirs(*args, **expected_arguments), name)
    tensors = [
        Tensor(x.astype(np.float32)) if isinstance(x, np.ndarray) and x.dtype == float else x for x in args
    ]
    agree(getattr(mnp, name)(*tensors, **kwargs), theirs(*args, **expected_arguments), name)


def test_every_name_is_there():
    assert [name for name in MINDSPORE if not hasattr(mnp, name)] == []
    assert set(MINDSPORE) - {"newaxis"} <= set(mnp.__all__)
    tested = {name for name, _, _ in CASES}
    values = {"pi", "e", "inf", "nan", "newaxis", "bool_"} | {n for n in MINDSPORE if n[-1].isdigit()}
    tested_below = {
        "rand", "randn", "randint", "mgrid", "ogrid", "empty", "empty_like", "asfarray", "array_str", "norm",
        "multi_dot", "trapz", "piecewise", "apply_over_axes", "promote_types", "result_type", "atleast_1d",
    }  # fmt: skip
    assert set(MINDSPORE) - tested - values - set(tested_below) <= values | tested_below


def test_the_others():
    assert mnp.rand(2, 3).shape == mnp.randn(2, 3).shape == mnp.empty((2, 3)).shape == (2, 3)
    numbers = mnp.randint(2, 5, (50,)).asnumpy()
    assert set(numbers.tolist()) == {2, 3, 4}
    assert numbers.dtype == np.int32
    assert mnp.empty_like(A).dtype is ms.float32
    assert mnp.asfarray(I).dtype is ms.float32
    assert mnp.array_str([1, 2]) == "[1 2]"
    agree(mnp.mgrid[0:2, 0:1:3j], np.mgrid[0:2, 0:1:3j], "mgrid")
    agree(mnp.ogrid[0:2, 0:1:3j], np.ogrid[0:2, 0:1:3j], "ogrid")
    agree(mnp.norm(A), np.linalg.norm(A), "norm")
    agree(mnp.norm(A, 1, 0), np.linalg.norm(A, 1, 0), "norm")
    agree(mnp.multi_dot([A, B.T, S, V[:2]]), np.linalg.multi_dot([A, B.T, S, V[:2]]), "multi_dot")
    agree(mnp.trapz(A, V[:3], axis=1), np.trapezoid(A, V[:3], axis=1), "trapz")
    functions = [lambda x: -x, lambda x: x * x, 7.0]
    agree(
        mnp.piecewise(A, [A < 0, A > 1], functions), np.piecewise(A, [A < 0, A > 1], functions), "piecewise"
    )
    agree(mnp.apply_over_axes(mnp.sum, A, (0, 1)), np.apply_over_axes(np.sum, A, (0, 1)), "apply_over_axes")
    assert mnp.promote_types(mnp.int32, mnp.float16) is ms.float16
    assert mnp.result_type(mnp.array([1]), 2.0) is ms.float32
    assert [x.shape for x in mnp.atleast_1d(1, [2])] == [(1,), (1,)]
    values, total = mnp.average(A, weights=np.abs(B), returned=True)
    agree((values, total), np.average(A, weights=np.abs(B), returned=True), "average")
    elements, which = mnp.unique([3, 1, 3], return_inverse=True)
    agree((elements, which), np.unique([3, 1, 3], return_inverse=True), "unique")
    numbers, step = mnp.linspace(Tensor([0.0]), 1.0, 5, retstep=True)
    agree((numbers, step), np.linspace([0.0], 1.0, 5, retstep=True), "linspace")


def test_types_are_mindspores():
    assert mnp.array([1, 2]).dtype is mnp.arange(3).dtype is ms.int32
    assert mnp.array([1.0]).dtype is mnp.array(np.ones(2)).dtype is mnp.linspace(0, 1, 3).dtype is ms.float32
    assert mnp.array(Tensor(np.ones(2))).dtype is ms.float64
    assert mnp.ones(2, "int8").dtype is mnp.zeros(2, mnp.int8).dtype is ms.int8
    assert mnp.sin(Tensor([1.0]), dtype=ms.float16).dtype is ms.float16
    assert mnp.mean([1, 2]).dtype is mnp.sin([1]).dtype is ms.float32
    assert mnp.sum([True, True]).dtype is ms.int64
    assert mnp.add(Tensor([1.0], ms.float16), 2.0).dtype is ms.float16
    assert mnp.array([Tensor([1.0]), [2.0]]).shape == (2, 1)
    assert (mnp.pi, mnp.newaxis, mnp.inf) == (np.pi, None, np.inf)


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: mnp.sin("one"), TypeError, "'sin', the input must be a Tensor, number"),
        (lambda: mnp.concatenate(3), TypeError, "'concatenate', a tuple or list"),
        (lambda: mnp.split([1, 2, 3], 2), ValueError, "Use array_split"),
        (lambda: mnp.pad([1], 1, "ramp"), ValueError, "'mode' must be one of constant"),
        (lambda: mnp.pad([1], (1, 2, 3)), ValueError, "does not match the 1 axes"),
        (lambda: mnp.cross([1.0], [2.0]), ValueError, "two or three elements"),
        (lambda: mnp.convolve([[1]], [1]), ValueError, "must be nonempty vectors"),
        (lambda: mnp.convolve([1], [1], "half"), ValueError, "one of full, same, valid"),
        (lambda: mnp.clip([1], None, None), ValueError, "one of 'xmin' and 'xmax'"),
        (lambda: mnp.where([True], 1.0), ValueError, "both or neither"),
        (lambda: mnp.interp([1.0], [1.0, 2.0], [1.0]), ValueError, "vectors of the same length"),
        (lambda: mnp.gradient([1.0]), ValueError, "at least two elements"),
        (lambda: mnp.gcd([1.0], [2.0]), TypeError, "must be integers"),
        (lambda: mnp.rollaxis([[1]], 0, 5), ValueError, "'start' must be from -2 to 2"),
        (lambda: mnp.diag(1), ValueError, "one or two axes"),
        (lambda: mnp.nothing, AttributeError, "nothing"),
    ],
)
def test_mistakes_are_named(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


def program(x, y):
    """Many functions in one program, of tensors whose values are unknown while it is compiled."""
    line = mnp.linspace(x[0], y[1], 4)
    grid = mnp.outer(line, mnp.sin(x))
    total = mnp.sum(mnp.where(grid > 0, mnp.sqrt(mnp.absolute(grid) + 1.0), grid), axis=0)
    z = mnp.convolve(total, y) + mnp.interp(y[0], mnp.cumsum(mnp.square(x)), y) + mnp.mean(mnp.cross(x, y))
    z = mnp.concatenate((z, mnp.polyval(x, y), mnp.diff(mnp.gradient(z)), mnp.trapz(z, axis=0).reshape(1)))
    w = mnp.histogram(x, bins=[-5.0, 0.0, 5.0], weights=y)[0]
    s = mnp.std(z) + mnp.norm(mnp.cov(mnp.stack((x, y)))) + mnp.nanmean(w) + mnp.gcd(12, mnp.argmax(z) + 4)
    return (
        mnp.sum(mnp.tile(z, 2) * s) + mnp.amax(mnp.take_along_axis(z, mnp.array([0, 2]), 0)) + mnp.average(z)
    )


def test_one_program_of_many_functions():
    x, y = Tensor([0.5, -1.25, 2.0]), Tensor([1.5, 0.25, 3.0])
    wide = [Tensor(t.asnumpy().astype(np.float64)) for t in (x, y)]
    eager = program(*wide)
    gradients = ops.grad(program, (0, 1))(*wide)
    slope = ops.grad(lambda x, y: (ops.grad(program)(x, y) * y).sum())

    def both(x, y):
        return program(x, y), ops.grad(program, (0, 1))(x, y), slope(x, y)

    compiled = ms.jit(both)(*wide)
    assert_close(compiled[0], eager, kind="program")
    for place in (0, 1):
        assert_close(compiled[1][place], gradients[place], kind="program")
        for k in range(3):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [t.asnumpy() for t in wide]
                moved[place][k] += step
                ends.append(program(*map(Tensor, moved)).item())
            assert_close(gradients[place].asnumpy()[k], operator.sub(*ends) / 2e-6, kind="difference")
    ends = []
    for step in (1e-6, -1e-6):
        moved = wide[0].asnumpy()
        moved[1] += step
        ends.append((ops.grad(program)(Tensor(moved), wide[1]) * wide[1]).sum().item())
    assert_close(compiled[2].asnumpy()[1], operator.sub(*ends) / 2e-6, kind="difference")
