"""Windows of images: unfold, fold, nn.Unfold; the likeness of images; CTC: values and two derivatives."""

import itertools

import numpy as np
import pytest
import scipy

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from tests.tolerances import assert_close
from tests.unit.derivative_checks import check

RNG = np.random.default_rng(3)


def windows(x, kernel, dilation=(1, 1), padding=(0, 0), stride=(1, 1)):
    """Of shape (n, c, kernel row, kernel column, window row, window column), element by element."""
    x = np.pad(x, [(0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2])
    counts = [
        (size - (k - 1) * d - 1) // s + 1
        for size, k, d, s in zip(x.shape[2:], kernel, dilation, stride, strict=True)
    ]
    found = np.zeros((*x.shape[:2], *kernel, *counts))
    for i, j, p, q in itertools.product(*map(range, (*kernel, *counts))):
        found[:, :, i, j, p, q] = x[:, :, p * stride[0] + i * dilation[0], q * stride[1] + j * dilation[1]]
    return found


OPTIONS = [
    {"kernel": (2, 3)},
    {"kernel": (2, 2), "stride": (2, 1), "padding": (1, 2)},
    {"kernel": (3, 2), "dilation": (1, 2), "stride": (2, 2)},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_unfold(options):
    x = RNG.normal(size=(2, 2, 5, 6))
    kernel, rest = options["kernel"], {k: v for k, v in options.items() if k != "kernel"}

    def reference(x):
        found = windows(x, **options)
        return found.reshape(2, 2 * kernel[0] * kernel[1], -1)

    check(lambda x: ops.unfold(x, kernel, **rest), reference, x)


@pytest.mark.parametrize("options", OPTIONS)
def test_fold_is_the_transpose_of_unfold(options):
    x = RNG.normal(size=(2, 2, 5, 6))
    kernel, rest = options["kernel"], {k: v for k, v in options.items() if k != "kernel"}
    ms.set_context(mode=ms.PYNATIVE_MODE)
    columns = ops.unfold(Tensor(x), kernel, **rest)
    other = RNG.normal(size=columns.shape)
    image = ops.fold(Tensor(other), (5, 6), kernel, **rest)
    assert_close((columns.asnumpy() * other).sum(), (x * image.asnumpy()).sum(), kind="ill-conditioned")
    # linear: its derivative is unfold
    slope = ms.grad(lambda c: (ops.fold(c, (5, 6), kernel, **rest) * Tensor(x)).sum())(Tensor(other))
    assert_close(slope, columns, kind="program")


def test_method_and_layer():
    x = RNG.normal(size=(1, 2, 4, 5))
    layer = nn.Unfold((1, 2, 2, 1), (1, 1, 2, 1), (1, 2, 1, 1))
    expected = windows(x, (2, 2), (2, 1), (0, 0), (1, 2)).transpose(0, 2, 3, 1, 4, 5).reshape(1, 8, 2, 2)
    np.testing.assert_array_equal(layer(Tensor(x)).asnumpy(), expected)
    assert nn.Unfold([1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1], "same")(Tensor(x)).shape == (1, 18, 2, 3)
    assert Tensor(x).unfold(2).fold((4, 5), 2).shape == x.shape
    same = nn.Unfold([1, 3, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1], "same")(Tensor(x)).asnumpy()
    np.testing.assert_array_equal(same[:, 8:10], x)  # the middle of each window


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ops.unfold(Tensor([1.0]), 2), r"must have the shape \(n, c, h, w\), but its shape is \(1,\)"),
        (lambda: ops.unfold(ops.ones((1, 1, 2, 2)), 3), "covers 3 elements, but the padded image has only 2"),
        (lambda: ops.fold(ops.ones((1, 4, 3)), (3, 3), 2), r"must have the shape \(n, c · 4, 4\)"),
        (lambda: nn.Unfold((2, 2), (1, 1, 1, 1), (1, 1, 1, 1)), r"form \(1, row, column, 1\)"),
    ],
)  # fmt: skip
def test_errors(call, said):
    with pytest.raises(ValueError, match=said):
        call()


# --- images -------------------------------------------------------------------------------------------


def similarity(x, y, size, sigma, top):
    at = np.arange(size) - (size - 1) / 2
    w = np.exp(-0.5 * (at / sigma) ** 2)
    w /= w.sum()
    half = size // 2

    def blurred(a):
        correlate = scipy.ndimage.correlate1d
        full = correlate(correlate(a, w, 2, mode="constant"), w, 3, mode="constant")
        return full[:, :, half:-half, half:-half]

    mx, my = blurred(x), blurred(y)
    c1, c2 = (0.01 * top) ** 2, (0.03 * top) ** 2
    xx, yy, xy = blurred(x * x) - mx * mx, blurred(y * y) - my * my, blurred(x * y) - mx * my
    found = (2 * mx * my + c1) * (2 * xy + c2) / ((mx * mx + my * my + c1) * (xx + yy + c2))
    return found.mean((1, 2, 3))


def test_similarity_of_images():
    x = RNG.uniform(size=(2, 1, 5, 6))
    y = np.clip(x + 0.1 * RNG.normal(size=x.shape), 0, 1)
    layer = nn.SSIM(2.0, 3, 1.0)
    check(layer, lambda x, y: similarity(x, y, 3, 1.0, 2.0), x, y)
    check(nn.PSNR(2.0), lambda x, y: 10 * np.log10(4 / ((x - y) ** 2).mean((1, 2, 3))), x, y)


def test_differences_and_middle_of_images():
    x = RNG.normal(size=(1, 2, 3, 4))

    def differences(x):
        dy, dx = np.zeros_like(x), np.zeros_like(x)
        dy[:, :, :-1], dx[..., :-1] = np.diff(x, axis=2), np.diff(x, axis=3)
        return dy, dx

    check(lambda x: ops.concat(nn.ImageGradients()(x)), lambda x: np.concatenate(differences(x)), x)
    # MindSpore 2.10: 7 of 13 and 8 of 14 for a half
    assert nn.CentralCrop(0.5)(ops.ones((1, 1, 13, 14))).shape == (1, 1, 7, 8)


# --- CTC ----------------------------------------------------------------------------------------------


def every_path(log_probs, target, blank):
    """−log of the sum over all sequences of classes that read as the target: by enumeration."""
    times, classes = log_probs.shape
    total = -np.inf
    for path in itertools.product(range(classes), repeat=times):
        read = [k for k, _ in itertools.groupby(path) if k != blank]
        if read == list(target):
            total = np.logaddexp(total, log_probs[np.arange(times), list(path)].sum())
    return -total


LENGTHS, COUNTS = np.array([4, 3, 4]), np.array([2, 1, 0])
TARGETS = np.array([[1, 1], [2, 0], [0, 0]])


def alignments(x, blank=0, reduction="none"):
    targets = TARGETS if blank == 0 else np.array([[1, 1], [0, 0], [0, 0]])
    found = np.array([
        every_path(x[: LENGTHS[n], n], targets[n, : COUNTS[n]], blank) for n in range(len(COUNTS))
    ])  # fmt: skip
    if reduction == "mean":
        return (found / np.maximum(COUNTS, 1)).mean()
    return found.sum() if reduction == "sum" else found


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_ctc_loss(reduction):
    x = np.log(RNG.dirichlet(np.ones(3), size=(4, 3)))
    check(
        lambda x: ops.ctc_loss(x, Tensor(TARGETS), Tensor(LENGTHS), Tensor(COUNTS), reduction=reduction)[0],
        lambda x: alignments(x, reduction=reduction),
        x,
    )


def test_ctc_loss_compiled_with_another_blank():
    x = np.log(RNG.dirichlet(np.ones(3), size=(4, 3)))
    targets = Tensor(np.array([[1, 1], [0, 0], [0, 0]]))
    loss = lambda x, t, a, b: nn.CTCLoss(2, "sum")(x, t, a, b)
    value, slope = ms.jit(ms.value_and_grad(loss))(Tensor(x), targets, Tensor(LENGTHS), Tensor(COUNTS))
    assert_close(value, alignments(x, 2, "sum"), kind="program")
    eager = ms.grad(loss)(Tensor(x), targets, Tensor(LENGTHS), Tensor(COUNTS))
    assert_close(slope, eager, kind="program")


def test_ctc_loss_of_an_impossible_target():
    x = Tensor(np.log(np.full((2, 1, 3), 1 / 3)))
    given = Tensor([[1, 1]]), Tensor([2]), Tensor([2])  # two equal labels need three times
    assert ops.ctc_loss(x, *given)[0].asnumpy() == np.inf
    loss = lambda x: ops.ctc_loss(x, *given, zero_infinity=True)[0]
    value, slope = ms.value_and_grad(loss)(x)
    assert value.asnumpy() == 0
    assert not slope.asnumpy().any()


def test_ctc_targets_one_behind_the_other():
    x = Tensor(np.log(RNG.dirichlet(np.ones(3), size=(4, 2))))
    one = ops.ctc_loss(x, Tensor([[1, 2], [2, 0]]), Tensor([4, 4]), Tensor([2, 1]))[0]
    two = ops.ctc_loss(x, Tensor([1, 2, 2]), Tensor([4, 4]), Tensor([2, 1]))[0]
    assert one.asnumpy() == two.asnumpy()
    with pytest.raises(ValueError, match="'target_lengths' must be from 0 to 2"):
        ops.ctc_loss(x, Tensor([[1, 2], [2, 0]]), Tensor([4, 4]), Tensor([3, 1]))
    with pytest.raises(TypeError, match="'targets' must be integers"):
        ops.ctc_loss(x, Tensor([[1.0, 2.0], [2.0, 0.0]]), Tensor([4, 4]), Tensor([2, 1]))


def test_class_forms():
    x = Tensor(RNG.normal(size=(2, 3, 4, 5)))
    columns = ops.Im2Col((2, 3), strides=2)(x)
    np.testing.assert_array_equal(
        columns.asnumpy(), windows(x.asnumpy(), (2, 3), stride=(2, 2)).reshape(2, 3, 6, 4)
    )
    back = ops.Col2Im((2, 3), stride=2)(columns, Tensor([4, 5]))
    flat = columns.reshape(2, 18, 4)
    np.testing.assert_array_equal(back.asnumpy(), ops.fold(flat, (4, 5), (2, 3), stride=2).asnumpy())
    assert ops.Bincount()(Tensor([5, 1, 1]), Tensor(3), Tensor([1.0, 2.0, 3.0])).asnumpy().tolist() == [
        0,
        5,
        0,
    ]
    picked = ops.EmbeddingLookup()(Tensor([[1.0], [2.0], [3.0]]), Tensor([11, 12]), 10)
    assert picked.asnumpy().tolist() == [[2.0], [3.0]]
    assert ops.Quantile(dim=0, ignore_nan=True)(Tensor([1.0, np.nan, 3.0]), 0.5) == Tensor(2.0)
    turned = ops.ConjugateTranspose()(Tensor([[1 + 2j, 3 - 1j]]), (1, 0))
    np.testing.assert_array_equal(turned.asnumpy(), np.array([[1 - 2j], [3 + 1j]]))
