"""SequentialCell and CellList: order, parts, and the names of Parameters in every change."""

from collections import OrderedDict

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops


def scale(number):
    return nn.Dense(1, 1, weight_init=Tensor([[float(number)]]), has_bias=False)


def names(cell):
    return [p.name for p in cell.get_parameters()]


def factors(container):
    return [cell.weight.asnumpy().item() for cell in container]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([scale(2), scale(3)])
        self.layers.append(scale(5))
        self.body = nn.SequentialCell(scale(7), nn.ReLU())
        self.body.append(scale(11))

    def construct(self, x):
        for cell in self.layers[1:]:
            x = cell(x)
        return self.body[:1](x)


def test_names_follow_places_inside_a_net():
    net = Net()
    net.layers.insert(1, scale(13))
    net.layers.extend([scale(17)])
    assert factors(net.layers) == [2, 13, 3, 5, 17]
    expected = [f"layers.{k}.weight" for k in range(5)] + ["body.0.weight", "body.2.weight"]
    assert names(net) == expected
    del net.layers[0]
    assert factors(net.layers) == [13, 3, 5, 17]
    assert names(net.layers) == expected[:4]
    net.layers[-1] = scale(19)
    assert names(net.layers) == expected[:4]
    assert [path for path, _ in net.parameters_and_names()][:4] == expected[:4]


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_parts_hold_the_same_cells_and_rename_nothing(mode):
    ms.set_context(mode=mode)
    net = Net()
    before = names(net)
    for _ in range(2):
        np.testing.assert_array_equal(net(Tensor([[1.0]])).asnumpy(), [[3 * 5 * 7]])
    assert names(net) == before
    part = net.layers[::-1]
    assert isinstance(part, nn.CellList)
    assert factors(part) == [5, 3, 2]
    assert part[0] is net.layers[-1]
    gradients = ms.grad(net, None, net.trainable_params())(Tensor([[1.0]]))
    assert [g.asnumpy().item() for g in gradients] == [0, 35, 21, 15, 0]


def test_how_containers_are_made():
    named = nn.SequentialCell(OrderedDict(first=scale(2), act=nn.ReLU(), last=scale(3)))
    assert names(named) == ["first.weight", "last.weight"]
    assert list(named.name_cells()) == ["first", "act", "last"]
    assert named.act is named[1] is named.cells()[1]
    np.testing.assert_array_equal(named(Tensor([[1.0]])).asnumpy(), [[6.0]])
    cells = [scale(2), scale(3)]
    for made in (
        nn.SequentialCell(cells),
        nn.SequentialCell(*cells),
        nn.CellList(cells),
        nn.CellList(*cells),
    ):
        assert len(made) == 2
        assert list(made) == cells
    assert len(nn.SequentialCell()) == 0
    empty = nn.CellList()
    empty.append(scale(1))
    assert names(empty) == ["0.weight"]
    plain = nn.CellList([scale(1)], auto_prefix=False)
    assert names(plain) == ["weight"]

    class Twice(nn.SequentialCell):
        def __init__(self, factor):
            super().__init__(scale(factor), scale(factor))

    assert len(Twice(3)[:1]) == 1
    np.testing.assert_array_equal(Twice(3)(ops.ones((1, 1))).asnumpy(), [[9.0]])


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        (lambda c: c.append(1), TypeError, "the elements must be Cells, but got int"),
        (lambda c: c.insert(5, nn.ReLU()), IndexError, "index 5 is outside a container of 2 Cells"),
        (lambda c: c[2], IndexError, "index 2 is outside"),
        (lambda c: c["0"], TypeError, "an index must be an int or a slice"),
        (lambda c: c(1), RuntimeError, "Call its Cells"),
    ],
)
def test_refusals(change, error, text):
    with pytest.raises(error, match=text):
        change(nn.CellList([nn.ReLU(), nn.Tanh()]))


def test_cells_by_name():
    class Holder(nn.Cell):
        def __init__(self):
            super().__init__()
            self.parts = nn.CellDict({"first": scale(2), "act": nn.ReLU()})
            self.parts["last"] = scale(3)

        def construct(self, x, key):
            x = self.parts[key](x)
            for cell in self.parts.values():
                x = cell(x)
            return x

    net = Holder()
    assert names(net) == ["parts.first.weight", "parts.last.weight"]
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        np.testing.assert_array_equal(net(ops.ones((1, 1)), "last").asnumpy(), [[18.0]])
    parts = net.parts
    assert ("act" in parts, "x" in parts, len(parts), list(parts)) == (
        True,
        False,
        3,
        ["first", "act", "last"],
    )
    assert parts.pop("first").weight.asnumpy().item() == 2
    parts.update([("act", nn.Tanh())])
    assert [(key, type(cell).__name__) for key, cell in parts.items()] == [("act", "Tanh"), ("last", "Dense")]
    with pytest.raises(KeyError, match=r"'a\.b'"):
        parts["a.b"] = nn.ReLU()
    with pytest.raises(KeyError, match="'training'"):
        parts["training"] = nn.ReLU()
    with pytest.raises(TypeError, match="must be Cells"):
        parts["x"] = 1
    parts.clear()
    assert len(parts) == 0
