"""What graph mode says of programs that it cannot compile, word for word.

``python -m tests.golden.test_refusals`` writes the file anew; read the difference before you commit it.
"""

import inspect
from pathlib import Path

import pytest

import mindgrad as ms
from tests.golden import refused

HERE = Path(__file__).parent
TEXTS = HERE / "refusals.txt"
PROGRAMS = [
    each
    for name, each in vars(refused).items()
    if not name.startswith("_")
    and getattr(each, "__module__", "") == refused.__name__
    and (inspect.isfunction(each) or (inspect.isclass(each) and "construct" in vars(each)))
]


def said(program):
    """What is said of a program, with the file's folder left out."""
    called = program() if inspect.isclass(program) else program
    signature = inspect.signature(called.construct if inspect.isclass(program) else called)
    given = [each.default for each in signature.parameters.values()]
    try:
        found = ms.jit(called)(*given)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        return text.replace(str(HERE) + "/", "")
    return f"it was compiled and gave {found}"


def texts():
    """The texts by the names of the programs."""
    found = {}
    for part in TEXTS.read_text().split("\n== ")[1:]:
        name, _, text = part.partition("\n")
        found[name.strip()] = text.strip()
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_what_is_said(program):
    assert said(program).strip() == texts()[program.__name__]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_a_refusal_leaves_nothing_behind(program):
    said(program)
    assert refused.KEPT == []
    assert refused.PLAIN.scale == 1.0
    assert not refused.X.is_traced


def test_every_text_is_of_a_program():
    assert set(texts()) == {each.__name__ for each in PROGRAMS}


if __name__ == "__main__":
    parts = [f"\n== {each.__name__}\n{said(each)}\n" for each in PROGRAMS]
    TEXTS.write_text("What graph mode says of the programs in refused.py.\n" + "".join(parts))
