"""A batch that is divided among devices: training, optimizers whose state is divided, nested derivatives."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, context, nn, ops
from mindgrad.parallel import AutoParallel
from tests.devices.programs import Perceptron, agree, counts, divided, normal, texts


class Plain(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(16, 64, weight_init=Tensor(normal(64, 16, seed=1) / 4), bias_init="zeros")
        self.second = nn.Dense(64, 3, weight_init=Tensor(normal(3, 64, seed=2) / 8), bias_init="zeros")

    def construct(self, x):
        return self.second(ops.tanh(self.first(x)))


def trained(net, optimizer, steps=4, batch=16):
    """The losses and Parameters of some steps, and the step."""
    loss = nn.MSELoss()
    gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

    @ms.jit
    def step(x, y):
        value, gradients = gradient(x, y)
        optimizer(gradients)
        return value

    losses = [
        float(step(Tensor(normal(batch, 16, seed=k)), Tensor(normal(batch, 3, seed=k + 50))))
        for k in range(steps)
    ]
    return losses, [p.asnumpy() for p in net.trainable_params()], step


def adam(net):
    return nn.Adam(net.trainable_params(), learning_rate=0.01)


@pytest.fixture(scope="module")
def alone():
    net = Plain()
    return trained(net, adam(net))[:2]


def test_training_is_that_of_one_device(alone):
    with divided("data_parallel", device_num=8, gradients_mean=True):
        net = Plain()
        losses, parameters, step = trained(net, adam(net))
        agree([losses, *parameters], [alone[0], *alone[1]])
        kinds = counts(step)
        assert set(kinds) == {"all-reduce"}
        assert kinds["all-reduce"] <= 5  # of four gradients and the loss; XLA may join them
        assert "f32[2,16]" in texts(step)[0].splitlines()[0]  # two of sixteen rows on each device


def test_the_state_of_an_optimizer_is_divided(alone):
    with divided("auto_parallel", enable_parallel_optimizer=True):
        net = Plain()
        optimizer = adam(net)
        losses, parameters, step = trained(net, optimizer)
        agree([losses, *parameters], [alone[0], *alone[1]])
        assert net.first.weight._array.is_fully_replicated
        for moment in (*optimizer.moment1, *optimizer.moment2):
            local = moment._array.addressable_shards[0].data.size
            assert local * 8 == moment.size or not any(n % 8 == 0 for n in moment.shape)
    held = memory_of(step)
    with divided("auto_parallel"):
        net = Plain()
        assert memory_of(trained(net, adam(net), steps=1)[2]) > 1.5 * held


def memory_of(step):
    """Bytes of the arguments on each device."""
    program = next(iter(step._compiled._programs.values()))[0]
    return program.executable.compiled.memory_analysis().argument_size_in_bytes


def test_new_values_take_the_memory_of_the_old_ones():
    with divided("auto_parallel", enable_parallel_optimizer=True):
        net = Plain()
        optimizer = adam(net)
        _, _, step = trained(net, optimizer, steps=1)
        before = [p._array for p in (*net.trainable_params(), *optimizer.moment1)]
        shardings = [array.sharding for array in before]
        trained_again = step(Tensor(normal(16, 16)), Tensor(normal(16, 3)))
        assert float(trained_again) > 0
        after = [p._array for p in (*net.trainable_params(), *optimizer.moment1)]
        assert [array.sharding for array in after] == shardings
        del before
        text = texts(step)[0].splitlines()[0]
        assert text.count("may-alias") + text.count("must-alias") >= len(after)


def test_moments_lie_as_their_parameters():
    with divided():
        net = Perceptron()
        optimizer = adam(net)
        loss = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)

        @ms.jit
        def step(x):
            value, gradients = loss(x)
            optimizer(gradients)
            return value

        first = float(step(Tensor(normal(4, 16))))
        assert float(step(Tensor(normal(4, 16)))) < first
        assert optimizer.moment1[0]._array.sharding == net.first._array.sharding
        assert set(counts(step)) == {"all-reduce"}


def test_a_wrapped_training_step_in_both_modes(alone):
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        net = Plain()
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), adam(net))
        step.set_train()
        parallel = AutoParallel(step, "sharding_propagation")
        parallel.hsdp()
        losses = [
            float(parallel(Tensor(normal(16, 16, seed=k)), Tensor(normal(16, 3, seed=k + 50))))
            for k in range(4)
        ]
        agree([losses, *[p.asnumpy() for p in net.trainable_params()]], [alone[0], *alone[1]])
        assert "num_partitions=8" in texts(parallel)[0]


def test_the_data_of_an_automatic_division():
    net = AutoParallel(nn.ReLU())
    x = Tensor(normal(8, 4))
    net.dataset_strategy(((2, 4),))
    result = net(x)
    agree([result], [np.maximum(normal(8, 4), 0)])
    assert result._array.addressable_shards[0].data.shape == (4, 1)
    with pytest.raises(ValueError, match="'data_parallel', 'full_batch' or a tuple"):
        net.dataset_strategy("rows")
    with pytest.raises(ValueError, match="'stages' must be 1"):
        net.pipeline(2)
    # inside of a derivative
    slope = ms.jit(ms.grad(lambda x: (net(x) ** 2).sum()))
    agree([slope(x)], [2 * np.maximum(normal(8, 4), 0)])
    assert "num_partitions=8" in texts(slope)[0]


def test_a_batch_that_cannot_be_divided_stays_whole():
    with divided("data_parallel", device_num=8):
        square = ms.jit(lambda x: x * x)
        agree([square(Tensor(normal(6, 4)))], [normal(6, 4) ** 2])
    with divided("data_parallel", device_num=8, dataset_strategy=((8, 1),)):
        square = ms.jit(lambda x: x * x)
        with pytest.raises(ValueError, match=r"\(8, 1\) does not divide argument 0 of shape \(6, 4\)"):
            square(Tensor(normal(6, 4)))


@pytest.mark.parametrize("points", [80, 4096])
def test_a_physics_informed_loss_never_gathers_its_points(points):
    net = Plain()

    def field(x):
        return net(x)[..., 0]

    def residual(points):
        return ((ms.vmap(ms.laplacian(field))(points) + field(points)) ** 2).mean()

    gradient = ms.value_and_grad(residual, None, net.trainable_params())
    x = Tensor(normal(points, 16))
    value, slopes = gradient(x)
    with divided("data_parallel", device_num=8):
        run = ms.jit(gradient)
        result, found = run(x)
        agree([result, *found[:3]], [value, *slopes[:3]], "long program")
        assert set(counts(run)) == {"all-reduce"}
        # (no second pass over a batch that was gathered: every array with the points has an eighth of them)
        assert f"[{points}," not in texts(run)[0]


def test_nested_gradients_never_gather_their_points():
    net = Plain()

    def wave(x, t):
        return net(ops.concat([x, t, x * t, x - t], 1).tile((1, 4)))[:, :1]

    def loss(x, t):
        u_x = ms.grad(lambda x: wave(x, t).sum())
        u_xx = ms.grad(lambda x: u_x(x).sum())
        u_t = ms.grad(lambda t: wave(x, t).sum())
        return ((u_t(t) + wave(x, t) * u_x(x) - 0.1 * u_xx(x)) ** 2).mean()

    gradient = ms.value_and_grad(loss, None, net.trainable_params())
    arguments = Tensor(normal(2048, 1)), Tensor(normal(2048, 1, seed=1))
    value, slopes = gradient(*arguments)
    with divided("data_parallel", device_num=8):
        run = ms.jit(gradient)
        result, found = run(*arguments)
        agree([result, *found[:3]], [value, *slopes[:3]], "long program")
        assert set(counts(run)) == {"all-reduce"}


def test_random_numbers_are_those_of_one_device():
    dropout = nn.Dropout(p=0.5)
    dropout.set_train()
    x = Tensor(np.ones((16, 8), np.float32))
    ms.set_seed(3)
    alone = ms.jit(dropout)(x).asnumpy()
    ms.set_seed(3)
    with divided("data_parallel", device_num=8):
        assert (ms.jit(dropout)(x).asnumpy() == alone).all()


def test_a_stored_program_of_eight_devices_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("MINDGRAD_CACHE_DIR", str(tmp_path))
    with divided("data_parallel", device_num=8):
        for _ in range(2):
            run = ms.jit(lambda x: (x * 3).sum())
            agree([run(Tensor(normal(8, 4)))], [3 * normal(8, 4).sum()])
            run.cache_clear()
    assert len(list(tmp_path.glob("*.executable"))) == 1


def test_arrays_of_a_divided_program_are_used_everywhere():
    with divided("data_parallel", device_num=8):
        y = ms.jit(lambda x: x + 1)(Tensor(normal(8, 4)))
        assert len(y._array.sharding.device_set) == 8
        agree([y * 2], [2 * (normal(8, 4) + 1)])
    agree([ms.jit(lambda x: x * 2)(y)], [2 * (normal(8, 4) + 1)])
    agree([y.sum()], [(normal(8, 4) + 1).sum()])


def test_options_that_cannot_be_had():
    with pytest.raises(ValueError, match="'pipeline_stages' must be 1"):
        context.set_auto_parallel_context(pipeline_stages=2)
    with pytest.raises(ValueError, match="'strategy_ckpt_load_file' is not supported"):
        context.set_auto_parallel_context(strategy_ckpt_load_file="a.ckpt")
    with pytest.raises(TypeError, match="a tuple with a strategy for each argument"):
        context.set_auto_parallel_context(dataset_strategy=(8, 1))
