"""Requests for derivatives: a function, and its differentiated inputs and weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.api.arguments import Weights, check_callable, check_flag, check_positions
from mindgrad.api.callables import arity, differentiates, in_either_mode, name_derivative
from mindgrad.api.vjp_call import Call, Inputs, Run
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace import references

__all__ = ["Request", "check_real"]


class Request:
    """The checked arguments of a transform such as ``jacrev``.

    Attributes:
        owner: name of the public function, such as ``"grad"``, for error messages.
        fn: function to differentiate.
        positions: argument ``grad_position`` of the API: an int, a tuple, or ``None``.
        weights: Parameters to differentiate with respect to, or ``None``.
        has_aux: whether only the first output of ``fn`` is differentiated.
        key: a cache key that distinguishes this request from others for the same function.
    """

    #: names of attributes. Two gradient functions share compiled code if all of these attributes are equal
    compared_by = ("owner", "fn", "positions", "weights", "has_aux")

    def __init__(self, owner: str, fn: Any, grad_position: Any, weights: Any, has_aux: Any) -> None:
        """Check the arguments.

        The third positional argument, ``has_aux``, may also contain the weights, as in ``grad``.
        """
        check_callable(owner, fn)
        is_list = isinstance(has_aux, (tuple, list)) or getattr(has_aux, "is_parameter", False)
        if is_list and (weights is None or isinstance(weights, bool)):
            weights, has_aux = has_aux, bool(weights)
        if grad_position is not None:
            check_positions(owner, grad_position)
        check_flag(owner, "has_aux", has_aux)
        if grad_position is None and weights is None:
            raise ValueError(
                f"For '{owner}', `grad_position` and `weights` can not be None at the same time."
            )
        self.weights = None if weights is None else Weights(owner, weights)
        self.owner = owner
        self.fn = fn
        self.positions = grad_position
        self.has_aux = has_aux
        self.key: tuple[Any, ...] = (
            owner,
            grad_position,
            has_aux,
            None if self.weights is None else self.weights.key,
        )

    def check_unique(self) -> None:
        """Raise ``ValueError`` if a Parameter is repeated in the weights."""
        if self.weights is not None and len(self.weights.unique) != len(self.weights.listed):
            raise ValueError(
                f"For '{self.owner}', a Parameter appears twice in 'weights'. List each Parameter once."
            )

    @property
    def chosen(self) -> tuple[int, ...]:
        """The positions of the differentiated arguments, as a tuple."""
        if self.positions is None:
            return ()
        return self.positions if isinstance(self.positions, tuple) else (self.positions,)

    def run(self, args: Sequence[Any], kwargs: dict[str, Any], complex_outputs: bool = False) -> Run:
        """Run the function once and record its operators.

        Complex inputs raise ``TypeError``, and complex outputs, too, unless ``complex_outputs`` is set.
        """
        call = Call(self.owner, self.fn, arity(self.fn), args, kwargs, self.chosen)
        parameters = () if self.weights is None else self.weights.unique
        run = Run(self.owner, self.fn, call.args, call.kwargs, call.positions, parameters, self.has_aux)
        check_real(self.owner, (*run.inputs.tensors, *parameters))
        if not complex_outputs:
            check_real(self.owner, run.outputs, "; jacfwd accepts complex outputs of real inputs")
        return run

    def operands(self, run: Run) -> list[Tensor]:
        """Return the differentiated inputs of a run: a tensor or number for each leaf."""
        return run.inputs.like(run.recorded.inputs)

    def arranged(self, inputs: Inputs, gradients: Sequence[Any]) -> Any:
        """Arrange ``gradients`` in the structure that the transform returns.

        ``gradients`` has one element for each differentiated tensor and weight.
        """
        count = len(inputs.tensors)
        by_input: Any = inputs.gradients(gradients[:count])
        by_input = tuple(by_input) if isinstance(self.positions, tuple) else by_input[0] if by_input else ()
        if self.weights is None:
            return by_input
        by_weight = self.weights.arranged(gradients[count:])
        return by_weight if self.positions is None else (by_input, by_weight)

    def like(self, inputs: Inputs) -> Any:
        """Return the differentiated inputs and weights, arranged like a gradient.

        A vector ``v`` of ``hvp`` is compared with this structure.
        """
        parameters = () if self.weights is None else self.weights.unique
        return self.arranged(inputs, inputs.like([*inputs.tensors, *map(references.read, parameters)]))

    def named(self, run: Callable[..., Any], extra: int = 0, order: int = 1) -> Callable[..., Any]:
        """Return ``run`` with a name and docstring, compiled in GRAPH_MODE.

        It accepts the arguments of the function, followed by ``extra`` more. ``order`` is the order of the
        derivative.
        """
        also = "" if self.weights is None else "the Parameters"
        name_derivative(run, self.owner, self.fn, self.chosen, also)
        return differentiates(in_either_mode(self.fn, run, self.chosen), self.fn, extra, order)


def check_real(owner: str, tensors: Sequence[Tensor], further: str = "") -> None:
    """Raise ``TypeError`` if a tensor is complex. ``further`` is appended to the message."""
    for t in tensors:
        if t.dtype.kind == "complex":
            raise TypeError(
                f"For '{owner}', inputs and outputs must be real, but got a Tensor of dtype "
                f"{t.dtype}: differentiate its real and imaginary parts{further}."
            )
