"""A training loop with parameters in a plain pytree, a list of pairs.

    python examples/tasks/pytree.py

A JAX user ports the loop line by line. Gradients have the structure of the parameters, so the update remains
a list comprehension. `check_grad` checks every array in the structure by name, and raises if a derivative is
wrong.

Check: all derivatives agree with finite differences, and the net approximates ``sin(3x)`` with a mean squared
error below 0.01.
"""

import mindgrad as ms
import mindgrad.numpy as jnp


def predict(params, x):
    for W, b in params[:-1]:
        x = jnp.tanh(jnp.dot(x, W) + b)
    W, b = params[-1]
    return jnp.dot(x, W) + b


@ms.jit
def step(params, x, y):
    gradients = ms.grad(loss)(params, x, y)
    return [(W - 0.1 * dW, b - 0.1 * db) for (W, b), (dW, db) in zip(params, gradients, strict=True)]


loss = lambda params, x, y: jnp.mean((predict(params, x) - y) ** 2)
ms.set_seed(0)
params = [(ms.ops.standard_normal(shape), jnp.zeros(shape[1])) for shape in ((1, 16), (16, 1))]
x = jnp.linspace(-1, 1, 64)[:, None]
print(ms.check_grad(loss, (params, x, jnp.sin(3 * x)), max_entries=4, directions=2, raise_exception=True))
for _ in range(500):
    params = step(params, x, jnp.sin(3 * x))
assert loss(params, x, jnp.sin(3 * x)) < 0.01, loss(params, x, jnp.sin(3 * x))
