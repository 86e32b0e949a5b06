"""The cost of ``set_context(debug_nans=True)``: steady calls with it and without, eager and compiled.

python bench/debug_nans.py              a training step with Adam, and a residual of nested gradients
python bench/debug_nans.py --rounds 9   fewer rounds; the exit status is 1 where a ratio is above 2
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median

import numpy as np
import problems

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.eager.tiers import wait_until_compiled

#: what the option may cost
MOST = 2.0
#: calls before any is timed, at least and at most, and seconds of one sample
WARM, MOST_WARM, SAMPLE = 8, 100, 0.05

Call = Callable[[], Tensor]


def network(inputs: int, width: int, layers: int) -> nn.SequentialCell:
    """A tanh perceptron with one output."""
    widths = [inputs, *[width] * layers]
    hidden = [cell for a, b in pairwise(widths) for cell in (nn.Dense(a, b), nn.Tanh())]
    return nn.SequentialCell(*hidden, nn.Dense(width, 1))


def training_step() -> Call:
    """The first task: value and gradient of a perceptron, and Adam."""
    problem = problems.t2()
    inputs = Tensor(problem.inputs)
    targets = Tensor(problem.targets[:, :1])
    net = network(problem.inputs.shape[1], 128, 4)
    optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-4)
    gradient = ms.value_and_grad(lambda x, y: ops.square(net(x) - y).mean(), None, net.trainable_params())

    def step() -> Tensor:
        loss, gradients = gradient(inputs, targets)
        optimizer(gradients)
        return loss

    return step


def nested_gradients(points: int) -> Callable[[], Call]:
    """The second task: value and gradient of a Burgers residual, whose derivatives are gradients."""

    def program() -> Call:
        rng = np.random.default_rng(1)
        x, t = (Tensor(rng.uniform(-1, 1, (points, 1)).astype(np.float32)) for _ in range(2))
        net = network(2, 20, 4)

        def u(x, t):
            return net(ops.concat((x, t), 1))

        slopes = ms.grad(u, (0, 1))
        bend = ms.grad(lambda x, t: slopes(x, t)[0])

        def loss():
            u_x, u_t = slopes(x, t)
            return ops.square(u_t + u(x, t) * u_x - 0.003 * bend(x, t)).mean()

        gradient = ms.value_and_grad(loss, None, net.trainable_params())
        return lambda: gradient()[0]

    return program


TASKS = {
    "training step, 4x128, batch 1024": training_step,
    "PINN, nested gradients, 500 points": nested_gradients(500),
    "PINN, nested gradients, 2,000 points": nested_gradients(2_000),
}


def warm(call: Call, is_checking: bool) -> None:
    """Call until nothing is compiled any more, and eager calls are hot."""
    ms.set_context(debug_nans=is_checking)
    for count in range(1, MOST_WARM + 1):
        call().asnumpy()
        wait_until_compiled()
        if count >= WARM and all(": compiled: " in line for line in ms.cache_info().eager):
            return
    print("  not hot:", *ms.cache_info().eager, sep="\n  ")


def seconds_of(call: Call, is_checking: bool) -> float:
    """Seconds of one call, from as many as fill a sample."""
    ms.set_context(debug_nans=is_checking)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < SAMPLE or not count:
        call().asnumpy()
        count += 1
    return (time.perf_counter() - start) / count


def measured(program: Callable[[], Call], is_compiled: bool, rounds: int) -> tuple[float, float, float]:
    """Median milliseconds without and with the option, and the median of the ratios of the rounds."""
    ms.set_seed(1)
    call = program()
    if is_compiled:
        call = ms.jit(call)
    ms.clear_cache()
    for is_checking in (False, True):
        warm(call, is_checking)
    pairs = [(seconds_of(call, False), seconds_of(call, True)) for _ in range(rounds)]
    without, checked = (median(column) * 1e3 for column in zip(*pairs, strict=True))
    return without, checked, median([b / a for a, b in pairs])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=25, help="rounds of one sample each (25)")
    rounds = parser.parse_args().rounds
    worst = 0.0
    print(f"{'':40} {'without':>10} {'debug_nans':>10} {'ratio':>7}")
    for title, program in TASKS.items():
        for mode, is_compiled in (("eager", False), ("compiled", True)):
            without, checked, ratio = measured(program, is_compiled, rounds)
            worst = max(worst, ratio)
            print(f"{title + ', ' + mode:48} {without:8.2f} {checked:8.2f} ms {ratio:7.2f}", flush=True)
    ms.set_context(debug_nans=False)
    if worst > MOST:
        print(f"the option costs more than {MOST:g} times the time without it")
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main())
