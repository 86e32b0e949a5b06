"""Parameter groups with separate learning rates and weight decays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from mindgrad._base.checks import of_type
from mindgrad.common.parameter import Parameter, name_apart
from mindgrad.core.ir.tensor import Tensor

__all__ = ["Member", "members"]

_KEYS = ("params", "lr", "weight_decay", "order_params", "grad_centralization")


class Member(NamedTuple):
    """One Parameter with the options of its group; ``None`` means not set."""

    parameter: Parameter
    group: int
    rate: Any = None
    decay: Any = None
    is_centralized: bool = False


def members(owner: str, parameters: Any) -> tuple[list[Member], bool]:
    """List the Parameters in the order of updates, and whether there are groups.

    Args:
        owner: name of the optimizer in errors.
        parameters: an iterable of Parameters, or of dicts with the key ``params`` and optionally ``lr``,
            ``weight_decay`` and ``grad_centralization``. A dict with only ``order_params`` sets the order.

    Raises:
        TypeError: If an element of ``parameters`` is neither a Parameter nor a dict, or there are both.
        ValueError: If ``parameters`` is empty, or ``order_params`` does not list the Parameters of the
            groups.
        KeyError: If a group has an unknown key or does not have ``params``.
        RuntimeError: If a Parameter occurs twice, or two Parameters have the same name.
    """
    listed = _listed(owner, "parameters", parameters)
    if all(isinstance(entry, Parameter) for entry in listed):
        single = [Member(entry, 0) for entry in listed]
        _check_names(owner, single)
        return single, False
    if not all(isinstance(entry, dict) for entry in listed):
        kinds = sorted({type(entry).__name__ for entry in listed})
        raise TypeError(
            f"For '{owner}', all elements of the 'params' must be Parameters, or all dicts, but got "
            f"{', '.join(kinds)}."
        )
    return _of_groups(owner, listed), True


def _listed(owner: str, name: str, values: Any) -> list[Any]:
    if values is None:
        raise ValueError(f"For '{owner}', the '{name}' can not be None: pass net.trainable_params().")
    if isinstance(values, (Tensor, dict, str)) or not isinstance(values, Iterable):
        raise TypeError(
            f"For '{owner}', the '{name}' must be a list of Parameters, but got {type(values).__name__}."
        )
    listed = list(values)
    if not listed:
        raise ValueError(f"For '{owner}', the '{name}' are empty: there is nothing to train.")
    return listed


def _of_groups(owner: str, groups: list[dict[str, Any]]) -> list[Member]:
    entries: list[Member] = []
    order = None
    for number, group in enumerate(groups):
        unknown = [key for key in group if key not in _KEYS]
        if unknown:
            raise KeyError(
                f"For '{owner}', a group of parameters has the key {unknown[0]!r}; use {', '.join(_KEYS)}."
            )
        if "order_params" in group:
            if len(group) > 1:
                raise ValueError(
                    f"For '{owner}', a group with the key 'order_params' must not have another key."
                )
            order = _listed(owner, "order_params", group["order_params"])
            continue
        if "params" not in group:
            raise KeyError(f"For '{owner}', a group has no 'params', the list of its Parameters.")
        centralized = group.get("grad_centralization", False)
        of_type(centralized, bool, owner, "grad_centralization", "bool")
        for parameter in _listed(owner, "params of a group", group["params"]):
            if not isinstance(parameter, Parameter):
                raise TypeError(
                    f"For '{owner}', the 'params' of a group must be Parameters, but got "
                    f"{type(parameter).__name__}."
                )
            rate, decay = group.get("lr"), group.get("weight_decay")
            entries.append(Member(parameter, number, rate, decay, centralized))
    if not entries:
        raise ValueError(f"For '{owner}', no group has 'params': there is nothing to train.")
    _check_names(owner, entries)
    return entries if order is None else _ordered(owner, entries, order)


def _check_names(owner: str, entries: list[Member]) -> None:
    first: dict[str, int] = {}
    name_apart([member.parameter for member in entries])
    for number, member in enumerate(entries):
        name = member.parameter.name
        before = first.setdefault(name, number)
        if before == number:
            continue
        where = f"at positions {before} and {number} of the Parameters"
        other = entries[before].parameter
        if other is member.parameter:
            raise RuntimeError(f"For '{owner}', the Parameter '{name}' is given twice, {where}.")
        raise RuntimeError(
            f"For '{owner}', two Parameters have the name '{name}', {where}: {other!r} and "
            f"{member.parameter!r}. Give each a unique name."
        )


def _ordered(owner: str, entries: list[Member], order: list[Any]) -> list[Member]:
    by_parameter = {id(member.parameter): member for member in entries}
    wanted = [by_parameter.get(id(each)) for each in order]
    chosen = [member for member in wanted if member is not None]
    if len(chosen) != len(wanted) or {id(m.parameter) for m in chosen} != set(by_parameter):
        raise ValueError(
            f"For '{owner}', the 'order_params' must list the Parameters of all groups, each once. The "
            f"groups have {len(entries)} Parameters; 'order_params' lists {len({id(m) for m in chosen})} "
            f"of them in {len(order)} entries."
        )
    if len(chosen) != len(entries):
        raise ValueError(f"For '{owner}', 'order_params' lists a Parameter twice.")
    return chosen
