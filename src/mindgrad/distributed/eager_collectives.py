"""Run collectives of eager mode immediately, in the order of the Python calls.

Each collective is compiled separately. It is neither deferred nor compiled in the background together with
other operators. Background compilation takes a different time on each rank (process of the job), so the ranks
would run collectives in different orders and wait for each other forever.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mindgrad.core.backend.executable import Executable
from mindgrad.core.backend.xla import compile_ahead
from mindgrad.core.base.location import user_location
from mindgrad.core.ir import kernels, settings
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.types import TensorType, type_of

__all__ = ["forget_programs", "run_collective"]


def run_collective(primitive: Primitive, array: Any, parameters: dict[str, Any]) -> Any:
    """Run a collective, and return the result of this rank.

    The result is a NumPy array if eager operators run on the host.

    Args:
        primitive: the collective to run (``distributed.collectives``).
        array: operand of this rank.
        parameters: parameters of ``primitive``, such as its ranks.
    """
    device = (settings.options["device_target"], settings.options["device_id"])
    executable = _program(primitive, tuple(parameters.items()), type_of(array), device)
    result = executable.run([array], [], executable.extra)[0]
    return np.asarray(result) if kernels.runs_on_host else result


def forget_programs() -> None:
    """Discard all compiled collectives, because the set of processes has changed."""
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
