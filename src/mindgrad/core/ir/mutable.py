"""``mutable``: mark containers and numbers as data instead of constants.

By default, a Python number is a constant of a compiled function, which is compiled again for each value. One
compiled function accepts all values of a number that is marked with ``mutable``. ``GradOperation``
differentiates with respect to a tuple, list, dict, or number only if it is marked. ``grad``,
``value_and_grad``, and related functions need a mark only for an int.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, TypeAlias

from mindgrad.core.base.tables import tabulated
from mindgrad.core.base.tree import attributes_of, is_record, record_of
from mindgrad.core.ir.constant_arguments import is_constant
from mindgrad.core.ir.tensor import Tensor

Marked: TypeAlias = Any  # type: ignore[explicit-any]  # an instance of a subclass of the argument's class

__all__ = ["MutableFloat", "MutableInt", "MutableScalar", "is_mutable", "mutable", "plain_kind"]


class _Container:
    """Base of all types of marked containers. The other base is the ordinary type."""

    __slots__ = ()


class MutableTuple(tuple, _Container):
    """Type of a tuple that is marked with ``mutable``."""

    __slots__ = ()


class MutableList(list, _Container):
    """Type of a list that is marked with ``mutable``."""

    __slots__ = ()


class MutableDict(dict, _Container):
    """Type of a dict that is marked with ``mutable``."""

    __slots__ = ()


class MutableFloat(float):
    """Type of a float that is marked with ``mutable``."""

    __slots__ = ()


class MutableScalar(MutableFloat):
    """Type of a marked ``np.float64``, which operators convert to a float64 tensor."""

    __slots__ = ()


class MutableInt(int):
    """Type of an int that is marked with ``mutable``; its derivative is an int."""

    __slots__ = ()


def _marked(kind: type) -> type:
    """Return a subclass of ``kind`` that marks its instances as ``mutable``.

    The result is tabulated, because calls with arguments of one type use one compiled function.
    """
    if _plain_kind(kind) is not None:
        return kind
    for marked in (MutableTuple, MutableList, MutableDict):
        if marked.__base__ is kind:
            return marked
    members = {"__slots__": (), "__module__": kind.__module__}
    return type(kind)(kind.__name__, (kind, _Container), members)


def _plain_kind(kind: type) -> type | None:
    """Return the ordinary type of a marked container; ``None`` for other types."""
    return kind.__bases__[0] if _Container in kind.__bases__ else None


def mutable(input_data: object, dynamic_len: bool = False) -> Marked:
    """Mark a number or a container of tensors or numbers as differentiable data.

    Args:
        input_data (int, float, tuple, list, dict, or dataclass): a number, or a container of numbers and
            Tensors, nested to any depth. ``None`` in a container is a constant. In a dataclass, every value
            (numbers too) is a constant, except Tensors and results of ``mutable``. A Tensor or bool is
            returned unchanged. A Tensor with ``const_arg=True`` is copied without this property.
        dynamic_len (bool, optional): accepted for compatibility, for a tuple or list, and ignored. Each
            length is compiled separately. Default: ``False``.

    Returns:
        int, float, tuple, list, dict, or dataclass: a copy of ``input_data`` that behaves like it. The
        gradient with respect to a container is a container of the same structure, with constants unchanged.
        The gradient with respect to a number is a number of the same type.

    Raises:
        TypeError: If ``input_data`` or an element of it has an unsupported type, ``dynamic_len`` is not a
            bool, or ``dynamic_len`` is set for an object without a length.

    >>> import mindgrad as ms
    >>> pair = ms.mutable((ms.Tensor([1.0]), ms.Tensor([2.0])))
    >>> ms.grad(lambda p: p[0] * p[1])(pair)
    (Tensor(shape=[1], dtype=Float32, value= [ 2.00000000e+00]), Tensor(shape=[1], dtype=Float32, value= [ 1.00000000e+00]))
    >>> ms.grad(lambda a, x: a * a * x)(ms.mutable(3.0), ms.Tensor(2.0))
    12.0

    See Also:
        :func:`mindgrad.grad`, :class:`mindgrad.ops.GradOperation`
    """  # noqa: E501
    if not isinstance(dynamic_len, bool):
        raise TypeError(f"For 'mutable', the 'dynamic_len' should be a bool, but got {dynamic_len!r}.")
    if dynamic_len and not isinstance(input_data, (tuple, list)):
        raise TypeError(
            f"For 'mutable', when the 'dynamic_len' is True, the 'input_data' should be a tuple or list, but "
            f"got {input_data!r} of type {type(input_data).__name__}."
        )
    if isinstance(input_data, (Tensor, bool)):
        return Tensor(input_data) if is_constant(input_data) else input_data
    kind: type = type(input_data)
    if isinstance(input_data, tuple):
        return tuple.__new__(tabulated(_marked, kind), map(_inside, input_data))
    if isinstance(input_data, list):
        return tabulated(_marked, kind)(map(_inside, input_data))
    if isinstance(input_data, dict):
        items = {key: _inside(value) for key, value in input_data.items()}
        if isinstance(input_data, defaultdict):
            return tabulated(_marked, kind)(input_data.default_factory, items)
        return tabulated(_marked, kind)(items)
    if _is_record(input_data):
        return _of_field(input_data)
    if isinstance(input_data, int):
        return MutableInt(input_data)
    if isinstance(input_data, float):
        return MutableFloat(input_data)
    raise TypeError(
        f"For 'mutable', the 'input_data' should be one of (bool, int, float, Tensor, tuple, list, "
        f"dict) or their nested structures, but got {input_data!r} of type "
        f"{type(input_data).__name__}."
    )


def _inside(value: object) -> Marked:
    return None if value is None else mutable(value)


def _is_record(value: object) -> bool:
    kind: type = type(value)
    return is_record(kind)


def _of_field(value: object) -> Marked:
    """Mark the containers in a field of a dataclass, but not its numbers."""
    kind: type = type(value)
    if isinstance(value, tuple):
        return tuple.__new__(tabulated(_marked, kind), map(_of_field, value))
    if isinstance(value, list):
        return tabulated(_marked, kind)(map(_of_field, value))
    if isinstance(value, defaultdict):
        return tabulated(_marked, kind)(
            value.default_factory, {key: _of_field(item) for key, item in value.items()}
        )
    if isinstance(value, dict):
        return tabulated(_marked, kind)({key: _of_field(item) for key, item in value.items()})
    if _is_record(value):
        attributes = attributes_of(value).items()
        return record_of(tabulated(_marked, kind), {name: _of_field(item) for name, item in attributes})
    return value


def is_mutable(value: object) -> bool:
    """Return whether ``value`` is a result of ``mutable``."""
    kind: type = type(value)
    return kind in (MutableFloat, MutableInt) or _plain_kind(kind) is not None


def plain_kind(kind: type) -> type:
    """Return the builtin type of a marked container: ``list`` for ``MutableList``."""
    return _plain_kind(kind) or kind
