"""Signatures of user-defined primitives: how inputs are passed, and shared dtypes.

A class lists its signatures in ``__mindspore_signature__``. MindSpore promotes and checks inputs according to
these signatures. In mindgrad, such a primitive is Python code, and its inputs are passed unchanged.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

__all__ = ["Signature", "make_sig", "sig_dtype", "sig_kind", "sig_rw"]


class sig_rw(IntEnum):
    """Whether an input is read or written."""

    RW_READ, RW_WRITE, RW_REF, RW_EMPTY_DEFAULT_VALUE = range(4)


class sig_kind(IntEnum):
    """How an input is passed."""

    KIND_POSITIONAL_KEYWORD, KIND_VAR_POSITIONAL, KIND_KEYWORD_ONLY, KIND_VAR_KEYWARD = range(4)
    KIND_EMPTY_DEFAULT_VALUE = 4


class sig_dtype(IntEnum):
    """Names of groups; the inputs in a group have the same dtype."""

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
    """Create the signature of one input of a primitive.

    Args:
        name (str): name of the input.
        rw (sig_rw): whether the input is read or written.
        kind (sig_kind): how the input is passed.
        default (object): default value of the input.
        dtype (sig_dtype): group of the input; all inputs of a group have the same dtype.

    >>> from mindgrad.ops.signature import make_sig, sig_dtype
    >>> make_sig("x", dtype=sig_dtype.T).dtype.name
    'T'
    """
    return Signature(name, rw, kind, default, dtype)
