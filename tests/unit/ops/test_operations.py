"""Operators as classes: attributes, inputs, results; assignment, stop_gradient; HyperMap."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.frontend.programs.compiled import Compiled
from mindgrad.ops import composite as C
from mindgrad.ops import functional as F
from mindgrad.ops import operations as P
from mindgrad.ops.operations import Operation
from tests.tolerances import assert_close

CLASSES = {
    name: value for name, value in vars(P).items() if inspect.isclass(value) and issubclass(value, Operation)
}
del CLASSES["Operation"]

# what the guide, and the programs that people have, ask for
NEEDED = [
    "Abs", "ACos", "Acosh", "Add", "AddN", "ApproximateEqual", "ArgMaxWithValue", "ArgMinWithValue",
    "Argmax", "Argmin", "Asin", "Asinh", "Assign", "AssignAdd", "AssignSub", "Atan", "Atan2", "Atanh",
    "BatchMatMul", "BiasAdd", "BroadcastTo", "Cast", "Ceil", "Cholesky", "Concat", "Conv2D", "Cos",
    "Cosh", "CumProd", "CumSum", "Depend", "Diag", "Div", "DivNoNan", "DType", "Elu", "Equal", "Erf",
    "Erfc", "Erfinv", "Exp", "ExpandDims", "Expm1", "Eye", "Fill", "Flatten", "Floor", "FloorDiv",
    "FloorMod", "Gather", "GatherD", "GatherNd", "GatherV2", "GeLU", "Greater", "GreaterEqual",
    "HSigmoid", "HSwish", "HookBackward", "Identity", "Imag", "InsertGradientOf", "Inv", "IsFinite",
    "IsInf", "IsNan", "L2Loss", "L2Normalize", "Less", "LessEqual", "LinSpace", "Log", "Log1p",
    "LogSoftmax", "LogicalAnd", "LogicalNot", "LogicalOr", "MaskedFill", "MatMul", "MatrixDeterminant",
    "MatrixInverse", "Maximum", "Minimum", "Mish", "Mod", "Mul", "Neg", "NotEqual", "OneHot", "Ones",
    "OnesLike", "Pack", "Pad", "Pow", "PReLU", "Range", "Rank", "ReLU", "ReLU6", "Real", "RealDiv",
    "Reciprocal", "ReduceAll", "ReduceAny", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSum", "Reshape", "ReverseV2", "Rint", "Round", "Rsqrt", "ScatterNd", "SeLU", "Select",
    "Shape", "Sigmoid", "Sign", "Sin", "Sinh", "Size", "Slice", "Softmax", "Softplus", "Softsign",
    "Sort", "Split", "Sqrt", "Square", "SquaredDifference", "Squeeze", "Stack", "StopGradient",
    "StridedSlice", "Sub", "Svd", "Tan", "Tanh", "TensorAdd", "TensorScatterAdd", "TensorScatterUpdate",
    "Tile", "TopK", "Transpose", "TruncateDiv", "TruncateMod", "Unpack", "Unstack", "Xdivy", "Xlogy",
    "Zeros", "ZerosLike",
]  # fmt: skip

X = np.array([[1.0, -2.0, 3.0], [0.5, 5.0, -1.0]])


def value(result):
    if isinstance(result, (tuple, list)):
        return [value(each) for each in result]
    return result.asnumpy() if isinstance(result, Tensor) else result


def test_every_class_that_programs_need_is_there():
    assert [name for name in NEEDED if not hasattr(ops, name)] == []
    assert [name for name in NEEDED if not hasattr(P, name)] == []


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_class_says_what_it_is_and_can_be_copied(name):
    made = CLASSES[name]
    assert made.__doc__.count(">>>") >= 2
    assert list(inspect.signature(made).parameters) == list(made.attributes)
    given = [
        True if "bool" in each.words else 1 if "int" in each.words or "float" in each.words else "i->i"
        for each in made.attributes.values()
        if each.default is inspect.Parameter.empty
    ]
    if name == "Pad":
        given = [((1, 1),)]
    operation = made(*given)
    assert repr(operation).startswith(f"Prim[{name}]")
    for other in (copy.deepcopy(operation), pickle.loads(pickle.dumps(operation))):
        assert type(other) is made
        assert vars(other) == vars(operation)


def test_attributes_are_kept_checked_and_shown():
    operation = ops.ReduceSum(True)
    assert operation.keep_dims is True
    assert operation.skip_mode is False
    assert repr(operation) == "Prim[ReduceSum]<keep_dims=True, skip_mode=False>"
    assert repr(ops.Sin()) == "Prim[Sin]"
    assert ops.MatMul(transpose_b=True).transpose_b is True
    assert ops.Squeeze([0, 1]).axis == (0, 1)
    assert ops.Argmax(output_type=ms.int64).output_type is ms.int64
    assert str(inspect.signature(ops.MatMul)) == "(transpose_a=False, transpose_b=False)"


MISTAKES = [
    (lambda: ops.ReduceSum(keep_dims=1),
     r"'ReduceSum', the 'keep_dims' must be a bool, but got 1 of type int"),
    (lambda: ops.MatMul("yes"), r"'MatMul', the 'transpose_a' must be a bool"),
    (lambda: ops.Concat(axis=1.5), r"'Concat', the 'axis' must be an int, but got 1.5"),
    (lambda: ops.Concat(axis=True), r"'Concat', the 'axis' must be an int"),
    (lambda: ops.Squeeze(axis=("a",)), r"'Squeeze', the 'axis' must be an int, or a tuple or list of ints"),
    (lambda: ops.Elu(alpha="1"), r"'Elu', the 'alpha' must be a float"),
    (lambda: ops.BiasAdd(data_format=1), r"'BiasAdd', the 'data_format' must be a string"),
    (lambda: ops.Argmax(output_type="float3"), r"'Argmax', the 'output_type' must be a dtype"),
    (lambda: ops.Pad(1), r"'Pad', the 'paddings' must be a tuple of pairs of ints"),
    (lambda: ops.Sin(1.0), r"'Sin', the class has 0 attributes, but got values for 1.*ops.Sin\(\)\(x\)"),
    (lambda: ops.ReduceSum(axis=1),
     r"'ReduceSum', there is no attribute 'axis'. The attributes are: keep_dims, skip_mode"),
    (lambda: ops.ReduceSum(True, keep_dims=True), r"'ReduceSum', the attribute 'keep_dims' is given twice"),
    (lambda: ops.LpNorm(), r"'LpNorm', the attribute 'axis' must be given"),
    (lambda: ops.Sin()(), r"'Sin', the number of inputs must be 1, but got 0"),
    (lambda: ops.MatMul()(Tensor(X)), r"'MatMul', the number of inputs must be 2, but got 1"),
    (lambda: ops.ReduceSum()(Tensor(X), 0, 1),
     r"'ReduceSum', the number of inputs must be 1 to 2, but got 3"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), MISTAKES)
def test_mistakes_in_attributes_and_inputs(call, words):
    with pytest.raises(TypeError, match=words):
        call()


# --- what they compute -------------------------------------------------------------------------------

T = Tensor(X)
CASES = {
    "ReduceSum keeping": (lambda x: P.ReduceSum(True)(x, 1), X.sum(1, keepdims=True)),
    "ReduceSum of all": (lambda x: P.ReduceSum()(x), X.sum()),
    "ReduceSum of no axes": (lambda x: P.ReduceSum(skip_mode=True)(x, ()), X),
    "ReduceMean": (lambda x: P.ReduceMean()(x, (0, 1)), X.mean()),
    "ReduceMax": (lambda x: P.ReduceMax()(x, 0), X.max(0)),
    "ReduceMin": (lambda x: P.ReduceMin(keep_dims=True)(x, -1), X.min(-1, keepdims=True)),
    "ReduceProd": (lambda x: P.ReduceProd()(x, 1), X.prod(1)),
    "ReduceAll": (lambda x: P.ReduceAll()(x, 1), (X != 0).all(1)),
    "ReduceStd": (lambda x: P.ReduceStd(1, False)(x), [X.std(1), X.mean(1)]),
    "LpNorm": (lambda x: P.LpNorm(1, 1)(x), np.abs(X).sum(1)),
    "Argmax": (lambda x: P.Argmax(0)(x), X.argmax(0)),
    "Argmin": (lambda x: P.Argmin(1, ms.int64)(x), X.argmin(1)),
    "ArgMaxWithValue": (lambda x: P.ArgMaxWithValue(1, True)(x), [X.argmax(1)[:, None], X.max(1)[:, None]]),
    "ArgMinWithValue": (lambda x: P.ArgMinWithValue()(x), [X.argmin(0), X.min(0)]),
    "MatMul": (lambda x: P.MatMul(transpose_b=True)(x, x), X @ X.T),
    "MatMul of both": (lambda x: P.MatMul(True, False)(x, x), X.T @ X),
    "BatchMatMul": (lambda x: P.BatchMatMul(False, True)(P.Stack()((x, x)), x), np.stack([X @ X.T] * 2)),
    "Einsum": (lambda x: P.Einsum("ij->j")((x,)), X.sum(0)),
    "Concat": (lambda x: P.Concat(1)((x, x)), np.concatenate([X, X], 1)),
    "Stack": (lambda x: P.Stack(-1)([x, x]), np.stack([X, X], -1)),
    "Pack": (lambda x: P.Pack()([x, x]), np.stack([X, X])),
    "Unstack": (lambda x: P.Unstack(1)(x), [*X.T]),
    "Unpack": (lambda x: P.Unpack(num=2)(x), [*X]),
    "Split": (lambda x: P.Split(1, 3)(x), np.split(X, 3, 1)),
    "Cast": (lambda x: P.Cast()(x, ms.int32), X.astype(np.int32)),
    "Reshape": (lambda x: P.Reshape()(x, (3, -1)), X.reshape(3, 2)),
    "Transpose": (lambda x: P.Transpose()(x, (1, 0)), X.T),
    "ExpandDims": (lambda x: P.ExpandDims()(x, -1), X[..., None]),
    "Squeeze": (lambda x: P.Squeeze()(P.ExpandDims()(x, 1)), X),
    "Squeeze of one": (lambda x: P.Squeeze(2)(P.ExpandDims()(P.ExpandDims()(x, 1), 0)), X[None]),
    "Tile": (lambda x: P.Tile()(x, (2, 1)), np.tile(X, (2, 1))),
    "BroadcastTo": (lambda x: P.BroadcastTo((2, 2, 3))(x), np.broadcast_to(X, (2, 2, 3))),
    "Softmax": (lambda x: P.Softmax(0)(x), np.exp(X) / np.exp(X).sum(0)),
    "LogSoftmax": (lambda x: P.LogSoftmax()(x), X - np.log(np.exp(X).sum(1, keepdims=True))),
    "GeLU": (lambda x: P.GeLU()(x), 0.5 * X * (1 + np.tanh(np.sqrt(2 / np.pi) * (X + 0.044715 * X**3)))),
    "Softplus": (lambda x: P.Softplus()(x), np.logaddexp(X, 0)),
    "Elu": (lambda x: P.Elu(0.5)(x), np.where(X > 0, X, 0.5 * np.expm1(X))),
    "Gather": (lambda x: P.Gather()(x, Tensor([2, 0]), 1), X[:, [2, 0]]),
    "GatherD": (lambda x: P.GatherD()(x, 1, Tensor([[2], [0]])), np.array([[3.0], [0.5]])),
    "GatherNd": (lambda x: P.GatherNd()(x, Tensor([[0, 1], [1, 2]])), np.array([-2.0, -1.0])),
    "OneHot": (lambda x: P.OneHot()(Tensor([1, 0]), 3, Tensor(2.0), Tensor(0.0)), 2 * np.eye(3)[[1, 0]]),
    "OneHot in front": (lambda x: P.OneHot(0)(Tensor([1]), 3, Tensor(1.0), Tensor(0.0)), np.eye(3)[[1]].T),
    "Select": (lambda x: P.Select()(x > 0, x, P.ZerosLike()(x)), np.where(X > 0, X, 0)),
    "OnesLike": (lambda x: P.OnesLike()(x), np.ones_like(X)),
    "Fill": (lambda x: P.Fill()(ms.float64, (2,), 3), np.full(2, 3.0)),
    "Eye": (lambda x: P.Eye()(2, 3, ms.float64), np.eye(2, 3)),
    "TopK": (lambda x: P.TopK()(x, 2), [np.array([[3.0, 1.0], [5.0, 0.5]]), np.array([[2, 0], [1, 0]])]),
    "Sort": (lambda x: P.Sort(1, True)(x), [-np.sort(-X, 1), np.argsort(-X, 1)]),
    "CumSum": (lambda x: P.CumSum(False, True)(x, 1), np.cumsum(X[:, ::-1], 1)[:, ::-1]),
    "CumProd": (lambda x: P.CumProd()(x, 0), np.cumprod(X, 0)),
    "Slice": (lambda x: P.Slice()(x, (0, 1), (2, 2)), X[0:2, 1:3]),
    "StridedSlice": (lambda x: P.StridedSlice(end_mask=1)(x, (0, 0), (1, 3), (1, 2)), X[:, ::2]),
    "ReverseV2": (lambda x: P.ReverseV2((0, 1))(x), X[::-1, ::-1]),
    "Roll": (lambda x: P.Roll(1, 1)(x), np.roll(X, 1, 1)),
    "Pad": (lambda x: P.Pad(((1, 0), (0, 2)))(x), np.pad(X, ((1, 0), (0, 2)))),
    "Tril": (lambda x: P.Tril(1)(x), np.tril(X, 1)),
    "L2Loss": (lambda x: P.L2Loss()(x), (X**2).sum() / 2),
    "L2Normalize": (lambda x: P.L2Normalize(1)(x), X / np.sqrt((X**2).sum(1, keepdims=True))),
    "SquareSumAll": (lambda x: P.SquareSumAll()(x, x), [(X**2).sum()] * 2),
    "EqualCount": (lambda x: P.EqualCount()(x, x), 6),
    "ApproximateEqual": (lambda x: P.ApproximateEqual(0.5)(x, x + 0.4), np.ones((2, 3), bool)),
    "Meshgrid": (lambda x: P.Meshgrid()((x[0], x[1])), np.meshgrid(X[0], X[1])),
    "Mod": (lambda x: P.Mod()(x, 2.0), np.fmod(X, 2)),
    "FloorMod": (lambda x: P.FloorMod()(x, 2.0), np.mod(X, 2)),
    "Conv2D": (
        lambda x: P.Conv2D(1, (1, 2), pad_mode="pad", pad=(0, 0, 1, 0))(x[None, None], x[:1, None, None, :2]),
        (np.pad(X, ((0, 0), (1, 0)))[:, :3] * 1.0 + X * -2.0)[None, None],
    ),
    "MatrixSolve": (lambda x: P.MatrixSolve()(P.Eye()(2, 2, ms.float64) * 2, x), X / 2),
    "Svd": (lambda x: P.Svd(compute_uv=False)(x), np.linalg.svd(X, compute_uv=False)),
}  # fmt: skip


def agree(found, wanted, name=""):
    if isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted), name
        for one, other in zip(found, wanted, strict=True):
            agree(one, other, name)
        return
    assert np.shape(found) == np.shape(wanted), name
    assert_close(found, wanted, "contraction", scale=1, what=name)


@pytest.mark.parametrize("name", CASES)
def test_results(name):
    call, wanted = CASES[name]
    agree(value(call(T)), wanted)


def test_both_executors_agree():
    compiled = Compiled(lambda x: [call(x) for call, _ in CASES.values()])(T)
    for name, found in zip(CASES, compiled, strict=True):
        agree(value(found), CASES[name][1], name)


def test_questions_about_a_tensor_are_answered_while_compiling():
    def ask(x):
        return P.Shape()(x), P.Size()(x), P.Rank()(x), P.DType()(x), F.shape(x), F.dtype(x)

    assert Compiled(ask)(T) == ((2, 3), 6, 2, ms.float64, (2, 3), ms.float64)


WRONG = [
    (lambda x: P.Split(1, 2)(x), ValueError, r"'Split'.*must divide the size 3.*but got 2"),
    (lambda x: P.Unstack(0, 3)(x), ValueError, r"'Unstack'.*'num' must be 2"),
    (lambda x: P.Pad(((1, 1),))(x), ValueError, r"'Pad'.*a pair of ints for each axis"),
    (lambda x: P.MatMul()(x, x), ValueError, r"'MatMul'.*equal sizes"),
    (lambda x: P.ReduceSum()(x, 2), ValueError, r"'ReduceSum'.*in range \[-2, 2\)"),
    (lambda x: P.Softmax(2)(x), ValueError, r"'Softmax'.*in range \[-2, 2\)"),
    (lambda x: P.Assign()(3, x), TypeError, r"'Assign'.*must be a Parameter or Tensor, but got int"),
    (lambda x: P.AssignAdd()(3, x), TypeError, r"'AssignAdd'.*must be a Parameter"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), WRONG)
def test_mistakes_are_errors_in_both_modes(call, kind, words):
    with pytest.raises(kind, match=words):
        call(T)
    with pytest.raises(kind, match=words):
        Compiled(call)(T)


# --- assignment --------------------------------------------------------------------------------------


class Counter(nn.Cell):
    """Adds to its Parameter and gives the square of what it is then."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([1.0]), name="w")
        self.add = P.AssignAdd()

    def construct(self, x):
        self.add(self.w, x * 2)
        return self.w * self.w


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_assignment_changes_the_parameter_and_lets_derivatives_through(mode):
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        net = Counter()
        assert net(Tensor([3.0])).item() == 49.0
        assert net.w.value().item() == 7.0
        slope = ops.grad(net)(Tensor([1.0]))  # d (7 + 2 x)² / dx = 4 (7 + 2 x)
        assert slope.item() == 36.0
        assert net.w.value().item() == 9.0
    finally:
        ms.set_context(mode=before)


def test_assigned_values():
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    assert ops.assign(w, Tensor(np.array([3.0, 4.0]))).dtype is ms.float32
    assert w.value().asnumpy().tolist() == [3.0, 4.0]
    assert ops.assign_add(w, 1).asnumpy().tolist() == [4.0, 5.0]
    assert P.AssignSub()(w, Tensor([1.0, 1.0])).asnumpy().tolist() == [3.0, 4.0]
    source = Tensor([5.0, 6.0])
    P.Assign()(w, source)
    source[0] = 0.0
    assert w.value().asnumpy().tolist() == [5.0, 6.0]
    other = Parameter(Tensor([7.0, 8.0]), name="v")
    ops.assign(w, other)
    ops.assign_add(other, 1.0)
    assert w.value().asnumpy().tolist() == [7.0, 8.0]
    with pytest.raises(
        ValueError, match=r"'Assign'.*shape \(2,\) of the Parameter 'w', but its shape is \(3,\)"
    ):
        ops.assign(w, Tensor([1.0, 2.0, 3.0]))


# --- stop_gradient, identity, depend -----------------------------------------------------------------


def test_stop_gradient_of_everything():
    x = Tensor([3.0])
    for stop in (ops.stop_gradient, P.StopGradient(), F.stop_gradient):
        assert ops.grad(lambda x, stop=stop: x * stop(x))(x).item() == 3.0
        assert ops.grad(ops.grad(lambda x, stop=stop: x * x * stop(x)))(x).item() == 6.0
    stopped = ops.stop_gradient((x, [x, 2.5], {"a": x}, None))
    assert isinstance(stopped, tuple)
    assert (stopped[1][1], stopped[3]) == (2.5, None)
    assert stopped[2]["a"].item() == 3.0
    assert ops.grad(lambda x: x * ops.stop_gradient((x, x))[1])(x).item() == 3.0
    assert ops.stop_gradient(1.5) == 1.5
    w = Parameter(Tensor([2.0]), name="w")
    assert (
        ops.GradOperation(get_by_list=True)(lambda x: x * ops.stop_gradient(w), ms.ParameterTuple([w]))(x)[
            0
        ].item()
        == 0.0
    )
    assert Compiled(lambda x: ops.grad(lambda x: x * ops.stop_gradient(x))(x))(x).item() == 3.0


def test_identity_and_depend():
    x = Tensor([3.0])
    assert ops.identity(x) is x
    assert P.Identity()(x).item() == 3.0
    assert ops.depend(x, Tensor([1.0])) is x
    assert P.Depend()((x, 1), x) == (x, 1)
    w = Parameter(Tensor([1.0]), name="w")
    assert ops.depend(x, P.Assign()(w, x)).item() == w.value().item() == 3.0


# --- functional and composite ------------------------------------------------------------------------


def test_the_names_of_release_1():
    x, y = Tensor([5.0]), Tensor([3.0])
    assert F.tensor_add(x, y).item() == 8.0
    assert F.tensor_sub(x, y).item() == 2.0
    assert F.tensor_mul(x, y).item() == 15.0
    assert_close(F.tensor_div(x, y), 5 / 3)
    assert F.tensor_mod(-x, y).item() == 1.0
    assert F.tensor_floordiv(-x, y).item() == -2.0
    assert F.tensor_pow(x, 2).item() == 25.0
    assert F.tensor_lt(x, y).item() is False
    assert F.tensor_ge(x, y).item() is True
    assert F.pack((x, y)).shape == (2, 1)
    assert F.scalar_to_array(2.0).item() == 2.0
    assert F.partial(F.tensor_add, x)(y).item() == 8.0
    assert C.clip_by_value(x, 0.0, 1.0).item() == 1.0
    assert C.GradOperation is ops.GradOperation
    assert C.matmul is ops.matmul


def test_hyper_map():
    x, y = Tensor([1.0]), Tensor([2.0])
    scale = C.MultitypeFuncGraph("scale")

    @scale.register("Number", "Tensor")
    def _tensor(factor, x):
        return factor * x

    @scale.register("Number", "Number")
    def _number(factor, x):
        return factor * x * 100

    found = C.HyperMap()(F.partial(scale, 3.0), (x, [y, 2]))
    assert (found[0].item(), found[1][0].item(), found[1][1]) == (3.0, 6.0, 600.0)
    assert isinstance(found[1], list)
    assert [each.item() for each in C.HyperMap(ops.add)((x, y), (y, y))] == [3.0, 4.0]
    assert C.Map()(lambda pair: sum(pair), ((1, 2), (3, 4))) == (3, 7)
    seen = []
    C.HyperMap(reverse=True)(seen.append, (1, 2, 3))
    assert seen == [3, 2, 1]
    gradients = ops.GradOperation(get_all=True)(lambda x, y: x * y)(x, y)
    assert [each.item() for each in C.HyperMap()(F.partial(scale, 2), gradients)] == [4.0, 2.0]
    with pytest.raises(TypeError, match=r"'scale'|scale.*no function was registered.*\(str, Tensor\)"):
        scale("a", x)
    with pytest.raises(ValueError, match="the same length"):
        C.HyperMap()(ops.add, (x, y), (x,))
    with pytest.raises(TypeError, match="the same structure"):
        C.HyperMap()(ops.add, (x, y), x)
    with pytest.raises(ValueError, match="'Matrix'"):
        scale.register("Matrix")
