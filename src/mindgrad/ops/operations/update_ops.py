"""Update rules of optimizers as operator classes, such as ``ops.ApplyMomentum``.

``ops.ApplyMomentum()(w, v, 0.1, g, 0.9)`` assigns new values to w and v.
"""

from __future__ import annotations

from mindgrad.ops import updates
from mindgrad.ops.registry import public

__all__: list[str] = []

_LOCK = "use_locking: unused=False"
_NESTEROV = f"{_LOCK}, use_nesterov=False"
_POWER = "lr: number, l1: number, l2: number, lr_power: number"
_ADAM = "var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon"
_W, _A, _B = (f'Parameter(Tensor([[1.0], [2.0]]), name="{name}")' for name in "wab")
_WA, _WAB = f"{_W}, {_A}", f"{_W}, {_A}, {_B}"
_G, _ROW, _AT = "Tensor([[2.0], [0.0]])", "Tensor([[2.0]])", "Tensor([0])"

public(
    f"Adam({_NESTEROV})(...)(indices=None, lazy=True)"
    f" >>> ops.Adam()({_WAB}, 0.5, 0.75, 0.5, 0.5, 0.75, 0.0, {_G})[0].asnumpy().round(3) => [[0.433]\n "
    "[1.592]]",
    f"FusedSparseAdam({_NESTEROV})({_ADAM}, grad, indices)(lazy=False)"
    f" >>> ops.FusedSparseAdam()({_WAB}, 0.5, 0.75, 0.5, 0.5, 0.75, 0.0, {_ROW}, "
    f"{_AT})[0].asnumpy().round(3) => [[0.433]\n [1.592]]",
    f"FusedSparseLazyAdam({_NESTEROV})({_ADAM}, grad, indices)(lazy=True)"
    f" >>> ops.FusedSparseLazyAdam()({_WAB}, 0.5, 0.75, 0.5, 0.5, 0.75, 0.0, {_ROW}, "
    f"{_AT})[0].asnumpy().round(3) => [[0.433]\n [2.   ]]",
)(updates.adam)
public(
    f"AdamWeightDecay({_LOCK})(...)"
    f" >>> ops.AdamWeightDecay()({_WAB}, 0.5, 0.5, 0.75, 0.0, 0.0, {_G})[0].asnumpy().round(3) => "
    "[[0.433]\n [1.592]]",
)(updates.adam_weight_decay)
public(
    "SGD(dampening=0.0, weight_decay=0.0, nesterov=False)(...)"
    f" >>> ops.SGD()({_W}, {_G}, 0.5, {_A}, 0.5, {_B}).asnumpy().round(3) => [[0.]\n [2.]]",
)(updates.sgd)
public(
    f"ApplyMomentum(use_nesterov=False, {_LOCK}, gradient_scale=1.0)(...)"
    f" >>> ops.ApplyMomentum()({_WA}, 0.5, {_G}, 0.5).asnumpy().round(3) => [[-0.25]\n [ 1.5 ]]",
    "FusedWeightScaleApplyMomentum()(weight_decay, loss_scale, variable, accumulation, learning_rate, "
    "gradient, momentum)(variable=variable, gradient=gradient * loss_scale + variable * weight_decay, "
    "use_nesterov=False, gradient_scale=1.0)"
    f" >>> ops.FusedWeightScaleApplyMomentum()(0.0, 1.0, {_WA}, 0.5, {_G}, 0.5).asnumpy().round(3) => "
    "[[-0.25]\n [ 1.5 ]]",
)(updates.momentum)
public(
    f"ApplyKerasMomentum({_NESTEROV})(...)"
    f" >>> ops.ApplyKerasMomentum()({_WA}, 0.5, {_G}, 0.5)[0].asnumpy().round(3) => [[0.5]\n [3. ]]",
)(updates.keras_momentum)
public(
    "FusedAdaFactor(enable_scale_parameter=False, enable_first_moment=False, "
    "enable_weight_decay=False)(...)"
    " >>> ops.FusedAdaFactor()((0.0, 0.0), 1.0, 0.0, 0.5, 0.0, 0.5, Tensor([2.0]), "
    'Parameter(Tensor([1.0]), name="w"), *[Parameter(Tensor([4.0]), name=name) for name in "abcd"]) => '
    "[0.5]",
)(updates.ada_factor)
public(
    "ApplyAdaMax"
    f" >>> ops.ApplyAdaMax()({_WAB}, 0.5, 0.5, 0.5, 0.5, 0.0, {_G})[0].asnumpy().round(3) => [[0.25]\n [1."
    "  ]]",
)(updates.ada_max)
public(
    "ApplyAdadelta"
    f" >>> ops.ApplyAdadelta()({_WAB}, 0.5, 0.5, 0.0, {_G})[0].asnumpy().round(3) => [[0.368]\n [2.   ]]",
    f"SparseApplyAdadelta(epsilon: number, {_LOCK})(...)"
    f" >>> ops.SparseApplyAdadelta(0.0)({_WAB}, 0.5, 0.5, {_ROW}, {_AT})[0].asnumpy().round(3) => "
    "[[0.368]\n [2.   ]]",
)(updates.adadelta)
public(
    "ApplyAdagrad(update_slots=True)(...)(epsilon=0.0, indices=None)"
    f" >>> ops.ApplyAdagrad()({_WA}, 0.5, {_G})[0].asnumpy().round(3) => [[0.553]\n [2.   ]]",
    "ApplyAdagradV2(epsilon: number, update_slots=True)(...)(indices=None)"
    f" >>> ops.ApplyAdagradV2(0.0)({_WA}, 0.5, {_G})[0].asnumpy().round(3) => [[0.553]\n [2.   ]]",
    f"SparseApplyAdagrad(lr: number, update_slots=True, {_LOCK})(...)(epsilon=0.0)"
    f" >>> ops.SparseApplyAdagrad(0.5)({_WA}, {_ROW}, {_AT})[0].asnumpy().round(3) => [[0.553]\n [2.   ]]",
    f"SparseApplyAdagradV2(lr: number, epsilon: number, {_LOCK}, update_slots=True)(...)"
    f" >>> ops.SparseApplyAdagradV2(0.5, 0.0)({_WA}, {_ROW}, {_AT})[0].asnumpy().round(3) => [[0.553]\n "
    "[2.   ]]",
)(updates.adagrad)
public(
    f"ApplyAdagradDA({_LOCK})(...)"
    f" >>> ops.ApplyAdagradDA()({_WAB}, {_G}, 0.5, 0.0, 0.0, 1).asnumpy().round(3) => [[-0.671]\n "
    "[-0.707]]",
)(updates.adagrad_by_averages)
public(
    "ApplyAddSign"
    f" >>> ops.ApplyAddSign()({_WA}, 0.5, 1.0, 1.0, 0.5, {_G})[0].asnumpy().round(3) => [[-1.]\n [ 2.]]",
)(updates.add_sign)
public(
    "ApplyPowerSign"
    f" >>> ops.ApplyPowerSign()({_WA}, 0.5, 0.0, 1.0, 0.5, {_G})[0].asnumpy().round(3) => [[0.]\n [2.]]",
)(updates.power_sign)
public(
    f"ApplyRMSProp({_LOCK})(...)(indices=None) -> _[0]"
    f" >>> ops.ApplyRMSProp()({_WAB}, 0.5, {_G}, 0.5, 0.5, 0.0).asnumpy().round(3) => [[-0.132]\n [ 1.   "
    "]]",
    f"SparseApplyRMSProp(rho: number, momentum: number, epsilon: number, {_LOCK})(var, ms, mom, lr, grad, "
    "indices)(decay=self.rho)"
    f" >>> ops.SparseApplyRMSProp(0.5, 0.5, 0.0)({_WAB}, 0.5, {_ROW}, {_AT})[0].asnumpy().round(3) => "
    "[[-0.132]\n [ 2.   ]]",
)(updates.rms_prop)
public(
    f"ApplyCenteredRMSProp({_LOCK})(...)"
    f' >>> ops.ApplyCenteredRMSProp()({_WAB}, Parameter(Tensor([[0.0], [0.0]]), name="c"), {_G}, 0.5, 0.5,'
    " 0.5, 1.0).asnumpy().round(3) => [[0.106]\n [2.   ]]",
)(updates.centered_rms_prop)
public(
    f"ApplyFtrl({_LOCK})(...)(indices=None, l2_shrinkage=0.0) -> _[0]"
    f" >>> ops.ApplyFtrl()({_WAB}, {_G}, 0.5, 0.0, 0.0, -0.5).asnumpy().round(3) => [[-0.118]\n [-0.707]]",
    f"SparseApplyFtrl({_POWER}, {_LOCK})(...)(l2_shrinkage=0.0)"
    f" >>> ops.SparseApplyFtrl(0.5, 0.0, 0.0, -0.5)({_WAB}, {_ROW}, {_AT})[0].asnumpy().round(3) => "
    "[[-0.118]\n [ 2.   ]]",
    "SparseApplyFtrlV2(lr: number, l1: number, l2: number, l2_shrinkage: number, lr_power: number, "
    f"{_LOCK})(...)"
    f" >>> ops.SparseApplyFtrlV2(0.5, 0.0, 0.0, 0.0, -0.5)({_WAB}, {_ROW}, {_AT})[0].asnumpy().round(3) =>"
    " [[-0.118]\n [ 2.   ]]",
    f"FusedSparseFtrl({_POWER}, {_LOCK})(...)(l2_shrinkage=0.0)"
    f" >>> ops.FusedSparseFtrl(0.5, 0.0, 0.0, -0.5)({_WAB}, {_ROW}, {_AT})[0].asnumpy().round(3) => "
    "[[-0.118]\n [ 2.   ]]",
)(updates.ftrl)
public(
    "ApplyGradientDescent"
    f" >>> ops.ApplyGradientDescent()({_W}, 0.5, {_G}).asnumpy().round(3) => [[0.]\n [2.]]",
)(updates.gradient_descent)
public(
    "ApplyProximalGradientDescent"
    f" >>> ops.ApplyProximalGradientDescent()({_W}, 0.5, 0.0, 0.0, {_G}).asnumpy().round(3) => [[0.]\n "
    "[2.]]",
)(updates.proximal_gradient_descent)
public(
    f"ApplyProximalAdagrad({_LOCK})(...)(indices=None)"
    f" >>> ops.ApplyProximalAdagrad()({_WA}, 0.5, 0.0, 0.0, {_G})[0].asnumpy().round(3) => [[0.553]\n [2."
    "   ]]",
    f"SparseApplyProximalAdagrad({_LOCK})(...)"
    f" >>> ops.SparseApplyProximalAdagrad()({_WA}, 0.5, 0.0, 0.0, {_ROW}, {_AT})[0].asnumpy().round(3) => "
    "[[0.553]\n [2.   ]]",
    f"FusedSparseProximalAdagrad({_LOCK})(...)"
    f" >>> ops.FusedSparseProximalAdagrad()({_WA}, 0.5, 0.0, 0.0, {_ROW}, {_AT})[0].asnumpy().round(3) => "
    "[[0.553]\n [2.   ]]",
)(updates.proximal_adagrad)
public(
    f"ApplyAdamWithAmsgrad(beta1=0.9, beta2=0.999, epsilon=1e-8, {_LOCK})(...)"
    f' >>> ops.ApplyAdamWithAmsgrad(0.5, 0.5)({_WAB}, Parameter(Tensor([[4.0], [4.0]]), name="c"), 0.5, '
    f"0.75, 0.5, {_G})[0].asnumpy().round(3) => [[0.625]\n [1.75 ]]",
    f"ApplyAdamWithAmsgradV2({_LOCK})(...)"
    f' >>> ops.ApplyAdamWithAmsgradV2()({_WAB}, Parameter(Tensor([[4.0], [4.0]]), name="c"), 0.5, 0.75, '
    f"0.5, 0.5, 0.5, 0.0, {_G})[0].asnumpy().round(3) => [[0.625]\n [1.75 ]]",
)(updates.adam_with_bound)
public(
    "LARSUpdate(epsilon=1e-5, hyperpara=0.001, use_clip=False)(...)"
    " >>> ops.LARSUpdate(0.0, 0.5)(Tensor([1.0]), Tensor([2.0]), Tensor([4.0]), Tensor([4.0]), 0.0, "
    "0.5).asnumpy().round(3) => [1.]",
)(updates.lars)
