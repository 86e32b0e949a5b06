"""Parameters: tensors that a program owns, reads and writes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindgrad._base.text import parameter_repr
from mindgrad.core.tensor import Tensor
from mindgrad.frontend import state

__all__ = ["Parameter", "ParameterTuple"]


class Parameter(Tensor):
    """A tensor with a name that a Cell owns and an optimiser changes.

    >>> from mindgrad import Parameter, Tensor
    >>> Parameter(Tensor([1.0, 2.0]), name="w")
    Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)
    """

    is_parameter = True

    def __init__(
        self,
        default_input: Any,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
    ) -> None:
        super().__init__(default_input)
        self.name = "Parameter" if name is None else name
        self.requires_grad = requires_grad
        self.layerwise_parallel = layerwise_parallel
        self.parallel_optimizer = parallel_optimizer

    def store(self, value: Tensor) -> None:
        """Replace the stored value now."""
        self._array = value._array
        self._type = value._type

    def numpy(self) -> Any:
        current = state.read(self)
        return super().numpy() if current is self else current.numpy()

    def value(self) -> Tensor:
        """The current value as a plain tensor."""
        return state.read(self)

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Replace the value; gives the Parameter itself."""
        state.write(self, data if isinstance(data, Tensor) else Tensor(data))
        return self

    def __repr__(self) -> str:
        return parameter_repr(self.name, self.shape, self.dtype.name, self.requires_grad)

    __str__ = __repr__


class ParameterTuple(tuple):
    """A tuple of Parameters."""

    def __new__(cls, parameters: Iterable[Parameter]) -> ParameterTuple:
        found = tuple(parameters)
        for each in found:
            if not isinstance(each, Parameter):
                raise TypeError(f"A ParameterTuple holds Parameters, but got {type(each).__name__}.")
        return super().__new__(cls, found)
