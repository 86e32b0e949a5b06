"""Limits of the core that may only fall."""

import ast
from pathlib import Path

CORE = Path(__file__).parents[2] / "src" / "mindgrad" / "core"

#: largest share of annotated parameters in the core whose annotation contains ``Any``
MOST_ANY = 0.37


def _is_any(annotation: ast.expr, names: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(annotation))


def _aliases(modules: list[ast.Module]) -> set[str]:
    """Return ``Any`` and the names of types that contain it, except the arrays and dtypes of NumPy."""
    names = {"Any"}
    for module in modules:
        for node in module.body:
            is_alias = isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"
            if is_alias and "Any" in ast.unparse(node.value) and "np." not in ast.unparse(node.value):
                names.add(ast.unparse(node.target))
    return names


def _annotations(module: ast.Module) -> list[ast.expr]:
    functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    of_all = [
        each.annotation
        for function in functions
        for each in [
            *function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs,
            *filter(None, [function.args.vararg, function.args.kwarg]),
        ]
    ]  # fmt: skip
    return [annotation for annotation in of_all if annotation is not None]


def test_any_share_of_core_parameters_is_within_limit():
    modules = [ast.parse(path.read_text()) for path in sorted(CORE.rglob("*.py"))]
    names = _aliases(modules)
    annotations = [annotation for module in modules for annotation in _annotations(module)]
    share = sum(_is_any(annotation, names) for annotation in annotations) / len(annotations)
    assert share <= MOST_ANY, f"{share:.1%} of {len(annotations)} annotated parameters of the core are Any"
    assert share > MOST_ANY - 0.01, f"the share has fallen to {share:.1%}: lower MOST_ANY to keep it there"
