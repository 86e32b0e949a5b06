"""Cells that differentiate a net: ``Jvp``, ``Vjp``, and ``ForwardValueAndGrad``."""

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
    """A Cell for the Jacobian–vector product of a network: ``Jvp(net)(*inputs, v)``.

    Args:
        fn (Callable or Cell): function to differentiate.

    Inputs:
        inputs (Tensor): inputs of ``fn``, at which it is differentiated.
        v (Tensor, tuple, or list of Tensor): tangent vector, with the shapes and dtypes of the inputs: a
            Tensor if ``fn`` has one input, otherwise a tuple or list with one Tensor for each input.

    Outputs:
        ``(out, derivative)``: the output of ``fn``, and its derivative along ``v`` in the same structure.

    Raises:
        TypeError: If ``fn`` is not callable, an input is not a Tensor, ``v`` is a Tensor for several inputs
            or a tuple for one input, or an element of ``v`` differs in dtype from its input.
        ValueError: If ``v`` differs from the inputs in the number of elements, or in a shape.

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
        return jvp_of("Jvp", self.fn, *_with_last("Jvp", args))


class Vjp(Cell):
    """A Cell for the vector–Jacobian product of a network: ``Vjp(net)(*inputs, v)``.

    Args:
        fn (Callable or Cell): function to differentiate.

    Inputs:
        inputs (Tensor): inputs of ``fn``, at which it is differentiated.
        v (Tensor or tuple of Tensor): cotangent vector, with the structure, shapes, and dtypes of the output
            of ``fn``.

    Outputs:
        ``(out, gradients)``: the output of ``fn``, and the gradient with respect to its input, or a tuple of
        gradients if there are several inputs.

    Raises:
        TypeError: If ``fn`` is not callable, an input is not a Tensor, or the structure or dtype of ``v``
            differs from the output.
        ValueError: If ``v`` differs from the output of ``fn`` in length or shape.

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
        inputs, v = _with_last("Vjp", args)
        return vjp_at_once("Vjp", self.fn, inputs, v)


def _with_last(owner: str, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    if not args:
        raise TypeError(f"For '{owner}', the inputs and 'v' are missing: {owner}(net)(x, v).")
    return args[:-1], args[-1]


class ForwardValueAndGrad(Cell):
    """A Cell that returns the output of a network together with its gradients.

    Args:
        network (Callable or Cell): function to differentiate.
        weights (ParameterTuple, list, or Parameter): Parameters with respect to which the network is
            differentiated if ``get_by_list`` is ``True``.
        get_all (bool): whether to differentiate with respect to all inputs instead of only the first one.
        get_by_list (bool): whether to differentiate with respect to ``weights``.
        sens_param (bool): whether the last input of a call is the cotangent (the weights of the outputs in
            the gradient).

    Inputs:
        inputs (Tensor): inputs of ``network``. If ``sens_param`` is ``True``, they are followed by a
            cotangent with the structure of the output.

    Outputs:
        ``(output, gradients)``: the output of ``network``, and gradients in the form that
        :class:`mindgrad.ops.GradOperation` returns.

    Raises:
        TypeError: If ``network`` is not callable, ``get_all``, ``get_by_list``, or ``sens_param`` is not a
            bool, or ``get_by_list`` is ``True`` and ``weights`` has an unsupported type.

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
        # create the gradient function in each call, not in ``__init__``: a copy of this Cell has its own
        # network and weights, but would share the function
        gradient = by_operation(
            "ForwardValueAndGrad", self.network, self.get_all, self.weights, self.sens_param, with_value=True
        )
        return gradient(*inputs)
