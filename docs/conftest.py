"""Pages of the documentation that need a setting of their own, or that add an operator."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from tests.public_names import restored

# Programs that write what the pages show have no examples (`test_coverage_page.py` imports them).
# Pages in Chinese have the code blocks of the English ones (tests/architecture/test_site.py).
collect_ignore_glob = ["*/*.py", "*.zh.md"]


@pytest.fixture(autouse=True)
def names(request: pytest.FixtureRequest) -> Iterator[None]:
    """Take back the operator that ``add_operator.md`` adds."""
    with restored() if request.path.name == "add_operator.md" else nullcontext():
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the examples of ``eager.md`` in the default mode of eager calls, whatever MINDGRAD_EAGER says."""
    for item in items:
        if item.path.name == "eager.md":
            item.add_marker(pytest.mark.eager(""))
