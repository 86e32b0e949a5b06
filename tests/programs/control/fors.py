"""`for` over ranges (tensor bounds too), containers, iterators and the first axis of a tensor."""

import math

import numpy as np

from mindgrad import nn, ops
from tests.programs.control.program import integer, program, weight


@program(
    (0.3, 0), (0.3, 1), (0.3, 6), reference=lambda x, n: sum(x**k / math.factorial(k) for k in range(n)) + x
)
def a_series(x, n):
    """`n` is a Python value: every length is a program of its own."""
    total, term = x, 1.0
    for k in range(n):
        total = total + term
        term = term * x / (k + 1)
    return total


@program(
    (0.3, integer(0)),
    (0.3, integer(1)),
    (0.3, integer(6)),
    reference=lambda x, n: sum(x**k / math.factorial(k) for k in range(n)) + x,
)
def a_series_of_tensor_length(x, n):
    """`n` is a tensor: every length is the same program."""
    total, term = x, 1.0
    for k in range(n):
        total = total + term
        term = term * x / (k + 1)
    return total


@program((0.8, integer(2), integer(2), integer(3)), (0.8, integer(2), integer(9), integer(3)), (0.8, integer(-1), integer(4), integer(1)), reference=lambda x, a, b, s: (
    np.prod([math.cos(x * k) + 1.1 for k in np.arange(a, b, s)]) * x
))  # fmt: skip
def start_stop_step(x, start, stop, step):
    product = x
    for k in range(start, stop, step):
        product = product * (ops.cos(x * k) + 1.1)
    return product


@program(
    (0.8, integer(5)),
    (0.8, integer(0)),
    reference=lambda x, n: np.polyval([1.0 / (k + 1) for k in range(n, -1, -1)], x),
)
def horner_downwards(x, n):
    """A negative step."""
    result = x * 0
    for k in range(n, -1, -1):
        result = result * x + 1.0 / (k + 1)
    return result


@program(
    (0.8, integer(5)),
    (0.8, integer(0)),
    reference=lambda x, n: np.polyval([k * k + 1.0 for k in range(n - 1, -1, -1)], x) if n else 0.0,
)
def horner_reversed(x, n):
    result = x * 0
    for k in reversed(range(n)):
        result = result * x + (k * k + 1)
    return result


@program(
    (0.6, integer(3)),
    (0.6, integer(0)),
    (0.6, integer(12)),
    reference=lambda x, n: (x + 1.0) ** 2 + (n > 4) * x,
)
def else_of_a_for(x, n):
    """The else runs unless the loop was left by break."""
    y = x
    for k in range(n):
        if k == 4:
            y = (x + 1.0) ** 2 + x
            break
    else:
        y = (x + 1.0) ** 2
    return y


@program(([0.5, -0.8, 0.2],), reference=lambda v: sum(math.sin(e) * (i + 1) for i, e in enumerate(v)))
def the_first_axis_of_a_tensor(v):
    total = 0.0
    weight = 1
    for each in v:
        total += ops.sin(each) * weight
        weight += 1
    return total


@program(([[0.5, -0.8], [0.2, 0.9], [-0.4, 0.1]],), ([[-0.5, -0.8], [0.2, 0.9], [-0.4, -0.1]],), reference=lambda m: (
    sum((row**2).sum() if row.sum() > 0 else (row**3).sum() for row in m)
))  # fmt: skip
def a_branch_for_each_row(m):
    total = 0.0
    for row in m:
        if row.sum() > 0:
            total = total + ops.sum(row * row)
        else:
            total = total + ops.sum(row**3)
    return total


@program((0.4, -0.7, 1.1), reference=lambda a, b, c: a * b**2 * c**3 + a + b + c)
def tuples_and_lists(a, b, c):
    total, product = 0.0, 1.0
    for each in (a, b, c):
        total = total + each
    for power, each in [(1, a), (2, b), (3, c)]:
        product = product * each**power
    return product + total


@program((0.4, -0.7), reference=lambda a, b: (a + 2 * b) * math.sin(a) * b**2 + a)
def dictionaries(a, b):
    parts = {"one": a, "two": b}
    factor = {"one": 1, "two": 2}
    total = 0.0
    for name in parts:
        total = total + factor[name] * parts[name]
    for name, value in parts.items():
        total = total * (ops.sin(value) if name == "one" else value * value)
    for value in parts.values():
        total = total + value
        break
    for number, key in enumerate(parts.keys()):
        total = total + number * 0 * parts[key]
    return total


@program((0.4, -0.7), reference=lambda a, b: 10 * a + 2 * a * b + 12 * b**3)
def enumerate_and_zip(a, b):
    total = 0.0
    for i, each in enumerate([a, a * b], start=1):
        total = total + i * each
    for (i, x), scale in zip(enumerate((a, b**3)), [9, 12], strict=True):
        total = total + scale * x + i * 0
    return total


@program(
    ([0.4, -0.7, 0.2], [1.1, 0.3, 0.6]), reference=lambda u, v: np.sum(np.sin(u * v) * np.arange(3)[::-1])
)
def zip_of_tensors(u, v):
    total = ops.zeros_like(u[0])
    for x, y, k in zip(u, v, reversed(range(3)), strict=True):
        total += ops.sin(x * y) * k
    return total


@program((0.4, -0.7, 1.1), reference=lambda a, b, c: math.sin(c - math.sin(b - math.sin(a))))
def reversed_list(a, b, c):
    y = 0.0
    for each in reversed([c, b, a]):
        y = ops.sin(each - y)
    return y


@program((0.4, -0.7, 1.1), reference=lambda a, b, c: a * 3 + (b**2 + c**3) * a)
def starred_targets(a, b, c):
    total = 0.0
    for head, *rest in [(a, b**2, c**3), (3, a)]:
        for each in rest:
            total = total + head * each
    return total


@program((0.4, integer(3), integer(4)), (0.4, integer(0), integer(4)), (0.4, integer(4), integer(0)), reference=lambda x, n, m: (
    x * 1.3 ** sum(1 for i in range(n) for j in range(m) if i != j) + sum(math.sin(i * j * x) for i in range(n) for j in range(m) if i != j) * 0
))  # fmt: skip
def tensor_ranges_nested(x, n, m):
    for i in range(n):
        for j in range(m):
            if i != j:
                x = x * 1.3
    return x


@program((0.4, integer(3)), (0.4, integer(1)), (0.4, integer(0)), reference=lambda x, n: (
    sum(math.sin(x * (3 * i + j)) for i in range(n) for j in range(3))
))  # fmt: skip
def a_python_range_in_a_tensor_range(x, n):
    total = x * 0
    for i in range(n):
        for j in range(3):
            total = total + ops.sin(x * (3 * i + j))
    return total


@program((0.4, integer(3)), (0.4, integer(1)), (0.4, integer(0)), reference=lambda x, n: (
    [y := x, *[y := y * 0.9 + math.sin(i + y) for i in range(3) for _ in range(n + i)]][-1]
))  # fmt: skip
def a_tensor_while_in_a_python_range(x, n):
    for i in range(3):
        j = n + i
        while j > 0:
            x = x * 0.9 + ops.sin(i + x)
            j = j - 1
    return x


@program(
    (0.4, integer(0)),
    (0.4, integer(3)),
    reference=lambda x, n: x**2 + (n - 1 if n else 9) * x + n * (n - 1) / 2,
)
def the_variable_after_the_loop(x, n):
    i = 9
    total = 0
    for i in range(n):
        total = total + i
    return x**2 + i * x + total


@program((0.4, 3), (0.4, 1), reference=lambda x, n: x ** (n - 1) + n)
def the_variable_of_a_python_range_after_it(x, n):
    for i in range(n):
        y = x * i
    return x**i + (y - x * i) + n


@program((0.9, integer(2)), (0.9, integer(0)), reference=lambda x, n: x ** (5 + n))
def the_variable_is_assigned_in_the_body(x, n):
    """The next iteration gets its own value all the same; the bound was read once."""
    y = x**5
    for i in range(n):
        i = i + 100
        n = n + i
        y = y * x
    return y


class Layer(nn.Cell):
    def __init__(self, scale, shift):
        super().__init__()
        self.scale = weight(scale)
        self.shift = weight(shift)

    def construct(self, x):
        return ops.tanh(self.scale * x + self.shift)


def stack_by_numpy(p, x):
    y = x
    for i in range(3):
        gate = math.tanh(p[f"layers.{i}.scale"] * y + p[f"layers.{i}.shift"])
        y = gate + (y if y > 0.5 else 0)
    return y


@program((0.7,), (-0.3,), (1.6,), reference=stack_by_numpy)
class LayersOfACellList(nn.Cell):
    """Three Cells with weights of their own: the loop must unroll. The residual path has a condition."""

    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([Layer(0.7, 0.1), Layer(-1.2, 0.4), Layer(0.9, 0.2)])

    def construct(self, x):
        for index, layer in enumerate(self.layers):
            y = layer(x)
            if x > 0.5:
                y = y + x
            x = y if index < 9 else x
        return x


@program((0.7,), reference=lambda x: math.exp(math.sin(math.cos(x))) + 3 * x)
def functions_in_a_loop(x):
    y = x
    for f in (ops.cos, ops.sin, ops.exp, lambda z: z + 3 * x):
        y = f(y)
    return y


@program((0.7,), reference=lambda x: x**4 + math.sin(x) * x**2 - 1)
def a_program_in_a_string(x):
    """A loop over letters."""
    stack = []
    for letter in "xxxx***xsxx**+1-":
        if letter == "x":
            stack.append(x)
        elif letter == "s":
            stack.append(ops.sin(stack.pop()))
        elif letter.isdigit():
            stack.append(int(letter))
        else:
            right, left = stack.pop(), stack.pop()
            stack.append({"*": left * right, "+": left + right, "-": left - right}[letter])
    return stack.pop()


@program(([0.4, -0.7, 0.2, 0.9],), reference=lambda v: np.cumsum(v**2)[::-1])
def results_in_a_list(v):
    sums = []
    total = 0.0
    for each in v:
        total = total + each * each
        sums.append(total)
    sums.reverse()
    return ops.stack(sums)


@program(
    (0.2, integer(0)),
    (0.2, integer(3)),
    (0.2, integer(40)),
    reference=lambda x, n: 0.5 - 0.5 * (1 - 2 * x) ** (2 ** min(n, 40)),
)
def a_map_that_is_iterated(x, n):
    """The logistic map 2x(1 − x) in closed form; after many iterations it stands at its fixed point."""
    for _ in range(n):
        x = 2 * x * (1 - x)
    return x


@program(
    ([0.4, -0.7, 0.2],), reference=lambda v: np.array([v[0], v[0] + v[1] ** 2, (v[0] + v[1] ** 2) * v[2]])
)
def subscripts_in_a_loop(v):
    """out[i] = … reads what earlier iterations wrote."""
    out = ops.zeros_like(v)
    for i in range(3):
        if i == 0:
            out[i] = v[i]
        else:
            out[i] = out[i - 1] + v[i] ** 2 if i % 2 else out[i - 1] * v[i]
    return out


@program(([0.4, -0.7, 0.2, 0.3, 0.8], integer(5)), ([0.4, -0.7, 0.2, 0.3, 0.8], integer(2)), ([0.4, -0.7, 0.2, 0.3, 0.8], integer(0)), reference=lambda v, n: (
    np.concatenate([np.cumsum(np.sin(v[:n])), np.zeros(5 - n)])
))  # fmt: skip
def tensor_subscripts_in_a_tensor_range(v, n):
    """The index is a tensor, on both sides."""
    out = ops.zeros_like(v)
    total = 0.0
    for i in range(n):
        total = total + ops.sin(v[i])
        out[i] = total
    return out


@program(
    (0.7, 3),
    reference=lambda x, n: sum((i + 1) * x**k for i, k in enumerate([3, 1, 2])) + x + 2 * math.sin(x),
)
def sorted_map_filter(x, n):
    powers = {"b": 1, "a": n, "c": 2}
    y = x
    for i, name in enumerate(sorted(powers)):
        y = y + (i + 1) * x ** powers[name]
    for z in map(ops.sin, filter(lambda t: t is not None, [x, None, x])):
        y = y + z
    return y


@program(([[0.3, 0.4], [0.5, -0.6]],), reference=lambda m: np.linalg.matrix_power(m, 4).sum())
def a_matrix_in_a_loop(m):
    power = m
    for _ in range(3):
        power = ops.matmul(power, m)
    return power.sum()


def long_body_by_numpy(p, x):
    y = x.copy()
    for _ in range(40):
        z = np.tanh(p["w"] @ y + p["b"])
        y = 0.8 * y + 0.2 * z * np.cos(y)
    return y


@program(([0.3, -0.4],), reference=long_body_by_numpy)
class ManyEqualSteps(nn.Cell):
    """A known range with one body: as a scan it is smaller than unrolled."""

    def __init__(self):
        super().__init__()
        self.w = weight([[0.3, -0.8], [0.9, 0.1]])
        self.b = weight([0.1, -0.2])

    def construct(self, y):
        for _ in range(40):
            z = ops.tanh(ops.matmul(self.w, y) + self.b)
            y = 0.8 * y + 0.2 * z * ops.cos(y)
        return y


def tail_by_floats(x):
    for step in range(20):
        if step % 3 == 0:
            x = math.sin(x) + 0.1 * step
        elif x > 0.9:
            x = x * 0.7
    return x


@program((0.3,), (1.9,), (-0.8,), reference=tail_by_floats)
def python_and_tensor_conditions_in_one_loop(x):
    for step in range(20):
        if step % 3 == 0:
            x = ops.sin(x) + 0.1 * step
        elif x > 0.9:
            x = x * 0.7
    return x
