"""Eigenvalues and vectors of general matrices: values, two derivatives, both modes, what has none."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close
from tests.unit.derivative_checks import check

A = np.array([[1.0, -2.0, 0.3], [1.5, 0.5, -0.4], [0.2, 0.7, 3.0]])  # a conjugate pair and a real one
B = np.stack([A, np.array([[2.0, 1.0, 0.0], [0.5, -1.0, 0.3], [0.1, 0.2, 5.0]])])


def normalized(a):
    """NumPy's, with the first large component of each vector positive."""
    values, v = np.linalg.eig(a)
    v = v.astype(complex)
    for k in np.ndindex(*v.shape[:-2], v.shape[-1]):
        column = v[(*k[:-1], slice(None), k[-1])]
        pivot = column[np.argmax(np.abs(column) >= 0.37 * np.abs(column).max())]
        column *= np.conj(pivot) / np.abs(pivot)
    return values, v


@pytest.mark.parametrize("a", [A, B], ids=["matrix", "batch"])
def test_values_and_derivatives(a):
    for part, of in ((ops.real, np.real), (ops.imag, np.imag)):
        check(lambda x, part=part: part(ops.eigvals(x)), lambda x, of=of: of(np.linalg.eigvals(x)), a)
        check(lambda x, part=part: part(ops.eig(x)[0]), lambda x, of=of: of(normalized(x)[0]), a)
        check(lambda x, part=part: part(ops.eig(x)[1]), lambda x, of=of: of(normalized(x)[1]), a)


def test_a_function_of_a_matrix_through_its_eigenvalues():
    # the derivative of trace f(A) is f'(A)ᵀ
    slope = ms.grad(lambda a: ops.real(ops.exp(ops.eigvals(a))).sum())
    values, v = np.linalg.eig(A)
    expected = ((v * np.exp(values)) @ np.linalg.inv(v)).real.T
    assert_close(slope(Tensor(A)), expected, kind="ill-conditioned")


def test_both_modes_agree():
    def f(a):
        values, v = ops.eig(a)
        return (ops.real(values) ** 2).sum() + (ops.imag(v) * Tensor(A)).sum() + (ops.real(v) ** 3).sum()

    second = ms.value_and_grad(lambda a: (ms.grad(f)(a) * Tensor(A)).sum())
    eager, compiled = second(Tensor(A)), ms.jit(second)(Tensor(A))
    for one, two in zip(eager, compiled, strict=True):
        assert_close(one, two, kind="ill-conditioned")


def test_complex_matrices():
    a = A + 1j * np.roll(A, 1, 0)
    values, v = ops.eig(Tensor(a))
    assert_close(a @ v.asnumpy(), v.asnumpy() * values.asnumpy(), kind="ill-conditioned")
    assert_close(np.linalg.norm(v.asnumpy(), axis=0), 1, kind="ill-conditioned")
    assert Tensor(a.astype(np.complex64)).eigvals().dtype == ms.complex64


def test_equal_eigenvalues():
    a = Tensor(np.diag([1.0, 1.0, 2.0]))
    slope = ms.grad(lambda a: ops.real(ops.eig(a)[1]).sum())(a).asnumpy()
    assert np.isnan(slope).any()
    np.testing.assert_array_equal(ms.grad(lambda a: ops.real(ops.eig(a)[0]).sum())(a).asnumpy(), np.eye(3))


def test_forms_and_errors():
    assert ops.Eig()(Tensor(A))[1] is None
    assert ops.Eig(compute_v=True)(Tensor(A))[1].shape == (3, 3)
    assert ops.eig(Tensor(A.astype(np.float32)))[0].dtype == ms.complex64
    assert np.isnan(ops.eigvals(Tensor(np.full((2, 2), np.nan))).asnumpy()).all()
    with pytest.raises(ValueError, match="square"):
        ops.eig(Tensor([[1.0, 2.0]]))
    with pytest.raises(TypeError, match="Float16"):
        ops.eigvals(Tensor(A, ms.float16))
