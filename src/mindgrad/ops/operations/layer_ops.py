"""Pooling and normalization as operator classes, for layers of older programs."""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import normalization, pooling
from mindgrad.ops.activation import real_operand
from mindgrad.ops.axes import normalize_axis
from mindgrad.ops.operands import cast
from mindgrad.ops.operations.base import (
    anything,
    boolean,
    classes,
    integer,
    integers,
    number,
    operation,
    text,
)
from mindgrad.ops.pool_windows import avg_pooled, max_pooled, pool_windows
from mindgrad.ops.reduction import widened
from mindgrad.ops.registry import public


def _mode(self: Any) -> str:
    supported = "NCDHW" if type(self).__name__.endswith("3D") else "NCHW"
    if self.data_format != supported:
        raise ValueError(
            f"For '{type(self).__name__}', the 'data_format' must be '{supported}', but got "
            f"{self.data_format!r}."
        )
    return self.pad_mode.lower()


def _max(self: Any, x: Any) -> Any:
    name, axes, mode = type(self).__name__, 3 if type(self).__name__.endswith("3D") else 2, _mode(self)
    padding = getattr(self, "pad_list", 0)
    ceil = bool(getattr(self, "ceil_mode", False))
    return max_pooled(
        name, axes, x,
        lambda shape: pool_windows(name, axes, shape, self.kernel_size, self.strides, mode, padding, 1, ceil),
        False,
    )  # fmt: skip


def _avg(self: Any, x: Any) -> Tensor:
    name, axes, mode = type(self).__name__, 3 if type(self).__name__.endswith("3D") else 2, _mode(self)
    return avg_pooled(
        name, axes, x, self.kernel_size, self.strides, mode, getattr(self, "pad", 0),
        getattr(self, "ceil_mode", False), getattr(self, "count_include_pad", True),
        getattr(self, "divisor_override", None),
    )  # fmt: skip


_WINDOWS = {"kernel_size": integers(1), "strides": integers(1), "pad_mode": text("valid")}
_IMAGE = "ops.ones((1, 2, 4, 4))"
_VOLUME = "ops.ones((1, 2, 4, 4, 4))"

MaxPool = operation(
    __name__, "MaxPool", pooling.max_pool2d, run=_max, attributes={**_WINDOWS, "data_format": text("NCHW")},
    example=f"ops.MaxPool(2, 2)({_IMAGE}).shape", prints="(1, 2, 2, 2)",
)  # fmt: skip
MaxPool3D = operation(
    __name__, "MaxPool3D", pooling.max_pool3d, run=_max,
    attributes={
        **_WINDOWS, "pad_list": integers(0), "ceil_mode": anything("a bool or None", None),
        "data_format": text("NCDHW"),
    },
    example=f"ops.MaxPool3D(2, 2)({_VOLUME}).shape", prints="(1, 2, 2, 2, 2)",
)  # fmt: skip
AvgPool = operation(
    __name__, "AvgPool", pooling.avg_pool2d, run=_avg, attributes={**_WINDOWS, "data_format": text("NCHW")},
    example=f"ops.AvgPool(2, 2)({_IMAGE}).shape", prints="(1, 2, 2, 2)",
)  # fmt: skip
AvgPool3D = operation(
    __name__, "AvgPool3D", pooling.avg_pool3d, run=_avg,
    attributes={
        **_WINDOWS, "pad": integers(0), "ceil_mode": boolean(False), "count_include_pad": boolean(True),
        "divisor_override": integer(0), "data_format": text("NCDHW"),
    },
    example=f"ops.AvgPool3D(2, 2)({_VOLUME}).shape", prints="(1, 2, 2, 2, 2)",
)  # fmt: skip

_SIZES = "(output_size: anything('an int, None, or a tuple of them'))(x)"

public(
    f"AdaptiveAvgPool2D{_SIZES} -> adaptive_avg('AdaptiveAvgPool2D', 2, x, self.output_size)"
    f" >>> ops.AdaptiveAvgPool2D((3, None))({_IMAGE}).shape => (1, 2, 3, 4)"
)(pooling.adaptive_avg_pool2d)
public(
    f"AdaptiveAvgPool3D{_SIZES} -> adaptive_avg('AdaptiveAvgPool3D', 3, x, self.output_size)"
    f" >>> ops.AdaptiveAvgPool3D(3)({_VOLUME}).shape => (1, 2, 3, 3, 3)"
)(pooling.adaptive_avg_pool3d)
public(
    f"AdaptiveMaxPool2D{_SIZES} -> adaptive_max('AdaptiveMaxPool2D', 2, x, self.output_size, True)"
    f" >>> ops.AdaptiveMaxPool2D(3)({_IMAGE})[0].shape => (1, 2, 3, 3)"
)(pooling.adaptive_max_pool2d)

# --- LayerNorm and BatchNorm -------------------------------------------------------------------------


def _layer_norm(self: Any, x: Any, gamma: Any, beta: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Normalize over the axes ≥ ``begin_norm_axis``; return also mean and variance."""
    original = real_operand(x, "LayerNorm")
    first = normalize_axis(self.begin_norm_axis, original.ndim, "LayerNorm")
    params = normalize_axis(self.begin_params_axis, original.ndim, "LayerNorm")
    for name, each in (("gamma", gamma), ("beta", beta)):
        shape = real_operand(each, "LayerNorm").shape
        if shape != original.shape[params:]:
            raise ValueError(
                f"For 'LayerNorm', the '{name}' must have the shape {original.shape[params:]}, but its "
                f"shape is {shape}."
            )
    x = widened(original)
    mean, variance = normalization.statistics(x, tuple(range(first, x.ndim)))
    y = normalization.normalized(x, mean, variance, self.epsilon, gamma, beta)
    return cast(y, original.dtype), mean, variance


LayerNorm = operation(
    __name__, "LayerNorm", normalization.layer_norm, run=_layer_norm,
    attributes={"begin_norm_axis": integer(1), "begin_params_axis": integer(1), "epsilon": number(1e-7)},
    example="ops.LayerNorm()(Tensor([[1.0, 3.0]]), Tensor([1.0, 1.0]), Tensor([0.0, 0.0]))[1]",
    prints="[[2.]]",
)  # fmt: skip


def _batch_norm(
    self: Any, x: Any, scale: Any, bias: Any, mean: Any, variance: Any
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    if self.data_format != "NCHW":
        raise ValueError(f"For 'BatchNorm', the 'data_format' must be 'NCHW', but got {self.data_format!r}.")
    y, used_mean, used_variance = normalization.normalized_batch(
        "BatchNorm", x, (mean, variance), (scale, bias), self.is_training, self.momentum, self.epsilon
    )
    return y, used_mean, used_variance, used_mean, used_variance


BatchNorm = operation(
    __name__, "BatchNorm", normalization.batch_norm, run=_batch_norm,
    attributes={
        "is_training": boolean(False), "epsilon": number(1e-5), "momentum": number(0.1),
        "data_format": text("NCHW"),
    },
    example="ops.BatchNorm(is_training=True)(Tensor([[1.0], [3.0]]), *[Tensor([1.0])] * 4)[1]",
    prints="[2.]",
)  # fmt: skip


__all__ = list(classes(globals()))
