"""Public docstrings are complete: types, defaults, results, conditions of errors, examples, and related names."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from mindgrad import Tensor
from mindgrad._base.related_names import FAMILIES, related

GOLDEN = Path(__file__).parents[1] / "golden" / "public_names.txt"

_ENTRY = re.compile(r"^ {4}([*\w]+(?:, [*\w]+)*) \((.+?)\):", re.M)
_SECTION = re.compile(r"^(Args|Inputs|Returns|Outputs|Raises|See Also):\n((?: {4}.*(?:\n|\Z))+)", re.M)


def parameters(item):
    """The parameters of a function, or of the constructor of a class."""
    own = vars(item).get("__init__", item) if isinstance(item, type) else item
    try:
        every = inspect.signature(own).parameters.values()
    except ValueError:  # exceptions, whose constructors are those of Python
        return []
    return [each for each in every if each.name != "self"]


def gaps(item):
    """The parts that the docstring of a public callable lacks."""
    doc = inspect.getdoc(item) or ""
    sections = {section[1]: section[2] for section in _SECTION.finditer(doc)}
    typed = {
        name.lstrip("*"): kind
        for names, kind in _ENTRY.findall(sections.get("Args", "") + sections.get("Inputs", ""))
        for name in names.split(", ")
    }
    found = set()
    for each in parameters(item):
        is_optional = each.default is not each.empty and not getattr(each.default, "is_missing", False)
        if each.name not in typed or (is_optional and not typed[each.name].endswith("optional")):
            found.add("argument")
    if not isinstance(item, type) and not sections.get("Returns"):
        found.add("result")
    if re.search(r"^ {4}\w+: (?!If\b)", sections.get("Raises", ""), re.M):
        found.add("error")
    found |= {"example"} if ">>> " not in doc else set()
    found |= {"see also"} if "See Also" not in sections else set()
    return found | ({"summary"} if len(doc.split("\n")[0]) >= 80 else set())


def public_callables():
    """The public functions and classes by package, each once, with their paths."""
    found, seen = {}, set()
    for line in GOLDEN.read_text().split("\n"):
        if line.startswith("["):
            module = line[1:-1]
            continue
        owner = Tensor if module == "mindgrad.Tensor" else importlib.import_module(module)
        for name in line.split():
            item = inspect.getattr_static(owner, name, None)
            item = getattr(owner, name, None) if item is None else item
            is_own = getattr(item, "__module__", "") or ""
            if not (inspect.isfunction(item) or isinstance(item, type)) or not is_own.startswith("mindgrad"):
                continue
            if id(item) not in seen:
                seen.add(id(item))
                found.setdefault(".".join(is_own.split(".")[:2]), []).append((f"{module}.{name}", item))
    return found


PUBLIC = public_callables()


@pytest.mark.parametrize("package", PUBLIC)
def test_public_docstrings_have_all_parts(package):
    missing = {path: sorted(found) for path, item in PUBLIC[package] if (found := gaps(item))}
    assert not missing, "complete the docstrings (CONTRIBUTING, Documentation)"


def exists(path):
    """Whether a path leads to an object: a member of a module, or of a class in it."""
    owner, _, name = path.rpartition(".")
    try:
        return hasattr(importlib.import_module(owner), name)
    except ModuleNotFoundError:
        module, _, owner = owner.rpartition(".")
        return hasattr(getattr(importlib.import_module(module), owner), name)


def test_every_name_of_a_family_exists():
    for line in FAMILIES.replace("\n    ", " ").strip().split("\n"):
        module, _, names = line.partition(": ")
        for name in names.split():
            path = name if name.startswith("mindgrad.") else f"{module}.{name}"
            assert exists(path), f"{path}, in the family '{line[:60]}'"


def test_see_also_refers_to_names_that_exist():
    for items in PUBLIC.values():
        for path, item in items:
            section = re.search(r"^See Also:\n((?: {4}.*(?:\n|\Z))+)", inspect.getdoc(item) or "", re.M)
            for name in re.findall(r"`(mindgrad\.[\w.]+)`", section[1] if section else ""):
                assert exists(name), f"{path} refers to {name}"


def test_related_names_are_those_after_a_name_and_then_before_it():
    assert related("mindgrad.ops.rfftfreq")[:2] == ["mindgrad.ops.fftshift", "mindgrad.ops.ifftshift"]
    assert related("mindgrad.ops.no_such_name") == []
