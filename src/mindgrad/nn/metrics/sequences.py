"""Metrics of language models: BLEU score and perplexity."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindgrad._checkparam import check_value_type
from mindgrad.nn.metrics.metric import MeanMetric, Metric, rearrange_inputs

__all__ = ["BleuScore", "Perplexity"]

_LEAST_PROBABILITY = 1e-10


def _runs(words: Sequence[Any], longest: int) -> Counter[tuple[Any, ...]]:
    """Count all sequences of 1 to ``longest`` consecutive words."""
    return Counter(
        tuple(words[start : start + length])
        for length in range(1, longest + 1)
        for start in range(len(words) - length + 1)
    )


class BleuScore(Metric):
    """BLEU score of translations: the geometric mean of n-gram precisions.

    Translations that are shorter than their references have a lower score.

    Args:
        n_gram (int): maximum length of the n-grams, from 1 to 4.
        smooth (bool): whether to add one to numerator and denominator of each precision.

    Raises:
        TypeError: If an argument has an unsupported type.
        ValueError: If ``n_gram`` is out of range.

    >>> from mindgrad import nn
    >>> metric = nn.BleuScore(n_gram=2)
    >>> metric.update([["a", "red", "pen"]], [[["a", "red", "cup"], ["the", "pen"]]])
    >>> print(f"{metric.eval():.4f}")  # 3 of 3 words, 1 of 2 pairs
    0.7071
    """

    def __init__(self, n_gram: int = 4, smooth: bool = False) -> None:
        super().__init__()
        self.n_gram = check_value_type("n_gram", n_gram, [int], "BleuScore")
        if not 1 <= n_gram <= 4:
            raise ValueError(f"For 'BleuScore', the 'n_gram' must be 1, 2, 3 or 4, but got {n_gram}.")
        self.smooth = check_value_type("smooth", smooth, [bool], "BleuScore")
        self.clear()

    def clear(self) -> None:
        """Reset the metric."""
        self._matches, self._total = np.zeros(self.n_gram), np.zeros(self.n_gram)
        self._length, self._reference_length = 0, 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Add translations and their reference translations.

        Args:
            *inputs (list): two lists of the same length: the translations, each a list of words; and for each
                translation, a list of its reference translations.

        Raises:
            ValueError: If the number of inputs is not two, or the numbers of translations and reference lists
                differ.
        """
        if len(inputs) != 2 or len(inputs[0]) != len(inputs[1]):
            raise ValueError(
                "For 'BleuScore.update', pass a list of translations and a list of the same length with "
                "the references of each translation, but the lengths are "
                f"{' and '.join(str(len(data)) for data in inputs)}."
            )
        for translation, references in zip(*inputs, strict=True):
            self._length += len(translation)
            lengths = [len(reference) for reference in references]
            self._reference_length += min(lengths, key=lambda length: abs(length - len(translation)))
            runs = _runs(translation, self.n_gram)
            reference_runs: Counter[tuple[Any, ...]] = Counter()
            for reference in references:
                reference_runs |= _runs(reference, self.n_gram)
            for counts, total in ((runs & reference_runs, self._matches), (runs, self._total)):
                for run, count in counts.items():
                    total[len(run) - 1] += count
        self._is_update = True

    def eval(self) -> Any:
        """Return the score of all translations since :meth:`clear`, between 0 and 1.

        Raises:
            RuntimeError: If ``update`` was not called since the last ``clear``.
        """
        self._refuse_empty(not self._is_update)
        if not self._matches.all():
            return np.array(0.0)
        added = 1 if self.smooth else 0
        precisions = (self._matches + added) / (self._total + added)
        shortness = max(0.0, self._reference_length / self._length - 1)
        return np.exp(np.log(precisions).mean() - shortness)


class Perplexity(MeanMetric):
    """Perplexity: exp of the mean of −log p of the correct words.

    Args:
        ignore_label (int): label whose elements are ignored. ``None``: no label is ignored.

    Raises:
        TypeError: If ``ignore_label`` is not an int.

    >>> import mindgrad as ms
    >>> from mindgrad import nn
    >>> metric = nn.Perplexity()
    >>> metric.update(ms.Tensor([[0.25, 0.75], [0.5, 0.5]]), ms.Tensor([0, 1]))
    >>> print(f"{metric.eval():.4f}")  # the root of 4 * 2
    2.8284
    """

    def __init__(self, ignore_label: int | None = None) -> None:
        super().__init__()
        self.ignore_label = check_value_type("ignore_label", ignore_label, [int, type(None)], "Perplexity")

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Add probabilities of shape (..., C) and labels of shape (...).

        Args:
            *inputs (Tensor, list, or numpy.ndarray): probabilities and labels.

        Raises:
            ValueError: If the number of inputs is not two.
            RuntimeError: If the number of labels differs from the number of distributions.
        """
        probabilities, labels = self._arrays(inputs)
        rows = probabilities.reshape(-1, probabilities.shape[-1])
        chosen = labels.reshape(-1).astype(int)
        if len(chosen) != len(rows):
            raise RuntimeError(
                f"For 'Perplexity.update', pass one label for each row of probabilities, but the "
                f"shapes are {labels.shape} and {probabilities.shape}."
            )
        if self.ignore_label is not None:
            counts = chosen != self.ignore_label
            rows, chosen = rows[counts], chosen[counts]
        likelihoods = np.take_along_axis(rows, chosen[:, None], axis=1)
        self._total -= float(np.log(np.maximum(likelihoods, _LEAST_PROBABILITY)).sum())
        self._count += len(chosen)

    def eval(self) -> float:
        """Return the perplexity of all labels since :meth:`clear`.

        Raises:
            RuntimeError: If ``update`` was not called since the last ``clear``.
        """
        return math.exp(super().eval())
