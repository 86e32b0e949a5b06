"""Programs that write Parameters: the memory of the old values becomes that of the new ones.

    p = step(p)    in place, where nothing but the Parameter holds on to its array

An array is given away (donated) only if it is the Parameter's alone, which Python's own count of
references tells: a tensor made by ``value()``, a second Parameter, a recording, an argument of a call
that another thread is making now, all count. Anything else gets a copy donated instead, so that no one
ever holds an array that was taken. While a program runs with it, the Parameter holds a :class:`Taken`,
on which readers in other threads wait. A signal that arrives meanwhile, Ctrl-C for one, is handled when the
new values are stored; a program that fails before it starts leaves the Parameters as they were.

A program that may take so long that a user does not want to wait for its end gets copies donated, and signals
are handled while it runs: one that raises leaves the Parameters as they were before the call.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad._base.signals import Deferred
from mindgrad.backend.executable import Executable, array_type, copy_on_device
from mindgrad.backend.process_mesh import is_part
from mindgrad.backend.xla import to_device
from mindgrad.ir.pending import PendingArray, resolved

__all__ = ["Donation", "Taken", "donatable", "run_and_store", "settled", "window"]

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
        return settled(self)

    @property
    def dtype(self) -> Any:
        """The element type, which the program does not change."""
        return self._parameter.dtype.numpy

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, which the program does not change."""
        return self._parameter.shape


def settled(array: Any) -> Any:
    """``array`` itself, or what a :class:`Taken` or a pending array stands for."""
    return resolved(array.wait() if type(array) is Taken else array)


def _counts(arrays: list[Any]) -> list[int]:
    return list(map(sys.getrefcount, arrays))


#: what is counted for an array that only a list holds
_ALONE = max(_counts([object(), object()]))


def donatable(arrays: list[Any], types: Sequence[Any]) -> list[Any]:
    """``arrays`` as they may be given away: copies where something besides the list holds on to one."""
    usual: Any = array_type()
    counts = _counts(arrays)
    if max(counts, default=0) <= _ALONE and set(map(type, arrays)) == {usual}:
        return arrays
    return [
        array
        if count <= _ALONE and (type(array) is usual or (is_part(array) and array.deferral.is_alone(array)))
        else _copy(array, type_)
        for array, type_, count in zip(arrays, types, counts, strict=True)
    ]


def _copy(array: Any, type_: Any) -> Any:
    """A copy on the device, of the type's shape."""
    array = resolved(array)
    if type(array) is array_type():
        return copy_on_device(array)
    array = np.asarray(array)
    if array.shape == type_.shape and not array.flags.writeable:  # nobody writes into it while it is copied
        return copy_on_device(to_device(array))
    # one element that is seen everywhere, or the user's memory. A copy, for jax may use it as it is
    return to_device(np.array(np.broadcast_to(array, type_.shape)))


class Donation:
    """The Parameters whose arrays a program takes over.

    Attributes:
        parameters: they, in the order of the program's operands.
        types: their types.
        stand_ins: what stands for their arrays while the program is being started.
    """

    __slots__ = ("parameters", "stand_ins", "types")

    def __init__(self, parameters: Sequence[Any]) -> None:
        self.parameters = parameters
        self.types = [parameter.type for parameter in parameters]
        self.stand_ins = list(map(Taken, parameters))

    def arrays(self, takes_parts: bool = False) -> list[Any]:
        """Values of the Parameters; those that are parts of arrays over processes as they are, if wanted."""
        originals = [parameter._array for parameter in self.parameters]
        kinds = set(map(type, originals))
        if Taken not in kinds and PendingArray not in kinds:
            return originals
        return [array if takes_parts and is_part(array) else settled(array) for array in originals]

    def run(self, executable: Executable, arrays: Sequence[Any]) -> list[Any]:
        """The program's results; if it fails before it starts, the Parameters are as they were."""
        originals = self.arrays(executable.takes_parts)
        run = executable.run_uninterrupted if executable.may_take_long else executable.run
        try:
            _set_arrays(self.parameters, self.stand_ins)
            return run(arrays, donatable(originals, self.types), executable.extra)
        except Exception as error:
            _set_arrays(self.parameters, originals)
            lost = [p.name for p, a in zip(self.parameters, originals, strict=True) if _is_gone(a)]
            if lost:
                raise RuntimeError(
                    f"a program failed after it had taken over the memory of the Parameters that it writes: "
                    f"the values of {', '.join(lost)} are lost. Load them from a checkpoint."
                ) from error
            raise


def run_and_store(
    executable: Executable,
    arrays: Sequence[Any],
    donation: Donation | None,
    written: Sequence[Any],
    finish: Callable[[list[Any]], Any],
) -> Any:
    """Run a program, and store what it gives for Parameters; signals see all of it or nothing.

    Args:
        executable: the program.
        arrays: its operands, without those that it takes over.
        donation: the Parameters whose arrays it takes over; all are among ``written``.
        written: the Parameters that it writes; its first results are their new values.
        finish: stores what else the program changes; given the program's results, gives the caller's.

    Raises:
        RuntimeError: the program failed after it had taken over the arrays.
    """
    with window:
        is_copied = donation is None or (executable.may_take_long and executable.takes_long())
        if is_copied:
            copies = [] if donation is None else list(map(_copy, donation.arrays(), donation.types))
            results = executable.run(arrays, copies, executable.extra)
        with Deferred():
            if not is_copied:
                results = donation.run(executable, arrays)  # type: ignore[union-attr]
            _set_arrays(written, results[: len(written)])
            return finish(results)


def _set_arrays(parameters: Sequence[Any], arrays: Sequence[Any]) -> None:
    for parameter, array in zip(parameters, arrays):  # noqa: B905  (in every step of a training)
        parameter._array = array


def _is_gone(array: Any) -> bool:
    if isinstance(array, (np.ndarray, np.generic)):
        return False
    return bool((array.deferral if is_part(array) else array).is_deleted())
