"""Gradient flow and order: ``stop_gradient``, ``depend``, ``assign``, and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad._base.checks import of_type
from mindgrad.core.base.tree import map_leaves
from mindgrad.core.ir.scope import apply, current_deferral
from mindgrad.core.ir.tensor import Tensor, make_tensor
from mindgrad.core.primitives.structural import stop_gradient as row
from mindgrad.core.trace import references
from mindgrad.frontend import aliases
from mindgrad.ops import arithmetic
from mindgrad.ops.operands import cast, is_selection, operand
from mindgrad.ops.registry import public

__all__ = ["assign", "assign_add", "assign_sub", "constexpr", "depend", "identity", "stop_gradient"]


@public("StopGradient")
def stop_gradient(value: Any) -> Any:
    """Return a value as a constant: no gradient flows through it.

    Args:
        value (Tensor, number, None, or nested tuple, list, or dict of these): value whose
            tensors become constants.

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
    if x._array is not None:  # eager mode: the new tensor shares the array, but has no recorded operators
        deferral = current_deferral()
        return make_tensor(x._array, x.type) if deferral is None else deferral.detached(x)
    return apply(row, x)


@public("Identity")
def identity(x: Any) -> Any:
    """Return a value unchanged.

    Args:
        x (Tensor or object): value to return.

    Returns:
        ``x``; for a Parameter, its current value.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.identity(Tensor([3.0])))
    [3.]
    """
    return references.read(x) if isinstance(x, Tensor) else x


@public("Depend")
def depend(value: Any, expr: Any) -> Any:
    """Return ``value`` after ``expr`` has been computed.

    MindSpore programs call this function to order side effects. mindgrad only returns ``value``, because
    Python evaluates the arguments before the call and assignments to Parameters keep their order.

    Args:
        value (object): value to return.
        expr (object): result of the computation that must run before ``value`` is used.

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
    """Mark a Python function that runs at compile time with constant arguments.

    mindgrad returns the function unchanged, because it runs every Python function at compile time. The
    parameters are the same as in MindSpore.

    Args:
        fn (callable or None): function to mark. ``None`` returns a decorator.
        get_instance, name, reuse_result, check (object): accepted for compatibility and ignored.

    Returns:
        ``fn``, or a decorator if ``fn`` is ``None``.

    >>> from mindgrad import ops
    >>> @ops.constexpr
    ... def doubled(shape):
    ...     return tuple(2 * n for n in shape)
    >>> doubled((1, 2))
    (2, 4)
    """
    return constexpr if fn is None else fn


# --- assignment to Parameters and tensors ------------------------------------------------------------


@public("Assign")
def assign(variable: Any, value: Any) -> Tensor:
    """Assign a value to a Parameter or Tensor; derivatives flow through it.

    Inside a compiled or differentiated function, the stored value changes when the function ends.

    Args:
        variable (Parameter or Tensor): Parameter or Tensor to change. A Tensor changes as by
            ``variable[...] = value``.
        value (Tensor or number): tensor of the same shape as ``variable``, or a number if ``variable`` has
            one element. The value is converted to the dtype of ``variable``.

    Returns:
        Tensor with the new value of ``variable``.

    Raises:
        TypeError: If ``variable`` is not a Tensor, or ``value`` is neither a tensor nor a number.
        ValueError: If the shapes of ``variable`` and ``value`` differ.

    >>> from mindgrad import Parameter, Tensor, ops
    >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
    >>> print(ops.assign(w, Tensor([3.0, 4.0])), w.value())
    [3. 4.] [3. 4.]
    """
    return _assigned("Assign", variable, value)


@public("AssignAdd(use_locking: unused=False)(variable, value)")
def assign_add(variable: Any, value: Any) -> Tensor:
    """Add a value to a Parameter or Tensor in place.

    {as assign}

    >>> from mindgrad import Parameter, Tensor, ops
    >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
    >>> print(ops.assign_add(w, Tensor([3.0, 4.0])), w.value())
    [4. 6.] [4. 6.]
    """
    return _assigned("AssignAdd", variable, arithmetic.add(_value("AssignAdd", variable), value))


@public("AssignSub(use_locking: unused=False)(variable, value)")
def assign_sub(variable: Any, value: Any) -> Tensor:
    """Subtract a value from a Parameter or Tensor in place.

    {as assign}

    >>> from mindgrad import Parameter, Tensor, ops
    >>> w = Parameter(Tensor([1.0, 2.0]), name="w")
    >>> print(ops.assign_sub(w, Tensor([3.0, 4.0])), w.value())
    [-2. -2.] [-2. -2.]
    """
    return _assigned("AssignSub", variable, arithmetic.sub(_value("AssignSub", variable), value))


def _value(operator: str, variable: Any) -> Tensor:
    of_type(variable, Tensor, operator, "variable", "a Parameter or Tensor")
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
    new = new.__copy__()  # a new object, so that a later ``value[0] = 1`` does not change the Parameter
    if variable.is_parameter:
        references.write(variable, new)
    else:
        aliases.rebind(variable, new)
    return new
