"""Cells, Parameters and containers: registration, names, modes, custom derivatives, compilation."""

import copy
import pickle

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops
from mindgrad.functional.compiled import Compiled

MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])


@pytest.fixture(autouse=True)
def restore_mode():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


class Affine(nn.Cell):
    def __init__(self, weight=2.0, bias=1.0):
        super().__init__()
        self.weight = Parameter(Tensor([weight]))
        self.bias = Parameter(Tensor([bias]), name="shift")

    def construct(self, x):
        return x * self.weight + self.bias


class Pair(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = Affine()
        self.second = Affine(3.0)
        self.scale = Parameter(Tensor([1.0]), requires_grad=False)

    def construct(self, x):
        return self.second(self.first(x)) * self.scale


def test_parameters_in_attribute_order_with_paths():
    net = Pair()
    assert [p.name for p in net.get_parameters()] == [
        "scale", "first.weight", "first.shift", "second.weight", "second.shift",
    ]  # fmt: skip
    assert [p.name for p in net.trainable_params()] == [
        "first.weight", "first.shift", "second.weight", "second.shift",
    ]  # fmt: skip
    assert [p.name for p in net.untrainable_params()] == ["scale"]
    assert [name for name, _ in net.parameters_and_names()][:2] == ["scale", "first.weight"]
    assert list(net.parameters_dict()) == [p.name for p in net.get_parameters()]
    assert [name for name, _ in net.cells_and_names()] == ["", "first", "second"]
    assert net.cells() == [net.first, net.second]


def test_shared_cell_and_parameter_appear_once():
    inner = Affine()

    class Both(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = inner
            self.b = inner

    net = Both()
    assert len(net.trainable_params()) == 2
    assert len(net.cells()) == 1


def test_parameter_tuple_is_registered():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weights = ParameterTuple([Parameter(1.0, name="a"), Parameter(2.0, name="b")])

    assert [p.name for p in Net().trainable_params()] == ["a", "b"]


@MODES
def test_a_written_parameter_keeps_the_value_and_carries_the_gradient(mode):
    ms.set_context(mode=mode)

    class Counter(nn.Cell):
        def __init__(self):
            super().__init__()
            self.state = Parameter(Tensor([1.0]), name="state")

        def construct(self, x):
            self.state = self.state + x
            return self.state * x

    net = Counter()
    assert net(Tensor([2.0])).asnumpy() == [6.0]
    assert net.state.asnumpy() == [3.0]
    # d/dx (s + x) x = s + 2 x, and asking for the gradient alone writes too
    assert ops.GradOperation()(net)(Tensor([2.0])).asnumpy() == [7.0]
    assert net.state.asnumpy() == [5.0]


@MODES
def test_set_data_is_seen_without_recompiling(mode):
    ms.set_context(mode=mode)
    net = Affine()
    assert net(Tensor([1.0])).asnumpy() == [3.0]
    net.weight.set_data(Tensor([10.0]))
    assert net(Tensor([1.0])).asnumpy() == [11.0]
    net.weight = Tensor([20.0])
    assert net(Tensor([1.0])).asnumpy() == [21.0]
    assert isinstance(net.weight, Parameter)


def test_a_changed_attribute_recompiles_and_training_keeps_both_programs():
    traced = []

    class Scaled(nn.Cell):
        def __init__(self):
            super().__init__()
            self.factor = 2.0

        def construct(self, x):
            traced.append(self.training)
            return x * self.factor * (10.0 if self.training else 1.0)

    ms.set_context(mode=ms.GRAPH_MODE)
    net, x = Scaled(), Tensor([1.0])
    assert net(x).asnumpy() == [2.0]
    net.factor = 3.0
    assert net(x).asnumpy() == [3.0]
    for expected in (30.0, 3.0, 30.0, 3.0):
        net.set_train(expected == 30.0)
        assert net(x).asnumpy() == [expected]
    # compiled for 2.0, for 3.0, and for 3.0 in training
    assert traced == [False, False, True]


@MODES
def test_bprop_replaces_the_derivative_to_second_order_and_forward(mode):
    ms.set_context(mode=mode)

    class Sine(nn.Cell):
        def construct(self, x):
            return ops.sin(x)

        def bprop(self, x, out, dout):
            return (dout * ops.cos(x) * 2,)

    net, at = Sine(), np.array([0.3, 0.5], np.float32)
    gradient = ops.GradOperation()
    np.testing.assert_allclose(gradient(net)(Tensor(at)).asnumpy(), 2 * np.cos(at), rtol=1e-6)
    second = gradient(gradient(lambda x: net(x)))
    np.testing.assert_allclose(second(Tensor(at)).asnumpy(), -2 * np.sin(at), rtol=1e-6)
    np.testing.assert_allclose(net(Tensor(at)).asnumpy(), np.sin(at), rtol=1e-6)


@MODES
def test_bprop_of_several_inputs_and_outputs(mode):
    ms.set_context(mode=mode)

    class TwoTwo(nn.Cell):
        def construct(self, x, y):
            return x * y, x + y

        def bprop(self, x, y, out, dout):
            product, total = dout
            return product * 100 + out[0] * 0, total * 7

    dx, dy = ops.GradOperation(get_all=True)(TwoTwo())(Tensor([2.0]), Tensor([3.0]))
    assert dx.asnumpy() == [100.0]
    assert dy.asnumpy() == [7.0]


@MODES
@pytest.mark.parametrize(
    ("returned", "error", "text"),
    [
        (lambda x: x, TypeError, "output should be a tuple"),
        (lambda x: (), IndexError, "one gradient per input"),
        (lambda x: (ops.reshape(x, (1, 2)),), ValueError, r"which is:\[2\], but got: \[1, 2\]"),
    ],
)
def test_bad_bprop_is_refused(mode, returned, error, text):
    ms.set_context(mode=mode)

    class Bad(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return returned(dout)

    with pytest.raises(error, match=text):
        ops.GradOperation()(Bad())(Tensor([1.0, 2.0]))


def test_bprop_without_dout_is_refused():
    class Bad(nn.Cell):
        def bprop(self, x):
            return (x,)

    with pytest.raises(TypeError, match="requires the forward inputs as well as the 'out' and 'dout'"):
        Bad()


@MODES
def test_bprop_with_parameters_is_refused(mode):
    ms.set_context(mode=mode)

    class Bad(Affine):
        def bprop(self, x, out, dout):
            return (dout,)

    with pytest.raises(RuntimeError, match="does not support Parameter data type"):
        ops.GradOperation()(Bad())(Tensor([1.0]))


@MODES
def test_a_cell_without_construct_says_so(mode):
    ms.set_context(mode=mode)

    class Empty(nn.Cell):
        pass

    with pytest.raises(AttributeError, match="the method 'construct' of Empty is not defined"):
        Empty()(Tensor([1.0]))


def test_forgotten_super_init_says_so():
    class Forgetful(nn.Cell):
        def __init__(self):
            self.x = 1

    with pytest.raises(AttributeError, match=r"call super\(\).__init__\(\)"):
        Forgetful()


def test_a_python_attribute_cannot_change_while_compiling():
    class Changing(nn.Cell):
        def construct(self, x):
            self.kept = x
            return x

    ms.set_context(mode=ms.GRAPH_MODE)
    with pytest.raises(TypeError, match="should be initialized as a 'Parameter'"):
        Changing()(Tensor([1.0]))


def test_bad_parameters():
    with pytest.raises(TypeError, match="the 'name' must be a string"):
        Parameter(1.0, name=3)
    with pytest.raises(ValueError, match="must not be empty"):
        Parameter(1.0, name="")
    with pytest.raises(TypeError, match="must be a bool"):
        Parameter(1.0, requires_grad=1)
    with pytest.raises(TypeError, match="must be Parameters"):
        ParameterTuple([Tensor([1.0])])
    with pytest.raises(ValueError, match="its name 'a' already exists"):
        ParameterTuple([Parameter(1.0, name="a"), Parameter(2.0, name="a")])
    with pytest.raises(ValueError, match=r"must have the shape \(2,\), but got \(3,\)"):
        Parameter([1.0, 2.0]).set_data(Tensor([1.0, 2.0, 3.0]))


def test_two_parameters_of_one_name_are_found():
    class Twice(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Parameter(1.0, name="same")
            self.b = Parameter(2.0, name="same")

    with pytest.raises(ValueError, match="its name 'same' already exists"):
        Twice().check_names()


def test_containers():
    cells = [Affine(w) for w in (2.0, 3.0, 4.0)]
    stacked = nn.SequentialCell(*cells)
    assert stacked(Tensor([1.0])).asnumpy() == [((1 * 2 + 1) * 3 + 1) * 4 + 1]
    assert len(stacked) == 3
    assert stacked[0] is cells[0]
    assert len(stacked[:2]) == 2
    listed = nn.CellList(cells)
    listed.append(Affine())
    listed.insert(0, Affine())
    del listed[0]
    assert [c is d for c, d in zip(listed, cells, strict=False)] == [True, True, True]
    with pytest.raises(TypeError, match="must be Cells"):
        nn.SequentialCell(1)
    with pytest.raises(IndexError, match="outside a container"):
        listed[10]


def test_cells_copy_and_pickle():
    net = Pair()
    copied = copy.deepcopy(net)
    copied.first.weight.set_data(Tensor([5.0]))
    assert net.first.weight.asnumpy() == [2.0]
    assert copied(Tensor([1.0])).asnumpy() == [19.0]
    loaded = pickle.loads(pickle.dumps(Affine()))
    assert loaded(Tensor([1.0])).asnumpy() == [3.0]


def test_printing():
    assert repr(nn.SequentialCell(Affine())) == "SequentialCell<\n  (0): Affine<>\n  >"


def test_jit_compiles_functions_and_methods():
    calls = []

    class Holder:
        def __init__(self, factor):
            self.factor = factor

        @ms.jit
        def scale(self, x):
            calls.append(self.factor)
            return x * self.factor

    a, b = Holder(2.0), Holder(3.0)
    for _ in range(3):
        assert a.scale(Tensor([1.0])).asnumpy() == [2.0]
        assert b.scale(Tensor([1.0])).asnumpy() == [3.0]
    assert calls == [2.0, 3.0]

    @ms.ms_function
    def f(x, n):
        return x * n

    assert f(Tensor([1.0]), 2).asnumpy() == [2.0]
    assert f(Tensor([1.0]), 3).asnumpy() == [3.0]
    assert ops.GradOperation()(f)(Tensor([1.0]), 4).asnumpy() == [4.0]


def test_compiled_signature_tells_zeros_apart():
    f = Compiled(lambda x, s: ops.div(x, x * 0 + s))
    with np.errstate(all="ignore"):
        assert f(Tensor([1.0]), 0.0).asnumpy() == [np.inf]
        assert f(Tensor([1.0]), -0.0).asnumpy() in ([np.inf], [-np.inf])


def test_unknown_context_options():
    with pytest.raises(ValueError, match="Did you mean 'device_target'"):
        ms.set_context(device_targt="CPU")
    with pytest.raises(ValueError, match="GRAPH_MODE"):
        ms.set_context(mode=7)
    ms.set_context(save_graphs=True)
    assert ms.get_context("save_graphs") is True


def test_a_missing_device_is_reported_once_and_can_be_an_error(capfd, monkeypatch):
    from mindgrad.backend import device

    device._announced.discard("Ascend")
    try:
        ms.set_context(device_target="Ascend")
        ms.set_context(device_target="Ascend")
        text = capfd.readouterr().err
        assert text.count("\n") == 1
        assert "MINDGRAD_STRICT_DEVICE=1" in text
        monkeypatch.setenv("MINDGRAD_STRICT_DEVICE", "1")
        with pytest.raises(RuntimeError, match="Ascend"):
            ms.set_context(device_target="Ascend")
    finally:
        monkeypatch.delenv("MINDGRAD_STRICT_DEVICE", raising=False)
        ms.set_context(device_target="CPU")


@MODES
def test_a_cell_can_be_made_inside_a_program(mode):
    ms.set_context(mode=mode)

    class Scaled(nn.Cell):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        def construct(self, x):
            return x * self.factor

    class Outer(nn.Cell):
        def construct(self, x):
            return ops.GradOperation()(Scaled(3.0))(x) * Scaled(2.0)(x)

    assert Outer()(Tensor([5.0])).asnumpy() == [30.0]
