"""Options of MindSpore's search for operator strategies, without effect."""

from __future__ import annotations

from typing import Any

__all__ = ["get_algo_parameters", "reset_algo_parameters", "set_algo_parameters"]

_DEFAULTS: dict[str, bool | int | float] = {
    "fully_use_devices": True, "elementwise_op_strategy_follow": False, "enable_algo_approxi": False,
    "algo_approxi_epsilon": 0.1, "tensor_slice_align_enable": False, "tensor_slice_align_size": 16,
}  # fmt: skip
_options = dict(_DEFAULTS)


def set_algo_parameters(**kwargs: Any) -> None:
    """Set options of the search for operator strategies. They have no effect.

    Args:
        **kwargs (Any): ``fully_use_devices``, ``elementwise_op_strategy_follow``, ``enable_algo_approxi``,
            ``algo_approxi_epsilon``, ``tensor_slice_align_enable``, or ``tensor_slice_align_size``, with
            values of MindSpore's types.

    Returns:
        Nothing.

    Raises:
        ValueError: If an option does not exist.
        TypeError: If the value of an option has an unsupported type.

    >>> from mindgrad.parallel import get_algo_parameters, reset_algo_parameters, set_algo_parameters
    >>> set_algo_parameters(fully_use_devices=False)
    >>> get_algo_parameters("fully_use_devices")
    False
    >>> reset_algo_parameters()

    See Also:
        :func:`mindgrad.get_algo_parameters`, :func:`mindgrad.reset_algo_parameters`
    """
    for name, value in kwargs.items():
        kind = type(_DEFAULTS[_known("set_algo_parameters", name)])
        if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            raise TypeError(
                f"For 'set_algo_parameters', the '{name}' must be of type {kind.__name__}, but got {value!r}."
            )
    _options.update(kwargs)


def get_algo_parameters(attr_key: str) -> Any:
    """Return an option of :func:`set_algo_parameters`.

    Args:
        attr_key (str): name of the option.

    Returns:
        bool, int, or float: value that the program has set for the option, or its default.

    Raises:
        ValueError: If there is no option with the name ``attr_key``.

    >>> from mindgrad.parallel import get_algo_parameters
    >>> get_algo_parameters("tensor_slice_align_size")
    16

    See Also:
        :func:`mindgrad.set_algo_parameters`, :func:`mindgrad.reset_algo_parameters`
    """
    return _options[_known("get_algo_parameters", attr_key)]


def reset_algo_parameters() -> None:
    """Reset the options of :func:`set_algo_parameters` to their defaults.

    Returns:
        Nothing.

    >>> from mindgrad.parallel import reset_algo_parameters
    >>> reset_algo_parameters()

    See Also:
        :func:`mindgrad.set_algo_parameters`, :func:`mindgrad.get_algo_parameters`
    """
    _options.update(_DEFAULTS)


def _known(function: str, name: str) -> str:
    if name not in _DEFAULTS:
        raise ValueError(
            f"For '{function}', unknown option {name!r}. Supported options: {', '.join(_DEFAULTS)}."
        )
    return name
