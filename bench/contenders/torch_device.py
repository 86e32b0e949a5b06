"""The device that PyTorch computes on, chosen before a tensor is made, and the wait for it."""

from __future__ import annotations

import os

import torch

_IS_CUDA = os.environ.get("BENCH_DEVICE") == "gpu"
if _IS_CUDA:
    torch.set_default_device("cuda")


def wait(result: object) -> None:
    """Until the card is done. On a CPU PyTorch has computed what it returns."""
    if _IS_CUDA:
        torch.cuda.synchronize()
