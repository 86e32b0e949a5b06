"""``nn.GaussNewton`` and ``nn.LevenbergMarquardt``: solutions, both spaces, checkpoints, and errors."""

import numpy as np
import pytest
import scipy.optimize

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.curvature.residuals import DenseSystem, DeviceSystem, ProductSystem, Residuals
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
BOTH = pytest.mark.parametrize("optimizer", [nn.GaussNewton, nn.LevenbergMarquardt])


def parameter(values, name="w"):
    return Parameter(Tensor(np.array(values, np.float64)), name=name)


def linear_problem(rows, columns, seed=0):
    generator = np.random.default_rng(seed)
    matrix, b = generator.normal(size=(rows, columns)), generator.normal(size=rows)
    w = parameter(generator.normal(size=columns))
    return matrix, b, w, lambda: Tensor(matrix) @ w - Tensor(b)


def minimized(optimizer, function, steps, *args):
    losses = [float(optimizer.step(function, *args)) for _ in range(steps)]
    assert losses == sorted(losses, reverse=True)
    return losses


# -- linear residuals -----------------------------------------------------------------------------


@MODES
@pytest.mark.parametrize(("rows", "columns"), [(9, 4), (4, 9)])
@pytest.mark.parametrize("memory", [1.0, 2.0**20])
def test_one_gauss_newton_step_solves_the_damped_system(mode, rows, columns, memory):
    ms.set_context(mode=mode)
    matrix, b, w, residuals = linear_problem(rows, columns)
    start = w.asnumpy()
    nn.GaussNewton([w], damping=0.3, memory=memory).step(residuals)
    normal = matrix.T @ matrix + 0.3 * np.eye(columns)
    expected = start - np.linalg.solve(normal, matrix.T @ (matrix @ start - b))
    assert_close(w, expected, kind="program")


def test_a_step_without_damping_is_the_least_squares_solution():
    matrix, b, w, residuals = linear_problem(9, 4)
    loss = nn.GaussNewton([w], damping=0.0).step(residuals)
    assert_close(w, np.linalg.lstsq(matrix, b)[0], kind="program")
    assert (loss.dtype, loss.shape) == (ms.float64, ())


@pytest.mark.parametrize(("rows", "columns"), [(9, 4), (4, 9)])
def test_systems_in_both_spaces_and_with_products_agree(rows, columns):
    matrix, b, w, residuals = linear_problem(rows, columns)
    systems = [Residuals("test", residuals, (), [w], memory).linearize() for memory in (2**20, 1)]
    assert [type(system) for system in systems] == [DenseSystem, ProductSystem]
    assert systems[0].in_residual_space == (rows < columns)
    blocks = [Tensor(matrix[:, :1]), Tensor(matrix[:, 1:])]
    systems.append(DeviceSystem(matrix @ w.asnumpy() - b, blocks))
    y, v = np.random.default_rng(1).normal(size=rows), np.random.default_rng(2).normal(size=columns)
    expected = np.linalg.solve(matrix.T @ matrix + 0.1 * np.eye(columns), matrix.T @ y)
    for system in systems:
        assert_close(system.solver(0.1)(y), expected, kind="program")
        assert_close(system.image(v), matrix @ v, kind="program")
        assert_close(system.gradient, matrix.T @ (matrix @ w.asnumpy() - b), kind="program")


def test_the_second_derivative_of_residuals_along_a_direction():
    w, v = parameter([0.3, -0.7]), parameter([[1.1], [0.4]], "v")
    x = Tensor(np.array([0.2, 1.3, -0.4]))
    residuals = Residuals("test", lambda: (ops.sin(w[0] * x) * v[0], (v * w[1]).exp()), (), [w, v], 2**20)
    direction = np.array([0.5, -1.0, 2.0, 0.25])
    start, step = residuals.current(), 1e-4
    values = [residuals.at(start + s * step * direction) for s in (-1, 0, 1)]
    residuals.at(start)
    expected = (values[0] - 2 * values[1] + values[2]) / step**2
    assert_close(residuals.second_derivative(direction), expected, kind="difference")


def test_momentum_keeps_the_part_of_the_last_step_that_new_residuals_do_not_determine():
    # SPRING: the step minimizes ‖Jδ − r‖² + λ ‖δ − μφ‖²
    first, second = linear_problem(3, 6, 1)[:2], linear_problem(3, 6, 2)[:2]
    w = parameter(np.zeros(6))
    optimizer = nn.GaussNewton([w], learning_rate=0.5, damping=0.2, momentum=0.9, line_search=False)
    residuals = lambda matrix, b: matrix @ w - b
    x, former = np.zeros(6), np.zeros(6)
    for matrix, b in (first, second, first):
        optimizer.step(residuals, Tensor(matrix), Tensor(b))
        kept = 0.9 * former
        normal = matrix.T @ matrix + 0.2 * np.eye(6)
        former = kept + np.linalg.solve(normal, matrix.T @ (matrix @ x - b - matrix @ kept))
        x = x - 0.5 * former
        assert_close(w, x, kind="program")


# -- nonlinear residuals --------------------------------------------------------------------------


def rosenbrock(w):
    return 10.0 * (w[1] - w[0] ** 2), 1.0 - w[0]


def powell(w):
    return (
        w[0] + 10.0 * w[1],
        5.0**0.5 * (w[2] - w[3]),
        (w[1] - 2.0 * w[2]) ** 2,
        10.0**0.5 * (w[0] - w[3]) ** 2,
    )


@MODES
@BOTH
def test_rosenbrock_residuals_vanish(mode, optimizer):
    ms.set_context(mode=mode)
    w = parameter([-1.2, 1.0])
    minimized(optimizer([w]), lambda: rosenbrock(w), 60)
    assert_close(w, [1.0, 1.0], kind="program")


@BOTH
def test_powell_residuals_vanish_although_the_jacobian_is_singular_there(optimizer):
    w = parameter([3.0, -1.0, 0.0, 1.0])
    losses = minimized(optimizer([w], damping=1e-14), lambda: powell(w), 30)
    assert losses[-1] < 1e-24


def exponentials(w, t):
    return w[0] * ops.exp(-w[1] * t) + w[2] * ops.exp(-w[3] * t)


@pytest.mark.parametrize(
    ("model", "true", "start"),
    [
        (exponentials, [1.0, 0.5, 2.0, 3.0], [1.5, 0.2, 1.0, 2.0]),
        (lambda w, t: w[0] * t / (w[1] + t) + w[2], [2.0, 0.5, 0.1], [1.0, 1.0, 0.0]),
        (lambda w, t: w[0] * ops.sin(w[1] * t + w[2]), [1.5, 2.0, 0.3], [1.0, 1.8, 0.0]),
    ],
)
def test_fits_agree_with_scipy(model, true, start):
    generator = np.random.default_rng(0)
    t = np.linspace(0.0, 4.0, 40)
    data = model(Tensor(np.array(true)), Tensor(t)).asnumpy() + 0.05 * generator.normal(size=40)
    reference = scipy.optimize.least_squares(
        lambda w: model(Tensor(w), Tensor(t)).asnumpy() - data, start, xtol=1e-14, ftol=1e-14, gtol=1e-14
    )
    w = parameter(start)
    optimizer = nn.LevenbergMarquardt([w])
    minimized(optimizer, lambda t, y: model(w, t) - y, 100, Tensor(t), Tensor(data))
    loss = float(optimizer.step(lambda: model(w, Tensor(t)) - Tensor(data)))
    assert loss <= reference.cost * (1 + 1e-12)
    assert_close(w, reference.x, kind="iteration")


def test_products_instead_of_a_matrix_reach_the_same_minimum():
    w = parameter([-1.2, 1.0])
    minimized(nn.LevenbergMarquardt([w], memory=1.0), lambda: rosenbrock(w), 60)
    assert_close(w, [1.0, 1.0], kind="program")


class Poisson:
    """The equation −Δu = f on the unit square, with u = sin(πx) sin(πy)."""

    def __init__(self, width):
        generator = np.random.default_rng(0)
        self.net = nn.SequentialCell(nn.Dense(2, width), nn.Tanh(), nn.Dense(width, 1))
        for p in self.net.get_parameters():
            p.set_dtype(ms.float64)
            p.set_data(Tensor(generator.uniform(-0.7, 0.7, p.shape)))
        inside, ends = generator.uniform(size=(40, 2)), generator.uniform(size=(16, 2))
        ends[np.arange(16), generator.integers(0, 2, 16)] = generator.integers(0, 2, 16)
        self.inside, self.ends = Tensor(inside), Tensor(ends)
        self.weights = self.net.trainable_params()

    def exact(self, x):
        return ops.sin(np.pi * x[:, 0]) * ops.sin(np.pi * x[:, 1])

    def residuals(self):
        equation = ms.laplacian(self.net)(self.inside).reshape(-1) + 2 * np.pi**2 * self.exact(self.inside)
        return equation / 10.0, self.net(self.ends)

    def error(self):
        return float((self.net(self.inside).reshape(-1) - self.exact(self.inside)).abs().max())


def test_residuals_of_a_differential_equation_vanish_in_few_steps():
    problem = Poisson(12)
    losses = minimized(nn.LevenbergMarquardt(problem.weights), problem.residuals, 40)
    assert losses[-1] < 1e-8 * losses[0]
    assert problem.error() < 1e-3


def test_acceleration_needs_fewer_steps():
    losses = []
    for acceleration in (0.0, 0.75):
        problem = Poisson(12)
        optimizer = nn.LevenbergMarquardt(problem.weights, acceleration=acceleration)
        losses.append(minimized(optimizer, problem.residuals, 25)[-1])
    assert losses[1] < 0.1 * losses[0]


def test_float32_parameters_keep_their_dtype():
    w = Parameter(Tensor(np.array([-1.2, 1.0], np.float32)), name="w")
    optimizer = nn.LevenbergMarquardt([w])
    losses = [optimizer.step(lambda: rosenbrock(w)) for _ in range(60)]
    assert w.dtype == losses[0].dtype == ms.float32
    assert_close(w, [1.0, 1.0], kind="program")


# -- training -------------------------------------------------------------------------------------


@MODES
@BOTH
def test_train_one_step_cell_takes_the_same_steps(mode, optimizer):
    ms.set_context(mode=mode)

    class Misfit(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = parameter([0.5, 0.1])

        def construct(self, x, y):
            return self.w[0] * ops.tanh(self.w[1] * x) - y

    generator = np.random.default_rng(0)
    x = generator.uniform(-1, 1, (4, 20))
    direct, trained = Misfit(), Misfit()
    by_hand, cell = optimizer([direct.w]), nn.TrainOneStepCell(trained, optimizer([trained.w]))
    for batch in x:
        data = Tensor(batch), Tensor(2.0 * np.tanh(0.7 * batch))
        assert_close(cell(*data), by_hand.step(direct, *data), kind="exact")
    assert_close(trained.w, direct.w, kind="exact")
    assert int(cell.optimizer.global_step.asnumpy()[0]) == 4


def test_model_train_minimizes_the_residuals_of_each_batch():
    class Line(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(Tensor(np.zeros(2, np.float32)), name="w")

        def construct(self, x, y):
            return self.w[0] + self.w[1] * x - y

    x = np.linspace(-1, 1, 12, dtype=np.float32)
    batches = ms.dataset.NumpySlicesDataset({"x": x, "y": 2.0 + 3.0 * x}, shuffle=False).batch(4)
    net = Line()
    ms.Model(net, optimizer=nn.LevenbergMarquardt([net.w])).train(4, batches)
    assert_close(net.w, np.array([2.0, 3.0], np.float32), kind="program")


@pytest.mark.parametrize(
    "make",
    [lambda ws: nn.GaussNewton(ws, momentum=0.8), nn.LevenbergMarquardt],
    ids=["GaussNewton", "LevenbergMarquardt"],
)
def test_a_checkpoint_resumes_exactly(make, tmp_path):
    problem = Poisson(5)
    optimizer = make(problem.weights)
    for _ in range(5):
        optimizer.step(problem.residuals)
    ms.save_checkpoint(optimizer, str(tmp_path / "state.ckpt"))
    expected = [optimizer.step(problem.residuals).asnumpy() for _ in range(4)]
    resumed = Poisson(5)
    other = make(resumed.weights)
    ms.load_param_into_net(other, ms.load_checkpoint(str(tmp_path / "state.ckpt")))
    assert [other.step(resumed.residuals).asnumpy() for _ in range(4)] == expected
    for a, b in zip(problem.weights, resumed.weights, strict=True):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())


def test_steps_with_new_data_do_not_compile_again():
    w = parameter([0.5, 0.1])
    optimizer = nn.LevenbergMarquardt([w])
    residuals = lambda x: w[0] * ops.tanh(w[1] * x) - x
    generator = np.random.default_rng(0)
    optimizer.step(residuals, Tensor(generator.normal(size=8)))
    compiled = ms.cache_info().misses
    for _ in range(3):
        optimizer.step(residuals, Tensor(generator.normal(size=8)))
    assert ms.cache_info().misses == compiled


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [2, 5])
def test_a_singular_system_without_damping_is_an_error(rows):
    w = parameter([1.0, 2.0, 3.0])
    x = Tensor(np.arange(1.0, rows + 1))
    residuals = lambda: (w[0] + w[1]) * x - w[2] * x
    with pytest.raises(ValueError, match=r"singular with damping=0\.0\. Pass a larger 'damping'"):
        nn.GaussNewton([w], damping=0.0).step(residuals)
    assert w.asnumpy().tolist() == [1.0, 2.0, 3.0]


@BOTH
def test_residuals_that_do_not_depend_on_the_parameters_are_an_error(optimizer):
    w, v = parameter([1.0]), parameter([2.0], "v")
    with pytest.raises(ValueError, match="the residuals do not depend on the Parameters"):
        optimizer([w]).step(lambda: v * 2.0)


@BOTH
def test_parameters_that_the_residuals_do_not_use_are_left_unchanged(optimizer):
    w, v = parameter([1.0]), parameter([2.0], "v")
    minimized(optimizer([w, v]), lambda: w - 3.0, 20)
    assert_close(w, [3.0], kind="program")
    assert_close(v, [2.0], kind="exact")


@BOTH
def test_integer_residuals_are_an_error(optimizer):
    w = parameter([1.0])
    with pytest.raises(TypeError, match="real floating-point numbers, but got a Tensor of dtype Int32"):
        optimizer([w]).step(lambda: ops.cast(w, ms.int32))


@BOTH
def test_residuals_that_are_nan_are_an_error(optimizer):
    w = parameter([-1.0])
    with pytest.raises(ValueError, match="a residual is infinite or NaN at the present Parameters"):
        optimizer([w]).step(lambda: ops.log(w))
    assert w.asnumpy().tolist() == [-1.0]


def test_a_step_to_nan_is_rejected():
    w = parameter([1.0])
    optimizer = nn.LevenbergMarquardt([w], damping=1e-8, acceleration=0.0)
    minimized(optimizer, lambda: ops.log(w) + 5.0, 60)  # the first steps lead to negative numbers
    assert_close(w, [np.exp(-5.0)], kind="program")


def test_nan_for_every_damping_is_an_error():
    w = parameter([1.0])
    optimizer = nn.LevenbergMarquardt([w])
    with pytest.raises(ValueError, match="infinite or NaN after steps of any length"):
        optimizer.step(lambda: ops.where(w == 1.0, w, w * np.nan))
    assert w.asnumpy().tolist() == [1.0]
    assert float(optimizer.damping.asnumpy()[0]) == 1e-2


def test_a_minimum_is_left_unchanged():
    w = parameter([2.0])
    optimizer = nn.LevenbergMarquardt([w])
    assert float(optimizer.step(lambda: ops.stack([w - 1.0, w - 3.0]))) == 1.0
    assert w.asnumpy().tolist() == [2.0]
    assert float(optimizer.damping.asnumpy()[0]) == 1e-2


@pytest.mark.parametrize(
    ("optimizer", "options", "message"),
    [
        (nn.GaussNewton, dict(damping=-1.0), "the 'damping' must be at least 0"),
        (nn.GaussNewton, dict(momentum=1.0), "the 'momentum' must be less than 1"),
        (nn.GaussNewton, dict(memory=0), "the 'memory' must be greater than 0"),
        (nn.LevenbergMarquardt, dict(damping=0.0), "the 'damping' must be greater than 0"),
        (nn.LevenbergMarquardt, dict(increase=1.0), "the 'increase' must be greater than 1"),
        (nn.LevenbergMarquardt, dict(decrease=0.5), "the 'decrease' must be at least 1"),
        (nn.LevenbergMarquardt, dict(acceleration=-1), "the 'acceleration' must be at least 0"),
    ],
)
def test_options_out_of_range_are_errors(optimizer, options, message):
    with pytest.raises(ValueError, match=message):
        optimizer([parameter([1.0])], **options)


@BOTH
def test_a_call_with_gradients_is_an_error(optimizer):
    w = parameter([1.0])
    with pytest.raises(TypeError, match="cannot be called with gradients"):
        optimizer([w])((Tensor(np.ones(1)),))


@BOTH
def test_a_scalar_is_an_error_because_it_may_be_a_loss(optimizer):
    w = parameter([1.0, 2.0])
    with pytest.raises(ValueError, match="it returned a scalar, which may be a loss"):
        optimizer([w]).step(lambda: (w * w).sum())
    optimizer([w]).step(lambda: (w * w).sum().reshape(1))
