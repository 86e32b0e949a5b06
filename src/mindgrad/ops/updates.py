"""Update rules of optimizers as operators of Parameters.

Each operator assigns the new values and returns them. The sparse forms accept the gradient of some rows of a
Parameter and the indices of these rows. The gradients of a repeated row are added, and rows that are not
listed do not change. The optimizers are in :mod:`mindgrad.nn.optim`.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core.ir.dtype import bool_, float32
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import clipping, creation, flow, layout, math, reduction, rounding, scattering, signs
from mindgrad.ops.operands import broadcast_to, cast, choose, operand

__all__: list[str] = []


class Rows:
    """The gradient of some rows of a Parameter.

    Args:
        parameter: the Parameter.
        gradient: gradient of shape (k, the other axes of the Parameter).
        indices: indices of the k rows.

    Attributes:
        gradient: gradient of all rows, where the other rows are zero.
    """

    def __init__(self, parameter: Any, gradient: Any, indices: Any) -> None:
        places = layout.expand_dims(operand(indices, "SparseApply"), -1)
        zeros = creation.zeros_like(operand(parameter, "SparseApply"))
        self.gradient = scattering.tensor_scatter_add(
            zeros, places, cast(operand(gradient, "SparseApply"), zeros.dtype)
        )
        count, shape = creation.zeros((zeros.shape[0],), float32), (zeros.shape[0], *[1] * (zeros.ndim - 1))
        ones = creation.ones((places.shape[0],), float32)
        named = cast(scattering.tensor_scatter_add(count, places, ones), bool_)
        self._named = broadcast_to(layout.reshape(named, shape), zeros.shape)

    def assign(self, parameter: Any, value: Any) -> Tensor:
        """Assign only the given rows of ``value`` to a Parameter; return the new value."""
        return flow.assign(parameter, choose(self._named, value, operand(parameter, "SparseApply")))


def _dense_or_rows(parameter: Any, gradient: Any, indices: Any) -> tuple[Any, Any]:
    """Return the gradient and a function that assigns values, to ``indices`` if given."""
    if indices is None:
        return operand(gradient, "Apply"), flow.assign
    rows = Rows(parameter, gradient, indices)
    return rows.gradient, rows.assign


def _mean(share: Any, old: Any, new: Any) -> Any:
    return old * share + new * (1 - share)


def adam(
    var: Any, m: Any, v: Any, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon:
    Any, gradient: Any, use_nesterov: bool = False, indices: Any = None, lazy: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Apply one step of Adam (Kingma and Ba 2015).

        m ← β₁ m + (1 − β₁) g,  v ← β₂ v + (1 − β₂) g²,  var ← var − lr √(1 − β₂ᵗ) / (1 − β₁ᵗ) · m / (√v + ε)

    With ``use_nesterov``, m is replaced by β₁ m + (1 − β₁) g in the last formula.
    """
    g, assign = _dense_or_rows(var, gradient, indices)
    if not lazy:
        assign = flow.assign
    m, v = assign(m, _mean(beta1, m, g)), assign(v, _mean(beta2, v, g * g))
    rate = lr * math.sqrt(1 - operand(beta2_power, "Adam")) / (1 - operand(beta1_power, "Adam"))  # type: ignore[operator]
    ahead = _mean(beta1, m, g) if use_nesterov else m
    return assign(var, var - rate * ahead / (math.sqrt(v) + epsilon)), m, v


def adam_with_bound(
    var: Any, m: Any, v: Any, vhat: Any, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any, beta2: Any,
    epsilon: Any, grad: Any,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Apply one step of AMSGrad (Reddi et al. 2018): Adam with the largest v so far."""
    g = operand(grad, "ApplyAdamWithAmsgrad")
    m, v = flow.assign(m, _mean(beta1, m, g)), flow.assign(v, _mean(beta2, v, g * g))  # type: ignore[operator]
    bound = flow.assign(vhat, clipping.maximum(vhat, v))
    one: Any = operand(beta2_power, "ApplyAdamWithAmsgrad"), operand(beta1_power, "ApplyAdamWithAmsgrad")
    rate = lr * math.sqrt(1 - one[0]) / (1 - one[1])
    return flow.assign(var, var - rate * m / (math.sqrt(bound) + epsilon)), m, v, bound


def adam_weight_decay(
    var: Any, m: Any, v: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, decay: Any, gradient: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """Apply one step of Adam with decoupled weight decay.

    The step is var ← var − lr (m / (√v + ε) + decay · var).
    """
    g: Any = operand(gradient, "AdamWeightDecay")
    m, v = flow.assign(m, _mean(beta1, m, g)), flow.assign(v, _mean(beta2, v, g * g))
    return flow.assign(var, var - lr * (m / (math.sqrt(v) + epsilon) + decay * var)), m, v


def sgd(
    parameters: Any, gradient: Any, learning_rate: Any, accum: Any, momentum: Any, stat: Any, dampening:
    float, weight_decay: float, nesterov: bool,
) -> Tensor:  # fmt: skip
    """Apply one step of gradient descent with momentum.

    ``stat`` is 1 before the first step and 0 afterwards.
    """
    g: Any = operand(gradient, "SGD")
    if weight_decay:
        g = g + weight_decay * parameters
    first = broadcast_to(operand(stat, "SGD") > 0, g.shape)  # type: ignore[arg-type, operator]
    moved: Any = flow.assign(accum, choose(first, g, accum * momentum + (1.0 - dampening) * g))
    flow.assign(stat, creation.zeros_like(operand(stat, "SGD")))
    return flow.assign(parameters, parameters - learning_rate * (g + momentum * moved if nesterov else moved))


def momentum(
    variable: Any,
    accumulation: Any,
    learning_rate: Any,
    gradient: Any,
    momentum: Any,
    use_nesterov: bool,
    gradient_scale: float,
) -> Tensor:
    """Apply one step of gradient descent with momentum.

    The step is accum ← momentum · accum + g, var ← var − lr · accum.
    """
    g: Any = operand(gradient, "ApplyMomentum") * gradient_scale  # type: ignore[operator]
    moved: Any = flow.assign(accumulation, accumulation * momentum + g)
    return flow.assign(variable, variable - learning_rate * (g + momentum * moved if use_nesterov else moved))


def keras_momentum(
    var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, use_nesterov: bool
) -> tuple[Tensor, Tensor]:
    """Apply one step of gradient descent with momentum, as in Keras.

    The step is accum ← momentum · accum − lr g, var ← var + accum.
    """
    step: Any = lr * operand(grad, "ApplyKerasMomentum")
    moved: Any = flow.assign(accum, accum * momentum - step)
    return flow.assign(var, var + (moved * momentum - step if use_nesterov else moved)), moved


def ada_max(
    var: Any, m: Any, v: Any, beta1_power: Any, lr: Any, beta1: Any, beta2: Any, epsilon: Any, grad: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """Apply one step of AdaMax (Kingma and Ba 2015): Adam with v ← max(β₂ v, |g|)."""
    g: Any = operand(grad, "ApplyAdaMax")
    m, v = flow.assign(m, _mean(beta1, m, g)), flow.assign(v, clipping.maximum(beta2 * v, rounding.abs(g)))
    return flow.assign(var, var - lr / (1 - operand(beta1_power, "ApplyAdaMax")) * m / (v + epsilon)), m, v  # type: ignore[operator]


def adadelta(
    var: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, epsilon: Any, grad: Any, indices: Any = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Apply one step of Adadelta (Zeiler 2012)."""
    g, assign = _dense_or_rows(var, grad, indices)
    accum = assign(accum, _mean(rho, accum, g * g))
    step = math.sqrt(accum_update + epsilon) / math.sqrt(accum + epsilon) * g  # type: ignore[operator]
    return assign(var, var - lr * step), accum, assign(accum_update, _mean(rho, accum_update, step * step))


def adagrad(
    var: Any,
    accum: Any,
    lr: Any,
    grad: Any,
    epsilon: float = 0.0,
    update_slots: bool = True,
    indices: Any = None,
) -> tuple[Tensor, Tensor]:
    """Apply one step of Adagrad (Duchi et al. 2011).

    The step is accum ← accum + g², var ← var − lr g / (√accum + ε).
    """
    g, assign = _dense_or_rows(var, grad, indices)
    accum = assign(accum, accum + g * g) if update_slots else operand(accum, "ApplyAdagrad")
    step = lr * g / (math.sqrt(accum) + epsilon)  # type: ignore[operator]
    return assign(var, var - step), accum


def adagrad_by_averages(
    var: Any, gradient_accumulator: Any, gradient_squared_accumulator: Any, grad: Any, lr: Any, l1: Any, l2:
    Any, global_step: Any,
) -> Tensor:  # fmt: skip
    """Apply one step of Adagrad with dual averaging (Duchi et al. 2011).

    The step is computed from the sums of g and g² over all steps.
    """
    g: Any = operand(grad, "ApplyAdagradDA")
    total = flow.assign(gradient_accumulator, gradient_accumulator + g)
    squares = flow.assign(gradient_squared_accumulator, gradient_squared_accumulator + g * g)
    step = cast(operand(global_step, "ApplyAdagradDA"), g.dtype)
    return flow.assign(var, -lr * _shrunk(total, l1 * step) / (l2 * step * lr + math.sqrt(squares)))


def ada_factor(
    epsilon: Any, clip_threshold: Any, beta1: Any, beta2: Any, weight_decay: Any, learning_rate: Any,
    gradient: Any, param: Any, exp_avg: Any, exp_avg_sq_row: Any, exp_avg_sq_col: Any, exp_avg_sq: Any,
    enable_scale_parameter: bool = False, enable_first_moment: bool = False,
    enable_weight_decay: bool = False,
) -> Tensor:  # fmt: skip
    """Apply one step of Adafactor (Shazeer and Stern 2018).

    If the Parameter has two or more axes, Adafactor stores moving averages of g² over rows and over columns.
    Otherwise, it stores one moving average for each element. The root mean square of the step is limited to
    ``clip_threshold``.
    """
    g: Any = cast(operand(gradient, "FusedAdaFactor"), float32)
    x: Any = cast(operand(param, "FusedAdaFactor"), float32)
    rate = learning_rate
    if enable_scale_parameter:
        rate = rate * clipping.maximum(_root_mean_square(x), epsilon[1])
    squares = g * g + epsilon[0]
    if g.ndim > 1:
        rows: Any = flow.assign(exp_avg_sq_row, _mean(beta2, exp_avg_sq_row, reduction.mean(squares, -1)))
        columns: Any = flow.assign(exp_avg_sq_col, _mean(beta2, exp_avg_sq_col, reduction.mean(squares, -2)))
        rows = cast(rows, float32)
        rows = rows / reduction.mean(rows, -1, True)
        square = layout.expand_dims(rows, -1) * layout.expand_dims(cast(columns, float32), -2)  # type: ignore[operator]
    else:
        square = cast(flow.assign(exp_avg_sq, _mean(beta2, exp_avg_sq, squares)), float32)
    step = g / math.sqrt(square)
    step = rate * step / clipping.maximum(_root_mean_square(step) / clip_threshold, 1.0)  # type: ignore[operator]
    if enable_first_moment:
        step = cast(flow.assign(exp_avg, _mean(beta1, exp_avg, step)), float32)
    if enable_weight_decay:
        x = x - weight_decay * rate * x
    return flow.assign(param, cast(x - step, param.dtype))


def _root_mean_square(x: Any) -> Any:
    return math.sqrt(reduction.mean(x * x))


def add_sign(
    var: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, grad: Any
) -> tuple[Tensor, Tensor]:
    """Apply one step of AddSign (Bello et al. 2017).

    The step is var ← var − lr (α + decay · sign g · sign m) g.

    Args:
        alpha (Tensor or number): the coefficient α.
        beta (Tensor or number): decay rate of the moving average m.
    """
    g: Any = operand(grad, "ApplyAddSign")
    m = flow.assign(m, _mean(beta, m, g))
    return flow.assign(var, var - lr * (alpha + sign_decay * (signs.sgn(g) * signs.sgn(m))) * g), m  # type: ignore[operator]


def power_sign(
    var: Any, m: Any, lr: Any, logbase: Any, sign_decay: Any, beta: Any, grad: Any
) -> tuple[Tensor, Tensor]:
    """Apply one step of PowerSign (Bello et al. 2017).

    The step is var ← var − lr exp(logbase · decay · sign g sign m) g.

    Args:
        beta (Tensor or number): decay rate of the moving average m.
    """
    g: Any = operand(grad, "ApplyPowerSign")
    m = flow.assign(m, _mean(beta, m, g))
    return flow.assign(var, var - lr * math.exp(logbase * sign_decay * (signs.sgn(g) * signs.sgn(m))) * g), m  # type: ignore[operator]


def rms_prop(
    var: Any, mean_square: Any, moment: Any, learning_rate: Any, grad: Any, decay: Any, momentum: Any,
    epsilon: Any, indices: Any = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Apply one step of RMSProp (Hinton 2012).

    The step is moment ← momentum · moment + lr g / √(mean of g² + ε), var ← var − moment.
    """
    g, assign = _dense_or_rows(var, grad, indices)
    square = assign(mean_square, _mean(decay, mean_square, g * g))
    moved: Any = assign(moment, momentum * moment + learning_rate * g / math.sqrt(square + epsilon))
    return assign(var, var - moved), square, moved


def centered_rms_prop(
    var: Any, mean_gradient: Any, mean_square: Any, moment: Any, grad: Any, learning_rate: Any, decay: Any,
    momentum: Any, epsilon: Any,
) -> Tensor:  # fmt: skip
    """Apply one step of RMSProp with the variance of g (Graves 2013).

    In the formula of RMSProp, the variance of g replaces the mean of g².
    """
    g: Any = operand(grad, "ApplyCenteredRMSProp")
    square: Any = flow.assign(mean_square, _mean(decay, mean_square, g * g))
    mean: Any = flow.assign(mean_gradient, _mean(decay, mean_gradient, g))
    spread = math.sqrt(square - mean * mean + epsilon)
    moved = flow.assign(moment, momentum * moment + learning_rate * g / spread)
    return flow.assign(var, var - moved)


def ftrl(
    var: Any, accum: Any, linear: Any, grad: Any, lr: Any, l1: Any, l2: Any, lr_power: Any, indices: Any =
    None, l2_shrinkage: float = 0.0,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Apply one step of FTRL, "follow the regularized leader" (McMahan et al. 2013).

        linear ← linear + g + 2 l2_shrinkage · var − (accum'⁻ᵖ − accum⁻ᵖ) / lr · var
        var ← (l1 sign(linear) − linear) / (accum'⁻ᵖ / lr + 2 l2)

    p is ``lr_power``, accum' is accum + g², and var is 0 where ``|linear| ≤ l1``.
    """
    g, assign = _dense_or_rows(var, grad, indices)
    old, new = _power(accum, lr_power), _power(accum + g * g, lr_power)
    total = assign(linear, linear + g + 2.0 * l2_shrinkage * var - (new - old) / lr * var)
    var = assign(var, -_shrunk(total, l1) / (new / lr + 2.0 * l2))
    return var, assign(accum, accum + g * g), total


def _power(x: Any, exponent: Any) -> Any:
    return operand(x, "ApplyFtrl") ** -exponent  # type: ignore[operator]


def gradient_descent(var: Any, alpha: Any, delta: Any) -> Tensor:
    """Apply one step of gradient descent: var ← var − alpha · delta.

    Args:
        alpha (Tensor or number): learning rate.
        delta (Tensor): the gradient.
    """
    return flow.assign(var, var - alpha * operand(delta, "ApplyGradientDescent"))


def proximal_adagrad(
    var: Any, accum: Any, lr: Any, l1: Any, l2: Any, grad: Any, indices: Any = None
) -> tuple[Tensor, Tensor]:
    """Apply one step of Adagrad with a proximal map (Duchi and Singer 2009).

    The regularizer of the proximal map is l1 |var| + l2 var² / 2.
    """
    g, assign = _dense_or_rows(var, grad, indices)
    accum = assign(accum, accum + g * g)
    rate = lr / math.sqrt(accum)
    if indices is not None:  # in rows whose gradients have all been zero, accum is 0
        rate = choose(accum > 0, rate, 0.0)  # type: ignore[operator]
    return assign(var, _shrunk(var - rate * g, rate * l1) / (1 + rate * l2)), accum


def proximal_gradient_descent(var: Any, alpha: Any, l1: Any, l2: Any, delta: Any) -> Tensor:
    """Apply one step of gradient descent with a proximal map.

    The regularizer of the proximal map is l1 |var| + l2 var² / 2.

    Args:
        alpha (Tensor or number): learning rate.
        delta (Tensor): the gradient.
    """
    moved = var - alpha * operand(delta, "ApplyProximalGradientDescent")
    return flow.assign(var, _shrunk(moved, alpha * l1) / (1 + alpha * l2))


def lars(
    weight: Any, gradient: Any, norm_weight: Any, norm_gradient: Any, weight_decay: Any, learning_rate: Any,
    epsilon: float, hyperpara: float, use_clip: bool,
) -> Tensor:  # fmt: skip
    """Scale the gradient of a layer by LARS (You et al. 2017).

    The result is (g + λ w) · c ‖w‖ / (‖g‖ + λ ‖w‖ + ε). ``norm_weight`` and ``norm_gradient`` are sums of
    squares. With ``use_clip`` the factor is divided by the learning rate and is at most 1.
    """
    size, slope = math.sqrt(norm_weight), math.sqrt(norm_gradient)
    factor: Any = hyperpara * size / (slope + weight_decay * size + epsilon)  # type: ignore[operator]
    if use_clip:
        factor = clipping.minimum(factor / learning_rate, 1.0)
    return factor * (gradient + weight_decay * weight)


def _shrunk(x: Any, by: Any) -> Any:
    """Move x towards 0 by ``by``, but not past 0 (soft thresholding)."""
    return signs.sgn(x) * clipping.maximum(rounding.abs(x) - by, 0.0)  # type: ignore[operator]
