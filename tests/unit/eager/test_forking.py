"""Forked processes draw random numbers of their own, the same ones in every run."""

import multiprocessing
import os
import warnings

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, mint, nn, ops

pytestmark = [pytest.mark.xla, pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")]


def forked(function):
    """What ``function()`` gives in a forked process."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a process with threads: jax's and Python's
        child = os.fork()
    if child == 0:
        try:
            sender.send(function())
        except BaseException as error:
            sender.send(error)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    result = receiver.recv()
    if isinstance(result, BaseException):
        raise result
    return result


def drawn():
    net = nn.Dropout(p=0.5).set_train()
    return (*ops.rand(3).asnumpy().tolist(), *net(Tensor(np.ones(40, np.float32))).asnumpy().tolist())


@pytest.fixture
def seeded():
    ms.set_seed(5)
    yield
    ms.set_seed(0)


def test_workers_draw_different_numbers_and_the_parent_goes_on(seeded):
    expected = drawn()
    ms.set_seed(5)
    workers = [forked(drawn) for _ in range(3)]
    assert drawn() == expected, "the parent draws as if there were no workers"
    assert len({expected, *workers}) == 4
    assert len({each[3:] for each in [expected, *workers]}) == 4, "dropout"
    ms.set_seed(5)
    assert [forked(drawn) for _ in range(3)] == workers, "the same in every run"


def test_a_worker_forks_again(seeded):
    def both():
        return drawn(), forked(drawn)

    child, grandchild = forked(both)
    sibling = forked(drawn)
    assert len({child, grandchild, sibling, drawn()}) == 4


def test_generators_and_operators_with_seeds_too(seeded):
    generator = ms.Generator().manual_seed(7)

    def both():
        first = mint.rand(3, generator=generator).asnumpy().tolist()
        return (*first, *ops.standard_normal((3,), seed=3).asnumpy().tolist())

    children = [forked(both), forked(both)]
    parent = both()
    for part in (slice(0, 3), slice(3, 6)):
        assert len({each[part] for each in [*children, parent]}) == 3


def test_a_worker_that_sets_a_seed_draws_what_every_process_draws_from_it(seeded):
    def again():
        ms.set_seed(5)
        return drawn()

    assert forked(again) == drawn()


def test_a_state_on_the_device(seeded):
    draw = ms.jit(lambda: ops.rand(3))
    draw()
    assert forked(drawn) != forked(drawn)
    after = draw().asnumpy().tolist()
    ms.set_seed(5)
    draw()
    assert draw().asnumpy().tolist() == after


def test_compiled_functions_are_refused_instead_of_waiting_for_ever():
    x = Tensor(np.ones((2, 2)))
    known, new = ms.jit(lambda x: x @ x), ms.jit(lambda x: x @ x + 1.0)
    second = ms.ops.grad(lambda x: (x * x).sum())
    result = known(x)
    for function in (known, new):
        with pytest.raises(RuntimeError, match="XLA's threads are not forked"):
            forked(lambda function=function: function(x).asnumpy())
    assert forked(lambda: ((result + 1.0) @ x).asnumpy().tolist()) == [[6.0, 6.0], [6.0, 6.0]]
    assert forked(lambda: second(x).asnumpy().tolist()) == [[2.0, 2.0], [2.0, 2.0]]
    assert known(x).asnumpy().tolist() == result.asnumpy().tolist(), "the parent goes on"
