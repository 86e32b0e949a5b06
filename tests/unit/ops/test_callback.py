"""Python functions on NumPy arrays inside programs: ``pure_callback``, ``Custom``, and ``bprop`` in NumPy."""

import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
import scipy.special

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.core.backend import disk
from mindgrad.ops.functional import custom_vjp
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["GRAPH", "PYNATIVE"])
BOTH = pytest.mark.parametrize("wrap", [lambda f: f, ms.jit], ids=["eager", "jit"])
X = np.float32([0.5, 1.5])


def log_gamma(x):
    return ms.pure_callback(scipy.special.gammaln, x, x)


class LogGamma(nn.Cell):
    def construct(self, x):
        return log_gamma(x)

    def bprop(self, x, out, dout):
        return (dout * ms.pure_callback(scipy.special.digamma, x, x),)


cosine = ops.Custom(
    np.cos, lambda x: x, lambda x: x, func_type="pyfunc", bprop=lambda x, out, dout: (-dout * ops.sin(x),)
)
sine = ops.Custom(
    np.sin, lambda x: x, lambda x: x, func_type="pyfunc", bprop=lambda x, out, dout: (dout * cosine(x),)
)


def close(value, expected):
    assert_close(value, expected, "program", each=True, scale=0.1)


# --- values ----------------------------------------------------------------------------------------


@BOTH
def test_pure_callback_returns_what_the_function_computes(wrap):
    close(wrap(lambda x: 2 * log_gamma(x))(Tensor(X)), 2 * scipy.special.gammaln(X))


@BOTH
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)], ids=str)
@pytest.mark.parametrize(
    "dtype", ["bool_", "int8", "int64", "float16", "bfloat16", "float64", "complex64", "complex128"]
)
def test_pure_callback_keeps_every_bit(wrap, shape, dtype):
    kind = getattr(ms, dtype)
    numbers = Tensor(np.random.RandomState(0).randn(*shape) + 1 / 3, ms.float64)
    x = ops.complex(numbers, numbers / 7) if dtype == "complex128" else numbers.astype(kind)
    y = wrap(lambda x: ms.pure_callback(lambda array: array, x, x))(x)
    assert (y.dtype, y.shape) == (kind, shape)
    assert y.asnumpy().tobytes() == x.asnumpy().tobytes()


@BOTH
def test_pure_callback_takes_and_returns_structures(wrap):
    def function(pair, factor, *, name="unused"):
        return {"b": [pair[1], np.int64(7)], "a": pair[0] * factor}  # the order of keys does not matter

    result = {"a": Tensor(X), "b": (Tensor(X), Tensor(0))}
    y = wrap(lambda x: ms.pure_callback(function, result, (x, x + 1), 3))(Tensor(X))
    close(y["a"], 3 * X)
    close(y["b"][0], X + 1)
    assert y["b"][1].item() == 7


@BOTH
def test_pure_callback_function_may_change_and_reuse_its_arrays(wrap):
    buffer = np.zeros(2, np.float32)

    def double(x):
        x *= 2
        buffer[:] = x
        return buffer

    x = Tensor(X)
    y, z = wrap(lambda x: (ms.pure_callback(double, x, x), ms.pure_callback(double, x, x + 1)))(x)
    close(y, 2 * X)
    close(z, 2 * X + 2)
    close(x, X)


@BOTH
def test_pure_callback_function_may_run_mindgrad(wrap):
    slope = ms.jit(ms.grad(lambda v: (v * v).sum()))
    close(wrap(lambda x: ms.pure_callback(lambda a: slope(Tensor(a)), x, x))(Tensor(X)), 2 * X)


def test_pure_callback_runs_in_every_call_and_in_branches_and_loops():
    calls = []

    def double(x):
        calls.append(threading.get_ident())
        return 2 * x

    @ms.jit
    def grow(x):
        n = 0
        while x.sum() < 100:
            x = ms.pure_callback(double, x, x)
            n = n + 1
        if x.sum() > 150:
            x = ms.pure_callback(double, x, x)
        return x, n

    x, n = grow(Tensor([1.0, 1.0]))
    assert (x.asnumpy().tolist(), n, len(calls)) == ([64.0, 64.0], 6, 6)
    x, n = grow(Tensor([20.0, 20.0]))
    assert (x.asnumpy().tolist(), n, len(calls)) == ([160.0, 160.0], 2, 9)


# --- derivatives ---------------------------------------------------------------------------------


@BOTH
def test_pure_callback_raises_when_differentiated(wrap):
    with pytest.raises(
        TypeError, match=r"'pure_callback', the derivative of 'gammaln' is unknown[\s\S]*bprop"
    ):
        ms.grad(wrap(log_gamma))(Tensor(X))
    close(ms.grad(wrap(lambda x: x * log_gamma(ops.stop_gradient(x))))(Tensor(X)), scipy.special.gammaln(X))


@BOTH
def test_pure_callback_of_integers_is_constant_for_derivatives(wrap):
    def function(x):
        return x * ms.pure_callback(lambda a: a.argmax(), Tensor(0), x)

    close(ms.grad(wrap(function))(Tensor(X)), [1.0, 1.0])


@MODES
def test_pure_callback_in_a_cell_has_the_derivative_of_bprop(mode):
    ms.set_context(mode=mode)
    net, x, slope = LogGamma(), Tensor(X), scipy.special.digamma(X)
    close(ms.grad(net)(x), slope)
    close(ms.jit(ms.grad(net))(x), slope)
    close(ms.jacfwd(net)(x), np.diag(slope))
    close(ms.vmap(ms.grad(net))(ops.stack([x, x])), [slope, slope])
    with pytest.raises(TypeError, match="the derivative of 'psi' is unknown"):
        ms.grad(ms.grad(net))(x)


@BOTH
def test_pure_callback_in_custom_vjp_has_its_derivative(wrap):
    function = custom_vjp(log_gamma)
    function.defbwd(lambda x, out, dout: (dout * ms.pure_callback(scipy.special.digamma, x, x),))
    close(ms.grad(wrap(lambda x: function(x).sum()))(Tensor(X)), scipy.special.digamma(X))


@MODES
def test_custom_has_derivatives_of_every_order(mode):
    ms.set_context(mode=mode)
    x = Tensor(X)
    total = lambda x: sine(x).sum()
    close(sine(x), np.sin(X))
    close(ms.grad(total)(x), np.cos(X))
    close(ms.hessian(total)(x), np.diag(-np.sin(X)))
    close(ms.grad(lambda x: ms.grad(lambda x: ms.grad(total)(x).sum())(x).sum())(x), -np.cos(X))
    close(ms.jvp(sine, x, x)[1], X * np.cos(X))
    close(ms.jet(sine, x, Tensor([[1.0, 1.0], [0.0, 0.0]]))[1], [np.cos(X), -np.sin(X)])
    close(ms.linearize(sine, x)[1](x), X * np.cos(X))
    assert ms.check_grad(sine, x).ok


@MODES
def test_custom_inside_loops_and_branches_is_differentiated(mode):
    ms.set_context(mode=mode)

    def loops(operator, x):
        n = 0
        while x.max() < 3.0 and n < 20:
            x = x + 0.1 * operator(x)
            n = n + 1
        for _ in range(3):
            if x.sum() > 1:
                x = operator(x) + x
        return x.sum()

    x, batch = Tensor(X), ops.stack([Tensor(X), Tensor(X + 1)])
    for f in (lambda g: g, lambda g: ms.jit(g)):
        own, known = f(lambda x: loops(sine, x)), f(lambda x: loops(ops.sin, x))
        close(own(x), known(x).asnumpy())
        close(ms.grad(own)(x), ms.grad(known)(x).asnumpy())
        close(ms.vmap(own)(batch), ms.vmap(known)(batch).asnumpy())
        close(ms.vmap(ms.grad(own))(batch), ms.vmap(ms.grad(known))(batch).asnumpy())


def test_custom_trains_as_the_operator_that_it_computes():
    losses = []
    for operator in (ops.sin, sine):
        weight = Parameter(Tensor([[0.3], [-0.2]]), name="weight")
        step = ms.value_and_grad(
            lambda x, y, operator=operator, weight=weight: ((operator(x @ weight) - y) ** 2).mean(),
            None,
            [weight],
        )
        optimizer = nn.SGD([weight], 0.1)
        rng = np.random.RandomState(0)
        for _ in range(60):
            x = rng.randn(8, 2).astype(np.float32)
            loss, gradients = step(Tensor(x), Tensor(np.sin(x[:, :1])))
            optimizer(gradients)
        losses.append(loss.item())
    assert_close(losses[0], losses[1], kind="program", dtype=np.float32)


def test_custom_with_several_results():
    def both(x):
        return x.sum(), x.astype(np.int32)

    split = ops.Custom(both, ((), (2,)), (ms.float32, ms.int32), "pyfunc")
    for f in (split, ms.jit(lambda x: split(x))):
        total, whole = f(Tensor(X))
        assert (total.item(), whole.asnumpy().tolist(), whole.dtype) == (2.0, [0, 1], ms.int32)


# --- NumPy in bprop, eager mode ---------------------------------------------------------------


class InNumPy(nn.Cell):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def construct(self, x, w):
        return Tensor((np.sin(x.asnumpy()) @ w.asnumpy()).astype(np.float32))

    def bprop(self, x, w, out, dout):
        x, w, d = x.asnumpy(), w.asnumpy(), dout.asnumpy()
        self.calls += 1
        return Tensor((d @ w.T * np.cos(x)).astype(np.float32)), Tensor((np.sin(x).T @ d).astype(np.float32))


def test_bprop_in_numpy_runs_in_pynative_mode_without_warnings():
    net, x, w = InNumPy(), Tensor([[0.3, 1.0]]), Tensor([[2.0], [3.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(30):
            of_x, of_w = ms.grad(net, (0, 1))(x, w)
    close(of_x, np.cos(x.asnumpy()) * [[2.0, 3.0]])
    close(of_w, np.sin(x.asnumpy()).T)
    assert net.calls == 30


def test_bprop_in_numpy_raises_for_second_derivatives():
    net, x, w = InNumPy(), Tensor([[0.3, 1.0]]), Tensor([[2.0], [3.0]])
    with pytest.raises(TypeError, match=r"the derivative of 'bprop of InNumPy' is unknown"):
        ms.grad(lambda x: ms.grad(net)(x, w).sum())(x)


def test_bprop_in_numpy_raises_in_compiled_functions():
    net, x, w = InNumPy(), Tensor([[0.3, 1.0]]), Tensor([[2.0], [3.0]])
    with pytest.raises(ms.CompileError, match="asnumpy"):
        ms.jit(ms.grad(net))(x, w)


def test_bprop_in_numpy_errors_are_the_users():
    function = custom_vjp(lambda x: x * 1.0)

    def backward(x, out, dout):
        raise ValueError(f"no slope at {x.asnumpy()[0]}")

    function.defbwd(backward)
    with pytest.raises(ValueError, match=r"no slope at 0\.5"):
        ms.grad(lambda x: function(x).sum())(Tensor(X))


# --- vmap -------------------------------------------------------------------------------------------


@BOTH
def test_pure_callback_under_vmap_runs_once_for_each_element(wrap):
    shapes = []

    def function(x, y):
        shapes.append((x.shape, y.shape))
        return x.sum() * y

    f = lambda x, y: ms.pure_callback(function, y, x, y)
    batch = Tensor(np.arange(6.0, dtype=np.float32).reshape(3, 2))
    close(wrap(ms.vmap(f, (0, None)))(batch, Tensor(X)), batch.asnumpy().sum(1)[:, None] * X)
    assert shapes == [((2,), (2,))] * 3
    close(
        wrap(ms.vmap(ms.vmap(f, (0, None)), (None, 1), 1))(batch, ops.ones((2, 2))),
        np.full((3, 2, 2), 1.0) * batch.asnumpy().sum(1)[:, None, None],
    )


# --- errors ---------------------------------------------------------------------------------------


@BOTH
def test_pure_callback_raises_the_error_of_the_function(wrap, caplog):
    def fails(x):
        raise KeyError("my own message")

    f = wrap(lambda x: ms.pure_callback(fails, x, x) + 1)
    for _ in range(2):
        with pytest.raises(KeyError, match="my own message") as caught:
            f(Tensor(X))
        assert caught.traceback[-1].name == "fails"
    assert not caplog.records
    close(wrap(lambda x: x + 1)(Tensor(X)), X + 1)  # the next program is not concerned


@BOTH
@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: np.zeros(3), ValueError, r"shape \(3,\), but its declared shape is \(2,\)"),
        (lambda x: (x, x), TypeError, "must return one array"),
        (lambda x: {"a": x}, TypeError, "must return one array"),
        (lambda x: x + 1j, TypeError, "dtype complex64, which cannot be converted .* float32"),
        (lambda x: "text", ValueError, r"shape \(\)"),
        (lambda x: None, TypeError, r"is None, but its declared shape is \(2,\)"),
    ],
)
def test_pure_callback_checks_the_result(wrap, function, error, message):
    with pytest.raises(error, match=message):
        wrap(lambda x: ms.pure_callback(function, x, x))(Tensor(X))


def test_pure_callback_checks_structures():
    x = Tensor(X)
    for returned in ({"b": X}, {"a": X, "b": X}, [X], X):
        with pytest.raises(TypeError, match=r"must return a dict with the keys \['a'\]"):
            ms.pure_callback(lambda x, returned=returned: returned, {"a": x}, x)
    with pytest.raises(
        TypeError, match="must return a tuple of 2 arrays, as 'result' declares, but it returned"
    ):
        ms.pure_callback(lambda x: (x, x, x), (x, x), x)


def test_pure_callback_checks_its_arguments():
    with pytest.raises(TypeError, match="'fn' must be callable, but got int"):
        ms.pure_callback(3, Tensor(X), Tensor(X))
    with pytest.raises(TypeError, match=r"'result' must have a shape and a dtype, but got \(?3"):
        ms.pure_callback(np.sin, 3, Tensor(X))
    with pytest.raises(ValueError, match="vmap_method='expand_dims' is not supported"):
        ms.pure_callback(np.sin, Tensor(X), Tensor(X), vmap_method="expand_dims")


def test_custom_checks_its_arguments():
    with pytest.raises(NotImplementedError, match=r"func_type='hybrid'.*Pass func_type='pyfunc'"):
        ops.Custom(np.sin, lambda x: x, lambda x: x)
    with pytest.raises(TypeError, match="'out_dtype' must be given"):
        ops.Custom(np.sin, lambda x: x, func_type="pyfunc")
    with pytest.raises(TypeError, match="'func' must be callable, but got str"):
        ops.Custom("./kernel.so:sin", lambda x: x, lambda x: x, func_type="pyfunc")
    with pytest.raises(TypeError, match="'bprop' must be callable"):
        ops.Custom(np.sin, lambda x: x, lambda x: x, func_type="pyfunc", bprop=3)


def test_source_raises_for_programs_with_callbacks():
    with pytest.raises(
        NotImplementedError, match=r"'callback' .* it calls a Python function of this process"
    ):
        ms.source(log_gamma, Tensor(X))


# --- the cache on disk --------------------------------------------------------------------------


PROGRAM = """
import numpy as np, mindgrad as ms
from pathlib import Path
from mindgrad import Tensor
from mindgrad.core.backend import disk
f = ms.jit(lambda x: ms.pure_callback(np.sqrt, x, x) + 1)
print(f(Tensor([4.0])), ms.jit(ms.vmap(f))(Tensor([[4.0], [9.0]])).asnumpy().ravel())
kept = disk.entries(disk.directory()).number
print(ms.jit(lambda x: x * 3.25 + 1)(Tensor([4.0])), kept, disk.entries(disk.directory()).number)
"""


def test_programs_with_callbacks_are_not_kept_on_disk(tmp_path):
    environment = {
        **os.environ, disk.DIRECTORY_VARIABLE: str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")
    }  # fmt: skip
    for kept in (0, 1):
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=100
        )
        assert run.stdout.split() == ["[3.]", "[3.", "4.]", "[14.]", str(kept), "1"], run.stderr


def test_print_of_complex128_in_compiled_code_shows_every_digit(capsys):
    x = ops.complex(Tensor(np.array([1 / 3])), Tensor(np.array([2 / 3])))

    @ms.jit
    def shown(x):
        print(x)
        return x * 2

    shown(x)
    assert capsys.readouterr().out == f"{x}\n"
