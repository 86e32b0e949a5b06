"""Transforms of text, under the module name ``mindspore.dataset.text.transforms``."""

from mindgrad.dataset.text import editing, tokenizers
from mindgrad.dataset.text.editing import *  # noqa: F403
from mindgrad.dataset.text.tokenizers import *  # noqa: F403
from mindgrad.dataset.text.vocabulary import Lookup

__all__ = ["Lookup"]
__all__ += [name for name in editing.__all__ + tokenizers.__all__ if name[0].isupper()]
