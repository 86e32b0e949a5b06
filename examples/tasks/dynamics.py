"""Molecular dynamics in one program: a loop of a thousand steps, compiled once.

    python examples/tasks/dynamics.py

A PyTorch user writes velocity Verlet for a Lennard-Jones energy. The forces are ``-grad(energy)``, and the
Python `for` is one loop of the compiled program. If atoms collided, `check_finite` would report the line.

Check: the energy is conserved to six digits, and so are the momentum and the center of mass.
"""

import numpy as np

import mindgrad as ms
from mindgrad import ops


def energy(r):
    s = (ops.square(r[[0, 0, 1]] - r[[1, 2, 2]]).sum(-1)) ** -3
    return 4 * (s * s - s).sum()


@ms.jit
def simulate(r, v):
    for _ in range(1000):
        v = v - 0.0005 * ms.grad(energy)(r)
        r = r + 0.001 * v
        v = v - 0.0005 * ms.grad(energy)(r)
    return r, v, ms.check_finite(energy(r) + 0.5 * ops.square(v).sum(), "the energy")


r = np.array([[0, 0, 0], [1.2, 0, 0], [0.6, 0.97, 0]])
end, v, total = simulate(r, np.zeros((3, 3)))
print(f"energy {float(energy(ms.Tensor(r))):.7f} → {float(total):.7f}")
assert np.allclose(total, energy(ms.Tensor(r)), rtol=1e-6)
assert np.allclose(v.sum(0), 0, atol=1e-12)
assert np.allclose(end.mean(0), r.mean(0), atol=1e-12)
assert not np.allclose(end, r, atol=0.01)
