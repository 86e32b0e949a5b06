"""Ring buffers: rows appended, read from the oldest or newest, and drawn."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Parameter, Tensor, ops

SHAPES, TYPES = [(2,), ()], [ms.float32, ms.int32]
both_modes = pytest.mark.parametrize("run", [lambda f: f, ms.jit], ids=["eager", "compiled"])


def rows(*numbers):
    return [Tensor([[float(n), -float(n)] for n in numbers]), Tensor(list(numbers), ms.int32)]


def parameters(*, capacity=4):
    parts = [np.zeros((capacity, 2), np.float32), np.zeros(capacity, np.int32)]
    buffer = [Parameter(Tensor(part), name=f"buffer{k}") for k, part in enumerate(parts)]
    return buffer, *(Parameter(Tensor(0, ms.int32), name=name) for name in ("count", "head"))


@both_modes
def test_a_full_buffer_drops_the_oldest(run):
    buffer, count, head = parameters()
    append = ops.operations.BufferAppend(4, SHAPES, TYPES)
    read = ops.operations.BufferGetItem(4, SHAPES, TYPES)
    write = run(lambda *row: append(buffer, row, count, head))
    for n in (1, 2, 3):
        write(*(part[0] for part in rows(n)))
    assert (count.item(), head.item()) == (3, 0)
    write(*rows(4, 5, 6))
    assert (count.item(), head.item()) == (4, 2)
    assert buffer[1].asnumpy().tolist() == [5, 6, 3, 4]
    assert buffer[0].asnumpy()[:, 1].tolist() == [-5, -6, -3, -4]
    get = run(lambda index: read(buffer, count, head, index))
    assert [int(get(Tensor(index))[1]) for index in (0, 1, 3, -1, -4)] == [3, 4, 6, 6, 3]


@both_modes
@pytest.mark.parametrize("unique", [False, True])
def test_what_is_drawn_is_in_use(run, unique):
    buffer, count, head = parameters()
    ops.operations.BufferAppend(4, SHAPES, TYPES)(buffer, rows(1, 2, 3), count, head)
    sample = ops.operations.BufferSample(4, 3, SHAPES, TYPES, unique=unique)
    draw = run(lambda: sample(buffer, count, head))
    drawn = [[part.asnumpy() for part in draw()] for _ in range(20)]
    assert all((pair[0][:, 0] == pair[1]).all() for pair in drawn)
    assert {int(n) for _, number in drawn for n in number} == {1, 2, 3}
    assert all(len(set(number.tolist())) == 3 for _, number in drawn) == unique


def test_tensors_can_be_a_buffer():
    buffer, (_, count, head) = [Tensor(np.zeros((4, 1), np.float32))], parameters()
    ops.operations.BufferAppend(4, [(1,)], [ms.float32])(buffer, [Tensor([7.0])], count, head)
    assert buffer[0].asnumpy().ravel().tolist() == [7, 0, 0, 0]


def test_refusals():
    buffer, count, head = parameters(capacity=3)
    with pytest.raises(ValueError, match="must have the shapes"):
        ops.operations.BufferAppend(4, SHAPES, TYPES)(buffer, rows(1), count, head)
    with pytest.raises(RuntimeError, match="Make the tensor a Parameter"):
        ms.jit(lambda x: ops.operations.BufferAppend(1, [()], TYPES)([x], [x[0]], count, head))(Tensor([1.0]))
    with pytest.raises(ValueError, match="do not fit into a buffer of 3 rows"):
        ops.operations.BufferAppend(3, SHAPES, TYPES)(buffer, rows(1, 2, 3, 4), count, head)
