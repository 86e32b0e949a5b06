"""Differential operators in one collapsed pass: ``laplacian``, ``divergence``, ...

    laplacian(f)(x) = Σ_d ∂²f/∂x_d²                  second_order(f)(x, a) = Σ_ij a_ij ∂²f/∂x_i ∂x_j
    divergence(f)(x) = Σ_d ∂f_d/∂x_d                 biharmonic(f)(x) = Σ_ij ∂⁴f/∂x_i² ∂x_j²

``x`` has shape ``(…, D)``: the last axis holds the coordinates of a point, the leading axes index the points.
Each point has a separate value. Second derivatives are summed over the directions while they are computed
(``transforms.forward_laplacian``). This costs about D + 2 evaluations of the function, without a Hessian.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.api.arguments import check_callable, check_positions, explains_keywords
from mindgrad.api.callables import arity, differentiates, in_either_mode, name_derivative, remembered
from mindgrad.api.laplacian_arguments import (
    check_arguments,
    check_coefficients,
    check_field,
    check_point_values,
)
from mindgrad.api.vjp_call import Call, Run
from mindgrad.core.api.laplacian import AlongDirection, OnPoints, SummedDirections, divergence_rule
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.core.trace.record import transformed

__all__ = [
    "biharmonic", "directional_derivative", "divergence", "divergence_along", "laplacian", "second_order",
]  # fmt: skip

Rule = Callable[..., list[Any]]


@explains_keywords
def laplacian(fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """Return a function that computes the Laplacian ``Σ_d ∂²f/∂x_d²`` of ``fn``.

    The forward Laplacian (R. Li et al., 2024) computes it in a single forward pass. The result can be
    differentiated, compiled, and nested.

    Args:
        fn (Callable or Cell): function of points: it maps an input of shape ``(..., D)`` to an output of
            shape ``(...)``, ``(..., 1)``, or ``(..., C)`` for C components. Each output depends on its own
            point only.
        grad_position (int or tuple of int, optional): positional argument(s) that contain the points.
            Default: ``0``.

    Returns:
        Callable: function of the same arguments as ``fn``. It returns one Laplacian for each point: shape
        ``(...)``, a scalar for a single point of shape ``(D,)``, or ``(..., C)`` for C components. Several
        outputs keep their structure. For a tuple of positions, the result is a tuple with one Laplacian for
        each argument. Their sum is the Laplacian with respect to all these arguments.

    Raises:
        TypeError: If a differentiated input or an output of ``fn`` is not a real floating-point Tensor.
        ValueError: If an input is a scalar, the leading axes of an output differ from the leading axes of the
            input, an output depends on several points, or a position in ``grad_position`` is negative or
            repeated.
        IndexError: If ``grad_position`` contains an index beyond the last argument in a call.

    All points are evaluated together. A function that sums over the points, such as a mean over the batch or
    batch normalization in training, raises ``ValueError``. If points interact in another way, such as a
    gather along the batch axis, each output contains the sum of the derivatives with respect to all points.

    >>> import mindgrad as ms
    >>> square = lambda x: (x * x).sum(-1)
    >>> print(ms.laplacian(square)(ms.Tensor([1.0, 2.0, 3.0])))
    6.0
    >>> print(ms.laplacian(square)(ms.ops.zeros((2, 3))))
    [6. 6.]

    See Also:
        :func:`mindgrad.divergence`, :func:`mindgrad.ops.second_order`, :func:`mindgrad.ops.biharmonic`,
        :func:`mindgrad.hessian`, :func:`mindgrad.ops.directional_derivative`
    """
    return _operator("laplacian", fn, grad_position, check_point_values, lambda: SummedDirections("unit"))


@explains_keywords
def second_order(
    fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0, factored: bool = False
) -> Callable[..., Any]:
    """Return a function for the second-order operator ``Σ_ij a_ij ∂²f/∂x_i ∂x_j``.

    The cost corresponds to D + 2 evaluations of ``fn`` for diagonal coefficients, K + 2 evaluations for a
    factor, and 2 D + 2 evaluations for a matrix. The result is differentiable with respect to the
    coefficients, too.

    Args:
        fn (Callable or Cell): function of points of shape ``(..., D)``, as for :func:`laplacian`.
        grad_position (int or tuple of int, optional): positional argument(s) that contain the points.
            Default: ``0``.
        factored (bool, optional): whether the coefficients are given as a factor ``s`` of the matrix
            ``a = s sᵀ``. Default: ``False``.

    Returns:
        Callable: function of the arguments of ``fn`` followed by the coefficients. It returns one value for
        each point, as :func:`laplacian` does. The coefficients are a Tensor with the dtype of the input and
        one of these shapes:

        ===================================  ==============================================
        shape                                meaning
        ===================================  ==============================================
        ``(D,)``                             diagonal of ``a``; ``[1, -c²]`` is a wave operator
        ``(D, D)`` or ``(..., D, D)``        matrix ``a``, for all points or for each point
        ``(D, K)`` or ``(..., D, K)``        factor ``s``, with ``factored``
        ===================================  ==============================================

        The matrix ``a`` need not be symmetric or definite.

    Raises:
        TypeError: If a differentiated input or an output of ``fn`` is not a real floating-point Tensor, or
            the coefficients are not a Tensor with the dtype of the input.
        ValueError: If the coefficients or outputs have an unsupported shape, an output depends on several
            points, or a position in ``grad_position`` is negative or repeated.
        IndexError: If ``grad_position`` contains an index beyond the last argument in a call.

    >>> import mindgrad as ms
    >>> f = lambda x: x[..., 0] * x[..., 0] * x[..., 1]
    >>> x = ms.Tensor([2.0, 3.0])
    >>> print(ms.ops.second_order(f)(x, ms.Tensor([1.0, -4.0])))
    6.0
    >>> print(ms.ops.second_order(f)(x, ms.Tensor([[1.0, 0.5], [0.5, 0.0]])))
    10.0

    See Also:
        :func:`mindgrad.laplacian`, :func:`mindgrad.divergence`, :func:`mindgrad.hessian`
    """

    def checked(owner: str, run: Run, extras: Sequence[Tensor]) -> None:
        check_point_values(owner, run, extras)
        for x in run.inputs.tensors:
            check_coefficients(owner, extras[0], x.type, factored)

    rule = "factor" if factored else "coefficients"
    return _operator(
        "second_order", fn, grad_position, checked, lambda: SummedDirections(rule), rule, extra=1
    )


@explains_keywords
def divergence(fn: Callable[..., Any], grad_position: int = 0) -> Callable[..., Any]:
    """Return a function for the divergence ``Σ_d ∂f_d/∂x_d`` of a vector field.

    Args:
        fn (Callable or Cell): vector field: it maps points of shape ``(..., D)`` to vectors of the same
            shape.
        grad_position (int, optional): positional argument that contains the points. Default: ``0``.

    Returns:
        Callable: function of the same arguments as ``fn``. It returns the divergence at each point, of shape
        ``(...)``.

    Raises:
        TypeError: If a differentiated input or an output of ``fn`` is not a real floating-point Tensor.
        ValueError: If the shape of an output of ``fn`` differs from the shape of the input, an output depends
            on several points, or ``grad_position`` is negative.
        IndexError: If ``grad_position`` is an index beyond the last argument in a call.

    >>> import mindgrad as ms
    >>> print(ms.divergence(lambda x: x * x)(ms.Tensor([[1.0, 2.0], [3.0, 4.0]])))
    [ 6. 14.]

    See Also:
        :func:`mindgrad.laplacian`, :func:`mindgrad.jacobian`
    """
    return _operator("divergence", fn, grad_position, check_field, lambda: divergence_rule, order=1)


def divergence_along(fn: Callable[..., Any], grad_position: int = 0) -> Callable[..., Any]:
    """Return a function for ``Σ_k v_k · (∂f/∂x v_k)``.

    For random directions ``v``, this sum is Hutchinson's estimate of the divergence.

    Args:
        fn (Callable or Cell): vector field, as for :func:`divergence`.
        grad_position (int, optional): positional argument that contains the points. Default: ``0``.

    Returns:
        Callable: function of the arguments of ``fn`` followed by the directions ``v``. It returns the sum
        over k at each point, of shape ``(...)``. ``v`` is a Tensor of shape ``(D, K)``, or of shape
        ``(..., D, K)`` for different directions at each point.

    >>> import mindgrad as ms
    >>> from mindgrad.api.laplacian import divergence_along
    >>> print(divergence_along(lambda x: x * x)(ms.Tensor([1.0, 2.0]), ms.Tensor([[1.0], [1.0]])))
    6.0
    """

    def checked(owner: str, run: Run, extras: Sequence[Tensor]) -> None:
        check_field(owner, run, extras)
        for x in run.inputs.tensors:
            check_coefficients(owner, extras[0], x.type, True)

    return _operator(
        "divergence_along", fn, grad_position, checked, lambda: divergence_rule, extra=1, order=1
    )


@explains_keywords
def directional_derivative(
    fn: Callable[..., Any], order: int = 1, grad_position: int = 0
) -> Callable[..., Any]:
    """Return a function for the derivative ``dⁿ/dsⁿ f(x + s v)`` at ``s = 0``.

    Orders above 1 are computed as one Taylor series, whose cost grows as n².

    Args:
        fn (Callable or Cell): function of points of shape ``(..., D)``, as for :func:`laplacian`.
        order (int, optional): the order n, at least 1. Default: ``1``.
        grad_position (int, optional): positional argument that contains the points. Default: ``0``.

    Returns:
        Callable: function of the arguments of ``fn`` followed by the direction ``v``. It returns one
        derivative for each point, as :func:`laplacian` does. ``v`` is a Tensor with the dtype of the input.
        Its shape is ``(D,)`` for the same direction at all points, or the shape of the input.

    Raises:
        TypeError: If a differentiated input or an output of ``fn`` is not a real floating-point Tensor, or
            ``order`` is not an int.
        ValueError: If ``order`` is less than 1, the shape of ``v`` or of an output does not match the input,
            an output depends on several points, or ``grad_position`` is negative.
        IndexError: If ``grad_position`` is an index beyond the last argument in a call.

    >>> import mindgrad as ms
    >>> f = lambda x: x[..., 0] ** 3 * x[..., 1]
    >>> x, v = ms.Tensor([2.0, 5.0]), ms.Tensor([1.0, 0.0])
    >>> print(*[ms.ops.directional_derivative(f, n)(x, v) for n in (1, 2, 3)])
    60.0 60.0 30.0

    See Also:
        :func:`mindgrad.jvp`, :func:`mindgrad.ops.taylor`, :func:`mindgrad.laplacian`
    """
    if isinstance(order, bool) or not isinstance(order, int):
        raise TypeError(
            f"For 'directional_derivative', the 'order' must be int, but got {type(order).__name__}."
        )
    if order < 1:
        raise ValueError(f"For 'directional_derivative', the 'order' must be at least 1, but got {order}.")

    def checked(owner: str, run: Run, extras: Sequence[Tensor]) -> None:
        check_point_values(owner, run, extras)
        for x in run.inputs.tensors:
            if extras[0].shape not in (x.shape[-1:], x.shape):
                raise ValueError(
                    f"For '{owner}', the direction must have shape {x.shape[-1:]} or {x.shape} for an "
                    f"input of shape {x.shape}, but got {extras[0].shape}."
                )

    form = f"of order {order}"
    return _operator(
        "directional_derivative", fn, grad_position, checked, lambda: AlongDirection(order), form, 1, order
    )


@explains_keywords
def biharmonic(fn: Callable[..., Any], grad_position: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """Return a function for the biharmonic operator ``Δ² f``.

    The operator is the Laplacian of the Laplacian, ``Δ² f = Σ_ij ∂⁴f/∂x_i² ∂x_j²``. The passes of both
    Laplacians are merged and share common computations.

    Args:
        fn (Callable or Cell): function of points of shape ``(..., D)``, as for :func:`laplacian`.
        grad_position (int or tuple of int, optional): positional argument(s) that contain the points.
            Default: ``0``.

    Returns:
        Callable: function of the same arguments as ``fn``. It returns one value for each point, as
        :func:`laplacian` does. For a tuple of positions, the result is a tuple.

    Raises:
        TypeError: If a differentiated input or an output of ``fn`` is not a real floating-point Tensor.
        ValueError: If the shape of an output does not match the input, an output depends on several points,
            or a position in ``grad_position`` is negative or repeated.
        IndexError: If ``grad_position`` contains an index beyond the last argument in a call.

    >>> import mindgrad as ms
    >>> print(ms.ops.biharmonic(lambda x: (x * x).sum(-1) ** 2)(ms.Tensor([1.0, 2.0])))
    64.0

    See Also:
        :func:`mindgrad.laplacian`, :func:`mindgrad.ops.second_order`
    """
    check_callable("biharmonic", fn)
    check_positions("biharmonic", grad_position, has_weights=False)
    if isinstance(grad_position, tuple):
        each = [biharmonic(fn, position) for position in grad_position]
        return remembered(fn, ("biharmonic", grad_position), lambda: _together(fn, each))
    # compute all directions of the inner Laplacian together. If a loop computed them in groups, the outer
    # Laplacian would have to differentiate this loop
    inner = _operator(
        "laplacian", fn, grad_position, check_point_values, lambda: SummedDirections("unit", True), "whole"
    )
    return _operator("biharmonic", inner, grad_position, check_point_values, lambda: SummedDirections("unit"))


def _together(fn: Callable[..., Any], each: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        return tuple([one(*args, **kwargs) for one in each])

    return differentiates(in_either_mode(fn, run), fn, order=4)


# -- one operator of one function ----------------------------------------------------------------------


def _operator(
    owner: str,
    fn: Callable[..., Any],
    grad_position: Any,
    check: Callable[[str, Run, Sequence[Tensor]], None],
    rule: Callable[[], Rule],
    form: str = "",
    extra: int = 0,
    order: int = 2,
) -> Callable[..., Any]:
    """Return the function that applies a differential operator to ``fn``.

    The returned function accepts the arguments of ``fn`` and ``extra`` more. It records a run of ``fn`` and
    applies ``rule()`` to the recording. ``order`` is the order of the operator.
    """
    check_callable(owner, fn)
    check_positions(owner, grad_position, has_weights=False)
    several = isinstance(grad_position, tuple)
    positions = grad_position if several else (grad_position,)

    def made() -> Callable[..., Any]:
        signature = arity(fn)
        transform: Callable[..., Any] = OnPoints(owner, rule())

        def run(*args: Any, **kwargs: Any) -> Any:
            if len(args) < extra:
                raise TypeError(f"For '{owner}', the last argument, a Tensor, is missing.")
            extra_args = args[len(args) - extra :]
            call = Call(owner, fn, signature, args[: len(args) - extra], kwargs, positions)
            check_arguments(owner, [call.args[k] for k in call.positions], extra_args)
            applied = Run(owner, fn, call.args, call.kwargs, call.positions)
            check(owner, applied, extra_args)
            outputs, derivatives = transformed(
                applied.recorded, transform, [references.read(t) for t in extra_args], applied.outputs
            )
            leaves, structure = flatten(applied.result(outputs))
            results = []
            for k in range(len(positions)):
                # a number among the outputs has the derivative 0, and the output None has the derivative None
                following = iter(derivatives[k * len(applied.outputs) : (k + 1) * len(applied.outputs)])
                filled = [
                    next(following) if isinstance(x, Tensor) else None if x is None else 0.0 for x in leaves
                ]
                results.append(unflatten(structure, filled))
            return tuple(results) if several else results[0]

        name_derivative(run, owner, fn, positions)
        return differentiates(in_either_mode(fn, run), fn, extra, order)

    return remembered(fn, (owner, grad_position, form), made)
