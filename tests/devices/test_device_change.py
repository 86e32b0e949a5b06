"""A program that changes its device goes on with its arrays: those that it used before are moved."""

import numpy as np
import pytest

import mindgrad as ms
from mindgrad import Tensor, nn
from mindgrad.core.backend import device
from mindgrad.core.backend.jax_import import jax_module
from mindgrad.core.backend.xla import use_device
from mindgrad.core.ir import settings
from mindgrad.core.ir.kernels import set_kernel_runner
from tests.tiers import eager
from tests.tolerances import assert_close


def select(number):
    """Run programs on another device of jax from now on, as ``set_context(device_id=…)`` does with GPUs."""
    use_device(jax_module().devices()[number])
    settings.store("device_id", number)
    set_kernel_runner(device.run_on_device)


@pytest.fixture(autouse=True)
def selection_stays():
    yield
    use_device(None)
    settings.store("device_id", 0)
    set_kernel_runner(None)


@pytest.mark.parametrize("switch", ["numpy", "compiled", "jit"])
def test_training_goes_on_after_a_change_of_the_device(switch):
    x = Tensor(np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32))

    def losses(numbers):
        ms.set_seed(0)
        net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 2))
        optimizer = nn.Adam(net.trainable_params(), 0.01)
        gradient = ms.value_and_grad(lambda x: (net(x) ** 2).mean(), None, optimizer.parameters)

        def step(x):
            loss, gradients = gradient(x)
            optimizer(gradients)
            return loss

        step = ms.jit(step) if switch == "jit" else step
        with eager("compiled" if switch == "compiled" else "numpy"):
            results = []
            for number in numbers:
                select(number)
                results += [float(step(x)) for _ in range(4)]
            return results

    assert_close(losses([1, 2, 1, 0]), losses([1, 1, 1, 1]), "program", each=True, dtype=ms.float32)
