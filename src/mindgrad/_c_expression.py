"""What programs import from MindSpore's compiled part: the class of element types, to ask ``isinstance``.

``from mindspore._c_expression import typing``; ``isinstance(mindspore.float32, typing.Number)``.
"""

from types import SimpleNamespace

from mindgrad.core.dtype import DType

__all__ = ["typing"]

typing = SimpleNamespace(Number=DType, Type=DType)
