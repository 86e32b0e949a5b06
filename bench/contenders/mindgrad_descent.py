"""Gradient descent in gradient descent with mindgrad, as Python loops that are left by ``return``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import descent_problems as problems
from job import Job
from mindspore_results import job

import mindgrad
from mindgrad import Tensor, ops

Function = Callable[[Tensor], Tensor]
#: the gradient by forward and by reverse mode
GRADIENTS = {"f": mindgrad.jacfwd, "r": mindgrad.grad}


def magnitude(v: Tensor) -> Tensor:
    return ops.sqrt((v * v).sum())


def lowest(f: Function, gradient: Function, x: Tensor) -> Tensor:
    """The point from ``x`` on at which steps against the gradient end."""
    value, slope = f(x), gradient(x)
    rate, successes = problems.RATE, 0
    while True:
        if magnitude(slope) <= problems.SMALL:
            return x
        if successes == problems.SUCCESSES:
            rate, successes = 2 * rate, 0
        else:
            point = x - rate * slope
            if magnitude(point - x) <= problems.SMALL:
                return x
            new = f(point)
            if new < value:
                x, value, slope = point, new, gradient(point)
                successes += 1
            else:
                rate, successes = rate / 2, 0


def highest(f: Function, derive: Callable[[Function], Function], x: Tensor) -> Tensor:
    def negative(y: Tensor) -> Tensor:
        return -f(y)

    return lowest(negative, derive(negative), x)


def saddle(outer: str, inner: str) -> Function:
    def height(x: Tensor, y: Tensor) -> Tensor:
        return (x * x).sum() - (y * y).sum()

    def run(start: Tensor) -> Tensor:
        def ridge(x: Tensor) -> Tensor:
            return height(x, highest(lambda y: height(x, y), GRADIENTS[inner], start))

        x = lowest(ridge, GRADIENTS[outer](ridge), start)
        return ops.stack([x, highest(lambda y: height(x, y), GRADIENTS[outer], start)])

    return run


def particle(outer: str, inner: str) -> Function:
    first, start = Tensor(problems.CHARGE), (Tensor(problems.POSITION), Tensor(problems.VELOCITY))

    def miss(w: Tensor) -> Tensor:
        second = ops.stack([Tensor(problems.CHARGE[0]), problems.CHARGE[0] - w[0]])

        def potential(x: Tensor) -> Tensor:
            return 1.0 / magnitude(x - first) + 1.0 / magnitude(x - second)

        force = GRADIENTS[inner](potential)
        x, v = start
        while True:
            ahead = x + problems.STEP * v
            if ahead[1] <= 0:
                break
            x, v = ahead, v - problems.STEP * force(x)
        hit = x - x[1] / v[1] * v
        return hit[0] * hit[0]

    def run(w: Tensor) -> Tensor:
        return lowest(miss, GRADIENTS[outer](miss), w)

    return run


def bowl(x: Tensor) -> Tensor:
    return (x * x).sum()


def descent(variant: str) -> Job:
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
    return job(variant, mindgrad.jit(partial(lowest, bowl, mindgrad.grad(bowl))), Tensor(problems.START))


def nested(program: Callable[[str, str], Function], argument: object, modes: str, variant: str) -> Job:
    mindgrad.set_context(mode=mindgrad.GRAPH_MODE)
    return job(variant, mindgrad.jit(program(*modes)), Tensor(argument))


TASKS = {
    "gradbench-descent": descent,
    **{
        f"gradbench-saddle-{modes}": partial(nested, saddle, problems.START, modes)
        for modes in problems.MODES
    },
    **{
        f"gradbench-particle-{modes}": partial(nested, particle, problems.CONTROL, modes)
        for modes in problems.MODES
    },
}
