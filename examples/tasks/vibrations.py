"""Vibrations of a cluster: the Hessian of an energy has six zero modes.

    python examples/tasks/vibrations.py

A PyTorch user computes the Hessian for three atoms at the minimum of the Lennard-Jones energy. They form an
equilateral triangle of springs.

Check: there are six zero modes, and the other curvatures are 3/2, 3/2 and 3 times the curvature ``72 /
2^(1/3)`` of one pair.
"""

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, ops


def energy(r):
    s = (ops.square(r[[0, 0, 1]] - r[[1, 2, 2]]).sum(-1)) ** -3
    return 4 * (s * s - s).sum()


r = 2 ** (1 / 6) * np.array([[0, 0, 0], [1, 0, 0], [0.5, 0.75**0.5, 0]])
modes = np.linalg.eigvalsh(ms.hessian(energy)(Tensor(r)).reshape(9, 9))
print("curvatures of the nine modes:", modes.round(6))
assert np.allclose(modes / (72 / 2 ** (1 / 3)), [0] * 6 + [1.5, 1.5, 3], atol=1e-9)
