"""Law 9: along an axis that a row says it carries, its Jacobian is diagonal."""

import numpy as np
import pytest

from mindgrad.core.ir.dtype import float64
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.index_map import UNIFORM
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.transforms.axis_propagation import alignment
from mindgrad.core.transforms.forward import forward
from tests.laws.harness import ROWS, Call, calls, graph_of


def mixed(call, operand):
    """The carried axes of an operand along which an element reaches another place; and the carried axes."""
    graph = graph_of(call)
    x = graph.inputs[operand]
    found = alignment(graph.equations, x)
    carried = [found.get(y) for y in graph.outputs]
    pushed = forward(graph, [operand])
    wrong, said = [], []
    for place in np.ndindex(*x.shape):
        unit = np.zeros(x.shape)
        unit[place] = 1.0
        tangents = evaluate(pushed, [*call.arrays, unit])[len(graph.outputs) :]
        for t, axes in zip(tangents, carried, strict=True):
            for axis, at in enumerate(axes or ()):
                if at is None:
                    continue
                said.append(axis)
                others = np.delete(t, place[axis], at)
                if t.shape[at] != x.shape[axis] or np.any(others[~np.isnan(others)]):
                    wrong.append((axis, at))
    return wrong, said


@pytest.mark.parametrize("name", ROWS)
def test_a_carried_axis_is_diagonal(name):
    for call in calls(name, float64):
        for operand in call.active:
            wrong, _ = mixed(call, operand)
            assert not wrong, f"{call}: operand {operand}, axes {wrong}"


def test_axes_of_size_one_that_meet():
    call = Call(REGISTRY["reshape"], [np.ones((1, 1))], {"shape": (1,)}, 0)
    graph = graph_of(call)
    assert alignment(graph.equations, graph.inputs[0])[graph.outputs[0]] == (0, None)


def test_the_law_finds_a_wrong_rule(monkeypatch):
    monkeypatch.setattr(REGISTRY["cumsum"], "axes", UNIFORM)
    assert any(mixed(call, 0)[0] for call in calls("cumsum", float64))


#: rows whose samples move every axis, with a call that leaves one alone
ELSEWHERE = {
    "pad": {"low": (0, 1), "high": (0, -1), "interior": (0, 2)},
    "reshape": {"shape": (3, 2, 2)},
    "slice": {"start": (0, 1), "limit": (3, 4), "strides": (1, 2)},
}


@pytest.mark.parametrize("name", sorted(ELSEWHERE))
def test_an_axis_that_is_left_alone(name):
    call = Call(REGISTRY[name], [np.arange(12.0).reshape(3, 4)], ELSEWHERE[name], 0)
    wrong, said = mixed(call, 0)
    assert not wrong
    assert set(said) == {0}


#: rows of complex numbers only
COMPLEX = {"conj", "fft", "imag", "irfft", "real"}
#: rows with axes and a derivative
CARRYING = [
    n for n in ROWS if (row := REGISTRY[n]).axes and row.jvp and n not in ELSEWHERE and n not in COMPLEX
]


@pytest.mark.parametrize("name", CARRYING)
def test_every_row_with_axes_carries_something(name):
    assert any(mixed(call, operand)[1] for call in calls(name, float64) for operand in call.active)
