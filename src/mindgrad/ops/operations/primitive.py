"""Base classes of operators in MindSpore's API; user code cannot derive from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self

from mindgrad.ops.strategies import check_strategies

__all__ = ["Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "prim_attr_register"]


def _refuse(name: str) -> NoReturn:
    raise TypeError(
        f"For 'Primitive', {name} cannot become an operator of mindgrad, because an operator that is "
        "defined in Python cannot be compiled. Write a function that calls existing operators, which "
        "mindgrad differentiates automatically. For a custom derivative, write a Cell with 'construct' "
        "and 'bprop'."
    )


class Primitive:
    """Base class of all operators, for ``isinstance(op, ops.Primitive)``.

    Programs cannot derive operators from this class, or create an operator by name.

    Args:
        name (str): name of the operator.

    Raises:
        TypeError: If the class is instantiated or subclassed by user code.

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
        """The name of the operator."""
        return type(self).__name__

    #: arguments of :meth:`shard`: strategies of the inputs and of the results. ``None`` before ``shard`` is
    #: called
    strategies: tuple[Any, Any] | None = None

    # in MindSpore, the next methods select a device or a backend; in mindgrad, they have no effect

    def add_prim_attr(self, name: str, value: Any) -> Self:
        """Return the operator; attributes are accepted for compatibility only."""
        return self

    def set_device(self, device_target: str) -> Self:
        """Return the operator; the device is accepted for compatibility only."""
        return self

    def set_stage(self, stage: int) -> Self:
        """Return the operator; the stage is accepted for compatibility only."""
        return self

    def shard(self, in_strategy: Any = None, out_strategy: Any = None) -> Self:
        """Divide the operator's tensors among the devices of a compiled function.

        XLA's partitioner divides the computation and inserts the communication. Strategies do not change
        values. They have no effect in PYNATIVE_MODE, where each operator runs on one device, or if compiled
        functions are not divided (see ``set_auto_parallel_context``).

        Args:
            in_strategy (tuple or None): one entry for each tensor among the inputs: a tuple with the number
                of slices of each axis, a ``Layout``, or ``None`` to let the partitioner choose.
            out_strategy (tuple or None): one entry for each result, in the form of ``in_strategy``. By
                default, the result of a matrix product is divided like its operands, and the partitioner
                chooses for other results.

        Returns:
            The operator.

        Raises:
            TypeError: If a strategy has the wrong type.
            ValueError: If a number of slices is not positive; in a call, if a strategy does not match the
                shapes of the tensors, the other strategies, or the number of devices.

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
        """Return the operator; the compiler decides which residuals to recompute."""
        return self


class PrimitiveWithInfer(Primitive):
    """Base class of operators in Python in MindSpore; not supported by mindgrad.

    Args:
        name (str): name of the operator.

    Raises:
        TypeError: If the class is instantiated or subclassed by user code.

    >>> from mindgrad import ops
    >>> ops.PrimitiveWithInfer("Scale")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    TypeError: For 'Primitive', Primitive('Scale') cannot become an operator of mindgrad, ...
    """


class PrimitiveWithCheck(Primitive):
    """Base class of operators in Python in MindSpore; not supported by mindgrad.

    Args:
        name (str): name of the operator.

    Raises:
        TypeError: If the class is instantiated or subclassed by user code.

    >>> from mindgrad import ops
    >>> ops.PrimitiveWithCheck("Scale")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    TypeError: For 'Primitive', Primitive('Scale') cannot become an operator of mindgrad, ...
    """


def prim_attr_register(fn: Callable[..., Any]) -> NoReturn:
    """Decorator of operators in Python in MindSpore; not supported by mindgrad.

    Args:
        fn (callable): the method ``__init__`` of an operator.

    Returns:
        Nothing, because it always raises an error.

    Raises:
        TypeError: If it is called.

    >>> from mindgrad import ops
    >>> @ops.prim_attr_register  # doctest: +ELLIPSIS
    ... def construct(self):
    ...     pass
    Traceback (most recent call last):
        ...
    TypeError: For 'Primitive', the class with the constructor construct cannot become an operator of ...
    """
    _refuse(f"the class with the constructor {getattr(fn, '__qualname__', fn)}")
