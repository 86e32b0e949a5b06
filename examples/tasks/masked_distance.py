"""`1 / norm` masked by `where` at r = 0: a PyTorch user gets forces, and finds the NaNs that there are.

    python examples/tasks/masked_distance.py

The diagonal of a distance matrix is masked after the division; the derivative of what the mask leaves out
counts as zero. A NaN that is really there is an error at the line that makes it.

Check: the forces are those of the pairs alone, and `debug_nans` names the line of the logarithm.
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
