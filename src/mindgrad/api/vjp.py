"""``vjp``: reverse mode with a given cotangent, in MindSpore's two forms."""

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
from mindgrad.core.ir.mutable import is_mutable
from mindgrad.core.trace.numbers import as_python
from mindgrad.frontend.programs.array_arguments import with_tensors

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
    """Compute the vector–Jacobian product ``vᵀ J`` of ``fn`` in reverse mode.

    The function has two forms, as in MindSpore:

    - ``vjp(fn, *inputs, has_aux=False, weights=None)`` (MindSpore 2.x) returns ``(out, vjp_fn)``.
    - ``vjp(fn, inputs, v)`` (MindSpore 1.6) returns ``(out, gradients)``.

    The keywords ``has_aux`` and ``weights`` select the first form, ``inputs`` and ``v`` the second. Without
    these keywords, the arguments select the form:

    1. One argument after ``fn``, or more than two: the 2.x form.
    2. Two arguments, one of them a tuple or list: the 1.6 form. Inputs of the 2.x form are Tensors, dicts,
       dataclasses, or containers made by :func:`mutable`.
    3. Two Tensors: the 1.6 form if ``fn`` takes one argument, the 2.x form if it takes two. Arguments with
       defaults count.
    4. If ``fn`` can take one or two arguments, ``TypeError`` asks for one of the spellings
       ``vjp(fn, x, v=v)`` and ``vjp(fn, x, y, has_aux=False)``.

    Args:
        fn (Callable or Cell): function to differentiate.
        *args (Tensor, or container of Tensors): the inputs of ``fn``, or ``inputs`` and ``v``.
        inputs (Tensor, tuple, or list, optional): the inputs of ``fn``, for the 1.6 form.
        v (Tensor or tuple of Tensor, optional): cotangent with the structure, shapes, and dtypes of the
            output, for the 1.6 form.
        has_aux (bool, optional): whether to differentiate only the first output of ``fn`` and return its
            other outputs unchanged as ``aux``. Default: ``False``.
        weights (ParameterTuple, list, tuple, or Parameter, optional): parameters to differentiate with
            respect to, in addition to the inputs. Default: ``None``.

    Returns:
        The contents of the returned tuple depend on the form:

        ========================  ===============================================================
        form                      returned
        ========================  ===============================================================
        2.x                       ``(out, vjp_fn)``
        2.x with ``has_aux``      ``(first output, vjp_fn, aux)``; several further outputs are a tuple
        1.6                       ``(out, gradients)``; one gradient for one input, else a tuple
        ========================  ===============================================================

        ``vjp_fn(v)``, or ``vjp_fn(v1, v2)`` for several outputs, returns the tuple of gradients of the
        inputs. With ``weights`` it returns ``(gradients of inputs, gradients of weights)``. It can be called
        several times.

    Raises:
        TypeError: If the form of the call is ambiguous, an input is not a Tensor, the structure or dtype of
            ``v`` differs from the output of ``fn``, or ``fn`` does not accept this number of inputs.
        ValueError: If the shape or length of ``v`` differs from the output of ``fn``.

    >>> import mindgrad as ms
    >>> x, y, v = ms.Tensor([2.0]), ms.Tensor([5.0]), ms.Tensor([10.0])
    >>> out, vjp_fn = ms.vjp(lambda x, y: x * y, x, y)  # 2.x
    >>> print(out, *vjp_fn(v))
    [10.] [50.] [20.]
    >>> out, gradients = ms.vjp(lambda x, y: x * y, (x, y), v)  # 1.6
    >>> print(out, *gradients)
    [10.] [50.] [20.]

    See Also:
        :func:`mindgrad.jvp`, :func:`mindgrad.grad`, :func:`mindgrad.jacrev`, :func:`mindgrad.vhp`
    """
    check_callable("vjp", fn)
    args, inputs, v = tuple(map(with_tensors, args)), with_tensors(inputs), with_tensors(v)
    if v is not _MISSING or inputs is not _MISSING:
        if has_aux is not _MISSING or weights is not None:
            raise TypeError(
                "For 'vjp', 'v' and 'inputs' belong to the form vjp(fn, inputs, v), 'has_aux' and "
                "'weights' to the form vjp(fn, *inputs, has_aux=False, weights=None): use only one of "
                "these forms."
            )
        remaining = list(args)
        if inputs is _MISSING and remaining:
            inputs = remaining.pop(0)
        if v is _MISSING and remaining:
            v = remaining.pop(0)
        if remaining or v is _MISSING or inputs is _MISSING:
            raise TypeError(
                "For 'vjp', the form vjp(fn, inputs, v) takes exactly these arguments. Put several inputs "
                "into a tuple: vjp(fn, (x, y), v=v)."
            )
        return _at_once(fn, inputs, v)
    if has_aux is _MISSING and weights is None and len(args) == 2 and _is_at_once(fn, *args):
        return _at_once(fn, *args)
    flag = False if has_aux is _MISSING else has_aux
    check_flag("vjp", "has_aux", flag)
    if not args:
        raise TypeError("For 'vjp', the inputs are missing. Write vjp(fn, x) or vjp(fn, x, v=v).")
    return _with_function(fn, args, flag, None if weights is None else Weights("vjp", weights))


def _is_at_once(fn: Callable[..., Any], first: Any, second: Any) -> bool:
    """Return whether ``vjp(fn, first, second)`` has the form of MindSpore 1.6."""
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


# -- MindSpore 1.6: vjp(fn, inputs, v) --------------------------------------------------------------------


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
    """Return ``(out, gradients)``: a gradient for one input, or a tuple for several."""
    check_tensors(f"For '{owner}', The inputs type should be a Tensor, tuple or list of Tensor", args)
    check_count(fn, arity(fn), len(args))
    run = Run(owner, fn, args, {}, range(len(args)))
    out, cotangents, _ = derive(run, (v,), sens_name="v")
    inputs = run.inputs
    gradients = inputs.gradients(cotangents)
    result = out, gradients[0] if len(gradients) == 1 else tuple(gradients)
    return as_python(result) if any(inputs.numbers) else result


# -- MindSpore 2.x: vjp(fn, *inputs) -----------------------------------------------------------------------


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
        """Return the gradients of the inputs for the cotangent ``v`` of the output."""
        found = pulled(match("vjp", "v", _cotangent(v, like), like, "output"))
        gradients = as_python(tuple(inputs.gradients(inputs.like(found[:count]))))
        return gradients if weights is None else (gradients, weights.arranged(found[count:]))

    result = as_python(out)
    if not has_aux:
        return result, vjp_fn
    return result[0], vjp_fn, further(result)


def _cotangent(v: tuple[Any, ...], like: Any) -> Any:
    """Return the cotangent ``v`` of ``vjp_fn(*v)`` in the structure of the output."""
    if isinstance(like, (tuple, list)) and not (len(v) == 1 and isinstance(v[0], (tuple, list))):
        return v
    if len(v) != 1:
        raise TypeError(
            f"For 'vjp', vjp_fn takes one cotangent 'v', because the function has one output, but got "
            f"{len(v)}."
        )
    return v[0]
