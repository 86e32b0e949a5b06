"""Messages name the operation, the value, and the fix in the words of the user's program."""

import numpy as np
import pytest
from scipy import special

import mindgrad as ms
from mindgrad import Tensor, nn, ops

X = Tensor([1.0, 2.0])
N = Tensor(2)
TABLE = np.zeros(2)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: x.reshape(n, -1),
        lambda x, n: ops.arange(n),
        lambda x, n: ops.zeros(n),
        lambda x, n: ops.zeros((n, 2)),
        lambda x, n: ops.linspace(0, 1, n),
    ],
)
def test_a_size_that_a_tensor_decides_on_asks_for_an_int(function):
    with pytest.raises(
        ms.CompileError, match=r"(?s)is a tensor whose value is not known.*a Python int"
    ) as caught:
        ms.jit(function)(X, N)
    assert "being compiled:" not in str(caught.value)
    assert function(X, N) is not None


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (
            lambda x: special.j0(x),
            r"^scipy\.special\.j0 was applied.*Use mindgrad\.ops\.bessel_j0, .*ms\.pure_callback",
        ),
        (lambda x: special.airy(x)[0], r"^scipy\.special\.airy was applied.*Use a function of mindgrad\.ops"),
        (lambda x: np.linalg.det(ops.diag(x)), r"^np\.linalg\.det was applied.*Use mindgrad\.ops\.det"),
        (lambda x: np.cbrt(x), r"^np\.cbrt was applied"),
        (lambda x: np.array([-x[0]]), r"^np\.array was applied.*Use stack\(\["),
    ],
)
@pytest.mark.parametrize("transform", [ms.grad, ms.jit])
def test_a_function_of_numpy_or_scipy_is_named_with_its_operator(transform, function, names):
    with pytest.raises(TypeError, match=names):
        transform(function)(X)


def test_pure_callback_without_arguments_says_what_declares_the_result():
    with pytest.raises(TypeError, match=r"'j0' was called without arguments.*pure_callback\(fn, x, x\)"):
        ms.pure_callback(special.j0, X)

    def fails():
        raise TypeError("mine")

    with pytest.raises(TypeError, match=r"^mine$"):
        ms.pure_callback(fails, X)


def test_pure_callback_of_a_function_that_returns_none():
    with pytest.raises(
        TypeError, match=r"the result of '<lambda>' is None, but its declared shape is \(2,\)"
    ):
        ms.pure_callback(lambda x: None, X, X)


def test_a_tensor_of_shape_and_dtype_declares_the_result_of_a_callback():
    declared = Tensor(shape=[2], dtype=ms.float64)
    y = ms.jit(lambda x: ms.pure_callback(np.sin, declared, x))(X)
    assert (y.shape, y.dtype) == ((2,), ms.float64)


def test_a_name_of_another_module_says_what_to_write():
    with pytest.raises(AttributeError, match=r"has no attribute 'jacobian': write mindgrad\.jacobian"):
        ops.jacobian  # noqa: B018


def test_a_callback_class_says_how_to_make_an_instance():
    net = nn.Dense(2, 1)
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params()))
    data = ms.dataset.NumpySlicesDataset((np.ones((4, 2), np.float32), np.ones((4, 1), np.float32))).batch(2)
    with pytest.raises(
        TypeError, match=r"contains the class LossMonitor\. Create an instance: LossMonitor\(\)"
    ):
        model.train(1, data, callbacks=ms.train.LossMonitor)


def test_a_cell_that_a_number_replaces_is_not_lost_silently():
    net = nn.SequentialCell(nn.Dense(2, 1))
    net.head = nn.Dense(2, 1)
    with pytest.raises(
        TypeError, match="'head' is a Cell and would be lost, because an object of type int is assigned"
    ):
        net.head = 5
    net.head = ops.relu  # a function may take its place
    assert net.head is ops.relu


def test_a_list_of_floats_under_grad_asks_for_one_tensor():
    with pytest.raises(TypeError, match=r"pass one Tensor: Tensor\(\[\.\.\.\]\)"):
        ms.grad(lambda x: ops.sum(x))([1.0, 2.0])


def test_an_if_without_else_asks_for_a_return():
    @ms.jit
    def f(x):
        if x > 0:
            return x

    with pytest.raises(ms.CompileError, match=r"returns None on one path.*Add an 'else' that returns"):
        f(Tensor(1.0))


def test_a_gradient_of_another_shape_names_both_shapes():
    class Product(nn.Cell):
        def construct(self, x, y):
            return x * y

        def bprop(self, x, y, out, dout):
            return (dout * y).sum(), dout * x

    with pytest.raises(
        ValueError, match=r"the gradient of argument 0 .* has shape \(\), but .* shape \(2,\)"
    ):
        ms.grad(Product(), (0, 1))(X, X)


def test_odeint_takes_times_of_an_array_or_a_list():
    expected = ms.odeint(lambda y, t: -y, X, Tensor([0.0, 1.0])).asnumpy()
    for times in (np.array([0.0, 1.0]), [0.0, 1.0], (0, 1)):
        assert np.array_equal(ms.odeint(lambda y, t: -y, X, times).asnumpy(), expected)


def test_odeint_of_a_function_that_returns_a_list_names_it():
    with pytest.raises(
        TypeError, match=r"must return one Tensor, .* returned a list of 2 Tensors. ops.stack"
    ):
        ms.odeint(lambda y, t: [-y[0], -y[1]], X, Tensor([0.0, 1.0]))


def test_a_missing_argument_is_named():
    def forward(data, label):
        return data * label

    with pytest.raises(TypeError, match="provided arguments is 1: 'label' is missing"):
        ms.grad(forward)(X)


def set_element(x):
    y = x + 1
    TABLE[0] += 1
    return y


def text_of(x):
    y = x + 1
    return f"{y}"


@pytest.mark.parametrize(
    ("function", "line"), [(set_element, "    TABLE[0] += 1"), (text_of, '    return f"{y}"')]
)
def test_a_refusal_shows_the_statement(function, line):
    with pytest.raises(ms.CompileError) as caught:
        ms.jit(function)(X)
    assert f"in {function.__name__}\n    {line.strip()}\n" in str(caught.value)
    assert not TABLE.any()
