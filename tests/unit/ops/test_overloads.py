"""Second names of the arguments of Tensor's methods, and methods of two signatures."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.ops import overloads
from mindgrad.ops.methods import METHODS
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
A = np.array([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]], np.float32)
S = np.array([[9.0, 8.0, 7.0], [6.0, 5.0, 4.0]], np.float32)
X, SOURCE = Tensor(A), Tensor(S)
INDEX = Tensor([[0, 1, 0], [1, 0, 1]])

CASES = [
    (lambda x: x.sort(dim=0)[0], np.sort(A, 0)),
    (lambda x: x.sort(stable=True, descending=True)[0], -np.sort(-A, 1)),
    (lambda x: x.argsort(dim=0), np.argsort(A, 0)),
    (lambda x: x.gather(1, INDEX), [[1.0, 5.0, 1.0], [2.0, 4.0, 2.0]]),
    (lambda x: x.gather(dim=1, index=INDEX), [[1.0, 5.0, 1.0], [2.0, 4.0, 2.0]]),
    (lambda x: x.gather(Tensor([1]), 0), A[1:]),
    (lambda x: x.gather(input_indices=Tensor([1]), axis=0), A[1:]),
    (lambda x: x.flatten(0, -1), A.ravel()),
    (lambda x: x.flatten(start_dim=1), A),
    (lambda x: x.flatten("F"), A.ravel("F")),
    (lambda x: x.flatten(order="F"), A.ravel("F")),
    (lambda x: x.add(SOURCE, alpha=2), A + 2 * S),
    (lambda x: x.sub(SOURCE, alpha=2), A - 2 * S),
    (lambda x: x.subtract(other=SOURCE), A - S),
    (lambda x: ops.subtract(x, SOURCE, alpha=3), A - 3 * S),
    (lambda x: x.scatter(dim=0, index=INDEX, src=SOURCE), [[9.0, 5.0, 7.0], [6.0, 8.0, 4.0]]),
    (lambda x: x.scatter(axis=0, index=Tensor([[0, 0, 0]]), value=3.0), [[3.0] * 3, A[1]]),
    (lambda x: x.scatter_add(0, Tensor([[0, 1, 0]]), SOURCE[:1]), [[10.0, 5.0, 10.0], [4.0, 10.0, 6.0]]),
    (lambda x: x.scatter_add(dim=0, index=Tensor([[0, 1, 0]]), src=SOURCE[:1]), [[10, 5, 10], [4, 10, 6]]),
    (lambda x: x.scatter_add(Tensor([[0]]), SOURCE[:1]), [A[0] + S[0], A[1]]),
    (lambda x: x.chunk(chunks=2, dim=0)[1], A[1:]),
    (lambda x: x.split(split_size=2, dim=1)[1], A[:, 2:]),
    (lambda x: x.split([1, 2], dim=1)[1], A[:, 1:]),
    (lambda x: x.var(dim=1, correction=1), A.var(1, ddof=1)),
    (lambda x: x.std(correction=1), A.std(ddof=1)),
    (lambda x: x.view(shape=(3, 2)), A.reshape(3, 2)),
    (lambda x: x.reshape(shape=(3, 2)), A.reshape(3, 2)),
    (lambda x: x.permute(dims=(1, 0)), A.T),
    (lambda x: x.flip(dims=(0,)), A[::-1]),
    (lambda x: x.tile(reps=(1, 2)), np.tile(A, (1, 2))),
    (lambda x: x.tile(dims=(1, 2)), np.tile(A, (1, 2))),
    (lambda x: x.median(dim=1, keepdim=True)[0], [[3.0], [4.0]]),
    (lambda x: x.repeat_interleave(2, dim=0), np.repeat(A, 2, 0)),
    (lambda x: x.index_select(dim=1, index=Tensor([2])), A[:, 2:]),
    (lambda x: x.index_add(dim=0, index=Tensor([0]), source=SOURCE[:1], alpha=2), [A[0] + 2 * S[0], A[1]]),
    (lambda x: x.select(dim=1, index=2), A[:, 2]),
    (lambda x: x.select(condition=x > 2, y=0.0), np.where(A > 2, A, 0)),
    (lambda x: x.where(condition=x > 2, other=SOURCE), np.where(A > 2, A, S)),
    (lambda x: x.matmul(tensor2=SOURCE.T), A @ S.T),
    (lambda x: x.multiply(value=2), 2 * A),
    (lambda x: x.float_power(other=2), A.astype(np.float64) ** 2),
    (lambda x: x.diagonal(dim1=0, dim2=1), A.diagonal()),
    (lambda x: x.diff(prepend=SOURCE), np.diff(A, prepend=S)),
    (lambda x: x[0].diag(diagonal=1), np.diag(A[0], 1)),
    (lambda x: x.diag(diagonal=1), np.diag(A, 1)),
    (lambda x: x.data, A),
]


@MODES
@pytest.mark.parametrize(("call", "value"), CASES, ids=range(len(CASES)))
def test_calls_by_every_name(mode, call, value):
    ms.set_context(mode=mode)
    try:
        function = ms.jit(call) if mode == ms.GRAPH_MODE else call
        result = function(X)
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert result.shape == np.shape(value)
    assert_close(result, value, kind="program", each=True, scale=0.1)


def test_methods_of_two_signatures_are_differentiated():
    gradient = ms.grad(lambda x: (x.gather(1, INDEX) ** 2).sum() + x.add(x, alpha=3).sum())(X)
    assert gradient.asnumpy().tolist() == [[4 + 4, 10 + 4, 4], [8 + 4, 8 + 4, 4]]


def test_unique_as_asked():
    x = Tensor([3, 1, 1])
    assert [t.asnumpy().tolist() for t in x.unique()] == [[3, 1], [0, 1, 1]]
    assert x.unique(sorted=True).asnumpy().tolist() == [1, 3]
    assert [t.asnumpy().tolist() for t in x.unique(True, True, True)] == [[1, 3], [1, 0, 0], [2, 1]]
    assert Tensor([[1, 2], [1, 2], [0, 1]]).unique(dim=0).asnumpy().tolist() == [[0, 1], [1, 2]]


def test_view_as_another_element_type():
    assert Tensor([1.0, -2.0]).view(ms.int32).asnumpy().tolist() == [0x3F800000, -0x40000000]
    assert Tensor([1, 2]).view(ms.uint8).shape == (16,)
    with pytest.raises(ms.CompileError, match="value of a tensor is read"):
        ms.jit(lambda x: x.view(ms.int32))(X)
    assert X.type() == "Float32"
    with pytest.raises(TypeError, match=r"Use x.astype\(Int32\)"):
        X.type(ms.int32)


def test_what_no_signature_takes():
    for call, text in (
        (lambda: X.permute(axes=(0, 1)), "unexpected keyword argument 'axes'"),
        (lambda: X.tile(2, reps=(1, 2)), "or only the keyword dims or reps"),
        (lambda: X.flatten(0, 1, 2), "takes two axes"),
        (lambda: X.scatter(0, INDEX), "either 'src' or 'value'"),
        (lambda: X.scatter_add(0, src=SOURCE), "takes dim, index, src"),
        (lambda: X.sort(along=0), "along"),
    ):
        with pytest.raises(TypeError, match=text):
            call()


def test_the_tables_name_methods():
    for table in (overloads.SECOND_NAMES, overloads._TUPLES):
        assert table.keys() <= METHODS.keys()


def test_repeat_takes_the_numbers_of_both_releases():
    """A number for each axis, or ``x.repeat(repeats, axis)`` where only that can be meant."""
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    array = x.asnumpy()
    earlier = [
        (x.repeat(2), array.repeat(2)),
        (x.repeat(2, 0), array.repeat(2, 0)),
        (x.repeat(2, -1), array.repeat(2, 1)),
        (x.repeat(2, axis=1), array.repeat(2, 1)),
        (x.repeat([1, 2], 0), array.repeat([1, 2], 0)),
        (x.repeat([1, 2], 1), array.repeat([1, 2], 1)),
        (x.repeat(repeats=2, axis=1), array.repeat(2, 1)),
        (x[0].repeat(3, 0), array[0].repeat(3, 0)),
    ]
    for result, expected in earlier:
        np.testing.assert_array_equal(result.asnumpy(), expected)
    for later in ((1, 1), (1, 2), (2, 3), (2, 1, 3), (0, 2)):
        for result in (x.repeat(*later), x.repeat(later)):
            np.testing.assert_array_equal(result.asnumpy(), np.tile(array, later))
    np.testing.assert_array_equal(ms.jit(lambda x: x.repeat(2, 1, 1))(x).asnumpy(), np.tile(array, (2, 1, 1)))
    with pytest.raises(TypeError, match="'times'"):
        x.repeat(times=2)


@pytest.mark.parametrize(
    ("index", "numbers", "counts"),
    [
        (..., (2, 1), (2, 1)),
        (0, (2,), (2,)),
        (0, ([2],), (2,)),
        (0, ([1, 2],), (1, 2)),
        (..., ([2, 1, 1, 2],), (2, 1, 1, 2)),
    ],
)
def test_repeat_warns_where_releases_differ(index, numbers, counts):
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])[index]
    for function in (lambda x: x.repeat(*numbers), ms.jit(lambda x: x.repeat(*numbers))):
        with pytest.warns(UserWarning, match="repeat_interleave"):
            result = function(x)
        np.testing.assert_array_equal(result.asnumpy(), np.tile(x.asnumpy(), counts))


def test_repeat_interleave_may_be_told_the_size():
    x = Tensor([[1.0, 2.0]])
    assert x.repeat_interleave(2, dim=1, output_size=4).shape == (1, 4)
