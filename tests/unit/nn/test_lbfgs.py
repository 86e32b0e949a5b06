"""``nn.LBFGS``: minima, Wolfe conditions, the recursion, checkpoints, and errors."""

import numpy as np
import pytest
import scipy.optimize

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.nn.optim.closure import FlatFunction
from mindgrad.nn.optim.lbfgs import _times_inverse_hessian
from mindgrad.nn.optim.line_search import Trial, strong_wolfe
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
GENERATOR = np.random.default_rng(0)


def rosenbrock(w):
    return (100.0 * (w[1:] - w[:-1] ** 2) ** 2 + (1.0 - w[:-1]) ** 2).sum()


@pytest.fixture
def evaluations(monkeypatch):
    """The values of all evaluations."""
    values, evaluate = [], FlatFunction.evaluate

    def counted(self, vector):
        value, gradient = evaluate(self, vector)
        values.append(value)
        return value, gradient

    monkeypatch.setattr(FlatFunction, "evaluate", counted)
    return values


@MODES
def test_rosenbrock_needs_no_more_evaluations_than_scipy(mode, evaluations):
    ms.set_context(mode=mode)
    start = np.tile([-1.2, 1.0], 5)
    w = Parameter(Tensor(start), name="w")
    optimizer = nn.LBFGS([w], max_iter=500, tolerance_grad=1e-10, tolerance_change=0.0)
    loss = optimizer.step(lambda: rosenbrock(w))
    expected = scipy.optimize.minimize(
        scipy.optimize.rosen, start, jac=scipy.optimize.rosen_der, method="L-BFGS-B",
        options=dict(gtol=1e-10, ftol=0, maxcor=100),
    )  # fmt: skip
    assert_close(loss, scipy.optimize.rosen(start))
    assert np.abs(w.asnumpy() - 1).max() < 1e-9
    assert np.abs(scipy.optimize.rosen_der(w.asnumpy())).max() <= 1e-10
    assert len(evaluations) <= 1.2 * expected.nfev


def test_a_quadratic_of_several_parameters_in_several_steps():
    root = GENERATOR.normal(size=(6, 6))
    matrix, b = root @ root.T + np.eye(6), GENERATOR.normal(size=6)
    v, w = Parameter(Tensor(np.zeros((2, 2))), name="v"), Parameter(Tensor(np.zeros(2)), name="w")
    optimizer = nn.LBFGS([v, w], max_iter=5, tolerance_grad=1e-12, tolerance_change=0.0)

    def energy():
        x = ops.concat((v.reshape(-1), w))
        return 0.5 * (x * (Tensor(matrix) @ x)).sum() - (Tensor(b) * x).sum()

    losses = [float(optimizer.step(energy)) for _ in range(8)]
    x = np.concatenate([v.asnumpy().ravel(), w.asnumpy()])
    assert np.abs(matrix @ x - b).max() < 1e-11
    assert losses == sorted(losses, reverse=True)
    assert int(optimizer.global_step) == 8


def test_two_loops_multiply_by_the_matrix_of_bfgs():
    root = GENERATOR.normal(size=(5, 5))
    hessian = root @ root.T + np.eye(5)
    pairs = [(s, hessian @ s) for s in GENERATOR.normal(size=(3, 5))]
    s, y = pairs[-1]
    inverse = np.eye(5) * (s @ y) / (y @ y)
    for s, y in pairs:
        left = np.eye(5) - np.outer(s, y) / (s @ y)
        inverse = left @ inverse @ left.T + np.outer(s, s) / (s @ y)
    gradient = GENERATOR.normal(size=5)
    assert_close(_times_inverse_hessian(pairs, gradient), inverse @ gradient, kind="program")


#: functions of J. J. Moré and D. J. Thuente (1994), section 5, and two with infinite values
FUNCTIONS = {
    "rational": lambda x: (-x / (x * x + 2), (x * x - 2) / (x * x + 2) ** 2),
    "power": lambda x: ((x + 0.004) ** 5 - 2 * (x + 0.004) ** 4, 5 * (x + 0.004) ** 4 - 8 * (x + 0.004) ** 3),
    "barrier": lambda x: (-x - np.log(1 - x) * 0.1, -1 + 0.1 / (1 - x)) if x < 1 else (np.nan, np.nan),
    "exponential": lambda x: (np.exp(20 * x) - 40 * x, 20 * np.exp(20 * x) - 40),
}


@pytest.mark.parametrize("first", [1e-3, 0.1, 1.0, 10.0, 1e3])
@pytest.mark.parametrize("name", ["rational", "power", "barrier", "exponential"])
def test_a_line_search_returns_a_strong_wolfe_step(name, first):
    def evaluate(x):
        with np.errstate(over="ignore"):
            value, slope = FUNCTIONS[name](x)
        return Trial(x, float(value), float(slope), np.zeros(1))

    start = evaluate(0.0)
    trial = strong_wolfe(evaluate, start, first, 40, 1e-16, 0.0)
    assert trial.value <= start.value + 1e-4 * trial.length * start.slope
    assert abs(trial.slope) <= 0.9 * abs(start.slope)
    assert trial.length > 0


def test_a_line_search_without_a_better_trial_returns_the_start():
    def evaluate(x):
        return Trial(x, 1.0 + x, -1.0, np.zeros(1))

    assert strong_wolfe(evaluate, evaluate(0.0), 1.0, 10, 1e-16, 0.0).length == 0


def test_without_a_line_search_steps_have_fixed_lengths():
    x, lr = np.array([1.0, -2.0]), 0.5
    w = Parameter(Tensor(x), name="w")
    optimizer = nn.LBFGS([w], lr, max_iter=2, line_search_fn=None)
    optimizer.step(lambda: (w * w * Tensor([1.0, 3.0])).sum())
    scale = np.array([2.0, 6.0])
    g = scale * x
    s = -lr * min(1, 1 / np.abs(g).sum()) * g
    pairs = [(s, scale * s)]
    x = x + s
    assert_close(w, x - lr * _times_inverse_hessian(pairs, scale * x), kind="program")


def test_a_trial_outside_the_domain_shortens_the_step():
    w = Parameter(Tensor(np.array([0.5])), name="w")
    optimizer = nn.LBFGS([w], 100.0, tolerance_grad=1e-15, tolerance_change=0.0)
    for _ in range(3):
        optimizer.step(lambda: (w - ops.log(w)).sum())
    assert_close(w, [1.0], kind="program")


def test_a_search_without_success_restores_the_parameters():
    w = Parameter(Tensor(np.array([0.5])), name="w")
    optimizer = nn.LBFGS([w], 100.0, max_eval=2)
    optimizer.step(lambda: (w - ops.log(w)).sum())
    assert_close(w, [0.5])
    assert int(optimizer.pair_count) == 0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_loss_that_is_not_finite_changes_nothing(value):
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    optimizer = nn.LBFGS([w])
    assert not np.isfinite(float(optimizer.step(lambda x: (w * x).sum(), Tensor(value))))
    assert_close(w, [1.0, 2.0])
    assert int(optimizer.pair_count) == 0


@pytest.mark.parametrize("kind", [nn.LBFGS, nn.NewtonCG])
@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float64])
def test_the_loss_may_have_another_dtype(dtype, kind):
    w = Parameter(Tensor([1.0, -2.0]), name="w")
    optimizer = kind([w])
    assert optimizer.step(lambda: (w.astype(dtype) ** 2).sum()).dtype is dtype
    assert np.abs(w.asnumpy()).max() < 0.01


@pytest.mark.parametrize("most", [2, 3, 7])
def test_max_eval_limits_the_evaluations(most, evaluations):
    w = Parameter(Tensor(np.tile([-1.2, 1.0], 5)), name="w")
    nn.LBFGS([w], max_eval=most).step(lambda: rosenbrock(w))
    assert len(evaluations) == most
    assert_close(rosenbrock(w.value()), min(evaluations), kind="program")


def test_the_oldest_pairs_are_removed():
    w = Parameter(Tensor(np.tile([-1.2, 1.0], 2)), name="w")
    optimizer = nn.LBFGS([w], max_iter=5, history_size=3)
    optimizer.step(lambda: rosenbrock(w))
    assert int(optimizer.pair_count) == 3
    newest = optimizer.steps.asnumpy()[2].copy()
    optimizer.max_iter = 1
    optimizer.step(lambda: rosenbrock(w))
    assert_close(optimizer.steps.asnumpy()[1], newest)


def network(dtype):
    ms.set_seed(0)
    return nn.SequentialCell(nn.Dense(2, 8, activation="tanh", dtype=dtype), nn.Dense(8, 1, dtype=dtype))


@MODES
@pytest.mark.parametrize("dtype", [ms.float32, ms.float64])
def test_a_checkpoint_resumes_exactly(dtype, mode, tmp_path):
    ms.set_context(mode=mode)
    x = Tensor(np.random.default_rng(1).normal(size=(20, 2)), dtype)
    path = str(tmp_path / "state.ckpt")

    def trained(net, optimizer, count):
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
        return [float(step(x, ops.sin(3 * x[:, :1]))) for _ in range(count)]

    net = network(dtype)
    optimizer = nn.LBFGS(net.trainable_params(), max_iter=4)
    losses = trained(net, optimizer, 3)
    ms.save_checkpoint(optimizer, path)
    losses += trained(net, optimizer, 3)
    fresh = network(dtype)
    other = nn.LBFGS(fresh.trainable_params(), max_iter=4)
    ms.load_param_into_net(other, ms.load_checkpoint(path))
    assert trained(fresh, other, 3) == losses[3:]
    assert losses[-1] < 0.5 * losses[0]
    for one, same in zip(optimizer.get_parameters(), other.get_parameters(), strict=True):
        assert one.asnumpy().tobytes() == same.asnumpy().tobytes()


@MODES
def test_model_trains_with_lbfgs(mode):
    ms.set_context(mode=mode)
    x = np.random.default_rng(2).normal(size=(16, 3)).astype(np.float32)
    y = x @ np.array([[1.0], [-2.0], [0.5]], np.float32) + 1
    net = nn.Dense(3, 1)
    data = ms.dataset.NumpySlicesDataset((x, y), shuffle=False).batch(16)
    ms.train.Model(net, nn.MSELoss(), nn.LBFGS(net.trainable_params())).train(2, data)
    assert_close(net.weight, [[1.0, -2.0, 0.5]], kind="program")
    assert_close(net.bias, [1.0], kind="program")


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (dict(line_search_fn="armijo"), ValueError, "'strong_wolfe' or None"),
        (dict(max_iter=0), ValueError, "'max_iter'"),
        (dict(max_eval=1), ValueError, "'max_eval'"),
        (dict(history_size=0), ValueError, "'history_size'"),
        (dict(tolerance_grad=-1.0), ValueError, "'tolerance_grad'"),
        (dict(tolerance_change="small"), TypeError, "'tolerance_change'"),
        (dict(learning_rate=-1.0), ValueError, "'learning_rate'"),
    ],
)
def test_bad_arguments(options, error, text):
    with pytest.raises(error, match=text):
        nn.LBFGS([Parameter(Tensor([1.0]), name="w")], **options)


@pytest.mark.parametrize("kind", [nn.LBFGS, nn.NewtonCG])
def test_groups_and_half_parameters_raise(kind):
    w, half = Parameter(Tensor([1.0]), name="w"), Parameter(Tensor([1.0], ms.float16), name="half")
    with pytest.raises(ValueError, match="but got parameter groups"):
        kind([{"params": [w]}])
    with pytest.raises(TypeError, match="'half' must have the dtype float32 or float64, but got Float16"):
        kind([w, half])
