"""Emission for NumPy: NumPy functions, or calls of the kernels of primitives.

:class:`NumpyTarget` is also the base class of the rules for JAX and MindSpore. The *kernel* of a primitive is
the function with which mindgrad computes it in NumPy. Methods that *write* something return source text.
"""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NoReturn

import numpy as np

from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.graph import Constant, DerivativeOf, Equation, Graph
from mindgrad.core.ir.types import TensorType
from mindgrad.inspect.emit.array_forms import FORMS, SEVERAL
from mindgrad.inspect.emit.expression import Expression, call
from mindgrad.inspect.emit.kernel_source import Definitions
from mindgrad.inspect.emit.python_control import CONTROL

__all__ = ["NumpyTarget"]

#: a constant with more elements than this becomes an argument of the emitted program
_LARGEST_TEXT = 256
#: a constant with more elements than this is encoded in base 85. Smaller constants are written as lists
_FEW = 12


class NumpyTarget:
    """Rules that write equations for NumPy.

    Attributes:
        definitions: imports and definitions that precede the function in the module.
        inputs: maps names to constants that are too large for the source text. They are arguments of the
            function.
    """

    #: value of the argument ``emit`` of ``mindgrad.source`` that selects this class
    language = "numpy"
    module = "np"
    header = "import numpy as np"
    decorator: str | None = '@np.errstate(all="ignore")'
    kernel = "numpy"
    #: names that the rules for control flow use. Variables must not have these names
    reserved: tuple[str, ...] = ()
    forms = FORMS
    control = CONTROL

    def __init__(self) -> None:
        self.definitions = Definitions({self.module, "np", "jax"})
        self.inputs: dict[str, np.ndarray] = {}
        self._arrays: dict[Any, str] = {}

    def prepare(self, graph: Graph) -> None:
        """Prepare to emit ``graph``. Subclasses override this method."""

    def scope(self) -> AbstractContextManager[Any]:
        """Return a context manager with the settings that the emitted program requires."""
        return nullcontext()

    # -- values ---------------------------------------------------------------------------------

    def dtype(self, dtype: DType) -> str:
        """Return the source text of an element type, such as ``np.float32``."""
        name = dtype.numpy.name
        if dtype.numpy.kind == "V":
            self.definitions.imports["import ml_dtypes"] = None
            return f"ml_dtypes.{name}"
        return f"{self.module}.{'bool_' if name == 'bool' else name}"

    def literal(self, atom: Constant) -> str | None:
        """Return source text of a constant with equal elements, as a Python scalar.

        In an operation, NumPy converts the scalar to the element type of the array operand. The result is
        ``None`` if Python has no scalar with this value.
        """
        if atom.dtype.numpy.kind == "V":
            return None
        number = atom.value.item()
        if isinstance(number, float):
            if np.isnan(number):
                return f"{self.module}.nan"
            if np.isinf(number):
                return f"{self.module}.inf" if number > 0 else f"-{self.module}.inf"
            shortest = str(atom.value[()])
            return shortest if float(shortest) == number or atom.dtype.itemsize < 8 else repr(number)
        return repr(number)

    def array(self, atom: Constant) -> str:
        """Return the name of a constant in the emitted program.

        A small constant is defined in the module. A large constant is an argument of the function.
        """
        key = (atom.type, atom.array().tobytes())
        if key not in self._arrays:
            self._arrays[key] = self._defined(atom)
        return self._arrays[key]

    def _defined(self, atom: Constant) -> str:
        value, dtype = atom.value, self.dtype(atom.dtype)
        if value.size > _LARGEST_TEXT:
            name = self.definitions.fresh("constant")
            self.inputs[name] = np.ascontiguousarray(atom.array())
            return name
        name = self.definitions.fresh("constant")
        if not value.size:
            text = self.zeros(atom.type)
        elif value.size <= _FEW and value.dtype.kind != "V" and np.isfinite(value).all():
            text = self._array_text(value.tolist(), dtype)
        else:
            self.definitions.imports["import base64"] = None
            coded = textwrap.wrap(base64.b85encode(np.ascontiguousarray(value).tobytes()).decode(), 88)
            lines = "\n    ".join(map(repr, coded)) or "''"
            decoded = f"base64.b85decode(\n    {lines}\n)"
            text = self.from_host(f"np.frombuffer({decoded}, {self._host(dtype)}).reshape({value.shape})")
        if value.size and value.shape != atom.shape:
            text = self.spread(text, atom.type)
        self.definitions.add(name, f"{name} = {text}")
        return name

    def _array_text(self, values: Any, dtype: str) -> str:
        return f"{self.module}.array({values!r}, {dtype})"

    def as_input(self, array: np.ndarray) -> Any:
        """Convert an array to an argument of the emitted program."""
        return array

    def loaded(self, text: str) -> str:
        """Return source text that converts ``text``, a NumPy array loaded from a file.

        It is converted to an array of the library.
        """
        return text

    def builtins(self) -> dict[str, Any] | None:
        """Return the builtins for the emitted module, or ``None`` for Python's builtins."""
        return None

    def _host(self, dtype: str) -> str:
        return dtype

    def from_host(self, text: str) -> str:
        """Return source text that converts a NumPy array to an array of the library."""
        return text

    def scalar(self, text: str, type_: TensorType) -> str:
        """Return source text of a typed scalar, such as ``np.float32(2.0)``."""
        return f"{self.dtype(type_.dtype)}({text})"

    def filled(self, text: str, type_: TensorType) -> str:
        """Return source text that creates an array whose elements all equal ``text``."""
        if not type_.shape:
            return self.scalar(text, type_)
        return call(f"{self.module}.full", repr(type_.shape), text, self.dtype(type_.dtype))[0]

    def spread(self, text: str, type_: TensorType) -> str:
        """Return source text that broadcasts ``text`` to the shape of ``type_``."""
        return call(f"{self.module}.broadcast_to", text, repr(type_.shape))[0]

    def zeros(self, type_: TensorType) -> str:
        """Return source text that creates an array of zeros."""
        return call(f"{self.module}.zeros", repr(type_.shape), self.dtype(type_.dtype))[0]

    def rows(self, type_: TensorType) -> str:
        """Return source text that creates an array whose rows a loop assigns."""
        return call(f"{self.module}.empty", repr(type_.shape), self.dtype(type_.dtype))[0]

    def row(self, name: str, index: str, text: str) -> str:
        """Return the statement ``name[index] = text``, which stores a row of an array."""
        return f"{name}[{index}] = {text}"

    def stacked(self, name: str, is_reversed: bool) -> str | None:
        """Return a statement that stacks the rows in ``name`` to an array after a loop.

        The result is ``None`` if no statement is needed, because the loop has already assigned the rows of an
        array.
        """
        return None

    def wrapped(self, text: str) -> str:
        """Return source text of the right-hand side of an assignment of ``text``."""
        return text

    # -- equations ------------------------------------------------------------------------------

    def written(self, equation: Equation, operands: Sequence[Expression], result: Any) -> tuple[str, int]:
        """Return source text of the right-hand side of an equation, and its precedence.

        The text is the form of the primitive (``array_forms``), a NumPy ufunc, or a call of the kernel.
        """
        primitive = equation.primitive
        if result is not None:
            form = self.forms.get(primitive.name)
            text = None if form is None else form(self, operands, result, **equation.parameters)
            if text is not None:
                return text
            if isinstance(primitive.numpy, np.ufunc):
                return call(f"{self.module}.{primitive.numpy.__name__}", *[x.text for x in operands])
        return self.by_kernel(equation, [self.typed(x) for x in operands])

    def typed(self, x: Expression) -> str:
        """Return source text of ``x`` as an array with the shape and dtype of its type.

        Kernels require such operands.
        """
        if x.is_literal:
            return self.filled(x.text, x.type)
        return self.spread(x.text, x.type) if x.is_spread else x.text

    def by_kernel(self, equation: Equation, operands: Sequence[str]) -> tuple[str, int]:
        """Return source text that calls the kernel of a primitive.

        The definition of the kernel is added to the emitted module.
        """
        primitive = equation.primitive
        try:
            function = self.definitions.function(getattr(primitive, self.kernel), primitive.name)
        except TypeError as error:
            self.refuse(equation, str(error))
        return call(function, *operands, *self.parameters(equation))

    def parameters(self, equation: Equation) -> list[str]:
        """Return the static parameters of a kernel as keyword arguments."""
        return [f"{k}={self.definitions.value(v, k)}" for k, v in equation.parameters.items()]

    def several(self, equation: Equation, operands: Sequence[Expression]) -> list[str] | None:
        """Return source text for each result of a primitive that has several results.

        For example, the results of ``unstack`` are ``x[0]`` and ``x[1]``. The result is ``None`` for
        primitives without such a form.
        """
        form = SEVERAL.get(equation.primitive.name)
        return None if form is None else form(operands, len(equation.outputs))

    def refuse(self, equation: Equation, reason: str) -> NoReturn:
        """Raise the error for an equation that cannot be emitted for the library.

        Raises:
            NotImplementedError: Always.
        """
        source = equation.source
        where = "" if source is None else f" (line {source[1]} of {source[0]})"
        whose = "the derivative of " if isinstance(source, DerivativeOf) else ""
        raise NotImplementedError(
            f"For 'source', {whose}the operator '{equation.primitive.name}'{where} cannot be written for "
            f"{self.language}: {reason} Choose another 'emit', or remove this operator from the function."
        )
