"""No transform and no mode loses absorption: a value that can be infinite stays marked as one that can."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad._base.tree import flatten
from mindgrad.control.lazy import expand_lazy
from mindgrad.ir import settings
from mindgrad.ir.build import Builder, building
from mindgrad.ir.dtype import float64
from mindgrad.ir.graph import Constant, Graph
from mindgrad.ir.primitive import REGISTRY
from mindgrad.ir.scope import apply
from mindgrad.ir.types import tensor_type
from mindgrad.optimize.pipeline import before_compilation, before_derivative
from mindgrad.transforms.apply_rule import step
from mindgrad.transforms.batch import batch
from mindgrad.transforms.forward import forward
from mindgrad.transforms.forward_laplacian import collapse
from mindgrad.transforms.reverse import reverse
from mindgrad.transforms.taylor import taylor
from tests.laws.harness import calls
from tests.laws.test_conventions import UNARY
from tests.programs.evaluated import evaluated

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
def test_a_derivative_of_an_infinite_factor_absorbs(name):
    counts = TRANSFORMS[name](product_of_infinite()).count()
    assert counts["absorb"] >= (1 if name == "reverse" else 2), counts


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


def test_a_constant_of_the_derivative_that_is_infinite_absorbs():
    def functions(x: Tensor, y: Tensor) -> list[Tensor]:
        return [
            ms.grad(lambda x: x**2 * ops.stop_gradient(ops.log(x)))(x),
            ms.grad(lambda x, y: x**2 * ops.log(y))(x, y),
            ms.grad(lambda x: ms.grad(lambda z: z**2 * ops.log(x))(y))(y),
            ms.jvp(lambda x: x**2 * ops.stop_gradient(ops.log(x)), x, Tensor(1.0))[1],
        ]

    zero = Tensor(0.0)
    for run in (functions, ms.jit(functions)):
        assert [y.item() for y in run(zero, zero)] == [0.0] * 4
