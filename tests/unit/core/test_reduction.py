"""Reductions where the textbook formula divides by zero: value, first and second derivative."""

from functools import cache

import numpy as np
import pytest

from mindgrad.core.backend.xla import compile_graph
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.types import type_of
from mindgrad.core.primitives.cumulative import cumprod, cumsum, cumulative_argmax, cumulative_argmin
from mindgrad.core.primitives.reduction import (
    argmax,
    argmin,
    logsumexp,
    norm,
    reduce_max,
    reduce_min,
    reduce_prod,
    reduce_sum,
)
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.reverse import reverse
from tests.tolerances import assert_close

inf, nan = np.inf, np.nan


def graph_of(primitive, array, **parameters):
    builder = Builder()
    with building(builder):
        return builder.close([primitive(builder.input(type_of(array)), **parameters)])


compiled = cache(compile_graph)


def run(graph, *arrays):
    """The outputs, after a check that both executors agree on them."""
    arrays = [np.asarray(a) for a in arrays]
    found = evaluate(graph, arrays)
    for a, b in zip(found, compiled(graph)(arrays), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, np.asarray(b), rtol=1e-12, atol=1e-12)
    return found


def derivatives(primitive, x, **parameters):
    """Value, gradient, and Hessian by forward over reverse, of a row with one number as result."""
    graph = graph_of(primitive, x, **parameters)
    value, gradient = run(reverse(graph, [0]), x, np.ones(()))
    twice = forward(reverse(graph, [0]), [0])
    hessian = [run(twice, x, np.ones(()), e.reshape(x.shape))[3] for e in np.eye(x.size)]
    return value, gradient, np.reshape(hessian, (x.size, x.size))


def test_ties_share_the_maximum_and_the_minimum():
    value, gradient, hessian = derivatives(reduce_max, np.asarray([1.0, 3.0, 3.0]), axes=(0,))
    assert value == 3
    np.testing.assert_array_equal(gradient, [0, 0.5, 0.5])
    np.testing.assert_array_equal(hessian, np.zeros((3, 3)))
    gradient = derivatives(reduce_min, np.asarray([1.0, -inf, -inf]), axes=(0,))[1]
    np.testing.assert_array_equal(gradient, [0, 0.5, 0.5])


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_products_with_zeros_are_exact_to_every_order(zeros):
    x = np.asarray([2.0, -3.0, 5.0, 0.5, 7.0])
    x[:zeros] = 0
    value, gradient, hessian = derivatives(reduce_prod, x, axes=(0,))
    assert value == np.prod(x)
    assert_close(gradient, [np.prod(np.delete(x, i)) for i in range(5)])
    expected = [[0 if i == j else np.prod(np.delete(x, [i, j])) for j in range(5)] for i in range(5)]
    assert_close(hessian, expected)


@pytest.mark.parametrize("reverse_order", [False, True])
def test_cumulative_products_with_zeros_are_exact(reverse_order):
    x = np.asarray([2.0, 3.0, 5.0, -1.0, 7.0, 0.0, -0.5, 0.0, 4.0])
    graph = graph_of(cumprod, x, axis=0, reverse=reverse_order)
    pushed, pulled = forward(graph, [0]), reverse(graph, [0])
    jacobian = np.stack([run(pushed, x, e)[1] for e in np.eye(9)], 1)
    expected = np.zeros((9, 9))
    for i in range(9):
        part = range(i, 9) if reverse_order else range(i + 1)
        for j in part:
            expected[i, j] = np.prod([x[k] for k in part if k != j])
    assert_close(jacobian, expected)
    transposed = np.stack([run(pulled, x, e)[1] for e in np.eye(9)])
    assert_close(transposed, expected)


def test_norm_of_a_zero_vector_has_gradient_zero_and_no_hessian():
    value, gradient, hessian = derivatives(norm, np.zeros(3), axes=(0,))
    assert value == 0
    np.testing.assert_array_equal(gradient, np.zeros(3))
    assert np.isnan(hessian).all()
    value, gradient, hessian = derivatives(norm, np.asarray([3.0, 0.0, 4.0]), axes=(0,))
    assert value == 5
    assert_close(gradient, [0.6, 0, 0.8], kind="program")
    assert_close(hessian, (np.eye(3) - np.outer(gradient, gradient)) / 5, kind="program")


@pytest.mark.parametrize(
    ("x", "value", "gradient"),
    [
        ([-inf, -inf], -inf, [0, 0]),
        ([-inf, 2.0], 2, [0, 1]),
        ([inf, 2.0], inf, [1, 0]),
        ([inf, -inf, inf], inf, [0.5, 0, 0.5]),
        ([1000.0, 1000.0], 1000 + np.log(2), [0.5, 0.5]),
        ([-1000.0, -1001.0], -1000 + np.log1p(np.exp(-1)), [1 / (1 + np.exp(-1)), 1 / (1 + np.e)]),
        ([], -inf, []),
    ],
)
def test_logsumexp_of_infinities_and_of_large_numbers(x, value, gradient):
    found, first, second = derivatives(logsumexp, np.asarray(x), axes=(0,))
    assert_close(found, value)
    assert_close(first, gradient, kind="ill-conditioned")
    finite = np.isfinite(value)
    expected = np.diag(first) - np.outer(first, first) if finite else np.zeros_like(second)
    assert_close(second, expected, kind="program")


@pytest.mark.parametrize("primitive", [reduce_max, reduce_min, logsumexp, norm])
def test_nan_propagates(primitive):
    value, gradient, _ = derivatives(primitive, np.asarray([1.0, nan, 2.0]), axes=(0,))
    assert np.isnan(value)
    assert np.isnan(gradient).all()


def test_indices_of_extremes_take_the_first_and_see_nan():
    x = np.asarray([[1.0, 3.0, 3.0], [nan, 5.0, nan]])
    assert run(graph_of(argmax, x, axis=1), x)[0].tolist() == [1, 0]
    assert run(graph_of(argmin, x, axis=1), x)[0].tolist() == [0, 0]
    running = np.asarray([1.0, 1.0, 0.0, 2.0, nan, 3.0])
    for row, expected in ((cumulative_argmax, [0, 1, 1, 3, 4, 4]), (cumulative_argmin, [0, 1, 2, 2, 4, 4])):
        assert run(graph_of(row, running, axis=0, reverse=False), running)[0].tolist() == expected


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_accumulated_in_single(dtype):
    x = np.ones(4096).astype(as_dtype(dtype).numpy)
    assert float(run(graph_of(reduce_sum, x, axes=(0,)), x)[0]) == 4096
    assert float(run(graph_of(cumsum, x, axis=0, reverse=False), x)[0][-1]) == 4096
    assert float(run(graph_of(norm, x, axes=(0,)), x)[0]) == 64


@pytest.mark.parametrize("primitive", [reduce_max, reduce_min])
def test_nothing_has_no_extreme(primitive):
    with pytest.raises(ValueError, match="an empty axis has no m"):
        graph_of(primitive, np.ones((0, 2)), axes=(0,))
    assert run(graph_of(primitive, np.ones((0, 2)), axes=(1,)), np.ones((0, 2)))[0].shape == (0,)


def test_complex_numbers_and_truth_values_are_refused_where_they_have_no_meaning():
    with pytest.raises(TypeError, match="For 'reduce_max', the input must be a tensor of int"):
        graph_of(reduce_max, np.ones(2, np.complex64), axes=(0,))
    with pytest.raises(TypeError, match="For 'reduce_sum', the input must be a tensor of int"):
        graph_of(reduce_sum, np.ones(2, bool), axes=(0,))
    with pytest.raises(ValueError, match="must be distinct and inside"):
        graph_of(reduce_sum, np.ones(2), axes=(1,))
