"""Documents have no merge markers and no dead links, and decisions have a summary that their index repeats."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").rglob("*.md")])
MARKER = re.compile(r"^(<{7} |={7}$|>{7} )", re.M)
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))
LINK = re.compile(r"\]\((?!https?://|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")


def faults(document: Path, text: str) -> list[str]:
    markers = [f"the marker {found[0]!r} of a merge" for found in MARKER.finditer(text)]
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)  # code may hold brackets
    return markers + [
        fault for target, place in LINK.findall(prose) if (fault := dead(document, target, place))
    ]


def dead(document: Path, target: str, place: str) -> str:
    """What is wrong with a link to a file and to a heading in it; the empty text if nothing is."""
    file = document.parent / target if target else document
    if not file.exists():
        return f"the link to {target} leads nowhere"
    if place and file.suffix == ".md" and place not in places(file):
        return f"the link to {target}#{place} leads to no heading"
    return ""


def places(document: Path) -> set[str]:
    """The anchors of the headings of a document, as the site and GitHub make them."""
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    named = {name for heading in headings for name in re.findall(r"\{#([\w-]+)\}$", heading)}
    return named | {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_are_whole(document):
    assert faults(document, document.read_text()) == []


@pytest.mark.parametrize(
    "text", ["a\n=======\nb", "<<<<<<< HEAD\n", "[heart](nowhere.md)", "[x](docs/how_it_works.md#nowhere)"]
)
def test_a_fault_is_seen(text):
    assert len(faults(ROOT / "README.md", text)) == 1


def summary(decision: Path) -> str:
    """The summary of a decision, as one line."""
    (text,) = re.findall(r"^\*\*Summary\.\*\* (.*?)\n\n", decision.read_text(), re.S | re.M)
    return " ".join(text.split())


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda path: path.stem)
def test_decision_begins_with_number_status_date_and_summary(decision):
    title, status, rest = decision.read_text().split("\n\n", 2)
    assert title.startswith(f"# {int(decision.name[:4])}. ")
    assert re.match(r"Status:\s.*\sDate:\s20\d\d-\d\d-\d\d", status, re.S)
    assert rest.startswith("**Summary.** ")
    assert len(re.findall(r"\.(?= |$)", summary(decision))) == 1, "the summary is one sentence"


def test_index_of_decisions_lists_each_with_its_summary():
    rows = re.findall(
        r"^\| \[(\d+)\. .*\]\((.*)\) \| (.*) \|$", (DECISIONS[0].parent / "index.md").read_text(), re.M
    )
    expected = [(str(int(path.name[:4])), path.name, summary(path)) for path in DECISIONS]
    assert sorted(rows, key=lambda row: int(row[0])) == expected
