"""Every program of MindSpore's own guide, unmodified and in both modes; some through the launcher as a process.

The guide (`grad_operation.md` of r1.5 and r1.6) is not part of this repository. It is looked for in
the folder that MINDGRAD_SPEC names, else in `shared/spec` beside the repository or further up;
without it these tests are skipped. tests/programs/test_guide.py covers the same ground without it.

How the programs are put together from the guide's blocks of code:

* A block that imports is a program. The text block after it is what it prints.
* A block of classes only is a change: it replaces the classes of the same name in the last program,
  and nothing else, as its text says ("change GradNetWrtX to ..."). So `return out[0][0]` goes with
  the GradNetWrtX of the program, not with the scaled one shown just before it, whose `sens` would not
  fit the output (MindSpore stops there as well).
* What the text says in words only (`get_all=True`, a mask of one 1, without `stop_gradient`) is the
  program with that edit, below as DESCRIBED.
* A second text block after one program is what it prints without `stop_gradient`.

PYNATIVE_MODE: the one word in `set_context` is replaced. A program without `set_context` is run, as
it stands, by a line that sets the mode before.
"""

import ast
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mindgrad import context

ROOT = Path(__file__).parents[2]
STOP = "        out2 = stop_gradient(out2)\n"
MODES = ["GRAPH_MODE", "PYNATIVE_MODE"]

FIRST_ORDER = "[[4.51 2.7 3.6000001] [4.51 2.7 3.6000001]]"
BOTH_INPUTS = """(Tensor(shape=[2, 3], dtype=Float32, value=
[[ 4.51000023e+00, 2.70000005e+00, 3.60000014e+00],
 [ 4.51000023e+00, 2.70000005e+00, 3.60000014e+00]]), Tensor(shape=[3, 3], dtype=Float32, value=
[[ 2.59999990e+00, 2.59999990e+00, 2.59999990e+00],
 [ 1.89999998e+00, 1.89999998e+00, 1.89999998e+00],
 [ 1.30000007e+00, 1.30000007e+00, 1.30000007e+00]]))"""
WEIGHT = "(Tensor(shape=[1], dtype=Float32, value= [ 2.15359993e+01]),)"
BOTH_AND_WEIGHT = f"({BOTH_INPUTS}, {WEIGHT})"
ONE_OUTPUT = "[[0.11 1.1 1.1] [0. 0. 0.]]"

# In the text only: (what the program is known by, the words to replace, by what, what it prints).
DESCRIBED = [
    ("ops.GradOperation()", "ops.GradOperation()", "ops.GradOperation(get_all=True)", BOTH_INPUTS),
    ("get_by_list=True", "get_by_list=True", "get_all=True, get_by_list=True", BOTH_AND_WEIGHT),
    (
        "grad_wrt_output",
        "[[0.1, 0.6, 0.2], [0.8, 1.3, 1.1]]",
        "[[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]",
        ONE_OUTPUT,
    ),
]


@dataclass
class Program:
    """A program and what it is said to print: by one guide or more, as the guides share programs."""

    source: str
    name: str
    expected: list[str] = field(default_factory=list)


def specification() -> Path | None:
    if named := os.environ.get("MINDGRAD_SPEC"):
        return Path(named)
    places = [parent / "shared" / "spec" for parent in ROOT.parents]
    return next((place for place in places if place.is_dir()), None)


def blocks(text: str) -> list[tuple[str, str]]:
    """(language, code) of every fenced block."""
    return re.findall(r"```(python|text)\s(.*?)\s?```", text, flags=re.DOTALL)


def one_line(code: str) -> str:
    return " ".join(code.split())


def with_classes_of(program: str, change: str) -> str:
    """The program, where each class that `change` defines stands as it is there."""
    lines = program.splitlines(keepends=True)
    new = {node.name: ast.get_source_segment(change, node) for node in ast.parse(change).body}
    old = {node.name: node for node in ast.parse(program).body if isinstance(node, ast.ClassDef)}
    assert set(new) <= set(old), f"a change of classes that are not there: {set(new) - set(old)}"
    for node in reversed(old.values()):
        if node.name in new:
            lines[node.lineno - 1 : node.end_lineno] = [new[node.name] + "\n"]
    return "".join(lines)


def programs_of(text: str, guide: str) -> list[Program]:
    found: list[Program] = []
    base = ""
    for language, code in blocks(text):
        if language == "text":
            if found[-1].expected:  # the text before says: without stop_gradient
                assert STOP in base
                found.append(Program(base.replace(STOP, ""), f"{guide}-without-stop"))
            found[-1].expected.append(code)
            continue
        nodes = ast.parse(code).body
        if any(isinstance(node, ast.Import | ast.ImportFrom) for node in nodes):
            base = code + "\n"
            found.append(Program(base, f"{guide}-{len(found) + 1}"))
        elif all(isinstance(node, ast.ClassDef) for node in nodes):
            found.append(Program(with_classes_of(base, code), f"{guide}-{len(found) + 1}"))
        elif "print(" in code:
            assert one_line(code) in one_line(base), "the lines that print are the program's own"
        else:
            assert "x1" in code or "s1" in code, f"a block that is no program:\n{code}"  # symbols
    for mark, words, instead, expected in DESCRIBED:
        source = next(program.source for program in found if mark in program.source)
        assert source.count(words) == 1
        edited = source.replace(words, instead)
        found.append(Program(edited, f"{guide}-with-{instead}", [expected]))
    return found


def guides(folder: Path) -> dict[str, str]:
    """The guides by name, "r1.6-zh_cn" say, which is read from the address in their heads."""
    found = {}
    for file in sorted(folder.iterdir()):
        text = file.read_text(encoding="utf-8")
        head = re.search(r"docs/blob/(r[\d.]+)/docs/mindspore/programming_guide/source_(\w+)/", text)
        if head and blocks(text):
            found[f"{head[1]}-{head[2]}"] = text
    return found


FOLDER = specification()
GUIDES = guides(FOLDER) if FOLDER else {}
if not GUIDES:
    pytest.skip(
        "MindSpore's guide is not here: name its folder with MINDGRAD_SPEC, or put it into "
        f"{ROOT.parent / 'shared' / 'spec'}",
        allow_module_level=True,
    )

# The English r1.5 file has come as one line, in which line ends and indentation are lost.
FLAT = {name: text for name, text in GUIDES.items() if text.count("\n") < 5}
PROGRAMS: dict[str, Program] = {}
for name in sorted(set(GUIDES) - set(FLAT), reverse=True):
    for each in programs_of(GUIDES[name], name):
        known = PROGRAMS.setdefault(each.source, Program(each.source, each.name))
        known.expected += [text for text in each.expected if text not in known.expected]
CASES = [
    pytest.param(program, mode, id=f"{program.name}-{mode}")
    for program in PROGRAMS.values()
    for mode in MODES
]
#: two of the programs that set the mode and two that do not, each in both modes: a process of its own takes a second
LAUNCHED = [
    case
    for sets in (True, False)
    for case in [c for c in CASES if ("set_context" in c.values[0].source) is sets][:4]
]


def test_the_guides_are_read_completely():
    newest = [each for each in PROGRAMS.values() if each.name.startswith("r1.6")]
    if "r1.6-zh_cn" in GUIDES:
        # 1 to 4 first order, 5 and 6 stop_gradient, 7 to 9 second order, Jvp, Vjp, four functions.
        assert len(newest) == 15 + len(DESCRIBED)
    assert all(each.expected for each in PROGRAMS.values())


@pytest.mark.parametrize("flat", FLAT)
def test_a_guide_without_line_ends_holds_the_programs_of_its_sister(flat):
    """So running the sister's programs runs these: their tokens are the same, one after another.

    From the flat text alone a program cannot be rebuilt in general: a comment no longer ends
    anywhere, and where a block is left is not marked.
    """
    version = flat.partition("-")[0]
    (sister,) = [name for name in set(GUIDES) - set(FLAT) if name.startswith(version)]
    here = [(language, one_line(code)) for language, code in blocks(GUIDES[flat])]
    there = [(language, one_line(code)) for language, code in blocks(GUIDES[sister])]
    assert here
    assert here == there[: len(here)]


def in_mode(program, mode):
    """The source, in which the one word that sets the mode is the other one, if there is one."""
    if "set_context" not in program.source:
        return program.source
    assert program.source.count("context.GRAPH_MODE") == 1
    return program.source.replace("context.GRAPH_MODE", f"context.{mode}")


def check(program, printed, compare):
    for expected in program.expected:
        # A text with commas but no Tensor( is not what print() prints: rounded and laid out by hand.
        by_hand = "," in expected and "Tensor(" not in expected
        bare = re.sub(r"Tensor\(shape=\[[^]]*\], dtype=\w+, value=", "", printed) if by_hand else printed
        compare(bare, expected, layout="none", rounded=by_hand, structure=not by_hand)


@pytest.mark.parametrize(("program", "mode"), CASES)
def test_a_program_of_the_guide_prints_what_the_guide_says(program, mode, tmp_path, run_here, compare):
    script = tmp_path / "program.py"
    script.write_text(in_mode(program, mode), encoding="utf-8")
    check(program, run_here(script, getattr(context, mode)), compare)


@pytest.mark.parametrize(("program", "mode"), LAUNCHED)
def test_the_launcher_runs_a_program_of_the_guide(program, mode, tmp_path, launch, compare):
    script = tmp_path / "program.py"
    script.write_text(in_mode(program, mode), encoding="utf-8")
    if "set_context" in program.source:
        done = launch(script)
    else:
        start = (
            "import runpy, sys, mindspore.context as context; "
            f"context.set_context(mode=context.{mode}); "
            "runpy.run_path(sys.argv[1], run_name='__main__')"
        )
        done = launch("-c", start, script)
    assert done.returncode == 0, done.stderr
    # Where there is no GPU, one line says that the program runs on the CPU; nothing else is said.
    assert done.stderr.count("\n") <= ('device_target="GPU"' in program.source), done.stderr
    check(program, done.stdout, compare)
