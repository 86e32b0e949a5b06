"""A first call on the host computes a program's result with NumPy while XLA compiles it in the background.

    MINDGRAD_FIRST_CALL=numpy

The first call of a program gives the result of whoever is done first, the kernels of NumPy or the compiled
program; every later call waits for the compiled one. Both compute the same graph, with roundings of their
own: a first result may differ from later ones, and from that of another run, in its last digits. That is why
the default is to compile at once. Programs that print or check, that compute in half precision, on several
devices or not on the CPU, are compiled at once in any case.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakSet

import numpy as np

from mindgrad.backend.executable import Executable
from mindgrad.execution.background import submit
from mindgrad.ir import settings
from mindgrad.ir.evaluate import Stopped, evaluate, go_on, stop
from mindgrad.ir.graph import Graph, calls_back, communicates
from mindgrad.ir.kernels import runs_on_host

__all__ = ["VARIABLE", "FirstOnHost", "may_begin_on_host"]

VARIABLE = "MINDGRAD_FIRST_CALL"

_unsettled: WeakSet[FirstOnHost] = WeakSet()


def may_begin_on_host(graph: Graph) -> bool:
    """Whether the first call of a program may be computed by NumPy."""
    is_wanted = settings.options["first_call"] == "numpy"
    return (
        is_wanted and runs_on_host() and not (calls_back(graph) or graph.has_halves() or communicates(graph))
    )


class FirstOnHost(Executable):
    """An executable that is compiled in the background while its first call is computed by NumPy.

    Once it is compiled it is what ``compile_`` gave. Copies of a program share it.
    """

    __slots__ = (
        "_answered",
        "_compile",
        "_graph",
        "_is_called",
        "_is_compiled",
        "_lock",
        "_places",
        "_thread",
    )

    def __init__(self, graph: Graph, donated: Sequence[int], compile_: Callable[[], Executable]) -> None:
        super().__init__(self._run, ())
        self._graph: Graph | None = graph
        self._compile: Callable[[], Executable] | None = compile_
        self._places = [*[k for k in range(len(graph.inputs)) if k not in donated], *donated]
        self._is_called = self._is_compiled = False
        self._thread: int | None = None  # that computes the first call
        self._lock = threading.RLock()
        _unsettled.add(self)

    def _run(self, *operands: Any) -> Any:
        self._settle()
        return self.run(*operands)

    def first(self, tensors: Sequence[Any], donated: Sequence[Any]) -> list[np.ndarray] | None:
        """The results of the first call; ``None`` if it is another one, or the program was compiled first.

        Args:
            tensors: the operands.
            donated: the operands, which follow them, that a compiled program takes over.
        """
        graph = self._graph
        if self._is_called or self._is_compiled or graph is None:
            self._settle()
            return None
        self._is_called = True
        operands: list[Any] = [None] * len(self._places)
        for place, tensor in zip(self._places, [*tensors, *donated], strict=True):
            operands[place] = np.broadcast_to(tensor.host_array(), tensor.shape)
        self._thread = threading.get_ident()
        submit(self._settle_behind)
        try:
            return [_own(result, operands) for result in evaluate(graph, operands)]
        except (Stopped, Exception):  # what XLA makes of such operands is the program's result
            pass
        finally:
            with _stopping:
                self._thread = None
                go_on()
        self._settle()
        return None

    def _settle_behind(self) -> None:
        """Compile it in the background, and stop NumPy where that takes longer."""
        try:
            self._settle()
        except Exception:  # the next call compiles it again, and says so
            return
        with _stopping:
            if self._thread is not None:
                stop(self._thread)

    def _settle(self) -> None:
        """Become the compiled program."""
        with self._lock:
            if self._compile is None:
                return
            executable = self._compile()
            for name in Executable.__slots__[1:]:
                setattr(self, name, getattr(executable, name))
            self._compile = self._graph = None
            self._is_compiled = True
            _unsettled.discard(self)


def _own(result: np.ndarray, operands: Sequence[np.ndarray]) -> np.ndarray:
    """A result of an evaluation that shares no memory with an operand."""
    is_shared = any(np.may_share_memory(result, operand) for operand in operands)
    return result.copy() if is_shared else result


#: held while a thread is told to stop, and while one has stopped
_stopping = threading.Lock()


def _in_child() -> None:
    """In a forked process nobody holds the locks of threads that are not forked."""
    global _stopping
    _stopping = threading.Lock()
    for executable in list(_unsettled):
        executable._lock = threading.RLock()


settings.store("first_call", os.environ.get(VARIABLE, ""))
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
