"""Laws of collectives over several ranks, of which the laws of rows see one alone.

A collective is a map between the arrays of all ranks together: its derivative, forward and reverse, is that
of this map, of every order; batching and Taylor series commute with it. The oracles are finite differences
and the definition in NumPy, evaluated on four ranks in step. That XLA's collectives are those of the
definition is tested on devices (``tests/unit/distributed/test_process_mesh.py``).
"""

import numpy as np
import pytest

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import float64
from mindgrad.core.ir.graph import communicates
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.transforms.batch import batch
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.reverse import reverse
from mindgrad.core.transforms.taylor import taylor
from tests.laws.rank_programs import CASES, SHAPE, SIZE, draw, evaluate_ranks, program
from tests.tolerances import assert_close

NAMES = sorted(CASES)


def test_every_collective_has_a_case():
    assert {name for name, primitive in REGISTRY.items() if primitive.communicates} == set(CASES)


def paired(one, two):
    """Σ over all ranks and elements."""
    return sum(float(np.sum(a * b)) for a, b in zip(one, two, strict=True))


def pushed(graph, xs, ts):
    """The tangents of the outputs, on every rank."""
    tangent = forward(graph, [0])
    return [outputs[-1] for outputs in evaluate_ranks(tangent, list(zip(xs, ts, strict=True)))]


def pulled(graph, xs, cts):
    """The cotangents of the inputs, on every rank."""
    cotangent = reverse(graph, [0])
    return [outputs[-1] for outputs in evaluate_ranks(cotangent, list(zip(xs, cts, strict=True)))]


@pytest.mark.parametrize("name", NAMES)
def test_forward_is_the_finite_difference(name):
    graph, xs, ts = program(name, float64), draw(SHAPE, 1), draw(SHAPE, 2)
    assert communicates(graph)
    tangents = pushed(graph, xs, ts)

    def at(step):
        moved = [[x + step * t] for x, t in zip(xs, ts, strict=True)]
        return [outputs[0] for outputs in evaluate_ranks(graph, moved)]

    h = 1e-4
    for rank, (up, down) in enumerate(zip(at(h), at(-h), strict=True)):
        assert_close(tangents[rank], (up - down) / (2 * h), "difference")


@pytest.mark.parametrize("name", NAMES)
def test_reverse_is_the_transpose_of_forward_over_all_ranks(name):
    graph, xs, ts = program(name, float64), draw(SHAPE, 3), draw(SHAPE, 4)
    tangents = pushed(graph, xs, ts)
    cts = draw(tangents[0].shape, 5)
    assert_close(paired(tangents, cts), paired(ts, pulled(graph, xs, cts)), "program")


@pytest.mark.parametrize("name", NAMES)
def test_second_order_in_both_modes(name):
    """⟨c, d/ds J(x + s t) t⟩ once by forward over forward, once by reverse over forward."""
    graph, xs, ts = program(name, float64), draw(SHAPE, 6), draw(SHAPE, 7)
    once = forward(graph, [0])
    builder = Builder()
    with building(builder):
        x, t = (builder.input(v.type) for v in once.inputs)
        slope = builder.close([builder.inline(once, [x, t])[-1]])
    twice = forward(slope, [0])
    second = [o[-1] for o in evaluate_ranks(twice, list(zip(xs, ts, ts, strict=True)))]
    cts = draw(second[0].shape, 8)
    back = reverse(slope, [0])
    cotangents = [o[-1] for o in evaluate_ranks(back, list(zip(xs, ts, cts, strict=True)))]
    assert_close(paired(second, cts), paired(cotangents, ts), "program")
    series = taylor(graph, [0], 2, 1)
    coefficients = [o[-1] for o in evaluate_ranks(series, list(zip(xs, ts, strict=True)))]
    for rank in range(SIZE):
        assert_close(2 * coefficients[rank], second[rank], "program")


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_its_elements(name, axis):
    graph, elements = program(name, float64), [draw(SHAPE, 9), draw(SHAPE, 10), draw(SHAPE, 11)]
    stacked = [[np.stack([element[rank] for element in elements], axis)] for rank in range(SIZE)]
    together = evaluate_ranks(batch(graph, [axis], len(elements)), stacked)
    for position, element in enumerate(elements):
        alone = evaluate_ranks(graph, [[x] for x in element])
        for rank in range(SIZE):
            np.testing.assert_array_equal(together[rank][0][position], alone[rank][0])


def test_ties_of_the_maximum_share_the_derivative():
    graph = program("all_max", float64)
    xs = [np.full(SHAPE, 0.5)] * SIZE
    cts = draw(SHAPE, 12)
    slope = (1 - np.tanh(np.sin(0.5)) ** 2) * np.cos(0.5)
    for cotangent in pulled(graph, xs, cts):
        assert_close(cotangent, slope * sum(cts) / SIZE, "program", each=True)


def test_constants_are_not_folded_into_collectives():
    builder = Builder()
    with building(builder):
        x = builder.constant(np.ones(2))
        graph = builder.close([REGISTRY["all_reduce"](x, ranks=(0, 1))])
    assert len(graph) == 1
