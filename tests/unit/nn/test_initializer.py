"""Initial values: what each class gives, names, seeds, fans and gains, errors."""

import importlib

import numpy as np
import pytest
import scipy

import mindgrad as ms
from mindgrad import Parameter, Tensor, common
from mindgrad.common import initializer as module
from mindgrad.common.initializer import (
    Constant,
    Dirac,
    HeNormal,
    HeUniform,
    Identity,
    Initializer,
    Normal,
    One,
    Orthogonal,
    Sparse,
    TruncatedNormal,
    Uniform,
    VarianceScaling,
    XavierNormal,
    XavierUniform,
    Zero,
    _assignment,
    _calculate_correct_fan,
    _calculate_fan_in_and_fan_out,
    _calculate_gain,
    _register,
    initializer,
)
from tests.tolerances import assert_close

SHAPE = (100, 50, 4)  # fan_in 200, fan_out 400


def uniform(deviation):
    bound = np.sqrt(3) * deviation
    return scipy.stats.uniform(-bound, 2 * bound)


#: functions that give the distributions: scipy.stats takes long to import
RANDOM = [
    (Uniform(), lambda: scipy.stats.uniform(-0.07, 0.14)),
    (Uniform(2.0), lambda: scipy.stats.uniform(-2, 4)),
    (Normal(), lambda: scipy.stats.norm(0, 0.01)),
    (Normal(0.5, 3.0), lambda: scipy.stats.norm(3, 0.5)),
    (TruncatedNormal(), lambda: scipy.stats.truncnorm(-2, 2, 0, 0.01)),
    (TruncatedNormal(0.5, 1.0, -1.0, 3.0), lambda: scipy.stats.truncnorm(-1, 3, 1.0, 0.5)),
    (TruncatedNormal(2.0, 0.0, 4.0, 5.0), lambda: scipy.stats.truncnorm(4, 5, 0, 2.0)),
    (TruncatedNormal(1.0, 0.0, 3.0, np.inf), lambda: scipy.stats.truncnorm(3, np.inf)),
    (TruncatedNormal(1.0, 0.0, -1e6, -1.0), lambda: scipy.stats.truncnorm(-np.inf, -1)),
    (XavierUniform(), lambda: uniform(np.sqrt(2 / 600))),
    (XavierUniform(3.0), lambda: uniform(3 * np.sqrt(2 / 600))),
    (XavierNormal(), lambda: scipy.stats.norm(0, np.sqrt(2 / 600))),
    (HeUniform(), lambda: uniform(np.sqrt(2 / 200))),
    (HeUniform(np.sqrt(5)), lambda: uniform(np.sqrt(2 / 6 / 200))),
    (HeUniform(mode="fan_out", nonlinearity="tanh"), lambda: uniform(5 / 3 / np.sqrt(400))),
    (HeNormal(), lambda: scipy.stats.norm(0, np.sqrt(2 / 200))),
    (HeNormal(mode="fan_out", nonlinearity="relu"), lambda: scipy.stats.norm(0, np.sqrt(2 / 400))),
    (
        VarianceScaling(),
        lambda: scipy.stats.truncnorm(-2, 2, 0, np.sqrt(1 / 200) / scipy.stats.truncnorm(-2, 2).std()),
    ),
    (VarianceScaling(2.0, "fan_out", "untruncated_normal"), lambda: scipy.stats.norm(0, np.sqrt(2 / 400))),
    (VarianceScaling(3.0, "fan_avg", "uniform"), lambda: uniform(np.sqrt(3 / 300))),
]


@pytest.mark.parametrize(("init", "distribution"), RANDOM, ids=[repr(init) for init, _ in RANDOM])
def test_random_values(init, distribution):
    ms.set_seed(1)
    distribution = distribution()
    values = initializer(init, SHAPE, ms.float64).asnumpy().reshape(-1)
    assert scipy.stats.kstest(values, distribution.cdf).pvalue > 1e-3
    assert abs(values.std() / distribution.std() - 1) < 0.02
    assert abs(values.mean() - distribution.mean()) < 4 * distribution.std() / np.sqrt(values.size)


def test_seeded_by_both_seeds():
    ms.set_seed(5)
    first, second = initializer("normal", (4,)), initializer("normal", (4,))
    assert (first != second).all()
    ms.set_seed(5)
    assert (initializer("normal", (4,)) == first).all()
    np.random.seed(5)  # noqa: NPY002 - programs seed it themselves
    assert (initializer("normal", (4,)) == first).all()


NAMES = {
    "zeros": Zero, "zero": Zero, "ones": One, "one": One, "normal": Normal, "Normal": Normal,
    "uniform": Uniform, "truncatedNormal": TruncatedNormal, "TruncatedNormal": TruncatedNormal,
    "xavier_uniform": XavierUniform, "XavierUniform": XavierUniform, "xavier_normal": XavierNormal,
    "he_uniform": HeUniform, "he_normal": HeNormal, "HeNormal": HeNormal, "identity": Identity,
    "orthogonal": Orthogonal, "variance_scaling": VarianceScaling,
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    ms.set_seed(3)
    by_name = initializer(name, (6, 4))
    ms.set_seed(3)
    by_class = initializer(NAMES[name](), [6, 4])
    assert by_name.dtype is ms.float32
    assert (by_name == by_class).all()


def test_dirac_by_name():
    assert initializer("dirac", (2, 2, 3)).sum().item() == 2


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.float64], ids=str)
def test_element_types(dtype):
    for init in ("normal", "zeros", XavierUniform(), 3.0):
        found = initializer(init, (3, 2), dtype)
        assert found.dtype is dtype
        assert np.isfinite(found.astype(ms.float64).asnumpy()).all()


def test_fixed_values():
    assert (initializer(0.5, 3).asnumpy() == [0.5] * 3).all()
    assert (initializer(Constant(np.arange(3.0)), 3).asnumpy() == [0, 1, 2]).all()
    assert initializer("ones", ()).asnumpy() == 1
    assert initializer("ones", [], ms.int32).dtype is ms.int32
    assert initializer(2, (2,), ms.int64).tolist() == [2, 2]
    given = Tensor([1.0, 2.0])
    assert initializer(given) is given
    assert initializer(given, (2,)) is given
    assert initializer("zeros", (0, 3)).shape == (0, 3)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (3, 2, 4)])
def test_orthogonal(shape):
    ms.set_seed(1)
    q = initializer(Orthogonal(2.0), shape, ms.float64).asnumpy().reshape(shape[0], -1) / 2
    small = q @ q.T if q.shape[0] <= q.shape[1] else q.T @ q
    assert_close(small, np.eye(len(small)), kind="program")


def test_orthogonal_matrices_turn_either_way():
    ms.set_seed(1)
    signs = [np.sign(np.linalg.det(initializer(Orthogonal(), (3, 3)).asnumpy())) for _ in range(60)]
    assert 15 < signs.count(1.0) < 45


def test_sparse():
    ms.set_seed(1)
    actual = initializer(Sparse(0.25, 2.0), (10, 400)).asnumpy()
    assert ((actual == 0).sum(0) == 3).all()
    assert abs(actual[actual != 0].std() - 2) < 0.1
    # every row has its share of zeros
    assert np.abs((actual == 0).mean(1) - 0.3).max() < 0.12
    assert (initializer(Sparse(1.0), (3, 2)) == 0).all()


def test_identity_and_dirac():
    assert (initializer(Identity(), (2, 3)).asnumpy() == np.eye(2, 3)).all()
    kernel = initializer(Dirac(groups=2), (4, 2, 3, 3)).asnumpy()
    expected = np.zeros((4, 2, 3, 3))
    for k in range(4):
        expected[k, k % 2, 1, 1] = 1
    assert (kernel == expected).all()


def test_classes_of_users():
    @_register("my_ramp")
    class Ramp(Initializer):
        def __init__(self, start):
            super().__init__(start=start)
            self.start = start

        def _initialize(self, arr):
            _assignment(arr, self.start + np.arange(arr.size).reshape(arr.shape))

    assert initializer(Ramp(2), (2, 2)).tolist() == [[2, 3], [4, 5]]
    assert repr(Ramp(2)) == "Ramp(start=2)"
    assert Tensor(shape=(2,), dtype=ms.float32, init=Ramp(1)).tolist() == [1, 2]
    with pytest.raises(ValueError, match="'Ramp' needs arguments"):
        initializer("MyRamp", (2,))


def test_values_are_there_at_once():
    ms.set_seed(1)
    actual = initializer("normal", (2, 3))
    assert actual.init_data() is actual
    weight = Parameter(actual, name="weight")
    assert weight.init_data() is weight
    assert (weight == actual).all()
    weight.set_data(initializer(One(), weight.shape, weight.dtype))
    assert (weight == 1).all()


def test_clones_of_parameters_with_other_values():
    weight = Parameter(initializer("ones", (2, 3)), name="weight")
    assert (weight.clone() == 1).all()
    assert (weight.clone("zeros") == 0).all()
    assert (weight.clone(5) == 5).all()
    assert weight.clone(HeUniform()).shape == (2, 3)
    assert (weight.clone(Tensor(np.full((2, 3), 4.0, np.float32))) == 4).all()
    with pytest.raises(ValueError, match="unknown initializer 'other'"):
        weight.clone("other")


def test_fans_and_gains():
    assert _calculate_fan_in_and_fan_out((8, 4)) == (4, 8)
    assert _calculate_fan_in_and_fan_out((8, 4, 3, 5)) == (60, 120)
    assert _calculate_correct_fan((8, 4), "fan_out") == 8
    for name, gain in {"linear": 1, "conv2d": 1, "sigmoid": 1, "tanh": 5 / 3, "relu": 2**0.5}.items():
        assert_close(_calculate_gain(name), gain, kind="program")
    assert_close(_calculate_gain("leaky_relu", 1), 1, kind="program")
    assert_close(_calculate_gain("leaky_relu"), (2 / (1 + 1e-4)) ** 0.5, kind="program")


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: initializer("nomral", (2,)), ValueError, "unknown initializer 'nomral'; known names are"),
        (lambda: initializer("constant", (2,)), ValueError, "'Constant' needs arguments"),
        (lambda: initializer(None, (2,)), TypeError, "the type of the 'init' argument"),
        (lambda: initializer("ones", (2, -1)), ValueError, "must not be negative"),
        (lambda: initializer("ones", (2, 1.0)), TypeError, "'shape' must be an int or a tuple"),
        (lambda: initializer("ones"), TypeError, "'shape' must be an int or a tuple"),
        (lambda: initializer(Tensor([1.0]), (2,)), ValueError, "differs from the shape of the Tensor"),
        (
            lambda: initializer("he_uniform", (3,)),
            ValueError,
            "fewer than 2 dimensions, but got dimensions 1",
        ),
        (lambda: initializer("xavier_normal", ()), ValueError, "fewer than 2 dimensions"),
        (lambda: initializer(HeNormal(mode="fan"), (2, 2)), ValueError, "please use one of 'fan_in'"),
        (lambda: initializer(HeNormal(nonlinearity="x"), (2, 2)), ValueError, "nonlinearity 'x' is not"),
        (lambda: initializer("identity", (2,)), ValueError, "must have two axes"),
        (lambda: initializer("dirac", (2, 2)), ValueError, "3, 4 or 5 axes"),
        (lambda: initializer(Dirac(3), (4, 2, 1)), ValueError, "must divide"),
        (lambda: initializer("orthogonal", (2,)), ValueError, "at least two axes"),
        (lambda: Sparse(1.5), ValueError, "between 0 and 1"),
        (lambda: TruncatedNormal(a=2.0, b=1.0), ValueError, "'a' must be below 'b'"),
        (lambda: VarianceScaling(scale=0), ValueError, "'scale' must be positive"),
        (lambda: VarianceScaling(mode="x"), ValueError, "'mode' must be one of fan_in"),
        (lambda: VarianceScaling(distribution="x"), ValueError, "'distribution' must be one of"),
        (lambda: Normal("a"), TypeError, "'Normal', the 'sigma' must be a number"),
        (lambda: initializer(Initializer(), (2,)), NotImplementedError, "must define '_initialize"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_random_values_cannot_be_compiled_into_a_program():
    @ms.jit
    def made(x):
        return x + initializer("normal", (2,))

    with pytest.raises(ms.CompileError, match="drawn once, at compile time"):
        made(Tensor([1.0, 2.0]))
    assert ms.jit(lambda x: x + initializer("ones", (2,)))(Tensor([1.0, 2.0])).tolist() == [2, 3]


def test_modules_that_programs_import():
    for name in ("tensor", "parameter", "api", "seed", "initializer", "dtype"):
        found = importlib.import_module(f"mindgrad.common.{name}")
        assert getattr(common, name) is found
    assert module.initializer is initializer
    for name in ("set_seed", "get_seed", "Parameter", "ParameterTuple", "Tensor", "ms_function", "float32"):
        assert getattr(common, name) is getattr(ms, name)
    assert common.tensor.Tensor is Tensor
    assert common.api.ms_function is ms.ms_function


@pytest.mark.parametrize("half", [Tensor(0.5), Tensor([0.5]), np.array(0.5)])
def test_initializer_numbers_may_be_tensors_of_one_element(half):
    kinds = [
        Uniform(half), Normal(half, half), TruncatedNormal(half, half), XavierUniform(half), XavierNormal(half),
        HeUniform(half), HeNormal(half), VarianceScaling(half), Orthogonal(half), Sparse(half, half), Constant(half),
    ]  # fmt: skip
    for kind in kinds:
        assert np.isfinite(initializer(kind, (4, 4)).init_data().asnumpy()).all()
    ms.set_seed(3)
    drawn = initializer(Uniform(half), (2, 3)).init_data().asnumpy()
    ms.set_seed(3)
    np.testing.assert_array_equal(drawn, initializer(Uniform(0.5), (2, 3)).init_data().asnumpy())
    with pytest.raises(TypeError, match="'scale' must be a number"):
        Uniform(Tensor([1.0, 2.0]))
