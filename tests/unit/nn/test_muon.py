"""``nn.Muon``: orthogonal updates, formulas, groups, checkpoints, and errors."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn
from mindgrad.nn.optim.muon import _orthogonalized
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
SHAPES = {"tall.weight": (5, 3), "conv.weight": (2, 3, 2, 2), "bias": (5,), "scale": (), "embedding": (4, 3)}
COEFFICIENTS = (3.4445, -4.775, 2.0315)


def drawn(seed, dtype=np.float64):
    generator = np.random.default_rng(seed)
    return [generator.normal(size=shape).astype(dtype) for shape in SHAPES.values()]


def parameters(dtype=np.float64):
    return [Parameter(Tensor(x), name=name) for name, x in zip(SHAPES, drawn(0, dtype), strict=True)]


def orthogonalized(matrix, steps=5, eps=1e-7):
    """The polynomial of each singular value, by a singular value decomposition."""
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    a, b, c = COEFFICIENTS
    values = values / max(np.linalg.norm(matrix), eps)
    for _ in range(steps):
        values = a * values + b * values**3 + c * values**5
    return left * values @ right


def muon(w, gradients, rate, decay=0.0, nesterov=True, scale=None):
    momentum = np.zeros_like(w)
    for g in gradients:
        momentum = 0.95 * momentum + 0.05 * g
        u = (0.05 * g + 0.95 * momentum if nesterov else momentum).reshape(len(w), -1)
        factor = np.sqrt(max(1, u.shape[0] / u.shape[1])) if scale is None else scale(*u.shape)
        w = w - rate * (factor * orthogonalized(u).reshape(w.shape) + decay * w)
    return w


def adamw(w, gradients, rate, decay=0.0):
    m = v = 0.0
    for t, g in enumerate(gradients, 1):
        m, v = 0.9 * m + 0.1 * g, 0.95 * v + 0.05 * g * g
        w = w - rate * (m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.95**t)) + 1e-10) + decay * w)
    return w


def trained(optimizer, seeds, dtype=np.float64):
    for seed in seeds:
        assert optimizer(tuple(map(Tensor, drawn(seed, dtype))))


@pytest.mark.parametrize("shape", [(8, 8), (4, 16), (16, 4), (1, 6)])
def test_singular_values_become_close_to_one(shape):
    matrix = np.random.default_rng(0).normal(size=shape)
    result = _orthogonalized(Tensor(matrix), 5, COEFFICIENTS, 1e-7).asnumpy()
    assert_close(result, orthogonalized(matrix), kind="program")
    values = np.linalg.svd(result, compute_uv=False)
    assert values.min() > 0.5
    assert values.max() < 1.3
    exact = _orthogonalized(Tensor(matrix), 40, (1.5, -0.5, 0.0), 1e-7).asnumpy()
    left, _, right = np.linalg.svd(matrix, full_matrices=False)
    assert_close(exact, left @ right, kind="program")


def test_a_zero_matrix_stays_zero():
    assert_close(_orthogonalized(Tensor(np.zeros((2, 3))), 5, COEFFICIENTS, 1e-7), np.zeros((2, 3)))


@MODES
@pytest.mark.parametrize("nesterov", [True, False])
def test_four_steps_agree_with_the_formulas(nesterov, mode):
    ms.set_context(mode=mode)
    weights = parameters()
    optimizer = nn.Muon(weights, 0.1, nesterov=nesterov, weight_decay=0.01, adam_learning_rate=0.03)
    trained(optimizer, range(1, 5))
    for number, (weight, start) in enumerate(zip(weights, drawn(0), strict=True)):
        gradients = [drawn(seed)[number] for seed in range(1, 5)]
        if number < 2:
            wanted = muon(start, gradients, 0.1, 0.01, nesterov)
        else:
            wanted = adamw(start, gradients, 0.03, 0.01)
        assert_close(weight, wanted, kind="program", dtype=np.float32)
    assert [p.name for p in optimizer.momenta] == ["muon_momentum.tall.weight", "muon_momentum.conv.weight"]
    assert [p.name for p in optimizer.moment1] == ["adam_m.bias", "adam_m.scale", "adam_m.embedding"]


def test_without_momentum_the_gradient_is_orthogonalized():
    weights = parameters()
    trained(nn.Muon(weights, 0.1, momentum=0.0), [1, 2])
    step = sum(orthogonalized(drawn(seed)[0]) for seed in (1, 2)) * np.sqrt(5 / 3)
    assert_close(weights[0], drawn(0)[0] - 0.1 * step, kind="program", dtype=np.float32)


def test_the_rms_factor_of_adamw():
    weights = parameters()
    trained(nn.Muon(weights, 0.1, adjust_lr_fn="match_rms_adamw"), [1])
    wanted = muon(drawn(0)[1], [drawn(1)[1]], 0.1, scale=lambda m, n: 0.2 * np.sqrt(max(m, n)))
    assert_close(weights[1], wanted, kind="program", dtype=np.float32)


def test_a_filter_and_groups_choose_the_method_and_the_rate():
    tall, conv, bias, scale, embedding = parameters()
    groups = [{"params": [tall, bias], "lr": 0.5}, {"params": [conv, scale, embedding]}]
    optimizer = nn.Muon(groups, 0.1, muon_filter=lambda p: p.name != "tall.weight" and p.ndim > 1)
    x, g = drawn(0), drawn(1)
    optimizer(tuple(Tensor(g[k]) for k in (0, 2, 1, 3, 4)))
    assert_close(tall, adamw(x[0], [g[0]], 0.5), kind="program", dtype=np.float32)
    assert_close(bias, adamw(x[2], [g[2]], 0.5), kind="program", dtype=np.float32)
    assert_close(conv, muon(x[1], [g[1]], 0.1), kind="program", dtype=np.float32)
    assert_close(scale, adamw(x[3], [g[3]], 3e-4), kind="program", dtype=np.float32)
    assert_close(embedding, muon(x[4], [g[4]], 0.1), kind="program", dtype=np.float32)


@MODES
def test_both_learning_rates_may_be_schedules(mode):
    ms.set_context(mode=mode)
    weights = parameters()
    trained(nn.Muon(weights, [0.0, 0.1], adam_learning_rate=nn.ExponentialDecayLR(0.03, 0.5, 1)), [1, 2])
    start, g = drawn(0), [drawn(1), drawn(2)]
    second = muon(start[0], [g[0][0], g[1][0]], 0.1) - muon(start[0], [g[0][0]], 0.1)
    assert_close(weights[0], start[0] + second, kind="program", dtype=np.float32)
    first = adamw(start[2], [g[0][2]], 0.03)
    second = adamw(start[2], [g[0][2], g[1][2]], 0.015) - adamw(start[2], [g[0][2]], 0.015)
    assert_close(weights[2], first + second, kind="program", dtype=np.float32)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_half_parameters_have_state_in_float32(dtype):
    weights = [Parameter(p.value().astype(dtype), name=p.name) for p in parameters(np.float32)]
    optimizer = nn.Muon(weights, 0.1)
    trained(optimizer, [1, 2], np.float32)
    assert {p.dtype for p in weights} == {dtype}
    assert {p.dtype for p in (*optimizer.momenta, *optimizer.moment1, *optimizer.moment2)} == {ms.float32}
    wanted = muon(drawn(0)[0], [drawn(seed)[0] for seed in (1, 2)], 0.1)
    assert_close(weights[0].asnumpy().astype(np.float32), wanted, kind="program", dtype=dtype)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 2, weight_init="normal")
        self.dense = nn.Dense(12, 2)

    def construct(self, x):
        return self.dense(ms.ops.tanh(self.conv(x)).reshape(x.shape[0], -1))


@MODES
@pytest.mark.parametrize("kind", [nn.Muon, lambda p: nn.SOAP(p, precondition_frequency=2)])
def test_a_checkpoint_resumes_exactly(kind, mode, tmp_path):
    ms.set_context(mode=mode)
    generator = np.random.default_rng(0)
    batches = [
        (Tensor(generator.normal(size=(8, 1, 2, 2)).astype("f")), Tensor(generator.normal(size=(8, 2)).astype("f")))
        for _ in range(8)
    ]  # fmt: skip
    path = str(tmp_path / "state.ckpt")

    def trained(net, optimizer, batches):
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
        return [float(step(*batch)) for batch in batches]

    ms.set_seed(0)
    net = Net()
    optimizer = kind(net.trainable_params())
    trained(net, optimizer, batches[:4])
    ms.save_checkpoint(optimizer, path)
    losses = trained(net, optimizer, batches[4:])
    fresh = Net()
    other = kind(fresh.trainable_params())
    ms.load_param_into_net(other, ms.load_checkpoint(path))
    assert trained(fresh, other, batches[4:]) == losses
    for one, same in zip(optimizer.get_parameters(), other.get_parameters(), strict=True):
        assert one.asnumpy().tobytes() == same.asnumpy().tobytes()


@pytest.mark.parametrize("kind", [nn.Muon, nn.SOAP])
def test_model_trains(kind):
    generator = np.random.default_rng(2)
    x = generator.normal(size=(32, 3)).astype(np.float32)
    y = x @ generator.normal(size=(3, 2)).astype(np.float32)
    net = nn.Dense(3, 2)
    data = ms.dataset.NumpySlicesDataset((x, y), shuffle=False).batch(16)
    model = ms.train.Model(net, nn.MSELoss(), kind(net.trainable_params(), 0.02), metrics={"mse"})
    before = model.eval(data)["mse"]
    model.train(20, data)
    assert model.eval(data)["mse"] < 0.5 * before


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (dict(momentum=1.0), ValueError, r"'momentum' must be in \[0, 1\)"),
        (dict(momentum=-0.1), ValueError, "'momentum'"),
        (dict(nesterov=1), TypeError, "'nesterov'"),
        (dict(ns_steps=0), ValueError, "'ns_steps'"),
        (dict(ns_coefficients=(1.0, 2.0)), ValueError, "must be three numbers, but got 2"),
        (dict(ns_coefficients=3.0), TypeError, "'ns_coefficients'"),
        (dict(adjust_lr_fn="rms"), ValueError, "'match_rms_adamw'"),
        (dict(muon_filter=True), TypeError, "'muon_filter' must be a function"),
        (dict(muon_filter=lambda _: True), ValueError, r"selects the Parameter 'bias'.*\(5,\)"),
        (dict(adam_learning_rate=-1.0), ValueError, "learning_rate"),
        (dict(adam_beta2=1.5), ValueError, "'adam_beta2'"),
        (dict(adam_eps=0.0), ValueError, "'adam_eps'"),
    ],
)
def test_bad_arguments(options, error, text):
    with pytest.raises(error, match=text):
        nn.Muon(parameters(), **options)
