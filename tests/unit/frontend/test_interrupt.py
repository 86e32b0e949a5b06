"""Ctrl-C while a compiled program runs: it is answered at once, and everything can be used afterwards."""

import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops
from mindgrad.core.backend.executable import _LongRun
from mindgrad.core.base import waiting
from mindgrad.core.base.waiting import _idle, computed, interruptible, note_long

pytestmark = [
    pytest.mark.xla,
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers"),
]

#: a program that ends after a second, two that never end, and the end of the process
PROGRAM = textwrap.dedent(
    """
    import signal
    import numpy as np
    import mindgrad as ms
    from mindgrad import Parameter, Tensor, ops

    class Interrupted(BaseException):
        pass

    def interrupt(*_):
        raise Interrupted

    signal.signal(signal.SIGALRM, interrupt)

    def interrupted(call, seconds=0.2):
        # again and again: Python ignores an exception that is raised while it runs a finalizer
        signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
        try:
            call()
        except Interrupted as interruption:
            signal.setitimer(signal.ITIMER_REAL, 0)
            return " ".join(getattr(interruption, "__notes__", []))
        raise AssertionError("not interrupted")

    @ms.jit
    def heavy(x):
        for _ in range(60):
            x = ops.matmul(x, x)
        return x

    interrupted(lambda: heavy(Tensor(np.eye(700))))  # while jax is imported
    for _ in range(20):  # the program may end before the interruption is looked at
        y = heavy(Tensor(np.eye(700)))
        interrupted(y.asnumpy, 0.02)
        if not y._array.is_ready():
            break
    else:
        raise AssertionError("the wait for an array is never interrupted before its end")
    assert y.asnumpy().sum() == 700.0
    endless, two = Tensor(2**62, ms.int64), Tensor(2, ms.int64)

    @ms.jit
    def loop(n):
        y, i = ops.ones((2,), ms.float64), n * 0
        while i < n:
            y, i = y * 0.5, i + 1
        return y

    loop._compiled.prepare(endless)  # so that the signal arrives while it runs
    assert "continues in a background thread until it ends" in interrupted(lambda: loop(endless))
    assert loop(two).asnumpy().tolist() == [0.25, 0.25]

    w = Parameter(Tensor(np.ones(3)), name="w")

    class Counter:
        calls = 0

    counter = Counter()

    @ms.jit
    def train(n):
        counter.calls = counter.calls + 1
        i = n * 0
        while i < n:
            w.set_data(w * 0.5 + 0.0 * ops.rand(3).astype(ms.float64))
            i = i + 1
        return w.sum()

    ms.set_seed(3)
    state = ms.get_rng_state().asnumpy().tolist()
    train._compiled.prepare(endless)
    interrupted(lambda: train(endless))
    assert w.asnumpy().tolist() == [1.0, 1.0, 1.0], w
    assert counter.calls == 0
    assert ms.get_rng_state().asnumpy().tolist() == state
    for k in range(3):
        assert train(two).item() == 3 * 0.25 ** (k + 1)
    assert counter.calls == 3

    print("end", flush=True)
    """
)


def test_programs_that_never_end():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr, done.returncode) == ("end\n", "", 0)


def sleeping(event):
    def wait(*_):
        event.wait()
        return [np.zeros(1)]

    return wait


@pytest.fixture
def alarm():
    """A signal whose handler raises TimeoutError."""

    def interrupt(*_):
        raise TimeoutError

    previous = signal.signal(signal.SIGALRM, interrupt)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, previous)


def test_what_is_interrupted_goes_on_and_its_thread_is_used_again(alarm):
    event, ended = threading.Event(), threading.Event()
    # the call itself starts the timer: on a busy machine, an earlier timer ends before the call begins
    with pytest.raises(TimeoutError):
        interruptible(lambda: (alarm(), event.wait(), ended.set(), 1 / 0))
    workers = len(_idle)
    event.set()
    assert ended.wait(20)
    assert interruptible(lambda: threading.current_thread().name) == "mindgrad-waiting"
    while len(_idle) < workers + 1:
        pass
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)
    assert interruptible(lambda x: interruptible(lambda: x + 1), 2) == 3, "within one another"


def test_a_handler_that_returns_does_not_end_the_waiting():
    event = threading.Event()
    previous = signal.signal(signal.SIGALRM, lambda *_: event.set())
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    try:
        assert interruptible(lambda: event.wait(20))
    finally:
        signal.signal(signal.SIGALRM, previous)


def test_only_programs_with_loops_pay_for_it():
    w = Parameter(Tensor(1.0), name="w")

    def scan(x):
        for _ in range(300):
            x = ops.sin(x)
        return x

    def until(x):
        while x < 3.0:
            x = x + w
        return x

    def long(function, x):
        compiled = ms.frontend.programs.compiled.Compiled(function)
        compiled(x)
        ((program,),) = compiled._programs.values()
        return type(program.executable.run) is _LongRun

    x = Tensor(np.ones(()))
    assert not long(lambda x: x * w, x)
    assert not long(scan, x)
    assert long(until, x)


class Running:
    """A result of a program that ends when somebody waits for it; who waited."""

    def __init__(self):
        self.waited_in = ""
        self.is_taken = False

    def is_ready(self):
        return bool(self.waited_in)

    def is_deleted(self):
        return self.is_taken

    def block_until_ready(self):
        self.waited_in = threading.current_thread().name


@pytest.fixture
def nothing_long(monkeypatch):
    monkeypatch.setattr(waiting, "_is_long_unseen", False)
    waiting._long.clear()
    yield
    waiting._long.clear()


def waited_in():
    """The thread in which a new result is waited for."""
    return computed(Running()).waited_in


def test_the_main_thread_waits_where_nothing_takes_long(nothing_long):
    assert waited_in() == "MainThread"
    long = Running()
    note_long([long])
    assert waited_in() == waiting.WORKER
    assert waited_in() == waiting.WORKER, "it is still in work"
    assert computed(long).waited_in == waiting.WORKER
    assert waited_in() == "MainThread"


def test_what_comes_of_a_long_program_is_waited_for_in_another_thread(nothing_long):
    note_long([Running()])  # nobody holds it: what is waited for may be made of it
    assert waited_in() == waiting.WORKER
    assert waited_in() == "MainThread"
    given_away = Running()
    note_long([given_away])
    given_away.is_taken = True
    assert waited_in() == waiting.WORKER
    assert waited_in() == "MainThread"


def test_programs_that_may_take_long_are_noted(nothing_long):
    def noted(function, *arguments):
        ms.jit(function)(*arguments)
        count = len(waiting._long)
        waiting._long.clear()
        return count

    x = Tensor(np.ones((64, 64)))
    assert not noted(lambda x: ops.sin(ops.matmul(x, x)), x)
    assert noted(lambda x: ops.sort(ops.tile(x, (64, 64)).reshape(-1))[0].sum(), x)
    assert noted(lambda x: [x := ops.matmul(x, x) for _ in range(300)][-1], x)
