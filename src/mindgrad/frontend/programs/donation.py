"""Donation: programs that write Parameters reuse the memory of the old values.

    p = step(p)    the new array overwrites the old array, if only the Parameter refers to the old array

An array is donated only if nothing but the Parameter refers to it (``_cpython.unshared``). Examples of other
references are a tensor from ``value()``, a second Parameter, a recording, and an argument of a call in
another thread. If such a reference exists, a copy of the array is donated, so that no object refers to memory
that the program overwrites.

While a program starts, each of its Parameters holds a :class:`Taken` instead of an array, and readers in
other threads wait for the new values. A signal such as Ctrl-C is handled after the new values are stored. If
a program fails before it starts, the Parameters keep their old values.

A program that may run for a long time receives copies of all arrays, so that signals can be handled while it
runs. If a signal handler raises an exception, the Parameters keep their old values.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.core.backend.executable import Executable, copy_on_device
from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.backend.xla import to_device
from mindgrad.core.base._cpython import unshared
from mindgrad.core.base.signals import Deferred
from mindgrad.core.ir.pending import PendingArray, resolved
from mindgrad.distributed.process_mesh import is_part

__all__ = ["Donation", "Taken", "donatable", "run_and_store", "settled", "window"]

#: A thread holds this lock from the donation of arrays until the new arrays are stored. It also holds the
#: lock while it replaces the pending array of a Parameter by the array's value
window = threading.RLock()


class Taken:
    """A placeholder for the array of a Parameter while a program replaces it."""

    __slots__ = ("_reference",)

    def __init__(self, parameter: Any) -> None:
        # a strong reference would create a cycle, because the Parameter refers to this placeholder
        self._reference = weakref.ref(parameter)

    @property
    def _parameter(self) -> Any:
        return self._reference()

    def wait(self) -> Any:
        """Wait until the program has started, and return the new array of the Parameter.

        Raises:
            RuntimeError: If the current thread is the thread that starts the program.
        """
        with window:
            array = self._parameter._array
        if type(array) is Taken:  # the lock did not block, so this thread itself is replacing the array
            raise RuntimeError(
                f"Parameter '{self._parameter.name}' is read by a signal handler or destructor that runs "
                f"while a compiled call that writes the Parameter starts. Do not read it there."
            )
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.wait(), dtype, copy=copy)

    def __jax_array__(self) -> Any:
        return settled(self)

    @property
    def dtype(self) -> Any:
        """Return the element type of the Parameter's array.

        It is the same before and after the program runs.
        """
        return self._parameter.dtype.numpy

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the Parameter's array.

        It is the same before and after the program runs.
        """
        return self._parameter.shape


def settled(array: Any) -> Any:
    """Return ``array``; if it is a placeholder or pending array, wait for its value."""
    return resolved(array.wait() if type(array) is Taken else array)


def donatable(arrays: list[Any], types: Sequence[Any]) -> list[Any]:
    """Replace each array that other objects also refer to by a copy.

    A donated array is overwritten, so only the list ``arrays`` may refer to it.
    """
    usual = jax_module().Array
    are_alone = unshared(arrays)
    if all(are_alone) and all(issubclass(kind, usual) for kind in set(map(type, arrays))):
        return arrays
    return [
        array
        if is_alone and (isinstance(array, usual) or (is_part(array) and array.deferral.is_alone(array)))
        else _copy(array, type_)
        for array, type_, is_alone in zip(arrays, types, are_alone, strict=True)
    ]


def _copy(array: Any, type_: Any) -> Any:
    """Copy an array to the device, and broadcast it to the shape of ``type_``."""
    array = resolved(array)
    if isinstance(array, jax_module().Array):
        return copy_on_device(array)
    array = np.asarray(array)
    if array.shape == type_.shape and not array.flags.writeable:  # the array cannot change during the copy
        return copy_on_device(to_device(array))
    # JAX may use the memory of the NumPy array, which the user may change later. Therefore, pass a copy
    return to_device(np.array(np.broadcast_to(array, type_.shape)))


class Donation:
    """The Parameters whose arrays are donated to a program.

    Attributes:
        parameters: the Parameters, in the order of the program's operands.
        types: types (dtype and shape) of the Parameters.
        stand_ins: placeholders for the arrays of the Parameters while the program starts.
    """

    __slots__ = ("parameters", "stand_ins", "types")

    def __init__(self, parameters: Sequence[Any]) -> None:
        self.parameters = parameters
        self.types = [parameter.type for parameter in parameters]
        self.stand_ins = list(map(Taken, parameters))

    def arrays(self, takes_parts: bool = False) -> list[Any]:
        """Return the arrays of the Parameters.

        If another program is replacing an array, or an array is still being computed, wait for the new array.

        Args:
            takes_parts: whether the program accepts arrays that are divided among processes. If so, do not
                wait for such arrays.
        """
        originals = [parameter._array for parameter in self.parameters]
        kinds = set(map(type, originals))
        if Taken not in kinds and PendingArray not in kinds:
            return originals
        return [array if takes_parts and is_part(array) else settled(array) for array in originals]

    def run(self, executable: Executable, arrays: Sequence[Any]) -> list[Any]:
        """Run the program. If it fails before it starts, restore the old arrays.

        Args:
            executable: the program.
            arrays: arrays of the operands that are not donated.
        """
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
                    f"a compiled call failed after it had started to overwrite Parameters: "
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
    """Run a program, and store the new values of Parameters.

    A signal handler sees either the old values of all Parameters or the new values of all Parameters.

    Args:
        executable: the program.
        arrays: arrays of the operands that are not donated.
        donation: the Parameters whose arrays are donated. Each of them is also in ``written``.
        written: the Parameters that the program writes. The first results of the program are their new
            values.
        finish: function that computes the result of the call from the results of the program. It also stores
            all other state that the program changes.

    Raises:
        RuntimeError: If the program fails after it has started to overwrite donated arrays.
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
    for parameter, array in zip(parameters, arrays):  # noqa: B905  (``strict`` slows down training steps)
        parameter._array = array


def _is_gone(array: Any) -> bool:
    if isinstance(array, (np.ndarray, np.generic)):
        return False
    return bool((array.deferral if is_part(array) else array).is_deleted())
