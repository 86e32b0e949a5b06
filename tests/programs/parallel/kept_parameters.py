"""New values of Parameters stay arrays over the mesh: in place, and never under the hands of who holds them."""

import tempfile
import weakref

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, ops
from mindspore.communication import get_group_size, init

from mindgrad.distributed.process_mesh import is_part

init()
SIZE = get_group_size()
SHAPE = (64, 4)
total = ops.AllReduce()


class Program:
    """A Parameter, a step with a collective that adds a value to it, and one without that doubles it."""

    def __init__(self):
        weight = self.weight = Parameter(Tensor(np.zeros(SHAPE, np.float32)), name="weight")

        def add(x):
            summed = total(x)
            ops.assign_add(weight, summed)
            return summed.sum()

        def double(x):
            ops.assign(weight, weight * 2.0 + x * 0.0)
            return x.sum()

        self._add, self._double, self.expected = ms.jit(add), ms.jit(double), 0.0

    def add(self, value=1.0):
        self._add(Tensor(np.full(SHAPE, value, np.float32)))
        self.expected += SIZE * value

    def double(self):
        self._double(Tensor(np.zeros(SHAPE, np.float32)))
        self.expected *= 2

    def check(self):
        np.testing.assert_array_equal(self.weight.asnumpy(), np.full(SHAPE, self.expected, np.float32))


def address(parameter):
    return parameter._array.get().unsafe_buffer_pointer()


def in_place():
    """Step after step uses the same memory, read meanwhile or not, and lets go of the arrays before."""
    program = Program()
    program.add()
    first = address(program.weight)
    for number in range(6):
        before = weakref.ref(program.weight._array.deferral.joined)
        program.add()
        assert is_part(program.weight._array)
        if number % 2:
            program.check()
            assert address(program.weight) == first
    program.add()
    assert before() is None
    program.check()


def holders():
    """Tensors, arrays and Parameters that hold a value have it after later steps."""
    program = Program()
    program.add()
    other = Parameter(Tensor(np.zeros(SHAPE, np.float32)), name="other")
    other.set_data(program.weight.value())
    tensor, array, host = program.weight.value(), program.weight._array.get(), program.weight.asnumpy()
    for _ in range(3):
        program.add(2.0)
    program.check()
    for held in (other.asnumpy(), tensor.asnumpy(), np.asarray(array), host):
        np.testing.assert_array_equal(held, np.full(SHAPE, SIZE, np.float32))
    np.testing.assert_array_equal((tensor + 1.0).asnumpy(), np.full(SHAPE, SIZE + 1.0, np.float32))


def programs_without_collectives():
    """They take the part, eagerly and compiled, and the next step takes it back."""
    program = Program()
    for _ in range(3):
        program.add()
        np.testing.assert_array_equal(
            (program.weight * 3.0).asnumpy(), np.full(SHAPE, 3 * program.expected, np.float32)
        )
        program.double()
        program.check()
    program.add()
    program.check()


def checkpoints():
    """A Parameter is saved and loaded like any other."""
    program = Program()
    program.add()
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/weight.ckpt"
        ms.save_checkpoint([{"name": "weight", "data": program.weight}], file)
        program.add()
        ms.load_param_into_net(Holder(program.weight), ms.load_checkpoint(file))
    program.expected = float(SIZE)
    program.check()
    program.add()
    program.check()


class Holder(ms.nn.Cell):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight


CHECKS = [in_place, holders, programs_without_collectives, checkpoints]
