"""How a MindSpore program runs, and how its results are awaited and read."""

from __future__ import annotations

from collections.abc import Callable

import mindspore as ms
import numpy as np
from job import Job
from mindspore import Tensor

MODES = {"graph": ms.GRAPH_MODE, "eager": ms.PYNATIVE_MODE}


def arrays(result: Tensor | tuple) -> list[np.ndarray]:
    """The tensors of a result, in order."""
    if isinstance(result, (tuple, list)):
        return [array for part in result for array in arrays(part)]
    return [result.asnumpy()]


def wait_for_all(result: Tensor | tuple) -> None:
    """Ask for the numbers of every tensor, as peers are awaited: without a copy if the library needs none."""
    if isinstance(result, (tuple, list)):
        for part in result:
            wait_for_all(part)
    else:
        np.asarray(result)


def wait_for_one(result: Tensor | tuple) -> None:
    """Ask for those of the last tensor: what one compiled program returns is there at once."""
    while isinstance(result, (tuple, list)):
        result = result[-1]
    np.asarray(result)


def waits(variant: str) -> Callable[[Tensor | tuple], None]:
    """How to wait in the mode of this variant."""
    return wait_for_one if variant.startswith("graph") else wait_for_all


def job(variant: str, function: Callable[..., Tensor | tuple], *arguments: Tensor) -> Job:
    """Calls of the function with these arguments."""
    return Job(lambda: function(*arguments), waits(variant), arrays, program=(function, *arguments))
