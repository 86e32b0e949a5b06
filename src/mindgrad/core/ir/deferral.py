"""The protocol between the core and an executor that runs operators later.

Without a deferral, an operator outside compiled functions runs immediately. An upper layer may pass a
:class:`Deferral` to :func:`~mindgrad.core.ir.scope.defer_to`. Operators of this thread are then sent to it,
and it may return tensors whose arrays are :class:`~mindgrad.core.ir.pending.PendingArray`. While a graph is
traced, the deferral receives no operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mindgrad.core.ir.pending import PendingArray
    from mindgrad.core.ir.primitive import Primitive
    from mindgrad.core.ir.scope import Scope
    from mindgrad.core.ir.tensor import Tensor

__all__ = ["Deferral"]


class Deferral(Protocol):
    """An executor of the operators of one thread."""

    def record(self, primitive: Primitive, tensors: Sequence[Tensor], parameters: dict[str, Any]) -> Any:
        """Return the result of an operator, or a tuple of results."""

    def requested(self, pending: PendingArray) -> Any:
        """Compute and return the array of a pending value, which Python reads."""

    def new_scope(self) -> Scope:
        """Create the scope of a function that is differentiated."""

    def opens(self, scope: Any, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Start to record a differentiated function of ``tensors``; return its inputs."""

    def closes(self, scope: Any) -> None:
        """Stop to record the differentiated function."""

    def returns(self, scope: Any, recorded: Any) -> None:
        """Receive the recording (``trace.record.Recorded``) whose scope is ``scope``."""

    def finishes(
        self,
        scope: Any,
        inputs: Sequence[Tensor],
        transform: Callable[..., list[Any]],
        extras: Sequence[Tensor | None],
        chosen: Sequence[Tensor],
        primals: Sequence[Tensor],
        applied: Callable[..., list[Tensor]] | None = None,
        /,
        *,
        is_last: bool = False,
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Transform a recording to a derivative, as ``trace.record.finish`` does."""

    def lifted(self, tensor: Tensor) -> Tensor:
        """Return a value of a finished recording as a value of the open recordings."""

    def detached(self, tensor: Tensor) -> Tensor:
        """Return a value of the deferred call as a constant for its derivatives."""

    def stores(self, reference: Tensor) -> None:
        """Prepare for a new stored value of a reference."""

    def recording(self, scope: Any) -> tuple[Any, list[Tensor]] | None:
        """Return the scope and inputs of the recording whose scope is ``scope``."""
