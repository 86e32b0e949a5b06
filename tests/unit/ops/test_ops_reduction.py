"""Reductions, extremes, running sums, statistics and norms: values, conventions, errors, both executors."""

import math

import numpy as np
import pytest
import scipy.special as sc

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.frontend.programs.compiled import Compiled
from tests.tolerances import assert_close

RNG = np.random.default_rng(11)
CUBE = RNG.normal(size=(3, 4, 5))
AXES = [None, (), 0, -1, 1, (0, 2), (-1, 0), [1, 2], (0, 1, 2)]


def axes_of(axis):
    if axis is None or axis in ((), []):
        return (0, 1, 2)
    return tuple(axis) if isinstance(axis, (tuple, list)) else axis


#: name, oracle(x, axis, keepdims)
REDUCTIONS = {
    "reduce_sum": lambda x, axis, keep: x.sum(axis, keepdims=keep),
    "sum": lambda x, axis, keep: x.sum(axis, keepdims=keep),
    "reduce_mean": lambda x, axis, keep: x.mean(axis, keepdims=keep),
    "mean": lambda x, axis, keep: x.mean(axis, keepdims=keep),
    "prod": lambda x, axis, keep: x.prod(axis, keepdims=keep),
    "amax": lambda x, axis, keep: x.max(axis, keepdims=keep),
    "amin": lambda x, axis, keep: x.min(axis, keepdims=keep),
    "logsumexp": lambda x, axis, keep: sc.logsumexp(x, axis, keepdims=keep),
    "var": lambda x, axis, keep: x.var(axis, keepdims=keep),
    "std": lambda x, axis, keep: x.std(axis, keepdims=keep),
    "count_nonzero": lambda x, axis, keep: np.count_nonzero(x, axis, keepdims=keep),
    "all": lambda x, axis, keep: (x > 0).all(axis, keepdims=keep),
    "any": lambda x, axis, keep: (x > 1).any(axis, keepdims=keep),
}


def reduced(name, x, axis, keep):
    if name == "all":
        x = ops.greater(x, 0)
    elif name == "any":
        x = ops.greater(x, 1)
    if name in ("var", "std"):
        return getattr(ops, name)(x, axis, 0, keep)
    return getattr(ops, name)(x, axis, keep)


def close(found, wanted):
    assert found.shape == np.shape(wanted)
    assert_close(found, wanted, "program", scale=1)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    for axis in AXES:
        for keep in (False, True):
            wanted = REDUCTIONS[name](CUBE, axes_of(axis), keep)
            close(reduced(name, Tensor(CUBE), axis, keep), wanted)


def test_both_executors_agree():
    cases = [
        (name, axis, keep) for name in REDUCTIONS for axis in (None, 1, (0, 2)) for keep in (False, True)
    ]

    def everything(x):
        found = [reduced(name, x, axis, keep) for name, axis, keep in cases]
        found += [*ops.max(x, 1), *ops.min(x, 0, True), ops.argmax(x, 2), ops.argmin(x), *ops.median(x, 1)]
        found += [ops.cumsum(x, 1), ops.cumprod(x, 0), *ops.cummax(x, 1), *ops.cummin(x, 2)]
        found += [ops.norm(x), ops.norm(x, 3, 1), ops.norm(x, "nuc", (0, 2)), *ops.std_mean(x, 1, 1)]
        return found

    for dtype in (np.float64, np.float32):
        x = Tensor(CUBE.astype(dtype))
        for eager, compiled in zip(everything(x), Compiled(everything)(x), strict=True):
            assert eager.dtype is compiled.dtype
            close(compiled, eager.asnumpy())


# --- element types and edges -------------------------------------------------------------------------


def test_element_types():
    whole, truth = Tensor(np.arange(6).reshape(2, 3), ms.int32), Tensor([True, True, False])
    assert ops.sum(whole).dtype is ms.int64
    assert ops.reduce_sum(whole).dtype is ms.int32
    assert ops.sum(truth).dtype is ms.int64
    assert ops.sum(truth).item() == 2
    assert ops.sum(whole, dtype=ms.float64).dtype is ms.float64
    assert ops.mean(whole).dtype is ms.float32
    assert ops.mean(whole).item() == 2.5
    assert_close(ops.mean(truth), 2 / 3)
    assert ops.prod(whole, 0, dtype=ms.float32).dtype is ms.float32
    assert ops.std(whole).dtype is ms.float32
    assert ops.amax(whole).dtype is ms.int32
    assert (ops.argmax(whole).dtype, ops.argmin(whole).dtype) == (ms.int64, ms.int32)
    assert ops.all(whole).item() is False
    z = RNG.normal(size=3) + 1j * RNG.normal(size=3)
    assert_close(ops.sum(Tensor(z)), z.sum(), kind="program")
    assert_close(ops.norm(Tensor(z)), np.linalg.norm(z), kind="program")


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_half_precision_is_summed_in_single(dtype):
    x = Tensor(np.full(70000, 1.0), dtype)
    assert ops.mean(x).dtype is dtype
    assert ops.mean(x).item() == 1.0
    assert ops.var(x).item() == 0.0
    assert ops.std(x).dtype is dtype
    deviation = ops.std(Tensor(np.tile([200.0, -200.0], 5000), dtype))  # squares would overflow
    assert deviation.item() == 200.0


def test_nothing_to_reduce():
    empty = Tensor(np.zeros((0, 3)))
    assert ops.sum(empty, 0).asnumpy().tolist() == [0.0, 0.0, 0.0]
    assert ops.prod(empty, 0).asnumpy().tolist() == [1.0, 1.0, 1.0]
    assert np.isnan(ops.mean(empty, 0).asnumpy()).all()
    assert ops.all(empty).item() is True
    assert ops.any(empty).item() is False
    assert ops.amax(empty, 1).shape == (0,)
    assert ops.amax(empty, 0, initial=5.0).asnumpy().tolist() == [5.0, 5.0, 5.0]
    assert ops.logsumexp(empty, 0).asnumpy().tolist() == [-math.inf] * 3
    assert np.isnan(ops.var(Tensor([3.0]), ddof=1).item())
    scalar = Tensor(3.0)
    for function in (ops.sum, ops.mean, ops.prod, ops.amax, ops.amin, ops.logsumexp, ops.norm):
        assert function(scalar).item() == 3.0
        assert function(scalar).shape == ()
    assert [each.item() for each in ops.max(scalar)] == [3.0, 0]


# --- extremes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("keep", [False, True])
def test_extremes_with_their_places(axis, keep):
    x = CUBE.copy()
    x[1, 2, 3] = np.nan
    for pair, value, place in (
        (ops.max, np.max, np.argmax),
        (ops.min, np.min, np.argmin),
    ):
        values, places = pair(Tensor(x), axis, keep)
        close(values, value(x, axis, keepdims=keep))
        np.testing.assert_array_equal(places.asnumpy(), place(x, axis, keepdims=keep))
        assert places.dtype is ms.int64
    np.testing.assert_array_equal(
        ops.argmax(Tensor(x), axis, keep).asnumpy(), np.argmax(x, axis, keepdims=keep)
    )
    np.testing.assert_array_equal(
        ops.argmin(Tensor(x), axis, keep).asnumpy(), np.argmin(x, axis, keepdims=keep)
    )
    places, values = ops.argmax_with_value(Tensor(CUBE), axis, keep)
    close(values, CUBE.max(axis, keepdims=keep))
    places, values = ops.argmin_with_value(Tensor(CUBE), axis, keep)
    np.testing.assert_array_equal(places.asnumpy(), CUBE.argmin(axis, keepdims=keep))


def test_extremes_over_everything():
    value, place = ops.max(Tensor(CUBE))
    assert (value.item(), place.item(), place.dtype) == (CUBE.max(), 0, ms.int64)
    assert ops.argmax(Tensor(CUBE)).item() == CUBE.argmax()
    assert ops.argmax(Tensor(CUBE), keepdim=True).shape == (1, 1, 1)


def test_extremes_of_a_part():
    mask = CUBE > 0
    wanted = np.max(CUBE, 1, where=mask, initial=-9.0)
    close(ops.amax(Tensor(CUBE), 1, initial=-9.0, where=Tensor(mask)), wanted)
    close(ops.max(Tensor(CUBE), 1, initial=-9.0, where=Tensor(mask))[0], wanted)
    close(ops.amin(Tensor(CUBE), (0, 1), initial=0.0), np.min(CUBE, (0, 1), initial=0.0))
    close(ops.min(Tensor(CUBE), 2, initial=0.0)[0], np.min(CUBE, 2, initial=0.0))
    assert ops.amax(Tensor(CUBE), 1, True, initial=-9.0, where=Tensor(mask)).shape == (3, 1, 5)


def test_who_gets_the_derivative_of_an_extreme():
    x = Tensor(np.array([1.0, 3.0, 3.0]))
    assert ops.grad(ops.amax)(x).asnumpy().tolist() == [0.0, 0.5, 0.5]
    assert ops.grad(lambda x: ops.max(x)[0])(x).asnumpy().tolist() == [0.0, 0.5, 0.5]
    assert ops.grad(lambda x: ops.max(x, 0)[0])(x).asnumpy().tolist() == [0.0, 1.0, 0.0]
    assert ops.grad(lambda x: ops.argmax_with_value(x)[1])(x).asnumpy().tolist() == [0.0, 1.0, 0.0]
    assert ops.grad(lambda x: ops.median(x)[0])(x).asnumpy().tolist() == [0.0, 1.0, 0.0]


def test_median():
    for count in (4, 5):
        x = CUBE[..., :count]
        values, places = ops.median(Tensor(x), -1)
        close(values, np.sort(x, -1)[..., (count - 1) // 2])
        close(Tensor(np.take_along_axis(x, places.asnumpy()[..., None], -1)[..., 0]), values.asnumpy())
    x = CUBE.copy()
    x[1, 2, 3] = np.nan
    assert np.isnan(ops.median(Tensor(x), 2)[0].asnumpy()[1, 2])
    assert ops.median(Tensor(x), 2)[1].asnumpy()[1, 2] == 3
    assert ops.median(Tensor(x), 2, True)[0].shape == (3, 4, 1)


# --- running -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_sums_products_and_extremes(axis):
    x = Tensor(CUBE)
    close(ops.cumsum(x, axis), np.cumsum(CUBE, axis))
    close(ops.cumprod(x, axis), np.cumprod(CUBE, axis))
    for function, extreme in ((ops.cummax, np.maximum), (ops.cummin, np.minimum)):
        values, places = function(x, axis)
        close(values, extreme.accumulate(CUBE, axis))
        close(values, np.take_along_axis(CUBE, places.asnumpy(), axis))
    close(ops.CumSum(exclusive=True)(x, axis), np.cumsum(CUBE, axis) - CUBE)
    flipped = np.flip(np.cumsum(np.flip(CUBE, axis), axis), axis)
    close(ops.CumSum(reverse=True)(x, axis), flipped)
    close(ops.CumSum(True, True)(x, axis), flipped - CUBE)
    close(ops.CumProd(exclusive=True)(x, axis), np.cumprod(CUBE, axis) / CUBE)
    assert ops.cumsum(Tensor([1, 2]), 0, ms.float32).dtype is ms.float32
    assert ops.CumSum(exclusive=True)(Tensor(np.zeros((0, 2))), 0).shape == (0, 2)


# --- statistics and norms ----------------------------------------------------------------------------


@pytest.mark.parametrize("ddof", [0, 1, 2, False, True])
def test_variance_and_deviation(ddof):
    x = Tensor(CUBE)
    for axis in (None, 1, (0, 2)):
        close(ops.var(x, axis, ddof), CUBE.var(axis, ddof=int(ddof)))
        close(ops.std(x, axis, ddof), CUBE.std(axis, ddof=int(ddof)))
        deviation, mean = ops.std_mean(x, axis, ddof, True)
        close(deviation, CUBE.std(axis, ddof=int(ddof), keepdims=True))
        close(mean, CUBE.mean(axis, keepdims=True))
        close(ops.var_mean(x, axis, ddof)[1], CUBE.mean(axis))


def test_the_deviation_of_a_constant_and_the_norm_of_zero_have_derivative_zero():
    constant = Tensor(np.ones(4))
    zero = Tensor(np.zeros(4))
    functions = [lambda x: ops.std(x), lambda x: ops.std(x, ddof=1), lambda x: ops.reduce_std(x)[0]]
    norms = [ops.norm, lambda x: ops.norm(x, 2, 0), lambda x: ops.norm(x, 3, 0), lambda x: ops.norm(x, 1, 0)]
    norms += [lambda x: ops.vector_norm(x, math.inf), lambda x: ops.norm(ops.reshape(x, (2, 2)), "fro")]
    norms += [
        lambda x: ops.norm(ops.reshape(x, (2, 2)), "nuc"),
        lambda x: ops.norm(ops.reshape(x, (2, 2)), 2),
    ]
    for point, listed in ((constant, functions), (zero, norms)):
        for function in listed:
            np.testing.assert_array_equal(ops.grad(function)(point).asnumpy(), np.zeros(4))

    def everything(constant, zero):
        return [ops.grad(f)(constant) for f in functions] + [ops.grad(f)(zero) for f in norms]

    for slope in Compiled(everything)(constant, zero):
        np.testing.assert_array_equal(slope.asnumpy(), np.zeros(4))


@pytest.mark.parametrize("order", [2, 1, 0, 3, 0.5, math.inf, -math.inf, -2])
def test_vector_norms(order):
    for axis in (0, 1, -1):
        wanted = np.linalg.norm(CUBE, order, axis)
        close(ops.norm(Tensor(CUBE), order, axis), wanted)
        close(ops.vector_norm(Tensor(CUBE), order, axis), wanted)
        close(ops.norm(Tensor(CUBE), order, axis, True), np.expand_dims(wanted, axis))
    flat = CUBE.ravel()
    close(ops.vector_norm(Tensor(CUBE), order), np.linalg.norm(flat, order))
    close(ops.norm(Tensor(flat), order), np.linalg.norm(flat, order))
    if order > 0 and math.isfinite(order):
        slope = ops.grad(lambda x: ops.norm(x, order))(Tensor(flat))
        size = np.linalg.norm(flat, order)
        close(slope, np.sign(flat) * (np.abs(flat) / size) ** (order - 1))


@pytest.mark.parametrize("order", ["fro", "nuc", 2, -2, 1, -1, math.inf, -math.inf, None])
def test_matrix_norms(order):
    for axes in ((0, 1), (2, 0), (-1, 1)):
        wanted = np.linalg.norm(CUBE, order, axes)
        close(ops.norm(Tensor(CUBE), order, axes), wanted)
        kept = np.linalg.norm(CUBE, order, axes, keepdims=True)
        close(ops.norm(Tensor(CUBE), order, axes, True), kept)
        if order is not None:
            close(ops.matrix_norm(Tensor(CUBE), order, axes), wanted)
    close(ops.norm(Tensor(CUBE[0]), order), np.linalg.norm(CUBE[0], order))


def test_clipping_by_norm():
    x, y = Tensor(np.array([3.0])), Tensor(np.array([[4.0]]))
    first, second = ops.clip_by_global_norm((x, y), 1.0)
    assert_close((first.item(), second.item()), (0.6, 0.8), kind="program")
    first, second = ops.clip_by_norm([x, y], 10.0)
    assert (first.item(), second.item()) == (3.0, 4.0)
    assert ops.clip_by_norm(x, 1.5, 1).item() == 1.5
    zero = Tensor(np.zeros(2))
    assert ops.grad(lambda x: ops.clip_by_norm(x, 1.0))(zero).asnumpy().tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="must be finite"):
        ops.clip_by_norm(Tensor([math.inf]), 1.0, 2.0, True)


# --- first and second derivatives against finite differences -----------------------------------------

SMOOTH = {
    "mean": lambda x: ops.sum(ops.square(ops.mean(x, 0))),
    "prod": lambda x: ops.sum(ops.prod(x, 1)),
    "logsumexp": lambda x: ops.sum(ops.logsumexp(x, 1)),
    "var": lambda x: ops.sum(ops.var(x, 1, 1)),
    "std": lambda x: ops.sum(ops.std(x, 0)),
    "norm": lambda x: ops.norm(x),
    "norm of order 3": lambda x: ops.sum(ops.norm(x, 3, 1)),
    "nuclear norm": lambda x: ops.norm(x, "nuc"),
    "cumsum": lambda x: ops.sum(ops.square(ops.cumsum(x, 1))),
    "cumprod": lambda x: ops.sum(ops.cumprod(x, 0)),
    "softmax": lambda x: ops.sum(ops.square(ops.softmax(x, 1))),
    "log_softmax": lambda x: ops.sum(ops.square(ops.log_softmax(x, 0))),
    "amax": lambda x: ops.sum(ops.square(ops.amax(x, 1))),
    "median": lambda x: ops.sum(ops.square(ops.median(x, 1)[0])),
    "cummax": lambda x: ops.sum(ops.square(ops.cummax(x, 1)[0])),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name):
    function, x, v = SMOOTH[name], CUBE[0, :3], RNG.normal(size=(3, 5))
    step = 1e-5

    def moved(by):
        return Tensor(x + by * step * v)

    slope = ops.grad(function)
    difference = (function(moved(1)).item() - function(moved(-1)).item()) / (2 * step)
    assert_close(np.vdot(slope(Tensor(x)).asnumpy(), v), difference, kind="difference")
    _, curvature = ops.jvp(slope, Tensor(x), Tensor(v))
    difference = (slope(moved(1)).asnumpy() - slope(moved(-1)).asnumpy()) / (2 * step)
    assert_close(curvature, difference, kind="iteration")


# --- errors ------------------------------------------------------------------------------------------

X, C, EMPTY = Tensor(CUBE), Tensor(np.array([1j, 2j])), Tensor(np.zeros((0, 3)))

ERRORS = [
    (lambda x, c, e: ops.sum(x, 3), ValueError, r"'Sum'.*'axis' must be in range \[-3, 3\), but got 3"),
    (lambda x, c, e: ops.reduce_sum(x, (0, -3)), ValueError, r"'ReduceSum'.*contain an axis twice"),
    (lambda x, c, e: ops.mean(x, 1.5), TypeError, r"'ReduceMean'.*'axis' must be an int, but got float"),
    (lambda x, c, e: ops.sum(x, 0, 1), TypeError, r"'Sum'.*'keepdim' must be bool, but got int"),
    (lambda x, c, e: ops.sum("x"), TypeError, r"'Sum'.*must be a Tensor or a number"),
    (lambda x, c, e: ops.amax(c), TypeError, r"'Amax'.*Complex"),
    (lambda x, c, e: ops.amax(e, 0), ValueError, r"'Amax'.*must not be empty.*\(0, 3\)"),
    (lambda x, c, e: ops.max(e, 0), ValueError, r"'Max'.*must not be empty.*\(0, 3\)"),
    (lambda x, c, e: ops.argmin(e), ValueError, r"'Argmin'.*must not be empty"),
    (lambda x, c, e: ops.max(x, (0, 1)), TypeError, r"'Max'.*'axis' must be an int, but got tuple"),
    (lambda x, c, e: ops.amax(x, where=ops.greater(x, 0)), ValueError, r"'Amax'.*'where' requires 'initial'"),
    (lambda x, c, e: ops.amax(x, initial="0"), TypeError, r"'Amax'.*'initial' must be a number"),
    (lambda x, c, e: ops.var(c), TypeError, r"'Var'.*Complex"),
    (lambda x, c, e: ops.std(x, ddof=0.5), TypeError, r"'Std'.*'ddof' must be an int"),
    (lambda x, c, e: ops.logsumexp(c, 0), TypeError, r"'LogSumExp'.*Complex"),
    (lambda x, c, e: ops.cumsum(x, 3), ValueError, r"'CumSum'.*'axis' must be in range"),
    (lambda x, c, e: ops.cumsum(ops.sum(x), 0), ValueError, r"'CumSum'.*must have at least one axis"),
    (lambda x, c, e: ops.CumProd()(ops.greater(x, 0), 0), TypeError, r"'CumProd'.*Bool"),
    (lambda x, c, e: ops.cummax(c, 0), TypeError, r"'Cummax'.*Complex"),
    (lambda x, c, e: ops.norm(x, 2), ValueError, r"'Norm'.*'dim' is required"),
    (lambda x, c, e: ops.norm(x, "nuc", 0), ValueError, r"'Norm'.*'nuc' is a matrix norm"),
    (lambda x, c, e: ops.norm(x, 3, (0, 1)), ValueError, r"'MatrixNorm'.*'ord' must be"),
    (lambda x, c, e: ops.norm(x, "l2", (0, 1)), TypeError, r"'MatrixNorm'.*'ord' must be"),
    (lambda x, c, e: ops.matrix_norm(x, "fro", (0, 0)), ValueError, r"'MatrixNorm'.*must name two axes"),
    (lambda x, c, e: ops.clip_by_global_norm(x), TypeError, r"'ClipByGlobalNorm'.*tuple or list"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), ERRORS)
def test_mistakes_are_errors_in_both_modes(call, kind, words):
    with pytest.raises(kind, match=words):
        call(X, C, EMPTY)
    with pytest.raises(kind, match=words):
        Compiled(call)(X, C, EMPTY)


SCALAR_REDUCTIONS = {
    "sum": 3.0, "reduce_sum": 3.0, "mean": 3.0, "prod": 3.0, "amax": 3.0, "amin": 3.0, "norm": 3.0, "nansum": 3.0,
    "vector_norm": 3.0, "logsumexp": 3.0, "softmax": 1.0, "log_softmax": 0.0, "var": np.nan, "std": np.nan,
}  # fmt: skip


@pytest.mark.parametrize("axis", [0, -1, (0,)])
@pytest.mark.parametrize("name", SCALAR_REDUCTIONS)
def test_reduction_of_a_scalar_along_axis_0_returns_a_scalar(name, axis):
    operator = getattr(ops, name)
    options = {"ddof": 1} if name in ("var", "std") else {}
    keyword = "dim" if name in ("norm", "sum") else "axis"
    call = lambda x: operator(x, **{keyword: axis}, **options)
    found = call(Tensor(3.0))
    assert found.shape == ()
    assert_close(found, SCALAR_REDUCTIONS[name])
    np.testing.assert_array_equal(Compiled(call)(Tensor(3.0)).asnumpy(), found.asnumpy())
    if name in ("sum", "norm", "amax", "logsumexp"):
        assert ms.grad(call)(Tensor(3.0)).item() == 1.0
    kept = ops.sum(Tensor(3.0), 0, True) if name == "sum" else found
    assert kept.shape == ()


@pytest.mark.parametrize("axis", [1, -2, (0, -1)])
def test_reduction_of_a_scalar_along_another_axis_raises(axis):
    with pytest.raises(ValueError, match=r"in range \[-1, 1\), but got|contain an axis twice"):
        ops.sum(Tensor(3.0), axis)


def test_boolean_reductions_of_a_scalar_accept_axis_0():
    for axis in (0, -1):
        assert ops.all(Tensor(True), axis).item()
        assert not ops.any(Tensor(False), axis).item()
        assert ops.count_nonzero(Tensor(2.0), axis).item() == 1
        assert ops.median(Tensor(2.0), axis)[0].item() == 2.0
