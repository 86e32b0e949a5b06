"""An operator is known in its row only: no other file lists rows, or asks for one by its name.

A table is a literal with two names of rows, or two rows. What a pass has to know of an operator is a field of the row.
Names of public functions are no names of rows: ``ops``, ``nn`` and the packages beside them are not searched.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import mindgrad
from mindgrad.core.ir.primitive import REGISTRY, Primitive

ROOT = Path(mindgrad.__file__).parent
#: packages of the engine without ``core/primitives`` and ``distributed``, whose files declare the operators
PACKAGES = (
    "core/ir", "core/transforms", "core/control", "core/passes", "core/sparse", "core/trace", "core/backend", "core/api",
    "inspect", "frontend", "eager", "api", "solvers", "communication",
)  # fmt: skip
#: packages that may not compare the primitive of an equation with an operator
GENERAL = (
    "core/ir/", "core/transforms/", "core/sparse/", "core/trace/", "core/backend/", "core/api/", "eager/", "api/",
    "solvers/",
)  # fmt: skip
#: what is a table of something else, or stays one, and why
EXCEPTIONS = {
    "inspect/emit/array_forms.py": "the syntax of NumPy and jax.numpy; a row without a form is written by its kernel",
    "inspect/emit/mindspore_forms.py": "the syntax of MindSpore; a row without a form there has no equivalent",
    "inspect/emit/mindspore_helpers.py": "the syntax of MindSpore, where it takes several lines",
    "inspect/emit/python_control.py": "the syntax of loops and branches in Python",
    "inspect/emit/jax_control.py": "the syntax of loops and branches in jax.lax",
    "core/passes/matmul_order.py": "the operators of the trees that its law is about",
    "frontend/programs/number_operands.py": "the arithmetic of Python's numbers",
    "frontend/mutation_policy.py": "methods of Python's lists and sets",
    "frontend/python/bindings.py": "methods of Python's lists and sets",
    "frontend/python/plain_recursion.py": "functions of Python",
}


def trees() -> Iterator[tuple[str, ast.Module]]:
    assert all((ROOT / package).is_dir() for package in PACKAGES)
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            yield str(file.relative_to(ROOT)), ast.parse(file.read_text())


def imported_rows(tree: ast.Module) -> set[str]:
    """The names that stand for rows in a file."""
    return {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(("mindgrad.core.primitives", "mindgrad.core.control"))
        for alias in node.names
        if isinstance(getattr(import_module(str(node.module)), alias.name, None), Primitive)
    }


def tables(tree: ast.Module) -> Iterator[int]:
    """The lines of literals with two names of rows, or two rows."""
    exported = {
        id(n.value)
        for n in ast.walk(tree)
        if isinstance(n, ast.Assign) and "__all__" in ast.unparse(n.targets[0])
    }
    rows = imported_rows(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Dict | ast.Set | ast.Tuple | ast.List) or id(node) in exported:
            continue
        parts = [*node.keys, *node.values] if isinstance(node, ast.Dict) else node.elts
        names = {x.value for x in parts if isinstance(x, ast.Constant) and isinstance(x.value, str)}
        objects = {x.id for x in parts if isinstance(x, ast.Name)}
        least = 1 if isinstance(node, ast.Set) else 2  # a set of one name is asked for it
        if len(names & REGISTRY.keys()) >= least or len(objects & rows) > 1:
            yield node.lineno


def questions(tree: ast.Module) -> Iterator[int]:
    """The lines that compare the name of a row with a string, or look one up by it."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(
                left=ast.Attribute(attr="name") | ast.Name(id="name") as left, comparators=[*others]
            ):
                constants = [x.value for x in others if isinstance(x, ast.Constant)]
                if ("primitive" in ast.unparse(left) or "row" in ast.unparse(left)) and {
                    *constants
                } & REGISTRY.keys():
                    yield node.lineno
            case ast.Subscript(value=ast.Name(id="REGISTRY"), slice=ast.Constant()):
                yield node.lineno


def test_no_file_has_a_table_of_operators():
    lines = {name: [*tables(tree)] for name, tree in trees()}
    assert [
        f"{name}:{line}" for name, found in lines.items() if name not in EXCEPTIONS for line in found
    ] == []
    # an exception that has no table any more is none
    assert {name for name in EXCEPTIONS if name.startswith("inspect/emit/") and not lines[name]} <= {
        "inspect/emit/mindspore_helpers.py"
    }


def test_no_file_asks_for_an_operator_by_its_name():
    """Rewrites are laws of operators that they name, by the rows themselves; ``control`` closes a circle of imports."""
    asked = {name: [*questions(tree)] for name, tree in trees() if not name.startswith("core/control/")}
    assert [f"{name}:{line}" for name, found in asked.items() for line in found] == []


def test_general_machinery_does_not_ask_which_operator_it_is():
    """Differentiation, sparsity, execution and eager mode know fields of rows only."""
    asked = []
    for name, tree in trees():
        if not name.startswith(GENERAL):
            continue
        rows = imported_rows(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In):
                names = {x.id for part in node.comparators for x in ast.walk(part) if isinstance(x, ast.Name)}
                if "primitive" in ast.unparse(node.left) and names & rows:
                    asked.append(f"{name}:{node.lineno}")
    assert asked == []


#: numbers that are no property of a machine: how much is remembered, searched or waited for
LIMITS = {
    "_ALL", "_MOST", "_LOOPS", "_KEPT", "_SIGNATURES", "_ROLES_KNOWN", "_PLANS_KEPT", "MAXSIZE", "_PATIENCE",
    "_PATIENCE_WITH_SEVERAL", "_REASONS", "_KEPT_PER_OWNER", "_KEPT_WITHOUT_OWNER",
    "_LEVELS", "_KINDS", "_STRUCTURES", "_MOST_BYTES", "_BYTES_PER_PROGRAM",
    "_BYTES_PER_OPERATOR", "_MOST_EQUATIONS", "FEW", "_NEARLY", "_SMALL", "_BITS", "_LARGEST", "_TENSOR",
    "_TYPICAL",
}  # fmt: skip


def numbers(tree: ast.Module) -> Iterator[str]:
    """The names of constants of a file that are numbers."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets = [
                t
                for target in node.targets
                for t in (target.elts if isinstance(target, ast.Tuple) else [target])
            ]
            values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
            if len(targets) == len(values):
                for target, value in zip(targets, values, strict=True):
                    literals = [x for x in ast.walk(value) if isinstance(x, ast.Constant)]
                    is_number = not any(
                        isinstance(x, ast.Name | ast.Call | ast.Dict | ast.Tuple) for x in ast.walk(value)
                    )
                    if is_number and literals and all(isinstance(x.value, int | float) for x in literals):
                        yield ast.unparse(target)


def test_numbers_that_were_tuned_on_a_machine_stand_in_the_cost_model():
    packages = ("optimize", "control", "sparse", "execution", "eager", "transforms")
    listed = {
        f"{name}: {number}"
        for name, tree in trees()
        if name.startswith(packages)
        for number in numbers(tree)
        if number.isupper() and number not in LIMITS
    }
    assert listed == set()


def test_a_table_is_seen():
    tree = ast.parse(
        "from mindgrad.core.primitives.arithmetic import add, mul\nA = {'tanh': 1, 'exp': 2}\nB = (add, mul)\n"
    )
    assert [*tables(tree)] == [2, 3]
    assert [*questions(ast.parse("if equation.primitive.name == 'tanh': pass\nREGISTRY['exp']"))] == [1, 2]


def test_a_field_of_primitives_serves_more_than_three():
    """What fewer primitives need stands in a rule object: ``Effects``, ``Algebra``, ``InnerGraphs`` or ``Lazy``."""
    rows = list(REGISTRY.values())
    fields = [field for field in Primitive.__slots__ if field != "lazy"]
    usual = {field: Counter(map(repr, values_of(rows, field))).most_common(1)[0] for field in fields}
    assert {field for field, (_, count) in usual.items() if len(rows) - count <= 3} == set()


def values_of(rows: list[Primitive], field: str) -> Iterator[object]:
    return (getattr(row, field) for row in rows)
