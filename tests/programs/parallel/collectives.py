"""Every collective on all ranks, eagerly and compiled, against what NumPy computes of all ranks' arrays."""

import contextlib
import io

import mindspore as ms
import numpy as np
from mindspore import Tensor, log, nn, ops
from mindspore.communication import create_group, get_group_size, get_rank, init
from mindspore.communication.comm_func import (
    P2POp,
    all_reduce,
    barrier,
    batch_isend_irecv,
    irecv,
    isend,
    recv,
    send,
)

init()
RANK, SIZE = get_rank(), get_group_size()


def arrays(shape, seed=0, dtype=np.float32):
    """The array of every rank."""
    generator = np.random.default_rng(seed)
    return [generator.integers(-9, 9, shape).astype(dtype) for _ in range(SIZE)]


class Checks:
    """Operators with their operands and expected results on this rank, run one by one and in one program."""

    def __init__(self):
        self.names, self.operators, self.operands, self.expected = [], [], [], []

    def add(self, name, operator, expected, xs):
        self.names.append(name)
        self.operators.append(operator)
        self.operands.append(Tensor(xs[RANK]))
        self.expected.append(expected)

    def run(self):
        def together(*operands):
            return [operator(x) for operator, x in zip(self.operators, operands, strict=True)]

        for mode, function in (("eager", together), ("compiled", ms.jit(together))):
            results = function(*self.operands)
            for name, result, expected in zip(self.names, results, self.expected, strict=True):
                text = f"{name}, {mode}, rank {RANK}"
                np.testing.assert_array_equal(result.asnumpy(), expected, err_msg=text)


def collectives():
    checks, xs = Checks(), arrays((SIZE, 4))
    check = checks.add
    total = sum(xs)
    for kind, expected in (
        ("sum", total), ("max", np.maximum.reduce(xs)), ("min", np.minimum.reduce(xs)),
        ("prod", np.multiply.reduce(xs)), ("avg", total / SIZE),
    ):  # fmt: skip
        check(kind, ops.AllReduce(kind), expected, xs)
        check(f"{kind} parts", ops.ReduceScatter(kind), expected[[RANK]], xs)
    nothing = np.zeros_like(total)
    check("reduce", ops.Reduce(SIZE - 1), total if RANK == SIZE - 1 else nothing, xs)
    check("gather", ops.AllGather(), np.concatenate(xs), xs)
    joined = np.concatenate(xs)
    check("gather by", ops.CollectiveGather(1), joined if RANK == 1 else np.zeros_like(joined), xs)
    check("scatter", ops.CollectiveScatter(1), xs[1][[RANK]], xs)
    check("broadcast", lambda x: ops.Broadcast(1)((x,))[0], xs[1], xs)
    exchanged = np.concatenate([x[[RANK]] for x in xs], 1)
    check("exchange", ops.AlltoAll(SIZE, 0, 1), exchanged, xs)
    for dtype in (np.int32, np.float64, np.bool_):
        typed = arrays((3,), 1, dtype)
        check(str(dtype), lambda x: ops.Broadcast(0)((x,))[0], typed[0], typed)
    numbers = [np.float32(rank + 1) for rank in range(SIZE)]
    check("number", ops.AllReduce(), np.float32(SIZE * (SIZE + 1) / 2), numbers)
    checks.run()
    result, handle = all_reduce(Tensor(xs[RANK]), async_op=True)
    handle.wait()
    np.testing.assert_array_equal(result.asnumpy(), total)
    barrier()
    ops.Barrier()()


def messages():
    """Messages between two processes; around a ring all send first."""
    x = Tensor(np.full(3, RANK, np.float32))
    if RANK == 0:
        send(x, 1)
        isend(x + 5, 1).wait()
    if RANK == 1:
        np.testing.assert_array_equal(recv(x, 0).asnumpy(), np.zeros(3))
        received, handle = irecv(x, 0)
        handle.wait()
        np.testing.assert_array_equal(received.asnumpy(), np.full(3, 5.0))
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    results = batch_isend_irecv([P2POp("isend", x, right), P2POp("irecv", x, left)])
    np.testing.assert_array_equal(results[1].asnumpy(), np.full(3, left))


def derivatives():
    """Cotangents come from all ranks, to any order; eager and compiled agree."""
    xs = [np.array([0.3, -0.2], np.float32) * (r + 1) for r in range(SIZE)]
    w = Tensor(np.float32(0.7))

    def loss(w, x):
        return ops.AllReduce()(ops.sum(ops.tanh(w * x) ** 2)) * (RANK + 1)

    weight, h = SIZE * (SIZE + 1) / 2, 1e-3

    def own(value):
        return float(np.sum(np.tanh(value * xs[RANK].astype(np.float64)) ** 2))

    slope = weight * (own(0.7 + h) - own(0.7 - h)) / (2 * h)
    for function in (ms.grad(loss), ms.jit(ms.grad(loss))):
        np.testing.assert_allclose(float(function(w, Tensor(xs[RANK]))), slope, rtol=1e-4)
    twice = ms.grad(ms.grad(loss))
    np.testing.assert_allclose(
        float(twice(w, Tensor(xs[RANK]))), float(ms.jit(twice)(w, Tensor(xs[RANK]))), rtol=1e-5
    )


def groups():
    """Groups of a grid of processes: rows and columns, in one compiled program too."""
    if SIZE < 4:
        return
    row, column = RANK // 2, RANK % 2
    rows, columns = [2 * row, 2 * row + 1], [column, column + 2]
    create_group(f"row{row}", rows)
    create_group(f"column{column}", columns)
    assert get_rank(f"row{row}") == column
    checks, xs = Checks(), arrays((4,), 3)

    def both(x):
        return ops.AllReduce(group=f"column{column}")(ops.AllReduce(group=f"row{row}")(x) * (row + 1.0))

    expected = sum((r // 2 + 1.0) * xs[r] for r in range(4))
    checks.add("grid", both, expected, xs)
    if RANK in (1, 3):
        create_group("odd", [1, 3])
        checks.add("odd", ops.AllReduce(group="odd"), xs[1] + xs[3], xs)
    checks.run()


def random_numbers():
    """Each rank draws its own numbers from one seed; layers start equal."""
    ms.set_seed(3)
    drawn = ops.AllGather()(ops.standard_normal((1, 4))).asnumpy()
    assert len({tuple(part) for part in drawn}) == SIZE, drawn
    weights = ops.AllGather()(ms.nn.Dense(3, 1).weight.value()).asnumpy()
    assert len({tuple(part) for part in weights}) == 1, weights


class Quadratic(nn.Cell):
    """A loss for ``Model.train``."""

    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(Tensor(np.float32(2.0)), name="weight")

    def construct(self, x):
        return (self.weight * x).sum()


def progress():
    """Losses, times and bars are shown by rank 0; lines of the log are each rank's."""
    text, bar = io.StringIO(), io.StringIO()
    net = Quadratic()
    model = ms.train.Model(net, optimizer=nn.SGD(net.trainable_params(), 0.1))
    callbacks = [ms.train.LossMonitor(), ms.train.TimeMonitor(), ms.train.ProgressBar(bar)]
    rows = ms.dataset.NumpySlicesDataset(np.ones((4, 1), np.float32), ["x"], shuffle=False).batch(2)
    with contextlib.redirect_stdout(text):
        model.train(1, rows, callbacks=callbacks, dataset_sink_mode=False)
    shown = text.getvalue() + bar.getvalue()
    parts = ("step: 2, loss is", "Train epoch time", "epoch 1/1: 2 steps, loss")
    assert [part in shown for part in parts] == [RANK == 0] * 3, (RANK, shown)
    log.warning("of rank %d", RANK)


def uneven():
    """Parts of different sizes, and neighbors."""
    import uneven  # which asks for the rank

    for check in uneven.CHECKS:
        check()


CHECKS = [collectives, messages, derivatives, groups, random_numbers, progress, uneven]
