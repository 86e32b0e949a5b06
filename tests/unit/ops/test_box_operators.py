"""Boxes: overlaps, targets of regression, features inside; values are those of MindSpore 2.10."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

both_modes = pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
BOXES = Tensor(np.array([[0, 0, 10, 10], [5, 5, 15, 15], [20, 20, 30, 25]], np.float32))
TRUTHS = Tensor(np.array([[0, 0, 10, 10], [4, 6, 14, 18]], np.float32))
DELTAS = Tensor(np.array([[0.1, 0.2, 0.3, -0.4], [3, -3, 10, -10]], np.float32))
IMAGE = Tensor(np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4))
ROIS = Tensor(np.array([[0, 0.4, 0.7, 2.6, 3.1], [0, -1, -1, 5, 2]], np.float32))


def close(ours, expected):
    assert_close(ours, expected, "program", each=True, scale=1)


@both_modes
def test_overlaps(run):
    close(run(ops.IOU())(BOXES, TRUTHS), [[1.0, 0.17475729, 0.0], [0.15283842, 0.6097561, 0.0]])
    close(run(ops.IOU("iof"))(BOXES, TRUTHS), [[1.0, 0.29752067, 0.0], [0.24475524, 0.6993007, 0.0]])
    assert ops.iou(BOXES.astype(ms.float16), TRUTHS.astype(ms.float16)).dtype is ms.float16


@both_modes
def test_boxes_inside_of_an_image(run):
    boxes = Tensor(np.array([[0, 0, 20, 19], [0, 0, 19, 20], [0, 0, 19, 19], [-1, 0, 3, 3]], np.float32))
    assert run(ops.CheckValid())(boxes, Tensor([20.0, 20.0, 1.0])).asnumpy().tolist() == [
        False,
        False,
        True,
        False,
    ]
    assert run(ops.check_valid)(boxes, Tensor([20.0, 20.0, 2.0])).asnumpy().tolist() == [
        True,
        True,
        True,
        False,
    ]


@both_modes
def test_the_best_of_overlapping_boxes_remain(run):
    boxes = np.array(
        [[0, 0, 10, 10, 0.6], [1, 1, 11, 11, 0.9], [20, 20, 30, 30, 0.3], [0, 0, 10, 10.5, 0.95]], np.float32
    )
    ordered, numbers, remains = run(ops.NMSWithMask(0.5))(Tensor(boxes))
    close(ordered, boxes[[3, 1, 0, 2]])
    assert numbers.dtype is ms.int32
    assert numbers.asnumpy().tolist() == [0, 1, 2, 3]
    assert remains.asnumpy().tolist() == [True, False, False, True]
    pair = Tensor(np.array([[0, 0, 4, 4, 0.9], [2, 0, 6, 4, 0.8]], np.float32))  # the third part of both
    assert run(ops.NMSWithMask(0.35))(pair)[2].asnumpy().tolist() == [True, True]
    assert run(ops.NMSWithMask(0.3))(pair)[2].asnumpy().tolist() == [True, False]
    # the second is overlapped by the first and does not remove the third
    chain = Tensor(np.array([[0, 0, 4, 4, 0.9], [2, 0, 6, 4, 0.8], [4, 0, 8, 4, 0.7]], np.float32))
    assert run(ops.NMSWithMask(0.3))(chain)[2].asnumpy().tolist() == [True, False, True]


@both_modes
def test_of_many_boxes_those_remain_that_no_better_one_overlaps(run):
    generator = np.random.default_rng(0)
    corner = generator.random((60, 2)) * 30
    boxes = np.concatenate([corner, corner + generator.random((60, 2)) * 20, generator.random((60, 1))], 1)
    ordered, _, remains = run(ops.NMSWithMask(0.3))(Tensor(boxes, ms.float32))
    x1, y1, x2, y2, _ = ordered.asnumpy().T.astype(np.float64)
    expected: list[int] = []
    for i in range(60):
        widths = np.minimum(x2[i], x2[expected]) - np.maximum(x1[i], x1[expected])
        heights = np.minimum(y2[i], y2[expected]) - np.maximum(y1[i], y1[expected])
        both = np.maximum(widths, 0) * np.maximum(heights, 0)
        areas = (x2 - x1) * (y2 - y1)
        if not (both / (areas[i] + areas[expected] - both) > 0.3).any():
            expected.append(i)
    assert np.flatnonzero(remains.asnumpy()).tolist() == expected


@both_modes
def test_differences_of_boxes_and_back(run):
    encoded = run(ops.BoundingBoxEncode())(BOXES[:2], TRUTHS)
    close(encoded, [[0, 0, 0, 0], [-0.09090909, 0.18181819, 0.0, 0.16705404]])
    scaled = ops.BoundingBoxEncode((0.1, 0.0, 0.2, 0.0), (0.5, 1.0, 0.2, 1.0))
    close(run(scaled)(BOXES[:2], TRUTHS), [[-0.2, 0, -1, 0], [-0.38181818, 0.18181819, -1.0, 0.16705404]])
    close(run(ops.BoundingBoxDecode((768, 1280)))(BOXES[:2], encoded), TRUTHS.asnumpy())
    decoded = run(ops.BoundingBoxDecode(max_shape=(768, 1280)))(BOXES[:2], DELTAS)
    close(decoded, [[0.0, 4.01324, 13.024223, 10.38676], [0.0, 0.0, 386.25003, 0.0]])
    held = ops.BoundingBoxDecode((12, 14), (0.1, 0.0, 0.0, 0.0), (1.0, 0.5, 1.0, 1.0), 0.5)
    close(run(held)(BOXES[:2], DELTAS), [[0.2757759, 2.9132397, 14.0, 9.28676], [14.0, 0.0, 14.0, 0.0]])


@both_modes
def test_features_of_boxes(run):
    expected = {
        (1, 0): [[[3.075, 3.625], [5.475, 6.025]], [[0.25, 1.75], [2.75, 4.25]]],
        (1, 1): [[[3.7, 4.5], [7.1, 7.9]], [[0.375, 2.125], [4.375, 6.125]]],
        (2, 0): [[[3.075, 3.625], [5.475, 6.025]], [[0.4375, 1.875], [2.8125, 4.25]]],
        (2, 1): [[[3.7, 4.5], [7.1, 7.9]], [[0.90625, 2.625], [4.40625, 6.125]]],
    }
    for (count, end), values in expected.items():
        pooled = run(ops.ROIAlign(2, 2, 0.5, count, end))(IMAGE, ROIS)
        close(pooled, np.stack([np.array(values), np.array(values) + 16], 1))
    small = IMAGE[:, :1]
    for box, end, values in [
        ((0, 1, 1, 0.5, 0.5), 0, [[6.25, 6.75], [8.25, 8.75]]),
        ((0, 1, 1, 0.5, 0.5), 1, [[5.625, 5.875], [6.625, 6.875]]),
        ((0, -4, -4, 6, 6), 0, [[0, 0], [0, 15]]),
        ((0, 2, 2, 8, 8), 1, [[15, 0], [0, 0]]),
    ]:
        close(run(ops.ROIAlign(2, 2, 1.0, 1, end))(small, Tensor([box], ms.float32))[0, 0], values)
    with pytest.raises(ValueError, match="'sample_num' must be at least 1"):
        ops.ROIAlign(2, 2, 1.0, 0)(IMAGE, ROIS)


@both_modes
def test_cut_and_resized_images(run):
    image = Tensor(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1))
    boxes = Tensor(np.array([[0.1, 0.2, 0.9, 0.7], [0.0, 0.0, 1.5, 1.0]], np.float32))
    numbers = Tensor([0, 0], ms.int32)
    crop = run(lambda *x: ops.CropAndResize(extrapolation_value=-1.0)(*x, (2, 3)))(image, boxes, numbers)
    close(crop[..., 0], [[[1.8, 2.55, 3.3], [11.4, 12.15, 12.9]], [[0, 1.5, 3], [-1, -1, -1]]])
    near = run(lambda *x: ops.CropAndResize("nearest", -1.0)(*x, (2, 3)))(image, boxes, numbers)
    close(near[..., 0], [[[1, 1, 2], [13, 13, 14]], [[0, 2, 3], [-1, -1, -1]]])
    close(ops.crop_and_resize(image, boxes, numbers, (1, 1))[..., 0], [[[7.35]], [[10.5]]])


@both_modes
def test_images_cut_at_whole_pixels(run):
    image = Tensor(np.arange(9, dtype=np.float32).reshape(1, 3, 3, 1))
    boxes = Tensor([[0.0, 0.0, 1.0, 0.5], [0.9, 0.9, 0.1, 0.1], [-0.3, -0.2, 1.6, 0.7]])
    cut = run(lambda *x: ops.CropAndResize("bilinear_v2", 0.5)(*x, (2, 2)))(image, boxes, Tensor([0, 0, 0]))
    close(cut[..., 0], [[[1.5, 2.5], [6, 7]], [[8, 8], [8, 8]], [[2.5, 4], [6.25, 7.75]]])


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda a, b: ops.iou(a, b), (BOXES[:2] + 0.3, TRUTHS)),
        (lambda a, b: ops.bounding_box_encode(a, b), (BOXES[:2], TRUTHS)),
        (
            lambda a, b: ops.bounding_box_decode(a, b, (50, 50)),
            (BOXES[:2] + 7, DELTAS[:1].broadcast_to((2, 4)) / 3),
        ),
        (lambda a, b: ops.ROIAlign(2, 2, 0.5, 2)(a, b), (IMAGE**2, ROIS[:1])),
        (
            lambda a, b: ops.crop_and_resize(a, b, Tensor([0]), (2, 3)).astype("float64"),
            (IMAGE.transpose((0, 2, 3, 1)) ** 2, Tensor([[0.1, 0.2, 0.9, 0.7]])),
        ),
    ],
    ids=["iou", "encode", "decode", "roi_align", "crop_and_resize"],
)
def test_derivatives(function, inputs):
    inputs = [x.astype("float64") for x in inputs]
    single = function(*inputs).dtype is not ms.float64 or len(inputs[0].shape) == 4
    generator = np.random.default_rng(0)
    for position in (0, 1):
        direction = Tensor(generator.normal(size=inputs[position].shape))

        def moved(step, position=position, direction=direction):
            return function(
                *[x + step * direction if k == position else x for k, x in enumerate(inputs)]
            ).sum()

        slope = (ms.grad(lambda *x: function(*x).sum(), position)(*inputs) * direction).sum().item()
        step = 3e-3 if single and position == 0 else 1e-4
        expected = (moved(step) - moved(-step)).item() / (2 * step)
        dtype = np.float32 if single else np.float64
        assert_close(slope, expected, kind="difference", order=1, scale=1e-4, dtype=dtype)


def test_mistakes():
    with pytest.raises(ValueError, match=r"shape \(n, 4\)"):
        ops.iou(Tensor([1.0]), TRUTHS)
    with pytest.raises(ValueError, match="'mode' must be"):
        ops.iou(BOXES, TRUTHS, "other")
    with pytest.raises(ValueError, match="4 numbers"):
        ops.bounding_box_encode(BOXES, BOXES, (1.0,))
    with pytest.raises(ValueError, match="'method' must be"):
        ops.crop_and_resize(ops.ones((1, 2, 2, 1)), BOXES[:1], Tensor([0]), (1, 1), "bicubic")


def test_sizes_and_padding_of_two_more_classes():
    image = Tensor(np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2))
    close(ops.ResizeBilinearV2()(image, (3, 3))[0, 0], [[0, 2 / 3, 1], [4 / 3, 2, 7 / 3], [2, 8 / 3, 3]])
    close(ops.ResizeNearestNeighborV2()(image, (3, 3))[0, 0], [[0, 0, 1], [0, 0, 1], [2, 2, 3]])
    close(ops.PadV3()(Tensor([[1.0, 2.0]]), Tensor([1, 0, 0, 1]), Tensor(9.0)), [[9, 1, 2], [9, 9, 9]])
    close(
        ops.PadV3("constant", False)(Tensor([[1.0, 2.0, 3.0]]), Tensor([1, 0, 2, 0]), 0.0),
        [[0, 1, 2, 3, 0, 0]],
    )
    values, places = ops.MaxPoolWithArgmax(3, 2, "same")(IMAGE)
    close(values[0, 0], [[10, 11], [14, 15]])
    assert places.dtype is ms.int32
    assert places[0, 0].asnumpy().tolist() == [[10, 11], [14, 15]]


@both_modes
def test_lines_resized(run):
    line = Tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])
    aligned = run(lambda x: ops.operations.ResizeLinear1D()(x, Tensor([6])))(line)
    close(aligned[0], [np.interp(np.linspace(0, 2, 6), range(3), row) for row in line.asnumpy()[0]])
    halves = run(lambda x: ops.operations.ResizeLinear1D("half_pixel")(x, (6,)))(line)
    close(halves[0, 0], [1, 1.25, 1.75, 2.25, 2.75, 3])
    with pytest.raises(ValueError, match="coordinate_transformation_mode"):
        ops.operations.ResizeLinear1D("asymmetric")(line, (6,))


def test_overflow_and_spacing():
    assert ops.FloatStatus()(Tensor([1.0, np.nan])).asnumpy().tolist() == [1.0]
    assert ops.FloatStatus()(Tensor([1.0, 2.0])).asnumpy().tolist() == [0.0]
    for dtype, expected in ((ms.float16, 2.0**-10), (ms.float32, 2.0**-23), (ms.float64, 2.0**-52)):
        assert ops.Eps()(Tensor([3.0], dtype)).asnumpy().tolist() == [expected]
    with pytest.raises(TypeError, match="floating-point"):
        ops.Eps()(Tensor([1]))
    flag = ops.NPUAllocFloatStatus()()
    assert ops.NPUGetFloatStatus()(flag).asnumpy().tolist() == [0.0] * 8
