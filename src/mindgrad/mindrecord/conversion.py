"""Conversion of other files to MindRecord is not here; each name says what to do instead."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["Cifar10ToMR", "Cifar100ToMR", "CsvToMR", "ImageNetToMR", "MnistToMR", "TFRecordToMR"]


class _Converter:
    """A conversion that is absent."""

    source = ""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NotImplementedError(
            f"'{type(self).__name__}' is not supported: read the rows with mindspore.dataset.{self.source} "
            f"and write "
            f"them with mindspore.mindrecord.FileWriter, or use that dataset itself."
        )


class Cifar10ToMR(_Converter):
    """CIFAR-10 as MindRecord files: refused at its first use."""

    source = "Cifar10Dataset"


class Cifar100ToMR(_Converter):
    """CIFAR-100 as MindRecord files: refused at its first use."""

    source = "Cifar100Dataset"


class CsvToMR(_Converter):
    """A CSV file as MindRecord files: refused at its first use."""

    source = "CSVDataset"


class ImageNetToMR(_Converter):
    """ImageNet as MindRecord files: refused at its first use."""

    source = "ImageFolderDataset"


class MnistToMR(_Converter):
    """MNIST as MindRecord files: refused at its first use."""

    source = "MnistDataset"


class TFRecordToMR(_Converter):
    """TFRecord files as MindRecord files: refused at its first use."""

    source = "TFRecordDataset"
