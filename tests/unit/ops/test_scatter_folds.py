"""Scatters that multiply, divide and take extremes: the same values and derivatives with computed indices."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, jit, ops
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close

FOLDS = {
    "mul": (ops.tensor_scatter_mul, np.multiply),
    "div": (ops.tensor_scatter_div, np.divide),
    "max": (ops.tensor_scatter_max, np.maximum),
    "min": (ops.tensor_scatter_min, np.minimum),
}


def by_hand(ufunc, x, indices, updates):
    y = x.copy()
    ufunc.at(y, tuple(np.moveaxis(indices, -1, 0)), updates)
    return y


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize(
    ("shape", "indices"),
    [
        ((4,), [[1], [3], [1], [1]]),
        ((3, 2), [[2], [0], [2]]),
        ((3, 2, 2), [[[1, 0], [1, 1]], [[2, 1], [1, 0]]]),
    ],
    ids=["elements", "rows", "two axes"],
)
def test_computed_indices_give_what_known_ones_give(name, shape, indices):
    fold, ufunc = FOLDS[name]
    index = np.array(indices, np.int32)
    generator = np.random.default_rng(0)
    x = Tensor(generator.uniform(1, 2, shape))
    updates = Tensor(generator.uniform(0.5, 2.5, (*index.shape[:-1], *shape[index.shape[-1] :])))

    def loss(x, updates, index):
        return (ops.sin(fold(x, index, updates)) ** 2).sum()

    compiled = jit(lambda x, updates, index: fold(x, index, updates))(x, updates, Tensor(index))
    assert_close(compiled, by_hand(ufunc, x.asnumpy(), index, updates.asnumpy()), kind="program")
    slope = ms.grad(loss, (0, 1))
    eager = slope(x, updates, Tensor(index))
    for a, b in zip(eager, jit(slope)(x, updates, Tensor(index)), strict=True):
        assert_close(a, b, kind="program")


def test_computed_indices_outside_write_nothing():
    fold = jit(lambda x, index, updates: ops.tensor_scatter_mul(x, index, updates))
    index = Tensor([[5], [-1], [1]], ms.int32)
    np.testing.assert_array_equal(
        fold(Tensor([2.0, 3.0]), index, Tensor([np.inf, 0.0, 4.0])).asnumpy(), [2.0, 12.0]
    )
    slope = jit(
        ms.grad(
            lambda x, u: (ops.tensor_scatter_div(x, index + 0 * ops.cast(x[0], ms.int32), u)).sum(), (0, 1)
        )
    )
    of_x, of_updates = slope(Tensor([2.0, 3.0]), Tensor([0.0, 0.0, 4.0]))
    np.testing.assert_array_equal(of_x.asnumpy(), [1.0, 0.25])
    np.testing.assert_array_equal(of_updates.asnumpy(), [0.0, 0.0, -3.0 / 16])


def test_ties_share_their_derivative_in_one_way():
    slope = ms.grad(lambda x, u, i: ops.tensor_scatter_max(x, i, u).sum(), (0, 1))
    arguments = Tensor([1.0, 2.0]), Tensor([1.0, 1.0, 1.0]), Tensor([[0], [0], [0]], ms.int32)
    for a, b in zip(slope(*arguments), jit(slope)(*arguments), strict=True):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


def test_integers_are_folded():
    fold = jit(lambda x, index, updates: ops.tensor_scatter_mul(x, index, updates))
    folded = fold(Tensor([2, 3], ms.int8), Tensor([[0], [0]], ms.int64), Tensor([3, 4], ms.int8))
    assert folded.dtype == ms.int8
    assert folded.asnumpy().tolist() == [24, 3]
    extreme = jit(lambda x, ids: ops.unsorted_segment_max(x, ids, 2))(
        Tensor([1.0, 5.0, 2.0]), Tensor([1, 0, 1], ms.int32)
    )
    assert extreme.asnumpy().tolist() == [5.0, 2.0]


@pytest.mark.parametrize(
    "scatter", [ops.tensor_scatter_mul, ops.tensor_scatter_add, ops.tensor_scatter_update]
)
def test_indices_are_of_32_or_64_bits(scatter):
    with pytest.raises(TypeError, match="must have the dtype Int32 or Int64, but the dtype is Int8"):
        scatter(Tensor([1.0]), Tensor([[0]], ms.int8), Tensor([2.0]))


def test_segments_of_known_numbers_need_no_place_for_parts_that_are_left_out():
    for ids, size, sums in (([0, 2, 0], 4, "[4. 0. 2. 0.]"), ([0, -1, 0], 5, "[4. 0. 0. 0.]")):
        numbers = Tensor(ids)
        summed = lambda x, numbers=numbers: ops.unsorted_segment_sum(x * 1.0, numbers, 4)
        assert str(jit(summed)(Tensor([1.0, 2.0, 3.0]))) == str(summed(Tensor([1.0, 2.0, 3.0]))) == sums
        program = trace(summed, Tensor([1.0, 2.0, 3.0]))
        shapes = [e.outputs[0].shape for e in program.equations if e.primitive.name == "scatter_add"]
        assert shapes == [(size,)]
