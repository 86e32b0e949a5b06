"""Data-parallel training steps in jax: ``shard_map`` over one device of each process, and ``pmean``."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax_training
import numpy as np
import problems
import scale_problems
import training_problems
from compiled_messages import message_bytes
from jax.flatten_util import ravel_pytree
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from jax_results import PyTree, wait
from job import Job, training

AXIS = "ranks"
Loss = Callable[[PyTree, list, jax.Array, jax.Array], tuple[jax.Array, list]]


def started() -> None:
    """Join the other processes."""
    rank, size = scale_problems.rank_and_size()
    if size > 1:
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        address = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        jax.distributed.initialize(address, size, rank)


class Learning:
    """On the host: first weights, a rank's running statistics, the loss, and the rows of all ranks."""

    def __init__(self, name: str, burgers_loss: Callable[[PyTree, jax.Array, jax.Array], jax.Array]) -> None:
        self.running: list = []
        if name == "pinn":
            problem = problems.t3()
            self.weights: PyTree = [tuple(layer) for layer in problem.layers]
            self.inputs, self.labels = problem.x, problem.t
            self.loss: Loss = lambda weights, running, x, t: (burgers_loss(weights, x, t), running)
            return
        learning, network = training_problems.LEARNING[name](), jax_training.NETWORKS[name]
        self.weights = [np.asarray(jax_training.channels_last(w, (2, 3, 1, 0))) for w in learning.weights]
        self.inputs = np.asarray(jax_training.channels_last(learning.inputs, (0, 2, 3, 1)))
        self.labels = learning.labels
        if name == "resnet":
            sizes = [w.shape[-1] for w in self.weights if w.ndim == 4]
            self.running = [(np.zeros(size, np.float32), np.ones(size, np.float32)) for size in sizes]
        self.loss = partial(jax_training.cross_entropy, network)


def in_one_message(gradients: PyTree) -> PyTree:
    """The average of the gradients, joined by hand into one array."""
    joined, parts = ravel_pytree(gradients)
    return parts(jax.lax.pmean(joined, AXIS))


#: how gradients are averaged over the ranks
REDUCTIONS: dict[str, Callable[[PyTree], PyTree]] = {
    "shard_map": lambda gradients: jax.lax.pmean(gradients, AXIS),
    "shard_map, one message": in_one_message,
    "alone": lambda gradients: gradients,
}


def local_step(loss: Loss, reduce: Callable[[PyTree], PyTree]) -> Callable[..., tuple]:
    """A step of one rank: its loss, and what it changes."""

    def step(weights: PyTree, moments: PyTree, running: list, x: jax.Array, y: jax.Array) -> tuple:
        gradient = jax.value_and_grad(loss, has_aux=True)
        (value, running), gradients = gradient(weights, running, x, y)
        changed = jax_training.adam(scale_problems.RATE, weights, moments, reduce(gradients))
        return value, *changed, running

    return step


def over_ranks(
    loss: Loss, mesh: jax.sharding.Mesh, reduce: Callable[[PyTree], PyTree]
) -> Callable[..., tuple]:
    """The step over all ranks: weights are replicated; each has its own loss and running statistics."""
    step = local_step(loss, reduce)

    def of_a_rank(weights: PyTree, moments: PyTree, running: list, x: jax.Array, y: jax.Array) -> tuple:
        running = jax.tree.map(lambda each: each[0], running)
        value, weights, moments, running = step(weights, moments, running, x, y)
        return value[None], weights, moments, jax.tree.map(lambda each: each[None], running)

    specs = (P(), P(), P(AXIS), P(AXIS), P(AXIS))
    outputs = (P(AXIS), P(), P(), P(AXIS))
    mapped = jax.shard_map(of_a_rank, mesh=mesh, in_specs=specs, out_specs=outputs, check_vma=False)
    return jax.jit(mapped, donate_argnums=(0, 1, 2))


def train(name: str, variant: str, burgers_loss: Any) -> Job:
    """Steps of this rank; "alone" is the same step without collectives, as one process writes it."""
    started()
    rank, size = scale_problems.rank_and_size()
    learning = Learning(name, burgers_loss)
    rows = scale_problems.rows(name, rank, size)
    inputs, labels = learning.inputs[rows], learning.labels[rows]
    state: list[PyTree] = []
    if variant == "alone":
        step = jax.jit(local_step(learning.loss, REDUCTIONS[variant]), donate_argnums=(0, 1, 2))
        batch = [jnp.asarray(inputs), jnp.asarray(labels)]
        as_arrays = lambda tree: jax.tree.map(jnp.array, tree)
        as_stacked = as_arrays
    else:
        mesh = jax.make_mesh((size,), (AXIS,), devices=jax.devices())
        step = over_ranks(learning.loss, mesh, REDUCTIONS[variant])

        def on_mesh(spec: P, tree: PyTree) -> PyTree:
            sharding = NamedSharding(mesh, spec)
            return jax.tree.map(
                lambda x: jax.make_array_from_process_local_data(sharding, np.asarray(x)), tree
            )

        batch = [on_mesh(P(AXIS), inputs), on_mesh(P(AXIS), labels)]
        as_arrays = partial(on_mesh, P())
        as_stacked = lambda tree: on_mesh(P(AXIS), jax.tree.map(lambda x: x[None], tree))

    def restart() -> None:
        moments = jax_training.first_moments(learning.weights)
        state[:] = [as_arrays(learning.weights), as_arrays(moments), as_stacked(learning.running)]

    def call() -> jax.Array:
        loss, *state[:] = step(*state, *batch)
        return loss

    restart()
    number = lambda loss: np.asarray(loss.addressable_data(0)).reshape(())
    return training(call, lambda loss: wait((loss, state)), number, restart)


def compile_step(name: str, variant: str, devices: int, burgers_loss: Any) -> Job:
    """Compiling the step for ranks that are virtual devices of this process; it is not run."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    mesh = jax.make_mesh((devices,), (AXIS,))
    learning = Learning(name, burgers_loss)
    rows = scale_problems.rows(name, 0, scale_problems.SHARES)

    def shapes(spec: P, tree: PyTree, times: int = 1) -> PyTree:
        sharding = NamedSharding(mesh, spec)
        return jax.tree.map(
            lambda x: jax.ShapeDtypeStruct(
                (times * x.shape[0], *x.shape[1:]) if times > 1 else x.shape, x.dtype, sharding=sharding
            ),
            tree,
        )

    moments = jax_training.first_moments(learning.weights)
    running = jax.tree.map(lambda x: x[None], learning.running)
    batch = [shapes(P(AXIS), x[rows], devices) for x in (learning.inputs, learning.labels)]
    operands = [
        shapes(P(), learning.weights),
        shapes(P(), moments),
        shapes(P(AXIS), running, devices),
        *batch,
    ]
    return scale_problems.compilations(
        # a new function each time: jax remembers what it has traced
        lambda: over_ranks(lambda *arguments: learning.loss(*arguments), mesh, REDUCTIONS[variant]).trace(
            *operands
        ),
        lambda traced: traced.lower().compile(),
        lambda compiled: message_bytes(compiled.as_text()),
        4 * sum(w.size for w in jax.tree.leaves(learning.weights)),
    )


def tasks(burgers_loss: Any) -> dict[str, Callable[..., Job]]:
    """The tasks, given the loss of t3 as a function of the layers, ``x`` and ``t``."""
    return {
        **{
            f"scale-{name}": partial(train, name, burgers_loss=burgers_loss)
            for name in scale_problems.NETWORKS
        },
        **{
            f"scale-devices-{name}": partial(compile_step, name, burgers_loss=burgers_loss)
            for name in scale_problems.NETWORKS
        },
    }
