"""Operators that move elements do what their NumPy counterparts do; so do their derivatives."""

import queue

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.frontend.programs.compiled import Compiled, trace
from tests.unit.moving_elements import as_arrays, check_moves, sample, sources

# name: (ours, NumPy's, shapes of the inputs)
MOVES = {
    "reshape": (lambda x: ops.reshape(x, (4, -1)), lambda a: a.reshape(4, -1), [(2, 6)]),
    "reshape to one": (lambda x: ops.reshape(x, ()), lambda a: a.reshape(()), [(1, 1)]),
    "reshape of nothing": (lambda x: ops.reshape(x, (3, 0)), lambda a: a.reshape(3, 0), [(0, 2)]),
    "reshape by a list": (lambda x: x.reshape([3, 2]), lambda a: a.reshape(3, 2), [(6,)]),
    "reshape by a tensor": (lambda x: ops.reshape(x, Tensor([3, 2])), lambda a: a.reshape(3, 2), [(6,)]),
    "view": (lambda x: x.view(2, -1), lambda a: a.reshape(2, -1), [(4, 3)]),
    "ravel": (ops.ravel, np.ravel, [(2, 3)]),
    "flatten": (ops.flatten, lambda a: a.reshape(2, -1), [(2, 3, 4)]),
    "flatten all": (lambda x: x.flatten(), np.ravel, [(2, 3, 4)]),
    "flatten some": (
        lambda x: ops.flatten(x, start_dim=1, end_dim=2),
        lambda a: a.reshape(2, 12, 2),
        [(2, 3, 4, 2)],
    ),
    "flatten by columns": (lambda x: x.flatten("F"), lambda a: a.flatten("F"), [(2, 3, 2)]),
    "flatten a number": (ops.flatten, np.ravel, [()]),
    "expand_dims": (lambda x: ops.expand_dims(x, -2), lambda a: np.expand_dims(a, -2), [(2, 3)]),
    "unsqueeze": (lambda x: x.unsqueeze(0), lambda a: a[None], [(2, 3)]),
    "squeeze": (ops.squeeze, np.squeeze, [(1, 2, 1)]),
    "squeeze an axis": (lambda x: x.squeeze(-1), lambda a: a.squeeze(-1), [(1, 2, 1)]),
    "squeeze axes": (lambda x: ops.squeeze(x, (0, 2)), lambda a: a.squeeze((0, 2)), [(1, 2, 1)]),
    "transpose": (lambda x: ops.transpose(x, (2, 0, 1)), lambda a: a.transpose(2, 0, 1), [(2, 3, 4)]),
    "transpose, negative": (lambda x: x.transpose(-1, 0), lambda a: a.T, [(2, 3)]),
    "transpose a number": (lambda x: x.transpose(), np.transpose, [()]),
    "T": (lambda x: x.T, np.transpose, [(2, 3, 4)]),
    "mT": (lambda x: x.mT, lambda a: a.swapaxes(-2, -1), [(2, 3, 4)]),
    "t": (lambda x: x.t(), np.transpose, [(2, 3)]),
    "permute": (lambda x: x.permute(1, 0), np.transpose, [(2, 3)]),
    "swapaxes": (lambda x: ops.swapaxes(x, 0, -1), lambda a: a.swapaxes(0, -1), [(2, 3, 4)]),
    "moveaxis": (lambda x: ops.moveaxis(x, 0, -1), lambda a: np.moveaxis(a, 0, -1), [(2, 3, 4)]),
    "moveaxis, several": (
        lambda x: ops.movedim(x, (0, 1), (2, 0)),
        lambda a: np.moveaxis(a, (0, 1), (2, 0)),
        [(2, 3, 4)],
    ),
    "broadcast_to": (
        lambda x: ops.broadcast_to(x, (2, -1, 4)),
        lambda a: np.broadcast_to(a, (2, 3, 4)),
        [(3, 1)],
    ),
    "broadcast a number": (lambda x: x.broadcast_to((2, 2)), lambda a: np.broadcast_to(a, (2, 2)), [()]),
    "expand": (lambda x: x.expand(2, 3), lambda a: np.broadcast_to(a, (2, 3)), [(3,)]),
    "flip": (lambda x: ops.flip(x, (0, -1)), lambda a: np.flip(a, (0, -1)), [(2, 3, 2)]),
    "flip one": (lambda x: x.flip(1), lambda a: np.flip(a, 1), [(2, 3)]),
    "fliplr": (ops.fliplr, np.fliplr, [(2, 3)]),
    "flipud": (ops.flipud, np.flipud, [(2, 3)]),
    "roll": (lambda x: ops.roll(x, 2), lambda a: np.roll(a, 2), [(2, 3)]),
    "roll an axis": (lambda x: ops.roll(x, -7, 1), lambda a: np.roll(a, -7, 1), [(2, 3)]),
    "roll axes": (lambda x: ops.roll(x, (1, -1), (0, 1)), lambda a: np.roll(a, (1, -1), (0, 1)), [(2, 3)]),
    "roll an axis twice": (lambda x: ops.roll(x, (1, 1), 1), lambda a: np.roll(a, 2, 1), [(2, 3)]),
    "roll nothing": (lambda x: ops.roll(x, 1, 0), lambda a: a, [(0, 2)]),
    **{
        f"rot90, {k} times": (
            lambda x, k=k: ops.rot90(x, k, (0, 1)),
            lambda a, k=k: np.rot90(a, k),
            [(2, 3, 2)],
        )
        for k in range(-1, 4)
    },
    "narrow": (lambda x: x.narrow(1, -2, 2), lambda a: a[:, 1:], [(2, 3)]),
    "concat": (lambda x, y: ops.concat((x, y), 1), lambda a, b: np.concatenate((a, b), 1), [(2, 3), (2, 1)]),
    "concat of one": (lambda x: ops.cat([x]), lambda a: a, [(2,)]),
    "concat with itself": (lambda x: ops.concat((x, x)), lambda a: np.concatenate((a, a)), [(2,)]),
    "concat with nothing": (lambda x, y: ops.concatenate((x, y)), lambda a, b: a, [(2,), (0,)]),
    "stack": (lambda x, y: ops.stack((x, y), -1), lambda a, b: np.stack((a, b), -1), [(2, 3), (2, 3)]),
    "stack a tensor": (ops.stack, lambda a: a[None], [(2, 3)]),
    "hstack": (lambda x, y: ops.hstack((x, y)), lambda a, b: np.hstack((a, b)), [(2, 1), (2, 2)]),
    "hstack vectors": (lambda x, y: ops.hstack((x, y)), lambda a, b: np.hstack((a, b)), [(2,), (3,)]),
    "vstack": (lambda x, y: ops.vstack((x, y)), lambda a, b: np.vstack((a, b)), [(3,), (2, 3)]),
    "dstack": (lambda x, y: ops.dstack((x, y)), lambda a, b: np.dstack((a, b)), [(2,), (2,)]),
    "column_stack": (
        lambda x, y: ops.column_stack((x, y)),
        lambda a, b: np.column_stack((a, b)),
        [(2,), (2, 2)],
    ),
    "unstack": (lambda x: ops.unstack(x, 1), lambda a: tuple(np.moveaxis(a, 1, 0)), [(2, 3)]),
    "unbind": (lambda x: x.unbind(), tuple, [(2, 3)]),
    "split": (lambda x: ops.split(x, 2), lambda a: (a[:2], a[2:4], a[4:]), [(5, 2)]),
    "split by sizes": (lambda x: x.split([1, 0, 2], 1), lambda a: (a[:, :1], a[:, :0], a[:, 1:]), [(2, 3)]),
    "split whole": (lambda x: ops.split(x, 9), lambda a: (a,), [(5,)]),
    "chunk": (lambda x: x.chunk(2, 1), lambda a: (a[:, :2], a[:, 2:]), [(2, 3)]),
    "tensor_split": (lambda x: ops.tensor_split(x, 3), lambda a: tuple(np.array_split(a, 3)), [(5,)]),
    "tensor_split by places": (
        lambda x: ops.tensor_split(x, (1, -1, 9), 1),
        lambda a: tuple(np.split(a, (1, 3, 9), 1)),
        [(2, 4)],
    ),
    "hsplit": (lambda x: ops.hsplit(x, 2), lambda a: tuple(np.hsplit(a, 2)), [(2, 4)]),
    "vsplit": (lambda x: ops.vsplit(x, 2), lambda a: tuple(np.vsplit(a, 2)), [(4, 2)]),
    "dsplit": (lambda x: ops.dsplit(x, 2), lambda a: tuple(np.dsplit(a, 2)), [(1, 2, 4)]),
    "tile": (lambda x: ops.tile(x, (2, 1, 3)), lambda a: np.tile(a, (2, 1, 3)), [(2, 3)]),
    "tile the last axis": (lambda x: x.tile(2), lambda a: np.tile(a, 2), [(2, 3)]),
    "tile once": (lambda x: ops.tile(x, (1, 1, 1)), lambda a: a[None], [(2, 3)]),
    "tile away": (lambda x: ops.tile(x, (0, 2)), lambda a: np.tile(a, (0, 2)), [(2, 3)]),
    "repeat_elements": (lambda x: ops.repeat_elements(x, 2, 1), lambda a: np.repeat(a, 2, 1), [(2, 3)]),
    "repeat_interleave": (lambda x: ops.repeat_interleave(x, 2), lambda a: np.repeat(a, 2), [(2, 3)]),
    "repeat each": (lambda x: x.repeat([0, 2, 1], 1), lambda a: np.repeat(a, [0, 2, 1], 1), [(2, 3)]),
    "repeat by a tensor": (
        lambda x: ops.repeat_interleave(x, Tensor([1, 2]), 0),
        lambda a: np.repeat(a, [1, 2], 0),
        [(2, 3)],
    ),
    "meshgrid": (lambda x, y: ops.meshgrid(x, y), lambda a, b: tuple(np.meshgrid(a, b)), [(2,), (3,)]),
    "meshgrid ij": (
        lambda x, y: ops.meshgrid(x, y, indexing="ij"),
        lambda a, b: tuple(np.meshgrid(a, b, indexing="ij")),
        [(2,), (3,)],
    ),
    "meshgrid of three": (
        lambda x, y, z: ops.meshgrid(x, y, z),
        lambda a, b, c: tuple(np.meshgrid(a, b, c)),
        [(2,), (3,), ()],
    ),
    "diagonal": (lambda x: ops.diagonal(x, 1), lambda a: np.diagonal(a, 1), [(3, 4)]),
    "diagonal below": (lambda x: x.diagonal(-2), lambda a: np.diagonal(a, -2), [(3, 4)]),
    "diagonal outside": (lambda x: x.diagonal(9), lambda a: np.diagonal(a, 9), [(3, 4)]),
    "diagonal of axes": (
        lambda x: ops.diagonal(x, -1, 2, 0),
        lambda a: np.diagonal(a, -1, 2, 0),
        [(2, 3, 4)],
    ),
    "pad by mirroring": (
        lambda x: ops.pad(x, (2, 1), mode="reflect"),
        lambda a: np.pad(a, ((0, 0), (2, 1)), mode="reflect"),
        [(2, 3)],
    ),
    "pad by mirroring with the edge": (
        lambda x: ops.pad(x, (2, 1), mode="symmetric"),
        lambda a: np.pad(a, ((0, 0), (2, 1)), mode="symmetric"),
        [(2, 3)],
    ),
    "pad by the edge": (
        lambda x: ops.pad(x, (2, 0, 0, 1), mode="replicate"),
        lambda a: np.pad(a, ((0, 1), (2, 0)), mode="edge"),
        [(2, 3)],
    ),
    "pad around": (
        lambda x: ops.pad(x, (1, 2), mode="circular"),
        lambda a: np.pad(a, ((0, 0), (1, 2)), mode="wrap"),
        [(2, 3)],
    ),
    "pad and crop by mirroring": (
        lambda x: ops.pad(x, (-1, 2), mode="reflect"),
        lambda a: np.pad(a, (0, 2), mode="reflect")[1:],
        [(4,)],
    ),
    "atleast_1d": (ops.atleast_1d, np.atleast_1d, [()]),
    "atleast_2d": (ops.atleast_2d, np.atleast_2d, [(3,)]),
    "atleast_3d": (ops.atleast_3d, np.atleast_3d, [(3,)]),
    "atleast_3d of a matrix": (ops.atleast_3d, np.atleast_3d, [(3, 2)]),
}


@pytest.mark.parametrize("name", MOVES)
def test_moves_as_numpy(name):
    ours, numpys, shapes = MOVES[name]
    check_moves(ours, numpys, *[sample(shape, seed=k) for k, shape in enumerate(shapes)])


def padded(a, pairs, value=-1):
    return np.pad(a, pairs, constant_values=value)


# as above, with elements that come from nowhere: −1 in NumPy's, FILL in ours
FILL = {
    "pad": (lambda x: ops.pad(x, (1, 2)), lambda a: padded(a, ((0, 0), (1, 2))), [(2, 3)], 0),
    "pad two axes": (
        lambda x: ops.pad(x, (0, 2, 1, 0), value=5),
        lambda a: padded(a, ((1, 0), (0, 2))),
        [(2, 3)],
        5,
    ),
    "pad and crop": (lambda x: ops.pad(x, (-1, 2), value=-1.0), lambda a: padded(a[1:], (0, 2)), [(4,)], -1),
    "crop": (lambda x: ops.pad(x, (-1, -1)), lambda a: a[:, 1:-1], [(2, 4)], 0),
    "tril": (lambda x: ops.tril(x, 1), lambda a: np.tril(a + 1, 1) - 1, [(3, 4)], 0),
    "triu": (lambda x: x.triu(-1), lambda a: np.triu(a + 1, -1) - 1, [(2, 4, 3)], 0),
    "diag": (ops.diag, lambda a: np.diag(a + 1) - 1, [(3,)], 0),
    "diag of a matrix": (
        lambda x: ops.diag(x),
        lambda a: (np.diag(a.ravel() + 1) - 1).reshape(2, 2, 2, 2),
        [(2, 2)],
        0,
    ),
    "diag_embed": (lambda x: ops.diag_embed(x, -1), lambda a: np.diag(a + 1, -1) - 1, [(3,)], 0),
    "diag_embed in front": (
        lambda x: ops.diag_embed(x, 1, 0, 1),
        lambda a: np.stack([np.diag(row + 1, 1) - 1 for row in a], -1),
        [(2, 3)],
        0,
    ),
    "diagflat": (lambda x: ops.diagflat(x, 2), lambda a: np.diagflat(a + 1, 2) - 1, [(2, 2)], 0),
    "resize": (
        lambda x: x.resize(2, 4),
        lambda a: np.append(a.ravel(), [-1, -1]).reshape(2, 4),
        [(2, 3)],
        0,
    ),
    "resize to less": (lambda x: x.resize((2, 2)), lambda a: a.ravel()[:4].reshape(2, 2), [(2, 3)], 0),
}


@pytest.mark.parametrize("name", FILL)
def test_fills_as_numpy(name):
    ours, numpys, shapes, fill = FILL[name]
    check_moves(ours, numpys, *[sample(shape) for shape in shapes], fill=fill)


DTYPES = [d for d in ms.dtype.__all__ if d != "DType"]
ANY_TYPE = ["concat", "stack", "tile", "diagonal", "roll", "pad by the edge", "repeat each", "meshgrid"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ANY_TYPE)
def test_moves_every_element_type(name, dtype):
    ours, numpys, shapes = MOVES[name]
    kind = getattr(ms, dtype)
    arrays = [sample(shape, bool if kind is ms.bool_ else np.int8, k) for k, shape in enumerate(shapes)]
    tensors = [Tensor(array).astype(kind) for array in arrays]
    pool = np.concatenate([t.asnumpy().ravel() for t in tensors])
    found = as_arrays(ours(*tensors))
    for each, places in zip(found, sources(numpys, *arrays), strict=True):
        assert each.dtype == kind.numpy
        np.testing.assert_array_equal(each, pool[places])


# --- results that are numbers --------------------------------------------------------------------------


def test_shape_size_and_rank_are_known_while_compiling():
    seen = queue.Queue()

    def f(x):
        seen.put((ops.shape(x), ops.size(x), ops.rank(x), x.shape, x.ndim, x.size, x.nbytes, len(x)))
        return x * ops.size(x)

    np.testing.assert_array_equal(
        Compiled(f)(Tensor(np.ones((2, 3), np.float32))).asnumpy(), np.full((2, 3), 6)
    )
    assert list(seen.queue) == [((2, 3), 6, 2, (2, 3), 2, 6, 24, 2)]


def test_trace():
    a = sample((3, 4))
    for offset in (0, 1, -1):
        assert ops.trace(Tensor(a), offset).item() == np.trace(a, offset)
    np.testing.assert_array_equal(
        ops.trace(Tensor(sample((2, 3, 2))), 0, 0, 2).asnumpy(), np.trace(sample((2, 3, 2)), 0, 0, 2)
    )
    np.testing.assert_array_equal(ops.grad(ops.trace)(Tensor(a)).asnumpy(), np.eye(3, 4))


@pytest.mark.parametrize("axis", [-1, 0, 1, 2])
def test_one_hot(axis):
    index = np.array([[0, 2], [3, -1]])  # 3 and −1 have no place
    hits = (index[..., None] == np.arange(3)).astype(np.int64)
    np.testing.assert_array_equal(
        ops.one_hot(Tensor(index), 3, axis=axis).asnumpy(), np.moveaxis(hits, -1, axis)
    )
    f = Compiled(lambda i: ops.one_hot(i, 3, 2.0, -1.0, axis))
    found = f(Tensor(index, ms.int32))
    assert found.dtype == ms.float32
    np.testing.assert_array_equal(found.asnumpy(), np.moveaxis(hits * 3.0 - 1.0, -1, axis))


@pytest.mark.parametrize(
    ("found", "array"),
    [
        (lambda: ops.zeros((2, 3)), np.zeros((2, 3), np.float32)),
        (lambda: ops.zeros(2, ms.int32), np.zeros(2, np.int32)),
        (lambda: ops.zeros((0, 2)), np.zeros((0, 2), np.float32)),
        (lambda: ops.zeros(()), np.zeros((), np.float32)),
        (lambda: ops.ones([2], ms.bool_), np.ones(2, bool)),
        (lambda: ops.ones(Tensor([2, 1])), np.ones((2, 1), np.float32)),
        (lambda: ops.full((2,), 3), np.full(2, 3, np.int64)),
        (lambda: ops.full(2, 3.5), np.full(2, 3.5, np.float32)),
        (lambda: ops.full((2,), True), np.full(2, True)),
        (lambda: ops.full((2,), 1j), np.full(2, 1j, np.complex128)),
        (lambda: ops.full((2,), 3, dtype=ms.float16), np.full(2, 3, np.float16)),
        (lambda: ops.full((2,), np.float64(1.5)), np.full(2, 1.5, np.float32)),
        (lambda: ops.full((2,), 1e40), np.full(2, np.inf, np.float32)),
        (lambda: ops.fill(ms.int8, (2,), 3.0), np.full(2, 3, np.int8)),
        (lambda: ops.full_like(Tensor([1, 2]), 3), np.full(2, 3, np.int64)),
        (lambda: ops.full_like(Tensor([1, 2]), 3, dtype=ms.float32), np.full(2, 3, np.float32)),
        (lambda: ops.zeros_like(Tensor([[True]])), np.zeros((1, 1), bool)),
        (lambda: ops.zeros_like(2.0), np.zeros((), np.float32)),
        (lambda: ops.ones_like(Tensor([1.0]), dtype=ms.int32), np.ones(1, np.int32)),
        (lambda: Tensor([1.0, 2.0]).fill(3), np.full(2, 3, np.float32)),
        (lambda: Tensor([1, 2]).new_zeros((1, 2)), np.zeros((1, 2), np.int64)),
        (lambda: ops.arange(5), np.arange(5)),
        (lambda: ops.arange(1, 6, 2), np.arange(1, 6, 2)),
        (lambda: ops.arange(5, 1, -2), np.arange(5, 1, -2)),
        (lambda: ops.arange(0), np.arange(0)),
        (lambda: ops.arange(3.0), np.arange(3, dtype=np.float32)),
        (lambda: ops.arange(0, 1, 0.25), np.arange(0, 1, 0.25, np.float32)),
        (lambda: ops.arange(3, dtype=ms.float64), np.arange(3.0)),
        (lambda: ops.arange(Tensor(3)), np.arange(3)),
        (lambda: ops.range(1, 5, 2), np.arange(1, 5, 2)),
        (lambda: ops.linspace(0, 1, 5), np.linspace(0, 1, 5, dtype=np.float32)),
        (lambda: ops.linspace(2, -1, 1), np.array([2], np.float32)),
        (lambda: ops.linspace(Tensor(0.0, ms.float64), Tensor(1.0), 3), np.array([0, 0.5, 1])),
        (lambda: ops.logspace(0, 3, 4, 2), np.array([1, 2, 4, 8], np.float32)),
        (lambda: ops.eye(2), np.eye(2, dtype=np.float32)),
        (lambda: ops.eye(2, 3, ms.int32), np.eye(2, 3, dtype=np.int32)),
        (lambda: ops.eye(0), np.eye(0, dtype=np.float32)),
        (lambda: ops.tril_indices(2, 3, -1), np.array(np.tril_indices(2, -1, 3))),
        (lambda: ops.triu_indices(2, 3, 1), np.array(np.triu_indices(2, 1, 3))),
        (lambda: ops.scalar_to_tensor(1), np.float32(1)),
        (lambda: ops.scalar_to_tensor(1, ms.int32), np.int32(1)),
        (lambda: ops.tuple_to_array((1, 2)), np.array([1, 2], np.int32)),
        (lambda: ops.tuple_to_array(range(3)), np.array([0, 1, 2], np.int32)),
        (lambda: ops.tuple_to_array((1.5, 2)), np.array([1.5, 2], np.float32)),
        (lambda: ops.cast(1.7, ms.int32), np.int32(1)),
        (lambda: ops.cast(Tensor([0.0, 2.0]), ms.bool_), np.array([False, True])),
    ],
)
def test_tensors_made_from_numbers(found, array):
    array = np.asarray(array)
    compiled = Compiled(lambda x: (found(), x))(Tensor(0.0))[0]
    for tensor in (found(), compiled):
        assert tensor.asnumpy().dtype == array.dtype
        np.testing.assert_array_equal(tensor.asnumpy(), array)


def test_what_is_made_from_tensors_is_differentiable():
    slope = ops.grad(lambda a: (ops.linspace(a, 4.0, 3) * Tensor([1.0, 2.0, 3.0])).sum())(Tensor(2.0))
    assert slope.item() == 1 * 1.0 + 2 * 0.5
    assert ops.grad(lambda a: ops.full((2, 3), a).sum())(Tensor(2.0)).item() == 6
    assert ops.grad(lambda a: ops.one_hot(Tensor([0, 1]), 3, a, 0.0).sum())(Tensor(2.0)).item() == 2


def test_numbers_that_are_made_inside_a_program_cost_no_memory():
    assert np.asarray(ops.zeros((1000, 1000))).strides == (0, 0)
    graph = trace(lambda x: x * ops.ones_like(x) + ops.zeros((2, 3)), ops.full((2, 3), 2.0))
    assert len(graph) == 0  # x · 1 + 0 is x
    made = ops.zeros((2, 2)).asnumpy()
    made[0] = 1  # an array of its own
    assert made.sum() == 2


# --- mistakes --------------------------------------------------------------------------------------------

X = Tensor(np.zeros((3, 4), np.float32))
V = Tensor([1.0, 2.0, 3.0])

MISTAKES = [
    (lambda: ops.reshape(X, (5,)), ValueError, "'Reshape'.*does not hold the 12 elements"),
    (lambda: ops.reshape(X, (5, -1)), ValueError, "'Reshape'"),
    (lambda: ops.reshape(X, (-1, -1)), ValueError, "only one size may be -1"),
    (lambda: ops.reshape(X, (-2, 6)), ValueError, "'Reshape'"),
    (lambda: ops.reshape(X, (2.0, 6)), TypeError, "'shape' must be an int or a tuple"),
    (lambda: ops.reshape(X, (True, 12)), TypeError, "'shape'"),
    (lambda: X.reshape(), TypeError, "missing 1 required"),
    (lambda: ops.transpose(X, (0, 0)), ValueError, "'Transpose'.*twice"),
    (lambda: ops.transpose(X, (0,)), ValueError, "each of the 2 axes"),
    (lambda: ops.transpose(X, (2, 0)), ValueError, r"in range \[-2, 2\), but got 2"),
    (lambda: ops.transpose(X, (0.0, 1)), TypeError, "'dims' must be an int"),
    (lambda: ops.swapaxes(X, 0, 2), ValueError, "'axis1'"),
    (lambda: ops.moveaxis(X, (0, 1), 0), ValueError, "the same number of axes"),
    (lambda: ops.expand_dims(X, 3), ValueError, r"in range \[-3, 3\)"),
    (lambda: ops.expand_dims(X, 1.0), TypeError, "'axis' must be an int, but got float"),
    (lambda: ops.squeeze(X, 0), ValueError, "size 3. Only an axis of size 1"),
    (lambda: ops.squeeze(X, 2), ValueError, "'Squeeze'"),
    (lambda: ops.flatten(X, order="A"), ValueError, "'order' must be 'C' or 'F'"),
    (lambda: ops.flatten(X, start_dim=1, end_dim=0), ValueError, "must not be after"),
    (lambda: ops.broadcast_to(V, (2, 4)), ValueError, "'BroadcastTo'"),
    (lambda: ops.broadcast_to(X, (4,)), ValueError, "'BroadcastTo'"),
    (lambda: ops.broadcast_to(V, (-1, 3)), ValueError, "'BroadcastTo'"),
    (lambda: ops.flip(X, (0, 0)), ValueError, "'Flip'.*twice"),
    (lambda: ops.flip(X, 2), ValueError, "'Flip'"),
    (lambda: ops.roll(X, (1, 2), (0, 1, 0)), ValueError, "one shift per axis"),
    (lambda: ops.rot90(X, 1, (0,)), ValueError, "two axes"),
    (lambda: ops.narrow(X, 0, 1, 3), ValueError, "do not lie inside"),
    (lambda: ops.concat([]), ValueError, "at least one"),
    (lambda: ops.concat(X), TypeError, "tuple or list of tensors"),
    (lambda: ops.concat((X, V)), ValueError, r"\(3, 4\), \(3,\)"),
    (lambda: ops.concat((X, X), 2), ValueError, "'Concat'"),
    (lambda: ops.concat((X, "a")), TypeError, "'Concat'"),
    (lambda: ops.stack((X, V)), ValueError, "'Stack'.*the same shape"),
    (lambda: ops.stack([]), ValueError, "at least one"),
    (lambda: ops.stack((V, V), 2), ValueError, "'Stack'"),
    (lambda: ops.unstack(Tensor(1.0)), ValueError, "no axes"),
    (lambda: ops.split(X, 0), ValueError, "at least 1"),
    (lambda: ops.split(X, (1, 1)), ValueError, "add up to 3"),
    (lambda: ops.split(X, 1.5), TypeError, "must be an int"),
    (lambda: ops.chunk(X, 0), ValueError, "at least 1"),
    (lambda: ops.tile(X, (-1, 1)), ValueError, "at least 0"),
    (lambda: ops.repeat_interleave(X, (1, 2), 0), ValueError, "each of the 3 elements"),
    (lambda: ops.repeat_elements(X, 0), ValueError, "at least 1"),
    (lambda: ops.pad(X, (1,)), ValueError, "pairs of numbers"),
    (lambda: ops.pad(X, (1, 1, 1, 1, 1, 1)), ValueError, "pairs of numbers"),
    (lambda: ops.pad(X, (4, 0), mode="reflect"), ValueError, "at most 3"),
    (lambda: ops.pad(X, (1, 1), mode="mirror"), ValueError, "'mode' must be one of"),
    (lambda: ops.pad(X, (1, 1), mode="edge", value=1), ValueError, "must be None"),
    (lambda: ops.pad(X, (-3, -2)), ValueError, "removes more elements"),
    (lambda: ops.pad(ops.zeros((2, 0)), (1, 1), mode="edge"), ValueError, "at most 0"),
    (lambda: ops.meshgrid(V, X), ValueError, "one axis"),
    (lambda: ops.meshgrid(V, V, indexing="yx"), ValueError, "'xy' or 'ij'"),
    (lambda: ops.diag(Tensor(1.0)), ValueError, "at least one axis"),
    (lambda: ops.diagonal(V), ValueError, "'Diagonal'"),
    (lambda: ops.diagonal(X, 0, 1, 1), ValueError, "different axes"),
    (lambda: ops.tril(V), ValueError, "at least two axes"),
    (lambda: ops.tril(X, 1.0), TypeError, "'diagonal' must be an int"),
    (lambda: ops.one_hot(V, 3), TypeError, "must be integers"),
    (lambda: ops.one_hot(Tensor([1]), -1), ValueError, "at least 0"),
    (lambda: ops.one_hot(Tensor([1]), 2, V), ValueError, "0-D tensor"),
    (lambda: ops.zeros(2.0), TypeError, "'size'"),
    (lambda: ops.zeros((-1,)), ValueError, "at least 0"),
    (lambda: ops.zeros((2,), "number"), TypeError, "is not a dtype"),
    (lambda: ops.full((2,), "a"), TypeError, "must be a number"),
    (lambda: ops.full((2,), V), ValueError, "0-D tensor"),
    (lambda: ops.full((2,), 300, dtype=ms.int8), TypeError, "does not fit"),
    (lambda: ops.arange(1, 5, 0), ValueError, "must not be 0"),
    (lambda: ops.arange(5, 1), ValueError, "away from"),
    (lambda: ops.arange("a"), TypeError, "'end' must be an int or a float"),
    (lambda: ops.range(0, 10, 1, maxlen=5), ValueError, "maxlen"),
    (lambda: ops.linspace(0, 1, 0), ValueError, "at least 1"),
    (lambda: ops.linspace(V, 1, 2), ValueError, "0-D tensor"),
    (lambda: ops.eye(2.0), TypeError, "'n' must be an int"),
    (lambda: ops.eye(-1), ValueError, "at least 0"),
    (lambda: ops.tuple_to_array([1]), TypeError, "must be a tuple"),
    (lambda: ops.reshape("a", (1,)), TypeError, "'Reshape'"),
    (lambda: ops.squeeze(None), TypeError, "'Squeeze'"),
]


@pytest.mark.parametrize(("mistake", "kind", "text"), MISTAKES)
def test_a_mistake_is_named(mistake, kind, text):
    with pytest.raises(kind, match=text):
        mistake()


def test_sizes_that_depend_on_data_are_refused_while_compiling():
    def repeated(x, n):
        return ops.repeat_interleave(x, n)

    with pytest.raises(RuntimeError, match="value is not known at compile time"):
        Compiled(repeated)(V, Tensor([1, 2, 0]))


# --- laws ------------------------------------------------------------------------------------------------


@given(st.data())
def test_any_permutation(data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3))
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    a = sample(shape)
    actual = ops.transpose(Tensor(a), order)
    np.testing.assert_array_equal(actual.asnumpy(), a.transpose(order))
    back = tuple(int(i) for i in np.argsort(order))
    np.testing.assert_array_equal(ops.transpose(actual, back).asnumpy(), a)


@given(st.data())
def test_splitting_and_joining_are_inverse(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    size = data.draw(st.integers(1, 6))
    a = sample(shape)
    parts = ops.split(Tensor(a), size, axis)
    assert all(part.shape[axis] == size for part in parts[:-1])
    np.testing.assert_array_equal(ops.concat(parts, axis).asnumpy(), a)
    np.testing.assert_array_equal(ops.stack(ops.unstack(Tensor(a), axis), axis).asnumpy(), a)


@given(st.data())
def test_any_padding(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    pairs = [data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3))) for _ in shape]
    flat = [n for pair in reversed(pairs) for n in pair]
    a = sample(shape)
    found = ops.pad(Tensor(a), flat, value=7)
    np.testing.assert_array_equal(found.asnumpy(), np.pad(a, pairs, constant_values=7))
    away = ops.pad(found, [-n for n in flat])
    np.testing.assert_array_equal(away.asnumpy(), a)
