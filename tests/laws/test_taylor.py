"""Law 7: Taylor coefficients are those of nested forward mode, for every row, to third order."""

import math

import numpy as np
import pytest

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import float64
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Graph
from mindgrad.core.primitives.arithmetic import div
from mindgrad.core.primitives.elementwise import exp, sin, sqrt, tanh
from mindgrad.core.primitives.reduction import logsumexp
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.taylor import taylor
from tests.laws.harness import ROWS, calls, directions, graph_of
from tests.tolerances import assert_close

ORDER = 3


def nested(graph: Graph, active, arrays, tangents):
    """Coefficients of the outputs along a line, by forward mode of forward mode."""
    found, current = [], graph
    for k in range(1, ORDER + 1):
        pushed = forward(current, active)
        builder = Builder()
        with building(builder):
            inputs = [builder.input(v.type) for v in graph.inputs]
            along = [builder.constant(t) for t in tangents]
            outputs = builder.inline(pushed, [*inputs, *along])[-len(graph.outputs) :]
            current = builder.close(outputs)
        found.append([y / math.factorial(k) for y in evaluate(current, arrays)])
    return found


def series(graph: Graph, active, arrays, tangents, higher=None):
    """The same by one Taylor sweep."""
    made = taylor(graph, active, ORDER)
    coefficients = []
    for position, t in enumerate(tangents):
        rest = [np.zeros_like(t)] * (ORDER - 1) if higher is None else higher[position]
        coefficients += [t, *rest]
    outputs = evaluate(made, [*arrays, *coefficients])
    count = len(graph.outputs)
    listed = outputs[count:]
    return [[listed[i * ORDER + k] for i in range(count)] for k in range(ORDER)]


@pytest.mark.parametrize("name", ROWS)
def test_taylor_is_nested_forward(name):
    differentiable = [call for call in calls(name, float64) if call.active and call.row.jvp is not None]
    for call in differentiable:
        graph, tangents = graph_of(call), directions(call, float64, 11)
        expected = nested(graph, call.active, call.arrays, tangents)
        found = series(graph, call.active, call.arrays, tangents)
        for k in range(ORDER):
            for a, b in zip(found[k], expected[k], strict=True):
                # where a derivative is infinite or undefined, how far depends on the way there
                finite = np.isfinite(a) & np.isfinite(b)
                assert finite.all() or not np.isfinite(np.concatenate([a.ravel(), b.ravel()])).all()
                what = f"{call}, coefficient {k + 1}"
                assert_close(a[finite], b[finite], "law", order=1, scale=1, what=what)


PROGRAMS = {
    "tanh of a product": (lambda x: tanh(sin(x) * x), [0.3, 0.7]),
    "quotient": (lambda x: div(exp(x), 1 + x * x), [0.3, 0.7]),
    "root": (lambda x: sqrt(x) * exp(-x * x), [0.3, 0.7]),
    "reduction": (lambda x: logsumexp(x * x * tanh(x), axes=(0,)), [0.3, 0.7]),
    "constant": (lambda x: x * 0.0 + 3.0, [0.3, 0.7]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_taylor_of_programs(name):
    function, at = PROGRAMS[name]
    x = np.array(at)
    builder = Builder()
    with building(builder):
        variable = builder.input(calls("sin", float64)[0].types[0].with_shape(x.shape))
        graph = builder.close([function(variable)])
    tangent = np.array([1.0, -0.5])
    expected = nested(graph, [0], [x], [tangent])
    for found, wanted in zip(series(graph, [0], [x], [tangent]), expected, strict=True):
        assert_close(found[0], wanted[0], "program")


def test_taylor_along_a_curve():
    """exp(x(s)) with x = s + s² + s³: coefficients 1, 3/2, 13/6 by hand."""
    builder = Builder()
    with building(builder):
        variable = builder.input(calls("sin", float64)[1].types[0])
        graph = builder.close([exp(variable)])
    at, one = np.array(0.0), np.array(1.0)
    found = series(graph, [0], [at], [one], [[one, one]])
    assert_close([f[0] for f in found], [1, 3 / 2, 13 / 6])


def test_an_order_below_one_is_refused():
    call = calls("sin", float64)[0]
    with pytest.raises(ValueError, match="at least 1, but got 0"):
        taylor(graph_of(call), [0], 0)
