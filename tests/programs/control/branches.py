"""Branches: if, elif, else, conditional expressions, and, or, not, comparisons, on tensors and Python values."""

import math

import numpy as np

from mindgrad import Tensor, nn, ops
from tests.programs.control.program import integer, program, weight


@program((0.7,), (-1.3,), reference=lambda x: abs(x) ** 3)
def cube_of_the_magnitude(x):
    if x > 0:
        y = x
    else:
        y = -x
    return y * y * y


@program((0.4,), (1.7,), (-2.3,), reference=lambda r: 0.5 * r * r if abs(r) <= 1 else abs(r) - 0.5)
def huber(r):
    return 0.5 * r * r if ops.abs(r) <= 1.0 else ops.abs(r) - 0.5


def pieces_by_numpy(x):
    return np.select([x < -1, x < 0, x < 2], [math.exp(x), x**4, math.sin(x)], 1 / x)


@program((-1.6,), (-0.4,), (0.9,), (3.1,), reference=pieces_by_numpy)
def four_pieces(x):
    if x < -1.0:
        y = ops.exp(x)
    elif x < 0.0:
        y = x**4
    elif x < 2.0:
        y = ops.sin(x)
    else:
        y = 1.0 / x
    return y


@program((0.6, 0.8), (-0.6, 0.8), (0.6, -0.8), (-0.6, -0.8), reference=lambda x, y: (
    math.sin(x * y) * (1 if x > 0 else -2) + (x * x if y > 0 else y**3)
))  # fmt: skip
def quadrants(x, y):
    """An if in every branch of an if."""
    if x > 0:
        if y > 0:
            z = ops.sin(x * y) + x * x
        else:
            z = ops.sin(x * y) + y**3
    else:
        if y > 0:
            z = -2.0 * ops.sin(x * y) + x * x
        else:
            z = -2.0 * ops.sin(x * y) + y**3
    return z


@program((0.3,), (2.6,), (-1.9,), reference=lambda x: min(max(x, -1.5), 1.5) ** 3 + x * x)
def clipped_without_else(x):
    y = x
    if y > 1.5:
        y = 1.5
    if y < -1.5:
        y = -1.5
    return y * y * y + x * x


@program((0.2,), (0.7,), (1.4,), (-0.5,), reference=lambda t: np.interp(t, [0, 0.5, 1], [0, 0, 1]) + t**3)
def nested_conditional_expressions(t):
    ramp = 0.0 if t < 0.5 else (2.0 * t - 1.0 if t < 1.0 else 1.0)
    return ramp + t**3


@program((0.5, 0.7), (-0.5, 0.7), (0.5, -0.7), (-0.5, -0.7), reference=lambda x, y: (
    {2: x * y * y, 1: math.cos(x + 2 * y), 0: x * x - y}[(x > 0) + (y > 0)]
))  # fmt: skip
def both_one_or_none(x, y):
    if x > 0 and y > 0:
        return x * y * y
    if x > 0 or y > 0:
        return ops.cos(x + 2 * y)
    return x * x - y


@program((0.5, 0.7), (1.5, 0.7), (0.5, -0.7), (1.5, -0.2), reference=lambda x, y: (
    x**3 * y if (x >= 1) or ((y <= 0) and (x + y >= 0.0)) else math.sinh(x * y)
))  # fmt: skip
def logic_in_one_condition(x, y):
    if not (x < 1.0 and (y > 0.0 or not x + y >= 0.0)):
        z = x**3 * y
    else:
        z = ops.sinh(x * y)
    return z


@program((-0.4,), (0.4,), (1.2,), reference=lambda x: math.exp(-1 / x) if 0 < x < 1 else math.exp(-1) * x * x)
def chained_comparison(x):
    if 0.0 < x < 1.0:
        return ops.exp(-1.0 / x)
    return math.exp(-1.0) * x * x


@program((0.1, 0.2, 0.3), (0.1, 0.3, 0.2), (0.3, 0.2, 0.1), (0.2, 0.1, 0.3), reference=lambda a, b, c: (
    sorted([a, b, c])[0] + 2 * sorted([a, b, c])[1] ** 2 + 3 * sorted([a, b, c])[2] ** 3
))  # fmt: skip
def sorting_by_swaps(a, b, c):
    """Branches that swap variables; nothing else tells which is which afterwards."""
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return a + 2 * b**2 + 3 * c**3


@program((0.1, 0.3, 0.2), (0.5, -0.3, 0.2), (0.1, 0.3, 0.9), reference=lambda a, b, c: (
    max(a, b) * min(b, c) + abs(a - c) ** 3 + max(a, b, c) ** 2
))  # fmt: skip
def builtins_that_choose(a, b, c):
    return max(a, b) * min(b, c) + abs(a - c) ** 3 + max([a, b, c]) ** 2


@program((0.3, None), (0.3, 2), reference=lambda x, scale: math.tanh(x) * (scale or 5))
def an_optional_argument(x, scale):
    if scale is None:
        scale = 5
    if scale is not None and x > 0:
        return ops.tanh(x) * scale
    return ops.tanh(x) * scale * 1.0


class Activation(nn.Cell):
    """A branch on an attribute, which is a Python value, around branches on a tensor."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.slope = 0.1

    def construct(self, x):
        if self.kind == "leaky":
            return x if x > 0 else self.slope * x
        elif self.kind in ("tanh", "tanhs"):
            return ops.tanh(x)
        if x > 0:
            return x
        return ops.exp(x) - 1.0


def activations_by_numpy(x):
    return (x if x > 0 else 0.1 * x) * math.tanh(x) * (x if x > 0 else math.expm1(x))


@program((0.8,), (-0.8,), reference=activations_by_numpy)
class ChosenByAttributes(nn.Cell):
    """Three Cells of one class, each compiled along its own path."""

    def __init__(self):
        super().__init__()
        self.parts = nn.CellList([Activation("leaky"), Activation("tanh"), Activation("elu")])

    def construct(self, x):
        y = 1.0
        for part in self.parts:
            y = y * part(x)
        return y


@program((1.3,), (-0.4,), reference=lambda x: x * math.log(x) if x > 0 else x**3)
def a_branch_that_guards_a_logarithm(x):
    """The branch that is not taken would give NaN: nothing of it may reach the derivatives."""
    if x > 0:
        return x * ops.log(x)
    return x**3


@program(([0.3, 1.2], integer(1)), ([0.0, 0.0], integer(0)), reference=lambda v, near: (
    np.hypot(*v) ** 3 / v[0] if near else v[0] * 2 + v[1] ** 2
))  # fmt: skip
def a_guarded_length(v, near):
    """At the origin the root has an infinite slope and the quotient no value; both are not taken."""
    if near == 0:
        return v[0] * 2 + v[1] ** 2
    return ops.sqrt(ops.sum(v * v)) ** 3 / v[0]


@program(([0.9, -0.4, 0.2],), ([-0.9, 0.4, 0.2],), ([2.1, 0.8, 1.2],), reference=lambda v: (
    v.sum() ** 3 * (0.5 if v.sum() > 3 else 1) if v.sum() > 0 else (v * v).sum()
))  # fmt: skip
def a_branch_on_a_sum(v):
    total = v.sum()
    if total > 0:
        weight = Tensor(np.array(1.0))
        if ops.sum(v) > 3.0:
            weight = weight * 0.5
        return weight * total**3
    else:
        return ops.dot(v, v)


@program(
    (0.5, np.array(True)), (0.5, np.array(False)), reference=lambda x, on: math.sin(x) ** (2 if on else 3)
)
def a_truth_value_is_an_input(x, on):
    y = ops.sin(x)
    if on:
        return y * y
    return y * y * y


@program((0.5, integer(0)), (0.5, integer(3)), reference=lambda x, n: x**2 * n if n else x**3)
def a_number_as_a_condition(x, n):
    """Zero is false, any other number true, as everywhere in Python."""
    if n:
        y = x * x * n
    else:
        y = x * x * x
    return y


@program((0.3,), (0.9,), (-0.2,), reference=lambda x: (
    (x > 0.5) * x**2 + (0 < x <= 0.5) * x**3 + (x <= 0) * math.cos(x)
))  # fmt: skip
def flags_in_variables(x):
    large = x > 0.5
    small = not large and x > 0
    neither = not (large or small)
    y = x * x if large else 0.0
    if small:
        y = x**3
    if neither:
        y = ops.cos(x)
    return y


@program((1.4, integer(1)), (1.4, integer(4)), (1.4, integer(-2)), (1.4, integer(9)), reference=lambda x, k: (
    x**2 if k in (1, 3, 5) else x**3 if 2 <= k < 8 else math.log(x) if k == -2 else 1 / x
))  # fmt: skip
def membership(x, k):
    """`in` compares one by one, with `or` between."""
    if k in (1, 3, 5):
        return x * x
    elif k not in [0, -1, -2, 9]:
        return x * x * x
    elif k == -2:
        return ops.log(x)
    return 1.0 / x


@program((0.5, "sine"), (0.5, "both"), (0.5, ""), reference=lambda x, name: {
    "sine": math.sin(x), "both": math.sin(x) * math.cos(x), "": x * x,
}[name])  # fmt: skip
def branches_on_text(x, name):
    table = {"sine": ops.sin, "both": lambda z: ops.sin(z) * ops.cos(z)}
    if not name:
        return x * x
    return table[name](x) if name in table else x


@program(([0.4, -0.7],), ([-0.4, -0.7],), ([0.4, 0.7],), reference=lambda v: (
    (v**3).sum() if (v > 0).all() else v.prod() if (v > 0).any() else np.sin(v[0] - v[1])
))  # fmt: skip
def all_and_any(v):
    if all(each > 0 for each in v):
        return ops.sum(v**3)
    positive = [each > 0 for each in v]
    if any(positive):
        return v[0] * v[1]
    return ops.sin(v[0] - v[1])


@program((0.4, -0.3), (0.4, 0.3), reference=lambda x, y: (
    (x * y, x + y) if y > 0 else (x - y, x * x * y)
))  # fmt: skip
def branches_that_give_pairs(x, y):
    if y > 0:
        pair = (x * y, x + y)
    else:
        pair = (x - y, x * x * y)
    first, second = pair
    return first, second


@program((0.4,), (-0.4,), reference=lambda x: (math.exp(2 * x) if x > 0 else 1.0) * x * x)
def a_constant_in_one_branch(x):
    """A Python number joins a tensor."""
    factor = 1
    if x > 0:
        factor = ops.exp(2 * x)
    return factor * x * x


@program((0.4,), (-0.4,), reference=lambda x: (3 if x > 0 else 2) * x**3 + (0.25 if x > 0 else 0.75) * x)
def python_numbers_in_both_branches(x):
    n, w = 2, 0.75
    if x > 0:
        n, w = n + 1, w - 0.5
    return n * x**3 + w * x


@program((0.4,), (1.4,), reference=lambda p, x: (p["a"] * x) ** 2 if x < 1 else p["b"] ** 3 * x)
class AParameterInEachBranch(nn.Cell):
    """The Parameter of the branch that is not taken has gradient zero."""

    def __init__(self):
        super().__init__()
        self.a = weight(0.7)
        self.b = weight(-1.2)

    def construct(self, x):
        if x < 1.0:
            return (self.a * x) ** 2
        return self.b**3 * x


@program((0.4, 0.3), (1.4, -0.3), (-0.7, 2.0), reference=lambda x, y: (
    np.float64(x > 1) * x**2 * y + np.float64(x <= 1) * (y**2 * x if y > 0 else y)
))  # fmt: skip
def pass_and_dead_code(x, y):
    z = y
    if x > 1:
        z = x**2 * y
    elif y > 0:
        z *= y * x
    else:
        pass
    if False:
        z = undefined_name  # noqa: F821
    return z
