"""Pages that need it have the tiers of eager mode, which tests run without, and give back what they add."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from mindgrad.ir import settings
from tests.public_names import restored

# Programs that write what the pages show have no examples (tests/unit/test_coverage_page.py imports them).
# Pages in Chinese have the code blocks of the English ones (tests/architecture/test_site.py).
collect_ignore_glob = ["*/*.py", "*.zh.md"]


@pytest.fixture(autouse=True)
def names(request: pytest.FixtureRequest) -> Iterator[None]:
    """Take back the operator that ``add_operator.md`` adds."""
    with restored() if request.path.name == "add_operator.md" else nullcontext():
        yield


@pytest.fixture(autouse=True)
def tiers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Turn them on where the page is ``eager.md``."""
    before = settings.get("eager")
    if request.path.name == "eager.md":
        settings.store("eager", "")
    yield
    settings.store("eager", before)
