"""Datasets of MindRecord files, which can be padded with given samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad.dataset.file_samplers import Shuffle, sampler_of_files
from mindgrad.dataset.rows import Row
from mindgrad.dataset.sources import GeneratorDataset, documented_source
from mindgrad.mindrecord.fields import TYPES
from mindgrad.mindrecord.filereader import Shards
from mindgrad.ops.arguments import whole_number

__all__ = ["MindDataset", "PaddedDataset"]


class _Records:
    """The samples of MindRecord files, followed by copies of one padding sample."""

    def __init__(
        self, shards: Shards, columns: Sequence[str], padding: dict[str, Any] | None, number: int
    ) -> None:
        self.shards, self.columns, self.padding, self.number = shards, columns, padding, number

    def __len__(self) -> int:
        return len(self.shards) + self.number

    def __getitem__(self, index: int) -> Row:
        row = self.padding if index >= len(self.shards) else self.shards[index]
        return tuple(self._value((row or {})[name], name) for name in self.columns)

    def _value(self, value: Any, name: str) -> np.ndarray:
        if isinstance(value, bytes):
            return np.frombuffer(value, np.uint8)
        return np.asarray(value, TYPES[self.shards.schema[name]["type"]])


@documented_source
class MindDataset(GeneratorDataset):
    """A dataset of the samples in MindRecord files.

    The columns are the fields, sorted by name: numbers and arrays with the dtypes of the fields, strings, and
    bytes as 1-D arrays of uint8.

    Args:
        dataset_files (str, PathLike, or list of both): a list of MindRecord files, or one file. One file
            represents all files that were written together with it.
        columns_list (list or tuple of str, optional): names of the fields to read. ``None``: all fields.
            Default: ``None``.
        shuffle (bool or Shuffle, optional): whether, or how, to shuffle, see :class:`Shuffle`. ``None``:
            ``True``. Default: ``None``.
        padded_sample (dict, optional): sample to append to the dataset, as a dict that maps field names to
            values. Default: ``None``.
        num_padded (int, optional): number of copies of ``padded_sample`` to append to the dataset. Default:
            ``None``.

    Raises:
        PathNotExistsError: If a MindRecord file or its index does not exist.
        MRMOpenError: If a file is not a MindRecord file.
        RuntimeError: If ``columns_list`` contains a field that the files do not have, or only one of
            ``padded_sample`` and ``num_padded`` is given.

    >>> import tempfile
    >>> import numpy as np
    >>> from mindgrad import dataset as ds
    >>> from mindgrad.mindrecord import FileWriter
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     writer = FileWriter(f"{folder}/points.mindrecord")
    ...     _ = writer.add_schema({"label": {"type": "int32"}, "x": {"type": "float32", "shape": [2]}})
    ...     _ = writer.write_raw_data([{"label": 7, "x": np.ones(2, np.float32)}])
    ...     _ = writer.commit()
    ...     for label, x in ds.MindDataset(f"{folder}/points.mindrecord"):
    ...         print(label, x)
    7 [1. 1.]
    """

    def __init__(
        self,
        dataset_files: Any,
        columns_list: Sequence[str] | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        sampler: Any = None,
        padded_sample: dict[str, Any] | None = None,
        num_padded: int | None = None,
        num_samples: int | None = None,
        cache: Any = None,
    ) -> None:
        shards = Shards(dataset_files)
        names = sorted(shards.schema) if columns_list is None else list(columns_list)
        unknown = [name for name in names if name not in shards.schema]
        if unknown:
            raise RuntimeError(
                f"For 'MindDataset', there is no field '{unknown[0]}', only {sorted(shards.schema)}."
            )
        if (padded_sample is None) != (num_padded is None):
            raise RuntimeError(
                "For 'MindDataset', 'padded_sample' and 'num_padded' must be passed together. Pass both "
                "or neither."
            )
        number = 0 if num_padded is None else whole_number(num_padded, "MindDataset", "num_padded", 0)
        missing = [name for name in names if padded_sample is not None and name not in padded_sample]
        if missing:
            raise RuntimeError(f"For 'MindDataset', 'padded_sample' has no field '{missing[0]}'.")
        if sampler is None:
            lengths = [len(shard.places) for shard in shards.shards] + [number] * bool(number)
            sampler = sampler_of_files("MindDataset", shuffle, num_samples, num_shards, shard_id, lengths)
            super().__init__(_Records(shards, names, padded_sample, number), names, sampler=sampler)
            return
        super().__init__(
            _Records(shards, names, padded_sample, number), names, num_samples=num_samples, sampler=sampler,
            shuffle=shuffle if isinstance(shuffle, bool) else None, num_shards=num_shards, shard_id=shard_id,
        )  # fmt: skip


class PaddedDataset(GeneratorDataset):
    """A dataset of given samples, for example to extend another dataset.

    For example, ``data + PaddedDataset(samples)``.

    Args:
        padded_samples (list or tuple of dict): samples of the dataset, as dicts that map column names to
            values.

    >>> from mindgrad import dataset as ds
    >>> import numpy as np
    >>> print([int(x) for x, in ds.PaddedDataset([{"x": np.int32(1)}, {"x": np.int32(2)}])])
    [1, 2]
    """

    def __init__(self, padded_samples: Sequence[dict[str, Any]]) -> None:
        if not isinstance(padded_samples, (list, tuple)) or not padded_samples:
            raise TypeError(
                f"For 'PaddedDataset', 'padded_samples' must be a list of dicts, but got {padded_samples!r}."
            )
        names = list(padded_samples[0])
        rows = [tuple(sample[name] for name in names) for sample in padded_samples]
        super().__init__(rows, names, shuffle=False)
