"""Names and arrays of other frameworks: errors name the equivalent in mindgrad.

    python examples/tasks/other_frameworks.py

A PyTorch user tries familiar names and passes arrays of another library. Functions accept such arrays, and
their results convert to other libraries by DLPack. The example uses JAX arrays in place of PyTorch tensors,
which support the same protocol.

Check: the error for each name of another framework shows mindgrad's name, and NumPy and JAX accept a
gradient.
"""

import jax.numpy as jnp
import numpy as np

import mindgrad as ms
from mindgrad import Tensor, nn

net, x = nn.Dense(2, 1), Tensor([1.0, 2.0])
equivalents = {
    "ms.grad(": lambda: (x * x).sum().backward(),
    "grad_position": lambda: ms.grad(net, argnums=0),
    "nn.Cell": lambda: nn.Module,
    "nn.SequentialCell": lambda: nn.Sequential(net),
    "learning_rate": lambda: nn.Adam(net.trainable_params(), lr=1e-3),
    "trainable_params": lambda: net.parameters(),
    "stop_gradient": lambda: x.detach(),
    "omit it": lambda: ms.no_grad(),
    "x[0] = value": lambda: x.at[0].set(5.0),
}
for ours, theirs in equivalents.items():
    message = ""
    try:
        theirs()
    except (AttributeError, TypeError) as error:
        message = str(error)
    print(message)
    assert ours in message
slope = ms.grad(lambda v: (v * v).sum())(jnp.array([1.0, 2.0]))
assert (np.from_dlpack(slope) == [2, 4]).all()
assert (jnp.from_dlpack(slope) == jnp.asarray(ms.from_dlpack(jnp.array([2.0, 4.0])))).all()
