"""The verifier of graphs finds what is planted in a graph, one mistake at a time."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir.graph import Equation, Graph, Variable
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.ir.verify import MalformedGraph, verify
from mindgrad.frontend.programs.compiled import trace

NEG = trace(lambda x: -x, Tensor(np.ones(3, np.float32))).equations[0].primitive


def graph():
    return trace(lambda x, y: ops.sqrt(x * y) + ops.sin(x), *[Tensor(np.ones(3, np.float32))] * 2)


def with_equation(index, **changes):
    """The graph with something else in one equation; it is verified when it is made."""
    whole = graph()
    old = whole.equations[index]
    fields = {name: getattr(old, name) for name in ("primitive", "inputs", "parameters", "outputs")}
    equations = list(whole.equations)
    equations[index] = Equation(**{**fields, **changes})
    return Graph(whole.inputs, equations, whole.outputs)


def test_what_the_tracer_makes_is_in_order():
    verify(graph())


def test_an_operand_that_nobody_defines():
    x = graph().inputs[0]
    with pytest.raises(MalformedGraph, match="operand 0 of equation 0, 'mul', is not defined before it"):
        with_equation(0, inputs=(Variable(x.type), x))


def test_equations_out_of_order():
    whole = graph()
    with pytest.raises(MalformedGraph, match="is not defined before it"):
        Graph(whole.inputs, whole.equations[::-1], whole.outputs)


def test_an_output_that_nobody_defines():
    whole = graph()
    with pytest.raises(MalformedGraph, match="output 0 is not defined"):
        Graph(whole.inputs, whole.equations[:-1], whole.outputs)


def test_a_variable_that_is_defined_twice():
    whole = graph()
    with pytest.raises(MalformedGraph, match="defines a variable that is defined already"):
        Graph(whole.inputs, [*whole.equations, whole.equations[-1]], whole.outputs)
    with pytest.raises(MalformedGraph, match="input 1 is an input twice"):
        Graph([whole.inputs[0]] * 2, [], [])


def test_a_type_that_the_rule_does_not_give():
    wrong = Variable(tensor_type(ms.float64, (3,)))
    with pytest.raises(
        MalformedGraph, match=r"returns \(Float32\[3\]\), but its variables are \(Float64\[3\]\)"
    ):
        with_equation(0, outputs=(wrong,))


def test_operands_that_the_rule_refuses():
    whole = graph()
    other = Variable(tensor_type(ms.float32, (2,)))
    first = whole.equations[0]
    broken = Equation(first.primitive, (whole.inputs[0], other), first.parameters, first.outputs)
    with pytest.raises(MalformedGraph, match="does not accept operands of the types"):
        Graph([*whole.inputs, other], [broken, *whole.equations[1:]], whole.outputs)


def test_a_mark_that_is_lost():
    quotient = trace(lambda x: ops.log(x), Tensor(np.ones(3, np.float32)))
    (index,) = [k for k, e in enumerate(quotient.equations) if e.outputs[0].tainted]
    start = quotient.equations[index]
    lost = Variable(start.outputs[0].type)
    broken = Equation(start.primitive, start.inputs, start.parameters, (lost,))
    with pytest.raises(MalformedGraph, match=r"'log', can be infinite and is not marked so"):
        Graph(quotient.inputs, [broken], [lost])
    after = Equation(NEG, (start.outputs[0],), {}, (lost,))
    with pytest.raises(MalformedGraph, match=r"equation 1, 'neg', can be infinite and is not marked so"):
        Graph(quotient.inputs, [start, after], [lost])


def test_a_tangent_that_is_not_marked():
    neg = trace(lambda x: -x, Tensor(np.ones(3, np.float32))).equations[0]
    tangent, lost = Variable(neg.inputs[0].type, linear=True), Variable(neg.inputs[0].type)
    with pytest.raises(MalformedGraph, match="depends on a tangent and is not marked as linear"):
        Graph([tangent], [Equation(neg.primitive, (tangent,), neg.parameters, (lost,))], [lost])


@pytest.mark.parametrize(("value", "expected"), [("1", "verify"), ("", "None")])
def test_the_variable_of_the_environment(value, expected):
    program = "import mindgrad; from mindgrad.core.ir.graph import Graph; print(getattr(Graph.verifier, '__name__', None))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "MINDGRAD_VERIFY": value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == expected
