"""Several diagonals of matrices, and the second names of arguments."""

from __future__ import annotations

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, grad, jit, mint, ops
from mindgrad import numpy as mnp

A = np.arange(1, 10, dtype=np.float32).reshape(3, 3)

#: the diagonals −2 to 1 of A, filled with 7 (values of MindSpore 2.10)
PARTS = {
    "RIGHT_LEFT": [[7, 2, 6], [1, 5, 9], [4, 8, 7], [7, 7, 7]],
    "LEFT_RIGHT": [[2, 6, 7], [1, 5, 9], [7, 4, 8], [7, 7, 7]],
    "LEFT_LEFT": [[2, 6, 7], [1, 5, 9], [4, 8, 7], [7, 7, 7]],
}


@pytest.mark.parametrize("align", PARTS)
def test_several_diagonals_are_read_and_written(align: str) -> None:
    expected = np.array(PARTS[align], np.float32)
    parts = ops.matrix_diag_part(Tensor(A), Tensor([-2, 1]), Tensor(7.0), align)
    assert np.array_equal(parts.asnumpy(), expected)
    compiled = jit(lambda x: ops.matrix_diag_part(x, (-2, 1), 7.0, align))
    assert np.array_equal(compiled(Tensor(A)).asnumpy(), expected)
    restored = ops.matrix_set_diag(ops.zeros((3, 3)), parts, (-2, 1), align)
    assert np.array_equal(restored.asnumpy(), np.tril(A, 1))
    built = ops.matrix_diag(parts, (-2, 1), align=align, num_rows=3, num_cols=3, padding_value=0)
    assert np.array_equal(built.asnumpy(), restored.asnumpy())


def test_the_sizes_of_matrices_of_a_diagonal() -> None:
    x = Tensor([1.0, 2.0])
    assert ops.matrix_diag(x, 1, 2, 4).asnumpy().tolist() == [[0, 1, 0, 0], [0, 0, 2, 0]]
    assert ops.matrix_diag(x, num_rows=3).asnumpy().tolist() == [[1, 0], [0, 2], [0, 0]]
    assert ops.matrix_diag(x, -1).shape == (3, 3)
    with pytest.raises(ValueError, match="do not fit"):
        ops.matrix_diag(x, 0, 3, 3)
    with pytest.raises(ValueError, match="align"):
        ops.matrix_diag_part(Tensor(A), (0, 1), align="MIDDLE")
    with pytest.raises(ValueError, match="outside"):
        ops.matrix_diag_part(Tensor(A), (0, 3))


def test_derivative_of_diagonals() -> None:
    slope = grad(lambda x: (ops.matrix_diag_part(x, (0, 1), 5.0) ** 2).sum())(Tensor(A))
    assert np.array_equal(slope.asnumpy(), 2 * np.triu(np.tril(A, 1)))


V, W = [1.0, 2.0], [3.0, 4.0]
SECOND = [
    (lambda: ops.expand(input_x=Tensor(V), size=(2, 2)), [V, V]),
    (lambda: ops.fills(x=Tensor(V), value=3.0), [3, 3]),
    (lambda: ops.vstack(inputs=(Tensor(V), Tensor(W))), [V, W]),
    (lambda: ops.true_divide(dividend=Tensor(V), divisor=2.0), [0.5, 1]),
    (lambda: ops.top_k(input_x=Tensor(V), k=1)[0], [2]),
    (lambda: ops.reduce_max(x=Tensor(V)), 2),
    (lambda: ops.addr(x=ops.zeros((2, 2)), vec1=Tensor(V), vec2=Tensor(W)), [[3, 4], [6, 8]]),
    (lambda: ops.scatter_nd_add(Parameter(V), Tensor([[1]]), Tensor([1.0]), use_locking=True), [1, 3]),
    (lambda: ops.index_add(Tensor(V), Tensor([1]), Tensor([1.0]), 0, use_lock=False), [1, 3]),
    (lambda: ops.searchsorted(Tensor([3.0, 1.0, 2.0]), Tensor([1.5]), sorter=Tensor([1, 2, 0])), [1]),
    (lambda: mint.mv(input=Tensor([V, W]), vec=Tensor(V)), [5, 11]),
    (lambda: mint.isnan(tensor=Tensor(V)), [False, False]),
    (lambda: mint.arcsin(x=Tensor([0.0])), [0]),
    (lambda: mint.zeros(size=(2,)), [0, 0]),
    (lambda: mint.ones(size=(2,)), [1, 1]),
    (lambda: mint.nn.functional.threshold(Tensor(V), threshold=1.5, value=9.0), [9, 2]),
    (lambda: mint.nn.functional.logsigmoid(input=Tensor([100.0])), [0]),
    (lambda: mnp.negative(a=Tensor(V)), [-1, -2]),
    (lambda: mnp.sometrue(a=Tensor(V)), True),
    (lambda: ops.functional.mixed_precision_cast(dst_dtype=ms.float16, x=Tensor(V)), V),
    (lambda: Tensor(V).approximate_equal(other=Tensor(V)), [True, True]),
]


@pytest.mark.parametrize("number", range(len(SECOND)))
def test_second_names_of_arguments(number: int) -> None:
    call, expected = SECOND[number]
    assert np.allclose(call().asnumpy(), expected)


HISTOGRAMS = [
    (([1.0, 2.0, 1.0, 9.0], 4, 0.0, 3.0), [0, 2, 1, 0]),
    (([1.0, 2.0, 1.0], 4), [2, 0, 0, 1]),
    (([2.0, 2.0], 4), [0, 0, 2, 0]),
    (([0.0, 3.0, float("nan")], 3, 0.0, 3.0), [1, 0, 1]),
]


@pytest.mark.parametrize(("arguments", "expected"), HISTOGRAMS)
def test_histc_counts(arguments: tuple, expected: list) -> None:
    values, *rest = arguments
    assert ops.histc(Tensor(values), *rest).asnumpy().tolist() == expected
    assert jit(lambda x: x.histc(*rest))(Tensor(values)).asnumpy().tolist() == expected
    with pytest.raises(ValueError, match="bins"):
        ops.histc(Tensor(values), 0)
    with pytest.raises(ValueError, match="at most"):
        ops.histc(Tensor(values), 2, 3.0, 1.0)


@pytest.mark.parametrize("function", [ops.softmax, ops.log_softmax, ms.nn.Softmax()])
@pytest.mark.parametrize("dtype", [ms.int32, ms.bool_])
def test_softmax_refuses_integers(function: object, dtype: object) -> None:
    with pytest.raises(TypeError, match="floating-point"):
        function(Tensor([1, 0]).astype(dtype))
    assert ops.softmax(Tensor([1, 1]), dtype=ms.float32).asnumpy().tolist() == [0.5, 0.5]
