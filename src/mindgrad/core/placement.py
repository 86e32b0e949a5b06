"""Placement protocol: run one graph on several devices or processes.

The core compiles for one device. An upper layer may pass a :class:`Layout` with a graph, which divides its
arrays among devices, and may register a :class:`Communication`, which compiles graphs with collectives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

__all__ = [
    "Communication", "Layout", "Mesh", "Order", "communication", "has_joined", "is_divided", "must_join",
    "register_communication", "register_division",
]  # fmt: skip


class Layout(Protocol):
    """Layouts of the inputs and results of one graph on several devices."""

    @property
    def devices(self) -> tuple[Any, ...]:
        """The JAX devices."""

    def input_sharding(self, position: int) -> Any:
        """Return the JAX sharding of an input; ``None`` if XLA chooses it."""

    def output_shardings(self) -> list[Any]:
        """Return the JAX sharding of each result; ``None`` if XLA chooses it."""

    def lowering(self) -> AbstractContextManager[None]:
        """Return a context in which JAX lowers the graph."""

    def laid_out(self, compiled: Any, undonated: Sequence[int], donated: Sequence[int]) -> list[Any]:
        """Return the JAX sharding that the compiled function expects for each input."""

    def constants(self, compiled: Any, arrays: Sequence[Any], mover: Callable[[Any], Any]) -> list[Any]:
        """Put the hoisted constants of a compiled function on its devices."""

    def noted(self, compiled: Any, graph: Any) -> Any:
        """Return the compiled function, wrapped if its calls must be recorded."""


class Mesh(Protocol):
    """Processes that run a graph with collectives together."""

    def mapped(
        self, body: Callable[..., Any], shapes: Any, results: Sequence[Sequence[int]]
    ) -> tuple[Any, Any]:
        """Convert a function on one process's arrays to a function on the arrays of all."""

    def joining(self, compiled: Any, graph: Any, pending_results: int = 0) -> Any:
        """Convert the compiled function to a function of the arrays of this process."""


class Order(Protocol):
    """Dependences that make XLA run collectives in the order of the equations."""

    def operands(self, equation: Any, operands: list[Any], values: dict[Any, Any]) -> list[Any]:
        """Return the operands of ``equation``, made dependent on earlier collectives."""

    def mark(self, values: dict[Any, Any]) -> Any:
        """Return an array of one element that depends on every collective."""


class Communication(Protocol):
    """Compilation of graphs with collectives."""

    def mesh_of(self, graph: Any, device: Any) -> Mesh | None:
        """Return the processes that run ``graph``; ``None`` for a single process."""

    def order(self, graph: Any) -> Order:
        """Return the object that orders the collectives of ``graph``."""

    def with_fused_collectives(self, graph: Any) -> Any:
        """Return an equivalent graph with fewer messages."""

    def has_joined(self) -> bool:
        """Return whether this process has joined the other processes of its job."""

    def must_join(self) -> bool:
        """Return whether this process belongs to a job that it has not joined yet."""


_communication: Communication | None = None
_is_divided: Callable[[], bool] = lambda: False


def register_communication(communication: Communication) -> None:
    """Set the object that compiles graphs with collectives."""
    global _communication
    _communication = communication


def register_division(is_divided: Callable[[], bool]) -> None:
    """Set the function that computes :func:`is_divided`."""
    global _is_divided
    _is_divided = is_divided


def communication() -> Communication:
    """Return the registered object."""
    if _communication is None:
        raise RuntimeError("a graph contains collectives, but no package that runs them is loaded")
    return _communication


def has_joined() -> bool:
    """Return whether this process has joined the other processes of its job."""
    return _communication is not None and _communication.has_joined()


def must_join() -> bool:
    """Return whether this process belongs to a job that it has not joined yet."""
    return _communication is not None and _communication.must_join()


def is_divided() -> bool:
    """Return whether functions are compiled for several devices at present."""
    return _is_divided()
