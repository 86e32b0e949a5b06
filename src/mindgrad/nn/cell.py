"""The Cell: a function with Parameters and other Cells."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from mindgrad._base.refusal import without_own_frames
from mindgrad.common.parameter import DEFAULT_NAME, Parameter, ParameterTuple
from mindgrad.core import settings
from mindgrad.core.scope import open_scopes
from mindgrad.core.tensor import Tensor
from mindgrad.frontend import entry, state
from mindgrad.frontend.dependencies import clock
from mindgrad.functional.compiled import Compiled
from mindgrad.functional.custom import CustomDerivative
from mindgrad.functional.hooks import backward_hooked

__all__ = ["Cell", "HookHandle"]


class HookHandle:
    """What registering a hook gives; ``remove()`` takes the hook off."""

    __slots__ = ("_hooks", "_key")

    def __init__(self, hooks: dict[int, Any]) -> None:
        self._hooks = hooks
        self._key = max(hooks, default=0) + 1

    def remove(self) -> None:
        """Take the hook off; once more does nothing."""
        self._hooks.pop(self._key, None)
        clock.tick()


#: attributes that change back and forth; a program is kept for each of their values
_FLAGS = ("training", "requires_grad")


class Cell:
    """A building block: ``construct`` computes, attributes hold Parameters and inner Cells.

    In GRAPH_MODE a call compiles ``construct`` with everything in it to one program, once per
    signature of the arguments; in PYNATIVE_MODE its operators run one by one. A Cell that defines
    ``bprop(self, *inputs, out, dout)`` returns from it one gradient per input, in a tuple, and these
    replace the derivative of ``construct``.

    Args:
        auto_prefix: whether Parameters of inner Cells are named after the attribute that holds them.
        flags: attributes to set.

    >>> import mindgrad as ms
    >>> class Square(ms.nn.Cell):
    ...     def construct(self, x):
    ...         return x * x
    >>> print(Square()(ms.Tensor([3.0])))
    [9.]
    """

    _params: dict[str, Parameter]
    _cells: dict[str, Cell]
    _hooks: dict[int, tuple[str, Any]]
    _changes: int
    _compiled: Compiled
    _custom: CustomDerivative | None

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        set_raw = object.__setattr__
        set_raw(self, "_changes", 0)
        set_raw(self, "_params", {})
        set_raw(self, "_cells", {})
        set_raw(self, "_hooks", {})
        set_raw(self, "_made_in", state.compilation())
        self._make_callables()
        self._auto_prefix = auto_prefix
        self.training = False
        self.requires_grad = False
        self.cell_type: str | None = None
        self.add_flags(**(flags or {}))

    @property
    def version(self) -> tuple[int, bool, int]:
        """Changes when an attribute is set; programs compiled for another version are not used."""
        return (self._changes, self.training, len(self._hooks))

    def _make_callables(self) -> None:
        object.__setattr__(self, "_compiled", Compiled(self._run))
        object.__setattr__(self, "_custom", self._custom_derivative())

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_compiled", "_custom", "_made_in")}

    def __setstate__(self, held: dict[str, Any]) -> None:
        self.__dict__.update(held)
        self._make_callables()

    # -- attributes ------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        if "_params" not in attributes:
            raise AttributeError(
                f"For '{type(self).__name__}', call super().__init__() before assigning '{name}'."
            )
        params, cells = attributes["_params"], attributes["_cells"]
        held = params.get(name)
        if held is not None and isinstance(value, Tensor) and not isinstance(value, Parameter):
            held.set_data(value)
            return
        if self._is_fixed() and not _equal(attributes.get(name), value):
            raise TypeError(
                f"'self.{name}' should be initialized as a 'Parameter' type in the '__init__' function "
                f"of {type(self).__name__}: a compiled program cannot change a Python attribute. "
                f"Make it a Parameter, return the value, or run in PYNATIVE_MODE."
            )
        if name in _FLAGS:
            object.__setattr__(self, name, value)
            clock.tick()
            return
        if name in attributes and _equal(attributes[name], value):
            return
        if isinstance(value, Parameter):
            self.insert_param_to_cell(name, value)
        elif isinstance(value, Cell):
            params.pop(name, None)
            cells[name] = value
            if self._auto_prefix:
                value.update_parameters_name(f"{name}.")
        else:
            params.pop(name, None)
            cells.pop(name, None)
        object.__setattr__(self, name, value)
        self._changed()

    def _changed(self) -> None:
        """Say that an attribute changed, after it did."""
        object.__setattr__(self, "_changes", self._changes + 1)
        clock.tick()

    def _is_fixed(self) -> bool:
        """Whether a program is being compiled that did not make this Cell itself."""
        if not state.is_compiling():
            return False
        made_in = self.__dict__.get("_made_in")
        return made_in is None or made_in != state.compilation()

    def __delattr__(self, name: str) -> None:
        self._params.pop(name, None)
        self._cells.pop(name, None)
        object.__delattr__(self, name)
        self._changed()

    def insert_param_to_cell(
        self, param_name: str, param: Parameter, check_name_contain_dot: bool = True
    ) -> None:
        """Add a Parameter under ``param_name``; a nameless one takes that name.

        Raises:
            KeyError: the name contains a dot.
            TypeError: ``param`` is no Parameter.
        """
        if check_name_contain_dot and "." in param_name:
            raise KeyError(f"For 'insert_param_to_cell', the name {param_name!r} must not contain '.'.")
        if not isinstance(param, Parameter):
            raise TypeError(
                f"For 'insert_param_to_cell', 'param' must be a Parameter, but got {type(param).__name__}."
            )
        if param.name == DEFAULT_NAME:
            param.name = param_name
        self._cells.pop(param_name, None)
        self._params[param_name] = param
        object.__setattr__(self, param_name, param)
        self._changed()

    def insert_child_to_cell(self, child_name: str, child_cell: Cell) -> None:
        """Add an inner Cell under ``child_name``."""
        if not isinstance(child_cell, Cell):
            raise TypeError(
                f"For 'insert_child_to_cell', 'child_cell' must be a Cell, but got "
                f"{type(child_cell).__name__}."
            )
        setattr(self, child_name, child_cell)

    def add_flags(self, **flags: Any) -> Cell:
        """Set attributes; gives the Cell itself."""
        for name, value in flags.items():
            setattr(self, name, value)
        return self

    # -- call ------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if settings.is_graph_mode() and not open_scopes():
            try:
                return self._compiled(*args, **kwargs)
            except Exception as error:
                without_own_frames(error)
                raise
        return self._run(*args, **kwargs)

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        state.depends_on(self)
        if self._custom is not None and open_scopes():
            if next(iter(self._parameters(True)), None) is not None:
                raise RuntimeError(
                    f"The Cell with user defined 'bprop' function in scope '{type(self).__name__}' does "
                    f"not support Parameter data type: 'bprop' gives gradients of inputs only. Pass "
                    f"the Parameter to construct as an argument."
                )
            if kwargs:
                bound = inspect.signature(self.construct).bind(*args, **kwargs)
                bound.apply_defaults()
                args = bound.args
            return self._custom(*args)
        if self._hooks:
            return self._run_hooked(args, kwargs)
        return entry.run(self.construct, *args, **kwargs)

    def _run_hooked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook in self._hooks_of("forward_pre"):
            returned = hook(self, args)
            if returned is not None:
                args = returned if isinstance(returned, tuple) else (returned,)
        backward = self._hooks_of("backward")
        if backward and open_scopes():
            result = backward_hooked(
                lambda *given: entry.run(self.construct, *given, **kwargs),
                backward,
                type(self).__name__,
                args,
            )
        else:
            result = entry.run(self.construct, *args, **kwargs)
        for hook in self._hooks_of("forward"):
            returned = hook(self, args, result)
            if returned is not None:
                result = returned
        return result

    def _hooks_of(self, kind: str) -> list[Any]:
        return [function for of, function in self._hooks.values() if of == kind]

    def _register(self, kind: str, hook_fn: Any) -> HookHandle:
        if not callable(hook_fn):
            raise TypeError(
                f"For 'register_{kind}_hook', the type of 'hook_fn' should be python function, but "
                f"got {type(hook_fn)}."
            )
        handle = HookHandle(self._hooks)
        self._hooks[handle._key] = (kind, hook_fn)
        self._changed()
        return handle

    def register_forward_pre_hook(self, hook_fn: Any) -> HookHandle:
        """Call ``hook_fn(cell, inputs)`` before ``construct``; what it returns replaces the inputs."""
        return self._register("forward_pre", hook_fn)

    def register_forward_hook(self, hook_fn: Any) -> HookHandle:
        """Call ``hook_fn(cell, inputs, output)`` after ``construct``; its result replaces the output."""
        return self._register("forward", hook_fn)

    def register_backward_hook(self, hook_fn: Any) -> HookHandle:
        """Call ``hook_fn(cell_name, grad_input, grad_output)`` when a gradient passes (PYNATIVE_MODE).

        Args:
            hook_fn: gets tuples: the gradients of the inputs, and those that arrived at the outputs.
                A Tensor or tuple that it returns replaces the gradients of the inputs.

        Returns:
            A handle whose ``remove()`` takes the hook off.
        """
        return self._register("backward", hook_fn)

    def _custom_derivative(self) -> CustomDerivative | None:
        bprop = getattr(type(self), "bprop", None)
        if bprop is None:
            return None
        names = list(inspect.signature(bprop).parameters)
        if "out" not in names or "dout" not in names:
            raise TypeError(
                f"The params of function 'bprop' of Primitive or Cell requires the forward inputs as "
                f"well as the 'out' and 'dout', but 'bprop' of {type(self).__name__} has {names}."
            )
        return CustomDerivative(
            lambda *args: entry.run(self.construct, *args),
            lambda *args: entry.run(self.bprop, *args),  # type: ignore[attr-defined]
            type(self).__name__,
        )

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """The computation; every Cell defines its own."""
        raise AttributeError(f"For 'Cell', the method 'construct' of {type(self).__name__} is not defined.")

    # -- Parameters ------------------------------------------------------------------------------

    def _parameters(self, recurse: bool) -> Iterator[tuple[str, Parameter]]:
        """Parameters with their attribute paths, each Parameter once."""
        seen: set[int] = set()
        for prefix, cell in self.cells_and_names() if recurse else [("", self)]:
            for name, parameter in cell._own_parameters():
                if id(parameter) not in seen:
                    seen.add(id(parameter))
                    yield (f"{prefix}.{name}" if prefix else name), parameter

    def _own_parameters(self) -> Iterator[tuple[str, Parameter]]:
        for name, value in self.__dict__.items():
            if name in self._params:
                yield name, self._params[name]
            elif isinstance(value, ParameterTuple):
                for parameter in value:
                    yield parameter.name, parameter
        for name, parameter in self._params.items():
            if name not in self.__dict__:
                yield name, parameter

    def parameters_and_names(
        self, name_prefix: str = "", expand: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Pairs of name and Parameter, this Cell's own first."""
        for name, parameter in self._parameters(expand):
            yield (f"{name_prefix}.{name}" if name_prefix else name), parameter

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """All Parameters, each once; ``expand=False``: without those of inner Cells."""
        for _, parameter in self._parameters(expand):
            yield parameter

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Parameters with ``requires_grad``, in the order of attributes."""
        return [p for p in self.get_parameters(recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Parameters without ``requires_grad``."""
        return [p for p in self.get_parameters(recurse) if not p.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> dict[str, Parameter]:
        """Parameters by their names."""
        return {p.name: p for p in self.get_parameters(recurse)}

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Put ``prefix`` before the name of every Parameter."""
        for parameter in self.get_parameters(recurse):
            parameter.name = prefix + parameter.name

    def check_names(self) -> None:
        """Check that no two Parameters have one name.

        Raises:
            ValueError: two have.
        """
        named: dict[str, Parameter] = {}
        for parameter in self.get_parameters():
            if named.setdefault(parameter.name, parameter) is not parameter:
                raise ValueError(
                    f"The value of {parameter!r}: its name '{parameter.name}' already exists in "
                    f"{type(self).__name__}. Give every Parameter a name of its own."
                )

    # -- inner Cells -----------------------------------------------------------------------------

    def cells(self) -> list[Cell]:
        """The Cells directly inside."""
        return list(self.name_cells().values())

    def name_cells(self) -> dict[str, Cell]:
        """The Cells directly inside by attribute, each once."""
        seen: dict[int, str] = {}
        for name, cell in self._cells.items():
            seen.setdefault(id(cell), name)
        return {name: self._cells[name] for name in seen.values()}

    def cells_and_names(self, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """This Cell and all Cells inside it with their paths, each once, outermost first."""
        seen: set[int] = set()
        stack: list[tuple[str, Cell]] = [(name_prefix, self)]
        while stack:
            path, cell = stack.pop()
            if id(cell) in seen:
                continue
            seen.add(id(cell))
            yield path, cell
            inner = [(f"{path}.{name}" if path else name, c) for name, c in cell._cells.items()]
            stack.extend(reversed(inner))

    # -- modes -----------------------------------------------------------------------------------

    def set_train(self, mode: bool = True) -> Cell:
        """Set ``training`` of this Cell and all inside; gives the Cell itself."""
        for _, cell in self.cells_and_names():
            if cell.training is not mode:
                cell.training = mode
        return self

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Set the attribute ``requires_grad``; gradients do not depend on it."""
        self.requires_grad = requires_grad
        return self

    # -- how it looks ----------------------------------------------------------------------------

    def extend_repr(self) -> str:
        """What a Cell adds to its printed form."""
        return ""

    def __repr__(self) -> str:
        extra = self.extend_repr()
        if not self._cells:
            return f"{type(self).__name__}<{extra}>"
        lines = [f"{type(self).__name__}<"]
        if extra:
            lines.append(f"  {extra}")
        for name, cell in self._cells.items():
            inner = repr(cell).replace("\n", "\n  ")
            lines.append(f"  ({name}): {inner}")
        return "\n".join([*lines, "  >"])


def _equal(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, (bool, int, float, str)) and a == b)
