"""Functions of ``core.numpy``, compared with NumPy and finite differences."""

import numpy
import pytest

from mindgrad.core import Tensor, grad, jvp
from mindgrad.core import numpy as np
from mindgrad.core.base.tree import flatten, unflatten
from tests.tolerances import assert_close

RANDOM = numpy.random.default_rng(7)


def reals(*shape, low=-2.0, high=2.0):
    return RANDOM.uniform(low, high, shape)


def definite(size):
    a = reals(size, size)
    return a @ a.T + size * numpy.eye(size)


X, Y, ROW = reals(2, 3), reals(2, 3), reals(3)
POSITIVE, ABOVE = reals(2, 3, low=0.3), reals(2, 3, low=1.2, high=3.0)
INSIDE, SQUARE = reals(2, 3, low=-0.9, high=0.9), reals(3, 3) + 3 * numpy.eye(3)
DISTINCT = numpy.array([[0.3, -1.2, 2.5], [1.7, -0.4, 0.9]])
INTS, BOOLS = numpy.array([[5, -3, 2], [7, 0, 1]]), numpy.array([[True, False, True], [False, True, True]])
Z = reals(4) + 1j * reals(4)

#: name -> cases: arguments, or a pair of arguments and keywords in a list
CASES = {}


def add(names, *cases):
    for name in names.split():
        CASES.setdefault(name, []).extend(cases)


add(
    "exp exp2 expm1 sin cos tanh arctan sinh cosh arcsinh sinc cbrt tan square negative positive degrees radians",
    (X,),
)
add(
    "rad2deg deg2rad absolute abs fabs sign floor ceil trunc rint round around real imag conj conjugate", (X,)
)
add("isnan isinf isfinite isposinf isneginf signbit nan_to_num logical_not", (X,))
add("log log2 log10 log1p sqrt reciprocal", (POSITIVE,))
add("arccosh", (ABOVE,))
add("arcsin arccos arctanh", (INSIDE,))
add(
    "add subtract multiply maximum minimum arctan2 hypot logaddexp logaddexp2 copysign",
    (X, Y),
    (X, ROW),
    (X, 1.5),
)
add("fmax fmin equal not_equal less less_equal greater greater_equal isclose heaviside", (X, Y), (X, X))
add("logical_and logical_or logical_xor", (X, Y), (BOOLS, ~BOOLS))
add("divide true_divide", (X, POSITIVE), (2.0, POSITIVE))
add("mod remainder fmod floor_divide", (X, POSITIVE), (INTS, 3))
add("power pow float_power", (POSITIVE, Y), (POSITIVE, 2.5))
add("power pow", (X, 3), (INTS, 2), (2.0, X))
add("ldexp", (X, INTS))
add("bitwise_and bitwise_or bitwise_xor", (INTS, INTS[::-1]), (BOOLS, ~BOOLS))
add("bitwise_not invert", (INTS,), (BOOLS,))
add("left_shift right_shift", (abs(INTS), 2))
add("angle", (Z,))
add("clip", (X, -0.5, 0.7), (X, None, 0.7))
add("where", (BOOLS, X, Y), (BOOLS, X, 0.0))
add(
    "sum prod mean max min amax amin all any std var ptp",
    (X,),
    [(X, 1), {}],
    [(X,), {"axis": (0, 1), "keepdims": True}],
)
add("nansum nanmean nanmax nanmin count_nonzero", (X,), (X, 0))
add("average", (X,), [(X,), {"axis": 1, "weights": POSITIVE}])
add("argmax argmin", (DISTINCT,), (DISTINCT, 1))
add("argsort sort", (DISTINCT,), (DISTINCT, 0), (DISTINCT, None))
add("median", (DISTINCT,), (DISTINCT, 1), [(DISTINCT,), {"axis": 0, "keepdims": True}])
add("quantile", (DISTINCT, 0.3), (DISTINCT, 0.3, 1))
add("percentile", (DISTINCT, 30.0, 1))
add("searchsorted", (numpy.sort(ROW), X), [(numpy.sort(ROW), ROW), {"side": "right"}])
add("cumsum cumprod", (X,), (X, 1))
add("allclose array_equal", (X, X), (X, Y))
add("array asarray copy", (X,), ([1.0, 2.0],))
add("ravel transpose flip squeeze fliplr flipud", (X,))
add("transpose", (reals(2, 3, 4), (2, 0, 1)))
add("reshape", (X, (3, -1)), (X, 6))
add("moveaxis", (reals(2, 3, 4), 0, 2), (reals(2, 3, 4), (0, 1), (-1, 0)))
add("rollaxis", (reals(2, 3, 4), 2), (reals(2, 3, 4), 0, 3))
add("swapaxes", (reals(2, 3, 4), 0, 2))
add("expand_dims", (X, 1), (X, (0, 2)))
add("squeeze", (reals(1, 3, 1), 0))
add("broadcast_to", (ROW, (2, 3)))
add("broadcast_arrays", (X, ROW))
add("atleast_1d atleast_2d atleast_3d", (ROW,), (numpy.array(2.0),), (X,))
add("concatenate stack vstack hstack dstack", ((X, Y),))
add("column_stack", ((ROW, ROW),), ((X, Y),))
add("append", (X, Y), (X, Y, 1))
add("split", (X, 3, 1), (X, [1], 1))
add("array_split", (reals(7), 3))
add("hsplit", (X, 3))
add("vsplit", (X, 2))
add("dsplit", (reals(2, 2, 4), 2))
add("rot90", (X,), (X, 2))
add("roll", (X, 1), (X, 2, 1), (X, (1, 1), (0, 1)))
add("tile", (X, 2), (X, (2, 1, 2)), (ROW, (2, 2)))
add("repeat", (X, 2), (X, [1, 2, 0], 1))
add("take", (X, [0, 2, 2], 1), (X, [0, 5]))
add("take_along_axis", (X, numpy.array([[0, 2], [1, 1]]), 1))
add("delete", (X, 1, 1), (X, [0, 3]))
add("pad", (X, 1), [(X, ((0, 1), (2, 0))), {"constant_values": 3.0}])
add("diagonal", (SQUARE,), (X, 1), (reals(2, 3, 3), -1, 1, 2))
add("diag", (ROW,), (ROW, 1), (SQUARE, -1))
add("tril triu", (SQUARE,), (X, 1))
add("vander", (ROW,), (ROW, 2, True))
add("diff", (X,), (X, 2), (X, 1, 0))
add("trapezoid", (X,), [(X,), {"dx": 0.5, "axis": 0}], (ROW, numpy.sort(ROW)))
add("interp", (reals(5), numpy.sort(ROW), ROW))
add("matmul", (X, Y.T), (X, ROW), (ROW, ROW), (reals(4, 2, 3), reals(3, 2)))
add("dot inner", (ROW, ROW), (X, SQUARE), (X, 2.0))
add("vdot", (X, Y), (Z, Z[::-1]))
add("outer kron", (ROW, reals(2)), (X, Y))
add("tensordot", (reals(2, 3, 4), reals(4, 3), ([1, 2], [1, 0])), (X, Y.T, 1))
add("einsum", ("ij,kj->ik", X, Y), ("ii", SQUARE))
add("trace", (SQUARE,), (X, 1))
add("cross", (X, Y), (ROW, X))
add("convolve", (ROW, reals(5)), (reals(5), ROW, "same"), (reals(5), ROW, "valid"))
add("polyval", (ROW, X))
add("linalg.inv linalg.det linalg.slogdet linalg.qr linalg.svdvals linalg.eigvals linalg.pinv", (SQUARE,))
add("linalg.cond", (SQUARE,))
add("linalg.svdvals", (X,))
add("linalg.pinv", (X,))
add("linalg.cholesky linalg.eigvalsh", (definite(3),))
add("linalg.solve", (SQUARE, ROW), (SQUARE, reals(3, 2)))
add("linalg.matrix_power", (SQUARE, 3), (SQUARE, -1))
add("linalg.multi_dot", ([SQUARE, reals(3, 2), X],))
add(
    "linalg.norm",
    (X,),
    (ROW, 3),
    (ROW, numpy.inf),
    [(X,), {"axis": 1, "keepdims": True}],
    (X, 1),
    (X, "nuc"),
    (X, 2),
)
add("fft.fft fft.ifft", (ROW,), (Z,), (Z, 6), (X, 2, 0))
add("fft.rfft", (ROW,), (reals(2, 6), 4))
add("fft.irfft", (numpy.fft.rfft(reals(5)), 5), (numpy.fft.rfft(reals(6)),))
add("fft.fft2 fft.ifft2 fft.fftn fft.ifftn fft.fftshift fft.ifftshift", (X,))

#: created arrays, which are compared with NumPy's in the dtype of the core
CREATED = {
    "arange": [(5,), (1, 7, 2), (0.0, 1.0, 0.25)], "linspace": [(0.0, 1.0, 5)], "logspace": [(0.0, 2.0, 3)],
    "geomspace": [(1.0, 8.0, 4)], "zeros": [(3,), ((2, 3),)], "ones": [((2, 3),)], "full": [((2, 3), 1.5)],
    "eye": [(3,), (2, 3, 1)], "identity": [(3,)], "tri": [(3,), (2, 3, -1)], "indices": [((2, 3),)],
    "meshgrid": [(ROW, reals(2)), (ROW,)], "zeros_like": [(X,)], "ones_like": [(X,)], "full_like": [(X, 2.0)],
    "fft.fftfreq": [(5,)], "fft.rfftfreq": [(6, 0.5)],
    "shape": [(X,)], "ndim": [(X,)], "size": [(X,), (X, 1)],
}  # fmt: skip
#: tested elsewhere in this file, or equal to another function
OTHERS = {
    "empty", "empty_like", "astype", "logsumexp", "put_along_axis", "updated", "stop_gradient", "linalg.eig",
    "linalg.eigh", "linalg.svd", "linalg.lstsq",
}  # fmt: skip


def found(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


def each_case(table):
    return [
        pytest.param(name, *(case if isinstance(case, list) else (case, {})), id=f"{name}-{k}")
        for name, cases in table.items()
        for k, case in enumerate(cases)
    ]


def values(tree):
    return [x.asnumpy() if isinstance(x, Tensor) else numpy.asarray(x) for x in flatten(tree)[0]]


def test_each_function_has_a_case():
    names = {n for n in np.__all__ if callable(getattr(np, n)) and not hasattr(getattr(np, n), "numpy")}
    names |= {f"{part}.{n}" for part in ("linalg", "fft") for n in getattr(np, part).__all__}
    assert names == {*CASES, *CREATED, *OTHERS}
    assert len(names) >= 180


@pytest.mark.parametrize(("name", "args", "kwargs"), each_case(CASES))
def test_function_has_the_values_of_numpy(name, args, kwargs):
    ours, theirs = values(found(np, name)(*args, **kwargs)), values(found(numpy, name)(*args, **kwargs))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        if name == "linalg.eigvals":
            a, b = numpy.sort_complex(a), numpy.sort_complex(b)
        assert_close(a, b, "law")


@pytest.mark.parametrize(("name", "args", "kwargs"), each_case(CREATED))
def test_created_array_has_the_values_of_numpy(name, args, kwargs):
    ours, theirs = values(found(np, name)(*args, **kwargs)), values(found(numpy, name)(*args, **kwargs))
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == b.shape
        assert_close(a, b, "program")


def loss_of(name, args, kwargs):
    """The weighted sum of the outputs, as a function of the floating-point arguments."""
    leaves, structure = flatten(args)
    places = [k for k, x in enumerate(leaves) if isinstance(x, numpy.ndarray) and x.dtype.kind in "fc"]

    def loss(*xs):
        given = list(leaves)
        for k, x in zip(places, xs, strict=True):
            given[k] = x
        outputs = flatten(found(np, name)(*unflatten(structure, given), **kwargs))[0]
        total = 0.0
        for y in outputs:
            if isinstance(y, Tensor) and y.dtype.is_inexact:
                size = int(numpy.prod(y.shape))
                weights = numpy.cos(numpy.arange(size)).reshape(y.shape)
                total = (
                    total
                    + np.sum(np.multiply(np.real(y), weights))
                    + np.sum(np.multiply(np.imag(y), weights[..., ::-1] if y.shape else 1.0))
                )
        return total

    return loss, [leaves[k] for k in places]


#: functions whose derivative is not the limit of difference quotients at the points of the cases
JUMPS = {"linalg.eigvals", "allclose", "array_equal"}


@pytest.mark.parametrize(
    ("name", "args", "kwargs"), each_case({k: v for k, v in CASES.items() if k not in JUMPS})
)
@pytest.mark.filterwarnings("ignore:.*zero")
def test_derivatives_are_the_limits_of_difference_quotients(name, args, kwargs):
    loss, xs = loss_of(name, args, kwargs)
    if not xs:
        return
    output = loss(*xs)
    if not isinstance(output, Tensor):
        return
    directions = [
        numpy.cos(numpy.arange(x.size) + k).reshape(x.shape).astype(x.dtype) for k, x in enumerate(xs)
    ]
    step = 1e-6

    def at(t):
        return float(loss(*[x + t * v for x, v in zip(xs, directions, strict=True)]).asnumpy())

    expected = (at(step) - at(-step)) / (2 * step)
    _, forward = jvp(loss, xs, directions)
    gradients = grad(loss, tuple(range(len(xs))))(*xs)
    backward = sum(
        float(numpy.sum(g.asnumpy() * v).real)
        if v.dtype.kind == "f"
        else float(numpy.sum(g.asnumpy().real * v.real + g.asnumpy().imag * v.imag))
        for g, v in zip(gradients, directions, strict=True)
    )
    assert_close(forward, expected, "difference", scale=1.0)
    assert_close(backward, expected, "difference", scale=1.0)
