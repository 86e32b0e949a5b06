"""The commit-message hook accepts plain messages and names each fault of others."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_commit_message.py"
faults = runpy.run_path(str(SCRIPT))["faults"]
BODY = "\n\nIt was resolved in three places, with different errors.\n"


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        ("jit: resolve the wrapped function in one place", 20),
        ("jit: resolve the wrapped function in one place" + BODY, 500),
        ("core/passes/tiling.py: use smaller tiles", 1),
        ("mint.nn, ops: accept tuples of sizes", 1),
        ("Merge branch 'w-rules'", 5000),
        ('Revert "jit: resolve it"\n\nThis reverts commit 123.', 5000),
        ("# a comment of git\njit: speed up the lookup\n# another one" + BODY, 50),
        ("docs: address two reviews", 3),
    ],
)
def test_good_message_has_no_fault(message, lines):
    assert faults(message, lines) == []


@pytest.mark.parametrize(
    ("message", "lines", "fault"),
    [
        ("jit: " + "x" * 68, 1, "73 characters"),
        ("jit: fix errors; rename arities", 1, "semicolon"),
        ("jit: fix errors.", 1, "full stop"),
        ("What jit was given is found by one function", 1, "not of the form"),
        ("", 1, "not of the form"),
        ("jit: fixes errors", 1, "'fixes' is not an imperative"),
        ("jit: added a test", 1, "'added' is not an imperative"),
        ("jit: the wrapped function is found once", 1, "'the' is not an imperative"),
        ("jit: fix errors\nof two kinds", 1, "not empty"),
        ("jit: fix errors", 21, "there is no body"),
        ("jit: fix errors\n\nSigned-off-by: A B <a@b.c>\n", 21, "there is no body"),
    ],
)
def test_fault_of_a_message_is_named(message, lines, fault):
    (found,) = faults(message, lines)
    assert fault in found


def test_hook_counts_staged_lines_and_checks_commits(tmp_path):
    def git(*arguments):
        names = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "core.hooksPath=/dev/null"]
        subprocess.run(["git", *names, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def check(argument):
        command = [sys.executable, str(SCRIPT), argument]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "all: begin")
    (tmp_path / "a.txt").write_text("a\n" * 30)
    git("add", "a.txt")
    message = tmp_path / "message"
    message.write_text("all: add a file\n")
    assert "30 lines change" in check(str(message)).stderr
    message.write_text("all: add a file\n\nThe tests need it.\n")
    assert check(str(message)).returncode == 0
    git("commit", "-q", "-m", "all: add a file; rename it", "-m", "For the tests.")
    done = check("HEAD~1..HEAD")
    assert done.returncode == 1
    assert "semicolon" in done.stderr
