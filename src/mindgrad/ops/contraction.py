"""Contractions: matmul, einsum, tensordot, and other products of tensors.

All functions are compositions of primitives (``primitives.einsum``). Sums of float16 and bfloat16 are
computed in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mindgrad._base.checks import of_type
from mindgrad.core.ir.dtype import bool_
from mindgrad.core.ir.scope import apply
from mindgrad.core.ir.tensor import Tensor
from mindgrad.core.primitives.contraction import dot as dot_primitive
from mindgrad.core.primitives.einsum import Plan, contraction_plan, einsum_plan, matmul_plan
from mindgrad.core.primitives.structural import reshape
from mindgrad.ops import arithmetic
from mindgrad.ops.arguments import one_or_more, whole_number
from mindgrad.ops.axes import normalize_axis
from mindgrad.ops.complexes import conj
from mindgrad.ops.define import also_named
from mindgrad.ops.operands import promoted
from mindgrad.ops.reduction import reduce_sum, whole_as_int64
from mindgrad.ops.registry import public

__all__ = [
    "batch_dot", "bmm", "dot", "einsum", "ger", "inner", "matmul", "mm", "mv", "outer", "tensor_dot",
    "tensordot", "vecdot",
]  # fmt: skip


def factors(operator: str, *xs: Any) -> list[Tensor]:
    """Convert the operands of a product to a common dtype.

    Raises:
        TypeError: If an operand is not a tensor, or is Boolean.
    """
    for x in xs:
        if not isinstance(x, Tensor):
            raise TypeError(f"For '{operator}', the operands must be tensors, but got {type(x).__name__}.")
    tensors = promoted(operator, *xs, broadcast=False)
    if tensors[0].type.dtype is bool_:
        raise TypeError(
            f"For '{operator}', the operands must be numeric, but their dtype is Bool. Convert them first: "
            "x.astype(mindspore.float32)."
        )
    return tensors


# --- matrix products ---------------------------------------------------------------------------------


@public(
    "Tensor mint",
    "ops.auto_generate.MatMulExt"
    " >>> ops.auto_generate.MatMulExt()(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])) => [[11.]]",
)
def matmul(input: Any, other: Any) -> Tensor:
    """Compute the matrix product, with the rules of ``numpy.matmul``.

    Axes before the last two are batch axes and broadcast. A 1-D ``input`` is treated as a row vector and a
    1-D ``other`` as a column vector, and the added axis is removed from the result. The differential of Y = A
    B is Ẏ = Ȧ B + A Ḃ.

    Args:
        input (Tensor): tensor of shape (…, m, k), or (k,).
        other (Tensor): tensor of shape (…, k, n), or (k,).

    Returns:
        Tensor of shape (…, m, n), without m if ``input`` is 1-D and without n if ``other`` is 1-D.

    Raises:
        TypeError: If an operand is not a tensor, or is Boolean.
        ValueError: If an operand is 0-D, or the shapes of the operands do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.matmul(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
    [[11.]]
    """
    a, b = factors("MatMul", input, other)
    return matmul_plan(a.type.shape, b.type.shape)((a, b), apply)


def matrix_product(
    operator: str, a: Any, b: Any, transpose_a: bool, transpose_b: bool, batched: bool = True
) -> Tensor:
    """Multiply matrices of shapes (…, m, k) and (…, k, n), optionally transposed.

    Raises:
        TypeError: If an operand is not a tensor, or is Boolean.
        ValueError: If an operand has fewer than two axes, or more than two without ``batched``, or the
            shapes of ``a`` and ``b`` do not match.
    """
    a, b = factors(operator, a, b)
    if a.ndim < 2 or b.ndim < 2 or not (batched or a.ndim == b.ndim == 2):
        raise ValueError(
            f"For '{operator}', the operands must have {'at least ' if batched else ''}two axes, but their "
            f"shapes are {a.shape} and {b.shape}."
        )
    inner = a.shape[-2 if transpose_a else -1], b.shape[-1 if transpose_b else -2]
    if inner[0] != inner[1]:
        raise ValueError(
            f"For '{operator}', the summed axes must have equal sizes, but with transpose_a = "
            f"{transpose_a} and transpose_b = {transpose_b} in the shapes {a.shape} and {b.shape} these "
            f"sizes are {inner[0]} and {inner[1]}."
        )
    return _transposed_plan(operator, a.shape, b.shape, transpose_a, transpose_b)((a, b), apply)


@lru_cache(maxsize=4096)
def _transposed_plan(
    operator: str, a: tuple[int, ...], b: tuple[int, ...], transpose_a: bool, transpose_b: bool
) -> Plan:
    left = ("inner", "row") if transpose_a else ("row", "inner")
    right = ("column", "inner") if transpose_b else ("inner", "column")
    batch = tuple(range(2 - max(len(a), len(b)), 0))
    labels = ((*batch[len(batch) - len(a) + 2 :], *left), (*batch[len(batch) - len(b) + 2 :], *right))
    return contraction_plan(labels, (*batch, "row", "column"), (a, b), operator)


def check_ranks(operator: str, tensors: Sequence[Tensor], *ranks: int) -> None:
    """Raise ``ValueError`` unless tensor i has ``ranks[i]`` axes."""
    if tuple(x.ndim for x in tensors) != ranks:
        wanted = " and ".join(map(str, ranks))
        raise ValueError(
            f"For '{operator}', the operands must have {wanted} axes, but their shapes are "
            f"{' and '.join(str(x.shape) for x in tensors)}."
        )


@public("Tensor mint")
def mm(input: Any, mat2: Any) -> Tensor:
    """Compute the product of two matrices.

    Args:
        input (Tensor): tensor of shape (m, k).
        mat2 (Tensor): tensor of shape (k, n).

    Returns:
        Tensor of shape (m, n).

    Raises:
        TypeError: If an operand is not a tensor, or is Boolean.
        ValueError: If an operand is not 2-D, or the shapes of the operands do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.mm(Tensor([[1.0, 2.0]]), Tensor([[3.0], [4.0]])))
    [[11.]]
    """
    check_ranks("MatMul", factors("MatMul", input, mat2), 2, 2)
    return matmul(input, mat2)


@public("Tensor mint")
@also_named(input="mat")
def mv(mat: Any, vec: Any) -> Tensor:
    """Compute the product of a matrix and a vector.

    Args:
        mat (Tensor): tensor of shape (m, k).
        vec (Tensor): tensor of shape (k,).

    Returns:
        Tensor of shape (m,).

    Raises:
        TypeError: If an operand is not a tensor, or is Boolean.
        ValueError: If ``mat`` is not 2-D, ``vec`` is not 1-D, or their shapes do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.mv(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([1.0, 1.0])))
    [3. 7.]
    """
    check_ranks("Mv", factors("Mv", mat, vec), 2, 1)
    return matmul(mat, vec)


@public("Tensor", "mint.bmm(input, mat2)")
def bmm(input_x: Any, mat2: Any) -> Tensor:
    """Compute the products of batches of matrices.

    Axes before the last two broadcast.

    Args:
        input_x (Tensor): tensor of shape (…, m, k).
        mat2 (Tensor): tensor of shape (…, k, n).

    Returns:
        Tensor of shape (…, m, n).

    Raises:
        TypeError: If an operand is not a tensor, or is Boolean.
        ValueError: If an operand has fewer than two axes, or the shapes of the operands do not match.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.bmm(Tensor([[[1.0, 2.0]]]), Tensor([[[3.0], [4.0]]])))
    [[[11.]]]
    """
    return matrix_product("BatchMatMul", input_x, mat2, False, False)


# --- sums of products over given axes ----------------------------------------------------------------


@public("Tensor mint")
def dot(input: Any, other: Any) -> Tensor:
    """Compute the dot product of two tensors, as ``numpy.dot``.

    The products are summed over the last axis of ``input`` and the second-to-last axis of ``other``.

    Args:
        input (Tensor): tensor of shape (…, k).
        other (Tensor): tensor of shape (…, k, n), or (k,).

    Returns:
        Tensor with the remaining axes of ``input``, followed by the remaining axes of ``other``.

    Raises:
        TypeError: If an operand is not a tensor, or is Boolean.
        ValueError: If an operand is 0-D, or the summed axes have different sizes.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.dot(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
    11.0
    """
    a, b = factors("Dot", input, other)
    if not a.ndim or not b.ndim:
        raise ValueError(
            f"For 'Dot', the operands must have at least one axis, but their shapes are {a.shape} and "
            f"{b.shape}."
        )
    return _contracted("Dot", a, b, (a.ndim - 1,), (max(b.ndim - 2, 0),))


@public("Tensor")
def inner(input: Any, other: Any) -> Tensor:
    """Sum products over the last axis of both tensors.

    If one tensor is 0-D, the result is its product with the other tensor.

    Args:
        input (Tensor): tensor of shape (…, k).
        other (Tensor): tensor of shape (…, k).

    Returns:
        Tensor with the remaining axes of ``input``, followed by the remaining axes of ``other``.

    Raises:
        TypeError: If an operand is not a tensor, or is Boolean.
        ValueError: If the last axes have different sizes.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.inner(Tensor([[1.0, 2.0], [0.0, 1.0]]), Tensor([3.0, 4.0])))
    [11.  4.]
    """
    a, b = factors("Inner", input, other)
    if not a.ndim or not b.ndim:
        return arithmetic.mul(a, b)
    return _contracted("Inner", a, b, (a.ndim - 1,), (b.ndim - 1,))


@public("Ger Tensor.ger Tensor mint")
def outer(input: Any, vec2: Any) -> Tensor:
    """Compute the outer product y_ij = a_i b_j of two vectors.

    Args:
        input (Tensor): tensor of shape (m,).
        vec2 (Tensor): tensor of shape (n,).

    Returns:
        Tensor of shape (m, n).

    Raises:
        TypeError: If an operand is not a tensor, or is Boolean.
        ValueError: If an operand is not 1-D.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.outer(Tensor([1.0, 2.0]), Tensor([3.0, 4.0])))
    [[3. 4.]
     [6. 8.]]
    """
    a, b = factors("Outer", input, vec2)
    check_ranks("Outer", (a, b), 1, 1)
    return _contracted("Outer", a, b, (), ())


@public("Tensor")
def vecdot(x: Any, y: Any, axis: int = -1) -> Tensor:
    """Sum conj(x) · y along an axis.

    Args:
        x, y (Tensor): tensors whose shapes broadcast.
        axis (int): axis of the broadcast shape to sum over.

    Returns:
        Tensor with the broadcast shape of the operands without ``axis``.

    Raises:
        TypeError: If an operand is not a tensor or is Boolean, or ``axis`` is not an int.
        ValueError: If the shapes of the operands do not broadcast, or ``axis`` is out of range.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.vecdot(Tensor([[1.0, 2.0], [0.0, 1.0]]), Tensor([3.0, 4.0])))
    [11.  4.]
    """
    factors("Vecdot", x, y)
    a, b = [whole_as_int64(each, "Vecdot") for each in promoted("Vecdot", conj(x), y)]
    axis = normalize_axis(axis, a.ndim, "Vecdot")
    return reduce_sum(arithmetic.mul(a, b), axis)


def tensordot(x1: Any, x2: Any, axes: Any) -> Tensor:
    """Sum products over pairs of axes, one of each tensor.

    Args:
        x1, x2 (Tensor): input tensors.
        axes (int, or pair of int or tuple of int): an int n sums over the last n axes of ``x1`` and the first
            n axes of ``x2``. A pair contains the axes of ``x1`` and the axes of ``x2``: two ints, or two
            tuples of equal length.

    Returns:
        Tensor with the remaining axes of ``x1``, followed by the remaining axes of ``x2``.

    Raises:
        TypeError: If an operand is not a tensor or is Boolean, or ``axes`` is neither an int nor a pair.
        ValueError: If an axis is out of range or repeated, or the summed axes have different sizes.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.tensordot(Tensor([[1.0, 2.0], [0.0, 1.0]]), Tensor([3.0, 4.0]), 1))
    [11.  4.]
    """
    a, b = factors("TensorDot", x1, x2)
    if isinstance(axes, (tuple, list)):
        if len(axes) != 2:
            raise ValueError(f"For 'TensorDot', the 'axes' must be an int or two lists, but got {axes}.")
        left, right = (
            tuple(normalize_axis(each, x.ndim, "TensorDot") for each in one_or_more(listed))
            for x, listed in zip((a, b), axes, strict=True)
        )
    else:
        count = whole_number(axes, "TensorDot", "axes", 0)
        if count > min(a.ndim, b.ndim):
            raise ValueError(
                f"For 'TensorDot', the operands must have at least {count} axes, but their shapes are "
                f"{a.shape} and {b.shape}."
            )
        left, right = tuple(range(a.ndim - count, a.ndim)), tuple(range(count))
    if len(left) != len(right) or len(set(left)) != len(left) or len(set(right)) != len(right):
        raise ValueError(
            f"For 'TensorDot', the 'axes' must contain the same number of axes of both operands, each axis "
            f"once, but got {axes}."
        )
    return _contracted("TensorDot", a, b, left, right)


def _contracted(operator: str, a: Tensor, b: Tensor, left: tuple[int, ...], right: tuple[int, ...]) -> Tensor:
    """Multiply ``a`` and ``b``, and sum over pairs of the axes ``left`` and ``right``."""
    sizes = tuple(a.shape[i] for i in left), tuple(b.shape[i] for i in right)
    if sizes[0] != sizes[1]:
        raise ValueError(
            f"For '{operator}', the summed axes must have equal sizes, but in the shapes {a.shape} and "
            f"{b.shape} these sizes are {sizes[0]} and {sizes[1]}."
        )
    return apply(dot_primitive, a, b, contract=(left, right), batch=((), ()))


def batch_dot(x1: Any, x2: Any, axes: Any = None) -> Tensor:
    """Sum products over one axis of each operand, for each sample of a batch.

    Args:
        x1, x2 (Tensor): tensors with at least two axes, whose first axis is the batch axis.
        axes (int, pair of int, or None): axis of each operand to sum over. ``None`` means the last axis of
            ``x1`` and the second-to-last axis of ``x2`` (its last axis if ``x2`` has two axes).

    Returns:
        Tensor with the batch axis, the remaining axes of ``x1``, and the remaining axes of ``x2``. It has at
        least two axes.

    Raises:
        TypeError: If an operand is not a tensor or is Boolean, or ``axes`` is neither an int nor a pair.
        ValueError: If an operand has fewer than two axes, an axis is out of range or the batch axis, or the
            summed axes have different sizes.

    >>> from mindgrad import Tensor, ops
    >>> print(ops.batch_dot(Tensor([[1.0, 2.0], [0.0, 1.0]]), Tensor([[3.0, 4.0], [5.0, 6.0]])))
    [[11.]
     [ 6.]]
    """
    a, b = factors("BatchDot", x1, x2)
    if a.ndim < 2 or b.ndim < 2:
        raise ValueError(
            f"For 'BatchDot', the operands must have at least two axes, but their shapes are {a.shape} and "
            f"{b.shape}."
        )
    pair = (a.ndim - 1, max(b.ndim - 2, 1)) if axes is None else one_or_more(axes)
    pair = pair * 2 if len(pair) == 1 else pair
    if len(pair) != 2:
        raise ValueError(f"For 'BatchDot', the 'axes' must be an int or a pair of ints, but got {axes}.")
    left, right = (normalize_axis(i, x.ndim, "BatchDot") for i, x in zip(pair, (a, b), strict=True))
    if 0 in (left, right):
        raise ValueError(
            f"For 'BatchDot', the first axis is the batch axis and cannot be summed, but got axes={axes}."
        )
    if (a.shape[0], a.shape[left]) != (b.shape[0], b.shape[right]):
        raise ValueError(
            "For 'BatchDot', the first axes must have equal sizes, and so must the summed axes, but the "
            f"shapes are {a.shape} and {b.shape} and the axes {left} and {right}."
        )
    y = apply(dot_primitive, a, b, contract=((left,), (right,)), batch=((0,), (0,)))
    return apply(reshape, y, shape=(*y.shape, 1)) if y.ndim == 1 else y


@public("mint")
def einsum(equation: str, *operands: Any) -> Tensor:
    """Compute a sum of products in Einstein notation, in the cheapest order.

    Args:
        equation (str): one letter for each axis of each operand, operands separated by commas,
            and the letters of the result after ``->``. Axes with equal letters are multiplied elementwise,
            and axes whose letters are missing in the result are summed. ``...`` stands for axes that
            broadcast. Without ``->`` the result has the letters that occur once, in alphabetical order.
        *operands (Tensor, or one tuple or list of Tensor): tensors to multiply, in the order of ``equation``.

    Returns:
        Tensor with the axes that ``equation`` specifies for the result.

    Raises:
        TypeError: If ``equation`` is not a str, or an operand is not a tensor, or is Boolean.
        ValueError: If ``equation`` is malformed, or does not match the operands.

    >>> from mindgrad import Tensor, ops
    >>> x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> print(ops.einsum("ii->", x), ops.einsum("ij,j->i", x, Tensor([1.0, 1.0])))
    5.0 [3. 7.]
    """
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    of_type(equation, str, "Einsum", "equation", "a string")
    if not operands:
        raise ValueError("For 'Einsum', at least one operand must be given.")
    tensors = factors("Einsum", *operands)
    return einsum_plan(equation, tuple(x.type.shape for x in tensors))(tensors, apply)


# alternative names, as in MindSpore
ger = outer
tensor_dot = tensordot
