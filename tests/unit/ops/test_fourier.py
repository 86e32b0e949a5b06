"""Discrete Fourier transforms agree with NumPy's, and are differentiated."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

RANDOM = np.random.default_rng(3)
REAL = RANDOM.normal(size=(3, 4, 5))
COMPLEX = REAL + 1j * RANDOM.normal(size=(3, 4, 5))


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft"])
def test_transforms_are_numpys(kind, norm):
    x = REAL if kind == "rfft" else COMPLEX
    one, two, several = (getattr(np.fft, kind + suffix) for suffix in ("", "2", "n"))
    mine, mine2, mine_n = (getattr(ops, kind + suffix) for suffix in ("", "2", "n"))
    cases = [(mine(Tensor(x), n, dim, norm), one(x, n, dim, norm)) for n, dim in ((None, -1), (3, 0), (7, 1))]
    cases += [
        (mine2(Tensor(x), None, (0, 2), norm), two(x, None, (0, 2), norm)),
        (mine2(Tensor(x), (2, 6), norm=norm), two(x, (2, 6), norm=norm)),
        (mine_n(Tensor(x), norm=norm), several(x, norm=norm)),
        (mine_n(Tensor(x), (4, 4), (0, 1), norm), several(x, (4, 4), (0, 1), norm)),
    ]
    for found, expected in cases:
        assert found.shape == expected.shape
        assert_close(found, expected, kind="program")


def test_types_and_frequencies():
    assert ops.fft(Tensor([1, 2])).dtype is ops.rfft(Tensor([1.0], ms.float16)).dtype is ms.complex64
    assert ops.ifft(Tensor(REAL)).dtype is ms.complex128
    assert ops.irfft(Tensor([1 + 0j, 2 + 0j], ms.complex64)).dtype is ms.float32
    for n in (4, 5):
        assert_close(ops.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5))
        assert_close(ops.rfftfreq(n, 0.5), np.fft.rfftfreq(n, 0.5))
    for dim in (None, 1, (0, 2)):
        np.testing.assert_array_equal(ops.fftshift(Tensor(REAL), dim).asnumpy(), np.fft.fftshift(REAL, dim))
        np.testing.assert_array_equal(ops.ifftshift(Tensor(REAL), dim).asnumpy(), np.fft.ifftshift(REAL, dim))


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: ops.rfft(Tensor(COMPLEX)), TypeError, "'RFFT', the input must be real"),
        (lambda: ops.fft(Tensor(REAL), 0), ValueError, "'n' must be at least 1"),
        (lambda: ops.fft2(Tensor(REAL), (3,)), ValueError, "a length of at least 1 for each axis"),
        (lambda: ops.fft(Tensor(REAL), dim=3), ValueError, "'dim' must be in range"),
        (lambda: ops.ifftn(Tensor(REAL), norm="all"), ValueError, "'norm' must be one of backward"),
        (lambda: ops.irfft(Tensor(COMPLEX), norm="all"), ValueError, "'norm' must be one of backward"),
        (lambda: ops.irfft(Tensor([1.0])), ValueError, "n=1"),
    ],
)
def test_mistakes_are_named(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


def spectral(u):
    """A loss of a spectral method: the energy of a filtered field and of its derivative."""
    frequencies = ops.fftfreq(u.shape[-1], dtype=ms.float64)
    slope = ops.ifft(ops.fft(u) * ops.complex(ops.zeros_like(frequencies), 2 * np.pi * frequencies)).real()
    half = ops.rfft2(u * u, norm="ortho")[:, :2]
    smooth = ops.irfft2(half, (4, 6))
    return (slope**3).sum() + (smooth**4).sum()


def test_derivatives_eager_and_compiled():
    u = Tensor(REAL[0])
    value, gradient = spectral(u), ops.grad(spectral)(u)
    direction = Tensor(REAL[1])

    def bent(u):
        return (ops.grad(spectral)(u) * direction).sum()

    second = ops.grad(bent)(u)
    for k in ((0, 0), (2, 3)):
        for f, actual in ((spectral, gradient), (bent, second)):
            ends = []
            for step in (1e-6, -1e-6):
                moved = REAL[0].copy()
                moved[k] += step
                ends.append(f(Tensor(moved)).item())
            assert_close(actual.asnumpy()[k], (ends[0] - ends[1]) / 2e-6, kind="difference")
    compiled = ms.jit(lambda u: (spectral(u), ops.grad(spectral)(u), ops.grad(bent)(u)))(u)
    for actual, expected in zip(compiled, (value, gradient, second), strict=True):
        assert_close(actual, expected, kind="program")
