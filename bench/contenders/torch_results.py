"""How a PyTorch program runs, and how its results are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from job import Job


def arrays(result: tuple[torch.Tensor, ...]) -> list[np.ndarray]:
    """The tensors of a result."""
    return [tensor.detach().numpy() for tensor in result]


def job(function: Callable[..., torch.Tensor], *arguments: Any) -> Job:
    """Calls of the function with these arguments, which are done when they return."""
    return Job(lambda: function(*arguments), lambda result: None, lambda result: [result.detach().numpy()])


def gradient(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The gradient of a number in the first argument."""

    def derive(x: torch.Tensor, *others: Any) -> torch.Tensor:
        return torch.autograd.grad(function(x, *others), x)[0]

    return derive
