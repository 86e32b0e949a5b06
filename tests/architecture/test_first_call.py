"""The walk in docs/first_call.md names the files that `grad(net)(x)` enters, and the drawing of the packages their imports."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "first_call.md").read_text()
#: files that a gradient may enter; the goals are 24 and 55
MOST = {"Eager": 45, "Compiled": 116}
#: what follows the page's program, in a file of its own: compiled programs read their source
FOLLOW = """
import os, sys
from pathlib import Path

root = str(Path(ms.__file__).parent) + os.sep
ms.set_context(mode=getattr(ms, sys.argv[1]))
ms.grad(Net())(x)  # what is loaded when it is first used
net, entered = Net(), {}

def note(frame, event, _):
    if event == "call" and frame.f_code.co_filename.startswith(root):
        entered[frame.f_code.co_filename.removeprefix(root).replace(os.sep, "/")] = True

sys.setprofile(note)
ms.grad(net)(x).asnumpy()
sys.setprofile(None)
print(*entered)
"""


def entered(mode, folder):
    program = re.search(r"```python\n(.*?)```", PAGE, re.S)[1]
    file = folder / "walk.py"
    file.write_text(program + FOLLOW)
    done = subprocess.run([sys.executable, str(file), mode], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.no_disk_cache  # the page shows how a gradient is computed, not how its program is found again
@pytest.mark.parametrize(("title", "mode"), [("Eager", "PYNATIVE_MODE"), ("Compiled", "GRAPH_MODE")])
def test_the_walk_enters_the_files_that_the_page_names(title, mode, tmp_path):
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.S | re.M)[1]
    steps = re.split(r"^\d+\. ", section, flags=re.M)[1:]
    named = [name for step in steps for name in re.findall(r"`([\w/]+\.py)`", step)]
    files = entered(mode, tmp_path)
    assert sorted(set(named)) == sorted(files)
    assert len(files) <= MOST[title]
    first = [files.index(re.search(r"`([\w/]+\.py)`", step)[1]) for step in steps]
    assert first == sorted(first), "the steps are entered in the order of the page"


def test_the_page_of_the_architecture_shows_the_imports():
    drawing = runpy.run_path(str(ROOT / "docs" / "figures" / "packages.py"))
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert drawing["listed"](drawing["arrows"]()) in page, "python docs/figures/packages.py writes it anew"
    for package in drawing["_ENGINE"]:
        assert f"| `{package}` |" in page
