"""state_dict, load_state_dict and buffers of Cells: as in MindSpore 2.10, eager and compiled."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn


class Inner(nn.Cell):
    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor([1.0, 2.0]), name="w")
        self.register_buffer("m", Tensor([3.0]))
        self.register_buffer("q", Tensor([4.0]), persistent=False)
        self.register_buffer("z", None)

    def construct(self, x):
        return (x * self.w).sum() * self.m


class Outer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.b = Inner()
        self.d = nn.Dense(2, 1)

    def construct(self, x):
        return self.d(x) + self.b(x)


def test_names_are_paths():
    net = Outer()
    assert list(net.state_dict()) == ["b.w", "b.m", "d.weight", "d.bias"]
    assert list(net.state_dict(prefix="p.")) == ["p.b.w", "p.b.m", "p.d.weight", "p.d.bias"]
    assert [name for name, _ in net.named_buffers()] == ["b.m", "b.q"]
    assert net.get_buffer("b.m") == Tensor([3.0])
    assert len(list(net.b.buffers())) == 2


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_a_state_is_given_and_taken(mode):
    ms.set_context(mode=mode)
    one, two = Outer(), Outer()
    x = Tensor([[1.0, -2.0]])
    two.b.m = Tensor([7.0])
    assert one(x) != two(x)
    assert one.load_state_dict(two.state_dict()) == ([], [])
    np.testing.assert_array_equal(one(x).asnumpy(), two(x).asnumpy())
    assert one.b.m == Tensor([7.0])


def test_parts_of_a_state():
    net = Outer()
    found = net.load_state_dict({"b.w": Tensor([5.0, 6.0]), "x": Tensor([1.0])}, strict=False)
    assert found.missing_keys == ["b.m", "d.weight", "d.bias"]
    assert found.unexpected_keys == ["x"]
    np.testing.assert_array_equal(net.b.w.asnumpy(), [5, 6])


def test_what_does_not_fit_changes_nothing():
    net = Outer()
    with pytest.raises(
        RuntimeError, match=r"missing: b\.m, d\.weight, d\.bias; unexpected: x; 'b\.w' has the shape"
    ):
        net.load_state_dict({"b.w": Tensor([5.0]), "x": Tensor([1.0])})
    with pytest.raises(RuntimeError, match=r"'d\.bias' has the shape \(1,\), but \(2,\) in the state"):
        net.load_state_dict({"b.w": Tensor([5.0, 6.0]), "d.bias": Tensor([1.0, 2.0])}, strict=False)
    np.testing.assert_array_equal(net.b.w.asnumpy(), [1, 2])
    with pytest.raises(TypeError, match="must be a Tensor, but got int"):
        net.load_state_dict({"b.w": 3})
    with pytest.raises(KeyError, match="already has an attribute 'w'"):
        net.b.register_buffer("w", Tensor([1.0]))
    with pytest.raises(TypeError, match="must be None, or a Tensor that is not a Parameter"):
        net.b.register_buffer("p", Parameter(Tensor([1.0]), name="p"))
    with pytest.raises(AttributeError, match=r"Outer has no buffer 'b\.x'"):
        net.get_buffer("b.x")
