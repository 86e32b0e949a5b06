"""A compiled program of a function, with its Parameters, guards, and results.

``frontend.programs.compiled`` compiles one :class:`Program` for each call signature, and calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from mindgrad.core.backend.executable import array_type
from mindgrad.core.backend.finite_results import checked, traced_plainly
from mindgrad.core.backend.observers import observe
from mindgrad.core.backend.xla import compile_ahead
from mindgrad.core.base.collection import only_young_garbage
from mindgrad.core.base.tree import is_leaf, unflatten
from mindgrad.core.ir import settings
from mindgrad.core.ir.graph import calls_back
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.passes.pipeline import before_compilation
from mindgrad.distributed.layouts import partition_of, placement_of, stay
from mindgrad.distributed.partition import in_force
from mindgrad.frontend.effect_log import Place
from mindgrad.frontend.guards import Change, Dependencies
from mindgrad.frontend.programs.cache import History
from mindgrad.frontend.programs.divided_arrays import gathered, lay_out, moved
from mindgrad.frontend.programs.donation import Donation, run_and_store
from mindgrad.frontend.programs.open_template import SharedTrace
from mindgrad.frontend.signature import matched, snapshot, users_functions
from mindgrad.frontend.tracing import NUMBER, TENSOR, Trace, kind_held, kind_of, trace_of

__all__ = ["Program", "Rejected", "compile_program"]


class Rejected(Exception):
    """Raised if the callable ``accept`` of :func:`compile_program` returns ``False``."""


class Program:
    """One compiled program of a function.

    A program is *detached* if it contains a snapshot of its function instead of the function itself. The
    cache stores detached programs. If a later function is equal to the snapshot, a copy of the program is
    attached to that function. An example is a lambda that a loop creates again in each iteration.

    Attributes:
        function: the traced function, or its snapshot.
        key: the call signature for which the function was traced.
        dependencies: the guards: Python state that the trace has read.
        executable: the machine code that XLA has compiled for the program.
        history: the compile history of the function. It lives at least as long as the program.
    """

    history: History

    __slots__ = (
        "__weakref__", "_array_type", "_divided", "_donation", "_has_state", "_held", "_is_leaf", "_leaves",
        "_only", "_outcome", "_read", "_retyped", "_structure", "_types", "_written", "dependencies",
        "executable", "function", "history", "key",
    )  # fmt: skip

    def __init__(
        self, function: Callable[..., Any], key: Any, traced: Trace, types: list[Any], is_given: list[bool]
    ) -> None:
        parameters, written = traced.parameters, traced.written
        self.function, self.key = function, key
        self.dependencies = traced.dependencies
        self.executable: Any = None
        self._structure, self._outcome = traced.structure, traced.outcome
        self._leaves = [kind_of(x) for x in traced.results]
        self._held = [kind_held(x) for x in traced.outcome.leaves]
        self._only = self._leaves == [TENSOR] and not traced.outcome
        self._is_leaf = self._only and is_leaf(traced.structure)
        self._has_state = bool(traced.outcome)
        self._types, self._written = types, written
        self._retyped = [(p, type) for p, type in zip(written, types, strict=False) if type is not p.type]
        given = [p for p, may_donate in zip(parameters, is_given, strict=True) if may_donate]
        self._donation = Donation(given) if given else None
        self._read = [p for p, may_donate in zip(parameters, is_given, strict=True) if not may_donate]
        self._divided: Any = None
        self._array_type = array_type()

    def result_types(self) -> list[Any]:
        """Return the type of each tensor in the result, and ``None`` for other leaves."""
        types = iter(self._types[len(self._written) :])
        produced = [next(types) if kind is TENSOR or kind is NUMBER else None for kind in self._leaves]
        return [type if kind is TENSOR else None for type, kind in zip(produced, self._leaves, strict=True)]

    def detached(self) -> Program:
        """Return a copy of this program that other, equal functions can use.

        The copy refers to a snapshot of the function instead of the function itself.
        """
        function, cells, walked = snapshot(self.function, self._outcome.free())
        program = self._with(function, self.dependencies.detached(cells, walked))
        places = {id(cell): place for place, cell in enumerate(cells)}
        program._outcome = self._outcome.moved(lambda cell: places.get(id(cell), cell))
        return program

    def attached(self, function: Callable[..., Any]) -> Program | None:
        """Return a copy of this program for ``function``.

        The result is ``None`` if ``function`` differs from the snapshot, or if the Python state that the
        trace has read has changed.
        """
        cells = matched(self.function, function)
        if cells is None:
            return None
        made = self._with(function, self.dependencies.attached(cells, users_functions(function)))
        made._outcome = self._outcome.moved(lambda cell: cells[cell] if type(cell) is int else cell)
        return made if made.holds() else None

    def _with(self, function: Any, dependencies: Dependencies) -> Program:
        program = object.__new__(Program)
        for name in self.__slots__[1:]:
            setattr(program, name, getattr(self, name))
        program.function = function
        program.dependencies = dependencies
        return program

    def holds(self) -> bool:
        """Return whether the Python state that the trace has read is unchanged."""
        return self.dependencies.hold() and (not self._has_state or self._outcome.holds())

    def counted(self) -> list[Place]:
        """List attributes and variables whose numbers the next trace treats as inputs.

        These numbers are inputs of this program already, or have changed since its trace.
        """
        return [each for each in self._outcome.counted() if type(each.holder) is not int]

    def shifting(self) -> list[Place]:
        """List attributes and variables whose tensors the next trace treats as inputs.

        These tensors are inputs of this program already, or have changed since its trace.
        """
        places = [*self._outcome.taken(), *self.dependencies.shifting()]
        # in a detached program, ``holder`` is the index of a closure variable in the snapshot. Omit such
        # variables
        return [each for each in places if type(each.holder) is not int]

    def changes(self) -> Iterator[Change]:
        """Describe each change of Python state that makes the program invalid."""
        return chain(self._outcome.changes(), self.dependencies.changes())

    def owners(self) -> list[Any]:
        """Return the Parameters and Cells that the program reads, for ``cache.offer``.

        The global random state is omitted, because it is never deleted and would keep the program alive.
        """
        owners = [*self._parameters(), *self.dependencies.owners()]
        return [owner for owner in owners if not getattr(owner, "is_permanent", False)]

    def call(self, tensors: Sequence[Tensor]) -> Any:
        """Run the program on the tensors of a call, and return the result of the function."""
        device_array, outcome = self._array_type, self._outcome
        if self._divided is not None:
            lay_out([*tensors, *outcome.inputs(), *self._divided], self.executable.layouts or ())
        operands: Sequence[Any] = tensors
        if self._read or self._has_state:
            operands = [*tensors, *(outcome.inputs() if self._has_state else ()), *self._read]
        arrays = [array if type(array := x._array) is device_array else moved(x) for x in operands]
        executable = self.executable
        try:
            if self._written:
                return run_and_store(executable, arrays, self._donation, self._written, self._finish)
            results = executable.run(arrays, [], executable.extra)
        except ValueError:  # maybe an array is on several devices, or not on the selected device
            operands = [*tensors, *outcome.inputs(), *self._parameters()]
            if self._divided is not None or not gathered(operands):
                raise
            return self.call(tensors)
        return self._finish(results)

    def _parameters(self) -> list[Any]:
        return [*self._read, *(() if self._donation is None else self._donation.parameters)]

    def _finish(self, results: list[Any]) -> Any:
        """Build the function's result, and assign attributes and variables."""
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


def compile_program(
    function: Callable[..., Any],
    key: Any,
    leaves: list[Any],
    structure: Any,
    numbers: Sequence[Place] = (),
    tensors: Sequence[Place] = (),
    accept: Callable[[Program, Trace], bool] | None = None,
    shared: SharedTrace | None = None,
) -> Program:
    """Trace and compile a function.

    Args:
        function: the function.
        key: the call signature.
        leaves, structure: the flattened arguments.
        numbers, tensors: locations of Python numbers and tensors that become inputs of the program.
        accept: receives the new program and its trace. If it returns ``False``, ``Rejected`` is raised before
            XLA compiles the program. By default, every program is accepted.
        shared: a trace whose program serves other sizes, too. If it is given, it is used instead of a new
            trace.
    """
    is_checking = settings.options["debug_nans"]
    if is_checking:
        plain = traced_plainly(lambda: trace_of(function, leaves, structure, numbers, tensors))
    with only_young_garbage:
        traced = shared.traced if shared else trace_of(function, leaves, structure, numbers, tensors)
        with in_force(partition := partition_of(traced.graph)):
            graph = traced.graph if shared else before_compilation(traced.graph)
    parameters, written = traced.parameters, traced.written
    if settings.options.get("save_graphs"):
        observe(getattr(function, "__name__", type(function).__name__), graph, parameters)
    types = [atom.type for atom in graph.outputs]
    # donate nothing if the program calls Python, because a failing callback would lose the donated values
    may_give = not calls_back(graph) and not is_checking
    new = {id(p): type for p, type in zip(written, types, strict=False)}
    is_given = [may_give and new.get(id(p)) is p.type for p in parameters]
    program = Program(function, key, traced, types, is_given)
    if accept is not None and not accept(program, traced):
        raise Rejected
    program.dependencies.close([*parameters, *written])
    first = len(graph.inputs) - len(parameters)
    donated = [k for k, may_donate in enumerate(is_given, first) if may_donate]
    pending = 0 if is_checking else len(written)
    placement = None if partition is None else placement_of(graph, partition, parameters, written)
    program.executable = (
        shared.executable(donated, pending)
        if shared
        else compile_ahead(graph, donated, placement=placement, pending_results=pending)
    )
    if placement is not None:
        program._divided = parameters
        stay(placement, parameters, written)
    if is_checking:
        program.executable.run = checked(program.executable.run, plain)
    return program


def _made(kind: Any, produced: Iterator[Tensor]) -> Any:
    if kind is TENSOR:
        return next(produced)
    return next(produced).item() if kind is NUMBER else kind[0]
