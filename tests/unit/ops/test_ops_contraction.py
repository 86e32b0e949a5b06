"""Matrix products, einsum, tensordot, convolutions: values, derivatives, errors, both executors."""

import numpy as np
import pytest
import scipy

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.frontend.programs.compiled import Compiled
from tests.tolerances import assert_close

RNG = np.random.default_rng(3)


def normal(*shape):
    return RNG.normal(size=shape)


def close(found, wanted):
    assert found.shape == np.shape(wanted)
    assert_close(found, wanted, "contraction", scale=1)


MATMUL_SHAPES = [
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 1, 2, 3), (6, 3, 4)), ((3,), (5, 3, 4)),
    ((5, 2, 3), (3,)), ((1, 2, 3), (5, 3, 4)), ((0, 3), (3, 4)), ((2, 0), (0, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), MATMUL_SHAPES)
def test_matmul_is_numpys(a, b):
    x, y = normal(*a), normal(*b)
    wanted = np.matmul(x, y)
    close(ops.matmul(Tensor(x), Tensor(y)), wanted)
    close(Tensor(x) @ Tensor(y), wanted)
    if min(len(a), len(b)) > 1:
        close(ops.bmm(Tensor(x), Tensor(y)), wanted)
        swapped_x, swapped_y = np.swapaxes(x, -1, -2), np.swapaxes(y, -1, -2)
        close(ops.BatchMatMul(True, False)(Tensor(swapped_x), Tensor(y)), wanted)
        close(ops.BatchMatMul(False, True)(Tensor(x), Tensor(swapped_y)), wanted)
        close(ops.BatchMatMul(True, True)(Tensor(swapped_x), Tensor(swapped_y)), wanted)


@pytest.mark.parametrize(("a", "b"), MATMUL_SHAPES)
def test_the_gradient_of_matmul(a, b):
    """⟨c, Ẏ⟩ = ⟨c, Ȧ B + A Ḃ⟩ for all four: the product is linear in each operand."""
    x, y, dx, dy = normal(*a), normal(*b), normal(*a), normal(*b)
    c = np.asarray(normal(*np.matmul(x, y).shape))
    both = ops.GradOperation(get_all=True, sens_param=True)(ops.matmul)
    gx, gy = both(Tensor(x), Tensor(y), Tensor(c))
    pushed = np.matmul(dx, y) + np.matmul(x, dy)
    found = np.vdot(gx.asnumpy(), dx) + np.vdot(gy.asnumpy(), dy)
    assert_close(found, np.vdot(c, pushed), kind="program")


EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("ii->i", (3, 3)), ("ii->", (3, 3)), ("ii", (3, 3)), ("ij->ji", (2, 3)), ("ij->", (2, 3)),
    ("i,j->ij", (2,), (3,)), ("i,i->", (3,), (3,)), ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)), ("ij,ij,ij->j", (2, 3), (2, 3), (2, 3)),
    ("iij,jk->ik", (2, 2, 3), (3, 4)), ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("a,b,c,d->abcd", (2,), (3,), (2,), (2,)), ("i->i", (3,)),
]  # fmt: skip


@pytest.mark.parametrize("case", EINSUMS, ids=lambda case: case[0])
def test_einsum_is_numpys(case):
    equation, *shapes = case
    arrays = [normal(*shape) for shape in shapes]
    tensors = [Tensor(array) for array in arrays]
    expected = np.einsum(equation, *arrays)
    close(ops.einsum(equation, *tensors), expected)
    close(ops.einsum(equation, tensors), expected)
    close(ops.Einsum(equation)(tuple(tensors)), expected)
    slopes = ops.grad(lambda *xs: ops.einsum(equation, *xs), tuple(range(len(tensors))))(*tensors)
    slopes = slopes if isinstance(slopes, tuple) else (slopes,)
    # the sum of the result is linear in each operand
    for slope, array in zip(slopes, arrays, strict=True):
        assert_close(np.vdot(slope.asnumpy(), array), expected.sum(), kind="ill-conditioned")


def test_sums_over_chosen_axes():
    a, b, c = normal(2, 3, 4), normal(5, 4, 6), normal(4, 3, 5)
    ta, tb, tc = Tensor(a), Tensor(b), Tensor(c)
    close(ops.dot(ta, tb), np.dot(a, b))
    close(ops.dot(Tensor(a[0, 0]), Tensor(b[0])), np.dot(a[0, 0], b[0]))
    close(ops.inner(ta, Tensor(a[0])), np.inner(a, a[0]))
    close(ops.inner(ta, Tensor(2.0)), 2 * a)
    close(ops.outer(Tensor(a[0, 0]), Tensor(b[0, 0])), np.outer(a[0, 0], b[0, 0]))
    close(ops.ger(Tensor(a[0, 0]), Tensor(b[0, 0])), np.outer(a[0, 0], b[0, 0]))
    close(
        ops.tensordot(ta, Tensor(c[..., 0]), ([1, 2], [1, 0])), np.tensordot(a, c[..., 0], ([1, 2], [1, 0]))
    )
    close(ops.tensor_dot(ta, tb, (2, 1)), np.tensordot(a, b, (2, 1)))
    close(ops.tensordot(ta, tc, 1), np.tensordot(a, c, 1))
    close(ops.tensordot(ta, tc, 0), np.tensordot(a, c, 0))
    close(ops.vecdot(ta, Tensor(a[0])), (a * a[0]).sum(-1))
    close(ops.vecdot(ta, Tensor(a[0]), 1), (a * a[0]).sum(1))
    z = normal(3) + 1j * normal(3)
    assert_close(ops.vecdot(Tensor(z), Tensor(z)), np.vdot(z, z), kind="program")
    close(ops.mv(Tensor(a[0]), Tensor(b[0, :, 0])), a[0] @ b[0, :, 0])
    close(ops.mm(Tensor(a[0]), Tensor(b[0])), a[0] @ b[0])
    x, y = normal(5, 2, 3), normal(5, 3, 4)
    close(ops.batch_dot(Tensor(x), Tensor(y)), np.einsum("bij,bjk->bik", x, y))
    close(ops.batch_dot(Tensor(x), Tensor(x), 2), np.einsum("bij,bkj->bik", x, x))
    close(ops.batch_dot(Tensor(x), Tensor(y), (-1, 1)), np.einsum("bij,bjk->bik", x, y))
    close(ops.batch_dot(Tensor(x[:, 0]), Tensor(x[:, 1])), (x[:, 0] * x[:, 1]).sum(1)[:, None])


def test_sums_of_a_tensor_and_a_product():
    m, n, vector, batch = normal(2, 3), normal(3, 4), normal(3), normal(5, 2, 3)
    added = normal(2, 4)
    scale = dict(beta=0.5, alpha=2.0)
    tm, tn, tv = Tensor(m), Tensor(n), Tensor(vector)
    close(ops.addmm(Tensor(added), tm, tn, **scale), 0.5 * added + 2 * m @ n)
    close(ops.addmv(1.0, tm, tv, **scale), 0.5 + 2 * m @ vector)
    close(ops.addr(1, tv, Tensor(n[0])), 1 + np.outer(vector, n[0]))
    other = normal(5, 3, 4)
    close(ops.baddbmm(Tensor(added), Tensor(batch), Tensor(other), 0.5, 2.0), 0.5 * added + 2 * batch @ other)
    close(
        ops.addbmm(Tensor(added), Tensor(batch), Tensor(other), **scale),
        0.5 * added + 2 * (batch @ other).sum(0),
    )
    bias = normal(2)
    close(ops.bias_add(Tensor(batch), Tensor(bias)), batch + bias[:, None])
    close(ops.bias_add(Tensor(batch), tv, "NHWC"), batch + vector)


def test_element_types():
    whole = Tensor(np.arange(4).reshape(2, 2), ms.int32)
    assert ops.matmul(whole, whole).dtype is ms.int32
    assert ops.matmul(whole, whole).asnumpy().tolist() == [[2, 3], [6, 11]]
    assert ops.matmul(whole, Tensor(np.eye(2, dtype=np.float16))).dtype is ms.float16
    assert ops.einsum("ij,jk", whole, Tensor(np.eye(2))).dtype is ms.float64
    half = Tensor(np.full((1, 4096), 1.0), ms.float16)
    assert ops.matmul(half, Tensor(np.full((4096, 1), 1.0), ms.float16)).item() == 4096
    z = normal(2, 2) + 1j * normal(2, 2)
    close(ops.matmul(Tensor(z), Tensor(z)), z @ z)


# --- convolutions ------------------------------------------------------------------------------------


def correlated(x, w, groups=1):
    """Every sample, output and channel by scipy."""
    outputs, channels = w.shape[:2]
    per_group = outputs // groups
    y = [
        [
            sum(
                scipy.signal.correlate(sample[o // per_group * channels + c], w[o, c], "valid")
                for c in range(channels)
            )
            for o in range(outputs)
        ]
        for sample in x
    ]
    return np.array(y)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_convolutions(axes):
    x, w, bias = normal(2, 4, *(7, 6, 5)[:axes]), normal(6, 4, *(3, 2, 2)[:axes]), normal(6)
    function = getattr(ops, f"conv{axes}d")
    full = correlated(x, w)
    lined = bias.reshape(-1, *(1,) * axes)
    close(function(Tensor(x), Tensor(w)), full)
    close(function(Tensor(x), Tensor(w), Tensor(bias)), full + lined)
    strided = full[(..., *(slice(None, None, 2),) * axes)]
    close(function(Tensor(x), Tensor(w), stride=2), strided)
    padded = np.pad(x, [(0, 0), (0, 0), *[(1, 1)] * axes])
    close(function(Tensor(x), Tensor(w), None, 1, "pad", 1), correlated(padded, w))
    uneven = np.pad(x, [(0, 0), (0, 0), *[(1, 2)] * axes])
    close(function(Tensor(x), Tensor(w), None, 1, "pad", (1, 2) * axes), correlated(uneven, w))
    grouped = normal(6, 2, *(3, 2, 2)[:axes])
    close(function(Tensor(x), Tensor(grouped), groups=2), correlated(x, grouped, 2))
    spread = np.zeros((6, 4, *(2 * k - 1 for k in w.shape[2:])))
    spread[(..., *(slice(None, None, 2),) * axes)] = w
    close(function(Tensor(x), Tensor(w), dilation=2), correlated(x, spread))
    for stride in (1, 2, 3):
        same = function(Tensor(x), Tensor(w), stride=stride, pad_mode="same")
        assert same.shape == (2, 6, *(-(-n // stride) for n in x.shape[2:]))


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize(
    "window",
    [
        dict(), dict(stride=2), dict(stride=2, pad_mode="pad", padding=1), dict(dilation=2),
        dict(stride=3, pad_mode="same"), dict(groups=2), dict(stride=2, groups=2, dilation=2),
    ],
    ids=str,
)  # fmt: skip
def test_a_transposed_convolution_is_the_gradient_of_one(axes, window):
    x = normal(2, 4, *(4, 3, 3)[:axes])
    w = normal(4, 6 // window.get("groups", 1), *(3, 2, 2)[:axes])
    y = getattr(ops, f"conv_transpose{axes}d")(Tensor(x), Tensor(w), **window)
    forward = getattr(ops, f"conv{axes}d")

    def back(z):
        return forward(z, Tensor(w), **window)

    if window.get("pad_mode") == "same":
        assert y.shape[2:] == tuple(3 * n for n in x.shape[2:])
    made = back(y)
    assert made.shape == x.shape
    gradient = ops.GradOperation(sens_param=True)(back)(y, Tensor(x))
    close(y, gradient.asnumpy())


def test_more_of_transposed_convolutions():
    x, w, bias = normal(1, 2, 4, 4), normal(2, 3, 3, 3), normal(3)
    y = ops.conv_transpose2d(Tensor(x), Tensor(w), Tensor(bias), 2, output_padding=1)
    assert y.shape == (1, 3, 10, 10)
    plain = ops.conv_transpose2d(Tensor(x), Tensor(w), None, 2).asnumpy()
    close(y, np.pad(plain, [(0, 0), (0, 0), (0, 1), (0, 1)]) + bias[:, None, None])
    # the class form is told the size of the input
    image, kernel = normal(2, 3, 8, 7), normal(4, 3, 3, 2)
    for mode in ("valid", "same"):
        convolution = ops.Conv2D(4, (3, 2), pad_mode=mode, stride=2)
        out = convolution(Tensor(image), Tensor(kernel))
        c = normal(*out.shape)
        wanted = ops.GradOperation(sens_param=True)(lambda x, f=convolution: f(x, Tensor(kernel)))(
            Tensor(image), Tensor(c)
        )
        transposed = ops.Conv2DTranspose(4, (3, 2), pad_mode=mode, stride=2)
        close(transposed(Tensor(c), Tensor(kernel), image.shape), wanted.asnumpy())


def test_both_executors_agree():
    x, w = normal(2, 4, 7, 6), normal(6, 2, 3, 2)
    a, b, v = normal(5, 2, 3), normal(5, 3, 4), normal(3)

    def everything(x, w, a, b, v):
        found = [ops.conv2d(x, w, None, 2, "same", 0, 2, 2), ops.conv2d(x, w, groups=2)]
        found += [ops.conv_transpose2d(found[0], w, None, 2, dilation=2, groups=2)]
        found += [ops.matmul(a, b), ops.matmul(a, v), ops.BatchMatMul(True)(b, b), ops.outer(v, v)]
        found += [ops.einsum("bij,bjk,j->ik", a, b, v), ops.tensordot(a, b, ((0, 2), (0, 1)))]
        found += [ops.batch_dot(a, b), ops.addbmm(1.0, a, b, alpha=2.0), ops.inner(a, a)]
        gradients = ops.grad(lambda x, w: ops.sum(ops.square(ops.conv2d(x, w, groups=2))), (0, 1))(x, w)
        second = ops.grad(ops.grad(lambda a: ops.sum(ops.matmul(ops.square(a), b))))(a)
        return [*found, *gradients, second]

    given = [Tensor(each) for each in (x, w, a, b, v)]
    for eager, compiled in zip(everything(*given), Compiled(everything)(*given), strict=True):
        close(compiled, eager.asnumpy())


# --- errors ------------------------------------------------------------------------------------------

M, V, X = Tensor(normal(2, 3)), Tensor(normal(4)), Tensor(normal(1, 2, 5, 5))

ERRORS = [
    (lambda m, v, x: ops.matmul(m, m), ValueError, r"'matmul', the shapes \(2, 3\) and \(2, 3\) do not match: the last axis"),
    (lambda m, v, x: ops.matmul(m, 2.0), TypeError, r"'MatMul'.*must be tensors, but got float"),
    (lambda m, v, x: ops.matmul(ops.greater(m, 0), ops.greater(m, 0)), TypeError, r"'MatMul'.*Bool"),
    (lambda m, v, x: ops.MatMul()(m, v), ValueError, r"'MatMul'.*must have two axes.*\(2, 3\) and \(4,\)"),
    (lambda m, v, x: ops.MatMul(True, True)(m, m), ValueError, r"'MatMul'.*transpose_a = True.*2 and 3"),
    (lambda m, v, x: ops.bmm(m, v), ValueError, r"'BatchMatMul'.*at least two axes"),
    (lambda m, v, x: ops.mv(m, m), ValueError, r"'Mv'.*2 and 1 axes"),
    (lambda m, v, x: ops.dot(m, v), ValueError, r"'Dot'.*equal sizes"),
    (lambda m, v, x: ops.outer(m, v), ValueError, r"'Outer'.*1 and 1 axes"),
    (lambda m, v, x: ops.tensordot(m, v, 2), ValueError, r"'TensorDot'.*at least 2 axes"),
    (lambda m, v, x: ops.tensordot(m, v, (0, 5)), ValueError, r"'TensorDot'.*in range \[-1, 1\)"),
    (lambda m, v, x: ops.tensordot(m, m, ((0, 1), (0,))), ValueError, r"'TensorDot'.*the same number of axes"),
    (lambda m, v, x: ops.tensordot(m, v, 1.0), TypeError, r"'TensorDot'.*'axes' must be an int"),
    (lambda m, v, x: ops.einsum("ij,jk", m, v), ValueError, r"'einsum'.*'jk' labels 2 axes"),
    (lambda m, v, x: ops.einsum(1, m), TypeError, r"'Einsum'.*'equation' must be a string"),
    (lambda m, v, x: ops.einsum("i->i"), ValueError, r"'Einsum'.*at least one operand"),
    (lambda m, v, x: ops.batch_dot(m, v), ValueError, r"'BatchDot'.*at least two axes"),
    (lambda m, v, x: ops.batch_dot(m, m, 0), ValueError, r"'BatchDot'.*first axis is the batch"),
    (lambda m, v, x: ops.bias_add(m, v), ValueError, r"'BiasAdd'.*one number for each channel"),
    (lambda m, v, x: ops.bias_add(m, v, "CN"), ValueError, r"'BiasAdd'.*'data_format'"),
    (lambda m, v, x: ops.conv2d(m, m), ValueError, r"'Conv2D'.*'input' must have 4 axes.*\(2, 3\)"),
    (lambda m, v, x: ops.conv2d(x, ops.ones((3, 3, 2, 2))), ValueError, r"'Conv2D'.*2 channels"),
    (lambda m, v, x: ops.conv2d(x, x, stride=0), ValueError, r"'Conv2D'.*'stride' must be at least 1"),
    (lambda m, v, x: ops.conv2d(x, x, stride=1.5), TypeError, r"'Conv2D'.*'stride' must be an int"),
    (lambda m, v, x: ops.conv2d(x, x, stride=(1, 2, 3)),
     ValueError, r"'Conv2D'.*'stride' must be one int or 2"),
    (lambda m, v, x: ops.conv2d(x, x, padding=1), ValueError, r"'Conv2D'.*'padding' must be 0 unless"),
    (lambda m, v, x: ops.conv2d(x, x, pad_mode="full"), ValueError, r"'Conv2D'.*'pad_mode' must be"),
    (lambda m, v, x: ops.conv2d(x, x, pad_mode="pad", padding=(1, 2, 3)),
     ValueError, r"'padding' must be one int, 2 ints or 4 ints"),
    (lambda m, v, x: ops.conv2d(x, 1.0), TypeError, r"'Conv2D'.*must be tensors, but got float"),
    (lambda m, v, x: ops.conv_transpose2d(x, ops.ones((3, 1, 2, 2))),
     ValueError, r"'Conv2DTranspose'.*number of channels of the input"),
    (lambda m, v, x: ops.conv_transpose2d(x, ops.ones((2, 1, 2, 2)), output_padding=1),
     ValueError, r"'output_padding' must be smaller"),
    (lambda m, v, x: ops.Conv2D(3, 5)(x, x),
     ValueError, r"'Conv2D'.*'weight' must have the shape \(3, channels, 5, 5\)"),
    (lambda m, v, x: ops.Conv2D(1, 5, data_format="NHWC")(x, x),
     ValueError, r"'Conv2D'.*'data_format' must be 'NCHW'"),
    (lambda m, v, x: ops.Conv2DTranspose(2, 5)(x, ops.ones((2, 1, 5, 5)), (1, 1, 3, 3)),
     ValueError, r"'Conv2DTranspose'.*'input_size'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), ERRORS)
def test_mistakes_are_errors_in_both_modes(call, kind, words):
    with pytest.raises(kind, match=words):
        call(M, V, X)
    with pytest.raises(kind, match=words):
        Compiled(call)(M, V, X)
