"""Hooks of Tensors: ``x.register_hook(hook)`` puts a function into the way of the gradient of ``x``.

    y = x                       forward: the identity
    x̄ = hook(ȳ)                 reverse

What registers a hook stands for the result of that identity from then on. A tensor from outside of every
gradient, and a Parameter, pass through it when a gradient is taken with respect to them. In PYNATIVE_MODE the
hook runs as Python with the value of the gradient at each backward pass; where a gradient is differentiated
again, and in GRAPH_MODE, its operators are traced.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from mindgrad._base.refusal import refuse
from mindgrad.control.hook import hook as hook_p
from mindgrad.ir.graph import Graph
from mindgrad.ir.pending import PendingArray
from mindgrad.ir.recorder import Recorder
from mindgrad.ir.scope import GraphScope, apply, as_it_is, innermost
from mindgrad.ir.tensor import Tensor
from mindgrad.ir.types import TensorType
from mindgrad.trace import aliases, state, user_calls
from mindgrad.trace.closed_program import trace
from mindgrad.trace.custom import CustomDerivative
from mindgrad.trace.hooks import HookHandle
from mindgrad.trace.signature import FunctionKey

__all__ = [
    "any_hooked",
    "are_registered",
    "behind_hooks",
    "hooks",
    "inherit_hooks",
    "register_hook",
    "with_hooks",
]


class _Hooks:
    """The hooks of one tensor, in the order in which they are called.

    Args:
        owner: the tensor.

    Attributes:
        functions: the hooks, by the numbers of their handles.
        scope, atom: the value that the tensor stood for when the hooks were put behind it; ``None`` for a
            tensor that passes through them when a gradient is taken.
    """

    def __init__(self, owner: Tensor) -> None:
        key = id(owner)
        self._owner = weakref.ref(owner, lambda _: _HOOKS.pop(key, None))
        self.functions: dict[int, Callable[[Tensor], Any]] = {}
        self.scope: weakref.ref[Any] | None = None
        self.atom: Any = None

    def are_behind(self, tensor: Tensor) -> bool:
        """Whether the value that ``tensor`` stands for now has passed through these hooks."""
        return self.scope is not None and self.scope() is tensor._scope and self.atom is tensor._atom

    def __call__(self, gradients: tuple[Tensor, ...]) -> tuple[Tensor]:
        """The gradient after all hooks, of a tuple that holds it."""
        (gradient,) = gradients
        for function in tuple(self.functions.values()):
            returned = user_calls.run(function, gradient)
            if returned is None:
                continue
            if not isinstance(returned, Tensor):
                raise TypeError(
                    f"For 'register_hook', the hook must return a Tensor, or None to keep the gradient, but "
                    f"got {type(returned).__name__}."
                )
            gradient = returned
        return (gradient,)

    def graph(self, *types: TensorType) -> Graph:
        """The hooks as a program, which is differentiated in place of their Python."""
        return _traced(self, tuple(self.functions), types)


#: by the ``id`` of the tensor
_HOOKS: dict[int, _Hooks] = {}


class _ParameterHooks:
    """The number of changes of the hooks of Parameters, on which compiled gradients depend."""

    version = 0

    def change(self) -> None:
        """Note a change."""
        self.version += 1


_PARAMETER_HOOKS = _ParameterHooks()


class _ParameterHandle(HookHandle):
    __slots__ = ()

    def remove(self) -> None:
        super().remove()
        _PARAMETER_HOOKS.change()


class _CompiledHandle(HookHandle):
    __slots__ = ()

    def remove(self) -> None:
        refuse(
            "A tensor hook is removed inside a compiled function. The hook is part of the compiled function",
            "Register the hook under a condition, or run in PYNATIVE_MODE.",
        )


@lru_cache(maxsize=64)
def _traced(hooks: _Hooks, _: tuple[int, ...], types: tuple[TensorType, ...]) -> Graph:
    program = trace(lambda *cotangents: hooks(cotangents), types)
    if program.captured:
        raise RuntimeError(
            "a gradient that passed through a hook is differentiated again, and the hook uses Parameters, or "
            "tensors that are differentiated themselves. Use ops.InsertGradientOf(f) instead."
        )
    return program.graph


def register_hook(self: Any, hook: Callable[[Tensor], Any]) -> HookHandle:
    """Call ``hook(gradient)`` whenever the gradient of this tensor is computed.

    In PYNATIVE_MODE, the hook receives the value of the gradient at every backward pass. In GRAPH_MODE, it is
    compiled together with the function that registers it. A tensor inside a compiled function can have only
    one hook, which cannot be removed.

    Hooks of Parameters, and of tensors with respect to which a gradient is taken, are registered outside the
    compiled function. Such a tensor can have several hooks, and each can be removed. The function is compiled
    once for each combination of hooks.

    Args:
        hook (Callable): receives the gradient. It returns a Tensor of the same shape to replace the gradient,
        or
            ``None`` to keep it.

    Returns:
        HookHandle: its ``remove()`` removes the hook.

    Raises:
        TypeError: If ``hook`` is not callable.
        RuntimeError: If, in GRAPH_MODE, the tensor already has a hook, or operators have been applied to the
            tensor. The hook would not receive their contributions to the gradient.

    >>> import mindgrad as ms
    >>> def loss(x):
    ...     y = x * x
    ...     y.register_hook(lambda gradient: gradient * 10)
    ...     return y.sum()
    >>> print(ms.grad(loss)(ms.Tensor([1.0, 2.0])))
    [20. 40.]
    """
    if not callable(hook):
        raise TypeError(
            f"For 'register_hook', expected a callable hook function, but got {type(hook).__name__}."
        )
    hooks = _HOOKS.get(id(self))
    if self.is_parameter or not self.is_traced:
        if hooks is None or hooks.scope is not None:
            hooks = _HOOKS[id(self)] = _Hooks(self)
        if not self.is_parameter:
            return HookHandle(hooks.functions, hook)
        _PARAMETER_HOOKS.change()
        return _ParameterHandle(hooks.functions, hook)
    if hooks is not None and hooks.are_behind(self):
        if isinstance(self._scope, GraphScope):
            raise RuntimeError(
                "For 'register_hook', the tensor has a hook already, and in GRAPH_MODE it can have one only: "
                "write one function that does the work of both."
            )
        return HookHandle(hooks.functions, hook)
    tensor = as_it_is(self)
    if isinstance(self._scope, GraphScope) and tensor._atom in self._scope.builder.operands:
        raise RuntimeError(
            "For 'register_hook', operators have already been applied to the tensor. In GRAPH_MODE the hook "
            "would not receive their contributions to the gradient. Register the hook where the tensor is "
            "created."
        )
    hooks = _HOOKS[id(self)] = _Hooks(self)
    kind = _CompiledHandle if isinstance(self._scope, GraphScope) else HookHandle
    handle = kind(hooks.functions, hook)
    hooked = _behind(hooks, tensor)
    recorded = _recorded(tensor)
    if isinstance(recorded._scope, Recorder):
        _read_behind(recorded._scope, recorded._atom, _recorded(hooked)._atom)
    aliases.rebind(self, hooked)
    hooks.scope, hooks.atom = weakref.ref(self._scope), self._atom
    return handle


def hooks(self: Any) -> list[Callable[[Tensor], Any]]:
    """The hooks that :meth:`register_hook` registered for this tensor, in the order in which they are called.

    >>> import mindgrad as ms
    >>> x = ms.Tensor([1.0])
    >>> handle = x.register_hook(lambda gradient: 2 * gradient)
    >>> len(x.hooks())
    1
    >>> handle.remove()
    >>> x.hooks()
    []
    """
    registered = _HOOKS.get(id(self))
    if registered is None or not (registered.scope is None or registered.are_behind(self)):
        return []
    return list(registered.functions.values())


def _recorded(tensor: Tensor) -> Tensor:
    """``tensor``, or the shadow of its pending array if the deferred call now runs operator by operator."""
    array = tensor._array
    return array.shadow if type(array) is PendingArray and array.shadow is not None else tensor


def _read_behind(recorder: Recorder, number: int, hooked: int) -> None:
    """Let operators that were applied to value ``number`` before its hook read ``hooked``, what is behind it.

    The operators of the hook move to where the value is made.
    """
    entries = recorder.entries
    made_by = recorder.makers()
    chain: set[int] = set()
    pending = [hooked]
    while pending:
        index = made_by.get(pending.pop())
        if index is not None and index not in chain:
            chain.add(index)
            pending += [n for n in entries[index][1] if n != number]
    position = made_by.get(number, -1) + 1
    later = [
        (primitive, tuple([hooked if n == number else n for n in operands]), parameters, first, count)
        for i, (primitive, operands, parameters, first, count) in enumerate(entries[position:], position)
        if i not in chain
    ]
    entries[position:] = [*(entries[i] for i in sorted(chain) if i >= position), *later]


def _behind(hooks: _Hooks, tensor: Tensor) -> Tensor:
    """``tensor``, whose gradient passes through ``hooks``."""
    if isinstance(tensor._scope, GraphScope):
        bprop: Callable[..., Any] = lambda x, out, dout: hooks((dout,))
    else:
        bprop = lambda x, out, dout: apply(hook_p, dout, function=hooks)
    return CustomDerivative(lambda x: x, bprop, "register_hook")(tensor)


def behind_hooks(
    function: Callable[..., Any], originals: Callable[[], Sequence[Any]], parameters: Sequence[Any]
) -> Callable[..., Any]:
    """``function`` of traced tensors, whose gradients pass through the hooks of what these stand for.

    Args:
        function: a function that ``record`` runs.
        originals: gives the tensors of the caller that its arguments stand for.
        parameters: the Parameters that are differentiated too.
    """
    if state.is_compiling():
        state.depends_on_attribute(_PARAMETER_HOOKS, "version")
    if not _HOOKS:
        return function
    hooks_of_inputs = [_HOOKS.get(id(x)) for x in originals()]
    hooks_of_parameters = [(id(p), _HOOKS[id(p)]) for p in parameters if id(p) in _HOOKS]
    if not hooks_of_parameters and not any(hooks_of_inputs):
        return function

    def call(*traced: Tensor) -> Any:
        scope: Any = innermost()
        for key, hooks in hooks_of_parameters:
            scope.bindings[key] = _behind(hooks, scope.bindings[key])
        pairs = zip(hooks_of_inputs, traced, strict=True)
        return function(*[x if hooks is None else _behind(hooks, x) for hooks, x in pairs])

    return call


def are_registered() -> bool:
    """Whether a tensor or Parameter that is alive has a hook."""
    return bool(_HOOKS) and any(hooks.functions for hooks in list(_HOOKS.values()))


# -- hooks of the arguments of compiled functions ------------------------------------------------------


def any_hooked(values: Iterable[Any]) -> bool:
    """Whether a tensor among ``values`` has hooks."""
    return bool(_HOOKS) and any(id(x) in _HOOKS and _HOOKS[id(x)].functions for x in values)


class _Hooked(NamedTuple):
    """The signature of an argument with hooks; those of the same code and closures are equal."""

    signature: Any
    number: int
    hooks: tuple[FunctionKey, ...]

    def __repr__(self) -> str:
        return f"a Tensor with {self.number} hook{'s' * (self.number != 1)}"


def with_hooks(signature: Any, value: Any) -> Any:
    """The ``signature`` of an argument ``value`` of a compiled function, with its hooks if it has any."""
    if not _HOOKS or not any_hooked([value]) or value.is_parameter:
        return signature
    hooks = tuple(map(FunctionKey, _HOOKS[id(value)].functions.values()))
    return _Hooked(signature, len(hooks), hooks)


def inherit_hooks(symbol: Tensor, argument: Any) -> Tensor:
    """``symbol``, which stands for ``argument`` in a program that is being traced, with the hooks of that."""
    if _HOOKS and id(argument) in _HOOKS and symbol is not argument:
        hooks = _HOOKS[id(symbol)] = _Hooks(symbol)
        hooks.functions.update(_HOOKS[id(argument)].functions)
    return symbol
