"""Branches and loops: what they print, what is infinite in them, custom derivatives in them, what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mindgrad.core.backend.xla import compile_graph
from mindgrad.core.control.cond import cond
from mindgrad.core.control.custom import custom
from mindgrad.core.control.debug_print import show
from mindgrad.core.control.scan import scan
from mindgrad.core.control.while_ import while_
from mindgrad.core.ir.build import current
from mindgrad.core.ir.dtype import bool_, float64, int32
from mindgrad.core.ir.evaluate import evaluate
from mindgrad.core.ir.graph import Constant, Graph, without_effects
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.transforms.batch import batch
from mindgrad.core.transforms.forward import forward
from mindgrad.core.transforms.reverse import reverse
from mindgrad.core.transforms.taylor import taylor
from tests.laws.control_programs import graph
from tests.tolerances import assert_close

S = tensor_type(float64, ())
V = tensor_type(float64, (3,))
I = tensor_type(int32, ())
B = tensor_type(bool_, ())
ONE, ZERO = Constant(np.int32(1)), Constant(np.int32(0))

sqrt, sin, exp, log = (REGISTRY[name] for name in ("sqrt", "sin", "exp", "log"))

EXECUTORS: dict[str, Callable[[Graph], Callable[[Any], Any]]] = {
    "NumPy": lambda made: lambda xs: evaluate(made, xs),
    "XLA": compile_graph,
}
BOTH = pytest.mark.parametrize("executor", EXECUTORS.values(), ids=EXECUTORS)


def spread(x: Any) -> Any:
    return REGISTRY["broadcast_in_dim"](x, shape=(3,), dims=())


# -- printing ---------------------------------------------------------------------------------------


def talkative(seen: list[tuple[Any, ...]]) -> Graph:
    """A branch in a while in a scan, of which each says what it does."""

    def says(what: str) -> Callable[..., None]:
        return lambda *xs: seen.append((what, *[(x.dtype.name, x.tolist()) for x in xs]))

    def branch(what: str, factor: float) -> Graph:
        def run(x: Any) -> list[Any]:
            show(x, function=says(what))
            return [x * factor]

        return graph(run, S)

    true, false = branch("small", 2.0), branch("large", 0.5)

    def iteration(n: Any, k: Any, x: Any) -> list[Any]:
        show(k, function=says("iteration"))
        return [k + ONE, *cond(x < Constant(np.float64(3.0)), x, true=true, false=false)]

    counts = graph(lambda n, k, x: [k < n], I, I, S)
    body = graph(iteration, I, I, S)

    def step(n: Any, x: Any, j: Any) -> list[Any]:
        show(j, function=says("step"))
        y = while_(n, ZERO, x, condition=counts, body=body, consts=1)[1]
        return [y, y]

    walk = graph(step, I, S, I)

    def run(n: Any, x: Any, j: Any) -> list[Any]:
        show(x, function=says("begin"))
        y, _ = scan(n, x, j, body=walk, length=2, consts=1, carries=1)
        show(y, function=says("end"))
        return [y]

    return graph(run, I, S, tensor_type(int32, (2,)))


@BOTH
@pytest.mark.parametrize("order", ["", "r", "f", "rf", "fr", "rr", "t"])
def test_what_is_printed_is_printed_once_and_in_order(order: str, executor: Any) -> None:
    """In a derivative too: the replays of loops are silent."""
    seen: list[tuple[Any, ...]] = []
    made = talkative(seen)
    for mode in reversed(order):
        active = [k for k, v in enumerate(made.inputs) if v.dtype.kind == "float"]
        if mode == "t":
            made = taylor(made, active, 2)
        else:
            made = {"r": reverse, "f": forward}[mode](made, active)
    operands: list[Any] = [np.int32(2), np.float64(1.1), np.arange(2, dtype=np.int32)]
    operands += [np.float64(1.0)] * (len(made.inputs) - 3)
    found = executor(made)(operands)
    assert_close(found[0], 4.4)
    number = lambda k: ("int32", k)
    assert seen == [
        ("begin", ("float64", 1.1)),
        ("step", number(0)),
        ("iteration", number(0)), ("small", ("float64", 1.1)),
        ("iteration", number(1)), ("small", ("float64", 2.2)),
        ("step", number(1)),
        ("iteration", number(0)), ("large", ("float64", 4.4)),
        ("iteration", number(1)), ("small", ("float64", 2.2)),
        ("end", ("float64", 4.4)),
    ]  # fmt: skip


def test_a_silent_graph_is_the_same_each_time() -> None:
    """Derived bodies are kept by the identity of the graph that they are made of."""
    made = talkative([])
    assert without_effects(made) is without_effects(made)
    assert not without_effects(made).has_effect


def test_a_batch_is_printed_element_by_element() -> None:
    seen: list[Any] = []
    made = graph(
        lambda x, y: [show(x, y, function=lambda *xs: seen.append([x.tolist() for x in xs])), x * y][1:], S, S
    )
    evaluate(batch(made, [0, None], 2), [np.asarray([1.0, 2.0]), np.float64(3.0)])
    assert seen == [[1.0, 3.0], [2.0, 3.0]]


def test_what_only_some_elements_print_is_refused() -> None:
    made = talkative([])
    with pytest.raises(TypeError, match="cannot print, because it would run for some samples"):
        batch(made, [None, 0, None], 2)


# -- what is infinite in them -------------------------------------------------------------------------


def masked_after(loop: Graph) -> Graph:
    """``mask · f(loop(x))``, the mask of zeros and ones: its cotangent is zero without a word about it."""

    def run(mask: Any, x: Any) -> list[Any]:
        return [mask * sin(current().inline(loop, [x])[0])]

    return graph(run, V, V)


def rooted(n: Any, k: Any, x: Any) -> list[Any]:
    return [k + ONE, sqrt(x)]


def root_in_while(x: Any) -> list[Any]:
    counts = graph(lambda n, k, x: [k < n], I, I, V)
    return [
        while_(Constant(np.int32(2)), ZERO, x, condition=counts, body=graph(rooted, I, I, V), consts=1)[1]
    ]


def root_in_scan(x: Any) -> list[Any]:
    return [scan(x, body=graph(lambda x: [sqrt(x)], V), length=2, consts=0, carries=1)[0]]


def root_in_branch(x: Any) -> list[Any]:
    far = REGISTRY["reduce_sum"](x, axes=(0,)) > Constant(np.float64(-100.0))
    root, same = graph(lambda x: [sqrt(sqrt(x))], V), graph(lambda x: [x], V)
    return list(cond(far, x, true=root, false=same))


@BOTH
@pytest.mark.parametrize("loop", [root_in_while, root_in_scan, root_in_branch])
def test_a_masked_element_contributes_nothing(loop: Callable[..., Any], executor: Any) -> None:
    """sqrt has an infinite slope at 0 and none below: such elements are masked behind the loop."""
    made = reverse(masked_after(graph(loop, V)), [1])
    mask, x = np.asarray([0.0, 0.0, 1.0]), np.asarray([-1.0, 0.0, 0.5])
    found = np.asarray(executor(made)([mask, x, np.ones(3)])[1])
    root = 0.5**0.25
    np.testing.assert_allclose(found, [0.0, 0.0, np.cos(root) * root / (4 * 0.5)])


def test_a_masked_operand_of_a_loop_contributes_nothing() -> None:
    """The other way round: what is infinite goes into a loop whose body is harmless and masks it."""
    counts = graph(lambda n, m, y, k, z: [k < n], I, V, V, I, V)

    def iteration(n: Any, m: Any, y: Any, k: Any, z: Any) -> list[Any]:
        kept = REGISTRY["select"](m > zero, sin(y) * y, zero)
        return [k + ONE, z + kept]

    zero = Constant(np.float64(0.0), V)
    body = graph(iteration, I, V, V, I, V)

    def run(m: Any, x: Any) -> list[Any]:
        two = Constant(np.int32(2))
        return [while_(two, m, log(x), ZERO, zero, condition=counts, body=body, consts=3)[1]]

    made = reverse(graph(run, V, V), [1])
    mask, x = np.asarray([0.0, 1.0, 1.0]), np.asarray([0.0, 0.5, 2.0])
    found = evaluate(made, [mask, x, np.ones(3)])[1]
    y = np.log(x[1:])
    np.testing.assert_allclose(found, [0.0, *(2 * (np.sin(y) + y * np.cos(y)) / x[1:])])


@BOTH
def test_elements_that_have_ended_are_not_run(executor: Any) -> None:
    """One iteration more than an element has would divide by zero, and reach the weights of all elements."""
    M = tensor_type(float64, (3, 3))
    counts = graph(lambda n, w, k, x: [k < n], S, M, S, V)

    def iteration(n: Any, w: Any, k: Any, x: Any) -> list[Any]:
        y = REGISTRY["dot"](w, x * spread(1.0 / (n - k)), contract=((1,), (0,)), batch=((), ()))
        return [k + 1.0, y]

    body = graph(iteration, S, M, S, V)
    start = Constant(np.float64(0.0))
    one = graph(lambda n, w, x: [while_(n, w, start, x, condition=counts, body=body, consts=2)[1]], S, M, V)
    made = reverse(batch(one, [0, None, 0], 3), [1, 2])
    generator = np.random.default_rng(8)
    n, w, x = np.asarray([1.0, 2.0, 4.0]), generator.normal(size=(3, 3)), generator.normal(size=(3, 3))
    actual = [np.asarray(y) for y in executor(made)([n, w, x, np.ones((3, 3))])]
    alone = [evaluate(reverse(one, [1, 2]), [n[b], w, x[b], np.ones(3)]) for b in range(3)]
    np.testing.assert_allclose(actual[0], np.stack([each[0] for each in alone]))
    np.testing.assert_allclose(actual[1], sum(each[1] for each in alone))
    np.testing.assert_allclose(actual[2], np.stack([each[2] for each in alone]))


# -- custom derivatives, gradients and integers in them ------------------------------------------------


def doubled(x: Any) -> Any:
    """The identity, whose derivative is said to be 2."""
    pullback = graph(lambda x, y, ct: [ct * 2.0], V, V, V)
    return custom(x, x, pullback=pullback, outputs=1, inputs=1)[0]


@BOTH
def test_a_custom_derivative_in_a_loop(executor: Any) -> None:
    counts = graph(lambda n, k, x: [k < n], I, I, V)
    body = graph(lambda n, k, x: [k + ONE, sin(doubled(x))], I, I, V)
    one = graph(lambda n, x: [while_(n, ZERO, x, condition=counts, body=body, consts=1)[1]], I, V)
    x, slope, y = np.asarray([0.1, 0.5, 1.0]), 1.0, np.asarray([0.1, 0.5, 1.0])
    for _ in range(3):
        slope, y = slope * 2 * np.cos(y), np.sin(y)
    operands = [np.int32(3), x, np.ones(3)]
    for made in (reverse(one, [1]), forward(one, [1])):
        np.testing.assert_allclose(np.asarray(executor(made)(operands)[1]), slope)
    several = batch(reverse(one, [1]), [0, 0, None], 2)
    found = evaluate(several, [np.asarray([3, 0], np.int32), np.stack([x, x]), np.ones(3)])[1]
    np.testing.assert_allclose(found, np.stack([slope, np.ones(3)]))


@BOTH
def test_a_gradient_in_a_loop_and_its_gradient(executor: Any) -> None:
    """Steps of gradient descent, and how what they reach depends on where they start."""
    loss = graph(lambda w, x: [sin(x * w) * x], V, V)
    slope = reverse(loss, [1])

    def step(n: Any, w: Any, k: Any, x: Any) -> list[Any]:
        return [k + ONE, x - current().inline(slope, [w, x, Constant(np.float64(0.1), V)])[1]]

    counts = graph(lambda n, w, k, x: [k < n], I, V, I, V)
    body = graph(step, I, V, I, V)
    one = graph(lambda n, w, x: [while_(n, w, ZERO, x, condition=counts, body=body, consts=2)[1]], I, V, V)
    w, x = np.asarray([0.5, 1.0, 1.5]), np.asarray([0.2, 0.4, 0.8])
    actual = [np.asarray(y) for y in executor(reverse(one, [1, 2]))([np.int32(4), w, x, np.ones(3)])]

    def descend(w: Any, x: Any) -> Any:
        for _ in range(4):
            x = x - 0.1 * (np.sin(x * w) + x * w * np.cos(x * w))
        return x

    h = 1e-6
    assert_close(actual[1], (descend(w + h, x) - descend(w - h, x)) / (2 * h), "difference")
    assert_close(actual[2], (descend(w, x + h) - descend(w, x - h)) / (2 * h), "difference")


# -- what they refuse ----------------------------------------------------------------------------------


def test_what_does_not_fit_is_refused() -> None:
    same, other = graph(lambda x: [x], V), graph(lambda x: [x], S)
    with pytest.raises(TypeError, match="the branches return values of different types"):
        graph(
            lambda p, x: cond(
                p, x, true=same, false=graph(lambda x: [REGISTRY["reduce_sum"](x, axes=(0,))], V)
            ),
            B,
            V,
        )
    with pytest.raises(TypeError, match="a branch takes"):
        graph(lambda p, x: cond(p, x, true=same, false=other), B, V)
    with pytest.raises(TypeError, match=r"the predicate must be a scalar \(0-D\) Bool tensor"):
        graph(lambda p, x: cond(p, x, true=same, false=same), I, V)
    with pytest.raises(TypeError, match="the carry has types"):
        graph(
            lambda x: while_(
                x,
                condition=graph(lambda x: [x > Constant(np.float64(0.0))], S),
                body=graph(lambda x: [spread(x)], S),
                consts=0,
            ),
            S,
        )
    with pytest.raises(TypeError, match=r"the condition must be a scalar \(0-D\) Bool tensor"):
        graph(lambda x: while_(x, condition=same, body=same, consts=0), V)
    with pytest.raises(ValueError, match="must have 4 slices"):
        graph(
            lambda x, s: scan(x, s, body=graph(lambda x, s: [x + s], S, S), length=4, consts=0, carries=1),
            S,
            V,
        )
    with pytest.raises(TypeError, match="the carry has types"):
        graph(
            lambda x, s: scan(
                x, s, body=graph(lambda x, s: [spread(x)], S, S), length=3, consts=0, carries=1
            ),
            S,
            V,
        )
