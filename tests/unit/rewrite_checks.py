"""What every rewrite has to satisfy: value, gradient and second derivative on = off, and what fired."""

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import mindgrad as ms
from mindgrad import Tensor
from mindgrad.core.base.tree import flatten
from mindgrad.core.ir import cost_model, settings
from mindgrad.core.ir.rewriting import watching
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close


def with_costs(monkeypatch: Any, **changes: Any) -> None:
    """Give the cost model of the CPU other numbers."""
    monkeypatch.setitem(cost_model.DEVICES, "CPU", cost_model.DEVICES["CPU"]._replace(**changes))


@contextmanager
def compiled(rewrites: bool = True):
    """Graph mode inside the block, with rewrites or without."""
    before = settings.get("mode"), settings.get("rewrites")
    ms.set_context(mode=ms.GRAPH_MODE)
    settings.store("rewrites", rewrites)
    try:
        yield
    finally:
        settings.store("mode", before[0])
        settings.store("rewrites", before[1])


def everything(function: Callable[..., Any]) -> Callable[..., Any]:
    """The value of a scalar function, its gradient, and the gradient of the squared gradient."""
    count = function.__code__.co_argcount
    gradient = ms.value_and_grad(function, tuple(range(count)))

    def squared(*xs):
        _, slopes = gradient(*xs)
        total = 0.0
        for slope in slopes:
            total = total + (slope * slope).sum()
        return total

    second = ms.grad(squared, tuple(range(count)))
    return lambda *xs: (gradient(*xs), second(*xs))


def numbers(result: Any) -> list[np.ndarray]:
    """The arrays of a result."""
    return [t.asnumpy() for t in flatten(result)[0]]


def with_and_without(function: Callable[..., Any], *inputs: Tensor, kind: str = "law", what: str = ""):
    """Check that a compiled function gives the same with and without rewrites.

    Args:
        function: what is traced, and compiled.
        *inputs: its inputs.
        kind: how closely the values agree, one of ``tests.tolerances.KINDS``.
        what: what an error says besides.

    Returns:
        The rewrites that fired, and the values.
    """
    found, counts = [], []
    for on in (True, False):
        settings.store("rewrites", on)
        try:
            with watching() as fired:
                trace(function, *inputs)
            found.append(numbers(ms.jit(function)(*inputs)))
        finally:
            settings.store("rewrites", True)
        counts.append(fired)
    assert not counts[1]
    for ours, plain in zip(*found, strict=True):
        assert ours.dtype == plain.dtype
        assert_close(ours, plain, kind, scale=1, what=what)
    return counts[0], found[0]


def on_and_off(function: Callable[..., Any], arrays: Sequence[np.ndarray]):
    """Check that ``everything`` of ``function`` is the same with and without rewrites; what fired."""
    xs = [Tensor(x) for x in arrays]
    with compiled(False):
        expected = numbers(everything(function)(*xs))
    with compiled(), watching() as fired:
        found = numbers(everything(function)(*xs))
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        assert_close(ours, theirs, "law", scale=1)
    return fired
