"""``Primitive`` has the methods that MindSpore programs call on operators, and refuses to be derived from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self

from mindgrad.ops.strategies import check_strategies

__all__ = ["Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "prim_attr_register"]


def _refuse(name: str) -> NoReturn:
    raise TypeError(
        f"For 'Primitive', {name} cannot become an operator of mindgrad: an operator in Python has no "
        "compiled form. Write a function of existing operators, which is differentiated by itself, or, for "
        "a custom derivative, a Cell with 'construct' and 'bprop'."
    )


class Primitive:
    """Base class of all operators, for ``isinstance(op, ops.Primitive)``.

    Programs cannot derive operators from it or create one by name.

    Args:
        name (str): name of the operator.

    Raises:
        TypeError: If it is called, or a class of the program is derived from it.

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

    #: the strategies of inputs and of results, as :meth:`shard` was given them
    strategies: tuple[Any, Any] | None = None

    # one process and one compiler: what chooses among several changes nothing here

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
        """Divide the operator's tensors among the devices of a compiled program; gives the operator itself.

        XLA's partitioner divides what is computed and inserts the communication. Where programs are not
        divided (``set_auto_parallel_context``), and in PYNATIVE_MODE, where each operator runs at once on
        one device, strategies change nothing; values are the same.

        Args:
            in_strategy: a tuple with, for each tensor among the inputs, a tuple of the numbers of slices of
                its axes, a ``Layout``, or ``None``, with which the partitioner chooses.
            out_strategy: the same for the results; by default a product of matrices has the slices of its
                operands, and of other results the partitioner chooses.

        Raises:
            TypeError: a strategy is of another type.
            ValueError: a number of slices is not positive; in a call, a strategy does not fit the tensors'
                shapes, the other strategies or the number of devices.

        >>> from mindgrad import Tensor, ops
        >>> product = ops.MatMul().shard(((2, 1), (1, 2)))
        >>> print(product(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[1.0, 0.0], [0.0, 1.0]])))
        [[1. 2.]
         [3. 4.]]
        """
        owner = f"{self.name}.shard"
        check_strategies(owner, "in_strategy", in_strategy)
        check_strategies(owner, "out_strategy", out_strategy)
        self.strategies = (
            None if in_strategy is None and out_strategy is None else (in_strategy, out_strategy)
        )
        return self

    def recompute(self, mode: bool = True) -> Self:
        """Accepted for compatibility: the compiler chooses residuals; gives the operator itself."""
        return self


class PrimitiveWithInfer(Primitive):
    """Base class of operators in Python in MindSpore; not supported by mindgrad.

    Args:
        name (str): name of the operator.

    Raises:
        TypeError: If it is called, or a class of the program is derived from it.
    """


class PrimitiveWithCheck(Primitive):
    """Base class of operators in Python in MindSpore; not supported by mindgrad.

    Args:
        name (str): name of the operator.

    Raises:
        TypeError: If it is called, or a class of the program is derived from it.
    """


def prim_attr_register(fn: Callable[..., Any]) -> NoReturn:
    """Decorator of operators in Python in MindSpore; not supported by mindgrad.

    Args:
        fn (callable): the method ``__init__`` of an operator.

    Returns:
        Nothing.

    Raises:
        TypeError: If it is called.
    """
    _refuse(f"what {getattr(fn, '__qualname__', fn)} initialises")
