"""Agreement: differing programs are errors that name the first difference, not waits without end."""

import json

import pytest

from mindgrad.communication.agreement import Agreement, _divided, collectives_of
from mindgrad.communication.call_order import CallOrder
from mindgrad.core.ir.build import Builder, building
from mindgrad.core.ir.dtype import float32
from mindgrad.core.ir.types import tensor_type
from mindgrad.core.primitives.elementwise import sin, tanh
from mindgrad.distributed.collectives import all_gather, all_max, all_reduce, rank_mask


class OtherRanks:
    """A store in which the other ranks have what a test says."""

    rank, size = 0, 2

    def __init__(self, *others):
        self.others, self.exchanges = others, []

    def exchange(self, key, value, ranks, timeout):
        self.exchanges.append((key, tuple(ranks)))
        if not self.others:
            raise RuntimeError("rank 1 did not come within 1 s.")
        return [value, *[value if other is None else listed(other) for other in self.others]]


def listed(graph):
    order, described = zip(*collectives_of(graph), strict=True)
    return json.dumps([order[0], described]).encode()


def agreement(*others, **options):
    store = OtherRanks(*others)
    return Agreement(store, CallOrder(store), **options), store


def program(*calls):
    builder = Builder()
    with building(builder):
        x = builder.input(tensor_type(float32, (4,)))
        for row, parameters in calls:
            x = row(x, **parameters)
        return builder.close([x])


SUM, LARGEST = (all_reduce, {"ranks": (0, 1)}), (all_max, {"ranks": (0, 1)})
JOIN = (all_gather, {"axis": 0, "ranks": (0, 1)})


def test_equal_programs_agree_once():
    agree, store = agreement(None)
    agree(program(SUM, LARGEST))
    agree(program(SUM, LARGEST))
    assert store.exchanges == [("the program of ranks 0, 1", (0, 1))]
    agree(program(LARGEST, SUM))
    assert len(store.exchanges) == 2


def test_the_first_difference_is_named():
    agree, _ = agreement(program(SUM, JOIN))
    with pytest.raises(RuntimeError) as caught:
        agree(program(SUM, LARGEST))
    text = str(caught.value)
    assert "the programs of ranks 0 and 1 differ: collective 2 is all_max(Float32[4]) on rank 0" in text
    assert "but all_gather(Float32[4], axis=0) on rank 1" in text


def test_a_collective_less_is_a_difference():
    agree, _ = agreement(program(SUM))
    with pytest.raises(
        RuntimeError, match=r"collective 2 is all_max.* on rank 0, but nothing more on rank 1"
    ):
        agree(program(SUM, LARGEST))


def test_who_does_not_come_is_named():
    agree, _ = agreement(timeout=1.0)
    with pytest.raises(
        RuntimeError, match=r"first all_reduce\(Float32\[4\]\).*rank 1 did not come within 1 s"
    ):
        agree(program(SUM, LARGEST))


def test_groups_agree_in_one_order_and_masks_send_nothing():
    agree, store = agreement(None)
    mask = (rank_mask, {"root": 0, "ranks": (0, 3)})
    agree(program((all_max, {"ranks": (0, 2)}), SUM, mask))
    assert [ranks for _, ranks in store.exchanges] == [(0, 1), (0, 2)]


def test_the_members_of_a_group_have_one_order():
    turned = all_reduce, {"ranks": (1, 0)}
    agree, store = agreement(program(SUM))
    with pytest.raises(RuntimeError, match=r"are \[1, 0\] on rank 0, but \[0, 1\] on rank 1: all ranks must"):
        agree(program(turned))
    assert store.exchanges == [("the program of ranks 0, 1", (0, 1))]  # which both come to


def test_operators_of_divided_programs_are_compared():
    agree, store = agreement()
    for rows, text in (((tanh, tanh), "one is a divided program of 1 .*but a divided program of 2"),
                       ((sin,), r"operator 1 is tanh\(Float32\[4\]\) on rank 0, but sin\(")):  # fmt: skip
        content = json.dumps([(0, 1), _divided(applied(*rows))]).encode()
        store.exchange = lambda key, value, ranks, timeout, content=content: [value, content]
        with pytest.raises(RuntimeError, match=text):
            agree(applied(tanh))


def applied(*rows):
    builder = Builder()
    with building(builder):
        y = builder.input(tensor_type(float32, (4,)))
        for row in rows:
            y = row(y)
        return builder.close([y])
