"""Law: random complex programs have the derivatives of central differences, in all modes and both precisions.

A program is a list of random operators on two complex matrices, holomorphic or not, whose result is a real number.
Its gradient, the derivative of the gradient along a direction, and the gradient of a function of the gradient are
compared with differences in complex128. Calls that are deferred or compiled return what operators return one by
one. In complex64 the results are compared with complex128, relative to the effect of one rounding per operator.
"""

import random

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tiers import arrays, eager
from tests.tolerances import assert_close

pytestmark = pytest.mark.xla

SHAPE = (3, 4)
MIXED = np.linspace(-1.0, 1.0, 16).reshape(4, 4)
MIXED = MIXED + 1j * MIXED.T
#: the error of complex64 allowed, in effects of one rounding per operator; 1 of 100 random programs exceeded 10
ROUNDINGS = 20.0


def constant(array, like):
    return Tensor(array).astype(like.dtype)


def assigned(a, b):
    c = a * 1.0
    c[1] = ops.conj(b[0])
    return c


def solved(a, b):
    matrix = constant(3 * np.eye(4), a) + ops.matmul(ops.conj(b).T, b) * 0.3
    return ops.matmul(a, ops.solve(matrix, constant(MIXED, a)))


def inverted(a, b):
    return ops.matmul(a, ops.inverse(constant(3 * np.eye(4), a) + ops.matmul(b.T, b) * 0.1))


def factored(a, b):
    return ops.matmul(a, ops.cholesky(constant(2 * np.eye(4), a) + ops.matmul(ops.conj(b).T, b) * 0.3)) * 0.3


def determinant(a, b):
    return a * ops.det(constant(2 * np.eye(3), a) + ops.matmul(b, b.T) * 0.1) * 0.1


def logarithm_of_determinant(a, b):
    return a * ops.slogdet(constant(2 * np.eye(3), a) + ops.matmul(b, ops.conj(b).T) * 0.1)[1]


#: operators of two matrices that keep their shape, and nearly their size
OPERATORS = [
    # holomorphic
    lambda a, b: a + b,
    lambda a, b: a * b,
    lambda a, b: a - (0.3 + 0.2j) * b,
    lambda a, b: a / (3.5 + b * b * 0.2),
    lambda a, b: a**2 * 0.3 - b,
    lambda a, b: a**3 * 0.1 + b,
    lambda a, b: (a * 0.2 + 3) ** 1.5 * 0.2,
    lambda a, b: ops.pow(a * 0.1 + 2.0, b * 0.2),
    lambda a, b: ops.exp(0.3 * a) + b,
    lambda a, b: ops.expm1(0.3 * a),
    lambda a, b: ops.log(b * 0.2 + 3.0) * a,
    lambda a, b: ops.log1p(a * a * 0.05 + 1),
    lambda a, b: ops.sin(0.5 * a),
    lambda a, b: ops.cos(0.5 * b) * a,
    lambda a, b: ops.tan(a * 0.2),
    lambda a, b: ops.atan(a * 0.1) + b,
    lambda a, b: ops.sinh(0.3 * a),
    lambda a, b: ops.cosh(0.3 * a) * b,
    lambda a, b: ops.tanh(0.4 * a) + b,
    lambda a, b: ops.asinh(a * 0.2) * b,
    lambda a, b: ops.sqrt(a * a * 0.1 + 4.0),
    lambda a, b: ops.reciprocal(a * 0.2 + 3) * b,
    lambda a, b: a * b.sum(0, keepdims=True) * 0.4,
    lambda a, b: ops.cumsum(a, 1) * 0.4,
    lambda a, b: ops.prod(a * 0.5, 1, True) * 0.3 + b,
    lambda a, b: ops.matmul(a, constant(MIXED, a)) * 0.4,
    lambda a, b: ops.matmul(ops.diag(a[:, 0]), b),
    lambda a, b: ops.fft(a) * 0.3 + b,
    lambda a, b: ops.ifft(a) * b,
    inverted,
    determinant,
    # elements that move
    lambda a, b: ops.concat([a[:, 2:], b[:, :2]], 1),
    lambda a, b: ops.gather(a, Tensor([2, 0, 1, 1]), 1) + b,
    lambda a, b: ops.roll(a, 1, 0) - ops.conj(b),
    lambda a, b: ops.where(ops.abs(a) > ops.abs(b), a, b * 0.5j),
    assigned,
    # conjugates, moduli, angles and parts
    lambda a, b: ops.conj(a) * b,
    lambda a, b: -ops.conj(a) + b,
    lambda a, b: a * ops.abs(b),
    lambda a, b: a * ops.sgn(b),
    lambda a, b: a * ops.angle(b),
    lambda a, b: a * ops.real(b),
    lambda a, b: a + ops.imag(b) * 1j,
    lambda a, b: a * (ops.real(b) ** 2 + ops.imag(b) ** 2) * 0.3,
    lambda a, b: ops.complex(ops.real(a), ops.imag(b)),
    lambda a, b: ops.polar(ops.abs(a), ops.angle(b) + 0.3),
    lambda a, b: ops.exp(1j * ops.abs(a)) * b,
    lambda a, b: ops.irfft(ops.rfft(ops.real(a)), 4) + b,
    lambda a, b: a / (ops.norm(ops.abs(b), dim=1, keepdim=True) + 0.5),
    lambda a, b: a - a.mean(1, keep_dims=True) * ops.conj(b),
    lambda a, b: a + ops.matmul(b, ops.conj(b).T) @ a * 0.1,
    lambda a, b: ops.einsum("ij,kj,kl->il", a, ops.conj(b), a) * 0.1,
    lambda a, b: a * ops.trace(ops.matmul(b, ops.conj(a).T)) * 0.1,
    lambda a, b: a * ops.svd(b, compute_uv=False).sum() * 0.2,
    logarithm_of_determinant,
    solved,
    factored,
]


def program_of(seed):
    """A random real function of two complex matrices; its ``noise`` is multiplied with the operators' results."""
    draw = random.Random(seed)
    steps = [
        (draw.choice(OPERATORS), draw.randrange(9), draw.randrange(9)) for _ in range(draw.randrange(2, 6))
    ]

    def program(x, y, noise=None):
        values = [x, y]
        for k, (operator, i, j) in enumerate(steps):
            values.append(operator(values[i % len(values)], values[j % len(values)]))
            if noise is not None:
                values[-1] = values[-1] * Tensor(noise[k])
        out = values[-1] * ops.conj(values[-2]) + values[-1] ** 2
        return (ops.real(out) + 0.5 * ops.imag(out)).sum()

    return program


def weighed(gradient, y):
    """A real function of a gradient."""
    return (ops.real(gradient) * ops.real(y) + 0.7 * ops.imag(gradient) * ops.imag(y)).sum()


def derivatives_of(program):
    """The value, both gradients, the gradient of a function of the gradient, and a derivative of the gradient."""
    first = ms.value_and_grad(program, (0, 1))
    of_gradient = ms.grad(lambda x, y, *noise: weighed(ms.grad(program)(x, y, *noise), y))

    def derivatives(x, y, *noise):
        value, gradients = first(x, y, *noise)
        along = ops.jvp(lambda z: ms.grad(program)(z, y, *noise), x, y)[1]
        return value, *gradients, of_gradient(x, y, *noise), along

    return derivatives


def matrices_of(seed):
    generator = np.random.default_rng(seed)
    return [generator.normal(size=SHAPE) + 1j * generator.normal(size=SHAPE) for _ in range(3)]


def paired(gradient, direction):
    return (gradient.real * direction.real + gradient.imag * direction.imag).sum()


def difference(function, at, direction, h=1e-5):
    return (function(at + h * direction) - function(at - h * direction)) / (2 * h)


@pytest.mark.parametrize("seed", range(8))
def test_random_complex_programs_have_the_derivatives_of_differences(seed):
    x, y, direction = matrices_of(seed)
    program = program_of(seed)
    with eager("numpy"):
        value, slope, _, second, along = arrays(derivatives_of(program)(Tensor(x), Tensor(y)))
        of_value = difference(lambda z: program(Tensor(z), Tensor(y)).item(), x, direction)
        gradient = lambda z: ms.grad(program)(Tensor(z), Tensor(y))
        of_gradient = difference(lambda z: gradient(z).asnumpy(), x, y)
        of_weighed = difference(lambda z: weighed(gradient(z), Tensor(y)).item(), x, direction)
    assert (value.dtype, slope.dtype, second.dtype) == (np.float64, np.complex128, np.complex128)
    for ours, theirs, size in (
        (paired(slope, direction), of_value, np.abs(slope).max()),
        (paired(second, direction), of_weighed, np.abs(second).max()),
        (along, of_gradient, np.abs(along).max()),
    ):
        assert_close(ours, theirs, "difference", scale=1 + size)


@pytest.mark.parametrize("seed", range(3))
def test_random_complex_programs_agree_in_all_modes(seed):
    x, y, _ = map(Tensor, matrices_of(seed))
    with eager("numpy"):
        expected = arrays(derivatives_of(program_of(seed))(x, y))
    ms.clear_cache()
    with eager("compiled"):
        hot = derivatives_of(program_of(seed))
        deferred = [arrays(hot(x, y)) for _ in range(4)][-1]
        assert any(": compiled: " in line for line in ms.cache_info().eager)
    compiled = arrays(ms.jit(derivatives_of(program_of(seed)))(x, y))
    for mode, results in (("deferred", deferred), ("jit", compiled)):
        for ours, theirs in zip(results, expected, strict=True):
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), mode
            assert_close(ours, theirs, "law", what=mode)


@pytest.mark.parametrize("seed", range(3))
def test_random_complex_programs_are_as_accurate_in_complex64(seed):
    low = [Tensor(z.astype(np.complex64)) for z in matrices_of(seed)[:2]]
    high = [z.astype(ms.complex128) for z in low]
    derivatives, epsilon = derivatives_of(program_of(seed)), 2.0**-23
    generator = np.random.default_rng(0)
    with eager("numpy"):
        exact = arrays(derivatives(*high))
        effect = [epsilon * np.abs(e).max() for e in exact]
        for _ in range(4):
            moved = arrays(derivatives(*high, 1 + epsilon * generator.uniform(-1, 1, (5, *SHAPE))))
            effect = [max(s, np.abs(m - e).max()) for s, m, e in zip(effect, moved, exact, strict=True)]
        found = {"operator by operator": arrays(derivatives(*low))}
    found["jit"] = arrays(ms.jit(derivatives)(*low))
    for mode, results in found.items():
        for ours, theirs, size in zip(results, exact, effect, strict=True):
            assert ours.dtype == (np.complex64 if np.iscomplexobj(theirs) else np.float32), mode
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=ROUNDINGS * size, err_msg=mode)
