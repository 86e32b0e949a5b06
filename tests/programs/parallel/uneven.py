"""Parts of different sizes, neighbors and messages on all ranks, with derivatives, against NumPy.

``collectives.py`` runs these checks in its processes. Derivatives are those of Σ over all ranks, which every
rank can compute alone, as it knows the arrays of all of them.
"""

import re

import mindspore as ms
import numpy as np
import pytest
from mindspore import Tensor, ops
from mindspore.communication import get_group_size, get_rank
from mindspore.communication.comm_func import (
    all_to_all_single_with_output_shape,
    all_to_all_v_c,
    all_to_all_with_output_shape,
)

RANK, SIZE = get_rank(), get_group_size()

#: how many rows rank i sends to rank j; rank 0 sends nothing to itself, the last one nothing to rank 1
COUNTS = np.array([[(3 * i + 2 * j) % 5 for j in range(SIZE)] for i in range(SIZE)])
COUNTS[SIZE - 1, 1] = 0
SENT, RECEIVED = COUNTS[RANK].tolist(), COUNTS[:, RANK].tolist()


def drawn(length, rank, *rest):
    return np.random.default_rng([length, rank]).integers(-9, 9, (length, *rest)).astype(np.float32)


def parts(rank, *rest):
    """What a rank sends, in a part for each rank."""
    x = drawn(int(COUNTS[rank].sum()), rank, *rest)
    return np.split(x, np.cumsum(COUNTS[rank])[:-1])


def delivered(*rest):
    """What this rank gets."""
    return np.concatenate([parts(rank, *rest)[RANK] for rank in range(SIZE)])


def same(result, expected, text):
    np.testing.assert_array_equal(result.asnumpy(), expected, err_msg=f"{text}, rank {RANK}")


def close(result, expected, text):
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-5, err_msg=f"{text}, rank {RANK}")


def differentiated(name, function, x, back):
    """Σ over all ranks of w_r · f(x)_r³: its gradient is ``back(3 w y²)``; and a Hessian-vector product.

    ``back`` is the transpose of ``function``: of what each rank has of the result, to this rank's input.
    """
    weight = Tensor(np.float32(RANK + 1))

    def loss(x):
        return ops.AllReduce()(((weight * function(x)) * function(x) ** 2).sum()) / SIZE

    slope = ms.grad(loss)
    for kind, run in (("eager", slope), ("compiled", ms.jit(slope))):
        close(run(x), back(lambda y, rank: 3 * (rank + 1) * y**2), f"{name}, gradient, {kind}")
    product = ms.jit(lambda x, v: ms.jvp(slope, (x,), (v,))[1])
    # the function is linear: in the direction x each result changes by itself
    close(product(x, x), back(lambda y, rank: 6 * (rank + 1) * y**2), f"{name}, second order")


def uneven_parts():
    x = Tensor(np.concatenate(parts(RANK)))
    exchange = ops.AlltoAllV()
    for run in (exchange, ms.jit(lambda x: exchange(x, SENT, RECEIVED))):
        result = run(x, SENT, RECEIVED) if run is exchange else run(x)
        same(result, delivered(), "AlltoAllV")
    same(exchange(x, Tensor(SENT), Tensor(RECEIVED)), delivered(), "AlltoAllV by tensors")
    same(ops.AlltoAllVC()(x, COUNTS.ravel().tolist()), delivered(), "AlltoAllVC")
    back = ops.AlltoAllVC(transpose=True)(exchange(x, SENT, RECEIVED), Tensor(COUNTS))
    same(back, x.asnumpy(), "AlltoAllVC and back")
    rows = Tensor(np.concatenate(parts(RANK, 2)))
    blocks = ops.AlltoAllV(block_size=2)(rows.reshape(-1), SENT, RECEIVED)
    same(blocks, delivered(2).ravel(), "AlltoAllV in blocks")
    result, handle = all_to_all_single_with_output_shape(
        (sum(RECEIVED), 2), rows, RECEIVED, SENT, async_op=True
    )
    handle.wait()
    same(result, delivered(2), "all_to_all_single")
    output = Tensor(np.zeros((sum(RECEIVED), 2), np.float32))
    all_to_all_v_c(output, rows, COUNTS.ravel().tolist())
    same(output, delivered(2), "all_to_all_v_c")

    def back_of(cotangent):
        return np.concatenate([cotangent(part, rank) for rank, part in enumerate(parts(RANK))])

    differentiated("AlltoAllV", lambda x: exchange(x, SENT, RECEIVED), x, back_of)


def lists_of_tensors():
    shapes = [(rank, 2) for rank in range(SIZE)]  # rank r gets r rows from everybody
    tensors = [Tensor(drawn(rank, RANK, 2)) for rank in range(SIZE)]
    results, _ = all_to_all_with_output_shape([shapes[RANK]] * SIZE, tensors)
    assert len(results) == SIZE
    for rank, result in enumerate(results):
        same(result, drawn(RANK, rank, 2), "all_to_all_with_output_shape")


def one_rank_without_parts():
    """One rank gets nothing, another one sends nothing."""
    counts = np.ones((SIZE, SIZE), int)
    counts[:, 0] = counts[SIZE - 1] = 0
    sent, received = counts[RANK].tolist(), counts[:, RANK].tolist()
    x = Tensor(np.arange(1, sum(sent) + 1, dtype=np.float32))
    exchange = ops.AlltoAllV()
    expected = np.float32(0) if RANK == 0 else np.full(SIZE - 1, RANK, np.float32)
    same(exchange(x, sent, received), expected, "nothing comes")
    function = ms.jit(lambda x: exchange(x, sent, received).sum() * 2 + x.sum())
    same(function(x), expected.sum() * 2 + x.asnumpy().sum(), "nothing comes, compiled")
    slope = ms.jit(ms.grad(function))(x)
    same(slope, np.repeat(counts[RANK, 1:] * 2 + 1, counts[RANK, 1:]), "nothing comes, gradient")


def uneven_gathers():
    sizes = [2 * rank % 5 + 1 for rank in range(SIZE)]
    xs = [drawn(size, rank) for rank, size in enumerate(sizes)]
    gather = ops.AllGatherV()
    for run in (gather, ms.jit(lambda x, sizes: gather(x, sizes))):
        same(run(Tensor(xs[RANK]), sizes), np.concatenate(xs), "AllGatherV")
    differentiated(
        "AllGatherV", lambda x: gather(x, sizes), Tensor(xs[RANK]),
        lambda cotangent: sum(cotangent(xs[RANK], rank) for rank in range(SIZE)),
    )  # fmt: skip
    wholes = [drawn(sum(sizes), rank + 9) for rank in range(SIZE)]
    starts = np.cumsum(sizes)[:-1]
    for op, total in (("sum", sum(wholes)), ("max", np.maximum.reduce(wholes))):
        result = ops.ReduceScatterV(op)(Tensor(wholes[RANK]), sizes)
        same(result, np.split(total, starts)[RANK], f"ReduceScatterV {op}")
    scatter = ops.ReduceScatterV()

    def back(cotangent):
        of_each = [cotangent(part, rank) for rank, part in enumerate(np.split(sum(wholes), starts))]
        return np.concatenate(of_each)

    # of x alone, the others stand: the second derivative is in the direction of all ranks' x at a time
    differentiated("ReduceScatterV", lambda x: scatter(x, sizes), Tensor(wholes[RANK]), back)


def neighbors():
    """A line of ranks: each sends to the right what grows with its rank, the middle ones to the left too."""
    right = {rank: (rank + 2, 3) for rank in range(SIZE - 1)}
    left = dict.fromkeys(range(1, SIZE), (2,))
    sends = [(RANK + 1, right[RANK])] if RANK in right else []
    sends += [(RANK - 1, left[RANK])] if RANK in left else []
    receives = [(RANK + 1, left[RANK + 1])] if RANK + 1 in left else []
    receives += [(RANK - 1, right[RANK - 1])] if RANK - 1 in right else []
    exchange = ops.NeighborExchange(
        [rank for rank, _ in sends], [rank for rank, _ in receives],
        tuple(list(shape) for _, shape in receives), tuple(list(shape) for _, shape in sends), ms.float32,
    )  # fmt: skip
    values = [Tensor(np.full(shape, RANK + 1.0, np.float32)) for _, shape in sends]
    for run in (exchange, ms.jit(lambda *xs: exchange(xs))):
        results = run(tuple(values)) if run is exchange else run(*values)
        for (rank, shape), result in zip(receives, results, strict=True):
            same(result, np.full(shape, rank + 1.0), "NeighborExchange")

    def loss(*xs):
        return sum((y**3).sum() for y in exchange(xs)) * (RANK + 1)

    for kind, run in (("eager", ms.grad(loss, 0)), ("compiled", ms.jit(ms.grad(loss, 0)))):
        target, shape = sends[0]
        close(run(*values), np.full(shape, 3 * (target + 1) * (RANK + 1.0) ** 2), f"neighbors, {kind}")


def shifts():
    """One way: the first rank receives nothing, the last one sends nothing; refused where it is compiled."""
    exchange = ops.NeighborExchange(
        [RANK + 1] if RANK + 1 < SIZE else [], [RANK - 1] if RANK else [],
        ([2],) if RANK else (), ([2],) if RANK + 1 < SIZE else (), ms.float32,
    )  # fmt: skip
    x = Tensor(np.full(2, RANK, np.float32))
    results = exchange((x,) if RANK + 1 < SIZE else ())
    assert len(results) == (RANK > 0)
    for result in results:
        same(result, np.full(2, RANK - 1.0), "a shift")
    compiled = ms.jit(lambda x: exchange((x,) if RANK + 1 < SIZE else ()))
    with pytest.raises(ValueError, match="rank 0 receives no tensor, so a compiled function would omit"):
        compiled(x)


def halos():
    """Blocks of an image, in rows of two ranks, with the borders of all neighbors around each."""
    rows, columns = SIZE // 2, 2
    row, column = divmod(RANK, columns)
    image = np.arange(2 * (3 * rows) * (4 * columns), dtype=np.float32).reshape(1, 2, 3 * rows, 4 * columns)
    framed = np.pad(image, ((0, 0), (0, 0), (1, 2), (1, 1)))  # zeros around all

    def neighbor(down, aside):
        is_inside = 0 <= row + down < rows and 0 <= column + aside < columns
        return (row + down) * columns + column + aside if is_inside else -1

    around = [
        neighbor(*step) for step in ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))
    ]
    # one row to the bottom and two to the top, so that each gets one above and two below
    exchange = ops.NeighborExchangeV2(around, [2, 1, 1, 1], around, [1, 2, 1, 1], "NCHW")
    x = Tensor(image[:, :, 3 * row : 3 * row + 3, 4 * column : 4 * column + 4])
    expected = framed[:, :, 3 * row : 3 * row + 6, 4 * column : 4 * column + 6]
    for run in (exchange, ms.jit(exchange)):
        same(run(x), expected, "NeighborExchangeV2")
    # ½ Σ y² over all ranks: each element as often as it is seen
    seen = np.zeros_like(framed)
    for rank in range(SIZE):
        r, c = divmod(rank, columns)
        seen[:, :, 3 * r : 3 * r + 6, 4 * c : 4 * c + 6] += 1
    inner = (seen * framed)[:, :, 1:-2, 1:-1]
    slope = ms.jit(ms.grad(lambda x: (exchange(x) ** 2).sum() / 2))(x)
    same(
        slope, inner[:, :, 3 * row : 3 * row + 3, 4 * column : 4 * column + 4], "NeighborExchangeV2, gradient"
    )


def batched_messages():
    """Around a ring, with a derivative through what is received."""
    right, left = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    ring = ops.BatchISendIRecv(("isend", "irecv"), (right, left), ([2],), (ms.float32,))
    same(ring((Tensor(np.full(2, RANK, np.float32)),))[1], np.full(2, left), "BatchISendIRecv")


def received_in_a_derivative():
    """The derivative of what only one rank uses comes back, as it receives after a tensor it differentiates."""
    if RANK > 1:
        return
    x = Tensor(np.float32([1.0, 2.0]))

    def loss(x):
        if RANK == 0:
            return ops.Send(0, 1)(x * 2).sum()
        return (ops.Receive(0, 0, [2], ms.float32)(x) ** 2).sum() + x.sum()

    both = ms.value_and_grad(loss)
    for run in (both, ms.jit(both)):
        value, slope = run(x)
        same(value, np.float32(6.0 if RANK == 0 else 23.0), "Receive")
        same(slope, [10.0, 18.0] if RANK == 0 else [1.0, 1.0], "Receive, gradient")


def mistakes():
    """What does not fit is the same error on all ranks, at once."""
    wrong = list(RECEIVED)
    if RANK == 1:
        wrong[2] += 1
    expectations = (
        (
            lambda: ops.AlltoAllV()(Tensor(np.concatenate(parts(RANK))), SENT, wrong),
            f"rank 2 sends {COUNTS[2, 1]} to rank 1 by its 'send_numel_list', but rank 1 expects "
            f"{COUNTS[2, 1] + 1} by its 'recv_numel_list'",
        ),
        (
            lambda: ops.AllGatherV()(Tensor([1.0]), [1] * SIZE if RANK else [1] * (SIZE - 1) + [2]),
            "the 'output_split_sizes' and types must be the same on all processes",
        ),
        (
            lambda: ops.NeighborExchange(
                [1] if RANK == 0 else [], [0] if RANK == 1 else [], ([3],) if RANK == 1 else (),
                ([2],) if RANK == 0 else (), ms.float32,
            )((Tensor([1.0, 2.0]),) if RANK == 0 else ()),
            r"rank 0 sends one of shape (2,) to rank 1, which expects one of shape (3,) from it",
        ),
    )  # fmt: skip
    for call, text in expectations:
        with pytest.raises(ValueError, match=re.escape(text)):
            call()
    compiled = ms.jit(lambda x, n: ops.AlltoAllV()(x, n, n))
    with pytest.raises(TypeError, match="'send_numel_list' must be known at compile time"):
        compiled(Tensor(np.ones(SIZE)), Tensor([1] * SIZE))


CHECKS = [
    uneven_parts, lists_of_tensors, one_rank_without_parts, uneven_gathers, neighbors, shifts, halos,
    batched_messages, received_in_a_derivative, mistakes,
]  # fmt: skip
