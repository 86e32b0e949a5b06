"""Wrong arguments of the gradient API: MindSpore's exception types, texts that name the argument.

Every error is the same in both modes, and nothing has been computed where the mistake could be known.
"""

import queue

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, ParameterTuple, Tensor, nn, ops

pytestmark = pytest.mark.usefixtures("_mode")


@pytest.fixture(params=[ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
def _mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=before)


def t(*values, dtype=ms.float32):
    return Tensor(np.array(values), dtype)


X, Y = t(1.0, 2.0), t(3.0, 4.0)
P = Parameter(t(1.0, 1.0), name="p")

RUNS: queue.Queue = queue.Queue()  # guards do not compare queues, so that compiled programs may use one


def product(x, y):
    RUNS.put(1)
    return x * y


def square(x):
    RUNS.put(1)
    return x * x


def pair(x):
    RUNS.put(1)
    return x * x, x


@pytest.fixture(autouse=True)
def _counted():
    RUNS.queue.clear()


# --- when the gradient function is made -----------------------------------------------------------


@pytest.mark.parametrize("flag", ["get_all", "get_by_list", "sens_param"])
@pytest.mark.parametrize("value", [1, 0, None, "True"])
def test_flags_are_bools(flag, value):
    text = f"For 'GradOperation', the '{flag}' should be bool, but got {type(value).__name__}"
    with pytest.raises(TypeError, match=text):
        ops.GradOperation(**{flag: value})
    with pytest.raises(TypeError, match=f"the '{flag}' should be bool"):
        nn.ForwardValueAndGrad(square, [P], **{flag: value})


@pytest.mark.parametrize("name", ["has_aux", "return_ids", "sens_param"])
@pytest.mark.parametrize("function", [ms.grad, ms.value_and_grad])
def test_options_are_bools(function, name):
    with pytest.raises(TypeError, match=f"the '{name}' should be bool, but got int"):
        function(square, **{name: 1})


def test_has_aux_is_a_bool_everywhere():
    with pytest.raises(TypeError, match="'has_aux' should be bool, but got int"):
        ms.jvp(square, X, Y, has_aux=1)
    with pytest.raises(TypeError, match="'has_aux' should be bool, but got int"):
        ms.vjp(square, X, has_aux=1)
    with pytest.raises(TypeError, match="'has_aux' should be bool, but got str"):
        ms.jacfwd(square, has_aux="no")


@pytest.mark.parametrize("function", [ms.grad, ms.value_and_grad, ms.jacfwd, ms.jacrev])
@pytest.mark.parametrize(
    ("position", "error", "text"),
    [
        (-1, ValueError, "grad_position must be >= 0"),
        ((0, -1), ValueError, "element in grad_position must be >= 0"),
        ((1, 1), ValueError, "duplicate positions in `grad_position`"),
        ((0, 1, 0), ValueError, "duplicate positions in `grad_position`"),
        ((), RuntimeError, "grad_position should not be empty"),
        (1.0, TypeError, "'grad_position' should be int or tuple, but got float"),
        ("0", TypeError, "'grad_position' should be int or tuple, but got str"),
        ([0, 1], TypeError, "'grad_position' should be int or tuple, but got list"),
        (True, TypeError, "'grad_position' should be int or tuple, but got bool"),
        ((0, True), TypeError, "element in 'grad_position' should be int, but got bool"),
        ((0, 1.0), TypeError, "element in 'grad_position' should be int, but got float"),
    ],
)
def test_positions(function, position, error, text):
    with pytest.raises(error, match=text):
        function(product, position)


@pytest.mark.parametrize("function", [ms.grad, ms.value_and_grad])
def test_something_must_be_asked_for(function):
    with pytest.raises(ValueError, match=r"`grad_position` and `weight` can not be None at the same time"):
        function(square, None)


@pytest.mark.parametrize("position", [2, (0, 2), 7])
@pytest.mark.parametrize("function", [ms.grad, ms.value_and_grad, ms.jacfwd, ms.jacrev])
def test_positions_out_of_range(function, position):
    with pytest.raises(IndexError, match=r"grad_position \d is out of range: .* called with 2 inputs"):
        function(product, position)(X, Y)
    assert RUNS.empty()


def test_the_sens_is_no_position():
    with pytest.raises(IndexError, match="grad_position 2 is out of range"):
        ms.grad(product, 2, sens_param=True)(X, Y, X)
    assert RUNS.empty()


@pytest.mark.parametrize("fn", [5, None, "net", X, [square]])
def test_what_cannot_be_called(fn):
    with pytest.raises(RuntimeError, match="first argument must be a 'Function' or 'Cell'"):
        ops.GradOperation()(fn)
    for function in (ms.grad, ms.value_and_grad, ms.jacfwd, ms.jacrev, nn.Jvp, nn.Vjp):
        with pytest.raises(TypeError, match=f"but got {type(fn).__name__}.*should be callable"):
            function(fn)
    for call in (lambda: ms.jvp(fn, X, X), lambda: ms.vjp(fn, X, X), lambda: ms.linearize(fn, X)):
        with pytest.raises(TypeError, match="should be callable"):
            call()
    with pytest.raises(TypeError, match="'network' should be cell, function type or method type"):
        nn.ForwardValueAndGrad(fn)


def test_weights():
    op = ops.GradOperation(get_by_list=True)
    with pytest.raises(RuntimeError, match=r"'get_by_list' is set to True.*'weights'.*ParameterTuple.*None"):
        op(square)
    for wrong in ("w", 3, X, {"p": P}):
        with pytest.raises(TypeError, match="'weights' should be ParameterTuple type"):
            op(square, wrong)
    with pytest.raises(TypeError, match=r"should be Parameters, but element 1 is.*Tensor"):
        op(square, [P, X])
    with pytest.raises(TypeError, match=r"elements of 'weights' should be Parameters, but element 0 is.*int"):
        ms.grad(square, 0, (1, P))
    with pytest.raises(TypeError, match="'weights' should be ParameterTuple type"):
        ms.value_and_grad(square, 0, X)
    with pytest.raises(TypeError, match="'weights' should be ParameterTuple type"):
        ms.vjp(square, X, weights=X)
    with pytest.raises(TypeError, match="should be ParameterTuple type, but got '<class 'NoneType'>'"):
        nn.ForwardValueAndGrad(square, get_by_list=True)
    with pytest.raises(TypeError, match="ParameterTuple"):
        ParameterTuple([X])


# --- when it is called ----------------------------------------------------------------------------


class Net(nn.Cell):
    def construct(self, x, y):
        RUNS.put(1)
        return x * y


@pytest.mark.parametrize("fn", [product, Net(), lambda x, y: product(x, y), ms.jit(product)])
@pytest.mark.parametrize("args", [(), (X,), (X, Y, X)])
def test_the_number_of_arguments(fn, args):
    text = f"parameters number of the function is 2, but the number of provided arguments is {len(args)}"
    gradients = [
        ops.GradOperation()(fn),
        ops.GradOperation(get_all=True)(fn),
        ms.grad(fn),
        ms.value_and_grad(fn, (0, 1)),
        ms.jacrev(fn),
    ]
    for gradient in gradients:
        with pytest.raises(TypeError, match=text):
            gradient(*args)
    for gradient in (ops.GradOperation(sens_param=True)(fn), ops.grad(fn, 0, True)):
        with pytest.raises(TypeError, match=f"{text}.*the last argument is 'sens'"):
            gradient(*args, X)
    assert RUNS.empty()


def test_the_function_and_its_place_are_named():
    with pytest.raises(TypeError, match=rf"'product' \({__file__}:\d+\)"):
        ms.grad(product)(X)
    with pytest.raises(TypeError, match=rf"'Net' \({__file__}:\d+\)"):
        ms.grad(Net())(X)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ms.jvp(product, (X, Y, X), (X, Y, X)),
        lambda: ms.vjp(product, X, Y, X),
        lambda: ms.hessian(product)(X, Y, X),
        lambda: ms.jacfwd(product)(X, Y, X),
        lambda: ms.laplacian(product)(X, Y, X),
    ],
)
def test_a_sens_is_named_only_where_there_is_such_an_option(call):
    with pytest.raises(TypeError, match=r"arguments is 3\. The function is 'product' \([^ ]*\)\.$"):
        call()


def test_a_sens_that_is_missing_or_not_wanted():
    with pytest.raises(TypeError, match=r"number of the function is 2.*arguments is 1.*is 'sens'"):
        ops.GradOperation(sens_param=True)(product)(X, Y)
    with pytest.raises(TypeError, match="'sens' is missing"):
        ops.GradOperation(sens_param=True)(lambda: P * P)()
    with pytest.raises(TypeError, match=r"arguments is 3.*A 'sens' requires sens_param=True"):
        ops.GradOperation()(product)(X, Y, X)
    with pytest.raises(TypeError, match="unexpected keyword argument 'sens'"):
        ops.GradOperation()(product)(X, Y, sens=X)
    assert RUNS.empty()


def test_an_unknown_keyword():
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        ms.grad(product)(X, Y, z=X)
    with pytest.raises(TypeError, match="multiple values for argument 'y'"):
        ms.grad(product)(X, Y, y=X)


@pytest.mark.parametrize(
    ("sens", "error", "text"),
    [
        (t(1, 1, dtype=ms.int32), TypeError, "the dtype of sens should be Float32, but got Int32"),
        (t(1.0, 1.0, dtype=ms.float64), TypeError, "the dtype of sens should be Float32, but got Float64"),
        (t(1.0), ValueError, r"the shape of sens should be \(2,\), but got \(1,\)"),
        (Tensor(1.0), ValueError, r"the shape of sens should be \(2,\), but got \(\)"),
        (t([1.0, 1.0]), ValueError, r"the shape of sens should be \(2,\), but got \(1, 2\)"),
        ((X,), TypeError, r"sens should be a Tensor of shape \(2,\) .* but got a tuple of length 1"),
        (1.0, TypeError, "sens should be a Tensor .* but got a float"),
        (None, TypeError, "sens should be a Tensor .* but got a NoneType"),
    ],
)
def test_a_sens_unlike_the_output(sens, error, text):
    for function in (ops.GradOperation(sens_param=True)(square), ops.grad(square, 0, True)):
        with pytest.raises(error, match=text):
            function(X, sens)
        with pytest.raises(error, match=text):
            function(X, sens=sens)


@pytest.mark.parametrize(
    ("sens", "error", "text"),
    [
        (X, TypeError, r"sens should be a tuple of length 2, but got a Tensor of shape \(2,\)"),
        ((X,), ValueError, "sens has invalid length: should be 2, but got 1"),
        ((X, X, X), ValueError, "sens has invalid length: should be 2, but got 3"),
        ((X, t(1.0)), ValueError, r"the shape of sens\[1\] should be \(2,\), but got \(1,\)"),
        ((t(1, 1, dtype=ms.int32), X), TypeError, r"the dtype of sens\[0\] should be Float32, but got Int32"),
        ((X, (X,)), TypeError, r"sens\[1\] should be a Tensor"),
        ({"a": X}, TypeError, "sens should be a tuple of length 2, but got a dict"),
    ],
)
def test_a_sens_unlike_several_outputs(sens, error, text):
    with pytest.raises(error, match=text):
        ops.GradOperation(sens_param=True)(pair)(X, sens)


def test_one_output_in_a_tuple_takes_a_tuple():
    single = lambda x: (x * x,)
    with pytest.raises(TypeError, match="sens should be a tuple of length 1, but got a Tensor"):
        ops.GradOperation(sens_param=True)(single)(X, X)
    with pytest.raises(TypeError, match="v should be a tuple of length 1, but got a Tensor"):
        ms.vjp(single, X, X)
    found = ops.GradOperation(sens_param=True)(single)(X, (X,))
    np.testing.assert_allclose(found.asnumpy(), [2.0, 8.0])


def test_a_sens_unlike_a_dict():
    gradient = ops.GradOperation(sens_param=True)(lambda x: {"a": x, "b": x * x})
    with pytest.raises(ValueError, match=r"keys of sens should be \['a', 'b'\], but got \['a'\]"):
        gradient(X, {"a": X})
    with pytest.raises(TypeError, match="sens should be a dict, but got a tuple"):
        gradient(X, (X, X))
    with pytest.raises(ValueError, match=r"shape of sens\['b'\] should be"):
        gradient(X, {"a": X, "b": t(1.0)})


@pytest.mark.parametrize("value", ["text", object(), np.ones(2), [np.ones(2)], {1, 2}])
def test_an_output_that_is_no_tensor_or_number(value):
    fn = lambda x: value
    calls = [
        lambda: ms.grad(fn)(X),
        lambda: ops.GradOperation()(fn)(X),
        lambda: ms.jvp(fn, X, X),
        lambda: ms.vjp(fn, X),
        lambda: ms.vjp(fn, X, X),
        lambda: ms.jacrev(fn)(X),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"must return tensors or numbers.*<lambda>.*returned a"):
            call()


def test_arrays_that_no_tensor_can_stand_for():
    array = np.ma.array(np.ones(2, np.float32), mask=[0, 1])
    for gradient in (ms.grad(square), ops.GradOperation(get_all=True)(square)):
        with pytest.raises(TypeError, match=r"Tensor\(array\)"):
            gradient(array)
    with pytest.raises(TypeError, match=r"Tensor\(array\)"):
        ms.grad(product)(X, array)
    with pytest.raises(TypeError, match="inputs type should be a Tensor, tuple or list of Tensor"):
        ms.jvp(square, array, X)
    with pytest.raises(TypeError, match="inputs type must be Tensor"):
        ms.vjp(square, array)
    assert RUNS.empty()


def test_aux_needs_several_outputs():
    for fn in (square, lambda x: (x,), lambda x: [x, x]):
        with pytest.raises(ValueError, match="has_aux is True, origin fn requires more than one outputs"):
            ms.grad(fn, has_aux=True)(X)
        with pytest.raises(ValueError, match="has_aux is True, origin fn requires more than one outputs"):
            ms.vjp(fn, X, has_aux=True)
        with pytest.raises(ValueError, match="has_aux is True, origin fn requires more than one outputs"):
            ms.jvp(fn, X, X, has_aux=True)


def test_get_grad():
    found = ms.grad(product, (0, 1), return_ids=True)(X, Y)
    with pytest.raises(
        RuntimeError, match=r"Can not find the gradient for position or Parameter 2: there are 0, 1\.$"
    ):
        ms.get_grad(found, 2)
    with pytest.raises(RuntimeError, match="Can not find the gradient for position or Parameter p"):
        ms.get_grad(found, P)
    with pytest.raises(RuntimeError, match=r"Parameter 0: .* with grad\(\.\.\., return_ids=True\)\.$"):
        ms.get_grad(ms.grad(product, (0, 1))(X, Y), 0)
    for wrong in ("a", None, True, 1.0):
        with pytest.raises(TypeError, match=r"`x` should be an integer or a Parameter, but got"):
            ms.get_grad(found, wrong)


# --- jvp and vjp ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fn", "inputs", "v", "error", "text"),
    [
        (square, X, t(1.0), ValueError, r"the shape of v should be \(2,\), but got \(1,\)"),
        (square, X, t(1, 1, dtype=ms.int32), TypeError, "the dtype of v should be Float32, but got Int32"),
        (square, X, (X,), TypeError, "v should be a Tensor"),
        (product, (X, Y), X, TypeError, "v should be a tuple of length 2, but got a Tensor"),
        (product, (X, Y), (X,), ValueError, "v has invalid length: should be 2, but got 1"),
        (product, (X, Y), (X, Y, X), ValueError, "v has invalid length: should be 2, but got 3"),
        (product, (X, Y), (X, t(1.0)), ValueError, r"the shape of v\[1\] should be"),
        (square, 3.0, X, TypeError, "inputs type should be a Tensor, tuple or list of Tensor"),
        (square, None, X, TypeError, "inputs type should be a Tensor, tuple or list of Tensor"),
        (square, X, 1.0, TypeError, "inputs type should be a Tensor, tuple or list of Tensor"),
        (product, (X, 2.0), (X, X), TypeError, "inputs type should be a Tensor, tuple or list of Tensor"),
        (product, X, X, TypeError, "parameters number of the function is 2, .* arguments is 1"),
        (square, (X, Y), (X, Y), TypeError, "parameters number of the function is 1, .* arguments is 2"),
    ],
)
def test_jvp(fn, inputs, v, error, text):
    with pytest.raises(error, match=text):
        ms.jvp(fn, inputs, v)
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    with pytest.raises(error, match=text):
        nn.Jvp(fn)(*given, v)
    assert RUNS.empty()


def test_linearize():
    with pytest.raises(TypeError, match="inputs type should be a Tensor, tuple or list of Tensor"):
        ms.linearize(square, 3.0)
    with pytest.raises(TypeError, match="parameters number of the function is 2"):
        ms.linearize(product, X)
    assert RUNS.empty()
    _, push = ms.linearize(square, X)
    with pytest.raises(ValueError, match=r"the shape of v\[0\] should be \(2,\), but got \(1,\)"):
        push(t(1.0))
    with pytest.raises(ValueError, match="v has invalid length: should be 1, but got 2"):
        push(X, X)


@pytest.mark.parametrize(
    ("fn", "inputs", "v", "error", "text"),
    [
        (square, X, t(1.0), ValueError, r"the shape of v should be \(2,\), but got \(1,\)"),
        (square, X, t(1, 1, dtype=ms.int32), TypeError, "the dtype of v should be Float32, but got Int32"),
        (square, X, (X,), TypeError, "v should be a Tensor"),
        (pair, X, X, TypeError, "v should be a tuple of length 2, but got a Tensor"),
        (pair, X, (X,), ValueError, "v has invalid length: should be 2, but got 1"),
        (pair, X, (X, t(1.0)), ValueError, r"the shape of v\[1\] should be"),
    ],
)
def test_vjp_cotangents(fn, inputs, v, error, text):
    with pytest.raises(error, match=text):
        ms.vjp(fn, inputs, v)
    with pytest.raises(error, match=text):
        nn.Vjp(fn)(inputs, v)
    if not (fn is square and isinstance(v, tuple)):  # vjp_fn((v,)) and vjp_fn(v) are the same
        _, pull = ms.vjp(fn, inputs)
        with pytest.raises((error, ValueError), match="v"):
            pull(v)


def test_vjp_inputs():
    for wrong in (3.0, None, "x"):
        with pytest.raises(TypeError, match="inputs type should be a Tensor, tuple or list of Tensor"):
            ms.vjp(square, wrong, X)
        with pytest.raises(TypeError, match="inputs type must be Tensor"):
            ms.vjp(square, wrong)
    with pytest.raises(TypeError, match="inputs type should be a Tensor, tuple or list of Tensor"):
        ms.vjp(product, (X, 2.0), X)
    with pytest.raises(TypeError, match="inputs type must be Tensor"):
        ms.vjp(product, X, 2.0)
    with pytest.raises(TypeError, match=r"parameters number of the function is 2, .* arguments is 1"):
        ms.vjp(product, X)
    with pytest.raises(TypeError, match=r"parameters number of the function is 1, .* arguments is 2"):
        ms.vjp(square, (X, Y), X)
    with pytest.raises(TypeError, match=r"parameters number of the function is 2, .* arguments is 3"):
        ms.vjp(product, X, Y, X)
    with pytest.raises(TypeError, match="inputs are missing"):
        ms.vjp(square)
    with pytest.raises(TypeError, match="use only one of these forms"):
        ms.vjp(square, X, v=X, has_aux=False)
    with pytest.raises(TypeError, match="takes exactly these arguments"):
        ms.vjp(product, X, Y, v=X)
    with pytest.raises(TypeError, match="takes exactly these arguments"):
        ms.vjp(product, inputs=(X, Y))
    assert RUNS.empty()


def test_a_pullback_takes_one_cotangent_per_output():
    _, pull = ms.vjp(square, X)
    with pytest.raises(
        TypeError, match="takes one cotangent 'v', because the function has one output, but got 2"
    ):
        pull(X, X)
    with pytest.raises(
        TypeError, match="takes one cotangent 'v', because the function has one output, but got 0"
    ):
        pull()
    _, pull = ms.vjp(pair, X, has_aux=False)
    with pytest.raises(ValueError, match="v has invalid length: should be 2, but got 3"):
        pull(X, X, X)


def test_cells_need_their_arguments():
    with pytest.raises(TypeError, match=r"Jvp\(net\)\(x, v\)"):
        nn.Jvp(square)()
    with pytest.raises(TypeError, match=r"Vjp\(net\)\(x, v\)"):
        nn.Vjp(square)()


def test_a_list_of_layers_is_one_argument_in_a_tuple():
    """As weights stand in programs of JAX: the elements of a list of inputs are the arguments."""

    def energy(layers):
        return (layers[0]["w"] * layers[1]["w"]).sum()

    layers = [{"w": X}, {"w": X}]
    for call in (lambda: ms.jvp(energy, layers, layers), lambda: ms.linearize(energy, layers)):
        with pytest.raises(TypeError, match=r"a list that is one argument into a tuple.*\(inputs,\), \(v,\)"):
            call()
    assert ms.jvp(energy, (layers,), (layers,))[1] == ms.linearize(energy, (layers,))[1]((layers,))


def test_mutable():
    for wrong in (None, "text", np.ones(2), (X, "text")):
        with pytest.raises(TypeError, match="'input_data' should be one of"):
            ms.mutable(wrong)


def test_complex_jacobians():
    z = Tensor(np.array([1 + 2j], np.complex64))
    with pytest.raises(TypeError, match="inputs and outputs must be real"):
        ms.jacrev(square)(z)
    with pytest.raises(TypeError, match="inputs and outputs must be real"):
        ms.jacfwd(square)(z)
    with pytest.raises(TypeError, match="jacfwd accepts complex outputs of real inputs"):
        ms.jacrev(lambda x: 1j * x)(X)


# --- inside the differentiated function -----------------------------------------------------------


def test_numpy_on_a_traced_tensor():
    for fn in (lambda x: Tensor(np.sin(x)), lambda x: x * np.sum(x), lambda x: np.array(x) * x):
        with pytest.raises(
            TypeError, match=r"was applied to a tensor that is being differentiated|does not support ufuncs"
        ):
            ms.grad(fn)(X)


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError, match=r"the shapes \(2,\) and \(3,\) do not broadcast"):
        ms.grad(product)(X, t(1.0, 2.0, 3.0))


def test_a_cell_without_construct():
    class Empty(nn.Cell):
        pass

    with pytest.raises(AttributeError, match="construct"):
        ms.grad(Empty())(X)


def test_an_error_inside_leaves_nothing_open():
    def fails(x):
        raise KeyError("inside")

    for _ in range(2):
        with pytest.raises(KeyError, match="inside"):
            ms.grad(fails)(X)
        with pytest.raises(ValueError, match="shape of sens"):
            ops.grad(square, 0, True)(X, t(1.0))
    assert not X.is_traced
    np.testing.assert_allclose(ms.grad(square)(X).asnumpy(), [2.0, 4.0])
