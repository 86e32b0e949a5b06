"""``jvp`` and ``linearize``: forward mode along given tangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.api.arguments import (
    check_callable,
    check_count,
    check_flag,
    check_tensors,
    explains_keywords,
    is_input,
)
from mindgrad.api.callables import arity, in_either_mode, remembered
from mindgrad.api.linearized import linearized
from mindgrad.api.matching import match
from mindgrad.api.vjp_call import Inputs, Run, further
from mindgrad.core.api.pullback import push
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.mutable import is_mutable
from mindgrad.core.ir.tensor import Number, Tensor, make_number
from mindgrad.core.trace.numbers import as_python
from mindgrad.frontend.programs.array_arguments import with_tensors

__all__ = ["jvp", "jvp_of", "like", "linearize"]

#: Every call checks whether a tangent with at most this many elements is zero, and if so, skips the forward
#: pass for this tangent. The check of a larger tangent would take too long.
_FEW = 64


@explains_keywords
def jvp(fn: Callable[..., Any], inputs: Any, v: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Compute the Jacobian–vector product ``J v`` of ``fn`` in forward mode.

    The product is the derivative of ``fn`` at ``inputs`` along the direction ``v``.

    Args:
        fn (Callable or Cell): function to differentiate.
        inputs (Tensor, or tuple or list of inputs): the arguments of ``fn``. Each is a Tensor, or a container
            of Tensors and floats.
        v (Tensor, or tuple or list of Tensor): the direction, with the structure, shapes, and dtypes of
            ``inputs``.
        has_aux (bool, optional): whether to differentiate only the first output of ``fn`` and return its
            other outputs unchanged as ``aux``. Default: ``False``.

    Returns:
        tuple: ``(out, derivative)``: the result of ``fn``, and its derivative along ``v`` with the structure,
        shapes, and dtypes of ``out``. With ``has_aux``, ``(first output, derivative, aux)``. ``aux`` is the
        second output, or a tuple if there are several further outputs.

    Raises:
        TypeError: If ``inputs`` or ``v`` is neither a Tensor nor a tuple or list of Tensors, or only one of
            them is a Tensor. Also if the dtypes of ``inputs`` and ``v`` differ, or ``fn`` does not accept
            this number of inputs.
        ValueError: If the shapes or lengths of ``inputs`` and ``v`` differ, or ``has_aux`` is set and ``fn``
            has only one output.

    >>> import mindgrad as ms
    >>> x, v = ms.Tensor([2.0, 3.0]), ms.Tensor([1.0, 10.0])
    >>> out, derivative = ms.jvp(lambda x: x * x, x, v)
    >>> print(out, derivative)
    [4. 9.] [ 4. 60.]

    See Also:
        :func:`mindgrad.linearize`, :func:`mindgrad.vjp`, :func:`mindgrad.jacfwd`, :func:`mindgrad.hvp`
    """
    check_callable("jvp", fn)
    check_flag("jvp", "has_aux", has_aux)
    args, tangents = _checked("jvp", fn, with_tensors(inputs), with_tensors(v))
    run = remembered(fn, ("jvp", has_aux), lambda: _made_at_once(fn, has_aux))
    return run(*args, *tangents)


def _made_at_once(fn: Callable[..., Any], has_aux: bool) -> Callable[..., Any]:
    def run(*given: Any) -> Any:
        half = len(given) // 2
        return _along("jvp", fn, given[:half], given[half:], has_aux)

    return in_either_mode(fn, run, None)


def _checked(owner: str, fn: Callable[..., Any], inputs: Any, v: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    """Check ``inputs`` and ``v``; return two sequences, the inputs and their tangents."""
    text = f"For '{owner}', The inputs type should be a Tensor, tuple or list of Tensor"
    for given in (inputs, v):
        if not is_input(given):
            raise TypeError(f"{text}, but got {type(given).__name__}.")
    if isinstance(inputs, (tuple, list)) and not is_mutable(inputs):
        check_tensors(text, inputs)
        check_count(fn, arity(fn), len(inputs), container=type(inputs).__name__)
        if len(inputs) == 1 and isinstance(v, Tensor):
            v = (v,)
        match(owner, "v", v, _differentiated(owner, fn, inputs), "inputs")
        return inputs, v
    match(owner, "v", v, _differentiated(owner, fn, (inputs,))[0], "input")
    return (inputs,), (v,)


def _differentiated(owner: str, fn: Callable[..., Any], args: Sequence[Any]) -> list[Any]:
    """Check the arguments, and return them with plain instead of mutable containers."""
    inputs = Inputs(owner, fn, args, range(len(args)))
    return inputs.gradients(inputs.like())


def jvp_of(owner: str, fn: Callable[..., Any], args: tuple[Any, ...], v: Any) -> tuple[Any, ...]:
    """Return ``(out, derivative)``; ``v`` is one tangent, or a tuple for several."""
    inputs, tangents = _checked(owner, fn, args[0] if len(args) == 1 else args, v)
    return as_python(_along(owner, fn, inputs, tangents))


def _along(
    owner: str, fn: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """Return ``(out, derivative)`` along checked tangents, one for each argument."""
    check_count(fn, arity(fn), len(args))
    run = Run(owner, fn, args, {}, range(len(args)), (), has_aux)
    like = run.inputs.gradients(run.inputs.like())
    given = [None if _is_zero(t) else t for t in match(owner, "v", tangents, like, "inputs")]
    outputs, pushed = push(run.recorded, given, run.outputs)
    return _result(run.result(outputs), pushed, has_aux)


def _is_zero(tangent: Tensor) -> bool:
    """Return whether ``tangent`` is known to be zero.

    Large tangents are not compared with zero, so the result may be ``False`` for a zero tangent.
    """
    array = tangent._array
    if tangent.is_traced or tangent.is_parameter or not isinstance(array, np.ndarray) or not array.size:
        return False
    if not any(array.strides):  # all elements share one memory location, as in ops.zeros
        return not array.flat[0]
    return array.size <= _FEW and not array.any()


def _result(out: Any, pushed: Sequence[Tensor], has_aux: bool) -> tuple[Any, ...]:
    differentiated = out[0] if has_aux else out
    derivative = like(differentiated, pushed)
    if not has_aux:
        return out, derivative
    return differentiated, derivative, further(out)


def like(out: Any, tensors: Sequence[Tensor]) -> Any:
    """Arrange ``tensors`` in the structure of ``out``, with zero for its numbers."""
    leaves, structure = flatten(out)
    following = iter(tensors)
    return unflatten(
        structure,
        [
            _of_kind(x, next(following)) if isinstance(x, Tensor) else None if x is None else 0.0
            for x in leaves
        ],
    )


def _of_kind(x: Tensor, tangent: Tensor) -> Tensor:
    return make_number(tangent) if type(x) is Number else tangent


@explains_keywords
def linearize(fn: Callable[..., Any], inputs: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the result of ``fn`` and its derivative as a linear function.

    ``fn`` runs once. The linear function can be called several times.

    Args:
        fn (Callable or Cell): function to differentiate.
        inputs (Tensor, or tuple or list of Tensor): the arguments of ``fn``.

    Returns:
        tuple: ``(out, jvp_fn)``: the result of ``fn``, and its derivative as a linear function.
        ``jvp_fn(v)``, or ``jvp_fn(v1, v2)`` for several inputs, returns the derivative along ``v``, with the
        structure of ``out``.

    Raises:
        TypeError: If ``inputs`` or a direction is neither a Tensor nor a tuple or list of Tensors, or the
            dtype of a direction differs from its input.
        ValueError: If the shapes or the number of directions differ from the inputs.

    >>> import mindgrad as ms
    >>> out, jvp_fn = ms.linearize(lambda x: x * x, ms.Tensor([2.0, 3.0]))
    >>> print(out, jvp_fn(ms.Tensor([1.0, 10.0])), jvp_fn(ms.Tensor([1.0, 0.0])))
    [4. 9.] [ 4. 60.] [4. 0.]

    See Also:
        :func:`mindgrad.jvp`, :func:`mindgrad.vjp`
    """
    check_callable("linearize", fn)
    text = "For 'linearize', The inputs type should be a Tensor, tuple or list of Tensor"
    inputs = with_tensors(inputs)
    several = isinstance(inputs, (tuple, list)) and not is_mutable(inputs)
    args = tuple(inputs) if several else (inputs,)
    check_tensors(text, args)
    check_count(fn, arity(fn), len(args), container=type(inputs).__name__ if several else "")
    out, inputs_of, pushed = linearized("linearize", fn, args, backwards=False)
    templates = inputs_of.gradients(inputs_of.like())

    def jvp_fn(*v: Any) -> Any:
        """Return the derivative along the tangents ``v`` of the inputs."""
        tangents = v[0] if len(v) == 1 and isinstance(v[0], (tuple, list)) and not is_mutable(v[0]) else v
        return as_python(like(out, pushed(match("linearize", "v", tangents, templates, "inputs"))))

    return as_python(out), jvp_fn
