"""The persistent compile cache: found by other processes, whole or not at all, and no danger to a program."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor
from mindgrad.backend import disk
from mindgrad.functional.compiled import Compiled

#: a program of two gradients and a step that writes a Parameter; prints what it computed
PROGRAM = textwrap.dedent(
    """
    import sys, numpy as np, mindgrad as ms
    from mindgrad import Parameter, Tensor, ops
    from mindgrad.functional.compiled import Compiled

    p = Parameter(Tensor(np.zeros(3)), name="p")
    big = Tensor(np.arange(3000.0))

    def step(x):
        p.set_data(p + x)
        return p * 2

    def loss(x):
        return ops.tanh(x * big).sum()

    run = Compiled(step)
    for _ in range(2):
        run(Tensor(np.ones(3)))
    f = Compiled(ms.grad(loss))
    print(p.asnumpy().tolist(), f(Tensor(np.full(3000, 0.01))).asnumpy().sum().round(9))
    import jax
    assert jax.config.jax_compilation_cache_dir is None
    """
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv(disk.DIRECTORY_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def start(code=PROGRAM):
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def result(process):
    out, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    return out


def stored(place):
    return sorted(place.glob("*.executable")) if place.exists() else []


def compiled_of(factor):
    """A function, and its value at 2, of which every factor has a program of its own."""
    ms.clear_cache()
    return Compiled(lambda x: x * factor), Tensor(np.array(2.0)), 2.0 * factor


def test_processes_find_what_others_compiled(place):
    first = result(start())
    files = stored(place)
    assert len(files) == 2
    before = [(f.name, f.stat().st_ino) for f in files]
    assert result(start()) == first
    assert [(f.name, f.stat().st_ino) for f in stored(place)] == before, "nothing was written again"
    assert first.startswith("[2.0, 2.0, 2.0] ")


def test_nothing_is_compiled_that_is_stored(place, monkeypatch):
    run, x, expected = compiled_of(1.25)
    assert run(x).item() == expected

    def refuse(*_):
        raise AssertionError("compiled again")

    monkeypatch.setattr(disk, "_store", refuse)
    again, x, expected = compiled_of(1.25)
    assert again(x).item() == expected
    other, x, _ = compiled_of(1.75)
    with pytest.raises(AssertionError, match="compiled again"):
        other(x)


def test_several_processes_at_once(place):
    found = [result(each) for each in [start(), start(), start()]]
    assert len(set(found)) == 1
    assert len(stored(place)) == 2
    assert not list(place.glob("*.unfinished"))
    assert result(start()) == found[0]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:500] + bytes([data[500] ^ 1]) + data[501:],
        lambda data: b"x" * len(data),
        lambda data: disk._MAGIC + b"\0" * 32 + data[60:],
        lambda data: _signed(b"no executable"),
    ],
)
def test_a_damaged_file_is_replaced(place, damage):
    run, x, expected = compiled_of(3.5)
    run(x)
    (file,) = stored(place)
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    run, x, expected = compiled_of(3.5)
    assert run(x).item() == expected
    assert len(file.read_bytes()) > 1000
    assert file.read_bytes()[: len(disk._MAGIC)] == disk._MAGIC
    again, x, expected = compiled_of(3.5)
    assert again(x).item() == expected


def _signed(payload):
    return disk._MAGIC + disk.hashlib.sha256(payload).digest() + payload


def test_a_writer_that_is_killed(place):
    slow = PROGRAM.replace(
        "import sys,",
        "import pathlib, time\n"
        "real = pathlib.Path.write_bytes\n"
        "def write(self, data):\n"
        "    real(self, data[:100])\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(100)\n"
        "pathlib.Path.write_bytes = write\n"
        "import sys,",
    )
    writer = start(slow)
    assert writer.stdout.readline() == "writing\n"
    writer.send_signal(signal.SIGKILL)
    writer.communicate(timeout=30)
    assert stored(place) == []
    (left,) = place.glob(".*.unfinished")
    assert result(start()).startswith("[2.0, 2.0, 2.0] ")
    assert len(stored(place)) == 2
    old = time.time() - 2 * disk._ABANDONED_SECONDS
    os.utime(left, (old, old))
    run, x, _ = compiled_of(0.5)
    run(x)
    assert not left.exists()


def test_the_files_that_were_not_used_for_longest_go_first(place, monkeypatch):
    for k in range(4):
        run, x, _ = compiled_of(10.5 + k)
        run(x)
        newest = max(stored(place), key=lambda f: f.stat().st_mtime_ns)
        os.utime(newest, (k, k))
    oldest = min(stored(place), key=lambda f: f.stat().st_mtime)
    again, x, expected = compiled_of(10.5)  # the oldest, used now
    assert again(x).item() == expected
    total = sum(f.stat().st_size for f in stored(place))
    monkeypatch.setattr(disk, "LARGEST", total)
    run, x, _ = compiled_of(99.5)
    run(x)
    assert oldest.exists()
    assert len(stored(place)) == 4


def test_a_directory_that_cannot_be_used_costs_a_warning(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv(disk.DIRECTORY_VARIABLE, str(file))
    run, x, expected = compiled_of(5.5)
    with pytest.warns(UserWarning, match="the compile cache in .* cannot be used"):
        assert run(x).item() == expected
    run, x, expected = compiled_of(6.5)
    assert run(x).item() == expected, "one warning is enough"


def test_the_settings_that_name_the_directory(tmp_path, monkeypatch):
    monkeypatch.delenv(disk.DIRECTORY_VARIABLE, raising=False)
    assert disk.directory() is None
    monkeypatch.setenv(disk.DIRECTORY_VARIABLE, str(tmp_path / "variable"))
    assert disk.directory() == tmp_path / "variable"
    try:
        ms.set_context(enable_compile_cache=True, compile_cache_path=str(tmp_path / "context"))
        assert disk.directory() == tmp_path / "context"
        ms.set_context(enable_compile_cache=False)
        assert disk.directory() is None
    finally:
        for name in ("enable_compile_cache", "compile_cache_path"):
            ms.core.settings._options.pop(name, None)


def test_without_a_directory_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.delenv(disk.DIRECTORY_VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    run, x, expected = compiled_of(7.5)
    assert run(x).item() == expected
    assert list(tmp_path.iterdir()) == []


def test_a_loaded_step_takes_over_memory_too(place):
    code = PROGRAM + textwrap.dedent(
        """
        places = set()
        for _ in range(5):
            run(Tensor(np.ones(3)))
            places.add(p._array.unsafe_buffer_pointer())
        assert len(places) == 1, places
        kept = p.value()
        run(Tensor(np.ones(3)))
        assert kept.asnumpy().tolist() == [7.0] * 3
        """
    )
    result(start(code))
    result(start(code))
