"""``nn.SOAP``: formulas, invariance under rotations, options, and errors."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
SHAPES = {"dense.weight": (4, 4), "conv.weight": (2, 3, 2, 2), "bias": (3,), "scale": ()}


def drawn(seed, dtype=np.float64):
    generator = np.random.default_rng(seed)
    return [generator.normal(size=shape).astype(dtype) for shape in SHAPES.values()]


def parameters(dtype=np.float64):
    return [Parameter(Tensor(x), name=name) for name, x in zip(SHAPES, drawn(0, dtype), strict=True)]


def trained(optimizer, seeds, dtype=np.float64):
    for seed in seeds:
        assert optimizer(tuple(map(Tensor, drawn(seed, dtype))))


def rotated(x, bases):
    for axis, basis in bases.items():
        x = np.moveaxis(np.tensordot(x, basis, ([axis], [0])), -1, axis)
    return x


def soap(w, gradients, axes, rate=0.1, decay=0.01, b1=0.95, b2=0.95, beta=0.95, every=2):
    """The formulas of the paper; the first gradient only determines the eigenbases."""
    covariances, bases = dict.fromkeys(axes, 0.0), {}
    m = v = np.zeros_like(w)
    for t, g in enumerate(gradients):
        if t:
            m = b1 * m + (1 - b1) * g
            v = b2 * v + (1 - b2) * rotated(g, bases) ** 2
            step = rotated(m, bases) / (np.sqrt(v) + 1e-8)
            step = rotated(step, {k: q.T for k, q in bases.items()})
            w = w - rate * (np.sqrt(1 - b2**t) / (1 - b1**t) * step + decay * w)
        for k in axes:
            rows = np.moveaxis(g, k, 0).reshape(g.shape[k], -1)
            covariances[k] = beta * covariances[k] + (1 - beta) * rows @ rows.T
        if t == 0:
            bases = {k: np.linalg.eigh(c)[1][:, ::-1] for k, c in covariances.items()}
        elif t % every == 0:
            for k, c in covariances.items():
                order = np.argsort(-np.diag(bases[k].T @ c @ bases[k]))
                bases[k] = np.linalg.qr(c @ bases[k][:, order])[0]
                v = np.take(v, order, k)
    return w


@MODES
def test_eight_steps_agree_with_the_formulas(mode):
    ms.set_context(mode=mode)
    weights = parameters()
    trained(nn.SOAP(weights, 0.1, precondition_frequency=2), range(1, 9))
    for number, (weight, start) in enumerate(zip(weights, drawn(0), strict=True)):
        gradients = [drawn(seed)[number] for seed in range(1, 9)]
        axes = range(start.ndim) if start.ndim > 1 else ()
        assert_close(weight, soap(start, gradients, axes), kind="program", dtype=np.float32)


@pytest.mark.parametrize(
    ("options", "axes", "shape", "changes"),
    [
        (dict(max_precond_dim=2), [(), (0, 2, 3), (), ()], (2, 3, 2, 2), {}),
        (dict(merge_dims=True, max_precond_dim=4), [(0, 1), (0, 1, 2), (), ()], (2, 3, 4), {}),
        (dict(shampoo_beta=0.5, beta1=0.8, beta2=0.9), [(0, 1), (0, 1, 2, 3), (), ()], (2, 3, 2, 2),
         dict(beta=0.5, b1=0.8, b2=0.9)),
    ],
)  # fmt: skip
def test_options_agree_with_the_formulas(options, axes, shape, changes):
    weights = parameters()
    optimizer = nn.SOAP(weights, 0.1, precondition_frequency=2, **options)
    trained(optimizer, range(1, 6))
    for number, start in enumerate(drawn(0)):
        gradients = [drawn(seed)[number] for seed in range(1, 6)]
        if number == 1:
            start, gradients = start.reshape(shape), [g.reshape(shape) for g in gradients]
        wanted = soap(start, gradients, axes[number], **changes).reshape(SHAPES[weights[number].name])
        assert_close(weights[number], wanted, kind="program", dtype=np.float32)
    assert len(optimizer.bases) == len(optimizer.covariances) == sum(map(len, axes))


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ({}, [4, 4, 2, 3, 2, 2]),
        (dict(precondition_1d=True), [4, 4, 2, 3, 2, 2, 3]),
        (dict(merge_dims=True), [16, 24]),
        (dict(merge_dims=True, max_precond_dim=7), [4, 4, 6, 4]),
    ],
)
def test_options_choose_the_axes_with_a_basis(options, sizes):
    weights = parameters()
    optimizer = nn.SOAP(weights, 0.1, **options)
    trained(optimizer, [1, 2])
    assert [basis.shape for basis in optimizer.bases] == [(size, size) for size in sizes]
    for basis in optimizer.bases:
        assert_close(basis.asnumpy().T @ basis.asnumpy(), np.eye(len(basis)), kind="program")
    # the moments start at zero, so the second step has the length of Adam's first step in the eigenbases
    for weight, start in zip(weights, drawn(0), strict=True):
        length = np.linalg.norm(weight.asnumpy() - start * (1 - 0.1 * 0.01))
        assert_close(length, 0.1 * np.sqrt(start.size), kind="program", dtype=np.float32)


def test_the_first_step_changes_only_the_bases():
    weights = parameters()
    optimizer = nn.SOAP(weights, 0.1, weight_decay=0.5)
    trained(optimizer, [1])
    for weight, start in zip(weights, drawn(0), strict=True):
        assert_close(weight, start)
    assert not any(moment.asnumpy().any() for moment in (*optimizer.moment1, *optimizer.moment2))
    q, covariance = optimizer.bases[0].asnumpy(), optimizer.covariances[0].asnumpy()
    assert_close(covariance, 0.05 * drawn(1)[0] @ drawn(1)[0].T, kind="program")
    assert_close(q.T @ q, np.eye(4), kind="program")
    values = np.diag(q.T @ covariance @ q)
    assert_close(q.T @ covariance @ q, np.diag(values), kind="program")
    assert list(values) == sorted(values, reverse=True)


def test_steps_of_a_rotated_matrix_are_rotated():
    generator = np.random.default_rng(0)
    left, right = [np.linalg.qr(generator.normal(size=(n, n)))[0] for n in (4, 3)]
    start, gradients = generator.normal(size=(4, 3)), generator.normal(size=(7, 4, 3))
    w, v = Parameter(Tensor(start), name="w"), Parameter(Tensor(left @ start @ right), name="v")
    one, other = [nn.SOAP([p], 0.1, precondition_frequency=3) for p in (w, v)]
    adam = [nn.Adam([p.clone()], 0.1) for p in (w, v)]
    for g in gradients:
        for run, rotates in ((one, False), (other, True), (adam[0], False), (adam[1], True)):
            run((Tensor(left @ g @ right if rotates else g),))
    assert_close(v, left @ w.asnumpy() @ right, kind="program", scale=100)
    plain, turned = [run.parameters[0].asnumpy() for run in adam]
    assert np.abs(turned - left @ plain @ right).max() > 0.1


def test_without_bases_the_method_is_adam():
    weight, same = parameters()[2], parameters()[2]
    optimizer = nn.SOAP([weight], 0.1, beta1=0.9, beta2=0.99, weight_decay=0.0)
    adam = nn.Adam([same], 0.1, beta1=0.9, beta2=0.99)
    optimizer((Tensor(drawn(1)[2]),))
    for seed in range(2, 6):
        optimizer((Tensor(drawn(seed)[2]),))
        adam((Tensor(drawn(seed)[2]),))
    assert_close(weight, same, kind="program", dtype=np.float32)


def test_groups_have_rates_and_decays():
    weights = parameters()
    groups = [{"params": weights[:1], "lr": 0.2, "weight_decay": 0.5}, {"params": weights[1:]}]
    trained(nn.SOAP(groups, [0.1, 0.1, 0.1], weight_decay=0.0, precondition_frequency=2), [1, 2, 3])
    for number, (rate, decay) in enumerate([(0.2, 0.5), (0.1, 0.0)]):
        gradients = [drawn(seed)[number] for seed in (1, 2, 3)]
        start = drawn(0)[number]
        wanted = soap(start, gradients, range(start.ndim), rate, decay)
        assert_close(weights[number], wanted, kind="program", dtype=np.float32)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16])
def test_half_parameters_have_state_in_float32(dtype):
    weights = [Parameter(p.value().astype(dtype), name=p.name) for p in parameters(np.float32)]
    optimizer = nn.SOAP(weights, 0.1, precondition_frequency=2)
    trained(optimizer, range(1, 5), np.float32)
    assert {p.dtype for p in weights} == {dtype}
    assert {p.dtype for p in (*optimizer.moment1, *optimizer.bases, *optimizer.covariances)} == {ms.float32}
    wanted = soap(drawn(0)[0], [drawn(seed)[0] for seed in range(1, 5)], (0, 1))
    assert_close(weights[0].asnumpy().astype(np.float32), wanted, kind="program", dtype=dtype)


def test_a_skipped_step_with_an_overflow_changes_nothing():
    net = nn.Dense(3, 2)
    optimizer = nn.SOAP(net.trainable_params(), precondition_frequency=1)
    step = nn.TrainOneStepWithLossScaleCell(nn.WithLossCell(net, nn.MSELoss()), optimizer, Tensor(8.0))
    x, y = Tensor(np.ones((4, 3), np.float32)), Tensor(np.zeros((4, 2), np.float32))
    step(x, y)
    before = [p.asnumpy() for p in optimizer.get_parameters()]
    assert bool(step(x, y * np.inf)[1])
    for parameter, value in zip(optimizer.get_parameters(), before, strict=True):
        assert_close(parameter, value)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (dict(beta1=1.0), ValueError, "'beta1'"),
        (dict(shampoo_beta=1.0), ValueError, "'shampoo_beta' must be at least 0 and below 1, or -1"),
        (dict(shampoo_beta=-0.5), ValueError, "'shampoo_beta'"),
        (dict(eps=0.0), ValueError, "'eps'"),
        (dict(precondition_frequency=0), ValueError, "'precondition_frequency'"),
        (dict(max_precond_dim=1.5), TypeError, "'max_precond_dim'"),
        (dict(merge_dims=1), TypeError, "'merge_dims'"),
        (dict(precondition_1d="yes"), TypeError, "'precondition_1d'"),
    ],
)
def test_bad_arguments(options, error, text):
    with pytest.raises(error, match=text):
        nn.SOAP(parameters(), **options)
