"""Compiled ahead of time: one executable per program, from the disk where it was compiled before.

    executable.run(arrays, given, extra) = the program's results, on the device

``given`` are donated: their memory becomes that of results, and they cannot be used any more. A call
needs no setting of jax: the element types and the device are part of the executable.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from mindgrad.backend.options import compiled_with

__all__ = ["Executable", "ahead", "array_type", "copy_on_device"]


class Executable:
    """A compiled program.

    Attributes:
        run: ``run(arrays, given, extra)`` on jax arrays; a list of jax arrays.
        extra: the large constants of the program, on the device.
    """

    __slots__ = ("extra", "run")

    def __init__(self, run: Callable[..., Any], extra: Sequence[Any], has_effect: bool = False) -> None:
        self.extra = extra
        self.run = _to_end(run) if has_effect else run


def _to_end(run: Callable[..., Any]) -> Callable[..., Any]:
    """``run``, with what the program prints printed when the call returns."""
    jax: Any = importlib.import_module("jax")

    def wait(*operands: Any) -> Any:
        results = run(*operands)
        jax.effects_barrier()
        return results

    return wait


def ahead(
    function: Callable[..., Any],
    shapes: Sequence[Sequence[Any]],
    wide: bool,
    device: Any,
    is_kept: bool,
    options: Mapping[str, str],
) -> Callable[..., Any]:
    """Compile ``function(arrays, given, extra)`` for operands of these shapes.

    Args:
        function: gives a list of arrays.
        shapes: ``jax.ShapeDtypeStruct`` of the three groups of operands.
        wide: whether it holds 64-bit types.
        device: the jax device that it runs on; ``None``: jax's default.
        is_kept: whether it may be kept on disk: not if it calls back into this process.
        options: what XLA's compiler is told (``backend.options``).
    """
    from mindgrad.backend import disk  # with it come modules that importing mindgrad need not wait for

    jax: Any = importlib.import_module("jax")
    with jax.enable_x64(wide), jax.default_device(device or jax.config.jax_default_device):
        lowered = jax.jit(function, donate_argnums=(1,)).lower(*shapes)
        return disk.compiled(lowered, device, options) if is_kept else compiled_with(lowered, options)


@lru_cache(maxsize=1)
def array_type() -> type:
    """The type of jax's arrays, as programs give them."""
    jax: Any = importlib.import_module("jax")
    return type(jax.device_put(0.0))


def copy_on_device(array: Any) -> Any:
    """A copy of a jax array, in its own element type whatever jax's settings."""
    jax: Any = importlib.import_module("jax")
    with jax.enable_x64(True):
        return array.copy()
