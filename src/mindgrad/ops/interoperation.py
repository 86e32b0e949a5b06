"""NumPy's array protocol: NumPy functions that accept tensors.

NumPy's operators call the operators of mindgrad, so that ``np.float64(2) * x`` is a differentiable tensor.
Other NumPy functions read the values of a tensor and return an array. If the tensor is being differentiated
or compiled, such a call raises an error, because the derivative would be lost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, comparison, rounding, tensor_members

__all__ = ["UFUNCS", "array_function", "array_ufunc"]

#: NumPy function of a Python operator -> function of mindgrad
UFUNCS: dict[Any, Callable[..., Any]] = {
    np.add: arithmetic.add,
    np.subtract: arithmetic.sub,
    np.multiply: arithmetic.mul,
    np.true_divide: arithmetic.div,
    np.floor_divide: arithmetic.floor_divide,
    np.remainder: arithmetic.floor_mod,
    np.power: arithmetic.pow,
    np.matmul: tensor_members.matrix_product,
    np.negative: arithmetic.neg,
    np.positive: arithmetic.positive,
    np.absolute: rounding.abs,
    np.bitwise_and: comparison.bitwise_and,
    np.bitwise_or: comparison.bitwise_or,
    np.bitwise_xor: comparison.bitwise_xor,
    np.equal: comparison.equal,
    np.not_equal: comparison.not_equal,
    np.less: comparison.less,
    np.less_equal: comparison.less_equal,
    np.greater: comparison.greater,
    np.greater_equal: comparison.greater_equal,
}


# NumPy functions that read only the shape and dtype of a tensor
_BY_TYPE = {
    np.shape, np.ndim, np.size, np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.iscomplexobj,
    np.isrealobj,
}  # fmt: skip


def array_ufunc(self: Tensor, function: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """Apply one of NumPy's elementwise functions; NumPy calls this method.

    Raises:
        TypeError: If a tensor is being differentiated or compiled, and the function is not an operator.

    >>> import numpy as np
    >>> from mindgrad import Tensor
    >>> np.float64(2) * Tensor([1.0, 2.0])
    Tensor(shape=[2], dtype=Float32, value= [ 2.00000000e+00,  4.00000000e+00])
    >>> np.hypot(Tensor([3.0]), Tensor([4.0]))
    array([5.], dtype=float32)
    """
    ours = UFUNCS.get(function)
    if ours is not None and method == "__call__" and not kwargs:
        return ours(*inputs)
    name = _name(function)
    arrays = [_array(each, name) for each in inputs]
    if "out" in kwargs:
        kwargs["out"] = tuple(_array(each, name) for each in kwargs["out"])
    return getattr(function, method)(*arrays, **kwargs)


def array_function(self: Tensor, function: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Apply another NumPy function to the values of tensors; NumPy calls this method.

    Raises:
        TypeError: If a tensor is being differentiated or compiled.

    >>> import numpy as np
    >>> from mindgrad import Tensor
    >>> np.concatenate([Tensor([1.0]), Tensor([2.0])])
    array([1., 2.], dtype=float32)
    >>> np.shape(Tensor([1.0]))
    (1,)
    """
    if function in _BY_TYPE and isinstance(args[0], Tensor):
        stand_in = np.broadcast_to(np.zeros((), args[0].dtype.numpy), args[0].shape)
        args = (stand_in, *args[1:])
    name = _name(function)
    given = {key: _arrays(value, name) for key, value in kwargs.items()}
    return function(*_arrays(tuple(args), name), **given)


def _name(function: Any) -> str:
    """Return the name with which users call a NumPy function or a SciPy ufunc."""
    name = function.__name__
    if getattr(np, name, None) is function:
        return f"np.{name}"
    module = getattr(function, "__module__", None) or "scipy.special"  # ufuncs may lack ``__module__``
    return f"{module.replace('numpy', 'np', 1)}.{name}"


def _counterpart(function: str) -> str:
    """Return the operator to use instead of a NumPy or SciPy function."""
    name = function.rpartition(".")[2]
    operators = vars(sys.modules[__name__.rpartition(".")[0]])
    return next(
        (f"mindgrad.ops.{x}" for x in (name, f"bessel_{name}") if x in operators),
        "a function of mindgrad.ops or mindgrad.core.numpy",
    )


def _array(value: Any, function: str) -> Any:
    if not isinstance(value, Tensor):
        return value
    value.refuse_numpy(function, _counterpart(function))
    return value.read_only_array()


def _arrays(value: Any, function: str) -> Any:
    """Replace all tensors in a nested structure with arrays."""
    if isinstance(value, (tuple, list)):
        return type(value)(_arrays(each, function) for each in value)
    if isinstance(value, dict):
        return {key: _arrays(each, function) for key, each in value.items()}
    return _array(value, function)
