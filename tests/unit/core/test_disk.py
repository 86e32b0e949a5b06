"""The persistent compile cache: found by other processes, whole or not at all, and no danger to a program."""

import errno
import hashlib
import os
import pickle
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor
from mindgrad.core.backend import disk, trust
from mindgrad.frontend.programs.compiled import Compiled

pytestmark = pytest.mark.xla

#: a program of two gradients and a step that writes a Parameter; prints what it computed
PROGRAM = textwrap.dedent(
    """
    import sys, numpy as np, mindgrad as ms
    from mindgrad import Parameter, Tensor, ops
    from mindgrad.frontend.programs.compiled import Compiled

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
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
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


def test_several_processes_at_once_and_one_that_finds_what_they_compiled(place):
    actual = [result(process) for process in [start(), start(), start()]]
    assert len(set(actual)) == 1
    assert actual[0].startswith("[2.0, 2.0, 2.0] ")
    files = stored(place)
    assert len(files) == 2
    assert len(os.listdir(place)) == 2
    assert os.listdir(place.parent / "state" / "mindgrad") == ["compile-cache.key"]
    before = [(f.name, f.stat().st_ino) for f in files]
    assert result(start()) == actual[0]
    assert [(f.name, f.stat().st_ino) for f in stored(place)] == before, "nothing was written again"


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:500] + bytes([data[500] ^ 1]) + data[501:],
        lambda data: b"x" * len(data),
        lambda data: disk._MAGIC + b"\0" * 32 + data[60:],
        lambda data: disk._MAGIC + hashlib.sha256(data[60:]).digest() + data[60:],
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


class Marker:
    """What is unpickled leaves a file."""

    def __init__(self, file):
        self.file = str(file)

    def __reduce__(self):
        return os.mkdir, (self.file,)


def plant(file, payload, signed=None):
    name = file.name if signed is None else signed
    file.write_bytes(disk._MAGIC + trust.signature(name, payload) + payload)


def test_only_what_the_user_signed_for_this_program_is_unpickled(place, tmp_path, monkeypatch):
    run, x, _ = compiled_of(3.25)
    run(x)
    (file,) = stored(place)
    mark = tmp_path / "executed"
    payload = pickle.dumps(Marker(mark))

    def refused():
        run, x, expected = compiled_of(3.25)
        assert run(x).item() == expected
        assert not mark.exists()
        assert payload not in file.read_bytes(), "replaced"

    file.write_bytes(disk._MAGIC + hashlib.sha256(payload).digest() + payload)
    refused()
    plant(file, payload, signed="another.executable")
    refused()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another user"))
    plant(file, payload)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    refused()
    plant(file, b"[[], []]\n" + pickle.dumps("no executable"))
    refused()
    plant(file, payload)
    refused()
    plant(file, b"[[], []]\n" + payload)
    compiled_of(3.25)[0](x)
    assert mark.exists(), "what is planted would be executed"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="access is decided by lists on this system")
def test_a_folder_that_others_can_write_to_is_not_used(place, monkeypatch):
    run, x, _ = compiled_of(3.75)
    run(x)
    (file,) = stored(place)
    assert (place.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    before = file.stat()

    def refused(words):
        monkeypatch.setattr(disk, "_warned", set())
        run, x, expected = compiled_of(3.75)
        with pytest.warns(UserWarning, match=words):
            assert run(x).item() == expected
        compiled_of(8.75)[0](x)  # one warning is enough
        assert stored(place) == [file]

    for mode in (0o777, 0o770, 0o1777):
        place.chmod(mode)
        refused(f"other users have access to '{place}'.*chmod go-w")
    place.chmod(0o755)  # others may read
    real = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: real + 1)
    refused(f"'{place}' belongs to another user .user ID {real}.")
    monkeypatch.undo()
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="access is decided by lists on this system")
def test_files_that_others_could_have_written_are_replaced(place, tmp_path, monkeypatch):
    run, x, _ = compiled_of(4.25)
    run(x)
    (file,) = stored(place)
    elsewhere = tmp_path / "elsewhere"

    def replaced(words):
        monkeypatch.setattr(disk, "_warned", set())
        run, x, expected = compiled_of(4.25)
        with pytest.warns(UserWarning, match=words):
            assert run(x).item() == expected
        assert not file.is_symlink()
        assert file.stat().st_mode & 0o777 == 0o600

    file.chmod(0o666)
    replaced("other users have access")
    file.rename(elsewhere)
    file.symlink_to(elsewhere)
    replaced("symbolic link")
    file.unlink()
    os.mkfifo(file)
    replaced("not a regular file")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="access is decided by lists on this system")
def test_without_a_secret_nothing_is_stored(place, tmp_path, monkeypatch):
    key = tmp_path / "state" / "mindgrad" / "compile-cache.key"

    def off(words):
        monkeypatch.setattr(disk, "_warned", set())
        run, x, expected = compiled_of(4.75)
        with pytest.warns(UserWarning, match=words) as issued:
            assert run(x).item() == expected
        assert len(issued) == 1
        assert stored(place) == []

    trust.signature("name", b"content")
    assert (key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    key.chmod(0o640)
    off("other users have access to .*compile-cache.key.*chmod go-rwx")
    key.chmod(0o600)
    key.write_bytes(b"short")
    off("is damaged")
    (tmp_path / "state").rename(tmp_path / "moved")
    (tmp_path / "state").write_text("")
    off("cannot be used: .*Not a directory|File exists")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    off("No such file or directory: .*none")
    monkeypatch.setenv("HOME", "/")
    real = os.geteuid()
    monkeypatch.setattr(trust.os, "geteuid", lambda: real + 54321)  # one that has no name
    with pytest.raises(trust.Distrusted, match="set XDG_STATE_HOME"):
        trust.signature("name", b"content")


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
    trust.signature("name", b"")  # the secret is there
    writer = start(slow)
    assert writer.stdout.readline() == "writing\n"
    writer.send_signal(signal.SIGKILL)
    writer.communicate(timeout=30)
    assert stored(place) == []
    (left,) = place.glob(".mindgrad-*.tmp")
    assert result(start()).startswith("[2.0, 2.0, 2.0] ")
    assert len(stored(place)) == 2
    assert not left.exists()


def test_full_disk_costs_a_warning_and_leaves_no_file(place, monkeypatch):
    real = Path.write_bytes

    def write_half(self, data):
        real(self, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(disk, "_warned", set())
        full.setattr(Path, "write_bytes", write_half)
        for factor in (6.25, 6.75):
            run, x, expected = compiled_of(factor)
            if factor == 6.25:
                with pytest.warns(UserWarning, match="cannot be used: .*No space left on device"):
                    assert run(x).item() == expected
            else:
                assert run(x).item() == expected, "one warning is enough"
    assert list(place.iterdir()) == []
    run, x, expected = compiled_of(6.25)
    assert run(x).item() == expected
    assert len(stored(place)) == 1


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
    # half a file more than there is: files of equal programs differ by some bytes
    monkeypatch.setenv(disk.SIZE_VARIABLE, str(total + total // 8))
    run, x, _ = compiled_of(99.5)
    run(x)
    assert oldest.exists()
    assert len(stored(place)) == 4
    monkeypatch.setattr(disk, "MOST", 2)
    run, x, _ = compiled_of(98.5)
    run(x)
    assert len(stored(place)) == 2


def test_a_folder_is_not_read_for_every_program(place, monkeypatch):
    x = Tensor(np.array(2.0))
    compiled_of(51.5)[0](x)
    reads = []
    monkeypatch.setattr(disk, "_files", lambda folder: reads.append(folder) or iter(()))
    compiled_of(52.5)[0](x)
    assert reads == []
    monkeypatch.setenv(disk.SIZE_VARIABLE, "100K")
    compiled_of(53.5)[0](x)
    assert reads == [place]
    assert len(stored(place)) == 3


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
    monkeypatch.setenv(disk.DIRECTORY_VARIABLE, "")
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
            ms.core.ir.settings.options.pop(name, None)


#: compiles a program, and says where it is kept and what was warned of
DEFAULT_PROGRAM = textwrap.dedent(
    """
    import warnings
    from mindgrad import Tensor
    from mindgrad.core.backend import disk
    from mindgrad.frontend.programs.compiled import Compiled

    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        value = Compiled(lambda x: x * 3.0)(Tensor([2.0])).item()
    assert value == 6.0
    print(disk.directory(), "|", disk.reason_off(), "|", *[x.message for x in issued])
    """
)


@pytest.fixture
def default(monkeypatch, tmp_path):
    """A home of its own, and no setting of the cache."""
    for name in (
        disk.DIRECTORY_VARIABLE,
        disk.SIZE_VARIABLE,
        "XDG_CACHE_HOME",
        "XDG_STATE_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(disk, "_refused", {})
    monkeypatch.setattr(disk, "_warned", set())
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "home").mkdir()
    return tmp_path / "home" / ".cache" / "mindgrad"


def test_programs_are_kept_in_the_users_cache_folder(default):
    assert result(start(DEFAULT_PROGRAM)) == f"{default} |  |\n"
    (file,) = stored(default)
    assert (default.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    run, x, expected = compiled_of(7.25)
    assert run(x).item() == expected
    assert len(stored(default)) == 2


def test_where_the_users_cache_folder_is(default, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # which the specification has ignored
    assert disk.directory() == default
    monkeypatch.setattr(sys, "platform", "darwin")
    assert disk.directory() == tmp_path / "home" / "Library" / "Caches" / "mindgrad"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert disk.directory() == tmp_path / "caches" / "mindgrad"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (disk.DIRECTORY_VARIABLE, ""),
        (disk.SIZE_VARIABLE, "0"),
        (disk.SIZE_VARIABLE, "0 MiB"),
    ],
)
def test_variables_turn_the_cache_off(default, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    run, x, expected = compiled_of(7.5)
    assert run(x).item() == expected
    assert list(default.parents[1].iterdir()) == []
    assert disk.directory() is None
    assert name in disk.reason_off()


@pytest.mark.filterwarnings("error")
def test_a_folder_that_nobody_named_is_left_alone_without_a_word(default, monkeypatch):
    def unused(reason):
        monkeypatch.setattr(disk, "_refused", {})
        run, x, expected = compiled_of(7.75)
        assert run(x).item() == expected
        assert disk.directory() is None, "not tried again"
        assert reason in disk.reason_off()

    default.parent.write_text("no folder")
    unused("File exists")
    default.parent.unlink()
    default.mkdir(parents=True, mode=0o700)
    if hasattr(os, "geteuid"):
        default.chmod(0o777)
        unused("other users have access")
        default.chmod(0o700)
        real = os.geteuid()
        with monkeypatch.context() as another:
            another.setattr(trust.os, "geteuid", lambda: real + 54321)  # one that has no name
            unused("no home folder")
        key = default.parents[1] / ".local"
        key.write_text("no folder")
        unused("Not a directory")
    assert stored(default) == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="access is decided by lists on this system")
def test_root_makes_no_folder_in_the_home_of_another_user(default, monkeypatch, tmp_path):
    monkeypatch.setattr(disk.os, "geteuid", lambda: 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    if tmp_path.stat().st_uid == 0:
        assert disk.directory() == tmp_path / "caches" / "mindgrad"
        os.chown(tmp_path, 54321, -1)
    try:
        assert disk.directory() is None
        assert "belongs to another user" in disk.reason_off()
    finally:
        monkeypatch.undo()
        if os.geteuid() == 0:
            os.chown(tmp_path, 0, -1)


def test_sizes(monkeypatch):
    monkeypatch.setattr(disk, "_warned", set())
    sizes = {"": 1 << 30, "1000": 1000, "1.5K": 1536, "20 MiB": 20 << 20, "2gb": 2 << 30, "0": 0}
    for text, size in sizes.items():
        monkeypatch.setenv(disk.SIZE_VARIABLE, text)
        assert disk.limit() == size
    monkeypatch.setenv(disk.SIZE_VARIABLE, "plenty")
    with pytest.warns(UserWarning, match=r"MINDGRAD_CACHE_SIZE='plenty' is not a valid size\. Write bytes"):
        assert disk.limit() == 1 << 30


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
