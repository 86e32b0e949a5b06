"""Law of digests: equal ones, in any process, of graphs that are lowered to the same program, and of no others."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.backend.executable import GraphProgram
from mindgrad.core.backend.graph_digest import digest
from mindgrad.core.ir.dtype import bfloat16, complex64, float16, float32, float64, int32
from mindgrad.core.ir.graph import Equation, Graph, Variable
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.types import tensor_type
from mindgrad.frontend.programs.compiled import trace
from tests.laws.harness import ROWS, calls

DTYPES = (float32, float64, bfloat16, complex64, int32)
NAMES = [name for name in ROWS if not REGISTRY[name].communicates]


def known(graph, donated=()):
    return digest(GraphProgram(graph, (), donated))


def one_equation(call):
    """The call, not simplified."""
    inputs = [Variable(type_) for type_ in call.types]
    outputs = [Variable(type_, tainted=True) for type_ in call.results]
    return Graph(inputs, [Equation(call.row, tuple(inputs), call.parameters, tuple(outputs))], outputs)


def samples():
    return [one_equation(call) for name in NAMES for dtype in DTYPES for call in calls(name, dtype)]


def loops(x, y):
    while ops.norm(x) > 0.125:
        x = ops.where(x > y, x * 0.5, x * 0.25)
    for _ in range(40):
        y = ops.sin(y) @ ops.ones((3, 3)) + x
    return (ops.cumsum(x, 0) * y).sum()


def programs():
    x = Tensor(np.linspace(0.1, 1.0, 3))
    return [trace(function, x, x) for function in (loops, ms.grad(loops), ms.value_and_grad(loops, (0, 1)))]


def fingerprint():
    """All digests as one; ``None`` among them is an error."""
    return hashlib.sha256(b"".join([known(graph) for graph in [*samples(), *programs()]])).hexdigest()


def others(value):
    """Values of other types that compare equal to a parameter, or print like it, and near ones."""
    kinds = {
        bool: lambda: [not value, int(value), float(value), str(value)],
        int: lambda: [
            value + 1,
            -value - 1,
            float(value),
            str(value),
            bool(value),
            np.int64(value),
            (value,),
        ],
        float: lambda: [
            -value,
            np.nextafter(value, np.inf).item(),
            str(value),
            complex(value),
            np.float64(value),
        ],
        str: lambda: [value + " ", value.encode(), (value,)],
        tuple: lambda: [list(value), (value,), (*value, 0), value[:-1] if value else 0, str(value)],
    }
    return [None if value is not None else 0, ..., *kinds.get(type(value), list)()]


def with_parameters(graph, parameters):
    (equation,) = graph.equations
    changed = Equation(equation.primitive, equation.inputs, parameters, equation.outputs)
    return Graph(graph.inputs, [changed], graph.outputs)


def with_types(graph, change):
    (equation,) = graph.equations
    inputs = [Variable(change(v.type)) for v in graph.inputs]
    new = dict(zip(graph.inputs, inputs, strict=True))
    changed = Equation(
        equation.primitive, tuple(new[x] for x in equation.inputs), equation.parameters, equation.outputs
    )
    return Graph(inputs, [changed], graph.outputs)


def test_a_changed_parameter_or_type_changes_the_digest(monkeypatch):
    monkeypatch.setattr(Graph, "verifier", None)  # which knows that some of these are none
    digests, described = set(), set()
    for graph in samples():
        (equation,) = graph.equations
        parameters = equation.parameters
        first = known(graph)
        changed = [
            with_parameters(graph, parameters | {name: other})
            for name, value in parameters.items()
            for other in others(value)
        ]
        names = list(parameters)
        changed.append(with_parameters(graph, parameters | {"further": None}))
        if names:
            changed.append(with_parameters(graph, {name: parameters[name] for name in names[1:]}))
            renamed = {name + "_": value for name, value in parameters.items()}
            changed.append(with_parameters(graph, renamed))
        if len(names) > 1:  # they are passed by position to functions of jax.lax
            changed.append(with_parameters(graph, {name: parameters[name] for name in reversed(names)}))
        if graph.inputs:
            changed.append(with_types(graph, lambda type_: tensor_type(type_.dtype, (*type_.shape, 1))))
            changed.append(with_types(graph, lambda type_: tensor_type(float16, type_.shape)))
            changed.append(
                Graph([*graph.inputs, Variable(graph.inputs[0].type)], graph.equations, graph.outputs)
            )
        changed.append(Graph(graph.inputs, graph.equations, [*graph.outputs, graph.outputs[0]]))
        found = [known(graph), *map(known, changed)]
        assert found[0] == first is not None, equation.primitive
        assert len(set(found)) == len(found), (equation.primitive, parameters)
        digests.add(first)
        described.add((equation.primitive, tuple(v.type for v in graph.inputs), repr(parameters)))
    assert len(digests) == len(described), "different calls have different digests"


def test_inputs_that_are_taken_over_and_operands_count():
    x, y = Variable(tensor_type(float32, (2,))), Variable(tensor_type(float32, (2,)))
    z = Variable(x.type)
    sub = lambda *operands: Graph((x, y), [Equation(REGISTRY["sub"], operands, {}, (z,))], (z,))
    graphs = [sub(x, y), sub(y, x), sub(x, x), sub(y, y)]
    found = [known(graph, donated) for graph in graphs for donated in ((), (0,), (1,), (0, 1), (1, 0))]
    assert len(set(found)) == len(found)


def test_other_processes_have_the_same_digests():
    command = [
        sys.executable,
        "-c",
        "from tests.laws.test_graph_digest import fingerprint; print(fingerprint())",
    ]
    started = [
        subprocess.Popen(
            command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        )
        for seed in ("1", "2")
    ]  # fmt: skip
    assert [process.communicate()[0].strip() for process in started] == [fingerprint()] * 2
