"""Check the arguments of gradient functions.

Most checks run before the function is called. The exception types, and the wording that programs may search
for, are MindSpore's. Each message names the argument and a correct value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from mindgrad._base.foreign_names import accepted_names
from mindgrad.api.callables import Arity, describe
from mindgrad.core.base.keywords import check_keywords
from mindgrad.core.base.location import warn_user
from mindgrad.core.base.refusal import refuse_selections
from mindgrad.core.base.tree import flatten, is_record
from mindgrad.core.ir.array_conversion import is_other_array
from mindgrad.core.ir.dtype import DType
from mindgrad.core.ir.mutable import is_mutable
from mindgrad.core.ir.tensor import Number, Tensor
from mindgrad.core.trace.numbers import is_number

__all__ = [
    "Weights", "bind_keywords", "check_callable", "check_count", "check_flag", "check_inputs",
    "check_instance", "check_outputs", "check_positions", "check_tensors", "differentiable",
    "explains_keywords", "has_no_derivative", "is_input", "of_no_derivative", "warn_of_integers",
]  # fmt: skip

_Function = TypeVar("_Function", bound=Callable[..., Any])


def explains_keywords(function: _Function) -> _Function:
    """Decorate ``function`` so that an unknown keyword raises a helpful ``TypeError``.

    The error names the parameter that corresponds to the keyword of another library.
    """
    names = frozenset(accepted_names(function) or ())

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not names.issuperset(kwargs):
            check_keywords(function.__name__, kwargs, accepted_names(function) or ())
        return function(*args, **kwargs)

    return checked  # type: ignore[return-value]


def check_flag(owner: str, name: str, value: Any) -> None:
    """Raise ``TypeError`` if ``value`` is not a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"For '{owner}', the '{name}' should be bool, but got {type(value).__name__}")


def check_callable(owner: str, fn: Any, error: type[Exception] = TypeError) -> None:
    """Raise ``error`` if ``fn`` is not callable, and ``TypeError`` if it is a class."""
    check_instance(owner, fn)
    if not callable(fn):
        raise error(
            f"For '{owner}', the first argument must be a 'Function' or 'Cell', but got "
            f"{type(fn).__name__}. The fn should be callable."
        )


def check_instance(owner: str, fn: Any) -> None:
    """Raise ``TypeError`` if ``fn`` is a class of callables, such as a Cell class."""
    if not isinstance(fn, type) or not any("__call__" in kind.__dict__ for kind in fn.__mro__):
        return
    name = fn.__name__
    raise TypeError(
        f"For '{owner}', the first argument must be a 'Function' or 'Cell', but got the class '{name}'. "
        f"Create an instance: {name}(...)."
    )


def check_positions(owner: str, grad_position: Any, has_weights: bool = True) -> None:
    """Check that ``grad_position`` is a nonnegative int or a tuple of distinct ones.

    ``has_weights`` is whether ``owner`` can also differentiate with respect to weights.

    Raises:
        TypeError: If ``grad_position`` is neither an int nor a tuple of ints. A bool is not accepted.
        ValueError: If a position in ``grad_position`` is negative or repeated.
        RuntimeError: If ``grad_position`` is an empty tuple.
    """
    _check_order(owner, grad_position, has_weights)
    if isinstance(grad_position, bool) or not isinstance(grad_position, (int, tuple)):
        raise TypeError(
            f"For '{owner}', the 'grad_position' should be int or tuple, but got "
            f"{type(grad_position).__name__}"
        )
    if isinstance(grad_position, int):
        if grad_position < 0:
            raise ValueError(
                f"For '{owner}', the grad_position must be >= 0, but got {grad_position}: inputs are "
                f"counted from 0."
            )
        return
    if not grad_position:
        raise RuntimeError(
            f"For '{owner}', the grad_position should not be empty when grad by position. "
            f"Give the positions of the inputs, for instance (0, 1)."
        )
    for argnum in grad_position:
        if isinstance(argnum, bool) or not isinstance(argnum, int):
            raise TypeError(
                f"For '{owner}', the element in 'grad_position' should be int, but got "
                f"{type(argnum).__name__}"
            )
        if argnum < 0:
            raise ValueError(
                f"For '{owner}', the element in grad_position must be >= 0, but got {grad_position}."
            )
    if len(set(grad_position)) != len(grad_position):
        raise ValueError(
            f"For '{owner}', there are duplicate positions in `grad_position`, please check it: "
            f"{grad_position}. List each input once."
        )


def _check_order(owner: str, grad_position: Any, has_weights: bool) -> None:
    """Raise ``TypeError`` if weights or inputs were passed as ``grad_position``."""
    parts = grad_position if isinstance(grad_position, (tuple, list)) else (grad_position,)
    if parts and all(getattr(x, "is_parameter", False) for x in parts):
        remedy = (
            f"weights are the third argument, {owner}(fn, None, weights)"
            if has_weights
            else f"'{owner}' differentiates with respect to inputs only, so pass them as an argument of the "
            f"function"
        )
        raise TypeError(
            f"For '{owner}', the 'grad_position' should be int or tuple, but got Parameters: {remedy}."
        )
    if isinstance(grad_position, Tensor):
        raise TypeError(
            f"For '{owner}', the 'grad_position' should be int or tuple, but got a Tensor: '{owner}' "
            f"returns a function that takes the inputs, {owner}(fn)(x{', v' * owner.endswith('vp')})."
        )


def _list_of(weights: Any) -> str:
    """Return the end of an error message that shows how to list Parameters.

    It is empty if ``weights`` is neither a Cell nor a container of Parameters.
    """
    if callable(getattr(weights, "trainable_params", None)):
        return " For a Cell, pass net.trainable_params()."
    if isinstance(weights, Mapping):
        return " For a dict, pass list(weights.values())."
    return " For an iterator, pass list(weights)." if isinstance(weights, Iterator) else ""


class Weights:
    """The Parameters of a gradient, in the order of the argument ``weights``.

    Args:
        owner: name of the public function, such as ``"grad"``, for error messages.
        weights: a Parameter, or a ParameterTuple, tuple, or list of Parameters. Parameters may be repeated.

    Raises:
        TypeError: If ``weights`` is something else.
    """

    __slots__ = ("_order", "is_single", "listed", "unique")

    def __init__(self, owner: str, weights: Any) -> None:
        self.is_single = getattr(weights, "is_parameter", False)
        if not self.is_single and not isinstance(weights, (tuple, list)):
            raise TypeError(
                f"For '{owner}', the argument 'weights' should be ParameterTuple type, but got "
                f"'{type(weights)}'; a list of Parameters or one Parameter is also "
                f"accepted.{_list_of(weights)}"
            )
        self.listed: tuple[Any, ...] = (weights,) if self.is_single else tuple(weights)
        for index, parameter in enumerate(self.listed):
            if not getattr(parameter, "is_parameter", False):
                raise TypeError(
                    f"For '{owner}', the elements of 'weights' should be Parameters, but element "
                    f"{index} is of type {type(parameter).__name__}."
                )
        unique = {id(p): p for p in self.listed}
        self.unique = tuple(unique.values())
        places = {key: place for place, key in enumerate(unique)}
        self._order = [places[id(p)] for p in self.listed]

    @property
    def key(self) -> tuple[Any, ...]:
        """A cache key that identifies these weights."""
        return (self.is_single, *[id(p) for p in self.listed])

    def arranged(self, gradients: Sequence[Any]) -> Any:
        """Arrange the gradients of ``unique`` in the order of ``listed``.

        If ``weights`` is one Parameter, return its gradient without a tuple.
        """
        if self.is_single:
            return gradients[0]
        return tuple([gradients[place] for place in self._order])

    def with_names(self, gradients: Sequence[Any]) -> Any:
        """Return pairs ``(name of the Parameter, gradient)``, as :meth:`arranged` does."""
        return self.arranged([(p.name, g) for p, g in zip(self.unique, gradients, strict=True)])


def check_inputs(owner: str, args: Sequence[Any]) -> None:
    """Raise an error for an argument type that cannot be differentiated.

    A NumPy array raises ``TypeError``. A selection ``x[mask]`` with a mask that is unknown at compile time
    raises ``CompileError``.
    """
    refuse_selections(flatten(tuple(args))[0])
    for index, x in enumerate(args):
        if type(x) is not Tensor and isinstance(x, np.ndarray):
            raise TypeError(
                f"For '{owner}', the input can not be numpy.ndarray, but argument {index} is; "
                f"make it a Tensor: Tensor(array)."
            )


def check_count(
    fn: Any, signature: Arity, count: int, scaled: bool | None = None, container: str = ""
) -> None:
    """Check the number of positional arguments, without ``sens``.

    ``scaled`` is whether a ``sens`` is given, or ``None`` if the API has no ``sens``. ``container`` is the
    name of the type of the container if all arguments were passed in one.

    Raises:
        TypeError: If ``fn`` does not accept ``count`` positional arguments.
    """
    if signature.accepts(count):
        return
    number = int(signature.least if count < signature.least else signature.most)
    if scaled:
        hint = " With sens_param=True the last argument is 'sens', after the arguments of the function."
    elif scaled is not None and count > signature.most:
        hint = " A 'sens' requires sens_param=True."
    elif container and signature.accepts(1):
        hint = (
            f" The elements of a {container} of inputs are the arguments; put a {container} that is one "
            f"argument into a tuple, and its tangent too: (inputs,), (v,)."
        )
    else:
        hint = ""
    raise TypeError(
        f"The parameters number of the function is {number}, but the number of provided arguments "
        f"is {count}{_missing(signature, count)}. The function is {describe(fn)}.{hint}"
    )


def _missing(signature: Arity, count: int) -> str:
    """List the parameters without a value in a call with ``count`` arguments."""
    names = [f"'{name}'" for name in signature.names[count : int(signature.least)] if name]
    return f": {', '.join(names)} {'is' if len(names) == 1 else 'are'} missing" if names else ""


def bind_keywords(
    signature: Arity, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Move keyword arguments that name positional parameters to their positions."""
    listed, kwargs = list(args), dict(kwargs)
    names = signature.names
    while len(listed) < len(names) and any(name in kwargs for name in names[len(listed) :]):
        position = len(listed)
        if names[position] in kwargs:
            listed.append(kwargs.pop(names[position]))
        elif position in signature.defaults:
            listed.append(signature.defaults[position])
        else:
            break
    return listed, kwargs


def check_tensors(text: str, values: Sequence[Any]) -> None:
    """Raise ``TypeError`` if :func:`is_input` is false for one of ``values``."""
    for value in values:
        if not is_input(value):
            raise TypeError(f"{text}, but got {type(value).__name__}.")


def is_input(value: Any) -> bool:
    """Return whether ``value`` is a Tensor, a container, or a result of ``mutable``.

    A bare float is not accepted, as in MindSpore.
    """
    kind: Any = type(value)
    return isinstance(value, (Tensor, tuple, list, dict)) or is_mutable(value) or is_record(kind)


def has_no_derivative(value: Any) -> bool:
    """Return whether ``value`` is a constant: ``None``, an int, bool, str, or dtype."""
    return value is None or (isinstance(value, (int, str, DType)) and not is_mutable(value))


def differentiable(owner: str, leaf: Any, places: Any, index: int, marked: bool) -> type | None:
    """Decide whether a leaf of an argument is differentiated.

    Args:
        owner: name of the public function, such as ``"grad"``, for error messages.
        leaf: leaf of an argument, such as a Tensor or a number.
        places: ``places.name(index)`` is the name of the leaf, for errors. ``places.is_nested`` is whether
            the argument is a container.
        index: index of the leaf among the leaves of the argument.
        marked: whether ``mutable`` created the argument. Leaves of such an argument that have no derivative
            are constants.

    Returns:
        ``Tensor`` or ``Number`` for a leaf that is differentiated, and ``None`` for a constant.

    Raises:
        TypeError: If the leaf has no derivative and may not be a constant.
    """
    if isinstance(leaf, Tensor) and type(leaf) is not Number:
        if marked or leaf.dtype.is_inexact or not places.is_nested:
            return Tensor
    elif is_number(leaf) and (not marked or is_mutable(leaf) or type(leaf) is Number):
        return Number
    elif marked or (leaf is None and places.is_nested):
        return None
    raise TypeError(
        f"For '{owner}', {places.name(index)} is {of_no_derivative(leaf)}, which has no derivative: "
        f"{_remedy(leaf, places.is_nested)}."
    )


def of_no_derivative(leaf: Any) -> str:
    """Describe a value without derivative, for messages: ``"the int 3"``."""
    if isinstance(leaf, Tensor):
        return f"a Tensor of dtype {leaf.dtype}"
    if isinstance(leaf, (bool, int, str)):
        return f"the {type(leaf).__name__} {leaf!r}"
    return "None" if leaf is None else f"of type {type(leaf).__name__}"


def _remedy(leaf: Any, nested: bool) -> str:
    if not isinstance(leaf, Tensor) and (isinstance(leaf, np.ndarray) or is_other_array(leaf)):
        return "make it a Tensor, Tensor(array)"
    apart = "pass it as a separate argument" if nested else "leave its position out of 'grad_position'"
    if isinstance(leaf, Tensor):
        return f"make it a floating-point Tensor, or {apart}"
    if isinstance(leaf, (int, complex)) and not isinstance(leaf, bool):
        return f"make it a {'float' if isinstance(leaf, int) else 'Tensor'}, or {apart}"
    return apart


def check_outputs(owner: str, fn: Any, leaves: Sequence[Any]) -> None:
    """Raise ``TypeError`` unless the outputs are tensors, numbers, and some ``None``."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if tensors and len(tensors) == len(leaves):
        return
    if not any(leaf is not None for leaf in leaves):
        raise TypeError(
            f"For '{owner}', the function to differentiate must return a tensor or number, but "
            f"{describe(fn)} returned {'None' if len(leaves) == 1 else 'no values'}. Check that it ends with "
            "'return'."
        )
    refuse_selections(leaves)
    for leaf in leaves:
        if isinstance(leaf, (Tensor, bool, int, float, complex, np.generic)) or leaf is None:
            continue
        is_array = isinstance(leaf, np.ndarray)
        hint = " Compute the result with operators of mindgrad.ops instead of NumPy." if is_array else ""
        raise TypeError(
            f"For '{owner}', the function to differentiate must return tensors or numbers, or "
            f"tuples, lists or dicts of them, but {describe(fn)} returned "
            f"{'an' if is_array else 'a'} {type(leaf).__name__}.{hint}"
        )


def warn_of_integers(tensors: Sequence[Tensor]) -> None:
    """Warn that the gradient with respect to an integer tensor is an integer tensor."""
    for tensor in tensors:
        dtype = (tensor._type or tensor.type).dtype
        if dtype.is_inexact or dtype.kind not in ("int", "uint"):
            continue
        warn_user(
            f"An input of dtype {dtype} is differentiated. As in MindSpore, its gradient also has dtype "
            f"{dtype}, so fractions are truncated. To keep them, convert the input: x.astype(ms.float32)."
        )
        return
