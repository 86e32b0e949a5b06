"""Host callbacks: call a Python function inside a compiled function.

    callback(*xs) = function(*xs)                differentiating the callback raises an error

The function receives and returns NumPy arrays. It must be pure, because graph transformations may remove or
repeat a call. Graph transformations never merge two calls. Each call of a compiled function with a callback
waits for the results of the function. The compiled function is not stored on disk, because the Python
function exists only in this process. For a batch, the function runs once per sample.

The parameter ``function`` of the primitive is a :class:`Callback`. A callback costs one call of Python from
compiled code, and copies of the operands and results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mindgrad.core.base.callback_errors import CallbackError, note
from mindgrad.core.base.refusal import SourceLocation, hints, located_text
from mindgrad.core.ir.primitive import Effects, Primitive
from mindgrad.core.ir.scope import executing
from mindgrad.core.ir.types import TensorType, tensor_type
from mindgrad.core.ir.work import LIBRARY
from mindgrad.core.primitives.batching import at_front

if TYPE_CHECKING:
    from mindgrad.core.ir.graph import Atom
    from mindgrad.core.ir.rules import Array, Atoms, BatchAxes, Kernel, Module, NumpyType, Tangent, Tangents

__all__ = ["Callback", "callback", "from_words", "in_words"]


class Callback:
    """A Python function with the types of its results.

    Two callbacks are equal if they have equal functions, operator names, and types.

    Args:
        function: function from NumPy arrays to a sequence of NumPy arrays of ``types``.
        types: the types (dtype and shape) of the results of ``function``.
        operator: name of the public function that the user called, for error messages.
        name: name of the user's Python function, for error messages.
        location: source line of the user's call, for error messages.
    """

    __slots__ = ("function", "location", "name", "operator", "types")

    def __init__(
        self,
        function: Kernel,
        types: Sequence[TensorType],
        operator: str,
        name: str,
        location: SourceLocation,
    ) -> None:
        self.function = function
        self.types = tuple(types)
        self.operator = operator
        self.name = name
        self.location = location

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Callback) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        return self.function, self.types, self.operator

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """Call the function on copies of ``arrays``, and run its operators immediately."""
        with executing([]):
            return tuple(self.function(*[np.array(x) for x in arrays]))

    def batched(self, size: int, is_batched: Sequence[bool]) -> Callback:
        """Return a callback that calls the function once for each sample of a batch."""
        types = [tensor_type(each.dtype, (size, *each.shape)) for each in self.types]
        run = _Slices(self.function, tuple(self.types), size, tuple(is_batched))
        return Callback(run, types, self.operator, self.name, self.location)

    def refuse_derivative(self) -> Atom:
        """Raise ``TypeError``, because the derivative of a callback is unknown."""
        raise TypeError(
            located_text(
                f"For '{self.operator}', the derivative of '{self.name}' is unknown, because mindgrad cannot "
                f"differentiate code that runs on NumPy arrays",
                "use functions of mindgrad.core.numpy. If the result is a constant, pass stop_gradient(x)."
                + hints["callbacks"],
                self.location,
            )
        ) from None


class _Slices(NamedTuple):
    """A callable of batched arrays that calls ``function`` once for each sample."""

    function: Kernel
    types: tuple[TensorType, ...]
    size: int
    is_batched: tuple[bool, ...]

    def __call__(self, *arrays: Array) -> list[Array]:
        results = [np.empty((self.size, *each.shape), each.dtype.numpy) for each in self.types]
        for k in range(self.size):
            operands = [np.array(x[k]) if b else x for x, b in zip(arrays, self.is_batched, strict=True)]
            for result, value in zip(results, self.function(*operands), strict=True):
                result[k] = value
        return results


def in_words(jax: Module, x: Array) -> Array:
    """Split 64-bit numbers into pairs of uint32.

    JAX callbacks would round 64-bit numbers to 32 bits.
    """
    if x.dtype.kind == "c" and x.dtype.itemsize == 16:
        x = jax.lax.concatenate([jax.lax.expand_dims(part, (x.ndim,)) for part in (x.real, x.imag)], x.ndim)
    if x.dtype.itemsize != 8 or x.dtype.kind == "c":
        return x
    return jax.lax.bitcast_convert_type(x, np.uint32)


def from_words(value: Array, dtype: NumpyType) -> Array:
    """Convert pairs of uint32 from :func:`in_words` back to ``dtype``."""
    if not _is_wide(dtype):
        return value
    real = np.ascontiguousarray(value).view(np.float64 if dtype.kind == "c" else dtype)[..., 0]
    return np.ascontiguousarray(real).view(dtype)[..., 0] if dtype.kind == "c" else real


def _is_wide(dtype: NumpyType) -> bool:
    return dtype.itemsize == (16 if dtype.kind == "c" else 8)


def _to_words(value: Array) -> Array:
    """Split the 64-bit numbers of a NumPy array, as :func:`in_words` does in XLA."""
    if not _is_wide(value.dtype):
        return value
    array = np.ascontiguousarray(value)
    if value.dtype.kind == "c":
        return array.reshape(*value.shape, 1).view(np.float64).reshape(*value.shape, 2, 1).view(np.uint32)
    return array.reshape(*value.shape, 1).view(np.uint32)


def _of_words(jax: Module, x: Array, type_: TensorType) -> Array:
    """In XLA, convert the result of :func:`_to_words` back to ``type_``."""
    dtype = type_.dtype.numpy
    if not _is_wide(dtype):
        return x
    if dtype.kind != "c":
        return jax.lax.bitcast_convert_type(x, dtype)
    parts = jax.lax.bitcast_convert_type(x, np.float64)
    return jax.lax.complex(parts[..., 0], parts[..., 1])


def _xla(jax: Module, *xs: Array, function: Callback) -> list[Array]:
    dtypes = [np.dtype(x.dtype) for x in xs]

    def call(*values: Array) -> list[Array]:
        arrays = [from_words(np.asarray(v), dtype) for v, dtype in zip(values, dtypes, strict=True)]
        try:
            return [_to_words(y) for y in function(*arrays)]
        except BaseException as error:
            note(error)
            raise CallbackError from None  # stop the compiled function; its caller raises the noted error

    shapes = [_in_words_type(jax, type_) for type_ in function.types]
    results = jax.pure_callback(call, shapes, *[in_words(jax, x) for x in xs])
    return [_of_words(jax, y, type_) for y, type_ in zip(results, function.types, strict=True)]


def _in_words_type(jax: Module, type_: TensorType) -> Array:
    """Return the shape and dtype of the result of :func:`_to_words` for ``type_``."""
    dtype = type_.dtype.numpy
    if not _is_wide(dtype):
        return jax.ShapeDtypeStruct(type_.shape, dtype)
    words = (2, 2) if dtype.kind == "c" else (2,)
    return jax.ShapeDtypeStruct((*type_.shape, *words), np.uint32)


def _jvp(ys: Atoms, xs: Atoms, ts: Tangents, function: Callback) -> list[Tangent]:
    if any(y.type.dtype.is_inexact for y in ys):
        function.refuse_derivative()
    return [None] * len(ys)


def _batch(size: int, xs: Atoms, at: BatchAxes, function: Callback) -> tuple:
    operands = [x if axis is None else at_front(size, x, axis) for x, axis in zip(xs, at, strict=True)]
    results = callback(*operands, function=function.batched(size, [axis is not None for axis in at]))
    return results, [0] * len(results)


callback: Primitive[tuple[Atom, ...]] = Primitive(
    "callback",
    "control",
    work=LIBRARY,
    type_rule=lambda *types, function: function.types,
    numpy=lambda *xs, function: function(*xs),
    xla=_xla,
    jvp=_jvp,
    batch=_batch,
    multiple=True,
    effects=Effects(unique=True, calls_back=True),
    taint="starts",
)
