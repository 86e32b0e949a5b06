"""Optimizers: several steps of each against formulas written for NumPy, groups, rates, decays, errors."""

import copy
import pickle

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import nn, ops
from tests.tolerances import assert_close

SHAPES = {"dense.weight": (3, 2), "dense.bias": (3,), "norm.gamma": (2, 2, 2)}
STEPS = 4


def drawn(seed: int = 0) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [generator.normal(size=shape).astype(np.float32) for shape in SHAPES.values()]


GRADIENTS = [drawn(seed) for seed in range(1, STEPS + 1)]


def parameters() -> list[ms.Parameter]:
    return [ms.Parameter(value, name=name) for name, value in zip(SHAPES, drawn(), strict=True)]


def given(gradients: list[np.ndarray]) -> tuple[ms.Tensor, ...]:
    return tuple(map(ms.Tensor, gradients))


# --- oracles: state, w = step(state, w, g, t), elementwise in float64 ----------------------------------


def sgd(lr=0.1, mu=0.0, tau=0.0, decay=0.0, nesterov=False):
    def step(s, w, g, t):
        g = g + decay * w
        if mu == 0:
            return s, w - lr * g
        v = g if t == 1 else mu * s["v"] + (1 - tau) * g
        return {"v": v}, w - lr * (g + mu * v if nesterov else v)

    return step


def momentum(lr=0.1, mu=0.9, nesterov=False):
    def step(s, w, g, t):
        v = mu * s.get("v", 0) + g
        return {"v": v}, w - lr * (g + mu * v if nesterov else v)

    return step


def adam(lr=0.1, b1=0.9, b2=0.999, eps=1e-8, kind=""):
    def step(s, w, g, t):
        m = b1 * s.get("m", 0) + (1 - b1) * g
        v = b2 * s.get("v", 0) + (1 - b2) * g * g
        top = np.maximum(s.get("top", 0), v)
        rate = lr * np.sqrt(1 - b2**t) / (1 - b1**t)
        first = b1 * m + (1 - b1) * g if kind == "nesterov" else m
        return {"m": m, "v": v, "top": top}, w - rate * first / (
            np.sqrt(top if kind == "amsgrad" else v) + eps
        )

    return step


def adam_weight_decay(lr=0.1, b1=0.9, b2=0.999, eps=1e-6, decay=0.0):
    def step(s, w, g, t):
        m = b1 * s.get("m", 0) + (1 - b1) * g
        v = b2 * s.get("v", 0) + (1 - b2) * g * g
        return {"m": m, "v": v}, w - lr * (m / (np.sqrt(v) + eps) + decay * w)

    return step


def rmsprop(lr=0.1, rho=0.9, beta=0.0, eps=1e-10, is_centered=False):
    def step(s, w, g, t):
        square = rho * s.get("s", 1) + (1 - rho) * g * g
        mean = rho * s.get("a", 0) + (1 - rho) * g
        spread = square - mean**2 if is_centered else square
        m = beta * s.get("m", 0) + lr * g / np.sqrt(spread + eps)
        return {"s": square, "a": mean, "m": m}, w - m

    return step


def adagrad(lr=0.1, accum=0.1, grows=True):
    def step(s, w, g, t):
        total = s.get("s", accum) + (g * g if grows else 0)
        return {"s": total}, w - lr * g / np.sqrt(total)

    return step


def adadelta(lr=0.5, rho=0.8, eps=1e-3):
    def step(s, w, g, t):
        square = rho * s.get("s", 0) + (1 - rho) * g * g
        u = g * np.sqrt(s.get("d", 0) + eps) / np.sqrt(square + eps)
        return {"s": square, "d": rho * s.get("d", 0) + (1 - rho) * u * u}, w - lr * u

    return step


def adamax(lr=0.1, b1=0.9, b2=0.999, eps=1e-8):
    def step(s, w, g, t):
        m = b1 * s.get("m", 0) + (1 - b1) * g
        v = np.maximum(b2 * s.get("v", 0), np.abs(g))
        return {"m": m, "v": v}, w - lr / (1 - b1**t) * m / (v + eps)

    return step


def ftrl(lr=0.1, start=0.1, l1=0.05, l2=0.02):
    def step(s, w, g, t):
        n = s.get("n", start)
        after = n + g * g
        z = s.get("z", 0) + g - (np.sqrt(after) - np.sqrt(n)) / lr * w
        w = np.where(np.abs(z) > l1, (np.sign(z) * l1 - z) / (np.sqrt(after) / lr + 2 * l2), 0)
        return {"n": after, "z": z}, w

    return step


def lamb(lr=0.1, b1=0.9, b2=0.999, eps=1e-6, decay=0.0):
    def step(s, w, g, t):
        m = b1 * s.get("m", 0) + (1 - b1) * g
        v = b2 * s.get("v", 0) + (1 - b2) * g * g
        r = m / (1 - b1**t) / (np.sqrt(v / (1 - b2**t)) + eps) + decay * w
        ratio = min(np.linalg.norm(w) / np.linalg.norm(r), 10)
        return {"m": m, "v": v}, w - lr * ratio * r

    return step


def proximal(lr=0.1, accum=0.1, l1=0.05, l2=0.02):
    def step(s, w, g, t):
        total = s.get("s", accum) + g * g
        rate = lr / np.sqrt(total)
        u = w - rate * g
        return {"s": total}, np.sign(u) * np.maximum(np.abs(u) - rate * l1, 0) / (1 + rate * l2)

    return step


def asgd(lr=0.1, lambd=0.01, alpha=0.75, t0=2.0):
    def step(s, w, g, t):
        eta, mu = s.get("eta", lr), s.get("mu", 1.0)
        w = w * (1 - lambd * eta) - eta * g
        a = w if mu == 1 else s["a"] + (w - s["a"]) * mu
        return {"eta": lr / (1 + lambd * lr * t) ** alpha, "mu": 1 / max(1, t - t0), "a": a}, w

    return step


def rprop(lr=0.1, shrink=0.5, grow=1.2, least=1e-6, most=50.0):
    def step(s, w, g, t):
        agreement = g * s.get("g", 0)
        factor = np.where(agreement > 0, grow, np.where(agreement < 0, shrink, 1))
        size = np.clip(s.get("size", lr) * factor, least, most)
        g = np.where(agreement < 0, 0, g)
        return {"g": g, "size": size}, w - np.sign(g) * size

    return step


CASES = {
    "sgd": (lambda p: nn.SGD(p, 0.1), sgd()),
    "sgd momentum": (lambda p: nn.SGD(p, 0.1, 0.9, 0.5), sgd(mu=0.9, tau=0.5)),
    "sgd nesterov": (lambda p: nn.SGD(p, 0.1, momentum=0.9, nesterov=True), sgd(mu=0.9, nesterov=True)),
    "sgd decay": (lambda p: nn.SGD(p, 0.1, 0.9, weight_decay=0.3), sgd(mu=0.9, decay=0.3)),
    "momentum": (lambda p: nn.Momentum(p, 0.1, 0.9), momentum()),
    "momentum nesterov": (lambda p: nn.Momentum(p, 0.1, 0.9, use_nesterov=True), momentum(nesterov=True)),
    "adam": (lambda p: nn.Adam(p, 0.1), adam()),
    "adam great eps": (lambda p: nn.Adam(p, 0.1, eps=0.1), adam(eps=0.1)),
    "adam betas": (lambda p: nn.Adam(p, 0.1, 0.5, 0.75), adam(b1=0.5, b2=0.75)),
    "adam nesterov": (lambda p: nn.Adam(p, 0.1, use_nesterov=True), adam(kind="nesterov")),
    "adam amsgrad": (lambda p: nn.Adam(p, 0.1, 0.5, 0.5, use_amsgrad=True), adam(b1=0.5, b2=0.5, kind="amsgrad")),
    "lazy adam": (lambda p: nn.LazyAdam(p, 0.1), adam()),
    "adam offload": (lambda p: nn.AdamOffload(p, 0.1), adam()),
    "adam weight decay": (lambda p: nn.AdamWeightDecay(p, 0.1), adam_weight_decay()),
    "rmsprop": (lambda p: nn.RMSProp(p, 0.1, momentum=0.5), rmsprop(beta=0.5)),
    "rmsprop centered": (lambda p: nn.RMSProp(p, 0.1, centered=True), rmsprop(is_centered=True)),
    "adagrad": (lambda p: nn.Adagrad(p, learning_rate=0.1), adagrad()),
    "adagrad fixed": (lambda p: nn.Adagrad(p, 0.5, 0.1, update_slots=False), adagrad(accum=0.5, grows=False)),
    "adadelta": (lambda p: nn.Adadelta(p, 0.5, 0.8, 1e-3), adadelta()),
    "adamax": (lambda p: nn.AdaMax(p, 0.1), adamax()),
    "ftrl": (lambda p: nn.FTRL(p, 0.1, 0.1, l1=0.05, l2=0.02), ftrl()),
    "lamb": (lambda p: nn.Lamb(p, 0.1), lamb()),
    "proximal adagrad": (lambda p: nn.ProximalAdagrad(p, 0.1, 0.1, l1=0.05, l2=0.02), proximal()),
    "asgd": (lambda p: nn.ASGD(p, 0.1, lambd=0.01, t0=2.0), asgd()),
    "rprop": (lambda p: nn.Rprop(p, 0.1), rprop()),
}  # fmt: skip


def expected(step, gradients=GRADIENTS) -> list[np.ndarray]:
    """Where the oracle gets to; ``step`` may be one for each parameter."""
    steps = step if isinstance(step, list) else [step] * len(SHAPES)
    found = []
    for k, (start, rule) in enumerate(zip(drawn(), steps, strict=True)):
        state, w = {}, start.astype(np.float64)
        for t, each in enumerate(gradients, 1):
            state, w = rule(state, w, each[k].astype(np.float64), t)
        found.append(w)
    return found


def trained(make, gradients=GRADIENTS, loss_scale: float = 1.0) -> list[ms.Parameter]:
    held = parameters()
    optimizer = make(held)
    for each in gradients:
        assert optimizer(given([g * loss_scale for g in each])) is True
    assert optimizer.global_step.value().asnumpy().tolist() == [len(gradients)]
    return held


def same_parameters(held, wanted):
    for parameter, value in zip(held, wanted, strict=True):
        assert_close(parameter, value, "long program", scale=1)


@pytest.mark.parametrize("case", CASES)
def test_four_steps_agree_with_the_formula(case):
    make, step = CASES[case]
    same_parameters(trained(make), expected(step))


def test_all_optimizers_compiled_in_one_program():
    held = {case: parameters() for case in CASES}
    optimizers = [make(held[case]) for case, (make, _) in CASES.items()]

    @ms.jit
    def step(*gradients):
        for optimizer in optimizers:
            optimizer(gradients)
        return gradients[0]

    for each in GRADIENTS:
        step(*given(each))
    assert step.cache_info().misses == 1
    for case, (_, rule) in CASES.items():
        same_parameters(held[case], expected(rule))
    assert [o.global_step.asnumpy().item() for o in optimizers] == [STEPS] * len(optimizers)


# --- decay, scale, groups ------------------------------------------------------------------------------


def decayed(step, decay):
    return lambda s, w, g, t: step(s, w, g + decay * w, t)


def test_weight_decay_leaves_out_names_with_beta_and_gamma():
    actual = trained(lambda p: nn.Adam(p, 0.1, weight_decay=0.3))
    same_parameters(actual, expected([decayed(adam(), 0.3), decayed(adam(), 0.3), adam()]))
    actual = trained(lambda p: nn.AdamWeightDecay(p, 0.1, weight_decay=0.3))
    same_parameters(actual, expected([adam_weight_decay(decay=0.3)] * 2 + [adam_weight_decay()]))
    actual = trained(lambda p: nn.Lamb(p, 0.1, weight_decay=0.3))
    same_parameters(actual, expected([lamb(decay=0.3)] * 2 + [lamb()]))


def test_loss_scale_divides_gradients_but_not_the_decay():
    actual = trained(lambda p: nn.Momentum(p, 0.1, 0.9, 0.3, loss_scale=1024.0), loss_scale=1024.0)
    same_parameters(actual, expected([decayed(momentum(), 0.3)] * 2 + [momentum()]))
    actual = trained(lambda p: nn.SGD(p, 0.1, 0.9, weight_decay=0.3, loss_scale=1024.0), loss_scale=1024.0)
    same_parameters(actual, expected(sgd(mu=0.9, decay=0.3)))


def test_groups_have_rates_decays_and_centered_gradients_of_their_own():
    def make(p):
        groups = [
            {"params": p[1:], "lr": 0.05, "weight_decay": 0.2},
            {"params": p[:1], "grad_centralization": True},
            {"order_params": p},
        ]
        optimizer = nn.Momentum(groups, 0.1, 0.9, weight_decay=0.0)
        assert [each.name for each in optimizer.parameters] == list(SHAPES)
        assert_close([float(each) for each in optimizer.get_lr()], [0.1, 0.05, 0.05], dtype=np.float32)
        assert optimizer.get_lr_parameter(p[1]).name == "learning_rate_group_0"
        return optimizer

    rest = decayed(momentum(lr=0.05), 0.2)
    centered = [[g[0] - g[0].mean(1, keepdims=True), *g[1:]] for g in GRADIENTS]
    same_parameters(trained(make), expected([momentum(), rest, rest], centered))


def test_weight_decay_may_be_a_cell():
    class Decay(nn.Cell):
        def construct(self, step):
            return 0.1 * ops.cast(step, ms.float32)

    found = trained(lambda p: nn.SGD(p, 0.1, weight_decay=Decay()))
    same_parameters(found, expected(lambda s, w, g, t: (s, w - 0.1 * (g + 0.1 * (t - 1) * w))))


# --- learning rates ------------------------------------------------------------------------------------


def rated(rates):
    return lambda s, w, g, t: (s, w - rates[min(t, len(rates)) - 1] * g)


@pytest.mark.parametrize(
    "rate",
    [
        [0.1, 0.2, 0.4, 0.8],
        (0.1 * 2**k for k in range(4)),
        ms.Tensor([0.1, 0.2, 0.4, 0.8]),
        np.float32([0.1, 0.2, 0.4, 0.8]),
    ],
    ids=["list", "generator", "tensor", "array"],
)
def test_one_rate_for_each_step(rate):
    same_parameters(trained(lambda p: nn.SGD(p, rate)), expected(rated([0.1, 0.2, 0.4, 0.8])))


def test_behind_the_last_rate_it_stays():
    same_parameters(trained(lambda p: nn.SGD(p, [0.1, 0.2])), expected(rated([0.1, 0.2])))


def test_a_tensor_is_a_fixed_rate_that_can_be_changed():
    held = parameters()
    optimizer = nn.SGD(held, ms.Tensor(0.1))
    assert_close(optimizer.get_lr(), 0.1)
    optimizer(given(GRADIENTS[0]))
    optimizer.learning_rate.set_data(ms.Tensor(0.7))
    optimizer(given(GRADIENTS[1]))
    same_parameters(held, expected(rated([0.1, 0.7]), GRADIENTS[:2]))


def test_schedules_in_groups_and_compiled():
    held = parameters()
    groups = [{"params": held[:1], "lr": nn.ExponentialDecayLR(0.4, 0.5, 1)}, {"params": held[1:]}]
    optimizer = nn.SGD(groups, 0.1)
    assert isinstance(optimizer.get_lr_parameter(held[0]), nn.ExponentialDecayLR)
    assert optimizer.get_lr_parameter(held[2]).name == "learning_rate_group_1"
    step = ms.jit(lambda *g: optimizer(g))
    for each in GRADIENTS:
        step(*given(each))
    fixed = rated([0.1])
    same_parameters(held, expected([rated([0.4, 0.2, 0.1, 0.05]), fixed, fixed]))
    assert_close([float(r) for r in optimizer.get_lr()], [0.4 / 16, 0.1, 0.1], dtype=np.float32)


def test_user_schedules_with_python_branches():
    class Warm(nn.LearningRateSchedule):
        def construct(self, global_step):
            if global_step < 2:
                return 0.1 * (global_step.astype(ms.float32) + 1.0)
            return ops.ones_like(global_step).astype(ms.float32) * 0.5

    held = parameters()
    optimizer = nn.SGD(held, Warm())
    optimizer(given(GRADIENTS[0]))
    step = ms.jit(lambda *g: optimizer(g))
    for each in GRADIENTS[1:]:
        step(*given(each))
    same_parameters(held, expected(rated([0.1, 0.2, 0.5])))


# --- a whole training step -----------------------------------------------------------------------------


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(drawn()[0], name="weight")
        self.bias = ms.Parameter(drawn()[1], name="bias")

    def construct(self, x):
        return ops.tanh(ops.matmul(x, self.weight.T) + self.bias)


def losses(jit: bool) -> tuple[list[float], Net, nn.Optimizer]:
    net = Net()
    optimizer = nn.Adam(net.trainable_params(), nn.ExponentialDecayLR(0.1, 0.9, 2), weight_decay=0.01)
    gradient = ms.value_and_grad(lambda x: ops.square(net(x)).sum(), None, optimizer.parameters)

    def step(x):
        loss, gradients = gradient(x)
        return ops.depend(loss, optimizer(gradients))

    if jit:
        step = ms.jit(step)
    x = ms.Tensor(np.random.default_rng(3).normal(size=(5, 2)).astype(np.float32))
    found = [float(step(x)) for _ in range(6)]
    if jit:
        assert step.cache_info().misses == 1
    return found, net, optimizer


def test_a_compiled_training_step_is_the_eager_one():
    eager, net, optimizer = losses(jit=False)
    compiled, compiled_net, compiled_optimizer = losses(jit=True)
    assert eager[-1] < eager[0]
    assert_close(compiled, eager, kind="program", dtype=np.float32)
    for a, b in zip(optimizer.get_parameters(), compiled_optimizer.get_parameters(), strict=True):
        assert a.name == b.name
        assert_close(a, b, kind="long program", each=True, scale=0.01)
    assert_close(net.weight, compiled_net.weight, kind="long program", each=True)


@pytest.mark.xla
def test_a_compiled_step_replaces_parameters_and_state_in_place():
    held = [ms.Parameter(np.ones((64, 64), np.float32), name="w")]
    optimizer = nn.Adam(held, 0.1)
    step = ms.jit(lambda g: optimizer((g,)))
    gradient = ms.Tensor(np.ones((64, 64), np.float32))
    step(gradient)
    state = (held[0], optimizer.moment1[0], optimizer.moment2[0])
    before = {p._array.unsafe_buffer_pointer() for p in state}
    step(gradient)
    assert {p._array.unsafe_buffer_pointer() for p in state} == before


def test_in_graph_mode_a_call_is_one_program():
    held = parameters()
    optimizer = nn.SGD(held, 0.1)
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        for each in GRADIENTS:
            optimizer(given(each))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert optimizer._compiled.cache_info().misses == 1
    same_parameters(held, expected(sgd()))


# --- state ---------------------------------------------------------------------------------------------


def test_state_has_the_names_of_mindspore():
    held = parameters()
    names = [p.name for p in nn.Adam(held, 0.1).get_parameters()]
    assert set(names) == {
        *SHAPES, "learning_rate", "global_step", "beta1_power", "beta2_power",
        *[f"{m}.{n}" for m in ("moment1", "moment2") for n in SHAPES],
    }  # fmt: skip
    assert "moments.dense.bias" in nn.Momentum(held, 0.1, 0.9).parameters_dict()
    assert {"accum.dense.bias", "stat.dense.bias"} <= set(nn.SGD(held).parameters_dict())
    assert {"mean_square.dense.bias", "moment.dense.bias", "mean_grad.dense.bias"} <= set(
        nn.RMSProp(held, centered=True).parameters_dict()
    )
    assert "learning_rate" in nn.SGD(held, [0.1, 0.2]).parameters_dict()


def test_an_optimizer_prints_its_name_and_schedules():
    held = parameters()
    count = len(held)
    assert repr(nn.Adam(held, 0.1)) == f"Adam({count} Parameters, learning_rate=0.1)"
    assert repr(nn.Adam(held, nn.WarmUpLR(0.1, 4), beta1=0.5, weight_decay=0.01)) == (
        f"Adam({count} Parameters, learning_rate=WarmUpLR, beta1=0.5, weight_decay=0.01)"
    )
    assert repr(nn.Momentum(held, [0.1, 0.2, 0.3], 0.9)) == (
        f"Momentum({count} Parameters, learning_rate=one of 3 per step, momentum=0.9)"
    )
    groups = [{"params": held[:1], "lr": 0.5}, {"params": held[1:]}]
    assert repr(nn.SGD(groups, 0.1)) == f"SGD({count} Parameters, learning_rate=(0.5, 0.1))"
    assert repr(ms.experimental.optim.SGD(held, lr=0.1)) == f"SGD({count} Parameters, lr=0.1)"
    assert nn.Adam(held[:1])._repr_html_().count("Adam(1 Parameter, learning_rate=0.001)") == 1


def test_state_comes_back_from_a_file(tmp_path):
    held, others = parameters(), parameters()
    optimizer, restored = nn.Adam(held, 0.1), nn.Adam(others, 0.1)
    optimizer(given(GRADIENTS[0]))
    ms.save_checkpoint(optimizer, str(tmp_path / "state.ckpt"))
    ms.load_param_into_net(restored, ms.load_checkpoint(str(tmp_path / "state.ckpt")))
    for each in GRADIENTS[1:]:
        restored(given(each))
    same_parameters(others, expected(adam()))


def test_a_cell_that_holds_an_optimizer_names_its_state_and_trains_no_more():
    class Trainer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = Net()
            self.first = nn.Adam(self.net.trainable_params(), 0.1)
            self.second = nn.SGD(self.net.trainable_params(), 0.1)

    trainer = Trainer()
    assert [p.name for p in trainer.trainable_params()] == ["net.weight", "net.bias"]
    names = [p.name for p in trainer.get_parameters()]
    assert len(set(names)) == len(names)
    assert {"first.global_step", "second.global_step", "first.moment1.net.weight"} <= set(names)


def test_copies_train_on_their_own():
    net = Net()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    twin_net, twin = copy.deepcopy((net, optimizer))
    twin((ms.Tensor(GRADIENTS[0][0]), ms.Tensor(GRADIENTS[0][1])))
    assert twin.parameters[0] is twin_net.weight
    assert np.array_equal(net.weight.asnumpy(), drawn()[0])
    assert not np.array_equal(twin_net.weight.asnumpy(), drawn()[0])
    loaded = pickle.loads(pickle.dumps(optimizer))
    assert loaded((ms.Tensor(GRADIENTS[0][0]), ms.Tensor(GRADIENTS[0][1]))) is True


def test_half_precision_parameters_keep_their_type():
    w = ms.Parameter(np.ones(3, np.float16), name="w")
    optimizer = nn.Adam([w], 0.1)
    optimizer((ms.Tensor(np.ones(3, np.float32)),))
    assert w.dtype is ms.float16
    assert_close(w, np.float16(0.9))


def test_double_precision_parameters_keep_their_digits():
    w = ms.Parameter(np.full(3, 1.0 + 1e-12), name="w")
    nn.SGD([w], 0.5)((ms.Tensor(np.full(3, 1e-12)),))
    assert w.dtype is ms.float64
    np.testing.assert_allclose(w.asnumpy() - 1.0, 0.5e-12, rtol=1e-3)


# --- optimizers of users -------------------------------------------------------------------------------


@pytest.mark.parametrize("counts", [False, True])
def test_each_call_is_one_step_whoever_counts_it(counts):
    class Own(nn.Optimizer):
        def construct(self, gradients):
            lr = self.get_lr()
            if counts:
                self.assignadd(self.global_step, self.global_step_increase_tensor)
            gradients = self.scale_grad(self.decay_weight(self.flatten_gradients(gradients)))
            apply = ops.MultitypeFuncGraph("apply")

            @apply.register("Tensor", "Tensor", "Tensor")
            def _apply(rate, parameter, gradient):
                ops.assign_sub(parameter, rate * gradient)
                return True

            return self.hyper_map(ops.partial(apply, lr), self._parameters, gradients)

    held = parameters()
    optimizer = Own([0.1, 0.2, 0.4, 0.8], held)
    for each in GRADIENTS:
        optimizer(given(each))
    same_parameters(held, expected(rated([0.1, 0.2, 0.4, 0.8])))
    assert optimizer.global_step.asnumpy().tolist() == [STEPS]


# --- errors --------------------------------------------------------------------------------------------

W = ms.Parameter(np.ones(2, np.float32), name="w")
V = ms.Parameter(np.ones(2, np.float32), name="v")


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: nn.SGD([], 0.1), ValueError, "nothing to train"),
        (lambda: nn.SGD(None, 0.1), ValueError, "can not be None"),
        (lambda: nn.SGD(W, 0.1), TypeError, "list of Parameters, but got Parameter"),
        (lambda: nn.SGD([W, 3], 0.1), TypeError, "all elements of the 'params'"),
        (lambda: nn.SGD([W, W], 0.1), RuntimeError, "'w' is given twice"),
        (lambda: nn.SGD([W, ms.Parameter(np.ones(2), name="w")], 0.1), RuntimeError, "two Parameters have the name 'w'"),
        (lambda: nn.SGD([W], -0.1), ValueError, "'learning_rate' must be at least 0"),
        (lambda: nn.SGD([W], True), TypeError, "'learning_rate' must be a float"),
        (lambda: nn.SGD([W], "0.1"), TypeError, "'learning_rate' must be a float"),
        (lambda: nn.SGD([W], [0.1, -0.2]), ValueError, "at least 0"),
        (lambda: nn.SGD([W], []), ValueError, "empty"),
        (lambda: nn.SGD([W], ms.Tensor(np.ones((2, 2)))), ValueError, "at most 1 axis"),
        (lambda: nn.SGD([W], 0.1, weight_decay=-1.0), ValueError, "'weight_decay' must be at least 0"),
        (lambda: nn.SGD([W], 0.1, loss_scale=0.0), ValueError, "'loss_scale' must be greater than 0"),
        (lambda: nn.SGD([W], 0.1, nesterov=True), ValueError, "'nesterov' needs"),
        (lambda: nn.SGD([W], 0.1, rate=3), TypeError, "unexpected keyword argument 'rate'"),
        (lambda: nn.Adam([W], 0.1, beta1=1.0), ValueError, "'beta1' must be between 0 and 1"),
        (lambda: nn.Adam([W], 0.1, eps=0.0), ValueError, "'eps' must be greater than 0"),
        (lambda: nn.Adam([W], 0.1, use_nesterov=1), TypeError, "'use_nesterov' must be bool"),
        (lambda: nn.Adam([{"params": [W], "rate": 1}], 0.1), KeyError, "has the key 'rate'"),
        (lambda: nn.Adam([{"lr": 1.0}], 0.1), KeyError, "no 'params'"),
        (lambda: nn.Adam([{"params": [W]}, {"params": [W]}]), RuntimeError, "given twice"),
        (lambda: nn.Adam([{"params": [W]}, {"order_params": [V]}]), ValueError, "'order_params' must list"),
        (lambda: nn.Adam([{"params": [W], "order_params": [W]}]), ValueError, "must not have another key"),
        (lambda: nn.Adam([{"params": [W], "lr": [1.0, 2.0]}, {"params": [V], "lr": [1.0]}]), ValueError, "the same length"),
        (lambda: nn.FTRL([W], learning_rate=[0.1, 0.2]), ValueError, "must be one constant number"),
        (lambda: nn.Rprop([W], etas=(0.5, 0.9)), ValueError, "greater than 1"),
        (lambda: nn.SGD([W], 0.1)((W, W)), ValueError, "one gradient for each Parameter, but got 2 for 1"),
        (lambda: nn.SGD([W], 0.1)((ms.Tensor(np.ones(3)),)), ValueError, r"'w' must have the shape \(2,\) of the Parameter, but got \(3,\)"),
        (lambda: nn.SGD([W], 0.1)((None,)), TypeError, "must be a Tensor, but got NoneType"),
        (lambda: nn.SGD([W], 0.1)(3), TypeError, "tuple of Tensors, but got int"),
        (lambda: nn.SGD([W], 0.1).get_lr_parameter(V), ValueError, "does not train Parameter 'v'"),
        (lambda: nn.Optimizer(0.1, [W])((W,)), NotImplementedError, "define construct"),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize("kind", [nn.SGD, nn.Adam, nn.Momentum])
def test_optimizer_of_parameters_without_names_names_them_apart(kind):
    nameless = [ms.Parameter(ms.Tensor([1.0])), ms.Parameter(ms.Tensor([2.0]))]
    options = {"momentum": 0.5} if kind is nn.Momentum else {}
    optimizer = kind(nameless, learning_rate=0.5, **options)
    names = [p.name for p in optimizer.get_parameters()]
    assert len(set(names)) == len(names)
    optimizer((ms.Tensor([1.0]), ms.Tensor([1.0])))
    assert all(p.asnumpy() < before for p, before in zip(nameless, (1.0, 2.0), strict=True))
    single = ms.Parameter(ms.Tensor([1.0]))
    ms.ParameterTuple([single, single])
    assert single.name == "Parameter"
    first, second = ms.ParameterTuple([ms.Parameter(ms.Tensor([1.0])), ms.Parameter(ms.Tensor([1.0]))])
    assert first.name != second.name
