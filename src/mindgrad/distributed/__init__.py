"""Computations on several devices and processes: layouts, collectives, and the mesh of processes."""

from mindgrad.distributed import process_mesh  # it compiles graphs with collectives

__all__ = ["process_mesh"]
