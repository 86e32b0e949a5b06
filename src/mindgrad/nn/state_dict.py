"""The state dict of a Cell: its Parameters and buffers, as in MindSpore 2.x.

A buffer is an attribute that is a Tensor but not a Parameter. It is saved with a net but not trained.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mindgrad._base.checks import of_type
from mindgrad.core.ir.tensor import Tensor

__all__ = ["IncompatibleKeys", "StateDict"]


class IncompatibleKeys(NamedTuple):
    """Names that a state dict lacks, and names that only the state dict contains."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class StateDict:
    """The methods of a Cell that save and load its state."""

    def _buffer_names(self) -> dict[str, bool]:
        """Return the names of this Cell's own buffers, and whether each is persistent."""
        return getattr(self, "_buffers", {})

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a buffer, a tensor that is not a Parameter, as an attribute.

        Args:
            name (str): name of the attribute that holds the buffer.
            tensor (Tensor or None): value of the buffer; ``None`` if it has no value yet.
            persistent (bool): whether :meth:`state_dict` contains the buffer. Default: ``True``.

        Raises:
            TypeError: If ``name`` is not a string, or ``tensor`` is a Parameter or not a Tensor.
            KeyError: If ``name`` is empty, contains a dot, or is already an attribute.

        >>> import mindgrad as ms
        >>> class Scaled(ms.nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.register_buffer("scale", ms.Tensor([2.0]))
        ...     def construct(self, x):
        ...         return x * self.scale
        >>> print(Scaled()(ms.Tensor([3.0])), list(Scaled().state_dict()))
        [6.] ['scale']
        """
        if not isinstance(name, str):
            raise TypeError(f"For 'register_buffer', the 'name' must be a string, but got {name!r}.")
        if not name or "." in name:
            raise KeyError(
                f"For 'register_buffer', the 'name' must not be empty or contain '.', but got {name!r}."
            )
        if name not in self._buffer_names() and hasattr(self, name):
            raise KeyError(
                f"For 'register_buffer', the Cell already has an attribute {name!r}. Choose a different name."
            )
        if tensor is not None and (not isinstance(tensor, Tensor) or tensor.is_parameter):
            raise TypeError(
                "For 'register_buffer', the 'tensor' must be None, or a Tensor that is not a Parameter, "
                f"but got {type(tensor).__name__}."
            )
        object.__setattr__(self, "_buffers", {**self._buffer_names(), name: persistent})
        setattr(self, name, tensor)

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterate over pairs of path and buffer, by default also of inner Cells."""
        visited: set[int] = set()
        for path, cell in self.cells_and_names() if recurse else [("", self)]:  # type: ignore[attr-defined]
            for name in cell._buffer_names():
                value = getattr(cell, name, None)
                if value is None or (remove_duplicate and id(value) in visited):
                    continue
                visited.add(id(value))
                yield ".".join(part for part in (prefix, path, name) if part), value

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterate over the buffers, by default also of inner Cells."""
        for _, value in self.named_buffers(recurse=recurse):
            yield value

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer at a path: ``net.get_buffer("layer.scale")``.

        Raises:
            AttributeError: If there is no buffer at the path ``target``.
        """
        for path, value in self.named_buffers(remove_duplicate=False):
            if path == target:
                return value
        raise AttributeError(f"For 'get_buffer', {type(self).__name__} has no buffer {target!r}.")

    def _held_by_path(self) -> Iterator[tuple[str, Any, str]]:
        """Return (path, Cell, attribute) of each Parameter and persistent buffer."""
        for path, cell in self.cells_and_names():  # type: ignore[attr-defined]
            start = f"{path}." if path else ""
            for name, _ in cell._own_parameters():
                yield start + name, cell, name
            for name, persistent in cell._buffer_names().items():
                if persistent and getattr(cell, name, None) is not None:
                    yield start + name, cell, name

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict[str, Tensor]:
        """Return a dict of Parameters and persistent buffers, by attribute path.

        A path consists of attribute names, such as ``"layers.0.weight"``. The names of Parameters are not
        used.

        Args:
            destination (dict or None): dict to which the entries are added. ``None``: a new dict.
            prefix (str): string that is put before each path in the dict.
            keep_vars (bool): accepted for compatibility.

        >>> import mindgrad as ms
        >>> net = ms.nn.SequentialCell(ms.nn.Dense(2, 1), ms.nn.ReLU())
        >>> list(net.state_dict())
        ['0.weight', '0.bias']
        """
        state: Any = OrderedDict() if destination is None else destination
        for path, cell, name in self._held_by_path():
            state[prefix + path] = _held(cell, name)
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> IncompatibleKeys:
        """Set all Parameters and persistent buffers to the values of a state dict.

        If an error is raised, no Parameter and no buffer changes.

        Args:
            state_dict (dict): dict that maps paths to tensors, as returned by :meth:`state_dict`.
            strict (bool): whether to raise an error if paths are missing or unexpected. Default: ``True``.

        Returns:
            The paths that are missing in ``state_dict``, and the paths that exist only in ``state_dict``.

        Raises:
            TypeError: If ``state_dict`` is not a dict, or a value is not a tensor.
            RuntimeError: If shapes differ, or if ``strict`` is ``True`` and paths are missing or unexpected.
                The message lists all problems.

        >>> import mindgrad as ms
        >>> one, two = ms.nn.Dense(2, 1), ms.nn.Dense(2, 1)
        >>> one.load_state_dict(two.state_dict())
        IncompatibleKeys(missing_keys=[], unexpected_keys=[])
        >>> print((one.weight == two.weight).all())
        True
        """
        of_type(state_dict, Mapping, "load_state_dict", "state_dict", "a dict")
        places = {path: (cell, name) for path, cell, name in self._held_by_path()}
        missing = [path for path in places if path not in state_dict]
        unexpected = [path for path in state_dict if path not in places]
        wrong = []
        if strict and missing:
            wrong.append(f"missing: {', '.join(missing)}")
        if strict and unexpected:
            wrong.append(f"unexpected: {', '.join(unexpected)}")
        new = []
        for path, value in state_dict.items():
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"For 'load_state_dict', the value of {path!r} must be a Tensor, but got "
                    f"{type(value).__name__}."
                )
            if path not in places:
                continue
            target = _held(*places[path])
            if target.shape != value.shape:
                wrong.append(f"'{path}' has the shape {target.shape}, but {value.shape} in the state")
            plain: Any = value.value() if value.is_parameter else value  # type: ignore[attr-defined]
            new.append((places[path], target, plain))
        if wrong:
            raise RuntimeError(f"For 'load_state_dict', {type(self).__name__}: {'; '.join(wrong)}.")
        for (cell, name), target, value in new:
            fitting = Tensor(value, target.dtype)
            if target.is_parameter:
                target.set_data(fitting)
            else:
                setattr(cell, name, fitting)
        return IncompatibleKeys(missing, unexpected)


def _held(cell: Any, name: str) -> Any:
    return dict(cell._own_parameters()).get(name) if name not in cell._buffer_names() else getattr(cell, name)
