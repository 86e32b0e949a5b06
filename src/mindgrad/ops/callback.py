"""``pure_callback``: call a Python function on NumPy arrays from compiled code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import MethodType
from typing import Any

import numpy as np

from mindgrad._base.checks import of_type
from mindgrad._base.shared_docs import with_sections
from mindgrad.core.base.location import user_frame
from mindgrad.core.base.refusal import location_of
from mindgrad.core.base.tree import flatten, unflatten
from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.ir.types import TensorType, tensor_type
from mindgrad.core.primitives.callback import Callback, callback
from mindgrad.ops.arguments import sizes
from mindgrad.ops.operands import operand

__all__ = ["called", "name_of", "pure_callback", "type_of_result"]


@with_sections
def pure_callback(fn: Callable[..., Any], result: Any, *args: Any, vmap_method: str = "sequential") -> Any:
    """Call a Python function on NumPy arrays, in eager and in compiled code.

    Use it for code that mindgrad cannot trace: SciPy, Numba, a simulator, a file reader. A compiled function
    calls ``fn`` in Python in every call; the rest of the function is compiled.

    Args:
        fn (Callable): function to call as ``fn(*args)``, with NumPy arrays in place of the
            tensors. It returns NumPy arrays, numbers, or Tensors. The result must depend only on
            the arguments. A compiled function may call it more than once, in any order.
        result (Any): shape and dtype of the result. A Tensor, a NumPy array, or any object that
            has ``shape`` and ``dtype`` is accepted, and its values are not read. If ``fn`` returns several
            results, pass a tuple, list, or dict of such objects.
        *args (Any): arguments of ``fn``. Tensors, also inside tuples, lists, and dicts, become
            NumPy arrays, which ``fn`` may change; everything else is passed as it is.
        vmap_method (str): must be ``"sequential"``: under ``vmap``, ``fn`` is called once for each
            element of the batch, in order. The other values of JAX's ``vmap_method`` are not supported.
            Default: ``"sequential"``.

    Returns:
        Tensor, or a structure of Tensors as in ``result``. If ``fn`` returns another dtype than
        declared, the result is converted if ``numpy.can_cast`` allows it with ``casting="same_kind"``, such
        as ``float64`` to ``float32``.

    Raises:
        TypeError: If ``fn`` is not callable, ``result`` has no shape and dtype, ``fn`` returns a
            different structure or a dtype that cannot be converted, or the call is differentiated.
        ValueError: If ``fn`` returns an array of a different shape, or ``vmap_method`` is not
            ``"sequential"``.

    An error that ``fn`` raises is raised unchanged. In compiled code, it is raised after the compiled
    function has stopped.

    The derivative of ``fn`` is unknown, so that differentiating the call raises an error. Call it inside a
    Cell with a method ``bprop``, inside a function with ``custom_vjp``, or use :class:`mindgrad.ops.Custom`.
    Compiled functions with a callback are not stored in the cache on disk.

    >>> import math
    >>> import numpy as np
    >>> import mindgrad as ms
    >>> def gamma(x):
    ...     return np.vectorize(math.gamma)(x)
    >>> @ms.jit
    ... def f(x):
    ...     return 2 * ms.pure_callback(gamma, x, x)
    >>> print(f(ms.Tensor([1.0, 4.0])))
    [ 2. 12.]

    See Also:
        :class:`mindgrad.ops.Custom`: an operator that calls ``fn`` and has a derivative.
    """
    if vmap_method != "sequential":
        raise ValueError(
            f"For 'pure_callback', vmap_method={vmap_method!r} is not supported: mindgrad calls 'fn' once "
            f"for each element of a batch. Pass vmap_method='sequential', or omit it."
        )
    return called("pure_callback", fn, result, args)


#: placeholder for a tensor in ``_OnTrees.constants``
_TENSOR = object()


class _OnTrees:
    """A function from the arrays in nested arguments to the arrays in nested results."""

    def __init__(self, fn: Any, leaves: Sequence[Any], structure: Any, results: Any, operator: str) -> None:
        self.fn = fn
        self.structure = structure
        self.operator = operator
        self.types, self.result_structure = flatten(results)
        #: leaves of the arguments of ``fn``, with ``_TENSOR`` in place of each tensor
        self.constants = [_TENSOR if isinstance(x, Tensor) else x for x in leaves]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _OnTrees)
            # Python creates a new bound method at each access, so compare methods by function and object
            and (self.fn is other.fn or (type(self.fn) is MethodType and self.fn == other.fn))
            and self.structure == other.structure
            and self.result_structure == other.result_structure
            and all(a is b for a, b in zip(self.constants, other.constants, strict=True))
        )

    def __hash__(self) -> int:
        fn = self.fn
        return hash((id(fn.__self__), id(fn.__func__)) if type(fn) is MethodType else id(fn))

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        following = iter(arrays)
        leaves = [next(following) if x is _TENSOR else x for x in self.constants]
        args = unflatten(self.structure, leaves)
        try:
            returned = self.fn(*args)
        except TypeError as error:
            at_call = error.__traceback__
            if args or (at_call is not None and at_call.tb_next is not None):
                raise  # the error comes from ``fn``
            raise TypeError(
                f"For '{self.operator}', '{name_of(self.fn)}' was called without arguments: {error}. "
                f"The argument after 'fn' only declares shape and dtype of the result. Pass the arguments "
                f"of 'fn' after it: {self.operator}(fn, x, x) if the result is like x."
            ) from None
        declared = unflatten(self.result_structure, self.types)
        pairs = list(self._pairs(declared, returned, ""))
        return [self._checked(*each) for each in pairs]

    def _pairs(self, declared: Any, returned: Any, path: str) -> Iterator[tuple[TensorType, Any, str]]:
        """Yield each declared type, the value that ``fn`` returned for it, and its path."""
        if isinstance(declared, TensorType):
            if isinstance(returned, (tuple, dict)):
                raise TypeError(
                    f"For '{self.operator}', '{name_of(self.fn)}'{path} must return one array, as 'result' "
                    f"declares, but it returned a {type(returned).__name__} of {len(returned)}."
                )
            yield declared, returned, path
            return
        is_dict = isinstance(declared, dict)
        keys = list(declared) if is_dict else range(len(declared))
        is_alike = isinstance(returned, dict if is_dict else (tuple, list)) and len(returned) == len(declared)
        if not is_alike or (is_dict and returned.keys() != declared.keys()):
            expected = f"a dict with the keys {keys}" if is_dict else f"a tuple of {len(declared)} arrays"
            shown = f"{type(returned).__name__} of {len(returned)}" if hasattr(returned, "__len__") else "one"
            raise TypeError(
                f"For '{self.operator}', '{name_of(self.fn)}'{path} must return {expected}, as 'result' "
                f"declares, but it returned a {shown}."
            )
        for key in keys:
            yield from self._pairs(declared[key], returned[key], f"{path}[{key!r}]")

    def _checked(self, declared: TensorType, value: Any, path: str) -> np.ndarray:
        result = f"For '{self.operator}', the result{path} of '{name_of(self.fn)}'"
        if value is None:
            raise TypeError(f"{result} is None, but its declared shape is {declared.shape}. Return an array.")
        array = value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)
        if array.shape != declared.shape:
            raise ValueError(f"{result} has shape {array.shape}, but its declared shape is {declared.shape}.")
        dtype = declared.dtype.numpy
        is_python = isinstance(value, (int, float)) and declared.dtype.is_inexact
        if array.dtype != dtype and not is_python and not np.can_cast(array.dtype, dtype, "same_kind"):
            raise TypeError(
                f"{result} has dtype {array.dtype}, which cannot be converted to its declared dtype "
                f"{declared.dtype.identifier}."
            )
        return np.array(array, dtype)  # copy the array, because ``fn`` may overwrite it in its next call


def called(operator: str, fn: Callable[..., Any], result: Any, args: Sequence[Any]) -> Any:
    """Call ``fn(*args)`` from an operator, with results like ``result``."""
    if not callable(fn):
        raise TypeError(f"For '{operator}', 'fn' must be callable, but got {type(fn).__name__}.")
    declared, result_structure = flatten(result)
    types = [_declared_type(operator, each) for each in declared]
    leaves, structure = flatten(tuple(args))
    tensors = [operand(x, operator) for x in leaves if isinstance(x, Tensor)]
    function = _OnTrees(fn, leaves, structure, unflatten(result_structure, types), operator)
    row = Callback(function, types, operator, name_of(fn), location_of(user_frame()))
    return unflatten(result_structure, apply(callback, *tensors, function=row))


def _declared_type(operator: str, value: Any) -> TensorType:
    if isinstance(value, TensorType):
        return value
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or dtype is None:
        raise TypeError(
            f"For '{operator}', 'result' must have a shape and a dtype, but got {value!r}. Pass a Tensor or "
            f"an array that has the shape and dtype of the result: ops.zeros((3,), mindgrad.float32)."
        )
    return type_of_result(operator, shape, dtype)


def type_of_result(operator: str, shape: Any, dtype: Any) -> TensorType:
    """Return the type of a result that the user has declared."""
    of_type(shape, (tuple, list), operator, "shape")
    return tensor_type(as_dtype(dtype), sizes(tuple(shape), operator, "shape", 0))


def name_of(fn: Any) -> str:
    """Return the name of a function for error messages."""
    return getattr(fn, "__name__", type(fn).__name__)
