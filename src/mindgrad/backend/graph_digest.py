"""Digests of graphs are names of their programs in the compile cache that need no lowering.

    digest(a) = digest(b)  ⟹  a and b are lowered to the same program

The digest is a SHA-256 of all that lowering reads of a graph: the types of its inputs, its equations with
operands by number, parameters with their types, numbers by their bits, constants by content or, where they
become operands (``backend.xla``), by shape; of an operator the name and the function for XLA; the cost model;
and the source of the rooms that lower, so that an edited package never loads what it lowered before.
Variables, source lines and addresses do not take part: equal programs of two processes have one digest.

There is none for a graph with a parameter of a type that is not listed here, with an operator whose function
was not defined in these rooms (a row of the user's), or of a package whose source was changed after it was
loaded or is not there. Such programs are known by their text.
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

from mindgrad._base.location import PACKAGE
from mindgrad._base.source import unchanged_source
from mindgrad.backend.executable import GraphProgram
from mindgrad.ir.cost_model import costs
from mindgrad.ir.dtype import DType
from mindgrad.ir.graph import Constant, Graph, Variable, all_equations
from mindgrad.ir.primitive import Primitive
from mindgrad.ir.types import TensorType

__all__ = ["ROOMS", "digest"]

#: rooms whose code decides how a graph is lowered: that of the back end, and those that it may import
ROOMS = ("_base", "ir", "rows", "transforms", "control", "optimize", "backend")
#: the format of ``marshal`` that writes floats by their bits and no references between equal objects
_FORMAT = 2
#: types that ``marshal`` writes by their values
_PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None)})


class _Unknown(Exception):
    """Something in a graph is not known by its value."""


def digest(program: GraphProgram) -> bytes | None:
    """The digest of a program; ``None``: it has none."""
    equations = program.graph.equations
    source = _source()
    if source is None or any(equation.primitive.communicates for equation in all_equations(equations)):
        return None
    operands = {constant: number for number, constant in enumerate(program.hoisted)}
    try:
        content = (
            source,
            np.__version__,  # which computes constants of some functions
            repr(costs()),
            tuple([(_type(x.type), x.value.dtype.str, x.smallest().shape) for x in program.hoisted]),
            tuple(program.donated),
            _Encoder(operands).graph(program.graph),
        )
        return hashlib.sha256(marshal.dumps(content, _FORMAT)).digest()
    except _Unknown:
        return None


class _Encoder:
    """Writes a graph as tuples of plain values, of which equal ones come from equal graphs only.

    A plain value stands for itself. All others are tuples that begin with the name of their type.
    """

    def __init__(self, hoisted: Mapping[Constant, int]) -> None:
        self._hoisted = hoisted
        self._rows: dict[Primitive, int] = {}

    def graph(self, graph: Graph) -> tuple[Any, ...]:
        """A graph: its variables counted from 0, its constants, described behind them, down from -1."""
        numbers: dict[Any, int] = {v: k for k, v in enumerate(graph.inputs)}
        constants: list[Any] = []
        lines: list[Any] = []

        def number(atom: Any) -> int:
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
        """An operator: described where it first occurs, then by number."""
        if primitive in self._rows:
            return self._rows[primitive]
        self._rows[primitive] = len(self._rows)
        is_control = primitive.kind == "control"
        return primitive.name, is_control, primitive.multiple, self.value(primitive.xla)

    def value(self, value: Any) -> Any:
        """A parameter, or a part of one.

        Raises:
            _Unknown: it is of a type that is not listed here.
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
        """A function of the rooms whose source is part of the digest, with what it is closed over."""
        code = function.__code__
        if not code.co_filename.startswith(_folders()):
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


def _array(array: Any) -> tuple[Any, ...]:
    if array.dtype.hasobject:
        raise _Unknown
    return type(array).__name__, array.dtype.name, array.dtype.str, array.shape, array.tobytes()


def _code(code: CodeType) -> tuple[Any, ...]:
    return code.co_firstlineno, code.co_code, code.co_names


@lru_cache(maxsize=1)
def _folders() -> tuple[str, ...]:
    return tuple([os.path.join(PACKAGE, room, "") for room in ROOMS])


@lru_cache(maxsize=1)
def _source() -> bytes | None:
    """A digest of the source of the rooms that lower; ``None`` if it cannot be told."""
    files = unchanged_source(ROOMS)
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
