"""``Primitive`` has the methods that MindSpore programs call on operators, and refuses to be derived from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self

__all__ = ["Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "prim_attr_register"]


def _refuse(name: str) -> NoReturn:
    raise TypeError(
        f"For 'Primitive', {name} cannot become an operator of mindgrad: an operator in Python has no "
        f"compiled form. Write a function of existing operators, which is differentiated by itself, or, for "
        f"a derivative of your own, a Cell with 'construct' and 'bprop'."
    )


class Primitive:
    """The class of all operators: ``isinstance(op, ops.Primitive)``.

    Programs cannot derive operators from it or make one by name.

    Raises:
        TypeError: it is called, or a class of the program is derived from it.

    >>> from mindgrad import ops
    >>> isinstance(ops.MatMul(), ops.Primitive), ops.MatMul().name
    (True, 'MatMul')
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__module__.startswith("mindgrad."):
            _refuse(f"the class {cls.__qualname__}")

    def __init__(self, name: str) -> None:
        _refuse(f"Primitive({name!r})")

    @property
    def name(self) -> str:
        """The operator's name."""
        return type(self).__name__

    # one process, one device and one compiler: what chooses among several changes nothing here

    def add_prim_attr(self, name: str, value: Any) -> Self:
        """Accepted for compatibility (``"primitive_target"`` and the like); gives the operator itself."""
        return self

    def set_device(self, device_target: str) -> Self:
        """Accepted for compatibility: a program runs on one device; gives the operator itself."""
        return self

    def set_stage(self, stage: int) -> Self:
        """Accepted for compatibility; gives the operator itself."""
        return self

    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> Self:
        """Accepted for compatibility: a program runs on one device; gives the operator itself."""
        return self

    def recompute(self, mode: bool = True) -> Self:
        """Accepted for compatibility: the compiler chooses residuals; gives the operator itself."""
        return self


class PrimitiveWithInfer(Primitive):
    """The base of operators in Python in MindSpore; here nothing can be derived from it.

    Raises:
        TypeError: it is called, or a class of the program is derived from it.
    """


class PrimitiveWithCheck(Primitive):
    """As :class:`PrimitiveWithInfer`.

    Raises:
        TypeError: it is called, or a class of the program is derived from it.
    """


def prim_attr_register(fn: Callable[..., Any]) -> NoReturn:
    """Decorates ``__init__`` of operators in Python in MindSpore; here there are none.

    Raises:
        TypeError: always.
    """
    _refuse(f"what {getattr(fn, '__qualname__', fn)} initialises")
