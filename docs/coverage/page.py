"""Write docs/coverage.md from the names of MindSpore, the scores of its tests and of public programs.

The reasons for which tests and programs fail are written to bench/score/remaining.md, for developers.

python docs/coverage/page.py            writes both files
python docs/coverage/page.py --check    exits with 1 if a file would change
"""

from __future__ import annotations

import importlib
import json
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import mindgrad

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "coverage.md"
REMAINING = FOLDER.parents[1] / "bench" / "score" / "remaining.md"

HEAD = """# MindSpore API coverage

This page lists which public names of MindSpore {version} mindgrad supports. It also shows how many of
MindSpore's own tests, and how many public MindSpore programs, run with mindgrad. Use it to find out whether
your program can run.

| column of the table | meaning |
|---|---|
| covered | mindgrad has this name in the same module as MindSpore |
| importable | the name can be imported and subclassed, but a call raises an error with an alternative |
| missing | mindgrad does not have this name |

A covered function may still lack an argument or a data type. [Differences from MindSpore](differences.md)
lists the results that differ.

The script `docs/coverage/page.py` writes this page; do not edit it. The script `docs/coverage/record.py`
recorded the names that each module of MindSpore exports.

## Names by module
"""

SCORES = """
## MindSpore's own tests

This section shows how many tests in MindSpore's repository pass if `import mindspore` imports mindgrad. The
column "version and tests" states the version of MindSpore's repository, and the tests that were run:

| entry in the column "version and tests" | tests that were run |
|---|---|
| cpu | all tests that are marked for a CPU, except tests of MindSpore's internal engine |
| gradient | all tests of derivatives, hooks and `mutable` |
| against 2.10 | only tests that also pass with MindSpore 2.10 |
| *m* of *n* files | only the tests in *m* of the *n* files |

Some tests call functions that NumPy 2 or SciPy 1.14 removed. These outdated tests do not count, except in
the last column. To repeat a measurement with a checkout of MindSpore's repository, run `scripts/score
CHECKOUT [--suite gradient] --record docs/coverage/scores.json`. The files `bench/score/selection.py` and
`bench/score/outdated.py` define which tests count.

| version and tests | date | passed | counted | share | passed, of all with outdated tests |
|---|---|---|---|---|---|
"""


PROGRAMS = """
## Public programs

This section shows how many programs of MindSpore's public repositories mindcv, models, mindscience and docs
run with mindgrad. There are three kinds of programs:

| programs | how they are run |
|---|---|
| networks | one training step of each network, with the gradient with respect to every weight |
| science | three training steps of each unmodified training program |
| documents | all code cells of notebooks and pages, in order |

The last column shows how many of the programs that MindSpore 2.10 runs on a CPU also run with mindgrad. If
only some programs were tried with MindSpore, it also contains their number. To repeat a measurement with
checkouts of the repositories in `FOLDER`, run `scripts/score programs FOLDER --record
docs/coverage/programs.json`. The folder `bench/score/public` lists the programs, their sizes, and the data
that replace downloaded files.

| programs, mode | date | programs that run | tried | share | of those that run with MindSpore |
|---|---|---|---|---|---|
"""


class Module(NamedTuple):
    """The names of one module: how many are covered, and which are not."""

    path: str
    covered: list[str]
    importable: dict[str, str]
    missing: list[str]


def lookup(path: str, name: str) -> Any:
    """The object that a program gets by ``from mindspore.path import name``; ``None`` if it is not there."""
    try:
        owner = mindgrad.Tensor if path == "mindspore.Tensor" else importlib.import_module(
            "mindgrad" + path.removeprefix("mindspore")
        )  # fmt: skip
        return getattr(owner, name)
    except (ImportError, AttributeError):
        return None


def compare(path: str, names: list[str]) -> Module:
    """Which of ``names`` are there."""
    module = Module(path, [], {}, [])
    for name in names:
        thing = lookup(path, name)
        reason = vars(thing).get("absence") if isinstance(thing, type) else None
        if reason is not None:
            module.importable[name] = reason
        elif thing is None and not _holds_none(path, name):
            module.missing.append(name)
        else:
            module.covered.append(name)
    return module


def _holds_none(path: str, name: str) -> bool:
    """Whether the name is there with the value ``None``."""
    owner = sys.modules.get("mindgrad" + path.removeprefix("mindspore"))
    return isinstance(owner, ModuleType) and name in vars(owner)


def modules() -> list[Module]:
    """All recorded modules, compared."""
    record = json.loads((FOLDER / "names.json").read_text())
    return [compare(path, names) for path, names in record["names"].items()]


def scores() -> list[str]:
    """The lines on MindSpore's own tests: a table, and why tests do not pass."""
    record = json.loads((FOLDER / "scores.json").read_text())
    rows, details = [], []
    for name, score in record.items():
        share = 100 * score["passed"] / score["counted"]
        against = " against 2.10" if score["against_mindspore"] else ""
        outdated = score.get("outdated", 0)
        with_outdated = f"{score['passed']} of {score['counted'] + outdated}" if outdated else ""
        if "files" in score:  # put together from several runs, over a part of the files
            measured, files = score["files"]
            against += f", {measured:,} of {files:,} files"
        numbers = [str(score["passed"]), str(score["counted"]), f"{share:.0f} %", with_outdated]
        row = [name + against, score["date"], *numbers]
        rows.append(f"| {' | '.join(row)} |")
        details += ["", f"### What remains of {name}", ""]
        details += [f"- {number}: `{cause}`" for cause, number in score["causes"].items()] or ["Nothing."]
        further, tests = score["further_causes"]
        if further:
            details.append(f"- {tests} tests for {further} further reasons")
        if score["failing"]:
            details += ["", f"They are {', '.join(f'`{test}`' for test in score['failing'])}."]
        files = [f"{number} ({reason})" for reason, number in score["files_left_out"].items()]
        if files:
            details += ["", textwrap.fill(f"Files left out by rule: {', '.join(files)}.", 120)]
    return [SCORES + "\n".join(rows), *details, ""]


def programs() -> list[str]:
    """The lines on public programs: a table, and why those that do not run do not."""
    record = json.loads((FOLDER / "programs.json").read_text())
    rows, details = [], []
    for name, score in record.items():
        reference = score.get("reference")
        share = f"{100 * score['passed'] / score['counted']:.0f} %"
        theirs = f"{reference['both']} of {reference['passed']}" if reference else ""
        if reference and reference["counted"] < score["counted"]:
            theirs += f", {reference['counted']} measured"
        listed = score.get("listed", score["counted"])
        counted = str(score["counted"]) + (f" ({listed} listed)" if listed > score["counted"] else "")
        row = [name, score["date"], str(score["passed"]), counted, share, theirs]
        rows.append(f"| {' | '.join(row)} |")
        details += ["", f"### What remains of {name}", ""]
        details += [f"- {program}: `{reason}`" for program, reason in score["remains"].items()] or [
            "Nothing."
        ]
        if score.get("disagree"):
            differing = [f"{program} ({error})" for program, error in score["disagree"].items()]
            text = (
                f"Losses that differ from MindSpore's by more than 0.1 %, relatively: {', '.join(differing)}."
            )
            details += ["", textwrap.fill(text, 120)]
        if score.get("not_counted"):
            reasons = [f"{number} ({reason})" for reason, number in score["not_counted"].items()]
            text = (
                f"Of the cells of {score['documents']} documents do not count, by rule: {', '.join(reasons)}."
            )
            details += ["", textwrap.fill(text, 120)]
    return [PROGRAMS + "\n".join(rows), *details, ""]


def page() -> str:
    """The text of the page."""
    record = json.loads((FOLDER / "names.json").read_text())
    compared = modules()
    lines = [HEAD.format(version=record["version"]), "| module | names | covered | importable | missing |"]
    lines.append("|---|---|---|---|---|")
    total = [0, 0, 0, 0]
    for module in compared:
        counts = [len(module.covered), len(module.importable), len(module.missing)]
        row = [sum(counts), *counts]
        total = [a + b for a, b in zip(total, row, strict=True)]
        share = 100 * counts[0] / row[0]
        lines.append(
            f"| `{module.path}` | {row[0]} | {counts[0]} ({share:.0f} %) | {counts[1]} | {counts[2]} |"
        )
    share = 100 * total[1] / total[0]
    lines.append(f"| **all** | {total[0]} | {total[1]} ({share:.0f} %) | {total[2]} | {total[3]} |")
    lines += [scores()[0], programs()[0]]
    for module in compared:
        if module.missing or module.importable:
            lines += ["", f"## {module.path}", ""]
        if module.missing:
            lines += [
                f"Names of `{module.path}` that mindgrad does not have:",
                "",
                "```text",
                textwrap.fill(", ".join(module.missing), 100),
                "```",
                "",
            ]
        lines += [
            f"- Programs can import `{name}`, but not call it. In MindSpore, it {reason}."
            for name, reason in module.importable.items()
        ]
    return "\n".join(lines).rstrip() + "\n"


def remaining() -> str:
    """The text of the file for developers: why tests and programs fail."""
    lines = ["# MindSpore's tests and public programs that fail", ""]
    lines += ["Written by `docs/coverage/page.py`; do not edit. The scores are in `docs/coverage.md`.", ""]
    lines += ["## MindSpore's own tests", *scores()[1:], "## Public programs", *programs()[1:]]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    texts = {PAGE: page(), REMAINING: remaining()}
    if "--check" in sys.argv:
        return int(any(not path.exists() or path.read_text() != text for path, text in texts.items()))
    for path, text in texts.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
