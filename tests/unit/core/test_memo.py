"""Memoization by graphs: equal graphs are one, and neither memo nor interning keeps arrays alive."""

import gc
import weakref

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.control.implicit import linear_system
from mindgrad.core.control.lazy import expand_lazy
from mindgrad.core.ir import memo
from mindgrad.core.ir.memo import interned, memoized, retained
from mindgrad.frontend.programs.compiled import trace

X = Tensor(np.array([1.0, 2.0], np.float32))


def loop(factor):
    def function(x):
        while x.sum() < 10:
            x = x * factor
        return x

    return function


def test_equal_graphs_are_one_with_the_graphs_inside():
    first, second, other = (trace(loop(factor), X) for factor in (2.0, 2.0, 3.0))
    assert first is not second
    assert first.key() == second.key() != other.key()
    assert interned(first) is interned(second) is not interned(other)


def test_a_memo_is_kept_with_its_graph():
    calls = []

    @memoized
    def count(graph, *arguments, **options):
        calls.append((arguments, options))
        return len(calls)

    graph, equal = (trace(lambda x: x * 2.0, X) for _ in range(2))
    assert [count(graph), count(graph), count(graph, 1), count(graph, 1), count(graph, k=1)] == [
        1,
        1,
        2,
        2,
        3,
    ]
    assert count(equal) == 4


def test_a_graph_stores_a_limited_number_of_results(monkeypatch):
    monkeypatch.setattr(memo, "_RESULTS", 3)
    square = memoized(lambda graph, number: number * number)
    graph = trace(lambda x: x * 2.0, X)
    for number in [*range(10), *range(10)]:
        assert square(graph, number) == number * number
        assert len(graph.derived) <= 3


def test_a_linear_system_is_built_once_for_each_graph_and_batch():
    graph = trace(lambda x: x * 2.0, X)
    solver = lambda product, consts: product
    first = linear_system(graph, 0, solver, solver)
    assert linear_system(graph, 0, solver, solver) is first
    assert linear_system(graph, 0, solver, solver, True) is not first
    assert first.batched((), 3) is first.batched((), 3) is not first.batched((), 4)


def test_nothing_keeps_a_large_constant_alive_but_its_graph():
    def reference():
        array = np.arange(4096, dtype=np.float32)
        graph = trace(lambda x: (x.sum() * Tensor(array)).sum(), X)
        interned(graph)
        expand_lazy(graph)
        constant = next(
            atom
            for e in graph.equations
            for atom in e.inputs
            if getattr(atom, "value", None) is not None and atom.value.size > 16
        )
        return weakref.ref(constant.value)

    constant = reference()
    gc.collect()
    assert constant() is None


def test_what_is_retained_lives_on():
    def reference():
        return weakref.ref(retained(trace(lambda x: ops.sin(x) * 7.0, X)))

    graph = reference()
    gc.collect()
    assert graph() is not None
    assert retained(trace(lambda x: ops.sin(x) * 7.0, X)) is graph()
    ms.clear_cache()
