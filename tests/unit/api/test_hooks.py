"""Hooks on gradients: InsertGradientOf in both modes, Python hooks in PYNATIVE_MODE."""

import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops

MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])


@pytest.fixture(autouse=True)
def restore_mode():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


@MODES
def test_insert_gradient_of_replaces_and_is_differentiated(mode):
    ms.set_context(mode=mode)
    squared = ops.InsertGradientOf(lambda g: g * g)
    gradient = ops.GradOperation()
    # the gradient that arrives is 3 x^2; squared 9 x^4; its derivative 36 x^3 passes there too
    cube = lambda x: squared_cube(squared, x)
    assert gradient(cube)(Tensor([2.0])).asnumpy() == [144.0]
    assert gradient(gradient(cube))(Tensor([2.0])).asnumpy() == [288.0**2]
    kept = ops.InsertGradientOf(lambda g: None)
    assert gradient(lambda x: kept(x) * 3)(Tensor([2.0])).asnumpy() == [3.0]


def squared_cube(squared, x):
    y = squared(x)
    return y * y * y


def test_hook_backward_sees_and_replaces_values():
    seen = []

    def double(gradient):
        seen.append(gradient[0].asnumpy().tolist())
        return gradient[0] * 2

    hook = ops.HookBackward(double)
    f = lambda x: hook(x * 3) * 5
    for _ in range(2):
        assert ops.GradOperation()(f)(Tensor([1.0, 2.0])).asnumpy().tolist() == [30.0, 30.0]
    assert seen == [[5.0, 5.0]] * 2
    assert f(Tensor([1.0])).asnumpy() == [15.0]


def test_a_hook_is_called_as_often_as_it_was_applied():
    seen = []

    def clipped(gradient):
        seen.append(gradient[0].asnumpy().tolist())
        return ops.clip_by_value(gradient[0], 0.0, 2.0)

    hook = ops.HookBackward(clipped)
    f = lambda x: hook(x) + hook(x) * x  # twice at the same value, to which different gradients arrive
    assert ops.GradOperation()(f)(Tensor([3.0])).asnumpy() == [1.0 + 2.0 + 3.0]
    assert sorted(seen) == [[1.0], [3.0]]


def test_a_jacobian_shows_a_hook_one_row_after_the_other():
    seen = []
    hook = ops.HookBackward(lambda gradient: seen.append(gradient[0].asnumpy().tolist()))
    jacobian = ms.jacrev(lambda x: hook(x) * 3.0)(Tensor([1.0, 2.0]))
    assert jacobian.asnumpy().tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert seen == [[3.0, 0.0], [0.0, 3.0]]


def test_a_second_derivative_through_a_python_hook_is_refused():
    hook = ops.HookBackward(lambda gradient: None)
    gradient = ops.GradOperation()
    f = lambda x: (hook(x * x) * x).sum()
    for second in (gradient(gradient(f)), ms.hessian(f), ms.jacfwd(ms.grad(f))):
        with pytest.raises(RuntimeError, match="InsertGradientOf"):
            second(Tensor([2.0, 3.0]))


def test_hooks_are_not_called_when_compiled_and_say_so():
    ms.set_context(mode=ms.GRAPH_MODE)
    hook = ops.HookBackward(lambda gradient: gradient[0] * 0)
    with pytest.warns(UserWarning, match="not called in GRAPH_MODE"):
        assert ops.GradOperation()(lambda x: hook(x) * 3)(Tensor([2.0])).asnumpy() == [3.0]


def test_bad_hooks():
    with pytest.raises(TypeError, match="the type of 'hook_fn' should be python function"):
        ops.HookBackward(3)
    with pytest.raises(TypeError, match="the type of 'f' should be function"):
        ops.InsertGradientOf(3)
    wrong = ops.HookBackward(lambda gradient: Tensor([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match=r"gradient of shape \(1,\), but got shape \(3,\)"):
        ops.GradOperation()(lambda x: wrong(x))(Tensor([2.0]))


class Product(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0]), name="w")

    def construct(self, x, y):
        return x * y * self.w


def test_backward_hook_of_a_cell():
    net, calls = Product(), []

    def hook(cell, grad_input, grad_output):
        calls.append((type(cell).__name__, [g.asnumpy().tolist() for g in (*grad_input, *grad_output)]))
        return grad_input[0] * 10, grad_input[1]

    handle = net.register_backward_hook(hook)
    weights = ms.ParameterTuple(net.trainable_params())
    operation = ops.GradOperation(get_all=True, get_by_list=True)
    run = lambda x, y: net(x, y) * 7
    (dx, dy), (dw,) = operation(run, weights)(Tensor([3.0]), Tensor([5.0]))
    assert calls == [("Product", [[70.0], [42.0], [7.0]])]
    assert (dx.asnumpy(), dy.asnumpy(), dw.asnumpy()) == ([700.0], [42.0], [105.0])
    handle.remove()
    (dx, _), _ = operation(run, weights)(Tensor([3.0]), Tensor([5.0]))
    assert dx.asnumpy() == [70.0]
    assert len(calls) == 1


@MODES
def test_forward_hooks_of_a_cell(mode):
    ms.set_context(mode=mode)
    net = Product()
    net.register_forward_pre_hook(lambda cell, inputs: (inputs[0] + 1, inputs[1]))
    handle = net.register_forward_hook(lambda cell, inputs, output: output * 100)
    assert net(Tensor([3.0]), Tensor([5.0])).asnumpy() == [4000.0]
    handle.remove()
    assert net(Tensor([3.0]), Tensor([5.0])).asnumpy() == [40.0]


def test_reading_a_value_under_a_gradient_says_that_it_leaves_the_derivative():
    gradient = ops.GradOperation()
    for read in (lambda x: x.asnumpy(), lambda x: x.item(), float, lambda x: x.tolist()):
        with pytest.warns(UserWarning, match="constant with zero gradient"):
            assert gradient(lambda x, read=read: x * Tensor(read(x)))(Tensor([3.0])).asnumpy() == [3.0]
        quiet = lambda x, read=read: x * Tensor(read(ops.stop_gradient(x)))
        assert gradient(quiet)(Tensor([3.0])).asnumpy() == [3.0]
    branch = lambda x: x * x if x > 2 else x
    assert gradient(branch)(Tensor([3.0])).asnumpy() == [6.0]


@pytest.mark.parametrize("kind", ["forward", "forward_pre", "backward", "backward_pre"])
def test_a_compiled_function_is_no_hook(kind):
    hook = ms.jit(lambda cell, *values: values[-1])
    with pytest.raises(TypeError, match=rf"For 'register_{kind}_hook', .* with '@jit' is not supported"):
        getattr(nn.ReLU(), f"register_{kind}_hook")(hook)
