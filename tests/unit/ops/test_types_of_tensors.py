"""Type checkers and editors know Tensor's operators and methods: the stub of them is that of the tables."""

import ast
import inspect
import runpy
import subprocess
import sys
from pathlib import Path

from mindgrad import Tensor, ops
from mindgrad.ops.methods import METHODS

ROOT = Path(__file__).parents[3]

#: mypy reads the types of Tensor only: reading all of the package takes ten times as long
SETTINGS = """
[mypy]
mypy_path = {source}
explicit_package_bases = True
[mypy-mindgrad.*,numpy.*,jax.*,ml_dtypes.*,scipy.*]
follow_imports = skip
ignore_missing_imports = True
[mypy-mindgrad.core.ir.tensor,mindgrad.core.ir.tensor_members,mindgrad.core.ir.dtype]
follow_imports = silent
"""
PROGRAM = """
from mindgrad.core.ir.tensor import Tensor
def energy(x: Tensor) -> Tensor:
    y: Tensor = 4.0 * (x**-12 - x**-6) @ x.T + abs(-x[0]).sum(dim=0, keepdims=True)
    rows: list[Tensor] = [row.exp() for row in y]
    sizes: tuple[int, ...] = (x < y).shape
    values, order = y.sort(descending=True)
    first, *rest = y.split(2)
    y[0] = 1.0
    reveal_type(values.clip(0, 1).reshape(2, -1).int())
    return first
wrong: str = energy(Tensor([1.0])).sum()
energy(Tensor([1.0])).summ()
Tensor([1.0]).tanh(2.0)
"""


def test_the_stubs_are_what_their_command_writes():
    for file, write in runpy.run_path(str(ROOT / "scripts" / "stubs.py"))["FILES"].items():
        assert file.read_text(encoding="utf-8") == write(), "write it anew: python scripts/stubs.py"


def test_the_stub_has_every_member(tmp_path):
    names = {}
    text = (ROOT / "src" / "mindgrad" / "core" / "ir" / "tensor_members.pyi").read_text(encoding="utf-8")
    body = text[text.index("class TensorMembers") :].replace("class TensorMembers", "class TensorMembers()")
    exec("from __future__ import annotations\n" + body, names)
    assert len(METHODS) > 300
    for name in METHODS:
        assert hasattr(Tensor, name)
        if name not in vars(names["TensorMembers"]):
            assert name in inspect.getsource(Tensor), name


def test_the_stub_of_ops_has_every_public_name_with_its_type():
    body = ast.parse((ROOT / "src" / "mindgrad" / "ops" / "__init__.pyi").read_text(encoding="utf-8")).body
    imported = {alias.asname for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    classes = {node.name for node in body if isinstance(node, ast.ClassDef)}
    absent = {ast.unparse(node.target) for node in body if isinstance(node, ast.AnnAssign)} - {"__all__"}
    assert set(ops.__all__) - imported - set(functions) - classes - absent == {"Tensor"} & set(ops.__all__)
    assert len(absent) < 20
    for name in ("sin", "add", "abs", "relu"):
        assert ast.unparse(functions[name].returns) == "Tensor"
    assert {"Add", "MatMul", "ReduceSum"} <= classes
    assert {"cross_entropy", "grad", "Custom"} <= imported | set(functions)


def test_mypy_accepts_operators_and_methods(tmp_path):
    (tmp_path / "mypy.ini").write_text(SETTINGS.format(source=ROOT / "src"))
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        "mypy.ini",
        "--cache-dir",
        "cache",
        "program.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    lines = [line.partition(" ")[2] for line in done.stdout.splitlines()]
    assert lines[:4] == [
        'note: Revealed type is "mindgrad.core.ir.tensor.Tensor"',
        'error: Incompatible types in assignment (expression has type "Tensor", variable has type "str")  [assignment]',
        'error: "Tensor" has no attribute "summ"  [attr-defined]',
        'error: Too many arguments for "tanh" of "TensorMembers"  [call-arg]',
    ], done.stdout + done.stderr
    assert len(lines) == 5


def test_a_program_with_types_runs():
    names = runpy.run_path(str(ROOT / "tests" / "typed_program.py"))
    assert names["number"] == 2.0
    assert names["shape"] == (2,)
