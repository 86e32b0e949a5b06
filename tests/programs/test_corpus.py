"""The corpus: small programs, eager and compiled, all derivatives, against three oracles."""

import numpy as np
import pytest

from mindgrad import Tensor
from mindgrad._base.tree import flatten
from mindgrad.ops import GradOperation
from tests.programs.corpus import (
    contraction,
    control,
    indexing,
    layout,
    nested,
    nets,
    physics,
    pointwise,
    reductions,
    types,
)
from tests.programs.corpus.check import MODES, Checked
from tests.programs.corpus.program import PROGRAMS

ROOMS = (contraction, control, indexing, layout, nested, nets, physics, pointwise, reductions, types)


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
    found = checked(name)
    assert list(found.eager) == list(MODES)
    for mode in MODES:
        for eager, compiled in zip(found.eager[mode], found.compiled[mode], strict=True):
            assert (eager.shape, eager.dtype) == (compiled.shape, compiled.dtype), mode
        agree(
            found.compiled[mode], found.eager[mode], mode, max(found.program.rtol, 1e-9), found.program.atol
        )


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_have_the_types_of_what_they_belong_to(checked, name):
    found = checked(name)
    wanted = [x.dtype for x in found.xs] + [w.asnumpy().dtype for w in found.weights]
    for mode in ("reverse", "reverse over reverse", "forward over reverse", "reverse over forward"):
        assert [g.dtype for g in found.eager[mode]] == wanted, mode
    for mode in ("forward", "forward over forward"):
        assert [t.dtype for t in found.eager[mode]] == [y.dtype for y in found.eager["value"]], mode


@pytest.mark.parametrize("name", [name for name, each in PROGRAMS.items() if each.oracle])
def test_jax_agrees(checked, name):
    found = checked(name)
    by_jax = found.by_jax()
    scale = max(1.0, *[float(np.max(np.abs(y), initial=0)) for y in by_jax["reverse over reverse"]])
    for mode in MODES:
        agree(found.eager[mode], by_jax[mode], mode, found.program.rtol, found.program.atol * scale)


@pytest.mark.parametrize("name", [name for name, each in PROGRAMS.items() if each.smooth])
def test_finite_differences_agree(checked, name):
    found = checked(name)
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
    np.testing.assert_allclose(second, first, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", [name for name, each in PROGRAMS.items() if each.gradient])
def test_known_formulas_agree(name):
    program = PROGRAMS[name]
    function, _, others = program.parts()
    xs = program.inputs()
    found = GradOperation(get_all=True)(lambda *xs: function(*xs, *others))(*map(Tensor, xs))
    formula = program.gradient(*xs, *program.others)
    expected = formula if isinstance(formula, tuple) else (formula,)
    for ours, theirs in zip(flatten(found)[0], expected, strict=True):
        np.testing.assert_allclose(ours.asnumpy(), theirs, rtol=1e-9, atol=1e-11)


def test_the_corpus_is_what_it_is_said_to_be():
    assert len(ROOMS) == 10
    assert len(PROGRAMS) >= 60
    assert sum(each.oracle is not None for each in PROGRAMS.values()) >= 60
    assert sum(each.smooth for each in PROGRAMS.values()) >= 50
