"""Random programs with corners: eager, compiled and compiled without rewrites give the same derivatives.

First and second derivatives by ``grad`` and by ``jvp``, with the same elements infinite and NaN, where the
value is finite: elsewhere they are sums of infinities. Many functions are one compiled program, which XLA runs
with the rewrites, and NumPy without.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.base.tree import flatten
from mindgrad.core.ir import settings as options
from tests.programs.evaluated import evaluated
from tests.programs.nondifferentiable_functions import Drawn, cast

#: of each element type, how far results may be apart, and how many functions are one program
DTYPES = {
    "float64": (1e-7, 20),
    "float32": (2e-3, 8),
    "float16": (5e-2, 8),
    "bfloat16": (3e-1, 8),
    "complex128": (1e-7, 6),
    "complex64": (2e-3, 6),
}


def derivatives(function: Any, x: list[Tensor], t: list[Tensor]) -> dict[str, Any]:
    """The value, its derivatives, and those of the directional derivative."""

    def gradient(*xs: Tensor) -> Any:
        return ms.grad(function, (0, 1))(*xs)

    def slope(*xs: Tensor) -> Tensor:
        return ms.jvp(function, xs, tuple(t))[1]

    def slope_of_gradient(*xs: Tensor) -> Tensor:
        first, second = [real(g * d).sum() for g, d in zip(gradient(*xs), t, strict=True)]
        return first + second

    return {
        "value": function(*x),
        "grad": gradient(*x),
        "jvp": slope(*x),
        "grad of grad": ms.grad(slope_of_gradient, (0, 1))(*x),
        "jvp of grad": ms.jvp(gradient, tuple(x), tuple(t))[1],
        "grad of jvp": ms.grad(slope, (0, 1))(*x),
        "jvp of jvp": ms.jvp(slope, tuple(x), tuple(t))[1],
    }


def is_complex(x: Tensor) -> bool:
    return x.dtype in (ms.complex64, ms.complex128)


def real(x: Tensor) -> Tensor:
    return ops.real(x) if is_complex(x) else x


def results(drawn: list[Drawn], dtype: str) -> dict[str, list[dict[str, list[np.ndarray]]]]:
    """The derivatives of each function in each mode."""
    functions = [each.function() for each in drawn]
    points = [cast(each.point, dtype) for each in drawn]
    directions = [cast(each.direction, dtype) for each in drawn]

    def everything(points: Any, directions: Any) -> list[dict[str, Any]]:
        return [derivatives(*each) for each in zip(functions, points, directions, strict=True)]

    made = {"eager": everything(points, directions)}
    try:
        for mode, on, executor in (
            ("compiled", True, ms.jit),
            ("compiled without rewrites", False, evaluated),
        ):
            options.store("rewrites", on)
            made[mode] = executor(everything)(points, directions)
    finally:
        options.store("rewrites", True)
        ms.clear_cache()
    return {mode: [{k: numbers(v) for k, v in row.items()} for row in rows] for mode, rows in made.items()}


def numbers(result: Any) -> list[np.ndarray]:
    tensors = flatten(result)[0]
    return [t.astype(ms.complex128 if is_complex(t) else ms.float64).asnumpy() for t in tensors]


def is_close(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    if np.iscomplexobj(a) or np.iscomplexobj(b):
        return is_close(a.real, b.real, tolerance) and is_close(a.imag, b.imag, tolerance)
    scale = np.abs(a[np.isfinite(a)]).max(initial=1.0)
    return np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True)


def disagreements(drawn: list[Drawn], dtype: str) -> list[str]:
    """The differences between modes, as text."""
    made = results(drawn, dtype)
    lines = []
    for k, each in enumerate(drawn):
        rows = {mode: listed[k] for mode, listed in made.items()}
        if not any(np.isfinite(row["value"][0]) for row in rows.values()):
            continue
        for how, expected in rows["eager"].items():
            for mode in ("compiled", "compiled without rewrites"):
                for ours, theirs in zip(rows[mode][how], expected, strict=True):
                    if not is_close(ours, theirs, DTYPES[dtype][0]):
                        lines.append(
                            f"{each.text} at {each.point} along {each.direction}, {dtype}, {how}: "
                            f"{mode} {ours.tolist()}, eager {theirs.tolist()}"
                        )
    return lines


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of inputs that are only compared
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=1, derandomize=True, database=None, deadline=None)
@given(strategies.integers(0, 2**16))
def test_drawn_functions_have_the_same_derivatives_in_every_mode(dtype, seed):
    drawn = [Drawn(1000 * seed + k, dtype.startswith("complex")) for k in range(DTYPES[dtype][1])]
    assert not (lines := disagreements(drawn, dtype)), "\n".join(lines)
