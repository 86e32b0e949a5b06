"""The comparison of printed text fails where it should: the other tests here stand on it."""

import pytest


@pytest.mark.parametrize(
    ("printed", "expected", "options"),
    [
        ("[[4.51 2.7]]", "[[4.5099998 2.7      ]]", {}),
        ("[2. 0.]", "[2. 0.]", {"layout": "exact"}),
        ("[nan inf]", "[nan inf]", {}),
        ("[-0.84147096]", "[-0.841471]", {}),
        ("[10.] [8.]", "[10] [8.]", {"layout": "none"}),
        ("[[4.5099998 2.7]]", "[[4.5, 2.7]]", {"rounded": True, "structure": False}),
        ("T(value= [ 1.0e+00])", "T(value= [ 1.0e+00])", {"layout": "exact"}),
    ],
)
def test_the_same_text_passes(compare, printed, expected, options):
    compare(printed, expected, **options)


@pytest.mark.parametrize(
    ("printed", "expected", "options"),
    [
        ("[2.0001]", "[2.]", {}),
        ("[2. 0.]", "[2.\n 0.]", {}),
        ("[2.]", "[[2.]]", {}),
        ("[2.]", "[2. 2.]", {"structure": False}),
        ("[10]", "[10.]", {}),
        ("[nan]", "[0.]", {}),
        ("[0.]", "[nan]", {}),
        ("Float64", "Float32", {}),
        ("(T, T)", "[T, T]", {"layout": "none"}),
        ("[4.56]", "[4.5]", {"rounded": True}),
        ("T(value=[ 1.0e+00])", "T(value= [ 1.0e+00])", {"layout": "exact"}),
        ("", "[2.]", {}),
    ],
)
def test_another_text_fails(compare, printed, expected, options):
    with pytest.raises(AssertionError):
        compare(printed, expected, **options)
