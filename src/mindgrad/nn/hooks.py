"""Hooks of Cells, called before and after ``construct`` and with gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mindgrad._base.shared_docs import SharedSections
from mindgrad.api.jit import JitFunction
from mindgrad.core.ir.scope import open_scopes
from mindgrad.frontend import user_calls
from mindgrad.frontend.hooks import HookHandle, backward_hooked
from mindgrad.nn.inventory import Inventory

__all__ = ["HookHandle", "Hooked"]

_documented = SharedSections("""
    Args:
        prepend (bool): whether to call the hook before the hooks that are already registered.

    Returns:
        HookHandle: handle of the hook, whose method ``remove()`` removes the hook.

    Raises:
        TypeError: If ``hook_fn`` is not callable, or is a function compiled by ``jit``.
""")


class _Hook(NamedTuple):
    kind: str
    function: Callable[..., Any]
    with_kwargs: bool = False
    always_call: bool = False


class Hooked(Inventory):
    """The methods of a Cell that register hooks and run ``construct`` between them."""

    _hooks: dict[int, _Hook]
    construct: Callable[..., Any]

    # -- registration of hooks -------------------------------------------------------------------

    @_documented
    def register_forward_pre_hook(
        self, hook_fn: Any, *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Call ``hook_fn(cell, inputs)`` before ``construct`` and use its result.

        Args:
            hook_fn (Callable): function that receives the Cell and the tuple of the positional arguments. If
                it returns ``None``, the inputs do not change. A result that is not a tuple becomes the only
                input.
            with_kwargs (bool): whether to call ``hook_fn(cell, inputs, keywords)`` instead. The hook then
                returns ``None``, or both the new inputs and the new keyword arguments.

        >>> import mindgrad as ms
        >>> net = ms.nn.ReLU()
        >>> handle = net.register_forward_pre_hook(lambda cell, inputs: inputs[0] + 1)
        >>> print(net(ms.Tensor([2.0])))
        [3.]
        """
        return self._register("forward_pre", hook_fn, prepend, with_kwargs)

    @_documented
    def register_forward_hook(
        self, hook_fn: Any, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> HookHandle:
        """Call ``hook_fn(cell, inputs, output)`` after ``construct`` and use its result.

        Args:
            hook_fn (Callable): function that receives the Cell, the tuple of the positional arguments, and
                the output. If it returns ``None``, the output does not change.
            with_kwargs (bool): whether to call ``hook_fn(cell, inputs, keywords, output)`` instead.
            always_call (bool): whether to call ``hook_fn`` also if ``construct`` raises an error, with
                ``None`` as the output.
        """
        return self._register("forward", hook_fn, prepend, with_kwargs, always_call)

    @_documented
    def register_backward_pre_hook(self, hook_fn: Any) -> HookHandle:
        """Call ``hook_fn(cell, grad_output)`` when gradients arrive at the outputs.

        Args:
            hook_fn (Callable): function that receives the Cell and the tuple of the gradients of the outputs.
                A Tensor or tuple that it returns replaces these gradients. In GRAPH_MODE it is compiled with
                the Cell.

        >>> import mindgrad as ms
        >>> net = ms.nn.ReLU()
        >>> handle = net.register_backward_pre_hook(lambda cell, grad_output: grad_output[0] * 5)
        >>> print(ms.grad(net)(ms.Tensor([2.0])))
        [5.]
        """
        return self._register("backward_pre", hook_fn)

    @_documented
    def register_backward_hook(self, hook_fn: Any) -> HookHandle:
        """Call ``hook_fn(cell, grad_input, grad_output)`` in each eager backward pass.

        Args:
            hook_fn (Callable): function that receives the Cell and two tuples: the gradients of the inputs,
                and the gradients of the outputs. A Tensor or tuple that it returns replaces the gradients of
                the inputs.
        """
        return self._register("backward", hook_fn)

    def _register(self, kind: str, function: Any, prepend: bool = False, *options: bool) -> HookHandle:
        if not callable(function):
            raise TypeError(
                f"For 'register_{kind}_hook', the type of 'hook_fn' should be python function, but "
                f"got {type(function)}."
            )
        if isinstance(function, JitFunction):
            raise TypeError(
                f"For 'register_{kind}_hook', a hook decorated with '@jit' is "
                f"not supported: register the function itself, which is compiled with the Cell."
            )
        return HookHandle(self._hooks, _Hook(kind, function, *options), prepend)

    # -- calls with hooks ------------------------------------------------------------------------

    def _run_hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook in self._hooks_of("forward_pre"):
            if hook.with_kwargs:
                returned = user_calls.run(hook.function, self, args, kwargs)
                if returned is not None:
                    args, kwargs = returned
                continue
            returned = user_calls.run(hook.function, self, args)
            if returned is not None:
                args = returned if isinstance(returned, tuple) else (returned,)
        try:
            result = self._run_between(args, kwargs)
        except Exception:
            for hook in self._hooks_of("forward"):
                if hook.always_call:
                    self._call_after(hook, args, kwargs, None)
            raise
        for hook in self._hooks_of("forward"):
            returned = self._call_after(hook, args, kwargs, result)
            if returned is not None:
                result = returned
        return result

    def _run_between(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call ``construct`` with the backward hooks around it."""
        before = [hook.function for hook in self._hooks_of("backward_pre")]
        after = [hook.function for hook in self._hooks_of("backward")]
        if not (before or after) or not open_scopes():
            return user_calls.run(self.construct, *args, **kwargs)
        construct = lambda *entered: user_calls.run(self.construct, *entered, **kwargs)
        return backward_hooked(construct, self, before, after, args)

    def _call_after(self, hook: _Hook, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
        keywords = (kwargs,) if hook.with_kwargs else ()
        return user_calls.run(hook.function, self, args, *keywords, result)

    def _hooks_of(self, kind: str) -> Iterator[_Hook]:
        return iter([hook for hook in self._hooks.values() if hook.kind == kind])
