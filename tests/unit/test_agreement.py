"""Agreement: differing programs are errors that name the first difference, not waits without end."""

import json

import pytest

from mindgrad.communication.agreement import Agreement, collectives_of
from mindgrad.ir.build import Builder, building
from mindgrad.ir.dtype import float32
from mindgrad.ir.types import tensor_type
from mindgrad.rows.collectives import all_gather, all_max, all_reduce, rank_mask


class OtherRanks:
    """A store in which the other ranks have what a test says."""

    rank = 0

    def __init__(self, *others):
        self.others, self.exchanges = others, []

    def exchange(self, key, value, ranks, timeout):
        self.exchanges.append((key, tuple(ranks)))
        if not self.others:
            raise RuntimeError("rank 1 did not come within 1 s.")
        others = [
            value if other is None else json.dumps(list(collectives(other))).encode() for other in self.others
        ]
        return [value, *others]


def collectives(graph):
    return [described for _, described in collectives_of(graph)]


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
    store = OtherRanks(None)
    agree = Agreement(store)
    agree(program(SUM, LARGEST))
    agree(program(SUM, LARGEST))
    assert store.exchanges == [("the program of ranks 0, 1", (0, 1))]
    agree(program(LARGEST, SUM))
    assert len(store.exchanges) == 2


def test_the_first_difference_is_named():
    agree = Agreement(OtherRanks(program(SUM, JOIN)))
    with pytest.raises(RuntimeError) as caught:
        agree(program(SUM, LARGEST))
    text = str(caught.value)
    assert "the programs of ranks 0 and 1 differ: collective 2 is all_max(Float32[4]) on rank 0" in text
    assert "but all_gather(Float32[4], axis=0) on rank 1" in text


def test_a_collective_less_is_a_difference():
    agree = Agreement(OtherRanks(program(SUM)))
    with pytest.raises(
        RuntimeError, match=r"collective 2 is all_max.* on rank 0, but nothing more on rank 1"
    ):
        agree(program(SUM, LARGEST))


def test_who_does_not_come_is_named():
    agree = Agreement(OtherRanks(), timeout=1.0)
    with pytest.raises(
        RuntimeError, match=r"first all_reduce\(Float32\[4\]\).*rank 1 did not come within 1 s"
    ):
        agree(program(SUM, LARGEST))


def test_groups_agree_in_one_order_and_masks_send_nothing():
    store = OtherRanks(None)
    mask = (rank_mask, {"root": 0, "ranks": (0, 3)})
    Agreement(store)(program((all_max, {"ranks": (0, 2)}), SUM, mask))
    assert [ranks for _, ranks in store.exchanges] == [(0, 1), (0, 2)]
