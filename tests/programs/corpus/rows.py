"""Random programs of rows, and random derivatives of them: what the compiler chooses modes for.

A program is a list of instructions ``(operator, left, right)`` of plain numbers over values with a row for
each point, most of whose operators keep the rows apart; what is made of it is a list of steps ``(step,
number)``, each of which makes a function of a function: a gradient, a column, a sum over the rows, a
product, a loop. Every list is a program, and a failing one shrinks to a short one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from hypothesis import strategies

import mindgrad as ms
from mindgrad import Tensor, ops

__all__ = ["COLUMNS", "OPERATORS", "POINTS", "described", "instructions", "made", "points", "steps"]

POINTS, COLUMNS = 5, 3

Function = Callable[[Tensor], Tensor]

instructions = strategies.lists(strategies.tuples(*[strategies.integers(0, 99)] * 3), min_size=1, max_size=6)
steps = strategies.lists(strategies.tuples(*[strategies.integers(0, 99)] * 2), min_size=1, max_size=5)


def points(seed: int, *shape: int) -> Tensor:
    """Numbers between −1 and 1."""
    return Tensor(np.random.default_rng([seed, *shape]).uniform(-1, 1, shape))


SQUARE, WIDE, HIGH = points(1, COLUMNS, COLUMNS), points(2, 1, COLUMNS), points(3, COLUMNS, 1)
DATA = points(4, POINTS, 1)
VECTOR = points(5, COLUMNS)
ORDER = [2, 0, 1, 4, 3]

# -- operators: of one value or two, with POINTS rows and one column or COLUMNS ---------------------------

OPERATORS = {
    "sin": ops.sin,
    "tanh": ops.tanh,
    "bell": lambda a: ops.exp(-a * a),
    "root": lambda a: ops.sqrt(1 + a * a),
    "of data": lambda a: a * DATA + DATA,
    "sum": lambda a: a.sum(1, keepdims=True),
    "flat": lambda a: ops.expand_dims(a.sum(-1), 1) / 2,
    "norm": lambda a: ops.norm(a + 2, dim=1, keepdim=True),
    "turned": lambda a: ops.sin(a.T).T,
    "upside down": lambda a: ops.flip(a, (1,)),
    "piece": lambda a: a[:, :1] * a[:, -1:],
    "no derivative": lambda a: ops.stop_gradient(a) + 0.5 * a,
    # rows mix
    "centered": lambda a: a - a.mean(0),
    "rolled": lambda a: ops.roll(a, 1, 0),
    "in order": lambda a: a[Tensor(ORDER)] * a,
    "gram": lambda a: ops.matmul(a, ops.matmul(a.T, a)) / POINTS,
}
_NARROW = {"wide": lambda a: ops.matmul(a, WIDE), "spread": lambda a: a + VECTOR}
_BROAD = {
    "layer": lambda a: ops.matmul(a, SQUARE) + VECTOR,
    "high": lambda a: ops.matmul(a, HIGH),
    "softmax": lambda a: ops.softmax(a, -1),
    "sums": lambda a: ops.cumsum(a, 1) / 2,
    "column": lambda a: a[:, 1:2],
    "product": lambda a: ops.prod(a, 1, True),
    "quadratic": lambda a: ops.einsum("ni,ij,nj->n", a, SQUARE, a).reshape(POINTS, 1),
}
_PAIR = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - 0.5 * b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / (1 + b * b),
    "where": lambda a, b: ops.where(a > 0, a * b, b),
    "joined": lambda a, b: (
        ops.concat((a, b), 1)[:, :COLUMNS]
        if a.shape[1] + b.shape[1] >= COLUMNS
        else ops.concat((a, b), 1)[:, 1:]
    ),
}


def _program(instructions: Sequence[tuple[int, int, int]], names: list[str] | None = None) -> Function:
    def function(x: Tensor) -> Tensor:
        values = [x]
        for which, left, right in instructions:
            a, b = values[left % len(values)], values[right % len(values)]
            ones = OPERATORS | (_NARROW if a.shape[1] == 1 else _BROAD)
            operators = [*ones.items(), *_PAIR.items()]
            name, operator = operators[which % len(operators)]
            values.append(operator(a) if name in ones else operator(a, b))
            if names is not None:
                names.append(f"{name}({left % len(values)}, {right % len(values)})")
        return values[-1]

    return function


# -- steps: what is made of a function of the points ------------------------------------------------------


def _columns_of(y: Tensor) -> int:
    return y.shape[1] if y.ndim == 2 else 0


def _column(f: Function, k: int) -> Function:
    def column(x: Tensor) -> Tensor:
        y = f(x)
        return y[:, k % y.shape[1]] if _columns_of(y) else y

    return column


def _with_sens(f: Function, k: int) -> Function:
    def pulled(x: Tensor) -> Tensor:
        shape = f(x).shape
        one_hot = np.zeros(shape)
        one_hot[..., k % (shape[-1] if shape else 1)] = 1
        sens = Tensor(one_hot) if k % 2 else points(k, *shape)
        return ops.GradOperation(sens_param=True)(f)(x, sens)

    return pulled


def _laplacian(f: Function, k: int) -> Function:
    def operator(x: Tensor) -> Tensor:
        seconds = [ms.grad(lambda x, j=j: ms.grad(f)(x)[:, j])(x)[:, j] for j in range(COLUMNS)]
        if k % 2:
            return ops.stack(seconds, 1).sum(1)
        return seconds[0] - 2 * seconds[1] + seconds[2] / 3

    return operator


def _in_a_loop(f: Function, k: int) -> Function:
    def looped(x: Tensor) -> Tensor:
        iteration, y = Tensor(0), x
        while iteration < 2:
            found = f(y)
            y = y + 0.1 * (found if _columns_of(found) else ops.expand_dims(found + y.sum(1), 1))
            iteration = iteration + 1
        return y

    return looped


def _hessian_of_points(f: Function, k: int) -> Function:
    one = lambda point: f(ops.broadcast_to(ops.expand_dims(point, 0), (POINTS, COLUMNS))).sum()
    return lambda x: ops.vmap(lambda point: ops.trace(ms.hessian(one)(point)))(x)


_STEPS: dict[str, Callable[[Function, int], Function]] = {
    "gradient": lambda f, k: lambda x: ms.grad(f)(x),
    "gradient of the sum": lambda f, k: lambda x: ms.grad(lambda x: f(x).sum())(x),
    "gradient of the mean of squares": lambda f, k: lambda x: ms.grad(lambda x: (f(x) ** 2).mean())(x),
    "gradient and value": lambda f, k: lambda x: ms.grad(f)(x) * ops.tanh(x),
    "column": _column,
    "with sens": _with_sens,
    "jvp": lambda f, k: lambda x: ms.jvp(f, x, points(k, POINTS, COLUMNS))[1],
    "along ones": lambda f, k: lambda x: ms.jvp(f, x, ops.ones_like(x))[1],
    "laplacian": _laplacian,
    "in a loop": _in_a_loop,
    "hessians": _hessian_of_points,
    "squared": lambda f, k: lambda x: f(x) ** 2,
}


def made(
    instructions: Sequence[tuple[int, int, int]], steps: Sequence[tuple[int, int]]
) -> tuple[Function, list[str]]:
    """The function, and its steps by name; at most three derivatives, of which none costs a fourth order."""
    function, names, left = _program(instructions), [], 3
    for which, k in steps:
        name = list(_STEPS)[which % len(_STEPS)]
        cost = {"column": 0, "squared": 0, "in a loop": 0, "laplacian": 2, "hessians": 2}.get(name, 1)
        if cost <= left:
            function, left = _STEPS[name](function, k), left - cost
            names.append(f"{name} {k}")
    return function, names


def described(instructions: Sequence[tuple[int, int, int]], steps: Sequence[tuple[int, int]]) -> str:
    """The operators, then the steps."""
    names: list[str] = []
    _program(instructions, names)(points(0, POINTS, COLUMNS))
    return "; ".join(names + made(instructions, steps)[1])
