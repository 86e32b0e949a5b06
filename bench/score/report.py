"""Reports of a score: tables by folder and by reason, and the difference from an earlier score."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table

OUTCOMES = ("passed", "failed", "error", "not collected", "outdated", "skipped")
#: of tests that do not count: their authors skip them, or they call what NumPy or SciPy no longer have
NOT_COUNTED = ("outdated", "skipped")
#: so many tests that do not pass are named one by one
NAMED = 10
Tests = dict[str, dict[str, Any]]

# What differs between two errors with one cause: addresses, numbers, folders, and the rest of a list.
VARIABLE = [
    (re.compile(r"\s+"), " "),
    (re.compile(r"0x[0-9a-f]+"), "0x…"),
    (re.compile(r"(/[\w.+-]+){2,}"), "…"),
    (re.compile(r"(?<!\w)-?\d+(\.\d+)?(e[+-]?\d+)?\b"), "N"),
    (re.compile(r"N(, N)+"), "N, …"),
]


def cause(reason: str) -> str:
    """The first line of an error, without what changes from test to test."""
    text = reason.strip().split("\n")[0].replace("`", "'")
    for pattern, replacement in VARIABLE:
        text = pattern.sub(replacement, text)
    return textwrap.shorten(text, 130, placeholder=" …")


def folder(test: str) -> str:
    """The folder below ``tests`` to which a test is counted, at most two levels deep."""
    parts = test.split("::")[0].split("/")[1:-1]
    return "/".join(parts[:3])


def counted(tests: Tests) -> Tests:
    """The tests that are neither skipped nor outdated."""
    return {name: test for name, test in tests.items() if test["outcome"] not in NOT_COUNTED}


def outdated(tests: Tests) -> int:
    """How many tests call what NumPy or SciPy no longer have."""
    return sum(test["outcome"] == "outdated" for test in tests.values())


def score(tests: Tests) -> tuple[int, int]:
    """How many tests pass, of how many that count."""
    return sum(test["outcome"] == "passed" for test in tests.values()), len(counted(tests))


def by_folder(tests: Tests) -> dict[str, Counter[str]]:
    """The number of each outcome, for each folder."""
    folders: dict[str, Counter[str]] = {}
    for name, test in tests.items():
        folders.setdefault(folder(name), Counter())[test["outcome"]] += 1
    return dict(sorted(folders.items()))


def causes(tests: Tests) -> list[tuple[str, int]]:
    """Why tests that count do not pass: each cause and its number of tests, the most frequent first."""
    counter = Counter(
        cause(test["reason"]) for test in counted(tests).values() if test["outcome"] != "passed"
    )
    return counter.most_common()


def summary(result: dict[str, Any], most: int = 25) -> dict[str, Any]:
    """A score for the page of what is covered: the numbers, and ``most`` causes of what does not pass."""
    passed, number = score(result["tests"])
    rows = causes(result["tests"])
    failing = [name for name, test in counted(result["tests"]).items() if test["outcome"] != "passed"]
    return {
        "date": result["date"],
        "against_mindspore": "reference" in result,
        "passed": passed,
        "counted": number,
        "outdated": outdated(result["tests"]),
        "files_left_out": dict(Counter(result["left_out"].values()).most_common()),
        "failing": failing if len(failing) <= NAMED else [],
        "causes": dict(rows[:most]),
        "further_causes": [len(rows[most:]), sum(tests for _, tests in rows[most:])],
    }


def difference(old: Tests, new: Tests) -> tuple[list[str], list[str]]:
    """The tests that pass since ``old``, and those that no longer do."""
    passed = [{name for name, test in tests.items() if test["outcome"] == "passed"} for tests in (old, new)]
    return sorted(passed[1] - passed[0]), sorted((passed[0] - passed[1]) & set(new))


def show(console: Console, result: dict[str, Any], most: int) -> None:
    """The tables of a result on the console, with at most ``most`` causes."""
    tests = result["tests"]
    table = Table("folder", *OUTCOMES)
    total: Counter[str] = Counter()
    for name, numbers in by_folder(tests).items():
        table.add_row(name, *(str(numbers[outcome]) for outcome in OUTCOMES))
        total += numbers
    table.add_section()
    table.add_row("all", *(str(total[outcome]) for outcome in OUTCOMES))
    console.print(table)
    left_out = Counter(result["left_out"].values())
    if left_out:
        console.print("Files left out: " + ", ".join(f"{n} {reason}" for reason, n in left_out.most_common()))
    rows = causes(tests)
    if rows:
        table = Table("tests", "why they do not pass")
        for reason, number in rows[:most]:
            table.add_row(str(number), reason)
        console.print(table)
    if len(rows) > most:
        console.print(f"… and {len(rows) - most} further reasons")
    passed, number = score(tests)
    old = outdated(tests)
    console.print(
        f"{passed} of {number} pass" + (f", {passed} of {number + old} with outdated tests" if old else "")
    )


def lines(title: str, names: list[str]) -> Iterator[str]:
    """A heading with the number of tests, and their names."""
    if names:
        yield f"{title}: {len(names)}"
        yield from (f"  {name}" for name in names)
