"""The axes of a convolution: channels come before or after the positions.

    in front    x (N, …, C, p…)    w (O, C / groups, k…)    y (N, …, O, q…)
    behind      x (N, …, p…, C)    w (k…, C / groups, O)    y (N, …, q…, O)

Programs are written with channels in front; XLA's kernels for CPUs take them behind (``optimize.layout``). A
rule for channels in front is one for channels behind by permutations of its operands and its result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mindgrad.ir.index_map import OPAQUE, REDUCED, WINDOWED, Arrangement, Axes, IndexMap, Labels, Relabelling
from mindgrad.ir.types import Shape

__all__ = [
    "ConvolutionAxes", "data_behind", "data_in_front", "kernel_behind", "kernel_in_front", "permuted_shape",
]  # fmt: skip


def data_in_front(rank: int, spatial: int) -> Shape:
    """The permutation that moves the channels of data of ``rank`` axes in front of its positions."""
    channels = rank - spatial - 1
    return (*range(channels), rank - 1, *range(channels, rank - 1))


def data_behind(rank: int, spatial: int) -> Shape:
    """The inverse of :func:`data_in_front`."""
    channels = rank - spatial - 1
    return (*range(channels), *range(channels + 1, rank), channels)


def kernel_in_front(spatial: int) -> Shape:
    """The permutation of a kernel ``(k…, C / groups, O)`` to ``(O, C / groups, k…)``."""
    return (spatial + 1, spatial, *range(spatial))


def kernel_behind(spatial: int) -> Shape:
    """The inverse of :func:`kernel_in_front`."""
    return (*range(2, spatial + 2), 1, 0)


def permuted_shape(shape: Sequence[int], permutation: Shape) -> Shape:
    """The shape, or the labels, of an array whose axes are permuted."""
    return tuple([shape[axis] for axis in permutation])


class ConvolutionAxes(Axes):
    """Samples and output channels are parallel, and positions under a kernel of size 1 that skips none.

    Axes of samples stand in any order, and there may be more of them.
    """

    prefers = True

    def index_map(self, shapes: Sequence[Shape], parameters: Mapping[str, Any]) -> IndexMap:
        spatial, groups = len(shapes[1]) - 2, parameters["groups"]
        is_last = parameters.get("channels_last", False)
        sizes = shapes[1][:spatial] if is_last else shapes[1][2:]
        samples, channels, outputs, positions = 0, 1, 2, tuple(range(3, 3 + spatial))
        kernel = tuple(range(3 + spatial, 3 + 2 * spatial))
        # in groups, an output sees some channels only
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

    def relabelled(self, old: IndexMap, new: Arrangement) -> Relabelling | None:
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
            return Relabelling(parameters, ((*samples, *tails[2]),))
        (tail, kernel), (result,) = _in_last_order((0, *tails[0]), w, (0, *tails[2]))
        if (labels[-behind:], new.operands[1]) == (tail[1:], kernel):
            return Relabelling({**new.parameters, "channels_last": True}, ((*samples, *result[1:]),))
        return None

    def preferred(self, axes: IndexMap, parameters: Mapping[str, Any]) -> tuple[Labels, ...] | None:
        if parameters.get("channels_last", False):
            return None
        return _in_last_order(*axes.operands, *axes.results)[0]


def _in_last_order(x: Labels, w: Labels, y: Labels) -> tuple[tuple[Labels, Labels], tuple[Labels]]:
    """Labels of operands and result with channels in front as those with channels behind."""
    spatial = len(w) - 2
    data = data_behind(len(x), spatial)
    return (
        (permuted_shape(x, data), permuted_shape(w, kernel_behind(spatial))),
        (permuted_shape(y, data),),
    )


def _in_first_order(axes: IndexMap) -> tuple[Labels, Labels, Labels]:
    """The labels of operands and result of a convolution with channels behind as those with them in front."""
    (x, w), (y,) = axes.operands, axes.results
    spatial = len(w) - 2
    data = data_in_front(len(x), spatial)
    return permuted_shape(x, data), permuted_shape(w, kernel_in_front(spatial)), permuted_shape(y, data)
