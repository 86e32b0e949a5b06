"""Transforms of text for ``Dataset.map``: tokenizers, vocabularies, normal forms.

Strings are NumPy arrays of dtype ``str_``. A list of tokens is a 1-D array.
"""

from mindgrad.dataset.text import editing, tokenizers, transforms, vocabulary
from mindgrad.dataset.text.editing import *  # noqa: F403
from mindgrad.dataset.text.tokenizers import *  # noqa: F403
from mindgrad.dataset.text.vocabulary import *  # noqa: F403

__all__ = ["transforms"]
__all__ += editing.__all__ + tokenizers.__all__ + vocabulary.__all__
