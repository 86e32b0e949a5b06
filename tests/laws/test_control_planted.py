"""The laws of branches and loops catch mistakes: each line breaks one rule, and names the law that must see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax.numpy as jnp
import pytest

from mindgrad.core.control import checkpoints
from mindgrad.core.control.cond import cond
from mindgrad.core.control.scan import scan
from mindgrad.core.control.while_ import while_
from mindgrad.core.control.while_pullback import while_pullback
from mindgrad.core.ir import memo
from tests.laws import test_control
from tests.laws.test_control import (
    BY_NAME,
    agrees,
    batched_is_stacked,
    forward_is_finite_difference,
    reverse_is_transposed_forward,
    taylor_is_nested_forward,
)

Rule = Callable[..., Any]


class Planted(NamedTuple):
    """What is broken (an attribute of a row or module), how, and the law that sees it on a program."""

    where: Any
    attribute: str
    broken: Callable[[Rule], Rule]
    law: Callable[[], None]


def of(law: Callable[..., None], name: str, *more: Any) -> Callable[[], None]:
    return lambda: law(BY_NAME[name], *more)


def without(position: int) -> Callable[[Rule], Rule]:
    """A rule that forgets one of its results."""

    def broken(rule: Rule) -> Rule:
        def run(*xs: Any, **parameters: Any) -> Any:
            found = list(rule(*xs, **parameters))
            found[position] = None
            return found

        return run

    return broken


def without_tangent(position: int) -> Callable[[Rule], Rule]:
    """A rule of values and tangents that forgets one of the tangents."""

    def broken(rule: Rule) -> Rule:
        def run(*xs: Any, **parameters: Any) -> Any:
            values, tangents = rule(*xs, **parameters)
            return values, [None if k == position else t for k, t in enumerate(tangents)]

        return run

    return broken


def without_tangents(rule: Rule) -> Rule:
    def run(*xs: Any, **parameters: Any) -> Any:
        values, tangents = rule(*xs, **parameters)
        return values, [None] * len(tangents)

    return run


def with_other(name: str, change: Callable[[Any], Any]) -> Callable[[Rule], Rule]:
    """A rule that is given another parameter."""
    return lambda rule: lambda *xs, **parameters: rule(*xs, **parameters | {name: change(parameters[name])})


def swapped_branches(rule: Rule) -> Rule:
    return lambda *xs, true, false: rule(*xs, true=false, false=true)


def same_order(rule: Rule) -> Rule:
    """The transposed scan runs the way of the scan."""
    return lambda *xs, **parameters: rule(
        *xs, **parameters | {"reverse": not parameters.get("reverse", False)}
    )


def one_iteration_less(reverse: Rule) -> Rule:
    return lambda jax, iteration, saved, *others: reverse(
        jax, iteration, saved._replace(iterations=jnp.maximum(saved.iterations - 1, 0)), *others
    )


def earlier_carry(reverse: Rule) -> Rule:
    """The saved carries are taken for those of half the period."""
    return lambda jax, iteration, saved, *others: reverse(
        jax, iteration, saved._replace(period=saved.period // 2), *others
    )


def first_order_only(rule: Rule) -> Rule:
    def run(equation: Any, coefficients: Any, order: int) -> Any:
        return [[*each[:2], *[None] * (order - 1)] for each in rule(equation, coefficients, order)]

    return run


def all_shared(rule: Rule) -> Rule:
    """A batch rule that takes the results for those of every element."""

    def run(size: int, xs: Any, at: Any, **parameters: Any) -> Any:
        made, places = rule(size, xs, at, **parameters)
        return made, [0 if place == 1 else place for place in places]

    return run


PLANTED = {
    "a tangent that is forgotten (cond)": Planted(
        cond,
        "jvp_with_values",
        without_tangent(0),
        of(forward_is_finite_difference, "two branches, one after the other"),
    ),
    "branches swapped in the transpose": Planted(
        cond, "transpose", swapped_branches, of(agrees, "two branches, one after the other", "r")
    ),
    "a cotangent that is forgotten (cond)": Planted(
        cond, "transpose", without(-1), of(reverse_is_transposed_forward, "a while in a branch", "")
    ),
    "a tangent that is forgotten (while)": Planted(
        while_,
        "jvp_with_values",
        without_tangent(1),
        of(forward_is_finite_difference, "a while with a counter"),
    ),
    "a tangent that is forgotten (scan)": Planted(
        scan,
        "jvp_with_values",
        without_tangent(3),
        of(forward_is_finite_difference, "a scan of a gated cell"),
    ),
    "the transposed scan runs forwards": Planted(
        scan, "transpose", same_order, of(reverse_is_transposed_forward, "a scan of a gated cell", "")
    ),
    "the pullback has no derivative": Planted(
        while_pullback,
        "jvp_with_values",
        without_tangents,
        of(agrees, "a scan in a while", "fr"),
    ),
    "the pullback forgets a cotangent's derivative": Planted(
        while_pullback, "jvp_with_values", without_tangent(0), of(agrees, "a while with a counter", "rr")
    ),
    "the last iteration is not walked back": Planted(
        checkpoints, "ReverseIterations", one_iteration_less, of(agrees, "a while with a counter", "r", True)
    ),
    "carries are looked up in the wrong place": Planted(
        checkpoints,
        "ReverseIterations",
        earlier_carry,
        lambda: test_control.test_few_slots_give_what_many_give(2, "r"),
    ),
    "higher coefficients are forgotten (while)": Planted(
        while_, "series", first_order_only, of(taylor_is_nested_forward, "a while with a counter", "", 2)
    ),
    "higher coefficients are forgotten (pullback)": Planted(
        while_pullback,
        "series",
        first_order_only,
        of(taylor_is_nested_forward, "a while with a counter", "r", 2),
    ),
    "higher coefficients are forgotten (scan)": Planted(
        scan, "series", first_order_only, of(taylor_is_nested_forward, "a scan of a gated cell", "", 2)
    ),
    "higher coefficients are forgotten (cond)": Planted(
        cond,
        "series",
        first_order_only,
        of(taylor_is_nested_forward, "two branches, one after the other", "", 2),
    ),
    "a batch axis in the wrong place": Planted(
        scan, "batch", all_shared, of(batched_is_stacked, "a scan of a gated cell", "", "all", 1)
    ),
}


@pytest.fixture
def _fresh() -> Iterator[None]:
    """Derived bodies are made anew, before and after."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    memo.forget()
    for name, module in list(sys.modules.items()):
        if name.startswith(("mindgrad.core.control", "mindgrad.core.ir")):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.usefixtures("_fresh")
def test_a_planted_error_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = PLANTED[name]
    planted.law()
    _forget()
    rule = getattr(planted.where, planted.attribute)
    monkeypatch.setattr(planted.where, planted.attribute, planted.broken(rule))
    with pytest.raises(AssertionError):
        planted.law()
