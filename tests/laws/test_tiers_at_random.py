"""Law: random programs return in compiled calls of eager mode, and under ``jit``, what operators return one by one.

A program is a list of random operators on two matrices, with nested gradients, values that are asked for and decide,
Python numbers that change from call to call, items that are assigned, and constants from outside. In float16 and
bfloat16 the results are compared with float64, relative to the effect of one rounding per operator.
"""

import random

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tiers import eager, is_compiled
from tests.tolerances import assert_close

pytestmark = pytest.mark.numpy

SHAPE = (3, 4)
MIXED = np.linspace(-1.0, 1.0, 16).reshape(4, 4)
KERNEL = np.linspace(-0.3, 0.3, 27).reshape(3, 3, 3)


def constant(array, like):
    return Tensor(array).astype(like.dtype)


def assigned(a, b):
    c = a * 1.0
    c[1] = b[0]
    return c


def inner_gradient(a, b):
    return ms.grad(lambda z: (ops.sin(z) * b).sum())(a)


def inner_jvp(a, b):
    return ops.jvp(lambda z: z * ops.tanh(z), a, b)[1]


def repeated(a, b):
    for _ in range(3):
        a = a * 0.5 + ops.sin(b) * 0.5
    return a


def normalized(a, b):
    return ops.layer_norm(a, (4,), constant(np.ones(4), a), constant(np.zeros(4), a), 1e-2) + b


def convolved(a, b):
    return ops.conv1d(a.reshape(1, 3, 4), constant(KERNEL, a), pad_mode="pad", padding=1)[0] - b


def standardized(a, b):
    return (a - a.mean(-1, keep_dims=True)) / ops.sqrt(a.var(-1, keepdims=True) + 0.1)


#: operators of two matrices that keep their shape, and nearly their size
OPERATORS = [
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: a - 0.3 * b,
    lambda a, b: a / (1.5 + b * b),
    lambda a, b: -ops.abs(a) + b,
    lambda a, b: a**2 * 0.3 - b,
    lambda a, b: ops.tanh(a) ** 3 + b,
    lambda a, b: (a * a + 0.5) ** 1.5 * 0.3,
    lambda a, b: ops.pow(a * a + 0.5, ops.tanh(b)),
    lambda a, b: a - ops.floor(a * 2) * 0.25,
    # functions of one element
    lambda a, b: ops.tanh(a),
    lambda a, b: ops.exp(0.1 * a) + b,
    lambda a, b: ops.expm1(0.5 * a),
    lambda a, b: ops.log(b * b + 0.7) + a,
    lambda a, b: ops.log1p(a * a),
    lambda a, b: ops.sin(a) * b,
    lambda a, b: ops.cos(a),
    lambda a, b: ops.tan(ops.tanh(a) * 0.8),
    lambda a, b: ops.sinh(0.5 * a),
    lambda a, b: ops.asinh(a) * b,
    lambda a, b: ops.atan2(a, b * b + 0.5),
    lambda a, b: ops.erf(a),
    lambda a, b: ops.sqrt(a * a + 0.5),
    lambda a, b: ops.rsqrt(a * a + 0.5) * b,
    lambda a, b: ops.reciprocal(a * a + 0.7) * b,
    lambda a, b: ops.hypot(a, b * b + 0.3),
    lambda a, b: ops.xlogy(a, b * b + 0.5),
    lambda a, b: ops.logaddexp(a, b),
    lambda a, b: ops.lerp(a, b, 0.3),
    lambda a, b: ops.addcmul(a, a, b, 0.5),
    # activations
    lambda a, b: ops.sigmoid(a) * b,
    lambda a, b: ops.gelu(a),
    lambda a, b: ops.silu(a) + b,
    lambda a, b: ops.softplus(a),
    lambda a, b: ops.mish(a) * b,
    lambda a, b: ops.elu(a) + b,
    lambda a, b: ops.leaky_relu(a, 0.1) - b,
    # choices
    lambda a, b: ops.where(a > b, a, 0.5 * b),
    lambda a, b: ops.maximum(a, b),
    lambda a, b: ops.minimum(a, b),
    lambda a, b: ops.clamp(a, -0.8, 0.8) + b,
    lambda a, b: a.max(1, keepdims=True) * b,
    lambda a, b: ops.sort(a, 1)[0] * constant([1.0, -0.5, 0.5, 1.0], a),
    lambda a, b: ops.topk(a, 2)[0].sum(-1, keepdims=True) * b * 0.3,
    # sums, products and norms
    lambda a, b: a * b.sum(0, keepdims=True) * 0.5,
    lambda a, b: a * b.mean(0, keepdims=True),
    lambda a, b: a.std(1, keepdims=True) * b,
    lambda a, b: ops.prod(a, 1, True) * 0.3 + b,
    lambda a, b: ops.cumsum(a, 1) * 0.4,
    lambda a, b: ops.cumprod(ops.tanh(a), 1) + b,
    lambda a, b: ops.softmax(a, -1) + b,
    lambda a, b: ops.log_softmax(a, -1) * 0.3,
    lambda a, b: a - ops.logsumexp(b, 1, True),
    lambda a, b: a / (ops.norm(b, dim=1, keepdim=True) + 0.5),
    normalized,
    standardized,
    # contractions
    lambda a, b: ops.matmul(a, constant(MIXED, a)) * 0.5,
    lambda a, b: a + ops.matmul(b, b.T) @ a * 0.1,
    lambda a, b: ops.bmm(a.reshape(1, 3, 4), ops.transpose(b.reshape(1, 3, 4), (0, 2, 1)))[0] @ a * 0.1,
    lambda a, b: ops.einsum("ij,kj,kl->il", a, b, a) * 0.1,
    convolved,
    # elements that move
    lambda a, b: ops.concat([a[:, 2:], b[:, :2]], 1),
    lambda a, b: ops.flip(a, (1,)) * b,
    lambda a, b: ops.roll(a, 1, 0) - b,
    lambda a, b: ops.tril(a) + b,
    lambda a, b: ops.pad(a[:, 1:], (1, 0)) + b,
    lambda a, b: ops.repeat_interleave(a[:, :2], 2, 1) * b,
    lambda a, b: ops.gather(a, Tensor([2, 0, 1, 1]), 1) + b,
    assigned,
    # derivatives, other types and loops
    lambda a, b: a + ops.stop_gradient(b) ** 2 * 0.3,
    lambda a, b: (a.astype(ms.float64) * b.astype(ms.float64)).astype(a.dtype),
    inner_gradient,
    inner_jvp,
    repeated,
]


def program_of(seed, decides, sizes=range(5, 11)):
    """A random function of two matrices and a number; ``decides``: whether it branches on values.

    Its ``noise``, one matrix for each operator, is multiplied with the results of the operators.
    """
    draw = random.Random(seed)
    steps = [
        (draw.choice(OPERATORS), draw.randrange(9), draw.randrange(9), draw.random() < 0.2)
        for _ in range(draw.choice(sizes))
    ]

    def program(x, y, number, noise=None):
        values = [x, y]
        for k, (operator, i, j, asks) in enumerate(steps):
            a, b = values[i % len(values)], values[j % len(values)]
            if asks and decides and float(ops.stop_gradient(a).mean()) > 0.1:
                values.append(ops.cos(b))
            else:
                values.append(operator(a, b))
            if noise is not None:
                values[-1] = values[-1] * Tensor(noise[k])
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
            assert_close(a, b, "law", order=1, scale=1, what=f"{what}, call {call + 1}")


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
            assert is_compiled(hot), ms.cache_info(hot).eager


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


# -- half precision ----------------------------------------------------------------------------------------

#: the error allowed, in effects of one rounding per operator; 69 of 74 random programs stayed below 1.5
ROUNDINGS = 5.0


def of_both_orders(program):
    """The value of a program and of its gradient along ``y``, with derivatives by both matrices."""

    def value(x, y, number, noise=None):
        gradient = ms.grad(lambda z: program(z, y, number, noise))(x)
        return program(x, y, number, noise) + 0.5 * (gradient * y).sum()

    return ms.value_and_grad(value, (0, 1))


def wide(result):
    value, gradients = result
    return [t.astype(ms.float64).asnumpy().copy() for t in (value, *gradients)]


def effect_of_rounding(derivative, x, y, exact, epsilon, count):
    """How far the results move if each of ``count`` operators is off by one rounding."""
    generator = np.random.default_rng(0)
    effect = [epsilon * np.abs(e).max() for e in exact]
    for _ in range(4):
        noise = [1 + epsilon * generator.uniform(-1, 1, SHAPE) for _ in range(count)]
        moved = wide(derivative(x, y, 1.0, noise))
        effect = [max(s, np.abs(m - e).max()) for s, m, e in zip(effect, moved, exact, strict=True)]
    return effect


@pytest.mark.xla
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16], ids=str)
def test_random_programs_of_half_precision_are_as_accurate_in_all_modes(seed, dtype):
    sizes = range(3, 7)
    derivative = of_both_orders(program_of(seed, False, sizes))
    (x, y, _), *_ = calls_of(seed, 1)
    low = [Tensor(x).astype(dtype), Tensor(y).astype(dtype)]
    high = [each.astype(ms.float64) for each in low]
    epsilon = 2.0**-10 if dtype == ms.float16 else 2.0**-7
    with eager("numpy"):
        exact = wide(derivative(*high, 1.0))
        effect = effect_of_rounding(derivative, *high, exact, epsilon, sizes[-1])
        found = {"operator by operator": derivative(*low, 1.0)}
    ms.clear_cache()
    with eager("compiled"):
        hot = of_both_orders(program_of(seed, False, sizes))
        for _ in range(4):
            found["deferred"] = hot(*low, 1.0)
        assert is_compiled(hot), ms.cache_info(hot).eager
    found["jit"] = ms.jit(derivative)(*low, 1.0)
    for mode, (value, gradients) in found.items():
        assert {t.dtype for t in (value, *gradients)} == {dtype}, mode
        for ours, theirs, size in zip(wide((value, gradients)), exact, effect, strict=True):
            fits = np.abs(theirs) < 3e4  # of the range of float16
            np.testing.assert_allclose(ours[fits], theirs[fits], rtol=0, atol=ROUNDINGS * size, err_msg=mode)
