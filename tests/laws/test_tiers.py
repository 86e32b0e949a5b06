"""Law: cold = warm = compiled. A call of eager mode gives the same in every tier, and the same as ``jit``.

    f(x) operator by operator = f(x) recorded = f(x) as one program = jit(f)(x)    to rounding

The inputs of each call differ from those of the calls before, so that no value of one call can hide in the
program that is made of it.
"""

import contextlib
import itertools
import random

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad._base.tree import flatten
from mindgrad.core import settings
from tests.programs.corpus import (  # noqa: F401  (they fill PROGRAMS)
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
from tests.programs.corpus.program import PROGRAMS

#: programs of which not every call is hot from the third on, and why
NOT_HOT: dict[str, str] = {}


@contextlib.contextmanager
def eager(switch):
    before = settings.get("eager")
    settings.store("eager", switch)
    try:
        yield
    finally:
        settings.store("eager", before)


def arrays(result):
    return [np.array(x.asnumpy()) if isinstance(x, Tensor) else x for x in flatten(result)[0]]


def agree(ours, theirs, what, rtol, atol):
    assert len(ours) == len(theirs), what
    for index, (x, y) in enumerate(zip(ours, theirs, strict=True)):
        if isinstance(y, np.ndarray):
            assert (x.shape, x.dtype) == (y.shape, y.dtype), what
        np.testing.assert_allclose(x, y, rtol=rtol, atol=atol, err_msg=f"{what}, result {index}")


def is_hot(function):
    lines = ms.cache_info(function).eager
    return bool(lines) and all(": hot: " in line for line in lines)


class Whole(nn.Cell):
    """A Cell that is a function, whose calls have tiers like those of any Cell."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *args):
        return self.function(*args)


def floats(tree):
    return [x for x in flatten(tree)[0] if isinstance(x, Tensor) and x.dtype.is_inexact]


def weighted(tensors):
    """A number that depends on all of them, and on each element of them differently."""
    total = Tensor(0.0, ms.float64)
    for t in tensors:
        weights = np.cos(np.arange(t.size)).reshape(t.shape) + 1.5
        total = total + ops.reduce_sum(ops.real(t * Tensor(weights.astype(np.float64))).astype(ms.float64))
    return total


def value_and_gradient(f, weights, positions):
    return ms.value_and_grad(lambda *xs: weighted(floats(f(*xs))), positions, weights or None)


def gradient_of_gradient(f, weights, positions):
    slope = lambda *xs: weighted(floats(ms.grad(lambda *xs: weighted(floats(f(*xs))), positions)(*xs)))
    return ms.grad(slope, positions)


def forward(f, weights, positions):
    return Whole(lambda *xs: ops.jvp(tensors_of(f), xs, tuple([x * 0.5 + 1 for x in xs])))


def forward_over_reverse(f, weights, positions):
    gradient = ms.grad(lambda *xs: weighted(floats(f(*xs))), positions)
    return Whole(lambda *xs: ops.jvp(gradient, xs, tuple([x * 0.5 + 1 for x in xs])))


def value(f, weights, positions):
    return Whole(f)


DERIVATIVES = [value_and_gradient, gradient_of_gradient, forward, forward_over_reverse, value]


def tensors_of(function):
    """``function``, of whose results only the tensors are left."""
    return lambda *xs: tuple([x for x in flatten(function(*xs))[0] if isinstance(x, Tensor)])


def calls_of(xs, count=4):
    """Inputs that differ from call to call, by factors near to 1: no sign changes."""
    return [
        [Tensor(x * x.dtype.type(1 + 0.01 * k)) if x.dtype.kind in "fc" else Tensor(x) for x in xs]
        for k in range(count)
    ]


CASES = [(name, DERIVATIVES[(k + j) % 5]) for k, name in enumerate(PROGRAMS) for j in (0, 1)]


@pytest.mark.parametrize(("name", "derive"), [pytest.param(*c, id=f"{c[0]}-{c[1].__name__}") for c in CASES])
def test_tiers_of_the_corpus(name, derive):
    program = PROGRAMS[name]
    function, weights, others = program.parts()
    xs = program.inputs()
    f = lambda *xs: function(*xs, *others)
    calls = calls_of(xs)
    positions = tuple(range(len(xs)))
    with eager("numpy"):
        cold = derive(f, weights, positions)
        expected = [arrays(cold(*call)) for call in calls]
    ms.clear_cache()  # functions of one code have their lines in common
    with eager("compiled"):
        hot = derive(f, weights, positions)
        for number, call in enumerate(calls):
            agree(arrays(hot(*call)), expected[number], f"call {number + 1}", max(program.rtol, 1e-8), 1e-9)
            if number == 2:
                assert is_hot(hot) or name in NOT_HOT, ms.cache_info(hot).eager
