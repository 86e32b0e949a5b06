"""Functions that compute one step of each recurrent layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.contraction import dot
from mindgrad.ops import arithmetic, math, movement, rectifiers
from mindgrad.ops.activation import sigmoid
from mindgrad.ops.operands import promoted

__all__ = ["GATES", "STEPS", "affine"]


def affine(x: Tensor, weight: Any, bias: Any) -> Tensor:
    """Compute x Wᵀ + b over the last axis."""
    x, w = promoted("RNN", x, weight, broadcast=False)
    y = apply(dot, x, w, contract=((x.ndim - 1,), (1,)), batch=((), ()))
    return y if bias is None else arithmetic.add(y, bias)


# --- steps of recurrent layers. Their x is W_ih · input + b_ih, which one product computes for all times ---


def _parts(x: Tensor, count: int) -> list[Tensor]:
    size = x.shape[-1] // count
    return [movement.slice_axis(x, x.ndim - 1, k * size, (k + 1) * size) for k in range(count)]


def _tanh(x: Tensor, h: Tensor, weight: Any, bias: Any) -> Tensor:
    return math.tanh(arithmetic.add(x, affine(h, weight, bias)))


def _relu(x: Tensor, h: Tensor, weight: Any, bias: Any) -> Tensor:
    return rectifiers.relu(arithmetic.add(x, affine(h, weight, bias)))


def _gru(x: Tensor, h: Tensor, weight: Any, bias: Any) -> Tensor:
    """Compute h' = (1 − z) n + z h with gates r and z, and n = tanh(xₙ + r hₙ)."""
    from_x, from_h = _parts(x, 3), _parts(affine(h, weight, bias), 3)
    r, z = (sigmoid(arithmetic.add(a, b)) for a, b in zip(from_x[:2], from_h[:2], strict=True))
    n = math.tanh(arithmetic.add(from_x[2], arithmetic.mul(r, from_h[2])))
    return arithmetic.add(n, arithmetic.mul(z, arithmetic.sub(h, n)))


def _lstm(x: Tensor, hc: tuple[Tensor, Tensor], weight: Any, bias: Any) -> tuple[Tensor, Tensor]:
    """Compute c' = f c + i g and h' = o tanh(c') with gates i, f, o, candidate g."""
    h, c = hc
    i, f, g, o = _parts(arithmetic.add(x, affine(h, weight, bias)), 4)
    c = arithmetic.add(arithmetic.mul(sigmoid(f), c), arithmetic.mul(sigmoid(i), math.tanh(g)))
    return arithmetic.mul(sigmoid(o), math.tanh(c)), c


#: kind of layer -> ``step(x, state, weight_hh, bias_hh)``, which returns the next state
STEPS: dict[str, Callable[..., Any]] = {"tanh": _tanh, "relu": _relu, "gru": _gru, "lstm": _lstm}
#: kind of layer -> number of gates. The weight matrices have this many times ``hidden_size`` rows
GATES = {"tanh": 1, "relu": 1, "gru": 3, "lstm": 4}
