"""``jacobian`` and ``hessian`` with ``sparse=True``: against dense ones, and the colorings beneath them."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import splu, spsolve

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.core.sparse.coloring import columns, star
from tests.tolerances import assert_close
from tests.unit.rewrite_checks import with_costs

MODES = {"graph": ms.GRAPH_MODE, "pynative": ms.PYNATIVE_MODE}


@pytest.fixture(params=MODES.values(), ids=MODES)
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


@pytest.fixture(autouse=True)
def eager():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


def t(values, dtype=np.float64):
    return Tensor(np.asarray(values, dtype))


def x_of(*shape, seed=0):
    return t(np.random.default_rng(seed).uniform(0.5, 1.5, shape))


def same(found, dense):
    assert isinstance(found, sparse.csr_array), type(found)
    dense = dense.asnumpy() if isinstance(dense, Tensor) else dense
    assert_close(found.toarray(), dense.reshape(found.shape), "program", scale=1)
    indices, ends = found.indices, found.indptr
    for i in range(found.shape[0]):
        assert (np.diff(indices[ends[i] : ends[i + 1]]) > 0).all(), "indices of a row are not sorted"


# --- the problems that people have ------------------------------------------------------------------


def rosenbrock(x):
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()


def brusselator(y, n):
    u, v = y.reshape(2, n, n)[0], y.reshape(2, n, n)[1]

    def laplacian(u):
        return sum(ms.numpy.roll(u, k, axis) for axis in (0, 1) for k in (1, -1)) - 4.0 * u

    reaction = u * u * v
    made = (1.0 + reaction - 4.4 * u + 0.7 * laplacian(u), 3.4 * u - reaction + 0.7 * laplacian(v))
    return ops.stack(made).reshape(-1)


def test_chained_rosenbrock(mode):
    x = x_of(20)
    found = ms.hessian(rosenbrock, sparse=True)(x)
    same(found, ms.hessian(rosenbrock)(x))
    assert found.nnz == 3 * 20 - 2


#: functions of a 4 by 6 matrix that are linear by pieces: what is read where depends on the values
BY_PIECES = {
    "amin": lambda m: m.amin(0),
    "amax": lambda m: ops.amax(m, 1),
    "amin of all": ops.amin,
    "max and place": lambda m: ops.max(m, 1)[0],
    "sort": lambda m: ops.sort(m, 1)[0],
    "argsort": lambda m: ops.gather_elements(m, 1, ops.argsort(m, 1)),
    "topk": lambda m: ops.topk(m, 2)[0],
    "cummax": lambda m: ops.cummax(m, 1)[0],
    "cummin": lambda m: ops.cummin(m, 0)[0],
    "median": lambda m: ops.median(m, 1)[0],
    "nanmedian": lambda m: ops.nanmedian(m, 1)[0],
    "quantile": lambda m: ops.quantile(m, 0.3, 1),
    "aminmax": lambda m: ops.aminmax(m, axis=0)[0] - ops.aminmax(m, axis=0)[1],
    "max_pool2d": lambda m: ops.max_pool2d(m.reshape(1, 1, 4, 6), 2, 2),
    "infinity norm": lambda m: ops.norm(m, float("inf"), 1),
    "maximum": lambda m: ops.maximum(m, m[:, ::-1]),
}


@pytest.mark.parametrize("name", BY_PIECES)
def test_what_is_linear_by_pieces_keeps_a_hessian_diagonal(name):
    """Second derivatives come from what is done to each element alone."""
    f = lambda x: BY_PIECES[name](ops.sin(x * x)).sum()
    x = x_of(4, 6)
    actual = ms.hessian(f, sparse=True)(x)
    same(actual, ms.hessian(f)(x))
    assert actual.nnz == 24
    assert (actual.tocoo().row == actual.tocoo().col).all()


@pytest.mark.parametrize(
    ("cost", "count"),
    [
        (lambda d: d.amin(0).sum(), 24),
        (lambda d: ops.min(d, 0)[0].sum(), 24),
        (lambda d: ops.topk(-d.T, 2)[0].sum(), 24),
        (lambda d: ops.amax(ops.amin(d, 0)), 24),
        (lambda d: ops.sqrt(d).amin(0).sum(), 72),  # the coordinates of one center meet in the root
    ],
    ids=["min", "min and place", "topk", "amax of amin", "distances"],
)
def test_k_means(mode, cost, count):
    points, centers = x_of(20, 3), x_of(8, 3, seed=1)
    f = lambda c: cost(((points - c[:, None]) ** 2).sum(-1))
    found = ms.hessian(f, sparse=True)(centers)
    same(found, ms.hessian(f)(centers))
    assert found.nnz == count


def test_a_pattern_holds_nothing_of_what_is_only_compared(monkeypatch):
    """The least distance depends on all centers, and is compared with the distance to each."""
    with_costs(monkeypatch, pattern_entries=1000)
    points, centers = x_of(20, 3), x_of(8, 3, seed=1)
    distances = lambda c: (points**2).sum(1) + (c**2).sum(1)[:, None] - 2 * ops.matmul(c, points.T)
    assert ms.hessian(lambda c: distances(c).amin(0).sum(), sparse=True)(centers).nnz == 24


def test_sums_over_nothing():
    assert ms.hessian(lambda x: ops.cumsum(x * x, 0).sum() + 1.0, sparse=True)(x_of(0, 3)).shape == (0, 0)


def test_brusselator(mode):
    y = x_of(32)

    def f(y):
        return brusselator(y, 4)

    found = ms.jacobian(f, sparse=True)(y)
    same(found, ms.jacrev(f)(y))
    assert found.nnz == 6 * 32


def observed(cameras, points, which_camera, which_point):
    c, p = cameras[which_camera], points[which_point]
    d = p - c[:, :3]
    angle = ops.sqrt((c[:, 3:6] ** 2).sum(1))
    moved = d * ops.cos(angle).reshape(-1, 1) + c[:, 3:6] * ops.sin(angle).reshape(-1, 1)
    return moved[:, :2] / moved[:, 2:] * c[:, 6:7]


def test_parameters_of_cameras_and_points(mode):
    # integers among the arguments: the pattern is that of their values
    f = ms.jacobian(observed, (0, 1), sparse=True)
    cameras, points = x_of(3, 7), x_of(6, 3, seed=1)
    generator = np.random.default_rng(2)
    for _ in range(2):
        which = [t(generator.integers(0, n, 15), np.int32) for n in (3, 6)]
        actual = f(cameras, points, *which)
        for block, dense in zip(actual, ms.jacrev(observed, (0, 1))(cameras, points, *which), strict=True):
            same(block, dense)
        assert actual[0].nnz == 30 * 6
        assert actual[1].nnz == 30 * 2
    assert f(cameras, points, *which)[0].nnz == 30 * 6  # found again


def test_one_variable_with_all_others():
    # an arrow: a row and a column are full, but no more than they
    def f(x):
        return (ops.sin(x[1:]) * x[0]).sum() + (x[1:] ** 3).sum()

    x = x_of(40)
    found = ms.hessian(f, sparse=True)(x)
    same(found, ms.hessian(f)(x))
    assert found.nnz <= 40 + 2 * 39


def test_a_tensor_of_matrices_and_constants():
    shift = t(np.eye(12, k=1) + 2 * np.eye(12))

    @ms.jit
    def f(x):
        return ops.tanh(ops.matmul(shift, x))

    x = x_of(12)
    found = ms.jacobian(f, sparse=True)(x)
    same(found, ms.jacrev(f)(x))
    assert found.nnz == 23


def test_each_sample_of_a_batch():
    weights = x_of(4, 3, seed=3)

    def f(x):
        return ops.tanh(ops.matmul(x, weights))

    x = x_of(10, 4)
    found = ms.jacobian(f, sparse=True)(x)
    same(found, ms.jacrev(f)(x))
    assert found.nnz == 10 * 3 * 4


# --- random programs --------------------------------------------------------------------------------

#: each takes vectors of one length, and gives one
STEPS = {
    "sine": lambda a, b: ops.sin(a),
    "product": lambda a, b: a * b,
    "square": lambda a, b: a * a - b,
    "quotient": lambda a, b: a / (2.0 + b * b),
    "neighbors": lambda a, b: ops.concat((a[1:] - a[:-1], a[:1]), 0),
    "reversed": lambda a, b: ops.flip(a, (0,)) + b,
    "every second": lambda a, b: ops.concat((a[::2], b[1::2]), 0),
    "of two axes": lambda a, b: (a.reshape(3, -1).T + 1.0).reshape(-1) * b,
    "sums": lambda a, b: ops.cumsum(a, 0),
    "total": lambda a, b: a - a.mean(),
    "largest": lambda a, b: ops.maximum(a, b),
    "sorted": lambda a, b: ops.sort(a)[0],
    "taken": lambda a, b: a[Tensor([5, 5, 0, 1, 2, 3], ms.int32)] * b,
    "where it is large": lambda a, b: ops.where(a > 1.0, a * b, b),
    "matrix": lambda a, b: ops.matmul(a.reshape(2, 3), b.reshape(3, 2)).reshape(-1)[Tensor([0, 1, 2, 3, 3, 0], ms.int32)],
    "normalized": lambda a, b: ops.softmax(a.reshape(2, 3), -1).reshape(-1),
    "convolved": lambda a, b: ops.conv1d(a.reshape(1, 1, 6), Tensor(np.array([[[0.5, -1.0, 0.25]]])), pad_mode="same").reshape(-1),
}  # fmt: skip


@st.composite
def programs(draw):
    return [
        (draw(st.sampled_from(sorted(STEPS))), draw(st.integers(0, k + 1)), draw(st.integers(0, k + 1)))
        for k in range(draw(st.integers(1, 5)))
    ]


def run(program, x, y):
    values = [x, y]
    for name, i, j in program:
        values.append(STEPS[name](values[i], values[j]))
    return values[-1]


def agrees(program):
    x, y = x_of(6, seed=1), x_of(6, seed=2)

    def f(x, y):
        return run(program, x, y)

    def loss(x, y):
        return (f(x, y) * t(np.arange(1.0, 7.0))).sum()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some are dense, and say so
        found = ms.jacobian(f, (0, 1), sparse=True)(x, y)
        second = ms.hessian(loss, (0, 1), sparse=True)(x, y)
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    for block, dense in zip(found, ms.jacrev(f, (0, 1))(x, y), strict=True):
        same(block, dense)
    for row, dense_row in zip(second, ms.hessian(loss, (0, 1))(x, y), strict=True):
        for block, dense in zip(row, dense_row, strict=True):
            same(block, dense)
    ms.set_context(mode=before)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(programs())
def test_random_programs(program):
    agrees(program)


@pytest.mark.parametrize(
    "program",
    [
        [("sorted", 1, 0), ("neighbors", 2, 0), ("product", 3, 2)],
        [("taken", 0, 1), ("every second", 2, 1), ("square", 3, 3), ("sums", 4, 0)],
        [("of two axes", 1, 0), ("where it is large", 2, 0), ("convolved", 3, 0), ("quotient", 4, 1)],
    ],
)
def test_programs_compiled(program):
    ms.set_context(mode=ms.GRAPH_MODE)
    agrees(program)


# --- loops and branches ----------------------------------------------------------------------------


def test_loops_and_branches_compiled():
    ms.set_context(mode=ms.GRAPH_MODE)

    def diffused(x, n):
        for _ in range(3):
            x = x + 0.1 * (ms.numpy.roll(x, 1) - 2.0 * x + ms.numpy.roll(x, -1)) * x
        k = 0
        while k < n:
            x = ops.sin(x) * x
            k = k + 1
        if n > 1:
            x = x * x
        return x

    x, n = x_of(16), Tensor(2)
    found = ms.jacobian(diffused, sparse=True)(x, n)
    same(found, ms.jacrev(diffused)(x, n))
    assert found.nnz == 7 * 16


def masked(x):
    return ops.where(x > 0.0, ops.sin(ops.sqrt(x)) * x, 0.0 * x)


@pytest.mark.parametrize("f", [lambda x: ops.sqrt(x) * x, masked], ids=["product", "masked"])
def test_where_zero_meets_infinity(mode, f):
    of = ms.jacobian(f, sparse=True)
    for values in ([0.3, 0.7, 0.2], [0.0, 0.7, 0.0], [0.3, 0.7, 0.2]):
        same(of(t(values)), ms.jacrev(f)(t(values)))


class Counted(nn.Cell):
    def __init__(self):
        super().__init__()
        self.calls = Parameter(t(0.0), name="calls", requires_grad=False)

    def construct(self, x):
        self.calls = self.calls + 1.0
        return ops.sqrt(x) * self.calls


def test_a_function_that_writes_runs_once_a_call(mode):
    net = Counted()
    of = ms.jacobian(net, sparse=True)
    for k, values in enumerate(([1.0, 4.0], [0.0, 4.0], [1.0, 4.0]), 1):
        actual = of(t(values))
        assert net.calls.asnumpy() == k
        with np.errstate(divide="ignore"):
            assert_close(actual.diagonal(), k / 2 / np.sqrt(values), kind="ill-conditioned")


def test_hessian_of_computed_indices_follows_their_values_in_eager_mode_only(mode):
    points = x_of(20, 3)

    def cost(centers):
        nearest = ((points - centers[:, None]) ** 2).sum(-1).argmin(0)
        return ((points - centers[nearest]) ** 2).sum()

    hessian = ms.hessian(cost, sparse=True)
    for centers, in_use in ((ops.ones((8, 3), ms.float64), 1), (x_of(8, 3, seed=1), None)):
        found = hessian(centers)
        same(found, ms.hessian(cost)(centers))
        in_use = found.count_nonzero() // 3 if in_use is None else in_use
        assert found.nnz == (192 if mode == ms.GRAPH_MODE else 3 * in_use)


def test_reads_at_places_that_are_computed(mode):
    def f(x):
        ordered = ops.sort(x)[0]
        place = (x * 10.0).astype(ms.int32) % 6
        return ops.concat((ordered, x[place], ops.flip(ordered, (0,))), 0)

    x = x_of(6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = ms.jacobian(f, sparse=True)(x)
    same(found, ms.jacrev(f)(x))
    assert found.nnz >= 18


def test_integers_that_are_no_places_change_nothing():
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.clear_cache()
    of = ms.jacobian(lambda x, n: x * n, sparse=True)
    for n in (3, 0, 2):
        same(of(x_of(4), Tensor(n)), n * np.eye(4))
    assert ms.cache_info().misses == 1, "it was compiled again for another factor"


# --- what is asked for ------------------------------------------------------------------------------


def test_outputs_positions_and_others_given_back(mode):
    def pair(x, y):
        return x * y, x[1:] * y[0]

    x, y = x_of(3), x_of(3, seed=1)
    actual = ms.jacobian(pair, (1, 0), sparse=True)(x, y)
    dense = ms.jacrev(pair, (1, 0))(x, y)
    assert [len(actual), len(actual[0])] == [2, 2]
    for row, dense_row in zip(actual, dense, strict=True):
        for block, one in zip(row, dense_row, strict=True):
            same(block, one)
    first, other = ms.jacobian(lambda x, y: (x * y, x.sum()), has_aux=True, sparse=True)(x, y)
    same(first, np.diag(y.asnumpy()))
    assert_close(other, x.asnumpy().sum(), kind="ill-conditioned")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scale = Parameter(x_of(4, seed=5), name="scale")

    def construct(self, x):
        return ((x * self.scale) ** 3).sum()


def test_weights_and_several_positions(mode):
    net, x = Net(), x_of(4)
    actual = ms.hessian(net, 0, weights=[net.scale], sparse=True)(x)
    dense = ms.hessian(net, 0, weights=[net.scale])(x)
    same(actual[0][0], dense[0][0])
    same(actual[0][1][0], dense[0][1][0])
    same(actual[1][0][0], dense[1][0][0])
    same(actual[1][0][1][0], dense[1][0][1][0])
    assert actual[0][1][0].nnz == 4


def test_types():
    x = Tensor(np.ones(3), ms.float16)
    assert ms.jacobian(lambda x: x * x, sparse=True)(x).dtype == np.float32
    x = Tensor(np.ones(3), ms.float32)
    assert ms.jacobian(lambda x: x.astype(ms.float64) * 2.0, sparse=True)(x).dtype == np.float64
    assert ms.hessian(lambda x: (x * x).sum(), sparse=True)(x).dtype == np.float32


def test_nothing_and_everything_is_zero():
    with pytest.warns(ms.ZeroGradientWarning, match="'floor'"):
        assert ms.jacobian(lambda x: ops.floor(x), sparse=True)(x_of(5)).nnz == 0
    assert ms.hessian(lambda x: x.sum(), sparse=True)(x_of(5)).nnz == 0
    assert ms.jacobian(lambda x: x[:0], sparse=True)(x_of(5)).shape == (0, 5)
    assert ms.jacobian(lambda x: x * 2.0, sparse=True)(x_of(5)).toarray().tolist() == (2 * np.eye(5)).tolist()


def test_an_element_of_the_result():
    x = x_of(5)
    same(ms.hessian(lambda x: (x**3)[2], sparse=True)(x), np.diag([0, 0, 6 * x.asnumpy()[2], 0, 0]))


class OwnDerivative(nn.Cell):
    def construct(self, x):
        return (x * x).sum()

    def bprop(self, x, out, dout):  # the second derivative of this is not symmetric
        return (ops.concat((x[1:] * x[:-1], x[:1]), 0) * dout,)


def test_a_derivative_of_its_own_need_not_be_symmetric():
    net, x = OwnDerivative(), x_of(6)
    same(ms.hessian(net, sparse=True)(x), ms.hessian(net)(x))


def test_matrices_can_be_used_and_the_next_ones_are_new():
    f = ms.hessian(lambda x: (x**4).sum() + ((x[1:] - x[:-1]) ** 2).sum(), sparse=True)
    x = x_of(8)
    first = f(x)
    kept = first.toarray()
    b = np.arange(8.0)
    assert_close(kept @ spsolve(first.tocsc(), b), b, kind="ill-conditioned")
    assert_close(kept @ splu(first.tocsc()).solve(b), b, kind="ill-conditioned")
    assert_close((first @ first).toarray(), kept @ kept, kind="ill-conditioned")
    assert_close((first + 2.0 * first.T).toarray(), kept + 2 * kept.T, kind="ill-conditioned")
    assert_close(first[2:4].toarray(), kept[2:4], kind="ill-conditioned")
    f(x_of(8, seed=9))
    np.testing.assert_array_equal(first.toarray(), kept)
    own = first.copy()
    own.data[:] = 0
    assert not own.toarray().any()
    with pytest.raises(ValueError, match="read-only"):
        first.indices[0] = 3


# --- what is refused, and what is said -----------------------------------------------------------------


def test_a_dense_function_says_so_once(mode):
    f = ms.jacobian(lambda x: x / x.sum(), sparse=True)
    x = x_of(8)
    with pytest.warns(
        UserWarning, match="sparse=True has no effect: the 8 x 8 matrix is computed like a dense matrix"
    ):
        found = f(x)
    same(found, ms.jacrev(lambda x: x / x.sum())(x))
    f(x)  # warnings are errors here


def test_a_dense_matrix_that_is_too_large():
    with pytest.raises(ValueError, match="200000 rows and 200000 columns"):
        ms.hessian(lambda x: x.sum() ** 2, sparse=True)(x_of(200_000))


def test_refused():
    x = x_of(4)
    with pytest.raises(
        ValueError, match=r"must return one number, but it returns Tensors of shapes \[\(4,\)\]"
    ):
        ms.hessian(lambda x: x * x, sparse=True)(x)
    with (
        pytest.raises(TypeError, match="floating-point dtype, but got a Tensor of dtype Int32"),
        pytest.warns(UserWarning, match="fractions are truncated"),
    ):
        ms.jacobian(lambda x: x * 2.0, sparse=True)(Tensor([1, 2], ms.int32))
    with pytest.raises(
        RuntimeError, match="cannot be created inside a compiled function or another derivative"
    ):
        ms.grad(lambda x: ms.jacobian(lambda x: x * x, sparse=True)(x).sum())(x)
    with pytest.raises(TypeError, match="'sparse' should be bool"):
        ms.jacobian(lambda x: x, sparse=1)
    with pytest.raises(TypeError, match="'sparse' should be bool"):
        ms.hessian(lambda x: x, sparse="yes")


def test_dense_takes_the_mode_with_fewer_directions(mode):
    x = x_of(3)
    for f in (lambda x: ops.sin(x).sum(), lambda x: ops.concat((x, x * x), 0)):
        assert_close(ms.jacobian(f)(x), ms.jacrev(f)(x), kind="ill-conditioned")


def test_scipy_is_not_imported_before_it_is_needed():
    program = (
        "import sys, mindgrad as ms\nf = ms.jacobian(lambda x: x * x, sparse=True)\n"
        "assert 'scipy' not in sys.modules\nf(ms.Tensor([1.0]))\nassert 'scipy.sparse' in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# --- colorings -------------------------------------------------------------------------------------


@st.composite
def patterns(draw, square=False):
    rows = draw(st.integers(1, 12))
    width = rows if square else draw(st.integers(1, 12))
    density = draw(st.sampled_from([0.1, 0.3, 0.6]))
    made = np.random.default_rng(draw(st.integers(0, 10_000))).random((rows, width)) < density
    return made | made.T if square else made


@settings(max_examples=150, deadline=None, derandomize=True)
@given(patterns())
def test_columns_of_one_color_share_no_row(pattern):
    colors, count = columns(sparse.csr_array(pattern), (pattern.shape[1],))
    assert colors.shape == (pattern.shape[1],)
    assert count >= pattern.sum(1).max()
    for row in pattern:
        own = colors[row]
        assert len(set(own)) == len(own)
        assert all(0 <= c < count for c in own)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(patterns(square=True))
def test_a_star_coloring_shows_every_entry(pattern):
    colors, count = star(sparse.csr_array(pattern))
    assert (colors < count).all()
    for i, j in np.argwhere(pattern):
        alone = [(colors[pattern[a]] == colors[b]).sum() == 1 for a, b in ((i, j), (j, i))]
        assert any(alone), f"the entry ({i}, {j}) cannot be read"


def test_colors_are_few_where_a_pattern_repeats():
    n = 12
    grid = np.arange(n * n).reshape(n, n)
    rows = np.tile(grid.ravel(), 5)
    across = np.concatenate(
        [np.roll(grid, k, axis).ravel() for k, axis in ((0, 0), (1, 0), (-1, 0), (1, 1), (-1, 1))]
    )
    stencil = sparse.csr_array((np.ones(len(rows), bool), (rows, across)))
    colors, count = columns(stencil, (n, n))
    assert count <= 6
    assert all(
        len(set(colors[stencil.indices[a:b]])) == 5
        for a, b in zip(stencil.indptr, stencil.indptr[1:], strict=False)
    )
    chain = sparse.diags_array(
        [np.ones(29), np.ones(30), np.ones(29)], offsets=[-1, 0, 1], dtype=bool
    ).tocsr()
    assert columns(chain, (30,))[1] == 3
    assert star(chain)[1] == 3
    arrow = np.eye(30, dtype=bool)
    arrow[0] = arrow[:, 0] = True
    assert star(sparse.csr_array(arrow))[1] == 2
    assert columns(sparse.csr_array(arrow), (30,))[1] == 30
