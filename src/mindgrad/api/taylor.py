"""``jet``, ``derivative``, and ``taylor``: high-order directional derivatives.

    x(s) = x₀ + Σ_k d_k sᵏ/k!        jet(f)(x₀, d) = (f(x₀), (dᵏ/dsᵏ f(x(s)) at s = 0)_k)

For order K, propagating Taylor series through the function (``transforms.taylor``) costs O(K²) evaluations
of the function, while nested derivatives cost 2ᴷ. All operators, branches, and loops are supported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.api.arguments import check_callable, check_count, explains_keywords
from mindgrad.api.callables import arity, in_either_mode, remembered
from mindgrad.api.jvp import like
from mindgrad.api.matching import match
from mindgrad.api.vjp_call import Run
from mindgrad.core.api.taylor import AlongLine, LastDerivative, ScaledCoefficients
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.mutable import is_mutable
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.structural import convert
from mindgrad.core.trace import references
from mindgrad.core.trace.record import transformed
from mindgrad.frontend.programs.array_arguments import with_tensors

__all__ = ["derivative", "jet", "taylor"]


@explains_keywords
def jet(fn: Callable[..., Any], primals: Any, series: Any) -> tuple[Any, Any]:
    """Compute the derivatives of ``fn`` along a curve, up to a given order.

    The curve is ``x(s) = primals + Σ_k series[k-1] sᵏ/k!``, so ``series[k-1]`` is its k-th derivative at s =
    0. The function returns the derivatives of ``fn(x(s))`` at s = 0. The results are derivatives, not Taylor
    coefficients. The k-th derivative is k! times the k-th coefficient. With ``series = [1, 0, 0, ...]``, the
    results are f′, f″, f‴, and so on.

    Args:
        fn (Callable or Cell): function to differentiate.
        primals (Tensor, or tuple or list of Tensor): the arguments of ``fn``. Integers are converted to
            float32.
        series (Tensor, or tuple or list of Tensor): derivatives of the curve. Each Tensor in ``primals`` has
            one Tensor of shape ``(K, *primal.shape)``, with the same dtype or an integer dtype. K is the
            highest order.

    Returns:
        tuple: ``(out, out_series)``: the result of ``fn``, and its derivatives of orders 1 to K: Tensors of
        shape ``(K, *out.shape)``, in the structure of ``out``.

    Raises:
        TypeError: If ``fn`` is not callable, or ``primals`` or ``series`` is neither a Tensor nor a tuple or
            list of Tensors. Also if only one of them is a Tensor, their dtypes differ, or ``fn`` does not
            accept this number of arguments.
        ValueError: If ``primals`` and ``series`` differ in length or in the shapes of their Tensors, or the
            Tensors in ``series`` have different numbers of orders.

    >>> import mindgrad as ms
    >>> x, series = ms.Tensor(1.0), ms.Tensor([1.0, 0.0, 0.0])
    >>> out, derivatives = ms.ops.jet(ms.ops.exp, x, 2 * series)  # of exp(1 + 2 s)
    >>> print((derivatives / out).round())
    [2. 4. 8.]

    See Also:
        :func:`mindgrad.ops.taylor`, :func:`mindgrad.ops.derivative`, :func:`mindgrad.jvp`
    """
    check_callable("jet", fn)
    args, several = _primals("jet", primals)
    coefficients: list[Any] = list(series) if isinstance(series, (tuple, list)) else [series]
    if isinstance(series, (tuple, list)) != several or not isinstance(series, (Tensor, tuple, list)):
        raise TypeError(
            f"For 'jet', 'series' must have the same type as 'primals', "
            f"{type(primals).__name__}, but got {type(series).__name__}."
        )
    if len(coefficients) != len(args):
        raise ValueError(
            f"For 'jet', the length of 'series' must equal the length of 'primals', {len(args)}, but got "
            f"{len(coefficients)}."
        )
    check_count(fn, arity(fn), len(args))
    rows = [_rows(x, d, k) for k, (x, d) in enumerate(zip(args, coefficients, strict=True))]
    orders = {d.shape[0] for d in rows}
    if len(orders) > 1:
        raise ValueError(
            f"For 'jet', all elements of 'series' must have the same order, but the orders are "
            f"{[d.shape[0] for d in rows]}."
        )
    order = orders.pop()
    run = remembered(fn, ("jet", order), lambda: _made("jet", fn, ScaledCoefficients(order), True))
    return run(*args, *rows)


@explains_keywords
def derivative(fn: Callable[..., Any], primals: Any, order: int) -> tuple[Any, Any]:
    """Compute the derivative of order K, ``dᴷ/dsᴷ fn(x + s)`` at s = 0.

    All elements of the direction are 1. If each output element depends on one input element only, the result
    is the elementwise K-th derivative.

    Args:
        fn (Callable or Cell): function to differentiate.
        primals (Tensor, or tuple or list of Tensor): the arguments of ``fn``. Integers are converted to
            float32.
        order (int): the order K, at least 1.

    Returns:
        tuple: ``(out, derivative)``: the result of ``fn``, and its derivative of order K with the structure
        and shapes of ``out``.

    Raises:
        TypeError: If ``order`` is not an int, ``fn`` is not callable, or ``primals`` has an unsupported type.
        ValueError: If ``order`` is less than 1.

    >>> import mindgrad as ms
    >>> out, third = ms.ops.derivative(lambda x: x * x * x * x, ms.Tensor([1.0, 2.0]), 3)
    >>> print(out, third)  # x⁴ and 24 x
    [ 1. 16.] [24. 48.]

    See Also:
        :func:`mindgrad.ops.jet`, :func:`mindgrad.ops.taylor`, :func:`mindgrad.grad`
    """
    check_callable("derivative", fn)
    _check_order("F.derivative", order, 1)
    args, _ = _primals("derivative", primals)
    check_count(fn, arity(fn), len(args))
    run = remembered(fn, ("derivative", order), lambda: _made("derivative", fn, LastDerivative(order), False))
    return run(*args)


@explains_keywords
def taylor(fn: Callable[..., Any], x: Any, order: int, direction: Any = None) -> Any:
    """Compute the Taylor coefficients of ``fn`` along a line.

    The coefficients c are defined by ``f(x + s v) = c₀ + c₁ s + ... + c_K sᴷ + O(sᴷ⁺¹)``.

    Args:
        fn (Callable or Cell): function to expand.
        x (Tensor, or tuple or list of Tensor): the arguments of ``fn``. Integers are converted to float32.
        order (int): the order K, at least 0.
        direction (Tensor, or tuple or list of Tensor, optional): the direction v, with the structure, shapes,
            and dtypes of ``x``. ``None``: all elements of v are 1. Default: ``None``.

    Returns:
        Tensor, or structure of Tensors: coefficients of shape ``(K + 1, *out.shape)``, in the structure of
        the output of ``fn``. The derivatives are ``c_k · k!``. In float32 these factorials overflow for
        k ≥ 35; the coefficients do not.

    Raises:
        TypeError: If ``order`` is not an int, ``x`` has an unsupported type, or the structure or dtype of
            ``direction`` differs from ``x``.
        ValueError: If ``order`` is negative, or ``direction`` and ``x`` differ in length or shape.

    >>> import mindgrad as ms
    >>> print(ms.ops.taylor(lambda x: 1 / (1 - x), ms.Tensor(0.0), 4))
    [1. 1. 1. 1. 1.]
    >>> x, v = ms.Tensor([3.0, 0.0]), ms.Tensor([0.0, 2.0])
    >>> print(ms.ops.taylor(lambda x: ms.ops.prod(x), x, 2, v))  # 3 · 2 s
    [0. 6. 0.]

    See Also:
        :func:`mindgrad.ops.jet`, :func:`mindgrad.ops.derivative`
    """
    check_callable("taylor", fn)
    _check_order("taylor", order, 0)
    args, _ = _primals("taylor", x)
    check_count(fn, arity(fn), len(args))
    directions: list[Tensor] = []
    if direction is not None:
        form = args if isinstance(x, (tuple, list)) else args[0]
        directions = match("taylor", "direction", direction, form, "x")
    key = ("taylor", order, bool(directions))
    run = remembered(fn, key, lambda: _made("taylor", fn, AlongLine(order), bool(directions)))
    return run(*args, *directions)


# -- arguments -------------------------------------------------------------------------------------------


def _primals(owner: str, primals: Any) -> tuple[list[Tensor], bool]:
    """Return the inputs as floating-point Tensors, and whether they are a sequence."""
    several = isinstance(primals, (tuple, list)) and not is_mutable(primals)
    inputs = []
    primals = with_tensors(primals)
    for x in primals if several else [primals]:
        if not isinstance(x, Tensor):
            raise TypeError(
                f"For '{owner}', the '{'x' if owner == 'taylor' else 'primals'}' must be a Tensor, or a "
                f"tuple or list of Tensors, but got {type(x).__name__}."
            )
        inputs.append(_floating(references.read(x)))
    if not inputs:
        raise ValueError(f"For '{owner}', pass at least one input.")
    return inputs, several


def _floating(x: Tensor) -> Tensor:
    return x if x.dtype.is_inexact else apply(convert, x, dtype=float32)


def _rows(primal: Tensor, rows: Any, index: int) -> Tensor:
    """Check the series of one input, and convert integers to the dtype of the input."""
    rows = with_tensors(rows)
    if not isinstance(rows, Tensor):
        raise TypeError(
            f"For 'jet', the elements of 'series' must be Tensors, but element {index} is of type "
            f"{type(rows).__name__}."
        )
    rows = references.read(rows)
    if rows.shape[1:] != primal.shape or not rows.shape:
        raise ValueError(
            "In series, the shape of each element must be the same as the primals, after a leading axis "
            f"for the orders. Series {index} has shape {rows.shape}, but the shape of its primal is "
            f"{primal.shape}."
        )
    if not rows.shape[0]:
        raise ValueError("For 'jet', the 'series' must contain at least one order, but it is empty.")
    if not rows.dtype.is_inexact:
        rows = apply(convert, rows, dtype=primal.dtype)
    if rows.dtype is not primal.dtype:
        raise TypeError(
            f"For 'jet', the dtype of series {index} must be the dtype of its primal, {primal.dtype}, but "
            f"got {rows.dtype}."
        )
    return rows


def _check_order(owner: str, order: Any, least: int) -> None:
    if isinstance(order, bool) or not isinstance(order, int):
        raise TypeError(
            f"For `{owner}`, the type of order must be int, the number of derivatives, but got "
            f"{type(order).__name__}."
        )
    if order < least:
        raise ValueError(f"For `{owner}`, value of order should not be less than {least}, but got {order}.")


# -- rules: functions of (builder, xs, ys, extras) that emit derivatives, for ``record.transformed`` --------


def _made(
    owner: str, fn: Callable[..., Any], rule: Callable[..., list[Any]], paired: bool
) -> Callable[..., Any]:
    """Return a function that applies ``rule`` to ``fn``.

    The returned function accepts the inputs of ``fn`` and, if ``paired``, one more tensor for each input.
    """

    def run(*operands: Any) -> Any:
        count = len(operands) // 2 if paired else len(operands)
        run = Run(owner, fn, operands[:count], {}, range(count))
        _, results = transformed(run.recorded, rule, operands[count:], run.outputs)
        half = len(results) // 2
        out = run.result(results[:half])
        # the first half of ``results`` contains the values of ``fn``. They are computed with the
        # coefficients, so that ``fn`` runs only once
        coefficients = like(out, results[half:])
        return coefficients if owner == "taylor" else (out, coefficients)

    return in_either_mode(fn, run)
