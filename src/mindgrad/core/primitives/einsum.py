"""Contraction plans: convert an einsum or a matrix product to primitives.

A *plan* is a list of calls of primitives, and depends only on the shapes of the operands. A plan uses only
the primitives ``dot``, ``mul``, ``reduce_sum``, ``transpose``, ``reshape``, ``broadcast_in_dim``, and
``slice``, which have derivative rules, so einsum needs no rule. Operands are contracted in pairs. For up to
five operands, the plan uses the order with the fewest multiplications. For more operands, each step contracts
the cheapest pair that has a common label.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations
from typing import NamedTuple, TypeVar

from mindgrad.core.base.tables import tabulated
from mindgrad.core.ir.graph import Atom
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Static
from mindgrad.core.ir.types import Shape
from mindgrad.core.primitives.arithmetic import mul
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.static_slices import slice
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape, transpose

__all__ = ["Plan", "Step", "contraction_plan", "einsum_plan", "matmul_plan"]

#: value to which a plan is applied: an atom in the rules of operators, and a tensor in functions of tensors
Value = TypeVar("Value")

Labels = tuple[Hashable, ...]

_EXHAUSTIVE = 5  # compare all orders of contraction for at most this many operands


class Step(NamedTuple):
    """One call of a primitive in a plan.

    ``operands`` are indices into the list of values: the operands of the plan, followed by the results of its
    steps.
    """

    primitive: Primitive
    operands: tuple[int, ...]
    parameters: dict[str, Atom]


class Plan:
    """The calls of primitives that compute one result from ``count`` operands.

    Attributes:
        steps: the calls, in order; the last one computes the result.
        shape: shape of the result.

    >>> from mindgrad.core.primitives.einsum import einsum_plan
    >>> plan = einsum_plan("ij,jk->ki", ((2, 3), (3, 4)))
    >>> plan.shape, [(step.primitive.name, step.operands) for step in plan.steps]
    ((4, 2), [('dot', (1, 0))])
    """

    __slots__ = ("count", "result", "shape", "steps")

    def __init__(self, count: int, steps: tuple[Step, ...], result: int, shape: Shape) -> None:
        self.count = count
        self.steps = steps
        self.result = result
        self.shape = shape

    def __call__(self, operands: Sequence[Value], apply: Callable | None = None) -> Value:
        """Compute the result from ``operands``.

        Each step calls its primitive, or ``apply(primitive, …)`` if ``apply`` is given.
        """
        if apply is not None and len(self.steps) == 1:  # fast path: most matrix products need a single step
            primitive, numbers, parameters = self.steps[0]
            return apply(primitive, *[operands[number] for number in numbers], **parameters)
        values = list(operands)
        for primitive, numbers, parameters in self.steps:
            arguments = [values[number] for number in numbers]
            if apply is None:
                values.append(primitive(*arguments, **parameters))  # type: ignore[arg-type]  # atoms
            else:
                values.append(apply(primitive, *arguments, **parameters))
        return values[self.result]


class _Term:
    """A value of a plan under construction: its index, axis labels, and shape."""

    __slots__ = ("labels", "number", "shape")

    def __init__(self, number: int, labels: Labels, shape: Shape) -> None:
        self.number = number
        self.labels = labels
        self.shape = shape


class _Planner:
    def __init__(self, count: int) -> None:
        self.count = count
        self.steps: list[Step] = []

    def step(
        self,
        primitive: Primitive,
        terms: Sequence[_Term],
        labels: Labels,
        shape: Shape,
        /,
        **parameters: Static,
    ) -> _Term:
        """Add a step whose result has the given labels and shape."""
        self.steps.append(Step(primitive, tuple(term.number for term in terms), parameters))
        return _Term(self.count + len(self.steps) - 1, labels, shape)

    def diagonal(self, term: _Term) -> _Term:
        """Replace axes with the same label by their diagonal, so that labels are distinct.

        Two axes of size n are reshaped to one axis of n² elements, from which every (n + 1)-th element is
        selected.
        """
        for label in dict.fromkeys(term.labels):
            while term.labels.count(label) > 1:
                axes = [i for i, each in enumerate(term.labels) if each == label][:2]
                size = term.shape[axes[0]]
                order = [i for i in range(len(term.labels)) if i not in axes]
                others = tuple(term.labels[i] for i in order)
                shape = tuple(term.shape[i] for i in order)
                term = self.arranged(term, (*order, *axes), (*others, label, label))
                term = self.step(
                    reshape, [term], (*others, label), (*shape, size * size), shape=(*shape, size * size)
                )
                term = self.step(
                    slice,
                    [term],
                    (*others, label),
                    (*shape, size),
                    start=(0,) * (len(shape) + 1),
                    limit=term.shape,
                    strides=(*(1 for _ in shape), size + 1),
                )
        return term

    def arranged(self, term: _Term, permutation: Shape, labels: Labels) -> _Term:
        if permutation == tuple(range(len(permutation))):
            return term
        shape = tuple(term.shape[i] for i in permutation)
        return self.step(transpose, [term], labels, shape, permutation=permutation)

    def ordered(self, term: _Term, labels: Labels) -> _Term:
        return self.arranged(term, tuple(term.labels.index(each) for each in labels), labels)

    def summed(self, term: _Term, keep: Iterable[Hashable]) -> _Term:
        """Sum ``term`` over its labels that are not in ``keep``."""
        kept = set(keep)
        axes = tuple(i for i, label in enumerate(term.labels) if label not in kept)
        if not axes:
            return term
        left = [i for i in range(len(term.labels)) if i not in axes]
        labels, shape = tuple(term.labels[i] for i in left), tuple(term.shape[i] for i in left)
        return self.step(reduce_sum, [term], labels, shape, axes=axes)

    def narrowed(self, term: _Term, sizes: dict[Hashable, int]) -> _Term:
        """Remove axes of size 1 whose label has a larger size in another operand."""
        axes = [i for i, label in enumerate(term.labels) if term.shape[i] == sizes[label]]
        if len(axes) == len(term.labels):
            return term
        labels, shape = tuple(term.labels[i] for i in axes), tuple(term.shape[i] for i in axes)
        return self.step(reshape, [term], labels, shape, shape=shape)

    def joined(self, a: _Term, b: _Term, keep: Labels) -> _Term:
        """Multiply the terms ``a`` and ``b``, and sum over the labels not in ``keep``."""
        a = self.summed(a, {*b.labels, *keep})
        b = self.summed(b, {*a.labels, *keep})
        contracted = [label for label in a.labels if label in b.labels and label not in keep]
        if not contracted and len(a.labels) < len(b.labels):
            a, b = b, a
        if not contracted and set(b.labels) <= set(a.labels):
            return self.multiplied(a, b)
        batch = [label for label in keep if label in a.labels and label in b.labels]
        skip = {*batch, *contracted}
        free_a = [label for label in a.labels if label not in skip]
        free_b = [label for label in b.labels if label not in skip]
        straight, swapped = [*batch, *free_a, *free_b], [*batch, *free_b, *free_a]
        if swapped == list(keep) != straight:
            a, b, free_a, free_b = b, a, free_b, free_a
        sizes = dict(zip((*a.labels, *b.labels), (*a.shape, *b.shape), strict=True))
        labels = (*batch, *free_a, *free_b)
        return self.step(
            dot,
            [a, b],
            labels,
            tuple(sizes[label] for label in labels),
            contract=(_axes(a, contracted), _axes(b, contracted)),
            batch=(_axes(a, batch), _axes(b, batch)),
        )

    def multiplied(self, a: _Term, b: _Term) -> _Term:
        """Multiply two terms elementwise. ``a`` must have all labels of ``b``."""
        b = self.ordered(b, tuple(label for label in a.labels if label in b.labels))
        if b.labels != a.labels:
            dims = _axes(a, b.labels)
            b = self.step(broadcast_in_dim, [b], a.labels, a.shape, shape=a.shape, dims=dims)
        return self.step(mul, [a, b], a.labels, a.shape)


def _axes(term: _Term, labels: Iterable[Hashable]) -> Shape:
    return tuple(term.labels.index(label) for label in labels)


def _path(
    terms: tuple[frozenset, ...], output: frozenset, sizes: dict[Hashable, int]
) -> tuple[int, list[tuple[int, int]]]:
    """Return the cost and the operand pairs of the cheapest order of contraction."""
    if len(terms) < 2:
        return 0, []

    def price(pair: tuple[int, int]) -> int:
        return math.prod(sizes[label] for label in terms[pair[0]] | terms[pair[1]])

    pairs = list(combinations(range(len(terms)), 2))
    if len(terms) > _EXHAUSTIVE:
        pairs = [min(pairs, key=lambda pair: (not terms[pair[0]] & terms[pair[1]], price(pair)))]
    best: tuple[int, list[tuple[int, int]]] | None = None
    for i, j in pairs:
        rest = tuple(term for k, term in enumerate(terms) if k not in (i, j))
        made = (terms[i] | terms[j]) & output.union(*rest)
        cost, path = _path((*rest, made), output, sizes)
        cost += price((i, j))
        if best is None or cost < best[0]:
            best = cost, [(i, j), *path]
    assert best is not None
    return best


def contraction_plan(
    inputs: tuple[Labels, ...], output: Labels, shapes: tuple[Shape, ...], name: str = "einsum"
) -> Plan:
    """Return the plan of ``result[output] = Σ Π operand[labels]``.

    The sum runs over all labels that are not in ``output``.

    Args:
        inputs: for each operand, the labels of its axes. A label that repeats within an operand selects the
            diagonal.
        output: the distinct labels of the result. Each label must occur in an operand.
        shapes: the shapes of the operands. An axis of size 1 broadcasts against larger axes with its label.
        name: the operator's name in errors.

    Raises:
        ValueError: If the sizes along a label differ.
    """
    return tabulated(_contraction, inputs, output, shapes, name)


def _contraction(inputs: tuple[Labels, ...], output: Labels, shapes: tuple[Shape, ...], name: str) -> Plan:
    sizes: dict[Hashable, int] = {}
    for position, (labels, shape) in enumerate(zip(inputs, shapes, strict=True)):
        own = dict(zip(labels, shape, strict=True))
        for label, size in zip(labels, shape, strict=True):
            agreed = sizes.get(label, 1)
            broadcasts = own[label] == size and 1 in (size, agreed)
            if not broadcasts and not own[label] == size == agreed:
                other = own[label] if own[label] != size else agreed
                raise ValueError(
                    f"For '{name}', the axes labeled {label!r} must have the same size, but operand "
                    f"{position} of shape {shape} has {size} where another axis has {other}."
                )
            sizes[label] = size if agreed == 1 else agreed
    planner = _Planner(len(inputs))
    terms = [
        planner.narrowed(planner.diagonal(_Term(number, labels, shape)), sizes)
        for number, (labels, shape) in enumerate(zip(inputs, shapes, strict=True))
    ]
    kept_labels = frozenset(output)
    _, path = _path(tuple(frozenset(term.labels) for term in terms), kept_labels, sizes)
    for i, j in path:
        a, b = terms[i], terms[j]
        terms = [term for k, term in enumerate(terms) if k not in (i, j)]
        later = [label for term in terms for label in term.labels if label not in kept_labels]
        terms.append(planner.joined(a, b, (*output, *dict.fromkeys(later))))
    result = planner.ordered(planner.summed(terms[0], output), output)
    return Plan(len(inputs), tuple(planner.steps), result.number, result.shape)


def einsum_plan(subscripts: str, shapes: Sequence[Shape]) -> Plan:
    """Return the plan of ``einsum(subscripts, *operands)`` for the given shapes.

    Subscripts have the form of NumPy's: letters, ``...`` for broadcast axes (aligned at the right), repeated
    letters for diagonals, and an output after ``->``. Without ``->``, the output consists of the ``...`` axes
    and, in alphabetical order, the letters that occur once.

    Raises:
        TypeError: If ``subscripts`` is not a string.
        ValueError: If the subscripts are malformed or do not match the shapes.

    >>> from mindgrad.core.primitives.einsum import einsum_plan
    >>> einsum_plan("...ij,...jk", ((5, 2, 3), (3, 4))).shape
    (5, 2, 4)
    """
    if not isinstance(subscripts, str):
        raise TypeError(
            f"For 'einsum', the subscripts must be a string, but got {type(subscripts).__name__}."
        )
    return tabulated(_einsum, subscripts, tuple(shapes))


def _einsum(subscripts: str, shapes: tuple[Shape, ...]) -> Plan:
    inputs, output = _parse(subscripts, shapes)
    return _contraction(inputs, output, shapes, "einsum")


def _parse(subscripts: str, shapes: tuple[Shape, ...]) -> tuple[tuple[Labels, ...], Labels]:
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    fields = left.split(",")
    for field in (*fields, right):
        letters = field.replace("...", "", 1)
        if letters and not (letters.isascii() and letters.isalpha()):
            raise ValueError(
                f"For 'einsum', subscripts consist of letters, ',', '->' and one '...' per operand, "
                f"but got {field!r} in {subscripts!r}."
            )
    if len(fields) != len(shapes):
        raise ValueError(
            f"For 'einsum', {subscripts!r} names {len(fields)} operands, but {len(shapes)} are given."
        )
    inputs = []
    broadcast = 0
    for position, (field, shape) in enumerate(zip(fields, shapes, strict=True)):
        letters = field.replace("...", "")
        hidden = len(shape) - len(letters)
        if hidden < 0 or (hidden > 0 and "..." not in field):
            raise ValueError(
                f"For 'einsum', {field!r} labels {len(letters)} axes, but operand {position} "
                f"has shape {shape}."
            )
        inputs.append(_labels(field, hidden))
        broadcast = max(broadcast, hidden)
    if not arrow:
        once = sorted(c for c in set(left) if c.isalpha() and left.count(c) == 1)
        return tuple(inputs), (*_labels("...", broadcast), *once)
    if broadcast and "..." not in right:
        raise ValueError(
            f"For 'einsum', the axes of '...' must appear in the output of {subscripts!r}: "
            f"write '...' after '->', or sum over named axes."
        )
    for c in right.replace("...", ""):
        if c not in left or right.count(c) > 1:
            raise ValueError(
                f"For 'einsum', each label of the output must occur once in the output and at least once in "
                f"the operands, but {c!r} in {subscripts!r} does not."
            )
    return tuple(inputs), _labels(right, broadcast)


def _labels(field: str, hidden: int) -> Labels:
    """Return the labels of one operand; the axes of its ellipsis are …, −2, −1."""
    before, dots, after = field.partition("...")
    between = tuple(range(-hidden, 0)) if dots else ()
    return (*before, *between, *after)


def matmul_plan(a: Shape, b: Shape) -> Plan:
    """Return the plan of ``numpy.matmul`` for operands of shapes ``a`` and ``b``.

    Axes before the last two broadcast. A 1-D operand is a row vector on the left and a column vector on the
    right, and the result does not have the added axis.

    Raises:
        ValueError: If an operand is 0-D, or the shapes do not match.

    >>> from mindgrad.core.primitives.einsum import matmul_plan
    >>> matmul_plan((5, 2, 3), (3, 4)).shape, matmul_plan((3,), (3,)).shape
    ((5, 2, 4), ())
    """
    return tabulated(_matmul, a, b)


def _matmul(a: Shape, b: Shape) -> Plan:
    if not a or not b:
        raise ValueError(
            f"For 'matmul', the operands must have at least one axis, but got the shapes {a} and {b}."
        )
    if a[-1] != b[-2 if len(b) > 1 else 0]:
        raise ValueError(
            f"For 'matmul', the shapes {a} and {b} do not match: the last axis of the first operand has size "
            f"{a[-1]}, but the {'second-to-last' if len(b) > 1 else 'only'} axis of the second has size "
            f"{b[-2 if len(b) > 1 else 0]}."
        )
    pairs = zip(a[-3::-1], b[-3::-1], strict=False)  # sizes before the last two axes, from the right
    if any(m != n and 1 not in (m, n) for m, n in pairs):
        raise ValueError(
            f"For 'matmul', the axes before the last two must broadcast, but the shapes {a} and {b} have "
            f"{a[:-2]} and {b[:-2]}."
        )
    rank = max(len(a), len(b), 2) - 2
    left = (*range(-max(len(a) - 2, 0), 0), *("row",)[: len(a) - 1], "inner")
    right = (*range(-max(len(b) - 2, 0), 0), "inner", *("column",)[: len(b) - 1])
    output = (*range(-rank, 0), *("row",)[: len(a) - 1], *("column",)[: len(b) - 1])
    return _contraction((left, right), output, (a, b), "matmul")
