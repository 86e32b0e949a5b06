"""Versions and counts in pages are those of the code."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

import mindgrad

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: pages of today, without decisions and release notes, which describe the past
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if "decisions" not in path.parts and path.name != "CHANGELOG.md"
)
WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
}  # fmt: skip
COUNTED = {
    "tutorials": len([path for path in ROOT.glob("docs/tutorials/*.md") if ".zh." not in path.name]),
    "tasks of": len([path for path in ROOT.glob("examples/tasks/*.py") if path.name[0] != "_"]),
}


def statements(text: str) -> list[str]:
    """The lines of a page without records of runs, which name the versions of their time."""
    return [line for line in text.split("\n") if not re.search(r"\bcommit [0-9a-f]{7}", line)]


def minors(requirement: str) -> list[str]:
    """The minor versions that a requirement of pyproject.toml such as ``jax>=0.10,<0.12`` allows."""
    first, end = re.search(r">=0\.(\d+),<0\.(\d+)", requirement).groups()
    return [f"0.{number}" for number in range(int(first), int(end))]


def requirement(name: str) -> str:
    return next(x for x in PROJECT["dependencies"] if re.match(rf"{name}\b", x))


def wrong_versions(text: str) -> list[str]:
    """Find versions of mindgrad, JAX, Python and CUDA that differ from those of pyproject.toml."""
    jax, python = minors(requirement("jax")), PROJECT["requires-python"].removeprefix(">=")
    pythons = [x.split(" :: ")[-1] for x in PROJECT["classifiers"] if re.search(r"Python :: 3\.", x)]
    cuda = re.search(r"cuda(\d+)", PROJECT["optional-dependencies"]["gpu"][0])[1]
    faults = []
    for line in statements(text):
        for pattern, right in (
            (r"\bmindgrad(?:==| )(\d+\.\d+\.\d+)", [PROJECT["version"]]),
            (r"\b(?:JAX|jax)(?:==| )(0\.\d+)", jax),
            (r"\b(?:JAX|jax) 0\.\d+ (?:and|or|或|和) (0\.\d+)", jax[-1:]),
            (r"\bPython (3\.\d+)", pythons),
            (r"\bPython (3\.\d+) (?:or newer|或更新)", [python]),
            (r"\bCUDA (\d+)", [cuda]),
        ):
            faults += [f"'{x[0]}' is not {right}" for x in re.finditer(pattern, line) if x[1] not in right]
    return faults


def wrong_counts(text: str) -> list[str]:
    """Find counts that differ from the list or table after them, or from the number of files.

    A sentence such as "Six rules, each with a proof:" announces the list or table that follows it.
    """
    text = re.sub(r"^```.*?^```", "```", text, flags=re.S | re.M)
    blocks = [block for block in re.split(r"\n\s*\n", text) if block.strip()]
    faults = []
    for announcement, block in pairwise(blocks):
        sentence = re.split(r"(?<=[.!?]) (?=[A-Z*`])", " ".join(announcement.split()))[-1]
        found = re.match(r"([A-Z][a-z]+) (?:\w+ )?\w+s(?:,.*)?:$", sentence)
        rows = [line for line in block.split("\n") if line.startswith("|")]
        count = len(rows) - 2 if rows else len(re.findall(r"^(?:[-*]|\d+\.) ", block, re.M))
        if found and count > 0 and WORDS.get(found[1].lower(), count) != count:
            faults.append(f"'{sentence}' announces {found[1].lower()}, but {count} follow")
    for number, what in re.findall(r"\b(\w+) (tutorials|tasks of)\b", text):
        if WORDS.get(number.lower(), COUNTED[what]) != COUNTED[what]:
            faults.append(f"'{number} {what}', but there are {COUNTED[what]}")
    return faults


def test_package_has_one_version():
    version = PROJECT["version"]
    assert version == mindgrad._OWN_VERSION
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    newest = re.search(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(), re.M)[0]
    assert version in newest


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_state_the_versions_and_counts_of_the_code(page):
    text = page.read_text()
    assert wrong_versions(text) + wrong_counts(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "It needs mindgrad 2.9.0.",
        "It needs JAX 0.9.",
        "It needs JAX 0.10 or 0.12.",
        "It needs Python 3.9.",
        "It needs Python 3.12 or newer.",
        "It needs CUDA 11.",
    ],
)
def test_wrong_version_is_found(text):
    assert wrong_versions(text)


@pytest.mark.parametrize(
    "text",
    [
        "Five rules:\n\n- a\n- b\n",
        "These are all. Three short rules, each with a proof:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        "There are two tutorials.",
        "It has nine tasks of new users.",
    ],
)
def test_wrong_count_is_found(text):
    assert wrong_counts(text)


@pytest.mark.parametrize(
    "text",
    [
        "Two rules:\n\n1. a\n2. b\n",
        "Use five values:\n\n- a\n",
        "Two rules:\n\n```\na\n```\n",
        "A few tutorials.",
    ],
)
def test_right_count_is_accepted(text):
    assert wrong_counts(text) == []
