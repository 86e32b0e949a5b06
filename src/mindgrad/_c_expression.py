"""Names that programs import from MindSpore's C++ extension.

For example, ``from mindspore._c_expression import typing`` and
``isinstance(mindspore.float32, typing.Number)``.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from mindgrad.core.ir.dtype import DType, as_dtype
from mindgrad.core.ir.tensor import Tensor

__all__ = ["MetaTensor", "Tensor", "TensorPy", "security", "typing"]


class _Kind(type):
    """The metaclass of classes of dtypes: ``isinstance`` compares the kind of a dtype."""

    kinds: tuple[str, ...]

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, DType) and instance.kind in cls.kinds


def _kind(name: str, *kinds: str) -> type:
    return _Kind(name, (), {"kinds": kinds})


_KINDS = {"Bool": "bool", "Int": "int", "UInt": "uint", "Float": "float", "Complex": "complex"}
_other: Callable[[str], type] = lambda name: type(name, (), {})

typing = SimpleNamespace(
    Number=DType, Type=DType,
    **{name: _kind(name, kind) for name, kind in _KINDS.items()},
    **{name: _other(name) for name in ("TensorType", "String", "Tuple", "List", "Dict", "Slice", "TypeType")},
)  # fmt: skip

TensorPy = Tensor


class _Security:
    """The build options of MindSpore."""

    @staticmethod
    def enable_security() -> bool:
        """Return ``False``, because summaries are available."""
        return False


security = _Security()


class MetaTensor:
    """Type of a tensor: a dtype and a shape.

    >>> import mindgrad as ms
    >>> from mindgrad._c_expression import MetaTensor
    >>> MetaTensor(ms.float32, (2, 3)).shape
    (2, 3)
    """

    def __init__(self, dtype: Any, shape: Any) -> None:
        self.dtype = as_dtype(dtype)
        self.shape = tuple(shape)

    def __repr__(self) -> str:
        return f"MetaTensor(shape={self.shape}, dtype={self.dtype})"


def _framework_profiler_step_start() -> None:
    """Accepted for compatibility: JAX's profiler does not need marks of steps."""


def _framework_profiler_step_end() -> None:
    """Accepted for compatibility: JAX's profiler does not need marks of steps."""


#: In MindSpore, a placeholder for a result that is not yet computed. mindgrad never returns it, but programs
#: import the name
_empty_instance = object()
