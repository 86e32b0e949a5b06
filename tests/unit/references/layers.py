"""Products, convolutions, pooling, padding, images, embeddings, and layers that move or measure elements."""

from tests.unit.references.case import Case, normal, whole

X = normal(3, 4)
SERIES, IMAGES, VOLUMES = normal(2, 2, 7), normal(2, 2, 5, 6), normal(1, 2, 3, 4, 3)


def _tuple(value, axes):
    return (value,) * axes if isinstance(value, int) else value


def _same(sizes, kernel, stride, dilation=1):
    """What "same" pads before and behind each axis, for f.pad: the output has ⌈n / stride⌉ elements."""
    found = []
    axes = len(sizes)
    rows = zip(sizes, _tuple(kernel, axes), _tuple(stride, axes), _tuple(dilation, axes), strict=True)
    for n, k, s, d in rows:
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        found = [total // 2, total - total // 2, *found]  # the last axis comes first
    return found


def _convolved(stride=1, pad="valid", dilation=1, groups=1):
    """A convolution; `pad` is "valid", "same" or what f.pad takes."""

    def theirs(f, t, x, w):
        weight = w["weight"]
        if x.ndim == 3:
            weight = weight[:, :, 0]  # Conv1d stores its kernel with four axes
        if pad != "valid":
            x = f.pad(x, _same(x.shape[2:], weight.shape[2:], stride, dilation) if pad == "same" else pad)
        apply = (f.conv1d, f.conv2d, f.conv3d)[x.ndim - 3]
        return apply(x, weight, w.get("bias"), stride, 0, dilation, groups)

    return theirs


def _transposed(stride=1, pad="valid", dilation=1, groups=1, more=0):
    """A transposed convolution; "same" keeps `stride` elements for each of the input."""

    def theirs(f, t, x, w):
        weight = w["weight"]
        if x.ndim == 3:
            weight = weight[:, :, 0]
        apply = (f.conv_transpose1d, f.conv_transpose2d, f.conv_transpose3d)[x.ndim - 3]
        padding = 0 if isinstance(pad, str) else pad
        behind = max(stride - weight.shape[-1], 0) if pad == "same" else more
        y = apply(x, weight, w.get("bias"), stride, padding, behind, groups, dilation)
        if pad != "same":
            return y
        for axis in range(2, x.ndim):
            total = max((weight.shape[axis] - 1) * dilation + 1 - stride, 0)
            y = y.narrow(axis, total // 2, x.shape[axis] * stride)
        return y

    return theirs


def _mean_of_same(f, x, kernel, stride):
    """Averages over windows that "same" places: over the elements that exist."""
    pad = _same(x.shape[2:], kernel, stride)
    apply = (f.avg_pool1d, f.avg_pool2d, f.avg_pool3d)[x.ndim - 3]
    return apply(f.pad(x, pad), kernel, stride) / apply(f.pad(x * 0 + 1, pad), kernel, stride)


def _max_of_same(f, x, kernel, stride):
    apply = (f.max_pool1d, f.max_pool2d, f.max_pool3d)[x.ndim - 3]
    return apply(f.pad(x, _same(x.shape[2:], kernel, stride), value=-1e30), kernel, stride)


def _corners(t, x, size):
    """Linear interpolation where upper left corners meet (neither areas nor all corners)."""

    def matrix(n, m):
        places = (t.arange(m, dtype=x.dtype) * n / m).clamp(max=n - 1)
        return (1 - (places[:, None] - t.arange(n)).abs()).clamp(min=0)

    return matrix(x.shape[2], size[0]) @ x @ matrix(x.shape[3], size[1]).T


def _symmetric(t, x, axis, before, behind):
    n = x.shape[axis]
    return t.cat(
        [x.narrow(axis, 0, before).flip(axis), x, x.narrow(axis, n - behind, behind).flip(axis)], axis
    )


def _normalized_by_batch(f, t, x, w, of, kind):
    y = f.batch_norm(of, None, None, w["batchnorm.gamma"], w["batchnorm.beta"], True, eps=1e-5)
    return kind(y)


def _shuffled(x, groups):
    return x.reshape(x.shape[0], groups, -1, *x.shape[2:]).transpose(1, 2).reshape(x.shape)


DENSE = {"weight": (3, 4), "bias": (3,)}
IDS = whole([2, 0], [4, 2])

CASES = [
    # --- products ------------------------------------------------------------------------------------------
    Case("nn.Dense(4, 3)", (X,), lambda f, t, x, w: f.linear(x, w["weight"], w["bias"]), DENSE),
    Case("nn.Dense(4, 3, activation='tanh')", (normal(2, 2, 4),), lambda f, t, x, w: t.tanh(f.linear(x, w["weight"], w["bias"])), DENSE, compiled=True),
    Case("nn.Linear(4, 3)", (X,), lambda f, t, x, w: f.linear(x, w["weight"], w["bias"]), DENSE),
    Case("nn.Dense(4, 3, has_bias=False)", (X,), lambda f, t, x, w: f.linear(x, w["weight"]), {"weight": (3, 4)}),
    Case("nn.BiDense(4, 2, 3)", (X, normal(3, 2)), lambda f, t, x, y, w: f.bilinear(x, y, w["weight"], w["bias"]), {"weight": (3, 4, 2), "bias": (3,)}, compiled=True),
    Case("nn.MatMul()", (X, normal(4, 2)), lambda f, t, x, y: x @ y),
    Case("nn.MatMul(True, True)", (normal(2, 4, 3), normal(2, 5, 4)), lambda f, t, x, y: x.mT @ y.mT),
    Case("nn.Embedding(5, 3)", (IDS,), lambda f, t, i, w: f.embedding(i, w["embedding_table"]), {"embedding_table": (5, 3)}, compiled=True),
    Case("nn.Embedding(5, 3, True)", (IDS,), lambda f, t, i, w: f.embedding(i, w["embedding_table"]), {"embedding_table": (5, 3)}),
    Case("nn.EmbeddingLookup(5, 3)", (IDS,), lambda f, t, i, w: f.embedding(i, w["embedding_table"]), {"embedding_table": (5, 3)}),
    Case("nn.SequentialCell(nn.Dense(4, 3), nn.Tanh(), nn.Dense(3, 2))", (X,), lambda f, t, x, w: f.linear(t.tanh(f.linear(x, w["0.weight"], w["0.bias"])), w["2.weight"], w["2.bias"]), {"0.weight": (3, 4), "0.bias": (3,), "2.weight": (2, 3), "2.bias": (2,)}),
    Case("nn.TimeDistributed(nn.Dense(4, 3), 1)", (normal(2, 3, 4),), lambda f, t, x, w: f.linear(x, w["layer.weight"], w["layer.bias"]), {"layer.weight": (3, 4), "layer.bias": (3,)}),
    Case("nn.DenseBnAct(4, 3, has_bn=True, activation='sigmoid').set_train()", (X,), lambda f, t, x, w: _normalized_by_batch(f, t, x, w, f.linear(x, w["dense.weight"], w["dense.bias"]), t.sigmoid), {"dense.weight": (3, 4), "dense.bias": (3,), "batchnorm.gamma": (3,), "batchnorm.beta": (3,)}),
    Case("nn.DenseBnAct(4, 3, activation='leakyrelu')", (X,), lambda f, t, x, w: f.leaky_relu(f.linear(x, w["dense.weight"], w["dense.bias"]), 0.2), {"dense.weight": (3, 4), "dense.bias": (3,)}),
    Case("nn.Conv2dBnAct(2, 3, 3, 2, has_bn=True, activation='tanh').set_train()", (IMAGES,), lambda f, t, x, w: _normalized_by_batch(f, t, x, w, _convolved(2, "same")(f, t, x, {"weight": w["conv.weight"]}), t.tanh), {"conv.weight": (3, 2, 3, 3), "batchnorm.gamma": (3,), "batchnorm.beta": (3,)}),
    # --- convolutions --------------------------------------------------------------------------------------
    Case("nn.Conv1d(2, 3, 3, 2, has_bias=True)", (SERIES,), _convolved(2, "same"), {"weight": (3, 2, 1, 3), "bias": (3,)}),
    Case("nn.Conv1d(2, 4, 2, pad_mode='pad', padding=2, dilation=3, group=2)", (SERIES,), _convolved(1, (2, 2), 3, 2), {"weight": (4, 1, 1, 2)}),
    Case("nn.Conv2d(2, 3, 3)", (IMAGES,), _convolved(1, "same"), {"weight": (3, 2, 3, 3)}),
    Case("nn.Conv2d(2, 3, (2, 3), (2, 3), has_bias=True)", (IMAGES,), _convolved((2, 3), "same"), {"weight": (3, 2, 2, 3), "bias": (3,)}),
    Case("nn.Conv2d(2, 3, 3, 2, pad_mode='pad', padding=(2, 1, 0, 3), has_bias=True)", (IMAGES,), _convolved(2, (0, 3, 2, 1)), {"weight": (3, 2, 3, 3), "bias": (3,)}, compiled=True),
    Case("nn.Conv2d(2, 4, 2, pad_mode='valid', dilation=(2, 1), group=2)", (IMAGES,), _convolved(1, "valid", (2, 1), 2), {"weight": (4, 1, 2, 2)}),
    Case("nn.Conv2d(2, 2, 3, 2, dilation=2)", (IMAGES,), _convolved(2, "same", 2), {"weight": (2, 2, 3, 3)}),
    Case("nn.Conv3d(2, 2, 2, (1, 2, 1), has_bias=True)", (VOLUMES,), _convolved((1, 2, 1), "same"), {"weight": (2, 2, 2, 2, 2), "bias": (2,)}),
    Case("nn.Conv3d(2, 1, 2, pad_mode='pad', padding=1)", (VOLUMES,), _convolved(1, (1,) * 6), {"weight": (1, 2, 2, 2, 2)}),
    Case("nn.Conv1dTranspose(2, 3, 3, 2, has_bias=True)", (normal(2, 2, 4),), _transposed(2, "same"), {"weight": (2, 3, 1, 3), "bias": (3,)}),
    Case("nn.Conv1dTranspose(2, 2, 3, 2, pad_mode='pad', padding=1, dilation=2)", (normal(2, 2, 4),), _transposed(2, 1, 2), {"weight": (2, 2, 1, 3)}),
    Case("nn.Conv2dTranspose(2, 3, 3, 2, has_bias=True)", (normal(1, 2, 3, 2),), _transposed(2, "same"), {"weight": (2, 3, 3, 3), "bias": (3,)}),
    Case("nn.Conv2dTranspose(2, 3, 2, 3)", (normal(1, 2, 3, 2),), _transposed(3, "same"), {"weight": (2, 3, 2, 2)}),
    Case("nn.Conv2dTranspose(2, 4, 3, 2, pad_mode='valid', group=2)", (normal(1, 2, 3, 2),), _transposed(2, "valid", 1, 2), {"weight": (2, 2, 3, 3)}),
    Case("nn.Conv2dTranspose(2, 1, 3, 2, pad_mode='pad', padding=1, output_padding=1)", (normal(1, 2, 3, 2),), _transposed(2, 1, more=1), {"weight": (2, 1, 3, 3)}),
    Case("nn.Conv3dTranspose(2, 2, 2, 2, has_bias=True)", (normal(1, 2, 2, 1, 2),), _transposed(2, "same"), {"weight": (2, 2, 2, 2, 2), "bias": (2,)}),
    Case("nn.Conv3dTranspose(2, 1, 2, 1, 'pad', 1)", (normal(1, 2, 3, 2, 2),), _transposed(1, 1), {"weight": (2, 1, 2, 2, 2)}),
    # --- pooling -------------------------------------------------------------------------------------------
    Case("nn.AvgPool1d(3, 2)", (SERIES,), lambda f, t, x: f.avg_pool1d(x, 3, 2)),
    Case("nn.AvgPool1d(3, 2, 'same')", (SERIES,), lambda f, t, x: _mean_of_same(f, x, 3, 2)),
    Case("nn.AvgPool2d(2, 2)", (IMAGES,), lambda f, t, x: f.avg_pool2d(x, 2, 2)),
    Case("nn.AvgPool2d((2, 3), (2, 1), 'same')", (IMAGES,), lambda f, t, x: _mean_of_same(f, x, (2, 3), (2, 1)), compiled=True),
    Case("nn.AvgPool2d(3, 2, 'pad', 1, True, False)", (IMAGES,), lambda f, t, x: f.avg_pool2d(x, 3, 2, 1, True, False)),
    Case("nn.AvgPool2d(3, 2, 'pad', 1, True)", (IMAGES,), lambda f, t, x: f.avg_pool2d(x, 3, 2, 1, True)),
    Case("nn.AvgPool2d(2, 1, 'pad', 1, divisor_override=3)", (IMAGES,), lambda f, t, x: f.avg_pool2d(x, 2, 1, 1, divisor_override=3)),
    Case("nn.AvgPool3d(2, 2, 'pad', 1)", (VOLUMES,), lambda f, t, x: f.avg_pool3d(x, 2, 2, 1)),
    Case("nn.MaxPool1d(3, 2)", (SERIES,), lambda f, t, x: f.max_pool1d(x, 3, 2)),
    Case("nn.MaxPool1d(2, 2, 'same')", (SERIES,), lambda f, t, x: _max_of_same(f, x, 2, 2)),
    Case("nn.MaxPool2d(2, 2)", (IMAGES,), lambda f, t, x: f.max_pool2d(x, 2, 2)),
    Case("nn.MaxPool2d(3, 2, 'same')", (IMAGES,), lambda f, t, x: _max_of_same(f, x, 3, 2)),
    Case("nn.MaxPool2d(2, 2, 'pad', 1, 2, True, True)", (IMAGES,), lambda f, t, x: f.max_pool2d(x, 2, 2, 1, 2, True, True), compiled=True),
    Case("nn.MaxPool3d(2, 1, 'pad', 1)", (VOLUMES,), lambda f, t, x: f.max_pool3d(x, 2, 1, 1)),
    Case("nn.AdaptiveAvgPool1d(3)", (SERIES,), lambda f, t, x: f.adaptive_avg_pool1d(x, 3), compiled=True),
    Case("nn.AdaptiveAvgPool2d((3, 4))", (IMAGES,), lambda f, t, x: f.adaptive_avg_pool2d(x, (3, 4))),
    Case("nn.AdaptiveAvgPool2d((None, 2))", (IMAGES,), lambda f, t, x: f.adaptive_avg_pool2d(x, (None, 2))),
    Case("nn.AdaptiveAvgPool3d((2, 3, 2))", (VOLUMES,), lambda f, t, x: f.adaptive_avg_pool3d(x, (2, 3, 2))),
    Case("nn.AdaptiveMaxPool1d(3)", (SERIES,), lambda f, t, x: f.adaptive_max_pool1d(x, 3)),
    Case("nn.AdaptiveMaxPool2d((3, 4))", (IMAGES,), lambda f, t, x: f.adaptive_max_pool2d(x, (3, 4))),
    Case("nn.AdaptiveMaxPool2d(2, True)", (IMAGES,), lambda f, t, x: f.adaptive_max_pool2d(x, 2, True)),
    Case("nn.AdaptiveMaxPool3d((2, 3, 2))", (VOLUMES,), lambda f, t, x: f.adaptive_max_pool3d(x, (2, 3, 2))),
    # --- padding -------------------------------------------------------------------------------------------
    Case("nn.ConstantPad1d((1, 2), 0.5)", (SERIES,), lambda f, t, x: f.pad(x, (1, 2), value=0.5)),
    Case("nn.ConstantPad2d((1, 2, 0, 1), 0.5)", (IMAGES,), lambda f, t, x: f.pad(x, (1, 2, 0, 1), value=0.5)),
    Case("nn.ConstantPad3d(1, 0.5)", (VOLUMES,), lambda f, t, x: f.pad(x, (1,) * 6, value=0.5)),
    Case("nn.ReflectionPad1d((2, 1))", (SERIES,), lambda f, t, x: f.pad(x, (2, 1), "reflect")),
    Case("nn.ReflectionPad2d((2, 1, 0, 3))", (IMAGES,), lambda f, t, x: f.pad(x, (2, 1, 0, 3), "reflect"), compiled=True),
    Case("nn.ReflectionPad3d((2, 1, 0, 3, 1, 1))", (VOLUMES,), lambda f, t, x: f.pad(x, (2, 1, 0, 3, 1, 1), "reflect")),
    Case("nn.ReplicationPad1d((2, 1))", (SERIES,), lambda f, t, x: f.pad(x, (2, 1), "replicate")),
    Case("nn.ReplicationPad2d((2, 1, 0, 3))", (IMAGES,), lambda f, t, x: f.pad(x, (2, 1, 0, 3), "replicate")),
    Case("nn.ReplicationPad3d((2, 1, 0, 3, 1, 1))", (VOLUMES,), lambda f, t, x: f.pad(x, (2, 1, 0, 3, 1, 1), "replicate")),
    Case("nn.ZeroPad2d((1, 2, 0, 1))", (IMAGES,), lambda f, t, x: f.pad(x, (1, 2, 0, 1))),
    Case("nn.Pad(((0, 0), (1, 2)))", (X,), lambda f, t, x: f.pad(x, (1, 2))),
    Case("nn.Pad(((0, 0), (1, 0), (3, 2)), 'REFLECT')", (SERIES,), lambda f, t, x: f.pad(x[None], (3, 2, 1, 0), "reflect")[0]),
    Case("nn.Pad(((0, 0), (0, 0), (3, 2)), 'SYMMETRIC')", (SERIES,), lambda f, t, x: _symmetric(t, x, 2, 3, 2)),
    # --- images --------------------------------------------------------------------------------------------
    Case("nn.ResizeBilinear()", (IMAGES,), lambda f, t, x: _corners(t, x, (8, 4)), takes="*x, (8, 4)"),
    Case("nn.ResizeBilinear(True)", (IMAGES,), lambda f, t, x: f.interpolate(x, (8, 4), mode="bilinear"), takes="*x, (8, 4)"),
    Case("nn.ResizeBilinear()", (IMAGES,), lambda f, t, x: f.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True).narrow(2, 0, 10), takes="*x, scale_factor=2, align_corners=True", note="corners"),
    Case("nn.Upsample(scale_factor=2.0)", (SERIES,), lambda f, t, x: f.interpolate(x, scale_factor=2)),
    Case("nn.Upsample((8, 4))", (IMAGES,), lambda f, t, x: f.interpolate(x, (8, 4))),
    Case("nn.Upsample(9, mode='linear', align_corners=True)", (SERIES,), lambda f, t, x: f.interpolate(x, 9, mode="linear", align_corners=True)),
    Case("nn.Upsample(9, mode='linear', align_corners=False)", (SERIES,), lambda f, t, x: f.interpolate(x, 9, mode="linear")),
    Case("nn.Upsample((8, 4), mode='bilinear', align_corners=True)", (IMAGES,), lambda f, t, x: f.interpolate(x, (8, 4), mode="bilinear", align_corners=True)),
    Case("nn.Upsample((8, 4), mode='bicubic', align_corners=True)", (IMAGES,), lambda f, t, x: f.interpolate(x, (8, 4), mode="bicubic", align_corners=True)),
    Case("nn.Upsample((3, 4), mode='area')", (IMAGES,), lambda f, t, x: f.interpolate(x, (3, 4), mode="area")),
    Case("nn.Upsample((4, 3, 5), mode='trilinear', align_corners=False)", (VOLUMES,), lambda f, t, x: f.interpolate(x, (4, 3, 5), mode="trilinear")),
    Case("nn.PixelShuffle(2)", (normal(1, 8, 2, 3),), lambda f, t, x: f.pixel_shuffle(x, 2)),
    Case("nn.PixelUnshuffle(2)", (normal(1, 2, 4, 6),), lambda f, t, x: f.pixel_unshuffle(x, 2)),
    Case("nn.ChannelShuffle(2)", (normal(1, 6, 2, 2),), lambda f, t, x: _shuffled(x, 2), compiled=True),
    # --- moving, measuring ---------------------------------------------------------------------------------
    Case("nn.Flatten()", (SERIES,), lambda f, t, x: x.flatten(1)),
    Case("nn.Flatten(0, 1)", (SERIES,), lambda f, t, x: x.flatten(0, 1)),
    Case("nn.Unflatten(1, (2, 2))", (X,), lambda f, t, x: x.unflatten(1, (2, 2))),
    Case("nn.Identity()", (X,), lambda f, t, x: x),
    Case("nn.Roll([1, -1], [0, 1])", (X,), lambda f, t, x: x.roll((1, -1), (0, 1))),
    Case("nn.Tril()", (X,), lambda f, t, x: x.tril(1), takes="*x, 1"),
    Case("nn.Triu()", (normal(2, 3, 3),), lambda f, t, x: x.triu(-1), takes="*x, -1"),
    Case("nn.Norm()", (X,), lambda f, t, x: t.linalg.vector_norm(x), compiled=True),
    Case("nn.Norm(1, True)", (X,), lambda f, t, x: t.linalg.vector_norm(x, dim=1, keepdim=True)),
    Case("nn.OneHot(depth=5)", (IDS,), lambda f, t, i: f.one_hot(i.long(), 5)),
    Case("nn.OneHot(0, 5, 2.0, -1.0)", (IDS,), lambda f, t, i: 3 * f.one_hot(i.long(), 5).movedim(-1, 0) - 1),
    Case("nn.Range(1, 8, 2)", (), lambda f, t: t.arange(1, 8, 2)),
    Case("nn.L1Regularizer(0.5)", (X,), lambda f, t, x: 0.5 * x.abs().sum()),
    Case("nn.ClipByNorm()", (X,), lambda f, t, x: x * 1.5 / x.norm(), takes="*x, 1.5"),
    Case("nn.ClipByNorm(1)", (X,), lambda f, t, x: x * (1.7 / x.norm(dim=1, keepdim=True)).clamp(max=1), takes="*x, Tensor(1.7, ms.float64)", compiled=True),
    Case("nn.Moments(1, True)", (X,), lambda f, t, x: (x.mean(1, True), x.var(1, correction=0, keepdim=True))),
    Case("nn.Moments()", (X,), lambda f, t, x: (x.mean(), x.var(correction=0))),
    Case("nn.ReduceLogSumExp(1)", (5 * X,), lambda f, t, x: x.logsumexp(1)),
    Case("nn.ReduceLogSumExp((), True)", (X,), lambda f, t, x: x.logsumexp((0, 1), True)),
    # --- out of training -----------------------------------------------------------------------------------
    Case("nn.Dropout(p=0.3)", (X,), lambda f, t, x: x),
    Case("nn.Dropout1d(0.3)", (SERIES,), lambda f, t, x: x),
    Case("nn.Dropout2d(0.3)", (IMAGES,), lambda f, t, x: x),
    Case("nn.Dropout3d(0.3)", (VOLUMES,), lambda f, t, x: x),
]  # fmt: skip
