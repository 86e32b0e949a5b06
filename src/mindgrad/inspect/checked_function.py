"""Values and derivatives of a function as NumPy arrays, for ``check_grad``."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindgrad.api.arguments import Weights
from mindgrad.api.callables import arity, in_either_mode
from mindgrad.api.vjp_call import Run, derive
from mindgrad.context import get_context, set_context
from mindgrad.core.api.pullback import push
from mindgrad.core.base.tree import flatten, paths, unflatten
from mindgrad.core.ir.tensor import Number, Tensor, make_number, make_tensor
from mindgrad.core.trace.numbers import is_number, number_tensor
from mindgrad.frontend import user_calls

__all__ = ["CheckedFunction", "Leaf"]

_OWNER = "check_grad"
_numbers = itertools.count()


class Leaf:
    """An input of the checked function: a Parameter, or a value in the arguments.

    Examples of values in the arguments are tensors and floats.

    Attributes:
        name: name of the input in the table of results.
        tensor: value of the input.
        is_active: whether the input is differentiated. Only real floating-point inputs are differentiated.
        parameter: the Parameter, or ``None`` for a value in the arguments.
    """

    def __init__(self, name: str, value: Any, parameter: Any = None) -> None:
        self.name = name
        self.is_number = parameter is None and is_number(value)
        self.tensor = number_tensor(value) if self.is_number else value
        self.is_tensor = isinstance(self.tensor, Tensor)
        self.is_active = self.is_tensor and self.tensor.dtype.kind == "float"
        self.parameter = parameter

    @property
    def type(self) -> str:
        """Dtype and shape as a string, or the name of a class."""
        return str(self.tensor.type) if self.is_tensor else type(self.tensor).__name__


class CheckedFunction:
    """The user's function as a function from several tensors to a tuple of tensors.

    Args:
        fn (Callable): function or Cell to check.
        args (list or tuple): arguments of ``fn``.
        weights (list of Parameter): the Parameters to check. ``None``: the trainable Parameters of a Cell.
        order (int): 1 to check ``fn``, 2 to check the gradient of a weighted sum of its outputs.
        seed (int): seed of the random weights of this sum.

    Attributes:
        leaves: the inputs in the arguments.
        active: the arguments that are differentiated.
        parameters: the Parameters that are differentiated.
        number: unique number of this object. The compile cache compares checked functions by this number.
    """

    #: names of attributes that the compile cache compares. The ``number`` of each checked function is unique,
    #: so no two of them are equal, and none uses code that was compiled for another
    compared_by = ("number",)

    def __init__(
        self, fn: Callable[..., Any], args: Sequence[Any], weights: Any, order: int, seed: int
    ) -> None:
        self.fn = fn
        self.number = next(_numbers)
        values, self._structure = flatten(tuple(args))
        names = arity(fn).names
        labels: list[str] = []
        for position, x in enumerate(args):
            structure = flatten(x)[1]
            name = names[position] if position < len(names) and names[position] else f"args[{position}]"
            labels += paths(structure, name) if isinstance(structure, tuple) else [name]
        self.leaves = [Leaf(label, value) for label, value in zip(labels, values, strict=True)]
        self.active = [leaf for leaf in self.leaves if leaf.is_active]
        cell = getattr(fn, "__self__", fn)
        own = getattr(cell, "trainable_params", None)
        if weights is None:
            checked = list(own()) if callable(own) else []
        else:
            checked = list(Weights(_OWNER, weights).unique)
        self.parameters = [Leaf(p.name, p, p) for p in checked]
        every = getattr(cell, "get_parameters", None)
        self._kept = list(dict.fromkeys([*checked, *(every() if callable(every) else ())]))
        self._order = order
        self._seed = seed
        self.parameters = [leaf for leaf in self.parameters if leaf.is_active]
        self._values = in_either_mode(fn, self._result)
        self._reverse = in_either_mode(fn, self._pulled)
        self._forward = [in_either_mode(fn, self._pushed(i)) for i in range(self._count)]

    @property
    def _count(self) -> int:
        return len(self.active) + len(self.parameters)

    @property
    def variables(self) -> list[Leaf]:
        """The arguments and Parameters that are differentiated."""
        return [*self.active, *self.parameters]

    # -- methods on tensors, called during differentiation and compilation -----------------------

    def _call(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        following = iter(tensors)
        values = [
            (make_number(next(following)) if leaf.is_number else next(following))
            if leaf.is_active
            else leaf.tensor
            for leaf in self.leaves
        ]
        result = user_calls.run(self.fn, *unflatten(self._structure, values))
        outputs = [y for y in flatten(result)[0] if isinstance(y, Tensor) and y.dtype.is_inexact]
        if any(y.dtype.kind == "complex" for y in outputs) and not self._is_complex(tensors):
            raise TypeError(
                "For 'check_grad', the function must return real results, but a result is complex; check its "
                "real and imaginary parts."
            )
        if not outputs:
            raise TypeError(
                f"For 'check_grad', the function must return at least one floating-point Tensor, but got "
                f"{type(result).__name__}."
            )
        return tuple([_plain(y) for y in outputs])

    def _is_complex(self, tensors: Sequence[Tensor]) -> bool:
        values = [*tensors, *[leaf.parameter for leaf in self.parameters]]
        return any(x.dtype.kind == "complex" for x in values)

    def _result(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        return self._call(*tensors) if self._order == 1 else tuple(self._gradient(*tensors))

    def _gradient(self, *tensors: Tensor) -> list[Tensor]:
        run = self._run(self._call, tensors)
        generator = np.random.default_rng(self._seed)
        cotangents = tuple([Tensor(generator.uniform(0.5, 1.5, y.shape), dtype=y.dtype) for y in run.outputs])
        _, by_tensor, by_parameter = derive(run, (cotangents,), with_result=False)
        return [*by_tensor, *by_parameter]

    def _run(self, fn: Callable[..., Any], tensors: Sequence[Tensor]) -> Run:
        parameters = [leaf.parameter for leaf in self.parameters]
        return Run(_OWNER, fn, tensors, {}, range(len(tensors)), parameters)

    def _pulled(self, *tensors: Tensor) -> list[Tensor]:
        count = len(self.active)
        run = self._run(self._result, tensors[:count])
        _, by_tensor, by_parameter = derive(run, (tuple(tensors[count:]),), with_result=False)
        return [*by_tensor, *by_parameter]

    def _pushed(self, index: int) -> Callable[..., list[Tensor]]:
        def pushed(*tensors: Tensor) -> list[Tensor]:
            run = self._run(self._result, tensors[:-1])
            tangents: list[Tensor | None] = [None] * self._count
            tangents[index] = tensors[-1]
            return push(run.recorded, tangents, run.outputs)[1]

        return pushed

    # -- methods on NumPy arrays -----------------------------------------------------------------

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Restore the values of the Parameters at the end of the block."""
        values = [(parameter, parameter.value()) for parameter in self._kept]
        try:
            yield
        finally:
            for parameter, value in values:
                parameter.store(value)

    def values(self, arrays: Sequence[np.ndarray], dtype: Any = None) -> list[np.ndarray]:
        """Evaluate the function.

        Args:
            arrays: values of the variables.
            dtype: dtype to which variables and Parameters are cast. ``None``: their own dtypes.
        """
        count = len(self.active)
        with self.kept(), _beyond_the_domain():
            if dtype is not None:
                for parameter in self._kept:
                    if parameter.dtype.kind == "float":
                        parameter.store(Tensor(parameter.value().asnumpy(), dtype=dtype))
            for leaf, array in zip(self.parameters, arrays[count:], strict=True):
                leaf.parameter.store(Tensor(array, dtype=dtype or leaf.parameter.dtype))
            tensors = [
                Tensor(array, dtype=dtype or leaf.tensor.dtype)
                for leaf, array in zip(self.active, arrays, strict=False)
            ]
            return [y.asnumpy() for y in self._values(*tensors)]

    def result_types(self) -> list[Any]:
        """Return dtypes and shapes of the results for the original arguments."""
        with self.kept():
            return [(y.dtype, y.shape) for y in self._values(*[leaf.tensor for leaf in self.active])]

    def pull(self, cotangents: Sequence[Tensor]) -> list[np.ndarray]:
        """Compute the cotangents of the variables in reverse mode."""
        with self.kept(), quiet():
            pulled = self._reverse(*[leaf.tensor for leaf in self.active], *cotangents)
            return [gradient.asnumpy() for gradient in pulled]

    def push(self, index: int, tangent: np.ndarray) -> list[np.ndarray]:
        """Compute the tangents of the results in forward mode.

        Args:
            index: number of the variable that has a nonzero tangent.
            tangent: tangent of this variable.
        """
        leaf = self.variables[index]
        with self.kept(), quiet():
            tensors = [each.tensor for each in self.active]
            pushed = self._forward[index](*tensors, Tensor(tangent, dtype=leaf.tensor.dtype))
            return [t.asnumpy() for t in pushed]


def _plain(x: Tensor) -> Tensor:
    """Convert a `Number` to an ordinary tensor."""
    return make_tensor(x._array, x._type, x._scope, x._atom) if type(x) is Number else x


@contextlib.contextmanager
def _beyond_the_domain() -> Iterator[None]:
    """Turn off ``debug_nans``, because a step may leave the domain of the function."""
    if not get_context("debug_nans"):
        yield
        return
    set_context(debug_nans=False)
    try:
        yield
    finally:
        set_context(debug_nans=True)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Turn off warnings, because the check evaluates points that the program does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
