"""In-place methods that draw: the tensor stands for the numbers, which no derivative knows."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, ops
from tests.tolerances import assert_close

SHAPE = (100, 50)
#: arguments, the least and the largest possible number, the mean
DRAWS = {
    "normal_": ((2.0, 0.5), -np.inf, np.inf, 2.0),
    "uniform_": ((-1.0, 3.0), -1.0, 3.0, 1.0),
    "exponential_": ((4.0,), 0.0, np.inf, 0.25),
    "bernoulli_": ((0.25,), 0.0, 1.0, 0.25),
    "random_": ((7,), 0.0, 6.0, 3.0),
}


@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.float64])
@pytest.mark.parametrize("name", DRAWS)
def test_the_numbers_of_both_modes(name, dtype):
    arguments, least, largest, mean = DRAWS[name]

    def drawn(x):
        y = x * 1
        assert getattr(y, name)(*arguments) is y
        return y

    x = ops.zeros(SHAPE, dtype)
    results = []
    for function in (drawn, ms.jit(drawn)):
        ms.set_seed(3)
        result = function(x)
        assert result.dtype is dtype
        assert result.shape == SHAPE
        results.append(result.asnumpy())
        assert (function(x).asnumpy() != result.asnumpy()).any()
    assert_close(*results, "program", each=True)
    assert results[0].min() >= least
    assert results[0].max() <= largest
    assert abs(results[0].astype(np.float64).mean() - mean) < 0.1
    gradient = ms.grad(lambda x: (drawn(x) * x).sum())(ops.ones(SHAPE, ms.float32))
    assert ((gradient >= least) & (gradient <= largest)).all()  # the numbers themselves


def test_a_generator_of_its_own_gives_the_same_numbers_again():
    numbers = []
    for _ in range(2):
        generator = ms.Generator()
        generator.manual_seed(5)
        numbers.append(ops.zeros(4).normal_(generator=generator).asnumpy())
    np.testing.assert_array_equal(*numbers)


def test_integers_of_all_forms_of_random():
    x = ops.zeros(200, ms.int32)
    for form, least, largest in [
        (lambda: x.random_(2, 4), 2, 3),
        (lambda: x.random_(2, to=4), 2, 3),
        (lambda: x.random_(from_=2, to=4), 2, 3),
        (lambda: x.random_(3), 0, 2),
    ]:
        form()
        assert (x.asnumpy().min(), x.asnumpy().max()) == (least, largest)
    assert x.random_().max() > 2**28
    assert ops.zeros(200).random_().max() <= 2**24


def test_what_is_refused():
    with pytest.raises(TypeError, match="floating"):
        Tensor([1, 2]).normal_()
    with pytest.raises(ValueError, match="'std' must be at least 0"):
        Tensor([1.0]).normal_(0, -1)
    with pytest.raises(ValueError, match="at least 0"):
        Tensor([1.0]).uniform_(3, 2)
    with pytest.raises(TypeError, match="two bounds"):
        Tensor([1.0]).random_(1, 2, 3)


def test_other_methods_are_their_functions():
    data = np.array([[0.5, -0.25], [0.75, 0.1]], np.float32)
    other = Tensor([[1.0, 2.0], [3.0, 4.0]])
    for name, arguments in {
        "addmm_": (other, other),
        "erfinv_": (),
        "fill_diagonal_": (4.0,),
        "floor_divide_": (0.2,),
        "index_fill_": (0, Tensor([1]), 3.0),
        "masked_scatter_": (Tensor(data) > 0.2, other),
        "remainder_": (0.2,),
        "sign_": (),
    }.items():
        x = Tensor(data)
        getattr(x, name)(*arguments)
        np.testing.assert_array_equal(
            x.asnumpy(), getattr(ops, name[:-1])(Tensor(data), *arguments).asnumpy()
        )
