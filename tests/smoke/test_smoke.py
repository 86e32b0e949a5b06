"""Does anything work at all? A few seconds; every other test is of no interest while these fail."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, context, nn, ops
from tests.tolerances import assert_close

pytestmark = pytest.mark.smoke


class Net(nn.Cell):
    """w * sin(x) + x * y"""

    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(Tensor([2.0], ms.float32), name="w")

    def construct(self, x, y):
        return self.w * ops.sin(x) + x * y


@pytest.fixture(params=["GRAPH_MODE", "PYNATIVE_MODE"])
def _mode(request):
    before = context.get_context("mode")
    context.set_context(mode=getattr(context, request.param))
    yield
    context.set_context(mode=before)


X = np.array([0.5, -1.0, 2.0], np.float32)
Y = np.array([1.0, 3.0, -0.5], np.float32)


@pytest.mark.usefixtures("_mode")
def test_a_net_and_its_gradients():
    net = Net()
    x, y = Tensor(X), Tensor(Y)
    assert_close(net(x, y), 2 * np.sin(X) + X * Y, kind="program", each=True)
    everything = ops.GradOperation(get_all=True, get_by_list=True)
    (dx, dy), (dw,) = everything(net, ms.ParameterTuple(net.trainable_params()))(x, y)
    assert_close(dx, 2 * np.cos(X) + Y, kind="program")
    assert_close(dy, X, kind="program", each=True)
    assert_close(dw, [np.sin(X).sum()], kind="program")


@pytest.mark.usefixtures("_mode")
def test_derivatives_of_derivatives():
    x, v = Tensor(X), Tensor(Y)
    second = ops.grad(ops.grad(ops.sin))
    assert_close(second(x), -np.sin(X), kind="program")
    slope, curvature = ops.jvp(ops.grad(ops.sin), x, v)  # forward over reverse
    assert_close(slope, np.cos(X), kind="program")
    assert_close(curvature, -np.sin(X) * Y, kind="program", each=True)
    _, curvature = ops.vjp(ops.grad(ops.sin), x, v)  # reverse over reverse
    assert_close(curvature, -np.sin(X) * Y, kind="program", each=True)


def test_a_mindspore_program_is_launched():
    program = (
        "import mindspore as ms\n"
        "from mindspore.ops import GradOperation\n"
        "ms.context.set_context(mode=ms.context.PYNATIVE_MODE)\n"
        "print(GradOperation(get_all=True)(lambda x: x * x)(ms.Tensor([3.0])))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mindgrad", "-c", program],
        env={"PYTHONPATH": str(Path(ms.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
    )
    said = "(Tensor(shape=[1], dtype=Float32, value= [ 6.00000000e+00]),)\n"
    assert (done.stdout, done.stderr, done.returncode) == (said, "", 0)
