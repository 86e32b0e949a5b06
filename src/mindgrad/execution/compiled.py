"""Compiled functions: one XLA program per signature of the arguments.

A signature is the structure of the arguments, the types of their tensors and the values of their
Python constants, with the options of the context. The program is traced once, with tensors as inputs;
Parameters that it reads become further inputs, those that it writes outputs, and the memory of their old
values becomes that of the new ones. It is used again while what its trace read of Python is as it was.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from mindgrad._base.collection import only_young_garbage
from mindgrad._base.progress import Progress
from mindgrad._base.tree import flatten, is_leaf, unflatten
from mindgrad.backend.executable import array_type
from mindgrad.backend.xla import compile_ahead
from mindgrad.execution.array_arguments import as_constants, leaves_as_tensors, with_tensors
from mindgrad.execution.cache import (
    MAXSIZE,
    CacheInfo,
    History,
    call_signature,
    history_of,
    offer,
    offered,
    register,
    withdraw,
)
from mindgrad.execution.cache_miss import UNKNOWN, between_functions, between_signatures, refused
from mindgrad.execution.donation import Donation, run_and_store
from mindgrad.execution.finite_results import checked, traced_plainly
from mindgrad.execution.layouts import gathered, joint_args, lay_out, moved, partition_of, placement_of, stay
from mindgrad.execution.observers import observe
from mindgrad.ir import settings
from mindgrad.ir.constant_arguments import any_constant
from mindgrad.ir.graph import Graph, communicates
from mindgrad.ir.partition import in_force
from mindgrad.ir.scope import as_it_is, open_scopes
from mindgrad.ir.tensor import Tensor, make_tensor
from mindgrad.optimize.pipeline import before_compilation
from mindgrad.trace import user_calls
from mindgrad.trace.effect_log import Place, Variable
from mindgrad.trace.guards import Change, Dependencies
from mindgrad.trace.signature import matched, shifting, snapshot
from mindgrad.trace.tracing import NUMBER, TENSOR, Trace, kind_held, kind_of, trace_of

__all__ = ["Compiled", "trace"]

#: programs kept per signature, for different states of the Cells and variables that they were traced with
_KEPT = 8


class _NotPlain(Exception):
    """A program cannot stand for operators that run one by one."""


class _Program:
    """One compiled program with what is needed to call it.

    Attributes:
        function: what was traced; of a detached program a snapshot of it.
        key: the signature that it was traced for.
        dependencies: what else of Python it was traced with.
        executable: what runs.
        history: that of its function, kept as long as the program.
        is_plain: whether its results are new tensors and constants, Parameters all that it changes, and its
            numbers as precise as those of operators that run one by one.
    """

    history: History

    __slots__ = (
        "__weakref__", "_array_type", "_divided", "_donation", "_has_state", "_held", "_is_leaf", "_leaves",
        "_only", "_outcome", "_read", "_retyped", "_structure", "_types", "_written", "dependencies",
        "executable", "function", "history", "is_plain", "key",
    )  # fmt: skip

    def __init__(
        self,
        function: Callable[..., Any],
        key: Any,
        leaves: list[Any],
        structure: Any,
        numbers: Sequence[Place] = (),
        tensors: Sequence[Place] = (),
        only_plain: bool = False,
    ) -> None:
        is_checking = settings.options["debug_nans"]
        if is_checking:
            plain = traced_plainly(lambda: trace_of(function, leaves, structure, numbers, tensors))
        with only_young_garbage:
            traced = trace_of(function, leaves, structure, numbers, tensors)
            with in_force(partition := partition_of(traced.graph)):
                graph = before_compilation(traced.graph)
        parameters, written = traced.parameters, traced.written
        if settings.options.get("save_graphs"):
            observe(getattr(function, "__name__", type(function).__name__), graph, parameters)
        self.function, self.key = function, key
        self._structure, self._outcome = traced.structure, traced.outcome
        self._leaves = [kind_of(x) for x in traced.results]
        self._held = [kind_held(x) for x in traced.outcome.leaves]
        self._only = self._leaves == [TENSOR] and not traced.outcome
        self._is_leaf = self._only and is_leaf(traced.structure)
        self._has_state = bool(traced.outcome)
        self._types = [atom.type for atom in graph.outputs]
        new = {id(p): type for p, type in zip(written, self._types[: len(written)], strict=True)}
        self._written = written
        self._retyped = [(p, new[id(p)]) for p in written if new[id(p)] is not p.type]
        # what a failing callback of the program would take with it is not given away
        may_give = not graph.has_effect and not is_checking
        is_given = [may_give and new.get(id(p)) is p.type for p in parameters]
        donated = [p for p, may_donate in zip(parameters, is_given, strict=True) if may_donate]
        self._donation = Donation(donated) if donated else None
        self._read = [p for p, may_donate in zip(parameters, is_given, strict=True) if not may_donate]
        results = graph.outputs[len(written) :]
        self.is_plain = (
            not traced.outcome
            and not graph.has_effect
            and not communicates(graph)
            and not graph.has_halves()
            and len({*map(id, results), *map(id, graph.inputs)}) == len(results) + len(graph.inputs)
        )
        if only_plain and not self.is_plain:
            raise _NotPlain
        count = len(graph.inputs) - len(parameters)
        self.dependencies = traced.dependencies
        self.dependencies.close([*parameters, *written])
        placement = None if partition is None else placement_of(graph, partition, parameters, written)
        donated_inputs = [count + k for k, may_donate in enumerate(is_given) if may_donate]
        pending = 0 if is_checking else len(written)
        self.executable = compile_ahead(graph, donated_inputs, placement=placement, pending_results=pending)
        self._divided = None if placement is None else parameters
        if placement is not None:
            stay(placement, parameters, written)
        if is_checking:
            self.executable.run = checked(self.executable.run, plain)
        self._array_type = array_type()

    def detached(self) -> _Program:
        """This program without its function, for functions that are the same."""
        function, cells, walked = snapshot(self.function, self._outcome.free())
        program = self._with(function, self.dependencies.detached(cells, walked))
        places = {id(cell): place for place, cell in enumerate(cells)}
        program._outcome = self._outcome.moved(lambda cell: places.get(id(cell), cell))
        return program

    def attached(self, function: Callable[..., Any]) -> _Program | None:
        """This detached program as one of ``function``; ``None`` if that is not the same."""
        cells = matched(self.function, function)
        if cells is None:
            return None
        made = self._with(function, self.dependencies.attached(cells))
        made._outcome = self._outcome.moved(lambda cell: cells[cell] if type(cell) is int else cell)
        return made if made.holds() else None

    def _with(self, function: Any, dependencies: Dependencies) -> _Program:
        program = object.__new__(_Program)
        for name in self.__slots__[1:]:
            setattr(program, name, getattr(self, name))
        program.function = function
        program.dependencies = dependencies
        return program

    def holds(self) -> bool:
        """Whether what the trace read of Python still is as it was."""
        return self.dependencies.hold() and (not self._has_state or self._outcome.holds())

    def counted(self) -> list[Place]:
        """The places of numbers that it changes, and that have changed since it was traced."""
        return [each for each in self._outcome.counted() if type(each.holder) is not int]

    def shifting(self) -> list[Place]:
        """The places of tensors that are inputs, and of those whose values have changed since."""
        places = [*self._outcome.taken(), *self.dependencies.shifting()]
        return [each for each in places if type(each.holder) is not int]  # that of a function that is gone

    def changes(self) -> Iterator[Change]:
        """The changes by which this program no longer holds, in words."""
        return chain(self._outcome.changes(), self.dependencies.changes())

    def owners(self) -> list[Any]:
        """The Parameters and Cells that the program reads, but for those that live as long as the process."""
        owners = [*self._parameters(), *self.dependencies.owners()]
        return [owner for owner in owners if not getattr(owner, "is_permanent", False)]

    def call(self, tensors: Sequence[Tensor]) -> Any:
        """The function's result for the tensors among its arguments."""
        device_array, outcome = self._array_type, self._outcome
        if self._divided is not None:
            lay_out([*tensors, *outcome.inputs(), *self._divided], self.executable.layouts or ())
        operands: list[Any] = [*tensors, *(outcome.inputs() if self._has_state else ()), *self._read]
        arrays = [array if type(array := x._array) is device_array else moved(x) for x in operands]
        executable = self.executable
        try:
            if self._written:
                return run_and_store(executable, arrays, self._donation, self._written, self._finish)
            results = executable.run(arrays, [], executable.extra)
        except ValueError:  # of an array that a program for several devices has left on them
            operands = [*tensors, *outcome.inputs(), *self._parameters()]
            if self._divided is not None or not gathered(operands):
                raise
            return self.call(tensors)
        return self._finish(results)

    def _parameters(self) -> list[Any]:
        return [*self._read, *(() if self._donation is None else self._donation.parameters)]

    def _finish(self, results: list[Any]) -> Any:
        """The function's result, of what the program gives; what it leaves in attributes is stored."""
        first = len(self._written)
        for parameter, type_ in self._retyped:
            parameter.retype(type_)
        if self._only:
            tensor = make_tensor(results[first], self._types[first])
            return tensor if self._is_leaf else unflatten(self._structure, [tensor])
        produced = map(make_tensor, results[first:], self._types[first:])
        result = unflatten(self._structure, [_made(kind, produced) for kind in self._leaves])
        if self._has_state:
            self._outcome.store([_made(kind, produced) for kind in self._held])
        return result


def _made(kind: Any, produced: Iterator[Tensor]) -> Any:
    if kind is TENSOR:
        return next(produced)
    return next(produced).item() if kind is NUMBER else kind[0]


class Compiled:
    """Calls ``function`` as a compiled program, or as it is inside one and under a derivative.

    Attributes:
        function: the function.
        history: how often programs were found and compiled; ``None`` before the first.
    """

    __slots__ = (
        "__weakref__", "_by_value", "_counts", "_latest", "_lock", "_programs", "function", "history",
    )  # fmt: skip

    #: two of them are the same if their functions are
    compared_by = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.history: History | None = None
        self._programs: dict[Any, list[_Program]] = {}
        #: types of plain tensors, the version of the options that they were given under, their program
        self._latest: tuple[tuple[Any, ...], int, _Program] | None = None
        self._by_value: set[Any] = set()  # signatures of which programs know the values of arrays
        self._lock = threading.RLock()
        self._counts: Counter[str] = Counter()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        latest = None if kwargs else self._latest
        if latest is not None and not open_scopes():  # the usual call: no key is hashed
            types, version, program = latest
            if (
                version == settings.version
                and types == tuple([x.type if type(x) is Tensor else None for x in args])
                and not any_constant(args)
                and program.holds()
            ):
                program.history.hits += 1
                return program.call(args)
        if open_scopes():
            # as when it is called from outside: what it assigns to elements of arguments stays inside
            args = tuple([as_it_is(x) if type(x) is Tensor else x for x in args])
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
                if is_plain and not kwargs and not divided:
                    self._latest = tuple([x.type for x in args]), version, program
                return program.call(tensors)
        if key in self._by_value:
            return self._with_known_arrays(key, args, kwargs)()
        try:
            program = self._compiled(key, args, kwargs)
        except Exception as error:
            return self._with_known_arrays(key, args, kwargs, error)()
        return program.call(tensors)

    def ready(self, *args: Any, **kwargs: Any) -> Callable[[], Any] | None:
        """The call with these arguments, if there is a program for it that needs no compilation."""
        args, kwargs = joint_args(args, kwargs) if settings.options["partition"] else (args, kwargs)
        try:
            key, tensors = call_signature(args, kwargs)
        except TypeError:
            return None
        for program in self._programs.get(key, ()):
            if program.holds():
                program.history.hits += 1
                return lambda: program.call(tensors)
        return None

    def prepare(self, *args: Any, **kwargs: Any) -> bool:
        """Compile a program for these arguments that can stand for operators that run one by one.

        Returns:
            Whether there is one: its results are new tensors and constants, Parameters are all that it
            changes, and it does not compute in half precision.
        """
        try:
            return self._compiled(call_signature(args, kwargs)[0], args, kwargs, only_plain=True).is_plain
        except _NotPlain:
            return False

    def _compiled(
        self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], only_plain: bool = False
    ) -> _Program:
        """The program for a signature that none was found for; another thread may have made it."""
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
                reason = self._reason(key)
                leaves, structure = flatten((args, kwargs))
                if any(type(x) is not Tensor for x in leaves):
                    leaves = leaves_as_tensors(leaves)
                with Progress("compiling", "compiled", self.function):
                    compiled = _Program(self.function, key, leaves, structure, *self._inputs(key), only_plain)
                compiled.history = self.history
                self.history.compiled(reason, self._counts if self._programs else None)
                lasting = compiled.detached()
                self.history.programs.add(lasting)
                offer(self.function, lasting, compiled.owners())
            else:
                self.history = compiled.history
                self.history.hits += 1
            self.history.programs.add(compiled)
            # several: a net that is switched between training and evaluation has two
            self._latest = None
            self._programs[key] = [compiled, *self._programs.get(key, [])[: _KEPT - 1]]
            if len(self._programs) > MAXSIZE:
                self._programs.pop(next(iter(self._programs)))
            return compiled

    def _with_known_arrays(
        self, key: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception | None = None
    ) -> Callable[[], Any]:
        """The call of a program that knows the values of small arrays, where one for all values cannot be.

        Raises:
            Exception: ``error``, which stopped the trace with arrays as inputs, if this does not help.
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
        raise error or TypeError(key)

    def _inputs(self, key: Any) -> tuple[list[Place], list[Place]]:
        """The numbers and tensors of Python that changed since the last program and may become inputs."""
        known = self._programs.get(key)
        if known:
            return known[0].counted(), known[0].shifting()
        for program in offered(self.function):
            if program.key == key:
                cells = shifting(program.function, self.function)
                own = [Variable(cell, name, label) for name, label, cell in cells]
                return program.counted(), [*own, *program.shifting()]
        return [], []

    def _adopted(self, key: Any) -> _Program | None:
        """The program of another compiled function, of a function that is the same as this one."""
        for program in offered(self.function):
            found = program.attached(self.function) if program.key == key else None
            if found is not None:
                return found
        return None

    # -- what users ask ----------------------------------------------------------------------------

    def cache_info(self) -> CacheInfo:
        """Hits and misses of this function's programs, with the reasons for compiling."""
        history = self.history
        if history is None:
            return CacheInfo(0, 0, MAXSIZE, 0)
        return CacheInfo(history.hits, history.misses, MAXSIZE, history.size, tuple(history.reasons))

    def cache_clear(self) -> None:
        """Forget all programs."""
        with self._lock:
            withdraw({id(program.executable) for each in self._programs.values() for program in each})
            self._latest = None
            self._programs.clear()
            self._by_value.clear()
            self._counts.clear()
            if self.history is not None:
                self.history.clear()
                self.history = None

    def _reason(self, key: Any) -> Change | None:
        """The reason for compiling although there are programs; ``None`` if there are none."""
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
    """The graph of ``function`` for such arguments as it is compiled, before any simplification by XLA.

    Its outputs are the new values of written Parameters, then the tensors of the result, then those that
    it leaves in attributes and variables.

    >>> import mindgrad as ms
    >>> from mindgrad.execution.compiled import trace
    >>> len(trace(lambda x: x * x + 1.0, ms.Tensor([1.0, 2.0])))
    2
    """
    leaves, structure = flatten((args, kwargs))
    with only_young_garbage:
        return before_compilation(Trace(function, leaves_as_tensors(leaves), structure).graph)
