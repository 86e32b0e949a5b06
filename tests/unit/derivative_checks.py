"""Checks of a composite function: its value against a formula in NumPy, two derivatives by differences."""

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

STEP = 1e-5


def _shifted(inputs, directions, step):
    return [x if v is None else x + step * v for x, v in zip(inputs, directions, strict=True)]


def check(function, reference, *inputs, seed=0, order=2):
    """`function` on Tensors is `reference` on arrays, and so are its derivatives along random directions.

    Floating-point inputs are differentiated, in float64. The second derivative is compared with
    differences of the first, which is compared with differences of `reference` (where that is None: of
    the function itself).
    """
    rng = np.random.default_rng(seed)
    inputs = [np.asarray(x) for x in inputs]
    places = tuple(i for i, x in enumerate(inputs) if x.dtype.kind == "f")
    v, u = ([rng.normal(size=x.shape) if x.dtype.kind == "f" else None for x in inputs] for _ in range(2))
    mask = rng.normal(size=function(*map(Tensor, inputs)).shape)

    def value(*arrays):
        return function(*map(Tensor, arrays)).asnumpy()

    def weighted(*tensors):
        return (function(*tensors) * Tensor(mask)).sum()

    def gradients_of(scalar, tensors):
        found = ms.grad(scalar, places)(*tensors)
        return found if len(places) > 1 else (found,)  # one place gives no tuple

    def slope(*tensors):
        gradients = gradients_of(weighted, tensors)
        return sum((g * Tensor(v[i])).sum() for g, i in zip(gradients, places, strict=True))

    found = value(*inputs)
    assert found.dtype == np.float64
    if reference is not None:
        assert_close(found, reference(*inputs), "law")
    of_array = value if reference is None else reference
    expected = sum(
        sign * (np.asarray(of_array(*_shifted(inputs, v, sign * STEP))) * mask).sum() for sign in (1, -1)
    ) / (2 * STEP)
    first = slope(*map(Tensor, inputs)).asnumpy()
    assert_close(first, expected, "difference", scale=1)
    if order < 2:
        return
    expected = sum(
        sign * slope(*map(Tensor, _shifted(inputs, u, sign * STEP))).asnumpy() for sign in (1, -1)
    ) / (2 * STEP)
    gradients = gradients_of(slope, list(map(Tensor, inputs)))
    second = sum((g.asnumpy() * u[i]).sum() for g, i in zip(gradients, places, strict=True))
    assert_close(second, expected, "difference", scale=1)


def as_parameters(cell, seed=0):
    """Float64 values for the Parameters of a Cell, and a function that applies it with them as inputs."""
    rng = np.random.default_rng(seed)
    parameters = [p for p in cell.get_parameters() if p.requires_grad]
    values = [rng.normal(size=p.shape) * 0.5 for p in parameters]
    for p in cell.get_parameters():
        p.set_dtype(ms.float64)

    def applied(x, *weights):
        # the values are assigned inside of the program that is differentiated
        for p, w in zip(parameters, weights, strict=True):
            ops.assign(p, w)
        return cell(x)

    return applied, values
