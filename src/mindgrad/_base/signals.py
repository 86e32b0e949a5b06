"""Deferred signals: handlers run after a critical section instead of inside it."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import signal
import threading
from typing import Any

__all__ = ["Deferred"]


class Deferred:
    """Context manager that defers signal handlers to the end of its block.

    For example, new values of all Parameters are stored in such a block. An exception of a Ctrl-C handler in
    the middle would leave old and new values. Only the main thread runs signal handlers, so the class has no
    effect in other threads.
    """

    __slots__ = ("_arrived", "_handlers")

    def __enter__(self) -> None:
        self._arrived: list[tuple[Any, int, Any]] = []
        self._handlers: dict[int, Any] = {}
        if threading.current_thread() is not threading.main_thread():
            return
        try:
            for number in _SIGNALS:
                handler = _signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    _signal.signal(number, self._defer)
        except BaseException:
            self._restore()
            raise

    def _defer(self, number: int, frame: Any) -> None:
        self._arrived.append((self._handlers[number], number, frame))

    def _restore(self) -> BaseException | None:
        """Restore all handlers.

        While they are restored, a handler may run and raise an exception. Then the remaining handlers are
        restored, and the last exception is returned.
        """
        raised = None
        while self._handlers:
            try:
                while self._handlers:
                    number = next(reversed(self._handlers))
                    _signal.signal(number, self._handlers[number])
                    del self._handlers[number]
            except BaseException as error:
                raised = error
        return raised

    def __exit__(self, *_: Any) -> None:
        raised = self._restore()
        if raised is not None:
            raise raised
        for handler, number, frame in self._arrived:
            handler(number, frame)


# This module calls `_signal`, because `signal` converts arguments and results to enumerations, which adds
# 9 µs per call

#: the signals that are deferred, because their handlers often raise exceptions
_SIGNALS = [getattr(signal, name) for name in ("SIGALRM", "SIGTERM", "SIGINT") if hasattr(signal, name)]
