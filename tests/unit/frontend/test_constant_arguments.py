"""Tensors that compiled functions take as constants."""

import gc

import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from mindgrad.core.ir import constant_arguments


@pytest.fixture(autouse=True)
def restore_mode():
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


def test_the_value_is_known_while_compiling_and_selects_the_program():
    @ms.jit
    def repeated(x, count):
        return ops.concat([x] * int(count))

    x = Tensor([1.0])
    for count in (2, 3, 2):
        assert repeated(x, Tensor(count, const_arg=True)).shape == (count,)
        assert repeated(x, count=ms.tensor(count, const_arg=True)).shape == (count,)
    with pytest.raises(ms.CompileError, match="reads the value of a tensor"):
        repeated(x, Tensor(2))
    marked = Tensor(4).set_const_arg()
    assert repeated(x, marked).shape == (4,)
    assert marked.set_const_arg(False) is marked
    with pytest.raises(ms.CompileError, match="reads the value of a tensor"):
        repeated(x, marked)


def test_a_constant_is_left_out_of_gradients_in_graph_mode_only():
    product = lambda x, y: x * y
    x, y = Tensor([2.0]), Tensor([3.0], const_arg=True)
    both = ops.GradOperation(get_all=True)
    assert [g.asnumpy().tolist() for g in both(product)(x, y)] == [[3.0], [2.0]]
    ms.set_context(mode=ms.GRAPH_MODE)
    assert [g.asnumpy().tolist() for g in both(product)(x, y)] == [[3.0]]
    with pytest.warns(UserWarning, match="with const_arg=True, which is a constant"):
        assert ms.grad(product, 1)(x, y) == ()


def test_marks():
    assert Tensor([1.0], const_arg=True).const_arg
    assert not Tensor([1.0]).const_arg
    with pytest.raises(TypeError, match="'const_arg' should be 'bool', but got int"):
        Tensor([1.0], const_arg=3)
    gc.collect()
    before = len(constant_arguments._MARKED)
    tensor = Tensor([1.0], const_arg=True)
    assert len(constant_arguments._MARKED) == before + 1
    del tensor
    gc.collect()
    assert len(constant_arguments._MARKED) == before


def test_mutable_gives_a_tensor_without_the_mark():
    constant = Tensor([2.0], const_arg=True)
    data = ms.mutable(constant)
    assert constant.const_arg
    assert not data.const_arg
    gradient = ms.jit(lambda x: ops.GradOperation()(lambda x: x * x)(x))
    assert gradient(data).asnumpy() == 4.0
    constant.set_const_arg(False)
    assert gradient(constant).asnumpy() == 4.0
