"""Temporary files: what killed writers leave is removed, what others write is not."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor
from mindgrad.core.base import replacing

OLD = time.time() - 2 * 24 * 3600


def left_by(folder, process, machine=None, age=0.0):
    """A temporary file as the process with this number would leave it."""
    name = f".mindgrad-{machine or replacing._machine()}-{process}-{os.urandom(8).hex()}.tmp"
    (folder / name).write_bytes(b"half")
    os.utime(folder / name, (time.time() - age,) * 2)
    return name


@pytest.fixture(scope="module")
def dead():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-S", "-c", ""])
    process.wait()
    return process.pid


def save(folder):
    ms.save_checkpoint({"x": Tensor(np.zeros(3))}, folder / "x.ckpt")
    return set(os.listdir(folder)) - {"x.ckpt"}


def test_files_of_dead_writers_are_removed(tmp_path, dead):
    left_by(tmp_path, dead)
    assert save(tmp_path) == set()


def test_files_of_living_writers_stay_however_old_they_are(tmp_path):
    own = left_by(tmp_path, os.getpid(), age=1e7)
    first = left_by(tmp_path, 1, age=1e7)  # a process of another user, mostly
    assert save(tmp_path) == {own, first}


def test_files_of_writers_that_cannot_be_asked_are_removed_when_they_are_old(tmp_path, dead):
    left_by(tmp_path, dead, machine="0" * 8, age=2 * 24 * 3600)
    young = left_by(tmp_path, dead, machine="0" * 8, age=3600)
    older = tmp_path / (".mindgrad-" + "ab" * 8 + ".tmp")  # the name has no process
    older.write_bytes(b"")
    assert save(tmp_path) == {young, older.name}
    os.utime(older, (OLD, OLD))
    assert save(tmp_path) == {young}


def test_nothing_else_is_removed(tmp_path, dead):
    names = {".mindgrad-notes.tmp", ".mindgrad.tmp", "a.tmp", f".mindgrad-x-{dead}-{'0' * 16}.tmp"}
    names |= {f".mindgrad-{replacing._machine()}-{10**30}-{'0' * 16}.tmp"}
    for name in names:
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (OLD, OLD))
    folder = left_by(tmp_path, dead)
    (tmp_path / folder).unlink()
    (tmp_path / folder).mkdir()
    link = left_by(tmp_path, dead)
    (tmp_path / link).unlink()
    (tmp_path / link).symlink_to(tmp_path / "a.tmp")
    assert save(tmp_path) == {*names, folder, link}
