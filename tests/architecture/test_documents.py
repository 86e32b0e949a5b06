"""Documents hold no leftovers of a merge, and their links lead to files of the repository."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").rglob("*.md")])
MARKER = re.compile(r"^(<{7} |={7}$|>{7} )", re.M)
LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)")


def faults(document: Path, text: str) -> list[str]:
    markers = [f"the marker {found[0]!r} of a merge" for found in MARKER.finditer(text)]
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)  # code may hold brackets
    targets = [target for target in LINK.findall(prose) if not (document.parent / target).exists()]
    return markers + [f"the link to {target} leads nowhere" for target in targets]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_are_whole(document):
    assert faults(document, document.read_text()) == []


@pytest.mark.parametrize("text", ["a\n=======\nb", "<<<<<<< HEAD\n", "[heart](nowhere.md)"])
def test_a_fault_is_seen(text):
    assert len(faults(ROOT / "README.md", text)) == 1
