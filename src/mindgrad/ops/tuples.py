"""MindSpore's operators on tuples, lists, and dicts, such as ``make_range``."""

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
    """Return the integers of ``range`` as a tuple.

    Args:
        *bounds (int): arguments of Python's ``range``: stop, or start, stop, and optionally step.

    Returns:
        Tuple of the integers.

    Raises:
        TypeError: If an argument is not an int.

    >>> from mindgrad import ops
    >>> ops.make_range(1, 4)
    (1, 2, 3)
    """
    return tuple(range(*bounds))


@public("TensorToTuple >>> ops.TensorToTuple()(Tensor([1, 2])) => (1, 2)")
def tensor_to_tuple(x: Any) -> tuple[Any, ...]:
    """Convert a 1-D tensor to a tuple of numbers, or of tensors at compile time.

    Args:
        x (Tensor): 1-D tensor.

    Returns:
        Tuple of the elements.

    >>> from mindgrad import Tensor, ops
    >>> ops.TensorToTuple()(Tensor([1, 2]))
    (1, 2)
    """
    if x.is_traced:
        return tuple(x)
    return tuple(x.tolist()) if x.ndim else (x.item(),)


def tuple_div(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
    """Divide two tuples of ints elementwise, without remainder.

    Args:
        x, y (tuple of int): dividends and divisors, tuples of the same length.

    Returns:
        Tuple of the integer quotients.

    >>> from mindgrad import ops
    >>> ops.tuple_div((8, 9), (2, 3))
    (4, 3)
    """
    if len(x) != len(y) or any(a % b for a, b in zip(x, y, strict=True)):
        raise ValueError(f"For 'tuple_div', {x} is not divisible by {y}.")
    return tuple(a // b for a, b in zip(x, y, strict=True))


def tuple_len(sequence: Any) -> int:
    """Return the number of items of a tuple.

    Args:
        sequence (tuple): the tuple.

    Returns:
        int: the number of items.

    >>> from mindgrad import ops
    >>> ops.tuple_len((1, 2))
    2
    """
    return len(sequence)


def list_len(sequence: Any) -> int:
    """Return the number of items of a list.

    Args:
        sequence (list): the list.

    Returns:
        int: the number of items.

    >>> from mindgrad import ops
    >>> ops.list_len([1, 2])
    2
    """
    return len(sequence)


def make_tuple(*items: Any) -> tuple[Any, ...]:
    """Return a tuple of the arguments.

    Args:
        *items (object): the items.

    Returns:
        Tuple of the arguments.

    >>> from mindgrad import ops
    >>> ops.make_tuple(1, 2)
    (1, 2)
    """
    return items


def make_list(*items: Any) -> list[Any]:
    """Return a list of the arguments.

    Args:
        *items (object): the items.

    Returns:
        List of the arguments.

    >>> from mindgrad import ops
    >>> ops.make_list(1, 2)
    [1, 2]
    """
    return list(items)


def make_dict(keys: Any, values: Any) -> dict[Any, Any]:
    """Return a dict with the given keys and values.

    Args:
        keys, values (tuple): keys and their values, tuples of the same length.

    Returns:
        Dict that maps keys to values.

    >>> from mindgrad import ops
    >>> ops.make_dict(("a",), (1,))
    {'a': 1}
    """
    return dict(zip(keys, values, strict=True))


def make_slice(start: Any, stop: Any, step: Any) -> slice:
    """Return a slice.

    Args:
        start, stop, step (int or None): start, stop, and step of the slice.

    Returns:
        Slice object.

    >>> from mindgrad import ops
    >>> ops.make_slice(0, 2, None)
    slice(0, 2, None)
    """
    return slice(start, stop, step)


def tuple_getitem(sequence: Any, index: int) -> Any:
    """Return an item of a tuple.

    Args:
        sequence (tuple): the tuple.
        index (int): index of the item.

    Returns:
        The item at ``index``.

    >>> from mindgrad import ops
    >>> ops.tuple_getitem((1, 2), 1)
    2
    """
    return sequence[index]


def list_getitem(sequence: Any, index: int) -> Any:
    """Return an item of a list.

    Args:
        sequence (list): the list.
        index (int): index of the item.

    Returns:
        The item at ``index``.

    >>> from mindgrad import ops
    >>> ops.list_getitem([1, 2], 1)
    2
    """
    return sequence[index]


def dict_getitem(mapping: Any, key: Any) -> Any:
    """Return a value of a dict.

    Args:
        mapping (dict): the dict.
        key (object): the key.

    Returns:
        The value of ``key``.

    >>> from mindgrad import ops
    >>> ops.dict_getitem({"a": 1}, "a")
    1
    """
    return mapping[key]


def tuple_reversed(sequence: Any) -> tuple[Any, ...]:
    """Return the items of a tuple in reverse order.

    Args:
        sequence (tuple): the tuple.

    Returns:
        Tuple of the items in reverse order.

    >>> from mindgrad import ops
    >>> ops.tuple_reversed((1, 2))
    (2, 1)
    """
    return tuple(reversed(sequence))


#: argument names -> description in the docstring
_DESCRIBED = {
    ("x", "y"): "        x, y (object): the operands.",
    ("x",): "        x (object): the operand.",
    ("key", "mapping"): "        key (object): the key.\n        mapping (dict): the dict.",
}


def _relation(
    name: str, meaning: str, function: Callable[..., Any], example: str, prints: str
) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{meaning}

    Args:
{_DESCRIBED[function.__code__.co_varnames[:2]]}

    Returns:
        {"str" if name == "string_concat" else "bool"}.

    >>> from mindgrad import ops
    >>> ops.{name}({example})
    {prints}
    """
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


bool_and = _relation("bool_and", "Check whether both operands are true.", _and, "True, False", "False")
bool_or = _relation("bool_or", "Check whether at least one operand is true.", _or, "True, False", "True")
bool_not = _relation("bool_not", "Check whether an operand is false.", _not, "True", "False")
bool_eq = _relation(
    "bool_eq",
    "Check whether both operands are true or both are false.",
    _equal_truths,
    "True, False",
    "False",
)
is_ = _relation("is_", "Check whether both operands are the same object.", _is, "None, None", "True")
is_not = _relation(
    "is_not", "Check whether the operands are different objects.", _is_not, "None, None", "False"
)
in_dict = _relation("in_dict", "Check whether a dict has a key.", _in, '"a", {"a": 1}', "True")
not_in_dict = _relation(
    "not_in_dict", "Check whether a dict does not have a key.", _not_in, '"a", {"a": 1}', "False"
)
string_eq = _relation("string_eq", "Check whether two strings are equal.", _equal_texts, '"a", "b"', "False")
string_concat = _relation("string_concat", "Concatenate two strings.", _joined, '"a", "b"', "'ab'")
tuple_equal = _relation(
    "tuple_equal", "Check whether two tuples are equal.", _equal_tuples, "(1, 2), (1, 2)", "True"
)
