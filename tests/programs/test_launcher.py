"""`python -m mindgrad` behaves as `python`: the same program is given to both and must not notice.

And `import mindspore` means mindgrad: in launched programs, and after `mindgrad.install()`.
"""

import importlib
import os
import re
import signal
import subprocess
import sys

import pytest

LOOK = """
import sys
mine = sys.modules["__main__"]
print(__name__, mine.__dict__ is globals(), __doc__, type(__loader__).__name__, repr(__package__))
print(globals().get("__file__"), globals().get("__cached__"), bool(__spec__), __annotations__)
print(sys.argv, repr(sys.path[0]), type(__builtins__).__name__, sorted(globals()))
"""


def python(*arguments, **options):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True, text=True, timeout=60, **options,
    )  # fmt: skip


@pytest.fixture
def place(tmp_path):
    """A folder of programs: a script, a module, a package and a link to a script elsewhere."""
    (tmp_path / "package").mkdir()
    (tmp_path / "elsewhere").mkdir()
    for name in ["look.py", "package/__main__.py", "package/inner.py", "elsewhere/far.py"]:
        (tmp_path / name).write_text(f'"""about {name}"""\n{LOOK}')
    (tmp_path / "package/__init__.py").write_text("")
    (tmp_path / "link.py").symlink_to("elsewhere/far.py")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/__init__.py").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["look.py", "one", "-two", "--help"],
        ["./elsewhere/far.py"],
        ["link.py"],
        ["package", "one"],
        ["-m", "look", "one", "-m"],
        ["-mlook"],
        ["-m", "package", "-c"],
        ["-m", "package.inner"],
    ],
    ids=" ".join,
)
def test_a_program_sees_what_it_sees_under_python(place, launch, arguments):
    ours, theirs = launch(*arguments, cwd=place), python(*arguments, cwd=place)
    assert theirs.returncode == 0, theirs.stderr
    assert ours.stdout == theirs.stdout
    assert (ours.returncode, ours.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [["-c", LOOK, "one", "-c"], ["-", "one"]])
def test_a_program_without_a_file_sees_what_it_sees_under_python(place, launch, arguments):
    ours, theirs = (run(*arguments, cwd=place, input=LOOK) for run in (launch, python))
    assert theirs.returncode == 0, theirs.stderr
    assert (ours.stdout, ours.stderr) == (theirs.stdout, "")


@pytest.mark.parametrize(
    "body",
    [
        "import sys; sys.exit(7)",
        "raise SystemExit",
        "raise SystemExit('said at the end')",
        "import atexit; atexit.register(print, 'bye')",
        "import os; os._exit(9)",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "def f():\n    return 1 / 0\n\nf()",
        "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('b') from error",
        "def broken(:\n    pass",
        "import no_such_module_anywhere",
        "raise ExceptionGroup('several', [ValueError(1), TypeError(2)])",
        "import sys\nsys.excepthook = lambda _, error, trace: print(error, trace.tb_lineno)\n1 / 0",
        "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()",
        "# coding: latin-1\nprint('\xe9')",
        "print(1 if __debug__ else 2, annotations := 3)",
    ],
)
def test_a_program_ends_as_it_ends_under_python(tmp_path, launch, body):
    script = tmp_path / "script.py"
    script.write_bytes(body.encode("latin-1"))
    ours, theirs = launch(script), python(script)
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)
    assert ours.stderr == theirs.stderr  # tracebacks included


def test_an_interrupted_program_ends_as_under_python(tmp_path, launch):
    script = tmp_path / "script.py"
    script.write_text("raise KeyboardInterrupt")
    ours, theirs = launch(script), python(script)
    assert ours.returncode == theirs.returncode == -signal.SIGINT
    assert ours.stderr == theirs.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["nowhere.py"], 2, "can't open file"),
        (["-m", "nowhere_at_all"], 1, "No module named nowhere_at_all"),
        (["-m", "nowhere.at_all"], 1, "Error while finding module specification"),
        (["-m", "empty"], 1, "'empty' is a package and cannot be directly executed"),
    ],
)
def test_a_program_that_is_not_there_is_said_to_be_missing(place, launch, arguments, status, said):
    ours, theirs = launch(*arguments, cwd=place), python(*arguments, cwd=place)
    assert said in ours.stderr
    assert said in theirs.stderr
    assert ours.returncode == theirs.returncode == status
    assert "Traceback" not in ours.stderr


def test_an_error_in_an_imported_package_is_shown_from_there_on(place, launch):
    (place / "empty/__init__.py").write_text("import no_such_module_anywhere")
    ours = launch("-m", "empty", cwd=place)
    assert ours.returncode == 1
    assert "no_such_module_anywhere" in ours.stderr
    assert "cli.py" not in ours.stderr


@pytest.mark.parametrize("arguments", [[], ["-m"], ["-c"], ["--verbose", "x.py"], ["-x"]])
def test_a_wrong_command_line_is_refused_with_the_usage(launch, arguments):
    done = launch(*arguments)
    assert done.returncode == 2
    assert "usage: mindgrad" in done.stderr
    assert done.stdout == ""


def test_help_and_version(launch):
    for option in ("-h", "--help"):
        done = launch(option)
        assert (done.returncode, done.stderr) == (0, "")
        assert "script.py" in done.stdout
    for option in ("-V", "--version"):
        done = launch(option)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("mindgrad 0.")


def test_nothing_is_put_on_the_path_where_python_was_told_so(place, launch):
    for entry in (["look.py"], ["-m", "look"], ["-c", LOOK]):
        done = launch(*entry, cwd=place / "elsewhere", env={"PYTHONSAFEPATH": "1"})
        assert repr(str(place)) not in done.stdout


def test_source_of_a_piece_of_code_can_be_read(launch):
    done = launch("-c", "import inspect\ndef f(x):\n    return x\nprint(inspect.getsource(f))")
    assert done.stdout == "def f(x):\n    return x\n\n"


NAMES = """
import sys
import mindspore
import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
import mindspore.context as context
import mindspore.common.dtype as mstype
import mindspore.ops.functional as F
import mindspore.ops.operations as P
import mindspore.ops.composite as C
from mindspore.nn import Cell
from mindspore import Tensor, Parameter, ParameterTuple, dtype
from mindspore.ops import stop_gradient, grad, jvp, vjp, GradOperation
from mindspore.common.parameter import Parameter as same_parameter
import mindgrad
assert ms is mindspore is mindgrad
assert nn is mindgrad.nn and ops is mindgrad.ops and context is mindgrad.context
assert nn.__spec__.name == "mindgrad.nn" and mindgrad.__spec__.name == "mindgrad"
assert Cell is nn.Cell and Tensor is mindgrad.Tensor and same_parameter is Parameter
assert mstype.float32 is dtype.float32 and F.grad is grad
assert P.MatMul is ops.MatMul and C.GradOperation is GradOperation
assert sys.modules["mindspore.nn"] is sys.modules["mindgrad.nn"]
assert not hasattr(ms, "no_such_thing") and getattr(ops, "no_such_thing", 3) == 3
print("ok")
"""


def test_the_names_of_mindspore_are_the_modules_of_mindgrad(launch):
    done = launch("-c", NAMES)
    assert (done.stdout, done.stderr) == ("ok\n", "")


@pytest.mark.parametrize(
    ("statement", "kind", "said"),
    [
        ("from mindspore.ops import Gradoperation", ImportError, "nearest: 'GradOperation'"),
        ("from mindspore.ops import GradOperatoin", ImportError, "nearest: 'GradOperation'"),
        ("from mindspore import MatMul", ImportError, "write mindspore.ops.MatMul"),
        ("import mindspore; mindspore.context.set_contxt", AttributeError, "nearest: 'set_context'"),
        ("import mindspore.opps", ModuleNotFoundError, "nearest: 'ops'"),
        ("import mindspore.ops.functionals", ModuleNotFoundError, "nearest: 'functional'"),
        ("import mindspore; mindspore.ops.sinn", AttributeError, "nearest: 'sin"),
        ("import mindspore; mindspore.Tensr", AttributeError, "nearest: 'Tensor'"),
        (
            "from mindspore import qqqq",
            ImportError,
            "'qqqq' from 'mindspore': mindgrad has no such",
        ),
    ],
)
def test_a_name_that_is_missing_is_answered_with_the_nearest(standing_in, statement, kind, said):
    with standing_in(), pytest.raises(kind) as caught:
        exec(statement, {})
    assert type(caught.value) is kind
    assert said in str(caught.value)
    assert "mindgrad has no such" in str(caught.value) or "write mindspore." in str(caught.value)


@pytest.mark.parametrize(
    "line", ["from mindspore.ops import qqqq", "import mindspore.qqqq", "import mindspore as ms; ms.qqqq"]
)
def test_the_traceback_of_a_missing_name_ends_where_it_is_asked_for(tmp_path, launch, line):
    script = tmp_path / "script.py"
    script.write_text(f"def f():\n    {line}\n\nf()\n")
    done = launch(script)
    assert done.returncode == 1
    place, said = done.stderr.splitlines()[-2:]
    assert line.endswith(place.strip(" ^")) or "^" in place
    assert "mindgrad has no such" in said
    assert done.stderr.count('File "') == done.stderr.count(f'File "{script}"') == 2


def test_install_comes_too_late_after_another_mindspore(tmp_path):
    (tmp_path / "mindspore").mkdir()
    (tmp_path / "mindspore/__init__.py").write_text("")
    program = "import mindspore, mindgrad\nmindgrad.install()"
    paths = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = python("-c", program, env={**os.environ, "PYTHONPATH": paths})
    assert done.returncode == 1
    assert "ImportError: 'mindspore' is already imported in this process" in done.stderr
    assert str(tmp_path) in done.stderr


def test_a_mindspore_on_the_disk_is_neither_needed_nor_touched(tmp_path, launch):
    (tmp_path / "mindspore").mkdir()
    for name in ("__init__", "rewrite"):
        (tmp_path / f"mindspore/{name}.py").write_text("raise SystemError('this was touched')")
    (tmp_path / "first.py").write_text("import mindspore; print(mindspore.__name__)")
    (tmp_path / "second.py").write_text("import mindspore.rewrite")
    first, second = launch(tmp_path / "first.py"), launch(tmp_path / "second.py")
    assert first.stdout == "mindgrad\n"
    assert "No module named 'mindspore.rewrite': mindgrad has no such module" in second.stderr


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("hub", "ms.load_checkpoint"),
        ("rewrite", "net.head = nn.Dense"),
        ("explainer", "ms.grad(score)(x)"),
        ("numpy.fft", "ops.ifft"),
        ("numpy.linalg", "ms.mint.linalg"),
    ],
)
def test_modules_that_are_not_there_say_what_to_do_instead(name, instead, standing_in):
    with standing_in(), pytest.raises(ModuleNotFoundError, match=re.escape(instead)):
        importlib.import_module(f"mindspore.{name}")


def test_install_twice_is_install_once(standing_in):
    before = len(sys.meta_path)
    with standing_in(), standing_in():
        import mindspore

        import mindgrad

        assert mindspore is mindgrad
        assert len(sys.meta_path) == before + 1
    assert len(sys.meta_path) == before
