"""Law: eager calls do the same operator by operator and compiled, whatever changes between them.

    for every call:  values, errors and side effects operator by operator = values, errors and side effects compiled

A world is a random network whose Python reads and changes state of many kinds. Between its calls random events
change attributes, containers, layers, global variables, defaults, class attributes, weights, hooks, modes, element
types, sizes and indices. The same calls and events run twice, operator by operator and with
``MINDGRAD_EAGER=compiled``, which compiles what two calls have in common at once.
"""

import collections
import functools
import heapq
import io
import operator
import random
import types

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from tests.tiers import arrays, eager

CALLS = 24
WIDTH = 4

#: what the networks read as global variables
GLOBALS = types.SimpleNamespace()


def scaled(x, factor=[1.5]):  # noqa: B006  (its contents are changed)
    return x * factor[0]


def shifted(x, *, by=0.25):
    return x + by


class Net(nn.Cell):
    """A network of random steps.

    Args:
        draw: a generator of random numbers.
    """

    factor = 1.25

    def __init__(self, draw):
        super().__init__()
        generator = np.random.default_rng(draw.randrange(1000))
        number = lambda *shape: generator.normal(size=shape)
        self.steps = [getattr(self, name) for name in draw.sample(STEPS, 9)]
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


def layer(weight):
    return nn.Dense(WIDTH, WIDTH, weight_init=Tensor(weight), bias_init="zeros", dtype=ms.float64)


# -- events between calls ----------------------------------------------------------------------------------


def replace_a_step(net, draw):
    net.steps[draw.randrange(len(net.steps))] = getattr(net, draw.choice(STEPS))


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


def toggle_hook(net, draw):
    handle = net.__dict__.pop("handle", None)
    if handle is not None:
        handle.remove()
        return
    cell = net.layers[0]

    def hook(cell, inputs, output):
        net.log.append("hook")
        return output * 2

    object.__setattr__(net, "handle", cell.register_forward_hook(hook))


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
    toggle_hook,
]


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


def history(seed, switch):
    """What each call of a world returned, raised and changed."""
    draw = random.Random(seed)
    GLOBALS.activation, Net.factor = ops.tanh, 1.25
    scaled.__defaults__[0][0], shifted.__kwdefaults__["by"] = 1.5, 0.25
    ms.set_seed(seed)
    ms.clear_cache()
    with eager(switch):
        net = Net(draw)
        function = DERIVED[seed % len(DERIVED)](net)
        generator = np.random.default_rng(seed)
        rows, dtype, calls = 3, np.float64, []
        while len(calls) < CALLS:
            for _ in range(draw.choice([1, 3, 4, 5])):
                x = Tensor(generator.normal(size=(rows, WIDTH)).astype(dtype))
                try:
                    result = arrays(function(x))
                except (IndexError, ValueError, TypeError) as error:
                    result = [type(error).__name__, str(error)]
                    net.index, net.label = [0, 2], 1
                written = [p.asnumpy().copy() for p in (net.weight, net.counter)]
                calls.append(([dtype.__name__, *result, *written], net.effects()))
            event = draw.randrange(len(EVENTS) + 2)
            if event < len(EVENTS):
                EVENTS[event](net, draw)
            elif event == len(EVENTS):
                rows = draw.choice([2, 3])
            else:
                dtype = draw.choice([np.float32, np.float64])
        return calls, ms.cache_info().eager


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.filterwarnings("ignore:.* reads the value of a tensor that is being differentiated")
def test_eager_calls_agree_when_compiled_whatever_changes(seed):
    expected, _ = history(seed, "numpy")
    found, lines = history(seed, "compiled")
    close = 1e-8
    for number, ((ours, changed), (theirs, right)) in enumerate(zip(found, expected, strict=True)):
        assert changed == right, f"effects of call {number}"
        assert len(ours) == len(theirs), f"call {number}: {ours} {theirs}"
        if theirs[0] == "float32":  # weights may depend on this call from now on
            close = 1e-3
        for a, b in zip(ours, theirs, strict=True):
            if isinstance(b, str):
                assert a == b, f"call {number}"
                continue
            assert (a.shape, a.dtype) == (b.shape, b.dtype), f"call {number}"
            size = np.abs(b[np.isfinite(b)]).max(initial=1.0)
            np.testing.assert_allclose(a, b, rtol=close, atol=close * size, err_msg=f"call {number}")
    assert lines


def test_most_random_worlds_are_compiled():
    """The law would hold of nothing if no call were compiled."""
    lines = [line for seed in range(5) for line in history(seed, "compiled")[1]]
    assert sum(": compiled: " in line for line in lines) > len(lines) / 3
