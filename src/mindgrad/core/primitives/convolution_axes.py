"""Axes of a convolution, whose channels come before or after the positions.

    first    x (N, …, C, p…)    w (O, C / groups, k…)    y (N, …, O, q…)
    last     x (N, …, p…, C)    w (k…, C / groups, O)    y (N, …, q…, O)

N are samples, C input channels, O output channels, p and q positions, and k the window. Users write
convolutions with channels first, but XLA's CPU kernels are fast only with channels last
(``passes.layout``). A rule for channels last permutes the operands, applies the rule for channels first,
and permutes the result.
"""

from __future__ import annotations

from collections.abc import Sequence

from mindgrad.core.ir.index_map import (
    OPAQUE,
    REDUCED,
    WINDOWED,
    Arrangement,
    Axes,
    IndexMap,
    Labels,
    Relabeling,
)
from mindgrad.core.ir.rules import Statics
from mindgrad.core.ir.types import Shape

__all__ = [
    "ConvolutionAxes", "data_behind", "data_in_front", "kernel_behind", "kernel_in_front", "permuted_shape",
]  # fmt: skip


def data_in_front(rank: int, spatial: int) -> Shape:
    """Return the permutation of axes of ``x`` or ``y`` from channels last to first."""
    channels = rank - spatial - 1
    return (*range(channels), rank - 1, *range(channels, rank - 1))


def data_behind(rank: int, spatial: int) -> Shape:
    """Return the permutation of axes of ``x`` or ``y`` from channels first to last."""
    channels = rank - spatial - 1
    return (*range(channels), *range(channels + 1, rank), channels)


def kernel_in_front(spatial: int) -> Shape:
    """Return the permutation of a kernel to channels first: ``(O, C / groups, k…)``."""
    return (spatial + 1, spatial, *range(spatial))


def kernel_behind(spatial: int) -> Shape:
    """Return the permutation of a kernel to channels last: ``(k…, C / groups, O)``."""
    return (*range(2, spatial + 2), 1, 0)


def permuted_shape(shape: Sequence[int], permutation: Shape) -> Shape:
    """Permute a shape or a tuple of axis labels."""
    return tuple([shape[axis] for axis in permutation])


class ConvolutionAxes(Axes):
    """Index map of ``conv``, in which sample axes and output channels are parallel.

    If the window has size 1, and there are no strides, dilations, or paddings, positions are parallel, too.
    There may be several sample axes, in any order.
    """

    prefers = True

    def index_map(self, shapes: Sequence[Shape], parameters: Statics) -> IndexMap:
        spatial, groups = len(shapes[1]) - 2, parameters["groups"]
        is_last = parameters.get("channels_last", False)
        sizes = shapes[1][:spatial] if is_last else shapes[1][2:]
        samples, channels, outputs, positions = 0, 1, 2, tuple(range(3, 3 + spatial))
        kernel = tuple(range(3 + spatial, 3 + 2 * spatial))
        # with groups, an output channel reads only the input channels of its group
        of_kernel = channels if groups == 1 else 3 + 2 * spatial
        kinds = dict.fromkeys((*kernel, channels), REDUCED)
        if groups > 1:
            kinds |= dict.fromkeys((channels, of_kernel, outputs), OPAQUE)
        for k, position in enumerate(positions):
            plain = sizes[k] == parameters["strides"][k] == parameters["lhs_dilation"][k] == 1
            if not plain or parameters["padding"][k] != (0, 0):
                kinds[position] = WINDOWED
        more = range(4 + 2 * spatial, 4 + 2 * spatial + len(shapes[0]) - len(shapes[1]))
        x, w = (*more, samples, channels, *positions), (outputs, of_kernel, *kernel)
        y = (*more, samples, outputs, *positions)
        return IndexMap(*_in_last_order(x, w, y), kinds) if is_last else IndexMap((x, w), (y,), kinds)

    def relabeled(self, old: IndexMap, new: Arrangement) -> Relabeling | None:
        is_last = new.parameters.get("channels_last", False)
        x, w, y = _in_first_order(old) if is_last else (*old.operands, *old.results)
        behind, labels = len(new.parameters["strides"]) + 1, new.operands[0]
        known = {*w, *x[len(x) - behind :]}
        samples = labels[:-behind]
        if not samples or not known.isdisjoint(samples):
            return None
        tails = x[-behind:], w, y[-behind:]
        if (labels[-behind:], new.operands[1]) == tails[:2]:
            parameters = {name: value for name, value in new.parameters.items() if name != "channels_last"}
            return Relabeling(parameters, ((*samples, *tails[2]),))
        (tail, kernel), (result,) = _in_last_order((0, *tails[0]), w, (0, *tails[2]))
        if (labels[-behind:], new.operands[1]) == (tail[1:], kernel):
            return Relabeling({**new.parameters, "channels_last": True}, ((*samples, *result[1:]),))
        return None

    def preferred(self, axes: IndexMap, parameters: Statics) -> tuple[Labels, ...] | None:
        if parameters.get("channels_last", False):
            return None
        return _in_last_order(*axes.operands, *axes.results)[0]


def _in_last_order(x: Labels, w: Labels, y: Labels) -> tuple[tuple[Labels, Labels], tuple[Labels]]:
    """Convert axis labels of operands and result from channels first to channels last."""
    spatial = len(w) - 2
    data = data_behind(len(x), spatial)
    return ((permuted_shape(x, data), permuted_shape(w, kernel_behind(spatial))), (permuted_shape(y, data),))


def _in_first_order(axes: IndexMap) -> tuple[Labels, Labels, Labels]:
    """Convert axis labels of operands and result from channels last to channels first."""
    (x, w), (y,) = axes.operands, axes.results
    spatial = len(w) - 2
    data = data_in_front(len(x), spatial)
    return permuted_shape(x, data), permuted_shape(w, kernel_in_front(spatial)), permuted_shape(y, data)
