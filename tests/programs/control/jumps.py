"""break, continue and return in every position of a loop and of loops in loops."""

import math

import numpy as np

from mindgrad import nn, ops
from tests.programs.control.program import integer, program, weight


@program((0.3,), (1.9,), (1e-2,), reference=lambda x: x * 3 ** math.ceil(math.log(5 / x, 3)))
def break_at_the_end(x):
    while True:
        x = x * 3
        if x > 5.0:
            break
    return x


@program((0.3,), (1.9,), (7.5,), reference=lambda x: x * 3 ** max(0, math.ceil(math.log(5 / x, 3))))
def break_at_the_start(x):
    while True:
        if x > 5.0:
            break
        x = x * 3
    return x


@program((0.3,), (1.9,), (7.5,), reference=lambda x: (
    lambda k: x * 3**k + sum(math.sin(x * 3**i) for i in range(k)) * x
)(math.floor(math.log(5 / x, 3)) + 1 if x < 5 else 0))  # fmt: skip
def break_in_the_middle(x):
    """What stands before the break runs once more than what stands behind it."""
    y, total = x, 0.0
    while True:
        total = total * 1.0
        if y > 5.0:
            break
        total = total + ops.sin(y)
        y = y * 3
    return y + total * x


@program((0.3, integer(6)), (0.3, integer(2)), (0.3, integer(0)), reference=lambda x, n: (
    sum(x**k for k in range(n) if k % 3 != 1) + x * n
))  # fmt: skip
def continue_in_a_for(x, n):
    total = x * 0
    for k in range(n):
        total = total + x
        if k % 3 == 1:
            continue
        total = total + x**k
    return total


@program((0.3, integer(6)), (0.3, integer(1)), (0.3, integer(0)), reference=lambda x, n: (
    x * 2 ** len([k for k in range(1, n + 1) if k % 2]) * 3 ** len([k for k in range(1, n + 1) if k % 4 == 0])
))  # fmt: skip
def continue_in_a_while(x, n):
    """The counter moves before the jump."""
    k = 0
    while k < n:
        k += 1
        if k % 2 == 1:
            x = x * 2
            continue
        if k % 4 != 0:
            continue
        x = x * 3
    return x


def iterations_until(x, n, limit=2.0):
    for k in range(n):
        if x > limit:
            return x, k
        x = x * 1.4 + 0.1
    return x, n


@program((0.3, integer(9)), (0.3, integer(3)), (2.5, integer(9)), (0.3, integer(0)), reference=lambda x, n: (
    lambda y, k: y**2 + k if k < n else math.sin(y)
)(*iterations_until(x, n)))  # fmt: skip
def return_in_a_for(x, n):
    for k in range(n):
        if x > 2.0:
            return x * x + k
        x = x * 1.4 + 0.1
    return ops.sin(x)


@program((0.3, 9), (0.3, 3), (2.5, 9), (0.3, 0), reference=lambda x, n: (
    lambda y, k: y**2 + k if k < n else math.sin(y)
)(*iterations_until(x, n)))  # fmt: skip
def return_in_a_python_range(x, n):
    for k in range(n):
        if x > 2.0:
            return x * x + k
        x = x * 1.4 + 0.1
    return ops.sin(x)


@program((0.3, integer(9)), (0.3, integer(3)), (2.5, integer(9)), (0.3, integer(0)), reference=lambda x, n: (
    lambda y, k: y**2 if k < n else 1 / y
)(*iterations_until(x, n)))  # fmt: skip
def return_in_a_while(x, n):
    while n > 0:
        if x > 2.0:
            return x**2
        x = x * 1.4 + 0.1
        n -= 1
    return 1 / x


@program((0.3, integer(9)), (0.3, integer(3)), (2.5, integer(9)), (0.3, integer(0)), reference=lambda x, n: (
    lambda y, k: y**2 if k < n else 1 / y
)(*iterations_until(x, n)))  # fmt: skip
def return_from_while_true(x, n):
    """Nothing stands behind the loop."""
    while True:
        if n == 0:
            return 1 / x
        if x > 2.0:
            return x**2
        x = x * 1.4 + 0.1
        n -= 1


def pair_by_floats(x, n, m):
    for i in range(n):
        for j in range(m):
            if x > 2 + i:
                return x * j + i
            x = x * 1.2 + 0.1
        x = x - 0.05
    return -x * x


@program(
    (0.3, integer(3), integer(4)),
    (0.3, integer(1), integer(2)),
    (2.4, integer(3), integer(4)),
    (0.3, integer(3), integer(0)),
    (0.3, integer(0), integer(3)),
    reference=pair_by_floats,
)
def return_from_two_loops(x, n, m):
    for i in range(n):
        for j in range(m):
            if x > 2.0 + i:
                return x * j + i
            x = x * 1.2 + 0.1
        x = x - 0.05
    return -x * x


def both_breaks(x, n, m):
    for i in range(n):
        j = 0
        while j < m:
            if x > 2:
                break
            x, j = x * 1.3, j + 1
        x *= 0.6
        if i >= 2 and x < 0.7:
            break
    return x * x


@program(
    (0.27, integer(5), integer(9)),
    (0.3, integer(5), integer(1)),
    (3.9, integer(2), integer(9)),
    reference=both_breaks,
)
def breaks_of_both_loops(x, n, m):
    """The break of the inner loop leaves only that."""
    for i in range(n):
        j = 0
        while j < m:
            if x > 2.0:
                break
            x = x * 1.3
            j += 1
        x = x * 0.6
        if i >= 2 and x < 0.7:
            break
    return x * x


@program((0.9, integer(5)), (0.9, integer(2)), (0.9, integer(0)), reference=lambda x, n: (
    x + sum(math.sin(x * i * j) for i in range(n) for j in range(3) if i != 3 and j != 1)
))  # fmt: skip
def continues_of_both_loops(x, n):
    total = x
    for i in range(n):
        if i == 3:
            continue
        j = -1
        while j < 2:
            j = j + 1
            if j == 1:
                continue
            total = total + ops.sin(x * i * j)
    return total


@program((0.4, integer(30)), (0.4, integer(5)), (0.4, integer(1)), reference=lambda x, n: (
    x * 1.5 ** (0 if n < 4 else sum(1 for k in range(2, n) if all(k % d for d in range(2, k))))
))  # fmt: skip
def else_of_an_inner_loop(x, n):
    """Primes below n, as in Python's tutorial: the else runs where the inner loop was not left."""
    if n >= 4:
        k = 2
        while k < n:
            for d in range(2, k):
                if k % d == 0:
                    break
            else:
                x = x * 1.5
            k += 1
    return x


@program((0.4, integer(0)), (0.4, integer(3)), (0.4, integer(9)), reference=lambda x, n: (
    x * 2**n + 1 if n < 5 else x * 2**5
))  # fmt: skip
def else_of_a_while(x, n):
    k = 0
    while k < n:
        if k == 5:
            break
        x = x * 2
        k += 1
    else:
        x = x + 1
    return x


@program((0.4, integer(2)), (0.4, integer(7)), reference=lambda x, n: x**3 + n if n < 5 else math.cos(x))
def else_that_returns(x, n):
    for k in range(n):
        if k > 4:
            break
    else:
        return x**3 + n
    return ops.cos(x)


@program(
    (0.4,), (2.6,), (-0.8,), reference=lambda x: x * x if x > 2 else math.sin(x) if x > 0 else -math.cos(x)
)
def guards(x):
    """Returns one after the other, each ending the function."""
    if x > 2.0:
        return x * x
    y = ops.sin(x)
    if x > 0:
        return y
    z = ops.cos(x)
    return -z


@program((0.4,), (1.6,), (2.6,), (-0.8,), reference=lambda x: (
    (x**2 if x > 1 else x**3) * 2 if 0 < x < 2 else (math.exp(x) if x >= 2 else math.exp(x) + x)
))  # fmt: skip
def some_branches_return(x):
    """Where a branch goes on, the rest of the function runs."""
    y = ops.exp(x)
    if x > 0:
        if x < 2.0:
            if x > 1.0:
                y = x**2
            else:
                y = x**3
            return 2 * y
        z = 0.0
    else:
        z = x
    return y + z


def search_by_numpy(v, limit):
    for i, each in enumerate(v):
        if each > limit:
            return each**2 * i
    return v.sum()


@program(
    ([0.1, 0.6, 0.9], 0.5),
    ([0.1, 0.6, 0.9], 0.7),
    ([0.1, 0.6, 0.9], 1.5),
    ([0.1, 0.6, 0.9], 0.0),
    reference=search_by_numpy,
)
def return_from_a_tensor_axis(v, limit):
    for i, each in enumerate(v):
        if each > limit:
            return each**2 * i
    return v.sum()


@program((0.4, 0.1), (0.4, 0.5), (0.4, 1.5), reference=lambda x, limit: (
    x**2 if x**2 > limit else x * math.sin(x) if x * math.sin(x) > limit else 0.25 if limit < 0.25 else x
))  # fmt: skip
def return_from_a_tuple(x, limit):
    for candidate in (x * x, x * ops.sin(x), 0.25):
        if candidate > limit:
            return candidate
    return x


@program((0.4, integer(0)), (0.4, integer(3)), reference=lambda x, n: x**2 if n else x**3)
def a_loop_that_never_repeats(x, n):
    """Every path of the body leaves it."""
    while n > 0:
        x = x * x
        break
    else:
        x = x * x * x
    return x


@program((0.4, integer(5)), (0.4, integer(0)), reference=lambda x, n: x * 1.1 ** (2 * n))
def dead_code_behind_jumps(x, n):
    for _ in range(n):
        x = x * 1.21
        continue
        x = x * 100
    return x
    return x * 0


def walk_by_floats(p, x, n):
    total = 0.0
    for k in range(n):
        if k == 1:
            continue
        x = x * p["a"]
        if x < 0.2:
            return total + 10 * x
        if x > 3:
            break
        total += x
    else:
        total *= 2
    return total * x


@program(
    (0.5, 0.9, integer(5)),
    (0.5, 2.3, integer(9)),
    (0.5, 0.3, integer(3)),
    (0.5, 0.9, integer(0)),
    reference=lambda p, x, b, n: walk_by_floats({"a": p["a"] * b}, x, n),
)
class EveryJump(nn.Cell):
    """continue, return, break and else of one loop, in a method."""

    def __init__(self):
        super().__init__()
        self.a = weight(1.1)

    def walk(self, x, b, n):
        total = 0.0
        for k in range(n):
            if k == 1:
                continue
            x = x * self.a * b
            if x < 0.2:
                return total + 10 * x
            if x > 3.0:
                break
            total += x
        else:
            total *= 2
        return total * x

    def construct(self, x, b, n):
        return self.walk(x, b, n)


@program((0.7, 1), (0.7, 2), (0.7, 9), reference=lambda x, n: [x**2, x**3, math.sin(x)][min(n, 3) - 1])
def jumps_on_python_values(x, n):
    for k in range(5):
        if k + 1 == n:
            break
        if k == 2:
            return ops.sin(x)
    return x ** (k + 2)


@program(([[0.1, 0.7], [0.9, 0.4]], 0.6), ([[0.1, 0.2], [0.5, 0.4]], 0.6), ([[0.7, 0.2], [0.5, 0.4]], 0.6), reference=lambda m, limit: (
    (lambda found: found[0] ** 3 if len(found) else np.sin(m).sum())(m[m > limit])
))  # fmt: skip
def a_flag_that_leaves_two_loops(m, limit):
    found = False
    first = 0.0
    for row in m:
        for each in row:
            if each > limit:
                found, first = True, each
                break
        if found:
            break
    return first**3 if found else ops.sum(ops.sin(m))


@program((0.3, integer(2), integer(3)), (0.3, integer(6), integer(3)), (0.3, integer(0), integer(3)), reference=lambda x, n, m: (
    x * 1.1 ** sum(min(m, i + 1) for i in range(n))
))  # fmt: skip
def break_on_the_outer_variable(x, n, m):
    for i in range(n):
        for j in range(m):
            if j > i:
                break
            x = x * 1.1
    return x


def levels_by_floats(x, n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                if k == j:
                    continue
                x += 0.01 * (i + j + k)
                if x > 1.7:
                    return x * x
                if k > 2:
                    break
            if x > 1.55 and i == 1:
                break
    return x**3


@program(
    (0.85, integer(4)), (0.85, integer(2)), (1.35, integer(3)), (0.85, integer(1)), reference=levels_by_floats
)
def jumps_through_three_levels(x, n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                if k == j:
                    continue
                x = x + 0.01 * (i + j + k)
                if x > 1.7:
                    return x * x
                if k > 2:
                    break
            if x > 1.55 and i == 1:
                break
    return x**3


@program(
    (0.6, integer(3)), (0.6, integer(0)), (0.6, integer(12)),
    reference=lambda x, n: (x + 1.0) ** 2 + (n > 4) * x,
)  # fmt: skip
def a_variable_that_only_exits_define(x, n):
    """Every way out of the loop defines y, which has no value when the loop begins."""
    for k in range(n):
        if k == 4:
            y = (x + 1.0) ** 2 + x
            break
    else:
        y = (x + 1.0) ** 2
    return y
