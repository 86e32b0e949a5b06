"""MindSpore's operators on tuples and lists: ``make_range``, ``tuple_len`` and related functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.ops.registry import public

__all__ = [
    "bool_and", "bool_eq", "bool_not", "bool_or", "dict_getitem", "in_dict", "is_", "is_not",
    "list_getitem", "list_len", "make_dict", "make_list", "make_range", "make_slice", "make_tuple",
    "not_in_dict", "string_concat", "string_eq", "tensor_to_tuple", "tuple_div", "tuple_equal",
    "tuple_getitem", "tuple_len", "tuple_reversed",
]  # fmt: skip


def make_range(*bounds: int) -> tuple[int, ...]:
    """The integers of ``range``, as a tuple.

    Args:
        bounds: as ``range`` takes them.

    Raises:
        TypeError: they are no ints.

    >>> from mindgrad import ops
    >>> ops.make_range(1, 4)
    (1, 2, 3)
    """
    return tuple(range(*bounds))


@public("TensorToTuple >>> ops.TensorToTuple()(Tensor([1, 2])) => (1, 2)")
def tensor_to_tuple(x: Any) -> tuple[Any, ...]:
    """The elements of a tensor of one axis: numbers, or tensors while a program is being compiled.

    >>> from mindgrad import Tensor, ops
    >>> ops.TensorToTuple()(Tensor([1, 2]))
    (1, 2)
    """
    if x.is_traced:
        return tuple(x)
    return tuple(x.tolist()) if x.ndim else (x.item(),)


def tuple_div(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    """The quotients of two tuples of ints, item by item, which must divide without rest.

    >>> from mindgrad import ops
    >>> ops.tuple_div((8, 9), (2, 3))
    (4, 3)
    """
    if len(x) != len(y) or any(a % b for a, b in zip(x, y, strict=True)):
        raise ValueError(f"For 'tuple_div', {x} is not divisible by {y}.")
    return tuple(a // b for a, b in zip(x, y, strict=True))


def tuple_len(sequence: Any) -> int:
    """The number of items of a tuple.

    >>> from mindgrad import ops
    >>> ops.tuple_len((1, 2))
    2
    """
    return len(sequence)


def list_len(sequence: Any) -> int:
    """The number of items of a list.

    >>> from mindgrad import ops
    >>> ops.list_len([1, 2])
    2
    """
    return len(sequence)


def make_tuple(*items: Any) -> tuple[Any, ...]:
    """A tuple of the arguments.

    >>> from mindgrad import ops
    >>> ops.make_tuple(1, 2)
    (1, 2)
    """
    return items


def make_list(*items: Any) -> list[Any]:
    """A list of the arguments.

    >>> from mindgrad import ops
    >>> ops.make_list(1, 2)
    [1, 2]
    """
    return list(items)


def make_dict(keys: Any, values: Any) -> dict[Any, Any]:
    """A dict of keys and values.

    >>> from mindgrad import ops
    >>> ops.make_dict(("a",), (1,))
    {'a': 1}
    """
    return dict(zip(keys, values, strict=True))


def make_slice(start: Any, stop: Any, step: Any) -> slice:
    """A slice.

    >>> from mindgrad import ops
    >>> ops.make_slice(0, 2, None)
    slice(0, 2, None)
    """
    return slice(start, stop, step)


def tuple_getitem(sequence: Any, index: int) -> Any:
    """An item of a tuple.

    >>> from mindgrad import ops
    >>> ops.tuple_getitem((1, 2), 1)
    2
    """
    return sequence[index]


def list_getitem(sequence: Any, index: int) -> Any:
    """An item of a list.

    >>> from mindgrad import ops
    >>> ops.list_getitem([1, 2], 1)
    2
    """
    return sequence[index]


def dict_getitem(mapping: Any, key: Any) -> Any:
    """A value of a dict.

    >>> from mindgrad import ops
    >>> ops.dict_getitem({"a": 1}, "a")
    1
    """
    return mapping[key]


def tuple_reversed(sequence: Any) -> tuple[Any, ...]:
    """The items of a tuple, from the last to the first.

    >>> from mindgrad import ops
    >>> ops.tuple_reversed((1, 2))
    (2, 1)
    """
    return tuple(reversed(sequence))


def _relation(
    name: str, meaning: str, function: Callable[..., Any], example: str, prints: str
) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"{meaning}\n\n    >>> from mindgrad import ops\n    >>> ops.{name}({example})\n    {prints}\n    "
    )
    return function


def _and(x: Any, y: Any) -> Any:
    return x and y


def _or(x: Any, y: Any) -> Any:
    return x or y


def _not(x: Any) -> bool:
    return not x


def _is(x: Any, y: Any) -> bool:
    return x is y


def _is_not(x: Any, y: Any) -> bool:
    return x is not y


def _in(key: Any, mapping: Any) -> bool:
    return key in mapping


def _not_in(key: Any, mapping: Any) -> bool:
    return key not in mapping


def _equal_truths(x: Any, y: Any) -> bool:
    return bool(x == y)


def _equal_tuples(x: Any, y: Any) -> bool:
    return bool(x == y)


def _equal_texts(x: str, y: str) -> bool:
    return x == y


def _joined(x: str, y: str) -> str:
    return x + y


bool_and = _relation("bool_and", "Whether both hold.", _and, "True, False", "False")
bool_or = _relation("bool_or", "Whether one of both holds.", _or, "True, False", "True")
bool_not = _relation("bool_not", "Whether it does not hold.", _not, "True", "False")
bool_eq = _relation("bool_eq", "Whether both hold or none.", _equal_truths, "True, False", "False")
is_ = _relation("is_", "Whether both are one object.", _is, "None, None", "True")
is_not = _relation("is_not", "Whether they are two objects.", _is_not, "None, None", "False")
in_dict = _relation("in_dict", "Whether a dict has a key.", _in, '"a", {"a": 1}', "True")
not_in_dict = _relation("not_in_dict", "Whether a dict lacks a key.", _not_in, '"a", {"a": 1}', "False")
string_eq = _relation("string_eq", "Whether two texts are equal.", _equal_texts, '"a", "b"', "False")
string_concat = _relation("string_concat", "One text behind the other.", _joined, '"a", "b"', "'ab'")
tuple_equal = _relation(
    "tuple_equal", "Whether two tuples are equal.", _equal_tuples, "(1, 2), (1, 2)", "True"
)
