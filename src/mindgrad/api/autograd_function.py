"""Functions with a ``backward`` of their own are classes of ``forward(ctx, …)`` and ``backward(ctx, …)``.

    y = forward(ctx, x)        reverse: x̄ = backward(ctx, ȳ)

Both are written with operators, so the derivative of ``backward`` is known too, and with it that of every
order. Tensors that ``forward`` leaves in ``ctx`` become functions of the inputs and outputs there: those that
are neither are computed from the inputs again, by ``forward``, in the program of the derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad._base.tree import flatten, map_leaves, unflatten
from mindgrad.ir.scope import apply, rebind
from mindgrad.ir.tensor import Tensor
from mindgrad.rows.structural import stop_gradient
from mindgrad.trace import user_calls
from mindgrad.trace.custom import CustomDerivative

__all__ = ["AutogradFunction"]


class AutogradFunction:
    """A function whose derivative its author writes; to subclass, and to call by :meth:`apply`.

    A subclass defines two static methods. ``forward(ctx, *args)`` computes the result, a Tensor or a tuple.
    It may leave in ``ctx`` what ``backward`` needs: tensors by :meth:`save_for_backward`, anything as an
    attribute. ``backward(ctx, *grad_outputs)`` gets the gradient of each output (``None`` for one that is no
    tensor), and returns one gradient for each argument, in a tuple if there are several: ``None`` where there
    is none. Instead of ``ctx``, ``forward`` may leave it to ``setup_context(ctx, inputs, output)`` to keep
    things.

    Attributes:
        saved_tensors: what ``save_for_backward`` was given, as a tuple.
        needs_input_grad: for each argument, whether it is a tensor of floating point.

    >>> import mindgrad as ms
    >>> from mindgrad import ops
    >>> class Cube(ms._Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x * x * gradient
    >>> slope = ms.grad(Cube.apply)
    >>> print(slope(ms.Tensor([2.0])), ms.grad(slope)(ms.Tensor([2.0])))
    [12.] [12.]
    """

    saved_tensors: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()
    setup_context: Callable[..., Any] | None = None
    #: what a traced ``forward`` assigns to a context is assigned at once (``trace.control.builtins``)
    lives_for_one_call = True
    _dirty: tuple[Any, ...] = ()
    _constant: tuple[Any, ...] = ()

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """The result for ``args``; every subclass defines its own."""
        raise NotImplementedError(
            "A subclass of '_Function' must define the static method 'forward(ctx, *args)'."
        )

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the arguments of ``forward``; every subclass defines its own."""
        raise NotImplementedError(
            "A subclass of '_Function' must define the static method 'backward(ctx, *grad_outputs)'."
        )

    # -- the context -----------------------------------------------------------------------------

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep ``tensors``, of which each may be ``None``, as :attr:`saved_tensors`."""
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *outputs: Any) -> None:
        """Let these outputs be constants; the gradients that ``backward`` gets for them are zeros."""
        self._constant = outputs

    def mark_dirty(self, *inputs: Any) -> None:
        """Say that ``forward`` changed these inputs in place, and returns them."""
        self._dirty = inputs

    def set_materialize_grads(self, value: bool) -> None:
        """Accepted for compatibility: ``backward`` gets zeros for outputs that were not used, not ``None``.

        Raises:
            TypeError: ``value`` is no bool.
        """
        if not isinstance(value, bool):
            raise TypeError(f"For 'set_materialize_grads', 'value' must be a bool, but got {value!r}.")

    # -- the call --------------------------------------------------------------------------------

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """``forward(ctx, *args)``, with ``backward`` as its derivative.

        Args:
            args: Tensors, which are differentiated, also in tuples and lists; anything else is a constant.

        Raises:
            NotImplementedError: the subclass lacks ``forward`` or, for a derivative, ``backward``.
            IndexError: ``backward`` gives too few gradients.
            ValueError: a gradient has another shape than its argument.
        """
        call = _Call(cls)
        passed = CustomDerivative(call.forward, call.backward, cls.__name__)(*args)
        return call.finished(args, passed)


class _Call:
    """One call of an :class:`AutogradFunction`.

    Attributes:
        kind: the class.
        context: the context of ``forward``.
        inputs: the tensors that ``forward`` got, in order.
        outputs: those that it gave.
    """

    def __init__(self, kind: type[AutogradFunction]) -> None:
        self.kind = kind
        self.context = kind()
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []

    def forward(self, *args: Any) -> Any:
        """The result, and the context in its attributes."""
        self.inputs = _tensors(args)
        result = _forward(self.kind, self.context, args)
        self.outputs = _tensors(result)
        return result

    def backward(self, *arguments: Any) -> Any:
        """The gradients; ``arguments`` are those of ``forward``, its result and the gradients of that."""
        *args, out, dout = arguments
        context = self._context(args, out)
        outputs, received = (out, dout) if isinstance(out, tuple) else ((out,), (dout,))
        gradients = [g if _tensors(y) else None for y, g in zip(outputs, received, strict=True)]
        returned = user_calls.run(self.kind.backward, context, *gradients)
        return returned if isinstance(returned, tuple) else (returned,)

    def _context(self, args: Sequence[Any], out: Any) -> AutogradFunction:
        """The context of ``forward``, its tensors as functions of ``args`` and ``out``."""
        symbol_of: dict[int, Tensor] = {}
        for before, symbols in ((self.outputs, _tensors(out)), (self.inputs, _tensors(args))):
            symbol_of.update({id(x): symbol for x, symbol in zip(before, symbols, strict=True)})
        context = self.kind()
        is_complete = True

        def replaced(x: Any) -> Any:
            nonlocal is_complete
            if not isinstance(x, Tensor) or x.is_parameter:
                return x
            is_complete = is_complete and (id(x) in symbol_of or not x.is_traced)
            return symbol_of.get(id(x), x)

        for name, value in vars(self.context).items():
            setattr(context, name, map_leaves(replaced, value))
        if is_complete:
            return context
        context = self.kind()
        _forward(self.kind, context, args)
        return context

    def finished(self, args: Sequence[Any], result: Any) -> Any:
        """``result`` with constants and changed inputs as the context says."""
        marked = {id(x) for x in self.context._constant}
        leaves, structure = flatten(result)
        following = iter(self.outputs)
        for index, leaf in enumerate(leaves):
            if isinstance(leaf, Tensor) and id(next(following)) in marked:
                leaves[index] = apply(stop_gradient, leaf)
        changed = {id(x) for x in self.context._dirty}
        if changed:
            results = {id(y): x for y, x in zip(self.outputs, _of(leaves), strict=True)}
            for original, inner in zip(_tensors(args), self.inputs, strict=True):
                if id(inner) in changed:
                    rebind(original, results.get(id(inner), inner))
        return unflatten(structure, leaves)


def _forward(kind: type[AutogradFunction], context: AutogradFunction, args: Sequence[Any]) -> Any:
    context.needs_input_grad = tuple([isinstance(x, Tensor) and x.dtype.is_float for x in args])
    if kind.setup_context is None:
        return user_calls.run(kind.forward, context, *args)
    result = user_calls.run(kind.forward, *args)
    user_calls.run(kind.setup_context, context, tuple(args), result)
    return result


def _of(leaves: Sequence[Any]) -> list[Tensor]:
    return [x for x in leaves if isinstance(x, Tensor)]


def _tensors(tree: Any) -> list[Tensor]:
    """The tensors in ``tree``."""
    return _of(flatten(tree)[0])
