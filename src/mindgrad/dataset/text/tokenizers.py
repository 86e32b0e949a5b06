"""Tokenizers, which split strings at whitespace, characters, matches, or pieces."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mindgrad._base.checks import of_type
from mindgrad.dataset.text.editing import NormalizeForm, text_of
from mindgrad.dataset.text.vocabulary import Vocab

__all__ = [
    "BasicTokenizer", "BertTokenizer", "PythonTokenizer", "RegexTokenizer", "UnicodeCharTokenizer",
    "WhitespaceTokenizer", "WordpieceTokenizer",
]  # fmt: skip


def _array(tokens: Iterable[str]) -> np.ndarray:
    return np.array(list(tokens) or [""], np.str_)


class _Tokenizer:
    """Base class of tokenizers of one string."""

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a string."""
        raise NotImplementedError

    def __call__(self, data: Any) -> np.ndarray:
        """Return a 1-D array of tokens; one empty string if there are no tokens."""
        text = text_of(data, type(self).__name__)
        if text.size != 1:
            raise RuntimeError(
                f"For '{type(self).__name__}', the data must be one string, but got an array of shape "
                f"{text.shape}."
            )
        return _array(self.tokens(str(text.reshape(()))))


class PythonTokenizer(_Tokenizer):
    """Tokenizer that calls a Python function of a string.

    Args:
        tokenizer (Callable): function that receives a string and returns its tokens.

    >>> from mindgrad.dataset import text
    >>> text.PythonTokenizer(str.split)("a b").tolist()
    ['a', 'b']
    """

    def __init__(self, tokenizer: Callable[[str], Iterable[str]]) -> None:
        if not callable(tokenizer):
            raise TypeError(f"For 'PythonTokenizer', 'tokenizer' must be a function, but got {tokenizer!r}.")
        self.tokenizer = tokenizer

    def tokens(self, text: str) -> list[str]:
        """Return the result of the function."""
        return list(self.tokenizer(text))


class WhitespaceTokenizer(_Tokenizer):
    """Tokenizer that splits strings at whitespace.

    >>> from mindgrad.dataset import text
    >>> text.WhitespaceTokenizer()(" a  b ").tolist()
    ['a', 'b']
    """

    def tokens(self, text: str) -> list[str]:
        """Split ``text`` at whitespace."""
        return text.split()


class UnicodeCharTokenizer(_Tokenizer):
    """Tokenizer that splits strings into characters.

    >>> from mindgrad.dataset import text
    >>> text.UnicodeCharTokenizer()("ab").tolist()
    ['a', 'b']
    """

    def tokens(self, text: str) -> list[str]:
        """Split ``text`` into characters."""
        return list(text)


class RegexTokenizer(_Tokenizer):
    """Tokenizer that splits strings at matches of a regular expression.

    Args:
        delim_pattern (str): regular expression of the delimiters, at which strings are split.
        keep_delim_pattern (str, optional): regular expression of the delimiters that are also tokens. ``""``:
            none. Default: ``""``.

    >>> from mindgrad.dataset import text
    >>> text.RegexTokenizer(", ")("a, b").tolist()
    ['a', 'b']
    """

    def __init__(self, delim_pattern: str, keep_delim_pattern: str = "") -> None:
        self.pattern = re.compile(delim_pattern)
        self.keep = re.compile(keep_delim_pattern) if keep_delim_pattern else None

    def tokens(self, text: str) -> list[str]:
        """Return the parts of a string between the matches of the regular expression."""
        parts, start = [], 0
        for match in self.pattern.finditer(text):
            parts.append(text[start : match.start()])
            if self.keep is not None and self.keep.fullmatch(match[0]):
                parts.append(match[0])
            start = match.end()
        return [part for part in [*parts, text[start:]] if part]


_PRESERVED = re.compile(r"(\[CLS\]|\[SEP\]|\[UNK\]|\[PAD\]|\[MASK\]|\[unused\d+\])")


def _stands_alone(character: str) -> bool:
    """Return whether a character is a token by itself, such as punctuation."""
    code = ord(character)
    chinese = (
        0x4E00 <= code <= 0x9FFF
        or 0x3400 <= code <= 0x4DBF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x2FA1F
    )
    symbol = code < 128 and not character.isalnum() and character.isprintable() and character != " "
    return chinese or symbol or unicodedata.category(character).startswith("P")


class BasicTokenizer(_Tokenizer):
    """Tokenizer for words, punctuation, and Chinese characters, as in BERT.

    Args:
        lower_case (bool, optional): whether to convert letters to lower case and to remove accents. Default:
            ``False``.
        keep_whitespace (bool, optional): whether spaces are tokens. Default: ``False``.
        normalization_form (NormalizeForm, optional): Unicode normal form of the text, used if ``lower_case``
            is ``False``. Default: ``NormalizeForm.NONE``.
        preserve_unused_token (bool, optional): whether not to split ``[CLS]``, ``[SEP]``, ``[UNK]``,
            ``[PAD]``, ``[MASK]``, and ``[unused1]``, ``[unused2]``, …. Default: ``True``.

    >>> from mindgrad.dataset import text
    >>> text.BasicTokenizer(lower_case=True)("Hi, Zoë!").tolist()
    ['hi', ',', 'zoe', '!']
    """

    def __init__(
        self,
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
    ) -> None:
        self.lower, self.keep_whitespace = lower_case, keep_whitespace
        self.form, self.preserve = normalization_form, preserve_unused_token

    def tokens(self, text: str) -> list[str]:
        """Split ``text`` into words, punctuation, and Chinese characters."""
        parts = _PRESERVED.split(text) if self.preserve else [text]
        tokens: list[str] = []
        for i, part in enumerate(parts):
            tokens += [part] if i % 2 else self._split(self._normal(part))
        return tokens

    def _normal(self, text: str) -> str:
        if self.lower:
            text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text.casefold()))
            return "".join(each for each in text if unicodedata.category(each) != "Mn")
        form: Any = self.form.name
        return text if self.form == NormalizeForm.NONE else unicodedata.normalize(form, text)

    def _split(self, text: str) -> list[str]:
        tokens: list[str] = []
        inside = False
        for character in text:
            if character.isspace() or unicodedata.category(character) in ("Cc", "Cf"):
                inside = False
                if self.keep_whitespace and character.isspace():
                    tokens.append(character)
            elif _stands_alone(character):
                inside = False
                tokens.append(character)
            elif inside:
                tokens[-1] += character
            else:
                inside = True
                tokens.append(character)
        return tokens


class WordpieceTokenizer:
    """Tokenizer that splits words into the longest pieces of a vocabulary.

    Args:
        vocab (Vocab): vocabulary that contains the tokens.
        suffix_indicator (str, optional): prefix of all pieces of a word except the first piece. Default:
            ``"##"``.
        max_bytes_per_token (int, optional): maximum number of bytes in a word. A longer word is an unknown
            word. Default: ``100``.
        unknown_token (str, optional): token that replaces an unknown word. If it is empty, the word itself is
            the token. Default: ``"[UNK]"``.

    >>> from mindgrad.dataset import text
    >>> vocab = text.Vocab.from_list(["un", "##able", "[UNK]"])
    >>> text.WordpieceTokenizer(vocab)(["unable", "x"]).tolist()
    ['un', '##able', '[UNK]']
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
    ) -> None:
        of_type(vocab, Vocab, "WordpieceTokenizer", "vocab")
        self.pieces = vocab.vocab()
        self.suffix, self.most, self.unknown = suffix_indicator, max_bytes_per_token, unknown_token

    def _cut(self, word: str) -> list[str]:
        pieces: list[str] = []
        start = 0
        if len(word.encode()) > self.most:
            return [self.unknown or word]
        while start < len(word):
            head = self.suffix if start else ""
            ends = (end for end in range(len(word), start, -1) if head + word[start:end] in self.pieces)
            end = next(ends, None)
            if end is None:
                return [self.unknown or word]
            pieces.append(head + word[start:end])
            start = end
        return pieces

    def __call__(self, data: Any) -> np.ndarray:
        """Return a 1-D array of the pieces of all words."""
        words = text_of(data, "WordpieceTokenizer").ravel().tolist()
        return _array(piece for word in words for piece in self._cut(word))


class BertTokenizer:
    """Tokenizer of BERT: :class:`BasicTokenizer`, then :class:`WordpieceTokenizer`.

    Args:
        vocab (Vocab): vocabulary that contains the tokens.
        suffix_indicator (str, optional): prefix of all pieces of a word except the first piece. Default:
            ``"##"``.
        max_bytes_per_token (int, optional): maximum number of bytes in a word. A longer word is an unknown
            word. Default: ``100``.
        unknown_token (str, optional): token that replaces an unknown word. If it is empty, the word itself is
            the token. Default: ``"[UNK]"``.
        lower_case (bool, optional): whether to convert letters to lower case and to remove accents. Default:
            ``False``.
        keep_whitespace (bool, optional): whether spaces are tokens. Default: ``False``.
        normalization_form (NormalizeForm, optional): Unicode normal form of the text, used if ``lower_case``
            is ``False``. Default: ``NormalizeForm.NONE``.
        preserve_unused_token (bool, optional): whether not to split special tokens such as ``[CLS]``.
            Default: ``True``.

    >>> from mindgrad.dataset import text
    >>> vocab = text.Vocab.from_list(["un", "##able", "[UNK]"])
    >>> text.BertTokenizer(vocab, lower_case=True)("Unable!").tolist()
    ['un', '##able', '[UNK]']
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
    ) -> None:
        self.basic = BasicTokenizer(lower_case, keep_whitespace, normalization_form, preserve_unused_token)
        self.pieces = WordpieceTokenizer(vocab, suffix_indicator, max_bytes_per_token, unknown_token)

    def __call__(self, data: Any) -> np.ndarray:
        """Return a 1-D array of pieces."""
        return self.pieces(self.basic(data))
