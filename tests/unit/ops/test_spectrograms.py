"""The short-time Fourier transform against NumPy; and small functions beside it: values, two derivatives."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, mint, ops
from mindgrad import numpy as mnp
from tests.tolerances import assert_close
from tests.unit.derivative_checks import check

RNG = np.random.default_rng(6)
X = RNG.normal(size=(2, 11))
W = RNG.uniform(0.5, 1.5, size=6)


def pieces(x, n, hop, window, center=True, normalized=False, half=True):
    if center:
        x = np.pad(x, [(0, 0), (n // 2, n // 2)], mode="reflect")
    weights = np.zeros(n)
    before = (n - len(window)) // 2
    weights[before : before + len(window)] = window
    count = (x.shape[1] - n) // hop + 1
    framed = np.stack([x[:, m * hop : m * hop + n] * weights for m in range(count)], 1)
    found = (np.fft.rfft if half else np.fft.fft)(framed) / (np.sqrt(n) if normalized else 1)
    found = found.swapaxes(1, 2)
    return np.stack([found.real, found.imag], -1)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"n_fft": 6, "hop_length": 2, "window": W}, (6, 2, W)),
        ({"n_fft": 8, "win_length": 6, "window": W, "normalized": True}, (8, 2, W, True, True)),
        (
            {"n_fft": 5, "hop_length": 3, "center": False, "onesided": False},
            (5, 3, np.ones(5), False, False, False),
        ),
        ({"n_fft": 4, "win_length": 2}, (4, 1, np.ones(2))),
    ],
)
def test_stft(given, wanted):
    given = {k: Tensor(v) if isinstance(v, np.ndarray) else v for k, v in given.items()}
    check(lambda x: ops.stft(x, **given), lambda x: pieces(x, *wanted), X)


def test_stft_is_differentiated_in_its_window_and_compiled():
    power = lambda x, w: (ops.stft(x, 6, 2, window=w, return_complex=False) ** 2).sum()
    reference = lambda x, w: (pieces(x, 6, 2, w) ** 2).sum()
    check(power, reference, X, W)
    eager = ms.grad(power, (0, 1))(Tensor(X), Tensor(W))
    compiled = ms.jit(ms.grad(power, (0, 1)))(Tensor(X), Tensor(W))
    for one, two in zip(eager, compiled, strict=True):
        assert_close(one, two, kind="program")
    whole = ops.stft(Tensor(X[0]), 4, return_complex=True)
    assert (whole.dtype, whole.shape) == (ms.complex128, (3, 12))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ops.stft(Tensor(X), 20, center=False), "at least n_fft = 20 elements, but it has 11"),
        (lambda: ops.stft(Tensor(X), 4, win_length=5), "at most n_fft = 4"),
        (lambda: ops.stft(Tensor(X), 4, window=Tensor([1.0])), r"must have the shape \(4,\)"),
        (lambda: ops.stft(Tensor(X), 4, pad_mode="WRAP"), "must be one of REFLECT"),
        (lambda: ops.swiglu(Tensor([1.0])), "must be even"),
        (lambda: ops.rms_norm(Tensor(X), Tensor([1.0])), "must equal the sizes of the last axes"),
        (lambda: ops.embedding(Tensor([1]), Tensor(X), max_norm=1.0), "not supported"),
    ],
)
def test_errors(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_small_functions():
    g = RNG.normal(size=11)
    rms = lambda x: np.sqrt((x * x).mean(1, keepdims=True) + 1e-6)
    check(lambda x, g: ops.rms_norm(x, g)[0], lambda x, g: x / rms(x) * g, X, g)
    check(lambda x: ops.rms_norm(x, Tensor(g))[1], lambda x: 1 / rms(x), X)
    halves = lambda x: (x[:, :5], x[:, 5:10])
    silu = lambda a: a / (1 + np.exp(-a))
    check(lambda x: ops.swiglu(x[:, :10]), lambda x: silu(halves(x)[0]) * halves(x)[1], X)
    places = np.array([[1, 0], [1, 1]])
    check(lambda w: ops.embedding(Tensor(places), w), lambda w: w[places], X)
    slope = ms.grad(lambda w: mint.nn.functional.embedding(Tensor(places), w, 1).sum())(Tensor(X)).asnumpy()
    np.testing.assert_array_equal(slope, [[1] * 11, [0] * 11])
    np.testing.assert_array_equal(ops.row_stack((Tensor(X), Tensor(X))).asnumpy(), np.vstack((X, X)))
    np.testing.assert_array_equal(ops.fills(Tensor(X), 3).asnumpy(), np.full_like(X, 3))


def test_sets_of_elements():
    a, b = np.array([5, 1, 3, 1]), np.array([3, 5, 3, 7])
    np.testing.assert_array_equal(mnp.intersect1d(a, b).asnumpy(), np.intersect1d(a, b))
    for one, two in zip(
        mnp.intersect1d(a, b, False, True), np.intersect1d(a, b, return_indices=True), strict=True
    ):
        np.testing.assert_array_equal(one.asnumpy(), two)
    np.testing.assert_array_equal(mnp.setdiff1d(a, b).asnumpy(), np.setdiff1d(a, b))
    np.testing.assert_array_equal(
        mnp.setdiff1d([5, 1, 3], b, True).asnumpy(), np.setdiff1d([5, 1, 3], b, True)
    )
    np.testing.assert_array_equal(mnp.argwhere(a > 1).asnumpy(), np.argwhere(a > 1))
    np.testing.assert_array_equal(mnp.bitwise_not(a).asnumpy(), ~a)
    with pytest.raises(RuntimeError, match="For 'setdiff1d', the shape of the result depends on values"):
        ms.jit(lambda x: mnp.setdiff1d(x, [1]))(Tensor(a))
