"""Factors of products on their smallest value."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir.graph import Constant
from mindgrad.core.ir.rewriting import watching
from mindgrad.frontend.programs.compiled import trace
from tests.unit.rewrite_checks import compiled, on_and_off, with_and_without, with_costs

RANDOM = np.random.default_rng(3)
POINTS, CENTERS = RANDOM.normal(size=(40, 6)), RANDOM.normal(size=(20, 6))


@pytest.fixture(autouse=True)
def _small_values_count(monkeypatch):
    with_costs(monkeypatch, scaled_elements=200)


def distances(centers, points):
    square = ops.square(centers).sum(1)[:, None] + ops.square(points).sum(1)
    return ops.amin(square - 2 * ops.matmul(centers, points.T), 0).sum()


def factor_on_both(centers, points):
    sines = ops.sin(ops.matmul(centers, points.T))
    return (ops.matmul(-3.0 * sines, points) * sines.sum(1)[:, None]).sum()


@pytest.mark.parametrize("function", [distances, factor_on_both], ids=lambda f: f.__name__)
def test_value_and_two_derivatives_are_the_same_and_no_large_value_has_a_factor(function):
    assert on_and_off(function, [CENTERS, POINTS])["factors"] >= 1
    with compiled():
        graph = trace(ms.grad(function), Tensor(CENTERS), Tensor(POINTS))
    products = [e for e in graph.equations if e.primitive.kind == "multilinear"]
    large = {x for e in products for x in e.inputs if x.type.size > 200}
    assert large
    for equation in graph.equations:
        if equation.outputs[0] in large:
            assert equation.primitive.name != "neg"
            assert not any(isinstance(x, Constant) and x.is_splat for x in equation.inputs[:1])


def test_a_factor_that_is_a_power_of_two_changes_no_digit():
    for factor in (-1, 4):
        scaled = lambda centers, points, factor=factor: factor * ops.matmul(centers, points.T)
        with compiled():
            fired, _ = with_and_without(scaled, Tensor(CENTERS), Tensor(POINTS), kind="exact")
        assert fired["factors"] == 1


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: ops.matmul(a, b.T) * np.inf,
        lambda a, b: 2 * ops.matmul(a.astype(ms.float16), b.T.astype(ms.float16)),
        lambda a, b: 2 * ops.matmul(a[:5], b[:5].T),
        lambda a, b: (2 * (y := ops.matmul(a, b.T)), y),
        lambda a, b: ops.matmul(2 * ops.sin(a[:, :1] * b[:, 0]), b),
    ],
    ids=["infinite", "half", "small", "read twice", "fused"],
)
def test_what_stays_where_it_is(function):
    with compiled(), watching() as fired:
        trace(function, Tensor(CENTERS), Tensor(POINTS))
    assert not fired["factors"]
