"""Behaviours that the examples of MindSpore's documentation show."""

import numpy as np
import pytest

import mindgrad as ms
import mindgrad.numpy as mnp
from mindgrad import Tensor, nn, ops
from tests.tolerances import assert_close


def test_cells_are_printed_with_round_brackets():
    assert repr(nn.CellList([nn.ReLU()])) == "CellList(\n  (0): ReLU()\n)"

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.inner = nn.SequentialCell(nn.ReLU())

        def extend_repr(self):
            return "k=1"

    assert repr(Net()) == "Net(\n  k=1\n  (inner): SequentialCell(\n    (0): ReLU()\n  )\n)"


def test_a_cell_is_found_by_its_path():
    net = nn.SequentialCell(nn.SequentialCell(nn.ReLU(), nn.Dense(2, 3)))
    assert net.get_sub_cell("0.1") is net[0][1]
    assert net.get_sub_cell("") is net
    with pytest.raises(
        AttributeError, match=r"SequentialCell has no Cell '5', which is part of the path '0\.5'"
    ):
        net.get_sub_cell("0.5")


def test_bool_is_an_element_type():
    assert ms.bool is ms.bool_
    assert ms.dtype.bool is ms.bool_
    assert ops.ones(2, ms.bool).dtype is ms.bool_
    with pytest.raises(AttributeError):
        ms.dtype.bools  # noqa: B018


def test_second_names_of_arguments_of_methods():
    x = Tensor([[5.0, 7.0]])
    assert x.remainder(divisor=4).asnumpy().tolist() == [[1.0, 3.0]]
    assert x.expand_as(x=ops.ones((2, 2))).shape == (2, 2)
    assert x.index_add(indices=Tensor([0]), y=Tensor([[1.0]]), axis=1).asnumpy().tolist() == [[6.0, 7.0]]


def test_largest_and_least_of_segments_of_integers():
    x, segments = Tensor([1, 5, 3]), Tensor([0, 1, 1])
    assert ops.unsorted_segment_max(x, segments, 3).asnumpy().tolist()[:2] == [1, 5]
    assert ops.unsorted_segment_min(x, segments, 2).asnumpy().tolist() == [1, 3]


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_an_embedding_is_zero_outside_of_its_table(mode):
    ms.set_context(mode=mode)
    table = Tensor([[1.0, 2.0], [3.0, 4.0]])

    class Net(nn.Cell):
        def construct(self, table):
            return ops.EmbeddingLookup()(table, Tensor([[3, 4], [5, 6]]), 4)

    assert Net()(table).asnumpy().tolist() == [[[0, 0], [1, 2]], [[3, 4], [0, 0]]]
    gradient = ms.grad(lambda table: Net()(table).sum())(table)
    assert gradient.asnumpy().tolist() == [[1, 1], [1, 1]]


def test_running_logsumexp_from_the_end_and_before_each_element():
    x = np.array([1.0, 2.0, 3.0], np.float32)
    forward = np.logaddexp.accumulate(x)
    backward = np.logaddexp.accumulate(x[::-1])[::-1]
    least = np.finfo(np.float32).min
    expected = {
        (False, False): forward,
        (False, True): backward,
        (True, False): [least, *forward[:-1]],
        (True, True): [*backward[1:], least],
    }
    for (exclusive, reverse), values in expected.items():
        result = ops.CumulativeLogsumexp(exclusive, reverse)(Tensor(x), 0)
        assert_close(result, values)


def test_huber_loss_broadcasts():
    prediction, target = Tensor([1.0, 2.0, 3.0]), Tensor([[1.0, 1.0, 1.0], [1.0, 2.0, 2.0]])
    loss = nn.HuberLoss("none")(prediction, target)
    assert loss.asnumpy().tolist() == [[0.0, 0.5, 1.5], [0.0, 0.0, 0.5]]
    with pytest.raises(ValueError, match="SmoothL1Loss"):
        ops.smooth_l1_loss(prediction, target)


def test_a_condition_of_numbers_holds_where_they_are_not_zero():
    assert mnp.where(Tensor([0, 2]), 1.0, Tensor([3.0, 4.0])).asnumpy().tolist() == [3.0, 1.0]


def test_a_buffer_becomes_a_tensor():
    assert ms.frombuffer(bytearray(b"\x01\x00\x02\x00\x03\x00"), ms.int16, 2, 2).asnumpy().tolist() == [2, 3]
    with pytest.raises(ValueError, match="buffer"):
        ms.frombuffer(b"abc", ms.int16)


def test_types_of_python_objects_by_name():
    assert ms.get_py_obj_dtype(1) is ms.int64
