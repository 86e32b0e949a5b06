"""Members of MindSpore's Cell that are accepted but do not change results."""

from __future__ import annotations

from typing import Any, Self

from mindgrad._base.checks import of_type
from mindgrad.api.input_signature import declared_sizes
from mindgrad.nn.hooks import Hooked
from mindgrad.ops.arguments import whole_number

__all__ = ["Compatible"]


class _Phase:
    """``cell.phase``, unless a program assigns an attribute of this name to the Cell."""

    def __get__(self, cell: Any, owner: type | None = None) -> Any:
        return self if cell is None else "train" if cell.training else "predict"


class Compatible(Hooked):
    """Members of a Cell that are accepted for compatibility with MindSpore."""

    _compiled: Any
    #: ``"train"`` after ``set_train()``, otherwise ``"predict"``
    phase = _Phase()

    @property
    def bprop_debug(self) -> bool:
        """A flag without effect: in PYNATIVE_MODE, ``bprop`` is always ordinary Python."""
        return self.__dict__.get("_bprop_debug", False)

    @bprop_debug.setter
    def bprop_debug(self, value: bool) -> None:
        of_type(value, bool, type(self).__name__, "bprop_debug")
        object.__setattr__(self, "_bprop_debug", value)

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Declare the inputs of the Cell in GRAPH_MODE.

        Inputs that only differ in sizes declared as ``None`` share one compiled program, as with
        ``jit(input_signature=...)``. The Cell also accepts other inputs and is compiled for them.

        Args:
            *inputs (Tensor): one entry for each input of ``construct``: ``Tensor(shape=[None, 3],
                dtype=float32)``, or ``None`` for any value.
            **kwargs (Tensor): inputs that ``construct`` receives by name. Their shapes cannot contain
                ``None``.
        """
        object.__setattr__(self, "_declared_inputs", inputs or tuple(kwargs.values()))
        self._compiled.open_sizes = declared_sizes(inputs, type(self).__name__)

    def get_inputs(self) -> tuple[Any, ...] | None:
        """Return the arguments of the last ``set_inputs`` call, or ``None``.

        >>> import mindgrad as ms
        >>> print(ms.nn.ReLU().get_inputs())
        None
        """
        return self.__dict__.get("_declared_inputs")

    def set_jit_config(self, jit_config: Any) -> None:
        """Accept compiler options, which have no effect."""

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Self:
        """Set ``comm_fusion`` of the trainable Parameters.

        The value has no effect, because XLA decides which communication to fuse.

        Args:
            fusion_type (int): new value of ``comm_fusion``, a nonnegative integer.
            recurse (bool): whether the Parameters of inner Cells are included. Default: ``True``.

        Returns:
            The Cell itself.

        Raises:
            TypeError: If ``fusion_type`` is not an int.
            ValueError: If ``fusion_type`` is negative.

        >>> import mindgrad as ms
        >>> ms.nn.Dense(1, 1).set_comm_fusion(2).weight.comm_fusion
        2
        """
        number = whole_number(fusion_type, "set_comm_fusion", "fusion_type", 0)
        for parameter in self.trainable_params(recurse):
            parameter.comm_fusion = number
        return self
