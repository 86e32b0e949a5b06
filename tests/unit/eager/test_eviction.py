"""Eviction of programs: their use in one thread while another keeps a new one."""

import sys
import threading

import pytest

from mindgrad.eager import eviction

pytestmark = pytest.mark.xla


class Structure:
    def __len__(self):
        return 1

    def changed(self):
        raise AssertionError("no program is evicted: they are far below the bound")


@pytest.fixture
def busy_threads():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_programs_are_used_in_one_thread_and_kept_in_another(busy_threads):
    structures = [Structure() for _ in range(200)]
    for structure in structures:
        eviction.keep(structure, ())
    is_done = threading.Event()

    def use():
        while not is_done.is_set():
            for structure in structures:
                eviction.used(structure)

    thread = threading.Thread(target=use)
    thread.start()
    try:
        for _ in range(200):
            eviction.keep(structures[3], ())
    finally:
        is_done.set()
        thread.join()
