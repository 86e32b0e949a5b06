"""Arrays of NumPy, jax and others, as data of tensors and as arguments; DLPack in both directions."""

import array

import jax.numpy as jnp
import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir.dtype import DTYPES


class Exporter:
    """An array with DLPack alone, as PyTorch's have it; no attribute of it is seen by Python."""

    __slots__ = ("held",)

    def __init__(self, held, device=None):
        self.held = held, device

    def __dlpack__(self, **options):
        return self.held[0].__dlpack__(**options)

    def __dlpack_device__(self):
        return self.held[1] or self.held[0].__dlpack_device__()


class Frame:
    """An object with ``__array__`` alone, as pandas' have it."""

    __slots__ = ("elements",)

    def __init__(self, elements):
        self.elements = elements

    def __array__(self, dtype=None, copy=None):
        if isinstance(self.elements, Exception):
            raise self.elements
        return np.array(self.elements, dtype)


class Refused(Exporter):
    def __dlpack__(self, **options):
        raise BufferError("no such device.")


X = np.array([[0.5, 2.0, -1.0], [1.0, 0.25, 3.0]], np.float32)


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "graph"])
def mode(request):
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE)


def same(tensor, elements, dtype=None):
    assert isinstance(tensor, Tensor)
    elements = np.asarray(elements)
    assert tensor.dtype == (dtype or elements.dtype)
    np.testing.assert_array_equal(tensor.asnumpy(), elements)


# -- DLPack ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dlpack_goes_both_ways_in_every_element_type(dtype):
    x = Tensor([[0, 1], [1, 0]], dtype)
    same(ms.from_dlpack(Exporter(x)), x.asnumpy())
    if dtype is not ms.bfloat16:
        array = np.from_dlpack(x)
        assert array.dtype == dtype.numpy
        np.testing.assert_array_equal(array, x.asnumpy())
    if dtype.itemsize < 8:  # jax narrows wider ones
        assert jnp.from_dlpack(x).dtype == dtype.numpy


def test_nobody_writes_into_a_tensor_through_dlpack():
    x, p = Tensor([1.0, 2.0]), ms.Parameter(Tensor([1.0, 2.0]), name="p")
    assert not np.from_dlpack(x).flags.writeable
    for view in (np.from_dlpack(p), np.from_dlpack(x, copy=True)):
        view[0] = 9.0
    assert x.asnumpy()[0] == p.asnumpy()[0] == 1.0
    elements = np.ones(2)
    taken = ms.from_dlpack(Exporter(elements))
    elements[0] = 9.0
    same(taken, [1.0, 1.0])
    with pytest.raises(BufferError, match="copy=False is not possible for a Parameter"):
        p.__dlpack__(max_version=(1, 0), copy=False)
    with pytest.raises(BufferError, match="is on CPU, not on CUDA:1"):
        x.__dlpack__(dl_device=(2, 1))


def test_results_of_programs_views_and_strides():
    same(ms.from_dlpack(ms.jit(lambda x: x + 1)(Tensor(X))), X + 1)
    np.testing.assert_array_equal(np.from_dlpack(Tensor(X).T), X.T)
    np.testing.assert_array_equal(np.from_dlpack(ops.broadcast_to(Tensor([1.0]), (3,))), np.ones(3))
    same(ms.from_dlpack(Exporter(X.T)), X.T)


@pytest.mark.parametrize("around", [ms.grad, ms.jit], ids=["grad", "jit"])
def test_a_derivative_is_never_cut_off_by_dlpack(around):
    def taken(x):
        return Tensor(np.from_dlpack(x)).sum() * 2

    with pytest.raises(TypeError, match=r"(?s)DLPack.*differentiated or compiled.*Use stack\("):
        around(taken)(Tensor([1.0]))


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        ([1, 2], TypeError, "'__dlpack__' and '__dlpack_device__', but got list. Use Tensor"),
        (np.ones(2).__dlpack__(), TypeError, "Pass the array itself, not its capsule"),
        (Refused(X, (2, 0)), BufferError, r"on CUDA:0 cannot be read by mindgrad: .*host memory"),
        (np.array(["a"]), TypeError, "which a Tensor cannot hold"),
    ],
)
def test_what_from_dlpack_refuses(data, kind, text):
    with pytest.raises(kind, match=text):
        ms.from_dlpack(data)


# -- data of tensors ---------------------------------------------------------------------------------------

SOURCES = [
    (range(3), np.arange(3)),
    (jnp.asarray(X), X),
    (jnp.ones(2, jnp.bfloat16), np.ones(2, ms.bfloat16)),
    (Exporter(X), X),
    (Frame([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]])),
    (array.array("d", [1, 2]), np.array([1.0, 2.0])),
    (memoryview(b"ab"), np.array([97, 98], np.uint8)),
    ([jnp.ones(2), jnp.zeros(2)], np.array([[1, 1], [0, 0]], np.float32)),
    (np.ma.array([1, 2]), np.array([1, 2])),
]


@pytest.mark.parametrize(("data", "elements"), SOURCES, ids=lambda x: type(x).__name__)
def test_tensors_of_other_arrays(data, elements, mode):
    same(Tensor(data), elements)
    if isinstance(data, list):
        return
    same(ms.jit(lambda x: Tensor(data) * x)(Tensor(1, elements.dtype)), elements)
    if isinstance(data, (Exporter, Frame)) or type(data).__module__.startswith("jax"):
        same(ops.add(data, Tensor(0, elements.dtype)), elements)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (Frame(np.array([1, "a"], object)), "a Frame of type object, which a Tensor cannot hold"),
        (Frame(RuntimeError("it requires grad.")), r"Frame cannot be read: it requires grad\. .*x\.detach\(\)"),
        (Refused(X, (2, 0)), r"cannot be read: no such device\. .*mindgrad\.from_dlpack"),
        (np.ma.array([1, 2], mask=[0, 1]), r"masked array.*x\.filled\(0\)"),
        ([[1, 2], [3]], "contain unsupported element: its rows differ in length; pad"),
        (["a"], "contain unsupported element: a Tensor holds only numbers"),
        ({1, 2}, "or another array, but got {1, 2} of type set"),
    ],
)  # fmt: skip
def test_what_is_no_array_of_numbers(data, text):
    with pytest.raises(TypeError, match=text):
        Tensor(data)


class Holder(ms.nn.Cell):
    def __init__(self, data):
        super().__init__()
        self.data = data

    def construct(self, x):
        return x + Tensor(self.data)


@pytest.mark.parametrize(
    "make", [Exporter, Frame, lambda x: array.array("f", x)], ids=["dlpack", "array", "buffer"]
)
def test_a_program_notices_that_another_array_was_written_into(make, mode):
    elements = np.ones(2, np.float32)
    data = make(elements)
    written = data if isinstance(data, array.array) else elements
    zeros = Tensor([0.0, 0.0])
    functions = [
        ms.jit(lambda x: x + Tensor(data)),
        Holder(data),
        ms.vmap(lambda x: (x + Tensor(data)).sum()),
    ]
    for value in (1.0, 2.0, 3.0):
        written[0] = value
        for function in functions[:2]:
            same(function(zeros), [value, 1.0], ms.float32)
        same(functions[2](zeros), [value + 1] * 2, ms.float32)


# -- arguments ---------------------------------------------------------------------------------------------


class Scale(ms.nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = ms.Parameter(Tensor([1.0, 2.0, 3.0]), name="w")

    def construct(self, x, options=None):
        y = x / 2 if options is None else x * options["scale"][0]
        return y.astype(ms.float32) * self.w


@pytest.mark.parametrize(
    "data", [X, np.arange(3), jnp.asarray(X), Exporter(X)], ids=["float", "int", "jax", "dlpack"]
)
def test_cells_take_arrays_alike_in_both_modes(data, mode):
    x = Tensor(data)
    same(Scale()(data), (x / 2 * Tensor([1.0, 2.0, 3.0])).asnumpy())
    options = {"scale": (np.array(2.0, np.float32), "name")}
    same(
        Scale()(data, options=options),
        (x * 2.0).astype(ms.float32).asnumpy() * np.array([1, 2, 3], np.float32),
    )


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f, a: ms.grad(f)(a),
        lambda f, a: ms.value_and_grad(f)(a)[1],
        lambda f, a: ms.grad(lambda d: f(d["a"][0]))({"a": [a]})["a"][0],
        lambda f, a: ms.jvp(f, a, np.ones_like(a))[1],
        lambda f, a: ms.vjp(f, a)[1](np.ones((), a.dtype))[0],
        lambda f, a: ms.linearize(f, a)[1](np.ones_like(a)),
        lambda f, a: ms.hessian(f)(a),
        lambda f, a: ms.hvp(f)(a, np.ones_like(a)),
        lambda f, a: ms.laplacian(f)(a),
        lambda f, a: ms.vmap(ms.grad(f))(a[None]),
        lambda f, a: ms.derivative(f, a, 2)[1],
        lambda f, a: ms.ops.taylor(f, a, 2),
        lambda f, a: ms.grad(lambda x: ops.sin(x), sens_param=True)(a, np.ones_like(a)),
    ],
)
def test_gradient_functions_take_arrays_as_tensors(derivative, mode):
    def f(x):
        return (ops.sin(x) * x).sum()

    numpy, tensor = derivative(f, X[0]), None
    with pytest.MonkeyPatch.context() as patch:  # the same with tensors
        patch.setattr(np, "ones_like", lambda x: ops.ones_like(x))
        patch.setattr(np, "ones", lambda shape, dtype: Tensor(shape=shape, dtype=dtype, init=1))
        tensor = derivative(f, Tensor(X[0]))
    same(numpy, tensor.asnumpy())


def test_an_array_is_an_input_of_the_program_not_a_constant():
    f = ms.jit(lambda x, y: x * y)
    for value in (1.0, 2.0, 3.0):
        same(f(X, np.full(3, value, np.float32)), X * np.float32(value))
    same(f(Tensor(X), Tensor([1.0, 2.0, 3.0])), X * np.array([1, 2, 3], np.float32))
    assert (
        f.cache_info().misses == 2
    )  # with arrays, and with tensors, whose signature is found without a walk
    f(X, np.ones(3))
    f(X[:1], np.ones(3))
    assert f.cache_info().misses == 4
    large = np.ones(100_000, np.float32)
    result = f(large, large)
    large[:] = 5
    assert (result.asnumpy() == 1).all()


def test_small_arrays_whose_values_a_program_needs_are_constants():
    order = ms.jit(lambda x, axes: ops.transpose(x, tuple(axes)))
    for axes in ([1, 0], [0, 1], [1, 0]):
        same(order(Tensor(X), np.array(axes)), X.transpose(axes))
    assert (order.cache_info().hits, order.cache_info().misses) == (1, 2)
    applied = ms.jit(lambda x: np.exp(x) * 2)
    np.testing.assert_allclose(applied(np.ones(3)), np.exp(np.ones(3)) * 2)
    with pytest.raises(TypeError, match=r"np.exp was applied to a tensor that is being"):
        applied(np.ones(3000))
    with pytest.raises(ValueError, match="oops"):
        ms.jit(_fails)(np.ones(3))


def _fails(x):
    raise ValueError("oops")


def test_what_is_assigned_to_an_array_argument_stays_inside(mode):
    class Writes(ms.nn.Cell):
        def construct(self, x):
            x[0] = 5.0
            return x

    elements = np.ones(2, np.float32)
    result = Writes()(elements)
    elements[1] = 7.0
    same(result, np.array([5, 1], np.float32))
    assert elements[0] == 1.0


def test_arrays_that_no_tensor_can_stand_for(mode):
    length = ms.jit(lambda names: len(names))
    assert length(np.array(["a", "b"])) == 2
    with pytest.raises(TypeError, match=r"of <U1 elements and 40000 bytes.*argument 'names'"):
        length(np.full(10_000, "a"))
    with pytest.raises(TypeError, match=r"object elements|can not be numpy.ndarray"):
        ms.grad(lambda x: x)(np.array([None]))


def test_a_frame_is_no_argument_of_a_program_but_its_tensor_is(mode):
    class Unhashable(Frame):
        __hash__ = None

    frame = Unhashable([[1.0, 2.0]])
    with pytest.raises(TypeError, match=r"of type Unhashable; use Tensor\(x\) to convert it, tensors"):
        ms.jit(lambda x: x)(frame)
    with pytest.raises(TypeError, match=r"Tensor\(array\)|Tensor\(x\)"):
        ms.grad(lambda x: x)(frame)
    same(ms.grad(lambda x: (x * x).sum())(Tensor(frame)), [[2.0, 4.0]])


# -- NumPy's functions and formats ---------------------------------------------------------------------------


def test_numpy_knows_the_element_types():
    for dtype in DTYPES:
        assert np.dtype(dtype) == dtype.numpy
        assert np.zeros(3, dtype).dtype == dtype.numpy
        assert np.ones(2).astype(dtype).dtype == dtype.numpy


def test_operators_of_numpy_stay_tensors_and_functions_give_arrays():
    x = Tensor([1.0, 4.0])
    for result in (np.add(x, 1), np.ones(2, np.float32) + x, np.multiply(2.0, x), -x):
        assert isinstance(result, Tensor)
    for result in (
        np.sqrt(x),
        np.hypot(x, x),
        np.concatenate([x, x]),
        np.add(x, x, out=np.empty(2, np.float32)),
    ):
        assert type(result) is np.ndarray


def test_formats_apply_to_the_elements():
    x = Tensor([[1.0, 2.5], [-3.0, 1000.0]])
    assert f"{x:.2f}" == "[[1.00 2.50]\n [-3.00 1000.00]]"
    assert f"{x:8.1e}" == "[[ 1.0e+00  2.5e+00]\n [-3.0e+00  1.0e+03]]"
    assert f"{Tensor(1.5):6.2f}|{Tensor([7]):03d}|{Tensor([1, 2]):>4}" == "  1.50|007|[   1    2]"
    assert f"{x}" == str(x)
    assert f"{Tensor([0.1, 0.2], ms.bfloat16):.2f}" == "[0.10 0.20]"
    with pytest.raises(ValueError, match="Unknown format code"):
        f"{x:d}"


def test_comparison_with_an_array_of_another_library_is_elementwise():
    """On either side; a bare ``False`` would be a silent wrong answer."""
    import jax.numpy as jnp

    x, other = Tensor([1.0, 2.0]), jnp.asarray([1.0, 3.0])
    for equal, differs in ((x == other, x != other), (other == x, other != x)):
        assert equal.asnumpy().tolist() == [True, False]
        assert differs.asnumpy().tolist() == [False, True]
    assert (x == "a", x != None) == (False, True)  # noqa: E711


def test_compile_error_names_an_array_argument_that_is_too_large_to_be_a_constant():
    scaled = ms.jit(lambda x, array: x * float(array.mean()))
    assert scaled(Tensor([1.0]), np.full(512, 2.0)).asnumpy() == 2
    with pytest.raises(ms.CompileError, match=r"float\(\) reads the value") as caught:
        scaled(Tensor([1.0]), np.ones(513))
    assert "is an array from outside mindgrad: shape (513,), 4104 bytes." in caught.value.__notes__[0]
    with pytest.raises(ms.CompileError, match=r"float\(\) reads the value") as caught:
        scaled(Tensor([1.0]), Tensor(np.ones(513)))
    assert not hasattr(caught.value, "__notes__")
