"""Gradients inside: in loops, of loops, in conditions, of Cells that branch, and of each other."""

import math

import numpy as np

import mindgrad as ms
from mindgrad import ParameterTuple, Tensor, nn, ops
from mindgrad.ops import GradOperation, grad, jvp, stop_gradient, value_and_grad, vjp
from tests.programs.control.program import integer, program, weight


def bowl(z):
    return (z - 0.5) ** 2 + 0.1 * z**4


@program((2.0, integer(0)), (2.0, integer(1)), (2.0, integer(12)), reference=lambda x, n: (
    [z := x, *[z := z - 0.2 * (2 * (z - 0.5) + 0.4 * z**3) for _ in range(n)]][-1] ** 2
))  # fmt: skip
def descent_in_a_tensor_range(x, n):
    """Gradient descent unrolled by the program; its result is differentiated again."""
    slope = grad(bowl)
    for _ in range(n):
        x = x - 0.2 * slope(x)
    return x * x


def bottom_of_the_bowl(x, tolerance):
    (z,) = [root.real for root in np.roots([0.4, 0, 2, -1]) if abs(root.imag) < 1e-9]
    return (z if tolerance < 0.01 else x) * x


@program((2.0, 1e-12), (0.45, 1e-12), (0.4, 0.5), reference=bottom_of_the_bowl)
def descent_until_the_slope_is_small(x, tolerance):
    """The gradient is the condition of the loop."""
    z = x
    slope = GradOperation()(bowl)
    while ops.abs(slope(z)) > tolerance:
        z = z - 0.2 * slope(z)
    return z * x


def stationary_point(a):
    """The root of z³ + z = a, by Cardano's formula."""
    root = math.sqrt(a * a / 4 + 1 / 27)
    return np.cbrt(a / 2 + root) + np.cbrt(a / 2 - root)


@program((0.8,), (-2.3,), (0.05,), reference=lambda a: stationary_point(a) * a)
def newton_on_a_gradient(a):
    """First and second derivatives inside of the iteration that minimizes z⁴/4 + z²/2 − a z."""
    energy = lambda z: z**4 / 4 + z * z / 2 - a * z
    slope = grad(energy)
    curvature = grad(slope)
    z = a
    while ops.abs(slope(z)) > 1e-12:
        z = z - slope(z) / curvature(z)
    return z * a


def power_slope(x, n):
    return n * x ** (n - 1) + x if n else x


@program((0.7, integer(0)), (0.7, integer(1)), (0.7, integer(5)), reference=power_slope)
def gradient_of_a_loop(x, n):
    """The loop stands inside of what is differentiated."""

    def power(z):
        result = ops.ones_like(z)
        k = 0
        while k < n:
            result = result * z
            k += 1
        return result

    return grad(power)(x) + x


@program((0.7,), (-0.7,), (2.4,), reference=lambda x: (
    3 * x * x if x > 2 else math.cos(x) - x * math.sin(x) if x > 0 else 2 * x
) * x)  # fmt: skip
def gradient_of_branches(x):
    def pieces(z):
        if z > 2.0:
            return z**3
        if z > 0:
            return z * ops.cos(z)
        return z * z

    return grad(pieces)(x) * x


@program((0.7,), (-0.7,), reference=lambda x: math.cos(x) * x if x > 0 else 2 * x * x + 1)
def gradients_in_branches(x):
    """Each branch takes a gradient of its own."""
    if x > 0:
        y = grad(ops.sin)(x)
    else:
        value, slope = value_and_grad(lambda z: z * z)(x)
        y = slope + value * 0 + 1 / x
    return y * x


class Potential(nn.Cell):
    """A net that branches, of one Parameter."""

    def __init__(self):
        super().__init__()
        self.k = weight(1.3)

    def construct(self, r):
        if r < 1.0:
            return self.k * (1.0 - r) ** 3
        return self.k * ops.sin(r - 1.0) ** 4


class Trajectory(nn.Cell):
    """Velocity Verlet with the force from a gradient; a wall in the potential is a branch."""

    def __init__(self):
        super().__init__()
        self.potential = Potential()
        self.gradient = GradOperation()

    def force(self, r):
        return -self.gradient(self.potential)(r)

    def construct(self, r, v, n):
        f = self.force(r)
        for _ in range(n):
            r = r + 0.1 * v + 0.005 * f
            new = self.force(r)
            v = v + 0.05 * (f + new)
            f = new
        return r + v


def trajectory_by_floats(p, r, v, n):
    k = p["potential.k"]
    force = lambda r: 3 * k * (1 - r) ** 2 if r < 1 else -4 * k * math.sin(r - 1) ** 3 * math.cos(r - 1)
    for _ in range(n):
        half = v + 0.05 * force(r)
        r = r + 0.1 * half
        v = half + 0.05 * force(r)
    return r + v


@program(
    (0.7, -0.3, integer(0)), (0.7, -0.3, integer(12)), (1.4, -0.9, integer(7)), reference=trajectory_by_floats
)
class MolecularDynamics(Trajectory):
    pass


class Line(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = weight(0.4)
        self.b = weight(-0.1)

    def construct(self, x):
        return self.w * x + self.b


class Loss(nn.Cell):
    """The mean square error; outliers are left out by a branch."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, xs, ys):
        total = 0.0
        for x, y in zip(xs, ys, strict=True):
            gap = self.net(x) - y
            if ops.abs(gap) < 1.0:
                total = total + gap * gap
        return total


def training_by_floats(p, xs, ys, n):
    for _ in range(n):
        gaps = p["loss.net.w"] * xs + p["loss.net.b"] - ys
        gaps = np.where(abs(gaps) < 1, gaps, 0)
        p["loss.net.w"], p["loss.net.b"] = (
            p["loss.net.w"] - 0.2 * (gaps * xs).sum(),
            p["loss.net.b"] - 0.2 * gaps.sum(),
        )
    gaps = p["loss.net.w"] * xs + p["loss.net.b"] - ys
    return (np.where(abs(gaps) < 1, gaps, 0) ** 2).sum()


@program(
    ([0.3, 0.9, -0.4], [0.5, 1.1, 5.0], integer(0)),
    ([0.3, 0.9, -0.4], [0.5, 1.1, 5.0], integer(1)),
    ([0.3, 0.9, -0.4], [0.5, 1.1, 0.2], integer(4)),
    reference=training_by_floats,
    written=["loss.net.w", "loss.net.b"],
)
class TrainingInside(nn.Cell):
    """Steps of gradient descent on Parameters, in a loop of the program itself."""

    def __init__(self):
        super().__init__()
        self.loss = Loss(Line())
        self.weights = ParameterTuple(self.loss.trainable_params())
        self.gradient = GradOperation(get_by_list=True)

    def construct(self, xs, ys, n):
        for _ in range(n):
            found = self.gradient(self.loss, self.weights)(xs, ys)
            for parameter, slope in zip(self.weights, found, strict=True):
                ops.assign_sub(parameter, 0.1 * slope)
        return self.loss(xs, ys)


def nested_slopes(x, order):
    """d^k/dx^k of x⁵ e^x by Leibniz's rule."""
    falling = lambda j: math.prod(range(5, 5 - j, -1))
    return sum(math.comb(order, j) * falling(j) * x ** (5 - j) for j in range(order + 1)) * math.exp(x)


@program((0.7, 0), (0.7, 1), (0.7, 3), reference=nested_slopes)
def gradients_of_gradients_in_a_loop(x, order):
    """The order of the derivative is the iteration count of a Python loop."""
    f = lambda z: z**5 * ops.exp(z)
    for _ in range(order):
        f = grad(f)
    return f(x)


@program((0.7, integer(0)), (0.7, integer(4)), reference=lambda x, n: (
    x + sum(2 * (x + k) * math.sin(x) + (x + k) ** 2 * math.cos(x) for k in range(n))
))  # fmt: skip
def gradient_of_a_closure_over_the_loop(x, n):
    total = x
    k = 0
    while k < n:
        total = total + grad(lambda z: (z + k) ** 2 * ops.sin(z))(x)  # noqa: B023
        k += 1
    return total


@program(([0.4, 0.9], integer(0)), ([0.4, 0.9], integer(3)), reference=lambda v, n: (
    np.linalg.matrix_power(np.array([[2.0, 1.0], [1.0, 4.0]]) / 5, n) @ [1.0, 0.5] * v.sum()
))  # fmt: skip
def products_with_a_jacobian_in_a_loop(v, n):
    """Forward mode in a loop: powers of a Jacobian, applied to a vector."""
    f = lambda z: ops.stack([z[0] * 2 + z[1], z[0] + 4 * z[1]]) / 5
    u = Tensor(np.array([1.0, 0.5]))
    while n > 0:
        _, u = jvp(f, v, u)
        n -= 1
    return u * v.sum()


def slope_of_nested_sines(x, n):
    """The derivative of sin(sin(… x)), times x."""
    orbit = [x]
    for _ in range(n):
        orbit.append(math.sin(orbit[-1]))
    return math.prod(math.cos(z) for z in orbit[:n]) * x


@program((0.7, integer(1)), (0.7, integer(3)), (0.7, integer(0)), reference=slope_of_nested_sines)
def reverse_products_in_a_loop(x, n):
    """The chain rule by hand: the loop multiplies what each iteration's vjp gives."""
    y, slope = x, ops.ones_like(x)
    for _ in range(n):
        y, pulled = vjp(ops.sin, y, slope)
        slope = pulled[0] if isinstance(pulled, tuple) else pulled
    return slope * x


@program((0.7,), (1.9,), reference=lambda x: 2 * x + math.sin(x) if x < 1 else math.sin(x) * 3)
def stopped_in_a_branch(x):
    """What a branch stops is constant for the inner gradient."""

    def f(z):
        if z < 1.0:
            return z * z + stop_gradient(ops.cos(z)) * z
        return stop_gradient(z**2) * 3 * z / stop_gradient(z**2)

    slope = grad(f)(x)
    return slope - stop_gradient(ops.cos(x)) + ops.sin(x) if x < 1.0 else slope * ops.sin(x)


class Cubed(nn.Cell):
    """x³ with a derivative of its own that branches: clipped beyond one."""

    def construct(self, x):
        return x**3

    def bprop(self, x, out, dout):
        if x < 1.0:
            return (3 * x * x * dout,)
        return (3 * dout,)


@program((0.7,), (1.9,), reference=lambda x: x * (3 * x * x if x < 1 else 3.0))
def a_custom_derivative_that_branches(x):
    """Its own derivative is differentiated where the outer program asks for it."""
    return grad(Cubed())(x) * x


@program((0.7, integer(2)), (0.7, integer(0)), (1.6, integer(3)), reference=lambda x, n: 2 * 4**n * (x + 1))
def first_and_second_derivatives_of_a_loop(x, n):
    def f(z):
        for _ in range(n):
            z = 2 * z
        return z * z

    return grad(f)(x) + grad(grad(f))(x)


@program((1.0, 0.7), (1.0, 5.0), reference=lambda x, y: np.cbrt(y) + 0 * x)
def a_root_finder_that_differentiates(x, y):
    """A helper that takes any function and finds its root; left by break."""

    def solve(f, z):
        for _ in range(60):
            value, slope = ms.value_and_grad(f)(z)
            if ops.abs(value) < 1e-13:
                break
            z = z - value / slope
        return z

    return solve(lambda z: z**3 - y, x)
