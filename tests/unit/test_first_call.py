"""The first call of a program on the host, while XLA compiles it in the background."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.execution import first_call
from mindgrad.execution.background import wait_until_compiled
from mindgrad.execution.compiled import trace
from mindgrad.execution.first_call import may_begin_on_host
from mindgrad.ir import settings
from mindgrad.ir.evaluate import Stopped, evaluate

pytestmark = pytest.mark.xla


@pytest.fixture(autouse=True)
def on_host():
    before = settings.options["first_call"]
    settings.store("first_call", "numpy")
    yield
    wait_until_compiled()
    settings.store("first_call", before)


@pytest.fixture
def evaluations(monkeypatch):
    """How evaluations of whole programs on the host ended."""
    ends = []

    def noted(graph, operands):
        try:
            results = evaluate(graph, operands)
        except BaseException as error:
            ends.append(type(error))
            raise
        ends.append(None)
        return results

    monkeypatch.setattr(first_call, "evaluate", noted)
    return ends


def test_numpy_computes_the_first_call_and_the_compiled_program_the_later_ones(evaluations):
    x = Tensor(np.linspace(0.1, 2.0, 20, dtype=np.float32))
    gradient = ms.jit(ms.grad(lambda x: ops.sum(ops.sin(x) * x**2)))
    first, *later = (gradient(x).asnumpy() for _ in range(3))
    expected = np.cos(x.asnumpy()) * x.asnumpy() ** 2 + 2 * x.asnumpy() * np.sin(x.asnumpy())
    assert evaluations == [None]
    assert np.allclose([first, later[0]], expected, rtol=1e-5)
    assert np.array_equal(later[0], later[1])
    assert ms.cache_info(gradient)[:2] == (2, 1)


def test_training_goes_on_from_what_numpy_computed(evaluations):
    inputs, labels = Tensor(np.eye(4, 3, dtype=np.float32)), Tensor(np.ones((4, 2), np.float32))

    def losses(first):
        settings.store("first_call", first)
        net = nn.Dense(3, 2, weight_init="ones", bias_init="ones")
        optimizer = nn.Adam(net.trainable_params(), 0.1)
        gradient = ms.value_and_grad(lambda x, y: ops.square(net(x) - y).mean(), None, optimizer.parameters)

        @ms.jit
        def step(x, y):
            loss, gradients = gradient(x, y)
            optimizer(gradients)
            return loss

        return [float(step(inputs, labels)) for _ in range(4)]

    assert np.allclose(losses("numpy"), losses(""), rtol=1e-5)
    assert evaluations == [None]


def test_numpy_is_stopped_where_xla_is_done_first(evaluations):
    @ms.jit
    def root(x):
        k = Tensor(0, ms.int32)
        while k < 20_000_000:  # minutes, for NumPy
            x, k = x + 1.0 / x, k + 1
        return x

    assert root(Tensor(1.0)).item() > 1000
    assert evaluations == [Stopped]
    assert root(Tensor(2.0)).item() > 1000
    assert evaluations == [Stopped]


@pytest.mark.parametrize("error", [ArithmeticError, KeyboardInterrupt])
def test_a_first_call_that_fails_changes_nothing(monkeypatch, error):
    weight = Parameter(Tensor([1.0, 2.0]), name="weight")

    @ms.jit
    def double(x):
        ops.assign(weight, weight * x)
        return weight.sum()

    def failing(graph, operands):
        raise error

    monkeypatch.setattr(first_call, "evaluate", failing)
    if error is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            double(Tensor(2.0))
        assert weight.asnumpy().tolist() == [1.0, 2.0]
    assert double(Tensor(2.0)).item() == 6.0
    assert weight.asnumpy().tolist() == [2.0, 4.0]


def test_programs_that_are_compiled_at_once():
    x = Tensor([1.0, 2.0])
    assert may_begin_on_host(trace(lambda x: x * x, x))
    assert not may_begin_on_host(trace(lambda x: x * x, x.astype(ms.float16)))

    def printing(x):
        print(x)
        return x * x

    assert not may_begin_on_host(trace(printing, x))


def test_without_the_variable_the_first_call_is_compiled(evaluations):
    settings.store("first_call", "")
    function = ms.jit(lambda x: ops.exp(x) / 3)
    assert function(Tensor([1.0])).item() == function(Tensor([1.0])).item()
    assert evaluations == []


def test_a_result_is_no_operand(evaluations):
    array = np.arange(3.0, dtype=np.float32)
    same, turned = ms.jit(lambda x: (x, x[::-1]))(Tensor.from_numpy(array))
    assert evaluations == [None]
    assert not any(np.shares_memory(result.asnumpy(), array) for result in (same, turned))


FRESH = """
import sys, numpy as np, mindgrad as ms
ms.set_context(mode=ms.GRAPH_MODE)
x = ms.Tensor(np.ones(3, np.float32))
function = ms.grad(lambda x: (x * x * x).sum())
first = function(x).asnumpy().tolist()
assert first == [3.0, 3.0, 3.0], first
"""
FORKED = """
import os, signal
child = os.fork()
if not child:
    signal.alarm(60)
    try:
        assert function(x).asnumpy().tolist() == first
    except RuntimeError as refusal:
        assert "forked" in str(refusal)
    os._exit(0)
status = os.waitpid(child, 0)[1]
assert status == 0, status
"""


@pytest.mark.parametrize("more", ["", "\nassert function(x).asnumpy().tolist() == first", FORKED])
def test_a_fresh_process(more):
    if more is FORKED and not hasattr(os, "fork"):
        pytest.skip("there is no fork")
    environment = {**os.environ, "MINDGRAD_FIRST_CALL": "numpy"}
    command = [sys.executable, "-W", "ignore", "-c", FRESH + more]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
