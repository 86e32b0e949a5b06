"""Read and assign the variables of a branch or loop, and join their values.

After a compiled ``if``, a variable may have one of two values, depending on the branch. After an iteration of
a compiled loop, it has either the value before or after the iteration. The two values are *joined* to one
value in the graph. Tensors of the same type are joined to a tensor, and Python numbers to a number that the
graph computes (:class:`mindgrad.ir.tensor.Number`). Containers are joined item by item. Other values must be
the same object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from mindgrad._base.refusal import refuse
from mindgrad._base.tree import flatten, unflatten
from mindgrad.ir.dtype import promote_scalar
from mindgrad.ir.tensor import Number, Tensor, make_number, make_tensor
from mindgrad.ir.types import TensorType, tensor_type
from mindgrad.primitives.kinds import zeros
from mindgrad.trace import state
from mindgrad.trace.effect_log import UNDEFINED, Place
from mindgrad.trace.python.loop_exits import LEAVE

__all__ = [
    "FLAGS", "HANDED_ON", "NUMBER_TYPES", "UNDEFINED", "GrowingList", "Mismatch", "State", "blank",
    "containers", "equal", "flattened", "in_place", "is_symbolic", "joined_type", "outline", "quoted", "said",
]  # fmt: skip


#: prefixes of the variables that replace ``break``, ``continue``, and ``return`` (``python.jumps``): Bool
#: flags, and the values that a jump returns, which are read only if the flag of the jump is set
FLAGS = ("broke__", "continued__", "returned__", "result__", LEAVE)
#: the prefixes in ``FLAGS`` of variables that contain a value, not a flag
HANDED_ON = ("result__", LEAVE)

_NUMBERS = (bool, int, float, complex)


def is_symbolic(x: Any) -> bool:
    """Return whether ``x`` is a tensor without a known value at compile time."""
    if not isinstance(x, Tensor):
        return False
    return (state.read(x) if x.is_parameter else x)._array is None


class GrowingList(list):
    """Represents a list to which each iteration of a compiled loop appends.

    In the trace of one iteration, it contains only the items that this iteration appends. The only other item
    that code can read is the last item of the previous iteration, ``ys[-1]``.

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
        leaves, structures: leaves and structure of each value.
        cells: keys of the variables that other functions can assign, too: closure cells and globals.
        places: locations of the last variables: attributes, and variables of enclosing functions.
    """

    __slots__ = ("cells", "get", "leaves", "names", "places", "put", "structures", "values")

    def __init__(
        self, getter: Callable[[], tuple], setter: Callable[[tuple], None], names: Sequence[str]
    ) -> None:
        count = len(names)
        self.places: list[Place] = []
        self.cells = frozenset(_cells(setter))
        every = getter()
        # scratch variables: only one branch uses them, and each branch starts with their old values
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
        """Assign the variables their values before the branch or loop."""
        self.put(self.values)

    def extended(self, places: Sequence[Place]) -> State:
        """Return the variables, extended by attributes and variables of other functions."""
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
        """Build values from ``leaves[k]`` and the structure of each variable ``k``."""
        return tuple(
            [unflatten(structure, each) for structure, each in zip(self.structures, leaves, strict=True)]
        )


def _cells(setter: Callable[[tuple], None]) -> Iterator[tuple[int, str]]:
    """Yield the ``(id of cell or globals, name)`` of all variables of ``setter``."""
    setter = getattr(setter, "__wrapped__", setter)
    code, closure = setter.__code__, setter.__closure__ or ()  # type: ignore[attr-defined]
    yield from zip(map(id, closure), code.co_freevars, strict=True)
    namespace = setter.__globals__  # type: ignore[attr-defined]
    yield from ((id(namespace), name) for name in code.co_names if name != "undefined")


def flattened(values: Sequence[Any]) -> tuple[list[list[Any]], list[Any]]:
    """Flatten each value, and return the lists of leaves and the structures."""
    pairs = [flatten(value.items() if type(value) is GrowingList else value) for value in values]
    return [leaves for leaves, _ in pairs], [structure for _, structure in pairs]


def containers(value: Any, by_id: dict[int, Any]) -> dict[int, Any]:
    """Add all lists, tuples, sets, and dicts in ``value`` to ``by_id``, by ``id``."""
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
    """Return the Python type of a known or traced number, ``None`` for other values."""
    if type(x) is Number:
        return type(x.sample())
    if isinstance(x, np.generic):
        x = x.item()
    return type(x) if type(x) in _NUMBERS else next((k for k in _NUMBERS if isinstance(x, k)), None)


def equal(a: Any, b: Any) -> bool:
    """Return whether two values are the same object, or have the same type and value.

    Floats must have the same bits.
    """
    if a is b:
        return True
    if isinstance(a, Tensor) or isinstance(b, Tensor) or type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a.hex() == b.hex()
    try:
        return bool(a == b)
    except Exception:  # the user's ``__eq__`` raised, so treat the values as different
        return False


class Mismatch(NamedTuple):
    """Descriptions of two values that cannot be joined, for messages."""

    first: str
    second: str


def joined_type(a: Any, b: Any) -> tuple[TensorType, bool] | Mismatch:
    """Find the common type of two values of a variable.

    They are its values in two branches, or before and after an iteration.

    Returns:
        ``(type, whether it represents a Python number)``, or a ``Mismatch``.
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
    """Describe a value for an error message."""
    if type(x) is Number:
        return f"a Python {type(x.sample()).__name__}"
    if isinstance(x, Tensor):
        return f"a tensor of type {x.dtype} and shape {x.shape}"
    if x is None:
        return "None"
    name = getattr(x, "__qualname__", None)
    if name is not None:
        return f"{name} ({type(x).__name__})"  # the repr would contain an address
    text = repr(x)
    return f"{text if len(text) < 40 else text[:37] + '…'} ({type(x).__name__})"


def in_place(before: Any, value: Any) -> Any:
    """Replace the items of the list or dict ``before`` by the items of ``value``.

    Other values are returned unchanged.
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
    """Return a placeholder of the same type: zeros for a tensor, otherwise ``x``."""
    if isinstance(x, Tensor):
        made = Tensor(np.zeros((), x.dtype.numpy))
        return make_number(made) if type(x) is Number else _zeros(x.type)
    return x


def _zeros(type: TensorType) -> Tensor:
    return make_tensor(zeros(type).array(), type)


def quoted(name: str) -> str:
    """Quote the name of a variable for a message."""
    if name.startswith(LEAVE):
        name = name.split("__", 2)[2]
    return f"'{name}'" if name.isidentifier() else name


def outline(value: Any) -> str:
    """Describe a value for a message: a container by its size, a tensor by its type."""
    if isinstance(value, (list, tuple, dict)):
        return f"a {value.__class__.__name__} of {len(value)} item{'s' * (len(value) != 1)}"
    return said(value)
