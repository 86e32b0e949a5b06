"""A rebuilt graph shares what no replacement reaches, and has the values of the original elsewhere."""

import numpy as np

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.passes.graph_rewriter import rebuild
from mindgrad.core.primitives.elementwise import exp, sin


def test_what_no_replacement_reaches_is_shared():
    builder = Builder()
    with building(builder):
        x = builder.input(tensor_type("float64", (3,)))
        first = exp(x)
        second = sin(x)
        graph = builder.close([first, -(second * 2.0) + 3.0])

    def replace(equation, read):
        return exp(read(equation.inputs[0])) * 1.0 if equation.primitive is sin else None

    for simplifies in (True, False):
        other = rebuild(graph, replace, simplifies)
        assert isinstance(other, Graph)
        assert other.equations[0] is graph.equations[0]
        # the replacement is what stands there already, and what reads it is emitted on that
        assert len(other.equations) == len(graph.equations) - 1
        assert other.outputs[0] is graph.outputs[0]
        assert other.outputs[1] is not graph.outputs[1]
        point = np.array([0.1, 0.2, 0.3])
        values = evaluate(other, [point])
        np.testing.assert_allclose(values[1], 3.0 - 2.0 * np.exp(point))
        np.testing.assert_allclose(evaluate(graph, [point])[1], 3.0 - 2.0 * np.sin(point))
