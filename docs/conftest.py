"""The tiers of eager mode, which tests run without, are on in the examples of their own page."""

from collections.abc import Iterator

import pytest

from mindgrad.ir import settings

# Programs that write what the pages show have no examples (tests/unit/test_coverage_page.py imports them).
# Pages in Chinese have the code blocks of the English ones (tests/architecture/test_site.py).
collect_ignore_glob = ["*/*.py", "*.zh.md"]


@pytest.fixture(autouse=True)
def tiers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Turn them on where the page is ``eager.md``."""
    before = settings.get("eager")
    if request.path.name == "eager.md":
        settings.store("eager", "")
    yield
    settings.store("eager", before)
