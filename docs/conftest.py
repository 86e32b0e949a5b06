"""The tiers of eager mode, which tests run without, are on in the examples of their own page."""

from collections.abc import Iterator

import pytest

from mindgrad.ir import settings


@pytest.fixture(autouse=True)
def tiers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Turn them on where the page is ``eager.md``."""
    before = settings.get("eager")
    if request.path.name == "eager.md":
        settings.store("eager", "")
    yield
    settings.store("eager", before)
