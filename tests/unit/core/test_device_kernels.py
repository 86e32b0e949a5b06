"""Operators of eager mode on a device that is not the host: here the CPU, as XLA runs it."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.core.backend import device, xla
from mindgrad.core.backend.device import run_on_device
from mindgrad.core.ir.cost_model import HOST
from mindgrad.core.ir.kernels import set_kernel_runner
from tests.tiers import eager, is_compiled
from tests.tolerances import assert_close

pytestmark = pytest.mark.xla


@pytest.fixture(autouse=True)
def on_a_device(monkeypatch):
    monkeypatch.setattr(device, "_host_calls", {})
    set_kernel_runner(run_on_device)
    yield
    set_kernel_runner(None)


@pytest.fixture
def compiled_kernels(monkeypatch):
    """The names of the operators that are compiled."""
    names = []
    compile_kernel = device.compile_kernel
    monkeypatch.setattr(
        device,
        "compile_kernel",
        lambda row, parameters: names.append(row.name) or compile_kernel(row, parameters),
    )
    return names


def test_device_operators_run_on_the_host_at_first(compiled_kernels):
    x = Tensor(np.linspace(0, 1, 10, dtype=np.float32))
    assert_close(ops.sin(x) * x, np.sin(x.asnumpy()) * x.asnumpy())
    assert compiled_kernels == []


def test_device_operators_are_compiled_after_the_first_calls(compiled_kernels, monkeypatch):
    monkeypatch.setattr(device, "HOST", HOST._replace(kernel_calls=1))
    x = Tensor(np.linspace(0, 1, 10, dtype=np.float32))
    first, second = ops.sin(x), ops.sin(x)
    assert compiled_kernels == ["sin"]
    assert_close(first, second)


def test_device_operators_of_large_operands_are_compiled_immediately(compiled_kernels, monkeypatch):
    monkeypatch.setattr(device, "HOST", HOST._replace(kernel_elements=100))
    ops.sin(Tensor(np.ones(101, np.float32)))
    assert compiled_kernels == ["sin"]


@pytest.mark.parametrize("calls", [0, 2, 8])
def test_device_training_agrees_with_the_host(calls, monkeypatch):
    def losses():
        ms.set_seed(1)
        net = nn.SequentialCell(
            nn.Dense(4, 8, weight_init="ones"), nn.Tanh(), nn.Dense(8, 2, weight_init="ones")
        )
        optimizer = nn.Adam(net.trainable_params(), 0.01)
        gradient = ms.value_and_grad(
            lambda x, y: nn.CrossEntropyLoss()(net(x), y), None, optimizer.parameters
        )
        found = []
        for k in range(6):
            x = Tensor(np.linspace(0, 1 + k, 12, dtype=np.float32).reshape(3, 4))
            value, slopes = gradient(x, Tensor(np.array([0, 1, 1], np.int32)))
            optimizer(slopes)
            found.append(float(value))
        assert is_compiled(gradient) or switch == "numpy"
        return found

    monkeypatch.setattr(device, "HOST", HOST._replace(kernel_calls=calls))
    results = {}
    for switch in ("numpy", "compiled"):
        with eager(switch):
            ms.clear_cache()
            results[switch] = losses()
    set_kernel_runner(None)
    switch = "numpy"
    with eager(switch):
        expected = losses()
    for values in results.values():
        assert_close(values, expected, kind="long program", dtype=np.float32)


def test_device_loops_of_equal_graphs_share_a_kernel(monkeypatch):
    kernels = []
    make = xla._kernel

    def noted(primitive, *key):
        kernel = make(primitive, *key)
        if primitive.name == "scan":
            kernels.append(kernel)
        return kernel

    monkeypatch.setattr(xla, "_kernel", noted)
    x = Tensor(np.random.default_rng(0).normal(size=(2, 12, 3)).astype(np.float32))
    cells = [nn.LSTM(3, 4, batch_first=True) for _ in range(2)]
    with eager("compiled"):
        results = [cell(x)[0].asnumpy() for cell in cells]
        set_kernel_runner(None)
        expected = [cell(x)[0].asnumpy() for cell in cells]
    assert_close(results, expected, kind="long program", each=True, scale=0.01)
    assert len(kernels) == 2
    assert len(set(kernels)) == 1


def test_device_loops_that_print_run_on_the_host(compiled_kernels, capsys):
    def body(carry, x):
        ops.Print()(carry)
        return carry + x, carry

    with eager("numpy"):
        last, _ = ops.Scan()(body, Tensor(0.0), Tensor(np.ones(3, np.float32)), 3)
    assert float(last) == 3
    assert capsys.readouterr().out.count("\n") >= 3


def test_device_operators_of_small_integers_stay_on_the_host(compiled_kernels):
    labels = Tensor(np.arange(10, dtype=np.int32))
    for _ in range(HOST.kernel_calls + 2):
        inside = ops.logical_and(labels >= 0, labels < 10)
    assert isinstance(inside._array, np.ndarray)
    assert inside.all()
    assert compiled_kernels == []
