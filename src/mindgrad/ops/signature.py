"""Signatures of user-defined primitives say how inputs are read, and which share an element type.

A class lists them in ``__mindspore_signature__``. MindSpore promotes and checks inputs by them; a primitive
that is Python here gets its inputs as they are.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

__all__ = ["Signature", "make_sig", "sig_dtype", "sig_kind", "sig_rw"]


class sig_rw(IntEnum):
    """Whether an input is read or written."""

    RW_READ, RW_WRITE, RW_REF, RW_EMPTY_DEFAULT_VALUE = range(4)


class sig_kind(IntEnum):
    """Kinds of passing an input."""

    KIND_POSITIONAL_KEYWORD, KIND_VAR_POSITIONAL, KIND_KEYWORD_ONLY, KIND_VAR_KEYWARD = range(4)
    KIND_EMPTY_DEFAULT_VALUE = 4


class sig_dtype(IntEnum):
    """Groups of inputs that have one element type."""

    T, T1, T2, T3, T4, T5, T6, T7, T8, T9, T_EMPTY_DEFAULT_VALUE = range(11)


class Signature(NamedTuple):
    """The signature of one input."""

    name: str
    rw: sig_rw
    kind: sig_kind
    default: Any
    dtype: sig_dtype


def make_sig(
    name: str = "var",
    rw: sig_rw = sig_rw.RW_READ,
    kind: sig_kind = sig_kind.KIND_POSITIONAL_KEYWORD,
    default: Any = sig_kind.KIND_EMPTY_DEFAULT_VALUE,
    dtype: sig_dtype = sig_dtype.T_EMPTY_DEFAULT_VALUE,
) -> Signature:
    """The signature of one input of a primitive.

    Args:
        name: its name.
        rw: whether it is read or written.
        kind: how it is passed.
        default: its default value.
        dtype: the group of inputs whose element type it has.

    >>> from mindgrad.ops.signature import make_sig, sig_dtype
    >>> make_sig("x", dtype=sig_dtype.T).dtype.name
    'T'
    """
    return Signature(name, rw, kind, default, dtype)
