"""Inputs whose declared sizes are open share one compiled program, which is right for every size."""

import random
import re
import warnings

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.core.base.tree import flatten

SIZES = (5, 2, 3, 1, 16, 17, 40)
#: the capacities 16, 32 and 64
CAPACITIES = 3
f32, i32 = ms.float32, ms.int32
EYE = np.eye(3, dtype=np.float32)


def declared(*shape, dtype=f32):
    return Tensor(shape=list(shape), dtype=dtype)


def normal(*shape):
    return np.random.default_rng(shape).normal(size=shape).astype(np.float32)


def labels(n, classes=2):
    return np.random.default_rng(n).integers(0, classes, n).astype(np.int32)


def gradient(loss):
    return ms.grad(loss)


class Nets:
    """The nets of the tests, made before the first test."""

    def make(self):
        ms.set_seed(1)
        self.dense = nn.Dense(3, 2)
        self.mlp = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 2))
        self.bn = nn.BatchNorm1d(3).set_train()
        self.ln = nn.LayerNorm((3,))
        self.embedding = nn.Embedding(7, 3)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.conv = nn.Conv2d(3, 4, 3)


net = Nets()


@pytest.fixture(scope="module", autouse=True)
def nets():
    net.make()


def with_weights(model, loss):
    """The loss, and its gradient with respect to the Parameters of the net ``model``."""

    def f(*args):
        return ms.value_and_grad(loss, None, getattr(net, model).trainable_params())(*args)

    return f


X = [declared(None, 3)], lambda n: [normal(n, 3)]
XY = [declared(None, 3), declared(None, 2)], lambda n: [normal(n, 3), normal(n, 2)]
XC = [declared(None, 3), declared(None, dtype=i32)], lambda n: [normal(n, 3), labels(n)]
C = [declared(None, dtype=i32)], lambda n: [labels(n, 5)]
SEQUENCES = [declared(None, 5, 4)], lambda n: [normal(n, 5, 4)]
STEPS = [declared(2, None, 4)], lambda n: [normal(2, n, 4)]
IMAGES = [declared(None, 3, 5, 5)], lambda n: [normal(n, 3, 5, 5)]
LOOKUPS = (
    [declared(None, 3), Tensor(np.zeros(4, np.int32))],
    lambda n: [normal(n, 3), np.array([0, n - 1, -1, -n], np.int32)],
)


def attention(x):
    return ops.softmax(x @ x.T / 3, -1) @ x


def masked_attention(x):
    mask = ops.tril(ops.ones((x.shape[0], x.shape[0]))) > 0
    return ops.softmax(ops.where(mask, x @ x.T, -1e9), -1) @ x


def distances(x):
    return ops.sqrt(((x[:, None] - x[None]) ** 2).sum(-1) + 1e-3).sum()


def doubled(x):
    while x.sum() < 9:
        x = x * x + 1
    return x


#: name: function, its inputs, programs that it compiles for SIZES
SHARED = {
    "sum": (lambda x: x.sum(0), X, 3),
    "sum of all": (lambda x: x.sum(), X, 3),
    "mean": (lambda x: x.mean(), X, 3),
    "centered": (lambda x: x - x.mean(0), X, 3),
    "variance": (lambda x: x.var(0), X, 3),
    "deviation": (lambda x: x.std(0), X, 3),
    "maximum": (lambda x: ops.amax(x, 0), X, 3),
    "maximum with its index": (lambda x: ops.max(x, 0), X, 3),
    "minimum": (lambda x: ops.amin(x, 0), X, 3),
    "product": (lambda x: x.prod(0), X, 3),
    "argmax": (lambda x: x.argmax(0), X, 3),
    "argmin": (lambda x: x.argmin(0), X, 3),
    "any": (lambda x: ((x > 1).any(0), (x > -3).all(0)), X, 3),
    "softmax over the open axis": (lambda x: ops.softmax(x, 0), X, 3),
    "softmax over another": (lambda x: ops.softmax(x, 1), X, 3),
    "logsumexp": (lambda x: ops.logsumexp(x, 0), X, 3),
    "norm": (lambda x: ops.norm(x), X, 3),
    "cumsum": (lambda x: ops.cumsum(x, 0), X, 3),
    "cumprod": (lambda x: ops.cumprod(x, 0), X, 3),
    "cummax": (lambda x: ops.cummax(x, 0), X, 3),
    "logarithm of padding": (lambda x: ops.log(x * x).sum(0), X, 3),
    "quotient by padding": (lambda x: (1 / x).sum(0) + (x / x).max(), X, 3),
    "gram": (lambda x: x.T @ x, X, 3),
    "einsum": (lambda x: ops.einsum("ni,nj->ij", x, x), X, 3),
    "covariance": (lambda x: (x - x.mean(0)).T @ (x - x.mean(0)) / (x.shape[0] + 1), X, 3),
    "attention": (attention, X, 3),
    "masked attention": (masked_attention, X, 4),
    "distances": (distances, X, 3),
    "positions": (lambda x: x * ops.arange(x.shape[0]).astype(f32)[:, None], X, 3),
    "size": (lambda x: x * x.shape[0], X, 3),
    "ones": (lambda x: x + ops.ones((x.shape[0], 3)) + ops.ones((x.shape[0], 2)).sum(), X, 3),
    "identity": (lambda x: x @ x.T + ops.eye(x.shape[0]), X, 3),
    "first": (lambda x: x[0] + x.sum(0), X, 3),
    "neighbors along another axis": (lambda x: x[:, 1:] - x[:, :-1], X, 3),
    "where": (lambda x: ops.where(x > 0, x, 0).sum(0) / (x > -9).astype(f32).sum(0), X, 3),
    "vmap": (lambda x: ops.vmap(lambda r: (r * r).sum() * r)(x), X, 3),
    "dense": (lambda x: net.dense(x), X, 3),
    "mlp": (lambda x: net.mlp(x), X, 3),
    "batch norm": (lambda x: net.bn(x), X, 4),
    "layer norm": (lambda x: net.ln(x), X, 3),
    "cross entropy": (lambda x, c: ops.cross_entropy(net.dense(x), c), XC, 3),
    "embedding": (lambda c: net.embedding(c).sum(0), C, 3),
    "one hot": (lambda c: ops.one_hot(c, 5, Tensor(1.0), Tensor(0.0)).sum(0), C, 3),
    "lookup": (lambda x, i: x[i], LOOKUPS, 3),
    "multi-head attention": (lambda x: net.attention(x, x, x)[0], SEQUENCES, 3),
    "multi-head attention of open length": (lambda x: net.attention(x, x, x)[0], STEPS, 3),
    "convolution": (lambda x: net.conv(x).mean(), IMAGES, 3),
    "merged axes": (lambda x: x.reshape(-1, 4) @ ops.ones((4, 2)), SEQUENCES, 3),
    "merged and split axes": (lambda x: (x.reshape(-1, 4) * 2).reshape(x.shape).mean(0), SEQUENCES, 3),
    "flattened": (lambda x: x.reshape(-1).sum(), X, 3),
    "gradient": (gradient(lambda x: (x**2 / x.sum()).mean()), X, 3),
    "gradient of logsumexp": (gradient(lambda x: ops.logsumexp(x, 0).sum()), X, 4),
    "gradient of maximum": (gradient(lambda x: ops.amax(x, 0).sum()), X, 4),
    "gradient of cumsum": (gradient(lambda x: (ops.cumsum(x, 0) ** 2).sum()), X, 3),
    "gradient of attention": (gradient(lambda x: attention(x).mean()), X, 4),
    "gradient of distances": (gradient(distances), X, 4),
    "gradient of lookup": (gradient(lambda x, i: (x[i] ** 2).sum()), LOOKUPS, 3),
    "gradient of layer norm": (gradient(lambda x: (net.ln(x) ** 3).sum()), X, 3),
    "gradient of mse": (gradient(lambda x, y: ops.mse_loss(net.mlp(x), y)), XY, 3),
    "weights of mse": (with_weights("mlp", lambda x, y: ops.mse_loss(net.mlp(x), y)), XY, 3),
    "weights of cross entropy": (
        with_weights("mlp", lambda x, c: ops.cross_entropy(net.mlp(x), c)), XC, 3,
    ),
    "weights of embedding": (with_weights("embedding", lambda c: (net.embedding(c) ** 2).mean()), C, 3),
    "weights of convolution": (with_weights("conv", lambda x: (net.conv(x) ** 2).mean()), IMAGES, 3),
    "tangent of a gradient": (
        lambda x: ms.jvp(ms.grad(lambda x: (x**3).mean()), (x,), (x,)), X, 3,
    ),
}  # fmt: skip

#: functions that have a program for each size, and the operator that the warning shows
OWN = {
    "last": (lambda x: x[-1], "'slice'"),
    "differences": (lambda x: x[1:] - x[:-1], "'slice'"),
    "flip": (lambda x: ops.flip(x, (0,)), "'reverse'"),
    "sort": (lambda x: ops.sort(x, 0)[0], "'argsort'"),
    "concat": (lambda x: ops.concat([x, x], 0), "'concatenate'"),
    "flattened wrongly": (lambda x: x.T.reshape(-1), "'reshape'"),
    "branch on the size": (lambda x: x.sum(0) if x.shape[0] > 50 else x.mean(0), ""),
    "unknown sizes": (lambda x: x.reshape({2: 3, 3: 1}[x.shape[0]], -1), "KeyError|67"),
    "loop": (doubled, "'while'"),
}


def check_same(results, expected):
    for a, b in zip(flatten(results)[0], flatten(expected)[0], strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), rtol=3e-4, atol=3e-5)


@pytest.fixture(autouse=True)
def eager():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.clear_cache()  # functions of one line share their statistics


@pytest.mark.parametrize("name", SHARED)
def test_open_sizes_share_programs_with_the_results_of_eager_mode(name):
    function, (signature, inputs), count = SHARED[name]
    compiled = ms.jit(lambda *xs: function(*xs), input_signature=signature)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in SIZES:
            args = inputs(n)
            check_same(compiled(*map(Tensor, args)), function(*map(Tensor, args)))
            if args[0].dtype == np.float32 and args[0].ndim == 2:
                args[0].flat[0] = (np.nan, np.inf, -np.inf, 0)[n % 4]
                check_same(compiled(*map(Tensor, args)), function(*map(Tensor, args)))
    assert compiled.cache_info().misses == count >= CAPACITIES
    assert compiled.cache_info().currsize == count


@pytest.mark.parametrize("name", OWN)
def test_jit_warns_once_if_open_sizes_cannot_share_a_program(name):
    function, operator = OWN[name]
    compiled = ms.jit(lambda x: function(x), input_signature=declared(None, 3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in (2, 3, 2):
            check_same(compiled(Tensor(normal(n, 3))), function(Tensor(normal(n, 3))))
    (warning,) = caught
    assert re.search(f"compiles one program for each size.*({operator})", str(warning.message))
    assert compiled.cache_info().misses == 2


def test_open_sizes_of_two_inputs_are_independent_if_the_program_allows_it():
    f = ms.jit(lambda x, y: x @ y.T, input_signature=(declared(None, 3), declared(None, 3)))
    for n, m in ((4, 4), (2, 7), (7, 2), (1, 5)):
        check_same(f(Tensor(normal(n, 3)), Tensor(normal(m, 3))), Tensor(normal(n, 3) @ normal(m, 3).T))
    assert f.cache_info().misses == 1
    g = ms.jit(lambda x, y: (x * y).sum(), input_signature=(declared(None, 3), declared(None, 3)))
    g(Tensor(normal(4, 3)), Tensor(normal(4, 3)))
    with pytest.raises(ValueError, match="shape"):
        g(Tensor(normal(4, 3)), Tensor(normal(5, 3)))


def test_open_sizes_of_structures_and_other_dtypes():
    entry = {"w": Tensor(np.ones((3, 2), np.float32)), "x": [declared(None, 3), None]}
    f = ms.jit(lambda d: d["x"][0] @ d["w"] * d["x"][1], input_signature=(entry,))
    for n in (4, 2, 1):
        x, w = Tensor(normal(n, 3)), Tensor(normal(3, 2))
        check_same(f({"x": [x, 2.0], "w": w}), x @ w * 2.0)
    assert f.cache_info().misses == 1
    for dtype in (ms.int64, ms.int32, ms.float64, ms.bfloat16, ms.float16, ms.complex64):
        sums = ms.jit(lambda x: (x.sum(), x.prod(), x + 1), input_signature=declared(None, dtype=dtype))
        ms.clear_cache()
        for n in (3, 1, 2):
            x = Tensor(np.arange(2, 2 + n)).astype(dtype)
            for a, b in zip(sums(x), (x.sum(), x.prod(), x + 1), strict=True):
                assert a.dtype == b.dtype
                assert (a == b).all()
        assert sums.cache_info().misses == 1


def test_open_sizes_in_a_training_step_update_parameters_as_eager_mode_does():
    def trained(compile_step):
        ms.set_seed(0)
        model = nn.SequentialCell(nn.Dense(3, 8), nn.Tanh(), nn.Dense(8, 2))
        optimizer = nn.Momentum(model.trainable_params(), 0.05, 0.9)
        gradients = ms.value_and_grad(lambda x, y: ops.mse_loss(model(x), y), None, optimizer.parameters)

        def step(x, y):
            loss, grads = gradients(x, y)
            optimizer(grads)
            return loss

        run = compile_step(step)
        for n in (5, 3, 5, 2, 7, 9, 16, 4):
            run(Tensor(normal(n, 3)), Tensor(normal(n, 2)))
        return run, model.trainable_params()

    run, parameters = trained(lambda f: ms.jit(f, input_signature=(declared(None, 3), declared(None, 2))))
    check_same(parameters, trained(lambda f: f)[1])
    assert run.cache_info().misses == 1


def test_open_sizes_follow_python_state_that_changes():
    scale = 2.0
    f = ms.jit(lambda x: x * scale + x.mean(), input_signature=declared(None))
    for scale in (2.0, 3.0, 2.0):
        for n in (2, 5, 3):
            check_same(f(Tensor(normal(n))), Tensor(normal(n) * np.float32(scale) + normal(n).mean()))


def test_open_sizes_kept_in_an_attribute_have_programs_of_their_own():
    class Keeps(nn.Cell):
        def __init__(self):
            super().__init__()
            self.last = None

        def construct(self, x):
            self.last = x * 2
            return x.sum()

    ms.set_context(mode=ms.GRAPH_MODE)
    keeps = Keeps()
    keeps.set_inputs(declared(None, 3))
    with pytest.warns(UserWarning, match="side effects"):
        keeps(Tensor(normal(3, 3)))
    for n in (5, 2, 3):
        keeps(Tensor(normal(n, 3)))
        check_same(keeps.last, Tensor(2 * normal(n, 3)))


def test_open_sizes_do_not_print_or_draw_twice(capsys):
    @ms.jit(input_signature=declared(None))
    def f(x):
        print("sum", x.sum())
        return x * random.random()

    random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        factors = [f(ops.ones(n)).asnumpy()[0] for n in (2, 3)]
    assert capsys.readouterr().out == "sum 2.0\nsum 3.0\n"
    random.seed(0)
    np.testing.assert_allclose(factors, [random.random() for _ in range(2)], rtol=1e-6)


def test_random_draws_of_an_open_size_are_drawn_for_the_size():
    f = ms.jit(lambda x: ops.dropout(x, 0.5), input_signature=declared(None, 3))
    with pytest.warns(UserWarning, match="one program for each size"):
        assert [f(ops.ones((n, 3))).shape for n in (2, 3)] == [(2, 3), (3, 3)]


def test_jit_with_open_sizes_inside_of_other_programs_is_a_part_of_them():
    f = ms.jit(lambda x: (x**3).sum(), input_signature=declared(None, 3))
    for n in (2, 4):
        x = Tensor(normal(n, 3))
        check_same(ms.grad(f)(x), 3 * x * x)
        check_same(ms.jit(lambda x: f(x) * 2)(x), f(x) * 2)
    assert f.cache_info().misses == 1


def test_set_inputs_with_open_sizes_compiles_a_cell_once():
    ms.set_context(mode=ms.GRAPH_MODE)
    model = nn.Dense(3, 2)
    model.set_inputs(declared(None, 3))
    assert [model(ops.ones((n, 3))).shape for n in (5, 1, 2)] == [(5, 2), (1, 2), (2, 2)]
    assert ms.cache_info(model).misses == 1
    assert model(ops.ones((4, 6, 3))).shape == (4, 6, 2)  # not as declared


def test_open_sizes_of_zero_have_a_program_of_their_own():
    f = ms.jit(lambda x: x.sum(0), input_signature=declared(None, 3))
    for n in (0, 2, 3, 0):
        assert f(ops.ones((n, 3))).asnumpy().tolist() == [n] * 3
    assert f.cache_info().misses == 2


def test_cache_clear_forgets_the_programs_of_open_sizes():
    f = ms.jit(lambda x: x.sum(0), input_signature=declared(None, 3))
    for _ in range(2):
        f(ops.ones((2, 3)))
        assert f.cache_info().misses == 1
        f.cache_clear()
