"""Unit tests lie in a folder for each package."""

from pathlib import Path

UNIT = Path(__file__).parents[1] / "unit"
PACKAGES = UNIT.parents[1] / "src" / "mindgrad"
#: tests of pages, scripts, messages, and names of all packages; and data of tests
OTHERS = {"repository", "mindspore_files", "references"}


def test_every_unit_test_lies_in_the_folder_of_a_package():
    assert not list(UNIT.glob("test_*.py"))
    folders = {path.parent.relative_to(UNIT).parts[0] for path in UNIT.rglob("test_*.py")}
    assert len(folders) > 5
    assert {name for name in folders if not (PACKAGES / name).is_dir()} <= OTHERS
