"""Emission for MindSpore: functions of ``mindspore.ops``.

The emitted programs also run on devices that mindgrad does not support. If MindSpore is not installed,
mindgrad runs them with its own API, which has the same functions.
"""

from __future__ import annotations

import builtins
import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.graph import Constant, Equation
from mindgrad.core.ir.types import TensorType
from mindgrad.inspect.emit.expression import Expression, call
from mindgrad.inspect.emit.mindspore_forms import FORMS
from mindgrad.inspect.emit.mindspore_helpers import HELPERS
from mindgrad.inspect.emit.numpy_target import NumpyTarget

__all__ = ["MindsporeTarget"]

#: Python's import function, which emitted programs call through ``MindsporeTarget.builtins``
_import = builtins.__import__
_PACKAGE = __name__.partition(".")[0]


class MindsporeTarget(NumpyTarget):
    """Rules that convert equations to source text for MindSpore 2.10."""

    language = "mindspore"
    module = "ops"
    header = "import mindspore as ms\nfrom mindspore import ops"
    decorator: str | None = None
    reserved = ("ms",)
    forms = FORMS

    def dtype(self, dtype: DType) -> str:
        """Return the source text of an element type, such as ``ms.float32``."""
        return f"ms.{dtype.identifier}"

    def literal(self, atom: Constant) -> str | None:
        """Return a constant as a Python scalar, or ``None`` if MindSpore would change it."""
        if atom.dtype.is_half or atom.dtype.kind == "complex":
            return None
        if atom.dtype.is_float and np.isfinite(atom.value) and np.float32(atom.value) != atom.value:
            return None  # MindSpore rounds a Python float to float32, even if the other operand is float64
        text = super().literal(atom)
        if text is not None and text.removeprefix("-") in ("ops.nan", "ops.inf"):
            return f'{"-" if text.startswith("-") else ""}float("{text[-3:]}")'
        return text

    def _array_text(self, values: Any, dtype: str) -> str:
        return f"ms.Tensor({values!r}, {dtype})"

    def _host(self, dtype: str) -> str:
        self.definitions.imports["import numpy as np"] = None
        return dtype.replace("ms.", "np.")

    def from_host(self, text: str) -> str:
        """Return source text that converts a NumPy array to a Tensor."""
        return f"ms.Tensor({text})"

    def scalar(self, text: str, type_: TensorType) -> str:
        """Return source text that creates a scalar Tensor."""
        return f"ms.Tensor({text}, {self.dtype(type_.dtype)})"

    def filled(self, text: str, type_: TensorType) -> str:
        """Return source text that creates a Tensor whose elements all equal ``text``."""
        if not type_.shape:
            return self.scalar(text, type_)
        return call("ops.full", repr(type_.shape), text, f"dtype={self.dtype(type_.dtype)}")[0]

    def zeros(self, type_: TensorType) -> str:
        """Return source text that creates a Tensor of zeros."""
        return call("ops.zeros", repr(type_.shape), self.dtype(type_.dtype))[0]

    def rows(self, type_: TensorType) -> str:
        """Return source text for a list to which a loop appends the rows of a Tensor."""
        return "[]" if type_.shape[0] else self.zeros(type_)

    def row(self, name: str, index: str, text: str) -> str:
        """Return a statement that appends the row ``text`` to the list ``name``."""
        return f"{name}.append({text})"

    def stacked(self, name: str, is_reversed: bool) -> str | None:
        """Return a statement that stacks the list ``name`` to a Tensor after a loop."""
        rows = f"{name}[::-1]" if is_reversed else name
        return f"{name} = ops.stack({rows}) if isinstance({name}, list) else {name}"

    def written(self, equation: Equation, operands: Sequence[Expression], result: Any) -> tuple[str, int]:
        """Return source text of the right-hand side of an equation, and its precedence.

        The text is the form of the primitive (``mindspore_forms``), or a call of its helper
        (``mindspore_helpers``).
        """
        primitive = equation.primitive
        form = self.forms.get(primitive.name)
        text = None if form is None or result is None else form(self, operands, result, **equation.parameters)
        if text is not None:
            return text
        helper = HELPERS.get(primitive.name)
        if helper is None:
            self.refuse(equation, "MindSpore has no such operator.")
        function = self.definitions.function(helper, primitive.name)
        static = [f"{k}={v!r}" for k, v in equation.parameters.items()]
        return call(function, "ops", *[self.typed(x) for x in operands], *static)

    def as_input(self, array: np.ndarray) -> Any:
        """Convert an array to a Tensor of MindSpore, or of mindgrad without MindSpore."""
        scope: dict[str, Any] = {"__builtins__": self.builtins() or builtins}
        exec("from mindspore import Tensor", scope)
        return scope["Tensor"](array)

    def loaded(self, text: str) -> str:
        """Return source text that converts ``text``, a loaded NumPy array, to a Tensor."""
        return f"ms.Tensor({text})"

    def builtins(self) -> dict[str, Any] | None:
        """Return builtins with which ``import mindspore`` imports mindgrad.

        An emitted program then runs without MindSpore. The result is ``None`` if MindSpore is installed.
        """
        if importlib.util.find_spec("mindspore") is not None:
            return None

        def imported(name: str, *arguments: Any, **keywords: Any) -> Any:
            top, dot, rest = name.partition(".")
            return _import(_PACKAGE + dot + rest if top == "mindspore" else name, *arguments, **keywords)

        return {**vars(builtins), "__import__": imported}
