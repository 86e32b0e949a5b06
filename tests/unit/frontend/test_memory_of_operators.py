"""No operator on a vector makes an array whose size grows faster than the vector, nor does its gradient."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close

#: results that are matrices by their meaning
OUTER = {
    "block_diag", "combinations", "diag", "diag_embed", "diagflat", "ger", "matrix_diag", "outer", "pdist",
    "vander",
}  # fmt: skip
#: the arguments behind the vector that are tried
ARGUMENTS: tuple[tuple[Any, ...], ...] = ((), (0,), (2,))


def largest(function: Callable[[Tensor], Any], n: int) -> int:
    """Elements of the largest array of a compiled function of a vector."""
    graph = trace(function, Tensor(np.linspace(0.1, 0.9, n)))
    pending, found = [graph], 0
    while pending:
        for equation in pending.pop().equations:
            found = max(found, *[y.type.size for y in equation.outputs], 0)
            pending.extend([v for v in equation.parameters.values() if hasattr(v, "equations")])
    return found


def grows(function: Callable[[Tensor], Any]) -> bool:
    """Whether twice the length takes more than 2.6 times the elements; not if it cannot be traced."""
    try:
        elements = largest(function, 64)
        return elements > 0 and largest(function, 128) > 2.6 * elements
    except Exception:  # of operators that take something else than a vector
        return False


def first(y: Any) -> Any:
    return y[0] if isinstance(y, (tuple, list)) else y


NAMES = [
    name
    for name in sorted(dir(ops))
    if not name.startswith("_") and inspect.isfunction(getattr(ops, name)) and name not in OUTER
]


@pytest.mark.parametrize("start", range(0, len(NAMES), 40))
def test_operators_on_a_vector_need_memory_in_proportion(start):
    faults = []
    for name in NAMES[start : start + 40]:
        for arguments in ARGUMENTS:

            def value(x: Tensor, name: str = name, arguments: Any = arguments) -> Any:
                return first(getattr(ops, name)(x, *arguments))

            def slope(x: Tensor, value: Callable[[Tensor], Any] = value) -> Any:
                return ms.grad(lambda x: value(x).sum())(x)

            faults.extend([f"{name}{arguments} {f.__name__}" for f in (value, slope) if grows(f)])
    assert not faults


def test_the_law_finds_an_operator_that_makes_a_matrix():
    assert grows(lambda x: ops.logsumexp(x[:, None] + x[None, :], 1))
    assert not grows(lambda x: ops.logsumexp(x, 0))


@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_logcumsumexp_has_derivatives_of_masked_beginnings_and_infinite_elements(wrap):
    inf = np.inf
    x = Tensor(np.array([-inf, -inf, 1.0, 1.0, -inf]))
    gradient = wrap(ms.grad(lambda x: ops.where(x > -1e30, ops.logcumsumexp(x, 0), 0).sum()))(x)
    assert_close(gradient, [0, 0, 1.5, 0.5, 0], kind="program")
    hessian = wrap(ms.hessian(lambda x: ops.logcumsumexp(x, 0)[3]))(x).asnumpy()
    right = np.zeros((5, 5))
    right[2:4, 2:4] = [[0.25, -0.25], [-0.25, 0.25]]
    assert_close(hessian, right, kind="program")
    shared = wrap(ms.grad(lambda x: ops.logcumsumexp(x, 0)[-1]))(Tensor(np.array([1.0, inf, 0.0, inf])))
    assert_close(shared, [0, 0.5, 0, 0.5], kind="program")


@pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_logcumsumexp_of_large_numbers_does_not_overflow(wrap):
    x = np.array([1000.0, 999.0, -1000.0, 1001.0])
    tail = np.exp(x - 1001.0)
    gradient = wrap(ms.grad(lambda x: ops.logcumsumexp(x, 0)[-1]))(Tensor(x)).asnumpy()
    assert_close(gradient, tail / tail.sum(), kind="ill-conditioned")
