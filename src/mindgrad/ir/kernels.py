"""Kernels of eager mode: NumPy's, or those of a device.

NumPy kernels run without floating-point warnings: what is infinite or NaN shows in the values.

To run in a context (of ``contextvars``) that gives none costs a tenth of ``np.errstate``, which costs as much
as three kernels on ten numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import Context
from operator import itemgetter
from typing import Any

import numpy as np

from mindgrad.ir.pending import PendingArray
from mindgrad.ir.primitive import Primitive
from mindgrad.ir.tensor import Tensor

__all__ = [
    "compacted", "is_checking_kernels", "numpy_kernel", "run_and_free", "run_arrays", "run_compact",
    "run_kernel", "run_step", "runs_functions", "runs_on_host", "set_kernel_check", "set_kernel_runner",
    "silently",
]  # fmt: skip

# the contexts without warnings in which nothing runs now
_FREE: list[Context] = []


def _silent_context() -> Context:
    context = Context()
    context.run(np.seterr, all="ignore")
    return context


def silently(function: Callable[..., Any], arguments: Sequence[Any], parameters: dict[str, Any]) -> Any:
    """``function(*arguments, **parameters)``, without warnings; it must not run functions of the user."""
    try:
        context = _FREE.pop()
    except IndexError:  # the first call, or one in another thread, a signal's handler or a finalizer
        context = _silent_context()
    try:
        return context.run(function, *arguments, **parameters)
    finally:
        _FREE.append(context)


def numpy_kernel(primitive: Primitive, arrays: Sequence[Any], parameters: dict[str, Any]) -> Any:
    """The result of the NumPy kernel of ``primitive`` on ``arrays``: an array, or a tuple of them."""
    if primitive.kind == "control":  # as ``runs_functions`` says, without a call
        with np.errstate(all="ignore"):
            return primitive.numpy(*arrays, **parameters)
    return silently(primitive.numpy, arrays, parameters)


def runs_functions(primitive: Primitive) -> bool:
    """Whether the kernel may run functions of the user, which see their own context variables."""
    return primitive.kind == "control"


_run_kernel: Callable[..., Any] = numpy_kernel
#: whether kernels are NumPy's; whether nothing looks at their results either
_is_plain = _is_direct = True
#: looks at what each kernel gives
_check: Callable[..., None] | None = None


def set_kernel_runner(runner: Callable[..., Any] | None) -> None:
    """Let ``runner(primitive, arrays, parameters)`` run eager kernels; ``None``: NumPy."""
    global _run_kernel, _is_plain, _is_direct
    _run_kernel = numpy_kernel if runner is None else runner
    _is_plain = runner is None
    _is_direct = _is_plain and _check is None


def set_kernel_check(check: Callable[..., None] | None) -> None:
    """Let ``check(primitive, arrays, results, parameters)`` look at what each eager kernel gives."""
    global _check, _is_direct
    _check = check
    _is_direct = _is_plain and check is None


def is_checking_kernels() -> bool:
    """Whether something looks at what each eager kernel gives."""
    return _check is not None


def _run_checked(primitive: Primitive, arrays: Sequence[Any], parameters: dict[str, Any]) -> Any:
    results = _run_kernel(primitive, arrays, parameters)
    if _check is not None:
        _check(primitive, arrays, results, parameters)
    return results


def runs_on_host() -> bool:
    """Whether eager kernels are NumPy's."""
    return _is_plain


def run_kernel(primitive: Primitive, tensors: Sequence[Tensor], parameters: dict[str, Any]) -> Any:
    """Run one kernel on the values of ``tensors`` now; an array, or a tuple of them."""
    plain = _is_plain
    pointwise = primitive.pointwise
    arrays: list[Any] = []
    for tensor in tensors:
        array: Any = tensor._array
        if type(array) is not np.ndarray:
            if array is None or (plain and not isinstance(array, (np.ndarray, np.generic))):
                array = tensor.host_array()
            elif type(array) is PendingArray:
                array = array.get()
        if not pointwise:
            type_ = tensor._type  # None: that of the array
            if type_ is not None and array.shape != type_.shape:
                array = np.broadcast_to(array, type_.shape)
        arrays.append(array)
    if not _is_direct or primitive.kind == "control":
        return _run_checked(primitive, arrays, parameters)
    try:  # as ``silently``, without a call
        context = _FREE.pop()
    except IndexError:
        context = _silent_context()
    try:
        return context.run(primitive.numpy, *arrays, **parameters)
    finally:
        _FREE.append(context)


def run_arrays(steps: Sequence[tuple], slots: list[Any]) -> None:
    """Run ``(primitive, operand slots, result slots, parameters)`` in order on arrays in ``slots``.

    A step whose primitive is ``None`` spreads one element over the shape in ``parameters``.
    """
    with np.errstate(all="ignore"):
        for step in steps:
            run_step(step, slots)


def run_step(step: tuple, slots: list[Any]) -> None:
    """Run one step of :func:`run_arrays`, with warnings as they are."""
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
    """The ``steps`` of :func:`run_arrays` as :func:`run_compact` takes them, for the kernels of NumPy.

    Each is ``(kernel, operands, result, parameters)``: ``operands`` is one slot, or a function from the slots
    to the arrays of several; ``result`` is one slot, or a tuple of slots.
    """
    compact: list[tuple] = []
    for primitive, operands, results, parameters in steps:
        kernel = np.broadcast_to if primitive is None else primitive.numpy
        parameters = {"shape": parameters} if primitive is None else parameters
        if len(operands) == 1:
            source: Any = operands[0]
        else:
            source = itemgetter(*operands) if operands else _no_arrays
        is_multiple = primitive is not None and primitive.multiple
        compact.append((kernel, source, results if is_multiple else results[0], parameters))
    return compact


def run_and_free(steps: Sequence[tuple], dead: Sequence[Sequence[int]], slots: list[Any]) -> None:
    """:func:`run_compact`, with the slots of ``dead`` emptied behind each step."""
    for step, emptied in zip(steps, dead, strict=True):
        run_compact((step,), slots)
        for position in emptied:
            slots[position] = None


def _no_arrays(_: list[Any]) -> tuple[()]:
    return ()


def run_compact(steps: Sequence[tuple], slots: list[Any]) -> None:
    """Run the steps of :func:`compacted` on arrays in ``slots``; to be called :func:`silently`."""
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
