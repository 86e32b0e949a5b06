"""Data-parallel steps: what they cost one process, two processes beside the peers, and what is compiled."""

from __future__ import annotations

from task import Goal, Task

GRAPH, ALONE = "mindgrad:graph", "mindgrad:graph alone"
JAX = ("jax:shard_map", "jax:shard_map, one message")
TITLES = {
    "pinn": "the residual of t3, 2 -> 20x8 -> 1, 10,000 points",
    "resnet": "ResNet-20 for CIFAR, batch 16",
    "gpt": "a decoder of 4 layers, 128 wide, 8 x 64 tokens",
}


def one_process(name: str, title: str) -> Task:
    """The step with its reduction, and the same step without."""
    return Task(
        f"scale-one-{name}",
        f"a data-parallel step with Adam at one process: {title}",
        ALONE,
        (GRAPH, ALONE),
        (Goal(GRAPH, 1.02, (ALONE,)),),
        program=f"scale-{name}",
    )


def two_processes(name: str, title: str) -> Task:
    """The step on two cores, beside the peers' and beside the step without collectives."""
    return Task(
        f"scale-two-{name}",
        f"a data-parallel step with Adam, two processes: {title}, half of it each",
        "jax:shard_map",
        (GRAPH, ALONE, *JAX, "jax:alone", "torch:DDP", "torch:alone"),
        (Goal(GRAPH, 1.05, JAX), Goal(GRAPH, 1.0, ("torch:DDP",))),
        only_first=(ALONE, "jax:alone", "torch:alone"),
        program=f"scale-{name}",
        processes=2,
    )


def devices(name: str, title: str) -> Task:
    """The compiled program for ranks that are virtual devices."""
    return Task(
        f"scale-devices-{name}",
        f"compiling a data-parallel step for many ranks, one device each: {title}, half of it each",
        GRAPH,
        (GRAPH, "jax:shard_map"),
        (
            Goal(GRAPH, 1.0, of="messages"),
            Goal(GRAPH, 1.0, of="reduced"),
            Goal(GRAPH, 1.0, of="memory", growth=True),
            Goal(GRAPH, 1.2, of="compile", growth=True),
        ),
        size="devices",
        sizes=(2, 8, 64, 256),
        quick_sizes=(2, 8),
        most_rounds=1,
    )


TASKS = tuple(
    task(name, title) for task in (one_process, two_processes, devices) for name, title in TITLES.items()
)
