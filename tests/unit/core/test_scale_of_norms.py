"""Norms of vectors whose squares would overflow or vanish, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, mint, ops
from mindgrad import numpy as mnp
from tests.tolerances import assert_close

WRAPS = {"eager": lambda d: d, "compiled": ms.jit}
SCALES = [
    (1e-30, ms.float32),
    (1e-12, ms.float32),
    (1e30, ms.float32),
    (1e-250, ms.float64),
    (1e250, ms.float64),
]
NORMS: dict[str, tuple[Callable[[Tensor], Tensor], float]] = {
    "norm": (ops.norm, 2),
    "vector_norm_2": (ops.vector_norm, 2),
    "vector_norm_3": (lambda x: ops.vector_norm(x, 3), 3),
    "vector_norm_-2": (lambda x: ops.vector_norm(x, -2), -2),
    "matrix_norm": (lambda x: ops.matrix_norm(x.reshape(1, 2)), 2),
    "mint_norm": (lambda x: mint.norm(x, p=2), 2),
    "numpy_norm": (mnp.norm, 2),
    "hypot": (lambda x: ops.hypot(x[0], x[1]), 2),
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize(("scale", "dtype"), SCALES)
@pytest.mark.parametrize("name", NORMS)
def test_norm_at_extreme_scale_has_its_value_and_gradient(name, scale, dtype, wrap):
    function, p = NORMS[name]
    v = np.array([3.0, -4.0])
    total = (np.abs(v) ** p).sum() ** (1 / p)
    slope = np.sign(v) * np.abs(v) ** (p - 1) * total ** (1 - p)
    x = Tensor(v * scale, dtype)
    value, gradient = WRAPS[wrap](ms.value_and_grad(function))(x)
    assert_close(value.asnumpy().astype(float) / scale, total, kind="program", dtype=dtype)
    assert_close(gradient, slope, kind="program")


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize(("scale", "dtype"), SCALES)
@pytest.mark.parametrize("name", ["norm", "hypot"])
def test_norm_at_extreme_scale_has_its_hessian(name, scale, dtype, wrap):
    x = Tensor(np.array([3.0, 4.0]) * scale, dtype)
    found = WRAPS[wrap](ms.hessian(NORMS[name][0]))(x).asnumpy().astype(float) * scale
    u = np.array([0.6, 0.8])
    assert_close(found, (np.eye(2) - np.outer(u, u)) / 5, kind="long program", dtype=dtype)


@pytest.mark.parametrize(("scale", "dtype"), SCALES)
def test_norm_of_a_batch_scales_each_vector(scale, dtype):
    x = Tensor(np.array([[3.0 * scale, 4.0 * scale], [0.6, 0.8], [0.0, 0.0]]), dtype)
    value, gradient = ms.value_and_grad(
        lambda x: (ops.norm(x, dim=1) / Tensor([scale, 1.0, 1.0], dtype)).sum()
    )(x)
    assert_close(value, 6, kind="program")
    assert_close(gradient.asnumpy()[1:], [[0.6, 0.8], [0, 0]], kind="program")
    found = ms.jit(ms.vmap(ms.grad(ops.norm)))(x).asnumpy()
    assert_close(found, [[0.6, 0.8], [0.6, 0.8], [0, 0]], kind="program")


@pytest.mark.parametrize("wrap", WRAPS)
def test_norm_of_infinite_and_undefined_elements(wrap):
    norm = WRAPS[wrap](lambda x: ops.norm(x, dim=1))
    found = norm(Tensor([[np.inf, 1.0], [np.nan, 1.0], [-np.inf, np.nan], [3e38, 3e38]])).asnumpy()
    np.testing.assert_array_equal(found, [np.inf, np.nan, np.nan, np.inf])


@pytest.mark.parametrize("wrap", WRAPS)
def test_norm_of_a_tiny_vector_moves_by_a_larger_direction(wrap):
    x, t = Tensor(np.array([1e-200, 0.0, 0.0])), Tensor(np.array([1e-100, 0.0, 0.0]))
    moved: Any = WRAPS[wrap](lambda x: ms.jvp(ops.norm, x, t)[1])(x)
    assert_close(moved, 1e-100, kind="program")


NORMALIZATIONS = {
    "L2Normalize": (lambda x: ops.L2Normalize(axis=1, epsilon=0.0)(x), ms.float32),
    "normalize": (lambda x: mint.nn.functional.normalize(x, eps=0.0), ms.float32),
    "cosine_similarity": (
        lambda x: ops.cosine_similarity(x, Tensor([[1.0, 0.0]], x.dtype) * x[0, 0], eps=0.0),
        ms.float32,
    ),
}


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_normalization_at_extreme_scale_is_that_of_the_direction(name, scale):
    function, dtype = NORMALIZATIONS[name]
    x = Tensor(np.array([[3.0, 4.0]]) * scale, dtype)
    assert_close(function(x).asnumpy().ravel()[0], 0.6, kind="program")
    found = ms.grad(lambda x: function(x).ravel()[0])(x).asnumpy().astype(float) * scale
    assert np.isfinite(found).all()
    if name != "cosine_similarity":
        assert_close(found, [[0.128, -0.096]], kind="long program", dtype=dtype)


def test_cosine_similarity_of_a_zero_vector_keeps_its_epsilon():
    y = Tensor([[3.0, 4.0]])
    found = ms.grad(lambda x: ops.cosine_similarity(x, y, eps=0.5).sum())(Tensor([[0.0, 0.0]]))
    assert_close(found, [[6.0, 8.0]])
