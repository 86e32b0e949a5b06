"""Steps of the benchmark's programs at small sizes: Burgers' equation, liquid argon, a short ResNet and GPT.

Each is a compiled step of a batch that gives the loss and the gradients, and moves the Parameters along them.
What divides the batch, processes or devices, gets these steps and those of one process to compare.
"""

import sys
from pathlib import Path
from types import SimpleNamespace

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn

BENCH = Path(__file__).parents[3] / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "contenders")]

import mindspore_problems  # noqa: E402
import mindspore_training  # noqa: E402
import problems  # noqa: E402
import training_problems  # noqa: E402

problems.ARGON_CELLS, problems.BURGERS_STEPS = 2, 10
training_problems.RESNET_CHANNELS, training_problems.RESNET_BLOCKS = (4, 8, 12), 1
training_problems.GPT_BLOCKS, training_problems.GPT_WIDTH, training_problems.GPT_HEADS = 2, 16, 4
training_problems.GPT_TOKENS, training_problems.GPT_VOCABULARY = 8, 16

NAMES = ("burgers", "argon", "resnet", "gpt")
STEPS = 2


def _burgers(parts):
    problem = problems.burgers_training()
    return mindspore_problems.Residual(mindspore_problems.Solution(problem.layers)), (
        problem.t[0][:256], problem.x[0][:256]
    ), 1e-2  # fmt: skip


class _Argon(nn.Cell):
    """The energy of some of the pairs; its gradients with respect to the positions are the forces."""

    def __init__(self, problem, parts):
        super().__init__()
        self.positions = Parameter(Tensor(problem.positions.astype(np.float32)), name="positions")
        self.box, self.parts = problem.box, parts

    def construct(self, first, second):
        pairs = SimpleNamespace(first=first, second=second, box=self.box)
        # a sum: the mean over the parts of so many times each
        return mindspore_problems.LennardJones.construct(pairs, self.positions) * self.parts


def _argon(parts):
    problem = problems.argon()
    return _Argon(problem, parts), (problem.first, problem.second), 1e-6


class _Classification(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.network, self.loss = network, nn.CrossEntropyLoss()

    def construct(self, inputs, labels):
        logits = self.network(inputs)
        return self.loss(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


def _learning(name):
    program = mindspore_training.program(name)
    inputs, labels = (x.asnumpy() for x in program.arguments)
    if name == "resnet":
        inputs = np.ascontiguousarray(inputs[:, :, ::4, ::4])
    return _Classification(program.network), (inputs, labels), 1e-2


def results(name, reducer=None, divided=lambda x: x, parts=1):
    """The losses and gradients of some steps.

    Args:
        name: one of ``NAMES``.
        reducer: gives a function of the gradients for the Parameters; ``None``: they stay.
        divided: what of an array of the batch is this process's.
        parts: the number of parts that the losses of all processes are.
    """
    step, batch = program(name, reducer, parts)
    batch = [Tensor(divided(x)) for x in batch]
    losses, gradients = [], []
    for _ in range(STEPS):
        loss, slopes = step(*batch)
        losses.append(float(loss))
        gradients += [slope.asnumpy() for slope in slopes]
    return losses, gradients


def program(name, reducer=None, parts=1):
    """A step, and the arrays of its batch."""
    net, batch, rate = {"burgers": _burgers, "argon": _argon}.get(name, lambda _: _learning(name))(parts)
    net.set_train()
    optimizer = nn.SGD(net.trainable_params(), rate)
    both = ms.value_and_grad(net, None, optimizer.parameters)
    reduce = (lambda slopes: slopes) if reducer is None else reducer(optimizer.parameters)

    def step(*inputs):
        loss, slopes = both(*inputs)
        slopes = reduce(slopes)
        optimizer(slopes)
        return loss, slopes

    return ms.jit(step), batch


def agree(parallel, whole, name):
    """Losses and gradients to the rounding of sums in another order; a gradient by its largest element."""
    np.testing.assert_allclose(parallel[0], whole[0], rtol=5e-6, err_msg=name)
    for position, (x, y) in enumerate(zip(parallel[1], whole[1], strict=True)):
        scale = max(float(np.abs(y).max()), 1e-3)
        np.testing.assert_allclose(x, y, rtol=0, atol=5e-5 * scale, err_msg=f"{name}, gradient {position}")
