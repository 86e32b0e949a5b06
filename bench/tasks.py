"""What is measured: the contenders of each task, its baseline, and the goals."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Goal:
    """A bound on one contender.

    Attributes:
        contender: whom it binds.
        at_most: the bound.
        against: the bound is on the ratio to each of these; where empty, on seconds.
        difference: the bound is on seconds more than ``against`` instead of a ratio.
        growth: the bound is on the growth of the equations from one order to the next.
    """

    contender: str
    at_most: float
    against: tuple[str, ...] = ()
    difference: bool = False
    growth: bool = False


@dataclass(frozen=True)
class Task:
    """One table.

    Attributes:
        name: how it is asked for.
        title: what it is, in a line.
        baseline: the contender that ratios are taken to.
        contenders: "library:variant", in the order of the table.
        goals: what is to be reached.
        tolerance: how far a result may be from the baseline's, relative to its largest number.
        orders: for the nested task, the orders of the derivative.
    """

    name: str
    title: str
    baseline: str
    contenders: tuple[str, ...]
    goals: tuple[Goal, ...] = ()
    tolerance: float = 1e-3
    orders: tuple[int, ...] = field(default=())


TASKS = (
    Task(
        "import",
        "a fresh interpreter that imports and ends",
        "numpy:import",
        (
            "mindgrad:import",
            "numpy:import",
            "python:start",
            "autograd:import",
            "jax:import",
            "mindspore:import",
            "torch:import",
        ),
        (Goal("mindgrad:import", 0.100, ("numpy:import",), difference=True),),
    ),
    Task(
        "t1",
        "gradient of sum(sin(x) * x**2), 10 float32 numbers",
        "jax:jit",
        (
            "mindgrad:graph",
            "mindgrad:eager",
            "jax:jit",
            "jax:eager",
            "torch:eager",
            "autograd:eager",
            "mindspore:graph",
            "mindspore:eager",
            "numpy:by hand",
        ),
        (Goal("mindgrad:graph", 2.5, ("jax:jit",)), Goal("mindgrad:eager", 100e-6)),
    ),
    Task(
        "t2",
        "value and gradient in all weights of a 4x128 tanh perceptron, batch 1024",
        "jax:jit",
        (
            "mindgrad:graph",
            "mindgrad:eager",
            "jax:jit",
            "torch:eager",
            "mindspore:graph",
            "mindspore:eager",
            "numpy:by hand",
        ),
        (Goal("mindgrad:graph", 1.05, ("jax:jit",)),),
    ),
    Task(
        "t3",
        "gradient in all weights of the Burgers residual, 2 -> 20x8 -> 1, 10,000 points",
        "jax:jvp of jvp",
        (
            "mindgrad:graph cells",
            "mindgrad:graph functions",
            "mindgrad:eager cells",
            "jax:jvp of jvp",
            "jax:nested grad",
            "jax:vmap of grad",
            "jax:Taylor by hand",
            "torch:create_graph",
            "mindspore:graph cells",
            "mindspore:graph functions",
            "mindspore:eager cells",
            "mindspore:eager functions",
        ),
        (
            Goal(
                "mindgrad:graph cells",
                1.0,
                ("jax:jvp of jvp", "jax:nested grad", "jax:vmap of grad"),
            ),
        ),
    ),
    Task(
        "t3-build",
        "making the derivative program of t3, before XLA: jax traces and lowers",
        "jax:nested grad",
        (
            "mindgrad:graph cells",
            "mindgrad:graph functions",
            "jax:nested grad",
            "jax:jvp of jvp",
            "jax:vmap of grad",
        ),
        (Goal("mindgrad:graph cells", 0.5, ("jax:nested grad",)),),
    ),
    Task(
        "nested",
        "n-th derivative of a 1 -> 32 -> 32 -> 1 tanh network, grad of grad of ...",
        "jax:grad",
        ("mindgrad:graph", "jax:grad", "mindspore:graph"),
        (Goal("mindgrad:graph", 2.2, growth=True),),
        tolerance=1e-2,
        orders=(1, 2, 3, 4, 5, 6),
    ),
)
