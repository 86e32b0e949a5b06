"""Functions of text for ``Dataset.map``: vocabularies, tokens, normal forms, sequences of one length.

Text is an array of NumPy of ``str_``; a list of tokens is one of one axis.
"""

from mindgrad.dataset.text import editing, tokenizers, transforms, vocabulary
from mindgrad.dataset.text.editing import *  # noqa: F403
from mindgrad.dataset.text.tokenizers import *  # noqa: F403
from mindgrad.dataset.text.vocabulary import *  # noqa: F403

__all__ = ["transforms"]
__all__ += editing.__all__ + tokenizers.__all__ + vocabulary.__all__
