"""Force matching: train a potential on energies and forces.

    python examples/tasks/force_matching.py

A user of PyTorch trains a potential with a gradient through a gradient. `vmap` computes the energies over the
molecules, and ``-grad`` the forces. The gradient of the loss with respect to the weights is part of one
compiled step. `draw` draws the potential together with its derivative. `create_graph` and `zero_grad` are not
needed. Distances have a finite derivative at r = 0, so no pair is left out.

Check: the forces of each molecule sum to zero, and their relative error is below 0.1.
"""

import numpy as np

import mindgrad as ms
from mindgrad import Tensor, nn, ops

ms.set_seed(0)
positions = Tensor(np.random.default_rng(0).normal(size=(8, 5, 3)).astype(np.float32) * 1.5)
distances = lambda r: ops.norm(r[:, None] - r[None], dim=-1)
reference = lambda r: 0.5 * ops.exp(-distances(r)).sum()


class Potential(nn.Cell):
    def __init__(self):
        super().__init__()
        self.net = nn.SequentialCell(nn.Dense(8, 16), nn.SiLU(), nn.Dense(16, 1))
        self.centers = Tensor(np.linspace(0, 5, 8, dtype=np.float32))

    def construct(self, r):
        return self.net(ops.exp(-ops.square(distances(r)[..., None] - self.centers))).sum()


potential = Potential()
energies, slopes = ms.vmap(ms.value_and_grad(reference))(positions)
forces = lambda r: -ms.vmap(ms.grad(potential))(r)


def loss(r):
    of_energies, of_forces = ms.vmap(potential)(r) - energies, forces(r) + slopes
    return ops.square(of_energies).mean() + 10 * ops.square(of_forces).mean()


optimizer = nn.Adam(potential.trainable_params(), 2e-2)
print(ms.draw(potential, positions[0], order=1))  # .save("potential.svg") writes the figure
value_and_gradient = ms.value_and_grad(loss, None, optimizer.parameters)


@ms.jit
def step(r):
    value, gradients = value_and_gradient(r)
    optimizer(gradients)
    return value


error = lambda: float(ops.norm(forces(positions) + slopes) / ops.norm(slopes))
before = error()
for _ in range(800):
    step(positions)
total = float(ops.abs(forces(positions).sum(1)).max())
print(f"relative error of the forces {before:.3f} → {error():.3f}; sum of forces {total:.1e}")
assert total < 1e-4
assert error() < 0.1
