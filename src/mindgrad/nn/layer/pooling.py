"""Pooling layers: reduce windows over the last axes of images and sequences."""

from __future__ import annotations

from typing import Any

from mindgrad.nn.function_cells import FunctionCell, function_cell, function_cells
from mindgrad.nn.layer.parameters import check_data_format
from mindgrad.ops import pooling, unpooling
from mindgrad.ops.operations.base import Attribute, anything, boolean, integers, text
from mindgrad.ops.pool_windows import avg_pooled, max_pooled, pool_windows


class _Pool(FunctionCell):
    """Base class of pooling layers; ``pad_mode`` may be upper case."""

    kernel_size: Any
    stride: Any
    pad_mode: str

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pad_mode = self.pad_mode.lower()
        check_data_format(type(self).__name__, getattr(self, "data_format", "NCHW"), "NCHW")

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


def _windows(*more: str) -> dict[str, Attribute]:
    """Return the attributes of pooling windows, and ``more`` attributes by name."""
    others = {
        "dilation": integers(1),
        "return_indices": boolean(False),
        "ceil_mode": boolean(False),
        "count_include_pad": boolean(True),
        "divisor_override": anything("an int or None", None),
        "data_format": text("NCHW"),
    }
    attributes = {
        "kernel_size": integers(1),
        "stride": integers(1),
        "pad_mode": text("valid"),
        "padding": integers(0),
    }
    return attributes | {name: others[name] for name in more}


def _max(axes: int, attributes: dict[str, Attribute], example: str, prints: str) -> Any:
    name = f"MaxPool{axes}d"

    def run(self: Any, x: Any) -> Any:
        return max_pooled(
            name,
            axes,
            x,
            lambda shape: pool_windows(
                name, axes, shape, self.kernel_size, self.stride, self.pad_mode, self.padding, self.dilation,
                self.ceil_mode,
            ),
            self.return_indices,
        )  # fmt: skip

    return function_cell(
        __name__, name, getattr(pooling, f"max_pool{axes}d"), attributes=attributes, run=run, base=_Pool,
        inputs="x", example=example, prints=prints,
    )  # fmt: skip


def _avg(axes: int, attributes: dict[str, Attribute], example: str, prints: str) -> Any:
    name = f"AvgPool{axes}d"

    def run(self: Any, x: Any) -> Any:
        return avg_pooled(
            name, axes, x, self.kernel_size, self.stride, self.pad_mode, self.padding, self.ceil_mode,
            self.count_include_pad, getattr(self, "divisor_override", None),
        )  # fmt: skip

    return function_cell(
        __name__, name, getattr(pooling, f"avg_pool{axes}d"), attributes=attributes, run=run, base=_Pool,
        inputs="x", example=example, prints=prints,
    )  # fmt: skip


_OF_MAX = ("dilation", "return_indices", "ceil_mode")
_OF_AVG = ("ceil_mode", "count_include_pad")

MaxPool1d = _max(1, _windows(*_OF_MAX), "nn.MaxPool1d(2, 2)(Tensor([[[1.0, 5.0, 2.0, 0.0]]]))", "[[[5. 2.]]]")
MaxPool2d = _max(
    2, _windows(*_OF_MAX, "data_format"),
    'nn.MaxPool2d(3, 2, "same")(ops.ones((1, 2, 7, 7))).shape', "(1, 2, 4, 4)",
)  # fmt: skip
MaxPool3d = _max(
    3, _windows(*_OF_MAX), "nn.MaxPool3d(2, 2)(ops.ones((1, 2, 4, 4, 4))).shape", "(1, 2, 2, 2, 2)"
)
AvgPool1d = _avg(1, _windows(*_OF_AVG), "nn.AvgPool1d(2, 2)(Tensor([[[1.0, 5.0, 2.0, 0.0]]]))", "[[[3. 1.]]]")
AvgPool2d = _avg(
    2, _windows(*_OF_AVG, "divisor_override", "data_format"),
    'nn.AvgPool2d(3, 2, "same")(ops.ones((1, 2, 7, 7))).shape', "(1, 2, 4, 4)",
)  # fmt: skip
AvgPool3d = _avg(
    3, _windows(*_OF_AVG, "divisor_override"),
    "nn.AvgPool3d(2, 2)(ops.ones((1, 2, 4, 4, 4))).shape", "(1, 2, 2, 2, 2)",
)  # fmt: skip


def _adaptive(kind: str, axes: int, shape: Any, prints: str) -> Any:
    name = f"Adaptive{kind}Pool{axes}d"
    attributes = {"output_size": anything("an int, None, or a tuple of them")}
    if kind == "Max" and axes > 1:
        attributes["return_indices"] = boolean(False)
    return function_cell(
        __name__, name, getattr(pooling, f"adaptive_{kind.lower()}_pool{axes}d"), attributes=attributes,
        inputs="x", example=f"nn.{name}(2)(ops.ones({shape})).shape", prints=prints,
    )  # fmt: skip


AdaptiveAvgPool1d = _adaptive("Avg", 1, (1, 3, 5), "(1, 3, 2)")
AdaptiveAvgPool2d = _adaptive("Avg", 2, (1, 3, 5, 5), "(1, 3, 2, 2)")
AdaptiveAvgPool3d = _adaptive("Avg", 3, (1, 3, 5, 5, 5), "(1, 3, 2, 2, 2)")
AdaptiveMaxPool1d = _adaptive("Max", 1, (1, 3, 5), "(1, 3, 2)")
AdaptiveMaxPool2d = _adaptive("Max", 2, (1, 3, 5, 5), "(1, 3, 2, 2)")
AdaptiveMaxPool3d = _adaptive("Max", 3, (1, 3, 5, 5, 5), "(1, 3, 2, 2, 2)")

_SIZES = anything("an int or a tuple of ints")


def _max_unpool(axes: int, shape: Any, prints: str) -> Any:
    name = f"MaxUnpool{axes}d"
    function = getattr(unpooling, f"max_unpool{axes}d")
    return function_cell(
        __name__, name, function,
        attributes={"kernel_size": _SIZES, "stride": anything("an int, a tuple of ints or None", None),
                    "padding": integers(0)},
        run=lambda self, x, indices, output_size=None: function(
            x, indices, self.kernel_size, self.stride, self.padding, output_size
        ),
        inputs="x indices output_size",
        example=f"nn.{name}(2)(*ops.max_pool{axes}d(ops.ones({shape}), 2, return_indices=True)).shape",
        prints=prints,
    )  # fmt: skip


MaxUnpool1d = _max_unpool(1, (1, 2, 4), "(1, 2, 4)")
MaxUnpool2d = _max_unpool(2, (1, 2, 4, 4), "(1, 2, 4, 4)")
MaxUnpool3d = _max_unpool(3, (1, 2, 4, 4, 4), "(1, 2, 4, 4, 4)")


def _lp_pool(axes: int, shape: Any, prints: str) -> Any:
    name = f"LPPool{axes}d"
    return function_cell(
        __name__, name, getattr(unpooling, f"lp_pool{axes}d"),
        attributes={
            "norm_type": anything("a number"), "kernel_size": _SIZES,
            "stride": anything("an int, a tuple of ints or None", None), "ceil_mode": boolean(False),
        },
        inputs="x", example=f"nn.{name}(2, 2)(ops.ones({shape})).shape", prints=prints,
    )  # fmt: skip


LPPool1d = _lp_pool(1, (1, 2, 4), "(1, 2, 2)")
LPPool2d = _lp_pool(2, (1, 2, 4, 4), "(1, 2, 2, 2)")


def _fractional(axes: int, shape: Any, prints: str) -> Any:
    name = f"FractionalMaxPool{axes}d"
    return function_cell(
        __name__, name, getattr(unpooling, f"fractional_max_pool{axes}d"),
        attributes={
            "kernel_size": _SIZES, "output_size": anything("an int, a tuple of ints or None", None),
            "output_ratio": anything("a number, a tuple of numbers or None", None),
            "return_indices": boolean(False), "_random_samples": anything("a tensor or None", None),
        },
        inputs="input", example=f"nn.{name}(2, output_size=3)(ops.ones({shape})).shape", prints=prints,
    )  # fmt: skip


FractionalMaxPool2d = _fractional(2, (1, 2, 7, 7), "(1, 2, 3, 3)")
FractionalMaxPool3d = _fractional(3, (1, 2, 7, 7, 7), "(1, 2, 3, 3, 3)")

__all__ = list(function_cells(globals()))
