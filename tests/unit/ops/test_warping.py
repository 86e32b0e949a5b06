"""Images read at the places of a grid: against a formula, MindSpore's numbers, two derivatives, compiled."""

import itertools

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close
from tests.unit.derivative_checks import check

RNG = np.random.default_rng(8)
# MindSpore 2.10, for RandomState(0).randn(1, 1, 3, 4) and RandomState(1).rand(1, 2, 3, 2) * 2.6 - 1.3
MINDSPORE = {
    ("bilinear", "zeros", True): [-0.063958615, 0.998708844, 1.50147998, 1.2040143, -0.671060979, -0.147935331],
    ("bilinear", "zeros", False): [0.218168214, 0.0, 0.479757935, 1.5679251, -0.681173325, 0.052604385],
    ("bilinear", "border", True): [-0.063958615, 1.81436276, 1.59718263, 1.2040143, -0.671060979, -0.147935331],
    ("bilinear", "border", False): [0.218168214, 1.78776515, 1.76405239, 1.80521536, -0.681173325, 0.052604385],
    ("bilinear", "reflection", True): [-0.063958615, 0.877614617, 1.59252763, 1.2040143, -0.671060979, -0.147935331],
    ("bilinear", "reflection", False): [0.218168214, 1.61846077, 1.76405239, 1.80521536, -0.681173325, 0.052604385],
    ("nearest", "zeros", True): [0.410598516, 1.76405239, 1.76405239, 1.867558, -0.977277875, -0.977277875],
    ("nearest", "zeros", False): [0.410598516, 0.0, 0.0, 1.76405239, -0.977277875, 0.410598516],
    ("nearest", "border", False): [0.410598516, 1.76405239, 1.76405239, 1.76405239, -0.977277875, 0.410598516],
    ("nearest", "reflection", True): [0.410598516, 1.76405239, 1.76405239, 1.867558, -0.977277875, -0.977277875],
}  # fmt: skip


@pytest.mark.parametrize("case", MINDSPORE)
def test_values_of_mindspore(case):
    x = np.random.RandomState(0).randn(1, 1, 3, 4).astype(np.float32)
    grid = (np.random.RandomState(1).rand(1, 2, 3, 2) * 2.6 - 1.3).astype(np.float32)
    mode, padding, aligned = case
    found = ops.grid_sample(Tensor(x), Tensor(grid), mode, padding, aligned)
    assert_close(found.asnumpy().ravel(), MINDSPORE[case], kind="program", each=True, scale=0.1)


def sampled(x, grid, aligned):
    """Linear interpolation with zeros outside, place by place."""
    n, c, *extent = x.shape
    found = np.zeros((n, c, *grid.shape[1:-1]))
    for place in np.ndindex(n, *grid.shape[1:-1]):
        at = grid[place][::-1]
        at = [
            (g + 1) / 2 * (s - 1) if aligned else ((g + 1) * s - 1) / 2
            for g, s in zip(at, extent, strict=True)
        ]
        for corner in itertools.product((0, 1), repeat=len(extent)):
            index = [int(np.floor(a)) + k for a, k in zip(at, corner, strict=True)]
            weight = np.prod([1 - abs(a - i) for a, i in zip(at, index, strict=True)])
            if all(0 <= i < s for i, s in zip(index, extent, strict=True)):
                found[(place[0], slice(None), *place[1:])] += weight * x[(place[0], slice(None), *index)]
    return found


@pytest.mark.parametrize("aligned", [False, True])
def test_derivatives(aligned):
    x, grid = RNG.normal(size=(2, 2, 3, 4)), RNG.uniform(-1.3, 1.3, size=(2, 2, 2, 2))
    check(
        lambda x, g: ops.grid_sample(x, g, align_corners=aligned),
        lambda x, g: sampled(x, g, aligned),
        x,
        grid,
    )
    for padding in ("border", "reflection"):
        check(lambda x, g, p=padding: ops.grid_sample(x, g, "bilinear", p, aligned), None, x, grid)


def test_volumes():
    x, grid = RNG.normal(size=(1, 2, 2, 3, 4)), RNG.uniform(-1.2, 1.2, size=(1, 1, 2, 2, 3))
    check(lambda x, g: ops.grid_sample(x, g, align_corners=True), lambda x, g: sampled(x, g, True), x, grid)


def test_affine_maps():
    # the identity reads the image itself; MindSpore 2.10 for the second
    one = Tensor(np.array([[[1.0, 0, 0], [0, 1, 0]]]))
    x = RNG.normal(size=(1, 2, 3, 4))
    for aligned in (False, True):
        grid = ops.affine_grid(one, x.shape, aligned)
        assert_close(ops.grid_sample(Tensor(x), grid, align_corners=aligned), x, kind="program")
    actual = ops.affine_grid(Tensor([[[1.0, 0.0, 0.5], [0.0, 2.0, 0.0]]]), (1, 1, 2, 3)).asnumpy()
    row = [[-1 / 6, 1.0], [0.5, 1.0], [7 / 6, 1.0]]
    assert_close(actual[0, 1], row)
    assert_close(actual[0, 0], np.array(row) * [1, -1])


def test_registration_compiled():
    """The gradient of a mismatch in the map, as an image registration takes it."""
    x, wanted = Tensor(RNG.normal(size=(1, 1, 5, 5))), Tensor(RNG.normal(size=(1, 1, 5, 5)))

    def mismatch(theta):
        return (
            (ops.grid_sample(x, ops.affine_grid(theta, (1, 1, 5, 5)), align_corners=False) - wanted) ** 2
        ).sum()

    theta = Tensor(np.array([[[0.9, 0.1, 0.05], [-0.1, 1.1, 0.02]]]))
    second = lambda t: (ms.grad(mismatch)(t) ** 2).sum()
    eager, compiled = ms.grad(second)(theta), ms.jit(ms.grad(second))(theta)
    assert_close(eager, compiled, kind="program")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ops.grid_sample(ops.ones((1, 1, 2, 2)), ops.ones((1, 2, 2, 3))), "the shapes of input and grid must be"),
        (lambda: ops.grid_sample(ops.ones((1, 1, 2, 2)), ops.ones((1, 2, 2, 2)), "bicubic"), "'mode' must be"),
        (lambda: ops.grid_sample(ops.ones((1, 1, 2, 2)), ops.ones((1, 2, 2, 2)), padding_mode="wrap"), "'padding_mode'"),
        (lambda: ops.affine_grid(ops.ones((1, 2, 2)), (1, 1, 2, 2)), "'theta' must have the shape"),
    ],
)  # fmt: skip
def test_errors(call, said):
    with pytest.raises(ValueError, match=said):
        call()
