"""``odeint``: its values against scipy.integrate.solve_ivp, its derivatives against differences of these."""

import numpy as np
import pytest
import scipy

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from tests.tolerances import assert_close

RATES = np.array([1.5, 1.0, 1.0, 3.0])
START = np.array([10.0, 5.0])
TIMES = np.array([0.0, 0.3, 1.0, 1.7])
FINE = {"rtol": 1e-8, "atol": 1e-10}


@pytest.fixture(autouse=True)
def eager():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


def double(x):
    return Tensor(np.asarray(x, np.float64))


def slopes(y, p):
    """Of prey and predators (Lotka and Volterra)."""
    return [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]]


def predators(y, t, p):
    return ops.stack(slopes(y, p))


def reference(start, rates, times):
    run = scipy.integrate.solve_ivp(
        lambda t, y: slopes(y, rates), (times[0], times[-1]), start, t_eval=times, rtol=1e-12, atol=1e-12
    )
    return run.y.T


def loss(start, rates, times, adjoint=False):
    return (ms.odeint(predators, start, times, rates, adjoint=adjoint, **FINE) ** 2).sum()


def differences():
    def value(*given):
        return (reference(*given) ** 2).sum()

    given = [START, RATES, TIMES]
    for k, x in enumerate(given):
        steps = 1e-5 * np.eye(len(x))
        moved = [[*given[:k], x + s * d, *given[k + 1 :]] for d in steps for s in (1, -1)]
        values = np.array([value(*each) for each in moved]).reshape(-1, 2)
        yield (values[:, 0] - values[:, 1]) / 2e-5


def test_values_agree_with_scipy():
    times = np.linspace(0, 3, 31)
    found, info = ms.odeint(predators, double(START), double(times), double(RATES), has_aux=True, **FINE)
    np.testing.assert_allclose(found.asnumpy(), reference(START, RATES, times), rtol=1e-6, atol=1e-7)
    assert info.converged.item()
    assert info.steps.item() < 150


def test_a_step_and_its_dense_output_are_those_of_scipy():
    """One accepted step of the same length gives the same state, and the same states within it."""
    times = np.array([0.0, 0.01, 0.02, 0.04])
    run = scipy.integrate.solve_ivp(
        lambda t, y: slopes(y, RATES), (0, 0.04), START, t_eval=times, rtol=1, atol=1, first_step=0.04
    )
    found = ms.odeint(predators, double(START), double(times), double(RATES), rtol=1, atol=1, has_aux=True)
    assert found[1].steps.item() == 1
    assert_close(found[0], run.y.T, kind="program")


def test_the_order_is_five():
    """The error of an interval of one step falls like the sixth power of its length."""

    def error(length):
        y = ms.odeint(lambda y, t: y, double([1.0]), double([1.0, 1 + length]), rtol=1e3, atol=1e3)
        return abs(y.asnumpy()[-1, 0] - np.exp(length))

    order = np.log2(error(0.4) / error(0.2))
    assert 5.5 < order < 6.6


@pytest.mark.parametrize("adjoint", [False, True])
def test_gradients_in_state_rates_and_times(adjoint):
    run = ms.grad(lambda y, p, t: loss(y, p, t, adjoint), (0, 1, 2))
    given = double(START), double(RATES), double(TIMES)
    for found, expected in zip(run(*given), differences(), strict=True):
        np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-4)


def test_the_compiled_gradient_is_the_eager_one():
    """Compiled, the loop is one `while` within one `scan`, and its gradient another."""
    given = double(START), double(RATES), double(TIMES)
    run = ms.value_and_grad(loss, (0, 1, 2))
    value, eager = run(*given)
    compiled_value, compiled = ms.jit(run)(*given)
    assert_close(compiled_value, value, kind="program")
    for x, y in zip(compiled, eager, strict=True):
        assert_close(x, y, kind="program", each=True)


def decay(rate, adjoint=False):
    times = double([0.0, 0.5, 1.0])
    return ms.odeint(lambda y, t: -rate * y, double([1.0]), times, rtol=1e-9, atol=1e-12, adjoint=adjoint)[
        -1, 0
    ]


@pytest.mark.parametrize("adjoint", [False, True])
def test_second_derivatives(adjoint):
    second = ms.grad(ms.grad(lambda rate: decay(rate, adjoint)))
    np.testing.assert_allclose(second(double(2.0)).item(), np.exp(-2), rtol=1e-7)


def test_forward_mode_and_batches():
    out, slope = ms.jvp(decay, double(2.0), double(1.0))
    np.testing.assert_allclose([out.item(), slope.item()], [np.exp(-2), -np.exp(-2)], rtol=1e-8)
    rates = np.array([1.0, 2.0, 30.0])
    np.testing.assert_allclose(ms.vmap(decay)(double(rates)).asnumpy(), np.exp(-rates), rtol=1e-7, atol=1e-11)


class Swing(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stiffness = Parameter(double(4.0), name="stiffness")

    def construct(self, y, t):
        return {"x": y["v"], "v": -self.stiffness * y["x"]}


class Position(nn.Cell):
    def __init__(self, adjoint):
        super().__init__()
        self.swing, self.adjoint = Swing(), adjoint

    def construct(self, end):
        start = {"x": double(1.0), "v": double(0.0)}
        times = ops.stack([end * 0, end])
        return ms.odeint(self.swing, start, times, adjoint=self.adjoint, **FINE)["x"][-1]


@pytest.mark.parametrize("adjoint", [False, True])
def test_weights_of_a_cell_and_a_state_of_several_tensors(adjoint):
    """x = cos(√k t)."""
    net = Position(adjoint)
    x, (of_end, (of_stiffness,)) = ms.value_and_grad(net, 0, net.trainable_params())(double(1.3))
    expected = [np.cos(2.6), -2 * np.sin(2.6), -np.sin(2.6) * 1.3 / 4]
    np.testing.assert_allclose([x.item(), of_end.item(), of_stiffness.item()], expected, rtol=1e-6)


def test_falling_and_repeated_times_and_float32():
    y = ms.odeint(lambda y, t: y, Tensor([1.0, 2.0]), Tensor([2, 1, 1, 0]))
    assert y.dtype is ms.float32
    expected = np.exp(-np.array([0.0, 1, 1, 2]))[:, None] * [1, 2]
    np.testing.assert_allclose(y.asnumpy(), expected, rtol=1e-3)


def test_the_slope_is_not_asked_for_beyond_the_last_time():
    y = ms.odeint(lambda y, t: ops.sqrt(1 - t) + 0 * y, double([0.0]), double([0.0, 1.0]))
    np.testing.assert_allclose(y.asnumpy()[-1], 2 / 3, rtol=1e-5)


@pytest.mark.parametrize(
    ("slope", "options"),
    [(lambda y, t: y * y, {}), (lambda y, t: -1e3 * (y - ops.cos(t)), {"max_steps": 20})],
)
def test_what_is_not_reached_is_nan_and_says_so(slope, options):
    y, info = ms.odeint(slope, double([1.0]), double([0.0, 1e-3, 2.0]), has_aux=True, **options)
    assert np.isfinite(y.asnumpy()[:2]).all()
    assert np.isnan(y.asnumpy()[2:]).all()
    assert not info.converged.item()


ONE, TIME = Tensor([1.0, 2.0]), Tensor([0.0, 1.0])
ERRORS = [
    (lambda: ms.odeint(1, ONE, TIME), TypeError, "callable"),
    (lambda: ms.odeint(lambda y, t: y, 1.0, TIME), TypeError, "y0 must be a Tensor"),
    (lambda: ms.odeint(lambda y, t: y, ONE, Tensor(1.0)), ValueError, "1-D, but got the shape"),
    (lambda: ms.odeint(lambda y, t: y, ONE, 1.0), TypeError, "or list, but got float"),
    (
        lambda: ms.odeint(lambda y, t: y, ONE, Tensor([0.0, 1.0, 0.5])),
        ValueError,
        r"monotonic, but got \[0\.  1\.  0\.5\]",
    ),
    (
        lambda: ms.odeint(lambda t, y: -y, ONE, TIME),
        ValueError,
        r"'f\(y, t\)' must return .* shape \(\) instead",
    ),
    (lambda: ms.odeint(lambda y, t: y.sum(), ONE, TIME), ValueError, r"the shape \(\) instead of \(2,\)"),
    (
        lambda: ms.odeint(lambda y, t: y.astype(ms.float64), ONE, TIME),
        TypeError,
        "Float64 instead of Float32",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_the_compiled_adjoint():
    found = ms.jit(ms.grad(lambda rate: decay(rate, adjoint=True)))(double(2.0))
    np.testing.assert_allclose(found.item(), -np.exp(-2), rtol=1e-7)


def test_a_step_that_leaves_the_domain_is_tried_again_shorter():
    """The slope is NaN there: y = (√y₀ − t)² for y' = −2 √y."""

    def end(y):
        y, info = ms.odeint(lambda y, t: -2 * ops.sqrt(y), y, double([0.0, 0.9]), has_aux=True, rtol=1e-3)
        return y[-1].sum(), info.rejected

    start = np.array([1.0, 1.2])
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        (value, rejected), slope = ms.value_and_grad(end, has_aux=True)(double(start))
        assert rejected.item() > 0
        np.testing.assert_allclose(value.item(), ((np.sqrt(start) - 0.9) ** 2).sum(), rtol=0.02)
        np.testing.assert_allclose(slope.asnumpy(), 1 - 0.9 / np.sqrt(start), rtol=0.02)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_the_adjoint_has_no_integral_for_indices_and_integrals_of_its_own_type_for_the_rest(mode):
    """The function uses integers (the edges of a graph), Float32 and complex weights; the state is Float64."""
    ms.set_context(mode=mode)
    edges = Tensor([1, 2, 0])

    def end(stiffness, phase, adjoint):
        def slope(y, t):
            return stiffness.astype(ms.float64) * (y[edges] - y) + (phase * phase * (y[0] + 1j * y)).real()

        return ms.odeint(slope, double([1.0, 2.0, 4.0]), double([0.0, 0.5]), adjoint=adjoint, **FINE)[-1, 1]

    arguments = Tensor(0.7), Tensor(0.3 + 0.4j, ms.complex128)
    adjoint, direct = (
        ms.grad(lambda *given, kind=kind: end(*given, kind), (0, 1))(*arguments) for kind in (True, False)
    )
    for a, b in zip(adjoint, direct, strict=True):
        assert a.dtype is b.dtype
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize("adjoint", [False, True])
def test_complex_states(mode, adjoint):
    """A spin in a magnetic field, dψ/dt = −i (a X + b Z) ψ, and what was measured of it beside."""
    ms.set_context(mode=mode)
    flip = Tensor(np.array([[0, 1], [1, 0]], np.complex128))

    def run(a, end):
        def slope(state, t):
            psi, _ = state
            return -1j * a * ops.matmul(flip, psi), (psi.conj() * psi).real()[1]

        start = Tensor(np.array([1, 0], np.complex128)), double(0.0)
        psi, occupied = ms.odeint(slope, start, ops.stack([end * 0, end / 2, end]), adjoint=adjoint, **FINE)
        assert psi.shape == (3, 2)
        assert psi.dtype is ms.complex128
        return (psi[-1].conj() * psi[-1]).real()[0] + occupied[-1]

    a, end = 0.8, 1.3
    value, slopes = ms.value_and_grad(run, (0, 1))(double(a), double(end))
    phase = 2 * a * end  # cos²(at) + t/2 − sin(2at)/4a
    np.testing.assert_allclose(
        value.item(), np.cos(a * end) ** 2 + end / 2 - np.sin(phase) / (4 * a), rtol=1e-7
    )
    of_a = -end * np.sin(phase) - end * np.cos(phase) / (2 * a) + np.sin(phase) / (4 * a * a)
    of_end = -a * np.sin(phase) + 0.5 - np.cos(phase) / 2
    np.testing.assert_allclose([s.item() for s in slopes], [of_a, of_end], rtol=1e-6)
