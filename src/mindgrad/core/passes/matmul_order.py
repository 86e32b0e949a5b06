"""Matrix chain ordering: multiply nested products in the cheapest order.

    (A B) v = A (B v)        (u vᵀ) x = u (vᵀ x)        (diag(d) A) x = d ∘ (A x)

Nested products form a tree. Its leaves are the factors A, B, and v, and each node is the product of its two
children. A node may be a product of matrices, a batched product, or an elementwise product with a broadcast
factor, such as an outer product. Each axis of a factor has a *label*, like the indices of an einsum, and a
transpose between two nodes only reorders labels. No equation outside the tree may read a value inside it.

Proof: the value of a tree is the sum, over all contracted labels, of the products of the leaves. Products
distribute over sums, so the sums may be computed in any order. Only the rounding differs.

**When it pays.** A product costs two operations for each combination of its indices. Each byte of its
operands and its result counts as eight operations, because moving one byte takes as long as eight operations.
For up to :data:`_ALL` leaves, the search tries all trees. For more leaves, it tries only trees with the
leaves in the original order, because for a chain of matrices, other trees are never cheaper. The cheapest
tree is used if it costs at least 20% less than the original tree. Trees below ``reordered_flops`` operations
are left unchanged.

The rewrite runs before differentiation, so derivatives inherit the order: the gradient of ``((A B) v)²``
needs no product of two matrices.

**Limits.** Products in float16 and bfloat16 are left unchanged. A product whose result has several readers is
not merged into a larger tree.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

from mindgrad.core.base.trampoline import trampolined
from mindgrad.core.ir.cost_model import costs
from mindgrad.core.ir.graph import Atom, Equation, Graph
from mindgrad.core.ir.rewriting import Rewrite
from mindgrad.core.passes.broadcast_elimination import Repeated, free_axes, repeated
from mindgrad.core.passes.graph_rewriter import Read, rebuild
from mindgrad.core.primitives.arithmetic import mul
from mindgrad.core.primitives.contraction import dot
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape, transpose

__all__ = ["reorder_matmuls"]

CHAIN = Rewrite(
    "chain",
    "(A B) v = A (B v); every order of nested products has the same result",
    "matrix products are computed in a cheaper order",
)

#: maximum numbers of factors. The search tries all orders of multiplication for at most ``_ALL`` factors. A
#: product of more than ``_MOST`` factors is left unchanged
_ALL, _MOST = 6, 24

#: tree of products: a leaf is the index of a factor, a node is a pair of trees
Tree = int | tuple["Tree", "Tree"]
Labels = tuple[int, ...]
Steps = Generator[Any, Any, Tree]


class _Leaf(NamedTuple):
    """A factor of a tree of products: its value in the old graph, and its axis labels."""

    atom: Atom
    labels: tuple[int | None, ...]


class _Network:
    """The product of ``leaves``, summed over all labels that are not in ``output``."""

    def __init__(self, root: Equation, uses: Counter[Atom]) -> None:
        self.leaves: list[_Leaf] = []
        self.sizes: list[int] = []
        self.itemsize = root.outputs[0].type.dtype.itemsize
        self._uses = uses
        #: all products of the tree except the last one, its root
        self.inner: list[Equation] = []
        self.output = self._new(root.outputs[0].shape)
        self.tree = trampolined(self._product(root, self.output))
        self._whole = (1 << len(self.leaves)) - 1
        self._masks = [0] * len(self.sizes)
        for k, leaf in enumerate(self.leaves):
            for label in leaf.labels:
                if label is not None:
                    self._masks[label] |= 1 << k

    def _new(self, shape: tuple[int, ...]) -> Labels:
        start = len(self.sizes)
        self.sizes += shape
        return tuple(range(start, start + len(shape)))

    # -- nodes and leaves ---------------------------------------------------------------------------

    def _product(self, equation: Equation, labels: Labels) -> Steps:
        contract, batch = equation.parameters["contract"], equation.parameters["batch"]
        a, b = equation.inputs
        summed = self._new(tuple([a.shape[axis] for axis in contract[0]]))
        names: list[dict[int, int]] = [{}, {}]
        at = len(batch[0])
        for k, x in enumerate((a, b)):
            names[k].update(zip(batch[k], labels, strict=False))
            names[k].update(zip(contract[k], summed, strict=True))
            for axis in free_axes(len(x.shape), contract[k], batch[k]):
                names[k][axis] = labels[at]
                at += 1
        sides = [tuple([names[k][axis] for axis in range(len(x.shape))]) for k, x in enumerate((a, b))]
        return (yield self._tree(a, sides[0])), (yield self._tree(b, sides[1]))

    def _tree(self, atom: Atom, labels: Labels) -> Steps:
        equation = _inner(atom, self._uses)
        if equation is not None:
            self.inner.append(equation)
            if equation.primitive is dot:
                return (yield self._product(equation, labels))
            if equation.primitive is transpose:
                moved = dict(zip(equation.parameters["permutation"], labels, strict=True))
                return (
                    yield self._tree(equation.inputs[0], tuple([moved[axis] for axis in range(len(moved))]))
                )
            factors = [repeated(x) for x in equation.inputs]
            parts = [
                {axis for axis, place in enumerate(x.axes) if place is not None or atom.shape[axis] == 1}
                for x in factors
            ]
            all_labels = set(range(len(labels)))
            if parts[0] | parts[1] == all_labels and parts != [all_labels, all_labels]:
                sides = []
                for x, seen, part in zip(equation.inputs, factors, parts, strict=True):
                    is_whole = part == all_labels
                    sides.append((yield self._tree(x, labels)) if is_whole else self._leaf(seen, labels))
                left, right = sides
                return left, right
            self.inner.pop()
        self.leaves.append(_Leaf(atom, labels))
        return len(self.leaves) - 1

    def _leaf(self, factor: Repeated, labels: Labels) -> Tree:
        names: list[int | None] = [None] * len(factor.atom.shape)
        for label, axis in zip(labels, factor.axes, strict=True):
            if axis is not None:
                names[axis] = label
        self.leaves.append(_Leaf(factor.atom, tuple(names)))
        return len(self.leaves) - 1

    # -- cost of a tree -----------------------------------------------------------------------------

    def labels(self, leaves: int) -> frozenset[int]:
        """Return the labels of the product of ``leaves``, given as a bit mask.

        A label is kept, not summed, if the output or a factor outside ``leaves`` has it.
        """
        return frozenset(
            label
            for label, mask in enumerate(self._masks)
            if mask & leaves and (mask & ~leaves or label in self.output)
        )

    def _size(self, labels: frozenset[int]) -> int:
        return math.prod([self.sizes[label] for label in labels])

    def _step(self, left: int, right: int) -> int:
        a, b = self.labels(left), self.labels(right)
        moved = self._size(a) + self._size(b) + self._size(self.labels(left | right))
        return 2 * self._size(a | b) + costs().flops_per_byte * self.itemsize * moved

    def cost(self, tree: Tree) -> tuple[int, int]:
        """Return the cost of ``tree``, after its leaves as a bit mask."""
        if isinstance(tree, int):
            return 1 << tree, 0
        (left, first), (right, second) = self.cost(tree[0]), self.cost(tree[1])
        return left | right, first + second + self._step(left, right)

    def best(self) -> tuple[int, Tree]:
        """Return the cost of the cheapest tree of products of all leaves, and this tree."""
        cheapest: dict[int, tuple[int, Tree]] = {1 << k: (0, k) for k in range(len(self.leaves))}
        every = len(self.leaves) <= _ALL
        for leaves in range(1, 1 << len(self.leaves)) if every else _intervals(len(self.leaves)):
            if leaves in cheapest:
                continue
            cheapest[leaves] = min(
                (
                    (
                        cheapest[left][0] + cheapest[leaves ^ left][0] + self._step(left, leaves ^ left),
                        (cheapest[left][1], cheapest[leaves ^ left][1]),
                    )
                    for left in (_halves(leaves) if every else _cuts(leaves))
                ),
                key=lambda each: each[0],
            )
        return cheapest[self._whole]

    # -- emission -----------------------------------------------------------------------------------

    def emit(self, tree: Tree, read: Read) -> Atom:
        """Emit the product of all leaves in the order of ``tree``."""
        atom, labels, _ = self._emitted(tree, read)
        # factors have no axes of size 1 for output labels; the final reshape adds these axes
        moved = transpose(
            atom, permutation=tuple([labels.index(each) for each in self.output if each in labels])
        )
        return reshape(moved, shape=tuple([self.sizes[label] for label in self.output]))

    def _emitted(self, tree: Tree, read: Read) -> tuple[Atom, list[int], int]:
        if isinstance(tree, int):
            leaf = self.leaves[tree]
            atom, labels = read(leaf.atom), [label for label in leaf.labels if label is not None]
            if len(labels) != len(leaf.labels):
                atom = reshape(atom, shape=tuple([self.sizes[label] for label in labels]))
            return atom, labels, 1 << tree
        (a, mine, left), (b, theirs, right) = (self._emitted(side, read) for side in tree)
        needed = self.labels(left | right)
        shared = [label for label in mine if label in theirs]
        summed = [label for label in shared if label not in needed]
        if shared and not summed:
            return *self._scaled(a, mine, b, theirs), left | right
        batch_labels = [label for label in shared if label in needed]
        free = [label for label in (*mine, *theirs) if label not in shared]
        product = dot(
            a,
            b,
            contract=(tuple(map(mine.index, summed)), tuple(map(theirs.index, summed))),
            batch=(tuple(map(mine.index, batch_labels)), tuple(map(theirs.index, batch_labels))),
        )
        return product, batch_labels + free, left | right

    def _scaled(self, a: Atom, mine: list[int], b: Atom, theirs: list[int]) -> tuple[Atom, list[int]]:
        """Emit the elementwise product of two factors, and return it with its labels."""
        labels = mine + [label for label in theirs if label not in mine]
        shape = tuple([self.sizes[label] for label in labels])
        sides = []
        for atom, names in ((a, mine), (b, theirs)):
            places = [labels.index(label) for label in names]
            order = sorted(range(len(places)), key=places.__getitem__)
            moved = transpose(atom, permutation=tuple(order))
            sides.append(broadcast_in_dim(moved, shape=shape, dims=tuple(sorted(places))))
        return mul(*sides), labels


def _halves(leaves: int) -> Iterator[int]:
    """Iterate over the divisions of ``leaves`` into two sets; yield the first of each."""
    lowest = leaves & -leaves
    part = (leaves - 1) & leaves
    while part:
        if part & lowest:
            yield part
        part = (part - 1) & leaves


def _intervals(count: int) -> Iterator[int]:
    """Iterate over ranges of consecutive leaves, as bit masks; shorter ranges first."""
    for length in range(2, count + 1):
        for start in range(count - length + 1):
            yield ((1 << length) - 1) << start


def _cuts(leaves: int) -> Iterator[int]:
    """Iterate over the divisions of a range of leaves into two; yield the first part."""
    part = leaves & -leaves
    while part != leaves:
        yield part
        part |= part << 1


def reorder_matmuls(graph: Graph) -> Graph:
    """Reorder nested products of ``graph`` if another order is cheaper."""
    if sum(e.primitive is dot for e in graph.equations) == 0:
        return graph
    uses = Counter(x for e in graph.equations for x in e.inputs)
    uses.update(graph.outputs)
    better: dict[Equation, tuple[_Network, Tree]] = {}
    visited: set[Equation] = set()
    for equation in reversed(graph.equations):
        if equation.primitive is not dot or equation in visited or not _is_exact(equation):
            continue
        if not any(_inner(x, uses) for x in equation.inputs):
            continue
        network = _Network(equation, uses)
        visited.update(network.inner)
        if 2 < len(network.leaves) <= _MOST:
            _, before = network.cost(network.tree)
            if before >= costs().reordered_flops:
                after, tree = network.best()
                if after <= costs().reordered_part * before:
                    better[equation] = network, tree
    if not better:
        return graph
    CHAIN.fired(len(better))

    def replace(equation: Equation, read: Read) -> Any:
        found = better.get(equation)
        return None if found is None else found[0].emit(found[1], read)

    return rebuild(graph, replace)


def _inner(atom: Atom, uses: Counter[Atom]) -> Equation | None:
    """Return the equation that computes ``atom`` if it can be a node of a tree.

    Its result must have no other reader, so that the product can be computed in a different order.
    """
    equation: Equation | None = getattr(atom, "made_by", None)
    if equation is None or equation.primitive not in (dot, transpose, mul) or uses[atom] != 1:
        return None
    return equation


def _is_exact(equation: Equation) -> bool:
    """Return whether reordering the sums of ``equation`` changes only rounding errors."""
    dtype = equation.outputs[0].type.dtype
    return dtype.is_inexact and dtype.itemsize >= 4
