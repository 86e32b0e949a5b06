"""Compiled functions: one XLA program for each call signature.

A call signature consists of the structure of the arguments, the types of their tensors, the values of their
Python constants, and the options of the context. For each signature, the function is traced once, with the
tensors as inputs of the program:

- Parameters that the function reads become inputs.
- Parameters that the function writes become outputs, which reuse the memory of the old values.
- Guards compare other Python state that the trace has read. If the state has changed, the function is traced
  again.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from itertools import chain
from typing import Any

from mindgrad._base.progress import Progress
from mindgrad.core.base.collection import only_young_garbage
from mindgrad.core.base.tree import flatten
from mindgrad.core.ir import settings
from mindgrad.core.ir.constant_arguments import any_constant
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.scope import as_it_is, open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.passes.pipeline import before_compilation
from mindgrad.frontend import user_calls
from mindgrad.frontend.effect_log import Place, Variable
from mindgrad.frontend.guards import Change
from mindgrad.frontend.programs.array_arguments import (
    as_constants,
    leaves_as_tensors,
    note_large_array,
    with_tensors,
)
from mindgrad.frontend.programs.cache import (
    MAXSIZE,
    CacheInfo,
    History,
    call_signature,
    history_of,
    is_data,
    offer,
    offered,
    register,
    withdraw,
)
from mindgrad.frontend.programs.cache_miss import UNKNOWN, between_functions, between_signatures, refused
from mindgrad.frontend.programs.divided_arrays import joint_args
from mindgrad.frontend.programs.number_operands import Counting, NumberArguments, with_operands
from mindgrad.frontend.programs.open_sizes import OpenSizes
from mindgrad.frontend.programs.program import Program, compile_program
from mindgrad.frontend.signature import shifting
from mindgrad.frontend.tensor_hooks import any_hooked, inherit_hooks
from mindgrad.frontend.tracing import Trace, trace_of

__all__ = ["Compiled", "trace"]

#: maximum number of programs for one call signature. They differ in the values of the Python state that they
#: read, such as ``self.training``
_KEPT = 8


class Compiled:
    """A function that runs as a compiled program.

    Inside another trace or derivative, it runs as plain Python.

    Attributes:
        function: the Python function.
        history: hits and misses of the function, or ``None`` before the first compilation.
        open_sizes: programs that serve several sizes of an input (``frontend.programs.open_sizes``). If it is
            ``None``, the function is compiled separately for every input size.
    """

    __slots__ = (
        "__weakref__", "_by_value", "_counters", "_counts", "_latest", "_lock", "_programs", "function",
        "history", "open_sizes",
    )  # fmt: skip

    #: two compiled functions are equal if these attributes are equal
    compared_by = ("function",)

    def __init__(self, function: Callable[..., Any], open_sizes: OpenSizes | None = None) -> None:
        self.function = function
        self.open_sizes = open_sizes
        self.history: History | None = None
        self._programs: dict[Any, list[Program]] = {}
        #: for the fast path: argument types, version of the context options, and program of the latest call
        #: in which all arguments were tensors
        self._latest: tuple[list[Any], int, Program] | None = None
        self._by_value: set[Any] = set()  # call signatures whose programs have array arguments as constants
        self._counters: Counting | None = None  # created by the first call that needs a program
        self._lock = threading.RLock()
        self._counts: Counter[str] = Counter()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(args, kwargs)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return ``function(*args, **kwargs)``.

        A compiled program computes the result, except inside traces and derivatives. If no program serves the
        arguments, one is compiled.
        """
        latest = None if kwargs else self._latest
        if latest is not None and not open_scopes():  # the fast path computes no cache key
            types, version, program = latest
            if (
                version == settings.version
                and types == [x._type or x.type if type(x) is Tensor else None for x in args]
                and not any_constant(args)
                and not any_hooked(args)
                and program.holds()
            ):
                program.history.hits += 1
                return program.call(args)
        if open_scopes():
            # pass copies, because the function must not change elements of the caller's tensors. A compiled
            # call cannot change them, either
            args = tuple([inherit_hooks(as_it_is(x), x) if type(x) is Tensor else x for x in args])
            args, kwargs = with_tensors((args, kwargs))
            return user_calls.run(self.function, *args, **kwargs)
        version, divided = settings.version, settings.options["partition"]
        args, kwargs = joint_args(args, kwargs) if divided else (args, kwargs)
        try:
            key, tensors = call_signature(args, kwargs)
        except TypeError as error:
            raise refused(self.function, args, kwargs, error) from None
        for program in self._programs.get(key, ()):
            if program.holds():
                program.history.hits += 1
                is_plain = len(tensors) == len(args) == list(map(type, args)).count(Tensor)
                if is_plain and not kwargs and not divided and not any_hooked(args):
                    self._latest = [x.type for x in args], version, program
                return program.call(tensors)
        if key in self._by_value:
            return self._with_known_arrays(key, args, kwargs)()
        if self._counters is None:
            self._counters = Counting()
        counter = self._counters.find(key)
        if counter is not None:
            call = self._with_operands(key, args, kwargs, counter)
            if call is not None:
                return call()
        try:
            program = self._compiled(key, args, kwargs)
        except Exception as error:
            return self._with_known_arrays(key, args, kwargs, error)()
        return program.call(tensors)

    def prepare(self, *args: Any, **kwargs: Any) -> None:
        """Compile a program for the given arguments without running it."""
        self._compiled(call_signature(args, kwargs)[0], args, kwargs)

    def _compiled(
        self,
        key: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        accept: Callable[[Program, Trace], bool] | None = None,
        called_key: Any = None,
    ) -> Program:
        """Compile a program for a signature, unless another thread has compiled one.

        Args:
            key: the signature for which the program is compiled.
            args, kwargs: the arguments of the call.
            accept: receives the new program and its trace. If it returns ``False``, ``Rejected`` is raised
                before XLA compiles the program. By default, every program is accepted.
            called_key: the signature of the call, if it differs from ``key`` because numbers in the call
                became inputs.
        """
        with self._lock:
            if self.history is None:
                register(self)
                self.history = history_of(self.function)
            for program in self._programs.get(key, ()):
                if program.holds():
                    self.history.hits += 1
                    return program
            compiled = self._adopted(key)
            if compiled is None:
                reason = self._reason(key if called_key is None else called_key)
                leaves, structure = flatten((args, kwargs))
                if any(type(x) is not Tensor for x in leaves):
                    leaves = leaves_as_tensors(leaves)
                with Progress("compiling", "compiled", self.function):
                    places, shared = self._inputs(key), None
                    if self.open_sizes is not None:
                        shared = self.open_sizes.find(self.function, args, leaves, structure, places)
                    compiled = compile_program(self.function, key, leaves, structure, *places, accept, shared)
                compiled.history = self.history
                if shared is None or shared.is_new:
                    self.history.compiled(reason, self._counts if self._programs else None)
                else:
                    self.history.hits += 1
                lasting = compiled.detached()
                self.history.programs.add(lasting)
                offer(self.function, lasting, compiled.owners())
            else:
                self.history = compiled.history
                self.history.hits += 1
            self.history.programs.add(compiled)
            self._latest = None
            # a signature can have several programs, for example one for training and one for evaluation
            self._programs[key] = [compiled, *self._programs.get(key, [])[: _KEPT - 1]]
            if len(self._programs) > MAXSIZE:
                self._programs.pop(next(iter(self._programs)))
            return compiled

    def _with_operands(
        self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], counter: NumberArguments
    ) -> Callable[[], Any] | None:
        """Find or compile a program whose inputs include the Python numbers that change.

        Returns:
            A function that calls the program, or ``None`` if the numbers cannot be inputs
            (``frontend.programs.number_operands``).
        """
        places = counter.places
        marked = with_operands(args, kwargs, places)
        marked_key, tensors = call_signature(*marked)
        marked_key = counter.marked(marked_key)
        for program in self._programs.get(marked_key, ()):
            if program.holds():
                program.history.hits += 1
                return lambda: program.call(tensors)
        before = next((each[0] for each in reversed(self._programs.values())), None)
        leaves = flatten(marked)[0]
        data = [k for k, leaf in enumerate(leaves) if is_data(leaf)]

        def as_constants() -> tuple[list[Any], Graph]:
            plain, structure = flatten((args, kwargs))
            typical, inputs = leaves_as_tensors(counter.typical(plain)), self._inputs(marked_key)
            return typical, trace_of(self.function, typical, structure, *inputs).graph

        def accept(program: Program, traced: Trace) -> bool:
            is_same = before is None or before.result_types() == program.result_types()
            return is_same and counter.accepts(traced, data, as_constants)

        try:
            program = self._compiled(marked_key, *marked, accept=accept, called_key=key)
        except Exception as error:
            if getattr(error, "is_final", False):
                raise
            counter.keep_constant()  # a shape, index, or branch needs the value
            return None
        return lambda: program.call(tensors)

    def _with_known_arrays(
        self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception | None = None
    ) -> Callable[[], Any]:
        """Compile a program in which small array arguments are constants.

        Such a program is needed if the function cannot be traced with these arrays as inputs, for example
        because it converts an element to a Python number.

        Returns:
            A function that calls the program.

        Raises:
            Exception: ``error``, which the trace with the arrays as inputs raised, if a trace with constants
                fails, too.
        """
        constants = None if getattr(error, "is_final", False) else as_constants(args, kwargs)
        if constants is not None:
            try:
                constant_key, tensors = call_signature(*constants)
                program = self._compiled(constant_key, *constants)
            except Exception:
                if error is None:
                    raise
            else:
                self._by_value.add(key)
                return lambda: program.call(tensors)
        elif error is not None:
            note_large_array(error, args, kwargs)
        raise error or TypeError(key)

    def _inputs(self, key: Any) -> tuple[list[Place], list[Place]]:
        """List attributes and variables whose values have changed since an earlier trace.

        The next trace makes these values inputs of the program. Then further changes require no compilation.

        Returns:
            Two lists: the attributes and variables whose values are numbers, and the ones whose values are
            tensors.
        """
        known = self._programs.get(key)
        if known:
            return known[0].counted(), known[0].shifting()
        for program in offered(self.function):
            if program.key == key:
                cells = shifting(program.function, self.function)
                own = [Variable(cell, name, label) for name, label, cell in cells]
                return program.counted(), [*own, *program.shifting()]
        return [], []

    def _adopted(self, key: Any) -> Program | None:
        """Return a program that was compiled for an equal function.

        The result is ``None`` if the cache contains no such program.
        """
        for program in offered(self.function):
            found = program.attached(self.function) if program.key == key else None
            if found is not None:
                return found
        return None

    # -- statistics --------------------------------------------------------------------------------

    def cache_info(self) -> CacheInfo:
        """Return hits and misses of this function, with the reasons for compiling."""
        history = self.history
        if history is None:
            return CacheInfo(0, 0, MAXSIZE, 0)
        return CacheInfo(history.hits, history.misses, MAXSIZE, history.size, tuple(history.reasons))

    def cache_clear(self) -> None:
        """Delete all programs."""
        with self._lock:
            withdraw({id(program.executable) for each in self._programs.values() for program in each})
            self._latest = None
            self._programs.clear()
            self._by_value.clear()
            if self.open_sizes is not None:
                self.open_sizes.clear()
            self._counters = None
            self._counts.clear()
            if self.history is not None:
                self.history.clear()
                self.history = None

    def _reason(self, key: Any) -> Change | None:
        """Return why no compiled program serves the call, or ``None`` for a first call."""
        known = self._programs.get(key)
        if known:
            return next(known[0].changes(), UNKNOWN)
        if self._programs:
            latest = next(reversed(self._programs.values()))[0]
            return next(between_signatures(latest.key, key, self.function), UNKNOWN)
        for program in offered(self.function):
            found = between_functions(program.function, self.function)
            others = chain(between_signatures(program.key, key, self.function), program.changes())
            return found or next(others, UNKNOWN)
        return None


def trace(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Graph:
    """Return the graph of ``function`` for the given arguments, after all rewrites.

    The outputs of the graph have this order: the new values of the Parameters that the function writes, the
    tensors of the result, and the tensors that the function assigns to attributes and variables.

    >>> import mindgrad as ms
    >>> from mindgrad.frontend.programs.compiled import trace
    >>> len(trace(lambda x: x * x + 1.0, ms.Tensor([1.0, 2.0])))
    2
    """
    leaves, structure = flatten((args, kwargs))
    with only_young_garbage:
        return before_compilation(Trace(function, leaves_as_tensors(leaves), structure).graph)
