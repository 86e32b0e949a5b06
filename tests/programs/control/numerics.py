"""Numerical methods: roots, differential equations, optimisation, quadrature, linear algebra, series."""

import math

import numpy as np

from mindgrad import Tensor, nn, ops
from mindgrad.ops import grad
from tests.programs.control.program import integer, program, weight


@program((0.3,), (1.4,), (2.9,), reference=lambda y: math.log(1 + y), rtol=1e-8)
def bisection(y):
    """The root of e^z = 1 + y. Bisection alone has no derivative; a Newton step at its end gives one."""
    low, high = 0.0, 4.0
    while high - low > 1e-3:
        middle = 0.5 * (low + high)
        if ops.exp(Tensor(np.array(1.0)) * middle) < 1.0 + y:
            low = middle
        else:
            high = middle
    z = Tensor(np.array(0.5)) * (low + high)
    for _ in range(4):
        z = z - (ops.exp(z) - 1.0 - y) / ops.exp(z)
    return z


def kepler_by_series(anomaly, e):
    """Fixed-point iteration, which converges where Newton's does."""
    z = anomaly
    for _ in range(200):
        z = anomaly + e * math.sin(z)
    return z


@program((0.8, 0.3), (2.9, 0.6), (0.05, 0.0), reference=kepler_by_series)
def keplers_equation(anomaly, e):
    z = anomaly
    for _ in range(50):
        step = (z - e * ops.sin(z) - anomaly) / (1.0 - e * ops.cos(z))
        z = z - step
        if ops.abs(step) < 1e-13:
            break
    return z


def lambert_by_logarithms(x):
    """The fixed point of log(x / w), damped."""
    w = math.log(1 + x)
    for _ in range(400):
        w = w - (w + math.log(w) - math.log(x)) / (1 + 1 / w)
    return w


@program((0.5,), (3.0,), (20.0,), reference=lambert_by_logarithms)
def lambert_w(x):
    """w e^w = x by Halley's iteration."""
    w = ops.log(1.0 + x)
    while True:
        e = ops.exp(w)
        f = w * e - x
        if ops.abs(f) < 1e-12 * (1.0 + x):
            return w
        w = w - f / (e * (w + 1.0) - (w + 2.0) * f / (2.0 * w + 2.0))


def agm_by_quadrature(a, b):
    """Gauss: π/2 over the integral of 1/√(a² cos² + b² sin²); the trapezium rule converges at once."""
    t = (np.arange(400) + 0.5) * (math.pi / 2 / 400)
    return 1 / np.mean(1 / np.sqrt((a * np.cos(t)) ** 2 + (b * np.sin(t)) ** 2))


@program((0.9, 0.2), (0.9, 0.85), (24.0, 6.0), reference=agm_by_quadrature)
def arithmetic_geometric_mean(a, b):
    while ops.abs(a - b) > 1e-13 * a:
        a, b = 0.5 * (a + b), ops.sqrt(a * b)
    return a


@program(([1.0, 0.3],), ([0.2, -0.9],), reference=lambda v: np.array([
    np.linalg.eigvalsh(np.array([[3.0, v[0]], [v[0], 1.0 + v[1]]]))[-1]
]))  # fmt: skip
def power_iteration(v):
    """The largest eigenvalue of a symmetric matrix, until it stands still."""
    m = ops.stack([ops.stack([3.0 + 0 * v[0], v[0]]), ops.stack([v[0], 1.0 + v[1]])])
    u = Tensor(np.array([1.0, 0.7]))
    value, last = ops.sum(u * 0.0), ops.sum(u)
    while ops.abs(value - last) > 1e-15 * ops.abs(value):
        u = ops.matmul(m, u)
        u = u / ops.norm(u)
        last = value
        value = ops.dot(u, ops.matmul(m, u))
    return value.reshape(1)


def steps_by_matrices(x, k):
    """Heun's step for a linear system is a matrix, its error half of the second-order term."""
    rate = np.array([[0.0, 1.0], [-k * k, 0.0]])
    state, t, h = np.array([x, 0.0]), 0.0, 0.3
    while t < 1:
        h = min(h, 1 - t)
        error = np.sum(np.abs(h * h / 2 * rate @ rate @ state))
        if error > 4e-2:
            h /= 2
            continue
        state = state + h * rate @ state + h * h / 2 * rate @ rate @ state
        t += h
        if error < 1e-2:
            h *= 1.5
    return state


@program((0.8, 1.1), (0.8, 2.3), (0.03, 0.9), reference=steps_by_matrices)
def adaptive_steps(x, k):
    """Heun's method for y'' = −k² y with a step that follows the error; rejected steps are repeated."""
    y, v = x, 0.0 * x
    t, h = 0.0, 0.3
    f = lambda y, v: (v, -k * k * y)
    while t < 1.0:
        h = 1.0 - t if t + h > 1.0 else h
        a, b = f(y, v)
        c, d = f(y + h * a, v + h * b)
        error = (ops.abs(c - a) + ops.abs(d - b)) * h / 2
        if error > 4e-2:
            h = h * 0.5
            continue
        y, v = y + h / 2 * (a + c), v + h / 2 * (b + d)
        t = t + h
        if error < 1e-2:
            h = h * 1.5
    return ops.stack([y, v])


@program((0.5, 0.3, integer(0)), (0.5, 0.3, integer(10)), reference=lambda y, k, n: (
    y * (1 - 0.1 * k + (0.1 * k) ** 2 / 2 - (0.1 * k) ** 3 / 6 + (0.1 * k) ** 4 / 24) ** n
))  # fmt: skip
def runge_kutta(y, k, n):
    """The classical method of fourth order for y' = −k y."""
    h = 0.1
    f = lambda y: -k * y
    for _ in range(n):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@program((4.0, 0.0, 0.7), (4.0, 1.0, 0.9), reference=lambda h, v, e: (
    e * math.sqrt(v * v + 2 * 9.81 * h) * (1 + e + e * e)
))  # fmt: skip
def a_bouncing_ball(height, speed, elasticity):
    """Events: the time of each impact is the solution of an equation, the third one ends the loop."""
    bounces = 0
    total = 0.0 * height
    while True:
        impact = ops.sqrt(speed * speed + 2 * 9.81 * height)
        speed = elasticity * impact
        height = 0.0 * height
        total = total + speed
        bounces += 1
        if bounces == 3:
            break
    return total


def rosenbrock_descent(x, y):
    f = lambda x, y: (1 - x) ** 2 + 5 * (y - x * x) ** 2
    for _ in range(6):
        gx, gy = -2 * (1 - x) - 20 * x * (y - x * x), 10 * (y - x * x)
        t, square = 1.0, gx * gx + gy * gy
        while f(x - t * gx, y - t * gy) > f(x, y) - 1e-4 * t * square:
            t /= 2
            if t < 1e-6:
                break
        x, y = x - t * gx, y - t * gy
    return f(x, y) + x


@program((0.4, 0.5), (1.3, 1.1), reference=rosenbrock_descent)
def line_search(x, y):
    """Steepest descent; each step is halved until it makes the function small enough."""

    def f(x, y):
        return (1 - x) ** 2 + 5 * (y - x * x) ** 2

    for _ in range(6):
        gx, gy = grad(f, (0, 1))(x, y)
        t = 1.0
        square = gx * gx + gy * gy
        while f(x - t * gx, y - t * gy) > f(x, y) - 1e-4 * t * square:
            t = t / 2
            if t < 1e-6:
                break
        x, y = x - t * gx, y - t * gy
    return f(x, y) + x


def collatz(n):
    path = []
    while n != 1:
        path.append(n % 2)
        n = 3 * n + 1 if n % 2 else n // 2
    return path


def collatz_by_floats(x, n):
    for odd in collatz(n):
        x = math.sin(x) + 1 if odd else 0.9 * x
    return x


@program(
    (0.4, integer(1)), (0.4, integer(7)), (0.4, integer(12)), (0.4, integer(27)), reference=collatz_by_floats
)
def collatz_path(x, n):
    while n != 1:
        if n % 2 == 0:
            n = n // 2
            x = 0.9 * x
        else:
            n = 3 * n + 1
            x = ops.sin(x) + 1.0
    return x


def escape_by_complex(a, b):
    z, c = 0j, complex(a, b)
    for n in range(30):
        if abs(z) ** 2 > 4:
            return math.log(abs(z)) + n
        z = z * z + c
    return abs(z) ** 2


@program((0.5, 0.6), (1.5, 0.2), (-0.1, 0.2), reference=escape_by_complex)
def escape_time(a, b):
    """The Mandelbrot iteration: inside it runs to its end, outside it is left by return."""
    x, y = 0.0 * a, 0.0 * b
    for n in range(30):
        if x * x + y * y > 4.0:
            return 0.5 * ops.log(x * x + y * y) + n
        x, y = x * x - y * y + a, 2 * x * y + b
    return x * x + y * y


@program(
    ([[4.0, 1.0], [1.0, 3.0]], [0.4, -0.9]),
    reference=lambda a, b: np.linalg.solve((a + a.T) / 2, b),
    rtol=1e-8,
)
def conjugate_gradients(a, b):
    """As many steps as the residual needs, at most five."""
    a = (a + a.T) / 2
    x = 0.0 * b
    r = b - ops.matmul(a, x)
    p = r
    square = ops.dot(r, r)
    k = 0
    while k < 5 and square > 1e-26:
        q = ops.matmul(a, p)
        step = square / ops.dot(p, q)
        x = x + step * p
        r = r - step * q
        new = ops.dot(r, r)
        p = r + (new / square) * p
        square = new
        k += 1
    return x


@program(
    ([0.7, 1.6], [0.3, 0.4]),
    ([0.1, 1.0], [-0.4, 2.0]),
    reference=lambda x, y: np.exp(-x * x) @ y + math.erf(x[0]) * y[0],
    rtol=1e-8,
)
def series_until_small(x, y):
    """Terms are added until the next one is negligible, for each element on its own."""
    total = 0.0
    for a, b in zip(x, y, strict=True):
        term, k, value = ops.ones_like(a), 0, 0.0
        while ops.abs(term) > 1e-17:
            value = value + term
            k += 1
            term = -term * a * a / k
        total = total + value * b
    return total + ops.erf(x[0]) * y[0]


@program((0.3,), (0.9,), (2.2,), reference=lambda x: 4 * x if x < 1 else x**2 + 3)
def a_continued_fraction_that_branches(x):
    """√ by its continued fraction, then squared again; on one side of one something else."""
    if x < 1.0:
        return 4 * x
    y, last = x, 0.0 * x
    while ops.abs(y - last) > 1e-14:
        last = y
        y = 1.0 + (x * x + 2.0) / (1.0 + y)
    return y * y


def tank_by_floats(level, inflow, n):
    spilled = 0.0
    for hour in range(n):
        level += inflow * (1 if hour % 4 else 2)
        if level > 5:
            spilled += level - 5
            level = 5.0
        elif level < 1:
            continue
        level -= 0.3 * math.sqrt(level)
    return level + 2 * spilled


@program((0.3, 0.29, 12), (0.4, 1.3, 12), (4.4, 0.05, 12), reference=tank_by_floats)
def a_tank_that_overflows(level, inflow, hours):
    spilled = 0.0
    for hour in range(hours):
        level = level + inflow * (1 if hour % 4 else 2)
        if level > 5.0:
            spilled = spilled + level - 5.0
            level = 5.0 + 0.0 * level
        elif level < 1.0:
            continue
        level = level - 0.3 * ops.sqrt(level)
    return level + 2 * spilled


@program(
    (0.4, integer(0)),
    (0.4, integer(1)),
    (0.4, integer(6)),
    reference=lambda x, n: np.polynomial.legendre.legval(x, np.eye(n + 1)[n]) + x,
)
def legendre_polynomials(x, n):
    """A recurrence of three terms whose first two are special."""
    if n == 0:
        return x + 1.0
    before, now = 1.0, x
    for k in range(1, n):
        before, now = now, ((2 * k + 1) * x * now - k * before) / (k + 1)
    return now + x


def reject_by_floats(x, n):
    seed, kept, total = 17, 0, 0.0
    while kept < n:
        seed = seed * 77 % 1013
        a, b = seed / 1013, (seed * 31 % 1013) / 1013
        if b > math.sin(math.pi * a):
            continue
        kept += 1
        total += math.exp(-x * a)
    return total


@program((0.4, integer(0)), (0.4, integer(8)), reference=reject_by_floats)
def rejection_sampling(x, n):
    """Points under a curve, from a generator of whole numbers; the others are drawn again."""
    seed, kept, total = 17, 0, 0.0 * x
    while kept < n:
        seed = seed * 77 % 1013
        a = seed / 1013
        b = (seed * 31 % 1013) / 1013
        if b > ops.sin(math.pi * (a + 0.0 * x)):
            continue
        kept += 1
        total = total + ops.exp(-x * a)
    return total


class Implicit(nn.Cell):
    """A loss with a fixed point inside, z = tanh(w z + x)."""

    def __init__(self):
        super().__init__()
        self.w = weight(0.7)

    def solve(self, x):
        z, steps = 0.0 * x, 0
        while steps < 400:
            new = ops.tanh(self.w * z + x)
            gap = ops.abs(new - z)
            z = new
            if gap < 1e-14:
                break
            steps += 1
        return z

    def construct(self, x, y):
        gap = self.solve(x) - y
        return gap * gap if gap < 0.6 else gap


def implicit_by_halving(p, x, y):
    low, high = -1.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        below = math.tanh(p["w"] * middle + x) > middle
        low, high = (middle, high) if below else (low, middle)
    z = (low + high) / 2
    for _ in range(3):
        t = math.tanh(p["w"] * z + x)
        z -= (z - t) / (1 - p["w"] * (1 - t * t))
    return (z - y) ** 2 if z - y < 0.6 else z - y


@program((0.3, 0.5), (0.9, 0.1), reference=implicit_by_halving)
class AFixedPointInALoss(Implicit):
    pass


def simplex_by_numpy(v):
    """Projection onto the simplex by sorting."""
    u = np.sort(v)[::-1]
    sums = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
    theta = sums[np.nonzero(u > sums)[0][-1]]
    return np.maximum(v - theta, 0) ** 2


@program(([0.4, 0.1, 0.9],), ([2.4, 0.1, -0.9],), ([0.2, 0.3, 0.25],), reference=simplex_by_numpy)
def projection_onto_the_simplex(v):
    """Michelot's algorithm: elements are taken out until none is negative any more."""
    active = ops.ones_like(v)
    changed = True
    theta = 0.0 * ops.sum(v)
    while changed:
        theta = (ops.sum(v * active) - 1.0) / ops.sum(active)
        new = ops.where(v > theta, active, ops.zeros_like(v))
        changed = ops.sum(new) < ops.sum(active)
        active = new
    return ops.maximum(v - theta, 0.0) ** 2
