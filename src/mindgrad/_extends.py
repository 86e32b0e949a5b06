"""Names of MindSpore's compiler: ``from mindspore._extends import …``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from mindgrad.core.ir import settings

__all__ = ["cell_attr_register", "compile_config"]


class _Switches:
    """Options of MindSpore's compiler, ``mindspore._extends.parse.compile_config``.

    The options have no effect, except ``CHECK_BPROP``. This option checks that the gradients of a ``bprop``
    have the shapes and dtypes of the inputs, like ``set_context(check_bprop=True)``.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "CHECK_BPROP":
            settings.store("check_bprop", bool(value))
        object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.isupper():
            return ""
        raise AttributeError(f"'compile_config' has no switch {name!r}.")


compile_config = _Switches()


def cell_attr_register(fn: Callable[..., Any] | None = None, attrs: Any = None) -> Any:
    """Decorate ``__init__`` to store its arguments as a string in ``cell_init_args``.

    Args:
        fn (Callable, optional): the method ``__init__`` of a Cell. ``None``: return a decorator. Default:
            ``None``.
        attrs (str or list of str, optional): names of the arguments to store. ``None``: all arguments.
            Default: ``None``.

    >>> from mindgrad import nn
    >>> from mindgrad._extends import cell_attr_register
    >>> class Scaled(nn.Cell):
    ...     @cell_attr_register(attrs=["factor"])
    ...     def __init__(self, factor, name=""):
    ...         super().__init__()
    ...         self.factor = factor
    >>> Scaled(2.0).cell_init_args
    "{'factor': 2.0}"
    """
    if fn is None:
        return functools.partial(cell_attr_register, attrs=attrs)
    signature = inspect.signature(fn)
    names = (
        set(list(signature.parameters)[1:])
        if attrs is None
        else {attrs}
        if isinstance(attrs, str)
        else set(attrs)
    )

    @functools.wraps(fn)
    def initialize(self: Any, *args: Any, **kwargs: Any) -> None:
        fn(self, *args, **kwargs)
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        kept = {name: value for name, value in bound.arguments.items() if name in names}
        self.cell_init_args = str(kept)

    return initialize
