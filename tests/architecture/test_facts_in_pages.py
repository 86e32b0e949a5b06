"""Versions, counts and lists in pages agree with the package."""

import re
import tomllib
from pathlib import Path

from mindgrad import cli
from tests.unit.mistakes_of_users import MISTAKES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def page(name):
    return (DOCS / name).read_text()


def test_installation_lists_supported_versions():
    text = page("installation.md")
    found = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if ":: Python :: 3." in line]
    assert f"| Python | {', '.join(found)} |" in text
    (jax,) = [line for line in PROJECT["dependencies"] if line.startswith("jax")]
    lowest, above = (int(number) for number in re.findall(r"0\.(\d+)", jax))
    assert f"JAX {' or '.join(f'0.{number}' for number in range(lowest, above))};" in text
    for extra in re.findall(r'"\.\[(\w+)\]"', text):
        assert extra in PROJECT["optional-dependencies"]


def test_pages_state_the_version_of_the_package():
    version = PROJECT["version"]
    assert f"mindgrad     ok    {version} in" in page("installation.md")
    assert f"mindgrad is version {version.rpartition('.')[0]}." in page("is_it_for_me.md")


def test_commands_are_in_the_page_of_commands():
    text = page("commands.md")
    assert [name for name in cli._COMMANDS if f"`mindgrad {name}" not in text] == []


def test_covered_share_is_the_one_of_the_coverage_page():
    (share,) = re.findall(r"\*\*all\*\* \| \d+ \| \d+ \((\d+) %\)", page("coverage.md"))
    (stated,) = re.findall(r"About (\d+) % of MindSpore", page("is_it_for_me.md"))
    assert abs(int(share) - int(stated)) < 5


def test_errors_page_counts_mistakes():
    assert f" {len(MISTAKES)} typical mistakes" in page("errors.md")
