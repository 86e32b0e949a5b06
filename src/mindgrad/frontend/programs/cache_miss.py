"""Explanations of cache misses: why a call cannot use a compiled program.

A compiled function calls this module when it compiles. The explanation is the first difference between an
earlier call and the current call, or between an earlier function and the current function.
``mindgrad.cache_info()`` lists the explanations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindgrad.core.base.tree import differences, flatten, paths
from mindgrad.core.ir.types import TensorType
from mindgrad.frontend.guards import MAKE_ONCE, Change, change
from mindgrad.frontend.mode import GRAPH_MODE
from mindgrad.frontend.programs.array_arguments import leaves_as_tensors
from mindgrad.frontend.signature import FunctionKey, difference, leaf_signature, shown
from mindgrad.frontend.user_functions import functions_in

__all__ = ["UNKNOWN", "between_functions", "between_signatures", "refused"]

#: the explanation if no difference is found: the program of the earlier call was deleted, because the cache
#: was full (``cache.MAXSIZE``)
UNKNOWN = Change(
    "removed programs",
    "it was removed from the cache, which was full",
    "Use fewer combinations of argument types.",
)

_SHAPE = "Use one shape: pad the array, or split it into pieces of equal size."
_DTYPE = "Use one dtype: convert the argument."
_NUMBER = "Pass a Tensor, or mutable(number)."
_CONSTANT = "The function is compiled for each value of a constant. Pass changing values as Tensors."
_STRUCTURE = "Always pass the same structure, or combine its tensors into one."
_OPTION = "Change this setting less often."


def between_signatures(before: Any, after: Any, function: Callable[..., Any]) -> Iterator[Change]:
    """Iterate over the differences between two call signatures of ``function``.

    A call signature is the tuple ``(arguments, mode, device target, device id, rewrites, debug_nans,
    partition)``. If all arguments of the call are tensors, the entry ``arguments`` is a tuple of their types.
    Otherwise, it is the pair ``(structure, signatures of the leaves)``.
    """
    subjects = (
        "the device", "the device id", "the option 'rewrites'", "the option 'debug_nans'",
        "the division among devices",
    )  # fmt: skip
    for subject, old, new in zip(subjects, before[2:], after[2:], strict=True):
        if old != new:
            yield change(subject, old, new, _OPTION)
    if before[1] != after[1]:
        modes = ["GRAPH_MODE" if s[1] == GRAPH_MODE else "PYNATIVE_MODE" for s in (before, after)]
        yield Change("the mode", f"the mode changed from {modes[0]} to {modes[1]}", _OPTION)
    (structure, leaves), (new_structure, new_leaves) = _whole(before[0]), _whole(after[0])
    names = _names(function)
    if structure != new_structure:
        yield _of_structures(structure, new_structure, names)
        return
    for label, old, new in zip(_labels(structure, names), leaves, new_leaves, strict=True):
        if old != new:
            yield _of_leaves(label, old, new)


def _whole(arguments: Any) -> tuple[Any, tuple]:
    if all(type(each) is TensorType for each in arguments):
        leaves, structure = flatten((arguments, {}))
        return structure, tuple(leaves)
    return arguments


def _names(function: Callable[..., Any]) -> list[str]:
    """Return the names of the positional parameters of the user's function."""
    for each in functions_in(function):
        try:
            signature = inspect.signature(getattr(each, "construct", each))
        except (TypeError, ValueError):
            return []
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return [p.name for p in signature.parameters.values() if p.kind in kinds]
    return []


def _argument(index: int, names: list[str]) -> str:
    return f"argument '{names[index]}'" if index < len(names) else f"argument number {index}"


def _labels(structure: Any, names: list[str]) -> list[str]:
    positional, keywords = structure[1]
    labels = [_argument(index, names) for index in range(len(positional[1]))]
    labels += [f"argument '{name}'" for name in keywords[1]]
    items = [*positional[1], *keywords[2]]
    return [
        f"{label}, at {path}" if path else label
        for label, item in zip(labels, items, strict=True)
        for path in paths(item)
    ]


def refused(function: Callable[..., Any], args: Any, kwargs: dict[str, Any], error: TypeError) -> TypeError:
    """Return ``error`` with a message that also names the argument that caused it.

    The argument is a Python value that cannot be part of a cache key, for example because it is not hashable.
    """
    leaves, structure = flatten((args, kwargs))
    leaves = leaves_as_tensors(leaves)
    for label, leaf in zip(_labels(structure, _names(function)), leaves, strict=True):
        try:
            leaf_signature(leaf)
        except TypeError:
            said = next(map(_said, functions_in(function)), "the function")
            return TypeError(f"{error} It is {label} of {said}.")
    return error


def _said(function: Any) -> str:
    plain = getattr(function, "construct", function)
    code = getattr(plain, "__code__", None)
    name = (
        type(function).__name__
        if plain is not function
        else getattr(function, "__qualname__", "the function")
    )
    return f"'{name}'" + (f" ({code.co_filename}:{code.co_firstlineno})" if code else "")


def _of_structures(before: Any, after: Any, names: list[str]) -> Change:
    (positional, keywords), (new_positional, new_keywords) = before[1], after[1]
    if len(positional[1]) != len(new_positional[1]) or keywords[1] != new_keywords[1]:
        said = [
            f"{len(p[1])} positional" + "".join(f", {name}=" for name in k[1])
            for p, k in ((positional, keywords), (new_positional, new_keywords))
        ]
        subject = "the number of arguments"
        return Change(subject, f"the arguments changed from {said[0]} to {said[1]}", _STRUCTURE)
    labels = [_argument(index, names) for index in range(len(positional[1]))]
    labels += [f"argument '{name}'" for name in keywords[1]]
    pairs = zip(labels, [*positional[1], *keywords[2]], [*new_positional[1], *new_keywords[2]], strict=True)
    for label, item, new_item in pairs:
        found = differences(item, new_item, label)
        if found:
            return Change(f"the structure of {label}", found, _STRUCTURE)
    return UNKNOWN


def _of_leaves(label: str, before: Any, after: Any) -> Change:
    if isinstance(before, TensorType) and isinstance(after, TensorType):
        advice = _DTYPE if before.shape == after.shape else _SHAPE
        return Change(label, f"{label} changed from {before} to {after}", advice)
    old, new = _value(before), _value(after)
    if isinstance(after, FunctionKey):
        advice = MAKE_ONCE
    elif isinstance(old, (int, float, complex)) and not isinstance(old, bool):
        advice = _NUMBER
    else:
        advice = _CONSTANT
    if isinstance(before, TensorType) or isinstance(after, TensorType):
        pairs = ((before, old), (after, new))
        said = [f"a Tensor {s}" if isinstance(s, TensorType) else shown(v) for s, v in pairs]
        return Change(label, f"{label} changed from {said[0]} to {said[1]}", advice)
    return change(label, old, new, advice)


def _value(signature: Any) -> Any:
    """Return the Python value from which the signature of a constant was computed."""
    if not isinstance(signature, tuple) or len(signature) != 2:
        return signature
    kind, value = signature
    if isinstance(value, str) and not issubclass(kind, str):
        is_float = issubclass(kind, (float, np.float32, np.float16))
        return float.fromhex(value) if is_float else value
    return value


def between_functions(snapshot: Any, function: Any) -> Change | None:
    """Return the first difference between ``function`` and ``snapshot``.

    ``snapshot`` is a copy of an earlier function with the same code, whose closure, defaults, or attributes
    may differ. The result is ``None`` if there is no difference.
    """
    found = difference(snapshot, function)
    return None if found is None else change(*found, MAKE_ONCE)
