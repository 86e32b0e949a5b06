"""Measures and draws the figure of docs/eager.md: where the time of a training step goes in each tier.

`python docs/figures/eager.py` runs the steps of bench/contenders/mindspore_training.py, each tier in a
process of its own, and writes eager.svg and its numbers, eager.json. With `--draw` it only draws them.

NumPy's products run in one thread: several would wait for each other on a machine that does other things,
and take many times as long. Other processes disturb anyhow: the numbers are those of the quickest of
several processes, there of the fastest fifth of the calls. Programs are waited for where they are run, so
that their time is known. In every second call they are not: then some of it passes while Python goes on,
and the call takes the time that is listed as `total`.
"""

import datetime
import json
import os
import platform
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path
from time import perf_counter

import matplotlib.pyplot as plt

import mindgrad
from mindgrad.backend.executable import Executable
from mindgrad.eager import tiers
from mindgrad.execution import record
from mindgrad.ir.primitive import REGISTRY

HERE = Path(__file__).parent
NETWORKS = ("perceptron", "lenet", "gpt", "lstm")
TIERS = {
    "cold": {"kernels": "NumPy kernels", "operators": "operators and recording", "derivation": "derivation"},
    "hot": {
        "program": "programs", "operators": "operators and recording", "end": "end of the deferred call",
        "rest": "rest",
    },
    "jit": {"program": "programs", "rest": "rest"},
}  # fmt: skip
SECONDS_WARM, SECONDS, CALLS, PROCESSES = 3.0, 5.0, 20, 4


class Clock:
    """Seconds by part; what runs inside of another part is not counted there."""

    def __init__(self):
        self.parts = Counter()
        self.is_waiting = True
        self._inner = [0.0]

    def around(self, part, function):
        """``function``, whose time belongs to ``part``."""

        def timed(*args, **kwargs):
            self._inner.append(0.0)
            start = perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                seconds = perf_counter() - start
                self.parts[part] += seconds - self._inner.pop()
                self._inner[-1] += seconds

        return timed


def watch(clock):
    """Let the parts of mindgrad that do the work report to ``clock``."""
    for primitive in REGISTRY.values():
        primitive.numpy = clock.around("kernels", primitive.numpy)
    record.finish = clock.around("derivation", record.finish)
    tiers.Deferral.ends = clock.around("end", tiers.Deferral.ends)
    deferred = tiers._deferred
    tiers._deferred = clock.around("operators", deferred)
    make = Executable.__init__

    def make_watched(self, run, *args, **kwargs):
        def to_end(*operands):
            results = run(*operands)
            if clock.is_waiting:
                for result in results:
                    result.block_until_ready()
            return results

        make(self, clock.around("program", to_end), *args, **kwargs)

    Executable.__init__ = make_watched


def steps_of(network, tier):
    """A function that makes one step and waits for it, after all that is compiled has been."""
    mindgrad.install()
    sys.path[:0] = [str(HERE.parents[1] / "bench"), str(HERE.parents[1] / "bench" / "contenders")]
    import mindspore_training  # which is mindgrad now

    job = mindspore_training.train(network, "graph" if tier == "jit" else "eager")

    def step():
        job.finish(job.call())

    start = perf_counter()
    while perf_counter() - start < SECONDS_WARM:
        step()
        tiers.wait_until_compiled()
    for _ in range(CALLS):
        step()
    return step


def measured(network, tier):
    """Milliseconds of a step by part, and in all if no program is waited for."""
    clock = Clock()
    watch(clock)
    step = steps_of(network, tier)
    calls = {True: [], False: []}
    start = perf_counter()
    while perf_counter() - start < SECONDS or len(calls[True]) < CALLS:
        clock.is_waiting = not clock.is_waiting
        clock.parts.clear()
        before = perf_counter()
        step()
        calls[clock.is_waiting].append((perf_counter() - before, dict(clock.parts)))
    if tier == "cold":  # nothing is waited for
        calls[True] = calls[False] = calls[True] + calls[False]
    total, _ = mean_of_fastest(calls[False])
    seconds, parts = mean_of_fastest(calls[True])
    own = {part: parts[part] for part in TIERS[tier]}
    left = "operators" if tier == "cold" else "rest"
    own[left] = seconds - sum(value for part, value in own.items() if part != left)
    return own | {"total": total}


def mean_of_fastest(calls):
    """Milliseconds in all, and by part."""
    fastest = sorted(calls, key=lambda call: call[0])[: len(calls) // 5]
    parts = Counter()
    for _, by_part in fastest:
        parts.update(by_part)
    scale = 1e3 / len(fastest)
    return scale * sum(seconds for seconds, _ in fastest), Counter({k: scale * x for k, x in parts.items()})


def measure():
    numbers = {network: {} for network in NETWORKS}
    for _, network, tier in product(range(PROCESSES), NETWORKS, TIERS):
        own = {"MINDGRAD_EAGER": "numpy" if tier == "cold" else "", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--measure", network, tier]
        reply = subprocess.run(command, env=os.environ | own, stdout=subprocess.PIPE, check=True)
        parts = json.loads(reply.stdout.splitlines()[-1])
        print(network, tier, parts, flush=True)
        best = numbers[network].setdefault(tier, parts)
        if parts["total"] < best["total"]:
            numbers[network][tier] = parts
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((x.partition(": ")[2] for x in lines if x.startswith("model name")), platform.machine())
    about = f"{model}, {os.cpu_count()} cores, {datetime.date.today()}"
    (HERE / "eager.json").write_text(json.dumps({"machine": about, "milliseconds": numbers}, indent=1) + "\n")


def draw():
    plt.switch_backend("svg")
    plt.rcParams["svg.hashsalt"] = "mindgrad"
    plt.rcParams["svg.fonttype"] = "none"
    content = json.loads((HERE / "eager.json").read_text())
    colours = {
        "kernels": "tab:blue", "program": "tab:green", "operators": "tab:orange", "derivation": "tab:red",
        "end": "tab:purple", "rest": "tab:gray",
    }  # fmt: skip
    figure, rows = plt.subplots(2, len(NETWORKS), figsize=(9.5, 5.4), layout="constrained")
    for shown, panels in zip((TIERS, ("hot", "jit")), rows, strict=True):
        for axes, (network, by_tier) in zip(panels, content["milliseconds"].items(), strict=True):
            for x, tier in enumerate(shown):
                below = 0.0
                for part in TIERS[tier]:
                    axes.bar(x, by_tier[tier][part], 0.7, below, color=colours[part])
                    below += by_tier[tier][part]
                axes.plot([x - 0.42, x + 0.42], [by_tier[tier]["total"]] * 2, color="black", lw=1.2)
            axes.set(title=network, xticks=range(len(shown)), xticklabels=shown)
            axes.grid(axis="y", alpha=0.3)
        panels[0].set_ylabel("milliseconds for a step")
    labels = {part: name for names in TIERS.values() for part, name in names.items()}
    handles = [plt.Rectangle((0, 0), 1, 1, color=colours[part]) for part in labels]
    handles.append(plt.Line2D([], [], color="black", lw=1.2))
    figure.legend(
        handles,
        [*labels.values(), "total, where no program is waited for"],
        loc="outside lower center",
        ncols=4,
    )
    figure.savefig(HERE / "eager.svg", metadata={"Date": None})


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measured(*sys.argv[2:])))
    else:
        if sys.argv[1:] != ["--draw"]:
            measure()
        draw()
