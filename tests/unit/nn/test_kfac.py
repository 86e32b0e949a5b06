"""``nn.KFAC``: steps against formulas, residuals of equations, classification, checkpoints, and errors."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])


def net_of(*widths, seed=0, dtype=ms.float64, activation=nn.Tanh):
    """A network of Dense layers with weights from a seed."""
    generator = np.random.default_rng(seed)
    layers = []
    for rows, columns in itertools.pairwise(widths):
        dense = nn.Dense(rows, columns)
        for weight in (dense.weight, dense.bias):
            weight.set_dtype(dtype)
            weight.set_data(Tensor(generator.uniform(-1, 1, weight.shape) / np.sqrt(rows), dtype))
        layers += [dense, activation()]
    return nn.SequentialCell(*layers[:-1])


def classification(count=60, dtype=np.float32):
    generator = np.random.default_rng(1)
    x = generator.standard_normal((count, 4)).astype(dtype)
    return Tensor(x), Tensor(x[:, :3].argmax(1).astype(np.int32))


def poisson():
    """Residuals of −u″ = π² sin(π x) on (0, 1), and the error of the network."""
    net = net_of(1, 16, 1)
    x = Tensor(np.linspace(0, 1, 30)[:, None])
    ends = Tensor(np.array([[0.0], [1.0]]))
    exact = np.sin(np.pi * x.asnumpy())
    source = Tensor(np.pi**2 * exact[:, 0])
    return (
        net,
        lambda: (ms.laplacian(net)(x) + source, 10 * net(ends)),
        lambda: abs(net(x).asnumpy() - exact).max(),
    )


@MODES
def test_step_of_linear_model_is_newton_step(mode):
    ms.set_context(mode=mode)
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((12, 4)), generator.standard_normal((12, 3))
    w = Parameter(Tensor(generator.standard_normal((4, 3))), name="w")
    before = w.asnumpy()
    optimizer = nn.KFAC([w], damping=0.0)
    loss = optimizer.step(lambda x, y: x @ w - y, Tensor(x), Tensor(y))
    assert_close(loss, 0.5 * np.sum((x @ before - y) ** 2))
    assert_close(w, np.linalg.lstsq(x, y, rcond=None)[0], "ill-conditioned")


@pytest.mark.parametrize("quadratic", [False, True])
def test_step_of_network_follows_formula(quadratic):
    """y = V tanh(W x): the blocks are Σ_n x xᵀ ⊗ Σ_n g gᵀ / N, for both equations."""
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((9, 20)), generator.standard_normal((9, 2))
    first, second = generator.standard_normal((30, 20)) / 5, generator.standard_normal((2, 30)) / 5
    w, v = Parameter(Tensor(first), name="w"), Parameter(Tensor(second), name="v")
    damping, rate = 0.3, 0.125
    optimizer = nn.KFAC(
        [w, v],
        rate if not quadratic else 1.0,
        damping,
        momentum=0.0,
        quadratic_model=quadratic,
        line_search=False,
    )
    optimizer.step(lambda: ops.tanh(Tensor(x) @ w.T) @ v.T - Tensor(y))

    h = np.tanh(x @ first.T)
    r = h @ second.T - y
    slope = 1 - h**2
    g = np.einsum("co,nc->no", second, r) * slope
    gradients = [np.einsum("no,ni->oi", g, x), r.T @ h]
    left = np.einsum("nco,ncp->op", second * slope[:, None], second * slope[:, None])
    blocks = [np.kron(left / 9, x.T @ x), np.kron(np.eye(2), h.T @ h)]
    step = [
        -np.linalg.solve(b + damping * np.eye(len(b)), s.ravel()).reshape(s.shape)
        for b, s in zip(blocks, gradients, strict=True)
    ]
    if quadratic:
        image = np.einsum("nco,oi,ni->nc", second * slope[:, None], step[0], x) + h @ step[1].T
        flat, slopes = (np.concatenate([part.ravel() for part in parts]) for parts in (step, gradients))
        rate = -(flat @ slopes) / (np.sum(image**2) + damping * flat @ flat)
    assert_close(w, first + rate * step[0], "ill-conditioned")
    assert_close(v, second + rate * step[1], "ill-conditioned")


def test_momentum_and_factor_averages():
    """The second step uses the average of both matrices, and adds the first step."""
    a, b = np.diag([1.0, 2.0]), np.diag([3.0, 4.0])
    w = Parameter(Tensor(np.array([[1.0], [1.0]])), name="w")
    optimizer = nn.KFAC(
        [w], 0.5, damping=0.0, momentum=0.9, factor_decay=0.25, quadratic_model=False, line_search=False
    )
    optimizer.step(lambda x: x @ w, Tensor(a))
    assert_close(w, [[0.5], [0.5]])
    optimizer.step(lambda x: x @ w, Tensor(b))
    average = 0.25 * np.diag(a) ** 2 + 0.75 * np.diag(b) ** 2
    step = -0.5 * np.diag(b) ** 2 * 0.5 / average + 0.9 * -0.5
    assert_close(w, 0.5 + step[:, None])


def test_factors_are_kept_between_updates():
    w = Parameter(Tensor(np.ones((2, 1))), name="w")
    optimizer = nn.KFAC([w], update_every=2)
    for scale, count in ((1.0, 1), (5.0, 1), (3.0, 2)):
        optimizer.step(lambda x: x @ w - 1.0, Tensor(scale * np.eye(2)))
        assert int(optimizer.factor_count.asnumpy()[0]) == count


def test_line_search_decreases_loss():
    w = Parameter(Tensor(np.array([[3.0]])), name="w")
    optimizer = nn.KFAC([w], 1.0, damping=0.0, quadratic_model=False, momentum=0.0, factor_decay=0.0)
    residuals = lambda: ops.atan(w)  # a full step from 3 overshoots to −9.5
    losses = [float(optimizer.step(residuals)) for _ in range(8)]
    assert all(after <= before for before, after in itertools.pairwise(losses))
    assert losses[-1] < 1e-10


def test_damping_follows_the_model():
    w = Parameter(Tensor(np.array([[1.0]])), name="w")
    optimizer = nn.KFAC([w], damping=1.0)
    optimizer.step(lambda: w * 2.0)  # the model of a linear function is exact
    assert float(optimizer.damping.asnumpy()[0]) == 0.5


@MODES
def test_residuals_of_differential_equation(mode):
    ms.set_context(mode=mode)
    net, residuals, error = poisson()
    optimizer = nn.KFAC(net.trainable_params())
    losses = [float(optimizer.step(residuals)) for _ in range(80)]
    assert losses[-1] < 1e-4 * losses[0]
    assert error() < 0.01


@MODES
def test_modes_and_dtypes(mode):
    ms.set_context(mode=mode)
    net = net_of(4, 8, 3, dtype=ms.float32)
    x, label = classification()
    optimizer = nn.KFAC(net.trainable_params(), loss=nn.CrossEntropyLoss())
    losses = [optimizer.step(net, x, label) for _ in range(10)]
    assert losses[0].dtype == ms.float32
    assert float(losses[-1]) < 0.1 * float(losses[0])


@pytest.mark.parametrize("kind", ["exact", "monte_carlo", "empirical"])
def test_train_one_step_cell_and_model(kind):
    x, label = classification()
    net = net_of(4, 8, 3, dtype=ms.float32)
    optimizer = nn.KFAC(net.trainable_params(), kind=kind)
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
    first = float(train(x, label))
    model = ms.Model(net, nn.CrossEntropyLoss(), optimizer)
    model.train(10, [(x.asnumpy(), label.asnumpy())])
    assert float(train(x, label)) < 0.3 * first
    assert optimizer.global_step.asnumpy().tolist() == [12]


def test_checkpoint_resumes_exactly(tmp_path):
    x, label = classification()

    def prepared():
        net = net_of(4, 8, 3, dtype=ms.float32)
        optimizer = nn.KFAC(net.trainable_params(), update_every=2, kind="monte_carlo")
        return net, optimizer, nn.WithLossCell(net, nn.CrossEntropyLoss())

    _, optimizer, function = prepared()
    for _ in range(3):
        optimizer.step(function, x, label)
    path = str(tmp_path / "state.ckpt")
    ms.save_checkpoint(optimizer, path)
    expected = [float(optimizer.step(function, x, label)) for _ in range(4)]

    _, optimizer, function = prepared()
    optimizer.build(function, x, label)
    missing, _ = ms.load_param_into_net(optimizer, ms.load_checkpoint(path))
    assert missing == []
    assert [float(optimizer.step(function, x, label)) for _ in range(4)] == expected


def test_copies_continue_equally():
    x, label = classification()
    net = net_of(4, 8, 3, dtype=ms.float32)
    optimizer = nn.KFAC(net.trainable_params())
    train = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
    train(x, label)
    copies = [copy.deepcopy(train), pickle.loads(pickle.dumps(train))]
    expected = [float(train(x, label)) for _ in range(3)]
    for each in copies:
        assert [float(each(x, label)) for _ in range(3)] == expected


def test_parameters_without_kronecker_structure():
    """A scale meets no contraction, so its block is exact."""
    generator = np.random.default_rng(0)
    x, y = Tensor(generator.standard_normal((20, 3))), Tensor(generator.standard_normal((20, 2)))
    w = Parameter(Tensor(generator.standard_normal((3, 2))), name="w")
    scale = Parameter(Tensor(np.ones(2)), name="scale")
    optimizer = nn.KFAC([w, scale])
    losses = [float(optimizer.step(lambda: scale * ops.tanh(x @ w) - y)) for _ in range(20)]
    assert losses[-1] < losses[0]
    names = [parameter.name for parameter in optimizer.factors]
    assert names[-1] == "curvature.scale"


def test_errors():
    w = Parameter(Tensor(np.ones((2, 1))), name="w")
    unused = Parameter(Tensor(np.ones((2, 1))), name="unused")
    x = Tensor(np.eye(2))
    with pytest.raises(ValueError, match=r"must be less than 1, but got 1\.0"):
        nn.KFAC([w], momentum=1.0)
    with pytest.raises(ValueError, match="the 'kind' must be one of 'exact'"):
        nn.KFAC([w], kind="natural")
    with pytest.raises(TypeError, match="the 'loss' must be a function or Cell"):
        nn.KFAC([w], loss=3)
    with pytest.raises(ValueError, match="parameter groups"):
        nn.KFAC([{"params": [w], "lr": 0.1}])
    with pytest.raises(
        ValueError, match=r"it returned a scalar, which may be a loss\. Pass nn\.WithLossCell"
    ):
        nn.KFAC([w]).step(lambda: (x @ w).sum())
    with pytest.raises(ValueError, match="does not depend on the Parameter 'unused'"):
        nn.KFAC([w, unused]).step(lambda: x @ w)
    with pytest.raises(ValueError, match="is infinite or NaN at the present Parameters"):
        nn.KFAC([w]).step(lambda: ops.log(x @ w - 2.0))
    with pytest.raises(ValueError, match="Parameter 'w' is singular with damping=0"):
        nn.KFAC([w], damping=0.0).step(lambda: x[:1] @ w)
    with pytest.raises(ValueError, match="the last argument must be the targets"):
        nn.KFAC([w], loss=nn.MSELoss()).step(lambda: x @ w)
    with pytest.raises(ValueError, match="kind='empirical' needs the gradients of a loss"):
        nn.KFAC([w], kind="empirical").step(lambda: x @ w)
    with pytest.raises(TypeError, match="cannot be called with gradients"):
        nn.KFAC([w])((x,))


def test_changed_structure_of_function_raises():
    w = Parameter(Tensor(np.ones((30, 30))), name="w")
    x = Tensor(np.ones((4, 30)))
    optimizer = nn.KFAC([w])
    optimizer.step(lambda: x @ w - 1.0)
    with pytest.raises(ValueError, match="shapes of the Kronecker factors differ from the last step"):
        optimizer.step(lambda: x @ ops.tanh(w) - 1.0)
