"""Programs run under eager mode without any decorator, in the steady state and before it."""

from __future__ import annotations

from typing import Any

from task import Goal, Task
from training_problems import LONG_CHAIN, SHORT_CHAIN

EAGER, NUMPY, GRAPH = "mindgrad:eager", "mindgrad:eager numpy", "mindgrad:graph"


def steady(name: str, title: str, contenders: tuple[str, ...], *goals: Goal, **more: Any) -> Task:
    """A task whose contenders are warmed up before they are timed."""
    return Task(
        f"eager-{name}", f"{title}, eager and warm", contenders=contenders, goals=goals, warm=True, **more
    )


def train(name: str, title: str) -> Task:
    """A whole training step: eager beside the same step with ``jit``, and the peers."""
    return steady(
        name,
        f"a training step with Adam of {title}",
        (EAGER, NUMPY, GRAPH, "jax:jit", "torch:eager", "mindspore:eager"),
        Goal(EAGER, 1.2, (GRAPH,)),
        Goal(GRAPH, 1.05, ("jax:jit",)),
        baseline=GRAPH,
        reference="jax:jit",
    )


def first(name: str, program: str, title: str) -> Task:
    """The first calls of a training step, each time in a new process."""
    return Task(
        name,
        f"the first calls of a training step of {title}, eager, in a fresh process",
        NUMPY,
        (EAGER, NUMPY),
        (Goal(EAGER, 1.1, (NUMPY,)),),
        program=f"first-{program}",
        size="calls",
        sizes=(1, 3, 30),
        quick_sizes=(1, 3, 30),
        most_rounds=7,
    )


TASKS = (
    steady(
        "t1",
        "t1: gradient of four operators on 10 numbers",
        (EAGER, NUMPY, GRAPH, "torch:eager", "mindspore:eager"),
        Goal(EAGER, 1.0, ("torch:eager",)),
        baseline="torch:eager",
        program="t1",
    ),
    steady(
        "t2",
        "t2: value and gradient of a 4x128 tanh perceptron, batch 1024",
        (EAGER, NUMPY, GRAPH, "jax:jit", "torch:eager", "mindspore:eager"),
        Goal(EAGER, 1.15, (GRAPH,)),
        Goal(EAGER, 1.0, ("torch:eager",)),
        baseline=GRAPH,
        reference="jax:jit",
        program="t2",
    ),
    steady(
        "t3",
        "t3: gradient of the Burgers residual by nested GradOperation, 10,000 points",
        ("mindgrad:eager cells", "mindgrad:graph cells", "torch:create_graph"),
        Goal("mindgrad:eager cells", 1.5, ("mindgrad:graph cells",)),
        Goal("mindgrad:eager cells", 1.0, ("torch:create_graph",)),
        baseline="mindgrad:graph cells",
        program="t3",
    ),
    steady(
        "laplacian",
        "the Laplacian by a Python loop of nested gradients, 64 -> 256x3 -> 1, 128 points",
        ("mindgrad:eager nested", "mindgrad:graph nested"),
        Goal("mindgrad:eager nested", 1.5, ("mindgrad:graph nested",)),
        baseline="mindgrad:graph nested",
        program="laplacian",
    ),
    steady(
        "kuramoto",
        "value and gradient of a residual of fourth order, 2 -> 32x4 -> 1, 5,000 points",
        (EAGER, GRAPH),
        Goal(EAGER, 1.5, (GRAPH,)),
        baseline=GRAPH,
        tolerance=1e-2,
        program="kuramoto",
    ),
    train("perceptron", "a perceptron 784-256-256-10, batch 32"),
    train("lenet", "LeNet, batch 32"),
    train("resnet", "ResNet-20 for CIFAR, batch 16"),
    train("gpt", "a decoder of 4 layers, 128 wide, 8 x 64 tokens"),
    train("lstm", "a long short-term memory, 48 steps, batch 32"),
    steady(
        "changing",
        "value and gradient of a perceptron that has another structure at every call",
        (EAGER, NUMPY, "torch:eager"),
        Goal(EAGER, 1.1, (NUMPY,)),
        baseline=NUMPY,
    ),
    first("eager-first", "perceptron", "a perceptron 784-256-256-10, batch 32"),
    first("eager-first-gpt", "gpt", "a decoder of 4 layers, 128 wide, 8 x 64 tokens"),
    steady(
        "record",
        f"what one operator more costs a gradient of {SHORT_CHAIN} to {LONG_CHAIN} on one number",
        (EAGER, NUMPY, "torch:eager", "mindspore:eager"),
        Goal(EAGER, 1.5e-6),
        baseline=NUMPY,
    ),
)
