"""Results whose value, structure or element type are those of MindSpore 2.10, checked against it."""

import numpy as np
import pytest

import mindgrad as ms
import mindgrad.numpy as mnp
from mindgrad import Tensor, mint, ops
from tests.tolerances import assert_close

X = Tensor([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]])
SMALL = Tensor([[100, -1, 90], [60, 3, -7]], ms.int8)
UNSIGNED = Tensor([[200, 1], [60, 255]], ms.uint8)
TRUE = Tensor([[True, False], [True, True]])

both_modes = pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])


def described(result):
    """Structure, element types and values of a result."""
    if isinstance(result, (tuple, list)):
        return type(result)(described(each) for each in result)
    return (str(result.dtype), result.asnumpy().tolist())


# --- axes -----------------------------------------------------------------------------------------------


@both_modes
def test_two_ints_exchange_two_axes(run):
    x = ops.arange(24).reshape(2, 3, 4)
    array = x.asnumpy()
    for method, expected in [
        (lambda x: x.transpose(0, 2), array.swapaxes(0, 2)),
        (lambda x: x.transpose(-1, -2), array.swapaxes(1, 2)),
        (lambda x: x.transpose(dim0=1, dim1=0), array.swapaxes(0, 1)),
        (lambda x: x.transpose(2, 0, 1), array.transpose(2, 0, 1)),
        (lambda x: x.transpose((2, 0, 1)), array.transpose(2, 0, 1)),
        (lambda x: x[0].transpose(0, 1), array[0].T),
        (lambda x: x[0].transpose((0, 1)), array[0]),
        (lambda x: x[0].transpose(1, 0), array[0].T),
        (lambda x: x.transpose(), array.T),
    ]:
        np.testing.assert_array_equal(run(method)(x).asnumpy(), expected)


@both_modes
def test_extremes_along_dim_are_pairs(run):
    pair = (("Float32", [4.0, 5.0, 6.0]), ("Int64", [1, 0, 1]))
    column = (("Float32", [[1.0], [2.0]]), ("Int64", [[0], [1]]))
    for method, expected in [
        (lambda x: x.max(0), pair),
        (lambda x: x.max(dim=0), pair),
        (lambda x: x.max(0, False), pair),
        (lambda x: x.max(axis=0, return_indices=True), pair),
        (lambda x: x.max(axis=0), pair[0]),
        (lambda x: x.max((0,)), pair[0]),
        (lambda x: x.max(), ("Float32", 6.0)),
        (lambda x: x.min(1, True), column),
        (lambda x: x.min(dim=1, keepdim=True), column),
        (lambda x: x.min(1, keepdims=True), column[0]),
        (lambda x: x.min(axis=1, keepdims=True), column[0]),
        (lambda x: ops.aminmax(x), (("Float32", [1.0, 2.0, 3.0]), pair[0])),
        (lambda x: ops.aminmax(x, axis=None), (("Float32", 1.0), ("Float32", 6.0))),
    ]:
        assert described(run(method)(X)) == expected
    assert described(Tensor(1.5).max(0)) == (("Float32", 1.5), ("Int64", 0))
    assert described(ops.aminmax(Tensor(1.5))) == (("Float32", 1.5), ("Float32", 1.5))
    values = ms.grad(lambda x: x.max(0)[0].sum())(X)
    np.testing.assert_array_equal(values.asnumpy(), [[0, 1, 0], [1, 0, 1]])


# --- element types --------------------------------------------------------------------------------------

INDICES = {
    "Int64": [
        lambda x: ops.max(x)[1], lambda x: ops.max(x, 0)[1], lambda x: ops.min(x, 1)[1], ops.argmax,
        lambda x: ops.median(x)[1], lambda x: ops.nanmedian(x)[1], lambda x: ops.cummax(x, 0)[1],
        lambda x: ops.ArgMaxWithValue()(x)[0], lambda x: x.argmin_with_value(1)[1], ops.nonzero, ops.argwhere,
        lambda x: mint.max(x, 0)[1], lambda x: mint.argmin(x, 1), lambda x: mint.sort(x)[1], mint.argsort,
        lambda x: mint.topk(x, 1)[1], lambda x: mint.median(x, 1)[1], lambda x: mint.cummin(x, 0)[1],
    ],
    "Int32": [
        ops.argmin, ops.Argmax(), lambda x: ops.cummin(x, 0)[1], lambda x: ops.sort(x)[1], ops.argsort,
        lambda x: ops.topk(x, 1)[1],
    ],
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "function"), [(k, f) for k, fs in INDICES.items() for f in fs])
def test_types_of_indices(dtype, function):
    assert str(function(X).dtype) == dtype


@both_modes
def test_sums_of_integers_do_not_wrap(run):
    for function, x, expected in [
        (ops.sum, SMALL, ("Int64", 245)),
        (lambda x: x.sum(0), SMALL, ("Int64", [160, 2, 83])),
        (lambda x: x.sum(initial=3), SMALL, ("Int64", 248)),
        (mint.sum, UNSIGNED, ("Int64", 516)),
        (mnp.sum, SMALL, ("Int64", 245)),
        (mnp.sum, TRUE, ("Int64", 3)),
        (ops.nansum, SMALL, ("Int64", 245)),
        (ops.vecdot, SMALL, None),
        (lambda x: x[:, :2].trace(), SMALL, ("Int64", 103)),
        (lambda x: mnp.trace(x + x), UNSIGNED, ("Int64", 398)),
        (lambda x: x.sum_to_size(1, 3), SMALL, ("Int64", [[160, 2, 83]])),
        (ops.sum, Tensor([2**30] * 3, ms.int32), ("Int64", 3 * 2**30)),
        (ops.sum, Tensor([65535] * 2, ms.uint16), ("Int64", 131070)),
        (ops.sum, Tensor([2**63], ms.uint64), ("UInt64", 2**63)),
        (ops.prod, SMALL, ("Int64", 11340000)),
        (lambda x: x.prod(0), SMALL, ("Int64", [6000, -3, -630])),
        (lambda x: mint.prod(x, 0), TRUE, ("Int64", [1, 0])),
        (lambda x: ops.cumprod(x, 0), SMALL, ("Int64", [[100, -1, 90], [6000, -3, -630]])),
        (lambda x: ops.cumprod(x, 0), TRUE, ("Int64", [[1, 0], [1, 0]])),
        (lambda x: x.cumsum(0), SMALL, ("Int32", [[100, -1, 90], [160, 2, 83]])),
        (lambda x: x.cumsum(0), TRUE, ("Int32", [[1, 0], [2, 1]])),
        (lambda x: mint.cumsum(x, 0), SMALL, ("Int64", [[100, -1, 90], [160, 2, 83]])),
        (lambda x: mnp.cumsum(x, 0), SMALL, ("Int32", [[100, -1, 90], [160, 2, 83]])),
        (lambda x: mnp.cumprod(x, 0), SMALL, ("Int32", [[100, -1, 90], [6000, -3, -630]])),
        (mnp.cumprod, TRUE, ("Int32", [1, 0, 0, 0])),
        (lambda x: ops.sum(x, dtype=ms.int32), SMALL, ("Int32", 245)),
        (lambda x: x.sum(dtype=ms.int8), SMALL, ("Int8", -11)),
        # the primitives sum in the type they get, as there
        (ops.ReduceSum(), SMALL, ("Int8", -11)),
        (ops.ReduceProd(), SMALL, ("Int8", -32)),
        (lambda x: ops.cumsum(x, 0), SMALL, ("Int8", [[100, -1, 90], [-96, 2, 83]])),
    ]:
        if expected is None:
            assert described(run(lambda x, f=function: f(x, x))(x)) == ("Int64", [18101, 3658])
        else:
            assert described(run(function)(x)) == expected


def test_sums_in_int64_leave_derivatives_alone():
    def f(x):
        return (x * ops.sum(SMALL)).sum() + (x**2).sum()

    assert_close(ms.grad(f)(Tensor([1.0, 2.0])), [247.0, 249.0])


# --- structures and the rest ----------------------------------------------------------------------------


def test_structures():
    assert ops.allclose(X, X) is True
    assert X.allclose(X + 1) is False
    assert ms.jit(ops.allclose)(X, X).item() is True
    assert ops.stack(X).shape == (1, 2, 3)
    assert ops.stack(X, 1).shape == (2, 1, 3)
    assert isinstance(ops.atleast_1d([X, X]), tuple)
    assert isinstance(ops.clip_by_global_norm([X, X]), tuple)
    assert X.stride() == [3, 1]
    assert X.resize().shape == (2, 3)
    assert mnp.stack(X).shape == (2, 3)


def test_integers_in_elementwise_functions():
    x = Tensor([[5, -1, 9]], ms.int32)
    assert described(ops.threshold(x, 0.5, 3)) == ("Int32", [[5, 3, 9]])
    assert described(ops.hardtanh(x)) == ("Int32", [[1, -1, 1]])
    assert described(ops.hardtanh(x, 0.0, 2.5)) == ("Float32", [[2.5, 0.0, 2.5]])
    assert str(ops.clip_by_norm(x, 2).dtype) == "Float32"
    assert str(ops.nanmean(X, dtype=ms.float16).dtype) == "Float16"
    assert str(ops.nanmedian(x)[0].dtype) == "Int32"


def test_default_axis_of_softmax():
    functional = mint.nn.functional
    for shape, axis in [((3,), 0), ((2, 3), 1), ((2, 3, 4), 0), ((1, 2, 3, 2), 1)]:
        x = ops.arange(int(np.prod(shape))).reshape(shape) / 7.0
        assert_close(functional.softmax(x), ops.softmax(x, axis))
        assert_close(functional.log_softmax(x), ops.log_softmax(x, axis))


@both_modes
def test_take_clips_from_both_ends(run):
    x = Tensor([3, 1, 2, 7], ms.int32)
    taken = run(lambda x, index: x.take(index))(x, Tensor([-1, -4, -5, 0, 7]))
    assert described(taken) == ("Int32", [7, 3, 3, 3, 7])
    assert described(mnp.take(x, Tensor([-1]))) == ("Int32", [7])
    assert described(mnp.argwhere(x)[:1]) == ("Int64", [[0]])


def test_searchsorted_of_tensors_gives_int32():
    x = Tensor([1.0, 3.0, 5.0])
    assert described(x.searchsorted(Tensor([3.0, 5.5]))) == ("Int32", [1, 3])
    assert described(x.searchsorted(Tensor([3.0]), "right")) == ("Int32", [2])
    turned = Tensor([5.0, 1.0, 3.0]).searchsorted(Tensor([3.0]), sorter=Tensor([1, 2, 0]))
    assert described(turned) == ("Int32", [1])
    assert described(ops.searchsorted(x, Tensor([3.0]))) == ("Int64", [1])


# --- names of arguments, what subclasses rely on --------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ops.exp(input=x), lambda x: ops.exp(x=x), lambda x: ops.relu(input=x),
        lambda x: ops.add(input=x, other=x), lambda x: ops.add(x=x, y=x), lambda x: ops.maximum(x, other=x),
        lambda x: ops.square(input=x), lambda x: ops.square(x=x), lambda x: ops.silu(input=x),
        lambda x: ops.floor(input=x), lambda x: ops.logsumexp(x, dim=1, keepdim=True),
        lambda x: ops.transpose(x, input_perm=(1, 0)), lambda x: ops.less(input=x, other=2.0),
    ],
)  # fmt: skip
def test_arguments_by_name(function):
    assert isinstance(function(X), Tensor)


def test_an_argument_is_given_once():
    with pytest.raises(TypeError, match="'Add', one argument is given twice, as 'input' and as 'x'"):
        ops.add(X, X, x=X)
    with pytest.raises(TypeError, match="'Exp', the input is missing"):
        ops.exp()


@pytest.mark.parametrize(
    ("by_name", "by_position"),
    [
        (lambda x: ops.ReduceSum(True)(x, axis=1), lambda x: ops.ReduceSum(True)(x, 1)),
        (lambda x: ops.ReduceSum()(input_x=x), lambda x: ops.ReduceSum()(x)),
        (lambda x: ops.Reshape()(x, input_shape=(6,)), lambda x: x.reshape(6)),
        (lambda x: ops.Gather()(x, axis=1, input_indices=Tensor([0])), lambda x: x[:, :1]),
        (lambda x: ops.Cast()(x, dtype=ms.int32), lambda x: x.astype(ms.int32)),
        (lambda x: ops.Transpose()(x, input_perm=(1, 0)), lambda x: x.T),
        (lambda x: ops.Tile()(x, multiples=(1, 2)), lambda x: ops.concat((x, x), 1)),
        (
            lambda x: ops.OneHot()(Tensor([1]), depth=3, on_value=Tensor(1.0), off_value=Tensor(0.0)),
            lambda x: Tensor([[0.0, 1.0, 0.0]]),
        ),
        (lambda x: ops.Tanh()(input=x), ops.tanh),
        (lambda x: ops.MatMul()(x, y=x.T), lambda x: x @ x.T),
    ],
)
def test_inputs_of_primitives_by_name(by_name, by_position):
    assert described(by_name(X)) == described(by_position(X))


def test_inputs_of_primitives_are_checked():
    with pytest.raises(TypeError, match=r"'ReduceSum', the input 'axes' is unknown.*x, axis"):
        ops.ReduceSum()(X, axes=1)
    with pytest.raises(TypeError, match="'Gather', the input 'indices' is missing"):
        ops.Gather()(X, axis=1)
    with pytest.raises(TypeError, match="'Cast', the input 'dtype' is given twice"):
        ops.Cast()(X, ms.int32, dtype=ms.int32)


def test_plain_attributes_before_the_constructor_of_cell():
    class Layer(ms.nn.SequentialCell):
        def __init__(self):
            self.sizes = [1, 2]
            super().__init__()
            self.dense = ms.nn.Dense(2, 1)

    layer = Layer()
    assert layer.sizes == [1, 2]
    assert [p.name for p in layer.get_parameters()] == ["dense.weight", "dense.bias"]

    class Early(ms.nn.Cell):
        def __init__(self):
            self.dense = ms.nn.Dense(2, 1)

    with pytest.raises(
        AttributeError, match=r"'Early', call super\(\).__init__\(\) in '__init__' before you assign 'dense'"
    ):
        Early()


def test_kinds_of_numbers_have_widths():
    scale = ops.MultitypeFuncGraph("scale")

    @scale.register("Float32", "Tensor")
    def _by_float(factor, x):
        return factor * x

    @scale.register("Int64", "Tensor")
    def _by_int(factor, x):
        return x

    assert (scale(2.0, Tensor(3.0)).item(), scale(2, Tensor(3.0)).item()) == (6.0, 3.0)


def test_layer_norm_holds_its_operator():
    layer = ms.nn.LayerNorm((3,))
    y, mean, _ = layer.layer_norm(X, layer.gamma, layer.beta)
    assert_close(y, layer(X))
    assert_close(mean, [[3.0], [4.0]])


# --- places outside of a tensor -------------------------------------------------------------------------

READ = [
    (lambda x, i: x[i], Tensor([1.0, 2.0]), np.isnan),
    (lambda x, i: ops.gather(x, i, 0), Tensor([1, 2], ms.int16), lambda y: y == -(2**15)),
    (lambda x, i: ops.gather_elements(x, 0, i), UNSIGNED[:, 0], lambda y: y == 255),
    (lambda x, i: mint.nn.functional.embedding(i, x), X, np.isnan),
    (lambda x, i: ops.cross_entropy(x[:1], i), X, np.isnan),
]
WRITTEN = [
    lambda x, i: ops.index_add(x, i, Tensor([9.0]), 0),
    lambda x, i: ops.tensor_scatter_update(x, i.reshape(1, 1), Tensor([9.0])),
    lambda x, i: ops.scatter(x, 0, i, Tensor([9.0])),
]


@pytest.mark.parametrize(("read", "x", "is_marked"), READ)
def test_reading_outside_raises_or_is_marked(read, x, is_marked):
    index = Tensor([7])
    for run in (read, ms.jit(lambda x, _: read(x, Tensor([7]))), ms.jit(lambda x, _: read(x, index))):
        with pytest.raises(IndexError, match="7"):
            run(x, index)
    assert is_marked(ms.jit(read)(x, index).asnumpy()).all()


@pytest.mark.parametrize("write", WRITTEN)
def test_writing_outside_raises_or_does_nothing(write):
    x, index = Tensor([1.0, 2.0]), Tensor([7])
    for run in (write, ms.jit(lambda x, _: write(x, Tensor([7])))):
        with pytest.raises((IndexError, ValueError), match="7"):
            run(x, index)
    np.testing.assert_array_equal(ms.jit(write)(x, index).asnumpy(), [1.0, 2.0])
    gradient = ms.jit(ms.grad(lambda x, i: (write(x, i) ** 2).sum()))(x, index)
    np.testing.assert_array_equal(gradient.asnumpy(), [2.0, 4.0])


def test_layers_of_functions_with_second_names_take_their_inputs():
    logits, labels = Tensor([[0.0, 0.0]]), Tensor([[1.0, 0.0]])
    loss = mint.nn.BCEWithLogitsLoss()(logits, labels)
    assert_close(loss, np.log(2.0))
    with pytest.raises(TypeError, match="BCEWithLogitsLoss"):
        mint.nn.BCEWithLogitsLoss()(logits)
