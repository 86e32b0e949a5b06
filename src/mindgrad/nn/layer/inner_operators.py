"""Operators of layers for subclasses, such as ``dense.matmul``.

mindgrad's layers compute with functions. A subclass written for MindSpore may define its own ``construct``
with the operators that MindSpore's layers have as attributes, so mindgrad's layers have these attributes,
too. An operator is created when it is first read, from the attributes that the layer has at that time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad import ops
from mindgrad.nn.cell import Cell
from mindgrad.nn.layer import activation, basic, conv, dropout, embedding, normalization, pooling

__all__ = ["InnerOperator"]


class InnerOperator:
    """An attribute of a layer that is created when it is first read.

    Args:
        make: function that creates the operator of a layer.
    """

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, layer: Any, owner: type) -> Any:
        if layer is None:
            return self
        # write to ``vars``, because ``Cell.__setattr__`` would record a change of the layer
        made = vars(layer)[self._name] = self._make(layer)
        return made


def _convolution(layer: Any) -> Any:
    return ops.Conv2D(
        out_channel=layer.out_channels,
        kernel_size=layer.kernel_size,
        pad_mode=layer.pad_mode,
        pad=layer.padding,
        stride=layer.stride,
        dilation=layer.dilation,
        group=layer.group,
    )


def _pooling(kind: str) -> Callable[[Any], Any]:
    return lambda layer: getattr(ops, kind)(layer.kernel_size, layer.stride, layer.pad_mode)


def _normalization(is_training: bool) -> Callable[[Any], Any]:
    return lambda layer: ops.BatchNorm(is_training, layer.eps, 1 - layer.momentum)


def _plain(kind: str) -> Callable[[Any], Any]:
    return lambda layer: getattr(ops, kind)()


_OPERATORS: dict[type[Cell], dict[str, Callable[[Any], Any]]] = {
    basic.Dense: {
        "matmul": lambda layer: ops.MatMul(transpose_b=True),
        "bias_add": _plain("BiasAdd"),
        "reshape": _plain("Reshape"),
    },
    conv.Conv2d: {"conv2d": _convolution, "bias_add": _plain("BiasAdd")},
    embedding.Embedding: {"gather": _plain("Gather"), "expand": _plain("ExpandDims")},
    dropout.Dropout: {"dropout": lambda layer: ops.Dropout(layer.keep_prob)},
    normalization.BatchNorm2d: {"bn_train": _normalization(True), "bn_infer": _normalization(False)},
    pooling.MaxPool2d: {"max_pool": _pooling("MaxPool")},
    pooling.AvgPool2d: {"avg_pool": _pooling("AvgPool")},
    activation.Softmax: {"softmax": lambda layer: ops.Softmax(layer.axis)},
    activation.Sigmoid: {"sigmoid": _plain("Sigmoid")},
    activation.Tanh: {"tanh": _plain("Tanh")},
    activation.ReLU: {"relu": _plain("ReLU")},
    activation.PReLU: {"prelu": _plain("PReLU")},
}


def _install() -> None:
    for kind, operators in _OPERATORS.items():
        for name, make in operators.items():
            operator = InnerOperator(make)
            operator.__set_name__(kind, name)
            setattr(kind, name, operator)


_install()
