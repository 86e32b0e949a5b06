"""A physics-informed net for Poisson's equation, with `vmap(trace(hessian(u)))`.

    python examples/tasks/poisson.py

A JAX user writes the Laplacian as the trace of a Hessian. The compiler computes the Laplacian in one pass,
without the Hessian, and also its gradient; `explain` reports what that saves. The equation is
``-Δu = 2π² sin(πx) sin(πy)`` on the unit square, and u = 0 on the boundary by construction.

Check: the net is within 2 % of ``sin(πx) sin(πy)``.
"""

import numpy as np

import mindgrad as ms
from mindgrad import nn, ops

ms.set_seed(0)
net = nn.SequentialCell(
    nn.Dense(2, 16, activation="tanh"), nn.Dense(16, 16, activation="tanh"), nn.Dense(16, 1)
)
optimizer = nn.Adam(net.trainable_params(), 1e-2)
grid = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, 11)]), -1).reshape(-1, 2).astype(np.float32)
exact = np.sin(np.pi * grid).prod(1)


def u(x):
    return (x * (1 - x)).prod() * net(x.reshape(1, 2))[0, 0]


def loss(points, source):
    residual = ms.vmap(lambda x: ops.trace(ms.hessian(u)(x)))(points) + source
    return (residual * residual).mean()


value_and_gradient = ms.value_and_grad(loss, None, optimizer.parameters)


@ms.jit
def step(points, source):
    value, gradients = value_and_gradient(points, source)
    optimizer(gradients)
    return value


source = 2 * np.pi**2 * exact
print(ms.explain(loss)(grid, source).sentence)
losses = [float(step(grid, source)) for _ in range(600)]
error = np.linalg.norm(ms.vmap(u)(ms.Tensor(grid)).asnumpy() - exact) / np.linalg.norm(exact)
print(f"loss {losses[0]:.1f} → {losses[-1]:.4f}; relative error of u: {error:.4f}")
assert error < 0.02
