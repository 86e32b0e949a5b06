"""A row that is made while the tests run is an operator of the whole system: modes, transforms, rewrites and laws know
it from the row alone.

One is linear and orders an axis, as ``cumsum`` does; one is elementwise.
"""

import numpy as np
import pytest

import mindgrad
import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.ir.dtype import float64
from mindgrad.core.ir.index_map import ORDERED
from mindgrad.core.ir.primitive import REGISTRY
from mindgrad.core.ir.scope import apply
from mindgrad.core.primitives.axes import Along
from mindgrad.core.primitives.kinds import elementwise, linear
from mindgrad.core.primitives.samples import case, reals
from mindgrad.inspect.emit.numpy_target import NumpyTarget
from tests.laws.harness import calls, kernel
from tests.laws.test_index_maps import orders_are_free, rows_are_apart, samples
from tests.laws.test_planted import BY_LAW
from tests.laws.test_sparsity import test_gradients as gradients_have_patterns
from tests.laws.test_sparsity import test_rows as patterns_hold
from tests.laws.test_taylor import test_taylor_is_nested_forward as taylor_is_nested_forward
from tests.tolerances import assert_close
from tests.unit.core.test_rewrite_tiles import ROWS, WEIGHTS, T, X, both, in_weights, small  # noqa: F401
from tests.unit.inspect.test_source import agree, evaluated

NAMES = ("halving_sum", "log_square")
POINTS = np.random.default_rng(0).normal(size=(6, 1))
SLOPES = np.array([[1.0, -0.5, 0.25, 2.0]])


def halving(jax_or_numpy, x, axis, reverse):
    """y_i = x_i + y_{i-1} / 2, or from the other end."""
    n = x.shape[axis]
    gaps = np.subtract.outer(np.arange(n), np.arange(n))
    weights = np.where(gaps >= 0, 0.5 ** np.abs(gaps), 0.0).astype(x.dtype)
    y = jax_or_numpy.tensordot(weights.T if reverse else weights, x, ((1,), (axis,)))
    return jax_or_numpy.moveaxis(y, 0, axis)


@pytest.fixture(scope="module")
def rows():
    """Both rows, as an author writes them."""
    halving_sum = linear(
        "halving_sum",
        type_rule=lambda x, axis, reverse: x,
        numpy=lambda x, axis, reverse: halving(np, x, axis, reverse),
        xla=lambda jax, x, axis, reverse: halving(jax.numpy, x, axis, reverse),
        transpose=lambda ct, x, axis, reverse: halving_sum(ct, axis=axis, reverse=not reverse),
        axes=Along("axis", ORDERED, keeps=True),
        samples=[
            case(reals()[2, 5, 2], axis=1, reverse=False, accepts="inexact"),
            case(reals()[4], axis=0, reverse=True, accepts="inexact"),
        ],
    )
    log_square = elementwise(
        "log_square",
        numpy=lambda x: np.log1p(x * x),
        xla=lambda jax, x: jax.numpy.log1p(x * x),
        partials=lambda y, x: [2 * x / (1 + x * x)],
        accepts="float",
        samples=reals(),
    )
    yield halving_sum, log_square
    for name in NAMES:
        del REGISTRY[name]


@pytest.fixture
def function(rows):
    """One value for each row of ``x``, by both operators."""
    halving_sum, log_square = rows

    def function(x):
        y = apply(halving_sum, ops.sin(x * Tensor(SLOPES)), axis=1, reverse=False)
        return apply(log_square, y + 1.5).sum(1, keepdims=True)

    return function


def of_one_row(jax):
    def row(x):
        y = halving(jax.numpy, jax.numpy.sin(x * SLOPES[0]), 0, False)
        return jax.numpy.log1p((y + 1.5) ** 2).sum()

    return row


@pytest.mark.parametrize("law", sorted(BY_LAW.keys() - {"conventions"}))
def test_the_laws(rows, law):
    for name in NAMES:
        BY_LAW[law](name, float64)


def test_the_laws_of_axes_series_and_patterns(rows):
    for row in rows:
        for arrays, parameters in samples(row):
            rows_are_apart(row, arrays, parameters)
            assert orders_are_free(row, arrays, parameters)
        taylor_is_nested_forward(row.name)
        patterns_hold(row.name)
        gradients_have_patterns(row.name)


def test_every_transform_in_both_modes(function):
    jax = jax_module()
    x = Tensor(POINTS)
    row = of_one_row(jax)
    with jax.enable_x64(True):
        scalars = jax.numpy.asarray(POINTS[:, 0])
        orders = [row, jax.grad(row), jax.grad(jax.grad(row)), jax.grad(jax.grad(jax.grad(row)))]
        value, slope, curvature, third = (np.asarray(jax.vmap(f)(scalars)) for f in orders)

    def total(x):
        return function(x).sum()

    ones = Tensor(np.ones_like(POINTS))
    results = {
        "value": (function, value),
        "forward": (lambda x: ops.jvp(function, x, ones)[1], slope),
        "reverse": (ms.grad(total), slope),
        "second order": (ms.grad(lambda x: ms.grad(total)(x).sum()), curvature),
        "forward over reverse": (lambda x: ops.jvp(ms.grad(total), x, ones)[1], curvature),
        "batch": (ops.vmap(lambda x: function(x.reshape(1, 1)).reshape(1)), value),
        "series": (lambda x: ops.jet(function, x, ops.stack((ones, ones * 0, ones * 0)))[1][2], third),
        "Hessian": (lambda x: mindgrad.hessian(total)(x).reshape(6, 6), np.diag(curvature)),
        "Laplacian": (lambda x: mindgrad.laplacian(function)(x), curvature),
    }
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        for what, (derivative, expected) in results.items():
            found = derivative(x).asnumpy()
            assert_close(found.reshape(np.shape(expected)), expected, kind="program", what=f"{what}, {mode}")


def test_rows_stay_apart(function):
    """Axis propagation sees through both, so that the second derivative is a series in forward mode."""
    slope = ms.grad(lambda x: function(x).sum())
    explained = mindgrad.explain(ms.grad(lambda x: slope(x).sum()))(Tensor(POINTS))
    assert {"diagonal", "series"} <= {fired.name for fired in explained.fired}


def test_in_tiles(rows, small):  # noqa: F811
    halving_sum, log_square = rows

    def loss(x, t, *weights):
        hidden = apply(halving_sum, ops.concat((x, t), 1), axis=1, reverse=True)
        hidden = apply(log_square, ops.matmul(hidden, weights[0]) + weights[1])
        return ops.square(ops.matmul(ops.tanh(ops.matmul(hidden, weights[2])), weights[3])).mean()

    assert X.shape[0] == ROWS
    assert both(in_weights(loss), X, T, *WEIGHTS)["tiles"] == 1


def test_the_program_is_written_with_the_kernels(rows):
    """Emission needs no form of the row: a row without one is written by its kernel."""
    for row in rows:
        for call in calls(row.name, float64):
            agree(list(evaluated(call, NumpyTarget())), kernel(call), "program", row.name)
