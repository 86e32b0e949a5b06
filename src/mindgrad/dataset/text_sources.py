"""Datasets of text files, CSV files, and the JSON lines of CLUE."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindgrad.dataset.file_samplers import Shuffle, file_list, sampler_of_files
from mindgrad.dataset.rows import Row, counted
from mindgrad.dataset.sources import GeneratorDataset, documented_source

__all__ = ["CLUEDataset", "CSVDataset", "TextFileDataset"]


class _Rows:
    """Samples in memory, with random access."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]


class _LinesDataset(GeneratorDataset):
    """Base class of datasets of the lines of several files."""

    def __init__(
        self,
        rows_of_files: Sequence[Sequence[Row]],
        columns: Sequence[str],
        num_samples: int | None,
        shuffle: bool | Shuffle | None,
        num_shards: int | None,
        shard_id: int | None,
    ) -> None:
        lengths = [len(rows) for rows in rows_of_files]
        sampler = sampler_of_files(type(self).__name__, shuffle, num_samples, num_shards, shard_id, lengths)
        source = _Rows([row for rows in rows_of_files for row in rows])
        super().__init__(source, list(columns), sampler=sampler)


@documented_source
class TextFileDataset(_LinesDataset):
    r"""A dataset of the nonempty lines of text files in UTF-8.

    Column: ``text``.

    Args:
        shuffle (bool or Shuffle, optional): whether, or how, to shuffle, see :class:`Shuffle`.
            Default: ``Shuffle.GLOBAL``.

    >>> import pathlib, tempfile
    >>> from mindgrad import dataset as ds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.txt").write_text("one\ntwo\n")
    ...     print(*[str(line) for line, in ds.TextFileDataset(f"{folder}/a.txt", shuffle=False)])
    one two
    """

    def __init__(
        self,
        dataset_files: Any,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        files = file_list(dataset_files, "TextFileDataset")
        texts = [Path(file).read_text(encoding="utf-8").split("\n") for file in files]
        rows = [[(np.asarray(line),) for line in lines if line] for lines in texts]
        super().__init__(rows, ("text",), num_samples, shuffle, num_shards, shard_id)


@documented_source
class CSVDataset(_LinesDataset):
    r"""A dataset of the rows of CSV files.

    Args:
        field_delim (str, optional): character that separates two fields in a row. Default: ``","``.
        column_defaults (list or tuple, optional): default values, one for each column, for empty fields. The
            type of a default value determines the type of the column: int (int32), float (float32), or str.
            ``None``: all columns are strings. Default: ``None``.
        column_names (list or tuple of str, optional): names of the columns. ``None``: the first row of each
            file contains the names. Default: ``None``.
        shuffle (bool or Shuffle, optional): whether, or how, to shuffle, see :class:`Shuffle`.
            Default: ``Shuffle.GLOBAL``.

    Raises:
        RuntimeError: If a row does not have one field for each column, or a field cannot be converted to the
            type of its column.

    >>> import pathlib, tempfile
    >>> from mindgrad import dataset as ds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "a.csv").write_text("x,y\n1,2.5\n,4\n")
    ...     for x, y in ds.CSVDataset(f"{folder}/a.csv", column_defaults=[7, 0.0], shuffle=False):
    ...         print(x, y)
    1 2.5
    7 4.0
    """

    def __init__(
        self,
        dataset_files: Any,
        field_delim: str = ",",
        column_defaults: Sequence[Any] | None = None,
        column_names: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        if not isinstance(field_delim, str) or len(field_delim) != 1:
            raise ValueError(
                f"For 'CSVDataset', 'field_delim' must be one character, but got {field_delim!r}."
            )
        names = None if column_names is None else list(column_names)
        rows_of_files = []
        for file in file_list(dataset_files, "CSVDataset"):
            with open(file, newline="", encoding="utf-8") as stream:
                lines = [line for line in csv.reader(stream, delimiter=field_delim) if line]
            if column_names is None:
                head, lines = (lines[0] if lines else []), lines[1:]
                if names is not None and head != names:
                    raise RuntimeError(
                        f"For 'CSVDataset', the columns of the file '{file}' are {head}, which differ from "
                        "the columns of the previous file."
                    )
                names = head
            defaults = [""] * len(names or ()) if column_defaults is None else list(column_defaults)
            if len(defaults) != len(names or ()):
                raise RuntimeError(
                    f"For 'CSVDataset', got {counted(len(names or ()), 'column')}, but {len(defaults)} "
                    f"'column_defaults'."
                )
            rows_of_files.append([_fields(line, defaults, file) for line in lines])
        super().__init__(rows_of_files, names or (), num_samples, shuffle, num_shards, shard_id)


def _fields(line: Sequence[str], defaults: Sequence[Any], file: str) -> Row:
    if len(line) != len(defaults):
        raise RuntimeError(
            f"For 'CSVDataset', a row of the file '{file}' has {len(line)} fields instead of "
            f"{len(defaults)}: {line}."
        )
    types = {int: np.int32, float: np.float32, str: np.str_}
    values: list[np.ndarray] = []
    for text, default in zip(line, defaults, strict=True):
        try:
            kind = type(default)
            values.append(np.asarray(kind(text) if text else default, types[kind]))
        except (ValueError, OverflowError, KeyError):
            raise RuntimeError(
                f"For 'CSVDataset', the field {text!r} of the file '{file}' is not a valid "
                f"{type(default).__name__}."
            ) from None
    return tuple(values)


#: name of a CLUE task -> columns of its training and evaluation files; its test files have no labels
_CLUE = {
    "AFQMC": ("sentence1", "sentence2", "label"), "CMNLI": ("sentence1", "sentence2", "label"),
    "IFLYTEK": ("sentence", "label", "label_des"), "TNEWS": ("sentence", "label", "label_desc", "keywords"),
    "CSL": ("id", "abst", "keyword", "label"),
}  # fmt: skip


@documented_source
class CLUEDataset(_LinesDataset):
    """A dataset of a task of CLUE, from files with one JSON object per line.

    The columns are the fields of the task.

    Args:
        task (str, optional): name of the task: ``"AFQMC"``, ``"CMNLI"``, ``"CSL"``, ``"IFLYTEK"``, or
            ``"TNEWS"``. Default: ``"AFQMC"``.
        usage (str, optional): kind of the files: ``"train"``, ``"eval"``, or ``"test"``. Test files do not
            have labels. Default: ``"train"``.
        shuffle (bool or Shuffle, optional): whether, or how, to shuffle, see :class:`Shuffle`.
            Default: ``Shuffle.GLOBAL``.

    Raises:
        ValueError: If ``task`` or ``usage`` is an unknown name.
        RuntimeError: If a line of a file lacks a field of the task.
    """

    def __init__(
        self,
        dataset_files: Any,
        task: str = "AFQMC",
        usage: str = "train",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        if task not in _CLUE or usage not in ("train", "eval", "test"):
            raise ValueError(
                f"For 'CLUEDataset', 'task' must be one of {', '.join(_CLUE)} and 'usage' train, eval or "
                f"test, but got {task!r} and {usage!r}."
            )
        names = [name for name in _CLUE[task] if usage != "test" or not name.startswith("label")]
        rows = []
        for file in file_list(dataset_files, "CLUEDataset"):
            objects = [
                json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines() if line
            ]
            try:
                rows.append([tuple(np.asarray(each[name]) for name in names) for each in objects])
            except KeyError as error:
                raise RuntimeError(
                    f"For 'CLUEDataset', a line of the file '{file}' has no {error}."
                ) from None
        super().__init__(rows, names, num_samples, shuffle, num_shards, shard_id)
