"""`vmap` over a Python `if`, and through a `while`: a JAX user writes a branch where it is one.

    python examples/tasks/branches.py

No `cond`, no `while_loop`, no `where`: Python's statements on traced values are part of the program, of
its batched form and of its derivatives, in reverse mode too. `source` shows the derivative with its loop.

Check: values and slopes of Huber's loss and of Newton's root are those of their formulas.
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
