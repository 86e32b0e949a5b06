"""Gradient reduction averages over processes, of which there is one."""

from __future__ import annotations

from typing import Any

from mindgrad.nn.cell import Cell

__all__ = ["DistributedGradReducer"]


class DistributedGradReducer(Cell):
    """Gradients, averaged over all processes: with one process as they are.

    Args:
        parameters: the Parameters whose gradients come.
        mean: whether to average rather than to sum.
        degree: the number of processes; only 1 is there.
        fusion_type, group: accepted for compatibility.

    Inputs:
        ``grads``: a tuple of Tensors.

    Outputs:
        The same tuple.

    Raises:
        ValueError: ``degree`` is another number than 1.

    >>> import mindgrad as ms
    >>> from mindgrad.nn.wrap.grad_reducer import DistributedGradReducer
    >>> print(DistributedGradReducer([])((ms.Tensor([1.0]),))[0])
    [1.]
    """

    def __init__(
        self,
        parameters: Any,
        mean: bool | None = None,
        degree: int | None = None,
        fusion_type: int = 1,
        group: Any = None,
    ) -> None:
        super().__init__(auto_prefix=False)
        if degree not in (None, 1):
            raise ValueError(
                f"For 'DistributedGradReducer', the 'degree' must be 1, for there is one process, but got "
                f"{degree!r}."
            )
        self.mean = bool(mean)
        self.degree = 1

    def construct(self, grads: Any) -> Any:
        """See the class."""
        return grads
