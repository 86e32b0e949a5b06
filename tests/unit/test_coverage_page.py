"""The page of the names that MindSpore exports: it is what its command writes."""

import runpy
from pathlib import Path

COVERAGE = Path(__file__).parents[2] / "docs" / "coverage"


def test_the_page_is_what_its_command_writes():
    written = runpy.run_path(str(COVERAGE / "page.py"))["page"]()
    page = COVERAGE.with_suffix(".md").read_text()
    assert written == page, "write it anew: python docs/coverage/page.py"


def test_names_are_covered_missing_or_importable():
    compare = runpy.run_path(str(COVERAGE / "page.py"))["compare"]
    module = compare("mindspore.ops", ["sin", "DynamicRNN", "no_such_operator"])
    assert (module.covered, module.missing) == (["sin"], ["no_such_operator"])
    assert list(module.importable) == ["DynamicRNN"]
