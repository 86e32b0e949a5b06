"""Update rules as operators of Parameters: values of MindSpore 2.10 on a CPU.

Where its kernels do not do what its documents define (docs/differences.md), or there are none, they are those of the
definition, as formulas.
"""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops
from tests.tolerances import assert_close

V, G, M, S = [1.0, 2.0], [0.5, -1.0], [0.1, 0.2], [0.3, 0.4]
V2, M2, S2 = [[1.0, 2.0], [3.0, 4.0]], [[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.6], [0.7, 0.8]]
ROW, AT = [[0.5, -1.0]], Tensor([1], ms.int32)


def parameters(*values):
    return [Parameter(Tensor(value, ms.float32), name=f"p{k}") for k, value in enumerate(values)]


#: the class with its attributes; the Parameters; the other inputs; where the Parameters stand among the inputs (in
#: front unless it says so); the Parameters afterwards
CASES = {
    "Adam": (ops.Adam(), (V, M, S), (0.9, 0.99, 0.1, 0.9, 0.99, 1e-3, G), [
        [0.97446495, 1.98746443], [0.14, 0.08], [0.29950002, 0.40599999]]),
    "Adam with Nesterov": (ops.Adam(use_nesterov=True), (V, M, S), (0.9, 0.99, 0.1, 0.9, 0.99, 1e-3, G), [
        [0.96789879, 2.00438738], [0.14, 0.08], [0.29950002, 0.40599999]]),
    "AdamWeightDecay": (ops.AdamWeightDecay(), (V, M, S), (0.1, 0.9, 0.99, 1e-3, 0.01, G), [
        [0.97346497, 1.98546433], [0.14, 0.08], [0.29950002, 0.40599999]]),
    "ApplyMomentum": (ops.ApplyMomentum(), (V, M), (0.1, G, 0.9), [[0.94099998, 2.08200002], [0.59, -0.82]]),
    "ApplyMomentum with Nesterov": (ops.ApplyMomentum(use_nesterov=True, gradient_scale=2.0), (V, M), (0.1, G, 0.9), [
        [1 - 0.1 * (1.0 + 0.9 * 1.09), 2 - 0.1 * (-2.0 + 0.9 * -1.82)], [1.09, -1.82]]),
    "ApplyAdaMax": (ops.ApplyAdaMax(), (V, M, S), (0.9, 0.1, 0.9, 0.99, 1e-3, G), [
        [0.72055888, 1.92007995], [0.14, 0.08], [0.5, 1.0]]),
    "ApplyAdadelta": (ops.ApplyAdadelta(), (V, M, S), (0.1, 0.9, 1e-3, G), [
        [0.91945767, 2.11945915], [0.115, 0.28], [0.3348707, 0.50270462]]),
    "ApplyAdagrad": (ops.ApplyAdagrad(), (V, M), (0.1, G), [[0.91548455, 2.09128714], [0.35, 1.2]]),
    "ApplyAdagradV2": (ops.ApplyAdagradV2(1e-3), (V, M), (0.1, G), [[0.91562718, 2.0912039], [0.35, 1.2]]),
    "ApplyAdagradDA": (ops.ApplyAdagradDA(), (V, M, S), (G, 0.1, 0.01, 0.02, 3), [
        [-0.07624196, 0.077 / (0.006 + 1.4**0.5)], [0.6, -0.8], [0.55, 1.4]]),
    "ApplyAddSign": (ops.ApplyAddSign(), (V, M), (0.1, 2.0, 0.5, 0.9, G), [[0.875, 2.1500001], [0.14, 0.08]]),
    "ApplyPowerSign": (ops.ApplyPowerSign(), (V, M), (0.1, 2.0, 0.5, 0.9, G), [[0.86408591, 2.03678799], [0.14, 0.08]]),
    "ApplyRMSProp": (ops.ApplyRMSProp(), (V, M, S), (0.1, G, 0.9, 0.8, 1e-3), [
        [0.61319494, 1.86864567], [0.115, 0.28], [0.38680506, 0.13135436]]),
    "ApplyCenteredRMSProp": (ops.ApplyCenteredRMSProp(), (V, [0.05, 0.06], M, S), (G, 0.1, 0.9, 0.8, 1e-3), [
        [0.60712767, 1.86935997], [0.09500001, -0.04600002], [0.115, 0.28], [0.39287233, 0.13064004]]),
    "ApplyFtrl": (ops.ApplyFtrl(), (V, M, S), (G, 0.1, 0.01, 0.02, -0.5), [
        [1.9438023 / (0.59160798 / 0.1 + 0.04), 13.5546315 / (1.09544512 / 0.1 + 0.04)], [0.35, 1.2],
        [-1.95380235, -13.5646315]]),
    "ApplyGradientDescent": (ops.ApplyGradientDescent(), (V,), (0.1, G), [[0.95, 2.1]]),
    "ApplyProximalAdagrad": (ops.ApplyProximalAdagrad(), (V, M), (0.1, 0.01, 0.02, G), [
        [0.9107154, 2.08656478], [0.35, 1.2]]),
    "ApplyProximalGradientDescent": (ops.ApplyProximalGradientDescent(), (V,), (0.1, 0.01, 0.02, G), [
        [0.94710582, 2.09481025]]),
    "ApplyAdamWithAmsgrad": (ops.ApplyAdamWithAmsgrad(), (V, M, S, [0.2, 0.9]), (0.9, 0.99, 0.1, G), [
        [0.97443748, 1.99156725], [0.14, 0.08], [0.29995, 0.40059999], [0.29995, 0.9]]),
    "ApplyKerasMomentum": (ops.ApplyKerasMomentum(), (V, M), (0.1, G, 0.9), [
        [1 + 0.09 - 0.05, 2 + 0.18 + 0.1], [0.04, 0.28]]),
    "SparseApplyAdagrad": (ops.SparseApplyAdagrad(0.1), (V2, M2), (ROW, AT), [
        [[1, 2], [2.93257999, 4.08451557]], [[0.1, 0.2], [0.55, 1.4]]]),
    "SparseApplyAdagradV2": (ops.SparseApplyAdagradV2(0.1, 1e-3), (V2, M2), (ROW, AT), [
        [[1, 2], [3 - 0.05 / (0.55**0.5 + 1e-3), 4 + 0.1 / (1.4**0.5 + 1e-3)]], [[0.1, 0.2], [0.55, 1.4]]]),
    "SparseApplyFtrl": (ops.SparseApplyFtrl(0.1, 0.01, 0.02, -0.5), (V2, M2, S2), (ROW, AT), [
        [[1, 2], [0.61786437, 1.8716408]], [[0.1, 0.2], [0.55, 1.4]], [[0.5, 0.6], [-4.61691952, -22.23041916]]]),
    "FusedSparseFtrl": (ops.FusedSparseFtrl(0.1, 0.01, 0.02, -0.5), (V2, M2, S2), (ROW, AT), [
        [[1, 2], [0.61786437, 1.8716408]], [[0.1, 0.2], [0.55, 1.4]], [[0.5, 0.6], [-4.61691952, -22.23041916]]]),
    "FusedSparseProximalAdagrad": (ops.FusedSparseProximalAdagrad(), (V2, M2), (0.1, 0.01, 0.02, ROW, AT), [
        [[1, 2], [2.92334795, 4.07677984]], [[0.1, 0.2], [0.55, 1.4]]]),
    "FusedSparseAdam": (ops.FusedSparseAdam(), (V2, M2, S2), (0.9, 0.99, 0.1, 0.9, 0.99, 1e-3, ROW, AT), [
        [[0.98722613, 1.97667527], [2.96167517, 3.97099972]], [[0.09, 0.18], [0.32, 0.26]],
        [[0.495, 0.594], [0.6955, 0.802]]]),
    "FusedSparseLazyAdam": (ops.FusedSparseLazyAdam(), (V2, M2, S2), (0.9, 0.99, 0.1, 0.9, 0.99, 1e-3, ROW, AT), [
        [[1, 2], [2.96167517, 3.97099972]], [[0.1, 0.2], [0.32, 0.26]], [[0.5, 0.6], [0.6955, 0.802]]]),
    "a row named twice": (
        ops.FusedSparseLazyAdam(), (V2, M2, S2),
        (0.9, 0.99, 0.1, 0.9, 0.99, 1e-3, [[0.5, -1.0], [0.25, 0.5]], Tensor([1, 1], ms.int32)), [
        [[1, 2], [2.95877337, 3.96526027]], [[0.1, 0.2], [0.34500003, 0.30999997]],
        [[0.5, 0.6], [0.69862503, 0.79449999]]]),
}  # fmt: skip


@pytest.mark.parametrize("mode", ["eager", "compiled"])
@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_mindspore(name, mode):
    operator, values, others, expected = CASES[name]
    held = parameters(*values)

    def step(*inputs):
        return operator(*held, *inputs)

    inputs = [Tensor(value, ms.float32) if isinstance(value, list) else value for value in others]
    (ms.jit(step) if mode == "compiled" else step)(*inputs)
    for parameter, value in zip(held, expected, strict=True):
        assert_close(parameter, value)


@pytest.mark.parametrize(
    ("attributes", "stat", "expected"),
    [
        ((0.1, 0.2, False), [1.0, 1.0], ([0.93, 2.06], [0.7, -0.6])),
        ((0.1, 0.2, False), [0.0, 0.0], ([0.928, 2.036], [0.72, -0.36])),
        ((0.0, 0.2, True), [0.0, 0.0], ([0.8589, 2.0978], [0.79, -0.42])),
    ],
)
def test_sgd(attributes, stat, expected):
    w, accum, first = parameters(V, M, stat)
    ops.SGD(*attributes)(w, Tensor(G), Tensor(0.1), accum, Tensor(0.9), first)
    assert_close(w, expected[0])
    assert_close(accum, expected[1])
    assert first.asnumpy().tolist() == [0.0, 0.0]


def test_the_scale_of_a_layer():
    change = ops.LARSUpdate(1e-5, 0.01)(Tensor(V), Tensor(G), Tensor(5.0), Tensor(1.25), 0.1, 0.5)
    factor = 0.01 * 5**0.5 / (1.25**0.5 + 0.1 * 5**0.5 + 1e-5)
    assert_close(change, factor * np.array([0.6, -0.8]))
    clipped = ops.LARSUpdate(1e-5, 10.0, True)(Tensor(V), Tensor(G), Tensor(5.0), Tensor(1.25), 0.1, 0.5)
    assert_close(clipped, [0.6, -0.8])


def test_fused_momentum_scales_and_decays():
    w, accum = parameters(V, M)
    ops.FusedWeightScaleApplyMomentum()(0.1, 0.5, w, accum, 0.1, Tensor(G), 0.9)
    assert_close(accum, [0.09 + 0.25 + 0.1, 0.18 - 0.5 + 0.2])


def test_tensors_are_updated_in_place_as_parameters_are():
    tensor = Tensor(V)
    expected = np.array(V, np.float32) - np.float32(0.1) * np.array(G, np.float32)
    result = ops.ApplyGradientDescent()(tensor, 0.1, Tensor(G))
    assert_close(result, expected)
    assert_close(tensor, expected)
    with pytest.raises(TypeError, match="Parameter"):
        ops.ApplyGradientDescent()(V, 0.1, Tensor(G))


def test_derivatives_flow_through_an_update():
    w, accum = parameters(V, M)

    def loss(gradient):
        return (ops.ApplyMomentum()(w, accum, 0.1, gradient, 0.9) ** 2).sum()

    found = ms.grad(loss)(Tensor(G)).asnumpy()
    moved = np.array(V) - 0.1 * (np.array(M) * 0.9 + np.array(G))
    assert_close(found, -0.1 * 2 * moved)


@pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])
def test_a_cache_is_updated_where_the_indices_are_inside(run):
    (cache,) = parameters(V2)
    update = ops.operations.UpdateCache()
    rows = Tensor([[5.0, 6.0], [7.0, 8.0], [9.0, 9.0]])
    found = run(lambda at: update(cache, at, rows, 2))(Tensor([[-1, 1, 2]], ms.int32))
    np.testing.assert_array_equal(cache.asnumpy(), [[1.0, 2.0], [7.0, 8.0]])
    assert found.shape == (1,)
