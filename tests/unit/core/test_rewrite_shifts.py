"""Shifts that cancel are not differentiated."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir.rewriting import watching
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import compiled, on_and_off

X = np.random.default_rng(7).normal(size=(4, 6))
V = np.random.default_rng(8).normal(size=(6, 3))


def shifted(x, keep=True):
    greatest = ops.amax(x, 1, keepdims=keep)
    return greatest, ops.exp(x - (greatest if keep else greatest[:, None]))


def log_sum_exp(x):
    greatest, e = shifted(x, keep=False)
    return ops.square(greatest + ops.log(e.sum(1))).sum()


def of_all(x):
    return x.max() + ops.log(ops.exp(x - x.max()).sum())


def softmax(x):
    _, e = shifted(x)
    return ops.sin(e / e.sum(1, keepdims=True)).sum()


def log_softmax(x):
    greatest, e = shifted(x)
    return ops.square(x - greatest - ops.log(e.sum(1, keepdims=True))).sum()


def attention(x):
    _, e = shifted(x)
    return ops.sin(ops.matmul(e, Tensor(V)) / e.sum(1, keepdims=True)).sum()


def negated(x):
    """Both signs, and a mean in place of the maximum."""
    center = x.mean(1, keep_dims=True)
    return ops.square(ops.log(1.0 / ops.exp(-(center - x)).T.sum(0)) - center.squeeze(1)).sum()


@pytest.mark.parametrize(
    "function",
    [log_sum_exp, of_all, softmax, log_softmax, attention, negated],
    ids=lambda f: f.__name__,
)
def test_value_and_two_derivatives_are_the_same_and_the_shift_has_none(function):
    if function is not negated:
        assert on_and_off(function, [X])["shifts"] >= 1
    with compiled():
        gradient = trace(ms.grad(function), Tensor(X))
    assert not [e for e in gradient.equations if e.primitive.name in ("equal", "greater", "less")]


def test_a_gradient_through_ties_is_that_of_the_formula():
    x = Tensor(np.array([[2.0, 2.0, 1.0], [-700.0, -800.0, -700.0]]))
    with compiled():
        first = ms.jit(
            ms.grad(lambda x: ops.square(shifted(x)[1] / shifted(x)[1].sum(1, keepdims=True)).sum())
        )
        expected = ms.grad(lambda x: ops.square(ops.softmax(x, 1)).sum())(x)
        assert_close(first(x), expected, kind="program")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: shifted(x)[1].sum(),
        lambda x: (shifted(x)[1] / ops.exp(x).sum()).sum(),
        lambda x: (shifted(x)[1] / shifted(x)[1].sum(0, keepdims=True) * V[:, 0]).sum(),
        lambda x: (2 * shifted(x, False)[0] + ops.log(shifted(x)[1].sum(1))).sum(),
        lambda x: (
            ops.tanh(shifted(x)[0]) * shifted(x)[1] / shifted(x)[1].sum(1, keepdims=True) * V[:, 0]
        ).sum(),
        lambda x: ops.log(shifted(x)[1].sum(1) + 1.0).sum(),
    ],
    ids=["alone", "half", "other axis", "twice", "used besides", "plus one"],
)
def test_what_depends_on_the_shift_is_differentiated_in_it(function):
    assert not on_and_off(function, [X])["shifts"]


def test_numbers_that_are_not_finite_stay_so():
    rows = [[np.inf, 1.0], [np.nan, 1.0], [-np.inf, -np.inf], [-np.inf, 1.0], [1.0, 2.0]]
    results = []
    for rewrites in (False, True):
        with compiled(rewrites), watching() as fired:
            results.append(ms.jit(ms.grad(log_sum_exp))(Tensor(np.array(rows))).asnumpy())
    assert fired["shifts"] == 1
    assert_close(results[1], results[0], kind="program")
    assert np.isnan(results[0]).any(1).tolist() == [True, True, True, False, False]
