"""Programs that write Parameters: the memory of the old values becomes that of the new ones.

    p = step(p)    in place, where nothing but the Parameter holds on to its array

An array is given away (donated) only if it is the Parameter's alone, which Python's own count of
references tells: a tensor made by ``value()``, a second Parameter, a recording, an argument of a call
that another thread is making now, all count. Anything else gets a copy donated instead, so that no one
ever holds an array that was taken. While a program runs with it, the Parameter holds a :class:`Taken`,
on which readers in other threads wait. A signal that arrives meanwhile, Ctrl-C for one, is handled when the
new values are stored; a program that fails before it starts leaves the Parameters as they were.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from mindgrad.backend.executable import array_type, copy_on_device
from mindgrad.backend.xla import to_device

__all__ = ["Taken", "run_and_store", "settled", "window"]

#: held from taking arrays to storing new ones, and wherever else a value is replaced by one made of it
window = threading.RLock()


class Taken:
    """Stands for a Parameter's array while a program is about to replace it."""

    __slots__ = ("_reference",)

    def __init__(self, parameter: Any) -> None:
        self._reference = weakref.ref(parameter)  # whoever waits holds the Parameter; it holds this

    @property
    def _parameter(self) -> Any:
        return self._reference()

    def wait(self) -> Any:
        """The array that the Parameter holds when the program was started.

        Raises:
            RuntimeError: the program itself waits for the reader.
        """
        with window:
            array = self._parameter._array
        if type(array) is Taken:  # whoever is inside the window holds its lock: it is this thread
            raise RuntimeError(
                f"Parameter '{self._parameter.name}' is read while a program that writes it is being "
                f"started, by a function that is called meanwhile (a signal handler, a destructor)."
            )
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.wait(), dtype, copy=copy)

    def __jax_array__(self) -> Any:
        return self.wait()

    @property
    def dtype(self) -> Any:
        """The element type, which the program does not change."""
        return self._parameter.dtype.numpy

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, which the program does not change."""
        return self._parameter.shape


def _taken(parameter: Any) -> Taken:
    """What stands for the Parameter's array: made once, for this is done in every step of a training."""
    made = parameter._taken = Taken(parameter)
    return made


def settled(array: Any) -> Any:
    """``array`` itself, or what a :class:`Taken` stands for."""
    return array.wait() if type(array) is Taken else array


class _Deferred:
    """Defers what Python does on signals, in the main thread, which alone handles them."""

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
        """Restore all handlers, whatever the first of them raise already; gives what they raised."""
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


# through ``_signal``, for ``signal`` makes enumerations of what it is given and gives: 9 µs of each call

#: signals for which programs install handlers that raise
_SIGNALS = [getattr(signal, name) for name in ("SIGALRM", "SIGTERM", "SIGINT") if hasattr(signal, name)]


def _counts(arrays: list[Any]) -> list[int]:
    return list(map(sys.getrefcount, arrays))


#: what is counted for an array that only a list holds
_ALONE = max(_counts([object(), object()]))


def _given(arrays: list[Any], types: Sequence[Any]) -> list[Any]:
    """``arrays`` as they may be given away: copies where something else holds on to one."""
    given = []
    usual: Any = array_type()
    for array, type_, count in zip(arrays, types, _counts(arrays), strict=True):
        if type(array) is usual and array.shape == type_.shape:
            given.append(array if count <= _ALONE else copy_on_device(array))
        else:
            # NumPy's, or one element that is seen everywhere. A copy, for jax may use the memory as it is
            given.append(to_device(np.array(np.broadcast_to(np.asarray(array), type_.shape))))
    return given


def run_and_store(
    run: Callable[..., Any],
    arrays: Sequence[Any],
    extra: Sequence[Any],
    donated: Sequence[Any],
    types: Sequence[Any],
    written: Sequence[Any],
) -> list[Any]:
    """Run a program, and store what it gives for Parameters.

    Args:
        run: ``run(arrays, given, extra)``.
        arrays: its operands, without those that it takes over.
        extra: more of them, passed on.
        donated: the Parameters whose arrays it takes over; all are among ``written``.
        types: their types.
        written: the Parameters that it writes; its first results are their new values.

    Raises:
        RuntimeError: the program failed after it had taken over the arrays.
    """
    with window, _Deferred() if donated else nullcontext():
        originals = [p._array for p in donated]
        if Taken in map(type, originals):
            originals = list(map(settled, originals))
        try:
            _set_arrays(donated, [p.__dict__.get("_taken") or _taken(p) for p in donated])
            given = _given(originals, types)
            found = run(arrays, given, extra)
        except Exception as error:
            _set_arrays(donated, originals)
            lost = [p.name for p, a in zip(donated, originals, strict=True) if _is_gone(a)]
            if lost:
                raise RuntimeError(
                    f"a program failed after it had taken over the memory of the Parameters that it writes: "
                    f"the values of {', '.join(lost)} are lost. Load them from a checkpoint."
                ) from error
            raise
        _set_arrays(written, found[: len(written)])
    return found


def _set_arrays(parameters: Sequence[Any], arrays: Sequence[Any]) -> None:
    for parameter, array in zip(parameters, arrays, strict=True):
        parameter._array = array


def _is_gone(array: Any) -> bool:
    return not isinstance(array, (np.ndarray, np.generic)) and array.is_deleted()
