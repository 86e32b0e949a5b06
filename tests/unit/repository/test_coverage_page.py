"""The page of the names that MindSpore exports is what its command writes; other programs of docs/ still load."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

COVERAGE = Path(__file__).parents[3] / "docs" / "coverage"


def test_the_page_is_what_its_command_writes():
    # in a process of its own: modules that other tests have imported are attributes of their packages
    command = [sys.executable, COVERAGE / "page.py", "--check"]
    environment = {**os.environ, "PYTHONPATH": str(COVERAGE.parents[1] / "src")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"write it anew: python docs/coverage/page.py\n{done.stderr}"


def test_scores_are_shown_with_what_remains(tmp_path):
    page = runpy.run_path(str(COVERAGE / "page.py"))
    score = {"date": "2026-01-02", "against_mindspore": True, "passed": 3, "counted": 4}
    score |= {"failing": ["tests/test_a.py::test"]}
    score |= {"causes": {"an error": 1}, "further_causes": [0, 0], "files_left_out": {"dumps": 2}}
    part = {**score, "files": [1000, 1200]}
    (tmp_path / "scores.json").write_text(json.dumps({"v9, cpu": score, "main, cpu": part}))
    page["scores"].__globals__["FOLDER"] = tmp_path
    text = "\n".join(page["scores"]())
    assert "| v9, cpu against 2.10 | 2026-01-02 | 3 | 4 | 75 % |" in text
    assert "| main, cpu against 2.10, 1,000 of 1,200 files | 2026-01-02 | 3 | 4 | 75 % |" in text
    assert "- 1: `an error`" in text
    assert "They are `tests/test_a.py::test`." in text
    assert "Files left out by rule: 2 (dumps)." in text


def test_names_are_covered_missing_or_importable():
    compare = runpy.run_path(str(COVERAGE / "page.py"))["compare"]
    module = compare("mindspore.ops", ["sin", "DynamicRNN", "no_such_operator"])
    assert (module.covered, module.missing) == (["sin"], ["no_such_operator"])
    assert list(module.importable) == ["DynamicRNN"]


@pytest.mark.parametrize("name", ["figures/draw.py", "coverage/record.py"])
def test_a_program_of_the_documentation_finds_what_it_imports(name):
    if name.startswith("figures"):
        pytest.importorskip("matplotlib")
    runpy.run_path(str(COVERAGE.parent / name))


def test_programs_are_shown_with_what_remains(tmp_path):
    page = runpy.run_path(str(COVERAGE / "page.py"))
    networks = {"date": "2026-01-02", "passed": 3, "counted": 4, "listed": 5, "remains": {"vgg": "an error"}}
    networks |= {"reference": {"passed": 2, "counted": 3, "both": 2}, "disagree": {"bit": "0.01"}}
    cells = {"date": "2026-01-02", "passed": 9, "counted": 9, "documents": 2, "remains": {}}
    cells |= {"not_counted": {"device": 3}}
    (tmp_path / "programs.json").write_text(
        json.dumps({"networks, graph": networks, "documents, pynative": cells})
    )
    page["programs"].__globals__["FOLDER"] = tmp_path
    text = "\n".join(page["programs"]())
    assert "| networks, graph | 2026-01-02 | 3 | 4 (5 listed) | 75 % | 2 of 2, 3 measured |" in text
    assert "| documents, pynative | 2026-01-02 | 9 | 9 | 100 % |  |" in text
    assert "- vgg: `an error`" in text
    assert "relatively: bit (0.01)." in text
    assert "Of the cells of 2 documents do not count, by rule: 3 (device)." in text
