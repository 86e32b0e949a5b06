"""``HyperMap``, ``Map``, and ``MultitypeFuncGraph`` of MindSpore 1.x.

Users import this module with ``from mindspore.ops import composite as C``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad._base.shared_docs import document_all
from mindgrad.api.gradient import GradOperation
from mindgrad.common.sparse_tensor import COOTensor, CSRTensor, RowTensor
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend import user_calls
from mindgrad.ops.clipping import clip_by_value
from mindgrad.ops.contraction import batch_dot, dot, matmul, tensor_dot
from mindgrad.ops.creation import ones_like, zeros_like
from mindgrad.ops.random import laplace, normal, uniform
from mindgrad.ops.reduction import count_nonzero
from mindgrad.ops.rejection_samplers import gamma, poisson
from mindgrad.ops.repeating import repeat_elements
from mindgrad.ops.sampling import multinomial
from mindgrad.ops.statistics import clip_by_global_norm, clip_by_norm

__all__ = [
    "GradOperation", "HyperMap", "Map", "MultitypeFuncGraph", "add_flags", "batch_dot", "clip_by_global_norm",
    "clip_by_norm", "clip_by_value", "core", "count_nonzero", "dot", "gamma", "laplace", "matmul",
    "multinomial", "normal", "ones_like", "poisson", "repeat_elements", "tensor_dot", "uniform",
    "zeros_like", "zip_operation",
]  # fmt: skip

_KINDS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda x: isinstance(x, Tensor),
    "Parameter": lambda x: isinstance(x, Tensor) and x.is_parameter,
    "COOTensor": lambda x: isinstance(x, COOTensor),
    "CSRTensor": lambda x: isinstance(x, CSRTensor),
    "RowTensor": lambda x: isinstance(x, RowTensor),
    "Bool": lambda x: isinstance(x, bool),
    "Int": lambda x: isinstance(x, int) and not isinstance(x, bool),
    "Float": lambda x: isinstance(x, float),
    "Number": lambda x: isinstance(x, (bool, int, float, complex)),
    "String": lambda x: isinstance(x, str),
    "Tuple": lambda x: isinstance(x, tuple),
    "List": lambda x: isinstance(x, list),
    "Dictionary": lambda x: isinstance(x, dict),
    "Function": lambda x: callable(x) and not isinstance(x, Tensor),
    "TypeNone": lambda x: x is None,
    "None": lambda x: x is None,
    "Any": lambda x: True,
}
# Python numbers have no bit width, so a type name such as Int32 matches any int, and Float32 any float.
_KINDS |= {f"{sign}Int{width}": _KINDS["Int"] for sign in ("", "U") for width in (8, 16, 32, 64)}
_KINDS |= {f"Float{width}": _KINDS["Float"] for width in (16, 32, 64)}


def core(fn: Callable[..., Any] | None = None, **flags: Any) -> Any:
    """Mark a function as one of MindSpore's core functions, and return it unchanged.

    Args:
        fn (callable or None): function to mark. ``None`` returns a decorator.
        **flags (object): accepted for compatibility and ignored.

    Returns:
        ``fn``, or a decorator if ``fn`` is ``None``.

    >>> from mindgrad.ops import composite as C
    >>> @C.core(ignore_values=True)
    ... def twice(x):
    ...     return 2 * x
    >>> twice(3)
    6
    """
    return core if fn is None else fn


def add_flags(fn: Callable[..., Any] | None = None, **flags: Any) -> Any:
    """Set flags of MindSpore's compiler on a function; mindgrad ignores them.

    Args:
        fn (callable or None): function to mark. ``None`` returns a decorator.
        **flags (object): accepted for compatibility and ignored.

    Returns:
        ``fn``, or a decorator if ``fn`` is ``None``.

    >>> from mindgrad.ops import composite as C
    >>> C.add_flags(has_effect=True)(len) is len
    True
    """
    return core(fn)


def zip_operation(*sequences: Any) -> tuple[Any, ...]:
    """Combine tuples or lists elementwise, up to the length of the shortest.

    Args:
        *sequences (tuple or list): sequences to combine.

    Returns:
        Tuple whose i-th element is the tuple of the i-th elements of all sequences.

    Raises:
        TypeError: If an argument is neither a tuple nor a list.

    >>> from mindgrad.ops import composite as C
    >>> C.zip_operation((1, 2), (3, 4))
    ((1, 3), (2, 4))
    """
    for sequence in sequences:
        if not isinstance(sequence, (tuple, list)):
            raise TypeError(
                "For 'zip_operation', the arguments must be tuples or lists, but got "
                f"{type(sequence).__name__}."
            )
    return tuple(zip(*sequences, strict=False))


class MultitypeFuncGraph:
    """Function with a separate implementation for each combination of argument types.

    Args:
        name (str): name of the function in error messages.
        read_value (bool): accepted for compatibility; Parameters are always read.

    Raises:
        TypeError: If no function is registered for the argument types of a call.

    >>> from mindgrad import Tensor, ops
    >>> scale = ops.MultitypeFuncGraph("scale")
    >>> @scale.register("Number", "Tensor")
    ... def _scale_tensor(factor, x):
    ...     return factor * x
    >>> print(scale(2, Tensor([1.0, 3.0])))
    [2. 6.]
    """

    def __init__(self, name: str, read_value: bool = False) -> None:
        self.name = name
        self.read_value = read_value
        self.entries: list[tuple[tuple[str, ...], Callable[..., Any]]] = []

    def register(self, *kinds: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that registers a function for the given argument types.

        Args:
            kinds: type name of each argument: ``"Tensor"``, ``"COOTensor"``, ``"CSRTensor"``,
                ``"RowTensor"``, ``"Number"``, ``"Bool"``, ``"Int"``, ``"Float"`` (also with a width, as
                ``"Float32"``), ``"String"``, ``"Tuple"``, ``"List"``, ``"Dictionary"``, ``"Function"``,
                ``"None"``, ``"Any"``.

        Raises:
            ValueError: If a type name is not supported.
        """
        for kind in kinds:
            if kind not in _KINDS:
                raise ValueError(
                    f"For 'MultitypeFuncGraph' {self.name}, unknown argument kind {kind!r}. Use "
                    f"one of {', '.join(_KINDS)}."
                )

        def registered(body: Callable[..., Any]) -> Callable[..., Any]:
            self.entries.append((kinds, body))
            return body

        return registered

    def __call__(self, *args: Any) -> Any:
        for kinds, body in self.entries:
            if len(kinds) == len(args) and all(_KINDS[kind](x) for kind, x in zip(kinds, args, strict=True)):
                return user_calls.run(body, *args)
        types = ", ".join(type(x).__name__ for x in args)
        signatures = "; ".join(", ".join(kinds) for kinds, _ in self.entries) or "none"
        raise TypeError(
            f"For 'MultitypeFuncGraph' {self.name}, no function was registered for arguments of types "
            f"({types}); registered are: {signatures}."
        )

    def __repr__(self) -> str:
        return f"MultitypeFuncGraph({self.name})"


class HyperMap:
    """Apply a function to the leaves of nested tuples, lists, and dicts.

    Several structures are traversed in parallel.

    Args:
        ops (callable or None): function to apply. ``None`` means that the first argument of each
            call is the function.
        reverse (bool): whether to visit the elements from the last to the first.

    Raises:
        TypeError: If the arguments of a call differ in structure.
        ValueError: If the arguments of a call differ in length.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.HyperMap()(ops.add, (Tensor([1.0]), (Tensor([2.0]),)), (Tensor([3.0]), (Tensor([4.0]),))))
    (Tensor(shape=[1], dtype=Float32, value= [ 4.00000000e+00]), (Tensor(shape=[1], dtype=Float32, value= [ 6.00000000e+00]),))
    """  # noqa: E501

    _deep = True

    def __init__(self, ops: Callable[..., Any] | None = None, reverse: bool = False) -> None:
        if ops is not None and not callable(ops):
            raise TypeError(
                f"For '{type(self).__name__}', the 'ops' must be a function or None, but got "
                f"{type(ops).__name__}."
            )
        self.ops = ops
        self.reverse = reverse

    def __call__(self, *args: Any) -> Any:
        function, trees = (args[0], args[1:]) if self.ops is None else (self.ops, args)
        if not callable(function) or not trees:
            raise TypeError(
                f"For '{type(self).__name__}', a function and at least one tuple or list must be given."
            )
        return self._mapped(function, trees, 0)

    def _mapped(self, function: Callable[..., Any], trees: tuple[Any, ...], depth: int) -> Any:
        first: Any = trees[0]
        kind: Any = next((k for k in (tuple, list, dict) if isinstance(first, k)), None)
        if kind is None or (depth and not self._deep):
            return user_calls.run(function, *trees)
        for tree in trees:
            if not isinstance(tree, dict if kind is dict else (tuple, list)):
                raise TypeError(
                    f"For '{type(self).__name__}', all arguments must have the same structure, but one is a "
                    f"{type(first).__name__} where another is a {type(tree).__name__}."
                )
            if len(tree) != len(first):
                raise ValueError(
                    f"For '{type(self).__name__}', the {kind.__name__}s must have the same length, but got "
                    f"{len(first)} and {len(tree)}."
                )
            if kind is dict and set(tree) != set(first):
                raise ValueError(
                    f"For '{type(self).__name__}', the dicts must have the same keys, but got {list(first)} "
                    f"and {list(tree)}."
                )
        if kind is dict:
            columns: list[Any] = [tuple(tree[key] for tree in trees) for key in first]
        else:
            columns = list(zip(*trees, strict=True))
        if self.reverse:
            columns.reverse()
        results = [self._mapped(function, column, depth + 1) for column in columns]
        if self.reverse:
            results.reverse()
        if kind is dict:
            return dict(zip(first, results, strict=True))
        return results if kind is list else tuple(results)


class Map(HyperMap):
    """Apply a function to the elements of tuples and lists, one level deep.

    Args:
        ops (callable or None): function to apply. ``None`` means that the first argument of each
            call is the function.
        reverse (bool): whether to visit the elements from the last to the first.

    Raises:
        TypeError: If the arguments of a call differ in structure.
        ValueError: If the arguments of a call differ in length.

    >>> from mindgrad import ops
    >>> print(ops.Map()(lambda x, y: x + y, (1, 2), (10, 20)))
    (11, 22)
    """

    _deep = False


document_all(globals())
