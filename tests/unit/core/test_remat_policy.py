"""The residuals of a scan: saved, or made again where saving them costs more than that."""

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir.memo import forget
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import compiled, everything, numbers, with_costs

NUMBERS, STEPS = 24, 12


def slope(x, y):
    return ops.concat([x[:1], x[1:] * y[:-1]])


def runge_kutta(x):
    y = ops.zeros_like(x)
    for _ in range(STEPS):
        k1 = slope(x, y)
        k2 = slope(x, y + 0.05 * k1)
        k3 = slope(x, y + 0.05 * k2)
        k4 = slope(x, y + 0.1 * k3)
        y = y + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return (y * y).sum()


def waves(x):
    y = x
    for _ in range(STEPS):
        a = ops.sin(x * y + 0.1 * y)
        b = ops.sin(a * x + y)
        c = ops.sin(b * y + 0.3 * a * a)
        y = y + 0.1 * (a + b * c) + 0.05 * c * c * y - 0.02 * a * b
    return (y * y).sum()


def products(x):
    matrix = ops.outer(x, x) / NUMBERS
    y = x
    for _ in range(STEPS):
        a = ops.matmul(matrix, y + 0.1 * y * x)
        y = y + 0.1 * a * y - 0.01 * a * a
    return (y * y).sum()


def stacks(function):
    """The values that the loop forth stacks, and how many of each operator all loops have."""
    forget()
    graph = ms.explain(ms.grad(function))(Tensor(np.linspace(0.1, 0.9, NUMBERS))).graph
    loops = [e for e in graph.equations if e.primitive.name == "scan"]
    names = [e.primitive.name for loop in loops for e in loop.parameters["body"].equations]
    return len(loops[0].outputs) - loops[0].parameters["carries"], names.count("sin"), names.count("dot")


def test_large_loops_stack_the_carry_and_what_is_expensive(monkeypatch):
    before = {function: stacks(function) for function in (runge_kutta, waves, products)}
    with_costs(monkeypatch, residual_bytes=0)
    after = {function: stacks(function) for function in before}
    assert before[runge_kutta][0] == 4
    assert after[runge_kutta][0] == 1
    assert after[waves][0] <= before[waves][0]
    assert after[waves][1:] == before[waves][1:]  # no function is computed again
    assert after[products] == before[products]
    with_costs(monkeypatch, residual_bytes=8 * NUMBERS * STEPS * 4)
    assert stacks(runge_kutta) == before[runge_kutta]


def test_derivatives_do_not_depend_on_what_is_saved(monkeypatch):
    x = Tensor(np.linspace(0.1, 0.9, NUMBERS))
    results = []
    with compiled():
        for limit in (1 << 40, 0):
            with_costs(monkeypatch, residual_bytes=limit)
            forget()
            results.append([numbers(ms.jit(everything(function))(x)) for function in (runge_kutta, waves)])
    for saved, again in zip(*results, strict=True):
        for a, b in zip(saved, again, strict=True):
            assert_close(b, a, kind="program", each=True)
