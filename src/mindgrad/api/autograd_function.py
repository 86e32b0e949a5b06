"""``mindgrad._Function``: custom derivatives by a class with ``backward``.

    y = forward(ctx, x)        reverse: x̄ = backward(ctx, ȳ)

Both methods consist of operators, so ``backward`` can be differentiated too, and derivatives of every order
exist. When a derivative is traced, each input or output of ``forward`` that ``ctx`` contains is replaced with
the traced tensor of this input or output. If ``ctx`` contains any other traced tensor, the derivative runs
``forward`` again to recompute this tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.base.tree import flatten, map_leaves, unflatten
from mindgrad.core.ir.scope import apply, rebind
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.structural import convert, stop_gradient
from mindgrad.core.trace import references
from mindgrad.core.trace.custom import CustomDerivative, summed_to
from mindgrad.frontend import user_calls

__all__ = ["AutogradFunction"]


class AutogradFunction:
    """Base class of functions with a custom derivative.

    Define a subclass with two static methods and call it through :meth:`apply`.

    - ``forward(ctx, *args)`` computes the result, a Tensor or a tuple. It stores in ``ctx`` the values that
      ``backward`` needs: tensors with :meth:`save_for_backward`, other values as attributes.
    - ``backward(ctx, *grad_outputs)`` receives the gradient of each output, or ``None`` for an output that
      is not a tensor. It returns one gradient for each argument: a Tensor, or ``None`` for no gradient.
      Several gradients are returned as a tuple. Each gradient is converted to the dtype of its argument, and
      summed over the axes along which the argument would broadcast to it.

    If the subclass also defines ``setup_context(ctx, inputs, output)``, that method stores the values, and
    ``forward`` is called without ``ctx``.

    Attributes:
        saved_tensors: tuple of the tensors that ``forward`` passed to ``save_for_backward``.
        needs_input_grad: tuple of bools, one for each argument of ``forward``. ``False`` if the argument is
            not a floating-point or complex tensor, or does not depend on a differentiated value. In compiled
            functions, it is ``True`` for every other argument.

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
    #: The context object exists only during one call. Therefore, assignments to its attributes run while the
    #: call is traced, and are not part of the compiled function (``frontend.control.builtins``).
    lives_for_one_call = True
    _dirty: tuple[Any, ...] = ()
    _constant: tuple[Any, ...] = ()

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """Compute the result for ``args``. Every subclass must define this method."""
        raise NotImplementedError(
            "A subclass of '_Function' must define the static method 'forward(ctx, *args)'."
        )

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the arguments of ``forward``. Every subclass must define this method."""
        raise NotImplementedError(
            "A subclass of '_Function' must define the static method 'backward(ctx, *grad_outputs)'."
        )

    # -- the context -----------------------------------------------------------------------------

    def save_for_backward(self, *tensors: Any) -> None:
        """Store ``tensors`` as :attr:`saved_tensors`. Each may be ``None``."""
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *outputs: Any) -> None:
        """Treat ``outputs`` as constants: ``backward`` receives zero gradients for them.

        Raises:
            RuntimeError: If an output is not a Tensor.
        """
        self._constant = _only_tensors("mark_non_differentiable", outputs)

    def mark_dirty(self, *inputs: Any) -> None:
        """Declare that ``forward`` changes ``inputs`` in place, and returns them.

        Raises:
            RuntimeError: If an input is not a Tensor, or is not among the outputs of ``forward``.
        """
        self._dirty = _only_tensors("mark_dirty", inputs)

    def set_materialize_grads(self, value: bool) -> None:
        """Accept PyTorch's option ``materialize_grads``, which has no effect.

        ``backward`` always receives zeros, and never ``None``, for unused outputs.

        Raises:
            TypeError: If ``value`` is not a bool.
        """
        if not isinstance(value, bool):
            raise TypeError(f"For 'set_materialize_grads', 'value' must be a bool, but got {value!r}.")

    # -- the call --------------------------------------------------------------------------------

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Call ``forward(ctx, *args)``, with ``backward`` as its derivative.

        Args:
            args: arguments of ``forward`` after ``ctx``. Tensors, and tuples and lists of Tensors, are
                differentiated. Other values are constants.

        Raises:
            NotImplementedError: If the subclass lacks ``forward`` or, for a derivative, ``backward``.
            RuntimeError: If ``backward`` returns a wrong number of gradients, or a gradient for an argument
                that is not a tensor. Also if a gradient is not a Tensor, or the argument does not broadcast
                to the shape of its gradient.
        """
        call = _Call(cls, args)
        passed = CustomDerivative(call.forward, call.backward, cls.__name__)(*args)
        return call.finished(args, passed)


class _Call:
    """One call of an :class:`AutogradFunction`.

    Attributes:
        kind: subclass of AutogradFunction that is called.
        needs: for each argument, whether its gradient may be needed (``needs_input_grad``).
        context: the argument ``ctx`` of ``forward``.
        inputs: list of the tensors among the arguments of ``forward``.
        outputs: list of the tensors in the result of ``forward``.
    """

    def __init__(self, kind: type[AutogradFunction], args: Sequence[Any]) -> None:
        self.kind = kind
        self.needs = tuple([any(map(_may_need_gradient, _tensors(x))) for x in args])
        self.context = kind()
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []

    def forward(self, *args: Any) -> Any:
        """Run the user's ``forward``; store its context, inputs, and outputs."""
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
        """Compute the gradients of the arguments of ``forward``.

        ``arguments`` are the arguments of ``forward``, its result, and the gradient of the result.
        """
        *args, out, dout = arguments
        context = self._context(args, out)
        outputs, received = (out, dout) if isinstance(out, tuple) else ((out,), (dout,))
        gradients = [g if _tensors(y) else None for y, g in zip(outputs, received, strict=True)]
        returned = user_calls.run(self.kind.backward, context, *gradients)
        return self._fitted(args, returned if isinstance(returned, tuple) else (returned,))

    def _fitted(self, args: Sequence[Any], gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        """Check the gradients, and convert them to the shapes and dtypes of the arguments."""
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
                f"{subject} must have the shape {argument.shape}, or a shape to which it broadcasts, but "
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
        """Return the context for ``backward``.

        Inputs and outputs of ``forward`` that the context contains are replaced by the tensors in ``args``
        and ``out``, with respect to which ``backward`` can be differentiated. If the context contains another
        traced tensor, ``forward`` runs again.
        """
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
        """Apply ``mark_non_differentiable`` and ``mark_dirty`` of the context."""
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
    """Return whether ``x`` is inexact and part of a running derivative."""
    return x.dtype.is_inexact and references.read(x).is_traced


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
    return _of(flatten(tree)[0])
