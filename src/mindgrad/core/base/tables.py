"""The cache of small tables, which are computed from values such as shapes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, Protocol, TypeVar, cast

__all__ = ["tabulated"]

P = ParamSpec("P")
Table = TypeVar("Table")


class _Tabulated(Protocol):
    def __call__(self, function: Callable[P, Table], /, *args: P.args, **kwargs: P.kwargs) -> Table: ...


@lru_cache(maxsize=16_384)
def _computed(function: Callable, *arguments: object) -> object:
    return function(*arguments)


#: ``tabulated(function, *arguments)`` returns ``function(*arguments)``, computed once. The arguments are
#: hashable, and only they determine the result. All callers share the result, so they must not change it
tabulated = cast("_Tabulated", _computed)
