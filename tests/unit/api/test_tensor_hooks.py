"""Hooks of Tensors and Parameters, and of Cells before and after their gradient, in both modes."""

import pytest

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops

MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])


@pytest.fixture(autouse=True)
def restore_mode():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def cube_behind_hook(hook):
    def cube(x):
        y = x * x
        y.register_hook(hook)
        return (y * x).sum()

    return cube


@MODES
def test_a_hook_replaces_the_gradient_of_an_inner_tensor(mode):
    ms.set_context(mode=mode)
    slope = ms.grad(cube_behind_hook(lambda g: 10 * g))
    for _ in range(5):
        # of y x: y by the second factor, 10 x through y
        assert slope(Tensor([2.0])).asnumpy() == [4.0 + 10 * 2 * 2 * 2]
    kept = ms.grad(cube_behind_hook(lambda g: None))
    assert kept(Tensor([2.0])).asnumpy() == [12.0]


@MODES
def test_derivatives_of_every_order_pass_a_hook(mode):
    ms.set_context(mode=mode)
    f = cube_behind_hook(lambda g: g * g)
    first = ms.grad(f)  # x² + 2 x (x)²
    second = ms.grad(lambda x: first(x).sum())
    third = ms.grad(lambda x: second(x).sum())
    x = Tensor([3.0])
    assert first(x).asnumpy() == [9.0 + 54.0]
    # the gradient that arrives is x: its own derivative does not pass, that of the squared one does
    assert second(x).asnumpy() == [second_by_hand(3.0)]
    assert third(x).asnumpy().shape == (1,)


def second_by_hand(x):
    """d/dx of y(x) + 2 x g(x)² where y = x² passes its own gradients, of 1, through the square."""
    return 1.0 * 2 * x + 6 * x * x


def tripled_before_its_hook(x):
    y = x * 2
    z = y * 3
    y.register_hook(lambda g: 10 * g)
    return (z * y + z).sum()


def test_a_hook_sees_what_was_computed_before_it():
    # ȳ = 6 y + 3, times 10, times 2
    assert ms.grad(tripled_before_its_hook)(Tensor([1.0])).asnumpy() == [300.0]
    slope = ms.grad(tripled_before_its_hook)
    assert ms.grad(lambda x: slope(x).sum())(Tensor([1.0])).asnumpy() == [2400.0]  # of 20 (6 y + 3), y hooked

    def of_the_argument(x):
        y = x * 3
        x.register_hook(lambda g: 10 * g)
        return y.sum()

    assert ms.grad(of_the_argument)(Tensor([1.0])).asnumpy() == [30.0]


def test_a_compiled_hook_refuses_what_was_computed_before_it():
    ms.set_context(mode=ms.GRAPH_MODE)
    with pytest.raises(RuntimeError, match="operators have already been applied to the tensor"):
        ms.grad(tripled_before_its_hook)(Tensor([1.0]))


@MODES
def test_hooks_of_arguments_and_parameters_are_registered_outside(mode):
    ms.set_context(mode=mode)
    weight = Parameter(Tensor([2.0]), name="w")
    gradient = ms.grad(lambda x: weight * weight * x, None, weight)
    assert gradient(Tensor([3.0])).asnumpy() == [12.0]
    handle = weight.register_hook(lambda g: g + 1)
    second = weight.register_hook(lambda g: g * 2)
    assert gradient(Tensor([3.0])).asnumpy() == [26.0]
    handle.remove()
    assert gradient(Tensor([3.0])).asnumpy() == [24.0]
    second.remove()
    second.remove()
    assert gradient(Tensor([3.0])).asnumpy() == [12.0]


def test_hooks_of_arguments_see_values_in_pynative_mode():
    x, seen = Tensor([3.0]), []
    handle = x.register_hook(lambda g: seen.append(g.asnumpy().tolist()))
    f = lambda x: x * x
    for _ in range(8):
        assert ms.grad(f)(x).asnumpy() == [6.0]
    assert seen == [[6.0]] * 8
    assert ms.vjp(f, x)[1](Tensor([2.0]))[0].asnumpy() == [12.0]
    assert seen[8:] == [[12.0]]
    handle.remove()
    ms.grad(f)(x)
    assert len(seen) == 9
    assert ms.grad(f)(Tensor([3.0])).asnumpy() == [6.0]


GRADIENTS = {
    "grad": lambda f: ms.grad(f),
    "grad of jit": lambda f: ms.grad(ms.jit(f)),
    "grad in jit": lambda f: ms.jit(lambda x: ms.grad(f)(x)),
    "value_and_grad": lambda f: lambda x: ms.value_and_grad(f)(x)[1],
    "GradOperation": lambda f: lambda x: ops.GradOperation(get_all=True)(f)(x)[0],
    "vjp": lambda f: lambda x: ms.vjp(f, x)[1](ops.ones_like(x))[0],
}


@MODES
@pytest.mark.parametrize("way", GRADIENTS)
def test_hooks_registered_outside_replace_the_gradient_of_an_argument(mode, way):
    ms.set_context(mode=mode)
    gradient = GRADIENTS[way](lambda x: x * x)
    x, other = Tensor([3.0]), Tensor([3.0])
    assert gradient(x).item() == 6.0
    double = x.register_hook(lambda g: g * 2)
    more = x.register_hook(lambda g: g + 1)
    assert len(x.hooks()) == 2
    for _ in range(3):
        assert gradient(x).item() == 13.0
        assert gradient(other).item() == 6.0
    double.remove()
    assert gradient(x).item() == 7.0
    more.remove()
    assert x.hooks() == []
    assert gradient(x).item() == 6.0


@MODES
def test_hooks_registered_outside_of_a_compiled_cell_see_the_gradients_of_its_inputs(mode):
    ms.set_context(mode=mode)
    net = Scale()
    x, y = Tensor([3.0]), Tensor([4.0])
    y.register_hook(lambda g: -g)
    both = ms.grad(lambda x, y: net(x) * y, (0, 1))
    assert [g.item() for g in both(x, y)] == [8.0, -6.0]
    assert [g.item() for g in both(y, x)] == [-6.0, 8.0]
    second = ms.grad(lambda x: ms.grad(lambda y: y * y * y)(x))
    x.register_hook(lambda g: g * 10)
    assert second(x).item() == 180.0  # of 3 y²; the hook belongs to the argument of the outer gradient


@MODES
def test_hook_of_an_argument_reads_the_variable_it_closes_over(mode):
    ms.set_context(mode=mode)
    x, factor = Tensor([3.0]), 2.0
    gradient = ms.grad(lambda x: x * x)
    handle = x.register_hook(lambda g: g * factor)
    assert gradient(x).item() == 12.0
    handle.remove()
    factor = 5.0
    x.register_hook(lambda g: g * factor)
    assert gradient(x).item() == 30.0


def test_several_hooks_of_one_tensor_are_called_in_order_and_removed():
    handles = []

    def f(x):
        y = x * 1
        handles.append(y.register_hook(lambda g: g * 2))
        handles.append(y.register_hook(lambda g: g + 1))
        return y * 3

    assert ms.grad(f)(Tensor([1.0])).asnumpy() == [7.0]

    def removed(x):
        y = x * 1
        y.register_hook(lambda g: g * 2).remove()
        y[0] = 5 * y[0]
        y.register_hook(lambda g: g + 1)
        return y * 3

    assert ms.grad(removed)(Tensor([1.0])).asnumpy() == [20.0]


def test_what_a_hook_may_not_do():
    with pytest.raises(TypeError, match="expected a callable hook function, but got int"):
        Tensor([1.0]).register_hook(3)
    with pytest.raises(TypeError, match="must return a Tensor, or None"):
        ms.grad(cube_behind_hook(lambda g: 3.0))(Tensor([1.0]))
    with pytest.raises(ValueError, match=r"gradient of shape \(2,\), but got shape \(\)"):
        ms.grad(cube_behind_hook(lambda g: g.sum()))(Tensor([1.0, 2.0]))


def test_what_graph_mode_refuses():
    ms.set_context(mode=ms.GRAPH_MODE)

    def twice(x):
        y = x * x
        y.register_hook(lambda g: g * 2)
        y.register_hook(lambda g: g + 2)
        return y

    def removed(x):
        y = x * x
        y.register_hook(lambda g: g * 2).remove()
        return y

    with pytest.raises(RuntimeError, match="one function that does the work of both"):
        ms.grad(twice)(Tensor([1.0]))
    with pytest.raises(ms.CompileError, match="hook is removed inside a compiled function"):
        ms.grad(removed)(Tensor([1.0]))


class Scale(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0]), name="w")

    def construct(self, x, power=1):
        return self.w * x**power


@MODES
def test_backward_pre_hooks_of_a_cell(mode):
    ms.set_context(mode=mode)
    net = Scale()
    handle = net.register_backward_pre_hook(lambda cell, grad_output: grad_output[0] * 5)
    run = lambda x: net(x) * 7
    gradient = ops.GradOperation(get_all=True, get_by_list=True)
    (dx,), (dw,) = gradient(run, ParameterTuple(net.trainable_params()))(Tensor([3.0]))
    assert (dx.asnumpy(), dw.asnumpy()) == ([70.0], [105.0])
    handle.remove()
    assert ms.grad(run)(Tensor([3.0])).asnumpy() == [14.0]


def test_backward_hooks_see_what_pre_hooks_gave():
    net, seen = Scale(), []
    net.register_backward_hook(lambda cell, gi, go: seen.append((cell, float(gi[0]), float(go[0]))))
    net.register_backward_pre_hook(lambda cell, go: go[0] * 5)
    ms.grad(net)(Tensor([3.0]))
    assert seen == [(net, 10.0, 5.0)]


@MODES
def test_forward_hooks_in_their_order_with_keywords(mode):
    ms.set_context(mode=mode)
    net = Scale()
    net.register_forward_pre_hook(lambda cell, args: args[0] + 1)
    net.register_forward_pre_hook(
        lambda cell, args, keywords: ((args[0] * 10,), {"power": keywords["power"] + 1}),
        prepend=True,
        with_kwargs=True,
    )
    net.register_forward_hook(lambda cell, args, output: output + 1)
    net.register_forward_hook(
        lambda cell, args, keywords, output: output * keywords["power"], prepend=True, with_kwargs=True
    )
    assert net(Tensor([3.0]), power=1).asnumpy() == [2 * 31.0**2 * 2 + 1]


def test_a_forward_hook_that_is_called_in_any_case():
    class Fails(nn.Cell):
        def construct(self, x):
            raise ValueError("no")

    net, outputs = Fails(), []
    net.register_forward_hook(lambda cell, args, output: outputs.append(output), always_call=True)
    net.register_forward_hook(lambda cell, args, output: outputs.append("no"))
    with pytest.raises(ValueError, match="no"):
        net(Tensor([3.0]))
    assert outputs == [None]


def test_a_handle_takes_off_its_own_hook_only():
    net = Scale()
    first = net.register_forward_hook(lambda cell, args, output: output * 2)
    first.remove()
    net.register_forward_hook(lambda cell, args, output: output * 3)
    first.remove()
    assert net(Tensor([1.0])).asnumpy() == [6.0]
