"""`vmap` over a Python `if`, and reverse mode through a `while`.

    python examples/tasks/branches.py

A JAX user writes Python branches and loops on traced values, without `cond`, `while_loop`, or `where`. They
become part of the compiled function, its batched form, and its derivatives, in reverse mode, too. `source`
shows the derivative with its loop.

Check: values and slopes of Huber's loss and of Newton's root agree with formulas.
"""

import numpy as np

import mindgrad as ms
from mindgrad import ops


def huber(x):
    if ops.abs(x) <= 1:
        return 0.5 * x * x
    return ops.abs(x) - 0.5


def root(a):
    x = a
    while ops.abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


x, a = np.array([-3.0, -0.5, 0.0, 0.5, 3.0]), np.array([0.25, 2.0, 9.0])
slopes = ms.vmap(ms.grad(huber))(x).asnumpy()
roots, slopes_of_roots = (result.asnumpy() for result in ms.jit(ms.vmap(ms.value_and_grad(root)))(a))
print("slopes of Huber's loss:", slopes, "roots:", roots, "their slopes:", slopes_of_roots)
print(ms.source(ms.grad(root), ms.Tensor(2.0, ms.float64)))
assert (slopes == np.clip(x, -1, 1)).all()
assert np.allclose(roots, np.sqrt(a), rtol=1e-12)
assert np.allclose(slopes_of_roots, 0.5 / np.sqrt(a), rtol=1e-9)
