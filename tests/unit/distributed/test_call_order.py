"""The order of calls: ranks that call different programs are told which, whenever their records were written."""

import pytest

from mindgrad.communication.board import Board
from mindgrad.communication.call_order import CallOrder, Record

WORLD, PAIR = (0, 1, 2), (0, 1)
TITLES = {1: "a sum at net.py:3", 2: "a maximum at net.py:5"}


class Link:
    """A rank's way to the board."""

    def __init__(self, board, rank):
        self.board, self.rank = board, rank
        self.set, self.get = board.set, board.get


@pytest.fixture
def orders():
    board = Board(3)
    return [CallOrder(Link(board, rank)) for rank in range(3)]


def call(order, *calls):
    for ranks, number in calls:
        order.noting([(ranks, number, TITLES[number])])()


def compared(orders):
    """Two looks of each rank, of which the second one finds all records."""
    for order in orders:
        order.compared()
    return [order.compared() for order in orders]


def test_ranks_that_are_not_equally_far_do_not_differ(orders):
    calls = [(WORLD, 1), (PAIR, 2), (WORLD, 2), (WORLD, 1)] * 30
    for rank, length in ((0, 120), (1, 47), (2, 2)):
        call(orders[rank], *[step for step in calls[:length] if rank in step[0]])
    assert compared(orders) == [""] * 3
    call(orders[1], *calls[47:50])
    assert compared(orders) == [""] * 3


def test_the_first_call_that_differs_is_named(orders):
    for order in orders:
        call(order, *[(WORLD, 1)] * 5000, (WORLD, 2))
    call(orders[0], (WORLD, 2), (WORLD, 1))
    call(orders[1], (WORLD, 1), (WORLD, 1))
    text = compared(orders)[1]
    assert text.startswith(
        "called a different program from rank 0: call 5002 over ranks 0, 1 and 2 was a sum at net.py:3, but "
        "a maximum "
        "at net.py:5 on rank 0. Every rank must run"
    )


def test_a_difference_is_seen_when_the_ranks_have_gone_on(orders):
    call(orders[0], (PAIR, 1), *[(PAIR, 2)] * 40)
    call(orders[1], (PAIR, 2), *[(PAIR, 2)] * 90)
    assert "called a different program from rank 0" in compared(orders[:2])[1]


def test_two_groups_in_another_order(orders):
    call(orders[0], (WORLD, 1))
    call(orders[1], (PAIR, 2))
    assert compared(orders)[1].startswith(
        "called a maximum at net.py:5 over ranks 0 and 1 before it came to a sum at net.py:3 over ranks 0, "
        "1 and 2, "
        "which rank 0 called first."
    )


@pytest.mark.parametrize(
    ("calls", "told"),
    [
        ((PAIR, 2), "has called a maximum at net.py:5 over ranks 0 and 1"),
        ((WORLD, 2), "has called a maximum at net.py:5 over ranks 0, 1 and 2"),
        ((PAIR, 1), ""),  # rank 0 has not read yet that they agree
    ],
)
def test_who_waits_for_an_agreement_that_the_other_has_passed(orders, calls, told):
    first, second = orders[:2]
    with first.awaiting(PAIR, 1, TITLES[1]):
        call(second, calls)
        first.compared()
        assert second.compared() == ""  # it has not waited for long
        first.compared()
        assert second.compared() == "", "may have ended since it was told"
        first.compared()
        text = second.compared()
        if told:
            assert text.startswith(
                f"{told}, where rank 0 waits in a sum at net.py:3 over ranks 0 and 1. Every rank"
            )
        else:
            assert text == ""
    first.compared()
    assert second.compared() == ""


def test_two_agreements_that_wait_for_each_other(orders):
    first, second = orders[:2]
    with first.awaiting(PAIR, 1, TITLES[1]), second.awaiting(WORLD, 2, TITLES[2]):
        texts = [(first.compared(), second.compared()) for _ in range(4)]
        assert "waits in a maximum" in texts[-1][1]
        assert "where rank 0 waits in a sum" in texts[-1][1]


def test_a_record_is_read_as_it_was_written(orders):
    call(orders[0], (PAIR, 2), (WORLD, 1))
    record = orders[0].publish()
    assert Record.decoded(record.encoded()) == record
