"""Mixed precision: compute in float16 or bfloat16, with loss scaling.

===== ========================================================== =======================
level Cells that compute in float16 or bfloat16                  default loss scale
===== ========================================================== =======================
O0    none                                                       none
O1    the Cells in ``AMP_WHITE_LIST``                            none
O2    all Cells except ``AMP_BLACK_LIST``                        dynamic
O3    all Cells                                                  none
===== ========================================================== =======================

Parameters keep their dtypes. Each Cell converts its inputs and Parameters (``Cell.to_float``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad import ops
from mindgrad._base.checks import of_type, one_of
from mindgrad.common.dtype import bfloat16, float16, float32
from mindgrad.core.base.location import warn_user
from mindgrad.core.base.tree import map_leaves
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.wrap.cell_wrapper import TrainOneStepCell, WithLossCell
from mindgrad.nn.wrap.loss_scale import TrainOneStepWithLossScaleCell
from mindgrad.train.loss_scale_manager import DynamicLossScaleManager

__all__ = [
    "AMP_BLACK_LIST", "AMP_WHITE_LIST", "auto_mixed_precision", "build_train_network",
    "custom_mixed_precision", "get_black_list", "get_white_list",
]  # fmt: skip

#: Cells that compute in float16 or bfloat16 at level O1 of mixed precision
AMP_WHITE_LIST = (
    "Conv1d", "Conv1dTranspose", "Conv2d", "Conv2dTranspose", "Conv3d", "Conv3dTranspose", "Dense", "GRU",
    "GRUCell", "LSTM", "LSTMCell", "PReLU", "RNN", "RNNCell",
)  # fmt: skip
#: Cells that compute in float32 at level O2 of mixed precision
AMP_BLACK_LIST = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LayerNorm", "SyncBatchNorm")

_LEVELS = ("O0", "O1", "O2", "O3", "auto")


def get_white_list() -> list[str]:
    """Return the names of the Cells that compute in float16 or bfloat16 at level O1.

    Returns:
        list of str: names of Cell classes.

    >>> from mindgrad import amp
    >>> "Dense" in amp.get_white_list()
    True

    See Also:
        :func:`mindgrad.train.amp.get_black_list`, :func:`mindgrad.train.amp.custom_mixed_precision`
    """
    return list(AMP_WHITE_LIST)


def get_black_list() -> list[str]:
    """Return the names of the Cells that keep float32 at level O2.

    Returns:
        list of str: names of Cell classes.

    >>> from mindgrad import amp
    >>> "LayerNorm" in amp.get_black_list()
    True

    See Also:
        :func:`mindgrad.train.amp.get_white_list`, :func:`mindgrad.train.amp.custom_mixed_precision`
    """
    return list(AMP_BLACK_LIST)


def _named(cell: Cell, names: Any) -> bool:
    """Return whether ``names`` contains the Cell's class or a base class, or its name."""
    return any(kind.__name__ in names or kind in names for kind in type(cell).__mro__)


def _outputs_as(wanted: Any) -> Callable[..., Any]:
    def convert(cell: Cell, inputs: Any, output: Any) -> Any:
        return map_leaves(lambda x: ops.cast(x, wanted) if _is_float(x) else x, output)

    return convert


def _is_float(x: Any) -> bool:
    return isinstance(x, Tensor) and x.dtype.is_float


def auto_mixed_precision(network: Any, amp_level: str = "O0", dtype: Any = float16) -> Any:
    """Convert a network to mixed precision, according to a level.

    The network itself is changed and returned. Its outputs are float32 at each level except O0. At level O1,
    operators outside of the listed Cells keep their precision. See the table of the module
    :mod:`mindgrad.train.amp`.

    Args:
        network (Cell): network to convert, which is changed in place.
        amp_level (str, optional): mixed precision level: ``"O0"``, ``"O1"``, ``"O2"``, ``"O3"``, or
            ``"auto"``, which is O2. Default: ``"O0"``.
        dtype (DType, optional): dtype of the computation, float16 or bfloat16. Default: ``float16``.

    Returns:
        Cell: the converted ``network``.

    Raises:
        TypeError: If ``network`` is not a Cell.
        ValueError: If ``amp_level`` is an unknown level, or ``dtype`` is neither float16 nor bfloat16.

    >>> import mindgrad as ms
    >>> class Scale(ms.nn.Cell):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = ms.Parameter(2.0 + 2.0**-12)
    ...     def construct(self, x):
    ...         return self.factor * x
    >>> ms.amp.auto_mixed_precision(Scale(), "O3")(ms.Tensor([1.0]))
    Tensor(shape=[1], dtype=Float32, value= [ 2.00000000e+00])

    See Also:
        :func:`mindgrad.train.amp.custom_mixed_precision`, :func:`mindgrad.train.amp.build_train_network`
    """
    of_type(network, Cell, "auto_mixed_precision", "network")
    one_of(amp_level, _LEVELS, "auto_mixed_precision", "amp_level")
    _check_half("auto_mixed_precision", dtype)
    level = "O2" if amp_level == "auto" else amp_level
    if level == "O1":
        return custom_mixed_precision(network, white_list=list(AMP_WHITE_LIST), dtype=dtype)
    if level == "O2":
        return custom_mixed_precision(network, black_list=list(AMP_BLACK_LIST), dtype=dtype)
    if level == "O3":
        return custom_mixed_precision(network, black_list=[], dtype=dtype)
    return network


def custom_mixed_precision(
    network: Any,
    *,
    white_list: list[Any] | None = None,
    black_list: list[Any] | None = None,
    dtype: Any = float16,
) -> Any:
    """Convert the listed Cells, or all Cells except listed ones, to mixed precision.

    Args:
        network (Cell): network to convert, which is changed in place.
        white_list (list of type or str, optional): classes of Cells, or their names, that compute in
            ``dtype``. Default: ``None``.
        black_list (list of type or str, optional): classes of Cells, or their names, that keep float32.
            Exactly one of the lists must be given. Default: ``None``.
        dtype (DType, optional): dtype of the computation, float16 or bfloat16. Default: ``float16``.

    Returns:
        Cell: ``network``, whose outputs are float32.

    Raises:
        TypeError: If ``network`` is not a Cell.
        ValueError: If not exactly one of ``white_list`` and ``black_list`` is given, or ``dtype`` is neither
            float16 nor bfloat16.

    >>> import mindgrad as ms
    >>> class Scale(ms.nn.Cell):
    ...     def construct(self, x):
    ...         return x + 2.0**-12
    >>> print(ms.amp.custom_mixed_precision(Scale(), white_list=[Scale])(ms.Tensor([1.0])))
    [1.]

    See Also:
        :func:`mindgrad.train.amp.auto_mixed_precision`
    """
    owner = "custom_mixed_precision"
    of_type(network, Cell, owner, "network")
    _check_half(owner, dtype)
    if (white_list is None) == (black_list is None):
        raise ValueError(f"For '{owner}', pass either a 'white_list' or a 'black_list', but not both.")
    if white_list is not None:
        for _, cell in network.cells_and_names():
            if _named(cell, white_list):
                cell.to_float(dtype)
                cell.register_forward_hook(_outputs_as(float32))
        return network
    network.to_float(dtype)
    _keep_single(network, black_list or (), dtype)
    network.register_forward_hook(_outputs_as(float32))
    return network


def _keep_single(network: Any, black_list: Any, dtype: Any) -> None:
    """Let the listed Cells of a network in ``dtype`` compute in float32."""
    for _, cell in network.cells_and_names():
        if _named(cell, black_list):
            cell.to_float(float32)
            if cell is not network:
                cell.register_forward_hook(_outputs_as(dtype))


# --- private names of MindSpore that other libraries import for their training steps -------------------

#: mixed precision level -> default options of ``build_train_network``
_config_level = {
    level: {
        "keep_batchnorm_fp32": level == "O2",
        "cast_model_type": float16 if level in ("O2", "O3") else float32,
        "loss_scale_manager": DynamicLossScaleManager() if level == "O2" else None,
    }
    for level in _LEVELS
    if level != "auto"
}


def _do_keep_batchnorm_fp32(network: Any) -> None:
    """Let the normalization layers of a float16 network compute in float32."""
    _keep_single(network, AMP_BLACK_LIST, float16)


def _add_loss_network(network: Any, loss_fn: Any, cast_model_type: Any) -> WithLossCell:
    """Combine a network and its loss. Outputs of a float16 network are converted to float32."""
    if cast_model_type is float16:
        network.register_forward_hook(_outputs_as(float32))
    return WithLossCell(network, loss_fn)


def _check_half(owner: str, dtype: Any) -> None:
    if dtype not in (float16, bfloat16):
        raise ValueError(f"For '{owner}', the 'dtype' must be float16 or bfloat16, but got {dtype}.")


def build_train_network(
    network: Any,
    optimizer: Any,
    loss_fn: Any = None,
    level: str = "O0",
    boost_level: str = "O0",
    **kwargs: Any,
) -> TrainOneStepCell:
    """Create a training step of a network, with optional mixed precision.

    Args:
        network (Cell): network to train, which is changed in place as in :func:`auto_mixed_precision`.
        optimizer (Optimizer): optimizer, which updates the Parameters with which it was created.
        loss_fn (Cell or Callable, optional): loss function of the output and the label. ``None``: ``network``
            returns the loss. Default: ``None``.
        level (str, optional): mixed precision level, see the table of :mod:`mindgrad.train.amp`. Default:
            ``"O0"``.
        boost_level (str, optional): accepted for compatibility. Default: ``"O0"``.
        **kwargs (Any): settings that override the level: ``cast_model_type`` (float16, or float32 for no
            cast), ``keep_batchnorm_fp32`` (whether the Cells in ``AMP_BLACK_LIST`` keep float32), and
            ``loss_scale_manager``.

    Returns:
        Cell: a :class:`~mindgrad.nn.TrainOneStepWithLossScaleCell` if the loss is scaled and steps may be
        skipped, else a :class:`~mindgrad.nn.TrainOneStepCell`.

    Raises:
        TypeError: If an argument has an unsupported type or an unknown name.
        ValueError: If ``level`` is an unknown mixed precision level.

    >>> import mindgrad as ms
    >>> class Distance(ms.nn.Cell):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = ms.Parameter(ms.Tensor([3.0]), name="w")
    ...     def construct(self, x):
    ...         return ((self.w - x) ** 2).sum()
    >>> net = Distance()
    >>> step = ms.amp.build_train_network(net, ms.nn.SGD(net.trainable_params(), 0.25))
    >>> print(step(ms.Tensor([1.0])), net.w.value())
    4.0 [2.]

    See Also:
        :func:`mindgrad.train.amp.auto_mixed_precision`, :class:`mindgrad.train.Model`
    """
    owner = "build_train_network"
    of_type(network, Cell, owner, "network")
    options = ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager")
    for name in kwargs:
        if name not in options:
            raise TypeError(f"For '{owner}', unknown option {name!r}; use {', '.join(options)}.")
    one_of(level, _LEVELS, owner, "level")
    level = "O2" if level == "auto" else level
    config = {**_config_level[level], **kwargs}
    model_type, keeps_normalization = config["cast_model_type"], config["keep_batchnorm_fp32"]
    if level == "O1":
        auto_mixed_precision(network, "O1")
    elif model_type is not float32:
        kept = list(AMP_BLACK_LIST) if keeps_normalization else []
        custom_mixed_precision(network, black_list=kept, dtype=model_type)
    manager = kwargs.get("loss_scale_manager", DynamicLossScaleManager() if level == "O2" else None)
    with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
    if manager is None:
        step = TrainOneStepCell(with_loss, optimizer)
    else:
        update = manager.get_update_cell()
        if update is not None:
            step = TrainOneStepWithLossScaleCell(with_loss, optimizer, update)
        else:
            _warn_of_scale(optimizer, manager.get_loss_scale())
            step = TrainOneStepCell(with_loss, optimizer, manager.get_loss_scale())
    return step.set_train()


def _warn_of_scale(optimizer: Any, scale: float) -> None:
    divided = getattr(optimizer, "loss_scale", scale)
    if divided != scale:
        warn_user(
            f"The loss is multiplied by {scale}, but the optimizer divides gradients by {divided}. Create "
            f"the optimizer with loss_scale={scale}, or use FixedLossScaleManager({scale}, "
            "drop_overflow_update=True)."
        )
