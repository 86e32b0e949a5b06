"""The time of a program's second start: in new processes without the compile cache, with an empty one, and
with the one that was just filled.

python bench/second_start.py               the first step of a neural ODE
python bench/second_start.py script.py …   a program of yours
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NEURAL_ODE = """
import numpy as np
import mindgrad as ms
from mindgrad import Tensor, nn

ms.set_seed(1)
net = nn.SequentialCell(nn.Dense(2, 32), nn.Tanh(), nn.Dense(32, 2))
start, times = Tensor(np.ones((8, 2), np.float32)), Tensor(np.linspace(0.0, 1.0, 11).astype(np.float32))

def loss():
    return (ms.odeint(lambda y, t: net(y), start, times) ** 2).mean()

value, gradients = ms.jit(ms.value_and_grad(loss, None, net.trainable_params()))()
assert abs(value.item() - 0.943883) < 1e-4, value
"""


def main() -> None:
    program = sys.argv[1:] or ["-c", NEURAL_ODE]
    with tempfile.TemporaryDirectory(prefix="second-start-") as folder:
        for name, cache in (("without", ""), ("empty cache", folder), ("second start", folder)):
            environment = {**os.environ, "MINDGRAD_CACHE_DIR": cache}
            start = time.perf_counter()
            subprocess.run([sys.executable, "-m", "mindgrad", *program], env=environment, check=True)
            seconds = time.perf_counter() - start
            size = sum(file.stat().st_size for file in Path(folder).iterdir())
            print(f"{name:14} {seconds:6.1f} s   {size / 1024:8.0f} KiB on disk", flush=True)


if __name__ == "__main__":
    main()
