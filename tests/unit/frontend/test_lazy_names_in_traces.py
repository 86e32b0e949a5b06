"""A function that is compiled may be the first to ask for a module or name that mindgrad loads later."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

#: each function runs in a process that has loaded nothing but the package, which is what a fork of this one is
PROGRAM = textwrap.dedent(
    """
    import os, sys
    import mindgrad as ms
    from mindgrad import Tensor, _NAMES, _PACKAGES
    from mindgrad.core.backend import jax_import
    from mindgrad.frontend.programs.compiled import trace
    from tests.numpy_programs import evaluated_ahead, select

    select(evaluated_ahead)
    x = Tensor([[1.0, 2.0], [3.0, 5.0]])

    def named(name):
        return lambda x: (getattr(ms, name), x + x)[1]

    def check(function):
        run = ms.jit(function)
        assert abs(run(x) - 2 * x).max() < 1e-4
        assert abs(ms.grad(run)(x) - 2).max() < 1e-2

    functions = {name: named(name) for name in [*_PACKAGES, *[names[0] for names in _NAMES.values()]]}
    functions |= {
        "mint": lambda x: ms.mint.sin(x) / ms.mint.sin(x) * 2 * x,
        "mint.nn": lambda x: ms.mint.nn.functional.relu(x) + ms.mint.nn.ReLU()(x),
        "nn": lambda x: ms.nn.ReLU()(x) + ms.nn.SequentialCell([ms.nn.ReLU(), ms.nn.LeakyReLU()])(x),
        "scipy": lambda x: ms.scipy.linalg.inv(ms.scipy.linalg.inv(x)) * 2,
        "numpy": lambda x: ms.numpy.add(x, x),
        "argmin": lambda x: ms.argmin(lambda v: ((v - x) ** 2).sum(), x) * 2,
        "dataset": lambda x: (ms.dataset.NumpySlicesDataset, x + x)[1],
        "import": lambda x: __import__("mindgrad.nn.probability.distribution").nn.ReLU()(x) * 2,
    }
    trace(lambda x: x + x, x)
    jax_import.jax_module()
    jax_import._is_loaded = False  # its runtime is not started: a child may use it
    loaded = [name for name in _PACKAGES if f"mindgrad.{name}" in sys.modules]
    assert not {"nn", "mint", "scipy", "train"} & set(loaded), loaded
    for name, function in functions.items():
        child = os.fork()
        if not child:
            try:
                check(function)
                os._exit(0)
            except BaseException as error:
                print(type(error).__name__, error, flush=True)
                os._exit(1)
        print(name, os.waitpid(child, 0)[1], flush=True)
    """
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked on this system")
def test_jit_loads_any_lazy_name_while_it_traces(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(file)], capture_output=True, text=True, timeout=100,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert len(lines) > 25
    assert [line for line in lines if not line.endswith(" 0")] == []
