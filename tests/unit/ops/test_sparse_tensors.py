"""Sparse tensors: places and values, conversions, products, and derivatives through the values."""

import numpy as np
import pytest
from scipy import sparse

import mindgrad as ms
from mindgrad import COOTensor, CSRTensor, RowTensor, Tensor
from tests.tolerances import assert_close

both_modes = pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
MATRIX = np.array([[0.0, 1.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 4.0, 0.0]], np.float32)
PLACES = Tensor(np.argwhere(MATRIX).astype(np.int32))
VALUES = Tensor(MATRIX[MATRIX != 0])
STARTS, COLUMNS = Tensor([0, 2, 2, 4], ms.int32), Tensor([1, 3, 0, 2], ms.int32)


def coo(values=VALUES):
    return COOTensor(PLACES, values, MATRIX.shape)


def csr(values=VALUES):
    return CSRTensor(STARTS, COLUMNS, values, MATRIX.shape)


def same(ours, expected):
    assert_close(ours, expected)


@both_modes
def test_conversions(run):
    same(run(lambda v: coo(v).to_dense())(VALUES), MATRIX)
    same(run(lambda v: csr(v).to_dense())(VALUES), MATRIX)
    same(run(lambda v: coo(v).to_csr().to_dense())(VALUES), MATRIX)
    same(run(lambda v: csr(v).to_coo().to_dense())(VALUES), MATRIX)
    shuffled = COOTensor(PLACES[::-1], VALUES[::-1], MATRIX.shape).to_csr()
    assert shuffled.indptr.asnumpy().tolist() == [0, 2, 2, 4]
    assert shuffled.indptr.dtype is ms.int32
    same(shuffled.indices, COLUMNS.asnumpy())
    same(shuffled.values, VALUES.asnumpy())


@both_modes
def test_they_can_be_arguments_and_results_of_functions(run):
    doubled = run(lambda x: x * 2.0)(csr())
    assert isinstance(doubled, CSRTensor)
    assert doubled.shape == (3, 4)
    same(doubled.to_dense(), 2 * MATRIX)
    same(run(lambda x: x.to_dense())(coo()), MATRIX)


@both_modes
def test_products_and_sums(run):
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    same(run(lambda v, x: csr(v).mm(x))(VALUES, Tensor(x)), MATRIX @ x)
    same(run(lambda v, x: csr(v).mv(x))(VALUES, Tensor(x[:, :1])), MATRIX @ x[:, :1])
    same(csr().sum(1), MATRIX.sum(1, keepdims=True))
    same(csr().sum(0), MATRIX.sum(0, keepdims=True))
    factor = np.arange(12, dtype=np.float32).reshape(3, 4)
    for kind in (coo, csr):
        same((kind() * Tensor(factor)).to_dense(), MATRIX * factor)
        same((kind() / 2.0).to_dense(), MATRIX / 2)
        same((-kind()).abs().to_dense(), MATRIX)
        assert kind().astype(ms.float16).dtype is ms.float16
        assert (kind().size, kind().ndim, kind().itemsize) == (4, 2, 4)
    same(coo() + Tensor(factor), MATRIX + factor)
    same((coo() + coo()).to_dense(), 2 * MATRIX)
    assert coo().add(coo(), 4.0).size == 3
    same((csr() - csr()).to_dense(), 0 * MATRIX)
    same(csr().add(csr(), 2.0, 3.0).to_dense(), 5 * MATRIX)


def test_places_that_are_stored_twice_add_up():
    twice = COOTensor(Tensor([[0, 1], [0, 1], [1, 0]]), Tensor([1.0, 2.0, 4.0]), (2, 2))
    same(twice.to_dense(), [[0, 3], [4, 0]])
    single = twice.coalesce()
    assert single.indices.asnumpy().tolist() == [[0, 1], [1, 0]]
    assert single.values.asnumpy().tolist() == [
        3,
        4,
    ]


@both_modes
def test_derivatives_flow_through_values(run):
    x = Tensor(np.arange(8, dtype=np.float32).reshape(4, 2))

    def energy(values):
        return (csr(values).mm(x) ** 2).sum()

    gradient = run(ms.grad(energy))(VALUES).asnumpy()
    dense = 2 * (MATRIX @ x.asnumpy()) @ x.asnumpy().T
    assert_close(gradient, dense[MATRIX != 0])
    hessian = run(ms.hessian(energy))(VALUES).asnumpy()
    rows = np.argwhere(MATRIX)
    products = x.asnumpy() @ x.asnumpy().T
    expected = [[2 * products[b, d] * (a == c) for c, d in rows] for a, b in rows]
    assert_close(hessian, expected)
    assert_close(run(ms.grad(lambda v: (coo(v).to_dense() ** 3).sum()))(VALUES), 3 * VALUES.asnumpy() ** 2)


def test_scipy_agrees():
    theirs = sparse.csr_array(MATRIX)
    assert theirs.indptr.tolist() == STARTS.asnumpy().tolist()
    assert theirs.indices.tolist() == COLUMNS.asnumpy().tolist()


def test_rows():
    rows = RowTensor(Tensor([2, 0, 2]), Tensor([[1.0], [2.0], [3.0]]), (4, 1))
    same(rows.to_dense(), [[2], [0], [4], [0]])
    assert RowTensor(row_tensor=rows).dense_shape == (4, 1)
    assert rows.dtype is ms.float32


def test_mistakes():
    with pytest.raises(ValueError, match="'indices' must have 2 axes"):
        COOTensor(Tensor([0, 1]), Tensor([1.0, 2.0]), (3, 4))
    with pytest.raises(TypeError, match="'indices' must be a Tensor"):
        COOTensor([[0, 1]], Tensor([1.0]), (3, 4))
    with pytest.raises(TypeError, match="must contain integers"):
        CSRTensor(Tensor([0.0]), COLUMNS, VALUES, (3, 4))
    with pytest.raises(ValueError, match="do not match a"):
        CSRTensor(STARTS, COLUMNS, VALUES, (2, 4))
    with pytest.raises(ValueError, match="do not match a"):
        RowTensor(Tensor([0]), Tensor([[1.0]]), (3, 2))
    with pytest.raises(ValueError, match="4 rows"):
        csr().mm(Tensor([[1.0]]))
    with pytest.raises(ValueError, match="'axis' must be"):
        csr().sum(2)


@both_modes
def test_operators_of_indices_values_and_shape(run):
    shape, dense = MATRIX.shape, np.arange(12, dtype=np.float32).reshape(4, 3)
    same(run(lambda v: ms.ops.SparseToDense()(PLACES, v, shape))(VALUES), MATRIX)
    same(run(lambda v: ms.ops.SparseToDense()(PLACES, v, shape))(Tensor(5.0)), 5.0 * (MATRIX != 0))
    same(
        run(lambda v: ms.ops.SparseToDense()(PLACES, v != 1.0, shape))(VALUES), (MATRIX != 0) & (MATRIX != 1)
    )
    same(run(lambda v: ms.ops.SparseTensorDenseAdd()(PLACES, v, shape, Tensor(MATRIX)))(VALUES), 2 * MATRIX)
    same(run(lambda v: ms.nn.SparseToDense()(coo(v)))(VALUES), MATRIX)
    for transposed in (False, True):
        matrix = MATRIX.T if transposed else MATRIX
        x = dense[: matrix.shape[1]]
        for operator in (ms.ops.SparseTensorDenseMatmul, ms.nn.SparseTensorDenseMatmul):
            apply = operator(transposed)

            def product(v, x, apply=apply):
                return apply(PLACES, v, shape, x)

            same(run(product)(VALUES, Tensor(x)), matrix @ x)
            by_values, by_dense = run(ms.grad(product, (0, 1)))(VALUES, Tensor(x))
            rows, columns = np.nonzero(MATRIX)
            same(by_values, x.sum(1)[rows if transposed else columns])
            same(by_dense, np.repeat(matrix.sum(0)[:, None], 3, 1))
    x = ms.nn.SparseTensorDenseMatmul(adjoint_dt=True)(PLACES, VALUES, shape, Tensor(dense.T.copy()))
    same(x, MATRIX @ dense)


def test_operators_say_what_does_not_fit():
    same(ms.ops.SparseToDense()(PLACES, VALUES, Tensor(MATRIX.shape)), MATRIX)
    with pytest.raises(ValueError, match="cannot be multiplied"):
        ms.ops.SparseTensorDenseMatmul()(PLACES, VALUES, MATRIX.shape, Tensor(MATRIX))
    with pytest.raises(ValueError, match="must be equal"):
        ms.ops.SparseTensorDenseAdd()(PLACES, VALUES, MATRIX.shape, Tensor(MATRIX.T.copy()))
    with pytest.raises(TypeError, match="COOTensor"):
        ms.nn.SparseToDense()(csr())
