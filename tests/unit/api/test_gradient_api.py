"""The gradient API: arguments, structures of results and what is differentiated, in both modes."""

import collections
import copy
import functools
import gc
import pickle
import queue
import warnings
import weakref

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops
from mindgrad.frontend.programs.compiled import Compiled
from tests.tolerances import assert_close

pytestmark = pytest.mark.usefixtures("mode")


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


def t(*values, dtype=ms.float32):
    return Tensor(np.array(values), dtype)


X, Y = t(1.0, 2.0), t(3.0, -4.0)
ONE = [1.0, 1.0]


def product(x, y):
    """d/dx = y, d/dy = x"""
    return x * y


def pair(x, y):
    return x * y, x + 2 * y


class Net(nn.Cell):
    """w x y + b, with a frozen Parameter f and one, u, that is not used."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(t(2.0, 3.0), name="w")
        self.b = Parameter(t(5.0, 7.0), name="b")
        self.f = Parameter(t(11.0, 13.0), name="f", requires_grad=False)
        self.u = Parameter(t(1.0, 1.0, 1.0), name="u")

    def construct(self, x, y):
        return self.w * x * y + self.b + self.f * x


def same(found, wanted):
    """Compare structure exactly and numbers closely; ``wanted`` has lists of numbers as tensors."""
    if isinstance(found, Tensor):
        array = found.asnumpy()
        assert_close(array, np.asarray(wanted, array.dtype), "contraction", each=True, scale=0.1)
    elif isinstance(found, dict):
        assert type(wanted) is dict
        assert list(found) == list(wanted)
        for key in found:
            same(found[key], wanted[key])
    elif isinstance(found, (tuple, list)):
        assert type(found) is type(wanted)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    else:
        assert type(found) is type(wanted)
        assert found == wanted


# numbers of Net at X, Y: dx = w y + f, dy = w x, dw = x y, db = 1
DX, DY, DW, DB = [17.0, 1.0], [2.0, 6.0], [3.0, -8.0], [1.0, 1.0]
S = t(10.0, -1.0)


def scaled(numbers):
    return [10.0 * numbers[0], -1.0 * numbers[1]]


# --- GradOperation --------------------------------------------------------------------------------


@pytest.mark.parametrize("sens_param", [False, True])
@pytest.mark.parametrize(
    ("get_all", "get_by_list", "wanted"),
    [
        (False, False, DX),
        (True, False, (DX, DY)),
        (False, True, (DW, DB)),
        (True, True, ((DX, DY), (DW, DB))),
    ],
)
def test_flags_give_their_structures(get_all, get_by_list, sens_param, wanted):
    net = Net()
    op = ops.GradOperation(get_all=get_all, get_by_list=get_by_list, sens_param=sens_param)
    function = op(net, ParameterTuple([net.w, net.b]))  # ignored without get_by_list
    if not sens_param:
        return same(function(X, Y), wanted)

    def scale(tree):
        return tuple(map(scale, tree)) if isinstance(tree, tuple) else scaled(tree)

    same(function(X, Y, S), scale(wanted))
    return same(function(X, Y, sens=S), scale(wanted))


def test_one_input_and_one_weight_keep_their_tuples():
    net = Net()
    op = ops.GradOperation(get_all=True, get_by_list=True)
    square = lambda x: x * x * net.w
    same(op(square, ParameterTuple([net.w]))(X), (([4.0, 12.0],), ([1.0, 4.0],)))
    same(ops.GradOperation(get_all=True)(square)(X), ([4.0, 12.0],))


def test_weights_in_all_their_forms():
    net, other = Net(), Parameter(t(1.0), name="other")
    op = ops.GradOperation(get_by_list=True)
    same(op(net, [net.b, net.w])(X, Y), (DB, DW))  # the order given
    same(op(net, (net.w, net.w))(X, Y), (DW, DW))
    same(op(net, net.w)(X, Y), DW)
    same(op(net, ParameterTuple([]))(X, Y), ())
    same(op(net, ParameterTuple([net.u, other]))(X, Y), ([0.0, 0.0, 0.0], [0.0]))
    same(op(net, ParameterTuple([net.f]))(X, Y), (X.asnumpy().tolist(),))  # frozen: the real gradient
    same(op(net, ParameterTuple(net.trainable_params()))(X, Y), (DW, DB, [0.0, 0.0, 0.0]))
    everything = ops.GradOperation(get_all=True, get_by_list=True)
    same(everything(net, ParameterTuple([]))(X, Y), ((DX, DY), ()))


def test_grad_operation_of_a_frozen_parameter_returns_its_real_gradient():
    frozen = Parameter(Tensor([2.0]), name="frozen", requires_grad=False)
    f = lambda x, y: x * y * y
    first, second = ops.GradOperation(get_all=True)(f)(frozen, Tensor([3.0]))
    assert (first.item(), second.item()) == (9.0, 12.0)
    assert ops.GradOperation(get_by_list=True)(lambda x: frozen * x, [frozen])(Tensor([3.0]))[0].item() == 3.0
    with pytest.raises(AttributeError, match=r"no attribute 'requires_grad'\. In mindgrad: ms"):
        Tensor([1.0]).requires_grad = False  # a Tensor is not marked; the positions are named


def test_several_outputs_are_summed_or_scaled_one_by_one():
    same(ops.GradOperation(get_all=True)(pair)(X, Y), ([4.0, -3.0], [3.0, 4.0]))
    op = ops.GradOperation(get_all=True, sens_param=True)
    same(op(pair)(X, Y, (t(1.0, 0.0), t(0.0, 10.0))), ([3.0, 10.0], [1.0, 20.0]))
    same(op(pair)(X, Y, [t(1.0, 0.0), t(0.0, 10.0)]), ([3.0, 10.0], [1.0, 20.0]))


def test_nested_outputs_take_nested_sens():
    nested = lambda x: (x * x, [x, {"a": 3 * x}], None, 4)
    sens = (t(1.0, 1.0), [t(10.0, 10.0), {"a": t(100.0, 100.0)}], None, None)
    same(ops.GradOperation()(nested)(X), [6.0, 8.0])
    same(ops.GradOperation(sens_param=True)(nested)(X, sens), [312.0, 314.0])
    keys = {"b": t(1.0, 0.0), "a": t(0.0, 1.0)}
    same(ops.GradOperation(sens_param=True)(lambda x: {"a": x, "b": x * x})(X, keys), [2.0, 1.0])


def test_no_inputs():
    net = Net()
    total = lambda: net.w * net.b
    same(ops.GradOperation()(total)(), ())
    same(ops.GradOperation(get_all=True)(total)(), ())
    same(ops.GradOperation(get_by_list=True)(total, ParameterTuple([net.w]))(), ([5.0, 7.0],))


def test_an_operation_serves_many_functions_shapes_and_dtypes():
    op = ops.GradOperation()
    for _ in range(2):
        same(op(product)(X, Y), [3.0, -4.0])
        same(op(lambda x: x * x)(t(3.0)), [6.0])
        same(op(product)(t(2.0), t(5.0)), [5.0])
        found = op(product)(t(2.0, dtype=ms.float64), t(5.0, dtype=ms.float64))
        assert found.dtype is ms.float64
    assert repr(op) == "GradOperation(get_all=False, get_by_list=False, sens_param=False)"


# --- what is differentiated -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.float64])
def test_the_gradient_has_the_dtype_of_its_input(dtype):
    a, b = t(2.0, dtype=dtype), t(3.0, dtype=ms.float32)
    da, db = ms.grad(product, (0, 1))(a, b)
    assert (da.dtype, db.dtype) == (dtype, ms.float32)
    same((da, db), ([3.0], [2.0]))


def test_integers_are_differentiated_in_their_own_dtype_with_a_warning():
    a, b = t(3, dtype=ms.int32), t(5, dtype=ms.int32)
    with pytest.warns(UserWarning, match="Int32") as seen:
        found = ops.GradOperation(get_all=True)(product)(a, b)
    assert [g.dtype for g in found] == [ms.int32, ms.int32]
    same(found, ([5], [3]))
    assert [w.filename for w in seen] == [__file__]


def test_the_warning_of_integers_comes_once_per_line():
    a = t(3, dtype=ms.int32)
    function = ms.grad(lambda x: x * x)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")  # what Python does unless told otherwise
        for _ in range(3):
            function(a)
        function(a)
    here = seen[0].lineno
    wanted = [here] if ms.get_context("mode") == ms.GRAPH_MODE else [here, here + 1]
    assert [w.lineno for w in seen] == wanted


def test_truth_values_have_gradient_false():
    choose = lambda m, x: x * m
    dm, dx = ms.grad(choose, (0, 1))(Tensor([True, False]), X)
    assert dm.dtype is ms.bool_
    same((dm, dx), ([False, False], [1.0, 0.0]))


def test_what_is_no_tensor_is_a_constant_of_grad_operation():
    op = ops.GradOperation(get_all=True)
    f = lambda x, k, y=None: x * k if y is None else x * y * k
    same(op(f)(X, 5.0), ([5.0, 5.0],))
    same(op(f)(X, 2, Y), ([6.0, -8.0], [2.0, 4.0]))
    same(op(f)(X, True, None), (ONE,))
    same(op(lambda x, s: x * x)(X, "text"), ([2.0, 4.0],))
    with pytest.warns(UserWarning, match=r"empty tuple \(\).*got float"):
        same(op(lambda k: X * k)(3.0), ())
    with pytest.warns(UserWarning, match=r"empty tuple \(\).*got float"):
        same(ops.GradOperation()(lambda k, x: x * k)(3.0, X), ())  # the first input is a constant
    containers = lambda c, x: c[0] * x
    same(op(containers)((X, Y), Y), ([1.0, 2.0],))
    same(op(containers)([X, Y], Y), ([1.0, 2.0],))
    same(op(lambda c, x: c["a"] * x)({"a": X}, Y), ([1.0, 2.0],))


Point = collections.namedtuple("Point", "a b")


def test_mutable_containers_have_gradients_of_their_structure():
    same(ms.grad(lambda p: p[0] * p[1])(ms.mutable((X, Y))), ([3.0, -4.0], [1.0, 2.0]))
    same(ms.grad(lambda p: p[0] * p[1])(ms.mutable([X, Y])), [[3.0, -4.0], [1.0, 2.0]])
    nested = ms.mutable({"a": X, "b": (Y, [X])})
    same(
        ms.grad(lambda d: d["a"] * d["b"][0] * d["b"][1][0])(nested),
        {"a": [3.0, -8.0], "b": ([1.0, 4.0], [[3.0, -8.0]])},
    )
    everything = ops.GradOperation(get_all=True)(lambda x, p: x * p[1])
    same(everything(X, ms.mutable((X, Y))), ([3.0, -4.0], ([0.0, 0.0], [1.0, 2.0])))
    point = ms.grad(lambda p: p.a * p.b)(ms.mutable(Point(X, Y)))
    assert type(point) is Point
    same(tuple(point), ([3.0, -4.0], [1.0, 2.0]))


def test_mutable_numbers_have_gradients():
    square = lambda a: a * a
    assert ms.grad(square)(ms.mutable(3.0)) == 6.0
    assert type(ms.grad(square)(ms.mutable(3.0))) is float
    value, (da, dx) = ms.value_and_grad(lambda a, x: a * a * x, (0, 1))(ms.mutable(3.0), X)
    same(value, [9.0, 18.0])
    assert da == 18.0
    same(dx, [9.0, 9.0])
    same(ms.grad(lambda p: p[0] * p[1])(ms.mutable((2.0, X))), (3.0, [2.0, 2.0]))
    with pytest.warns(UserWarning, match="Int64"):
        assert ms.grad(square)(ms.mutable(3)) == 6
    # inside another derivative they are tensors
    assert ms.grad(ms.grad(lambda a: a * a * a))(ms.mutable(2.0)) == 12.0
    assert ms.mutable(True) is True
    assert ms.mutable(X) is X


def test_mutable_numbers_are_data_of_a_compiled_program(mode):
    function = ms.grad(lambda a: a * a)
    assert [function(ms.mutable(float(k))) for k in range(4)] == [0.0, 2.0, 4.0, 6.0]
    if mode == ms.GRAPH_MODE:
        assert programs(function) == 1


def test_parameters_as_inputs():
    p = Parameter(t(2.0, 3.0), name="p")
    same(ops.GradOperation(get_all=True)(product)(p, Y), ([3.0, -4.0], [2.0, 3.0]))
    same(ms.grad(ms.grad(lambda x: x * x * x))(p), [12.0, 18.0])
    # what comes in is an input; the Parameter that the function reads by itself is not
    same(ms.grad(lambda x: x * p)(p), [2.0, 3.0])
    same(ms.grad(lambda x: x * p, 0, [p])(p), ([2.0, 3.0], ([2.0, 3.0],)))
    # nor is what is given as an argument that is not differentiated
    same(ms.grad(lambda x, q: x * q * p, None, p)(X, p), [2.0, 6.0])
    # a gradient inside a gradient: the Parameter of the outer one is the input of the inner one
    same(ms.grad(lambda: ms.grad(lambda x: x * x * x)(p), None, p)(), [12.0, 18.0])


def test_one_tensor_given_twice_has_two_gradients():
    x = t(3.0)
    same(ms.grad(lambda a, b: a * a * b, (0, 1))(x, x), ([18.0], [9.0]))
    same(ms.vjp(lambda a, b: a * a * b, (x, x), t(1.0))[1], ([18.0], [9.0]))


@pytest.mark.filterwarnings("ignore::mindgrad.ZeroGradientWarning")  # of the comparison
def test_what_has_no_path_is_zero_and_never_none():
    same(ms.grad(lambda x, y: x * x, (0, 1))(X, Y), ([2.0, 4.0], [0.0, 0.0]))
    same(ms.grad(lambda x: Y * 2)(X), [0.0, 0.0])
    same(ms.grad(lambda x: ops.greater(x, 1))(X), [0.0, 0.0])
    same(ms.grad(lambda x: 3.0)(X), [0.0, 0.0])
    same(ms.grad(lambda x: (x * x, 5, None))(X), [2.0, 4.0])
    same(ms.value_and_grad(lambda x: 3.0)(X), (3.0, [0.0, 0.0]))


def test_a_function_that_returns_nothing_is_refused():
    with pytest.raises(TypeError, match=r"must return a tensor or number, but .* returned None"):
        ms.grad(lambda x: None)(X)
    with pytest.raises(TypeError, match=r"must return a tensor or number, but .* returned no values"):
        ms.grad(lambda x: (None, [None]))(X)


def test_outputs_that_are_the_input_a_constant_or_a_weight():
    net = Net()
    same(ms.value_and_grad(lambda x: x)(X), ([1.0, 2.0], ONE))
    same(ms.value_and_grad(lambda x: Y)(X), ([3.0, -4.0], [0.0, 0.0]))
    same(ms.value_and_grad(lambda x: net.w, 0, net.w)(X), ([2.0, 3.0], ([0.0, 0.0], ONE)))
    same(ms.value_and_grad(lambda x: (x, x))(X), (([1.0, 2.0], [1.0, 2.0]), [2.0, 2.0]))


def test_scalars_empty_tensors_and_arguments_of_every_kind():
    assert ms.grad(lambda x: x * x)(Tensor(3.0)).shape == ()
    assert ms.grad(lambda x: x * x)(Tensor(np.zeros((0, 3), np.float32))).shape == (0, 3)
    same(ops.GradOperation(get_all=True)(lambda *xs: xs[0] * xs[1])(X, Y), ([3.0, -4.0], [1.0, 2.0]))
    default = lambda x, k=2.0, *, shift=1.0: x * x * k + shift
    same(ms.grad(default)(X), [4.0, 8.0])
    same(ms.grad(lambda x: x)(t(float("nan"), float("inf"))), ONE)
    same(ms.grad(lambda x: x * x)(t(float("inf"))), [float("inf")])


def test_overflow_is_infinite_and_no_crash():
    cube = lambda x: x * x * x
    huge = t(60000.0, dtype=ms.float16)
    for function in (ms.grad(cube), ops.GradOperation()(ms.grad(cube)), lambda x: ms.jvp(cube, x, x)[1]):
        found = function(huge)
        assert found.dtype is ms.float16
        assert np.isinf(found.asnumpy()).all()
    same(ms.grad(cube)(t(1e30, dtype=ms.bfloat16)), [np.inf])
    same(ms.grad(cube)(t(-1e30)), [np.inf])


def test_keyword_arguments():
    f = lambda x, y, k=1.0, *, scale=1.0: x * y * k * scale
    same(ms.grad(f, 1)(X, y=Y), [1.0, 2.0])
    same(ms.grad(f, (0, 1))(y=Y, x=X), ([3.0, -4.0], [1.0, 2.0]))
    same(ms.grad(f, 2)(X, Y, k=t(1.0, 1.0)), [3.0, -8.0])
    same(ops.GradOperation(get_all=True)(f)(X, y=Y, scale=2.0), ([6.0, -8.0], [2.0, 4.0]))
    same(ops.GradOperation(get_all=True)(f)(X, y=Y, scale=t(2.0, 2.0)), ([6.0, -8.0], [2.0, 4.0]))
    same(ops.GradOperation(sens_param=True)(f)(X, y=Y, sens=S), [30.0, 4.0])
    net = Net()
    same(ms.grad(net, 1)(X, y=Y), DY)
    skipped = lambda x, y=2.0, z=3.0: x * z * y
    same(ms.grad(skipped, (0, 2))(X, z=Y), ([6.0, -8.0], [2.0, 4.0]))


# --- what can be differentiated -------------------------------------------------------------------


class Holder:
    factor = 3.0

    def method(self, x):
        return x * x * self.factor

    @ms.jit
    def compiled(self, x):
        return x * x * self.factor

    def __call__(self, x):
        return x * x * self.factor


class Powers(nn.Cell):
    def construct(self, x):
        return self.cube(x)

    def cube(self, x):
        return x * x * x


@ms.jit
def jitted(x):
    return x * x * 3.0


def decorated(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        return fn(*args, **kwargs)

    return wrapper


@pytest.mark.parametrize(
    ("fn", "wanted"),
    [
        (Holder().method, [6.0, 12.0]),
        (Holder().compiled, [6.0, 12.0]),
        (Holder(), [6.0, 12.0]),
        (jitted, [6.0, 12.0]),
        (lambda x: x * x * 3.0, [6.0, 12.0]),
        (functools.partial(lambda k, x: x * x * k, 3.0), [6.0, 12.0]),
        (functools.partial(lambda x, k: x * x * k, k=3.0), [6.0, 12.0]),
        (decorated(lambda x: x * x * 3.0), [6.0, 12.0]),
        (Powers(), [3.0, 12.0]),
        (Powers().cube, [3.0, 12.0]),
        (ops.exp, [np.e, np.e**2]),
        (Tensor.exp, [np.e, np.e**2]),
        (ms.grad(lambda x: x * x * x), [6.0, 12.0]),
    ],
    ids=[
        "method", "jit method", "callable", "jit", "lambda", "partial", "partial key", "decorated",
        "cell", "cell method", "operator", "tensor method", "gradient function",
    ],
)  # fmt: skip
def test_every_callable(fn, wanted):
    same(ms.grad(fn)(X), wanted)
    same(ops.GradOperation(get_all=True)(fn)(X), (wanted,))
    same(ms.vjp(fn, X, v=t(1.0, 1.0))[1], wanted)
    same(ms.jvp(fn, X, t(1.0, 1.0))[1], wanted)


def test_a_method_of_a_cell():
    net = Powers()
    same(ms.grad(net.cube)(X), [3.0, 12.0])
    same(ms.grad(ms.grad(net.cube))(X), [6.0, 12.0])


def test_gradients_inside_jit_and_jit_inside_gradients():
    @ms.jit
    def slope(x):
        return ops.GradOperation()(lambda z: z * z * z)(x)

    same(slope(X), [3.0, 12.0])
    same(ms.grad(slope)(X), [6.0, 12.0])
    same(ms.grad(ms.grad(jitted))(X), [6.0, 6.0])


def test_a_gradient_of_a_jit_function_is_compiled_in_both_modes():
    runs = queue.Queue()

    @ms.jit
    def f(x):
        runs.put(1)  # guards do not compare queues: once, while tracing
        return x * x

    function = ms.grad(f)
    for _ in range(3):
        same(function(X), [2.0, 4.0])
    assert runs.qsize() == 1


# --- programs are kept ----------------------------------------------------------------------------


def programs(function):
    """How many programs the gradient function holds."""
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    own = [each for c in held if isinstance(c, Compiled) for each in c._programs.values()]
    inner = [c for c in held if getattr(c, "__name__", "") == "with_numbers"]
    return sum(map(len, own)) + sum(map(programs, inner))


def test_asking_again_gives_the_same_gradient_function():
    net, holder = Net(), Holder()
    weights = ParameterTuple([net.w])
    op = ops.GradOperation(get_by_list=True)
    assert ms.grad(net) is ms.grad(net)
    assert ms.grad(net) is not ms.grad(net, 1)
    assert ms.grad(net) is not ms.grad(Net())
    assert ms.grad(holder.method) is ms.grad(holder.method)
    assert ms.grad(holder.method) is not ms.grad(Holder().method)
    assert op(net, weights) is op(net, ParameterTuple([net.w]))
    assert op(net, weights) is not op(net, ParameterTuple([net.b]))
    assert op(net, weights) is ops.GradOperation(get_by_list=True)(net, [net.w])
    assert op(net, net.w) is not op(net, [net.w])  # bare and in a tuple
    assert ms.grad(ms.grad(net)) is ms.grad(ms.grad(net))


def test_a_loop_compiles_once():
    traced = queue.Queue()

    def f(x, y):
        traced.put(1)  # guards do not compare queues: once, while tracing
        return x * y

    for k in range(4):
        for _ in range(3):
            ms.grad(f)(X, Y)
            ops.GradOperation(get_all=True)(f)(X, Y)
            ms.value_and_grad(f, (0, 1))(X, Y)
            ms.jvp(f, (X, Y), (Y, X))
            ms.vjp(f, (X, Y), S)
            ms.vjp(f, X, Y)
            ms.jacfwd(f)(X, Y)
        if k == 0:
            first = traced.qsize()
    if ms.get_context("mode") == ms.GRAPH_MODE:
        assert (first, traced.qsize()) == (7, 7)
    else:
        assert traced.qsize() == 4 * 3 * 7


def test_gradient_functions_live_as_long_as_what_they_differentiate():
    net = Net()
    ms.grad(net, 0, [net.w])(X, Y)
    seen = weakref.ref(net)
    del net
    gc.collect()
    assert seen() is None

    def f(x):
        return x * x

    ms.grad(ms.grad(f))(X)
    seen = weakref.ref(f)
    del f
    gc.collect()
    assert seen() is None


def test_copies_and_decorators_do_not_share_gradient_functions():
    net = Net()
    same(ms.grad(net)(X, Y), DX)
    other = copy.deepcopy(net)
    other.w.set_data(t(0.0, 0.0))
    same(ms.grad(other)(X, Y), [11.0, 13.0])
    same(ms.grad(net)(X, Y), DX)
    assert ms.grad(copy.copy(net)) is not ms.grad(net)
    loaded = pickle.loads(pickle.dumps(net))
    same(ms.grad(loaded)(X, Y), DX)

    def f(x):
        return x * x

    ms.grad(f)(X)

    @functools.wraps(f)
    def tripled(x):
        return 3 * f(x)

    same(ms.grad(tripled)(X), [6.0, 12.0])
    same(ms.grad(f)(X), [2.0, 4.0])


def test_changes_of_a_net_are_seen():
    class Scaled(nn.Cell):
        def __init__(self):
            super().__init__()
            self.factor = 2.0
            self.w = Parameter(t(1.0, 1.0), name="w")

        def construct(self, x):
            return x * x * self.factor * self.w

    net = Scaled()
    function = ms.grad(net, 0, net.w)
    same(function(X), ([4.0, 8.0], [2.0, 8.0]))
    net.factor = 3.0
    same(function(X), ([6.0, 12.0], [3.0, 12.0]))
    net.w.set_data(t(10.0, 10.0))
    same(function(X), ([60.0, 120.0], [3.0, 12.0]))


# --- grad and value_and_grad ----------------------------------------------------------------------


def test_positions():
    f = lambda x, y, z: x * y * z
    z = t(10.0, 100.0)
    same(ms.grad(f)(X, Y, z), [30.0, -400.0])
    same(ms.grad(f, 1)(X, Y, z), [10.0, 200.0])
    same(ms.grad(f, (1,))(X, Y, z), [10.0, 200.0])
    same(ms.grad(f, (2, 0))(X, Y, z), ([3.0, -8.0], [30.0, -400.0]))
    same(ops.grad(f, (0, 1))(X, Y, z), ([30.0, -400.0], [10.0, 200.0]))


def test_sens_of_grad_in_both_spellings():
    same(ops.grad(product, 0, True)(X, Y, S), [30.0, 4.0])  # r1.6: the third argument
    same(ops.grad(product, sens_param=True)(X, Y, S), [30.0, 4.0])
    same(ops.grad(product, (0, 1), True)(X, Y, S), ([30.0, 4.0], [10.0, -2.0]))
    same(ops.grad(pair, sens_param=True)(X, Y, (S, S)), [40.0, 3.0])
    same(ms.value_and_grad(product, sens_param=True)(X, Y, S), ([3.0, -8.0], [30.0, 4.0]))


def test_weights_of_grad():
    net = Net()
    same(ms.grad(net, 0, [net.w, net.b])(X, Y), (DX, (DW, DB)))
    same(ms.grad(net, (0, 1), ParameterTuple([net.w]))(X, Y), ((DX, DY), (DW,)))
    same(ms.grad(net, None, [net.w])(X, Y), (DW,))
    same(ms.grad(net, None, net.w)(X, Y), DW)
    same(ms.grad(net, None, [])(X, Y), ())
    same(ms.grad(net, 1, net.w)(X, Y), (DY, DW))
    same(ms.grad(net, 0, (net.u,))(X, Y), (DX, ([0.0, 0.0, 0.0],)))
    value = [22.0, 9.0]
    same(ms.value_and_grad(net, None, [net.w])(X, Y), (value, (DW,)))
    same(ms.value_and_grad(net)(X, Y), (value, DX))


def test_aux():
    f = lambda x, y: (x * y, x + y, 5.0 * y)
    same(ms.grad(f, has_aux=True)(X, Y), ([3.0, -4.0], ([4.0, -2.0], [15.0, -20.0])))
    same(
        ms.value_and_grad(f, (0, 1), has_aux=True)(X, Y),
        (([3.0, -8.0], [4.0, -2.0], [15.0, -20.0]), ([3.0, -4.0], [1.0, 2.0])),
    )
    two = lambda x, y: ((x, x * y), y)  # the first output is a tuple itself
    same(ms.grad(two, has_aux=True)(X, Y), ([4.0, -3.0], ([3.0, -4.0],)))
    same(ms.grad(f, has_aux=True, sens_param=True)(X, Y, S), ([30.0, 4.0], ([4.0, -2.0], [15.0, -20.0])))
    same(ms.grad(lambda x: (x * x, "text", None), has_aux=True)(X), ([2.0, 4.0], ("text", None)))


def test_identifiers():
    net = Net()
    same(ms.grad(net, 1, return_ids=True)(X, Y), (1, DY))
    found = ms.grad(net, (0, 1), [net.w], return_ids=True)(X, Y)
    same(found, (((0, DX), (1, DY)), (("w", DW),)))
    same(ms.get_grad(found, 0), DX)
    same(ms.get_grad(found, 1), DY)
    same(ms.get_grad(found, net.w), DW)
    single = ms.grad(net, 0, net.w, return_ids=True)(X, Y)
    same(single, ((0, DX), ("w", DW)))
    same(ms.get_grad(single, net.w), DW)
    same(ms.get_grad(ms.grad(net, 1, return_ids=True)(X, Y), 1), DY)
    _, found = ms.value_and_grad(net, (1,), return_ids=True)(X, Y)
    same(found, (1, DY))
    # a number has its position too
    by_k, by_y = ms.grad(lambda x, k, y: (x * k * y).sum(), (1, 2), return_ids=True)(X, 2.0, Y)
    assert by_k == (1, -5.0)
    same(by_y, (2, [2.0, 4.0]))


# --- jvp and linearize ----------------------------------------------------------------------------


def test_jvp():
    v, w = t(1.0, 10.0), t(100.0, 0.0)
    same(ms.jvp(lambda x: x * x, X, v), ([1.0, 4.0], [2.0, 40.0]))
    same(ms.jvp(lambda x: x * x, (X,), (v,)), ([1.0, 4.0], [2.0, 40.0]))
    same(ms.jvp(lambda x: x * x, (X,), v), ([1.0, 4.0], [2.0, 40.0]))
    same(ops.jvp(product, (X, Y), (v, w)), ([3.0, -8.0], [103.0, -40.0]))
    same(ops.jvp(product, [X, Y], [v, w]), ([3.0, -8.0], [103.0, -40.0]))
    same(ms.jvp(pair, (X, Y), (v, w)), (([3.0, -8.0], [7.0, -6.0]), ([103.0, -40.0], [201.0, 10.0])))
    keyed = lambda x: {"a": x * x, "b": 4}
    same(ms.jvp(keyed, X, v), ({"a": [1.0, 4.0], "b": 4}, {"a": [2.0, 40.0], "b": 0.0}))
    same(ms.jvp(lambda x: Y, X, v), ([3.0, -4.0], [0.0, 0.0]))
    same(ms.jvp(lambda p: p[0] * p[1], ms.mutable((X, Y)), (v, w))[1], [103.0, -40.0])


def test_jvp_with_aux():
    v = t(1.0, 10.0)
    same(ms.jvp(lambda x: (x * x, x), X, v, has_aux=True), ([1.0, 4.0], [2.0, 40.0], [1.0, 2.0]))
    same(
        ms.jvp(lambda x: (x * x, x, 3), X, v, has_aux=True),
        ([1.0, 4.0], [2.0, 40.0], ([1.0, 2.0], 3)),
    )


def test_linearize_runs_the_function_once():
    runs = queue.Queue()

    def f(x, y):
        runs.put(1)  # guards do not compare queues: once, while tracing
        return x * y, x * x

    out, push = ms.linearize(f, (X, Y))
    same(out, ([3.0, -8.0], [1.0, 4.0]))
    v, w = t(1.0, 10.0), t(100.0, 0.0)
    for _ in range(2):
        same(push((v, w)), ([103.0, -40.0], [2.0, 40.0]))
        same(push(v, w), ([103.0, -40.0], [2.0, 40.0]))
    assert runs.qsize() == 1
    same(ms.linearize(lambda x: x * x, X)[1](v), [2.0, 40.0])


# --- vjp ------------------------------------------------------------------------------------------


def test_vjp_of_the_guide():
    same(ops.vjp(lambda x: x * x, X, S), ([1.0, 4.0], [20.0, -4.0]))
    same(ops.vjp(product, (X, Y), S), ([3.0, -8.0], ([30.0, 4.0], [10.0, -2.0])))
    same(ops.vjp(product, [X, Y], S), ([3.0, -8.0], ([30.0, 4.0], [10.0, -2.0])))
    same(ops.vjp(lambda x: x * x, (X,), S), ([1.0, 4.0], [20.0, -4.0]))  # one input: bare
    same(ops.vjp(pair, (X, Y), (S, t(1.0, 1.0))), (([3.0, -8.0], [7.0, -6.0]), ([31.0, 5.0], [12.0, 0.0])))
    same(ops.vjp(lambda x: (x, x * x), X, (S, S)), (([1.0, 2.0], [1.0, 4.0]), [30.0, -5.0]))
    net = Net()
    same(ops.vjp(net, (X, Y), S)[1], (scaled(DX), scaled(DY)))


def test_vjp_that_gives_a_function():
    out, pull = ms.vjp(product, X, Y)
    same(out, [3.0, -8.0])
    for _ in range(2):  # any number of times
        same(pull(S), ([30.0, 4.0], [10.0, -2.0]))
        same(pull(t(1.0, 1.0)), ([3.0, -4.0], [1.0, 2.0]))
    out, pull = ms.vjp(lambda x: x * x, X)
    same(pull(S), ([20.0, -4.0],))  # always a tuple
    _, pull = ms.vjp(pair, X, Y)
    same(pull(S, t(1.0, 1.0)), ([31.0, 5.0], [12.0, 0.0]))
    same(pull((S, t(1.0, 1.0))), ([31.0, 5.0], [12.0, 0.0]))
    _, pull = ms.vjp(lambda p, y: p[0] * y, ms.mutable((X, Y)), Y)
    same(pull(S), (([30.0, 4.0], [0.0, 0.0]), [10.0, -2.0]))


def test_vjp_with_aux_and_weights():
    net = Net()
    out, pull = ms.vjp(net, X, Y, weights=[net.w, net.b])
    same(out, [22.0, 9.0])
    same(pull(S), ((scaled(DX), scaled(DY)), (scaled(DW), scaled(DB))))
    _, pull = ms.vjp(net, X, Y, weights=net.w)
    same(pull(S), ((scaled(DX), scaled(DY)), scaled(DW)))
    out, pull, aux = ms.vjp(pair, X, Y, has_aux=True)
    same((out, aux), ([3.0, -8.0], [7.0, -6.0]))  # one aux: bare
    same(pull(S), ([30.0, 4.0], [10.0, -2.0]))
    _, pull, aux = ms.vjp(lambda x: (x * x, x, 7), X, has_aux=True)
    same((pull(S), aux), (([20.0, -4.0],), ([1.0, 2.0], 7)))


def test_the_two_forms_of_vjp_are_told_apart():
    one, two = (lambda x: x * x), product
    at_once = ([1.0, 4.0], [6.0, -16.0])
    same(ms.vjp(one, X, Y), at_once)  # takes one argument: inputs and v
    same(ms.vjp(one, X, v=Y), at_once)
    same(ms.vjp(one, inputs=X, v=Y), at_once)
    same(ms.vjp(one, v=Y, inputs=(X,)), at_once)
    out, pull = ms.vjp(two, X, Y)  # takes two arguments: both are inputs
    same((out, pull(S)), ([3.0, -8.0], ([30.0, 4.0], [10.0, -2.0])))
    same(ms.vjp(two, (X, Y), S)[1], ([30.0, 4.0], [10.0, -2.0]))
    same(ms.vjp(two, inputs=(X, Y), v=S)[1], ([30.0, 4.0], [10.0, -2.0]))

    class One(nn.Cell):
        def construct(self, x):
            return x * x

    same(ms.vjp(One(), X, Y), at_once)
    same(ms.vjp(ms.jit(lambda x: x * x), X, Y), at_once)
    same(ms.vjp(decorated(lambda x: x * x), X, Y), at_once)
    same(ms.vjp(functools.partial(product, Y), X, Y)[1], [9.0, 16.0])
    same(ms.vjp(Holder().method, X, Y)[1], [18.0, -48.0])
    same(ms.vjp(Holder().compiled, X, Y)[1], [18.0, -48.0])
    same(ms.vjp(ms.grad(lambda x: x * x * x), X, Y), ([3.0, 12.0], [18.0, -48.0]))
    # a gradient function that takes a sens takes one argument more
    out, pull = ms.vjp(ms.grad(lambda x: x * x, sens_param=True), X, Y)
    same((out, pull(S)), ([6.0, -16.0], ([60.0, 8.0], [20.0, -4.0])))
    for ambiguous in (lambda *xs: xs[0] * xs[0], lambda x, k=2.0: x * x):
        with pytest.raises(TypeError, match=r"vjp\(fn, a, v=b\).*vjp\(fn, a, b, has_aux=False\)"):
            ms.vjp(ambiguous, X, Y)
        same(ms.vjp(ambiguous, X, v=Y), at_once)
    out, pull = ms.vjp(lambda *xs: xs[0] * xs[1], X, Y, has_aux=False)
    same(pull(S), ([30.0, 4.0], [10.0, -2.0]))


def test_a_kept_vjp_reads_the_run_that_it_belongs_to():
    net = Net()
    first = ms.vjp(net, X, Y, weights=[net.w])[1]
    net.w.set_data(t(0.0, 0.0))
    second = ms.vjp(net, X, Y, weights=[net.w])[1]
    same(second(t(1.0, 1.0))[0][0], [11.0, 13.0])
    same(first(t(1.0, 1.0))[0][0], DX)


def test_a_kept_vjp_inside_other_derivatives():
    # d/dx of vᵀJ(x), with the pullback called where it was made
    def through(x):
        return ms.vjp(lambda z: z * z * z, x)[1](t(1.0, 2.0))[0]

    same(ms.grad(through)(X), [6.0, 24.0])

    # and d/dv of vᵀJ(x) of one that was made outside
    pull = ms.vjp(lambda z: z * z * z, X)[1]
    same(ms.grad(lambda v: pull(v)[0] * v)(S), [60.0, -24.0])

    def twice(x):
        pull = ms.vjp(lambda z: z * z * z, x)[1]
        return pull(x)[0] + pull(pull(x)[0])[0]  # 3x³ + 9x⁵

    same(ms.grad(twice)(X), [9.0 + 45.0, 36.0 + 720.0])


def test_a_kept_derivative_writes_parameters_once():
    class Counting(nn.Cell):
        def __init__(self):
            super().__init__()
            self.count = Parameter(t(0.0), name="count")

        def construct(self, x):
            self.count = self.count + 1.0
            return x * x * self.count

    net = Counting()
    out, pull = ms.vjp(net, X)
    same(out, [1.0, 4.0])
    net.count.set_data(t(10.0))
    same(pull(t(1.0, 1.0)), ([2.0, 4.0],))
    same(net.count.value(), [10.0])
    same(ms.grad(net)(X), [22.0, 44.0])
    same(net.count.value(), [11.0])


# --- Jacobians ------------------------------------------------------------------------------------


@pytest.mark.parametrize("jacobian", [ms.jacfwd, ms.jacrev], ids=["jacfwd", "jacrev"])
def test_jacobians(jacobian):
    same(jacobian(lambda x: x * x)(X), [[2.0, 0.0], [0.0, 4.0]])
    same(jacobian(product, 1)(X, Y), [[1.0, 0.0], [0.0, 2.0]])
    dx, dy = [[3.0, 0.0], [0.0, -4.0]], [[1.0, 0.0], [0.0, 2.0]]
    same(jacobian(product, (0, 1))(X, Y), (dx, dy))
    one, two = [[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 2.0]]
    same(jacobian(pair, (0, 1))(X, Y), ((dx, dy), (one, two)))
    same(jacobian(pair)(X, Y), (dx, one))
    same(jacobian(pair, has_aux=True)(X, Y), (dx, [7.0, -6.0]))
    three = lambda x, y: (*pair(x, y), x)
    same(jacobian(three, has_aux=True)(X, Y), (dx, ([7.0, -6.0], [1.0, 2.0])))
    same(jacobian(product)(X, y=Y), dx)
    same(jacobian(lambda x: Y)(X), [[0.0, 0.0], [0.0, 0.0]])
    wide = jacobian(lambda s: s * X)(Tensor(2.0))
    assert wide.shape == (2,)
    same(wide, [1.0, 2.0])
    matrix = t([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    found = jacobian(lambda m: ops.matmul(m, matrix))(t([1.0, 2.0]))
    assert found.shape == (1, 3, 1, 2)
    same(found, [[[[1.0, 4.0]], [[2.0, 5.0]], [[3.0, 6.0]]]])
    assert jacobian(lambda x: x * x)(Tensor(np.zeros((0,), np.float32))).shape == (0, 0)
    same(jacobian(lambda p: p[0] * p[1])(ms.mutable((X, Y))), (dx, dy))


@pytest.mark.parametrize("outer", [ms.jacfwd, ms.jacrev], ids=["fwd", "rev"])
@pytest.mark.parametrize("inner", [ms.jacfwd, ms.jacrev, ms.grad], ids=["fwd", "rev", "grad"])
def test_hessians(outer, inner):
    found = outer(inner(lambda x: ops.matmul(x * x * x, x)))(t(1.0, 2.0))
    same(found, [[12.0, 0.0], [0.0, 48.0]])


# --- Cells ----------------------------------------------------------------------------------------


def test_jvp_and_vjp_cells():
    v, w = t(1.0, 10.0), t(100.0, 0.0)
    same(nn.Jvp(lambda x: x * x)(X, v), ([1.0, 4.0], [2.0, 40.0]))
    same(nn.Jvp(product)(X, Y, (v, w)), ([3.0, -8.0], [103.0, -40.0]))
    same(nn.Jvp(pair)(X, Y, [v, w])[1], ([103.0, -40.0], [201.0, 10.0]))
    same(nn.Vjp(lambda x: x * x)(X, S), ([1.0, 4.0], [20.0, -4.0]))
    same(nn.Vjp(product)(X, Y, S), ([3.0, -8.0], ([30.0, 4.0], [10.0, -2.0])))
    same(nn.Vjp(pair)(X, Y, (S, t(1.0, 1.0)))[1], ([31.0, 5.0], [12.0, 0.0]))
    net = Net()
    assert nn.Jvp(net).trainable_params() == net.trainable_params()
    assert nn.Vjp(net).cells() == [net]


def test_forward_value_and_grad():
    net = Net()
    value = [22.0, 9.0]
    weights = ParameterTuple([net.w, net.b])
    same(nn.ForwardValueAndGrad(net)(X, Y), (value, DX))
    same(nn.ForwardValueAndGrad(net, get_all=True)(X, Y), (value, (DX, DY)))
    same(nn.ForwardValueAndGrad(net, weights, get_by_list=True)(X, Y), (value, (DW, DB)))
    same(
        nn.ForwardValueAndGrad(net, weights, get_all=True, get_by_list=True)(X, Y),
        (value, ((DX, DY), (DW, DB))),
    )
    same(nn.ForwardValueAndGrad(net, sens_param=True)(X, Y, S), (value, scaled(DX)))
    same(nn.ForwardValueAndGrad(product)(X, Y), ([3.0, -8.0], [3.0, -4.0]))
    cell = nn.ForwardValueAndGrad(net, net.w, get_by_list=True)
    same(cell(X, Y), (value, DW))
    copied = copy.deepcopy(cell)
    copied.network.w.set_data(t(0.0, 0.0))
    same(copied(X, Y), ([16.0, 33.0], DW))
    same(cell(X, Y), (value, DW))
    assert nn.ForwardValueAndGrad(net).trainable_params() == net.trainable_params()


def test_missing_data_that_is_masked_out_contributes_nothing():
    data = t(np.nan, 2.0, np.inf)
    known = lambda w: ops.select(ops.isfinite(data), data * w, ops.zeros_like(data))
    w = t(3.0, 3.0, 3.0)
    same(ms.grad(known)(w), [0.0, 2.0, 0.0])
    same(ms.grad(lambda w: ms.grad(lambda v: known(v) * v)(w))(w), [0.0, 4.0, 0.0])
    same(
        ms.grad(lambda w: ops.select(ops.isfinite(data), ops.log(data) * w, ops.zeros_like(data)))(w),
        [0.0, np.log(2.0), 0.0],
    )


class TwoWeights(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([2.0]), name="w")
        self.fixed = Parameter(Tensor([3.0]), name="fixed", requires_grad=False)
        self.unused = Parameter(Tensor([1.0]), name="unused")

    def construct(self, x):
        return x * x * self.w * self.fixed


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
def test_without_weights_they_are_those_that_the_cell_trains(mode):
    ms.set_context(mode=mode)
    try:
        net, x = TwoWeights(), Tensor([5.0])
        by_list = ops.GradOperation(get_by_list=True)(net)
        assert [g.asnumpy().tolist() for g in by_list(x)] == [[75.0], [0.0]]
        (dx,), (dw, _) = ops.GradOperation(get_all=True, get_by_list=True)(net.construct)(x)
        assert (dx.asnumpy(), dw.asnumpy()) == ([60.0], [75.0])
        net.unused.requires_grad = False
        assert len(by_list(x)) == 1
        scaled = ops.GradOperation(get_by_list=True, sens_param=True)(net)
        assert scaled(x, Tensor([2.0]))[0].asnumpy() == [150.0]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    with pytest.raises(RuntimeError, match="op\\(net, ParameterTuple"):
        ops.GradOperation(get_by_list=True)(lambda x: net(x))


def test_mutable_takes_what_says_that_the_length_changes():
    pair = ms.mutable((Tensor([1.0]), Tensor([2.0])), True)
    total = lambda xs: sum(x * x for x in xs)
    assert [g.asnumpy().tolist() for g in ms.grad(total)(pair)] == [[2.0], [4.0]]
    for given in (Tensor([1.0]), {"a": 1}, 2.0):
        with pytest.raises(TypeError, match="should be a tuple or list"):
            ms.mutable(given, True)
    with pytest.raises(TypeError, match="'dynamic_len' should be a bool"):
        ms.mutable([1], 3)
