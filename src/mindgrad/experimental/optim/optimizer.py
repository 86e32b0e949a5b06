"""Base class of optimizers with parameter groups, each with separate options."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from mindgrad import ops
from mindgrad._base.checks import of_type
from mindgrad.common.parameter import Parameter, ParameterTuple
from mindgrad.core.base.html import captioned
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell
from mindgrad.nn.hyperparameters import non_negative

__all__ = ["Optimizer"]


class Optimizer(Cell):
    """Base class of optimizers with parameter groups.

    ``param_groups`` lists for each group its Parameters, learning rate, and options.

    ``lr`` is a Parameter, so a schedule changes it without a new compilation. Subclasses define
    ``construct(self, gradients)``.

    Args:
        params (list of Parameter or list of dict): a list of Parameters, or of dicts with ``params`` and
            options that differ from ``defaults``.
        defaults (dict): default options of groups, which must contain ``lr``.

    Attributes:
        param_groups (list of dict): one dict for each group, with its ``params``, ``lr``, and other options.
        parameters (ParameterTuple): the Parameters of all groups, in the order of the gradients.
        group_start_id (list of int): the gradients of group ``k`` are
            ``gradients[group_start_id[k]:group_start_id[k + 1]]``.
        lrs (ParameterTuple): the learning rates, one for each group.
        defaults (dict): default options of groups.

    Raises:
        TypeError: If ``params`` is not a list or tuple, or contains other elements.
        ValueError: If there are no Parameters, a Parameter is in two groups, or an option does not exist.

    >>> import mindgrad as ms
    >>> from mindgrad.experimental import optim
    >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    >>> optimizer = optim.SGD([w], lr=0.5)
    >>> optimizer((ms.Tensor([1.0, -1.0]),))
    True
    >>> print(w.value(), optimizer.param_groups[0]["lr"].value())
    [0.5 2.5] 0.5
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        owner = type(self).__name__
        listed = list(params) if isinstance(params, (list, tuple)) or hasattr(params, "__next__") else None
        if listed is None:
            raise TypeError(
                f"For '{owner}', the 'params' must be a list of Parameters or of dicts, but got "
                f"{type(params).__name__}."
            )
        if not listed:
            raise ValueError(f"For '{owner}', the 'params' are empty, so there is nothing to train.")
        groups = listed if isinstance(listed[0], dict) else [{"params": listed}]
        self.defaults = dict(defaults)
        self.param_groups = [self._group(owner, k, each) for k, each in enumerate(groups)]
        sizes = [len(group["params"]) for group in self.param_groups]
        self.group_start_id = [0, *itertools.accumulate(sizes)]
        every = [p for group in self.param_groups for p in group["params"]]
        if len({id(p) for p in every}) < len(every):
            raise ValueError(
                f"For '{owner}', a Parameter appears twice in 'params'. List each Parameter once."
            )
        self.parameters = ParameterTuple(every)
        self.lrs = ParameterTuple([group["lr"] for group in self.param_groups])
        self.map_, self.hyper_map = ops.Map(), ops.HyperMap()
        self.state_step = Parameter(Tensor(np.zeros((), np.int32)), name="state_step", requires_grad=False)

    def _group(self, owner: str, number: int, group_: Any) -> dict[str, Any]:
        if not isinstance(group_, dict) or "params" not in group_:
            raise TypeError(f"For '{owner}', a group must be a dict with 'params', but got {group_!r}.")
        unknown = sorted(set(group_) - {"params", "weight_decay", *self.defaults})
        if unknown:
            raise ValueError(
                f"For '{owner}', a group has the unknown option {unknown[0]!r}. Supported options: "
                f"{', '.join(self.defaults)}."
            )
        members = group_["params"]
        members = [members] if isinstance(members, Parameter) else list(members)
        for parameter in members:
            of_type(parameter, Parameter, owner, "params", "Parameters")
        group = {"weight_decay": 0.0, **self.defaults, **group_, "params": members}
        rate = non_negative(owner, "lr", group["lr"])
        group["lr"] = Parameter(
            Tensor(np.float32(rate)), name=f"learning_rate_group_{number}", requires_grad=False
        )
        return group

    def _state(self, prefix: str) -> ParameterTuple:
        moments = self.parameters.clone(prefix, "zeros")
        for parameter in moments:
            parameter.requires_grad = False
        return moments

    def _rows(self, gradients: Any, *states: Any) -> list[tuple[Any, ...]]:
        """Return a tuple (group, Parameter, gradient, states …) for each Parameter.

        Gradients of groups with ``maximize`` are negated.
        """
        listed = gradients if isinstance(gradients, (tuple, list)) else (gradients,)
        if len(listed) != len(self.parameters):
            raise ValueError(
                f"For '{type(self).__name__}', there must be a gradient for each of the "
                f"{len(self.parameters)} Parameters, but got {len(listed)}."
            )
        owners = [group for group in self.param_groups for _ in group["params"]]
        rows = []
        for group, parameter, gradient, *state in zip(owners, self.parameters, listed, *states, strict=True):
            found = ops.cast(gradient, parameter.dtype)
            rows.append((group, parameter, -found if group.get("maximize") else found, *state))
        return rows

    def __repr__(self) -> str:
        rates = list(dict.fromkeys(f"{group['lr'].value().item():.6g}" for group in self.param_groups))
        rate = rates[0] if len(rates) == 1 else f"({', '.join(rates)})"
        count = len(self.parameters)
        return f"{type(self).__name__}({count} Parameter{'s' * (count != 1)}, lr={rate})"

    def _repr_html_(self) -> str:
        return captioned(repr(self))

    def construct(self, gradients: Any) -> bool:
        """Take one step. Each optimizer defines this method.

        Args:
            gradients (tuple of Tensor): one gradient for each Parameter.

        Raises:
            NotImplementedError: If the class does not define this method.
        """
        raise NotImplementedError(f"'{type(self).__name__}' must define 'construct(self, gradients)'.")
