"""The English of pages, docstrings, comments and messages follows ``docs/style.md``: see ``prose.py``."""

import textwrap
from pathlib import Path

import pytest

from tests.architecture import prose
from tests.architecture.prose_patterns import PATTERNS, hits
from tests.architecture.prose_text import Passage, files, passages, sentences

#: one sentence with each pattern
BAD = {
    "clause as a subject": "What cannot be compiled is refused with its line.",
    "clause as an object": "The loop stacks what its body returns.",
    "who as a noun": "Tables for who comes from JAX.",
    "where for if": "Where the values are unknown it reads NaN.",
    "that of": "The shape is that of the input.",
    "as there": "An empty list is an error, as there.",
    "noun negation": "The argument is no function.",
    "of no": "A tensor of no axes.",
    "behind": "Three axes and d behind.",
    "stands in": "The reason stands in the next section.",
    "lies in": "The file lies in another folder.",
    "causal for": "Calls with hooks are slow, for hooks run between operators.",
    "anew": "The program is compiled anew.",
    "as ever": "The other operators run as ever.",
    "of its own": "Each process has a folder of its own.",
    "of which": "A list of values, of which some are read.",
    "inside of": "A loop inside of a loop.",
    "in the place of": "A zero in the place of each value.",
    "invisible people": "It is skipped if nobody can see it.",
    "kin": "The Laplacian and its relatives.",
    "truth value": "A tensor of truth values.",
    "beside": "The time beside JAX.",
    "gives back": "The function gives back a copy.",
    "is told": "The process is told its rank.",
    "asked for": "The value is computed when it is asked for.",
    "at once": "The call returns at once.",
    "rooms": "A room imports the rooms to its left.",
    "trip": "The loop makes no trip.",
    "corner": "The derivative at a corner is a convention.",
    "zero wins": "Here zero wins over infinity.",
    "cold, warm, hot": "A hot call skips Python.",
    "half precision": "A tensor of half precision.",
    "nonzero": "The entries other than zero.",
    "made of": "The layer is made of two products.",
    "picture": "A picture of the function.",
    "from … on": "Pays from 16 terms on.",
    "so many": "Arrays of so many bytes.",
    "share of the time": "A step takes 0.7 of the time.",
    "goes on": "The loop goes on.",
    "looked at": "The arguments are looked at.",
    "is another": "The shape is another.",
    "both ways": "One type on both ways.",
    "empty text": "An empty text.",
    "is refused": "A string is refused.",
    "idiom": "The gradient is lost without a word.",
    "sweep": "It costs one sweep.",
    "jax in prose": "It is faster than jax.",
    "British spelling": "The optimiser and its colours.",
    "See the class": "See the class.",
    "sentence in parentheses": "(The values are read again in the next call.)",
    "long sentence": " ".join(["word"] * 36) + ".",
    "long summary": "A summary " + "that is long " * 6,
    "semicolons": "One is first; two is second; three is third.",
}
GOOD = (
    "Guards check the Python state that the function reads.",
    "See what is wrong, and print what the compiler did.",
    "There is no other way.",
    "`fn` is not callable, so mindgrad raises `TypeError`.",
    "Compiled functions use `jax.jit`, for example.",
    "It works for JAX, for NumPy arrays, and for lists.",
    "A chart of the line where the error occurred.",
    "It is one of them, and does not change the numbers of another. `float16` has more digits.",
    "Each of which has the shape (3,); the others are scalars.",
    "Use 2.5 as the limit, e.g. for float32. The default is 3.",
    "``what is no room behind it`` is code, and so is `truth value`.",
)


def names(text, **options):
    return [hit.name for _, hit in hits([Passage("docstrings", 1, text, **options)])]


def test_prose_has_no_more_hits_than_its_limits():
    faults = prose.faults([prose.FileProse(file) for file in files()], prose.read_limits())
    assert not faults, "\n".join(["", *faults])


def test_patterns_have_one_example_each():
    assert {pattern.name for pattern in PATTERNS} == BAD.keys() - {
        "long sentence",
        "long summary",
        "semicolons",
    }


@pytest.mark.parametrize("name", BAD)
def test_pattern_finds_its_example(name):
    assert name in names(BAD[name], summary=True)


@pytest.mark.parametrize("text", GOOD)
def test_plain_english_has_no_hit(text):
    assert names(text) == []


def test_hits_have_the_line_of_their_sentence(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n\nOne line.\nThe next one\nis behind it.\n\n```\nbehind\n```\n\n- an item\n  is behind\n"
    )
    (first, second) = prose.FileProse(page).hits
    assert [(kind, hit.line, hit.name) for kind, hit in (first, second)] == [
        ("pages", 4, "behind"),
        ("pages", 11, "behind"),
    ]
    assert prose.FileProse(page).listing()[0].endswith("The next one is behind it.")


def test_passages_of_a_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent('''
            """A module.

            Args:
                x (int): a number,
                    positive.
                y: another one.

            >>> print("not prose")

                also = not_prose
            """

            a = "# not a comment"  # the first comment
            # two lines
            # of a comment
            if a:
                raise ValueError(f"the value {a} " "is not a number")  # noqa: TRY003
            TABLE = {"key word": "a string with more than five words"}
        ''').lstrip()
    )
    assert sorted((p.kind, p.line, p.text, p.summary) for p in passages(program)) == [
        ("comments", 13, "the first comment", False),
        ("comments", 14, "two lines\nof a comment", False),
        ("docstrings", 1, "A module.", True),
        ("docstrings", 4, "a number,\npositive.", False),
        ("docstrings", 6, "another one.", False),
        ("messages", 17, "the value `…` is not a number", False),
        ("messages", 18, "a string with more than five words", False),
    ]


def test_sentences_end_at_a_stop_before_a_capital():
    text = "Use 1.5, e.g. for `f`. Then go on (see Fig. 2). See\nthe end."
    assert [s.text for s in sentences(Passage("pages", 7, text))] == [
        "Use 1.5, e.g. for `f`.",
        "Then go on (see Fig. 2).",
        "See the end.",
    ]
    assert [s.line for s in sentences(Passage("pages", 7, text))] == [7, 7, 7]


@pytest.fixture
def page(tmp_path):
    """A function that makes a page with a number of hits."""

    def make(hits, name="page.md"):
        path = tmp_path / name
        path.write_text("It is behind.\n\n" * hits)
        return prose.FileProse(path)

    return make


def test_limits_fail_in_both_directions(page):
    file = page(3)
    assert prose.faults([file], {file.name: 3}) == []
    assert "its limit is 2" in prose.faults([file], {file.name: 2})[-1]
    assert "its limit is 0" in prose.faults([file], {})[-1]
    assert "fewer than its limit 4" in prose.faults([file], {file.name: 4})[0]
    longer = page(1, "long.md")
    longer.words["pages"] = 2000
    assert "fewer than its limit 2" in prose.faults([longer], {longer.name: 2})[0]
    assert prose.faults([longer], {longer.name: 1}) == prose.faults([longer], {}) == []
    assert "is gone" in prose.faults([], {"gone.md": 1})[0]


def test_limits_only_fall(page):
    file = page(3)
    assert prose.lowered([file], {file.name: 5}) == ({file.name: 3}, [])
    limits, messages = prose.lowered([file], {file.name: 2})
    assert limits == {file.name: 2}
    assert "may not rise" in messages[-1]
    limits, messages = prose.lowered([file, page(1, "old.md")], {page(1, "old.md").name: 1})
    assert file.name not in limits
    assert messages
    assert prose.lowered([page(0)], {file.name: 2}) == ({}, [])


def test_moved_file_keeps_its_hits(page):
    file = page(3, "new.md")
    assert prose.lowered([file], {"old.md": 3}) == ({file.name: 3}, [])
    assert prose.lowered([file], {"old.md": 2})[1]


def test_command_lists_the_hits_of_a_file(page, capsys, monkeypatch):
    file = page(2)
    monkeypatch.setattr("sys.argv", ["prose", file.name])
    assert prose.main() == 0
    output = capsys.readouterr().out
    assert f"{file.name}:3: behind" in output
    assert "2 hits in 6 words" in output


def test_files_are_english_pages_and_programs():
    chosen = {path.relative_to(prose.ROOT).as_posix() for path in files()}
    assert {"README.md", "docs/index.md", "src/mindgrad/__init__.py"} <= chosen
    assert not {name for name in chosen if ".zh." in name or Path(name).name == "style.md"}
