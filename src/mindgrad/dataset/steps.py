"""Classes of pipeline steps, for ``isinstance(data, BatchDataset)``."""

from mindgrad.dataset.pipeline import Dataset

__all__ = [
    "BatchDataset", "ConcatDataset", "FilterDataset", "MapDataset", "ProjectDataset", "RenameDataset",
    "RepeatDataset", "ShuffleDataset", "SkipDataset", "TakeDataset", "ZipDataset",
]  # fmt: skip


class BatchDataset(Dataset, step="batch"):
    """A dataset after ``batch``.

    >>> from mindgrad import dataset as ds
    >>> isinstance(ds.NumpySlicesDataset([1, 2]).batch(2), ds.BatchDataset)
    True
    """


class ConcatDataset(Dataset, step="concat"):
    """Datasets joined by ``concat``."""


class FilterDataset(Dataset, step="filter"):
    """A dataset after ``filter``."""


class MapDataset(Dataset, step="map"):
    """A dataset after ``map``."""


class ProjectDataset(Dataset, step="project"):
    """A dataset after ``project``."""


class RenameDataset(Dataset, step="rename"):
    """A dataset after ``rename``."""


class RepeatDataset(Dataset, step="repeat"):
    """A dataset after ``repeat``."""


class ShuffleDataset(Dataset, step="shuffle"):
    """A dataset after ``shuffle``."""


class SkipDataset(Dataset, step="skip"):
    """A dataset after ``skip``."""


class TakeDataset(Dataset, step="take"):
    """A dataset after ``take``."""


class ZipDataset(Dataset, step="zip"):
    """Datasets joined by ``zip``."""
