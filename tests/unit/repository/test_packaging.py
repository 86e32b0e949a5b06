"""The parts of a wheel, and what pages say of them, agree with the source."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import mindgrad
from mindgrad import cli
from mindgrad._base.environment import VARIABLES

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_version_is_one():
    version = PROJECT["project"]["version"]
    assert version == mindgrad._OWN_VERSION
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert re.search(rf"^## .*{re.escape(version)}", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_the_console_script_is_the_launcher():
    module, _, name = PROJECT["project"]["scripts"]["mindgrad"].partition(":")
    assert getattr(import_module(module), name) is cli.main


def test_what_the_wheel_takes_from_elsewhere_is_there():
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert all((ROOT / file).is_file() for file in wheel["force-include"])
    assert (ROOT / "src" / "mindgrad" / "py.typed").is_file()
    assert all(url.startswith("https://") for url in PROJECT["project"]["urls"].values())


def test_the_page_of_commands_has_every_variable():
    page = (ROOT / "docs" / "commands.md").read_text()
    rows = re.findall(r"^\| `(MINDGRAD_\w+)` \| (.*?) \| (.*?) \|$", page, re.MULTILINE)
    assert rows == [(name, variable.example, variable.meaning) for name, variable in VARIABLES.items()]
