"""Datasets of images: MNIST, Fashion-MNIST, KMNIST, CIFAR, CelebA, image folders.

The files have the formats that the authors of the datasets publish: IDX files for the three MNIST datasets,
and the binary version for CIFAR. mindgrad does not download files. If a file is missing, an error names it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindgrad.dataset import pillow
from mindgrad.dataset.rows import Row, listed
from mindgrad.dataset.samplers import PKSampler
from mindgrad.dataset.sources import GeneratorDataset, documented_source

__all__ = [
    "CelebADataset", "Cifar10Dataset", "Cifar100Dataset", "FashionMnistDataset", "ImageFolderDataset",
    "KMnistDataset", "MnistDataset",
]  # fmt: skip

_Folder = str | os.PathLike[str]


class _FileDataset(GeneratorDataset):
    """Base class of datasets of files with random access."""

    def __init__(
        self,
        source: Any,
        columns: Sequence[str],
        num_samples: int | None,
        shuffle: bool | None,
        sampler: Any,
        num_shards: int | None,
        shard_id: int | None,
    ) -> None:
        if isinstance(sampler, PKSampler):
            labels = dict(zip(columns[-len(source.arrays) :], source.arrays, strict=True))
            if sampler.class_column not in labels:
                raise ValueError(
                    f"For 'PKSampler', 'class_column' must be a column of labels, {listed(labels)}, but got "
                    f"{sampler.class_column!r}."
                )
            sampler = sampler.with_classes(labels[sampler.class_column])
        super().__init__(
            source, list(columns), num_samples=num_samples, shuffle=shuffle, sampler=sampler,
            num_shards=num_shards, shard_id=shard_id,
        )  # fmt: skip


class _Arrays:
    """Arrays of images and labels."""

    def __init__(self, *arrays: np.ndarray) -> None:
        self.arrays = arrays

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, index: int) -> Row:
        return tuple(np.asarray(array[index]) for array in self.arrays)


def _folder(path: Any, name: str) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"For '{name}', 'dataset_dir' must be a path, but got {path!r}.")
    folder = Path(path)
    if not folder.is_dir():
        raise ValueError(
            f"For '{name}', there is no folder '{path}'. mindgrad does not download datasets: create the "
            "folder, and put the files there."
        )
    return folder


def _files(folder: Path, names: Sequence[str], name: str) -> list[Path]:
    missing = [file for file in names if not (folder / file).is_file()]
    if missing:
        raise ValueError(
            f"For '{name}', the folder '{folder}' has no file {', '.join(map(repr, missing))}. mindgrad "
            "does not download datasets: put the unpacked files there."
        )
    return [folder / file for file in names]


def _present(folder: Path, parts: Sequence[Sequence[str]], usage: str | None) -> list[Sequence[str]]:
    """Return the groups of files to read.

    If all parts are requested, a group is read if one of its files exists. If no file exists, all groups are
    returned.
    """
    if usage is not None and usage != "all":
        return list(parts)
    return [names for names in parts if any((folder / file).is_file() for file in names)] or list(parts)


def _usages(usage: str | None, usages: Sequence[str], name: str) -> list[str]:
    if usage is None or usage == "all":
        return list(usages)
    if usage not in usages:
        raise ValueError(
            f"For '{name}', 'usage' must be one of {', '.join(usages)} or all, but got {usage!r}."
        )
    return [usage]


# -- the MNIST family: files in IDX format ----------------------------------------------------------------


def _read_idx(file: Path, axes: int, name: str) -> np.ndarray:
    """Read an IDX file: a magic number with the number of axes, shape, and bytes."""
    data = np.fromfile(file, np.uint8)
    head = data[: 4 * (axes + 1)].tobytes()
    if len(head) < 4 * (axes + 1) or head[:4] != bytes((0, 0, 8, axes)):
        raise ValueError(f"For '{name}', the file '{file}' is not an IDX file of bytes with {axes} axes.")
    shape = tuple(int(length) for length in np.frombuffer(head, ">u4")[1:])
    if data.size - len(head) != np.prod(shape, dtype=np.int64):
        raise ValueError(
            f"For '{name}', the file '{file}' is shorter than declared in its header, so it is truncated."
        )
    return data[len(head) :].reshape(shape)


@documented_source
class MnistDataset(_FileDataset):
    """The MNIST dataset of handwritten digits, from the unpacked IDX files.

    The files are ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte``, and the two ``t10k`` files.

    Columns: ``image`` (uint8, shape (28, 28, 1)) and ``label`` (uint32).

    Raises:
        ValueError: If a file of the dataset is missing or is not an IDX file.

    >>> from mindgrad import dataset as ds
    >>> ds.MnistDataset("data")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: For 'MnistDataset', there is no folder 'data'. mindgrad does not download datasets: ...
    """

    def __init__(
        self,
        dataset_dir: _Folder,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        name = type(self).__name__
        folder = _folder(dataset_dir, name)
        starts = {"train": "train", "test": "t10k"}
        prefixes = [starts[part] for part in _usages(usage, tuple(starts), name)]
        pairs = [(f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte") for prefix in prefixes]
        images, labels = zip(
            *(_files(folder, pair, name) for pair in _present(folder, pairs, usage)), strict=True
        )
        image = np.concatenate([_read_idx(file, 3, name) for file in images])[..., None]
        label = np.concatenate([_read_idx(file, 1, name) for file in labels]).astype(np.uint32)
        if len(image) != len(label):
            raise ValueError(f"For '{name}', there are {len(image)} images, but {len(label)} labels.")
        super().__init__(
            _Arrays(image, label), ("image", "label"), num_samples, shuffle, sampler, num_shards, shard_id
        )


class FashionMnistDataset(MnistDataset):
    """The Fashion-MNIST dataset, with the files and columns of :class:`MnistDataset`."""


class KMnistDataset(MnistDataset):
    """The Kuzushiji-MNIST dataset, with the files and columns of MNIST."""


# -- CIFAR-10 and CIFAR-100 --------------------------------------------------------------------------


def _read_cifar(files: Sequence[Path], labels: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read images of shape (N, 32, 32, 3) and labels of shape (N, labels).

    A file contains the labels and the three color planes of each image.
    """
    length = labels + 3 * 32 * 32
    parts = []
    for file in files:
        data = np.fromfile(file, np.uint8)
        if not data.size or data.size % length:
            raise ValueError(f"For '{name}', the file '{file}' is not a CIFAR file in binary format.")
        parts.append(data.reshape(-1, length))
    rows = np.concatenate(parts)
    images = rows[:, labels:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), rows[:, :labels].astype(np.uint32)


@documented_source
class Cifar10Dataset(_FileDataset):
    """The CIFAR-10 dataset, from its binary version.

    The files are ``data_batch_1.bin``, ..., ``test_batch.bin``.

    Columns: ``image`` (uint8, shape (32, 32, 3)) and ``label`` (uint32).

    Raises:
        ValueError: If a file of the dataset is missing or does not have the binary format of CIFAR.
    """

    _parts = {"train": [f"data_batch_{i}.bin" for i in range(1, 6)], "test": ["test_batch.bin"]}
    _labels: Sequence[str] = ("label",)

    def __init__(
        self,
        dataset_dir: _Folder,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        name = type(self).__name__
        folder = _folder(dataset_dir, name)
        parts = [self._parts[part] for part in _usages(usage, tuple(self._parts), name)]
        files = [file for part in _present(folder, parts, usage) for file in part]
        images, labels = _read_cifar(_files(folder, files, name), len(self._labels), name)
        source = _Arrays(images, *labels.T)
        super().__init__(
            source, ("image", *self._labels), num_samples, shuffle, sampler, num_shards, shard_id
        )


class Cifar100Dataset(Cifar10Dataset):
    """The CIFAR-100 dataset, from its binary version (``train.bin``, ``test.bin``).

    Columns: ``image`` (uint8, shape (32, 32, 3)), ``coarse_label`` and ``fine_label`` (uint32). The arguments
    are the arguments of :class:`Cifar10Dataset`.
    """

    _parts = {"train": ["train.bin"], "test": ["test.bin"]}
    _labels = ("coarse_label", "fine_label")


# -- folders of image files --------------------------------------------------------------------------

_EXTENSIONS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp")


class _ImageFiles:
    """A source of samples: image files in one column, and arrays in all other columns."""

    def __init__(
        self, files: Sequence[Path], arrays: Sequence[np.ndarray], decode: bool, reader: Any
    ) -> None:
        self.files, self.arrays, self.decode, self.reader = files, arrays, decode, reader

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> Row:
        file = self.files[index]
        data = file.read_bytes() if self.reader is None else self.reader(str(file))
        if self.decode:
            image = np.array(pillow.decoded(data, f"the file '{file}'"))
        else:
            image = np.frombuffer(data, np.uint8)
        return (image, *(np.asarray(array[index]) for array in self.arrays))


@documented_source
class ImageFolderDataset(_FileDataset):
    """A dataset of image files in one folder for each class.

    Columns: ``image`` (uint8) and ``label`` (int32). An image is the 1-D array of the bytes of the file, or
    an array of shape (H, W, 3) if ``decode`` is true.

    Args:
        dataset_dir (str or PathLike): folder that contains a folder for each class.
        extensions (list or tuple of str, optional): extensions of the files to read, in lower case with the
            leading dot. ``None``: the extensions of common image formats. Default: ``None``.
        class_indexing (dict, optional): dict that maps names of folders to labels. Other folders are omitted.
            ``None``: the labels are 0, 1, … in alphabetical order of the folders. Default: ``None``.

    Raises:
        ValueError: If ``dataset_dir`` does not exist, or does not contain image files.

    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from mindgrad import dataset as ds
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("cat", "dog"):
    ...         pathlib.Path(folder, name).mkdir()
    ...         ds.vision.write_png(pathlib.Path(folder, name, "0.png"), np.zeros((4, 5, 3), np.uint8))
    ...     for image, label in ds.ImageFolderDataset(folder, decode=True, shuffle=False):
    ...         print(image.shape, label)
    (4, 5, 3) 0
    (4, 5, 3) 1
    """

    def __init__(
        self,
        dataset_dir: _Folder,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        extensions: Sequence[str] | None = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Callable[[str], bytes] | None = None,
    ) -> None:
        name = type(self).__name__
        folder = _folder(dataset_dir, name)
        classes = sorted(path.name for path in folder.iterdir() if path.is_dir())
        labels = (
            {class_name: i for i, class_name in enumerate(classes)}
            if class_indexing is None
            else class_indexing
        )
        if class_indexing is not None:
            classes = [class_name for class_name in classes if class_name in class_indexing]
        endings = _EXTENSIONS if extensions is None else tuple(extensions)
        files = [
            (path, labels[class_name])
            for class_name in classes
            for path in sorted((folder / class_name).rglob("*"))
            if path.is_file() and path.suffix.lower() in endings
        ]
        if not files:
            raise ValueError(
                f"For '{name}', no folder in '{dataset_dir}' has a file that ends in {', '.join(endings)}."
            )
        source = _ImageFiles(
            [path for path, _ in files], [np.array([label for _, label in files], np.int32)], decode, decrypt
        )
        #: name of a folder -> label of its images
        self.class_indexing = {class_name: labels[class_name] for class_name in classes}
        super().__init__(source, ("image", "label"), num_samples, shuffle, sampler, num_shards, shard_id)

    def get_class_indexing(self) -> dict[str, int]:
        """Return the dict that maps the names of folders to labels."""
        return dict(self.class_indexing)

    def num_classes(self) -> int:
        """Return the number of classes."""
        return len(self.class_indexing)


@documented_source
class CelebADataset(_FileDataset):
    """The CelebA dataset of faces.

    The folder contains ``list_attr_celeba.txt``, and the image files or a folder ``img_align_celeba`` with
    them.

    Columns: ``image`` (uint8) and ``attr`` (uint32, shape (40,)). An image is the 1-D array of the bytes of
    the file, or an array of shape (H, W, 3) if ``decode`` is true. An element of ``attr`` is 1 if the face
    has the attribute.

    Args:
        usage (str, optional): part to read: ``"train"``, ``"valid"``, or ``"test"``, as in
            ``list_eval_partition.txt``, or ``"all"``. Default: ``"all"``.
        extensions (list or tuple of str, optional): extensions of the image files to read. ``None``: all
            files. Default: ``None``.

    Raises:
        ValueError: If a file of the dataset is missing.
    """

    def __init__(
        self,
        dataset_dir: _Folder,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        usage: str = "all",
        sampler: Any = None,
        decode: bool = False,
        extensions: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Callable[[str], bytes] | None = None,
    ) -> None:
        name = type(self).__name__
        folder = _folder(dataset_dir, name)
        (attributes,) = _files(folder, ["list_attr_celeba.txt"], name)
        lines = [line.split() for line in attributes.read_text().splitlines()[2:] if line.strip()]
        parts = ("train", "valid", "test")
        usages = _usages(usage, parts, name)
        if len(usages) < len(parts):
            (partition,) = _files(folder, ["list_eval_partition.txt"], name)
            number = str(parts.index(usages[0]))
            members = {
                file
                for file, part in (line.split() for line in partition.read_text().splitlines())
                if part == number
            }
            lines = [line for line in lines if line[0] in members]
        if extensions is not None:
            lines = [line for line in lines if Path(line[0]).suffix in extensions]
        images = folder / "img_align_celeba"
        images = images if images.is_dir() else folder
        table = np.array([[int(sign) > 0 for sign in line[1:]] for line in lines], np.uint32)
        source = _ImageFiles([images / line[0] for line in lines], [table], decode, decrypt)
        super().__init__(source, ("image", "attr"), num_samples, shuffle, sampler, num_shards, shard_id)
