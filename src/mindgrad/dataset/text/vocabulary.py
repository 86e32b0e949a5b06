"""``Vocab`` and ``Lookup``: mappings between tokens and integer ids."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mindgrad.core.ir.dtype import as_dtype
from mindgrad.core.ir.dtype import int32 as _int32
from mindgrad.dataset.rows import array_of

__all__ = ["Lookup", "Vocab"]


class Vocab:
    """A mapping between tokens and ids.

    Create a vocabulary with ``from_list``, ``from_dict``, ``from_file``, or ``from_dataset``.

    >>> from mindgrad.dataset import text
    >>> vocab = text.Vocab.from_list(["a", "b"], special_tokens=["<unk>"])
    >>> vocab.tokens_to_ids(["b", "c"]), vocab.ids_to_tokens(0)
    ([2, -1], '<unk>')
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @classmethod
    def _numbered(
        cls, words: Iterable[str], special_tokens: Sequence[str] | None, special_first: bool
    ) -> Vocab:
        special = list(special_tokens or ())
        words = list(words)
        tokens = [*special, *words] if special_first else [*words, *special]
        twice = [token for token, count in Counter(tokens).items() if count > 1]
        if twice:
            raise ValueError(f"For 'Vocab', the token {twice[0]!r} appears twice.")
        return cls.from_dict({token: number for number, token in enumerate(tokens)})

    @classmethod
    def from_dict(cls, word_dict: Mapping[str, int]) -> Vocab:
        """Create a vocabulary from a dict that maps tokens to ids.

        Raises:
            ValueError: If a key of ``word_dict`` is not a string, or an id is negative.
        """
        for token, number in word_dict.items():
            if not isinstance(token, str) or number < 0:
                raise ValueError(
                    f"For 'Vocab', tokens must be strings with indices of at least 0, but got {token!r}: "
                    f"{number!r}."
                )
        vocab = cls()
        vocab._numbers = dict(word_dict)
        return vocab

    @classmethod
    def from_list(
        cls, word_list: Sequence[str], special_tokens: Sequence[str] | None = None, special_first: bool = True
    ) -> Vocab:
        """Create a vocabulary from a list of tokens, with ids in its order.

        Args:
            word_list (list or tuple of str): tokens of the vocabulary.
            special_tokens (list or tuple of str, optional): special tokens, such as ``"<unk>"``, to add to
                the vocabulary. Default: ``None``.
            special_first (bool, optional): whether ``special_tokens`` precede all other tokens. Default:
                ``True``.

        Raises:
            ValueError: If a token occurs twice in ``word_list`` and ``special_tokens``.
        """
        return cls._numbered(word_list, special_tokens, special_first)

    @classmethod
    def from_file(
        cls,
        file_path: str | os.PathLike[str],
        delimiter: str = "",
        vocab_size: int | None = None,
        special_tokens: Sequence[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """Create a vocabulary from the first word of each line of a file.

        Args:
            file_path (str or PathLike): path of a UTF-8 file with one word per line.
            delimiter (str, optional): string that ends the word in a line. If it is empty, the whole line is
                the word. Default: ``""``.
            vocab_size (int, optional): maximum number of words to read. ``None``: no limit. Default:
                ``None``.
            special_tokens (list or tuple of str, optional): special tokens, such as ``"<unk>"``, to add to
                the vocabulary. Default: ``None``.
            special_first (bool, optional): whether ``special_tokens`` precede all other tokens. Default:
                ``True``.
        """
        lines = Path(file_path).read_text(encoding="utf-8").splitlines()[:vocab_size]
        words = [line.split(delimiter)[0] if delimiter else line for line in lines]
        return cls._numbered(words, special_tokens, special_first)

    @classmethod
    def from_dataset(
        cls,
        dataset: Any,
        columns: str | Sequence[str] | None = None,
        freq_range: tuple[int | None, int | None] | None = None,
        top_k: int | None = None,
        special_tokens: Sequence[str] | None = None,
        special_first: bool = True,
    ) -> Vocab:
        """Create a vocabulary from the words of a dataset, the most frequent first.

        Args:
            dataset (Dataset): dataset with columns of strings.
            columns (str or list or tuple of str, optional): names of the columns to read. ``None``: all
                columns. Default: ``None``.
            freq_range (tuple of int, optional): minimum and maximum number of occurrences of a word in the
                dataset. ``None``: no limit. Default: ``None``.
            top_k (int, optional): maximum number of words, the most frequent ones. ``None``: no limit.
                Default: ``None``.
            special_tokens (list or tuple of str, optional): special tokens, such as ``"<unk>"``, to add to
                the vocabulary. Default: ``None``.
            special_first (bool, optional): whether ``special_tokens`` precede all other tokens. Default:
                ``True``.
        """
        low, high = freq_range or (None, None)
        names = [columns] if isinstance(columns, str) else columns or dataset.get_col_names()
        counts: Counter[str] = Counter()
        for row in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            for name in names:
                counts.update(row[name].ravel().tolist())
        words = sorted(counts, key=lambda word: (-counts[word], word))
        words = [
            word for word in words if (low or 0) <= counts[word] <= (counts[word] if high is None else high)
        ]
        return cls._numbered(words[:top_k], special_tokens, special_first)

    def vocab(self) -> dict[str, int]:
        """Return a dict that maps all tokens to their ids."""
        return dict(self._numbers)

    def tokens_to_ids(self, tokens: Any) -> Any:
        """Return the id of a token, or a list of ids; −1 for an unknown token."""
        if isinstance(tokens, str):
            return self._numbers.get(tokens, -1)
        return [self._numbers.get(str(token), -1) for token in tokens]

    def ids_to_tokens(self, ids: Any) -> Any:
        """Return the token of an id, or a list of tokens; ``""`` for an unknown id."""
        tokens = {number: token for token, number in self._numbers.items()}
        if isinstance(ids, (int, np.integer)):
            return tokens.get(int(ids), "")
        return [tokens.get(int(number), "") for number in ids]


class Lookup:
    """Transform that converts tokens to their ids in a vocabulary.

    Args:
        vocab (Vocab): vocabulary that contains the tokens.
        unknown_token (str, optional): token of the vocabulary that replaces unknown tokens. ``None``: an
            unknown token raises an error. Default: ``None``.
        data_type (DType or numpy.dtype, optional): dtype of the ids.

    Raises:
        ValueError: If ``unknown_token`` is not in the vocabulary.
        RuntimeError: In a call, if a token is not in the vocabulary, and ``unknown_token`` is ``None``.

    >>> from mindgrad.dataset import text
    >>> text.Lookup(text.Vocab.from_list(["a", "b"]))(["b", "a"])
    array([1, 0], dtype=int32)
    """

    def __init__(self, vocab: Vocab, unknown_token: str | None = None, data_type: Any = _int32) -> None:
        if not isinstance(vocab, Vocab):
            raise TypeError(f"For 'Lookup', 'vocab' must be a Vocab, but got {type(vocab).__name__}.")
        self.numbers = vocab.vocab()
        if unknown_token is not None and unknown_token not in self.numbers:
            raise ValueError(f"For 'Lookup', the vocabulary has no 'unknown_token' {unknown_token!r}.")
        self.unknown = None if unknown_token is None else self.numbers[unknown_token]
        self.data_type = as_dtype(data_type).numpy

    def __call__(self, data: Any) -> np.ndarray:
        """Return the ids of the tokens."""
        words = array_of(data, "For 'Lookup', the data")
        numbers = [self.numbers.get(word, self.unknown) for word in words.ravel().tolist()]
        if None in numbers:
            word = words.ravel()[numbers.index(None)]
            raise RuntimeError(
                f"For 'Lookup', the vocabulary has no token {str(word)!r}; pass an 'unknown_token'."
            )
        return np.array(numbers, self.data_type).reshape(words.shape)
