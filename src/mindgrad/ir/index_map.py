"""An index map labels the axes of an equation's operands and results, and tells how elements meet along each.

    y[…, i at l, …] depends on x[…, j at l, …] only for j = i          l is parallel
                                    for every j, and y has no axis l    l is reduced
                                    for the j before i, and i           l is ordered
                                    for j in a window around i          l is windowed
                                    for any j                           l is opaque

Axes of operands and of results that have one label run together: those of a batch, the contracted ones of a
product. A row gives the map of its equations by its ``axes`` (``rows.axes`` has the common ones), and with it
the parameters of the same operator on operands whose axes stand in another order, have other sizes along
parallel labels, or have labels more (a batch). For programs it is used in ``transforms.axis_propagation``,
``optimize.batch_region``, ``optimize.tiling`` and ``optimize.layout``.

The name is MLIR's (``linalg`` indexing maps and iterator types), without its arithmetic of indices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mindgrad.ir.types import Shape

__all__ = [
    "OPAQUE", "ORDERED", "PARALLEL", "REDUCED", "UNIFORM", "WINDOWED", "Arrangement", "Axes",
    "IndexMap", "Labels", "Relabelling", "Uniform", "index_map", "label_sizes", "relabelled", "repetition",
]  # fmt: skip

PARALLEL, REDUCED, ORDERED, WINDOWED, OPAQUE = "parallel", "reduced", "ordered", "windowed", "opaque"

#: a label for each axis
Labels = tuple[int, ...]


class IndexMap(NamedTuple):
    """The axes of one equation.

    Attributes:
        operands: for each operand the labels of its axes.
        results: for each result the labels of its axes; some only results have (repetition).
        kinds: how elements meet along the labels that are not parallel.
    """

    operands: tuple[Labels, ...]
    results: tuple[Labels, ...]
    kinds: Mapping[int, str] = {}

    def kind(self, label: int) -> str:
        """The kind of ``label``."""
        return self.kinds.get(label, PARALLEL)

    def through(self, operand: int, index: int, axis: int) -> int | None:
        """The axis of result ``index`` that carries ``axis`` of an operand; ``None`` where none does."""
        label = self.operands[operand][axis]
        if label in self.kinds or label not in self.results[index]:
            return None
        return self.results[index].index(label)


class Arrangement(NamedTuple):
    """An equation's axes in other places.

    Attributes:
        operands: for each operand its labels in their new order; parallel labels may be new ones.
        results: for each result its labels in the order that would serve best.
        sizes: the size of every label; of parallel ones it may be another than before.
        parameters: those of the equation as it is.
    """

    operands: Sequence[Labels]
    results: Sequence[Labels]
    sizes: Mapping[int, int]
    parameters: Mapping[str, Any]


class Relabelling(NamedTuple):
    """An operator on operands whose axes stand otherwise.

    Attributes:
        parameters: those of the equation.
        results: for each result the labels of its axes.
        swaps: whether the two operands are exchanged (a product).
    """

    parameters: dict[str, Any]
    results: tuple[Labels, ...]
    swaps: bool = False


class Axes:
    """The treatment of axes by an operator; rows have one as ``axes``."""

    #: whether :meth:`preferred` can give an order
    prefers: bool = False

    def index_map(self, shapes: Sequence[Shape], parameters: Mapping[str, Any]) -> IndexMap:
        """The map of an equation on operands of these shapes."""
        raise NotImplementedError

    def relabelled(self, old: IndexMap, new: Arrangement) -> Relabelling | None:
        """The operator on operands whose axes stand as ``new`` says; ``None`` where it has no such form.

        Args:
            old: the map of the equation as it is.
            new: where the axes stand.
        """
        return Relabelling(dict(new.parameters), old.results) if tuple(new.operands) == old.operands else None

    def preferred(self, axes: IndexMap, parameters: Mapping[str, Any]) -> tuple[Labels, ...] | None:
        """The labels of the operands in the order that kernels for CPUs take; ``None``: in any.

        Args:
            axes: the map of the equation.
            parameters: those of the equation.
        """
        return None


class Uniform(Axes):
    """Axes of a pointwise operator: those of all operands and of the result run together."""

    def index_map(self, shapes: Sequence[Shape], parameters: Mapping[str, Any]) -> IndexMap:
        labels = tuple(range(len(shapes[0]))) if shapes else ()
        return IndexMap((labels,) * len(shapes), (labels,))

    def relabelled(self, old: IndexMap, new: Arrangement) -> Relabelling | None:
        if any(labels != new.operands[0] for labels in new.operands):
            return None
        return Relabelling(dict(new.parameters), (new.operands[0],))


#: that of every pointwise row
UNIFORM = Uniform()


def index_map(equation: Any) -> IndexMap | None:
    """The map of ``equation``; ``None`` where its row gives none: then all elements may meet.

    >>> from mindgrad.ir.build import Builder, building
    >>> from mindgrad.ir.types import tensor_type
    >>> from mindgrad.rows.reduction import reduce_sum
    >>> with building(Builder()) as builder:
    ...     y = reduce_sum(builder.input(tensor_type("float32", (4, 3, 2))), axes=(1,))
    >>> print(index_map(y.made_by))
    IndexMap(operands=((0, 1, 2),), results=((0, 2),), kinds={1: 'reduced'})
    """
    axes = equation.primitive.axes
    return None if axes is None else axes.index_map([x.shape for x in equation.inputs], equation.parameters)


def repetition(atom: Any) -> tuple[Any, Labels] | None:
    """The value that ``atom`` repeats along further axes, and the axes that it has there.

    >>> from mindgrad.ir.build import Builder, building
    >>> from mindgrad.ir.types import tensor_type
    >>> from mindgrad.rows.structural import broadcast_in_dim
    >>> with building(Builder()) as builder:
    ...     x = builder.input(tensor_type("float32", (3,)))
    ...     value, dims = repetition(broadcast_in_dim(x, shape=(2, 3), dims=(1,)))
    >>> value is x, dims
    (True, (1,))
    """
    equation = getattr(atom, "made_by", None)
    if equation is None or not equation.primitive.moves or len(equation.inputs) != 1:
        return None
    axes = index_map(equation)
    if axes is None or len(axes.results) > 1 or axes.kinds:
        return None
    (labels,), (result,) = axes.operands, axes.results
    if len(result) == len(labels) or not set(labels) <= set(result):
        return None
    dims = tuple([result.index(label) for label in labels])
    return (equation.inputs[0], dims) if list(dims) == sorted(dims) else None


def label_sizes(equation: Any, axes: IndexMap) -> dict[int, int]:
    """The size of every label in the map of ``equation``; any of a windowed one, along which they differ."""
    sizes: dict[int, int] = {}
    for values, sides in ((equation.outputs, axes.results), (equation.inputs, axes.operands)):
        for value, labels in zip(values, sides, strict=True):
            sizes.update(zip(labels, value.shape, strict=True))
    return sizes


def relabelled(
    equation: Any,
    axes: IndexMap,
    operands: Sequence[Labels],
    results: Sequence[Labels],
    sizes: Mapping[int, int] | None = None,
) -> Relabelling | None:
    """The operator of ``equation``, whose map is ``axes``, on operands whose axes stand otherwise.

    Args:
        equation: the equation.
        axes: its map.
        operands: for each operand its labels in their new order; parallel labels may be new ones.
        results: for each result its labels in the order that would serve best.
        sizes: the size of every label that is new, or has another size than before.

    Returns:
        The parameters, and the order of the results; ``None`` where the operator has no such form.
    """
    new = Arrangement(
        operands, results, {**label_sizes(equation, axes), **(sizes or {})}, equation.parameters
    )
    return equation.primitive.axes.relabelled(axes, new)
