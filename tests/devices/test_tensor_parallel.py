"""Tensor-parallel layers agree with one device in every derivative, and communicate as little as they must."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.parallel import Layout, shard
from tests.devices.programs import DEVICES, Attention, Perceptron, agree, counts, divided, normal, texts

NETS = {"perceptron": (Perceptron, (4, 16)), "attention": (Attention, (6, 64))}


def derivatives(net, x, v):
    """The value; gradients of all Parameters; a gradient's gradient; a Hessian-vector product."""
    parameters = net.trainable_params()

    def loss(x):
        return (net(x) ** 2).mean()

    def slope(x):
        return (ms.grad(loss)(x) ** 2).sum()

    return {
        "value": (net, (x,)),
        "gradient": (ms.value_and_grad(loss, None, parameters), (x,)),
        "second order": (ms.grad(slope, None, parameters[-2:]), (x,)),
        "Hessian-vector product": (lambda x, v: ms.jvp(ms.grad(loss), (x,), (v,))[1], (x, v)),
    }


def leaves(result):
    return [leaf for part in result for leaf in leaves(part)] if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", NETS)
def test_every_derivative_is_that_of_one_device(name):
    make, shape = NETS[name]
    x, v = Tensor(normal(*shape)), Tensor(normal(*shape, seed=9))
    alone = {key: leaves(f(*args)) for key, (f, args) in derivatives(make(), x, v).items()}
    with divided():
        net = make()
        for key, (function, arguments) in derivatives(net, x, v).items():
            function = ms.jit(function)
            agree(leaves(function(*arguments)), alone[key])
            text = texts(function)[0]
            assert "num_partitions=8" in text
            assert set(counts(function)) <= {"all-reduce"}, (key, counts(function))
        for parameter in net.trainable_params():
            shards = parameter._array.addressable_shards
            assert len(shards) == DEVICES
            assert shards[0].data.size * DEVICES == parameter.size


@pytest.mark.parametrize("name", NETS)
def test_a_row_parallel_product_is_one_reduction(name):
    make, shape = NETS[name]
    with divided():
        net = make()
        forward = ms.jit(net)
        forward(Tensor(normal(*shape)))
        assert counts(forward) == {"all-reduce": 1}
        both = ms.jit(ms.value_and_grad(lambda x: (net(x) ** 2).mean(), 0, net.trainable_params()))
        both(Tensor(normal(*shape)))
        assert sum(counts(both).values()) <= {"perceptron": 2, "attention": 4}[name]


def test_the_caller_of_a_divided_program_moves_nothing_again():
    with divided():
        net = Perceptron()
        forward = ms.jit(net)
        x = Tensor(normal(4, 16))
        forward(x)
        arrays = [net.first._array, net.second._array, x._array]
        forward(x)
        assert all(
            a is b for a, b in zip(arrays, [net.first._array, net.second._array, x._array], strict=True)
        )


def test_strategies_mean_nothing_on_one_device_and_operator_by_operator():
    x = Tensor(normal(4, 16))
    plain = Perceptron()(x)
    with divided():
        net = Perceptron()
        agree([net(x)], [plain])
        assert not hasattr(net.first._array, "sharding")
        agree([ms.jit(net)(x)], [plain])
    agree([ms.jit(net)(x), net(x)], [plain, plain])  # whose Parameters lie on eight


def test_the_slices_of_data_and_of_weights_combine():
    x, w, c = normal(8, 16), normal(16, 32, seed=1), normal(32, 8, seed=2)
    with divided(dataset_strategy=((2, 1), (1, 4), (4, 1))):
        first = ops.MatMul().shard(((2, 1), (1, 4)))
        second = ops.MatMul().shard(((2, 4), (4, 1)))
        net = ms.jit(lambda x, w, c: second(ops.relu(first(x, w)), c))
        agree([net(Tensor(x), Tensor(w), Tensor(c))], [np.maximum(x @ w, 0) @ c])
        assert counts(net) == {"all-reduce": 1}


def test_a_cell_with_a_plan_for_its_parameters():
    x = Tensor(normal(4, 16))
    layout = Layout((2, 4), ("dp", "tp"))
    net = nn.SequentialCell(nn.Dense(16, 32), nn.ReLU(), nn.Dense(32, 8))
    plain = net(x)
    plan = {"self.0.weight": layout("tp", "None"), "0.bias": layout("tp"), "2.weight": layout("None", "tp")}
    run = net.shard((layout("dp", "None"),), (layout("dp", "None"),), parameter_plan=plan)
    agree([run(x)], [plain])
    with divided():
        agree([run(x)], [plain])  # compiled, also in PYNATIVE_MODE
        assert counts(run) == {"all-reduce": 1}
        assert net[0].weight._array.addressable_shards[0].data.shape == (8, 16)
        loss = ms.grad(lambda x: (run(x) ** 2).sum(), 0)
        agree([loss(x)], [ms.grad(lambda x: (net(x) ** 2).sum())(x)])


def test_a_function_whose_result_has_a_layout():
    with divided():
        f = shard(lambda x, y: x * 2 + y, ((8, 1), None), ((2, 4),))
        result = f(Tensor(normal(8, 4)), Tensor(normal(4)))
        agree([result], [normal(8, 4) * 2 + normal(4)])
        assert result._array.addressable_shards[0].data.shape == (4, 1)


def test_an_operator_with_axes_that_broadcast_or_are_turned():
    x, y = normal(8, 4), normal(4, seed=1)
    with divided():
        add = ms.jit(ops.Add().shard(((2, 4), (4,))))
        agree([add(Tensor(x), Tensor(y))], [x + y])
        turned = ms.jit(ops.MatMul(transpose_b=True).shard(((2, 4), (1, 4))))
        w = normal(3, 4, seed=2)
        agree([turned(Tensor(x), Tensor(w))], [x @ w.T])
        batched = ms.jit(ops.BatchMatMul().shard(((4, 2, 1), (4, 1, 1))))
        a, b = normal(4, 6, 3), normal(4, 3, 5, seed=1)
        agree([batched(Tensor(a), Tensor(b))], [a @ b])
        reduced = ms.jit(lambda x: ops.ReduceSum().shard(((8, 1),))(x, 1))
        agree([reduced(Tensor(x))], [x.sum(1)])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: ops.MatMul().shard(((3, 1), (1, 1)))(x, x),
            r"divides axis 0 of input 0 of shape \(16, 16\) into 3",
        ),
        (lambda x: ops.MatMul().shard(((4, 1), (1, 4)))(x, x), "must divide the number of devices, 8"),
        (
            lambda x: ops.MatMul().shard(((1, 4), (2, 1)))(x, x),
            "another tensor of the operator divides the same axis into 4 slices",
        ),
        (lambda x: ops.MatMul().shard(((1,), (1, 1)))(x, x), "an entry for each axis of its shape"),
        (lambda x: ops.MatMul().shard(((1, 1),))(x, x), "an entry for each of 2 tensors"),
        (
            lambda x: shard(ops.relu, ((16, 1),))(x),
            r"'shard', the strategies .* must divide the number of devices, 8",
        ),
        (lambda x: shard(ops.relu, (Layout((2, 2), ("a", "b"))("a", "b"),))(x), "is for 4 devices"),
        (
            lambda x: shard(ops.relu, None, ((1, 1), (1, 1)))(x),
            "'out_strategy' must have an entry for each of 1",
        ),
    ],
)
def test_strategies_that_do_not_fit_say_so(call, message):
    with divided(), pytest.raises(ValueError, match=message):
        ms.jit(call)(Tensor(normal(16, 16)))


def test_there_are_not_more_devices_than_there_are():
    with pytest.raises(ValueError, match=r"'device_num' is 16: .* JAX finds 8"), divided(device_num=16):
        pass


def test_control_flow_and_batches_keep_layouts():
    x = Tensor(normal(8, 4))
    double = ops.Mul().shard(((8, 1), ()), ((8, 1),))

    def grown(x):
        while (x**2).sum() < 100.0:
            x = double(x, 1.5)
        return x.sum()

    alone = grown(x), ms.grad(grown)(x)
    with divided():
        agree([ms.jit(grown)(x), ms.jit(ms.grad(grown))(x)], alone)
        many = ms.jit(ms.vmap(lambda s: double(x, s)))
        s = Tensor(normal(3))
        agree([many(s)], [normal(3)[:, None, None] * normal(8, 4)])


def test_half_the_devices():
    with divided(device_num=4):
        net = ms.jit(shard(ops.relu, ((4, 1),), ((4, 1),)))
        result = net(Tensor(normal(8, 4)))
        assert len(result._array.sharding.device_set) == 4
