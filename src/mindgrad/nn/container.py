"""Containers of Cells: SequentialCell, CellList and CellDict."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from mindgrad.nn.cell import Cell

__all__ = ["CellDict", "CellList", "SequentialCell"]


class _Indexed(Cell):
    """Base class of ordered containers of Cells, which are accessed by index.

    The name of a Parameter starts with the index of its Cell, for example ``0.weight``. If the container is
    an attribute of a net, the name of the attribute precedes it, for example ``layers.0.weight``. A slice of
    a container contains the same Cells, whose Parameters keep their names.
    """

    def _place(self, cells: Iterable[tuple[str, Any]]) -> None:
        for name, cell in cells:
            _check_cell(cell, type(self).__name__)
            prefix = _prefix_of(self)
            self.insert_child_to_cell(name, cell)
            if prefix and self._auto_prefix:
                cell.update_parameters_name(f"{prefix}{name}.")

    def _hold(self, cells: Iterable[Cell]) -> None:
        """Replace all Cells of the container by ``cells``; do not rename Parameters."""
        for name in list(self._cells):
            delattr(self, name)
        for index, cell in enumerate(cells):
            self._cells[str(index)] = cell
            object.__setattr__(self, str(index), cell)

    def _move(self, cells: list[Cell]) -> None:
        """Replace all Cells of the container by ``cells``; update names of Parameters."""
        prefix, places = _prefix_of(self), {id(cell): place for place, cell in self._cells.items()}
        for index, cell in enumerate(cells):
            before = places.get(id(cell))
            if not self._auto_prefix or before == str(index):
                continue
            if before is None:
                cell.update_parameters_name(f"{prefix}{index}.")
                continue
            for parameter in cell.get_parameters():
                rest = parameter.name.removeprefix(f"{prefix}{before}.")
                if rest != parameter.name:
                    parameter.name = f"{prefix}{index}.{rest}"
        self._hold(cells)

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells.values())

    def __getitem__(self, index: int | slice) -> Any:
        cells = list(self._cells.values())
        if isinstance(index, slice):
            part = CellList() if isinstance(self, CellList) else SequentialCell()
            part._hold(cells[index])
            return part
        return cells[_checked_index(index, len(cells), type(self).__name__)]

    def __setitem__(self, index: int, cell: Cell) -> None:
        self._place([(list(self._cells)[_checked_index(index, len(self._cells), type(self).__name__)], cell)])

    def __delitem__(self, index: int | slice) -> None:
        cells = list(self._cells.values())
        if not isinstance(index, slice):
            index = _checked_index(index, len(cells), type(self).__name__)
        del cells[index]
        self._move(cells)

    def append(self, cell: Cell) -> Any:
        """Append a Cell to the container, and return the container.

        Args:
            cell (Cell): Cell to add to the container.
        """
        self._place([(str(len(self)), cell)])
        return self

    def extend(self, cells: Iterable[Cell]) -> Any:
        """Append several Cells to the container, and return the container.

        Args:
            cells (iterable of Cell): Cells to append, in order.
        """
        for cell in list(cells):
            self.append(cell)
        return self

    def insert(self, index: int, cell: Cell) -> None:
        """Insert ``cell`` before ``index``.

        Args:
            index (int): position before which the Cell is inserted.
            cell (Cell): Cell to add to the container.

        Raises:
            TypeError: If ``cell`` is not a Cell.
            IndexError: If ``index`` is out of range.
        """
        _check_cell(cell, type(self).__name__)
        cells = list(self._cells.values())
        if not -len(cells) <= index <= len(cells):
            raise IndexError(
                f"For '{type(self).__name__}', the index {index} is outside a container of {len(cells)} "
                f"Cells."
            )
        cells.insert(index, cell)
        self._move(cells)


class SequentialCell(_Indexed):
    """A container that applies Cells one after another.

    Args:
        *args (Cell, list, or OrderedDict): Cells in the order of their calls, or one list or OrderedDict of
            Cells.

    Inputs:
        x (Any): input of the first Cell.

    Outputs:
        Output of the last Cell.

    Raises:
        TypeError: If an argument, or an element of the list or dict, is not a Cell.

    >>> import mindgrad as ms
    >>> class Twice(ms.nn.Cell):
    ...     def construct(self, x):
    ...         return 2 * x
    >>> print(ms.nn.SequentialCell(Twice(), Twice())(ms.Tensor([1.0])))
    [4.]
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            self._place(args[0].items())
            return
        cells = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
        self._place((str(index), cell) for index, cell in enumerate(cells))

    def construct(self, x: Any) -> Any:
        """Apply the Cells in order to ``x``."""
        for cell in self._cells.values():
            x = cell(x)
        return x


class CellList(_Indexed):
    """A list of Cells whose Parameters belong to the Cell that holds the list.

    Args:
        *args (Cell, list, or tuple): Cells of the list, or one list or tuple of Cells.
        auto_prefix (bool): whether the names of Parameters start with the position of their Cell in the list.
        **flags (Any): names and values of attributes to set on the CellList, as in MindSpore.

    Raises:
        TypeError: If an argument, or an element of the list or dict, is not a Cell.

    >>> import mindgrad as ms
    >>> len(ms.nn.CellList([ms.nn.Cell(), ms.nn.Cell()]))
    2
    """

    #: ``vmap`` over this object maps over its Cells
    is_list_of_cells = True

    def __init__(self, *args: Any, auto_prefix: bool = True, **flags: Any) -> None:
        super().__init__(auto_prefix, flags or None)
        cells = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple, CellList)) else args
        self.extend(cells)

    def construct(self, *inputs: Any) -> Any:
        """Raise an error, because only the Cells of a list can be called.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("A CellList is not callable. Call its Cells one by one, or use nn.SequentialCell.")


class CellDict(Cell):
    """An ordered dict of Cells; the names of their Parameters begin with the keys.

    Args:
        cells (dict or iterable of pairs): dict that maps names to Cells, or (name, Cell) pairs. A name must
            not be empty or contain a dot.

    Raises:
        TypeError: If a name is not a string, or a value is not a Cell.
        KeyError: If a name is empty, contains a dot, or is already an attribute of the CellDict.

    >>> import mindgrad as ms
    >>> cells = ms.nn.CellDict({"act": ms.nn.ReLU(), "norm": ms.nn.Softmax()})
    >>> list(cells.keys()), cells["act"]
    (['act', 'norm'], ReLU())
    """

    def __init__(self, cells: Any = None) -> None:
        super().__init__()
        if cells is not None:
            self.update(cells)

    def __getitem__(self, key: str) -> Cell:
        return self._cells[key]

    def __setitem__(self, key: str, cell: Cell) -> None:
        _check_cell(cell, "CellDict")
        if not isinstance(key, str):
            raise TypeError(f"For 'CellDict', a name must be a string, but got {key!r}.")
        if not key or "." in key or (key not in self._cells and hasattr(self, key)):
            raise KeyError(
                "For 'CellDict', a name must not be empty, contain a dot, or be the name of an attribute, "
                f"but got {key!r}."
            )
        prefix = _prefix_of(self)
        self.insert_child_to_cell(key, cell)
        if prefix:
            cell.update_parameters_name(f"{prefix}{key}.")

    def __delitem__(self, key: str) -> None:
        _ = self._cells[key]  # raises KeyError if the key is unknown
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[str]:
        return iter(self._cells)

    def __contains__(self, key: object) -> bool:
        return key in self._cells

    def keys(self) -> Any:
        """Return the names of the Cells in the dict."""
        return self._cells.keys()

    def values(self) -> Any:
        """Return the Cells in the dict."""
        return self._cells.values()

    def items(self) -> Any:
        """Return the pairs of names and Cells."""
        return self._cells.items()

    def update(self, cells: Any) -> None:
        """Add Cells, and replace existing Cells of the same names.

        Args:
            cells (dict or iterable of pairs): dict that maps names to Cells, or (name, Cell) pairs.
        """
        for key, cell in cells.items() if hasattr(cells, "items") else cells:
            self[key] = cell

    def pop(self, key: str) -> Cell:
        """Remove a Cell from the dict by name, and return the Cell.

        Args:
            key (str): name of the Cell to remove.
        """
        cell = self._cells[key]
        del self[key]
        return cell

    def clear(self) -> None:
        """Remove all Cells from the dict."""
        for key in list(self._cells):
            del self[key]

    def construct(self, *inputs: Any) -> Any:
        """Raise an error, because only the Cells of a dict can be called.

        Raises:
            RuntimeError: Always.
        """
        raise RuntimeError("A CellDict is not callable. Call its Cells by name: cells['name'](x).")


def _prefix_of(container: Cell) -> str:
    """Return the part of the Parameters' names before the key of an inner Cell."""
    for key, cell in container._cells.items():
        for path, parameter in cell.parameters_and_names():
            if parameter.name.endswith(f"{key}.{path}"):
                return parameter.name.removesuffix(f"{key}.{path}")
    return ""


def _check_cell(cell: Any, owner: str) -> None:
    if not isinstance(cell, Cell):
        raise TypeError(f"For '{owner}', the elements must be Cells, but got {type(cell).__name__}.")


def _checked_index(index: Any, length: int, owner: str) -> int:
    if not isinstance(index, int) or isinstance(index, bool):
        raise TypeError(f"For '{owner}', an index must be an int or a slice, but got {index!r}.")
    if not -length <= index < length:
        raise IndexError(f"For '{owner}', the index {index} is outside a container of {length} Cells.")
    return index % length
