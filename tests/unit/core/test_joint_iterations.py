"""The iterations of a ``while`` whose derivatives are made at once: how many, and the gradient around such a block."""

from __future__ import annotations

import numpy as np

import mindgrad
from mindgrad import Tensor, ops
from tests.tolerances import assert_close


def looped(a: Tensor, x: Tensor, iterations: Tensor) -> Tensor:
    k = 0
    while k < iterations:
        x = x + 0.1 * ops.sin(a * x)
        k = k + 1
    return (x * x).sum()


def by_hand(a: np.ndarray, x: np.ndarray, iterations: int) -> tuple[np.ndarray, np.ndarray]:
    states = [x]
    for _ in range(iterations):
        states.append(states[-1] + 0.1 * np.sin(a * states[-1]))
    of_a, of_x = np.zeros_like(a), 2 * states.pop()
    for x in reversed(states):
        slope = 0.1 * np.cos(a * x) * of_x
        of_a, of_x = of_a + slope * x, of_x + slope * a
    return of_a, of_x


def test_gradient_around_the_edges_of_a_block():
    random = np.random.default_rng(0)
    a, x = random.uniform(0.5, 1.5, (2, 32))
    gradient = mindgrad.jit(mindgrad.grad(looped, (0, 1)))
    for iterations in (0, 1, 2, 31, 32, 33, 64, 65, 129):
        result = gradient(Tensor(a), Tensor(x), Tensor(iterations))
        for derivative, expected in zip(result, by_hand(a, x, iterations), strict=True):
            assert_close(derivative, expected, kind="ill-conditioned", each=True)


def test_fewer_iterations_at_once_where_their_values_are_larger():
    rows = {}
    for size in (2, 8, 32, 100, 200, 1000):
        x = Tensor(np.ones(size))
        graph = mindgrad.explain(mindgrad.grad(looped, (0, 1)))(x, x, Tensor(3)).graph
        (equation,) = [e for e in graph.equations if e.primitive.name == "while_pullback"]
        rows[size] = equation.parameters["rows"]
    assert rows == {2: 128, 8: 128, 32: 32, 100: 32, 200: 16, 1000: 1}
