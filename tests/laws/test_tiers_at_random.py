"""Law: random programs return in compiled calls of eager mode, and under ``jit``, what operators return one by one.

A program is a list of random operators on two matrices, with nested gradients, values that are asked for and decide,
Python numbers that change from call to call, items that are assigned, and constants from outside.
"""

import random

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tiers import eager, is_hot

pytestmark = pytest.mark.numpy

SHAPE = (3, 4)
MIXED = Tensor(np.linspace(-1.0, 1.0, 16).reshape(4, 4))


def assigned(a, b):
    c = a * 1.0
    c[1] = b[0]
    return c


def inner_gradient(a, b):
    return ms.grad(lambda z: (ops.sin(z) * b).sum())(a)


def inner_jvp(a, b):
    return ops.jvp(lambda z: z * ops.tanh(z), a, b)[1]


#: operators of two matrices that keep their shape
OPERATORS = [
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: a - 0.3 * b,
    lambda a, b: ops.tanh(a),
    lambda a, b: ops.exp(0.1 * a) + b,
    lambda a, b: ops.matmul(a, MIXED),
    lambda a, b: a * b.sum(0, keepdims=True),
    lambda a, b: ops.softmax(a, -1) + b,
    lambda a, b: ops.where(a > b, a, 0.5 * b),
    lambda a, b: ops.concat([a[:, 2:], b[:, :2]], 1),
    lambda a, b: a + ops.stop_gradient(b) ** 2,
    lambda a, b: ops.maximum(a, b),
    assigned,
    inner_gradient,
    inner_jvp,
]


def program_of(seed, decides):
    """A random function of two matrices and a number; ``decides``: whether it branches on values."""
    draw = random.Random(seed)
    steps = [
        (draw.choice(OPERATORS), draw.randrange(9), draw.randrange(9), draw.random() < 0.2)
        for _ in range(draw.randrange(5, 11))
    ]

    def program(x, y, number):
        values = [x, y]
        for operator, i, j, asks in steps:
            a, b = values[i % len(values)], values[j % len(values)]
            if asks and decides and float(ops.stop_gradient(a).mean()) > 0.1:
                values.append(ops.cos(b))
            else:
                values.append(operator(a, b))
        return (values[-1] * values[-2]).sum() * number

    return program


def calls_of(seed, count):
    generator = np.random.default_rng(seed)
    return [
        (generator.normal(size=SHAPE), generator.normal(size=SHAPE), 1.0 + 0.25 * k) for k in range(count)
    ]


def results_of(function, calls):
    found = []
    for x, y, number in calls:
        value, gradients = function(Tensor(x), Tensor(y), number)
        found.append([value.asnumpy(), *[g.asnumpy() for g in gradients]])
    return found


def check(ours, theirs, what):
    for call, (one, two) in enumerate(zip(ours, theirs, strict=True)):
        for a, b in zip(one, two, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9, err_msg=f"{what}, call {call + 1}")


@pytest.mark.parametrize("seed", range(24))
def test_eager_calls_of_random_programs_agree_when_compiled(seed):
    decides = seed % 3 == 0
    calls = calls_of(seed, 8 if decides else 5)
    derivative = lambda: ms.value_and_grad(program_of(seed, decides), (0, 1))
    with eager("numpy"):
        expected = results_of(derivative(), calls)
    ms.clear_cache()
    with eager("compiled"):
        hot = derivative()
        check(results_of(hot, calls), expected, "eager")
        check(results_of(hot, calls[::-1]), expected[::-1], "eager, backwards")
        if not decides:
            assert is_hot(hot), ms.cache_info(hot).eager


@pytest.mark.parametrize("first", ["eager", "jit"])
@pytest.mark.parametrize("seed", range(100, 106))
def test_random_programs_agree_with_jit_in_both_orders(seed, first):
    calls = calls_of(seed, 4)
    ms.clear_cache()
    with eager("compiled"):
        derivative = ms.value_and_grad(program_of(seed, decides=False), (0, 1))
        # the number is the value of an argument, by which compiled programs are selected
        both = {"eager": derivative, "jit": ms.jit(derivative)}
        results = {which: results_of(both[which], calls) for which in sorted(both, key=lambda w: w != first)}
    check(results["eager"], results["jit"], "eager against jit")
