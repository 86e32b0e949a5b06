"""Run operators in eager mode, by NumPy kernels or by the kernels of a device.

NumPy kernels run without floating-point warnings, so that infinities and NaN appear only in the results.
NumPy stores its warning settings in a context variable. Running a kernel in a ``contextvars`` context without
warnings is 10× faster than ``np.errstate``, which takes as long as three kernels on ten elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import Context
from operator import itemgetter

import numpy as np

from mindgrad.core.ir.pending import PendingArray
from mindgrad.core.ir.primitive import Primitive
from mindgrad.core.ir.rules import Kernel, Results, Rule, Statics, Stored
from mindgrad.core.ir.tensor import Tensor

__all__ = [
    "check", "compacted", "numpy_kernel", "run_and_free", "run_arrays", "run_compact",
    "run_kernel", "run_step", "runs_on_host", "set_kernel_check", "set_kernel_runner",
    "silently",
]  # fmt: skip

# pool of unused ``contextvars`` contexts with NumPy warnings turned off, because creating a context takes
# time
_FREE: list[Context] = []


def _silent_context() -> Context:
    context = Context()
    context.run(np.seterr, all="ignore")
    return context


def silently(function: Kernel, arguments: Sequence[Stored], parameters: Statics) -> Results:
    """Call ``function`` without NumPy warnings.

    ``function`` must not call user functions, because they would run in another ``contextvars`` context.
    """
    try:
        context = _FREE.pop()
    except IndexError:  # ``_FREE`` is empty: other threads, signal handlers, or finalizers use all contexts
        context = _silent_context()
    try:
        return context.run(function, *arguments, **parameters)
    finally:
        _FREE.append(context)


def numpy_kernel(primitive: Primitive, arrays: Sequence[Stored], parameters: Statics) -> Results:
    """Run the NumPy kernel of ``primitive``, which returns an array or a tuple."""
    if primitive.kind == "control":  # the kernel may call user functions
        with np.errstate(all="ignore"):
            return primitive.numpy(*arrays, **parameters)
    return silently(primitive.numpy, arrays, parameters)


_run_kernel: Rule = numpy_kernel
#: whether eager mode computes with NumPy kernels
runs_on_host = True
#: function that checks the results of each eager kernel, for the option ``debug_nans``; ``None``: no check
check: Rule | None = None
#: whether eager mode computes with NumPy kernels, without a check
_is_direct = True


def set_kernel_runner(runner: Rule | None) -> None:
    """Set the function that runs eager kernels; ``None`` for NumPy kernels.

    The function is called as ``runner(primitive, arrays, parameters)``.
    """
    global _run_kernel, runs_on_host, _is_direct
    _run_kernel = numpy_kernel if runner is None else runner
    runs_on_host = runner is None
    _is_direct = runs_on_host and check is None


def set_kernel_check(function: Rule | None) -> None:
    """Set the function that checks the results of eager kernels; ``None``: no check.

    It is called as ``function(primitive, arrays, results, parameters)``.
    """
    global check, _is_direct
    check = function
    _is_direct = runs_on_host and check is None


def _run_checked(primitive: Primitive, arrays: Sequence[Stored], parameters: Statics) -> Results:
    results = _run_kernel(primitive, arrays, parameters)
    if check is not None:
        check(primitive, arrays, results, parameters)
    return results


def run_kernel(primitive: Primitive, tensors: Sequence[Tensor], parameters: Statics) -> Results:
    """Run the kernel of ``primitive`` on ``tensors``; return an array or a tuple."""
    plain = runs_on_host
    pointwise = primitive.pointwise
    arrays: list[Stored] = []
    for tensor in tensors:
        array = tensor._array
        if type(array) is not np.ndarray:
            if array is None or (plain and not isinstance(array, (np.ndarray, np.generic))):
                array = tensor.host_array()
            elif type(array) is PendingArray:
                array = array.get()
        if not pointwise:
            type_ = tensor._type  # `None` if the tensor has the dtype and shape of its array
            if type_ is not None and array.shape != type_.shape:
                array = np.broadcast_to(array, type_.shape)
        arrays.append(array)
    if not _is_direct or primitive.kind == "control":
        return _run_checked(primitive, arrays, parameters)
    try:  # `silently`, inlined for speed
        context = _FREE.pop()
    except IndexError:
        context = _silent_context()
    try:
        return context.run(primitive.numpy, *arrays, **parameters)
    finally:
        _FREE.append(context)


def run_arrays(steps: Sequence[tuple], slots: list[Stored]) -> None:
    """Run operators in order. Their operands and results are elements of the list ``slots``.

    A step is ``(primitive, operand slots, result slots, parameters)``, where a slot is an index into
    ``slots``. If the primitive is ``None``, the step broadcasts one element to the shape ``parameters``.
    """
    with np.errstate(all="ignore"):
        for step in steps:
            run_step(step, slots)


def run_step(step: tuple, slots: list[Stored]) -> None:
    """Run one step of :func:`run_arrays` with the current warning settings."""
    primitive, operands, results, parameters = step
    arrays = [slots[position] for position in operands]
    if primitive is None:
        slots[results[0]] = np.broadcast_to(arrays[0], parameters)
        return
    computed = _run_checked(primitive, arrays, parameters)
    if primitive.multiple:
        for position, array in zip(results, computed, strict=True):
            slots[position] = array
    else:
        slots[results[0]] = computed


def compacted(steps: Sequence[tuple]) -> list[tuple]:
    """Convert steps of :func:`run_arrays` to faster steps for :func:`run_compact`.

    A new step is ``(kernel, operands, result, parameters)``, where ``kernel`` is a NumPy kernel. ``operands``
    is one slot, or a function from the list of slots to several arrays. ``result`` is one slot, or a tuple of
    slots.
    """
    compact: list[tuple] = []
    for primitive, operands, results, parameters in steps:
        kernel = np.broadcast_to if primitive is None else primitive.numpy
        parameters = {"shape": parameters} if primitive is None else parameters
        if len(operands) == 1:
            source = operands[0]
        else:
            source = itemgetter(*operands) if operands else _no_arrays
        is_multiple = primitive is not None and primitive.multiple
        compact.append((kernel, source, results if is_multiple else results[0], parameters))
    return compact


def run_and_free(steps: Sequence[tuple], dead: Sequence[Sequence[int]], slots: list[Stored]) -> None:
    """Run the steps of :func:`compacted`, and free arrays after their last use.

    ``dead`` contains, for each step, the slots whose arrays are freed after the step.
    """
    for step, emptied in zip(steps, dead, strict=True):
        run_compact((step,), slots)
        for position in emptied:
            slots[position] = None


def _no_arrays(_: list[Stored]) -> tuple[()]:
    return ()


def run_compact(steps: Sequence[tuple], slots: list[Stored]) -> None:
    """Run the steps of :func:`compacted`. Call this function with :func:`silently`."""
    for kernel, operands, result, parameters in steps:
        if type(operands) is int:
            computed = kernel(slots[operands], **parameters) if parameters else kernel(slots[operands])
        elif parameters:
            computed = kernel(*operands(slots), **parameters)
        else:
            computed = kernel(*operands(slots))
        if type(result) is int:
            slots[result] = computed
        else:
            for position, array in zip(result, computed, strict=True):
                slots[position] = array
