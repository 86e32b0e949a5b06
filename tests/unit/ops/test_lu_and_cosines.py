"""LU factors, the assignment problem, cosine transforms and Hermitian spectra, against SciPy; in both modes."""

import numpy as np
import pytest
import scipy

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.scipy import fft, linalg
from mindgrad.scipy.ops import LU, LinearSumAssignment
from mindgrad.scipy.optimize import linear_sum_assignment
from tests.tolerances import assert_close

RANDOM = np.random.default_rng(5)


def in_both_modes(function, *arguments):
    """What the function gives eagerly; compiled it gives the same."""
    eager = function(*arguments)
    compiled = ms.jit(function)(*arguments)
    pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (eager, compiled)), strict=True)
    for a, b in pairs:
        assert_close(a, b, kind="ill-conditioned")
    return eager


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3)])
def test_lu_is_that_of_scipy(shape):
    a = RANDOM.normal(size=shape)
    for found, wanted in zip(in_both_modes(linalg.lu, Tensor(a)), scipy.linalg.lu(a), strict=True):
        assert_close(found, wanted, kind="ill-conditioned")
    p, low, up = ops.lu_unpack(LU()(Tensor(a))[0], LU()(Tensor(a))[1] + 1)
    assert_close(p @ low @ up, a, kind="ill-conditioned")


@pytest.mark.parametrize("trans", [0, 1, 2])
def test_solutions_by_factors(trans):
    a, b = RANDOM.normal(size=(4, 4)), RANDOM.normal(size=(4, 2))
    solve = lambda a, b: linalg.lu_solve(linalg.lu_factor(a), b, trans)
    found = in_both_modes(solve, Tensor(a), Tensor(b))
    assert_close(found, scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b, trans), kind="ill-conditioned")
    gradient = ms.grad(lambda a: ops.sin(solve(a, Tensor(b))).sum())(Tensor(a))
    whole = Tensor(a.T if trans else a)
    expected = ms.grad(lambda a: ops.sin(ops.solve(a, Tensor(b))).sum())(whole).asnumpy()
    assert_close(gradient, expected.T if trans else expected, kind="ill-conditioned")


def test_pivots_of_ops_count_from_one():
    factors, pivots = scipy.linalg.lu_factor(RANDOM.normal(size=(3, 3)))
    b = RANDOM.normal(size=(3, 1))
    found = ops.lu_solve(Tensor(b), Tensor(factors), Tensor(pivots + 1))
    assert_close(found, scipy.linalg.lu_solve((factors, pivots), b), kind="ill-conditioned")


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3)])
def test_assignments_are_those_of_scipy(shape, maximize):
    cost = RANDOM.normal(size=shape)
    found = in_both_modes(lambda x: linear_sum_assignment(x, maximize), Tensor(cost))
    for a, b in zip(found, scipy.optimize.linear_sum_assignment(cost, maximize), strict=True):
        np.testing.assert_array_equal(a.asnumpy(), b)


def test_a_limit_leaves_rows_without_a_column():
    cost = RANDOM.normal(size=(4, 3))
    rows, columns = in_both_modes(lambda x, n: LinearSumAssignment()(x, n, False), Tensor(cost), Tensor(2))
    wanted = scipy.optimize.linear_sum_assignment(cost[:, :2])
    np.testing.assert_array_equal(rows.asnumpy(), [*wanted[0], -1])
    np.testing.assert_array_equal(columns.asnumpy(), [*wanted[1], -1])


@pytest.mark.parametrize("name", ["dct", "idct", "dctn", "idctn"])
@pytest.mark.parametrize("size", [1, 2, 5, 6])
def test_cosines_are_those_of_scipy(name, size):
    x = RANDOM.normal(size=(3, size))
    found = in_both_modes(getattr(fft, name), Tensor(x))
    assert_close(found, getattr(scipy.fft, name)(x, norm="ortho"), kind="ill-conditioned")


def test_cosines_of_other_lengths_and_their_gradient():
    x = RANDOM.normal(size=(2, 5))
    for length in (3, 8):
        found = fft.dct(Tensor(x), n=length)
        assert_close(found, scipy.fft.dct(x, n=length, norm="ortho"), kind="ill-conditioned")
    gradient = ms.grad(lambda x: (fft.dct(x) * Tensor(x)).sum())(Tensor(x)).asnumpy()
    wanted = scipy.fft.dct(x, norm="ortho") + scipy.fft.idct(x, norm="ortho")
    assert_close(gradient, wanted, kind="ill-conditioned")


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("suffix", ["", "2", "n"])
def test_hermitian_spectra(norm, suffix):
    x = RANDOM.normal(size=(3, 4)) + 1j * RANDOM.normal(size=(3, 4))
    actual = in_both_modes(lambda x: getattr(ops, f"hfft{suffix}")(x, norm=norm), Tensor(x))
    assert_close(actual, getattr(scipy.fft, f"hfft{suffix}")(x, norm=norm), kind="ill-conditioned")
    actual = getattr(ops, f"ihfft{suffix}")(Tensor(x.real), norm=norm)
    wanted = getattr(scipy.fft, f"ihfft{suffix}")(x.real, norm=norm)
    assert_close(actual, wanted, kind="ill-conditioned")


def test_what_is_refused():
    with pytest.raises(ValueError, match="must be 2"):
        fft.dct(Tensor([1.0]), type=3)
    with pytest.raises(ValueError, match="'trans' must be"):
        linalg.lu_solve(linalg.lu_factor(Tensor(np.eye(2))), Tensor([1.0, 2.0]), 3)
    with pytest.raises(TypeError, match="'turbo'"):
        linalg.eigh(Tensor(np.eye(2)), turbo=None)
    with pytest.raises(ValueError, match="must be square"):
        linalg.eigh(Tensor(np.ones((2, 3, 3))))


class TestBessel:
    """Bessel functions of the second kind."""

    @pytest.mark.parametrize("name", ["y0", "y1", "k0", "k1", "k0e", "k1e"])
    def test_values_are_those_of_scipy(self, name):
        x = np.concatenate([np.logspace(-6, 1.39, 40), np.linspace(25.5, 90, 9)])
        found = in_both_modes(getattr(ops, f"bessel_{name}"), Tensor(x))
        assert_close(found, getattr(scipy.special, name)(x), kind="law", each=True)

    def test_edges(self):
        x = Tensor([0.0, -1.0, np.inf])
        np.testing.assert_array_equal(ops.bessel_y0(x).asnumpy(), [-np.inf, np.nan, 0])
        np.testing.assert_array_equal(ops.bessel_k1e(x).asnumpy(), [np.inf, np.nan, 0])

    def test_second_derivatives(self):
        x = Tensor(np.array([0.7, 3.0, 30.0]))
        second = ms.grad(lambda x: ms.grad(lambda x: ops.bessel_k0(x).sum())(x).sum())(x).asnumpy()
        assert_close(second, scipy.special.kvp(0, x.asnumpy(), 2), kind="ill-conditioned", each=True)


class TestNames:
    """Further names of MindSpore's."""

    def test_a_description_of_an_input_has_no_values(self):
        class Double(nn.Cell):
            def construct(self, x):
                return x * 2

        net, described = Double(), Tensor(shape=[None, 3], dtype=ms.float32)
        net.set_inputs(described)
        assert described.shape == (-1, 3)
        assert Tensor(dtype=ms.int32).shape == (-2,)
        assert net(ops.ones((2, 3))).shape == (2, 3)
        with pytest.raises(ValueError, match="no values"):
            described + 1

    def test_signals_of_given_sizes(self):
        x = Tensor(RANDOM.normal(size=(2, 5)))
        spectrum = ops.FFTWithSize(2, False, True)(x)
        back = ops.FFTWithSize(2, True, True, signal_sizes=(2, 5))(spectrum)
        assert_close(back, x, kind="ill-conditioned")

    def test_candidates(self):
        sampled, true, expected = ops.UniformCandidateSampler(1, 3, True, 4, 0, True)(Tensor([[2], [2]]))
        assert sorted(sampled.asnumpy()) == [0, 1, 3]
        assert true.shape == (2, 1)
        assert expected.shape == (3,)
        with pytest.raises(ValueError, match="distinct"):
            ops.uniform_candidate_sampler(Tensor([[1]]), 1, 7, True, 5)

    def test_next_numbers(self):
        x, y = Tensor([1.0, 0.0, 3.0]), Tensor([2.0, -1.0, 3.0])
        found = in_both_modes(ops.nextafter, x, y).asnumpy()
        np.testing.assert_array_equal(found, np.nextafter(x.asnumpy(), y.asnumpy()))

    def test_a_bprop_of_all_arguments(self):
        class Own(nn.Cell):
            def construct(self, x, y):
                return x + y

            def bprop(self, *args):
                return Tensor(np.full((2, 3), 2.0, np.float32)), args[1]

        x, y = ops.ones((3,)), ops.ones((2, 3))
        np.testing.assert_array_equal(ms.grad(Own(), (0, 1))(x, y)[0].asnumpy(), [4, 4, 4])
