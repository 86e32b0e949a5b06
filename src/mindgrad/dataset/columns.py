"""Resolve names of columns, and arrange the inputs and outputs of operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.dataset.rows import listed

__all__ = ["arrangement", "names_of", "part_sizes", "places_of"]


def names_of(columns: Any, method: str, argument: str) -> list[str]:
    """Return one name or several names as a list.

    Raises:
        TypeError: If ``columns`` is neither a string nor a list or tuple of strings.
        ValueError: If ``columns`` is empty, or contains a name twice.
    """
    names = [columns] if isinstance(columns, str) else columns
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise TypeError(
            f"For '{method}', '{argument}' must be a string or a list of strings, but got {columns!r}."
        )
    if not names or "" in names:
        raise ValueError(f"For '{method}', '{argument}' must name at least one column, but got {columns!r}.")
    if len(set(names)) != len(names):
        raise ValueError(f"For '{method}', '{argument}' lists a column twice: {listed(names)}.")
    return list(names)


def places_of(columns: Any, among: Sequence[str], where: str, method: str, argument: str) -> list[int]:
    """Return the indices of the named columns.

    Raises:
        ValueError: If ``columns`` contains a name that ``among`` does not contain.
    """
    names = names_of(columns, method, argument)
    unknown = [name for name in names if name not in among]
    if unknown:
        raise ValueError(
            f"For '{method}', '{argument}' names the column '{unknown[0]}', which {where} does not have; it "
            f"has {listed(among)}."
        )
    return [list(among).index(name) for name in names]


def arrangement(
    columns: Sequence[str], inputs: Sequence[int], outputs: Sequence[str]
) -> tuple[list[str], Callable[..., tuple[Any, ...]]]:
    """Return the column names after ``outputs`` replace the columns ``inputs``.

    If there are as many outputs as inputs, the outputs get the positions of the inputs. Otherwise, the
    outputs precede the remaining columns.

    Returns:
        The column names, and a function that arranges a row and the output values in the same order.
    """
    if len(inputs) == len(outputs):
        source: list[tuple[bool, int]] = [(False, i) for i in range(len(columns))]
        for position, place in enumerate(inputs):
            source[place] = (True, position)
    else:
        source = [(True, i) for i in range(len(outputs))]
        source += [(False, i) for i in range(len(columns)) if i not in inputs]
    names = [outputs[i] if new else columns[i] for new, i in source]
    return names, lambda row, values: tuple(values[i] if new else row[i] for new, i in source)


def part_sizes(sizes: Any, total: int) -> list[int]:
    """Return the number of samples in each part of ``total`` samples.

    ``sizes`` are numbers of samples, or fractions. Fractions are rounded, and the rounding errors are added
    to the first part that is large enough.

    Raises:
        ValueError: If ``sizes`` do not add up to all samples, or a part would be empty.
    """
    if not isinstance(sizes, (list, tuple)) or not sizes:
        raise ValueError(
            f"For 'split', 'sizes' must be a list of sample counts or fractions, but got {sizes!r}."
        )
    if all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
        numbers = list(sizes)
        if any(size < 1 for size in numbers) or sum(numbers) != total:
            raise ValueError(
                f"For 'split', the 'sizes' {numbers} must all be at least 1 and add up to the {total} "
                f"samples of the dataset, but add up to {sum(numbers)}."
            )
        return numbers
    if not all(isinstance(size, float) and 0 < size < 1 for size in sizes) or abs(sum(sizes) - 1) > 1e-9:
        raise ValueError(
            f"For 'split', 'sizes' must be ints, or floats between 0 and 1 that add up to 1, but got "
            f"{sizes!r}."
        )
    numbers = [round(size * total) for size in sizes]
    difference = total - sum(numbers)
    index = next((i for i, size in enumerate(numbers) if size + difference > 0), 0)
    numbers[index] += difference
    if any(size < 1 for size in numbers):
        raise ValueError(
            f"For 'split', the fractions {sizes!r} of {total} samples leave a part without samples. Pass "
            "larger fractions."
        )
    return numbers
