"""Masked division: `where` hides `1 / norm` at r = 0, and forces are finite.

    python examples/tasks/masked_distance.py

A PyTorch user masks the diagonal of a distance matrix after the division. The derivative of masked elements
is zero, not NaN. With `debug_nans`, a true NaN raises an error that shows the line of its operator.

Check: the forces equal the forces of the pairs, and `debug_nans` names the line of the logarithm.
"""

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, ops


def potential(r):
    return ops.where(ops.eye(3) > 0, 0.0, 1 / ops.norm(r[:, None] - r[None], dim=-1)).sum()


def entropy(x):
    return (x * ops.log(x)).sum()


r = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
d = r[:, None] - r + np.eye(3)[..., None]
pairs = -2 * (d / np.linalg.norm(d, axis=-1, keepdims=True) ** 3 * (1 - np.eye(3))[..., None]).sum(1)
print(slope := ms.grad(potential)(r))
assert np.allclose(slope, pairs, rtol=1e-12)
ms.set_context(debug_nans=True)
try:
    ms.grad(entropy)(Tensor([0.5, -1.0]))
except FloatingPointError as error:
    print(message := str(error))
assert "ops.log(x)" in message
