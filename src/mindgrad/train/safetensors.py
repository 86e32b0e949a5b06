"""Read and write checkpoints with the library safetensors.

A file (https://github.com/huggingface/safetensors) consists of a length, a JSON header of at most 100 MB, and
the elements. The library checks all offsets and sizes. This module also rejects repeated names, shapes that
an array cannot have, and dtypes that a Tensor cannot have.

The metadata of the header are the metadata that MindSpore 2.10 writes: ``{"format": "ms"}``, and a checksum
``crc_num`` of names and elements. The format does not support strings, so the strings of ``append_dict`` are
stored in the metadata under ``mindgrad.texts``, which MindSpore ignores.
"""

from __future__ import annotations

import binascii
import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from mindgrad._base.protobuf import Malformed
from mindgrad.core.ir.dtype import as_dtype, complex128
from mindgrad.train.ckpt import Content

__all__ = ["read", "write"]

_TEXTS = "mindgrad.texts"
_CHECKSUM = "crc_num"
_MOST_ZEROS = 1 << 31


def write(path: Path, content: Content, checksum: bool = False) -> None:
    """Write ``content`` to the file ``path``, with a CRC-32 checksum if requested.

    Raises:
        TypeError: If an array is complex128, which the format does not support.
        OSError: If the file cannot be written.
    """
    arrays: dict[str, np.ndarray] = {}
    texts: dict[str, str] = {}
    for name, value in sorted(content.items()):
        if isinstance(value, str):
            texts[name] = value
        elif value.dtype == complex128.numpy:
            raise TypeError(
                f"For 'save_checkpoint', '{name}' is Complex128, which the format safetensors does not have; "
                f"save a file that ends with .ckpt, or convert it to Complex64 first."
            )
        else:
            arrays[name] = value if value.flags.c_contiguous else np.array(value, order="C")
    metadata = {"format": "ms"}
    if texts:
        metadata[_TEXTS] = json.dumps(texts)
    if checksum:
        metadata[_CHECKSUM] = str(_crc(arrays))
    try:
        safetensors.numpy.save_file(arrays, path, metadata=metadata)
    except safetensors.SafetensorError as error:
        raise OSError(f"{error}") from None


def read(path: Path, need_checksum: bool = False) -> dict[str, np.ndarray | str]:
    """Read the arrays and strings of a file, by name.

    Raises:
        Malformed: If the file is not a safetensors file, or is damaged.
    """
    contents: dict[str, np.ndarray | str] = {}
    arrays: dict[str, np.ndarray] = {}
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            _check_names(path)
            for name in sorted(file.keys()):
                arrays[name] = _array(name, file)
    except safetensors.SafetensorError as error:
        raise Malformed(f"it is not a safetensors file, or is damaged: {error}") from None
    texts = _texts(metadata)
    if both := sorted(texts.keys() & arrays.keys()):
        raise Malformed(f"'{both[0]}' appears twice")
    contents.update(arrays)
    contents.update(texts)
    if need_checksum and _CHECKSUM not in metadata:
        raise Malformed("'crc_check' is set, but the file has no checksum; save it with crc_check=True")
    if _CHECKSUM in metadata and metadata[_CHECKSUM] != str(_crc(arrays)):
        raise Malformed("its checksum does not agree with its content: the file is damaged")
    return contents


def _array(name: str, file: Any) -> np.ndarray:
    kind = file.get_slice(name).get_dtype()
    try:
        array = file.get_tensor(name)
        as_dtype(array.dtype)
    except (TypeError, AttributeError):  # NumPy does not have this dtype
        raise Malformed(f"'{name}' has elements of type {kind}, which mindgrad does not have") from None
    except ValueError as error:
        raise Malformed(f"'{name}' has a shape that no array can have: {error}") from None
    if array.dtype == bool and array.view(np.uint8).max(initial=0) > 1:
        raise Malformed(f"'{name}' has Booleans that are neither 0 nor 1")
    return array


def _check_names(path: Path) -> None:
    """Raise ``Malformed`` if a name is repeated; the library would use the last entry."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) != len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise Malformed(f"'{twice}' appears twice")
        return dict(pairs)

    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        json.loads(file.read(length), object_pairs_hook=members)


def _texts(metadata: dict[str, str]) -> dict[str, str]:
    try:
        texts = json.loads(metadata.get(_TEXTS, "{}"))
    except (ValueError, RecursionError):
        texts = None
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise Malformed(f"its metadata '{_TEXTS}' is not a mapping of strings")
    return texts


def _crc(arrays: dict[str, np.ndarray]) -> int:
    """Compute MindSpore's checksum of names and elements, in the order of names.

    MindSpore uses ``bytes(array)``, which returns n zero bytes for an integer scalar n. Therefore, this
    function uses the same bytes.
    """
    crc = 0
    for name, array in sorted(arrays.items()):
        crc = binascii.crc32(name.encode(), crc)
        if array.ndim == 0 and array.dtype.kind in "iu" and 0 <= array < _MOST_ZEROS:
            left = int(array)
            while left:
                zeros = min(left, 1 << 20)
                crc = binascii.crc32(bytes(zeros), crc)
                left -= zeros
        else:
            crc = binascii.crc32(array.tobytes(), crc)
    return crc
