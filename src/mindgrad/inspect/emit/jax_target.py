"""Emission for JAX: functions of ``jax.numpy`` and ``jax.lax``.

If neither module has a function for an operator, the emitted program calls the *lowering* of the operator:
the function with which mindgrad computes the operator in JAX. The emitted module contains a copy of the
lowering.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.backend.xla import needs_x64
from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.graph import Equation, Graph
from mindgrad.inspect.emit.expression import call
from mindgrad.inspect.emit.jax_control import CONTROL
from mindgrad.inspect.emit.numpy_target import NumpyTarget

__all__ = ["JaxTarget"]


class JaxTarget(NumpyTarget):
    """Rules that convert equations to source text for JAX."""

    language = "jax"
    module = "jnp"
    header = "import jax\nimport jax.numpy as jnp"
    decorator: str | None = "@jax.jit"
    kernel = "xla"
    reserved = ("carry", "cotangents", "slices")
    control = CONTROL
    _is_wide = False

    def dtype(self, dtype: DType) -> str:
        """Return the source text of an element type, such as ``jnp.float32``."""
        name = dtype.numpy.name
        return f"jnp.{'bool_' if name == 'bool' else name}"

    def prepare(self, graph: Graph) -> None:
        """Enable 64-bit types in the emitted program if ``graph`` requires them."""
        self._is_wide = needs_x64(graph)
        if self._is_wide:
            self.header = f'{type(self).header}\n\njax.config.update("jax_enable_x64", True)'

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Return a context manager that enables 64-bit types if the program requires them.

        When it ends, the user's JAX settings are restored.
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
        """Return source text that converts a NumPy array to a JAX array."""
        return f"jnp.asarray({text})"

    def by_kernel(self, equation: Equation, operands: Sequence[str]) -> tuple[str, int]:
        """Return source text that calls ``jax.lax`` or the XLA rule of the primitive."""
        lowering = equation.primitive.xla
        if isinstance(lowering, str):
            static = [self.definitions.value(v, k) for k, v in equation.parameters.items()]
            return call(f"jax.lax.{lowering}", *operands, *static)
        return super().by_kernel(equation, ["jax", *operands])
