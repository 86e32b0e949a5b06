"""A neural ODE, and an implicit root: differentiate solutions, not solvers.

    python examples/tasks/neural_ode.py

A JAX user trains a net through `odeint`, so that it approximates the right-hand side of a damped spiral. Then
the root of ``x³ + ax = 1`` is differentiated twice with respect to `a`, without differentiating Newton's
iterations.

Check: the loss decreases to a tenth, and the derivatives of the root are ``x' = -x / (3x² + a)`` and
``-2ax'³ / x²``.
"""

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, nn, ops

ms.set_seed(0)
times = Tensor(np.linspace(0, 1.5, 6, dtype=np.float32))
start = Tensor([2.0, 0.0])
truth = ms.odeint(lambda y, t: ops.stack([2 * y[1] - 0.1 * y[0], -2 * y[0]]), start, times)
net = nn.SequentialCell(nn.Dense(2, 16, activation="tanh"), nn.Dense(16, 2))
optimizer = nn.Adam(net.trainable_params(), 0.02)
field = lambda y, t: net(y[None])[0]
loss = lambda y: ops.square(ms.odeint(field, y, times, rtol=1e-3, atol=1e-3) - truth).mean()
value_and_gradient = ms.value_and_grad(loss, None, optimizer.parameters)


@ms.jit
def step(start):
    value, gradients = value_and_gradient(start)
    optimizer(gradients)
    return value


losses = [float(step(start)) for _ in range(60)]
root = lambda a: ms.custom_root(lambda x: x**3 + a * x - 1, Tensor(0.5, ms.float64))
a = Tensor(1.0, ms.float64)
x, slope, curvature = (float(f(a)) for f in (root, ms.grad(root), ms.grad(ms.grad(root))))
print(f"loss {losses[0]:.3f} → {losses[-1]:.4f}; root {x:.9f}, derivatives {slope:.9f}, {curvature:.9f}")
assert losses[-1] < losses[0] / 10
assert np.allclose([1, slope, curvature], [x**3 + x, -x / (3 * x * x + 1), -2 * slope**3 / x**2], rtol=1e-9)
