"""Options of MindSpore's search for strategies of several processes: they are kept, and change nothing."""

from __future__ import annotations

from typing import Any

__all__ = ["get_cost_model_context", "reset_cost_model_context", "set_cost_model_context"]

_options: dict[str, Any] = {}


def set_cost_model_context(**kwargs: Any) -> None:
    """Keep options of the search, which one process does not need.

    >>> from mindgrad.parallel import _cost_model_context as cost
    >>> cost.set_cost_model_context(costmodel_beta=2.0)
    >>> cost.get_cost_model_context("costmodel_beta")
    2.0
    >>> cost.reset_cost_model_context()
    """
    _options.update(kwargs)


def get_cost_model_context(attr_key: str) -> Any:
    """An option that was kept.

    Raises:
        ValueError: If it was not set.
    """
    if attr_key not in _options:
        raise ValueError(f"For 'get_cost_model_context', the option {attr_key!r} was not set.")
    return _options[attr_key]


def reset_cost_model_context() -> None:
    """Forget all options."""
    _options.clear()


def _set_multi_subgraphs(multi_subgraph: bool = True) -> None:
    set_cost_model_context(multi_subgraphs=multi_subgraph)


def _get_multi_subgraphs() -> bool:
    return _options.get("multi_subgraphs", False)
