"""The page of speeds is what its command writes from the saved samples; every slower row has its evidence."""

import json
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SPEED = ROOT / "docs" / "speed"


@pytest.fixture(scope="module")
def page():
    return runpy.run_path(str(SPEED / "page.py"))


def contender(name, *seconds, at=None, error=""):
    samples = {str(i): value for i, value in enumerate(seconds)}
    row = {"name": name, "error": error, "seconds": {} if error else samples}
    return row if at is None else {"at": at, **row}


GOAL = {"contender": "mindgrad:graph loss", "of": "time", "against": ["jax:jit"]}


@pytest.fixture
def folder(tmp_path):
    """The results of two hours; those of one commit beside another do not count."""
    about = {"processor": "a CPU", "cores": "2", "commit": "c", "versions": "v", "others": "quiet"}
    rows = [
        contender("mindgrad:eager", 9.0, 9.0, 9.0),
        contender("mindgrad:graph loss", 2.0, 3.0, 8.0),
        contender("jax:jit", 1.0, 2.0, 2.0),
        contender("jax:by hand", 0.1, 0.1, 0.1),
        contender("torch:eager", error="no such operator"),
    ]
    fast = [contender("mindgrad:graph", 2e-6, at=10), contender("jax:jit", 8e-6, at=10)]
    new = [
        {"task": "t3", "title": "", "size": "", "only_value": [], "goals": [GOAL], "rows": rows},
        {"task": "gmm-2", "title": "", "size": "centers", "only_value": [], "goals": [], "rows": fast},
    ]
    old = [{**new[0], "rows": rows[1:2]}]
    for name, time, tasks in (("b", "09:59 UTC", old), ("a", "10:00 UTC", new)):
        content = {"about": {**about, "date": "2026-01-02", "time": time}, "tasks": tasks}
        (tmp_path / f"2026-01-02-{name}.json").write_text(json.dumps(content))
    beside = {"about": {**about, "date": "2026-01-03", "before": "c"}, "tasks": old}
    (tmp_path / "2026-01-03-a.json").write_text(json.dumps(beside))
    return tmp_path


def test_the_page_is_what_its_command_writes(page, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["page.py", "--check"])
    assert page["main"]() == 0, f"write it anew: python docs/speed/page.py\n{capsys.readouterr().err}"


def test_a_row_is_the_ratio_within_the_rounds_to_the_fastest_peer(page, folder):
    content = page["sections"](folder)
    (slow,), (fast,) = content["Derivatives of derivatives"], content["GradBench derivatives"]
    assert (slow.ours, slow.fastest, slow.ratio) == ("mindgrad:graph loss", "jax:jit", 2.0)
    assert (fast.label, fast.ratio) == ("gmm-2, 10 centers", 0.25)
    text = page["page"](content, {"t3": {"where": "XLA", "why": "It waits."}})
    assert "| t3 | 3.00 s | jax:jit | 2.00 s | **2.00** | 1.50 – 4.00 |" in text
    assert "| gmm-2, 10 centers | 2.00 µs | jax:jit | 8.00 µs | 0.25 | 0.25 – 0.25 |" in text
    assert "- `t3` (in XLA): It waits." in text
    assert "fastest in 1, level in 0 (a ratio up to 1.03) and slower in 1. The geometric mean of" in text
    assert "ratios is 0.71." in text


def test_slower_rows_need_evidence_and_others_none(page, folder):
    content = page["sections"](folder)
    faults = page["unexplained"](content, {"gmm-2": {"where": "us", "why": ""}})
    assert ["t3 is slower" in faults[0], "explains gmm-2" in faults[1]] == [True, True]
    with pytest.raises(ValueError, match="belongs to no section"):
        page["section_of"]("something")


def test_figures_show_every_contender(page, folder, tmp_path):
    pytest.importorskip("matplotlib")
    page["draw"].__globals__["FIGURES"] = tmp_path
    for title, rows in page["sections"](folder).items():
        page["draw"](title, rows)
    drawn = (tmp_path / "derivatives_of_derivatives.svg").read_text()
    assert all(word in drawn for word in ("mindgrad", "jax", "t3", "time over that of the fastest peer"))
