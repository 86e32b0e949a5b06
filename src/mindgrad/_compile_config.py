"""Switches of MindSpore's compiler: ``from mindspore._extends.parse import compile_config``.

They are kept and change nothing, but one: with ``CHECK_BPROP`` the gradients of a ``bprop`` must have the
shapes and element types of the inputs, as with ``set_context(check_bprop=True)``.
"""

from __future__ import annotations

from typing import Any

from mindgrad.core import settings

__all__ = ["compile_config"]


class _Switches:
    def __setattr__(self, name: str, value: Any) -> None:
        if name == "CHECK_BPROP":
            settings.store("check_bprop", bool(value))
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.isupper():
            return ""
        raise AttributeError(f"'compile_config' has no switch {name!r}.")


compile_config = _Switches()
