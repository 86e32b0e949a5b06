"""Hooks on gradients: ``InsertGradientOf``, ``HookBackward``, and Cell hooks.

``ops.InsertGradientOf`` and ``ops.HookBackward`` are identity operators with a custom reverse mode, which
passes the gradient to a user's function. ``Cell`` calls :func:`backward_hooked` if it has backward hooks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.base.location import warn_user
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.control.hook import hook
from mindgrad.core.ir.scope import apply, open_scopes
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.core.trace.custom import CustomDerivative
from mindgrad.frontend import user_calls

__all__ = ["HookBackward", "HookHandle", "InsertGradientOf", "backward_hooked"]


class InsertGradientOf:
    """Identity operator that replaces the gradient ``g`` by ``f(g)``.

    Args:
        f (Callable): function of one Tensor. It is traced, so it works in both modes and has derivatives of
            every order. If it returns ``None``, the gradient is unchanged.

    Raises:
        TypeError: If ``f`` is not callable.

    >>> import mindgrad as ms
    >>> from mindgrad import ops
    >>> clip = ops.InsertGradientOf(lambda g: ops.clip_by_value(g, -1.0, 1.0))
    >>> print(ops.grad(lambda x: 10 * clip(x))(ms.Tensor([3.0])))
    [1.]

    See Also:
        :class:`mindgrad.ops.HookBackward`, :func:`mindgrad.ops.custom_vjp`,
        :meth:`mindgrad.Tensor.register_hook`
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        if not callable(f):
            raise TypeError(f"For 'InsertGradientOf', the type of 'f' should be function, but got {type(f)}.")

        def bprop(x: Tensor, out: Tensor, dout: Tensor) -> tuple[Any]:
            replacement = f(dout)
            return (dout if replacement is None else replacement,)

        self.f = f
        self._identity = CustomDerivative(lambda x: x, bprop, "InsertGradientOf")

    def __call__(self, x: Any) -> Any:
        return self._identity(x)


class HookBackward:
    """Identity operator that passes the gradient to a Python function.

    Args:
        hook_fn (Callable): receives a 1-tuple that contains the gradient. It returns a Tensor that replaces
            the gradient, or ``None`` to keep the gradient. It runs as Python with the value of the gradient,
            so it may print or store the value. Compiled functions do not call it.
        cell_id (str, optional): accepted for compatibility, and ignored. Default: ``""``.

    Raises:
        TypeError: If ``hook_fn`` is not callable.

    >>> import mindgrad as ms
    >>> from mindgrad import ops
    >>> watch = ops.HookBackward(lambda gradient: print("gradient:", gradient[0]))
    >>> print(ops.grad(lambda x: 10 * watch(x))(ms.Tensor([3.0])))
    gradient: [10.]
    [10.]

    See Also:
        :class:`mindgrad.ops.InsertGradientOf`, :meth:`mindgrad.Tensor.register_hook`
    """

    def __init__(self, hook_fn: Callable[..., Any], cell_id: str = "") -> None:
        if not callable(hook_fn):
            raise TypeError(
                f"For 'HookBackward', the type of 'hook_fn' should be python function, but got "
                f"{type(hook_fn)}."
            )
        self.hook_fn = hook_fn
        self.cell_id = cell_id
        self._identity = _hooked(hook_fn)

    def __call__(self, *inputs: Any) -> Any:
        passed = _through(self._identity, inputs, "HookBackward")
        return passed[0] if len(passed) == 1 else passed


def _hooked(function: Callable[[tuple[Tensor, ...]], Any]) -> CustomDerivative:
    """Return an identity operator that passes the gradients to ``function``."""
    return CustomDerivative(
        lambda *xs: xs, lambda *arguments: apply(hook, *arguments[-1], function=function), "hook"
    )


def _through(identity: CustomDerivative, xs: Sequence[Any], name: str) -> tuple[Any, ...]:
    """Apply the identity operator ``identity`` to the tensors in ``xs``.

    In GRAPH_MODE, warn that the hook called ``name`` does not run, and return ``xs``. Outside
    differentiation, return ``xs`` without a warning.
    """
    if not open_scopes() or not any(isinstance(x, Tensor) for x in xs):
        return tuple(xs)
    if references.is_compiling():
        warn_user(
            f"{name} is not called in GRAPH_MODE: a compiled function cannot call Python. Run in "
            f"PYNATIVE_MODE, or use ops.InsertGradientOf."
        )
        return tuple(xs)
    return _tensors_through(identity, xs)


def _tensors_through(identity: CustomDerivative, xs: Sequence[Any]) -> tuple[Any, ...]:
    passed = iter(identity(*[references.read(x) for x in xs if isinstance(x, Tensor)]))
    return tuple(next(passed) if isinstance(x, Tensor) else x for x in xs)


#: source of unique keys, so that a handle removes only its own hook
_keys = itertools.count(1)


class HookHandle:
    """Handle of a registered hook. Its ``remove()`` removes the hook.

    Args:
        hooks (dict): the hooks of a tensor or Cell, in the order in which they are called. The new hook is
            added.
        hook (Callable): hook to add.
        prepend (bool, optional): whether ``hook`` is called before all other hooks. Default: ``False``.
    """

    __slots__ = ("_hooks", "_key")

    def __init__(self, hooks: dict[int, Any], hook: Any, prepend: bool = False) -> None:
        self._hooks = hooks
        self._key = next(_keys)
        others = dict(hooks) if prepend else {}
        if prepend:
            hooks.clear()
        hooks[self._key] = hook
        hooks.update(others)

    def remove(self) -> None:
        """Remove the hook. Further calls have no effect."""
        self._hooks.pop(self._key, None)


def backward_hooked(
    construct: Callable[..., Any],
    cell: Any,
    before: Sequence[Callable[..., Any]],
    after: Sequence[Callable[..., Any]],
    args: Sequence[Any],
) -> Any:
    """Run ``construct(*args)`` with the backward hooks of a Cell.

    Each hook in ``before`` is called as ``hook(cell, grad_output)``, where ``grad_output`` are the gradients
    with respect to the outputs. Each hook in ``after`` is called as ``hook(cell, grad_input, grad_output)``,
    where ``grad_input`` are the gradients with respect to the inputs. If a hook returns a Tensor or tuple,
    this value replaces ``grad_output`` (hooks in ``before``) or ``grad_input`` (hooks in ``after``).
    """
    arrived: tuple[Tensor, ...] = ()

    def leave(gradients: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        nonlocal arrived
        for each in before:
            gradients = _replaced(user_calls.run(each, cell, gradients), gradients)
        arrived = gradients
        return gradients

    def enter(gradients: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        nonlocal arrived
        came, arrived = arrived, ()  # release the gradients, because a graph may keep this function alive
        for each in after:
            gradients = _replaced(user_calls.run(each, cell, gradients, came), gradients)
        return gradients

    leaves, structure = flatten(args)
    label = "a backward hook of a Cell"
    entered = unflatten(structure, _through(_hooked(enter), leaves, label)) if after else args
    results, result_structure = flatten(construct(*entered))
    if references.is_compiling():
        if before:  # trace the hooks that receive the gradients of the outputs
            left = CustomDerivative(lambda *xs: xs, lambda *arguments: leave(arguments[-1]), label)
            results = list(_tensors_through(left, results))
        return unflatten(result_structure, results)
    return unflatten(result_structure, _through(_hooked(leave), results, label))


def _replaced(returned: Any, gradients: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Return the gradients that follow from the value that a hook returned.

    If ``returned`` is ``None``, the hook does not change ``gradients``.
    """
    if returned is None:
        return gradients
    return returned if isinstance(returned, tuple) else (returned,)
