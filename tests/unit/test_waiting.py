"""Waiting for results asks for them in this thread while no other thread of Python could go on meanwhile."""

import threading
from functools import partial

from mindgrad._base import waiting


class Array:
    """A result that is computed after it has been asked for some times, or when a thread waits for it."""

    def __init__(self, asks):
        self.asks, self.waiters = asks, []

    def is_ready(self):
        self.asks -= 1
        return self.asks < 0

    def block_until_ready(self):
        self.waiters.append(threading.current_thread().name)


def test_a_result_is_asked_for_longer_where_no_other_thread_could_run(monkeypatch):
    monkeypatch.setattr(waiting, "_SECONDS_OF_ASKING", 0.0)
    monkeypatch.setattr(waiting, "_SECONDS_ALONE", 60.0)
    for others, waiters in ((0, []), (1, [waiting.WORKER])):
        monkeypatch.setattr(threading, "active_count", partial(int, 1 + len(waiting._idle) + others))
        array = Array(asks=1000)
        assert waiting.computed(array) is array
        assert array.waiters == waiters


def test_a_thread_waits_for_a_result_that_takes_long(monkeypatch):
    monkeypatch.setattr(waiting, "_SECONDS_ALONE", 0.0)
    monkeypatch.setattr(threading, "active_count", lambda: 1 + len(waiting._idle))
    array = Array(asks=10**9)
    assert waiting.computed(array) is array
    assert array.waiters == [waiting.WORKER]
