"""Rows of a batch stay apart through convolutions, systems, transforms, lookups and factors, as through dense layers:
derivatives of second order are computed in forward mode as Taylor series, and are those of jax.
"""

import numpy as np
import pytest

import mindgrad
import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.backend.jax_import import jax_module
from mindgrad.frontend.programs.compiled import trace
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import with_and_without, with_costs

ROWS = 12
generator = np.random.default_rng(0)
POINTS = generator.normal(size=(ROWS, 1))
MATRICES = generator.normal(size=(ROWS, 3, 3)) + 4 * np.eye(3)
KERNELS = generator.normal(size=(5, 1, 1)), generator.normal(size=(1, 5, 1))
PLACES = np.array([2, 0, 3, 3])


def waves(xp, x):
    return [xp.sin(x), xp.cos(2 * x) * x, x * x, xp.sin(x) + 1]


def convolution(x):
    y = x.reshape(1, 1, ROWS)
    for kernel in KERNELS:
        y = ops.tanh(ops.conv1d(y, Tensor(kernel)))
    return y.reshape(ROWS, 1)


def convolution_of_samples(x):
    return ops.conv1d(
        ops.tanh(ops.conv1d(x.reshape(ROWS, 1, 1), Tensor(KERNELS[0]))), Tensor(KERNELS[1])
    ).reshape(ROWS, 1)


def system(x):
    right = ops.stack(waves(ops, x)[:3], 1)
    return ops.solve(Tensor(MATRICES) + ops.tanh(x).reshape(ROWS, 1, 1), right).sum((1, 2)).reshape(ROWS, 1)


def lookup(x):
    return ops.gather(ops.concat(waves(ops, x), 1), Tensor(PLACES), 1).prod(1, keep_dims=True)


def factor(x):
    matrix = ops.eye(3, dtype=ms.float64) * 4 + ops.tanh(x).reshape(ROWS, 1, 1)
    return ops.cholesky(matrix).sum((1, 2)).reshape(ROWS, 1)


def spectrum(x):
    return (ops.abs(ops.fft(ops.concat(waves(ops, x), 1))) ** 2).sum(1, keepdims=True).log()


def jax_forms(jax):
    """The same functions of one row."""
    numpy = jax.numpy

    def layers(x, last):
        y = numpy.tanh(KERNELS[0][:, :, 0] @ x)
        return last(KERNELS[1][:, :, 0] @ y)[0]

    return {
        convolution: lambda x: layers(x, numpy.tanh),
        convolution_of_samples: lambda x: layers(x, lambda y: y),
        system: lambda x, a: numpy.linalg.solve(a + numpy.tanh(x), numpy.stack(waves(numpy, x)[:3])).sum(),
        lookup: lambda x: numpy.concatenate(waves(numpy, x))[PLACES].prod(),
        factor: lambda x: numpy.linalg.cholesky(4 * numpy.eye(3) + numpy.tanh(x)).sum(),
        spectrum: lambda x: numpy.log(
            (numpy.abs(numpy.fft.fft(numpy.concatenate(waves(numpy, x)))) ** 2).sum()
        ),
    }


@pytest.mark.parametrize(
    "function",
    [convolution, convolution_of_samples, system, lookup, factor, spectrum],
    ids=lambda f: f.__name__,
)
def test_second_derivatives_are_a_series(function):
    slope = ms.grad(lambda x: function(x).sum())
    curvature = ms.grad(lambda x: slope(x).sum())
    explained = mindgrad.explain(curvature)(Tensor(POINTS))
    assert {"diagonal", "series"} <= {fired.name for fired in explained.fired}
    jax = jax_module()
    with jax.enable_x64(True):
        row = jax_forms(jax)[function]
        operands = (POINTS, MATRICES) if function is system else (POINTS,)
        wanted = jax.vmap(lambda x, *rest: jax.hessian(row)(x, *rest)[0])(*operands)
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        assert_close(curvature(Tensor(POINTS)), wanted, kind="program")


def test_a_convolution_over_rows_mixes_them():
    kernel = Tensor(np.ones((1, 1, 2)))

    def function(x):
        return ops.conv1d(x.reshape(1, 1, ROWS), kernel).sin().sum()

    explained = mindgrad.explain(ms.grad(lambda x: ms.grad(function)(x).sum()))(Tensor(POINTS))
    assert "diagonal" not in {fired.name for fired in explained.fired}


def test_the_directions_of_a_laplacian_are_samples_of_a_convolution(monkeypatch):
    """A batch is an axis of samples more, behind which the rows are still seen: so the stacks go in tiles of rows."""
    with_costs(monkeypatch, stack_tile_bytes=2 * 6 * 4 * 6 * 8, stack_tiles=2, stack_width=2)
    kernels = [Tensor(generator.normal(size=shape)) for shape in ((4, 1, 3), (4, 4, 3), (1, 4, 3))]
    x = Tensor(generator.normal(size=(24, 6)))

    def network(x):
        y = x.reshape(24, 1, 6)
        for kernel in kernels:
            y = ops.tanh(ops.conv1d(y, kernel, pad_mode="same"))
        return y.sum((1, 2))

    fired, (found,) = with_and_without(lambda x: ms.laplacian(network)(x), x)
    assert fired["blocks"] == 1
    graph = trace(lambda x: ms.laplacian(network)(x), x)
    assert [e.parameters["length"] for e in graph.equations if e.primitive.name == "scan"] == [12], (
        "of two rows"
    )
    assert "tanh" not in graph.count(), "all layers are in the loop"
    traces = [
        np.trace(h) for h in ms.vmap(mindgrad.hessian(lambda x: network_of_one(x, kernels)))(x).asnumpy()
    ]
    assert_close(found, traces, kind="program")


def network_of_one(x, kernels):
    y = x.reshape(1, 1, 6)
    for kernel in kernels:
        y = ops.tanh(ops.conv1d(y, kernel, pad_mode="same"))
    return y.sum()
