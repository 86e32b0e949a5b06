"""Lines of errors and warnings are the user's wherever the package lies."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import mindgrad
from mindgrad.core.base.location import PACKAGE, is_own_file

SOURCE = Path(mindgrad.__file__).parent


def test_a_package_of_a_like_name_beside_ours_is_the_users():
    assert is_own_file(f"{PACKAGE}ops/math.py")
    assert not is_own_file(f"{PACKAGE.rstrip(os.sep)}_models{os.sep}net.py")


def test_a_package_that_a_link_leads_to_is_ours(tmp_path):
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "mindgrad").symlink_to(SOURCE, target_is_directory=True)
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import time
            import warnings

            import mindgrad as ms

            @ms.jit
            def f(x):
                return x * time.time()

            with warnings.catch_warnings(record=True) as caught:
                f(ms.Tensor([1.0, 2.0]))
            print(*[f"{warning.filename}:{warning.lineno}" for warning in caught])
            print(ms.__file__)
            """
        )
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "links")}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True
    )
    line, file = done.stdout.splitlines()
    assert file.startswith(str(tmp_path / "links"))
    assert line == f"{script}:9"
