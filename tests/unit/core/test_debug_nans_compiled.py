"""``set_context(debug_nans=True)`` where eager calls run as programs: the line is that of operator by operator."""

import time

import jax
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.core.backend import finite_results
from mindgrad.core.ir import kernels
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.elementwise import log
from mindgrad.distributed.collectives import all_reduce
from mindgrad.eager.tiers import wait_until_compiled
from tests.tiers import eager, is_compiled


@pytest.fixture(autouse=True)
def checking():
    with eager("compiled"):
        ms.set_context(debug_nans=True)
        yield
        ms.set_context(debug_nans=False)


def vector(number, size=20):
    """A tensor of more elements than are compared by value."""
    return Tensor(np.linspace(0.5, 1.0, size, dtype=np.float32) * number)


def message(function, *args):
    with pytest.raises(FloatingPointError) as caught:
        function(*args)
    return str(caught.value)


def warm(function, *args, calls=6):
    for _ in range(calls):
        result = function(*args)
    return result


def test_the_line_of_a_derivative_and_of_a_value_is_named():
    def root(x):
        y = ops.sin(x)
        z = ops.sqrt(y)  # no slope at zero
        return z.sum()

    def logarithm(x):
        hidden = ops.log(x)
        return hidden.sum()

    for function, line in ((root, "z = ops.sqrt(y)"), (logarithm, "hidden = ops.log(x)")):
        gradient = ms.value_and_grad(function)
        expected = warm(gradient, vector(1))[1].asnumpy()
        assert is_compiled(gradient)
        for _ in range(2):
            text = message(gradient, vector(0))
            assert line in text
            assert text.startswith("in a derivative of the line below") is (function is root)
        assert (gradient(vector(1))[1].asnumpy() == expected).all()
        assert is_compiled(gradient), "a fault is no reason to run operator by operator"


def test_the_line_of_a_second_derivative_is_named():
    def cube(x):
        y = x * ops.sqrt(x)  # its second derivative is infinite at zero
        return y.sum()

    bend = ms.grad(lambda x: ms.grad(cube)(x).sum())
    warm(bend, vector(1))
    assert is_compiled(bend)
    text = message(bend, vector(0))
    assert text.startswith("in a derivative of the line below")
    assert "y = x * ops.sqrt(x)" in text


def test_two_lines_of_one_structure_are_told_apart():
    def either(x, is_first):
        if is_first:
            y = ops.log(x)  # first
        else:
            y = ops.log(x)  # second
        return y.sum()

    gradient = ms.grad(either)
    for is_first in (True, False, True, False):
        warm(gradient, vector(1), is_first)
    assert is_compiled(gradient)
    assert "# first" in message(gradient, vector(0), True)
    assert "# second" in message(gradient, vector(0), False)


def test_a_value_that_is_masked_passes():
    def masked(x):
        safe = ops.select(x > 0.1, ops.log(x), ops.zeros_like(x))
        return (safe * safe).sum()

    gradient = ms.grad(lambda x: masked(x) / x.max())
    warm(gradient, vector(1))
    assert is_compiled(gradient)
    assert "/ x.max()" in message(gradient, vector(0))


def test_a_step_that_fails_changes_no_parameter():
    class Step(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = nn.Dense(20, 1, bias_init="zeros")
            self.optimizer = nn.Adam(self.net.trainable_params(), learning_rate=1e-3)
            self.gradient = ms.value_and_grad(self.loss, None, self.optimizer.parameters)

        def loss(self, x):
            hidden = ops.log(x)
            return ops.tanh(self.net(hidden)).sum()

        def construct(self, x):
            loss, gradients = self.gradient(x)
            self.optimizer(gradients)
            return loss

    step = Step()
    warm(step, vector(1)[None])
    assert is_compiled(step)
    before = [p.asnumpy().copy() for p in step.get_parameters()]
    for _ in range(2):
        assert "hidden = ops.log(x)" in message(step, vector(0)[None])
        for p, array in zip(step.get_parameters(), before, strict=True):
            assert (p.asnumpy() == array).all(), p.name
    warm(step, vector(1)[None], calls=1)
    assert any((p.asnumpy() != a).any() for p, a in zip(step.get_parameters(), before, strict=True))


def test_a_value_that_is_asked_for_inside_of_a_call_is_checked():
    seen = []

    def looked_at(x):
        y = ops.log(x)  # looked at
        seen.append(float(ops.stop_gradient(y).sum()))
        return (y * y).sum()

    gradient = ms.grad(looked_at)
    warm(gradient, vector(1), calls=10)
    assert is_compiled(gradient)
    count = len(seen)
    assert "# looked at" in message(gradient, vector(0))
    assert len(seen) == count, "the error is raised where the value is asked for"


def test_the_option_switches_between_tiers():
    gradient = ms.grad(lambda x: ops.sqrt(x).sum())
    warm(gradient, vector(1))
    ms.set_context(debug_nans=False)
    assert np.isinf(warm(gradient, vector(0)).asnumpy()).all()
    ms.set_context(debug_nans=True)
    assert "sqrt" in message(gradient, vector(0))
    ms.set_context(debug_nans=False)
    assert np.isinf(gradient(vector(0)).asnumpy()).all()


def test_calls_in_the_background_is_compiled():
    net = nn.SequentialCell(nn.Dense(64, 256), nn.Tanh(), nn.Dense(256, 1))
    x = Tensor(np.ones((256, 64), np.float32))
    gradient = ms.value_and_grad(lambda x: (ops.log(x) + net(x)).mean(), None, net.trainable_params())
    with eager(""):
        end = time.monotonic() + 10
        while not is_compiled(gradient) and time.monotonic() < end:
            gradient(x)
            wait_until_compiled()
        assert is_compiled(gradient), ms.cache_info(gradient).eager
        assert "ops.log(x) + net(x)" in message(gradient, x * 0)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "complex64", "int32"])
def test_results_on_a_device_are_looked_at_there(monkeypatch, dtype):
    monkeypatch.setattr(kernels, "runs_on_host", False)
    whole = jax.numpy.ones((3, 4), jax.numpy.float32)
    numbers = np.ones(5, dtype)
    with jax.enable_x64(True):
        assert finite_results.are_finite([whole, jax.numpy.asarray(numbers)])
        assert finite_results.are_finite([])
        if dtype != "int32":
            for number in (np.inf, np.nan):
                numbers[3] = number
                assert not finite_results.are_finite([whole, jax.numpy.asarray(numbers)])
        assert not finite_results.are_finite([jax.numpy.asarray(np.float32(np.inf)), whole])


def test_a_program_of_several_processes_is_not_run_again_by_one():
    def program(body):
        builder = Builder()
        with building(builder):
            return builder.close([body(builder.input(tensor_type("float32", (2,))))])

    before = program(lambda x: all_reduce(log(x), ranks=(0, 1)))
    behind = program(lambda x: log(all_reduce(x, ranks=(0, 1))))
    zeros = np.zeros(2, np.float32)
    assert "the operator 'log' returned -inf" in message(finite_results.locate_fault, before, [zeros])
    assert "'all_reduce' or after it" in message(finite_results.locate_fault, behind, [zeros])
    assert "'all_reduce' or after it" in message(finite_results.locate_fault, before, [zeros + 1])
    finite_results.locate_fault(behind, [zeros + np.inf])
