"""Lists, dictionaries, sets and tuples: comprehensions, generator expressions, their methods, structures."""

import dataclasses
import math
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from mindgrad import nn, ops
from tests.programs.control.program import integer, program, weight


@program((0.4,), (-0.4,), reference=lambda x: sum((x**k if x > 0 else math.sin(k * x)) for k in range(1, 5)))
def a_conditional_in_a_comprehension(x):
    terms = [x**k if x > 0 else ops.sin(k * x) for k in range(1, 5)]
    return sum(terms)


@program(
    (0.4, 5),
    (0.4, 0),
    reference=lambda x, n: (
        sum(i * j * math.sin(x + i) for i in range(n) for j in range(i) if (i + j) % 2) + x
    ),
)
def a_nested_comprehension(x, n):
    terms = [i * j * ops.sin(x + i) for i in range(n) for j in range(i) if (i + j) % 2 == 1]
    return sum(terms, x)


@program(
    ([0.4, 0.7, -0.2],), ([-0.4, 0.7, 0.2],), reference=lambda v: np.prod(1 + v**2) + np.sum(v**3 * (v > 0))
)
def generator_expressions(v):
    product = 1.0
    for factor in (1 + each * each for each in v):
        product = product * factor
    return product + sum(each**3 if each > 0 else 0.0 for each in v)


@program((0.4, 0.9), reference=lambda x, y: x * y**2 + (x**2 + y**4) * 3 + 2 * 2)
def dictionary_comprehensions(x, y):
    values = {"x": x, "y": y**2}
    squares = {name.upper(): value * value for name, value in values.items() if name != "z"}
    lengths = {len(name) for name in ("x", "y", "xy")}
    return values["x"] * values["y"] + 3 * sum(squares[k] for k in ("X", "Y")) + 2 * len(lengths)


@program(
    (0.4, integer(0)), (0.4, integer(3)), reference=lambda x, n: math.sin(x * 2**n) * (x * 2**n) ** 2 + n
)
def comprehensions_in_a_loop(x, n):
    """A loop of tensors around comprehensions; the names inside them are their own."""
    n_iterations = 0
    while n_iterations < n:
        x = sum([each for each in (x, x)])  # noqa: C416
        n_iterations = n_iterations + max(each for each in [1, 0])
    product = 1.0
    for factor in [f(x) for f in (ops.sin, lambda z: z * z)]:
        product = product * factor
    return product + n_iterations


@program((0.4, -0.9), (0.4, 0.9), reference=lambda x, y: (
    [math.cos(x), x * y, x] if y > 0 else [x, y**2, math.sin(y) * x]
))  # fmt: skip
def methods_of_lists(x, y):
    row = [x]
    if y > 0:
        row.append(x * y)
        row.insert(0, ops.cos(x))
        row[1], row[2] = row[2], row[1]
    else:
        row.extend([y * y, ops.sin(y)])
        row[-1] = row[-1] * row.copy()[0]
    return row


@program((0.4, 0.9), (1.4, 0.9), reference=lambda x, y: (
    x + y**2 + (2 * x**2 if x > 1 else y) + 3 + (1 if x > 1 else x)
))  # fmt: skip
def methods_of_dictionaries(x, y):
    held = dict(x=x, y=y**2)
    held.update({"z": y})
    if x > 1.0:
        held["z"] = held.get("none", 2) * held["x"] ** 2
    held.setdefault("w", 3)
    held.setdefault("x", None)
    total = held.pop("x") + held["y"] + held["z"] + held.pop("w") + held.pop("v", 0)
    return total + (1 if "x" not in held and x > 1.0 else x)


@program((0.4, 4), (0.4, 1), reference=lambda x, n: math.sin(x * n) + [x**k for k in range(n)][-1])
def a_stack_and_its_slices(x, n):
    stack = [x**k for k in range(n)]
    assert stack[::-1][0] is stack[-1]
    assert len(stack[1:]) == n - 1
    last = stack.pop()
    while stack:
        stack.pop(0)
    return ops.sin(x * n) + last


@program(
    (0.4, -0.9),
    (-0.4, 0.9),
    reference=lambda x, y: ((x, y), {"sum": x + y, "p": (x * y, (x if x > 0 else y) ** 2)}),
)
def structures_are_returned(x, y):
    first = x if x > 0 else y
    return [x, y], {"sum": x + y, "pair": (x * y, [first**2])}


class Point(NamedTuple):
    x: object
    y: object

    def squared(self):
        return self.x**2 + self.y**2


@program((0.4, -0.9, integer(0)), (0.4, -0.9, integer(4)), (-0.4, -0.9, integer(1)), reference=lambda x, y, n: (
    (lambda z: ((z.real, z.imag), abs(z) ** 2 if x > 0 else z.real))(complex(x, y) * 1j ** (n % 4) * 0.9**n)
))  # fmt: skip
def named_tuples_are_carried(x, y, n):
    """A rotation by quarter turns."""
    point = Point(x, y)
    for _ in range(n):
        point = Point(-0.9 * point.y, 0.9 * point.x)
    if x > 0:
        size = point.squared()
    else:
        size = point._replace(y=0).x
    return point, size


@dataclasses.dataclass
class State:
    position: object
    speed: object
    steps: int = 0

    def moved(self, by):
        return dataclasses.replace(self, position=self.position + by * self.speed, steps=self.steps + 1)


@program((0.4, 0.9, integer(0)), (0.4, 0.9, integer(5)), reference=lambda x, v, n: (x + 0.1 * v * n) ** 2 + n)
def data_classes_are_carried(x, v, n):
    state = State(x, v)
    while state.steps < n:
        state = state.moved(0.1)
    return state.position**2 + state.steps


@program((0.4, 0.9), (0.9, 0.4), reference=lambda x, y: 3 * x * y + (y - x) * 2 + 3)
def dictionaries_keep_their_order(x, y):
    held = OrderedDict(b=x, a=y)
    if x > y:
        held["c"] = held["b"] * held["a"]
    else:
        held["c"] = held["a"] * held["b"]
    held.move_to_end("b")
    assert list(held) == ["a", "c", "b"]
    a, c, b = held.values()
    return 3 * c + (a - b) * len(held) - (a - b) + 3


@program(
    ([0.4, -0.9, 0.3],),
    ([0.9, 0.4, -0.3],),
    reference=lambda v: np.sort(v) @ np.array([1.0, 2.0, 3.0]) ** 2 + np.max(v) ** 3,
)
def bubble_sort(v):
    """A list is sorted by branches that exchange its elements."""
    row = list(v)
    for end in range(len(row) - 1, 0, -1):
        for i in range(end):
            if row[i] > row[i + 1]:
                row[i], row[i + 1] = row[i + 1], row[i]
    return sum((i + 1) ** 2 * each for i, each in enumerate(row)) + row[-1] ** 3


@program(
    (0.4, integer(2)), (0.4, integer(0)), (0.4, integer(-1)), reference=lambda x, k: [x, x**2, math.sin(x)][k]
)
def a_list_at_a_tensor_index(x, k):
    """The items have one type, so that a tensor may choose among them."""
    choices = [x, x**2, ops.sin(x)]
    return choices[k]


@program(
    (0.4, integer(0)),
    (0.4, integer(4)),
    reference=lambda x, n: [x * 1.5 ** (n - (n > 2)), x * 1.5**n, n - 2.0],
)
def a_window_of_a_list(x, n):
    """The length stays; what goes in at one end goes out at the other."""
    window = [x, x, -2.0 + 0 * x]
    k = 0
    while k < n:
        k += 1
        window = [window[0] if k == n and n > 2 else window[1] * 1.5, window[1] * 1.5, window[2] + 1]
    return window


def tables_by_numpy(p, x):
    rows = {name: p[f"{name}"] for name in ("alpha", "beta")}
    return sum(math.sin(r * x) if r * x > 0 else (r * x) ** 2 for r in rows.values())


@program((0.4,), (-0.4,), reference=tables_by_numpy)
class ATableOfParameters(nn.Cell):
    def __init__(self):
        super().__init__()
        self.alpha = weight(1.2)
        self.beta = weight(-0.7)

    def construct(self, x):
        table = {"alpha": self.alpha, "beta": self.beta}
        scaled = {name: value * x for name, value in table.items()}
        return sum(ops.sin(y) if y > 0 else y * y for y in scaled.values())


@program((0.4, 0.9), (-0.4, 0.9), reference=lambda x, y: (x + y) ** 2 + (x - y if x > 0 else y - x) + 4)
def known_values_in_sets(x, y):
    seen = set()
    seen.add("a")
    seen |= {"b", "a"}
    total = (x + y) ** 2
    if "b" in seen and x > 0:
        total = total + x - y
    elif "c" not in seen:
        total = total + y - x
    return total + len(seen) + len({"a", "z"} | seen) - 1


@program(([[0.4, -0.9], [0.3, 0.8]],), ([[-0.4, -0.9], [0.3, 0.8]],), reference=lambda m: np.array([
    [m[0, 0] ** 2, m[1, 0] ** 2], [(m[0, 1] if m[0, 0] > 0 else 1) * 1, m[1, 1]],
]))  # fmt: skip
def lists_of_lists(m):
    rows = [[m[i][j] for i in range(2)] for j in range(2)]
    if m[0, 0] <= 0:
        rows[1][0] = 1.0 + 0 * m[0, 0]
    rows[0] = [each**2 for each in rows[0]]
    return ops.stack([ops.stack(row) for row in rows])


class Bracket:
    def __init__(self, low, high):
        self.low, self.high = low, high


@program(
    (0.4,), (-1.4,),
    reference=lambda x: 2**0.5 * x,
)  # fmt: skip
class AnObjectThatALoopChanges(nn.Cell):
    def construct(self, x):
        bracket = Bracket(x * 0, x * 0 + 2)
        while bracket.high - bracket.low > 1e-12:
            middle = (bracket.low + bracket.high) / 2
            if middle * middle > 2.0:
                bracket.high = middle
            else:
                bracket.low = middle
        return bracket.low * x
