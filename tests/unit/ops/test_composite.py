"""``ops.composite``: functions of functions and of nested tensors, in both modes; what operators are."""

import subprocess
import sys

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops
from mindgrad._base.missing import explain_all
from mindgrad.ops import composite as C
from mindgrad.ops import functional as F
from mindgrad.ops import operations as P
from tests.tolerances import assert_close

MODES = pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])


@pytest.fixture(autouse=True)
def restore_mode():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


clip = C.MultitypeFuncGraph("clip_gradient")


@clip.register("Number", "Number", "Tensor")
def clip_tensor(kind, bound, gradient):
    """The gradient clipping of MindSpore's own training programs."""
    if kind not in (0, 1):
        return gradient
    if kind == 0:
        low = F.cast(F.tuple_to_array((-bound,)), F.dtype(gradient))
        return C.clip_by_value(gradient, low, F.cast(F.tuple_to_array((bound,)), F.dtype(gradient)))
    return gradient / F.scalar_mul(2, bound)


combine = C.MultitypeFuncGraph("combine", True)


@combine.register("Tensor", "Tensor")
def combine_tensors(x, y):
    if (x * y).sum() > 0:  # decided by a tensor
        return x * y
    return x - y


@combine.register("Tensor", "None")
def combine_none(x, y):
    return 3 * x


@combine.register("Tensor", "Bool")
def combine_bool(x, y):
    return x if y else -x


@combine.register("Tensor", "Tuple")
def combine_tuple(x, y):
    return x + y[0]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.hyper_map = C.HyperMap()
        self.map = C.Map(combine)
        self.partial = P.Partial()
        self.weight = Parameter(Tensor([1.0, 3.0]), name="weight")

    def construct(self, x, y):
        clipped = self.hyper_map(F.partial(clip, 0, 1.5), (x, y * 2, (x * 3,)))
        pairs = self.map((x, y, x), (y, None, (y, x)))
        flags = self.hyper_map(self.partial(combine, self.weight), (y, None, (True, False)))
        zipped = C.zip_operation((x, y), (y, x))
        return (
            clipped[0] + clipped[1] + clipped[2][0] + pairs[0] + pairs[1] + pairs[2]
            + flags[0] + flags[1] + flags[2][0] + flags[2][1] + zipped[0][1] * zipped[1][1]
        )  # fmt: skip


def by_hand(x, y, w):
    clipped = np.clip(x, -1.5, 1.5) + np.clip(2 * y, -1.5, 1.5) + np.clip(3 * x, -1.5, 1.5)
    pairs = np.where((x * y).sum() > 0, x * y, x - y) + 3 * y + (x + y)
    flags = np.where((w * y).sum() > 0, w * y, w - y) + 3 * w + w - w
    return clipped + pairs + flags + y * x


@MODES
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_net_of_maps(mode, sign):
    ms.set_context(mode=mode)
    net = Net()
    x, y, w = np.array([1.0, 0.25]), sign * np.array([0.5, 2.0]), np.array([1.0, 3.0])
    tensors = [Tensor(a, ms.float32) for a in (x, y)]
    assert_close(net(*tensors), by_hand(x, y, w))
    gradient = ops.GradOperation(get_all=True, get_by_list=True)
    (dx, dy), (dw,) = gradient(net, ParameterTuple(net.trainable_params()))(*tensors)
    for actual, place in ((dx, 0), (dy, 1), (dw, 2)):
        numbers = [x, y, w]
        for k in range(2):
            moved = [[each.copy() for each in numbers] for _ in range(2)]
            moved[0][place][k] += 1e-5
            moved[1][place][k] -= 1e-5
            slope = (by_hand(*moved[0]).sum() - by_hand(*moved[1]).sum()) / 2e-5
            assert_close(actual.asnumpy()[k], slope, kind="program")


def test_maps_keep_structures():
    double = C.HyperMap(lambda x: 2 * x)
    assert double((1, [2, (3,)], {"a": 4})) == (2, [4, (6,)], {"a": 8})
    assert double(5) == 10
    order = []
    assert C.HyperMap(lambda x: order.append(x) or x, reverse=True)((1, (2, 3))) == (1, (2, 3))
    assert order == [3, 2, 1]
    assert C.Map()(lambda x, y: (x, y), ((1,), 2), ((3,), 4)) == (((1,), (3,)), (2, 4))
    assert C.HyperMap()(lambda x, y: x + y, {"a": 1, "b": (2,)}, {"b": (3,), "a": 4}) == {"a": 5, "b": (5,)}


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: combine(1, 2), TypeError, r"registered for arguments of types \(int, int\)"),
        (lambda: C.HyperMap()(combine, (1, 2), (1,)), ValueError, "the same length, but got 2 and 1"),
        (lambda: C.HyperMap()(combine, (1, 2), 1), TypeError, "tuple where another is a int"),
        (lambda: C.HyperMap()(combine, {"a": 1}, {"b": 1}), ValueError, "the same keys"),
        (lambda: C.HyperMap()(combine, {"a": 1}, (1,)), TypeError, "dict where another is a tuple"),
        (lambda: C.HyperMap(3), TypeError, "'ops' must be a function or None"),
        (lambda: combine.register("Tensr"), ValueError, "unknown argument kind 'Tensr'. Use one of Tensor"),
        (lambda: C.zip_operation((1,), 2), TypeError, "must be tuples or lists, but got int"),
    ],
)
def test_mistakes_are_named(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


# --- operators as objects ---------------------------------------------------------------------------


def test_operators_are_primitives_and_take_what_chooses_a_device():
    op = P.MatMul(transpose_b=True).add_prim_attr("primitive_target", "CPU").set_device("CPU").shard(((1,),))
    assert isinstance(op, P.Primitive)
    assert op.recompute().set_stage(0).name == "MatMul"
    np.testing.assert_array_equal(op(Tensor([[1.0, 2.0]]), Tensor([[3.0, 4.0]])).asnumpy(), [[11.0]])


@pytest.mark.parametrize("base", [ops.Primitive, ops.PrimitiveWithInfer, ops.PrimitiveWithCheck, ops.MatMul])
def test_operators_cannot_be_derived(base):
    with pytest.raises(TypeError, match=r"class .*Mine cannot become an operator .* a Cell with 'construct'"):
        type("Mine", (base,), {"__module__": __name__})
    with pytest.raises(TypeError, match=r"Primitive\('Add'\) cannot become an operator"):
        ops.Primitive("Add")
    with pytest.raises(TypeError, match=r"with the constructor .*__init__ cannot become an operator"):

        class Other:
            @ops.prim_attr_register
            def __init__(self):
                pass


@MODES
def test_printing(mode, capsys):
    ms.set_context(mode=mode)

    @ms.jit
    def f(x):
        ops.print_("x is", x, 3)
        P.Print()(x * 2)
        return x

    (f if mode == ms.GRAPH_MODE else f.__wrapped__)(Tensor([1.0])).asnumpy()
    shown = "x is\nTensor(shape=[1], dtype=Float32, value= [ {:.8e}])\n3\n"
    second = "Tensor(shape=[1], dtype=Float32, value= [ {:.8e}])\n"
    assert capsys.readouterr().out == (shown + second).format(1.0, 2.0)


def test_questions():
    x = Tensor([[1.0, 2.0]])
    assert ops.is_tensor(x)
    assert not ops.is_tensor([1.0])
    assert ops.numel(x) == 2
    assert [ops.is_nonzero(Tensor(v)) for v in ([0.0], [2], True)] == [False, True, True]
    with pytest.raises(ValueError, match="one element"):
        ops.is_nonzero(x)
    assert ops.same_type_shape(x, x) is x
    with pytest.raises(ValueError, match="shapes must be the same"):
        ops.same_type_shape(x, Tensor([1.0]))
    with pytest.raises(TypeError, match="dtypes must be the same"):
        ops.SameTypeShape()(x, Tensor([[1, 2]]))
    assert ops.ScalarCast()(3.7, ms.int32) == 3
    assert ops.scalar_cast(1, ms.float32) == 1.0
    assert F.mixed_precision_cast(ms.float16, [x, 1])[0].dtype is ms.float16


# --- names that are missing -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        (ops, "MatMull", "module 'mindgrad.ops' has no attribute 'MatMull': mindgrad has no such name; nearest: 'MatMul'"),
        (ms, "Tensr", "module 'mindgrad' has no attribute 'Tensr': mindgrad has no such name; nearest: 'Tensor'"),
        (ms, "MatMul", "has no attribute 'MatMul': write mindgrad.ops.MatMul"),
        (nn, "Jpv", "module 'mindgrad.nn' has no attribute 'Jpv': mindgrad has no such name; nearest: 'Jvp'"),
        (C, "HyperMop", "module 'mindgrad.ops.composite' .* nearest: 'HyperMap'"),
    ],
)  # fmt: skip
def test_a_missing_name_is_answered_with_the_nearest(module, name, said):
    explain_all()  # pytest has imported some modules a second time
    with pytest.raises(AttributeError, match=said):
        getattr(module, name)
    assert not hasattr(module, name)


def test_missing_names_are_explained_from_the_import_on():
    program = "import mindgrad\nmindgrad.ops.operations.MatMull"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "module 'mindgrad.ops.operations' has no attribute 'MatMull': mindgrad has no" in done.stderr


def test_kinds_of_arguments_tell_sparse_tensors_from_dense_ones():
    scale = ops.MultitypeFuncGraph("scale")
    scale.register("Number", "Tensor")(lambda factor, x: "dense")
    scale.register("Number", "RowTensor")(lambda factor, x: "rows")
    scale.register("Number", "COOTensor")(lambda factor, x: "coordinates")
    rows = ms.RowTensor(Tensor([0]), Tensor([[1.0, 2.0]]), (3, 2))
    coordinates = ms.COOTensor(Tensor([[0, 1]]), Tensor([1.0]), (3, 2))
    assert [scale(2.0, x) for x in (Tensor([1.0]), rows, coordinates)] == ["dense", "rows", "coordinates"]
