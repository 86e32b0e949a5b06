"""Loops with unmasked products first: their results where shields are needed, and where none is."""

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.control.while_ import while_
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import float64
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.passes.guarded_loops import postpone_guards
from mindgrad.core.primitives.arithmetic import neg
from mindgrad.core.primitives.comparisons import equal, less, not_equal
from mindgrad.core.primitives.exact_zeros import shield
from mindgrad.core.primitives.kinds import accumulate, full, zeros
from mindgrad.core.primitives.structural import convert
from mindgrad.frontend.programs.compiled import trace
from tests.unit.rewrite_checks import with_and_without


def falls(w):
    x = Tensor(np.array([3.0, 1.5])) * w
    while x[0] > 0.5:
        distance = ops.sqrt((x * x).sum())
        root = ops.sqrt(ops.relu(x[1] - 1.0))  # its slope is infinite, that of relu is 0, where x[1] <= 1
        x = x - 0.3 * x / distance - root * 0.01
    return x[0] / x[1]


def test_shields_of_a_loop_are_postponed_and_the_slope_is_finite():
    for w in (0.6, 1.3):  # roots of zero from the start, after some iterations
        counts, (slope,) = with_and_without(ms.grad(falls), Tensor(np.array(w)))
        assert counts["unmasked products first"] == 1
        assert np.isfinite(slope)
    loops = [each for each in trace(ms.grad(falls), Tensor(np.array(1.3))).equations if each.graphs]
    assert [each.primitive.name for each in loops] == ["while", "cond"]
    assert "shield" not in loops[0].parameters["body"].count()
    with_and_without(ms.grad(ms.grad(falls)), Tensor(np.array(1.3)))


def test_nan_of_a_moving_zero_stays():
    with_and_without(ms.grad(falls), Tensor(np.array(np.nan)))
    with_and_without(ms.grad(lambda w: falls(1.0 + w * 0.0 / w)), Tensor(np.array(0.0)))


def looped(behind):
    """``i, a = i + 1, sum(behind(shield(k i, a ≠ 0) a) for k in 1 … 4)`` while ``i < 3``, as a graph."""
    number = tensor_type(float64, ())
    test, iteration, program = Builder(), Builder(), Builder()
    with building(test):
        i, _ = test.input(number), test.input(number)
        condition = test.close([less(i, full(number, 3.0))])
    with building(iteration):
        i, a = iteration.input(number), iteration.input(number)
        keep = not_equal(a, zeros(number))
        products = [shield(i * full(number, k), keep) * a for k in (1.0, 2.0, 3.0, 4.0)]
        body = iteration.close([i + full(number, 1.0), accumulate(map(behind, products))])
    with building(program):
        operands = program.input(number), program.input(number)
        return program.close(while_(*operands, condition=condition, body=body, consts=0))


def test_nan_counts_where_a_iteration_loses_it():
    for behind in (lambda x: convert(equal(x, zeros(x.type)), dtype=float64), lambda x: x + x, neg):
        graph = looped(behind)
        other = postpone_guards(graph)
        assert other.count() == {"while": 1, "cond": 1}
        for start in ((0.0, np.inf), (0.0, np.nan), (0.0, 2.0), (1.0, np.inf), (1.0, np.nan), (4.0, 5.0)):
            np.testing.assert_array_equal(evaluate(other, start), evaluate(graph, start))
