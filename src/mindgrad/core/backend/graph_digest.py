"""Digests of graphs: keys of the compile cache that do not require lowering.

    digest(a) = digest(b)  ⟹  a and b are lowered to the same computation

The digest is the SHA-256 hash of everything that lowering reads:

- the types of the inputs
- the equations: numbers of the operands, and parameters with their types
- the name and the XLA rule of each operator
- the content of each constant, or its shape if the constant becomes an operand (``backend.xla``)
- the cost model
- the source code of the packages that determine lowering. If such a package is edited, old cache entries are
  no longer found.

The digest does not depend on the identity of variables, on source lines, or on memory addresses. Therefore
equal graphs in two processes have equal digests.

A graph has no digest if it has collectives, a parameter of an unsupported type, or an operator whose XLA rule
is defined outside the packages that determine lowering. No graph has a digest if the source code is missing
or was changed after it was loaded. The cache identifies such graphs by their lowered text.
"""

from __future__ import annotations

import hashlib
import marshal
import os
from collections.abc import Mapping
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from mindgrad.core.backend.executable import GraphProgram
from mindgrad.core.base._cpython import byte_code
from mindgrad.core.base.location import PACKAGE
from mindgrad.core.base.source import LOWERING, unchanged_source
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.graph import Atom, Constant, Graph, Variable, all_equations
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Array
from mindgrad.core.ir.types import TensorType

__all__ = ["digest"]

#: version of the ``marshal`` format. Version 2 writes floats in binary and does not replace repeated objects
#: by references, so equal graphs have equal bytes
_FORMAT = 2
#: types of values that ``marshal`` writes completely
_PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None)})


class _Unknown(Exception):
    """Raised if a parameter or constant of a graph cannot be encoded by its value."""


def digest(program: GraphProgram) -> bytes | None:
    """Return the digest of a graph; ``None`` if the graph cannot be encoded."""
    equations = program.graph.equations
    source = _source(tuple(LOWERING))
    if source is None or any(equation.primitive.communicates for equation in all_equations(equations)):
        return None
    operands = {constant: number for number, constant in enumerate(program.hoisted)}
    try:
        content = (
            source,
            np.__version__,  # some lowering rules contain constants computed by NumPy
            repr(costs()),
            tuple([(_type(x.type), x.value.dtype.str, x.smallest().shape) for x in program.hoisted]),
            tuple(program.donated),
            _Encoder(operands).graph(program.graph),
        )
        return hashlib.sha256(marshal.dumps(content, _FORMAT)).digest()
    except _Unknown:
        return None


class _Encoder:
    """Encoder of graphs. It returns nested tuples of plain values for ``marshal``.

    Different graphs have different encodings. A plain value, such as an int, is encoded as itself. Every
    other value becomes a tuple that starts with the name of its type.
    """

    def __init__(self, hoisted: Mapping[Constant, int]) -> None:
        self._hoisted = hoisted
        self._rows: dict[Primitive, int] = {}
        self._folders = tuple([os.path.join(PACKAGE, package, "") for package in LOWERING])

    def graph(self, graph: Graph) -> tuple[Any, ...]:
        """Encode a graph, with variables numbered from 0 up and constants from -1 down."""
        numbers: dict[Any, int] = {v: k for k, v in enumerate(graph.inputs)}
        constants: list[Any] = []
        lines: list[Any] = []

        def number(atom: Atom) -> int:
            if atom not in numbers:
                if type(atom) is Variable:
                    raise _Unknown
                constants.append(self._constant(atom))
                numbers[atom] = -len(constants)
            return numbers[atom]

        count = len(graph.inputs)
        for equation in graph.equations:
            operands = tuple([number(atom) for atom in equation.inputs])
            parameters = tuple([(name, self.value(x)) for name, x in equation.parameters.items()])
            lines.append((self._row(equation.primitive), operands, parameters, len(equation.outputs)))
            for y in equation.outputs:
                numbers[y] = count
                count += 1
        inputs = tuple([_type(v.type) for v in graph.inputs])
        outputs = tuple([number(atom) for atom in graph.outputs])
        return "graph", inputs, tuple(lines), outputs, tuple(constants)

    def _constant(self, atom: Constant) -> tuple[Any, ...]:
        operand = self._hoisted.get(atom)
        if operand is not None:
            return "operand", operand
        return "constant", _type(atom.type), atom.is_splat, self.value(atom.smallest())

    def _row(self, primitive: Primitive) -> Any:
        """Encode an operator in full at its first occurrence, and later by its number."""
        if primitive in self._rows:
            return self._rows[primitive]
        self._rows[primitive] = len(self._rows)
        is_control = primitive.kind == "control"
        return primitive.name, is_control, primitive.multiple, self.value(primitive.xla)

    def value(self, value: Any) -> Any:
        """Encode a parameter of an equation, or a part of a parameter.

        Raises:
            _Unknown: If its type is not supported.
        """
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is tuple or kind is list:
            return kind.__name__, *map(self.value, value)
        if kind is Graph:
            return self.graph(value)
        if kind is DType:
            return "DType", value.identifier
        if kind is TensorType:
            return "TensorType", _type(value)
        if kind is dict:
            return "dict", *[(self.value(name), self.value(x)) for name, x in value.items()]
        if kind is slice or kind is range:
            return kind.__name__, *map(self.value, (value.start, value.stop, value.step))
        if kind is Constant:
            return self._constant(value)
        if kind is np.ndarray or isinstance(value, np.generic):
            return _array(value)
        if kind is FunctionType:
            return self._function(value)
        if value is Ellipsis:
            return ("Ellipsis",)
        raise _Unknown

    def _function(self, function: FunctionType) -> tuple[Any, ...]:
        """Encode a function with its closure and its defaults."""
        code = function.__code__
        if not code.co_filename.startswith(self._folders):
            raise _Unknown
        return (
            "function",
            function.__module__,
            function.__qualname__,
            *_code(code),
            tuple([self.value(cell.cell_contents) for cell in function.__closure__ or ()]),
            self.value(function.__defaults__),
            self.value(function.__kwdefaults__),
        )


def _type(type_: TensorType) -> tuple[Any, ...]:
    return type_.dtype.identifier, type_.shape


def _array(array: Array) -> tuple[Any, ...]:
    if array.dtype.hasobject:
        raise _Unknown
    return type(array).__name__, array.dtype.name, array.dtype.str, array.shape, array.tobytes()


def _code(code: CodeType) -> tuple[Any, ...]:
    return code.co_firstlineno, byte_code(code), code.co_names


@lru_cache(maxsize=1)
def _source(packages: tuple[str, ...]) -> bytes | None:
    """Return a digest of the source code of ``packages``.

    Returns ``None`` if the source code is missing or was changed after it was loaded.
    """
    files = unchanged_source(packages)
    if files is None:
        return None
    contents = []
    try:
        for file in files:
            with open(file, "rb", buffering=0) as opened:
                contents.append((file.removeprefix(PACKAGE), opened.read()))
    except OSError:
        return None
    return hashlib.sha256(marshal.dumps(contents, _FORMAT)).digest()
