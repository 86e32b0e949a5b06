"""Optimizers: those of MindSpore whose formulas are PyTorch's for some arguments.

Where they differ, the table gives arguments with which they do not:

- Adam and AdaMax add epsilon at another place than PyTorch: a tiny one makes no difference.
- RMSProp begins with a mean square of 1 (PyTorch: 0), and adds epsilon inside of the root: the state of
  PyTorch's is set, and epsilon is tiny.
- Adagrad has no epsilon.
- AdamWeightDecay corrects no bias, unlike AdamW; Adam with use_nesterov is not NAdam; FTRL, Lamb and
  ProximalAdagrad do not exist there: tests/unit/nn/test_optimizers.py has formulas for these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.unit.references.case import normal

STEPS = 5
START = [normal(2, 3, salt="start"), normal(4, salt="start")]
GRADIENTS = [[normal(2, 3, salt=f"g{k}"), normal(4, salt=f"g{k}")] for k in range(STEPS)]


@dataclass(frozen=True)
class Optimised:
    """One optimizer: the expression that makes it for ``params``, and PyTorch's of a list ``p``."""

    made: str
    theirs: Callable[[Any, Any], Any]
    state: dict[str, float] | None = None  # what PyTorch's state begins with

    @property
    def name(self) -> str:
        return self.made


CASES = [
    Optimised("nn.SGD(params, 0.1)", lambda o, p: o.SGD(p, 0.1)),
    Optimised("nn.SGD(params, 0.1, 0.9, 0.5, 0.01)", lambda o, p: o.SGD(p, 0.1, 0.9, 0.5, 0.01)),
    Optimised("nn.SGD(params, 0.1, 0.9, 0.0, 0.01, True)", lambda o, p: o.SGD(p, 0.1, 0.9, 0.0, 0.01, True)),
    Optimised("nn.Momentum(params, 0.1, 0.9, 0.01)", lambda o, p: o.SGD(p, 0.1, 0.9, weight_decay=0.01)),
    Optimised("nn.Momentum(params, 0.1, 0.9, use_nesterov=True)", lambda o, p: o.SGD(p, 0.1, 0.9, nesterov=True)),
    Optimised("nn.Adam(params, 0.1, eps=1e-30)", lambda o, p: o.Adam(p, 0.1, eps=1e-30)),
    Optimised("nn.Adam(params, 0.1, 0.8, 0.9, 1e-30, weight_decay=0.1)", lambda o, p: o.Adam(p, 0.1, (0.8, 0.9), 1e-30, 0.1)),
    Optimised("nn.Adam(params, 0.1, 0.8, 0.5, 1e-30, use_amsgrad=True)", lambda o, p: o.Adam(p, 0.1, (0.8, 0.5), 1e-30, amsgrad=True)),
    Optimised("nn.LazyAdam(params, 0.1, eps=1e-30)", lambda o, p: o.Adam(p, 0.1, eps=1e-30)),
    Optimised("nn.AdamOffload(params, 0.1, eps=1e-30)", lambda o, p: o.Adam(p, 0.1, eps=1e-30)),
    Optimised("nn.AdaMax(params, 0.1, 0.8, 0.9, 1e-30)", lambda o, p: o.Adamax(p, 0.1, (0.8, 0.9), 1e-30)),
    Optimised("nn.RMSProp(params, 0.1, epsilon=1e-30)", lambda o, p: o.RMSprop(p, 0.1, 0.9, 1e-30), {"square_avg": 1.0}),
    Optimised("nn.RMSProp(params, 0.1, 0.8, 0.5, 1e-30, centered=True)", lambda o, p: o.RMSprop(p, 0.1, 0.8, 1e-30, 0.0, 0.5, True), {"square_avg": 1.0, "momentum_buffer": 0.0, "grad_avg": 0.0}),
    Optimised("nn.Adagrad(params, 0.1, 0.2)", lambda o, p: o.Adagrad(p, 0.2, initial_accumulator_value=0.1, eps=0.0)),
    Optimised("nn.Adagrad(params, 0.5, 0.2, weight_decay=0.1)", lambda o, p: o.Adagrad(p, 0.2, 0.0, 0.1, 0.5, 0.0)),
    Optimised("nn.Adadelta(params, 0.5, 0.8, 1e-3)", lambda o, p: o.Adadelta(p, 0.5, 0.8, 1e-3)),
    Optimised("nn.ASGD(params, 0.1, 0.01, 0.75, 2.0, 0.1)", lambda o, p: o.ASGD(p, 0.1, 0.01, 0.75, 2.0, 0.1)),
    Optimised("nn.Rprop(params, 0.1)", lambda o, p: o.Rprop(p, 0.1)),
    Optimised("nn.Rprop(params, 0.1, (0.4, 1.5), (0.06, 0.12))", lambda o, p: o.Rprop(p, 0.1, (0.4, 1.5), (0.06, 0.12))),
]  # fmt: skip


def steps_of_theirs(torch: Any, case: Optimised) -> list[np.ndarray]:
    """The parameters after each step, one below the other, for each parameter."""
    parameters = [torch.nn.Parameter(torch.tensor(x)) for x in START]
    optimizer = case.theirs(torch.optim, parameters)
    for p in parameters if case.state else ():
        begin = {name: torch.full_like(p.data, value) for name, value in case.state.items()}
        optimizer.state[p].update(begin, step=torch.tensor(0.0))
    seen = []
    for gradients in GRADIENTS:
        for p, g in zip(parameters, gradients, strict=True):
            p.grad = torch.tensor(g)
        optimizer.step()
        seen.append([p.detach().numpy().copy() for p in parameters])
    return [np.stack(each) for each in zip(*seen, strict=True)]
