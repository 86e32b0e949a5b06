"""Cells, Parameters and containers: registration, names, modes, custom derivatives, compilation."""

import copy
import pickle
import queue

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops
from mindgrad.frontend.programs.compiled import Compiled
from tests.tolerances import assert_close

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
        "scale", "first.weight", "first.bias", "second.weight", "second.bias",
    ]  # fmt: skip
    assert [p.name for p in net.trainable_params()] == [
        "first.weight", "first.bias", "second.weight", "second.bias",
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
    traced = queue.Queue()

    class Scaled(nn.Cell):
        def __init__(self):
            super().__init__()
            self.factor = 2.0

        def construct(self, x):
            traced.put(self.training)  # guards do not compare queues: once, while tracing
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
    assert list(traced.queue) == [False, False, True]


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
    assert_close(gradient(net)(Tensor(at)), 2 * np.cos(at))
    second = gradient(gradient(lambda x: net(x)))
    assert_close(second(Tensor(at)), -2 * np.sin(at))
    assert_close(net(Tensor(at)), np.sin(at))


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
        (
            lambda x: (ops.reshape(x, (2, 1)),),
            ValueError,
            r"has shape \(2, 1\), but the argument has shape \(2,\)",
        ),
    ],
)
def test_bad_bprop_is_refused(mode, returned, error, text):
    ms.set_context(mode=mode)

    class Bad(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return returned(dout)

    if mode == ms.PYNATIVE_MODE and error is TypeError:  # there the one gradient is taken too, and a list
        assert ops.GradOperation()(Bad())(Tensor([1.0, 2.0])).asnumpy().tolist() == [1.0, 1.0]
        returned = lambda x: [x]
        assert ops.GradOperation()(Bad())(Tensor([1.0, 2.0])).asnumpy().tolist() == [1.0, 1.0]
        returned = lambda x: {"x": x}
    with pytest.raises(error, match=text):
        ops.GradOperation()(Bad())(Tensor([1.0, 2.0]))


def test_bprop_without_dout_is_refused():
    class Bad(nn.Cell):
        def bprop(self, x):
            return (x,)

    with pytest.raises(TypeError, match="requires the forward inputs as well as the 'out' and 'dout'"):
        Bad()


@MODES
def test_bprop_makes_constants_of_the_parameters_that_construct_reads(mode):
    ms.set_context(mode=mode)

    class Tripled(nn.Cell):
        def __init__(self):
            super().__init__()
            self.z = ms.Parameter(Tensor(2.0), name="z")

        def construct(self, x):
            return x * self.z

        def bprop(self, x, out, dout):
            return (3 * x * dout,)

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = Tripled()

        def construct(self, x):
            return self.inner(x) * self.inner.z

    net = Outer()
    x = Tensor([1.0, 1.0])
    of_x, (of_z,) = ms.grad(net, 0, net.trainable_params())(x)
    assert of_x.asnumpy().tolist() == [6.0, 6.0]
    assert of_z.asnumpy() == 4.0  # of the factor outside; through the Cell it is zero
    (of_z,) = ms.grad(net, None, net.trainable_params())(x)
    assert of_z.asnumpy() == 4.0


@MODES
def test_check_bprop_checks_number_and_kind_of_the_gradients(mode):
    class Bad(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            return self.returned(dout)

    bad = Bad()
    ms.set_context(mode=mode, check_bprop=True)
    x = Tensor([1.0])
    wrong_number = ValueError if mode == ms.GRAPH_MODE else TypeError
    try:
        for bad.returned in (lambda g: (g,), lambda g: (g, g, g)):
            with pytest.raises(wrong_number, match="one gradient per input is needed: 2 inputs"):
                ms.grad(bad)(x, x)
        for bad.returned in (lambda g: (g, 2), lambda g: (g, g.astype(ms.float16))):
            with pytest.raises(
                TypeError, match=r"the gradient of argument 1 .*has dtype .*, but the argument"
            ):
                ms.grad(bad)(x, x)
    finally:
        ms.set_context(check_bprop=False)


@MODES
def test_a_cell_without_construct_says_so(mode):
    ms.set_context(mode=mode)

    class Empty(nn.Cell):
        pass

    with pytest.raises(
        AttributeError,
        match=r"the method 'construct' of Empty is not defined; define construct\(self, \.\.\.\)",
    ):
        Empty()(Tensor([1.0]))


def test_forgotten_super_init_says_so():
    class Forgetful(nn.Cell):
        def __init__(self):
            self.x = 1

        def construct(self, x):
            return x

    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        with pytest.raises(AttributeError, match=r"For 'Forgetful', call super\(\).__init__\(\)"):
            Forgetful()(Tensor([1.0]))


def test_a_cell_gets_no_cell_while_compiling():
    class Changing(nn.Cell):
        def construct(self, x):
            self.kept = nn.ReLU()
            return x

    ms.set_context(mode=ms.GRAPH_MODE)
    with pytest.raises(TypeError, match="Create Cells and Parameters in '__init__'"):
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
    assert repr(nn.SequentialCell(Affine())) == "SequentialCell(\n  (0): Affine()\n)"


def test_jit_compiles_functions_and_methods():
    calls = queue.Queue()

    class Holder:
        def __init__(self, factor):
            self.factor = factor

        @ms.jit
        def scale(self, x):
            calls.put(self.factor)
            return x * self.factor

    a, b = Holder(2.0), Holder(3.0)
    for _ in range(3):
        assert a.scale(Tensor([1.0])).asnumpy() == [2.0]
        assert b.scale(Tensor([1.0])).asnumpy() == [3.0]
    assert list(calls.queue) == [2.0, 3.0]

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
    try:
        assert ms.get_context("save_graphs") is True
    finally:
        ms.set_context(save_graphs=False)


def test_a_missing_device_is_reported_once_and_can_be_an_error(capfd, monkeypatch):
    from mindgrad.core.backend import device

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


# --- to_float ---------------------------------------------------------------------------------------


class Counting(nn.Cell):
    """Computes with a Parameter, and writes others."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor([1.0, 1e-5]), name="weight")
        self.seen = Parameter(Tensor([0.0]), name="seen")
        self.last = Parameter(Tensor([0.0, 0.0]), name="last")

    def construct(self, x, scale=1.0):
        assert {x.dtype, (self.weight * x).dtype, ops.add(x, self.weight).dtype} == {ms.float16}
        ops.assign_add(self.seen, Tensor([1e-5]))
        self.last[0] = 7.0
        return x * self.weight * scale


@MODES
def test_to_float_computes_in_another_type_and_keeps_parameters(mode):
    ms.set_context(mode=mode)
    net = Counting()
    assert net.to_float(ms.float16) is net
    x = Tensor([1.0, 1.0 + 1e-4])
    y = net(x)
    assert y.dtype is ms.float16
    assert [p.dtype for p in net.get_parameters()] == [ms.float32] * 3
    # what is assigned is not rounded to float16 on the way
    assert_close(net.seen, np.float32([1e-5]))
    np.testing.assert_array_equal(net.last.asnumpy(), np.float32([7.0, 0.0]))
    half = net.weight.asnumpy().astype(np.float16)
    np.testing.assert_array_equal(y.asnumpy(), half * x.asnumpy().astype(np.float16))

    gradients = ms.ops.GradOperation(get_all=True, get_by_list=True)(net, ParameterTuple([net.weight]))(x)
    (dx,), (dw,) = gradients
    assert (dx.dtype, dw.dtype) == (ms.float32, ms.float32)
    np.testing.assert_array_equal(dx.asnumpy(), half.astype(np.float32))
    np.testing.assert_array_equal(dw.asnumpy(), x.asnumpy().astype(np.float16).astype(np.float32))
    np.testing.assert_array_equal(ops.grad(ops.grad(lambda v: (net(v) * net(v)).sum()))(x).dtype, ms.float32)

    net.to_float(ms.float32)  # the program of the other type is not used again
    with pytest.raises(AssertionError):
        net(x)


@MODES
def test_to_float_of_inner_cells(mode):
    ms.set_context(mode=mode)
    net = Pair()
    net.first.to_float(ms.float16)
    x = Tensor([1.0 / 3.0])
    half = np.float16(1 / 3) * np.float16(2.0) + np.float16(1.0)
    assert_close(net(x), np.float32(half) * 3 + 1)
    assert net(x).dtype is ms.float32
    net.to_float(ms.float16)
    net.second.to_float(ms.float32)
    assert net.first(x).dtype is ms.float16
    assert net.second(net.first(x)).dtype is ms.float32
    assert net(x).dtype is ms.float32  # float32 from the second, times the scale as float16


@pytest.mark.parametrize("wrong", [ms.int32, ms.float64, "half a float", None])
def test_to_float_takes_floating_point_types_only(wrong):
    with pytest.raises(ValueError, match="'dst_type' should be float16, float32 or bfloat16"):
        nn.Cell().to_float(wrong)


def test_cast_inputs():
    actual = nn.Cell().cast_inputs([Tensor([1.0]), (Tensor([1]), 2.0)], ms.float16)
    assert actual[0].dtype is ms.float16
    assert actual[1][0].dtype is ms.int64
    assert actual[1][1] == 2.0


# --- what programs do with Cells before they run them ----------------------------------------------


def test_what_is_accepted_and_what_is_refused():
    net = Pair()
    visited = []
    assert net.apply(visited.append) is net
    assert visited == [net.first, net.second, net]
    assert net.init_parameters_data() == {p: p for p in net.get_parameters()}
    assert net.flatten_weights() is None
    assert net.set_inputs(Tensor([1.0])) is None
    net.recompute(mp_comm_recompute=False)
    with pytest.raises(ValueError, match="'recompute', unknown argument 'when'"):
        net.recompute(when=1)
    with pytest.raises(TypeError, match="'in_strategy' must contain tuples"):
        net.shard((1,), (1,))
    assert net.add_flags_recursive(fast=True) is net
    assert net.first.fast
    assert net.second.get_flags() == {"fast": True}
    assert net.first.param_prefix == ""
    net.update_cell_prefix()
    assert [cell.param_prefix for _, cell in net.cells_and_names()] == ["", "first", "second"]
    net.bprop_debug = True
    assert net.bprop_debug
    assert not net.first.bprop_debug
    with pytest.raises(TypeError, match="'bprop_debug' must be a bool"):
        net.bprop_debug = 1
    assert net.to_float(ms.float32).set_train().set_grad() is net


def test_compile_makes_the_program_that_the_call_uses():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Affine()
    net.compile(Tensor([5.0]))
    assert (net._compiled.cache_info().hits, net._compiled.cache_info().currsize) == (0, 1)
    assert net(Tensor([2.0])).asnumpy() == 5.0
    assert (net._compiled.cache_info().hits, net._compiled.cache_info().misses) == (1, 1)


@MODES
def test_a_parameter_is_not_lost_by_assigning_something_else(mode):
    ms.set_context(mode=mode)
    net = Affine()
    net.weight = Tensor([4.0])
    assert net.weight.asnumpy() == 4.0
    assert net.weight.is_parameter
    for value in (5.0, np.array([5.0]), "five"):
        with pytest.raises(TypeError, match="'weight' is a Parameter and would be lost"):
            net.weight = value
    assert net(Tensor([1.0])).asnumpy() == 5.0
    net.weight = Parameter(Tensor([6.0]), name="other")
    assert {p.name for p in net.trainable_params()} == {"shift", "other"}
    net.bias = None
    assert [p.name for p in net.get_parameters()] == ["other"]


def test_parameters_of_numbers_are_32_bits_wide():
    assert [Parameter(x).dtype for x in (3, 3.0)] == [ms.int32, ms.float32]


def test_inner_parameters_are_named_by_attributes_as_in_mindspore():
    class Inner(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = Parameter(Tensor([1.0]), name="scale")
            self.pair = ms.ParameterTuple([Parameter(Tensor([1.0]), name=name) for name in ("left", "right")])

    class Outer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.own = Parameter(Tensor([1.0]), name="given")
            self.inner = Inner()
            self.loss = nn.WithLossCell(nn.Dense(2, 1), nn.MSELoss())

    assert [p.name for p in Inner().get_parameters()] == ["scale", "left", "right"]
    assert [p.name for p in Outer().get_parameters()] == [
        "given", "inner.weight", "inner.left", "inner.right", "loss._backbone.weight", "loss._backbone.bias",
    ]  # fmt: skip


@MODES
def test_a_cell_may_have_an_attribute_called_version(mode):
    class Stage(nn.Cell):
        def __init__(self, version):
            super().__init__()
            self.version = version

        def construct(self, x):
            return x * 2 if self.version == "doubled" else x

    ms.set_context(mode=mode)
    stage = Stage("doubled")
    assert float(stage(Tensor(3.0))) == 6.0
    stage.version = "plain"
    assert float(stage(Tensor(3.0))) == 3.0
