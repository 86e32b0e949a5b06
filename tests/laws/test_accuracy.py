"""Errors of operators and their derivatives stay below those that docs/accuracy.md lists."""

import pytest

from tests.laws import accuracy


@pytest.mark.xla
@pytest.mark.parametrize("format", accuracy.FORMATS)
def test_errors_of_operators_stay_within_the_listed_ones(format):
    listed = accuracy.listed()
    worse = []
    for name, order, mode, off, x in accuracy.measured(format):
        limit = accuracy.SLACK * listed[name, format, mode][order] + accuracy.MARGIN
        if not off <= limit:
            worse.append(f"{name}, order {order}, {mode}, at {x}: {off:.3g} units, allowed {limit:.3g}")
    assert not worse, "\n".join(worse)


def test_every_listed_operator_is_measured():
    assert {name for name, *_ in accuracy.listed()} == set(accuracy.OPERATORS)


def test_worst_listed_error_of_a_first_derivative_is_small():
    """A first derivative has lost no more than two digits, in any type."""
    assert max(errors[1] for errors in accuracy.listed().values()) < 100
