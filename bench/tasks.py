"""What is measured: the contenders of each task, its baseline, and the goals."""

from __future__ import annotations

from typing import Any

import eager_tasks
import gradbench_tasks
import row_tasks
import scale_tasks
import size_tasks
import start_tasks
from problems import GMM_CENTERS, GMM_DIMENSIONS
from task import Goal, Task

MEGABYTE = 1e6


def build(
    name: str,
    program: str,
    pairs: dict[str, str],
    others: tuple[str, ...] = (),
    named: bool = False,
    **sizes: Any,
) -> Task:
    """Making the program of another task, before XLA: at most half of what jax takes for the same source.

    Args:
        name: that task.
        program: what it is.
        pairs: mindgrad's variants, and jax's from the same source.
        others: further variants of jax.
        named: whether mindgrad has a name for it, which jax has not: it takes part without a goal.
        sizes: as of ``Task``.
    """
    of_jax = (*dict.fromkeys(pairs.values()), *others)
    return Task(
        f"{name}-build",
        f"making the program of {program}, before XLA: jax traces and lowers",
        f"jax:{of_jax[0]}",
        (
            *[f"mindgrad:{ours}" for ours in [*pairs, *["graph"] * named]],
            *[f"jax:{theirs}" for theirs in of_jax],
        ),
        tuple(Goal(f"mindgrad:{ours}", 0.5, (f"jax:{theirs}",)) for ours, theirs in pairs.items()),
        **sizes,
    )


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
            "tensorflow:xla",
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
            "tensorflow:xla",
            "mindspore:graph",
            "mindspore:eager",
            "numpy:by hand",
        ),
        (Goal("mindgrad:graph", 1.05, ("jax:jit",)),),
    ),
    *[
        Task(
            f"train-{optimizer}",
            f"a training step of that perceptron with {name}: one compiled program",
            "jax:jit",
            ("mindgrad:graph", "jax:jit", "torch:eager", "mindspore:graph"),
            (
                Goal("mindgrad:graph", 1.05, ("jax:jit",)),
                Goal("mindgrad:graph", 1.0, ("torch:eager", "mindspore:graph")),
            ),
        )
        for optimizer, name in (("sgd", "plain gradient descent"), ("adam", "Adam"))
    ],
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
            "tensorflow:xla",
            "tensorflow:graph",
            "mindspore:graph cells",
            "mindspore:graph functions",
            "mindspore:eager cells",
            "mindspore:eager functions",
        ),
        (
            Goal(
                "mindgrad:graph cells",
                0.6,
                ("jax:jvp of jvp", "jax:nested grad", "jax:vmap of grad"),
            ),
            Goal("mindgrad:graph cells", 1.0, ("torch:create_graph", "tensorflow:xla")),
        ),
    ),
    Task(
        "nested",
        "n-th derivative of a 1 -> 32 -> 32 -> 1 tanh network, grad of grad of ...",
        "jax:grad",
        ("mindgrad:graph", "jax:grad", "mindspore:graph"),
        (Goal("mindgrad:graph", 2.2, of="equations", growth=True),),
        tolerance=1e-2,
        orders=(1, 2, 3, 4, 5, 6),
    ),
    Task(
        "first-result",
        "derivatives of order 10 and 20 by nesting grad, 1 -> 32x2 -> 1, from the first call to the result",
        "mindgrad:graph",
        ("mindgrad:graph",),
        (
            Goal("mindgrad:graph", 1.0, of="first", sizes=(10,)),
            Goal("mindgrad:graph", 5.0, of="first", sizes=(20,)),
        ),
        size="order",
        sizes=(10, 20),
        quick_sizes=(10,),
        most_rounds=3,
    ),
    Task(
        "derivative",
        "derivatives of order 4, 6 and 8 at 2,000 points by nesting grad, 1 -> 32x2 -> 1",
        "jax:nested jvp",
        ("mindgrad:graph", "jax:nested jvp", "jax:jet", "jax:nested grad"),
        (Goal("mindgrad:graph", 1.0, ("jax:nested jvp", "jax:jet", "jax:nested grad")),),
        tolerance=2e-2,
        size="order",
        sizes=(4, 6, 8),
        quick_sizes=(4,),
        most_rounds=7,
    ),
    Task(
        "kuramoto",
        "gradient in all weights of a residual of fourth order, 2 -> 32x4 -> 1, 5,000 points",
        "jax:nested jvp",
        ("mindgrad:graph", "jax:nested jvp", "jax:jet", "jax:nested grad"),
        (Goal("mindgrad:graph", 0.5, ("jax:nested jvp", "jax:jet", "jax:nested grad")),),
        tolerance=1e-2,
    ),
    Task(
        "laplacian",
        "the Laplacian of a 64 -> 256x3 -> 1 tanh network at 128 points",
        "jax:trace of hessian",
        (
            "mindgrad:graph",
            "mindgrad:graph nested",
            "mindgrad:graph one-hot sens",
            "mindgrad:graph trace",
            "jax:trace of hessian",
            "jax:loop of jvp of grad",
            "jax:jvp of jvp",
            "jax:forward by hand",
            "folx:forward laplacian",
        ),
        (
            *[
                Goal(f"mindgrad:graph {spelling}", 1.1, ("mindgrad:graph",))
                for spelling in ("nested", "one-hot sens", "trace")
            ],
            Goal(
                "mindgrad:graph",
                1 / 1.9,
                ("jax:trace of hessian", "jax:loop of jvp of grad", "jax:jvp of jvp"),
            ),
            Goal("mindgrad:graph", 1.1, ("folx:forward laplacian",)),
            # a fiftieth of what the trace of the Hessian needs
            Goal("mindgrad:graph", 0.68 * MEGABYTE, of="temporary"),
        ),
    ),
    Task(
        "laplacian-gradient",
        "the gradient in all weights of the mean square of that Laplacian",
        "jax:trace of hessian",
        (
            "mindgrad:graph",
            "jax:trace of hessian",
            "jax:loop of jvp of grad",
            "jax:forward by hand",
            "folx:forward laplacian",
        ),
    ),
    Task(
        "biharmonic",
        "the Laplacian of the Laplacian of a 10 -> 64x2 -> 1 tanh network at 64 points",
        "jax:trace of hessian, twice",
        (
            "mindgrad:graph",
            "mindgrad:graph trace, twice",
            "jax:trace of hessian, twice",
            "jax:jvp of jvp, twice",
            "folx:forward laplacian, twice",
        ),
        (
            Goal("mindgrad:graph", 0.1, ("jax:trace of hessian, twice",)),
            Goal("mindgrad:graph trace, twice", 0.1, ("jax:trace of hessian, twice",)),
        ),
    ),
    Task(
        "loop",
        "a while loop with a tensor as iteration count, 32 float32 numbers: value and gradient",
        "jax:loop",
        (
            "mindgrad:graph loop",
            "mindgrad:graph gradient",
            "jax:loop",
            "jax:scan",
            "jax:scan in two levels",
            "equinox:checkpointed",
            "torch:eager",
            "mindspore:graph gradient",
        ),
        (
            Goal("mindgrad:graph gradient", 5.0, ("mindgrad:graph loop",), sizes=(1_000_000,)),
            Goal("mindgrad:graph gradient", 8.0, ("mindgrad:graph loop",)),
            Goal("mindgrad:graph gradient", MEGABYTE, of="temporary"),
        ),
        tolerance=2e-2,  # a million roundings of Float32 are 6e-3 away from the exact result
        reference="jax:scan",
        only_value=("mindgrad:graph loop", "jax:loop"),
        size="iterations",
        sizes=(100, 1_000, 10_000, 100_000, 1_000_000),
        quick_sizes=(100, 10_000),
    ),
    Task(
        "loop-second",
        "value and gradient of the squared gradient of that loop",
        "jax:scan",
        ("mindgrad:graph second", "jax:scan", "jax:scan in two levels"),
        (Goal("mindgrad:graph second", 1e-3, of="result"),),
        size="iterations",
        sizes=(10_000,),
        quick_sizes=(10_000,),
    ),
    Task(
        "loop-matrix",
        "the same loop with a matrix product in it",
        "jax:loop",
        (
            "mindgrad:graph loop",
            "mindgrad:graph gradient",
            "jax:loop",
            "jax:scan",
            "jax:scan in two levels",
            "equinox:checkpointed",
            "mindspore:graph gradient",
        ),
        reference="jax:scan",
        only_value=("mindgrad:graph loop", "jax:loop"),
        size="iterations",
        sizes=(1_000, 100_000),
        quick_sizes=(1_000,),
    ),
    Task(
        "newton",
        "Newton's method for 1,000 Kepler equations, until the residual is small: value and gradient",
        "jax:scan",
        ("mindgrad:graph", "mindgrad:implicit", "jax:implicit", "jax:scan", "torch:eager", "mindspore:graph"),
        (Goal("mindgrad:graph", 2.0, ("jax:scan",)), Goal("mindgrad:implicit", 1.2, ("jax:implicit",))),
    ),
    Task(
        "newton-memory",
        "the same with damped steps, which take that many iterations",
        "jax:implicit",
        ("mindgrad:graph", "mindgrad:implicit", "jax:implicit", "jax:scan", "torch:eager", "mindspore:graph"),
        (
            Goal("mindgrad:graph", 1.0, of="temporary", growth=True),
            Goal("mindgrad:graph", 1.2, of="peak", growth=True),
        ),
        size="iterations",
        sizes=(10, 100, 1_000, 10_000, 100_000),
        quick_sizes=(10, 1_000),
        most_rounds=3,
    ),
    Task(
        "rnn",
        "a gated recurrent unit in a Python loop over a sequence: value and gradient in all weights",
        "jax:scan",
        ("mindgrad:graph", "jax:scan", "torch:eager", "mindspore:graph"),
        (
            Goal("mindgrad:graph", 1.1, ("jax:scan",)),
            Goal("mindgrad:graph", 1.2, of="compile", growth=True),
        ),
        size="steps",
        sizes=(100, 1_000),
        quick_sizes=(100, 1_000),
    ),
    Task(
        "sparse-hessian",
        "the Hessian of the chained Rosenbrock function of n numbers, float64, as a sparse matrix",
        "asdex:hessian",
        ("mindgrad:graph", "mindgrad:eager", "asdex:hessian", "jax:hessian"),
        (Goal("mindgrad:graph", 1.0, ("asdex:hessian",), sizes=(100_000,)),),
        tolerance=1e-9,
        size="n",
        sizes=(1_000, 100_000),
        quick_sizes=(1_000, 100_000),
    ),
    Task(
        "sparse-hessian-build",
        "the same from a new function to the first value: pattern, colors, compilation",
        "asdex:hessian",
        ("mindgrad:graph", "asdex:hessian"),
        (Goal("mindgrad:graph", 0.5, ("asdex:hessian",), sizes=(100_000,)),),
        size="n",
        sizes=(1_000, 100_000),
        quick_sizes=(1_000, 100_000),
    ),
    Task(
        "sparse-jacobian",
        "the Jacobian of the Brusselator of 32,768 numbers, float64, as a sparse matrix",
        "asdex:jacobian",
        ("mindgrad:graph", "mindgrad:eager", "asdex:jacobian"),
        (Goal("mindgrad:graph", 1.0, ("asdex:jacobian",)),),
        tolerance=1e-9,
    ),
    Task(
        "sparse-jacobian-build",
        "the same from a new function to the first value: pattern, colors, compilation",
        "asdex:jacobian",
        ("mindgrad:graph", "asdex:jacobian"),
        (Goal("mindgrad:graph", 0.5, ("asdex:jacobian",)),),
    ),
    Task(
        "bundle-adjustment",
        "the Jacobian of ADBench's bundle adjustment, 31,843 observations, float64, as sparse matrices",
        "jax:jacrev",
        (
            "mindgrad:graph",
            "mindgrad:graph function",
            "mindgrad:eager",
            "jax:jacrev",
            "jax:jacfwd",
            "jax:function",
        ),
        (Goal("mindgrad:graph", 5.0, ("mindgrad:graph function",)),),
        tolerance=1e-9,
    ),
    Task(
        "hessian-dense",
        "the whole Hessian of the chained Rosenbrock function of 1,000 numbers, float64",
        "jax:hessian",
        ("mindgrad:graph", "jax:hessian"),
        (Goal("mindgrad:graph", 1.0, ("jax:hessian",)),),
        tolerance=1e-9,
    ),
    Task(
        "burgers",
        "Burgers' equation by a physics-informed network: 1,000 steps of Adam, and the error behind them",
        "torch:create_graph",
        ("mindgrad:graph", "torch:create_graph", "mindspore:graph"),
        (Goal("mindgrad:graph", 1.0, ("torch:create_graph", "mindspore:graph")),),
        most_rounds=1,
    ),
    Task(
        "argon",
        "1,000 steps of velocity Verlet of 108 atoms, forces as gradients, and the change of the energy",
        "torch:eager",
        ("mindgrad:graph", "torch:eager", "mindspore:graph"),
        (Goal("mindgrad:graph", 1.0, ("torch:eager", "mindspore:graph")),),
        tolerance=1e-6,
        most_rounds=1,
    ),
    Task(
        "newton-cg",
        "Newton's method with conjugate gradients on a logistic regression, to the end",
        "torch:eager",
        ("mindgrad:graph", "torch:eager", "mindspore:graph"),
        (Goal("mindgrad:graph", 1.0, ("torch:eager", "mindspore:graph")),),
        tolerance=1e-9,
        most_rounds=1,
    ),
    Task(
        "layout",
        "value and gradient in all weights of a tanh perceptron of width 20 at 10,000 points",
        "jax:jit",
        ("mindgrad:graph", "jax:jit", "jax:points last by hand", "mindspore:graph"),
        (Goal("mindgrad:graph", 0.8, ("jax:jit",), mean=True),),
        size="layers",
        sizes=(2, 4, 8),
        quick_sizes=(4,),
    ),
    *[
        Task(
            f"gmm-{d}",
            f"log-likelihood of 1,000 points in {d} dimensions under a Gaussian mixture: value and gradient",
            "jax:grad",
            (
                "mindgrad:graph gradient",
                "mindgrad:graph value",
                "jax:grad",
                "jax:value",
                "jax:grad by hand",
                "torch:eager",
                "mindspore:graph gradient",
            ),
            (
                Goal("mindgrad:graph gradient", 1 / 1.5, ("jax:grad",), mean=True),
                Goal("mindgrad:graph gradient", 5.0, ("mindgrad:graph value",)),
            ),
            tolerance=1e-7,
            only_value=("mindgrad:graph value", "jax:value"),
            size="centers",
            sizes=GMM_CENTERS,
            quick_sizes=(25,),
            most_rounds=7,
        )
        for d in GMM_DIMENSIONS
    ],
    build(
        "t3",
        "t3",
        {"graph cells": "nested grad", "graph functions": "nested grad"},
        ("jvp of jvp", "vmap of grad"),
    ),
    build(
        "derivative",
        "a derivative of order 4, 6 or 8",
        {"graph": "nested grad"},
        ("nested jvp", "jet"),
        size="order",
        sizes=(4, 6, 8),
        quick_sizes=(4,),
        most_rounds=3,
    ),
    build("kuramoto", "kuramoto", {"graph": "nested grad"}, ("nested jvp", "jet")),
    build(
        "laplacian",
        "a Laplacian",
        {
            "graph trace": "trace of hessian",
            "graph nested": "nested",
            "graph one-hot sens": "one-hot sens",
        },
        ("jvp of jvp",),
        named=True,
        most_rounds=3,
    ),
    build(
        "biharmonic",
        "a biharmonic operator",
        {"graph trace, twice": "trace of hessian, twice"},
        ("jvp of jvp, twice",),
        named=True,
    ),
    build("hessian-dense", "a Hessian", {"graph": "hessian"}),
    build(
        "gmm-20",
        "a Gaussian mixture's value and gradient",
        {"graph gradient": "grad"},
        size="centers",
        sizes=(25,),
        quick_sizes=(25,),
    ),
    Task(
        "trace",
        "from the call of a function of 1,000 operators to its traced program; jax also lowers it",
        "jax:trace and lower",
        ("mindgrad:graph trace", "mindgrad:graph trace and lower", "jax:trace and lower"),
        (Goal("mindgrad:graph trace", 0.5, ("jax:trace and lower",)),),
    ),
    Task(
        "cache-hit",
        "a call of a compiled function that reads 50 Parameters of four numbers",
        "jax:jit",
        ("mindgrad:graph", "jax:jit", "mindspore:graph"),
        (Goal("mindgrad:graph", 3.0, ("jax:jit",)),),
    ),
    *eager_tasks.TASKS,
    *scale_tasks.TASKS,
    *size_tasks.TASKS,
    *row_tasks.TASKS,
    *gradbench_tasks.TASKS,
    *start_tasks.TASKS,
)

#: names for several tasks at once
GROUPS = {
    "eager": tuple(task.name for task in eager_tasks.TASKS),
    "rows": tuple(task.name for task in row_tasks.TASKS),
    "gradbench": tuple(task.name for task in gradbench_tasks.TASKS),
    **{name: tuple(task.name for task in tasks) for name, tasks in gradbench_tasks.GROUPS.items()},
    "scale": tuple(task.name for task in scale_tasks.TASKS),
    "first": tuple(task.name for task in start_tasks.TASKS),
    "size": tuple(task.name for task in size_tasks.TASKS),
}
