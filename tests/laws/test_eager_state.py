"""Law: calls do the same operator by operator, deferred and under ``jit``, whatever changes between them.

    for every call:  values, errors and side effects operator by operator = values, errors and side effects deferred
                     values and errors operator by operator = values and errors under ``jit``

A world is a random network whose Python reads and changes state of many kinds. Between its calls random events
change attributes, containers, layers, methods, global variables, attributes of modules, defaults, class attributes,
weights, hooks, modes, element types, sizes and indices. The same calls and events run operator by operator, with
``MINDGRAD_EAGER=compiled``, which compiles what two calls have in common at once, and under ``jit``. A trace of ``jit``
has side effects once, or refuses them: its worlds have none.
"""

import collections
import functools
import heapq
import io
import operator
import random
import types

import ml_dtypes
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from tests.thorough import size
from tests.tiers import arrays, eager
from tests.tolerances import assert_close

CALLS = 24
WIDTH = 4

#: what the networks read as global variables
GLOBALS = types.SimpleNamespace()
#: a module of the user whose attributes change
MODULE = types.ModuleType("module_of_the_user")


def scaled(x, factor=[1.5]):  # noqa: B006  (its contents are changed)
    return x * factor[0]


def shifted(x, *, by=0.25):
    return x + by


class Net(nn.Cell):
    """A network of random steps.

    Args:
        draw: a generator of random numbers.
        choices: the names of the methods that it may run.
    """

    factor = 1.25

    def __init__(self, draw, choices):
        super().__init__()
        self.choices = choices
        generator = np.random.default_rng(draw.randrange(1000))
        number = lambda *shape: generator.normal(size=shape)
        self.steps = [getattr(self, name) for name in draw.sample(choices, 9)]
        self.layers = nn.CellList([layer(number(WIDTH, WIDTH)) for _ in range(2)])
        self.named = nn.CellDict({"a": nn.Tanh(), "b": nn.Sigmoid()})
        self.weight = Parameter(Tensor(number(WIDTH)), name="weight")
        self.counter = Parameter(Tensor(0.0, ms.float64), name="counter", requires_grad=False)
        self.table = Tensor(number(5, WIDTH))
        self.index, self.label = [0, 2], 1
        self.scale, self.flag = 0.75, True
        self.options = {"power": 2, "shift": [0.5]}
        self.values = np.array([0.5, 1.0, 1.5, 2.0])
        self.partial = functools.partial(lambda k, x: x * k[0] + k[1], [0.5, 0.1])
        self.log, self.heap, self.queue = [], [], collections.deque(maxlen=3)
        self.seen, self.file, self.count = {}, io.StringIO(), np.zeros(1)
        self.generator = random.Random(7)

    def construct(self, x):
        for step in self.steps:
            x = step(x)
        return x

    def effects(self):
        """What its calls have changed, apart from tensors."""
        return (
            list(self.log), list(self.heap), list(self.queue), dict(self.seen), self.file.getvalue(),
            self.count.tolist(), self.generator.getstate(),
        )  # fmt: skip

    # -- steps that read state -----------------------------------------------------------------------

    def reads_attribute(self, x):
        return x * self.scale if self.flag else x - self.scale

    def reads_global(self, x):
        return GLOBALS.activation(x)

    def reads_default(self, x):
        return scaled(shifted(x))

    def reads_class(self, x):
        return x * type(self).factor

    def reads_module(self, x):
        return x * MODULE.factor

    def helper(self, x):
        return x + 0.5

    def runs_a_method(self, x):
        return self.helper(x)

    def reads_container(self, x):
        return ops.tanh(x) ** self.options["power"] + self.options["shift"][0]

    def reads_array(self, x):
        return x * Tensor(self.values)

    def reads_partial(self, x):
        return self.partial(x)

    def runs_layers(self, x):
        for each in self.layers:
            x = each(x)
        return x * len(self.layers)

    def runs_a_layer_by_index(self, x):
        return self.layers[0](x) + self.named["a"](x)

    def reads_rows(self, x):
        return x + self.table[Tensor(self.index)].sum(0) * self.table[self.label]

    def gathers(self, x):
        return x + ops.gather(self.table, Tensor(self.index), 0).mean(0)

    def selects_a_class(self, x):
        labels = Tensor(np.full(x.shape[0], self.label, np.int32))
        return x * ops.cross_entropy(x.astype(ms.float64), labels)

    def reads_weight(self, x):
        return x * self.weight

    def decides_by_value(self, x):
        return ops.sin(x) if float(ops.stop_gradient(x).mean()) > 0.2 else ops.cos(x)

    def decides_by_a_tensor(self, x):
        if x.mean() > 0.2:
            x = ops.sin(x)
        else:
            x = ops.cos(x)
        return x

    def differentiates(self, x):
        return ms.grad(lambda z: (ops.sin(z) * self.weight).sum())(x)

    def draws(self, x):
        return x * self.generator.uniform(0.5, 1.5)

    def draws_a_tensor(self, x):
        return x + ops.rand(WIDTH)

    def depends_on_mode(self, x):
        return ops.sigmoid(x) if self.training else x * 0.5

    # -- steps with side effects ---------------------------------------------------------------------

    def appends(self, x):
        operator.iadd(self.log, [x.shape[0]])
        self.queue.append(len(self.log))
        return x

    def pushes(self, x):
        heapq.heappush(self.heap, -len(self.heap))
        self.seen.update({len(self.heap): str(x.dtype)})
        return x

    def counts(self, x):
        np.add(self.count, 1, out=self.count)
        return x * float(1 + 0.01 * self.count[0])

    def writes(self, x):
        self.file.write("x" * x.ndim)
        self.values[0] = 0.5 + 0.1 * len(self.file.getvalue())
        return x

    def stores(self, x):
        self.counter.set_data(self.counter + 1)
        return x + self.counter

    def assigns(self, x):
        y = x * 1.0
        operator.setitem(y, 0, x[-1] * 2)
        return y


STEPS = [
    name
    for name in vars(Net)
    if name.partition("_")[0] in (
        "reads", "runs", "gathers", "selects", "decides", "differentiates", "draws", "depends",
        "appends", "pushes", "counts", "writes", "stores", "assigns",
    )
]  # fmt: skip
#: without the steps that change or read what is no tensor: ``jit`` runs them once
PURE_STEPS = [
    name
    for name in STEPS
    if name not in ("draws", "decides_by_value")
    and name.partition("_")[0] not in ("appends", "pushes", "counts", "writes")
]


def layer(weight):
    return nn.Dense(WIDTH, WIDTH, weight_init=Tensor(weight), bias_init="zeros", dtype=ms.float64)


# -- events between calls ----------------------------------------------------------------------------------


def replace_a_step(net, draw):
    net.steps[draw.randrange(len(net.steps))] = getattr(net, draw.choice(net.choices))


def change_index(net, draw):
    net.index = [draw.randrange(-5, 5), draw.randrange(5)]
    net.label = draw.randrange(WIDTH)


def leave_the_range(net, draw):
    net.index = [0, draw.choice([5, -6, 11])]


def leave_the_classes(net, draw):
    net.label = draw.choice([5, 11])


def change_weight(net, draw):
    net.weight.set_data(net.weight * draw.choice([0.5, 1.5]))


def change_global(net, draw):
    GLOBALS.activation = draw.choice([ops.tanh, ops.sin, ops.sigmoid, nn.ReLU(), lambda x: x * 2])


def change_default(net, draw):
    scaled.__defaults__[0][0] = draw.choice([0.5, 1.5, 2.0])
    shifted.__kwdefaults__["by"] = draw.choice([0.0, 0.25, 1.0])


def toggle(net, handle, register, hook):
    if handle in net.__dict__:
        net.__dict__.pop(handle).remove()
    else:
        object.__setattr__(net, handle, register(hook))


def toggle_hook(net, draw):
    toggle(net, "handle", net.layers[0].register_forward_hook, lambda cell, inputs, output: output * 2)


def toggle_hook_with_an_effect(net, draw):
    def hook(cell, inputs, output):
        net.log.append("hook")
        return output * 2

    toggle(net, "handle", net.layers[0].register_forward_hook, hook)


def toggle_backward_hook(net, draw):
    def hook(cell, grad_inputs, grad_outputs):
        net.log.append("backward hook")
        return tuple(each * 2 for each in grad_inputs)

    toggle(net, "backward", net.layers[0].register_backward_hook, hook)


def change_method(net, draw):
    Net.helper = draw.choice([HELPER, lambda self, x: x * 2, lambda self, x: ops.sin(x) * self.scale])


def change_method_of_object(net, draw):
    if "helper" in net.__dict__:
        del net.helper
    else:
        net.helper = lambda x: x * 3


HELPER = Net.helper

#: what a compiled function may meet
EVENTS = [
    lambda net, draw: setattr(net, "scale", draw.choice([0.5, 0.75, 1.0])),
    lambda net, draw: setattr(net, "flag", not net.flag),
    lambda net, draw: setattr(Net, "factor", draw.choice([0.75, 1.25])),
    lambda net, draw: net.options.update(power=draw.choice([1, 2, 3])),
    lambda net, draw: net.options["shift"].__setitem__(0, draw.random()),
    lambda net, draw: net.values.__setitem__(1, draw.random()),
    lambda net, draw: net.partial.args[0].__setitem__(0, draw.choice([0.5, 0.7])),
    lambda net, draw: net.layers.__setitem__(0, nn.Tanh()),
    lambda net, draw: net.layers.append(nn.Sigmoid()) if len(net.layers) < 4 else net.layers.__delitem__(1),
    lambda net, draw: net.layers.insert(0, nn.Tanh()) if len(net.layers) < 4 else None,
    lambda net, draw: net.named.update({"a": draw.choice([nn.Tanh, nn.Sigmoid, nn.ReLU])()}),
    lambda net, draw: net.set_train(not net.training),
    lambda net, draw: setattr(net, "table", net.table * draw.choice([0.5, 1.5])),
    lambda net, draw: ms.set_seed(draw.randrange(9)),
    replace_a_step,
    change_index,
    leave_the_range,
    leave_the_classes,
    change_weight,
    change_global,
    change_default,
    change_method,
    change_method_of_object,
    lambda net, draw: setattr(MODULE, "factor", draw.choice([0.75, 1.25])),
    toggle_hook,
]
#: with side effects, or of hooks that a compiled function does not call
EVENTS_WITH_EFFECTS = [*EVENTS, toggle_hook_with_an_effect, toggle_backward_hook]


# -- the law ---------------------------------------------------------------------------------------------------


def plain(net):
    return net


def reverse(net):
    return ms.value_and_grad(lambda x: net(x).sum(), 0, [net.weight])


def forward(net):
    return lambda x: ops.jvp(net, x, x * 0.5)


def second(net):
    return ms.grad(lambda x: (ms.grad(lambda y: net(y).sum())(x) * x).sum())


def training(net):
    optimizer = nn.Momentum([net.weight], 1e-3, 0.5)  # small steps: rounding does not grow
    gradient = ms.value_and_grad(lambda x: ops.square(net(x)).mean(), None, optimizer.parameters)

    def step(x):
        value, slopes = gradient(x)
        optimizer(slopes)
        return value

    return step


DERIVED = [plain, reverse, forward, second, training]


def history(seed, mode, is_pure=False):
    """What each call of a world returned, raised and changed.

    Args:
        seed: the number of the world.
        mode: ``numpy``, ``compiled`` or ``jit``.
        is_pure: whether the world has no side effects.
    """
    draw = random.Random(seed)
    GLOBALS.activation, Net.factor, Net.helper, MODULE.factor = ops.tanh, 1.25, HELPER, 1.25
    scaled.__defaults__[0][0], shifted.__kwdefaults__["by"] = 1.5, 0.25
    ms.set_seed(seed)
    ms.clear_cache()
    events = EVENTS if is_pure else EVENTS_WITH_EFFECTS
    with eager("numpy" if mode == "jit" else mode):
        net = Net(draw, PURE_STEPS if is_pure else STEPS)
        function = DERIVED[seed % len(DERIVED)](net)
        function = ms.jit(function) if mode == "jit" else function
        generator = np.random.default_rng(seed)
        rows, dtype, calls = 3, np.float64, []
        while len(calls) < CALLS:
            for _ in range(draw.choice([1, 3, 4, 5])):
                x = Tensor(generator.normal(size=(rows, WIDTH)).astype(dtype))
                try:
                    result = arrays(function(x))
                except (IndexError, ValueError, TypeError, RuntimeError) as error:
                    result = [type(error).__name__, str(error)]
                    net.index, net.label = [0, 2], 1
                    if is_pure:  # a trace that fails has drawn and stored nothing
                        ms.set_seed(len(calls))
                        net.counter.set_data(Tensor(0.0, ms.float64))
                    if "backward" in net.__dict__:  # second derivatives of hooks are refused
                        toggle_backward_hook(net, draw)
                written = [p.asnumpy().copy() for p in (net.weight, net.counter)]
                calls.append(([dtype.__name__, *result, *written], net.effects()))
            event = draw.randrange(len(events) + 2)
            if event < len(events):
                events[event](net, draw)
            elif event == len(events):
                rows = draw.choice([2, 3])
            else:
                dtype = draw.choice([np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
        return calls, ms.cache_info()


def check(found, expected):
    types = []  # weights depend on all calls so far
    for number, ((ours, changed), (theirs, right)) in enumerate(zip(found, expected, strict=True)):
        assert changed == right, f"effects of call {number}"
        assert len(ours) == len(theirs), f"call {number}: {ours} {theirs}"
        types.append(theirs[0])
        for a, b in zip(ours, theirs, strict=True):
            if isinstance(b, str):
                assert a == b, f"call {number}"
                continue
            assert (a.shape, a.dtype) == (b.shape, b.dtype), f"call {number}"
            assert_close(a, b, "iteration", dtype=types, scale=1, what=f"call {number}")


@pytest.mark.parametrize("seed", range(size(20, 40)))
@pytest.mark.filterwarnings("ignore:.* reads the value of a tensor that is being differentiated")
def test_eager_calls_agree_when_compiled_whatever_changes(seed):
    expected, _ = history(seed, "numpy")
    found, info = history(seed, "compiled")
    check(found, expected)
    assert info.eager


@pytest.mark.numpy
@pytest.mark.parametrize("seed", range(size(20, 40)))
@pytest.mark.filterwarnings("ignore:.* reads the value of a tensor that is being differentiated")
def test_calls_under_jit_agree_whatever_changes(seed):
    expected, _ = history(seed, "numpy", is_pure=True)
    found, info = history(seed, "jit", is_pure=True)
    check(found, expected)
    assert info.misses


def test_most_random_worlds_are_compiled():
    """The law would hold of nothing if no call were compiled."""
    lines = [line for seed in range(5) for line in history(seed, "compiled")[1].eager]
    assert sum(": compiled: " in line for line in lines) > len(lines) / 3
