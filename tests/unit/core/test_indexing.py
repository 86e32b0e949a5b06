"""gather, scatter, dynamic slices and sorting against NumPy, in both executors."""

import numpy as np
import pytest

from mindgrad.core.backend.xla import compile_graph
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.types import type_of
from mindgrad.core.primitives.indexing import gather, last_write, scatter_add, scatter_set
from mindgrad.core.primitives.slicing import dynamic_slice, dynamic_update_slice
from mindgrad.core.primitives.sorting import argsort
from mindgrad.core.primitives.static_slices import pad, slice
from mindgrad.core.primitives.structural import broadcast_in_dim
from mindgrad.core.transforms.reverse import reverse

generator = np.random.default_rng(0)


def graph_of(primitive, *arrays, **parameters):
    builder = Builder()
    with building(builder):
        inputs = [builder.input(type_of(a)) for a in arrays]
        return builder.close([primitive(*inputs, **parameters)])


def run(primitive, *arrays, **parameters):
    """The value of the row, after a check that both executors agree on it."""
    arrays = [np.asarray(a) for a in arrays]
    graph = graph_of(primitive, *arrays, **parameters)
    (found,) = evaluate(graph, arrays)
    (compiled,) = compile_graph(graph)(arrays)
    np.testing.assert_array_equal(found, np.asarray(compiled))
    assert found.dtype == compiled.dtype
    return found


def cotangents(primitive, active, ct, *arrays, **parameters):
    """The cotangents of the ``active`` operands, after the same check."""
    arrays = [np.asarray(a) for a in arrays]
    graph = reverse(graph_of(primitive, *arrays, **parameters), active)
    found = evaluate(graph, [*arrays, ct])[1:]
    for a, b in zip(found, compile_graph(graph)([*arrays, ct])[1:], strict=True):
        np.testing.assert_array_equal(a, np.asarray(b))
    return found


x = generator.normal(size=(4, 5, 3)).astype(np.float32)
rows = generator.integers(0, 4, (2, 6))
columns = generator.integers(0, 5, (2, 6))
planes = generator.integers(0, 3, (2, 6))


@pytest.mark.parametrize(
    ("axes", "positions", "expected"),
    [
        ((0,), [rows], x[rows]),
        ((1,), [columns], np.moveaxis(x[:, columns], 0, 2)),
        ((0, 1), [rows, columns], x[rows, columns]),
        ((2, 0), [planes, rows], np.moveaxis(x[rows, :, planes], -1, 2)),
        ((0, 1, 2), [rows, columns, planes], x[rows, columns, planes]),
        ((0,), [np.asarray(2)], x[2]),
    ],
)
def test_gather_is_integer_indexing(axes, positions, expected):
    indices = np.stack(positions, -1)
    np.testing.assert_array_equal(run(gather, x, indices, axes=axes), expected)
    narrow = indices.astype(np.uint8)
    np.testing.assert_array_equal(run(gather, x, narrow, axes=axes), expected)


def test_gather_along_batch_axes_is_take_along_axis():
    places = generator.integers(0, 5, (4, 7, 3))
    found = run(gather, x, np.moveaxis(places, 1, 2)[..., None], axes=(1,), batch=(0, 2))
    np.testing.assert_array_equal(np.moveaxis(found, 2, 1), np.take_along_axis(x, places, 1))


@pytest.mark.parametrize(
    ("dtype", "outside"),
    [
        ("float32", np.nan), ("float64", np.nan), ("complex64", np.nan + 0j), ("bool", False),
        ("int8", -128), ("int32", -(2**31)), ("uint8", 255),
    ],
)  # fmt: skip
def test_a_read_outside_is_no_element(dtype, outside):
    values = np.asarray([1, 1, 1], dtype)
    indices = np.asarray([[0], [3], [-1], [2], [100]])
    inside = [True, False, False, True, False]
    found = run(gather, values, indices, axes=(0,))
    np.testing.assert_array_equal(found, np.where(inside, values[0], np.asarray(outside, dtype)))
    assert values.tolist() == np.asarray([1, 1, 1], dtype).tolist()
    zero = run(gather, values, indices, axes=(0,), fill="zero")
    np.testing.assert_array_equal(zero, np.asarray(inside, dtype))
    assert run(gather, values, np.asarray([7]), axes=(0,), fill="zero") == 0
    with pytest.raises(ValueError, match="fill must be 'nan' or 'zero'"):
        graph_of(gather, values, indices, axes=(0,), fill="clamp")


def test_a_read_outside_leaves_the_input_as_it_was():
    values = np.arange(6.0).reshape(3, 2)
    assert np.isnan(run(gather, values, np.asarray([5]), axes=(0,))).all()
    np.testing.assert_array_equal(values, np.arange(6.0).reshape(3, 2))


def test_narrow_positions_reach_far():
    long = np.arange(300.0)
    indices = np.asarray([[255], [7]], np.uint8)
    np.testing.assert_array_equal(run(gather, long, indices, axes=(0,)), [255.0, 7.0])
    assert run(dynamic_slice, long, np.uint8(200), sizes=(1,)) == [200.0]
    assert run(dynamic_slice, long, np.int8(-3), sizes=(1,)) == [0.0]
    assert run(dynamic_slice, long, np.int64(2**40), sizes=(1,)) == [299.0]


def test_scatter_add_is_numpy_add_at_and_drops_what_is_outside():
    indices = np.stack([rows, columns], -1)
    updates = generator.integers(-3, 4, (2, 6, 3)).astype(np.float32)
    whole = np.round(x)
    expected = whole.copy()
    np.add.at(expected, (rows, columns), updates)
    np.testing.assert_array_equal(run(scatter_add, whole, indices, updates, axes=(0, 1)), expected)
    outside = np.asarray([[1], [3], [-1], [1]])
    found = run(scatter_add, np.zeros(3), outside, np.asarray([1.0, 2.0, 4.0, 8.0]), axes=(0,))
    np.testing.assert_array_equal(found, [0.0, 9.0, 0.0])
    (pulled,) = cotangents(
        scatter_add, [2], np.asarray([1.0, 2.0, 3.0]), np.zeros(3), outside, np.ones(4), axes=(0,)
    )
    np.testing.assert_array_equal(pulled, [2.0, 0.0, 0.0, 2.0])


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "bool", "complex64"])
def test_the_last_of_several_writes_stays(dtype):
    indices = np.asarray([[2], [0], [2], [5], [2], [0]])
    updates = np.asarray([1, 1, 0, 1, 1, 0], dtype)
    found = run(scatter_set, np.zeros(4, dtype), indices, updates, axes=(0,))
    np.testing.assert_array_equal(found, np.asarray([0, 0, 1, 0], dtype))
    mask = run(last_write, indices, sizes=(4,), batch=0)
    np.testing.assert_array_equal(mask, [False, False, False, False, True, True])


def test_only_the_last_write_has_a_derivative():
    indices = np.asarray([[2], [0], [2], [5]])
    ct = np.asarray([1.0, 2.0, 3.0, 4.0])
    to_x, to_updates = cotangents(scatter_set, [0, 2], ct, np.zeros(4), indices, np.arange(4.0), axes=(0,))
    np.testing.assert_array_equal(to_x, [0.0, 2.0, 0.0, 4.0])
    np.testing.assert_array_equal(to_updates, [0.0, 1.0, 3.0, 0.0])


def test_scatter_set_is_numpy_assignment():
    expected = x.copy()
    updates = generator.normal(size=(2, 6, 5)).astype(np.float32)
    expected[rows, :, planes] = updates
    found = run(scatter_set, x, np.stack([rows, planes], -1), updates, axes=(0, 2))
    np.testing.assert_array_equal(found, expected)


def test_the_many_updates_of_half_precision_are_added_exactly():
    count = 4096  # in float16, 2048 + 1 is 2048
    actual = run(
        scatter_add, np.zeros(1, np.float16), np.zeros((count, 1), np.int32),
        np.ones(count, np.float16), axes=(0,),
    )  # fmt: skip
    assert actual == count


@pytest.mark.parametrize("start", [-5, 0, 1, 2, 9])
def test_dynamic_slices_move_inside(start):
    values = np.arange(5.0)
    first = min(max(start, 0), 2)
    read = run(dynamic_slice, values, np.int32(start), sizes=(3,))
    np.testing.assert_array_equal(read, values[first : first + 3])
    expected = values.copy()
    expected[first : first + 3] = [7.0, 8.0, 9.0]
    written = run(dynamic_update_slice, values, np.asarray([7.0, 8.0, 9.0]), np.int32(start))
    np.testing.assert_array_equal(written, expected)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int16", "uint8", "bool"])
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_is_stable(dtype, descending):
    values = generator.integers(0, 2 if dtype == "bool" else 3, (3, 20)).astype(dtype)
    places = run(argsort, values, axis=1, descending=descending)
    for row, order in zip(values, places, strict=True):
        keys = sorted(range(20), key=lambda i: (-int(row[i]) if descending else int(row[i]), i))
        assert order.tolist() == keys


def test_nan_sorts_as_the_largest_number():
    values = np.asarray([2.0, np.nan, -np.inf, 0.0, np.inf, -0.0])
    assert run(argsort, values, axis=0, descending=False).tolist() == [2, 3, 5, 0, 4, 1]
    assert run(argsort, values, axis=0, descending=True).tolist() == [1, 4, 0, 3, 5, 2]


@pytest.mark.parametrize("low", [-3, 0, 2])
@pytest.mark.parametrize("high", [-2, 0, 1])
@pytest.mark.parametrize("interior", [0, 1, 2])
def test_pad_inserts_and_crops(low, high, interior):
    values = np.arange(1.0, 6.0)
    step = interior + 1
    spread = np.zeros(5 + 4 * interior)
    spread[::step] = values
    expected = np.concatenate([np.zeros(max(low, 0)), spread, np.zeros(max(high, 0))])
    expected = expected[max(-low, 0) : len(expected) - max(-high, 0)]
    found = run(pad, values, low=(low,), high=(high,), interior=(interior,))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: graph_of(gather, x, rows[..., None], axes=(3,)), ValueError, "inside the input"),
        (lambda: graph_of(gather, x, rows[..., None], axes=(0, 1)), ValueError, "last axis of the"),
        (lambda: graph_of(gather, x, x, axes=(0,)), TypeError, "must be integers"),
        (lambda: graph_of(scatter_add, x, rows[..., None], x, axes=(0,)), ValueError, "updates must"),
        (lambda: graph_of(dynamic_slice, x, np.int32(1), sizes=(1,)), TypeError, "scalar integer per axis"),
        (lambda: graph_of(slice, x, start=(0,), limit=(1,), strides=(1,)), ValueError, "per axis"),
        (
            lambda: graph_of(pad, x, low=(-9, 0, 0), high=(0, 0, 0), interior=(0, 0, 0)),
            ValueError,
            "remove more elements",
        ),
        (lambda: graph_of(broadcast_in_dim, x, shape=(4,), dims=(0,)), ValueError, "broadcast"),
    ],
)
def test_a_wrong_call_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
