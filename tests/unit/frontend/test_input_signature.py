"""``jit(input_signature=…)`` compares the inputs of every call with the declared ones."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops

OPEN = Tensor(shape=[None, 3], dtype=ms.float32)


def ones(*shape, dtype=np.float32):
    return Tensor(np.ones(shape, dtype))


def test_jit_with_open_sizes_accepts_every_size():
    f = ms.jit(lambda x: x.sum(0), input_signature=OPEN)
    for n in (1, 2, 5):
        assert f(ones(n, 3)).asnumpy().tolist() == [n] * 3
    assert f.cache_info().misses == 1
    assert f(np.ones((2, 3), np.float32)).shape == (3,)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            (ones(2, 4),),
            ValueError,
            r"input 0 has shape \(2, 4\), but 'input_signature' declares \(None, 3\)",
        ),
        ((ones(3),), ValueError, r"input 0 has shape \(3,\)"),
        ((ones(2, 3, dtype=np.float16),), TypeError, "input 0 has dtype Float16, but .* declares Float32"),
        ((np.ones((2, 3)),), TypeError, "dtype Float64"),
        ((2.0,), TypeError, "input 0 must be a Tensor, .* but it is a float"),
        ((ones(2, 3), ones(2, 3)), ValueError, "lists 1 inputs, but the call has 2"),
        ((), ValueError, "lists 1 inputs, but the call has 0"),
    ],
)
def test_jit_refuses_inputs_that_differ_from_its_signature(arguments, error, message):
    f = ms.jit(input_signature=OPEN)(lambda *xs: xs[0].sum(0))
    with pytest.raises(error, match=message):
        f(*arguments)
    assert f.cache_info().misses == 0


def test_jit_signature_of_several_inputs_and_structures():
    vector = ones(3)

    @ms.jit(input_signature=(vector, None, [vector, {"a": Tensor(1, ms.int32)}], Tensor(dtype=ms.float32)))
    def f(x, power, others, any_shape):
        return (x**power).sum() + others[0].sum() * others[1]["a"] + any_shape.sum()

    assert f(ones(3), 2, [ones(3), {"a": Tensor(2, ms.int32)}], ones(2, 2, 2)).item() == 17.0
    assert f(ones(3), 3, (ones(3), {"a": Tensor(2, ms.int32)}), ones(1)).item() == 10.0
    with pytest.raises(ValueError, match=r"input 2\[0\] has shape \(4,\)"):
        f(ones(3), 2, [ones(4), {"a": Tensor(2, ms.int32)}], ones(1))
    with pytest.raises(TypeError, match=r"input 2\[1\]\['a'\] has dtype Int64"):
        f(ones(3), 2, [ones(3), {"a": Tensor(2)}], ones(1))
    with pytest.raises(TypeError, match=r"input 2\[1\] must have the structure"):
        f(ones(3), 2, [ones(3), {"b": Tensor(2)}], ones(1))
    with pytest.raises(TypeError, match="inputs must be passed by position"):
        f(ones(3), 2, [ones(3), {"a": Tensor(2, ms.int32)}], any_shape=ones(1))


def test_jit_signature_holds_for_methods_cells_and_gradients():
    class Model:
        @ms.jit(input_signature=OPEN)
        def run(self, x):
            return (x * x).sum()

    model = Model()
    assert model.run(ones(2, 3)).item() == 6.0
    assert ms.grad(model.run)(ones(2, 3)).asnumpy().tolist() == [[2.0] * 3] * 2
    for call in (model.run, ms.grad(model.run), ms.jit(lambda x: model.run(x))):
        with pytest.raises(ValueError, match=r"'jit' of run, input 0 has shape \(2, 4\)"):
            call(ones(2, 4))
    net = ms.jit(nn.Dense(3, 1), input_signature=OPEN)
    assert net(ones(5, 3)).shape == (5, 1)
    with pytest.raises(ValueError, match="'jit' of Dense, input 0"):
        net(ones(5, 3, 1))


def test_jit_refuses_a_signature_without_tensors():
    with pytest.raises(TypeError, match="'input_signature' must contain a Tensor"):
        ms.jit(lambda x: x, input_signature=[None, 3])
    assert ms.jit(ops.sin, input_signature="auto")(Tensor(0.0)).item() == 0.0
