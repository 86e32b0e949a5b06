"""Primitives whose parameters are graphs: branches, loops, custom derivatives."""

from mindgrad.core.control import (
    cond,
    custom,
    debug_print,
    hook,
    scan,
    taylor_coefficients,
    while_,
    while_pullback,
)

__all__ = [
    "cond",
    "custom",
    "debug_print",
    "hook",
    "scan",
    "taylor_coefficients",
    "while_",
    "while_pullback",
]
