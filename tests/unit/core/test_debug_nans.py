"""``set_context(debug_nans=True)``: the line that first makes a NaN or an infinity, in both modes and directions."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.core.ir.dtype import bfloat16


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"], autouse=True)
def checking(request):
    ms.set_context(mode=request.param, debug_nans=True)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE, debug_nans=False)


def real(*values):
    return Tensor(np.array(values, np.float32))


def message(function, *args):
    with pytest.raises(FloatingPointError) as caught:
        function(*args)
    return str(caught.value)


class Net(nn.Cell):
    """A mistake behind a layer."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 2)

    def construct(self, x):
        hidden = ops.tanh(self.dense(x))
        faulty = ops.log(x - 1.0)  # of zero
        return (faulty * hidden).sum()


def root(x):
    y = ops.sin(x)
    z = ops.sqrt(y)  # no slope at zero
    return z.sum()


def compiled(function):
    """As one program in GRAPH_MODE; in PYNATIVE_MODE as it is."""
    return ms.jit(function) if ms.get_context("mode") == ms.GRAPH_MODE else function


def test_the_line_of_the_forward_pass_is_named():
    x = real([1.0, 2.0])
    for function in (Net(), ms.grad(Net()), ms.value_and_grad(Net())):
        text = message(function, x)
        assert (
            "the operator 'log' returned -inf at [0, 0] from finite operands: Float32[1,2] from 0.0 to 1.0"
            in text
        )
        assert "faulty = ops.log(x - 1.0)" in text
        assert "test_debug_nans.py" in text
        assert "derivative" not in text


def test_the_line_of_a_derivative_is_named():
    x = real(0.0, 1.0)
    assert np.isfinite(compiled(root)(x).asnumpy())
    for function in (ms.grad(root), ms.jacrev(root), ms.grad(lambda x: ms.grad(root)(x).sum())):
        text = message(function, x)
        assert text.startswith("in a derivative of the line below, the operator ")
        assert "z = ops.sqrt(y)" in text
    assert "z = ops.sqrt(y)" in message(lambda x: ms.jvp(root, x, x + 1), x)
    assert np.isfinite(ms.grad(root)(x + 0.5).asnumpy()).all()


def test_two_lines_of_one_structure_are_told_apart():
    def first(x):
        return ops.sqrt(x).sum()

    def second(x):
        return ops.sqrt(x).sum()

    names = [
        message(ms.grad(function), real(0.0)).split("line ")[2].split("\n")[0] for function in (first, second)
    ]
    assert names[0] != names[1]


def test_a_cotangent_that_overflows_is_named():
    def overflowing(x):
        y = x * 1e30
        return (ops.sin(y) * 1e30).sum()

    text = message(ms.grad(overflowing), real(0.0))
    assert "in a derivative of the line below" in text
    assert "y = x * 1e30" in text


def test_the_fault_that_reaches_the_results_is_named():
    def masked(x):
        safe = ops.select(x > 0, ops.log(x), ops.zeros_like(x))
        return safe / (x - x.max())

    text = message(compiled(masked), real(0.0, 1.0))
    assert (
        "return safe / (x - x.max())" if ms.get_context("mode") == ms.GRAPH_MODE else "ops.log(x)"
    ) in text


def test_operands_that_are_infinite_already_are_let_pass():
    mask = real(0.0, -np.inf)
    assert np.isinf(compiled(lambda x: x + mask)(real(1.0, 2.0)).asnumpy()[1])
    assert np.isnan(compiled(lambda x: x - x)(real(0.0, np.nan)).asnumpy()[1])
    assert compiled(lambda x: ops.softmax(x + mask))(real(1.0, 2.0)).asnumpy().tolist() == [1.0, 0.0]
    assert compiled(lambda x: ops.full((2,), np.inf) + x)(real(1.0, 2.0)).asnumpy().tolist() == [np.inf] * 2


def test_pooling_pads_with_infinity():
    x = Tensor(np.ones((1, 1, 4, 4), np.float32))
    pool = nn.MaxPool2d(3, 2, pad_mode="same")
    assert np.isfinite(pool(x).asnumpy()).all()
    assert np.isfinite(ms.grad(pool)(x).asnumpy()).all()


def test_half_precision_overflows():
    for dtype in (ms.float16, bfloat16):
        x = Tensor(np.array([1.0, 30000.0], np.float32)).astype(dtype)
        scale = 10.0 if dtype is ms.float16 else 3e37
        assert "'mul' returned inf at [1]" in message(compiled(lambda x, scale=scale: x * scale), x)


def test_loops_and_branches():
    def loop(x):
        while x.sum() > -1.0:
            x = ops.log(x) - 3.0
        return x

    assert "test_debug_nans.py" in message(compiled(loop), real(0.0, 1.0))


def test_a_step_that_fails_changes_no_parameter():
    net = nn.Dense(2, 1, bias_init="zeros")
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
    gradient = ms.value_and_grad(lambda x: ops.sqrt(net(x)).sum(), None, optimizer.parameters)

    @ms.jit
    def step(x):
        loss, gradients = gradient(x)
        optimizer(gradients)
        return loss

    before = net.weight.asnumpy().copy()
    for _ in range(2):
        assert "ops.sqrt(net(x))" in message(step, real([0.0, 0.0]))
    assert (net.weight.asnumpy() == before).all()
    assert not optimizer.global_step.asnumpy().any()


def test_results_are_the_same_and_the_option_can_be_switched():
    x = real(0.3, 1.0)
    gradient = ms.grad(root)
    checked = gradient(x).asnumpy()
    assert "sqrt" in message(gradient, x * 0)
    ms.set_context(debug_nans=False)
    assert (gradient(x).asnumpy() == checked).all()
    assert np.isinf(gradient(x * 0).asnumpy()).all()
    ms.set_context(debug_nans=True)
    assert "sqrt" in message(gradient, x * 0)


def test_differences_may_leave_the_domain():
    assert ms.check_grad(ops.sqrt, real(1e-4, 4.0)).ok
    assert ms.get_context("debug_nans")
    assert "in a derivative of the line below" in message(ms.check_grad, ops.sqrt, real(0.0))


def test_the_option_is_checked():
    with pytest.raises(TypeError, match="debug_nans"):
        ms.set_context(debug_nans=1)
    assert ms.get_context("debug_nans") is True


def test_the_environment_variable_turns_it_on(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import mindgrad as ms\nms.ops.log(ms.Tensor([0.0]))\n")
    run = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "MINDGRAD_DEBUG_NANS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert "FloatingPointError: the operator 'log' returned -inf" in run.stderr


def test_a_nan_of_infinities_is_named():
    def weights(scores, mask):
        masked = ops.where(mask, scores, Tensor(-np.inf, ms.float32))
        shifted = masked - masked.max(axis=1, keepdims=True)  # a row without a score
        return ops.exp(shifted)

    scores = real([1.0, 2.0], [3.0, 4.0])
    text = message(compiled(weights), scores, Tensor([[True, False], [False, False]]))
    assert "the operator 'sub' returned nan at [1, 0] from infinite operands" in text
    assert "shifted = masked - masked.max" in text
    kept = compiled(weights)(scores, Tensor([[True, False], [False, True]]))
    assert kept.asnumpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_the_infinity_before_a_nan_is_the_one_that_is_named():
    def twice(x):
        first = ops.log(x)
        return ops.log(first)

    text = message(compiled(twice), real(0.0, 2.0))
    assert "returned -inf at [0] from finite operands" in text
    assert "first = ops.log(x)" in text


def test_a_mask_of_infinities_has_a_derivative_without_nan():
    scores = real([1.0, 2.0, -np.inf], [0.0, -np.inf, 3.0])
    for function in (ops.softmax, lambda x: ops.logsumexp(x, 1)):
        pulled = ms.grad(lambda x, f=function: (f(x) * f(x)).sum())
        assert np.isfinite(pulled(scores).asnumpy()).all()
