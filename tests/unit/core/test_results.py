"""Iterators that a compiled function returns, ranges whose step a tensor decides, and code without source."""

import subprocess
import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor
from mindgrad.core.base.tree import flatten
from tests.tolerances import assert_close

X = Tensor([1.0, 2.0])

RETURNED = {
    "map over a tuple": (lambda x: map(lambda a, b: a + b, (x, x), (x, 2 * x)), tuple),
    "map over a list": (lambda x: map(ms.ops.sin, [x, x]), list),
    "zip": (lambda x: zip((x, x), [1, 2], strict=True), tuple),
    "enumerate": (lambda x: enumerate([x, x]), tuple),
    "filter": (lambda x: filter(lambda a: a is not None, (x, None)), list),
    "range": (lambda x: range(3), tuple),
    "generator expression": (lambda x: (x * k for k in range(3)), list),
    "iter": (lambda x: iter((x, x)), tuple),
    "keys": (lambda x: {"a": x}.keys(), tuple),
    "items": (lambda x: {"a": x}.items(), list),
}


@pytest.mark.parametrize("kind", RETURNED)
def test_the_items_of_an_iterator(kind):
    function, container = RETURNED[kind]
    for inside in (False, True):
        compiled = ms.jit(lambda x, inside=inside: {"result": function(x)} if inside else function(x))
        for _ in range(2):
            ours = compiled(X)["result"] if inside else compiled(X)
            assert type(ours) is container
            theirs = container(function(X))
            assert len(ours) == len(theirs) > 0
            for one, other in zip(flatten(ours)[0], flatten(theirs)[0], strict=True):
                assert np.allclose(one, other) if isinstance(one, Tensor) else one == other


def test_iterators_in_iterators():
    compiled = ms.jit(lambda x: zip((x,), (map(ms.ops.sin, [x, x]),), strict=True))
    ((first, second),) = compiled(X)
    assert first.asnumpy().tolist() == [1, 2]
    assert_close([each.asnumpy() for each in second], np.sin([[1, 2], [1, 2]]), kind="program")


def test_an_iterator_without_end():
    def endless(x):
        while True:
            yield 1

    with pytest.raises(ms.CompileError, match="returns a generator of more than 1000000 items"):
        ms.jit(lambda x: endless(x))(X)


def ranges(x):
    k = 1
    if x.sum() > 0:
        k = 3
    s = x * 0
    for i in range(10, 0, -k):
        s = s + x * i
    for i in range(k):
        s = s + i
    for i in range(k, 7):
        s = s + i * i
    for i in range(0, 7, k):
        s = s - i * x
    for i in range(k, -2, -1):
        s = s * 1.1 + i
    for i in range(k, 20, k):
        if i * x.sum() > 8:
            break
        s = s + i
    return s


def test_ranges_whose_bounds_and_step_a_tensor_decides():
    compiled = ms.jit(ranges)
    for x in (X, -X):
        assert_close(compiled(x), ranges(x), kind="program")


def test_a_step_of_zero():
    def f(x):
        k = 1
        if x.sum() > 0:
            k = 3
        for i in range(0, k, 0):
            x = x + i
        return x

    with pytest.raises(ValueError, match="must not be zero"):
        ms.jit(f)(X)


TEXT = """
import mindgrad as ms
f = ms.jit(lambda x: x * 2 if x.sum() > 0 else x)
try:
    f(ms.Tensor([1.0]))
except ms.CompileError as error:
    print(error)
"""


def test_exec_has_no_source(capsys):
    exec(TEXT, {})
    text = capsys.readouterr().out
    assert (
        "'<lambda>', whose control flow cannot be compiled: its source cannot be found (it was created by exec"
        in text
    )
    assert "%%time" in text
    assert "Define the function in a file" in text


def test_a_pipe_has_no_source():
    text = subprocess.run(
        [sys.executable], input=TEXT, capture_output=True, text=True, check=True, timeout=100
    ).stdout
    assert "its source cannot be found (it was read from a pipe)" in text
