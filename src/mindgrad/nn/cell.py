"""The Cell: a function with Parameters and other Cells."""

from __future__ import annotations

from typing import Any

from mindgrad.common.parameter import Parameter
from mindgrad.core import settings
from mindgrad.core.scope import open_scopes
from mindgrad.core.tensor import Tensor
from mindgrad.frontend import state
from mindgrad.functional.compiled import Compiled

__all__ = ["Cell"]


class Cell:
    """A building block: ``construct`` computes, attributes hold Parameters and inner Cells."""

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        object.__setattr__(self, "version", 0)
        self._params: dict[str, Parameter] = {}
        self._cells: dict[str, Cell] = {}
        self.training = False
        self._compiled = Compiled(self._run)

    def __setattr__(self, name: str, value: Any) -> None:
        held = self.__dict__.get(name)
        if isinstance(held, Parameter) and isinstance(value, Tensor) and not isinstance(value, Parameter):
            state.write(held, value)
            return
        object.__setattr__(self, "version", self.version + 1)
        if isinstance(value, Parameter):
            self._params[name] = value
        elif isinstance(value, Cell):
            self._cells[name] = value
        object.__setattr__(self, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if settings.is_graph_mode() and not open_scopes():
            return self._compiled(*args, **kwargs)
        return self._run(*args, **kwargs)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        state.depends_on(self)
        return self.construct(*args, **kwargs)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """The computation; every Cell defines its own."""
        raise AttributeError(f"For 'Cell', the method 'construct' of {type(self).__name__} is not defined.")

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Parameters with ``requires_grad``, this Cell's own first, then those of inner Cells."""
        return [p for p in self.get_parameters() if p.requires_grad]

    def get_parameters(self, expand: bool = True) -> list[Parameter]:
        """All Parameters, each once."""
        found = dict.fromkeys(self._params.values())
        for cell in self._cells.values():
            found.update(dict.fromkeys(cell.get_parameters()))
        return list(found)
