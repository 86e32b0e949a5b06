"""The laws catch mistakes: each line breaks one rule of one row, and names the law that must see it."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import pytest

from mindgrad.core.ir.dtype import DType, complex128, float32, float64
from mindgrad.core.ir.index_map import Relabeling
from mindgrad.core.ir.primitive import REGISTRY, Primitive
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.kinds import zeros
from tests.laws.checks import (
    Program,
    add_call,
    agrees_with_jax,
    batched_is_stacked,
    executors_agree,
    forward_is_finite_difference,
    jax_derivatives,
    reverse_is_transposed_forward,
    second_order_agrees,
    third_order_is_finite_difference,
    type_rule_is_true,
)
from tests.laws.harness import calls
from tests.laws.test_conventions import TABLE, Modes, build, collect, difference, evaluate, row

Rule = Callable[..., Any]


def every(law: Callable[..., None]) -> Callable[[str, DType], None]:
    """A law on each sample of a row."""

    def run(name: str, dtype: DType) -> None:
        for call in calls(name, dtype):
            if call.active:
                law(call, dtype)

    return run


def types(name: str, dtype: DType) -> None:
    for call in calls(name, dtype):
        type_rule_is_true(call)


def executors(name: str, dtype: DType) -> None:
    program = Program()
    for call in calls(name, dtype):
        add_call(program, call, dtype, 1)
    assert executors_agree(program.run(), name, dtype)


def oracle(name: str, dtype: DType) -> None:
    listed = [(call, dtype) for call in calls(name, dtype) if call.active]
    for (call, _), one in zip(listed, jax_derivatives(listed), strict=True):
        agrees_with_jax(call, dtype, one)


def batching(name: str, dtype: DType) -> None:
    assert batched_is_stacked(name, dtype)


def conventions(name: str, dtype: DType) -> None:
    """The lines of the table whose expression is this row alone, eagerly."""
    for convention in TABLE:
        if convention.expression.startswith(f"{name}("):
            modes = Modes(*build(convention))
            results = {k: evaluate(graph, arrays) for k, (graph, arrays) in modes.programs().items()}
            for mode, found in collect(results, sum(a.size for a in modes.arrays)).items():
                wanted = convention.second if "over" in mode else convention.first
                if wanted is not None:
                    assert difference(found, np.reshape(wanted, found.shape)) < 1e-12, "off by"


forward_mode = every(forward_is_finite_difference)
reverse_mode = every(reverse_is_transposed_forward)
second_order = every(second_order_agrees)
third_order = every(third_order_is_finite_difference)
BY_LAW = {
    "types": types,
    "forward": forward_mode,
    "reverse": reverse_mode,
    "second": second_order,
    "third": third_order,
    "executors": executors,
    "oracle": oracle,
    "batching": batching,
    "conventions": conventions,
}


# --- how rules are broken ---------------------------------------------------------------------------


def scaled(factor: float) -> Callable[[Rule], Rule]:
    """A result times a wrong factor."""

    def break_(rule: Rule) -> Rule:
        def broken(*args: Any, **parameters: Any) -> Any:
            found = rule(*args, **parameters)
            if isinstance(found, list):
                return [None if x is None else x * factor for x in found]
            return None if found is None else found * factor

        return broken

    return break_


def without(operand: int) -> Callable[[Rule], Rule]:
    """A forward rule that forgets one operand."""

    def break_(rule: Rule) -> Rule:
        def broken(y: Any, xs: Any, ts: Any, **parameters: Any) -> Any:
            return rule(y, xs, [None if i == operand else t for i, t in enumerate(ts)], **parameters)

        return broken

    return break_


def instead(new: Rule) -> Callable[[Rule], Rule]:
    return lambda rule: new


def detached(rule: Rule) -> Rule:
    """A forward rule that is right, but whose coefficients no longer depend on the operands."""
    stop = row.stop_gradient

    def broken(y: Any, xs: Any, ts: Any, **parameters: Any) -> Any:
        return rule(stop(y), [stop(x) for x in xs], ts, **parameters)

    return broken


def wider(rule: Rule) -> Rule:
    """A kernel that computes in float64 and forgets to come back."""
    return lambda *xs, **parameters: np.asarray(rule(*xs, **parameters), np.float64)


def inverted(rule: Rule) -> Rule:
    """The transpose of a permutation that uses the permutation itself."""
    return lambda ct, x, permutation: [row.transpose(ct, permutation=permutation)]


def flat_type(rule: Rule) -> Rule:
    return lambda *xs, **parameters: tensor_type(xs[0].dtype, (xs[0].size,))


def unmoved(axes: Any) -> Any:
    """Axes with the same parameters wherever a batch stands."""
    broken = copy(axes)
    broken.relabeled = lambda old, new: Relabeling(dict(new.parameters), (new.operands[0],))
    return broken


def bent(rule: Rule) -> Rule:
    """sin, whose derivative is cos with a wrong second derivative of its own: cos + 0 · x, held."""
    stop, cos, sin = row.stop_gradient, row.cos, row.sin

    def broken(y: Any, xs: Any, ts: Any) -> Any:
        # value cos x, first derivative −sin x, second derivative 0 instead of −cos x
        x, held = xs[0], stop(xs[0])
        return (cos(held) - sin(held) * (x - held)) * ts[0]

    return broken


class Mistake(NamedTuple):
    row: str
    field: str
    break_: Callable[[Rule], Rule]
    law: str
    dtype: DType = float64


MISTAKES = {
    "wrong sign": Mistake("sin", "jvp", scaled(-1.0), "forward"),
    "wrong sign, seen by jax": Mistake("sin", "jvp", scaled(-1.0), "oracle"),
    "missing factor": Mistake("exp2", "jvp", scaled(1 / np.log(2)), "forward"),
    "small factor": Mistake("erf", "jvp", scaled(1 + 1e-6), "forward"),
    "forgotten operand": Mistake("atan2", "jvp", without(1), "forward"),
    "forgotten operand of a bilinear row": Mistake("dot", "jvp", without(0), "forward"),
    "forgotten operand, seen by jax": Mistake("atan2", "jvp", without(0), "oracle"),
    "wrong transpose, factor": Mistake("reduce_sum", "transpose", scaled(2.0), "reverse"),
    "wrong transpose, sign": Mistake(
        "sub", "transpose", instead(lambda ct, a, b: [ct if x.linear else None for x in (a, b)]), "reverse"
    ),
    "wrong transpose, permutation not inverted": Mistake("transpose", "transpose", inverted, "reverse"),
    "wrong transpose, imaginary part not negated": Mistake(
        "imag", "transpose", instead(lambda ct, x: [row.complex(zeros(ct.type), ct)]), "reverse", complex128
    ),
    "wrong transpose, forgotten": Mistake(
        "mul", "transpose", instead(lambda ct, a, b: [None, None]), "reverse"
    ),
    "right once, constant afterwards": Mistake("tanh", "jvp", detached, "second"),
    "right twice, wrong the third time": Mistake("sin", "jvp", bent, "third"),
    "corner on the wrong side": Mistake(
        "relu",
        "jvp",
        instead(lambda y, xs, ts: row.select(xs[0] >= 0, ts[0], zeros(ts[0].type))),
        "conventions",
    ),
    "corner without a value": Mistake(
        "abs", "jvp", instead(lambda y, xs, ts: xs[0] / y * ts[0]), "conventions"
    ),
    "infinite partial times zero": Mistake(
        "xlogy",
        "jvp",
        instead(lambda p, xs, ts: row.mul(xs[0] * row.reciprocal(xs[1]), ts[1])),
        "conventions",
    ),
    "kernel of another function": Mistake("floor", "numpy", instead(np.ceil), "executors"),
    "kernel with a small error": Mistake("cosh", "numpy", scaled(1 + 1e-9), "executors"),
    "lowering of another function": Mistake("acosh", "xla", instead("asinh"), "executors"),
    "kernel with another element type": Mistake("cos", "numpy", wider, "types", float32),
    "kernel with another shape": Mistake("sqrt", "numpy", instead(lambda x: np.sqrt(np.ravel(x))), "types"),
    "type rule with another shape": Mistake("log", "type_rule", flat_type, "types"),
    "lowering with another element type": Mistake(
        "argmax", "xla", instead(lambda jax, x, axis: jax.numpy.argmax(x, axis=axis)), "types"
    ),
    "batch in front of the axes": Mistake("reverse", "axes", unmoved, "batching"),
    "batch of another element": Mistake(
        "cumsum",
        "batch",
        instead(lambda size, xs, at, axis, reverse: (row.cumsum(xs[0], axis=axis, reverse=reverse), at[0])),
        "batching",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_caught(what, monkeypatch):
    name, field, break_, law, dtype = MISTAKES[what]
    primitive: Primitive = REGISTRY[name]
    BY_LAW[law](name, dtype)  # the row as it is keeps the law
    monkeypatch.setattr(primitive, field, break_(getattr(primitive, field)))
    # a result of a wrong type raises before the law compares numbers
    with pytest.raises((AssertionError, TypeError), match=r"off by|gives|has types|must return a value"):
        BY_LAW[law](name, dtype)


def test_every_law_has_caught_a_mistake():
    assert {mistake.law for mistake in MISTAKES.values()} == set(BY_LAW)
