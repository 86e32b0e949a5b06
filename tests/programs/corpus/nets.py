"""Cells with Parameters: networks, derivatives with respect to inputs and weights, and gradients inside."""

import jax
import jax.numpy as jnp
import numpy as np

from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops
from mindgrad.ops import GradOperation, grad, jvp
from tests.programs.corpus.program import normal, positive, program, uniform


def weight(name, *shape):
    """A Parameter of numbers that do not change from run to run."""
    generator = np.random.default_rng(sum(map(ord, name)) + len(shape))
    return Parameter(
        Tensor(generator.normal(size=shape) / np.sqrt(max(shape[0], 1) if shape else 1)), name=name
    )


class Dense(nn.Cell):
    """x W + b"""

    def __init__(self, inputs, outputs, name):
        super().__init__()
        self.weight = weight(f"{name}_w", inputs, outputs)
        self.bias = weight(f"{name}_b", outputs)

    def construct(self, x):
        return ops.matmul(x, self.weight) + self.bias


class Tanh(nn.Cell):
    def construct(self, x):
        return ops.tanh(x)


def _dense(p, path, x):
    w = p[f"{path}.weight"]
    b = p[f"{path}.bias"]
    return x @ w + b


@program(normal(4, 2), oracle=lambda p, x: (_dense(p, "one", jnp.tanh(_dense(p, "two", x))) ** 2).mean())
class MeanSquare(nn.Cell):
    """A network of two layers and its loss."""

    def __init__(self):
        super().__init__()
        self.two = Dense(2, 3, "two")
        self.one = Dense(3, 1, "one")

    def construct(self, x):
        return ops.mean(ops.square(self.one(ops.tanh(self.two(x)))))


@program(
    normal(3, 2),
    oracle=lambda p, x: (
        jnp.tanh(_dense(p, "body.2", jnp.tanh(_dense(p, "body.0", x)))) * _dense(p, "heads.1", x)
        + _dense(p, "heads.0", x)
    ),
)
class Containers(nn.Cell):
    """SequentialCell and CellList."""

    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(Dense(2, 3, "a"), Tanh(), Dense(3, 2, "b"), Tanh())
        self.heads = nn.CellList([Dense(2, 2, "c"), Dense(2, 2, "d")])

    def construct(self, x):
        total = 0
        for head, factor in zip(self.heads, (1.0, self.body(x)), strict=True):
            total = total + head(x) * factor
        return total


@program(normal(3), oracle=lambda p, x: jnp.tanh(jnp.tanh(x @ p["w"]) @ p["w"].T) @ p["w"] * p["scale"])
class TiedWeights(nn.Cell):
    """One Parameter in three places, once transposed."""

    def __init__(self):
        super().__init__()
        self.w = weight("w", 3, 3)
        self.scale = weight("scale")

    def construct(self, x):
        h = ops.tanh(ops.matmul(x, self.w))
        return ops.matmul(ops.tanh(ops.matmul(h, self.w.T)), self.w) * self.scale


@program(
    normal(3, 2), normal(2),
    oracle=lambda p, x, h: _recurrent_by_jax(p, x, h),
)  # fmt: skip
class Recurrent(nn.Cell):
    """A gated recurrent cell over three steps; the weights are used in every one."""

    def __init__(self):
        super().__init__()
        self.w = weight("w", 4, 2)
        self.gate = weight("gate", 4, 2)

    def construct(self, x, h):
        seen = []
        for step in range(x.shape[0]):
            joined = ops.concat((x[step], h))
            z = ops.sigmoid(ops.matmul(joined, self.gate))
            h = z * h + (1 - z) * ops.tanh(ops.matmul(joined, self.w))
            seen.append(h)
        return ops.stack(seen), h


def _recurrent_by_jax(p, x, h):
    seen = []
    for row in x:
        joined = jnp.concatenate((row, h))
        z = jax.nn.sigmoid(joined @ p["gate"])
        h = z * h + (1 - z) * jnp.tanh(joined @ p["w"])
        seen.append(h)
    return jnp.stack(seen), h


@program(
    normal(3, 4),
    oracle=lambda p, x: _block_by_jax(p, x),
)
class AttentionBlock(nn.Cell):
    """Two heads of attention, layer normalization, a residual connection."""

    def __init__(self):
        super().__init__()
        self.qkv = weight("qkv", 4, 12)
        self.gamma = weight("gamma", 4)
        self.beta = weight("beta", 4)

    def construct(self, x):
        q, k, v = ops.split(ops.matmul(x, self.qkv).reshape(3, 3, 2, 2).transpose(1, 2, 0, 3), 1)
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / 2**0.5
        y = ops.matmul(ops.softmax(scores), v)
        y = x + y.squeeze(0).transpose(1, 0, 2).reshape(3, 4)
        centered = y - y.mean(-1, True)
        return centered * ops.rsqrt(ops.mean(centered * centered, -1, True) + 1e-3) * self.gamma + self.beta


def _block_by_jax(p, x):
    q, k, v = (x @ p["qkv"]).reshape(3, 3, 2, 2).transpose(1, 2, 0, 3)
    y = jax.nn.softmax(q @ k.swapaxes(-1, -2) / 2**0.5) @ v
    y = x + y.transpose(1, 0, 2).reshape(3, 4)
    centered = y - y.mean(-1, keepdims=True)
    return centered * jax.lax.rsqrt((centered**2).mean(-1, keepdims=True) + 1e-3) * p["gamma"] + p["beta"]


class Field(nn.Cell):
    """u(x, t) by a network of two layers."""

    def __init__(self):
        super().__init__()
        self.hidden = Dense(2, 4, "hidden")
        self.out = Dense(4, 1, "out")

    def construct(self, x, t):
        return self.out(ops.tanh(self.hidden(ops.concat((x, t), 1))))


def _field(p, x, t):
    return _dense(p, "u.out", jnp.tanh(_dense(p, "u.hidden", jnp.concatenate((x, t), 1))))


@program(
    uniform(-1, 1, 3, 1), uniform(0, 1, 3, 1),
    oracle=lambda p, x, t: _burgers_by_jax(p, x, t),
)  # fmt: skip
class Burgers(nn.Cell):
    """u_t + u u_x − ν u_xx, the residual of a physics-informed network, with ν a Parameter."""

    def __init__(self):
        super().__init__()
        self.u = Field()
        self.viscosity = Parameter(Tensor(np.array([0.05])), name="viscosity")

    def construct(self, x, t):
        first = GradOperation(get_all=True)
        u_x, u_t = first(self.u)(x, t)
        u_xx = grad(lambda x, t: first(self.u)(x, t)[0])(x, t)
        residual = u_t + self.u(x, t) * u_x - self.viscosity * u_xx
        return ops.mean(ops.square(residual))


def _burgers_by_jax(p, x, t):
    u = lambda x, t: _field(p, x, t)
    along = lambda f: lambda x, t: jax.jvp(lambda x: f(x, t), (x,), (jnp.ones_like(x),))[1]
    u_t = jax.jvp(lambda t: u(x, t), (t,), (jnp.ones_like(t),))[1]
    residual = u_t + u(x, t) * along(u)(x, t) - p["viscosity"] * along(along(u))(x, t)
    return (residual**2).mean()


@program(
    normal(2), normal(2),
    oracle=lambda p, q, m: _hamilton_by_jax(p, q, m),
)  # fmt: skip
class Hamiltonian(nn.Cell):
    """Two steps of a symplectic integrator whose energy is a network: gradients by the weights of gradients."""

    def __init__(self):
        super().__init__()
        self.energy = Dense(4, 3, "energy")
        self.top = weight("top", 3)

    def total(self, q, m):
        return (
            ops.reduce_sum(ops.tanh(self.energy(ops.concat((q, m)))) * self.top) + ops.reduce_sum(m * m) / 2
        )

    def construct(self, q, m):
        for _ in range(2):
            m = m - 0.1 * grad(self.total, 0)(q, m)
            q = q + 0.1 * grad(self.total, 1)(q, m)
        return q, m


def _hamilton_by_jax(p, q, m):
    def total(q, m):
        return (jnp.tanh(_dense(p, "energy", jnp.concatenate((q, m)))) * p["top"]).sum() + (m * m).sum() / 2

    for _ in range(2):
        m = m - 0.1 * jax.grad(total)(q, m)
        q = q + 0.1 * jax.grad(total, 1)(q, m)
    return q, m


@program(normal(3, 2), oracle=lambda p, x: _penalty_by_jax(p, x))
class GradientPenalty(nn.Cell):
    """(‖∇ₓ D(x)‖ − 1)², and the gradient of the weights of the critic beside it."""

    def __init__(self):
        super().__init__()
        self.critic = MeanSquare()

    def construct(self, x):
        slope = grad(self.critic)(x)
        weights = ParameterTuple(self.critic.trainable_params())
        by_weight = GradOperation(get_by_list=True)(self.critic, weights)(x)
        return (ops.norm(slope) - 1) ** 2, ops.reduce_sum(by_weight[0] ** 2)


def _penalty_by_jax(p, x):
    def critic(p, x):
        return (_dense(p, "critic.one", jnp.tanh(_dense(p, "critic.two", x))) ** 2).mean()

    by_weight, slope = jax.grad(critic, (0, 1))(p, x)
    return (jnp.sqrt((slope**2).sum()) - 1) ** 2, (by_weight["critic.two.weight"] ** 2).sum()


@program(normal(2, 3), oracle=lambda p, x: _normalized_by_jax(p, x))
class BatchNorm(nn.Cell):
    """Statistics of the batch, and running ones that are written and read inside."""

    def __init__(self):
        super().__init__()
        self.gamma = weight("gamma", 3)
        self.seen = Parameter(Tensor(np.zeros(3)), name="seen", requires_grad=False)

    def construct(self, x):
        mean = ops.mean(x, 0)
        self.seen.set_data(0 * self.seen + 0.25 * mean)
        centered = x - mean
        y = centered * self.gamma / ops.sqrt(ops.mean(centered**2, 0) + 0.1)
        return y + self.seen * x


def _normalized_by_jax(p, x):
    centered = x - x.mean(0)
    return centered * p["gamma"] / jnp.sqrt((centered**2).mean(0) + 0.1) + 0.25 * x.mean(0) * x


@program(
    positive(3),
    oracle=lambda p, x: jnp.sin(x * p["a"]) * p["a"] + (jnp.cos(x * p["a"]) * p["a"] * x) ** 2 * p["b"],
)
class ForwardInside(nn.Cell):
    """A derivative along the input itself inside a network."""

    def __init__(self):
        super().__init__()
        self.a = weight("a")
        self.b = weight("b", 3)

    def construct(self, x):
        value, slope = jvp(lambda x: ops.sin(x * self.a), x, x)
        return value * self.a + slope**2 * self.b
