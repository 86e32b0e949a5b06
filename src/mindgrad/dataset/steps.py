"""Classes of the steps of a pipeline answer ``isinstance(data, BatchDataset)``."""

from mindgrad.dataset.pipeline import Dataset

__all__ = [
    "BatchDataset", "ConcatDataset", "FilterDataset", "MapDataset", "ProjectDataset", "RenameDataset",
    "RepeatDataset", "ShuffleDataset", "SkipDataset", "TakeDataset", "ZipDataset",
]  # fmt: skip


class BatchDataset(Dataset, step="batch"):
    """What ``batch`` makes of a dataset.

    >>> from mindgrad import dataset as ds
    >>> isinstance(ds.NumpySlicesDataset([1, 2]).batch(2), ds.BatchDataset)
    True
    """


class ConcatDataset(Dataset, step="concat"):
    """What ``concat`` makes of datasets."""


class FilterDataset(Dataset, step="filter"):
    """What ``filter`` makes of a dataset."""


class MapDataset(Dataset, step="map"):
    """What ``map`` makes of a dataset."""


class ProjectDataset(Dataset, step="project"):
    """What ``project`` makes of a dataset."""


class RenameDataset(Dataset, step="rename"):
    """What ``rename`` makes of a dataset."""


class RepeatDataset(Dataset, step="repeat"):
    """What ``repeat`` makes of a dataset."""


class ShuffleDataset(Dataset, step="shuffle"):
    """What ``shuffle`` makes of a dataset."""


class SkipDataset(Dataset, step="skip"):
    """What ``skip`` makes of a dataset."""


class TakeDataset(Dataset, step="take"):
    """What ``take`` makes of a dataset."""


class ZipDataset(Dataset, step="zip"):
    """What ``zip`` makes of datasets."""
