"""jax: the tasks about control flow and the cost of a call, in the ways a good jax user would try.

jax has no reverse mode through a loop whose iteration count is known only when it runs. What its users
do instead is here: a scan whose length is fixed when it is compiled, the same in two levels with
``jax.checkpoint`` against the memory, and the implicit function theorem written by hand.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import problems
from jax import lax
from jax_results import PyTree, build, job, with_temporary
from job import Job, Unavailable

COMPILATIONS = 3
MOST_ITERATIONS_OF_SCAN = 10_000


# A while loop whose iteration count is an argument

Advance = Callable[[jax.Array], jax.Array]
Velocity = Callable[[jax.Array, jax.Array, jax.Array], jax.Array]
Run = Callable[[Advance, jax.Array, Any], jax.Array]


def run_while(advance: Advance, x: jax.Array, iterations: jax.Array) -> jax.Array:
    """The loop as it is meant; jax differentiates it forward only."""

    def body(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        x, left = carry
        return advance(x), left - 1

    return lax.while_loop(lambda carry: carry[1] > 0, body, (x, iterations))[0]


def run_scan(advance: Advance, x: jax.Array, iterations: int) -> jax.Array:
    """A scan of a length that is fixed when it is compiled."""
    return lax.scan(lambda x, _: (advance(x), None), x, length=iterations)[0]


def run_two_levels(advance: Advance, x: jax.Array, iterations: int) -> jax.Array:
    """A scan of scans, of which only the states between them are kept."""
    inner = max(n for n in range(1, math.isqrt(iterations) + 1) if iterations % n == 0)
    several = jax.checkpoint(lambda x: run_scan(advance, x, inner))
    return run_scan(several, x, iterations // inner)


def velocity(weight: jax.Array, bias: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.sin(weight * x + bias)


def matrix_velocity(weight: jax.Array, bias: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.tanh(weight @ x + bias)


VELOCITIES: dict[str, Velocity] = {"loop": velocity, "loop-second": velocity, "loop-matrix": matrix_velocity}
RUNS: dict[str, Run] = {"scan": run_scan, "scan in two levels": run_two_levels}


def objective_of(run: Run, task: str) -> Callable[..., jax.Array]:
    """The mean square of the last state; of the first, the weights, the step and the iterations."""
    velocity = VELOCITIES[task]

    def objective(
        x: jax.Array, weight: jax.Array, bias: jax.Array, step: jax.Array, iterations: Any
    ) -> jax.Array:
        return jnp.mean(jnp.square(run(lambda x: x + step * velocity(weight, bias, x), x, iterations)))

    return objective


def loop_arguments(task: str, iterations: int) -> tuple[jax.Array, ...]:
    """The first state, the weights, the step and the iterations."""
    problem = problems.loop(iterations, matrix=task == "loop-matrix")
    values = problem.state, problem.weight, problem.bias, problem.step, problem.iterations
    return tuple(map(jnp.asarray, values))


def loop(task: str, variant: str, iterations: int) -> Job:
    arguments = loop_arguments(task, iterations)
    if variant == "loop":
        return with_temporary(job(objective_of(run_while, task), *arguments))
    objective = partial(objective_of(RUNS[variant], task), iterations=iterations)
    if task == "loop-second":
        slope = jax.grad(objective)
        objective = lambda *arguments: jnp.sum(jnp.square(slope(*arguments)))
    return with_temporary(job(jax.value_and_grad(objective, (0, 1, 2)), *arguments[:-1]))


# Newton's method


def residual(anomaly: jax.Array, mean: jax.Array, eccentricity: jax.Array) -> jax.Array:
    return anomaly - eccentricity * jnp.sin(anomaly) - mean


def newton_step(
    anomaly: jax.Array, rest: jax.Array, eccentricity: jax.Array, damping: jax.Array
) -> jax.Array:
    return anomaly - damping * rest / (1.0 - eccentricity * jnp.cos(anomaly))


def solve(mean: jax.Array, eccentricity: jax.Array, damping: jax.Array) -> jax.Array:
    """The loop, until the largest residual is small."""

    def body(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        anomaly = newton_step(*carry, eccentricity, damping)
        return anomaly, residual(anomaly, mean, eccentricity)

    first = (mean, residual(mean, mean, eccentricity))
    return lax.while_loop(lambda carry: jnp.max(jnp.abs(carry[1])) > problems.NEWTON_TOLERANCE, body, first)[
        0
    ]


solve_implicitly = jax.custom_vjp(solve)


def solve_forward(mean: jax.Array, eccentricity: jax.Array, damping: jax.Array) -> tuple:
    anomaly = solve(mean, eccentricity, damping)
    return anomaly, (anomaly, eccentricity, damping)


def solve_backward(kept: tuple[jax.Array, ...], cotangent: jax.Array) -> tuple[jax.Array, ...]:
    """dE = (dM + sin E de) / (1 - e cos E), by the implicit function theorem."""
    anomaly, eccentricity, damping = kept
    of_mean = cotangent / (1.0 - eccentricity * jnp.cos(anomaly))
    return of_mean, of_mean * jnp.sin(anomaly), jnp.zeros_like(damping)


solve_implicitly.defvjp(solve_forward, solve_backward)


def solve_in(iterations: int) -> Callable[..., jax.Array]:
    """That many steps, counted beforehand."""

    def run(mean: jax.Array, eccentricity: jax.Array, damping: jax.Array) -> jax.Array:
        def body(anomaly: jax.Array, _: None) -> tuple[jax.Array, None]:
            rest = residual(anomaly, mean, eccentricity)
            return newton_step(anomaly, rest, eccentricity, damping), None

        return lax.scan(body, mean, length=iterations)[0]

    return run


def newton(variant: str, iterations: int | None = None) -> Job:
    jax.config.update("jax_enable_x64", True)
    if variant == "scan" and (iterations or 0) > MOST_ITERATIONS_OF_SCAN:
        raise Unavailable("keeps some 56 kB per iteration: gigabytes")
    problem = problems.newton(iterations)
    run = solve_implicitly if variant == "implicit" else solve_in(problems.newton_iterations(problem))

    def objective(mean: jax.Array, eccentricity: jax.Array, damping: jax.Array) -> jax.Array:
        return jnp.mean(jnp.square(run(mean, eccentricity, damping)))

    arguments = map(jnp.asarray, (problem.mean, problem.eccentricity, problem.damping))
    return with_temporary(job(jax.value_and_grad(objective, (0, 1)), *arguments))


# A recurrent network


def gated_unit(weights: tuple[jax.Array, ...], x: jax.Array, h: jax.Array) -> jax.Array:
    """One step."""
    of_input, of_state, bias = weights
    u = h.shape[1]
    from_input = x @ of_input + bias
    from_state = h @ of_state
    update = jax.nn.sigmoid(from_input[:, :u] + from_state[:, :u])
    reset = jax.nn.sigmoid(from_input[:, u : 2 * u] + from_state[:, u : 2 * u])
    candidate = jnp.tanh(from_input[:, 2 * u :] + reset * from_state[:, 2 * u :])
    return update * h + (1.0 - update) * candidate


def recurrent_loss(weights: tuple[jax.Array, ...], inputs: jax.Array, h: jax.Array) -> jax.Array:
    def body(h: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        h = gated_unit(weights, x, h)
        return h, jnp.mean(jnp.square(h))

    return jnp.sum(lax.scan(body, h, inputs)[1])


def rnn(variant: str, steps: int) -> Job:
    problem = problems.rnn(steps)
    weights = tuple(map(jnp.asarray, (problem.of_input, problem.of_state, problem.bias)))
    arguments = weights, jnp.asarray(problem.inputs), jnp.asarray(problem.state)
    measured = with_temporary(job(jax.value_and_grad(recurrent_loss), *arguments))

    def compile_seconds() -> float:
        def anew(*arguments: PyTree) -> PyTree:  # a function that no cache of jax knows
            return jax.value_and_grad(lambda *rest: recurrent_loss(*rest))(*arguments)

        begin = time.perf_counter()
        jax.jit(anew).lower(*arguments).compile()
        return time.perf_counter() - begin

    memory = measured.facts
    measured.facts = lambda: {**memory(), "compile": min(compile_seconds() for _ in range(COMPILATIONS))}
    return measured


# The cost of a trace, and that of a call


def block(x: jax.Array, weight: jax.Array) -> jax.Array:
    """Ten operators."""
    y = jnp.matmul(x, weight)
    y = jnp.tanh(y + x)
    z = jnp.sin(y) * x - y
    z = jnp.exp(-z * z)
    return z + y


def ten_blocks(x: jax.Array, w: jax.Array) -> jax.Array:
    x = block(block(block(block(block(x, w), w), w), w), w)
    return block(block(block(block(block(x, w), w), w), w), w)


def thousand_function() -> Callable[[jax.Array, jax.Array], jax.Array]:
    """A new function each time: what jax remembers of one must be made again."""

    def thousand(x: jax.Array, w: jax.Array) -> jax.Array:
        x = ten_blocks(ten_blocks(ten_blocks(ten_blocks(ten_blocks(x, w), w), w), w), w)
        return ten_blocks(ten_blocks(ten_blocks(ten_blocks(ten_blocks(x, w), w), w), w), w)

    return thousand


def trace(variant: str) -> Job:
    arguments = tuple(map(jnp.asarray, problems.thousand()))
    return build(lambda: (thousand_function(), *arguments))


def cache_hit(variant: str) -> Job:
    first, others = problems.cache_hit()

    def total(x: jax.Array, terms: list[jax.Array]) -> jax.Array:
        for term in terms:
            x = x + term
        return x

    x, terms = jnp.asarray(first), [jnp.asarray(term) for term in others]
    return job(total, x, terms)


TASKS: dict[str, Callable[..., Job]] = {
    "loop": partial(loop, "loop"),
    "loop-second": partial(loop, "loop-second"),
    "loop-matrix": partial(loop, "loop-matrix"),
    "newton": newton,
    "newton-memory": newton,
    "rnn": rnn,
    "trace": trace,
    "cache-hit": cache_hit,
}
