"""jax from the start of a process to the first result: one small program each, as a user writes it.

``jax_start.py t1`` runs one and prints its result as JSON. It imports what the program uses, no more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent.parent)]

import start_process  # noqa: E402

start_process.mark("interpreter")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

start_process.mark("import")


def t1() -> Any:
    import problems

    gradient = jax.jit(jax.grad(lambda x: jnp.sum(jnp.sin(x) * x**2)))
    return gradient(jnp.asarray(problems.t1()))


def on_device(layers: Any) -> Any:
    return [(jnp.asarray(weight), jnp.asarray(bias)) for weight, bias in layers]


def perceptron(layers: Any, x: jax.Array) -> jax.Array:
    for weight, bias in layers[:-1]:
        x = jnp.tanh(x @ weight + bias)
    weight, bias = layers[-1]
    return x @ weight + bias


def t2() -> Any:
    import problems

    problem = problems.t2()

    def loss(layers, inputs, targets):
        return jnp.mean(jnp.square(perceptron(layers, inputs) - targets))

    step = jax.jit(jax.value_and_grad(loss))
    return step(on_device(problem.layers), jnp.asarray(problem.inputs), jnp.asarray(problem.targets))


def t3() -> Any:
    import problems

    problem = problems.t3()

    def loss(layers, x, t):
        ones = jnp.ones_like(x)
        in_x = lambda x: perceptron(layers, jnp.concatenate([x, t], axis=1))
        in_t = lambda t: perceptron(layers, jnp.concatenate([x, t], axis=1))
        slope = lambda x: jax.jvp(in_x, (x,), (ones,))
        (u, u_x), (_, u_xx) = jax.jvp(slope, (x,), (ones,))
        _, u_t = jax.jvp(in_t, (t,), (ones,))
        return jnp.mean(jnp.square(u_t + u * u_x - problems.VISCOSITY * u_xx))

    step = jax.jit(jax.grad(loss))
    return step(on_device(problem.layers), jnp.asarray(problem.x), jnp.asarray(problem.t))


def laplacian() -> Any:
    import problems

    points, layers = problems.laplacian()
    layers = on_device(layers)

    def at(x):
        def along(unit):
            slope = lambda x: jax.jvp(lambda x: perceptron(layers, x)[0], (x,), (unit,))[1]
            return jax.jvp(slope, (x,), (unit,))[1]

        return jnp.sum(jax.vmap(along)(jnp.eye(x.size, dtype=x.dtype)))

    return jax.jit(jax.vmap(at))(jnp.asarray(points))


def gmm() -> Any:
    import jax_mixture
    import problems

    jax.config.update("jax_enable_x64", True)
    problem = problems.gmm(*start_process.MIXTURE)
    gradient = jax.jit(jax.value_and_grad(jax_mixture.log_likelihood, argnums=(0, 1, 2, 3)))
    return gradient(*[jnp.asarray(each) for each in (*problem.parameters, problem.points)])


def hand() -> Any:
    import start_problems

    jax.config.update("jax_enable_x64", True)
    hand = start_problems.hand()

    def rotation(angles):
        """The matrix (4, 4) that turns about x, then y, then z."""
        (a, b, c), (i, j, k) = jnp.cos(angles), jnp.sin(angles)
        x = jnp.array([[1, 0, 0, 0], [0, a, -i, 0], [0, i, a, 0], [0, 0, 0, 1]])
        y = jnp.array([[b, 0, j, 0], [0, 1, 0, 0], [-j, 0, b, 0], [0, 0, 0, 1]])
        z = jnp.array([[c, -k, 0, 0], [k, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        return z @ y @ x

    def about(axis):
        """The matrix (3, 3) that turns about an axis by its length."""
        angle = jnp.sqrt(jnp.sum(axis * axis))
        x, y, z = axis / angle
        cross = jnp.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return jnp.eye(3) + jnp.sin(angle) * cross + (1 - jnp.cos(angle)) * (cross @ cross)

    def residuals(unknowns):
        angles = [jnp.zeros(3)] * 2
        for finger in range(5):
            bend = unknowns[6 + 4 * finger : 10 + 4 * finger]
            angles.append(jnp.array([bend[0], bend[1], 0]))
            angles += [jnp.array([bend[k], 0, 0]) for k in (2, 3)]
            angles.append(jnp.zeros(3))
        absolute = []
        for bone, parent in enumerate(hand.parents):
            place = hand.relative[bone] @ rotation(angles[bone])
            absolute.append(place if parent < 0 else absolute[parent] @ place)
        transforms = jnp.stack(absolute) @ hand.inverse
        moved = jnp.sum((transforms @ hand.vertices)[:, :3] * hand.weights[:, None], 0)
        moved = about(unknowns[:3]) @ moved + unknowns[3:6, None]
        return hand.points - moved[:, hand.nearest]

    return jax.jit(jax.jacfwd(residuals))(jnp.asarray(hand.unknowns))


def training(name: str) -> Callable[[], Any]:
    def step() -> Any:
        import jax_training

        job = jax_training.train(name, "jit")
        return job.call()

    return step


def ode() -> Any:
    import start_problems
    from jax.experimental.ode import odeint

    problem = start_problems.ode()
    start, times = jnp.asarray(problem.start), jnp.asarray(problem.times)

    def loss(layers):
        return jnp.mean(jnp.square(odeint(lambda y, t, layers: perceptron(layers, y), start, times, layers)))

    return jax.jit(jax.value_and_grad(loss))(on_device(problem.layers))


PROGRAMS = {
    "t1": t1, "t2": t2, "t3": t3, "laplacian": laplacian, "gmm": gmm, "hand": hand, "ode": ode,
    "lstm": training("lstm"), "resnet": training("resnet"), "gpt": training("gpt"),
}  # fmt: skip

if __name__ == "__main__":
    result = jax.tree_util.tree_leaves(PROGRAMS[sys.argv[1]]())
    start_process.finish(jax.device_get(result))
