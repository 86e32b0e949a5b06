"""Lookups at known positions: those inside are not tested, all others read what they read before."""

import numpy as np

import mindgrad as ms
from mindgrad import Tensor
from mindgrad.core.backend.xla import lower_ahead
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Constant
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.passes.peepholes import drop_bounds_checks
from mindgrad.core.primitives.indexing import gather
from mindgrad.frontend.programs.compiled import trace


def lookup(positions, axes):
    """A graph that reads a matrix of 4 x 3 at constant positions."""
    builder = Builder()
    with building(builder):
        x = builder.input(tensor_type("float64", (4, 3)))
        return builder.close([gather(x, Constant(np.array(positions, np.int32)), axes=axes)])


def are_tested(graph):
    """For each lookup of a graph whether its positions are tested."""
    return [not e.parameters.get("inside", False) for e in graph.equations if e.primitive is gather]


def test_only_lookups_whose_positions_are_all_inside_lose_the_test():
    x = np.arange(12.0).reshape(4, 3)
    cases = [
        ([[0], [3]], (0,), False),
        ([[3], [2]], (1,), True),  # axis 1 has 3 places
        ([[-1], [0]], (0,), True),
        ([[4], [0]], (0,), True),
        ([[3, 2], [0, 0]], (0, 1), False),
        ([[2, 3], [0, 0]], (0, 1), True),
        ([[2, 3], [0, 0]], (1, 0), False),
        (np.broadcast_to(np.int32(3), (5, 1)), (0,), False),
    ]
    for positions, axes, expected in cases:
        graph = lookup(positions, axes)
        changed = drop_bounds_checks(graph)
        assert are_tested(changed) == [expected], (positions, axes)
        assert changed is graph or not expected
        np.testing.assert_array_equal(evaluate(changed, [x])[0], evaluate(graph, [x])[0])


def test_xla_compares_no_positions_that_are_known():
    for axes, positions, selections in (((0,), [[0], [3]], 0), ((1,), [[3], [2]], 1)):
        text = lower_ahead(drop_bounds_checks(lookup(positions, axes))).as_text()
        assert text.count('"stablehlo.gather"(') == 1
        assert text.count("stablehlo.select") == selections


def test_programs_read_at_known_positions_without_a_test_and_at_given_ones_with_it():
    table, positions = Tensor(np.arange(8.0).reshape(4, 2)), Tensor(np.array([0, 3, 3], np.int32))
    known = trace(ms.grad(lambda x: (x[positions] ** 3).sum()), table)
    given = trace(lambda x, i: x[i] ** 3, table, positions)
    assert [are_tested(known), are_tested(given)] == [[False], [True]]
    derivative = ms.jit(ms.grad(lambda x: (x[positions] ** 3).sum()))(table).asnumpy()
    np.testing.assert_allclose(derivative, 3 * np.arange(8.0).reshape(4, 2) ** 2 * [[1], [0], [0], [2]])
