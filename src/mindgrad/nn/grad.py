"""Gradient Cells differentiate a net: ``Jvp``, ``Vjp`` and ``ForwardValueAndGrad``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.api.arguments import Weights, check_callable, check_flag, check_instance
from mindgrad.api.gradient import by_operation
from mindgrad.api.jvp import jvp_of
from mindgrad.api.vjp import vjp_at_once
from mindgrad.nn.cell import Cell

__all__ = ["ForwardValueAndGrad", "Jvp", "Vjp"]


class Jvp(Cell):
    """The Jacobian–vector product of a net, in forward mode: ``Jvp(net)(*inputs, v)``.

    Args:
        fn: a Cell or a function.

    Inputs:
        The inputs of ``fn``, Tensors, and the direction ``v``: a Tensor like the input for one input, a
        tuple or list of them for several.

    Outputs:
        ``(out, derivative)``: what ``fn`` gives, and its derivative along ``v`` in the same structure.

    Raises:
        TypeError: ``fn`` cannot be called; ``v`` is a Tensor for several inputs or a tuple for one; an
            input is no Tensor, or a dtype in ``v`` differs from that of the input.
        ValueError: the number of elements of ``v``, or a shape in it, differs from the inputs'.

    >>> import mindgrad as ms
    >>> out, derivative = ms.nn.Jvp(lambda x, y: x * y)(
    ...     ms.Tensor([2.0]), ms.Tensor([5.0]), (ms.Tensor([1.0]), ms.Tensor([10.0])))
    >>> print(out, derivative)
    [10.] [25.]
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__()
        check_callable("Jvp", fn)
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        """See the class."""
        return jvp_of("Jvp", self.fn, *_with_last("Jvp", args))


class Vjp(Cell):
    """The vector–Jacobian product of a net, in reverse mode: ``Vjp(net)(*inputs, v)``.

    Args:
        fn: a Cell or a function.

    Inputs:
        The inputs of ``fn``, Tensors, and ``v`` like its output: a Tensor, or a tuple of them for
        several outputs.

    Outputs:
        ``(out, gradients)``: what ``fn`` gives, and the gradient of the input; a tuple of gradients for
        several inputs.

    Raises:
        TypeError: ``fn`` cannot be called; an input is no Tensor; ``v`` differs from the output in
            structure or dtype.
        ValueError: ``v`` differs from the output in length or shape.

    >>> import mindgrad as ms
    >>> out, gradients = ms.nn.Vjp(lambda x, y: x * y)(
    ...     ms.Tensor([2.0]), ms.Tensor([5.0]), ms.Tensor([10.0]))
    >>> print(out, *gradients)
    [10.] [50.] [20.]
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__()
        check_callable("Vjp", fn)
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        """See the class."""
        inputs, v = _with_last("Vjp", args)
        return vjp_at_once("Vjp", self.fn, inputs, v)


def _with_last(owner: str, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    if not args:
        raise TypeError(f"For '{owner}', the inputs and 'v' are missing: {owner}(net)(x, v).")
    return args[:-1], args[-1]


class ForwardValueAndGrad(Cell):
    """The output of a net together with its gradients.

    Args:
        network: a Cell or a function.
        weights: with ``get_by_list``, a ParameterTuple (or list, or one Parameter).
        get_all: whether to differentiate with respect to all inputs.
        get_by_list: whether to differentiate with respect to ``weights``.
        sens_param: whether the last input scales the outputs.

    Inputs:
        The inputs of ``network``, with ``sens_param`` one more, like the output.

    Outputs:
        ``(output, gradients)``, the gradients as those of ``ops.GradOperation``.

    Raises:
        TypeError: ``network`` cannot be called, a flag is no bool, or ``weights`` is nothing of these
            though ``get_by_list`` is set.

    >>> import mindgrad as ms
    >>> out, gradient = ms.nn.ForwardValueAndGrad(lambda x: x * x)(ms.Tensor([3.0]))
    >>> print(out, gradient)
    [9.] [6.]
    """

    def __init__(
        self,
        network: Callable[..., Any],
        weights: Any = None,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
    ) -> None:
        super().__init__()
        owner = "ForwardValueAndGrad"
        check_instance(owner, network)
        if not callable(network):
            raise TypeError(
                f"For '{owner}', the argument 'network' should be cell, function type or method type, "
                f"but got '{type(network)}'"
            )
        for name, flag in (("get_all", get_all), ("get_by_list", get_by_list), ("sens_param", sens_param)):
            check_flag(owner, name, flag)
        if (
            get_by_list
            and not isinstance(weights, (tuple, list))
            and not getattr(weights, "is_parameter", False)
        ):
            raise TypeError(
                f"For '{owner}', when 'get_by_list' is set to True, the argument 'weights' should be "
                f"ParameterTuple type, but got '{type(weights)}'"
            )
        self.network = network
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param
        self.weights = Weights(owner, weights) if get_by_list else None

    def construct(self, *inputs: Any) -> Any:
        """See the class."""
        # asked for at every call, for a copy of this Cell has a network and weights of its own
        gradient = by_operation(
            "ForwardValueAndGrad", self.network, self.get_all, self.weights, self.sens_param, with_value=True
        )
        return gradient(*inputs)
