"""Update rules of optimisers as classes: ``ops.ApplyMomentum()(w, v, 0.1, g, 0.9)`` assigns w and v."""

from __future__ import annotations

from mindgrad.ops import updates
from mindgrad.ops.operations.base import boolean, classes, number, operation

_LOCK = {"use_locking": boolean(False)}
_NESTEROV = {**_LOCK, "use_nesterov": boolean(False)}
_W, _A, _B = (f'Parameter(Tensor([[1.0], [2.0]]), name="{name}")' for name in "wab")
_WA, _WAB = f"{_W}, {_A}", f"{_W}, {_A}, {_B}"
_G, _ROW, _AT = "Tensor([[2.0], [0.0]])", "Tensor([[2.0]])", "Tensor([0])"

Adam = operation(
    __name__, "Adam", updates.adam, attributes=_NESTEROV,
    run=lambda self, var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient: updates.adam(
        var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, gradient, self.use_nesterov,
    ),
    example=f'ops.Adam()({_WAB}, 0.5, 0.75, 0.5, 0.5, 0.75, 0.0, {_G})[0].asnumpy().round(3)',
    prints='[[0.433]\n [1.592]]',
)  # fmt: skip
AdamWeightDecay = operation(
    __name__, "AdamWeightDecay", updates.adam_weight_decay, attributes=_LOCK,
    run=lambda self, var, m, v, lr, beta1, beta2, epsilon, decay, gradient: updates.adam_weight_decay(
        var, m, v, lr, beta1, beta2, epsilon, decay, gradient,
    ),
    example=f'ops.AdamWeightDecay()({_WAB}, 0.5, 0.5, 0.75, 0.0, 0.0, {_G})[0].asnumpy().round(3)',
    prints='[[0.433]\n [1.592]]',
)  # fmt: skip
SGD = operation(
    __name__, "SGD", updates.sgd,
    attributes={"dampening": number(0.0), "weight_decay": number(0.0), "nesterov": boolean(False)},
    run=lambda self, parameters, gradient, learning_rate, accum, momentum, stat: updates.sgd(
        parameters, gradient, learning_rate, accum, momentum, stat, self.dampening,
        self.weight_decay, self.nesterov,
    ),
    example=f'ops.SGD()({_W}, {_G}, 0.5, {_A}, 0.5, {_B}).asnumpy().round(3)', prints='[[0.]\n [2.]]',
)  # fmt: skip
ApplyMomentum = operation(
    __name__, "ApplyMomentum", updates.momentum,
    attributes={"use_nesterov": boolean(False), **_LOCK, "gradient_scale": number(1.0)},
    run=lambda self, variable, accumulation, learning_rate, gradient, momentum: updates.momentum(
        variable, accumulation, learning_rate, gradient, momentum, self.use_nesterov,
        self.gradient_scale,
    ),
    example=f'ops.ApplyMomentum()({_WA}, 0.5, {_G}, 0.5).asnumpy().round(3)', prints='[[-0.25]\n [ 1.5 ]]',
)  # fmt: skip
ApplyKerasMomentum = operation(
    __name__, "ApplyKerasMomentum", updates.keras_momentum,
    attributes={**_LOCK, "use_nesterov": boolean(False)},
    run=lambda self, var, accum, lr, grad, momentum: updates.keras_momentum(
        var, accum, lr, grad, momentum, self.use_nesterov,
    ),
    example=f'ops.ApplyKerasMomentum()({_WA}, 0.5, {_G}, 0.5)[0].asnumpy().round(3)',
    prints='[[0.5]\n [3. ]]',
)  # fmt: skip
FusedWeightScaleApplyMomentum = operation(
    __name__, "FusedWeightScaleApplyMomentum", updates.momentum,
    run=lambda self, weight_decay, loss_scale, variable, accumulation, learning_rate, gradient, momentum:
    updates.momentum(
        variable, accumulation, learning_rate, gradient * loss_scale + variable * weight_decay,
        momentum, False, 1.0,
    ),
    example=f'ops.FusedWeightScaleApplyMomentum()(0.0, 1.0, {_WA}, 0.5, {_G}, 0.5).asnumpy().round(3)',
    prints='[[-0.25]\n [ 1.5 ]]',
)  # fmt: skip
FusedAdaFactor = operation(
    __name__, "FusedAdaFactor", updates.ada_factor,
    attributes={
        "enable_scale_parameter": boolean(False), "enable_first_moment": boolean(False),
        "enable_weight_decay": boolean(False),
    },
    run=lambda self, epsilon, clip_threshold, beta1, beta2, weight_decay, learning_rate, gradient, param,
    exp_avg, exp_avg_sq_row, exp_avg_sq_col, exp_avg_sq: updates.ada_factor(
        epsilon, clip_threshold, beta1, beta2, weight_decay, learning_rate, gradient, param, exp_avg,
        exp_avg_sq_row, exp_avg_sq_col, exp_avg_sq, self.enable_scale_parameter, self.enable_first_moment,
        self.enable_weight_decay,
    ),
    example='ops.FusedAdaFactor()((0.0, 0.0), 1.0, 0.0, 0.5, 0.0, 0.5, Tensor([2.0]), '
    'Parameter(Tensor([1.0]), name="w"), *[Parameter(Tensor([4.0]), name=name) for name in "abcd"])',
    prints="[0.5]",
)  # fmt: skip
ApplyAdaMax = operation(
    __name__, "ApplyAdaMax", updates.ada_max,
    example=f'ops.ApplyAdaMax()({_WAB}, 0.5, 0.5, 0.5, 0.5, 0.0, {_G})[0].asnumpy().round(3)',
    prints='[[0.25]\n [1.  ]]',
)  # fmt: skip
ApplyAdadelta = operation(
    __name__, "ApplyAdadelta", updates.adadelta,
    example=f'ops.ApplyAdadelta()({_WAB}, 0.5, 0.5, 0.0, {_G})[0].asnumpy().round(3)',
    prints='[[0.368]\n [2.   ]]',
)  # fmt: skip
SparseApplyAdadelta = operation(
    __name__, "SparseApplyAdadelta", updates.adadelta, attributes={"epsilon": number(), **_LOCK},
    run=lambda self, var, accum, accum_update, lr, rho, grad, indices: updates.adadelta(
        var, accum, accum_update, lr, rho, self.epsilon, grad, indices,
    ),
    example=f'ops.SparseApplyAdadelta(0.0)({_WAB}, 0.5, 0.5, {_ROW}, {_AT})[0].asnumpy().round(3)',
    prints='[[0.368]\n [2.   ]]',
)  # fmt: skip
ApplyAdagrad = operation(
    __name__, "ApplyAdagrad", updates.adagrad, attributes={"update_slots": boolean(True)},
    run=lambda self, var, accum, lr, grad: updates.adagrad(var, accum, lr, grad, 0.0, self.update_slots),
    example=f'ops.ApplyAdagrad()({_WA}, 0.5, {_G})[0].asnumpy().round(3)', prints='[[0.553]\n [2.   ]]',
)  # fmt: skip
ApplyAdagradV2 = operation(
    __name__, "ApplyAdagradV2", updates.adagrad,
    attributes={"epsilon": number(), "update_slots": boolean(True)},
    run=lambda self, var, accum, lr, grad: updates.adagrad(
        var, accum, lr, grad, self.epsilon, self.update_slots,
    ),
    example=f'ops.ApplyAdagradV2(0.0)({_WA}, 0.5, {_G})[0].asnumpy().round(3)', prints='[[0.553]\n [2.   ]]',
)  # fmt: skip
SparseApplyAdagrad = operation(
    __name__, "SparseApplyAdagrad", updates.adagrad,
    attributes={"lr": number(), "update_slots": boolean(True), **_LOCK},
    run=lambda self, var, accum, grad, indices: updates.adagrad(
        var, accum, self.lr, grad, 0.0, self.update_slots, indices,
    ),
    example=f'ops.SparseApplyAdagrad(0.5)({_WA}, {_ROW}, {_AT})[0].asnumpy().round(3)',
    prints='[[0.553]\n [2.   ]]',
)  # fmt: skip
SparseApplyAdagradV2 = operation(
    __name__, "SparseApplyAdagradV2", updates.adagrad,
    attributes={"lr": number(), "epsilon": number(), **_LOCK, "update_slots": boolean(True)},
    run=lambda self, var, accum, grad, indices: updates.adagrad(
        var, accum, self.lr, grad, self.epsilon, self.update_slots, indices,
    ),
    example=f'ops.SparseApplyAdagradV2(0.5, 0.0)({_WA}, {_ROW}, {_AT})[0].asnumpy().round(3)',
    prints='[[0.553]\n [2.   ]]',
)  # fmt: skip
ApplyAdagradDA = operation(
    __name__, "ApplyAdagradDA", updates.adagrad_by_averages, attributes=_LOCK,
    run=lambda self, var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step:
    updates.adagrad_by_averages(
        var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step,
    ),
    example=f'ops.ApplyAdagradDA()({_WAB}, {_G}, 0.5, 0.0, 0.0, 1).asnumpy().round(3)',
    prints='[[-0.671]\n [-0.707]]',
)  # fmt: skip
ApplyAddSign = operation(
    __name__, "ApplyAddSign", updates.add_sign,
    example=f'ops.ApplyAddSign()({_WA}, 0.5, 1.0, 1.0, 0.5, {_G})[0].asnumpy().round(3)',
    prints='[[-1.]\n [ 2.]]',
)  # fmt: skip
ApplyPowerSign = operation(
    __name__, "ApplyPowerSign", updates.power_sign,
    example=f'ops.ApplyPowerSign()({_WA}, 0.5, 0.0, 1.0, 0.5, {_G})[0].asnumpy().round(3)',
    prints='[[0.]\n [2.]]',
)  # fmt: skip
ApplyRMSProp = operation(
    __name__, "ApplyRMSProp", updates.rms_prop, attributes=_LOCK,
    run=lambda self, var, mean_square, moment, learning_rate, grad, decay, momentum, epsilon:
    updates.rms_prop(
        var, mean_square, moment, learning_rate, grad, decay, momentum, epsilon,
    )[0],
    example=f'ops.ApplyRMSProp()({_WAB}, 0.5, {_G}, 0.5, 0.5, 0.0).asnumpy().round(3)',
    prints='[[-0.132]\n [ 1.   ]]',
)  # fmt: skip
ApplyCenteredRMSProp = operation(
    __name__, "ApplyCenteredRMSProp", updates.centered_rms_prop, attributes=_LOCK,
    run=lambda self, var, mean_gradient, mean_square, moment, grad, learning_rate, decay, momentum, epsilon:
    updates.centered_rms_prop(
        var, mean_gradient, mean_square, moment, grad, learning_rate, decay, momentum, epsilon,
    ),
    example=f'ops.ApplyCenteredRMSProp()({_WAB}, Parameter(Tensor([[0.0], [0.0]]), name="c"), {_G}, '
    f'0.5, 0.5, 0.5, 1.0).asnumpy().round(3)',
    prints='[[0.106]\n [2.   ]]',
)  # fmt: skip
SparseApplyRMSProp = operation(
    __name__, "SparseApplyRMSProp", updates.rms_prop,
    attributes={"rho": number(), "momentum": number(), "epsilon": number(), **_LOCK},
    run=lambda self, var, ms, mom, lr, grad, indices: updates.rms_prop(
        var, ms, mom, lr, grad, self.rho, self.momentum, self.epsilon, indices,
    ),
    example=f'ops.SparseApplyRMSProp(0.5, 0.5, 0.0)({_WAB}, 0.5, {_ROW}, {_AT})[0].asnumpy().round(3)',
    prints='[[-0.132]\n [ 2.   ]]',
)  # fmt: skip
ApplyFtrl = operation(
    __name__, "ApplyFtrl", updates.ftrl, attributes=_LOCK,
    run=lambda self, var, accum, linear, grad, lr, l1, l2, lr_power: updates.ftrl(
        var, accum, linear, grad, lr, l1, l2, lr_power,
    )[0],
    example=f'ops.ApplyFtrl()({_WAB}, {_G}, 0.5, 0.0, 0.0, -0.5).asnumpy().round(3)',
    prints='[[-0.118]\n [-0.707]]',
)  # fmt: skip
SparseApplyFtrl = operation(
    __name__, "SparseApplyFtrl", updates.ftrl,
    attributes={"lr": number(), "l1": number(), "l2": number(), "lr_power": number(), **_LOCK},
    run=lambda self, var, accum, linear, grad, indices: updates.ftrl(
        var, accum, linear, grad, self.lr, self.l1, self.l2, self.lr_power, indices,
    ),
    example=f'ops.SparseApplyFtrl(0.5, 0.0, 0.0, -0.5)({_WAB}, {_ROW}, {_AT})[0].asnumpy().round(3)',
    prints='[[-0.118]\n [ 2.   ]]',
)  # fmt: skip
SparseApplyFtrlV2 = operation(
    __name__, "SparseApplyFtrlV2", updates.ftrl,
    attributes={
        "lr": number(), "l1": number(), "l2": number(), "l2_shrinkage": number(), "lr_power":
        number(), **_LOCK,
    },
    run=lambda self, var, accum, linear, grad, indices: updates.ftrl(
        var, accum, linear, grad, self.lr, self.l1, self.l2, self.lr_power, indices,
        self.l2_shrinkage,
    ),
    example=f'ops.SparseApplyFtrlV2(0.5, 0.0, 0.0, 0.0, -0.5)({_WAB}, {_ROW}, {_AT})[0].asnumpy().round(3)',
    prints='[[-0.118]\n [ 2.   ]]',
)  # fmt: skip
FusedSparseFtrl = operation(
    __name__, "FusedSparseFtrl", updates.ftrl,
    attributes={"lr": number(), "l1": number(), "l2": number(), "lr_power": number(), **_LOCK},
    run=lambda self, var, accum, linear, grad, indices: updates.ftrl(
        var, accum, linear, grad, self.lr, self.l1, self.l2, self.lr_power, indices,
    ),
    example=f'ops.FusedSparseFtrl(0.5, 0.0, 0.0, -0.5)({_WAB}, {_ROW}, {_AT})[0].asnumpy().round(3)',
    prints='[[-0.118]\n [ 2.   ]]',
)  # fmt: skip
ApplyGradientDescent = operation(
    __name__, "ApplyGradientDescent", updates.gradient_descent,
    example=f'ops.ApplyGradientDescent()({_W}, 0.5, {_G}).asnumpy().round(3)', prints='[[0.]\n [2.]]',
)  # fmt: skip
ApplyProximalGradientDescent = operation(
    __name__, "ApplyProximalGradientDescent", updates.proximal_gradient_descent,
    example=f'ops.ApplyProximalGradientDescent()({_W}, 0.5, 0.0, 0.0, {_G}).asnumpy().round(3)',
    prints='[[0.]\n [2.]]',
)  # fmt: skip
ApplyProximalAdagrad = operation(
    __name__, "ApplyProximalAdagrad", updates.proximal_adagrad, attributes=_LOCK,
    run=lambda self, var, accum, lr, l1, l2, grad: updates.proximal_adagrad(var, accum, lr, l1, l2, grad),
    example=f'ops.ApplyProximalAdagrad()({_WA}, 0.5, 0.0, 0.0, {_G})[0].asnumpy().round(3)',
    prints='[[0.553]\n [2.   ]]',
)  # fmt: skip
SparseApplyProximalAdagrad = operation(
    __name__, "SparseApplyProximalAdagrad", updates.proximal_adagrad, attributes=_LOCK,
    run=lambda self, var, accum, lr, l1, l2, grad, indices: updates.proximal_adagrad(
        var, accum, lr, l1, l2, grad, indices,
    ),
    example=f'ops.SparseApplyProximalAdagrad()({_WA}, 0.5, 0.0, 0.0, {_ROW}, {_AT})[0].asnumpy().round(3)',
    prints='[[0.553]\n [2.   ]]',
)  # fmt: skip
FusedSparseProximalAdagrad = operation(
    __name__, "FusedSparseProximalAdagrad", updates.proximal_adagrad, attributes=_LOCK,
    run=lambda self, var, accum, lr, l1, l2, grad, indices: updates.proximal_adagrad(
        var, accum, lr, l1, l2, grad, indices,
    ),
    example=f'ops.FusedSparseProximalAdagrad()({_WA}, 0.5, 0.0, 0.0, {_ROW}, {_AT})[0].asnumpy().round(3)',
    prints='[[0.553]\n [2.   ]]',
)  # fmt: skip
FusedSparseAdam = operation(
    __name__, "FusedSparseAdam", updates.adam, attributes=_NESTEROV,
    run=lambda self, var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, indices:
    updates.adam(
        var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, self.use_nesterov,
        indices, False,
    ),
    example=f'ops.FusedSparseAdam()({_WAB}, 0.5, 0.75, 0.5, 0.5, 0.75, 0.0, {_ROW}, '
    f'{_AT})[0].asnumpy().round(3)',
    prints='[[0.433]\n [1.592]]',
)  # fmt: skip
FusedSparseLazyAdam = operation(
    __name__, "FusedSparseLazyAdam", updates.adam, attributes=_NESTEROV,
    run=lambda self, var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, indices:
    updates.adam(
        var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad, self.use_nesterov,
        indices,
    ),
    example=f'ops.FusedSparseLazyAdam()({_WAB}, 0.5, 0.75, 0.5, 0.5, 0.75, 0.0, {_ROW}, '
    f'{_AT})[0].asnumpy().round(3)',
    prints='[[0.433]\n [2.   ]]',
)  # fmt: skip
ApplyAdamWithAmsgrad = operation(
    __name__, "ApplyAdamWithAmsgrad", updates.adam_with_bound,
    attributes={"beta1": number(0.9), "beta2": number(0.999), "epsilon": number(1e-8), **_LOCK},
    run=lambda self, var, m, v, vhat, beta1_power, beta2_power, lr, grad: updates.adam_with_bound(
        var, m, v, vhat, beta1_power, beta2_power, lr, self.beta1, self.beta2, self.epsilon, grad,
    ),
    example=f'ops.ApplyAdamWithAmsgrad(0.5, 0.5)({_WAB}, Parameter(Tensor([[4.0], [4.0]]), name="c"), '
    f'0.5, 0.75, 0.5, {_G})[0].asnumpy().round(3)',
    prints='[[0.625]\n [1.75 ]]',
)  # fmt: skip
ApplyAdamWithAmsgradV2 = operation(
    __name__, "ApplyAdamWithAmsgradV2", updates.adam_with_bound, attributes=_LOCK,
    run=lambda self, var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad:
    updates.adam_with_bound(
        var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad,
    ),
    example=f'ops.ApplyAdamWithAmsgradV2()({_WAB}, Parameter(Tensor([[4.0], [4.0]]), name="c"), 0.5, '
    f'0.75, 0.5, 0.5, 0.5, 0.0, {_G})[0].asnumpy().round(3)',
    prints='[[0.625]\n [1.75 ]]',
)  # fmt: skip
LARSUpdate = operation(
    __name__, "LARSUpdate", updates.lars,
    attributes={"epsilon": number(1e-5), "hyperpara": number(0.001), "use_clip": boolean(False)},
    run=lambda self, weight, gradient, norm_weight, norm_gradient, weight_decay, learning_rate: updates.lars(
        weight, gradient, norm_weight, norm_gradient, weight_decay, learning_rate, self.epsilon,
        self.hyperpara, self.use_clip,
    ),
    example='ops.LARSUpdate(0.0, 0.5)(Tensor([1.0]), Tensor([2.0]), Tensor([4.0]), Tensor([4.0]), 0.0, '
    '0.5).asnumpy().round(3)',
    prints='[1.]',
)  # fmt: skip

__all__ = list(classes(globals()))
