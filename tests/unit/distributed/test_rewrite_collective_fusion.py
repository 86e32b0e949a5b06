"""Collective fusion: fewer messages, the same numbers."""

import numpy as np
import pytest

from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import float32, float64
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.elementwise import tanh
from mindgrad.distributed.collective_fusion import fuse_sums
from mindgrad.distributed.collectives import all_max, all_reduce
from tests.laws.rank_programs import RANKS, draw, evaluate_ranks
from tests.unit.rewrite_checks import with_costs

SHAPES = [(3, 2), (), (5,), (2, 2, 2)]


def program(body, shapes=SHAPES, dtype=float64) -> Graph:
    builder = Builder()
    with building(builder):
        xs = [builder.input(tensor_type(dtype, shape)) for shape in shapes]
        return builder.close(body(*xs))


def summed(x):
    return all_reduce(x, ranks=RANKS)


def same_numbers(graph, joined):
    inputs = [[draw(v.shape, 7 * k)[rank] for k, v in enumerate(graph.inputs)] for rank in RANKS]
    for one, other in zip(evaluate_ranks(graph, inputs), evaluate_ranks(joined, inputs), strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_independent_sums_are_one():
    graph = program(lambda *xs: [tanh(summed(tanh(x))) for x in xs])
    joined = fuse_sums(graph)
    assert graph.count()["all_reduce"] == 4
    assert joined.count()["all_reduce"] == 1
    same_numbers(graph, joined)


def test_sums_that_depend_on_each_other_stay_apart():
    def body(a, b, c):
        first = [summed(a), summed(b)]
        second = [summed(first[0] * b), summed(first[1] + c)]
        return [*second, first[0] + second[1], all_max(second[0], ranks=RANKS)]

    graph = program(body, [(4,), (4,), (4,)])
    joined = fuse_sums(graph)
    assert joined.count()["all_reduce"] == 2
    same_numbers(graph, joined)


def test_types_and_ranks_are_not_mixed():
    def body(a, b):
        return [summed(a), summed(b), all_reduce(a, ranks=(0, 1)), all_reduce(b, ranks=(0, 1))]

    assert fuse_sums(program(body, [(2,), (3,)])).count()["all_reduce"] == 2
    builder = Builder()
    with building(builder):
        a, b = builder.input(tensor_type(float32, (2,))), builder.input(tensor_type(float64, (2,)))
        graph = builder.close([summed(a), summed(b)])
    assert fuse_sums(graph) is graph


def test_equations_between_wait_for_the_bucket():
    def body(a, b):
        early = tanh(summed(a)) * 2.0
        return [early, summed(tanh(tanh(b))), early + b]

    graph = program(body, [(3,), (3,)])
    joined = fuse_sums(graph)
    assert joined.count()["all_reduce"] == 1
    same_numbers(graph, joined)


@pytest.mark.parametrize(("size", "messages"), [(1 << 20, 1), (64, 2), (8, 4)])
def test_buckets_have_a_size(monkeypatch, size, messages):
    with_costs(monkeypatch, message_bytes=size)
    graph = program(lambda *xs: [summed(x) for x in xs], [(4,), (4,), (4,), (4,)])
    joined = fuse_sums(graph)
    assert joined.count()["all_reduce"] == messages
    same_numbers(graph, joined)


def test_programs_of_one_process_stay_as_they_are():
    graph = program(lambda *xs: [tanh(x) for x in xs])
    assert fuse_sums(graph) is graph
