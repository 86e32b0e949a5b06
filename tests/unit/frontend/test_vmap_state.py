"""``vmap`` and state: ensembles, random numbers, and what a function would change outside of itself."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from tests.tolerances import assert_close

MODES = {"graph": ms.GRAPH_MODE, "pynative": ms.PYNATIVE_MODE}


@pytest.fixture(autouse=True)
def eager():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


@pytest.fixture(params=MODES.values(), ids=MODES)
def mode(request, eager):
    ms.set_context(mode=request.param)
    return request.param


def t(*values):
    return Tensor(np.array(values), ms.float64)


def close(found, wanted, kind="program"):
    assert_close(found, wanted, kind)


RNG = np.random.default_rng(5)
X = RNG.normal(size=(3, 2))


# --- ensembles ------------------------------------------------------------------------------------------


def test_an_ensemble_is_its_cells(mode):
    nets, x = nn.CellList([nn.Dense(2, 4) for _ in range(3)]), Tensor(X, ms.float32)
    shared, each = ms.vmap(nets, None), ms.vmap(nets)
    close(each(x), np.stack([net(row).asnumpy() for net, row in zip(nets, x, strict=True)]))
    for _ in range(2):
        wanted = [net(x).asnumpy() for net in nets]
        close(shared(x), np.stack(wanted))
        nets[1].weight.set_data(nets[1].weight * 2)
    found = ms.grad(lambda x: (shared(x) ** 2).sum(), None, nets.trainable_params())(x)
    for k, net in enumerate(nets):
        close(found[2 * k], 2 * net(x).asnumpy().T @ X)
        close(found[2 * k + 1], 2 * net(x).asnumpy().sum(0))


def test_what_is_no_ensemble():
    x = Tensor(X, ms.float32)
    pairs = [
        (nn.CellList([]), "is empty"),
        (nn.CellList([nn.Dense(2, 3), nn.Dense(2, 4)]), r"Cell 1 \(Dense\) differs from Cell 0"),
        (nn.CellList([nn.ReLU(), nn.Tanh()]), r"Cell 1 \(Tanh\) differs from Cell 0 \(ReLU\)"),
    ]
    for cells, text in pairs:
        with pytest.raises(RuntimeError, match=text):
            ms.vmap(cells, None)(x)
    two = nn.CellList([nn.Dense(2, 3), nn.Dense(2, 3)])
    with pytest.raises(RuntimeError, match="must be the number of models, 2, but argument 0 'x' has 3"):
        ms.vmap(two)(x)


# --- random numbers ---------------------------------------------------------------------------------------


def test_each_element_draws_its_own_numbers(mode):
    draw = lambda x: x * 0 + ops.standard_normal((2,)).astype(ms.float64)
    ms.set_seed(4)
    first, second = ms.vmap(draw)(t(*X)), ms.vmap(draw)(t(*X))
    everything = np.concatenate([first.asnumpy(), second.asnumpy()]).ravel()
    assert len(set(everything)) == everything.size
    ms.set_seed(4)
    close(ms.vmap(draw)(t(*X)), first.asnumpy())
    nested = ms.vmap(ms.vmap(lambda x: x * 0 + ops.standard_normal(()).astype(ms.float64)))(t(*X)).asnumpy()
    assert len(set(nested.ravel())) == nested.size


def test_random_numbers_in_loops_and_under_derivatives():
    def walk(x):
        while (x * x).sum() < 4.0:
            x = x + ops.standard_normal((2,)).astype(ms.float64)
        return x

    ms.set_seed(2)
    found = ms.vmap(walk)(ops.zeros((50, 2), ms.float64)).asnumpy()
    assert ((found**2).sum(1) >= 4.0).all()
    assert len(set(found[:, 0])) == 50
    drop = nn.Dropout(p=0.5)
    drop.set_train()
    slopes = ms.vmap(ms.grad(lambda x: drop(x)))(ops.ones((200, 4), ms.float32)).asnumpy()
    assert set(np.unique(slopes)) == {0.0, 2.0}
    assert len({tuple(row) for row in slopes}) == 16
    ms.set_seed(2)
    whole = ms.grad(ms.vmap(lambda x: drop(x)))(ops.ones((200, 4), ms.float32)).asnumpy()
    assert len({tuple(row) for row in whole}) == 16


def test_the_distribution_over_elements():
    ms.set_seed(11)
    actual = ms.vmap(lambda x: x + ops.rand())(ops.zeros((4000,), ms.float32)).asnumpy()
    assert abs(actual.mean() - 0.5) < 0.02
    assert abs(actual.var() - 1 / 12) < 0.005
    counts = np.histogram(actual, bins=10, range=(0, 1))[0]
    assert ((counts - 400) ** 2 / 400).sum() < 30  # χ² of 9 degrees: 99.96 %


def test_a_seed_of_its_own_is_repeated():
    draw = lambda x: x + ops.standard_normal((), seed=7)
    runs = []
    for _ in range(2):
        ms.set_seed(1)
        runs.append(ms.vmap(draw)(ops.zeros((3,), ms.float32)).asnumpy())
    np.testing.assert_array_equal(*runs)
    assert len(set(runs[0])) == 3


# --- what lives outside -----------------------------------------------------------------------------------------------


class Counting(nn.Cell):
    def __init__(self):
        super().__init__()
        self.total = Parameter(t(0.0), name="total")
        self.last = None

    def construct(self, x):
        return x * 1


class Assigning(Counting):
    def construct(self, x):
        ops.assign_add(self.total, x.sum().reshape(1))
        return x


class Keeping(Counting):
    def construct(self, x):
        self.last = x
        return x


OUTSIDE = t(1.0, 2.0)
LISTED = []


def storing(x):
    OUTSIDE[0] = x.sum()
    return x


def appending(x):
    LISTED.append(x)
    return x


@pytest.mark.parametrize("under", [lambda f: f, ms.grad, ms.jit], ids=["alone", "grad", "jit"])
def test_what_lives_outside_is_not_changed(under, mode):
    net, kept = Assigning(), Keeping()
    with pytest.raises(RuntimeError, match="the Parameter 'total' is assigned in 'Assigning'"):
        under(lambda x: ms.vmap(net)(x))(t(*X))
    with pytest.raises(RuntimeError, match="assigns the attribute 'last' of Keeping"):
        under(lambda x: ms.vmap(kept)(x))(t(*X))
    with pytest.raises(RuntimeError, match="of a tensor that was created outside"):
        under(lambda x: ms.vmap(storing)(x) + OUTSIDE)(t(*X))
    with pytest.raises(RuntimeError, match="A list that was created outside is changed"):
        under(lambda x: ms.vmap(appending)(x))(t(*X))
    assert float(net.total.sum()) == 0
    assert kept.last is None
    assert LISTED == []
    close(OUTSIDE, [1.0, 2.0])


# --- programs -----------------------------------------------------------------------------------------------


def test_made_anew_it_finds_its_program():
    ms.set_context(mode=ms.GRAPH_MODE)
    x = t(*X)
    calls = [
        lambda: ms.vmap(lambda a: (a * a).sum())(x),
        lambda: ms.vmap(lambda d: d["a"] * 2, [{"a": 1}], [0])({"a": x}),
        lambda: ms.hvp(lambda a: (a * a).sum())(x, x),
        lambda: ms.jacrev(lambda a: (a * a).sum())(x),
        lambda: ops.derivative(lambda a: a * a, x, 2)[1],
    ]
    first = [call().asnumpy() for call in calls]
    before = ms.cache_info().misses
    for call, wanted in zip(calls, first, strict=True):
        close(call(), wanted)
    assert ms.cache_info().misses == before
    # and not that of another one
    close(ms.vmap(lambda a: (a * a).sum(), 1)(x), (X * X).sum(0))
    close(ms.vmap(lambda d: d["a"] * 2, [{"a": 0}], [0])({"a": x}), 2 * X)


def test_a_generator_that_no_element_draws_from_is_no_input():
    program = ms.source(ms.vmap(ms.grad(lambda x: x * x)), t(1.0, 2.0))
    assert not program.parameters
    close(Tensor(program.run()), [2.0, 4.0])
