"""Index maps: labels that state which axes of operands and results correspond.

The labels are like the letters in the notation of einsum: ``ij,jk->ik`` has the labels i, j, k. Axes with the
same label correspond to each other, such as the batch axes or the contracted axes of a product. The *kind* of
a label l states which elements of an operand x affect the element of the result y with index i along l:

    parallel    only the element of x with index j = i along l
    reduced     all elements of x along l; the result has no axis l
    ordered     the elements of x with j ≤ i (or j ≥ i), as in a cumulative sum. The Boolean parameter
                ``reverse`` of the operator, if it has one, selects the direction
    windowed    the elements of x with j in a window around i, as in a convolution
    opaque      possibly any elements of x

The field ``axes`` of a primitive is an object of class :class:`Axes`. It returns the index map of an
equation. It also converts the parameters of the operator if the axes of the operands are permuted, have other
sizes along parallel labels, or have additional labels (a batch axis). ``primitives.axes`` contains the common
classes. ``transforms.axis_propagation``, ``passes.batch_region``, ``passes.tiling``, and
``passes.layout`` use index maps.

The name comes from the indexing maps and iterator types of MLIR's ``linalg``. Unlike MLIR's maps, these index
maps do not contain index arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mindgrad.core.ir.rules import Statics
from mindgrad.core.ir.types import Shape

if TYPE_CHECKING:
    from mindgrad.core.ir.graph import Atom, Equation

__all__ = [
    "KINDS", "OPAQUE", "ORDERED", "PARALLEL", "REDUCED", "UNIFORM", "WINDOWED", "Arrangement", "Axes",
    "IndexMap", "Labels", "Relabeling", "Uniform", "index_map", "label_sizes", "relabeled", "repetition",
]  # fmt: skip

KINDS = PARALLEL, REDUCED, ORDERED, WINDOWED, OPAQUE = "parallel", "reduced", "ordered", "windowed", "opaque"

#: one label for each axis of an array. Axes of operands and results with equal labels are indexed together
Labels = tuple[int, ...]


class IndexMap(NamedTuple):
    """The index map of one equation: which axes of operands and results correspond.

    Attributes:
        operands: for each operand, the labels of its axes.
        results: for each result, the labels of its axes. A broadcast adds labels that no operand has.
        kinds: dict from each label that is not parallel to its kind.
    """

    operands: tuple[Labels, ...]
    results: tuple[Labels, ...]
    kinds: Mapping[int, str] = {}

    def kind(self, label: int) -> str:
        """Return the kind of ``label``, such as ``PARALLEL``."""
        return self.kinds.get(label, PARALLEL)

    def through(self, operand: int, index: int, axis: int) -> int | None:
        """Return the axis of result ``index`` that corresponds to ``axis`` of ``operand``.

        Returns ``None`` if the label of the axis is not parallel, or is not in the result.
        """
        label = self.operands[operand][axis]
        if label in self.kinds or label not in self.results[index]:
            return None
        return self.results[index].index(label)


class Arrangement(NamedTuple):
    """A request to apply an operator to operands with another order of axes.

    Attributes:
        operands: for each operand, the labels of its axes in the new order. There may be additional parallel
            labels.
        results: for each result, the labels of its axes in the preferred order.
        sizes: dict that maps every label to the size of its axes. Sizes of parallel labels may differ from
            the sizes in the equation.
        parameters: the parameters of the equation with the old order of axes.
    """

    operands: Sequence[Labels]
    results: Sequence[Labels]
    sizes: Mapping[int, int]
    parameters: Statics


class Relabeling(NamedTuple):
    """How to apply an operator to the reordered operands of an :class:`Arrangement`.

    Attributes:
        parameters: the parameters of the new equation.
        results: for each result of the new equation, the labels of its axes.
        swaps: whether the two operands of a product must be exchanged.
    """

    parameters: Statics
    results: tuple[Labels, ...]
    swaps: bool = False


class Axes:
    """Base class of the field ``axes`` of primitives, which creates index maps."""

    #: whether :meth:`preferred` can return an order of axes. If not, it always returns ``None``
    prefers: bool = False

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        """Return the index map of an equation with operands of the given shapes."""
        raise NotImplementedError

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        """Return how to apply the operator to operands with reordered axes.

        Returns ``None`` if the operator does not support these axes.

        Args:
            old: the index map of the present equation.
            new: the requested order of the axes.
        """
        return Relabeling(dict(new.parameters), old.results) if tuple(new.operands) == old.operands else None

    def preferred(self, axes: IndexMap, parameters: Statics) -> tuple[Labels, ...] | None:
        """Return, for each operand, the axis order that is fastest on CPUs.

        Returns ``None`` if no order is preferred.

        Args:
            axes: the index map of the equation.
            parameters: the parameters of the equation.
        """
        return None


class Uniform(Axes):
    """Axes of a pointwise operator: all operands and the result have the same labels."""

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        labels = tuple(range(len(shapes[0]))) if shapes else ()
        return IndexMap((labels,) * len(shapes), (labels,))

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        if any(labels != new.operands[0] for labels in new.operands):
            return None
        return Relabeling(dict(new.parameters), (new.operands[0],))


#: value of the field ``axes`` of all pointwise primitives
UNIFORM = Uniform()


def index_map(equation: Equation) -> IndexMap | None:
    """Return the index map of ``equation``; ``None`` if its primitive has no ``axes``.

    >>> from mindgrad.core.ir.build import Builder, building
    >>> from mindgrad.core.ir.types import tensor_type
    >>> from mindgrad.core.primitives.reduction import reduce_sum
    >>> with building(Builder()) as builder:
    ...     y = reduce_sum(builder.input(tensor_type("float32", (4, 3, 2))), axes=(1,))
    >>> print(index_map(y.made_by))
    IndexMap(operands=((0, 1, 2),), results=((0, 2),), kinds={1: 'reduced'})
    """
    axes, parameters = equation.primitive.axes, equation.parameters
    try:
        return None if axes is None else axes.index_map([x.shape for x in equation.inputs], parameters)
    except KeyError as error:
        raise TypeError(
            f"the 'axes' of the operator '{equation.primitive.name}' read the parameter {error}, but the "
            f"operator was called with the parameters {list(parameters)}."
        ) from error


def repetition(atom: Atom) -> tuple[Atom, Labels] | None:
    """Return the value that ``atom`` broadcasts, and where its axes are in ``atom``.

    The second result contains, for each axis of the value, the corresponding axis of ``atom``. Returns
    ``None`` if ``atom`` does not repeat a value along new axes.

    >>> from mindgrad.core.ir.build import Builder, building
    >>> from mindgrad.core.ir.types import tensor_type
    >>> from mindgrad.core.primitives.structural import broadcast_in_dim
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


def label_sizes(equation: Equation, axes: IndexMap) -> dict[int, int]:
    """Return a dict from every label in the index map of ``equation`` to its size.

    For a windowed label, the sizes of operands and results can differ. The dict contains one of them.
    """
    sizes: dict[int, int] = {}
    for values, sides in ((equation.outputs, axes.results), (equation.inputs, axes.operands)):
        for value, labels in zip(values, sides, strict=True):
            sizes.update(zip(labels, value.shape, strict=True))
    return sizes


def relabeled(
    equation: Equation,
    axes: IndexMap,
    operands: Sequence[Labels],
    results: Sequence[Labels],
    sizes: Mapping[int, int] | None = None,
) -> Relabeling | None:
    """Return how to apply the operator of ``equation`` to reordered operands.

    Args:
        equation: the equation.
        axes: the index map of ``equation``.
        operands: for each operand, the labels of its axes in the new order. There may be additional parallel
            labels.
        results: for each result, the labels of its axes in the preferred order.
        sizes: dict that maps each new label, and each label with a new size, to its size.

    Returns:
        The new parameters and the labels of the results, or ``None`` if the operator does not support these
        axes.
    """
    new = Arrangement(
        operands, results, {**label_sizes(equation, axes), **(sizes or {})}, equation.parameters
    )
    return equation.primitive.axes.relabeled(axes, new)  # type: ignore[union-attr]  # it returned `axes`
