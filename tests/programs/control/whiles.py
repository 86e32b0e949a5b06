"""`while` on tensors: no iteration, one, many; counters, flags, structures that are carried, loops in loops."""

import math

import numpy as np

from mindgrad import Tensor, nn, ops
from tests.programs.control.program import integer, program, weight


@program((0.7,), (1.6,), (37.0,), (900.0,), reference=lambda x: math.sin(math.frexp(x)[0] if x > 1 else x))
def halved_until_small(x):
    while x >= 1.0:
        x = x * 0.5
    return ops.sin(x)


@program(
    (1.2, integer(0)), (1.2, integer(1)), (-0.9, integer(2)), (0.8, integer(30)), reference=lambda x, n: x**n
)
def power_by_counting(x, n):
    """The iteration count is an input."""
    result = ops.ones_like(x)
    i = 0
    while i < n:
        result = result * x
        i += 1
    return result


@program(
    (1.1, integer(0)), (1.1, integer(1)), (1.1, integer(13)), (0.9, integer(64)), reference=lambda x, n: x**n
)
def power_by_squaring(x, n):
    """A branch in a loop, on whole numbers."""
    result, square = ops.ones_like(x), x
    while n > 0:
        if n % 2 == 1:
            result = result * square
        square = square * square
        n = n // 2
    return result


@program(
    (0.3, integer(0)), (0.3, integer(1)), (0.3, integer(7)), reference=lambda x, n: math.factorial(n) * x**3
)
def factorial(x, n):
    product = 1
    while n > 1:
        product *= n
        n -= 1
    return product * x**3


def fibonacci_numbers(a, b, n):
    root = math.sqrt(5)
    f = lambda k: round((((1 + root) / 2) ** k - ((1 - root) / 2) ** k) / root)
    return (a * f(n - 1) + b * f(n)) ** 2 if n else a * a


@program((0.3, 0.4, integer(0)), (0.3, 0.4, integer(1)), (0.3, 0.4, integer(10)), reference=fibonacci_numbers)
def fibonacci(a, b, n):
    while n > 0:
        a, b, n = b, a + b, n - 1
    return a * a


@program(
    (0.7, integer(12), integer(18)),
    (0.7, integer(5), integer(0)),
    reference=lambda x, a, b: x ** math.gcd(a, b) * math.gcd(a, b),
)
def greatest_common_divisor(x, a, b):
    while b:
        a, b = b, a % b
    return x**a * a


@program((0.8,), (0.3,), (-2.2,), reference=lambda x: math.sin(x - math.floor(x)) ** 2)
def fractional_part(x):
    """Two loops one after the other; at most one of them runs."""
    while x >= 1.0:
        x -= 1.0
    while x < 0.0:
        x += 1.0
    return ops.sin(x) ** 2


@program((1.5,), (0.2,), (7.7,), reference=lambda a: math.sqrt(a) + a)
def root_by_newton(a):
    x = a
    while ops.abs(x * x - a) > 1e-13:
        x = 0.5 * (x + a / x)
    return x + a


@program((1.5,), (0.2,), reference=lambda a: a ** (1 / 3))
def root_with_a_walrus(a):
    x = a
    while ops.abs(gap := x**3 - a) > 1e-13:
        x = x - gap / (3 * x * x)
    return x


def budget_by_formula(x, limit):
    return x * 1.5 ** min(limit, max(0, math.ceil(math.log(10 / x, 1.5))))


@program((1.1, 20), (1.1, 3), (1.1, 0), (11.0, 20), reference=budget_by_formula)
def a_budget_of_iterations(x, limit):
    """A tensor and a Python value in one condition."""
    n = 0
    while x < 10.0 and n < limit:
        x = x * 1.5
        n += 1
    return x


def growth_by_formula(x):
    iterations = max(0, math.ceil(math.log(5 / x, 2)))
    return x * 2**iterations * 0.7**iterations


@program((0.3,), (2.9,), (6.0,), reference=growth_by_formula)
def a_python_number_is_carried(x):
    """A Python float keeps the precision that it has in Python."""
    factor = 1.0
    while x < 5.0:
        x = x * 2
        factor = factor * 0.7
    return factor * x


@program((0.3,), (2.9,), (6.0,), reference=lambda x: (
    sum(math.sin(x * 2**k) for k in range(max(0, math.ceil(math.log(5 / x, 2))))) + x
))  # fmt: skip
def a_number_becomes_a_tensor(x):
    total, y = 0, x
    while y < 5.0:
        total = total + ops.sin(y)
        y = 2 * y
    return total + x


@program((0.4,), (-0.4,), (0.9,), reference=lambda x: math.cos(x) * (math.cos(x) - 0.5 if x < 0 else 1))
def until_a_flag_is_set(x):
    done = False
    y = ops.cos(x)
    total = y
    while not done:
        if x < 0:
            total = total * (y - 0.5)
        done = True
    return total


def steps_by_floats(x):
    y, n = x, 0
    while abs(math.cos(y) - y) >= 0.04:
        y, n = math.cos(y), n + 1
    return y + x * n


@program((0.3,), (1.2,), (0.74,), reference=steps_by_floats, rtol=1e-12)
def a_flag_that_is_computed(x):
    y = x
    found = ops.abs(ops.cos(y) - y) < 0.04
    n = 0
    while not found:
        y = ops.cos(y)
        n = n + 1
        found = ops.abs(ops.cos(y) - y) < 0.04
    return y + x * n


def rows_by_numpy(v, n, m):
    return np.sum(v**2) * 1.1 ** (2 * m * n) * 1.01**n


@program(
    ([0.4, 0.9], integer(0), integer(3)),
    ([0.4, 0.9], integer(3), integer(0)),
    ([0.4, 0.9], integer(4), integer(3)),
    reference=rows_by_numpy,
)
def a_loop_in_a_loop(v, n, m):
    """Both counts are inputs; each may be zero."""
    i = 0
    total = ops.sum(v * v)
    while i < n:
        j = 0
        while j < m:
            total = total * 1.21
            j += 1
        total = total * 1.01
        i += 1
    return total


def triangle_by_floats(x, n):
    total = 0.0
    for i in range(n):
        for j in range(i):
            total = total * 0.5 + math.sin(x / (j + 1))
    return total


@program((0.8, integer(0)), (0.8, integer(2)), (0.8, integer(5)), reference=triangle_by_floats)
def a_triangle_of_iterations(x, n):
    """The inner count is the outer counter; the inner loop stands in a function of its own."""
    total = x * 0
    i = 0
    while i < n:
        total = inner_of_triangle(total, x, i)
        i += 1
    return total


def inner_of_triangle(total, x, count):
    j = 0
    while j < count:
        total = total * 0.5 + ops.sin(x / (j + 1))
        j += 1
    return total


@program(([0.4, -0.2, 0.1],), ([2.0, 1.0, -2.0],), ([20.0, 3.0, -40.0],), reference=lambda v: (
    v / 2 ** max(0, math.ceil(math.log2(np.linalg.norm(v) / 0.8)))
))  # fmt: skip
def a_vector_is_shortened(v):
    while ops.norm(v) > 0.8:
        v = v / 2
    return v


@program((0.6, 0.2, integer(0)), (0.6, 0.2, integer(1)), (0.6, 0.2, integer(5)), reference=lambda a, b, n: (
    np.linalg.matrix_power([[0.5, 0.5], [1.0, 0.0]], n) @ [a, b]
))  # fmt: skip
def a_list_is_carried(a, b, n):
    pair = [a, b]
    while n > 0:
        pair = [(pair[0] + pair[1]) / 2, pair[0]]
        n = n - 1
    return ops.stack(pair)


@program((0.6, 0.2, integer(0)), (0.6, 0.2, integer(1)), (0.6, 0.2, integer(6)), reference=lambda x, v, n: (
    (np.linalg.matrix_power([[0.99, 0.1], [-0.1, 1.0]], n) @ [x, v])[0] ** 2
    + (np.linalg.matrix_power([[0.99, 0.1], [-0.1, 1.0]], n) @ [x, v])[1] ** 2
))  # fmt: skip
def a_dictionary_is_carried(x, v, n):
    """An oscillator, step by step: its state is a dictionary that is changed in place."""
    state = {"x": x, "v": v}
    while n > 0:
        old = state["x"]
        state["v"] = state["v"] - 0.1 * old
        state["x"] = state["x"] * 0.99 + 0.1 * (state["v"] + 0.1 * old)
        n -= 1
    return state["x"] ** 2 + state["v"] ** 2


@program((0.6, integer(0)), (0.6, integer(3)), reference=lambda x, n: x**3 * 4 ** min(n, 3))
def a_condition_on_python_values(x, n):
    """A loop whose condition is known unrolls; the one inside it on a tensor does not."""
    k = 3
    y = x**3
    while k:
        if k <= n:
            y = y * 4
        k -= 1
    return y


class Decay(nn.Cell):
    """A loop in a method of a Cell, called from construct in another loop."""

    def __init__(self):
        super().__init__()
        self.rate = weight(0.8)
        self.floor = 0.5

    def down(self, x):
        while x > self.floor:
            x = x * self.rate
        return x

    def construct(self, x, n):
        total = self.rate * 0.0
        while n > 0:
            total = total + self.down(x * n)
            n = n - 1
        return total


def decay_by_formula(p, x, n):
    rate = p["inner.rate"]
    iterations = lambda y: max(0, math.ceil(math.log(0.5 / y, rate)))
    return sum(x * k * rate ** iterations(x * k) for k in range(1, n + 1))


@program((0.3, integer(0)), (0.3, integer(1)), (0.83, integer(5)), reference=decay_by_formula)
class DecayInALoop(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Decay()

    def construct(self, x, n):
        return self.inner(x, n)


def nearly_fixed(x):
    y = x
    while True:
        before, y = y, math.cos(y)
        if abs(y - before) < 0.05:
            return y


@program((0.5,), (0.74,), reference=nearly_fixed, rtol=1e-12)
def names_bound_in_the_body(x):
    """`new` and `gap` live in one iteration only; `gap` does not exist before the loop."""
    y = x
    far = True
    while far:
        new = ops.cos(y)
        gap = new - y
        far = ops.abs(gap) >= 0.05
        y = new
    return y


@program((0.2, integer(0)), (0.2, integer(3)), (0.2, integer(5)), (0.2, integer(8)), reference=lambda x, n: (
    x * 2 ** min(n, 4) * 3 ** max(0, n - 4)
))  # fmt: skip
def another_path_after_some_iterations(x, n):
    i = 0
    while i < n:
        i += 1
        x = x * 2 if i <= 4 else x * 3
    return x


@program((0.3, integer(-1)), (0.3, integer(0)), (0.3, integer(1)), (0.3, integer(2)), reference=lambda x, n: (
    np.stack([x, x**2, x**3, x**4])[: n + 2].sum() if n < 2 else x + x**2 + x**3 + x**4
))  # fmt: skip
def three_levels(x, n):
    """A while in a while in a while, with an if in the innermost."""
    total = x
    i = 0
    while i <= n:
        j = 0
        while j < 1:
            k = 0
            while k <= i:
                if k == i:
                    total = total + x ** (k + 2)
                k += 1
            j += 1
        i += 1
    return total


@program(([1.1, 2.3],), ([0.2, -0.1],), reference=lambda v: np.float64(v @ v) * (4.0 ** -max(
    0, math.ceil(math.log(np.abs(v).max() / 0.5, 2))
)))  # fmt: skip
def a_condition_of_several_elements(v):
    while (ops.abs(v) > 0.5).any():
        v = v * 0.5
    return ops.dot(v, v)


@program((0.9, integer(0)), (0.9, integer(4)), reference=lambda x, n: (
    np.cumsum([x**k for k in range(1, n + 1)])[-1] if n else 0.0
))  # fmt: skip
def horner_with_a_tensor_constant(x, n):
    result = Tensor(np.array(0.0))
    one = Tensor(np.array(1.0))
    while n:
        result = (result + one) * x
        n = n - 1
    return result
