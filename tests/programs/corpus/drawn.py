"""Random straight-line programs: a few operators over scalars, vectors and matrices, values used again.

A program is a list of instructions ``(operator, left, right)`` of plain numbers, each taken modulo what
there is, so that every list is a program and a failing one shrinks to a short one. All values stay
between −1 and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from hypothesis import strategies

from mindgrad import Tensor, ops

__all__ = ["INPUTS", "by_jax", "by_mindgrad", "describe", "instructions"]

#: the shapes of the inputs
INPUTS = ((3,), (3, 3), ())

instructions = strategies.lists(strategies.tuples(*[strategies.integers(0, 99)] * 3), min_size=1, max_size=12)


class _Row:
    """One operator in both languages; ``fits`` says of which shapes."""

    def __init__(
        self,
        name: str,
        operands: int,
        mindgrad: Callable[..., Any],
        jax: Callable[..., Any],
        fits: Callable[..., bool] = lambda *_: True,
    ) -> None:
        self.name = name
        self.operands = operands
        self.mindgrad = mindgrad
        self.jax = jax
        self.fits = fits


def _is_vector(a: Any, *_: Any) -> bool:
    return a == (3,)


def _is_matrix(a: Any, *_: Any) -> bool:
    return a == (3, 3)


def _has_axes(a: Any, *_: Any) -> bool:
    return bool(a)


def _norm(a: jax.Array) -> jax.Array:
    """By jax, with zero as the derivative where the norm is zero, as ``docs/conventions.md`` has it."""
    squared = (a * a).sum()
    return jnp.where(squared == 0, 0.0, jnp.sqrt(jnp.where(squared == 0, 1.0, squared)))


def _same(a: Any, b: Any) -> bool:
    return a == b != ()


PLACES = [2, 0, 0]

ROWS = (
    _Row("sin", 1, ops.sin, jnp.sin),
    _Row("cos", 1, ops.cos, jnp.cos),
    _Row("tanh", 1, ops.tanh, jnp.tanh),
    _Row("sigmoid", 1, ops.sigmoid, jax.nn.sigmoid),
    _Row("bell", 1, lambda a: ops.exp(-ops.square(a)), lambda a: jnp.exp(-jnp.square(a))),
    _Row("root", 1, lambda a: ops.sqrt(1 + a * a) / 2, lambda a: jnp.sqrt(1 + a * a) / 2),
    _Row("log1p", 1, lambda a: ops.log1p(a**2), lambda a: jnp.log1p(a**2)),
    _Row("cube", 1, lambda a: a**3, lambda a: a**3),
    _Row("relu", 1, ops.relu, jax.nn.relu),
    _Row("abs", 1, ops.abs, jnp.abs),
    _Row("neg", 1, lambda a: -a, lambda a: -a),
    _Row("erf", 1, ops.erf, jax.scipy.special.erf),
    _Row("sum", 1, lambda a: a.sum() / 9, lambda a: a.sum() / 9),
    _Row("mean of rows", 1, lambda a: a.mean(-1, True) * a, lambda a: a.mean(-1, keepdims=True) * a, _has_axes),
    _Row("norm", 1, lambda a: ops.norm(a) / 3, lambda a: _norm(a) / 3),
    _Row("softmax", 1, lambda a: ops.softmax(a, -1), lambda a: jax.nn.softmax(a, -1), _has_axes),
    _Row("cumsum", 1, lambda a: ops.cumsum(a, -1) / 3, lambda a: jnp.cumsum(a, -1) / 3, _has_axes),
    _Row("prod", 1, lambda a: ops.prod(a, -1), lambda a: jnp.prod(a, -1), _has_axes),
    _Row("max", 1, lambda a: ops.amax(a, -1), lambda a: a.max(-1), _has_axes),
    _Row("flip", 1, lambda a: ops.flip(a, (0,)), lambda a: a[::-1], _has_axes),
    _Row("roll", 1, lambda a: ops.roll(a, 1, 0), lambda a: jnp.roll(a, 1, 0), _has_axes),
    _Row("gather", 1, lambda a: a[Tensor(PLACES)], lambda a: a[jnp.array(PLACES)], _has_axes),
    _Row("transpose", 1, lambda a: a.T, lambda a: a.T, _is_matrix),
    _Row("diagonal", 1, ops.diagonal, jnp.diagonal, _is_matrix),
    _Row("tril", 1, ops.tril, jnp.tril, _is_matrix),
    _Row("row", 1, lambda a: a[1], lambda a: a[1], _has_axes),
    _Row("views", 1, lambda a: a.reshape(3, 1) * a.reshape(1, 3), lambda a: a[:, None] * a[None], _is_vector),
    _Row("write", 1, lambda a: _written(a), lambda a: (a * 1).at[0].set(a[1] * a[2]), _has_axes),
    _Row("add", 2, lambda a, b: (a + b) / 2, lambda a, b: (a + b) / 2),
    _Row("sub", 2, lambda a, b: 0.5 * (a - b), lambda a, b: 0.5 * (a - b)),
    _Row("mul", 2, lambda a, b: a * b, lambda a, b: a * b),
    _Row("div", 2, lambda a, b: a / (1 + b * b), lambda a, b: a / (1 + b * b)),
    _Row("maximum", 2, ops.maximum, jnp.maximum),
    _Row("atan2", 2, lambda a, b: ops.atan2(a, 2 + b), lambda a, b: jnp.arctan2(a, 2 + b)),
    _Row("where", 2, lambda a, b: ops.where(a > b, a * b, b), lambda a, b: jnp.where(a > b, a * b, b)),
    _Row("matmul", 2, lambda a, b: ops.matmul(a, b) / 3, lambda a, b: a @ b / 3, lambda a, b: bool(a and b)),
    _Row("concat", 2, lambda a, b: ops.concat((a, b))[1:4], lambda a, b: jnp.concatenate((a, b))[1:4], _same),
    _Row("stack", 2, lambda a, b: ops.stack((a, b)).sum(0) / 2, lambda a, b: jnp.stack((a, b)).sum(0) / 2, _same),
)  # fmt: skip


def _written(a: Tensor) -> Tensor:
    b = a * 1
    b[0] = a[1] * a[2]
    return b


def _run(
    language: str, program: Sequence[tuple[int, int, int]], inputs: Sequence[Any]
) -> tuple[Any, list[str]]:
    values = list(inputs)
    names = []
    for which, left, right in program:
        a, b = left % len(values), right % len(values)
        shapes = (tuple(values[a].shape), tuple(values[b].shape))
        fitting = [row for row in ROWS if row.fits(*shapes)]
        row = fitting[which % len(fitting)]
        operands = (a, b)[: row.operands]
        values.append(getattr(row, language)(*[values[each] for each in operands]))
        names.append(f"v{len(values) - 1} = {row.name}({', '.join(f'v{each}' for each in operands)})")
    # what nothing uses is in the result as well
    total = values[-1].sum()
    for k, value in enumerate(values[len(inputs) : -1]):
        total = total + value.sum() * 0.1 * (k + 1)
    return total, names


def by_mindgrad(program: Sequence[tuple[int, int, int]]) -> Callable[..., Tensor]:
    """The program as a function of tensors."""
    return lambda *inputs: _run("mindgrad", program, inputs)[0]


def by_jax(program: Sequence[tuple[int, int, int]]) -> Callable[..., Any]:
    """The program as a function of jax arrays."""
    return lambda *inputs: _run("jax", program, inputs)[0]


def describe(program: Sequence[tuple[int, int, int]], inputs: Sequence[Tensor]) -> str:
    """The program's lines."""
    return "\n".join(_run("mindgrad", program, inputs)[1])
