"""The tree of Cells: Parameters and inner Cells of a Cell, by attribute and name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

from mindgrad._base.checks import of_type
from mindgrad.common.parameter import DEFAULT_NAME, Parameter, ParameterTuple
from mindgrad.core.base.html import captioned, tree_html
from mindgrad.core.base.location import warn_user
from mindgrad.frontend.state import note_all
from mindgrad.nn.state_dict import StateDict

__all__ = ["Inventory"]


class Inventory(StateDict):
    """The methods of a Cell that find, name, and add its Parameters and inner Cells."""

    _params: dict[str, Parameter]
    _cells: dict[str, Any]

    # -- insertion of Parameters and Cells -------------------------------------------------------

    def insert_param_to_cell(
        self, param_name: str, param: Parameter, check_name_contain_dot: bool = True
    ) -> None:
        """Add a Parameter to this Cell as an attribute.

        Args:
            param_name (str): name of the attribute. If the Parameter has no name, it is named ``param_name``.
            param (Parameter): Parameter to add to the Cell.
            check_name_contain_dot (bool, optional): whether to raise an error if ``param_name`` contains a
                dot. Default: ``True``.

        Raises:
            KeyError: If ``param_name`` contains a dot.
            TypeError: If ``param`` is not a Parameter.
        """
        if check_name_contain_dot and "." in param_name:
            raise KeyError(f"For 'insert_param_to_cell', the name {param_name!r} must not contain '.'.")
        of_type(param, Parameter, "insert_param_to_cell", "param")
        if param.name == DEFAULT_NAME:
            param.name = param_name
        self._cells.pop(param_name, None)
        self._params[param_name] = param
        object.__setattr__(self, param_name, param)

    def insert_child_to_cell(self, child_name: str, child_cell: Any) -> None:
        """Add an inner Cell to this Cell as an attribute.

        Args:
            child_name (str): name of the attribute that holds the inner Cell.
            child_cell (Cell): Cell to add as an inner Cell.
        """
        of_type(child_cell, Inventory, "insert_child_to_cell", "child_cell", "a Cell")
        setattr(self, child_name, child_cell)

    # -- finding and naming Parameters -----------------------------------------------------------

    def _paths_and_parameters(self, recurse: bool) -> Iterator[tuple[str, Parameter]]:
        """Iterate over attribute paths and Parameters, each Parameter once."""
        visited: set[int] = set()
        for prefix, cell in self.cells_and_names() if recurse else [("", self)]:
            for name, parameter in cell._own_parameters():
                if id(parameter) not in visited:
                    visited.add(id(parameter))
                    yield (f"{prefix}.{name}" if prefix else name), parameter

    def _own_parameters(self) -> Iterator[tuple[str, Parameter]]:
        note_all(self)
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
        """Return pairs of name and Parameter, with the Parameters of this Cell first.

        Args:
            name_prefix (str, optional): prefix of the returned names. Default: ``""``.
            expand (bool, optional): whether to include the Parameters of inner Cells. Default: ``True``.
        """
        for name, parameter in self._paths_and_parameters(expand):
            yield (f"{name_prefix}.{name}" if name_prefix else name), parameter

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """Return an iterator over all Parameters of the Cell, each once.

        Args:
            expand (bool, optional): whether to include the Parameters of inner Cells. Default: ``True``.
        """
        for _, parameter in self._paths_and_parameters(expand):
            yield parameter

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Return the trainable Parameters (``requires_grad=True``), in attribute order.

        Parameters of Cells in a plain list, tuple, or dict are not found. A warning names such Cells.

        Args:
            recurse (bool, optional): whether to include the Parameters of inner Cells. Default: ``True``.

        Returns:
            list of Parameter: the selected Parameters of this Cell.
        """
        trainable = [p for p in self.get_parameters(recurse) if p.requires_grad]
        for path, cell in self.cells_and_names() if recurse else [("", self)]:
            cell._warn_of_plain_containers(path, trainable)
        return trainable

    def _warn_of_plain_containers(self, path: str, trainable: list[Parameter]) -> None:
        for name, value in self.__dict__.items():
            if name in ("_cells", "_params") or not isinstance(value, (list, tuple, dict)):
                continue
            cells = [
                x for x in (value.values() if isinstance(value, dict) else value) if isinstance(x, Inventory)
            ]
            known = set(map(id, trainable)) if cells else set()
            lost = [p for x in cells for p in x.get_parameters() if p.requires_grad and id(p) not in known]
            if lost:
                where = f"{path}.{name}" if path else name
                warn_user(
                    f"'{where}' of {type(self).__name__} is a {type(value).__name__} that holds Cells: their "
                    f"{len(lost)} Parameters are not found and not trained. Use "
                    f"nn.{'CellDict' if isinstance(value, dict) else 'CellList'} instead."
                )

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """Return the Parameters that are not trained (``requires_grad=False``).

        Args:
            recurse (bool, optional): whether to include the Parameters of inner Cells. Default: ``True``.

        Returns:
            list of Parameter: the selected Parameters of this Cell.
        """
        return [p for p in self.get_parameters(recurse) if not p.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> dict[str, Parameter]:
        """Return a dict that maps names to Parameters.

        Args:
            recurse (bool, optional): whether to include the Parameters of inner Cells. Default: ``True``.
        """
        return {p.name: p for p in self.get_parameters(recurse)}

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Set the name of each Parameter to its attribute path, with a prefix.

        Parameters of a ParameterTuple, which do not have an attribute, keep their names after ``prefix``.

        Args:
            prefix (str, optional): string before the attribute path in the name of each Parameter. Default:
                ``""``.
            recurse (bool, optional): whether to include the Parameters of inner Cells. Default: ``True``.
        """
        attributes = {id(p) for _, cell in self.cells_and_names() for p in cell._params.values()}
        for path, parameter in list(self._paths_and_parameters(recurse)):
            parameter.name = prefix + (path if id(parameter) in attributes else parameter.name)

    def _update_local_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Call :meth:`update_parameters_name`; MindSpore programs call this name."""
        self.update_parameters_name(prefix, recurse)

    def check_names(self) -> None:
        """Check that the names of all Parameters differ.

        Raises:
            ValueError: If two Parameters have the same name.
        """
        named: dict[str, Parameter] = {}
        for parameter in self.get_parameters():
            if named.setdefault(parameter.name, parameter) is not parameter:
                raise ValueError(
                    f"The value of {parameter!r}: its name '{parameter.name}' already exists in "
                    f"{type(self).__name__}. Give every Parameter a unique name."
                )

    # -- finding inner Cells ---------------------------------------------------------------------

    def cells(self) -> list[Any]:
        """Return the direct inner Cells."""
        return list(self.name_cells().values())

    def name_cells(self) -> dict[str, Any]:
        """Return a dict that maps attribute names to direct inner Cells, each Cell once."""
        names: dict[int, str] = {}
        for name, cell in self._cells.items():
            names.setdefault(id(cell), name)
        return {name: self._cells[name] for name in names.values()}

    def get_sub_cell(self, target: str) -> Any:
        """Return the Cell at a path: ``net.get_sub_cell("body.0")``.

        Args:
            target (str): attribute path of the inner Cell. An empty path means this Cell.

        Raises:
            AttributeError: If there is no inner Cell at the path ``target``.
        """
        cell: Any = self
        for name in target.split(".") if target else ():
            note_all(cell)
            cells = getattr(cell, "_cells", {})
            if name not in cells:
                raise AttributeError(
                    f"For 'get_sub_cell', {type(cell).__name__} has no Cell {name!r}, which is part of the "
                    f"path {target!r}."
                )
            cell = cells[name]
        return cell

    def cells_and_names(self, name_prefix: str = "") -> Iterator[tuple[str, Any]]:
        """Return this Cell and all inner Cells with their paths, outermost first.

        Args:
            name_prefix (str, optional): prefix of the returned paths. Default: ``""``.
        """
        visited: set[int] = set()
        stack: list[tuple[str, Any]] = [(name_prefix, self)]
        while stack:
            path, cell = stack.pop()
            if id(cell) in visited:
                continue
            visited.add(id(cell))
            note_all(cell)
            yield path, cell
            inner = [(f"{path}.{name}" if path else name, c) for name, c in cell._cells.items()]
            stack.extend(reversed(inner))

    def apply(self, fn: Callable[[Any], Any]) -> Self:
        """Call a function with each inner Cell, innermost first, and then with this Cell.

        Args:
            fn (Callable): function that receives one Cell and, for example, initializes its Parameters.

        Returns:
            Cell: the Cell itself.

        >>> import mindgrad as ms
        >>> net = ms.nn.SequentialCell(ms.nn.Cell(), ms.nn.Cell())
        >>> _ = net.apply(lambda cell: cell.set_train())
        >>> net[0].training
        True
        """
        for cell in self.cells():
            cell.apply(fn)
        fn(self)
        return self

    # -- methods of MindSpore that mindgrad does not need --------------------------------------------

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict[Parameter, Parameter]:
        """Return a dict that maps each Parameter to itself; all are already initialized.

        Args:
            auto_parallel_mode (bool, optional): accepted for compatibility. Default: ``False``.
        """
        return {parameter: parameter for parameter in self.get_parameters()}

    def flatten_weights(self, fusion_size: int = 0) -> None:
        """Accepted for compatibility; XLA chooses the memory layout of Parameters.

        Args:
            fusion_size (int, optional): accepted for compatibility. Default: ``0``.
        """

    @property
    def param_prefix(self) -> str:
        """Path of this Cell in the Cell whose ``update_cell_prefix`` was called, or empty."""
        return getattr(self, "_param_prefix", "")

    def update_cell_prefix(self) -> None:
        """Set the path ``param_prefix`` of each inner Cell."""
        for path, cell in self.cells_and_names():
            object.__setattr__(cell, "_param_prefix", path)

    # -- display in a notebook -------------------------------------------------------------------

    def _repr_html_(self) -> str:
        """Return the tree of Cells with shapes and numbers of their Parameters."""
        parameters = list(self.get_parameters())
        trained = sum(p.size for p in parameters if p.requires_grad)
        frozen = sum(p.size for p in parameters) - trained
        total = f"{type(self).__name__}: {trained:,} trained numbers in {len(parameters)} Parameters"
        return captioned(
            total + (f", {frozen:,} not trained" if frozen else ""), tree_html(self._nodes("", 0))
        )

    def _nodes(self, name: str, depth: int) -> Iterator[tuple[int, str, str]]:
        kind = f"{name}: {type(self).__name__}" if name else type(self).__name__
        size = sum(p.size for p in self.get_parameters())
        yield depth, kind, f"{size:,} numbers" if size else ""
        for label, parameter in self._own_parameters():
            frozen = "" if parameter.requires_grad else ", not trained"
            shape = " × ".join(map(str, parameter.shape)) or "a number"
            yield depth + 1, label, f"{shape}, {parameter.dtype}{frozen}"
        for label, cell in self._cells.items():
            if cell is not None:
                yield from cell._nodes(label, depth + 1)
