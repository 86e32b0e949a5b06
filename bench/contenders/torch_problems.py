"""The problems of ``examples/`` in PyTorch: eager autograd, ``create_graph`` where derivatives are nested."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import problems
import torch
from job import Job, whole_run


def burgers(variant: str) -> Job:
    problem = problems.burgers_training()
    batches = [
        (torch.tensor(t, requires_grad=True), torch.tensor(x, requires_grad=True))
        for t, x in zip(problem.t, problem.x, strict=True)
    ]

    def run() -> tuple[float, list[np.ndarray]]:
        layers = [[torch.tensor(each, requires_grad=True) for each in layer] for layer in problem.layers]
        weights = [each for layer in layers for each in layer]
        optimizer = torch.optim.Adam(weights, lr=problems.BURGERS_RATE)

        def solution(t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
            hidden = torch.cat([2 * t - 1, x], 1)
            for weight, bias in layers[:-1]:
                hidden = torch.tanh(torch.addmm(bias, hidden, weight))
            weight, bias = layers[-1]
            return -torch.sin(np.pi * x) + t * (1 - x * x) * torch.addmm(bias, hidden, weight)

        for k in range(problems.BURGERS_STEPS):
            t, x = batches[k // 10]
            optimizer.zero_grad()
            u = solution(t, x)
            u_t, u_x = torch.autograd.grad(u.sum(), (t, x), create_graph=True)
            (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
            loss = (u_t + u * u_x - problems.VISCOSITY * u_xx).square().mean()
            gradients = torch.autograd.grad(loss, weights)
            for weight, gradient in zip(weights, gradients, strict=True):
                weight.grad = gradient
            optimizer.step()
            if k == problems.BURGERS_COMPARED:
                compared = loss
        with torch.no_grad():
            found = solution(torch.tensor(problem.test_t), torch.tensor(problem.test_x)).numpy(force=True)
        return problem.error(found), [compared.numpy(force=True)]

    return whole_run(run)


def argon(variant: str) -> Job:
    problem = problems.argon()
    first, second = (torch.tensor(each, dtype=torch.long) for each in (problem.first, problem.second))
    start, velocity = torch.tensor(problem.positions), torch.tensor(problem.velocities)
    step = problems.ARGON_TIME_STEP

    def energy(positions: torch.Tensor) -> torch.Tensor:
        between = positions[first] - positions[second]
        between = between - problem.box * torch.round(between / problem.box)
        squared = (between * between).sum(1)
        attraction = 1 / (squared * squared * squared)
        x = torch.clamp((squared / problems.ARGON_CUTOFF**2 - 0.8) / 0.2, 0.0, 1.0)
        switch = 1 - x * x * x * (10 - 15 * x + 6 * x * x)
        return (4 * (attraction * attraction - attraction) * switch).sum()

    def forces(positions: torch.Tensor) -> torch.Tensor:
        positions = positions.detach().requires_grad_()
        return -torch.autograd.grad(energy(positions), positions)[0]

    def total(positions: torch.Tensor, velocities: torch.Tensor) -> float:
        return float(energy(positions)) + 0.5 * float((velocities**2).sum())

    def run() -> tuple[float, list[np.ndarray]]:
        positions, velocities, force = start, velocity, forces(start)
        totals = [total(positions, velocities)]
        for k in range(1, problems.ARGON_STEPS + 1):
            velocities = velocities + 0.5 * step * force
            positions = positions + step * velocities
            force = forces(positions)
            velocities = velocities + 0.5 * step * force
            if k % (problems.ARGON_STEPS // 10) == 0:
                totals.append(total(positions, velocities))
        return float(np.ptp(totals) / abs(totals[0])), [np.array(totals)]

    return whole_run(run)


def newton_cg(variant: str) -> Job:
    features, labels = (torch.tensor(each) for each in problems.logistic())

    def loss(w: torch.Tensor) -> torch.Tensor:
        mean = torch.nn.functional.softplus(-labels * (features @ w)).mean()
        return mean + 0.5 * problems.LOGISTIC_PENALTY * (w * w).sum()

    def run() -> tuple[float, list[np.ndarray]]:
        w = torch.zeros(problems.LOGISTIC_FEATURES, dtype=torch.float64, requires_grad=True)
        while True:
            value = loss(w)
            (slope,) = torch.autograd.grad(value, w, create_graph=True)
            norm = float(slope.norm())
            if norm <= 1e-9:
                return norm**2 / (2 * problems.LOGISTIC_PENALTY), [value.numpy(force=True)]
            goal = (min(0.5, norm**0.5) * norm) ** 2
            direction, residual = torch.zeros_like(w), -slope.detach()
            search, squared = residual, float(residual @ residual)
            while squared > goal:
                (bent,) = torch.autograd.grad(slope, w, search, retain_graph=True)
                length = squared / float(search @ bent)
                direction = direction + length * search
                residual = residual - length * bent
                before, squared = squared, float(residual @ residual)
                search = residual + squared / before * search
            step = 1.0
            with torch.no_grad():
                while float(loss(w + step * direction)) > float(value) + 1e-12:
                    step *= 0.5
            w = (w + step * direction).detach().requires_grad_()

    return whole_run(run)


TASKS: dict[str, Callable[..., Job]] = {"burgers": burgers, "argon": argon, "newton-cg": newton_cg}
