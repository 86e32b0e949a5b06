"""Law 8: a collapsed sweep is the sum of nested forward mode over the directions, for every row."""

import numpy as np
import pytest

from mindgrad.core.ir.dtype import float64
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Graph
from mindgrad.core.transforms.equation_derivatives import has_moderate_partials
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.forward_laplacian import collapse
from tests.laws.control_programs import PROGRAMS
from tests.laws.harness import ROWS, calls, directions, graph_of
from tests.tolerances import assert_close

DIRECTIONS = 3


def nested(graph: Graph, active, arrays, left, right, terms):
    """The stacks of tangents, and Σ_d D²G[p_d, q_d] + J c, one direction after the other."""
    once = forward(graph, active)
    count, given = len(graph.inputs), len(active)
    twice = forward(once, [*active])  # along q, with p constant
    firsts, seconds = [], []
    for p, q in zip(left, right, strict=True):
        pushed = evaluate(twice, [*arrays, *p, *q])
        firsts.append(pushed[len(graph.outputs) : 2 * len(graph.outputs)])
        seconds.append(pushed[3 * len(graph.outputs) :])
    assert len(twice.inputs) == count + 2 * given
    of_terms = evaluate(once, [*arrays, *terms])[len(graph.outputs) :]
    stacks = [np.stack(each) for each in zip(*firsts, strict=True)]
    return stacks, [sum(each) + t for *each, t in zip(*seconds, of_terms, strict=True)]


def collapsed(graph: Graph, active, arrays, left, right, terms, paired):
    made = collapse(graph, active, DIRECTIONS, paired, straight=not terms)
    stacks = [
        np.stack(each) for side in ([left, right] if paired else [left]) for each in zip(*side, strict=True)
    ]
    found = evaluate(made, [*arrays, *stacks, *terms])
    count = len(graph.outputs)
    return found[:count], found[count : 2 * count], found[-count:]


def agree(what, graph, active, arrays, given, terms):
    left, right = given[:DIRECTIONS], given[DIRECTIONS:]
    values = evaluate(graph, arrays)
    none = [np.zeros_like(each) for each in terms]
    for paired, straight in ((False, False), (True, False), (False, True)):
        others = right if paired else left
        stacks, expected = nested(graph, active, arrays, left, others, none if straight else terms)
        again, tangents, found = collapsed(
            graph, active, arrays, left, others, [] if straight else terms, paired
        )
        for name, ours, wanted in (("value", again, values), ("J", tangents, stacks), ("c", found, expected)):
            for a, b in zip(ours, wanted, strict=True):
                assert np.shape(a) == np.shape(b), (
                    f"{what}: {name} has shape {np.shape(a)}, not {np.shape(b)}"
                )
                # where a derivative is infinite or undefined, how far depends on the way there
                finite = np.isfinite(a) & np.isfinite(b)
                assert finite.all() or not (np.isfinite(a).all() or np.isfinite(b).all()), what
                a, b = np.asarray(a)[finite], np.asarray(b)[finite]
                assert_close(a, b, "law", order=1, scale=1, what=f"{what}: {name}, paired={paired}")


@pytest.mark.parametrize("name", ROWS)
def test_collapsed_is_the_sum_of_nested_forward(name):
    for call in calls(name, float64):
        if not call.active or call.row.jvp is None:
            continue
        given = [directions(call, float64, 10 * seed) for seed in range(1, 2 * DIRECTIONS + 2)]
        agree(call, graph_of(call), call.active, call.arrays, given[:-1], given[-1])


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_collapsed_programs_with_control_flow(program):
    generator = np.random.default_rng(8)
    for arrays in program.cases:
        given = [
            [generator.normal(size=np.shape(arrays[k])) for k in program.active]
            for _ in range(2 * DIRECTIONS + 1)
        ]
        agree(program.name, program.graph, program.active, arrays, given[:-1], given[-1])


@pytest.mark.parametrize(
    ("name", "is_moderate"),
    [("tanh", True), ("sigmoid", True), ("sin", True), ("mul", True), ("log", False), ("atan", False)],
)
def test_second_partials_are_formed_first_only_where_they_are_one_finite_factor(name, is_moderate):
    (equation,) = graph_of(calls(name, float64)[0]).equations
    moved = range(len(equation.inputs))
    assert has_moderate_partials(equation, equation.inputs, moved) == is_moderate
