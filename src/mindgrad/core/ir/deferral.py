"""The protocol between the core and an executor that runs operators later.

By default, an operator outside compiled functions runs immediately. Another package may pass a
:class:`Deferral` to :func:`~mindgrad.core.ir.scope.defer_to`. The deferral then receives the operators of
this thread, and may return tensors whose arrays are not computed yet
(:class:`~mindgrad.core.ir.pending.PendingArray`). While a graph is traced, the deferral receives no
operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from mindgrad.core.ir.pending import PendingArray
    from mindgrad.core.ir.primitive import Primitive
    from mindgrad.core.ir.rules import Transform
    from mindgrad.core.ir.scope import Scope
    from mindgrad.core.ir.tensor import Tensor

__all__ = ["Deferral"]


class Deferral(Protocol):
    """Protocol of an executor that receives the operators of one thread."""

    def record(self, primitive: Primitive, tensors: Sequence[Tensor], parameters: dict[str, Any]) -> Any:
        """Receive an operator; return its result, or a tuple of results."""

    def requested(self, pending: PendingArray) -> Any:
        """Compute and return the array of ``pending``, because Python code reads it."""

    def new_scope(self) -> Scope:
        """Create the scope of a function that will be differentiated."""

    def opens(self, scope: Any, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Start recording a function that will be differentiated.

        Returns the inputs of the recording, which represent ``tensors``.
        """

    def closes(self, scope: Any) -> None:
        """Stop recording the function in ``scope``."""

    def returns(self, scope: Any, recorded: Any) -> None:
        """Receive the recording (``trace.record.Recorded``) whose scope is ``scope``."""

    def finishes(
        self,
        scope: Any,
        transform: Transform,
        extras: Sequence[Tensor | None],
        chosen: Sequence[Tensor],
        primals: Sequence[Tensor],
        applied: Callable[..., list[Tensor]] | None = None,
        /,
        *,
        is_last: bool = False,
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Transform a recording into a derivative, as ``trace.record.finish`` does.

        The inputs of the recording are the tensors that :meth:`opens` returned.
        """

    def lifted(self, tensor: Tensor) -> Tensor:
        """Return a value of a finished recording as a value of the open recordings."""

    def detached(self, tensor: Tensor) -> Tensor:
        """Return a value of the deferred call as a constant for its derivatives."""

    def stores(self, reference: Tensor) -> None:
        """Receive a reference whose stored value is about to be replaced."""

    def recording(self, scope: Any) -> tuple[Any, list[Tensor]] | None:
        """Return the scope and inputs of the recording whose scope is ``scope``."""
