"""Names of MindSpore's tensor array operators, which raise an error when called."""

from mindgrad._base.absent import absent

_REFUSED = [
    absent(
        __name__,
        "TensorArray" + verb,
        "is a handle of MindSpore's own runtime",
        "Use a Python list and ops.stack, in a compiled program too.",
    )
    for verb in ("", "Write", "Read", "Stack", "Gather", "Size", "Clear", "Close")
]
globals().update({each.__name__: each for each in _REFUSED})

__all__ = [each.__name__ for each in _REFUSED]
