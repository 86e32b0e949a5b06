"""Open axes: axes whose size may vary, and emission of a program for other sizes.

An axis is *open* if one program serves several of its sizes. The program is compiled for a larger size,
called the *capacity*, and receives the actual size as an operand (``frontend.programs.open_sizes``).

The index map of an equation (``ir.index_map``) states which axes of its operands and results have equal
sizes. If an axis of an input is open, all axes that must have the same size are open, too. Elements beyond
the actual size are padding, and have arbitrary values. Therefore, an operator may use an open axis in only
two ways:

- in parallel, so that it does not mix padding with other elements; or
- in a reduction, which reads its neutral element, such as 0 for a sum, instead of padding.

Any other use of an open axis raises :class:`NotOpen`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from mindgrad.core.ir.build import Builder
from mindgrad.core.ir.graph import Constant, Equation, Graph, Variable
from mindgrad.core.ir.types import Shape, tensor_type
from mindgrad.core.primitives.arithmetic import mul, select
from mindgrad.core.primitives.comparisons import less
from mindgrad.core.primitives.kinds import full
from mindgrad.core.primitives.padding import (
    is_common,
    keeps_apart,
    neutral_element,
    padded_map,
    resized_parameters,
)
from mindgrad.core.primitives.structural import broadcast_in_dim, iota, reshape

__all__ = ["NotOpen", "Open", "OpenAxes", "Opens", "Sizes", "shape_at"]

#: maps each symbol to a size. A symbol is an int that identifies an open size of the inputs
Sizes = Mapping[int, int]


class Open(NamedTuple):
    """An open size: ``factor`` times the size of ``symbol``.

    For example, an axis that merges two axes of sizes n and 3 has the factor 3.
    """

    symbol: int
    factor: int


#: for each axis of one array, its open size, or ``None`` if its size is fixed
Opens = tuple[Open | None, ...]


class NotOpen(Exception):
    """Raised if a program cannot be compiled for an open size.

    Args:
        equation: the equation that requires a fixed size, or ``None`` if no single equation is the cause.
    """

    def __init__(self, equation: Equation | None = None) -> None:
        super().__init__(equation)
        self.equation = equation


def shape_at(shape: Shape, opens: Opens, sizes: Sizes) -> Shape:
    """Return ``shape``, in which the open axes have the sizes given by ``sizes``."""
    return tuple([n if o is None else o.factor * sizes[o.symbol] for n, o in zip(shape, opens, strict=True)])


class _Classes:
    """Sets of axes that must have equal sizes, as a union-find structure.

    An int identifies each axis. A set is open, fixed, or not yet determined. If a set becomes both open and
    fixed, ``NotOpen`` is raised.
    """

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self._parents: list[int] = []
        self._opens: dict[int, Open] = {}
        self._fixed: set[int] = set()
        self._symbols: dict[int, int] = {}

    def add(self) -> int:
        self._parents.append(len(self._parents))
        return len(self._parents) - 1

    def root(self, axis: int) -> int:
        while self._parents[axis] != axis:
            self._parents[axis] = self._parents[self._parents[axis]]
            axis = self._parents[axis]
        return axis

    def symbol(self, symbol: int) -> int:
        """Return the symbol that represents all symbols merged with ``symbol``.

        Symbols are merged if an equation requires equal sizes of their axes, such as the addition of two
        inputs.
        """
        while symbol in self._symbols:
            symbol = self._symbols[symbol]
        return symbol

    def open_size(self, axis: int) -> Open | None:
        found = self._opens.get(self.root(axis))
        return None if found is None else Open(self.symbol(found.symbol), found.factor)

    def open(self, axis: int, size: Open, equation: Equation | None = None) -> None:
        root, before = self.root(axis), self.open_size(axis)
        if before is None:
            self._opens[root] = size
        elif before.factor != size.factor or self.sizes[before.symbol] != self.sizes[size.symbol]:
            raise NotOpen(equation)
        elif before.symbol != self.symbol(size.symbol):
            self._symbols[self.symbol(size.symbol)] = before.symbol
        self._check(root, equation)

    def fix(self, axis: int, equation: Equation | None = None) -> None:
        root = self.root(axis)
        self._fixed.add(root)
        self._check(root, equation)

    def join(self, axes: Sequence[int], equation: Equation) -> None:
        first = self.root(axes[0])
        for axis in axes[1:]:
            root = self.root(axis)
            if root == first:
                continue
            self._parents[root] = first
            if root in self._fixed:
                self._fixed.add(first)
            if root in self._opens:
                self.open(first, self._opens[root], equation)
            self._check(first, equation)

    def _check(self, root: int, equation: Equation | None) -> None:
        if root in self._fixed and root in self._opens:
            raise NotOpen(equation)


class OpenAxes:
    """The open axes of a program, found by comparing its traces for two sets of sizes.

    Args:
        graph: the graph of the first trace.
        sizes: the size of each symbol in the first trace.
        other: the graph of the second trace.
        other_sizes: the size of each symbol in the second trace.
        inputs: for each argument, the open size of each axis, or ``None`` for a fixed size. All other inputs
            of the graph, such as Parameters, have fixed sizes.

    Attributes:
        inputs: for each input of the graph, the open size of each axis.
        outputs: for each result, the open size of each axis.

    Raises:
        NotOpen: If an equation requires a fixed size, or the two graphs have different equations.
    """

    def __init__(
        self, graph: Graph, sizes: Sizes, other: Graph, other_sizes: Sizes, inputs: Sequence[Opens]
    ) -> None:
        # unrelated axes may have equal sizes in one trace, for example an open size 67 and a fixed width 67.
        # Their sizes differ in the second trace, so that the index maps of the two traces differ
        for e, f in zip(graph.equations, other.equations, strict=False):
            if e.primitive is not f.primitive or padded_map(e) != padded_map(f):
                raise NotOpen(e)
        if len(graph.inputs) != len(other.inputs) or len(graph) != len(other):
            raise NotOpen
        if len(graph.outputs) != len(other.outputs):
            raise NotOpen
        self.graph = graph
        self._classes = _Classes(sizes)
        self._axes: dict[Any, list[int]] = {}
        self._differing: list[tuple[int, int, int]] = []
        for k, (x, y) in enumerate(zip(graph.inputs, other.inputs, strict=True)):
            for axis, node in enumerate(self._nodes(x, y)):
                size = inputs[k][axis] if k < len(inputs) else None
                if size is None:
                    self._classes.fix(node)
                else:
                    self._classes.open(node, size)
        operands, results = [], []
        for e, f in zip(graph.equations, other.equations, strict=True):
            operands.append(list(map(self._nodes, e.inputs, f.inputs)))
            results.append(list(map(self._nodes, e.outputs, f.outputs)))
            self._relate(e, operands[-1], results[-1])
        operands.append(list(map(self._nodes, graph.outputs, other.outputs)))
        self._open_others(other_sizes)
        self._operands = [list(map(self._opens, each)) for each in operands]
        self._results = [list(map(self._opens, each)) for each in results]
        self.inputs = [self._opens(self._axes[x]) for x in graph.inputs]
        self.outputs = self._operands[-1]

    def _open_others(self, other_sizes: Sizes) -> None:
        """Open axes of new arrays, such as zeros, whose sizes differ between the traces.

        Such a size must be the same multiple of one symbol in both traces.
        """
        for node, size, other in self._differing:
            if self._classes.open_size(node) is None:
                for symbol, n in self._classes.sizes.items():
                    factor = size // n
                    if (factor * n, factor * other_sizes[symbol]) == (size, other):
                        self._classes.open(node, Open(self.symbol(symbol), factor))
                        break

    def symbol(self, symbol: int) -> int:
        """Return the symbol that represents all symbols merged with ``symbol``."""
        return self._classes.symbol(symbol)

    def opens_at(self, place: tuple[int, int]) -> Opens:
        """Return the open sizes of the operand at ``(equation index, operand index)``."""
        return self._operands[place[0]][place[1]]

    def _opens(self, nodes: Sequence[int]) -> Opens:
        return tuple(map(self._classes.open_size, nodes))

    def _nodes(self, atom: Any, other: Any) -> list[int]:
        """Return the ints that identify the axes of ``atom``; create them if needed.

        Each use of a constant has new identifiers, because different uses may require different sizes.

        Args:
            atom: a variable or constant of the first graph.
            other: the corresponding variable or constant of the second graph.
        """
        if atom in self._axes:
            return self._axes[atom]
        if len(atom.shape) != len(other.shape):
            raise NotOpen
        nodes = [self._classes.add() for _ in atom.shape]
        differing = [each for each in zip(nodes, atom.shape, other.shape, strict=True) if each[1] != each[2]]
        self._differing += differing
        if type(atom) is Variable:
            self._axes[atom] = nodes
        return nodes

    def _relate(self, equation: Equation, operands: list[list[int]], results: list[list[int]]) -> None:
        if equation.primitive is iota:
            return
        axes, classes = padded_map(equation), self._classes
        if axes is None:
            for node in [node for nodes in (*operands, *results) for node in nodes]:
                classes.fix(node, equation)
            return
        merged = self._merged(equation, operands, results) if equation.primitive is reshape else ()
        together: dict[int, list[int]] = {}
        for labels, nodes in zip((*axes.operands, *axes.results), (*operands, *results), strict=True):
            for label, node in zip(labels, nodes, strict=True):
                together.setdefault(label, []).append(node)
        for label, nodes in together.items():
            if keeps_apart(equation, axes.kind(label)):
                classes.join(nodes, equation)
            elif is_common(equation, axes.kind(label)):
                # ``is_common`` states that the axis contains only elements that exist for every open size, so
                # the size of the axis is fixed
                classes.fix(nodes[1], equation)
            else:
                for node in nodes:
                    if node not in merged:
                        classes.fix(node, equation)

    def _merged(
        self, equation: Equation, operands: list[list[int]], results: list[list[int]]
    ) -> Sequence[int]:
        """Open the first result axis of a reshape that merges or splits an open axis.

        For example, a reshape of (n, 3) to (3n,) opens the result axis. Only the first axis whose size is not
        1 may be open.

        Returns:
            The identifiers of this axis in the operand and in the result, or ``()`` if the reshape neither
            merges nor splits an open axis.
        """
        old, new = equation.inputs[0].shape, equation.outputs[0].shape
        first, other = [next((k for k, n in enumerate(s) if n != 1), None) for s in (old, new)]
        if first is None or other is None or old[first] == new[other]:
            return ()
        size = self._classes.open_size(operands[0][first])
        if size is None or new[other] % self._classes.sizes[size.symbol]:
            return ()
        factor = new[other] // self._classes.sizes[size.symbol]
        self._classes.open(results[0][other], Open(size.symbol, factor), equation)
        return operands[0][first], results[0][other]

    def emitted(
        self,
        builder: Builder,
        inputs: Sequence[Any],
        sizes: Sizes,
        constants: Mapping[tuple[int, int], Any],
        counts: Mapping[int, Any] | None = None,
    ) -> list[Any]:
        """Emit the program for other sizes.

        Args:
            builder: the current builder.
            inputs: for each input of the program, its variable or constant in ``builder``.
            sizes: maps each symbol to its size in the emitted program.
            constants: maps the position (equation index, operand index) of a constant to the variable or
                constant that replaces it.
            counts: maps each symbol to a scalar variable with the actual size. Elements with this index or a
                higher index are padding. By default, no element is padding.

        Returns:
            The variables or constants of the results.

        Raises:
            NotOpen: If an equation cannot be emitted for these sizes.
        """
        values: dict[Any, Any] = dict(zip(self.graph.inputs, inputs, strict=True))

        def operand(index: int, position: int, atom: Any) -> Any:
            if type(atom) is Variable:
                return values[atom]
            if (index, position) in constants:
                return constants[index, position]
            shape = shape_at(atom.shape, self._operands[index][position], sizes)
            if shape == atom.shape:
                return atom
            if not atom.is_splat:
                raise NotOpen(self.graph.equations[index] if index < len(self.graph) else None)
            return Constant(atom.value, atom.type.with_shape(shape))

        for index, equation in enumerate(self.graph.equations):
            operands = [operand(index, k, x) for k, x in enumerate(equation.inputs)]
            if counts:
                operands = self._masked(index, operands, counts)
            changed = self._parameters(index, sizes)
            try:
                results = builder.emit_again(equation, operands, **changed)
            except (TypeError, ValueError) as error:
                raise NotOpen(equation) from error
            for y, new, opens in zip(equation.outputs, results, self._results[index], strict=True):
                if new.shape != shape_at(y.shape, opens, sizes):
                    raise NotOpen(equation)
                values[y] = new
        return [operand(len(self.graph), k, y) for k, y in enumerate(self.graph.outputs)]

    def _parameters(self, index: int, sizes: Sizes) -> dict[str, Any]:
        """Return the parameters of an equation that must change for ``sizes``, as a dict."""
        equation = self.graph.equations[index]
        axes = padded_map(equation)
        results = [] if axes is None else axes.results
        sides = (*(() if axes is None else axes.operands), *results)
        opens = (*self._operands[index], *self._results[index])
        if not any(map(any, opens)):
            return {}
        labels = zip(chain.from_iterable(sides), chain.from_iterable(opens), strict=False)
        changed = {label: o.factor * sizes[o.symbol] for label, o in labels if o is not None}
        shape = shape_at(equation.outputs[0].shape, self._results[index][0], sizes)
        parameters = resized_parameters(equation, changed, shape)
        if parameters is None:
            raise NotOpen(equation)
        return dict(parameters) if parameters != equation.parameters else {}

    def _masked(self, index: int, operands: list[Any], counts: Mapping[int, Any]) -> list[Any]:
        """Replace padding that an equation reduces by the reduction's neutral element."""
        equation, axes = self.graph.equations[index], padded_map(self.graph.equations[index])
        if axes is None:
            return operands
        masked = list(operands)
        for k, labels in enumerate(axes.operands):
            for axis, (label, size) in enumerate(zip(labels, self._operands[index][k], strict=True)):
                if size is None:
                    continue
                neutral = neutral_element(equation, k, axes.kind(label))
                if neutral is not None:
                    masked[k] = _mask(masked[k], axis, size, counts[size.symbol], neutral)
        return masked


def _mask(x: Any, axis: int, size: Open, count: Any, neutral: Any) -> Any:
    number = x.shape[axis]
    if number >= 1 << 31:
        raise NotOpen
    vector = tensor_type("int32", (number,))
    limit = mul(count, full(count.type, size.factor)) if size.factor > 1 else count
    is_real = less(
        iota(shape=(number,), axis=0, dtype=vector.dtype), broadcast_in_dim(limit, shape=(number,), dims=())
    )
    is_real = broadcast_in_dim(is_real, shape=x.shape, dims=(axis,))
    return select(is_real, x, full(x.type, neutral))
