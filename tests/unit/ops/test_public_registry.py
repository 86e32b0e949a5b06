"""The registry of public names: a name stands once, and what is declared at run time is found everywhere."""

import importlib
import inspect
import math
import pkgutil
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
import scipy.special

import mindgrad as ms
import mindgrad.numpy as mnp
from mindgrad import Tensor, mint, nn, ops
from mindgrad.core.primitives.kinds import elementwise
from mindgrad.core.primitives.samples import reals
from mindgrad.ops import define, forms, layout, methods, operations, registry, shuffling
from tests.public_names import restored
from tests.tolerances import assert_close

GOLDEN = Path(__file__).parents[2] / "golden" / "public_names.txt"
#: modules whose names are not those of ``ops``
INSIDE = {"messages", "operands", "scatter_folds"}


def test_no_name_of_ops_is_defined_twice():
    """A name in two lists of exports is one object, which one of the two modules has from the other."""
    values: dict[str, dict[int, str]] = {}
    for found in pkgutil.iter_modules(ops.__path__):
        module = importlib.import_module(f"mindgrad.ops.{found.name}")
        if not found.ispkg and found.name not in INSIDE and found.name[0] != "_":
            for name in module.__all__:
                values.setdefault(name, {})[id(getattr(module, name))] = found.name
    assert len(values) > 900
    assert {name: list(homes.values()) for name, homes in values.items() if len(homes) > 1} == {}


def test_a_name_stands_for_one_function():
    with restored():
        registry.public("Tensor.of_this_test")(layout.ravel)
        registry.public("Tensor.of_this_test")(layout.ravel)
        with pytest.raises(ValueError, match=r"'Tensor.of_this_test' is declared twice"):
            registry.public("Tensor.of_this_test")(layout.flatten)
    assert not hasattr(Tensor, "of_this_test")


def test_every_form_is_the_name_that_it_declares():
    places = {
        registry.CLASSES: operations, "ops.auto_generate": ops.auto_generate, "Tensor": Tensor, "mint": mint, "mint.linalg": mint.linalg,
        "mint.nn.functional": mint.nn.functional, "numpy": mnp,
    }  # fmt: skip
    for path, place in places.items():
        declared = registry.surface_forms(path)
        assert len(declared) > 4
        assert [name for name in declared if not callable(getattr(place, name, None))] == []
        assert all(inspect.getdoc(getattr(place, name)) for name in declared)


def test_an_operator_that_comes_at_run_time_has_all_its_names():
    x, expected = Tensor([0.5, -1.0]), scipy.special.erfcx(np.array([0.5, -1.0], np.float32))
    with restored():
        row = elementwise(
            "erfcx", numpy=scipy.special.erfcx, xla=lambda jax, x: jax.lax.exp(x * x) * jax.lax.erfc(x),
            partials=lambda y, x: [2 * x * y - 2 / math.sqrt(math.pi)], accepts="float", samples=reals(-2, 2),
        )  # fmt: skip
        define.unary_function(
            "mindgrad.ops.special", "erfcx", row, "exp(x²) erfc(x).", "0.5", "0.6157",
            "ops Erfcx Tensor mint numpy.erfcx", float_only=True,
        )  # fmt: skip
        for values in (ops.erfcx(x), ops.Erfcx()(x), x.erfcx(), mint.erfcx(x), mnp.erfcx([0.5, -1.0])):
            assert_close(values, expected)
        assert_close(ms.jit(ops.Erfcx())(x), expected, kind="program", each=True)
        slope = 2 * x.asnumpy() * expected - 2 / math.sqrt(math.pi)
        assert_close(ms.grad(mnp.erfcx)(x), slope, kind="program", each=True)
        assert "Erfcx" in operations.__all__
        assert '>>> print(f"{ops.Erfcx()(Tensor(0.5)):.4f}")' in ops.Erfcx.__doc__
    assert not hasattr(Tensor, "erfcx")
    assert not hasattr(mint, "erfcx")


def test_a_form_with_arguments_of_its_own_is_one_call_of_the_function():
    calls = []

    def spread(x, axis=None, keep_dims=False, *, ddof=0):
        """The spread over ``axis``.

        >>> from mindgrad import Tensor, ops
        >>> print(ops.spread(Tensor([1.0]), axis=0))
        """
        calls.append((x, axis, keep_dims, ddof))

    with restored():
        registry.public(
            "mint.spread(input, dim=(), keepdim=False, *, correction=1, stable: unused=True)"
            "(axis=None if dim == () else dim)",
            "Spread(ddof: integer, keep_dims=False)(x, axis=())",
        )(spread)
        assert str(inspect.signature(mint.spread)) == (
            "(input, dim=(), keepdim=False, *, correction=1, stable=True)"
        )
        mint.spread("x", correction=3)
        mint.spread("x", 2, True)
        operations.Spread(ddof=5)("x", 1)
        assert calls == [("x", None, False, 3), ("x", 2, True, 1), ("x", 1, False, 5)]
        assert ">>> print(mint.spread(Tensor([1.0]), dim=0))" in mint.spread.__doc__
        with pytest.raises(TypeError, match="'ddof' must be an int"):
            operations.Spread(ddof=1.5)


def test_a_reading_says_what_is_passed_on():
    reading = forms.read(
        "(axis: integers, use_locking: unused=True)(x)(dims=self.axis) -> indices(_)", ops.flip, True
    )
    assert [each.name for each in reading.attributes] == ["axis", "use_locking"]
    assert [each.name for each in reading.passed] == ["x"]
    assert (reading.values, reading.result) == ({"dims": "self.axis"}, "indices(_)")


def test_an_argument_with_a_default_must_fit_by_name():
    for arguments, name in (("(input, depth=2)", "depth"), ("(input, a, b, c)", "c")):
        with pytest.raises(ValueError, match=rf"'amax' has the argument '{name}'"):
            forms.definition("amax", ops.amax, forms.read(arguments, ops.amax))
    assert "_of_amax(x, k)" in forms.definition("amax", ops.amax, forms.read("(x, k=0)(axis=k)", ops.amax))


def test_methods_of_forms_are_those_of_the_table():
    assert registry.surface_forms("Tensor").keys() == methods.METHODS.keys()


def test_pixel_shuffle_is_one_implementation():
    assert ops.pixel_shuffle is shuffling.pixel_shuffle is mint.nn.functional.pixel_shuffle
    for call in (lambda x: ops.pixel_shuffle(x, 2), nn.PixelShuffle(2)):
        with pytest.raises(
            ValueError, match="For 'PixelShuffle', the number of channels must be divisible by 4"
        ):
            call(ops.ones((1, 3, 2, 2)))


def test_no_public_name_is_lost():
    """``tests/golden/public_names.txt`` has the names of each module; a name that comes in may be added."""
    lost, count = [], 0
    for line in GOLDEN.read_text().splitlines():
        if line[0] == "[":
            path = line[1:-1].partition(".")[2]
            place = attrgetter(path)(ms) if path else ms
        else:
            count += len(line.split())
            lost += [f"{place}: {name}" for name in line.split() if not hasattr(place, name)]
    assert count > 2500
    assert lost == []


@pytest.mark.parametrize(("names", "module"), [
    ({registry.CLASSES: "CumSum", "Tensor": "cumsum", "mint": "cumsum", "numpy": "cumsum"}, "cumulative"),
    ({registry.CLASSES: "Erfc", "Tensor": "erfc", "mint": "erfc"}, "special"),
])  # fmt: skip
def test_all_names_of_an_operator_are_declared_in_one_file(names, module):
    functions = [registry.surface_forms(path)[name].function for path, name in names.items()]
    assert {function.__module__ for function in functions} == {f"mindgrad.ops.{module}"}


def test_classes_of_auto_generate_are_forms():
    generated = ops.auto_generate
    assert set(registry.surface_forms("ops.auto_generate")) == {
        "AddExt", "CumsumExt", "InplaceAddExt", "MatMulExt", "MeanExt", "SiLU", "SortExt", "SplitWithSize", "SubExt",
        "SumExt",
    }  # fmt: skip
    assert str(generated.CumsumExt()(Tensor([1, 2], ms.int32), 0)) == "[1 3]"
    assert generated.CumsumExt()(Tensor([1, 2], ms.int32), 0).dtype is ms.int64
    assert generated.MeanExt()(Tensor([[1.0, 3.0]]), 1, True, ms.float64).dtype is ms.float64
    with pytest.raises(TypeError, match="For 'CumsumExt', the number of inputs must be 2 to 3, but got 1"):
        generated.CumsumExt()(Tensor([1, 2]))
