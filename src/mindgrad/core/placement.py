"""Placement protocol: how the core runs one graph on several devices or processes.

The core compiles a graph for one device. The package ``distributed`` extends it in two ways. It passes a
:class:`Layout` with a graph to divide the arrays of the graph among devices. It registers a
:class:`Communication`, which compiles graphs with *collectives*: operators in which several processes
exchange data, such as a sum over all processes.
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
    """How the inputs and results of one graph are divided among several devices."""

    @property
    def devices(self) -> tuple[Any, ...]:
        """The JAX devices that run the graph."""

    def input_sharding(self, position: int) -> Any:
        """Return the JAX sharding of an input; ``None`` lets XLA choose it."""

    def output_shardings(self) -> list[Any]:
        """Return the JAX sharding of each result; ``None`` lets XLA choose it."""

    def lowering(self) -> AbstractContextManager[None]:
        """Return the context manager in which JAX must lower the graph."""

    def laid_out(self, compiled: object, undonated: Sequence[int], donated: Sequence[int]) -> list[Any]:
        """Return the JAX sharding that the compiled function expects for each input.

        ``undonated`` and ``donated`` are the positions of the inputs that keep their memory, and of the
        inputs whose memory the function may reuse for its results.
        """

    def constants(self, compiled: object, arrays: Sequence[object], mover: Callable) -> list[Any]:
        """Copy constants to the devices of ``compiled``, which receives them as arguments.

        Args:
            compiled: the compiled JAX function.
            arrays: the values of the constants.
            mover: function that copies an array to one device, for constants that ``compiled`` does not use.
        """

    def noted(self, compiled: object, graph: Any) -> Any:
        """Return ``compiled``, wrapped to record its calls if several processes run it."""


class Mesh(Protocol):
    """The processes (ranks) that run a graph with collectives together."""

    def mapped(
        self, body: Callable[..., object], shapes: object, results: Sequence[Sequence[int]]
    ) -> tuple[Any, Any]:
        """Convert a function of one rank's arrays to a function of arrays over all ranks.

        Args:
            body: function on one rank. Its arguments are groups of arrays; it returns a list of arrays.
            shapes: in the same groups, the ``jax.ShapeDtypeStruct`` of each operand on one rank.
            results: the shape of each result on one rank.

        Returns:
            The converted function, and the shapes of its operands over all ranks.
        """

    def joining(self, compiled: object, graph: Any, pending_results: int = 0) -> Any:
        """Convert ``compiled`` to a function of the arrays of this rank.

        Args:
            compiled: compiled JAX function of arrays over all ranks.
            graph: the graph that one rank runs.
            pending_results: number of leading results for which the function does not wait.
        """


class Order(Protocol):
    """Data dependences that make XLA run collectives in the same order on all ranks."""

    def operands(self, equation: Any, operands: list[Any], values: dict[Any, Any]) -> list[Any]:
        """Return the operands with which to evaluate ``equation``, the next equation.

        The operands of a collective are made dependent on the result of the previous collective.
        """

    def mark(self, values: dict[Any, Any]) -> Any:
        """Return an array of one element that depends on every collective of the graph."""


class Communication(Protocol):
    """Protocol of the object that compiles graphs with collectives."""

    def mesh_of(self, graph: Any, device: object) -> Mesh | None:
        """Return the ranks that run ``graph``; ``None`` if there is only one."""

    def order(self, graph: Any) -> Order:
        """Return the object that orders the collectives of ``graph``."""

    def fuse_collectives(self, graph: Any) -> Any:
        """Return an equivalent graph in which the ranks exchange fewer messages."""

    def has_joined(self) -> bool:
        """Return whether this process has connected to the other processes of its job."""

    def must_join(self) -> bool:
        """Return whether this process belongs to a job to which it must still connect."""


_communication: Communication | None = None
_is_divided: Callable[[], bool] = lambda: False


def register_communication(communication: Communication) -> None:
    """Set the object that compiles graphs with collectives."""
    global _communication
    _communication = communication


def register_division(is_divided: Callable[[], bool]) -> None:
    """Set the function that :func:`is_divided` calls."""
    global _is_divided
    _is_divided = is_divided


def communication() -> Communication:
    """Return the registered :class:`Communication`; raise an error if there is none."""
    if _communication is None:
        raise RuntimeError(
            "The graph contains collectives, but no package that runs them is loaded. Import "
            "the package that defines them."
        )
    return _communication


def has_joined() -> bool:
    """Return whether this process has connected to the other processes of its job."""
    return _communication is not None and _communication.has_joined()


def must_join() -> bool:
    """Return whether this process belongs to a job to which it must still connect."""
    return _communication is not None and _communication.must_join()


def is_divided() -> bool:
    """Return whether functions are currently compiled for several devices."""
    return _is_divided()
