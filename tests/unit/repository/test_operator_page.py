"""The operators of docs/howto/add_operator.md satisfy the laws of tests/laws."""

import re
from pathlib import Path

import pytest

from mindgrad.core.ir.dtype import bfloat16, float16, float32, float64
from mindgrad.core.ir.primitive import REGISTRY
from tests.laws.test_index_maps import orders_are_free, rows_are_apart, samples
from tests.laws.test_planted import BY_LAW
from tests.laws.test_sparsity import test_gradients as gradients_have_patterns
from tests.laws.test_sparsity import test_rows as patterns_hold
from tests.laws.test_taylor import test_taylor_is_nested_forward as taylor_is_nested_forward

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "add_operator.md"
NAMES = ("erfcx", "cumulative_mean")


@pytest.fixture(scope="module")
def declared():
    """Execute the examples of the page that declare a primitive."""
    before = set(REGISTRY)
    scope = {}
    for block in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S):
        if re.search(r"= (elementwise|linear)\(", block):
            exec("\n".join(line[4:] for line in block.splitlines() if re.match(r">>> |\.\.\. ", line)), scope)
    yield set(REGISTRY) - before
    for name in set(REGISTRY) - before:
        del REGISTRY[name]


def test_the_page_declares_two_operators(declared):
    assert declared == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_operator_satisfies_the_laws(declared, name):
    for law in BY_LAW.keys() - {"conventions"}:
        BY_LAW[law](name, float64)
    for dtype in (bfloat16, float16, float32):
        for law in ("types", "executors"):
            BY_LAW[law](name, dtype)
    taylor_is_nested_forward(name)
    patterns_hold(name)
    gradients_have_patterns(name)
    for arrays, parameters in samples(REGISTRY[name]):
        rows_are_apart(REGISTRY[name], arrays, parameters)
        assert orders_are_free(REGISTRY[name], arrays, parameters)
