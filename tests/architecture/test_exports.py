"""The public names: each one that is exported exists and says what it is, and none is forgotten."""

import importlib
import inspect
import types

import pytest

MODULES = [
    "mindgrad", "mindgrad.ops", "mindgrad.nn", "mindgrad.train", "mindgrad.dataset", "mindgrad.numpy", "mindgrad.mint",
    "mindgrad.mint.nn", "mindgrad.experimental.optim", "mindgrad.dataset.text", "mindgrad.dataset.transforms",
    "mindgrad.dataset.vision", "mindgrad.mindrecord",
]  # fmt: skip


def description(thing: object) -> str:
    """Its own docstring: not that of a base class, but an instance may have that of its class."""
    if isinstance(thing, type):
        return inspect.cleandoc(thing.__doc__ or "") if "__doc__" in vars(thing) else ""
    return inspect.getdoc(thing) or ""


@pytest.mark.parametrize("module", MODULES)
def test_exported_names_exist_and_are_described(module):
    package = importlib.import_module(module)
    exports = {name: getattr(package, name) for name in package.__all__}
    assert exports
    # constants carry the docstring of their type
    things = {
        name: thing for name, thing in exports.items() if not isinstance(thing, bool | int | float | str)
    }
    assert not [name for name, thing in things.items() if not description(thing)], "without a docstring"


@pytest.mark.parametrize("module", MODULES)
def test_exports_are_complete_and_without_repetition(module):
    package = importlib.import_module(module)
    assert len(set(package.__all__)) == len(package.__all__), "a name is exported twice"
    ours = {
        name
        for name, thing in vars(package).items()
        if not name.startswith("_")
        and not isinstance(thing, types.ModuleType)
        and str(getattr(thing, "__module__", "")).startswith("mindgrad")
    }
    assert ours <= set(package.__all__), f"public but not in __all__: {sorted(ours - set(package.__all__))}"
