"""All-reduces of one message between processes: its time over its bytes, and the line through the times.

    mindgrad launch --workers 2 bench/all_reduce.py

Process 0 prints a line of JSON with the bytes, the fewest and the median seconds of each size, and the
latency and the bandwidth of ``cost_model`` that the fewest of them give.
"""

from __future__ import annotations

import json
import time
from statistics import median

import cost_model
import numpy as np

import mindgrad as ms
from mindgrad import ops
from mindgrad.communication import get_group_size, get_rank, init

SIZES = (1, 256, 4096, 65_536, 262_144, 1_048_576, 4_194_304)
CALLS = 40


def measured(size: int) -> tuple[float, float]:
    """The fewest and the median seconds of an all-reduce of ``size`` numbers of four bytes."""
    reduce = ms.jit(lambda x: ops.AllReduce()(x))
    x = ms.Tensor(np.ones(size, np.float32))
    seconds = []
    for _ in range(CALLS + 1):
        begin = time.perf_counter()
        reduce(x).asnumpy()
        seconds.append(time.perf_counter() - begin)
    return min(seconds[1:]), median(seconds[1:])


def main() -> None:
    """Measure all sizes; process 0 prints."""
    init()
    rows = [(4 * size, *measured(size)) for size in SIZES]
    network = cost_model.fitted(get_group_size(), [(size, fewest) for size, fewest, _ in rows])
    if get_rank() == 0:
        print(json.dumps({"messages": rows, **network._asdict()}), flush=True)


if __name__ == "__main__":
    main()
