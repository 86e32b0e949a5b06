"""Emission for jax: rows as functions of ``jax.numpy`` and ``jax.lax``, or as their own lowerings."""

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
    """The rules by which equations are written for jax."""

    language = "jax"
    module = "jnp"
    header = "import jax\nimport jax.numpy as jnp"
    decorator: str | None = "@jax.jit"
    kernel = "xla"
    reserved = ("carry", "cotangents", "slices")
    control = CONTROL
    _is_wide = False

    def dtype(self, dtype: DType) -> str:
        """An element type."""
        name = dtype.numpy.name
        return f"jnp.{'bool_' if name == 'bool' else name}"

    def prepare(self, graph: Graph) -> None:
        """Let jax compute with 64 bits where the program does."""
        self._is_wide = needs_x64(graph)
        if self._is_wide:
            self.header = f'{type(self).header}\n\njax.config.update("jax_enable_x64", True)'

    @contextmanager
    def scope(self) -> Iterator[None]:
        """The settings of jax that the program makes, in this thread and while it runs."""
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
        """An array of NumPy as one of jax."""
        return f"jnp.asarray({text})"

    def by_kernel(self, equation: Equation, operands: Sequence[str]) -> tuple[str, int]:
        """A function of ``jax.lax``, or the row's own lowering, which the module defines."""
        lowering = equation.primitive.xla
        if isinstance(lowering, str):
            static = [self.definitions.value(v, k) for k, v in equation.parameters.items()]
            return call(f"jax.lax.{lowering}", *operands, *static)
        return super().by_kernel(equation, ["jax", *operands])
