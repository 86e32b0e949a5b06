"""A sample that is discarded contributes nothing, also if it is infinite or NaN before a sum of products."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, mint, nn, ops
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close

RANDOM = np.random.default_rng(0)


def matrix(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape) + 3.0 * np.eye(shape[-2], shape[-1])


#: by name: the function of samples and weights, the samples, of which the second is bad, and the weights
SAMPLES = {
    "matmul": (lambda x, w: ops.matmul(x, w), matrix(3, 2), matrix(2, 4)),
    "dense": (lambda x, w: ops.dense(x, w), matrix(3, 2), matrix(4, 2)),
    "einsum": (lambda x, w: ops.einsum("bij,jk->bik", x, w), matrix(3, 2, 2), matrix(2, 4)),
    "einsum_of_three": (lambda x, w: ops.einsum("bij,jk,bil->bkl", x, w, x), matrix(3, 2, 2), matrix(2, 4)),
    "bmm": (lambda x, w: ops.bmm(x, ops.stack((w, w, w))), matrix(3, 2, 2), matrix(2, 4)),
    "outer": (lambda x, w: ops.einsum("b,j->bj", x[:, 0], w), matrix(3, 2), matrix(4, 4)[0]),
    "conv1d": (lambda x, w: ops.conv1d(x, w), matrix(3, 2, 5), RANDOM.normal(size=(4, 2, 3))),
    "conv2d": (lambda x, w: ops.conv2d(x, w, stride=2), matrix(3, 2, 5, 5), RANDOM.normal(size=(4, 2, 3, 3))),
    "conv2d_in_groups": (
        lambda x, w: ops.conv2d(x, w, groups=2, dilation=2),
        matrix(3, 4, 6, 6),
        RANDOM.normal(size=(4, 2, 3, 3)),
    ),
    "inverse": (lambda x, w: ops.inverse(x) @ w, matrix(3, 3, 3), matrix(3, 2)),
    "solve": (lambda x, w: ops.linalg.solve(x, ops.stack((w, w, w))), matrix(3, 3, 3), matrix(3, 2)),
    "qr": (lambda x, w: ops.qr(x @ w)[1], matrix(3, 3, 3), matrix(3, 3)),
    "cholesky": (lambda x, w: ops.cholesky(x @ w @ ops.swapaxes(x @ w, 1, 2)), matrix(3, 3, 3), matrix(3, 3)),
    "deep": (
        lambda x, w: ops.tanh(ops.relu(ops.matmul(x, w)) @ ops.swapaxes(w, 0, 1)) @ w,
        matrix(3, 2),
        matrix(2, 4),
    ),
}
GOOD = np.array([True, False, True])


def by_where(y: Tensor) -> Tensor:
    return ops.where(Tensor(GOOD.reshape(3, *[1] * (y.ndim - 1))), y, 0.0)


def by_index(y: Tensor) -> Tensor:
    return y[Tensor([0, 2])]


def by_slice(y: Tensor) -> Tensor:
    return ops.cat((y[:1], y[2:]))


def gradient(f: Callable[..., Tensor], of: Callable[..., Tensor], x: Tensor) -> Callable[[Tensor], Any]:
    return ms.grad(lambda w: ops.square(of(f(x, w))).sum())


def hessian(f: Callable[..., Tensor], of: Callable[..., Tensor], x: Tensor) -> Callable[[Tensor], Any]:
    return ms.hessian(lambda w: ops.square(of(f(x, w))).sum())


def along_samples(f: Callable[..., Tensor], of: Callable[..., Tensor], x: Tensor) -> Callable[[Tensor], Any]:
    """Derivatives by the samples of derivatives by the weights."""
    return lambda w: ms.grad(lambda x: gradient(f, of, x)(w).sum())(x)[Tensor([0, 2])]


def spoiled(x: np.ndarray, bad: float) -> Tensor:
    x = x.copy()
    x[1] = bad
    return Tensor(x)


def right_of(name: str, derive: Callable[..., Any]) -> np.ndarray:
    """The derivative of the function of the good samples."""
    f, x, w = SAMPLES[name]
    return derive(f, by_index, Tensor(x))(Tensor(w)).asnumpy()


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", SAMPLES)
def test_where_discards_an_infinite_sample_in_the_gradient_of_weights(name, bad, wrap):
    f, x, w = SAMPLES[name]
    found = wrap(gradient(f, by_where, spoiled(x, bad)))(Tensor(w)).asnumpy()
    np.testing.assert_allclose(found, right_of(name, gradient), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("of", [by_index, by_slice])
@pytest.mark.parametrize("name", SAMPLES)
def test_an_index_discards_an_infinite_sample_in_the_gradient_of_weights(name, of, wrap):
    """The samples are an argument, so that the compiled program cannot know that one is infinite."""
    f, x, w = SAMPLES[name]
    derive = wrap(lambda x, w: gradient(f, of, x)(w))
    found = derive(spoiled(x, np.nan), Tensor(w)).asnumpy()
    np.testing.assert_allclose(found, right_of(name, gradient), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_cross_entropy_ignores_a_sample_of_nan_in_the_gradient_of_weights(reduction, wrap):
    x, w = matrix(3, 2), Tensor(matrix(2, 4))

    def loss(labels: list[int]) -> Callable[..., Tensor]:
        target = Tensor(np.array(labels, np.int32))
        return lambda w, x: ops.cross_entropy(ops.tanh(x @ w), target, ignore_index=-1, reduction=reduction)

    found = wrap(lambda w, x: ms.grad(loss([1, -1, 2]))(w, x))(w, spoiled(x, np.nan))
    right = ms.grad(loss([1, 2]))(w, Tensor(x[GOOD]))
    assert_close(found, right, "law")


@pytest.mark.parametrize("name", ["matmul", "deep"])
def test_a_slice_discards_an_infinite_sample_in_compiled_second_derivatives(name):
    f, x, w = SAMPLES[name]
    derive = ms.jit(lambda x, w: hessian(f, by_slice, x)(w))
    found = derive(spoiled(x, np.nan), Tensor(w)).asnumpy()
    assert_close(found, right_of(name, hessian), "law")


def test_slices_that_cover_a_value_add_no_shields_to_a_compiled_gradient():
    def steps(u: Tensor) -> Tensor:
        for _ in range(3):
            f = u * u
            inner = u[1:-1] - 0.1 * (f[2:] - f[:-2])
            u = ops.cat((u[:1], inner, u[-1:]))
        return ops.square(u).sum()

    program = trace(ms.grad(steps), Tensor(np.ones(100)))
    assert "shield" not in program.count()


def _with_sums(w: Tensor, x: Tensor, count: Tensor) -> Tensor:
    total, k = 0 * x.sum(), 0 * count
    while k < count:
        x = x + 0.1 * ops.sin(w @ x)
        total, k = total + x.sum(), k + 1
    return total


def _first_of_last(w: Tensor, x: Tensor, count: Tensor) -> Tensor:
    k = 0 * count
    while k < count:
        x, k = ops.tanh(w @ x), k + 1
    return x[0]


def _with_stencil(w: Tensor, x: Tensor, count: Tensor) -> Tensor:
    k = 0 * count
    while k < count:
        flux = w.mean() * x * x
        x, k = ops.cat((x[:1], x[1:-1] - 0.1 * (flux[2:] - flux[:-2]), x[-1:])), k + 1
    return ops.square(x).sum()


@pytest.mark.parametrize("function", [_with_sums, _first_of_last, _with_stencil])
def test_a_loop_in_which_no_zeros_last_has_no_shields_in_its_derivatives(function):
    """A part whose cotangent is zero, a slice after the loop and slices that cover a value."""
    w, x, count = Tensor(matrix(8, 8)), Tensor(RANDOM.normal(size=8)), Tensor(5)
    gradient = lambda x, w, count: ms.grad(lambda x: function(w, x, count))(x)
    second = lambda x, w, count: ms.jvp(lambda x: gradient(x, w, count), x, x)[1]
    for derivative in (gradient, second, lambda x, w, count: ms.grad(lambda w: function(w, x, count))(w)):
        program = str(trace(derivative, x, w, count))
        assert "while_pullback" in program
        assert "shield" not in program
        assert "isfinite" not in program


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("derive", [hessian, along_samples])
@pytest.mark.parametrize("name", ["matmul", "deep", "conv1d", "solve", "inverse", "einsum_of_three"])
def test_where_discards_an_infinite_sample_in_second_derivatives(name, derive, wrap):
    f, x, w = SAMPLES[name]
    found = wrap(derive(f, by_where, spoiled(x, np.nan)))(Tensor(w)).asnumpy()
    np.testing.assert_allclose(found, right_of(name, derive), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["matmul", "conv2d", "inverse"])
def test_where_discards_an_infinite_sample_that_is_an_argument_of_a_compiled_function(name):
    f, x, w = SAMPLES[name]
    compiled = ms.jit(lambda x, w: gradient(f, by_where, x)(w))
    found = compiled(spoiled(x, np.nan), Tensor(w)).asnumpy()
    np.testing.assert_allclose(found, right_of(name, gradient), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, w: ops.tanh(x @ w).sum(1, keepdims=True),
        lambda x, w: ops.exp(x @ w),
        lambda x, w: ops.softmax(x @ w, -1) @ ops.cos(ops.ones((4, 2), ms.float64)),
    ],
)
def test_where_discards_an_infinite_sample_below_a_sum_when_compiled(f, bad):
    _, x, w = SAMPLES["matmul"]
    loss = lambda w, x: ops.where(Tensor(GOOD)[:, None], f(x, w), 0.0).sum()
    right = lambda w: f(Tensor(x[GOOD]), w).sum()
    for found, wanted in (
        (ms.grad(loss), ms.grad(right)),
        (lambda w, x: ms.hessian(lambda v: loss(v, x))(w), ms.hessian(right)),
    ):
        found, wanted = ms.jit(found)(Tensor(w), spoiled(x, bad)), wanted(Tensor(w))
        assert_close(found, wanted, "law")


@pytest.mark.parametrize("name", ["matmul", "conv2d", "solve"])
def test_vmap_discards_an_infinite_sample(name):
    f, x, w = SAMPLES[name]
    batch = Tensor(np.stack((x, spoiled(x, np.nan).asnumpy())))
    found = ms.vmap(lambda x: gradient(f, by_where, x)(Tensor(w)))(batch).asnumpy()
    np.testing.assert_allclose(found, [right_of(name, gradient)] * 2, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
def test_a_mask_of_elements_discards_logarithms_below_a_product(wrap):
    x = Tensor([[1.0, 2.0], [-1.0, 3.0]])
    good = Tensor([[True], [False]])
    found = wrap(ms.grad(lambda w: ops.where(good, ops.matmul(ops.log(x), w), 0).sum()))(
        Tensor([[1.0], [1.0]])
    )
    np.testing.assert_allclose(found.asnumpy().ravel(), np.log([1.0, 2.0]), rtol=1e-6)


def test_a_sample_that_is_used_keeps_its_infinity_in_the_gradient():
    x = spoiled(matrix(3, 2), np.nan)
    partly = Tensor(np.array([[1, 1], [0, 1], [1, 1]], bool))  # one output of the bad sample is used
    found = ms.grad(lambda w: ops.where(partly, x @ w, 0.0).sum())(Tensor(matrix(2, 2))).asnumpy()
    assert np.isnan(found[:, 1]).all()


def test_a_hessian_at_a_minimum_with_masks_is_that_of_the_sum_of_squares():
    """All cotangents are zero there, and nothing is discarded but what is masked."""
    x = matrix(3, 2)
    value = ms.hessian(lambda w: ops.square(by_where(Tensor(x) @ w)).sum())(Tensor(np.zeros(2)))
    np.testing.assert_allclose(value.asnumpy(), 2 * x[GOOD].T @ x[GOOD], rtol=1e-9)


def heads(wrap: Callable[..., Any], used: slice) -> tuple[list[np.ndarray], np.ndarray]:
    ms.set_seed(0)
    layer = nn.MultiheadAttention(4, 2)
    x = Tensor(np.random.default_rng(1).normal(size=(3, 2, 4)).astype(np.float32))
    mask = Tensor(np.array([[0, 1, 1], [0, 0, 1], [1, 1, 1]], bool))  # the last query sees no key

    def loss(x: Tensor) -> Tensor:
        return (layer(x, x, x, attn_mask=mask)[0][used] ** 2).sum()

    weights = layer.trainable_params()
    of_x, of_weights = wrap(ms.grad(loss, 0, weights))(x)
    return [w.asnumpy() for w in of_weights], of_x.asnumpy()


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
def test_attention_without_keys_for_an_unused_query_has_finite_gradients(wrap):
    of_weights, of_x = heads(wrap, slice(0, 2))
    assert all(np.isfinite(w).all() for w in of_weights)
    assert np.isfinite(of_x).all()
    assert any(np.abs(w).max() > 0.01 for w in of_weights)


#: functions of matrices of which one has no inverse, or is not positive definite
SINGULAR = {
    "inverse": lambda x, w: ops.inverse(x) @ w,
    "solve": lambda x, w: ops.linalg.solve(x, ops.stack((w, w, w))),
    "cholesky": lambda x, w: ops.cholesky(x @ ops.swapaxes(x, 1, 2)) @ w,
    "qr": lambda x, w: ops.qr(x)[1] @ w,
    "slogdet": lambda x, w: ops.slogdet(x)[1].reshape(3, 1) * w[0],
}


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("of", [by_where, by_index, by_slice])
@pytest.mark.parametrize("name", SINGULAR)
def test_a_discarded_singular_matrix_leaves_both_gradients_finite(name, of, wrap):
    f, x, w = SINGULAR[name], matrix(3, 3, 3), Tensor(matrix(3, 3))
    good = Tensor(x)
    x = x.copy()
    x[1] = 0.0

    def gradients(of: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor], Any]:
        return ms.grad(lambda x, w: ops.square(of(f(x, w))).sum(), (0, 1))

    of_x, of_w = wrap(gradients(of))(Tensor(x), w)
    right_of_x, right_of_w = gradients(by_index)(good, w)
    np.testing.assert_allclose(of_w.asnumpy(), right_of_w.asnumpy(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(of_x.asnumpy(), right_of_x.asnumpy(), rtol=1e-9, atol=1e-9)


#: by name: a convolution, its input, and its weights
WINDOWS = {
    "conv1d_padded": (
        lambda x, w: ops.conv1d(x, w, pad_mode="pad", padding=1),
        RANDOM.normal(size=(2, 3, 9)),
        RANDOM.normal(size=(4, 3, 3)),
    ),
    "conv2d_in_strides": (
        lambda x, w: ops.conv2d(x, w, stride=2, pad_mode="pad", padding=1),
        RANDOM.normal(size=(2, 3, 7, 8)),
        RANDOM.normal(size=(4, 3, 3, 3)),
    ),
    "conv2d_in_groups": (
        lambda x, w: ops.conv2d(x, w, groups=2, dilation=2),
        RANDOM.normal(size=(2, 4, 7, 8)),
        RANDOM.normal(size=(6, 2, 3, 2)),
    ),
    "conv2d_of_each_channel": (
        lambda x, w: ops.conv2d(x, w, groups=4),
        RANDOM.normal(size=(2, 4, 7, 8)),
        RANDOM.normal(size=(8, 1, 3, 2)),
    ),
    "conv3d": (
        lambda x, w: ops.conv3d(x, w),
        RANDOM.normal(size=(2, 2, 4, 5, 6)),
        RANDOM.normal(size=(3, 2, 2, 3, 2)),
    ),
    "transposed": (
        lambda x, w: mint.nn.functional.conv_transpose2d(x, w, stride=2),
        RANDOM.normal(size=(2, 3, 5, 5)),
        RANDOM.normal(size=(3, 4, 3, 3)),
    ),
}


def within_windows(name: str, derive: Callable[..., Any], bad: float, wrap: Callable[..., Any]) -> list[Any]:
    """A derivative by the weights with a bad element in a sample, and with zero in its place."""
    f, x, w = WINDOWS[name]
    position = (1, slice(None), *[n // 2 for n in x.shape[2:]])
    spoiled, clean = x.copy(), x.copy()
    spoiled[position], clean[position] = bad, 0.0
    good = np.isfinite(f(Tensor(spoiled), Tensor(w)).asnumpy()).all(axis=1, keepdims=True)
    assert 0 < np.count_nonzero(good[1]) < good[1].size

    def loss(x: Tensor) -> Callable[[Tensor], Tensor]:
        return lambda w: ops.where(Tensor(good), ops.square(f(x, w)), 0.0).sum()

    return [wrap(derive(loss, Tensor(x)))(Tensor(w)).asnumpy() for x in (spoiled, clean)]


WITHIN = {
    "grad": lambda loss, x: ms.grad(loss(x)),
    "hessian": lambda loss, x: lambda w: ms.jvp(ms.grad(loss(x)), w, 2 * w)[1],
    "by_samples": lambda loss, x: lambda w: ms.grad(lambda x: ms.grad(loss(x))(w).sum())(x),
    "vmap": lambda loss, x: lambda w: ms.vmap(lambda a: ms.grad(loss(x))(a * w))(Tensor([1.0, 2.0])),
    "vmap_of_samples": lambda loss, x: (
        lambda w: ms.vmap(lambda a: ms.grad(loss(a * x))(w))(Tensor([1.0, 2.0]))
    ),
}


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", WINDOWS)
def test_where_discards_infinite_elements_within_the_windows_of_a_sample(name, wrap):
    found, right = within_windows(name, WITHIN["grad"], np.nan, wrap)
    np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("derive", list(WITHIN)[1:])
def test_where_discards_infinite_elements_within_windows_in_other_derivatives(derive, wrap):
    found, right = within_windows("conv2d_in_strides", WITHIN[derive], np.inf, wrap)
    np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-9)


def test_an_infinite_element_in_a_window_that_is_used_stays_in_the_gradient():
    x, w = RANDOM.normal(size=(1, 1, 5)), Tensor(RANDOM.normal(size=(1, 1, 2)))
    x[0, 0, 2] = np.nan
    used = Tensor(np.array([[[True, True, False, True]]]))  # of the two windows that read it, one is used
    assert np.isnan(
        ms.grad(lambda w: ops.where(used, ops.conv1d(Tensor(x), w), 0.0).sum())(w).asnumpy()
    ).any()


# --- masks that are constants of a compiled program ----------------------------------------------------


def _matrices(w: Tensor, x: Tensor) -> Tensor:
    return ops.matmul(w, w.T) + x[:, :, None] * x[:, None, :]


KEPT = np.array([True, False, True, True])
DISCARDING = {
    "softmax": lambda w, x: ops.softmax(x @ w, -1) ** 2,
    "sort": lambda w, x: ops.sort(x @ w)[0] ** 2,
    "var": lambda w, x: (x @ w).var(1, keepdims=True),
    "cumprod": lambda w, x: ops.cumprod(x @ w, 1),
    "cdist": lambda w, x: ops.cdist(x @ w, w),
    "inverse": lambda w, x: ops.inverse(_matrices(w, x)).sum(-1),
    "pinv": lambda w, x: ops.pinv(_matrices(w, x)).sum(-1),
    "eigvalsh": lambda w, x: ops.eigvalsh(_matrices(w, x)) ** 2,
    "eigh": lambda w, x: ops.eigh(_matrices(w, x))[0] ** 2,
}


@pytest.mark.parametrize("name", DISCARDING)
def test_a_constant_mask_discards_a_sample_in_every_mode(name: str) -> None:
    """where(mask, f(x, w), 0) with a mask that is no argument: its cotangent is a constant of the program."""
    rng = np.random.default_rng(0)
    w, x = Tensor(rng.normal(size=(3, 3)) + 2 * np.eye(3)), rng.normal(size=(4, 3))
    mask = Tensor(KEPT[:, None])

    def gradient(x: np.ndarray) -> Any:
        samples = Tensor(x)
        return lambda w: ms.grad(lambda w: ops.where(mask, DISCARDING[name](w, samples), 0.0).sum())(w)

    with_nan = np.where(KEPT[:, None], x, np.nan)
    expected = gradient(x)(w).asnumpy()
    assert np.abs(expected).max() > 1e-3
    for way in (lambda function: function, ms.jit):
        np.testing.assert_allclose(way(gradient(with_nan))(w).asnumpy(), expected, rtol=1e-9)


# --- products with masks, which do not discard -----------------------------------------------------------

MASKS = {
    "float": lambda m: m,
    "comparison": lambda m: m > 0,
    "converted": lambda m: (m > 0).astype(ms.float32),
    "int": lambda m: (m > 0).astype(ms.int32),
    "one_hot": lambda m: ops.one_hot(m.astype(ms.int32), 2, Tensor(1.0), Tensor(0.0))[:, 1],
    "both": lambda m: ops.logical_and(m > 0, m < 2),
}
MASKED_SUMS = {
    "sum": lambda m, x: (m * x).sum(),
    "mean": lambda m, x: (m * x).sum() / m.sum(),
    "square": lambda m, x: (m * ops.square(x)).mean(),
}


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("name", MASKED_SUMS)
def test_a_product_with_a_mask_has_the_same_value_in_every_mode(name, mask, bad):
    """0 times NaN is NaN: XLA would make a selection of a product with a converted Boolean."""
    m, x = Tensor([1.0, 0.0, 1.0]), Tensor([1.0, bad, 1.5])
    f = lambda m, x: MASKED_SUMS[name](MASKS[mask](m).astype(ms.float32), x)
    values = [f(m, x), ms.jit(f)(m, x), ms.value_and_grad(f, 1)(m, x)[0], ms.jvp(f, (m, x), (m, m))[0]]
    values += [ms.jit(ms.value_and_grad(f, 1))(m, x)[0], ms.jit(lambda m: f(m, x))(m)]
    assert np.isnan([value.item() for value in values]).all()


# --- selections after loops and branches ----------------------------------------------------------------


def _while_loop(w: Tensor, x: Tensor, count: Tensor) -> Tensor:
    h, k = ops.zeros_like(x), 0 * count
    while k < count:
        z = h @ w + x
        h = ops.sigmoid(z) * h + ops.tanh(z)
        k = k + 1
    return h


def _for_loop(w: Tensor, x: Tensor, count: Tensor) -> Tensor:
    h = ops.zeros_like(x)
    for _ in range(9):
        z = h @ w + x
        h = ops.sigmoid(z) * h + ops.tanh(z)
    return h


def _branch(w: Tensor, x: Tensor, count: Tensor) -> Tensor:
    if count > 2:
        return ops.tanh(x @ w) @ w
    return ops.sigmoid(x @ w)


def _branch_in_a_loop(w: Tensor, x: Tensor, count: Tensor) -> Tensor:
    h, k = ops.zeros_like(x), 0 * count
    while k < count:
        if k > 1:
            z = h @ w + x
            h = ops.sigmoid(z) * h + ops.tanh(z)
        k = k + 1
    return h


CONTROL = {f.__name__.strip("_"): f for f in (_while_loop, _for_loop, _branch, _branch_in_a_loop)}
ORDERS = {
    "grad": ms.grad,
    "grad_of_grad": lambda f: ms.grad(lambda w, x, count: ops.square(ms.grad(f)(w, x, count)).sum()),
    "jvp_of_grad": lambda f: lambda w, x, count: ms.jvp(lambda w: ms.grad(f)(w, x, count), w, 2 * w)[1],
}


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("of", [by_where, by_slice])
@pytest.mark.parametrize("name", CONTROL)
def test_a_selection_discards_a_sample_after_loops_and_branches(name, of, order, wrap):
    x, w, count = matrix(3, 3), Tensor(matrix(3, 3)), Tensor(5)

    def loss(w: Tensor, x: Tensor, count: Tensor) -> Tensor:
        return of(CONTROL[name](w, x, count)).sum()

    derive = wrap(lambda w, x, count: ORDERS[order](loss)(w, x, count))
    right = ORDERS[order](loss)(w, spoiled(x, 1.0), count).asnumpy()
    np.testing.assert_allclose(derive(w, spoiled(x, np.nan), count).asnumpy(), right, rtol=1e-9)


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("cell", [nn.RNN, nn.GRU, nn.LSTM])
def test_where_discards_a_sequence_after_a_bidirectional_layer(cell, wrap):
    ms.set_seed(0)
    net = cell(3, 4, bidirectional=True, batch_first=True)
    x = np.random.default_rng(0).normal(size=(3, 9, 3)).astype(np.float32)

    def loss(x: Tensor) -> Tensor:
        return ops.where(Tensor(GOOD.reshape(3, 1, 1)), ops.square(net(x)[0]), 0.0).sum()

    found = wrap(ms.grad(loss, None, net.trainable_params()))(spoiled(x, np.nan))
    right = ms.grad(lambda x: ops.square(net(x)[0]).sum(), None, net.trainable_params())(Tensor(x[GOOD]))
    for of_weight, expected in zip(found, right, strict=True):
        np.testing.assert_allclose(of_weight.asnumpy(), expected.asnumpy(), rtol=2e-4, atol=1e-5)


# --- values that the path which is taken does not use ----------------------------------------------------


def _unused_after_return(w: Tensor, x: Tensor) -> Tensor:
    r = w * x
    if ops.isfinite(r):
        return r * w
    return w * 0 + 1.0


def _unused_in_nested_branches(w: Tensor, x: Tensor) -> Tensor:
    r, s = w * x, ops.exp(w) * x
    if w < 5:
        if ops.isfinite(r):
            return r * s
        elif w > 0:
            return w * w
    return r + s


def _unused_batch(w: Tensor, x: Tensor) -> Tensor:
    r = w * ops.stack([x, w, 2 * x])
    if ops.isnan(r).any():
        return w**3
    return (r * r).sum()


def _unused_in_a_while_loop(w: Tensor, x: Tensor) -> Tensor:
    k, s, r = 0 * w, w * w, w * x
    while k < 3:
        if ops.isfinite(x):
            s = s + r * w
        k = k + 1
    return s


def _unused_in_a_scan(w: Tensor, x: Tensor) -> Tensor:
    r, s = w * ops.stack([x, w, 2 * x]), w * w
    for i in range(9):
        if ops.isfinite(r[i % 3]):
            s = s + r[i % 3] * w
    return s


def _unused_in_a_loop_without_iterations(w: Tensor, x: Tensor) -> Tensor:
    k, s, r = 0 * w, w * w, w * x
    while ops.logical_and(k < 3, ops.isfinite(x)):
        s = s + r * w
        k = k + 1
    return s


def _overwritten_in_a_loop(w: Tensor, x: Tensor) -> Tensor:
    k, s = 0 * w, w * x
    while k < 3:
        if ops.isnan(s):
            s = w * w
        k = k + 1
    return s


def _a_weight_below_a_product(w: Tensor, x: Tensor) -> Tensor:
    net = ops.matmul(ops.stack([x, w]).reshape(1, 2), ops.stack([w, w * w]).reshape(2, 1)).sum()
    if ops.isnan(net):
        return w * w
    return net


UNUSED = {
    f.__name__.strip("_"): f
    for f in (
        _unused_after_return,
        _unused_in_nested_branches,
        _unused_batch,
        _unused_in_a_while_loop,
        _unused_in_a_scan,
        _unused_in_a_loop_without_iterations,
        _overwritten_in_a_loop,
        _a_weight_below_a_product,
    )
}
ALONG = {
    "grad": ms.grad,
    "grad_of_grad": lambda f: ms.grad(lambda w, x: ms.grad(f)(w, x)),
    "jvp_of_grad": lambda f: lambda w, x: ms.jvp(lambda w: ms.grad(f)(w, x), w, Tensor(1.0, w.dtype))[1],
    "grad_of_jvp": lambda f: (
        lambda w, x: ms.grad(lambda w: ms.jvp(lambda w: f(w, x), w, Tensor(1.0, w.dtype))[1])(w)
    ),
    "series_of_grad": lambda f: lambda w, x: ms.derivative(lambda w: ms.grad(f)(w, x), w, 1)[1],
}


@pytest.mark.parametrize("order", ALONG)
@pytest.mark.parametrize("name", UNUSED)
def test_a_value_that_the_path_does_not_use_leaves_compiled_derivatives_finite(name, order):
    derive = ALONG[order](UNUSED[name])
    w, good = Tensor(0.5, ms.float64), Tensor(2.0, ms.float64)
    for x in (good, Tensor(np.nan, ms.float64)):
        expected = derive(w, x).asnumpy()
        assert np.isfinite(expected)
        np.testing.assert_allclose(ms.jit(derive)(w, x).asnumpy(), expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            ALONG[order](ms.jit(UNUSED[name]))(w, x).asnumpy(), expected, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("order", ["grad", "grad_of_grad"])
@pytest.mark.parametrize("name", UNUSED)
def test_vmap_leaves_derivatives_finite_that_an_element_does_not_use(name, order, wrap):
    derive = ALONG[order](UNUSED[name])
    w, x = Tensor(np.array([0.5, 0.7, 0.9])), Tensor(np.array([2.0, np.nan, 3.0]))
    expected = [derive(a, b).asnumpy() for a, b in zip(w, x, strict=True)]
    np.testing.assert_allclose(wrap(ms.vmap(derive))(w, x).asnumpy(), expected, rtol=1e-9, atol=1e-12)
    of_all = ALONG[order](lambda w, x: ms.vmap(UNUSED[name])(w, x).sum())
    if order == "grad":
        np.testing.assert_allclose(wrap(of_all)(w, x).asnumpy(), expected, rtol=1e-9, atol=1e-12)


def _used_until_the_break(w: Tensor, x: Tensor, count: Tensor) -> Tensor:
    r, s = w * x, w * w
    for i in range(4):
        if i >= count:
            break
        s = s + r
    return s


def _used_in_nested_branches(w: Tensor, x: Tensor, count: Tensor) -> Tensor:
    r = w * x
    if count > 0:
        s = r + w if count > 1 else w * w
        if count > 2:
            return s * w
        return s + w
    return w


def _used_in_a_loop(w: Tensor, x: Tensor, count: Tensor) -> Tensor:
    r, s, k = w * x, w * w, 0 * count
    while k < count:
        if k > 1:
            s = s + r
        k = k + 1
    return s


@pytest.mark.parametrize("order", ["grad", "jvp_of_grad"])
@pytest.mark.parametrize(
    ("function", "unused"), [(_used_until_the_break, 0), (_used_in_nested_branches, 1), (_used_in_a_loop, 2)]
)
def test_a_value_that_the_path_uses_keeps_its_infinity_in_the_gradient(function, unused, order):
    w, x = Tensor(0.5, ms.float64), Tensor(np.nan, ms.float64)
    for count in range(5):
        derive = ALONG[order](functools.partial(function, count=Tensor(count)))
        expected = derive(w, x).asnumpy()
        if order == "grad":
            assert np.isnan(expected) == (count > unused)
        np.testing.assert_allclose(ms.jit(derive)(w, x).asnumpy(), expected, rtol=1e-9)
        counted = ms.jit(lambda w, x, count: ALONG[order](lambda w, x: function(w, x, count))(w, x))
        np.testing.assert_allclose(counted(w, x, Tensor(count)).asnumpy(), expected, rtol=1e-9)


@pytest.mark.parametrize("wrap", [lambda d: d, ms.jit], ids=["eager", "compiled"])
def test_a_square_of_a_square_root_in_a_branch_is_no_exact_zero(wrap):
    """The cotangent 2 √w is zero at 0 but moves: its product with the infinite slope of √w is not known."""

    def f(w: Tensor) -> Tensor:
        d = ops.sqrt(w)
        if w < 5:
            if w < 4:
                return d * d
            return w
        return w

    found = wrap(ms.grad(f))(Tensor(0.0)).asnumpy()
    assert np.isnan(found) or found == 1.0
