"""Deferred signals: handlers run after a critical section instead of inside it."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from mindgrad.core.base._cpython import handler_of, set_handler

__all__ = ["Deferred"]


class Deferred:
    """Context manager that defers signal handlers to the end of its block.

    For example, new values of all references are stored in such a block. If a Ctrl-C handler raised an
    exception in the middle, some references would have old values and others new values. Only the main thread
    runs signal handlers, so the class has no effect in other threads.
    """

    __slots__ = ("_arrived", "_handlers")

    def __enter__(self) -> None:
        self._arrived: list[tuple[Any, int, Any]] = []
        self._handlers: dict[int, Any] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        try:
            for number in _SIGNALS:
                handler = handler_of(number)
                if callable(handler):
                    self._handlers[number] = handler
                    set_handler(number, self._defer)
        except BaseException:
            self._restore()
            raise

    def _defer(self, number: int, frame: FrameType | None) -> None:
        self._arrived.append((self._handlers[number], number, frame))

    def _restore(self) -> BaseException | None:
        """Restore all handlers.

        A handler may run while the handlers are being restored, and may raise an exception. In this case, the
        remaining handlers are still restored, and the last exception is returned.
        """
        raised = None
        while self._handlers:
            try:
                while self._handlers:
                    number = next(reversed(self._handlers))
                    set_handler(number, self._handlers[number])
                    del self._handlers[number]
            except BaseException as error:
                raised = error
        return raised

    def __exit__(self, *_: object) -> None:
        raised = self._restore()
        if raised is not None:
            raise raised
        for handler, number, frame in self._arrived:
            handler(number, frame)


#: signals that are deferred until a critical block ends, because their handlers often raise exceptions
_SIGNALS = [getattr(signal, name) for name in ("SIGALRM", "SIGTERM", "SIGINT") if hasattr(signal, name)]
