"""The compile cache: compiled programs, statistics, and reasons for compiling.

Every compiled function stores its own programs. In addition, this module finds programs by the code of a
function. For example, a lambda that is created again for each call reuses the program of an earlier lambda
with equal code and closure. A gradient function of such a lambda is found in the same way.

A program that can be found by code lives as long as its *owner*, the first Parameter or Cell that it reads.
If it reads neither, the cache keeps it until ``_KEPT_WITHOUT_OWNER`` newer programs without owners exist.
"""

from __future__ import annotations

import collections
import operator
import sys
import threading
import types
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mindgrad.core.base.location import warn_user
from mindgrad.core.base.tree import flatten
from mindgrad.core.ir import settings
from mindgrad.core.ir.constant_arguments import any_constant, is_constant
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace.numbers import DATA, number_tensor
from mindgrad.frontend.guards import Change
from mindgrad.frontend.programs.array_arguments import leaves_as_tensors
from mindgrad.frontend.programs.object_cache import Memory, memory
from mindgrad.frontend.signature import leaf_signature
from mindgrad.frontend.tensor_hooks import any_hooked, with_hooks
from mindgrad.frontend.user_functions import functions_in, in_package

__all__ = [
    "MAXSIZE", "CacheInfo", "History", "cache_info", "call_signature", "clear_cache", "content_of",
    "eager_tiers", "history_of", "is_data", "offer", "offered", "register", "register_eager", "withdraw",
]  # fmt: skip

#: maximum number of call signatures for which one function stores compiled code
MAXSIZE = 4096
#: warn if one function is compiled more often than this for the same reason
_PATIENCE = 8
#: warn if the functions that one ``def`` or lambda creates are compiled, in total, more often than this for
#: the same reason. Also warn after this many first calls of new objects with the same code
_PATIENCE_WITH_SEVERAL = 16
#: number of reasons for compilation, the most recent ones, that are stored for each function
_REASONS = 64
#: maximum number of programs that one Parameter or Cell keeps alive
_KEPT_PER_OWNER = 64
#: maximum number of stored programs that read no Parameter and no Cell
_KEPT_WITHOUT_OWNER = 32

#: options on which a compiled program depends. Their values are part of the cache key
_options = operator.itemgetter("mode", "device_target", "device_id", "rewrites", "debug_nans", "partition")


def call_signature(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[Tensor]]:
    """Return the cache key of a call, and the tensors that the program receives."""
    # fast path: if all arguments are plain tensors, the key consists of their types, and the arguments need
    # not be flattened
    key: Any = tuple([x.type if type(x) is Tensor else None for x in args])
    if kwargs or None in key or any_constant(args) or any_hooked(args):
        leaves, structure = flatten((args, kwargs))
        leaves = leaves_as_tensors(leaves)
        key = (structure, tuple([DATA.get(type(x)) or with_hooks(leaf_signature(x), x) for x in leaves]))
        tensors = [x if isinstance(x, Tensor) else number_tensor(x) for x in leaves if is_data(x)]
    else:
        tensors = list(args)
    return (key, *_options(settings.options)), tensors


def is_data(leaf: Any) -> bool:
    """Return whether an argument is an input of the compiled program, not a constant."""
    if isinstance(leaf, Tensor):
        return not leaf.is_parameter and not is_constant(leaf)
    return type(leaf) in DATA


class CacheInfo(NamedTuple):
    """Statistics of a compile cache, with the field names of ``functools.lru_cache``.

    Attributes:
        hits (int): number of calls that found a compiled program.
        misses (int): number of calls that compiled a program.
        maxsize (int): maximum number of call signatures for which one function stores programs.
        currsize (int): number of programs in the cache.
        reasons (tuple[str, ...]): the reason for each of the most recent compilations.
        eager (tuple[str, ...]): for each kind of call in PYNATIVE_MODE, whether it is compiled, and why.
    """

    hits: int
    misses: int
    maxsize: int
    currsize: int
    reasons: tuple[str, ...] = ()
    eager: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.hits} hits, {self.misses} misses, {self.currsize} programs"]
        lines += [f"  {reason}" for reason in self.reasons]
        if self.eager:
            lines += ["eager mode", *[f"  {tier}" for tier in self.eager]]
        return "\n".join(lines)


class History:
    """Compile history of one function: hits, misses, and reasons for compiling.

    All functions that one ``def`` or lambda creates share a history. A history lives as long as one of the
    programs of these functions.
    """

    __slots__ = ("__weakref__", "_counts", "_warned", "hits", "key", "misses", "name", "programs", "reasons")

    def __init__(self, name: str, key: tuple[Any, ...]) -> None:
        self.name = name
        self.key = key
        self.programs: weakref.WeakSet[Any] = weakref.WeakSet()
        self.hits = 0
        self.misses = 0
        self.reasons: collections.deque[str] = collections.deque(maxlen=_REASONS)
        self._counts: collections.Counter[str] = collections.Counter()
        self._warned = False

    def compiled(self, change: Change | None, counts: collections.Counter[str] | None = None) -> None:
        """Record a compilation, and warn if the same reason has caused many compilations.

        The warning is a line on standard error. The limit is higher for functions that one ``def`` or lambda
        creates in a loop, because the user may need several of them.

        Args:
            change: the reason for compiling, or ``None`` for a first call.
            counts: number of compilations of one function object, by reason. ``None`` means that the function
                object is new, and differs from an earlier function with the same code by ``change``.
        """
        self.misses += 1
        if change is None:
            self.reasons.append(f"{self.name}: first call")
            if not all(isinstance(each, types.CodeType) for each in self.key):
                self._note_first_call()
            return
        self.reasons.append(f"{self.name}: {change.text}")
        # if functions with the same code are called several times each, the user probably needs all of them,
        # so do not warn
        is_shared = counts is None
        is_meant = is_shared and 4 * self.hits > self.misses
        counts = self._counts if counts is None else counts
        counts[change.what] += 1
        if (
            counts[change.what] <= (_PATIENCE_WITH_SEVERAL if is_shared else _PATIENCE)
            or self._warned
            or is_meant
        ):
            return
        self._warned = True
        times = f"{self.name} was compiled {self.misses} times, {counts[change.what]} of them because "
        if is_shared:
            sys.stderr.write(
                f"mindgrad: {times}a new function differs from the previous one in "
                f"{change.what}: {change.text}. Every compilation takes much longer than a call. Define the "
                "function once, outside the loop, and pass changing values as Tensors. If you need several "
                "functions, keep and reuse them. mindgrad.cache_info() lists all reasons.\n"
            )
        else:
            warn_user(
                f"{times}of {change.what}: {change.text}. Every compilation takes much longer than a call. "
                f"{change.advice} mindgrad.cache_info() lists all reasons."
            )

    def _note_first_call(self) -> None:
        """Warn if each call creates a new Cell or object, so that each call compiles."""
        with _lock:
            latest = _first_calls.setdefault(self.name, collections.deque(maxlen=_PATIENCE_WITH_SEVERAL))
            latest.append(self)
            if len(latest) < _PATIENCE_WITH_SEVERAL or any(each.hits or each._warned for each in latest):
                return
        self._warned = True
        sys.stderr.write(
            f"mindgrad: {self.name} was compiled for {len(latest)} objects, and none of them was called a "
            "second time. A compiled function belongs to one Cell: create the Cell, or its gradient "
            "function, once, outside the loop.\n"
        )

    @property
    def size(self) -> int:
        """Return the number of programs in the cache."""
        return len({id(program.executable.compiled) for program in list(self.programs)})

    def clear(self) -> None:
        """Reset all counters, and delete the reasons."""
        self.hits = self.misses = 0
        self.reasons.clear()
        self._counts.clear()
        self._warned = False


_lock = threading.Lock()
_functions: weakref.WeakSet[Any] = weakref.WeakSet()
_eager_calls: weakref.WeakSet[Any] = weakref.WeakSet()
_histories: weakref.WeakValueDictionary[Any, History] = weakref.WeakValueDictionary()
_all_histories: weakref.WeakSet[History] = weakref.WeakSet()
#: maps a function name to the most recent compile histories of objects with this name that were compiled for
#: the first time, to detect objects that each call creates again
_first_calls: dict[str, collections.deque[History]] = {}
#: maps the code objects of a function to weak references to its programs. An equal function that is created
#: later may reuse them
_programs: dict[tuple[Any, ...], list[weakref.ref[Any]]] = {}
#: a list with one number: if ``_programs`` has more keys than this, keys without live programs are deleted
_most = [256]
#: the most recent programs that read no Parameter and no Cell. This list keeps them alive
_without_owner: collections.deque[Any] = collections.deque(maxlen=_KEPT_WITHOUT_OWNER)
_owners: weakref.WeakSet[Memory] = weakref.WeakSet()


def register(compiled: Any) -> None:
    """Register a compiled function for :func:`cache_info` and :func:`clear_cache`."""
    with _lock:
        _functions.add(compiled)


def register_eager(calls: Any) -> None:
    """Register eager calls for :func:`cache_info` and :func:`clear_cache`.

    ``calls`` must have an attribute ``source``, the function, and methods ``lines()`` and ``clear()``.
    """
    with _lock:
        _eager_calls.add(calls)


def history_of(function: Any) -> History:
    """Return the compile history of ``function``; create it if there is none."""
    key = _codes(function)
    with _lock:
        history = _histories.get(key)
        if history is None:
            history = History(_name(function), key)
            _all_histories.add(history)
            if all(isinstance(code, types.CodeType) for code in key):
                _histories[key] = history
        return history


def _codes(function: Any) -> tuple[Any, ...]:
    """Return a key: the code of ``function`` and of user functions in its closure.

    An object without code is represented by its ``id``.
    """
    return tuple([getattr(each, "__code__", id(each)) for each in (function, *functions_in(function))])


def _name(function: Any) -> str:
    for callee in functions_in(function):
        if hasattr(callee, "construct"):
            name = type(callee).__name__
            code = getattr(callee.construct, "__code__", None)
        else:
            name = getattr(callee, "__qualname__", type(callee).__name__)
            code = getattr(callee, "__code__", None)
        location = "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"
        owner = _owner_of(function)
        return f"{owner} of {name}{location}" if owner else f"{name}{location}"
    return getattr(function, "__qualname__", type(function).__name__)


def _owner_of(function: Any) -> str:
    """Return the name of the API, such as ``grad``, that created ``function``.

    For other functions, the result is ``""``.
    """
    waiting = [function]
    for closure in waiting:
        if isinstance(closure, types.FunctionType):
            names = closure.__code__.co_freevars
            contents = dict(zip(names, [content_of(c) for c in closure.__closure__ or ()], strict=True))
            if isinstance(contents.get("owner"), str) and "fn" in contents:
                return contents["owner"]
            if len(waiting) < 8:
                waiting.extend(v for n, v in contents.items() if n in ("pieces", "run", "function"))
    return ""


def content_of(cell: Any) -> Any:
    """Return the value of a closure cell, or ``None`` if its variable has no value."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


# -- programs of functions that may be created repeatedly ---------------------------------------------


def _may_be_made_anew(function: Any) -> bool:
    # a compiled Cell is a bound method of mindgrad, and stores its programs itself
    if isinstance(function, types.MethodType):
        return not in_package(function.__func__)
    return isinstance(function, types.FunctionType) or hasattr(function, "construct")


def offer(function: Any, program: Any, owners: Sequence[Any]) -> None:
    """Make ``program`` available to later functions that are equal to ``function``.

    Args:
        function: the compiled function.
        program: a program that does not refer to its function (:meth:`Program.detached`). It lives as long as
            the first of ``owners``.
        owners: Parameters and Cells that the program reads.
    """
    if not _may_be_made_anew(function):
        return
    key = _codes(function)
    memories = (memory(owner, make=True) for owner in owners)
    keeper = next((facts for facts in memories if facts is not None), None)
    with _lock:
        listed = [reference for reference in _programs.get(key, ()) if reference() is not None]
        _programs[key] = [weakref.ref(program), *listed]
        if keeper is None:
            _without_owner.append(program)
        else:
            keeper.programs = [program, *keeper.programs[: _KEPT_PER_OWNER - 1]]
            _owners.add(keeper)
        if len(_programs) > _most[0]:
            for dead in [k for k, references in _programs.items() if all(r() is None for r in references)]:
                del _programs[dead]
            _most[0] = 2 * len(_programs) + 256


def offered(function: Any) -> Iterator[Any]:
    """Iterate over programs that other functions with the same code have offered.

    The most recent program comes first.
    """
    if not _may_be_made_anew(function):
        return
    for each in list(_programs.get(_codes(function), ())):
        program = each()
        if program is not None:
            yield program


def withdraw(gone: set[int]) -> None:
    """Remove the offered programs whose executables are in ``gone``, a set of ``id``."""
    with _lock:
        for keeper in _owners:
            keeper.programs[:] = [each for each in keeper.programs if id(each.executable) not in gone]
        kept = [each for each in _without_owner if id(each.executable) not in gone]
        _without_owner.clear()
        _without_owner.extend(kept)


# -- public functions ------------------------------------------------------------------------------


def cache_info(fn: Any = None) -> CacheInfo:
    """Return hits and misses of the compile cache, with the reasons for compiling.

    Args:
        fn (Callable or Cell, optional): a function, Cell, compiled function, or gradient function. The result
            describes only its programs. ``None`` selects all programs of the process. Default: ``None``.

    Returns:
        CacheInfo: named tuple ``(hits, misses, maxsize, currsize, reasons, eager)``. ``print`` shows it as a
            list.

    >>> import mindgrad as ms
    >>> @ms.jit
    ... def f(x, scale):
    ...     return x * scale
    >>> for scale in (1.0, 1.0, 2.0):
    ...     _ = f(ms.Tensor([3.0]), scale)
    >>> found = ms.cache_info(f)
    >>> found.hits, found.misses
    (1, 2)
    >>> print(found.reasons[1].partition(": ")[2])
    argument 'scale' changed from 1.0 to 2.0

    See Also:
        :func:`mindgrad.clear_cache`, :func:`mindgrad.explain`
    """
    identities = set() if fn is None else _identities(fn)
    with _lock:
        histories = [h for h in _all_histories if fn is None or not identities.isdisjoint(h.key)]
    histories.sort(key=lambda history: history.name)
    return CacheInfo(
        sum(history.hits for history in histories),
        sum(history.misses for history in histories),
        MAXSIZE,
        sum(history.size for history in histories),
        tuple(reason for history in histories for reason in history.reasons),
        eager_tiers(fn),
    )


def eager_tiers(fn: Any = None) -> tuple[str, ...]:
    """Return a description of each kind of eager call of ``fn`` and its gradients.

    Each description is one line of text. If ``fn`` is ``None``, describe the calls of all functions.
    """
    identities = set() if fn is None else _identities(fn)
    lines = set()  # a set, because functions with the same code have equal lines
    for calls in list(_eager_calls):
        if fn is None or not identities.isdisjoint(_codes(calls.source)):
            lines.update(calls.lines())
    return tuple(sorted(lines))


def _identities(fn: Any) -> set[Any]:
    """Return the code objects of ``fn`` and of the functions that it transforms.

    The caller compares them with ``History.key``. An object without code is represented by its ``id``.
    """
    functions = [fn]
    while (facts := memory(fn, make=False)) is not None and facts.source is not None:
        fn = facts.source
        functions.append(fn)
    functions += functions_in(fn)
    return {getattr(function, "__code__", id(function)) for function in functions}


def clear_cache() -> None:
    """Delete all compiled programs of this process and their statistics.

    Files of the disk cache are kept.

    Returns:
        Nothing.

    >>> import mindgrad as ms
    >>> print(ms.jit(lambda x: 2 * x)(ms.Tensor([1.0])))
    [2.]
    >>> ms.clear_cache()
    >>> ms.cache_info().currsize
    0

    See Also:
        :func:`mindgrad.cache_info`
    """
    with _lock:
        functions, owners = list(_functions), list(_owners)
        _programs.clear()
        _without_owner.clear()
        _owners.clear()
        _functions.clear()
        _first_calls.clear()
    for keeper in owners:
        keeper.programs.clear()
    for each in functions:
        each.cache_clear()
    for calls in list(_eager_calls):
        calls.clear()
