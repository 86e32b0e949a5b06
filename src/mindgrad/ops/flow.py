"""Gradient flow and order are set by stop_gradient, identity, depend, and assignment to Parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad._base.tree import map_leaves
from mindgrad.ir.scope import apply, current_deferral
from mindgrad.ir.tensor import Tensor, make_tensor
from mindgrad.ops import arithmetic
from mindgrad.ops.operands import cast, is_selection, operand
from mindgrad.ops.registry import public
from mindgrad.rows.structural import stop_gradient as row
from mindgrad.trace import aliases, state

__all__ = ["assign", "assign_add", "assign_sub", "constexpr", "depend", "identity", "stop_gradient"]


@public("StopGradient")
def stop_gradient(value: Any) -> Any:
    """``value`` as a constant for every derivative: no gradient flows through it.

    Args:
        value: a tensor; a number or ``None``, which is returned as it is; or a tuple, list or dict of
            them, whose tensors are all taken as constants.

    Returns:
        The same value in the same structure.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.grad(lambda x: x * ops.stop_gradient(x))(Tensor([3.0])))
    [3.]
    """
    return map_leaves(_stopped, value)


def _stopped(leaf: Any) -> Any:
    if is_selection(leaf):
        return leaf.mapped(_stopped)
    if not isinstance(leaf, Tensor):
        return leaf
    x = operand(leaf, "StopGradient")
    if x._array is not None:  # eager: the value alone, which nothing differentiates
        deferral = current_deferral()
        return make_tensor(x._array, x.type) if deferral is None else deferral.detached(x)
    return apply(row, x)


@public("Identity")
def identity(x: Any) -> Any:
    """``x`` as it is.

    Args:
        x: a tensor, or anything else.

    Returns:
        The same; a Parameter's current value.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.identity(Tensor([3.0])))
    [3.]
    """
    return state.read(x) if isinstance(x, Tensor) else x


@public("Depend")
def depend(value: Any, expr: Any) -> Any:
    """``value``, once ``expr`` has been computed.

    Python evaluates the arguments before the call, and assignments to Parameters keep their order, so
    there is nothing more to do; MindSpore programs call it to put effects in order.

    Args:
        value: what is returned.
        expr: the result of what comes first.

    Returns:
        ``value``.

    >>> from mindgrad import Parameter, Tensor, ops
    >>> w = Parameter(Tensor([1.0]), name="w")
    >>> print(ops.depend(Tensor([3.0]), ops.assign(w, Tensor([2.0]))), w.value())
    [3.] [2.]
    """
    return value


def constexpr(
    fn: Callable[..., Any] | None = None,
    get_instance: bool = True,
    name: str | None = None,
    reuse_result: bool = True,
    check: bool = True,
) -> Any:
    """Marks a Python function of constants that runs while a program is compiled.

    Here every Python function does: it is returned as it is. The arguments are MindSpore's.

    Args:
        fn: the function; without it a decorator is returned.
        get_instance, name, reuse_result, check: accepted for compatibility.

    >>> from mindgrad import ops
    >>> @ops.constexpr
    ... def doubled(shape):
    ...     return tuple(2 * n for n in shape)
    >>> doubled((1, 2))
    (2, 4)
    """
    return constexpr if fn is None else fn


# --- assignment --------------------------------------------------------------------------------------


@public("Assign")
def assign(variable: Any, value: Any) -> Tensor:
    """Let a Parameter or Tensor be ``value`` from here on; derivatives flow through the assigned value.

    Inside a compiled or differentiated program the stored value changes when the program ends.

    Args:
        variable: the Parameter, or a Tensor, which stands for the value as after ``variable[...] = value``.
        value: a tensor of its shape, or a number for one of one element; it is converted to the element type
            of ``variable``.

    Returns:
        The new value.

    Raises:
        TypeError: ``variable`` is no Tensor, or ``value`` neither a tensor nor a number.
        ValueError: the shapes differ.

    >>> from mindgrad import Parameter, Tensor, ops
    >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
    >>> print(ops.assign(w, Tensor([3.0, 4.0])), w.value())
    [3. 4.] [3. 4.]
    """
    return _assigned("Assign", variable, value)


@public("AssignAdd(use_locking: unused=False)(variable, value)")
def assign_add(variable: Any, value: Any) -> Tensor:
    """Add ``value`` to a Parameter or Tensor; otherwise as :func:`assign`.

    >>> from mindgrad import Parameter, Tensor, ops
    >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
    >>> print(ops.assign_add(w, Tensor([3.0, 4.0])), w.value())
    [4. 6.] [4. 6.]
    """
    return _assigned("AssignAdd", variable, arithmetic.add(_value("AssignAdd", variable), value))


@public("AssignSub(use_locking: unused=False)(variable, value)")
def assign_sub(variable: Any, value: Any) -> Tensor:
    """Subtract ``value`` from a Parameter or Tensor; otherwise as :func:`assign`.

    >>> from mindgrad import Parameter, Tensor, ops
    >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
    >>> print(ops.assign_sub(w, Tensor([3.0, 4.0])), w.value())
    [-2. -2.] [-2. -2.]
    """
    return _assigned("AssignSub", variable, arithmetic.sub(_value("AssignSub", variable), value))


def _value(operator: str, variable: Any) -> Tensor:
    if not isinstance(variable, Tensor):
        raise TypeError(
            f"For '{operator}', the 'variable' must be a Parameter or Tensor, but got "
            f"{type(variable).__name__}."
        )
    return variable.value() if variable.is_parameter else variable  # type: ignore[attr-defined]


def _assigned(operator: str, variable: Any, value: Any) -> Tensor:
    _value(operator, variable)
    new = cast(operand(value, operator, variable), variable.type.dtype)
    if new.shape != variable.type.shape:
        said = f"Parameter '{variable.name}'" if variable.is_parameter else "Tensor"
        raise ValueError(
            f"For '{operator}', the 'value' must have the shape {variable.type.shape} of the "
            f"{said}, but its shape is {new.shape}."
        )
    new = new.__copy__()  # the Parameter does not follow later changes of the object: x[0] = 1
    if variable.is_parameter:
        state.write(variable, new)
    else:
        aliases.rebind(variable, new)
    return new
