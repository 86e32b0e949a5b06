"""Affine maps: β · input + α · product, fully connected layers, and bias addition."""

from __future__ import annotations

from typing import Any

from mindgrad._base.checks import one_of
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.structural import reshape
from mindgrad.ops import arithmetic
from mindgrad.ops.contraction import bmm, check_ranks, einsum, factors, matmul, mm, mv, outer
from mindgrad.ops.define import also_named
from mindgrad.ops.layout import swapaxes
from mindgrad.ops.operands import broadcast_to, operand, promoted
from mindgrad.ops.reduction import reduce_sum
from mindgrad.ops.registry import public

__all__ = ["addbmm", "addmm", "addmv", "addr", "baddbmm", "bias_add", "bidense", "dense"]


def _sum(input: Any, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    scaled = product if alpha == 1 else arithmetic.mul(product, alpha)
    return arithmetic.add(input if beta == 1 else arithmetic.mul(input, beta), scaled)


@public("Tensor mint")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Compute β · input + α · mat1 mat2 for matrices mat1 and mat2.

    Args:
        input (Tensor or number): values to add, which broadcast with the product.
        mat1 (Tensor): tensor of shape (m, k).
        mat2 (Tensor): tensor of shape (k, n).
        beta (int or float): factor β of ``input``.
        alpha (int or float): factor α of the product.

    Returns:
        Tensor of shape (m, n).

    Raises:
        TypeError: If ``mat1`` or ``mat2`` is not a tensor, or is Boolean.
        ValueError: If ``mat1`` or ``mat2`` is not 2-D, or their shapes do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.addmm(Tensor([[1.0]]), Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]]), beta=2))
    [[13.]]
    """
    return _sum(input, mm(mat1, mat2), beta, alpha)


@public("Tensor mint")
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Compute β · input + α · mat vec for a matrix and a vector.

    Args:
        input (Tensor or number): values to add, which broadcast with the product.
        mat (Tensor): tensor of shape (m, k).
        vec (Tensor): tensor of shape (k,).
        beta (int or float): factor β of ``input``.
        alpha (int or float): factor α of the product.

    Returns:
        Tensor of shape (m,).

    Raises:
        TypeError: If ``mat`` or ``vec`` is not a tensor, or is Boolean.
        ValueError: If ``mat`` is not 2-D, ``vec`` is not 1-D, or their shapes do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.addmv(Tensor([1.0]), Tensor([[1.0, 2.0]]), Tensor([3.0, 4.0])))
    [12.]
    """
    return _sum(input, mv(mat, vec), beta, alpha)


@public("Tensor")
@also_named(x="input")
def addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Compute β · input + α · the outer product of two vectors.

    Args:
        vec1 (Tensor): tensor of shape (m,).
        vec2 (Tensor): tensor of shape (n,).

    Raises:
        TypeError: If ``vec1`` or ``vec2`` is not a tensor, or is Boolean.
        ValueError: If ``vec1`` or ``vec2`` is not 1-D, or ``input`` does not broadcast to (m, n).

    {as addmm}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.addr(Tensor([[1.0, 1.0]]), Tensor([2.0]), Tensor([3.0, 4.0])))
    [[7. 9.]]
    """
    return _sum(input, outer(vec1, vec2), beta, alpha)


@public("Tensor", "mint.baddbmm(input, batch1, batch2, *, beta=1, alpha=1)")
def baddbmm(input: Any, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Compute β · input + α · batch1 batch2 for batches of matrices.

    Args:
        input (Tensor or number): values to add, which broadcast with the products.
        batch1 (Tensor): tensor of shape (b, m, k).
        batch2 (Tensor): tensor of shape (b, k, n).
        beta (int or float): factor β of ``input``.
        alpha (int or float): factor α of the product.

    Returns:
        Tensor of shape (b, m, n).

    Raises:
        TypeError: If ``batch1`` or ``batch2`` is not a tensor, or is Boolean.
        ValueError: If ``batch1`` or ``batch2`` is not 3-D, or their shapes do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.baddbmm(Tensor([[[1.0]]]), Tensor([[[1.0, 2.0]]]), Tensor([[[3.0], [4.0]]])))
    [[[12.]]]
    """
    check_ranks("Baddbmm", factors("Baddbmm", batch1, batch2), 3, 3)
    return _sum(input, bmm(batch1, batch2), beta, alpha)


@public("Tensor mint")
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Compute β · input + α · Σ batch1[i] batch2[i] for batches of matrices.

    Args:
        input (Tensor or number): values to add, which broadcast with the sum of the products.
        batch1 (Tensor): tensor of shape (b, m, k).
        batch2 (Tensor): tensor of shape (b, k, n).
        beta (int or float): factor β of ``input``.
        alpha (int or float): factor α of the product.

    Returns:
        Tensor of shape (m, n).

    {Raises as baddbmm}

    >>> from mindgrad import Tensor, ops
    >>> print(ops.addbmm(Tensor([[1.0]]), Tensor([[[1.0]], [[2.0]]]), Tensor([[[3.0]], [[4.0]]])))
    [[12.]]
    """
    check_ranks("Addbmm", factors("Addbmm", batch1, batch2), 3, 3)
    return _sum(input, reduce_sum(bmm(batch1, batch2), 0), beta, alpha)


@public("BiasAdd(data_format='NCHW')(x, bias)")
def bias_add(input_x: Any, bias: Any, data_format: str = "NCHW") -> Tensor:
    """Add a bias to each channel of a tensor.

    Args:
        input_x (Tensor): tensor with at least two axes. The channel axis is the second axis, or the last
            axis if ``data_format`` is ``"NHWC"``.
        bias (Tensor): 1-D tensor with one element for each channel.
        data_format (str): layout of ``input_x``: ``"NCHW"`` or ``"NCDHW"`` (channel axis second), or
            ``"NHWC"`` (channel axis last).

    Returns:
        Tensor of the same shape as ``input_x``.

    Raises:
        TypeError: If ``input_x`` or ``bias`` is not a tensor.
        ValueError: If ``bias`` does not have one element for each channel, or ``data_format`` is not
            supported.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.bias_add(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([10.0, 20.0])))
    [[11. 22.]
     [13. 24.]]
    """
    one_of(data_format, ("NCHW", "NCDHW", "NHWC"), "BiasAdd", "data_format")
    for x in (input_x, bias):
        if not isinstance(x, Tensor):
            raise TypeError(f"For 'BiasAdd', the operands must be tensors, but got {type(x).__name__}.")
    x, b = promoted("BiasAdd", input_x, bias, broadcast=False)
    channel = x.ndim - 1 if data_format == "NHWC" else 1
    if x.ndim < 2 or b.shape != (x.shape[channel],):
        raise ValueError(
            f"For 'BiasAdd', the 'bias' must have one axis with one number for each channel (axis "
            f"{channel}) of the input of shape {x.shape}, but its shape is {b.shape}."
        )
    lined = tuple(n if i == channel else 1 for i, n in enumerate(x.shape))
    return arithmetic.add(x, broadcast_to(apply(reshape, b, shape=lined), x.shape))


@public("Dense", "mint.nn.functional.linear(input, weight, bias=None)")
def dense(input: Any, weight: Any, bias: Any = None) -> Tensor:
    """Compute the fully connected layer input · weightᵀ + bias.

    Args:
        input (Tensor): tensor of shape (…, k).
        weight (Tensor): tensor of shape (n, k), or of shape (k,) for a scalar output per sample.
        bias (Tensor or None): tensor of shape (n,), or a 0-D tensor if ``weight`` is 1-D.

    Returns:
        Tensor of shape (…, n), or (…) if ``weight`` is 1-D.

    Raises:
        ValueError: If ``weight`` has more than two axes, or its shape does not match ``input`` or ``bias``.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.dense(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0], [5.0, 6.0]]), Tensor([0.5, 0.0])))
    [[11.5 17. ]]
    """
    factor = operand(weight, "Dense")
    if factor.ndim not in (1, 2):
        raise ValueError(
            f"For 'Dense', the 'weight' must have one or two axes, but its shape is {factor.shape}."
        )
    product = matmul(input, factor if factor.ndim == 1 else swapaxes(factor, 0, 1))
    return product if bias is None else arithmetic.add(product, bias)


def bidense(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Tensor:
    """Compute the bilinear layer y_i = x₁ᵀ A_i x₂ + b_i for each output channel i.

    Args:
        input1, input2 (Tensor): inputs x₁ and x₂, tensors of shapes (…, m) and (…, n) with equal leading
            dimensions.
        weight (Tensor): tensor A of shape (k, m, n), with one matrix for each output channel.
        bias (Tensor or None): tensor b of shape (k,). ``None`` means no bias.

    Returns:
        Tensor of shape (…, k).

    Raises:
        TypeError: If an operand is not a tensor.
        ValueError: If the shapes of ``input1``, ``input2``, and ``weight`` do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.bidense(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]]), ops.ones((1, 2, 2))))
    [[21.]]
    """
    x, y, factor = (operand(each, "BiDense") for each in (input1, input2, weight))
    if not x.ndim or not y.ndim or x.shape[:-1] != y.shape[:-1]:
        raise ValueError(
            f"For 'BiDense', the inputs must have equal sizes except for the last axis, but the shapes are "
            f"{x.shape} and {y.shape}."
        )
    if factor.ndim != 3 or factor.shape[1:] != (x.shape[-1], y.shape[-1]):
        raise ValueError(
            f"For 'BiDense', the 'weight' must have the shape (k, {x.shape[-1]}, {y.shape[-1]}), but its "
            f"shape is {factor.shape}."
        )
    product = einsum("...i,oij,...j->...o", x, factor, y)
    return product if bias is None else arithmetic.add(product, bias)
