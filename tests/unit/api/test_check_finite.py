"""``check_finite``: an assertion in eager mode and in compiled programs that changes no result."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops
from tests.tolerances import assert_close


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"], autouse=True)
def mode(request):
    ms.set_context(mode=request.param)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def real(*values):
    return Tensor(np.array(values, np.float32))


def logarithm(x):
    y = ms.check_finite(ops.log(x), "the logarithm")
    return (y * y).sum()


def compiled(function):
    return ms.jit(function) if ms.get_context("mode") == ms.GRAPH_MODE else function


@pytest.mark.parametrize("derived", [compiled, ms.grad, lambda f: ms.grad(lambda x: ms.grad(f)(x).sum())])
def test_results_and_derivatives_are_those_of_the_identity(derived):
    x = real(0.5, 2.0)
    function = derived(logarithm)
    expected = derived(lambda x: (ops.log(x) ** 2).sum())
    assert_close(function(x), expected(x))
    for _ in range(2):
        with pytest.raises(FloatingPointError, match=r"the logarithm: -inf at \[1\]") as caught:
            function(real(1.0, 0.0))
        assert 'y = ms.check_finite(ops.log(x), "the logarithm")' in str(caught.value)
    assert_close(function(x), expected(x))


def test_rows_of_vmap():
    function = ms.vmap(lambda x: ms.check_finite(ops.log(x)) + 1.0)
    assert function(real(1.0, 1.0)).asnumpy().tolist() == [1.0, 1.0]
    with pytest.raises(FloatingPointError, match="check_finite: nan"):
        function(real(1.0, -1.0))


def test_the_branch_that_is_not_taken_is_not_checked():
    @compiled
    def function(x):
        if x.sum() > 0:
            return ms.check_finite(ops.log(x), "taken")
        return x

    assert function(real(-1.0)).asnumpy().tolist() == [-1.0]
    assert function(real(1.0)).asnumpy().tolist() == [0.0]
    with pytest.raises(FloatingPointError, match="taken"):
        function(real(0.0, 1.0))


def test_a_parameter_that_is_written_before_keeps_its_value():
    w = Parameter(real(1.0), name="w")

    @ms.jit
    def step(x):
        ops.assign(w, w + x)
        return ms.check_finite(ops.log(x))

    with pytest.raises(FloatingPointError):
        step(real(0.0))
    assert w.asnumpy().tolist() == [1.0]
    step(real(1.0))
    assert w.asnumpy().tolist() == [2.0]


def test_other_arguments():
    assert ms.check_finite(Tensor([1, 2])).asnumpy().tolist() == [1, 2]
    with pytest.raises(TypeError, match="'x' must be a Tensor"):
        ms.check_finite(1.0)
    with pytest.raises(TypeError, match="'message' must be a str"):
        ms.check_finite(real(1.0), 3)
