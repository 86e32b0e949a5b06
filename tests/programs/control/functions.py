"""Functions: nested ones, closures, lambdas, every kind of argument, methods, inheritance, recursion."""

import functools
import math
import operator

import numpy as np

from mindgrad import Tensor, jit, nn, ops
from tests.programs.control.program import integer, program, weight


@program((0.4,), (-0.4,), reference=lambda x: math.sin(x * 2) * 2 + (x * 2 if x > 0 else x**2))
def nested_functions(x):
    scale = 2

    def double(y):
        return y * scale

    def choose(y):
        def square():
            return y**2

        if y > 0:
            return double(y)
        return square()

    return double(ops.sin(double(x))) + choose(x)


@program(
    (0.4, integer(0)),
    (0.4, integer(3)),
    reference=lambda x, n: x**2 + sum(math.sin(x * (k + 1)) * 2 for k in range(n)),
)
def a_closure_made_in_a_loop(x, n):
    """It sees the variables of its function as they are when it is called."""
    k = 0
    total = x**2
    term = lambda: ops.sin(x * k) * factor
    factor = 1
    while k < n:
        k += 1
        factor = 2
        total = total + term()
    return total


@program((0.4,), (-0.4,), reference=lambda x: (x + 1) * (2 * x + 1) * (3 * x + 1))
def functions_that_return_functions(x):
    def line(slope):
        return lambda y, offset=1: slope * y + offset

    lines = [line(k) for k in (1, 2, 3)]
    return lines[0](x) * lines[1](x) * lines[2](x)


def polynomial(x, a, b=2.0, /, *more, c, d=0.5, **named):
    total = a + b * x
    for power, factor in enumerate(more, start=2):
        total = total + factor * x**power
    for name, factor in named.items():
        total = total + factor * (ops.sin(x) if name == "sine" else ops.cos(x))
    return total * c + d


@program((0.4, 0.9), (-0.4, 0.9), reference=lambda x, y: (
    ((1 + y * x) + (3 * x**2 + y * x**3) + 2 * math.sin(x) + y * math.cos(x)) * 2 + 0.5
    + (1 + 2 * x) * y + (0.25 if x > 0 else 0.75)
))  # fmt: skip
def every_kind_of_argument(x, y):
    rest = (3.0, y)
    named = {"sine": 2.0, "cosine": y}
    offset = 0.25 if x > 0 else 0.75
    return polynomial(x, 1.0, y, *rest, c=2.0, **named) + polynomial(x, 1.0, c=y, d=offset)


@program(
    (0.4, 0.9),
    (-0.4, 0.9),
    reference=lambda x, y: (x * y + y * 3) + (2 * x + 3 * y if x > 0 else 2 * y + 3 * x) + x * y * 2,
)
def partial_functions(x, y):
    mix = lambda a, b, scale=1: a * b * scale if scale == 2 else 2 * a + 3 * b * scale
    fixed = functools.partial(mix, scale=1)
    first = functools.partial(fixed, x)
    both = functools.partial(operator.mul, y)
    return both(x) + both(3) + (first(y) if x > 0 else fixed(y, x)) + functools.partial(mix, x, scale=2)(y)


@program(
    (0.4, 3),
    (0.4, 0),
    (0.4, 7),
    reference=lambda x, n: functools.reduce(lambda y, _: math.sin(y) + x, range(n), x),
)
def recursion_on_a_python_number(x, n):
    def nest(depth):
        if depth == 0:
            return x
        return ops.sin(nest(depth - 1)) + x

    return nest(n)


@program((0.4, integer(3)), (0.4, integer(0)), (-1.4, integer(2)), reference=lambda x, n: (
    x + sum(abs(x) ** k for k in range(1, n + 1))
))  # fmt: skip
def recursion_over_a_tree(x, n):
    """The depth is a Python value, the branches and loops at its nodes depend on tensors."""

    def total(tree):
        if isinstance(tree, (list, tuple)):
            return sum(total(each) for each in tree)
        k, y = 0, tree
        while k < n:
            k += 1
            y = y + (x if x > 0 else -x) ** k
        return y * 0.25

    return total([x, (x, [x])]) + total((x,))


class Shape(nn.Cell):
    """Properties, class attributes, static and class methods, and a method that subclasses replace."""

    factor = 2.0

    def __init__(self, size):
        super().__init__()
        self.size = weight(size)

    @property
    def area(self):
        if self.size > 1.0:
            return self.size**2
        return self.size * 0.5

    @staticmethod
    def bend(x):
        return ops.sin(x) if x > 0 else x

    @classmethod
    def scaled(cls, x):
        return cls.factor * x

    def outline(self, x):
        return self.scaled(x) + self.area

    def construct(self, x):
        return self.bend(self.outline(x))


class Round(Shape):
    factor = 3.0

    @property
    def area(self):
        return super().area * math.pi

    def outline(self, x):
        base = super().outline(x)
        while base > 4.0:
            base = base * 0.5
        return base


class Nested(Round):
    def construct(self, x, times=1):
        y = super().construct(x)
        for _ in range(times):
            y = y + super(Round, self).construct(x)
        return y


def inherited_by_floats(size, x, times):
    bend = lambda y: math.sin(y) if y > 0 else y
    area = (size**2 if size > 1 else size * 0.5) * math.pi
    base = 3 * x + area
    halved = base / 2 ** max(0, math.ceil(math.log2(base / 4))) if base > 0 else base
    # super(Round, self).construct is Shape's, whose outline is still that of the object
    return bend(halved) * (1 + times)


@program(
    (0.4, 1),
    (2.4, 0),
    (-1.9, 2),
    reference=lambda p, x, times: inherited_by_floats(p["inner.size"], x, times),
)
class Inheritance(nn.Cell):
    def __init__(self):
        super().__init__()
        self.inner = Nested(1.3)

    def construct(self, x, times):
        return self.inner(x, times=times)


class Scaled:
    """A plain Python object that is called; the program reads its attributes."""

    def __init__(self, scale, shift=None):
        self.scale, self.shift = scale, shift

    def __call__(self, x):
        if self.shift is None:
            return self.scale * x
        return self.scale * x + (self.shift if x > 0 else -self.shift)

    def twice(self, x):
        return self(self(x))


@program((0.4,), (-0.4,), reference=lambda x: 3 * (3 * x) + 2 * math.sin(x) + (1 if x > 0 else -1))
def objects_that_are_called(x):
    plain, shifted = Scaled(3), Scaled(2.0, shift=1.0)
    return plain.twice(x) + ops.sin(x) + shifted(ops.sin(x)) - ops.sin(x)


def counted(function):
    """A decorator as users write them."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        return result * 2 if result > 0 else result

    return wrapper


@counted
def decorated_square_root(x):
    return ops.sqrt(x) - 1.0 if x > 0 else x


@program((0.4,), (2.4,), (-0.4,), reference=lambda x: (
    lambda y: (2 * y if y > 0 else y) * x
)(math.sqrt(x) - 1 if x > 0 else x))  # fmt: skip
def decorators(x):
    return decorated_square_root(x) * x


@jit
def jitted_helper(x, n=2):
    while x > 1.0:
        x = x / n
    return x


@program((0.4,), (7.4,), reference=lambda x: (x if x < 1 else x / 8) ** 2 + (x if x < 1 else x / 9))
def a_jitted_function_inside(x):
    return jitted_helper(x) ** 2 + jitted_helper(x, n=3)


def known_weights(n):
    """A helper of NumPy alone: its arguments are known when the program is compiled."""
    points = np.linspace(0.0, 1.0, n)
    weights = np.ones(n)
    weights[1:-1] = np.where(np.arange(1, n - 1) % 2 == 1, 4.0, 2.0)
    return points, weights / (3 * (n - 1))


@program((0.4, 5), (1.4, 9), reference=lambda x, n: (math.exp(x) - 1) / x, rtol=1e-3, slack=1e-3)
def numpy_on_known_values(x, n):
    """Simpson's rule for the integral of exp(t x) over the unit interval."""
    points, weights = known_weights(n)
    total = 0.0
    for t, w in zip(points, weights.tolist(), strict=True):
        total = total + w * ops.exp(float(t) * x)
    return total + float(np.finfo(np.float64).eps) * 0


@program(([0.4, -0.3],), reference=lambda v: np.array([[0.5, -1.0], [2.0, 0.25]]) @ v * math.prod([1, 2, 3]))
def arrays_become_tensors(v):
    table = np.array([[0.5, -1.0], [2.0, 0.25]])
    return ops.matmul(Tensor(table), v) * math.prod(range(1, 4)) * int(np.argmax([1, 5, 2]))


@program(
    (0.4, 0.9),
    (1.9, 0.9),
    reference=lambda x, y: (x**2 + y if x > 1 else x * y, x) if x < y * 2 else (0.0 + y, y**2),
)
def functions_that_return_pairs(x, y):
    def pair(a, b):
        if a > 2 * b:
            return b, b**2
        if a > 1.0:
            return a**2 + b, a
        return a * b, a

    first, second = pair(x, y)
    return first, second


def classify(x):
    """No return on one path would give None; every path returns."""
    if x < 0:
        return -x
    elif x < 1.0:
        return x * x
    else:
        while x > 1.5:
            x = x - 1.0
        return x**3


@program((-0.4,), (0.4,), (1.2,), (7.3,), reference=lambda x: (
    -x if x < 0 else x * x if x < 1 else (x - max(0, math.ceil(x - 1.5))) ** 3
) * x)  # fmt: skip
def a_call_with_many_exits(x):
    y = classify(x)
    return y * x


@program(
    (0.4, integer(3)),
    (0.4, integer(0)),
    reference=lambda x, n: x**2 if n == 0 else functools.reduce(lambda y, _: math.tanh(y) + x, range(n), x),
)
def a_function_is_an_argument(x, n):
    def repeat(f, times, y):
        for _ in range(times):
            y = f(y)
        return y

    if n == 0:
        return x**2
    return repeat(lambda y: ops.tanh(y) + x, n, x)


def even(n, x):
    return x if n == 0 else odd(n - 1, x * 1.5)


def odd(n, x):
    return -x if n == 0 else even(n - 1, x + 1)


@program((0.4, 4), (0.4, 3), (0.4, 0), reference=lambda x, n: {
    4: (x * 1.5 + 1) * 1.5 + 1, 3: -((x * 1.5 + 1) * 1.5), 0: x,
}[n] ** 2)  # fmt: skip
def mutual_recursion(x, n):
    return even(n, x) ** 2


@program((0.4, integer(5)), (0.4, integer(0)), reference=lambda x, n: x**2 * math.factorial(n))
def a_tail_call(x, n):
    """A recursion whose depth depends on a tensor; the call is the last thing that it does."""

    def product(k, so_far):
        if k == 0:
            return so_far
        return product(k - 1, so_far * k)

    return product(n, x**2)


class Register:
    """Functions in a table, as programs that choose their physics by name have them."""

    table = {}

    @classmethod
    def add(cls, function):
        cls.table[function.__name__] = function
        return function


@Register.add
def drag(v, *, c=0.3):
    return -c * v * (v if v > 0 else -v)


@Register.add
def spring(v, **_):
    return -v


@program((0.8, "drag"), (-0.8, "drag"), (0.8, "spring"), reference=lambda v, name: (
    v + 0.1 * (-0.5 * v * abs(v) if name == "drag" else -v)
))  # fmt: skip
def functions_chosen_by_name(v, name):
    force = Register.table[name]
    options = {"c": 0.5} if name == "drag" else {}
    return v + 0.1 * force(v, **options)
