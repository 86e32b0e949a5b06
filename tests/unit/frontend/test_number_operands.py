"""Python numbers that change between calls become inputs of a compiled function, if it only computes with them."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from tests.tolerances import assert_close

X = np.array([1.0, 2.0, 3.0], np.float32)


def _run(f, values, *args):
    """The results for the values, and how many programs were compiled."""
    compiled, before = ms.jit(f), ms.cache_info(f).misses
    results = [compiled(value, *args) for value in values]
    return results, compiled.cache_info().misses - before


def _check(f, most, values=range(2, 9)):
    results, misses = _run(f, values, Tensor(X))
    for value, result in zip(values, results, strict=True):
        right = f(value, Tensor(X))
        assert result.dtype == right.dtype
        assert_close(result, right)
    assert misses == most


COMPUTED = {
    "sum": lambda i, x: x + i,
    "product": lambda i, x: x * i * 2,
    "quotient by a constant": lambda i, x: x * (i / 1000),
    "quotient by a tensor": lambda i, x: i / x,
    "tensor by the number": lambda i, x: x / i,
    "annealing": lambda i, x: i / 10 * x.sum() - (1 - i / 10) * ops.sqrt(x).sum(),
    "decay": lambda i, x: x * 0.9**i,
    "remainder": lambda i, x: x * (i % 3),
    "branch": lambda i, x: x * 2 if i > 4 else x,
    "statement": lambda i, x: _warm_up(i, x),
    "not used": lambda i, x: x * 2,
    "maximum": lambda i, x: ops.maximum(x, i),
    "square": lambda i, x: x * (i**2),
    "one_hot": lambda i, x: ops.one_hot(Tensor(i), 9, Tensor(1.0), Tensor(0.0)),
}


def _warm_up(i, x):
    rate = 0.1
    if i < 5:
        rate = 0.1 * i / 5
    return x * rate


@pytest.mark.parametrize("name", COMPUTED)
def test_int_that_is_computed_with_becomes_an_input(name):
    _check(COMPUTED[name], 2)


FLOATS = (2.5, 3.5, 4.5, -0.5, 0.25, 7.0)
COMPUTED_FLOATS = {
    "sum": lambda t, x: x + t,
    "product": lambda t, x: x * t * 2,
    "cube": lambda t, x: x * (t * t * t),
    "quotients": lambda t, x: x / t + t / x + t / 3,
    "operator": lambda t, x: ops.sin(2 * t) * x,
    "remainder": lambda t, x: x * (t % 2.0) + t // 1.5,
    "branch": lambda t, x: x * 2 if t > 3 else x,
    "equality": lambda t, x: x if t == 3.5 else 2 * x,
    "type": lambda t, x: x * t if isinstance(t, float) else x,
    "result": lambda t, x: x * t,
    "half precision": lambda t, x: x.astype(ms.float16) * t,
    "integers": lambda t, x: x.astype(ms.int32) * t,
    "gradient": lambda t, x: ms.grad(lambda x: (t * x**3).sum())(x),
    "clipped": lambda t, x: ops.clip_by_value(x, 0.0, t),
}


@pytest.mark.parametrize("name", COMPUTED_FLOATS)
def test_float_that_is_computed_with_becomes_an_input(name):
    _check(COMPUTED_FLOATS[name], 2, FLOATS)


SCALARS = {
    "linspace": [*np.linspace(0.25, 1.75, 7)],
    "arange": [*np.arange(2, 9)],
    "float32": [*np.linspace(0.3, 2.0, 7, dtype=np.float32)],
    "uint8": [*np.arange(2, 9, dtype=np.uint8)],
}
ON_A_TENSOR = {
    "sum": lambda t, x: x + t,
    "product": lambda t, x: t * x * 2,
    "quotients": lambda t, x: x / t + t / x,
    "gradient": lambda t, x: ms.grad(lambda x: (t * x**3).sum())(x),
    "double": lambda t, x: x.astype(ms.float64) * t,
    "half precision": lambda t, x: x.astype(ms.float16) * t,
    "tensor outside": lambda t, x: x + t * OUTSIDE,
    "loop": lambda t, x: _steps(t, x),
    "branch on a tensor": lambda t, x: x * t if x.sum() > 0 else x / t,
}
OUTSIDE = Tensor(X)


def _steps(t, x):
    for _ in range(3):
        x = x + t * ops.tanh(x)
    return x


@pytest.mark.parametrize("values", SCALARS)
@pytest.mark.parametrize("name", ON_A_TENSOR)
def test_scalar_of_numpy_that_meets_a_tensor_becomes_an_input(name, values):
    _check(ON_A_TENSOR[name], 2, SCALARS[values])


@pytest.mark.parametrize("values", ["linspace", "arange"])
def test_scalar_of_numpy_in_pythons_precision_is_computed_with(values):
    _check(lambda t, x: x * (0.1 * t + t * t) - t / 3, 2, SCALARS[values])


def test_product_with_a_scalar_of_numpy_and_a_number_becomes_an_input():
    _check(lambda t, x: 2 * x * t * 0.5, 2, SCALARS["linspace"])


DISTINGUISHED = {
    "sum of numbers": lambda t, x: (ops.add(t, 2.0) * x).astype(ms.float32),
    "type": lambda t, x: x * t if isinstance(t, np.floating) else x,
    "constants": lambda t, x: x * (2 if isinstance(t, np.floating) else 3),
    "factor": lambda t, x: x * (2 if isinstance(t, np.floating) else t),
    "power": lambda t, x: x * t + x ** (2 if isinstance(t, np.floating) else 3),
    "inside": lambda t, x: ms.grad(lambda x: (x ** (2 if isinstance(t, np.floating) else 3)).sum())(x),
    "class": lambda t, x: x * t if type(t) is np.float64 else x,
    "method": lambda t, x: x * t.round(1),
    "function": lambda t, x: x * np.exp(t),
    "denominator": lambda t, x: x * (1 / t),
    "exponent": lambda t, x: x**t,
    "text": lambda t, x: x * len(str(t)),
    "branch": lambda t, x: x * 2 if t > 1 else x,
}


@pytest.mark.parametrize("name", DISTINGUISHED)
def test_scalar_of_numpy_that_is_distinguished_stays_a_constant(name):
    _check(DISTINGUISHED[name], 7, SCALARS["linspace"])


IN_OPERATORS = {
    "operator": lambda t, x: ops.sin(t) * x,
    "operator of a product": lambda t, x: ops.sin(2 * t) * x,
    "result": lambda t, x: ops.exp(t),
    "tensor": lambda t, x: Tensor(t) * x,
    "operators": lambda t, x: ops.cos(ops.exp(-t)) + x,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", IN_OPERATORS)
def test_scalar_of_numpy_keeps_its_precision_in_operators(name, dtype):
    x, f = Tensor(X.astype(dtype)), IN_OPERATORS[name]
    results, misses = _run(f, SCALARS["linspace"], x)
    for t, result in zip(SCALARS["linspace"], results, strict=True):
        right = f(t, x)
        assert result.dtype == right.dtype == ms.float64
        assert_close(result, right, "program")
    assert misses == 2


@pytest.mark.parametrize("name", ["type", "constants", "class", "sum of numbers"])
def test_scalar_of_numpy_does_not_run_the_program_of_a_float(name):
    f = DISTINGUISHED[name]
    compiled = ms.jit(f)
    for t in (0.5, 0.75, np.float64(0.5), np.float64(0.75), 1.25, np.float64(1.25)):
        x = Tensor(X.astype(np.float64))
        assert_close(compiled(t, x), f(t, x), "program")


def test_arithmetic_of_small_scalars_overflows_as_in_numpy():
    f = lambda i, x: x * (i * i)
    with np.errstate(over="ignore"):
        results, _ = _run(f, [np.uint8(k) for k in (20, 21, 22)], Tensor(X))
    for i, result in zip((20, 21, 22), results, strict=True):
        np.testing.assert_allclose(result.asnumpy(), X * ((i * i) % 256))


def test_scalar_of_numpy_that_is_returned_is_one():
    f = ms.jit(lambda t, x: (t * 2, x * t))
    for t in SCALARS["linspace"]:
        result = f(t, Tensor(X))[0]
        assert type(result) is np.float64
        assert result == 2 * t


CONSTANT_FLOATS = {
    "denominator": lambda t, x: x * (1 / t),
    "exponent": lambda t, x: x**t,
    "integer": lambda t, x: x * int(t),
    "text": lambda t, x: x * len(str(t)),
    "dict": lambda t, x: x * {2.5: 1.0}.get(t, 2.0),
    "assertion": lambda t, x: _asserted(t, x),
}


def _asserted(t, x):
    assert t > -1
    return x * t


@pytest.mark.parametrize("name", CONSTANT_FLOATS)
def test_float_that_decides_stays_a_constant(name):
    _check(CONSTANT_FLOATS[name], len(FLOATS), FLOATS)


def test_float_that_is_zero_or_infinite_stays_a_constant():
    f = lambda t, x: ms.grad(lambda x: (t * ops.sqrt(x)).sum())(x)
    zero = Tensor([0.0, 1.0])
    compiled = ms.jit(f)
    for t in (1.0, 2.0, 0.0, -0.0, 3.0):
        assert np.array_equal(compiled(t, zero).asnumpy(), f(t, zero).asnumpy())
    assert compiled.cache_info().misses == 4


def test_float_that_makes_python_raise_still_raises():
    compiled = ms.jit(lambda t, x: x * (1 / t))
    for t in (1.0, 2.0):
        compiled(t, Tensor(X))
    with pytest.raises(ZeroDivisionError):
        compiled(0.0, Tensor(X))


CONSTANT = {
    "shape": lambda i, x: ops.zeros((i,), ms.float32) + x.sum(),
    "index": lambda i, x: x[i % 3],
    "range": lambda i, x: x * sum(range(i)),
    "loop": lambda i, x: _loop(i, x),
    "list": lambda i, x: x * [1, 2, 3, 4, 5, 6, 7, 8, 9, 10][i],
    "dict": lambda i, x: x * {k: k for k in range(10)}[i],
    "denominator": lambda i, x: x * (1 / i),
    "power": lambda i, x: x * 3**i,
    "fourth power": lambda i, x: x * (i**4),
    "large product": lambda i, x: x * ((i * 2**40) % (2**41 - 1)),
    "text": lambda i, x: x * len(str(i)),
    "gather": lambda i, x: ops.gather(x, Tensor(i % 3), 0),
}


def _loop(i, x):
    for _ in range(i):
        x = x * 1.5
    return x


@pytest.mark.parametrize("name", CONSTANT)
def test_int_that_must_be_known_stays_a_constant(name):
    _check(CONSTANT[name], 7)


def test_division_by_a_changing_int_raises_as_in_eager_mode():
    f = ms.jit(lambda i, x: x * (1 / i))
    f(1, Tensor(X))
    f(2, Tensor(X))
    with pytest.raises(ZeroDivisionError):
        f(0, Tensor(X))


def test_index_out_of_range_raises_as_in_eager_mode():
    f = ms.jit(lambda i, x: x[i])
    f(0, Tensor(X))
    f(1, Tensor(X))
    with pytest.raises(IndexError):
        f(3, Tensor(X))


def test_large_int_stays_a_constant():
    f = ms.jit(lambda i, x: x + i)
    for value in (1, 2, 2**40, 2**62, 5):
        assert_close(f(value, Tensor(X)), X + np.float32(value))


def test_bool_stays_a_constant():
    f = ms.jit(lambda i, x: x * 2 if i else x)
    assert f(True, Tensor(X)).asnumpy().tolist() == [2, 4, 6]
    assert f(False, Tensor(X)).asnumpy().tolist() == [1, 2, 3]
    assert f(1, Tensor(X)).asnumpy().tolist() == [2, 4, 6]


def test_number_that_is_returned_is_an_int():
    f = ms.jit(lambda i, x: (i + 1, x))
    for value in range(5):
        result = f(value, Tensor(X))[0]
        assert result == value + 1
        assert type(result) is int


def test_keyword_and_one_of_two_ints_become_inputs():
    f = ms.jit(lambda x, n, step=0: x * step / n)
    for step in range(6):
        assert_close(f(Tensor(X), 10, step=step), X * step / 10)
    assert f.cache_info().misses == 2


@pytest.mark.parametrize("size", [4, 100])
def test_gradient_with_a_counter_in_graph_mode_compiles_twice(size):
    w = Parameter(Tensor(np.full(size, 0.1, np.float32)), name="w")
    couplings = Tensor(np.eye(size, dtype=np.float32))

    def energy(i, n):
        t = i / n
        c = ops.tanh(w)
        return t * ops.matmul(c, ops.matmul(couplings, c)) - (1 - t) * ops.sqrt(1 - c * c).sum()

    optimizer = nn.Adam([w], 0.1)
    step = ms.value_and_grad(energy, None, optimizer.parameters)
    ms.set_context(mode=ms.GRAPH_MODE)
    before = ms.cache_info(energy).misses
    try:
        for i in range(5):
            optimizer(step(i, 1000)[1])
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert ms.cache_info(energy).misses == before + 2
