"""``grad`` and ``value_and_grad``: gradients of functions with a scalar output.

    grad(f)(x) = ∇f(x)

The function runs once, and its operators are recorded (``trace.record``). A rule then linearizes and
transposes the recording (``transforms.reverse.reverse_rule``), and the resulting operators compute the
gradient. ``grad`` can be nested to any order, and works inside ``jit`` and ``vmap``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Never

import numpy as np

from mindgrad.core.api.arguments import check_call, recorded_run
from mindgrad.core.base.tree import flatten
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace.record import transformed
from mindgrad.core.transforms.reverse import reverse_rule

__all__ = ["grad", "value_and_grad"]


def grad(
    function: Callable[..., object], argnums: int | Sequence[int] = 0, has_aux: bool = False, **unknown: Never
) -> Callable[..., Any]:
    """Return a function that computes the gradient of ``function``.

    Args:
        function: function with a scalar output. Its differentiated arguments are floating-point Tensors,
            floats, NumPy arrays, or containers of them.
        argnums: index, or tuple of indices, of the differentiated positional arguments. Default: ``0``.
        has_aux: whether ``function`` returns a pair ``(output, aux)``. Only the output is differentiated.
            Default: ``False``.

    Returns:
        Callable: function of the same arguments. If ``argnums`` is an int, it returns the gradient in the
        structure of the differentiated argument, and otherwise a tuple of gradients. With ``has_aux``, it
        returns ``(gradient, aux)``. For a complex input, the gradient is ∂/∂Re + i ∂/∂Im.

    Raises:
        TypeError: If the output is not a real scalar, or a differentiated argument has no derivative.
        ValueError: If ``argnums`` is not an index, or tuple of indices, of positional arguments.

    >>> from mindgrad.core import grad
    >>> grad(lambda x: x * x * x)(2.0)
    12.0
    """
    check_call(grad, function, unknown)

    @functools.wraps(function, assigned=("__module__", "__name__", "__doc__"), updated=())
    def gradient(*args: object, **kwargs: object) -> Any:
        _, aux, gradients = _value_and_grad("grad", function, argnums, has_aux, args, kwargs)
        return (gradients, aux) if has_aux else gradients

    return gradient


def value_and_grad(
    function: Callable[..., object], argnums: int | Sequence[int] = 0, has_aux: bool = False, **unknown: Never
) -> Callable[..., Any]:
    """Return a function that computes the output and the gradient of ``function``.

    Args:
        function: function with a scalar output, as for :func:`grad`.
        argnums: index, or tuple of indices, of the differentiated positional arguments. Default: ``0``.
        has_aux: whether ``function`` returns a pair ``(output, aux)``. Default: ``False``.

    Returns:
        Callable: function of the same arguments that returns ``(output, gradient)``, or
        ``((output, aux), gradient)`` with ``has_aux``.

    Raises:
        TypeError: If the output is not a real scalar, or a differentiated argument has no derivative.
        ValueError: If ``argnums`` is not an index, or tuple of indices, of positional arguments.

    >>> from mindgrad.core import value_and_grad
    >>> value_and_grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)
    (6.0, (3.0, 2.0))
    """
    check_call(value_and_grad, function, unknown)

    @functools.wraps(function, assigned=("__module__", "__name__", "__doc__"), updated=())
    def value_and_gradient(*args: object, **kwargs: object) -> Any:
        value, aux, gradients = _value_and_grad("value_and_grad", function, argnums, has_aux, args, kwargs)
        return ((value, aux) if has_aux else value), gradients

    return value_and_gradient


def _value_and_grad(
    owner: str,
    function: Callable[..., object],
    argnums: int | Sequence[int],
    has_aux: bool,
    args: Sequence[object],
    kwargs: dict[str, object],
) -> tuple[Any, Any, Any]:
    run = recorded_run(owner, function, args, kwargs, argnums, has_aux, _check_scalar)
    outputs, cotangents = transformed(run.recorded, reverse_rule, [None], run.outputs, is_last=True)
    value, aux = run.result(outputs)
    gradients = run.inputs.trees(cotangents)
    return value, aux, gradients[0] if isinstance(argnums, int) else gradients


def _check_scalar(owner: str, output: object) -> None:
    """Raise ``TypeError`` if ``output`` is not a real scalar."""
    leaves, _ = flatten(output)
    if len(leaves) != 1 or leaves[0] is not output:
        raise TypeError(
            f"For '{owner}', the function must return one scalar, but returned a {type(output).__name__}. "
            "If it returns (output, aux), set has_aux=True."
        )
    shape = getattr(output, "shape", ())
    if shape != ():
        raise TypeError(
            f"For '{owner}', the function must return a scalar, but its output has shape {shape}. Return "
            "a scalar such as the sum, or use jacobian or vjp."
        )
    is_tensor = isinstance(output, Tensor)
    if not (output.dtype.is_float if is_tensor else isinstance(output, (float, np.floating))):
        kind = getattr(output, "dtype", type(output).__name__)
        raise TypeError(f"For '{owner}', the output of the function must be real, but it has type {kind}.")
