"""Transforms of strings and tokens: normal forms, replacement, numbers, n-grams."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import as_dtype
from mindgrad.dataset.rows import array_of
from mindgrad.ops.arguments import whole_number

__all__ = [
    "AddToken", "CaseFold", "Ngram", "NormalizeForm", "NormalizeUTF8", "RegexReplace", "SlidingWindow",
    "ToNumber",
    "Truncate", "TruncateSequencePair", "to_bytes", "to_str",
]  # fmt: skip


def text_of(data: Any, name: str) -> np.ndarray:
    """Convert data to an array of strings.

    Raises:
        TypeError: If ``data`` contains elements that are not strings.
    """
    array = array_of(data, f"For '{name}', the data")
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8")
    if array.dtype.kind != "U":
        raise TypeError(f"For '{name}', the data must be strings, but got {array.dtype}.")
    return array


def edited(data: Any, name: str, edit: Any) -> np.ndarray:
    """Apply ``edit`` to each string of an array."""
    texts = text_of(data, name)
    return np.array([edit(text) for text in texts.ravel().tolist()], np.str_).reshape(texts.shape)


def to_str(array: Any, encoding: str = "utf8") -> np.ndarray:
    """Decode an array of bytes to an array of strings.

    >>> import numpy as np
    >>> from mindgrad.dataset import text
    >>> text.to_str(np.array([b"a"]))
    array(['a'], dtype='<U1')
    """
    return np.char.decode(np.asarray(array), encoding)


def to_bytes(array: Any, encoding: str = "utf8") -> np.ndarray:
    """Encode an array of strings as an array of bytes.

    >>> import numpy as np
    >>> from mindgrad.dataset import text
    >>> text.to_bytes(np.array(["a"]))
    array([b'a'], dtype='|S1')
    """
    return np.char.encode(np.asarray(array), encoding)


class NormalizeForm(IntEnum):
    """Normal forms of Unicode."""

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


class NormalizeUTF8:
    """Transform that converts strings to a normal form of Unicode.

    Args:
        normalize_form (NormalizeForm, optional): Unicode normal form of the result. Default:
            ``NormalizeForm.NFKC``.

    >>> from mindgrad.dataset import text
    >>> str(text.NormalizeUTF8()("ﬁ"))
    'fi'
    """

    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC) -> None:
        if not isinstance(normalize_form, NormalizeForm):
            raise TypeError(
                f"For 'NormalizeUTF8', 'normalize_form' must be a NormalizeForm, but got {normalize_form!r}."
            )
        self.form = normalize_form

    def __call__(self, data: Any) -> np.ndarray:
        """Return the strings in the normal form."""
        if self.form == NormalizeForm.NONE:
            return text_of(data, "NormalizeUTF8")
        form: Any = self.form.name
        return edited(data, "NormalizeUTF8", lambda text: unicodedata.normalize(form, text))


class CaseFold:
    """Transform that removes case distinctions from strings, in the normal form NFKC.

    >>> from mindgrad.dataset import text
    >>> str(text.CaseFold()("Straße"))
    'strasse'
    """

    def __call__(self, data: Any) -> np.ndarray:
        """Return the strings in ``data`` without case distinctions."""
        return edited(data, "CaseFold", lambda text: unicodedata.normalize("NFKC", text.casefold()))


class RegexReplace:
    """Transform that replaces matches of a regular expression (Python's ``re``).

    Args:
        pattern (str): regular expression to search for.
        replace (str): string that replaces each match of ``pattern``.
        replace_all (bool, optional): whether to replace all matches in a string instead of only the first
            one. Default: ``True``.

    >>> from mindgrad.dataset import text
    >>> str(text.RegexReplace("a+", "X")("aaba"))
    'XbX'
    """

    def __init__(self, pattern: str, replace: str, replace_all: bool = True) -> None:
        self.pattern, self.replacement = re.compile(pattern), replace
        self.count = 0 if replace_all else 1

    def __call__(self, data: Any) -> np.ndarray:
        """Return the strings in ``data`` with replaced matches."""
        return edited(
            data, "RegexReplace", lambda text: self.pattern.sub(self.replacement, text, count=self.count)
        )


class ToNumber:
    """Transform that converts strings to numbers.

    Args:
        data_type (DType or numpy.dtype): dtype of the numbers.

    Raises:
        RuntimeError: In a call, if a string is not a number, or a number is out of the range of
            ``data_type``.

    >>> import mindgrad as ms
    >>> from mindgrad.dataset import text
    >>> text.ToNumber(ms.float32)(["1", "2.5"])
    array([1. , 2.5], dtype=float32)
    """

    def __init__(self, data_type: Any) -> None:
        self.data_type = as_dtype(data_type).numpy

    def __call__(self, data: Any) -> np.ndarray:
        """Convert the strings in ``data`` to numbers."""
        texts = text_of(data, "ToNumber")
        kind = int if self.data_type.kind in "iu" else float
        try:
            return np.array([kind(text) for text in texts.ravel().tolist()], self.data_type).reshape(
                texts.shape
            )
        except (ValueError, OverflowError) as error:
            raise RuntimeError(f"For 'ToNumber', a string is not a valid {self.data_type}: {error}") from None


class Truncate:
    """Transform that keeps only the first tokens.

    Args:
        max_seq_len (int): maximum number of tokens in the result.

    >>> from mindgrad.dataset import text
    >>> text.Truncate(2)(["a", "b", "c"]).tolist()
    ['a', 'b']
    """

    def __init__(self, max_seq_len: int) -> None:
        self.length = whole_number(max_seq_len, "Truncate", "max_seq_len", 0)

    def __call__(self, data: Any) -> np.ndarray:
        """Return the first tokens, for a 2-D array the first tokens of each row."""
        return array_of(data, "For 'Truncate', the data")[..., : self.length]


class TruncateSequencePair:
    """Transform that truncates two sequences to a total length.

    It removes the last elements of the longer sequence one by one.

    Args:
        max_length (int): maximum number of elements in both sequences together.

    >>> from mindgrad.dataset import text
    >>> text.TruncateSequencePair(4)([1, 2, 3], [4])
    (array([1, 2, 3]), array([4]))
    """

    def __init__(self, max_length: int) -> None:
        self.length = whole_number(max_length, "TruncateSequencePair", "max_length", 1)

    def __call__(self, first: Any, second: Any) -> tuple[np.ndarray, np.ndarray]:
        """Shorten the longer sequence until both have at most the total length."""
        arrays = [array_of(each, "For 'TruncateSequencePair', the data") for each in (first, second)]
        lengths = [len(array) for array in arrays]
        while sum(lengths) > self.length:
            lengths[0 if lengths[0] > lengths[1] else 1] -= 1
        return arrays[0][: lengths[0]], arrays[1][: lengths[1]]


class AddToken:
    """Transform that adds a token before or after other tokens.

    Args:
        token (str): token to add.
        begin (bool, optional): whether to add the token before the other tokens instead of after them.
            Default: ``True``.

    >>> from mindgrad.dataset import text
    >>> text.AddToken("[CLS]")(["a"]).tolist()
    ['[CLS]', 'a']
    """

    def __init__(self, token: str, begin: bool = True) -> None:
        self.token, self.begin = token, begin

    def __call__(self, data: Any) -> np.ndarray:
        """Return the tokens with one more token, for a 2-D array in each row."""
        tokens = text_of(data, "AddToken")
        more = np.full((*tokens.shape[:-1], 1), self.token)
        return np.concatenate([more, tokens] if self.begin else [tokens, more], -1)


class SlidingWindow:
    """Transform that returns sliding windows along an axis.

    Args:
        width (int): number of elements in a window.
        axis (int, optional): axis along which to slide. The result has one more axis after it. Default:
            ``0``.

    >>> from mindgrad.dataset import text
    >>> text.SlidingWindow(2)(["a", "b", "c"]).tolist()
    [['a', 'b'], ['b', 'c']]
    """

    def __init__(self, width: int, axis: int = 0) -> None:
        self.width = whole_number(width, "SlidingWindow", "width", 1)
        self.axis = whole_number(axis, "SlidingWindow", "axis")

    def __call__(self, data: Any) -> np.ndarray:
        """Return the windows, or an empty array if the axis is shorter than a window."""
        array = array_of(data, "For 'SlidingWindow', the data")
        number = max(array.shape[self.axis] - self.width + 1, 0)
        places = np.arange(number)[:, None] + np.arange(self.width)
        return array.take(places, self.axis)


class Ngram:
    """Transform that returns the n-grams of tokens.

    Args:
        n (int or list or tuple of int): number of tokens in an n-gram, or a list of such numbers.
        left_pad (tuple of str, optional): padding before the tokens: a token and the number of copies. At
            most n − 1 copies are added. Default: ``('', 0)``.
        right_pad (tuple of str, optional): padding after the tokens, in the form of ``left_pad``. Default:
            ``('', 0)``.
        separator (str, optional): string between the tokens of an n-gram. Default: ``" "``.

    >>> from mindgrad.dataset import text
    >>> text.Ngram(2)(["a", "b", "c"]).tolist()
    ['a b', 'b c']
    """

    def __init__(
        self,
        n: int | Sequence[int],
        left_pad: tuple[str, int] = ("", 0),
        right_pad: tuple[str, int] = ("", 0),
        separator: str = " ",
    ) -> None:
        lengths = n if isinstance(n, (list, tuple)) else [n]
        self.lengths = [whole_number(length, "Ngram", "n", 1) for length in lengths]
        self.left, self.right, self.separator = left_pad, right_pad, separator

    def __call__(self, data: Any) -> np.ndarray:
        """Return the n-grams, or one empty string if there are none."""
        tokens = text_of(data, "Ngram").tolist()
        grams = []
        for length in self.lengths:
            before = [self.left[0]] * min(self.left[1], length - 1)
            row = [*before, *tokens, *[self.right[0]] * min(self.right[1], length - 1)]
            grams += [self.separator.join(row[i : i + length]) for i in range(len(row) - length + 1)]
        return np.array(grams or [""], np.str_)
