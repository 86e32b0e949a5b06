"""Computations on several devices and processes: layouts and collectives."""

from mindgrad.core.base.source import LOWERING
from mindgrad.distributed import process_mesh  # compiles graphs with collectives

__all__ = ["process_mesh"]

LOWERING.append("distributed")
