"""The core works alone, and the first gradient of a process stays short."""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "mindgrad"
#: largest number of files, and of their lines, that ``core.api.grad`` imports; both may only fall
MOST_FILES, MOST_LINES = 64, 10_650
#: largest number of files that the first gradient of a process enters, and of functions; both may only fall
MOST_ENTERED, MOST_FUNCTIONS = 35, 154

FIRST_CALL = r"""
from mindgrad.core import grad, numpy as np
from tests.tolerances import assert_close

entered, functions = set(), set()

def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(SOURCE):
        entered.add(code.co_filename)
        if not code.co_name.startswith("<"):  # comprehensions are functions in some versions of Python
            functions.add((code.co_filename, code.co_name, code.co_firstlineno))

x = np.array([0.1, 0.2])
sys.setprofile(note)
grad(lambda x: np.sum(np.tanh(x * x)))(x)
sys.setprofile(None)
print(len(entered), len(functions))
"""


def alone(program):
    """The output of a program in a process that can import nothing but the core."""
    start = f"import sys\nSOURCE = {str(SOURCE)!r}\nsys.path.insert(0, {str(ROOT)!r})\n"
    start += "from tests.core.alone import forbid_the_rest\nforbid_the_rest()\n"
    done = subprocess.run([sys.executable, "-c", start + program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_of_the_core_can_be_imported_alone():
    names = [
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted((SOURCE / "core").rglob("*.py"))
    ]
    alone(f"import importlib\nfor name in {names!r}: importlib.import_module(name)")


def test_public_names_of_the_core_exist():
    names = alone(
        "import mindgrad.core as core\nfor name in core.__all__: getattr(core, name)\nprint(*core.__all__)"
    )
    stub = (SOURCE / "core" / "__init__.pyi").read_text()
    assert sorted(re.findall(r" as (\w+)$", stub, re.M)) == sorted(names.split())


def test_example_of_the_core_finds_the_exact_values():
    printed = alone("import runpy\nrunpy.run_path('examples/core_only.py', run_name='__main__')").splitlines()
    numbers = [[float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[+-]?\d+)?", line)] for line in printed]
    assert numbers[0][:2] == [9.81, 0.3]
    assert numbers[1][0] == numbers[1][1]
    assert abs(numbers[2][0]) < 1e-12
    assert numbers[3][:5] == [1, 0.25, 0.140625, 0.097656, 0.074768]


def imported(path):
    """The files of mindgrad that a file imports, with the packages that contain them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *[f"{node.module}.{each.name}" for each in node.names]]
        for name in names:
            parts = name.split(".")
            for k in range(2, len(parts) + 1) if parts[0] == "mindgrad" else ():
                place = SOURCE.parent.joinpath(*parts[:k])
                found |= {f for f in (place / "__init__.py", place.with_suffix(".py")) if f.exists()}
    return found


def test_imports_of_grad_stay_few():
    seen, todo = set(), [SOURCE / "core" / "api" / "grad.py"]
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            todo.extend(imported(path))
    lines = sum(len(path.read_text().splitlines()) for path in seen)
    assert len(seen) <= MOST_FILES
    assert lines <= MOST_LINES


def test_first_gradient_of_a_process_enters_few_functions():
    files, functions = map(int, alone(FIRST_CALL).split())
    assert files <= MOST_ENTERED
    assert functions <= MOST_FUNCTIONS


def test_catalog_imports_every_primitive_that_the_laws_test():
    program = """
from importlib import import_module
from pathlib import Path

from mindgrad.core import catalog
from mindgrad.core.ir.primitive import REGISTRY

known = set(REGISTRY)
for file in Path(catalog.__file__).parent.joinpath("primitives").glob("*.py"):
    import_module(f"mindgrad.core.primitives.{file.stem}")
print(sorted(set(REGISTRY) - known))
"""
    assert alone(program).strip() == "[]", "import the modules of these primitives in core/catalog.py"
