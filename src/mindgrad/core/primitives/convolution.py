"""Primitive ``conv``: convolution over any number of axes.

    y[n, o, p] = Σ_{c, k} x̃[n, c, p·stride + k·rhs_dilation] · w[o, c, k]

Here n is a sample, c an input channel, o an output channel, p a position, and k an element of the window.
``conv`` is bilinear, and its transposes are convolutions. ``x̃`` is the left operand ``x`` with
``lhs_dilation − 1`` zeros between neighbors and ``padding`` zeros around them. A negative padding removes
elements. As usual in machine learning, the kernel is not reversed. With groups, the channels of the input and
the output are divided into groups, and group ``j`` of the output depends only on group ``j`` of the input.
The sample axes come first. There may be several sample axes, because ``vmap`` adds one. With
``channels_last``, the channels of ``x`` and ``y`` come after the positions, and the channels of the kernel
after the window (``primitives.convolution_axes``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from mindgrad.core.ir.graph import Atom, Equation
from mindgrad.core.ir.rules import Array, Atoms, BatchAxes, Module, Static, Statics, Stored
from mindgrad.core.ir.types import Shape, TensorType
from mindgrad.core.ir.work import by
from mindgrad.core.primitives.accumulation_type import is_half
from mindgrad.core.primitives.batching import moved
from mindgrad.core.primitives.convolution_axes import (
    ConvolutionAxes,
    data_behind,
    data_in_front,
    kernel_behind,
    kernel_in_front,
    permuted_shape,
)
from mindgrad.core.primitives.convolution_kernel import Padding, convolve, dilated, output_sizes
from mindgrad.core.primitives.kinds import multilinear, zeros
from mindgrad.core.primitives.logic import isfinite
from mindgrad.core.primitives.patterns import convolved
from mindgrad.core.primitives.reduction import reduce_all
from mindgrad.core.primitives.samples import case, reals
from mindgrad.core.primitives.shielding import can_discard, finite_or, met, shielded
from mindgrad.core.primitives.static_slices import reverse
from mindgrad.core.primitives.stencil import is_stencil, stencil
from mindgrad.core.primitives.structural import broadcast_in_dim, reshape, transpose
from mindgrad.core.primitives.window_reach import window_reach

__all__ = ["conv"]


def _conv_type(
    x: TensorType,
    w: TensorType,
    strides: Shape,
    padding: Padding,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    groups: int,
    channels_last: bool = False,
) -> TensorType:
    if channels_last and w.rank >= 2 and x.rank >= w.rank:
        x, w = [each.with_shape(shape) for each, shape in zip((x, w), _shapes_in_front(x, w), strict=True)]
        y = _conv_type(x, w, strides, padding, lhs_dilation, rhs_dilation, groups)
        return y.with_shape(permuted_shape(y.shape, data_behind(y.rank, w.rank - 2)))
    if x.dtype is not w.dtype or x.dtype.kind == "bool":
        raise TypeError(
            f"For 'conv', the input and kernel must have the same numeric dtype, but got {x} and {w}."
        )
    spatial = w.rank - 2
    if x.rank < w.rank or spatial < 0:
        raise ValueError(
            f"For 'conv', the input (N, C, …) and the kernel (O, C / groups, …) must have the same rank, at "
            f"least 2, but got the shapes {x.shape} and {w.shape}."
        )
    samples, channels = x.shape[: x.rank - w.rank + 1], x.shape[x.rank - w.rank + 1]
    sizes = {"strides": strides, "lhs_dilation": lhs_dilation, "rhs_dilation": rhs_dilation}
    for parameter, numbers in sizes.items():
        if len(numbers) != spatial or any(n < 1 for n in numbers):
            raise ValueError(
                f"For 'conv', '{parameter}' must have {spatial} entries of at least 1 for an input "
                f"of shape {x.shape}, but got {numbers}."
            )
    if len(padding) != spatial:
        raise ValueError(
            f"For 'conv', 'padding' must have {spatial} pairs for an input of shape {x.shape}, "
            f"but got {padding}."
        )
    if groups < 1 or channels != w.shape[1] * groups or w.shape[0] % groups:
        raise ValueError(
            f"For 'conv', the input has {channels} channels, and the kernel has {w.shape[1]} input channels "
            f"and {w.shape[0]} output channels. With groups = {groups}, the input must have 'groups' times "
            "the input channels of the kernel, and the output channels must be a multiple of 'groups'."
        )
    if 0 in w.shape[2:]:
        raise ValueError(f"For 'conv', the kernel must not be empty, but got shape {w.shape}.")
    output = output_sizes(x.shape, w.shape, strides, padding, lhs_dilation, rhs_dilation)
    return x.with_shape((*samples, w.shape[0], *output))


def _shapes_in_front(x: TensorType | Array, w: TensorType | Array) -> tuple[Shape, Shape]:
    """Return the channels-first shapes of the channels-last operands ``x`` and ``w``."""
    rank, spatial = len(x.shape), len(w.shape) - 2
    return (
        permuted_shape(x.shape, data_in_front(rank, spatial)),
        permuted_shape(w.shape, kernel_in_front(spatial)),
    )


def _joined(x: Stored, w: Stored, reshaped: Callable) -> Stored:
    """Merge the sample axes of the input ``x`` into one axis."""
    more = len(x.shape) - len(w.shape)
    return reshaped(x, (math.prod(x.shape[: more + 1]), *x.shape[more + 1 :])) if more else x


def _conv_numpy(
    x: Array,
    w: Array,
    strides: Shape,
    padding: Padding,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    groups: int,
    channels_last: bool = False,
) -> Array:
    if channels_last:
        rank, spatial = x.ndim, w.ndim - 2
        x, w = x.transpose(data_in_front(rank, spatial)), w.transpose(kernel_in_front(spatial))
        y = _conv_numpy(x, w, strides, padding, lhs_dilation, rhs_dilation, groups)
        return y.transpose(data_behind(rank, spatial))
    kind, lead = x.dtype, x.shape[: x.ndim - w.ndim + 1]
    x = _joined(x, w, np.reshape)
    if is_half(kind):
        # sum float16 and bfloat16 in float32, as XLA does
        x, w = x.astype(np.float32), w.astype(np.float32)
    y = convolve(x, w, strides, padding, lhs_dilation, rhs_dilation, groups)
    return y.reshape((*lead, *y.shape[1:])).astype(kind, copy=False)


def _conv_xla(
    jax: Module,
    x: Array,
    w: Array,
    strides: Shape,
    groups: int,
    channels_last: bool = False,
    **window: Static,
) -> Array:
    joined = _joined(x, w, jax.numpy.reshape)
    if is_stencil(x, w, groups, channels_last):
        y = stencil(jax, joined, w, strides, groups, channels_last, **window)
        return y.reshape((*x.shape[: x.ndim - w.ndim + 1], *y.shape[1:]))
    behind, positions = len(strides) + 1, tuple(range(1, len(strides) + 1))
    data, kernel = (0, behind, *positions), (behind, behind - 1, *range(behind - 1))
    y = jax.lax.conv_general_dilated(
        joined,
        w,
        window_strides=strides,
        dimension_numbers=jax.lax.ConvDimensionNumbers(data, kernel, data) if channels_last else None,
        feature_group_count=groups,
        precision="highest",
        **window,
    )
    return y.reshape((*x.shape[: x.ndim - w.ndim + 1], *y.shape[1:]))


def _channels_exchanged(w: Atom, groups: int) -> Atom:
    """Exchange input and output channels of a kernel, group by group.

    The shape ``(O, C / groups, …)`` becomes ``(C, O / groups, …)``.
    """
    if groups == 1:
        return transpose(w, permutation=(1, 0, *range(2, len(w.shape))))
    outputs, channels, *window = w.shape
    split = reshape(w, shape=(groups, outputs // groups, channels, *window))
    split = transpose(split, permutation=(0, 2, 1, *range(3, len(split.shape))))
    return reshape(split, shape=(groups * channels, outputs // groups, *window))


def _samples_exchanged(x: Atom, groups: int) -> Atom:
    """Exchange samples and channels: ``(N, C, …)`` to ``(C / groups, groups · N, …)``."""
    if groups == 1:
        return transpose(x, permutation=(1, 0, *range(2, len(x.shape))))
    count, channels, *sizes = x.shape
    x = reshape(x, shape=(count, groups, channels // groups, *sizes))
    x = transpose(x, permutation=(2, 1, 0, *range(3, len(x.shape))))
    return reshape(x, shape=(channels // groups, groups * count, *sizes))


def _cotangent_input(
    ct: Atom,
    x: Atom,
    w: Atom,
    strides: Shape,
    padding: Padding,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    groups: int,
) -> Atom:
    """Emit the cotangent of ``x``: convolve ``ct``, dilated, with the reversed ``w``."""
    if not ct.type.size:
        return zeros(x.type)
    w = shielded(w, ct, (0,), (len(ct.shape) - len(strides) - 1,))
    return conv(
        ct,
        _channels_exchanged(reverse(w, axes=tuple(range(2, len(w.shape)))), groups),
        groups=groups,
        **_backwards(ct, x, w, strides, padding, lhs_dilation, rhs_dilation),
    )


def _backwards(
    ct: Atom, x: Atom, w: Atom, strides: Shape, padding: Padding, lhs_dilation: Shape, rhs_dilation: Shape
) -> Statics:
    """Return the parameters of the convolution of ``ct`` with the reversed kernel."""
    window = dilated(w.shape[2:], rhs_dilation)
    spread = dilated(ct.shape[len(ct.shape) - len(strides) :], strides)
    full = dilated(x.shape[len(x.shape) - len(strides) :], lhs_dilation)
    low = [k - 1 - before for k, (before, _) in zip(window, padding, strict=True)]
    # choose the padding at the end so that the cotangent has the size of the dilated input
    high = [n + k - 1 - m - a for n, k, m, a in zip(full, window, spread, low, strict=True)]
    around = tuple(zip(low, high, strict=True))
    return dict(strides=lhs_dilation, padding=around, lhs_dilation=strides, rhs_dilation=rhs_dilation)


def _shielded_input(ct: Atom, x: Atom, w: Atom, groups: int, **window: Static) -> Atom:
    """Set infinite elements of ``x`` to 0 if only windows with cotangent 0 read them."""
    if not can_discard(ct, x):
        return x
    spatial = len(w.shape) - 2
    rank = len(x.shape)
    samples, channels, sizes = (
        x.shape[: rank - spatial - 1],
        x.shape[rank - spatial - 1],
        x.shape[rank - spatial :],
    )
    axis = len(samples) + 1  # axis of the channels within a group
    outputs = ct.shape[axis - 1] // groups
    live = met(reshape(ct, shape=(*samples, groups, outputs, *ct.shape[axis:])), (axis,))
    skips = reduce_all(isfinite(x), axes=tuple(range(axis - 1, rank)))
    mask = window_reach(live, skips, window=w.shape[2:], **_backwards(ct, x, w, **window))
    dims = (*range(axis), *range(axis + 1, rank + 1))
    mask = broadcast_in_dim(mask, shape=(*samples, groups, channels // groups, *sizes), dims=dims)
    return finite_or(reshape(mask, shape=x.shape), x)


def _cotangent_kernel(
    ct: Atom,
    x: Atom,
    w: Atom,
    strides: Shape,
    padding: Padding,
    lhs_dilation: Shape,
    rhs_dilation: Shape,
    groups: int,
) -> Atom:
    """Emit the cotangent of ``w``: convolve ``x`` with ``ct``, samples as channels."""
    if not ct.type.size or not x.type.size:
        return zeros(w.type)
    steps = dict(strides=strides, padding=padding, lhs_dilation=lhs_dilation, rhs_dilation=rhs_dilation)
    x = _shielded_input(ct, x, w, groups, **steps)
    x, ct = [_joined(each, w, lambda x, shape: reshape(x, shape=shape)) for each in (x, ct)]
    window = dilated(w.shape[2:], rhs_dilation)
    spread = dilated(ct.shape[2:], strides)
    full = dilated(x.shape[2:], lhs_dilation)
    low = [before for before, _ in padding]
    if math.prod(ct.shape[2:]) > math.prod(x.shape[2:]):
        # exchange input and kernel here, because XLA would exchange them too, but with slow loops over a
        # reversed kernel
        low = [k - 1 - before for k, before in zip(window, low, strict=True)]
        high = [n + k - 1 - m - a for n, k, m, a in zip(full, window, spread, low, strict=True)]
        around = tuple(zip(low, high, strict=True))
        steps |= dict(strides=rhs_dilation, padding=around, lhs_dilation=strides, rhs_dilation=lhs_dilation)
        return _cotangent_kernel_exchanged(ct, x, groups, **steps)
    x = _samples_exchanged(x, groups)
    kernel = transpose(ct, permutation=(1, 0, *range(2, len(ct.shape))))
    # with strides, windows may not read some elements at the end; a negative padding removes these elements
    high = [m + k - 1 - n - a for n, k, m, a in zip(full, window, spread, low, strict=True)]
    gradient = conv(
        x,
        kernel,
        strides=rhs_dilation,
        padding=tuple(zip(low, high, strict=True)),
        lhs_dilation=lhs_dilation,
        rhs_dilation=strides,
        groups=groups,
    )
    return transpose(gradient, permutation=(1, 0, *range(2, len(gradient.shape))))


def _cotangent_kernel_exchanged(ct: Atom, x: Atom, groups: int, **window: Static) -> Atom:
    """Emit the cotangent of ``w`` as a convolution of ``ct`` with ``x``, reversed."""
    kernel = transpose(x, permutation=(1, 0, *range(2, len(x.shape))))
    gradient = conv(_samples_exchanged(ct, groups), kernel, groups=groups, **window)
    if groups > 1:
        outputs, channels, *sizes = gradient.shape
        split = reshape(gradient, shape=(outputs, groups, channels // groups, *sizes))
        split = transpose(split, permutation=(1, 0, *range(2, len(split.shape))))
        gradient = reshape(split, shape=(groups * outputs, channels // groups, *sizes))
    return reverse(gradient, axes=tuple(range(2, len(gradient.shape))))


def _in_either_order(rule: Callable, slot: int) -> Callable:
    """Extend the transpose rule ``rule`` for channels first to channels-last operands."""

    def cotangent(ct: Atom, x: Atom, w: Atom, channels_last: bool = False, **window: Static) -> Atom:
        if not channels_last:
            return rule(ct, x, w, **window)
        rank, spatial = len(x.shape), len(w.shape) - 2
        front, kernel = data_in_front(rank, spatial), kernel_in_front(spatial)
        ct, x, w = [transpose(v, permutation=p) for v, p in ((ct, front), (x, front), (w, kernel))]
        back = kernel_behind(spatial) if slot else data_behind(rank, spatial)
        return transpose(rule(ct, x, w, **window), permutation=back)

    return cotangent


def _conv_batch(size: int, xs: Atoms, at: Sequence, groups: int, **window: Static) -> tuple[Atom, int]:
    """Merge the batch axis of ``vmap`` into the samples, output channels, or groups.

    If only the input has a batch axis, this axis becomes a sample axis. If only the kernel has a batch axis,
    it is merged into the output channels. If both have a batch axis, each element of the batch becomes a
    group of channels.
    """
    x, w = xs
    if window.pop("channels_last", False):
        return _channels_last_batch(size, xs, at, groups=groups, **window)
    if at[1] is None:
        return conv(moved(x, at[0], 0), w, groups=groups, **window), 0
    lead = len(x.shape) - (at[0] is not None) - (len(w.shape) - 2)
    if lead > 1:  # merge several sample axes into one for the following cases
        x = x if at[0] is None else moved(x, at[0], 0)
        first = () if at[0] is None else (size,)
        samples = x.shape[len(first) : len(first) + lead]
        x = reshape(x, shape=(*first, math.prod(samples), *x.shape[len(first) + lead :]))
        y, axis = _conv_batch(size, (x, w), (None if at[0] is None else 0, at[1]), groups, **window)
        y = moved(y, axis, 0)
        return reshape(y, shape=(size, *samples, *y.shape[2:])), 0
    if at[0] is None:
        # merge the batch axis of the kernel into its output channels, which are ordered by groups
        w = moved(w, at[1], 0)
        outputs, rest = w.shape[1] // groups, w.shape[2:]
        w = reshape(w, shape=(size, groups, outputs, *rest))
        w = reshape(moved(w, 0, 1), shape=(groups * size * outputs, *rest))
        y = conv(x, w, groups=groups, **window)
        y = reshape(y, shape=(y.shape[0], groups, size, outputs, *y.shape[2:]))
        y = moved(y, 2, 0)
        return reshape(y, shape=(size, y.shape[1], groups * outputs, *y.shape[4:])), 0
    x, w = moved(x, at[0], 1), moved(w, at[1], 0)
    y = conv(
        reshape(x, shape=(x.shape[0], size * x.shape[2], *x.shape[3:])),
        reshape(w, shape=(size * w.shape[1], *w.shape[2:])),
        groups=size * groups,
        **window,
    )
    return reshape(y, shape=(y.shape[0], size, w.shape[1], *y.shape[2:])), 1


def _channels_last_batch(size: int, xs: Atoms, at: BatchAxes, **window: Static) -> tuple[Atom, int]:
    """Apply :func:`_conv_batch` to channels-last operands, by permuting their axes."""
    spatial = len(window["strides"])
    x, w = [each if axis is None else moved(each, axis, 0) for each, axis in zip(xs, at, strict=True)]
    x = transpose(x, permutation=data_in_front(len(x.shape), spatial))
    kernel = kernel_in_front(spatial)
    w = transpose(w, permutation=kernel if at[1] is None else (0, *[axis + 1 for axis in kernel]))
    y, axis = _conv_batch(size, (x, w), tuple([None if k is None else 0 for k in at]), **window)
    y = moved(y, axis, 0)
    return transpose(y, permutation=data_behind(len(y.shape), spatial)), 0


def _conv_flops(equation: Equation) -> int:
    # each output element is a sum over the window and the channels of a group
    shape = equation.inputs[1].shape
    return 2 * equation.outputs[0].type.size * math.prod(_taps(shape, equation.parameters))


def _taps(kernel: Shape, parameters: Statics) -> Shape:
    """Return the shape of the kernel elements that one output element multiplies."""
    return kernel[:-1] if parameters.get("channels_last") else kernel[1:]


def _window(rank: int, groups: int = 1, **changes: object) -> Statics:
    """Return all parameters of a test sample: the defaults, updated with ``changes``."""
    ones, none = (1,) * rank, ((0, 0),) * rank
    plain = dict(strides=ones, padding=none, lhs_dilation=ones, rhs_dilation=ones)
    return {**plain, **changes, "groups": groups}


_SIGNAL, _IMAGE = reals(-1, 1)[2, 3, 7], reals(-1, 1)[2, 2, 5, 6]
_VOLUME = reals(-1, 1)[1, 2, 3, 4, 3]

#: ``conv(x, w, strides, padding, lhs_dilation, rhs_dilation, groups)`` convolves an input ``(N, C, …)`` with
#: a kernel ``(O, C / groups, …)``; the result has the axes ``(N, O, …)``. ``padding`` contains a pair
#: ``(before, after)`` for each axis
conv = multilinear(
    "conv",
    work=by(_conv_flops),
    type_rule=_conv_type,
    numpy=_conv_numpy,
    xla=_conv_xla,
    transpose=[_in_either_order(_cotangent_input, 0), _in_either_order(_cotangent_kernel, 1)],
    axes=ConvolutionAxes(),
    pattern=convolved,
    batch=_conv_batch,
    samples=[
        case(_SIGNAL, reals()[4, 3, 3], **_window(1)),
        case(_SIGNAL, reals()[2, 3, 2], **_window(1, strides=(2,), padding=((1, 2),))),
        case(_SIGNAL, reals()[2, 3, 3], **_window(1, strides=(3,), rhs_dilation=(2,), padding=((2, 1),))),
        case(_SIGNAL, reals()[2, 3, 2], **_window(1, strides=(2,), lhs_dilation=(3,), padding=((-1, 2),))),
        case(_SIGNAL, reals()[6, 1, 3], **_window(1, groups=3, padding=((1, 1),))),
        case(_IMAGE, reals()[3, 2, 3, 2], **_window(2, padding=((1, 0), (0, 2)))),
        case(
            _IMAGE,
            reals()[4, 1, 2, 3],
            **_window(
                2,
                groups=2,
                strides=(2, 1),
                padding=((1, 1), (-1, 2)),
                lhs_dilation=(1, 2),
                rhs_dilation=(2, 1),
            ),
        ),
        case(_VOLUME, reals()[2, 2, 2, 2, 2], **_window(3, strides=(1, 2, 1))),
        case(reals()[2, 3, 2, 5], reals()[4, 1, 2], **_window(1, groups=2, strides=(2,), padding=((1, 0),))),
        case(reals()[0, 2, 4], reals()[3, 2, 2], **_window(1)),
        case(
            reals()[2, 5, 4, 4],
            reals()[3, 2, 2, 6],
            **_window(2, groups=2, strides=(2, 1), padding=((1, 1), (0, 2)), channels_last=True),
        ),
        case(
            reals()[2, 5, 4, 3],
            reals()[3, 2, 1, 6],
            **_window(2, groups=3, lhs_dilation=(1, 2), rhs_dilation=(2, 1), channels_last=True),
        ),
        case(reals()[2, 3, 5, 2], reals()[2, 2, 4], **_window(1, rhs_dilation=(2,), channels_last=True)),
        case(reals()[2, 2, 1], reals()[3, 2, 2], **_window(1)),
    ],
)
