"""Functions as arguments: how many arguments one takes, what it differentiates, where it is defined."""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.eager.tiers import EagerCalls
from mindgrad.execution.array_arguments import any_array, with_tensors
from mindgrad.execution.compiled import Compiled
from mindgrad.execution.object_cache import memory, remembered
from mindgrad.ir.settings import GRAPH_MODE, options
from mindgrad.ir.tensor import Tensor
from mindgrad.trace.numbers import as_data, as_python

__all__ = [
    "Arity", "arity", "describe", "differentiates", "in_either_mode", "is_compiled", "name_derivative",
    "uncompiled",
    "remembered",
]  # fmt: skip


def differentiates(gradient_function: Any, fn: Any, extra: int = 0, order: int = 1) -> Any:
    """Note that ``gradient_function`` takes the arguments of ``fn`` and ``extra`` more, and return it.

    ``order`` is that of the derivative: 0 for a transform that differentiates nothing.
    """
    facts = memory(gradient_function, make=True)
    if facts is not None:
        facts.source, facts.extra, facts.order = fn, extra, order
        signature = gradient_function.__signature__ = object.__new__(_DerivativeSignature)
        signature.function, signature.extra = fn, extra
    return gradient_function


class _DerivativeSignature(inspect.Signature):
    """Signature of a gradient function: that of its function and what is added, made when it is asked for."""

    __slots__ = ("extra", "function")
    function: Any
    extra: int

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """A plain signature, for what is derived from this one knows its parameters."""
        return inspect.Signature(*args, **kwargs)

    @property
    def parameters(self) -> types.MappingProxyType[str, inspect.Parameter]:
        """The parameters by name: those of the function, then the tangent ``v`` or the like."""
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
        """None is known."""
        return inspect.Signature.empty


def name_derivative(
    run: Callable[..., Any], owner: str, fn: Any, positions: Sequence[int] | None = None, also: str = ""
) -> None:
    """Name ``run``, which ``owner`` makes of ``fn``, and say what it is.

    Args:
        run: a new function.
        owner: the name of the transform.
        fn: what it is made of.
        positions: the arguments that are differentiated, if that is what the owner does.
        also: what else, ``"the Parameters"``.
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
    """The Cell or function that ``jit`` was given, or ``fn`` itself."""
    while isinstance(fn, Compiled) or (hasattr(type(fn), "compiles") and hasattr(fn, "__wrapped__")):
        fn = fn.function if isinstance(fn, Compiled) else fn.__wrapped__
    return fn


def is_compiled(fn: Any) -> bool:
    """Whether ``fn`` compiles itself in both modes: made by ``jit``, or a gradient function of such."""
    while (held := memory(fn, make=False)) is not None and held.source is not None:
        fn = held.source
    return getattr(type(fn), "compiles", False)


def in_either_mode(
    fn: Any, run: Callable[..., Any], positions: Sequence[int] | None = ()
) -> Callable[..., Any]:
    """``run``, as one compiled program in GRAPH_MODE or if ``fn`` compiles itself, else as it is.

    Floats at ``positions`` (``None``: at all) are data, and the numbers of the program are given as Python's.
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
        if has_numbers:
            if any_array(args) or (kwargs and any_array(kwargs.values())):
                args, kwargs = with_tensors((args, kwargs))
            args, kwargs = as_data(args, kwargs, positions, names)  # type: ignore[assignment]
        if compiles or options["mode"] == GRAPH_MODE:
            return compiled.call(args, kwargs)
        result = calls(run, args, kwargs)
        return as_python(result) if has_numbers else result

    call.__name__ = call.__qualname__ = run.__name__
    call.__doc__ = run.__doc__
    return call


class Arity:
    """Number of positional arguments that a function takes.

    Attributes:
        least, most: the bounds of the number (``most`` may be infinite).
        names: the names under which they can be given by keyword; empty for those that cannot.
        defaults: the values of those that may be left out, by position.
        is_known: whether the signature says anything: not for ``*args`` alone, nor for many builtins.
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
        """Whether ``count`` positional arguments can be given."""
        return self.least <= count <= self.most


_UNKNOWN = Arity(0, math.inf, (), {}, is_known=False)


def arity(fn: Any, follow: bool = False) -> Arity:
    """The arity of ``fn``: a function, a Cell (that of ``construct``), a gradient function, ….

    Args:
        fn: what is called.
        follow: whether to believe a decorator made with ``functools.wraps`` that takes ``*args``, as
            ``inspect.signature`` does.
    """
    return remembered(fn, ("arity", follow), lambda: _arity(fn, follow))


def _arity(fn: Any, follow: bool) -> Arity:
    extra = 0
    while (held := memory(fn, make=False)) is not None and held.source is not None:
        extra += held.extra
        fn = held.source
    if isinstance(fn, Compiled):
        fn = fn.function
    # what is compiled by ``jit`` takes what the function takes, or ``construct`` of the Cell
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
    """Whether ``inspect.signature`` looks at something else than the function's code."""
    # a wrapper has a copy of the attributes of the gradient function in it, but takes what it takes
    own = type(getattr(fn, "__signature__", None)) in (types.NoneType, _DerivativeSignature)
    return not own or (follow and hasattr(fn, "__wrapped__"))


def _positional_of_code(fn: types.FunctionType) -> tuple[list[str], dict[int, Any], bool]:
    """As ``_positional``, in a hundredth of the time: loops make lambdas anew."""
    code = fn.__code__
    names = list(code.co_varnames[: code.co_argcount])
    names[: code.co_posonlyargcount] = [""] * code.co_posonlyargcount
    values = fn.__defaults__ or ()
    defaults = dict(enumerate(values, len(names) - len(values)))
    return names, defaults, bool(code.co_flags & inspect.CO_VARARGS)


def _positional(signature: inspect.Signature) -> tuple[list[str], dict[int, Any], bool]:
    """Names of positional parameters, defaults by position, and whether there may be more of them."""
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
    except (TypeError, ValueError):  # a builtin
        return None


def describe(fn: Any) -> str:
    """The name of ``fn`` for an error message, with the file and line of its definition."""
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
