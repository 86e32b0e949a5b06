"""Time of one step of a second-order optimizer, and of products with curvature matrices.

    .venv/bin/python bench/curvature_steps.py          on the CPU
    .venv/bin/python bench/curvature_steps.py GPU      on the first GPU

Prints the fastest of 20 calls in milliseconds. The networks are those of ``scripts/bench curvature`` for
Poisson's equation in two dimensions, with 900 + 120 residuals in float64. Of the convolutional network, the
gradient and the norms of 128 per-sample gradients are measured in float32.
"""

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import curvature_problems
import numpy as np

import mindgrad as ms
from mindgrad import nn

CALLS = 20


def fastest(call: Callable[[], Any]) -> float:
    """Return the time of the fastest call in milliseconds, after two calls that compile.

    ``call`` returns when its result is on the host.
    """
    times = []
    for _ in range(CALLS + 2):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times[2:])


def residuals_of(name: str) -> None:
    """Measure steps and products of a problem of ``curvature_problems``."""
    task = curvature_problems.problem(name, 0)
    weights = task.net.trainable_params()
    for kind in (nn.GaussNewton, nn.LevenbergMarquardt, nn.KFAC):
        report(name, f"{kind.__name__} step", fastest(partial(kind(weights).step, task.residuals)))

    def loss() -> Any:
        return 0.5 * sum((r * r).sum() for r in task.residuals())

    gradient = ms.value_and_grad(loss, None, weights)
    report(name, "value and gradient", fastest(lambda: gradient()[0].asnumpy()))
    for matrix in (
        ms.curvature.gauss_newton(task.residuals, weights),
        ms.curvature.hessian(loss, weights),
    ):
        product = partial(matrix.matvec, np.ones(matrix.shape[0]))
        report(name, f"product with {matrix.space.owner}", fastest(product))


def per_sample_norms() -> None:
    """Compare the norms of per-sample gradients with the gradient of the sum."""
    net = nn.SequentialCell(
        nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dense(32, 10),
    )  # fmt: skip
    random = np.random.default_rng(0)
    images = ms.Tensor(random.random((128, 3, 32, 32), np.float32))
    labels = ms.Tensor(random.integers(0, 10, 128).astype(np.int32))
    losses = nn.CrossEntropyLoss(reduction="none")
    weights = net.trainable_params()
    gradient = ms.value_and_grad(lambda: losses(net(images), labels).sum(), None, weights)
    report("convolutions", "value and gradient", fastest(lambda: gradient()[0].asnumpy()))
    norms = ms.curvature.per_sample_norms
    call = lambda: norms(lambda: losses(net(images), labels), weights).asnumpy()
    report("convolutions", "per-sample norms", fastest(call))


def report(network: str, what: str, milliseconds: float) -> None:
    """Print one row."""
    print(f"{network:16} {what:34} {milliseconds:9.3f} ms", flush=True)


if __name__ == "__main__":
    ms.set_context(device_target=sys.argv[1] if len(sys.argv) > 1 else "CPU")
    for problem_name in ("poisson2d", "poisson2d-deep"):
        residuals_of(problem_name)
    per_sample_norms()
