"""Trees of tensors (``tree_map``, ``ravel_pytree``) and calls with other Parameters (``functional_call``)."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["GRAPH", "PYNATIVE"])
BOTH = pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "jit"])


class Pair(NamedTuple):
    left: object
    right: object


@dataclasses.dataclass
class Record:
    weight: object
    bias: object = None


def tree():
    return {
        "w": Tensor([[1.0, 2.0], [3.0, 4.0]]),
        "layers": [Pair(Tensor(5.0), None), (Record(Tensor([6.0]), Tensor([7.0])),)],
    }


# --- tree_map --------------------------------------------------------------------------------------


@BOTH
def test_tree_map_keeps_the_structure(wrap):
    doubled = wrap(lambda t: ms.tree_map(lambda x: 2 * x, t))(tree())
    assert type(doubled["layers"][0]) is Pair
    assert doubled["layers"][0].right is None
    assert doubled["layers"][1][0].bias.asnumpy().tolist() == [14.0]
    assert [x.asnumpy().sum() for x in ms.tree_leaves(doubled)] == [20.0, 10.0, 12.0, 14.0]


@BOTH
def test_tree_map_of_several_trees_pairs_their_leaves(wrap):
    @wrap
    def step(weights, gradients):
        return ms.tree_map(lambda w, g: w - 0.5 * g, weights, gradients)

    stepped = step(
        [Tensor(1.0), {"a": Tensor(2.0), "b": Tensor(3.0)}],
        (Tensor(2.0), {"b": Tensor(4.0), "a": Tensor(0.0)}),
    )
    assert [x.item() for x in ms.tree_leaves(stepped)] == [0.0, 2.0, 1.0]
    assert type(stepped) is list


@BOTH
def test_tree_map_is_differentiated_with_control_flow_in_the_function(wrap):
    def energy(t):
        def f(x):
            if x.sum() > 6:
                return (x * x).sum()
            return x.sum()

        return sum(ms.tree_leaves(ms.tree_map(f, t)))

    slopes = ms.grad(wrap(lambda a, b: energy({"a": a, "b": [b]})), (0, 1))(Tensor([1.0, 2.0]), Tensor([7.0]))
    assert [g.asnumpy().tolist() for g in slopes] == [[1.0, 1.0], [14.0]]


@pytest.mark.parametrize(
    "other",
    [{"w": 1}, {"w": 1, "b": (2, 3)}, {"w": [1], "b": (2,)}, {"w": 1, "c": (2,)}, [1, 2], 3],
    ids=str,
)
def test_tree_map_raises_on_another_structure(other):
    with pytest.raises(ValueError, match=r"tree 2 must have the structure of the first tree: "):
        ms.tree_map(lambda x, y: x, {"w": 1, "b": (2,)}, other)


def test_tree_map_raises_if_its_function_is_not_callable():
    with pytest.raises(TypeError, match="'fn' must be callable, but got dict"):
        ms.tree_map({}, lambda x: x)


def test_tree_map_updates_parameters_of_a_net():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    weights = net.trainable_params()
    gradients = ms.grad(lambda x: net(x).sum(), None, weights)(Tensor([[1.0, 2.0]]))
    stepped = ms.tree_map(lambda p, g: p - g, weights, gradients)
    assert [x.asnumpy().ravel().tolist() for x in stepped] == [[0.0, -1.0], [-1.0]]


# --- ravel_pytree -----------------------------------------------------------------------------------


@BOTH
def test_ravel_pytree_and_back(wrap):
    def function(t):
        vector, unravel = ms.ravel_pytree(t)
        return vector, unravel(vector + 1)

    vector, back = wrap(function)(tree())
    assert vector.asnumpy().tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert back["w"].asnumpy().tolist() == [[2, 3], [4, 5]]
    assert back["layers"][0].left.item() == 6.0
    assert back["layers"][1][0].bias.asnumpy().tolist() == [8.0]


def test_ravel_pytree_promotes_and_restores_dtypes():
    t = (Tensor([1, 2], ms.int32), np.float64(0.5), [Tensor([True]), 2.0], None)
    vector, unravel = ms.ravel_pytree(t)
    assert vector.dtype is ms.float64
    back = unravel(vector)
    assert [x.dtype for x in ms.tree_leaves(back)] == [ms.int32, ms.float64, ms.bool_, ms.float32]
    assert back[3] is None
    empty, unravel = ms.ravel_pytree([])
    assert (empty.shape, unravel(empty)) == ((0,), [])


@MODES
def test_ravel_pytree_is_differentiated_in_both_directions(mode):
    ms.set_context(mode=mode)
    t = {"a": Tensor([1.0, 2.0]), "b": Tensor([[3.0]])}
    vector, unravel = ms.ravel_pytree(t)

    def energy(v):
        parts = unravel(v)
        return (parts["a"] ** 3).sum() * parts["b"].sum()

    assert ms.grad(energy)(vector).asnumpy().tolist() == [9.0, 36.0, 9.0]
    assert ms.hessian(energy)(vector).asnumpy().tolist() == [[18, 0, 3], [0, 36, 12], [3, 12, 0]]
    slope = ms.grad(lambda a: (ms.ravel_pytree({"a": a, "b": a[:1]})[0] ** 2).sum())(t["a"])
    assert slope.asnumpy().tolist() == [4.0, 4.0]


def test_ravel_pytree_raises_on_other_leaves_and_shapes():
    with pytest.raises(TypeError, match=r"tree\['a'\]\[1\] is a str"):
        ms.ravel_pytree({"a": [1.0, "x"]})
    _, unravel = ms.ravel_pytree([1.0, 2.0])
    with pytest.raises(ValueError, match=r"the vector must have shape \(2,\), but its shape is \(3,\)"):
        unravel(Tensor([1.0, 2.0, 3.0]))


# --- functional_call -----------------------------------------------------------------------------


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 3, weight_init="ones")
        self.norm = nn.BatchNorm1d(3)
        self.scale = Parameter(Tensor(2.0), name="scale")

    def construct(self, x, power=1):
        return self.norm(self.dense(x)) * self.scale**power


X = Tensor([[1.0, 2.0], [3.0, 5.0]])


def values(net, factor=1.0):
    return {name: Tensor(factor * p.asnumpy()) for name, p in net.parameters_and_names() if p.requires_grad}


@MODES
def test_functional_call_takes_the_values_given(mode):
    ms.set_context(mode=mode)
    net = Net()
    before = net(X).asnumpy()
    for factor in (1.0, 2.0, 3.0):
        for _ in range(3):
            found = ms.functional_call(net, {"scale": Tensor(2.0 * factor)}, X)
            assert_close(found, factor * before, kind="program", each=True)
    assert_close(net(X), before)
    assert net.scale.asnumpy() == 2.0
    squared = ms.functional_call(net, {"scale": Tensor(3.0)}, (X,), {"power": 2})
    assert_close(squared, 4.5 * before, kind="program", each=True)


@MODES
@BOTH
def test_functional_call_is_differentiated_with_respect_to_its_values(mode, wrap):
    ms.set_context(mode=mode)
    net = Net()
    names = ["dense.weight", "scale"]
    weights = [dict(net.parameters_and_names())[name] for name in names]
    expected = ms.grad(lambda x: (net(x) ** 2).sum(), None, weights)(X)
    at = values(net)

    def loss(weight, scale):
        return (ms.functional_call(net, {**at, "dense.weight": weight, "scale": scale}, X) ** 2).sum()

    for _ in range(5):
        found = ms.grad(wrap(loss), (0, 1))(at["dense.weight"], at["scale"])
        for a, b in zip(found, expected, strict=True):
            assert_close(a, b, kind="program")
    second = ms.grad(lambda s: ms.grad(loss, 1)(at["dense.weight"], s))(at["scale"])
    assert_close(second, expected[1].item() / 2.0, kind="program")


@MODES
def test_functional_call_twice_in_one_gradient_uses_both_values(mode):
    ms.set_context(mode=mode)
    net = nn.Dense(2, 1, weight_init="zeros", has_bias=False).set_grad()

    def loss(a, b):
        first = ms.functional_call(net, {"weight": a}, X)
        second = ms.functional_call(net, {"weight": b}, X)
        return (first * second).sum()

    a, b = Tensor([[1.0, 2.0]]), Tensor([[3.0, -1.0]])
    found = ms.grad(loss, (0, 1))(a, b)
    x = X.asnumpy()
    assert_close(found[0], (x @ b.asnumpy().T).T @ x)
    assert_close(found[1], (x @ a.asnumpy().T).T @ x)


@MODES
def test_functional_call_of_a_step_of_descent_is_differentiated_through(mode):
    ms.set_context(mode=mode)
    net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
    loss = lambda w: (ms.functional_call(net, {"weight": w}, X) ** 2).sum()

    def after_a_step(rate, w):
        return loss(w - rate * ms.grad(loss)(w))

    w, x = Tensor([[1.0, -0.5]]), X.asnumpy().astype(np.float64)
    g = 2 * (x @ w.asnumpy().T).T @ x
    at = w.asnumpy() - 0.01 * g
    expected = -(2 * (x @ at.T).T @ x * g).sum()
    assert_close(ms.grad(after_a_step)(Tensor(0.01), w), expected, kind="long program")


@MODES
def test_functional_call_is_batched_over_its_values(mode):
    ms.set_context(mode=mode)
    net = nn.Dense(2, 1, weight_init="zeros", has_bias=False)
    stacked = Tensor([[[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 1.0]]])
    found = ms.vmap(lambda w: ms.functional_call(net, {"weight": w}, X))(stacked)
    assert_close(found.asnumpy()[..., 0], [[1, 3], [2, 5], [3, 8]])


@MODES
def test_functional_call_in_loops_and_branches(mode):
    ms.set_context(mode=mode)
    net = nn.Dense(2, 2, weight_init="zeros", has_bias=False)

    @ms.jit
    def run(w, x):
        n = 0
        while x.sum() < 100:
            x = ms.functional_call(net, {"weight": w * 1.0}, x)
            n = n + 1
        if x.sum() > 150:
            x = ms.functional_call(net, {"weight": -w}, x)
        return x, n

    x, n = run(Tensor([[2.0, 0.0], [0.0, 3.0]]), Tensor([[1.0, 1.0]]))
    assert (x.asnumpy().tolist(), int(n)) == ([[-64.0, -729.0]], 5)
    assert net.weight.asnumpy().sum() == 0


@MODES
def test_functional_call_keeps_assignments_to_other_parameters_only(mode):
    ms.set_context(mode=mode)
    net = Net().set_train()
    ms.functional_call(net, values(net), X)
    moved = net.norm.moving_mean.asnumpy()
    assert (moved != 0).all()
    ms.functional_call(net, {**values(net), "norm.moving_mean": ops.zeros(3)}, X)
    assert_close(net.norm.moving_mean, moved)
    assert net.scale.asnumpy() == 2.0


def test_functional_call_checks_its_arguments():
    net = Net()
    with pytest.raises(ValueError, match=r"Net has no Parameter 'dense\.weigth'; nearest: 'dense\.weight'"):
        ms.functional_call(net, {"dense.weigth": Tensor(1.0)}, X)
    with pytest.raises(
        ValueError, match=r"'scale' must have the shape \(\) of the Parameter, but its shape is \(2,\)"
    ):
        ms.functional_call(net, {"scale": Tensor([1.0, 2.0])}, X)
    with pytest.raises(TypeError, match="the value of 'scale' must be a Tensor, but got float"):
        ms.functional_call(net, {"scale": 1.0}, X)
    with pytest.raises(TypeError, match="'params' must be a dict of names and Tensors, but got list"):
        ms.functional_call(net, [Tensor(1.0)], X)
    with pytest.raises(TypeError, match="'net' must be a Cell, but got function"):
        ms.functional_call(lambda x: x, {}, X)
