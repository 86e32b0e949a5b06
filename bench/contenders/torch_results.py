"""How a PyTorch program runs and where, and how its results are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from job import Job

_IS_CUDA = os.environ.get("BENCH_DEVICE") == "gpu"
if _IS_CUDA:  # before a tensor is made
    torch.set_default_device("cuda")


def wait(result: object) -> None:
    """Until the card is done. On a CPU PyTorch has computed what it returns."""
    if _IS_CUDA:
        torch.cuda.synchronize()


def arrays(result: Iterable[torch.Tensor]) -> list[np.ndarray]:
    """The tensors of a result."""
    return [tensor.numpy(force=True) for tensor in result]


def job(function: Callable[..., torch.Tensor], *arguments: Any) -> Job:
    """Calls of the function with these arguments."""
    return Job(lambda: function(*arguments), wait, lambda result: arrays((result,)))


def gradient(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The gradient of a number in the first argument."""

    def derive(x: torch.Tensor, *others: Any) -> torch.Tensor:
        return torch.autograd.grad(function(x, *others), x)[0]

    return derive
