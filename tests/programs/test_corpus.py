"""The corpus: small programs, eager and compiled, all derivatives, against three oracles."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings, strategies

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.core.base.tree import flatten
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.ops import GradOperation, grad, jvp, stop_gradient
from tests.programs.corpus import (
    contraction,
    control,
    drawn,
    indexing,
    layout,
    nested,
    nets,
    physics,
    pointwise,
    reductions,
    types,
)
from tests.programs.corpus.check import MODES, Checked, modes_for_xla
from tests.programs.corpus.program import PROGRAMS, Program, normal
from tests.thorough import size
from tests.tolerances import assert_close

PACKAGES = (contraction, control, indexing, layout, nested, nets, physics, pointwise, reductions, types)


@pytest.fixture(scope="module")
def checked():
    """Each program with its derivatives, run once."""
    made: dict[str, Checked] = {}

    def of(name):
        if name not in made:
            made[name] = Checked(PROGRAMS[name])
        return made[name]

    return of


def agree(found, expected, what, rtol, atol):
    assert len(found) == len(expected), f"{what}: {len(found)} tensors instead of {len(expected)}"
    for index, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol, err_msg=f"{what}, tensor {index}")


@pytest.mark.parametrize("name", PROGRAMS)
def test_eager_and_compiled_agree(checked, name):
    """Compiled with rewrites; and the program without them, which is not compiled a second time."""
    found = checked(name)
    as_written = found.as_written()
    assert list(found.eager) == list(MODES)
    assert list(found.compiled) == list(MODES[:-1])
    assert tuple(found.by_xla) == modes_for_xla(name)
    for mode, arrays in found.by_xla.items():
        agree(
            arrays, found.compiled[mode], f"{mode}, by XLA", max(found.program.rtol, 1e-9), found.program.atol
        )
    for mode in found.compiled:
        for eager, compiled in zip(found.eager[mode], found.compiled[mode], strict=True):
            assert (eager.shape, eager.dtype) == (compiled.shape, compiled.dtype), mode
        rtol, atol = max(found.program.rtol, 1e-9), found.program.atol
        agree(found.compiled[mode], found.eager[mode], mode, rtol, atol)
        agree(found.compiled[mode], as_written[mode], f"{mode}, as written", rtol, atol)


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_have_the_types_of_what_they_belong_to(checked, name):
    found = checked(name)
    wanted = [x.dtype for x in found.xs] + [w.asnumpy().dtype for w in found.weights]
    for mode in ("reverse", "reverse over reverse", "forward over reverse", "reverse over forward"):
        assert [g.dtype for g in found.eager[mode]] == wanted, mode
    for mode in ("forward", "forward over forward"):
        assert [t.dtype for t in found.eager[mode]] == [y.dtype for y in found.eager["value"]], mode


def agrees_with_jax(found):
    by_jax = found.by_jax()
    scale = max(1.0, *[float(np.max(np.abs(y), initial=0)) for y in by_jax["reverse over reverse"]])
    for mode in MODES:
        agree(found.eager[mode], by_jax[mode], mode, found.program.rtol, found.program.atol * scale)


@pytest.mark.parametrize("name", [name for name, program in PROGRAMS.items() if program.oracle])
def test_jax_agrees(checked, name):
    agrees_with_jax(checked(name))


def agrees_with_finite_differences(found):
    for what, function, mode in [
        ("first order", found.outputs, "forward"),
        ("second order", found.gradient, "forward over reverse"),
    ]:
        quotient = found.quotient(function, 2e-4)
        scale = max(1.0, *[float(np.max(np.abs(y), initial=0)) for y in quotient])
        agree(found.eager[mode], quotient, what, 1e-6, 1e-6 * scale)
    first = sum(np.sum(c * t) for c, t in zip(found.cts, found.eager["forward"], strict=True))
    given = [*found.vs, *[np.zeros_like(u) for u in found.us]]
    second = sum(np.sum(g * v) for g, v in zip(found.eager["reverse"], given, strict=True))
    assert_close(second, first, "law", order=1, scale=1)


@pytest.mark.parametrize("name", [name for name, program in PROGRAMS.items() if program.smooth])
def test_finite_differences_agree(checked, name):
    agrees_with_finite_differences(checked(name))


def agrees_with_the_formula(program):
    function, _, others = program.parts()
    xs = program.inputs()
    found = GradOperation(get_all=True)(lambda *xs: function(*xs, *others))(*map(Tensor, xs))
    formula = program.gradient(*xs, *program.others)
    expected = formula if isinstance(formula, tuple) else (formula,)
    agree([t.asnumpy() for t in flatten(found)[0]], expected, "gradient", 1e-9, 1e-11)


@pytest.mark.parametrize("name", [name for name, program in PROGRAMS.items() if program.gradient])
def test_known_formulas_agree(name):
    agrees_with_the_formula(PROGRAMS[name])


def test_the_corpus_is_what_it_is_said_to_be():
    assert len(PACKAGES) == 10
    assert len(PROGRAMS) >= 60
    assert sum(each.oracle is not None for each in PROGRAMS.values()) >= 60
    assert sum(each.smooth for each in PROGRAMS.values()) >= 50
    assert sum(modes_for_xla(name) == MODES[:-1] for name in PROGRAMS) >= 12


# -- errors that are planted -------------------------------------------------------------------------


class WrongSquare(nn.Cell):
    """x², with a derivative that is wrong by one part in a thousand."""

    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (2.002 * x * dout,)


class WrongCurvature(nn.Cell):
    """x², whose first derivative is right and whose second is zero."""

    def construct(self, x):
        return x * x

    def bprop(self, x, out, dout):
        return (2 * stop_gradient(x) * dout,)


@pytest.mark.parametrize("wrong", [WrongSquare, WrongCurvature])
def test_each_oracle_notices_a_wrong_derivative(wrong):
    square = wrong()
    planted = Program(
        name=f"planted {wrong.__name__}",
        make=lambda: lambda x: ops.sin(x) * square(x),
        draws=[normal(3)],
        oracle=lambda x: jax.numpy.sin(x) * x * x,
        gradient=lambda x: np.cos(x) * x * x + 2 * np.sin(x) * x,
    )
    del PROGRAMS[planted.name]
    found = Checked(planted)
    for check in (agrees_with_jax, agrees_with_finite_differences):
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            check(found)
    if wrong is WrongSquare:
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            agrees_with_the_formula(planted)


# -- programs that are drawn -------------------------------------------------------------------------


def _seconds(f, xs, vs):
    """Value, gradient, and the Hessian times v in two ways."""
    slope = lambda *xs: grad(f, (0, 1, 2))(*xs)
    value, gradients = ms.value_and_grad(f, (0, 1, 2))(*xs)
    _, forward = jvp(slope, xs, vs)
    reverse = grad(
        lambda *xs: sum(ops.reduce_sum(g * v) for g, v in zip(slope(*xs), vs, strict=True)), (0, 1, 2)
    )
    return [value, *gradients, *forward, *reverse(*xs)]


def _arguments(seed):
    generator = np.random.default_rng(seed)
    return [[generator.uniform(-1, 1, shape) for shape in drawn.INPUTS] for _ in range(2)]


def _by_mindgrad(program, seed, way):
    xs, vs = [tuple(map(Tensor, each)) for each in _arguments(seed)]
    f = drawn.by_mindgrad(program)
    return [t.asnumpy() for t in way(lambda xs, vs: _seconds(f, xs, vs))(xs, vs)]


@settings(max_examples=size(12, 24))
@given(program=drawn.instructions, seed=strategies.integers(0, 2**32 - 1))
def test_drawn_programs_agree_with_jax(program, seed):
    f = drawn.by_jax(program)
    with jax.enable_x64(True):
        xs, vs = [tuple(map(jax.numpy.asarray, each)) for each in _arguments(seed)]
        slope = jax.grad(f, (0, 1, 2))
        derivatives = jax.jit(lambda xs, vs: (f(*xs), *jax.jvp(slope, xs, vs)))
        value, gradients, curved = derivatives(xs, vs)
        expected = [np.asarray(each) for each in (value, *gradients, *curved, *curved)]
    found = _by_mindgrad(program, seed, lambda f: f)
    agree(found, expected, drawn.describe(program, tuple(map(Tensor, _arguments(seed)[0]))), 1e-9, 1e-9)


@settings(max_examples=size(8, 16))
@given(program=drawn.instructions, seed=strategies.integers(0, 2**32 - 1))
def test_drawn_programs_are_the_same_compiled(program, seed):
    found = _by_mindgrad(program, seed, Compiled)
    expected = _by_mindgrad(program, seed, lambda f: f)
    agree(found, expected, drawn.describe(program, tuple(map(Tensor, _arguments(seed)[0]))), 1e-9, 1e-9)
