"""Operators of reinforcement learning and cuDNN; most raise an error when called.

Buffers, queues, and environments are handles of MindSpore's own runtime. A program that stores its experience
in arrays or Parameters (``ops.BufferAppend``, ``BufferSample``) does not need them.
"""

from typing import Any

from mindgrad._base.absent import absent
from mindgrad.core.ir.tensor import Tensor
from mindgrad.ops import arithmetic, joining, reshaping
from mindgrad.ops.operands import broadcast_to, cast, operand
from mindgrad.ops.operations.primitive import Primitive
from mindgrad.ops.recurrence import over_time

_REASON = "is an operator of cuDNN or Ascend"

CudnnGRU = absent(__name__, "CudnnGRU", _REASON, "Use nn.GRU.")
GRUV2 = absent(__name__, "GRUV2", _REASON, "Use nn.GRU.")
LSTMV2 = absent(__name__, "LSTMV2", _REASON, "Use nn.LSTM.")


class DiscountedReturn(Primitive):
    """The discounted sums of later rewards: Rₜ = rewardₜ + gamma · (1 − doneₜ) · Rₜ₊₁.

    Args:
        gamma (float): discount factor.

    Inputs:
        reward (Tensor): reward of each step, a real tensor of shape (steps, …).
        done (Tensor): whether an episode ends with each step, with the shape of ``reward``.
        last_state_value (Tensor): estimated return after the last step, with the shape of ``reward`` without
            its first axis.

    Outputs:
        Tensor of the discounted returns Rₜ, with the shape and dtype of ``reward``.

    >>> from mindgrad import Tensor
    >>> from mindgrad.ops.operations._rl_inner_ops import DiscountedReturn
    >>> print(DiscountedReturn(0.5)(Tensor([1.0, 1.0, 1.0]), Tensor([False, True, False]), Tensor(8.0)))
    [1.5 1.  5. ]
    """

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def __call__(self, reward: Any, done: Any, last_state_value: Any) -> Tensor:
        rewards = operand(reward, "DiscountedReturn")
        ends = cast(operand(done, "DiscountedReturn"), rewards.dtype)
        factors = arithmetic.mul(arithmetic.sub(1, ends), self.gamma)
        last = broadcast_to(
            cast(operand(last_state_value, "DiscountedReturn"), rewards.dtype), rewards.shape[1:]
        )

        def step(x: Tensor, later: Any) -> tuple[Any, Tensor]:
            total = arithmetic.add(x[0], arithmetic.mul(x[1], later))
            return total, total

        backwards = reshaping.flip(joining.stack([rewards, factors], 1), (0,))
        return reshaping.flip(over_time(step, backwards, last)[0], (0,))


_BUFFER = "Keep experience in Parameters with ops.BufferAppend and ops.BufferSample, or in NumPy arrays."
_HANDLES = {
    "PriorityReplayBuffer": (("Create", "Push", "Sample", "Update", "Destroy"), _BUFFER),
    "ReservoirReplayBuffer": (("Create", "Push", "Sample", "Destroy"), _BUFFER),
    "Env": (("Create", "Reset", "Step"), "Write the environment in Python, between calls of the agent."),
    "Mux": (("Send", "Receive"), "Use the functions of mindgrad.communication.comm_func."),
    "Batch": (("Assign", "Read"), "Assign the Parameters one by one with ops.assign."),
    "TensorsQueue": (
        ("Create", "Put", "Get", "Pop", "Clear", "Close", "Size"),
        "Use a Python list, or a Parameter with ops.BufferAppend.",
    ),
}
_REFUSED = [
    absent(__name__, owner + verb, "is a handle of MindSpore's own runtime", instead)
    for owner, (verbs, instead) in _HANDLES.items()
    for verb in verbs
]
globals().update({each.__name__: each for each in _REFUSED})

__all__ = ["GRUV2", "LSTMV2", "CudnnGRU", "DiscountedReturn"]
__all__ += [each.__name__ for each in _REFUSED]
