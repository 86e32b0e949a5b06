"""Emission for JAX: functions of ``jax.numpy`` and ``jax.lax``.

An operator without such a function calls its lowering: the function of mindgrad that computes it with JAX.
The emitted module contains a copy of the lowering.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mindgrad.backend.jax_import import jax_module
from mindgrad.backend.xla import needs_x64
from mindgrad.emit.expression import call
from mindgrad.emit.jax_control import CONTROL
from mindgrad.emit.numpy_target import NumpyTarget
from mindgrad.ir.dtype import DType
from mindgrad.ir.graph import Equation, Graph

__all__ = ["JaxTarget"]


class JaxTarget(NumpyTarget):
    """Rules that write equations for JAX."""

    language = "jax"
    module = "jnp"
    header = "import jax\nimport jax.numpy as jnp"
    decorator: str | None = "@jax.jit"
    kernel = "xla"
    reserved = ("carry", "cotangents", "slices")
    control = CONTROL
    _is_wide = False

    def dtype(self, dtype: DType) -> str:
        """Write an element type, such as ``jnp.float32``."""
        name = dtype.numpy.name
        return f"jnp.{'bool_' if name == 'bool' else name}"

    def prepare(self, graph: Graph) -> None:
        """Enable 64-bit types in JAX if the graph needs them."""
        self._is_wide = needs_x64(graph)
        if self._is_wide:
            self.header = f'{type(self).header}\n\njax.config.update("jax_enable_x64", True)'

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Return a context manager that enables 64-bit types if the program needs them.

        Afterwards, the JAX settings of the user are restored.
        """
        jax = jax_module()
        before = jax.config.jax_enable_x64
        try:
            with jax.enable_x64(self._is_wide):
                yield
        finally:
            jax.config.update("jax_enable_x64", before)

    def _host(self, dtype: str) -> str:
        self.definitions.imports["import numpy as np"] = None
        return dtype

    def from_host(self, text: str) -> str:
        """Write the conversion of a NumPy array to a JAX array."""
        return f"jnp.asarray({text})"

    def by_kernel(self, equation: Equation, operands: Sequence[str]) -> tuple[str, int]:
        """Write a call of a ``jax.lax`` function, or of the primitive's lowering."""
        lowering = equation.primitive.xla
        if isinstance(lowering, str):
            static = [self.definitions.value(v, k) for k, v in equation.parameters.items()]
            return call(f"jax.lax.{lowering}", *operands, *static)
        return super().by_kernel(equation, ["jax", *operands])
