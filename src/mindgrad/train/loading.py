"""``load_param_into_net``: copy values into the Parameters of a Cell, all or none."""

from __future__ import annotations

from typing import Any

from mindgrad._base.checks import of_type
from mindgrad.common.parameter import Parameter
from mindgrad.core.base.location import warn_user
from mindgrad.core.ir.tensor import Tensor
from mindgrad.nn.cell import Cell

__all__ = ["load_param_into_net"]

_MOST_NAMES = 20  # maximum number of names in an error message
#: part of the Parameter names of transformer layers in MindSpore 2.0 and 2.1 -> the part in later versions
_FORMER_NAMES = {".linear1.": ".dense1.", ".linear2.": ".dense2."}


def load_param_into_net(
    net: Cell, parameter_dict: dict[str, Any], strict_load: bool = False, remove_redundancy: bool = False
) -> tuple[list[str], list[str]]:
    """Copy values from a dict into the Parameters of a network, by name.

    Without ``strict_load``, a Parameter whose name is missing can also match a name with a prefix
    (``net.fc.weight`` for ``fc.weight``), if no other Parameter uses that value. The prefix that matches most
    Parameters is used, unless there is a tie. Floating-point values are converted to the floating-point dtype
    of the Parameter, and signed integers to its signed integer dtype. A warning reports conversions and
    Parameters that keep their values. A value with more axes than the Parameter matches if these axes have
    size 1, and a scalar matches a Parameter of one element.

    Args:
        net (Cell or Optimizer): network or optimizer that receives the values.
        parameter_dict (dict): dict that maps names to Parameters, from :func:`load_checkpoint`. Strings in it
            are ignored.
        strict_load (bool, optional): whether names and dtypes must match exactly. Default: ``False``.
        remove_redundancy (bool, optional): must be ``False``. Default: ``False``.

    Returns:
        tuple: the names of the Parameters without a value, and the names in ``parameter_dict`` that were not
        used.

    Raises:
        TypeError: If ``net`` is not a Cell, or ``parameter_dict`` contains objects other than Parameters and
            strings.
        RuntimeError: If a value and its Parameter do not match in shape or dtype. The message lists all
            mismatches, and no Parameter changes.

    >>> import mindgrad as ms
    >>> from mindgrad import Parameter, Tensor
    >>> class Line(ms.nn.Cell):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.slope = Parameter(Tensor(0.0), name="slope")
    >>> line = Line()
    >>> ms.load_param_into_net(line, {"slope": Parameter(Tensor(2.0)), "epoch": Parameter(Tensor(7))})
    ([], ['epoch'])
    >>> print(line.slope.value())
    2.0

    See Also:
        :func:`mindgrad.load_checkpoint`, :func:`mindgrad.save_checkpoint`
    """
    _check(net, parameter_dict, strict_load, remove_redundancy)
    own = list(net.get_parameters())
    values = {name: value for name, value in parameter_dict.items() if isinstance(value, Tensor)}
    if not strict_load:
        values, parameter_dict = _renamed(values, own), _renamed(parameter_dict, own)
    matched: list[tuple[Parameter, str]] = [(target, target.name) for target in own if target.name in values]
    missing = [target for target in own if target.name not in values]
    prefix = None if strict_load else _prefix(missing, values.keys() - {name for _, name in matched})
    if prefix is not None:
        matched += [(target, prefix + target.name) for target in missing if prefix + target.name in values]
        missing = [target for target in missing if prefix + target.name not in values]
    taken = {name for _, name in matched}
    not_loaded = [target.name for target in missing]
    not_used = [name for name in parameter_dict if name not in taken]

    wrong: list[str] = []
    converted: list[str] = []
    new: list[tuple[Parameter, Tensor]] = []
    for parameter, name in matched:
        value = _plain(values[name])
        if value.dtype is not parameter.dtype:
            if strict_load or not _convertible(value, parameter):
                wrong.append(f"'{parameter.name}' is {parameter.dtype}, but {value.dtype} in the checkpoint")
                continue
            converted.append(f"'{parameter.name}' from {value.dtype} to {parameter.dtype}")
        if not _fits(value.shape, parameter.shape):
            wrong.append(
                f"'{parameter.name}' has the shape {parameter.shape}, but {value.shape} in the checkpoint"
            )
            continue
        array = value.host_array().reshape(parameter.shape)
        new.append((parameter, Tensor(array, parameter.dtype)))
    if wrong:
        raise RuntimeError(_all_that_is_wrong(net, wrong, not_loaded, not_used))
    for parameter, tensor in new:
        parameter.set_data(tensor)
    _warn(net, prefix, converted, not_loaded)
    return not_loaded, not_used


def _check(net: Any, parameter_dict: Any, strict_load: Any, remove_redundancy: Any) -> None:
    if not isinstance(net, Cell):
        raise TypeError(
            f"For 'load_param_into_net', the argument 'net' should be a Cell, but got {type(net).__name__}."
        )
    if not isinstance(parameter_dict, dict):
        raise TypeError(
            f"For 'load_param_into_net', the argument 'parameter_dict' should be a dict, but got "
            f"{type(parameter_dict).__name__}; load_checkpoint(file) returns one."
        )
    for name, value in parameter_dict.items():
        if not isinstance(name, str) or not isinstance(value, (Tensor, str)):
            raise TypeError(
                f"For 'load_param_into_net', 'parameter_dict' should map names to Parameters, but "
                f"{name!r} maps to {type(value).__name__}."
            )
    for name, value in (("strict_load", strict_load), ("remove_redundancy", remove_redundancy)):
        of_type(value, bool, "load_param_into_net", name)
    if remove_redundancy:
        raise ValueError(
            "For 'load_param_into_net', 'remove_redundancy' must be False, because mindgrad does not read "
            "checkpoints whose files omit duplicate Parameters. Leave it out."
        )


def _renamed(values: dict[str, Any], own: list[Parameter]) -> dict[str, Any]:
    """Replace former names in ``values`` by the names of the network."""
    names = {f".{each.name}" for each in own}
    renamed = {}
    for name, value in values.items():
        today = f".{name}"
        for former, later in _FORMER_NAMES.items():
            today = today.replace(former, later)
        renamed[today[1:] if today in names and today[1:] not in values else name] = value
    return renamed


def _plain(value: Tensor) -> Tensor:
    return value.value() if isinstance(value, Parameter) else value


def _convertible(value: Tensor, parameter: Parameter) -> bool:
    return value.dtype.kind == parameter.dtype.kind and value.dtype.kind in ("float", "int")


def _fits(shape: tuple[int, ...], expected: tuple[int, ...]) -> bool:
    # Adam stores powers of β, whose shape is () or (1,), depending on the version of MindSpore: accept both
    if shape == () and expected == (1,):
        return True
    return shape[: len(expected)] == expected and all(size == 1 for size in shape[len(expected) :])


def _prefix(missing: list[Parameter], unused: set[str]) -> str | None:
    """Return the prefix that matches most missing Parameters, or ``None`` for a tie.

    If all the best prefixes end with the shortest one, the result is the shortest. For example, the
    checkpoint of an optimizer contains ``net.weight`` and ``moment1.net.weight``, and the prefix is ``net.``.
    """
    names = {f".{candidate.name}" for candidate in missing}
    serves: dict[str, int] = {}
    for name in unused:
        for dot in (at for at, character in enumerate(name) if character == "."):
            if name[dot:] in names:
                prefix = name[: dot + 1]
                serves[prefix] = serves.get(prefix, 0) + 1
    most = max(serves.values(), default=0)
    best = sorted((prefix for prefix, number in serves.items() if number == most), key=len)
    return best[0] if best and all(candidate.endswith(f".{best[0]}") for candidate in best[1:]) else None


def _all_that_is_wrong(net: Cell, wrong: list[str], missing: list[str], unused: list[str]) -> str:
    lines = [
        f"For 'load_param_into_net', the checkpoint does not fit {type(net).__name__}; nothing was loaded.",
        *_listed("shapes or dtypes differ", wrong),
        *_listed("not in the checkpoint", [f"'{name}'" for name in missing]),
        *_listed("not in the net", [f"'{name}'" for name in unused]),
        "  Build the net as it was when it was saved, or exclude entries with the argument choice_func of "
        "load_checkpoint.",
    ]
    return "\n".join(lines)


def _listed(title: str, items: list[str]) -> list[str]:
    shown = [f"    {each}" for each in items[:_MOST_NAMES]]
    if len(items) > _MOST_NAMES:
        shown.append(f"    and {len(items) - _MOST_NAMES} more")
    return [f"  {title}:", *shown] if items else []


def _warn(net: Cell, prefix: str | None, converted: list[str], missing: list[str]) -> None:
    parts = []
    if prefix is not None:
        parts.append(f"the prefix '{prefix}' was removed from names in the checkpoint")
    if converted:
        parts.append("dtypes were converted: " + _short(converted))
    if missing:
        parts.append(
            f"{len(missing)} Parameters of {type(net).__name__} are not in the checkpoint and keep their "
            f"values: {_short(missing)}"
        )
    if parts:
        warn_user("For 'load_param_into_net', " + "; ".join(parts) + ".")


def _short(items: list[str]) -> str:
    more = f" and {len(items) - _MOST_NAMES} more" if len(items) > _MOST_NAMES else ""
    return ", ".join(items[:_MOST_NAMES]) + more
