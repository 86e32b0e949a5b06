"""Inspect functions that are passed to ``grad``, ``vmap``, and other transforms.

The module finds the number and names of the arguments of a function, the line of its definition for error
messages, and the function from which a gradient function was derived.
"""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.api.entry_points import ENTRY_POINTS, leave
from mindgrad.core.ir.settings import options
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace.numbers import as_data, as_python
from mindgrad.eager.tiers import EagerCalls
from mindgrad.frontend.mode import GRAPH_MODE
from mindgrad.frontend.programs.array_arguments import any_array, with_tensors
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.frontend.programs.object_cache import memory, remembered

__all__ = [
    "Arity", "arity", "describe", "differentiates", "in_either_mode", "is_compiled", "name_derivative",
    "uncompiled",
    "remembered",
]  # fmt: skip


def differentiates(gradient_function: Any, fn: Any, extra: int = 0, order: int = 1) -> Any:
    """Record that ``gradient_function`` is derived from ``fn``, and return it.

    The gradient function accepts the arguments of ``fn``, followed by ``extra`` more. ``order`` is the order
    of the derivative; 0 for a transform that does not differentiate, such as ``vmap``.
    """
    facts = memory(gradient_function, make=True)
    if facts is not None:
        facts.source, facts.extra, facts.order = fn, extra, order
        signature = gradient_function.__signature__ = object.__new__(_DerivativeSignature)
        signature.function, signature.extra = fn, extra
    return gradient_function


class _DerivativeSignature(inspect.Signature):
    """Signature of a gradient function, computed when it is read.

    It has the parameters of ``function``, followed by ``extra`` tangents or cotangents.
    """

    __slots__ = ("extra", "function")
    function: Any
    extra: int

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Create a plain signature, because ``Signature.replace`` calls the constructor."""
        return inspect.Signature(*args, **kwargs)

    @property
    def parameters(self) -> types.MappingProxyType[str, inspect.Parameter]:
        """The parameters of the function, then the added ones, ``v``, ``v_1``, …, by name."""
        signature = _signature(getattr(self.function, "construct", self.function), follow=True)
        if signature is None:
            signature = inspect.Signature([inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)])
        listed = list(signature.parameters.values())
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        position = sum(parameter.kind in kinds for parameter in listed)
        for number in range(self.extra):
            name = "v" if not number and "v" not in signature.parameters else f"v_{number}"
            listed.insert(position, inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD))
            position += 1
        return types.MappingProxyType({parameter.name: parameter for parameter in listed})

    @property
    def return_annotation(self) -> Any:
        """Always ``empty``, because derivatives have no annotations."""
        return inspect.Signature.empty


def name_derivative(
    run: Callable[..., Any], owner: str, fn: Any, positions: Sequence[int] | None = None, also: str = ""
) -> None:
    """Set the name and docstring of ``run``, the result of a transform of ``fn``.

    Args:
        run: transformed function, such as the gradient function.
        owner: the name of the transform, such as ``"grad"``.
        fn: the function that was transformed.
        positions: the positions of the differentiated arguments, if the transform differentiates.
        also: a description of further differentiated values, such as ``"the Parameters"``.
    """
    name = getattr(fn, "__name__", None) or type(fn).__name__
    run.__name__ = run.__qualname__ = f"{owner}_of_{name}"
    target = getattr(fn, "construct", getattr(fn, "__wrapped__", fn))
    code: Any = getattr(target, "__code__", None)
    names: Sequence[str] = () if code is None else code.co_varnames[: code.co_argcount]
    if hasattr(target, "__self__"):
        names = names[1:]
    subjects = [f"'{names[k]}'" if k < len(names) else f"argument {k}" for k in positions or ()]
    if also:
        subjects.append(also)
    text = f"{owner} of '{name}'" + (f" with respect to {' and '.join(subjects)}." if subjects else ".")
    if type(target) is types.FunctionType and target.__doc__ and target.__module__[:9] != "mindgrad.":
        text = f"{text}\n\n{name}: {target.__doc__}"
    run.__doc__ = text


def uncompiled(fn: Any) -> Any:
    """Return the Cell or function that was passed to ``jit``, or ``fn`` itself."""
    while isinstance(fn, Compiled) or (hasattr(type(fn), "compiles") and hasattr(fn, "__wrapped__")):
        fn = fn.function if isinstance(fn, Compiled) else fn.__wrapped__
    return fn


def is_compiled(fn: Any) -> bool:
    """Return whether ``jit`` compiles ``fn``, or the function that it differentiates."""
    while (held := memory(fn, make=False)) is not None and held.source is not None:
        fn = held.source
    return getattr(type(fn), "compiles", False)


def in_either_mode(
    fn: Any, run: Callable[..., Any], positions: Sequence[int] | None = ()
) -> Callable[..., Any]:
    """Return a function that runs ``run`` eagerly or compiled.

    It is compiled in GRAPH_MODE, or if ``jit`` compiles ``fn``. Floats at ``positions`` (``None``: at all
    positions) are inputs of the compiled function, not constants. Results that are numbers are returned as
    Python numbers.
    """
    compiled, compiles = Compiled(run), is_compiled(fn)
    calls = EagerCalls(run.__name__, fn)

    def names() -> Sequence[str]:
        return arity(fn).names

    def call(*args: Any, **kwargs: Any) -> Any:
        has_numbers = bool(kwargs)
        for x in args:
            if type(x) is not Tensor:
                has_numbers = True
        try:
            if has_numbers:
                if any_array(args) or (kwargs and any_array(kwargs.values())):
                    args, kwargs = with_tensors((args, kwargs))
                args, kwargs = as_data(args, kwargs, positions, names)  # type: ignore[assignment]
            if compiles or options["mode"] == GRAPH_MODE:
                return compiled.call(args, kwargs)
            result = calls(run, args, kwargs)
        except Exception:
            leave()
            raise
        return as_python(result) if has_numbers else result

    call.__name__ = call.__qualname__ = run.__name__
    call.__doc__ = run.__doc__
    ENTRY_POINTS.add(call.__code__)
    return call


class Arity:
    """Number of positional arguments that a function accepts.

    Attributes:
        least, most: the bounds of the number (``most`` may be infinite).
        names: the names of the positional parameters; an empty string for a positional-only parameter.
        defaults: dict that maps positions of parameters to default values.
        is_known: whether the signature is known; ``False`` for ``*args`` alone and for many builtins.
    """

    __slots__ = ("defaults", "is_known", "least", "most", "names")

    def __init__(
        self,
        least: float,
        most: float,
        names: tuple[str, ...],
        defaults: dict[int, Any],
        is_known: bool = True,
    ) -> None:
        self.least = least
        self.most = most
        self.names = names
        self.defaults = defaults
        self.is_known = is_known

    def accepts(self, count: int) -> bool:
        """Return whether the function accepts ``count`` positional arguments."""
        return self.least <= count <= self.most


_UNKNOWN = Arity(0, math.inf, (), {}, is_known=False)


def arity(fn: Any, follow: bool = False) -> Arity:
    """Return the arity of ``fn``: a function, a Cell, or a gradient function.

    The arity of a Cell is the arity of its ``construct``.

    Args:
        fn: function, Cell, or gradient function to inspect.
        follow: whether to use the signature of the wrapped function for a wrapper made with
            ``functools.wraps``, as ``inspect.signature`` does.
    """
    return remembered(fn, ("arity", follow), lambda: _arity(fn, follow))


def _arity(fn: Any, follow: bool) -> Arity:
    extra = 0
    while (held := memory(fn, make=False)) is not None and held.source is not None:
        extra += held.extra
        fn = held.source
    if isinstance(fn, Compiled):
        fn = fn.function
    # a function compiled by ``jit`` has the signature of the original function, and a compiled Cell has the
    # signature of ``construct``
    follow = follow or is_compiled(fn)
    construct = getattr(uncompiled(fn), "construct", None)
    target = construct if callable(construct) else fn
    if type(target) is types.FunctionType and not _is_disguised(target, follow):
        names, defaults, variadic = _positional_of_code(target)
    elif (signature := _signature(target, follow)) is not None:
        names, defaults, variadic = _positional(signature)
    else:
        return _UNKNOWN
    if variadic and not names:
        return _UNKNOWN
    least = len(names) - len(defaults) + extra
    return Arity(least, math.inf if variadic else len(names) + extra, tuple(names), defaults)


def _is_disguised(fn: types.FunctionType, follow: bool) -> bool:
    """Return whether the signature of ``fn`` may differ from its code."""
    # ignore a ``_DerivativeSignature``: ``functools.wraps`` may have copied it from a gradient function to a
    # wrapper with different parameters
    own = type(getattr(fn, "__signature__", None)) in (types.NoneType, _DerivativeSignature)
    return not own or (follow and hasattr(fn, "__wrapped__"))


def _positional_of_code(fn: types.FunctionType) -> tuple[list[str], dict[int, Any], bool]:
    """Return the result of ``_positional`` from the code of ``fn``, 100× faster.

    Speed matters because loops may create a new lambda in each iteration.
    """
    code = fn.__code__
    names = list(code.co_varnames[: code.co_argcount])
    names[: code.co_posonlyargcount] = [""] * code.co_posonlyargcount
    values = fn.__defaults__ or ()
    defaults = dict(enumerate(values, len(names) - len(values)))
    return names, defaults, bool(code.co_flags & inspect.CO_VARARGS)


def _positional(signature: inspect.Signature) -> tuple[list[str], dict[int, Any], bool]:
    """Return positional names, defaults by position, and whether it has ``*args``."""
    names: list[str] = []
    defaults: dict[int, Any] = {}
    variadic = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            variadic = True
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            if parameter.default is not parameter.empty:
                defaults[len(names)] = parameter.default
            names.append("" if parameter.kind is parameter.POSITIONAL_ONLY else parameter.name)
    return names, defaults, variadic


def _signature(fn: Any, follow: bool) -> inspect.Signature | None:
    try:
        return inspect.signature(fn, follow_wrapped=follow)
    except (TypeError, ValueError):  # built-in functions may have no signature
        return None


def describe(fn: Any) -> str:
    """Return the name, file, and line of ``fn`` for an error message."""
    fn = uncompiled(fn)
    construct = getattr(fn, "construct", None)
    if callable(construct):
        return f"'{type(fn).__name__}'" + _place(construct)
    name = getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None) or type(fn).__name__
    return f"'{name}'" + _place(fn)


def _place(fn: Any) -> str:
    code = getattr(inspect.unwrap(fn), "__code__", None) or getattr(
        getattr(fn, "__func__", None), "__code__", None
    )
    return "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"
