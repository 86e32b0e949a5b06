"""Image transforms: results of MindSpore 2.10, properties of the random ones, Pillow, arguments, pipelines."""

import io
import subprocess
import sys

import numpy as np
import pytest

import mindgrad as ms
import mindgrad.dataset as ds
from mindgrad.dataset import transforms, vision
from mindgrad.dataset.vision import c_transforms, py_transforms
from tests.tolerances import assert_close

Image = pytest.importorskip("PIL.Image")
I, J, C = np.meshgrid(np.arange(12), np.arange(17), np.arange(3), indexing="ij")
IMAGE = ((37 * I + 91 * J + 53 * C + 7 * I * J) % 256).astype(np.uint8)

# what MindSpore 2.10 gives for IMAGE, and for IMAGE/255 in Float32: element type, shape, and the sum of the values
# (floats: a thousand times) weighted by 1, 2, ..., 997, 1, 2, ...
FACTS = [
    ("Resize((3, 4))", "bytes", ["uint8", [3, 4, 3], 84549]),
    ("Resize((20, 31))", "bytes", ["uint8", [20, 31, 3], 110960826]),
    ("Resize(5)", "bytes", ["uint8", [5, 7, 3], 704313]),
    ("Resize((6, 8), Inter.NEAREST)", "bytes", ["uint8", [6, 8, 3], 1296880]),
    ("Resize((24, 34), Inter.NEAREST)", "bytes", ["uint8", [24, 34, 3], 141340090]),
    ("Resize((7, 40), Inter.BICUBIC)", "bytes", ["uint8", [7, 40, 3], 45181047]),
    ("Resize((20, 31), Inter.BICUBIC)", "bytes", ["uint8", [20, 31, 3], 111039820]),
    ("Resize((20, 31), Inter.AREA)", "bytes", ["uint8", [20, 31, 3], 111014486]),
    ("Resize((6, 9), Inter.PILCUBIC)", "bytes", ["uint8", [6, 9, 3], 1685818]),
    ("CenterCrop(5)", "bytes", ["uint8", [5, 5, 3], 366004]),
    ("CenterCrop((13, 18))", "bytes", ["uint8", [13, 18, 3], 29676614]),
    ("CenterCrop((5, 30))", "bytes", ["uint8", [5, 30, 3], 7275140]),
    ("Pad((1, 2, 3, 4), (9, 8, 7))", "bytes", ["uint8", [18, 21, 3], 40765043]),
    ("Pad(2, 0, Border.REFLECT)", "bytes", ["uint8", [16, 21, 3], 63966321]),
    ("Pad((1, 2), 0, Border.SYMMETRIC)", "bytes", ["uint8", [16, 19, 3], 53222646]),
    ("PadToSize((20, 25), None, 5)", "bytes", ["uint8", [20, 25, 3], 41637708]),
    ("Rotate(30)", "bytes", ["uint8", [12, 17, 3], 19794267]),
    ("Rotate(30, expand=True)", "bytes", ["uint8", [19, 21, 3], 42960041]),
    ("Rotate(90)", "bytes", ["uint8", [12, 17, 3], 16971144]),
    ("Rotate(20, center=(3, 4))", "bytes", ["uint8", [12, 17, 3], 16584704]),
    ("Affine(15, (0.1, -0.1), 0.8, (10, 5))", "bytes", ["uint8", [12, 17, 3], 12143493]),
    ("Affine(0, (0.1, 0.2), 1.3, 10)", "bytes", ["uint8", [12, 17, 3], 24252536]),
    (
        "Perspective([[0, 0], [11, 0], [11, 11], [0, 11]], [[1, 2], [10, 0], [11, 9], [2, 11]], "
        "Inter.NEAREST)",
        "bytes",
        ["uint8", [12, 17, 3], 14875035],
    ),
    ("HorizontalFlip()", "bytes", ["uint8", [12, 17, 3], 23956808]),
    ("VerticalFlip()", "bytes", ["uint8", [12, 17, 3], 23888594]),
    ("Crop((1, 2), (5, 6))", "bytes", ["uint8", [5, 6, 3], 524364]),
    ("ResizedCrop(1, 2, 7, 8, (5, 6))", "bytes", ["uint8", [5, 6, 3], 535607]),
    ("AdjustBrightness(1.7)", "bytes", ["uint8", [12, 17, 3], 33819713]),
    ("AdjustContrast(0.5)", "bytes", ["uint8", [12, 17, 3], 23974333]),
    ("AdjustSaturation(0.5)", "bytes", ["uint8", [12, 17, 3], 24009503]),
    ("AdjustSharpness(0.5)", "bytes", ["uint8", [12, 17, 3], 23945608]),
    ("AdjustGamma(1.7)", "bytes", ["uint8", [12, 17, 3], 17713643]),
    ("AdjustGamma(0.5, 0.8)", "bytes", ["uint8", [12, 17, 3], 25547079]),
    ("Equalize()", "bytes", ["uint8", [12, 17, 3], 23971460]),
    ("AutoContrast()", "bytes", ["uint8", [12, 17, 3], 23880395]),
    ("AutoContrast(10.0)", "bytes", ["uint8", [12, 17, 3], 23612908]),
    ("Invert()", "bytes", ["uint8", [12, 17, 3], 23893918]),
    ("Solarize((10, 100))", "bytes", ["uint8", [12, 17, 3], 33692500]),
    ("Solarize(128)", "bytes", ["uint8", [12, 17, 3], 11994966]),
    ("Posterize(3)", "bytes", ["uint8", [12, 17, 3], 21008064]),
    ("ConvertColor(ConvertMode.COLOR_RGB2GRAY)", "bytes", ["uint8", [12, 17], 2684786]),
    ("ConvertColor(ConvertMode.COLOR_BGR2RGBA)", "bytes", ["uint8", [12, 17, 4], 53193252]),
    ("Normalize([1, 2, 3], [4, 5, 6])", "bytes", ["float32", [12, 17, 3], 4839532905]),
    ("Rescale(1 / 255, -0.5)", "bytes", ["float32", [12, 17, 3], 87366]),
    ("ToTensor()", "bytes", ["float32", [3, 12, 17], 94134460]),
    ("HWC2CHW()", "bytes", ["uint8", [3, 12, 17], 24004286]),
    ("RgbToHsv(True)", "bytes", ["float64", [12, 17, 3], 12612876715]),
    ("Erase(1, 2, 3, 4, (5, 6, 7))", "bytes", ["uint8", [12, 17, 3], 23439552]),
    ("Resize((20, 31))", "float", ["float32", [20, 31, 3], 435524571]),
    ("GaussianBlur((5, 3))", "float", ["float32", [12, 17, 3], 93948715]),
    ("GaussianBlur(3, 1.5)", "float", ["float32", [12, 17, 3], 93927786]),
    ("Resize((6, 9), Inter.BICUBIC)", "float", ["float32", [6, 9, 3], 6659683]),
    ("AdjustContrast(1.7)", "float", ["float32", [12, 17, 3], 93434782]),
    ("AdjustSaturation(1.7)", "float", ["float32", [12, 17, 3], 93439697]),
    ("Rotate(30, Inter.BILINEAR)", "float", ["float32", [12, 17, 3], 77871736]),
]


@pytest.mark.parametrize(("expression", "kind", "fact"), FACTS)
def test_results_are_those_of_mindspore(expression, kind, fact):
    transform = eval(expression, vars(vision))
    result = transform(IMAGE if kind == "bytes" else (IMAGE / np.float32(255)).astype(np.float32))
    values = result.astype(np.float64).ravel() * (1000 if result.dtype.kind == "f" else 1)
    assert [str(result.dtype), list(result.shape)] == fact[:2]
    found = np.rint(values @ (1 + np.arange(values.size) % 997))
    assert abs(found - fact[2]) <= (5e-7 * fact[2] if result.dtype.kind == "f" else 0)


# -- laws --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interpolation", [i for i in vision.Inter if i != vision.Inter.ANTIALIAS])
@pytest.mark.parametrize("size", [(5, 7), (30, 9), (24, 34), (12, 17)])
def test_every_interpolation_keeps_a_uniform_image_and_bytes_follow_floats(interpolation, size):
    resize = vision.Resize(size, interpolation)
    assert (resize(np.full((12, 17, 3), 77, np.uint8)) == 77).all()
    smooth = (20 + 9 * I + 3 * J + C).astype(np.uint8)
    exact = resize(smooth.astype(np.float64))
    assert np.abs(resize(smooth) - exact).max() <= 1
    assert np.array_equal(resize(np.stack([smooth, smooth]))[1], resize(smooth))


def test_linear_interpolation_is_exact_on_linear_images():
    ramp = np.broadcast_to(np.arange(16.0)[:, None], (16, 4)).copy()
    halves = vision.Resize((8, 4))(ramp)
    assert_close(halves[:, 0], np.arange(8) * 2 + 0.5, kind="program")
    doubled = vision.Resize((32, 4))(ramp)
    assert_close(doubled[1:-1, 0], (np.arange(1, 31) + 0.5) / 2 - 0.5, kind="program")


def test_rotations_by_right_angles_are_those_of_numpy():
    square = IMAGE[:, :12]
    for turns in range(4):
        assert np.array_equal(vision.Rotate(90 * turns)(square), np.rot90(square, turns))
    assert np.array_equal(vision.Rotate(90, expand=True)(IMAGE), np.rot90(IMAGE))
    assert np.array_equal(vision.Rotate(90)(np.stack([square, square]))[1], np.rot90(square))


def test_hue_saturation_value_and_back():
    colors = np.random.default_rng(0).random((20, 30, 3))
    assert_close(vision.HsvToRgb(True)(vision.RgbToHsv(True)(colors)), colors, kind="program")
    assert np.array_equal(vision.AdjustHue(0)(IMAGE), IMAGE)
    assert np.array_equal(vision.AdjustHue(1 / 3)(np.full((1, 1, 3), (9, 0, 0), np.uint8)), [[[0, 9, 0]]])


def test_flips_crops_and_patches_put_pixels_where_they_belong():
    assert np.array_equal(vision.HorizontalFlip()(IMAGE), IMAGE[:, ::-1])
    assert np.array_equal(vision.VerticalFlip()(IMAGE), IMAGE[::-1])
    top_left, top_right, *_, middle = vision.FiveCrop((4, 5))(IMAGE)
    assert np.array_equal(top_left, IMAGE[:4, :5])
    assert np.array_equal(top_right, IMAGE[:4, 12:])
    assert np.array_equal(middle, IMAGE[4:8, 6:11])
    assert np.array_equal(vision.TenCrop(4)(IMAGE)[5], IMAGE[:4, ::-1][:, :4])
    patches = vision.SlicePatches(3, 2, fill_value=1)(IMAGE)
    assert np.array_equal(np.block([[[patches[0]], [patches[1]]]])[:, :17], IMAGE[:4])
    assert (patches[1][:, -1] == 1).all()


# -- random transforms -------------------------------------------------------------------------------


def data(*steps, seed=3):
    ds.config.set_seed(seed)
    source = ds.NumpySlicesDataset({"image": np.stack([IMAGE] * 8)}, shuffle=False)
    return source.map(list(steps), "image")


def rows(pipeline):
    return [row["image"] for row in pipeline.create_dict_iterator(num_epochs=1, output_numpy=True)]


def test_random_crops_are_parts_of_the_image_and_follow_the_seed():
    pipeline = data(vision.RandomCrop((5, 6)))
    first, second = rows(pipeline), rows(pipeline)
    windows = np.lib.stride_tricks.sliding_window_view(IMAGE, (5, 6), (0, 1)).transpose(0, 1, 3, 4, 2)
    assert all((windows == crop).all((2, 3, 4)).any() for crop in first)
    assert len({crop.tobytes() for crop in first}) > 3
    assert not all(map(np.array_equal, first, second)), "another epoch, other crops"
    assert all(map(np.array_equal, first, rows(data(vision.RandomCrop((5, 6)))))), "the same seed"
    assert not all(map(np.array_equal, first, rows(data(vision.RandomCrop((5, 6)), seed=4))))


def test_transforms_called_directly_follow_the_seed_of_the_program():
    results = []
    for _ in range(2):
        ms.set_seed(5)
        results.append([vision.RandomResizedCrop(4)(IMAGE).tobytes() for _ in range(3)])
    assert results[0] == results[1]
    assert len(set(results[0])) > 1


def test_an_image_and_its_mask_are_transformed_alike():
    mask = IMAGE[..., 0].astype(np.int32)
    for transform in (vision.RandomCrop(5), vision.RandomHorizontalFlip(), vision.RandomRotation(40)):
        for _ in range(4):
            image, part = transform(IMAGE, mask)
            assert np.array_equal(image[..., 0], part)


@pytest.mark.parametrize(
    "transform",
    [
        vision.RandomAffine(20, (0.1, 0.1), (0.8, 1.2), (5, 10)), vision.RandomPerspective(prob=1.0),
        vision.RandomColorAdjust(0.5, 0.5, 0.5, 0.2), vision.RandomColor(), vision.RandomSharpness(),
        vision.RandomLighting(0.1), vision.RandomGrayscale(0.5), vision.RandomAutoContrast(prob=1.0),
        vision.RandomEqualize(1.0), vision.RandomInvert(1.0), vision.RandomPosterize((3, 8)),
        vision.RandomSolarize((0, 255)), vision.RandomAdjustSharpness(2.0, 1.0), vision.RandAugment(),
        vision.TrivialAugmentWide(), vision.CutOut(4, 2), vision.RandomErasing(1.0),
        vision.UniformAugment([vision.Invert(), vision.Equalize(), vision.RandomHorizontalFlip()]),
        vision.RandomSelectSubpolicy([[(vision.Invert(), 0.5)], [(vision.Equalize(), 1.0)]]),
        transforms.RandomApply([vision.Invert()]), transforms.RandomChoice([vision.Invert(), vision.Equalize()]),
        transforms.RandomOrder([vision.Invert(), vision.Posterize(4)]),
    ],
    ids=lambda transform: type(transform).__name__,
)  # fmt: skip
def test_random_transforms_keep_shape_and_type_and_the_image_itself(transform):
    before = IMAGE.copy()
    results = [transform(IMAGE) for _ in range(20)]
    assert {(each.shape, each.dtype) for each in results} == {(IMAGE.shape, IMAGE.dtype)}
    assert np.array_equal(IMAGE, before)
    assert any(not np.array_equal(each, IMAGE) for each in results)


def test_the_probability_of_a_flip():
    ms.set_seed(0)
    flips = [np.array_equal(vision.RandomHorizontalFlip(0.25)(IMAGE), IMAGE) for _ in range(2000)]
    assert abs(np.mean(flips) - 0.75) < 0.04


def test_batches_are_mixed_with_their_labels():
    images = np.stack([np.full((6, 8, 3), 10 * i, np.float32) for i in range(4)])
    labels = np.eye(4, dtype=np.float32)
    levels = np.array([0, 10, 20, 30])
    for mix in (vision.MixUpBatch(1.0), vision.MixUp(4, 1.0)):
        mixed, targets = mix(images, labels)
        assert_close(mixed[:, 0, 0, 0], targets @ levels, kind="program")
    mixed, targets = vision.CutMixBatch(vision.ImageBatchFormat.NHWC)(images, labels)
    assert_close(mixed.mean((1, 2, 3)), targets @ levels, kind="program")
    mixed, _ = vision.CutMixBatch(vision.ImageBatchFormat.NCHW)(images.transpose(0, 3, 1, 2), labels)
    assert mixed.shape == (4, 3, 6, 8)
    with pytest.raises(RuntimeError, match=r"one-hot vectors.*use OneHot before batch"):
        vision.MixUpBatch()(images, np.arange(4))


# -- Pillow ------------------------------------------------------------------------------------------


def test_encoded_images_are_decoded():
    stream = io.BytesIO()
    Image.fromarray(IMAGE).save(stream, "PNG")
    encoded = np.frombuffer(stream.getvalue(), np.uint8)
    assert np.array_equal(vision.Decode()(encoded), IMAGE)
    assert np.array_equal(c_transforms.Decode()(encoded.tobytes()), IMAGE)
    assert np.array_equal(np.asarray(py_transforms.Decode()(encoded)), IMAGE)
    assert np.array_equal(vision.Decode()(vision.encode_png(IMAGE)), IMAGE)
    with pytest.raises(RuntimeError, match="Pillow cannot decode the data"):
        vision.Decode()(np.zeros(9, np.uint8))
    with pytest.raises(TypeError, match="is already decoded does not need Decode"):
        vision.Decode()(IMAGE)


def test_images_of_pillow_go_from_one_operation_to_the_next():
    seen = []

    def own(image):
        seen.append(type(image))
        return image.convert("L")

    results = rows(data(vision.ToPIL(), vision.Resize((6, 8)), own, vision.ToTensor()))
    assert all(issubclass(each, Image.Image) for each in seen)
    assert results[0].shape == (1, 6, 8)
    small = vision.Resize((6, 8))(Image.fromarray(IMAGE))
    assert np.array_equal(np.asarray(small), np.asarray(Image.fromarray(IMAGE).resize((8, 6), 2)))


def test_a_missing_pillow_is_said_at_its_first_use_only():
    program = (
        "import sys; sys.modules['PIL'] = None\n"
        "import numpy as np\nfrom mindgrad.dataset import vision\n"
        "print(vision.Resize((2, 2))(np.zeros((4, 4, 3), np.uint8)).shape)\n"
        "try: vision.Decode()(np.zeros(4, np.uint8))\nexcept ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "(2, 2, 3)\n'Decode' needs Pillow, which is not installed; install it: pip install pillow.\n", done  # fmt: skip


def test_image_files(tmp_path):
    vision.write_png(tmp_path / "a.png", IMAGE)
    assert np.array_equal(vision.read_image(tmp_path / "a.png"), IMAGE)
    assert vision.read_image(tmp_path / "a.png", vision.ImageReadMode.GRAYSCALE).shape == (12, 17, 1)
    vision.write_jpeg(tmp_path / "a.jpg", np.full((16, 16, 3), 90, np.uint8))
    assert np.abs(vision.Decode()(vision.read_file(tmp_path / "a.jpg")).astype(int) - 90).max() <= 2


# -- names and arguments -----------------------------------------------------------------------------


def test_the_transforms_of_1x_on_pillow_take_channels_first():
    image = np.ones((3, 4, 5), np.float32)
    assert_close(py_transforms.Normalize([0.5] * 3, [0.25] * 3)(image), 2, kind="program")
    assert py_transforms.Cutout(2)(image).shape == (3, 4, 5)
    with pytest.raises(RuntimeError, match="have 3 channels"):
        c_transforms.Normalize([0.5] * 3, [0.25] * 3)(image)


@pytest.mark.parametrize(
    ("expression", "error", "message"),
    [
        ("Resize(-1)", ValueError, "'size' must be from 1"),
        ("Resize('a')", TypeError, "an int, or a list or tuple"),
        ("Resize(3, 2)", TypeError, "'interpolation' must be a Inter"),
        ("Normalize([1], [0])", ValueError, "'std' must be above 0"),
        ("Normalize([1, 2], [1])", ValueError, "the same length"),
        ("RandomHorizontalFlip(2.0)", ValueError, "'prob' must be from 0 to 1"),
        ("Pad(-1)", ValueError, "'padding' must be at least 0"),
        ("RandomRotation(-3)", ValueError, "'degrees' must be at least 0"),
        ("RandomResizedCrop(3, (2, 1))", ValueError, "in order"),
        ("RandomColorAdjust(-1)", ValueError, "'brightness' must be at least 0"),
        ("Grayscale(2)", ValueError, "must be 1 or 3"),
        ("GaussianBlur(4)", ValueError, "must be odd"),
        ("Rescale('a', 1)", TypeError, "must be a number"),
        ("ToTensor('x')", TypeError, "must be a dtype"),
        ("UniformAugment([HorizontalFlip()], 3)", ValueError, "there are 1 transforms"),
        ("RandomCrop(30)(IMAGE)", RuntimeError, "does not fit into the image of height 12"),
        ("Crop((5, 5), (9, 9))(IMAGE)", RuntimeError, "does not contain"),
        ("Resize(3)('x')", TypeError, "an array or a PIL image"),
        ("CenterCrop(2)(IMAGE[0, 0])", RuntimeError, "at least 2 axes"),
        ("AdjustContrast(1.5)(IMAGE[..., 0])", RuntimeError, r"of shape \(H, W, 3\)"),
        ("Equalize()(IMAGE.astype(float))", RuntimeError, "be of uint8"),
    ],
)
def test_wrong_arguments_are_refused(expression, error, message):
    with pytest.raises(error, match=message):
        eval(expression, vars(vision) | {"IMAGE": IMAGE})


def test_a_pipeline_of_a_classifier():
    ds.config.set_seed(1)
    source = ds.NumpySlicesDataset({"image": np.stack([IMAGE] * 6), "label": np.arange(6)}, shuffle=True)
    steps = [
        vision.RandomCrop(8, 2), vision.RandomHorizontalFlip(), vision.Rescale(1 / 255, 0), vision.HWC2CHW(),
    ]  # fmt: skip
    batches = source.map(steps, "image").map(transforms.TypeCast(ms.int32), "label").batch(3)
    for image, label in batches:
        assert (image.shape, image.dtype, label.dtype) == ((3, 3, 8, 8), ms.float32, ms.int32)


# -- functions of arrays -----------------------------------------------------------------------------


def test_functions_of_arrays():
    assert transforms.PadEnd([2, 3], 9)(np.zeros((3, 1), np.int8)).tolist() == [[0, 9, 9], [0, 9, 9]]
    assert transforms.PadEnd([2], "z")(["a"]).tolist() == ["a", "z"]
    assert transforms.Slice([0, 2], ...)(np.arange(6).reshape(3, 2)).tolist() == [[0, 1], [4, 5]]
    assert transforms.Mask(transforms.Relational.LT, 2, ms.float32)([1, 2]).tolist() == [1.0, 0.0]
    values, places, counts = transforms.Unique()([5, 5, 2])
    assert (values.tolist(), places.tolist(), counts.tolist()) == ([5, 2], [0, 0, 1], [2, 1])
    assert transforms.transforms.TypeCast(output_type=ms.float16)([1]).dtype == np.float16
    with pytest.raises(RuntimeError, match="has 1 axes, but the data have 2"):
        transforms.PadEnd([2])(np.zeros((2, 2)))
