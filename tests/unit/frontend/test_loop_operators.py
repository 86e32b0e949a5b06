"""``ops.WhileLoop``, ``ops.ForiLoop`` and ``ops.Scan`` in both modes and under derivatives."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])


@MODES
def test_while_loop_of_a_parameter_starts_at_its_value(mode):
    ms.set_context(mode=mode)
    start = Parameter(Tensor([1.0]), name="start")
    run = ms.jit(lambda x: ops.WhileLoop()(lambda v: v.value() < 5, lambda v: ops.relu(v) + 1, x))
    assert run(start).asnumpy().tolist() == [5.0]
    assert start.asnumpy().tolist() == [1.0]


class Repeated(nn.Cell):
    def __init__(self):
        super().__init__()
        self.loop = ops.WhileLoop()
        self.add = ops.Add()

    def construct(self, x, count):
        def body(state):
            value, left, add = state
            return [add(value, left), left - 1, add]

        return self.loop(lambda state: state[1] > 0, body, [x, count, self.add])[0]


@MODES
def test_while_loop_carries_lists_with_numbers_and_functions(mode):
    ms.set_context(mode=mode)
    assert Repeated()(Tensor([2.0]), 3).asnumpy().tolist() == [8.0]
    assert ms.grad(Repeated())(Tensor([2.0]), 3).asnumpy().tolist() == [1.0]


@MODES
def test_while_loop_with_a_condition_on_a_tensor_has_derivatives(mode):
    ms.set_context(mode=mode)
    f = lambda x: ops.WhileLoop()(lambda y: y < 20.0, lambda y: y * x, x)  # x, x², x³ …
    assert f(Tensor(3.0)).item() == 27.0
    assert ms.grad(f)(Tensor(3.0)).item() == 27.0
    assert ms.grad(ms.grad(f))(Tensor(3.0)).item() == 18.0


@MODES
@pytest.mark.parametrize("unroll", [True, False])
@pytest.mark.parametrize("upper", [12, Tensor(12)])
def test_fori_loop_agrees_with_a_python_loop_to_second_order(mode, unroll, upper):
    ms.set_context(mode=mode)
    f = lambda x, upper: ops.ForiLoop()(2, upper, lambda i, y: y * x + i, Tensor(1.0), unroll)

    def wanted(x, n):
        y = Tensor(1.0)
        for i in range(2, 12):
            y = y * x + i
        return y

    x = Tensor(0.5)
    for transform in (lambda f: f, ms.grad, lambda f: ms.grad(ms.grad(f))):
        assert_close(transform(f)(x, upper), transform(wanted)(x, 0), kind="program")


@MODES
@pytest.mark.parametrize("kind", [list, tuple, lambda xs: Tensor(np.float32(xs))])
def test_scan_returns_the_last_carry_and_all_outputs(mode, kind):
    ms.set_context(mode=mode)
    xs = kind([float(k) for k in range(10)])

    def f(x):
        carry, outputs = ops.Scan()(lambda c, e: (c * x + e, c), x, xs, 10, False)
        return carry + sum(outputs)

    def wanted(x):
        carry, total = x, 0.0
        for e in range(10):
            carry, total = carry * x + e, total + carry
        return carry + total

    h = 1e-3
    assert_close(f(Tensor(0.5)), wanted(0.5), kind="program")
    assert_close(ms.grad(f)(Tensor(0.5)), (wanted(0.5 + h) - wanted(0.5 - h)) / (2 * h), kind="program")


@MODES
def test_scan_without_elements_runs_length_times_and_nests(mode):
    ms.set_context(mode=mode)
    run = ms.jit(lambda x: ops.Scan()(lambda c, _: (2 * c, c), x, None, 3))
    last, outputs = run(Tensor(1.0))
    assert (last.item(), [y.item() for y in outputs]) == (8.0, [1.0, 2.0, 4.0])

    def inner(c, e):
        return ops.ForiLoop()(0, 3, lambda _, v: [v[0] + v[1], v[1]], [c + 1, e])[0], e

    assert ms.jit(lambda x: ops.Scan()(inner, x, [3, 10], 2)[0])(Tensor(1.0)).item() == 42.0


def test_scan_and_loops_raise_on_wrong_arguments():
    identity = lambda *xs: xs[-1]
    for call, error, text in (
        (lambda: ops.WhileLoop()(3, identity, 1), TypeError, "'cond_func' must be a function, but got int"),
        (lambda: ops.ForiLoop()(0, 1, 3, 1), TypeError, "'loop_func' must be a function"),
        (lambda: ops.ForiLoop()(0, 1, identity, 1, 3), TypeError, "'unroll' must be a bool"),
        (lambda: ops.ForiLoop()(0, 1.5, identity, 1), TypeError, "integer"),
        (lambda: ops.Scan()(identity, 0, [1], 2), ValueError, "'length' is 2, but 'xs' has 1"),
        (lambda: ops.Scan()(identity, 0, None), ValueError, "are both None"),
        (lambda: ops.Scan()(identity, 0, {1}), TypeError, "must be a tuple, list or Tensor"),
    ):
        with pytest.raises(error, match=text):
            call()
