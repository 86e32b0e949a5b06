"""Data-parallel training steps as MindSpore writes them, in this process or as one of several."""

from __future__ import annotations

import os
from functools import partial

import mindspore as ms
import mindspore_programs
import mindspore_training
import problems
import scale_problems
from compiled_messages import message_bytes
from job import Job
from mindspore import Tensor, nn
from mindspore.communication import init
from mindspore_training import Classifier, Program, steps

ALONE = "alone"


def classifier(name: str, rows: slice) -> Classifier:
    """The network with its loss at these rows; of the residual of t3 at these points."""
    if name != "pinn":
        return mindspore_training.classifier(name, rows)
    problem = problems.t3()
    residual = mindspore_programs.BurgersLoss(mindspore_programs.Solution(problem.layers))
    return Classifier(residual, residual, (Tensor(problem.x[rows]), Tensor(problem.t[rows])))


def program(name: str, rows: slice, reduces: bool, mean: bool | None = None) -> Program:
    """A step with Adam on these rows, whose gradients are averaged over the ranks or not."""
    network, forward, arguments = classifier(name, rows)
    optimizer = nn.Adam(network.trainable_params(), learning_rate=scale_problems.RATE)
    value_and_gradients = ms.value_and_grad(forward, None, optimizer.parameters)
    reducer = nn.DistributedGradReducer(optimizer.parameters, mean=mean) if reduces else None

    def step(*inputs):
        loss, gradients = value_and_gradients(*inputs)
        optimizer(gradients if reducer is None else reducer(gradients))
        return loss

    return Program(ms.jit(step), arguments, network, optimizer)


def train(name: str, variant: str) -> Job:
    """Steps of this rank; "alone" is the same step without collectives."""
    init()
    rank, size = scale_problems.rank_and_size()
    rows = scale_problems.rows(name, rank, size)
    if variant.endswith(ALONE):
        return steps(program(name, rows, reduces=False))
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    return steps(program(name, rows, reduces=True))


def compile_step(name: str, variant: str, devices: int) -> Job:
    """Compiling the step for ranks that are virtual devices of this process; it is not run."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    # jax reads the number of its devices when it starts, not before
    from mindgrad.communication.groups import World, enter_world
    from mindgrad.core.backend.jax_import import jax_module
    from mindgrad.core.backend.xla import compile_ahead
    from mindgrad.distributed.process_mesh import use_devices
    from mindgrad.frontend.programs.compiled import trace

    use_devices(jax_module().devices()[:devices])
    enter_world(World(0, ("here",) * devices))
    rows = scale_problems.rows(name, 0, scale_problems.SHARES)
    step, arguments, _, optimizer = program(name, rows, reduces=True, mean=True)
    return scale_problems.compilations(
        lambda: trace(step, *arguments),
        lambda graph: compile_ahead(graph).compiled,
        lambda compiled: message_bytes(compiled.as_text()),
        4 * sum(p.size for p in optimizer.parameters),
    )


TASKS = {
    **{f"scale-{name}": partial(train, name) for name in scale_problems.NETWORKS},
    **{f"scale-devices-{name}": partial(compile_step, name) for name in scale_problems.NETWORKS},
}
