"""The cost of a data-parallel step on many devices, and what it predicts for 1,000 of them.

    python bench/cost_model.py        the tables of docs/scale_cost.md

    ring(n, B) = 2 (n - 1) a + 2 (n - 1) / n * B / b
    tree(n, B) = 2 ceil(log2 n) a + 2 B / b

are the seconds of an all-reduce of B bytes among n devices with the latency a and the bandwidth b of a link.
The ring's bytes are the fewest possible (Patarasu and Yuan, "Bandwidth optimal all-reduce algorithms for
clusters of workstations", J. Parallel Distrib. Comput. 69, 2009); the tree's messages, up and down again in
pieces, are few (Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
scan", Parallel Computing 35, 2009).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import problems
import training_problems


class Network(NamedTuple):
    """Seconds that the shortest message takes from one device to another, and bytes a second."""

    latency: float
    bandwidth: float


class Step(NamedTuple):
    """A training step of one device, without its messages.

    Attributes:
        name: that of the network.
        parameters: how many numbers of four bytes its gradient has.
        seconds: those of the step.
        backward: the share of them that is behind the first gradient.
    """

    name: str
    parameters: int
    seconds: float
    backward: float = 0.6


def parameters(name: str) -> int:
    """How many numbers the gradient of a network of the tasks ``scale-…`` has."""
    if name == "pinn":
        return sum(array.size for layer in problems.t3().layers for array in layer)
    return sum(array.size for array in training_problems.LEARNING[name]().weights)


#: seconds of the step without collectives in ``scale-two-…``: half of the rows, one core
SECONDS = {"pinn": 0.0150, "resnet": 0.0600, "gpt": 0.0300}
STEPS = tuple(Step(name, parameters(name), seconds) for name, seconds in SECONDS.items())
NETWORK = Network(latency=5e-6, bandwidth=25e9)
#: bytes of the messages into which gradients are joined
BUCKET = 32 * 2**20
DEVICES = (2, 8, 64, 256, 1_000)


def ring(devices: int, size: float, network: Network) -> float:
    """Seconds of an all-reduce of ``size`` bytes around a ring: reduce-scatter, then all-gather."""
    steps = 2 * (devices - 1)
    return steps * network.latency + steps / devices * size / network.bandwidth


def tree(devices: int, size: float, network: Network) -> float:
    """Seconds of an all-reduce of ``size`` bytes along two binary trees."""
    return 2 * math.ceil(math.log2(devices)) * network.latency + 2 * size / network.bandwidth


def messages(size: float) -> list[float]:
    """The bytes of the messages into which a gradient of ``size`` bytes is joined."""
    whole, rest = divmod(size, BUCKET)
    return [float(BUCKET)] * int(whole) + ([rest] if rest else [])


def exposed(
    step: Step, devices: int, network: Network, reduce: Callable[..., float], overlaps: bool
) -> float:
    """Seconds of communication during which a device computes nothing.

    Without overlap these are all. With it a message begins once the gradients in it are there, which come
    evenly over the backward pass; the last one has nothing to hide behind.
    """
    sizes = messages(4.0 * step.parameters)
    seconds = [reduce(devices, size, network) for size in sizes]
    if not overlaps:
        return sum(seconds)
    backward, total = step.backward * step.seconds, sum(sizes)
    ready = end = 0.0
    for size, duration in zip(sizes, seconds, strict=True):
        ready += backward * size / total
        end = max(end, ready) + duration
    return end - backward


def efficiency(step: Step, exposed_seconds: float) -> float:
    """The rows a second of one of the devices over those of a device alone."""
    return step.seconds / (step.seconds + exposed_seconds)


def fitted(devices: int, times: Sequence[tuple[float, float]]) -> Network:
    """The network whose ring takes these times: bytes and seconds.

    The latency is that of the shortest message, the bandwidth that between the two longest.
    """
    ordered = sorted(times)
    steps = 2 * (devices - 1)
    (smaller, less), (larger, more) = ordered[-2:]
    return Network(ordered[0][1] / steps, steps / devices * (larger - smaller) / (more - less))


def table(steps: Sequence[Step] = STEPS, network: Network = NETWORK) -> str:
    """Milliseconds of an all-reduce and the efficiency, for each network and number of devices."""
    lines = [
        "| network | bytes of the gradient | devices | all-reduce by ring | efficiency with ring "
        "| all-reduce by trees | efficiency with trees |"
    ]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for step in steps:
        for devices in DEVICES:
            cells = [step.name, f"{4 * step.parameters:,}", f"{devices:,}"]
            for reduce in (ring, tree):
                seconds = exposed(step, devices, network, reduce, overlaps=False)
                cells += [f"{1e3 * seconds:.3f} ms", f"{100 * efficiency(step, seconds):.1f} %"]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
