"""Normalization layers, with running statistics, scales, and shifts as Parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.layer.parameters import check_data_format, parameter
from mindgrad.ops import normalization
from mindgrad.ops.activation import real_operand
from mindgrad.ops.arguments import number, share, sizes, whole_number
from mindgrad.ops.axes import normalize_axis
from mindgrad.ops.operands import operand
from mindgrad.ops.operations import layer_ops
from mindgrad.ops.reduction import flag

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm1d", "InstanceNorm2d",
    "InstanceNorm3d", "LayerNorm",
]  # fmt: skip


class BatchNorm(Cell):
    """Base class of batch normalizations for different numbers of axes."""

    axes: tuple[int, ...] = ()

    #: names of the Parameters: moving mean, moving variance, scale, and shift
    _names = ("moving_mean", "moving_variance", "gamma", "beta")

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        data_format: str = "NCHW",
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        self.num_features = whole_number(num_features, owner, "num_features", 1)
        self.eps = number(eps, owner, "eps")
        self.momentum = share(momentum, owner, "momentum")
        self.affine = flag(affine, owner, "affine")
        if use_batch_statistics is not None and not isinstance(use_batch_statistics, bool):
            raise ValueError(
                f"For '{owner}', the 'use_batch_statistics' must be a bool or None, but got "
                f"{use_batch_statistics!r}."
            )
        self.use_batch_statistics = use_batch_statistics
        check_data_format(owner, data_format, "NCHW")
        shape = (self.num_features,)
        initial = (moving_mean_init, moving_var_init, gamma_init, beta_init)
        for name, init, trained in zip(self._names, initial, (False, False, affine, affine), strict=True):
            setattr(self, name, parameter(owner, init, shape, name, dtype, trained))

    def construct(self, x: Any) -> Tensor:
        owner = type(self).__name__
        x = real_operand(x, owner)
        if x.ndim not in self.axes or x.shape[1] != self.num_features:
            raise ValueError(
                f"For '{owner}', the input must have {' or '.join(map(str, self.axes))} axes and "
                f"{self.num_features} channels in the second, but its shape is {x.shape}."
            )
        of_batch = self.use_batch_statistics
        if of_batch is None:
            of_batch = self.training
        mean, variance, scale, shift = [getattr(self, name) for name in self._names]
        return normalization.normalized_batch(
            owner,
            x,
            (mean, variance),
            (scale, shift),
            of_batch,
            self._share_of_batch(),
            self.eps,
            self._joint(),
        )[0]

    def _share_of_batch(self) -> Any:
        """Return the weight of the batch's statistics in the running statistics."""
        return 1 - self.momentum

    def _joint(self) -> Callable[..., tuple[Tensor, Tensor, Tensor]] | None:
        """Return a function for statistics over all processes, or ``None``."""
        return None

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={1 - self.momentum}, "
            + ", ".join(f"{name}={getattr(self, name)}" for name in (*self._names[2:], *self._names[:2]))
        )


_BATCH = """Batch normalization of {input}, for each channel.

    It computes (x − mean) / √(variance + eps) · gamma + beta. In training (``set_train()``) mean and variance
    are computed from the batch (the variance divided by n). The running statistics become momentum · running
    + (1 − momentum) · batch, with the unbiased variance of the batch (divided by n − 1, or by 1 for one
    element). They are also updated in gradients and in compiled functions. Outside training, the running
    statistics normalize the input.

    Args:
        num_features (int): number of channels, c.
        eps (float): small number added to the variance, to avoid division by zero.
        momentum (float): weight of the old value when a running average is updated.
        affine (bool): whether the scale gamma and the shift beta are trained.
        gamma_init (Tensor, str, Initializer, or number): initial value of the scale gamma.
        beta_init (Tensor, str, Initializer, or number): initial value of the shift beta.
        moving_mean_init (Tensor, str, Initializer, or number): initial running mean.
        moving_var_init (Tensor, str, Initializer, or number): initial running variance.
        use_batch_statistics (bool): whether to normalize with the statistics of the batch instead of the
            running statistics. ``None``: only in training.
        data_format (str): must be ``"NCHW"``: channels are axis 1.
        dtype (DType): dtype of the Parameters.

    Inputs:
        x (Tensor): real tensor of shape {shape}.

    Outputs:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range, or ``x`` does not have the documented shape.

    >>> from mindgrad import Tensor, nn, ops
    >>> layer = nn.{name}(1, momentum=0.5).set_train()
    >>> y = layer(ops.reshape(Tensor([1.0, 3.0]), {example}))
    >>> print(f"{{y.max():.4f}}", layer.moving_mean.asnumpy(), layer.moving_variance.asnumpy())
    1.0000 [1.] [1.5]
    """


class BatchNorm1d(BatchNorm):
    axes = (2, 3)


class BatchNorm2d(BatchNorm):
    axes = (4,)


class BatchNorm3d(BatchNorm):
    axes = (5,)


for _kind, _input, _shape, _example in (
    (BatchNorm1d, "vectors", "(n, c) or (n, c, l)", "(2, 1)"),
    (BatchNorm2d, "images", "(n, c, h, w)", "(2, 1, 1, 1)"),
    (BatchNorm3d, "volumes", "(n, c, d, h, w)", "(2, 1, 1, 1, 1)"),
):
    _kind.__doc__ = _BATCH.format(input=_input, shape=_shape, name=_kind.__name__, example=_example)


class LayerNorm(Cell):
    """Layer normalization over the last axes (Ba, Kiros, and Hinton, 2016).

    It computes (x − mean) / √(variance + epsilon) · gamma + beta.

    Args:
        normalized_shape (tuple or list of int): sizes of the trailing axes, the shape of gamma and beta.
        begin_norm_axis (int): first axis over which mean and variance are computed.
        begin_params_axis (int): first axis of ``x`` to which gamma and beta apply.
        gamma_init (Tensor, str, Initializer, or number): initial value of the scale gamma.
        beta_init (Tensor, str, Initializer, or number): initial value of the shift beta.
        epsilon (float): small number added to the variance, to avoid division by zero.
        dtype (DType): dtype of the Parameters.

    Inputs:
        x (Tensor): real tensor whose axes ≥ ``begin_params_axis`` have the sizes ``normalized_shape``.

    Outputs:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range, or ``x`` does not have the documented shape.

    >>> from mindgrad import Tensor, nn
    >>> print(nn.LayerNorm((2,), epsilon=0.0)(Tensor([[1.0, 3.0], [0.0, 8.0]])))
    [[-1.  1.]
     [-1.  1.]]
    """

    def __init__(
        self,
        normalized_shape: Any,
        begin_norm_axis: int = -1,
        begin_params_axis: int = -1,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        epsilon: float = 1e-7,
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        if not isinstance(normalized_shape, (tuple, list)):
            raise TypeError(
                f"For 'LayerNorm', the 'normalized_shape' must be a tuple or list of ints, but got "
                f"{normalized_shape!r}."
            )
        self.normalized_shape = sizes(tuple(normalized_shape), "LayerNorm", "normalized_shape", 1)
        self.begin_norm_axis = whole_number(begin_norm_axis, "LayerNorm", "begin_norm_axis")
        self.begin_params_axis = whole_number(begin_params_axis, "LayerNorm", "begin_params_axis")
        self.epsilon = number(epsilon, "LayerNorm", "epsilon")
        self.gamma = parameter("LayerNorm", gamma_init, self.normalized_shape, "gamma", dtype)
        self.beta = parameter("LayerNorm", beta_init, self.normalized_shape, "beta", dtype)
        self.layer_norm = layer_ops.LayerNorm(self.begin_norm_axis, self.begin_params_axis, self.epsilon)

    def construct(self, input_x: Any) -> Tensor:
        x = real_operand(input_x, "LayerNorm")
        if x.shape[normalize_axis(self.begin_params_axis, x.ndim, "LayerNorm") :] != self.normalized_shape:
            raise ValueError(
                f"For 'LayerNorm', the sizes of the input, beginning with axis {self.begin_params_axis}, "
                f"must be {self.normalized_shape}, but its shape is {x.shape}."
            )
        return self.layer_norm(x, self.gamma, self.beta)[0]

    def extend_repr(self) -> str:
        return (
            f"normalized_shape={self.normalized_shape}, begin_norm_axis={self.begin_norm_axis}, "
            f"begin_params_axis={self.begin_params_axis}, gamma={self.gamma}, beta={self.beta}"
        )


class GroupNorm(Cell):
    """Group normalization over groups of channels (Wu and He, 2018).

    It computes (x − mean) / √(variance + eps) · gamma + beta.

    Args:
        num_groups (int): number of groups of channels.
        num_channels (int): number of channels, c.
        eps (float): small number added to the variance, to avoid division by zero.
        affine (bool): whether the scale gamma and the shift beta are trained.
        gamma_init (Tensor, str, Initializer, or number): initial value of the scale gamma.
        beta_init (Tensor, str, Initializer, or number): initial value of the shift beta.
        dtype (DType): dtype of the Parameters.

    Inputs:
        x (Tensor): real tensor of shape (n, c, ...).

    Outputs:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``num_groups`` does not divide ``num_channels``, or ``x`` is not of shape (n, c, ...).

    >>> from mindgrad import Tensor, nn
    >>> print(nn.GroupNorm(2, 4, eps=0.0)(Tensor([[1.0, 3.0, 0.0, 8.0]])))
    [[-1.  1. -1.  1.]]
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        self.num_groups = whole_number(num_groups, "GroupNorm", "num_groups", 1)
        self.num_channels = whole_number(num_channels, "GroupNorm", "num_channels", 1)
        if self.num_channels % self.num_groups:
            raise ValueError(
                f"For 'GroupNorm', the 'num_channels' must be a multiple of 'num_groups', but they are "
                f"{num_channels} and {num_groups}."
            )
        self.eps = number(eps, "GroupNorm", "eps")
        self.affine = flag(affine, "GroupNorm", "affine")
        self.gamma = parameter("GroupNorm", gamma_init, (self.num_channels,), "gamma", dtype, affine)
        self.beta = parameter("GroupNorm", beta_init, (self.num_channels,), "beta", dtype, affine)

    def construct(self, x: Any) -> Tensor:
        x = operand(x, "GroupNorm")
        if x.ndim < 2 or x.shape[1] != self.num_channels:
            raise ValueError(
                f"For 'GroupNorm', the input must have {self.num_channels} channels in the second axis, but "
                f"its shape is {x.shape}."
            )
        return normalization.group_norm(x, self.num_groups, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}"


class _InstanceNorm(Cell):
    """Base class of instance normalizations for different numbers of axes."""

    rank = 0

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        dtype: Any = float32,
    ) -> None:
        super().__init__()
        owner = type(self).__name__
        self.num_features = whole_number(num_features, owner, "num_features", 1)
        self.eps = number(eps, owner, "eps")
        self.momentum = share(momentum, owner, "momentum")
        self.affine = flag(affine, owner, "affine")
        shape = (self.num_features,)
        self.moving_mean = parameter(owner, "zeros", shape, "moving_mean", dtype, False)
        self.moving_variance = parameter(owner, "ones", shape, "moving_variance", dtype, False)
        self.gamma = parameter(owner, gamma_init, shape, "gamma", dtype, affine)
        self.beta = parameter(owner, beta_init, shape, "beta", dtype, affine)

    def construct(self, x: Any) -> Tensor:
        owner = type(self).__name__
        x = operand(x, owner)
        if x.ndim != self.rank or x.shape[1] != self.num_features:
            raise ValueError(
                f"For '{owner}', the input must have {self.rank} axes and {self.num_features} channels in "
                f"the second, but its shape is {x.shape}."
            )
        return normalization.group_norm(x, self.num_features, self.gamma, self.beta, self.eps)

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"gamma={self.gamma}, beta={self.beta}, "
            f"moving_mean={self.moving_mean}, moving_variance={self.moving_variance}"
        )


_INSTANCE = """Instance normalization of {input}, for each channel of each sample.

    It computes (x − mean) / √(variance + eps) · gamma + beta (Ulyanov, Vedaldi, and Lempitsky, 2017), in
    training and in evaluation.

    Args:
        num_features (int): number of channels, c.
        eps (float): small number added to the variance, to avoid division by zero.
        momentum (float): accepted for compatibility; there are no running statistics.
        affine (bool): whether the scale gamma and the shift beta are trained.
        gamma_init (Tensor, str, Initializer, or number): initial value of the scale gamma.
        beta_init (Tensor, str, Initializer, or number): initial value of the shift beta.
        dtype (DType): dtype of the Parameters.

    Inputs:
        x (Tensor): real tensor of shape {shape}.

    Outputs:
        Tensor with the shape of ``x``.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If an argument is out of range, or ``x`` does not have the documented shape.

    >>> from mindgrad import Tensor, nn, ops
    >>> y = nn.{name}(1, eps=0.0)(ops.reshape(Tensor([1.0, 3.0]), {example}))
    >>> print(y.flatten())
    [-1.  1.]
    """


class InstanceNorm1d(_InstanceNorm):
    rank = 3


class InstanceNorm2d(_InstanceNorm):
    rank = 4


class InstanceNorm3d(_InstanceNorm):
    rank = 5


for _each, _input, _shape, _example in (
    (InstanceNorm1d, "sequences", "(n, c, l)", "(1, 1, 2)"),
    (InstanceNorm2d, "images", "(n, c, h, w)", "(1, 1, 1, 2)"),
    (InstanceNorm3d, "volumes", "(n, c, d, h, w)", "(1, 1, 1, 1, 2)"),
):
    _each.__doc__ = _INSTANCE.format(input=_input, shape=_shape, name=_each.__name__, example=_example)
