"""Properties of tensors and Python numbers, and printing."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

from mindgrad._base.checks import of_type
from mindgrad.common.dtype import TensorType, get_py_obj_dtype
from mindgrad.core.base.tree import map_leaves
from mindgrad.core.ir.dtype import DType, as_dtype
from mindgrad.core.ir.tensor import Tensor
from mindgrad.frontend.control.printing import printed
from mindgrad.ops import clipping
from mindgrad.ops import math as functions
from mindgrad.ops.define import also_named
from mindgrad.ops.operands import cast, operand
from mindgrad.ops.registry import public

__all__ = [
    "is_complex", "is_floating_point", "is_nonzero", "is_tensor", "mixed_precision_cast", "numel",
    "partial", "print_", "same_type_shape", "scalar_add", "scalar_cast", "scalar_div", "scalar_eq",
    "scalar_floordiv", "scalar_ge", "scalar_gt", "scalar_le", "scalar_log", "scalar_lt", "scalar_max",
    "scalar_min", "scalar_mod", "scalar_mul", "scalar_ne", "scalar_pow", "scalar_sub", "scalar_uadd",
    "scalar_usub", "typeof",
]  # fmt: skip

# --- properties of tensors --------------------------------------------------------------------------------


def is_sequence_value_unknown(shape: Any) -> bool:
    """Check whether sizes of a shape are unknown; in mindgrad they never are.

    Args:
        shape (tuple of int): shape to check.

    Returns:
        ``False``.

    >>> from mindgrad.ops import functional as F
    >>> F.is_sequence_value_unknown((2, 3))
    False
    """
    return any(isinstance(size, Tensor) for size in shape)


@public("Tensor")
def is_tensor(obj: Any) -> bool:
    """Check whether an object is a tensor.

    Args:
        obj (object): any object.

    Returns:
        bool: whether ``obj`` is a tensor.

    >>> from mindgrad import Tensor, ops
    >>> ops.is_tensor(Tensor([1.0])), ops.is_tensor(1.0)
    (True, False)
    """
    return isinstance(obj, Tensor)


def typeof(obj: Any) -> Any:
    """Return the type of a value as an object.

    Args:
        obj (object): any value.

    Returns:
        MindSpore type object, such as ``Tensor[Float32]`` for a float32 tensor.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.typeof(Tensor([1.0])), ops.typeof(1.0), ops.typeof("a"))
    Tensor[Float32] Float64 String
    """
    return TensorType(obj.dtype) if isinstance(obj, Tensor) else get_py_obj_dtype(obj)


def is_floating_point(input: Any) -> bool:
    """Check whether a tensor has a floating-point dtype.

    Args:
        input (Tensor): input tensor.

    Returns:
        bool: whether ``input`` has a floating-point dtype.

    >>> from mindgrad import Tensor, ops
    >>> ops.is_floating_point(Tensor([1.0]))
    True
    """
    return operand(input, "IsFloatingPoint").dtype.is_float


def is_complex(input: Any) -> bool:
    """Check whether a tensor has a complex dtype.

    Args:
        input (Tensor): input tensor.

    Returns:
        bool: whether ``input`` has a complex dtype.

    >>> from mindgrad import Tensor, ops
    >>> ops.is_complex(Tensor([1.0]))
    False
    """
    return operand(input, "IsComplex").dtype.kind == "complex"


@public("Tensor")
def is_nonzero(input: Any) -> Any:
    """Check whether the only element of a tensor is nonzero.

    Args:
        input (Tensor): tensor of one element.

    Returns:
        bool; in a compiled function, a Boolean tensor.

    Raises:
        ValueError: If ``input`` does not have exactly one element.

    >>> from mindgrad import Tensor, ops
    >>> ops.is_nonzero(Tensor([2.0]))
    True
    """
    x = operand(input, "IsNonzero")
    if x.size != 1:
        raise ValueError(f"For 'IsNonzero', the input must have one element, but its shape is {x.shape}.")
    return bool(x.host_array().any()) if x._array is not None else x.reshape(()) != 0  # type: ignore[attr-defined]


def numel(input: Any) -> int:
    """Return the number of elements of a tensor.

    Args:
        input (Tensor): input tensor.

    Returns:
        int.

    >>> from mindgrad import Tensor, ops
    >>> ops.numel(Tensor([[1.0, 2.0]]))
    2
    """
    return operand(input, "Numel").size


@public("SameTypeShape")
def same_type_shape(input_x: Any, input_y: Any) -> Tensor:
    """Check that two tensors have the same dtype and shape, and return the first.

    Args:
        input_x, input_y (Tensor): tensors to compare.

    Returns:
        ``input_x``.

    Raises:
        TypeError: If the dtypes of the tensors differ.
        ValueError: If the shapes of the tensors differ.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.same_type_shape(Tensor([1.0]), Tensor([2.0])))
    [1.]
    """
    x, y = operand(input_x, "SameTypeShape"), operand(input_y, "SameTypeShape")
    if x.dtype is not y.dtype:
        raise TypeError(f"For 'SameTypeShape', the dtypes must be the same, but got {x.dtype} and {y.dtype}.")
    if x.shape != y.shape:
        raise ValueError(
            f"For 'SameTypeShape', the shapes must be the same, but got {x.shape} and {y.shape}."
        )
    return x


# --- conversion of dtypes ---------------------------------------------------------------------------------


@also_named(dst_dtype="dst_type")
def mixed_precision_cast(dst_type: Any, x: Any) -> Any:
    """Convert the floating-point tensors of a structure to another dtype.

    Args:
        dst_type (mindgrad.dtype): floating-point dtype of the converted tensors.
        x (Tensor, or nested tuple, list, or dict): structure of tensors. Objects that are not
            floating-point tensors are returned unchanged.

    Returns:
        The same structure with the converted tensors.

    >>> from mindgrad import Tensor, float16
    >>> from mindgrad.ops import functional as F
    >>> F.mixed_precision_cast(float16, (Tensor([1.0]), Tensor([1])))[0].dtype
    mindspore.float16
    """
    dtype = as_dtype(dst_type)

    def converted(leaf: Any) -> Any:
        is_float = isinstance(leaf, Tensor) and leaf.dtype.is_float
        return cast(operand(leaf, "MixedPrecisionCast"), dtype) if is_float else leaf

    return map_leaves(converted, x)


@public("ScalarCast")
def scalar_cast(input_x: Any, input_y: Any) -> Any:
    """Convert a Python number to the Python type of a dtype.

    Args:
        input_x (bool, int, float, or complex): number to convert.
        input_y (mindgrad.dtype): dtype whose Python type is used.

    Returns:
        The converted number: a bool, int, float, or complex.

    Raises:
        TypeError: If ``input_x`` is not a number.

    >>> from mindgrad import int32, ops
    >>> ops.scalar_cast(255.6, int32)
    255
    """
    if not isinstance(input_x, (bool, int, float, complex)):
        raise TypeError(f"For 'ScalarCast', the input must be a number, but got {type(input_x).__name__}.")
    found: DType = as_dtype(input_y)
    kind = {"bool": bool, "int": int, "uint": int, "float": float, "complex": complex}[found.kind]
    return kind(input_x)  # type: ignore[arg-type]


# --- operations on Python numbers -------------------------------------------------------------------------


def _scalar(name: str, sign: str, function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    def method(x: Any, y: Any) -> Any:
        return function(x, y)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"""Compute ``x {sign} y`` of two Python numbers, as in MindSpore 1.x.

    Args:
        x, y (int or float): Python numbers.

    Returns:
        The result.

    >>> from mindgrad.ops import functional as F
    >>> F.{name}(3, 2)
    {function(3, 2)}
    """
    return method


scalar_add = _scalar("scalar_add", "+", operator.add)
scalar_sub = _scalar("scalar_sub", "-", operator.sub)
scalar_mul = _scalar("scalar_mul", "*", operator.mul)
scalar_div = _scalar("scalar_div", "/", operator.truediv)
scalar_floordiv = _scalar("scalar_floordiv", "//", operator.floordiv)
scalar_mod = _scalar("scalar_mod", "%", operator.mod)
scalar_pow = _scalar("scalar_pow", "**", operator.pow)
scalar_eq = _scalar("scalar_eq", "==", operator.eq)
scalar_ne = _scalar("scalar_ne", "!=", operator.ne)
scalar_lt = _scalar("scalar_lt", "<", operator.lt)
scalar_le = _scalar("scalar_le", "<=", operator.le)
scalar_gt = _scalar("scalar_gt", ">", operator.gt)
scalar_ge = _scalar("scalar_ge", ">=", operator.ge)


def scalar_uadd(x: Any) -> Any:
    """Return ``+x`` of a number.

    Args:
        x (int or float): Python number.

    Returns:
        ``x``.

    >>> from mindgrad.ops import functional as F
    >>> F.scalar_uadd(2)
    2
    """
    return x


def scalar_log(x: Any) -> Any:
    """Compute the logarithm of a number.

    Args:
        x (int or float): Python number.

    Returns:
        float.

    >>> from mindgrad.ops import functional as F
    >>> F.scalar_log(1)
    0.0
    """
    return functions.log(x) if isinstance(x, Tensor) else math.log(x)


def scalar_max(x: Any, y: Any) -> Any:
    """Return the larger of two numbers.

    Args:
        x, y (int or float): Python numbers.

    Returns:
        The larger number.

    >>> from mindgrad.ops import functional as F
    >>> F.scalar_max(1, 2)
    2
    """
    return clipping.maximum(x, y) if isinstance(x, Tensor) or isinstance(y, Tensor) else max(x, y)


def scalar_min(x: Any, y: Any) -> Any:
    """Return the smaller of two numbers.

    Args:
        x, y (int or float): Python numbers.

    Returns:
        The smaller number.

    >>> from mindgrad.ops import functional as F
    >>> F.scalar_min(1, 2)
    1
    """
    return clipping.minimum(x, y) if isinstance(x, Tensor) or isinstance(y, Tensor) else min(x, y)


def scalar_usub(x: Any) -> Any:
    """Return ``-x`` of a number.

    Args:
        x (int or float): Python number.

    Returns:
        The number −x.

    >>> from mindgrad.ops import functional as F
    >>> F.scalar_usub(2), F.scalar_add(2, 3), F.scalar_lt(2, 3)
    (-2, 5, True)
    """
    return -x


# --- partial application, printing, summaries -------------------------------------------------------------


@public("Partial")
def partial(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Fix the first arguments of a function, as Python's ``functools.partial``.

    Args:
        func (callable): function to call.
        *args (object): first positional arguments of ``func``.
        **kwargs (object): keyword arguments of ``func``.

    Returns:
        Callable that accepts the remaining arguments of ``func``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.partial(ops.add, Tensor([1.0]))(Tensor([2.0])))
    [3.]
    """
    return functools.partial(func, *args, **kwargs)


@public("Print")
def print_(*input_x: Any) -> None:
    """Print strings and other values, also in compiled functions.

    In a compiled function, the values are printed each time the function runs. Strings are printed unchanged,
    and other values by their ``repr``. Each value is on its own line.

    Args:
        *input_x (object): values to print.

    Returns:
        Nothing.

    >>> from mindgrad import Tensor, ops
    >>> ops.print_("x is", Tensor([1.0]))
    x is
    Tensor(shape=[1], dtype=Float32, value= [ 1.00000000e+00])
    """
    printed(*[each if isinstance(each, str) else repr(_plain(each)) for each in input_x], sep="\n")


def summary(name: str, value: Any) -> None:
    """Record a value for MindInsight under a name; mindgrad records nothing.

    Args:
        name (str): name of the record.
        value (Tensor): tensor to record.

    Raises:
        TypeError: If ``name`` is not a str, or ``value`` is not a tensor.
        ValueError: If ``name`` is empty.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.introspection import summary
    >>> summary("loss", Tensor(1.0))
    """
    of_type(name, str, "Summary", "name", "a string")
    if not name:
        raise ValueError("For 'Summary', the 'name' must not be empty.")
    of_type(value, Tensor, "Summary", "value", "a tensor")


def _plain(value: Any) -> Any:
    return operand(value, "Print") if isinstance(value, Tensor) else value
