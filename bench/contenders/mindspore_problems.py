"""The problems of ``examples/`` as a MindSpore user writes them; run by MindSpore and by mindgrad."""

from __future__ import annotations

from collections.abc import Callable

import mindspore as ms
import numpy as np
import problems
from job import Job, whole_run
from mindspore import Parameter, Tensor, nn, ops

# Burgers' equation


class Layer(nn.Cell):
    """``x @ weight + bias``, with tanh behind it or not."""

    def __init__(self, weight: np.ndarray, bias: np.ndarray, name: str, last: bool) -> None:
        super().__init__()
        self.weight = Parameter(Tensor(weight), name=name + "_weight")
        self.bias = Parameter(Tensor(bias), name=name + "_bias")
        self.last = last

    def construct(self, x):
        y = ops.matmul(x, self.weight) + self.bias
        return y if self.last else ops.tanh(y)


class Solution(nn.Cell):
    """u(t, x), with the initial and boundary values built in."""

    def __init__(self, layers: problems.Layers) -> None:
        super().__init__()
        last = len(layers) - 1
        self.net = nn.SequentialCell(
            [Layer(*layer, name=f"layer{k}", last=k == last) for k, layer in enumerate(layers)]
        )

    def construct(self, t, x):
        start = -ops.sin(np.pi * x)
        return start + t * (1 - x * x) * self.net(ops.concat((2 * t - 1, x), 1))


class FirstDerivatives(nn.Cell):
    """(u_t, u_x)."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.solution = solution
        self.gradient = ops.GradOperation(get_all=True)

    def construct(self, t, x):
        return self.gradient(self.solution)(t, x)


class Slope(nn.Cell):
    """u_x."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.first = FirstDerivatives(solution)

    def construct(self, t, x):
        return self.first(t, x)[1]


class Curvature(nn.Cell):
    """u_xx."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.slope = Slope(solution)
        self.gradient = ops.GradOperation(get_all=True)

    def construct(self, t, x):
        return self.gradient(self.slope)(t, x)[1]


class Residual(nn.Cell):
    """The mean square of u_t + u u_x - nu u_xx."""

    def __init__(self, solution: Solution) -> None:
        super().__init__()
        self.solution = solution
        self.first = FirstDerivatives(solution)
        self.curvature = Curvature(solution)

    def construct(self, t, x):
        u = self.solution(t, x)
        u_t, u_x = self.first(t, x)
        rest = u_t + u * u_x - problems.VISCOSITY * self.curvature(t, x)
        return ops.square(rest).mean()


def burgers(variant: str) -> Job:
    problem = problems.burgers_training()
    solution = Solution(problem.layers)
    optimizer = nn.Adam(solution.trainable_params(), learning_rate=problems.BURGERS_RATE)
    step = nn.TrainOneStepCell(Residual(solution), optimizer)
    step.set_train()
    parameters = list(step.get_parameters())
    start = [parameter.asnumpy().copy() for parameter in parameters]
    batches = [(Tensor(t), Tensor(x)) for t, x in zip(problem.t, problem.x, strict=True)]
    test = Tensor(problem.test_t), Tensor(problem.test_x)

    def run() -> tuple[float, list[np.ndarray]]:
        for parameter, value in zip(parameters, start, strict=True):
            parameter.set_data(Tensor(value))
        for k in range(problems.BURGERS_STEPS):
            loss = step(*batches[k // 10])
            if k == problems.BURGERS_COMPARED:
                compared = loss
        return problem.error(solution(*test).asnumpy()), [compared.asnumpy()]

    return whole_run(run)


# Liquid argon


class LennardJones(nn.Cell):
    """The energy of the pairs nearer than the cutoff, before which it goes smoothly to zero."""

    def __init__(self, problem: problems.Argon) -> None:
        super().__init__()
        self.first, self.second = Tensor(problem.first), Tensor(problem.second)
        self.box = problem.box

    def construct(self, positions):
        between = ops.gather(positions, self.first, 0) - ops.gather(positions, self.second, 0)
        between = between - self.box * ops.round(between / self.box)
        squared = (between * between).sum(1)
        attraction = 1 / (squared * squared * squared)
        x = ops.clip_by_value((squared / problems.ARGON_CUTOFF**2 - 0.8) / 0.2, 0.0, 1.0)
        switch = 1 - x * x * x * (10 - 15 * x + 6 * x * x)
        return (4 * (attraction * attraction - attraction) * switch).sum()


class Forces(nn.Cell):
    """The negative gradient of the energy."""

    def __init__(self, energy: LennardJones) -> None:
        super().__init__()
        self.energy = energy
        self.gradient = ops.GradOperation()

    def construct(self, positions):
        return -self.gradient(self.energy)(positions)


class Verlet(nn.Cell):
    """So many steps, one after the other in one program."""

    def __init__(self, energy: LennardJones) -> None:
        super().__init__()
        self.forces = Forces(energy)

    def construct(self, positions, velocities, force, steps):
        half = 0.5 * problems.ARGON_TIME_STEP
        while steps > 0:
            velocities = velocities + half * force
            positions = positions + problems.ARGON_TIME_STEP * velocities
            force = self.forces(positions)
            velocities = velocities + half * force
            steps = steps - 1
        return positions, velocities, force


def argon(variant: str) -> Job:
    problem = problems.argon()
    energy = LennardJones(problem)
    forces, move = Forces(energy), Verlet(energy)
    positions, velocities = Tensor(problem.positions), Tensor(problem.velocities)
    steps = Tensor(problems.ARGON_STEPS // 10, ms.int32)

    def total(positions: Tensor, velocities: Tensor) -> float:
        return float(energy(positions).asnumpy()) + 0.5 * float((velocities.asnumpy() ** 2).sum())

    def run() -> tuple[float, list[np.ndarray]]:
        now = positions, velocities, forces(positions)
        totals = [total(*now[:2])]
        for _ in range(10):
            now = move(*now, steps)
            totals.append(total(*now[:2]))
        return float(np.ptp(totals) / abs(totals[0])), [np.array(totals)]

    return whole_run(run)


# Newton's method with conjugate gradients


class Logistic(nn.Cell):
    """Mean log(1 + exp(-margin)) and a penalty."""

    def __init__(self, features: np.ndarray, labels: np.ndarray) -> None:
        super().__init__()
        self.features, self.labels = Tensor(features), Tensor(labels)

    def construct(self, w):
        margins = self.labels * ops.matmul(self.features, w)
        least = ops.minimum(margins, ops.zeros_like(margins))
        mean = (ops.log(ops.exp(least) + ops.exp(least - margins)) - least).mean()
        return mean + 0.5 * problems.LOGISTIC_PENALTY * (w * w).sum()


class Gradient(nn.Cell):
    """Of the loss."""

    def __init__(self, loss: Logistic) -> None:
        super().__init__()
        self.loss = loss
        self.gradient = ops.GradOperation()

    def construct(self, w):
        return self.gradient(self.loss)(w)


class HessianProduct(nn.Cell):
    """Of the loss with a vector: the derivative of the gradient along it."""

    def __init__(self, gradient: Gradient) -> None:
        super().__init__()
        self.gradient = gradient

    def construct(self, w, v):
        return ms.jvp(self.gradient, w, v)[1]


class NewtonDirection(nn.Cell):
    """The solution of H d = -g by conjugate gradients, as exact as the gradient is small."""

    def __init__(self, product: HessianProduct) -> None:
        super().__init__()
        self.product = product

    def construct(self, w, gradient, goal):
        direction, residual = ops.zeros_like(w), -gradient
        search, squared = residual, (residual * residual).sum()
        while squared > goal:
            bent = self.product(w, search)
            length = squared / (search * bent).sum()
            direction = direction + length * search
            residual = residual - length * bent
            before, squared = squared, (residual * residual).sum()
            search = residual + squared / before * search
        return direction


def newton_cg(variant: str) -> Job:
    loss = Logistic(*problems.logistic())
    gradient = Gradient(loss)
    direction_of = NewtonDirection(HessianProduct(gradient))

    def run() -> tuple[float, list[np.ndarray]]:
        w = Tensor(np.zeros(problems.LOGISTIC_FEATURES))
        value, slope = loss(w), gradient(w)
        while (norm := float(np.linalg.norm(slope.asnumpy()))) > 1e-9:
            goal = (min(0.5, norm**0.5) * norm) ** 2
            direction = direction_of(w, slope, Tensor(goal, ms.float64))
            step = 1.0
            while float(loss(w + step * direction).asnumpy()) > float(value.asnumpy()) + 1e-12:
                step *= 0.5
            w = w + step * direction
            value, slope = loss(w), gradient(w)
        return norm**2 / (2 * problems.LOGISTIC_PENALTY), [value.asnumpy()]

    return whole_run(run)


TASKS: dict[str, Callable[..., Job]] = {"burgers": burgers, "argon": argon, "newton-cg": newton_cg}
