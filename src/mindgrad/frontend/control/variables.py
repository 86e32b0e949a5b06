"""Read and assign the variables of a branch or loop, and join their values.

After a compiled ``if``, a variable may have one of two values, depending on the branch. After a compiled
loop, it may have its value before the loop or its value after an iteration. The two values are *joined* to
one value in the graph. Tensors of the same type are joined to a tensor, and Python numbers to a number that
the graph computes (:class:`mindgrad.core.ir.tensor.Number`). Containers are joined item by item. All other
values must be the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from mindgrad.core.base.refusal import refuse
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.dtype import promote_scalar
from mindgrad.core.ir.tensor import Number, Tensor, make_number, make_tensor
from mindgrad.core.ir.types import TensorType, tensor_type
from mindgrad.core.primitives.kinds import zeros
from mindgrad.core.trace import references
from mindgrad.frontend.effect_log import UNDEFINED, Place
from mindgrad.frontend.python.loop_exits import LEAVE

__all__ = [
    "FLAGS", "HANDED_ON", "NUMBER_TYPES", "UNDEFINED", "GrowingList", "Mismatch", "State", "blank",
    "containers", "equal", "flattened", "in_place", "is_symbolic", "joined_type", "outline", "quoted", "said",
]  # fmt: skip


#: prefixes of the variables that replace ``break``, ``continue``, and ``return`` (``python.jumps``). Such a
#: variable contains a Bool flag, or a value that a jump passes on. Code reads this value only if the flag of
#: the jump is set
FLAGS = ("broke__", "continued__", "returned__", "result__", LEAVE)
#: prefixes in ``FLAGS`` whose variables contain a value instead of a flag
HANDED_ON = ("result__", LEAVE)

_NUMBERS = (bool, int, float, complex)


def is_symbolic(x: Any) -> bool:
    """Return whether ``x`` is a tensor whose value is unknown at compile time."""
    if not isinstance(x, Tensor):
        return False
    return (references.read(x) if x.is_parameter else x)._array is None


class GrowingList(list):
    """Represents a list to which each iteration of a compiled loop appends.

    In the trace of one iteration, it contains only the items that this iteration appends. The only other item
    that code can read is ``ys[-1]``, the last item of the previous iteration.

    Attributes:
        last: last item at the start of the iteration, or ``UNDEFINED``.
        is_read: whether the iteration reads ``last``.
    """

    def __init__(self, last: Any = UNDEFINED) -> None:
        super().__init__()
        self.last = last
        self.is_read = False

    def items(self) -> list[Any]:
        """Return the appended items."""
        return list.__getitem__(self, slice(None))

    def __getitem__(self, key: Any) -> Any:
        appended = self.items()
        if key == -1 and appended:
            return appended[-1]
        if key != -1 or self.last is UNDEFINED:
            self._read()
        self.is_read = True
        return self.last

    def _read(self, *_: Any, **__: Any) -> NoReturn:
        refuse(
            "A list that this loop appends to is also read in the loop. Items of earlier iterations "
            "are not available in a compiled loop",
            "Store the values that the next iteration needs in a variable.",
        )

    __hash__ = None  # type: ignore[assignment]


for _name in (
    "__iter__", "__len__", "__contains__", "__reversed__", "__eq__", "__add__", "__mul__",
    "__delitem__", "__setitem__", "pop", "remove", "index", "count", "insert", "copy", "sort", "reverse",
    "clear",
):  # fmt: skip
    setattr(GrowingList, _name, GrowingList._read)


class State:
    """The variables that a branch or loop assigns.

    Attributes:
        get, put: functions that return and assign the values of all variables.
        names: names of the variables.
        values: values of the variables before the branch or loop.
        leaves, structures: for each value, its leaves and its tree structure.
        cells: keys of the variables that other functions can also assign: closure cells and globals.
        places: locations of the variables at the end of ``names``: attributes, and variables of enclosing
            functions. The other variables are local and have no location.
    """

    __slots__ = ("cells", "get", "leaves", "names", "places", "put", "structures", "values")

    def __init__(
        self, getter: Callable[[], tuple], setter: Callable[[tuple], None], names: Sequence[str]
    ) -> None:
        count = len(names)
        self.places: list[Place] = []
        self.cells = frozenset(_cells(setter))
        every = getter()
        # each scratch variable is used in one branch only, so each branch starts with the variable's old
        # value
        scratch = every[count:]
        self.get = lambda: getter()[:count]
        self.put = lambda values: setter((*values, *scratch))
        self.names = names
        self.values = every[:count]
        for value in self.values:
            if type(value) is GrowingList:
                value._read()
        self.leaves, self.structures = flattened(self.values)

    def restore(self) -> None:
        """Reset the variables to the values that they had before the branch or loop."""
        self.put(self.values)

    def extended(self, places: Sequence[Place]) -> State:
        """Return a copy that also contains the attributes and variables in ``places``."""
        count = len(self.names)

        def put(values: tuple) -> None:
            self.put(values[:count])
            for place, value in zip(places, values[count:], strict=True):
                place.put(value)

        labels = [location.label for location in places]
        variables = State(lambda: (*self.get(), *[p.value() for p in places]), put, (*self.names, *labels))
        variables.places = [*self.places, *places]
        variables.cells = self.cells
        return variables

    def place(self, k: int) -> Place | None:
        """Return the location of variable ``k``, or ``None`` for a local variable."""
        first = len(self.names) - len(self.places)
        return self.places[k - first] if k >= first else None

    def rebuilt(self, leaves: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        """Build a value for each variable ``k`` from ``leaves[k]`` and its structure."""
        return tuple(
            [unflatten(structure, each) for structure, each in zip(self.structures, leaves, strict=True)]
        )


def _cells(setter: Callable[[tuple], None]) -> Iterator[tuple[int, str]]:
    """Yield ``(id of cell or globals, name)`` of each variable that a setter assigns."""
    setter = getattr(setter, "__wrapped__", setter)
    code, closure = setter.__code__, setter.__closure__ or ()  # type: ignore[attr-defined]
    yield from zip(map(id, closure), code.co_freevars, strict=True)
    namespace = setter.__globals__  # type: ignore[attr-defined]
    yield from ((id(namespace), name) for name in code.co_names if name != "undefined")


def flattened(values: Sequence[Any]) -> tuple[list[list[Any]], list[Any]]:
    """Flatten each value; return the lists of leaves and the tree structures."""
    pairs = [flatten(value.items() if type(value) is GrowingList else value) for value in values]
    return [leaves for leaves, _ in pairs], [structure for _, structure in pairs]


def containers(value: Any, by_id: dict[int, Any]) -> dict[int, Any]:
    """Add all lists, tuples, sets, and dicts inside ``value`` to the dict ``by_id``."""
    if type(value) is GrowingList:
        by_id[id(value)] = value
    elif isinstance(value, (list, tuple, set)):
        by_id[id(value)] = value
        for item in value:
            containers(item, by_id)
    elif isinstance(value, dict):
        by_id[id(value)] = value
        for item in value.values():
            containers(item, by_id)
    return by_id


# -- joining -------------------------------------------------------------------------------------

NUMBER_TYPES = {
    bool: tensor_type("bool", ()),
    int: tensor_type("int64", ()),
    float: tensor_type("float64", ()),
    complex: tensor_type("complex128", ()),
}


def _kind(x: Any) -> type | None:
    """Return the Python type of a known or traced number; ``None`` for other values."""
    if type(x) is Number:
        return type(x.sample())
    if isinstance(x, np.generic):
        x = x.item()
    return type(x) if type(x) in _NUMBERS else next((k for k in _NUMBERS if isinstance(x, k)), None)


def equal(a: Any, b: Any) -> bool:
    """Return whether two values are the same object, or have the same type and value.

    Floats are equal only if they have the same bits.
    """
    if a is b:
        return True
    if isinstance(a, Tensor) or isinstance(b, Tensor) or type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a.hex() == b.hex()
    try:
        return bool(a == b)
    except Exception:  # treat the values as different if the user's ``__eq__`` raises an error
        return False


class Mismatch(NamedTuple):
    """Descriptions of two values that cannot be joined, for messages."""

    first: str
    second: str


def joined_type(a: Any, b: Any) -> tuple[TensorType, bool] | Mismatch:
    """Find the common type of two values of a variable.

    ``a`` and ``b`` are the values in two branches, or before and after an iteration.

    Returns:
        ``(type, whether the joined value is a Python number)``, or a ``Mismatch``.
    """
    kinds = _kind(a), _kind(b)
    if kinds[0] is not None and kinds[1] is not None:
        return NUMBER_TYPES[max((kinds[0], kinds[1]), key=_NUMBERS.index)], True
    for tensor, number, kind in ((a, b, kinds[1]), (b, a, kinds[0])):
        if kind is not None and isinstance(tensor, Tensor):
            sample = number.sample() if type(number) is Number else number
            if promote_scalar(tensor.dtype, sample) is tensor.dtype and not tensor.shape:
                return tensor.type, False
            return Mismatch(said(a), said(b))
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.type is b.type:
            return a.type, False
        if a.dtype is not b.dtype:
            return Mismatch(f"a tensor of dtype {a.dtype}", f"a tensor of dtype {b.dtype}")
        return Mismatch(f"a tensor of shape {a.shape}", f"a tensor of shape {b.shape}")
    return Mismatch(said(a), said(b))


def said(x: Any) -> str:
    """Return a description of a variable's value, for an error message."""
    if type(x) is Number:
        return f"a Python {type(x.sample()).__name__}"
    if isinstance(x, Tensor):
        return f"a tensor of type {x.dtype} and shape {x.shape}"
    if x is None:
        return "None"
    name = getattr(x, "__qualname__", None)
    if name is not None:
        return f"{name} ({type(x).__name__})"  # ``repr`` would contain an address
    text = repr(x)
    return f"{text if len(text) < 40 else text[:37] + '…'} ({type(x).__name__})"


def in_place(before: Any, value: Any) -> Any:
    """Replace the items of the list or dict ``before`` by the items of ``value``.

    If ``before`` is not a list or dict, return ``value``.
    """
    if isinstance(before, list):
        before[:] = value
        return before
    if isinstance(before, dict):
        before.clear()
        before.update(value)
        return before
    return value


def blank(x: Any) -> Any:
    """Return a placeholder for a value like ``x``: zeros for a tensor, or else ``x``."""
    if isinstance(x, Tensor):
        made = Tensor(np.zeros((), x.dtype.numpy))
        return make_number(made) if type(x) is Number else make_tensor(zeros(x.type).array(), x.type)
    return x


def quoted(name: str) -> str:
    """Quote the name of a variable for a message."""
    if name.startswith(LEAVE):
        name = name.split("__", 2)[2]
    return f"'{name}'" if name.isidentifier() else name


def outline(value: Any) -> str:
    """Return a description of a value: a container by its size, a tensor by its type."""
    if isinstance(value, (list, tuple, dict)):
        return f"a {value.__class__.__name__} of {len(value)} item{'s' * (len(value) != 1)}"
    return said(value)
