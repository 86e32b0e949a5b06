"""``x[mask]`` of a mask that is not known while compiling: pointwise operators and reductions of it."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, mint, nn, ops
from tests.tolerances import assert_close

RNG = np.random.default_rng(0)
X, Y = (RNG.uniform(0.5, 2, (6, 3)).astype(np.float32) for _ in range(2))
ROWS = np.array([True, False, True, True, False, False])
ELEMENTS = RNG.random((6, 3)) > 0.5
ARGUMENTS = tuple(map(Tensor, (X, Y, ROWS, ELEMENTS)))
RELU = nn.ReLU()


class Doubled(nn.Cell):
    def construct(self, x):
        return 2 * x

    def bprop(self, x, out, dout):
        return (2 * dout,)


class Tripled(ms._Function):
    @staticmethod
    def forward(ctx, x):
        return 3 * x

    @staticmethod
    def backward(ctx, gradient):
        return 3 * gradient


DOUBLED = Doubled()
KEEPER = nn.Cell()

COMPILED = {
    "sum of exp": lambda x, y, m, e: ops.exp(x[m]).sum(),
    "mean squared error": lambda x, y, m, e: ((x[m] - y[m]) ** 2).mean(),
    "sum over rows": lambda x, y, m, e: (2 * x[m]).sum(0),
    "mean over rows": lambda x, y, m, e: x[m].mean(0),
    "sum over columns first": lambda x, y, m, e: (x[m].sum(1) ** 2).sum(),
    "max of means": lambda x, y, m, e: x[m].mean(1).max(),
    "amin over rows": lambda x, y, m, e: ops.amin(x[m], 0),
    "prod": lambda x, y, m, e: x[m].prod(),
    "logsumexp": lambda x, y, m, e: ops.logsumexp(x[m], 0),
    "norm": lambda x, y, m, e: ops.norm(x[m]),
    "elements": lambda x, y, m, e: ops.log(x[e]).mean(),
    "elements of both": lambda x, y, m, e: (x[e] - y[e]).abs().sum(),
    "with a row": lambda x, y, m, e: (x[m] * y[0] + 1.0).sum(),
    "any": lambda x, y, m, e: (x[m] > 1).any(),
    "count": lambda x, y, m, e: (x[m] > 1).sum(),
    "half precision": lambda x, y, m, e: (-x[m]).astype(ms.float16).sum(),
    "number first": lambda x, y, m, e: (1.0 - x[m]).sum(),
    "keepdims": lambda x, y, m, e: x[m].sum(0, keepdims=True),
    "normalized": lambda x, y, m, e: (ops.exp(x[m]) / ops.exp(x[m]).sum() * y[m]).sum(),
    "mask made inside": lambda x, y, m, e: (x[x > 1] ** 2).sum(),
    "tuple index": lambda x, y, m, e: ops.tanh(x[(m,)]).sum(),
    "mint": lambda x, y, m, e: mint.sum(mint.exp(x[m])),
    "stop_gradient": lambda x, y, m, e: (ops.stop_gradient(x[m]) * x[m]).sum(),
    "recompute": lambda x, y, m, e: ms.recompute(lambda s: (s * s).sum(), x[m]),
    "cell": lambda x, y, m, e: RELU(x[m] - 1).sum(),
    "equal": lambda x, y, m, e: (x[m] == x[m]).sum() + (x[m] != 1.0).sum() + (x[m] < 2.0).sum(),
    "std": lambda x, y, m, e: x[m].std(),
    "std over rows": lambda x, y, m, e: x[m].std(0),
    "std over columns": lambda x, y, m, e: x[m].std(1).sum(),
    "unbiased std, kept axes": lambda x, y, m, e: x[m].std(0, ddof=1, keepdims=True),
    "var": lambda x, y, m, e: ops.exp(x[m]).var(),
    "var over both axes": lambda x, y, m, e: x[m].var((0, 1), ddof=1),
    "mint.std_mean": lambda x, y, m, e: sum(mint.std_mean(x[e])),
    "mint.var over rows": lambda x, y, m, e: mint.var(x[m], 0),
    "var in half precision": lambda x, y, m, e: x[m].astype(ms.float16).var(),
    "masked_select": lambda x, y, m, e: ops.masked_select(x, e).mean(),
    "masked_select of both": lambda x, y, m, e: (x.masked_select(e) * y[e]).sum(),
    "masked_select, mask broadcast": lambda x, y, m, e: ops.masked_select(x, m.reshape(6, 1)).std(),
    "masked_select, input broadcast": lambda x, y, m, e: ops.masked_select(x[0], e).sum(),
    "mint.masked_select": lambda x, y, m, e: mint.exp(mint.masked_select(x, e)).sum(),
    "nn.MSELoss": lambda x, y, m, e: nn.MSELoss()(x[m], y[m]),
    "mse_loss, sum": lambda x, y, m, e: ops.mse_loss(x[e], y[e], reduction="sum"),
    "mse_loss of a number": lambda x, y, m, e: ops.mse_loss(x[m], Tensor(1.0)),
    "nn.L1Loss": lambda x, y, m, e: nn.L1Loss()(x[m], y[m]),
    "l1_loss": lambda x, y, m, e: ops.l1_loss(ops.exp(x[e]), y[e]),
    "in-place operator": lambda x, y, m, e: increased(x[m]).sum(),
}


def increased(x):
    x += 1.0
    return x


@pytest.mark.parametrize("name", COMPILED)
def test_reduction_of_a_masked_read_compiles_to_its_eager_value_and_gradient(name):
    f = COMPILED[name]
    wanted, found = f(*ARGUMENTS), ms.jit(f)(*ARGUMENTS)
    assert found.shape == wanted.shape
    assert found.dtype is wanted.dtype
    assert_close(found, wanted, "program", each=True)
    if wanted.dtype.is_float:
        gradients = ms.grad(f, (0, 1))(*ARGUMENTS), ms.grad(ms.jit(f), (0, 1))(*ARGUMENTS)
        for eager, compiled in zip(*gradients, strict=True):
            assert_close(compiled, eager, kind="long program", each=True, scale=0.01)


REFUSED = {
    "result": lambda x, y, m: x[m],
    "shape": lambda x, y, m: x[m].shape[0] * x.sum(),
    "size": lambda x, y, m: x[m].size * x.sum(),
    "len": lambda x, y, m: len(x[m]) * x.sum(),
    "concat": lambda x, y, m: ops.concat((x[m], y)).sum(),
    "index": lambda x, y, m: x[m][0],
    "other tensor": lambda x, y, m: (x[m] + y).sum(),
    "reshape": lambda x, y, m: x[m].reshape(-1).sum(),
    "sort": lambda x, y, m: x[m].sort()[0].sum(),
    "argmax": lambda x, y, m: x[m].argmax(),
    "cumsum": lambda x, y, m: x[m].cumsum(0).sum(),
    "losses of other masks": lambda x, y, m: ops.mse_loss(x[m], y[~m]),
    "loss of a selection and a tensor": lambda x, y, m: ops.l1_loss(x[m], y),
    "other mask": lambda x, y, m: (x[m] * x[~m]).sum(),
    "softmax": lambda x, y, m: ops.softmax(x[m], 0).sum(),
    "concat of masked_select": lambda x, y, m: ops.concat((ops.masked_select(x[:, 0], m), y[0])).sum(),
    "condition": lambda x, y, m: x.sum() if x[m] else y.sum(),
    "bprop": lambda x, y, m: DOUBLED(x[m]).sum(),
    "_Function": lambda x, y, m: Tripled.apply(x[m]).sum(),
    "hook": lambda x, y, m: ops.InsertGradientOf(lambda g: 2 * g)(x[m]).sum(),
    "vmap": lambda x, y, m: ms.vmap(lambda a, b: (a * b).sum())(y, x[m]).sum(),
    "all gradients": lambda x, y, m: ops.GradOperation(get_all=True)(lambda a, b: a * b.sum())(y, x[m])[0],
    "gradient": lambda x, y, m: ms.grad(lambda s: (s * s).sum())(x[m]),
    "attribute": lambda x, y, m: setattr(KEEPER, "kept", x[m]) or x.sum(),
    "max of integers": lambda x, y, m: x.astype(ms.int32)[m].max(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_masked_read_whose_shape_is_needed_raises_when_compiled(name):
    with pytest.raises(
        ms.CompileError, match="the number of elements that a mask selects depends on the values"
    ):
        ms.jit(REFUSED[name])(*ARGUMENTS[:3])


@pytest.mark.parametrize("use", [lambda s: ops.matmul(s, s), lambda s: Tensor(s), lambda s: ms.numpy.sum(s)])
def test_masked_read_that_an_operator_does_not_take_raises_when_compiled(use):
    with pytest.raises(TypeError, match="Selection"):
        ms.jit(lambda x, m: use(x[m]))(Tensor(X), Tensor(ROWS))


def returned_selection(x):
    positive = x[x > 0]
    return {"doubled": 2 * positive}


@pytest.mark.parametrize("transform", [lambda f: f, ms.grad, ms.jacrev, lambda f: lambda x: ms.vjp(f, x)])
def test_returned_masked_read_raises_at_the_line_of_the_read(transform):
    line = returned_selection.__code__.co_firstlineno + 1
    with pytest.raises(ms.CompileError, match=f'test_selections.py", line {line}, in returned_selection'):
        ms.jit(transform(returned_selection))(ARGUMENTS[0])


def test_masked_read_of_too_few_elements_has_no_spread():
    x, one = Tensor(X), Tensor(np.arange(6) == 2)
    run = ms.jit(lambda x, m: (x[m].std(0), x[m].std(0, ddof=1), x[m].var(), x[m & ~m].var()))
    zeros, undefined, variance, nothing = (each.asnumpy() for each in run(x, one))
    assert zeros.tolist() == [0.0] * 3
    assert np.isnan(undefined).all()
    assert_close(variance, X[2].var(), kind="program")
    assert np.isnan(nothing)
    gradient = ms.grad(ms.jit(lambda x, m: x[m].std(0).sum()))(x, one)
    assert gradient.asnumpy().tolist() == np.zeros_like(X).tolist()


def test_masked_read_with_no_element_has_the_reductions_of_nothing():
    x, nothing = Tensor(X), Tensor(np.zeros(6, bool))
    run = ms.jit(lambda x, m: (x[m].sum(), x[m].prod(), x[m].mean(), x[m].max(), x[m].any()))
    total, product, mean, largest, is_any = (each.item() for each in run(x, nothing))
    assert (total, product, is_any) == (0.0, 1.0, False)
    assert np.isnan(mean)
    assert np.isnan(largest)
    gradient = ms.grad(ms.jit(lambda x, m: ops.exp(x[m]).sum()))(x, nothing)
    assert gradient.asnumpy().tolist() == np.zeros_like(X).tolist()


def test_masked_read_leaves_out_values_that_are_not_finite():
    x = Tensor([1.0, -1.0, float("nan"), float("inf"), 1e30])
    mask = Tensor([True, False, False, False, False])
    f = ms.jit(lambda x, m: (ops.log(x[m]) * ops.exp(x[m])).sum())
    assert f(x, mask).item() == 0.0
    assert_close(ms.grad(f)(x, mask), [np.e, 0, 0, 0, 0])
    second = ms.grad(lambda x, m: ms.grad(f)(x, m).sum())(x, mask)
    assert_close(second, [np.e, 0, 0, 0, 0], kind="program")


def test_masked_read_in_a_loop_and_a_branch_is_compiled():
    @ms.jit
    def f(x, m):
        total = x.sum() * 0
        for k in range(12):
            total = total + ops.sin(k * x[m]).sum()
        if total > 0:
            total = total * x[m].mean()
        return total

    kept = X[ROWS]
    wanted = sum(np.sin(k * kept).sum() for k in range(12))
    wanted = wanted * kept.mean() if wanted > 0 else wanted
    assert_close(f(Tensor(X), Tensor(ROWS)), wanted, kind="program")
