"""Tensors and parameters print exactly as MindSpore prints them.

Three kinds of evidence: lines that MindSpore was seen to print, laws that hold for every dtype and
shape (what is printed parses back to the array), and what must not matter (print options, threads,
memory layout, the number of values that are not shown).
"""

import json
import math
import re
import threading

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mindgrad as ms
from mindgrad import Tensor
from mindgrad.core.base.text import tensor_repr, tensor_str

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
DTYPES = [np.dtype(name) for name in ["bool", *INTEGERS, *FLOATS, "complex64", "complex128"]]
DTYPES.append(BFLOAT16)
SIGNIFICANT_DIGITS = {"float16": 5, "float32": 9, "float64": 9, "bfloat16": 6}


def float32(values) -> np.ndarray:
    return np.array(values, np.float32)


class Shown:
    """A stand-in for a tensor inside a container: its repr is what is under test."""

    def __init__(self, array, dtype_name="Float32"):
        self.text = tensor_repr(array, dtype_name)

    def __repr__(self):
        return self.text


# ---------------------------------------------------------------- what MindSpore was seen to print


@pytest.mark.parametrize(
    ("array", "dtype_name", "expected"),
    [
        (
            float32([0, 1, 2]),
            "Float32",
            "Tensor(shape=[3], dtype=Float32, value= [ 0.00000000e+00,  1.00000000e+00,  2.00000000e+00])",
        ),
        (
            float32([[1, 2.5], [3, -4e-7]]),
            "Float32",
            "Tensor(shape=[2, 2], dtype=Float32, value=\n"
            "[[ 1.00000000e+00,  2.50000000e+00],\n"
            " [ 3.00000000e+00, -4.00000005e-07]])",
        ),
        (
            float32([np.nan, np.inf, -np.inf]),
            "Float32",
            "Tensor(shape=[3], dtype=Float32, value= [            nan,             inf,            -inf])",
        ),
        (
            np.array([[-10, 200], [3, 4]]),
            "Int64",
            "Tensor(shape=[2, 2], dtype=Int64, value=\n[[-10, 200],\n [  3,   4]])",
        ),
        (
            np.array([False, True]),
            "Bool",
            "Tensor(shape=[2], dtype=Bool, value= [False,  True])",
        ),
        (
            np.array([0, 1], np.complex64),
            "Complex64",
            "Tensor(shape=[2], dtype=Complex64, value= [0+0j, 1+0j])",
        ),
        (
            np.array([-0.588551, 2.15252 - 0.461212j, 2.7809, 2.15252 + 0.461212j], np.complex64),
            "Complex64",
            "Tensor(shape=[4], dtype=Complex64, value="
            " [-0.588551+0j, 2.15252-0.461212j, 2.7809+0j, 2.15252+0.461212j])",
        ),
        (float32(1.5), "Float32", "Tensor(shape=[], dtype=Float32, value= 1.5)"),
        (float32(1.342271), "Float32", "Tensor(shape=[], dtype=Float32, value= 1.34227)"),
        (np.array(21, np.float16), "Float16", "Tensor(shape=[], dtype=Float16, value= 21)"),
        (np.array(1), "Int64", "Tensor(shape=[], dtype=Int64, value= 1)"),
        (np.array(True), "Bool", "Tensor(shape=[], dtype=Bool, value= True)"),
        (float32([]), "Float32", "Tensor(shape=[0], dtype=Float32, value= )"),
        (
            np.array([[8, 2, 1], [5, 9, 3]], np.float16),
            "Float16",
            "Tensor(shape=[2, 3], dtype=Float16, value=\n"
            "[[ 8.0000e+00,  2.0000e+00,  1.0000e+00],\n"
            " [ 5.0000e+00,  9.0000e+00,  3.0000e+00]])",
        ),
        # A line of a one-dimensional tensor that is full is broken, the last one too.
        (
            np.full(24, 24, np.int32),
            "Int32",
            "Tensor(shape=[24], dtype=Int32, value= [" + ", ".join(["24"] * 24) + "\n ])",
        ),
    ],
)
def test_repr_seen(array, dtype_name, expected):
    assert tensor_repr(array, dtype_name) == expected


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        (
            (Shown(float32([21.535999])),),
            "(Tensor(shape=[1], dtype=Float32, value= [ 2.15359993e+01]),)",
        ),
        (
            (Shown(float32([21.53600125])),),
            "(Tensor(shape=[1], dtype=Float32, value= [ 2.15360012e+01]),)",
        ),
        ((Shown(float32([1])),), "(Tensor(shape=[1], dtype=Float32, value= [ 1.00000000e+00]),)"),
        (
            (
                Shown(float32([1.48219824, 1.48570347, 1.15400589])),
                Shown(float32([0.0524890423, 0.435917288, 0.684546351])),
            ),
            "(Tensor(shape=[3], dtype=Float32, value="
            " [ 1.48219824e+00,  1.48570347e+00,  1.15400589e+00]),"
            " Tensor(shape=[3], dtype=Float32, value="
            " [ 5.24890423e-02,  4.35917288e-01,  6.84546351e-01]))",
        ),
        (
            (
                Shown(float32([0.696706712, 0.825335622, 0.980066597])),
                Shown(float32([-0.644217670, -0.389418334, -0.295520216])),
            ),
            "(Tensor(shape=[3], dtype=Float32, value="
            " [ 6.96706712e-01,  8.25335622e-01,  9.80066597e-01]),"
            " Tensor(shape=[3], dtype=Float32, value="
            " [-6.44217670e-01, -3.89418334e-01, -2.95520216e-01]))",
        ),
        (
            (Shown(float32([[0, 6], [15, -4]])), Shown(float32([[-2, 6], [-3, 8]]))),
            "(Tensor(shape=[2, 2], dtype=Float32, value=\n"
            "[[ 0.00000000e+00,  6.00000000e+00],\n"
            " [ 1.50000000e+01, -4.00000000e+00]]), Tensor(shape=[2, 2], dtype=Float32, value=\n"
            "[[-2.00000000e+00,  6.00000000e+00],\n"
            " [-3.00000000e+00,  8.00000000e+00]]))",
        ),
        (
            (
                Shown(float32([[2, 10], [30, 68]])),
                (Shown(float32([[3, 12], [27, 48]])), Shown(float32([[1, 1], [1, 1]]))),
            ),
            "(Tensor(shape=[2, 2], dtype=Float32, value=\n"
            "[[ 2.00000000e+00,  1.00000000e+01],\n"
            " [ 3.00000000e+01,  6.80000000e+01]]), (Tensor(shape=[2, 2], dtype=Float32, value=\n"
            "[[ 3.00000000e+00,  1.20000000e+01],\n"
            " [ 2.70000000e+01,  4.80000000e+01]]), Tensor(shape=[2, 2], dtype=Float32, value=\n"
            "[[ 1.00000000e+00,  1.00000000e+00],\n"
            " [ 1.00000000e+00,  1.00000000e+00]])))",
        ),
    ],
)
def test_repr_in_the_results_of_the_guide(container, expected):
    assert str(container) == expected


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (
            float32([[4.5099998, 2.7, 3.6000001]] * 2),
            "[[4.5099998 2.7       3.6000001]\n [4.5099998 2.7       3.6000001]]",
        ),
        (
            float32([[4.51, 2.7, 3.6000001]] * 2),
            "[[4.51      2.7       3.6000001]\n [4.51      2.7       3.6000001]]",
        ),
        (
            float32([[2.211, 0.51, 1.49], [5.5880003, 2.68, 4.0699997]]),
            "[[2.211     0.51      1.49     ]\n [5.5880003 2.68      4.0699997]]",
        ),
        (
            float32([[2.211, 0.51, 1.4900001], [5.588, 2.68, 4.07]]),
            "[[2.211     0.51      1.4900001]\n [5.588     2.68      4.07     ]]",
        ),
        (float32([[0.11, 1.1, 1.1], [0, 0, 0]]), "[[0.11 1.1  1.1 ]\n [0.   0.   0.  ]]"),
        (float32([-0.84147096]), "[-0.84147096]"),
        (float32([2, 2, 2]), "[2. 2. 2.]"),
        (float32([10]), "[10.]"),
        (float32([0, 1, 2]), "[0. 1. 2.]"),
        (float32([[1, 2], [3, 4]]), "[[1. 2.]\n [3. 4.]]"),
        (float32(1.5), "1.5"),
        (float32([np.nan, np.inf, -np.inf]), "[ nan  inf -inf]"),
        (np.array([False, True, True]), "[False  True  True]"),
        (np.array([0, 1, 2]), "[0 1 2]"),
        (np.array([1, 2.5, -3]).astype(BFLOAT16), "[ 1.   2.5 -3. ]"),
        (np.array(2.5).astype(BFLOAT16), "2.5"),
    ],
)
def test_str_seen(array, expected):
    assert tensor_str(array) == expected


def test_parameter():
    w = ms.Parameter(Tensor([1.0, 2.0]), name="w")
    assert repr(w) == str(w) == "Parameter (name=w, shape=(2,), dtype=Float32, requires_grad=True)"
    b = ms.Parameter(Tensor(1.0, ms.float16), name="net.b", requires_grad=False)
    assert repr(b) == "Parameter (name=net.b, shape=(), dtype=Float16, requires_grad=False)"


# ------------------------------------------------------------------------------ shape of the text


def test_blocks_of_three_dimensions_follow_each_other_without_blank_lines():
    text = tensor_repr(float32([[[0, 1], [2, 3]], [[4, 5], [6, 7]]]), "Float32")
    assert text == (
        "Tensor(shape=[2, 2, 2], dtype=Float32, value=\n"
        "[[[ 0.00000000e+00,  1.00000000e+00],\n"
        "  [ 2.00000000e+00,  3.00000000e+00]],\n"
        " [[ 4.00000000e+00,  5.00000000e+00],\n"
        "  [ 6.00000000e+00,  7.00000000e+00]]])"
    )


def test_dimensions_longer_than_six_keep_three_entries_at_each_end():
    assert tensor_repr(np.arange(56).reshape(8, 7), "Int64") == (
        "Tensor(shape=[8, 7], dtype=Int64, value=\n"
        "[[ 0,  1,  2 ...  4,  5,  6],\n"
        " [ 7,  8,  9 ... 11, 12, 13],\n"
        " [14, 15, 16 ... 18, 19, 20],\n"
        " ...\n"
        " [35, 36, 37 ... 39, 40, 41],\n"
        " [42, 43, 44 ... 46, 47, 48],\n"
        " [49, 50, 51 ... 53, 54, 55]])"
    )
    assert tensor_repr(np.arange(14).reshape(7, 1, 2), "Int64") == (
        "Tensor(shape=[7, 1, 2], dtype=Int64, value=\n"
        "[[[ 0,  1]],\n"
        " [[ 2,  3]],\n"
        " [[ 4,  5]],\n"
        " ...\n"
        " [[ 8,  9]],\n"
        " [[10, 11]],\n"
        " [[12, 13]]])"
    )
    assert "..." not in tensor_repr(np.zeros((6, 6, 6)), "Float64")


def test_width_is_that_of_the_values_that_are_shown():
    array = np.arange(7)[None]
    array[0, 3] = 123456  # not shown
    assert tensor_repr(array, "Int64").endswith("\n[[0, 1, 2 ... 4, 5, 6]])")


def test_vector_is_shortened_beyond_a_thousand_entries():
    assert "..." not in tensor_repr(np.arange(1000), "Int64")
    assert tensor_repr(np.arange(1001), "Int64") == (
        "Tensor(shape=[1001], dtype=Int64, value= [   0,    1,    2 ...  998,  999, 1000])"
    )


@pytest.mark.parametrize(
    ("dtype", "per_line"),
    [("float16", 12), ("float32", 12), ("float64", 12), ("bool", 12), ("int32", 24)]
    + [("uint8", 24), ("complex64", 24), (BFLOAT16, 24)],
)
@pytest.mark.parametrize("extra", [-1, 0, 1])
def test_vector_breaks_its_lines(dtype, per_line, extra):
    array = np.ones(2 * per_line + extra).astype(dtype)
    lines = value_text(tensor_repr(array, "X")).split("\n")
    counts = [len(re.findall("1|True", line)) for line in lines]  # a one each, in every style
    if extra < 0:
        assert counts == [per_line, per_line - 1]
    else:
        assert counts == [per_line, per_line, extra]
    # A full line that more values follow ends with the separator; the next starts with a blank.
    assert [line.endswith(", ") for line in lines] == [True, extra > 0, False][: len(lines)]
    assert all(line.startswith(" ") for line in lines[1:])
    assert extra != 0 or lines[-1] == " ]"


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 9)])
def test_empty(shape):
    text = tensor_repr(np.zeros(shape, np.float32), "Float32")
    gap = " " if len(shape) == 1 else "\n"
    assert text == f"Tensor(shape={list(shape)}, dtype=Float32, value={gap})"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1e-300, "[1.00000000e-300]"),
        (-1e-300, "[-1.00000000e-300]"),
        (-0.0, "[-0.00000000e+00]"),
        (-np.nan, "[            nan]"),
    ],
)
def test_extreme_values_of_float64(value, expected):
    assert tensor_repr(np.array([value]), "Float64").endswith(f"value= {expected})")


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (float32(1e-5), "1e-05"),
        (float32(1e6), "1e+06"),
        (float32(123456), "123456"),
        (float32(np.nan), "nan"),
        (float32(-np.inf), "-inf"),
        (np.array(0.1).astype(BFLOAT16), "0.100098"),
        (np.array(-7, np.int8), "-7"),
        (np.array(2**64 - 1, np.uint64), "18446744073709551615"),
        (np.array(1.5 - 2e-7j), "1.5-2e-07j"),
        (np.array(complex(np.inf, np.nan)), "inf+nanj"),
        (np.array(complex(-0.0, -0.0)), "-0-0j"),
    ],
)
def test_zero_dimensional_values_have_six_significant_digits(array, expected):
    assert tensor_repr(array, "X") == f"Tensor(shape=[], dtype=X, value= {expected})"


def test_bfloat16_prints_six_significant_digits_aligned():
    array = np.array([1, 0.1, -np.inf]).astype(BFLOAT16)
    assert tensor_repr(array, "BFloat16").endswith("value= [       1, 0.100098,     -inf])")


# ------------------------------------------------------------------------- laws over dtypes, shapes


def arrays(dtypes, shapes):
    """Arrays of any of the dtypes; bfloat16, which hypothesis lacks, comes from float32."""

    @st.composite
    def draw_array(draw):
        dtype = draw(st.sampled_from([np.dtype(dtype) for dtype in dtypes]))
        made = np.dtype(np.float32) if dtype == BFLOAT16 else dtype
        array = draw(hnp.arrays(made, shapes))
        with np.errstate(all="ignore"):
            return array.astype(dtype)

    return draw_array()


ANY_SHAPE = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9)


def value_text(text: str) -> str:
    return text.split("value=", 1)[1][1:].removesuffix(")")


def read(text: str, number: type):
    """The nested lists that the text of real values stands for; ``"..."`` where it is shortened."""
    text = re.sub(r" \.\.\. ", ', "...", ', text)
    text = re.sub(r",\n +\.\.\.\n", ', "...", ', text)
    words = {"nan": "NaN", "inf": "Infinity", "True": "true", "False": "false"}
    text = re.sub("nan|inf|True|False", lambda match: words[match[0]], text)
    return json.loads(text, parse_int=number)  # float("-0") keeps its sign, int("-0") does not


def shorten(array: np.ndarray):
    """The nested lists that should be read, made straight from the rule of 6 = 3 + 3."""
    rows = array.tolist() if array.ndim == 1 else [shorten(row) for row in array]
    return rows if len(rows) <= 6 else [*rows[:3], "...", *rows[-3:]]


def assert_same(printed, expected, digits):
    if isinstance(expected, list):
        assert len(printed) == len(expected)
        for inner, wanted in zip(printed, expected, strict=True):
            assert_same(inner, wanted, digits)
    elif digits is None or isinstance(expected, str):
        assert type(printed) is type(expected)
        assert printed == expected
    elif math.isfinite(expected):
        assert math.copysign(1, printed) == math.copysign(1, expected)
        assert printed == pytest.approx(expected, rel=10.0 ** (1 - digits) / 2 * 1.001, abs=0)
    else:
        assert str(printed) == str(expected)


@given(array=arrays(DTYPES, ANY_SHAPE))
@settings(deadline=None)
def test_never_raises_and_says_its_shape(array):
    text = tensor_repr(array, "X")
    gap = "\n" if array.ndim > 1 else " "
    assert text.startswith(f"Tensor(shape={list(array.shape)}, dtype=X, value={gap}")
    assert text.endswith(")")
    brackets = value_text(text)
    assert brackets.count("[") == brackets.count("]")
    assert (brackets == "") == (array.size == 0)
    assert tensor_str(array) == str(array.astype("f4") if array.dtype == BFLOAT16 else array)


@given(array=arrays([*FLOATS, *INTEGERS, "bool", BFLOAT16], st.integers(1, 80)))
@settings(deadline=None)
def test_vector_parses_back(array):
    digits = SIGNIFICANT_DIGITS.get(array.dtype.name)
    printed = read(value_text(tensor_repr(array, "X")), float if digits else int)
    as_numbers = array.astype(np.float32) if array.dtype == BFLOAT16 else array
    assert_same(printed, as_numbers.tolist(), digits)


@given(
    array=arrays(
        [*FLOATS, *INTEGERS, "bool", BFLOAT16],
        hnp.array_shapes(min_dims=2, max_dims=4, min_side=1, max_side=9),
    )
)
@settings(deadline=None)
def test_nested_parses_back_to_what_is_shown(array):
    digits = SIGNIFICANT_DIGITS.get(array.dtype.name)
    printed = read(value_text(tensor_repr(array, "X")), float if digits else int)
    as_numbers = array.astype(np.float32) if array.dtype == BFLOAT16 else array
    assert_same(printed, shorten(as_numbers), digits)


@given(array=arrays(["float32"], st.integers(1, 80)))
@settings(deadline=None)
def test_float32_is_recovered_bit_for_bit(array):
    # Nine significant digits tell any two float32 numbers apart.
    assume(not np.isnan(array).any())
    printed = np.array(read(value_text(tensor_repr(array, "Float32")), float), np.float32)
    np.testing.assert_array_equal(printed.view(np.int32), array.view(np.int32))


@given(array=arrays(["complex64", "complex128"], st.integers(1, 60)))
@settings(deadline=None)
def test_complex_parses_back(array):
    texts = re.split(r",\s+", value_text(tensor_repr(array, "X"))[1:-1].strip())
    assert len(texts) == array.size
    for text, value in zip(texts, array.tolist(), strict=True):
        printed = complex(text)
        assert_same([printed.real, printed.imag], [value.real, value.imag], 6)


@given(array=arrays([*FLOATS[:2], *INTEGERS, "bool", BFLOAT16], ANY_SHAPE))
@settings(deadline=None)
def test_every_value_has_the_same_width(array):
    assume(array.ndim > 0 and array.size > 0)
    rows = re.findall(r"\[([^\[\]]+)\]", tensor_repr(array, "X").split("value=")[1])
    values = [value for row in rows for value in re.split(r", | \.\.\. ", row)]
    fixed = {"float16": 11, "float32": 15, "bool": 5}
    width = fixed.get(array.dtype.name, max(len(value.strip()) for value in values))
    assert {len(value) for value in values} == {width}


# ----------------------------------------------------------------------------- what must not matter


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_repr_ignores_print_options_and_str_follows_them(dtype):
    array = (np.arange(24) / 7).astype(dtype).reshape(4, 6)
    text = tensor_repr(array, "X")
    with np.printoptions(
        precision=1, threshold=2, edgeitems=1, linewidth=20, suppress=True, sign="+", nanstr="?"
    ):
        assert tensor_repr(array, "X") == text
        assert "..." in tensor_str(array)
    assert "..." not in tensor_str(array)


def test_memory_layout_and_byte_order_do_not_matter():
    array = np.arange(90, dtype=np.float32).reshape(9, 10)
    text = tensor_repr(array, "Float32")
    assert tensor_repr(np.asfortranarray(array), "Float32") == text
    assert tensor_repr(array.astype(">f4"), "Float32") == text
    assert tensor_repr(np.repeat(array, 2, axis=1)[:, ::2], "Float32") == text


def test_threads_do_not_disturb_each_other():
    array = (np.arange(60, dtype=np.float32) / 7).reshape(3, 20)
    expected = tensor_repr(array, "Float32")
    wrong = []
    start = threading.Barrier(4)

    def work(precision):
        start.wait()
        for _ in range(50):
            with np.printoptions(precision=precision):
                if tensor_repr(array, "Float32") != expected:
                    wrong.append(precision)

    threads = [threading.Thread(target=work, args=(precision,)) for precision in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


class Counted:
    """A value that counts how often it is made into text."""

    made = 0

    def __str__(self):
        Counted.made += 1
        return "1"


@pytest.mark.parametrize("shape", [(1000, 1000), (2000,), (50, 50, 50)])
def test_only_what_is_shown_is_formatted(shape):
    Counted.made = 0
    array = np.full(shape, Counted(), dtype=object)
    assert "..." in tensor_repr(array, "X")
    assert Counted.made == 6 ** len(shape)


def test_cost_does_not_depend_on_the_size():
    # 10**18 values that share one memory cell: reading or copying even one row would not end.
    array = np.broadcast_to(np.float32(1), (10**9, 10**9))
    assert tensor_repr(array, "Float32").count("1.00000000e+00") == 36
