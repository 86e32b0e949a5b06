"""The score of public programs: how many networks, science programs and cells of documents run on mindgrad.

The programs lie in checkouts of MindSpore's public repositories (mindcv, models, mindscience, docs) in one
folder, which the user names. Each runs in a process of its own, in an empty folder; packages that they import
besides are looked for on PYTHONPATH. Nothing of the checkouts is written to.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from report import cause
from rich.console import Console

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(__file__).with_name("public") / "program.py"
KINDS = ("networks", "science", "documents")
MODES = {"graph": 0, "pynative": 1}
#: losses of two systems that differ by more than this are named
TOLERANCE = 1e-3
Results = dict[str, dict[str, Any]]


def arguments() -> argparse.Namespace:
    """The parsed command line."""
    parser = argparse.ArgumentParser(prog="scripts/score programs", description=__doc__)
    parser.add_argument("checkouts", type=Path, help="the folder with the checkouts")
    parser.add_argument("names", nargs="*", default=["*"], help="patterns of names; all where none is given")
    parser.add_argument("--kind", choices=KINDS, action="append", help="all where none is given")
    parser.add_argument("--mode", choices=MODES, action="append", help="both where none is given")
    parser.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="for one program (300)")
    parser.add_argument("--reference", type=Path, metavar="PYTHON", help="an interpreter with MindSpore")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="results are added there, and not run again"
    )
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="put the scores into a file (docs/coverage/programs.json)"
    )
    return parser.parse_intermixed_args()


def names_of(kind: str) -> list[str]:
    """The names of the programs of a kind, read without importing MindSpore."""
    tree = ast.parse((PROGRAM.parent / f"{kind}.py").read_text())
    tables: dict[str, list[str]] = {}
    for node in tree.body:
        target = node.target if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [None])[0]
        value = getattr(node, "value", None)
        if not isinstance(target, ast.Name):
            continue
        if isinstance(value, ast.Dict):
            tables[target.id] = [str(ast.literal_eval(key)) for key in value.keys if key is not None]
            if target.id == "DOCUMENTS":
                groups = zip(tables.pop(target.id), value.values, strict=True)
                return [
                    f"{folder}/{name}{'.ipynb' if folder.endswith('zh_cn') else '.md'}"
                    for folder, text in groups
                    for name in ast.literal_eval(text).split()
                ]
        elif isinstance(value, ast.List):
            tables[target.id] = [element.id for element in value.elts if isinstance(element, ast.Name)]
    chosen = {"networks": ("MINDCV", "MODELS"), "science": ("SCIAI", "MINDFLOW")}[kind]
    return [name for table in chosen for name in tables[table]]


def run(command: list[str], environment: dict[str, str], limit: float, program: list[str]) -> dict[str, Any]:
    """The answer of one program."""
    with tempfile.TemporaryDirectory(prefix="score-") as folder:
        answer = Path(folder, "answer.json")
        empty = Path(folder, "work")
        empty.mkdir()
        process = subprocess.Popen(
            [*command, str(PROGRAM), *program, str(answer)],
            cwd=empty,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return {"error": f"not done in {limit:g} s"}
        if answer.exists():
            return dict(json.loads(answer.read_text()))
        return {"error": f"the process ended with status {status}"}


def outcome(result: dict[str, Any]) -> str:
    """One line on a result."""
    if "cells" in result:
        return ", ".join(
            f"{n} {status}" for status, n in Counter(c["status"] for c in result["cells"]).items()
        )
    return f"loss {result['losses'][0]:.6g}" if "losses" in result else cause(result["error"])


def difference(result: dict[str, Any], reference: dict[str, Any]) -> float:
    """The largest relative difference of the losses of the two systems."""
    pairs = zip(result["losses"], reference["losses"], strict=False)
    return max((abs(a - b) / (abs(b) + 1e-6) for a, b in pairs), default=0.0)


def measure(options: argparse.Namespace, console: Console) -> dict[str, Results]:
    """The results of all programs, for each system, kind and mode."""
    results: dict[str, Results] = {}
    if options.json and options.json.exists():
        results = json.loads(options.json.read_text())
    packages = [path for path in [os.environ.get("PYTHONPATH", "")] if path]
    systems = {"mindgrad": [sys.executable, "-m", "mindgrad"]}
    if options.reference:
        systems["mindspore"] = [str(options.reference.absolute())]
    for system, command in systems.items():
        folders = [str(ROOT / "src"), *packages] if system == "mindgrad" else packages
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for kind in options.kind or KINDS:
            for mode in ["pynative"] if kind == "documents" else options.mode or MODES:
                table = results.setdefault(f"{system}, {kind}, {mode}", {})
                for name in names_of(kind):
                    if name in table or not any(fnmatch.fnmatch(name, pattern) for pattern in options.names):
                        continue
                    program = [kind, name, str(MODES[mode]), str(options.checkouts.resolve())]
                    table[name] = run(command, environment, options.limit, program)
                    console.print(f"{system}, {mode}, {name}: {outcome(table[name])}", markup=False)
                    if options.json:
                        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return results


def summary(results: dict[str, Results], kind: str, mode: str) -> dict[str, Any] | None:
    """A score for the page of what is covered."""
    own, reference = (results.get(f"{system}, {kind}, {mode}") for system in ("mindgrad", "mindspore"))
    if not own:
        return None
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    if kind == "documents":
        return {"date": today, **_cells(own, reference)}
    passed = [name for name, result in own.items() if "losses" in result]
    score: dict[str, Any] = {"date": today, "passed": len(passed), "counted": len(own)}
    score["listed"] = len(names_of(kind))
    failing = {name: cause(result["error"]) for name, result in own.items() if "losses" not in result}
    if reference:
        runs = [name for name, result in reference.items() if "losses" in result]
        score["reference"] = {
            "passed": len(runs),
            "counted": len(reference),
            "both": sum(name in passed for name in runs),
        }
        both = [name for name in runs if name in passed]
        differences = {name: difference(own[name], reference[name]) for name in both}
        score["disagree"] = {name: f"{e:.1g}" for name, e in differences.items() if not e <= TOLERANCE}
        failing = {
            name: reason + ("" if name in runs else "; MindSpore: " + cause(reference[name]["error"]))
            for name, reason in failing.items()
            if name in reference
        } | {name: reason for name, reason in failing.items() if name not in reference}
    return {**score, "remains": failing}


def _cells(own: Results, reference: Results | None) -> dict[str, Any]:
    """The score of the cells of documents."""
    cells = {
        f"{name.rpartition('/')[2]}, cell {number}": cell
        for name, result in own.items()
        for number, cell in enumerate(result.get("cells", []))
    }
    statuses = Counter(cell["status"] for cell in cells.values())
    passed, failed = statuses.pop("ok", 0), statuses.pop("error", 0)
    score: dict[str, Any] = {
        "passed": passed,
        "counted": passed + failed,
        "documents": len(own),
        "not_counted": dict(statuses.most_common()),
        "remains": {name: cause(cell["why"]) for name, cell in cells.items() if cell["status"] == "error"},
    }
    if reference:
        theirs = {
            f"{name.rpartition('/')[2]}, cell {number}": cell["status"]
            for name, result in reference.items()
            for number, cell in enumerate(result.get("cells", []))
        }
        counted = [name for name, cell in cells.items() if cell["status"] in ("ok", "error")]
        runs = [name for name in counted if theirs.get(name) == "ok"]
        both = sum(cells[name]["status"] == "ok" for name in runs)
        score["reference"] = {"passed": len(runs), "counted": len(counted), "both": both}
    return score


def main() -> int:
    options = arguments()
    console = Console(soft_wrap=True)
    results = measure(options, console)
    for kind in KINDS:
        for mode in MODES:
            score = summary(results, kind, mode)
            if score is None:
                continue
            console.print(
                f"{kind}, {mode}: {score['passed']} of {score['counted']}", score.get("reference", "")
            )
            for name, reason in score["remains"].items():
                console.print(f"  {name}: {reason}", markup=False)
            if options.record:
                scores = json.loads(options.record.read_text()) if options.record.exists() else {}
                scores[f"{kind}, {mode}"] = score
                text = json.dumps(dict(sorted(scores.items())), indent=1, ensure_ascii=False)
                options.record.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
