"""experimental.optim: steps against MindSpore's numbers and formulas in NumPy; groups; schedules; compiled."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, nn, ops
from mindgrad.experimental import optim
from mindgrad.experimental.optim import lr_scheduler
from tests.tolerances import assert_close

W = np.array([1.0, 2.0, -3.0], np.float32)
G = np.array([0.5, -1.0, 2.0], np.float32)


def weight(name="w", value=W):
    return Parameter(Tensor(value), name=name)


# MindSpore 2.10: three steps with the gradient G
MINDSPORE = [
    (lambda w: optim.Adam([w], lr=0.1, weight_decay=0.01), [0.70001906, 2.2999902, -3.299995]),
    (lambda w: optim.AdamW([w], lr=0.1), [0.6973029, 2.2937062, -3.290709]),
    (lambda w: optim.SGD([w], lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True), [0.5253636, 2.6328485, -4.344803]),
]  # fmt: skip


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
@pytest.mark.parametrize(("made", "wanted"), MINDSPORE)
def test_steps_of_mindspore(made, wanted, mode):
    ms.set_context(mode=mode)
    w = weight()
    optimizer = made(w)
    for _ in range(3):
        assert optimizer((Tensor(G),))
    assert_close(w, wanted, kind="program", each=True)


def test_adam_with_amsgrad_and_maximize():
    w = weight()
    optimizer = optim.Adam([w], lr=0.1, betas=(0.8, 0.9), eps=1e-3, amsgrad=True, maximize=True)
    x, m, v, bound = W.astype(float), 0.0, 0.0, 0.0
    for t in range(1, 5):
        g = G * (1 if t < 3 else 0.1)
        optimizer((Tensor(g),))
        m, v = 0.8 * m - 0.2 * g, 0.9 * v + 0.1 * g * g
        bound = np.maximum(bound, v)
        x = x - 0.1 / (1 - 0.8**t) * m / (np.sqrt(bound) / np.sqrt(1 - 0.9**t) + 1e-3)
    assert_close(w, x, kind="program")


def test_groups_have_options_of_their_own():
    a, b = weight("a"), weight("b")
    optimizer = optim.SGD([{"params": [a], "lr": 0.5}, {"params": b, "weight_decay": 1.0}], lr=0.1)
    optimizer((Tensor(G), Tensor(G)))
    assert_close(a, W - 0.5 * G)
    assert_close(b, W - 0.1 * (G + W))
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.0, 1.0]
    names = [p.name for p in optimizer.get_parameters()]
    assert len(set(names)) == len(names)


def test_a_schedule_changes_a_compiled_step_without_compiling_again():
    w = weight()
    optimizer = optim.SGD([w], lr=0.5)
    scheduler = lr_scheduler.ExponentialLR(optimizer, gamma=0.5)

    @ms.jit
    def step(x):
        loss, gradients = ms.value_and_grad(lambda x: ops.sum(w * x), None, optimizer.parameters)(x)
        optimizer(gradients)
        return loss

    expected = W.astype(float)
    for epoch in range(3):
        step(Tensor(G))
        expected = expected - 0.5**epoch * 0.5 * G
        scheduler.step()
    assert_close(w, expected)
    assert step.cache_info().misses == 1


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (lambda o: lr_scheduler.StepLR(o, 2, 0.5), [1, 1, 0.5, 0.5, 0.25]),
        (lambda o: lr_scheduler.MultiStepLR(o, [1, 3], 0.5), [1, 0.5, 0.5, 0.25, 0.25]),
        (lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 1 / (1 + epoch)), [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]),
        (lambda o: lr_scheduler.LinearLR(o, 0.5, 1.0, 2), [0.5, 0.75, 1, 1, 1]),
        (lambda o: lr_scheduler.ConstantLR(o, 0.5, 2), [0.5, 0.5, 1, 1, 1]),
        (lambda o: lr_scheduler.PolynomialLR(o, 4, 2.0), [1, 9 / 16, 1 / 4, 1 / 16, 0]),
        (lambda o: lr_scheduler.CosineAnnealingLR(o, 4, 0.2), 0.2 + 0.4 * (1 + np.cos(np.pi * np.arange(5) / 4))),
        (lambda o: lr_scheduler.MultiplicativeLR(o, lambda epoch: 0.5), [1, 1 / 2, 1 / 4, 1 / 8, 1 / 16]),
        (lambda o: lr_scheduler.CyclicLR(o, 0.2, 1.0, 2), [0.2, 0.6, 1.0, 0.6, 0.2]),
        (lambda o: lr_scheduler.CyclicLR(o, 0.0, 1.0, 1, mode="triangular2"), [0, 1, 0, 0.5, 0]),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 2), [1, 0.5, 1, 0.5, 1]),
        (
            lambda o: lr_scheduler.SequentialLR(
                o, [lr_scheduler.ConstantLR(o, 0.1, 2), lr_scheduler.ExponentialLR(o, 0.9)], [2]
            ),
            [0.1, 0.1, 1, 0.9, 0.81],
        ),
    ],
)  # fmt: skip
def test_schedules(made, wanted):
    optimizer = optim.Adam([weight()], lr=1.0)
    scheduler, actual = made(optimizer), []
    for _ in range(5):
        actual += scheduler.get_last_lr()
        scheduler.step()
    assert_close([float(x) for x in actual], wanted, each=True, dtype=np.float32)


def test_a_plateau():
    optimizer = optim.SGD([weight()], lr=1.0)
    scheduler = lr_scheduler.ReduceLROnPlateau(optimizer, "max", 0.5, patience=1, cooldown=1, min_lr=0.3)
    actual = []
    for figure in (1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0):
        scheduler.step(Tensor(figure))
        actual += scheduler.get_last_lr()
    assert_close([float(x) for x in actual], [1, 1, 1, 0.5, 0.5, 0.5, 0.3, 0.3, 0.3], dtype=np.float32)


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: optim.SGD([], lr=0.1), ValueError, "nothing to train"),
        (lambda: optim.SGD([Tensor(1.0)], lr=0.1), TypeError, "must be Parameters, but got Tensor"),
        (lambda: optim.SGD([{"params": [weight()], "rate": 1}], lr=0.1), ValueError, "unknown option 'rate'. Supported options: lr"),
        (lambda: optim.SGD([weight()], lr=0.1, nesterov=True), ValueError, "needs a 'momentum' above 0"),
        (lambda: optim.Adam([weight()], betas=(0.9, 1.0)), ValueError, "from 0 to below 1"),
        (lambda: optim.Adam([weight()])((Tensor(G), Tensor(G))), ValueError, "a gradient for each of the 1"),
        (lambda: lr_scheduler.StepLR(nn.SGD([weight()], 0.1), 2), TypeError, r"but got SGD\. nn\.SGD accepts a schedule as its"),
        (lambda: lr_scheduler.StepLR(3, 2), TypeError, r"must be one of mindgrad\.experimental\.optim, but got int\.$"),
        (lambda: lr_scheduler.StepLR(optim.SGD([weight()], 0.1), 0), ValueError, "'step_size' must be a positive int"),
    ],
)  # fmt: skip
def test_errors(call, kind, said):
    with pytest.raises(kind, match=said):
        call()


class Descent(optim.Optimizer):
    """An optimizer of the tests, which finds the gradients of a group by ``group_start_id``."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    def construct(self, gradients):
        for k, group in enumerate(self.param_groups):
            first, last = self.group_start_id[k], self.group_start_id[k + 1]
            change = ops.partial(_descent, self.lrs[k], group["weight_decay"])
            self.hyper_map(change, tuple(group["params"]), gradients[first:last])
        return True


_descent = ops.MultitypeFuncGraph("descent")


@_descent.register("Tensor", "Number", "Tensor", "Tensor")
def _descend(rate, decay, parameter, gradient):
    return ops.assign(parameter, parameter - rate * (gradient + decay * parameter))


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE])
def test_optimizer_group_start_id_divides_the_gradients(mode):
    ms.set_context(mode=mode)
    weights = [weight(f"w{k}", np.float32([k + 1])) for k in range(4)]
    groups = [
        {"params": weights[:2]},
        {"params": weights[2], "lr": 0.5, "weight_decay": 1.0},
        {"params": weights[3:]},
    ]
    optimizer = Descent(groups, 0.1)
    assert optimizer.group_start_id == [0, 2, 3, 4]
    assert optimizer(tuple(Tensor([float(k)]) for k in range(4)))
    found = [w.asnumpy().item() for w in weights]
    assert_close(found, [1.0, 2 - 0.1, 3 - 0.5 * (2 + 3), 4 - 0.3], dtype=np.float32)
    assert Descent(weights[:3], 0.1).group_start_id == [0, 3]
