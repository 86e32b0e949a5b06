"""One batched program is the stack of the single ones; the parts that share nothing stay single."""

import itertools

import numpy as np
import pytest

from mindgrad.core.backend.xla import compile_graph
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.types import type_of
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.elementwise import sin
from mindgrad.core.primitives.indexing import gather
from mindgrad.core.primitives.reduction import reduce_max, reduce_sum
from mindgrad.core.primitives.slicing import dynamic_slice, dynamic_update_slice
from mindgrad.core.transforms.batch import batch
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.reverse import reverse
from tests.tolerances import assert_close

generator = np.random.default_rng(1)
SIZE = 3


def graph_of(function, *arrays):
    builder = Builder()
    with building(builder):
        inputs = [builder.input(type_of(np.asarray(a))) for a in arrays]
        outputs = function(*inputs)
        return builder.close(outputs if isinstance(outputs, list) else [outputs])


def check(graph, elements, axes, compiled=True):
    """``elements[b]`` are the inputs of the single program b; those with axis None are its first."""
    stacked = [
        np.asarray(parts[0]) if axis is None else np.stack(parts, axis)
        for parts, axis in zip(zip(*elements, strict=True), axes, strict=True)
    ]
    single = [
        [first if axis is None else part for part, first, axis in zip(e, elements[0], axes, strict=True)]
        for e in elements
    ]  # fmt: skip
    batched = batch(graph, axes, SIZE)
    found = evaluate(batched, stacked)
    expected = [np.stack(parts) for parts in zip(*(evaluate(graph, e) for e in single), strict=True)]
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        assert_close(a, b, kind="program")
    if compiled:
        for a, b in zip(compile_graph(batched)(stacked), expected, strict=True):
            assert_close(np.asarray(a), b, kind="program")
    return batched


def network(x, w, i):
    hidden = sin(dot(x, w, contract=((1,), (0,)), batch=((), ())))
    best = reduce_max(hidden, axes=(1,))
    return [gather(best, i, axes=(0,)), reduce_sum(hidden * hidden, axes=(0, 1))]


def network_inputs():
    return [generator.normal(size=(4, 2)), generator.normal(size=(2, 3)), generator.integers(0, 4, (5, 1))]


@pytest.mark.parametrize("axes", [(0, None, None), (None, 2, None), (1, 0, 1), (2, 1, None)])
def test_batched_is_stacked(axes):
    check(graph_of(network, *network_inputs()), [network_inputs() for _ in range(SIZE)], axes)


@pytest.mark.parametrize("axes", [(0, None, None), (1, 2, 0)])
def test_derivatives_are_batched_like_any_program(axes):
    graph = graph_of(network, *network_inputs())
    pulled = reverse(graph, [0, 1])
    elements = [[*network_inputs(), generator.normal(size=5), generator.normal()] for _ in range(SIZE)]
    check(pulled, elements, (*axes, 0, 0), compiled=False)
    pushed = forward(pulled, [0])
    elements = [[*e, generator.normal(size=(4, 2))] for e in elements]
    check(pushed, elements, (*axes, 0, None, 0), compiled=False)


def test_what_depends_on_no_batched_input_is_computed_once():
    graph = graph_of(lambda x, y: [sin(x) * y, sin(x)], np.ones(4), np.ones(4))
    batched = batch(graph, (None, 0), SIZE)
    (equation,) = [e for e in batched.equations if e.primitive is sin]
    assert equation.outputs[0].shape == (4,)
    assert [y.shape for y in batched.outputs] == [(SIZE, 4), (SIZE, 4)]


def test_a_constant_operand_and_a_constant_output():
    graph = graph_of(lambda x: [select(x > 0.0, x, x * 0.5), x * 0.0 + 1.0], np.ones(2))
    check(graph, [[generator.normal(size=2)] for _ in range(SIZE)], (1,))


@pytest.mark.parametrize("axes", list(itertools.product((None, 2), (None, 1), (None, 0), (None, 0)))[1:])
def test_each_batch_element_has_its_own_start(axes):
    def run(x, u, i, j):
        return [dynamic_slice(x, i, j, sizes=(2, 3)), dynamic_update_slice(x, u, i, j)]

    elements = [
        [
            generator.normal(size=(3, 5)),
            generator.normal(size=(2, 3)),
            np.int64(i),
            np.int16(j),
        ]
        for i, j in ((1, 2), (-3, 1), (7, 9))
    ]
    check(graph_of(run, *elements[0]), elements, axes, compiled=None not in axes)


def test_a_wrong_batch_is_refused():
    graph = graph_of(sin, np.ones((2, 2)))
    with pytest.raises(ValueError, match="1 inputs, but 2 batch axes"):
        batch(graph, (0, 0), SIZE)
    with pytest.raises(ValueError, match="between 0 and 2, but got 3"):
        batch(graph, (3,), SIZE)


def test_a_row_that_cannot_be_batched_says_so(monkeypatch):
    graph = graph_of(lambda x: reduce_sum(x, axes=(0,)), np.ones(2))
    monkeypatch.setattr(reduce_sum, "axes", None)
    with pytest.raises(TypeError, match="'reduce_sum' cannot be batched"):
        batch(graph, (0,), SIZE)


def test_every_row_can_be_batched():
    without = {
        name
        for name, primitive in REGISTRY.items()
        if not primitive.can_batch and primitive.kind != "control"
    }
    assert without == {"iota"}, "iota has no operands; any other row needs axes or a batch rule"
