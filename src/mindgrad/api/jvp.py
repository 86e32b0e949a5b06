"""``jvp`` and ``linearize``: forward mode along given tangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad._base.tree import flatten, unflatten
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
from mindgrad.execution.array_arguments import with_tensors
from mindgrad.execution.pullback import push
from mindgrad.ir.mutable import is_mutable
from mindgrad.ir.tensor import Number, Tensor, make_number
from mindgrad.trace.numbers import as_python

__all__ = ["jvp", "jvp_of", "like", "linearize"]

#: tangents of at most this many elements are looked at, to see whether they are zero
_FEW = 64


@explains_keywords
def jvp(fn: Callable[..., Any], inputs: Any, v: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The Jacobian–vector product ``J v`` of ``fn``: its derivative along ``v``, in forward mode.

    Args:
        fn: a Cell or a function.
        inputs: the input, or a tuple or list of several: each a Tensor, or a container of Tensors and
            floats.
        v: like ``inputs``: a Tensor of the same shape and dtype, or a tuple or list of them.
        has_aux: whether only the first of several outputs is differentiated.

    Returns:
        ``(out, derivative)``, the derivative with the structure of ``out``. With ``has_aux``
        ``(first output, derivative, further outputs)``; a single further output is bare.

    Raises:
        TypeError: ``inputs`` or ``v`` is no Tensor, tuple or list of Tensors; one is a Tensor and the
            other is not; a dtype differs; the number of inputs is not what ``fn`` takes.
        ValueError: a shape or a length differs; ``has_aux`` is set but there is one output.

    >>> import mindgrad as ms
    >>> x, v = ms.Tensor([2.0, 3.0]), ms.Tensor([1.0, 10.0])
    >>> out, derivative = ms.jvp(lambda x: x * x, x, v)
    >>> print(out, derivative)
    [4. 9.] [ 4. 60.]
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
    """Inputs and tangents, one tangent per input."""
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
    """Differentiable leaves of each argument: Tensors, numbers and containers of these."""
    inputs = Inputs(owner, fn, args, range(len(args)))
    return inputs.gradients(inputs.like())


def jvp_of(owner: str, fn: Callable[..., Any], args: tuple[Any, ...], v: Any) -> tuple[Any, ...]:
    """``(out, derivative)`` along ``v``, which is bare for one argument and a tuple for several."""
    inputs, tangents = _checked(owner, fn, args[0] if len(args) == 1 else args, v)
    return as_python(_along(owner, fn, inputs, tangents))


def _along(
    owner: str, fn: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """``(out, derivative)`` along one tangent per argument, checked before."""
    check_count(fn, arity(fn), len(args))
    run = Run(owner, fn, args, {}, range(len(args)), (), has_aux)
    like = run.inputs.gradients(run.inputs.like())
    given = [None if _is_zero(t) else t for t in match(owner, "v", tangents, like, "inputs")]
    outputs, pushed = push(run.recorded, given, run.outputs)
    return _result(run.result(outputs), pushed, has_aux)


def _is_zero(tangent: Tensor) -> bool:
    """Whether ``tangent`` is known to be zero at a glance, so that nothing has to be pushed along it."""
    array = tangent._array
    if tangent.is_traced or tangent.is_parameter or not isinstance(array, np.ndarray) or not array.size:
        return False
    if not any(array.strides):  # one element that is seen everywhere: ops.zeros
        return not array.flat[0]
    return array.size <= _FEW and not array.any()


def _result(out: Any, pushed: Sequence[Tensor], has_aux: bool) -> tuple[Any, ...]:
    differentiated = out[0] if has_aux else out
    derivative = like(differentiated, pushed)
    if not has_aux:
        return out, derivative
    return differentiated, derivative, further(out)


def like(out: Any, tensors: Sequence[Tensor]) -> Any:
    """``tensors`` in the structure of ``out``; what is no tensor in it has derivative zero."""
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
    """The result of ``fn`` and its derivative at ``inputs`` as a linear function of the tangents.

    ``fn`` runs once; the function that is given back may be called any number of times.

    Args:
        fn: a Cell or a function.
        inputs: a Tensor, or a tuple or list of them.

    Returns:
        ``(out, jvp_fn)``; ``jvp_fn(v)``, for several inputs ``jvp_fn(v1, v2)`` or
        ``jvp_fn((v1, v2))``, gives the derivative along ``v`` with the structure of ``out``.

    Raises:
        TypeError, ValueError: as :func:`jvp`.

    >>> import mindgrad as ms
    >>> out, jvp_fn = ms.linearize(lambda x: x * x, ms.Tensor([2.0, 3.0]))
    >>> print(out, jvp_fn(ms.Tensor([1.0, 10.0])), jvp_fn(ms.Tensor([1.0, 0.0])))
    [4. 9.] [ 4. 60.] [4. 0.]
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
        """The derivative along the tangents ``v`` of the inputs: what :func:`linearize` gave."""
        tangents = v[0] if len(v) == 1 and isinstance(v[0], (tuple, list)) and not is_mutable(v[0]) else v
        return as_python(like(out, pushed(match("linearize", "v", tangents, templates, "inputs"))))

    return as_python(out), jvp_fn
