"""Eager collectives run at once, each as a program of its own, in the order in which Python calls them.

They are not deferred and take no part in what eager mode compiles on the side: that depends on time, which
ranks do not share.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mindgrad._base.location import user_location
from mindgrad.backend.executable import Executable
from mindgrad.backend.xla import compile_ahead
from mindgrad.ir import settings
from mindgrad.ir.build import Builder, building
from mindgrad.ir.kernels import runs_on_host
from mindgrad.ir.primitive import Primitive
from mindgrad.ir.types import TensorType, type_of

__all__ = ["forget_programs", "run_collective"]


def run_collective(primitive: Primitive, array: Any, parameters: dict[str, Any]) -> Any:
    """This rank's result of a collective; an array of NumPy's where eager kernels are NumPy's.

    Args:
        primitive: a row of ``rows.collectives``.
        array: this rank's array.
        parameters: those of the row.
    """
    device = (settings.options["device_target"], settings.options["device_id"])
    executable = _program(primitive, tuple(parameters.items()), type_of(array), device)
    result = executable.run([array], [], executable.extra)[0]
    return np.asarray(result) if runs_on_host() else result


def forget_programs() -> None:
    """Forget all programs: processes have come or gone."""
    _program.cache_clear()


@lru_cache(maxsize=1024)
def _program(
    primitive: Primitive, parameters: tuple[tuple[str, Any], ...], type_: TensorType, device: Any
) -> Executable:
    builder = Builder()
    builder.source = user_location()
    x = builder.input(type_)
    with building(builder):
        y = primitive(x, **dict(parameters))
    return compile_ahead(builder.close([y]))
