"""NumPy's type of bfloat16: ``np.zeros(3, np_dtype.bfloat16)``."""

from mindgrad.core.ir.dtype import bfloat16 as _bfloat16

bfloat16 = _bfloat16.numpy.type

__all__ = ["bfloat16"]
