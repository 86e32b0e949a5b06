"""Convolutions over one, two, or three axes, and transposed convolutions."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.convolution import conv as conv_primitive
from mindgrad.core.primitives.static_slices import reverse
from mindgrad.core.primitives.structural import reshape, transpose
from mindgrad.ops.affine import bias_add
from mindgrad.ops.arguments import one_or_more, whole_number
from mindgrad.ops.operands import applied, promoted

__all__ = [
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
]  # fmt: skip

Sizes = tuple[int, ...]


# --- checks of arguments -----------------------------------------------------------------------------


def per_axis(value: Any, axes: int, operator: str, name: str, least: int) -> Sizes:
    """Convert one int, or one int for each axis, to one int for each axis.

    Raises:
        TypeError: If an element is not an int.
        ValueError: If an element is below ``least``, or the number of elements is wrong.
    """
    numbers = tuple(whole_number(each, operator, name, least) for each in one_or_more(value))
    if len(numbers) == axes + 2 and numbers[:2] == (1, 1):
        # MindSpore also accepts sizes with two leading ones for the batch and channel axes: (1, 1, h, w)
        numbers = numbers[2:]
    if len(numbers) not in (1, axes):
        raise ValueError(
            f"For '{operator}', the '{name}' must be one int or {axes} ints, but got {len(numbers)} ints: "
            f"{value}."
        )
    return numbers * axes if len(numbers) == 1 else numbers


def margins(
    operator: str,
    mode: Any,
    padding: Any,
    sizes: Sizes,
    window: Sizes,
    stride: Sizes,
    padding_name: str = "padding",
) -> tuple[tuple[int, int], ...]:
    """Compute the number of zeros before and after each axis of an input of ``sizes``.

    The mode ``"valid"`` means no zeros. With ``"same"``, an axis of n elements results in ⌈n / stride⌉
    elements; if the number of zeros is odd, the additional zero is after the axis. With ``"pad"``,
    ``padding`` is one number for all sides, one number for each axis, or two numbers (before, after) for each
    axis.

    Raises:
        TypeError: If ``padding`` is not an int or a tuple of ints.
        ValueError: If ``mode`` is unknown, or ``padding`` has a wrong length or is negative, or it is nonzero
            and ``mode`` is not ``"pad"``.
    """
    axes = len(sizes)
    numbers = tuple(whole_number(each, operator, padding_name, 0) for each in one_or_more(padding))
    if mode == "pad":
        if len(numbers) == 2 * axes:
            return tuple(zip(numbers[::2], numbers[1::2], strict=True))
        if len(numbers) not in (1, axes):
            raise ValueError(
                f"For '{operator}', the '{padding_name}' must be one int, {axes} ints or {2 * axes} ints, "
                f"but got {len(numbers)} ints: {padding}."
            )
        numbers = numbers * axes if len(numbers) == 1 else numbers
        return tuple((n, n) for n in numbers)
    if mode not in ("valid", "same"):
        raise ValueError(
            f"For '{operator}', the 'pad_mode' must be 'valid', 'same' or 'pad', but got {mode!r}."
        )
    if any(numbers):
        raise ValueError(
            f"For '{operator}', the '{padding_name}' must be 0 unless 'pad_mode' is 'pad', but it is "
            f"{padding} and 'pad_mode' is {mode!r}."
        )
    if mode == "valid":
        return ((0, 0),) * axes
    totals = (max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in zip(sizes, window, stride, strict=True))
    return tuple((total // 2, total - total // 2) for total in totals)


def _operands(operator: str, axes: int, x: Any, weight: Any, bias: Any) -> list[Tensor]:
    tensors = [x, weight] if bias is None else [x, weight, bias]
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"For '{operator}', input, weight and bias must be tensors, but got {type(tensor).__name__}."
            )
    tensors = promoted(operator, *tensors, broadcast=False)
    for name, tensor in zip(("input", "weight"), tensors, strict=False):
        if tensor.ndim != axes + 2:
            raise ValueError(
                f"For '{operator}', the '{name}' must have {axes + 2} axes, but its shape is {tensor.shape}."
            )
    return tensors


def _window(weight: Tensor, dilation: Sizes) -> Sizes:
    return tuple((n - 1) * d + 1 for n, d in zip(weight.shape[2:], dilation, strict=True))


# --- convolutions ------------------------------------------------------------------------------------


def convolution(
    operator: str,
    axes: int,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    mode: Any = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Tensor:
    """Compute a convolution over the last ``axes`` axes, for ``conv1d`` to ``conv3d``."""
    tensors = _operands(operator, axes, x, weight, bias)
    x, w = tensors[:2]
    strides = per_axis(stride, axes, operator, "stride", 1)
    steps = per_axis(dilation, axes, operator, "dilation", 1)
    y = applied(
        conv_primitive,
        operator,
        x,
        w,
        strides=strides,
        padding=margins(operator, mode, padding, x.shape[2:], _window(w, steps), strides),
        lhs_dilation=(1,) * axes,
        rhs_dilation=steps,
        groups=whole_number(groups, operator, "groups", 1),
    )
    return y if bias is None else bias_add(y, tensors[2])


_DOC = """Compute the convolution over {words}, without reversing the kernel.

    y[n, o, p] = b[o] + Σ_(c, k) x[n, c, stride · p + dilation · k] w[o, c, k].

    Args:
        input (Tensor): tensor of shape (n, channels, {axes}).
        weight (Tensor): convolution kernel, of shape (outputs, channels / groups, {kernel}).
        bias (Tensor or None): tensor of shape (outputs,) that is added to the output channels.
        stride (int or tuple of int): step between neighboring windows: one int for all axes, or
            one for each axis.
        pad_mode (str): ``"valid"`` adds no zeros. ``"same"`` pads with zeros such that an axis of size n
            has size ⌈n / stride⌉ in the result. ``"pad"`` adds ``padding`` zeros around the input.
        padding (int or tuple of int): number of zeros: one int for all sides, one for each
            axis, or two (before, after) for each axis. It must be 0 unless ``pad_mode`` is ``"pad"``.
        dilation (int or tuple of int): spacing between kernel elements.
        groups (int): number of groups into which input and output channels are split. Each
            group has its own kernel.

    Returns:
        Tensor of shape (n, outputs, {outputs}).

    Raises:
        TypeError: If an operand is not a tensor, or ``stride``, ``padding``, ``dilation``, or
            ``groups`` is not an int or tuple of int.
        ValueError: If the shapes of the tensors do not match, or another argument is out of range.

    >>> from mindgrad import Tensor, ops
    >>> x, w = {example}
    >>> print(ops.conv{count}d(x, w).shape, ops.conv{count}d(x, w, pad_mode="same").shape)
    {prints}
    """


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    return convolution("Conv1D", 1, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    return convolution("Conv2D", 2, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    return convolution("Conv3D", 3, input, weight, bias, stride, pad_mode, padding, dilation, groups)


# --- transposed convolutions -------------------------------------------------------------------------


def input_of_convolution(
    operator: str,
    y: Tensor,
    w: Tensor,
    sizes: Sizes,
    padding: tuple[tuple[int, int], ...],
    stride: Sizes,
    dilation: Sizes,
    groups: int,
) -> Tensor:
    """Apply the transpose of a convolution to ``y``.

    The spatial axes of the result have the sizes ``sizes``.

    The transpose is a convolution of ``y``, with zeros inserted between its elements. Its kernel is reversed,
    and its channels and outputs are exchanged.
    """
    if w.ndim != y.ndim or w.shape[0] != y.shape[1] or w.shape[0] % groups:
        raise ValueError(
            f"For '{operator}', the first size of the 'weight' must equal the number of channels of the "
            f"input and be a multiple of 'groups'. The shapes of weight and input are {w.shape} and "
            f"{y.shape}, and 'groups' is {groups}."
        )
    axes = tuple(range(2, w.ndim))
    outputs, channels, *kernel = w.shape
    flipped = apply(reverse, w, axes=axes)
    split = apply(reshape, flipped, shape=(groups, outputs // groups, channels, *kernel))
    split = apply(transpose, split, permutation=(0, 2, 1, *(axis + 1 for axis in axes)))
    exchanged = apply(reshape, split, shape=(groups * channels, outputs // groups, *kernel))
    around = []
    for n, m, k, s, (before, _) in zip(
        sizes, y.shape[2:], _window(w, dilation), stride, padding, strict=True
    ):
        low = k - 1 - before
        around.append((low, n + k - 1 - ((m - 1) * s + 1 if m else 0) - low))
    return applied(
        conv_primitive,
        operator,
        y,
        exchanged,
        strides=(1,) * len(axes),
        padding=tuple(around),
        lhs_dilation=stride,
        rhs_dilation=dilation,
        groups=groups,
    )


def input_gradient(
    operator: str,
    axes: int,
    y: Any,
    weight: Any,
    input_size: Any,
    stride: Any,
    mode: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    """Compute the gradient of a convolution with respect to its input.

    ``y`` is the cotangent of the output, and ``input_size`` is the shape of the convolution's input.
    """
    y, w = _operands(operator, axes, y, weight, None)
    sizes = tuple(whole_number(each, operator, "input_size", 0) for each in one_or_more(input_size))
    strides = per_axis(stride, axes, operator, "stride", 1)
    steps = per_axis(dilation, axes, operator, "dilation", 1)
    window = _window(w, steps)
    around = margins(operator, mode, padding, sizes[2:], window, strides) if len(sizes) == axes + 2 else ()
    expected = tuple(
        (n + low + high - k) // s + 1
        for n, (low, high), k, s in zip(sizes[2:], around, window, strides, strict=False)
    )
    if sizes[:2] != (y.shape[0], w.shape[1] * groups) or expected != y.shape[2:]:
        raise ValueError(
            f"For '{operator}', the 'input_size' must be the shape of an input whose convolution with a "
            f"kernel of shape {w.shape} has the shape {y.shape}, but got {sizes}."
        )
    return input_of_convolution(operator, y, w, sizes[2:], around, strides, steps, groups)


def _transposed(
    axes: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    mode: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: Any,
) -> Tensor:
    operator = f"Conv{axes}DTranspose"
    tensors = _operands(operator, axes, x, weight, bias)
    x, w = tensors[:2]
    strides = per_axis(stride, axes, operator, "stride", 1)
    steps = per_axis(dilation, axes, operator, "dilation", 1)
    more = per_axis(output_padding, axes, operator, "output_padding", 0)
    window = _window(w, steps)
    if mode == "same":
        sizes = tuple(n * s for n, s in zip(x.shape[2:], strides, strict=True))
        around = margins(operator, mode, padding, sizes, window, strides)
    else:
        around = margins(operator, mode, padding, x.shape[2:], window, strides)
        sizes = tuple(
            (n - 1) * s + k - low - high
            for n, s, k, (low, high) in zip(x.shape[2:], strides, window, around, strict=True)
        )
    if any(extra >= max(s, d) for extra, s, d in zip(more, strides, steps, strict=True)):
        raise ValueError(
            f"For '{operator}', the 'output_padding' must be smaller than the stride or the dilation along "
            f"each axis, but it is {more}, the stride {strides} and the dilation {steps}."
        )
    sizes = tuple(n + extra for n, extra in zip(sizes, more, strict=True))
    y = input_of_convolution(
        operator, x, w, sizes, around, strides, steps, whole_number(groups, operator, "groups", 1)
    )
    return y if bias is None else bias_add(y, tensors[2])


_TRANSPOSED_DOC = """Compute the transpose of the convolution over {words}.

    The transpose is the pullback of :func:`conv{count}d` with this kernel, with respect to its input.

    Args:
        input (Tensor): tensor of shape (n, channels, {axes}).
        weight (Tensor): convolution kernel, of shape (channels, outputs / groups, {kernel}).
        bias (Tensor or None): tensor of shape (outputs,) that is added to the output channels.
        stride (int or tuple of int): stride of the convolution. It multiplies the sizes of the axes.
        pad_mode (str): padding of the convolution. With ``"valid"``, there is none. With ``"same"``, an axis
            of size n has size n · stride in the result. ``"pad"`` removes ``padding`` elements at each end.
        padding (int or tuple of int): number of zeros: one int for all sides, one for each
            axis, or two (before, after) for each axis. It must be 0 unless ``pad_mode`` is ``"pad"``.
        output_padding (int or tuple of int): number of elements to append to each axis of the
            result. It must be less than ``stride`` or ``dilation``.
        dilation (int or tuple of int): spacing between kernel elements.
        groups (int): number of groups into which input and output channels are split. Each
            group has its own kernel.

    Returns:
        Tensor of shape (n, outputs, {outputs}). Without padding, an axis of size n has size
        (n − 1) · stride + k in the result, where k is the size of the kernel.

    Raises:
        TypeError: If an operand is not a tensor, or ``stride``, ``padding``, ``dilation``, or
            ``groups`` is not an int or tuple of int.
        ValueError: If the shapes of the tensors do not match, or another argument is out of range.

    >>> from mindgrad import Tensor, ops
    >>> x, w = {example}
    >>> print(ops.conv_transpose{count}d(x, w, stride=2).shape)
    {prints}
    """


def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    return _transposed(1, input, weight, bias, stride, pad_mode, padding, output_padding, dilation, groups)


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    return _transposed(2, input, weight, bias, stride, pad_mode, padding, output_padding, dilation, groups)


def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    return _transposed(3, input, weight, bias, stride, pad_mode, padding, output_padding, dilation, groups)


# --- docstrings for one, two, and three axes ---------------------------------------------------------


def _describe() -> None:
    """Write the docstrings for one, two, and three axes from the shared templates."""
    words = ("one axis", "two axes", "three axes")
    letters = ("w", "h, w", "d, h, w")
    for count in (1, 2, 3):
        names = letters[count - 1].replace(" ", "").split(",")
        common = dict(
            words=words[count - 1],
            count=count,
            axes=letters[count - 1],
            kernel=", ".join(f"k{name}" for name in names),
            outputs=", ".join(f"{name}'" for name in names),
        )
        five, three, eleven = (5,) * count, (3,) * count, (11,) * count
        globals()[f"conv{count}d"].__doc__ = _DOC.format(
            example=_shapes((1, 2, *five), (4, 2, *three)),
            prints=f"{(1, 4, *three)} {(1, 4, *five)}",
            **common,
        )
        globals()[f"conv_transpose{count}d"].__doc__ = _TRANSPOSED_DOC.format(
            example=_shapes((1, 2, *five), (2, 4, *three)), prints=f"{(1, 4, *eleven)}", **common
        )


def _shapes(x: Sizes, w: Sizes) -> str:
    return f"ops.ones({x}), ops.ones({w})"


_describe()
