"""Resizing: against interpolation written element by element, two derivatives, both modes, errors."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from tests.tolerances import assert_close
from tests.unit.derivative_checks import check

RNG = np.random.default_rng(4)


def places(n, m, how):
    return [
        {"ends": i * (n - 1) / max(m - 1, 1), "areas": (i + 0.5) * n / m - 0.5, "starts": i * n / m}[how]
        for i in range(m)
    ]


def linear(x, m, how):
    """Along the last axis, by NumPy's interpolation, which repeats the edge."""
    n = x.shape[-1]
    rows = [np.interp(places(n, m, how), np.arange(n), row) for row in x.reshape(-1, n)]
    return np.reshape(rows, (*x.shape[:-1], m))


def cubic(x, m, how):
    """Along the last axis, by Keys' kernel: with matching ends of slope −3/4 and with the edge repeated."""
    n, a = x.shape[-1], -0.75 if how == "ends" else -0.5
    y = np.zeros((*x.shape[:-1], m))
    for i, at in enumerate(places(n, m, how)):
        total = 0.0
        for k in range(int(np.floor(at)) - 1, int(np.floor(at)) + 3):
            d = abs(at - k)
            w = (a + 2) * d**3 - (a + 3) * d**2 + 1 if d <= 1 else a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
            if how == "ends" or 0 <= k < n:
                y[..., i] += w * x[..., min(max(k, 0), n - 1)]
                total += w
        y[..., i] /= total
    return y


def both(function, x, sizes, how):
    y = function(x, sizes[1], how)
    return function(y.swapaxes(-1, -2), sizes[0], how).swapaxes(-1, -2)


X = RNG.normal(size=(2, 3, 4, 5))


@pytest.mark.parametrize("sizes", [(7, 9), (2, 3), (4, 11), (1, 1)])
@pytest.mark.parametrize("aligned", [False, True])
def test_linear_and_cubic(sizes, aligned):
    how = "ends" if aligned else "areas"
    for mode, function in (("bilinear", linear), ("bicubic", cubic)):
        check(
            lambda x: ops.interpolate(x, sizes, mode=mode, align_corners=aligned),  # noqa: B023
            lambda x: both(function, x, sizes, how),  # noqa: B023
            X,
        )


def test_one_and_three_axes():
    x = X[0]
    check(lambda x: ops.interpolate(x, 8, mode="linear"), lambda x: linear(x, 8, "areas"), x)
    volume = RNG.normal(size=(1, 2, 2, 3, 4))
    actual = ops.interpolate(Tensor(volume), (3, 5, 6), mode="trilinear", align_corners=True).asnumpy()
    expected = both(linear, volume, (5, 6), "ends")
    expected = linear(np.moveaxis(expected, 2, -1), 3, "ends")
    assert_close(actual, np.moveaxis(expected, -1, 2), kind="program")


@pytest.mark.parametrize("sizes", [(8, 10), (6, 7), (3, 2)])
def test_nearest(sizes):
    rows, columns = ([i * n // m for i in range(m)] for n, m in zip(X.shape[2:], sizes, strict=True))
    check(lambda x: ops.interpolate(x, sizes), lambda x: x[:, :, rows][..., columns], X)
    exact = [[int((i + 0.5) * n / m) for i in range(m)] for n, m in zip(X.shape[2:], sizes, strict=True)]
    found = ops.interpolate(Tensor(X), sizes, mode="nearest-exact").asnumpy()
    np.testing.assert_array_equal(found, X[:, :, exact[0]][..., exact[1]])
    area = ops.interpolate(Tensor(X), sizes, mode="area").asnumpy()
    np.testing.assert_array_equal(area, ops.adaptive_avg_pool2d(Tensor(X), sizes).asnumpy())


def test_layers_and_older_operators():
    x = Tensor(X)
    assert_close(nn.ResizeBilinear()(x, (7, 9)), both(linear, X, (7, 9), "starts"), kind="program")
    assert_close(
        nn.ResizeBilinear()(x, scale_factor=2, align_corners=True),
        both(linear, X, (8, 10), "ends"),
        kind="program",
    )
    assert_close(nn.ResizeBilinear(True)(x, (7, 9)), both(linear, X, (7, 9), "areas"), kind="program")
    assert_close(ops.ResizeBilinear((7, 9))(x), both(linear, X, (7, 9), "starts"), kind="program")
    found = ops.ResizeNearestNeighbor((8, 10))(x).asnumpy()
    np.testing.assert_array_equal(found, X.repeat(2, 2).repeat(2, 3))
    aligned = ops.ResizeNearestNeighbor((3, 3), align_corners=True)(x).asnumpy()
    np.testing.assert_array_equal(aligned, X[:, :, [0, 2, 3]][..., [0, 2, 4]])
    up = nn.Upsample(scale_factor=(1.5, 2.0), mode="bilinear")
    assert_close(up(x), both(linear, X, (6, 10), "areas"), kind="program")
    shuffled = nn.ChannelShuffle(3)(Tensor(np.arange(6.0).reshape(1, 6)))
    np.testing.assert_array_equal(shuffled.asnumpy(), [[0, 2, 4, 1, 3, 5]])


def test_compiled_it_is_the_same():
    def every(x):
        return (ops.interpolate(x, (7, 9), mode="bicubic") ** 2).sum() + (ops.interpolate(x, 6) ** 3).sum()

    expected = ms.grad(every)(Tensor(X)).asnumpy()
    ms.set_context(mode=ms.GRAPH_MODE)
    assert_close(ms.grad(every)(Tensor(X)), expected, kind="program")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ops.interpolate(Tensor(X)), "pass either 'size' or 'scale_factor'"),
        (lambda: ops.interpolate(Tensor(X), 3, 2.0), "but not both"),
        (lambda: ops.interpolate(Tensor(X), 3, mode="linear"), r"mode 'linear', the input must have 3 axes"),
        (lambda: ops.interpolate(Tensor(X), 3, mode="cubic"), "'mode' must be one of nearest"),
        (lambda: ops.interpolate(Tensor(X), (3, 3, 3)), "'size' must be one number or 2"),
        (lambda: ops.interpolate(Tensor(X), 0), "'size' must be at least 1"),
        (lambda: ops.interpolate(Tensor(X), scale_factor=0.1), "must not reduce a size"),
        (lambda: ops.interpolate(Tensor(X), 3, align_corners=True), "has no effect"),
        (lambda: ops.ResizeBilinear((3, 3), True, True)(Tensor(X)), "cannot both be true"),
        (lambda: nn.ChannelShuffle(2)(Tensor(X)), "must be a multiple of 'groups'"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()
