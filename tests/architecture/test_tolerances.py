"""Limits of comparisons follow from dtype and operation in tests/tolerances.py: numbers in calls only become fewer."""

import ast
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).parents[1]
#: functions that compare within a limit, with the number of arguments before the limit
COMPARISONS = {"np.testing.assert_allclose": 2, "np.allclose": 2, "np.isclose": 2, "pytest.approx": 1}
#: comparisons whose limit is a number in the call; they may only become fewer
MOST_LITERALS = 93


def limits(call: ast.Call) -> list[ast.expr]:
    """Return the expressions that limit the error in a call of a comparison, none for other calls."""
    first = COMPARISONS.get(ast.unparse(call.func))
    if first is None:
        return []
    named = [each.value for each in call.keywords if each.arg in ("rtol", "atol", "rel", "abs")]
    return [*call.args[first:], *named]


def is_literal(expression: ast.expr) -> bool:
    """Whether an expression contains a number other than zero."""
    return any(isinstance(n, ast.Constant) and n.value not in (0, None, "") for n in ast.walk(expression))


def literals(source: str) -> int:
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return sum(any(map(is_literal, limits(call))) for call in calls)


def test_literal_limits_only_become_fewer():
    counts = Counter({str(f.relative_to(TESTS)): literals(f.read_text()) for f in TESTS.rglob("*.py")})
    found = counts.total()
    files = ", ".join(f"{name} {count}" for name, count in counts.most_common() if count)
    assert found <= MOST_LITERALS, (
        f"{found} comparisons have a number as their limit; {MOST_LITERALS} had. Use tests.tolerances.assert_close "
        f"with a kind. By file: {files}"
    )
    assert found == MOST_LITERALS, f"only {found} comparisons have a number as their limit: record that"


def test_literals_counts_numbers_in_limits():
    source = """
np.testing.assert_allclose(x, 1e-3, rtol=1e-5)
np.testing.assert_allclose(x, y, 1e-5)
np.allclose(x, y, atol=2 * bound)
pytest.approx(0.5, rel=within)
odeint(f, y, t, rtol=1e-9)
assert_close(x, 0.5, "program")
"""
    assert literals(source) == 3
