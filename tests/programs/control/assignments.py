"""Assignments of every form, also in branches and loops; with, del, assert, raise, f-strings."""

import contextlib
import math

import numpy as np

from mindgrad import Tensor, ops
from tests.programs.control.program import integer, program

TABLE = {"scale": 3.0, "calls": None}
SHIFT = Tensor(np.array(0.25))


@program((0.3, 0.8), (1.3, 0.8), reference=lambda x, y: (x * y, y**2, x) if x < 1 else (y, x, x * y))
def tuples_are_unpacked(x, y):
    a, (b, c) = x * y, (y**2, x)
    if x >= 1.0:
        (a, b), [c, _] = (y, c), (a, 0)
        a, b = b, a
        b, a = a, b
    return a, b, c


@program((0.3, 0.8, 1.1), reference=lambda x, y, z: math.sin(x) + y * z**2 + (x + y + z) * 2)
def starred_assignment(x, y, z):
    first, *middle, last = x, y, z, 2
    *rest, end = [first, *middle]
    (only,) = [ops.sin(x)]
    return only + middle[0] * end**2 + (first + sum(rest[1:]) + end) * last


@program((0.3, integer(0)), (0.3, integer(2)), reference=lambda x, n: 3 * (x * 2**n) ** 2 + x)
def several_targets(x, n):
    a = b = c = x
    while n > 0:
        a = b = b * 2
        n -= 1
    return a * b + b * a + a * a + c


def augmented_by_floats(x, y):
    z = ((x + y) * y - 0.5) / x
    z = z**2
    return z % 0.7 + (z // 0.7) * x


@program((0.9, 0.8), (1.3, -0.8), reference=augmented_by_floats)
def augmented_assignments(x, y):
    """None of them changes the tensor that the caller holds."""
    z = x
    z += y
    z *= y
    z -= 0.5
    z /= x
    z **= 2
    w = z
    z %= 0.7
    w //= 0.7
    return z + w * x


@program(([0.4, -0.7], [[0.3, 0.5], [-0.2, 0.9]], integer(0)), ([0.4, -0.7], [[0.3, 0.5], [-0.2, 0.9]], integer(3)), reference=lambda v, m, n: (
    np.linalg.matrix_power(m.T, n) @ v
))  # fmt: skip
def augmented_matrix_product(v, m, n):
    while n > 0:
        v @= m
        n -= 1
    return v


@program((0.4, 0.9), (1.4, 0.9), reference=lambda x, y: x**2 * y + (y * 5 if x > 1 else y * 2) + x + 1)
def elements_of_lists_and_dictionaries(x, y):
    held = {"list": [x, y, 1], "pair": (y, 2)}
    held["list"][0] *= x
    held["list"][2] += x
    held["factor"] = 2
    if x > 1.0:
        held["factor"] = held["pair"][1] + 3
        held["list"][1], _ = y, 0
    return held["list"][0] * held["list"][1] + held["pair"][0] * held["factor"] + held["list"][-1]


@program(([0.4, -0.7, 0.9],), ([-0.4, 0.7, 0.9],), reference=lambda v: np.array([
    v[2] ** 2 if v[0] > 0 else v[0], v[1] * 3 + v[2], v[2] * (1 if v[0] > 0 else v[1])
]))  # fmt: skip
def elements_of_tensors(v):
    w = v * 1.0
    if v[0] > 0:
        w[0] = v[2] ** 2
    else:
        w[-1] *= v[1]
    w[1] *= 3
    w[1] += v[2]
    return w


def parts_by_numpy(m):
    out = m**2
    out[1:, :2] = m[:-1, 1:]
    out[:, 2] += m[0]
    out[m > 0.5] = -2.0
    out[0] = out[0] * 3
    return out


@program(([[0.4, -0.7, 0.9], [0.1, 0.8, -0.3], [0.6, 0.2, 0.3]],), reference=parts_by_numpy)
def parts_of_tensors(m):
    out = m**2
    out[1:, :2] = m[:-1, 1:]
    out[:, 2] += m[0]
    out[m > 0.5] = -2.0
    out[0] = 3 * out[0, ...]
    return out


@program(([0.4, -0.7, 0.9, 0.2], integer(0)), ([0.4, -0.7, 0.9, 0.2], integer(3)), ([0.4, -0.7, 0.9, 0.2], integer(7)), reference=lambda v, n: (
    np.roll(v, n) * 1.1**n
))  # fmt: skip
def elements_move_in_a_loop(v, n):
    v = v * 1.0
    for _ in range(n):
        last = v[3]
        v[1:] = v[:-1] * 1.1
        v[0] = 1.1 * last
    return v


@program(([0.4, 0.7, 0.9, 0.2], integer(0)), ([0.4, 0.7, 0.9, 0.2], integer(6)), reference=lambda v, n: (
    [w := v.copy(), [w.__setitem__(i % 4, math.sin(w[i % 4] + w[(i + 1) % 4])) for i in range(n)]][0]
))  # fmt: skip
def elements_at_tensor_places(v, n):
    """A ring: each iteration changes one element, read from it and its neighbor."""
    w = v * 1.0
    for i in range(n):
        w[i % 4] = ops.sin(w[i % 4] + w[(i + 1) % 4])
    return w


@program((0.4,), (1.4,), (2.9,), reference=lambda x: (
    (lambda y: y**2 + y if y > 1 else 2 * y - (x * x if x > 1 else x))(math.exp(x) - 1)
))  # fmt: skip
def walrus_in_conditions(x):
    if (y := ops.exp(x) - 1) > 1.0:
        return y**2 + y
    elif (z := x * x) > 1 and y > 0:
        return 2 * y - z
    return 2 * y - (z := x) * 1


@program(
    (0.4, integer(0)),
    (0.4, integer(4)),
    reference=lambda x, n: sum(math.sin(x * k) ** 2 for k in range(n)) + x,
)
def annotated_assignments(x: Tensor, n: Tensor) -> Tensor:
    total: Tensor = x
    i: int = 0
    while i < n:
        step: Tensor = ops.sin(x * i)
        total: Tensor = total + step * step
        i += 1
    return total


@program((0.4,), (-0.4,), reference=lambda x: x * 3 + (x**2 if x > 0 else x**3))
def del_of_everything(x):
    parts = {"a": x, "b": x**2, "c": 5}
    row = [x, x * 2, x**3]
    spare = ops.exp(x)
    del spare, parts["c"], row[1]
    if x > 0:
        y = parts["b"]
    else:
        z = row[-1]
        y = z
        del z
    del parts["b"], row[:1]
    return sum(parts.values()) * 3 + y * len(row)


class Recorder:
    """A context manager with an attribute that the body of `with` changes."""

    def __init__(self, start):
        self.total = start
        self.depth = 0

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, *error):
        self.depth -= 1
        return False

    def add(self, value):
        self.total = self.total + value


@program((0.4, integer(0)), (0.4, integer(3)), (1.4, integer(2)), reference=lambda x, n: (
    x + n * math.sin(x) + (x**2 if x > 1 else 0)
))  # fmt: skip
def with_an_object(x, n):
    """The object is made by the program, so that its attributes may change."""
    with Recorder(x) as recorder, contextlib.nullcontext(3) as three:
        total = 0.0
        while n > 0:
            total = total + ops.sin(x)
            n -= 1
        recorder.add(total)
        recorder.total += x**2 if x > 1.0 else 0.0
        assert recorder.depth == 1
        assert three == 3
    assert recorder.depth == 0, "the context was left"
    return recorder.total


@program((0.4,), (2.4,), reference=lambda x: x**2 if x < 2 else 2 * x)
def return_inside_with(x):
    with contextlib.suppress(KeyError):
        if x < 2.0:
            return x**2
        x = 2 * x
    return x


@program((0.4, 2), (0.4, 3), reference=lambda x, power: x**power + power)
def assertions_on_known_values(x, power):
    assert isinstance(power, int)
    assert power > 0, f"a power of {power}"
    assert x.shape == ()
    if power > 7:
        raise ValueError(f"{power} is too much")
    if x.ndim != 0:
        raise NotImplementedError
    return x**power + power


@program((0.4, 2), reference=lambda x, k: x**2 + 3 * x)
def names_made_of_text(x, k):
    """f-strings and text methods on known values."""
    weights = {f"w{i}": i + 1 for i in range(4)}
    name = f"{'W'.lower()}{k:d}"
    label = "{}-{}".format(name, x.shape)  # noqa: UP032
    assert label.startswith("w2")
    assert f"{x.dtype} {2.0:.2f}" == "Float64 2.00"
    return x**2 + weights[name] * x


@program((0.4,), (1.4,), reference=lambda x: 3.0 * x + 0.25 * x**2 + (x if x < 1 else 0.25))
def globals_are_read(x):
    y = TABLE["scale"] * x + SHIFT * x**2
    return y + (x if x < 1.0 else SHIFT)


@program((0.4, integer(0)), (0.4, integer(5)), reference=lambda x, n: (1 + x) ** n + n)
def nonlocal_in_a_loop(x, n):
    """A closure changes variables of the function that defines it."""
    value, count = x * 0 + 1, 0

    def grow():
        nonlocal value, count
        value = value + value * x
        count += 1

    while count < n:
        grow()
    return value + count


@program((0.4, integer(1)), (0.4, integer(0)), reference=lambda x, n: x**2 * 2 + (x * n) ** 2)
def identity_of_objects(x, n):
    """`is` compares objects, whatever they hold."""
    y = x
    same, other = y is x, ops.sin(x) is x
    nothing = None
    total = x * n if nothing is None else x
    total = total * total
    if same and not other and total is not None:
        total = total + 2 * y * y
    return total


@program((0.4, 0.2, integer(0)), (0.4, 0.2, integer(3)), reference=lambda x, y, n: (
    (x + n * y) ** 2 + (y + x) * n + (2 if n else 1)
))  # fmt: skip
def nested_structures_are_carried(x, y, n):
    state = {"point": (x, [y]), "sum": 0, "steps": [1, {"k": 1}]}
    for _ in range(n):
        (a, [b]) = state["point"]
        state["point"] = (a + b, [b])
        state["sum"] = state["sum"] + y + x
        state["steps"][1]["k"] = 2
    return state["point"][0] ** 2 + state["sum"] + state["steps"][1]["k"]
