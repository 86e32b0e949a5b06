"""Functions that read and write at places that are data do what NumPy does, and their derivatives too."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.ops.operations._inner_ops import TensorCopySlices
from tests.tolerances import assert_close
from tests.unit.moving_elements import GRADIENT, check_moves, sample

A = np.arange(12, dtype=np.float32).reshape(3, 4)
X = Tensor(A)


def written(index):
    """NumPy's ``a[index] = v`` as a function."""

    def write(a, v):
        a = np.array(a)
        a[index] = v
        return a

    return write


I = np.array([[0, 2], [1, 1]])
B3 = sample((2, 3, 4), seed=3)


def along(a, index, axis):
    return np.take_along_axis(a, index, axis)


READS = {
    "gather": (lambda x, i: ops.gather(x, i, 0), lambda a: a[[2, -3]], A, [2, -3]),
    "gather in an axis": (lambda x, i: ops.gather(x, i, 1), lambda a: np.take(a, I, 1), A, I),
    "gather in the last axis": (lambda x, i: ops.gather(x, i, -1), lambda a: np.take(a, I, -1), B3, I),
    "gather one": (lambda x, i: ops.gather(x, i, 1), lambda a: a[:, 2], A, 2),
    "gather nothing": (lambda x, i: ops.gather(x, i, 0), lambda a: a[:0], A, np.zeros(0, int)),
    "gather in batches": (
        lambda x, i: ops.gather(x, i, 1, 1),
        lambda a: np.stack([a[k][I[k]] for k in range(2)]),
        B3,
        I,
    ),
    "gather in batches behind an axis": (
        lambda x, i: ops.gather(x, i, 2, 1),
        lambda a: np.stack([a[k][:, I[k]] for k in range(2)]),
        B3,
        I,
    ),
    "gather_nd": (lambda x, i: ops.gather_nd(x, i), lambda a: a[I[:, 0], I[:, 1]], A, I),
    "gather_nd of parts": (lambda x, i: ops.gather_nd(x, i), lambda a: a[[1, 0]], B3, [[1], [0]]),
    "gather_nd of one": (lambda x, i: ops.gather_nd(x, i), lambda a: a[1, 2], A, [1, 2]),
    "gather_elements": (lambda x, i: ops.gather_elements(x, 1, i), lambda a: along(a[:2], I, 1), A, I),
    "gather_d": (lambda x, i: ops.gather_d(x, 0, i), lambda a: along(a[:, :2], I, 0), A, I),
    "gather_d from the end": (
        lambda x, i: ops.gather_d(x, -1, i),
        lambda a: along(a[:2], I - 4, 1),
        A,
        I - 4,
    ),
    "index_select": (lambda x, i: ops.index_select(x, 1, i), lambda a: a[:, [3, 3, 0]], A, [3, 3, 0]),
    "take": (lambda x, i: ops.take(x, i), lambda a: np.take(a, [[5, -1]]), A, [[5, -1]]),
    "take in an axis": (lambda x, i: ops.take(x, i, 1), lambda a: np.take(a, I, 1), A, I),
    "take and clip": (
        lambda x, i: x.take(i),
        lambda a: np.take(a, [11, 11, -2]),  # negative ones count from the end first
        A,
        [11, 90, -2],
    ),
    "take around": (
        lambda x, i: x.take(i, 0, mode="wrap"),
        lambda a: np.take(a, [1, 5, -2], 0, mode="wrap"),
        A,
        [1, 5, -2],
    ),
    "dynamic_slice": (lambda x, i: ops.dynamic_slice(x, i, (2, 2)), lambda a: a[1:3, 2:4], A, [1, 3]),
    "dynamic slice": (lambda x, i: ops.slice(x, i, (2, 2)), lambda a: a[1:3, 1:3], A, [1, 1]),
    "select a part": (lambda x, i: x.select(1, 2), lambda a: a[:, 2], A, 0),
}


@pytest.mark.parametrize("name", READS)
def test_reads_as_numpy(name):
    ours, numpys, array, index = READS[name]
    index = Tensor(np.asarray(index, np.int32))
    check_moves(lambda x: ours(x, index), numpys, array, compiled=False)
    check_moves(ours, numpys, array, given=[index])
    check_moves(lambda x: ours(x, index), numpys, array)


def put(a, places, values, add=False):
    a = np.array(a)
    (np.add.at if add else np.ndarray.__setitem__)(a, tuple(np.moveaxis(np.asarray(places), -1, 0)), values)
    return a


WRITES = {
    "tensor_scatter_update": (
        lambda x, v, i: ops.tensor_scatter_update(x, i, v),
        lambda a, v: put(a, I, v),
        A,
        (2,),
        I,
    ),
    "tensor_scatter_update of parts": (
        lambda x, v, i: ops.tensor_scatter_update(x, i, v),
        lambda a, v: put(a, [[2], [0]], v),
        A,
        (2, 4),
        [[2], [0]],
    ),
    "scatter_update": (
        lambda x, v, i: ops.scatter_update(x, i, v),
        lambda a, v: put(a, [[1]], v),
        A,
        (1, 4),
        [1],
    ),
    "tensor_scatter_elements": (
        lambda x, v, i: ops.tensor_scatter_elements(x, i, v, 1),
        lambda a, v: put(a, [[[0, 0], [0, 2]], [[1, 1], [1, 3]]], v),
        A,
        (2, 2),
        [[0, 2], [1, -1]],
    ),
    "scatter": (
        lambda x, v, i: ops.scatter(x, 0, i, v),
        lambda a, v: put(a, [[[2, 0], [0, 1]]], v),
        A,
        (1, 2),
        [[2, 0]],
    ),
    "index_fill": (
        lambda x, v, i: ops.index_fill(x, 1, i, v),
        lambda a, v: written((slice(None), [0, 3]))(a, v),
        A,
        (),
        [0, -1],
    ),
    "dynamic_update_slice": (
        lambda x, v, i: ops.dynamic_update_slice(x, v, i),
        lambda a, v: written((slice(1, 3), slice(2, 4)))(a, v),
        A,
        (2, 2),
        [1, 3],
    ),
    "slice_scatter": (
        lambda x, v, i: ops.slice_scatter(x, v, 1, 0, None, 2),
        lambda a, v: written((slice(None), slice(0, None, 2)))(a, v),
        A,
        (3, 2),
        0,
    ),
    "select_scatter": (
        lambda x, v, i: ops.select_scatter(x, v, 1, -2),
        lambda a, v: written((slice(None), -2))(a, v),
        A,
        (3,),
        0,
    ),
    "itemset": (lambda x, v, i: x.itemset(5, v), lambda a, v: written((1, 1))(a, v), A, (), 0),
    "itemset by a tuple": (
        lambda x, v, i: x.itemset((0, 2), v),
        lambda a, v: written((0, 2))(a, v),
        A,
        (),
        0,
    ),
    "where": (lambda x, v, i: ops.where(Tensor(A > 5), x, v), lambda a, v: np.where(A > 5, a, v), A, (4,), 0),
    "select": (
        lambda x, v, i: ops.select(Tensor(A[0] > 1), v, x),
        lambda a, v: np.where(A[0] > 1, v, a),
        A,
        (3, 1),
        0,
    ),
    "masked_fill": (
        lambda x, v, i: ops.masked_fill(x, Tensor(A > 5), v),
        lambda a, v: np.where(A > 5, v, a),
        A,
        (),
        0,
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_as_numpy(name):
    ours, numpys, array, shape, index = WRITES[name]
    index = Tensor(np.asarray(index, np.int32))
    arrays = array, sample(shape, seed=5)
    check_moves(lambda x, v: ours(x, v, index), numpys, *arrays, compiled=False)
    check_moves(ours, numpys, *arrays, given=[index])


@pytest.mark.parametrize(
    ("ours", "numpys"),
    [
        (lambda x, i, v: ops.tensor_scatter_add(x, i, v), lambda a, v: put(a, I[:, :1] * 0, v, add=True)),
        (lambda x, i, v: ops.tensor_scatter_sub(x, i, v), lambda a, v: put(a, I[:, :1] * 0, -v, add=True)),
        (
            lambda x, i, v: ops.scatter_nd(i, v, (3, 4)),
            lambda a, v: put(np.zeros_like(a), I[:, :1] * 0, v, add=True),
        ),
        (lambda x, i, v: ops.scatter_add(x, i[:, 0], v), lambda a, v: put(a, I[:, :1] * 0, v, add=True)),
        (lambda x, i, v: ops.index_add(x, i[:, 0], v, 0), lambda a, v: put(a, I[:, :1] * 0, v, add=True)),
        (lambda x, i, v: x.index_add(0, i[:, 0], v), lambda a, v: put(a, I[:, :1] * 0, v, add=True)),
        (
            lambda x, i, v: ops.tensor_scatter_elements(x, i + ops.zeros((2, 4), ms.int32), v, 0, "add"),
            lambda a, v: put(a, I[:, :1] * 0, v, add=True),
        ),
    ],
)
def test_additions_add_up(ours, numpys):
    v = sample((2, 4), seed=5)
    index = Tensor(I[:, :1] * 0, ms.int32)
    for f in (ours, Compiled(ours)):
        np.testing.assert_array_equal(f(Tensor(A), index, Tensor(v)).asnumpy(), numpys(A, v))
    zero = numpys(np.zeros_like(A), np.zeros_like(v))

    def gradient(x, i, v, ct):
        return GRADIENT(lambda x, v: ours(x, i, v))(x, v, ct)

    given = (Tensor(A), index, Tensor(v), Tensor(A))
    dx, dv = gradient(*given)
    compiled = Compiled(gradient)(*given)
    # linear in x and in v: the gradient is the transpose, read off at unit vectors
    for actual, shape, at in ((dx, A.shape, 0), (dv, v.shape, 1)):
        for place in np.ndindex(shape):
            units = [np.zeros_like(A), np.zeros_like(v)]
            units[at][place] = 1
            assert actual[place].item() == ((numpys(*units) - zero) * A).sum()
    np.testing.assert_array_equal(compiled[0].asnumpy(), dx.asnumpy())
    np.testing.assert_array_equal(compiled[1].asnumpy(), dv.asnumpy())


@pytest.mark.parametrize(
    ("ours", "at"),
    [
        (ops.tensor_scatter_mul, np.multiply.at),
        (ops.tensor_scatter_div, np.divide.at),
        (ops.tensor_scatter_max, np.maximum.at),
        (ops.tensor_scatter_min, np.minimum.at),
    ],
)
def test_updates_of_one_place_are_combined_one_after_another(ours, at):
    index = np.array([[0], [2], [0], [0], [2]])
    v = np.random.default_rng(0).uniform(1, 9, (5, 4)).astype(np.float32)
    expected = A.copy()
    at(expected, index[:, 0], v)
    for f in (ours, Compiled(lambda x, i, v: ours(x, Tensor(index), v))):
        assert_close(f(Tensor(A), Tensor(index), Tensor(v)), expected)
    np.testing.assert_array_equal(
        ours(Tensor(A), Tensor(np.zeros((0, 1), np.int32)), ops.zeros((0, 4))).asnumpy(), A
    )

    def total(x, v):
        return ours(x, Tensor(index), v).sum()

    dx, dv = ops.grad(total, (0, 1))(Tensor(A), Tensor(v))
    step = 1e-3
    for place in ((0, 1), (2, 3)):
        moved = A.astype(np.float64)
        moved[place] += step
        values = [np.array(moved), np.array(A, np.float64)]
        for each in values:
            at(each, index[:, 0], v.astype(np.float64))
        slope = (values[0].sum() - values[1].sum()) / step
        assert_close(dx[place], slope, kind="difference", scale=1e-3)
    assert np.isfinite(dv.asnumpy()).all()


def test_choices():
    mask = Tensor(A > 5)
    assert ops.where(mask, 1, 0).dtype == ms.int64
    assert ops.where(mask, 1.0, 2).dtype == ms.float32
    assert ops.where(mask, X, 1).dtype == ms.float32
    assert ops.where(mask, Tensor([1, 2, 3, 4]), X).dtype == ms.float32
    assert ops.select(True, X, X).shape == (3, 4)
    np.testing.assert_array_equal(ops.where(mask, X, 0.0).asnumpy(), np.where(A > 5, A, 0))
    np.testing.assert_array_equal(X.where(X > 5, 0.0).asnumpy(), np.where(A > 5, A, 0))
    np.testing.assert_array_equal(X.select(X > 5, -1.0).asnumpy(), np.where(A > 5, A, -1))
    assert ops.masked_fill(Tensor([1, 2]), Tensor([True, False]), 7).dtype == ms.int64
    assert ops.masked_fill(Tensor([1.0, 2.0]), mask[:, :2], 7).shape == (3, 2)
    np.testing.assert_array_equal(ops.masked_select(X, mask).asnumpy(), A[A > 5])
    np.testing.assert_array_equal(
        ops.masked_select(X, Tensor([True, False, False, True])).asnumpy(), A[:, [0, 3]].ravel()
    )
    np.testing.assert_array_equal(
        ops.masked_scatter(X, mask, Tensor(-A)).asnumpy(), np.where(A > 5, np.minimum(6 - A, 0), A)
    )


def test_the_branch_that_is_not_chosen_contributes_nothing():
    def f(x):
        return ops.where(x > 0, ops.log(x), 0.0 * x).sum()

    for gradient in (ops.grad(f), Compiled(ops.grad(f))):
        np.testing.assert_array_equal(gradient(Tensor([0.0, 2.0])).asnumpy(), [0, 0.5])


SLICES = [
    (lambda x: ops.slice(x, (0, 1), (2, -1)), lambda a: a[0:2, 1:]),
    (lambda x: ops.slice(x, [1, 0], [0, 4]), lambda a: a[1:1]),
    (lambda x: ops.strided_slice(x, (0, 0), (3, 4), (2, 2)), lambda a: a[::2, ::2]),
    (lambda x: ops.strided_slice(x, (0, -1), (3, -5), (2, -2)), lambda a: a[::2, -1:-5:-2]),
    (lambda x: ops.strided_slice(x, (1,), (2,), (1,)), lambda a: a[1:2]),
    (lambda x: ops.strided_slice(x, (1, 1), (2, 3), (1, 1), begin_mask=1, end_mask=2), lambda a: a[:2, 1:]),
    (lambda x: ops.strided_slice(x, (1, 1), (2, 3), (1, 1), shrink_axis_mask=1), lambda a: a[1, 1:3]),
    (lambda x: ops.strided_slice(x, (1, 1), (2, 3), (1, 1), new_axis_mask=1), lambda a: a[None, 1:3]),
    (lambda x: ops.strided_slice(x, (1, 1), (2, 3), (1, 1), ellipsis_mask=1), lambda a: a[..., 1:3]),
]


@pytest.mark.parametrize(("ours", "numpys"), SLICES)
def test_slices(ours, numpys):
    check_moves(ours, numpys, A)


# --- order ----------------------------------------------------------------------------------------------


@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(max_dims=3, max_side=5),
        elements=st.sampled_from([0.0, 1.0, -1.0, 2.5, np.nan]),
    ),
    st.data(),
)
def test_sorting(a, data):
    axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    values, order = ops.sort(Tensor(a), axis)
    assert order.dtype == ms.int32
    np.testing.assert_array_equal(order.asnumpy(), np.argsort(a, axis, kind="stable"))
    np.testing.assert_array_equal(values.asnumpy(), np.sort(a, axis))
    down = ops.argsort(Tensor(a), axis, descending=True).asnumpy()
    np.testing.assert_array_equal(along(a, down, axis), np.flip(np.sort(a, axis), axis))
    count = data.draw(st.integers(0, a.shape[axis]))
    largest, places = ops.topk(Tensor(a), count, axis)
    np.testing.assert_array_equal(places.asnumpy(), np.take(down, range(count), axis))
    np.testing.assert_array_equal(largest.asnumpy(), along(a, places.asnumpy(), axis))
    every, places = ops.topk(Tensor(a), a.shape[axis], axis, sorted=False)
    np.testing.assert_array_equal(every.asnumpy(), a)
    np.testing.assert_array_equal(along(a, places.asnumpy(), axis), a)


def test_the_derivative_of_sorting_goes_to_the_element_that_was_found():
    a = np.array([[3.0, 1.0, 2.0], [0.5, 0.5, -1.0]], np.float32)
    weight = np.array([[1.0, 10.0, 100.0]] * 2, np.float32)

    def f(x):
        return (ops.sort(x)[0] * Tensor(weight)).sum()

    for gradient in (ops.grad(f), Compiled(ops.grad(f))):
        np.testing.assert_array_equal(gradient(Tensor(a)).asnumpy(), [[100, 1, 10], [10, 100, 1]])
    top = ops.grad(lambda x: ops.topk(x, 2, largest=False)[0].sum())(Tensor(a))
    np.testing.assert_array_equal(top.asnumpy(), [[0, 1, 1], [1, 0, 1]])
    assert Compiled(lambda x: ops.msort(x)[0, 0])(Tensor(a)).item() == 0.5


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted(right):
    row = np.array([1.0, 2.0, 2.0, 5.0], np.float32)
    values = np.array([[0.0, 2.0], [5.0, 9.0]], np.float32)
    side = "right" if right else "left"
    expected = np.searchsorted(row, values, side)
    f = Compiled(lambda s, v: ops.searchsorted(s, v, right=right))
    for found in (ops.searchsorted(Tensor(row), Tensor(values), side=side), f(Tensor(row), Tensor(values))):
        assert found.dtype == ms.int64
        np.testing.assert_array_equal(found.asnumpy(), expected)
    rows = np.stack([row, row + 1])
    each = ops.searchsorted(Tensor(rows), Tensor(values), right=right, out_int32=True)
    assert each.dtype == ms.int32
    assert ops.SearchSorted(out_int32=True)(Tensor(row), Tensor(values)).dtype == ms.int32
    np.testing.assert_array_equal(
        each.asnumpy(), [np.searchsorted(r, v, side) for r, v in zip(rows, values, strict=True)]
    )


def test_slices_copied_into_a_tensor():
    copy = TensorCopySlices()
    for run in (lambda f: f, Compiled):
        found = run(lambda x, v: copy(x, v, (1, 0), (3, 4), (1, 2)))(ops.zeros((3, 4)), Tensor([1.0, 2.0]))
        np.testing.assert_array_equal(found.asnumpy(), [[0, 0, 0, 0], [1, 0, 2, 0], [1, 0, 2, 0]])


def test_results_whose_shape_depends_on_the_data():
    np.testing.assert_array_equal(ops.nonzero(X > 5).asnumpy(), np.argwhere(A > 5))
    for found, array in zip(ops.nonzero(X > 5, as_tuple=True), np.nonzero(A > 5), strict=True):
        np.testing.assert_array_equal(found.asnumpy(), array)
    elements, which = ops.unique(Tensor([[3, 1], [3, 2]]))
    np.testing.assert_array_equal(elements.asnumpy(), [3, 1, 2])
    np.testing.assert_array_equal(which.asnumpy(), [[0, 1], [0, 2]])
    np.testing.assert_array_equal(ops.bincount(Tensor([1, 1, 3]), minlength=5).asnumpy(), [0, 2, 0, 1, 0])
    np.testing.assert_array_equal(
        ops.bincount(Tensor([1, 1, 3]), Tensor([0.5, 1.0, 2.0])).asnumpy(), [0, 1.5, 0, 2]
    )
    # they may be used under a derivative: the values are known there
    slope = ops.grad(lambda x: (ops.masked_select(x, x > 5) ** 2).sum() + ops.unique(x)[0][0])(X)
    np.testing.assert_array_equal(
        slope.asnumpy(), np.where(A > 5, 2 * A, 0) + (np.arange(12) == 0).reshape(3, 4)
    )


V = Tensor([1.0, 2.0, 3.0])

MISTAKES = [
    (lambda: ops.gather(X, Tensor([3]), 0), IndexError, "'Gather'.*index 3 is out of bounds for axis 0"),
    (lambda: ops.gather(X, Tensor([0]), 2), ValueError, r"in range \[-2, 2\)"),
    (lambda: ops.gather(X, V, 0), TypeError, "consist of integers"),
    (lambda: ops.gather(X, Tensor(I), 1, 1), ValueError, "'batch_dims'"),
    (lambda: ops.gather_nd(X, Tensor([[0, 1, 2]])), ValueError, "1 to 2 elements"),
    (lambda: ops.gather_nd(X, Tensor([[3, 0]])), IndexError, "'GatherNd'"),
    (lambda: ops.gather_nd(X, Tensor([[-1, 0]])), IndexError, r"in range \[0, 3\)"),
    (lambda: ops.gather_nd(X, Tensor(1)), ValueError, "'GatherNd'"),
    (lambda: ops.gather_elements(X, 1, Tensor([0])), ValueError, "as many axes"),
    (lambda: ops.gather_elements(X, 1, Tensor(np.zeros((4, 1), int))), ValueError, "must not be larger"),
    (lambda: ops.gather_elements(X, 1, Tensor([[4]])), IndexError, "index 4"),
    (lambda: ops.index_select(X, 0, Tensor(I)), ValueError, "one axis"),
    (lambda: ops.take(X, Tensor([12])), IndexError, "index 12"),
    (lambda: X.take(Tensor([1]), mode="near"), ValueError, "'mode' must be"),
    (lambda: ops.where(X, X, X), TypeError, "must be a tensor of type Bool, but got Float32"),
    (lambda: ops.where(X > 5, X, V), ValueError, "do not broadcast"),
    (lambda: ops.where(X > 5), TypeError, "missing 2 required"),
    (lambda: ops.masked_fill(X, X, 1.0), TypeError, "'mask' must be a tensor of type Bool"),
    (lambda: ops.masked_fill(X, X > 5, X), ValueError, "0-D tensor"),
    (lambda: ops.masked_fill(Tensor([1]), Tensor([True]), 1.5), TypeError, "Float32 does not fit"),
    (lambda: ops.slice(X, (0, 1), (2, 5)), ValueError, "does not lie inside"),
    (lambda: ops.slice(X, (0,), (2,)), ValueError, "one entry per axis"),
    (lambda: ops.slice(X, (0, -1), (2, 1)), ValueError, "does not lie inside"),
    (lambda: ops.strided_slice(X, (0, 0), (3, 4), (0, 2)), ValueError, "must not contain 0"),
    (lambda: ops.strided_slice(X, (0,), (3, 4), (1, 2)), ValueError, "the same length"),
    (lambda: ops.strided_slice(X, (5,), (6,), (1,), shrink_axis_mask=1), IndexError, "index 5"),
    (lambda: ops.dynamic_slice(X, (0, 0), (4, 4)), ValueError, "no entry may exceed"),
    (lambda: ops.dynamic_slice(X, (0,), (1, 1)), ValueError, "2 integers"),
    (lambda: ops.dynamic_slice(X, Tensor([0.0, 1.0]), (1, 1)), ValueError, "2 integers"),
    (lambda: ops.dynamic_update_slice(X, V, (0, 0)), ValueError, "as many axes"),
    (lambda: ops.tensor_scatter_add(V, Tensor([[3]]), Tensor([1.0])), IndexError, "'TensorScatterAdd'"),
    (lambda: ops.tensor_scatter_add(V, Tensor([[0]]), Tensor([1])), TypeError, "dtype Float32"),
    (lambda: ops.tensor_scatter_add(V, Tensor([[0]]), Tensor([[1.0]])), ValueError, r"shape \(1,\)"),
    (lambda: ops.tensor_scatter_update(V, Tensor([[0.0]]), V[:1]), TypeError, "type Int32 or Int64"),
    (lambda: ops.scatter_nd(Tensor([[0, 1]]), Tensor([1.0, 2.0]), (3, 4)), ValueError, "'ScatterNd'"),
    (
        lambda: ops.tensor_scatter_elements(X, Tensor([[0]]), Tensor([[1.0]]), 0, "mul"),
        ValueError,
        "'none' or 'add'",
    ),
    (lambda: ops.index_add(V, Tensor([0]), Tensor([1.0, 2.0]), 0), ValueError, "'IndexAdd'"),
    (lambda: ops.index_fill(V, 0, Tensor([0]), V), ValueError, "one element"),
    (lambda: ops.masked_scatter(V, V > 0, Tensor([1.0])), ValueError, "only 1"),
    (lambda: ops.sort(Tensor(1.0)), ValueError, "no axes"),
    (lambda: ops.sort(Tensor([1j])), TypeError, "complex numbers have no order"),
    (lambda: ops.topk(V, 4), ValueError, r"in range \[0, 3\]"),
    (lambda: ops.nonzero(Tensor(1.0)), ValueError, "at least one axis"),
    (lambda: ops.searchsorted(X, V), ValueError, "'SearchSorted'"),
    (lambda: ops.searchsorted(V, V, side="middle"), ValueError, "'left' or 'right'"),
    (lambda: ops.bincount(V), TypeError, "contain integers"),
    (lambda: ops.bincount(Tensor([-1])), ValueError, "nonnegative integers"),
    (lambda: X.itemset(5.0), IndexError, "'itemset'"),
    (lambda: X.itemset(12, 5.0), IndexError, "out of bounds"),
]


@pytest.mark.parametrize(("mistake", "kind", "text"), MISTAKES)
def test_a_mistake_is_named(mistake, kind, text):
    with pytest.raises(kind, match=text):
        mistake()


def test_scattering_into_a_parameter_assigns_it():
    w = Parameter(Tensor([1.0, 2.0, 3.0]), name="w")
    ops.scatter_add(w, Tensor([0, 0]), Tensor([1.0, 1.0]))
    ops.scatter_update(w, Tensor([2]), Tensor([9.0]))
    ops.index_add(w, Tensor([1]), Tensor([5.0]), 0)
    np.testing.assert_array_equal(w.asnumpy(), [3, 7, 9])
