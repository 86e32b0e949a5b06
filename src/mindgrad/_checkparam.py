"""Checks of arguments that programs import from MindSpore.

MindSpore 2.x has functions, and MindSpore 1.x has the classes ``Validator`` and ``Rel``. Each function
returns the value, or raises an error that contains the name of the argument and of the function or class that
checks it.
"""

from __future__ import annotations

import functools
import inspect
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import DType

EQ, NE, LT, LE, GT, GE = "==", "!=", "<", "<=", ">", ">="
IN, NOT_IN = "in", "not in"
INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = "()", "[)", "(]", "[]"

_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    EQ: operator.eq, NE: operator.ne, LT: operator.lt, LE: operator.le, GT: operator.gt, GE: operator.ge,
    IN: lambda value, of: value in of, NOT_IN: lambda value, of: value not in of,
}  # fmt: skip


class Rel:
    """Names of comparisons and of kinds of intervals.

    >>> from mindgrad._checkparam import Rel
    >>> Rel.GE, Rel.INC_LEFT
    ('>=', '[)')
    """

    EQ, NE, LT, LE, GT, GE = EQ, NE, LT, LE, GT, GE
    IN, NOT_IN = IN, NOT_IN
    INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH = INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH


def _owner(prim_name: str | None) -> str:
    return f"For '{prim_name}', the" if prim_name else "The"


def _named(arg_name: str | None) -> str:
    return f"'{arg_name}'" if arg_name else "value"


def _number(
    value: Any, kinds: tuple[type, ...], kind: str, arg_name: str | None, prim_name: str | None
) -> Any:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kinds):
        raise TypeError(
            f"{_owner(prim_name)} {_named(arg_name)} must be {kind}, but got '{value}' with type "
            f"'{type(value).__name__}'."
        )
    return value


_INT, _FLOAT, _REAL = (int, np.integer), (float, np.floating), (int, float, np.integer, np.floating)


def check_number(arg_name: str | None, arg_value: Any, value: Any, rel: str, prim_name: str | None) -> Any:
    """Check that an argument is finite and satisfies ``arg_value rel value``.

    Raises:
        ValueError: If the argument is not finite or does not satisfy the comparison.

    >>> from mindgrad import _checkparam as validator
    >>> validator.check_number("rate", 0.5, 0, validator.GT, "Net")
    0.5
    """
    if isinstance(arg_value, _FLOAT) and not np.isfinite(arg_value):
        raise ValueError(f"{_owner(prim_name)} {_named(arg_name)} must be finite, but got '{arg_value}'.")
    if not _RELATIONS[rel](arg_value, value):
        raise ValueError(
            f"{_owner(prim_name)} {_named(arg_name)} must be {rel} {value}, but got '{arg_value}' with type "
            f"'{type(arg_value).__name__}'."
        )
    return arg_value


def check_number_range(
    arg_value: Any, lower_limit: Any, upper_limit: Any, rel: str, value_type: type,
    arg_name: str | None = None, prim_name: str | None = None,
) -> Any:  # fmt: skip
    """Check that an argument is a number of a given type in an interval.

    ``rel`` has a square bracket for each limit that belongs to the interval: ``"[)"`` includes the lower
    limit.

    Raises:
        TypeError: If the argument does not have the type ``value_type``.
        ValueError: If the argument is outside the interval.

    >>> from mindgrad import _checkparam as validator
    >>> validator.check_number_range(0.0, 0.0, 1.0, validator.INC_LEFT, float, "rate", "Net")
    0.0
    """
    kinds: tuple[type, ...] = {int: _INT, float: _FLOAT}.get(value_type, (value_type,))
    _number(arg_value, kinds, value_type.__name__, arg_name, prim_name)
    above = operator.ge if rel[0] == "[" else operator.gt
    below = operator.le if rel[1] == "]" else operator.lt
    if not (above(arg_value, lower_limit) and below(arg_value, upper_limit)):
        raise ValueError(
            f"{_owner(prim_name)} {_named(arg_name)} must be in range of {rel[0]}{lower_limit}, {upper_limit}"
            f"{rel[1]}, but got {arg_value} with type '{type(arg_value).__name__}'."
        )
    return arg_value


def check(
    arg_name: str | None, arg_value: Any, value_name: str, value: Any, rel: str = EQ,
    prim_name: str | None = None, excp_cls: type[Exception] = ValueError,
) -> Any:  # fmt: skip
    """Check that ``arg_value rel value`` is true, and name ``value`` in errors.

    Raises:
        excp_cls: If the comparison ``arg_value rel value`` is false.

    >>> from mindgrad import _checkparam as validator
    >>> validator.check("rank of x", 2, "rank of y", 2, validator.EQ, "Net")
    2
    """
    if rel in (INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH):
        lower, upper = value
        return check_number_range(arg_value, lower, upper, rel, type(arg_value), arg_name, prim_name)
    if not _RELATIONS[rel](arg_value, value):
        raise excp_cls(
            f"{_owner(prim_name)} {_named(arg_name)} must be {rel} {value_name}: {value}, "
            f"but got {arg_value}."
        )
    return arg_value


def check_int(
    arg_value: Any, value: Any, rel: str, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that an argument is an int that satisfies ``arg_value rel value``."""
    return check_number(arg_name, check_is_int(arg_value, arg_name, prim_name), value, rel, prim_name)


def check_float(
    arg_value: Any, value: Any, rel: str, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that an argument is a float that satisfies ``arg_value rel value``."""
    return check_number(arg_name, check_is_float(arg_value, arg_name, prim_name), value, rel, prim_name)


def check_is_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Check that an argument is an int."""
    return _number(arg_value, _INT, "int", arg_name, prim_name)


def check_is_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Check that an argument is a float."""
    return _number(arg_value, _FLOAT, "float", arg_name, prim_name)


def check_is_number(
    arg_value: Any, arg_type: Any, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that an argument is a finite number of one of the given types."""
    kinds = arg_type if isinstance(arg_type, tuple) else (arg_type,)
    names = " or ".join(kind.__name__ for kind in kinds)
    return check_number(
        arg_name, _number(arg_value, kinds, names, arg_name, prim_name), np.inf, LT, prim_name
    )


def check_positive_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Check that an argument is a positive int."""
    return check_int(arg_value, 0, GT, arg_name, prim_name)


def check_negative_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Check that an argument is a negative int."""
    return check_int(arg_value, 0, LT, arg_name, prim_name)


def check_non_negative_int(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Check that an argument is a nonnegative int."""
    return check_int(arg_value, 0, GE, arg_name, prim_name)


def check_equal_int(
    arg_value: Any, value: int, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that an argument is an int equal to ``value``."""
    return check_int(arg_value, value, EQ, arg_name, prim_name)


def check_positive_float(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Check that an argument is a positive float."""
    return check_float(arg_value, 0, GT, arg_name, prim_name)


def check_non_negative_float(
    arg_value: Any, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that an argument is a nonnegative float."""
    return check_float(arg_value, 0, GE, arg_name, prim_name)


def check_positive_int_sequence(
    sequence: Sequence[Any], arg_name: str | None = None, prim_name: str | None = None
) -> Sequence[Any]:
    """Check that an argument is a sequence of positive ints."""
    for index, element in enumerate(sequence):
        check_positive_int(element, f"{arg_name or 'value'}[{index}]", prim_name)
    return sequence


def check_int_range(
    arg_value: Any, lower_limit: Any, upper_limit: Any, rel: str,
    arg_name: str | None = None, prim_name: str | None = None,
) -> Any:  # fmt: skip
    """Check that an argument is an int in an interval (:func:`check_number_range`)."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, int, arg_name, prim_name)


def check_float_range(
    arg_value: Any, lower_limit: Any, upper_limit: Any, rel: str,
    arg_name: str | None = None, prim_name: str | None = None,
) -> Any:  # fmt: skip
    """Check that an argument is a float in an interval (:func:`check_number_range`)."""
    return check_number_range(arg_value, lower_limit, upper_limit, rel, float, arg_name, prim_name)


def check_bool(arg_value: Any, arg_name: str | None = None, prim_name: str | None = None) -> Any:
    """Check that an argument is a bool."""
    if not isinstance(arg_value, bool):
        raise TypeError(
            f"{_owner(prim_name)} {_named(arg_name)} must be a bool, but got {type(arg_value).__name__}."
        )
    return arg_value


def check_string(
    arg_value: Any, valid_values: Any, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that an argument is one of several given strings."""
    if not isinstance(arg_value, str) or arg_value not in valid_values:
        raise ValueError(
            f"{_owner(prim_name)} {_named(arg_name)} must be str and must be in '{valid_values}', but got "
            f"'{arg_value}'."
        )
    return arg_value


def check_str_by_regular(
    target: str, reg: str = r"^[0-9a-zA-Z_\.]*$", flag: Any = re.ASCII, prim_name: str | None = None
) -> bool:
    """Check that a string matches a regular expression, and return ``True``."""
    if re.match(reg, target, flag) is None:
        raise ValueError(f"{_owner(prim_name)} value '{target}' does not match {reg!r}.")
    return True


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any, prim_name: str | None = None) -> Any:
    """Check that an argument has one of several Python types.

    A bool does not count as an int.

    Raises:
        TypeError: If the argument does not have one of the types in ``valid_types``.

    >>> from mindgrad import _checkparam as validator
    >>> validator.check_value_type("rate", 0.5, [int, float], "Net")
    0.5
    """
    types = tuple(valid_types) if isinstance(valid_types, (list, tuple)) else (valid_types,)
    is_unlisted_bool = isinstance(arg_value, bool) and bool not in types and object not in types
    if is_unlisted_bool or not isinstance(arg_value, types):
        names = [kind.__name__ for kind in types]
        expected = f"'{names[0]}'" if len(names) == 1 else f"one of '{names}'"
        raise TypeError(
            f"For '{prim_name}', the type of '{arg_name}' should be {expected}, but got type "
            f"'{type(arg_value).__name__}'."
            if prim_name
            else f"The type of '{arg_name}' should be {expected}, but got type '{type(arg_value).__name__}'."
        )
    return arg_value


def check_isinstance(arg_name: str, arg_value: Any, classes: Any) -> Any:
    """Check that an argument is an instance of one of several given classes."""
    return check_value_type(arg_name, arg_value, classes)


def check_subclass(
    arg_name: str, type_: Any, template_types: Any, prim_name: str | None, addition_error_info: Any = None
) -> Any:
    """Check that a class or dtype is, or is derived from, one of several given ones."""
    allowed = tuple(template_types) if isinstance(template_types, (list, tuple)) else (template_types,)
    for template in allowed:
        if type_ is template or (
            isinstance(type_, type) and isinstance(template, type) and issubclass(type_, template)
        ):
            return type_
        if template is DType and isinstance(type_, DType):
            return type_
    expected = ", ".join(map(str, allowed))
    raise TypeError(f"{_owner(prim_name)} '{arg_name}' must be one of {expected}, but got {type_}.")


def check_type_name(arg_name: str, arg_type: Any, valid_types: Any, prim_name: str | None) -> Any:
    """Check that a dtype is one of several given dtypes."""
    allowed = tuple(valid_types) if isinstance(valid_types, (list, tuple, set, frozenset)) else (valid_types,)
    if arg_type not in allowed:
        names = ", ".join(map(str, allowed))
        wanted = names if len(allowed) == 1 else f"one of {names}"
        raise TypeError(f"{_owner(prim_name)} '{arg_name}' should be {wanted}, but got {arg_type!r}.")
    return arg_type


def check_non_negative_int_sequence(
    sequence: Any, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that an argument is a sequence of nonnegative ints.

    >>> from mindgrad import _checkparam as validator
    >>> validator.check_non_negative_int_sequence((0, 2), "sizes")
    (0, 2)
    """
    for number in sequence:
        check_non_negative_int(number, arg_name, prim_name)
    return sequence


def check_positive_float_sequence(
    sequence: Any, arg_name: str | None = None, prim_name: str | None = None
) -> Any:
    """Check that an argument is a sequence of positive floats.

    >>> from mindgrad import _checkparam as validator
    >>> validator.check_positive_float_sequence([0.5], "rates")
    [0.5]
    """
    for number in sequence:
        check_positive_float(number, arg_name, prim_name)
    return sequence


def args_type_check(
    *type_args: Any, **type_kwargs: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function to check the types of its arguments.

    The expected types are passed by position or by name, like the arguments of the function. ``None`` means
    any type. An argument with the value ``None`` is always accepted.

    >>> from mindgrad import _checkparam as validator
    >>> @validator.args_type_check(rate=float)
    ... def scaled(x, rate=1.0):
    ...     return rate * x
    >>> scaled(2, rate="a")
    Traceback (most recent call last):
        ...
    TypeError: The parameter 'rate' of scaled must be of type float, but got str.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)
        expected = signature.bind_partial(*type_args, **type_kwargs).arguments

        @functools.wraps(function)
        def checking(*args: Any, **kwargs: Any) -> Any:
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                types = expected.get(name)
                if types is None or value is None or isinstance(value, types):
                    continue
                kinds = types if isinstance(types, tuple) else (types,)
                wanted = " or ".join(kind.__name__ for kind in kinds)
                raise TypeError(
                    f"The parameter '{name}' of {function.__name__} must be of type {wanted}, but got "
                    f"{type(value).__name__}."
                )
            return function(*args, **kwargs)

        return checking

    return decorated


class Validator:
    """The checks of this module as static methods, as in MindSpore 1.x.

    >>> from mindgrad._checkparam import Validator
    >>> Validator.check_positive_int(3, "size", "Net")
    3
    """


for _name, _value in list(globals().items()):
    if _name.startswith("check"):
        setattr(Validator, _name, staticmethod(_value))


def twice(m: Any) -> tuple[int, ...]:
    """Convert an int to a tuple of two ints, and return a tuple unchanged.

    Raises:
        TypeError: If ``m`` is neither an int nor a tuple of two ints.

    >>> from mindgrad import _checkparam as validator
    >>> validator.twice(3), validator.twice((3, 4))
    ((3, 3), (3, 4))
    """
    if isinstance(m, int) and not isinstance(m, bool):
        return m, m
    if isinstance(m, tuple) and len(m) == 2 and all(isinstance(each, int) for each in m):
        return m
    raise TypeError(f"The value must be an int or a tuple of two ints, but got {m!r}.")


def check_input_format(input_param: str) -> str:
    """Check that the format of images is ``"NCHW"``.

    Raises:
        ValueError: If the format is not ``"NCHW"``.

    >>> from mindgrad import _checkparam as validator
    >>> validator.check_input_format("NCHW")
    'NCHW'
    """
    if input_param != "NCHW":
        raise ValueError(f"The data format must be NCHW, but got {input_param}.")
    return input_param
