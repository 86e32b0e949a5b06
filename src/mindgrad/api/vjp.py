"""``vjp``: reverse mode with a given cotangent, in the forms of both generations of MindSpore."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.api.arguments import (
    Weights,
    check_callable,
    check_count,
    check_flag,
    check_tensors,
    explains_keywords,
    is_input,
)
from mindgrad.api.callables import arity, describe, in_either_mode, remembered
from mindgrad.api.linearized import linearized
from mindgrad.api.matching import match
from mindgrad.api.vjp_call import Run, derive, further
from mindgrad.execution.array_arguments import with_tensors
from mindgrad.ir.mutable import is_mutable
from mindgrad.trace.numbers import as_python

__all__ = ["vjp", "vjp_at_once"]

_MISSING: Any = object()


@explains_keywords
def vjp(
    fn: Callable[..., Any],
    *args: Any,
    inputs: Any = _MISSING,
    v: Any = _MISSING,
    has_aux: Any = _MISSING,
    weights: Any = None,
) -> Any:
    """The vector–Jacobian product ``vᵀ J`` of ``fn``, in either of MindSpore's forms.

    - ``vjp(fn, inputs, v)`` (r1.6) gives ``(out, gradients)`` at once. ``inputs`` is a Tensor or a
      tuple of them, ``v`` is like the output: a Tensor, or a tuple for several outputs. The gradients
      are bare for one input, a tuple for several.
    - ``vjp(fn, *inputs, has_aux=False, weights=None)`` (2.x) gives ``(out, vjp_fn)``, with ``has_aux``
      ``(out, vjp_fn, aux)``: the first output is differentiated, a single further output is given
      bare, several as a tuple. ``vjp_fn(v)``, for several outputs ``vjp_fn(v1, v2)`` or
      ``vjp_fn((v1, v2))``, gives the tuple of gradients of the inputs, with ``weights``
      ``(gradients of the inputs, gradients of the weights)``, and may be called any number of times.

    **Which form a call has** follows from how it is written, in this order:

    1. ``v=`` or ``inputs=``: the r1.6 form. ``has_aux=`` or ``weights=``: the 2.x form.
    2. One argument after ``fn``, or more than two: the 2.x form.
    3. Two arguments of which one is a tuple or list: the r1.6 form (inputs of the 2.x form are
       Tensors, dicts and dataclasses of these, or containers made by ``mutable``).
    4. Two Tensors: what ``fn`` takes decides. A function of one argument has the r1.6 form
       ``vjp(fn, x, v)``, a function of two the 2.x form ``vjp(fn, x, y)``. For a Cell ``construct``
       counts; default values count as arguments that it may take.
    5. If ``fn`` takes either number (``*args``, a default value) the call is an error that asks for
       one of the spellings ``vjp(fn, x, v=v)`` and ``vjp(fn, x, y, has_aux=False)``.

    Args:
        fn: a Cell or a function.
        *args: see above.
        inputs: the inputs, by keyword.
        v: the cotangent of the output, by keyword.
        has_aux: whether only the first of several outputs is differentiated.
        weights: a ParameterTuple, tuple or list of Parameters, or one Parameter.

    Raises:
        TypeError: the form cannot be known; an input is no Tensor; ``v`` has another structure or dtype
            than the output; the number of inputs is not what ``fn`` takes.
        ValueError: ``v`` has another shape or length than the output.

    >>> import mindgrad as ms
    >>> x, y, v = ms.Tensor([2.0]), ms.Tensor([5.0]), ms.Tensor([10.0])
    >>> out, gradients = ms.vjp(lambda x, y: x * y, (x, y), v)  # r1.6
    >>> print(out, *gradients)
    [10.] [50.] [20.]
    >>> out, vjp_fn = ms.vjp(lambda x, y: x * y, x, y)  # 2.x
    >>> print(out, *vjp_fn(v))
    [10.] [50.] [20.]
    """
    check_callable("vjp", fn)
    args, inputs, v = tuple(map(with_tensors, args)), with_tensors(inputs), with_tensors(v)
    if v is not _MISSING or inputs is not _MISSING:
        if has_aux is not _MISSING or weights is not None:
            raise TypeError(
                "For 'vjp', 'v' and 'inputs' belong to the form vjp(fn, inputs, v), 'has_aux' and "
                "'weights' to the form vjp(fn, *inputs, has_aux=False, weights=None): use one of them."
            )
        remaining = list(args)
        if inputs is _MISSING and remaining:
            inputs = remaining.pop(0)
        if v is _MISSING and remaining:
            v = remaining.pop(0)
        if remaining or v is _MISSING or inputs is _MISSING:
            raise TypeError(
                "For 'vjp', the form vjp(fn, inputs, v) takes exactly these arguments; put several "
                "inputs in a tuple: vjp(fn, (x, y), v=v)."
            )
        return _at_once(fn, inputs, v)
    if has_aux is _MISSING and weights is None and len(args) == 2 and _is_at_once(fn, *args):
        return _at_once(fn, *args)
    flag = False if has_aux is _MISSING else has_aux
    check_flag("vjp", "has_aux", flag)
    if not args:
        raise TypeError("For 'vjp', the inputs are missing: vjp(fn, x) or vjp(fn, x, v=v).")
    return _with_function(fn, args, flag, None if weights is None else Weights("vjp", weights))


def _is_at_once(fn: Callable[..., Any], first: Any, second: Any) -> bool:
    """Whether ``vjp(fn, first, second)`` has the form of r1.6."""
    if any(isinstance(x, (tuple, list)) and not is_mutable(x) for x in (first, second)):
        return True
    signature = arity(fn, follow=True)
    takes_one, takes_two = signature.accepts(1), signature.accepts(2)
    if takes_one != takes_two:
        return takes_one
    if not takes_one:
        check_count(fn, signature, 2)
    raise TypeError(
        f"For 'vjp', the call vjp(fn, a, b) can mean one input and 'v', or two inputs, and "
        f"{describe(fn)} takes one argument as well as two. Write vjp(fn, a, v=b) for one input and a "
        f"cotangent, or vjp(fn, a, b, has_aux=False) for two inputs."
    )


# -- r1.6: vjp(fn, inputs, v) --------------------------------------------------------------------


def _at_once(fn: Callable[..., Any], inputs: Any, v: Any) -> Any:
    if not is_input(inputs):
        raise TypeError(
            f"For 'vjp', The inputs type should be a Tensor, tuple or list of Tensor, but got "
            f"{type(inputs).__name__}."
        )
    several = isinstance(inputs, (tuple, list)) and not is_mutable(inputs)
    if several:
        check_tensors("For 'vjp', The inputs type should be a Tensor, tuple or list of Tensor", inputs)
    run = remembered(fn, "vjp at once", lambda: _made_at_once(fn))
    return run(*inputs, v) if several else run(inputs, v)


def _made_at_once(fn: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        return vjp_at_once("vjp", fn, args[:-1], args[-1])

    return in_either_mode(fn, run, None)


def vjp_at_once(owner: str, fn: Callable[..., Any], args: Sequence[Any], v: Any) -> tuple[Any, Any]:
    """``(out, gradients)``, the gradients bare for one input."""
    check_tensors(f"For '{owner}', The inputs type should be a Tensor, tuple or list of Tensor", args)
    check_count(fn, arity(fn), len(args))
    run = Run(owner, fn, args, {}, range(len(args)))
    out, cotangents, _ = derive(run, (v,), sens_name="v")
    inputs = run.inputs
    gradients = inputs.gradients(cotangents)
    result = out, gradients[0] if len(gradients) == 1 else tuple(gradients)
    return as_python(result) if any(inputs.numbers) else result


# -- 2.x: vjp(fn, *inputs) -----------------------------------------------------------------------


def _with_function(
    fn: Callable[..., Any], args: Sequence[Any], has_aux: bool, weights: Weights | None
) -> tuple[Any, ...]:
    check_tensors("For 'vjp', The inputs type must be Tensor", args)
    check_count(fn, arity(fn), len(args))
    out, inputs, pulled = linearized(
        "vjp",
        fn,
        args,
        backwards=True,
        parameters=() if weights is None else weights.unique,
        has_aux=has_aux,
        key=(has_aux, None if weights is None else weights.key),
    )
    like = out[0] if has_aux else out
    count = len(inputs.tensors)

    def vjp_fn(*v: Any) -> Any:
        """The gradients of the inputs for the cotangent ``v`` of the output: what :func:`vjp` gave."""
        found = pulled(match("vjp", "v", _cotangent(v, like), like, "output"))
        gradients = as_python(tuple(inputs.gradients(inputs.like(found[:count]))))
        return gradients if weights is None else (gradients, weights.arranged(found[count:]))

    result = as_python(out)
    if not has_aux:
        return result, vjp_fn
    return result[0], vjp_fn, further(result)


def _cotangent(v: tuple[Any, ...], like: Any) -> Any:
    """The cotangent that ``vjp_fn(*v)`` was called with, in the structure of the output."""
    if isinstance(like, (tuple, list)) and not (len(v) == 1 and isinstance(v[0], (tuple, list))):
        return v
    if len(v) != 1:
        raise TypeError(f"For 'vjp', the vjp_fn takes one 'v', like the output, but got {len(v)}.")
    return v[0]
