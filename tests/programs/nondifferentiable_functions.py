"""Random functions at their corners: as text, with points where they are not smooth, tie, overflow or end.

What is not exact in floating point (a root, a quotient, a logarithm) is followed by smooth operators only:
no rounding decides which side of a jump or of a tie a program is on.
"""

import random

import numpy as np

from mindgrad import Tensor, ops

VALUES = (0.0, 0.0, 0.0, 1.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0)
INFINITE = (float("inf"), float("-inf"))

#: exact ones: their results are exact for small numbers, so that jumps and ties may follow
EXACT = (
    "ops.abs({a})", "ops.relu({a})", "(-{a})", "ops.square({a})", "({a} + {b})", "({a} - {b})", "({a} * {b})",
    "ops.maximum({a}, {b})", "ops.minimum({a}, {b})", "ops.where({a} > {b}, {a}, {b})",
    "ops.where({a} > 0, {b}, 0.0)", "ops.clip({a}, -1.0, 1.0)", "spread({a}.sum())", "spread({a}.max())",
    "spread({a}.min())", "spread({a}.prod())", "ops.sign({a})", "(2.0 * {a})",
    "({a} * ops.stop_gradient({b}))", "{a}[::-1]", "ops.cumsum({a}, 0)",
)  # fmt: skip
SMOOTH = (
    "ops.sqrt({a})", "ops.log({a})", "ops.exp({a})", "ops.sin({a})", "ops.cos({a})", "ops.tanh({a})",
    "(1.0 / {a})", "({a} / {b})", "({a} * {b})", "({a} + {b})", "({a} - {b})", "(-{a})", "({a} ** 2)",
    "({a} ** 3)", "({a} ** -1)", "({a} ** 1.5)", "({a} ** 0.5)", "ops.square({a})", "spread(ops.norm({a}))",
    "spread({a}.sum())", "spread({a}.mean())", "ops.rsqrt({a})", "ops.log1p({a})", "ops.expm1({a})",
    "ops.where({c} > 0, {a}, 0.0)", "ops.where({c} > {d}, {a}, {b})", "ops.hypot({a}, {b})",
    "({a} * ops.stop_gradient({b}))", "ops.cumsum({a}, 0)", "ops.xlogy({a}, {b})", "(0.0 * {a})",
    "ops.atan2({a}, {b})", "spread(ops.logsumexp({a}, 0))", "ops.sigmoid({a})", "spread({a}.prod())",
)  # fmt: skip
COMPLEX = (
    "({a} * {b})", "({a} + {b})", "({a} - {b})", "({a} / {b})", "ops.exp({a})", "ops.conj({a})", "({a} ** 2)",
    "ops.where({c} > 0, {a}, 0.0 * {b})", "ops.sqrt({a})", "ops.log({a})", "ops.sin({a})", "(1.0 / {a})",
    "ops.square({a})",
)  # fmt: skip
REAL_OF_COMPLEX = ("ops.abs({a})", "ops.real({a})", "ops.imag({a})", "(ops.abs({a}) ** 2)")


class Drawn:
    """A function of the vectors ``x`` and ``y`` as an expression, and a point."""

    def __init__(self, seed, is_complex=False, depth=3):
        self.random = random.Random(seed)
        if is_complex:
            inner = self.complex(self.random.randrange(1, depth))
            self.text = self.random.choice(REAL_OF_COMPLEX).format(a=inner) + ".sum()"
        else:
            self.text = self.smooth(self.random.randrange(1, depth + 1)) + ".sum()"
        self.point = [self.values(is_complex), self.values(is_complex)]
        self.direction = [np.array(self.random.choices((0.0, 1.0, -1.0, 2.0), k=3)) for _ in range(2)]

    def values(self, is_complex):
        choices = VALUES if self.random.randrange(6) else (*VALUES, *INFINITE)
        values = np.array(self.random.choices(choices, k=3))
        return values + 1j * np.array(self.random.choices(VALUES, k=3)) if is_complex else values

    def variable(self):
        return self.random.choice(("x", "x", "y"))

    def exact(self, depth):
        if depth <= 0:
            return self.variable()
        a = self.exact(depth - 1)
        b = a if not self.random.randrange(4) else self.exact(depth - 1)
        return self.random.choice(EXACT).format(a=a, b=b)

    def smooth(self, depth):
        if depth <= 0 or not self.random.randrange(5):
            return self.exact(self.random.randrange(2))
        a = self.smooth(depth - 1)
        b = a if not self.random.randrange(3) else self.smooth(depth - 1)
        return self.random.choice(SMOOTH).format(a=a, b=b, c=self.exact(1), d=self.exact(0))

    def complex(self, depth):
        if depth <= 0:
            return self.variable()
        a, b = self.complex(depth - 1), self.complex(depth - 1)
        return self.random.choice(COMPLEX).format(a=a, b=b, c=f"ops.real({self.variable()})")

    def function(self):
        """The function of two tensors of three elements."""
        return eval(f"lambda x, y: {self.text}", {"ops": ops, "spread": spread})


def spread(number):
    return ops.broadcast_to(number, (3,))


def cast(arrays, dtype):
    return [Tensor(a).astype(dtype) for a in arrays]
