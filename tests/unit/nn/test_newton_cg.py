"""``nn.NewtonCG``: minima, negative curvature, checkpoints, and errors."""

import numpy as np
import pytest
import scipy.optimize

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.nn.optim.closure import FlatFunction
from mindgrad.nn.optim.newton_cg import _conjugate_gradients, _last_point
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])


def rosenbrock(w):
    return (100.0 * (w[1:] - w[:-1] ** 2) ** 2 + (1.0 - w[:-1]) ** 2).sum()


@pytest.fixture
def products(monkeypatch):
    """The vectors of all Hessian-vector products."""
    vectors, product = [], FlatFunction.product

    def counted(self, direction):
        vectors.append(direction)
        return product(self, direction)

    monkeypatch.setattr(FlatFunction, "product", counted)
    return vectors


@MODES
def test_rosenbrock_needs_no_more_products_than_scipy(mode, products):
    ms.set_context(mode=mode)
    start = np.tile([-1.2, 1.0], 5)
    w = Parameter(Tensor(start), name="w")
    loss = nn.NewtonCG([w], max_iter=500, tolerance_grad=1e-10).step(lambda: rosenbrock(w))
    counts = []

    def product(x, v):
        counts.append(v)
        return scipy.optimize.rosen_hess_prod(x, v)

    scipy.optimize.minimize(
        scipy.optimize.rosen, start, jac=scipy.optimize.rosen_der, hessp=product, method="trust-ncg",
        options=dict(gtol=1e-10),
    )  # fmt: skip
    assert_close(loss, scipy.optimize.rosen(start))
    assert_close(w, np.ones(10), kind="program")
    assert len(products) <= len(counts)


def test_a_quadratic_of_several_parameters():
    generator = np.random.default_rng(0)
    root = generator.normal(size=(6, 6))
    matrix, b = root @ root.T + np.eye(6), generator.normal(size=6)
    v, w = Parameter(Tensor(np.zeros((2, 2))), name="v"), Parameter(Tensor(np.zeros(2)), name="w")
    optimizer = nn.NewtonCG([v, w], tolerance_grad=1e-14)

    def energy():
        x = ops.concat((v.reshape(-1), w))
        return 0.5 * (x * (Tensor(matrix) @ x)).sum() - (Tensor(b) * x).sum()

    optimizer.step(energy)
    x = np.concatenate([v.asnumpy().ravel(), w.asnumpy()])
    assert_close(x, np.linalg.solve(matrix, b), kind="program")


@MODES
def test_negative_curvature_leads_away_from_a_saddle_point(mode):
    ms.set_context(mode=mode)
    w = Parameter(Tensor(np.array([0.5, 1e-8, 0.0])), name="w")
    optimizer = nn.NewtonCG([w], max_iter=1, initial_radius=0.25)
    energy = lambda: w[0] ** 2 + w[1] ** 4 - 2 * w[1] ** 2 + (w[2] - 1) ** 2
    losses = []
    for _ in range(30):
        before = w.asnumpy()
        losses.append(float(optimizer.step(energy)))
        assert np.linalg.norm(w.asnumpy() - before) <= optimizer.max_radius
    assert losses == sorted(losses, reverse=True)
    assert_close(w, [0.0, 1.0, 1.0], kind="program")


def test_the_first_step_follows_the_steepest_descent_to_the_boundary():
    w = Parameter(Tensor(np.array([3.0, 4.0])), name="w")
    nn.NewtonCG([w], max_iter=1, initial_radius=0.5).step(lambda: -(w * w).sum())
    assert_close(w, [3.3, 4.4])


@pytest.mark.parametrize("radius", [10.0, 1.0, 0.3, 0.01])
@pytest.mark.parametrize("shift", [-3.0, 0.5])
def test_a_shorter_step_follows_the_same_path(radius, shift):
    generator = np.random.default_rng(1)
    root = generator.normal(size=(5, 5))
    matrix, gradient = root @ root.T + shift * np.eye(5), generator.normal(size=5)
    path = _conjugate_gradients(lambda v: matrix @ v, gradient, 10.0, 5)
    step, decrease = _last_point(path, radius)
    same, _ = _last_point(_conjugate_gradients(lambda v: matrix @ v, gradient, radius, 5), radius)
    assert_close(step, same, kind="program")
    assert_close(decrease, -(gradient @ step + 0.5 * step @ matrix @ step), kind="program")
    assert np.linalg.norm(step) <= radius * (1 + 1e-12)


def test_a_rejected_step_needs_no_further_products(products):
    w = Parameter(Tensor(np.array([2.0, 0.1])), name="w")
    optimizer = nn.NewtonCG([w], max_iter=1, initial_radius=100.0)
    energy = lambda: ops.sum(ops.log(1 + w * w)) + 1e-3 * ops.sum(w**4)  # negative curvature at 2
    optimizer.step(energy)
    count = len(products)
    assert float(optimizer.radius) == 25.0
    assert_close(w, [2.0, 0.1])
    optimizer.max_iter = 3
    optimizer.step(energy)
    assert float(optimizer.radius) < 25.0
    assert len(products) == 2 * count


def test_a_trial_outside_the_domain_shrinks_the_radius():
    w = Parameter(Tensor(np.array([0.01])), name="w")
    optimizer = nn.NewtonCG([w], initial_radius=100.0, max_iter=100, tolerance_grad=1e-12)
    optimizer.step(lambda: (w - ops.log(w)).sum())
    assert_close(w, [1.0], kind="program")


def test_a_loss_that_is_not_finite_changes_nothing():
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    optimizer = nn.NewtonCG([w])
    assert np.isnan(float(optimizer.step(lambda x: (w * x).sum(), Tensor(np.nan))))
    assert_close(w, [1.0, 2.0])
    assert float(optimizer.radius) == 1.0


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
    optimizer = nn.NewtonCG(net.trainable_params(), max_iter=3)
    losses = trained(net, optimizer, 3)
    ms.save_checkpoint(optimizer, path)
    losses += trained(net, optimizer, 3)
    fresh = network(dtype)
    other = nn.NewtonCG(fresh.trainable_params(), max_iter=3)
    ms.load_param_into_net(other, ms.load_checkpoint(path))
    assert trained(fresh, other, 3) == losses[3:]
    assert losses[-1] < 0.5 * losses[0]
    for one, same in zip(optimizer.get_parameters(), other.get_parameters(), strict=True):
        assert one.asnumpy().tobytes() == same.asnumpy().tobytes()


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (dict(max_iter=0), ValueError, "'max_iter'"),
        (dict(max_cg_iter=1.5), TypeError, "'max_cg_iter'"),
        (dict(initial_radius=0.0), ValueError, "'initial_radius'"),
        (dict(max_radius=0.5), ValueError, "'max_radius' must be at least the 'initial_radius'"),
        (dict(tolerance_grad=-1.0), ValueError, "'tolerance_grad'"),
        (dict(tolerance_change=-1.0), ValueError, "'tolerance_change'"),
    ],
)
def test_bad_arguments(options, error, text):
    with pytest.raises(error, match=text):
        nn.NewtonCG([Parameter(Tensor([1.0]), name="w")], **options)
