"""The Tensor class: an array, or a value of a function that is being traced.

This module defines no operators. ``mindgrad.ops`` attaches operators and methods from one table.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from inspect import CO_GENERATOR
from typing import TYPE_CHECKING

import numpy as np

from mindgrad.core.base.html import array_table, captioned
from mindgrad.core.base.keywords import check_keywords
from mindgrad.core.base.location import user_frame, warn_user
from mindgrad.core.base.refusal import SourceLocation, hints, location_of, refuse
from mindgrad.core.base.text import tensor_format, tensor_repr, tensor_str
from mindgrad.core.base.waiting import computed
from mindgrad.core.ir import constant_arguments, unknown_shape
from mindgrad.core.ir.array_conversion import array_of, initialized, is_shareable, of_type, tensor_element
from mindgrad.core.ir.dtype import DType, as_dtype
from mindgrad.core.ir.pending import PendingArray, host_copy
from mindgrad.core.ir.rules import Array, NumpyType, Scalar, Stored
from mindgrad.core.ir.thread_state import state
from mindgrad.core.ir.types import TensorType, type_of

if TYPE_CHECKING:  # scripts/stubs.py generates this stub from the table of methods
    from mindgrad.core.ir.tensor_members import TensorMembers
else:
    TensorMembers = object

__all__ = [
    "LEFT_BEHIND", "MARK", "Number", "Tensor", "assign", "make_number", "make_tensor", "marked",
    "number_like", "scalar_tensor",
]  # fmt: skip

LEFT_BEHIND = (
    "a tensor is used outside the compiled function that created it: it was stored in an attribute, list or "
    "global while jit, vmap, or a loop traced the function. Return it from the function instead."
)


class Tensor(TensorMembers):
    """A differentiable n-dimensional array with elements of one dtype.

    Args:
        input_data (number, list, tuple, numpy.ndarray, or Tensor, optional): the data, which are copied.
            Lists and tuples may be nested. Default: ``None``.
        dtype (DType, optional): element type. ``None``: the dtype of an array or Tensor. For Python data,
            float32 for floats, int64 for integers, bool for Booleans, and complex128 for complex numbers.
            Default: ``None``.
        shape (tuple or list of int, optional): shape to initialize, instead of ``input_data``. ``None`` as a
            size describes a dynamic size, see ``Cell.set_inputs``. Default: ``None``.
        init (Initializer or number, optional): initial value for ``shape``; requires ``dtype``. ``None``:
            zero. Default: ``None``.
        const_arg (bool, optional): whether compiled functions treat the tensor as a constant and are compiled
            separately for each value. Default: ``False``.
        **unknown (Any): not accepted. The error names the arguments.

    Raises:
        TypeError: If the data are not an array of numbers (strings, ragged lists), ``dtype`` is not an
            element type, or an argument has an unknown name.
        ValueError: If ``shape`` or ``init`` is given together with data, or without ``dtype``.

    >>> import numpy as np
    >>> from mindgrad import Tensor
    >>> Tensor([1.0, 2.0])
    Tensor(shape=[2], dtype=Float32, value= [ 1.00000000e+00,  2.00000000e+00])
    >>> print(Tensor(np.eye(2)))
    [[1. 0.]
     [0. 1.]]

    See Also:
        :func:`mindgrad.tensor`, :func:`mindgrad.from_numpy`, :class:`mindgrad.Parameter`,
        :func:`mindgrad.mutable`
    """

    __slots__ = ("__weakref__", "_array", "_atom", "_scope", "_type")

    # `None` makes np.float64(2) * tensor call Tensor.__rmul__, so that the result stays differentiable.
    # `ops.interoperation` adds the arithmetic operators to this class
    __array_ufunc__ = None
    __array_priority__ = 1000

    #: whether the tensor is a Parameter, whose value compiled functions can read and assign
    is_parameter = False

    _array: Stored
    _type: TensorType | None

    def __init__(
        self,
        input_data: object = None,
        dtype: object = None,
        shape: int | Sequence[int] | None = None,
        init: object = None,
        const_arg: bool = False,
        **unknown: object,
    ) -> None:
        if unknown:
            check_keywords("Tensor", unknown, ("input_data", "dtype", "shape", "init", "const_arg"))
        if const_arg is not False:
            constant_arguments.mark(self, const_arg)
        self._scope: Stored = None
        self._atom: Stored = None
        if input_data is None and (described := unknown_shape.described(dtype, shape, init)):
            self.__class__, self._type = _WithoutValues, described
            return
        if shape is not None or init is not None:
            if input_data is not None:
                raise ValueError(
                    f"When initializing a tensor with 'input_data', 'shape' and 'init' should be set to "
                    f"None. But got shape: {shape}, init: {init!r}."
                )
            array = initialized(init, shape, dtype)
        elif isinstance(input_data, Tensor):
            if input_data.is_parameter:
                input_data = input_data.value()  # type: ignore[attr-defined]
            if input_data.is_traced:
                converted = input_data if dtype is None else input_data.astype(dtype)  # type: ignore[attr-defined]
                assign(self, converted)
                return
            target = input_data.dtype if dtype is None else as_dtype(dtype)
            array = input_data.host_array()
            array = array if is_shareable(array, target) else of_type(array, target)
        else:
            array = array_of(input_data, None if dtype is None else as_dtype(dtype), tensor_element)
        self._array = array
        self._type = type_of(array)

    # -- type and shape --------------------------------------------------------------------------

    @property
    def type(self) -> TensorType:
        """The element type and shape as one object."""
        tensor_type = self._type
        if tensor_type is None:
            tensor_type = self._type = type_of(self._array)
        return tensor_type

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return self.type.shape

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.type.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.type.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.type.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.type.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def is_traced(self) -> bool:
        """Whether the tensor belongs to a function that is compiled or differentiated."""
        scope = self._scope
        return scope is not None and scope.level > 0

    # -- value -----------------------------------------------------------------------------------

    def host_array(self) -> Array:
        """Return the value as a NumPy array that may share memory with tensors.

        The caller must not write into the array.

        Returns:
            numpy.ndarray: an array of the shape and NumPy dtype of the tensor.

        Raises:
            CompileError: If the function is being compiled, so that the tensor has no value yet.

        >>> from mindgrad import Tensor
        >>> print(Tensor([1, 2]).host_array())
        [1 2]

        See Also:
            :meth:`mindgrad.Tensor.asnumpy`, :meth:`mindgrad.Tensor.read_only_array`
        """
        array = self._array
        if array is None and not self.is_traced:
            raise RuntimeError(LEFT_BEHIND)
        if array is None:
            refuse(
                "The value of a tensor is read inside a compiled function: by float(), int(), item(), "
                "tolist(), asnumpy(), or a library that converts it to an array. The value is not known at "
                "compile time: jit, vmap, cond, and loops such as scan call a function without values",
                "Use functions of mindgrad.core.numpy on the tensor, or return the tensor and read it "
                "outside." + hints["value"],
            )
        if type(array) is not np.ndarray:
            if type(array) is PendingArray:
                array = array.get()
            # do not store the copy in the tensor, because JAX already caches the host copy of a device array
            array = host_copy(computed(array))
        shape = self.type.shape
        return array if array.shape == shape else np.broadcast_to(array, shape)

    def asnumpy(self) -> Array:
        """Return a copy of the value as a NumPy array.

        Writing into the array does not change the tensor. In MindSpore, the array shares the tensor's memory.
        To change elements of a tensor, assign to them. To convert a changed array, create a new tensor.

        Returns:
            numpy.ndarray: an array of the shape and NumPy dtype of the tensor.

        Raises:
            CompileError: If the function is being compiled, so that the tensor has no value yet.

        >>> from mindgrad import Tensor
        >>> x = Tensor([1, 2])
        >>> array = x.asnumpy()
        >>> array[0] = 5
        >>> print(array, x, Tensor(array))
        [5 2] [1 2] [5 2]

        See Also:
            :meth:`mindgrad.Tensor.numpy`, :meth:`mindgrad.Tensor.tolist`, :meth:`mindgrad.Tensor.item`,
            :meth:`mindgrad.Tensor.read_only_array`
        """
        self._leave("asnumpy()")
        return np.array(self.host_array())

    def numpy(self) -> Array:
        """Return a copy of the value as a NumPy array, as :meth:`asnumpy` does.

        Returns:
            numpy.ndarray: an array of the shape and NumPy dtype of the tensor.

        Raises:
            CompileError: If the function is being compiled, so that the tensor has no value yet.

        >>> from mindgrad import Tensor
        >>> Tensor([1, 2]).numpy()
        array([1, 2])

        See Also:
            :meth:`mindgrad.Tensor.asnumpy`, :meth:`mindgrad.Tensor.tolist`
        """
        return self.asnumpy()

    def read_only_array(self) -> Array:
        """Return the value as a read-only NumPy array that shares memory with tensors.

        Returns:
            numpy.ndarray: an array of the shape and NumPy dtype of the tensor.

        Raises:
            CompileError: If the function is being compiled, so that the tensor has no value yet.

        >>> from mindgrad import Tensor
        >>> Tensor([1, 2]).read_only_array().flags.writeable
        False

        See Also:
            :meth:`mindgrad.Tensor.asnumpy`, :meth:`mindgrad.Tensor.host_array`
        """
        array = self.host_array().view()
        array.flags.writeable = False
        return array

    def _leave(self, how: str) -> None:
        """Warn that Python code reads the value, because derivatives ignore such a read."""
        if self.is_traced and self._array is not None and self._scope.level > state.read_level:
            warn_user(
                f"{how} reads the value of a tensor that is being differentiated, so the result is a "
                "constant with zero gradient. If this is intended, apply stop_gradient(x) first."
            )

    def item(self, *index: int) -> Scalar:
        """Return the only element, or the element at ``index``, as a Python number.

        Args:
            *index (int): one index for each axis, or one index into the flattened tensor. It may be omitted
                if the tensor has one element.

        Returns:
            bool, int, float, or complex: the element.

        Raises:
            ValueError: If the tensor has several elements and no index is given.
            IndexError: If an index is out of range.
            CompileError: If the function is being compiled, so that the tensor has no value yet.

        >>> from mindgrad import Tensor
        >>> x = Tensor([[1, 2], [3, 4]])
        >>> x.item(1, 0), x.item(1), Tensor([5]).item()
        (3, 2, 5)

        See Also:
            :meth:`mindgrad.Tensor.tolist`, :meth:`mindgrad.Tensor.asnumpy`
        """
        if not index and self.size != 1:
            raise ValueError(
                f"The tensor should have only one element, but got {self.size}: its shape is "
                f"{self.shape}. Give the index of the element: item(0)."
            )
        self._leave("item()")
        return self.host_array().item(*index)

    def tolist(self) -> Scalar:
        """Return the value as a Python number or nested lists.

        Returns:
            bool, int, float, complex, or list: a number for a 0-D tensor, else a list for the first axis.

        Raises:
            CompileError: If the function is being compiled, so that the tensor has no value yet.

        >>> from mindgrad import Tensor
        >>> Tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]

        See Also:
            :meth:`mindgrad.Tensor.item`, :meth:`mindgrad.Tensor.asnumpy`
        """
        self._leave("tolist()")
        return self.host_array().tolist()

    def __array__(self, dtype: NumpyType | None = None, copy: bool | None = None) -> Array:
        self.refuse_numpy()
        array = self.read_only_array()
        if dtype is not None:
            array = array.astype(dtype, copy=False)
        return np.array(array) if copy else array

    def refuse_numpy(self, function: str = "np.array", instead: str = "stack([...])") -> None:
        """Raise an error if the tensor is traced, because NumPy drops derivatives.

        Args:
            function (str, optional): name of the NumPy function, for the message. Default: ``"np.array"``.
            instead (str, optional): replacement, for the message. Default: ``"stack([...])"``.

        Returns:
            Nothing.

        Raises:
            TypeError: If the tensor belongs to a function that is being differentiated or compiled.

        >>> from mindgrad import Tensor
        >>> Tensor([1, 2]).refuse_numpy()  # the tensor has a value, and no derivative

        See Also:
            :meth:`mindgrad.Tensor.asnumpy`, :func:`mindgrad.pure_callback`
        """
        current = self.value() if self.is_parameter else self  # type: ignore[attr-defined]
        if current.is_traced:
            raise TypeError(
                f"{function} was applied to a tensor that is being differentiated or compiled; its "
                f"derivative would be lost. Use {instead}{hints['NumPy']}, or pass "
                "stop_gradient(x).asnumpy() if the program is not compiled and no derivative is wanted."
            )

    def _number(self) -> Scalar:
        if self.size != 1:
            raise ValueError(
                f"Only one element tensors can be converted to Python scalars, but the shape is {self.shape}."
            )
        return self.host_array().item()

    def __float__(self) -> float:
        self._leave("float()")
        return float(self._number())

    def __int__(self) -> int:
        self._leave("int()")
        return int(self._number())

    def __complex__(self) -> complex:
        self._leave("complex()")
        return complex(self._number())

    def __bool__(self) -> bool:
        if self._array is None:
            refuse(
                "A tensor is the condition of Python code, such as 'if', 'while', 'and', or the filter of a "
                "comprehension. Its value is not known at compile time: jit, vmap, cond, and loops such as "
                "scan call a function without values",
                "Choose elements with where(condition, x, 0), a branch with cond(condition, f, g, x), and a "
                "number of iterations with while_loop." + hints["condition"],
            )
        if self.size != 1:
            raise ValueError(
                f"The tensor should have only one element, but got {self.size}: its Boolean value is "
                "ambiguous. Use all() or any()."
            )
        return bool(self.host_array().reshape(()))

    def __index__(self) -> int:
        if self.dtype.kind not in ("int", "uint"):
            raise TypeError(f"a tensor of type {self.dtype} cannot be used as an index.")
        return int(self._number())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("Not support len of a 0-D tensor")
        return self.shape[0]

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> Tensor:
        return make_tensor(self._array, self._type, self._scope, self._atom)

    def __deepcopy__(self, memo: dict[int, object]) -> Tensor:
        copied = self.__copy__() if self.is_traced else Tensor(self)
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> tuple[Callable[[object], Tensor], tuple[Array]]:
        return (Tensor, (self.asnumpy(),))

    # -- representation --------------------------------------------------------------------------

    def __str__(self) -> str:
        return self._mark("str") or tensor_str(self.host_array())

    def __repr__(self) -> str:
        return self._mark("repr") or tensor_repr(self.host_array(), self.dtype.name)

    def _repr_html_(self) -> str | None:
        """Return an HTML table of the first and last elements; ``None`` without a value."""
        return None if self._array is None else captioned(self._caption(), array_table(self.host_array()))

    def _caption(self) -> str:
        return " ".join(filter(None, ["Tensor", " × ".join(map(str, self.shape)), str(self.dtype)]))

    def __format__(self, specification: str) -> str:
        if not specification:
            return str(self)
        return self._mark(specification) or tensor_format(self.host_array(), specification)

    def _mark(self, how: str) -> str:
        """Return a placeholder if the tensor has no value yet, else an empty string.

        ``how`` is the format: ``"str"``, ``"repr"``, or a format specification.
        """
        if self._array is not None:
            return ""
        frame = user_frame()
        code = frame.f_code
        if code.co_flags & CO_GENERATOR and code.co_name != "<genexpr>":
            refuse(
                "A generator formats a tensor as a string. Generators run at compile time, when the "
                "value of the tensor is not known",
                "Yield the tensor, and format it where it is printed.",
            )
        number = next(_numbers)
        _marked[number] = (self, how, location_of(frame))
        _marked.pop(number - _MARKS_KEPT, None)
        return f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, value=<being compiled: {number}>)"


#: pattern of the placeholder for a tensor without a value in a string, for example in an f-string. Its group
#: is the number of the placeholder, the argument of :func:`marked`
MARK = re.compile(r"Tensor\(shape=\[[\d, ]*\], dtype=\w+, value=<being compiled: (\d+)>\)")

_MARKS_KEPT = 10_000
_numbers = itertools.count()
_marked: dict[int, tuple[Tensor, str, SourceLocation]] = {}


def marked(number: int) -> tuple[Tensor, str, SourceLocation]:
    """Return the tensor, format, and source line of the placeholder with this number."""
    return _marked[number]


def make_tensor(
    array: Stored, type: TensorType | None = None, scope: Stored = None, atom: Stored = None
) -> Tensor:
    """Create a Tensor that holds ``array``, without copying or checking it."""
    tensor = Tensor.__new__(Tensor)
    tensor._array = array
    tensor._type = type
    tensor._scope = scope
    tensor._atom = atom
    return tensor


class _WithoutValues(unknown_shape.WithoutValues, Tensor):  # type: ignore[misc]
    __slots__ = ()


class Number(Tensor):
    """A Python number whose value is not known at compile time.

    An example is ``i`` in ``i += 1`` in a compiled loop. It is a scalar (0-D) tensor with the precision of
    Python's numbers (int64, float64, bool, or complex128). Like a Python number, it does not change the dtype
    of a tensor in an operation: ``i * x`` has the dtype of ``x``.
    """

    __slots__ = ()

    def sample(self) -> complex:
        """Return an arbitrary Python number of the same Python type."""
        return {"bool": True, "int": 1, "float": 1.0, "complex": 1j}[self.dtype.kind]

    def __float__(self) -> float:
        if self.is_traced and self._array is not None:
            raise TypeError(
                "float(), or a function of math or of another library, reads the value of a number that is "
                "being differentiated; its derivative would be lost. Use a function of mindgrad.core.numpy"
                f"{hints['functions']}, or stop_gradient(x).item() if no derivative is wanted."
            )
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())  # an integer has no derivative that could be lost, so do not warn

    def __hash__(self) -> int:
        if self._array is None:
            refuse(
                "A number that depends on a tensor is the key of a dict or set. Its value is not known "
                "at compile time",
                "Instead of values[k] of a dict, use a list or a tensor of the values, or compare the "
                "number: k == 2.",
            )
        return hash(self.item())

    def __mul__(self, other: object) -> Tensor:
        self._refuse_length(other)
        return super().__mul__(other)  # type: ignore[misc, operator]  # TensorMembers is for type checkers

    def __rmul__(self, other: object) -> Tensor:
        self._refuse_length(other)
        return super().__rmul__(other)  # type: ignore[misc, operator]  # TensorMembers is for type checkers

    @staticmethod
    def _refuse_length(other: object) -> None:
        if isinstance(other, (list, tuple, str, bytes)):
            refuse(
                f"A {type(other).__name__} is repeated by a number that depends on a tensor, so its "
                "length is not known at compile time",
                "Use a tensor of the maximum length and a mask: arange(n) < k.",
            )


def make_number(tensor: Tensor) -> Number:
    """Convert a scalar tensor to a :class:`Number`."""
    number = Number.__new__(Number)
    assign(number, tensor)
    return number


def number_like(tensor: Tensor, like: object) -> Tensor:
    """Convert a scalar tensor to a :class:`Number` if ``like`` is one."""
    return make_number(tensor) if type(like) is Number and not tensor.shape else tensor


def assign(target: Tensor, tensor: Tensor) -> None:
    """Replace the value of the object ``target`` by the value of ``tensor``."""
    target._array, target._type = tensor._array, tensor._type
    target._scope, target._atom = tensor._scope, tensor._atom


def scalar_tensor(number: complex, like: TensorType) -> Tensor:
    """Return a tensor of type ``like`` whose elements all equal ``number``.

    Only one element is stored. The tensor is valid only as an operand of pointwise operators.
    """
    return make_tensor(np.asarray(number, like.dtype.numpy), like)
