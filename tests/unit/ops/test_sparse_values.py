"""Operators of sparse tensors as classes: against dense tensors; values are those of MindSpore 2.10."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

both_modes = pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
INDICES = Tensor([[2, 1], [0, 1], [0, 3]])
VALUES = Tensor([1.0, 2.0, 3.0])
SHAPE = (3, 4)
DENSE = np.zeros(SHAPE, np.float32)
DENSE[2, 1], DENSE[0, 1], DENSE[0, 3] = 1, 2, 3
ROWS = np.arange(12, dtype=np.float32).reshape(4, 3)


def equal(ours, expected):
    assert_close(ours, expected)


@both_modes
def test_order_and_shape(run):
    indices, values = run(lambda i, v: ops.SparseReorder()(i, v, Tensor(SHAPE)))(INDICES, VALUES)
    equal(indices, [[0, 1], [0, 3], [2, 1]])
    equal(values, [2, 3, 1])
    indices, shape = run(lambda i: ops.SparseReshape()(i, SHAPE, (2, -1)))(INDICES)
    equal(shape, [2, 6])
    equal(ops.SparseToDense()(indices, VALUES, (2, 6)), DENSE.reshape(2, 6))
    with pytest.raises(ValueError, match="12 elements"):
        ops.SparseReshape()(INDICES, SHAPE, (5, 2))


@both_modes
def test_stored_values(run):
    dense = Tensor([1.0, 2.0, 4.0, 8.0])
    for name, expected in (("Add", [3, 4, 11]), ("Mul", [2, 4, 24]), ("Div", [0.5, 1, 0.375])):
        operator = getattr(ops, f"SparseDenseCwise{name}")()
        equal(run(lambda i, v, d, f=operator: f(i, v, SHAPE, d))(INDICES, VALUES, dense), expected)
    column = Tensor([[1.0], [2.0], [4.0]])
    equal(
        run(lambda i, v, s: ops.SparseDenseCwiseMul()(i, v, s, column))(INDICES, VALUES, Tensor(SHAPE)),
        [4, 2, 3],
    )
    with pytest.raises(ValueError, match="SparseDenseCwiseAdd"):
        ops.SparseDenseCwiseAdd()(INDICES, VALUES, SHAPE, ops.ones(3))
    share = np.exp(2) / (np.exp(2) + np.exp(3))
    equal(run(lambda i, v: ops.SparseSoftmax()(i, v, SHAPE))(INDICES, VALUES), [1, share, 1 - share])
    ones = ops.ones((4, 2)), ops.ones((3, 2))
    result = run(lambda i, v: ops.SparseAddmm()(i, v, SHAPE, *ones, Tensor([2.0]), 3.0))(INDICES, VALUES)
    equal(result, 2 * DENSE @ np.ones((4, 2)) + 3)
    slope = run(ms.grad(lambda v: ops.SparseDenseCwiseMul()(INDICES, v, SHAPE, dense).sum()))(VALUES)
    equal(slope, [2, 2, 8])


@both_modes
def test_rows_over_segments(run):
    places, ids = Tensor([0, 1, 3, 2]), Tensor([0, 0, 1, 3])
    sums = np.array([ROWS[0] + ROWS[1], ROWS[3], 0 * ROWS[0], ROWS[2]])
    counts = np.array([[2.0], [1.0], [1.0], [1.0]])
    for name, power in (("Sum", 0), ("SqrtN", 0.5), ("Mean", 1)):
        operator = getattr(ops, f"SparseSegment{name}WithNumSegments")()
        for number in (4, Tensor([4])):
            result = run(lambda x, i, s, f=operator, n=number: f(x, i, s, n))(Tensor(ROWS), places, ids)
            equal(result, sums / counts**power)
    equal(ops.SparseSegmentSum()(Tensor(ROWS), places, ids), sums)
    equal(ops.sparse_segment_mean(Tensor(ROWS), places, ids), sums / counts)
    equal(ops.SparseSegmentSqrtN()(Tensor(ROWS), places, ids), sums / np.sqrt(counts))
    with pytest.raises(RuntimeError, match="SparseSegmentSumWithNumSegments"):
        ms.jit(ops.SparseSegmentSum())(Tensor(ROWS), places, ids)
