"""Gradient descent in gradient descent with jax, as ``while_loop``s.

"while_loop": an iteration branches with ``cond``; "while_loop, where": it computes both ways and chooses.
jax has no reverse mode through a ``while_loop``: its outer gradient
uses forward mode.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import descent_problems as problems
import jax
import jax.numpy as jnp
from jax import lax
from jax_results import job
from job import Job

Function = Callable[[jax.Array], jax.Array]
Search = Callable[[Function, Function, jax.Array], jax.Array]
GRADIENTS = {"f": jax.jacfwd, "r": jax.grad}


def magnitude(v: jax.Array) -> jax.Array:
    return jnp.sqrt(jnp.sum(v * v))


def lowest(f: Function, gradient: Function, x: jax.Array) -> jax.Array:
    """The point from ``x`` on at which steps against the gradient end."""

    def iteration(state):
        x, value, slope, rate, successes, _ = state
        point = x - rate * slope

        def end():
            return x, value, slope, rate, successes, False

        def widen():
            return x, value, slope, 2 * rate, 0, True

        def down(new):
            return point, new, gradient(point), rate, successes + 1, True

        def shorten():
            return x, value, slope, rate / 2, 0, True

        def attempt():
            new = f(point)
            return lax.cond(new < value, lambda: down(new), shorten)

        def step():
            return lax.cond(magnitude(point - x) <= problems.SMALL, end, attempt)

        def go_on():
            return lax.cond(successes == problems.SUCCESSES, widen, step)

        return lax.cond(magnitude(slope) <= problems.SMALL, end, go_on)

    return lax.while_loop(lambda state: state[-1], iteration, (x, f(x), gradient(x), problems.RATE, 0, True))[
        0
    ]


def lowest_by_where(f: Function, gradient: Function, x: jax.Array) -> jax.Array:
    """The same without branches."""

    def iteration(state):
        x, value, slope, rate, successes, _ = state
        point = x - rate * slope
        new, new_slope = f(point), gradient(point)
        widen = successes == problems.SUCCESSES
        ends = ~widen & (magnitude(point - x) <= problems.SMALL)
        down = ~widen & ~ends & (new < value)
        x = jnp.where(down, point, x)
        value = jnp.where(down, new, value)
        slope = jnp.where(down, new_slope, slope)
        rate = jnp.where(widen, 2 * rate, jnp.where(down | ends, rate, rate / 2))
        successes = jnp.where(down, successes + 1, 0)
        return x, value, slope, rate, successes, ~ends & (magnitude(slope) > problems.SMALL)

    slope = gradient(x)
    state = x, f(x), slope, problems.RATE, 0, magnitude(slope) > problems.SMALL
    return lax.while_loop(lambda state: state[-1], iteration, state)[0]


SEARCHES: dict[str, Search] = {"while_loop": lowest, "while_loop, where": lowest_by_where}


def highest(search: Search, f: Function, derive: Callable[[Function], Function], x: jax.Array) -> jax.Array:
    def negative(y: jax.Array) -> jax.Array:
        return -f(y)

    return search(negative, derive(negative), x)


def saddle(search: Search, inner: str) -> Function:
    def height(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.sum(x * x) - jnp.sum(y * y)

    def run(start: jax.Array) -> jax.Array:
        def ridge(x: jax.Array) -> jax.Array:
            return height(x, highest(search, lambda y: height(x, y), GRADIENTS[inner], start))

        x = search(ridge, jax.jacfwd(ridge), start)
        return jnp.stack([x, highest(search, lambda y: height(x, y), jax.jacfwd, start)])

    return run


def particle(search: Search, inner: str) -> Function:
    def miss(w: jax.Array) -> jax.Array:
        first = jnp.asarray(problems.CHARGE)
        second = jnp.stack([first[0], first[0] - w[0]])

        def potential(x: jax.Array) -> jax.Array:
            return 1.0 / magnitude(x - first) + 1.0 / magnitude(x - second)

        force = GRADIENTS[inner](potential)

        def is_above(state):
            x, v = state
            return (x + problems.STEP * v)[1] > 0

        def step(state):
            x, v = state
            return x + problems.STEP * v, v - problems.STEP * force(x)

        start = jnp.asarray(problems.POSITION), jnp.asarray(problems.VELOCITY)
        x, v = lax.while_loop(is_above, step, start)
        hit = x - x[1] / v[1] * v
        return hit[0] * hit[0]

    return lambda w: search(miss, jax.jacfwd(miss), w)


def bowl(x: jax.Array) -> jax.Array:
    return jnp.sum(x * x)


def descent(variant: str) -> Job:
    jax.config.update("jax_enable_x64", True)
    return job(partial(SEARCHES[variant], bowl, jax.grad(bowl)), jnp.asarray(problems.START))


def nested(program: Callable[[Search, str], Function], argument: object, modes: str, variant: str) -> Job:
    jax.config.update("jax_enable_x64", True)
    return job(program(SEARCHES[variant], modes[1]), jnp.asarray(argument))


TASKS: dict[str, Callable[[str], Job]] = {
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
