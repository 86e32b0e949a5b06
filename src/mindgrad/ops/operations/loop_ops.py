"""Loops as operators: ``ops.WhileLoop``, ``ops.ForiLoop``, and ``ops.Scan``.

In eager mode they are Python loops, and in a compiled function they are compiled loops. They are
differentiable to any order in both modes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references
from mindgrad.frontend import owned_objects, user_calls
from mindgrad.frontend.control import builtins
from mindgrad.frontend.control.runtime import RUNTIME

__all__ = ["ForiLoop", "Scan", "WhileLoop"]


def _check_functions(owner: str, **functions: Any) -> None:
    for name, function in functions.items():
        if not callable(function):
            raise TypeError(f"For '{owner}', '{name}' must be a function, but got {type(function).__name__}.")


def _check_unroll(owner: str, unroll: Any) -> None:
    if not isinstance(unroll, bool):
        raise TypeError(f"For '{owner}', 'unroll' must be a bool, but got {type(unroll).__name__}.")


class _Carried:
    """The values that a compiled loop passes from one iteration to the next.

    Args:
        owner: name of the operator in errors.
        values: values before the first iteration.
        names: names of the values in errors.
    """

    def __init__(self, owner: str, values: tuple[Any, ...], names: tuple[str, ...]) -> None:
        self.values = values
        self.names = [f"{name} of {owner}" for name in names]

    def get(self) -> tuple[Any, ...]:
        """Return the current values."""
        return self.values

    def put(self, values: tuple[Any, ...]) -> None:
        """Replace the values."""
        self.values = tuple(values)


class WhileLoop:
    """Call a function on its own result as long as a condition holds.

    The gradient is the same as for a ``while`` loop written in Python.

    Inputs:
        - **cond_func** (function) - called with the current value, returns a bool or a Tensor of one element.
        - **loop_func** (function) - called with the current value, returns the next value: Tensors of the
            same shapes and dtypes, in the same structure.
        - **init_val** (Any) - the initial value: a Tensor, a number, or a tuple, list or dict of them.

    Outputs:
        The first value for which ``cond_func`` returns false.

    Raises:
        TypeError: If ``cond_func`` or ``loop_func`` is not callable.

    See Also:
        :class:`ForiLoop`, :class:`Scan`.

    >>> import mindgrad as ms
    >>> from mindgrad import ops
    >>> doubled = lambda x: ops.WhileLoop()(lambda y: y < 10, lambda y: 2 * y, x)
    >>> print(doubled(ms.Tensor(3.0)), ms.grad(doubled)(ms.Tensor(3.0)))
    12.0 4.0
    """

    def __call__(
        self, cond_func: Callable[[Any], Any], loop_func: Callable[[Any], Any], init_val: Any
    ) -> Any:
        _check_functions("WhileLoop", cond_func=cond_func, loop_func=loop_func)
        if not references.is_compiling():
            value = init_val
            while user_calls.run(cond_func, value):
                value = user_calls.run(loop_func, value)
            return value
        carried = _Carried("WhileLoop", (init_val,), ("the value",))

        def iteration() -> None:
            carried.put((user_calls.run(loop_func, carried.values[0]),))

        RUNTIME.while_(
            lambda: user_calls.run(cond_func, carried.values[0]),
            iteration,
            carried.get,
            carried.put,
            carried.names,
        )
        return carried.values[0]


class ForiLoop:
    """Call a function with each integer of a range and its own last result.

    Inputs:
        - **lower** (int or Tensor) - the first integer of the range.
        - **upper** (int or Tensor) - exclusive upper bound of the range.
        - **loop_func** (function) - called as ``loop_func(index, value)``, returns the next value: Tensors of
          the same shapes and dtypes, in the same structure.
        - **init_val** (Any) - the initial value: a Tensor, a number, or a tuple, list or dict of them.
        - **unroll** (bool) - accepted for compatibility: the compiler decides. Default: ``True``.

    Outputs:
        The last value.

    Raises:
        TypeError: If ``loop_func`` is not callable, ``lower`` or ``upper`` is not an integer, or ``unroll``
            is not a bool.

    See Also:
        :class:`WhileLoop`, :class:`Scan`.

    >>> import mindgrad as ms
    >>> from mindgrad import ops
    >>> power = lambda x: ops.ForiLoop()(0, 3, lambda i, y: x * y, 1.0)
    >>> print(power(ms.Tensor(2.0)), ms.grad(power)(ms.Tensor(2.0)))
    8.0 12.0
    """

    def __call__(
        self, lower: Any, upper: Any, loop_func: Callable[[Any, Any], Any], init_val: Any, unroll: bool = True
    ) -> Any:
        _check_functions("ForiLoop", loop_func=loop_func)
        _check_unroll("ForiLoop", unroll)
        if not references.is_compiling():
            value = init_val
            for index in range(lower, upper):
                value = user_calls.run(loop_func, index, value)
            return value
        carried = _Carried("ForiLoop", (init_val,), ("the value",))

        def iteration(index: Any) -> None:
            carried.put((user_calls.run(loop_func, index, carried.values[0]),))

        RUNTIME.for_(builtins.range_of(lower, upper), iteration, carried.get, carried.put, carried.names)
        return carried.values[0]


class Scan:
    """Call a function with each element of a sequence and a carried value.

    Inputs:
        - **loop_func** (function) - called as ``loop_func(carry, x)``, returns ``(next carry, y)``.
        - **init** (Any) - the first carry: a Tensor, a number, or a tuple, list or dict of them.
        - **xs** (tuple, list, Tensor or None) - the elements x of the sequence; a Tensor is divided along its
            first axis.
        - **length** (int, optional) - number of iterations; required if ``xs`` is ``None``. Default:
            ``None``.
        - **unroll** (bool) - accepted for compatibility: the compiler decides. Default: ``True``.

    Outputs:
        A tuple of the last carry and the list of all ``y``.

    Raises:
        TypeError: If ``loop_func`` is not callable, ``xs`` has an unsupported type, or ``unroll`` is not a
            bool.
        ValueError: If ``length`` is not the number of elements of ``xs``, or ``xs`` and ``length`` are both
            ``None``.

    See Also:
        :class:`ForiLoop`, :class:`WhileLoop`.

    >>> import mindgrad as ms
    >>> from mindgrad import ops
    >>> total, sums = ops.Scan()(lambda s, x: (s + x, s + x), ms.Tensor(0.0), [1.0, 2.0, 3.0])
    >>> print(total, *sums)
    6.0 1.0 3.0 6.0
    """

    def __call__(
        self,
        loop_func: Callable[[Any, Any], Any],
        init: Any,
        xs: Any,
        length: int | None = None,
        unroll: bool = True,
    ) -> tuple[Any, list[Any]]:
        _check_functions("Scan", loop_func=loop_func)
        _check_unroll("Scan", unroll)
        if xs is None:
            if length is None:
                raise ValueError(
                    "For 'Scan', 'xs' and 'length' are both None: pass the number of elements as 'length'."
                )
            xs = [None] * length
        elif not isinstance(xs, (tuple, list, Tensor)):
            raise TypeError(
                f"For 'Scan', 'xs' must be a tuple, list or Tensor, or None, but got {type(xs).__name__}."
            )
        if length is not None and length != len(xs):
            raise ValueError(f"For 'Scan', 'length' is {length}, but 'xs' has {len(xs)} elements.")
        outputs: list[Any] = []
        if not references.is_compiling():
            carry = init
            for x in xs:
                carry, y = user_calls.run(loop_func, carry, x)
                outputs.append(y)
            return carry, outputs
        carried = _Carried("Scan", (init, owned_objects.made(outputs)), ("the carry", "the list of outputs"))

        def iteration(x: Any) -> None:
            carry, appended = carried.values
            carry, y = user_calls.run(loop_func, carry, x)
            appended.append(y)
            carried.put((carry, appended))

        RUNTIME.for_(xs, iteration, carried.get, carried.put, carried.names)
        return carried.values
