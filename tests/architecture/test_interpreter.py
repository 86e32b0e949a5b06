"""Only ``_cpython.py`` depends on details of the interpreter."""

import ast
import gc
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mindgrad.core.base import _cpython

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "mindgrad"
#: modules and attributes of modules that only ``_cpython.py`` uses
MODULES = {"ctypes", "opcode", "dis", "_signal", "_ctypes", "_opcode"}
ATTRIBUTES = {
    "sys._getframe", "sys._current_frames", "sys.getrefcount", "sys.settrace", "sys.setprofile", "sys.monitoring",
    "threading.settrace", "threading.setprofile", "gc.get_referrers", "gc.get_referents", "gc.get_objects",
    "gc.freeze", "gc.set_threshold", "os._exit", "ctypes.pythonapi", "importlib._bootstrap",
}  # fmt: skip
#: attributes of any object that only ``_cpython.py`` uses
MEMBERS = {"co_code", "co_exceptiontable", "co_linetable", "f_locals", "f_trace", "PyThreadState_SetAsyncExc"}
#: special methods that no class of mindgrad defines, and attributes that no statement assigns
UNDEFINED, UNASSIGNED = {"__getattribute__"}, {"__code__", "__closure__", "__getattribute__"}
#: uses that are allowed in other files, with the reason
ALLOWED = {
    ("launch/begin.py", "ctypes"): "Linux has no other way to end a worker with its launcher than prctl",
    ("launch/msrun.py", "os._exit"): "a forked process must not run the exit handlers of its parent",
    ("communication/session.py", "os._exit"): "the exit of JAX would wait for ranks that have failed",
}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "_cpython.py")


def _uses(tree):
    """Yield the names of functions that depend on the interpreter."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from [node.module] if node.module in MODULES else []
            full = [f"{node.module}.{each.name}" for each in node.names]
            yield from (name for name in full if name in ATTRIBUTES)
        elif isinstance(node, ast.Attribute):
            full = ast.unparse(node)
            if full in ATTRIBUTES or node.attr in MEMBERS:
                yield full if full in ATTRIBUTES else node.attr
            if node.attr in UNASSIGNED and not isinstance(node.ctx, ast.Load):
                yield f"{node.attr} ="
        elif isinstance(node, ast.Call):
            names = {each.arg for each in node.keywords}
            if names & {"co_consts", "co_names", "co_code", "co_name", "co_flags"}:
                yield "code.replace"
            if ast.unparse(node.func) in ("types.CodeType", "CodeType"):
                yield "CodeType()"
        elif isinstance(node, ast.FunctionDef) and node.name in UNDEFINED:
            yield f"def {node.name}"


def test_only_one_file_depends_on_the_interpreter():
    found = {
        (path.relative_to(SOURCE).as_posix(), name)
        for path in FILES
        for name in _uses(ast.parse(path.read_text()))
    }
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import ctypes", "ctypes"),
        ("from opcode import opmap", "opcode"),
        ("frame = sys._getframe(1)", "sys._getframe"),
        ("from sys import getrefcount", "sys.getrefcount"),
        ("code = code.replace(co_consts=())", "code.replace"),
        ("f.__code__ = code", "__code__ ="),
        ("frame.f_locals['x'] = 1", "f_locals"),
        ("class A:\n    def __getattribute__(self, name): pass", "def __getattribute__"),
        ("kind.__getattribute__ = f", "__getattribute__ ="),
    ],
)
def test_a_use_is_found(text, name):
    assert list(_uses(ast.parse(text))) == [name]


def test_each_function_states_versions_and_fallback():
    tree = ast.parse((SOURCE / "core" / "base" / "_cpython.py").read_text())
    functions = [x for x in tree.body if isinstance(x, ast.FunctionDef) and not x.name.startswith("_")]
    assert {x.name for x in functions} | {"IS_KNOWN", "handler_of", "set_handler"} == set(_cpython.__all__)
    for function in functions:
        words = re.sub(r"\s+", " ", ast.get_docstring(function))
        assert "Tested on CPython 3.11 to 3.13. Fallback: " in words, function.name


# -- results ---------------------------------------------------------------------------------------

PROGRAM = """
import gc, runpy, sys
if sys.argv[2] == "other":
    sys.implementation.name = "other"
m = runpy.run_path(sys.argv[1])
one, two = object(), object()
assert m["IS_KNOWN"] == (sys.argv[2] != "other")

def outer():
    count = 0
    def f(x):
        nonlocal count
        global TOTAL
        from os import path
        from .sibling import name
        count = TOTAL = x.attribute + len(path.sep)
        class Local:
            pass
    return f

code = outer().__code__
listed = [object(), one]
shared = m["unshared"](listed)
assert not shared[1]
assert {"len", "TOTAL"} - {"TOTAL"} <= set(m["global_names"](code))
assert {"attribute", "len", "sep"} <= m["names_read"](code)
assert m["defines_classes"](code)
assert {("os", ("path",)), (".sibling", ("name",))} <= {
    (module, tuple(x for x in names if x in ("path", "name") and (x == "path") == (module == "os")))
    for module, names in m["import_statements"](code)
}
variables, names = m["assigned_names"](code)
assert "count" in variables and "TOTAL" in names
assert m["stored_names"](code) <= {"count"}
renamed = m["renamed"](code, "g", "a.g", code.co_consts)
assert (renamed.co_name, renamed.co_qualname, renamed.co_consts) == ("g", "a.g", code.co_consts)
items = [1, 2]
assert any(x is items for x in m["referents"](iter(items))) or any(
    items in x for x in m["referents"](iter(items)) if type(x) is tuple
)
def local(x):
    return m["variables_of"](sys._getframe())
assert local(3) == {"x": 3}
assert m["byte_code"](code) == m["byte_code"](renamed)
assert m["handler_of"](2) is not None
before = m["thresholds"]()
m["set_thresholds"](*before)
m["move_to_oldest_generation"]()
assert m["thresholds"]() == before
if m["IS_KNOWN"]:
    assert shared == [True, False]
    assert variables == {"count"} and names == {"TOTAL"}
    assert m["reference_count"](two) is not None
else:
    import functools
    assert shared == [False, False]
    try:
        m["referents"](functools.lru_cache(len))
    except TypeError as error:
        assert "cannot read the cache" in str(error)
    else:
        raise AssertionError
    assert m["referents"](x for x in items)
    assert m["reference_count"](two) is None
"""


def interpreters():
    """The running interpreter, and the paths in ``MINDGRAD_TEST_PYTHONS``."""
    others = os.environ.get("MINDGRAD_TEST_PYTHONS", "")
    return [sys.executable, *filter(None, others.split(os.pathsep))]


@pytest.mark.parametrize("kind", ["cpython", "other"])
@pytest.mark.parametrize("interpreter", interpreters())
def test_functions_agree_on_each_interpreter(interpreter, kind):
    command = [interpreter, "-c", PROGRAM, str(SOURCE / "core" / "base" / "_cpython.py"), kind]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_unshared_counts_each_kind_of_reference():
    held = [object() for _ in range(5)]
    variable, inside, closure = held[0], [held[1]], (lambda x: lambda: x)(held[2])
    assert _cpython.unshared(held) == [False, False, False, True, True]
    del variable, inside, closure
    gc.collect()
    assert _cpython.unshared(held) == [True] * 5
