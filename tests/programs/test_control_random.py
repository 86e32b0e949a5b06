"""Random nested control flow: eager, compiled and hyper-dual derivatives of drawn programs agree."""

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.ops import grad, jvp
from tests.programs.control.drawn import function_of, sources
from tests.programs.control.hyper_dual import ELEMENTARY, derivatives
from tests.programs.evaluated import evaluated
from tests.thorough import size
from tests.tolerances import assert_close

SEEDS = strategies.integers(0, 2**32 - 1)


def drawn_inputs(seed):
    """Three inputs, an iteration count, and a direction."""
    generator = np.random.default_rng(seed)
    return (
        generator.uniform(-1.5, 1.5, 3).tolist(),
        int(generator.integers(0, 4)),
        generator.uniform(-1, 1, 3).tolist(),
    )


def derivatives_of(f, seconds=("reverse", "forward")):
    """Value, gradient, and the Hessian times a direction, by the modes that ``seconds`` names over reverse."""

    def everything(xs, iterations, vs):
        loss = lambda *xs: f(*xs, iterations)
        slope = grad(loss, (0, 1, 2))
        along = lambda *xs: sum(g * v for g, v in zip(slope(*xs), vs, strict=True))
        value, gradient = ms.value_and_grad(loss, (0, 1, 2))(*xs)
        found = [value, *gradient]
        for mode in seconds:
            found += grad(along, (0, 1, 2))(*xs) if mode == "reverse" else jvp(slope, xs, vs)[1]
        return found

    return everything


def run(everything, xs, iterations, vs):
    as_tensors = lambda numbers: tuple(Tensor(np.array(x)) for x in numbers)
    return [
        float(y.asnumpy()) for y in everything(as_tensors(xs), Tensor(np.array(iterations)), as_tensors(vs))
    ]


def expected(source, seed, count=2):
    """The same by hyper-dual numbers, with ``count`` times the product with the Hessian."""
    xs, iterations, vs = drawn_inputs(seed)
    drawn = function_of(source, ELEMENTARY)
    value, gradient, curved = derivatives(lambda *xs: drawn(*xs, iterations), xs, vs)
    return [value, *gradient, *curved * count]


def check(everything, source, seeds, count=2):
    for seed in seeds:
        found = run(everything, *drawn_inputs(seed))
        assert_close(found, expected(source, seed, count), "law", each=True, order=2, scale=1, what=source)


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of inputs that are only compared
@settings(max_examples=size(40, 100))
@given(source=sources(), seeds=strategies.lists(SEEDS, min_size=3, max_size=3))
def test_eager(source, seeds):
    check(derivatives_of(function_of(source, ops)), source, seeds)


PATHS = strategies.lists(SEEDS, min_size=8, max_size=8)
#: one compiled program takes the paths of all inputs; to shrink would compile hundreds of programs
COMPILING = settings(phases=[Phase.reuse, Phase.generate])


@settings(COMPILING, max_examples=size(4, 6))
@given(source=sources(), seeds=PATHS)
def test_compiled_values(source, seeds):
    drawn = ms.jit(function_of(source, ops))
    for seed in seeds:
        found = run(lambda xs, iterations, _: [drawn(*xs, iterations)], *drawn_inputs(seed))
        assert_close(found, expected(source, seed)[:1], "law", each=True, order=1, scale=1, what=source)


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of inputs that are only compared
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@settings(COMPILING, max_examples=size(1, 2))
@given(source=sources(depth=2), seeds=PATHS)
def test_compiled_derivatives(mode, source, seeds):
    check(ms.jit(derivatives_of(function_of(source, ops), [mode])), source, seeds, count=1)


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of inputs that are only compared
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@settings(max_examples=6)
@given(source=sources(depth=2), seeds=PATHS)
def test_rewritten_derivatives(mode, source, seeds):
    """As they are compiled, by NumPy: XLA takes ten times as long."""
    check(evaluated(derivatives_of(function_of(source, ops), [mode])), source, seeds, count=1)


def test_hyper_dual_numbers_know_their_derivatives():
    def f(a, b, c, of=ELEMENTARY):
        return of.sin(a) * b + of.tanh(c) * of.cos(c) - a * a

    a, b, c = 0.4, -0.7, 0.3
    value, gradient, curved = derivatives(f, [a, b, c], [1.0, 2.0, 0.0])
    assert_close(value, np.sin(a) * b + np.tanh(c) * np.cos(c) - a * a, "contraction")
    slope = np.cos(c) / np.cosh(c) ** 2 - np.tanh(c) * np.sin(c)
    assert_close(gradient, [np.cos(a) * b - 2 * a, np.sin(a), slope], "contraction")
    assert_close(curved, [-np.sin(a) * b - 2 + 2 * np.cos(a), np.cos(a), 0.0], "contraction")


def test_a_wrong_derivative_is_noticed():
    """The check fails for a program whose derivative is stopped on one path."""
    source = "def drawn(a, b, c, iterations):\n    if a > 5.0:\n        return b * 1.0\n    return a * b + ops.sin(c)\n"
    wrong = lambda a, b, c, iterations: a * ops.stop_gradient(b) + ops.sin(c)
    check(derivatives_of(function_of(source, ops)), source, [1, 2])
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check(derivatives_of(wrong), source, [1, 2])
