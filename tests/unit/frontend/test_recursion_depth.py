"""Recursion whose depth is known is traced as deep as Python lets it run; what is refused says why."""

import sys
import threading

import pytest

import mindgrad as ms
from mindgrad import Tensor

X = Tensor(1.0)


def by_expression(x, depth):
    return 1.0 + by_expression(x, depth - 1) if depth else x


def by_statement(x, depth):
    if depth == 0:
        return x
    y = by_statement(x, depth - 1)
    return y + 1.0


@pytest.mark.parametrize("function", [by_expression, by_statement])
def test_a_known_depth(function):
    limit = sys.getrecursionlimit()
    assert ms.jit(lambda x: function(x, 700))(X).item() == 701
    assert sys.getrecursionlimit() == limit


def endless(x):
    return endless(x + 1.0) * 2.0


def ended_by_a_tensor(x):
    return 1.0 + ended_by_a_tensor(x * 2.0) if x < 100 else x


def refusal(function):
    with pytest.raises(ms.CompileError) as caught:
        ms.jit(function)(X)
    return str(caught.value)


def test_each_refusal_says_why():
    limit = sys.getrecursionlimit()
    text = refusal(endless)
    assert text.startswith("The function calls itself without end, or more than")
    assert "tensor" not in text.splitlines()[0]
    assert "return endless(x + 1.0) * 2.0" in text
    assert "The condition that ends the recursion is a tensor" in refusal(ended_by_a_tensor)
    assert sys.getrecursionlimit() == limit


def test_in_other_threads_at_once():
    limit, results = sys.getrecursionlimit(), []
    run = lambda depth: results.append(ms.jit(lambda x: by_statement(x, depth))(X).item())
    threads = [threading.Thread(target=run, args=(400 + k,)) for k in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(results) == [401, 402, 403]
    assert sys.getrecursionlimit() == limit


def returns_only_itself(x):
    return returns_only_itself(x * 0.5)


def test_a_function_that_only_calls_itself_is_no_loop():
    with pytest.raises(
        ms.CompileError, match=r"calls itself without end(.|\n)*returns_only_itself\(x \* 0.5\)"
    ):
        ms.jit(returns_only_itself)(X)
