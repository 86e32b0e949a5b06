"""Quotients by powers of one value: how many divisions are left, and what they give at the ends of the range."""

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import float32, float64
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.passes.peepholes import share_reciprocals
from mindgrad.core.primitives.arithmetic import div
from mindgrad.core.primitives.kinds import full
from mindgrad.frontend.programs.compiled import trace
from tests.unit.rewrite_checks import compiled, with_and_without


def quotients(dtype, size):
    """``½ / x, 1 / x, 1 / x / x, ½ / x · (−1 / x / x), 3 / x, x / x`` as a graph."""
    kind, builder = tensor_type(dtype, (size,)), Builder()
    with building(builder):
        x = builder.input(kind)
        half, one = (div(full(kind, number), x) for number in (0.5, 1.0))
        square = div(one, x)
        return builder.close([half, one, square, half * -square, div(full(kind, 3.0), x), div(x, x)])


def test_one_division_is_left_and_the_ends_of_the_range_stay():
    for dtype in (float32, float64):
        info = np.finfo(dtype.numpy)
        ends = [
            0.0,
            np.inf,
            np.nan,
            info.tiny,
            info.max,
            2 * info.tiny,
            np.sqrt(info.max),
            np.sqrt(info.tiny),
        ]
        x = np.array([*ends, 1.0, 3.0, 1e-5, 1e7], dtype.numpy)
        x = np.concatenate([x, -x])
        graph = quotients(dtype, x.size)
        joined = share_reciprocals(graph)
        assert (graph.count()["div"], joined.count()["div"]) == (5, 3)
        with np.errstate(all="ignore"):
            for ours, plain in zip(evaluate(joined, [x]), evaluate(graph, [x]), strict=True):
                np.testing.assert_allclose(ours, plain, rtol=4 * info.eps, atol=4 * info.tiny)


def test_second_derivative_of_a_potential_has_one_division_for_each_distance():
    def potential(x):
        return 1.0 / ops.sqrt((x * x).sum())

    x = Tensor(np.array([3.0, 4.0]))
    with compiled():
        counts, _ = with_and_without(ms.grad(lambda x: ms.grad(potential)(x).sum()), x)
        graph = trace(ms.grad(lambda x: ms.grad(potential)(x).sum()), x)
    assert counts["shared reciprocal"] > 0
    assert graph.count()["div"] == 1


def test_a_single_quotient_stays():
    with compiled():
        assert trace(lambda x: 0.5 / x, Tensor(np.array(3.0))).count() == {"div": 1}
