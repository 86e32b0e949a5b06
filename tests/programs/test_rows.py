"""Random derivatives of random programs of rows are the same whatever mode the compiler chooses."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies

import mindgrad as ms
from mindgrad.core.passes import mode_choice
from tests.programs.corpus import rows
from tests.unit.rewrite_checks import with_and_without

SEEDS = strategies.integers(0, 2**32 - 1)


def agree(instructions, steps, seed):
    """Check that a function is the same with and without rewrites; those that fired."""
    x = rows.points(seed, rows.POINTS, rows.COLUMNS)
    function, what = rows.made(instructions, steps)[0], rows.described(instructions, steps)
    try:
        return with_and_without(function, x, what=what)[0]
    finally:
        ms.clear_cache()


@settings(max_examples=20)
@given(rows.instructions, rows.steps, SEEDS)
def test_drawn_derivatives_of_rows_are_the_same_in_every_mode(instructions, steps, seed):
    agree(instructions, steps, seed)


def test_what_is_drawn_is_what_is_rewritten():
    """Most of what is drawn is rewritten, in all the ways that there are for derivatives."""
    random = np.random.default_rng(0)
    counts: Counter[str] = Counter()
    for seed in range(16):
        sizes = [(int(random.integers(1, 6)), length) for length in (3, 2)]
        instructions, steps = [list(map(tuple, random.integers(0, 99, size).tolist())) for size in sizes]
        counts.update(dict.fromkeys(agree(instructions, steps, seed), 1))
    assert counts["diagonal"] >= 6
    assert {"series", "columns", "collapse"} <= {*counts}


def test_a_wrong_mode_would_be_noticed(monkeypatch):
    """Rows that mix and are taken for apart change what is found."""

    def careless(equations, x):
        places = honest(equations, x)
        return {v: (0, *at[1:]) if v.shape[:1] == x.shape[:1] else at for v, at in places.items()}

    honest = mode_choice.alignment
    instructions, steps = [(list(rows.OPERATORS).index("centered"), 0, 0), (0, 1, 0)], [(0, 0)]
    agree(instructions, steps, 1)
    monkeypatch.setattr(mode_choice, "alignment", careless)
    with pytest.raises(AssertionError, match="centered"):
        agree(instructions, steps, 1)
