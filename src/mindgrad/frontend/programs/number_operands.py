"""Number arguments: Python numbers that change between calls become inputs.

    first call                      the number is a constant, like all Python numbers
    later call, different number    the number is an input, if the program only computes with it; then one
                                    program serves all values
    otherwise                       the number stays a constant, and each value has a separate program

A program only computes with a number if it adds, multiplies, compares, or branches on the number, or combines
it with a tensor. A number that is an index, a shape, an axis, or the length of a loop stays a constant. The
following numbers also stay constants:

- a divisor, because Python may raise an error that a program cannot raise;
- an integer whose results may exceed 63 bits;
- a float that is the exponent of a tensor.

NumPy scalars, which ``np.linspace`` and ``np.arange`` return, differ from Python numbers: operators convert
``np.float64`` to Float64 tensors, and functions can distinguish the types. A NumPy scalar becomes an input
only if the resulting program equals the program in which the scalar is a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.core.ir.mutable import MutableFloat, MutableInt, MutableScalar
from mindgrad.core.ir.tensor import Number
from mindgrad.frontend.programs.array_arguments import leaves_as_tensors
from mindgrad.frontend.programs.same_programs import form, is_equal

__all__ = ["Counting", "NumberArguments", "with_operands"]

#: an int argument becomes an input of a program only if its magnitude fits into this number of bits.
#: Otherwise, it is a constant
_BITS = 31
#: maximum number of bits of integers that a program computes from int inputs
_LARGEST = 62
#: types of Python numbers that may become inputs of a program
_KINDS = frozenset([int, float])
#: NumPy scalar types with the precision of Python's float and int
_OF_PYTHONS_PRECISION = frozenset([np.float64, np.int64])
#: NumPy scalar types of lower precision. Operations of Python code on such scalars round or overflow even if
#: no tensor is involved
_OF_OTHER_PRECISIONS = frozenset(
    [np.float32, np.float16, np.int32, np.int16, np.int8, np.uint32, np.uint16, np.uint8]
)
#: a float for which float16, float32, and float64 arithmetic have different results. A trace with this float
#: shows whether a program rounds numbers
_TYPICAL = 0.7310585786300049
_SCALARS = _OF_PYTHONS_PRECISION | _OF_OTHER_PRECISIONS
#: maximum number of call signatures of one function whose number arguments are stored
_MOST = 1024


class NumberArguments:
    """The Python ints and floats in calls that differ only in these numbers.

    Attributes:
        places: the indices of the numbers that are inputs of the program, in the flattened arguments.
    """

    __slots__ = ("_constant", "_scalars", "_values", "places")

    def __init__(self, values: dict[int, int | str], kinds: dict[int, type]) -> None:
        self._values = values
        self._scalars = {place: kind for place, kind in kinds.items() if kind in _SCALARS}
        self._constant: set[int] = set()
        self.places: tuple[int, ...] = ()

    def see(self, values: dict[int, int | str]) -> bool:
        """Compare the numbers of a call with the first call.

        Numbers that differ become inputs, unless they must stay constant.

        Returns:
            Whether there are inputs, and all of them have permitted values.
        """
        changed = {place for place, value in values.items() if self._values[place] != value}
        self.places = tuple(sorted((changed | {*self.places}) - self._constant))
        return bool(self.places) and all(map(_is_in_range, [values[place] for place in self.places]))

    def keep_constant(self) -> None:
        """Treat the numbers that are now inputs as constants in all later calls."""
        self._constant.update(self.places)
        self.places = ()

    def marked(self, key: Any) -> Any:
        """Add the types of NumPy scalars that are inputs to the cache key ``key``.

        A program with a NumPy scalar as an input differs from a program with a Python float.
        """
        if not self._scalars:
            return key
        structure, leaves = key[0]
        scalars = {place: kind for place, kind in self._scalars.items() if place in self.places}
        leaves = tuple([(scalars[k], sig) if k in scalars else sig for k, sig in enumerate(leaves)])
        return ((structure, leaves), *key[1:])

    def typical(self, leaves: Sequence[Any]) -> list[Any]:
        """Replace NumPy floats that are inputs by the number ``_TYPICAL``.

        A trace with this number shows whether the program rounds the float.
        """
        typical: list[Any] = list(leaves)
        for place, kind in self._scalars.items():
            if place in self.places and issubclass(kind, np.floating):
                typical[place] = np.dtype(kind).type(_TYPICAL)
        return typical

    def accepts(
        self, traced: Any, data: Sequence[int], as_constants: Callable[[], tuple[Sequence[Any], Graph]]
    ) -> bool:
        """Return whether the numbers may be inputs of a program without changing results.

        Args:
            traced: the trace in which the numbers are inputs.
            data: the indices of the values that are inputs of the traced graph, in the flattened arguments.
            as_constants: function that traces the call with the :meth:`typical` leaves as constants. It
                returns the leaves and the graph.
        """
        graph = traced.graph
        inputs = {place: graph.inputs[data.index(place)] for place in self.places}
        if not _only_computes(graph, inputs.values()):
            return False
        scalars = {inputs[k]: kind for k, kind in self._scalars.items() if k in inputs}
        if not scalars:
            return True
        if any(isinstance(x, Number) for x in (*traced.results, *traced.outcome.leaves)):
            return False  # a result would be a Python number instead of a NumPy scalar
        others = [x for x, kind in scalars.items() if kind in _OF_OTHER_PRECISIONS]
        if _is_decided_or_rounded(graph, scalars, others):
            return False
        leaves, constant_graph = as_constants()
        values = {x: np.asarray(leaves[k], x.type.dtype.numpy) for k, x in inputs.items()}
        return _is_specialized(graph, values, constant_graph)


def _is_in_range(value: int | str) -> bool:
    """Return whether a number may be an input, by its value.

    ``value`` is an int, or a float as a hexadecimal string. Zero, infinity, and NaN stay constants, because
    the compiler simplifies products with such constants.
    """
    if isinstance(value, str):
        return "p" in value and float.fromhex(value) != 0
    return -(1 << _BITS) <= value < 1 << _BITS


def _is_number(kind: Any) -> bool:
    return isinstance(kind, type) and (kind in _KINDS or kind in _SCALARS)


class Counting:
    """The :class:`NumberArguments` of one function, by call signature.

    Calls share an entry if their signatures differ only in the values of Python numbers.
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Any, NumberArguments] = {}

    def find(self, key: Any) -> NumberArguments | None:
        """Return the entry of a call if some of its numbers are inputs, else ``None``.

        ``key`` is the call signature.
        """
        arguments = key[0]
        if len(arguments) != 2 or type(arguments[1]) is not tuple:  # all arguments are tensors: no numbers
            return None
        structure, leaves = arguments
        kinds = {k: sig[0] for k, sig in enumerate(leaves) if type(sig) is tuple and _is_number(sig[0])}
        if not kinds:
            return None
        values = {k: x if isinstance(x := leaves[k][1], str) else int(x) for k in kinds}
        pattern = (
            structure,
            tuple([sig[0] if k in values else sig for k, sig in enumerate(leaves)]),
            *key[1:],
        )
        counter = self._known.get(pattern)
        if counter is None:
            self._known[pattern] = NumberArguments(values, kinds)
            if len(self._known) > _MOST:
                self._known.pop(next(iter(self._known)))
            return None
        return counter if counter.see(values) else None


def with_operands(args: Any, kwargs: Any, places: Sequence[int]) -> tuple[Any, Any]:
    """Mark the numbers at ``places`` in the flattened arguments as graph inputs."""
    leaves, structure = flatten((args, kwargs))
    leaves = leaves_as_tensors(leaves)
    for place in places:
        leaves[place] = _as_input(leaves[place])
    return unflatten(structure, leaves)


def _as_input(number: Any) -> Any:
    if type(number) is np.float64:
        return MutableScalar(number)
    if isinstance(number, (float, np.floating)):
        return MutableFloat(number)
    return MutableInt(number)


# -- whether a program only computes with its numbers ------------------------------------------------

#: primitives, grouped by the number of bits of their integer results. ``_SUMS``: one bit more than the
#: largest operand. ``_SAME``: as many bits as the largest operand. ``_COMPARISONS``: one bit
_SUMS = frozenset(["add", "sub", "neg", "abs"])
_SAME = frozenset(["convert", "broadcast_in_dim", "reshape", "maximum", "minimum", "select"])
_COMPARISONS = frozenset(
    [
        "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_not", "logical_and",
        "logical_or",
    ]
)  # fmt: skip
#: primitives on tensors that use a number operand only as a value, not as an index or a shape
_OF_TENSORS = frozenset(["concatenate", "cumsum", "dot", "pad", "permute", "reduce_sum", "reverse", "slice"])
#: primitives that run an inner graph or its derivative
_DERIVATIVES = ("recomputed", "per_sample_gradient", "taylor_coefficients")
_QUOTIENTS = frozenset(["div", "floor_div", "mod"])


def _only_computes(graph: Graph, numbers: Iterable[Any]) -> bool:
    """Return whether ``graph`` uses ``numbers`` only in arithmetic that cannot raise."""
    return _bits_of_results(graph, dict.fromkeys(numbers, _BITS)) is not None


def _bits_of_results(graph: Graph, bits: dict[Any, int]) -> dict[Any, int] | None:
    """Return an upper bound on the bits of each number that ``graph`` computes.

    Args:
        graph: the graph.
        bits: upper bound on the number of bits of each input that is a Python number. This function adds the
            computed numbers.

    Returns:
        ``bits``, or ``None`` if a number is used outside arithmetic, or in arithmetic that can raise an
        error.
    """
    for equation in graph.equations:
        name, operands = equation.primitive.name, equation.inputs
        bits_given = [bits.get(x) if type(x) is not Constant else None for x in operands]
        if all(each is None for each in bits_given):
            continue
        if name == "cond":
            result_bits = _of_cond(equation, bits_given)
        elif equation.graphs:
            result_bits = _of_derivative(equation, bits_given)
        else:
            result_bits = _of_operator(equation.primitive, operands, equation.outputs, bits_given)
        if result_bits is None:
            return None
        is_number = result_bits >= 0
        if is_number:
            bits.update((output, result_bits) for output in equation.outputs)
    return bits


#: result of the functions below, in place of a number of bits, if an operator computes a tensor
_TENSOR = -1


def _of_operator(
    primitive: Any, operands: Sequence[Any], outputs: Sequence[Any], bits_given: list[int | None]
) -> int | None:
    name = primitive.name
    if name in _OF_TENSORS:
        return _TENSOR
    is_float = any(g is not None and x.dtype.is_inexact for x, g in zip(operands, bits_given, strict=True))
    if not any(name in each for each in (_SUMS, _SAME, _QUOTIENTS, _COMPARISONS, ("mul", "pow"))):
        is_elementwise = primitive.kind == "elementwise" or primitive.kind.startswith("pointwise")
        if not is_elementwise:
            return None
        if _is_mixed(operands, bits_given):
            return _TENSOR
        return _BITS if is_float and all(y.dtype.is_inexact for y in outputs) else None
    if name == "pow" and bits_given[0] is None and is_float and type(operands[0]) is not Constant:
        return None  # x ** n has exact higher derivatives at x = 0 only if n is a constant
    if _is_mixed(operands, bits_given):
        return _TENSOR
    if name in _COMPARISONS:
        return 1
    if is_float and name in (*_SUMS, *_SAME, "mul"):
        return _BITS if all(y.dtype.is_inexact for y in outputs) else None
    sizes = [_size(x) if g is None else g for x, g in zip(operands, bits_given, strict=True)]
    if name in _QUOTIENTS:
        if bits_given[1] is not None or sizes[1] == 0:
            return None
        result = max(sizes)
    elif name == "pow":
        base = operands[0]
        if bits_given[0] is not None or not 0 < float(np.asarray(base.value)) <= 1:
            return None
        result = 0
    elif name == "mul":
        result = sum(sizes)
    else:
        result = max(sizes) + (name in _SUMS)
    return result if result <= _LARGEST else None


def _is_mixed(operands: Sequence[Any], bits_given: list[int | None]) -> bool:
    """Return whether some operands are Python numbers and others are tensors."""
    return any(g is None and type(x) is not Constant for x, g in zip(operands, bits_given, strict=True))


def _size(constant: Any) -> int:
    """Return the number of bits of the largest element of a constant.

    If an element is not finite, the result exceeds ``_LARGEST``, so that the caller rejects the constant.
    """
    largest = float(np.max(np.abs(np.asarray(constant.value, np.float64)), initial=0.0))
    return int(largest).bit_length() + (largest > int(largest)) if np.isfinite(largest) else _LARGEST + 1


def _of_derivative(equation: Any, bits_given: list[int | None]) -> int | None:
    """Return ``_TENSOR`` if a derivative's inner graph only computes with its numbers.

    Otherwise, return ``None``. The first operands of the equation must be the inputs of its inner graph, and
    no other operand may be a number.
    """
    if equation.primitive.name not in _DERIVATIVES or len(equation.graphs) != 1:
        return None
    (graph,) = equation.graphs.values()
    count = len(graph.inputs)
    are_inputs = [x.type for x in graph.inputs] == [x.type for x in equation.inputs[:count]]
    if not are_inputs or any(g is not None for g in bits_given[count:]):
        return None
    inner = {x: g for x, g in zip(graph.inputs, bits_given, strict=False) if g is not None}
    return None if _bits_of_results(graph, inner) is None else _TENSOR


def _of_cond(equation: Any, bits_given: list[int | None]) -> int | None:
    """Return an upper bound on the number of bits of the results of a ``cond``.

    The result is ``None`` if a branch uses a number outside arithmetic, or in arithmetic that can raise an
    error.
    """
    largest = _TENSOR
    for graph in equation.graphs.values():
        inner = {x: g for x, g in zip(graph.inputs, bits_given[1:], strict=True) if g is not None}
        inner_bits = _bits_of_results(graph, inner)
        if inner_bits is None:
            return None
        largest = max(
            [largest, *[inner_bits.get(x, _TENSOR) for x in graph.outputs if type(x) is not Constant]]
        )
        constants = [_size(x) for x in graph.outputs if type(x) is Constant]
        largest = max([largest, *constants])
    return largest if largest <= _LARGEST else None


# -- NumPy scalars ----------------------------------------------------------------------------------

#: primitives that only change the dtype or shape of a number
_CONVERSIONS = frozenset(["convert", "broadcast_in_dim", "reshape"])


def _is_decided_or_rounded(graph: Graph, scalars: Iterable[Any], others: Iterable[Any]) -> bool:
    """Return whether NumPy scalars decide a branch, or the graph rounds some of them.

    Args:
        graph: the graph of a trace with the scalars as inputs.
        scalars: the inputs that are NumPy scalars. They decide a branch if the predicate of a ``cond``
            depends only on scalars and constants.
        others: the scalars whose precision is lower than the precision of Python numbers. They are rounded if
            the operands of an operator, other than a conversion, are only such scalars and constants.
    """
    fixed_atoms, rounded = {*scalars}, {*others}
    for equation in graph.equations:
        name, operands = equation.primitive.name, equation.inputs
        if name == "cond" and operands[0] in fixed_atoms:
            return True
        for inner in equation.graphs.values():
            pairs = [*zip(inner.inputs, operands[name == "cond" :], strict=False)]
            of_known, of_rounded = [[x for x, y in pairs if y in group] for group in (fixed_atoms, rounded)]
            if _is_decided_or_rounded(inner, of_known, of_rounded):
                return True
        if all(type(x) is Constant or x in fixed_atoms for x in operands):
            fixed_atoms.update(equation.outputs)
            meets_array = any(type(x) is Constant and x.type.size != 1 for x in operands)
            if not rounded.isdisjoint(operands) and not meets_array:
                if name not in _CONVERSIONS:
                    return True
                rounded.update(equation.outputs)
    return False


def _is_specialized(general: Graph, constants: Mapping[Variable, np.ndarray], special: Graph) -> bool:
    """Return whether ``general``, with ``constants`` as inputs, equals ``special``."""
    return _are_equal(_folded(general, constants), _folded(special, {}))


def _folded(graph: Graph, constants: Mapping[Variable, Any]) -> Graph:
    builder = Builder()
    with building(builder):
        inputs = [
            builder.constant(constants[x]) if x in constants else builder.input(x.type, tainted=x.tainted)
            for x in graph.inputs
        ]
        return builder.close(builder.inline(graph, inputs))


def _are_equal(first: Graph, second: Graph) -> bool:
    """Return whether two graphs are equal, regardless of where constants are stored.

    A constant operand of a branch or derivative equals the same constant inside the inner graph.
    """
    values = dict(zip(first.inputs, second.inputs, strict=False))

    def is_same(x: Any, y: Any) -> bool:
        if type(x) is Variable or type(y) is Variable:
            return values.get(x) is y
        return is_equal(x, y)

    if (len(first), len(first.inputs)) != (len(second), len(second.inputs)):
        return False
    for e, f in zip(first.equations, second.equations, strict=True):
        if e.primitive is not f.primitive or len(e.outputs) != len(f.outputs):
            return False
        operands: list[Sequence[Any]] = [e.inputs, f.inputs]
        if e.primitive.name in (*_DERIVATIVES, "cond"):
            (graphs, operands[0]), (others, operands[1]) = map(_absorbed, (e, f))
            if _plain(e) != _plain(f) or not all(map(_are_equal, graphs, others)):
                return False
        elif form(e) != form(f):
            return False
        if len(operands[0]) != len(operands[1]) or not all(map(is_same, *operands)):
            return False
        values.update(zip(e.outputs, f.outputs, strict=True))
    are_as_many = len(first.outputs) == len(second.outputs)
    return are_as_many and all(map(is_same, first.outputs, second.outputs))


def _plain(equation: Equation) -> dict[str, Any]:
    return {name: x for name, x in equation.parameters.items() if name not in equation.graphs}


def _absorbed(equation: Equation) -> tuple[list[Graph], list[Any]]:
    """Substitute the constant operands of an equation into its inner graphs.

    Returns:
        The new graphs, and the remaining operands.
    """
    name = equation.primitive.name
    start = int(name == "cond")
    graphs, operands = list(equation.graphs.values()), equation.inputs
    end = start + len(graphs[0].inputs)
    folded = []
    for graph in graphs:
        pairs = zip(graph.inputs, operands[start:end], strict=True)
        folded.append(_folded(graph, {x: y.array() for x, y in pairs if type(y) is Constant}))
    inner = [x for x in operands[start:end] if type(x) is not Constant]
    return folded, [*operands[:start], *inner, *operands[end:]]
