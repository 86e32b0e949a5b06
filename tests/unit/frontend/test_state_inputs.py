"""What a program that assigns or captures Python state is compiled for, and how often."""

import numpy as np

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.frontend.programs import cache
from tests.tolerances import assert_close
from tests.unit.frontend.test_assigned import INPUTS, Constant, FromANumber, Last, Net, Running, close

# -- which programs, and how many ----------------------------------------------------------------------


def test_a_running_tensor_compiles_once():
    ms.set_context(mode=ms.GRAPH_MODE)
    net = Running()
    for x in INPUTS * 2:
        net(Tensor(x))
    assert net._compiled.cache_info().misses == 1
    net = FromANumber()
    for x in INPUTS * 2:
        net(Tensor(x))
    assert net._compiled.cache_info().misses == 2
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_counters_do_not_compile_at_every_call():
    class Counter(Net):
        def __init__(self):
            super().__init__()
            self.calls, self.rate = 0, 1.0

        def construct(self, x):
            self.calls += 1
            if self.calls % 2 == 0:
                self.rate *= 0.5
            return x * self.rate + self.calls

    runs = []
    for wrap in (lambda f: f, ms.jit):
        net = Counter()
        f = wrap(net)
        runs.append([(f(Tensor(x)).item(), net.calls, net.rate) for x in INPUTS * 2])
    assert close(*runs)
    assert f.cache_info().misses == 3
    assert type(net.calls) is int


def test_a_number_that_makes_a_shape_compiles_for_every_value():
    class Growing(Net):
        def __init__(self):
            super().__init__()
            self.size = 1

        def construct(self, x):
            self.size += 1
            return ops.ones((self.size,), ms.float32) * x

    net = Growing()
    f = ms.jit(net)
    assert [f(Tensor(x)).shape for x in INPUTS] == [(2,), (3,), (4,)]
    assert f.cache_info().misses == 3


def test_program_that_reads_what_another_assigns_compiles_twice():
    @ms.jit
    def predict(x):
        return net.last * x

    net = Last()
    train = ms.jit(net)
    for x in INPUTS:
        want = np.sin(np.float32(x)) * 1.5
        train(Tensor(x))
        assert_close(predict(Tensor(1.0)), want)
    assert predict.cache_info().misses == 2


def test_an_attribute_that_is_assigned_before_it_is_read_selects_nothing():
    net = Constant()
    f = ms.jit(net)
    for k in range(3):
        net.k = k
        assert f(Tensor(1.0)).item() == 4.5
        assert net.k == 3
    assert f.cache_info().misses == 1


def test_other_attributes_select_a_program_still():
    class Scaled(Net):
        scale = 1.0

        def construct(self, x):
            self.last = x * self.scale
            return self.last

    net = Scaled()
    f = ms.jit(net)
    assert [f(Tensor(1.0)).item(), f(Tensor(1.0)).item()] == [1.0, 1.0]
    net.scale = 4.0
    assert f(Tensor(1.0)).item() == 4.0
    assert f.cache_info().misses == 2


def test_a_compiled_function_in_another():
    net = Last()
    inner = ms.jit(net)

    @ms.jit
    def outer(x):
        y = inner(x)
        if x > 0:
            net.last = net.last * 2
        return y + net.last

    want = np.sin(np.float32(0.5)) * 1.5
    assert_close(outer(Tensor(0.5)), want * want + 2 * want)
    assert_close(net.last, 2 * want)
    inner(Tensor(0.5))
    assert_close(net.last, want)


def test_an_object_of_a_class_with_special_methods():
    class Box:
        def __init__(self):
            self.items, self.last, self.gain = 3, Tensor(0.0), 1.0

        def __len__(self):
            return self.items

    box = Box()

    @ms.jit
    def f(x):
        box.last = box.last + x * len(box) * box.gain
        return box.last

    assert [f(Tensor(1.0)).item() for _ in range(3)] == [3.0, 6.0, 9.0]
    assert f.cache_info().misses == 1
    box.items = 4
    assert f(Tensor(1.0)).item() == 13.0


# -- tensors that change between calls ---------------------------------------------------------------------


SHIFT = Tensor(0.0)


def test_tensors_that_lambdas_capture_become_inputs():
    ms.clear_cache()
    w = Parameter(Tensor(2.0), name="w")

    def step(k, x):
        batch, (a, scale) = Tensor(float(k)), (Tensor([1.0, k]), 3)
        pair = (a, scale)
        loss = lambda y: (y * w * batch + pair[0] * pair[1]).sum()
        return ms.value_and_grad(ms.jit(loss), 0, [w])(x)

    for k in range(6):
        value, (slope, (of_w,)) = step(k, Tensor(0.5))
        assert [value.item(), slope.item(), of_w.item()] == [2 * k + 3 * (k + 1), 4 * k, k]
    found = ms.cache_info()
    assert (found.misses, found.hits) == (2, 4)


def test_floats_that_lambdas_capture_become_inputs():
    ms.clear_cache()

    def step(rate):
        table = np.arange(3) * 0.5
        return ms.grad(ms.jit(lambda y: (y * rate * rate + Tensor(table)[0]).sum()))(Tensor([1.0, 2.0]))

    for k in range(6):
        found = step(k / 10)
        assert found.dtype is ms.float32
        assert_close(found, np.float32(k / 10 * (k / 10)))
    assert ms.cache_info().misses == 2


def test_globals_and_attributes_that_hold_other_tensors_become_inputs(monkeypatch):
    net = Net()

    @ms.jit
    def f(x):
        return x * net.scale + SHIFT

    for k in range(6):
        net.scale = Tensor(float(k))
        monkeypatch.setitem(globals(), "SHIFT", Tensor(2.0 * k))
        assert f(Tensor(3.0)).item() == 5 * k
    assert f.cache_info().misses == 2
    net.scale = Tensor([1.0, 2.0])
    assert f(Tensor(3.0)).shape == (2,)


def test_tensors_that_must_be_known_stay_constants():
    def step(k):
        size = Tensor(k, ms.int32)
        return ms.jit(lambda x: ops.ones((int(size),), ms.float32) * x)(Tensor(1.0))

    assert [step(k).shape for k in (1, 2, 3, 2)] == [(1,), (2,), (3,), (2,)]


def test_cells_that_are_made_for_every_call_are_noticed(capsys, monkeypatch):
    monkeypatch.setattr(cache, "_PATIENCE_WITH_SEVERAL", 3)

    class Scaled(nn.Cell):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def construct(self, x):
            return self.inner(x) * 2

    kept = Last()
    for _ in range(5):
        ms.jit(Scaled(kept))(Tensor(1.0))
    said = capsys.readouterr().err
    assert said.count("was compiled for 3 objects") == 1
    assert "create the Cell" in said


RATE = 0.0


def test_functions_made_anew_that_read_changing_globals(monkeypatch):
    ms.clear_cache()
    net = Net()

    def step():
        def loss(y):
            return net(y) * SHIFT * RATE

        return ms.grad(ms.jit(loss))(Tensor(1.0))

    net.construct = lambda x: x * net.w
    for k in range(5):
        monkeypatch.setitem(globals(), "SHIFT", Tensor(2.0 * k))
        monkeypatch.setitem(globals(), "RATE", k / 2)
        assert step().item() == 1.5 * k * k
    assert ms.cache_info().misses == 2


def test_attribute_of_a_class_that_a_call_sets_on_the_instance_counts():
    class Counter:
        calls = 0

    counter = Counter()

    @ms.jit
    def step(x):
        counter.calls = counter.calls + 1
        return x * counter.calls

    assert [step(Tensor(2.0)).item() for _ in range(4)] == [2.0, 4.0, 6.0, 8.0]
    assert (counter.calls, Counter.calls) == (4, 0)
