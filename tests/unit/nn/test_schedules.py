"""Learning rates as lists and as Cells, against the formulas for single epochs and steps."""

import math

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import nn
from tests.tolerances import assert_close

EPOCHS = range(7)  # of two steps each

LISTS = {
    "exponential": (nn.exponential_decay_lr, (0.5, 0.9, 14, 2, 3), lambda e: 0.5 * 0.9 ** (e / 3)),
    "exponential stair": (nn.exponential_decay_lr, (0.5, 0.9, 14, 2, 3, True), lambda e: 0.5 * 0.9 ** (e // 3)),
    "natural": (nn.natural_exp_decay_lr, (0.5, 0.9, 14, 2, 3), lambda e: 0.5 * math.exp(-0.9 * e)),
    "natural stair": (nn.natural_exp_decay_lr, (0.5, 0.9, 14, 2, 3, True), lambda e: 0.5 * math.exp(-0.9 * (e // 3) * 3)),
    "inverse": (nn.inverse_decay_lr, (0.5, 0.9, 14, 2, 3), lambda e: 0.5 / (1 + 0.9 * e / 3)),
    "inverse stair": (nn.inverse_decay_lr, (0.5, 0.9, 14, 2, 3, True), lambda e: 0.5 / (1 + 0.9 * (e // 3))),
    "cosine": (nn.cosine_decay_lr, (0.1, 0.5, 14, 2, 4), lambda e: 0.1 + 0.2 * (1 + math.cos(math.pi * min(e, 4) / 4))),
    "polynomial": (nn.polynomial_decay_lr, (0.5, 0.1, 14, 2, 4, 0.5), lambda e: 0.4 * (1 - min(e, 4) / 4) ** 0.5 + 0.1),
    "polynomial again": (
        nn.polynomial_decay_lr, (0.5, 0.1, 14, 2, 4, 0.5, True),
        lambda e: 0.4 * (1 - e / (4 * max(math.ceil(e / 4), 1))) ** 0.5 + 0.1,
    ),
    "warm up": (nn.warmup_lr, (0.5, 14, 2, 4), lambda e: 0.5 * min(e, 4) / 4),
    "no warm up": (nn.warmup_lr, (0.5, 14, 2, 0), lambda e: 0.5),
}  # fmt: skip

CELLS = {
    "exponential": (nn.ExponentialDecayLR(0.5, 0.9, 3), lambda s: 0.5 * 0.9 ** (s / 3)),
    "exponential stair": (nn.ExponentialDecayLR(0.5, 0.9, 3, True), lambda s: 0.5 * 0.9 ** (s // 3)),
    "natural": (nn.NaturalExpDecayLR(0.5, 0.9, 3), lambda s: 0.5 * math.exp(-0.9 * s)),
    "natural stair": (nn.NaturalExpDecayLR(0.5, 0.9, 3, True), lambda s: 0.5 * math.exp(-0.9 * (s // 3) * 3)),
    "inverse": (nn.InverseDecayLR(0.5, 0.9, 3), lambda s: 0.5 / (1 + 0.9 * s / 3)),
    "inverse stair": (nn.InverseDecayLR(0.5, 0.9, 3, True), lambda s: 0.5 / (1 + 0.9 * (s // 3))),
    "cosine": (nn.CosineDecayLR(0.1, 0.5, 4), lambda s: 0.1 + 0.2 * (1 + math.cos(math.pi * min(s, 4) / 4))),
    "polynomial": (nn.PolynomialDecayLR(0.5, 0.1, 4, 0.5), lambda s: 0.4 * (1 - min(s, 4) / 4) ** 0.5 + 0.1),
    "polynomial again": (
        nn.PolynomialDecayLR(0.5, 0.1, 4, 0.5, True),
        lambda s: 0.4 * (1 - s / (4 * max(math.ceil(s / 4), 1))) ** 0.5 + 0.1,
    ),
    "warm up": (nn.WarmUpLR(0.5, 4), lambda s: 0.5 * min(s, 4) / 4),
}  # fmt: skip


@pytest.mark.parametrize("case", LISTS)
def test_a_list_has_the_rate_of_each_step(case):
    function, arguments, rate = LISTS[case]
    found = function(*arguments)
    assert all(isinstance(each, float) for each in found)
    assert_close(found, [rate(epoch) for epoch in EPOCHS for _ in range(2)], kind="program")


@pytest.mark.parametrize("case", CELLS)
def test_a_cell_computes_the_rate_of_a_step(case):
    cell, rate = CELLS[case]
    steps = [0, 1, 2, 3, 4, 5, 9]
    actual = [cell(ms.Tensor(step, ms.int32)) for step in steps]
    assert all(each.shape == () and each.dtype is ms.float32 for each in actual)
    assert_close(
        [float(each) for each in actual],
        [rate(s) for s in steps],
        kind="program",
        each=True,
        scale=0.1,
        dtype=np.float32,
    )
    # the global_step of optimizers has one axis
    assert cell(ms.Tensor([3], ms.int32)).shape == (1,)


def test_all_cells_in_one_hot_program():
    @ms.jit
    def rates(step):
        return [cell(step) for cell, _ in CELLS.values()]

    found = rates(ms.Tensor(5, ms.int32))
    wanted = [rate(5) for _, rate in CELLS.values()]
    assert_close(
        [float(each) for each in found], wanted, kind="program", each=True, scale=0.1, dtype=np.float32
    )


ENDS = {
    "exponential": (nn.ExponentialDecayLR(0.5, 0.5, 41, True), 41, 0.25),
    "natural": (nn.NaturalExpDecayLR(0.5, 0.01, 41, True), 41, 0.5 * math.exp(-0.41)),
    "inverse": (nn.InverseDecayLR(0.5, 1.0, 82, True), 82, 0.25),
    "polynomial": (nn.PolynomialDecayLR(0.5, 0.1, 10, 0.5), 10, 0.1),
    "polynomial again": (nn.PolynomialDecayLR(0.5, 0.1, 7, 1.0, True), 21, 0.1),
}


# where a quotient that is rounded otherwise falls into another period; test_as_users_compile runs it too
@pytest.mark.parametrize("case", ENDS)
def test_a_compiled_rate_at_the_end_of_a_period(case):
    cell, step, wanted = ENDS[case]
    for rate in (cell, ms.jit(lambda at: cell(at))):
        assert float(rate(ms.Tensor(step, ms.int32))) == pytest.approx(wanted)


def test_piecewise_constant_rates():
    assert nn.piecewise_constant_lr([2, 5, 6], [0.1, 0.05, 0.01]) == [0.1, 0.1, 0.05, 0.05, 0.05, 0.01]


def test_modules_of_mindspore():
    from mindgrad.nn import dynamic_lr, learning_rate_schedule

    assert dynamic_lr.cosine_decay_lr is nn.cosine_decay_lr
    assert learning_rate_schedule.LearningRateSchedule is nn.LearningRateSchedule


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: nn.piecewise_constant_lr([2, 1], [0.1, 0.2]), ValueError, "must be in ascending order"),
        (lambda: nn.piecewise_constant_lr([2], [0.1, 0.2]), ValueError, "same length"),
        (lambda: nn.piecewise_constant_lr(2, [0.1]), TypeError, "'milestone' must be a list"),
        (lambda: nn.piecewise_constant_lr([2.0], [0.1]), TypeError, r"'milestone\[0\]' must be an int"),
        (lambda: nn.exponential_decay_lr(0.0, 0.9, 3, 1, 1), ValueError, "'learning_rate' must be greater than 0"),
        (lambda: nn.exponential_decay_lr(0.1, 0.9, 3, 1, 0), ValueError, "'decay_epoch' must be at least 1"),
        (lambda: nn.inverse_decay_lr(0.1, 0.9, 3, 1, 1, 1), TypeError, "'is_stair' must be bool"),
        (lambda: nn.cosine_decay_lr(0.5, 0.1, 3, 1, 1), ValueError, "'max_lr' must exceed the 'min_lr'"),
        (lambda: nn.polynomial_decay_lr(0.1, 0.0, 3, 1, 1, -1.0), ValueError, "'power' must be greater than 0"),
        (lambda: nn.warmup_lr("0.1", 3, 1, 1), TypeError, "'learning_rate' must be a float"),
        (lambda: nn.ExponentialDecayLR(0.1, 0.9, 1.5), TypeError, "'decay_steps' must be an int"),
        (lambda: nn.CosineDecayLR(0.5, 0.1, 3), ValueError, "'max_lr' must exceed the 'min_lr'"),
        (lambda: nn.WarmUpLR(0.1, 0), ValueError, "'warmup_steps' must be at least 1"),
        (lambda: nn.LearningRateSchedule()(1), NotImplementedError, "define construct"),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(make, error, text):
    with pytest.raises(error, match=text):
        make()
