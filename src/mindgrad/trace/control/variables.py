"""Variables of a branch or loop are read, bound, and joined where either of two values may be held.

A Python number that a compiled branch or loop changes becomes a value of the running program, a
:class:`mindgrad.ir.tensor.Number`; everything that is no number, tensor or container of these must be the
same on all paths through the program.
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
from mindgrad.rows.kinds import zeros
from mindgrad.trace import state
from mindgrad.trace.effect_log import UNDEFINED, Place
from mindgrad.trace.python.loop_exits import LEAVE

__all__ = [
    "FLAGS", "HANDED_ON", "NUMBER_TYPES", "UNDEFINED", "GrowingList", "Mismatch", "State", "blank",
    "containers", "equal", "flattened", "in_place", "is_symbolic", "joined_type", "outline", "quoted", "said",
]  # fmt: skip


#: how the variables begin that the rewriting makes for jumps; what they hold is used only where set
FLAGS = ("broke__", "continued__", "returned__", "result__", LEAVE)
#: … and those of them that hand on a value
HANDED_ON = ("result__", LEAVE)

_NUMBERS = (bool, int, float, complex)


def is_symbolic(x: Any) -> bool:
    """Whether ``x`` is a tensor whose value is not known while compiling."""
    if not isinstance(x, Tensor):
        return False
    return (state.read(x) if x.is_parameter else x)._array is None


class GrowingList(list):
    """A list of which only the items that one trip appends are there, and the last one before: ``ys[-1]``.

    Attributes:
        last: the last item when the trip begins, ``UNDEFINED`` for none.
        is_read: whether the trip reads that.
    """

    def __init__(self, last: Any = UNDEFINED) -> None:
        super().__init__()
        self.last = last
        self.is_read = False

    def items(self) -> list[Any]:
        """The appended items."""
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
    """The variables of a construct: how to get and put them, and their names.

    Attributes:
        values: what the variables held when the construct began.
        leaves, structures: of each the leaf objects and the structure.
        cells: the keys of the names as places, as far as they are variables that others can assign.
        places: what else the bodies assign, attributes and variables of enclosing functions, behind the
            names of the construct.
    """

    __slots__ = ("cells", "get", "leaves", "names", "places", "put", "structures", "values")

    def __init__(
        self, getter: Callable[[], tuple], setter: Callable[[tuple], None], names: Sequence[str]
    ) -> None:
        count = len(names)
        self.places: list[Place] = []
        self.cells = frozenset(_cells(setter))
        every = getter()
        # variables that one side of an `if` uses: the other must find their old values
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
        """Let the variables hold what they held when the construct began."""
        self.put(self.values)

    def extended(self, places: Sequence[Place]) -> State:
        """These variables and ``places``."""
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
        """The place that a variable is, ``None`` for a name of the construct."""
        first = len(self.names) - len(self.places)
        return self.places[k - first] if k >= first else None

    def rebuilt(self, leaves: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        """Values with other leaves: containers are new ones."""
        return tuple(
            [unflatten(structure, each) for structure, each in zip(self.structures, leaves, strict=True)]
        )


def _cells(setter: Callable[[tuple], None]) -> Iterator[tuple[int, str]]:
    """The keys, as places, of the variables that a function of rewritten source binds."""
    setter = getattr(setter, "__wrapped__", setter)
    code, closure = setter.__code__, setter.__closure__ or ()  # type: ignore[attr-defined]
    yield from zip(map(id, closure), code.co_freevars, strict=True)
    namespace = setter.__globals__  # type: ignore[attr-defined]
    yield from ((id(namespace), name) for name in code.co_names if name != "undefined")


def flattened(values: Sequence[Any]) -> tuple[list[list[Any]], list[Any]]:
    """The leaves of each value, and their structures."""
    pairs = [flatten(value.items() if type(value) is GrowingList else value) for value in values]
    return [leaves for leaves, _ in pairs], [structure for _, structure in pairs]


def containers(value: Any, by_id: dict[int, Any]) -> dict[int, Any]:
    """All containers inside of ``value``, by identity, added to ``by_id``."""
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
    """Of a number, known or not, its kind; of anything else ``None``."""
    if type(x) is Number:
        return type(x.sample())
    if isinstance(x, np.generic):
        x = x.item()
    return type(x) if type(x) in _NUMBERS else next((k for k in _NUMBERS if isinstance(x, k)), None)


def equal(a: Any, b: Any) -> bool:
    """Whether two values are the same for a compiled program: bit for bit, and of one type."""
    if a is b:
        return True
    if isinstance(a, Tensor) or isinstance(b, Tensor) or type(a) is not type(b):
        return False
    if isinstance(a, float):
        return a.hex() == b.hex()
    try:
        return bool(a == b)
    except Exception:  # whatever its own comparison raises: it does not say that they are equal
        return False


class Mismatch(NamedTuple):
    """Two values that one variable cannot hold: the part of each in which they differ."""

    first: str
    second: str


def joined_type(a: Any, b: Any) -> tuple[TensorType, bool] | Mismatch:
    """The type that holds ``a`` or ``b``, and whether it is that of a number; or how they differ."""
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
    """A value in words, as errors name it."""
    if type(x) is Number:
        return f"a Python {type(x.sample()).__name__}"
    if isinstance(x, Tensor):
        return f"a tensor of type {x.dtype} and shape {x.shape}"
    if x is None:
        return "None"
    name = getattr(x, "__qualname__", None)
    if name is not None:
        return f"{name} ({type(x).__name__})"  # not its address
    text = repr(x)
    return f"{text if len(text) < 40 else text[:37] + '…'} ({type(x).__name__})"


def in_place(before: Any, value: Any) -> Any:
    """``value``, put into the list or dict that the variable holds, which others may hold too."""
    if isinstance(before, list):
        before[:] = value
        return before
    if isinstance(before, dict):
        before.clear()
        before.update(value)
        return before
    return value


def blank(x: Any) -> Any:
    """A value of the same kind without content: zeros for a tensor."""
    if isinstance(x, Tensor):
        made = Tensor(np.zeros((), x.dtype.numpy))
        return make_number(made) if type(x) is Number else _zeros(x.type)
    return x


def _zeros(type: TensorType) -> Tensor:
    return make_tensor(zeros(type).array(), type)


def quoted(name: str) -> str:
    """A variable's name in a sentence."""
    if name.startswith(LEAVE):
        name = name.split("__", 2)[2]
    return f"'{name}'" if name.isidentifier() else name


def outline(value: Any) -> str:
    """A value in a few words, a container by its size."""
    if isinstance(value, (list, tuple, dict)):
        return f"a {value.__class__.__name__} of {len(value)} item{'s' * (len(value) != 1)}"
    return said(value)
