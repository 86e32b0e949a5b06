"""Every layer and loss against PyTorch: values, gradients in inputs and weights, and second derivatives.

The numbers on the right-hand side were computed by ``tests/unit/references/make_references.py`` and are read
from the file that it wrote, so PyTorch is not needed here. The objective is Σ mask · (y + y²/2) of the outputs
y; the second derivative is that of the product of its gradient with fixed directions.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn, ops
from mindgrad.nn import layer as layers
from mindgrad.nn import loss as losses
from tests.unit.references import extremes, optimizers, table
from tests.unit.references.case import REFERENCES, direction, mask

FOLDER = Path(table.__file__).parent
NAMES = {"ms": ms, "nn": nn, "ops": ops, "Tensor": Tensor, "np": np, "MASK": extremes.MASK}
AGAIN = "run tests/unit/references/make_references.py with a Python that has PyTorch"


def _read():
    """For each case the outputs, and what follows them: first and second derivatives."""
    with np.load(FOLDER / REFERENCES) as file:
        index, numbers = json.loads(str(file["index"])), file["numbers"]
    found, start = {}, 0
    for name, (outputs, shapes) in index.items():
        arrays = []
        for shape in shapes:
            size = int(np.prod(shape))
            arrays.append(numbers[start : start + size].reshape(shape))
            start += size
        found[name] = (arrays[:outputs], arrays[outputs:])
    assert start == len(numbers)
    return found


@pytest.fixture(scope="module")
def expected():
    return _read()


def test_the_table_is_complete():
    exported = {*layers.__all__, *losses.__all__}
    shown = {case.layer for case in table.CASES}
    missing, gone = exported - shown - set(table.EXCEPTIONS), (shown | set(table.EXCEPTIONS)) - exported
    assert not missing, f"add a Case for {missing} in tests/unit/references, or an exception; then {AGAIN}"
    assert not gone, f"tests/unit/references names {gone}, which mindgrad.nn does not export"
    assert not shown & set(table.EXCEPTIONS)
    assert sum(case.compiled for case in table.USUAL) >= len(table.USUAL) / 10


def test_the_references_are_those_of_the_table():
    names = [case.name for case in (*table.CASES, *optimizers.CASES)]
    assert sorted(_read()) == sorted(names), AGAIN


def _as_tuple(found):
    """All tensors of a structure of tuples."""
    return tuple(y for x in found for y in _as_tuple(x)) if isinstance(found, tuple) else (found,)


def layer_of(case, dtype):
    """A function of a tuple of inputs, and the Parameters that it trains, with the values of the table."""
    cell = eval(case.made, NAMES)
    values = case.weight_values()
    trained = {p.name: p for p in cell.trainable_params()}
    assert {name: p.shape for name, p in trained.items()} == case.weights
    for p in cell.get_parameters():
        p.set_dtype(Tensor(np.zeros(0, dtype)).dtype)
    for name, value in values.items():
        trained[name].set_data(Tensor(value.astype(dtype)))
    call = eval(f"lambda cell, x: cell({case.takes})", NAMES)
    return lambda x: call(cell, x), ms.ParameterTuple([trained[name] for name in values])


def _given(case, dtype=np.float64):
    """The inputs as Tensors, those that are differentiated of this type."""
    return [Tensor(x.astype(dtype) if x.dtype == np.float64 else x) for x in case.inputs]


def program(case, dtype=np.float64, order=2):
    """A function of the inputs that returns outputs, gradients and second derivatives."""
    applied, weights = layer_of(case, dtype)
    options = dict(grad_position=case.places or None, weights=weights or None)

    def outputs(*x):
        return _as_tuple(applied(x))

    def objective(*x):
        return sum(
            (Tensor(mask(y.shape).astype(dtype)) * (y + y * y / 2)).sum()
            for y in outputs(*x)
            if y.dtype in (ms.float16, ms.float32, ms.float64)
        )

    def gradients(function, x):
        found = ms.grad(function, **options)(*x)
        return _as_tuple(found)  # those of the inputs, then those of the weights

    def slope(*x):
        return sum((Tensor(direction(g.shape, i)) * g).sum() for i, g in enumerate(gradients(objective, x)))

    def whole(*x):
        if not case.places and not weights:
            return outputs(*x), (), ()
        return outputs(*x), gradients(objective, x), gradients(slope, x) if order == 2 else ()

    return whole


def compare(found, expected):
    outputs, first, second = found
    values, derivatives = expected
    assert len(outputs) == len(values)
    for y, value in zip(outputs, values, strict=True):
        assert y.shape == value.shape
        np.testing.assert_allclose(y.asnumpy(), value, rtol=1e-9, atol=1e-11)
    for kind, these, those in (
        ("first", first, derivatives[: len(first)]),
        ("second", second, derivatives[len(first) :]),
    ):
        for place, (g, value) in enumerate(zip(these, those, strict=True)):
            assert g.shape == value.shape
            assert g.dtype == ms.float64
            np.testing.assert_allclose(
                g.asnumpy(), value, rtol=1e-7, atol=1e-9, err_msg=f"{kind} derivative, {place}"
            )


@pytest.mark.parametrize("case", table.CASES, ids=lambda case: case.name)
def test_layer(case, expected):
    compare(program(case)(*_given(case)), expected[case.name])


@pytest.mark.parametrize("case", table.USUAL, ids=lambda case: case.name)
def test_narrower_types_stay(case, expected):
    values, derivatives = expected[case.name]
    for dtype, tolerance in ((np.float32, 1e-4), (np.float16, 3e-2)):
        outputs, gradients, _ = program(case, dtype, 1)(*_given(case, dtype))
        kept = {np.float32} if case.layer == "OneHot" else {dtype, np.int32, np.int64}
        for y, value in zip(outputs, values, strict=True):
            assert y.asnumpy().dtype in {np.dtype(each) for each in kept}
            np.testing.assert_allclose(y.asnumpy(), value, rtol=tolerance, atol=tolerance)
        for g, value in zip(gradients, derivatives[: len(gradients)], strict=True):
            assert g.asnumpy().dtype == dtype
            size = 1 + np.abs(value).max()
            np.testing.assert_allclose(g.asnumpy(), value, rtol=tolerance, atol=tolerance * size)


@pytest.mark.parametrize("case", [case for case in table.CASES if case.compiled], ids=lambda case: case.name)
def test_compiled_layer(case, expected):
    ms.set_context(mode=ms.GRAPH_MODE)
    compare(ms.jit(program(case))(*_given(case)), expected[case.name])


@pytest.mark.parametrize("case", optimizers.CASES, ids=lambda case: case.name)
def test_optimizer(case, expected):
    params = [ms.Parameter(Tensor(x), name=f"w{k}") for k, x in enumerate(optimizers.START)]
    optimizer = eval(case.made, NAMES | {"params": params})
    values, _ = expected[case.name]
    for step, gradients in enumerate(optimizers.GRADIENTS):
        optimizer(tuple(map(Tensor, gradients)))
        for p, value in zip(params, values, strict=True):
            # rates and powers of beta are kept in Float32, and with them 1 − 0.999ᵗ
            np.testing.assert_allclose(p.asnumpy(), value[step], rtol=1e-5, atol=5e-6)
