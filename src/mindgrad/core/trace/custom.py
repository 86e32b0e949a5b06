"""Custom derivatives of Python functions: ``custom_vjp`` and ``bprop``.

``custom_vjp``, modules with a method ``bprop``, and gradient hooks create a :class:`CustomDerivative`. In
reverse mode, it calls the user's function that computes the gradients.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from mindgrad.core.base.location import pullback_lines, user_frame
from mindgrad.core.base.refusal import CompileError, location_of, refuse_selections
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.control.custom import custom
from mindgrad.core.ir import settings
from mindgrad.core.ir.graph import Graph
from mindgrad.core.ir.memo import retained
from mindgrad.core.ir.rules import Array, Results, Stored, Tree
from mindgrad.core.ir.scope import apply, open_scopes
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.ir.thread_state import state
from mindgrad.core.ir.types import Shape, TensorType
from mindgrad.core.primitives.callback import Callback, callback
from mindgrad.core.primitives.complexes import conj
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.primitives.reduction import reduce_sum
from mindgrad.core.primitives.structural import convert, reshape, stop_gradient
from mindgrad.core.trace import frontend, references
from mindgrad.core.trace.closed_program import trace

__all__ = ["CustomDerivative", "custom_vjp", "summed_to"]


class CustomDerivative:
    """A function whose gradients are computed by ``bprop(*inputs, out, dout)``.

    Args:
        function: the function. Its operators are not differentiated. Gradients with respect to values that it
            reads from outside, such as references, are zero.
        bprop: function that returns a tuple with one gradient per input of ``function``. In eager mode, it
            may also return a list or a single gradient, and gradients may have the shapes to which the inputs
            were broadcast.
        name: name of the function in error messages.

    ``bprop`` is traced at every call of the function, so it reads the current state of Python objects. If a
    later trace creates an equal graph, the stored graph and its derivatives are reused. In eager mode, a
    ``bprop`` that reads values of tensors (``asnumpy``) runs as a callback. It cannot be differentiated
    again.
    """

    def __init__(self, function: Callable, bprop: Callable, name: str) -> None:
        self.function = function
        self.bprop = bprop
        self.name = name

    def __call__(self, *args: Tree) -> Results:
        leaves, structure = flatten(args)
        refuse_selections(leaves)
        leaves = [references.read(x) if isinstance(x, Tensor) else x for x in leaves]
        constants = [apply(stop_gradient, x) if isinstance(x, Tensor) else x for x in leaves]
        with _silent_reads(len(open_scopes())):
            results, result_structure = flatten(
                frontend.active.call(self.function, *unflatten(structure, constants))
            )
        xs = [x for x in leaves if isinstance(x, Tensor)]
        ys = [references.read(y) for y in results if isinstance(y, Tensor)]
        if not xs or not ys or not any(x.is_traced for x in xs):
            return unflatten(result_structure, [_constant(y) for y in results])
        is_strict = references.is_compiling()
        pullback, extras = self._pullback(leaves, structure, results, result_structure, xs, ys, is_strict)
        made = apply(custom, *ys, *xs, *extras, pullback=pullback, outputs=len(ys), inputs=len(xs))
        passed = iter(made)
        return unflatten(result_structure, [next(passed) if isinstance(y, Tensor) else y for y in results])

    def _pullback(
        self,
        leaves: list[Tree],
        structure: object,
        results: list[Tree],
        result_structure: object,
        xs: Sequence[Tensor],
        ys: Sequence[Tensor],
        is_strict: bool,
    ) -> tuple[Graph, list[Tensor]]:
        """Trace ``bprop``; return its graph and the tensors that it captures."""
        first, last = len(xs), len(xs) + len(ys)

        def pullback(*symbols: Tensor) -> list[Tensor]:
            inputs = unflatten(structure, _replaced(leaves, symbols[:first]))
            out = unflatten(result_structure, _replaced(results, symbols[first:last]))
            # For complex tensors, bprop receives and returns gradients ∂/∂Re + i ∂/∂Im. The cotangents of the
            # graph are the complex conjugates of these gradients
            received = [_conjugate(ct) for ct in symbols[last:]]
            dout = unflatten(result_structure, _replaced(results, received))
            with pullback_lines():
                returned = frontend.active.call(self.bprop, *inputs, out, dout)
            gradients = self.gradients(inputs, returned, is_strict)
            return [_conjugate(gradient) for gradient in gradients]

        types = [x.type for x in (*xs, *ys, *ys)]
        constants = [x for x in leaves if not isinstance(x, Tensor)]
        try:
            with _Within(self, [types, constants]):
                program = trace(pullback, types, values_are_inputs=True)
        except CompileError as error:
            if is_strict or error.is_final:
                raise
            # in eager mode, `bprop` may read values of tensors, which a trace does not have. Run it as a
            # callback
            on_values = _OnValues(self, leaves, structure, results, result_structure)
            name, place = f"bprop of {self.name}", location_of(user_frame())
            function = Callback(on_values, [x.type for x in xs], self.name, name, place)
            program = trace(lambda *symbols: list(apply(callback, *symbols, function=function)), types)
        return retained(program.graph), [references.read(tensor) for tensor in program.captured.values()]

    def gradients(self, inputs: Sequence[Tree], returned: Tree, is_strict: bool) -> list[Tensor]:
        """Check the result of ``bprop``, and return one gradient per tensor in ``inputs``.

        Args:
            inputs: arguments of the function.
            returned: result of ``bprop``.
            is_strict: whether ``returned`` must be a tuple of gradients with the shapes of the inputs.
                Otherwise, it may also be a list or a tensor, and gradients are summed to the shapes of the
                inputs.
        """
        if not is_strict and isinstance(returned, (list, Tensor)):
            returned = (returned,) if isinstance(returned, Tensor) else tuple(returned)
        if not isinstance(returned, tuple):
            raise TypeError(
                f"For bprop function, output should be a tuple, but got "
                f"{type(returned).__name__}: 'bprop' of {self.name} must return a tuple with one "
                f"gradient per input."
            )
        is_checked = settings.get("check_bprop")
        if len(returned) < len(inputs) or (is_checked and len(returned) > len(inputs)):
            error = IndexError if not is_checked else ValueError if is_strict else TypeError
            raise error(
                f"For user defined method 'bprop' of {self.name}, one gradient per input is "
                f"needed: {len(inputs)} inputs, but 'bprop' returned {len(returned)}. Return a tuple, with "
                f"zeros_like(x) for an input that needs no gradient."
            )
        checked: list[Tensor] = []
        for index, (argument, gradient) in enumerate(zip(inputs, returned, strict=False)):
            tensors = [x for x in flatten(argument)[0] if isinstance(x, Tensor)]
            if not tensors:
                continue
            gradients = flatten(gradient)[0] if gradient is not None else [None] * len(tensors)
            if len(gradients) != len(tensors):
                raise ValueError(
                    f"For user defined method 'bprop' of {self.name}, the gradient of argument {index} "
                    f"(counted from 0) must have the structure of the argument."
                )
            if not is_strict:
                gradients = [summed_to(g, x.shape) for x, g in zip(tensors, gradients, strict=True)]
            pairs = zip(tensors, gradients, strict=True)
            checked.extend(self._checked(index, x, g, is_checked) for x, g in pairs)
        return checked

    def _checked(self, index: int, x: Tensor, gradient: Stored, is_checked: bool) -> Tensor:
        if gradient is None:
            return _zeros(x.type)
        if is_checked and getattr(gradient, "dtype", None) is not x.dtype:
            kind = getattr(gradient, "dtype", type(gradient).__name__)
            raise TypeError(
                f"For user defined method 'bprop' of {self.name}, the gradient of argument {index} (counted "
                f"from 0) has dtype {kind}, but the argument has dtype {x.dtype}. They must be the same."
            )
        if not isinstance(gradient, Tensor):
            gradient = Tensor(gradient, x.dtype)
        gradient = references.read(gradient)
        if gradient.shape != x.shape:
            raise ValueError(
                f"For user defined method 'bprop' of {self.name}, the gradient of argument {index} (counted "
                f"from 0) has shape {gradient.shape}, but the argument has shape {x.shape}. They must be "
                f"the same."
            )
        return gradient if gradient.dtype is x.dtype else apply(convert, gradient, dtype=x.dtype)


@contextmanager
def _silent_reads(level: int) -> Iterator[None]:
    """Turn off warnings about reads of differentiated tensors.

    It applies to tensors of scopes that are nested at most ``level`` deep. The body of a function with a
    custom derivative is not differentiated, so it can read values.
    """
    before, state.read_level = state.read_level, level
    try:
        yield
    finally:
        state.read_level = before


#: if ``state.custom_calls`` contains this many equal calls, the next one raises an infinite-recursion error
_DEEPEST = 20


class _Within:
    """Context manager around the trace of a ``bprop`` that detects infinite recursion.

    The recursion is infinite if ``bprop`` calls the function whose gradients it computes.
    """

    def __init__(self, derivative: CustomDerivative, call: list[list]) -> None:
        self.entry = derivative, call

    def __enter__(self) -> None:
        derivative, call = self.entry
        equal = [one for one, other in state.custom_calls if one is derivative and _is_same(call, other)]
        if len(equal) >= _DEEPEST:
            raise TypeError(
                f"The derivative of {derivative.name} leads back to {derivative.name} without end, because "
                f"each derivative is traced when its function is called. End the chain of derivatives: "
                f"use functions of tensors in the last 'bprop', or omit its derivative."
            )
        state.custom_calls.append(self.entry)

    def __exit__(self, *_: object) -> None:
        state.custom_calls.pop()


def _is_same(call: list[list], other: list[list]) -> bool:
    types, constants = call
    return (
        types == other[0] and len(constants) == len(other[1]) and all(map(operator.is_, constants, other[1]))
    )


class _OnValues:
    """Callback that runs ``bprop`` on the values of tensors.

    Its arguments are NumPy arrays: the inputs of the function, the results, and the cotangents of the
    results. It returns the cotangents of the inputs.
    """

    def __init__(
        self,
        derivative: CustomDerivative,
        leaves: list[Tree],
        structure: object,
        results: list[Tree],
        result_structure: object,
    ) -> None:
        self.derivative = derivative
        self.structures = structure, result_structure
        # store a placeholder instead of each tensor, because this object must not keep tensors alive
        self.leaves = [_TENSOR if isinstance(x, Tensor) else x for x in leaves]
        self.results = [_TENSOR if isinstance(x, Tensor) else x for x in results]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _OnValues)
            and self.derivative.bprop == other.derivative.bprop
            and self.structures == other.structures
            and len(self.leaves + self.results) == len(other.leaves + other.results)
            and all(map(operator.is_, self.leaves + self.results, other.leaves + other.results))
        )

    def __hash__(self) -> int:
        return hash((self.derivative.name, len(self.leaves), len(self.results)))

    def __call__(self, *arrays: Array) -> list[Array]:
        tensors = iter(map(make_tensor, arrays))
        structure, result_structure = self.structures
        inputs = unflatten(structure, _filled(self.leaves, tensors))
        out = unflatten(result_structure, _filled(self.results, tensors))
        dout = unflatten(result_structure, _filled(self.results, map(_conjugate, tensors)))
        returned = self.derivative.bprop(*inputs, out, dout)
        gradients = self.derivative.gradients(inputs, returned, is_strict=False)
        return [np.asarray(_conjugate(gradient).host_array()) for gradient in gradients]


#: placeholder for a tensor in the flattened arguments or results of a call
_TENSOR = object()


def _filled(leaves: Sequence[Tree], tensors: Iterator[Tensor]) -> list[Tree]:
    return [next(tensors) if x is _TENSOR else x for x in leaves]


class custom_vjp:
    """A function whose gradients are computed by a user-defined function ``bwd``.

    ``bwd`` is set by :meth:`defbwd`. For an output y = fn(x) with gradient ȳ, reverse mode computes

        x̄ = bwd(x, y, ȳ)

    ``fn`` and ``bwd`` call operators, so ``bwd`` can itself be differentiated for higher derivatives.
    Values that ``fn`` reads from outside are constants.

    Args:
        fn (Callable): function of Tensors. Usually ``custom_vjp`` is used as its decorator.

    Raises:
        TypeError: If ``fn`` is not callable.

    >>> import mindgrad as ms
    >>> from mindgrad.ops.functional import custom_vjp
    >>> @custom_vjp
    ... def sign(x):
    ...     return ms.ops.sign(x)
    >>> sign.defbwd(lambda x, out, dout: (dout,))
    >>> print(sign(ms.Tensor([-2.0])), ms.grad(sign)(ms.Tensor([-2.0])))
    [-1.] [1.]

    See Also:
        :func:`mindgrad.ops.stop_gradient`, :class:`mindgrad.ops.InsertGradientOf`,
        :class:`mindgrad.ops.Custom`
    """

    def __init__(self, fn: Callable) -> None:
        if not callable(fn):
            raise TypeError(f"For 'custom_vjp', 'fn' must be a function, but got {fn!r}.")
        self.fn = fn
        self.bwd: Callable | None = None
        self.__name__ = type(fn).__name__
        functools.update_wrapper(self, fn)
        self._derivative = CustomDerivative(fn, self._run_backward, self.__name__)

    def defbwd(self, bwd: Callable) -> None:
        """Set the function that computes the gradients.

        Args:
            bwd (Callable): called as ``bwd(*inputs, out, dout)`` with the inputs, the result, and the
                gradient of the result. It returns a tuple with the gradient of each input.

        Raises:
            TypeError: If ``bwd`` is not callable.
        """
        if not callable(bwd):
            raise TypeError(f"For 'defbwd', 'bwd' must be a function, but got {bwd!r}.")
        self.bwd = bwd

    def _run_backward(self, *arguments: Tree) -> Tree:
        if self.bwd is None:
            raise TypeError(
                f"The function '{self.__name__}' with 'custom_vjp' has no derivative. Set it with "
                f"{self.__name__}.defbwd(bwd). bwd is called as bwd(*inputs, out, dout)."
            )
        try:
            return frontend.active.call(self.bwd, *arguments)
        except TypeError as error:
            if _takes(self.bwd, arguments):
                raise
            count = len(arguments) - 2
            raise TypeError(
                f"For 'defbwd' of {self.__name__}: {error}. It is called as bwd(*inputs, out, dout), "
                f"here with {count} input{'s' * (count != 1)}, the result and the gradient of the result."
            ) from None

    def __call__(self, *args: Tree) -> Results:
        """Call the function with ``args``. Its gradients are computed by ``bwd``."""
        return self._derivative(*args)


def _takes(fn: Callable, arguments: Sequence[Tree]) -> bool:
    try:
        inspect.signature(fn).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # a built-in function without a signature
        return True
    return True


def _constant(value: Tree) -> Tree:
    """Stop the gradient of a traced tensor; return other values unchanged."""
    return apply(stop_gradient, value) if isinstance(value, Tensor) and value.is_traced else value


def _conjugate(x: Tensor) -> Tensor:
    return apply(conj, x) if x.dtype.kind == "complex" else x


def summed_to(gradient: Tree, shape: Shape) -> Results:
    """Sum a gradient over the axes along which the input was broadcast.

    ``shape`` is the shape of the input. If ``shape`` does not broadcast to the shape of ``gradient``,
    ``gradient`` is returned unchanged.
    """
    if not isinstance(gradient, Tensor) or gradient.shape == shape:
        return gradient
    gradient = references.read(gradient)
    more = gradient.ndim - len(shape)
    wide = gradient.shape[max(more, 0) :]
    if more < 0 or any(n not in (1, m) for n, m in zip(shape, wide, strict=True)):
        return gradient
    axes = tuple(
        axis for axis, m in enumerate(gradient.shape) if axis < more or (shape[axis - more] == 1 and m != 1)
    )
    return apply(reshape, apply(reduce_sum, gradient, axes=axes), shape=shape)


def _replaced(leaves: Sequence[Tree], symbols: Sequence[Tensor]) -> list[Tree]:
    following = iter(symbols)
    return [next(following) if isinstance(x, Tensor) else x for x in leaves]


def _zeros(type: TensorType) -> Tensor:
    constant = zeros(type)
    return make_tensor(constant.array(), type)
