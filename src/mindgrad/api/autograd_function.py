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
from mindgrad.rows.structural import convert, stop_gradient
from mindgrad.trace import state, user_calls
from mindgrad.trace.custom import CustomDerivative, summed_to

__all__ = ["AutogradFunction"]


class AutogradFunction:
    """A function whose derivative its author writes; to subclass, and to call by :meth:`apply`.

    A subclass defines two static methods. ``forward(ctx, *args)`` computes the result, a Tensor or a tuple.
    It may leave in ``ctx`` what ``backward`` needs: tensors by :meth:`save_for_backward`, anything as an
    attribute. ``backward(ctx, *grad_outputs)`` gets the gradient of each output (``None`` for one that is no
    tensor), and returns one gradient for each argument, in a tuple if there are several: a Tensor, or
    ``None`` for no gradient. A gradient is converted to the element type of its argument, and summed over
    the axes along which the argument would be broadcast to it. Instead of ``ctx``, ``forward`` may leave it
    to ``setup_context(ctx, inputs, output)`` to keep things.

    Attributes:
        saved_tensors: what ``save_for_backward`` was given, as a tuple.
        needs_input_grad: tuple of bools, one for each argument of ``forward``. ``False`` if the argument is
            not a floating-point or complex tensor, or does not depend on anything that is differentiated; in
            compiled functions ``True`` for every other argument.

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
        """Let these outputs be constants; the gradients that ``backward`` gets for them are zeros.

        Raises:
            RuntimeError: If one of them is not a Tensor.
        """
        self._constant = _only_tensors("mark_non_differentiable", outputs)

    def mark_dirty(self, *inputs: Any) -> None:
        """Declare that ``forward`` changes these inputs in place, and returns them.

        Raises:
            RuntimeError: If one of them is not a Tensor, or, after ``forward``, not among its outputs.
        """
        self._dirty = _only_tensors("mark_dirty", inputs)

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
            RuntimeError: If ``backward`` returns another number of gradients than ``forward`` has arguments,
                a gradient for an argument that is not a tensor, a gradient that is not a Tensor, or one of a
                shape to which its argument does not broadcast.
        """
        call = _Call(cls, args)
        passed = CustomDerivative(call.forward, call.backward, cls.__name__)(*args)
        return call.finished(args, passed)


class _Call:
    """One call of an :class:`AutogradFunction`.

    Attributes:
        kind: the class.
        needs: for each argument, whether a gradient of it may be needed.
        context: the context of ``forward``.
        inputs: the tensors that ``forward`` got, in order.
        outputs: those that it gave.
    """

    def __init__(self, kind: type[AutogradFunction], args: Sequence[Any]) -> None:
        self.kind = kind
        self.needs = tuple([any(map(_may_need_gradient, _tensors(x))) for x in args])
        self.context = kind()
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []

    def forward(self, *args: Any) -> Any:
        """The result, and the context in its attributes."""
        self.inputs = _tensors(args)
        result = self._run_forward(self.context, args)
        self.outputs = _tensors(result)
        returned = {id(x) for x in self.outputs}
        if not all(id(x) in returned for x in self.context._dirty):
            raise RuntimeError(
                f"For 'mark_dirty' of {self.kind.__name__}, an input that was changed in place is not among "
                f"the outputs of 'forward'. Return it."
            )
        return result

    def backward(self, *arguments: Any) -> Any:
        """The gradients; ``arguments`` are those of ``forward``, its result and the gradients of that."""
        *args, out, dout = arguments
        context = self._context(args, out)
        outputs, received = (out, dout) if isinstance(out, tuple) else ((out,), (dout,))
        gradients = [g if _tensors(y) else None for y, g in zip(outputs, received, strict=True)]
        returned = user_calls.run(self.kind.backward, context, *gradients)
        return self._fitted(args, returned if isinstance(returned, tuple) else (returned,))

    def _fitted(self, args: Sequence[Any], gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients, checked, in the shapes and element types of the arguments."""
        name = self.kind.__name__
        if len(gradients) < len(args) or any(g is not None for g in gradients[len(args) :]):
            raise RuntimeError(
                f"For 'backward' of {name}, the number of gradients must be the number of arguments of "
                f"'forward', {len(args)}, but {len(gradients)} {'was' if len(gradients) == 1 else 'were'} "
                f"returned. Return None for an argument without a gradient."
            )
        return tuple(
            [self._fitted_one(k, x, g) for k, (x, g) in enumerate(zip(args, gradients, strict=False))]
        )

    def _fitted_one(self, index: int, argument: Any, gradient: Any) -> Any:
        subject = f"For 'backward' of {self.kind.__name__}, the gradient of argument {index}"
        if gradient is None:
            return None
        if not _tensors(argument):
            raise RuntimeError(
                f"{subject} must be None, because the argument is not a Tensor but "
                f"{type(argument).__name__}; got {type(gradient).__name__}."
            )
        if not isinstance(argument, Tensor):
            return gradient
        if not isinstance(gradient, Tensor):
            raise RuntimeError(f"{subject} must be a Tensor or None, but got {type(gradient).__name__}.")
        fitted = summed_to(gradient, argument.shape)
        if fitted.shape != argument.shape:
            raise RuntimeError(
                f"{subject} must have the shape {argument.shape}, or one to which this shape broadcasts, but "
                f"its shape is {gradient.shape}."
            )
        return fitted if fitted.dtype is argument.dtype else apply(convert, fitted, dtype=argument.dtype)

    def _run_forward(self, context: AutogradFunction, args: Sequence[Any]) -> Any:
        context.needs_input_grad = self.needs
        if self.kind.setup_context is None:
            return user_calls.run(self.kind.forward, context, *args)
        result = user_calls.run(self.kind.forward, *args)
        user_calls.run(self.kind.setup_context, context, tuple(args), result)
        return result

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
        self._run_forward(context, args)
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


def _may_need_gradient(x: Tensor) -> bool:
    """Whether a gradient of ``x`` may be asked for; it is not if ``x`` is no part of a running derivative."""
    return x.dtype.is_inexact and state.read(x).is_traced


def _only_tensors(method: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    for value in values:
        if not isinstance(value, Tensor):
            raise RuntimeError(
                f"For '{method}', all arguments must be Tensors, but got {type(value).__name__}."
            )
    return values


def _of(leaves: Sequence[Any]) -> list[Tensor]:
    return [x for x in leaves if isinstance(x, Tensor)]


def _tensors(tree: Any) -> list[Tensor]:
    """The tensors in ``tree``."""
    return _of(flatten(tree)[0])
