"""No transform and no mode loses the marks by which infinite slopes are shielded from exact zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.base.tree import flatten
from mindgrad.core.control.lazy import expand_lazy
from mindgrad.core.ir import settings
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import float64
from mindgrad.core.ir.graph import Constant, Graph
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.passes.pipeline import before_compilation, before_derivative
from mindgrad.core.transforms.apply_rule import step
from mindgrad.core.transforms.batch import batch
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.forward_laplacian import collapse
from mindgrad.core.transforms.reverse import reverse
from mindgrad.core.transforms.taylor import taylor
from tests.laws.harness import calls
from tests.laws.test_conventions import UNARY
from tests.programs.evaluated import evaluated
from tests.tolerances import assert_close

TRANSFORMS = {
    "forward": lambda g: forward(g, [0, 1]),
    "reverse": lambda g: reverse(g, [0, 1]),
    "taylor": lambda g: taylor(g, [0, 1], 2),
    "collapse": lambda g: collapse(g, [0, 1], 3),
    "batch": lambda g: batch(g, [0, 0], 3),
    "step": lambda g: step(g, 0, lambda builder, xs, ys, extras: ys),
    "expand_lazy": expand_lazy,
    "before_derivative": before_derivative,
    "before_compilation": before_compilation,
}


def product_of_infinite() -> Graph:
    """``(x, y) ↦ x y`` of which ``x`` can be infinite."""
    builder = Builder()
    with building(builder):
        kind = tensor_type("float64", (2,))
        x, y = builder.input(kind, tainted=True), builder.input(kind)
        return builder.close([x * y])


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform_keeps_the_mark_of_an_input(name):
    graph = TRANSFORMS[name](product_of_infinite())
    assert [v.tainted for v in graph.inputs[:2]] == [True, False]
    assert graph.outputs[0].tainted


@pytest.mark.parametrize("name", ["forward", "reverse", "taylor"])
def test_an_infinite_factor_is_shielded_from_tangents_that_can_be_zero(name):
    counts = TRANSFORMS[name](product_of_infinite()).count()
    assert counts["shield"] >= 1, counts


def test_a_mark_that_was_set_later_is_kept_when_equations_are_emitted_again():
    builder = Builder()
    with building(builder):
        x = builder.input(tensor_type("float64", (2,)))
        y = x * x
        y.tainted = True  # as of a cotangent that is masked out
        graph = builder.close([y])
    again = Builder()
    with building(again):
        assert again.inline(graph, again.inputs_like(graph.inputs))[0].tainted


def test_an_infinite_constant_can_be_infinite():
    assert Constant(np.asarray([1.0, np.inf])).tainted
    assert Constant(np.asarray(np.nan, np.float16)).tainted
    assert not Constant(np.asarray([1.0, 2.0])).tainted
    assert not Constant(np.asarray([1, 2])).tainted


# --- in every mode ----------------------------------------------------------------------------------

#: the first and the last two are masked out; most rows are infinite or NaN at some of them
POINT = [0.0, 0.5, -1.0, -1000.0]


def masked(name: str) -> Any:
    parameters = calls(name, float64)[0].parameters
    return lambda x: ops.where(x > 0, apply(REGISTRY[name], x, **parameters), 0.0).sum()


def derivatives(x: Tensor, t: Tensor) -> list[Any]:
    made = []
    for name in UNARY:
        function = masked(name)

        def slope(x: Tensor, function: Any = function) -> Tensor:
            return ms.jvp(function, x, t)[1]

        def gradient(x: Tensor, function: Any = function) -> Tensor:
            return ms.grad(function)(x)

        made.append((gradient(x), ms.grad(slope)(x), ms.jvp(gradient, x, t)[1]))
    return made


EXECUTORS = {"eager": lambda function: function, "compiled": ms.jit, "compiled without rewrites": evaluated}


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of what is rounded
@pytest.mark.parametrize("mode", EXECUTORS)
def test_a_branch_that_is_masked_out_contributes_nothing(mode):
    x, t = Tensor(np.array(POINT)), Tensor(np.ones(4))
    settings.store("rewrites", mode != "compiled without rewrites")
    try:
        made = EXECUTORS[mode](derivatives)(x, t)
    finally:
        settings.store("rewrites", True)
    for name, results in zip(UNARY, made, strict=True):
        for result in flatten(results)[0]:
            np.testing.assert_array_equal(result.asnumpy()[[0, 2, 3]], 0.0, name)


def test_a_zero_wins_over_infinity_if_it_does_not_move():
    """``x² log x`` by ``x``, ``y² log x`` by ``x`` of a gradient by ``y``, and a mask that is an argument."""

    def moving(x: Tensor, y: Tensor) -> list[Tensor]:
        return [
            ms.grad(lambda x: x**2 * ops.stop_gradient(ops.log(x)))(x),
            ms.grad(lambda x, y: x**2 * ops.log(y))(x, y),
            ms.jvp(lambda x: x**2 * ops.stop_gradient(ops.log(x)), x, Tensor(1.0))[1],
            ms.grad(lambda x: ops.cos(ops.sqrt(x)))(x),
            ms.hessian(lambda x: ops.cos(ops.norm(x)))(ops.stack([x, y])).sum(),
            ms.derivative(lambda x: ops.cos(ops.sqrt(x)), x, 1)[1],
        ]

    def fixed(x: Tensor, y: Tensor) -> list[Tensor]:
        return [
            ms.grad(lambda x: ms.grad(lambda z: z**2 * ops.log(x))(y))(y),
            ms.grad(lambda x, mask: mask * ops.sqrt(x))(x, y),
            ms.jvp(lambda x: ops.sqrt(x), x, Tensor(0.0))[1],
            ms.vjp(lambda x: ops.sqrt(x), x)[1](Tensor(0.0)),
            ms.grad(lambda x: (x > 0).astype(ms.float32) * ops.sqrt(x))(x),
            ms.grad(lambda x: ops.sqrt(ops.relu(x - 1.0)))(x),
            ms.derivative(lambda x: ops.where(x > 0, ops.cos(ops.sqrt(x)), 1.0), x, 1)[1],
        ]

    zero = Tensor(0.0)
    for way in (lambda function: function, ms.jit):
        assert [np.isnan(y.item()) for y in way(moving)(zero, zero)] == [True] * 6
        assert [y.item() for y in flatten(way(fixed)(zero, zero))[0]] == [0.0] * 7


#: square roots of values that are zero in a neighborhood of 0
CLIPPED = {
    "relu": lambda x: ops.sqrt(ops.relu(x - 1.0)),
    "clamp": lambda x: ops.sqrt(ops.clamp(x - 1.0, 0.0, 1.0)),
    "maximum": lambda x: ops.sqrt(ops.maximum(x - 1.0, ops.zeros_like(x))),
    "mask": lambda x: (x > 0).astype(ms.float32) * ops.sqrt(x),
}


@pytest.mark.parametrize("name", CLIPPED)
@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_an_exact_zero_wins_over_an_infinite_slope_in_taylor_coefficients(name, wrap):
    f = CLIPPED[name]
    for derive in (
        lambda x: ms.derivative(f, x, 1)[1],
        lambda x: ms.derivative(f, x, 2)[1],
        lambda x: ms.vmap(ms.grad(f))(x[None]),
        ms.grad(f),
    ):
        assert wrap(derive)(Tensor(0.0)).item() == 0.0


def test_a_moving_zero_stays_nan_where_another_element_is_masked():
    """The mask protects its own elements only: at 0 and unmasked the derivative of cos(sqrt(x)) is not 0."""
    x = Tensor(np.array([0.0, 0.0, -1.0, 1.0]))
    keep = Tensor(np.array([True, False, False, True]))

    def masked_cosine(x: Tensor) -> Tensor:
        return ops.where(keep, ops.cos(ops.sqrt(x)), 0.0).sum()

    expected = [np.nan, 0.0, 0.0, -0.5 * np.sin(1.0)]
    for gradient in (ms.grad(masked_cosine), ms.jit(ms.grad(masked_cosine))):
        np.testing.assert_allclose(gradient(x).asnumpy(), expected)


def test_a_zero_cotangent_can_be_differentiated():
    """A product with a cotangent that is zero at a point is linear in it there: forward mode by two reverses."""

    def pulled(ct: Tensor) -> Tensor:
        return ms.vjp(ops.sqrt, Tensor(4.0))[1](ct)

    for way in (lambda function: function, ms.jit):
        np.testing.assert_allclose(flatten(way(ms.grad(pulled))(Tensor(0.0)))[0][0].asnumpy(), 0.25)


def test_a_shielded_factor_can_be_a_tangent():
    """A vjp of a jvp of logcumsumexp under jit: the factor that is shielded depends on a tangent there."""

    def slope(x: Tensor) -> Tensor:
        return ms.jvp(lambda x: ops.logcumsumexp(x, 0)[-1], x, ops.ones_like(x))[1]

    def curvature(x: Tensor) -> Tensor:
        return ms.vjp(slope, x)[1](ops.ones_like(slope(x)))[0]

    x = Tensor(np.array([-2.0, 0.5, 1.0]))
    assert_close(ms.jit(curvature)(x), curvature(x), "program", scale=1)


#: functions of a condition that compares the input with zero, as masks of zeros do
COMPARED = {
    "product": lambda x: ops.where(x != 0, x * ops.log(x), 0.0),
    "slope": lambda x: ops.where(x != 0, ops.log(x) * ops.sqrt(x), 0.0),
    "inverted": lambda x: ops.where(x == 0, 0.0, ops.log(x) * ops.sqrt(x)),
    "quotient": lambda x: ops.where(x != 0, ops.sin(x) / x, 1.0),
    "power": lambda x: ops.where(x != 0, x**x, 0.0),
    "inside": lambda x: ops.sin(ops.where(x != 0, ops.cos(ops.log(x)) * x, 0.0)),
    "times a root": lambda x: ops.where(x != 0, ops.log(x), 0.0) * ops.sqrt(x),
}


@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", COMPARED)
def test_a_condition_of_the_program_that_compares_with_zero_masks_every_order(name, wrap):
    x, ones = Tensor([0.0, 0.5]), Tensor([1.0, 1.0])
    f = COMPARED[name]
    derivative = lambda x: f(x).sum()
    for order in range(1, 4):
        derivative = (lambda inner: lambda x: ms.grad(inner)(x).sum())(derivative)
        assert wrap(lambda x, order=order, d=derivative: d(x) - d(x[1:]))(x).item() == 0.0
    second = lambda x: ms.jvp(lambda x: ms.jvp(f, x, ones)[1], x, ones)[1]
    assert wrap(second)(x).asnumpy()[0] == 0.0
