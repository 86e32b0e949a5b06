"""Options of MindSpore's search for parallel strategies, stored without effect."""

from __future__ import annotations

from typing import Any

__all__ = ["get_cost_model_context", "reset_cost_model_context", "set_cost_model_context"]

_options: dict[str, Any] = {}


def set_cost_model_context(**kwargs: Any) -> None:
    """Store options of the search for parallel strategies. They have no effect.

    >>> from mindgrad.parallel import _cost_model_context as cost
    >>> cost.set_cost_model_context(costmodel_beta=2.0)
    >>> cost.get_cost_model_context("costmodel_beta")
    2.0
    >>> cost.reset_cost_model_context()
    """
    _options.update(kwargs)


def get_cost_model_context(attr_key: str) -> Any:
    """Return the value of an option that :func:`set_cost_model_context` has set.

    Raises:
        ValueError: If the option ``attr_key`` was not set.
    """
    if attr_key not in _options:
        raise ValueError(f"For 'get_cost_model_context', the option {attr_key!r} was not set.")
    return _options[attr_key]


def reset_cost_model_context() -> None:
    """Delete all options that :func:`set_cost_model_context` has set."""
    _options.clear()


def _set_multi_subgraphs(multi_subgraph: bool = True) -> None:
    set_cost_model_context(multi_subgraphs=multi_subgraph)


def _get_multi_subgraphs() -> bool:
    return _options.get("multi_subgraphs", False)
