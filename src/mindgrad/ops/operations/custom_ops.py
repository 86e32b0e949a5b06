"""``Custom``, an operator that is a Python function of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.trace.custom import CustomDerivative
from mindgrad.ops.callback import called, name_of, type_of_result
from mindgrad.ops.operands import operand
from mindgrad.ops.operations.primitive import Primitive

__all__ = ["Custom"]


class Custom(Primitive):
    """An operator that is a Python function on NumPy arrays, with its derivative.

    Args:
        func (Callable): function of NumPy arrays, one per input; returns a NumPy array, or a tuple of them.
        out_shape (Callable or tuple): shape of the result, or a function of the shapes of the inputs that
            returns it. For several results, a tuple or list of shapes. Default: ``None``, which raises an
            error, because the shape must be known before ``func`` runs.
        out_dtype (Callable or dtype): dtype of the result, or a function of the dtypes of the inputs that
            returns it. For several results, a tuple or list of dtypes. Default: ``None``, which raises an
            error.
        func_type (str): must be ``"pyfunc"``. The other values that MindSpore has compile kernels, which
            mindgrad does not support. Default: ``"hybrid"``, as in MindSpore.
        bprop (Callable): derivative, called as ``bprop(*inputs, out, dout)`` with Tensors; returns a tuple of
            one gradient per input. It may call operators and other ``Custom`` operators. Default: ``None``:
            differentiating the operator raises an error.
        reg_info (Any): not used. Default: ``None``.

    Inputs:
        - **inputs** (Tensor) - arguments of ``func``, one Tensor for each.

    Outputs:
        Tensor, or a tuple of Tensors if ``out_shape`` lists several shapes.

    Raises:
        NotImplementedError: If ``func_type`` is not ``"pyfunc"``.
        TypeError: If ``func`` or ``bprop`` is not callable, or ``out_shape`` or ``out_dtype`` is missing.
        TypeError, ValueError: In a call, in the same cases as :func:`mindgrad.pure_callback`.

    >>> import numpy as np
    >>> import mindgrad as ms
    >>> from mindgrad import Tensor, ops
    >>> sine = ops.Custom(
    ...     np.sin, lambda x: x, lambda x: x, func_type="pyfunc",
    ...     bprop=lambda x, out, dout: (dout * ops.cos(x),),
    ... )
    >>> print(sine(Tensor([0.0])), ms.grad(sine)(Tensor([0.0])))
    [0.] [1.]

    See Also:
        :func:`mindgrad.pure_callback`: call a NumPy function without a derivative on structures of Tensors.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        out_shape: Any = None,
        out_dtype: Any = None,
        func_type: str = "hybrid",
        bprop: Callable[..., Any] | None = None,
        reg_info: Any = None,
    ) -> None:
        if func_type != "pyfunc":
            raise NotImplementedError(
                f"For 'Custom', func_type={func_type!r} compiles a kernel for MindSpore, which mindgrad does "
                f"not support. Pass func_type='pyfunc' and a Python function of NumPy arrays."
            )
        for name, value in (("func", func), ("bprop", bprop)):
            if not callable(value) and (name == "func" or value is not None):
                raise TypeError(f"For 'Custom', '{name}' must be callable, but got {type(value).__name__}.")
        for name, value in (("out_shape", out_shape), ("out_dtype", out_dtype)):
            if value is None:
                raise TypeError(
                    f"For 'Custom', '{name}' must be given, because it must be known before 'func' runs. "
                    f"If the result is like the first input, pass {name}=lambda x, *others: x."
                )
        self.func, self.bprop = func, bprop
        self.out_shape, self.out_dtype = out_shape, out_dtype
        self._call = self._run if bprop is None else CustomDerivative(self._run, bprop, name_of(func))

    def __call__(self, *inputs: Any) -> Any:
        """Compute the result of ``func``."""
        return self._call(*[operand(x, "Custom") for x in inputs])

    def _run(self, *inputs: Tensor) -> Any:
        shape, dtype = self.out_shape, self.out_dtype
        if callable(shape):
            shape = shape(*[x.shape for x in inputs])
        if callable(dtype) and not isinstance(dtype, type):
            dtype = dtype(*[x.dtype for x in inputs])
        if not (isinstance(shape, (tuple, list)) and any(isinstance(n, (tuple, list)) for n in shape)):
            return called("Custom", self.func, type_of_result("Custom", shape, dtype), inputs)
        dtypes = dtype if isinstance(dtype, (tuple, list)) else [dtype] * len(shape)
        if len(dtypes) != len(shape):
            raise ValueError(
                f"For 'Custom', 'out_shape' lists {len(shape)} results, but 'out_dtype' lists {len(dtypes)}."
            )
        types = tuple([type_of_result("Custom", *each) for each in zip(shape, dtypes, strict=True)])
        return called("Custom", self.func, types, inputs)
