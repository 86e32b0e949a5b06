"""Convert arguments and results of differentiated functions to lists of tensors.

Arguments and results may be nested containers. The entries that are not containers are called *leaves*. A
float leaf becomes a float64 scalar. Like a Python number, it does not change the dtype of a tensor with which
it is combined. Its derivative is a Python float.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindgrad.core.base.keywords import check_keywords
from mindgrad.core.base.tree import differences, flatten, paths, unflatten
from mindgrad.core.ir.tensor import Tensor, make_number, make_tensor, number_like
from mindgrad.core.trace import frontend, references
from mindgrad.core.trace.numbers import as_python
from mindgrad.core.trace.record import Recorded, record

__all__ = [
    "Inputs", "Run", "check_call", "check_real", "check_sequences", "like_tree", "positions_of",
    "recorded_run", "tensor_of",
]  # fmt: skip


def check_call(
    api: Callable[..., object], function: object, unknown: Mapping[str, object] | None = None
) -> None:
    """Raise ``TypeError`` if ``api`` received an unknown keyword, or no function."""
    if unknown:
        parameters = inspect.signature(api).parameters.values()
        accepted = [x.name for x in parameters if x.kind not in (x.VAR_POSITIONAL, x.VAR_KEYWORD)]
        check_keywords(api.__name__, unknown, accepted)
    if not callable(function):
        raise TypeError(
            f"For '{api.__name__}', the first argument must be a function, but got {function!r} of type "
            f"{type(function).__name__}. Pass f, not the result f(x)."
        )


def check_sequences(owner: str, **given: object) -> None:
    """Raise ``TypeError`` if one of the arguments ``given`` is not a tuple or list."""
    for name, value in given.items():
        if not isinstance(value, (tuple, list)):
            raise TypeError(
                f"For '{owner}', {name} must be a tuple or list with one element for each argument, but got "
                f"{type(value).__name__}. Write ({name[:-1]},) for one argument."
            )


def positions_of(owner: str, argnums: int | Sequence[int], count: int) -> list[int]:
    """Convert ``argnums`` to a list of nonnegative indices of ``count`` arguments."""
    numbers: list[Any] = list(argnums) if isinstance(argnums, Sequence) else [argnums]
    if any(isinstance(k, bool) or not isinstance(k, int) for k in numbers):
        raise TypeError(f"For '{owner}', argnums must be an int or a tuple of ints, but got {argnums!r}.")
    if any(not -count <= k < count for k in numbers):
        raise ValueError(
            f"For '{owner}', argnums is {argnums!r}, but the function was called with {count} positional "
            "arguments. Pass the differentiated arguments by position."
        )
    positions = [k % count for k in numbers]
    if not numbers or len(set(positions)) < len(positions):
        raise ValueError(
            f"For '{owner}', argnums must contain at least one index and no duplicates, but got {argnums!r}."
        )
    return positions


def tensor_of(leaf: object) -> Tensor | None:
    """Convert a float or complex leaf to a tensor; return ``None`` for other types."""
    if isinstance(leaf, Tensor):
        tensor = references.read(leaf) if leaf.is_parameter else leaf
    elif isinstance(leaf, (float, np.floating)):
        return make_number(make_tensor(np.asarray(leaf, np.float64)))
    elif isinstance(leaf, (complex, np.ndarray)):
        tensor = Tensor(np.asarray(leaf))
    else:
        return None
    return tensor if tensor.dtype.is_inexact else None


class Inputs:
    """The arguments of one call with respect to which a function is differentiated.

    Args:
        owner: name of the public function, such as ``"grad"``, for error messages.
        args: all positional arguments of the call.
        positions: indices of the differentiated arguments.

    Attributes:
        tensors: one tensor for each leaf of the differentiated arguments, without leaves that are ``None``. A
            float leaf becomes a :class:`Number`.

    Raises:
        TypeError: If a leaf other than ``None`` is not a floating-point or complex tensor or number.
    """

    __slots__ = ("_args", "_leaves", "_positions", "_structure", "tensors")

    def __init__(self, owner: str, args: Sequence[object], positions: Sequence[int]) -> None:
        self._args, self._positions = args, positions
        leaves, self._structure = flatten(tuple([args[k] for k in positions]))
        tensors = [None if leaf is None else tensor_of(leaf) for leaf in leaves]
        for index, leaf in enumerate(leaves):
            if leaf is not None and tensors[index] is None:
                raise TypeError(_without_derivative(owner, leaf, paths(self._structure)[index], positions))
        self._leaves = tensors
        self.tensors = [t for t in tensors if t is not None]

    def arguments(self, traced: Sequence[Tensor]) -> list[Any]:
        """Return all arguments of the call, in which ``traced`` replaces ``self.tensors``."""
        args = list(self._args)
        for position, part in zip(self._positions, self._filled(traced), strict=True):
            args[position] = part
        return args

    def trees(self, tensors: Sequence[object]) -> tuple[Any, ...]:
        """Return ``tensors`` in the containers of the differentiated arguments.

        ``tensors`` contains one derivative for each element of ``self.tensors``. Derivatives of floats are
        returned as floats, except inside a trace.
        """
        return as_python(self._filled(tensors))

    def nested(self, parts: Sequence[object]) -> tuple[Any, ...]:
        """Return ``parts`` in the containers of the differentiated arguments.

        Unlike :meth:`trees`, this method does not convert ``parts``, which may be containers.
        """
        following = iter(parts)
        return unflatten(self._structure, [x if x is None else next(following) for x in self._leaves])

    def values(self) -> tuple[Any, ...]:
        """Return the differentiated arguments; arrays and floats are converted to tensors."""
        return self._filled(self.tensors)

    def _filled(self, tensors: Sequence[Any]) -> Any:
        if len(tensors) != len(self.tensors):
            raise ValueError(f"a rule returned {len(tensors)} derivatives for {len(self.tensors)} inputs.")
        following = iter(tensors)
        filled = [None if x is None else number_like(next(following), x) for x in self._leaves]
        return unflatten(self._structure, filled)


def _without_derivative(owner: str, leaf: object, path: str, positions: Sequence[int]) -> str:
    """Return the error message for a differentiated argument that has no derivative.

    ``leaf`` is the entry without a derivative, and ``path`` its path in the tuple of differentiated
    arguments.
    """
    index, _, subpath = path[1:].partition("]")
    kind = f"a tensor of dtype {leaf.dtype}" if hasattr(leaf, "dtype") else f"of type {type(leaf).__name__}"
    fix = f"Pass {float(leaf)!r}" if type(leaf) is int else "Pass floats or floating-point tensors"
    return (
        f"For '{owner}', argument {positions[int(index)]}{subpath and ' at ' + subpath} is {kind}, which has "
        f"no derivative. {fix}, or choose other arguments with argnums."
    )


class Run(NamedTuple):
    """The recording of one run of a differentiated function.

    Attributes:
        inputs: the differentiated arguments.
        recorded: the recording. The recorded function returns the pair (output, ``aux``).
        outputs: the tensors in the output. They belong to the scope of the recording.
    """

    inputs: Inputs
    recorded: Recorded
    outputs: list[Tensor]

    def result(self, tensors: Sequence[Tensor]) -> tuple[Any, Any]:
        """Return the pair (output, ``aux``); ``tensors`` replace the recorded tensors."""
        return as_python(self.recorded.result(tensors))


def recorded_run(
    owner: str,
    function: Callable[..., object],
    args: Sequence[object],
    kwargs: dict[str, object],
    argnums: int | Sequence[int],
    has_aux: bool = False,
    accept: Callable[[str, object], None] | None = None,
) -> Run:
    """Run ``function``, and record its operators for differentiation.

    Args:
        owner: name of the public function, such as ``"grad"``, for error messages.
        function: the function to differentiate.
        args, kwargs: the arguments of ``function``.
        argnums: index or indices of the differentiated positional arguments.
        has_aux: whether ``function`` returns a pair ``(output, aux)``, in which ``aux`` is not
            differentiated.
        accept: function of ``owner`` and the output that raises an error if the output is not supported.

    Raises:
        TypeError: If a differentiated argument has no derivative, or a leaf of the output is neither a tensor
            nor a number.
        ValueError: If ``argnums`` is out of range.
    """
    inputs = Inputs(owner, args, positions_of(owner, argnums, len(args)))
    count = 0

    def call(*traced: Tensor) -> tuple[Any, Any]:
        nonlocal count
        result, aux = frontend.active.call(function, *inputs.arguments(traced), **kwargs), None
        if has_aux:
            if not isinstance(result, tuple) or len(result) != 2:
                raise TypeError(
                    f"For '{owner}', with has_aux=True, the function must return a pair (output, aux), but "
                    f"returned a {type(result).__name__}."
                )
            result, aux = result
        if accept is not None:
            accept(owner, result)
        leaves, structure = flatten(result)
        count = len(leaves)
        return unflatten(structure, [_output(owner, leaf) for leaf in leaves]), aux

    recorded = record(call, inputs.tensors)
    return Run(inputs, recorded, [x for x in recorded.leaves[:count] if isinstance(x, Tensor)])


def _output(owner: str, leaf: object) -> Any:
    """Convert a leaf of the output to a tensor; return ``None`` unchanged."""
    if isinstance(leaf, Tensor):
        return leaf
    if leaf is None:
        return None
    if isinstance(leaf, (bool, int, float, complex, np.ndarray, np.generic)):
        return tensor_of(leaf) or Tensor(leaf)
    raise TypeError(
        f"For '{owner}', the function must return tensors and numbers, or containers of them, but "
        f"returned {leaf!r}."
    )


def check_real(owner: str, name: str, tensors: Sequence[Tensor], instead: str) -> None:
    """Raise ``TypeError`` if one of ``tensors`` is complex. ``instead`` is the last sentence of the error."""
    for x in tensors:
        if x.dtype.kind == "complex":
            raise TypeError(f"For '{owner}', the {name} must be real, but has dtype {x.dtype}. {instead}")


def like_tree(owner: str, name: str, tree: object, like: object) -> list[Tensor]:
    """Convert the leaves of ``tree`` to tensors, and check that they match ``like``.

    Numbers and arrays in ``tree`` are converted to the dtype of the corresponding leaf of ``like``. ``name``
    is the name of ``tree`` in error messages.

    Raises:
        TypeError: If the containers differ, or a tensor has a different dtype.
        ValueError: If shapes differ.
    """
    leaves, structure = flatten(tree)
    expected, form = flatten(like)
    if differences(form, structure):
        raise TypeError(
            f"For '{owner}', {name} must have the leaves {_listed(form, name)}, but it has the leaves "
            f"{_listed(structure, name)}."
        )
    tensors = []
    for leaf, other, path in zip(leaves, expected, paths(structure, name), strict=True):
        if other is None:
            continue
        target: Any = other if isinstance(other, Tensor) else tensor_of(other)
        shape = np.shape(leaf) if not isinstance(leaf, Tensor) else leaf.shape
        if shape != target.shape:
            raise ValueError(f"For '{owner}', {path} has shape {shape}, but must have shape {target.shape}.")
        vector = references.read(leaf) if isinstance(leaf, Tensor) else Tensor(leaf, target.dtype)
        if vector.dtype is not target.dtype:
            raise TypeError(
                f"For '{owner}', {path} has dtype {vector.dtype}, but must have dtype {target.dtype}."
            )
        tensors.append(vector)
    return tensors


def _listed(structure: tuple, name: str) -> str:
    """Return the paths of the first leaves of ``structure``, such as ``x[0], x[1]``."""
    listed = paths(structure, name)
    return ", ".join(listed[:6]) + ", ..." * (len(listed) > 6) if listed else "none"
