"""Suggestions of similar names in error messages."""

import difflib
from collections.abc import Sequence

__all__ = ["nearest"]


def nearest(name: str, names: Sequence[str]) -> str:
    """Return the end of an error message that suggests names similar to `name`.

    >>> from mindgrad.core.base.nearest import nearest
    >>> nearest("axs", ["axis", "dtype"])
    "; nearest: 'axis'"
    """
    public = [each for each in names if not each.startswith("_")]
    same = [each for each in public if each.lower() == name.lower()]
    near = dict.fromkeys([*same, *difflib.get_close_matches(name, public, n=3)])
    return "; nearest: " + ", ".join(map(repr, near)) if near else ""
