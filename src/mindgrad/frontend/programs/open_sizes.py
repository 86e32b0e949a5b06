"""Open sizes: one compiled program for several sizes of inputs.

With ``jit(input_signature=...)``, an input may have axes of unspecified size. XLA compiles only for fixed
sizes. Therefore, such a function is compiled for a larger size, called the *capacity*. Each call pads its
inputs to the capacity, passes the actual sizes as operands, and slices the results:

1. A call with a new size is traced for this size, like any call. Python sees the real shapes.
2. The function is traced for two other sizes. The comparison of these two traces shows which axes are open
   (``frontend.programs.open_axes``) and which constants differ between sizes. These constants become
   operands.
3. The program from step 2 is emitted for the size of the call, and compared with the trace from step 1. If
   all equations are equal, the program for a capacity computes the results of the call.

If a step fails, the size is compiled separately, and a warning names the operator that is the cause.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from mindgrad.core.base.location import warn_user
from mindgrad.core.ir import settings
from mindgrad.core.ir.graph import Equation
from mindgrad.core.ir.rewriting import without_rewrites
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.frontend.effect_log import Place
from mindgrad.frontend.programs.cache import is_data
from mindgrad.frontend.programs.open_axes import NotOpen, Open, Opens
from mindgrad.frontend.programs.open_template import SharedTrace, Template
from mindgrad.frontend.tensor_hooks import any_hooked
from mindgrad.frontend.tracing import Trace, trace_of

__all__ = ["OpenSizes"]

#: pairs of sizes for the two traces of step 2, with one pair for each distinct open size of a call. The sizes
#: are distinct primes, so that they do not match by accident. They exceed 64, because the builder evaluates
#: equations whose constant operands have at most 64 elements
_PROBES = ((67, 71), (73, 79), (83, 89), (97, 101), (103, 107), (109, 113))
#: after this many failed attempts to share a program among calls that differ only in open sizes, each size is
#: compiled separately. This is also the maximum number of shared programs that are stored
_MOST = 4


class OpenSizes:
    """The programs of a function whose declared inputs have open sizes.

    Args:
        open_axes: function that returns the indices of the open axes of each argument leaf of a call.
        name: name of the function for warnings.
    """

    def __init__(self, open_axes: Callable[[Sequence[Any]], list[tuple[int, ...]]], name: str) -> None:
        self._open_axes, self._name = open_axes, name
        self._templates: dict[Any, list[Template | None]] = {}
        self._is_warned = False

    def clear(self) -> None:
        """Delete all programs."""
        self._templates.clear()

    def find(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        leaves: list[Any],
        structure: Any,
        places: tuple[Sequence[Place], Sequence[Place]],
    ) -> SharedTrace | None:
        """Trace a call, and find a program that it shares with calls of other sizes.

        Returns:
            The trace with this program, or ``None`` if the call needs a separate program for its sizes.
        """
        axes = self._open_axes(args)
        if len(axes) != len(leaves) or settings.options["debug_nans"] or settings.options["partition"]:
            return None
        if any_hooked(leaves) or any(each and not is_data(x) for each, x in zip(axes, leaves, strict=True)):
            return None
        call = _Call(function, leaves, structure, places, axes)
        if not call.sizes or 0 in call.sizes or len(call.distinct) > len(_PROBES):
            return None
        states = _random_states()
        shared = self._shared(call)
        if shared is None:
            _set_random_states(states)  # the caller traces the function again, with the same random numbers
        return shared

    def _shared(self, call: _Call) -> SharedTrace | None:
        templates = self._templates.setdefault(call.key(), [])
        failures = templates.count(None)
        if failures == len(templates) == _MOST:
            return None
        try:
            traced = call.traced(call.sizes)
        except Exception:
            return None  # the caller traces the function again, which raises the same error
        sizes = dict(enumerate(call.sizes))
        for template in templates:
            shared = None if template is None else template.serves(traced, sizes)
            if shared is not None:
                return shared
        if failures >= _MOST:
            return None
        try:
            with _unnoticed():
                probes = [(dict(enumerate(probe)), call.traced(probe)) for probe in call.probes()]
        except Exception as error:
            templates.append(None)
            self._warn(f"it cannot be traced for other sizes ({error})")
            return None
        try:
            template = Template(call.opens(), *probes)
            shared = template.serves(traced, sizes)
            if shared is None and max(sizes.values()) > 1:
                raise NotOpen(template.unlike)
        except NotOpen as error:
            templates.append(None)
            self._warn(_reason(error.equation))
            return None
        if shared is not None or not any(templates):
            templates[:] = [template, *templates[: 2 * _MOST]]
        return shared

    def _warn(self, reason: str) -> None:
        """Warn, at most once for this function, that each size is compiled separately."""
        if not self._is_warned:
            self._is_warned = True
            warn_user(
                f"jit of {self._name} compiles one program for each size that it is called with, although "
                f"its declared inputs leave sizes open: {reason}. If there are many sizes, pad the inputs "
                f"to a few sizes."
            )


def _reason(equation: Equation | None) -> str:
    if equation is None:
        return "its operators, or its side effects, are not the same for all sizes"
    source = equation.source
    line = "" if source is None else f" ({source[0]}:{source[1]})"
    return f"'{equation.primitive.name}'{line} cannot be compiled for an open size"


class _Call:
    """A call whose declared inputs have open sizes.

    Attributes:
        sizes: the sizes of all open axes in the call, in the order of the inputs and their axes.
        distinct: ``sizes`` without duplicates.
    """

    def __init__(
        self, function: Any, leaves: list[Any], structure: Any, places: Any, axes: list[tuple[int, ...]]
    ) -> None:
        self._function, self._structure, self._places = function, structure, places
        self._inputs = list(zip(leaves, axes, strict=True))
        self.sizes = [x.type.shape[axis] for x, open_axes in self._inputs for axis in open_axes]
        self.distinct = list(dict.fromkeys(self.sizes))

    def key(self) -> Any:
        """Return a cache key: the structure, element types, and fixed sizes of the inputs."""
        types = [(getattr(x, "dtype", None), _shape(x, open_axes)) for x, open_axes in self._inputs]
        return self._structure, tuple(types)

    def opens(self) -> list[Opens]:
        """Return the open size of each axis of each input, or ``None`` for a fixed size.

        Each open axis has a separate symbol.
        """
        symbols = iter(range(len(self.sizes)))
        return [
            tuple([Open(next(symbols), 1) if n is None else None for n in _shape(x, open_axes)])
            for x, open_axes in self._inputs
            if is_data(x)
        ]

    def probes(self) -> list[list[int]]:
        """Return the sizes of all open axes for the two traces of step 2.

        Axes of equal size in the call have equal sizes in each of the two traces.
        """
        return [[_PROBES[self.distinct.index(n)][k] for n in self.sizes] for k in (0, 1)]

    def traced(self, sizes: Sequence[int]) -> Trace:
        """Trace the function with inputs whose open axes have the given sizes."""
        changed = iter(sizes)
        leaves = []
        for x, open_axes in self._inputs:
            if open_axes:
                shape = tuple([next(changed) if n is None else n for n in _shape(x, open_axes)])
                x = make_tensor(None, x.type.with_shape(shape))
            leaves.append(x)
        with without_rewrites():
            return trace_of(self._function, leaves, self._structure, *self._places)


def _shape(leaf: Any, open_axes: tuple[int, ...]) -> tuple[int | None, ...]:
    """Return the shape of a tensor, with ``None`` for open sizes.

    For other values, return ``()``.
    """
    shape = leaf.shape if isinstance(leaf, Tensor) else ()
    return tuple([None if axis in open_axes else n for axis, n in enumerate(shape)])


@contextmanager
def _unnoticed() -> Iterator[None]:
    """Suppress warnings and restore the random state during the traces of step 2."""
    states = _random_states()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        _set_random_states(states)


def _random_states() -> tuple[Any, Any]:
    return random.getstate(), np.random.get_state()  # noqa: NPY002 - functions may use the global generator


def _set_random_states(states: tuple[Any, Any]) -> None:
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002
