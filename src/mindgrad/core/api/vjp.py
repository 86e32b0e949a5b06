"""``vjp``, ``jvp``, and ``linearize``: products with the Jacobian of a function.

    vjp(f, x)(ct) = J_f(x)ᵀ ct        jvp(f, x, t) = J_f(x) t        linearize(f, x)(t) = J_f(x) t

The functions that ``vjp`` and ``linearize`` return can be called many times, whereas ``f`` runs only once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Never

from mindgrad.core.api.arguments import Run, check_call, check_sequences, like_tree, recorded_run
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.tensor import Tensor, number_like
from mindgrad.core.trace.numbers import as_python
from mindgrad.core.trace.record import transformed
from mindgrad.core.trace.replay import Replay
from mindgrad.core.transforms.forward import forward_rule
from mindgrad.core.transforms.reverse import reverse_rule

__all__ = ["jvp", "linearize", "vjp"]


def vjp(
    function: Callable[..., object], *primals: object, has_aux: bool = False, **unknown: Never
) -> tuple[Any, ...]:
    """Compute the output of ``function`` and its vector–Jacobian product.

    Args:
        function: function of floating-point Tensors, floats, NumPy arrays, or containers of them.
        *primals: the arguments of ``function``. All of them are differentiated.
        has_aux: whether ``function`` returns a pair ``(output, aux)``. Default: ``False``.

    Returns:
        tuple: ``(output, pullback)``, or ``(output, pullback, aux)`` with ``has_aux``. ``pullback`` is a
        function of a cotangent, which has the structure of the output. It returns a tuple with one cotangent
        for each argument.

    Raises:
        TypeError: If an argument has no derivative, or the structure or dtype of a cotangent differs from the
            output.
        ValueError: If the shape of a cotangent differs from the output.

    >>> from mindgrad.core import vjp
    >>> output, pullback = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> output, pullback(10.0)
    (6.0, (30.0, 20.0))
    """
    check_call(vjp, function, unknown)
    run = recorded_run("vjp", function, primals, {}, range(len(primals)), has_aux)
    replay = Replay(run.recorded, reverse_rule, run.outputs)
    output, aux = run.result(replay.outputs)
    like = _outputs(run)

    def pullback(cotangent: object) -> tuple[Any, ...]:
        return run.inputs.trees(replay(like_tree("vjp", "cotangent", cotangent, like)))

    return (output, pullback, aux) if has_aux else (output, pullback)


def jvp(
    function: Callable[..., object],
    primals: Sequence[object],
    tangents: Sequence[object],
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """Compute the output of ``function`` and its derivative along ``tangents``.

    Args:
        function: function of floating-point Tensors, floats, NumPy arrays, or containers of them.
        primals: tuple or list of the arguments of ``function``.
        tangents: tuple or list of directions, with the structures and types of the arguments.
        has_aux: whether ``function`` returns a pair ``(output, aux)``. Default: ``False``.

    Returns:
        tuple: ``(output, derivative)``, or ``(output, derivative, aux)`` with ``has_aux``. The derivative has
        the structure of the output.

    Raises:
        TypeError: If an argument has no derivative, or the structure or dtype of a tangent differs from its
            argument.
        ValueError: If the shape of a tangent differs from its argument.

    >>> from mindgrad.core import jvp
    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))
    (6.0, 23.0)
    """
    check_call(jvp, function)
    check_sequences("jvp", primals=primals, tangents=tangents)
    run = recorded_run("jvp", function, tuple(primals), {}, range(len(primals)), has_aux)
    vectors = like_tree("jvp", "tangents", tuple(tangents), run.inputs.values())
    outputs, pushed = transformed(run.recorded, forward_rule, vectors, run.outputs)
    output, aux = run.result(outputs)
    derivative = _like_output(run, pushed)
    return (output, derivative, aux) if has_aux else (output, derivative)


def linearize(
    function: Callable[..., object], *primals: object, has_aux: bool = False, **unknown: Never
) -> tuple[Any, ...]:
    """Compute the output of ``function`` and its linear approximation.

    Args:
        function: function of floating-point Tensors, floats, NumPy arrays, or containers of them.
        *primals: the arguments of ``function``. All of them are differentiated.
        has_aux: whether ``function`` returns a pair ``(output, aux)``. Default: ``False``.

    Returns:
        tuple: ``(output, pushforward)``, or ``(output, pushforward, aux)`` with ``has_aux``. ``pushforward``
        is a function of one tangent for each argument. It returns the derivative of the output along these
        tangents.

    Raises:
        TypeError: If an argument has no derivative, or the structure or dtype of a tangent differs from its
            argument.
        ValueError: If the shape of a tangent differs from its argument.

    >>> from mindgrad.core import linearize
    >>> output, pushforward = linearize(lambda x, y: x * y, 2.0, 3.0)
    >>> pushforward(1.0, 10.0)
    23.0
    """
    check_call(linearize, function, unknown)
    run = recorded_run("linearize", function, primals, {}, range(len(primals)), has_aux)
    replay = Replay(run.recorded, forward_rule, run.outputs)
    output, aux = run.result(replay.outputs)
    like = run.inputs.values()

    def pushforward(*tangents: object) -> Any:
        return _like_output(run, replay(like_tree("linearize", "tangents", tangents, like)))

    return (output, pushforward, aux) if has_aux else (output, pushforward)


def _outputs(run: Run) -> Any:
    """Return the output of the recorded function; its tensors belong to the recording."""
    return run.recorded.result(run.recorded.outputs)[0]


def _like_output(run: Run, tensors: Sequence[Tensor]) -> Any:
    """Return ``tensors`` in the containers of the output of ``run``."""
    leaves, structure = flatten(_outputs(run))
    following = iter(tensors)
    filled = [x if x is None else number_like(next(following), x) for x in leaves]
    return as_python(unflatten(structure, filled))
