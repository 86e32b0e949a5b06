"""Liquid argon: forces from energy gradients, and a fitted neural potential.

    python examples/argon.py                 about half a minute on two cores
    python examples/argon.py --quick         a few seconds: fewer steps, rougher fit

1. 108 atoms with the Lennard-Jones energy move by velocity Verlet. The forces are the negative gradient of
   the energy, and the whole trajectory is one compiled loop. Checks: the forces agree with the formula, and
   the total energy is conserved to 1e-4.
2. A pair potential, a small neural net, is fitted to energies *and* forces of that trajectory. The forces are
   themselves a gradient, so each training step differentiates twice: with respect to the positions, then with
   respect to the weights. Checks: the forces of frames that were not used in training, and the energy of a
   trajectory with the forces of the net.

Reduced units: lengths in σ = 0.3405 nm, energies in ε = 0.996 kJ/mol, masses of argon, so that one unit of
time is 2.16 ps. The state (density 0.8442, temperature about 0.72) is argon near its triple point, as in
L. Verlet, Phys. Rev. 159, 98 (1967). The figure is written to figures/argon.png.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.progress import track

import mindgrad as ms
from mindgrad import Tensor, nn, ops

CELLS, DENSITY, TEMPERATURE = 3, 0.8442, 0.728
ATOMS = 4 * CELLS**3
BOX = (ATOMS / DENSITY) ** (1 / 3)
CUTOFF = 2.5
TIME_STEP = 0.002
FIRST, SECOND = (Tensor(k, ms.int32) for k in np.triu_indices(ATOMS, 1))  # all pairs of atoms


def lattice():
    """A face-centered cubic crystal: positions, shape (ATOMS, 3)."""
    corner = np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    cells = np.stack(np.meshgrid(*[np.arange(CELLS)] * 3, indexing="ij"), -1).reshape(-1, 1, 3)
    return ((cells + corner) / CELLS * BOX).reshape(-1, 3)


def squared_distances(positions):
    """Squared distances of all pairs to the nearest periodic image.

    Positions of shape (..., ATOMS, 3) have squared distances of shape (..., pairs).
    """
    between = ops.gather(positions, FIRST, -2) - ops.gather(positions, SECOND, -2)
    between = between - BOX * ops.round(between / BOX)
    return (between * between).sum(-1)


def switch(squared):
    """Decrease smoothly from 1 to 0 before the cutoff, so that forces are continuous."""
    x = ops.clip((squared / CUTOFF**2 - 0.8) / 0.2, 0.0, 1.0)
    return 1 - x**3 * (10 - 15 * x + 6 * x**2)


class LennardJones(nn.Cell):
    """Σ 4 (r⁻¹² − r⁻⁶) over pairs closer than the cutoff, with a smooth cutoff."""

    def construct(self, positions):
        squared = squared_distances(positions)
        attraction = 1 / squared**3
        return (4 * (attraction**2 - attraction) * switch(squared)).sum(-1)


class NeuralPotential(nn.Cell):
    """Σ φ(r) over the same pairs, where φ is a multilayer perceptron."""

    def __init__(self, width):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Dense(2, width, weight_init="xavier_uniform"), nn.Tanh(),
            nn.Dense(width, width, weight_init="xavier_uniform"), nn.Tanh(),
            nn.Dense(width, 1, weight_init="xavier_uniform"),
        )  # fmt: skip

    def pair_energy(self, squared):
        near = 1 / squared
        features = ops.stack((2 * near - 1, near**3), -1)
        return self.layers(features)[..., 0] * near * switch(squared)

    def construct(self, positions):
        return self.pair_energy(squared_distances(positions)).sum(-1)


class Forces(nn.Cell):
    """−∂E/∂positions."""

    def __init__(self, energy):
        super().__init__()
        self.gradient = ops.GradOperation()(lambda positions: energy(positions).sum())

    def construct(self, positions):
        return -self.gradient(positions)


class VelocityVerlet(nn.Cell):
    """Integrate Newton's equations for a number of steps.

    The call returns positions, velocities, and the total energy after the last step.
    """

    def __init__(self, energy):
        super().__init__()
        self.energy, self.forces = energy, Forces(energy)

    def construct(self, positions, velocities, steps):
        force = self.forces(positions)
        while steps > 0:
            velocities = velocities + 0.5 * TIME_STEP * force
            positions = positions + TIME_STEP * velocities
            force = self.forces(positions)
            velocities = velocities + 0.5 * TIME_STEP * force
            steps = steps - 1
        total = self.energy(positions) + 0.5 * (velocities**2).sum()
        return positions, velocities, total


def trajectory(energy, positions, velocities, steps, every, what):
    """Positions, velocities, and total energies at every ``every``-th step."""
    move = VelocityVerlet(energy)
    frames = [(positions, velocities, move(positions, velocities, Tensor(0, ms.int32))[2])]
    for _ in track(range(steps // every), what):
        frames.append(move(*frames[-1][:2], Tensor(every, ms.int32)))
    return [np.array([frame[k].asnumpy() for frame in frames]) for k in range(3)]


def forces_by_formula(positions):
    """The forces of the Lennard-Jones energy, differentiated by hand, in NumPy."""
    between = positions[:, None] - positions
    between -= BOX * np.round(between / BOX)
    squared = (between**2).sum(-1) + np.eye(ATOMS) * 1e9
    attraction = squared**-3
    x = np.clip((squared / CUTOFF**2 - 0.8) / 0.2, 0, 1)
    value, rate = 4 * (attraction**2 - attraction), 4 * (-6 * attraction**2 + 3 * attraction) / squared
    smooth = 1 - x**3 * (10 - 15 * x + 6 * x**2)
    slope = -30 * x**2 * (1 - x) ** 2 / (0.2 * CUTOFF**2)
    return (-2 * (rate * smooth + value * slope)[..., None] * between).sum(1)


def fit(net, positions, energies, forces, steps, batch):
    """Fit ``net`` to energies and forces of the frames; return the loss of every step."""
    optimizer = nn.Adam(net.trainable_params(), nn.cosine_decay_lr(1e-5, 1e-2, steps, 1, steps))
    pull = Forces(net)

    def loss(positions, energies, forces):
        of_energy = ((net(positions) - energies) / ATOMS) ** 2
        of_forces = (pull(positions) - forces) ** 2
        return 10 * of_energy.mean() + of_forces.mean()

    value_and_gradient = ms.value_and_grad(loss, None, optimizer.parameters)

    @ms.jit
    def step(*frames):
        value, gradients = value_and_gradient(*frames)
        optimizer(gradients)
        return value

    random, losses = np.random.default_rng(1), []
    for _ in track(range(steps), "fitting the neural potential"):
        chosen = random.choice(len(positions), batch, replace=False)
        losses.append(float(step(*[Tensor(x[chosen], ms.float32) for x in (positions, energies, forces)])))
    return losses


def draw(path, drift, losses, net, steps, heading):
    """Plot the energy of both trajectories, the losses, and the two pair potentials."""
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    figure.suptitle(heading)
    figure.get_layout_engine().set(wspace=0.04)
    (left, middle, right) = figure.subplots(1, 3)
    for name, energies in drift.items():
        left.plot(np.linspace(0, steps, len(energies)), energies / energies[0] - 1, label=f"{name} forces")
    left.set(xlabel="time step", ylabel="total energy, relative change", title="energy is conserved")
    left.ticklabel_format(axis="y", scilimits=(0, 0))
    left.margins(y=0.2)
    left.legend(loc="upper left", ncols=2, fontsize="small")
    middle.semilogy(losses)
    middle.set(
        xlabel="training step", ylabel="loss in energies and forces", title="fitting the neural potential"
    )
    r = np.linspace(0.9, CUTOFF, 300).astype(np.float32)
    right.plot(r, 4 * (r**-12.0 - r**-6.0), label="Lennard-Jones, reference")
    right.plot(
        r, net.pair_energy(Tensor(r**2)).asnumpy(), "--", label="neural, fitted to energies and forces"
    )
    right.set(
        xlabel="distance / σ",
        ylabel="pair energy / ε",
        ylim=(-1.2, 2.5),
        title="the fitted pair potential",
    )
    right.legend(fontsize="small")
    figure.savefig(path, dpi=150)


def main():
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="fewer steps, for a quick look")
    options.add_argument(
        "--figures",
        type=Path,
        default=Path("figures"),
        metavar="DIR",
        help="folder for the figure (default: figures)",
    )
    options.add_argument("--figure", type=Path, metavar="FILE", help="file name (default: DIR/argon.png)")
    chosen = options.parse_args()
    path = chosen.figure or chosen.figures / "argon.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(1)
    start = time.time()
    random = np.random.default_rng(0)
    velocities = random.normal(size=(ATOMS, 3)) * (2 * TEMPERATURE) ** 0.5  # half becomes potential energy
    velocities -= velocities.mean(0)
    energy = LennardJones()

    steps = 400 if chosen.quick else 1000
    places, speeds, _ = trajectory(energy, Tensor(lattice()), Tensor(velocities), steps, 20, "melting")
    now = Tensor(places[-1]), Tensor(speeds[-1])
    places, speeds, totals = trajectory(energy, *now, steps, 5, "velocity Verlet")
    forces = Forces(energy)(Tensor(places)).asnumpy()
    wrong = np.abs(forces[-1] - forces_by_formula(places[-1])).max() / np.abs(forces[-1]).max()
    drift = np.abs(totals / totals[0] - 1).max()
    temperature = (speeds**2).mean()
    print(f"{ATOMS} atoms, {steps} steps of {TIME_STEP}: temperature {temperature:.3f} ε/k")
    print(f"  forces against the formula   {wrong:.1e} relative      (at most 1e-10)")
    print(f"  total energy, largest change {drift:.1e} relative      (at most 1e-4)")

    net = NeuralPotential(32)
    energies = energy(Tensor(places)).asnumpy()
    count = len(places) * 4 // 5  # number of frames for training
    losses = fit(net, places[:count], energies[:count], forces[:count], 100 if chosen.quick else 1500, 4)
    test = Tensor(places[count + 10 :], ms.float32)
    found = Forces(net)(test).asnumpy()
    error = np.linalg.norm(found - forces[count + 10 :]) / np.linalg.norm(forces[count + 10 :])
    per_atom = np.abs(net(test).asnumpy() - energies[count + 10 :]).max() / ATOMS
    bound = "not checked in a quick run" if chosen.quick else "at most 2e-2"
    print("the neural potential, on frames that were not used in training")
    print(f"  forces, root mean square     {error:.1e} relative      ({bound})")
    print(f"  energy per atom              {per_atom:.1e} ε")
    first = Tensor(places[-1], ms.float32), Tensor(speeds[-1], ms.float32)
    driven = trajectory(net, *first, steps, 20, "velocity Verlet with the net")[2].astype(float)
    print(f"  total energy of a trajectory {np.abs(driven / driven[0] - 1).max():.1e} relative change")
    heading = f"{ATOMS} argon atoms: forces are energy gradients, of a formula and of a net"
    if chosen.quick:
        heading += f"\nquick run: {len(losses)} instead of 1500 steps of training, not converged"
    draw(path, {"Lennard-Jones": totals, "neural": driven}, losses, net, steps, heading)
    print(f"{time.time() - start:.0f} s; the figure is in {path}")
    if wrong > 1e-10 or drift > 1e-4 or (error > 2e-2 and not chosen.quick):
        raise SystemExit("a check failed")


if __name__ == "__main__":
    main()
