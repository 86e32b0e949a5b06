"""Hooks of Tensors: ``x.register_hook(hook)`` applies ``hook`` to the gradient.

    y = x                       forward pass: the identity
    x̄ = hook(ȳ)                 backward pass, with the gradients x̄ and ȳ

If ``x`` is a tensor inside a function that is being differentiated, ``register_hook`` applies this identity
operator immediately, and the tensor object ``x`` then represents ``y``. If ``x`` is a Parameter, or a tensor
from outside such a function, the identity is applied at the start of each gradient computation with respect
to ``x``.

In PYNATIVE_MODE, the hook runs as Python in each backward pass and receives the value of the gradient. In
GRAPH_MODE, and for higher-order derivatives, the operators of the hook are traced.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from mindgrad.core.base.refusal import refuse
from mindgrad.core.control.hook import hook as hook_p
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.pending import PendingArray
from mindgrad.core.ir.recorder import Recorder
from mindgrad.core.ir.scope import GraphScope, apply, as_it_is, innermost
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import TensorType
from mindgrad.core.trace import references
from mindgrad.core.trace.closed_program import trace
from mindgrad.core.trace.custom import CustomDerivative
from mindgrad.frontend import aliases, state, user_calls
from mindgrad.frontend.hooks import HookHandle
from mindgrad.frontend.signature import FunctionKey

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
        functions: the hooks, by the keys of their handles.
        scope, atom: scope and variable of the tensor after :func:`register_hook` has applied the identity
            operator. They are ``None`` if it is applied at the start of each gradient computation.
    """

    def __init__(self, owner: Tensor) -> None:
        key = id(owner)
        self._owner = weakref.ref(owner, lambda _: _HOOKS.pop(key, None))
        self.functions: dict[int, Callable[[Tensor], Any]] = {}
        self.scope: weakref.ref[Any] | None = None
        self.atom: Any = None

    def are_behind(self, tensor: Tensor) -> bool:
        """Return whether ``tensor`` still has the value to which the hooks were applied.

        The result is false if code has assigned elements of the tensor since.
        """
        return self.scope is not None and self.scope() is tensor._scope and self.atom is tensor._atom

    def __call__(self, gradients: tuple[Tensor, ...]) -> tuple[Tensor]:
        """Call all hooks in order, each with the gradient that the previous hook returned.

        Args:
            gradients: a 1-tuple with the gradient.
        """
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
        """Trace the hooks to a graph, so that gradients can be differentiated again."""
        return _traced(self, tuple(self.functions), types)


#: maps the ``id`` of a tensor to its hooks
_HOOKS: dict[int, _Hooks] = {}


class _ParameterHooks:
    """A counter that increases whenever a hook of a Parameter is added or removed.

    The hooks are part of the graph of a compiled gradient, so guards compare ``version``.
    """

    version = 0

    def change(self) -> None:
        """Count the addition or removal of a hook."""
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
            "a gradient that passed through a hook is differentiated again. This is not supported if the "
            "hook uses Parameters, or tensors that are being differentiated. Use ops.InsertGradientOf(f) "
            "instead."
        )
    return program.graph


def register_hook(self: Any, hook: Callable[[Tensor], Any]) -> HookHandle:
    """Call ``hook(gradient)`` whenever the gradient of this tensor is computed.

    In PYNATIVE_MODE, the hook receives the value of the gradient in every backward pass. In GRAPH_MODE, the
    hook is compiled together with the function that registers it. A tensor inside a compiled function can
    have only one hook, which cannot be removed.

    Hooks of Parameters, and of tensors with respect to which a gradient is taken, are registered outside the
    compiled function. Such a tensor can have several hooks, and each of them can be removed. The function is
    compiled once for each combination of hooks.

    Args:
        hook (Callable): receives the gradient. It returns a Tensor of the same shape to replace the gradient,
            or ``None`` to keep it.

    Returns:
        HookHandle: its ``remove()`` removes the hook.

    Raises:
        TypeError: If ``hook`` is not callable.
        RuntimeError: If, in GRAPH_MODE, the tensor already has a hook, or operators have already been applied
            to it. The hook would not receive the contributions of these operators to the gradient.

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
                "For 'register_hook', the tensor already has a hook. In GRAPH_MODE it can have only one. "
                "Write one function that does the work of both."
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
    """List the hooks of this tensor, in the order in which they are called.

    :meth:`register_hook` adds a hook.

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
    """Return the tensor that represents ``tensor`` in the eager recording.

    If ``tensor`` is the result of a deferred call that now runs eagerly, the recording contains another
    tensor in its place. Otherwise, return ``tensor``.
    """
    array = tensor._array
    return array.shadow if type(array) is PendingArray and array.shadow is not None else tensor


def _read_behind(recorder: Recorder, number: int, hooked: int) -> None:
    """Make recorded operators read the hooked value instead of the original value.

    The gradient contributions of these operators then pass through the hook. The operators that compute the
    hooked value are moved to the position directly after the original value.

    Args:
        recorder: the recorder with the list of operators.
        number: index of the original value.
        hooked: index of the hooked value, which is the result of the identity operator.
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
    """Apply to ``tensor`` an identity operator whose pullback calls ``hooks``."""
    if isinstance(tensor._scope, GraphScope):
        bprop: Callable[..., Any] = lambda x, out, dout: hooks((dout,))
    else:
        bprop = lambda x, out, dout: apply(hook_p, dout, function=hooks)
    return CustomDerivative(lambda x: x, bprop, "register_hook")(tensor)


def behind_hooks(
    function: Callable[..., Any], originals: Callable[[], Sequence[Any]], parameters: Sequence[Any]
) -> Callable[..., Any]:
    """Wrap a function to be differentiated so that hooks of its inputs are called.

    Args:
        function: a function that ``record`` runs on traced tensors.
        originals: returns the user's tensors, which may have hooks, in the order of the arguments of
            ``function``.
        parameters: Parameters with respect to which the function is differentiated. Their hooks are called,
            too.
    """
    if references.is_compiling():
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
    """Return whether any live tensor or Parameter has a hook."""
    return bool(_HOOKS) and any(hooks.functions for hooks in list(_HOOKS.values()))


# -- hooks of the arguments of compiled functions ------------------------------------------------------


def any_hooked(values: Iterable[Any]) -> bool:
    """Return whether at least one tensor in ``values`` has a hook."""
    return bool(_HOOKS) and any(id(x) in _HOOKS and _HOOKS[id(x)].functions for x in values)


class _Hooked(NamedTuple):
    """Cache key for a tensor argument with hooks.

    Two keys are equal if the hooks have the same code and captured values (``signature.same``).
    """

    signature: Any
    number: int
    hooks: tuple[FunctionKey, ...]

    def __repr__(self) -> str:
        return f"a Tensor with {self.number} hook{'s' * (self.number != 1)}"


def with_hooks(signature: Any, value: Any) -> Any:
    """Add the hooks of a tensor argument to its cache key.

    Args:
        signature: cache key of the argument without hooks.
        value: the argument.
    """
    if not _HOOKS or not any_hooked([value]) or value.is_parameter:
        return signature
    hooks = tuple(map(FunctionKey, _HOOKS[id(value)].functions.values()))
    return _Hooked(signature, len(hooks), hooks)


def inherit_hooks(symbol: Tensor, argument: Any) -> Tensor:
    """Copy the hooks of ``argument`` to ``symbol``, and return ``symbol``.

    ``symbol`` represents ``argument`` in a trace.
    """
    if _HOOKS and id(argument) in _HOOKS and symbol is not argument:
        hooks = _HOOKS[id(symbol)] = _Hooks(symbol)
        hooks.functions.update(_HOOKS[id(argument)].functions)
    return symbol
