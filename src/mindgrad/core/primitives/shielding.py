"""Remove discarded infinities in the transposes of dot, conv, and solve.

    x̄ = Σ ct · other        an element of ``other`` that only zeros of ``ct`` multiply contributes nothing

In ``where(good, x @ w, 0)``, suppose that a sample of ``x`` is NaN and ``good`` discards it. The cotangents
of this sample are zero, and 0 · NaN would make the gradient of ``w`` NaN. Elementwise products check each
term (``primitives.exact_zeros``), but a sum of products cannot. Instead, an infinite or NaN element of
``other`` is replaced by zero if all cotangents that multiply it are zero. This is correct: if the function
has a finite value, all results that depend on an infinite element were discarded. For an element of the input
of a convolution, the cotangents that multiply it belong to the windows that read it
(``primitives.window_reach``).

Equations are emitted only if ``ct`` can have such zeros. Such zeros come from a selection (mark ``MASKED``),
or from slices and lookups (mark ``DISCARDS``) that do not cover the whole value. In eager mode, the zeros of
slices count only if ``other`` can be infinite (mark ``INFINITE``), because eager mode checks the values of
inputs.
"""

from __future__ import annotations

import numpy as np

from mindgrad.core.ir.graph import CUT, INFINITE, MASKED, Atom, Constant
from mindgrad.core.ir.types import Shape
from mindgrad.core.primitives.arithmetic import select
from mindgrad.core.primitives.comparisons import not_equal
from mindgrad.core.primitives.exact_zeros import discarding, has_cuts
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.primitives.logic import isfinite, logical_or
from mindgrad.core.primitives.reduction import reduce_any
from mindgrad.core.primitives.structural import broadcast_in_dim, transpose

__all__ = ["can_discard", "finite_or", "met", "shielded"]


def can_discard(ct: Atom, other: Atom) -> bool:
    """Return whether ``ct`` can have exact zeros and ``other`` infinite elements.

    The product of an exact zero and an infinite element must be 0, not NaN.
    """
    if type(other) is Constant and not other.tainted:
        return False
    if type(ct) is Constant:
        return not ct.is_splat and not np.all(ct.value)
    if ct.tainted & MASKED or (ct.tainted & CUT and other.tainted & INFINITE):
        return True
    return bool(ct.tainted & discarding()) and has_cuts(ct)


def met(ct: Atom, axes: Shape) -> Atom:
    """Return whether any element of ``ct`` along ``axes`` is nonzero."""
    return reduce_any(not_equal(ct, zeros(ct.type)), axes=axes)


def finite_or(mask: Atom, x: Atom) -> Atom:
    """Replace infinite and NaN elements of ``x`` by zero where ``mask`` is false."""
    if type(mask) is Constant and np.all(mask.value):
        return x
    return select(logical_or(mask, isfinite(x)), x, zeros(x.type))


def shielded(other: Atom, ct: Atom, ours: Shape, of_ct: Shape) -> Atom:
    """Replace infinite elements of ``other`` that only zeros of ``ct`` multiply.

    ``ours`` and ``of_ct`` are the axes of ``other`` and of ``ct`` that correspond to each other.
    """
    if not can_discard(ct, other):
        return other
    free = tuple([axis for axis in range(len(ct.shape)) if axis not in of_ct])
    # for each axis of the mask, the corresponding axis of ``other``
    dims = [axis for _, axis in sorted(zip(of_ct, ours, strict=True))]
    mask = transpose(met(ct, free), permutation=tuple(sorted(range(len(dims)), key=dims.__getitem__)))
    return finite_or(broadcast_in_dim(mask, shape=other.shape, dims=tuple(sorted(dims))), other)
