"""A training loop over a list of pairs: a JAX user ports it line by line, `params` being a plain pytree.

    python examples/tasks/pytree.py

Gradients come in the structure of the parameters, so that the update is the comprehension that it was. `check_grad`
looks at every leaf by its name.

Check: all derivatives agree with differences, and the loop brings the loss to a twentieth.
"""

import numpy as np

import mindgrad as ms
import mindgrad.numpy as jnp


def predict(params, x):
    for W, b in params[:-1]:
        x = jnp.tanh(jnp.dot(x, W) + b)
    W, b = params[-1]
    return jnp.dot(x, W) + b


@ms.jit
def step(params, x, y):
    value, slopes = ms.value_and_grad(loss)(params, x, y)
    return value, [(W - 0.1 * dW, b - 0.1 * db) for (W, b), (dW, db) in zip(params, slopes, strict=True)]


loss = lambda params, x, y: jnp.mean((predict(params, x) - y) ** 2)
random = np.random.default_rng(0)
params = [(jnp.array(random.normal(size=(a, b))), jnp.zeros(b)) for a, b in ((1, 16), (16, 1))]
x = jnp.linspace(-1, 1, 64)[:, None]
print(checked := ms.check_grad(loss, (params, x, jnp.sin(3 * x)), max_entries=4, directions=2))
losses = [0.0] * 300
for i in range(300):
    losses[i], params = step(params, x, jnp.sin(3 * x))
print(f"loss {float(losses[0]):.3f} → {float(losses[-1]):.4f}")
assert checked.ok
assert losses[-1] < losses[0] / 20
