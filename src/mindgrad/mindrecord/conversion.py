"""Converters of other formats to MindRecord, which raise ``NotImplementedError``."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["Cifar10ToMR", "Cifar100ToMR", "CsvToMR", "ImageNetToMR", "MnistToMR", "TFRecordToMR"]


class _Converter:
    """Base class of converters, which are not supported. The error names an alternative."""

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
    """Not supported: convert CIFAR-10 to MindRecord files."""

    source = "Cifar10Dataset"


class Cifar100ToMR(_Converter):
    """Not supported: convert CIFAR-100 to MindRecord files."""

    source = "Cifar100Dataset"


class CsvToMR(_Converter):
    """Not supported: convert CSV files to MindRecord files."""

    source = "CSVDataset"


class ImageNetToMR(_Converter):
    """Not supported: convert ImageNet to MindRecord files."""

    source = "ImageFolderDataset"


class MnistToMR(_Converter):
    """Not supported: convert MNIST to MindRecord files."""

    source = "MnistDataset"


class TFRecordToMR(_Converter):
    """Not supported: convert TFRecord files to MindRecord files."""

    source = "TFRecordDataset"
