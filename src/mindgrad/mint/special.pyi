"""Names of ``mindgrad.mint.special``, for type checkers and editors.

Written by `scripts/stubs.py` from the registry of public names; do not edit.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mindgrad.core.ir.tensor import Tensor
from mindgrad.mint.reducing import log_softmax as log_softmax
from mindgrad.ops.math import exp2 as exp2
from mindgrad.ops.math import expm1 as expm1
from mindgrad.ops.math import log1p as log1p
from mindgrad.ops.special import erfc as erfc

__all__: list[str]

def round(input: Any, *, decimals: int = 0) -> Tensor:
    """Round to ``decimals`` decimal places, ties to even; the derivative is 0."""
def sinc(input: Any) -> Tensor:
    """Compute sin(π x) / (π x), and 1 at 0."""
